"""Tests of the comparison of restarts with changes, on hand-made runs and on a recorded regression run."""

import numpy as np
import pytest
from ns_runs import run

from companion.figures import panels
from companion.nsbco.experiments import regret
from companion.nsbco.experiments.regret import learner, problem, watch
from paperlib.play import play

HORIZON = 100


def against(restarts, changes, count=None):
    count = len(restarts) if count is None else count
    return regret.match_restarts(
        [np.array(restarts, int)], np.array([changes]), HORIZON, np.array([count])
    )


@pytest.mark.parametrize(
    "restarts, share, delays, needless",
    [
        ([], 0.0, [], 0),
        ([25, 61], 1.0, [5, 1], 0),
        (
            [20],
            0.0,
            [],
            1,
        ),  # after 20 rounds, 0 to 19, the change at round 20 was not observed
        ([21], 0.5, [1], 0),
        # before round 60 was observed, the restart can only be due to the first change
        ([60], 0.5, [40], 0),
        # one restart before any change, and two more after the first
        ([5, 25, 30, 31], 0.5, [5], 3),
        ([100], 0.5, [40], 0),  # a restart in the last round
    ],
)
def test_restarts_against_two_changes(restarts, share, delays, needless):
    found = against(restarts, [20, 60])
    assert found.share.tolist() == [share]
    assert found.delays.tolist() == delays
    assert found.needless.tolist() == [needless]


def test_restarts_beyond_the_log_count_as_unnecessary():
    assert against([25, 61], [20, 60], count=70).needless.tolist() == [68]


def test_restart_times_of_both_kinds_of_log():
    rows = np.zeros((2, 64, 3), int)
    rows[0, :2, 0], rows[0, :2, 1] = [7, 9], 1
    master = run([1, 2], log=rows, report_restarts=[2, 0])
    glr = run([1, 2], log=rows[:, :, 0], report_restarts=[2, 0])
    for trace in (master, glr):
        assert [x.tolist() for x in regret.restart_times(trace)] == [[7, 9], []]


def test_quartiles_of_delays():
    found = regret.Detections(np.array([1.0]), np.array([1, 2, 3, 4, 5]), np.zeros(1))
    assert regret.delay_quartiles(found)[:4] == (3.0, 2.0, 4.0, 5)


def test_detected_share_and_false_alarms_are_fractions_over_trials():
    found = regret.Detections(np.array([0.0, 1.0]), np.zeros(0), np.zeros(2))
    share = regret.detected_share(found)
    assert (share.estimate, share.low, share.high, share.n) == (0.5, 0.0, 1.0, 2)
    alarms = regret.false_alarms(run(np.ones(80), report_restarts=[3, *[0] * 79]))
    assert alarms.estimate == 1 / 80 and alarms.n == 80 and alarms.high > 0.05


@pytest.fixture(scope="module")
def played():
    cell = ("abrupt3", 2048)
    return {
        cell: {"GLR": play(learner("GLR"), problem("abrupt3"), 2048, 3, 5, probes=watch("GLR"))}
    }


def test_detections_are_compared_with_the_paths_of_the_run(played):
    """GLR restarts within a few rounds of each jump; with the change points of another seed the delays would be longer."""
    cell = ("abrupt3", 2048)
    found = regret.detections(played, "GLR", cell, 5)
    assert found.share.tolist() == [1.0] * 3 and found.delays.max() < 16
    assert regret.detections(played, "GLR", cell, 77).delays.max() > 16


def test_panels_show_detections_and_mark_their_absence(played):
    seen = {"GLR": {2048: regret.detections(played, "GLR", ("abrupt3", 2048), 5)}}
    level = {"GLR": {512: np.array([3, 5])}}
    _, axes = panels(3)
    numbers = regret.detection_panels(axes[0], seen, level)
    assert numbers["share"]["GLR"][2048].estimate == 1.0
    assert numbers["needless, level"]["GLR"][512].estimate == 4.0
    assert numbers["needless"]["GLR"][2048].estimate == 0.0
    delay = numbers["delay"]["GLR"][2048]
    assert axes[0, 1].get_ylim()[1] > delay.high >= delay.estimate and not axes[0, 1].texts
    nothing = regret.Detections(np.zeros(2), np.zeros(0, int), np.zeros(2))
    _, axes = panels(3)
    numbers = regret.detection_panels(
        axes[0], {"MASTER": {64: nothing}}, {"MASTER": {64: np.zeros(2)}}
    )
    assert numbers["delay"]["MASTER"] == {}
    assert [text.get_text() for text in axes[0, 1].texts] == ["none detected"]
