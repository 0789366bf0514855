"""Numbers of the analysis; the statements stand in ``bounds``."""

from ..model.setting import Setting, setting
from .constants import (
    FORMS, RegretBound, RegretRow, SharpConstants, condition, covered, regret_bound, regret_row, ridge_condition, sharp_constants, trivial_regret,
)

__all__ = [
    "FORMS", "RegretBound", "RegretRow", "Setting", "SharpConstants", "condition", "covered", "regret_bound", "regret_row", "ridge_condition",
    "setting", "sharp_constants", "trivial_regret",
]
