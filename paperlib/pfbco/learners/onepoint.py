"""Base class of the learners that estimate a gradient from one loss per round: g = (n / delta) f(x + delta u) u.

Source: Chen, Zhang & Karbasi (2019), Algorithm 1. Options marked "practical" are not in the paper, and no theorem covers them.
Shapes: R trials, n dimensions.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ...core import fields
from ...core.contracts import Observed, Tags
from ...core.describe import frozen_dataclass
from ...core.streams import Draw
from ...core.validation import (
    CONDITION,
    check_coordinates,
    check_finite,
    check_in,
    check_integer,
    check_positive,
    norm_slack,
    raise_invalid,
)
from ...learners.wrapper import Wrapper
from ...maths.sets import check_oracle
from ..model import LossMoments, Task

# Loss bounds have a wide range, because losses may have any unit: a learner uses only their ratio to the bound.
LARGEST_BOUND = 1e200


class EpochConstants(NamedTuple):
    """Constants of an epoch, whose horizon is known."""

    delta: Tensor  # 1 or R, exploration radius
    alpha: Tensor  # 1 or R: iterates stay in (1 - alpha) K
    eta: Tensor  # 1 or R, learning rate


class OnePointState(NamedTuple):
    """State of a one-point learner; ``A`` is eta times the sum of the estimates."""

    x: Tensor  # R x n, center iterate
    x1: Tensor  # R x n, the first center of the epoch
    A: Tensor  # R x n
    eta: Tensor  # 1 or R
    delta: Tensor  # 1 or R
    alpha: Tensor  # 1 or R
    rounds: int  # t - 1, finished rounds of this epoch
    heard: LossMoments


@frozen_dataclass
class OnePoint:
    """Hyper-parameters and shared methods of a learner that observes one loss per round.

    A subclass defines ``update`` and ``constants(task, horizon, bound)``. The latter returns an ``EpochConstants``; ``bound`` is
    M, 1 or R.

    Attributes:
        c: exploration scale in units of the inscribed radius; in (0, 1] if the first horizon is 1, as in ``Doubling``.
        start: x_1 in normalized coordinates, n numbers; None: 0.
        baseline: practical. The mean of all earlier losses is subtracted from each loss; the estimate stays unbiased.
        scale: M in the learning rate. "task" is the given bound. Practical values are "spread", the standard deviation of
            the earlier losses, which is updated at the start of each epoch, or a number.
        warm_start: practical. Each epoch starts at the last center of the previous epoch.
        sham: sign-flipped feedback, a negative control. The loss minus the baseline is multiplied by a random sign, so it
            carries no information.

    Raises:
        ValueError: a value out of range.
    """

    c: float = fields.positive(0.1)
    start: tuple[float, ...] | None = None
    baseline: bool = fields.one_of((False, True), False)
    scale: str | float = "task"
    warm_start: bool = fields.one_of((False, True), False)
    sham: bool = fields.one_of((False, True), False)
    wants = "loss"
    # A loss is attributed to the direction that the learner drew, so it cannot be for another action.
    tags = Tags(own_actions=False)
    projects = False  # whether the learner projects on the set

    def __post_init__(self):
        if isinstance(self.scale, str):
            check_in("scale", self.scale, ("task", "spread"))
        else:
            check_positive("scale", self.scale)
        if self.start is not None:
            check_coordinates("start", self.start)

    def validate(self, task: Task, action: Tensor | None, loss: Tensor | None) -> None:
        """Check the bounds, the starting point and the action's shape, and that the set has a projection if one is needed.

        Raises:
            ValueError: a bound that is not finite and above 0; a start or an action whose dimension differs from the set's; a
                set given by its oracle only, where a projection is needed; or a scale or a loss that is out of proportion to
                the bound.
        """
        check_task(task)
        check_positive(
            "loss_bound", task.loss_bound, 1 / LARGEST_BOUND, LARGEST_BOUND, by_trial=True
        )
        if self.start is not None and len(self.start) != task.cset.dim:
            raise ValueError(f"start must have {task.cset.dim} numbers, got {self.start!r}")
        if (self.projects or self.start is not None) and not hasattr(task.cset, "project"):
            why = type(self).__name__ if self.projects else "a start other than 0"
            raise ValueError(
                f"cset must be a set with a projection, because {why} requires it, got {type(task.cset).__name__}"
            )
        known = self.scale not in ("task", "spread")  # then a number
        if known and bool((task.loss_bound > CONDITION * self.scale).any()):
            bound = float(task.loss_bound.max())
            raise_invalid(
                "scale", self.scale, f"at least {CONDITION**-1:g} times loss_bound={bound:g}"
            )
        if action is not None:
            check_point(task, action)
        if loss is not None and self.scale != "spread":
            bound = self.scale if known else float(task.loss_bound.max())
            if not bool((loss.abs() <= CONDITION * bound).all()):
                name = "scale" if known else "loss_bound"
                requirement = f"at most {CONDITION:g} times {name}={bound:g} in absolute value"
                raise_invalid("loss", loss.tolist(), requirement)

    def caution(
        self, task: Task, horizon: int | None = None, observed: Observed | None = None
    ) -> str | None:
        """Warn of a loss beyond the given bound M, because the learning rate relies on this bound."""
        if observed is None or self.scale != "task":
            return None
        M = task.loss_bound
        return observed.contradicts(-M, M, f"loss_bound={float(M.max())!r}", "loss")

    def init(
        self, trials: int, task: Task, horizon: int | None, draw: Draw, **tkwargs
    ) -> OnePointState:
        """Return the first state, at x_1 and without losses.

        Raises:
            ValueError: no horizon, an exploration radius above r, or a start outside (1 - alpha) K.
            RuntimeError: the oracle's set does not lie between its inner and outer balls.
        """
        check_inputs(self, task, horizon)
        x1 = self._first(torch.zeros(trials, task.cset.dim, **tkwargs))
        state = self._begin(task, horizon, x1, LossMoments.none(trials, **tkwargs))
        # Tensors on the meta device have no values to check.
        if state.x.device.type != "meta":
            self._feasible(state, task, horizon)
        return state

    def restart(self, state: OnePointState, task: Task, horizon: int, draw: Draw) -> OnePointState:
        """Start a new epoch: reset everything except the moments of the losses and, with ``warm_start``, the center."""
        x1 = state.x if self.warm_start else self._first(torch.zeros_like(state.x))
        return self._begin(task, horizon, x1, state.heard)

    def _first(self, zeros: Tensor) -> Tensor:
        return zeros if self.start is None else zeros + zeros.new_tensor(self.start)

    def _begin(self, task: Task, horizon: int, x1: Tensor, heard: LossMoments) -> OnePointState:
        delta, alpha, eta = self.constants(task, horizon, self.bound(task, heard))
        return OnePointState(x1, x1, torch.zeros_like(x1), eta, delta, alpha, 0, heard)

    def bound(self, task: Task, heard: LossMoments) -> Tensor:
        """Return M of the learning rate, 1 or R."""
        if self.scale == "spread":
            return heard.spread()
        if self.scale == "task":
            return task.loss_bound
        return torch.full_like(task.loss_bound, self.scale)

    def _feasible(self, state: OnePointState, task: Task, horizon: int) -> None:
        """Raise ValueError if alpha or the start is out of range; the first horizon has the largest alpha, so one check suffices."""
        alpha = float(state.alpha.max())
        if alpha > 1 + 1e-12:
            raise ValueError(
                f"c must be so small that alpha is at most 1, so that the exploration radius is at most the inscribed radius {task.cset.r:g}, got c={self.c!r} with alpha = {alpha:g} at horizon {horizon}"
            )
        # From a start outside (1 - alpha) K the exploration could leave K.
        if self.start is not None:
            away = (state.x - task.cset.project(state.x, 1 - state.alpha)).abs().max()
            if float(away) > norm_slack(task.cset.dim) * float(task.cset.R.max()):
                raise ValueError(
                    f"start must be a point of (1 - alpha) K with alpha = {alpha:g} from c={self.c!r}, got {self.start!r}"
                )

    def select(self, state: OnePointState, task: Task, draw: Draw) -> tuple[Tensor, OnePointState]:
        """Return the point y = x + delta u, R x n, with u uniform on the unit sphere."""
        # Line 5 of Algorithm 1. ``estimate`` draws the same u again from this round's streams.
        u = draw.sphere("direction", task.cset.dim)
        return torch.addcmul(state.x, state.delta.unsqueeze(1), u), state

    def estimate(
        self, state: OnePointState, task: Task, loss: Tensor, draw: Draw
    ) -> tuple[Tensor, LossMoments]:
        """Return eta g for g = (n / delta) f u, R x n, and the moments including this loss."""
        n, signal = task.cset.dim, loss
        # The mean of earlier losses does not depend on u_t, and E u_t = 0. Therefore the estimate stays unbiased.
        if self.baseline:
            signal = signal - state.heard.mean
        # A random sign removes the information in the loss, but keeps the norm of the estimate.
        if self.sham:
            signal = torch.where(draw.uniform("sham") < 0.5, signal, -signal)
        # Line 7 of Algorithm 1, scaled by eta, because sums of g itself reach 1e9 in matrix completion.
        step = (state.eta * signal * (n / state.delta)).unsqueeze(1) * draw.sphere("direction", n)
        return step, state.heard.hear(loss, task.loss_bound)

    def report(self, state: OnePointState) -> dict[str, Tensor]:
        """Return ``above``, the number of losses beyond M, R."""
        return {"above": state.heard.above}


def check_inputs(learner: Any, task: Task, horizon: int | None) -> None:
    """Check the inputs of a learner that needs a horizon, before its first round.

    Raises:
        ValueError: no horizon.
        RuntimeError: the oracle's set does not lie between its inner and outer balls.
    """
    if horizon is None:
        raise ValueError(
            f"horizon must be at least 1 round for {type(learner).__name__}, got None. Set horizon, or use the learner within Doubling"
        )
    check_integer("horizon", horizon)
    check_oracle(task.cset)


def check_task(task: Any) -> None:
    """Raise ValueError if the context is not a ``Task``, or if its diameter or gradient bound is out of range."""
    if not isinstance(task, Task):
        raise_invalid("context", task, "a Task of a set of paperlib.maths and two bounds")
    check_positive("grad_bound", task.grad_bound, by_trial=True)
    check_positive("D", task.cset.D, by_trial=True)


def check_point(task: Task, action: Tensor) -> None:
    """Check that actions are finite points of the set's space, R x n."""
    if action.shape[1:] != (task.cset.dim,):
        raise ValueError(
            f"action must be a point of {task.cset.dim} numbers, got shape {tuple(action.shape[1:])}"
        )
    check_finite("action", action)


def practical(learner: OnePoint, warm_start: bool = True) -> OnePoint:
    """Return the learner with a baseline and with M set to the standard deviation of the losses.

    The losses may have any unit and any offset within double precision. If their standard deviation is at most 1e-12 of their
    mean, it counts as 0, and M = 1. Squares can overflow if losses are above 1e150.

    Examples:
        >>> from paperlib.pfbco import PFBCO, BallLinear, Doubling, practical
        >>> from paperlib.play import play
        >>> trace = play(Doubling(practical(PFBCO(0.5))), BallLinear(2), horizon=255, trials=10)
        >>> round(float(trace.last().mean()) / 255, 1)  # regret per round; PFBCO(0.5) itself has 0.8
        0.3
    """
    return replace(learner, baseline=True, scale="spread", warm_start=warm_start)


class RememberedState(NamedTuple):
    """State of the base, with the sum, the last value and the mean of its centers."""

    base: OnePointState
    total: Tensor  # R x n, sum of the centers of this epoch
    last: Tensor  # R x n, last center of the last finished epoch; before that, x_1
    mean: Tensor  # R x n, mean of the centers of that epoch; before that, x_1

    def so_far(self) -> tuple[Tensor, Tensor]:
        """Return the center of the current epoch and the mean of its centers; R x n each."""
        rounds = self.base.rounds
        return self.base.x, self.total / rounds if rounds else self.base.x


@frozen_dataclass
class Remembering(Wrapper):
    """Play as the base, and store the last center and the mean center of its last finished epoch. Use it inside ``Doubling``.

    Attributes:
        base: a learner whose state has a center ``x`` and counts the ``rounds`` of its epoch.
    """

    def init(
        self, trials: int, task: Task, horizon: int | None, draw: Draw, **tkwargs
    ) -> RememberedState:
        """Return the first state of the base, before any finished epoch."""
        state = self.base.init(trials, task, horizon, draw, **tkwargs)
        return RememberedState(state, torch.zeros_like(state.x), state.x, state.x)

    def update(
        self, state: RememberedState, task: Task, action: Tensor, feedback: Tensor, draw: Draw
    ) -> RememberedState:
        """Update the base, and add the center of the round to the sum."""
        base = self.base.update(state.base, task, action, feedback, draw)
        return state._replace(base=base, total=state.total + state.base.x)

    def restart(
        self, state: RememberedState, task: Task, horizon: int, draw: Draw
    ) -> RememberedState:
        """Start a new epoch of the base; store the last center and the mean of the old one."""
        base = self.base.restart(state.base, task, horizon, draw)
        return RememberedState(base, torch.zeros_like(state.total), *state.so_far())
