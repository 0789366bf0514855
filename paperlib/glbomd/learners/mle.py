"""Maximum likelihood in a generalized linear model, for R trials at once, and the histories that it is fitted to.

The objective, over theta in R^d or in the ball ||theta||_2 <= S, is

    F(theta) = sum_i (w_i m(x_i^T theta) - y_i x_i^T theta) / g + lambda / 2 ||theta||^2,

where w_i counts observations of the point x_i and y_i is the sum of their rewards.
Departure: the ridge has the usual factor 1/2. Zhang, Xu, Zhao & Sugiyama (2025), Eq. (2), print none (erratum E22).
Shapes: R trials, n rounds, K arms, d dimensions.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from ...core.linalg import (
    Rows,
    add_rank_one,
    any_on_host,
    arm_dot,
    can_branch_on_values,
    has_converged,
    matvec,
    take_arm,
)
from ...core.trees import tree_take
from ...maths.sets import project_ball

TOLERANCE = 1e-10  # on the Newton decrement, whose unit is one standard error of the estimate
# Most Newton steps. It only prevents endless loops, because one or two steps suffice after ``predict_start``.
LIMIT = 200
JITTER = 1e-8  # added to the Hessian if there is no ridge, because n < d would leave it singular


class Sample(NamedTuple):
    """The observations in a likelihood. The norms of the points are at most 1."""

    points: Tensor  # R x n x d, or 1 x n x d if the trials share them
    weights: Tensor | None  # R x n, number of observations of each point; None: one each
    sums: Tensor  # R x n, sum of its rewards


class RowHistory(NamedTuple):
    """History with one row per round, for arms that may change from round to round. O(n d) memory per trial."""

    points: Rows  # R x n x d, pulled arms
    rewards: Rows  # R x n
    marks: Rows | None  # R x n bool, or None if no rounds are marked

    def add(
        self, arms: Tensor, arm: Tensor, reward: Tensor, mark: Tensor | None = None
    ) -> "RowHistory":
        """Return the history with one more round. ``arm``: R indices; ``reward``: R; ``mark``: R bool."""
        marks = None if self.marks is None else self.marks.append(mark)
        return RowHistory(
            self.points.append(take_arm(arms, arm)), self.rewards.append(reward), marks
        )

    def sample(self, arms: Tensor, mark: bool | None = None) -> Sample:
        """Return the sample of all rounds, or of the rounds with the given mark."""
        if mark is None:
            return Sample(self.points.view, None, self.rewards.view)
        # Weights of 0 instead of a selection keep one shape for all trials, whose marks differ.
        weights = (self.marks.view == mark).to(self.rewards.view)
        return Sample(self.points.view, weights, weights * self.rewards.view)


class CountHistory(NamedTuple):
    """History as pulls and sums of rewards per arm. It requires an arm set that never changes.

    Cost and memory do not depend on n.
    """

    plays: Tensor  # R x G x K, G = 2 where rounds are marked (False, True), else 1
    total: Tensor  # R x G x K

    def add(
        self, arms: Tensor, arm: Tensor, reward: Tensor, mark: Tensor | None = None
    ) -> "CountHistory":
        """Return the history with one more round; arguments as for ``RowHistory``."""
        at = (arm if mark is None else arm + mark * self.plays.shape[2]).unsqueeze(1)
        put = lambda table, value: (
            table.flatten(1).scatter_add(1, at, value.unsqueeze(1)).view_as(table)
        )
        return CountHistory(put(self.plays, torch.ones_like(reward)), put(self.total, reward))

    def sample(self, arms: Tensor, mark: bool | None = None) -> Sample:
        """Return the sample of all rounds, or of the rounds with the given mark."""
        if mark is None:
            return Sample(arms, self.plays.sum(1), self.total.sum(1))
        return Sample(arms, self.plays[:, int(mark)], self.total[:, int(mark)])


History = RowHistory | CountHistory


def make_history(
    trials: int, arms: Tensor, counts: bool, marked: bool = False, **tkwargs
) -> History:
    """Return an empty history. ``counts``: the arm set ``arms`` never changes; ``marked``: rounds carry a mark."""
    if counts:
        zeros = torch.zeros(trials, 1 + marked, arms.shape[1], **tkwargs)
        return CountHistory(zeros, zeros)
    points, rewards = Rows.empty(trials, arms.shape[2], **tkwargs), Rows.empty(trials, **tkwargs)
    marks = Rows.empty(trials, **{**tkwargs, "dtype": torch.bool}) if marked else None
    return RowHistory(points, rewards, marks)


class Fit(NamedTuple):
    """A maximum likelihood estimate."""

    theta: Tensor  # R x d
    hessian: Tensor  # R x d x d, of F at the start of the last step, near theta if converged
    converged: Tensor  # R bool


def maximize_likelihood(
    link, sample: Sample, start: Tensor, ridge: float = 0.0, ball: float | None = None
) -> Fit:
    """Minimize F by Newton's method, damped if self-concordance does not guarantee that a full step decreases F.

    With |mu''| <= R mu' and ||x|| <= 1, the Hessian along a step p changes by a factor of at most e^v, where
    v = R ||p||. The (projected) Newton step satisfies -g^T p >= ||p||_B^2 =: q^2. Hence

        F(theta + s p) - F(theta) <= q^2 ((e^{s v} - 1 - s v) / v^2 - s).

    Descent is therefore certain for s = 1 if v <= 1. Otherwise it is certain for s = ln(1 + v) / v, the minimizer
    of the right side. No line search is needed.
    For the same reason a full step leaves a decrement of at most (e^v - 1 - v) q / v <= v q, which is known without
    another pass over the data. Each row stops as soon as its own v q <= 1e-10, so a trial takes the same steps alone
    and in a batch.

    Args:
        link: family with ``mean``, ``slope``, ``self_concordance``, ``dispersion``.
        sample: the observations.
        start: R x d, the initial point; in the ball if there is one.
        ridge: lambda >= 0.
        ball: radius S of the feasible ball, or None.

    Raises:
        ValueError: neither ridge nor ball is given; the estimate may then not exist.
    """
    if not ridge > 0 and ball is None:
        raise ValueError(
            f"ridge must be positive with ball=None, because otherwise the estimate may not exist, got {ridge!r}. Increase ridge or set ball"
        )
    prior = torch.full_like(start[0], ridge if ridge > 0 else JITTER).diag()
    # If the trials share the points, their outer products are computed once for all steps.
    outer = _outer(sample.points) if len(sample.points) < len(start) else None
    step = lambda part, theta: _newton(link, part, theta, ridge, ball, prior, outer)
    fit = step(sample, start)
    for _ in range(LIMIT):
        moves = ~fit.converged
        if has_converged(moves):  # this synchronizes, which costs less than a step on a device
            break
        fit = _renew(moves, sample, fit, step)
    return fit


def refit_trials(
    link, sample: Sample, last: Fit, rows: Tensor, ridge: float = 0.0, ball: float | None = None
) -> Fit:
    """Refit the trials in the mask ``rows``, starting from their last estimates; the other trials keep their fits."""
    if not any_on_host(rows):
        return last
    solve = lambda part, theta: maximize_likelihood(link, part, theta, ridge, ball)
    return _renew(rows, sample, last, solve)


def predict_start(link, last: Fit, x: Tensor, reward: Tensor, growth: float = 0.0) -> Fit:
    """Return a starting point for the fit after one more observation, without a pass over the data.

    The gradient of the old objective vanishes at its minimizer. Therefore a Newton step on the new objective needs
    the new observation only, and costs O(d^2). The next fit then usually needs a single pass.

    Args:
        last: the fit to the observations so far.
        x: R x d, the new point.
        reward: R, its reward.
        growth: increase of the ridge.
    """
    theta, hessian, converged = last
    z = (x * theta).sum(1)
    hessian = add_rank_one(hessian, x, link.slope(z) / link.dispersion)
    if growth:
        hessian = hessian + torch.full_like(theta[0], growth).diag()
    error = (link.mean(z) - reward) / link.dispersion
    step = _newton_step(torch.addcmul(growth * theta, x, error.unsqueeze(1)), hessian)
    v = link.self_concordance * torch.linalg.vector_norm(step, dim=1)
    return Fit(_advance(theta, step, v), hessian, converged)


def initial_fit(trials: int, dim: int, ridge: float, **tkwargs) -> Fit:
    """Return the fit without observations: theta = 0, and a Hessian of lambda I."""
    hessian = (ridge * torch.eye(dim, **tkwargs)).repeat(trials, 1, 1)
    converged = torch.ones(trials, **{**tkwargs, "dtype": torch.bool})
    return Fit(torch.zeros(trials, dim, **tkwargs), hessian, converged)


def _newton(
    link,
    sample: Sample,
    theta: Tensor,
    ridge: float,
    ball: float | None,
    prior: Tensor,
    outer: Tensor | None,
) -> Fit:
    """Take one step of ``maximize_likelihood`` in every trial, and determine which trials have converged.

    Args:
        prior: d x d, the ridge's part of the Hessian.
        outer: result of ``_outer``, for points that several trials share.
    """
    points, weights, sums = sample
    z = arm_dot(points, theta)
    mean, slope = link.mean_and_slope(z)
    if weights is not None:
        mean, slope = weights * mean, weights * slope
    gradient = torch.add(_combine(points, mean - sums) / link.dispersion, theta, alpha=ridge)
    hessian = prior + _curvature(points, slope, outer) / link.dispersion
    step = _newton_step(gradient, hessian)
    if ball is not None:
        # In the norm of the Hessian, projecting the Newton point minimizes the quadratic model over the ball.
        step = project_ball(theta + step, hessian, ball) - theta
    v = link.self_concordance * torch.linalg.vector_norm(step, dim=1)
    q = (step * matvec(hessian, step)).sum(1).sqrt()
    return Fit(_advance(theta, step, v), hessian, v * q <= TOLERANCE)


def _renew(rows: Tensor, sample: Sample, last: Fit, f: Callable[[Sample, Tensor], Fit]) -> Fit:
    """Replace the fits of the trials in a mask by ``f(sample, theta)``; if they are few, only they are computed."""
    if can_branch_on_values(rows):
        at = rows.nonzero().squeeze(1)
        if 2 * len(at) <= len(rows):
            new = f(tree_take(sample, at), last.theta[at])
            return Fit(*(old.index_put((at,), part) for old, part in zip(last, new)))
    new = f(sample, last.theta)
    return Fit(*(torch.where(rows.view(-1, *[1] * (a.dim() - 1)), b, a) for a, b in zip(last, new)))


def _newton_step(gradient: Tensor, hessian: Tensor) -> Tensor:
    """Return the Newton step -B^{-1} g, R x d."""
    factor = torch.linalg.cholesky_ex(hessian).L
    return torch.cholesky_solve(gradient.unsqueeze(2), factor).squeeze(2).neg_()


def _advance(theta: Tensor, step: Tensor, v: Tensor) -> Tensor:
    """Return theta + s p with s = 1 if v <= 1, else s = ln(1 + v) / v."""
    shrink = torch.where(v > 1, v.log1p() / v, torch.ones_like(v))
    return torch.addcmul(theta, shrink.unsqueeze(1), step)


def _combine(points: Tensor, values: Tensor) -> Tensor:
    """Return sum_i values_i x_i, R x d."""
    if points.shape[0] == 1:
        return values @ points[0]
    return torch.bmm(values.unsqueeze(1), points).squeeze(1)


def _outer(points: Tensor) -> Tensor:
    """Return the outer products x_i x_i^T of points that the trials share, n x d^2."""
    return (points[0].unsqueeze(2) * points[0].unsqueeze(1)).flatten(1)


def _curvature(points: Tensor, values: Tensor, outer: Tensor | None) -> Tensor:
    """Return sum_i values_i x_i x_i^T, R x d x d."""
    if points.shape[0] < values.shape[0]:  # one product serves all trials
        return (values @ outer).unflatten(1, (points.shape[2], points.shape[2]))
    return torch.bmm((points * values.unsqueeze(2)).mT, points)
