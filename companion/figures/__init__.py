"""Pictures: panels, styles, and figures saved with what they show."""

from .drawing import (
    COLUMN,
    DOUBLE,
    band_note,
    legend,
    look,
    looks,
    panels,
    regret_panel,
    save,
    style,
    styles,
    time_panel,
)

__all__ = [
    "COLUMN",
    "DOUBLE",
    "band_note",
    "legend",
    "look",
    "looks",
    "panels",
    "regret_panel",
    "save",
    "style",
    "styles",
    "time_panel",
]
