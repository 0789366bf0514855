"""Ask/tell interface for Gaussian-process bandits: one arm or a batch, and the posterior at any points."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch

from ..asktell import optimizer as shared
from ..asktell.inputs import as_trial_tensor, to_numpy
from ..core.contracts import tags_of
from ..core.linalg import matvec
from ..core.streams import Draw
from ..core.validation import LARGEST, check_finite, check_in, check_integer, raise_invalid
from .learners.bkb import Sketched
from .learners.posterior import TINY, add_observation, arm_features, features_times
from .learners.ucb import PullCounts, entry_of_arm
from .model.slots import join_trials


class PosteriorBand(NamedTuple):
    """Posterior mean and standard deviation of f at n points, n each."""

    mean: np.ndarray
    deviation: np.ndarray


def fitted_embedding(learner: Sketched, state: Any, arms: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Return Z and V^{-1} of a state with a dictionary; they are fitted unless the state holds them."""
    # A LazyBKB or FixedDictionary state stores the embedding; a BKB state only stores the dictionary.
    if hasattr(state, "inverse"):
        return join_trials(state.Z, state.inverse.shape[1]), state.inverse
    pulls = PullCounts(state.n, state.ysum)
    found = learner.fitted(
        arms, state.mask, pulls, state.tally, state.eigh, state.tally.rounds, keep=True
    )
    return found.Z, torch.cholesky_inverse(found.factor)


class FixedDictionaryUpdates:
    """Rank-one updates with the rewards of one batch while the dictionary stays fixed, O(A M) per reward.

    The object stores V^{-1} from one update to the next.
    """

    def __init__(self, learner: Sketched, Z: torch.Tensor, inverse: torch.Tensor):
        self.learner, self.Z, self.inverse = learner, Z, inverse

    def __call__(
        self, state: Any, arms: torch.Tensor, arm: torch.Tensor, reward: torch.Tensor, draw: Draw
    ) -> Any:
        pulls = PullCounts(state.n, state.ysum).add(arm, reward)
        self.inverse, mu, s2 = add_observation(
            self.Z, self.inverse, state.mu, state.s2, arm, reward
        )
        own = {"inverse": self.inverse} if hasattr(state, "inverse") else {}
        if hasattr(state, "spent"):
            own["spent"] = state.spent + entry_of_arm(state.fallback, arm)
        return self.learner.heard(state, arm, pulls, mu, s2, **own)


class PendingVariance:
    """Variance as if the pending arms had been observed, also outside the dictionary, O(A (M + b)) each for a batch of b.

    An update in the span of the dictionary alone would leave an arm outside of it as uncertain as before. Such an arm
    would be proposed again. Therefore the sketched posterior is treated as a Gaussian process with the covariance
    k(x, x') - z^T z' + lambda z^T V^{-1} z'.
    """

    def __init__(self, learner: Sketched, Z: torch.Tensor, inverse: torch.Tensor):
        self.learner, self.Z, self.inverse, self.steps = learner, Z, inverse, []

    def __call__(
        self, state: Any, arms: torch.Tensor, arm: torch.Tensor, reward: torch.Tensor, draw: Draw
    ) -> Any:
        lam, z = self.learner.confidence.lam, arm_features(self.Z, arm)
        c = lam * features_times(self.Z, matvec(self.inverse, z))
        # Only DTC has the variance k(x, x) - z^T z outside the span of the dictionary.
        if self.learner.variance == "dtc":
            c = c + self.learner.kernel(arms[:, arm], arms)[:, 0] - features_times(self.Z, z)
        # Each earlier pending arm has already reduced the covariance by the product of its step.
        for step in self.steps:
            c = c - entry_of_arm(step, arm).unsqueeze(1) * step
        step = c / (lam * entry_of_arm(state.s2, arm) + lam).sqrt().unsqueeze(1)
        self.steps.append(step)
        state = state._replace(s2=(state.s2 - step.square() / lam).clamp(min=TINY))
        if not hasattr(state, "spent"):
            return state
        return state._replace(spent=state.spent + entry_of_arm(state.fallback, arm))


class Optimizer(shared.Optimizer):
    """Gaussian-process optimization over your own arms, with one trial of a learner of this package.

    See ``AskTell`` for the arguments. In addition to the methods of every optimizer, it proposes
    batches and returns the posterior.

    Raises:
        ValueError: as ``AskTell``, or a learner without a posterior at unseen points (the learners
            on features).

    Examples:
        >>> import numpy as np
        >>> from paperlib.bkb import RBF, Confidence, LazyBKB, Optimizer
        >>> arms = np.linspace(0, 1, 21)[:, None]
        >>> optimizer = Optimizer(LazyBKB(RBF(100.0), Confidence(0.1, 3.0)), arms)
        >>> batch = optimizer.ask(batch=3)
        >>> optimizer.tell(batch, [np.sin(3 * arms[i, 0]) for i in batch])
        >>> optimizer.posterior().mean.shape, optimizer.waiting
        ((21,), [])
    """

    def __init__(
        self,
        learner: Any,
        context: Any,
        horizon: int | None = None,
        seed: int = 0,
        prepare: Callable | None = None,
        device: str | torch.device | None = None,
    ):
        if not hasattr(learner, "predict"):
            requirement = "a learner with a posterior at every point, for example LazyBKB, ContextualBKB or ExactGPUCB"
            raise_invalid("learner", learner, requirement)
        super().__init__(learner, context, horizon, seed, prepare, device)
        self._kept = None  # caches the last embedded state with a dictionary, and its embedding

    @property
    def waiting(self) -> list[int]:
        """Arms that were asked for and have neither a reward nor a failure yet."""
        return list(self._now.waiting)

    def ask(
        self, context: Any = None, batch: int | None = None, guaranteed: bool = False
    ) -> int | list[int]:
        """Return the next arm, or ``batch`` arms to be evaluated at once.

        Arms without a reward yet are pending, within a batch and from one ``ask`` to the next. The
        learner treats a pending arm as if its reward were the posterior mean (Desautels, Krause &
        Burdick, 2014). This leaves mean and radius unchanged and shrinks the variance. The dictionary
        stays fixed meanwhile, and is resampled once, when the rewards of the batch arrive.

        The radius is valid together with the variance given all rewards so far. The variance that also
        counts the pending arms is smaller, by a factor of at most 1 + sum_s s2(x_s) over the pending
        arms, where s2 is the variance at the last dictionary. Regret bounds grow with this factor
        (Calandriello et al., 2020, Lemma 1); ``guaranteed`` ends a batch where it reaches the threshold of
        a ``LazyBKB``. If k(x, x) is far above lambda, a single arm reaches any threshold, so that every
        such batch holds one arm.

        A learner that counts arms by index takes all pending arms into account. A learner whose arms
        may change (``ContextualBKB``) takes only the pending arms of the same batch into account.

        Args:
            context: the round's arms, if they changed (for ``ContextualBKB``).
            batch: at least 1; None for one arm, returned as a number instead of a list.
            guaranteed: for ``LazyBKB``: end the batch where its threshold is reached, after at least
                one arm.

        Raises:
            ValueError: an invalid batch, arms that the learner rejects, or ``guaranteed`` for a
                learner without a threshold.
        """
        if batch is not None:
            batch = check_integer("batch", batch)
        guaranteed = check_in("guaranteed", guaranteed, (False, True))
        if guaranteed and not hasattr(self.learner, "threshold"):
            raise ValueError(
                f"guaranteed must be False, because {type(self.learner).__name__} has no threshold, "
                f"got {guaranteed!r}"
            )
        found, now = [], self._now if context is None else self._now.turned(self._lead(context))
        arms = now.context
        believed, waiting = now.state, now.waiting if self._counts_by_index else ()
        with torch.no_grad():
            hear = self._hearing(now.state, arms, PendingVariance)
            # Arms that are pending from earlier calls of ``ask`` come first.
            for arm in waiting:
                believed = self._believed(hear, believed, arms, arm, self._draw(now))
            while len(found) < (batch or 1):
                draw = self._draw(now, len(waiting) + len(found))
                index, _ = self.learner.select(believed, arms, draw)
                found.append(int(index))
                believed = self._believed(hear, believed, arms, found[-1], draw)
                # Before the first reward arms are drawn at random, and the first one ends the batch.
                if guaranteed and (
                    self.rounds == 0 or bool(believed.spent >= self.learner.threshold - 1)
                ):
                    break
        # The state is replaced in one step, so that a failing update above leaves it unchanged.
        self._now = now.with_asked(found)._replace(
            proposed=torch.tensor(found[:1], device=self.device),
            pending=now.state,
            waiting=(*waiting, *found) if self._counts_by_index else (),
        )
        return found[0] if batch is None else found

    @property
    def _counts_by_index(self) -> bool:
        return tags_of(self.learner).fixed_arms

    def _hearing(self, state: Any, arms: torch.Tensor, how: type) -> Callable:
        """Return an update without a refit: ``how`` is ``FixedDictionaryUpdates`` or ``PendingVariance``.

        For a learner without a dictionary, return the learner's ``update``.
        """
        sketched = isinstance(self.learner, Sketched) and self._counts_by_index
        if not sketched or state.tally.rounds == 0:
            return self.learner.update
        if self._kept is None or self._kept[0] is not state:
            self._kept = (state, fitted_embedding(self.learner, state, arms))
        return how(self.learner, *self._kept[1])

    def _believed(
        self, hear: Callable, state: Any, arms: torch.Tensor, arm: int, draw: Draw
    ) -> Any:
        """Return the state as if the arm's reward were its posterior mean; round number and radius stay the same."""
        if self.rounds == 0:  # Arms are drawn at random before the first reward.
            return state
        index = torch.tensor([arm], device=self.device)
        if hasattr(state, "mu"):
            mean = entry_of_arm(state.mu, index)
        else:  # A ContextualBKB stores no posterior of its arms.
            mean = self.learner.predict(state, arms, arms[:, index])[0][:, 0]
        after = hear(state, arms, index, mean, draw)
        return after._replace(tally=state.tally) if hasattr(after, "tally") else after

    def _updates(self, count: int) -> list[Callable | None]:
        """Return the update for each reward of a batch: rank-one updates, then one refit (None) at its end."""
        # Without a dictionary each reward is a full update, so that there is no refit to save.
        hear = self._hearing(self.state, self.context, FixedDictionaryUpdates)
        within = hear if isinstance(hear, FixedDictionaryUpdates) else None
        return [within] * (count - 1) + [None]

    def posterior(self, points: Any = None) -> PosteriorBand:
        """Return mean and standard deviation of f given the rewards so far, at the arms or at n x d points.

        The optimizer's ``prepare`` is applied to the points, too.

        Raises:
            ValueError: points of another dimension, or not finite.
        """
        at = self.context
        if points is not None:
            given = points if self._prepare is None else self._prepare(points)
            at = as_trial_tensor("points", given, self.device)
        dim = self.context.shape[2]
        check_finite("points", at, LARGEST)
        if at.dim() != 3 or at.shape[2] != dim or at.shape[1] < 1:
            raise ValueError(
                f"points must have shape n x {dim} with n at least 1, got shape {tuple(at.shape[1:])}"
            )
        with torch.no_grad():
            mu, s2 = self.learner.predict(self.state, self.context, at)
        return PosteriorBand(
            to_numpy(mu[0]), to_numpy((self.learner.confidence.lam * s2[0]).sqrt())
        )

    def best(self) -> int:
        """Return the arm with the largest posterior mean.

        Raises:
            ValueError: no reward was given yet.
        """
        if self.rounds == 0:
            raise ValueError("rounds must be at least 1, got 0. Call tell() first")
        return int(self.posterior().mean.argmax())
