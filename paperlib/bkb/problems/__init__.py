"""The problems of the experiments and of the theory, by name."""

from .synthetic import RKHS, GPDraw, LinearArms, UnevenArms, WarmRKHS

__all__ = ["RKHS", "GPDraw", "LinearArms", "UnevenArms", "WarmRKHS"]
