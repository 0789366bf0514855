"""OFUL: linear bandits with confidence ellipsoids.

Source: Abbasi-Yadkori, Pal & Szepesvari, "Improved Algorithms for Linear Stochastic Bandits" (2011).
"""

from ..learners.reference import UniformArm
from .learners import OFUL, ConfidenceBall
from .problems import Circle, FreshArms

__all__ = [
    "OFUL",  # the paper's method
    "ConfidenceBall",  # Dani, Hayes & Kakade (2008)
    "UniformArm",  # reference: uniform random play
    "Circle",  # arms are directions of the plane, as in the paper's experiment
    "FreshArms",  # new random arms in each round
]

CHOICES = [
    (
        "rewards that are linear in the features, with Gaussian noise",
        ["OFUL"],
        "its confidence ellipsoid is derived for this model; pass `scale=0.1` to explore less than the theory requires",
    )
]
