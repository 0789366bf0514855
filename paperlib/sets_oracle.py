"""A convex set known by its linear oracle and a ball inside, and the probe that an oracle has to pass.

Shapes: R trials, n dimensions.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from .sets import ConvexSet, support
from .streams import Streams
from .validation import positive

DIRECTIONS = 64  # of the probe


class OracleSet(NamedTuple):
    """K = (K' - center) / radius for a set K' that is known by its oracle. It cannot be projected on.

    R and D are bounds from the widths along the axes.
    """

    dim: int
    oracle: Callable[[np.ndarray], np.ndarray]  # n -> n, argmin over K' of <c, .>
    center: Tensor  # 1 x n
    radius: Tensor  # 1
    R: Tensor       # 1
    D: Tensor       # 1
    r: float = 1.0
    exact: bool = True

    def lmo(self, c: Tensor) -> Tensor:
        """The oracle's answers, trial by trial on the host. ``c``: R x n."""
        found = np.stack([np.asarray(self.oracle(row), float) for row in c.detach().cpu().numpy()])
        return (torch.from_numpy(found).to(c) - self.center) / self.radius.unsqueeze(1)

    def to_native(self, y: Tensor) -> Tensor:
        """x = center + radius y."""
        return self.center + self.radius.unsqueeze(1) * y


def oracle_set(oracle: Callable[[np.ndarray], np.ndarray], center, radius: float, **tkwargs) -> OracleSet:
    """A set from its oracle and a ball inside.

    Args:
        oracle: maps c, n numbers, to a point of the set that minimizes <c, .>.
        center: n numbers, the ball's center.
        radius: of the ball, > 0.

    Raises:
        ValueError: no such numbers, or an answer of the oracle of another shape.
        RuntimeError: the oracle's answers are not finite, or its set does not hold the ball (64 directions are tried).
    """
    positive("radius", radius)
    tkwargs = {"dtype": torch.float64} | tkwargs
    center = np.atleast_1d(np.asarray(center, float))
    if center.ndim != 1 or not np.isfinite(center).all():
        raise ValueError(f"center={center!r}; allowed: n finite numbers")
    n = len(center)
    answer = np.asarray(oracle(np.ones(n)), float)
    if answer.shape != (n,):
        raise ValueError(f"oracle: answers of shape {answer.shape}; allowed: ({n},), as the center")
    number = lambda x: torch.as_tensor(np.asarray(x, float), **tkwargs).reshape(1, -1)
    guess = OracleSet(n, oracle, number(center), number(radius)[0], number(np.inf)[0], number(np.inf)[0])
    axes = torch.eye(n, **tkwargs)
    up, down = support(guess, axes), support(guess, -axes)
    if not bool((up.isfinite() & down.isfinite()).all()):
        raise RuntimeError("oracle: its answers are not finite; allowed: points of the set")
    found = guess._replace(R=torch.linalg.vector_norm(torch.maximum(up, down)).view(1), D=torch.linalg.vector_norm(up + down).view(1))
    probe(found)
    return found


def probe(cset: ConvexSet) -> None:
    """Assumption r B in K in R B by the oracle, along 64 directions of a fixed stream; a set whose oracle is not its own is passed over.

    Raises:
        RuntimeError: answers that are not finite, or a support function outside [r, R].
    """
    if not cset.exact or cset.D.device.type == "meta":
        return
    R, n = len(cset.D), cset.dim
    for k in range(DIRECTIONS):
        u = Streams(0, [k], cset.D.device, cset.D.dtype).at(-1).sphere("probe", n).expand(R, n)
        h = support(cset, u)
        if not bool(h.isfinite().all()):
            raise RuntimeError("lmo: its answers are not finite; allowed: points of the set")
        if not bool(((h >= cset.r - 1e-9) & (h <= cset.R * (1 + 1e-9) + 1e-9)).all()):
            raise RuntimeError(f"lmo: its set reaches {h.min().item():.4g} to {h.max().item():.4g} along some direction; allowed: {cset.r:g} to {cset.R.max().item():.4g}, the balls inside and around")
