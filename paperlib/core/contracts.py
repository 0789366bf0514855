"""Protocols of learners and problems, test cases, and checks with clear error messages.

The checks apply to the objects that a user passes and to their first return values. They do not run in every round.
"""

import inspect
import math
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from .describe import short_repr
from .streams import Draw
from .trees import list_leaves
from .validation import list_options

WANTS = ("reward", "loss", "gradient")
FALSE_ALARM = 1e-6  # probability of a warning in a trial whose rewards follow the model
SLACK = 1e-9  # relative tolerance, because a mean may exceed its bound by rounding


class Tags(NamedTuple):
    """Properties of a learner that ``play`` and ask/tell use.

    Attributes:
        fixed_arms: True if the learner identifies arms by index. Then the arms must be the same in all rounds; ``play`` and ask/tell
            reject others.
        derived: fields of the state that follow from the first context alone, nested ones as "base.gram". Ask/tell does not save
            them.
        own_actions: True if the learner can learn from an action that it did not choose. It is False if the learner attributes
            feedback to a random draw behind the chosen action.
        prepares: True if ``update`` needs a result of ``select``. If it is False, ask/tell learns from existing data without
            choosing an action first.
    """

    fixed_arms: bool = False
    derived: tuple[str, ...] = ()
    own_actions: bool = True
    prepares: bool = True


class Learner(Protocol):
    """Protocol of a learner: a frozen dataclass of hyper-parameters with three pure methods on a state.

    ``init`` returns the state before the first round. ``select`` returns an action for every trial and a state. ``update`` returns the
    state after the feedback.

    Optional members:

    - ``report(state) -> {name: R}``: numbers to record; if ``failed`` is true in a trial, ``play`` raises.
    - ``validate(context, action, feedback)``: raises ValueError for values outside the model; ``action`` and ``feedback`` may be None.
    - ``caution(context, horizon, observed) -> str | None``: text of a warning for the user. Ask/tell calls it before the first round
      with ``observed`` None. Then it calls it in every round with the action and feedback of that round, see ``Observed``, until the
      first warning. ``horizon`` may be None.
    - ``tags``: the learner's ``Tags``, unless they are the defaults.
    """

    wants: str  # one of WANTS

    def init(
        self, trials: int, context: Any, horizon: int | None, draw: Draw, **tkwargs
    ) -> Any: ...
    def select(self, state: Any, context: Any, draw: Draw) -> tuple[Tensor, Any]: ...
    def update(
        self, state: Any, context: Any, action: Tensor, feedback: Tensor, draw: Draw
    ) -> Any: ...


class Restartable(Learner, Protocol):
    """Protocol of a learner that wrappers can restart.

    ``restart`` returns the state of all R trials at the start of an epoch of the given horizon. It may keep information from
    earlier rounds. A wrapper that restarts all trials together accepts any base.

    A wrapper that restarts trials separately replaces the rows of the restarted trials (``trees.tree_where``). Therefore every leaf of
    the base's state, including round counters, must be a tensor with R unshared rows. Any other base is rejected, with its name, when
    the wrapper is built or started (``trees.check_unshared``).

    ``Multiscale`` requires one more member of its base, ``optimistic(state) -> R``: the optimistic estimate of the best mean reward
    after an update.
    """

    def restart(self, state: Any, context: Any, horizon: int | None, draw: Draw) -> Any: ...


class Observed(NamedTuple):
    """Feedback of one round, from which a learner's ``caution`` detects rewards that contradict the declared model.

    The rule is as follows. For every function that the model allows, an interval contains the reward of round t with probability at
    least 1 - FALSE_ALARM / (t (t + 1)). A reward outside this interval contradicts the model. The failure probabilities add up to
    FALSE_ALARM over all rounds. Therefore a trial whose rewards follow the model causes a warning with probability at most FALSE_ALARM,
    for any number of rounds and any choice of actions.

    The rule considers one reward at a time. It cannot detect a norm bound or a noise level that is too large, a norm bound
    that is too small but within the noise, or a noise level that is too small within the range that the norm bound allows.

    Letters: R trials, t the round, counted from 1.
    """

    action: Tensor  # R, or R x d
    feedback: Tensor  # R
    round: int  # t

    @property
    def level(self) -> float:
        """ln(2 / p) with p = FALSE_ALARM / (t (t + 1)), so that each tail of an interval has probability at most e^-level."""
        return math.log(2 * self.round * (self.round + 1) / FALSE_ALARM)

    def deviation(self, noise: float) -> float:
        """Return the largest plausible absolute value of ``noise``-sub-Gaussian noise: noise sqrt(2 level)."""
        return noise * math.sqrt(2 * self.level)

    def contradicts(
        self, low: Tensor, high: Tensor, declared: str, name: str = "reward"
    ) -> str | None:
        """Return a warning if a trial's feedback lies outside its interval.

        Args:
            low, high: ends of the interval, R or 1.
            declared: the arguments that the interval follows from.
            name: name of the feedback.
        """
        outside = (self.feedback < low - SLACK * low.abs()) | (
            self.feedback > high + SLACK * high.abs()
        )
        if not bool(outside.any()):
            return None
        first = int(outside.nonzero()[0, 0])
        value, low, high = (
            float(x.expand_as(self.feedback)[first]) for x in (self.feedback, low, high)
        )
        return (
            f"{name}={value!r} in round {self.round} contradicts {declared}, with which it lies between {low:.4g} and "
            f"{high:.4g}. Check the unit of {name} or change these arguments. For a trial that follows its model, this "
            f"warning has a probability of at most {FALSE_ALARM:g}"
        )


class Problem(Protocol):
    """Protocol of a problem: a frozen description of an environment.

    ``init`` returns the problem instances of all trials. ``context`` returns the context of round t. ``respond`` returns the feedback, R
    (or as the action for gradients), and the instantaneous regret, R.
    """

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> Any: ...
    def context(self, instance: Any, t: int) -> Any: ...
    def respond(
        self, instance: Any, t: int, action: Tensor, wants: str, draw: Draw
    ) -> tuple[Tensor, Tensor]: ...


class ContractCase(NamedTuple):
    """Test case: a learner and a problem, with the number of rounds and at least two trials.

    Attributes:
        refused: invalid values by field.
        syncs: "per round" if the learner waits for the device in some rounds, "host" if it computes on the host.
    """

    learner: Learner
    problem: Problem
    refused: dict[str, list] = {}
    rounds: int = 50  # fewer for a learner that takes seconds per round
    trials: int = 3
    syncs: str | None = None


def tags_of(learner: Any) -> Tags:
    """Return the tags of a learner, or the default tags if it has none. An AttributeError inside a property is raised."""
    try:
        return learner.tags
    except AttributeError:
        if inspect.getattr_static(learner, "tags", None) is not None:
            raise
        return Tags()


def call_optional(learner: Any, name: str, *arguments: Any, default: Any = None) -> Any:
    """Call an optional method of a learner; return ``default`` if the learner lacks it."""
    # A wrapper's property raises AttributeError if its base lacks the method. ``hasattr`` is then False.
    return getattr(learner, name)(*arguments) if hasattr(learner, name) else default


def declared_size(problem: Any) -> tuple[int | None, int | None]:
    """Return the numbers of arms and dimensions that a problem declares, or None for each that it does not declare."""
    declared = (getattr(problem, name, None) for name in ("arms", "dim"))
    return tuple(x if isinstance(x, int) else None for x in declared)


KINDS = {
    "learner": ("wants", "init", "select", "update"),
    "problem": ("init", "context", "respond"),
}


def check_learner(x: Any) -> None:
    """Raise ValueError unless ``x`` is a learner. For example, a class, a string or a problem is not."""
    check_kind("learner", x)
    if x.wants not in WANTS:
        raise ValueError(f"learner.wants must be {list_options(WANTS)}, got {x.wants!r}")


def check_kind(name: str, x: Any) -> None:
    """Raise ValueError unless ``x`` has the members of a learner or a problem; ``name`` is "learner" or "problem"."""
    if isinstance(x, type):
        raise ValueError(
            f"{name} must be an instance, for example {x.__name__}(...), got the class {x.__name__}"
        )
    is_a = [kind for kind, parts in KINDS.items() if all(hasattr(x, part) for part in parts)]
    if name not in is_a:
        given = ", a ".join([short_repr(x), *is_a])
        raise ValueError(
            f"{name} must be a {name} with the attributes {', '.join(KINDS[name])}, got {given}"
        )


def check_context(context: Any, trials: int) -> None:
    """Raise ValueError unless the leading dimension of every part is ``trials`` or 1, and arms have three dimensions."""
    arms = isinstance(context, Tensor)
    for path, leaf in list_leaves(context, "context"):
        shape = tuple(leaf.shape) if isinstance(leaf, Tensor) else (1,)
        if shape[:1] not in ((1,), (trials,)) or (arms and (len(shape) != 3 or 0 in shape)):
            requirement = (
                f"of shape R x K x d or 1 x K x d with R = {trials}"
                if arms
                else f"a tensor with {trials} rows or 1"
            )
            raise ValueError(f"{path} must be {requirement}, got shape {shape}")


def check_selection(learner: Learner, choice: Any, context: Any, trials: int) -> None:
    """Raise ValueError unless ``select`` returned an action for each trial and a state."""
    name, arms = f"{type(learner).__name__}.select", isinstance(context, Tensor)
    if not isinstance(choice, (tuple, list)) or len(choice) != 2:
        raise ValueError(f"{name} must return actions and a state, got {short_repr(choice)}")
    action, requirement = choice[0], f"a tensor of {trials} actions"
    good = isinstance(action, Tensor) and action.dim() in (1, 2) and len(action) == trials
    if good and arms:
        good = action.dim() == 1 and action.dtype in (torch.int64, torch.int32)
    # On a GPU the range of indices is not checked, because it would force a synchronization.
    if good and arms and action.device.type == "cpu":
        good = bool(((action >= 0) & (action < context.shape[1])).all())
    if not good:
        requirement += f", indices from 0 to {context.shape[1] - 1}" if arms else ""
        raise ValueError(f"{name} must return {requirement}, got {short_repr(action)}")


def check_response(problem: Problem, answer: Any, action: Tensor, wants: str) -> None:
    """Raise ValueError unless ``respond`` returned feedback and regret, R each; gradients have the shape of the actions."""
    name = f"{type(problem).__name__}.respond"
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise ValueError(f"{name} must return feedback and regret, got {short_repr(answer)}")
    shapes = {"feedback": action.shape if wants == "gradient" else action.shape[:1]}
    for (part, shape), x in zip((shapes | {"regret": action.shape[:1]}).items(), answer):
        if not isinstance(x, Tensor) or x.shape != shape:
            requirement = f"{part} as a tensor of shape {tuple(shape)}"
            raise ValueError(f"{name} must return {requirement}, got {short_repr(x)}")


def check_state(learner: Learner, after: Any, before: Any) -> None:
    """Raise ValueError unless ``update`` returned a state of the same class as ``select``."""
    if type(after) is not type(before):
        name, kind = type(learner).__name__, type(before).__name__
        raise ValueError(
            f"{name}.update must return a state of class {kind}, got {short_repr(after)}"
        )
