"""A learner whose first actions are dictated."""

from typing import Any, NamedTuple

from torch import Tensor

from ..core import fields
from ..core.contracts import Learner, Tags, optional, tags_of
from ..core.describe import frozen
from ..core.streams import Draw
from ..core.validation import refuse
from .wrapper import Wrapper, plays, within


class State(NamedTuple):
    """The base's state, the one in which the learner that dictates began, and the clock."""

    base: Any
    script: Any
    rounds: int  # rounds heard


@frozen
class Scripted(Wrapper):
    """The base learner hears every round, but another learner chooses its first actions: a warm start, or a fixed design.

    Attributes:
        base: any learner that learns of other actions than its own.
        actions: a learner whose choices are played. It hears nothing, so that one that draws its arms fits, such as ``UniformArm``.
        rounds: how many rounds are dictated.

    Raises:
        ValueError: a base that is no learner or learns of its own actions only, or actions that are no learner.
    """

    actions: Learner
    rounds: int = fields.whole(least=0)

    def __post_init__(self):
        super().__post_init__()
        if not self.tags.own_actions:
            raise ValueError(
                f"base={self.base!r}; allowed: a learner that learns of other actions than its own"
            )
        if not plays(self.actions):
            refuse("actions", self.actions, "a learner")

    @property
    def tags(self) -> Tags:
        """The base's, with the derived fields of the learner that dictates. The arms are fixed where they are for one of both."""
        base = super().tags
        return base._replace(
            fixed_arms=base.fixed_arms or tags_of(self.actions).fixed_arms,
            derived=base.derived + within("script", self.actions),
        )

    def validate(self, context: Any, action: Tensor | None, feedback: Tensor | None) -> None:
        """What the base and the learner that dictates validate.

        Raises:
            ValueError: as those learners.
        """
        super().validate(context, action, feedback)
        optional(self.actions, "validate", context, None, None)

    def init(self, trials: int, context: Any, horizon: int | None, draw: Draw, **tkwargs) -> State:
        """The base's, and that of the learner that dictates, which stays as it is."""
        begin = lambda learner: learner.init(trials, context, horizon, draw, **tkwargs)
        return State(begin(self.base), begin(self.actions), 0)

    def select(self, state: State, context: Any, draw: Draw) -> tuple[Tensor, State]:
        """The dictated action while there is one, else the base's. Returns R indices."""
        # the base chooses in every round, because its update may need what its choice prepares
        action, base = self.base.select(state.base, context, draw)
        if state.rounds < self.rounds:
            action, _ = self.actions.select(state.script, context, draw)
        return action, State(base, state.script, state.rounds)

    def update(
        self, state: State, context: Any, action: Tensor, feedback: Tensor, draw: Draw
    ) -> State:
        """The base hears of every round."""
        base = self.base.update(state.base, context, action, feedback, draw)
        return State(base, state.script, state.rounds + 1)
