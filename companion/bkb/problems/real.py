"""Real data sets as arms: every example is an arm, and its target is the value of f.

Source: diabetes (Efron, Hastie, Johnstone & Tibshirani, 2004) and digits (Alpaydin & Kaynak, 1998), which scikit-learn
ships; abalone and California housing, the sets of Calandriello et al. (2020), from the registry of ``datasets``.
Letters: A arms, d dimensions, xi standard deviation of the noise.

No guarantee of the paper applies, because f need not be in the kernel's RKHS with a small norm.
"""

import functools
from dataclasses import field

import numpy as np
import torch
from scipy.spatial.distance import pdist
from scipy.stats import zscore

from paperlib.bkb.problems import ArmsInstance, RBFArms
from paperlib.core import fields
from paperlib.core.describe import frozen_dataclass
from paperlib.core.streams import Draw

from ...datasets import registry as datasets

BUNDLED, FETCHED = ("diabetes", "digits"), ("abalone", "california_housing")
PAIRS = 5000  # largest number of arms whose pairwise distances are all computed


@functools.cache
def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return features and target of a data set as arms and f, with rows in file order; equal rows are kept.

    Columns have mean 0 and variance 1: the ten of diabetes, the ten of abalone (sex one-hot, then seven measures) and the
    eight raw ones of California housing. The columns of digits are pixels / 16. The target (for digits, the digit) has mean 0
    and variance 1.

    Returns:
        A x d and A, float64, not writeable.

    Raises:
        ValueError, FileNotFoundError: as ``datasets.load``.
    """
    if name in FETCHED:
        features, target, _ = datasets.load(name)
    else:
        from sklearn.datasets import load_diabetes, load_digits

        features, target = {"diabetes": load_diabetes, "digits": load_digits}[name](return_X_y=True)
    arms = features / 16 if name == "digits" else zscore(features)
    f = zscore(target.astype(np.float64))
    arms.flags.writeable = f.flags.writeable = False
    return arms, f


@functools.cache
def median_gamma(name: str) -> float:
    """Return 0.5 / median squared distance of two arms, to four digits, so that all machines get the same number.

    The median is over all pairs of up to 5000 arms. For a larger set, it is over all pairs of 5000 arms at even steps.
    """
    arms, _ = table(name)
    rows = np.arange(min(PAIRS, len(arms))) * len(arms) // min(PAIRS, len(arms))
    return float(f"{0.5 / np.median(pdist(arms[rows], 'sqeuclidean')):.4g}")


@frozen_dataclass
class TableArms(RBFArms):
    """Examples of a data set as arms, with the standardized target as f. Trials differ only in the noise.

    Attributes:
        name: "diabetes" (442 x 10), "digits" (1797 x 64), "abalone" (4177 x 10) or "california_housing" (20640 x 8).
        noise: xi >= 0.
        gamma: > 0, of the kernel exp(-gamma ||x - y||^2) for learners; None becomes ``median_gamma(name)``.
        data_checksum: SHA-256 of the file, which is part of the key of cached results; None for the sets of scikit-learn.

    Raises:
        ValueError: a value out of range; ValueError, FileNotFoundError: as ``datasets.load``.
    """

    name: str = fields.one_of(BUNDLED + FETCHED, "diabetes")
    noise: float = fields.nonnegative(0.3)
    gamma: float | None = fields.positive(None, optional=True)
    data_checksum: str | None = field(init=False, default=None)

    def __post_init__(self):
        if self.gamma is None:
            object.__setattr__(self, "gamma", median_gamma(self.name))
        if self.name in FETCHED:
            object.__setattr__(self, "data_checksum", datasets.checksum(self.name))

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> ArmsInstance:
        """Return arms and means of the table. The means are 1 x A, because all trials share them."""
        arms, means = (torch.tensor(x, **tkwargs).unsqueeze(0) for x in table(self.name))
        return ArmsInstance(arms, means, means.amax(1), None, None)
