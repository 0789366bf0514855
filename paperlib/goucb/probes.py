"""What the figures and the theory need of a run, as probes for ``play``.

A state is read by field names, those of GO-UCB (x, y, w, w0, anchor, length, ratio, moved, rounds) or of any search (rounds). What is
read is the state that chose the round's point, so that w is w_t; w_0 is that of the end.
Shapes: R trials, d dimensions, dw parameters.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ..core.rounds import Probe, Round
from ..core.validation import raise_invalid

# What was played and heard -----------------------------------------------------------------------------------


def played(seen: Round) -> Tensor:
    """The point, R x d."""
    return seen.action


def noisy_value(seen: Round) -> Tensor:
    """The answer with its noise, R."""
    return seen.feedback


@dataclass(frozen=True)
class Value:
    """f(x) without noise, R; as ``Probe(Value(problem), "max")`` the best so far, which is not the best answer.

    Attributes:
        problem: the one that is played.
    """

    problem: Any  # with ``value(world, x)``

    def __call__(self, seen: Round) -> Tensor:
        return self.problem.value(seen.instance, seen.action)


# What GO-UCB believes ----------------------------------------------------------------------------------------


def estimate(seen: Round) -> Tensor:
    """w_t, R x dw; in Phase I a start of the fit."""
    return seen.before.w


def final_estimate(seen: Round) -> Tensor:
    """The estimate after the round, R x dw."""
    return seen.after.w


@dataclass(frozen=True)
class Ball:
    """What a learner takes its ball to be: ln(det Sigma_t / det lambda I), u_t at its point and sqrt(beta_t), R x 3; NaN in Phase I.

    Attributes:
        learner: the one that is played, a GO-UCB whose model sees points and answers as they are.

    Raises:
        ValueError: one that scales them.
    """

    learner: Any  # with ``ellipsoid``, ``predict``, ``model``, ``n_init`` and ``scaling``

    def __post_init__(self):
        if self.learner.scaling != "none":
            raise_invalid("learner.scaling", self.learner.scaling, "none")

    def __call__(self, seen: Round) -> Tensor:
        learner, before, x = self.learner, seen.before, seen.action.unsqueeze(1)
        if before.rounds < learner.n_init:
            return torch.full_like(x[:, 0, :1], torch.nan).expand(-1, 3)
        ellipsoid = learner.ellipsoid(before, seen.context)
        u = ellipsoid.width(learner.model.features(before.w, x)).squeeze(1)
        _, bonus = learner.predict(before, seen.context, x)
        return torch.stack([ellipsoid.growth(), u, bonus.squeeze(1) / u], 1)


# How little the printed settings do --------------------------------------------------------------------------


def weight_change(seen: Round) -> Tensor:
    """||w_0 - start|| / ||start||, R: what the oracle of Phase I did to the parameters."""
    norm = lambda w: torch.linalg.vector_norm(w, dim=1)
    return norm(seen.after.w0 - seen.after.anchor) / norm(seen.after.anchor)


def ball_ratio(seen: Round) -> Tensor:
    """Largest ||w - w_t||^2_Sigma / beta_t on the way of the round's search, R."""
    return seen.before.ratio


def search_distance(seen: Round) -> Tensor:
    """How far the round's search went, R, in the model's coordinates."""
    return seen.before.moved


INERTNESS = {
    "change": Probe(weight_change, "final"),
    "ratio": Probe(ball_ratio, "max"),
    "moved": search_distance,
}


def best(problem: Any) -> Probe:
    """The best noise-free value so far, R. ``problem``: the one that is played."""
    return Probe(Value(problem), "max")


def recording_probes(learner: Any) -> dict[str, Any]:
    """What ``companion.goucb.proofs.phase_2.Replay.of`` takes; every round has to be recorded. ``learner``: as in ``Ball``."""
    return {
        "x": played,
        "y": noisy_value,
        "w": estimate,
        "ball": Ball(learner),
        "end": Probe(final_estimate, "final"),
    }
