"""What is recorded along runs, by name."""

from .state import (
    SHOT,
    dictionary_size,
    exact_dimension,
    expected_size,
    kept_pulls,
    noise,
    normalized_error,
    own_numbers,
    played,
    probes,
    radius,
    shrinkage,
    sketch_probes,
    unique_pulls,
    variance_ratio,
)
from .variance import WIDTH
