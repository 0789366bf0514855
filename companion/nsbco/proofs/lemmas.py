"""Statements along a run of Algorithm 2: what it plays, how good its estimates are, and how it contracts.

All but "Gradient error" hold on every run, so one violation means an error; that one fails in a trial with probability
4 d S / (d T)^2 at most, so that it means an error there, too. Names are ours where no number is cited.
Source: Wang (2025), Algorithm 2, proof of Lemma 3.1.
Letters: as in ``constants``; R trials, T rounds, E epochs, Delta_t short for Delta_[1,t].
"""

import math
from typing import Any

import numpy as np

from paperlib.checks import Check, statement, unless
from paperlib.nsbco.model.task import Task
from paperlib.nsbco.theory import constants as theory
from paperlib.nsbco.theory.bounds import distances
from paperlib.nsbco.theory.constants import PAPER, ROUNDING, Setting

from .replay import Replay

PROOF = f"{PAPER}, proof of Lemma 3.1"


def series(**named: Any) -> list[np.ndarray]:
    """Series of every round as R x T.

    Raises:
        ValueError: one of another shape than the first.
    """
    found = {name: np.asarray(x, float) for name, x in named.items()}
    name, first = next(iter(found.items()))
    for other, x in found.items():
        if x.ndim != 2 or x.shape != first.shape:
            allowed = f"R x T, as {name} has {first.shape}: every round of every trial"
            raise ValueError(f"{other}: shape {x.shape}; allowed: {allowed}")
    return list(found.values())


def variation(drift: Any, horizon: int) -> np.ndarray:
    """Delta_t for t = 1, ..., T, 1 x T or R x T. ``drift``: Delta(tau) of each step, a number, T - 1 or R x (T - 1)."""
    step = np.atleast_2d(np.asarray(drift, float))
    if step.shape[1] not in (1, horizon - 1):
        allowed = f"a number, {horizon - 1} numbers, or a row of them for each trial"
        raise ValueError(f"drift: shape {step.shape}; allowed: {allowed}")
    step = np.broadcast_to(step, (len(step), horizon - 1))
    return np.concatenate([np.zeros((len(step), 1)), step.cumsum(1)], 1)


def printed_first(margin: float) -> int:
    """N_0 = ceil(c_0^-2) + 1, as Lemma 3.1 has it (E1)."""
    return math.ceil(margin**-2 - 1e-12) + 1


# What Algorithm 2 does ------------------------------------------------------------------------------------


@statement("Algorithm 2, queries", f"{PAPER}, Algorithm 2")
def queries(x: Any, run: Replay) -> Check:
    """x_t = z_s +- delta_s e_j with the z_s that the answers lead to.

    Flags signs, factors, lengths, widths and steps.

    ``x``: R x T x d.
    """
    away = np.linalg.norm(np.asarray(x, float) - run.x, axis=2)
    formula = "||x_t - (z_s +- delta_s e_j)|| <= 1e-9"
    return queries.statement.check(formula, {"epochs": len(run.ends)}, away, ROUNDING)


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
    found = np.append(distances(x, task, task.cset.project), distances(z, task, task.inside))
    formula = "dist(x_t, X), dist(z_s, X^o(c_0)) <= 1e-9"
    return feasibility.statement.check(formula, {}, found, ROUNDING)


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
    error = np.linalg.norm(np.asarray(g, float) - np.asarray(gradients, float), axis=2)
    E, l = error.shape[1], s.logarithm(horizon)
    bound = [theory.gradient_error(s, horizon, i) for i in range(E)]
    informs = [i for i in range(E) if s.noise == 0 or s.length(i) > l]
    return unless(
        bool(informs),
        gradient_error.statement.check(
            "||g_s - grad f_1(z_s)|| <= sqrt(d) (Delta / delta + 2 a sqrt(l / n) / delta + bias)",
            {"T": horizon, "a": s.noise, "epochs that inform": informs},
            error,
            np.array(bound) + ROUNDING,
        ),
    )


def _far(z: Any, star: Any) -> np.ndarray:
    """Distances of the centers from x*_1, R x (E + 1). ``star``: d or R x d."""
    z, star = np.asarray(z, float), np.asarray(star, float)
    return np.linalg.norm(z - (star[:, None] if star.ndim == 2 else star), axis=2)


@statement("Contraction", f"{PROOF}, Eq. (10), corrected")
def contraction(z: Any, star: Any, g: Any, gradients: Any, s: Setting) -> Check:
    """||z_{s+1} - x*_1|| <= q ||z_s - x*_1|| + ||g_s - grad f_1(z_s)|| / L.

    Flags steps that are too long or go down.

    Holds for any f_1 that is L-smooth and sigma-concave, whatever the errors. One that moves less than it should, but
    still by q, or that jumps to x*_1, is not seen: see "Algorithm 2, queries".

    Args:
        z: the learner's centers, R x (E + 1) x d.
        star: x*_1, d or R x d.
        g: estimates from its answers (``Replay.g``), R x E x d.
        gradients: of f_1 at its centers, R x E x d.
    """
    far = _far(z, star)
    error = np.linalg.norm(np.asarray(g, float) - np.asarray(gradients, float), axis=2)
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
    far = _far(z, star)
    formula = "| ||z_{s+1} - x*|| - q ||z_s - x*|| | <= 1e-12"
    off = np.abs(far[:, 1:] - s.q * far[:, :-1])
    return contraction_exact.statement.check(formula, {"q": s.q}, off, 1e-12)


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
    """Cumulative regret of Algorithm 2 without noise or drift where the Hessian is -sigma I, T numbers.

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
    (regret,) = series(regret=regret)
    T = regret.shape[1]
    off = np.abs(regret - noise_free_regret(s, offset, T))
    formula = "|R_t - closed form| <= 1e-9 t"
    return noise_free.statement.check(formula, {"T": T}, off, ROUNDING * np.arange(1, T + 1))
