"""A learner whose first actions are dictated."""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..core import fields
from ..core.contracts import Learner, Tags, tags_of
from ..core.describe import frozen
from ..core.streams import Draw
from ..core.validation import refuse, whole
from .wrapper import Wrapper, plays, within


class State(NamedTuple):
    """The base's state, the one in which the learner that dictates began, and the clock."""

    base: Any
    script: Any  # None for listed actions
    rounds: int  # rounds heard


@frozen
class Scripted(Wrapper):
    """The base learner hears every round, but its first actions are dictated: a warm start, or a fixed design.

    Attributes:
        base: any learner that learns of other actions than its own.
        actions: indices of arms, the same in all trials, one a round; or a learner whose choices are played
            (it hears nothing, so that one that draws its arms fits).
        rounds: how many rounds are dictated.

    Raises:
        ValueError: a base that is no learner or learns of its own actions only, not as many
            actions as rounds, or an action that is no index.
    """

    actions: tuple[int, ...] | Learner
    rounds: int = fields.whole(least=0)

    def __post_init__(self):
        super().__post_init__()
        if not self.tags.own_actions:
            raise ValueError(
                f"base={self.base!r}; allowed: a learner that learns of other actions than its own"
            )
        if isinstance(self.actions, tuple):
            if len(self.actions) != self.rounds:
                raise ValueError(
                    f"actions={self.actions!r}; allowed: {self.rounds} indices, one a round"
                )
            for action in self.actions:
                whole("actions", action, least=0)
        elif not plays(self.actions):
            refuse("actions", self.actions, "a tuple of indices, or a learner")

    @property
    def tags(self) -> Tags:
        """The base's, with the derived fields of the learner that dictates. The arms are fixed where they are for one of both."""
        base = super().tags
        return base._replace(
            fixed_arms=base.fixed_arms or tags_of(self.actions).fixed_arms,
            derived=base.derived + within("script", self.actions),
        )

    def validate(self, context: Any, action: Tensor | None, feedback: Tensor | None) -> None:
        """What the base and the learner that dictates validate, and that the dictated arms exist.

        Raises:
            ValueError: as those learners, or an action past the arms.
        """
        super().validate(context, action, feedback)
        if hasattr(self.actions, "validate"):
            self.actions.validate(context, None, None)
        elif isinstance(self.actions, tuple) and max(self.actions, default=0) >= context.shape[1]:
            raise ValueError(f"actions={max(self.actions)!r}; allowed: 0..{context.shape[1] - 1}")

    def init(self, trials: int, context: Any, horizon: int | None, draw: Draw, **tkwargs) -> State:
        """The base's, and that of the learner that dictates, which stays as it is."""
        begin = lambda learner: learner.init(trials, context, horizon, draw, **tkwargs)
        script = None if isinstance(self.actions, tuple) else begin(self.actions)
        return State(begin(self.base), script, 0)

    def select(self, state: State, context: Any, draw: Draw) -> tuple[Tensor, State]:
        """The dictated action while there is one, else the base's. Returns R indices."""
        action, base = self.base.select(state.base, context, draw)
        if state.rounds < self.rounds:
            if isinstance(self.actions, tuple):
                action = torch.full_like(action, self.actions[state.rounds])
            else:
                action, _ = self.actions.select(state.script, context, draw)
        return action, State(base, state.script, state.rounds)

    def update(
        self, state: State, context: Any, action: Tensor, feedback: Tensor, draw: Draw
    ) -> State:
        """The base hears of every round."""
        base = self.base.update(state.base, context, action, feedback, draw)
        return State(base, state.script, state.rounds + 1)
