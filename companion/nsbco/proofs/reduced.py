"""Lemma 4.1: from a bound on the stationary regret to a weakly non-stationary algorithm, as printed and corrected.

With e(t) = 2 sqrt(ln(2 T) / t) and rt(t) the regret a round that a policy keeps below with high probability, the statistic
r-bar_t = mean of y + rt(t) + e(t) has both properties, in every round and whatever the variation; the printed rho does not.
Source: Wang (2025), Lemma 4.1.
Letters: as in ``reduction``; R trials, T rounds, K points, Delta_t short for Delta_[1,t].
"""

from typing import Any

import numpy as np

from paperlib.checks import Check, Statement, statement, unless
from paperlib.nsbco.theory.constants import PAPER, ROUNDING, TRIVIAL

from . import reduction
from .lemmas import series, variation
from .weakly import first_round, from_above, from_below

LEMMA = f"{PAPER}, Lemma 4.1"


def _rounds(rt: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """t, rt(t) and e(t), T each."""
    rt = np.asarray(rt, float)
    t = np.arange(1, len(rt) + 1)
    return t, rt, reduction.off(t, len(rt))


@statement(
    "Lemma 4.1, stationary regret", f"{LEMMA}, Eq. (27), with the factor t that it lacks (E13)"
)
def stationary_regret(played: Any, points: Any, rt: Any) -> Check:
    """max_x sum_{tau <= t} [f_tau(x) - f_tau(x_tau)] <= t rt(t), in every round: what the lemma asks of a policy, with probability 1 - O(T^{-2}).

    Args:
        played: f_t(x_t), R x T.
        points: f_t at all points of X, T x K or R x T x K.
        rt: T numbers.
    """
    (played,) = series(played=played)
    t, rt, _ = _rounds(rt)
    best = np.asarray(points, float).cumsum(-2).max(-1)
    found = stationary_regret.statement.check(
        "max_x sum f_tau(x) - f_tau(x_tau) <= t rt(t)",
        {"T": len(t)},
        best - played.cumsum(1),
        t * rt,
        trivial=TRIVIAL * len(t),
        informative_from=first_round((rt < TRIVIAL)[None]),
    )
    return unless(bool((rt < TRIVIAL).any()), found)


@statement("Lemma 4.1, statistic", f"{LEMMA}, with 2 sqrt(ln(2 T) / t) (E3)")
def lemma_4_1_statistic(rbar: Any, y: Any, rt: Any) -> Check:
    """r-bar_t = (y_1 + ... + y_t) / t + rt(t) + e(t).

    Flags the printed e, and a round too early.

    ``rbar``, ``y``: R x T; ``rt``: T.
    """
    rbar, y = series(rbar=rbar, y=y)
    t, rt, e = _rounds(rt)
    off = np.abs(rbar - (y.cumsum(1) / t + rt + e))
    formula = "|r-bar_t - (mean of y + rt(t) + e(t))| <= 1e-9"
    return lemma_4_1_statistic.statement.check(formula, {}, off, ROUNDING)


@statement("Lemma 4.1, optimism", f"{LEMMA}, property 1 with lambda = 1")
def lemma_4_1_optimism(rbar: Any, best: Any, drift: Any, rt: Any) -> Check:
    """r-bar_t >= min_{tau <= t} f*_tau - Delta_t, in every round.

    Flags a policy with more regret than rt, or rt left out.

    Args:
        rbar: R x T.
        best: f*_t, broadcasts against R x T.
        drift: Delta(tau), see ``lemmas.variation``.
        rt: T numbers.
    """
    t, rt, e = _rounds(rt)
    moved = variation(drift, len(t))
    of, inputs = lemma_4_1_optimism.statement, {"T": len(t), "lambda": 1.0}
    return from_below(of, rbar, best, moved, 1.0, rt + e, True, inputs=inputs)


def _closeness(
    of: Statement, rbar: Any, y: Any, drift: Any, rt: Any, rho: Any, everywhere: bool = False
) -> Check:
    """Property 2 with this rho, in the rounds with Delta_t <= rho(t) / 2 or ``everywhere``."""
    t, rt, e = _rounds(rt)
    moved = variation(drift, len(t))
    most = TRIVIAL + (rt + e).cumsum() / t
    inputs = {"T": len(t), "lambda": 2.0, "rho(T)": rho[-1]}
    inside = everywhere or moved <= rho / 2
    return from_above(of, rbar, y, moved, rho, 2.0, most, inside, inputs=inputs)


@statement("Lemma 4.1, closeness", f"{LEMMA}, property 2, corrected")
def lemma_4_1_closeness(rbar: Any, y: Any, drift: Any, rt: Any) -> Check:
    """(1 / t) sum (r-bar_tau - y_tau) <= rho(t) + 2 Delta_t with rho(t) = rt(t) + e(t) + (1 / t) sum [rt(tau) + 2 e(tau)], in every round (E13).

    Flags rewards that fall behind, and rt counted twice.

    ``rbar``, ``y``: R x T; the rest as for ``lemma_4_1_optimism``.
    """
    rho = reduction.rho(*_rounds(rt)[1:])
    return _closeness(lemma_4_1_closeness.statement, rbar, y, drift, rt, rho, everywhere=True)


@statement("Lemma 4.1, printed", f"{LEMMA}, property 2 as printed")
def lemma_4_1_printed(rbar: Any, y: Any, drift: Any, rt: Any) -> Check:
    """While Delta_t <= rho(t) / 2: the same with rho(t) = 2 rt(t) + 3 sqrt(ln(2 T) / T), which is false (E13). Arguments as for ``lemma_4_1_closeness``."""
    rho = reduction.rho_printed(rt, len(rt))
    return _closeness(lemma_4_1_printed.statement, rbar, y, drift, rt, rho)


@statement("Lemma 4.1, with t", f"{LEMMA}, property 2 with t for T (our reading, E13)")
def lemma_4_1_with_t(rbar: Any, y: Any, drift: Any, rt: Any) -> Check:
    """While Delta_t <= rho(t) / 2: the same with rho(t) = 2 rt(t) + 3 sqrt(ln(2 T) / t), our reading of T as t.

    It is false for policies whose regret comes late (E13). Arguments as for ``lemma_4_1_closeness``.
    """
    rho = reduction.rho_with_t(rt, len(rt))
    return _closeness(lemma_4_1_with_t.statement, rbar, y, drift, rt, rho)
