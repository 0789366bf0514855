"""Lemma 4.1: from a bound on the stationary regret to a weakly non-stationary algorithm, as printed and corrected.

Let e(t) = 2 sqrt(ln(2 T) / t), and let rt(t) be an upper bound on a policy's regret per round with high probability. Then the
statistic r-bar_t = mean of y + rt(t) + e(t) has both properties with the corrected rho, in every round and for any variation. With
the printed rho it does not.
Source: Wang (2025), Lemma 4.1 and its proof; Neu, "Explore no more" (NeurIPS 2015), Theorem 1, for EXP3-IX.
Letters: T horizon, t round, rt(t) the bound on the stationary regret over t, e(t) the bound on the error of a mean of t rewards;
R trials, K points or arms, Delta_t short for Delta_[1,t].
"""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import digamma

from paperlib.checks import Check, Statement, statement, vacuous_unless
from paperlib.nsbco.learners.exp3 import regret_bound
from paperlib.nsbco.theory.constants import PAPER, ROUNDING, TRIVIAL, first_horizon

from .ascent import variation
from .schedule import TEST_1
from .weakly_non_stationary import first_round, from_above, from_below

LEMMA = f"{PAPER}, Lemma 4.1"
ZETA = -1.4603545088095868  # zeta(1/2)

# Numbers --------------------------------------------------------------------------------------------------


def off(t: Any, horizon: float) -> Any:
    """Return e(t) = 2 sqrt(ln(2 T) / t), the error bound for rewards in [-1, 1], whose range is 2 (E3)."""
    return 2 * np.sqrt(math.log(2 * horizon) / np.asarray(t, float))


def off_printed(t: Any, horizon: float) -> Any:
    """Return sqrt(ln(2 T) / t), Eq. (28), which is correct for a range of 1."""
    return off(t, horizon) / 2


def rho(rt: np.ndarray, e: np.ndarray) -> np.ndarray:
    """Return rho(t) = rt(t) + e(t) + (1 / t) sum_{tau <= t} [rt(tau) + 2 e(tau)] for t = 1, ..., T (E13).

    ``rt``, ``e``: T numbers each.
    """
    return rt + e + np.cumsum(rt + 2 * e) / np.arange(1, len(rt) + 1)


def rho_printed(rt: Any, horizon: float, t: Any = None) -> Any:
    """Return rho(t) = 2 rt(t) + 3 sqrt(ln(2 T) / T) as printed.

    The proof, Eq. (33), has the summation index tau in place of T in the root (E13).

    Args:
        rt: a number or an array.
        t: rounds that replace T in the root, which is our reading; None: T, as printed.
    """
    return 2 * np.asarray(rt, float) + 3 * off_printed(horizon if t is None else t, horizon)


def root_sum(t: float) -> float:
    """Return sum_{tau <= t} tau^{-1/2} by the Euler-Maclaurin formula, whose relative error is below 1e-9 from t = 64 on."""
    return 2 * math.sqrt(t) + ZETA + 0.5 / math.sqrt(t) - t**-1.5 / 24


class Rate(NamedTuple):
    """rt(t) = root / sqrt(t) + over / t."""

    root: float
    over: float

    def at(self, t: Any) -> Any:
        """Return rt(t). ``t``: a number or an array."""
        return self.root / np.sqrt(t) + self.over / t

    def rho(self, horizon: float) -> float:
        """Return ``rho`` at t = T, for any T from 64 on."""
        e = float(off(1, horizon))
        harmonic = float(digamma(horizon + 1) + np.euler_gamma)  # sum_{tau <= T} 1 / tau
        total = (self.root + 2 * e) * root_sum(horizon) + self.over * harmonic
        return float(self.at(horizon)) + e / math.sqrt(horizon) + total / horizon


def exp3_ix(arms: int, horizon: float) -> Rate:
    """Return rt of EXP3-IX: with probability 1 - 1 / T^2 its regret after t rounds with rewards in [-1, 1] is at most t rt(t).

    Raises:
        ValueError: fewer than two arms, because ln K would be 0.
    """
    return Rate(*regret_bound(arms, horizon))


def first_below(arms: int) -> dict[str, float]:
    """Return the first T at which rt(T), rho(T) and Test 1's 9 rho-hat(T) of EXP3-IX are below 2, the range of rewards."""
    rho_of = lambda T: exp3_ix(arms, T).rho(T)
    return {
        "rt": first_horizon(lambda T: float(exp3_ix(arms, T).at(T)), TRIVIAL),
        "rho": first_horizon(rho_of, TRIVIAL),
        "9 rho-hat": first_horizon(lambda T: TEST_1 * 6 * (math.log2(T) + 1) * rho_of(T), TRIVIAL),
    }


# Statements along runs ------------------------------------------------------------------------------------


def _rounds(rt: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return t and e(t), T each."""
    t = np.arange(1, len(rt) + 1)
    return t, off(t, len(rt))


@statement(
    "Lemma 4.1, stationary regret", f"{LEMMA}, Eq. (27), with the factor t that it lacks (E13)"
)
def stationary_regret(played: Any, points: Any, rt: Any) -> Check:
    """max_x sum_{tau <= t} [f_tau(x) - f_tau(x_tau)] <= t rt(t) in every round, with probability 1 - O(T^{-2}); the lemma assumes this of the policy.

    Args:
        played: f_t(x_t), R x T.
        points: f_t at all points of X, T x K.
        rt: T numbers.
    """
    t, _ = _rounds(rt)
    first = first_round((rt < TRIVIAL)[None])
    check = stationary_regret.statement.check(
        "max_x sum f_tau(x) - f_tau(x_tau) <= t rt(t)",
        {"T": len(t)},
        points.cumsum(-2).max(-1) - played.cumsum(1),
        t * rt,
        trivial=TRIVIAL * len(t),
        informative_from=first,
    )
    return vacuous_unless(first is not None, check)


@statement("Lemma 4.1, statistic", f"{LEMMA}, with 2 sqrt(ln(2 T) / t) (E3)")
def lemma_4_1_statistic(rbar: Any, y: Any, rt: Any) -> Check:
    """r-bar_t = (y_1 + ... + y_t) / t + rt(t) + e(t) in all rounds.

    Flags the printed e, and an r-bar that lacks the reward of the current round.

    ``rbar``, ``y``: R x T; ``rt``: T.
    """
    t, e = _rounds(rt)
    return lemma_4_1_statistic.statement.check(
        "|r-bar_t - (mean of y + rt(t) + e(t))| <= 1e-9",
        {},
        np.abs(rbar - (y.cumsum(1) / t + rt + e)),
        ROUNDING,
    )


@statement("Lemma 4.1, optimism", f"{LEMMA}, property 1 with lambda = 1")
def lemma_4_1_optimism(rbar: Any, best: Any, drift: Any, rt: Any) -> Check:
    """r-bar_t >= min_{tau <= t} f*_tau - Delta_t in every round.

    Flags a policy with more regret than rt, and a missing rt.

    Args:
        rbar: R x T.
        best: f*_t, broadcasts against R x T.
        drift: Delta(tau), see ``ascent.variation``.
        rt: T numbers.
    """
    t, e = _rounds(rt)
    moved, inputs = variation(drift, len(t)), {"T": len(t), "lambda": 1.0}
    of = lemma_4_1_optimism.statement
    return from_below(of, rbar, best, moved, 1.0, rt + e, True, inputs=inputs)


def _closeness(
    of: Statement, rbar: Any, y: Any, drift: Any, rt: Any, rho: Any, everywhere: bool = False
) -> Check:
    """Check property 2 with a given rho, in the rounds with Delta_t <= rho(t) / 2, or in all rounds if ``everywhere``."""
    t, e = _rounds(rt)
    moved = variation(drift, len(t))
    most = TRIVIAL + (rt + e).cumsum() / t
    inputs = {"T": len(t), "lambda": 2.0, "rho(T)": rho[-1]}
    inside = everywhere or moved <= rho / 2
    return from_above(of, rbar, y, moved, rho, 2.0, most, inside, inputs=inputs)


@statement("Lemma 4.1, closeness", f"{LEMMA}, property 2, corrected")
def lemma_4_1_closeness(rbar: Any, y: Any, drift: Any, rt: Any) -> Check:
    """(1 / t) sum (r-bar_tau - y_tau) <= rho(t) + 2 Delta_t in every round, with rho(t) = rt(t) + e(t) + (1 / t) sum [rt(tau) + 2 e(tau)] (E13).

    Flags rewards that decrease, and an rt that is counted twice.

    ``rbar``, ``y``: R x T; the rest as for ``lemma_4_1_optimism``.
    """
    right, of = rho(rt, _rounds(rt)[1]), lemma_4_1_closeness.statement
    return _closeness(of, rbar, y, drift, rt, right, everywhere=True)


@statement("Lemma 4.1, printed", f"{LEMMA}, property 2 as printed")
def lemma_4_1_printed(rbar: Any, y: Any, drift: Any, rt: Any) -> Check:
    """(1 / t) sum (r-bar_tau - y_tau) <= rho(t) + 2 Delta_t if Delta_t <= rho(t) / 2, with rho(t) = 2 rt(t) + 3 sqrt(ln(2 T) / T); false (E13).

    Arguments as for ``lemma_4_1_closeness``.
    """
    of = lemma_4_1_printed.statement
    return _closeness(of, rbar, y, drift, rt, rho_printed(rt, len(rt)))


@statement("Lemma 4.1, with t", f"{LEMMA}, property 2 with t for T (our reading, E13)")
def lemma_4_1_with_t(rbar: Any, y: Any, drift: Any, rt: Any) -> Check:
    """(1 / t) sum (r-bar_tau - y_tau) <= rho(t) + 2 Delta_t if Delta_t <= rho(t) / 2, with rho(t) = 2 rt(t) + 3 sqrt(ln(2 T) / t), our reading of T as t.

    It is false for policies whose regret occurs late (E13). Arguments as for ``lemma_4_1_closeness``.
    """
    with_t = rho_printed(rt, len(rt), np.arange(1, len(rt) + 1))
    return _closeness(lemma_4_1_with_t.statement, rbar, y, drift, rt, with_t)
