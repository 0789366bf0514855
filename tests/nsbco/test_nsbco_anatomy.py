"""Tests of the figures of MASTER's anatomy: the schedule, the quantities of a run, and the placement of changes."""

import numpy as np
import pytest

from companion.figures import panels
from companion.nsbco.experiments import anatomy
from companion.nsbco.figures.anatomy import judge_stationary_regret
from companion.nsbco.proofs.schedule import expected_shares
from paperlib.learners.multiscale import Multiscale
from paperlib.nsbco import Abrupt, QuadraticDrift, probes
from paperlib.nsbco.learners.ascent import GradientAscent
from paperlib.nsbco.learners.presets import malg
from paperlib.play import play

# ---- the schedule -------------------------------------------------------------------------------------------


def test_drawn_schedule_equals_played_schedule():
    watch = {"order": probes.active_order, "live": probes.live_windows}
    run = play(malg(), QuadraticDrift(), 127, 4, 3, record="all", probes=watch)
    for n in range(7):
        here = slice(2**n - 1, 2 ** (n + 1) - 1)
        windows = anatomy.scheduled(n, range(3, 7))
        assert (anatomy.orders(windows) == run["order"][:, here]).all()
        for m, hit in enumerate(windows):
            assert (hit == run["live"][:, here][:, :: 2**m, m]).all()


def test_schedules_of_an_independent_computation():
    last = [2, 0, 0, 1, 3, 3, 0, 3, 1, 1, 4, 4, 0, 1, 2, 2]
    assert anatomy.orders(anatomy.scheduled(4, [0]))[0].tolist() == last
    windows = anatomy.scheduled(9, [0])
    assert [int(w.sum()) for w in windows] == [25, 13, 12, 6, 6, 4, 5, 2, 2, 1]
    rounds = np.bincount(anatomy.orders(windows)[0], minlength=10)
    assert rounds.tolist() == [25, 25, 44, 38, 76, 51, 181, 24, 48, 0]


def test_mean_shares_of_many_schedules_match_the_formula():
    order = anatomy.orders(anatomy.scheduled(8, range(2000)))
    found = np.stack([(order == m).mean(1) for m in range(9)], 1)
    assert found.sum(1) == pytest.approx(1.0)
    assert found.mean(0) == pytest.approx(expected_shares(8), abs=0.01)
    # the same fractions in another order do not agree
    assert np.abs(found.mean(0) - expected_shares(8)[::-1]).max() > 0.03


def test_spells_cover_a_block():
    order = np.array([2, 2, 0, 1, 1, 1, 0, 0])
    assert anatomy.spells(order) == [(0, 2, 2), (2, 1, 0), (3, 3, 1), (6, 2, 0)]


# ---- a run --------------------------------------------------------------------------------------------------


def test_the_run_of_the_figure():
    assert anatomy.RUN_PROBLEM.part([8], anatomy.RUN_HORIZON)[0].tolist() == [8985, 23923]


@pytest.fixture(scope="module")
def short():
    learner = Multiscale(GradientAscent(bonus=0.7), 0.3, 8.0)
    problem = QuadraticDrift(anatomy.RUN_PROBLEM.path, 1, environment=8)
    watch = anatomy.watched(learner) | {
        "block": lambda seen: seen.before.n,
        "order": probes.active_order,
    }
    return problem, play(learner, problem, 3000, 1, 0, record="all", probes=watch)


def test_restarts_occur_where_margins_reach_zero(short):
    problem, trace = short
    run = anatomy.first_trial(trace, problem, 0.3)
    assert (run.block == trace["block"][0]).all() and (run.order == trace["order"][0]).all()
    assert (run.U <= run.rbar).all()
    assert run.changes.tolist() == problem.path.changes(8, 3000).tolist()
    turned = np.flatnonzero(np.diff(run.theta)) + 1
    assert turned.tolist() == run.changes.tolist() and (run.best == 0.5).all()
    restarts = run.restarts
    assert len(restarts) == trace["report.restarts"][0] > 0
    assert {test for _, test, _ in restarts} <= {1, 2}
    ends = run.ends
    failed = ends.margin >= 0
    at = dict(zip(ends.rounds[failed], ends.order[failed]))
    assert {t for t, test, _ in restarts if test == 1} == set(at)
    for t, test, order in restarts:
        assert order == (at[t] if test == 1 else -1)
    tenth = anatomy.first_trial(trace, problem, 3.0).ends
    apart = (ends.margin - tenth.margin) * 2.0 ** (ends.order / 2)
    assert apart == pytest.approx(2.7)


def test_run_figure_is_plotted(short):
    problem, trace = short
    run = anatomy.first_trial(trace, problem, 0.3)
    fig, axes = panels(1, 4)
    dots = anatomy.run_column(axes[:, 0], run, (1001, 2000))
    inside = (run.ends.rounds >= 1001) & (run.ends.rounds <= 2000)
    assert len(dots.get_offsets()) == inside.sum() > 100
    words = {label for ax in fig.axes for label in ax.get_legend_handles_labels()[1]}
    assert {"change", "restart"} <= words


def test_block_figure_is_plotted():
    windows = anatomy.scheduled(5, [0])
    order = anatomy.orders(windows)[0]
    fig, axes = panels(1)
    anatomy.block_panel(axes[0, 0], [w[0] for w in windows], order)
    boxes = axes[0, 0].patches
    black = [box for box in boxes if box.get_linewidth() > 0.8]
    filled = [box for box in boxes if box.get_facecolor()[3] > 0]
    assert len(black) == sum(int(w.sum()) for w in windows)
    assert len(boxes) == 2**6 - 1 + len(filled)
    rounds = np.zeros(32, int)
    for box in filled:
        rounds[int(box.get_x()) : int(box.get_x() + box.get_width())] += 1
        assert order[int(box.get_x())] == round(box.get_y() + 0.36)
    assert (rounds == 1).all()


def test_table_is_plotted():
    fig, axes = panels(1)
    found = anatomy.heat_panel(axes[0, 0], {0.5: {1.0: 3.0, 2.0: 4.0}, 2.0: {1.0: 5.0, 2.0: 7.0}})
    assert found["values"].tolist() == [[3.0, 4.0], [5.0, 7.0]]
    assert [text.get_text() for text in axes[0, 0].texts] == ["3.00", "4.00", "5.00", "7.00"]
    anatomy.heat_panel(axes[0, 0], {1.0: {1.0: 0.0}})  # all values are zero


# ---- placement of changes -----------------------------------------------------------------------------------


def marks(horizon, depth=2):
    """Return the multiples of T / 2^depth and the first rounds 2^n - 1 of blocks, where a change would favor the schedule."""
    parts = horizon * np.arange(1, 2**depth) / 2**depth
    return np.unique(np.append(parts, 2.0 ** np.arange(int(horizon).bit_length()) - 1))


def dyadic(changes, horizon, depth=2):
    """Return whether each change is on one of the ``marks``."""
    return np.isin(changes, marks(horizon, depth))


def test_changes_at_dyadic_fractions_and_block_starts_are_flagged():
    T = 2**10
    flagged = [T // 4, T // 2, 3 * T // 4, T // 2 - 1, T // 4 - 1, 2**6 - 1]
    assert dyadic(np.array(flagged), T).all()
    assert not dyadic(np.array([T // 2 + 1, T // 8, 300, 3 * T // 4 - 1]), T).any()
    assert dyadic(np.array([T // 8]), T, depth=3).all()


def change_points(segments, horizon, seeds):
    return QuadraticDrift(Abrupt(segments)).part([*seeds], horizon)


CELLS = [(5, power) for power in range(12, 21)] + [(17, power) for power in range(12, 19)]
CELLS += [(segments, 17) for segments in (3, 4, 9, 33, 65)]


@pytest.mark.parametrize("segments, power", CELLS)
def test_changes_of_the_paper_profile_avoid_dyadic_fractions_and_block_starts(segments, power):
    """With the paper profile no change is on an eighth of T, and from 2^13 rounds on none is at the start of a block."""
    T, points = 2**power, change_points(segments, 2**power, range(2000, 2020))
    assert not np.isin(points, T * np.arange(1, 8) // 8).any()
    assert power < 13 or not dyadic(points, T).any()


def test_changes_of_the_shown_run_avoid_dyadic_fractions_and_block_starts():
    run = change_points(3, anatomy.RUN_HORIZON, [8])
    assert not dyadic(run, anatomy.RUN_HORIZON, depth=8).any()


def test_block_starts_match_the_marks():
    watch = {"block": lambda seen: seen.before.n}
    run = play(malg(), QuadraticDrift(), 200, 1, 0, record="all", probes=watch)
    begins = np.flatnonzero(np.diff(run["block"][0], prepend=-1))
    assert set(begins) <= set(marks(256)) and len(begins) == 8


def test_a_negative_stationary_regret_is_given_as_the_reason():
    judged = {}

    class Recorder:
        def judge(self, id, *statistic, reason=""):
            judged[id] = (statistic, reason)

        def conclude(self, id):
            pass

    horizons = (4096, 8192, 16384)
    grows = {T: np.full(5, T**0.5) for T in horizons}
    falls = {T: np.full(5, mean) for T, mean in zip(horizons, (50.0, 20.0, -159.0))}
    found = {("fast", "EGS"): grows, ("slow", "EGS"): falls, ("fast", "MASTER"): grows}
    judge_stationary_regret(Recorder(), found)
    (slope,), reason = judged["nsbco.C14.fast"]
    assert slope.estimate == pytest.approx(0.5) and reason == ""
    (slope,), reason = judged["nsbco.C14.slow"]
    assert not np.isfinite(slope.high) and reason == "the mean is negative, -159 at T = 2^14"
