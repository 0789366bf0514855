"""Non-stationary bandit convex optimization: adapt to drift whose amount is unknown.

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
        "restarts where the observed rewards have changed; without need, too, where only the level moves; memory grows with the rounds",
    ),
    (
        "the same, and the best point moves slowly all the time, or nothing is known of how it moves",
        ['Optimizer(policy="discounted")', "DiscountedLeastSquares(64)"],
        "below MASTER's regret on the gallery's paths at T = 2^17, above it at some hundreds of rounds; the window is a guess, and it needs the curvature, the same in all directions",
    ),
    (
        "the same, with curvatures that differ by direction",
        ['Optimizer(policy="track", drift=0.001)', "KieferWolfowitz(100.0)", "SPSA"],
        "steps of constant size that never stop exploring; `Optimizer` computes the gain from `drift` (for equal curvatures), the learners take a gain",
    ),
    (
        "the same, with the paper's algorithm",
        ["practical(GradientAscent(warm_start=True))", "printed"],
        "MASTER, calibrated, and as the theorem has it; below, what that is worth",
    ),
]
