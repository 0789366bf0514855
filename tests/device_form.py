"""The code path for a GPU, executed on the CPU."""

from contextlib import contextmanager

from paperlib.core import linalg


@contextmanager
def shortcuts(on):
    """Make ``any_or_unknown``, ``can_branch_on_values`` and ``as_numpy_if_cpu`` behave as on a GPU within the block (``on=False``)."""
    before, linalg.SHORTCUTS = linalg.SHORTCUTS, on
    try:
        yield
    finally:
        linalg.SHORTCUTS = before
