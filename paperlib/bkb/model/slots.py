"""Sets and embeddings whose size differs between trials: padded to common slots, or stored as one tensor per trial.

Letters: R trials, A arms, M slots (in ``PerTrialRows`` features, whose number may differ by trial), d dimensions.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import embedding, pad

from ...core.linalg import Rows, as_tensors

# On a GPU the number of slots is a multiple of this, so that the allocator can reuse memory.
UNIT = 8


class Slots(NamedTuple):
    """Members of each trial's set in padded slots."""

    index: Tensor  # R x M, arms; 0 in unused slots
    valid: Tensor  # R x M bool
    # R bool: more members than slots; the members with the largest indices are left out.
    overflow: Tensor


def list_members(members: Tensor, slots: int | None = None) -> Slots:
    """Return the first ``slots`` members of each trial's set, by index.

    Args:
        members: R x A bool.
        slots: M; None for as many as the largest set needs, which reads the tensor's values.
    """
    if slots is None and members.device.type == "cpu":
        inside = members.numpy()
        arms, count = inside.ravel().nonzero()[0] % inside.shape[1], np.add.reduce(inside, 1, int)
        most = max(int(np.maximum.reduce(count)), 1)
        valid = np.arange(most) < count[:, None]
        index = np.zeros(valid.shape, np.int64)
        index[valid] = arms
        return Slots(*as_tensors(index, valid, np.zeros(len(inside), bool)))
    # The running count of a member is its slot, numbered from 1.
    place = members.cumsum(1)
    count = place[:, -1:]
    if slots is None:
        slots = members.shape[1]
        if members.device.type != "meta":
            unit = 1 if members.device.type == "cpu" else UNIT
            slots = max(1, min(-(-int(count.max()) // unit) * unit, slots))
    # Arms outside the set, and members beyond the last slot, are written to slot 0, which is dropped.
    place = torch.where(members & (place <= slots), place, 0)
    arms = torch.arange(members.shape[1], device=members.device).expand_as(place)
    index = place.new_zeros(len(members), slots + 1).scatter_(1, place, arms)[:, 1:]
    valid = torch.arange(slots, device=members.device) < count
    return Slots(index, valid, count.squeeze(1) > slots)


def take_points(arms: Tensor, index: Tensor) -> Tensor:
    """Return the points of the given arms, R x M x d. ``arms``: R x A x d or 1 x A x d; ``index``: R x M."""
    if arms.shape[0] == 1:
        return embedding(index, arms[0])
    return arms.gather(1, index.unsqueeze(2).expand(-1, -1, arms.shape[2]))


def _own(part: Tensor) -> Tensor:
    """Copy ``part`` (M x A) without the trailing features that are zero at every arm; the first feature always stays."""
    used = len(part)
    # The first feature always stays, because an embedding has at least one slot.
    while used > 1 and not part[used - 1].any():
        used -= 1
    return part[:used].clone()


class PerTrialRows(Rows):
    """``Rows``, R x M x A, stored as one tensor per trial; trials with fewer features are padded with zeros.

    For example, a single tensor of fifty trials with ten thousand arms takes a hundred megabytes. Nearly every round
    would copy it to change one of the trials.
    """

    __slots__ = ("parts",)

    def __init__(self, parts: list[Tensor]):
        self.parts, self.n = parts, max(map(len, parts))

    @classmethod
    def of(cls, rows: Tensor) -> "PerTrialRows":
        """Split a tensor into its trials, each copied."""
        return cls([_own(part) for part in rows])

    @property
    def view(self) -> Tensor:
        """Copy all trials into one tensor, R x M x A."""
        return torch.stack([pad(part, (0, 0, 0, self.n - len(part))) for part in self.parts])

    def put(self, trials: Tensor, rows: Tensor) -> "PerTrialRows":
        """Return a copy with the given trials (indices) replaced; this object does not change. ``rows``: r x M' x A."""
        parts = list(self.parts)
        for i, part in zip(trials.tolist(), rows):
            parts[i] = _own(part)
        return PerTrialRows(parts)

    def map(self, f: Callable[[Tensor], Tensor]) -> "PerTrialRows":
        """Apply ``f`` to all trials as one tensor."""
        return PerTrialRows.of(f(self.view))


def split_trials(rows: Rows) -> PerTrialRows:
    """Split ``rows`` by trial unless they are split already; after loading a file or selecting trials they are one tensor."""
    return rows if isinstance(rows, PerTrialRows) else PerTrialRows.of(rows.view)


def join_trials(Z: Tensor | Rows, slots: int) -> Tensor:
    """Return the embedding as one tensor with that many slots, R x M x A; unused slots are zero."""
    return pad(Z.view, (0, 0, 0, slots - Z.n)) if isinstance(Z, Rows) else Z
