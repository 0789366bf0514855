"""Compare kernels and the exact posterior with scikit-learn."""

import math

import numpy as np
import pytest
import torch
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk

from paperlib.maths.gp import (
    RBF,
    FunctionKernel,
    Linear,
    Matern,
    check_kernel,
    exact_posterior,
    kernel_rank,
)

RNG = np.random.default_rng(5)
THEIRS = {
    RBF(3.0): sk.RBF(1 / math.sqrt(6)),
    Matern(0.5, 0.7): sk.Matern(0.7, nu=0.5),
    Matern(1.5, 0.7): sk.Matern(0.7, nu=1.5),
    Matern(2.5, 0.7): sk.Matern(0.7, nu=2.5),
    Matern(): sk.Matern(1.0, nu=2.5),
    Linear(): sk.DotProduct(sigma_0=1e-12),
}


def wave(X, Y):
    """A kernel that is not a function of the distance and has a non-constant diagonal."""
    return (1 + X @ Y.mT) ** 2


OURS = [*THEIRS, FunctionKernel(wave)]


def points(*shape):
    return torch.tensor(RNG.random(shape))


@pytest.mark.parametrize("kernel", THEIRS, ids=repr)
@pytest.mark.parametrize("dim", [1, 3, 12])  # from 8 dimensions on, RBF uses products
def test_kernels_are_scikit_learns(kernel, dim):
    X, Y = points(9, dim), points(6, dim)
    np.testing.assert_allclose(kernel(X, Y), THEIRS[kernel](X.numpy(), Y.numpy()), rtol=1e-11)
    np.testing.assert_allclose(kernel.diag(X), THEIRS[kernel].diag(X.numpy()), rtol=1e-12)


@pytest.mark.parametrize("kernel", OURS, ids=lambda kernel: type(kernel).__name__)
@pytest.mark.parametrize("dim", [2, 9])
def test_kernels_are_symmetric_positive_and_batched(kernel, dim):
    X, Y = points(3, 20, dim), points(1, 5, dim)
    K, cross = kernel(X, X), kernel(X, Y)
    assert K.shape == (3, 20, 20) and cross.shape == (3, 20, 5) and kernel.diag(X).shape == (3, 20)
    torch.testing.assert_close(K, K.mT, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(K.diagonal(dim1=1, dim2=2), kernel.diag(X), rtol=1e-12, atol=1e-12)
    assert torch.linalg.eigvalsh(K).min() > -1e-12 * K.abs().max() * 20
    for r in range(3):
        torch.testing.assert_close(cross[r], kernel(X[r], Y[0]))
    check_kernel(kernel, X)


def test_nearby_points_have_accurate_kernel_values():
    """1 - k(x, x + h) is gamma h^2 to leading order; the error of products instead of differences would be larger."""
    x = torch.linspace(0, 1, 50, dtype=torch.float64).unsqueeze(1) + 7
    K = RBF(100.0)(x, x + 1e-7)
    np.testing.assert_allclose(1 - K.diagonal(), 1e-12, rtol=1e-3)


def test_rank_is_known_where_it_is_finite():
    assert (
        kernel_rank(Linear(), 7) == 7
        and kernel_rank(RBF(1.0), 7) is None
        and kernel_rank(FunctionKernel(wave), 7) is None
    )


@pytest.mark.parametrize(
    "function, message",
    [
        (lambda X, Y: RBF(1.0)(X, Y)[..., :1], "return a matrix of shape .*, got "),
        (lambda X, Y: RBF(1.0)(X, Y) * math.nan, "return finite numbers .*, got nan"),
        (lambda X, Y: -RBF(1.0)(X, Y), "have a diagonal of at least 0, got "),
        (
            lambda X, Y: RBF(1.0)(X, Y) + (X[..., :1] - Y[..., :1].mT).clamp(min=0),
            "be symmetric, .*, got ",
        ),
    ],
)
def test_functions_that_are_no_kernels_are_refused(function, message):
    with pytest.raises(ValueError, match=f"^kernel=FunctionKernel.* must {message}"):
        check_kernel(FunctionKernel(function), points(1, 8, 2))


def test_a_kernel_with_a_custom_diagonal_is_rejected():
    class Off(RBF):
        def diag(self, X):
            return 2 * super().diag(X)

    with pytest.raises(
        ValueError,
        match=r"kernel=Off\(gamma=1.0\) must be consistent, diag\(x\) = k\(x, x\), got values that differ by 1.0",
    ):
        check_kernel(Off(1.0), points(1, 8, 2))
    # An all-zero kernel is valid.
    check_kernel(Linear(), torch.zeros(1, 3, 2, dtype=torch.float64))


@pytest.mark.parametrize(
    "make, name",
    [
        (lambda: RBF(0.0), "gamma"),
        (lambda: RBF(math.nan), "gamma"),
        (lambda: Matern(1.0), "nu"),
        (lambda: Matern(1.5, -1.0), "lengthscale"),
        (lambda: FunctionKernel(3), "function"),
    ],
)
def test_fields_out_of_range_are_refused(make, name):
    with pytest.raises(ValueError, match=f"^{name} must .*, got "):
        make()


# ---- Posterior ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", THEIRS, ids=repr)
@pytest.mark.parametrize("ridge", [0.01, 2.0])
def test_posterior_is_scikit_learns(kernel, ridge):
    """scikit-learn gets every observation separately; here they are counted, and one point in six is never observed."""
    X, at, count = (
        points(2, 6, 3),
        points(1, 10, 3),
        torch.tensor([[3, 0, 1, 1, 7, 2], [1, 1, 0, 5, 0, 1]]),
    )
    total, means, variances = torch.zeros(2, 6, dtype=torch.float64), [], []
    for r in range(2):
        rows = np.repeat(np.arange(6), count[r])
        y = RNG.normal(size=len(rows))
        total[r] = torch.tensor(np.bincount(rows, y, minlength=6))
        theirs = GaussianProcessRegressor(THEIRS[kernel], alpha=ridge, optimizer=None).fit(
            X[r].numpy()[rows], y
        )
        mean, sd = theirs.predict(at[0].numpy(), return_std=True)
        means.append(mean), variances.append(sd**2)
    for n in (count, count.double()):  # counts may be integers or floats
        ours = exact_posterior(kernel, X, n, total, ridge, at)
        np.testing.assert_allclose(ours.mean, means, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(ours.variance, variances, rtol=1e-8, atol=1e-10)


def test_posterior_by_hand():
    """Two points with k = 0.5, the first observed twice (1 and 3), lambda = 1: mean 4/3 and 2/3, variance 1/3 and 5/6."""
    X = torch.tensor([[[0.0], [1.0]]], dtype=torch.float64)
    n, total = (
        torch.tensor([[2.0, 0.0]], dtype=torch.float64),
        torch.tensor([[4.0, 0.0]], dtype=torch.float64),
    )
    ours = exact_posterior(RBF(math.log(2)), X, n, total, 1.0, X)
    np.testing.assert_allclose(ours.mean, [[4 / 3, 2 / 3]], rtol=1e-12)
    np.testing.assert_allclose(ours.variance, [[1 / 3, 5 / 6]], rtol=1e-12)


def test_without_observations_the_prior_remains():
    X, none = points(1, 4, 2), torch.zeros(3, 4, dtype=torch.float64)
    ours = exact_posterior(Linear(), X, none, none, 0.5, X)
    assert ours.mean.shape == (3, 4) and not ours.mean.any()
    torch.testing.assert_close(ours.variance, Linear().diag(X).expand(3, 4))


def test_a_lengthscale_for_each_dimension_is_scikit_learns():
    rng = np.random.default_rng(3)
    for dim in (3, 9):  # computed by differences and by products
        lengths = tuple(rng.random(dim) + 0.3)
        X, Y = rng.random((7, dim)), rng.random((5, dim))
        ours = RBF.of(*lengths)(torch.tensor(X), torch.tensor(Y))
        np.testing.assert_allclose(ours, sk.RBF(lengths)(X, Y), rtol=1e-12)
    assert RBF.of(0.5) == RBF(2.0) and RBF((2.0, 2.0)).gammas(2) == RBF(2.0).gammas(2)


@pytest.mark.parametrize(
    "gamma", [torch.tensor(2.0), torch.ones(3), (1.0, -1.0), (), [1.0, 2.0], "a", True, (True,)]
)
def test_rbf_rejects_other_gammas_than_numbers_and_tuples(gamma):
    with pytest.raises(
        ValueError, match=r"gamma must be a positive number from 1e-30 to 1e\+30, got "
    ):
        RBF(gamma)


def test_rbf_refuses_points_of_another_dimension():
    with pytest.raises(
        ValueError, match=r"gamma must be one number or a tuple of 3 numbers,.*, got \(1.0, 2.0\)"
    ):
        RBF((1.0, 2.0))(torch.zeros(4, 3), torch.zeros(4, 3))
