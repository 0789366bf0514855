"""Public names of this room."""

from .along import along_leader, along_run, averages, joined, of_problems, parted, small_problems
from .cost import methods, microseconds, time_calls, with_answers
from .growth import doubling_slope, exponent_above, falling, line_residual, local_slopes
from .losses import (
    RESAMPLES,
    agreed,
    average,
    averaged,
    beats,
    caveat,
    decline,
    last_epochs,
    loss_table,
    mean_norms,
    noise_ratio,
    ratio,
    relative_difference,
)
from .practical import by_epoch, last_quarter, late, learns, practical_learners
from .settings import FIGURE, RIVALS, hindsight, learners, price_tables, recorded, watch, world
