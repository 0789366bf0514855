"""Tests of the recursion of Phase II and its ellipsoid against numpy, and of the regression oracles."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from gu_reference import W, X, gradient, recursion, value
from gu_reference import fit as dense

from paperlib.core.streams import Streams
from paperlib.goucb.learners.acquisition import AcquisitionSurface, Joint, Linearized, Sphere
from paperlib.goucb.learners.ellipsoid import Ellipsoid
from paperlib.goucb.learners.goucb import GOUCB, printed_ridge
from paperlib.goucb.learners.oracle import BoxLeastSquares, Fit, GradientDescent, LevenbergMarquardt
from paperlib.goucb.learners.radius import Constant, Printed
from paperlib.goucb.model.function import FunctionModel
from paperlib.goucb.model.network import TwoLayerNet
from paperlib.maths.bounds import Bounds

F64 = torch.float64
NET = TwoLayerNet(2)
BOX = Bounds.cube(2, 5.0)
Y = [1.0, 0.2, -0.4]


@dataclass(frozen=True)
class Given:
    """Oracle that returns a given w_0."""

    w: tuple[float, ...]

    def starts(self, model, dim, draw):
        return torch.tensor([[self.w]], dtype=F64)

    def first(self, model, x, y, starts, ridge):
        return Fit(starts[:, 0], starts[:, 0])

    again = first


def told(learner, points, answers, horizon=None, box=BOX):
    """Return the state after one observation of Phase I and the given observations of Phase II."""
    draw = Streams(0, [0]).at(-1)
    with torch.no_grad():
        state = learner.init(1, box, horizon, draw, dtype=F64)
        for x, y in zip([points[0], *points], [0.0, *answers]):
            x, y = torch.tensor(x, dtype=F64)[None], torch.tensor([y], dtype=F64)
            state = learner.update(state, box, x, y, draw)
    return state


def recursive(ridge=2.0, radius=Constant(0.5), model=NET, w=tuple(W)):
    return GOUCB(model, 1, Given(w), Linearized(), radius, ridge=ridge, scaling="none")


def test_recursion_of_the_fixture():
    learner = recursive(radius=Constant(0.5 / math.sqrt(2)))
    state = told(learner, X, Y)
    expected = [
        *(0.626250824810, -0.065143622530, 0.982174117329, 0.731460765840, 0.003602211733),
        *(-0.155570425930, 1.376488379615, -0.486327768003, 0.039135939642),
    ]
    np.testing.assert_allclose(state.w[0], expected, atol=1e-12)
    ellipsoid = learner.ellipsoid(state, BOX)
    assert ellipsoid.growth().item() == pytest.approx(1.6170832106, abs=1e-10)
    S = ellipsoid.square(ellipsoid.features).sum().item()
    assert S == pytest.approx(1.0022618937, abs=1e-10)
    x = torch.tensor([[[0.7, -1.1]]], dtype=F64)
    assert NET.value(state.w, x).item() == pytest.approx(0.6901296890, abs=1e-10)
    assert ellipsoid.width(NET.features(state.w, x)).item() == pytest.approx(
        0.6668221051, abs=1e-10
    )
    mean, bonus = learner.predict(state, BOX, x)
    assert (mean + bonus).item() == pytest.approx(1.0235407416, abs=1e-10)  # beta = 0.25


def test_recursion_equals_numpy_at_each_round():
    u2, w, Sigma = recursion(W, 2.0, X, Y)
    np.testing.assert_allclose(u2, [1.4757463837, 0.5114317957, 0.3464666704], atol=1e-10)
    learner = recursive()
    np.testing.assert_allclose(told(learner, X, Y).w[0], w, atol=1e-12)
    for t in range(3):
        state = told(learner, X[:t], Y[:t]) if t else told(learner, X[:1], [])
        at = torch.tensor(X[t]).view(1, 1, 2)
        got = learner.ellipsoid(state, BOX).square(NET.features(state.w, at)).item()
        assert got == pytest.approx(u2[t], rel=1e-12)
    state = told(learner, X, Y)
    v = torch.linspace(-1, 1, 9, dtype=F64)[None]
    norm2 = learner.ellipsoid(state, BOX).norm2(v).item()
    assert norm2 == pytest.approx(v.numpy()[0] @ Sigma @ v.numpy()[0], rel=1e-12)
    assert np.linalg.slogdet(Sigma / 2.0)[1] == pytest.approx(1.6170832106, abs=1e-10)


def test_w_is_the_minimizer_of_the_stacked_least_squares():
    """The minimizer of (4) equals numpy's lstsq on the stored gradients and sqrt(lambda) I."""
    learner = recursive()
    state = told(learner, X, Y)
    G = NET.gradient(state.gradients.view)[0].numpy()
    A = np.vstack([G, math.sqrt(2.0) * np.eye(9)])
    b = np.concatenate([state.offsets.view[0].numpy() + G @ W, math.sqrt(2.0) * W])
    np.testing.assert_allclose(state.w[0], np.linalg.lstsq(A, b)[0], atol=1e-10)


@pytest.mark.parametrize("t", [1, 4, 5, 30])
def test_dual_and_primal_agree(t):
    """The two forms also agree in the round of the switch, t = dw / 2."""
    points = 5 * torch.tanh(
        torch.randn(1, t, 2, generator=torch.Generator().manual_seed(t), dtype=F64)
    )
    w = torch.tensor(W)[None]
    F = NET.features(w, points)
    new = NET.features(w, -points[:, :1])
    dual, primal = (Ellipsoid.of(NET, F, 0.3, 9, form) for form in (True, False))
    assert Ellipsoid.of(NET, F, 0.3, 9).dual == (2 * t <= 9)
    e = torch.linspace(-1, 1, t, dtype=F64)[None]
    close = lambda a, b: torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-10)
    close(dual.square(new), primal.square(new))
    close(dual.solve(new), primal.solve(new))
    close(dual.combine(e), primal.combine(e))
    close(dual.growth(), primal.growth())
    Sigma = 0.3 * np.eye(9) + NET.gradient(F)[0].numpy().T @ NET.gradient(F)[0].numpy()
    g = NET.gradient(new)[0, 0].numpy()
    np.testing.assert_allclose(dual.solve(new)[0], np.linalg.solve(Sigma, g), atol=1e-10)


def test_rank_one_updates_of_the_inverse_agree_with_both_forms():
    """The update is P <- P - P g g^T P / (1 + g^T P g). The implementation factors Sigma again in each round instead."""
    P, new, gradients = np.eye(9) / 2.0, np.array([0.7, -1.1]), []
    for t, x in enumerate(X):
        _, w, _ = recursion(W, 2.0, X[:t], Y[:t])
        at = torch.tensor(np.array([x, new]))[None]
        features = NET.features(torch.tensor(w)[None], at)
        gradients.append(features[:, :1])
        g, beside = NET.gradient(features)[0].numpy()
        P = P - np.outer(P @ g, P @ g) / (1 + g @ P @ g)
        for form in (True, False):
            ellipsoid = Ellipsoid.of(NET, torch.cat(gradients, 1), 2.0, 9, form)
            square = ellipsoid.square(features[:, 1:]).item()
            assert square == pytest.approx(beside @ P @ beside, abs=1e-10)
            solved = ellipsoid.solve(features[:, 1:])[0]
            np.testing.assert_allclose(solved, P @ beside, atol=1e-10)
    _, w, _ = recursion(W, 2.0, X, Y)
    state = told(recursive(), X, Y)
    G = NET.gradient(state.gradients.view)[0].numpy()
    np.testing.assert_allclose(W + P @ G.T @ state.offsets.view[0].numpy(), w, atol=1e-10)


def test_printed_numbers():
    assert printed_ridge(25) == pytest.approx(51.8058078796, abs=1e-9)
    assert printed_ridge(64) == pytest.approx(138.3704680084, abs=1e-9)
    assert printed_ridge(1) == 0
    beta = Printed(26.0).beta
    assert beta(25, 25, 551) == 76444842187376.0
    assert beta(1, 25, 551) == pytest.approx(3057793687495.04, abs=0.01)


# ---- a model that is linear in w: GO-UCB is LinUCB around w_0


def bilinear(w, x):
    return w @ torch.stack([x[0], x[1], x[0] * x[1], torch.ones_like(x[0])])


def phi(x):
    return np.array([x[0], x[1], x[0] * x[1], 1.0])


LINEAR = FunctionModel(bilinear, 4)


def test_a_linear_model_gives_linucb():
    """The estimate and the index equal ridge regression around w_0 on twenty random observations, and its UCB."""
    rng = np.random.default_rng(0)
    points, answers = rng.uniform(-5, 5, (20, 2)), rng.normal(size=20)
    w0 = rng.normal(size=4)
    learner = recursive(ridge=0.7, model=LINEAR, w=tuple(w0))
    state = told(learner, points, answers)
    Phi = np.array([phi(x) for x in points])
    V = 0.7 * np.eye(4) + Phi.T @ Phi
    theta = np.linalg.solve(V, 0.7 * w0 + Phi.T @ answers)
    np.testing.assert_allclose(state.w[0], theta, atol=1e-10)
    at = torch.tensor(rng.uniform(-5, 5, (1, 6, 2)))
    mean, bonus = learner.predict(state, BOX, at)
    arms = np.array([phi(x) for x in at[0].numpy()])
    np.testing.assert_allclose(mean[0], arms @ theta, atol=1e-9)
    width = np.sqrt(np.einsum("ij,ij->i", arms, np.linalg.solve(V, arms.T).T))
    np.testing.assert_allclose(bonus[0], 0.5 * math.sqrt(0.7) * width, atol=1e-9)


def surface(learner, state, box=BOX):
    one = torch.ones(1, box.dim, dtype=F64)
    root = learner.radius.root(None, learner.ellipsoid(state, box))
    parts = learner.model, state.w, learner.ellipsoid(state, box), root, box
    return AcquisitionSurface(*parts, -one, one, 0.1 * one[:, :1], 0 * one, 0 * one)


def test_for_a_linear_model_the_sphere_is_the_linear_acquisition():
    rng = np.random.default_rng(1)
    learner = recursive(ridge=0.7, model=LINEAR, w=(0.0, 1.0, 0.0, 0.0))
    state = told(learner, rng.uniform(-5, 5, (6, 2)), rng.normal(size=6))
    at = surface(learner, state)
    u = torch.tensor(rng.uniform(-1, 1, (1, 50, 2)))
    torch.testing.assert_close(
        Sphere().score(at, u), Linearized().score(at, u), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("kappa", [0.05, 0.2, 0.5])
def test_the_sphere_is_near_the_linear_acquisition(kappa):
    """|sphere - linear| <= beta C_h / (2 lambda), with C_h of the fixture's weights on the box; the difference is not zero."""
    learner = recursive(ridge=0.1, radius=Constant(kappa))
    state = told(learner, X, Y)
    at = surface(learner, state)
    u = torch.rand(1, 50, 2, generator=torch.Generator().manual_seed(0), dtype=F64) * 2 - 1
    gap = (Sphere().score(at, u) - Linearized().score(at, u)).abs()
    far = NET.hessian(state.w, at.frame.native(u))
    curvature = (
        2 * torch.linalg.matrix_norm(far, 2).amax().item()
    )  # the factor 2 allows for a larger Hessian within the ball
    assert 1e-9 < gap.max().item() <= kappa**2 * curvature / 2


def test_the_linear_acquisition_finds_the_maximum_of_a_grid():
    learner = recursive(ridge=0.5, radius=Constant(0.3))
    state = told(learner, X, Y)
    at = surface(learner, state)
    side = torch.linspace(-1, 1, 41, dtype=F64)
    grid = torch.cartesian_prod(side, side)[None]
    with torch.no_grad():
        for sizes in (Linearized(), Sphere()):
            chosen = sizes.maximizer(at, Streams(0, [0]).at(3)).u
            best = sizes.score(at, grid).amax().item()
            assert sizes.score(at, chosen.unsqueeze(1)).item() >= best - 1e-4


def test_joint_ascent_stays_in_the_ball_and_the_box():
    """The path equals the paper's steps in numpy, also for a ball so small that its constraint is active."""
    learner = recursive(radius=Constant(0.01))
    state = told(learner, X, Y)
    at = surface(learner, state)._replace(incumbent=torch.tensor([[0.1, -0.3]], dtype=F64))
    with torch.no_grad():
        choice = Joint(30, 0.05).maximizer(at, Streams(0, [0]).at(0))
    _, center, Sigma = recursion(W, 2.0, X, Y)
    x, w, largest = np.array([0.5, -1.5]), center, 0.0

    def slope(w, x):
        return np.array([value(w, x + h).imag / 1e-30 for h in np.eye(2) * 1e-30j])

    for _ in range(30):
        x, w = np.clip(x + 0.05 * slope(w, x), -5, 5), w + 0.05 * gradient(w, x)
        q = (w - center) @ Sigma @ (w - center)
        largest = max(largest, q / 2e-4)
        if q > 2e-4:
            w = center + (w - center) * math.sqrt(2e-4 / q)
    np.testing.assert_allclose(BOX.native(choice.u)[0], x, atol=1e-10)
    assert choice.ratio.item() == pytest.approx(largest, rel=1e-8) and largest > 1
    assert choice.moved.item() == pytest.approx(np.linalg.norm(x - [0.5, -1.5]), rel=1e-8)


# ---- oracles


def data(seed=0, n=12):
    generator = torch.Generator().manual_seed(seed)
    x = torch.rand(3, n, 2, generator=generator, dtype=F64) * 4 - 2
    y = NET.value(torch.tensor(W)[None], x) + 0.05 * torch.randn(
        3, n, generator=generator, dtype=F64
    )
    return x, y


def test_levenberg_marquardt_finds_a_stationary_point():
    """The point is stationary for 1/2 sum (f - y)^2 + rho/2 ||w - anchor||^2. It comes from one of the starts, and no start ends lower."""
    x, y = data()
    draw = Streams(0, range(3)).at(-1)
    oracle = LevenbergMarquardt(steps=200)
    starts = oracle.starts(NET, 2, draw)
    fit = oracle.first(NET, x, y, starts, 0.01)
    slope = NET.adjoint(NET.features(fit.w, x), NET.value(fit.w, x) - y) + 0.01 * (
        fit.w - fit.anchor
    )
    assert slope.abs().max() < 1e-6  # decreases within rounding error are rejected
    loss = lambda w, a: ((NET.value(w, x) - y).square().sum(1) + 0.01 * (w - a).square().sum(1)) / 2
    for s in range(4):
        one = oracle.first(NET, x, y, starts[:, s : s + 1], 0.01)
        assert bool((loss(fit.w, fit.anchor) <= loss(*one) + 1e-12).all())
    assert bool(((starts - fit.anchor.unsqueeze(1)).abs().sum(2) == 0).any(1).all())
    again = oracle.again(NET, x, y, fit, 0.01)
    assert torch.equal(again.anchor, fit.anchor)
    torch.testing.assert_close(again.w, fit.w, rtol=0, atol=1e-4)


def test_levenberg_marquardt_equals_numpy_step_by_step():
    x, y = data(1)
    start = np.linspace(-1, 1, 9)
    w, _ = dense(start, start, x[0].numpy(), y[0].numpy(), 0.3, 6)
    starts = torch.tensor(start).view(1, 1, 9)
    got = LevenbergMarquardt(steps=6).first(NET, x[:1], y[:1], starts, 0.3)
    np.testing.assert_allclose(got.w[0], w, atol=1e-10)


def test_gradient_descent_as_printed_does_not_move():
    x, y = data()
    starts = GradientDescent().starts(NET, 2, Streams(0, range(3)).at(-1))
    fit = GradientDescent(steps=50).first(NET, x, y, starts, None)
    assert 0 < (fit.w - starts[:, 0]).abs().max() < 1e-8
    one = GradientDescent(rate=0.05, steps=1).first(NET, x, y, starts, None)
    J = NET.features(starts[:, 0], x)
    mean = 2 * NET.adjoint(J, NET.value(starts[:, 0], x) - y) / 12
    torch.testing.assert_close(one.w, starts[:, 0] - 0.05 * mean)


def test_box_least_squares_stays_in_the_box_and_beats_the_truth():
    net = TwoLayerNet(1)
    truth = torch.tensor([[0.8, 0.3, 0.9, 0.2]], dtype=F64)
    x = torch.rand(2, 20, 1, generator=torch.Generator().manual_seed(0), dtype=F64) * 10 - 5
    y = net.value(truth, x) + 0.1 * torch.randn(
        2, 20, generator=torch.Generator().manual_seed(1), dtype=F64
    )
    oracle = BoxLeastSquares()
    fit = oracle.first(net, x, y, oracle.starts(net, 1, Streams(0, range(2)).at(-1)), None)
    assert bool(((fit.w >= 0) & (fit.w <= 1)).all())
    loss = lambda w: (net.value(w, x) - y).square().sum(1)
    assert bool((loss(fit.w) <= loss(truth)).all())


@pytest.mark.parametrize(
    "make",
    [
        lambda: LevenbergMarquardt(restarts=0),
        lambda: LevenbergMarquardt(gain=0.0),
        lambda: LevenbergMarquardt(ridge=-1.0),
        lambda: GradientDescent(rate=0.0),
        lambda: GradientDescent(start="zeros"),
        lambda: BoxLeastSquares(1.0, 0.0),
        lambda: Joint(start="best"),
        lambda: Joint(rate=-1.0),
        lambda: Linearized(candidates=0),
        lambda: Linearized(rate=math.nan),
        lambda: Sphere(turns=0),
        lambda: Constant(-0.1),
        lambda: Printed(0.0),
    ],
)
def test_bad_settings_are_refused(make):
    with pytest.raises(ValueError, match=r"^[\w, ]+ must .*, got "):
        make()
