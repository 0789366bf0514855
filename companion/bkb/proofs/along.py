"""A learner's own numbers along a run, held against what its arms and rewards alone give.

The statements of ``lemmas`` about exact variances are true of every sequence of arms: rebuilt from the arms they test the
mathematics, and no learner can fail them. With ``Own``, a replay whose variances are the learner's, they test the learner.
Nothing here calls what a learner calls to compute its posterior, radius, sums or dictionary.
Source: Calandriello et al. (2019), Section 2, Algorithm 1 and Theorem 4.1.
Letters: as in ``constants``; R trials, T rounds, A arms; s2_t scaled variance after t observations, beta_t radius, u coins.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from paperlib.bkb.model.confidence import Confidence
from paperlib.bkb.theory.constants import PAPER, ROUNDING
from paperlib.checks import Check, statement
from paperlib.core.streams import Streams
from paperlib.core.trace import Trace
from paperlib.core.validation import one_of

from .replay import Replay
from .sketch_lemmas import Snapshot

RECORDED = ("reward", "mean", "s2", "information", "effective", "beta")


@dataclass(frozen=True, eq=False)
class Own(Replay):
    """A replay whose ``variance`` is the learner's own, and with it ``played``, ``settled``, ``log_det`` and ``effective``.

    What is computed densely (``factor``, ``dense_log_det``, ``dense_effective``, ``norm``) still comes from the arms alone.
    """

    confidence: Confidence
    reward: Tensor  # R x T
    mean: Tensor  # R x T x A, after each round
    s2: Tensor  # R x T x A
    information: Tensor  # R x T, the learner's sum of ln(1 + s2_{s-1}(x_s))
    effective_sum: Tensor  # R x T, the learner's sum of n s2_t
    beta: Tensor  # R x T, with which the round's arm was chosen
    mask: Tensor | None = None  # R x T x A bool, the dictionary

    @classmethod
    def by(cls, trace: Trace, run: Replay, confidence: Confidence) -> "Own":
        """From a trace of every round with the probes ``probes.own_numbers``, and the replay of its arms."""
        series = (torch.from_numpy(trace[name]).double() for name in RECORDED)
        mask = torch.from_numpy(trace["mask"]) > 0 if "mask" in trace.series else None
        return cls(run.kernel, run.arms, run.ridge, run.index, confidence, *series, mask)

    @cached_property
    def variance(self) -> Tensor:
        """The learner's s2_t of all arms for t = 0, ..., T, R x (T + 1) x A; the first is the prior's."""
        prior = (self.diagonal / self.ridge).expand(len(self.index), -1)
        return torch.cat([prior.unsqueeze(1), self.s2], 1)

    @cached_property
    def totals(self) -> Tensor:
        """Sums of the rewards of all arms, R x T x A."""
        hot = torch.zeros_like(self.counts)
        return hot.scatter_(2, self.index.unsqueeze(2), self.reward.unsqueeze(2)).cumsum_(1)

    def shots(self) -> list[Snapshot]:
        """Return a snapshot of each trial after ten rounds, for the statements about one dictionary."""
        arms = self.arms.expand(len(self.index), -1, -1)
        return [
            Snapshot(
                self.kernel,
                arms[trial],
                self.counts[trial, t - 1],
                self.mask[trial, t - 1],
                self.ridge,
                self.s2[trial, t - 1],
                mean=self.mean[trial, t - 1],
                total=self.totals[trial, t - 1],
            )
            for trial in range(len(self.index))
            for t in self.some_rounds()
        ]


def coins(seed: int, trials: int, rounds: int, arms: int) -> Tensor:
    """The uniforms behind the dictionaries of a run, R x T x A: they are functions of seed, trial and round."""
    streams = Streams(seed, range(trials))
    return torch.stack([streams.at(t).uniform("dictionary", arms) for t in range(rounds)], 1)


def radius_of(run: Own) -> Tensor:
    """beta_t for t = 1, ..., T by the rule's formula, from the learner's variances, R x T.

    Raises:
        ValueError: a rule that has no such formula.
    """
    c, t = run.confidence, run.rounds
    one_of("rule", c.rule, ("paper", "corrected", "online", "practical"))
    L, bias = math.log(1 / c.delta), math.sqrt(run.ridge) * c.norm_bound
    sketched = (1 + 1 / math.sqrt(1 - c.eps)) * bias
    effective = run.effective
    if c.rule == "practical":  # Abbasi-Yadkori's, for the exact posterior
        return c.scale * (c.noise * torch.sqrt(run.log_det + 2 * L) + bias)
    if c.rule == "online":
        # s2 <= alpha s2~, but for the first round, whose variance is the prior's
        inflated = torch.cat([run.played[:, :1], c.alpha * run.played[:, 1:]], 1)
        inside = inflated.log1p().cumsum(1) + 2 * L
        return c.scale * (c.noise * inside.sqrt() + sketched)
    if c.rule == "corrected":
        inside = c.alpha * (1 + (run.kappa2 * t / run.ridge).log1p()) * effective + 2 * L
        return c.scale * (c.noise * inside.sqrt() + sketched)
    inside = c.alpha * (run.kappa2 * t).log().clamp(min=0) * effective + L
    return c.scale * (2 * c.noise * inside.sqrt() + sketched)


def _inputs(run: Own) -> dict[str, float | str]:
    return {"T": run.index.shape[1], "lambda": run.ridge, "rule": run.confidence.rule}


@statement("Section 2, posterior", f"{PAPER}, (1) and (2)")
def posterior(run: Own) -> Check:
    """mu_t and s2_t of all arms and rounds: a learner's against (1) and (2), solved by one Cholesky factor of K_T + lambda I."""
    cross = run.kernel(run.arms.expand(len(run.index), -1, -1), run.arms)
    rows = cross.gather(1, run.index.unsqueeze(2).expand(-1, -1, cross.shape[2]))
    half = torch.linalg.solve_triangular(run.factor, rows, upper=False)  # L^{-1} k_t(x), row by row
    white = torch.linalg.solve_triangular(run.factor, run.reward.unsqueeze(2), upper=False)
    mean = (half * white).cumsum(1)
    s2 = (run.diagonal.unsqueeze(1) - half.square().cumsum(1)) / run.ridge
    scale = 1 + mean.abs().amax(2, keepdim=True)
    observed = torch.stack([(run.mean - mean).abs() / scale, (run.s2 - s2).abs() / s2], 1)
    formula = "|mu - k^T (K + lambda I)^-1 y| / (1 + max |mu|), |s2 - s2 of (2)| / s2"
    return posterior.statement.check(formula, _inputs(run), observed, ROUNDING)


@statement("Theorem 4.1, radius", f"{PAPER}, Theorem 4.1; the rules of ``Confidence``")
def radius(run: Own) -> Check:
    """The sums in a learner's radius, and the radius itself, are what its own variances give: ln(1 + s2_{s-1}(x_s)), n s2_t, beta_t."""
    beta = radius_of(run)[:, :-1]  # the arm of round t + 1 is chosen with beta_t
    pairs = [
        (run.information, run.log_det),
        (run.effective_sum, run.effective),
        (run.beta[:, 1:], beta),
    ]
    observed = torch.cat([(own - by).abs() / (1 + by.abs()) for own, by in pairs], 1)
    formula = "|sums - sums of its variances|, |beta_t - formula of the rule|, relative"
    return radius.statement.check(formula, _inputs(run), observed, ROUNDING)


@statement("Algorithm 1, choice", f"{PAPER}, (4) and Algorithm 1")
def choice(run: Own) -> Check:
    """The arm of round t + 1 has the largest mu_t(x) + beta_t s_t(x) of all arms, up to rounding; the first is drawn."""
    beta = radius_of(run)[:, :-1].unsqueeze(2)
    bound = run.mean[:, :-1] + beta * run.s2[:, :-1].sqrt()
    best = bound.amax(2)
    short = (best - bound.gather(2, run.index[:, 1:].unsqueeze(2)).squeeze(2)) / best.abs()
    formula = "(max_x u_t(x) - u_t(x_{t+1})) / |max u_t|, u = mu + beta s"
    return choice.statement.check(formula, _inputs(run), short, ROUNDING)


@statement("Algorithm 1, dictionary", f"{PAPER}, Algorithm 1")
def sampled(run: Own, coins: Tensor, qbar: float) -> Check:
    """S_{t+1} are the arms whose coin fell below 1 - (1 - p)^n, p = min(1, qbar s2~_t) by the variance that chose the arm; S_1 = {x_1}.

    Args:
        coins: u, R x T x A (``coins``).
        qbar: the learner's, with a coin a pull.
    """
    n, p = run.counts, (qbar * run.variance[:, :-1]).clamp(max=1)
    p = torch.cat([torch.ones_like(p[:, :1]), p[:, 1:]], 1)  # the first arm is kept
    wrong = (coins < 1 - (1 - p) ** n) != run.mask
    formula = "arms in S_{t+1} without their coin, or with it outside, <= 0"
    return sampled.statement.check(formula, _inputs(run) | {"qbar": qbar}, wrong.sum(2), 0.0)
