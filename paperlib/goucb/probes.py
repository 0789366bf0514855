"""Probes for ``play`` that record the quantities needed by the figures and the theory.

Probes read fields of a state by name. The fields belong to GO-UCB (x, y, w, w0, anchor, length, ratio, moved, rounds) or to any search
(rounds). ``before`` is the state in which the round's point was selected, so its w is w_t, and its ratio and moved are those of this round's
search. w_0 is read at the end of the run.
Shapes: R trials, d dimensions, dw parameters.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ..core.rounds import Probe, Round
from ..core.validation import raise_invalid

# Actions and feedback ----------------------------------------------------------------------------------------


def played(seen: Round) -> Tensor:
    """Return the evaluated point, R x d."""
    return seen.action


def noisy_value(seen: Round) -> Tensor:
    """Return the noisy observation, R."""
    return seen.feedback


@dataclass(frozen=True)
class Value:
    """Noise-free value f(x), R. ``Probe(Value(problem), "max")`` is the best value so far, which may differ from the best observation.

    Attributes:
        problem: the problem that is played.
    """

    problem: Any  # with ``value(world, x)``

    def __call__(self, seen: Round) -> Tensor:
        return self.problem.value(seen.instance, seen.action)


# GO-UCB's estimates and confidence ball ----------------------------------------------------------------------


def estimate(seen: Round) -> Tensor:
    """Return w_t, R x dw; in Phase I it is one of the starts of the fit."""
    return seen.before.w


def final_estimate(seen: Round) -> Tensor:
    """Return the estimate after the round, R x dw."""
    return seen.after.w


@dataclass(frozen=True)
class Ball:
    """The learner's confidence ball: ln(det Sigma_t / det lambda I), u_t at its point and sqrt(beta_t), R x 3; NaN in Phase I.

    Attributes:
        learner: the GO-UCB learner that is played. Its model must use points and observations without scaling.

    Raises:
        ValueError: a learner that scales points and observations.
    """

    learner: Any  # with ``ellipsoid``, ``predict``, ``model``, ``n_init`` and ``scaling``

    def __post_init__(self):
        if self.learner.scaling != "none":
            raise_invalid("learner.scaling", self.learner.scaling, "'none'")

    def __call__(self, seen: Round) -> Tensor:
        learner, before, x = self.learner, seen.before, seen.action.unsqueeze(1)
        if before.rounds < learner.n_init:
            return torch.full_like(x[:, 0, :1], torch.nan).expand(-1, 3)
        ellipsoid = learner.ellipsoid(before, seen.context)
        u = ellipsoid.width(learner.model.features(before.w, x)).squeeze(1)
        # ``predict`` returns the bonus sqrt(beta_t) u_t, so the radius is its quotient by u_t.
        _, bonus = learner.predict(before, seen.context, x)
        return torch.stack([ellipsoid.growth(), u, bonus.squeeze(1) / u], 1)


# Inertness of the printed settings: how little the fit, the ball and the ascent change (E13) --------------------


def weight_change(seen: Round) -> Tensor:
    """Return ||w_0 - start|| / ||start||, R: the relative change of the parameters by the oracle of Phase I."""
    norm = lambda w: torch.linalg.vector_norm(w, dim=1)
    return norm(seen.after.w0 - seen.after.anchor) / norm(seen.after.anchor)


def ball_ratio(seen: Round) -> Tensor:
    """Return the largest ||w - w_t||^2_Sigma / beta_t along the path of the round's search, R."""
    return seen.before.ratio


def search_distance(seen: Round) -> Tensor:
    """Return the distance between the first and the last point of the round's search, R, in the model's coordinates."""
    return seen.before.moved


INERTNESS = {
    "change": Probe(weight_change, "final"),
    "ratio": Probe(ball_ratio, "max"),
    "moved": search_distance,
}


def best(problem: Any) -> Probe:
    """Return a probe of the best noise-free value so far, R. ``problem``: the problem that is played."""
    return Probe(Value(problem), "max")


def recording_probes(learner: Any) -> dict[str, Any]:
    """Return the probes that ``companion.goucb.proofs.phase_2.Replay.of`` needs. Record every round. ``learner``: as in ``Ball``."""
    return {
        "x": played,
        "y": noisy_value,
        "w": estimate,
        "ball": Ball(learner),
        "end": Probe(final_estimate, "final"),
    }
