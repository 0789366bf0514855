"""What all searches for a maximum share: Phase I, and the history of points and answers; and two that have no model.

Source: Liu & Wang (2023), Algorithm 1, Phase I.
Shapes: R trials, t rounds so far, d dimensions.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from ...core import fields
from ...core.contracts import Tags
from ...core.describe import frozen_dataclass
from ...core.extras import check_installed
from ...core.linalg import Rows, argmax_first, take_arm
from ...core.streams import Draw
from ...core.validation import LARGEST, check_finite
from ...maths.bounds import Bounds, check_bounds


class History(NamedTuple):
    """State of a search that keeps its observations and nothing else."""

    x: Rows  # R x t x d, points scaled to [-1, 1]^d
    y: Rows  # R x t, answers in the user's units
    rounds: int  # t


class Search:
    """A subclass is a frozen dataclass with ``n_init`` and ``propose(state, bounds, draw)``, R x d in [-1, 1]^d.

    The first ``n_init`` points are uniform and the same for all searches of one seed; a user's own data count among them.
    """

    wants = "reward"
    tags = Tags(prepares=False)
    needs: tuple[str, str] | None = (
        None  # a module that ``propose`` imports, and its extra of paperlib
    )
    n_init: int

    def init(
        self, trials: int, bounds: Bounds, horizon: int | None, draw: Draw, **tkwargs
    ) -> History:
        """No observations yet.

        Raises:
            ImportError: a package that the search needs is missing.
        """
        if self.needs:
            check_installed(*self.needs, type(self).__name__)
        x, y = Rows.empty(trials, bounds.dim, **tkwargs), Rows.empty(trials, **tkwargs)
        return History(x, y, 0)

    def select(self, state: History, bounds: Bounds, draw: Draw) -> tuple[Tensor, History]:
        """A uniform point in Phase I, then what ``propose`` says. Returns R x d in the user's coordinates."""
        if state.rounds < self.n_init:
            return bounds.native(draw_uniform(bounds, draw)), state
        return bounds.native(self.propose(state, bounds, draw)), state

    def update(
        self, state: History, bounds: Bounds, action: Tensor, reward: Tensor, draw: Draw
    ) -> History:
        """One observation more."""
        return History(
            state.x.append(bounds.scaled(action)), state.y.append(reward), state.rounds + 1
        )

    def validate(self, bounds: Bounds, action: Tensor | None, reward: Tensor | None) -> None:
        """Raise ValueError for what is no box, points outside it, or answers that are not finite."""
        check_bounds(bounds, action)
        if reward is not None:
            check_finite("reward", reward, LARGEST)


def check_increasing(**sizes: float) -> None:
    """Raise ValueError, which names all, unless each is at least the one before."""
    values = list(sizes.values())
    if values != sorted(values):
        named = ", ".join(f"{name}={value!r}" for name, value in sizes.items())
        raise ValueError(f"{named}; allowed: none above the next")


def resize_factor(
    y: Tensor, reward: Tensor, gain: float, counts: tuple[Tensor, Tensor], limits: tuple[int, int]
) -> tuple[Tensor, Tensor, Tensor]:
    """By which factor the side of a trust region changes after an answer, and the successes and failures in a row, R each.

    Args:
        y: R x t, the answers before it.
        reward: R, the answer.
        gain: of |best|, by which a success is better than the best before it.
        counts: successes and failures before it, R each.
        limits: successes that double the side, failures that halve it.
    """
    best = y.amax(1)
    better, zero = reward > best + gain * best.abs(), torch.zeros_like(counts[0])
    successes = torch.where(better, counts[0] + 1, zero)
    failures = torch.where(better, zero, counts[1] + 1)
    grow, shrink = successes >= limits[0], failures >= limits[1]
    factor = 1.0 + grow.to(y.dtype) - shrink.to(y.dtype) / 2
    return factor, successes.where(~grow, zero), failures.where(~shrink, zero)


def draw_uniform(bounds: Bounds, draw: Draw) -> Tensor:
    """A point of Phase I, R x d in [-1, 1]^d: one stream for all learners."""
    return 2 * draw.uniform("phase1", bounds.dim) - 1


def incumbent(x: Tensor, y: Tensor) -> Tensor:
    """The point with the largest answer, the first of equals, R x d. ``x``: R x t x d; ``y``: R x t."""
    return take_arm(x, argmax_first(y))


def mean_and_std(y: Tensor, first: int | None = None) -> tuple[Tensor, Tensor]:
    """Return mean and standard deviation (ddof 1) of the answers, or of the ``first`` of them, R x 1 each. ``y``: R x t.

    Where these are equal, the distance from their mean to the first later answer that differs takes the place of the standard
    deviation; while there is none, see ``unit_of_evaluations``.
    """
    seen, later = y[:, :first], y[:, y.shape[1] if first is None else first :]
    mean = seen.mean(1, keepdim=True)
    # not ``std``, whose last bit hangs on the number of trials
    squares = (seen - mean).square().sum(1, keepdim=True)
    sd = (squares / max(seen.shape[1] - 1, 1)).sqrt()
    size, count = seen.abs().amax(1, keepdim=True), seen.shape[1]
    if later.shape[1]:
        away = (later - mean).abs()
        differs = argmax_first(_is_spread(away, size, count).to(y.dtype)).unsqueeze(1)
        sd = torch.where(_is_spread(sd, size, count), sd, away.gather(1, differs))
    return mean, unit_of_evaluations(sd, size, count)


def unit_of_evaluations(sd: Tensor, size: Tensor, count: int | Tensor) -> Tensor:
    """Return the unit of standardized answers: their standard deviation, or their size where they are equal up to rounding.

    It is proportional to the answers, so that no learner depends on their unit. Where all are 0, it is 1.

    Args:
        sd: R x 1.
        size: R x 1, the largest absolute value.
        count: of answers.
    """
    return torch.where(_is_spread(sd, size, count), sd, torch.where(size > 0, size, 1.0))


def _is_spread(distance: Tensor, size: Tensor, count: int | Tensor) -> Tensor:
    """Whether a distance between answers exceeds the rounding of the mean of ``count`` answers."""
    return distance > count * torch.finfo(size.dtype).eps * size


# Controls: what a search must beat, no model at all (ours) ---------------------------------------------------


@frozen_dataclass
class UniformPoint(Search):
    """Uniform points in all rounds.

    Attributes:
        n_init: n >= 1; Phase II is as Phase I.

    Raises:
        ValueError: a value out of range.
    """

    n_init: int = fields.size()

    def propose(self, state: History, bounds: Bounds, draw: Draw) -> Tensor:
        """Another uniform point, R x d."""
        return draw_uniform(bounds, draw)


@frozen_dataclass
class RepeatBest(Search):
    """Uniform points, then the best of them in all later rounds, whatever the later feedback.

    Attributes:
        n_init: n >= 1, points of Phase I.

    Raises:
        ValueError: a value out of range.
    """

    n_init: int = fields.size()

    def propose(self, state: History, bounds: Bounds, draw: Draw) -> Tensor:
        """The point of Phase I with the largest answer, the first of equals, R x d."""
        return incumbent(state.x.view[:, : self.n_init], state.y.view[:, : self.n_init])
