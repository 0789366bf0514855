"""What one coordinate per option gains over a category as one ordered number."""

import numpy as np
import pytest

from paperlib.goucb.learners.turbo import TuRBO
from paperlib.goucb.model.space import Category, Integer, Real, Space
from paperlib.goucb.optimizer import minimize

SIDES = [Real("x", 0.0, 1.0), Real("y", 0.0, 1.0)]


def problem(seed):
    """Four bowls of two numbers, one for each option, in no order: the deepest has value 0, the others 0.3 and more."""
    rng = np.random.default_rng(1000 + seed)
    centers, levels = rng.random((4, 2)), 0.3 * rng.permutation(4)
    bowl = lambda x, y, option: 2 * np.square(centers[option] - [x, y]).sum() + levels[option]
    return lambda point: bowl(point["x"], point["y"], int(point["option"]))


@pytest.mark.slow
def test_a_coordinate_per_option_is_no_worse_than_an_ordered_number():
    """Compare the best of 20 values on 20 problems; an integer from 0 to 3 is the category as an ordered number.

    A gain is not established at this size: the difference is about its standard error. The test fails if one coordinate per
    option is worse by more than two standard errors.
    """
    encodings = {"ordered": Integer("option", 0, 3), "one-hot": Category("option", [0, 1, 2, 3])}
    learner = TuRBO(8, fit_steps=20, gain=0.0)
    best = {
        name: [
            minimize(problem(seed), Space([*SIDES, option]), 20, learner=learner, seed=seed).y
            for seed in range(20)
        ]
        for name, option in encodings.items()
    }
    difference = np.subtract(best["one-hot"], best["ordered"])
    assert difference.mean() < 2 * difference.std(ddof=1) / np.sqrt(len(difference)), best
