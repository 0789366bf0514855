"""Probes for ``play`` that record the quantities of the figures and the theory.

A probe reads the learner's state by field names (x, x1, A, delta, alpha, rounds, `heard`), also inside a ``Doubling``. It reads
the state that chose the round's point. Therefore x is x_t, and A is eta times the sum of g_1, ..., g_{t-1}.
Shapes: R trials, n dimensions.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ..core.contracts import Problem
from ..core.rounds import Probe, Round
from .model import tracking_error


def own_state(state: Any) -> Any:
    """Return the state of the innermost learner, without the wrappers around it."""
    return own_state(state.base) if hasattr(state, "base") else state


def loss_at(problem: Problem, seen: Round, y: Tensor, wants: str = "loss") -> Tensor:
    """Return the round's loss, R, or its gradient, R x n, at any points. ``y``: R x n; ``wants``: "loss" or "gradient"."""
    return problem.respond(seen.instance, seen.t, y, wants, seen.instance.streams.at(seen.t))[0]


@dataclass(frozen=True)
class CenterLoss:
    """f_t(x_t), R: the loss at the center, which is not played (the learner plays y_t = x_t + delta u_t).

    Attributes:
        problem: the problem of the run.
    """

    problem: Problem

    def __call__(self, seen: Round) -> Tensor:
        return loss_at(self.problem, seen, own_state(seen.before).x)


def gradient_norm(seen: Round) -> Tensor:
    """Return ||g_t|| = (n / delta) |f_t(y_t)|, R, the norm of the one-point estimate of a learner without a baseline."""
    return seen.context.cset.dim / own_state(seen.before).delta * seen.feedback.abs()


@dataclass(frozen=True)
class NoiseNorm:
    """Norm of the noise that ``StochOCG`` adds to the round's gradient, R.

    Attributes:
        learner: the learner of the run, without wrappers.
    """

    learner: Any  # with ``deviation(n)``

    def __call__(self, seen: Round) -> Tensor:
        n = seen.context.cset.dim
        # A draw depends only on seed, trial, round and purpose, so this is the noise that the learner added.
        noise = seen.instance.streams.at(seen.t).normal("gradient noise", n)
        return self.learner.deviation(n) * torch.linalg.vector_norm(noise, dim=1)


def tracking_ratios(seen: Round) -> Tensor:
    """Return the distance of the center from x*_t = argmin over (1 - alpha) K of F_t, as two ratios that the theory bounds, R x 2.

    The first ratio is h_t / (D^2 sigma_t) with h_t = F_t(x_t) - F_t(x*_t). The second is ||x_t - x*_t|| / (D t^{-1/5}). Here t
    counts from 1 in every epoch. ``Probe(tracking_ratios, "max")`` records their maxima over time. The learner must be
    regularized, and each round costs one projection.
    """
    before, cset = own_state(seen.before), seen.context.cset
    free = before.x1 - before.A / 2  # F_t(x) = ||x - free||^2 + const
    leader = cset.project(free, 1 - before.alpha)
    return tracking_error(before.x, leader, free, cset.D, before.rounds + 1)


@dataclass(frozen=True)
class Feasible:
    """Distances of x_t from (1 - alpha) K and of y_t from K, R x 2, computed by projection; 0 up to rounding."""

    def __call__(self, seen: Round) -> Tensor:
        before, project = own_state(seen.before), seen.context.cset.project
        distance = lambda z, scale: torch.linalg.vector_norm(z - project(z, scale), dim=1)
        # StochOCG does not explore, so it plays on all of K and has no alpha.
        scale = 1 - before.alpha if hasattr(before, "alpha") else 1.0
        return torch.stack([distance(before.x, scale), distance(seen.action, 1.0)], 1)


def constants(seen: Round) -> Tensor:
    """Return M, G, D and R of each trial, R x 4: the constants of the regret bounds."""
    task = seen.context
    values = (task.loss_bound, task.grad_bound, task.cset.D, task.cset.R)
    return torch.stack([value.expand(len(seen.action)) for value in values], 1)


@dataclass(frozen=True)
class FixedLoss:
    """f_t at a fixed point, R, for any learner.

    Attributes:
        problem: the problem of the run.
        value: every normalized coordinate of the point. For example, 0 is the center, and 1 on the sub-simplex is the uniform portfolio.
    """

    problem: Problem
    value: float = 0.0

    def __call__(self, seen: Round) -> Tensor:
        return loss_at(self.problem, seen, torch.full_like(own_state(seen.before).x, self.value))


# How often ------------------------------------------------------------------------------------------------


def leaves_set(seen: Round) -> Tensor:
    """Return whether FKM's gradient step leaves (1 - alpha) K, so that the projection changes the point, R bool."""
    before, cset = own_state(seen.before), seen.context.cset
    weight = before.eta * seen.feedback * (cset.dim / before.delta)
    u = seen.instance.streams.at(seen.t).sphere("direction", cset.dim)
    # This is FKM's step before the projection.
    z = before.x - weight.unsqueeze(1) * u
    return ~cset.contains(z / (1 - before.alpha).unsqueeze(1))


@dataclass(frozen=True)
class OwnField:
    """A field of the learner's state that chose the round's point, one row per trial.

    Attributes:
        name: the name of the field.
    """

    name: str

    def __call__(self, seen: Round) -> Tensor:
        value = getattr(own_state(seen.before), self.name)
        return value.expand(len(seen.action), *value.shape[1:])


@dataclass(frozen=True)
class GradientNorm:
    """||grad f_t(y_t)||, R.

    Attributes:
        problem: the problem of the run.
    """

    problem: Problem

    def __call__(self, seen: Round) -> Tensor:
        return torch.linalg.vector_norm(loss_at(self.problem, seen, seen.action, "gradient"), dim=1)


def played(seen: Round) -> Tensor:
    """Return the played points, R x n."""
    return seen.action


def observed_losses(seen: Round) -> Tensor:
    """Return the observed losses, R."""
    return seen.feedback


def final_center(seen: Round) -> Tensor:
    """Return the center after the last round, x_{T+1}, R x n."""
    return own_state(seen.after).x


KEPT = {
    "x": OwnField("x"),
    "A": OwnField("A"),
    "y": played,
    "loss": observed_losses,
    "end": Probe(final_center, "final"),
    **{name: Probe(OwnField(name), "final") for name in ("eta", "delta", "alpha")},
}  # the probes that ``Replay.of`` and ``along_leader`` need


def recording_probes(problem: Problem) -> dict[str, Any]:
    """Return the probes that ``along_run`` needs; the run must record every round."""
    return KEPT | {
        "distance": Probe(Feasible(), "max"),
        "steepness": Probe(GradientNorm(problem), "max"),
    }
