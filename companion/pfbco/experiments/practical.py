"""PF with practical constants: learners, and what they lose late and epoch by epoch.

Letters: R trials, T rounds.
"""

from dataclasses import replace

import numpy as np

from paperlib import stats
from paperlib.core.text import number
from paperlib.core.trace import Trace
from paperlib.learners.wrapper import Doubling
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


def late(traces: dict[str, Trace]) -> dict[str, str]:
    """A line of a table for every learner but the controls, about the last quarter of the rounds.

    Average loss, and that over the last quarter; the latter less what the center loses in the same rounds, paired, with its
    interval and the number of trials in which it is above 0; the latter over the control's, and both losses of the control.

    ``traces``: of one problem, trials and rounds; PF's has the center's summed loss as "center".
    """
    center, lines = last_quarter(traces["PF"], "center"), {}
    both = lambda trace: " ".join(
        f"{number(loss.mean()):>6s}" for loss in (average(trace), last_quarter(trace))
    )
    # each control is in the line of its learner
    for name in (name for name in traces if not name.endswith(", sham")):
        quarter, control = last_quarter(traces[name]), traces.get(f"{name}, sham")
        beyond, above = stats.paired(quarter, center), int((quarter > center).sum())
        lines[name] = (
            f"{both(traces[name])}   {beyond.estimate:+.3f} [{beyond.low:+.3f}, {beyond.high:+.3f}] {above:3d}"
        )
        if control is not None:
            lines[name] += f"   {bracket(learns(traces, name))}  {both(control)}"
    return lines
