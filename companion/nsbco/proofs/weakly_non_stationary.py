"""Statements that Algorithm 2 is weakly non-stationary: Lemma 3.1 and the two properties of Definition 2.1.

The statements are true with a probability. With the constants of the theory it is so close to 1 that a failure in a trial means an
error (``delta`` None). With calibrated constants the statements are judged by their coverage. A bound that no rewards in [-1, 1]
could violate in any round is ``Vacuous``. However, the bonus that a learner adds to the rewards may still violate it.
Source: Wang (2025), Definition 2.1, Lemma 3.1.
Letters: as in ``constants``; R trials, T rounds, f*_t the largest value of f_t, Delta_t short for Delta_[1,t].
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from paperlib.checks import Check, Statement, informative_from, statement, vacuous_unless
from paperlib.nsbco.theory import constants as theory
from paperlib.nsbco.theory.constants import PAPER, TRIVIAL, Setting, Weak

from .ascent import variation

FAR = 10**40  # largest round of a search for the first informative round

# Lemma 3.1 ------------------------------------------------------------------------------------------------


def _deviation(
    of: Statement,
    y: Any,
    best: Any,
    drift: Any,
    s: Setting,
    bound: Callable[[int, np.ndarray], np.ndarray],
    bonus: Callable[[float], float],
    everywhere: bool = False,
) -> Check:
    """Check |sum (y - f*_1)| against a bound, in the rounds with Delta_t <= 1 / sqrt(t), or in all rounds if ``everywhere``.

    Args:
        of: statement of the check.
        y, best, drift, s: as for ``lemma_3_1``.
        bound: function of the horizon T and the rounds t.
        bonus: b_0 as a function of the horizon T.
        everywhere: whether all rounds are checked.
    """
    T = y.shape[1]
    t = np.arange(1, T + 1)
    most = bound(T, t)
    inside = np.broadcast_to(everywhere or variation(drift, T) <= t**-0.5, y.shape)
    informs = (inside & (most < t * (1 + np.abs(best)))).any(0)
    first = first_round(informs[None]) or theory.first_horizon(
        lambda T: bonus(T) / math.sqrt(T), TRIVIAL
    )
    regime = {"rounds in the regime": float(inside.mean())}
    check = of.check(
        "|sum_{tau <= t} (y_tau - f*_1)| <= sqrt(t) b_0",
        {"d": s.dim, "T": T, "N_0": s.first, "h": s.h, "a": s.noise} | regime,
        np.abs((y - best).cumsum(1)),
        np.where(inside, most, np.inf),
        trivial=TRIVIAL * T,
        informative_from=None if math.isinf(first) else math.ceil(first),
    )
    return vacuous_unless(bool(informs.any()), check)


@statement("Lemma 3.1, corrected", f"{PAPER}, Lemma 3.1, corrected")
def lemma_3_1(y: Any, best: Any, drift: Any, s: Setting) -> Check:
    """|sum (y_tau - f*_1)| <= sqrt(t) B_0(t) in all rounds with Delta_t <= 1 / sqrt(t), with probability at least 1 - 2 (T + 2 d S) / (d T)^2.

    Vacuous below T = 8e11 in the paper's units.

    Args:
        y: rewards, R x T.
        best: f*_1.
        drift: Delta(tau), see ``variation``.
        s: setting of the learner.
    """
    bound = lambda T, t: np.sqrt(t) * theory.bonus_corrected(s, T, t)
    bonus = lambda T: float(theory.bonus_corrected(s, T))
    return _deviation(lemma_3_1.statement, y, best, drift, s, bound, bonus)


@statement("Lemma 3.1, numeric", f"{PAPER}, Lemma 3.1, corrected and computed")
def lemma_3_1_numeric(y: Any, best: Any, drift: Any, s: Setting) -> Check:
    """|sum (y_tau - f*_1)| <= ``constants.deviation`` at Delta_t, in all rounds, with probability at least 1 - 2 (T + 2 d S) / (d T)^2.

    Flags a learner that does not ascend.

    The bound is non-vacuous at the sizes of our runs if ``s`` has the noise, curvature and start of the problem. Arguments as for
    ``lemma_3_1``.
    """
    of, bonus = lemma_3_1_numeric.statement, lambda T: theory.bonus_numeric(s, T)
    bound = lambda T, t: theory.deviation(s, T, t, variation(drift, T))
    return _deviation(of, y, best, drift, s, bound, bonus, everywhere=True)


@statement("Lemma 3.1, printed", f"{PAPER}, Lemma 3.1, Eq. (21)")
def lemma_3_1_printed(y: Any, best: Any, drift: Any, s: Setting) -> Check:
    """|sum (y_tau - f*_1)| <= 2 kappa_0 sqrt(t) in all rounds with Delta_t <= 1 / sqrt(t); vacuous below T = 3e21.

    Arguments as for ``lemma_3_1``.
    """
    bonus = lambda T: 2 * sum(theory.kappa_0(s, T))
    bound = lambda T, t: bonus(T) * np.sqrt(t)
    return _deviation(lemma_3_1_printed.statement, y, best, drift, s, bound, bonus)


# Definition 2.1 -------------------------------------------------------------------------------------------


def first_round(informs: np.ndarray) -> int | None:
    """Return the first round in which a statement is informative in some trial; None without one. ``informs``: R x T bool."""
    rounds = informs.any(0)
    return int(rounds.argmax()) + 1 if rounds.any() else None


def _judged(
    of: Statement,
    formula: str,
    observed: np.ndarray,
    bound: np.ndarray,
    informs: np.ndarray,
    inside: Any,
    inputs: dict,
    **more: Any,
) -> Check:
    """Check R x T numbers against a bound in the rounds ``inside``; vacuous if no such round is in ``informs``.

    ``more``: arguments of the check.
    """
    inside = np.broadcast_to(inside, observed.shape)
    informs = inside & informs
    shares = {"rounds in the regime": inside, "rounds that inform": informs}
    inputs = inputs | {name: float(rounds.mean()) for name, rounds in shares.items()}
    more = {"informative_from": first_round(informs), "trivial": TRIVIAL} | more
    check = of.check(formula, inputs, observed, np.where(inside, bound, np.inf), **more)
    return vacuous_unless(bool(informs.any()), check)


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
    """Check r-bar_t >= min f* - lambda Delta_t, both sides plus 1, in the rounds ``inside``. ``bonus``: T, bonus of r-bar over the mean."""
    best = np.broadcast_to(np.asarray(best, float), rbar.shape)
    low = np.minimum.accumulate(best, 1) - lam * moved
    informs = low > bonus - 1  # otherwise no rewards could violate the bound
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
    """Check (1 / t) sum (r-bar - y) <= rho + lambda Delta_t in the rounds ``inside``.

    ``most``: T, upper bound on the left side for any rewards.
    """
    bound = rho + lam * np.broadcast_to(moved, y.shape)
    observed = (rbar - y).cumsum(1) / np.arange(1, y.shape[1] + 1)
    formula = "(1 / t) sum_{tau <= t} (r-bar_tau - y_tau) <= rho(t) + lambda Delta_[1,t]"
    return _judged(of, formula, observed, bound, bound < most, inside, **more)


def _regime(rbar: Any, drift: Any, weak: Weak) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict]:
    """Return t, Delta_t, whether Delta_t <= rho(t) / lambda, and the inputs of the check."""
    T = np.shape(rbar)[1]
    t, moved = np.arange(1, T + 1), variation(drift, T)
    inputs = {"T": T, "b_0": weak.bonus, "rho(1)": weak.rho, "lambda": weak.lam}
    return t, moved, moved <= weak.rho / weak.lam / np.sqrt(t), inputs


@statement("Definition 2.1, optimism", f"{PAPER}, Definition 2.1 (1)")
def optimism(rbar: Any, best: Any, drift: Any, weak: Weak, delta: float | None = None) -> Check:
    """r-bar_t >= min_{tau <= t} f*_tau - lambda Delta_t in all rounds with Delta_t <= rho(t) / lambda.

    Flags a learner that does not ascend, and a missing bonus.

    Args:
        rbar: R x T, every round.
        best: f*_t, broadcasts against R x T.
        drift: Delta(tau), see ``variation``.
        weak: b_0, rho and lambda.
        delta: fraction of trials where the statement may fail; None: 0.
    """
    t, moved, inside, inputs = _regime(rbar, drift, weak)
    return from_below(
        optimism.statement,
        rbar,
        best,
        moved,
        weak.lam,
        weak.bonus / np.sqrt(t),
        inside,
        inputs=inputs,
        delta=delta,
        informative_from=informative_from(
            lambda t: weak.bonus / math.sqrt(t), lambda t: TRIVIAL, FAR
        ),
    )


@statement("Definition 2.1, closeness", f"{PAPER}, Definition 2.1 (2), its index corrected (E15)")
def closeness(
    rbar: Any, y: Any, drift: Any, weak: Weak, delta: float | None = None, clip: bool = True
) -> Check:
    """(1 / t) sum_{tau <= t} (r-bar_tau - y_tau) <= rho(t) + lambda Delta_t in all rounds with Delta_t <= rho(t) / lambda.

    Flags rewards that are lower than earlier ones, and twice the bonus.

    Args:
        rbar, y: R x T, every round.
        drift, weak, delta: as for ``optimism``.
        clip: whether r-bar is clipped at 1. If not, rewards contribute at most 2 to the left side, and the bonuses the rest.
    """
    t, moved, inside, inputs = _regime(y, drift, weak)
    most = TRIVIAL + (0.0 if clip else (weak.bonus / np.sqrt(t)).cumsum() / t)
    # approximate contribution of the bonuses
    alone = lambda t: 0.0 if clip else weak.bonus * (2 - 1.46 / math.sqrt(t))
    trivial = lambda t: TRIVIAL + alone(t) / math.sqrt(t)
    return from_above(
        closeness.statement,
        rbar,
        y,
        moved,
        weak.rho / np.sqrt(t),
        weak.lam,
        most,
        inside,
        inputs=inputs,
        delta=delta,
        informative_from=informative_from(lambda t: weak.rho / math.sqrt(t), trivial, FAR),
    )
