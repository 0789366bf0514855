"""The paper's map of [0, 10]^d to the hyperparameters of three classifiers of scikit-learn.

Source: Liu & Wang (2023), Appendix D.2. Names and options are those of scikit-learn today.
Departure: the paper has gradient boosting's max_features as a float or one of two names; the names alone are taken, as for the forest.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

SIDE = 10.0
EDGE = 1e-6  # how near an open interval's ends may be come; absolute, of hyperparameters in (0, 1)


class Options(NamedTuple):
    """Values that are given parts of [0, 10] of equal length, in order."""

    values: Sequence

    def at(self, v: float) -> Any:
        """The value of v in [0, 10]."""
        return self.values[min(int(v * len(self.values) / SIDE), len(self.values) - 1)]


class Interval(NamedTuple):
    """[low, high], linear also where it spans decades, as the paper says; with ``edge`` without its ends."""

    low: float
    high: float
    edge: float = 0.0

    def at(self, v: float) -> float:
        """The number of v in [0, 10]."""
        x = self.low + (self.high - self.low) * v / SIDE
        return min(max(x, self.low + self.edge), self.high - self.edge)


def integers(low: int, high: int) -> Options:
    """low..high."""
    return Options(range(low, high + 1))


FRACTION = Interval(0.0, 1.0, EDGE)
ROOTS = Options(("sqrt", "log2"))
YES_NO = Options((True, False))
SPACES = {
    "forest": {
        "n_estimators": integers(20, 200),
        "criterion": Options(("gini", "entropy", "log_loss")),
        "max_depth": integers(1, 10),
        "min_samples_split": integers(2, 10),
        "min_samples_leaf": integers(1, 10),
        "max_features": ROOTS,
        "bootstrap": YES_NO,
    },
    "perceptron": {
        "activation": Options(("identity", "logistic", "tanh", "relu")),
        "alpha": Interval(1e-6, 1e-2),
        "learning_rate_init": Interval(1e-6, 1e-2),
        "max_iter": integers(100, 300),
        "shuffle": YES_NO,
        "beta_1": FRACTION,
        "beta_2": FRACTION,
        "n_iter_no_change": integers(1, 10),
    },
    "boosting": {
        "loss": Options(("log_loss", "exponential")),
        "learning_rate": FRACTION,
        "n_estimators": integers(20, 200),
        "subsample": FRACTION,
        "criterion": Options(("friedman_mse", "squared_error")),
        "min_samples_split": integers(2, 10),
        "min_samples_leaf": integers(1, 10),
        "min_weight_fraction_leaf": Interval(0.0, 0.5),
        "max_depth": integers(1, 10),
        "max_features": ROOTS,
        "max_leaf_nodes": integers(2, 10),
    },
}


def decode(classifier: str, v: Sequence[float]) -> dict[str, Any]:
    """Hyperparameters of a point, Python's own numbers and strings by scikit-learn's names.

    Args:
        classifier: "forest" (d = 7), "perceptron" (8) or "boosting" (11).
        v: d numbers, clipped to [0, 10].
    """
    point = np.asarray(v, float).clip(0.0, SIDE).tolist()
    return {
        name: kind.at(x) for (name, kind), x in zip(SPACES[classifier].items(), point, strict=True)
    }
