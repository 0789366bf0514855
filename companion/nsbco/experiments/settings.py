"""Learners and their constants in all figures of this paper, and Algorithm 2 with unknown bounds of the task.

This file is part of the keys of the stored runs of ``Told``. Therefore it imports no module that reads runs.
Source: Wang (2025), Remark 3.2: L = B_X = ln T and sigma = c_0 = 1 / ln T, which are valid bounds for T large enough.
"""

import math

from torch import Tensor

from paperlib.core import fields
from paperlib.core.contracts import Learner
from paperlib.core.describe import frozen_dataclass
from paperlib.core.streams import Draw
from paperlib.nsbco.learners.ascent import AscentState, GradientAscent
from paperlib.nsbco.learners.bob import BanditOverBandit
from paperlib.nsbco.learners.egs import EGS
from paperlib.nsbco.learners.glr import GLR
from paperlib.nsbco.learners.gradient import FullInformation, StaticBaseline
from paperlib.nsbco.learners.kiefer import KieferWolfowitz
from paperlib.nsbco.learners.least_squares import DiscountedLeastSquares, SlidingWindowLeastSquares
from paperlib.nsbco.learners.presets import malg, practical
from paperlib.nsbco.learners.restarted import Restarted
from paperlib.nsbco.learners.spsa import SPSA
from paperlib.nsbco.model.task import Task

STILL = 0.125  # regret per round of the static baseline if theta has norm 1/2


def learners(*names: str) -> dict[str, Learner]:
    """Return the learners of the figures by name: those in ``names``, in this order, or all of them.

    The constants are b_0 = 2, A_1 = 1 and A_2 = 3 (log2 T + 1). The oracles know V_T. "D-LS" has the best of three windows; the
    other two windows are listed as well.
    """
    base = GradientAscent()
    known = {
        "MASTER": practical(base),
        "MASTERw": practical(GradientAscent(warm_start=True)),
        "MALG": malg(base),
        "Algorithm 2": base,
        "Algorithm 2, oracle": Restarted(base),
        "EGS": EGS(),
        "EGS, oracle": Restarted(EGS()),
        "KW": KieferWolfowitz(),
        "KW, oracle": Restarted(KieferWolfowitz()),
        "KWtrack": KieferWolfowitz(100.0),
        "SPSA": SPSA(),
        "BoB": BanditOverBandit(),
        "GLR": GLR(),
        "D-LS": DiscountedLeastSquares(64),
        "D-LS 256": DiscountedLeastSquares(256),
        "D-LS 1024": DiscountedLeastSquares(1024),
        "D-LS, oracle": DiscountedLeastSquares("oracle"),
        "SW-LS": SlidingWindowLeastSquares(64),
        "full information": FullInformation(),
        "static baseline": StaticBaseline(),
    }
    return {name: known[name] for name in names or known}


@frozen_dataclass
class Told(GradientAscent):
    """Algorithm 2 with given bounds in place of the true bounds of the task.

    Attributes:
        smoothness, concavity, margin: L, sigma and c_0 as passed to the learner; other fields as in ``GradientAscent``.

    Raises:
        ValueError: a number that is not above 0, or an error of ``GradientAscent``.
    """

    smoothness: float = fields.positive(2.0)
    concavity: float = fields.positive(1.0)
    margin: float = fields.positive(0.5)

    def told(self, task: Task) -> Task:
        """Return the task as passed to Algorithm 2."""
        numbers = {name: getattr(self, name) for name in ("smoothness", "concavity", "margin")}
        return task._replace(**{k: getattr(task, k).new_full((1,), x) for k, x in numbers.items()})

    def validate(self, task: Task, action: Tensor | None, y: Tensor | None) -> None:
        """Run the checks of Algorithm 2 with the given bounds."""
        super().validate(self.told(task), action, y)

    def init(
        self, trials: int, task: Task, horizon: int | None, draw: Draw, **tkwargs
    ) -> AscentState:
        """Return the initial state of Algorithm 2 with the given bounds."""
        return super().init(trials, self.told(task), horizon, draw, **tkwargs)

    def update(
        self, state: AscentState, task: Task, x: Tensor, y: Tensor, draw: Draw
    ) -> AscentState:
        """Update Algorithm 2 with the given bounds."""
        return super().update(state, self.told(task), x, y, draw)


def remark_3_2(horizon: int, printed: bool = False) -> Told:
    """Return Algorithm 2 with the settings of Remark 3.2 for this horizon, in the paper's units, h = 1.

    Args:
        horizon: T.
        printed: True for N_0 = ceil(c_0^-2) + 1 of Lemma 3.1, about (ln T)^2, with the margin that its first queries need.
            False for the N_0 that keeps the queries in any set (E1), about (ln T)^4.
    """
    x = math.log(horizon)
    first = math.ceil(x**2 - 1e-12) + 1 if printed else None
    margin = max(1 / x, first**-0.25) if printed else 1 / x
    return Told(h=1.0, N0=first, smoothness=x, concavity=1 / x, margin=margin)
