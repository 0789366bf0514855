"""What is recorded along runs, by name."""

from .along import own_numbers
from .dictionary import ExactDimension
from .state import (
    ExpectedSize,
    NormalizedError,
    Radius,
    Size,
    VarianceRatio,
    dictionary_size,
    noise,
    played,
    probes,
    shrinkage,
    sketch_probes,
    unique_pulls,
)
from .uneven import SHOT
from .variance import WIDTH
