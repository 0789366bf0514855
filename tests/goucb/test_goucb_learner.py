"""Tests of complete GO-UCB learners: presets, behavior on f1, degenerate problems, bad input, and the synthetic problems."""

import dataclasses
import math

import numpy as np
import pytest
import torch

from paperlib.core.streams import Streams
from paperlib.goucb.learners.acquisition import Joint, Linearized
from paperlib.goucb.learners.goucb import TrustRegion
from paperlib.goucb.learners.oracle import GradientDescent, LevenbergMarquardt
from paperlib.goucb.learners.presets import algorithm1, literal, practical
from paperlib.goucb.model.network import TwoLayerNet
from paperlib.goucb.problems.synthetic import Rastrigin, SigmoidSum, StyblinskiTang, Teacher
from paperlib.maths.bounds import Bounds
from paperlib.play import Probe, play

F64 = torch.float64
QUICK = Joint(50, 4e-3)
SMALL = {
    "model": TwoLayerNet(3),
    "oracle": LevenbergMarquardt(2, 10, 3),
    "acquisition": Linearized(16, 4, 2, 4),
}


def steps(learner, answers, dim=2, rounds=12, horizon=40, bounds=None, seed=0, trials=2):
    """Return the points that a learner selects with feedback ``answers(x)``, and its last state."""
    streams, bounds = Streams(seed, range(trials)), bounds or Bounds.cube(dim, 2.0)
    points = []
    with torch.no_grad():
        state = learner.init(trials, bounds, horizon, streams.at(-1), dtype=F64)
        for t in range(rounds):
            x, state = learner.select(state, bounds, streams.at(t))
            learner.validate(bounds, x, answers(x))
            state = learner.update(state, bounds, x, answers(x), streams.at(t))
            points.append(x)
    return torch.stack(points, 1), state


def bump(x):
    return -(x - 0.3).square().sum(1)


# ---- problems


def test_values_of_the_three_functions():
    cases = {
        SigmoidSum(): (19.276464465750, 26.0, 1.0, 16.561483280046),
        StyblinskiTang(): (0.0, -2500.0, -2000.0, 256.29696875),
        Rastrigin(): (0.0, -500.0, -500.0, -241.575),
    }
    line = torch.arange(20, dtype=F64) / 4 - 2.4
    points = torch.stack([0 * line, 0 * line + 5, 0 * line - 5, line])
    for problem, expected in cases.items():
        instance = problem.init(4, 10, Streams(0, range(4)).at(-1), dtype=F64)
        np.testing.assert_allclose(problem.value(instance, points), expected, atol=1e-9)


def test_maxima_of_the_three_functions():
    """The values at the maximizers are the maxima, and no random point exceeds them."""
    assert StyblinskiTang().maximum == pytest.approx(39.16616570377142 * 20, rel=1e-14)
    at = {SigmoidSum(3): 5.0, StyblinskiTang(3): -2.9035340277711, Rastrigin(3): 0.0}
    generator = torch.Generator().manual_seed(0)
    for problem, z in at.items():
        instance = problem.init(1, 10, Streams(0, [0]).at(-1), dtype=F64)
        assert problem.value(instance, torch.full((1, 3), z, dtype=F64)).item() == pytest.approx(
            problem.maximum, rel=1e-12
        )
        random = 10 * torch.rand(1, 20000, 3, generator=generator, dtype=F64) - 5
        assert problem.of(instance, random).max() <= problem.maximum


def test_means_of_f2_and_f3():
    """The means under the uniform distribution are 83.33 and -366.67, in closed form by coordinate."""
    grid = torch.linspace(-5, 5, 200001, dtype=F64)[None, :, None]
    for problem, mean in [(StyblinskiTang(1), 83.3333 / 20), (Rastrigin(1), -366.6667 / 20)]:
        instance = problem.init(1, 10, Streams(0, [0]).at(-1), dtype=F64)
        got = torch.trapezoid(problem.of(instance, grid)[0], grid[0, :, 0]) / 10
        assert got.item() == pytest.approx(mean, abs=1e-4)


def test_noise_is_in_the_reward_and_not_in_the_regret():
    problem = StyblinskiTang(2, noise=0.5)
    draw, x = Streams(0, range(4000)).at(3), torch.full((4000, 2), 1.0, dtype=F64)
    instance = problem.init(4000, 10, draw, dtype=F64)
    answer, gap = problem.respond(instance, 3, x, "reward", draw)
    assert gap.unique().numel() == 1
    assert (answer - problem.value(instance, x)).std().item() == pytest.approx(0.5, rel=0.05)
    with pytest.raises(ValueError, match="wants must be 'reward', got 'loss'"):
        problem.respond(instance, 3, x, "loss", draw)


def test_the_teacher_is_of_the_family_and_its_best_is_not_beaten():
    problem = Teacher(5)
    key = Streams(3, range(4)).at(-1)
    instance = problem.init(4, 10, key, dtype=F64)
    random = 2 * torch.rand(4, 20000, 5, generator=torch.Generator().manual_seed(0), dtype=F64) - 1
    values = problem.of(instance, random)
    assert bool((values <= instance.best.unsqueeze(1)).all())
    assert bool((instance.best > values.mean(1)).all()) and instance.best.unique().numel() == 4
    alone = problem.init(1, 10, Streams(3, [2]).at(-1), dtype=F64)
    torch.testing.assert_close(alone.best, instance.best[2:3])


def test_a_teacher_of_five_coordinates_is_the_same_in_more_dimensions():
    instances = {}
    for dim in (5, 12):
        problem = Teacher(dim, active=5)
        instance = problem.init(2, 10, Streams(1, range(2)).at(-1), dtype=F64)
        x = torch.linspace(-1, 1, dim, dtype=F64).expand(2, -1).clone()
        x[:, :5] = 0.3
        instances[dim] = torch.cat([instance.best, problem.value(instance, x)])
    torch.testing.assert_close(instances[5], instances[12])


@pytest.mark.parametrize(
    "make",
    [
        lambda: SigmoidSum(0),
        lambda: Teacher(3, active=4),
        lambda: Rastrigin(2, -1.0),
        lambda: Teacher(2, gain=0.0),
        lambda: Teacher(2, starts=0),
    ],
)
def test_bad_problems_are_refused(make):
    with pytest.raises(ValueError, match=r"^\w+ must .*, got "):
        make()


# ---- behavior on f1, the paper's n = 5, T = 25


def run(learner, trials=20, **more):
    trace = play(learner, SigmoidSum(), 30, trials, seed=123, record="all", **more)
    return trace, (trace["regret"][:, -1] - trace["regret"][:, 4])


@pytest.mark.slow
def test_practical_stays_near_the_top_of_f1():
    _, second = run(practical(5))
    assert second.mean() <= 2


def test_literal_with_a_uniform_start_is_uniform_search_on_f1():
    """Its regret per round equals the regret of a uniform point, 11.75, and its ball constraint is never active."""
    probes = {"ratio": Probe(lambda r: r.after.ratio, "max"), "moved": lambda r: r.after.moved}
    trace, second = run(
        literal(5, 26.0, acquisition=dataclasses.replace(QUICK, start="uniform")), probes=probes
    )
    assert 9.5 <= second.mean() / 25 <= 13.5
    assert 0 < trace["ratio"].max() < 1e-6
    assert 0 < trace["moved"].max() < 2  # small in a box of side 10 in 20 dimensions


def test_literal_from_the_incumbent_repeats_the_best_of_phase_one():
    """The ascent moves little, and starts at the point with the best observed value."""
    trace, second = run(
        literal(5, 26.0, acquisition=QUICK), probes={"x": Probe(lambda r: r.action)}
    )
    best = trace["regret"][:, :5]
    least = np.diff(best, axis=1, prepend=0).min(1)
    assert abs((second - 25 * least).mean()) <= 1
    assert np.ptp(trace["x"][:, 5:], axis=1).max() < 3


def test_printed_gradient_descent_changes_nothing():
    change = lambda r: (r.after.w0 - r.after.anchor).norm(dim=1) / r.after.anchor.norm(dim=1)
    trace, _ = run(
        literal(5, 26.0, acquisition=QUICK), trials=4, probes={"change": Probe(change, "final")}
    )
    assert 0 < trace["change"].max() < 1e-5


# ---- the trust region


def test_the_trust_region_follows_its_rule():
    """It doubles after three consecutive successes, halves after four failures, and stays within its limits; Phase I does not count."""
    learner = practical(2, **SMALL)
    box = Bounds.cube(1)
    answers = (
        [5.0, 1.0]
        + [6.0, 7.0, 8.0]
        + [0.0] * 3
        + [9.0]
        + [0.0] * 4
        + [0.0] * 4
        + [10.0] * 12
        + [0.0] * 16
    )
    with torch.no_grad():
        state = learner.init(1, box, None, Streams(0, [0]).at(-1), dtype=F64)
        lengths = []
        for y in answers:
            action = torch.zeros(1, 1, dtype=F64)
            state = learner.update(state, box, action, torch.tensor([y], dtype=F64), None)
            lengths.append(state.length.item())
    assert lengths[:5] == [0.2, 0.2, 0.2, 0.2, 0.4]
    assert lengths[8] == 0.4 and lengths[12] == 0.2 and lengths[16] == 0.1
    assert min(lengths) == 0.05 and lengths[-1] == 0.05


def test_success_is_against_the_best_before_the_round():
    learner, box = practical(1, **SMALL), Bounds.cube(1)
    told = lambda *ys: [torch.tensor([y], dtype=F64) for y in ys]
    with torch.no_grad():
        state = learner.init(1, box, None, Streams(0, [0]).at(-1), dtype=F64)
        for y in told(-2.0, -1.9981, -1.9, -1.8):
            state = learner.update(state, box, torch.zeros(1, 1, dtype=F64), y, None)
    assert (
        state.successes.item() == 2 and state.failures.item() == 0
    )  # -1.9981 exceeds -2 by less than 0.002, a thousandth of |best|


def test_points_of_phase_two_are_in_the_trust_region():
    learner = practical(3, **SMALL)
    points, _ = steps(learner, bump, rounds=4)
    u = points / 2.0
    best = u[torch.arange(2), torch.stack([bump(p) for p in points[:, :3].unbind(1)], 1).argmax(1)]
    assert bool(((u[:, 3] - best).abs() <= 0.2 + 1e-12).all())


# ---- every preset


PRESETS = {
    "practical": practical(3, **SMALL),
    "no trust region": practical(3, trust=None, **SMALL),
    "algorithm1": algorithm1(3, **SMALL),
    "literal": literal(
        3, 10.0, model=TwoLayerNet(3), oracle=GradientDescent(steps=5), acquisition=Joint(5)
    ),
}
every = pytest.mark.parametrize("name", PRESETS)


@every
@pytest.mark.parametrize(
    "answers",
    [
        lambda x: torch.zeros_like(x[:, 0]),
        lambda x: torch.full_like(x[:, 0], -7e5),
        lambda x: bump(x) * 2.0**20,
        lambda x: bump(x) * 1e-9,
        lambda x: x.sum(1),
    ],
    ids=["zero", "constant", "large", "small", "to a corner"],
)
def test_degenerate_rewards_give_points_in_the_box(name, answers):
    points, state = steps(PRESETS[name], answers)
    assert bool(points.isfinite().all()) and bool((points.abs() <= 2).all())
    assert bool(state.w.isfinite().all())


@every
def test_one_dimension_one_unit_one_point(name):
    learner = dataclasses.replace(PRESETS[name], model=TwoLayerNet(1), n_init=1)
    points, state = steps(learner, bump, dim=1, rounds=20, horizon=21)
    assert bool(points.isfinite().all()) and bool((points.abs() <= 2).all())
    assert state.w.shape == (
        2,
        4,
    )  # with 20 gradients of 4 parameters the primal form is used


@every
def test_one_point_evaluated_repeatedly(name):
    learner, box = PRESETS[name], Bounds.cube(2, 2.0)
    corner = torch.full((2, 2), 2.0, dtype=F64)
    with torch.no_grad():
        state = learner.init(2, box, 40, Streams(0, range(2)).at(-1), dtype=F64)
        for t in range(12):
            y = torch.full((2,), float(t % 2), dtype=F64)
            state = learner.update(state, box, corner, y, None)
        x, _ = learner.select(state, box, Streams(0, range(2)).at(12))
    assert bool(x.isfinite().all()) and bool((x.abs() <= 2).all())


def test_practical_does_not_depend_on_the_unit_of_the_rewards():
    """The points are bit-identical for a power of two, and agree to 1e-6 for a factor of 1e8."""
    learner = practical(3, **SMALL)
    one, _ = steps(learner, bump, rounds=8)
    power, _ = steps(learner, lambda x: bump(x) * 2.0**20, rounds=8)
    large, _ = steps(learner, lambda x: bump(x) * 1e8, rounds=8)
    assert torch.equal(one, power)
    torch.testing.assert_close(one, large, rtol=0, atol=1e-6)


def test_points_of_phase_one_are_the_same_for_all():
    all_points = [steps(learner, bump, rounds=3)[0] for learner in PRESETS.values()]
    assert all(torch.equal(points, all_points[0]) for points in all_points)


def test_a_state_predicts():
    """After many observations nearby, the prediction is close to the observed values, and the bonus is smaller than far away."""
    learner = practical(4, model=TwoLayerNet(8))
    points, state = steps(learner, bump, rounds=25)
    with torch.no_grad():
        mean, bonus = learner.predict(state, Bounds.cube(2, 2.0), points)
        _, away = learner.predict(
            state, Bounds.cube(2, 2.0), torch.full((2, 1, 2), -2.0, dtype=F64)
        )
    heard = torch.stack([bump(p) for p in points.unbind(1)], 1)
    assert (mean - heard).abs().mean() < 0.1 * heard.std()
    assert bool((bonus.mean(1) < away[:, 0]).all())
    with pytest.raises(ValueError, match="state.rounds must be at least n_init=4, got 2"):
        learner.predict(steps(learner, bump, rounds=2)[1], Bounds.cube(2, 2.0), points)


@pytest.mark.parametrize("part", [0.0, 0.5])
def test_per_trial_settings_equal_separate_runs(part):
    """A sweep of kappa in one run equals separate runs with one kappa each."""
    kappas = torch.tensor([0.0, 0.5], dtype=F64)
    problem = StyblinskiTang(2)
    both = play(practical(3, kappa=kappas, **SMALL), problem, 8, 2, record="all")
    trial = int(part > 0)
    one = play(practical(3, kappa=part, **SMALL), problem, 8, 2, record="all")
    np.testing.assert_allclose(both["regret"][trial], one["regret"][trial], rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("problem", [SigmoidSum(), StyblinskiTang()], ids=["f1", "f2"])
def test_full_size_alone_equals_batched(problem):
    trace = play(practical(8), problem, 32, 3, record="all")
    for trial in range(3):
        alone = play(practical(8), problem, 32, [trial], record="all")
        np.testing.assert_allclose(alone["regret"][0], trace["regret"][trial], rtol=1e-9, atol=1e-9)


# ---- bad input


@pytest.mark.parametrize("horizon", [None, 5, 6])
def test_literal_needs_two_rounds_of_phase_two(horizon):
    with pytest.raises(
        ValueError, match=r"horizon must be at least n_init \+ 2 = 7, because ridge=None"
    ):
        literal(5, 1.0).init(1, Bounds.cube(2), horizon, Streams(0, [0]).at(-1), dtype=F64)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: practical(0), "n_init must be an integer from 1 to 16777216, got 0"),
        (lambda: practical(3.0), "n_init must be an integer from 1 to 16777216, got 3.0"),
        (
            lambda: practical(3, ridge=0.0),
            "ridge must be a positive number from 1e-12 to.*, got 0.0",
        ),
        (
            lambda: algorithm1(3, ridge=-1.0),
            "ridge must be a positive number from 1e-12 to.*, got -1.0",
        ),
        (
            lambda: practical(3, kappa=-0.1),
            "kappa must be 0 or a positive number from 1e-30.*, got -0.1",
        ),
        (
            lambda: practical(3, kappa=math.nan),
            "kappa must be 0 or a positive number from 1e-30.*, got nan",
        ),
        (
            lambda: literal(3, 0.0),
            r"value_bound must be a positive number from 1e-30 to 1e\+06, got 0.0",
        ),
        (
            lambda: literal(3, 1.0, start="best"),
            "start must be one of 'incumbent', 'uniform', 'last', 'center', got 'best'",
        ),
        (
            lambda: practical(3, oracle="lm"),
            "oracle must be an oracle with the attributes.*, got 'lm'",
        ),
        (
            lambda: practical(3, acquisition="linear"),
            "acquisition must be an acquisition with the.*, got 'linear'",
        ),
        (
            lambda: practical(3, acquisition=Linearized),
            "acquisition must be an acquisition with the.*, got ",
        ),
        (
            lambda: practical(3, model=torch.nn.Linear(2, 1)),
            "model must be a model with the attributes.*, got ",
        ),
        (lambda: practical(3, trust=0.2), "trust must be None or a TrustRegion, got 0.2"),
        (
            lambda: TrustRegion(first=0.01),
            "^least, first, most must be in increasing order, got .*first=0.01",
        ),
        (
            lambda: TrustRegion(most=0.1),
            "^least, first, most must be in increasing order, got .*most=0.1",
        ),
        (lambda: TrustRegion(failures=0), "failures must be an integer from 1 to 16777216, got 0"),
        (
            lambda: dataclasses.replace(practical(3), scaling="first"),
            "scaling must be one of 'all', 'none' with refit=True, got 'first'",
        ),
        (
            lambda: dataclasses.replace(algorithm1(3), scaling="all"),
            "scaling must be one of 'first', 'none' with refit=False, got 'all'",
        ),
        (
            lambda: dataclasses.replace(algorithm1(3), refit=1),
            "refit must be one of False, True, got 1",
        ),
    ],
)
def test_bad_settings_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize("answer", [math.nan, math.inf, 1e31])
def test_rewards_that_are_not_numbers_are_refused(answer):
    box, x = Bounds.cube(2), torch.zeros(1, 2, dtype=F64)
    with pytest.raises(
        ValueError, match=r"reward must be finite and at most 1e\+30 in absolute value, got "
    ):
        practical(3).validate(box, x, torch.tensor([answer], dtype=F64))
    with pytest.raises(ValueError, match=r"action\[0, 1\]"):
        practical(3).validate(box, torch.tensor([[0.0, 1.5]], dtype=F64), None)
    with pytest.raises(ValueError, match="^bounds must .*, got "):
        practical(3).validate(([-1.0], [1.0]), None, None)
