"""GO-UCB: global optimization with a parametric model.

Source: Liu & Wang, "Global Optimization with Parametric Function Approximation" (ICML 2023).
"""

from ..maths.bounds import Bounds
from .learners.acquisition import Joint, Linearized, Sphere
from .learners.botorch_default import MAPSAAS, BoTorchDefault
from .learners.goucb import GOUCB, TrustRegion
from .learners.gp import GP, GPOptimizeAcqf, QLogNEI
from .learners.oracle import BoxLeastSquares, GradientDescent, LevenbergMarquardt
from .learners.presets import algorithm1, literal, practical
from .learners.radius import Constant, Printed, Simulated
from .learners.search import RepeatBest, UniformPoint
from .learners.sequential import Optuna, ScikitOptimize
from .learners.turbo import TuRBO
from .model.function import FunctionModel
from .model.network import TwoLayerNet
from .problems.reference import Reference
from .problems.synthetic import Rastrigin, SigmoidSum, StyblinskiTang, Teacher

__all__ = [
    "BoTorchDefault",
    "Bounds",
    "BoxLeastSquares",
    "Constant",
    "FunctionModel",
    "GOUCB",
    "GP",
    "GradientDescent",
    "Joint",
    "LevenbergMarquardt",
    "Linearized",
    "MAPSAAS",
    "Optuna",
    "GPOptimizeAcqf",
    "Printed",
    "QLogNEI",
    "Rastrigin",
    "Reference",
    "RepeatBest",
    "ScikitOptimize",
    "SigmoidSum",
    "Simulated",
    "Sphere",
    "StyblinskiTang",
    "Teacher",
    "TrustRegion",
    "TuRBO",
    "TwoLayerNet",
    "UniformPoint",
    "algorithm1",
    "literal",
    "practical",
]

CHOICES = [
    (
        "an expensive function of a few real numbers, ten to a hundred evaluations, a few seconds of computation per choice",
        ["TuRBO"],
        "a trust region that moves on where GO-UCB stays; for integers, categories and failures, tune with Optuna and `TuRBOSampler`; for a smooth function without failures, try Optuna's `GPSampler` first",
    ),
    (
        "the same, and every evaluation counts: the cumulative regret, not the best point alone",
        ["practical"],
        "GO-UCB with a trust region, which the paper does not have; it stays near the incumbent and evaluates it again; in Optuna `GOUCBSampler`",
    ),
    (
        "a parametric model that is known to be correct, as the paper assumes",
        ["algorithm1", "FunctionModel"],
        "takes any function of parameters and a point; the theorem's bound is vacuous at sizes that can be run",
    ),
]
