"""Environments with a moving maximizer and exactly known variation."""

from .drifts import Ramp, Rotation, Sinusoid, Triangle, Walk
from .grid import GridDrift
from .paths import Abrupt, Alternation, Dyadic, Level, Several, Stationary, Step
from .quadratic import QuadraticDrift

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
