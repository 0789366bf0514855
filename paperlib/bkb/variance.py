"""What Figure 2 compares: three estimators of one run, held against f and against each other, as probes for ``play``.

The run's arms are dictated (``Scripted``), so that every learner hears the same evaluations. Standard deviations are
of f, sqrt(lambda s2), not scaled.
Source: Calandriello et al. (2019), Section 3 and Figure 2; Wang, Gehring, Kohli & Jegelka (2018) on starvation.
Letters: R trials, A arms on a line, T' recorded rounds; s2 scaled variance, m arms in the dictionary.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ..core import Trace
from ..gp import Kernel
from ..stats import Interval
from ..validation import one_of
from .bkb import BKB
from .confidence import Confidence
from .exact import ExactGPUCB
from .probes import own

if TYPE_CHECKING:
    from ..play import Round

ESTIMATORS = ("own", "sor", "exact")
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
        kernel, confidence: the learner's.
        kind: "own", as the learner has it; "sor", subset of regressors with the state's dictionary and counters; "exact", from the counters alone.

    Raises:
        ValueError: another kind.
    """

    kernel: Kernel
    confidence: Confidence
    kind: str = "own"

    def __post_init__(self):
        one_of("kind", self.kind, ESTIMATORS)

    def __call__(self, state: Any, arms: Tensor) -> Band:
        """After the state's rounds. ``arms``: 1 x A x d or R x A x d."""
        if self.kind == "own":
            mu, s2 = state.mu, state.s2
        elif self.kind == "sor":
            mu, s2 = BKB(self.kernel, self.confidence, variance="sor").predict(state, arms, arms)
        else:
            mu, s2 = ExactGPUCB(self.kernel, self.confidence).predict(state, arms, arms)
        return Band(mu, (self.confidence.lam * s2).sqrt())


@dataclass(frozen=True)
class Measures:
    """Numbers of each estimator after a round, R x len(names); ``read`` takes them out of a trace by name.

    Of an estimator: "coverage", share of arms at which f lies within three standard deviations; "sd", mean standard
    deviation on [beyond, 1]; "lowest", smallest variance / exact variance on [beyond, 1]; "least" and "most", the
    smallest and largest such ratio of all arms. And "effective dimension", the exact sum_i n_i s2(x_i).

    Attributes:
        kernel, confidence: the learner's.
        kinds: estimators, see ``Estimator``; "sor" needs a learner with a dictionary.
        beyond: where no arm is evaluated.
    """

    kernel: Kernel
    confidence: Confidence
    kinds: tuple[str, ...] = ESTIMATORS
    beyond: float = 0.65

    @property
    def names(self) -> list[str]:
        """"own coverage", ..., in the order of the numbers."""
        return [f"{kind} {measure}" for kind in self.kinds for measure in ("coverage", "sd", "lowest", "least", "most")] + ["effective dimension"]

    def __call__(self, seen: "Round") -> Tensor:
        state, arms, f = own(seen.after), seen.context, seen.world.means
        right = arms[0, :, 0] >= self.beyond
        exact = Estimator(self.kernel, self.confidence, "exact")(state, arms)
        found = []
        for kind in self.kinds:
            band = exact if kind == "exact" else Estimator(self.kernel, self.confidence, kind)(state, arms)
            ratio = (band.sd / exact.sd).square()
            found += [band.covers(f).double().mean(1), band.sd[:, right].mean(1), ratio[:, right].amin(1), ratio.amin(1), ratio.amax(1)]
        return torch.stack([*found, (state.n * exact.sd.square()).sum(1) / self.confidence.lam], 1)

    def read(self, trace: Trace, series: str = "measures") -> dict[str, np.ndarray]:
        """Name -> R x T'."""
        return dict(zip(self.names, np.moveaxis(trace[series], 2, 0), strict=True))


@dataclass(frozen=True)
class Curve:
    """A probe: "mean" or "sd" of an estimator at all arms, R x A."""

    estimator: Estimator
    part: str

    def __post_init__(self):
        one_of("part", self.part, Band._fields)

    def __call__(self, seen: "Round") -> Tensor:
        return getattr(self.estimator(own(seen.after), seen.context), self.part)


def points(seen: "Round") -> Tensor:
    """A probe: where the arms lie, R x A."""
    return seen.context[..., 0].expand(len(seen.action), -1)


def truth(seen: "Round") -> Tensor:
    """A probe: f at all arms, R x A."""
    return seen.world.means


def evaluations(seen: "Round") -> Tensor:
    """A probe: mean of the rewards of each arm, NaN where it was never evaluated, R x A."""
    state = own(seen.after)
    return torch.where(state.n > 0, state.ysum / state.n, torch.nan)


def dictionary(seen: "Round") -> Tensor:
    """A probe: which arms are in the dictionary, R x A bool."""
    return own(seen.after).mask


def curves(kernel: Kernel, confidence: Confidence) -> dict[str, Callable]:
    """Probes of what a panel of Figure 2 shows, R x A each: "x", "f", "evaluations", "dictionary", and "own mean", "own sd", ... of each estimator."""
    drawn = {f"{kind} {part}": Curve(Estimator(kernel, confidence, kind), part) for kind in ESTIMATORS for part in Band._fields}
    return {"x": points, "f": truth, "evaluations": evaluations, "dictionary": dictionary} | drawn


def worst_ratio(values: dict[str, np.ndarray], kind: str = "own") -> np.ndarray:
    """Of all arms, the largest factor between a variance and the exact one, either way, R x T'. ``values``: from ``Measures.read``."""
    with np.errstate(divide="ignore"):
        return np.maximum(values[f"{kind} most"], 1 / values[f"{kind} least"])


def least_favorable(intervals: dict[str, Interval]) -> Interval:
    """The interval that reaches farthest from zero: all lie within a band around zero exactly when it does."""
    name = max(intervals, key=lambda key: max(abs(intervals[key].low), abs(intervals[key].high)))
    return intervals[name]._replace(method=f"{intervals[name].method} ({name})")
