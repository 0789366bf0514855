"""Batched linear algebra for small matrices, growing histories, and branches on the values of tensors.

Functions of an ``Array`` accept tensors and NumPy arrays, see ``as_numpy_if_cpu``. In the loop over rounds, learners branch on the
values of tensors only through functions of this module, because such a branch forces a synchronization on a GPU.
Shapes: R trials, K arms, d dimensions; a leading 1 means that all trials share the tensor.
"""

import functools
import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

Array = Tensor | np.ndarray
# Relative tolerance of ties between indices: no choice may depend on the last bit.
ROUNDING = 1e-12
# Run times in seconds for ``auto``, all measured with GLB-OMD. On a GPU: a round in which the estimate of some trial is
# projected (bench/nvidia-h200.json). On the CPU: a round without projections (bench/cpu_and_cuda.json).
DEVICE_ROUND, CPU_ROUND, CPU_TRIAL, CPU_PRODUCT = 1.8e-3, 5e-5, 3e-7, 8e-10
# Tests set SHORTCUTS to False. Then ``any_or_unknown``, ``can_branch_on_values`` and ``as_numpy_if_cpu`` behave on the
# CPU as they do on a GPU.
SHORTCUTS = True


def can_branch_on_values(x: Tensor) -> bool:
    """Return whether a branch may depend on the values of ``x``. It may on the CPU, where this needs no synchronization."""
    return SHORTCUTS and x.is_cpu


def any_or_unknown(mask: Array) -> bool:
    """Return whether a masked branch must be computed: on the CPU if any row is True, on a GPU always.

    This needs no synchronization and suits branches of few operations. For a branch that costs more than a synchronization use
    ``any_on_host``.
    """
    return bool(mask.any()) if isinstance(mask, np.ndarray) or can_branch_on_values(mask) else True


def any_on_host(mask: Array | bool) -> bool:
    """Return whether the mask is True for any row. On a GPU this is one synchronization of 20 to 50 microseconds.

    A synchronization costs less than ten kernel launches. Therefore a learner calls this function once per masked branch, or once
    per block of an iterative solver, if that skips more operations. The meta device has no values, so the result is True there.
    """
    if isinstance(mask, Tensor) and mask.device.type == "meta":
        return True
    return mask if isinstance(mask, bool) else bool(mask.any())


def has_converged(moves: Array) -> bool:
    """Return whether an iteration may stop because no row changes any more. On a GPU this is one synchronization.

    On the meta device an iteration stops after the first block.
    """
    return moves.device.type == "meta" or not bool(moves.any())


def as_numpy_if_cpu(*tensors: Tensor) -> tuple[Array, ...]:
    """View CPU tensors as NumPy arrays without a copy; return tensors on a GPU unchanged. Do not write to the result.

    With matrices this small, the run time of a round is determined by the number of calls, and a NumPy call takes less time than a
    torch call.
    """
    if not can_branch_on_values(tensors[0]):
        return tensors
    return tuple([(x.detach() if x.requires_grad else x).numpy() for x in tensors])


def as_tensors(*arrays: Array) -> tuple[Tensor, ...]:
    """Return NumPy arrays as tensors; the inverse of ``as_numpy_if_cpu``."""
    return tuple([torch.from_numpy(x) if isinstance(x, np.ndarray) else x for x in arrays])


@functools.lru_cache(maxsize=64)
def _places(count: int, device: torch.device | None) -> Array:
    return np.arange(count) if device is None else torch.arange(count, device=device)


def arange_like(count: int, like: Array) -> Array:
    """Return 0, 1, ..., count - 1 as an array of the type of ``like``. It is cached, so do not write to it."""
    return _places(count, None if isinstance(like, np.ndarray) else like.device)


def masked_fill(x: Array, mask: Array, value: float) -> Array:
    """Return ``x`` with a number where the mask is True.

    This is a single operation. In contrast, ``torch.where`` first converts the number to a tensor.
    """
    return np.where(mask, value, x) if isinstance(x, np.ndarray) else x.masked_fill(mask, value)


def pick_device(
    device: str = "auto", trials: int | None = None, arms: int | None = None, dim: int | None = None
) -> str:
    """Return the device of that name; ``auto`` is CUDA if a round is expected to take less time there, else the CPU.

    The rule of ``auto`` compares the most expensive rounds of GLB-OMD on a GPU with its cheapest rounds on the CPU, so that
    CUDA is rarely the wrong choice. The former were measured at 1.8 ms, for any number of trials. The latter take 0.05 ms plus
    0.3 + 0.0008 (K d + 10 d^2) microseconds per trial. For example, with 20 arms in 5 dimensions CUDA is chosen from
    3,018 trials on. If the number of trials or the dimension is unknown, ``auto`` is the CPU.

    Args:
        device: auto, cpu, cuda or cuda:N.
        trials: R, the number of simultaneous trials, if known.
        arms: K, if known.
        dim: d, if known.

    Raises:
        ValueError: ``cuda`` without a CUDA device, or an unknown name.

    Examples:
        >>> from paperlib.core.linalg import least_trials_for_cuda, pick_device
        >>> pick_device("cpu")
        'cpu'
        >>> least_trials_for_cuda(arms=20, dim=5)
        3018
    """
    if device == "auto":
        if trials is None or dim is None or not torch.cuda.is_available():
            return "cpu"
        return "cuda" if trials >= least_trials_for_cuda(arms or 1, dim) else "cpu"
    if device.split(":")[0] not in ("cpu", "cuda", "meta"):
        raise ValueError(
            f"device must be 'auto', 'cpu', 'cuda' or 'cuda:N' with an integer N, got {device!r}"
        )
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise ValueError(f"device must be 'cpu', because no CUDA device was found, got {device!r}")
    return device


def least_trials_for_cuda(arms: int, dim: int) -> int:
    """Return the smallest number of trials for which ``auto`` chooses CUDA."""
    per_trial = CPU_TRIAL + CPU_PRODUCT * (arms * dim + 10 * dim * dim)
    return math.ceil((DEVICE_ROUND - CPU_ROUND) / per_trial)


def synchronize(device: str | torch.device) -> None:
    """Wait until the device has finished its work; on the CPU return immediately."""
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize(device)


def as_scalar(x: Array) -> Array | float:
    """Return a NumPy array of one entry as a Python float, whose arithmetic is faster; return other arrays unchanged."""
    return x.item() if isinstance(x, np.ndarray) and x.size == 1 else x


def per_trial_column(setting: float | Tensor) -> float | Array:
    """Return a setting with one value per trial as a column, R x 1, by ``as_numpy_if_cpu``; return a number unchanged."""
    return as_numpy_if_cpu(setting.unsqueeze(1))[0] if isinstance(setting, Tensor) else setting


def per_trial_values(setting: float | Tensor) -> float | Array:
    """Return a setting with one value per trial, R, by ``as_numpy_if_cpu``; return a number unchanged."""
    return as_numpy_if_cpu(setting)[0] if isinstance(setting, Tensor) else setting


def argmax_first(index: Array, size: float = 0.0) -> Array:
    """Return the first arm whose index is the largest up to rounding, R.

    Indices that are equal in exact arithmetic may differ in the last bit, because the order of additions depends on the processor.
    Such arms are regarded as tied.

    Departure of every learner that uses it: no paper specifies how ties are broken, and with a plain argmax they depend on the last bit.

    Args:
        index: R x K, the largest of each row finite.
        size: absolute value of the terms whose sum is an index. Pass it if the terms may cancel, so that only rounding errors remain.

    Examples:
        >>> import numpy as np
        >>> from paperlib.core.linalg import argmax_first
        >>> argmax_first(np.array([[0.3, 0.1 + 0.2, 0.0]])).tolist()
        [0]
    """
    if isinstance(index, Tensor):
        top = index.amax(1, keepdim=True)
        least = top.sub(top.abs() + size if size else top.abs(), alpha=ROUNDING)
        # argmax returns the first maximum; it is not implemented for bool tensors, hence uint8.
        return (index >= least).view(torch.uint8).argmax(1)
    top = as_scalar(np.maximum.reduce(index, 1, keepdims=True))
    return (index >= top - ROUNDING * (abs(top) + size)).argmax(1)


def dot(x: Array, y: Array) -> Array:
    """Return x^T y along the last dimension."""
    return np.vecdot(x, y) if isinstance(x, np.ndarray) else torch.linalg.vecdot(x, y)


def arm_dot(arms: Array, vector: Array) -> Array:
    """Return x^T v for every arm, R x K. ``arms``: R x K x d or 1 x K x d; ``vector``: R x d."""
    if arms.shape[0] < vector.shape[0]:  # shared arms: a single matrix product for all trials
        return vector @ arms[0].mT
    if isinstance(arms, np.ndarray):
        return dot(arms, vector[:, None])
    return torch.bmm(arms, vector.unsqueeze(2)).squeeze(2)


def arm_quadratic(arms: Array, matrix: Array) -> Array:
    """Return x^T A x for every arm, R x K. ``arms``: R x K x d or 1 x K x d; ``matrix``: R x d x d."""
    # For shared arms, x^T A x = <A, x x^T> is a single matrix product for all trials.
    if arms.shape[0] < matrix.shape[0]:
        outer = (arms[0][:, :, None] * arms[0][:, None]).reshape(arms.shape[1], -1)
        return matrix.reshape(matrix.shape[0], -1) @ outer.mT
    moved = arms @ matrix if isinstance(arms, np.ndarray) else torch.bmm(arms, matrix)
    return dot(moved, arms)


def log(x: Array) -> Array:
    """Return ln x."""
    return np.log(x) if isinstance(x, np.ndarray) else x.log()


def divide_by_sqrt(c: float | Array, x: Array) -> Array:
    """Return c / sqrt(x). ``x``: floats, because ``rsqrt`` of integers is in float32."""
    return c / x**0.5 if isinstance(x, np.ndarray) else c * x.rsqrt()


def safe_sqrt(square: Array) -> Array:
    """Return the square root of numbers that are nonnegative up to rounding; negative ones are set to 0."""
    if isinstance(square, np.ndarray):
        return np.sqrt(np.maximum(square, 0.0))
    return square.clamp(min=0).sqrt()


def mahalanobis_norm(arms: Array, matrix: Array) -> Array:
    """Return ||x||_A for every arm, R x K. Arguments as for ``arm_quadratic``."""
    return safe_sqrt(arm_quadratic(arms, matrix))


def take_arm(arms: Array, index: Array) -> Array:
    """Return the features of the arm with index ``index`` in each trial, R x d. ``arms``: R x K x d or 1 x K x d; ``index``: R."""
    if isinstance(arms, np.ndarray):
        if len(index) == 1:  # basic indexing returns a view, which is cheaper than a copy
            return arms[:, index[0]]
        return arms[0][index] if arms.shape[0] == 1 else arms[np.arange(len(index)), index]
    if arms.shape[0] == 1:
        return arms.index_select(1, index).squeeze(0)
    return arms.gather(1, index.view(-1, 1, 1).expand(-1, 1, arms.shape[2])).squeeze(1)


def take_mean(means: Tensor, index: Tensor) -> Tensor:
    """Return the mean reward of the arm with index ``index`` in each trial, R.

    ``means``: R x K, or 1 x K if the trials share it; ``index``: R.
    """
    return (
        means.take(index) if means.shape[0] == 1 else means.gather(1, index.unsqueeze(1)).squeeze(1)
    )


def matvec(matrix: Array, vector: Array) -> Array:
    """Return A v, R x d. ``matrix``: R x d x d; ``vector``: R x d."""
    if isinstance(matrix, np.ndarray):
        return dot(matrix, vector[:, None])
    return torch.bmm(matrix, vector.unsqueeze(2)).squeeze(2)


def matmul(a: Array, b: Array) -> Array:
    """Return A B. ``a``: R x n x m; ``b``: R x m x k. For tensors ``@`` dispatches six operations, ``bmm`` only one."""
    return a @ b if isinstance(a, np.ndarray) else torch.bmm(a, b)


def add_outer(matrix: Array, weight: Array, row: Array) -> Array:
    """Return A + w v^T v for row vectors v. ``matrix``: R x d x d; ``weight``: R x 1 x 1 or a number; ``row``: R x 1 x d."""
    if isinstance(matrix, np.ndarray):
        return matrix + weight * row.mT * row
    return torch.addcmul(matrix, (weight * row).mT, row)


def add_rank_one(matrix: Tensor, vector: Tensor, weight: Tensor) -> Tensor:
    """Return A + w v v^T. ``matrix``: R x d x d; ``vector``: R x d; ``weight``: R."""
    return torch.addcmul(matrix, (weight.unsqueeze(1) * vector).unsqueeze(2), vector.unsqueeze(1))


def invert_spd(matrix: Tensor) -> Tensor:
    """Return the inverse of symmetric positive definite matrices by Cholesky factorization, R x d x d."""
    return torch.cholesky_inverse(torch.linalg.cholesky_ex(matrix).L)


class Rows:
    """Append-only history of rows, R x n x ..., in a buffer of doubling capacity that successive states share.

    Each object shows its first n rows of the buffer. Appending to the newest object writes one row, and copies the buffer only if it is
    full. Appending to an older object copies the rows, so that no object ever shows rows of another one.

    Examples:
        >>> import torch
        >>> from paperlib.core.linalg import Rows
        >>> old = Rows.empty(2, 3)
        >>> new = old.append(torch.ones(2, 3))
        >>> old.view.shape, new.view.shape
        (torch.Size([2, 0, 3]), torch.Size([2, 1, 3]))
    """

    __slots__ = ("buffer", "n", "_filled")

    def __init__(self, buffer: Tensor, n: int, filled: list[int]):
        # All objects of a buffer share this list, whose single entry is the number of rows in use.
        self.buffer, self.n, self._filled = buffer, n, filled

    @classmethod
    def empty(cls, trials: int, *shape: int, **tkwargs) -> "Rows":
        """Return a history without rows, for rows of the given shape."""
        return cls.of(torch.empty(trials, 0, *shape, **tkwargs))

    @classmethod
    def of(cls, rows: Tensor, capacity: int = 64) -> "Rows":
        """Return a history with a copy of ``rows``, R x n x ..., in a new buffer."""
        n = rows.shape[1]
        buffer = rows.new_empty(
            rows.shape[0], max(capacity, 64, 1 << n.bit_length()), *rows.shape[2:]
        )
        buffer[:, :n] = rows
        return cls(buffer, n, [n])

    @property
    def view(self) -> Tensor:
        """View of the rows so far, R x n x ...."""
        return self.buffer[:, : self.n]

    def append(self, row: Tensor) -> "Rows":
        """Return the history with one more row, R x ...; this object is unchanged."""
        target = self
        # Copy if another state has already appended to this buffer, or if the buffer is full.
        if self._filled != [self.n] or self.n == self.buffer.shape[1]:
            target = Rows.of(self.view, 2 * self.n)
        target.buffer[:, self.n] = row
        target._filled[0] = self.n + 1
        return Rows(target.buffer, self.n + 1, target._filled)

    def map(self, f: Callable[[Tensor], Tensor]) -> "Rows":
        """Apply ``f`` to the rows so far and return the result in a new buffer."""
        return Rows.of(f(self.view))

    def __repr__(self) -> str:
        return f"Rows(n={self.n}, shape={tuple(self.view.shape)})"
