"""Ask and tell for one's own drifting objective: it follows, stays inside, and survives bad input and a restart."""

import inspect
import math
import textwrap

import numpy as np
import pytest
import torch

from paperlib.core.streams import Streams
from paperlib.maths.boxes import Box
from paperlib.maths.sets import Ball
from paperlib.nsbco import (
    GradientAscent,
    Multiscale,
    Optimizer,
    QuadraticDrift,
    Stationary,
    ball,
    box,
    calibrate,
)
from paperlib.nsbco.optimizer import POLICIES, policy_learner
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


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("domain", [DISK, SHEET], ids=["ball", "box"])
def test_it_finds_the_maximizer_and_stays_inside(policy, domain):
    if policy == "discounted" and domain.kind == "box":
        domain = box([-1.0, -1.0], [3.0, 3.0])  # of equal sides
    target, asked = np.array([1.5, 1.2]), []
    user, f = new(domain, policy=policy, horizon=3000), objective(np.array([1.5, 1.2]))
    for _ in range(3000):
        asked.append(user.ask())
        user.tell(f(asked[-1]))
    away = (np.array(asked) - domain.center) / domain.scale
    size = np.linalg.norm(away, axis=1) if domain.kind == "ball" else abs(away).max(1)
    assert size.max() <= 1 + 1e-9
    start = np.linalg.norm(domain.center - target)
    if policy == "master":  # its threads are young, and few of them come far
        assert np.linalg.norm(np.array(asked)[-500:].mean(0) - target) < 0.7 * start
    else:
        assert np.linalg.norm(user.center - target) < 0.35 * start + 0.05


@pytest.mark.parametrize("policy, reaches", [("glr", 1500), ("track", 1500), ("discounted", 1500)])
def test_it_follows_a_jump(policy, reaches):
    user = follow(new(policy=policy), objective(np.array([1.9, 2.0])), 3000)
    follow(user, objective(np.array([0.1, 2.0]), 1), reaches)
    assert abs(user.center[0] - 0.1) < 0.4
    assert (len(user.restarts) > 0) == (policy == "glr")
    assert all(3000 < t <= 4500 for t in user.restarts)


def test_master_restarts_after_a_jump():
    user = new(policy="master", learner=Multiscale(GradientAscent(bonus=0.7), 0.3, 8.0))
    follow(user, objective(np.array([1.9, 2.0])), 3500)
    follow(user, objective(np.array([0.1, 2.0]), 1), 2500)
    assert user.restarts and user.restarts[0] > 3500


def test_the_example_of_the_docstring():
    """As it stands there."""
    example = textwrap.dedent(inspect.getdoc(Optimizer).split("\n\n")[2])
    names = {"ball": ball, "Optimizer": Optimizer, "f": objective(np.array([0.6, -0.5]))}
    exec(example, names)
    assert np.linalg.norm(names["user"].center - [0.6, -0.5]) < 0.3


@pytest.mark.parametrize("scale, offset", [(1.0, 0.0), (1e-4, 7.0), (1e5, -1e6)])
def test_the_unit_and_the_zero_of_answers_do_not_matter(scale, offset):
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
    """A box twice as wide as high: gamma is a quarter of that of one's own units."""
    task = new(SHEET).context
    assert float(task.concavity) == 0.25 * 1.0**2 and float(task.smoothness) == 0.5 * 2.0**2
    assert isinstance(task.cset, Box)
    with pytest.raises(ValueError, match="smoothness=0.05.*above"):
        new(SHEET, smoothness=0.05)


def test_a_file_goes_on_where_it_was(tmp_path):
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
def test_answers_out_of_range_are_refused_and_the_next_is_taken(y):
    user = follow(new(), objective(np.array([1.5, 1.2])), 5)
    asked, state = user.ask(), user.state
    with pytest.raises(ValueError, match="^y(=| must be one real number)"):
        user.tell(y)
    assert user.rounds == 5 and user.state is state and (user.ask() == asked).all()
    user.tell(np.float64(0.25))
    assert user.rounds == 6


def test_an_answer_nobody_asked_for_is_refused():
    user = new()
    with pytest.raises(RuntimeError, match="no point was asked for"):
        user.tell(0.0)
    user.ask()
    user.fail(ValueError("the reactor is down"))
    assert user.failures[0].reason == "ValueError: the reactor is down" and user.rounds == 0
    with pytest.raises(RuntimeError, match="no point was asked for"):
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
def test_domains_out_of_range_are_refused(make, name):
    with pytest.raises(ValueError, match=name):
        make()


def test_widths_follow_the_noise():
    assert policy_learner("glr", 0.01, 0.5).base.h == pytest.approx(0.1)
    assert policy_learner("glr", 0.9, 0.5).base.h == 0.25
    assert policy_learner("track", 0.9, 0.1).h == 0.1


# ---- calibration -------------------------------------------------------------------------------------------


def task():
    problem = QuadraticDrift(Stationary())
    draw = Streams(0, [0]).at(-1)
    return problem.init(1, 8, draw, dtype=torch.float64, device="cpu").task


def test_calibration_measures_what_the_mean_falls_short_by():
    """As a run of Algorithm 2 has it, trial by trial."""
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
def test_calibration_begins_as_far_away_as_a_maximizer_can_be(cset, start, away):
    """Without noise the first answer says how far: c_0 = 1/2, h = 1/4, sigma = 1."""
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
def test_calibration_refuses_what_is_out_of_range(change):
    with pytest.raises(ValueError, match=next(iter(change))):
        calibrate(**{"task": task(), "residuals": [0.1], "horizon": 8, "trials": 2} | change)
