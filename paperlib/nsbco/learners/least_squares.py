"""Weighted least squares that forget: what is standard for linear models that drift, here with known curvature.

Source: Garivier & Moulines (2011), discounts and sliding windows; Cheung, Simchi-Levi & Zhu (2019) and Russac, Vernade &
Cappe (2019) for linear models; Keskin & Zeevi (2017) for prices. Where f(x) = b - sigma / 2 ||x - theta||^2, the mean of
y + sigma / 2 ||x||^2 is linear in (1, x) with slope sigma theta. The squares of x must not be fitted: from queries about
one center their columns are collinear with the constant, and the fit never moves.
Letters: R trials, d dimensions, p = d + 1.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor

from ...core import fields
from ...core.describe import frozen_dataclass
from ...core.linalg import Rows, add_rank_one
from ...core.streams import Draw
from ...core.validation import check_integer, raise_invalid
from ..model.task import OwnQueries, Task
from .restarted import batch_length

LONGEST = 1 << 40  # the largest window


class LeastSquaresState(NamedTuple):
    """The weighted sums, and where to query."""

    center: Tensor  # R x d
    gram: Tensor  # R x p x p, weighted sum of v v^T, v = (1, x)
    moment: Tensor  # R x p, weighted sum of (y + sigma / 2 ||x||^2) v
    window: Tensor  # R, W
    past: Rows | None  # R x n x (p + 1), v and y + sigma / 2 ||x||^2; None where nothing leaves
    rounds: int  # rounds heard


@frozen_dataclass
class LeastSquares(OwnQueries, ABC):
    """What both have in common; a subclass says in ``forget`` how it forgets, and in ``history`` whether the queries are kept.

    Queries are center +- delta e_j in turn, delta = min(c_0, h W^{-1/4}); every 2 d rounds the center, at first 0, moves to
    the fit's maximizer in X^o(c_0).

    Attributes:
        W: how many queries count, a whole number; or "oracle", ceil((T / V_T)^{2/3}). 64 is tuned: the best of 64, 256
            and 1024 for discounts, on an abrupt and a rotating path.
        ridge: > 0, added to the sum of v v^T, and never forgotten (ours).
        h: > 0, of delta.

    Raises:
        ValueError: a value out of range.
    """

    W: int | str = 64
    ridge: float = fields.positive(1e-3)
    h: float = fields.positive(0.25)

    def __post_init__(self):
        if isinstance(self.W, str):
            if self.W != "oracle":
                raise_invalid("W", self.W, "oracle, or an integer, at least 1")
        else:
            check_integer("W", self.W, most=LONGEST)

    @abstractmethod
    def forget(
        self, state: LeastSquaresState, v: Tensor, target: Tensor
    ) -> tuple[Tensor, Tensor, Rows | None]:
        """Add a query to the statistics, without those that no longer count."""

    def rounds_before_step(self, task: Task, step: int = 1) -> int:
        """Rounds before the first move of the center, or a later one: 2 d each."""
        return 2 * task.cset.dim * step

    def init(
        self, trials: int, task: Task, horizon: int | None, draw: Draw, **tkwargs
    ) -> LeastSquaresState:
        """At 0, with nothing heard.

        Raises:
            ValueError: no horizon for an oracle.
        """
        d = task.cset.dim
        zeros = lambda *shape: torch.zeros(trials, *shape, **tkwargs)
        if self.W == "oracle":
            W = batch_length(task.variation, horizon, needs="W=oracle")
        else:
            W = float(self.W)
        past = Rows.empty(trials, d + 2, **tkwargs) if self.history else None
        return LeastSquaresState(zeros(d), zeros(d + 1, d + 1), zeros(d + 1), zeros() + W, past, 0)

    def select(
        self, state: LeastSquaresState, task: Task, draw: Draw
    ) -> tuple[Tensor, LeastSquaresState]:
        """center + delta e_1, center - delta e_1, center + delta e_2, .... Returns R x d."""
        x, (j, second) = state.center.clone(), divmod(state.rounds % (2 * task.cset.dim), 2)
        delta = task.margin.clip(max=self.h * state.window**-0.25)
        x[:, j] += -delta if second else delta
        return x, state

    def update(
        self, state: LeastSquaresState, task: Task, x: Tensor, y: Tensor, draw: Draw
    ) -> LeastSquaresState:
        """Forget and add; after 2 d rounds the center moves. ``x``: R x d, ``y``: R."""
        v = torch.cat([torch.ones_like(x[:, :1]), x], 1)
        target = y + task.concavity / 2 * x.square().sum(1)
        gram, moment, past = self.forget(state, v, target)
        gram = add_rank_one(gram, v, torch.ones_like(y))
        moment = torch.addcmul(moment, v, target[:, None])
        center, rounds = state.center, state.rounds + 1
        if rounds % (2 * x.shape[1]) == 0:
            ridge = self.ridge * torch.eye(v.shape[1], dtype=v.dtype, device=v.device)
            factor, info = torch.linalg.cholesky_ex(gram + ridge)
            slope = torch.cholesky_solve(moment[:, :, None], factor)[:, 1:, 0]
            moved = task.inside(slope / task.concavity[:, None])
            # sums that do not factor, or overflow, say nothing of where the maximizer is
            known = (info == 0) & moved.isfinite().all(1)
            center = torch.where(known[:, None], moved, center)
        return LeastSquaresState(center, gram, moment, state.window, past, rounds)


@frozen_dataclass
class DiscountedLeastSquares(LeastSquares):
    """Least squares with weights (1 - 1/W)^age.

    Attributes, and values that are refused: as ``LeastSquares`` says.
    Source: Garivier & Moulines (2011); Russac, Vernade & Cappe (2019), D-LinUCB, without its bonus.
    """

    history = False

    def forget(
        self, state: LeastSquaresState, v: Tensor, target: Tensor
    ) -> tuple[Tensor, Tensor, Rows | None]:
        """The sums with every weight one round older."""
        keep = 1 - 1 / state.window
        return state.gram * keep[:, None, None], state.moment * keep[:, None], None


@frozen_dataclass
class SlidingWindowLeastSquares(LeastSquares):
    """Least squares of the last W queries.

    It keeps up to 2 W of them, and as an oracle all, since W then differs by trial.
    Attributes, and values that are refused: as ``LeastSquares`` says.
    Source: Garivier & Moulines (2011); Cheung, Simchi-Levi & Zhu (2019), SW-UCB, without its bonus.
    """

    history = True

    def forget(
        self, state: LeastSquaresState, v: Tensor, target: Tensor
    ) -> tuple[Tensor, Tensor, Rows | None]:
        """The sums without the query that is W rounds old now, and the queries with this one."""
        past = state.past.append(torch.cat([v, target[:, None]], 1))
        place = past.n - 1 - state.window.to(torch.int64)
        rows = torch.arange(len(v), device=v.device)
        old = past.view[rows, place.clamp(min=0)]
        weight = torch.where(place >= 0, -1.0, 0.0).to(v)
        gram = add_rank_one(state.gram, old[:, :-1], weight)
        moment = state.moment + (weight * old[:, -1])[:, None] * old[:, :-1]
        if self.W != "oracle" and past.n == 2 * self.W:
            past = Rows.of(past.view[:, -self.W :])
        return gram, moment, past
