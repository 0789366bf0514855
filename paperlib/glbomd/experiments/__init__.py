"""Public names of this room."""

from .cost import GROWTH, methods, slsqp_seconds
from .growth import crossing, ecolog_iterations, exceedance
from .settings import (
    INSTANCE, ONE_TRIAL, ONLINE, SCALES,
    covertype_controls, covertype_learners, paper_learners, trial_counts,
)
from .slsqp import TOLERANCE, against_certified

__all__ = [
    "GROWTH", "INSTANCE", "ONE_TRIAL", "ONLINE", "SCALES", "TOLERANCE",
    "against_certified", "covertype_controls", "covertype_learners", "crossing",
    "ecolog_iterations", "exceedance", "methods", "paper_learners", "slsqp_seconds", "trial_counts",
]
