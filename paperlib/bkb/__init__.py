"""Gaussian-process bandits with adaptive sketching.

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
    "BKB",  # the paper's method
    "LazyBKB",  # the same at a fraction of the cost
    "IncrementalBKB",  # BKB with a dictionary that is thinned, a heuristic
    "ContextualBKB",  # the same for arms that change from round to round
    "ExactGPUCB",  # exact GP-UCB by rank one on unique arms
    "UniqueGPUCB",  # exact GP-UCB refitted to unique arms with counters
    "NaiveGPUCB",  # exact GP-UCB refitted to the whole history
    "FixedDictionary",  # inducing arms chosen once
    "RFFUCB",  # random Fourier features
    "QFFUCB",  # quadrature Fourier features
    "LinearGPUCB",  # linear bandits
    "CBRAP",  # linear bandits on a random projection
    "SOFUL",  # linear bandits with Frequent Directions
    "UniformArm",  # reference: draws an arm
    "Optimizer",  # ask and tell, one arm or a batch
    "nystrom_posterior",  # the sketched posterior by hand
    "Confidence",  # radius rule and its constants, shared by learners that are compared
    "RBF",
    "Matern",
    "Linear",
    "FunctionKernel",  # kernels; the last takes any function
    "maximum_likelihood",  # lengthscales and noise from data
    "MaximumLikelihoodFit",  # what it returns
    "RKHS",  # functions of known norm
    "WarmRKHS",  # their best arm where a warm start does not look
    "GPDraw",  # draws of a Gaussian process
    "LinearArms",  # linear functions
    "Scripted",  # a warm start around a learner
]

CHOICES = [
    (
        "a fixed set of arms and a smooth function of unknown form, many hundreds of rounds or more",
        ["LazyBKB"],
        'a round costs arms times dictionary; `merge="arms"` misses fewer directions',
    ),
    (
        "the same, a few hundred rounds",
        ["ExactGPUCB"],
        "exact, and cheaper than sketching while there are few rounds",
    ),
    ("the same, as the paper has it", ["BKB"], "a new dictionary each round"),
    (
        "a smooth function, and other arms in every round",
        ["ContextualBKB"],
        "keeps the pulled points instead of counters",
    ),
    (
        "a function that is linear in the features, for comparison",
        ["LinearGPUCB", "SOFUL", "CBRAP"],
        "exact and sketched linear bandits on one arm set",
    ),
]
