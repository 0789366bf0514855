"""What learners that maximize over a likelihood set share: state, first round, and the trial-by-trial adapter.

Shapes: R trials, K arms, J anchors, d dimensions.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ..linalg import chosen
from .confset import Anchors, ConfidenceSet, Likelihood
from .mle import CountHistory, History, history
from .validation import validate

RING = 48  # anchors kept, or 2 K if that is more


class State(NamedTuple):
    """Everything a round needs. Memory grows with the history unless counts are kept."""

    history: History
    moment: Tensor     # R x d, sum of reward times arm
    anchors: Anchors   # R x J x ..., exact values and derivatives of the likelihood
    theta: Tensor      # R x d, estimate that the last decision was based on
    written: Tensor    # R integers, anchors written so far
    passes: Tensor     # R integers, passes over the history so far
    undecided: Tensor  # R integers, rounds whose decision was not proved
    rounds: int        # t - 1, rounds played


class CertifiedOptimism:
    """Optimistic play over {theta : L(theta) - L(theta_hat) <= b}, with proved decisions.

    The engine (``confset``) serves one trial at a time in numpy, because how often it looks at the history
    depends on the data; this adapter runs R of them in turn, so a batch costs R times a trial.

    A subclass is a frozen dataclass with ``link``, ``scale`` and ``counts``, and gives ``_set(t, dim)``.
    """

    wants = "reward"
    syncs = "host"  # refinement to a certificate is data dependent, in numpy, trial by trial

    def _set(self, t: int, dim: int) -> tuple[float, float | None, float]:
        """Budget b (without ``scale``), ball S or None, and ridge lambda of round t = 2, 3, ..."""
        raise NotImplementedError

    def init(self, trials: int, arms: Tensor, horizon: int | None, draw, **tkwargs) -> State:
        """Nothing observed. ``arms``: R x K x d or 1 x K x d; the horizon is not needed."""
        d, ring = arms.shape[-1], max(RING, 2 * arms.shape[-2])
        zeros = lambda *shape: torch.zeros(trials, *shape, **tkwargs)
        number = torch.zeros(trials, dtype=torch.int64, device=tkwargs.get("device"))
        anchors = Anchors(zeros(ring, d), zeros(ring), zeros(ring, d), zeros(ring, d, d))
        past = history(trials, arms, self.counts, **tkwargs)
        return State(past, zeros(d), anchors, zeros(d), number, number, number, 0)

    def select(self, state: State, arms: Tensor, draw) -> tuple[Tensor, State]:
        """argmax_k UCB(x_k); the longest arm in the first round. Ties (1e-6) go to one of the tied arms.

        ``arms``: R x K x d or 1 x K x d. Returns R arm indices and a state with the new estimate and anchors.
        """
        trials = len(state.moment)
        if state.rounds == 0:
            longest = torch.linalg.vector_norm(arms, dim=-1).argmax(-1)
            return longest.expand(trials).contiguous(), state
        budget, ball, ridge = self._set(state.rounds + 1, arms.shape[-1])
        scale = self.scale.numpy() if isinstance(self.scale, Tensor) else [self.scale] * trials
        anchors = Anchors(*(a.numpy().copy() for a in state.anchors))
        theta, written = np.empty_like(state.theta.numpy()), state.written.numpy().copy()
        passes, undecided = state.passes.numpy().copy(), state.undecided.numpy().copy()
        index = np.empty(trials, np.int64)
        menu, moment = arms.numpy(), state.moment.numpy()
        sample = state.history.sample(arms)
        points, weights = sample.points.numpy(), None if sample.weights is None else sample.weights.numpy()
        for i in range(trials):
            likelihood = Likelihood(self.link, points[i % len(points)], None if weights is None else weights[i], moment[i])
            own = Anchors(*(a[i] for a in anchors))
            inside = ConfidenceSet(likelihood, own, int(written[i]), float(scale[i]) ** 2 * budget, ball, ridge).fit()
            index[i], proved = inside.decide(menu[i % len(menu)])
            theta[i], written[i] = inside.estimate, inside.written
            passes[i] += inside.passes
            undecided[i] += not proved
        wrap = torch.from_numpy
        return wrap(index), state._replace(
            anchors=Anchors(*map(wrap, anchors)), theta=wrap(theta), written=wrap(written), passes=wrap(passes), undecided=wrap(undecided)
        )

    def update(self, state: State, arms: Tensor, arm: Tensor, reward: Tensor, draw) -> State:
        """Append the observation and add its term to every anchor. ``arm``: R indices, ``reward``: R."""
        x = chosen(arms, arm)
        anchors = Anchors(*(a.numpy() for a in state.anchors)).plus(self.link, x.numpy(), reward.numpy())
        return state._replace(
            history=state.history.add(arms, arm, reward),
            moment=torch.addcmul(state.moment, reward.unsqueeze(1), x),
            anchors=Anchors(*map(torch.from_numpy, anchors)),
            rounds=state.rounds + 1,
        )

    def confidence_set(self, state: State, arms: Tensor, trial: int = 0) -> ConfidenceSet:
        """The fitted set of one trial in the round to come, for study and for ``slsqp``; leaves the state as it is.

        ``arms``: 1 x K x d or R x K x d of that round (with counts, the fixed set); at least one round played.
        """
        budget, ball, ridge = self._set(state.rounds + 1, arms.shape[-1])
        scale = float(self.scale[trial]) if isinstance(self.scale, Tensor) else self.scale
        sample = state.history.sample(arms)
        own = lambda x: x[trial % len(x)].numpy()
        likelihood = Likelihood(self.link, own(sample.points), None if sample.weights is None else own(sample.weights), own(state.moment))
        anchors = Anchors(*(own(a).copy() for a in state.anchors))
        return ConfidenceSet(likelihood, anchors, int(state.written[trial]), scale**2 * budget, ball, ridge).fit()

    def report(self, state: State) -> dict[str, Tensor]:
        """R each: ``uncertified``, rounds whose arm is the best found but not proved best; ``passes`` over the history."""
        return {"uncertified": state.undecided, "passes": state.passes}

    def validate(self, arms: Tensor, arm: Tensor | None = None, reward: Tensor | None = None) -> None:
        """Raise ValueError for arms, an arm or a reward outside the model."""
        validate(self.link, arms, arm, reward)
