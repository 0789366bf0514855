"""The form of the code that runs on a device, on the CPU."""

from contextlib import contextmanager

from paperlib.core import linalg


@contextmanager
def shortcuts(on):
    """Within the block, ``needed``, ``may_look`` and ``light`` behave on the CPU as they do on a device (``on=False``)."""
    before, linalg.SHORTCUTS = linalg.SHORTCUTS, on
    try:
        yield
    finally:
        linalg.SHORTCUTS = before
