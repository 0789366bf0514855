"""BKB for arms that change from round to round: the history is kept as points, and the arms on offer are embedded each round.

Source: Calandriello et al. (2019), Algorithm 1, whose dictionary consists of pulls; changing arms are ours.
Letters: R trials, A arms on offer, t rounds, d dimensions; s2 the scaled variance.
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
    """Every pull with its reward, whether it is in the dictionary, and its variance."""

    points: Rows  # R x t x d
    rewards: Rows  # R x t
    kept: Rows  # R x t bool, S_t
    widths: Rows  # R x t, s2_t at the pulls
    tally: RoundSums
    failed: Tensor  # R bool, K_SS did not factor
    eigh: bool  # the root


@frozen_dataclass
class ContextualBKB(Sketched):
    """BKB over arms that may be others in every round, and as many as one likes.

    A round costs O((A + t) M^2), M the size of the dictionary.

    Attributes:
        kernel, confidence, qbar, root: as for ``BKB``.

    Raises:
        ValueError: a value out of range.
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
        """Nothing pulled; the horizon is not used."""
        tally = self.confidence.start(self.kernel.diag(arms).amax(1), trials)
        none = lambda *shape: Rows.empty(trials, *shape, **tkwargs)
        kept = Rows.empty(trials, dtype=torch.bool, device=arms.device)
        failed, eigh = tally.information > 0, self.root_of(arms, tally)
        return ContextualState(none(arms.shape[2]), none(), kept, none(), tally, failed, eigh)

    def select(
        self, state: ContextualState, arms: Tensor, draw: Draw
    ) -> tuple[Tensor, ContextualState]:
        """argmax mu + beta sqrt(s2) over the arms on offer, ties to the smallest index; the first arm uniform. Returns R indices."""
        if state.tally.rounds == 0:
            return (draw.uniform("arm") * arms.shape[1]).long(), state
        mu, s2 = self.predict(state, arms, arms)
        bound = torch.addcmul(mu, self.confidence.radius(state.tally).unsqueeze(1), s2.sqrt())
        return argmax_first_arm(bound), state

    def update(
        self, state: ContextualState, arms: Tensor, arm: Tensor, reward: Tensor, draw: Draw
    ) -> ContextualState:
        """The loop of Algorithm 1 after the reward: every pull, the new one too, is kept with min(1, qbar s2_t). ``arm``, ``reward``: R."""
        x = take_points(arms, arm.unsqueeze(1))
        played = self.predict(state, arms, x)[1].squeeze(1)
        points, rewards = state.points.append(x.squeeze(1)), state.rewards.append(reward)
        t = points.n
        # one purpose has one shape: the stream changes when the history doubles
        most = max(64, 1 << (t - 1).bit_length())
        coins = draw.uniform(f"dictionary of {most}", most)[:, :t]
        kept = coins < self.qbar * state.widths.append(played).view
        if t == 1:
            kept = torch.ones_like(kept)  # S_1 = {x_1}
        # Later arms may have a larger k(x, x) than the first ones.
        kappa2 = torch.maximum(state.tally.kappa2, self.kernel.diag(arms).amax(1))
        tally = state.tally._replace(kappa2=kappa2)
        new = state._replace(points=points, rewards=rewards, kept=Rows.of(kept), tally=tally)
        found = self._fit(new, points.view)
        return new._replace(
            widths=Rows.of(found.s2),
            # Each pull is a point of its own here, so that n = 1.
            tally=self.confidence.add(tally, played, found.s2.sum(1)),
            failed=state.failed | found.failed,
        )

    def predict(self, state: ContextualState, arms: Tensor, at: Tensor) -> tuple[Tensor, Tensor]:
        """mu and s2 at any points; ``arms`` is not used. ``at``: R x A' x d or 1 x A' x d. Returns R x A' each."""
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
        """Pulls in the dictionary, and whether K_SS ever failed to factor (then play raises)."""
        return {"dictionary": state.kept.view.sum(1), "failed": state.failed}
