"""A convex set known by its linear oracle and a ball inside, and the probe that an oracle has to pass.

Shapes: R trials, n dimensions.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ..core.streams import Streams
from ..core.validation import LARGEST, array, positive, refuse
from .sets import ConvexSet, support

DIRECTIONS = 64  # of the probe
ROUNDING = 1e-6  # of an oracle of one's own, which may compute in single precision; relative


class OracleSet(NamedTuple):
    """K = (K' - center) / radius for a set K' that is known by its oracle. It cannot be projected on.

    R and D are as told, else bounds from the widths along the axes.
    """

    dim: int
    oracle: Callable[[np.ndarray], np.ndarray]  # n -> n, argmin over K' of <c, .>
    center: Tensor  # 1 x n
    radius: Tensor  # 1
    R: Tensor  # 1
    D: Tensor  # 1
    r: float = 1.0
    exact: bool = True

    def lmo(self, c: Tensor) -> Tensor:
        """The oracle's answers, trial by trial on the host. ``c``: R x n.

        Raises:
            RuntimeError: an answer that is not n finite numbers.
        """
        found = np.stack([_answer(self.oracle, row) for row in c.detach().cpu().numpy()])
        return (torch.from_numpy(found).to(c) - self.center) / self.radius.unsqueeze(1)

    def to_native(self, y: Tensor) -> Tensor:
        """x = center + radius y."""
        return self.center + self.radius.unsqueeze(1) * y


def _answer(oracle: Callable[[np.ndarray], np.ndarray], c: np.ndarray) -> np.ndarray:
    """n finite numbers, or RuntimeError: numpy would broadcast an answer of another shape in silence."""
    answer = oracle(c.copy())  # the learner's gradient stays the learner's
    try:
        found = np.asarray(answer, float)
    except (TypeError, ValueError):
        found = np.empty(())
    if found.shape != c.shape or not np.isfinite(found).all():
        raise RuntimeError(
            f"oracle: its answer to c={c!r} is {answer!r}; allowed: a point of the set, {len(c)} finite numbers"
        )
    return found


def oracle_set(
    oracle: Callable[[np.ndarray], np.ndarray],
    center,
    radius: float,
    diameter: float | None = None,
    outer: float | None = None,
    **tkwargs,
) -> OracleSet:
    """A set from its oracle and a ball inside.

    Args:
        oracle: maps c, n numbers, to a point of the set that minimizes <c, .>.
        center: n numbers, the ball's center.
        radius: of the ball, > 0.
        diameter: of the set, in its own unit as ``radius`` is, where it is known; None: a bound from the widths along the
            axes, up to sqrt(n) times too large, as for the ball of l1. Learning rates are in proportion to it.
        outer: radius of a ball about the center around the set, where it is known; None: a bound from the same widths.

    Raises:
        ValueError: no function or no such numbers, an answer of the oracle of another shape, or a diameter or outer radius
            that points of the set exceed.
        RuntimeError: the oracle's answers are not finite, or its set does not hold the ball (64 directions are tried, to
            a relative 1e-6, so that oracles in single precision pass).
    """
    if not callable(oracle):
        refuse("oracle", oracle, "a function of n numbers")
    radius = positive("radius", radius)
    tkwargs = {"dtype": torch.float64} | tkwargs
    middle = np.atleast_1d(array("center", center))
    if middle.ndim != 1 or not len(middle) or not (abs(middle) <= LARGEST).all():
        refuse("center", center, f"n finite numbers, n at least 1, up to {LARGEST:g} in size")
    n = len(middle)
    try:
        shape = np.shape(oracle(np.ones(n)))
    except (TypeError, ValueError) as error:
        raise ValueError(f"oracle: {error}; allowed: a function of n numbers") from error
    if shape != (n,):
        raise ValueError(f"oracle: answers of shape {shape}; allowed: ({n},), as the center")
    number = lambda x: torch.as_tensor(np.asarray(x, float), **tkwargs).reshape(1, -1)
    guess = OracleSet(
        n, oracle, number(middle), number(radius)[0], number(np.inf)[0], number(np.inf)[0]
    )
    axes = torch.eye(n, **tkwargs)
    tips, feet = guess.lmo(-axes), guess.lmo(axes)  # points of the set
    up, down = tips.diagonal(), -feet.diagonal()
    found = guess._replace(
        R=torch.linalg.vector_norm(torch.maximum(up, down)).view(1),
        D=torch.linalg.vector_norm(up + down).view(1),
    )
    points = torch.cat([tips, feet])
    reach = {
        "diameter": ("D", diameter, lambda: torch.cdist(points, points).max()),
        "outer": ("R", outer, lambda: torch.linalg.vector_norm(points, dim=1).max()),
    }
    for name, (field, value, farthest) in reach.items():
        if value is not None:
            least = radius * farthest().item()
            if positive(name, value) < least * (1 - ROUNDING):
                raise ValueError(
                    f"{name}={value!r}; allowed: at least {least:.10g}, which points of the set reach"
                )
            found = found._replace(**{field: number(value / radius)[0]})
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
    slack = ROUNDING if isinstance(cset, OracleSet) else 1e-9
    for k in range(DIRECTIONS):
        u = Streams(0, [k], cset.D.device, cset.D.dtype).at(-1).sphere("probe", n).expand(R, n)
        h = support(cset, u)
        if not bool(h.isfinite().all()):
            raise RuntimeError("lmo: its answers are not finite; allowed: points of the set")
        if not bool(((h >= cset.r - slack) & (h <= cset.R * (1 + slack) + slack)).all()):
            reach = f"{h.min().item():.10g} to {h.max().item():.10g}"
            raise RuntimeError(
                f"lmo: its set reaches {reach} along some direction; allowed: {cset.r:g} to {cset.R.max().item():.10g}, the balls inside and around"
            )
