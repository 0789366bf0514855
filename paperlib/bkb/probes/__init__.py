"""What is recorded along runs, by name."""

from .state import (
    SHOT,
    ExactDimension,
    ExpectedSize,
    NormalizedError,
    Radius,
    Size,
    VarianceRatio,
    dictionary_size,
    noise,
    own_numbers,
    played,
    probes,
    shrinkage,
    sketch_probes,
    unique_pulls,
)
from .variance import WIDTH
