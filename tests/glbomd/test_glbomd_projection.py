"""Projection onto the ball in the norm of a matrix (A2)."""

import numpy as np
import pytest
import torch
from device_form import shortcuts
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize

from paperlib.maths.sets import ball_projection, project_ball


def tensor(x):
    return torch.as_tensor(np.asarray(x, float)).unsqueeze(0)


def random_problems(rows, d, seed, condition=1e4, far=10.0):
    """Return metrics R x d x d with the given condition number, and points up to ``far`` radii away."""
    rng = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(rng.normal(size=(rows, d, d)))
    length = condition ** rng.uniform(size=(rows, d))
    metric = (basis * length[:, None]) @ basis.transpose(0, 2, 1)
    point = rng.normal(size=(rows, d)) * far ** rng.uniform(-0.3, 1, size=(rows, 1))
    return torch.tensor(point), torch.tensor((metric + metric.transpose(0, 2, 1)) / 2)


@pytest.mark.parametrize(
    "point, metric, radius, expected, nu, objective",
    [
        ((3, 4), np.diag([2, 1]), 2, (1.4954806929, 1.3279824913), 2.0120879049, 11.6668342577),
        (
            (3, 4),
            [[2, 0.5], [0.5, 1]],
            2,
            (1.5525723803, 1.2607612795),
            2.7467154857,
            15.6583719773,
        ),
        (
            (1, 2, 2),
            np.diag([1e6, 1, 1e-3]),
            1,
            (0.9998746814, 0.0158310185, 1.5957201558e-5),
            125.334259618,
            None,
        ),
        ((0, 5), np.diag([4, 1]), 2, (0, 2), 1.5, 9),
    ],
)
def test_given_values(point, metric, radius, expected, nu, objective):
    x, multiplier = ball_projection(tensor(point), tensor(metric), radius)
    np.testing.assert_allclose(x[0], expected, atol=1e-9)
    np.testing.assert_allclose(multiplier[0], nu, rtol=1e-9)
    if objective is not None:
        move = (x - tensor(point))[0].numpy()
        np.testing.assert_allclose(move @ np.asarray(metric, float) @ move, objective, rtol=1e-9)


def test_rows_inside_come_back_bitwise():
    point, metric = random_problems(200, 4, seed=1)
    inside = torch.linalg.vector_norm(point, dim=-1) <= 2
    assert 20 < int(inside.sum()) < 180
    for on in (True, False):
        with shortcuts(on):
            x = project_ball(point, metric, 2.0)
        assert torch.equal(x[inside], point[inside]) and not torch.equal(x, point)
        assert float(torch.linalg.vector_norm(x, dim=-1).max()) <= 2 * (1 + 1e-12)


@settings(max_examples=60, deadline=None)
@given(
    d=st.integers(1, 20),
    digits=st.floats(0, 10),
    far=st.floats(1, 1e5),
    radius=st.floats(1e-3, 10),
    seed=st.integers(0, 10**6),
)
def test_stationarity(d, digits, far, radius, seed):
    """Check (A + nu I) x = A point, nu >= 0 and ||x|| <= radius, with nu > 0 only on the sphere."""
    point, metric = random_problems(4, d, seed, 10**digits, far)
    x, nu = ball_projection(point, metric, radius)
    pulled = (metric @ point.unsqueeze(2)).squeeze(2)
    residual = (metric @ (x - point).unsqueeze(2)).squeeze(2) + nu.unsqueeze(1) * x
    assert torch.all(
        torch.linalg.vector_norm(residual, dim=-1)
        <= 1e-10 * torch.linalg.vector_norm(pulled, dim=-1)
    )
    norm = torch.linalg.vector_norm(x, dim=-1)
    assert torch.all(nu >= 0) and torch.all(norm <= radius * (1 + 1e-12))
    outside = torch.linalg.vector_norm(point, dim=-1) > radius
    assert torch.all((norm / radius - 1).abs()[outside] < 1e-12) and torch.all(nu[~outside] == 0)


@settings(max_examples=25, deadline=None)
@given(d=st.integers(1, 8), digits=st.floats(0, 8), seed=st.integers(0, 10**6))
def test_device_form_agrees(d, digits, seed):
    point, metric = random_problems(6, d, seed, 10**digits, 1e3)
    gathered = project_ball(point, metric, 1.0)
    # Eigenvectors and Cholesky factors differ by a twentieth of the rounding error times the condition number.
    most = 1e-12 + 1e-17 * 10**digits
    with shortcuts(False):
        torch.testing.assert_close(project_ball(point, metric, 1.0), gathered, rtol=most, atol=most)
    for i in range(6):
        torch.testing.assert_close(
            project_ball(point[i : i + 1], metric[i : i + 1], 1.0),
            gathered[i : i + 1],
            rtol=1e-12,
            atol=1e-12,
        )


def test_against_a_bracketing_root_finder():
    point, metric = random_problems(50, 5, seed=3, condition=1e3)
    x = project_ball(point, metric, 1.0).numpy()
    for p, A, mine in zip(point.numpy(), metric.numpy(), x):
        if np.linalg.norm(p) > 1:
            at = lambda nu: np.linalg.solve(A + nu * np.eye(5), A @ p)
            nu = brentq(lambda nu: np.linalg.norm(at(nu)) - 1, 0, 1e7, xtol=1e-14, rtol=1e-15)
            np.testing.assert_allclose(mine, at(nu), atol=1e-10)


def test_against_a_constrained_minimizer():
    point, metric = random_problems(8, 3, seed=4, condition=20, far=5)
    for p, A, mine in zip(point.numpy(), metric.numpy(), project_ball(point, metric, 1.0).numpy()):
        found = minimize(
            lambda y: (y - p) @ A @ (y - p),
            mine * 0.5,
            jac=lambda y: 2 * A @ (y - p),
            method="SLSQP",
            constraints={"type": "ineq", "fun": lambda y: 1 - y @ y, "jac": lambda y: -2 * y},
            options={"ftol": 1e-14, "maxiter": 500},
        )
        np.testing.assert_allclose(mine, found.x, atol=5e-6)


def test_huge_points():
    """Check that the projection is finite after a reward of a million counts, which moves the estimate far away."""
    point, metric = (
        torch.tensor([[1e6, -3e5], [1e-300, 1e9]]),
        torch.eye(2).double().repeat(2, 1, 1) * 1e8,
    )
    x = project_ball(point.double(), metric, 3.0)
    assert torch.all(x.isfinite())
    torch.testing.assert_close(torch.linalg.vector_norm(x, dim=-1), torch.full((2,), 3.0).double())


@pytest.mark.parametrize("size", [1e-10, 1e10])
def test_the_unit_of_the_metric_does_not_matter(size):
    """Check that scaling the metric leaves the closest point unchanged and scales its multiplier."""
    point, metric = random_problems(40, 3, 7)
    own, scaled = (ball_projection(point, x * metric, 1.5) for x in (1.0, size))
    torch.testing.assert_close(scaled.point, own.point, rtol=0, atol=1e-9)
    torch.testing.assert_close(scaled.multiplier / size, own.multiplier, rtol=1e-9, atol=0)
