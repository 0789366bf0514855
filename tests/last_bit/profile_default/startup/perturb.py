"""Executed by IPython at the start of each notebook kernel whose IPYTHONDIR is ``tests/last_bit``.

Two processors round the same sum differently, because they add its terms in different orders. This file imitates another
processor: it moves every non-integer reward and every result of the products in ``core.linalg`` by one unit in the last place.
The direction depends on the number's bits and on PAPERLIB_LAST_BIT, so a run can be repeated and equal numbers stay equal.
"""

import os

import numpy as np
import torch

from paperlib import play
from paperlib.core import linalg

PATTERN = np.int64(
    (2 * int(os.environ["PAPERLIB_LAST_BIT"]) + 1) * 0x1D872B41C5A3E96B & (1 << 63) - 1
)


def moved(x):
    """Return ``x`` with every non-integer entry replaced by one of its two neighbours in float64."""
    if isinstance(x, torch.Tensor):
        on_host = x.dtype == torch.float64 and x.device.type == "cpu"
        # the difference carries no gradient, so the derivative of the product stays exact
        return x + (torch.from_numpy(moved(x.detach().numpy())) - x).detach() if on_host else x
    if x.dtype != np.float64:
        return x
    bits = np.ascontiguousarray(x).view(np.int64)
    with np.errstate(over="ignore"):
        step = np.where(bits * PATTERN < 0, np.int64(1), np.int64(-1))
    still = (x == np.rint(x)) | ~np.isfinite(x)
    return np.where(still, x, (bits + step).view(np.float64))


def perturbed(function):
    """Return ``function`` with its result moved."""
    return lambda *args, **kwargs: moved(function(*args, **kwargs))


class Perturbed:
    """A problem whose non-integer feedback is moved."""

    def __init__(self, problem):
        self.problem = problem

    def __getattr__(self, name):
        return getattr(self.problem, name)

    def respond(self, *args):
        feedback, gap = self.problem.respond(*args)
        return moved(feedback), gap


# before any other module imports them by name
PRODUCTS = (
    "dot",
    "arm_dot",
    "arm_quadratic",
    "mahalanobis_norm",
    "matvec",
    "add_rank_one",
    "invert_spd",
    "log",
    "matmul",
    "add_outer",
    "divide_by_sqrt",
)
for product in PRODUCTS:
    setattr(linalg, product, perturbed(getattr(linalg, product)))
begin = play._Run.__init__
play._Run.__init__ = lambda run, learner, problem, *rest: begin(
    run, learner, Perturbed(problem), *rest
)
