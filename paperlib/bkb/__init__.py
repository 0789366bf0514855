"""BKB: Gaussian-process bandits with adaptive sketching.

Source: Calandriello, Carratino, Lazaric, Valko & Rosasco, "Gaussian Process Optimization with Adaptive Sketching:
Scalable and No Regret" (2019).
"""

from ..learners.reference import UniformArm
from ..learners.wrapper import Scripted
from ..maths.gp import RBF, FunctionKernel, Linear, Matern, MaximumLikelihoodFit, maximum_likelihood
from .learners.bkb import BKB
from .learners.contextual import ContextualBKB
from .learners.exact import ExactGPUCB, NaiveGPUCB, UniqueGPUCB
from .learners.features import CBRAP, QFFUCB, RFFUCB, LinearGPUCB
from .learners.fixed import FixedDictionary
from .learners.incremental import IncrementalBKB
from .learners.lazy import LazyBKB
from .learners.posterior import nystrom_posterior
from .learners.soful import SOFUL
from .model.confidence import Confidence
from .optimizer import Optimizer
from .problems import RKHS, GPDraw, LinearArms, WarmRKHS

__all__ = [
    "BKB",  # the paper's algorithm
    "LazyBKB",  # BKB that resamples its dictionary only when needed, at a fraction of the cost
    "IncrementalBKB",  # BKB with a dictionary that is thinned instead of resampled, a heuristic
    "ContextualBKB",  # BKB for arms that change from round to round
    "ExactGPUCB",  # exact GP-UCB with rank-one updates on the unique arms
    "UniqueGPUCB",  # exact GP-UCB refitted to the unique arms and their pull counts
    "NaiveGPUCB",  # exact GP-UCB refitted to the whole history
    "FixedDictionary",  # GP-UCB on inducing arms chosen once
    "RFFUCB",  # random Fourier features
    "QFFUCB",  # quadrature Fourier features
    "LinearGPUCB",  # linear bandits
    "CBRAP",  # linear bandits on a random projection
    "SOFUL",  # linear bandits with Frequent Directions
    "UniformArm",  # reference: draws an arm uniformly in each round
    "Optimizer",  # ask/tell interface, one arm or a batch
    "nystrom_posterior",  # the sketched posterior without a learner
    "Confidence",  # radius rule and its constants, shared by learners that are compared
    "RBF",
    "Matern",
    "Linear",
    "FunctionKernel",  # kernels; the last one wraps any function
    "maximum_likelihood",  # fits lengthscales and noise to data
    "MaximumLikelihoodFit",  # the result of maximum_likelihood
    "RKHS",  # functions of known norm
    "WarmRKHS",  # RKHS functions whose best arm is outside the warm start
    "GPDraw",  # draws of a Gaussian process
    "LinearArms",  # linear functions
    "Scripted",  # a learner with given first actions (a warm start)
]

CHOICES = [
    (
        "a fixed set of arms and a smooth function of unknown form, many hundreds of rounds or more",
        ["LazyBKB"],
        'the time per round is proportional to the number of arms times the size of the dictionary; with `merge="arms"` the dictionary is larger, and represents the function better',
    ),
    (
        "the same, a few hundred rounds",
        ["ExactGPUCB"],
        "exact, and cheaper than sketching while the dictionary would hold most of the pulled arms",
    ),
    ("the same, with the paper's algorithm", ["BKB"], "samples a new dictionary in every round"),
    (
        "a smooth function, and different arms in every round",
        ["ContextualBKB"],
        "stores the pulled points instead of counts per arm",
    ),
    (
        "a function that is linear in the features, for comparison",
        ["LinearGPUCB", "SOFUL", "CBRAP"],
        "exact and sketched linear bandits on one arm set",
    ),
]
