"""The choice of the rounds to compare, and the round from which one learner needs less time than another."""

import numpy as np
import pytest

from companion.bkb.experiments.dictionary import crossover, from_seven, while_alike, while_small


def test_rounds_with_fewer_arms_than_the_square():
    every = np.arange(1, 41)
    # The condition holds for U = 1..24, and the last quarter of these rounds is six.
    assert while_small(np.full(40, 5), every).tolist() == [18, 19, 20, 21, 22, 23]
    assert while_small(np.full(40, 5), np.full(40, 9)).tolist() == list(range(30, 40))
    assert while_small(np.array([1, 2]), every[:2]).tolist() == [1]
    assert not len(while_small(np.ones(9), every[:9]))


def test_rounds_from_seven_times_on():
    assert from_seven(np.full(25, 3)).tolist() == [20, 21, 22, 23, 24]
    assert from_seven(np.append(np.full(23, 3), [9, 3])).tolist() == [24]
    assert not len(from_seven(np.full(5, 3))) and from_seven(np.zeros(3)).tolist() == [0, 1, 2]


def test_rounds_whose_dictionary_has_nearly_all_arms():
    # 9 > 8, 9 < 12.5
    assert while_alike(np.array([1, 2, 3, 3]), np.array([1, 2, 4, 5])).tolist() == [0, 1, 2]
    assert while_alike(np.full(70, 4), np.full(70, 4)).tolist() == list(range(20, 70))


@pytest.mark.parametrize(
    "first, other, when",
    [
        ([3, 3, 1, 1], [2, 2, 2, 2], 3),
        ([1, 1], [2, 2], 1),
        ([1, 3], [2, 2], None),
        ([2, 2], [2, 2], None),
        ([3, 1, 5], [2, 2], 2),
        # The expensive fourth round costs less than the cheap rounds before it saved.
        ([5, 1, 1, 3, 1, 1], [2] * 6, 2),
        # Here it costs more than they saved.
        ([5, 1, 1, 9, 1, 1], [2] * 6, 5),
        ([1.0] * 9 + [2], [3.0] * 9 + [1], 1),
        ([3] * 19 + [1], [2] * 20, None),  # a crossover in the last round does not count
    ],
)
def test_crossover(first, other, when):
    assert crossover(np.array([first], float), np.array([other], float)) == when


def test_crossover_of_growing_curves():
    t = np.arange(1.0, 101)
    # The result is the crossover of the median trial.
    assert crossover(np.full((3, 100), 30.5), np.stack([0.5 * t, t, 99 * t])) == 31
    slow = np.stack([t, t, t])
    slow[0, 0] = 1e9  # one slow round of one trial does not change the median
    assert crossover(np.full((3, 100), 30.5), slow) == 31
    assert crossover(np.full((3, 100), 30.5), np.stack([t, 0 * t, 0 * t])) is None
