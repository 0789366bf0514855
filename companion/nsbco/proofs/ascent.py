"""Statements along runs of Algorithm 2: queries, estimates, contraction, regret, Lemma 3.1 and Definition 2.1.

Up to "Regret, noise-free" all but "Gradient error" hold on every run, so one violation means an error. "Gradient error" fails
in a trial with probability 4 d S / (d T)^2 at most, so that a violation means an error there, too. Lemma 3.1 and Definition 2.1
hold with a probability. With the theory's constants it is so close to 1 that a trial in which they fail means an error
(``delta`` None); with calibrated constants they are judged by coverage. A bound that no rewards in [-1, 1] could break in any
round is ``Vacuous``; what a learner adds to the rewards may break it all the same. Names are ours where no number is cited.
Source: Wang (2025), Algorithm 2, Definition 2.1, Lemma 3.1 and its proof.
Letters: as in ``constants``; R trials, T rounds, E completed epochs, f*_t the largest value of f_t, Delta_t short for Delta_[1,t].
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch

from paperlib.checks import Check, Statement, statement, unless
from paperlib.maths.informative import informative_from
from paperlib.nsbco.model.task import Task
from paperlib.nsbco.theory import constants as theory
from paperlib.nsbco.theory.bounds import distances
from paperlib.nsbco.theory.constants import PAPER, ROUNDING, TRIVIAL, Setting, Weak

PROOF = f"{PAPER}, proof of Lemma 3.1"
FAR = 10**40  # largest round to look for


def series(**named: Any) -> list[np.ndarray]:
    """Return series of every round as arrays R x T.

    Raises:
        ValueError: one of another shape than the first.
    """
    first, arrays = next(iter(named)), [np.asarray(x, float) for x in named.values()]
    for name, x in zip(named, arrays):
        if x.ndim != 2 or x.shape != arrays[0].shape:
            allowed = f"R x T, as {first} has {arrays[0].shape}: every round of every trial"
            raise ValueError(f"{name}: shape {x.shape}; allowed: {allowed}")
    return arrays


def variation(drift: Any, horizon: int) -> np.ndarray:
    """Return Delta_t for t = 1, ..., T, 1 x T or R x T. ``drift``: Delta(tau) of each step, a number, T - 1 or R x (T - 1).

    Raises:
        ValueError: another shape.
    """
    step = np.atleast_2d(np.asarray(drift, float))
    if step.shape[1] not in (1, horizon - 1):
        allowed = f"a number, {horizon - 1} numbers, or a row of them for each trial"
        raise ValueError(f"drift: shape {step.shape}; allowed: {allowed}")
    step = np.broadcast_to(step, (len(step), horizon - 1))
    return np.pad(step.cumsum(1), ((0, 0), (1, 0)))


def printed_first(margin: float) -> int:
    """Return N_0 = ceil(c_0^-2) + 1, as Lemma 3.1 has it (E1)."""
    return math.ceil(margin**-2 - 1e-12) + 1


# The run that the rewards lead to -------------------------------------------------------------------------


class Replay(NamedTuple):
    """Points, estimates and optimistic values of a run of Algorithm 2 alone."""

    x: np.ndarray  # R x T x d, queries
    z: np.ndarray  # R x (E + 1) x d, centers z_0, ..., z_E
    g: np.ndarray  # R x E x d, estimated gradients at them
    ends: np.ndarray  # E, rounds after which an epoch was complete
    rbar: np.ndarray  # R x T

    def at_ends(self, series: np.ndarray) -> np.ndarray:
        """Return what was recorded after the rounds that completed an epoch, R x E x .... ``series``: R x T x ..., every round."""
        return series[:, self.ends - 1]


def replay(y: np.ndarray, task: Task, s: Setting, bonus: float = 2.0, clip: bool = True) -> Replay:
    """Recompute a run of Algorithm 2 from its rewards, without the learner.

    Args:
        y: rewards of every round, R x T, of a run that began at 0 and completed an epoch.
        task: its set and margin, for P.
        s: L, q, h and N_0.
        bonus: b_0.
        clip: whether r-bar is at most 1.
    """
    (R, T), d = y.shape, s.dim
    z, x = np.zeros((R, d)), np.empty((R, T, d))
    centers, gradients, ends = [z], [], []
    t = 0
    while t < T:
        n, delta, g = s.length(len(ends)), s.width(len(ends)), np.zeros((R, d))
        for j in range(d):
            last = min(t + 2 * n, T)
            sign = 1.0 - 2.0 * (np.arange(last - t) % 2)  # + first
            x[:, t:last] = z[:, None]
            x[:, t:last, j] += sign * delta
            g[:, j] = (y[:, t:last] * sign).sum(1) / (2 * delta * n)
            t = last
        if t < s.rounds_before_step(len(centers)):
            break  # the last epoch is not complete
        z = task.inside(torch.from_numpy(z + g / s.smoothness)).numpy()
        centers.append(z)
        gradients.append(g)
        ends.append(t)
    rounds = np.arange(1, T + 1)
    rbar = y.cumsum(1) / rounds + bonus / np.sqrt(rounds)
    rbar = np.minimum(rbar, 1.0) if clip else rbar
    return Replay(x, np.stack(centers, 1), np.stack(gradients, 1), np.array(ends), rbar)


# What Algorithm 2 does ------------------------------------------------------------------------------------


@statement("Algorithm 2, queries", f"{PAPER}, Algorithm 2")
def queries(x: Any, run: Replay) -> Check:
    """x_t = z_s +- delta_s e_j with the z_s that the answers lead to.

    Flags signs, factors, lengths, widths and steps.

    ``x``: R x T x d.
    """
    return queries.statement.check(
        "||x_t - (z_s +- delta_s e_j)|| <= 1e-9",
        {"epochs": len(run.ends)},
        np.linalg.norm(x - run.x, axis=2),
        ROUNDING,
    )


@statement("Algorithm 2, r-bar", f"{PAPER}, Algorithm 2")
def optimistic_value(rbar: Any, run: Replay) -> Check:
    """r-bar_t = (y_1 + ... + y_t) / t + b_0 / sqrt(t), at most 1 where clipped.

    Flags a round too early and another bonus.

    ``rbar``: R x T.
    """
    (rbar,) = series(rbar=rbar)
    formula = "|r-bar_t - (mean of y + b_0 / sqrt(t))| <= 1e-9"
    return optimistic_value.statement.check(formula, {}, np.abs(rbar - run.rbar), ROUNDING)


@statement("Algorithm 2, feasibility", f"{PROOF}, with N_0 corrected")
def feasibility(x: Any, z: Any, task: Task) -> Check:
    """x_t lies in X and z_s in X^o(c_0), up to 1e-9.

    Flags the printed N_0 (E1).

    ``x``, ``z``: ... x d.
    """
    return feasibility.statement.check(
        "dist(x_t, X), dist(z_s, X^o(c_0)) <= 1e-9",
        {},
        np.append(distances(x, task, task.cset.project), distances(z, task, task.inside)),
        ROUNDING,
    )


@statement("Gradient error", f"{PROOF}, Eq. (9), corrected")
def gradient_error(g: Any, gradients: Any, s: Setting, horizon: int) -> Check:
    """||g_s - grad f_1(z_s)|| <= sqrt(d) (Delta / delta_s + 2 a sqrt(l / n_s) / delta_s + bias).

    Flags wrong signs, factors and widths.

    Vacuous while n_s <= l, unless there is no noise: without Hoeffding's inequality a mean is off by 2 a at most.

    Args:
        g: the learner's estimates, R x E x d.
        gradients: of f_1 at its centers, R x E x d.
        s: its noise and whether differences have a bias.
        horizon: T, in l = ln(d T).
    """
    error = np.linalg.norm(g - gradients, axis=2)
    epochs, l = range(error.shape[1]), s.logarithm(horizon)
    bound = np.array([theory.gradient_error(s, horizon, i) for i in epochs])
    informs = [i for i in epochs if s.noise == 0 or s.length(i) > l]
    check = gradient_error.statement.check(
        "||g_s - grad f_1(z_s)|| <= sqrt(d) (Delta / delta + 2 a sqrt(l / n) / delta + bias)",
        {"T": horizon, "a": s.noise, "epochs that inform": informs},
        error,
        bound + ROUNDING,
    )
    return unless(bool(informs), check)


@statement("Contraction", f"{PROOF}, Eq. (10), corrected")
def contraction(z: Any, star: Any, g: Any, gradients: Any, s: Setting) -> Check:
    """||z_{s+1} - x*_1|| <= q ||z_s - x*_1|| + ||g_s - grad f_1(z_s)|| / L.

    Flags steps that are too long or go down.

    Holds for any f_1 that is L-smooth and sigma-concave, whatever the errors. One that moves less than it should, but
    still by q, or that jumps to x*_1, is not seen: see "Algorithm 2, queries".

    Args:
        z: the learner's centers, R x (E + 1) x d.
        star: x*_1, d numbers.
        g: estimates from its answers (``Replay.g``), R x E x d.
        gradients: of f_1 at its centers, R x E x d.
    """
    far = np.linalg.norm(z - star, axis=2)
    error = np.linalg.norm(g - gradients, axis=2)
    return contraction.statement.check(
        "||z_{s+1} - x*|| <= q ||z_s - x*|| + ||g_s - grad f_1(z_s)|| / L",
        {"q": s.q, "L": s.smoothness},
        far[:, 1:],
        s.q * far[:, :-1] + error / s.smoothness + ROUNDING,
    )


@statement("Contraction, exact", f"{PROOF}, of f with Hessian -sigma I, without noise")
def contraction_exact(z: Any, star: Any, s: Setting) -> Check:
    """||z_{s+1} - x*|| = q ||z_s - x*|| without noise where the Hessian is -sigma I.

    Flags every other step.

    ``z``, ``star``: as there.
    """
    far = np.linalg.norm(z - star, axis=2)
    return contraction_exact.statement.check(
        "| ||z_{s+1} - x*|| - q ||z_s - x*|| | <= 1e-12",
        {"q": s.q},
        np.abs(far[:, 1:] - s.q * far[:, :-1]),
        1e-12,
    )


# Regret ---------------------------------------------------------------------------------------------------


@statement("Regret adds up", f"{PAPER}, Eq. (1)")
def regret_adds_up(regret: Any, best: Any, values: Any) -> Check:
    """R_t = sum f*_tau - f_tau(x_tau), of which no term is below 0.

    Flags f* that is no maximum and rounds that are lost.

    Args:
        regret: cumulative, R x T, every round.
        best: f*_t, broadcasts against R x T.
        values: f_t(x_t) computed anew from what was played, R x T.
    """
    regret, values = series(regret=regret, values=values)
    gap = np.asarray(best, float) - values
    off = np.abs(regret - gap.cumsum(1)) / np.arange(1, regret.shape[1] + 1)
    return regret_adds_up.statement.check(
        "|R_t - sum (f* - f(x))| <= 1e-9 t, f*_t - f_t(x_t) >= -1e-12",
        {"T": regret.shape[1]},
        np.stack([off, -gap], 2),
        [ROUNDING, 1e-12],
    )


def noise_free_regret(s: Setting, offset: Any, horizon: int) -> np.ndarray:
    """Return the cumulative regret of Algorithm 2 without noise or drift where the Hessian is -sigma I, T numbers.

    z_s = x* - q^s offset; a pair of rounds costs sigma (||z_s - x*||^2 + delta_s^2), its first half half of it minus
    sigma delta_s times a coordinate of x* - z_s. At the ends of epochs it is the sum of
    2 d n_s (sigma / 2) (||offset||^2 q^{2s} + delta_s^2).

    Args:
        offset: x* - z_0, d numbers.
        horizon: T.
    """
    offset, parts = np.asarray(offset, float), []
    played = epoch = 0
    while played < horizon:
        n, delta, away = s.length(epoch), s.width(epoch), s.q**epoch * offset
        last = min(2 * s.dim * n, horizon - played)
        i = np.arange(last)
        sign = 1.0 - 2.0 * (i % 2)
        even = s.concavity / 2 * (away @ away + delta**2)
        parts.append(even - s.concavity * sign * delta * away[i // (2 * n)])
        played, epoch = played + last, epoch + 1
    return np.concatenate(parts).cumsum()


@statement("Regret, noise-free", "ours, of Algorithm 2 where the Hessian is -sigma I")
def noise_free(regret: Any, offset: Any, s: Setting) -> Check:
    """Without noise and drift Algorithm 2's regret is the closed form of ``noise_free_regret``, in every round.

    Flags every other step, width and length.

    Args:
        regret: cumulative, R x T, every round.
        offset: x* - z_0, d numbers.
    """
    t = np.arange(1, regret.shape[1] + 1)
    return noise_free.statement.check(
        "|R_t - closed form| <= 1e-9 t",
        {"T": len(t)},
        np.abs(regret - noise_free_regret(s, offset, len(t))),
        ROUNDING * t,
    )


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
    """Check |sum (y - f*_1)| against a bound, in the rounds with Delta_t <= 1 / sqrt(t) or ``everywhere``.

    Args:
        bound: of horizon T and rounds t.
        bonus: b_0 of horizon T.
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
    return unless(bool(informs.any()), check)


@statement("Lemma 3.1, corrected", f"{PAPER}, Lemma 3.1, corrected")
def lemma_3_1(y: Any, best: Any, drift: Any, s: Setting) -> Check:
    """While Delta_t <= 1 / sqrt(t): |sum (y_tau - f*_1)| <= sqrt(t) B_0(t), in all rounds but with probability 2 (T + 2 d S) / (d T)^2.

    Vacuous below T = 8e11 in the paper's units.

    Args:
        y: answers, R x T.
        best: f*_1.
        drift: Delta(tau), see ``variation``.
        s: the learner's.
    """
    bound = lambda T, t: np.sqrt(t) * theory.bonus_corrected(s, T, t)
    bonus = lambda T: float(theory.bonus_corrected(s, T))
    return _deviation(lemma_3_1.statement, y, best, drift, s, bound, bonus)


@statement("Lemma 3.1, numeric", f"{PAPER}, Lemma 3.1, corrected and computed")
def lemma_3_1_numeric(y: Any, best: Any, drift: Any, s: Setting) -> Check:
    """|sum (y_tau - f*_1)| <= ``constants.deviation`` with Delta_t itself, in all rounds, with the same probability.

    Flags a learner that does not climb.

    It informs at the sizes run once ``s`` has the noise, curvature and start of the problem. Arguments as for ``lemma_3_1``.
    """
    of, bonus = lemma_3_1_numeric.statement, lambda T: theory.bonus_numeric(s, T)
    bound = lambda T, t: theory.deviation(s, T, t, variation(drift, T))
    return _deviation(of, y, best, drift, s, bound, bonus, everywhere=True)


@statement("Lemma 3.1, printed", f"{PAPER}, Lemma 3.1, Eq. (21)")
def lemma_3_1_printed(y: Any, best: Any, drift: Any, s: Setting) -> Check:
    """While Delta_t <= 1 / sqrt(t): |sum (y_tau - f*_1)| <= 2 kappa_0 sqrt(t): vacuous below T = 3e21. Arguments as for ``lemma_3_1``."""
    bonus = lambda T: 2 * sum(theory.kappa_0(s, T))
    bound = lambda T, t: bonus(T) * np.sqrt(t)
    return _deviation(lemma_3_1_printed.statement, y, best, drift, s, bound, bonus)


# Definition 2.1 -------------------------------------------------------------------------------------------


def first_round(informs: np.ndarray) -> int | None:
    """Return the first round in which a statement informs in some trial, None: in none. ``informs``: R x T bool."""
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
    """Check R x T numbers against a bound in the rounds ``inside``, vacuous if they inform in none. ``more``: of the check."""
    inside = np.broadcast_to(inside, observed.shape)
    informs = inside & informs
    shares = {"rounds in the regime": inside, "rounds that inform": informs}
    inputs = inputs | {name: float(rounds.mean()) for name, rounds in shares.items()}
    more = {"informative_from": first_round(informs), "trivial": TRIVIAL} | more
    check = of.check(formula, inputs, observed, np.where(inside, bound, np.inf), **more)
    return unless(bool(informs.any()), check)


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
    """Check r-bar_t >= min f* - lambda Delta_t, both plus 1, in the rounds ``inside``; ``bonus``: T, what r-bar adds to the mean."""
    best = np.broadcast_to(np.asarray(best, float), rbar.shape)
    low = np.minimum.accumulate(best, 1) - lam * moved
    informs = low > bonus - 1  # else no rewards could break it
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
    """Check (1 / t) sum (r-bar - y) <= rho + lambda Delta_t in the rounds ``inside``; ``most``: T, what it is with any answers."""
    rbar, y = series(rbar=rbar, y=y)
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
    """While Delta_t <= rho(t) / lambda: r-bar_t >= min_{tau <= t} f*_tau - lambda Delta_t, in all rounds of a trial.

    Flags a learner that does not climb, and a bonus left out.

    Args:
        rbar: R x T, every round.
        best: f*_t, broadcasts against R x T.
        drift: Delta(tau), see ``variation``.
        weak: b_0, rho and lambda.
        delta: share of trials in which it may fail; None: none.
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
    """While Delta_t <= rho(t) / lambda: (1 / t) sum (r-bar_tau - y_tau) <= rho(t) + lambda Delta_t, in all rounds of a trial.

    Flags rewards that fall behind earlier ones, and twice the bonus.

    Args:
        rbar, y: R x T, every round.
        drift, weak, delta: as for ``optimism``.
        clip: whether r-bar is at most 1; where not, answers account for 2 of the left side and bonuses for the rest.
    """
    t, moved, inside, inputs = _regime(y, drift, weak)
    most = TRIVIAL + (0.0 if clip else (weak.bonus / np.sqrt(t)).cumsum() / t)
    alone = lambda t: 0.0 if clip else weak.bonus * (2 - 1.46 / math.sqrt(t))  # of bonuses, about
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
