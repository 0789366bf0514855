"""Exact GP-UCB in three implementations: rank-one updates on the unique arms, refits to them, and refits to the history.

Source: Srinivas, Krause, Kakade & Seeger (2010); the radius is the kernelized one of Abbasi-Yadkori (2012).
Letters: R trials, A arms, U slots for the unique pulled arms P, t rounds, d dimensions; N the pull counts of P, v = lambda s2
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

# Slots for unique arms come in blocks of this size, so that a new arm copies only the last block.
BLOCK = 32


class ExactState(NamedTuple):
    """Pull counts, the posterior, and the part of the history that the implementation needs."""

    n: Tensor  # R x A, pulls
    ysum: Tensor  # R x A, sums of rewards
    mu: Tensor  # R x A
    s2: Tensor  # R x A
    tally: RoundSums
    copies: Tensor | None  # 1 or R x A, first equal arm
    failed: Tensor  # R bool, a covariance had no Cholesky factor
    order: Tensor | None = None  # R x U, arms in order of their first pull, then -1 (ExactGPUCB)
    cross: Tensor | None = None  # k(x, x') of those arms with all, R x (U - BLOCK) x A (ExactGPUCB)
    last: Tensor | None = None  # the same for the last slots, R x BLOCK x A (ExactGPUCB)
    root: Tensor | None = None  # R x U x U, T (ExactGPUCB)
    arms: Rows | None = None  # R x t, pulled arms (NaiveGPUCB)
    rewards: Rows | None = None  # R x t, observed rewards (NaiveGPUCB)


class _Exact(KernelUCB):
    """Base class of the three implementations."""

    def init(
        self, trials: int, arms: Tensor, horizon: int | None, draw: Draw, **tkwargs
    ) -> ExactState:
        """Return the prior, mu = 0 and v = k(x, x); the horizon is not used."""
        shared = self.prior(trials, arms)
        failed = shared["n"][:, 0] > 0
        return ExactState(**shared, failed=failed, **self.history(trials, arms, **tkwargs))

    def history(self, trials: int, arms: Tensor, **tkwargs) -> dict[str, Any]:
        """Return the initial fields that the state holds in addition to the pull counts."""
        return {}

    def on_unique(self, pulls: PullCounts, arms: Tensor, at: Tensor, rounds: int) -> Posterior:
        """Return the posterior from the unique pulled arms and their pull counts; O(A U^2)."""
        # n pulls of an arm with mean reward y give the same posterior as one pull of y with noise variance lambda / n.
        pulled = list_pulled_arms(pulls.n, rounds)
        count, total = (x.gather(1, pulled.index) * pulled.valid for x in pulls)
        return exact_posterior(
            self.kernel, take_points(arms, pulled.index), count, total, self.confidence.lam, at
        )

    def predict(self, state: ExactState, arms: Tensor, at: Tensor) -> tuple[Tensor, Tensor]:
        """Return mu and s2 at any points, R x A' each. ``at``: R x A' x d or 1 x A' x d."""
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
        """Report whether a covariance ever had no Cholesky factor (then ``play`` raises)."""
        return {"failed": state.failed}


def row_times_matrix(vector: Tensor, matrix: Tensor) -> Tensor:
    """Return v^T M, R x m. ``vector``: R x k; ``matrix``: R x k x m.

    Written as a row times a matrix, the product reads memory sequentially.
    """
    return torch.bmm(vector.unsqueeze(1), matrix).squeeze(1)


@frozen_dataclass
class ExactGPUCB(_Exact):
    """Exact GP-UCB with rank-one updates over the unique pulled arms: O(A U) per round in time and in memory.

    The posterior covariance is K - K_XP T^T T K_PX. One more reward of an arm a subtracts c c^T / (v_a + lambda) from it,
    with c = K_XP g. For a new arm a, g = e_a - T^T T K_Pa, and T gets the row g / sqrt(v_a + lambda). For an arm pulled
    n_a times before, g = T^T h with h = lambda / n_a T e_a, where no digits cancel. In this case T becomes
    (I + alpha h h^T) T, where (1 + alpha |h|^2)^2 = 1 + |h|^2 / (v_a + lambda).
    Source: Srinivas et al. (2010); the update is our addition, a Cholesky update with a symmetric factor.

    Attributes:
        kernel: see ``paperlib.maths.gp``.
        confidence: radius rule and its constants.

    Raises:
        ValueError: a value out of range.

    Examples:
        >>> from paperlib.bkb import RKHS, Confidence, ExactGPUCB
        >>> from paperlib.play import play
        >>> problem = RKHS(arms=50)
        >>> learner = ExactGPUCB(problem.kernel, Confidence(noise=0.1, norm_bound=3.0))
        >>> play(learner, problem, horizon=20, trials=2)["regret"].shape
        (2, 20)
    """

    kernel: Kernel
    confidence: Confidence

    def history(self, trials: int, arms: Tensor, **tkwargs) -> dict[str, Tensor]:
        """Return empty slots: no arm has been pulled."""
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
        """Compute the posterior covariance c of the pulled arm with all arms, then step along it. ``arm``, ``reward``: R."""
        lam, at = self.confidence.lam, arm.unsqueeze(1)
        state, slot = self._placed(state, arms, at)
        T, n, variance = state.root, state.n.gather(1, at), lam * state.s2.gather(1, at) + lam
        # h and step belong to an arm that was pulled before; a new arm gets other values below.
        column = T.gather(2, slot.unsqueeze(1).expand(-1, T.shape[1], 1)).squeeze(2)  # T e_a
        h = column * (lam / n.clamp(min=1.0))
        step = h / (variance + (variance * (variance + h.square().sum(1, keepdim=True))).sqrt())
        g = row_times_matrix(h, T)
        # An arm that is new to its trial gets a row of T. On a GPU all trials compute this row, because a branch
        # on the values would have to wait for the device.
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
        # c = K_XP g, in two parts because the slots are stored in two tensors.
        full = state.cross.shape[1]
        c = row_times_matrix(g[:, full:], state.last)
        c = c + row_times_matrix(g[:, :full], state.cross) if full else c
        # One rank-one step changes mean and variance of all arms along c.
        surprise = (reward.unsqueeze(1) - state.mu.gather(1, at)) / variance
        mu = torch.addcmul(state.mu, c, surprise)
        s2 = torch.addcdiv(state.s2, c.square(), variance, value=-1 / lam).clamp_(min=0.0)
        root = torch.addcmul(T, step.unsqueeze(2), g.unsqueeze(1))
        pulls = PullCounts(state.n, state.ysum).add(arm, reward)
        new = self.heard(state, arm, pulls, mu, s2, root=root)
        return self._refreshed(new, arms) if new.tally.rounds % REFRESH == 0 else new

    def _placed(self, state: ExactState, arms: Tensor, at: Tensor) -> tuple[ExactState, Tensor]:
        """Return the state with a slot for each trial's arm, and the index of the slot, R x 1. ``at``: R x 1."""
        # An arm that was pulled before keeps its slot; a new one gets the first free slot of the last block.
        here, full, slots = state.order == at, state.cross.shape[1], state.last.shape[1]
        known = here.any(1, keepdim=True)
        slot = (here * torch.arange(here.shape[1], device=here.device)).sum(1, keepdim=True)
        if not any_or_unknown(~known):
            return state, slot
        filled = (state.order[:, full:] >= 0).sum(1, keepdim=True)
        most = int(filled.max()) if can_branch_on_values(filled) else state.tally.rounds - full
        if most == slots < arms.shape[1]:  # The last block is full, so that another one is added.
            full, filled = full + slots, torch.zeros_like(filled)
            state = state._replace(
                order=pad(state.order, (0, slots), value=-1),
                cross=torch.cat([state.cross, state.last], 1),
                last=torch.zeros_like(state.last),
                root=pad(state.root, (0, slots, 0, slots)),
            )
        row, filled = self.kernel(take_points(arms, at), arms), torch.where(known, 0, filled)
        # Trials whose arm is known write back the row that slot 0 of the last block already holds.
        row = torch.where(known.unsqueeze(2), state.last[:, :1], row)
        last = state.last.scatter(1, filled.unsqueeze(2).expand_as(row), row)
        slot = torch.where(known, slot, full + filled)
        return state._replace(order=state.order.scatter(1, slot, at), last=last), slot

    def _refreshed(self, state: ExactState, arms: Tensor) -> ExactState:
        """Recompute T, mu and s2 from the pull counts, to remove the rounding drift of many updates."""
        # Unused slots have order -1; they read arm 0 and get the count 0, so that they have no weight.
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
    """Exact GP-UCB refitted in each round to the unique pulled arms and their pull counts: O(A U^2).

    It serves as an independent check of ``ExactGPUCB``.

    Attributes:
        kernel, confidence: as for ``ExactGPUCB``.

    Raises:
        ValueError: a value out of range.

    Examples:
        >>> import numpy as np
        >>> from paperlib.bkb import RKHS, Confidence, ExactGPUCB, UniqueGPUCB
        >>> from paperlib.play import play
        >>> problem = RKHS(arms=50)
        >>> confidence = Confidence(noise=0.1, norm_bound=3.0)
        >>> refitted, updated = UniqueGPUCB(problem.kernel, confidence), ExactGPUCB(problem.kernel, confidence)
        >>> one, two = (play(learner, problem, horizon=20, trials=2) for learner in (refitted, updated))
        >>> np.allclose(one["regret"], two["regret"])
        True
    """

    kernel: Kernel
    confidence: Confidence

    def update(
        self, state: ExactState, arms: Tensor, arm: Tensor, reward: Tensor, draw: Draw
    ) -> ExactState:
        """Count the pull and refit. ``arm``, ``reward``: R."""
        pulls = PullCounts(state.n, state.ysum).add(arm, reward)
        found = self.on_unique(pulls, arms, arms, state.tally.rounds + 1)
        return self._refit(state, arm, pulls, found)


@frozen_dataclass
class NaiveGPUCB(_Exact):
    """Exact GP-UCB refitted to the whole history in each round, the baseline of the paper: O(A t^2 + t^3).

    Attributes:
        kernel, confidence: as for ``ExactGPUCB``.

    Raises:
        ValueError: a value out of range.

    Examples:
        >>> import numpy as np
        >>> from paperlib.bkb import RKHS, Confidence, ExactGPUCB, NaiveGPUCB
        >>> from paperlib.play import play
        >>> problem = RKHS(arms=50)
        >>> confidence = Confidence(noise=0.1, norm_bound=3.0)
        >>> refitted, updated = NaiveGPUCB(problem.kernel, confidence), ExactGPUCB(problem.kernel, confidence)
        >>> one, two = (play(learner, problem, horizon=20, trials=2) for learner in (refitted, updated))
        >>> np.allclose(one["regret"], two["regret"])
        True
    """

    kernel: Kernel
    confidence: Confidence

    def history(self, trials: int, arms: Tensor, **tkwargs) -> dict[str, Rows]:
        """Return an empty history of arms and rewards."""
        return {
            "arms": Rows.empty(trials, dtype=torch.int64, device=arms.device),
            "rewards": Rows.empty(trials, **tkwargs),
        }

    def update(
        self, state: ExactState, arms: Tensor, arm: Tensor, reward: Tensor, draw: Draw
    ) -> ExactState:
        """Compute mean (1) and variance (2) from all t rounds. ``arm``, ``reward``: R."""
        played, rewards = state.arms.append(arm), state.rewards.append(reward)
        # The paper's form: every pull is a separate row of K_t, also if an arm was pulled before.
        points, once = take_points(arms, played.view), torch.ones_like(rewards.view)
        lam = self.confidence.lam
        found = exact_posterior(self.kernel, points, once, rewards.view, lam, arms)
        pulls = PullCounts(state.n, state.ysum).add(arm, reward)
        return self._refit(state, arm, pulls, found, arms=played, rewards=rewards)
