"""Texts and printed lines that several papers share."""

from collections.abc import Iterable, Sequence

from paperlib import stats
from paperlib.checks import Check
from paperlib.core.text import format_number


def interval_text(found: stats.Interval) -> str:
    """Return an estimate with its interval, for example "0.76 [0.74, 0.78]"."""
    middle, low, high = map(format_number, found[:3])
    return f"{middle} [{low}, {high}]"


def print_checks(title: str, checks: Iterable[Check], inputs: Sequence[str] = ()) -> None:
    """Print a title and one line per check: statement, verdict, and in how many entries the inequality holds.

    If it holds in some entries only, their number may depend on the processor, so it is not printed.

    Args:
        inputs: names of inputs that are printed behind a statement, if its check has them.
    """
    print(title)
    for check in checks:
        known = ", ".join(f"{x} = {check.inputs[x]}" for x in inputs if x in check.inputs)
        name = f"{check.statement} ({known})" if known else check.statement
        mixed = check.held.any() and not check.held.all()
        count = f"some of {check.held.size}" if mixed else check.count
        print(f"    {name:44s} {check.verdict:15s} {count}  {check.remark}".rstrip())
