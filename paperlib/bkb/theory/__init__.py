"""Numbers of the analysis; the statements stand in ``bounds``."""

from .constants import (
    BEST_EPS, CHERNOFF, RegretRow, accuracy_failure, exact_horizon, exact_horizon_of_theory, failure, inflation, informative_for_good,
    potential_factor, qbar_practical, qbar_smallest, qbar_theory, qbar_tight, radius_worst, regret_bound, regret_printed, regret_row, regret_worst,
    size_expected, size_failure, size_printed, size_tight, sizes_failure, trivial_regret, validity,
)

__all__ = [
    "BEST_EPS", "CHERNOFF", "RegretRow", "accuracy_failure", "exact_horizon", "exact_horizon_of_theory", "failure", "inflation",
    "informative_for_good", "potential_factor", "qbar_practical", "qbar_smallest", "qbar_theory", "qbar_tight", "radius_worst", "regret_bound",
    "regret_printed", "regret_row", "regret_worst", "size_expected", "size_failure", "size_printed", "size_tight", "sizes_failure", "trivial_regret",
    "validity",
]
