"""BKB for arms that change from round to round.

The state stores the pulled points instead of pull counts, and each round embeds the arms that are available.

Source: Calandriello et al. (2019), Algorithm 1, whose dictionary consists of pulls. Changing arms are our addition.
Letters: R trials, A available arms, t rounds, d dimensions; s2 the scaled variance.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from ...core import fields
from ...core.contracts import Tags
from ...core.describe import frozen_dataclass
from ...core.linalg import Rows
from ...core.streams import Draw
from ...maths.gp import Kernel
from ..model.confidence import Confidence, RoundSums
from ..model.slots import take_points
from .bkb import Sketched
from .posterior import ROOTS, SketchedFit
from .ucb import PullCounts, argmax_first_arm


class ContextualState(NamedTuple):
    """All pulls with their rewards, their variances, and whether they are in the dictionary."""

    points: Rows  # R x t x d
    rewards: Rows  # R x t
    kept: Rows  # R x t bool, S_t
    widths: Rows  # R x t, s2_t at the pulls
    tally: RoundSums
    failed: Tensor  # R bool, K_SS had no Cholesky factor
    eigh: bool  # whether the square root of K_SS is computed by eigenvalues


@frozen_dataclass
class ContextualBKB(Sketched):
    """BKB for arms that may differ in every round, in values and in number.

    A round costs O((A + t) M^2), where M is the size of the dictionary.

    Attributes:
        kernel, confidence, qbar, root: as for ``BKB``.

    Raises:
        ValueError: a value out of range.

    Examples:
        >>> import numpy as np
        >>> from paperlib.bkb import RBF, Confidence, ContextualBKB, Optimizer
        >>> arms = np.linspace(0, 1, 5)[:, None]
        >>> optimizer = Optimizer(ContextualBKB(RBF(10.0), Confidence(0.1, 1.0)), arms)
        >>> arm = optimizer.ask()
        >>> optimizer.tell(arm, 0.5)
        >>> arm = optimizer.ask(context=np.linspace(0, 1, 7)[:, None])  # the arms have changed
        >>> 0 <= arm < 7
        True
    """

    kernel: Kernel
    confidence: Confidence
    qbar: float = fields.positive(5.0)
    root: str = fields.one_of(ROOTS, "auto")
    capacity = "auto"
    variance = "dtc"
    looks = True  # the size of the largest dictionary is read in each round
    tags = Tags(derived=("gram",))

    def init(
        self, trials: int, arms: Tensor, horizon: int | None, draw: Draw, **tkwargs
    ) -> ContextualState:
        """Return the initial state, without any pull; the horizon is not used."""
        tally = self.confidence.start(self.kernel.diag(arms).amax(1), trials)
        none = lambda *shape: Rows.empty(trials, *shape, **tkwargs)
        kept = Rows.empty(trials, dtype=torch.bool, device=arms.device)
        failed, eigh = tally.information > 0, self.root_of(arms, tally)
        return ContextualState(none(arms.shape[2]), none(), kept, none(), tally, failed, eigh)

    def select(
        self, state: ContextualState, arms: Tensor, draw: Draw
    ) -> tuple[Tensor, ContextualState]:
        """Return the available arm with the largest mu + beta sqrt(s2), R indices; ties go to the smallest index.

        The first arm is drawn uniformly.
        """
        if state.tally.rounds == 0:
            return (draw.uniform("arm") * arms.shape[1]).long(), state
        # The arms are new, so that their posterior is computed here and not at the end of the last round.
        mu, s2 = self.predict(state, arms, arms)
        bound = torch.addcmul(mu, self.confidence.radius(state.tally).unsqueeze(1), s2.sqrt())
        return argmax_first_arm(bound), state

    def update(
        self, state: ContextualState, arms: Tensor, arm: Tensor, reward: Tensor, draw: Draw
    ) -> ContextualState:
        """Store the pull, sample S_{t+1} and refit (the loop of Algorithm 1 after the reward). ``arm``, ``reward``: R.

        Every pull, including the new one, is kept with probability min(1, qbar s2_t).
        """
        x = take_points(arms, arm.unsqueeze(1))
        # s2_t of the new pull comes from the dictionary before this round, as in Algorithm 1.
        played = self.predict(state, arms, x)[1].squeeze(1)
        points, rewards = state.points.append(x.squeeze(1)), state.rewards.append(reward)
        t = points.n
        # A purpose of the stream has one shape, so that the stream changes when the history doubles.
        most = max(64, 1 << (t - 1).bit_length())
        coins = draw.uniform(f"dictionary of {most}", most)[:, :t]
        kept = coins < self.qbar * state.widths.append(played).view
        if t == 1:
            kept = torch.ones_like(kept)  # S_1 = {x_1}
        # kappa2 may grow, because later arms may have a larger k(x, x) than the first ones.
        kappa2 = torch.maximum(state.tally.kappa2, self.kernel.diag(arms).amax(1))
        tally = state.tally._replace(kappa2=kappa2)
        new = state._replace(points=points, rewards=rewards, kept=Rows.of(kept), tally=tally)
        found = self._fit(new, points.view)
        return new._replace(
            # The next round samples with these variances.
            widths=Rows.of(found.s2),
            # Each pull is a separate point here, so that n = 1.
            tally=self.confidence.add(tally, played, found.s2.sum(1)),
            failed=state.failed | found.failed,
        )

    def predict(self, state: ContextualState, arms: Tensor, at: Tensor) -> tuple[Tensor, Tensor]:
        """Return mu and s2 at any points, R x A' each; ``arms`` is not used. ``at``: R x A' x d or 1 x A' x d."""
        if state.points.n == 0:
            s2 = (self.kernel.diag(at) / self.confidence.lam).expand(len(state.failed), -1)
            return torch.zeros_like(s2), s2
        found = self._fit(state, at)
        return found.mu, found.s2

    def _fit(self, state: ContextualState, at: Tensor) -> SketchedFit:
        pulls = PullCounts(torch.ones_like(state.rewards.view), state.rewards.view)
        return self.fitted(
            state.points.view,
            state.kept.view,
            pulls,
            state.tally,
            state.eigh,
            state.points.n,
            at=at,
        )

    def report(self, state: ContextualState) -> dict[str, Tensor]:
        """Report the pulls in the dictionary, and whether K_SS ever had no factor (then ``play`` raises)."""
        return {"dictionary": state.kept.view.sum(1), "failed": state.failed}
