"""Functions behind the notebooks' cells, in the cases that the quick profile never runs."""

from types import SimpleNamespace

import numpy as np
import pytest

from companion.pfbco.claims import CLAIMS
from companion.pfbco.experiments import losses
from companion.pfbco.figures import growth, portfolio, run_time, theory
from companion.store.seconds import Seconds
from paperlib.core.trace import Trace

DIMS = (1, 2, 3, 5)
PROBLEMS = ("a", "b, synthetic", "c, printed")


class Judge:
    """A study that stores the statistics of the claims that it judges, and the reasons of the claims that were not run."""

    def __init__(self):
        self.judged, self.reasons, self.left_out = {}, {}, {}

    def judge(self, id, statistic, n=None, reason=""):
        assert id in {claim.id for claim in CLAIMS}
        self.judged[id], self.reasons[id] = statistic, reason
        return SimpleNamespace(id=id)

    def not_run(self, id, reason):
        self.left_out[id] = reason
        return SimpleNamespace(id=id)


@pytest.fixture
def study():
    return Judge()


def powers(exponents, horizons, trials=5):
    """Return regrets of 5 trials, R x T', that grow with these exponents between the horizons."""
    steps = np.r_[0.0, np.asarray(exponents) * np.diff(np.log(horizons))]
    return np.exp(steps.cumsum()) * np.linspace(1, 1.1, trials)[:, None]


def summed(loss, trials=50, rounds=63):
    """Return a trace with the same loss in every round."""
    at = np.arange(1, rounds + 1)
    total = loss * at * np.linspace(1, 1.1, trials)[:, None]
    series = {"regret": total, "center": total}
    return Trace(at, series, {}, at * 1e-3, list(range(trials)), {"seed": 0})


def test_falling_slopes_are_judged_from_horizons_of_2_to_the_15_on(study):
    horizons = [2**k for k in range(4, 16)]
    regret = {("PF", n): powers([0.9] * 8 + [0.8] * 3, horizons) for n in DIMS}
    growth.judge_falling(study, regret, horizons)
    assert study.judged["pfbco.C7.falling"].estimate == pytest.approx(-0.1)
    growth.judge_falling(study, regret, horizons[:-1])
    assert "up to 16384 are too short" in study.left_out["pfbco.C7.falling"]


def test_exponents_are_compared_at_long_horizons_only(study):
    far = [2**k for k in range(16, 20)]
    runs = lambda slope: {
        T: SimpleNamespace(last=lambda x=x: x)
        for T, x in zip(far, powers([slope] * 3, far).T, strict=True)
    }
    growth.judge_order(study, {"PF": runs(0.8), "FKM": runs(0.75)})
    assert study.judged["pfbco.C7.order"].estimate == pytest.approx(0.05)
    assert study.reasons["pfbco.C7.order"] == "separate slopes: PF 0.800, FKM 0.750"
    growth.judge_order(study, {"PF": {}, "FKM": {}})
    assert "2^19" in study.left_out["pfbco.C7.order"]


def test_the_block_variant_is_judged_where_it_ran(study):
    horizons = [2**k for k in range(4, 11)]
    growth.judge_block(study, {("Block", 2): powers([0.75] * 6, horizons)}, horizons)
    assert study.judged["pfbco.N3.n2"].estimate == pytest.approx(0.75)
    assert {*study.left_out} == {"pfbco.N3.n1", "pfbco.N3.n5"}


def test_practical_constants_are_judged_with_50_trials(study):
    traces = {"PF": summed(2.0), "PF, practical": summed(1.0), "PF, practical, sham": summed(2.0)}
    theory.judge_practical(study, traces)
    assert study.judged["pfbco.N2"].estimate == pytest.approx(0.5)
    few = {name: summed(1.0, trials=49) for name in traces}
    theory.judge_practical(study, few)
    assert "49 trials are too few" in study.left_out["pfbco.N2"]


def test_the_longer_run_is_judged_if_there_is_one(study):
    traces = {"PF": summed(2.0), "PF, practical": summed(1.0), "PF, practical, sham": summed(2.0)}
    theory.judge_longer(study, traces | {"PF, warm": summed(0.5)})
    assert study.judged["pfbco.N2.long"].estimate == pytest.approx(0.5)
    assert study.judged["pfbco.N2.center"].estimate == pytest.approx(0.25)
    theory.judge_longer(study, None)
    assert study.left_out.keys() == study.judged.keys()


def test_claims_on_portfolios_are_judged_with_both_real_tables_only(study):
    runs, statistic = {"one": {"PF": summed(1.0)}}, lambda x: losses.decline(x["PF"])
    portfolio.judge_tables(study, "no close prices", "pfbco.C8.b", runs, statistic)
    assert study.left_out == {"pfbco.C8.b": "no close prices"} and not study.judged
    portfolio.judge_tables(study, "", "pfbco.C8.b", runs, statistic, "a remark")
    assert study.reasons == {"pfbco.C8.b": "a remark"}


def seconds(*names):
    """Return run times of 3 repetitions of 4 rounds; the second learner takes twice as long as the first."""
    return Seconds(
        {
            (name, setting): np.full((3, 4), float(i + 1))
            for i, name in enumerate(names)
            for setting in PROBLEMS
        },
        {},
    )


def test_run_times_are_judged_relative_to_pf(study):
    times = seconds("PF", "StochOCG")
    run_time.judge_ratios(study, "pfbco.C5.{}", times, "StochOCG", PROBLEMS, "synthetic")
    assert {id: x.estimate for id, x in study.judged.items()} == dict.fromkeys(
        ("pfbco.C5.a", "pfbco.C5.b", "pfbco.C5.c"), 2.0
    )
    assert [*study.reasons.values()] == ["", "synthetic prices", ""]


def test_claims_on_solvers_are_judged_if_they_are_installed(study):
    run_time.judge_solvers(study, Seconds({}, {}), PROBLEMS, "")
    assert {*study.left_out.values()} == {"generic solvers are not installed"}
    run_time.judge_solvers(study, seconds("PF", "FKM, solver"), PROBLEMS, "synthetic")
    assert {x.estimate for x in study.judged.values()} == {2.0}
    assert study.reasons["pfbco.C4.solver.b"] == "compared with PF, synthetic prices"


def test_single_calls_are_judged_relative_to_the_oracle(study):
    called = Seconds(
        {("lmo", "c, printed"): np.ones((1, 7)), ("project", "c, printed"): np.full((1, 7), 3.0)},
        {},
    )
    run_time.judge_calls(study, called)
    assert study.judged == {"pfbco.C10.specialized": 3.0}
    assert {*study.left_out} == {"pfbco.C10.solver"}
