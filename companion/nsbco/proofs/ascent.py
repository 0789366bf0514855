"""Statements along runs of Algorithm 2: its queries, its estimates, its contraction, and its regret.

All statements but "Gradient error" are true on every run, so that one violation means an error. "Gradient error" fails in a trial
with probability at most 4 d S / (d T)^2, therefore a violation means an error there as well. We chose the names of statements
without a cited number.
Source: Wang (2025), Algorithm 2, proof of Lemma 3.1.
Letters: as in ``constants``; R trials, T rounds, E completed epochs, f*_t the largest value of f_t, Delta_t short for Delta_[1,t].
"""

import math
from typing import Any, NamedTuple

import numpy as np
import torch

from paperlib.checks import Check, statement, vacuous_unless
from paperlib.nsbco.model.task import Task
from paperlib.nsbco.theory import constants as theory
from paperlib.nsbco.theory.bounds import distances
from paperlib.nsbco.theory.constants import PAPER, ROUNDING, Setting

PROOF = f"{PAPER}, proof of Lemma 3.1"


def variation(drift: Any, horizon: int) -> np.ndarray:
    """Return Delta_t for t = 1, ..., T, 1 x T or R x T. ``drift``: Delta(tau) of each step, a number, T - 1 or R x (T - 1)."""
    step = np.atleast_2d(np.asarray(drift, float))
    step = np.broadcast_to(step, (len(step), horizon - 1))
    return np.pad(step.cumsum(1), ((0, 0), (1, 0)))


def printed_first(margin: float) -> int:
    """Return N_0 = ceil(c_0^-2) + 1 as printed in Lemma 3.1 (E1)."""
    return math.ceil(margin**-2 - 1e-12) + 1


# Recomputation from the rewards --------------------------------------------------------------------------


class Replay(NamedTuple):
    """Points, estimates and optimistic values of a run of Algorithm 2 alone."""

    x: np.ndarray  # R x T x d, queries
    z: np.ndarray  # R x (E + 1) x d, centers z_0, ..., z_E
    g: np.ndarray  # R x E x d, estimated gradients at the centers
    ends: np.ndarray  # E, rounds at the end of each complete epoch
    rbar: np.ndarray  # R x T

    def at_ends(self, series: np.ndarray) -> np.ndarray:
        """Return the entries of a series at the end of each epoch, R x E x ... ``series``: R x T x ..., every round."""
        return series[:, self.ends - 1]


def replay(y: np.ndarray, task: Task, s: Setting, bonus: float = 2.0, clip: bool = True) -> Replay:
    """Recompute a run of Algorithm 2 from its rewards, without the learner.

    Args:
        y: rewards of every round, R x T, of a run that started at 0 and completed an epoch.
        task: provides set and margin for the projection P.
        s: provides L, q, h and N_0.
        bonus: b_0.
        clip: whether r-bar is clipped at 1.
    """
    (R, T), d = y.shape, s.dim
    z, x = np.zeros((R, d)), np.empty((R, T, d))
    centers, gradients, ends = [z], [], []
    t = 0
    while t < T:
        n, delta, g = s.length(len(ends)), s.width(len(ends)), np.zeros((R, d))
        for j in range(d):
            last = min(t + 2 * n, T)
            sign = 1.0 - 2.0 * (np.arange(last - t) % 2)  # the first query of a pair has sign +
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


# Steps of Algorithm 2 -------------------------------------------------------------------------------------


@statement("Algorithm 2, queries", f"{PAPER}, Algorithm 2")
def queries(x: Any, run: Replay) -> Check:
    """x_t = z_s +- delta_s e_j in all rounds, with the center z_s recomputed from the rewards.

    Flags wrong signs, factors, lengths, widths and steps.

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
    """r-bar_t = (y_1 + ... + y_t) / t + b_0 / sqrt(t) in all rounds, clipped at 1 if the learner clips.

    Flags an r-bar that lacks the reward of the current round, and a wrong bonus.

    ``rbar``: R x T.
    """
    formula = "|r-bar_t - (mean of y + b_0 / sqrt(t))| <= 1e-9"
    return optimistic_value.statement.check(formula, {}, np.abs(rbar - run.rbar), ROUNDING)


@statement("Algorithm 2, feasibility", f"{PROOF}, with N_0 corrected")
def feasibility(x: Any, z: Any, task: Task) -> Check:
    """x_t is in X and z_s is in X^o(c_0), up to 1e-9.

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
    """||g_s - grad f_1(z_s)|| <= sqrt(d) (Delta / delta_s + 2 a sqrt(l / n_s) / delta_s + bias) in all epochs.

    Flags wrong signs, factors and widths.

    Vacuous for n_s <= l unless there is no noise, because the error of a mean is at most 2 a even without Hoeffding's inequality.

    Args:
        g: the learner's estimates, R x E x d.
        gradients: gradients of f_1 at the learner's centers, R x E x d.
        s: provides the noise, and whether differences have a bias.
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
    return vacuous_unless(bool(informs), check)


@statement("Contraction", f"{PROOF}, Eq. (10), corrected")
def contraction(z: Any, star: Any, g: Any, gradients: Any, s: Setting) -> Check:
    """||z_{s+1} - x*_1|| <= q ||z_s - x*_1|| + ||g_s - grad f_1(z_s)|| / L.

    Flags steps that are too long or go down.

    This is true for any f_1 that is L-smooth and sigma-concave and for any errors. The check does not detect a learner that
    moves less than it should but still contracts by q, or that jumps to x*_1. "Algorithm 2, queries" detects these.

    Args:
        z: the learner's centers, R x (E + 1) x d.
        star: x*_1, d numbers.
        g: estimates recomputed from the rewards (``Replay.g``), R x E x d.
        gradients: gradients of f_1 at the learner's centers, R x E x d.
        s: provides q and L.
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
    """||z_{s+1} - x*|| = q ||z_s - x*||, without noise and with Hessian -sigma I.

    Flags any other step.

    ``z``, ``star``: as for ``contraction``.
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
    """R_t = sum_{tau <= t} (f*_tau - f_tau(x_tau)) with all terms at least 0.

    Flags an f* that is not the maximum, and missing rounds.

    Args:
        regret: cumulative, R x T, every round.
        best: f*_t, broadcasts against R x T.
        values: f_t(x_t) recomputed from the actions, R x T.
    """
    gap = np.asarray(best, float) - values
    off = np.abs(regret - gap.cumsum(1)) / np.arange(1, regret.shape[1] + 1)
    return regret_adds_up.statement.check(
        "|R_t - sum (f* - f(x))| <= 1e-9 t, f*_t - f_t(x_t) >= -1e-12",
        {"T": regret.shape[1]},
        np.stack([off, -gap], 2),
        [ROUNDING, 1e-12],
    )


def noise_free_regret(s: Setting, offset: Any, horizon: int) -> np.ndarray:
    """Return the cumulative regret of Algorithm 2 without noise or drift and with Hessian -sigma I, T numbers.

    The centers are z_s = x* - q^s offset. The regret of a pair of rounds is sigma (||z_s - x*||^2 + delta_s^2). The regret of its
    first round is half of this minus sigma delta_s times a coordinate of x* - z_s. At the end of an epoch the cumulative regret
    is the sum over s of 2 d n_s (sigma / 2) (||offset||^2 q^{2s} + delta_s^2).

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
    """Without noise and drift and with Hessian -sigma I, Algorithm 2's regret equals the closed form of ``noise_free_regret`` in every round.

    Flags any other step, width and length.

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
