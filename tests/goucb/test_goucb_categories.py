"""Compare the encodings of a category: one coordinate per option, or one ordered number."""

import numpy as np
import pytest

from paperlib.goucb.learners.turbo import TuRBO
from paperlib.goucb.model.space import Category, Integer, Real, Space
from paperlib.goucb.optimizer import minimize

SIDES = [Real("x", 0.0, 1.0), Real("y", 0.0, 1.0)]


def problem(seed):
    """Return four quadratic bowls in two numbers, one per option, in no order. The deepest has value 0, the others 0.3 and more."""
    rng = np.random.default_rng(1000 + seed)
    centers, levels = rng.random((4, 2)), 0.3 * rng.permutation(4)
    bowl = lambda x, y, option: 2 * np.square(centers[option] - [x, y]).sum() + levels[option]
    return lambda point: bowl(point["x"], point["y"], int(point["option"]))


def best_values(seeds):
    """Return the best of 20 values on each problem, by encoding. For comparison, an integer from 0 to 3 encodes the category as an ordered number.

    For ``range(20, 220)``, problems on which the encoding was not chosen, the means are 0.086 with one coordinate per option
    and 0.125 with an ordered number. The difference is -0.039 with a standard error of 0.014.
    """
    encodings = {"ordered": Integer("option", 0, 3), "one-hot": Category("option", [0, 1, 2, 3])}
    learner = TuRBO(8, fit_steps=20, gain=0.0)
    return {
        name: [
            minimize(problem(seed), Space([*SIDES, option]), 20, learner=learner, seed=seed).y
            for seed in seeds
        ]
        for name, option in encodings.items()
    }


@pytest.mark.slow
def test_a_coordinate_per_option_is_no_worse_than_an_ordered_number():
    """The first 20 problems alone do not establish the improvement, because it is about as large as its standard error."""
    best = best_values(range(20))
    difference = np.subtract(best["one-hot"], best["ordered"])
    assert difference.mean() < 2 * difference.std(ddof=1) / np.sqrt(len(difference)), best
