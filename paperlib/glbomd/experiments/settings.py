"""The settings of the paper's experiments that several notebooks share: which learners, with which constants.

Source: Zhang, Xu, Zhao & Sugiyama (2025), experiments and Appendix F. What the paper leaves open is chosen here
and said in the docstrings.
"""

import numpy as np

from ... import stats
from ...store import results as store, timing
from ...core.contracts import Learner, Problem
from ..learners.certified import CertifiedOptimism
from ..learners.controls import UCB1, BetaThompson, LaplaceThompson
from ..learners.ecolog import ECOLog
from ..learners.glbomd import GLBOMD
from ..learners.glmucb import GLMUCB
from ..learners.gloc import GLOC
from ..model.links import Bernoulli, Poisson
from ..learners.ofuglb import OFUGLB
from ..learners.ofulogr import OFULogR
from ..problems.sphere import SphereArms
from ...learners.reference import LongestArm, UniformArm
from ..learners.rsglincb import RSGLinCB
from .slsqp import against_certified, in_turns

SCALES = (3, 5, 7, 9)  # S, the norm of theta*
INSTANCE = 3000        # rounds over which the instance's kappa is taken, whatever part of it is played
ONLINE = ("GLB-OMD", "GLOC", "ECOLog")
FITTED = ("GLM-UCB", "RS-GLinCB")   # fit a maximum likelihood estimate to the history, batched
ONE_TRIAL = ("OFUGLB", "OFULog-r")  # certified decisions, one trial at a time


def paper_learners(problem: SphereArms, delta: float = 0.01) -> dict[str, Learner]:
    """The lines of Figures 1-3: the paper's methods, greedy play, and two rules that learn nothing.

    lambda = d for the online methods and RS-GLinCB, d ln(1 + t) for GLM-UCB and OFULog-r, none for OFUGLB;
    rewards bounded by 100 for the Poisson runs of GLM-UCB and RS-GLinCB: all as the paper states. Not stated and
    chosen: delta = 0.01; kappa over the drawn arms at theta*, which is what the paper's numbers for kappa are;
    the published constants of RS-GLinCB, since with the theory's its warm-up would outlast the run.
    """
    link, S = problem.link, problem.norm
    known = {"link": link, "norm_bound": S, "delta": delta}
    instance = {"kappa": problem.kappa_arms(INSTANCE), "reward_bound": 100.0 if isinstance(link, Poisson) else 1.0}
    learners = {
        "GLM-UCB": GLMUCB(**known, **instance),
        "GLOC": GLOC(**known, ridge="dim", kappa=instance["kappa"]),
        "RS-GLinCB": RSGLinCB(**known, **instance, ridge="dim", constants="public"),
        "OFUGLB": OFUGLB(**known),
    }
    if isinstance(link, Bernoulli):
        learners |= {"OFULog-r": OFULogR(norm_bound=S, delta=delta), "ECOLog": ECOLog(norm_bound=S, delta=delta, ridge="dim")}
    return learners | {
        "GLB-OMD": GLBOMD(**known, ridge="dim"),
        "greedy": GLBOMD(**known, ridge="dim", scale=0.0),
        **rules(),
    }


def rules() -> dict[str, Learner]:
    """Rules that learn nothing: an arm at random, and the arm that a bonus alone would play."""
    return {"uniform": UniformArm(), "longest": LongestArm()}


def covertype_learners(scale: float, delta: float = 0.01) -> dict[str, Learner]:
    """The methods of Figure 4 with all confidence sets shrunk by one factor, S = 6 and kappa = 200 as in Appendix F.3.

    The arms never change, so histories are kept as counts.
    """
    known = {"link": Bernoulli(), "norm_bound": 6.0, "delta": delta, "scale": scale}
    logistic = {"norm_bound": 6.0, "delta": delta, "scale": scale}
    return {
        "GLM-UCB": GLMUCB(**known, kappa=200.0, counts=True),
        "GLOC": GLOC(**known, kappa=200.0, ridge="dim"),
        "RS-GLinCB": RSGLinCB(**known, kappa=200.0, ridge="dim", constants="public", counts=True),
        "OFUGLB": OFUGLB(**known, counts=True),
        "OFULog-r": OFULogR(**logistic, counts=True),
        "ECOLog": ECOLog(**logistic, ridge="dim"),
        "GLB-OMD": GLBOMD(**known, ridge="dim"),
    }


def covertype_controls() -> dict[str, Learner]:
    """Rules without confidence sets over the features."""
    return {**rules(), "UCB1": UCB1(), "Beta Thompson": BetaThompson(), "Laplace Thompson": LaplaceThompson()}


def trial_counts(learners: dict[str, Learner], trials: int, fitted: int, one_trial: int) -> dict[str, int]:
    """Trials of each learner: fewer for those that fit to the history or decide one trial at a time."""
    return {name: fitted if name in FITTED else one_trial if name in ONE_TRIAL else trials for name in learners}


def final(trace) -> np.ndarray:
    """Regret after the last round, one number a trial."""
    return trace["regret"][:, -1]


def slsqp_rounds(learner: CertifiedOptimism, problem: Problem, horizon: int, every: int = 25) -> dict[str, np.ndarray]:
    """SLSQP beside the certified decisions of one trial, see ``slsqp.against_certified``; kept like ``time_runs``."""
    return store.once("slsqp_rounds", against_certified, learner=learner, problem=problem, horizon=horizon, every=every)


def slsqp_seconds(runs: dict[tuple, tuple[Learner, Problem]], horizon: int, every: int, repetitions: int) -> dict[tuple, np.ndarray]:
    """Seconds of each ``every``-th round, N interleaved repetitions x rounds, likelihood sets decided by SLSQP.

    Kept like ``time_runs``.

    Args:
        runs: (name, S) -> learner and problem, see ``slsqp.in_turns``.
    """
    named = {f"{name}|{S}": run for (name, S), run in runs.items()}
    found = store.once("slsqp_seconds", in_turns, runs=named, horizon=horizon, every=every, repetitions=repetitions)
    return {key: found[f"{key[0]}|{key[1]}"] for key in runs}


def methods(problem: SphereArms, leave_out: tuple[str, ...] = ()) -> dict[tuple, tuple[Learner, Problem]]:
    """The paper's methods on a problem, as ``time_runs`` wants them."""
    learners = paper_learners(problem)
    return {(name, problem.norm): (learner, problem) for name, learner in learners.items() if name not in ("greedy", *rules(), *leave_out)}


def bars(timed: dict[tuple, np.ndarray]) -> dict[str, dict[str, np.ndarray]]:
    """Name -> "S = 3" -> seconds of all rounds, one a repetition, for ``figures.time_panel``."""
    out: dict[str, dict[str, np.ndarray]] = {}
    for (name, S), found in timed.items():
        out.setdefault(name, {})[f"S = {S}"] = found.sum(1)
    return out


def diamonds(batch: dict[tuple, np.ndarray], rounds: int, trials: int = 100) -> dict[str, dict[str, float]]:
    """Name -> "S = 3" -> seconds of ``rounds`` rounds of one of ``trials`` trials, from the mean of the rounds timed."""
    out: dict[str, dict[str, float]] = {}
    for (name, S), found in batch.items():
        out.setdefault(name, {})[f"S = {S}"] = float(found.mean()) * rounds / trials
    return out


def typical(seconds: np.ndarray) -> np.ndarray:
    """Median seconds a round of each repetition, N."""
    return np.median(seconds, axis=1)


def seconds_ratio(a: np.ndarray, b: np.ndarray) -> stats.Interval:
    """Ratio of typical seconds of two learners, bootstrap over the repetitions that they share."""
    return stats.ratio(typical(a), typical(b), of="median seconds", over="repetitions")


def time_growth(seconds: np.ndarray, first: int = 300, width: int = 100) -> stats.Interval:
    """Least-squares slope of log seconds on log t from round ``first`` on, over medians of ``width`` rounds, in each repetition.

    ``seconds``: N repetitions x T, as ``time_runs`` returns them; the interval is over repetitions.
    """
    middles, medians = timing.by_bin(seconds, width)
    late = middles >= first
    return stats.slope(np.log(middles[late]), np.log(medians[:, late]))
