"""Turn any policy with a regret bound into a base for non-stationary problems: Lemma 4.1, corrected.

Source: Wang (2025), Lemma 4.1. Errata: Eq. (27) lacks the factor 1/t, T is printed where t is meant, and an average is replaced by
its last term.
Letters: R trials, t rounds of a thread.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ...core import fields
from ...core.describe import frozen_dataclass
from ...core.linalg import as_numpy_if_cpu, as_tensors
from ...core.streams import Draw
from ...learners.wrapper import Wrapper


class ReductionState(NamedTuple):
    """State of the policy, and the sum of its rewards."""

    base: Any
    total: Tensor  # R, sum of y
    t: Tensor  # R, rounds; a float, because torch computes powers of integers in float32


@frozen_dataclass
class StationaryToWeak(Wrapper):
    """Play as the base and estimate r-bar_t = mean of y + rt(t) + e(t), where t rt(t) bounds the base's regret after t rounds.

    Suppose that for all t, with high probability, max_x sum over tau <= t of f_tau(x) - f_tau(x_tau) is at most t rt(t). Then
    r-bar has property 1 of weak non-stationarity with lambda = 1, and property 2 with ``rho`` and lambda = 2. Here rt(t) =
    a / sqrt(t) + c / t, and e(t) = 2 sqrt(ln(2 T) / t).

    Attributes:
        base: any policy. Inside ``Multiscale``, its state must consist of tensors with R rows.
        a: >= 0, see above.
        c: >= 0, see above.
        horizon: number of rounds T. It is a field because ``Multiscale`` passes no horizon to its base.

    Raises:
        ValueError: a value out of range, or a base that is not a learner.

    Examples:
        >>> from paperlib.nsbco import Exp3IX, StationaryToWeak
        >>> from paperlib.nsbco.learners.exp3 import regret_bound
        >>> weak = StationaryToWeak(Exp3IX(), *regret_bound(5, 10**4), 10**4)
        >>> bool(weak.rho(10**4) > weak.rt(1e4) + weak.e(1e4))
        True
    """

    a: float = fields.nonnegative()
    c: float = fields.nonnegative()
    horizon: int = fields.whole()

    def rt(self, t: float | np.ndarray | Tensor) -> float | np.ndarray | Tensor:
        """Return rt(t) = a / sqrt(t) + c / t. ``t``: a number or an array of any shape; a tensor must be floating-point."""
        return self.a * t**-0.5 + self.c / t

    def e(self, t: float | np.ndarray | Tensor) -> float | np.ndarray | Tensor:
        """Return e(t) = 2 sqrt(ln(2 T) / t), the confidence radius of a mean of t rewards in [-1, 1]. ``t``: as for ``rt``."""
        # Departure: the paper has half of this, which is Hoeffding's radius for rewards in [0, 1] (E3).
        return 2 * math.sqrt(math.log(2 * int(self.horizon))) * t**-0.5

    def rho(self, t: int | np.ndarray) -> np.ndarray:
        """Return rho(t) = rt(t) + e(t) + (1/t) sum over tau <= t of rt(tau) + 2 e(tau). ``t``: rounds >= 1, integers."""
        t = np.asarray(t)
        tau = np.arange(1.0, t.max() + 1)
        mean = np.cumsum(self.rt(tau) + 2 * self.e(tau)) / tau
        return self.rt(1.0 * t) + self.e(1.0 * t) + mean[t - 1]

    def init(
        self, trials: int, context: Any, horizon: int | None, draw: Draw, **tkwargs
    ) -> ReductionState:
        """Return the base's initial state, with no rewards."""
        zero = torch.zeros(trials, **tkwargs)
        return ReductionState(self.base.init(trials, context, horizon, draw, **tkwargs), zero, zero)

    def restart(
        self, state: ReductionState, context: Any, horizon: int | None, draw: Draw
    ) -> ReductionState:
        """Restart the base by its ``restart``, or else by its ``init``, and discard all rewards."""
        zero = torch.zeros_like(state.total)
        if hasattr(self.base, "restart"):
            base = self.base.restart(state.base, context, horizon, draw)
        else:
            tkwargs = {"dtype": zero.dtype, "device": zero.device}
            base = self.base.init(len(zero), context, horizon, draw, **tkwargs)
        return ReductionState(base, zero, zero)

    def update(
        self, state: ReductionState, context: Any, action: Tensor, feedback: Tensor, draw: Draw
    ) -> ReductionState:
        """Update the base and the sum of rewards. ``feedback``: R."""
        base = self.base.update(state.base, context, action, feedback, draw)
        return ReductionState(base, state.total + feedback, state.t + 1)

    def optimistic(self, state: ReductionState) -> Tensor:
        """Return r-bar_t, R; defined after the first update."""
        # the statistic of Lemma 4.1, with the corrected e(t); Eq. (28) has half of it
        total, t = as_numpy_if_cpu(state.total, state.t)
        return as_tensors(total / t + self.rt(t) + self.e(t))[0]
