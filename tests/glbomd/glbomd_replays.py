"""Helpers for the tests of bounds: cached runs of the correct learner and of deliberately broken learners."""

from dataclasses import dataclass

import torch

from companion.glbomd.proofs import lemmas
from companion.glbomd.proofs.lemmas import Replay
from paperlib.core.linalg import add_rank_one, matvec, take_arm
from paperlib.core.rounds import Probe
from paperlib.glbomd.learners.glbomd import GLBOMD
from paperlib.glbomd.model.links import Bernoulli, Binomial
from paperlib.glbomd.model.setting import setting_of
from paperlib.glbomd.probes import PROBES, RadiusRatio
from paperlib.glbomd.problems import SphereArms
from paperlib.maths.sets import project_ball
from paperlib.play import play

DETERMINISTIC = (
    lemmas.proposition_1,
    lemmas.lemma_1,
    lemmas.lemma_4,
    lemmas.lemma_4b,
    lemmas.lemma_6,
    lemmas.lemma_7,
    lemmas.lemma_7_free,
    lemmas.lemma_7_sharp,
    lemmas.lemma_11,
    lemmas.curvature_along,
    lemmas.optimism,
)
_traces = {}


@dataclass(frozen=True)
class Share(Bernoulli):
    """Fraction of successes among four tries: the logistic model with g = 1/4, an example with g below 1 and R > 0."""

    dispersion = 0.25

    def sample(self, mean, uniform):
        return Binomial(4).sample(4 * mean, uniform) / 4

    def validate(self, reward):
        Binomial(4).validate(4 * reward)


def trace_of(learner, problem, horizon=300, trials=4):
    """Return a recorded run; runs are cached for the other tests."""
    key = (learner, problem, horizon, trials)
    if key not in _traces:
        probes = PROBES | {
            "ratio": Probe(RadiusRatio(setting_of(learner, problem.dim)), "max"),
            "precision": Probe(lambda r: r.after.precision, "final"),
        }
        _traces[key] = play(learner, problem, horizon, trials, record="all", probes=probes)
    return _traces[key]


def replay_of(link, norm, ridge, horizon=300, trials=4, kind=GLBOMD):
    """Return a recorded run on the paper's instance as a replay."""
    learner = kind(link, norm, ridge=ridge)
    problem = SphereArms(link, norm)
    return Replay.of(trace_of(learner, problem, horizon, trials), setting_of(learner, problem.dim))


@dataclass(frozen=True)
class WrongSign(GLBOMD):
    """Take the gradient step in the wrong direction, which increases the loss."""

    def update(self, state, arms, arm, reward, draw):
        new = super().update(state, arms, arm, reward, draw)
        theta = project_ball(2 * state.theta - new.theta, new.precision, self.norm_bound)
        x = take_arm(arms, arm)
        weight = self.link.slope((x * theta).sum(-1)) / self.link.dispersion
        return new._replace(theta=theta, precision=add_rank_one(state.precision, x, weight))


@dataclass(frozen=True)
class NoProjection(GLBOMD):
    """Omit the projection, so that the estimate may leave the ball."""

    def update(self, state, arms, arm, reward, draw):
        theta, H, C, rounds = state
        x = take_arm(arms, arm)
        z, v = (x * theta).sum(-1), matvec(C, x)
        q, eta = (x * v).sum(-1), self.step
        step = eta * (reward - self.link.mean(z)) / (1 + eta * self.link.slope(z) * q)
        theta = theta + step.unsqueeze(1) * v
        c = self.link.slope((x * theta).sum(-1))
        return type(state)(
            theta, add_rank_one(H, x, c), add_rank_one(C, v, -c / (1 + c * q)), rounds + 1
        )


@dataclass(frozen=True)
class WrongNorm(NoProjection):
    """Project radially, that is in the Euclidean norm, instead of in the norm of H~_t."""

    def update(self, state, arms, arm, reward, draw):
        new = super().update(state, arms, arm, reward, draw)
        theta = new.theta * (
            self.norm_bound / torch.linalg.vector_norm(new.theta, dim=-1, keepdim=True)
        ).clamp(max=1)
        x = take_arm(arms, arm)
        return new._replace(
            theta=theta,
            precision=add_rank_one(state.precision, x, self.link.slope((x * theta).sum(-1))),
        )
