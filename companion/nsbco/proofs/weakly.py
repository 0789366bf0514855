"""Statements that make Algorithm 2 weakly non-stationary: Lemma 3.1 and the two properties of Definition 2.1.

They hold with a probability; with the theory's constants theirs is so close to 1 that a trial in which they fail means an
error (``delta`` None), with calibrated ones they are judged by coverage. Where no answers in [-1, 1] could break a bound in
any round it is ``Vacuous``; what a learner adds to the answers it may break all the same.
Source: Wang (2025), Definition 2.1, Lemma 3.1.
Letters: as in ``constants``; R trials, T rounds, f*_t the largest value of f_t, Delta_t short for Delta_[1,t].
"""

import math
from typing import Any

import numpy as np

from paperlib.checks import Check, Statement, informative_from, statement, unless
from paperlib.nsbco.theory import constants as theory
from paperlib.nsbco.theory.constants import PAPER, TRIVIAL, Setting, Weak, first_horizon

from .lemmas import series, variation

FAR = 10**40  # largest round to look for


# Lemma 3.1 ------------------------------------------------------------------------------------------------


def _deviation(
    of: Statement, y: Any, best: Any, bound: Any, inside: Any, s: Setting, first: Any
) -> Check:
    """|sum (y - f*_1)| against a bound in the rounds ``inside``. ``first``: b_0 over sqrt(T), of a horizon T."""
    (y,) = series(y=y)
    best, t = np.asarray(best, float), np.arange(1, y.shape[1] + 1)
    inside = np.broadcast_to(inside, y.shape)
    informs = (inside & (bound < t * (1 + np.abs(best)))).any(0)
    start = float(informs.argmax() + 1) if informs.any() else first_horizon(first, TRIVIAL)
    inputs = {"d": s.dim, "T": y.shape[1], "N_0": s.first, "h": s.h, "a": s.noise}
    found = of.check(
        "|sum_{tau <= t} (y_tau - f*_1)| <= sqrt(t) b_0",
        inputs | {"rounds in the regime": float(inside.mean())},
        np.abs((y - best).cumsum(1)),
        np.where(inside, bound, np.inf),
        trivial=TRIVIAL * y.shape[1],
        informative_from=None if math.isinf(start) else math.ceil(start),
    )
    return unless(bool(informs.any()), found)


def _weakly(y: Any, drift: Any) -> np.ndarray:
    """Delta_t <= 1 / sqrt(t), 1 x T or R x T."""
    T = np.shape(y)[1]
    return variation(drift, T) <= np.arange(1, T + 1) ** -0.5


@statement("Lemma 3.1, corrected", f"{PAPER}, Lemma 3.1, corrected")
def lemma_3_1(y: Any, best: Any, drift: Any, s: Setting) -> Check:
    """While Delta_t <= 1 / sqrt(t): |sum (y_tau - f*_1)| <= sqrt(t) B_0(t), in all rounds but with probability 2 (T + 2 d S) / (d T)^2.

    Vacuous below T = 8e11 in the paper's units.

    Args:
        y: answers, R x T.
        best: f*_1, a number or R x 1.
        drift: Delta(tau), see ``variation``.
        s: the learner's.
    """
    T = np.shape(y)[1]
    t = np.arange(1, T + 1)
    bound = np.sqrt(t) * theory.bonus_corrected(s, T, t)
    first = lambda T: float(theory.bonus_corrected(s, T)) / math.sqrt(T)
    return _deviation(lemma_3_1.statement, y, best, bound, _weakly(y, drift), s, first)


@statement("Lemma 3.1, numeric", f"{PAPER}, Lemma 3.1, corrected and computed")
def lemma_3_1_numeric(y: Any, best: Any, drift: Any, s: Setting) -> Check:
    """|sum (y_tau - f*_1)| <= ``constants.deviation`` with Delta_t itself, in all rounds, with the same probability.

    Flags a learner that does not climb.

    It informs at the sizes run once ``s`` has the noise, curvature and start of the problem. Arguments as for ``lemma_3_1``.
    """
    T = np.shape(y)[1]
    bound = theory.deviation(s, T, np.arange(1, T + 1), variation(drift, T))
    first = lambda T: theory.bonus_numeric(s, T) / math.sqrt(T)
    return _deviation(lemma_3_1_numeric.statement, y, best, bound, True, s, first)


@statement("Lemma 3.1, printed", f"{PAPER}, Lemma 3.1, Eq. (21)")
def lemma_3_1_printed(y: Any, best: Any, drift: Any, s: Setting) -> Check:
    """While Delta_t <= 1 / sqrt(t): |sum (y_tau - f*_1)| <= 2 kappa_0 sqrt(t): vacuous below T = 3e21. Arguments as for ``lemma_3_1``."""
    T = np.shape(y)[1]
    bound = 2 * sum(theory.kappa_0(s, T)) * np.sqrt(np.arange(1, T + 1))
    first = lambda T: 2 * sum(theory.kappa_0(s, T)) / math.sqrt(T)
    return _deviation(lemma_3_1_printed.statement, y, best, bound, _weakly(y, drift), s, first)


# Definition 2.1 -------------------------------------------------------------------------------------------


def first_round(informs: np.ndarray) -> int | None:
    """The first round in which a statement informs in some trial, None: in none. ``informs``: R x T bool."""
    rounds = informs.any(0)
    return int(rounds.argmax()) + 1 if rounds.any() else None


def _judged(
    of: Statement,
    formula: str,
    observed: np.ndarray,
    bound: np.ndarray,
    informs: np.ndarray,
    inside: Any,
    **more: Any,
) -> Check:
    """R x T numbers against a bound in the rounds ``inside``, vacuous if they inform in none. ``more``: of the check."""
    inside = np.broadcast_to(inside, observed.shape)
    informs = inside & informs
    inputs = more.pop("inputs") | {
        "rounds in the regime": float(inside.mean()),
        "rounds that inform": float(informs.mean()),
    }
    more = {"informative_from": first_round(informs), "trivial": TRIVIAL} | more
    found = of.check(formula, inputs, observed, np.where(inside, bound, np.inf), **more)
    return unless(bool(informs.any()), found)


def from_below(
    of: Statement,
    rbar: Any,
    best: Any,
    moved: Any,
    lam: float,
    bonus: Any,
    inside: Any,
    **more: Any,
) -> Check:
    """r-bar_t >= min f* - lambda Delta_t, both plus 1, in the rounds ``inside``; ``bonus``: T, what r-bar adds to the mean."""
    (rbar,) = series(rbar=rbar)
    low = np.minimum.accumulate(np.broadcast_to(np.asarray(best, float), rbar.shape), 1)
    low = low - lam * moved
    informs = low > bonus - 1  # else no answers could break it
    formula = "1 + min_{tau <= t} f*_tau - lambda Delta_[1,t] <= 1 + r-bar_t"
    return _judged(of, formula, 1 + low, 1 + rbar, informs, inside, **more)


def from_above(
    of: Statement,
    rbar: Any,
    y: Any,
    moved: Any,
    rho: Any,
    lam: float,
    most: Any,
    inside: Any,
    **more: Any,
) -> Check:
    """(1 / t) sum (r-bar - y) <= rho + lambda Delta_t in the rounds ``inside``; ``most``: T, what it is with any answers."""
    rbar, y = series(rbar=rbar, y=y)
    bound = rho + lam * np.broadcast_to(moved, y.shape)
    observed = (rbar - y).cumsum(1) / np.arange(1, y.shape[1] + 1)
    formula = "(1 / t) sum_{tau <= t} (r-bar_tau - y_tau) <= rho(t) + lambda Delta_[1,t]"
    return _judged(of, formula, observed, bound, bound < most, inside, **more)


def _regime(shape: Any, drift: Any, weak: Weak) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict]:
    """t, Delta_t, whether Delta_t <= rho(t) / lambda, and what entered."""
    t, moved = np.arange(1, shape[1] + 1), variation(drift, shape[1])
    inputs = {"T": shape[1], "b_0": weak.bonus, "rho(1)": weak.rho, "lambda": weak.lam}
    return t, moved, moved <= weak.rho / weak.lam / np.sqrt(t), inputs


@statement("Definition 2.1, optimism", f"{PAPER}, Definition 2.1 (1)")
def optimism(rbar: Any, best: Any, drift: Any, weak: Weak, delta: float | None = None) -> Check:
    """While Delta_t <= rho(t) / lambda: r-bar_t >= min_{tau <= t} f*_tau - lambda Delta_t, in all rounds of a trial.

    Flags a learner that does not climb, and a bonus left out.

    Args:
        rbar: R x T, every round.
        best: f*_t, broadcasts against R x T.
        drift: Delta(tau), see ``variation``.
        weak: b_0, rho and lambda.
        delta: share of trials in which it may fail; None: none.
    """
    t, moved, inside, inputs = _regime(np.shape(rbar), drift, weak)
    first = informative_from(lambda t: weak.bonus / math.sqrt(t), lambda t: TRIVIAL, FAR)
    more = {"delta": delta, "informative_from": first, "inputs": inputs}
    bonus = weak.bonus / np.sqrt(t)
    return from_below(optimism.statement, rbar, best, moved, weak.lam, bonus, inside, **more)


@statement("Definition 2.1, closeness", f"{PAPER}, Definition 2.1 (2), its index corrected (E15)")
def closeness(
    rbar: Any, y: Any, drift: Any, weak: Weak, delta: float | None = None, clip: bool = True
) -> Check:
    """While Delta_t <= rho(t) / lambda: (1 / t) sum (r-bar_tau - y_tau) <= rho(t) + lambda Delta_t, in all rounds of a trial.

    Flags rewards that fall behind earlier ones, and twice the bonus.

    Args:
        rbar, y: R x T, every round.
        drift, weak, delta: as for ``optimism``.
        clip: whether r-bar is at most 1; where not, answers account for 2 of the left side and bonuses for the rest.
    """
    t, moved, inside, inputs = _regime(np.shape(y), drift, weak)
    most = TRIVIAL + (0.0 if clip else (weak.bonus / np.sqrt(t)).cumsum() / t)
    alone = lambda t: 0.0 if clip else weak.bonus * (2 - 1.46 / math.sqrt(t))  # of bonuses, about
    trivial = lambda t: TRIVIAL + alone(t) / math.sqrt(t)
    first = informative_from(lambda t: weak.rho / math.sqrt(t), trivial, FAR)
    more = {"delta": delta, "informative_from": first, "inputs": inputs}
    rho = weak.rho / np.sqrt(t)
    return from_above(closeness.statement, rbar, y, moved, rho, weak.lam, most, inside, **more)
