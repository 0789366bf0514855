"""Ask/tell for Gaussian-process bandits: one arm or a batch, and the posterior wherever one likes."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from ..asktell import AskTell
from .learners.ucb import of_arm


class Band(NamedTuple):
    """Posterior of f at n points: mean and standard deviation, n each."""

    mean: np.ndarray
    deviation: np.ndarray


class Optimizer(AskTell):
    """One trial of a learner of this package on one's own arms: see ``AskTell`` for the arguments.

    Beside ``AskTell`` it proposes batches, hears them, and shows the posterior.

    Raises:
        ValueError: as ``AskTell``, or a learner without a posterior at unseen points (those on features).
    """

    def __init__(self, learner: Any, context: Any, horizon: int | None = None, seed: int = 0, prepare: Callable | None = None):
        if not hasattr(learner, "predict"):
            raise ValueError(f"learner={learner!r}; allowed: one with a posterior everywhere, such as LazyBKB, ContextualBKB or ExactGPUCB")
        super().__init__(learner, context, horizon, seed, prepare)

    def ask(self, context: Any = None, batch: int | None = None) -> int | list[int]:
        """The next arm, or up to ``batch`` of them to be evaluated at once.

        Within a batch each arm is heard as if it had earned its posterior mean, which leaves the mean where it is and
        shrinks the variance (Desautels, Krause & Burdick, 2014). A learner that keeps its dictionary (``LazyBKB``) ends
        the batch where it would sample a new one (Calandriello et al., 2020), so that fewer arms may come: one at first.

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
        found, arms = [super().ask(context)], self.context
        state = self.pending
        with torch.no_grad():
            while len(found) < batch:
                draw, arm = self.streams.at(self.rounds + len(found) - 1), torch.tensor([found[-1]])
                mean = of_arm(state.mu, arm) if hasattr(state, "mu") else self.learner.predict(state, arms, arms[:, arm])[0][:, 0]
                after = self.learner.update(state, arms, arm, mean, draw)
                self._heed(after)
                if hasattr(state, "resamplings") and int(after.resamplings) > int(state.resamplings):
                    break
                index, state = self.learner.select(after, arms, self.streams.at(self.rounds + len(found)))
                found.append(int(index))
        return found

    def tell(self, action: int | Sequence[int], feedback: float | Sequence[float]) -> None:
        """What an arm earned, or what each arm of a batch did; nothing is learned of a batch with one bad entry.

        Raises:
            ValueError: as ``AskTell.tell``, or not as many rewards as arms.
        """
        if np.ndim(action) == 0:
            return super().tell(action, feedback)
        actions, heard = list(action), np.ravel(feedback)
        if not actions:
            raise ValueError(f"action={action!r}; allowed: at least one arm")
        if np.ndim(feedback) != 1 or len(heard) != len(actions):
            raise ValueError(f"feedback={feedback!r}; allowed: {len(actions)} numbers, one for each arm of the batch")
        for arm, reward in zip(actions, heard):
            self._validate(self.context, self._action(arm), self._number("feedback", [reward])[0])
        before = self.state, self.rounds, self.pending
        try:
            for arm, reward in zip(actions, heard):
                super().tell(arm, float(reward))
        except Exception:
            self.state, self.rounds, self.pending = before
            raise

    def posterior(self, points: Any = None) -> Band:
        """Mean and standard deviation of f given all that was told, at n x d points, by default the arms; ``prepare`` maps them too.

        Raises:
            ValueError: points of another dimension, or not finite.
        """
        at = self.context if points is None else self._number("points", points if self.prepare is None else self.prepare(points))
        if at.dim() != 3 or at.shape[2] != self.dim or at.shape[1] < 1:
            raise ValueError(f"points: {tuple(at.shape[1:])}; allowed: n x {self.dim} with n at least 1")
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
