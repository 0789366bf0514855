"""Probes that record quantities during a run: data for a replay, the radius ratio, and the size of a state.

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
    """Return the bytes of the state and of its history after the round, per trial, R x 2."""
    held = torch.tensor(
        [state_bytes(seen.after), state_bytes(seen.after, Rows)], dtype=torch.float64
    )
    return (held / len(seen.action)).expand(len(seen.action), 2)


def played_arm(round: Round) -> Tensor:
    """Return the pulled arm X_t, R x d."""
    return take_arm(round.context, round.action)


def true_parameter(round: Round) -> Tensor:
    """Return theta*, R x d, an oracle quantity taken from the problem instance."""
    return round.instance.theta.expand(len(round.action), -1)


def best_parameter(round: Round) -> Tensor:
    """Return max_x x^T theta* over the arms of the round, R, an oracle quantity."""
    return arm_dot(round.context, true_parameter(round)).amax(1)


@dataclass(frozen=True)
class RadiusRatio:
    """Probe of ||theta_t - theta*||_{H_t} / beta_t, R; by Theorem 1, at most 1 in all rounds simultaneously.

    It takes H_t from the state's field ``precision``. ``Probe(RadiusRatio(setting), "max")`` records the maximum over
    all rounds so far.
    """

    setting: Setting

    def __call__(self, round: Round) -> Tensor:
        error = (round.before.theta - true_parameter(round)).unsqueeze(2)
        square = (error * torch.bmm(round.before.precision, error)).sum((1, 2))
        return square.clamp(min=0).sqrt() / self.setting.radius(round.t + 1)


@dataclass(frozen=True)
class OptimismGap:
    """Probe of the gap between the largest index and the index of X_t, relative to the largest index plus S, R.

    The gap is 0 up to rounding. The index x^T theta_t + beta_t ||x||_{H_t^{-1}} is computed from ``Setting.radius``
    and a Cholesky factor of the state's field ``precision``, and so independently of the learner's own choice.
    The probe is for runs of the theory, with ``scale`` = 1.
    """

    setting: Setting

    def __call__(self, round: Round) -> Tensor:
        arms = round.context.expand(len(round.action), -1, -1)
        factor = torch.linalg.cholesky(round.before.precision)
        width = torch.linalg.solve_triangular(factor, arms.mT, upper=False).norm(dim=1)
        index = arm_dot(arms, round.before.theta) + self.setting.radius(round.t + 1) * width
        best, played = index.amax(1), index.gather(1, round.action.unsqueeze(1)).squeeze(1)
        return (best - played) / (best.abs() + self.setting.norm_bound)


# The probes of a replay; "next_theta" is theta_{t+1}, the estimate after the round's reward.
PROBES = {
    "next_theta": StateField("theta"),
    "arm": played_arm,
    "reward": observed_feedback,
    "best": best_parameter,
    "truth": true_parameter,
}
