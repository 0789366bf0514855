"""The shared radius of learners that are compared, and statistics of their regret."""

import numpy as np
import pytest
from bkb_traces import trace

from companion.bkb.experiments.settings import RKHS_1D, confidence, exponent, regret_ratio
from companion.bkb.problems.real import TableArms
from paperlib import stats
from paperlib.bkb import Confidence


def test_confidence_takes_noise_and_norm_from_the_problem():
    line, table = RKHS_1D, TableArms("diabetes")
    assert confidence(line) == Confidence(line.noise, line.norm) and confidence(
        line
    ).lam == pytest.approx(0.01)
    assert confidence(table, 0.5) == Confidence(0.3, 3.0, scale=0.5)


def test_ratio_of_final_regrets():
    found = regret_ratio(trace([[1, 8], [0, 4]]), trace([[9, 2], [9, 4]]))
    assert found.estimate == 2 and (found.low, found.high) == (1, 4) and found.n == 2
    assert found == stats.ratio([8, 4], [2, 4], of="final regrets", resamples=2000)


def test_exponent_is_of_the_last_three_quarters():
    t = np.arange(1, 401)
    curve = np.where(t < 100, 50.0, 5 * t**0.5)
    found = exponent(trace([curve, 2 * curve]))
    assert found.estimate == pytest.approx(0.5) and found.low == pytest.approx(0.5) and found.n == 2
