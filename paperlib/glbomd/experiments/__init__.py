"""Public names of this room."""

from .settings import FITTED, INSTANCE, ONE_TRIAL, ONLINE, SCALES, bars, covertype_controls, covertype_learners, diamonds, final, methods, paper_learners, rules, seconds_ratio, slsqp_rounds, slsqp_seconds, time_growth, trial_counts, typical
from .growth import crossing, ecolog_iterations, exceedance
from ...store import time_runs
from ..probes import memory
