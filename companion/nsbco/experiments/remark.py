"""Remark 3.2: what Algorithm 2 is told where nobody knows L, sigma and c_0. It keys runs, and therefore reads none.

Source: Wang (2025), Remark 3.2: L = B_X = ln T and sigma = c_0 = 1 / ln T; true for T large enough.
"""

import math

from torch import Tensor

from paperlib.core import fields
from paperlib.core.describe import frozen
from paperlib.core.streams import Draw
from paperlib.nsbco.learners.ascent import GradientAscent, State
from paperlib.nsbco.model.task import Task


@frozen
class Told(GradientAscent):
    """Algorithm 2, with these bounds in the place of the true ones.

    Attributes:
        smoothness, concavity, margin: L, sigma and c_0 as the learner is told; the others as of ``GradientAscent``.

    Raises:
        ValueError: a number that is not above 0, or as ``GradientAscent``.
    """

    smoothness: float = fields.positive(2.0)
    concavity: float = fields.positive(1.0)
    margin: float = fields.positive(0.5)

    def told(self, task: Task) -> Task:
        """The task as Algorithm 2 sees it."""
        numbers = {name: getattr(self, name) for name in ("smoothness", "concavity", "margin")}
        return task._replace(**{k: getattr(task, k).new_full((1,), x) for k, x in numbers.items()})

    def validate(self, task: Task, action: Tensor | None, y: Tensor | None) -> None:
        """As Algorithm 2.

        Raises:
            ValueError: as Algorithm 2.
        """
        super().validate(self.told(task), action, y)

    def init(self, trials: int, task: Task, horizon: int | None, draw: Draw, **tkwargs) -> State:
        """As Algorithm 2."""
        return super().init(trials, self.told(task), horizon, draw, **tkwargs)

    def update(self, state: State, task: Task, x: Tensor, y: Tensor, draw: Draw) -> State:
        """As Algorithm 2."""
        return super().update(state, self.told(task), x, y, draw)


def remark_3_2(horizon: int, printed: bool = False) -> Told:
    """Algorithm 2 in the paper's units, h = 1, as the remark has it for this horizon.

    Args:
        printed: N_0 = ceil(c_0^-2) + 1 of Lemma 3.1, about (ln T)^2, with the margin that its first queries need; else the
            N_0 with which queries stay in any set (E1), about (ln T)^4.
    """
    x = math.log(horizon)
    first = math.ceil(x**2 - 1e-12) + 1 if printed else None
    margin = max(1 / x, first**-0.25) if printed else 1 / x
    return Told(h=1.0, N0=first, smoothness=x, concavity=1 / x, margin=margin)
