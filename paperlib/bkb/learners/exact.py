"""Exact GP-UCB, done in three ways: by rank one on the unique arms, refitted to them, and refitted to the whole history.

Source: Srinivas, Krause, Kakade & Seeger (2010); the radius is kernelized as by Abbasi-Yadkori (2012).
Letters: R trials, A arms, U slots for the unique arms P pulled, t rounds, d dimensions; N their pulls, v = lambda s2
the variance of the Gaussian process, T any root of (K_PP + lambda N^{-1})^{-1} = T^T T.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from ...core.describe import frozen_dataclass
from ...core.linalg import Rows, any_or_unknown, can_branch_on_values
from ...core.streams import Draw
from ...maths.gp import Kernel, Posterior, exact_posterior
from ..model.confidence import Confidence, RoundSums
from ..model.slots import take_points
from .posterior import REFRESH, list_pulled_arms
from .ucb import KernelUCB, PullCounts

# slots for unique arms come in multiples of this; a new arm copies only the last of them
BLOCK = 32


class ExactState(NamedTuple):
    """Counters and posterior, and what of the history the way of computing needs."""

    n: Tensor  # R x A, pulls
    ysum: Tensor  # R x A, sums of rewards
    mu: Tensor  # R x A
    s2: Tensor  # R x A
    tally: RoundSums
    copies: Tensor | None  # 1 or R x A, first equal arm
    failed: Tensor  # R bool, a covariance did not factor
    order: Tensor | None = None  # R x U, arms in order of their first pull, then -1 (ExactGPUCB)
    cross: Tensor | None = None  # k(x, x') of those arms with all, R x (U - BLOCK) x A (ExactGPUCB)
    last: Tensor | None = None  # the same of the last slots, R x BLOCK x A (ExactGPUCB)
    root: Tensor | None = None  # R x U x U, T (ExactGPUCB)
    arms: Rows | None = None  # R x t, arms played (NaiveGPUCB)
    rewards: Rows | None = None  # R x t, rewards heard (NaiveGPUCB)


class _Exact(KernelUCB):
    """What the three share."""

    def init(
        self, trials: int, arms: Tensor, horizon: int | None, draw: Draw, **tkwargs
    ) -> ExactState:
        """mu = 0, v = k(x, x); the horizon is not used."""
        shared = self.prior(trials, arms)
        failed = shared["n"][:, 0] > 0
        return ExactState(**shared, failed=failed, **self.history(trials, arms, **tkwargs))

    def history(self, trials: int, arms: Tensor, **tkwargs) -> dict[str, Any]:
        """What is kept beside counters."""
        return {}

    def on_unique(self, pulls: PullCounts, arms: Tensor, at: Tensor, rounds: int) -> Posterior:
        """The posterior from the unique pulled arms and their counters; O(A U^2)."""
        pulled = list_pulled_arms(pulls.n, rounds)
        count, total = (x.gather(1, pulled.index) * pulled.valid for x in pulls)
        return exact_posterior(
            self.kernel, take_points(arms, pulled.index), count, total, self.confidence.lam, at
        )

    def predict(self, state: ExactState, arms: Tensor, at: Tensor) -> tuple[Tensor, Tensor]:
        """mu and s2 at any points. ``at``: R x A' x d or 1 x A' x d. Returns R x A' each."""
        found = self.on_unique(
            PullCounts(state.n, state.ysum), arms, at, max(state.tally.rounds, 1)
        )
        return found.mean, found.variance / self.confidence.lam

    def _refit(
        self, state: ExactState, arm: Tensor, pulls: PullCounts, found: Posterior, **history: Any
    ) -> ExactState:
        s2, failed = found.variance / self.confidence.lam, state.failed | found.failed
        return self.heard(state, arm, pulls, found.mean, s2, failed=failed, **history)

    def report(self, state: ExactState) -> dict[str, Tensor]:
        """Whether a covariance ever failed to factor (then play raises)."""
        return {"failed": state.failed}


def row_times_matrix(vector: Tensor, matrix: Tensor) -> Tensor:
    """v^T M, R x m. ``vector``: R x k; ``matrix``: R x k x m. As a row times a matrix it reads memory in its order."""
    return torch.bmm(vector.unsqueeze(1), matrix).squeeze(1)


@frozen_dataclass
class ExactGPUCB(_Exact):
    """Exact GP-UCB by rank one over the unique arms pulled: O(A U) a round in time and in memory.

    The posterior covariance is K - K_XP T^T T K_PX, and one more reward of an arm a takes c c^T / (v_a + lambda) from it,
    with c = K_XP g. An arm a that is new has g = e_a - T^T T K_Pa, and T gets the row g / sqrt(v_a + lambda). Of one
    pulled n_a times g = T^T h with h = lambda / n_a T e_a, where no digits cancel, and T becomes (I + alpha h h^T) T, where
    (1 + alpha |h|^2)^2 = 1 + |h|^2 / (v_a + lambda).
    Source: Srinivas et al. (2010); the update is ours, a Cholesky update with a symmetric factor.

    Attributes:
        kernel: see ``paperlib.maths.gp``.
        confidence: radius rule and its constants.

    Raises:
        ValueError: a value out of range.
    """

    kernel: Kernel
    confidence: Confidence

    def history(self, trials: int, arms: Tensor, **tkwargs) -> dict[str, Tensor]:
        """No arm pulled."""
        slots = min(BLOCK, arms.shape[1])
        last = torch.zeros(trials, slots, arms.shape[1], **tkwargs)
        order = torch.full((trials, slots), -1, device=arms.device)
        return {
            "order": order,
            "cross": last[:, :0],
            "last": last,
            "root": last[:, :, :slots].clone(),
        }

    def update(
        self, state: ExactState, arms: Tensor, arm: Tensor, reward: Tensor, draw: Draw
    ) -> ExactState:
        """Posterior covariance c of the arm played with all others, then one step along it. ``arm``, ``reward``: R."""
        lam, at = self.confidence.lam, arm.unsqueeze(1)
        state, slot = self._placed(state, arms, at)
        T, n, variance = state.root, state.n.gather(1, at), lam * state.s2.gather(1, at) + lam
        column = T.gather(2, slot.unsqueeze(1).expand(-1, T.shape[1], 1)).squeeze(2)  # T e_a
        h = column * (lam / n.clamp(min=1.0))
        step = h / (variance + (variance * (variance + h.square().sum(1, keepdim=True))).sqrt())
        g = row_times_matrix(h, T)
        # An arm that is new to its trial gets a row of T; on a device all trials compute it.
        if any_or_unknown(n == 0):
            index = at.unsqueeze(1).expand(-1, T.shape[1], 1)
            parts = (state.cross, state.last)
            entry = torch.cat([x.gather(2, index[:, : x.shape[1]]) for x in parts], 1)  # K_Pa
            unit = torch.zeros_like(h).scatter_(1, slot, 1.0)
            fresh = unit - row_times_matrix((T * entry.mT).sum(2), T)
            step, g = (
                torch.where(n == 0, unit / variance.sqrt(), step),
                torch.where(n == 0, fresh, g),
            )
        full = state.cross.shape[1]
        c = row_times_matrix(g[:, full:], state.last)
        c = c + row_times_matrix(g[:, :full], state.cross) if full else c
        surprise = (reward.unsqueeze(1) - state.mu.gather(1, at)) / variance
        mu = torch.addcmul(state.mu, c, surprise)
        s2 = torch.addcdiv(state.s2, c.square(), variance, value=-1 / lam).clamp_(min=0.0)
        root = torch.addcmul(T, step.unsqueeze(2), g.unsqueeze(1))
        pulls = PullCounts(state.n, state.ysum).add(arm, reward)
        new = self.heard(state, arm, pulls, mu, s2, root=root)
        return self._refreshed(new, arms) if new.tally.rounds % REFRESH == 0 else new

    def _placed(self, state: ExactState, arms: Tensor, at: Tensor) -> tuple[ExactState, Tensor]:
        """The state with a slot for each trial's arm, and which, R x 1. ``at``: R x 1."""
        here, full, slots = state.order == at, state.cross.shape[1], state.last.shape[1]
        known = here.any(1, keepdim=True)
        slot = (here * torch.arange(here.shape[1], device=here.device)).sum(1, keepdim=True)
        if not any_or_unknown(~known):
            return state, slot
        filled = (state.order[:, full:] >= 0).sum(1, keepdim=True)
        most = int(filled.max()) if can_branch_on_values(filled) else state.tally.rounds - full
        if most == slots < arms.shape[1]:  # no room: another block
            full, filled = full + slots, torch.zeros_like(filled)
            state = state._replace(
                order=pad(state.order, (0, slots), value=-1),
                cross=torch.cat([state.cross, state.last], 1),
                last=torch.zeros_like(state.last),
                root=pad(state.root, (0, slots, 0, slots)),
            )
        row, filled = self.kernel(take_points(arms, at), arms), torch.where(known, 0, filled)
        row = torch.where(known.unsqueeze(2), state.last[:, :1], row)  # what is there already
        last = state.last.scatter(1, filled.unsqueeze(2).expand_as(row), row)
        slot = torch.where(known, slot, full + filled)
        return state._replace(order=state.order.scatter(1, slot, at), last=last), slot

    def _refreshed(self, state: ExactState, arms: Tensor) -> ExactState:
        """T, mu and s2 computed anew from the counters, against the drift of many updates."""
        lam, index = self.confidence.lam, state.order.clamp(min=0)
        count, total = (x.gather(1, index) * (state.order >= 0) for x in (state.n, state.ysum))
        found = exact_posterior(self.kernel, take_points(arms, index), count, total, lam, arms)
        root = torch.linalg.solve_triangular(
            found.factor, torch.diag_embed(count.sqrt()), upper=False
        )
        s2, failed = found.variance / lam, state.failed | found.failed
        return state._replace(mu=found.mean, s2=s2, root=root, failed=failed)


@frozen_dataclass
class UniqueGPUCB(_Exact):
    """Exact GP-UCB from the unique arms pulled and their counters, refitted each round: O(A U^2), an independent check.

    Attributes:
        kernel, confidence: as for ``ExactGPUCB``.

    Raises:
        ValueError: a value out of range.
    """

    kernel: Kernel
    confidence: Confidence

    def update(
        self, state: ExactState, arms: Tensor, arm: Tensor, reward: Tensor, draw: Draw
    ) -> ExactState:
        """Count, refit. ``arm``, ``reward``: R."""
        pulls = PullCounts(state.n, state.ysum).add(arm, reward)
        found = self.on_unique(pulls, arms, arms, state.tally.rounds + 1)
        return self._refit(state, arm, pulls, found)


@frozen_dataclass
class NaiveGPUCB(_Exact):
    """Exact GP-UCB refitted to the whole history each round, what the paper compares with: O(A t^2 + t^3).

    Attributes:
        kernel, confidence: as for ``ExactGPUCB``.

    Raises:
        ValueError: a value out of range.
    """

    kernel: Kernel
    confidence: Confidence

    def history(self, trials: int, arms: Tensor, **tkwargs) -> dict[str, Rows]:
        """Arms and rewards so far: none."""
        return {
            "arms": Rows.empty(trials, dtype=torch.int64, device=arms.device),
            "rewards": Rows.empty(trials, **tkwargs),
        }

    def update(
        self, state: ExactState, arms: Tensor, arm: Tensor, reward: Tensor, draw: Draw
    ) -> ExactState:
        """Mean and variance (2) from all t rounds. ``arm``, ``reward``: R."""
        played, rewards = state.arms.append(arm), state.rewards.append(reward)
        points, once = take_points(arms, played.view), torch.ones_like(rewards.view)
        lam = self.confidence.lam
        found = exact_posterior(self.kernel, points, once, rewards.view, lam, arms)
        pulls = PullCounts(state.n, state.ysum).add(arm, reward)
        return self._refit(state, arm, pulls, found, arms=played, rewards=rewards)
