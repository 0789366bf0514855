"""The problems with the numbers of the experiments, ours: the paper has no regret experiment.

With each goes the factor on the radius that its figures use, where that is not 1. Learners take F
and xi from the problem, lambda = xi^2 and delta = .1.
"""

from paperlib.bkb.problems.synthetic import RKHS


def rkhs_1d() -> RKHS:
    """200 arms in [0, 1], a rough f and little noise."""
    return RKHS(200, 1, gamma=100.0, norm=3.0, noise=0.1)


def from_smooth_to_rough() -> dict[str, RKHS]:
    """Functions of one norm on the arms of ``rkhs_1d``, which is the last: the rougher, the more directions to learn."""
    known = {"arms": 200, "dim": 1, "norm": 3.0, "noise": 0.1}
    return {f"gamma = {gamma:g}": RKHS(**known, gamma=gamma) for gamma in (3.0, 10.0, 30.0, 100.0)}


def rkhs_2d() -> RKHS:
    """500 arms in the unit square, factor .3."""
    return RKHS(500, 2, gamma=20.0, norm=3.0, noise=0.3)


def dense_1d(arms: int) -> RKHS:
    """Many arms in [0, 1], a smooth f and much noise: a large sample of few directions."""
    return RKHS(arms, 1, gamma=10.0, norm=3.0, noise=1.0)


def dense_2d_hard(arms: int) -> RKHS:
    """Many arms in the unit square, a rough f and little noise, factor .2.

    There are nearly as many directions as played arms.
    """
    return RKHS(arms, 2, gamma=30.0, norm=3.0, noise=0.1)


def reference() -> RKHS:
    """64 arms on a grid of [0, 1]: where the bounds are compared with what happens."""
    return RKHS(64, 1, gamma=100.0, norm=3.0, noise=0.1, grid=True)
