"""How far a long cell is: in JupyterLab, in a terminal, in a log, and for ``run.py``, which shows it in its own line.

A notebook shows one line below its cell, which goes when the work is done and leaves no output; a terminal one line
that is written over; a log a line every half minute. PAPERLIB_PROGRESS names a file that holds the line as well.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..core.files import write_atomically

PULSE = 0.5  # seconds, at least, between two looks of one line
LOG = 30.0  # of a log, which keeps them all
PATIENCE = 1.0  # seconds before a first line: what is quick says nothing


class Line:
    """One line about a piece of work, of which parts are done one after the other.

    Args:
        what: the work, in words.
        parts: how many there are.
    """

    def __init__(self, what: str, parts: int):
        self.what, self.parts, self.done, self.part = what, parts, 0, ""
        self.begun = self.shown = time.monotonic()
        self.handle: Any = None
        self.fresh = 0.0  # of the work that was not at hand already
        self.wrote = False

    def begin(self, part: str) -> None:
        """A part begins that has to be computed."""
        self.part, self.started = part, time.monotonic()
        self.tell(0.0)

    def tell(self, share: float) -> None:
        """The share of the present part that is done, 0 to 1."""
        now = time.monotonic()
        pause = PULSE if self._lively() else LOG
        if now - self.begun < PATIENCE or (self.wrote and now - self.shown < pause):
            return
        self.shown = now
        self._write(self.words(share, now))

    def end(self) -> None:
        """The present part is done, or was at hand."""
        self.done += 1
        if self.part:
            self.fresh += 1
            self.part = ""

    def words(self, share: float, now: float) -> str:
        """The line: "GLB-OMD: 3 of 8, 40 %, 2 min left"."""
        text = f"{self.what}: {self.part or 'loading'}, {self.done + 1} of {self.parts}"
        if share:
            text += f", {100 * share:.0f} %"
        worked = self.fresh + share
        if worked > 0:
            left = (now - self.begun) / worked * (self.parts - self.done - share)
            text += f", about {duration(left)} left"
        return text

    def close(self) -> None:
        """Nothing is left of the line."""
        if self.handle is not None:
            self.handle.update({}, raw=True)
            self.handle = None
        elif self.wrote and sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
        with suppress(OSError):
            if place := os.environ.get("PAPERLIB_PROGRESS"):
                Path(place).unlink(missing_ok=True)

    def _lively(self) -> bool:
        return _kernel() or sys.stderr.isatty() or bool(os.environ.get("PAPERLIB_PROGRESS"))

    def _write(self, text: str) -> None:
        self.wrote = True
        if place := os.environ.get("PAPERLIB_PROGRESS"):
            with suppress(OSError):
                write_atomically(place, lambda file: file.write(text.encode()))
        elif _kernel():
            from IPython.display import display

            data = {"text/plain": text}
            if self.handle is None:
                self.handle = display(data, raw=True, display_id=True)
            else:
                self.handle.update(data, raw=True)
        else:
            ends = ("\r\x1b[K", "") if sys.stderr.isatty() else ("", "\n")
            sys.stderr.write(f"{ends[0]}{text}{ends[1]}")
            sys.stderr.flush()


@contextmanager
def line(what: str, parts: int) -> Iterator[Line]:
    """A line that goes when its block ends, however it does."""
    shown = Line(what, parts)
    try:
        yield shown
    finally:
        shown.close()


def duration(seconds: float) -> str:
    """Seconds in words: "40 s", "3 min", "1 h 20 min"."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def _kernel() -> bool:
    """Whether this is a notebook's kernel."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and getattr(ipython.get_ipython(), "kernel", None) is not None
