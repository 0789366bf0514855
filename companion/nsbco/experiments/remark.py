"""Remark 3.2: what Algorithm 2 is told where nobody knows L, sigma and c_0. It keys runs, and therefore reads none.

Source: Wang (2025), Remark 3.2: L = B_X = ln T and sigma = c_0 = 1 / ln T; true for T large enough.
"""

import math
from typing import Any, NamedTuple

from torch import Tensor

from paperlib.core.describe import frozen
from paperlib.core.streams import Draw
from paperlib.core.validation import positive
from paperlib.learners.wrapper import Wrapper
from paperlib.nsbco.learners.ascent import GradientAscent
from paperlib.nsbco.model.task import Task


class State(NamedTuple):
    """The base's."""

    base: Any


@frozen
class Told(Wrapper):
    """The base, with these bounds in the place of the true ones.

    Attributes:
        smoothness, concavity, margin: L, sigma and c_0 as the base is told.

    Raises:
        ValueError: a number that is not above 0.
    """

    smoothness: float
    concavity: float
    margin: float

    def __post_init__(self):
        super().__post_init__()
        for name in ("smoothness", "concavity", "margin"):
            positive(name, getattr(self, name))

    def told(self, task: Task) -> Task:
        """What the base sees."""
        numbers = {name: getattr(self, name) for name in ("smoothness", "concavity", "margin")}
        return task._replace(**{k: getattr(task, k).new_full((1,), x) for k, x in numbers.items()})

    def validate(self, task: Task, action: Tensor | None, y: Tensor | None) -> None:
        """What the base validates of what it is told.

        Raises:
            ValueError: as the base.
        """
        super().validate(self.told(task), action, y)

    def init(self, trials: int, task: Task, horizon: int | None, draw: Draw, **tkwargs) -> State:
        """The base's."""
        return State(self.base.init(trials, self.told(task), horizon, draw, **tkwargs))

    def select(self, state: State, task: Task, draw: Draw) -> tuple[Tensor, State]:
        """The base's choice, R x d."""
        action, base = self.base.select(state.base, self.told(task), draw)
        return action, State(base)

    def update(self, state: State, task: Task, action: Tensor, y: Tensor, draw: Draw) -> State:
        """The base hears. ``y``: R."""
        return State(self.base.update(state.base, self.told(task), action, y, draw))


def remark_3_2(horizon: int, printed: bool = False) -> Told:
    """Algorithm 2 in the paper's units, h = 1, as the remark has it for this horizon.

    Args:
        printed: N_0 = ceil(c_0^-2) + 1 of Lemma 3.1, about (ln T)^2, with the margin that its first queries need; else the
            N_0 with which queries stay in any set (E1), about (ln T)^4.
    """
    x = math.log(horizon)
    if not printed:
        return Told(GradientAscent(h=1.0), x, 1 / x, 1 / x)
    first = math.ceil(x**2 - 1e-12) + 1
    return Told(GradientAscent(h=1.0, N0=first), x, 1 / x, max(1 / x, first**-0.25))
