"""Tests of the search for the next point: initial points, their improvement, and the maximum over the ball."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from gu_reference import W, X, adam, optimism, sigma, value
from scipy.optimize import minimize

from paperlib.core.streams import Streams
from paperlib.goucb.learners.acquisition import AcquisitionSurface, Joint, Linearized, Sphere
from paperlib.goucb.learners.climb import maximize_from_points
from paperlib.goucb.learners.ellipsoid import Ellipsoid
from paperlib.goucb.model.network import TwoLayerNet
from paperlib.maths.bounds import Bounds

F64 = torch.float64
NET = TwoLayerNet(2)
BOX = Bounds.of([-2.0, -1.0], [4.0, 2.0])
RIDGE = 0.3
# Points where the steps do not alternate.
STEADY = [[-0.9, 0.8], [-0.64, -0.3], [-0.58, 0.35], [-0.78, 0.05]]


def surface(kappa=1.0):
    """Return a surface for two trials with the fixture's weights and three gradients at them; boxes, incumbents and last points differ."""
    w = torch.tensor(W).expand(2, -1)
    ellipsoid = Ellipsoid.of(NET, NET.features(w, torch.tensor(X).expand(2, -1, -1)), RIDGE, 9)
    at = lambda *rows: torch.tensor(rows, dtype=F64)
    return AcquisitionSurface(
        NET,
        w,
        ellipsoid,
        kappa * torch.full((2,), RIDGE, dtype=F64).sqrt(),
        BOX,
        at([-0.5, -0.9], [0.1, -1.0]),
        at([0.7, 0.2], [0.3, 1.0]),
        at([0.25], [0.6]),
        at([0.1, -0.35], [0.2, 0.0]),
        at([0.6, 0.1], [0.15, -0.4]),
    )


SIGMA = sigma([W] * 3, X, RIDGE)


# ---- initial points


def test_points_that_compete_are_uniform_then_around_the_incumbent_then_the_incumbent():
    at, draw = surface(), Streams(1, range(2)).at(6)
    found = Linearized().raw(at, draw)
    uniform, normal = draw.uniform("candidates", 128, 2), draw.normal("jitter", 32, 2)
    for i in range(2):
        lo, hi, best = (side[i].numpy() for side in (at.lo, at.hi, at.incumbent))
        near = best + at.spread[i].item() * normal[i].numpy()
        points = np.vstack([lo + (hi - lo) * uniform[i].numpy(), near, best])
        np.testing.assert_allclose(found[i], np.clip(points, lo, hi), atol=1e-14)
    alone = Linearized(around=0).raw(at, draw)
    torch.testing.assert_close(alone, torch.cat([found[:, :128], found[:, -1:]], 1))


def test_the_linear_acquisition_is_value_and_width():
    at, u = surface(0.7), torch.rand(2, 5, 2, generator=torch.Generator().manual_seed(0), dtype=F64)
    for found, points in zip(Linearized().score(at, u), BOX.native(u)):
        f, bonus = optimism(W, SIGMA, points.numpy(), 0.7 * math.sqrt(RIDGE))
        np.testing.assert_allclose(found, f + bonus, rtol=1e-12)


# ---- improvement by Adam


def paraboloid(u):
    return -((u - 0.3) ** 2 * torch.tensor([1.0, 9.0], dtype=F64)).sum(2)


def test_the_improvement_is_adam_with_continued_averages():
    """Adam improves one point as in the textbook. Two steps differ from one step repeated with new averages."""
    box, begun = Bounds.cube(2), np.array([-0.4, 0.9])
    slope = lambda u: -2 * np.array([1.0, 9.0]) * (u - 0.3)
    points = torch.tensor(begun).view(1, 1, 2)
    sizes = SimpleNamespace(top=1, rate=0.05)
    for steps in (1, 2, 7):
        sizes.steps = steps
        found = maximize_from_points(paraboloid, points, box, sizes)
        np.testing.assert_allclose(found[0], adam(begun, slope, steps, 0.05), atol=1e-12)
    once = adam(begun, slope, 1, 0.05)
    assert np.abs(adam(begun, slope, 2, 0.05) - adam(once, slope, 1, 0.05)).max() > 1e-4


def test_the_improvement_stays_in_the_box_and_returns_the_best_point_of_all():
    """If the steps are too large, the initial point wins. A second point that improves more than the first wins. Of equal points the first wins."""
    at = lambda *points: torch.tensor([points], dtype=F64)
    sizes = SimpleNamespace(top=2, steps=1, rate=5.0)
    cube, small = Bounds.cube(2), Bounds(at([-1.0, -1.0])[0], at([0.2, 0.25])[0])
    points = at([0.2, 0.2], [0.28, 0.3])
    assert torch.equal(maximize_from_points(paraboloid, points, cube, sizes), points[:, 1])
    sizes = SimpleNamespace(top=2, steps=40, rate=0.05)
    corner = maximize_from_points(paraboloid, at([0.0, 0.0], [-1.0, -1.0]), small, sizes)
    assert torch.equal(corner, small.hi)
    ridge = lambda u: torch.where(u[..., 0] < 0, -u[..., 1].square(), 5 * u[..., 1] - 4)
    two = at([-0.5, 0.1], [0.5, 0.2])
    assert maximize_from_points(ridge, two, cube, sizes)[0, 0] > 0
    sizes.top = 1
    assert maximize_from_points(ridge, two, cube, sizes)[0, 0] < 0
    flat = maximize_from_points(lambda u: 0 * u.sum(2), two, cube, sizes)
    assert torch.equal(flat, two[:, 0])


def test_a_search_reports_that_it_used_the_whole_ball():
    choice = Linearized(8, 2, 2, 2).maximizer(surface(), Streams(0, range(2)).at(0))
    assert choice.ratio.tolist() == [1.0, 1.0] and choice.moved.tolist() == [0.0, 0.0]


# ---- the maximum over the ball


def farthest(x, root):
    """Return the maximum of f_x over the ball's boundary: the best of random directions, improved by BFGS."""
    M = np.linalg.inv(np.linalg.cholesky(SIGMA)).T

    def below(v):
        return -value(W + root * M @ (v / np.linalg.norm(v)), x)

    directions = np.random.default_rng(0).normal(size=(500, 9))
    best = sorted(directions, key=below)[:3]
    return -min(minimize(below, v, tol=1e-10).fun for v in best)


def test_the_sphere_is_the_maximum_over_the_balls_boundary():
    """At kappa = 1 f is not linear on the ball, therefore one iteration is not enough."""
    at, root = surface(), math.sqrt(RIDGE)
    u = torch.tensor(STEADY, dtype=F64).expand(2, -1, -1)
    expected = np.array([farthest(x, root) for x in BOX.native(u)[0].numpy()])
    found, one = Sphere().score(at, u), Sphere(turns=1).score(at, u)
    for row in found.numpy():
        np.testing.assert_allclose(row, expected, atol=1e-6)
    assert bool((one < found - 5e-3).all())


def test_a_cycle_on_a_wide_ball_loses_nothing():
    """With kappa = 2 the steps alternate at most points. More steps never give a smaller value, nor one below the value at the center."""
    at, u = (
        surface(2.0),
        torch.rand(2, 200, 2, generator=torch.Generator().manual_seed(1), dtype=F64),
    )
    u = 2 * u - 1
    one, many = (Sphere(turns=turns).score(at, u) for turns in (1, 60))
    assert bool((many >= one).all()) and bool((many >= NET.value(at.w, BOX.native(u))).all())


def test_the_gradient_of_the_sphere_is_the_gradient_at_its_maximum():
    """The gradient with w held fixed (envelope theorem) equals finite differences of the maximum."""
    at = surface()
    u = torch.tensor(STEADY, dtype=F64).repeat(2, 1, 1).requires_grad_()
    (slope,) = torch.autograd.grad(Sphere().score(at, u).sum(), u)
    for k in range(2):
        step = torch.zeros(2, dtype=F64)
        step[k] = 1e-5
        up, down = (Sphere().score(at, u.detach() + sign * step) for sign in (1, -1))
        torch.testing.assert_close(slope[:, :, k], (up - down) / 2e-5, rtol=1e-5, atol=1e-5)


# ---- joint ascent


def test_joint_ascent_starts_at_its_start():
    """The step size is so small that the points do not move."""
    at, draw = surface(), Streams(2, range(2)).at(5)
    everywhere = at._replace(lo=-torch.ones(2, 2, dtype=F64), hi=torch.ones(2, 2, dtype=F64))
    expected = {
        "incumbent": at.incumbent,
        "uniform": 2 * draw.uniform("ascent", 2) - 1,
        "last": at.last,
        "center": torch.zeros(2, 2, dtype=F64),
    }
    for start, begun in expected.items():
        choice = Joint(1, 1e-13, start).maximizer(everywhere, draw)
        torch.testing.assert_close(choice.u, begun, rtol=0, atol=1e-10)
        assert choice.moved.max() < 1e-10
    assert torch.equal(
        Joint(1, 1e-13).maximizer(at, draw).u, Joint(1, 1e-13, "incumbent").maximizer(at, draw).u
    )


@pytest.mark.parametrize("turns", [1, 60])
def test_a_ball_of_radius_zero_is_its_center(turns):
    at = surface(0.0)
    u = torch.linspace(-1, 1, 12, dtype=F64).view(2, 3, 2)
    plain = NET.value(at.w, BOX.native(u))
    torch.testing.assert_close(replace(Sphere(), turns=turns).score(at, u), plain)
    torch.testing.assert_close(Linearized().score(at, u), plain)
