"""Progress line of a long computation: in JupyterLab, in a terminal, in a log, and for ``run.py``.

A notebook shows one line below its cell and a terminal overwrites one line; both disappear when the work is done. A log
gets one line every 30 seconds. If PAPERLIB_PROGRESS names a file, the line is written there instead while the work runs,
and ``run.py`` shows it in its own line. tqdm works well in terminals, but is not used here. In a notebook it needs
ipywidgets, and it leaves an empty widget there or writes its text to stderr.
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

PATIENCE = 0.5  # Seconds before the first line, because quick work needs none.
LOG = 30.0  # Seconds between two lines of a log, which keeps all of them.


class ProgressLine:
    """Progress line of work that consists of consecutive parts.

    Args:
        what: name of the work.
        parts: number of parts.
        still: True if no thread may run during a part, because the part is timed. The first line then appears at
            once and later lines only between parts.
        shown: False if the caller reports progress in another way.
    """

    def __init__(self, what: str, parts: int, still: bool = False, shown: bool = True):
        self.what, self.parts, self.done, self.part, self.round = what, parts, 0, "", (0, 0)
        # Run time and number of the parts that were computed and not loaded.
        self.spent, self.fresh = 0.0, 0.0
        self.show, self.lock, self.wrote = _medium() if shown else None, threading.Lock(), False
        self.pause = LOG if self.show is _log else PROGRESS_SECONDS
        patience = LOG if self.show is _log else 0.0 if still else PATIENCE
        self.due, self.timer = time.monotonic() + patience, None
        if still:
            self.say()
        elif self.show:
            # A timer shows the first line, because the first round may take long.
            self.timer = threading.Timer(patience, self.say)
            self.timer.daemon = True
            self.timer.start()

    def begin(self, part: str) -> None:
        """Record the start of a part that has to be computed."""
        self.started, self.part = time.monotonic(), part
        self.say()

    def tell(self, t: int, horizon: int) -> None:
        """Record that ``t`` of the ``horizon`` rounds of the current part are done."""
        self.round = (t, horizon)
        self.say()

    def end(self) -> None:
        """Record the end of a part, which was computed or loaded."""
        if self.part:
            self.spent += time.monotonic() - self.started
            self.fresh += 1
        self.done, self.part, self.round = self.done + 1, "", (0, 0)
        if self.done < self.parts:
            self.say()

    def words(self, now: float) -> str:
        """Return the line, for example "Sphere: GLB-OMD, 3 of 8, round 400 of 1000, about 2 min left".

        The remaining time is extrapolated from the parts that were computed. It assumes that every later part has to be computed.
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
        """Show the line, unless the previous one was shown too recently."""
        with self.lock:
            now = time.monotonic()
            if self.show and self.done < self.parts and now >= self.due:
                self.due, self.wrote = now + self.pause, True
                self._show(self.words(now))

    def close(self) -> None:
        """Remove the line; in a log the earlier lines stay."""
        if self.timer is not None:
            self.timer.cancel()
        with self.lock:
            if self.wrote:
                self._show("")
            self.show = None  # The timer may still fire after this call.

    def _show(self, text: str) -> None:
        # The reader may have closed the connection or the stream.
        with suppress(AttributeError, OSError, ValueError):
            self.show(text)


def progress_line(
    what: str, parts: int, still: bool = False, shown: bool = True
) -> closing[ProgressLine]:
    """Return a context manager of a ``ProgressLine``, which removes the line at the end of the block, also after an error."""
    return closing(ProgressLine(what, parts, still, shown))


def format_duration(seconds: float) -> str:
    """Return a duration as text, for example "40 s", "3 min" or "1 h 40 min"."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


class CellLine:
    """Progress line below a notebook's cell; all computations of the cell share it.

    Jupyter can clear all outputs of a cell, or empty one of them, but cannot remove one. If the line was the cell's only
    output, clearing all outputs removes it completely. Otherwise an output without content stays, which ``run.py`` drops.
    """

    def __init__(self, shell: Any):
        self.shell, self.handle, self.shown, self.before = shell, None, 0, None
        shell.events.register("pre_run_cell", self.begin)

    def begin(self, info: Any = None) -> None:
        """Reset the line at the start of a cell, which has no output yet."""
        self.handle, self.shown, self.before = None, 0, self._sent()

    def show(self, text: str) -> None:
        """Show a text as the line; "" removes the line."""
        from IPython.display import clear_output, display

        # Flush first, because printed text is sent as messages too, and ``_sent`` counts them.
        sys.stdout.flush(), sys.stderr.flush()
        alone = self.before is not None and self._sent() - self.before == self.shown
        data, self.shown = {"text/plain": text} if text else {}, self.shown + 1
        if alone and not text:
            self.handle = clear_output()
        elif self.handle is not None:
            self.handle.update(data, raw=True)
        elif text:
            self.handle = display(data, raw=True, display_id=True)

    def _sent(self) -> int:
        """Return the number of messages that this kernel has sent, including outputs."""
        return self.shell.kernel.session.message_count


def kernel_shell() -> Any:
    """Return the shell of a notebook's kernel, or None outside a kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    return shell if getattr(shell, "kernel", None) is not None else None


# The line is created at import, because it has to follow which cell runs.
_cell = CellLine(kernel_shell()) if kernel_shell() else None


def _medium() -> Callable[[str], None] | None:
    """Return the function that shows a line in a file, a cell, a terminal or a log; "" removes the line.

    Return None if there is no place to show a line.
    """
    if file := os.environ.get("PAPERLIB_PROGRESS"):
        return functools.partial(_to_file, Path(file))
    if _cell:
        # nbval compares the outputs of cells, and would compare the progress line with the stored outputs.
        return None if "PYTEST_VERSION" in os.environ else _cell.show
    try:
        return _on_terminal if sys.stderr.isatty() else _log
    # stderr may be missing, closed, or an object that can only be written to.
    except (AttributeError, ValueError):
        return None


def _to_file(file: Path, text: str) -> None:
    if text:
        # Not moved into place atomically, because a line that is read half written is read again a second later.
        file.write_text(text, encoding="utf-8")
    else:
        file.unlink(missing_ok=True)


def _on_terminal(text: str) -> None:
    shown = text[: shutil.get_terminal_size().columns - 1]
    print(f"\r\x1b[K{shown}", end="", file=sys.stderr, flush=True)


def _log(text: str) -> None:
    if text:
        print(text, file=sys.stderr, flush=True)
