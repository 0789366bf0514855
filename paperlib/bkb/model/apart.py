"""Embeddings that are kept apart by trial, so that to replace a few trials' copies no other's.

Letters: R trials, A arms, M features of a trial, which may have another number than the next.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import pad

from ...core.linalg import Rows


def _own(part: Tensor) -> Tensor:
    """A copy without the features at the end that are zero everywhere, but for the first. ``part``: M x A."""
    used = len(part)
    # The first feature stays, because an embedding has at least one slot.
    while used > 1 and not part[used - 1].any():
        used -= 1
    return part[:used].clone()


class Apart(Rows):
    """``Rows``, R x M x A, with a tensor of its own for each trial; where trials have fewer features, zeros follow.

    Of fifty trials with ten thousand arms one tensor takes a hundred megabytes, which nearly every round would copy,
    for one of the trials.
    """

    __slots__ = ("parts",)

    def __init__(self, parts: list[Tensor]):
        self.parts, self.n = parts, max(map(len, parts))

    @classmethod
    def of(cls, rows: Tensor) -> "Apart":
        """The trials of a tensor, each copied."""
        return cls([_own(part) for part in rows])

    @property
    def view(self) -> Tensor:
        """All trials as one tensor, R x M x A, a copy."""
        return torch.stack([pad(part, (0, 0, 0, self.n - len(part))) for part in self.parts])

    def put(self, trials: Tensor, rows: Tensor) -> "Apart":
        """With the given trials, indices, replaced; this object stays as it was. ``rows``: r x M' x A."""
        parts = list(self.parts)
        for i, part in zip(trials.tolist(), rows):
            parts[i] = _own(part)
        return Apart(parts)

    def map(self, f: Callable[[Tensor], Tensor]) -> "Apart":
        """``f`` of all trials as one tensor."""
        return Apart.of(f(self.view))


def apart(rows: Rows) -> Apart:
    """The same by trial, where it is not; a file or a selection of trials gives it whole."""
    return rows if isinstance(rows, Apart) else Apart.of(rows.view)


def together(Z: Tensor | Rows, slots: int) -> Tensor:
    """As one tensor with that many slots, R x M x A; of those that are unused no feature."""
    return pad(Z.view, (0, 0, 0, slots - Z.n)) if isinstance(Z, Rows) else Z
