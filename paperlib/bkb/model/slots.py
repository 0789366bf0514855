"""Sets and embeddings whose size differs by trial: padded to common slots, or one tensor per trial.

Letters: R trials, A arms, M slots (in ``PerTrialRows`` features, whose number may differ by trial), d dimensions.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import embedding, pad

from ...core.linalg import Rows, as_tensors

UNIT = 8  # on a device slots come in multiples of this, so that memory is used again


class Slots(NamedTuple):
    """Members of a set in padded slots."""

    index: Tensor  # R x M, arms; 0 in unused slots
    valid: Tensor  # R x M bool
    overflow: Tensor  # R bool: more members than slots, those of largest index are left out


def list_members(members: Tensor, slots: int | None = None) -> Slots:
    """The first ``slots`` members of each trial's set, by index.

    Args:
        members: R x A bool.
        slots: M; None: as many as the largest set needs, a look at the tensor.
    """
    if slots is None and members.device.type == "cpu":
        inside = members.numpy()
        arms, count = inside.ravel().nonzero()[0] % inside.shape[1], np.add.reduce(inside, 1, int)
        most = max(int(np.maximum.reduce(count)), 1)
        valid = np.arange(most) < count[:, None]
        index = np.zeros(valid.shape, np.int64)
        index[valid] = arms
        return Slots(*as_tensors(index, valid, np.zeros(len(inside), bool)))
    place = members.cumsum(1)
    count = place[:, -1:]
    if slots is None:
        slots = members.shape[1]
        if members.device.type != "meta":
            unit = 1 if members.device.type == "cpu" else UNIT
            slots = max(1, min(-(-int(count.max()) // unit) * unit, slots))
    # all others share slot 0, which is dropped
    place = torch.where(members & (place <= slots), place, 0)
    arms = torch.arange(members.shape[1], device=members.device).expand_as(place)
    index = place.new_zeros(len(members), slots + 1).scatter_(1, place, arms)[:, 1:]
    valid = torch.arange(slots, device=members.device) < count
    return Slots(index, valid, count.squeeze(1) > slots)


def take_points(arms: Tensor, index: Tensor) -> Tensor:
    """R x M x d. ``arms``: R x A x d or 1 x A x d; ``index``: R x M."""
    if arms.shape[0] == 1:
        return embedding(index, arms[0])
    return arms.gather(1, index.unsqueeze(2).expand(-1, -1, arms.shape[2]))


def _own(part: Tensor) -> Tensor:
    """A copy without the features at the end that are zero everywhere, but for the first. ``part``: M x A."""
    used = len(part)
    # The first feature stays, because an embedding has at least one slot.
    while used > 1 and not part[used - 1].any():
        used -= 1
    return part[:used].clone()


class PerTrialRows(Rows):
    """``Rows``, R x M x A, with a tensor of its own for each trial; where trials have fewer features, zeros follow.

    Of fifty trials with ten thousand arms one tensor takes a hundred megabytes, which nearly every round would copy,
    for one of the trials.
    """

    __slots__ = ("parts",)

    def __init__(self, parts: list[Tensor]):
        self.parts, self.n = parts, max(map(len, parts))

    @classmethod
    def of(cls, rows: Tensor) -> "PerTrialRows":
        """The trials of a tensor, each copied."""
        return cls([_own(part) for part in rows])

    @property
    def view(self) -> Tensor:
        """All trials as one tensor, R x M x A, a copy."""
        return torch.stack([pad(part, (0, 0, 0, self.n - len(part))) for part in self.parts])

    def put(self, trials: Tensor, rows: Tensor) -> "PerTrialRows":
        """With the given trials, indices, replaced; this object stays as it was. ``rows``: r x M' x A."""
        parts = list(self.parts)
        for i, part in zip(trials.tolist(), rows):
            parts[i] = _own(part)
        return PerTrialRows(parts)

    def map(self, f: Callable[[Tensor], Tensor]) -> "PerTrialRows":
        """``f`` of all trials as one tensor."""
        return PerTrialRows.of(f(self.view))


def split_trials(rows: Rows) -> PerTrialRows:
    """The same by trial, where it is not; a file or a selection of trials gives it whole."""
    return rows if isinstance(rows, PerTrialRows) else PerTrialRows.of(rows.view)


def join_trials(Z: Tensor | Rows, slots: int) -> Tensor:
    """As one tensor with that many slots, R x M x A; of those that are unused no feature."""
    return pad(Z.view, (0, 0, 0, slots - Z.n)) if isinstance(Z, Rows) else Z
