"""Functions behind the notebooks' cells, in the cases that the quick profile never runs."""

from types import SimpleNamespace

import numpy as np
import pytest

from companion.goucb.claims import CLAIMS, CLASSIFIERS, DATA
from companion.goucb.experiments import tuning as runs_of_tuning
from companion.goucb.experiments.settings import CONTROLS, PAPER, functions
from companion.goucb.figures import synthetic, tuning
from paperlib.core.trace import Trace

SIZES = tuning.Sizes(n=8, rounds=64, folds=5, designs=1, field_designs=1)
TASKS = [f"{name}.{kind}" for name in DATA for kind in CLASSIFIERS]


class Judge:
    """A study that stores the ids of the claims that it judges, and of the claims that were not run."""

    def __init__(self):
        self.judged, self.left_out = [], {}

    def judge(self, id, statistic, reason=""):
        assert np.isfinite(statistic[0])
        self.judged.append(id)
        return SimpleNamespace(id=id, verdict="holds")

    def not_run(self, id, reason):
        self.left_out[id] = reason
        return SimpleNamespace(id=id, verdict="not run")


def plain(regrets):
    """Return a run of one round with these regrets."""
    regret = np.asarray(regrets, float)[:, None]
    return Trace(np.array([1]), {"regret": regret}, {}, np.zeros(1), list(range(len(regret))), {})


def test_incumbent_start_is_judged_on_the_paired_runs():
    """N1 compares 3 with 1 in units of 10, and N2 compares 8 with 10."""
    runs = {
        f: {"GO-UCB, uniform start": plain([8, 8]), "uniform": plain([10, 10])}
        for f in synthetic.PAPERS
    }
    paired = {
        f: {"GO-UCB": plain([3] * 3), "repeat-best": plain([1] * 3), "uniform": plain([10] * 3)}
        for f in synthetic.PAPERS
    }
    found = {}
    study = SimpleNamespace(judge=lambda id, statistic, reason: found.update({id: statistic}))
    synthetic.judge_twins(study, runs, paired)
    assert [(id, x.estimate, x.n) for id, x in found.items()] == [
        ("goucb.N1", pytest.approx(0.2), 3),
        ("goucb.N2", pytest.approx(0.2), 2),
    ]


def test_maxima_have_the_trials_of_their_function():
    settings = functions(2)
    counts = dict(zip(settings, (2, 3, 4, 5)))
    tops = synthetic.find_maxima(settings, counts, 0)
    # The maximum of f1 to f3 is the same in all trials.
    assert {f: len(top) for f, top in tops.items()} == {"f1": 1, "f2": 1, "f3": 1, "teacher": 5}


def test_the_table_has_the_trials_of_each_function(capsys):
    setting = functions(2)["f1"]._replace(n=1)
    series = {"regret": np.ones((3, 2)), "best": np.zeros((3, 2))}
    run = Trace(np.array([1, 2]), series, {}, np.zeros(2), [0, 1, 2], {})
    synthetic.print_table({"f1": {"uniform": run}}, {"f1": setting}, {"f1": np.ones(1)})
    assert capsys.readouterr().out.startswith(f"f1, n = 1, T = {setting.T}, 3 trials\n")


def tuned(rng):
    """Return the regret of a run with random accuracies, as ``experiments.tuning.regrets`` needs it."""
    accuracy = 0.9 + 0.05 * rng.random((SIZES.folds, SIZES.total))
    rounds = np.arange(1, SIZES.total + 1)
    series = {"regret": accuracy.cumsum(1), "best": np.maximum.accumulate(accuracy, 1)}
    return Trace(rounds, series, {}, rounds * 1e-3, list(range(SIZES.folds)), {"seed": 0})


@pytest.fixture
def found():
    """Task -> learner -> trace with regrets, for all tasks and the paper's methods."""
    rng = np.random.default_rng(0)
    names = [*PAPER, tuning.OURS, *CONTROLS, tuning.RIVAL]
    return {
        task: runs_of_tuning.regrets({name: tuned(rng) for name in names}, SIZES.folds)
        for task in TASKS
    }


def test_each_claim_on_tuning_is_judged_once_with_the_papers_data_and_methods(found):
    study = Judge()
    judged = tuning.judge_paper_claims(study, found, {}, SIZES, decides=True)
    tuning.judge_our_claims(study, found, SIZES.folds, decides=True)
    declared = {c.id for c in CLAIMS if c.notebook == "goucb_3_tuning" and not c.parts}
    assert sorted(study.judged) == sorted(declared) and not study.left_out
    assert {task for task, _ in judged} <= set(TASKS)


def test_claims_on_tuning_are_not_run_without_the_papers_data(found):
    study = Judge()
    notes = {"breast.boosting": "on other data"}
    judged = tuning.judge_paper_claims(study, found, notes, SIZES, decides=False)
    together = tuning.judge_our_claims(study, found, SIZES.folds, decides=False)
    assert not study.judged and len(study.left_out) == len(judged) + len(together)
    assert study.left_out["goucb.C7.boosting"] == "on other data"
    assert study.left_out["goucb.C8"] == tuning.LEFT_OUT
    assert tuning._decided(together) == []


def test_the_outcomes_of_phase_1_have_the_number_of_paired_trials():
    setting = functions(12)["f1"]
    rounds, top = np.arange(1, 31), setting.problem.maximum
    regret = np.stack([np.full(30, 9.0), np.zeros(30), np.zeros(30)]).cumsum(1)
    best = top - np.diff(regret, axis=1, prepend=0.0)
    trace = Trace(rounds, {"regret": regret, "best": best}, {}, rounds * 1e-3, [0, 1, 2], {})
    drawn = {"best": np.array([0.0, 9.0]), "uniform": np.array([9.0, 9.0])}
    paired = {"GO-UCB": trace, "repeat-best": trace}
    phase = synthetic.summarize_first_phase(drawn, paired, setting)
    assert (phase.bad, phase.still, phase.trials) == (1, 1, 3)
    assert phase.poor.estimate == 0.5 and phase.limit == pytest.approx(0.1)
    assert phase.stuck.startswith("there were 1 such trials among 3")


def test_a_start_with_the_name_of_a_control_is_drawn_separately():
    """The controls have three trials and the starts two, therefore the third trial is not drawn."""
    rounds = np.arange(1, 3)

    def ended(*final):
        regret = np.array([[0.0, x] for x in final])
        return Trace(rounds, {"regret": regret}, {}, rounds * 1e-3, [*range(len(final))], {})

    started = {"f1": {"uniform": ended(3.0, 5.0)}}
    runs = {"f1": {name: ended(30.0, 30.0, 0.0) for name in CONTROLS}}
    drawing = synthetic.draw_starts(started, runs, {}, 2, [])
    found = drawing.numbers["f1"]
    assert found["dots"]["uniform"]["estimate"] == 4.0
    assert {name: x["estimate"] for name, x in found["lines"].items()} == dict.fromkeys(
        CONTROLS, 30
    )
    drawn = [line.get_xdata().tolist() for line in drawing.fig.axes[0].lines]
    assert [4.0] in drawn and [30.0] in drawn


def test_ranks_are_drawn_from_the_smallest_to_the_largest(found):
    few = {task: {x: traces[x] for x in (*CONTROLS, tuning.OURS)} for task, traces in found.items()}
    drawing = tuning.draw_ranks(few, SIZES, "")
    for ax, ranks in zip(drawing.fig.axes, drawing.numbers.values()):
        assert sorted(ranks) == sorted([*CONTROLS, tuning.OURS])
        assert [*ranks.values()] == sorted(ranks.values())
        dots = [line.get_xdata()[0] for line in ax.lines if len(line.get_xdata()) == 1]
        assert dots == [*ranks.values()]
