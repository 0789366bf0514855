"""Ask/tell interface of a learner: ask for an action, report its reward."""

import hashlib
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from ..core import contracts
from ..core.contracts import Learner, Observed
from ..core.describe import configs_equal, describe, short_repr
from ..core.files import write_npz
from ..core.streams import Draw, Streams
from ..core.trees import list_leaves, select_trials, tree_map
from ..core.validation import check_integer, raise_invalid
from ..maths.bounds import Bounds
from .inputs import (
    as_trial_tensor,
    count_dimensions,
    finite_number,
    real_number,
    resolve_device,
    to_numpy,
    warn_caller,
)
from .records import (
    TrialState,
    check_path,
    check_sizes,
    load_error,
    pack_trial,
    read_file,
    same_context,
    saved_context,
    to_python_action,
    unpack_trial,
)


class AskTell:
    """Run one trial of a learner on your own problem.

    An invalid context, action or feedback raises an error and leaves the learner unchanged. An interrupted call also
    leaves it unchanged.

    The learner warns once per trial if a reward contradicts its declared model, for example its noise level and norm
    bound. If the rewards follow the model, a warning occurs with probability at most 1e-6 per trial; see
    ``core.contracts.Observed`` for the rule.

    Rewards may be delayed. After ``ask(a)`` and ``ask(b)`` with two contexts, ``tell`` cannot infer the context of its
    reward. From then on every ``tell`` needs the context in which its action was asked for, as in
    ``tell(action, reward, context=a)``, and raises ValueError without it. You may always pass ``context``.

    If you report the reward of an action that was not asked for, the action that was asked for remains pending. For
    example, if ``ask`` returned 0 and you play arm 2, pass ``context`` whenever the contexts change. Repeated calls of
    ``ask`` in the same context count as one until the reward is reported: they return the same action, and one reward
    answers them. If several customers have the same arms, pass ``context`` in every call.

    Args:
        learner: any learner of the package.
        context: the first context, without the leading trial dimension. For bandits this is the array of arms, K x d.
            For learners that take several tensors it is a tuple or NamedTuple of them.
        horizon: number of rounds, for learners that require it and for the warnings that depend on it; otherwise None.
        seed: seed of the learner's random numbers.
        prepare: function that is applied to every context before the learner receives it, for example to scale arms to
            norm at most 1.
        device: device of the learner's computations: "cuda", "cuda:N" or a ``torch.device``; None means the CPU.
            Actions and feedback remain NumPy arrays and Python numbers.

    Raises:
        ValueError: an invalid learner, arms (not K x d), horizon or seed; a context outside the learner's model or with
            another dimension than the first one; a missing horizon that the learner requires; per-trial settings for more
            than one trial; an unavailable device.

    Examples:
        >>> import numpy as np
        >>> from paperlib.asktell import AskTell
        >>> from paperlib.glbomd import GLBOMD, Bernoulli
        >>> arms = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
        >>> trial = AskTell(GLBOMD(Bernoulli(), norm_bound=3.0), arms, seed=1)
        >>> for reward in (1, 0, 1):
        ...     trial.tell(trial.ask(), reward)
        >>> trial.rounds
        3
    """

    def __init__(
        self,
        learner: Learner,
        context: Any,
        horizon: int | None = None,
        seed: int = 0,
        prepare: Callable | None = None,
        device: str | torch.device | None = None,
    ):
        contracts.check_learner(learner)
        if horizon is not None:
            horizon = check_integer("horizon", horizon)
        seed = check_integer("seed", seed, least=0)
        self._learner = select_trials(learner, range(1), 1)  # per-trial settings have one row
        self._horizon, self._seed = horizon, seed
        self._prepare, self._device = prepare, resolve_device(device)
        self._tkwargs = {"dtype": torch.float64, "device": self._device}
        self._streams = Streams(self._seed, [0], self._device)
        self._first = None  # the first context, which later ones must resemble
        self._first = self._lead(context)
        self._now = TrialState(self._begun(), self._first)
        if caution := contracts.call_optional(self.learner, "caution", self._first, horizon, None):
            warn_caller(caution)

    def _begun(self) -> Any:
        """Return the learner's state before the first round; its sizes may depend on the context."""
        draw = self._streams.at(-1)
        with _outside_gradients():
            return self.learner.init(1, self._first, self.horizon, draw, **self._tkwargs)

    @property
    def learner(self) -> Learner:
        """The learner, with the settings of the single trial."""
        return self._learner

    @property
    def horizon(self) -> int | None:
        """Number of rounds that was passed to the learner, or None."""
        return self._horizon

    @property
    def seed(self) -> int:
        """Seed of the learner's random numbers."""
        return self._seed

    @property
    def device(self) -> torch.device:
        """Device of the state, the context and the random draws."""
        return self._device

    @property
    def state(self) -> Any:
        """State of the learner, for one trial."""
        return self._now.state

    @property
    def context(self) -> Any:
        """Context of the last ``ask``, with a leading trial dimension of 1."""
        return self._now.context

    @property
    def rounds(self) -> int:
        """Number of rounds with feedback."""
        return self._now.rounds

    def __repr__(self) -> str:
        counts = ", ".join(f"{name}={count}" for name, count in self._counts().items())
        if (asked := self._now.proposed) is not None:
            counts += f", asked={short_repr(self._shown(asked))}"
        return f"{type(self).__name__}({short_repr(self.learner)}, {self._offer()}, {counts})"

    def _offer(self) -> str:
        """Return the part of ``repr`` that describes the context."""
        arms = isinstance(self.context, Tensor)
        return f"{self.context.shape[1]} arms" if arms else type(self.context).__name__

    def _counts(self) -> dict[str, int | None]:
        """Return the counts that ``repr`` shows in addition to the learner and the context."""
        return {"rounds": self.rounds, "horizon": self.horizon}

    def _shown(self, action: Tensor) -> int | tuple[float, ...]:
        """Return an action (1 or 1 x d) in JSON types, with tuples in place of lists."""
        return to_python_action(action)

    def ask(self, context: Any = None) -> int | np.ndarray:
        """Return the next action: the index of an arm, or a point (d). Until `tell` it stays the same.

        Args:
            context: the context of the round; None means that it did not change. If an action from another context is
                still pending, every later ``tell`` needs its context.
        """
        self._now = now = self._choosing(self._now, context)
        action = now.proposed
        return to_numpy(action[0]) if action.dim() > 1 else int(action[0])

    def _choosing(self, now: TrialState, context: Any) -> TrialState:
        """Return the trial's state after an ask in the state ``now``; ``self`` does not change."""
        now = now if context is None else now.turned(self._lead(context))
        action, pending = self._choice(now.state, now.context, self._draw(now))
        return now.with_asked([to_python_action(action)])._replace(pending=pending, proposed=action)

    def _choice(self, state: Any, context: Any, draw: Draw) -> tuple[Tensor, Any]:
        """Return the learner's choice and the state that it was made from.

        Raises:
            ValueError: the choice is not an action of the single trial.
        """
        with _outside_gradients():
            choice = self.learner.select(state, context, draw)
        contracts.check_selection(self.learner, choice, context, 1)
        return choice

    def tell(
        self, action: int | np.ndarray, feedback: float | np.ndarray, context: Any = None
    ) -> None:
        """Update the learner with the feedback of an action.

        You may choose the action yourself unless the learner's tags have ``own_actions=False``. The first round beyond
        the horizon causes a warning.

        Args:
            action: index of an arm, or a point (d).
            feedback: one number, or d numbers for a learner that wants a gradient.
            context: the context in which the action was played; None means the context of the last ``ask``. It is required
                once actions were asked for in several contexts before their feedback was reported, see ``AskTell``.

        Raises:
            ValueError: feedback that is not finite, is not one number (unless the learner wants a gradient), or that the
                learner's model excludes; an unknown action; an action other than the one asked for, if the learner
                attributes feedback to the action that it drew itself; a missing ``context`` where it is required, or an
                earlier context for such a learner.
            RuntimeError: the learner reports failure; its state is unchanged.
        """
        self._now = self._within(context, lambda now: self._heard(now, action, feedback))

    def _within(self, context: Any, hear: Callable[[TrialState], TrialState]) -> TrialState:
        """Return the trial's state after `hear` is applied in a context; None means the context of the last ask.

        Raises:
            ValueError: a missing context where it is required, or an earlier one that the learner cannot use.
        """
        now = self._now
        if context is None and now.mixed:
            raise ValueError(
                "context must be the one that ask() was called with for this action, as in tell(action, feedback, "
                "context=...), because ask() was called with several contexts and not all of these actions have received "
                "feedback (an action that you replaced by another one never does), got None"
            )
        lead = now.context if context is None else self._lead(context)
        if same_context(lead, now.context):
            return hear(now)
        if not contracts.tags_of(self.learner).own_actions:
            raise ValueError(
                f"context must be the one of the last ask(), because {type(self.learner).__name__} learns only from the "
                f"action that it drew last, got {short_repr(context)}"
            )
        # The pending choice was made in the current context, and before this feedback arrived.
        # Therefore it is dropped, and the next ask chooses again.
        after = hear(now._replace(context=lead, proposed=None, pending=None, untold=()))
        return after._replace(context=now.context, untold=now.untold)

    def _heard(
        self, now: TrialState, action: Any, feedback: Any, update: Callable | None = None
    ) -> TrialState:
        """Return the trial's state after the feedback of an action in the state ``now``; ``self`` does not change.

        ``update``: function that replaces the learner's own ``update``; None keeps it.
        """
        played, heard = self._read(now, action, feedback)
        draw = self._draw(now)
        proposed, chosen = now.proposed, now.pending
        own = contracts.tags_of(self.learner).own_actions
        # Without a preceding ask, `select` must still run if `update` needs its result.
        if proposed is None:
            chosen = now.state
            if contracts.tags_of(self.learner).prepares or not own:
                proposed, chosen = self._choice(now.state, now.context, draw)
        if not own and not torch.equal(played, proposed):
            raise ValueError(
                f"action must be {proposed[0].tolist()}, the one that ask() returned, because {type(self.learner).__name__} "
                f"learns only from actions that it chose itself, got {short_repr(action)}"
            )
        with _outside_gradients():
            after = (update or self.learner.update)(chosen, now.context, played, heard, draw)
        contracts.check_state(self.learner, after, chosen)
        now = self._cautioned(self._heeded(now, after).settled(played), now.context, played, heard)
        late = self.horizon is not None and now.rounds >= self.horizon
        if late and not now.late:
            warn_caller(
                f"round {now.rounds + 1} is beyond horizon={self.horizon}: the settings of the learner, and the "
                f"guarantees for them, hold for {self.horizon} rounds"
            )
        return now._replace(
            state=after, rounds=now.rounds + 1, proposed=None, pending=None, late=now.late or late
        )

    def _read(
        self,
        now: TrialState,
        action: Any,
        feedback: Any,
        names: tuple[str, str] = ("action", "feedback"),
    ) -> tuple[Tensor, Tensor]:
        """Return the action and its feedback as tensors for the learner.

        ``names``: names of the two arguments in error messages.

        Raises:
            ValueError: the learner's model excludes the action, the feedback, or their combination.
        """
        if self.learner.wants == "gradient":
            heard = as_trial_tensor(names[1], feedback, self._device)
        else:
            heard = torch.tensor([finite_number(names[1], feedback)], **self._tkwargs)
        played = self._action(action, now.context, names[0])
        self._validate(now.context, played, heard)
        return played, heard

    def _heeded(self, now: TrialState, state: Any) -> TrialState:
        """Raise RuntimeError for a state that reports "failed"; warn once of "overflow"."""
        report = contracts.call_optional(self.learner, "report", state, default={})
        said = {key: value[0].item() for key, value in report.items()}
        name = type(self.learner).__name__
        if said.get("failed"):
            raise RuntimeError(
                f"{name} fails in round {now.rounds + 1} and ignores the feedback of this round: "
                f"its report is {said}"
            )
        if not said.get("overflow") or now.warned:
            return now
        warn_caller(self._overflow(now, state))
        return now._replace(warned=True)

    def _cautioned(
        self, now: TrialState, context: Any, action: Tensor, feedback: Tensor
    ) -> TrialState:
        """Warn once of feedback that contradicts the declared model, by the rule of ``Observed``."""
        if now.cautioned:
            return now
        observed = Observed(action, feedback, now.rounds + 1)
        if caution := contracts.call_optional(
            self.learner, "caution", context, self.horizon, observed
        ):
            warn_caller(caution)
        return now._replace(cautioned=bool(caution))

    def _overflow(self, now: TrialState, state: Any) -> str:
        """Return the warning for a state that reports "overflow"."""
        name = type(self.learner).__name__
        return f"{name} reports an overflow of its capacity in round {now.rounds + 1}"

    def _draw(self, now: TrialState, ahead: int = 0) -> Draw:
        """Return the draws of the next round, or of the round ``ahead`` rounds after it."""
        return self._streams.at(now.rounds + now.skipped + ahead)

    def save(self, path: str | os.PathLike) -> None:
        """Write the trial to one npz file, without pickle.

        The file contains neither functions of a context nor parts of the state that follow from the context alone. It does
        not contain a pending ask either: after ``load`` or ``restore``, ``ask`` returns the same action again.

        Raises:
            ValueError: ``path`` is neither a string nor a Path.
            OSError: the file cannot be written.
        """
        check_path(path)
        head, arrays = pack_trial(self._now)
        arrays = {name: x for name, x in arrays.items() if name not in self._derived(self.state)}
        first = list(self._first.shape[1:]) if isinstance(self._first, Tensor) else None
        write_npz(path, self._settings() | {"first": first} | head, arrays)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike,
        learner: Learner,
        context: Any = None,
        horizon: int | None = None,
        seed: int | None = None,
        prepare: Callable | None = None,
        device: str | torch.device | None = None,
    ) -> Self:
        """Return the trial that ``save`` wrote, on any device.

        Args:
            learner: the learner that was saved. The file contains no code; another learner is rejected.
            context: the first context of the trial, as for the constructor. None takes it from the file, which is possible if
                it consists of arrays alone (arms, or a tuple of tensors), without NamedTuples and functions.
            horizon, seed: as at the save; None takes them from the file.
            prepare, device: as for the constructor.

        Raises:
            ValueError: as the constructor or ``restore``, or a file whose context must be passed.
            OSError: the file cannot be read.
        """
        contracts.check_learner(learner)
        head, arrays = read_file(path)
        own = {"learner": describe(select_trials(learner, range(1), 1))}
        own |= {name: x for name, x in (("horizon", horizon), ("seed", seed)) if x is not None}
        _check_settings(path, head, own)
        given = saved_context(head, arrays) if context is None else context
        if given is None:
            raise ValueError(
                f"context must be the one that the saved learner started with, because path={str(path)!r} does not "
                "contain it (a saved file contains neither functions nor classes), got None"
            )
        # The context in the file is already prepared, so `prepare` must not be applied twice.
        first = None if context is None else prepare
        found = cls(learner, given, head["horizon"], head["seed"], first, device)
        found._prepare = prepare
        found._take_up(path, head, arrays)
        return found

    def restore(self, path: str | os.PathLike) -> Self:
        """Continue the trial that ``save`` wrote and return ``self``, which is unchanged if an error is raised.

        Raises:
            ValueError: the file was not written by ``save``, is damaged or was changed since; it was saved with another
                learner, horizon or seed, or its first context has another size.
            OSError: the file cannot be read.
        """
        self._take_up(path, *read_file(path))
        return self

    @torch.inference_mode(False)  # because a learner may later differentiate through its state
    def _take_up(self, path: str | os.PathLike, head: dict, arrays: dict[str, np.ndarray]) -> None:
        """Restore the trial from the contents of a file."""
        _check_settings(path, head, self._settings())
        first, begun = head.get("first"), self._begun()
        # With fixed arms, parts of the state may have grown since the first round.
        if not contracts.tags_of(self.learner).fixed_arms:
            check_sizes(path, begun, arrays, first)
        if isinstance(self._first, Tensor) and first and first[-1] != self._first.shape[-1]:
            raise ValueError(
                f"path must be a file of a learner whose first context has {self._first.shape[-1]} dimensions, as the "
                f"context given here, got {str(path)!r} with a first context of shape {first}"
            )
        fresh, arrays = self._now._replace(state=begun), arrays | self._derived(begun)
        try:
            self._now = unpack_trial(fresh, head, arrays, self._device)
        except Exception as error:  # a file of an older version may raise any of them
            raise load_error(path, error) from error

    def _derived(self, state: Any) -> dict[str, np.ndarray]:
        """Return the leaves of a state that the learner's tags declare as derived from the context; no file contains them."""
        names = {f"state.{name}" for name in contracts.tags_of(self.learner).derived}
        held = [(name, x) for name, x in list_leaves(state) if name in names and x is not None]
        return {name: x.cpu().numpy() for name, x in held}

    def _settings(self) -> dict:
        settings = {"learner": describe(self.learner), "horizon": self.horizon, "seed": self.seed}
        if contracts.tags_of(self.learner).fixed_arms:
            known = str(tuple(self._first.shape)).encode() + to_numpy(self._first).tobytes()
            settings["arms"] = hashlib.sha256(known).hexdigest()
        return settings

    def _validate(self, context: Any, action: Tensor | None, feedback: Tensor | None) -> None:
        contracts.call_optional(self.learner, "validate", context, action, feedback)

    def _lead(self, context: Any) -> Any:
        if self._prepare is not None:
            context = self._prepare(context)
        # A copy, because the caller may change its own tensors later.
        if isinstance(context, tuple):
            context = tree_map(lambda x: x.detach().clone().unsqueeze(0).to(self._device), context)
        else:
            context = as_trial_tensor("context", context, self._device)
        self._check_offer(context)
        return context

    def _check_offer(self, context: Any) -> None:
        """Raise ValueError for an invalid context, or for one that is incompatible with the first context."""
        arms, first = isinstance(context, Tensor), self._first
        if arms and (context.dim() != 3 or 0 in context.shape):
            raise ValueError(
                "context must be arms of shape K x d with at least one arm and one dimension, got shape "
                f"{tuple(context.shape[1:])}"
            )
        self._validate(context, None, None)
        if first is None:
            return
        if isinstance(first, Tensor) != arms:
            kinds = [type(x).__name__ for x in (context, first)]
            raise ValueError(
                f"context must be of type {kinds[1]}, as the first context, got {kinds[0]}"
            )
        if arms and context.shape[-1] != first.shape[-1]:
            raise ValueError(
                f"context must have d = {first.shape[-1]} dimensions, as the first context (the number of arms may "
                f"differ), got shape {tuple(context.shape[1:])}"
            )
        # The learners store their points relative to the box, and would place them elsewhere in another one.
        if isinstance(context, Bounds) and not all(map(torch.equal, context, first)):
            raise ValueError(
                f"context must be the same box in all rounds, {_sides(first)}, got {_sides(context)}"
            )
        if contracts.tags_of(self.learner).fixed_arms and not torch.equal(context, first):
            raise ValueError(
                f"context must contain the same arms in all rounds, because {type(self.learner).__name__} counts pulls "
                f"by index, got other arms of shape {tuple(context.shape[1:])}"
            )

    def _action(self, action: Any, context: Any, name: str = "action") -> Tensor:
        """Return the index of an arm (1) or a point (1 x d) as a tensor.

        An index may be a float such as 3.0, because a table column with a missing entry has floats.

        Raises:
            ValueError: the action is not in the context.
        """
        arms = isinstance(context, Tensor)
        try:
            index = real_number(name, action) if arms or not count_dimensions(action) else math.nan
        except ValueError:
            index = math.nan
        if not index.is_integer():
            if arms:
                raise_invalid(name, action, "the index of an arm, which is an integer")
            return as_trial_tensor(name, action, self._device)
        if arms and not 0 <= index < context.shape[1]:
            raise_invalid(name, action, f"an index from 0 to {context.shape[1] - 1}")
        return torch.tensor([int(index)], device=self._device)


def _sides(box: Bounds) -> str:
    lo, hi = (side[0].tolist() for side in box)
    return f"lo={lo} and hi={hi}"


@contextmanager
def _outside_gradients() -> Iterator[None]:
    """Disable gradients without creating inference tensors, even if the caller is in inference mode.

    A learner may later differentiate through these tensors.
    """
    with torch.inference_mode(False), torch.no_grad():
        yield


def _check_settings(path: str | os.PathLike, head: dict, own: dict) -> None:
    """Raise ValueError if one of these settings has another value in the file, or is missing there."""
    if "space" in head:  # only files of the removed class ``goucb.Optimizer`` have a search space
        raise ValueError(
            f"path must be a file of a class that still exists, got {str(path)!r}, saved by goucb.Optimizer, which was "
            "removed. To tune named parameters, start a study of Optuna with a sampler of paperlib.samplers"
        )
    if other := _differing({name: head.get(name) for name in own}, own):
        there, here = (
            ", ".join(f"{name}={pair[i]!r}" for name, pair in other.items()) for i in (0, 1)
        )
        raise ValueError(
            f"path must be a file saved by a learner with {here}, got {str(path)!r}, saved by a learner with {there}"
        )


# Options of earlier versions, each with the value for which the learner is unchanged today.
RETIRED = {
    "aliased": False,  # RSGLinCB
    "chunk": 32768,  # the learners of BKB
    "log_factor": True,  # GLMUCB
    "start_at_zero": False,  # GLBOMD, OFULMLogB
    "theta0": None,  # GLBOMD, OFULMLogB
    "variant": "paper",  # GLOC, OFUGLB
}


def _differing(there: Any, here: Any, name: str = "") -> dict[str, tuple]:
    """Return the settings that differ, by dotted name."""
    if isinstance(there, dict) and isinstance(here, dict):
        retired = {
            key for key in there.keys() - here.keys() if (key, there[key]) in RETIRED.items()
        }
        inner = [
            _differing(there.get(key), here.get(key), f"{name}.{key}" if name else key)
            for key in {**here, **there}
            if key not in retired
        ]
        return {key: pair for found in inner for key, pair in found.items()}
    # Files of earlier versions describe a function by its source code or name alone, without the values that it captures.
    if isinstance(here, dict) and isinstance(there, str) and there == here.get("kind"):
        return {}
    agree = configs_equal(there, here) if name.endswith("kind") else there == here
    return {} if agree else {name: (there, here)}
