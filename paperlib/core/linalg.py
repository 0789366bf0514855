"""Batched small-matrix work, growing histories, and the one place where code may look at a tensor.

What takes an ``Array`` works on tensors and on numpy arrays alike, see ``as_numpy_if_cpu``.
Shapes: R trials, K arms, d dimensions; a leading 1 means that all trials share the tensor.
"""

import functools
import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

Array = Tensor | np.ndarray
ROUNDING = 1e-12  # relative: indices as near as this tie, so that no choice hangs on the last bit
# For ``auto``, in seconds, all of GLB-OMD: on a device a round in which the estimate of some trial is projected
# (bench/nvidia-h200.json); on the CPU a round without projections (bench/cpu_and_cuda.json).
DEVICE_ROUND, CPU_ROUND, CPU_TRIAL, CPU_PRODUCT = 1.8e-3, 5e-5, 3e-7, 8e-10
SHORTCUTS = True  # tests set it to False: ``any_or_unknown``, ``can_branch_on_values`` and ``as_numpy_if_cpu`` then behave on the CPU as they do on a device


def can_branch_on_values(x: Tensor) -> bool:
    """Whether a branch may depend on the values of ``x``: on the CPU, where looking costs no synchronization."""
    return SHORTCUTS and x.is_cpu


def any_or_unknown(mask: Array) -> bool:
    """Whether a masked branch must be computed: any row on the CPU; on a device always, without a synchronization.

    For branches of few operations. A branch that costs more than a synchronization asks ``any_on_host``.
    """
    return bool(mask.any()) if isinstance(mask, np.ndarray) or can_branch_on_values(mask) else True


def any_on_host(mask: Array | bool) -> bool:
    """Whether the mask holds for any row; on a device this is one synchronization of 20 to 50 microseconds.

    A synchronization costs less than ten kernel launches. Therefore a learner asks once per masked branch, or once per
    block of an iterative solver, where that skips more operations. The meta device has no values: there it is True.
    """
    if isinstance(mask, Tensor) and mask.device.type == "meta":
        return True
    return mask if isinstance(mask, bool) else bool(mask.any())


def has_converged(moves: Array) -> bool:
    """Whether an iteration may stop because no row moves; on the meta device after the first block. A synchronization."""
    return moves.device.type == "meta" or not bool(moves.any())


def as_numpy_if_cpu(*tensors: Tensor) -> tuple[Array, ...]:
    """The same memory as numpy arrays where code may look, else the tensors as they are; not to be written to.

    A round's work on matrices as small as these costs its number of calls, and a call of numpy's costs less than torch's.
    """
    if not can_branch_on_values(tensors[0]):
        return tensors
    return tuple([(x.detach() if x.requires_grad else x).numpy() for x in tensors])


def as_tensors(*arrays: Array) -> tuple[Tensor, ...]:
    """The way back from ``as_numpy_if_cpu``."""
    return tuple([torch.from_numpy(x) if isinstance(x, np.ndarray) else x for x in arrays])


@functools.lru_cache(maxsize=64)
def _places(count: int, device: torch.device | None) -> Array:
    return np.arange(count) if device is None else torch.arange(count, device=device)


def arange_like(count: int, like: Array) -> Array:
    """0, 1, ..., count - 1, of the kind of ``like``. It is stored between rounds and must not be written to."""
    return _places(count, None if isinstance(like, np.ndarray) else like.device)


def masked_fill(x: Array, mask: Array, value: float) -> Array:
    """``x`` with a number where the mask holds: one operation, because ``torch.where`` first makes a tensor of a number."""
    return np.where(mask, value, x) if isinstance(x, np.ndarray) else x.masked_fill(mask, value)


def pick_device(
    device: str = "auto", trials: int | None = None, arms: int | None = None, dim: int | None = None
) -> str:
    """The device of that name; ``auto`` is CUDA only where a round is expected to take less time there, else the CPU.

    The rule of ``auto`` compares the most expensive rounds of GLB-OMD on a device with its cheapest rounds on the CPU, so that
    CUDA is rarely the wrong choice. The former were measured at 1.8 ms, whatever the number of trials. The latter take 0.05 ms
    and for each trial 0.3 + 0.0008 (K d + 10 d^2) microseconds. For example, with 20 arms in 5 dimensions CUDA is chosen from
    3,018 trials on. Where trials or dimension are unknown, ``auto`` is the CPU.

    Args:
        device: auto, cpu, cuda or cuda:N.
        trials: R that are played at once, where known.
        arms: K, where known.
        dim: d, where known.

    Raises:
        ValueError: ``cuda`` without a CUDA device, or an unknown name.
    """
    if device == "auto":
        if trials is None or dim is None or not torch.cuda.is_available():
            return "cpu"
        return "cuda" if trials >= least_trials_for_cuda(arms or 1, dim) else "cpu"
    if device.split(":")[0] not in ("cpu", "cuda", "meta"):
        raise ValueError(f"device={device!r}; allowed: auto, cpu, cuda, cuda:N")
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise ValueError(f"device={device!r}; allowed here: cpu (no CUDA device was found)")
    return device


def least_trials_for_cuda(arms: int, dim: int) -> int:
    """Return the number of trials from which on ``auto`` chooses CUDA."""
    per_trial = CPU_TRIAL + CPU_PRODUCT * (arms * dim + 10 * dim * dim)
    return math.ceil((DEVICE_ROUND - CPU_ROUND) / per_trial)


def synchronize(device: str | torch.device) -> None:
    """Wait until the device has done its work; nothing to do on the CPU."""
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize(device)


def as_scalar(x: Array) -> Array | float:
    """One number per trial as it is; in numpy that of a single trial as a Python float, whose arithmetic costs less."""
    return x.item() if isinstance(x, np.ndarray) and x.size == 1 else x


def per_trial_column(setting: float | Tensor) -> float | Array:
    """A setting with one value a trial as a column, R x 1, ``as_numpy_if_cpu``; a number as it is."""
    return as_numpy_if_cpu(setting.unsqueeze(1))[0] if isinstance(setting, Tensor) else setting


def per_trial_values(setting: float | Tensor) -> float | Array:
    """A setting with one value per trial, R, ``as_numpy_if_cpu``; a number as it is."""
    return as_numpy_if_cpu(setting)[0] if isinstance(setting, Tensor) else setting


def argmax_first(index: Array, size: float = 0.0) -> Array:
    """The first arm whose index is the largest up to rounding, R.

    Arms that are equal in exact arithmetic differ in the last bit, by the order in which a processor adds: they tie.
    Departure of every learner that chooses by it: no paper breaks ties, and a plain argmax leaves them to that bit.

    Args:
        index: R x K, the largest of each row finite.
        size: of the terms that an index is the sum of, where they may cancel and leave nothing but rounding.
    """
    if isinstance(index, Tensor):
        top = index.amax(1, keepdim=True)
        least = top.sub(top.abs() + size if size else top.abs(), alpha=ROUNDING)
        return (index >= least).view(torch.uint8).argmax(1)
    top = as_scalar(np.maximum.reduce(index, 1, keepdims=True))
    return (index >= top - ROUNDING * (abs(top) + size)).argmax(1)


def dot(x: Array, y: Array) -> Array:
    """x^T y along the last dimension."""
    return np.vecdot(x, y) if isinstance(x, np.ndarray) else torch.linalg.vecdot(x, y)


def arm_dot(arms: Array, vector: Array) -> Array:
    """x^T v for every arm. ``arms``: R x K x d or 1 x K x d; ``vector``: R x d. Returns R x K."""
    if arms.shape[0] < vector.shape[0]:  # one product serves all trials
        return vector @ arms[0].mT
    if isinstance(arms, np.ndarray):
        return dot(arms, vector[:, None])
    return torch.bmm(arms, vector.unsqueeze(2)).squeeze(2)


def arm_quadratic(arms: Array, matrix: Array) -> Array:
    """x^T A x for every arm. ``arms``: R x K x d or 1 x K x d; ``matrix``: R x d x d. Returns R x K."""
    if arms.shape[0] < matrix.shape[0]:  # one product serves all trials
        outer = (arms[0][:, :, None] * arms[0][:, None]).reshape(arms.shape[1], -1)
        return matrix.reshape(matrix.shape[0], -1) @ outer.mT
    moved = arms @ matrix if isinstance(arms, np.ndarray) else torch.bmm(arms, matrix)
    return dot(moved, arms)


def log(x: Array) -> Array:
    """ln x."""
    return np.log(x) if isinstance(x, np.ndarray) else x.log()


def divide_by_sqrt(c: float | Array, x: Array) -> Array:
    """c / sqrt(x). ``x``: floats, because ``rsqrt`` of integers is in float32."""
    return c / x**0.5 if isinstance(x, np.ndarray) else c * x.rsqrt()


def safe_sqrt(square: Array) -> Array:
    """The square root of what is negative by rounding at most."""
    if isinstance(square, np.ndarray):
        return np.sqrt(np.maximum(square, 0.0))
    return square.clamp(min=0).sqrt()


def mahalanobis_norm(arms: Array, matrix: Array) -> Array:
    """||x||_A for every arm; arguments as for ``arm_quadratic``. Returns R x K."""
    return safe_sqrt(arm_quadratic(arms, matrix))


def take_arm(arms: Array, index: Array) -> Array:
    """The arm that each trial plays. ``arms``: R x K x d or 1 x K x d; ``index``: R. Returns R x d."""
    if isinstance(arms, np.ndarray):
        if len(index) == 1:  # a view, which costs less than a copy
            return arms[:, index[0]]
        return arms[0][index] if arms.shape[0] == 1 else arms[np.arange(len(index)), index]
    if arms.shape[0] == 1:
        return arms.index_select(1, index).squeeze(0)
    return arms.gather(1, index.view(-1, 1, 1).expand(-1, 1, arms.shape[2])).squeeze(1)


def take_mean(means: Tensor, index: Tensor) -> Tensor:
    """The mean reward of the arm that each trial plays, R. ``means``: R x K, or 1 x K where the trials share it; ``index``: R."""
    return (
        means.take(index) if means.shape[0] == 1 else means.gather(1, index.unsqueeze(1)).squeeze(1)
    )


def matvec(matrix: Array, vector: Array) -> Array:
    """A v. ``matrix``: R x d x d; ``vector``: R x d. Returns R x d."""
    if isinstance(matrix, np.ndarray):
        return dot(matrix, vector[:, None])
    return torch.bmm(matrix, vector.unsqueeze(2)).squeeze(2)


def matmul(a: Array, b: Array) -> Array:
    """A B. ``a``: R x n x m; ``b``: R x m x k. On a tensor ``@`` dispatches six operations, ``bmm`` one."""
    return a @ b if isinstance(a, np.ndarray) else torch.bmm(a, b)


def add_outer(matrix: Array, weight: Array, row: Array) -> Array:
    """A + w v^T v for row vectors v. ``matrix``: R x d x d; ``weight``: R x 1 x 1 or a ``as_scalar``; ``row``: R x 1 x d."""
    if isinstance(matrix, np.ndarray):
        return matrix + weight * row.mT * row
    return torch.addcmul(matrix, (weight * row).mT, row)


def add_rank_one(matrix: Tensor, vector: Tensor, weight: Tensor) -> Tensor:
    """A + w v v^T. ``matrix``: R x d x d; ``vector``: R x d; ``weight``: R."""
    return torch.addcmul(matrix, (weight.unsqueeze(1) * vector).unsqueeze(2), vector.unsqueeze(1))


def invert_spd(matrix: Tensor) -> Tensor:
    """Inverse of symmetric positive definite matrices by Cholesky, R x d x d."""
    return torch.cholesky_inverse(torch.linalg.cholesky_ex(matrix).L)


class Rows:
    """Append-only rows, R x n x ..., in a buffer of doubling capacity that successive states share.

    Each state sees its own first n rows. Appending to the newest costs one row; appending to an older
    state copies, so that no state ever sees another's rows.
    """

    __slots__ = ("buffer", "n", "_filled")

    def __init__(self, buffer: Tensor, n: int, filled: list[int]):
        # one list for all states of a buffer, with the number of its rows that are taken
        self.buffer, self.n, self._filled = buffer, n, filled

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
        return cls(buffer, n, [n])

    @property
    def view(self) -> Tensor:
        """The rows so far, R x n x ..., a view."""
        return self.buffer[:, : self.n]

    def append(self, row: Tensor) -> "Rows":
        """One more row, R x ...; this object stays as it was."""
        target = self
        if self._filled != [self.n] or self.n == self.buffer.shape[1]:
            target = Rows.of(self.view, 2 * self.n)
        target.buffer[:, self.n] = row
        target._filled[0] = self.n + 1
        return Rows(target.buffer, self.n + 1, target._filled)

    def map(self, f: Callable[[Tensor], Tensor]) -> "Rows":
        """``f`` of the rows so far, in a buffer of its own."""
        return Rows.of(f(self.view))

    def __repr__(self) -> str:
        return f"Rows(n={self.n}, shape={tuple(self.view.shape)})"
