"""Public names of this room; ``cost``, a command, is imported by its file."""

from .comparison import crossover, from_seven, while_alike, while_small
from .dictionary import ALPHAS, accuracy, excess, expected_share, falls, often_minus_once
from .parity import parity_learners, parity_ratios
from .real_arms import ARM_SETS, arm_sets, real_learners
from .regret import RESAMPLES, exponent, regret_ratio
from .settings import dense_1d, dense_2d_hard, reference, rkhs_1d, rkhs_2d
from .variance import curves, least_favorable, measures, worst_ratio
from .warm_start import LATE, since, stuck, warm_learners, watched

__all__ = [
    "ALPHAS", "ARM_SETS", "LATE", "RESAMPLES", "accuracy", "arm_sets", "crossover", "curves",
    "dense_1d", "dense_2d_hard", "excess", "expected_share", "exponent", "falls", "from_seven",
    "least_favorable", "measures", "often_minus_once", "parity_learners", "parity_ratios",
    "real_learners", "reference", "regret_ratio", "rkhs_1d", "rkhs_2d", "since", "stuck",
    "warm_learners", "watched", "while_alike", "while_small", "worst_ratio",
]
