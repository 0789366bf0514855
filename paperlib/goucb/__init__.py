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
from .model.space import Category, Integer, Real, Space
from .optimizer import Optimizer, minimize
from .problems.reference import Reference
from .problems.synthetic import Rastrigin, SigmoidSum, StyblinskiTang, Teacher

__all__ = [
    "BoTorchDefault",
    "Bounds",
    "BoxLeastSquares",
    "Category",
    "Constant",
    "FunctionModel",
    "GOUCB",
    "GP",
    "GradientDescent",
    "Integer",
    "Joint",
    "LevenbergMarquardt",
    "Linearized",
    "MAPSAAS",
    "Optimizer",
    "Optuna",
    "GPOptimizeAcqf",
    "Printed",
    "QLogNEI",
    "Rastrigin",
    "Real",
    "Reference",
    "RepeatBest",
    "ScikitOptimize",
    "SigmoidSum",
    "Simulated",
    "Space",
    "Sphere",
    "StyblinskiTang",
    "Teacher",
    "TrustRegion",
    "TuRBO",
    "TwoLayerNet",
    "UniformPoint",
    "algorithm1",
    "literal",
    "minimize",
    "practical",
]

CHOICES = [
    (
        "an expensive function of named settings (real numbers, integers or categories), ten to a hundred evaluations, a few seconds of computation per choice",
        ["Optimizer", "TuRBO"],
        "the default policy, turbo, is a trust region that moves on where GO-UCB stays",
    ),
    (
        "the same, and the computation per choice does not matter",
        ['Optimizer(policy="gp")', "GP"],
        "expected improvement with BoTorch's current prior; needs BoTorch",
    ),
    (
        "the same, and every evaluation counts: the cumulative regret, not the best point alone",
        ['Optimizer(policy="practical")', "practical"],
        "GO-UCB with a trust region, which the paper does not have; it stays near the incumbent and evaluates it again",
    ),
    (
        "a parametric model that is known to be correct, as the paper assumes",
        ["algorithm1", "FunctionModel"],
        "takes any function of parameters and a point; the theorem's bound is vacuous at sizes that can be run",
    ),
]
