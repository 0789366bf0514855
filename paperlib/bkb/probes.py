"""Probes for ``play``: per-round quantities of a run that the theory's statements and the figures need.

A probe is a function of a ``Round``; parameters come before the round, and ``functools.partial`` binds them. For example,
``partial(radius, confidence)`` is a probe.
A probe reads a state by field names (n, ysum, mu, s2, tally; mask of a sketched state), also inside a ``Scripted`` learner.
Probes of estimators compare several posteriors in one run. In such a run the arms are given (``Scripted``), so that every
estimator receives the same evaluations.
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

WIDTH = 3.0  # half-width of the bands in Figure 2, in standard deviations


def noise(seen: Round) -> Tensor:
    """Return eta_{t+1}, the reward minus the arm's mean, R: an oracle quantity, because it uses the problem's means."""
    return seen.feedback - take_mean(seen.instance.means, seen.action)


def played_variance(seen: Round) -> Tensor:
    """Return s2_t(x_{t+1}), the scaled variance of the round's arm when it was chosen, R."""
    return innermost_state(seen.before).s2.gather(1, seen.action.unsqueeze(1)).squeeze(1)


def dictionary_size(seen: Round) -> Tensor:
    """Return m_{t+1}, the number of distinct arms in the dictionary after the round, R."""
    return innermost_state(seen.after).mask.sum(1)


def unique_pulls(seen: Round) -> Tensor:
    """Return U_{t+1}, the number of distinct arms pulled so far, R."""
    return (innermost_state(seen.after).n > 0).sum(1)


def pulled_outside_dictionary(seen: Round) -> Tensor:
    """Return the number of pulled arms outside the dictionary after the round, R."""
    after = innermost_state(seen.after)
    return ((after.n > 0) & ~after.mask).sum(1)


def shrinkage(seen: Round) -> Tensor:
    """Return a LazyBKB's smallest and largest s2_b / s2_t over all arms, and 1 + sum_s s2_b(x_s), after the round, R x 3.

    s2_b is the variance when the dictionary was last sampled (``fallback`` in the state); the sum is ``spent``.
    """
    after = innermost_state(seen.after)
    ratio = torch.where(after.fallback > 0, after.fallback / after.s2, 1.0)
    return torch.stack([ratio.amin(1), ratio.amax(1), 1 + after.spent], 1)


def radius(confidence: Confidence, seen: Round) -> Tensor:
    """Return beta_t of the given rule, R. If the learner has this rule, the round's arm was chosen with it."""
    return confidence.radius(innermost_state(seen.before).tally)


def own_radius(learner: Any, seen: Round) -> Tensor:
    """Return beta_t as the learner computes it, R: the radius that chose the round's arm."""
    return learner.radius(innermost_state(seen.before))


def confidence_width(confidence: Confidence, seen: Round) -> Tensor:
    """Return the largest regret of a round if the confidence intervals hold, R: 2 beta_t sqrt(s2_t(x_{t+1})).

    For the first round it is 2 kappa F. ``Probe(partial(confidence_width, confidence), "sum")`` is the regret certificate.
    """
    tally = innermost_state(seen.before).tally
    # The first arm is drawn without a posterior, so that only |f| <= F kappa bounds its regret.
    if tally.rounds == 0:
        return 2 * confidence.norm_bound * tally.kappa2.sqrt().expand(len(seen.action))
    return 2 * confidence.radius(tally) * played_variance(seen).sqrt()


def normalized_error(confidence: Confidence, seen: Round) -> Tensor:
    """Return the largest |f(x) - mu_{t+1}(x)| / (beta_{t+1} sqrt(s2_{t+1}(x))) of all arms after the round, R.

    By Theorem D.1 it is at most 1. The probe needs the problem's means. ``Probe(..., "max")`` gives the maximum over time.
    """
    after = innermost_state(seen.after)
    error = (seen.instance.means - after.mu).abs()
    width = confidence.radius(after.tally).unsqueeze(1) * after.s2.sqrt()
    return torch.where(error > 0, error / width, 0.0).amax(1)


def exact_variance(kernel: Kernel, arms: Tensor, n: Tensor, ridge: float) -> Tensor:
    """Return s2 of the exact posterior, R x A, from the pulled arms alone; this reads the tensor's values. ``n``: R x A."""
    # The variance does not depend on the rewards, so that their sums are set to 0 below.
    slots = max(int((n > 0).sum(1).max()), 1)
    count, index = n.topk(slots, 1)
    points, total = take_points(arms, index), torch.zeros_like(count)
    return exact_posterior(kernel, points, count, total, ridge, arms).variance / ridge


def variance_ratio(kernel: Kernel, ridge: float, seen: Round) -> Tensor:
    """Return the largest of s2~ / s2 and s2 / s2~ over all arms after the round, R, where s2 is exact.

    By Theorem 3.1 it is at most alpha. ``Probe(..., "max")`` gives the maximum over time.
    """
    after = innermost_state(seen.after)
    exact = exact_variance(kernel, seen.context, after.n, ridge)
    both = torch.maximum(after.s2 / exact, exact / after.s2)
    # An arm without any variance, such as the zero arm, has the ratio 1 instead of 0 / 0.
    none = (after.s2 == 0) & (exact <= 1e-15 * exact.amax(1, keepdim=True))
    return torch.where(none, 1.0, both).amax(1)


def exact_dimension(kernel: Kernel, ridge: float, seen: Round) -> Tensor:
    """Return d_eff(t) = sum_i n_i s2_t(x_i) of the exact posterior after the round, R; O(U^3), from the pull counts alone."""
    n = innermost_state(seen.after).n
    slots = list_members(n > 0, max(int((n > 0).sum(1).max()), 1))
    count, points = n.gather(1, slots.index) * slots.valid, take_points(seen.context, slots.index)
    found = exact_posterior(kernel, points, count, torch.zeros_like(count), ridge, points)
    return (count * found.variance).sum(1) / ridge


def entrance_probability(n: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return 1 - (1 - p)^n, the probability that at least one of n pulls is kept, each with probability p.

    Shapes broadcast.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        # For p = 1 the logarithm is infinite; the probability is then 1 for n > 0 and 0 for n = 0.
        return np.where(p < 1, -np.expm1(n * np.log1p(-p)), n > 0)


def binomial_quantile(u: np.ndarray, n: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return how many of n pulls the uniform u keeps, each with probability p: the binomial quantile at 1 - u.

    The number is above 0 exactly where u < 1 - (1 - p)^n. Shapes broadcast.
    """
    from scipy.stats import binom  # takes a second to import

    u, n, p = np.broadcast_arrays(u, n, np.clip(p, 0.0, 1.0))
    some = entrance_probability(n, p)
    kept, found = u < some, np.zeros(u.shape)
    many = kept & (some > 1e-9)  # For smaller probabilities a second kept pull is negligibly rare.
    found[kept] = 1.0
    found[many] = np.maximum(binom.ppf(1 - u[many], n[many], p[many]), 1.0)
    return found


def redraw_multiplicities(
    seed: np.ndarray | int, first: int, mask: np.ndarray, n: np.ndarray, p: np.ndarray
) -> np.ndarray:
    """Draw the multiplicities of a dictionary whose uniforms are unknown, from a separate stream.

    Given that an arm is in the dictionary, its uniform is uniformly distributed below 1 - (1 - p)^n. Therefore the
    multiplicities have the right distribution given the dictionary.

    Args:
        seed: seed of the stream, a number or R x 1.
        first: counter of the first arm.
        mask, n, p: dictionary, pulls and inclusion probabilities of the pulls, ... x A.
    """
    fresh = uniform(seed, stream_number("multiplicity"), first + np.arange(n.shape[-1]))
    return np.where(mask, binomial_quantile(fresh * entrance_probability(n, p), n, p), 0.0)


def expected_size(qbar: float, seen: Round) -> Tensor:
    """Return E |S_{t+1}| with multiplicity, given the past, R: sum_i n_i min(1, qbar s2_t(x_i)).

    The formula is for learners whose ``merge`` is "pulls".
    """
    p = (qbar * innermost_state(seen.before).s2).clamp(max=1.0)
    return (innermost_state(seen.after).n * p).sum(1)


def kept_pulls(qbar: float, seen: Round) -> Tensor:
    """Return |S_{t+1}| with multiplicity, R: the pulls kept with p = min(1, qbar s2_t); computed on the host.

    A ``Round`` does not contain the uniforms that made the dictionary, so that ``redraw_multiplicities`` draws the
    multiplicities again. The seed is a hash of the trial's rewards. The probe is for learners whose ``merge`` is "pulls".
    """
    before, after = innermost_state(seen.before), innermost_state(seen.after)
    n, s2, mask, ysum = (x.cpu().numpy() for x in (after.n, before.s2, after.mask, after.ysum))
    # The bits of the reward sums serve as seeds. With noisy rewards they differ between trials and rounds.
    seeds = ysum.sum(1).view(np.uint64)[:, None]
    kept = redraw_multiplicities(seeds, seen.t * n.shape[1], mask, n, np.clip(qbar * s2, 0.0, 1.0))
    return torch.from_numpy(kept.sum(1)).to(after.n)


# Final probes that record the quantities behind the multiplicities of a dictionary, so that these can be drawn again.
SHOT = {
    "n": StateField("n"),
    "mask": StateField("mask"),
    "s2": StateField("s2"),
    "sampled with": StateField("s2", "before"),
}


def probes(confidence: Confidence) -> dict[str, tuple[Callable, str]]:
    """Return the arguments of ``Probe`` by name, for any learner: arms, radii, certificate, worst normalized error.

    Use them as ``play(..., record="all", probes={name: Probe(*pair) for name, pair in probes(confidence).items()})``.
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
    """Return ``probes``, the sizes of the dictionary and the worst ratio of variances.

    They are for learners that draw one Bernoulli sample per pull (``merge`` "pulls").
    """
    return probes(confidence) | {
        "dictionary": (dictionary_size, "last"),
        "unique": (unique_pulls, "last"),
        "left out": (pulled_outside_dictionary, "last"),
        "expected size": (partial(expected_size, qbar), "last"),
        "size": (partial(kept_pulls, qbar), "last"),
        "ratio": (partial(variance_ratio, kernel, confidence.lam), "max"),
    }


def own_numbers(learner: Any) -> dict[str, Callable]:
    """Return probes of a learner's state, for checks that recompute it from arms and rewards alone.

    Record them in every round for ``companion.bkb.proofs.run_lemmas.Own``: arms, rewards, posterior, sums, radius, and
    the dictionary if the learner has one.
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
    """Estimate of f at all arms, R x A each."""

    mean: Tensor
    sd: Tensor  # standard deviation of f

    def covers(self, f: Tensor) -> Tensor:
        """Return whether f is within three standard deviations of the mean, R x A bool."""
        return (f - self.mean).abs() <= WIDTH * self.sd


@dataclass(frozen=True)
class Estimator:
    """Posterior computed from a learner's state.

    Attributes:
        confidence: the rule whose lambda the state's learner has.
        learner: a learner whose ``predict(state, arms, at)`` reads the state; None for the mean and variance in the state.
    """

    confidence: Confidence
    learner: Any = None

    def __call__(self, state: Any, arms: Tensor) -> Estimate:
        """Return the estimate after the state's rounds. ``arms``: 1 x A x d or R x A x d."""
        if self.learner is None:
            mu, s2 = state.mu, state.s2
        else:
            mu, s2 = self.learner.predict(state, arms, arms)
        return Estimate(mu, (self.confidence.lam * s2).sqrt())


@dataclass(frozen=True)
class AccuracyProbes:
    """Accuracy of each estimator after a round, R x len(names); ``read`` returns the numbers of a trace by name.

    Each estimator has five numbers. "coverage" is the fraction of arms where f is within three standard deviations.
    "sd" is the mean standard deviation on [beyond, 1]. "lowest" is the smallest variance / exact variance on [beyond, 1].
    "least" and "most" are the smallest and the largest such ratio over all arms. In addition, "effective dimension" is the
    exact sum_i n_i s2(x_i).

    Attributes:
        exact: the estimator that the others are compared with.
        estimators: estimators by name.
        beyond: left end of an interval [beyond, 1] without evaluations.
    """

    exact: Estimator
    estimators: dict[str, Estimator]
    beyond: float = 0.65

    @property
    def names(self) -> list[str]:
        """Names of the numbers in their order, for example "own coverage"."""
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
        """Return the numbers in a trace by name, R x T' each."""
        return dict(zip(self.names, np.moveaxis(trace[series], 2, 0), strict=True))


def estimator_curve(estimator: Estimator, part: str, seen: Round) -> Tensor:
    """Return the part "mean" or "sd" of an estimator at all arms, R x A."""
    return getattr(estimator(innermost_state(seen.after), seen.context), part)


def arm_points(seen: Round) -> Tensor:
    """Return the first coordinate of all arms, R x A."""
    return seen.context[..., 0].expand(len(seen.action), -1)


def true_means(seen: Round) -> Tensor:
    """Return f at all arms, R x A."""
    return seen.instance.means


def mean_rewards(seen: Round) -> Tensor:
    """Return the mean reward of each arm, R x A; NaN for arms that were never evaluated."""
    state = innermost_state(seen.after)
    return torch.where(state.n > 0, state.ysum / state.n, torch.nan)
