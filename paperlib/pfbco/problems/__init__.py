"""The problems of the paper's experiments and theory, by name."""

from .ball import BallLinear, BallQuadratic
from .completion import MatrixCompletion
from .quadratic import QuadraticPolytope

__all__ = ["BallLinear", "BallQuadratic", "MatrixCompletion", "QuadraticPolytope"]
