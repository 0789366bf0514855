"""Hyperparameter tuning: points of [0, 10]^d encode the hyperparameters of a classifier, and accuracy on a held-out fold is maximized.

Source: Liu & Wang (2023), Section 6.2 and Appendix D.2. Names and options are as in current scikit-learn.
Departure: in the paper, gradient boosting's max_features is a float or one of two names. Here it is one of the names, as for the forest.
Shapes: R trials, d hyperparameters, N examples with k features.
"""

import functools
import hashlib
from collections.abc import Sequence
from dataclasses import field
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor

from paperlib.core import fields
from paperlib.core.describe import frozen_dataclass
from paperlib.core.streams import Draw
from paperlib.core.validation import raise_invalid
from paperlib.maths.bounds import Bounds

from ...datasets import registry as datasets
from ...datasets.classifiers import accuracy, versions
from ...datasets.evaluations import Evaluations, evaluate

# The paper's map of [0, 10]^d to the hyperparameters ----------------------------------------------------------

SIDE = 10.0
EDGE = 1e-6  # smallest distance to the ends of an open interval; absolute, because these intervals are (0, 1)


class Interval(NamedTuple):
    """The interval [low, high], or (low, high) with a positive ``edge``. The scale is linear as in the paper, even if it spans decades."""

    low: float
    high: float
    edge: float = 0.0


FRACTION = Interval(0.0, 1.0, EDGE)
ROOTS = ("sqrt", "log2")
YES_NO = (True, False)
# classifier -> hyperparameter -> an interval, or options, which divide [0, 10] into equal parts in
# this order
SPACES = {
    "forest": {
        "n_estimators": range(20, 201),
        "criterion": ("gini", "entropy", "log_loss"),
        "max_depth": range(1, 11),
        "min_samples_split": range(2, 11),
        "min_samples_leaf": range(1, 11),
        "max_features": ROOTS,
        "bootstrap": YES_NO,
    },
    "perceptron": {
        "activation": ("identity", "logistic", "tanh", "relu"),
        "alpha": Interval(1e-6, 1e-2),
        "learning_rate_init": Interval(1e-6, 1e-2),
        "max_iter": range(100, 301),
        "shuffle": YES_NO,
        "beta_1": FRACTION,
        "beta_2": FRACTION,
        "n_iter_no_change": range(1, 11),
    },
    "boosting": {
        "loss": ("log_loss", "exponential"),
        "learning_rate": FRACTION,
        "n_estimators": range(20, 201),
        "subsample": FRACTION,
        "criterion": ("friedman_mse", "squared_error"),
        "min_samples_split": range(2, 11),
        "min_samples_leaf": range(1, 11),
        "min_weight_fraction_leaf": Interval(0.0, 0.5),
        "max_depth": range(1, 11),
        "max_features": ROOTS,
        "max_leaf_nodes": range(2, 11),
    },
}


def decode(classifier: str, v: Sequence[float]) -> dict[str, Any]:
    """Return the hyperparameters of a point, as Python numbers and strings with scikit-learn's names.

    For example, the forest's point with all coordinates 5 has 110 trees and the criterion "entropy".

    Args:
        classifier: "forest" (d = 7), "perceptron" (8) or "boosting" (11).
        v: d numbers, clipped to [0, 10].
    """
    point = np.asarray(v, float).clip(0.0, SIDE).tolist()
    space = SPACES[classifier].items()
    return {name: _value(values, x) for (name, values), x in zip(space, point, strict=True)}


def _value(values: Interval | Sequence, v: float) -> Any:
    """Return the value of a hyperparameter at v in [0, 10]."""
    if isinstance(values, Interval):
        x = values.low + (values.high - values.low) * v / SIDE
        return min(max(x, values.low + values.edge), values.high - values.edge)
    return values[min(int(v * len(values) / SIDE), len(values) - 1)]


# The problem -------------------------------------------------------------------------------------------------

BUNDLED, FETCHED = "wdbc", ("breast_cancer", "australian", "pima")


@functools.cache
def table(data: str) -> tuple[np.ndarray, np.ndarray]:
    """Return features and classes 0 and 1 of a data set, rows in file order, without rows that have missing values.

    "wdbc" is scikit-learn's copy, with 1 for malignant as in the registry's.

    Returns:
        N x k and N, not writeable.

    Raises:
        ValueError, FileNotFoundError: as in ``datasets.load``.
    """
    if data in FETCHED:
        features, target, _ = datasets.load(data)
    else:
        from sklearn.datasets import load_breast_cancer

        features, benign = load_breast_cancer(return_X_y=True)
        target = 1 - benign
    whole_rows = ~np.isnan(features).any(1)
    features, target = features[whole_rows], target[whole_rows]
    features.flags.writeable = target.flags.writeable = False
    return features, target


class TuningInstance(NamedTuple):
    """The box, each trial's fold, and the stored evaluations of each fold."""

    bounds: Bounds  # 1 x d
    fold: Tensor  # R int64
    files: tuple[Evaluations, ...]  # by fold


@frozen_dataclass
class Tuning:
    """Accuracy of a classifier as a function of its hyperparameters, without noise. Trial i of seed s has the fold (s + i) % folds.

    The best accuracy is unknown. Therefore ``respond`` returns the accuracy itself in place of the regret, and "regret" of a run is
    cumulative accuracy until ``experiments.tuning.regrets`` converts it. Earlier fits are looked up, see ``datasets.evaluations``.

    Attributes:
        data: "wdbc" (569 x 30, with scikit-learn), "breast_cancer" (683 x 9), "australian" (690 x 14) or "pima" (768 x 8).
        classifier: "forest" (d = 7), "perceptron" (8) or "boosting" (11).
        folds: 2..100.
        scale: whether features are standardized by the training rows.
        split: random state that divides the rows into folds.
        data_checksum: SHA-256 of the file, which is part of the key of stored results; None for the table that scikit-learn ships.

    Raises:
        ValueError: a value is out of range; from ``init``: ValueError, FileNotFoundError: as in ``datasets.load``.
    """

    data: str = fields.one_of((BUNDLED, *FETCHED), BUNDLED)
    classifier: str = fields.one_of(SPACES, "forest")
    folds: int = fields.whole(5, 2, 100)
    scale: bool = fields.one_of((False, True), False)
    split: int = fields.whole(0, 0, 10**6)
    data_checksum: str | None = field(init=False, default=None)

    def __post_init__(self):
        if self.data in FETCHED:
            object.__setattr__(self, "data_checksum", datasets.checksum(self.data))

    @property
    def dim(self) -> int:
        """Number of hyperparameters, d."""
        return len(SPACES[self.classifier])

    def files(self) -> tuple[Evaluations, ...]:
        """Return the objective function of each fold, with its stored evaluations."""
        features, target = table(self.data)
        content = hashlib.sha256(features.tobytes() + target.tobytes()).hexdigest()
        how = {name: getattr(self, name) for name in ("classifier", "folds", "scale", "split")}
        about = {**how, "data": content, "versions": versions()}
        fit = functools.partial(accuracy, features=features, target=target, **how)
        return tuple(
            Evaluations(
                functools.partial(fit, fold=fold),
                f"{self.data}-{self.classifier}-{fold}",
                {**about, "fold": fold},
            )
            for fold in range(self.folds)
        )

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> TuningInstance:
        """Return the box [0, 10]^d, and the fold of each trial."""
        bounds = Bounds.of([0.0] * self.dim, [SIDE] * self.dim, **tkwargs)
        return TuningInstance(bounds, draw.seeds % self.folds, self.files())

    def context(self, instance: TuningInstance, t: int) -> Bounds:
        """Return the box."""
        return instance.bounds

    def respond(
        self, instance: TuningInstance, t: int, x: Tensor, wants: str, draw: Draw
    ) -> tuple[Tensor, Tensor]:
        """Return the accuracy, as feedback and in place of the regret.

        Raises:
            ValueError: the learner wants feedback other than rewards.
        """
        if wants != "reward":
            raise_invalid("wants", wants, "'reward'")
        points = zip(instance.fold.tolist(), x.tolist())
        asked = [(instance.files[fold], decode(self.classifier, point)) for fold, point in points]
        found = x.new_tensor(evaluate(asked))
        return found, found
