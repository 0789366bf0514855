"""Settings of the paper's experiments that several notebooks share: learners with their constants, and statistics.

Source: Zhang, Xu, Zhao & Sugiyama (2025), experiments, Table 1 and Appendix F. We chose the constants that the paper
does not state; the docstrings name them.
"""

import math

import numpy as np
from scipy.special import gammainc

from paperlib.core.contracts import Learner, Problem
from paperlib.core.trace import Trace
from paperlib.glbomd.learners.controls import UCB1, BetaThompson, LaplaceThompson
from paperlib.glbomd.learners.ecolog import ECOLog
from paperlib.glbomd.learners.glbomd import GLBOMD
from paperlib.glbomd.learners.glmucb import GLMUCB
from paperlib.glbomd.learners.gloc import GLOC
from paperlib.glbomd.learners.ofuglb import OFUGLB
from paperlib.glbomd.learners.ofulogr import OFULogR
from paperlib.glbomd.learners.rsglincb import RSGLinCB
from paperlib.glbomd.model.links import Bernoulli, Poisson
from paperlib.glbomd.problems import SphereArms
from paperlib.learners.reference import LongestArm, UniformArm

from ...store.seconds import Run

SCALES = (3, 5, 7, 9)  # S, the norm of theta*
INSTANCE = 3000  # rounds over which the instance's kappa is computed, for any horizon
ONLINE = ("GLB-OMD", "GLOC", "ECOLog", "OFUL-MLogB")
FITTED = ("GLM-UCB", "RS-GLinCB")  # fit a maximum likelihood estimate to the history, batched
ONE_TRIAL = ("OFUGLB", "OFULog-r")  # certified decisions, one trial at a time
# Rules that do not learn: a random arm, and the arm with the largest norm, which a bonus alone would choose.
RULES = {"uniform": UniformArm(), "longest": LongestArm()}
# Algorithms without confidence sets over the features.
CONTROLS = RULES | {
    "UCB1": UCB1(),
    "Beta Thompson": BetaThompson(),
    "Laplace Thompson": LaplaceThompson(),
}
GROWTH = {"width": 100, "first": 300}  # bin width and first round for the growth of the run time


def paper_learners(problem: SphereArms, delta: float = 0.01) -> dict[str, Learner]:
    """Return the learners of Figures 1-3: the paper's methods, a greedy learner, and two rules that do not learn.

    These settings are as stated in the paper: lambda = d for the online methods and RS-GLinCB, d ln(1 + t) for
    GLM-UCB and OFULog-r, and no ridge for OFUGLB; rewards bounded by 100 for the Poisson runs of GLM-UCB and RS-GLinCB.
    The paper does not state the following settings, which we chose. The failure probability is delta = 0.01. kappa is
    computed over the drawn arms at theta*, because the paper's values of kappa are. RS-GLinCB has its published
    constants, because with the constants of the theory its warm-up would be longer than the run.
    OFUL-MLogB is listed in Table 2 but appears in no figure, so it is omitted here.
    """
    link, kappa = problem.link, problem.kappa_arms(INSTANCE)
    known = {"link": link, "norm_bound": problem.norm, "delta": delta}
    instance = {"kappa": kappa, "reward_bound": 100.0 if isinstance(link, Poisson) else 1.0}
    learners = {
        "GLM-UCB": GLMUCB(**known, **instance),
        "GLOC": GLOC(**known, ridge="dim", kappa=kappa),
        "RS-GLinCB": RSGLinCB(**known, **instance, ridge="dim", constants="public"),
        "OFUGLB": OFUGLB(**known),
    }
    if isinstance(link, Bernoulli):
        learners |= {"OFULog-r": OFULogR(**known), "ECOLog": ECOLog(**known, ridge="dim")}
    return learners | {
        "GLB-OMD": GLBOMD(**known, ridge="dim"),
        "greedy": GLBOMD(**known, ridge="dim", scale=0.0),
        **RULES,
    }


def covertype_learners(scale: float, delta: float = 0.01) -> dict[str, Learner]:
    """Return the methods of Figure 4, with all confidence radii multiplied by the factor ``scale``.

    S = 6 and kappa = 200 as in Appendix F.3. Histories are stored as counts, because the arms never change.
    """
    known = {"link": Bernoulli(), "norm_bound": 6.0, "delta": delta, "scale": scale}
    return {
        "GLM-UCB": GLMUCB(**known, kappa=200.0, counts=True),
        "GLOC": GLOC(**known, kappa=200.0, ridge="dim"),
        "RS-GLinCB": RSGLinCB(**known, kappa=200.0, ridge="dim", constants="public", counts=True),
        "OFUGLB": OFUGLB(**known, counts=True),
        "OFULog-r": OFULogR(**known, counts=True),
        "ECOLog": ECOLog(**known, ridge="dim"),
        "GLB-OMD": GLBOMD(**known, ridge="dim"),
    }


def trial_counts(
    learners: dict[str, Learner], trials: int, fitted: int, one_trial: int
) -> dict[str, int]:
    """Return the number of trials of each learner; learners that fit to the history or run trial by trial get fewer."""
    return {
        name: fitted if name in FITTED else one_trial if name in ONE_TRIAL else trials
        for name in learners
    }


def methods(
    problem: SphereArms, leave_out: tuple[str, ...] = ()
) -> dict[Run, tuple[Learner, Problem]]:
    """Return the paper's methods on a problem, by name and S, in the format of ``store.seconds.time_runs``."""
    left = ("greedy", *RULES, *leave_out)
    learners = {name: x for name, x in paper_learners(problem).items() if name not in left}
    return {(name, problem.norm): (learner, problem) for name, learner in learners.items()}


def crossing(slower_start: Trace, other: Trace) -> int | None:
    """Return the first recorded round after which the mean regret of ``slower_start`` stays below the regret of ``other``.

    Return None if this never happens.
    """
    n = min(len(slower_start["regret"]), len(other["regret"]))
    below = slower_start["regret"][:n].mean(0) < other["regret"][:n].mean(0)
    above = np.flatnonzero(~below)
    first = above[-1] + 1 if len(above) else 0
    return int(slower_start.rounds[first]) if first < len(below) else None


def ecolog_iterations(norm_bound: float, t: int) -> float:
    """Return the number of gradient steps of ECOLog's public code in round t, (4/3) ceil((9/4 + S/8) ln(S t))."""
    return 4 / 3 * math.ceil((9 / 4 + norm_bound / 8) * math.log(norm_bound * t))


def exceedance(problem: SphereArms, bound: int, horizon: int) -> float:
    """Return the probability that the Poisson reward of some round's best arm exceeds ``bound`` within the horizon."""
    means = problem.best_means(horizon)
    # P(reward <= bound) = 1 - P(bound + 1, mean), where P is the regularized lower incomplete gamma function. Logarithms
    # keep a tiny probability of an exceedance exact.
    log_below = np.log1p(-gammainc(bound + 1, means))
    return float(-np.expm1(log_below.sum()))
