"""Shared parts of all maximization methods: Phase I and the history of observations; and two controls without a model.

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
    """State of a search that stores only its observations."""

    x: Rows  # R x t x d, points scaled to [-1, 1]^d
    y: Rows  # R x t, observed values in the user's units
    rounds: int  # t


class Search:
    """Base class of searches. A subclass is a frozen dataclass with ``n_init`` and ``propose(state, bounds, draw)``, R x d in [-1, 1]^d.

    The first ``n_init`` points are uniform and equal for all searches with the same seed. Observations that you provide count as points of
    Phase I.
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
        """Return the state without observations.

        Raises:
            ImportError: a package that the search needs is not installed.
        """
        if self.needs:
            check_installed(*self.needs, type(self).__name__)
        x, y = Rows.empty(trials, bounds.dim, **tkwargs), Rows.empty(trials, **tkwargs)
        return History(x, y, 0)

    def select(self, state: History, bounds: Bounds, draw: Draw) -> tuple[Tensor, History]:
        """Select a uniform point in Phase I, then the point that ``propose`` returns. Returns R x d in the user's coordinates."""
        if state.rounds < self.n_init:
            return bounds.native(draw_uniform(bounds, draw)), state
        return bounds.native(self.propose(state, bounds, draw)), state

    def update(
        self, state: History, bounds: Bounds, action: Tensor, reward: Tensor, draw: Draw
    ) -> History:
        """Record one observation."""
        return History(
            state.x.append(bounds.scaled(action)), state.y.append(reward), state.rounds + 1
        )

    def validate(self, bounds: Bounds, action: Tensor | None, reward: Tensor | None) -> None:
        """Raise ValueError if ``bounds`` is not a box, a point is outside it, or a reward is not finite."""
        check_bounds(bounds, action)
        if reward is not None:
            check_finite("reward", reward, LARGEST)


def check_increasing(**sizes: float) -> None:
    """Raise ValueError unless each size is at least the one before it. The message names all sizes."""
    values = list(sizes.values())
    if values != sorted(values):
        named = ", ".join(f"{name}={value!r}" for name, value in sizes.items())
        raise ValueError(f"{', '.join(sizes)} must be in increasing order, got {named}")


def resize_factor(
    y: Tensor, reward: Tensor, gain: float, counts: tuple[Tensor, Tensor], limits: tuple[int, int]
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the factor of a trust region's side after an observation, and the consecutive successes and failures, R each.

    Args:
        y: R x t, the values observed before.
        reward: R, the new value.
        gain: required relative improvement: a success exceeds the best earlier value by ``gain * |best|``.
        counts: consecutive successes and failures before it, R each.
        limits: numbers of successes that double the side and of failures that halve it.
    """
    best = y.amax(1)
    better, zero = reward > best + gain * best.abs(), torch.zeros_like(counts[0])
    successes = torch.where(better, counts[0] + 1, zero)
    failures = torch.where(better, zero, counts[1] + 1)
    grow, shrink = successes >= limits[0], failures >= limits[1]
    # The factor is 2 after enough successes, 1/2 after enough failures, else 1. A change resets its
    # counter.
    factor = 1.0 + grow.to(y.dtype) - shrink.to(y.dtype) / 2
    return factor, successes.where(~grow, zero), failures.where(~shrink, zero)


def draw_uniform(bounds: Bounds, draw: Draw) -> Tensor:
    """Draw a point of Phase I, R x d in [-1, 1]^d. All learners share this random stream."""
    return 2 * draw.uniform("phase1", bounds.dim) - 1


def incumbent(x: Tensor, y: Tensor) -> Tensor:
    """Return the point with the largest observed value, the first if several are equal, R x d. ``x``: R x t x d; ``y``: R x t."""
    return take_arm(x, argmax_first(y))


def mean_and_std(y: Tensor, first: int | None = None) -> tuple[Tensor, Tensor]:
    """Return mean and standard deviation (ddof 1) of the observed values, or of the ``first`` of them, R x 1 each. ``y``: R x t.

    If these values are equal, the distance from their mean to the first later value that differs replaces the standard deviation. For
    example, the values 1, 1, 3 with ``first=2`` have the mean 1 and the unit 2. While no value differs, ``unit_of_evaluations`` applies.
    """
    seen, later = y[:, :first], y[:, y.shape[1] if first is None else first :]
    mean = seen.mean(1, keepdim=True)
    # Do not use ``std``, because its last bit depends on the number of trials.
    squares = (seen - mean).square().sum(1, keepdim=True)
    sd = (squares / max(seen.shape[1] - 1, 1)).sqrt()
    size, count = seen.abs().amax(1, keepdim=True), seen.shape[1]
    if later.shape[1]:
        away = (later - mean).abs()
        differs = argmax_first(_is_spread(away, size, count).to(y.dtype)).unsqueeze(1)
        sd = torch.where(_is_spread(sd, size, count), sd, away.gather(1, differs))
    return mean, unit_of_evaluations(sd, size, count)


def unit_of_evaluations(sd: Tensor, size: Tensor, count: int | Tensor) -> Tensor:
    """Return the unit of standardized values: their standard deviation, or their size if they are equal up to rounding.

    The unit is proportional to the observed values. Therefore no learner depends on their unit. If all values are 0, it is 1.

    Args:
        sd: R x 1.
        size: R x 1, the largest absolute value.
        count: number of values.
    """
    return torch.where(_is_spread(sd, size, count), sd, torch.where(size > 0, size, 1.0))


def _is_spread(distance: Tensor, size: Tensor, count: int | Tensor) -> Tensor:
    """Return whether a distance between observed values exceeds the rounding error of the mean of ``count`` values."""
    return distance > count * torch.finfo(size.dtype).eps * size


# Controls without a model, which every search should beat (our addition) -------------------------------------


@frozen_dataclass
class UniformPoint(Search):
    """Control: random search, with uniform points in all rounds.

    Attributes:
        n_init: n >= 1; Phase II is the same as Phase I.

    Raises:
        ValueError: a value is out of range.

    Examples:
        >>> from paperlib import play
        >>> from paperlib.goucb import Rastrigin, UniformPoint
        >>> play.play(UniformPoint(3), Rastrigin(2), horizon=10, trials=4)["regret"].shape
        (4, 10)
    """

    n_init: int = fields.size()

    def propose(self, state: History, bounds: Bounds, draw: Draw) -> Tensor:
        """Draw another uniform point, R x d."""
        return draw_uniform(bounds, draw)


@frozen_dataclass
class RepeatBest(Search):
    """Control: evaluate uniform points, then repeat the best of them in all later rounds, whatever the later feedback.

    Attributes:
        n_init: n >= 1, points of Phase I.

    Raises:
        ValueError: a value is out of range.

    Examples:
        >>> from paperlib import play
        >>> from paperlib.goucb import Rastrigin, RepeatBest
        >>> regret = play.play(RepeatBest(3), Rastrigin(2), horizon=6, trials=4)["regret"]
        >>> steps = regret[:, 1:] - regret[:, :-1]  # regret per round
        >>> bool(abs(steps[:, -1] - steps[:, -2]).max() < 1e-9)
        True
    """

    n_init: int = fields.size()

    def propose(self, state: History, bounds: Bounds, draw: Draw) -> Tensor:
        """Return the point of Phase I with the largest observed value, the first if several are equal, R x d."""
        return incumbent(state.x.view[:, : self.n_init], state.y.view[:, : self.n_init])
