"""Per-trial settings: row i of a tensor field belongs to trial i, whichever trials are simulated together."""

import dataclasses
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import torch
from given_uniforms import GivenUniforms
from toy import Coins, Index

from companion.store import results as store
from paperlib.core.streams import Streams
from paperlib.core.trace import Trace
from paperlib.core.trees import select_trials
from paperlib.glbomd import GLBOMD, Bernoulli, SphereArms
from paperlib.learners.wrapper import Doubling
from paperlib.play import play

N = 100
BONUS = torch.linspace(0, 3, N, dtype=torch.float64)


@pytest.fixture(autouse=True)
def results(tmp_path, monkeypatch):
    monkeypatch.setenv("PAPERLIB_RESULTS", str(tmp_path / "results"))
    monkeypatch.setenv("PAPERLIB_LOCKS", str(tmp_path))
    return tmp_path / "results"


@dataclass(frozen=True, eq=False)
class Bonuses(Index):
    """The toy learner with one bonus per trial."""

    bonus: Any = 1.0

    def select(self, state, arms, draw):
        bonus = torch.as_tensor(self.bonus, dtype=torch.float64).reshape(-1, 1)
        return (state.total / state.plays + bonus * state.plays.rsqrt()).argmax(1), state


@dataclass(frozen=True, eq=False)
class Shifted(Coins):
    """The toy problem with one number per trial added to its rewards."""

    shift: Any = 0.0

    def respond(self, instance, t, action, wants, draw):
        feedback, gap = super().respond(instance, t, action, wants, draw)
        return feedback + self.shift, gap


@dataclass(frozen=True, eq=False)
class Nested:
    """Configuration with per-trial settings in all allowed places, and with other fields."""

    base: Any = None
    rows: Any = None
    several: tuple = ()
    doubled: Any = field(init=False, default=None)
    note: str = "same"

    def __post_init__(self):
        object.__setattr__(self, "doubled", None if self.rows is None else 2 * self.rows)


def total(trace):
    return trace.series["regret"]


def test_every_trial_has_its_own_row():
    trace = play(Bonuses(BONUS), Coins(), 60, N)
    for trial in (0, 1, 17, 50, 99):
        alone = play(Bonuses(float(BONUS[trial])), Coins(), 60, range(trial, trial + 1))
        assert np.array_equal(total(trace)[trial], total(alone)[0])
    assert len({tuple(row) for row in total(trace)}) > 50


@pytest.mark.parametrize("trials", [range(50, 100), range(17, 18), range(3), [80, 3, 41]])
def test_a_part_of_a_run_takes_rows_by_number(trials):
    whole, part = play(Bonuses(BONUS), Coins(), 60, N), play(Bonuses(BONUS), Coins(), 60, trials)
    assert np.array_equal(total(whole)[list(trials)], total(part)) and part.trials == list(trials)
    same = lambda trace: {key: value for key, value in trace.about.items() if key != "trials"}
    assert same(part) == same(whole) and len(part.about["learner"]["bonus"]["values"]) == N


def test_chunks_of_a_run_are_its_parts(results):
    made = store.run(Coins(), {"a": Bonuses(BONUS)}, 60, N)["a"]
    assert len(list(results.glob("*.npz"))) == 2
    assert made.equal(
        Trace.merge([play(Bonuses(BONUS), Coins(), 60, ids) for ids in store.split_chunks(N)])
    )
    assert np.array_equal(total(made), total(play(Bonuses(BONUS), Coins(), 60, N)))
    for trial in (0, 49, 50, 99):
        alone = store.run(Coins(), {"a": Bonuses(float(BONUS[trial]))}, 60, 1, seed=trial)["a"]
        assert np.array_equal(total(made)[trial], total(alone)[0])
    again = store.run(Coins(), {"a": Bonuses(BONUS)}, 60, N)["a"]
    assert again.equal(made)


def test_the_key_depends_on_every_row(results):
    for change in (None, 0, 99):
        bonus = BONUS.clone()
        if change is not None:
            bonus[change] += 1
        store.run(Coins(), {"a": Bonuses(bonus)}, 5, N)
    assert len(list(results.glob("*.npz"))) == 6


def test_within_a_wrapper_and_in_the_problem():
    learner, problem = Doubling(Bonuses(BONUS)), Shifted(shift=BONUS)
    made = store.run(problem, {"a": learner}, 40, N)["a"]
    for trial in (3, 77):
        one = Doubling(Bonuses(float(BONUS[trial])))
        alone = play(one, Shifted(shift=float(BONUS[trial])), 40, range(trial, trial + 1))
        assert np.array_equal(total(made)[trial], total(alone)[0])


@pytest.mark.parametrize("rows", [1, 50, 99, 101])
@pytest.mark.parametrize("name", ["learner.bonus", "learner.base.bonus", "problem.shift"])
def test_another_length_is_refused_by_name(monkeypatch, results, name, rows):
    monkeypatch.setattr(Coins, "init", lambda *_, **__: pytest.fail("it began to play"))
    wrong = torch.ones(rows, dtype=torch.float64)
    learner = {"learner.bonus": Bonuses(wrong), "learner.base.bonus": Doubling(Bonuses(wrong))}.get(
        name, Index()
    )
    problem = Shifted(shift=wrong) if name == "problem.shift" else Coins()
    message = f"{name} must have one row per trial of the run, which is {N}, or .*, got {rows}$"
    with pytest.raises(ValueError, match=message):
        play(learner, problem, 5, N)
    with pytest.raises(ValueError, match=message.replace("learner.", r"learners\['a'\].", 1)):
        store.run(problem, {"a": learner}, 5, N)
    assert not list(results.glob("*"))
    if rows < N:
        with pytest.raises(
            ValueError, match=f"{name} must have one row per trial .* at least {N}, .*, got {rows}$"
        ):
            play(learner, problem, 5, range(50, N))


def test_each_learner_has_as_many_rows_as_trials():
    problem, counts = Shifted(shift=BONUS[:4]), {"a": 4, "b": 2}
    made = store.run(
        problem, {"a": Bonuses(BONUS[:4]), "b": Bonuses(BONUS[:2])}, 30, counts, chunk=2
    )
    assert np.array_equal(total(made["a"])[:2], total(made["b"]))
    with pytest.raises(
        ValueError, match=r"learners\['b'\].bonus must have one row .*, which is 2, .*, got 4$"
    ):
        store.run(problem, {"a": Bonuses(BONUS[:4]), "b": Bonuses(BONUS[:4])}, 30, counts, chunk=2)
    with pytest.raises(
        ValueError, match="problem.shift must have one row .*, which is 4, .*, got 2$"
    ):
        store.run(Shifted(shift=BONUS[:2]), {"a": Index(), "b": Index()}, 30, counts, chunk=2)


def test_resuming_keeps_the_rows(tmp_path):
    kept, made = (
        tmp_path / "kept.npz",
        play(Bonuses(BONUS), Shifted(shift=BONUS), 150, range(50, 60)),
    )
    with pytest.raises(ValueError, match="round 131"):
        play(Bonuses(BONUS), Shifted(shift=BONUS, broken=130), 150, range(50, 60), checkpoint=kept)
    with pytest.raises(ValueError, match="belongs to another run"):
        play(
            Bonuses(BONUS.flip(0)),
            Shifted(shift=BONUS, broken=130),
            150,
            range(50, 60),
            checkpoint=kept,
        )
    kept.unlink()
    play(Bonuses(BONUS), Shifted(shift=BONUS), 150, range(50, 60), checkpoint=kept, every=0)
    assert play(Bonuses(BONUS), Shifted(shift=BONUS), 150, range(50, 60), checkpoint=kept).equal(
        made
    )


def test_select_trials_finds_nested_settings():
    rows = torch.arange(12.0).reshape(6, 2)
    inner = Nested(rows=rows)
    config = Nested(base=inner, several=(inner, {"x": [inner]}, 3.0), rows=torch.tensor(5.0))
    part = select_trials(config, [4, 1], 6)
    places = [part.base, part.several[0], part.several[1]["x"][0]]
    for place in places:
        assert place.rows.tolist() == [[8.0, 9.0], [2.0, 3.0]] and torch.equal(
            place.doubled, 2 * place.rows
        )
    assert part.rows is config.rows and part.several[2] == 3.0 and config.base.rows is rows
    assert (
        select_trials(config, range(6), 6) is config
        and select_trials(Index(), range(3), 3) is not None
    )
    with pytest.raises(
        ValueError,
        match=r"learner.several\[1\]\['x'\]\[0\].rows must have one row .*, which is at least 8, .*, got 6$",
    ):
        select_trials(Nested(several=(0, {"x": [inner]})), range(5, 8))
    with pytest.raises(
        ValueError,
        match=r"^trials must be at least 0, because learner.rows has one row .*, got \[-1, 2\]",
    ):
        select_trials(inner, [-1, 2])


def test_scale_and_uniforms_of_generalized_linear_bandits():
    """Compare five trials in chunks of two with each trial alone."""
    link, generator = Bernoulli(), torch.Generator().manual_seed(3)
    scales = torch.tensor([0.0, 0.01, 0.1, 0.5, 1.0], dtype=torch.float64)
    uniforms = torch.rand(5, 80, dtype=torch.float64, generator=generator)
    learner, problem = (
        GLBOMD(link, 3.0, scale=scales),
        GivenUniforms(SphereArms(link, 3.0), uniforms),
    )
    made = store.run(problem, {"a": learner}, 80, 5, chunk=2)["a"]
    for trial in range(5):
        one = dataclasses.replace(learner, scale=float(scales[trial]))
        alone = play(
            one,
            GivenUniforms(SphereArms(link, 3.0), uniforms[trial : trial + 1]),
            80,
            1,
            seed=trial,
        )
        np.testing.assert_allclose(total(made)[trial], total(alone)[0], atol=1e-9)


def test_seeds_distinguish_trials():
    draw = Streams(40, [2, 7, 0]).at(3)
    assert draw.seeds.dtype == torch.int64 and draw.seeds.tolist() == [42, 47, 40]
    assert torch.equal(Streams(42, range(1)).at(-1).seeds, draw.seeds[:1])
    assert Streams(2**63 - 1, range(2)).at(0).seeds.tolist() == [2**63 - 1, -(2**63)]
