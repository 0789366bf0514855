"""What the notebooks on time and theory judge and print, of numbers that are known."""

import numpy as np
import pytest

from paperlib.core.trace import Trace
from paperlib.pfbco import PFBCO, BallLinear
from paperlib.pfbco.theory import bounds
from paperlib.pfbco.experiments import scaling, summaries
from paperlib.pfbco.problems.ball import BallQuadratic
from paperlib.play import play


def made(rounds, regret, **series):
    """A trace with these numbers."""
    regret = np.asarray(regret, float)
    return Trace(np.array(rounds), {"regret": regret, **series}, {}, np.zeros(len(rounds)), list(range(len(regret))), {})


# Growth ---------------------------------------------------------------------------------------------------

T = np.array([2**k for k in range(4, 12)])  # seven doublings: the first is not looked at


def test_a_falling_exponent():
    factor = np.linspace(0.5, 1.5, 20)[:, None]
    straight = summaries.falling(T, factor * T**0.8)
    assert (straight.estimate, straight.low, straight.high) == pytest.approx((0, 0, 0), abs=1e-9) and straight.n == 20
    bent = np.where(T <= 256, T**0.9, 256**0.9 * (T / 256) ** 0.7)  # 2^8 is in the middle of the last six doublings
    found = summaries.falling(T, factor * bent)
    assert (found.estimate, found.low, found.high) == pytest.approx((-0.2, -0.2, -0.2)) and "3 doublings" in found.method
    assert summaries.falling(T[:3], np.array([[1.0, 4.0, 8.0]] * 2), doublings=1).estimate == pytest.approx(-1)


def test_trials_are_resampled():
    found = summaries.falling(T, np.where(np.arange(20)[:, None] % 2, T**0.9, 10 * T**0.7))
    assert found.low < found.estimate < found.high


@pytest.mark.parametrize("horizons, width", [(T[:6], 6), ([16, 32, 64, 128, 256, 512, 1025], 7), (T[::-1], 8), (T, 7)], ids=["few", "not doubled", "falling", "columns"])
def test_other_grids_are_refused(horizons, width):
    with pytest.raises(ValueError, match="horizons"):
        summaries.falling(horizons, np.ones((4, width)))


# Seconds --------------------------------------------------------------------------------------------------

TIMED = {
    ("PF", "a"): np.array([[1e-6, 2e-6, 90e-6], [4e-6, 4e-6, 1e-6]]), ("FKM", "a"): np.array([[3e-6, 6e-6, 9e-6], [6e-6, 6e-6, 60e-6]]),
    ("StochOCG", "a"): np.full((2, 3), 1.5e-6),
}


def test_seconds_of_a_round():
    found = summaries.seconds(TIMED, "a")
    assert found.each == pytest.approx({"PF": 3, "FKM": 6, "StochOCG": 1.5}) and found.over == pytest.approx({"FKM": 2, "StochOCG": 0.5})
    assert str(found) == "     3.0      6.0      1.5        2.00       0.50"
    assert summaries.seconds(TIMED, "a", of=np.mean).each["PF"] == pytest.approx(102 / 6)
    batch = summaries.seconds(TIMED, "a", trials=50, names=("FKM", "PF"))
    assert batch.each == pytest.approx({"FKM": 0.12, "PF": 0.06}) and batch.over == pytest.approx({"PF": 0.5})


def test_ratios_by_solvers():
    timed = {("PF", "a"): np.full((2, 3), 1e-3), ("FKM, solver", "a"): np.full((2, 3), 6e-3), ("PF, solver", "a"): np.full((2, 3), 3e-3)}
    timed |= {("PF", "c"): np.full((2, 3), 1e-3), ("FKM, solver", "c"): np.full((2, 3), 5e-3)}
    found = summaries.by_solvers(timed, ["a", "c"])
    assert {setting: {name: x.estimate for name, x in over.items()} for setting, over in found.items()} == {"a": pytest.approx({"PF": 6, "PF, solver": 2}), "c": pytest.approx({"PF": 5})}
    assert summaries.by_solvers({}, {}) == {}


# Statements -----------------------------------------------------------------------------------------------


def test_parts_by_horizon():
    problem = BallLinear(2)
    recorded = {T: play(PFBCO(1.0), problem, T, 5, record="all", probes=scaling.KEPT) for T in (8, 16)}
    parts, throughout, at_end = summaries.parted(recorded, problem, 5, 0)
    assert list(parts) == [8, 16] and parts[16].regret.tolist() == recorded[16]["regret"][:, -1].tolist()
    assert [check.statement for check in throughout] == ["Decomposition", "Accumulated estimates"] and {check.verdict for check in throughout} == {"holds"}
    assert [check.inputs["T"] for check in at_end] == [8, 16]
    assert summaries.parted(recorded, problem, 5, 100)[1][0].verdict == "fails"  # the losses of other trials


class Cap(BallQuadratic):
    """Losses turned upside down."""

    def loss(self, world, t, y, draw=None):
        return -super().loss(world, t, y, draw)


def test_sets_and_losses_of_problems():
    found = summaries.of_problems({"a": BallLinear(3), "b": BallQuadratic(3)}, 4, 0)
    assert [check.verdict for check in found] == ["holds"] * 3 and found[2].held.size == 8
    assert [check.verdict for check in summaries.of_problems({"a": BallLinear(3), "b": Cap(3)}, 4, 0)] == ["holds", "holds", "fails"]


def test_averages(monkeypatch):
    assert [check.verdict for check in summaries.averages(10**5)] == ["holds", "holds"]
    one_point = bounds.one_point
    monkeypatch.setattr(bounds, "one_point", lambda *args: 1.1 * one_point(*args))
    assert [check.verdict for check in summaries.averages(10**5)] == ["holds", "fails"]


# Practical constants --------------------------------------------------------------------------------------


def runs():
    """Two trials of seven rounds: the last quarter is round 7."""
    rounds, sums = range(1, 8), lambda *trials: np.cumsum(trials, axis=1)
    center = sums([1.0] * 6 + [4.0], [1.0] * 6 + [2.0])
    return {
        "PF": made(rounds, sums([1.0] * 6 + [3.0], [1.0] * 6 + [3.0]), center=center), "PF, sham": made(rounds, sums([1.0] * 6 + [8.0], [2.0] * 6 + [4.0])),
        "FKM": made(rounds, sums([1.0] * 7, [1.0] * 7)),
    }


def test_the_last_quarter_of_each_learner():
    traces = runs()
    assert summaries.center_quarter(traces["PF"]).tolist() == [4, 2]
    found = summaries.late(traces)
    assert list(found) == ["PF", "FKM"]
    ours, fkm = found["PF"], found["FKM"]
    assert (ours.average, ours.quarter, ours.beyond.estimate, ours.above) == pytest.approx((9 / 7, 3, 0, 1))
    assert ours.control == pytest.approx(((14 / 7 + 16 / 7) / 2, 6)) and ours.share == summaries.learns(traces, "PF")
    assert (fkm.quarter, fkm.beyond.estimate, fkm.above, fkm.control, fkm.share) == (pytest.approx(1), pytest.approx(-2), 0, None, None)
    assert "+0.000" in str(ours) and "-2.000" in str(fkm) and "0.500" in str(ours) and "0.500" not in str(fkm)


def test_what_is_learned():
    found = summaries.learns(runs(), "PF")
    assert (found.estimate, found.low, found.high) == pytest.approx((0.5, 3 / 8, 3 / 4)) and "90 %" in found.method
