"""How far a long cell is: in JupyterLab, in a terminal, in a log, and for ``run.py``, which shows it in its own line.

A notebook shows one line below its cell, a terminal one that is written over, and both are gone when the work is done;
a log gets a line every half minute. The file that PAPERLIB_PROGRESS names holds the line instead, while the work goes on.
Not tqdm, which serves terminals well: in a notebook it needs ipywidgets and leaves a dead widget, or its text as stderr.
"""

import functools
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from paperlib.play import PROGRESS_SECONDS

PATIENCE = 0.5  # seconds before a first line: what is quick says nothing
LOG = 30.0  # seconds between two lines of a log, which keeps them all


class ProgressLine:
    """One line about a piece of work, of which parts are done one after the other.

    Args:
        what: the work, in words.
        parts: how many there are.
        still: nothing runs beside the work, as timings need it: the first line comes at once, the next between parts.
        shown: False where the caller tells of it in a way of its own.
    """

    def __init__(self, what: str, parts: int, still: bool = False, shown: bool = True):
        self.what, self.parts, self.done, self.part, self.round = what, parts, 0, "", (0, 0)
        self.spent, self.fresh = 0.0, 0.0  # seconds and number of parts that were not at hand
        self.show, self.lock, self.wrote = _medium() if shown else None, threading.Lock(), False
        self.pause = LOG if self.show is _log else PROGRESS_SECONDS
        patience = LOG if self.show is _log else 0.0 if still else PATIENCE
        self.due, self.timer = time.monotonic() + patience, None
        if still:
            self.say()
        elif self.show:
            # the first round may take long
            self.timer = threading.Timer(patience, self.say)
            self.timer.daemon = True
            self.timer.start()

    def begin(self, part: str) -> None:
        """A part begins that has to be computed."""
        self.started, self.part = time.monotonic(), part
        self.say()

    def tell(self, t: int, horizon: int) -> None:
        """``t`` rounds of ``horizon`` of the present part are done."""
        self.round = (t, horizon)
        self.say()

    def end(self) -> None:
        """The present part is done, or was at hand."""
        if self.part:
            self.spent += time.monotonic() - self.started
            self.fresh += 1
        self.done, self.part, self.round = self.done + 1, "", (0, 0)
        if self.done < self.parts:
            self.say()

    def words(self, now: float) -> str:
        """The line: "Sphere: GLB-OMD, 3 of 8, round 400 of 1000, about 2 min left".

        What is left is guessed from the parts that were computed, as if all that come had to be.
        """
        part, (t, horizon) = self.part, self.round
        text = f"{self.what}: {part or 'loading or waiting'}, {self.done + 1} of {self.parts}"
        if t:
            text += f", round {t} of {horizon}"
        share = t / horizon if t else 0.0
        if worked := self.fresh + share:
            spent = self.spent + (now - self.started if part else 0.0)
            left = spent / worked * (self.parts - self.done - share)
            text += f", about {format_duration(left)} left"
        return text

    def say(self) -> None:
        """Show the line, unless the last one is fresh."""
        with self.lock:
            now = time.monotonic()
            if self.show and self.done < self.parts and now >= self.due:
                self.due, self.wrote = now + self.pause, True
                self._show(self.words(now))

    def close(self) -> None:
        """Nothing is left of the line, but in a log."""
        if self.timer is not None:
            self.timer.cancel()
        with self.lock:
            if self.wrote:
                self._show("")
            self.show = None  # a timer may ring late

    def _show(self, text: str) -> None:
        with suppress(AttributeError, OSError, ValueError):  # nobody listens any more
            self.show(text)


def progress_line(
    what: str, parts: int, still: bool = False, shown: bool = True
) -> closing[ProgressLine]:
    """A ``ProgressLine`` that goes when its block ends, however it does."""
    return closing(ProgressLine(what, parts, still, shown))


def format_duration(seconds: float) -> str:
    """Seconds in words: "40 s", "3 min", "1 h 40 min"."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


class CellLine:
    """The line below a notebook's cell, one for all work that the cell does.

    Jupyter can clear all outputs of a cell, or empty one of them, but not remove one. So the line goes without a trace
    where it was the cell's only output so far; after others an output without content stays, which ``run.py`` drops.
    """

    def __init__(self, shell: Any):
        self.shell, self.handle, self.shown, self.before = shell, None, 0, None
        shell.events.register("pre_run_cell", self.begin)

    def begin(self, info: Any = None) -> None:
        """A cell begins, with no output yet."""
        self.handle, self.shown, self.before = None, 0, self._sent()

    def show(self, text: str) -> None:
        """Show a text as the line; "" removes the line."""
        from IPython.display import clear_output, display

        sys.stdout.flush(), sys.stderr.flush()  # printed text is then among the messages
        alone = self.before is not None and self._sent() - self.before == self.shown
        data, self.shown = {"text/plain": text} if text else {}, self.shown + 1
        if alone and not text:
            self.handle = clear_output()
        elif self.handle is not None:
            self.handle.update(data, raw=True)
        elif text:
            self.handle = display(data, raw=True, display_id=True)

    def _sent(self) -> int:
        """Messages of this kernel so far, outputs among them."""
        return self.shell.kernel.session.message_count


def kernel_shell() -> Any:
    """Return the shell of a notebook's kernel; None elsewhere."""
    ipython = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    return shell if getattr(shell, "kernel", None) is not None else None


_cell = (
    CellLine(kernel_shell()) if kernel_shell() else None
)  # made at once, because it follows which cell runs


def _medium() -> Callable[[str], None] | None:
    """What shows a line (in a file, a cell, a terminal or a log), and "" as no line; None for nowhere."""
    if file := os.environ.get("PAPERLIB_PROGRESS"):
        return functools.partial(_to_file, Path(file))
    if _cell:
        # nbval compares outputs, and takes the line for one
        return None if "PYTEST_VERSION" in os.environ else _cell.show
    try:
        return _on_terminal if sys.stderr.isatty() else _log
    except (AttributeError, ValueError):  # none, closed, or one that only writes
        return None


def _to_file(file: Path, text: str) -> None:
    if text:
        # not moved into place: a torn line is read again a second later
        file.write_text(text, encoding="utf-8")
    else:
        file.unlink(missing_ok=True)


def _on_terminal(text: str) -> None:
    shown = text[: shutil.get_terminal_size().columns - 1]
    print(f"\r\x1b[K{shown}", end="", file=sys.stderr, flush=True)


def _log(text: str) -> None:
    if text:
        print(text, file=sys.stderr, flush=True)
