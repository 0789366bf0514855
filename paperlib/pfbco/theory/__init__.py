"""Numbers of the analysis; the statements stand in ``bounds``."""

from .constants import (
    Coefficients, KAPPA, KAPPA_PRINTED, Setting, TAIL, block_bound, coefficients, coefficients_printed, doubling_factor, estimate_step, fkm_bound,
    induction_margin, kappa_infinity, leader_bound, polynomial, psi, smoothed_quadratic, steps_bound, steps_total, tail_margin, theorem_1,
    theorem_1_printed, theorem_2, trivial_regret, unit_ball, worst_tracking,
)

__all__ = [
    "Coefficients", "KAPPA", "KAPPA_PRINTED", "Setting", "TAIL", "block_bound", "coefficients", "coefficients_printed", "doubling_factor",
    "estimate_step", "fkm_bound", "induction_margin", "kappa_infinity", "leader_bound", "polynomial", "psi", "smoothed_quadratic", "steps_bound",
    "steps_total", "tail_margin", "theorem_1", "theorem_1_printed", "theorem_2", "trivial_regret", "unit_ball", "worst_tracking",
]
