"""Linear bandits with a self-normalized confidence ellipsoid.

Source: Abbasi-Yadkori, Pal & Szepesvari, "Improved Algorithms for Linear Stochastic Bandits" (2011).
"""

from ..core import Case
from ..reference import UniformArm
from ..styles import Style
from .confidence_ball import ConfidenceBall
from .oful import OFUL
from .problems import Circle, FreshArms

__all__ = [
    "OFUL",            # the paper's method
    "ConfidenceBall",  # Dani, Hayes & Kakade (2008)
    "UniformArm",      # reference: draws an arm
    "Circle",          # directions of the plane: the paper's experiment
    "FreshArms",       # fresh arms each round
]

CHOICES = [("rewards that are linear in the features, with Gaussian noise", ["OFUL"], "the ellipsoid for that model")]

STYLES = {
    "OFUL": Style("blue", "o", emphasis=True),
    "ConfidenceBall": Style("orange", "s"),
    "OFUL, error": Style("black", linestyle="--", label="observed error"),
}

_noise, _delta = {"noise": [0.0, -1.0, float("nan"), "large"]}, {"delta": [0.0, 1.5, -0.1, float("nan")]}
_shared = _noise | _delta | {"scale": [-1.0, float("inf")], "refresh": [0, 1.5]}

CASES = {
    "OFUL": Case(OFUL(0.1, 1.0), FreshArms(3, arms=5), _shared | {"norm_bound": [0.0, float("inf")], "ridge": [0.0, True]}),
    "OFUL, circle": Case(OFUL(0.1, 1.0, ridge=0.5, refresh=16), Circle(arms=7)),
    "ConfidenceBall": Case(ConfidenceBall(0.1), FreshArms(3, arms=5), _shared),
    "uniform": Case(UniformArm(), FreshArms(3, arms=5)),
}
