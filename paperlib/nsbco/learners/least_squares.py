"""Discounted and sliding-window least squares, the standard for drifting linear models, here with known curvature.

If f(x) = b - sigma / 2 ||x - theta||^2, the mean of y + sigma / 2 ||x||^2 is linear in (1, x) with slope sigma theta. Therefore a
linear fit gives the maximizer. The squares of x must not be fitted as well: for queries around one center their columns are
collinear with the constant, and the fit never moves.

Source: Garivier & Moulines (2011), discounts and sliding windows; Cheung, Simchi-Levi & Zhu (2019) and Russac, Vernade &
Cappe (2019) for linear models; Keskin & Zeevi (2017) for prices.
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
    """Weighted sums of the regression, and the center of the queries."""

    center: Tensor  # R x d
    gram: Tensor  # R x p x p, weighted sum of v v^T, v = (1, x)
    moment: Tensor  # R x p, weighted sum of (y + sigma / 2 ||x||^2) v
    window: Tensor  # R, W
    past: Rows | None  # R x n x (p + 1), v and y + sigma / 2 ||x||^2; None with discounts
    rounds: int  # observed rounds


@frozen_dataclass
class LeastSquares(OwnQueries, ABC):
    """Base class of both: a subclass defines how to ``forget``, and in ``history`` whether the queries are stored.

    Queries are center +- delta e_j in turn with delta = min(c_0, h W^{-1/4}). The center starts at 0. Every 2 d rounds it moves to
    the maximizer of the fit in X^o(c_0).

    Attributes:
        W: window, the effective number of queries in the fit, an integer; or "oracle", ceil((T / V_T)^{2/3}). The default 64 is
            tuned: it was the best of 64, 256 and 1024 for discounts, on an abrupt and a rotating path.
        ridge: > 0, added to the sum of v v^T and not discounted (our addition).
        h: > 0, scale of the width delta.

    Raises:
        ValueError: a value out of range.
    """

    W: int | str = 64
    ridge: float = fields.positive(1e-3)
    h: float = fields.positive(0.25)

    def __post_init__(self):
        if isinstance(self.W, str):
            if self.W != "oracle":
                raise_invalid("W", self.W, "'oracle' or an integer of at least 1")
        else:
            check_integer("W", self.W, most=LONGEST)

    @abstractmethod
    def forget(
        self, state: LeastSquaresState, v: Tensor, target: Tensor
    ) -> tuple[Tensor, Tensor, Rows | None]:
        """Return the weighted sums without the forgotten part, and the stored queries; ``update`` then adds the new query."""

    def rounds_before_step(self, task: Task, step: int = 1) -> int:
        """Return the number of rounds before the first or a later step of the center: 2 d per step."""
        return 2 * task.cset.dim * step

    def init(
        self, trials: int, task: Task, horizon: int | None, draw: Draw, **tkwargs
    ) -> LeastSquaresState:
        """Return the state with center 0 and empty sums.

        Raises:
            ValueError: W is "oracle" and there is no horizon.
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
        """Return the query, R x d: center + delta e_1, center - delta e_1, center + delta e_2, ... in turn."""
        x, (j, second) = state.center.clone(), divmod(state.rounds % (2 * task.cset.dim), 2)
        delta = task.margin.clip(max=self.h * state.window**-0.25)
        x[:, j] += -delta if second else delta
        return x, state

    def update(
        self, state: LeastSquaresState, task: Task, x: Tensor, y: Tensor, draw: Draw
    ) -> LeastSquaresState:
        """Forget, add the new query, and move the center every 2 d rounds. ``x``: R x d, ``y``: R."""
        v = torch.cat([torch.ones_like(x[:, :1]), x], 1)
        target = y + task.concavity / 2 * x.square().sum(1)
        # Adding sigma / 2 ||x||^2 to the reward makes its mean linear in v = (1, x).
        gram, moment, past = self.forget(state, v, target)
        gram = add_rank_one(gram, v, torch.ones_like(y))
        moment = torch.addcmul(moment, v, target[:, None])
        center, rounds = state.center, state.rounds + 1
        if rounds % (2 * x.shape[1]) == 0:
            ridge = self.ridge * torch.eye(v.shape[1], dtype=v.dtype, device=v.device)
            factor, info = torch.linalg.cholesky_ex(gram + ridge)
            slope = torch.cholesky_solve(moment[:, :, None], factor)[:, 1:, 0]
            # The slope is sigma theta, and theta is the maximizer of the fit.
            moved = task.inside(slope / task.concavity[:, None])
            # If the sums overflow or cannot be factored, there is no estimate, and the center stays where it is.
            known = (info == 0) & moved.isfinite().all(1)
            center = torch.where(known[:, None], moved, center)
        return LeastSquaresState(center, gram, moment, state.window, past, rounds)


@frozen_dataclass
class DiscountedLeastSquares(LeastSquares):
    """Least squares with weights (1 - 1/W)^age.

    For attributes and errors see ``LeastSquares``.

    Source: Garivier & Moulines (2011); Russac, Vernade & Cappe (2019), D-LinUCB, without its bonus.

    Examples:
        >>> from paperlib.nsbco import DiscountedLeastSquares, QuadraticDrift, Rotation, StaticBaseline
        >>> from paperlib.play import play
        >>> run = lambda learner: play(learner, QuadraticDrift(Rotation(1.0)), 120, 2)["regret"][:, -1].mean()
        >>> bool(run(DiscountedLeastSquares(16)) < 0.8 * run(StaticBaseline()))
        True
    """

    history = False

    def forget(
        self, state: LeastSquaresState, v: Tensor, target: Tensor
    ) -> tuple[Tensor, Tensor, Rows | None]:
        """Return the sums with all weights multiplied by 1 - 1/W."""
        keep = 1 - 1 / state.window
        return state.gram * keep[:, None, None], state.moment * keep[:, None], None


@frozen_dataclass
class SlidingWindowLeastSquares(LeastSquares):
    """Least squares on the last W queries.

    It stores up to 2 W queries. With W = "oracle" it stores all queries, because W then differs by trial. For attributes and
    errors see ``LeastSquares``.

    Source: Garivier & Moulines (2011); Cheung, Simchi-Levi & Zhu (2019), SW-UCB, without its bonus.

    Examples:
        >>> from paperlib.nsbco import QuadraticDrift, Rotation, SlidingWindowLeastSquares, StaticBaseline
        >>> from paperlib.play import play
        >>> run = lambda learner: play(learner, QuadraticDrift(Rotation(1.0)), 120, 2)["regret"][:, -1].mean()
        >>> bool(run(SlidingWindowLeastSquares(16)) < 0.5 * run(StaticBaseline()))
        True
    """

    history = True

    def forget(
        self, state: LeastSquaresState, v: Tensor, target: Tensor
    ) -> tuple[Tensor, Tensor, Rows | None]:
        """Return the sums without the query made W rounds ago, and the stored queries including the new one."""
        past = state.past.append(torch.cat([v, target[:, None]], 1))
        # Subtract the query that leaves the window, if there is one; W may differ by trial.
        place = past.n - 1 - state.window.to(torch.int64)
        rows = torch.arange(len(v), device=v.device)
        old = past.view[rows, place.clamp(min=0)]
        weight = torch.where(place >= 0, -1.0, 0.0).to(v)
        gram = add_rank_one(state.gram, old[:, :-1], weight)
        moment = state.moment + (weight * old[:, -1])[:, None] * old[:, :-1]
        if self.W != "oracle" and past.n == 2 * self.W:
            past = Rows.of(past.view[:, -self.W :])
        return gram, moment, past
