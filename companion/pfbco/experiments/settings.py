"""Learners, price tables, probes and recorded rounds of the notebooks, and the best fixed matrix in hindsight.

Letters: R trials, T rounds.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import torch

from paperlib.core.contracts import Problem
from paperlib.core.rounds import Probe
from paperlib.core.streams import Streams
from paperlib.learners.wrapper import Doubling
from paperlib.pfbco.learners.block import BlockPFBCO
from paperlib.pfbco.learners.fkm import FKM
from paperlib.pfbco.learners.ocg import StochOCG
from paperlib.pfbco.learners.onepoint import practical
from paperlib.pfbco.learners.pfbco import PFBCO, RegularizedLeader
from paperlib.pfbco.probes import CenterLoss, FixedLoss, NoiseNorm, constants, gradient_norm
from paperlib.pfbco.problems.completion import MatrixCompletion

from ..problems.portfolio import REAL, SYNTHETIC, Portfolio, choose
from ..proofs.comparators import best_completion

RIVALS = ("FKM", "Unregularized", "StochOCG")  # the paper's baselines
FIGURE = ("PF", "PF, sham", *RIVALS)  # the curves of a panel
TITLES = ("close prices", "adjusted close prices")  # titles of the real tables


def learners(c: float = 0.1, scale: str | float = "task") -> dict[str, Doubling]:
    """Return the learners of Figure 1, controls with sign-flipped feedback, FKM with the constants of 2005 and the exact leader, all in ``Doubling``.

    ``scale``: M in the learning rate, as in ``OnePoint``.
    """
    return {
        "PF": Doubling(PFBCO(c, scale=scale)),
        "PF, sham": Doubling(PFBCO(c, scale=scale, sham=True)),
        "FKM": Doubling(FKM(c, scale=scale)),
        "FKM, sham": Doubling(FKM(c, scale=scale, sham=True)),
        "FKM 2005": Doubling(FKM(c, scale=scale, variant="2005")),
        "Unregularized": Doubling(PFBCO(c, scale=scale, regularized=False)),
        "StochOCG": Doubling(StochOCG()),
        "Leader": Doubling(RegularizedLeader(c, scale=scale)),
    }


def practical_learners(c: float = 1.0) -> dict[str, Doubling]:
    """Return PF with theoretical constants, practical constants, and practical constants plus a warm start; FKM and the block variant.

    Each PF has a control with sign-flipped feedback. "FKM, practical" and "Block, practical" have a baseline, a warm start and M = 10 or
    M = 3. With the standard deviation of the losses for M, the steps of both are too large.
    """
    ours = {
        "PF": PFBCO(c),
        "PF, practical": practical(PFBCO(c), warm_start=False),
        "PF, warm": practical(PFBCO(c)),
    }
    shams = {f"{name}, sham": replace(base, sham=True) for name, base in ours.items()}
    others = {
        "FKM": FKM(c),
        "Block": BlockPFBCO(c),
        "FKM, practical": FKM(c, baseline=True, scale=10.0, warm_start=True),
        "Block, practical": BlockPFBCO(c, baseline=True, scale=3.0, warm_start=True),
    }
    return {name: Doubling(base) for name, base in (ours | shams | others).items()}


def watch(problem: Problem, name: str, learner: Doubling) -> dict[str, Probe]:
    """Return the probes of a learner: the summed loss of its centers or, for StochOCG, the summed norms of its noise.

    For "PF" they include the summed norms of its estimates and the summed losses of fixed points.
    """
    if isinstance(learner.base, StochOCG):
        return {"noise": Probe(NoiseNorm(learner.base), "sum")}
    found = {"center": Probe(CenterLoss(problem), "sum")}
    if name == "PF":
        found |= {
            "norm": Probe(gradient_norm, "sum"),
            "origin": Probe(FixedLoss(problem), "sum"),
            "constants": Probe(constants, "final"),
        }
        if isinstance(problem, Portfolio):
            found["uniform"] = Probe(FixedLoss(problem, 1.0), "sum")
    return found


def price_tables(data: str = "auto") -> tuple[dict[str, str], str]:
    """Return the tables of a run by title, and the reason why claims about both real tables cannot be judged, or "".

    These are the available real tables or, if there are none, the synthetic market. ``data``: as in ``choose``.

    Raises:
        ValueError, FileNotFoundError: as ``choose``.
    """
    found = {title: choose(data, table) for title, table in zip(TITLES, REAL)}
    real = {title: table for title, table in found.items() if table != SYNTHETIC}
    if not real:
        return {"synthetic market": SYNTHETIC}, "synthetic market"
    return real, ", ".join(f"no {title}" for title in found if title not in real)


def recorded(horizon: int, count: int = 60) -> list[int]:
    """Return the recorded rounds: log-spaced rounds, the ends of all epochs, 2^m - 1, and the last round.

    With T the horizon, (T + 1) / 16 and 3 (T + 1) / 4 are recorded too, because claims compare averages from there.
    """
    spaced = np.geomspace(1, horizon, count).round().astype(int).tolist()
    ends = [2**m - 1 for m in range(1, (horizon + 1).bit_length())]
    shares = {(horizon + 1) // 16, 3 * (horizon + 1) // 4, horizon} - {0}
    return sorted({*spaced, *ends, *shares})


def instance(problem: Problem, horizon: int, trials: int, seed: int) -> Any:
    """Return the problem instance of a run, which a trace does not store."""
    draw = Streams(seed, range(trials)).at(-1)
    return problem.init(trials, horizon, draw, dtype=torch.float64, device="cpu")


def best_matrix_loss(
    problem: MatrixCompletion, horizon: int, trials: int, seed: int = 0
) -> np.ndarray:
    """Return the average loss of the best fixed matrix of the problem's set in hindsight, regardless of the oracle, R."""
    played = instance(problem, horizon, trials, seed)
    sums, cset = played.totals, played.task.cset
    best = best_completion(sums.weight, sums.target, cset, 1e-6 * horizon)
    return ((best.value + sums.constant) / horizon).numpy()
