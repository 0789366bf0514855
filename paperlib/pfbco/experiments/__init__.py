"""Public names of this room."""

from .along import (
    along_leader, along_run, averages, joined, of_problems, parted, small_problems,
)
from .cost import methods, microseconds, time_calls
from .growth import doubling_slope, falling, line, line_residual, local_slopes
from .losses import (
    RESAMPLES, agreed, average, averaged, beats, decline, last_epochs, loss_table, mean_norms,
    noise_ratio, ratio, relative_difference,
)
from .practical import by_epoch, last_quarter, late, learns, practical_learners
from .settings import FIGURE, RIVALS, hindsight, learners, price_tables, recorded, watch, world

__all__ = [
    "FIGURE", "RESAMPLES", "RIVALS", "agreed", "along_leader", "along_run", "average", "averaged",
    "averages", "beats", "by_epoch", "decline", "doubling_slope", "falling",
    "hindsight", "joined", "last_epochs", "last_quarter", "late", "learners", "learns", "line",
    "line_residual", "local_slopes", "loss_table", "mean_norms", "methods", "microseconds",
    "noise_ratio", "of_problems", "parted", "practical_learners", "price_tables",
    "ratio", "recorded", "relative_difference", "small_problems", "time_calls", "watch", "world",
]
