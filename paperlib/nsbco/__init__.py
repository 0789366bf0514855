"""MASTER: bandit convex optimization under unknown drift.

Source: Wang, "On Adaptivity in Non-stationary Stochastic Optimization With Bandit Feedback" (2025).
"""

from ..learners.multiscale import Multiscale
from .learners.ascent import GradientAscent
from .learners.bob import BanditOverBandit
from .learners.egs import EGS
from .learners.exp3 import Exp3IX
from .learners.glr import GLR
from .learners.gradient import FullInformation, StaticBaseline
from .learners.kiefer import KieferWolfowitz
from .learners.least_squares import DiscountedLeastSquares, SlidingWindowLeastSquares
from .learners.presets import Calibration, calibrate, malg, practical, printed, single_scale
from .learners.reduction import StationaryToWeak
from .learners.restarted import Restarted
from .learners.spsa import SPSA
from .model.task import Task
from .optimizer import Domain, Optimizer, ball, box
from .problems.paths import (
    Abrupt,
    Alternation,
    Level,
    Ramp,
    Rotation,
    Sinusoid,
    Stationary,
    Step,
    Triangle,
    Walk,
)
from .problems.quadratic import GridDrift, QuadraticDrift

__all__ = [
    "EGS",
    "GLR",
    "SPSA",
    "Abrupt",
    "Alternation",
    "BanditOverBandit",
    "Calibration",
    "DiscountedLeastSquares",
    "Domain",
    "Exp3IX",
    "FullInformation",
    "GradientAscent",
    "GridDrift",
    "KieferWolfowitz",
    "Level",
    "Multiscale",
    "Optimizer",
    "QuadraticDrift",
    "Ramp",
    "Restarted",
    "Rotation",
    "Sinusoid",
    "SlidingWindowLeastSquares",
    "Stationary",
    "StationaryToWeak",
    "Step",
    "StaticBaseline",
    "Task",
    "Triangle",
    "Walk",
    "ball",
    "box",
    "calibrate",
    "malg",
    "practical",
    "printed",
    "single_scale",
]

CHOICES = [
    (
        "a noisy payoff to maximize over a ball or a box, one observed value per round, with a maximizer that jumps from time to time",
        ["Optimizer", "GLR"],
        "restarts when the reward distribution changes, also without need when only its level shifts; memory grows with the number of rounds; in the arena `SPSA` has about the same regret before tuning, and the comparison with `KieferWolfowitz`, both tuned, depends on the trials for tuning",
    ),
    (
        "the same, and the maximizer moves slowly all the time, or you do not know how it moves",
        ['Optimizer(policy="discounted")', "DiscountedLeastSquares(64)"],
        "less regret than MASTER on abrupt and smooth paths at T = 2^17, more at some hundreds of rounds; the window is a guess, and you must know the curvature, equal in all directions",
    ),
    (
        "the same, with a curvature that depends on the direction",
        ['Optimizer(policy="track", drift=0.001)', "KieferWolfowitz(100.0)", "SPSA"],
        "constant step sizes that never stop exploring; `Optimizer` computes the gain from `drift` (for equal curvatures), the learners are given a gain",
    ),
    (
        "the same, with the paper's algorithm",
        ["practical(GradientAscent(warm_start=True))", "printed"],
        "MASTER with calibrated constants, and with the theorem's; see below",
    ),
]
