"""What follows from Theorem 2: two steps of its proof along a run, the order of the regret, and Tables 1 and 2.

Source: Zhang, Xu, Zhao & Sugiyama (2025).
Letters: as in ``constants``; kappa = 1 / c_mu over the ball, kappa_opt the paper's kappa_*.
"""

from typing import NamedTuple

import numpy as np
import torch

from paperlib import stats
from paperlib.checks import Check, statement
from paperlib.core.trace import Trace
from paperlib.glbomd.model.links import Link, kappa_ball
from paperlib.glbomd.theory.bounds import PAPER

from .replay import Replay


@statement("Theorem 2, curvature along the run", f"{PAPER}, proof of Theorem 2")
def curvature_along(run: Replay) -> Check:
    """sum mu'(X_s^T theta*) <= t / kappa_opt + R Reg_t: from |mu'(a) - mu'(b)| <= R |mu(a) - mu(b)|. In every run."""
    link, best = run.setting.link, run.best
    regret = (link.mean(best) - link.mean(run.true_z)).cumsum(1)
    bound = link.slope(best).cumsum(1) + link.self_concordance * regret
    observed = link.slope(run.true_z).cumsum(1)
    return curvature_along.statement.check(
        "sum mu'(X_s^T theta*) <= t / kappa_opt + R Reg_t", run.setting.describe(), observed, bound
    )


@statement("Theorem 2, optimism", f"{PAPER}, proof of Theorem 2, (35)")
def optimism(run: Replay, scale: float = 1.0) -> Check:
    """0 <= min(u_t, S) - X_t^T theta* <= 2 beta_t ||X_t||_{H_t^{-1}}, u_t the played arm's index.

    It follows where theta* is in the confidence set. The paper bounds mu' by C_mu at X_t^T theta~ with theta~ in
    that set, which may leave the ball; the minimum repairs it, and changes nothing in the algorithm (E15).

    Args:
        run: the run.
        scale: the learner's, which multiplies the radius.
    """
    setting = run.setting
    bonus = scale * torch.from_numpy(setting.radius(run.rounds.numpy())) * run.width2.sqrt()
    gap = (run.start_z + bonus).clamp(max=setting.norm_bound) - run.true_z
    observed = torch.stack([-gap, gap], -1)
    bound = torch.stack([torch.zeros_like(gap), 2 * bonus], -1)
    return optimism.statement.check(
        "0 <= min(u_t, S) - X_t^T theta* <= 2 beta_t ||X_t||_{H_t^-1}",
        setting.describe(),
        observed,
        bound,
    )


def leading_order(t: np.ndarray) -> np.ndarray:
    """sqrt(t) ln(1 + t): Theorem 2's leading term in the horizon, up to factors; 1 + t for a logarithm above 0."""
    t = np.asarray(t, float)
    return np.sqrt(t) * np.log1p(t)


@statement("Theorem 2, order", f"{PAPER}, Theorem 2")
def regret_order(trace: Trace) -> Check:
    """Regret grows no faster than Theorem 2's leading order, sqrt(t) ln(1 + t), over the last 90 % of the rounds.

    The slope of the log of the mean of regret / order on log t: the upper end of its bootstrap interval over trials
    has to be at most 0.
    """
    slope = stats.growth(trace.rounds, trace["regret"] / leading_order(trace.rounds))
    inputs = {"slope": slope.estimate, "trials": slope.n}
    return regret_order.statement.check(
        "slope of ln(Reg_t / (sqrt(t) ln(1 + t))) on ln t <= 0", inputs, slope.high, 0.0
    )


class Order(NamedTuple):
    """One line of a table: leading orders in the horizon T and the round t."""

    method: str
    regret: str
    time: str  # of a round
    memory: str
    joint: str  # whether it is jointly efficient: both cheap and with kappa_* for kappa


@statement("Table 1", f"{PAPER}, Table 1")
def table_1() -> tuple[Order, ...]:
    """Generalized linear bandits: regret and cost a round; kappa_* <= kappa makes the difference.

    The marks of the last column are our reading of the text. For RS-GLinCB we read Table 1 as no, because its
    memory grows and some of its rounds cost t (Section 3.2). However, Section 5 counts it among the jointly efficient methods.
    """
    fast, slow = "log T sqrt(T / kappa_*)", "kappa log T sqrt(T)"
    return (
        Order("GLM-UCB", "kappa (log T)^(3/2) sqrt(T)", "t", "t", "no"),
        Order("GLOC", slow, "1", "1", "no"),
        Order("OFUGLB", fast, "t", "t", "no"),
        Order("RS-GLinCB", fast, "(log t)^2, amortized", "t", "no"),
        Order("GLB-OMD", fast, "1", "1", "yes"),
    )


@statement("Table 2", f"{PAPER}, Table 2")
def table_2() -> tuple[Order, ...]:
    """Jointly efficient methods for logistic bandits: regret and cost a round."""
    return (
        Order("ECOLog", "log T sqrt(T / kappa_*)", "log t", "1", "yes"),
        Order("OFUL-MLogB", "(log T)^(3/2) sqrt(T / kappa_*)", "1", "1", "yes"),
        Order("GLB-OMD", "log T sqrt(T / kappa_*)", "1", "1", "yes"),
    )


@statement("Table 1, kappa", f"{PAPER}, caption of Table 1")
def table_1_kappa(link: Link, norm_bound: float, kappa_opt: float) -> Check:
    """kappa_* <= kappa: the slope at the best arms is at least the smallest over the ball. ``kappa_opt``: kappa_*."""
    inputs, kappa = {"link": type(link).__name__, "S": norm_bound}, kappa_ball(link, norm_bound)
    return table_1_kappa.statement.check("kappa_* <= kappa", inputs, kappa_opt, kappa)
