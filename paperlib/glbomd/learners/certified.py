"""Base class of learners that maximize over a likelihood set: state, first round, and a loop over the trials.

Shapes: R trials, K arms, J anchors, d dimensions.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ...core.linalg import argmax_first, take_arm
from .glm import GLMLearner
from .likelihood_set import Anchors, ConfidenceSet, Likelihood
from .mle import History, make_history

# Smallest positive scale: its square multiplies the budget, and likelihoods are known only up to rounding.
LEAST_SCALE = 1e-4
RING = 48  # number of anchors stored, or 2 K if that is larger


def to_numpy(x: Tensor) -> np.ndarray:
    """Return a tensor as a NumPy array; on the CPU it is a view."""
    return x.numpy() if x.device.type == "cpu" else x.cpu().numpy()


class CertifiedState(NamedTuple):
    """State of a learner with certified decisions; it grows with the history, unless that is stored as counts."""

    history: History
    moment: Tensor  # R x d, sum of reward times arm
    anchors: Anchors  # R x J x ..., exact values and derivatives of the likelihood
    theta: Tensor  # R x d, estimate that the last decision was based on
    written: Tensor  # R integers, anchors written so far
    passes: Tensor  # R integers, passes over the history so far
    undecided: Tensor  # R integers, rounds whose decision was not proved
    rounds: int  # t - 1, rounds played


class CertifiedOptimism(GLMLearner, ABC):
    """Optimism over {theta : L(theta) - L(theta_hat) <= b}, with certified decisions.

    The engine (``likelihood_set``) works on one trial at a time in NumPy, because the number of its passes over the
    history depends on the data. This class runs the R trials in turn, so a batch costs R times as much as one trial.

    A subclass is a frozen dataclass with the fields ``link``, ``scale`` and ``counts`` and a method ``_set(t, dim)``.
    """

    def __post_init__(self):
        self.check_fields()

    @abstractmethod
    def _set(self, t: int, dim: int) -> tuple[float, float | None, float]:
        """Return budget b (without ``scale``), ball S or None, and ridge lambda of round t = 2, 3, ..."""

    def init(
        self, trials: int, arms: Tensor, horizon: int | None, draw, **tkwargs
    ) -> CertifiedState:
        """Return the state before any observation. ``arms``: R x K x d or 1 x K x d; the horizon is not needed."""
        d, ring = arms.shape[-1], max(RING, 2 * arms.shape[-2])
        zeros = lambda *shape: torch.zeros(trials, *shape, **tkwargs)
        number = torch.zeros(trials, dtype=torch.int64, device=tkwargs.get("device"))
        anchors = Anchors(zeros(ring, d), zeros(ring), zeros(ring, d), zeros(ring, d, d))
        past = make_history(trials, arms, self.counts, **tkwargs)
        return CertifiedState(past, zeros(d), anchors, zeros(d), number, number, number, 0)

    def select(self, state: CertifiedState, arms: Tensor, draw) -> tuple[Tensor, CertifiedState]:
        """Return the arms argmax_k UCB(x_k); in the first round, the arm with the largest norm.

        If UCBs differ by less than 1e-6, one of the tied arms is returned.
        ``arms``: R x K x d or 1 x K x d. Returns R arm indices and a state with the new estimate and anchors.
        """
        trials = len(state.moment)
        # Without observations the set is a ball around 0, so the UCBs are proportional to the norms of the arms.
        if state.rounds == 0:
            longest = argmax_first(torch.linalg.vector_norm(arms, dim=-1))
            return longest.expand(trials).contiguous(), state
        # The engine writes in place, so it gets copies; the state of the caller must not change.
        anchors = Anchors(*(to_numpy(a).copy() for a in state.anchors))
        passes, undecided = to_numpy(state.passes).copy(), to_numpy(state.undecided).copy()
        index, written = np.empty(trials, np.int64), np.empty(trials, np.int64)
        theta = np.empty_like(to_numpy(state.theta))
        menu, fitted = to_numpy(arms), self._fitted(state, arms)
        for i in range(trials):
            inside = fitted(i, Anchors(*(a[i] for a in anchors)))
            index[i], proved = inside.decide(menu[i % len(menu)])
            theta[i], written[i] = inside.estimate, inside.written
            passes[i] += inside.passes
            undecided[i] += not proved
        back = lambda x: torch.from_numpy(x).to(arms.device)
        return back(index), state._replace(
            anchors=Anchors(*map(back, anchors)),
            theta=back(theta),
            written=back(written),
            passes=back(passes),
            undecided=back(undecided),
        )

    def update(
        self, state: CertifiedState, arms: Tensor, arm: Tensor, reward: Tensor, draw
    ) -> CertifiedState:
        """Append the observation and add its term to every anchor. ``arm``: R indices, ``reward``: R."""
        x = take_arm(arms, arm)
        # Adding the new term keeps all anchors exact without a pass over the history.
        anchors = Anchors(*map(to_numpy, state.anchors)).plus(
            self.link, to_numpy(x), to_numpy(reward)
        )
        return state._replace(
            history=state.history.add(arms, arm, reward),
            moment=torch.addcmul(state.moment, reward.unsqueeze(1), x),
            anchors=Anchors(*(torch.from_numpy(a).to(arms.device) for a in anchors)),
            rounds=state.rounds + 1,
        )

    def confidence_set(self, state: CertifiedState, arms: Tensor) -> ConfidenceSet:
        """Return the fitted set of trial 0 in the next round, for inspection and for ``slsqp``; the state is unchanged.

        ``arms``: 1 x K x d or R x K x d of that round (with counts, the fixed set). At least one round must be played.
        """
        own = Anchors(*(to_numpy(a)[0].copy() for a in state.anchors))
        return self._fitted(state, arms)(0, own)

    def _fitted(
        self, state: CertifiedState, arms: Tensor
    ) -> Callable[[int, Anchors], ConfidenceSet]:
        """Return a function that fits the set of trial i in the next round and writes its anchors in place."""
        budget, ball, ridge = self._set(state.rounds + 1, arms.shape[-1])
        sample, trials = state.history.sample(arms), len(state.moment)
        points, moment, written = (
            to_numpy(sample.points),
            to_numpy(state.moment),
            to_numpy(state.written),
        )
        weights = [None] * trials if sample.weights is None else to_numpy(sample.weights)
        scale = to_numpy(self.scale) if isinstance(self.scale, Tensor) else [self.scale] * trials

        def fitted(i: int, own: Anchors) -> ConfidenceSet:
            likelihood = Likelihood(self.link, points[i % len(points)], weights[i], moment[i])
            # The likelihood grows quadratically around the estimate, so a factor on the radius is squared.
            allowed = float(scale[i]) ** 2 * budget
            return ConfidenceSet(likelihood, own, int(written[i]), allowed, ball, ridge).fit()

        return fitted

    def report(self, state: CertifiedState) -> dict[str, Tensor]:
        """Return two counts, R each: ``uncertified`` and ``passes``.

        ``uncertified`` is the number of rounds whose arm is the best one found but is not proved to be the best.
        ``passes`` is the number of passes over the history.
        """
        return {"uncertified": state.undecided, "passes": state.passes}
