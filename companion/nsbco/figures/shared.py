"""Texts that the figures and tables of several notebooks share."""

import math

from paperlib import stats
from paperlib.core.text import format_number


def interval_text(found: stats.Interval) -> str:
    """Return an estimate with its interval as text, for example "0.76 [0.74, 0.78]"."""
    return (
        f"{format_number(found.estimate)} [{format_number(found.low)}, {format_number(found.high)}]"
    )


def log2(horizon: float) -> int:
    """Return the exponent of a horizon that is a power of two."""
    return round(math.log2(horizon))


def horizon_label(horizon: float) -> str:
    """Return a horizon for a title, for example $T = 2^{12}$."""
    return f"$T = 2^{{{log2(horizon)}}}$"


def horizon_text(horizon: int) -> str:
    """Return a horizon for a table or a caption: "2^12" for a power of two, otherwise the number."""
    return f"2^{horizon.bit_length() - 1}" if horizon & (horizon - 1) == 0 else str(horizon)
