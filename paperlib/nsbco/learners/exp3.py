"""Exponential weights with implicit exploration, on finitely many arms.

Source: Neu (2015), "Explore no more: improved high-probability regret bounds for non-stochastic bandits", EXP3-IX with
rates that need no horizon. Here it shows what Lemma 4.1 does to any policy.
Letters: R trials, K arms.
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ...core.contracts import Tags
from ...core.describe import frozen_dataclass
from ...core.linalg import Array, as_numpy_if_cpu, as_tensors
from ...core.streams import Draw
from ...core.validation import check_arms, check_integer, check_number
from ..model.task import check_answer


class Exp3State(NamedTuple):
    """Every leaf has R rows of its own, so that trials can begin anew apart."""

    losses: Tensor  # R x K, estimated total losses
    t: Tensor  # R, the round that comes, 1, 2, ... since the start; no integer's type, whose powers torch rounds


def regret_bound(arms: int, horizon: float) -> tuple[float, float]:
    """(a, c) with regret at most a sqrt(t) + c in all rounds t together, for rewards in [-1, 1].

    Neu (2015), Theorem 1, R_t <= 4 sqrt(K t ln K) + (2 sqrt(K t / ln K) + 1) ln(2 / delta) in losses of [0, 1], which are half
    as large, with delta = T^-2.

    Raises:
        ValueError: fewer than two arms, or no horizon.
    """
    # beyond 1e150 a square is no finite number
    K, l = (
        check_integer("arms", arms, least=2),
        math.log(2 * check_number("horizon", horizon, 1.0, 1e150) ** 2),
    )
    return 2 * (4 * math.sqrt(K * math.log(K)) + 2 * math.sqrt(K / math.log(K)) * l), 2 * l


@frozen_dataclass
class Exp3IX:
    """Arms drawn with probability p proportional to exp(-eta_t L), L_i += l / (p_i + g_t) for the arm played.

    eta_t = sqrt(ln K / (K t)), g_t = eta_t / 2, l = (1 - y) / 2. Arms are the same in all rounds.
    """

    wants = "reward"
    # losses are counted by index; an answer is weighted by the probability with which its arm was drawn
    tags = Tags(fixed_arms=True, own_actions=False)

    def validate(self, arms: Tensor, arm: Tensor | None, y: Tensor | None) -> None:
        """Check arms, two or more, and answers.

        Raises:
            ValueError: one arm alone, an unknown one, or answers outside [-1, 1].
        """
        check_arms(arms, arm)
        if arms.shape[1] < 2:
            raise ValueError(
                f"arms={arms.shape[1]}; allowed: 2 or more, since rates are multiples of ln K"
            )
        if y is not None:
            check_answer(y)

    def init(
        self, trials: int, arms: Tensor, horizon: int | None, draw: Draw, **tkwargs
    ) -> Exp3State:
        """Nothing is known of any arm; the horizon is not used."""
        losses = torch.zeros(trials, arms.shape[1], **tkwargs)
        return Exp3State(losses, losses[:, 0] + 1)

    def restart(self, state: Exp3State, arms: Tensor, horizon: int | None, draw: Draw) -> Exp3State:
        """As at first."""
        return Exp3State(torch.zeros_like(state.losses), torch.ones_like(state.t))

    def _chances(self, state: Exp3State) -> tuple[Array, Array]:
        """p_t, R x K, and eta_t, R; ``light``."""
        losses, t = as_numpy_if_cpu(*state)
        K = losses.shape[1]
        eta = (math.log(K) / K / t) ** 0.5
        least = losses.min(1, keepdims=True) if isinstance(t, np.ndarray) else losses.amin(1, True)
        w = eta[:, None] * (least - losses)
        w = np.exp(w) if isinstance(t, np.ndarray) else w.exp()
        return w / w.sum(1)[:, None], eta

    def select(self, state: Exp3State, arms: Tensor, draw: Draw) -> tuple[Tensor, Exp3State]:
        """An arm drawn from p_t. Returns R indices."""
        p, _ = self._chances(state)
        (u,) = as_numpy_if_cpu(draw.uniform("explore"))
        return as_tensors((p.cumsum(1)[:, :-1] < u[:, None]).sum(1))[0], state

    def update(
        self, state: Exp3State, arms: Tensor, arm: Tensor, y: Tensor, draw: Draw
    ) -> Exp3State:
        """The loss of the arm played, over its chance plus g_t. ``arm``: R indices; ``y``: R."""
        p, eta = as_tensors(*self._chances(state))
        here = arm[:, None]
        loss = (1 - y) / 2 / (p.gather(1, here)[:, 0] + eta / 2)
        return Exp3State(state.losses.scatter_add(1, here, loss[:, None]), state.t + 1)
