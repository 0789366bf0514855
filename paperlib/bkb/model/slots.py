"""Sets of unequal size, one a trial, in slots: what is not used is masked.

Letters: R trials, A arms, M slots, d dimensions.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import embedding

from ...core.linalg import tensors

UNIT = 8  # on a device slots come in multiples of this, so that memory is used again


class Slots(NamedTuple):
    """Members of a set in padded slots."""

    index: Tensor  # R x M, arms; 0 in unused slots
    valid: Tensor  # R x M bool
    overflow: Tensor  # R bool: more members than slots, those of largest index are left out


def listed(members: Tensor, slots: int | None = None) -> Slots:
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
        return Slots(*tensors(index, valid, np.zeros(len(inside), bool)))
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


def points_at(arms: Tensor, index: Tensor) -> Tensor:
    """R x M x d. ``arms``: R x A x d or 1 x A x d; ``index``: R x M."""
    if arms.shape[0] == 1:
        return embedding(index, arms[0])
    return arms.gather(1, index.unsqueeze(2).expand(-1, -1, arms.shape[2]))
