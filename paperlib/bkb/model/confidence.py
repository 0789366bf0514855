"""Confidence radii: the rules of the paper and of related work, and the sums over rounds that they need.

Source: Calandriello, Carratino, Lazaric, Valko & Rosasco (2019), Theorem 4.1, Appendix D; Abbasi-Yadkori (2012) for
the self-normalized bound behind all rules except ``paper`` and ``reference``.
Letters: R trials; xi the noise level, F the norm bound, lambda the ridge, alpha = (1 + eps) / (1 - eps),
L = ln(1 / delta), t observations so far; s2 the scaled variance phi^T A_t^{-1} phi = variance / lambda.
"""

import bisect
import math
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ...core import fields
from ...core.describe import frozen_dataclass, to_python
from ...core.validation import LARGEST, SMALLEST, check_positive, is_number, raise_invalid

RULES = ("paper", "corrected", "online", "practical", "reference", "gamma", "const")


class RoundSums(NamedTuple):
    """Sums over t rounds that the radius rules need; every state of the package has one."""

    information: Tensor  # R, sum_{s <= t} ln(1 + s2_{s-1}(x_s)); for the exact posterior ln det(I + K_t / lambda)
    inflated: Tensor  # R, the same sum with alpha s2_{s-1}, except for s = 1, where s2 is exact
    effective: Tensor  # R, sum_i n_i s2_t(x_i); for the exact posterior the effective dimension
    kappa2: Tensor  # 1 or R, largest k(x, x) among the arms
    rounds: int  # t


def check_open_interval(name: str, value: float) -> float:
    """Return ``value``; raise ValueError unless it is in (0, 1) and at least 1e-30."""
    value = to_python(value)
    if not (is_number(value) and SMALLEST <= value < 1):
        raise_invalid(name, value, f"a number above 0 and below 1, at least {SMALLEST:g}")
    return value


def _growing(pairs: Any) -> bool:
    """Check whether ``pairs`` are pairs (round, bound) with increasing rounds and finite bounds of at least 0."""
    tuples = (tuple, list)
    if not (
        isinstance(pairs, tuples) and all(isinstance(p, tuples) and len(p) == 2 for p in pairs)
    ):
        return False
    times, bounds = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return (
        all(map(is_number, times + bounds))
        and times == sorted(set(times))
        and all(0 <= x <= LARGEST for x in bounds)
    )


@frozen_dataclass
class Confidence:
    """Confidence radius beta_t in mu + beta_t sqrt(s2): a rule and its constants.

    Learners that share one object are compared at the same rule and scale.

    ===========  ======================================================================  ==============================
    rule         beta_t / scale                                                          status
    ===========  ======================================================================  ==============================
    paper        2 xi sqrt(alpha ln(kappa2 t) Sig + L) + c sqrt(lambda) F                Theorem 4.1 as printed
    corrected    xi sqrt(alpha (1 + ln(1 + kappa2 t / lambda)) Sig + 2 L) + c sqrt(...)  valid on Theorem 3.1's event
    online       xi sqrt(sum ln(1 + alpha s2_{s-1}(x_s)) + 2 L) + c sqrt(lambda) F       valid there, the tightest
    practical    xi sqrt(sum ln(1 + s2_{s-1}(x_s)) + 2 L) + sqrt(lambda) F               valid for the exact posterior
    reference    xi sqrt(Sig ln t + L) + sqrt(lambda) F                                  used by the authors' code
    gamma        xi sqrt(2 gamma_t + 2 L) + sqrt(lambda) F                               exact GP-UCB's worst case
    const        1                                                                       ablation
    ===========  ======================================================================  ==============================

    with Sig = sum_i n_i s2_t(x_i) and c = 1 + 1 / sqrt(1 - eps).

    Attributes:
        noise: xi >= 0, the noise is xi-sub-Gaussian.
        norm_bound: F >= 0, bound on the function's norm in the kernel's space.
        ridge: lambda > 0; None for xi^2, which must then be above 0.
        delta: in (0, 1), failure probability.
        eps: in (0, 1), accuracy of the sketch.
        rule: name of a rule in the table above.
        scale: practical factor on the radius; 1 is the theory's radius, 0 is greedy.
        gamma: for the rule ``gamma``: pairs (t, upper bound on gamma_t), t increasing.

    Raises:
        ValueError: a value out of range.

    Examples:
        >>> from paperlib.bkb import Confidence
        >>> confidence = Confidence(noise=0.1, norm_bound=3.0, eps=0.5)
        >>> round(confidence.lam, 6), confidence.alpha
        (0.01, 3.0)
    """

    noise: float = fields.nonnegative()
    norm_bound: float = fields.nonnegative()
    ridge: float | None = None
    delta: float = 0.1
    eps: float = 0.5
    rule: str = fields.one_of(RULES, "practical")
    scale: float = fields.nonnegative(1.0)
    gamma: tuple[tuple[int, float], ...] = ()

    def __post_init__(self):
        check_open_interval("delta", self.delta)
        check_open_interval("eps", self.eps)
        if self.ridge is not None:
            check_positive("ridge", self.ridge)
        elif not SMALLEST <= self.lam <= LARGEST:
            requirement = f"a number from {SMALLEST:g} to {LARGEST:g} (ridge=None is the square of noise={self.noise!r})"
            raise_invalid("ridge", self.lam, requirement)
        if not _growing(self.gamma):
            requirement = (
                "a tuple of pairs (t, bound) with increasing t and finite bounds of at least 0"
            )
            raise_invalid("gamma", self.gamma, requirement)
        if self.rule == "gamma" and not self.gamma:
            requirement = "a tuple of pairs (t, upper bound on gamma_t) with rule='gamma'"
            raise_invalid("gamma", self.gamma, requirement)

    @property
    def lam(self) -> float:
        """Return lambda, the ridge, by default xi^2."""
        return float(self.noise) ** 2 if self.ridge is None else self.ridge

    @property
    def alpha(self) -> float:
        """Return (1 + eps) / (1 - eps), the accuracy factor of the sketched variance."""
        return (1 + self.eps) / (1 - self.eps)

    def start(self, kappa2: Tensor, trials: int) -> RoundSums:
        """Return the sums before the first round, all zero. ``kappa2``: 1 or R."""
        zero = torch.zeros(trials, dtype=kappa2.dtype, device=kappa2.device)
        return RoundSums(zero, zero, zero, kappa2, 0)

    def add(self, tally: RoundSums, played: Tensor, effective: Tensor) -> RoundSums:
        """Return the sums after one more round. ``played``: s2_{t-1}(x_t), R; ``effective``: sum_i n_i s2_t(x_i), R."""
        # The variance of the first arm is the prior's k / lambda, which no sketch inflates.
        alpha = self.alpha if tally.rounds else 1.0
        # ln det grows by ln(1 + s2_{t-1}(x_t)) per pull (matrix determinant lemma).
        information = tally.information + played.log1p()
        inflated = tally.inflated + (alpha * played).log1p()
        return RoundSums(information, inflated, effective, tally.kappa2, tally.rounds + 1)

    def radius(self, tally: RoundSums) -> Tensor:
        """Return beta_t, R, from the sums over t rounds."""
        xi, F, lam, alpha = self.noise, self.norm_bound, self.lam, self.alpha
        L, t = math.log(1 / self.delta), tally.rounds
        # The bias term sqrt(lambda) ||f|| has a larger factor for a sketched posterior (Appendix D.1).
        exact, sketched = math.sqrt(lam) * F, (1 + 1 / math.sqrt(1 - self.eps)) * math.sqrt(lam) * F
        if self.rule == "paper":  # (7), Theorem 4.1; ln(kappa2 t) is negative before kappa2 t = 1
            spread = (tally.kappa2 * max(t, 1)).log().clamp(min=0.0)
            beta = 2 * xi * (alpha * spread * tally.effective + L).sqrt() + sketched
        elif self.rule == "corrected":  # Appendix D.1 with lambda kept in the logarithm (E9)
            spread = 1 + (tally.kappa2 * t / lam).log1p()
            beta = xi * (alpha * spread * tally.effective + 2 * L).sqrt() + sketched
        elif self.rule == "online":  # bounds ln det by the inflated variances of the pulls
            beta = xi * (tally.inflated + 2 * L).sqrt() + sketched
        elif self.rule == "practical":  # Abbasi-Yadkori (2012)
            beta = xi * (tally.information + 2 * L).sqrt() + exact
        elif self.rule == "reference":  # the authors' public code
            beta = xi * (tally.effective * math.log(max(t, 1)) + L).sqrt() + exact
        elif self.rule == "gamma":  # ln det <= 2 gamma_t in the rule "practical"
            worst = xi * math.sqrt(2 * self.gamma_at(t) + 2 * L) + exact
            beta = torch.full_like(tally.effective, worst)
        else:  # "const"
            beta = torch.ones_like(tally.effective)
        return self.scale * beta

    def gamma_at(self, t: int) -> float:
        """Return the bound of the first pair at or after t, which also holds at t because gamma_t grows with t."""
        # The pairs need not contain every t, because they are computed for a few horizons only.
        at = bisect.bisect_left([pair[0] for pair in self.gamma], t)
        if at == len(self.gamma):
            raise ValueError(
                f"gamma must contain a pair for t of at least {t}, got pairs up to t = {self.gamma[-1][0]}"
            )
        return self.gamma[at][1]
