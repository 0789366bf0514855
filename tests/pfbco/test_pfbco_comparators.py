"""Tests of the best matrices in hindsight: values computed by hand, generic solvers, and certified gaps."""

import numpy as np
import pytest
import torch
from pfbco_runs import loss_at
from scipy.optimize import minimize

from companion.pfbco.proofs import comparators
from companion.pfbco.proofs.comparators import best_completion
from paperlib.core.streams import Streams
from paperlib.maths.matrices import NuclearBall, Spectrahedron, svec
from paperlib.pfbco.problems.completion import MatrixCompletion

TKWARGS = {"dtype": torch.float64, "device": "cpu"}


def drawn(p, trials=3, seed=0):
    """Draw weights and targets of the size of a few hundred rounds."""
    rng = np.random.default_rng(seed)
    W, S = rng.uniform(40, 60, (trials, p, p)), rng.normal(0, 40, (trials, p, p)) + 150 * np.eye(p)
    return tuple(torch.from_numpy((x + x.swapaxes(1, 2)) / 2) for x in (W, S))


def value(W, S, X):
    return (W * X * X / 2 - S * X).sum((1, 2))


@pytest.mark.parametrize("make", [NuclearBall.of, Spectrahedron.of])
def test_best_matrix_within_the_set_is_the_plain_quotient(make):
    W, S = drawn(4)
    if make is Spectrahedron.of:  # a positive definite matrix
        S = W * torch.eye(4, **TKWARGS)
    best = best_completion(W, S, make(4, 100.0, **TKWARGS), 1e-8)
    torch.testing.assert_close(best.point, S / W, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(best.value, -(S * S / W).sum((1, 2)) / 2)


def squeezed(kind, k, A):
    """Return A as a point of the set: scaled and, on the spectrahedron, squared."""
    X = A @ A.T if kind == "psd" else (A + A.T) / 2
    return X * min(1.0, k / np.abs(np.linalg.eigvalsh(X)).sum())


@pytest.mark.parametrize("kind", ["nuclear", "psd"])
def test_best_matrix_against_a_search_over_factors(kind):
    """With X = F F^T, or F F^T - G G^T for the ball, a generic solver gets a smooth problem with one constraint."""
    p, k = 3, 2.0
    W, S = drawn(p)
    cset = (
        NuclearBall.of(p, k, **TKWARGS) if kind == "nuclear" else Spectrahedron.of(p, k, **TKWARGS)
    )
    best = best_completion(W, S, cset, 1e-7)
    values = torch.linalg.eigvalsh(best.point)
    assert bool((values.abs().sum(1) <= k + 1e-9).all()) and (
        kind == "nuclear" or bool((values >= -1e-9).all())
    )
    rng = np.random.default_rng(1)
    for row in range(3):
        w, s = W[row].numpy(), S[row].numpy()

        def matrix(z):
            F, G = z.reshape(2, p, p)
            return F @ F.T - (G @ G.T if kind == "nuclear" else 0)

        f = lambda z: (w * matrix(z) ** 2 / 2 - s * matrix(z)).sum()
        left = lambda z: k - (z**2)[: 2 * p * p if kind == "nuclear" else p * p].sum()
        settings = {
            "method": "SLSQP",
            "constraints": {"type": "ineq", "fun": left},
            "options": {"ftol": 1e-12, "maxiter": 500},
        }
        found = [minimize(f, rng.normal(0, 0.5, 2 * p * p), **settings).fun for _ in range(3)]
        assert best.value[row].item() == pytest.approx(min(found), rel=1e-5)
        for _ in range(50):
            X = torch.from_numpy(squeezed(kind, k, rng.normal(0, 1, (p, p))))
            assert (
                value(W[row : row + 1], S[row : row + 1], X).item() >= best.value[row].item() - 1e-7
            )


@pytest.mark.parametrize("tolerance", [10.0, 0.1, 1e-5])
def test_the_gap_of_best_matrices_bounds_their_suboptimality(tolerance):
    W, S = drawn(6, seed=4)
    cset = NuclearBall.of(6, 3.0, **TKWARGS)
    rough, exact = best_completion(W, S, cset, tolerance), best_completion(W, S, cset, 1e-8)
    missing = rough.value - exact.value
    assert bool(
        (rough.gap <= tolerance).all()
        & (missing <= rough.gap + 1e-8).all()
        & (missing >= -1e-8).all()
    )
    slope = (W * rough.point - S).numpy()  # the gap in native coordinates: <grad, X> + k ||grad||_2
    expected = [
        (g * x).sum() + 3 * np.abs(np.linalg.eigvalsh(g)).max()
        for g, x in zip(slope, rough.point.numpy())
    ]
    np.testing.assert_allclose(rough.gap, expected, rtol=1e-6, atol=1e-9)


def test_the_printed_oracle_is_not_used():
    """The printed oracle returns positive traces, and the best matrix has a negative trace. By its gap the first point would be accepted."""
    W, S = drawn(4)
    mine = [
        best_completion(W, -S, NuclearBall.of(4, 3.0, exact, **TKWARGS), 1e-6).point
        for exact in (True, False)
    ]
    torch.testing.assert_close(*mine)


@pytest.mark.parametrize("mode", ["paper_lmo", "nuclear", "psd"])
@pytest.mark.parametrize("T", [1, 100])
def test_best_of_a_run_is_no_worse_than_known_points(mode, T):
    """After one round a quarter of the entries have weight 0, so T = 1 is a degenerate problem."""
    problem = MatrixCompletion(mode=mode)
    instance = problem.init(4, T, Streams(0, range(4)).at(-1), **TKWARGS)
    totals, cset = instance.totals, instance.task.cset
    best = best_completion(totals.weight, totals.target, cset, 1e-6 * T)
    middle = cset.to_native(torch.zeros(1, cset.dim, **TKWARGS))
    y = (svec(best.point) - middle) / cset.rho
    played = sum(loss_at(problem, instance, t, y) for t in range(T))
    torch.testing.assert_close(best.value + totals.constant, played)
    near = (svec(0.9 * torch.eye(20, **TKWARGS).expand(4, 20, 20)) - middle) / cset.rho
    assert bool(
        (played <= sum(loss_at(problem, instance, t, near) for t in range(T)) + 1e-6 * T).all()
    ) and bool(cset.contains(y, 1e-9).all())


def test_a_trial_of_best_matrices_is_the_same_alone():
    W, S = drawn(5)
    cset = Spectrahedron.of(5, 4.0, **TKWARGS)
    batch = best_completion(W, S, cset, 1e-6)
    for row in range(3):
        torch.testing.assert_close(
            best_completion(W[row : row + 1], S[row : row + 1], cset, 1e-6).point[0],
            batch.point[row],
            rtol=1e-9,
            atol=1e-9,
        )


def test_best_completion_raises_if_it_has_not_converged(monkeypatch):
    monkeypatch.setattr(comparators, "STEPS", 1)
    with pytest.raises(RuntimeError, match="after 1 steps"):
        best_completion(*drawn(4), NuclearBall.of(4, 3.0, **TKWARGS), 1e-9)
