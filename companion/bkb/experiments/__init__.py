"""Public names of this room; ``cost``, a command, is imported by its file."""

from .comparison import crossover, from_seven, while_alike, while_small
from .dictionary import (
    ALPHAS,
    accuracy,
    excess,
    expected_share,
    falls,
    growth_beside,
    size_with_regret,
)
from .parity import parity_learners, parity_ratios
from .real_arms import ARM_SETS, arm_sets, real_learners
from .settings import (
    RESAMPLES,
    dense_1d,
    dense_2d_hard,
    exponent,
    from_smooth_to_rough,
    reference,
    regret_ratio,
    rkhs_1d,
    rkhs_2d,
)
from .variance import FLOOR, curves, measures, worst_excess, worst_ratio
from .warm_start import LATE, since, stuck, warm_learners, watched
