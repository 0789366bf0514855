"""The problems of the paper's experiments and theory, by name."""

from .ball import BallLinear, BallQuadratic
from .completion import MatrixCompletion
from .portfolio import Portfolio
from .quadratic import QuadraticPolytope

__all__ = ["BallLinear", "BallQuadratic", "MatrixCompletion", "Portfolio", "QuadraticPolytope"]
