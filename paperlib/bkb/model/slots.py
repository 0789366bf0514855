"""Sets of unequal size, one a trial, in slots: what is not used is masked.

Letters: R trials, A arms, M slots, d dimensions.
"""

from typing import NamedTuple

import torch
from torch import Tensor


class Slots(NamedTuple):
    """Members of a set in padded slots."""

    index: Tensor  # R x M, arms; 0 in unused slots
    valid: Tensor  # R x M bool
    overflow: Tensor  # R bool: more members than slots, those of largest index are left out


def listed(members: Tensor, slots: int) -> Slots:
    """The first ``slots`` members of each trial's set, by index. ``members``: R x A bool."""
    place = members.cumsum(1) - 1
    # the rest share a slot that is dropped
    place = torch.where(members & (place < slots), place, slots)
    arms = torch.arange(members.shape[1], device=members.device).expand_as(place)
    index = place.new_zeros(len(members), slots + 1).scatter_(1, place, arms)
    count = members.sum(1, keepdim=True)
    valid = torch.arange(slots, device=members.device) < count
    return Slots(index[:, :slots] * valid, valid, count.squeeze(1) > slots)


def points_at(arms: Tensor, index: Tensor) -> Tensor:
    """R x M x d. ``arms``: R x A x d or 1 x A x d; ``index``: R x M."""
    if arms.shape[0] == 1:
        return arms[0][index]
    return arms.gather(1, index.unsqueeze(2).expand(-1, -1, arms.shape[2]))
