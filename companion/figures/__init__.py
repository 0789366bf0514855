"""Figures: panels, line styles, and figures that are saved with their numbers."""

from .drawing import (
    COLUMN,
    DOUBLE,
    Drawing,
    band_note,
    explore,
    legend,
    line_style,
    line_styles,
    panels,
    registered_styles,
    regret_panel,
    save,
    show,
    style_context,
    time_panel,
)

__all__ = [
    "COLUMN",
    "DOUBLE",
    "Drawing",
    "band_note",
    "explore",
    "legend",
    "line_style",
    "line_styles",
    "panels",
    "regret_panel",
    "save",
    "show",
    "style_context",
    "registered_styles",
    "time_panel",
]
