"""Any policy with a regret bound made a base for worlds that drift: Lemma 4.1, corrected.

Source: Wang (2025), Lemma 4.1 (errata: the 1/t that its (27) lacks, T where t is meant, an average taken for its last term).
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
    """The policy's state, and what it heard."""

    base: Any
    total: Tensor  # R, sum of y
    t: Tensor  # R, rounds; no integer's type, whose powers torch rounds


@frozen_dataclass
class StationaryToWeak(Wrapper):
    """Plays as its base and says r-bar_t = mean of y + rt(t) + e(t), where t rt(t) bounds the base's regret after t rounds.

    If for all t, with high probability, max_x sum over tau <= t of f_tau(x) - f_tau(x_tau) is at most t rt(t), then r-bar has
    property 1 of weak non-stationarity with lambda = 1 and property 2 with ``rho`` and lambda = 2. Here rt(t) = a / sqrt(t)
    + c / t, and e(t) = 2 sqrt(ln(2 T) / t).

    Attributes:
        base: any policy; for ``Multiscale`` one whose state holds tensors of R rows alone.
        a: >= 0, see above.
        c: >= 0, see above.
        horizon: T, as ``Multiscale`` gives its base none.

    Raises:
        ValueError: a value out of range, or a base that is no learner.
    """

    a: float = fields.nonnegative()
    c: float = fields.nonnegative()
    horizon: int = fields.whole()

    def rt(self, t: float | np.ndarray | Tensor) -> float | np.ndarray | Tensor:
        """a / sqrt(t) + c / t. ``t``: a number or any shape, no integer's type if a tensor."""
        return self.a * t**-0.5 + self.c / t

    def e(self, t: float | np.ndarray | Tensor) -> float | np.ndarray | Tensor:
        """2 sqrt(ln(2 T) / t), what a mean of t answers in [-1, 1] is off by. ``t``: as for ``rt``."""
        # Departure: the paper's half of it is Hoeffding's for answers in [0, 1] (E3).
        return 2 * math.sqrt(math.log(2 * int(self.horizon))) * t**-0.5

    def rho(self, t: int | np.ndarray) -> np.ndarray:
        """rt(t) + e(t) + (1/t) sum over tau <= t of rt(tau) + 2 e(tau). ``t``: rounds >= 1, whole numbers."""
        t = np.asarray(t)
        tau = np.arange(1.0, t.max() + 1)
        mean = np.cumsum(self.rt(tau) + 2 * self.e(tau)) / tau
        return self.rt(1.0 * t) + self.e(1.0 * t) + mean[t - 1]

    def init(
        self, trials: int, context: Any, horizon: int | None, draw: Draw, **tkwargs
    ) -> ReductionState:
        """The base's, with nothing heard."""
        zero = torch.zeros(trials, **tkwargs)
        return ReductionState(self.base.init(trials, context, horizon, draw, **tkwargs), zero, zero)

    def restart(
        self, state: ReductionState, context: Any, horizon: int | None, draw: Draw
    ) -> ReductionState:
        """The base's ``restart``, and where it has none its ``init``; nothing heard."""
        zero = torch.zeros_like(state.total)
        if hasattr(self.base, "restart"):
            base = self.base.restart(state.base, context, horizon, draw)
        else:
            tkwargs = {"dtype": zero.dtype, "device": zero.device}
            base = self.base.init(len(zero), context, horizon, draw, **tkwargs)
        return ReductionState(base, zero, zero)

    def select(
        self, state: ReductionState, context: Any, draw: Draw
    ) -> tuple[Tensor, ReductionState]:
        """The base's choice."""
        action, base = self.base.select(state.base, context, draw)
        return action, ReductionState(base, state.total, state.t)

    def update(
        self, state: ReductionState, context: Any, action: Tensor, feedback: Tensor, draw: Draw
    ) -> ReductionState:
        """The base hears. ``feedback``: R."""
        base = self.base.update(state.base, context, action, feedback, draw)
        return ReductionState(base, state.total + feedback, state.t + 1)

    def optimistic(self, state: ReductionState) -> Tensor:
        """r-bar_t, after an update, R."""
        total, t = as_numpy_if_cpu(state.total, state.t)
        return as_tensors(total / t + self.rt(t) + self.e(t))[0]
