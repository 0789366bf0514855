"""Dictionaries as they were at the end of a run, with their multiplicities drawn again, and one check of many.

Letters: R trials, A arms.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from paperlib.bkb.probes.state import SHOT, redrawn
from paperlib.checks import Check
from paperlib.core.trace import Trace
from paperlib.maths.gp import Kernel

from .sketch_lemmas import Snapshot


def snapshots(
    trace: Trace, kernel: Kernel, arms: Tensor, ridge: float, qbar: float, seed: int = 0
) -> list[Snapshot]:
    """Each trial's last dictionary, with the multiplicities that its coins had.

    The run keeps the dictionary alone; given it, the multiplicities are drawn again from a stream of their own.

    Args:
        trace: recorded with the probes ``SHOT`` (reduce "final").
        arms: 1 x A x d.
        ridge: lambda.
        qbar: the learner's, with a coin a pull.
        seed: of the multiplicities.

    Raises:
        ValueError: a probe is missing.
    """
    if missing := [name for name in SHOT if name not in trace.final]:
        raise ValueError(
            f"trace lacks {', '.join(missing)}; allowed: one recorded with the final probes SHOT"
        )
    found = []
    for trial, n, mask, s2, before in zip(trace.trials, *(trace[name] for name in SHOT)):
        p, mask = np.clip(qbar * before, 0.0, 1.0), mask > 0
        kept = redrawn(seed + trial, 0, mask, n, p)
        n, mask, s2, kept, p = (torch.from_numpy(x) for x in (n, mask, s2, kept, p))
        found.append(Snapshot(kernel, arms[0], n, mask, ridge, s2, kept=kept, probability=p))
    return found


def in_all(statement: Callable[[Snapshot], Check], shots: Sequence[Snapshot]) -> Check:
    """A statement about one dictionary as one check of many, entry behind entry; of its inputs the largest.

    Args:
        statement: one of ``sketch_lemmas`` without a failure probability.

    Raises:
        ValueError: no dictionary.
    """
    if not shots:
        raise ValueError(f"{statement.statement.name}: shots=[]; allowed: at least one dictionary")
    checks = [statement(shot) for shot in shots]
    largest = {name: max(check.inputs[name] for check in checks) for name in checks[0].inputs}
    remarks = dict.fromkeys(check.remark for check in checks if check.remark)
    return replace(
        checks[0],
        inputs={"dictionaries": len(checks)} | largest,
        observed=np.concatenate([check.observed.ravel() for check in checks]),
        bound=np.concatenate([check.bound.ravel() for check in checks]),
        remark="; ".join(remarks),
    )
