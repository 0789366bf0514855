"""Public names of this room."""

from .cost import (
    GROWTH,
    crossing,
    ecolog_iterations,
    exceedance,
    methods,
    slsqp_seconds,
)
from .settings import (
    INSTANCE,
    ONE_TRIAL,
    ONLINE,
    SCALES,
    covertype_controls,
    covertype_learners,
    paper_learners,
    trial_counts,
)
from .slsqp import TOLERANCE, against_certified
