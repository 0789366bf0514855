"""Public names of this room."""

from .state import ExpectedSize, Loss, NormalizedError, Radius, Size, VarianceRatio, dictionary_size, entrance, exact_variance, left_out, multiplicity, noise, own, played, played_variance, probes, redrawn, shrinkage, sketch_probes, unique_pulls
