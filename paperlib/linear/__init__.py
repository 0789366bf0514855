"""Linear bandits with a self-normalized confidence ellipsoid.

Source: Abbasi-Yadkori, Pal & Szepesvari, "Improved Algorithms for Linear Stochastic Bandits" (2011).
"""

from ..learners.reference import UniformArm
from .learners import OFUL, ConfidenceBall
from .problems import Circle, FreshArms

__all__ = [
    "OFUL",  # the paper's method
    "ConfidenceBall",  # Dani, Hayes & Kakade (2008)
    "UniformArm",  # reference: draws an arm
    "Circle",  # directions of the plane: the paper's experiment
    "FreshArms",  # fresh arms each round
]

CHOICES = [
    (
        "rewards that are linear in the features, with Gaussian noise",
        ["OFUL"],
        "the ellipsoid for that model",
    )
]
