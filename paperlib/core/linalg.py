"""Batched small-matrix work, growing histories, and the one place where code may look at a tensor.

Shapes: R trials, K arms, d dimensions; a leading 1 means that all trials share the tensor.
"""

from collections.abc import Callable
from contextlib import contextmanager

import torch
from torch import Tensor

_shortcuts = True


@contextmanager
def shortcuts(on: bool):
    """Within the block, ``needed`` and ``may_look`` behave on the CPU as they do on a device (``on=False``)."""
    global _shortcuts
    before, _shortcuts = _shortcuts, on
    try:
        yield
    finally:
        _shortcuts = before


def may_look(x: Tensor) -> bool:
    """Whether a branch may depend on the values of ``x``: on the CPU, where looking costs no synchronization."""
    return _shortcuts and x.device.type == "cpu"


def needed(mask: Tensor) -> bool:
    """Whether a masked branch must be computed: any row on the CPU; elsewhere always, without a look."""
    return bool(mask.any()) if may_look(mask) else True


def pick_device(device: str = "auto") -> str:
    """``auto`` is the GPU where there is one, else the CPU.

    Raises:
        ValueError: ``cuda`` without a CUDA device, or an unknown name.
    """
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device.split(":")[0] not in ("cpu", "cuda", "meta"):
        raise ValueError(f"device={device!r}; allowed: auto, cpu, cuda, cuda:N")
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise ValueError(f"device={device!r}; allowed here: cpu (no CUDA device was found)")
    return device


def synchronize(device: str | torch.device) -> None:
    """Wait until the device has done its work; nothing to do on the CPU."""
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize(device)


def inner(arms: Tensor, vector: Tensor) -> Tensor:
    """x^T v for every arm. ``arms``: R x K x d or 1 x K x d; ``vector``: R x d. Returns R x K."""
    if arms.shape[0] == 1:
        return vector @ arms[0].mT
    return torch.bmm(arms, vector.unsqueeze(2)).squeeze(2)


def quadratic(arms: Tensor, matrix: Tensor) -> Tensor:
    """x^T A x for every arm. ``arms``: R x K x d or 1 x K x d; ``matrix``: R x d x d. Returns R x K."""
    if arms.shape[0] == 1:  # one product serves all trials
        outer = (arms[0].unsqueeze(2) * arms[0].unsqueeze(1)).flatten(1)
        return matrix.flatten(1) @ outer.mT
    return (torch.bmm(arms, matrix) * arms).sum(-1)


def chosen(arms: Tensor, index: Tensor) -> Tensor:
    """The arm that each trial plays. ``arms``: R x K x d or 1 x K x d; ``index``: R. Returns R x d."""
    if arms.shape[0] == 1:
        return arms[0].index_select(0, index)
    return arms.gather(1, index.view(-1, 1, 1).expand(-1, 1, arms.shape[2])).squeeze(1)


def chosen_mean(means: Tensor, index: Tensor) -> Tensor:
    """The mean reward of the arm that each trial plays, R. ``means``: R x K, or 1 x K where the trials share it; ``index``: R."""
    return (
        means.take(index) if means.shape[0] == 1 else means.gather(1, index.unsqueeze(1)).squeeze(1)
    )


def apply(matrix: Tensor, vector: Tensor) -> Tensor:
    """A v. ``matrix``: R x d x d; ``vector``: R x d. Returns R x d."""
    return torch.bmm(matrix, vector.unsqueeze(2)).squeeze(2)


def rank_one(matrix: Tensor, vector: Tensor, weight: Tensor) -> Tensor:
    """A + w v v^T. ``matrix``: R x d x d; ``vector``: R x d; ``weight``: R."""
    return torch.addcmul(matrix, (weight.unsqueeze(1) * vector).unsqueeze(2), vector.unsqueeze(1))


def inverse(matrix: Tensor) -> Tensor:
    """Inverse of symmetric positive definite matrices by Cholesky, R x d x d."""
    return torch.cholesky_inverse(torch.linalg.cholesky_ex(matrix).L)


class _Fill:
    __slots__ = ("rows",)

    def __init__(self, rows: int):
        self.rows = rows


class Rows:
    """Append-only rows, R x n x ..., in a buffer of doubling capacity that successive states share.

    Each state sees its own first n rows. Appending to the newest costs one row; appending to an older
    state copies, so that no state ever sees another's rows.
    """

    __slots__ = ("buffer", "n", "_fill")

    def __init__(self, buffer: Tensor, n: int, fill: _Fill):
        self.buffer, self.n, self._fill = buffer, n, fill

    @classmethod
    def empty(cls, trials: int, *shape: int, **tkwargs) -> "Rows":
        """No rows yet, of the given shape each."""
        return cls.of(torch.empty(trials, 0, *shape, **tkwargs))

    @classmethod
    def of(cls, rows: Tensor, capacity: int = 64) -> "Rows":
        """A buffer of its own that holds ``rows``, R x n x ...."""
        n = rows.shape[1]
        buffer = rows.new_empty(
            rows.shape[0], max(capacity, 64, 1 << n.bit_length()), *rows.shape[2:]
        )
        buffer[:, :n] = rows
        return cls(buffer, n, _Fill(n))

    @property
    def view(self) -> Tensor:
        """The rows so far, R x n x ..., a view."""
        return self.buffer[:, : self.n]

    def append(self, row: Tensor) -> "Rows":
        """One more row, R x ...; this object stays as it was."""
        target = self
        if self._fill.rows != self.n or self.n == self.buffer.shape[1]:
            target = Rows.of(self.view, 2 * self.n)
        target.buffer[:, self.n] = row
        target._fill.rows = self.n + 1
        return Rows(target.buffer, self.n + 1, target._fill)

    def map(self, f: Callable[[Tensor], Tensor]) -> "Rows":
        """``f`` of the rows so far, in a buffer of its own."""
        return Rows.of(f(self.view))

    def __repr__(self) -> str:
        return f"Rows(n={self.n}, shape={tuple(self.view.shape)})"
