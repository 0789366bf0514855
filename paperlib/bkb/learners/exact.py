"""Exact GP-UCB, done in three ways: by rank one, on the unique arms with counters, and from the whole history.

Source: Srinivas, Krause, Kakade & Seeger (2010); the radius is kernelized as by Abbasi-Yadkori (2012).
Letters: R trials, A arms, t rounds, d dimensions; v = lambda s2 the variance of the Gaussian process.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ...maths.gp import Kernel, Posterior, exact_posterior
from ...core.linalg import Rows
from ...core.streams import Draw
from ..model.confidence import Confidence, Tally
from ..model.slots import listed, points_at
from .sketch import pulled_room
from .ucb import KernelUCB, Pulls, of_arm


class State(NamedTuple):
    """Counters and posterior, and what of the history the way of computing needs."""

    n: Tensor  # R x A, pulls
    ysum: Tensor  # R x A, sums of rewards
    mu: Tensor  # R x A
    s2: Tensor  # R x A
    tally: Tally
    copies: Tensor | None  # 1 or R x A, first equal arm
    failed: Tensor  # R bool, a covariance did not factor
    rows: Rows | None = None  # R x t x A, directions by which v has shrunk (ExactGPUCB)
    arms: Rows | None = None  # R x t, arms played (NaiveGPUCB)
    rewards: Rows | None = None  # R x t, rewards heard (NaiveGPUCB)


class _Exact(KernelUCB):
    """What the three share."""

    def init(self, trials: int, arms: Tensor, horizon: int | None, draw: Draw, **tkwargs) -> State:
        """mu = 0, v = k(x, x); the horizon is not used."""
        shared = self.prior(trials, arms)
        failed = shared["n"][:, 0] > 0
        return State(**shared, failed=failed, **self.history(trials, arms, **tkwargs))

    def history(self, trials: int, arms: Tensor, **tkwargs) -> dict[str, Rows]:
        """What is kept beside counters."""
        return {}

    def on_unique(self, pulls: Pulls, arms: Tensor, at: Tensor, rounds: int) -> Posterior:
        """The posterior from the unique pulled arms and their counters; O(A U^2)."""
        pulled = listed(pulls.n > 0, pulled_room(pulls.n, rounds))
        count, total = (x.gather(1, pulled.index) * pulled.valid for x in pulls)
        return exact_posterior(
            self.kernel, points_at(arms, pulled.index), count, total, self.confidence.lam, at
        )

    def predict(self, state: State, arms: Tensor, at: Tensor) -> tuple[Tensor, Tensor]:
        """mu and s2 at any points. ``at``: R x A' x d or 1 x A' x d. Returns R x A' each."""
        found = self.on_unique(Pulls(state.n, state.ysum), arms, at, max(state.tally.rounds, 1))
        return found.mean, found.variance / self.confidence.lam

    def _refit(
        self, state: State, arm: Tensor, pulls: Pulls, found: Posterior, **history: Any
    ) -> State:
        s2, failed = found.variance / self.confidence.lam, state.failed | found.failed
        return self.heard(state, arm, pulls, found.mean, s2, failed=failed, **history)

    def report(self, state: State) -> dict[str, Tensor]:
        """Whether a covariance ever failed to factor (then play raises)."""
        return {"failed": state.failed}


@dataclass(frozen=True)
class ExactGPUCB(_Exact):
    """Exact GP-UCB by rank one: O(A t) a round in time, O(A t) in memory.

    Source: Srinivas et al. (2010); each round is one step of a pivoted Cholesky factorization over all arms.

    Attributes:
        kernel: see ``paperlib.maths.gp``.
        confidence: radius rule and its constants.

    Raises:
        ValueError: a value out of range.
    """

    kernel: Kernel
    confidence: Confidence

    def history(self, trials: int, arms: Tensor, **tkwargs) -> dict[str, Rows]:
        """The directions so far: none."""
        return {"rows": Rows.empty(trials, arms.shape[1], **tkwargs)}

    def update(self, state: State, arms: Tensor, arm: Tensor, reward: Tensor, draw: Draw) -> State:
        """Posterior covariance c of the arm played with all others, then one step along it. ``arm``, ``reward``: R."""
        lam, before = self.confidence.lam, state.rows.view
        played = points_at(arms, arm.unsqueeze(1))
        entry = before.gather(2, arm.view(-1, 1, 1).expand(-1, before.shape[1], 1))  # R x t x 1
        c = (self.kernel(played, arms) - torch.bmm(entry.mT, before)).squeeze(1)
        spread = (lam * of_arm(state.s2, arm) + lam).sqrt()  # of the reward
        c = c / spread.unsqueeze(1)
        surprise = (reward - of_arm(state.mu, arm)) / spread
        mu = torch.addcmul(state.mu, c, surprise.unsqueeze(1))
        s2 = torch.addcmul(state.s2, c, c, value=-1 / lam).clamp_(min=0.0)
        pulls = Pulls(state.n, state.ysum).add(arm, reward)
        return self.heard(state, arm, pulls, mu, s2, rows=state.rows.append(c))


@dataclass(frozen=True)
class UniqueGPUCB(_Exact):
    """Exact GP-UCB from the unique arms pulled and their counters, refitted each round: O(A U^2).

    Attributes:
        kernel, confidence: as for ``ExactGPUCB``.

    Raises:
        ValueError: a value out of range.
    """

    kernel: Kernel
    confidence: Confidence

    def update(self, state: State, arms: Tensor, arm: Tensor, reward: Tensor, draw: Draw) -> State:
        """Count, refit. ``arm``, ``reward``: R."""
        pulls = Pulls(state.n, state.ysum).add(arm, reward)
        found = self.on_unique(pulls, arms, arms, state.tally.rounds + 1)
        return self._refit(state, arm, pulls, found)


@dataclass(frozen=True)
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

    def update(self, state: State, arms: Tensor, arm: Tensor, reward: Tensor, draw: Draw) -> State:
        """Mean and variance (2) from all t rounds. ``arm``, ``reward``: R."""
        played, rewards = state.arms.append(arm), state.rewards.append(reward)
        points, once = points_at(arms, played.view), torch.ones_like(rewards.view)
        lam = self.confidence.lam
        found = exact_posterior(self.kernel, points, once, rewards.view, lam, arms)
        pulls = Pulls(state.n, state.ysum).add(arm, reward)
        return self._refit(state, arm, pulls, found, arms=played, rewards=rewards)
