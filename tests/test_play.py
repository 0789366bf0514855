"""The loop over rounds: recording, resuming, and rejection of invalid inputs."""

import json
import re

import numpy as np
import pytest
import torch
from toy import Coins, Index

from paperlib.core.contracts import Tags
from paperlib.core.describe import describe
from paperlib.core.rounds import Probe
from paperlib.core.validation import check_integer
from paperlib.play import play, recorded_rounds


def reference(seed, rounds, bonus=1.0, arms=4):
    """Simulate one trial of the toy run with NumPy alone."""
    from paperlib.core.streams import stream_number, uniform

    problem = np.uint64(2**64 - arms)  # round -1 of a purpose with `arms` numbers per round
    with np.errstate(over="ignore"):
        mean = uniform(seed, stream_number("problem"), problem + np.arange(arms, dtype=np.uint64))
    plays, total, regret, out = np.ones(arms), np.zeros(arms), 0.0, []
    for t in range(rounds):
        k = int(np.argmax(total / plays + bonus / np.sqrt(plays)))
        plays[k] += 1
        total[k] += float(uniform(seed, 0, t)) < mean[k]
        regret += mean.max() - mean[k]
        out.append(regret)
    return np.array(out)


def test_play_equals_a_plain_loop():
    trace = play(Index(), Coins(), 300, 5, seed=7, record="all")
    for trial in range(5):
        np.testing.assert_allclose(trace["regret"][trial], reference(7 + trial, 300), atol=1e-12)
    assert (
        trace["report.plays"].tolist() == [304] * 5
        and trace.seconds[-1] > 0
        and (np.diff(trace.seconds) > 0).all()
    )


def test_any_trial_can_be_run_alone_and_in_any_order():
    full = play(Index(), Coins(), 200, 6, seed=1)
    part = play(Index(), Coins(), 200, range(2, 5), seed=1)
    alone = play(Index(), Coins(), 200, 1, seed=4)
    assert np.array_equal(full["regret"][2:5], part["regret"]) and np.array_equal(
        full["regret"][3], alone["regret"][0]
    )


def test_every_seed_changes_the_result():
    finals = {float(play(Index(), Coins(), 50, 1, seed=s)["regret"][0, -1]) for s in range(20)}
    assert len(finals) == 20


def test_probes_reduce_over_every_round():
    arm = lambda seen: seen.action.to(torch.float64)
    probes = {
        "last": arm,
        "sum": Probe(arm, "sum"),
        "max": Probe(arm, "max"),
        "min": Probe(arm, "min"),
        "final": Probe(lambda seen: seen.after.plays, "final"),
    }
    trace = play(Index(), Coins(), 100, 3, record=[10, 50], probes=probes)
    every = play(Index(), Coins(), 100, 3, record="all", probes={"arm": arm})["arm"]
    assert trace.rounds.tolist() == [10, 50, 100]
    for i, t in enumerate(trace.rounds):
        assert np.array_equal(trace["last"][:, i], every[:, t - 1])
        assert np.array_equal(trace["sum"][:, i], every[:, :t].sum(1))
        assert np.array_equal(trace["max"][:, i], every[:, :t].max(1)) and np.array_equal(
            trace["min"][:, i], every[:, :t].min(1)
        )
    assert trace["final"].shape == (3, 4)


@pytest.mark.parametrize(
    "record, rounds", [("all", [1, 2, 3, 4, 5]), (2, [3, 5]), (50, [1, 2, 3, 4, 5]), ([2], [2, 5])]
)
def test_recorded_rounds(record, rounds):
    assert recorded_rounds(5, record).tolist() == rounds


@pytest.mark.parametrize("record", ["some", 0, [0], [6]])
def test_recorded_rounds_refused(record):
    with pytest.raises(ValueError, match="^record must .*, got "):
        recorded_rounds(5, record)


def test_broken_feedback_names_round_and_trial_and_keeps_the_state(tmp_path):
    kept = tmp_path / "kept.npz"
    with pytest.raises(ValueError, match="in round 131, trial 40"):
        play(Index(), Coins(broken=130), 200, range(40, 43), checkpoint=kept)
    with np.load(kept) as file:
        assert file["state.rewards"].shape == (3, 130) and np.isfinite(file["state.rewards"]).all()


def test_resumed_equals_uninterrupted(tmp_path):
    """Stop the run by an exception in round 130, repair the problem, and resume from the file."""
    kept, stop = tmp_path / "kept.npz", []
    probes = {
        "plays": Probe(lambda seen: seen.after.plays.amax(1), "sum"),
        "gate": lambda seen: Gate(stop)(seen),
    }
    stop.append(130)
    with pytest.raises(KeyboardInterrupt):
        play(Index(), Coins(), 300, 4, record="all", probes=probes, checkpoint=kept, every=0.0)
    stop.clear()
    seen = []
    resumed = play(
        Index(),
        Coins(),
        300,
        4,
        record="all",
        probes=probes,
        checkpoint=kept,
        every=0.0,
        progress=lambda t, T, s: seen.append(t),
    )
    fresh = play(Index(), Coins(), 300, 4, record="all", probes=probes)
    assert seen[0] == 131 and resumed.equal(fresh)


class Gate:
    """Probe that interrupts the run in a chosen round."""

    def __init__(self, stop):
        self.stop = stop

    def __call__(self, seen):
        if self.stop and seen.t == self.stop[0]:
            raise KeyboardInterrupt
        return seen.feedback


def test_a_foreign_checkpoint_is_refused(tmp_path):
    kept = tmp_path / "kept.npz"
    play(Index(), Coins(), 200, 2, checkpoint=kept, every=0.0)
    with pytest.raises(ValueError, match="belongs to another run"):
        play(Index(bonus=2.0), Coins(), 200, 2, checkpoint=kept)


def test_failed_report_raises():
    class Failing(Index):
        def report(self, state):
            return {"failed": state.plays.sum(1) > 100}

    with pytest.raises(ValueError, match="Failing reports failure by round 128 in trial 0: "):
        play(Failing(), Coins(), 300, 2)


def test_probe_names_and_reductions_are_checked():
    with pytest.raises(
        ValueError, match="reduce must be one of 'last', 'sum', 'max', 'min', 'final', got 'mean'"
    ):
        Probe(lambda seen: seen.feedback, "mean")
    with pytest.raises(
        ValueError, match="probes must not have the name 'regret', which is reserved"
    ):
        play(Index(), Coins(), 5, 1, probes={"regret": lambda seen: seen.feedback})


def test_a_failed_run_stays_failed(tmp_path):
    """Repeated runs resume before the failure and fail again."""

    class Failing(Index):
        def report(self, state):
            return {"failed": state.plays.sum(1) > 150}

    for _ in range(4):
        with pytest.raises(ValueError, match="reports failure by round 147"):
            play(Failing(), Coins(), 200, 2, checkpoint=tmp_path / "kept.npz", every=0.0)


def test_final_probes_survive_a_stop_after_the_last_round(tmp_path):
    kept, probes = tmp_path / "kept.npz", {"end": Probe(lambda seen: seen.after.plays, "final")}
    first = play(Index(), Coins(), 100, 2, probes=probes, checkpoint=kept, every=0.0)
    again = play(Index(), Coins(), 100, 2, probes=probes, checkpoint=kept, every=0.0)
    assert kept.exists() and again.equal(first) and "end" in again.final


@pytest.mark.slow
def test_time_and_rounds_both_decide_when_to_check(monkeypatch):
    """Progress is reported every half second, or every ``every`` seconds if that is less.

    A failure is detected after at most 64 rounds.
    """
    seen, rare = [], []
    play(Index(nap=0.01), Coins(), 100, 1, every=0.25, progress=lambda t, T, s: seen.append(t))
    assert seen and (np.diff([0, *seen]) <= 25).all()  # on a slow machine after fewer rounds
    play(Index(nap=0.01), Coins(), 150, 1, every=9.0, progress=lambda t, T, s: rare.append(t))
    assert rare and (np.diff([0, *rare]) <= 50).all()
    monkeypatch.setattr("paperlib.play.PROGRESS_SECONDS", 1e9)
    play(
        Index(),
        Coins(),
        200,
        1,
        every=1e9,
        progress=lambda t, T, s: pytest.fail("it was too early"),
    )


def test_a_given_description_is_reused():
    about = {"learner": describe(Index()), "problem": describe(Coins())}
    assert play(Index(), Coins(), 20, 2, about=about).about == play(Index(), Coins(), 20, 2).about


def test_booleans_are_counted():
    trace = play(
        Index(), Coins(), 50, 2, probes={"x": Probe(lambda seen: seen.feedback >= 0, "sum")}
    )
    assert trace["x"][:, -1].tolist() == [50, 50]


@pytest.mark.parametrize(
    "name, value",
    [
        ("horizon", 1e2),
        ("horizon", 0),
        ("horizon", -1),
        ("horizon", True),
        ("trials", 1e1),
        ("trials", None),
        ("trials", 0),
        ("trials", range(0)),
    ],
)
def test_only_integer_rounds_and_trials_are_accepted(monkeypatch, name, value):
    monkeypatch.setattr(Coins, "init", lambda *_, **__: pytest.fail("it began to play"))
    with pytest.raises(ValueError, match=f"^{name} must .*, got {re.escape(repr(value))}$"):
        play(Index(), Coins(), **{"horizon": 10, "trials": 2, name: value})


def test_numpy_integers_are_accepted_as_integers():
    assert play(Index(), Coins(), np.int64(20), np.int32(2)).equal(play(Index(), Coins(), 20, 2))
    check_integer("x", np.int64(3))
    for value in (3.0, np.float64(3), np.bool_(True), True, "3", None, 2):
        with pytest.raises(ValueError, match=r"^x must be an integer from 3 to 2\^63 - 1, got "):
            check_integer("x", value, least=3)


# ---- invalid learners, problems, actions and feedback --------------------------------------------


def with_method(kind, name, function):
    """Return an instance with one method replaced by a function of the original method's result."""
    whole = getattr(kind, name)
    return type("Odd", (kind,), {name: lambda self, *a, **k: function(whole(self, *a, **k))})()


def answers(function):
    return with_method(Coins, "respond", lambda both: function(*both))


def chooses(function):
    return with_method(Index, "select", lambda both: function(*both))


@pytest.mark.parametrize(
    "learner, problem, match",
    [
        ("Index", Coins(), "learner must be a learner with the attributes.*, got 'Index'"),
        (None, Coins(), "learner must be a learner with the attributes.*, got None"),
        (
            Index,
            Coins(),
            r"learner must be an instance, for example Index\(...\), got the class Index",
        ),
        (
            Coins(),
            Index(),
            r"learner must be a learner with the attributes.*, got Coins\(\), a problem",
        ),
        (Index(), "Coins", "problem must be a problem with the attributes.*, got 'Coins'"),
        (
            Index(),
            Coins,
            r"problem must be an instance, for example Coins\(...\), got the class Coins",
        ),
        (
            Index(),
            Index(2.0),
            r"problem must be a problem with the attributes.*, got Index\(bonus=2.0\), a learner",
        ),
        (
            type("Odd", (Index,), {"wants": "praise"})(),
            Coins(),
            "learner.wants must be one of 'reward', 'loss', 'gradient', got 'praise'",
        ),
        (
            chooses(lambda arm, state: 3),
            Coins(),
            "Odd.select must return actions and a state, got 3",
        ),
        (
            chooses(lambda arm, state: arm),
            Coins(),
            r"Odd.select must return actions and a state, got tensor\(\[0, 0\]\)",
        ),
        (
            chooses(lambda arm, state: (1, state)),
            Coins(),
            "Odd.select must return a tensor of 2 actions,.*, got 1",
        ),
        (
            chooses(lambda arm, state: (arm[:1], state)),
            Coins(),
            r"Odd.select must return a tensor of 2 actions,.*, got tensor\(\[0\]\)",
        ),
        (
            chooses(lambda arm, state: (arm.double(), state)),
            Coins(),
            "Odd.select must return a tensor of 2 actions, indices from",
        ),
        (
            chooses(lambda arm, state: (arm + 4, state)),
            Coins(),
            "Odd.select must return a tensor of 2 actions, indices from",
        ),
        (
            chooses(lambda arm, state: (arm[:, None], state)),
            Coins(),
            "Odd.select must return a tensor of 2 actions, indices from",
        ),
        (
            with_method(Index, "update", lambda state: None),
            Coins(),
            "Odd.update must return a state of class State, got None",
        ),
        (
            Index(),
            answers(lambda x, gap: x),
            r"Odd.respond must return feedback and regret, got tensor\(\[1., 1.\],",
        ),
        (
            Index(),
            answers(lambda x, gap: (1.0, gap)),
            r"Odd.respond must return feedback as a tensor of shape \(2,\), got 1.0",
        ),
        (
            Index(),
            answers(lambda x, gap: (x[:1], gap)),
            r"Odd.respond must return feedback as a tensor of shape \(2,\), got tensor\(\[1.\],",
        ),
        (
            Index(),
            answers(lambda x, gap: (x[:, None], gap)),
            r"Odd.respond must return feedback as a tensor of shape \(2,\), got tensor\(\[\[1.\], \[1.\]\],",
        ),
        (
            Index(),
            answers(lambda x, gap: (x, gap.sum())),
            r"Odd.respond must return regret as a tensor of shape \(2,\), got tensor\(0",
        ),
        (
            Index(),
            answers(lambda x, gap: (x, gap[:, None])),
            r"Odd.respond must return regret as a tensor of shape \(2,\), got tensor\(\[\[",
        ),
        (
            Index(),
            with_method(Coins, "context", lambda x: x[0, 0]),
            r"context must be of shape R x K x d or 1 x K x d with R = 2, got shape \(4,\)",
        ),
        (
            Index(),
            with_method(Coins, "context", lambda x: x[0]),
            r"context must be of shape R x K x d or 1 x K x d with R = 2, got shape \(4, 4\)",
        ),
        (
            Index(),
            with_method(Coins, "context", lambda x: x[:, :0]),
            r"context must be of shape R x K x d or 1 x K x d with R = 2, got shape \(1, 0, 4\)",
        ),
        (
            Index(),
            with_method(Coins, "context", lambda x: x.expand(3, 4, 4)),
            r"context must be of shape R x K x d or 1 x K x d with R = 2, got shape \(3, 4, 4\)",
        ),
    ],
)
def test_invalid_learners_and_problems_are_rejected_in_one_line(learner, problem, match):
    with pytest.raises(ValueError, match=match) as error:
        play(learner, problem, 10, 2)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "argument, value",
    [
        ("trials", [0, -1]),
        ("trials", range(-2, 0)),
        ("trials", [0.5]),
        ("trials", [True]),
        ("trials", "01"),
        ("trials", {0, 1}),
        ("trials", np.array([[0, 1]])),
        ("trials", [2**70]),
        ("every", np.nan),
        ("every", "30"),
        ("every", -1.0),
        ("every", None),
        ("seed", True),
        ("seed", "7"),
        ("seed", 2.0),
        ("seed", -1),
        ("seed", 2**63),
        ("probes", [lambda seen: seen.feedback]),
    ],
)
def test_arguments_are_refused_by_name(monkeypatch, argument, value):
    monkeypatch.setattr(Coins, "init", lambda *_, **__: pytest.fail("it began to play"))
    with pytest.raises(ValueError, match=f"^{argument} must .*, got "):
        play(Index(), Coins(), **{"horizon": 10, "trials": 2, argument: value})


def test_listed_trials_of_numpy_are_integers(tmp_path):
    trace = play(Index(), Coins(), 20, np.array([3, 1]))
    assert trace.trials == trace.about["trials"] == [3, 1]
    trace.save(tmp_path / "trace.npz")
    assert trace.equal(play(Index(), Coins(), 20, [3, 1])) and type(trace.trials[0]) is int


@pytest.mark.parametrize("reduce", ["last", "sum", "max", "final"])
@pytest.mark.parametrize(
    "value",
    [torch.tensor(1.0), torch.ones(3), torch.ones(0), 1.0, None],
    ids=["number", "three", "none", "float", "nothing"],
)
def test_a_probe_has_a_row_a_trial(reduce, value):
    with pytest.raises(
        ValueError, match=r"probes\['x'\] must return a tensor with 2 rows, one per"
    ):
        play(Index(), Coins(), 5, 2, probes={"x": Probe(lambda seen: value, reduce)})


@pytest.mark.parametrize("reduce", ["last", "sum", "max", "final"])
def test_shared_values_are_recorded_for_each_trial(reduce):
    """Otherwise parts of a run could not be merged."""
    probes = {"x": Probe(lambda seen: torch.tensor([[seen.t, 7]]), reduce)}
    trace = play(Index(), Coins(), 5, 3, record="all", probes=probes)
    last = {"sum": [10, 35]}.get(reduce, [4, 7])
    if reduce == "final":
        assert trace["x"].tolist() == [last] * 3
    else:
        assert trace["x"].shape == (3, 5, 2) and trace["x"][:, -1].tolist() == [last] * 3


def test_a_probe_is_a_function():
    with pytest.raises(ValueError, match="of must be a function of a Round, got 3"):
        play(Index(), Coins(), 5, 2, probes={"x": 3})


def test_a_damaged_checkpoint_raises_an_error_or_resumes_correctly(tmp_path):
    path, fresh = tmp_path / "kept.npz", play(Index(), Coins(), 100, 2)
    play(Index(), Coins(), 100, 2, checkpoint=path, every=0.0)
    whole, rng, refused = path.read_bytes(), np.random.default_rng(0), 0
    for mutation in range(60):
        raw = bytearray(whole)
        if mutation % 3:
            raw[rng.integers(len(raw))] ^= 1 << rng.integers(8)
        else:
            raw = raw[: rng.integers(len(raw))]
        path.write_bytes(bytes(raw))
        try:
            assert play(Index(), Coins(), 100, 2, checkpoint=path).equal(fresh)
        except ValueError as error:
            refused += f"checkpoint={str(path)!r} is damaged" in str(error)
    assert refused > 30


@pytest.mark.parametrize(
    "change",
    [
        lambda head, arrays: head.update(t=-5),
        lambda head, arrays: head.pop("plain"),
        lambda head, arrays: arrays.pop("state.plays"),
        lambda head, arrays: arrays.update({"state.plays": np.ones((2, 3))}),
        lambda head, arrays: arrays["state.plays"].fill(np.nan),
        lambda head, arrays: arrays.pop("sums.regret"),
    ],
    ids=["round", "no plain", "no part", "shape", "nan", "no regret"],
)
def test_a_checkpoint_with_other_contents_is_refused(change, tmp_path):
    path = tmp_path / "kept.npz"
    play(Index(), Coins(), 100, 2, checkpoint=path, every=0.0)
    with np.load(path) as file:
        arrays = dict(file)
    head = json.loads(str(arrays.pop("head")))
    change(head, arrays)
    np.savez(path, head=np.array(json.dumps(head)), **arrays)
    with pytest.raises(ValueError, match="checkpoint='.*kept.npz' is damaged"):
        play(Index(), Coins(), 100, 2, checkpoint=path)


class Moving(Coins):
    """Problem whose arms equal the first ones until a given round, but are new tensors in every round."""

    def context(self, instance, t):
        return instance.arms.clone() if t < 7 else instance.arms.flip(1)


def test_learners_that_count_by_index_reject_other_arms_in_any_round():
    fixed = type("Fixed", (Index,), {"tags": Tags(fixed_arms=True)})()
    play(fixed, Moving(), 7, 2)
    play(Index(), Moving(), 8, 2)
    with pytest.raises(
        ValueError,
        match="problem must have the same arms in all rounds,.*, got Moving with other arms",
    ):
        play(fixed, Moving(), 8, 2)


def test_a_checkpoint_belongs_to_one_probe_with_its_captured_values(tmp_path):
    count = lambda factor: {"count": Probe(lambda seen: factor * seen.feedback, "sum")}
    file = tmp_path / "run"
    play(Index(), Coins(), 4, 2, checkpoint=file, every=0.0, probes=count(1.0))
    play(Index(), Coins(), 4, 2, checkpoint=file, every=0.0, probes=count(1.0))
    with pytest.raises(ValueError, match="belongs to another run"):
        play(Index(), Coins(), 4, 2, checkpoint=file, every=0.0, probes=count(2.0))
