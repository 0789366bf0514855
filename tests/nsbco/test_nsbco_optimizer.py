"""Tests of the ask/tell optimizer: it follows the maximizer, stays in the domain, and survives invalid input and a restart."""

import inspect
import math
import re
import textwrap
import warnings

import numpy as np
import pytest
import torch

from paperlib.core.files import parse_npz, write_npz
from paperlib.core.streams import Streams
from paperlib.maths.sets import Ball, Box
from paperlib.nsbco import (
    EGS,
    SPSA,
    GradientAscent,
    KieferWolfowitz,
    Multiscale,
    Optimizer,
    QuadraticDrift,
    Rotation,
    Stationary,
    ball,
    box,
    calibrate,
)
from paperlib.nsbco.learners.glr import GLR
from paperlib.nsbco.learners.kiefer import tracking_gain
from paperlib.nsbco.optimizer import POLICIES, policy_learner
from paperlib.nsbco.theory.constants import reference
from paperlib.play import play

DISK, SHEET = ball([1.0, 2.0], 2.0), box([0.0, 0.0], [4.0, 2.0])


def objective(target, seed=0, scale=1.0, offset=0.0):
    rng = np.random.default_rng(seed)
    deep = lambda x: -0.125 * ((x - target) ** 2).sum()
    return lambda x: offset + scale * (deep(x) + 0.06 * rng.uniform(-1, 1))


def new(domain=DISK, **more):
    return Optimizer(domain, **{"concavity": 0.25, "smoothness": 0.5, "noise": 0.035} | more)


def follow(user, f, rounds):
    for _ in range(rounds):
        user.tell(f(user.ask()))
    return user


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("domain", [DISK, SHEET], ids=["ball", "box"])
def test_it_finds_the_maximizer_and_stays_inside(policy, domain):
    if policy == "discounted" and domain.kind == "box":
        domain = box([-1.0, -1.0], [3.0, 3.0])  # a box with equal sides
    target, asked = np.array([1.5, 1.2]), []
    user, f = new(domain, policy=policy, horizon=2000), objective(np.array([1.5, 1.2]))
    for _ in range(2000):
        asked.append(user.ask())
        user.tell(f(asked[-1]))
    away = (np.array(asked) - domain.center) / domain.scale
    size = np.linalg.norm(away, axis=1) if domain.kind == "ball" else abs(away).max(1)
    assert size.max() <= 1 + 1e-9
    start = np.linalg.norm(domain.center - target)
    if policy == "master":  # its threads are short, and few of them get close to the maximizer
        assert np.linalg.norm(np.array(asked)[-500:].mean(0) - target) < 0.7 * start
    else:
        assert np.linalg.norm(user.center - target) < 0.35 * start + 0.05


@pytest.mark.slow
@pytest.mark.parametrize("policy, reaches", [("glr", 1500), ("track", 1500), ("discounted", 1500)])
def test_it_follows_a_jump(policy, reaches):
    user = follow(new(policy=policy), objective(np.array([1.9, 2.0])), 3000)
    follow(user, objective(np.array([0.1, 2.0]), 1), reaches)
    assert abs(user.center[0] - 0.1) < 0.4
    assert (len(user.restarts) > 0) == (policy == "glr")
    assert all(3000 < t <= 4500 for t in user.restarts)


@pytest.mark.slow
def test_master_restarts_after_a_jump():
    user = new(policy="master", learner=Multiscale(GradientAscent(bonus=0.7), 0.3, 8.0))
    follow(user, objective(np.array([1.9, 2.0])), 3500)
    follow(user, objective(np.array([0.1, 2.0]), 1), 2500)
    assert user.restarts and user.restarts[0] > 3500


def test_the_example_of_the_docstring():
    """The first code block of the docstring runs as printed."""
    example = textwrap.dedent(inspect.getdoc(Optimizer).split("\n\n")[2])
    names = {"ball": ball, "Optimizer": Optimizer, "f": objective(np.array([0.6, -0.5]))}
    exec(example, names)
    assert np.linalg.norm(names["user"].center - [0.6, -0.5]) < 0.3


@pytest.mark.parametrize("scale, offset", [(1.0, 0.0), (1e-4, 7.0), (1e5, -1e6)])
def test_results_are_invariant_to_affine_maps_of_the_reward(scale, offset):
    target = np.array([1.5, 1.2])
    settings = {
        "concavity": 0.25 * scale,
        "smoothness": 0.5 * scale,
        "noise": 0.035 * scale,
        "y_range": (offset - 1.5 * scale, offset + 0.5 * scale),
    }
    plain = {"y_range": (-1.5, 0.5)}
    user = follow(new(**settings), objective(target, 0, scale, offset), 800)
    same = follow(new(**plain), objective(target), 800)
    np.testing.assert_allclose(user.center, same.center, atol=1e-6)


def test_curvature_is_that_of_the_unit_set():
    """For a box twice as wide as high, gamma is a quarter of its value in the user's units."""
    task = new(SHEET).context
    assert float(task.concavity) == 0.25 * 1.0**2 and float(task.smoothness) == 0.5 * 2.0**2
    assert isinstance(task.cset, Box)
    with pytest.raises(
        ValueError, match="smoothness must be above 0.0625, which follows.*, got 0.05"
    ):
        new(SHEET, smoothness=0.05)


def test_loaded_file_continues_the_run(tmp_path):
    f, one = objective(np.array([1.5, 1.2])), new(policy="master", seed=3)
    follow(one, f, 300)
    one.save(tmp_path / "run.npz")
    other = new(policy="master", seed=3).restore(tmp_path / "run.npz")
    assert other.rounds == 300 and (other.ask() == one.ask()).all()
    for wrong in (new(SHEET, policy="master", seed=3), new(policy="glr", seed=3), new(seed=4)):
        with pytest.raises(ValueError, match="run.npz"):
            wrong.restore(tmp_path / "run.npz")
        assert wrong.rounds == 0


@pytest.mark.parametrize(
    "y", [math.nan, math.inf, 1.01, -2.0, "x", True, None, 1j, 10**400, np.array([0.0, 0.0])]
)
def test_rewards_out_of_range_raise_errors_and_the_run_continues(y):
    user = follow(new(), objective(np.array([1.5, 1.2])), 5)
    asked, state = user.ask(), user.state
    with pytest.raises(
        ValueError, match=r"^y must be (in y_range=\(-1, 1\)|one real number), got "
    ):
        user.tell(y)
    assert user.rounds == 5 and user.state is state and (user.ask() == asked).all()
    user.tell(np.float64(0.25))
    assert user.rounds == 6


def test_tell_without_ask_raises_an_error():
    user = new()
    with pytest.raises(
        RuntimeError,
        match=r"tell must follow a call of ask\(\), but ask\(\) was not called since the last tell",
    ):
        user.tell(0.0)
    user.ask()
    user.fail(ValueError("the reactor is down"))
    assert user.failures[0].reason == "ValueError: the reactor is down" and user.rounds == 0
    with pytest.raises(
        RuntimeError,
        match=r"tell must follow a call of ask\(\), but ask\(\) was not called since the last tell",
    ):
        user.tell(0.0)


@pytest.mark.parametrize(
    "name, value",
    [
        ("domain", [0.0, 1.0]),
        ("concavity", 0.0),
        ("concavity", math.nan),
        ("smoothness", -1.0),
        ("smoothness", 0.25),
        ("noise", 0.0),
        ("policy", "ucb"),
        ("y_range", (1.0, -1.0)),
        ("y_range", (0.0, math.inf)),
        ("y_range", "ab"),
        ("y_range", 3.0),
        ("margin", 0.0),
        ("margin", 1.0),
        ("drift", -1.0),
        ("drift", math.nan),
        ("horizon", 0),
        ("seed", -1),
    ],
)
def test_settings_out_of_range_are_refused(name, value):
    with pytest.raises(ValueError, match=name):
        new(**{name: value})


@pytest.mark.parametrize(
    "make, name",
    [
        (lambda: ball([], 1.0), "center"),
        (lambda: ball([0.0], 0.0), "radius"),
        (lambda: ball([0.0], [1.0]), "radius"),
        (lambda: ball([math.nan]), "center"),
        (lambda: ball([[0.0]]), "center"),
        (lambda: box([0.0], [0.0]), "upper"),
        (lambda: box([0.0], [1.0, 2.0]), "upper"),
        (lambda: box("ab", [1.0, 2.0]), "lower"),
    ],
)
def test_invalid_domains_raise_errors(make, name):
    with pytest.raises(ValueError, match=name):
        make()


def test_widths_follow_the_noise():
    of = lambda policy, noise, margin: policy_learner(
        policy, task()._replace(margin=torch.tensor([margin])), noise, 1e-3
    )
    assert of("glr", 0.01, 0.5).base.h == pytest.approx(0.1)
    assert of("glr", 0.9, 0.5).base.h == 0.25
    # variance of the mean of two rewards
    assert of("glr", 0.01, 0.5).variance == pytest.approx(0.01**2 / 2)
    assert of("track", 0.9, 0.125).h == 0.25


# ---- a maximizer near the edge ------------------------------------------------------------------------------


def priced(best, rounds=1500, **more):
    """Return the regret per round if a price between -1 and 1 has the reward 1/2 minus half its squared distance from the best price."""
    rng, total = np.random.default_rng(1), 0.0
    user = Optimizer(box([-1.0], [1.0]), 1.0, 2.0, 0.1, y_range=(-2.0, 1.0), **more)
    for _ in range(rounds):
        lost = float((user.ask()[0] - best) ** 2) / 2
        total += lost
        user.tell(0.5 - lost + 0.1 * math.sqrt(3) * rng.uniform(-1, 1))
    return total / rounds, user


def at_the_edge(caught):
    return [w for w in caught if "center was at the edge of its set" in str(w.message)]


@pytest.mark.parametrize("policy", ["glr", "track", "discounted"])
def test_warns_once_if_the_center_stays_at_the_edge(policy):
    with pytest.warns(
        UserWarning, match="center was at the edge of its set.*margin=0.5.*Widen the domain"
    ) as caught:
        priced(0.93, 1000, policy=policy, margin=0.5)
    assert len(at_the_edge(caught)) == 1


def test_warns_once_about_the_edge_across_files(tmp_path):
    """A file stores the count of rounds at the edge and whether the warning was raised; an older file stores neither."""
    make = lambda: Optimizer(box([-1.0], [1.0]), 1.0, 2.0, 0.1, policy="track", margin=0.5)
    user, path = make(), tmp_path / "user.npz"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for t in range(400):
            user.tell(0.5 - float((user.ask()[0] - 0.93) ** 2) / 2)
            if t % 50 == 49:
                user.save(path)
                user = make().restore(path)
    assert len(at_the_edge(caught)) == 1
    head, arrays = parse_npz(path.read_bytes())
    del head["edge"], head["checksum"]
    write_npz(path, head, arrays)
    assert make().restore(path).rounds == 400


@pytest.mark.parametrize("policy", ["glr", "track", "discounted"])
def test_no_warning_for_a_center_inside(policy):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, user = priced(0.6, 600, policy=policy)
    assert abs(user.center[0] - 0.6) < 0.3  # the center of "track" has a standard deviation of 0.08


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:by round")
def test_regret_of_the_default_margin_is_below_the_regret_of_half_the_range():
    """The best price is 0.93, which is outside the set that either margin allows."""
    for policy, most in (("glr", 0.65), ("track", 0.3), ("discounted", 0.2)):
        wide, _ = priced(0.93, margin=0.5, policy=policy)
        default, _ = priced(0.93, policy=policy)
        assert wide == pytest.approx(0.097, abs=0.01)
        assert default < most * wide


# ---- drift --------------------------------------------------------------------------------------------------


def test_the_tracker_follows_an_arc_at_the_speed_it_is_given():
    """The maximizer moves once around a circle of radius 1/2 in 3,770 rounds; a gain of 100 averages over 400 of them and lags behind."""
    rounds, s = 3770, 0.1 / math.sqrt(3)
    track = policy_learner("track", task(), s, 2 / rounds)  # the default drift with this horizon
    learners = {"K = 100": KieferWolfowitz(100.0), "SPSA": SPSA(), "track": track}
    problem = QuadraticDrift(Rotation(math.pi))
    regret = {
        name: play(learner, problem, rounds, 4, 0, record=1).last().mean() / rounds
        for name, learner in learners.items()
    }
    assert regret["K = 100"] == pytest.approx(0.039, abs=0.002)
    assert regret["track"] < min(0.5 * regret["K = 100"], regret["SPSA"])


def test_the_gain_follows_drift_horizon_and_curvature():
    gain = lambda **more: new(policy="track", **more).learner.gain
    assert gain(drift=1e-2) < gain(drift=1e-3) < gain(drift=1e-4)
    assert gain() == gain(drift=1e-3) == gain(horizon=2000)
    assert gain(horizon=20_000) == gain(drift=1e-4)
    assert gain(drift=2.0) == pytest.approx(2.0)  # K = L / sigma, because a step is at most 1 / L
    assert gain(concavity=1e-20, smoothness=1.0, noise=1e11, drift=1e-9) == 1e30  # the largest gain
    with pytest.raises(ValueError, match="drift"):
        new(drift=0.0)


def test_the_gain_minimizes_the_regret_that_its_docstring_states():
    d, sigma, s, drift, h = 3, 0.5, 0.1, 1e-3, 0.2
    K = tracking_gain(d, sigma, 1.0, s, drift, h)
    noise = d * s**2 / (8 * sigma * h**2) + sigma * h**2 / 2
    regret = lambda K: noise / math.sqrt(K) + 2 * sigma * (d * drift * K) ** 2
    assert regret(K) < min(regret(0.99 * K), regret(1.01 * K))


# ---- noise larger than declared -----------------------------------------------------------------------------


def heavy(noise, rounds, **more):
    """Stationary problem with Student's t noise, 2.5 degrees of freedom and standard deviation 0.11."""
    rng, user = np.random.default_rng(0), new(noise=noise, y_range=(-3.0, 3.0), **more)
    for _ in range(rounds):
        x = user.ask()
        y = -0.125 * ((x - [1.5, 1.2]) ** 2).sum() + 0.05 * rng.standard_t(2.5)
        user.tell(float(np.clip(y, -3.0, 3.0)))
    return user


@pytest.mark.slow
def test_warning_about_many_restarts_by_noise_names_cause_and_remedy():
    with pytest.warns(UserWarning, match="noise is larger than declared: noise=0.02") as caught:
        user = heavy(0.02, 1500)
    assert len(caught) == 1 and len(user.restarts) == 64
    declare = float(re.search(r"Set noise=([\d.]*\d)", str(caught[0].message))[1])
    assert 0.05 < declare < 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(heavy(declare, 3000).restarts) < 10  # later outliers are even larger


@pytest.mark.slow
def test_warning_about_many_restarts_names_the_variance_of_a_given_learner():
    """The warning names the variance of a learner passed by the user, because such a learner does not use the optimizer's noise."""
    learner = lambda variance: GLR(policy_learner("glr", task(), 0.1, 0.1).base, variance)
    with pytest.warns(
        UserWarning, match=r"larger than declared: learner=GLR\(variance=2e-05\)"
    ) as caught:
        heavy(0.5, 1500, learner=learner(2e-5))
    assert len(caught) == 1 and " noise=" not in str(caught[0].message)
    declare = float(re.search(r"Set variance=([\d.e-]+)", str(caught[0].message))[1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(heavy(0.5, 3000, learner=learner(declare)).restarts) < 10


def test_many_restarts_by_changes_are_not_attributed_to_noise():
    """The level of the objective jumps up and down every 12 rounds."""
    user, rng, t = new(policy="glr", noise=0.01), np.random.default_rng(0), 0
    with pytest.warns(UserWarning, match="65 restarts, because the rewards change more often"):
        while t < 1500:
            user.ask()
            user.tell(0.2 * (t // 12 % 2) + 0.01 * rng.normal())
            t += 1


# ---- when a step can come -----------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("dim", [1, 3])
def test_center_moves_in_the_predicted_round(policy, dim):
    user = new(ball([0.0] * dim, 1.0), policy=policy)
    f, at, moved = objective(np.full(dim, 0.3)), user.center, []
    while len(moved) < 2 and user.rounds < 200:
        user.tell(f(user.ask()))
        if (user.center != at).any():
            at, moved = user.center, [*moved, user.rounds]
    expected = [user.rounds_before_step(step) for step in (1, 2)]
    if policy == "master":  # every window starts a new thread, which delays the steps
        assert moved[0] >= expected[0]
    else:
        assert moved == expected


def test_rounds_before_a_step_in_twenty_dimensions():
    """``rounds_before_step`` agrees with the docstring's example and with the theory."""
    user = new(ball([0.0] * 20), margin=0.5)
    found = [user.rounds_before_step(step) for step in (1, 2, 3)]
    assert found == [40, 680, 10_920] == [reference(20).rounds_before_step(s) for s in (1, 2, 3)]
    assert all(f"{rounds:,}" in inspect.getdoc(Optimizer) for rounds in found)
    assert new(ball([0.0] * 20), policy="track").rounds_before_step() == 40
    assert new(ball([0.0] * 20), learner=SPSA()).rounds_before_step(3) == 6
    for step in (0, 1.5, "1", 1 << 63, 1 << 60):
        with pytest.raises(ValueError, match=r"^step must be an integer from 1 to .*, got "):
            user.rounds_before_step(step)
    with pytest.raises(ValueError, match="rounds_before_step"):
        new(learner=EGS()).rounds_before_step()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("step", [16, 257, 10**6])
def test_step_beyond_all_rounds_raises_an_error(step):
    """With sigma / L = 1/2 and n_0 = 1 in 20 dimensions, step 16 comes after 40 (16^16 - 1) / 15 > 2^63 rounds."""
    user, count = new(ball([0.0] * 20), margin=0.5), lambda s: 40 * (16**s - 1) // 15
    assert count(15) < 2**63 <= count(16)
    assert user.rounds_before_step(15) == float(count(15))
    with pytest.raises(ValueError, match=f"^step must be at most 15, .*, got {step}$"):
        user.rounds_before_step(step)


def test_steps_of_several_blocks_are_counted():
    """With sigma / L = 1e-6 and n_0 = 1, epochs grow slowly: n_s = ceil((1 - 1e-6)^(-4 s)), 2 up to s = 173,287."""
    user = new(DISK, concavity=5e-7, margin=0.5)
    assert user.rounds_before_step(10_000) == 4 * (1 + 2 * 9_999)


@pytest.mark.parametrize("policy", ["glr", "master", "track"])
def test_warns_if_the_horizon_is_before_the_first_step(policy):
    """With margin 0.05, the first epoch has 2 d n_0 = 4 * 625 rounds."""
    first = new(margin=0.05, policy=policy).rounds_before_step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        new(margin=0.05, policy=policy, horizon=first + 1)
        new(learner=EGS(), horizon=1)
    with pytest.warns(
        UserWarning, match=f"before round {first + 1}, which is beyond horizon={first}. .*margin"
    ):
        new(margin=0.05, policy=policy, horizon=first)


# ---- calibration -------------------------------------------------------------------------------------------


def task():
    problem = QuadraticDrift(Stationary())
    draw = Streams(0, [0]).at(-1)
    return problem.init(1, 8, draw, dtype=torch.float64, device="cpu").task


def test_calibration_measures_the_shortfall_of_the_mean():
    """The median of the calibrated shortfalls agrees with a run of Algorithm 2 within 10 %."""
    noise = np.random.default_rng(0).uniform(-0.1, 0.1, 4000)
    found = calibrate(task(), noise, 2048, trials=40)
    seen = {}

    def short(r):
        value = (0.5 * (r.t + 1) - r.after.r) / math.sqrt(r.t + 1)
        seen["most"] = torch.maximum(seen.get("most", value), value)
        return value

    play(GradientAscent(), QuadraticDrift(), 2048, 40, 0, record="all", probes={"short": short})
    assert np.median(found.largest) == pytest.approx(float(seen["most"].median()), rel=0.1)
    assert found.b0 == pytest.approx(1.25 * np.quantile(found.largest, 0.95))
    assert found.A1 == found.b0 / 2 and found.A2 == 1.5 * found.b0
    learner = found.learner(GradientAscent())
    assert (learner.base.bonus, learner.A1, learner.A2) == (found.b0, found.A1, found.A2)
    assert learner.logarithmic == ("A2",)


@pytest.mark.parametrize(
    "cset, start, away",
    [
        (Ball.of(2), None, [0.5, 0.0]),
        (Ball.of(2), (0.0, 0.25), [0.0, -0.5]),
        (Box.of(4), None, [0.5, -0.5, -0.5, -0.5]),
        (Box.of(2), (0.0, 0.25), [-0.5, -0.5]),
    ],
    ids=str,
)
def test_calibration_starts_at_the_largest_distance_from_the_maximizer(cset, start, away):
    """Without noise the shortfall of the first reward is known for c_0 = 1/2, h = 1/4, sigma = 1."""
    of, base = task()._replace(cset=cset), GradientAscent(start=start)
    found = calibrate(of, [0.0], 1, base, trials=2)
    z = np.zeros(len(away)) if start is None else np.array(start)
    first = z + 0.25 * np.eye(len(away))[0]
    assert found.largest == pytest.approx(((first - away) ** 2).sum() / 2)


def test_calibration_follows_noise_and_seed():
    loud = calibrate(task(), [-0.8, 0.8], 256, trials=20)
    quiet = calibrate(task(), [0.0], 256, trials=3)
    assert loud.b0 > quiet.b0 and np.ptp(quiet.largest) == 0.0
    again, other = (calibrate(task(), [-0.8, 0.8], 256, trials=20, seed=s) for s in (0, 100))
    assert (again.largest == loud.largest).all() and (other.largest != loud.largest).any()


@pytest.mark.parametrize(
    "change",
    [
        {"residuals": []},
        {"residuals": [2.1]},
        {"residuals": [math.nan]},
        {"horizon": 0},
        {"trials": 0},
        {"share": 0.0},
    ],
)
def test_calibration_raises_errors_for_invalid_arguments(change):
    with pytest.raises(ValueError, match=next(iter(change))):
        calibrate(**{"task": task(), "residuals": [0.1], "horizon": 8, "trials": 2} | change)
