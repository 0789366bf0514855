"""Projection-free bandit convex optimization.

Source: Chen, Zhang & Karbasi, "Projection-Free Bandit Convex Optimization" (2019).
"""

from ..learners.wrapper import Doubling
from ..maths.matrices import NuclearBall, Spectrahedron, smat, svec
from ..maths.polytopes import polytope
from ..maths.sets import Ball, SubSimplex, oracle_set
from .learners.block import BlockPFBCO
from .learners.fkm import FKM
from .learners.ocg import StochOCG
from .learners.onepoint import practical
from .learners.pfbco import PFBCO, RegularizedLeader
from .model import Task
from .optimizer import Optimizer
from .problems.ball import BallLinear, BallQuadratic
from .problems.completion import MatrixCompletion
from .problems.quadratic import QuadraticPolytope

__all__ = [
    "PFBCO",  # the paper's method, of known horizon
    "Doubling",  # around any learner here: the same for any number of rounds
    "practical",  # the same learner with a baseline and a measured loss scale
    "BlockPFBCO",  # ours: blocks of rounds, regret T^{3/4}, few oracle calls
    "FKM",  # bandit gradient descent, a projection a round
    "RegularizedLeader",  # what the method tracks, a projection a round
    "StochOCG",  # online conditional gradient: hears noisy gradients, no bandit
    "Optimizer",  # ask and tell on one's own set
    "Task",  # a round's context: set and bounds
    "polytope",  # {x: C x <= d}
    "oracle_set",  # a set known by a linear oracle and a ball inside
    "Ball",
    "SubSimplex",
    "NuclearBall",
    "Spectrahedron",  # sets with oracles and projections
    "svec",
    "smat",  # symmetric matrices to the coordinates of the last two, and back
    "BallLinear",  # linear losses on the ball
    "BallQuadratic",  # quadratic losses on the ball
    "QuadraticPolytope",  # Figure 1a
    "MatrixCompletion",  # Figure 1c
]

CHOICES = [
    (
        "a convex loss on a set that is easy to minimize linear functions over and costly to project on, with one observed loss per round",
        ["Optimizer", "Doubling(practical(PFBCO(1.0)))"],
        "measures the scale of the losses; the theory's own rates hardly move at horizons in reach",
    ),
    (
        "the same, with the paper's guarantee",
        ["Doubling(PFBCO(1.0))"],
        "needs a bound on the losses; below, from which horizon on it says something",
    ),
    (
        "the same, and oracle calls are dear",
        ["Doubling(BlockPFBCO())"],
        "ours, regret of order T^{3/4}",
    ),
    (
        "a set that is easy to project on",
        ["Doubling(FKM())"],
        "polytopes of a few dozen constraints, balls, simplexes",
    ),
]
