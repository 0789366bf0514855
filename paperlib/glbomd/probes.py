"""What is recorded along a run: estimates, arms and rewards for a replay, the radius, and the memory of a state.

Source: Zhang, Xu, Zhao & Sugiyama (2025), Algorithm 1 and Theorem 1.
Letters: R trials, d dimensions.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from ..core.linalg import Rows, arm_dot, take_arm
from ..core.rounds import Round, StateField, observed_feedback
from ..core.trees import state_bytes
from .model.setting import Setting


def memory_bytes(seen: Round) -> Tensor:
    """A probe: bytes of the state and of its history after the round, for each trial, R x 2."""
    held = torch.tensor(
        [state_bytes(seen.after), state_bytes(seen.after, Rows)], dtype=torch.float64
    )
    return (held / len(seen.action)).expand(len(seen.action), 2)


def played_arm(round: Round) -> Tensor:
    """X_t, R x d."""
    return take_arm(round.context, round.action)


def true_parameter(round: Round) -> Tensor:
    """theta*, R x d: an oracle quantity, from the world."""
    return round.instance.theta.expand(len(round.action), -1)


def best_parameter(round: Round) -> Tensor:
    """max_x x^T theta* over the round's arms, R: an oracle quantity."""
    return arm_dot(round.context, true_parameter(round)).amax(1)


@dataclass(frozen=True)
class RadiusRatio:
    """||theta_t - theta*||_{H_t} / beta_t of a round, R: at most 1 in every round at once by Theorem 1.

    Takes H_t from the state's field ``precision``. As ``Probe(RadiusRatio(setting), "max")`` it is uniform in time.
    """

    setting: Setting

    def __call__(self, round: Round) -> Tensor:
        error = (round.before.theta - true_parameter(round)).unsqueeze(2)
        square = (error * torch.bmm(round.before.precision, error)).sum((1, 2))
        return square.clamp(min=0).sqrt() / self.setting.radius(round.t + 1)


@dataclass(frozen=True)
class OptimismGap:
    """How far X_t is behind the most optimistic arm, relative to the largest index and S, R: 0 up to rounding.

    The index is x^T theta_t + beta_t ||x||_{H_t^{-1}}, with ``Setting.radius`` and a Cholesky factor of the state's
    field ``precision``: nothing of what a learner chooses by. Of theory runs, ``scale`` = 1.
    """

    setting: Setting

    def __call__(self, round: Round) -> Tensor:
        arms = round.context.expand(len(round.action), -1, -1)
        factor = torch.linalg.cholesky(round.before.precision)
        width = torch.linalg.solve_triangular(factor, arms.mT, upper=False).norm(dim=1)
        index = arm_dot(arms, round.before.theta) + self.setting.radius(round.t + 1) * width
        best, played = index.amax(1), index.gather(1, round.action.unsqueeze(1)).squeeze(1)
        return (best - played) / (best.abs() + self.setting.norm_bound)


# of a replay: "next_theta" is theta_{t+1}, after the round's reward
PROBES = {
    "next_theta": StateField("theta"),
    "arm": played_arm,
    "reward": observed_feedback,
    "best": best_parameter,
    "truth": true_parameter,
}
