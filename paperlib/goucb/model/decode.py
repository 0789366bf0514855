"""The paper's map of [0, 10]^d to the hyperparameters of three classifiers of scikit-learn.

Source: Liu & Wang (2023), Appendix D.2. Names and options are those of scikit-learn today.
Departure: the paper has gradient boosting's max_features as a float or one of two names; the names alone are taken, as for the forest.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...core.validation import array, one_of, refuse

SIDE = 10.0
EDGE = 1e-6  # how near an open interval's ends may be come; absolute, of hyperparameters in (0, 1)


class Options(NamedTuple):
    """Values that are given parts of [0, 10] of equal length, in order."""

    values: tuple

    def at(self, v: float) -> Any:
        """The value of v in [0, 10]."""
        return self.values[min(int(v * len(self.values) / SIDE), len(self.values) - 1)]


class Integers(NamedTuple):
    """low..high, parts of equal length."""

    low: int
    high: int

    def at(self, v: float) -> int:
        """The integer of v in [0, 10]."""
        return min(self.low + int(v * (self.high - self.low + 1) / SIDE), self.high)


class Interval(NamedTuple):
    """[low, high], linear also where it spans decades, as the paper says."""

    low: float
    high: float

    def at(self, v: float) -> float:
        """The number of v in [0, 10]."""
        return self.low + (self.high - self.low) * v / SIDE


class Fraction(NamedTuple):
    """(0, 1)."""

    def at(self, v: float) -> float:
        """The number of v in [0, 10]."""
        return min(max(v / SIDE, EDGE), 1 - EDGE)


ROOTS = Options(("sqrt", "log2"))
YES_NO = Options((True, False))
SPACES = {
    "forest": {
        "n_estimators": Integers(20, 200),
        "criterion": Options(("gini", "entropy", "log_loss")),
        "max_depth": Integers(1, 10),
        "min_samples_split": Integers(2, 10),
        "min_samples_leaf": Integers(1, 10),
        "max_features": ROOTS,
        "bootstrap": YES_NO,
    },
    "perceptron": {
        "activation": Options(("identity", "logistic", "tanh", "relu")),
        "alpha": Interval(1e-6, 1e-2),
        "learning_rate_init": Interval(1e-6, 1e-2),
        "max_iter": Integers(100, 300),
        "shuffle": YES_NO,
        "beta_1": Fraction(),
        "beta_2": Fraction(),
        "n_iter_no_change": Integers(1, 10),
    },
    "boosting": {
        "loss": Options(("log_loss", "exponential")),
        "learning_rate": Fraction(),
        "n_estimators": Integers(20, 200),
        "subsample": Fraction(),
        "criterion": Options(("friedman_mse", "squared_error")),
        "min_samples_split": Integers(2, 10),
        "min_samples_leaf": Integers(1, 10),
        "min_weight_fraction_leaf": Interval(0.0, 0.5),
        "max_depth": Integers(1, 10),
        "max_features": ROOTS,
        "max_leaf_nodes": Integers(2, 10),
    },
}


def decode(classifier: str, v: Sequence[float]) -> dict[str, Any]:
    """Hyperparameters of a point, Python's own numbers and strings by scikit-learn's names.

    Args:
        classifier: "forest" (d = 7), "perceptron" (8) or "boosting" (11).
        v: d numbers, clipped to [0, 10].

    Raises:
        ValueError: another classifier, or no d finite numbers.
    """
    one_of("classifier", classifier, SPACES)
    space, point = SPACES[classifier], array("v", v)
    if point.shape != (len(space),):
        refuse("v", v, f"{len(space)} numbers")
    clipped = point.clip(0.0, SIDE).tolist()
    return {name: kind.at(x) for (name, kind), x in zip(space.items(), clipped)}
