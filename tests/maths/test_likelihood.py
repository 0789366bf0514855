"""Compare maximum-likelihood kernels with scikit-learn, and test invalid arguments."""

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk

from paperlib.bkb import Confidence, LazyBKB, Optimizer
from paperlib.maths.gp import maximum_likelihood

RNG = np.random.default_rng(4)
X = RNG.random((80, 2))
K = np.exp(-((X[:, None] - X[None]) ** 2 / (2 * np.array([0.2, 1.0]) ** 2)).sum(-1))
Y = np.linalg.cholesky(K + 1e-9 * np.eye(80)) @ RNG.normal(size=80) + 0.1 * RNG.normal(size=80)


def theirs(kernel, **options):
    return GaussianProcessRegressor(kernel, alpha=1e-10, **options).fit(X, Y)


@pytest.mark.parametrize("noise", [None, 0.1])
def test_no_other_parameters_are_more_likely(noise):
    found = maximum_likelihood(X, Y, noise)
    lengths = [(0.5 / gamma) ** 0.5 for gamma in found.kernel.gamma]
    same = theirs(sk.RBF(lengths) + sk.WhiteKernel(found.noise**2), optimizer=None)
    assert found.log_likelihood == pytest.approx(same.log_marginal_likelihood_value_, rel=1e-8)
    bounds = (1e-6, 1e3) if noise is None else "fixed"
    level = sk.WhiteKernel(0.1 if noise is None else noise**2, bounds)
    best = theirs(sk.RBF([0.3, 0.3]) + level, n_restarts_optimizer=5, random_state=0)
    assert found.log_likelihood >= best.log_marginal_likelihood_value_ - 1e-3


def test_the_model_that_generated_the_data_is_found():
    found = maximum_likelihood(X, Y)
    lengths = [(0.5 / gamma) ** 0.5 for gamma in found.kernel.gamma]
    assert 0.1 < lengths[0] < 0.4 and 0.5 < lengths[1] < 3.0 and 0.05 < found.noise < 0.2


def test_a_search_continues_with_the_most_likely_kernel():
    """The user may fit a kernel at any time and pass the earlier observations to a new search."""
    found = maximum_likelihood(X[:40], Y[:40])
    search = Optimizer(LazyBKB(found.kernel, Confidence(found.noise, 2.0)), X)
    search.observe(range(40), Y[:40])
    assert search.rounds == 40
    assert np.abs(search.posterior().mean[40:] - Y[40:]).mean() < 0.7 * np.abs(Y[40:]).mean()


@pytest.mark.parametrize(
    "name, change",
    [
        ("points", {"points": X[:1], "rewards": Y[:1]}),
        ("points", {"points": X[:, 0]}),
        ("rewards", {"rewards": Y[:5]}),
        ("points", {"points": np.where(X > 0.5, np.nan, X)}),
        ("rewards", {"rewards": np.full(80, np.inf)}),
        ("points", {"points": 1e155 * X}),
        ("points", {"points": 1e-200 * X}),
        ("rewards", {"rewards": np.full(80, 1e300)}),
        ("noise", {"noise": -1.0}),
    ],
)
def test_bad_arguments(name, change):
    with pytest.raises(ValueError, match=f"^{name} must .*, got "):
        maximum_likelihood(**({"points": X, "rewards": Y} | change))
