"""Estimators of one run, held against f and against each other.

The run's arms are dictated (``Scripted``), so that every learner hears the same evaluations. Standard deviations are
of f, sqrt(lambda s2), not scaled.
Source: Calandriello et al. (2019), Section 3 and Figure 2; Wang, Gehring, Kohli & Jegelka (2018) on starvation.
Letters: R trials, A arms on a line, T' recorded rounds; s2 scaled variance, m arms in the dictionary.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ...core.rounds import Round
from ...core.trace import Trace
from ..model.confidence import Confidence
from .state import own

WIDTH = 3.0  # standard deviations, Figure 2


class Band(NamedTuple):
    """An estimate of f at all arms, R x A each."""

    mean: Tensor
    sd: Tensor  # of f

    def covers(self, f: Tensor) -> Tensor:
        """Whether f lies within three standard deviations, R x A bool."""
        return (f - self.mean).abs() <= WIDTH * self.sd


@dataclass(frozen=True)
class Estimator:
    """One of the posteriors that a state of the package gives.

    Attributes:
        confidence: the rule whose lambda the state's learner has.
        learner: one whose ``predict(state, arms, at)`` reads the state; None: the state's own mean and variance.
    """

    confidence: Confidence
    learner: Any = None

    def __call__(self, state: Any, arms: Tensor) -> Band:
        """After the state's rounds. ``arms``: 1 x A x d or R x A x d."""
        if self.learner is None:
            mu, s2 = state.mu, state.s2
        else:
            mu, s2 = self.learner.predict(state, arms, arms)
        return Band(mu, (self.confidence.lam * s2).sqrt())


@dataclass(frozen=True)
class Measures:
    """Numbers of each estimator after a round, R x len(names); ``read`` takes them out of a trace by name.

    Of an estimator: "coverage", share of arms at which f lies within three standard deviations; "sd", mean standard
    deviation on [beyond, 1]; "lowest", smallest variance / exact variance on [beyond, 1]; "least" and "most", the
    smallest and largest such ratio of all arms. And "effective dimension", the exact sum_i n_i s2(x_i).

    Attributes:
        exact: the estimator that the others are held against.
        estimators: by name.
        beyond: where no arm is evaluated.
    """

    exact: Estimator
    estimators: dict[str, Estimator]
    beyond: float = 0.65

    @property
    def names(self) -> list[str]:
        """ "own coverage", ..., in the order of the numbers."""
        return [
            f"{name} {measure}"
            for name in self.estimators
            for measure in ("coverage", "sd", "lowest", "least", "most")
        ] + ["effective dimension"]

    def __call__(self, seen: Round) -> Tensor:
        state, arms, f = own(seen.after), seen.context, seen.world.means
        right = arms[0, :, 0] >= self.beyond
        exact = self.exact(state, arms)
        found = []
        for estimator in self.estimators.values():
            band = exact if estimator == self.exact else estimator(state, arms)
            ratio = (band.sd / exact.sd).square()
            found += [
                band.covers(f).double().mean(1),
                band.sd[:, right].mean(1),
                ratio[:, right].amin(1),
                ratio.amin(1),
                ratio.amax(1),
            ]
        effective = (state.n * exact.sd.square()).sum(1) / self.exact.confidence.lam
        return torch.stack([*found, effective], 1)

    def read(self, trace: Trace, series: str = "measures") -> dict[str, np.ndarray]:
        """Name -> R x T'."""
        return dict(zip(self.names, np.moveaxis(trace[series], 2, 0), strict=True))


def curve(estimator: Estimator, part: str, seen: Round) -> Tensor:
    """A probe: the part "mean" or "sd" of an estimator at all arms, R x A."""
    return getattr(estimator(own(seen.after), seen.context), part)


def points(seen: Round) -> Tensor:
    """A probe: where the arms lie, R x A."""
    return seen.context[..., 0].expand(len(seen.action), -1)


def truth(seen: Round) -> Tensor:
    """A probe: f at all arms, R x A."""
    return seen.world.means


def evaluations(seen: Round) -> Tensor:
    """A probe: mean of the rewards of each arm, NaN where it was never evaluated, R x A."""
    state = own(seen.after)
    return torch.where(state.n > 0, state.ysum / state.n, torch.nan)
