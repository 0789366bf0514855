"""Ask/tell for Gaussian-process bandits: one arm or a batch, and the posterior anywhere."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch

from ..asktell import optimizer as shared
from ..asktell.inputs import number
from .learners.ucb import of_arm


class Band(NamedTuple):
    """Posterior of f at n points: mean and standard deviation, n each."""

    mean: np.ndarray
    deviation: np.ndarray


class Optimizer(shared.Optimizer):
    """One trial of a learner of this package on one's own arms: see ``AskTell`` for the arguments.

    Beside what every optimizer does it proposes batches and shows the posterior.

    Raises:
        ValueError: as ``AskTell``, or a learner without a posterior at unseen points (those on
            features).
    """

    def __init__(
        self,
        learner: Any,
        context: Any,
        horizon: int | None = None,
        seed: int = 0,
        prepare: Callable | None = None,
    ):
        if not hasattr(learner, "predict"):
            raise ValueError(
                f"learner={learner!r}; allowed: one with a posterior everywhere, such as "
                "LazyBKB, ContextualBKB or ExactGPUCB"
            )
        super().__init__(learner, context, horizon, seed, prepare)

    def ask(self, context: Any = None, batch: int | None = None) -> int | list[int]:
        """The next arm, or up to ``batch`` of them to be evaluated at once.

        Within a batch each arm is heard as if it had earned its posterior mean, which leaves the
        mean where it is and shrinks the variance (Desautels, Krause & Burdick, 2014). A learner
        that keeps its dictionary (``LazyBKB``) ends the batch where it would sample a new one
        (Calandriello et al., 2020), so that fewer arms may come: one at first.

        Args:
            context: the round's arms, if they changed (for ``ContextualBKB``).
            batch: at least 1; None: one arm, as a number instead of a list.

        Raises:
            ValueError: another batch, or arms that the learner refuses.
        """
        if batch is None:
            return super().ask(context)
        if isinstance(batch, bool) or not isinstance(batch, (int, np.integer)) or batch < 1:
            raise ValueError(f"batch={batch!r}; allowed: an integer, at least 1")
        now = self._choosing(self._now, context)
        found, arms, state = [int(now.proposed)], now.context, now.pending
        with torch.no_grad():
            while len(found) < batch:
                draw, arm = self._draw(now, len(found) - 1), torch.tensor([found[-1]])
                after = self.learner.update(state, arms, arm, self._mean(state, arms, arm), draw)
                now = self._heeded(now, after)
                if int(getattr(after, "resamplings", 0)) > int(getattr(state, "resamplings", 0)):
                    break
                index, state = self.learner.select(after, arms, self._draw(now, len(found)))
                found.append(int(index))
        self._now = now  # whole, or where an update fails not at all
        return found

    def _mean(self, state: Any, arms: torch.Tensor, arm: torch.Tensor) -> torch.Tensor:
        """Posterior mean of an arm, 1."""
        if hasattr(state, "mu"):
            return of_arm(state.mu, arm)
        return self.learner.predict(state, arms, arms[:, arm])[0][:, 0]

    def posterior(self, points: Any = None) -> Band:
        """Mean and standard deviation of f given what was told, at n x d points or the arms.

        ``prepare`` maps the points too.

        Raises:
            ValueError: points of another dimension, or not finite.
        """
        at = self.context
        if points is not None:
            at = number("points", points if self._prepare is None else self._prepare(points))
        if at.dim() != 3 or at.shape[2] != self._dim or at.shape[1] < 1:
            raise ValueError(
                f"points: {tuple(at.shape[1:])}; allowed: n x {self._dim} with n at least 1"
            )
        with torch.no_grad():
            mu, s2 = self.learner.predict(self.state, self.context, at)
        return Band(mu[0].numpy().copy(), (self.learner.confidence.lam * s2[0]).sqrt().numpy())

    def best(self) -> int:
        """The arm with the largest posterior mean.

        Raises:
            ValueError: nothing was told yet.
        """
        if self.rounds == 0:
            raise ValueError("rounds=0; allowed: after the first tell")
        return int(self.posterior().mean.argmax())
