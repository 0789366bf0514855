"""Probes for ``play``: what the statements of the theory and the figures need of a run.

A probe is a function of a ``Round``; parameters come before the round, and ``functools.partial`` binds them. For example,
``partial(radius, confidence)`` is a probe.
A state is read by field names (n, ysum, mu, s2, tally; mask of a sketched one), below a ``Scripted`` too.
Probes of estimators compare several posteriors in one run. There the arms are dictated (``Scripted``), so that every learner
receives the same evaluations.
Source: Calandriello et al. (2019), (5), Section 3, Figure 2, Algorithm 1 and Appendices C and D.
Letters: R trials, A arms, U arms pulled so far, n pulls; s2 scaled variance, beta radius, t + 1 the paper's number of the round.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ..core.linalg import take_mean
from ..core.rounds import Round, StateField, innermost_state, observed_feedback, played_action
from ..core.streams import stream_number, uniform
from ..core.trace import Trace
from ..maths.gp import Kernel, exact_posterior
from .model.confidence import Confidence
from .model.slots import list_members, take_points

WIDTH = 3.0  # standard deviations, Figure 2


def noise(seen: Round) -> Tensor:
    """eta_{t+1}, the reward less the mean of the arm, R: an oracle quantity, from the world's means."""
    return seen.feedback - take_mean(seen.instance.means, seen.action)


def played_variance(seen: Round) -> Tensor:
    """s2_t(x_{t+1}), with which the round's arm was chosen, R."""
    return innermost_state(seen.before).s2.gather(1, seen.action.unsqueeze(1)).squeeze(1)


def dictionary_size(seen: Round) -> Tensor:
    """m_{t+1}, distinct arms in the dictionary after the round, R."""
    return innermost_state(seen.after).mask.sum(1)


def unique_pulls(seen: Round) -> Tensor:
    """U_{t+1}, distinct arms pulled so far, R."""
    return (innermost_state(seen.after).n > 0).sum(1)


def pulled_outside_dictionary(seen: Round) -> Tensor:
    """Pulled arms outside the dictionary after the round, R."""
    after = innermost_state(seen.after)
    return ((after.n > 0) & ~after.mask).sum(1)


def shrinkage(seen: Round) -> Tensor:
    """Of a LazyBKB after the round: smallest and largest s2_b / s2_t of all arms, and 1 + sum_s s2_b(x_s), R x 3.

    s2_b is the variance when the dictionary was last sampled, ``fallback`` in the state, the sum ``spent``.
    """
    after = innermost_state(seen.after)
    ratio = torch.where(after.fallback > 0, after.fallback / after.s2, 1.0)
    return torch.stack([ratio.amin(1), ratio.amax(1), 1 + after.spent], 1)


def radius(confidence: Confidence, seen: Round) -> Tensor:
    """beta_t of a rule, with which the round's arm was chosen where the rule is the learner's, R."""
    return confidence.radius(innermost_state(seen.before).tally)


def own_radius(learner: Any, seen: Round) -> Tensor:
    """beta_t as the learner computes it, R, with which the round's arm was chosen."""
    return learner.radius(innermost_state(seen.before))


def confidence_width(confidence: Confidence, seen: Round) -> Tensor:
    """What a round can lose where the confidence intervals hold, R: 2 beta_t sqrt(s2_t(x_{t+1})), the first 2 kappa F.

    As ``Probe(partial(largest_loss, confidence), "sum")`` it is the certificate of regret.
    """
    tally = innermost_state(seen.before).tally
    if tally.rounds == 0:
        return 2 * confidence.norm_bound * tally.kappa2.sqrt().expand(len(seen.action))
    return 2 * confidence.radius(tally) * played_variance(seen).sqrt()


def normalized_error(confidence: Confidence, seen: Round) -> Tensor:
    """Largest |f(x) - mu_{t+1}(x)| / (beta_{t+1} sqrt(s2_{t+1}(x))) of all arms after the round, R: at most 1 by Theorem D.1.

    Needs the problem's means. As ``Probe(..., "max")`` it is uniform in time.
    """
    after = innermost_state(seen.after)
    error = (seen.instance.means - after.mu).abs()
    width = confidence.radius(after.tally).unsqueeze(1) * after.s2.sqrt()
    return torch.where(error > 0, error / width, 0.0).amax(1)


def exact_variance(kernel: Kernel, arms: Tensor, n: Tensor, ridge: float) -> Tensor:
    """s2 of the exact posterior, R x A, from the pulled arms alone; looks at the tensor. ``n``: R x A."""
    slots = max(int((n > 0).sum(1).max()), 1)
    count, index = n.topk(slots, 1)
    points, total = take_points(arms, index), torch.zeros_like(count)
    return exact_posterior(kernel, points, count, total, ridge, arms).variance / ridge


def variance_ratio(kernel: Kernel, ridge: float, seen: Round) -> Tensor:
    """Largest of s2~ / s2 and s2 / s2~ of all arms after the round, R, s2 the exact posterior's: at most alpha by Theorem 3.1.

    As ``Probe(..., "max")`` it is uniform in time.
    """
    after = innermost_state(seen.after)
    exact = exact_variance(kernel, seen.context, after.n, ridge)
    both = torch.maximum(after.s2 / exact, exact / after.s2)
    none = (after.s2 == 0) & (exact <= 1e-15 * exact.amax(1, keepdim=True))
    return torch.where(none, 1.0, both).amax(1)


def exact_dimension(kernel: Kernel, ridge: float, seen: Round) -> Tensor:
    """d_eff(t) = sum_i n_i s2_t(x_i) of the exact posterior after the round, R; O(U^3), from the counters alone."""
    n = innermost_state(seen.after).n
    slots = list_members(n > 0, max(int((n > 0).sum(1).max()), 1))
    count, points = n.gather(1, slots.index) * slots.valid, take_points(seen.context, slots.index)
    found = exact_posterior(kernel, points, count, torch.zeros_like(count), ridge, points)
    return (count * found.variance).sum(1) / ridge


def entrance_probability(n: np.ndarray, p: np.ndarray) -> np.ndarray:
    """1 - (1 - p)^n: the chance that some of n pulls is kept, each with probability p. Shapes broadcast."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(p < 1, -np.expm1(n * np.log1p(-p)), n > 0)


def binomial_quantile(u: np.ndarray, n: np.ndarray, p: np.ndarray) -> np.ndarray:
    """How many of n pulls, each kept with probability p, the uniform u keeps: the Binomial's quantile at 1 - u.

    Above 0 exactly where u < 1 - (1 - p)^n. Shapes broadcast.
    """
    from scipy.stats import binom  # takes a second to import

    u, n, p = np.broadcast_arrays(u, n, np.clip(p, 0.0, 1.0))
    some = entrance_probability(n, p)
    kept, found = u < some, np.zeros(u.shape)
    many = kept & (some > 1e-9)  # below, a second pull has no chance beside the first
    found[kept] = 1.0
    found[many] = np.maximum(binom.ppf(1 - u[many], n[many], p[many]), 1.0)
    return found


def redraw_multiplicities(
    seed: np.ndarray | int, first: int, mask: np.ndarray, n: np.ndarray, p: np.ndarray
) -> np.ndarray:
    """Multiplicities for a dictionary whose uniforms are not shown: drawn again from a stream of their own, given the dictionary.

    Given it, an arm's uniform is uniform below 1 - (1 - p)^n.

    Args:
        seed: of the stream, a number or R x 1.
        first: counter of the first arm.
        mask, n, p: dictionary, pulls and the pulls' probabilities, ... x A.
    """
    fresh = uniform(seed, stream_number("multiplicity"), first + np.arange(n.shape[-1]))
    return np.where(mask, binomial_quantile(fresh * entrance_probability(n, p), n, p), 0.0)


def expected_size(qbar: float, seen: Round) -> Tensor:
    """E |S_{t+1}| with multiplicity, given the past, R: sum_i n_i min(1, qbar s2_t(x_i)); of a learner whose ``merge`` is "pulls"."""
    p = (qbar * innermost_state(seen.before).s2).clamp(max=1.0)
    return (innermost_state(seen.after).n * p).sum(1)


def kept_pulls(qbar: float, seen: Round) -> Tensor:
    """|S_{t+1}| with multiplicity, R: kept pulls, each kept with p = min(1, qbar s2_t); on the host.

    A ``Round`` does not show the uniforms that made the dictionary: see ``redraw_multiplicities``; the seed is a hash of the trial's rewards.
    It is for learners whose ``merge`` is "pulls".
    """
    before, after = innermost_state(seen.before), innermost_state(seen.after)
    n, s2, mask, ysum = (x.cpu().numpy() for x in (after.n, before.s2, after.mask, after.ysum))
    seeds = ysum.sum(1).view(np.uint64)[:, None]
    kept = redraw_multiplicities(seeds, seen.t * n.shape[1], mask, n, np.clip(qbar * s2, 0.0, 1.0))
    return torch.from_numpy(kept.sum(1)).to(after.n)


# by final probes: what a replay of a dictionary's coins takes from a run
SHOT = {
    "n": StateField("n"),
    "mask": StateField("mask"),
    "s2": StateField("s2"),
    "sampled with": StateField("s2", "before"),
}


def probes(confidence: Confidence) -> dict[str, tuple[Callable, str]]:
    """For any learner of the package, the arguments of ``Probe`` by name: arms, radii, certificate, worst normalized error.

    ``play(..., record="all", probes={name: Probe(*pair) for name, pair in probes(confidence).items()})``.
    """
    return {
        "arm": (played_action, "last"),
        "variance": (played_variance, "last"),
        "radius": (partial(radius, confidence), "max"),
        "certificate": (partial(confidence_width, confidence), "sum"),
        "error": (partial(normalized_error, confidence), "max"),
    }


def sketch_probes(
    kernel: Kernel, confidence: Confidence, qbar: float
) -> dict[str, tuple[Callable, str]]:
    """``probes``, and for a learner that samples with a coin per pull its dictionary's sizes and its worst ratio of variances."""
    return probes(confidence) | {
        "dictionary": (dictionary_size, "last"),
        "unique": (unique_pulls, "last"),
        "left out": (pulled_outside_dictionary, "last"),
        "expected size": (partial(expected_size, qbar), "last"),
        "size": (partial(kept_pulls, qbar), "last"),
        "ratio": (partial(variance_ratio, kernel, confidence.lam), "max"),
    }


def own_numbers(learner: Any) -> dict[str, Callable]:
    """What a learner has after each round, for checks that rebuild it from arms and rewards alone.

    To be recorded in every round, for ``companion.bkb.proofs.run_lemmas.Own``: arms, rewards, posterior, sums and radius; a dictionary
    where there is one.
    """
    known = {
        "arm": played_action,
        "reward": observed_feedback,
        "mean": StateField("mu"),
        "s2": StateField("s2"),
        "information": StateField("tally.information"),
        "effective": StateField("tally.effective"),
        "beta": partial(own_radius, learner),
    }
    return known | ({"mask": StateField("mask")} if hasattr(learner, "qbar") else {})


# Estimators ----------------------------------------------------------------------------------------------


class Estimate(NamedTuple):
    """An estimate of f at all arms, R x A each."""

    mean: Tensor
    sd: Tensor  # of f

    def covers(self, f: Tensor) -> Tensor:
        """Whether f lies within three standard deviations, R x A bool."""
        return (f - self.mean).abs() <= WIDTH * self.sd


@dataclass(frozen=True)
class Estimator:
    """A posterior computed from a state.

    Attributes:
        confidence: the rule whose lambda the state's learner has.
        learner: one whose ``predict(state, arms, at)`` reads the state; None: the mean and variance that the state holds.
    """

    confidence: Confidence
    learner: Any = None

    def __call__(self, state: Any, arms: Tensor) -> Estimate:
        """After the state's rounds. ``arms``: 1 x A x d or R x A x d."""
        if self.learner is None:
            mu, s2 = state.mu, state.s2
        else:
            mu, s2 = self.learner.predict(state, arms, arms)
        return Estimate(mu, (self.confidence.lam * s2).sqrt())


@dataclass(frozen=True)
class AccuracyProbes:
    """Accuracy of each estimator after a round, R x len(names); ``read`` takes the numbers out of a trace by name.

    Of an estimator: "coverage", the fraction of arms at which f lies within three standard deviations; "sd", mean standard
    deviation on [beyond, 1]; "lowest", smallest variance / exact variance on [beyond, 1]; "least" and "most", the
    smallest and largest such ratio of all arms. And "effective dimension", the exact sum_i n_i s2(x_i).

    Attributes:
        exact: the estimator that the others are compared with.
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
        state, arms, f = innermost_state(seen.after), seen.context, seen.instance.means
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


def estimator_curve(estimator: Estimator, part: str, seen: Round) -> Tensor:
    """A probe: the part "mean" or "sd" of an estimator at all arms, R x A."""
    return getattr(estimator(innermost_state(seen.after), seen.context), part)


def arm_points(seen: Round) -> Tensor:
    """A probe: where the arms lie, R x A."""
    return seen.context[..., 0].expand(len(seen.action), -1)


def true_means(seen: Round) -> Tensor:
    """A probe: f at all arms, R x A."""
    return seen.instance.means


def mean_rewards(seen: Round) -> Tensor:
    """A probe: mean of the rewards of each arm, NaN where it was never evaluated, R x A."""
    state = innermost_state(seen.after)
    return torch.where(state.n > 0, state.ysum / state.n, torch.nan)
