"""EXP3-IX: exponential weights with implicit exploration, on finitely many arms.

Source: Neu (2015), "Explore no more: improved high-probability regret bounds for non-stochastic bandits", EXP3-IX with
learning rates that need no horizon. Here it is an example of a policy of Lemma 4.1.
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
    """State with R separate rows in every leaf, so that trials can restart independently."""

    losses: Tensor  # R x K, estimated total losses
    t: Tensor  # R, the next round, 1, 2, ... since the start; a float, because torch computes powers of integers in float32


def regret_bound(arms: int, horizon: float) -> tuple[float, float]:
    """Return (a, c) such that the regret is at most a sqrt(t) + c in all rounds t simultaneously, for rewards in [-1, 1].

    Neu (2015), Theorem 1, has R_t <= 4 sqrt(K t ln K) + (2 sqrt(K t / ln K) + 1) ln(2 / delta) for losses in [0, 1]. Regret in
    rewards is twice the regret in losses, because the range is twice as large. The result is for delta = T^-2.

    Args:
        arms: K >= 2.
        horizon: number of rounds T.

    Raises:
        ValueError: fewer than two arms, or a horizon out of range.
    """
    # The square of a larger horizon than 1e150 could overflow.
    K, l = (
        check_integer("arms", arms, least=2),
        math.log(2 * check_number("horizon", horizon, 1.0, 1e150) ** 2),
    )
    return 2 * (4 * math.sqrt(K * math.log(K)) + 2 * math.sqrt(K / math.log(K)) * l), 2 * l


@frozen_dataclass
class Exp3IX:
    """EXP3-IX: draw an arm with probability p proportional to exp(-eta_t L); add l / (p_i + g_t) to L_i for the pulled arm i.

    L are the estimated total losses, eta_t = sqrt(ln K / (K t)), g_t = eta_t / 2, and the loss is l = (1 - y) / 2. The arms must
    be the same in all rounds.

    Examples:
        >>> from paperlib.nsbco import Exp3IX, GridDrift
        >>> from paperlib.play import play
        >>> regret = play(Exp3IX(), GridDrift(arms=3), 400, 4)["regret"][:, -1].mean()
        >>> bool(regret < 400 / 3)  # the regret of uniform play: one of three arms has gap 1, the others are optimal
        True
    """

    wants = "reward"
    # Losses are stored by index, and a reward is weighted by the probability with which its arm was drawn.
    tags = Tags(fixed_arms=True, own_actions=False)

    def validate(self, arms: Tensor, arm: Tensor | None, y: Tensor | None) -> None:
        """Check the arms, which must be two or more, and the rewards.

        Raises:
            ValueError: a single arm, an unknown arm, or rewards outside [-1, 1].
        """
        check_arms(arms, arm)
        if arms.shape[1] < 2:
            raise ValueError(
                f"arms must contain at least 2 arms, because the rates are multiples of ln K, got {arms.shape[1]}"
            )
        if y is not None:
            check_answer(y)

    def init(
        self, trials: int, arms: Tensor, horizon: int | None, draw: Draw, **tkwargs
    ) -> Exp3State:
        """Return the state with zero estimated losses; the horizon is not used."""
        losses = torch.zeros(trials, arms.shape[1], **tkwargs)
        return Exp3State(losses, losses[:, 0] + 1)

    def restart(self, state: Exp3State, arms: Tensor, horizon: int | None, draw: Draw) -> Exp3State:
        """Return the initial state."""
        return Exp3State(torch.zeros_like(state.losses), torch.ones_like(state.t))

    def _chances(self, state: Exp3State) -> tuple[Array, Array]:
        """Return p_t, R x K, and eta_t, R, as NumPy arrays on the CPU."""
        losses, t = as_numpy_if_cpu(*state)
        K = losses.shape[1]
        eta = (math.log(K) / K / t) ** 0.5  # decreasing rates need no horizon
        # Subtracting the least loss avoids an underflow of all weights.
        least = losses.min(1, keepdims=True) if isinstance(t, np.ndarray) else losses.amin(1, True)
        w = eta[:, None] * (least - losses)
        w = np.exp(w) if isinstance(t, np.ndarray) else w.exp()
        return w / w.sum(1)[:, None], eta

    def select(self, state: Exp3State, arms: Tensor, draw: Draw) -> tuple[Tensor, Exp3State]:
        """Draw an arm from p_t, R indices."""
        p, _ = self._chances(state)
        (u,) = as_numpy_if_cpu(draw.uniform("explore"))
        return as_tensors((p.cumsum(1)[:, :-1] < u[:, None]).sum(1))[0], state

    def update(
        self, state: Exp3State, arms: Tensor, arm: Tensor, y: Tensor, draw: Draw
    ) -> Exp3State:
        """Add the loss of the pulled arm, divided by its probability plus g_t. ``arm``: R indices; ``y``: R."""
        p, eta = as_tensors(*self._chances(state))
        here = arm[:, None]
        # Implicit exploration: adding eta / 2 to the probability bounds the variance of the estimate.
        loss = (1 - y) / 2 / (p.gather(1, here)[:, 0] + eta / 2)
        return Exp3State(state.losses.scatter_add(1, here, loss[:, None]), state.t + 1)
