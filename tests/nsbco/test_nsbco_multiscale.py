"""Tests of MASTER: comparison with a reference written from the paper, expected values, and invalid input."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from device_form import shortcuts
from ns_reference import Ascent, multiscale, scheduled
from toy import Index

from paperlib.asktell import AskTell
from paperlib.core.rounds import Probe
from paperlib.core.streams import Streams, uniform
from paperlib.core.trees import tree_map
from paperlib.learners.multiscale import Multiscale, make_schedule
from paperlib.learners.wrapper import LOGGED, Doubling
from paperlib.nsbco import Abrupt, QuadraticDrift, Step
from paperlib.nsbco.learners.ascent import GradientAscent
from paperlib.nsbco.learners.presets import malg, practical, printed, single_scale
from paperlib.play import play

KEEP = {
    "log": Probe(lambda r: r.after.log.flatten(1).double(), "final"),
    "count": Probe(lambda r: r.after.restarts.double(), "final"),
    "heard": Probe(lambda r: r.feedback, "sum"),
    "least": Probe(lambda r: r.after.least),
    "active": Probe(lambda r: r.before.active.double()),
}


def run(learner, problem, T, seed=0, trials=1, **more):
    return play(learner, problem, T, trials, seed, probes=KEEP, **more)


def log(trace, trial=0):
    count = int(trace["count"][trial])
    rows = trace["log"][trial].reshape(-1, 3)[:count].astype(int).tolist()
    return [(rounds, test, order - 1) for rounds, test, order in rows]


# ---- expected values ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "dim, T, path, seed, A1, A2, b0, regret, restarts",
    [
        (2, 8192, (3, 0), 0, 1.0, 42.0, 2.0, 626.518766839, [(7679, 1, 8)]),
        (2, 8192, (3, 1), 1, 0.3, 8.0, 0.7, 587.172708005, [(3795, 2, -1), (7709, 2, -1)]),
        (1, 16384, (5, 2), 7, 1.0, 45.0, 2.0, 787.505610566, [(8191, 1, 12)]),
    ],
)
def test_runs_with_abrupt_changes(dim, T, path, seed, A1, A2, b0, regret, restarts):
    segments, environment = path
    problem = QuadraticDrift(Abrupt(segments), dim, environment=environment)
    trace = run(Multiscale(GradientAscent(bonus=b0), A1, A2), problem, T, seed)
    assert trace["regret"][0, -1] == pytest.approx(regret, abs=1e-9)
    assert log(trace) == restarts
    if (segments, environment) == (3, 0):
        assert trace["heard"][0, -1] == pytest.approx(3471.851478149, abs=1e-9)
    if environment == 1:
        assert trace["least"][0, -1] == pytest.approx(0.548671166, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed, regret, restarts",
    [(3, 484.284223883, [(3839, 1, 8)]), (4, 452.249545293, [(3712, 2, -1)])],
)
def test_runs_with_a_step(seed, regret, restarts):
    learner = Multiscale(GradientAscent(bonus=0.7), 0.3, 8.0)
    trace = run(learner, QuadraticDrift(Step(3500)), 6000, seed)
    assert trace["regret"][0, -1] == pytest.approx(regret, abs=1e-9) and log(trace) == restarts


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner, regret, restarts",
    [
        (malg(), 595.68501807, []),
        (malg(GradientAscent(warm_start=True)), 327.09060621, []),
        (practical(GradientAscent(warm_start=True)), 338.72584018, [(7167, 1, 7)]),
        (GradientAscent(), 1622.07078541, None),
    ],
)
def test_presets_on_one_path(learner, regret, restarts):
    problem = QuadraticDrift(Abrupt(3), environment=0)
    probes = KEEP if restarts is not None else None
    trace = play(learner, problem, 8192, 1, 0, probes=probes)
    assert trace["regret"][0, -1] == pytest.approx(regret, abs=1e-8)
    assert restarts is None or log(trace) == restarts


ACTIVE = {
    0: [0,0,0,1,1,0,0,0,2,2,2,2,2,0,0,2,0,0,1,3,3,0,3,1,1,4,4,0,1,2,2],
    1: [0,1,0,0,1,0,0,1,1,3,3,0,1,1,1,0,1,0,0,0,1,1,1,2,2,2,2,0,3,3,3],
}  # fmt: skip
ENDS = [1,1,3,0,2,1,5,1,0,0,4,0,0,1,13,0,1,1,6,0,0,1,8,0,2,0,0,1,2,0,20]  # fmt: skip


@pytest.mark.parametrize("seed", ACTIVE)
def test_active_orders_of_31_rounds(seed):
    trace = run(malg(), QuadraticDrift(), 31, seed, record="all")
    assert trace["active"][0].tolist() == ACTIVE[seed]


def test_the_reference_ends_its_windows_where_it_should():
    rounds, _ = multiscale(lambda z: Ascent(2), lambda t, x: 0.0, 31, 0)
    assert [r[0] for r in rounds] == ACTIVE[0] and [r[-1] for r in rounds] == ENDS


def test_windows_of_the_block_of_512_rounds():
    windows = scheduled(0, 511, 9)
    count = [sum(w[0] == m for w in windows) for m in range(10)]
    assert count == [25, 13, 12, 6, 6, 4, 5, 2, 2, 1]
    trace = run(malg(), QuadraticDrift(), 1023, 0, record="all")
    played = np.bincount(trace["active"][0, 511:].astype(int), minlength=10)
    assert played.tolist() == [25, 25, 44, 38, 76, 51, 181, 24, 48, 0]


# ---- against the reference ---------------------------------------------------------------------------------


def settings(count=20):
    rng = np.random.default_rng(5)
    fixed = [(1, 1, 0.5, 5.0, 1.0), (2, 2, 0.5, 5.0, 1.0), (2, 900, 0.3, 6.0, 0.7)]
    drawn = [
        (
            int(rng.integers(1, 4)),
            int(rng.integers(3, 600)),
            *rng.uniform((0.1, 3, 0.2), (1, 15, 2)),
        )
        for _ in range(count - len(fixed))
    ]
    return fixed + drawn


@pytest.mark.parametrize("warm, least", [(False, 0), (True, 0), (False, 3)])
@pytest.mark.parametrize("case", range(20))
def test_actions_equal_the_reference_implementation(case, warm, least):
    dim, T, A1, A2, b0 = settings()[case]
    problem = QuadraticDrift(Abrupt(4), dim, environment=case)
    learner = Multiscale(GradientAscent(bonus=b0, warm_start=warm), A1, A2, (), least)
    trace = run(learner, problem, T, case, record="all")
    changes = Abrupt(4).changes(case, T)

    def hear(t, x):
        theta = np.zeros(dim)
        theta[0] = 0.5 * (-1) ** int((changes <= t).sum())
        gap = ((x - theta) ** 2).sum() / 2
        regret.append(gap)
        return 0.5 - gap + 0.1 * (2 * float(noise(t)) - 1)

    noise, regret = lambda t: uniform(case, 0, t), []
    rounds, restarts = multiscale(
        lambda z: Ascent(dim, b0=b0, z0=z), hear, T, case, A1, A2, least, warm
    )
    assert trace["active"][0].tolist() == [r[0] for r in rounds]
    assert log(trace) == restarts[:LOGGED]
    assert trace["regret"][0] == pytest.approx(np.cumsum(regret), rel=1e-9)
    # U is reset when a test triggers
    kept = np.isfinite(trace["least"][0])
    assert trace["least"][0][kept] == pytest.approx(
        np.array([r[6] for r in rounds])[kept], rel=1e-9
    )
    assert (~kept).sum() == len(restarts)


# ---- invariants of any run ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Watched(GradientAscent):
    """Algorithm 2 that checks in every round that its query is in X and its center in X^o(c_0)."""

    def select(self, state, task, draw):
        x, state = super().select(state, task, draw)
        assert bool(task.cset.contains(x, 1e-12).all())
        assert torch.equal(state.z, task.inside(state.z)) or bool(
            (state.z - task.inside(state.z)).abs().max() < 1e-15
        )
        return x, state


@pytest.mark.parametrize("cset, curvature", [("ball", 1.0), ("box", (0.3, 0.4))])
def test_invariants(cset, curvature):
    problem = QuadraticDrift(Abrupt(4), 2, curvature, cset=cset)
    learner = Multiscale(Watched(), 0.4, 9.0)
    probes = {
        "bar": Probe(lambda r: learner.base.optimistic(r.after.base)),
        "least": Probe(lambda r: r.after.least),
        "n": Probe(lambda r: r.before.n.double()),
        "live": Probe(lambda r: r.before.live.gather(1, r.before.active[:, None])[:, 0].double()),
        "below": Probe(
            lambda r: (r.before.live.long().cumsum(1) == 0).sum(1).double() - r.before.active
        ),
        "own": Probe(lambda r: (r.after.base.t >= 1).double()),
    }
    trace = play(learner, problem, 1500, 4, 3, record="all", probes=probes)
    assert (np.diff(trace["regret"], axis=1) >= 0).all() and (trace["bar"] >= -1).all()
    assert (trace["live"] == 1).all() and (trace["below"] == 0).all() and (trace["own"] == 1).all()
    same = np.diff(trace["n"], axis=1) == 0  # within a block U does not increase
    fell = np.diff(trace["least"], axis=1) <= 0
    known = np.isfinite(trace["least"])  # a triggered test resets it
    assert (fell | ~same | ~known[:, :-1] | ~known[:, 1:]).all() and fell[same].any()


def test_thread_rounds_sum_to_all_rounds():
    """The paused rows store the rounds of their threads; summed over the orders, these are all rounds of the block."""
    problem, learner = QuadraticDrift(), malg()
    at = {}

    def rounds(r):
        """Return t of all live threads, plus the t of closed windows."""
        state = r.after
        wide = 2 * problem.dim
        paused = state.paused[0, :, wide + 3]
        own = paused.clone()
        own[state.active[0]] = state.base.t[0].double()
        live = torch.where(state.live[0], own, 0.0)
        at[r.t] = (live.clone(), state.live[0].clone(), int(state.played[0]))
        return torch.zeros(1)

    play(learner, problem, 255, 1, 1, record="all", probes={"rounds": Probe(rounds)})
    closed = 0.0
    for t in range(255):
        live, mask, played = at[t]
        if played == 1:
            closed = 0.0
        assert float(live.sum()) + closed == pytest.approx(played)
        ends = [m for m in range(len(mask)) if mask[m] and played % 2**m == 0]
        closed += sum(float(live[m]) for m in ends)


def test_if_every_window_is_scheduled_each_round_is_a_new_thread(monkeypatch):
    problem = QuadraticDrift()
    heads = make_schedule(8, 0, None)._replace(
        chance=np.tril(np.ones((8, 8))) - np.triu(np.ones((8, 8)), 1)
    )
    monkeypatch.setattr(Multiscale, "_table", lambda self, live: heads)
    seen = []
    keep = Probe(lambda r: seen.append(r.action.clone()) or torch.zeros(1))
    play(malg(), problem, 200, 1, 0, record="all", probes={"x": keep})
    assert all(x.tolist() == [[0.25, 0.0]] for x in seen)


def test_if_only_block_windows_are_scheduled_each_block_equals_the_base():
    seen, alone = [], []
    keep = lambda to: {"x": Probe(lambda r: to.append(r.action[0].tolist()) or torch.zeros(1))}
    quiet = QuadraticDrift(amplitude=0.0)
    play(malg(least_order=40), quiet, 127, 1, 0, record="all", probes=keep(seen))
    play(GradientAscent(), quiet, 64, 1, 0, record="all", probes=keep(alone))
    for n in range(7):
        assert seen[2**n - 1 : 2 ** (n + 1) - 1] == alone[: 2**n]


@pytest.mark.slow
def test_printed_constants_never_trigger_and_tiny_constants_do():
    problem, base = QuadraticDrift(Abrupt(5)), GradientAscent(bonus=2 * 8.4e7)
    off, on = run(malg(base), problem, 2**12, 0, 2), run(printed(base), problem, 2**12, 0, 2)
    assert (off["regret"] == on["regret"]).all() and not on["count"].any()
    tiny = Multiscale(GradientAscent(), 162 * 2e-9, 54 * 2e-9, ("A1", "A2"))
    assert (run(tiny, problem, 2**12, 0, 2)["count"] > 0).all()


def test_saved_log_is_loaded(tmp_path):
    """Restarts by Test 2 have no window, which is not encoded by a negative number."""
    learner = Multiscale(GradientAscent(bonus=0.4), math.inf, 2.0)
    task = tree_map(lambda x: x[0], begin()[0])
    user = AskTell(learner, task, horizon=300)
    rng = np.random.default_rng(0)
    for _ in range(300):
        user.tell(user.ask(), float(rng.uniform(-1, 1)))
    user.save(tmp_path / "run.npz")
    again = AskTell(learner, task, horizon=300).restore(tmp_path / "run.npz")
    count = int(again.state.restarts[0])
    found = again.state.log[0, :count].tolist()
    assert found and found == user.state.log[0, :count].tolist()
    assert {tuple(row[1:]) for row in found} == {(2, 0)}


def test_restarts_beyond_the_log_are_counted():
    trace = run(Multiscale(GradientAscent(), 1e-9, 1e-9), QuadraticDrift(), 400)
    assert trace["count"][0] > LOGGED and trace["report.overflow"][0] == 1
    assert len(log(trace)) == LOGGED and log(trace)[-1][0] < 400


def test_without_a_horizon_the_schedule_is_the_same():
    """The thresholds differ because of log2 T; without tests there is no difference."""
    problem = QuadraticDrift(Abrupt(3))
    trace = play(malg(), problem, 200, 1, 4, record="all")
    streams = Streams(4, [0])
    instance = problem.init(1, 200, streams.at(-1), dtype=torch.float64, device="cpu")
    learner, total, found = malg(), 0.0, []
    state = learner.init(1, instance.task, None, streams.at(-1), dtype=torch.float64, device="cpu")
    assert state.live.shape[1] == 32
    small = learner.init(1, instance.task, 200, streams.at(-1), dtype=torch.float64, device="cpu")
    assert small.live.shape[1] == 8
    for t in range(200):
        # the random numbers of the first orders do not depend on the number of orders
        draw = streams.at(t)
        x, state = learner.select(state, instance.task, draw)
        y, gap = problem.respond(instance, t, x, "reward", draw)
        state = learner.update(state, instance.task, x, y, draw)
        total += float(gap[0])
        found.append(total)
    assert found == pytest.approx(trace["regret"][0], rel=1e-12)


def test_thresholds_grow_with_the_horizon_or_the_rounds():
    learner = practical()
    state = learner.init(2, *begin(), 2**10, None, dtype=torch.float64)
    assert learner._level("A1", state) == 1.0 and learner._level("A2", state) == 11.0
    endless = learner.init(2, *begin(), None, None, dtype=torch.float64)._replace(rounds=1000)
    assert learner._level("A2", endless) == 11.0  # 1001 has 10 bits
    assert practical().A2 == 3.0 and single_scale(0.3).A1 == pytest.approx(16.2)


def begin():
    problem = QuadraticDrift()
    instance = problem.init(2, 64, Streams(0, range(2)).at(-1), dtype=torch.float64, device="cpu")
    return (instance.task,)


@pytest.mark.parametrize("T", [1, 2, 3, 5])
def test_short_horizons(T):
    trace = run(practical(), QuadraticDrift(Abrupt(1)), T, 0, 3)
    assert not trace["count"].any() and np.isfinite(trace["regret"]).all()


def test_as_on_a_device():
    problem, learner = QuadraticDrift(Abrupt(4), 3), Multiscale(GradientAscent(bonus=0.4), 0.1, 4.0)
    here = run(learner, problem, 600, 2, 3)
    with shortcuts(False):
        there = run(learner, problem, 600, 2, 3)
    assert (here["log"] == there["log"]).all() and here["count"].any()
    assert here["regret"] == pytest.approx(there["regret"], rel=1e-12)
    assert here["least"] == pytest.approx(there["least"], rel=1e-12)


def test_settings_by_trial():
    problem = QuadraticDrift(Abrupt(3))
    A1, A2, b0 = (
        torch.tensor([1.0, 0.3, math.inf]),
        torch.tensor([42.0, 8.0, math.inf]),
        [2, 0.7, 1],
    )
    learner = Multiscale(
        GradientAscent(bonus=torch.tensor(b0, dtype=torch.float64)), A1.double(), A2.double()
    )
    together = run(learner, problem, 1200, 1, 3)
    for i in range(3):
        own = Multiscale(GradientAscent(bonus=float(b0[i])), float(A1[i].double()), float(A2[i]))
        alone = play(own, problem, 1200, [i], 1, probes=KEEP)
        assert alone["regret"][0] == pytest.approx(together["regret"][i], rel=1e-6)
        assert log(alone) == log(together, i)


# ---- bad input ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["A1", "A2"])
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, -math.inf, "x", True, None])
def test_invalid_thresholds_raise_errors(name, value):
    with pytest.raises(ValueError, match=f"^{name} must .*, got "):
        Multiscale(GradientAscent(), **{name: value})


def test_invalid_thresholds_by_trial_raise_errors():
    for value in (torch.tensor([1.0, -1.0]), torch.tensor([1.0, math.nan]), torch.tensor(1.0)):
        with pytest.raises(
            ValueError, match="A1 must be a positive number from 1e-30 to inf, or a tensor"
        ):
            Multiscale(GradientAscent(), value)


@pytest.mark.parametrize(
    "more",
    [{"logarithmic": "A1"}, {"logarithmic": ("A3",)}, {"least_order": -1}, {"least_order": 1.0}],
)
def test_other_invalid_settings_raise_errors(more):
    with pytest.raises(ValueError, match=next(iter(more))):
        Multiscale(GradientAscent(), 1.0, 1.0, **more)


def test_base_without_a_method_raises_an_error_with_its_name():
    with pytest.raises(ValueError, match="optimistic and restart, which Index lacks"):
        Multiscale(Index())
    with pytest.raises(ValueError, match="base must be a learner with the method update, got "):
        Multiscale(GradientAscent)


def test_base_with_shared_state_raises_an_error_in_init():
    @dataclass(frozen=True)
    class Shares(GradientAscent):
        def init(self, trials, task, horizon, draw, **tkwargs):
            state = super().init(trials, task, horizon, draw, **tkwargs)
            return state._replace(delta=state.delta[:1])

    for trials in (1, 2):
        with pytest.raises(ValueError, match="share state.delta"):
            play(Multiscale(Shares()), QuadraticDrift(), 8, trials)


def test_doubling_raises_an_error_with_a_remedy():
    with pytest.raises(
        ValueError, match="base must not be Multiscale in a wrapper that restarts it, for"
    ):
        play(Doubling(malg()), QuadraticDrift(), 8, 1)
