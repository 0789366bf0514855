"""The problems of the paper's experiments and theory, by name."""

from .fixed import FixedArms
from .given import GivenUniforms
from .sphere import SphereArms

__all__ = ["FixedArms", "GivenUniforms", "SphereArms"]
