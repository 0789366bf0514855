"""Compare rounds of the presets with dense ones in numpy; test the input of their acquisition, and every default number."""

import dataclasses
import math
from dataclasses import dataclass, field

import numpy as np
import pytest
import torch
from gu_reference import fit, optimism, recursion, sigma

from paperlib.core.linalg import Rows
from paperlib.core.streams import Streams
from paperlib.goucb.learners import turbo
from paperlib.goucb.learners.acquisition import Choice, Joint, Linearized, Sphere
from paperlib.goucb.learners.goucb import GOUCB, TrustRegion
from paperlib.goucb.learners.gp import GP, PRIORS
from paperlib.goucb.learners.oracle import BoxLeastSquares, GradientDescent, LevenbergMarquardt
from paperlib.goucb.learners.presets import algorithm1, literal, practical
from paperlib.goucb.learners.radius import Constant, Printed
from paperlib.goucb.learners.search import History
from paperlib.goucb.model.function import FunctionModel
from paperlib.goucb.model.network import TwoLayerNet
from paperlib.goucb.problems.synthetic import StyblinskiTang
from paperlib.maths.bounds import Bounds
from paperlib.play import Probe, play

F64 = torch.float64
BOX = Bounds.of([-1.0, 2.0], [3.0, 2.5])
SIZES = {
    "model": TwoLayerNet(2),
    "oracle": LevenbergMarquardt(2, 10, 3),
    # Without Adam steps, the best initial point is selected.
    "acquisition": Linearized(16, 4, 2, 0),
}
TRUST = TrustRegion(0.3, 0.1, 1.0, successes=2, failures=2)
N, ROUNDS = 3, 11


def played(learner, rounds=ROUNDS, horizon=None):
    """Return points of [-1, 1]^d, R x t x d, and observations of two trials, R x t, with the last state."""
    streams = Streams(0, range(2))
    with torch.no_grad():
        state = learner.init(2, BOX, horizon, streams.at(-1), dtype=F64)
        for t in range(rounds):
            x, state = learner.select(state, BOX, streams.at(t))
            u = BOX.scaled(x)
            y = 40 - 30 * (u - 0.4).square().sum(1) + 5 * (7 * u[:, 0]).sin()
            state = learner.update(state, BOX, x, y, streams.at(t))
    return state.x.view.numpy(), state.y.view.numpy(), state


def lengths(y, rule):
    """Return the half-width of the trust region in each round of Phase II."""
    length, up, down, found = rule.first, 0, 0, []
    for t in range(N, len(y) + 1):
        found.append(length)
        if t < len(y):
            best = y[:t].max()
            better = y[t] > best + 1e-3 * abs(best)
            up, down = (up + 1, 0) if better else (0, down + 1)
            if up == rule.successes:
                length, up = min(2 * length, rule.most), 0
            if down == rule.failures:
                length, down = max(length / 2, rule.least), 0
    return found


def competing(t, trial, lo, hi, best, spread):
    """Return the initial points of the search: 16 uniform points of the region, 4 normal ones around the incumbent, and the incumbent."""
    draw = Streams(0, range(2)).at(t)
    uniform = draw.uniform("candidates", 16, 2)[trial].numpy()
    near = best + spread * draw.normal("jitter", 4, 2)[trial].numpy()
    return np.clip(np.vstack([lo + (hi - lo) * uniform, near, best]), lo, hi)


def best_start(starts, u, z, rho):
    """Return the fit with the lowest objective of the fits from all starts, and its start."""
    fits = [(*fit(start, start, u, z, rho, 10), start) for start in starts.numpy()]
    w, _, start = min(fits, key=lambda each: each[1])
    return w, start


def predicted(learner, state):
    """Return value and bonus at three points in the user's coordinates, R x 3 each."""
    at = torch.tensor([[-0.9, 0.2], [0.3, 0.8], [1.0, -1.0]], dtype=F64)
    with torch.no_grad():
        mean, bonus = learner.predict(state, BOX, BOX.native(at).expand(2, -1, -1))
    return at.numpy(), mean.numpy(), bonus.numpy()


# ---- dense rounds


def test_rounds_of_practical_equal_dense_ones():
    """All observations, including Phase I, enter the standardization, the fit and Sigma. The region is around the best of all points."""
    learner = practical(N, kappa=0.7, ridge=0.05, trust=TRUST, **SIZES)
    u, y, state = played(learner)
    at, mean, bonus = predicted(learner, state)
    for i in range(2):
        sides = lengths(y[i], TRUST)
        assert y[i].argmax() >= N and len(set(sides)) >= 3
        for t in range(N, ROUNDS + 1):
            heard, m, sd = u[i, :t], y[i, :t].mean(), y[i, :t].std(ddof=1)
            z = (y[i, :t] - m) / sd
            if t == N:
                w, anchor = best_start(state.starts[i], heard, z, 0.05)
            else:
                w, _ = fit(w, anchor, heard, z, 0.05, 3)
            best, side = heard[y[i, :t].argmax()], sides[t - N]
            Sigma, root = sigma([w] * t, heard, 0.05), 0.7 * math.sqrt(0.05)
            if t < ROUNDS:
                lo, hi = np.maximum(best - side, -1), np.minimum(best + side, 1)
                points = competing(t, i, lo, hi, best, side / 2)
                chosen = points[np.sum(optimism(w, Sigma, points, root), 0).argmax()]
                np.testing.assert_allclose(u[i, t], chosen, atol=1e-9)
        np.testing.assert_allclose(state.w[i], w, atol=1e-7)
        f, width = optimism(w, Sigma, at, root)
        np.testing.assert_allclose(mean[i], m + sd * f, rtol=1e-6)
        np.testing.assert_allclose(bonus[i], sd * width, rtol=1e-6)


@pytest.mark.parametrize("trust", [None, TRUST])
def test_rounds_of_algorithm1_equal_dense_ones(trust):
    """Phase I determines the standardization of all rounds. Sigma and the ridge estimate use Phase II, with gradients at the time of each query."""
    learner = algorithm1(N, kappa=0.7, ridge=0.5, trust=trust, **SIZES)
    u, y, state = played(learner)
    at, mean, bonus = predicted(learner, state)
    for i in range(2):
        m, sd = y[i, :N].mean(), y[i, :N].std(ddof=1)
        z, root = (y[i] - m) / sd, 0.7 * math.sqrt(0.5)
        w0, _ = best_start(state.starts[i], u[i, :N], z[:N], 0.5)
        assert abs(sd - 1) > 0.5
        for t in range(N, ROUNDS + 1):
            _, w, Sigma = recursion(w0, 0.5, u[i, N:t], z[N:t])
            if t < ROUNDS:
                best, lo, hi, spread = u[i, y[i, :t].argmax()], -1, 1, 0.1
                if trust is not None:
                    side = lengths(y[i], trust)[t - N]
                    lo, hi = np.maximum(best - side, -1), np.minimum(best + side, 1)
                    spread = side / 2
                points = competing(t, i, lo, hi, best, spread)
                chosen = points[np.sum(optimism(w, Sigma, points, root), 0).argmax()]
                np.testing.assert_allclose(u[i, t], chosen, atol=1e-9)
        np.testing.assert_allclose(state.w[i], w, atol=1e-8)
        f, width = optimism(w, Sigma, at, root)
        np.testing.assert_allclose(mean[i], m + sd * f, rtol=1e-7)
        np.testing.assert_allclose(bonus[i], sd * width, rtol=1e-7)


# ---- input of the acquisition


@dataclass(frozen=True)
class Seen:
    """Acquisition that stores its input and selects uniform points."""

    kept: list = field(default_factory=list)

    def maximizer(self, surface, draw):
        self.kept.append(surface)
        nothing = torch.zeros_like(surface.radius)
        return Choice(2 * draw.uniform("seen", 2) - 1, nothing, nothing)


def surfaces(learner, horizon=None):
    """Return points, observations, and for each round of Phase II the input that ``learner`` passes to its acquisition."""
    seen = Seen()
    u, y, state = played(dataclasses.replace(learner, acquisition=seen), 15, horizon)
    kept = seen.kept
    assert len(kept) == 15 - N and (y.argmax(1) >= N).any()
    return u, y, state, kept


@pytest.mark.parametrize("trust", [None, TrustRegion(), TRUST])
@pytest.mark.parametrize("make", [practical, algorithm1])
def test_the_surface_is_around_the_best_of_all_points(make, trust):
    """It is centered at the best point and as wide as the region or the whole box; ``last`` is the point of the round before."""
    oracle = LevenbergMarquardt(1, 2, 0)
    learner = make(N, kappa=0.7, ridge=0.5, trust=trust, model=TwoLayerNet(2), oracle=oracle)
    u, y, _, kept = surfaces(learner)
    for t, surface in enumerate(kept, N):
        best = u[range(2), y[:, :t].argmax(1)]
        side = np.full((2, 1), 2.0)
        if trust is not None:
            side = np.array([[lengths(row, trust)[t - N]] for row in y])
        np.testing.assert_allclose(surface.incumbent, best, atol=1e-15)
        np.testing.assert_allclose(surface.last, u[:, t - 1], atol=1e-15)
        np.testing.assert_allclose(surface.lo, np.maximum(best - side, -1), atol=1e-15)
        np.testing.assert_allclose(surface.hi, np.minimum(best + side, 1), atol=1e-15)
        spread = np.full((2, 1), 0.1) if trust is None else side / 2
        np.testing.assert_allclose(surface.spread, spread, atol=1e-15)
        np.testing.assert_allclose(surface.radius, [0.7 * math.sqrt(0.5)] * 2, rtol=1e-15)
        assert surface.frame.lo.tolist() == [[-1, -1]] and surface.frame.hi.tolist() == [[1, 1]]
        assert surface.ellipsoid.features.shape[1] == (t if make is practical else t - N)


def test_the_printed_radius_counts_from_one_and_takes_the_printed_ridge():
    """The radius is sqrt(d_w^3 F^4 t / T) with t = 1 at the first query of Phase II and T = horizon - n_init; points are not scaled."""
    T, F, dw = 20, 3.0, 9
    learner = literal(N, F, model=TwoLayerNet(2), oracle=GradientDescent(steps=3))
    _, _, state, kept = surfaces(learner, N + T)
    for t, surface in enumerate(kept, 1):
        np.testing.assert_allclose(surface.radius, [math.sqrt(dw**3 * F**4 * t / T)] * 2)
        ridge = [math.sqrt(T) * math.log(T) ** 2] * 2
        np.testing.assert_allclose(surface.ellipsoid.ridge, ridge, rtol=1e-15)
        assert surface.frame is BOX
    at = BOX.native(torch.zeros(2, 1, 2, dtype=F64))
    _, bonus = learner.predict(state, BOX, at)
    width = learner.ellipsoid(state, BOX).width(learner.model.features(state.w, at))
    root = math.sqrt(dw**3 * F**4 * 13 / T)  # for the next query, t = 13
    np.testing.assert_allclose(bonus, root * width, rtol=1e-12)


def test_the_trust_region_reaches_its_most_and_does_not_pass_it():
    """The half-widths are 0.2, 0.4, 0.8, 1.6 and not larger, then decrease to 0.05 and not below."""
    learner = practical(1, **SIZES)
    with torch.no_grad():
        state = learner.init(1, BOX, None, Streams(0, [0]).at(-1), dtype=F64)
        sides = []
        for y in [*np.arange(1.0, 20.0), *np.zeros(30)]:
            x = BOX.native(torch.zeros(1, 2, dtype=F64))
            state = learner.update(state, BOX, x, torch.tensor([y], dtype=F64), None)
            sides.append(state.length.item())
    grown = [0.2] * 3 + [0.4] * 3 + [0.8] * 3 + [1.6] * 10
    shrunk = [1.6] * 3 + [0.8] * 4 + [0.4] * 4 + [0.2] * 4 + [0.1] * 4 + [0.05] * 11
    assert sides == pytest.approx(grown + shrunk)


# ---- per-trial settings, and user-defined models

PROBES = {"x": Probe(lambda r: r.action)}


@pytest.mark.parametrize("make", [practical, algorithm1])
def test_a_ridge_by_trial_equals_runs_with_each(make):
    """The ridge also has an effect on the estimates."""
    ridges = torch.tensor([0.01, 3.0], dtype=F64)
    sizes = SIZES | {"acquisition": Linearized(16, 4, 2, 3)}
    w = {"w": Probe(lambda r: r.after.w)}

    def run(ridge):
        learner = make(N, ridge=ridge, **sizes)
        return play(learner, StyblinskiTang(2), 12, 2, record="all", probes=PROBES | w)

    both = run(ridges)
    for trial, ridge in enumerate(ridges.tolist()):
        one = run(ridge)
        for name in ("regret", "x", "w"):
            np.testing.assert_allclose(both[name][trial], one[name][trial], rtol=1e-9, atol=1e-9)
        assert np.abs(both["w"][1 - trial] - one["w"][1 - trial]).max() > 1e-3


def wave(w, x):
    """Model with 2 d + 1 parameters."""
    d = x.shape[0]
    return w[-1] + (w[:d] * (x + w[d:-1]).tanh()).sum()


@pytest.mark.parametrize("make", [practical, algorithm1])
def test_a_function_as_model_alone_equals_batched(make):
    model = FunctionModel(wave, lambda d: 2 * d + 1)
    sizes = {"oracle": LevenbergMarquardt(2, 6, 2), "acquisition": Linearized(12, 4, 2, 2)}
    learner, problem = make(N, model=model, **sizes), StyblinskiTang(2)
    together = play(learner, problem, 7, 3, record="all", probes=PROBES)
    for trial in range(3):
        alone = play(learner, problem, 7, [trial], record="all", probes=PROBES)
        for name in ("regret", "x"):
            np.testing.assert_allclose(alone[name][0], together[name][trial], rtol=1e-9, atol=1e-9)


# ---- every default number

LM = LevenbergMarquardt(restarts=4, steps=60, more=15, gain=1.0, ridge=None)
LINEARIZED = Linearized(candidates=128, around=32, top=8, steps=40, rate=0.05)
USUAL = TrustRegion(first=0.2, least=0.05, most=1.6, successes=3, failures=4, gain=1e-3)
NET = TwoLayerNet(hidden=25)
DEFAULTS = {
    "practical": (
        practical(5),
        GOUCB(NET, 5, LM, LINEARIZED, Constant(0.2), 0.01, True, "all", USUAL),
    ),
    "algorithm1": (
        algorithm1(5),
        GOUCB(NET, 5, LM, LINEARIZED, Constant(0.2), 1.0, False, "first", None),
    ),
    "literal": (
        literal(5, 26.0),
        GOUCB(
            NET,
            5,
            GradientDescent(rate=1e-11, steps=2000, start="default"),
            Joint(steps=2000, rate=1e-4, start="incumbent"),
            Printed(26.0),
            None,
            False,
            "none",
            None,
        ),
    ),
    "its own fields": (
        GOUCB(NET, 5, LM, LINEARIZED, Constant(0.2)),
        algorithm1(5),
    ),
    "a start of literal": (literal(5, 1.0, "last").acquisition, Joint(2000, 1e-4, "last")),
    "network": (TwoLayerNet(), NET),
    "radius": (Constant(), Constant(0.2)),
    "trust region": (TrustRegion(), USUAL),
    "Levenberg-Marquardt": (LevenbergMarquardt(), LM),
    "gradient descent": (GradientDescent(), GradientDescent(1e-11, 2000, "default")),
    "box": (BoxLeastSquares(), BoxLeastSquares(lo=0.0, hi=1.0, restarts=6)),
    "linearized": (Linearized(), LINEARIZED),
    "sphere": (Sphere(), Sphere(128, 32, 8, 40, 0.05, turns=60)),
    "joint": (Joint(), Joint(2000, 1e-4, "incumbent")),
    "GP": (
        GP(5, "modern", "EI"),
        GP(
            5,
            "modern",
            "EI",
            fit_steps=None,
            candidates=256,
            around=32,
            top=8,
            steps=50,
            rate=0.04,  # 0.02 in units of the unit cube
            beta=None,
        ),
    ),
    "TuRBO": (
        turbo.TuRBO(5),
        turbo.TuRBO(
            5,
            candidates=None,
            fit_steps=50,
            first=0.8,
            least=1 / 128,
            most=1.6,
            successes=3,
            failures=None,
            gain=1e-3,
            noisy=True,
        ),
    ),
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults(name):
    left_out, written = DEFAULTS[name]
    assert left_out == written


def history(t=5):
    generator = torch.Generator().manual_seed(1)
    x = 2 * torch.rand(2, t, 3, generator=generator, dtype=F64) - 1
    return History(Rows.of(x), Rows.of(x.sum(2).sin()), t)


@pytest.mark.parametrize("prior", PRIORS)
def test_a_fit_of_a_gaussian_process_takes_its_priors_steps_of_a_tenth(prior, monkeypatch):
    """There are 200 steps of 0.1 for unscaled points, else 100. With a density that increases only with the mean, the mean moves exactly so far."""
    slope = lambda likelihood, model: lambda *_: model.mean_module.constant
    monkeypatch.setattr("gpytorch.mlls.ExactMarginalLogLikelihood", slope)
    for count, steps in [(None, 200 if prior == "legacy-raw" else 100), (7, 7)]:
        model = GP(3, prior, "EI", fit_steps=count).fitted(history(), Bounds.cube(3))
        expected = torch.full_like(model.mean_module.constant, 0.1 * steps)
        torch.testing.assert_close(model.mean_module.constant, expected)


def test_hyperparameters_of_a_gaussian_process_are_bounded_below():
    found = {}
    for prior in PRIORS:
        model = GP(3, prior, "EI").begun(history(), Bounds.cube(3))
        parts = {"noise": model.likelihood.noise_covar.raw_noise_constraint}
        kernel = model.covar_module
        if prior != "modern":
            parts["scale"] = kernel.raw_outputscale_constraint
            kernel = kernel.base_kernel
        parts["lengthscale"] = kernel.raw_lengthscale_constraint
        found[prior] = {name: part.lower_bound.item() for name, part in parts.items()}
    legacy = {"noise": 1e-4, "scale": 0.0, "lengthscale": 0.0}
    expected = {"noise": 1e-4, "lengthscale": 0.025}
    assert found["legacy-raw"] == found["legacy-scaled"] == pytest.approx(legacy)
    assert found["modern"] == pytest.approx(expected)


def test_points_around_a_gaussian_processs_incumbent_spread_by_a_tenth():
    state, draw = history(), Streams(0, range(2)).at(5)
    found = GP(3, "modern", "EI")._raw(state, draw)[:, 256:-1]
    best = state.x.view[range(2), state.y.view.argmax(1)].unsqueeze(1)
    expected = best + 0.1 * draw.normal("jitter", 32, 3)
    torch.testing.assert_close(found, expected.clamp(-1, 1))
