"""The bounds on the information gain, compared with its exact values where they are known, and with enumeration."""

import itertools
import math

import pytest
import torch

from companion.bkb.errata import reference_arms
from companion.bkb.proofs import run_lemmas
from paperlib.core.linalg import argmax_first
from paperlib.maths.gp import RBF, FunctionKernel, Linear, Matern


def value(kernel, arms, ridge, design):
    points = arms[list(design)]
    gram = torch.eye(len(design), dtype=torch.float64) + kernel(points, points) / ridge
    return 0.5 * float(torch.linalg.slogdet(gram).logabsdet)


def greedy(kernel, arms, ridge, horizons):
    """Return T -> 1/2 ln det of the greedy design, which pulls the arm with the largest variance and is at most gamma_T."""
    points = arms.reshape(arms.shape[-2:])
    covariance, found, total = kernel(points, points).clone(), {}, 0.0
    for t in range(1, max(horizons) + 1):
        variance = covariance.diagonal()
        best = int(argmax_first(variance[None]))
        total += 0.5 * math.log1p(float(variance[best]) / ridge)
        row = covariance[best] / (variance[best] + ridge).sqrt()
        covariance.addr_(row, row, alpha=-1.0)
        found[t] = total
    return {T: found[T] for T in horizons}


def test_gain_of_the_reference_problem():
    kernel, arms = reference_arms()
    horizons = [10, 100, 300, 1000]
    low = greedy(kernel, arms, 0.01, horizons)
    high = run_lemmas.upper(kernel, arms, 0.01, horizons)
    for T, at_least, at_most in (
        (100, 47.973, 48.002),
        (300, 58.812, 58.829),
        (1000, 71.563, 71.574),
    ):
        assert low[T] == pytest.approx(at_least, abs=0.01)
        assert high[T] == pytest.approx(at_most, abs=0.01)
        assert low[T] <= high[T] <= low[T] + 0.1
    # This bound is T gamma_1; the relaxation alone gives 28.10.
    assert low[10] == pytest.approx(22.66, abs=0.3)
    assert high[10] == pytest.approx(5 * math.log(101))


def test_orthonormal_arms_in_closed_form():
    arms = torch.eye(4, dtype=torch.float64)
    low = greedy(Linear(), arms, 0.5, [4, 40])
    for T, high in run_lemmas.upper(Linear(), arms, 0.5, [4, 40], gap=1e-9).items():
        exact = 2 * math.log1p(T / 4 / 0.5)
        assert low[T] == pytest.approx(exact, rel=1e-12) and high == pytest.approx(exact, rel=1e-9)
    alone = run_lemmas.upper(Linear(), arms[:1], 0.5, [7])
    assert alone == {7: pytest.approx(0.5 * math.log(15), rel=1e-12)}


@pytest.mark.parametrize("kernel", [RBF(3.0), Matern(0.5, 0.5), Linear()], ids=str)
def test_the_best_of_all_designs_is_between_the_bounds(kernel):
    arms = torch.rand(5, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    low = greedy(kernel, arms, 0.2, [1, 3, 5])
    for T, high in run_lemmas.upper(kernel, arms, 0.2, [1, 3, 5]).items():
        best = max(
            value(kernel, arms, 0.2, design)
            for design in itertools.combinations_with_replacement(range(5), T)
        )
        assert low[T] <= best + 1e-9 and best <= high + 1e-9
        # The greedy design has this guarantee, because the gain is submodular.
        assert low[T] >= (1 - 1 / math.e) * best


def test_certificate_holds_before_the_updates_have_converged(monkeypatch):
    kernel, arms = reference_arms()
    fine = run_lemmas.upper(kernel, arms, 0.01, [100])[100]
    monkeypatch.setattr(run_lemmas, "ITERATIONS", 1)
    rough = run_lemmas.upper(kernel, arms, 0.01, [100])[100]
    assert rough > fine >= greedy(kernel, arms, 0.01, [100])[100]


def test_scaling_the_kernel_and_the_ridge_changes_nothing():
    kernel, arms = reference_arms()
    scaled = FunctionKernel(lambda X, Y: 7 * kernel(X, Y))
    one = run_lemmas.upper(kernel, arms, 0.01, [20, 50])
    assert one == pytest.approx(run_lemmas.upper(scaled, arms, 0.07, [20, 50]), rel=1e-8)


def test_bounds_at_single_horizons_agree():
    kernel, arms = reference_arms()
    gamma = run_lemmas.gamma_at(kernel, arms, 0.01)
    fine = run_lemmas.upper(kernel, arms, 0.01, [1, 37, 100])
    assert fine[1] == pytest.approx(0.5 * math.log(101), rel=1e-12)
    for T, low in greedy(kernel, arms, 0.01, [1, 37, 100]).items():
        # gamma_at stops at a gap of 0.05.
        assert gamma(T) >= low and gamma(T) == pytest.approx(fine[T], abs=0.06)


def test_effective_dimension_of_the_uniform_design():
    arms = torch.eye(3, dtype=torch.float64)
    assert run_lemmas.uniform_dimension(Linear(), arms, 6, 0.5) == pytest.approx(3 * 2 / 2.5)


def closed(gamma, ridge, horizon, dim=1, count=64):
    side = torch.linspace(0, 1, count, dtype=torch.float64)
    points = side[:, None] if dim == 1 else torch.cartesian_prod(side[::8], side[::8])
    kernel = RBF(gamma)
    return run_lemmas.worst_of_gaussian(kernel, points, ridge, horizon), kernel, points


@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("gamma, ridge", [(1.0, 1.0), (10.0, 0.1), (100.0, 0.01)])
@pytest.mark.parametrize("horizon", [1, 20, 200])
def test_the_closed_form_bounds_every_design(dim, gamma, ridge, horizon):
    bound, kernel, points = closed(gamma, ridge, horizon, dim)
    least = greedy(kernel, points, ridge, [horizon])[horizon]
    assert 2 * least <= bound <= horizon * math.log1p(1 / ridge) * (1 + 1e-12)


def test_the_closed_form_by_hand_and_its_order():
    """With gamma = 2 and rho = 1/2, N has mean 1; at T = 30, lambda = 1 the best of the orders 1, 2, 3 and 4 is the second."""
    tail = [1 - sum(math.exp(-1) / math.factorial(i) for i in range(j)) for j in range(6)]
    values = [j * math.log1p(30 / j) + 30 * tail[j] for j in (1, 2, 3, 4, 5)]
    assert closed(2.0, 1.0, 30)[0] == pytest.approx(min(values))
    growth = [closed(10.0, 1.0, T)[0] / math.log(T) ** 2 for T in (10**3, 10**5, 10**7)]
    assert growth[0] > growth[1] > growth[2]  # O(ln(T)^2) for d = 1


def test_each_dimension_has_its_gamma_in_the_closed_form():
    side = torch.linspace(0, 1, 8, dtype=torch.float64)
    points = torch.cartesian_prod(side, side)
    scaled = points * torch.tensor([3.0, 1.0], dtype=torch.float64).sqrt()
    own = run_lemmas.worst_of_gaussian(RBF((3.0, 1.0)), points, 0.1, 50)
    assert own == pytest.approx(run_lemmas.worst_of_gaussian(RBF(1.0), scaled, 0.1, 50))
    assert own < run_lemmas.worst_of_gaussian(RBF(3.0), points, 0.1, 50)
