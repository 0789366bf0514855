"""Texts that the figures and tables of several notebooks share."""

import math


def log2(horizon: float) -> int:
    """Return the exponent of a horizon that is a power of two."""
    return round(math.log2(horizon))


def horizon_label(horizon: float) -> str:
    """Return a horizon for a title, for example $T = 2^{12}$."""
    return f"$T = 2^{{{log2(horizon)}}}$"


def horizon_text(horizon: int) -> str:
    """Return a horizon for a table or a caption: "2^12" for a power of two, otherwise the number."""
    return f"2^{horizon.bit_length() - 1}" if horizon & (horizon - 1) == 0 else str(horizon)
