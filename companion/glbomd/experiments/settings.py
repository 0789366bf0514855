"""What several notebooks share of the paper's experiments: learners with their constants, and statistics of the runs.

Source: Zhang, Xu, Zhao & Sugiyama (2025), experiments, Table 1 and Appendix F. The constants that the paper leaves open are
chosen here and named in the docstrings.
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
INSTANCE = 3000  # rounds over which the instance's kappa is taken, however many are played
ONLINE = ("GLB-OMD", "GLOC", "ECOLog", "OFUL-MLogB")
FITTED = ("GLM-UCB", "RS-GLinCB")  # fit a maximum likelihood estimate to the history, batched
ONE_TRIAL = ("OFUGLB", "OFULog-r")  # certified decisions, one trial at a time
# Rules that learn nothing: an arm at random, and the arm that a bonus alone would play.
RULES = {"uniform": UniformArm(), "longest": LongestArm()}
# Rules without confidence sets over the features.
CONTROLS = RULES | {
    "UCB1": UCB1(),
    "Beta Thompson": BetaThompson(),
    "Laplace Thompson": LaplaceThompson(),
}
GROWTH = {"width": 100, "first": 300}  # bins and first round of a growth of seconds


def paper_learners(problem: SphereArms, delta: float = 0.01) -> dict[str, Learner]:
    """The lines of Figures 1-3: the paper's methods, greedy play, and two rules that learn nothing.

    lambda = d for the online methods and RS-GLinCB, d ln(1 + t) for GLM-UCB and OFULog-r, none for
    OFUGLB; rewards bounded by 100 for the Poisson runs of GLM-UCB and RS-GLinCB: all as the paper
    states. Not stated and chosen: delta = 0.01; kappa over the drawn arms at theta*, which is what
    the paper's numbers for kappa are; the published constants of RS-GLinCB, since with the theory's
    its warm-up would outlast the run. OFUL-MLogB, which Table 2 lists, is in no figure and not here.
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
    """The methods of Figure 4 with all confidence sets shrunk by one factor.

    S = 6 and kappa = 200 as in Appendix F.3. The arms never change: histories are kept as counts.
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
    """Trials of each learner: fewer of those that fit to the history or decide trial by trial."""
    return {
        name: fitted if name in FITTED else one_trial if name in ONE_TRIAL else trials
        for name in learners
    }


def methods(
    problem: SphereArms, leave_out: tuple[str, ...] = ()
) -> dict[Run, tuple[Learner, Problem]]:
    """The paper's methods on a problem, by name and S, as ``store.time_runs`` wants them."""
    left = ("greedy", *RULES, *leave_out)
    learners = {name: x for name, x in paper_learners(problem).items() if name not in left}
    return {(name, problem.norm): (learner, problem) for name, learner in learners.items()}


def crossing(slower_start: Trace, other: Trace) -> int | None:
    """Return the first recorded round after which the mean regret of ``slower_start`` stays below the regret of ``other``.

    None if this never happens.
    """
    n = min(len(slower_start["regret"]), len(other["regret"]))
    below = slower_start["regret"][:n].mean(0) < other["regret"][:n].mean(0)
    above = np.flatnonzero(~below)
    first = above[-1] + 1 if len(above) else 0
    return int(slower_start.rounds[first]) if first < len(below) else None


def ecolog_iterations(norm_bound: float, t: int) -> float:
    """Gradient steps of ECOLog's public code in round t: (4/3) ceil((9/4 + S/8) ln(S t))."""
    return 4 / 3 * math.ceil((9 / 4 + norm_bound / 8) * math.log(norm_bound * t))


def exceedance(problem: SphereArms, bound: int, horizon: int) -> float:
    """P(a Poisson reward of some round's best arm exceeds ``bound`` within the horizon)."""
    means = problem.best_means(horizon)
    log_below = np.log1p(-gammainc(bound + 1, means))  # P(reward <= bound) = 1 - P(bound + 1, mean)
    return float(-np.expm1(log_below.sum()))
