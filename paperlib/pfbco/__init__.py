"""PF: projection-free bandit convex optimization.

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
    "PFBCO",  # the paper's method with a known horizon
    "Doubling",  # wraps any learner here, so that it needs no horizon
    "practical",  # the same learner with a loss baseline and an estimated loss scale
    "BlockPFBCO",  # our addition: blocks of rounds, regret of order T^{3/4}, few oracle calls
    "FKM",  # bandit gradient descent, one projection per round
    "RegularizedLeader",  # the exact leader, which the method tracks; one projection per round
    "StochOCG",  # online conditional gradient: observes noisy gradients, not a bandit method
    "Optimizer",  # ask/tell on your own set
    "Task",  # the context of a round: set and bounds
    "polytope",  # {x: C x <= d}
    "oracle_set",  # a set given by a linear minimization oracle and an inscribed ball
    "Ball",
    "SubSimplex",
    "NuclearBall",
    "Spectrahedron",  # sets with oracles and projections
    "svec",
    "smat",  # symmetric matrices to the coordinates of the two sets above, and back
    "BallLinear",  # linear losses on the ball
    "BallQuadratic",  # quadratic losses on the ball
    "QuadraticPolytope",  # Figure 1a
    "MatrixCompletion",  # Figure 1c
]

CHOICES = [
    (
        "a convex loss on a set over which linear functions are easy to minimize but projections are expensive, with one observed loss per round",
        ["Optimizer", "Doubling(practical(PFBCO(1.0)))"],
        "measures the scale of the losses; with the theory's step sizes the center moves slowly",
    ),
    (
        "the same, with the paper's guarantee",
        ["Doubling(PFBCO(1.0))"],
        "needs a bound on the losses; its first informative horizon is given below",
    ),
    (
        "the same, and oracle calls are expensive",
        ["Doubling(BlockPFBCO())"],
        "our variant, with regret of order T^{3/4}",
    ),
    (
        "a set that is easy to project on",
        ["Doubling(FKM())"],
        "projects on balls, simplexes, and polytopes of a few dozen constraints; neither PF nor FKM has less regret on every set",
    ),
]
