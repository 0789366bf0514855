"""What is recorded along runs, by name."""

from .dictionary import OFTEN, ExactDimension, entered
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
