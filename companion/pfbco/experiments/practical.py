"""PF with practical constants: learners, and what they lose late and epoch by epoch.

Letters: R trials, T rounds.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from paperlib import stats
from paperlib.core.text import number
from paperlib.core.trace import Trace
from paperlib.learners.doubling import Doubling
from paperlib.pfbco.learners.block import BlockPFBCO
from paperlib.pfbco.learners.fkm import FKM
from paperlib.pfbco.learners.onepoint import practical
from paperlib.pfbco.learners.pfbco import PFBCO

from .losses import average, bracket, ratio


def practical_learners(c: float = 1.0) -> dict[str, Doubling]:
    """PF with the theory's constants, practical ones, and a warm start besides; and others.

    Each PF has its sham control. "FKM, practical" and "Block, practical" have a baseline, a warm
    start and M = 10 or 3: with the spread of the losses for M both step too far.
    """
    ours = {
        "PF": PFBCO(c),
        "PF, practical": practical(PFBCO(c), warm_start=False),
        "PF, warm": practical(PFBCO(c)),
    }
    others = {
        "FKM": FKM(c),
        "Block": BlockPFBCO(c),
        "FKM, practical": FKM(c, baseline=True, scale=10.0, warm_start=True),
        "Block, practical": BlockPFBCO(c, baseline=True, scale=3.0, warm_start=True),
    }
    pairs = {}
    for name, base in ours.items():
        pairs |= {name: base, f"{name}, sham": replace(base, sham=True)}
    return {name: Doubling(base) for name, base in (pairs | others).items()}


def last_quarter(trace: Trace, name: str = "regret") -> np.ndarray:
    """Mean loss over the last quarter of the rounds, R; T + 1 a power of two.

    ``name``: of the summed loss, "center" for what staying there loses.
    """
    T = int(trace.rounds[-1])
    return average(trace, T, 3 * (T + 1) // 4, name)


def by_epoch(trace: Trace) -> Trace:
    """The same run at the ends of its epochs, 2^m - 1, with the mean loss in each as "epoch"."""
    ends = [2**m - 1 for m in range(1, (int(trace.rounds[-1]) + 1).bit_length())]
    loss = np.stack([average(trace, last, first) for first, last in zip([0, *ends], ends)], 1)
    return replace(trace.thin(ends), series={"epoch": loss})


def learns(traces: dict[str, Trace], name: str) -> stats.Interval:
    """Mean loss over the last quarter over that of the learner's own control, 90 % interval."""
    ours, control = last_quarter(traces[name]), last_quarter(traces[f"{name}, sham"])
    return ratio(ours, control, "last quarters", level=0.9)


class Late(NamedTuple):
    """A learner's average loss, and what became of it in the last quarter of the rounds."""

    average: float  # over all rounds
    quarter: float  # over the last quarter
    beyond: stats.Interval  # that less what the center loses in the same rounds, paired
    above: int  # trials in which it is above 0
    control: tuple[float, float] | None  # the first two of its sham control
    share: stats.Interval | None  # the quarter over the control's

    def __str__(self) -> str:
        line = f"{number(self.average):>6s} {number(self.quarter):>6s}   {self.beyond.estimate:+.3f} [{self.beyond.low:+.3f}, {self.beyond.high:+.3f}] {self.above:3d}"
        if self.share is not None:
            control = " ".join(f"{number(x):>6s}" for x in self.control)
            line += f"   {bracket(self.share)}  {control}"
        return line


def late(traces: dict[str, Trace]) -> dict[str, Late]:
    """All learners but the controls.

    ``traces``: of one problem, trials and rounds; PF's has the center's summed loss as "center".
    """
    center, found = last_quarter(traces["PF"], "center"), {}
    both = lambda trace: (float(average(trace).mean()), float(last_quarter(trace).mean()))
    for name, trace in traces.items():
        if not name.endswith(", sham"):
            quarter, sham = last_quarter(trace), traces.get(f"{name}, sham")
            found[name] = Late(
                *both(trace),
                stats.paired(quarter, center),
                int((quarter > center).sum()),
                None if sham is None else both(sham),
                None if sham is None else learns(traces, name),
            )
    return found
