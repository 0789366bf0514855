"""Experiments of the notebooks: costs, growth of the regret, average losses, settings and checked statements."""

from .cost import methods, microseconds, time_calls, with_answers
from .growth import (
    TABLE_1,
    doubling_slope,
    exponent_above,
    falling,
    line_residual,
    local_slopes,
)
from .losses import (
    RESAMPLES,
    agreed,
    average,
    averaged,
    beats,
    by_epoch,
    caveat,
    decline,
    last_epochs,
    last_quarter,
    late,
    learns,
    loss_table,
    mean_norms,
    noise_ratio,
    ratio,
    relative_difference,
)
from .settings import (
    FIGURE,
    RIVALS,
    hindsight,
    instance,
    learners,
    practical_learners,
    price_tables,
    recorded,
    watch,
)
from .statements import (
    allowed_tracking,
    along_leader,
    along_run,
    averages,
    by_statement,
    joined,
    of_problems,
    parted,
    small_problems,
    tracking_checks,
    tracking_errors,
    unrepaired_checks,
)
