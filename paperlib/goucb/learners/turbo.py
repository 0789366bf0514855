"""TuRBO-1: Thompson sampling from a Gaussian process within a trust region.

Source: Eriksson et al., "Scalable Global Optimization via Local Bayesian Optimization" (2019), Sections 2 and 3 and its supplement;
implemented from the paper, not from the authors' code.
Shapes: R trials, N candidates, t observations, d dimensions. The model uses points of the unit cube.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from ...core import fields
from ...core.describe import frozen_dataclass
from ...core.linalg import Rows, argmax_first, take_arm
from ...core.streams import Draw
from ...maths.bounds import Bounds
from ...maths.gp import Matern
from .climb import adam_ascent
from .search import Search, check_increasing, draw_uniform, resize_factor, unit_of_evaluations

PERTURBED = 20  # average number of coordinates where a candidate differs from the center
# Ranges and jitter are absolute, because points are in the unit cube and observed values are
# standardized.
LENGTHSCALE = 0.005, 2.0, 0.5  # lower end, upper end, initial value
SCALE = 0.05, 20.0, 1.0
NOISE = 5e-4, 0.2, 0.005
LEARNING_RATE = 0.1  # of Adam on the hyper-parameters' logits
JITTER = 1e-6  # added to the covariance of noise-free samples
MATERN = Matern()


class TuRBOState(NamedTuple):
    """The observations, and the trust region of each trial."""

    x: Rows  # R x t x d, points scaled to [-1, 1]^d
    y: Rows  # R x t, observed values in the user's units
    begun: Tensor  # R int64, first round of the current run
    length: Tensor  # R, L, the side of the trust region
    successes: Tensor  # R int64, consecutive
    failures: Tensor  # R int64, consecutive
    rounds: int  # t


class FittedProcess(NamedTuple):
    """The Gaussian process conditioned on the observations of the current run."""

    x: Tensor  # R x t x d
    live: Tensor  # R x t, 1 for observations of the current run, else 0
    factor: Tensor  # R x t x t, Cholesky factor of the observations' covariance, the identity where not live
    whitened: Tensor  # R x t, factor^{-1} (y - mean), 0 where not live
    lengthscale: Tensor  # R x d
    scale: Tensor  # R x 1
    noise: Tensor  # R x 1, its variance
    mean: Tensor  # R x 1


@frozen_dataclass
class TuRBO(Search):
    """TuRBO-1: maximize a posterior sample at candidates around the incumbent, and restart when the trust region has collapsed.

    Trials restart independently: the data of earlier runs are masked, and the next ``n_init`` points are uniform.
    Departures: all trials use one unscrambled Sobol set, shifted per trial modulo 1; a run starts with n_init points, while the authors
    recommend 2 d.

    Attributes:
        n_init: n >= 1, points of Phase I and of each later run; your own observations count towards it.
        candidates: >= 1; None: min(100 d, 5000).
        fit_steps: >= 0, Adam steps of the fit.
        first: initial L, the side of the region in units of the box's side.
        least: > 0, smallest L; below it a run ends.
        most: largest L.
        successes: >= 1, consecutive successes that double the side.
        failures: >= 1, consecutive failures that halve it; None: max(4, d).
        gain: >= 0, relative improvement that counts as a success: an observation must exceed the best of its run by ``gain * |best|``. If it
            is above 0, as for the authors, the points depend on the origin of the observed values.
        noisy: whether the sample includes the observation noise, as the authors' sample does.

    Raises:
        ValueError: a value is out of range.

    Examples:
        >>> from paperlib import play
        >>> from paperlib.goucb import Rastrigin, TuRBO
        >>> learner = TuRBO(3, candidates=16, fit_steps=2)
        >>> play.play(learner, Rastrigin(2), horizon=6, trials=2)["regret"].shape
        (2, 6)
    """

    n_init: int = fields.size()
    candidates: int | None = fields.size(None, optional=True)
    fit_steps: int = fields.size(50, least=0)
    first: float = fields.number(0.8)
    least: float = fields.positive(2.0 ** (-7))
    most: float = fields.number(1.6)
    successes: int = fields.size(3)
    failures: int | None = fields.size(None, optional=True)
    gain: float = fields.number(0.001, least=0.0)
    noisy: bool = fields.one_of((False, True), True)

    def __post_init__(self):
        check_increasing(least=self.least, first=self.first, most=self.most)

    def init(
        self, trials: int, bounds: Bounds, horizon: int | None, draw: Draw, **tkwargs
    ) -> TuRBOState:
        """Return the state without observations."""
        x, y = Rows.empty(trials, bounds.dim, **tkwargs), Rows.empty(trials, **tkwargs)
        length = torch.full((trials,), self.first, **tkwargs)
        zero = torch.zeros_like(length, dtype=torch.int64)
        return TuRBOState(x, y, zero, length, zero, zero, 0)

    def select(self, state: TuRBOState, bounds: Bounds, draw: Draw) -> tuple[Tensor, TuRBOState]:
        """Select a uniform point in the first rounds of a run, then the maximizer of the sample. Returns R x d in the user's coordinates."""
        point = draw_uniform(bounds, draw)
        if state.rounds >= self.n_init:
            fresh = (state.rounds - state.begun < self.n_init).unsqueeze(1)
            # Trials restart at different rounds, so both points are computed and each trial takes
            # its own.
            point = torch.where(fresh, point, 2 * self._sampled(state, draw) - 1)
        return bounds.native(point), state

    def update(
        self, state: TuRBOState, bounds: Bounds, action: Tensor, reward: Tensor, draw: Draw
    ) -> TuRBOState:
        """Record one observation; the region grows, shrinks or restarts."""
        after = state._replace(
            x=state.x.append(bounds.scaled(action)),
            y=state.y.append(reward),
            rounds=state.rounds + 1,
        )
        return after if state.rounds < self.n_init else self._resized(after, state, reward)

    def _resized(self, after: TuRBOState, before: TuRBOState, reward: Tensor) -> TuRBOState:
        dim, counts = before.x.view.shape[2], (before.successes, before.failures)
        limits = self.successes, max(4, dim) if self.failures is None else self.failures
        factor, *counts = resize_factor(_seen(before), reward, self.gain, counts, limits)
        length = (before.length * factor).clamp(max=self.most)
        over = length < self.least
        # Uniform points do not resize the region.
        heard = before.rounds - before.begun >= self.n_init
        successes, failures = (count.where(heard, torch.zeros_like(count)) for count in counts)
        return after._replace(
            begun=torch.where(heard & over, before.rounds + 1, before.begun),
            length=torch.where(heard, torch.where(over, self.first, length), before.length),
            successes=successes,
            failures=failures,
        )

    def _sampled(self, state: TuRBOState, draw: Draw) -> Tensor:
        """Return the candidate with the largest value of a posterior sample of f, R x d in the unit cube."""
        process = self.fitted(state)
        points = self._candidates(state, process, draw)
        mean, covariance = posterior(process, points)
        noise = process.noise if self.noisy else torch.full_like(process.noise, JITTER)
        covariance.diagonal(dim1=1, dim2=2).add_(noise)
        factor = torch.linalg.cholesky_ex(covariance).L
        # Thompson sampling: one sample of the joint posterior at all candidates.
        normal = draw.normal("ts normal", points.shape[1]).unsqueeze(2)
        return take_arm(points, argmax_first(mean + (factor @ normal).squeeze(2)))

    def _candidates(self, state: TuRBOState, process: FittedProcess, draw: Draw) -> Tensor:
        """Return points of the trust region around the best of the run, R x N x d. Each shares some coordinates with that best point."""
        dim = process.x.shape[2]
        best = take_arm(process.x, argmax_first(_seen(state)))
        # The region has volume L^d and is longer in coordinates where the function is smoother.
        logarithms = process.lengthscale.log()
        side = state.length.unsqueeze(1) * (logarithms - logarithms.mean(1, keepdim=True)).exp()
        lo = (best - side / 2).clamp(0.0, 1.0).unsqueeze(1)
        hi = (best + side / 2).clamp(0.0, 1.0).unsqueeze(1)
        count = min(100 * dim, 5000) if self.candidates is None else self.candidates
        shift = draw.uniform("sobol shift", dim).unsqueeze(1)
        sobol = torch.quasirandom.SobolEngine(dim).draw(count, dtype=shift.dtype).to(shift.device)
        points = lo + (hi - lo) * ((sobol + shift) % 1)
        # With few dimensions all coordinates are perturbed.
        if dim <= PERTURBED:
            return points
        moved = draw.uniform("ts mask", count, dim) < PERTURBED / dim
        one = (draw.uniform("ts order", count) * dim).long().unsqueeze(2)
        # If the mask selects no coordinate of a candidate, perturb this one.
        moved = moved.scatter(2, one, moved.gather(2, one) | ~moved.any(2, keepdim=True))
        return torch.where(moved, points, best.unsqueeze(1))

    def fitted(self, state: TuRBOState) -> FittedProcess:
        """Return the process whose hyper-parameters maximize the marginal likelihood, as found by Adam."""
        x, y, live = (state.x.view + 1) / 2, _standardized(state), _live(state).to(state.length)
        likelihood = lambda raw: _likelihood(condition(raw, x, y, live))
        raw = adam_ascent(likelihood, _begun(x), self.fit_steps, LEARNING_RATE)
        return condition(raw, x, y, live)


def _ranges(like: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return lower end, upper end and initial value of d lengthscales, scale and noise, d + 2 each. ``like``: R x t x d."""
    rows = [LENGTHSCALE] * like.shape[2] + [SCALE, NOISE]
    return torch.tensor(rows, dtype=like.dtype, device=like.device).unbind(1)


def _begun(x: Tensor) -> Tensor:
    """Return the logits of the initial hyper-parameters within their ranges, and the mean 0, R x (d + 3)."""
    low, high, first = _ranges(x)
    logits = ((first - low) / (high - low)).logit()
    return torch.cat([logits, logits.new_zeros(1)]).repeat(x.shape[0], 1)


def condition(raw: Tensor, x: Tensor, y: Tensor, live: Tensor) -> FittedProcess:
    """Condition the process on the observations that are ``live``, R x t.

    Args:
        raw: R x (d + 3), logits of lengthscales, scale and noise within their ranges, and the mean.
        x: R x t x d.
        y: R x t.
        live: R x t, 1 or 0.
    """
    low, high, _ = _ranges(x)
    # The sigmoid keeps each hyper-parameter within its range.
    found = low + (high - low) * torch.sigmoid(raw[:, :-1])
    lengthscale, scale, noise = found.split([x.shape[2], 1, 1], 1)
    mean, both = raw[:, -1:], live.unsqueeze(2) * live.unsqueeze(1)
    covariance = both * scale.unsqueeze(2) * _kernel(x, x, lengthscale)
    # Masked observations get a unit diagonal and no covariance, so they have no effect on the
    # posterior.
    covariance = covariance + torch.diag_embed(noise * live + (1 - live))
    factor = torch.linalg.cholesky_ex(covariance).L
    rest = (live * (y - mean)).unsqueeze(2)
    whitened = torch.linalg.solve_triangular(factor, rest, upper=False).squeeze(2)
    return FittedProcess(x, live, factor, whitened, lengthscale, scale, noise, mean)


def _live(state: TuRBOState) -> Tensor:
    """Return which observations belong to the current run, R x t."""
    clock = torch.arange(state.y.n, device=state.begun.device)
    return clock >= state.begun.unsqueeze(1)


def _seen(state: TuRBOState) -> Tensor:
    """Return the observed values, R x t, with minus infinity for earlier runs."""
    return state.y.view.where(_live(state), -torch.inf)


def _standardized(state: TuRBOState) -> Tensor:
    """Return the observed values minus their median, divided by their standard deviation, per run, R x t.

    The standard deviation has ddof 0, see also ``search.unit_of_evaluations``.
    """
    y, live = state.y.view, _live(state)
    count = live.sum(1, keepdim=True).clamp(min=1)
    # Masked values sort to the end, so the median is at the middle of the first ``count``.
    order = y.where(live, torch.inf).sort(1).values
    median = (order.gather(1, (count - 1) // 2) + order.gather(1, count // 2)) / 2
    mean = y.where(live, 0.0).sum(1, keepdim=True) / count
    sd = ((y - mean).square().where(live, 0.0).sum(1, keepdim=True) / count).sqrt()
    size = y.abs().where(live, 0.0).amax(1, keepdim=True)
    return torch.where(live, y - median, 0.0) / unit_of_evaluations(sd, size, count)


def _kernel(x: Tensor, z: Tensor, lengthscale: Tensor) -> Tensor:
    """Return the Matern-5/2 kernel, R x N x M."""
    return MATERN(x / lengthscale.unsqueeze(1), z / lengthscale.unsqueeze(1))


def _likelihood(process: FittedProcess) -> Tensor:
    """Return the log marginal likelihood per observation, without its constant, R."""
    logarithms = process.factor.diagonal(dim1=1, dim2=2).log().sum(1)
    count = process.live.sum(1).clamp(min=1)
    return -(process.whitened.square().sum(1) / 2 + logarithms) / count


def posterior(process: FittedProcess, points: Tensor) -> tuple[Tensor, Tensor]:
    """Return mean, R x N, and covariance, R x N x N, of f at ``points``, R x N x d."""
    scale = process.scale.unsqueeze(2)
    cross = scale * _kernel(process.x, points, process.lengthscale) * process.live.unsqueeze(2)
    cross = torch.linalg.solve_triangular(process.factor, cross, upper=False)
    mean = process.mean + (process.whitened.unsqueeze(1) @ cross).squeeze(1)
    return mean, scale * _kernel(points, points, process.lengthscale) - cross.mT @ cross
