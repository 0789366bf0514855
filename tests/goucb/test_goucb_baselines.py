"""Tests of the baselines of GO-UCB: Gaussian processes, TuRBO, optimizers of other libraries, controls."""

import random
import subprocess
import sys

import numpy as np
import pytest
import torch
from gu_dense import acquisitions, density, posterior

from paperlib.core.linalg import Rows
from paperlib.core.streams import Streams
from paperlib.core.trees import tree_take
from paperlib.goucb.learners import turbo
from paperlib.goucb.learners.botorch_default import MAPSAAS, BoTorchDefault
from paperlib.goucb.learners.gp import GP, PRIORS, QLogNEI
from paperlib.goucb.learners.search import History, RepeatBest, UniformPoint, draw_uniform
from paperlib.goucb.learners.sequential import Optuna, ScikitOptimize
from paperlib.goucb.learners.turbo import TuRBO
from paperlib.goucb.problems.synthetic import SigmoidSum
from paperlib.maths.bounds import Bounds
from paperlib.play import play

F64 = torch.float64
SMALL = {"fit_steps": 10, "candidates": 32, "around": 8, "top": 2, "steps": 5}
X = torch.tensor([[0.1, 0.2], [0.4, 0.9], [0.8, 0.3], [0.6, 0.6], [0.95, 0.05]], dtype=F64)
Y = torch.tensor([0.3, -1.2, 0.9, 0.4, -0.5], dtype=F64)
AT = torch.tensor([[0.5, 0.5], [0.85, 0.35], [0.05, 0.95]], dtype=F64)
UNIT, FIVES = Bounds.of([0.0, 0.0], [1.0, 1.0]), Bounds.cube(20, 5.0)
LENGTHSCALE, NOISE, MEAN = torch.tensor([0.5, 0.8], dtype=F64), 0.01, 0.1


def bump(x):
    return -(x - 0.3).square().sum(1)


def steps(learner, answers=bump, dim=2, rounds=8, seed=0, trials=2, bounds=None):
    """Return the points, R x t x d, that a learner selects with feedback ``answers(x)``, and its last state."""
    streams, bounds = Streams(seed, range(trials)), bounds or Bounds.cube(dim, 2.0)
    points = []
    with torch.no_grad():
        state = learner.init(trials, bounds, None, streams.at(-1), dtype=F64)
        for t in range(rounds):
            x, state = learner.select(state, bounds, streams.at(t))
            y = answers(x)
            learner.validate(bounds, x, y)
            state = learner.update(state, bounds, x, y, streams.at(t))
            points.append(x)
    return torch.stack(points, 1), state


def told(x, y):
    """Return the state of a search with observations: R x t x d points of [-1, 1]^d and R x t values."""
    return History(Rows.of(x), Rows.of(y), x.shape[1])


def random_history(trials, t, dim, scale=1.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    x = 2 * torch.rand(trials, t, dim, generator=generator, dtype=F64) - 1
    return told(x, scale * (x.sum(2).sin() + x[:, :, 0]))


# ---- Gaussian processes


def fixture(learner):
    """Return the learner's model of the five points with the fixture's hyper-parameters and unscaled observations."""
    model = learner.begun(told(2 * X[None] - 1, Y[None]), UNIT)
    model.set_train_data(targets=Y[None], strict=False)
    kernel = model.covar_module
    if learner.prior != "modern":
        kernel.outputscale = 1.3
        kernel = kernel.base_kernel
    kernel.lengthscale, model.likelihood.noise = LENGTHSCALE, NOISE
    model.mean_module.constant = MEAN
    return model.eval()


EXPECTED = {
    "legacy-scaled": (
        [0.2981764076, 0.7584900225, -1.0603671308],
        [0.0781868165, 0.0353154276, 0.4879257565],
        [-6.4607400, -3.7082183, -7.5613017],
        [0.8574145, 1.1343380, 0.3366665],
    ),
    "modern": (
        [0.4003709463, 0.6574359055, -1.7189009486],
        [0.0262873578, 0.0176915553, 0.1957318967],
        [-9.9801412, -6.3263100, -22.8898110],
        [0.7246385, 0.9234551, -0.8340690],
    ),
}


@pytest.mark.parametrize("prior", PRIORS)
def test_posterior_and_acquisitions_at_fixed_hyperparameters(prior):
    family, scale = ("rbf", 1.0) if prior == "modern" else ("matern", 1.3)
    mean, covariance = posterior(
        X.numpy(), Y.numpy(), AT.numpy(), LENGTHSCALE.numpy(), NOISE, MEAN, scale, family
    )
    variance = covariance.diagonal()
    dense = dict(zip(("EI", "PI", "UCB"), acquisitions(mean, variance, Y.max().item(), 4.0)))
    with torch.no_grad():
        found = fixture(GP(1, prior, "EI")).posterior(AT)
        np.testing.assert_allclose(found.mean.squeeze(), mean, rtol=1e-6)
        np.testing.assert_allclose(found.variance.squeeze(), variance, rtol=1e-6)
        for name, expected in dense.items():
            learner = GP(1, prior, name, beta=4.0)
            value = learner.criterion(fixture(learner))(AT[:, None, None])
            assert value.shape == (3, 1)
            np.testing.assert_allclose(value[:, 0], expected, rtol=1e-6)
    fixed = EXPECTED["modern" if prior == "modern" else "legacy-scaled"]
    for computed, expected in zip((mean, variance, dense["EI"], dense["UCB"]), fixed):
        np.testing.assert_allclose(computed, expected, rtol=2e-6)
    if prior != "modern":
        np.testing.assert_allclose(
            np.exp(dense["PI"]), [0.0156869, 0.2257198, 0.0025044], rtol=3e-5
        )


def test_log_expected_improvement_far_below_the_best():
    """log h(z) = log(phi(z) + z Phi(z)) agrees with 60 digits. It increases with z and has a gradient everywhere."""
    from botorch.acquisition.analytic import _log_ei_helper

    z = torch.tensor([-1e4, -50.0, -1.0, 0.0, 3.0], dtype=F64)
    expected = [
        -50000019.33961931,
        -1258.744182868461,
        -2.485121025712641,
        -0.918938533204673,
        1.098739665327708,
    ]
    np.testing.assert_allclose(_log_ei_helper(z), expected, rtol=1e-10)
    grid = torch.cat(
        [-torch.logspace(7, -3, 4000, dtype=F64), torch.linspace(0, 8, 100, dtype=F64)]
    )
    grid.requires_grad_()
    value = _log_ei_helper(grid)
    (gradient,) = torch.autograd.grad(value.sum(), grid)
    assert (value.diff() > 0).all() and gradient.isfinite().all() and (gradient > 0).all()


@pytest.mark.parametrize("prior", PRIORS)
def test_objective_and_its_initial_value(prior):
    """The objective is the log posterior density of the hyper-parameters divided by the number of observations. The first values are fixed."""
    from gpytorch.mlls import ExactMarginalLogLikelihood

    state, box = random_history(3, 7, 4), Bounds.cube(4, 5.0)
    learner = GP(3, prior, "EI")
    model = learner.begun(state, box)
    found = ExactMarginalLogLikelihood(model.likelihood, model)(
        model(*model.train_inputs), model.train_targets
    )
    x, y = state.x.view, state.y.view
    x = 5 * x if prior == "legacy-raw" else (x + 1) / 2
    if prior != "legacy-raw":
        y = (y - y.mean(1, keepdim=True)) / y.std(1, keepdim=True)
    first = {"lengthscale": np.full(4, np.log(2)), "scale": np.log(2), "noise": 2.0, "mean": 0.0}
    if prior == "modern":
        mode = np.exp(np.sqrt(2) + np.log(4) / 2 - 3)
        first = {"lengthscale": np.full(4, mode), "noise": np.exp(-5), "mean": 0, "family": "rbf"}
    for i in range(3):
        expected = density(x[i].numpy(), y[i].numpy(), **first) / 7
        assert found[i].item() == pytest.approx(expected, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("prior", PRIORS)
def test_batched_fits_equal_single_fits(prior):
    state, box, learner = random_history(3, 12, 4), Bounds.cube(4, 5.0), GP(3, prior, "EI")
    at = 5 - 10 * torch.rand(3, 6, 4, dtype=F64)
    together = learner.predict(state, box, at)
    for i in range(3):
        alone = learner.predict(tree_take(state, [i]), box, at[[i]])
        for one, other in zip(alone, together):
            torch.testing.assert_close(one, other[[i]], rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner",
    [GP(5, "legacy-scaled", "PI"), GP(5, "modern", "UCB"), QLogNEI(5), TuRBO(5, 200)],
    ids=["PI", "UCB", "qLogNEI", "TuRBO"],
)
def test_a_round_of_full_size_alone_equals_batched(learner):
    """At d = 20 from the same history only rounding differs; later rounds would amplify it."""
    state = random_history(3, 12, 20, scale=100.0)
    state = region(state) if isinstance(learner, TuRBO) else state
    together, _ = learner.select(state, FIVES, Streams(0, range(3)).at(12))
    for i in range(3):
        alone, _ = learner.select(tree_take(state, [i]), FIVES, Streams(0, [i]).at(12))
        torch.testing.assert_close(alone[0], together[i], rtol=0, atol=1e-9)


@pytest.mark.parametrize("prior", ["legacy-scaled", "modern"])
def test_a_fit_predicts_in_the_units_of_the_observations(prior):
    """On a smooth function, predictions at observed points are within some standard deviations of the observations. Far away they are less certain."""
    state, box = random_history(2, 20, 2, scale=1000.0), Bounds.of([-1.0, 0.0], [3.0, 1e-3])
    learner = GP(3, prior, "EI")
    mean, sd = learner.predict(state, box, box.native(state.x.view))
    assert (mean - state.y.view).abs().max() < 100 and (sd < 200).all()
    alone = tree_take(state, [0])._replace(
        x=Rows.of(state.x.view[:1, :2]), y=Rows.of(state.y.view[:1, :2])
    )
    assert learner.predict(alone, box, box.native(state.x.view[:1]))[1].amax() > 500


def test_more_steps_of_a_fit_give_a_larger_density():
    """More steps give a larger density."""
    from gpytorch.mlls import ExactMarginalLogLikelihood

    state, box, reached = random_history(2, 15, 3), Bounds.cube(3, 5.0), []
    for count in (0, 10, 100, 400):
        model = GP(3, "modern", "EI", fit_steps=count).fitted(state, box).train()
        objective = ExactMarginalLogLikelihood(model.likelihood, model)
        reached.append(objective(model(*model.train_inputs), model.train_targets))
    gains = torch.stack(reached).diff(dim=0)
    assert (gains[:2] > 1e-3).all() and (gains[2] > -1e-6).all() and (gains[2] < 0.01).all()


def raw_f1(n):
    """Return f1's observations at ``n`` uniform points for each of three trials, in the units that legacy-raw uses."""
    problem = SigmoidSum()
    instance = problem.init(3, n, Streams(0, range(3)).at(-1), dtype=F64)
    x = 2 * torch.rand(3, n, 20, generator=torch.Generator().manual_seed(1), dtype=F64) - 1
    return told(x, problem.of(instance, instance.bounds.native(x))), instance.bounds


def test_unscaled_points_leave_the_lengthscales_at_the_priors_mode():
    state, box = raw_f1(30)
    lengthscale = GP(5, "legacy-raw", "EI").fitted(state, box).covar_module.base_kernel.lengthscale
    assert (lengthscale - 1 / 3).abs().max() < 1e-3
    scaled = GP(5, "legacy-scaled", "EI").fitted(state, box).covar_module.base_kernel.lengthscale
    assert (scaled - 1 / 3).abs().max() > 0.01


@pytest.mark.slow
def test_on_unscaled_points_the_three_acquisitions_are_one_random_search():
    state, box = raw_f1(8)
    draw = Streams(3, range(3)).at(8)
    first = 2 * draw.uniform("candidates", 256, 20)[:, 0] - 1
    for acquisition in ("EI", "PI", "UCB"):
        point = GP(5, "legacy-raw", acquisition).propose(state, box, draw)
        torch.testing.assert_close(point, first, rtol=0, atol=1e-12)


def test_only_the_modern_prior_searches_around_the_incumbent():
    state, draw = random_history(2, 6, 3), Streams(0, range(2)).at(6)
    counts = [GP(3, prior, "EI")._raw(state, draw).shape[1] for prior in PRIORS]
    assert counts == [256, 256, 256 + 32 + 1]
    best = state.x.view[range(2), state.y.view.argmax(1)]
    assert torch.equal(GP(3, "modern", "EI")._raw(state, draw)[:, -1], best)


def test_beta_follows_kandasamy():
    state, box = random_history(1, 6, 3), Bounds.cube(3)
    learner = GP(3, "modern", "UCB", fit_steps=0)
    model = learner.fitted(state, box)
    assert learner.criterion(model).beta.item() == pytest.approx(0.2 * 3 * np.log(12), rel=1e-6)
    assert GP(3, "modern", "UCB", beta=0.2).criterion(model).beta.item() == pytest.approx(0.2)


@pytest.mark.parametrize(
    "learner",
    [GP(3, "legacy-scaled", "EI", **SMALL), GP(3, "modern", "UCB", **SMALL), TuRBO(3, 32, 10)],
    ids=["legacy-scaled", "modern", "TuRBO"],
)
def test_observations_in_another_unit_give_the_same_points(learner):
    plain = steps(learner, rounds=12)[0]
    large = steps(learner, lambda x: bump(x) * 2.0**20, rounds=12)[0]
    assert torch.equal(plain, large)


@pytest.mark.slow
def test_scaled_points_make_expected_improvement_work_on_f1():
    trace = play(GP(5, "legacy-scaled", "EI"), SigmoidSum(), 30, 20, record="all")
    assert (trace["regret"][:, -1] - trace["regret"][:, 4]).mean() <= 6


def test_noisy_expected_improvement_is_the_expectation_over_all_points():
    """The acquisition agrees with samples of the joint posterior of f at the five observed points and at the candidates."""
    learner = QLogNEI(1, samples=4096)
    model = fixture(learner)
    arguments = LENGTHSCALE.numpy(), NOISE, MEAN, 1.0, "rbf"
    both = np.concatenate([X, AT])
    mean, covariance = posterior(X.numpy(), Y.numpy(), both, *arguments)
    rng = np.random.default_rng(0)
    f = rng.multivariate_normal(mean, covariance, 400_000)
    expected = np.maximum(f[:, 5:] - f[:, :5].max(1, keepdims=True), 0).mean(0)
    with torch.no_grad():
        value = learner.criterion(model)(AT[:, None, None])[:, 0].exp()
    assert expected[1] > 1e-3
    np.testing.assert_allclose(value[1], expected[1], rtol=0.1)
    np.testing.assert_allclose(value, expected, atol=2e-4)


def test_predictions_need_an_observation():
    with pytest.raises(ValueError, match="state.rounds must be at least 1, got 0"):
        GP(3, "modern", "EI").predict(
            told(torch.empty(1, 0, 2, dtype=F64), torch.empty(1, 0, dtype=F64)), UNIT, AT[None]
        )


# ---- TuRBO


def region(state, **changes):
    """Return a TuRBO state after the history ``state``."""
    trials = state.x.view.shape[0]
    zero = torch.zeros(trials, dtype=torch.int64)
    length = torch.full((trials,), 0.8, dtype=F64)
    begun = turbo.TuRBOState(state.x, state.y, zero, length, zero, zero, state.rounds)
    return begun._replace(**changes)


def test_turbo_posterior_equals_a_dense_one():
    state = region(random_history(2, 9, 3))
    process = TuRBO(3).fitted(state)
    assert ((process.lengthscale > 0.005) & (process.lengthscale < 2)).all()
    assert ((process.scale > 0.05) & (process.scale < 20)).all()
    assert ((process.noise > 5e-4) & (process.noise < 0.2)).all()
    at = torch.rand(2, 5, 3, dtype=F64)
    mean, covariance = turbo.posterior(process, at)
    for i in range(2):
        y = state.y.view[i].numpy()
        dense = posterior(
            (state.x.view[i].numpy() + 1) / 2,
            (y - np.median(y)) / y.std(),
            at[i].numpy(),
            process.lengthscale[i].numpy(),
            process.noise[i].item(),
            process.mean[i].item(),
            process.scale[i].item(),
        )
        for found, expected in zip((mean[i], covariance[i]), dense):
            np.testing.assert_allclose(found, expected, atol=1e-9)


def test_turbo_ignores_observations_before_its_run():
    """The process of a run equals the process of a new learner that received only the observations of this run."""
    history = random_history(2, 10, 3)
    whole = region(history, begun=torch.tensor([4, 0]))
    tail = told(history.x.view[:1, 4:], history.y.view[:1, 4:])
    masked, alone = TuRBO(3).fitted(whole), TuRBO(3).fitted(region(tail))
    at = torch.rand(2, 5, 3, dtype=F64)
    for one, other in zip(turbo.posterior(masked, at), turbo.posterior(alone, at[:1])):
        torch.testing.assert_close(one[:1], other, rtol=1e-9, atol=1e-9)


def test_turbo_region_doubles_halves_and_restarts():
    learner, box = TuRBO(2, candidates=8, fit_steps=1), Bounds.cube(3)
    history = random_history(1, 6, 3)
    state, x = region(history), torch.zeros(1, 3, dtype=F64)
    best, lengths = state.y.view.max().item(), []
    answers = [best + 1, best + 2, best + 3, *[best - 1] * 4, best + 4]
    for t, y in enumerate(answers):
        state = learner.update(
            state, box, x, torch.tensor([y], dtype=F64), Streams(0, [0]).at(6 + t)
        )
        lengths.append(state.length.item())
    assert lengths == [0.8, 0.8, 1.6, 1.6, 1.6, 1.6, 0.8, 0.8]
    assert (state.successes.item(), state.failures.item()) == (1, 0)
    # An improvement below a thousandth of the best value is a failure.
    near = torch.tensor([(best + 4) * 1.0005], dtype=F64)
    assert learner.update(state, box, x, near, None).failures.item() == 1
    small = state._replace(length=torch.full((1,), 2.0**-7, dtype=F64), failures=state.failures + 3)
    after = learner.update(small, box, x, near, None)
    assert (after.begun.item(), after.length.item(), after.failures.item()) == (
        after.rounds,
        0.8,
        0,
    )


def test_turbo_trials_restart_apart_with_uniform_points():
    learner, box = TuRBO(2, candidates=16, fit_steps=2), Bounds.cube(3)
    state = region(random_history(2, 10, 3), begun=torch.tensor([9, 0]))
    draw = Streams(0, range(2)).at(10)
    point, _ = learner.select(state, box, draw)
    fresh = box.native(draw_uniform(box, draw))
    assert torch.equal(point[0], fresh[0]) and not torch.equal(point[1], fresh[1])
    # The uniform points of a new run do not change its region.
    after = learner.update(state, box, point, torch.full((2,), 100.0, dtype=F64), draw)
    assert after.successes.tolist() == [0, 1]


def test_turbo_candidates_are_in_the_region_and_differ_in_few_coordinates():
    dim = 40
    state, learner = region(random_history(2, 30, dim)), TuRBO(2, candidates=500, fit_steps=5)
    state = state._replace(length=torch.tensor([0.1, 0.2], dtype=F64))
    process = learner.fitted(state)
    points = learner._candidates(state, process, Streams(0, range(2)).at(30))
    center = (state.x.view[range(2), state.y.view.argmax(1)] + 1) / 2
    weight = process.lengthscale / process.lengthscale.log().mean(1, keepdim=True).exp()
    half = state.length[:, None] * weight / 2
    away = (points - center[:, None]).abs()
    assert (away <= half[:, None] + 1e-12).all() and ((points >= 0) & (points <= 1)).all()
    moved = (away > 0).double().sum(2)
    assert (moved >= 1).all() and moved.mean().item() == pytest.approx(20, abs=1)
    assert TuRBO(2)._candidates(state, process, Streams(0, range(2)).at(30)).shape[1] == 4000


def test_turbo_samples_are_of_the_posterior(monkeypatch):
    """Of two candidates the first is selected with probability Phi(difference of the means / its standard deviation)."""
    trials, points = 4000, torch.tensor([[[0.2], [0.25]]], dtype=F64)
    monkeypatch.setattr(TuRBO, "_candidates", lambda *_: points.expand(trials, 2, 1))
    history = random_history(1, 6, 1)
    copies = (rows.view.expand(trials, *rows.view.shape[1:]) for rows in (history.x, history.y))
    many = region(told(*copies))
    for noisy in (True, False):
        learner = TuRBO(2, fit_steps=5, noisy=noisy)
        process = learner.fitted(region(history))
        mean, covariance = turbo.posterior(process, points)
        noise = process.noise.item() if noisy else turbo.JITTER
        contrast = torch.tensor([1.0, -1.0], dtype=F64)
        z = mean[0] @ contrast / (contrast @ covariance[0] @ contrast + 2 * noise).sqrt()
        picked = learner._sampled(many, Streams(0, range(trials)).at(6)) == points[0, 0, 0]
        expected = torch.special.ndtr(z).item()
        assert 0.05 < expected < 0.95
        assert picked.double().mean().item() == pytest.approx(expected, abs=4 * 0.5 / trials**0.5)


# ---- controls


def test_uniform_search_continues_as_in_phase_one():
    points, _ = steps(UniformPoint(3), rounds=6)
    streams, box = Streams(0, range(2)), Bounds.cube(2, 2.0)
    for t in range(6):
        assert torch.equal(points[:, t], box.native(draw_uniform(box, streams.at(t))))


def test_the_best_of_phase_one_is_repeated_whatever_is_observed_later():
    heard = iter([1.0, 5.0, 3.0, -9.0, 50.0, 7.0])
    points, _ = steps(RepeatBest(3), lambda x: 0 * x[:, 0] + next(heard), rounds=6)
    for t in range(3, 6):
        torch.testing.assert_close(points[:, t], points[:, 1], rtol=0, atol=1e-12)


# ---- other libraries

OUTSIDE = {
    "TPE": Optuna(3),
    "scikit-optimize": ScikitOptimize(3),
    "BoTorch": BoTorchDefault(3, 2, 16),
    "MAP-SAAS": MAPSAAS(3, 2, 16, 2),
}
every_outside = pytest.mark.parametrize("name", OUTSIDE)


@every_outside
def test_a_library_repeats_its_proposal_for_the_same_draw_and_leaves_no_trace(name):
    """The same draw gives the same point, another round another point, and no shared random generator advances."""
    x, box, learner = random_history(2, 5, 2).x.view, Bounds.cube(2), OUTSIDE[name]
    state, held = told(x, -(x - 0.2).square().sum(2)), (torch.get_rng_state(), random.getstate())
    with torch.no_grad():
        first, again, later = (
            learner.propose(state, box, Streams(0, range(2)).at(t)) for t in (5, 5, 6)
        )
    assert torch.equal(first, again) and not torch.equal(first, later)
    assert torch.equal(held[0], torch.get_rng_state()) and random.getstate() == held[1]


@every_outside
def test_a_library_learns_from_the_first_point_on(name):
    """Phase I replaces the library's random points, therefore its first proposal depends on the observed values."""
    state, box, learner = random_history(1, 3, 2), Bounds.cube(2), OUTSIDE[name]
    other = state._replace(y=Rows.of(-state.y.view))
    draw = Streams(0, [0]).at(3)
    assert not torch.equal(learner.propose(state, box, draw), learner.propose(other, box, draw))


@pytest.mark.parametrize("name, package", [("TPE", "optuna"), ("scikit-optimize", "skopt")])
def test_a_missing_library_is_named_before_the_first_point(name, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match="of the extra 'optimizers'"):
        OUTSIDE[name].init(2, Bounds.cube(2), None, Streams(0, range(2)).at(-1), dtype=F64)


def test_optuna_logs_as_much_afterwards_as_before():
    import optuna

    before = optuna.logging.get_verbosity()
    OUTSIDE["TPE"].propose(random_history(1, 4, 2), Bounds.cube(2), Streams(0, [0]).at(4))
    assert optuna.logging.get_verbosity() == before


# ---- all of them

ALL = OUTSIDE | {
    "GP-UCB, raw": GP(3, "legacy-raw", "UCB", **SMALL),
    "GP-EI, scaled": GP(3, "legacy-scaled", "EI", **SMALL),
    "GP-PI, modern": GP(3, "modern", "PI", **SMALL),
    "GP-EI, modern": GP(3, "modern", "EI", **SMALL),
    "qLogNEI": QLogNEI(3, samples=16, **SMALL),
    "TuRBO": TuRBO(3, 16, 5),
    "uniform": UniformPoint(3),
    "repeat-best": RepeatBest(3),
}
every_one = pytest.mark.parametrize("name", ALL)


def with_first(learner, n):
    kind = type(learner)
    return kind(
        **{field: getattr(learner, field) for field in learner.__dataclass_fields__} | {"n_init": n}
    )


@every_one
@pytest.mark.parametrize("shape", ["constant", "one dimension", "boundary", "equal points"])
def test_degenerate_problems(name, shape):
    """With equal observations, d = 1, a maximum in a corner, or one point evaluated repeatedly, points stay in the box and are not NaN."""
    answers = {"constant": lambda x: 0 * x[:, 0] + 3.0, "boundary": lambda x: x.sum(1)}
    learner, box = with_first(ALL[name], 1), Bounds.cube(1 if shape == "one dimension" else 2, 2.0)
    if shape == "equal points":
        x, y = torch.zeros(2, 6, 2, dtype=F64), torch.linspace(0, 1, 6, dtype=F64).repeat(2, 1)
        state = region(told(x, y)) if name == "TuRBO" else told(x, y)
        points, _ = learner.select(state, box, Streams(0, range(2)).at(6))
    else:
        points, _ = steps(learner, answers.get(shape, bump), rounds=5, bounds=box)
    assert points.isfinite().all() and (points.abs() <= 2).all()


_fewer = {"fit_steps": 40, "steps": 20}
SEARCHES = {
    "GP-EI, scaled": (GP(4, "legacy-scaled", "EI", **_fewer), 8),
    "GP-PI, modern": (GP(4, "modern", "PI", **_fewer), 8),
    "GP-UCB, modern": (GP(4, "modern", "UCB", **_fewer), 8),
    "qLogNEI": (QLogNEI(4, samples=64, **_fewer), 8),
    "BoTorch": (BoTorchDefault(4, 2, 64), 8),
    "MAP-SAAS": (MAPSAAS(4, 2, 64), 8),
    "TuRBO": (TuRBO(4, 200), 14),
    "TPE": (Optuna(4), 60),
    "scikit-optimize": (ScikitOptimize(4), 10),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_finds_the_maximum_of_a_paraboloid(name):
    learner, rounds = SEARCHES[name]
    points, state = steps(learner, rounds=4 + rounds)
    best, first = state.y.view.amax(1), state.y.view[:, :4].amax(1)
    assert (best > -0.1).all() and (best > first / 4).all()


@pytest.mark.parametrize(
    "field, values",
    [
        ("n_init", [0, -1, 2.0, True, None]),
        ("prior", ["legacy", "", None]),
        ("acquisition", ["LogEI", "ucb", None]),
        ("beta", [-0.1, np.nan, "2"]),
        ("fit_steps", [-1, 1.5]),
        ("rate", [0.0, np.inf]),
    ],
)
def test_bad_settings_of_a_gaussian_process(field, values):
    for value in values:
        with pytest.raises(ValueError, match=f"^{field} must .*, got "):
            GP(**{"n_init": 3, "prior": "modern", "acquisition": "EI"} | {field: value})


def test_bad_observations_and_points():
    for learner in ALL.values():
        with pytest.raises(
            ValueError, match=r"reward must be finite and at most 1e\+30 in absolute value, got "
        ):
            learner.validate(UNIT, AT[:1], torch.tensor([np.nan], dtype=F64))
        with pytest.raises(ValueError, match="action"):
            learner.validate(UNIT, AT[:1] + 2, torch.zeros(1, dtype=F64))


LAZY = """
import importlib, pkgutil, sys, torch
from paperlib.core.streams import Streams
from paperlib.goucb import learners
from paperlib.maths.bounds import Bounds
for found in pkgutil.iter_modules(learners.__path__, learners.__name__ + "."):
    importlib.import_module(found.name)
from paperlib.goucb.learners import botorch_default, gp, sequential, turbo
sequential.Optuna(1), sequential.ScikitOptimize(1)
box, draw = Bounds.cube(2), Streams(0, [0])
for learner in (
    gp.GP(1, "modern", "EI"), botorch_default.BoTorchDefault(1), botorch_default.MAPSAAS(1), gp.QLogNEI(1), turbo.TuRBO(1, 4, 1)
):
    state = learner.init(1, box, None, draw.at(-1), dtype=torch.float64)
    x, state = learner.select(state, box, draw.at(0))
    state = learner.update(state, box, x, x[:, 0], draw.at(0))
learner.select(state, box, draw.at(1))  # TuRBO's own process
slow = ("botorch", "gpytorch", "linear_operator", "optuna", "skopt", "sklearn")
print([name for name in slow if name in sys.modules])
"""


@pytest.mark.slow
def test_slow_packages_are_imported_where_they_are_used():
    done = subprocess.run([sys.executable, "-c", LAZY], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr
