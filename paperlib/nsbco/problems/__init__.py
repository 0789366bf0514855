"""Environments with a moving maximizer and exactly known variation."""

from .paths import (
    Abrupt,
    Alternation,
    Dyadic,
    Level,
    Ramp,
    Rotation,
    Several,
    Sinusoid,
    Stationary,
    Step,
    Triangle,
    Walk,
)
from .quadratic import GridDrift, QuadraticDrift

__all__ = [
    "Abrupt",
    "Alternation",
    "Dyadic",
    "GridDrift",
    "Level",
    "QuadraticDrift",
    "Ramp",
    "Rotation",
    "Several",
    "Sinusoid",
    "Stationary",
    "Step",
    "Triangle",
    "Walk",
]
