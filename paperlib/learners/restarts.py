"""A log of restarts: how many there were, and of the first ``LOGGED`` of each trial what is known of them.

Letters: R trials, k numbers of an entry.
"""

import torch
from torch import Tensor

from ..core.linalg import places

LOGGED = 64  # restarts that are logged by trial; the count goes on


def unlogged(trials: int, *entry: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """No restart yet: the count, R int64, and the log, R x LOGGED (x k) int64."""
    zeros = lambda *shape: torch.zeros(trials, *shape, dtype=torch.int64, device=device)
    return zeros(), zeros(LOGGED, *entry)


def logged(count: Tensor, log: Tensor, entry: Tensor, where: Tensor) -> tuple[Tensor, Tensor]:
    """Count and log after a restart in the trials ``where``, R bool. ``entry``: R (x k)."""
    here = (places(LOGGED, log) == count[:, None]) & where[:, None]
    here = here.reshape(*here.shape, *[1] * (log.dim() - 2))
    return count + where, torch.where(here, entry[:, None], log)


def counted(count: Tensor) -> dict[str, Tensor]:
    """``restarts``, and whether they ``overflow`` the log, R each."""
    return {"restarts": count, "overflow": count > LOGGED}
