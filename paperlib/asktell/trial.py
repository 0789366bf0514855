"""Any learner on a problem of one's own: ask for an action, tell what it earned."""

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
    """One trial of a learner that keeps its state.

    A refused context, action or feedback raises before anything changes: what was learned stays.
    So it does where a call is interrupted.

    A reward that contradicts the learner's declared model, its noise and norm bound for example, is warned of once per trial.
    A trial that follows its model is warned of with probability at most 1e-6; see ``core.contracts.Observed`` for the rule.

    Rewards may be delayed. After ``ask(a)`` and ``ask(b)`` with two contexts ``tell`` cannot tell which of them its
    reward belongs to. From then on every ``tell`` needs the context in which its action was asked for, as in
    ``tell(action, reward, context=a)``, and raises ValueError without it. You may pass ``context`` always.
    The reward of an action that was not asked for leaves the one that was asked for untold. For example, a user who
    plays arm 2 where ``ask`` returned 0 passes ``context`` if the contexts change. Asking again in the same context before the
    reward is told is one ask: it returns the same action, and one reward settles it. With several customers who have the same
    arms, pass ``context`` in every call.

    Args:
        learner: any learner of the package.
        context: the first context, without the leading trial dimension (for bandits the arms, K x
            d); a tuple or NamedTuple of tensors, each without it, for learners that take several.
        horizon: rounds, for learners that need to know, and for what some warn of; None otherwise.
        seed: of the learner's own random numbers.
        prepare: maps a context before the learner sees it, for example to bring arms to norm at
            most 1.
        device: where the learner computes: "cuda", "cuda:N" or a ``torch.device``; None: the CPU. What is
            asked and told stays numpy's and Python's.

    Raises:
        ValueError: what is no learner, no arms (K x d), no horizon or no seed; a context outside
            the learner's model or of another dimension than the first; a learner that needs a
            horizon, or with settings for more than one trial; a device that is not here.
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
        self._learner = select_trials(learner, range(1), 1)  # settings by trial: of the one
        self._horizon, self._seed = horizon, seed
        self._prepare, self._device = prepare, resolve_device(device)
        self._tkwargs = {"dtype": torch.float64, "device": self._device}
        self._streams = Streams(self._seed, [0], self._device)
        self._first = None  # context: later ones are like it
        self._first = self._lead(context)
        self._now = TrialState(self._begun(), self._first)
        if caution := contracts.call_optional(self.learner, "caution", self._first, horizon, None):
            warn_caller(caution)

    def _begun(self) -> Any:
        """The learner's state before the first round; sizes of its parts may hang on the context."""
        draw = self._streams.at(-1)
        with _outside_gradients():
            return self.learner.init(1, self._first, self.horizon, draw, **self._tkwargs)

    @property
    def learner(self) -> Learner:
        """Who learns, with settings of the one trial."""
        return self._learner

    @property
    def horizon(self) -> int | None:
        """Rounds that the learner was told of."""
        return self._horizon

    @property
    def seed(self) -> int:
        """Of the learner's own random numbers."""
        return self._seed

    @property
    def device(self) -> torch.device:
        """Where the state, the context and the draws are."""
        return self._device

    @property
    def state(self) -> Any:
        """What was learned: the learner's state, of one trial."""
        return self._now.state

    @property
    def context(self) -> Any:
        """The context last asked about, led by the one trial."""
        return self._now.context

    @property
    def rounds(self) -> int:
        """Rounds told."""
        return self._now.rounds

    def __repr__(self) -> str:
        counts = ", ".join(f"{name}={count}" for name, count in self._counts().items())
        if (asked := self._now.proposed) is not None:
            counts += f", asked={short_repr(self._shown(asked))}"
        return f"{type(self).__name__}({short_repr(self.learner)}, {self._offer()}, {counts})"

    def _offer(self) -> str:
        """What ``repr`` says of the context."""
        arms = isinstance(self.context, Tensor)
        return f"{self.context.shape[1]} arms" if arms else type(self.context).__name__

    def _counts(self) -> dict[str, int | None]:
        """What ``repr`` says beside the learner and the context."""
        return {"rounds": self.rounds, "horizon": self.horizon}

    def _shown(self, action: Tensor) -> int | tuple[float, ...]:
        """An action (1 or 1 x d) in words: what JSON knows, tuples for lists."""
        return to_python_action(action)

    def ask(self, context: Any = None) -> int | np.ndarray:
        """The next action, an arm's index or a point (d); asked again before ``tell``, the same.

        ``context``: the round's, if changed. Where an action asked for in another context is not told yet, every later
        ``tell`` needs its context.
        """
        self._now = now = self._choosing(self._now, context)
        action = now.proposed
        return to_numpy(action[0]) if action.dim() > 1 else int(action[0])

    def _choosing(self, now: TrialState, context: Any) -> TrialState:
        """What follows ``now`` when an action is asked for; nothing of ``self`` changes."""
        now = now if context is None else now.turned(self._lead(context))
        action, pending = self._choice(now.state, now.context, self._draw(now))
        return now.with_asked([to_python_action(action)])._replace(pending=pending, proposed=action)

    def _choice(self, state: Any, context: Any, draw: Draw) -> tuple[Tensor, Any]:
        """What the learner chooses, and the state in which it did.

        Raises:
            ValueError: it is no action of the one trial.
        """
        with _outside_gradients():
            choice = self.learner.select(state, context, draw)
        contracts.check_selection(self.learner, choice, context, 1)
        return choice

    def tell(
        self, action: int | np.ndarray, feedback: float | np.ndarray, context: Any = None
    ) -> None:
        """Learn what the action earned.

        It may be an action of one's own unless the learner's tags say ``own_actions=False``. The first
        round beyond the horizon is warned of.

        Args:
            action: an arm's index or a point (d).
            feedback: one number; of a learner that wants a gradient d.
            context: in which the action was played; None: the one last asked about. It has to be passed once actions
                were asked for in several contexts before they were told, see ``AskTell``.

        Raises:
            ValueError: feedback that is not finite, is not one number (unless the learner wants a
                gradient) or that the learner's model excludes, or an unknown action, or another
                than the one asked for where the learner credits feedback to what it drew; no
                ``context`` where one is needed, or a late one for such a learner.
            RuntimeError: the learner reports failure; the state stays as it was.
        """
        self._now = self._within(context, lambda now: self._heard(now, action, feedback))

    def _within(self, context: Any, hear: Callable[[TrialState], TrialState]) -> TrialState:
        """What follows when ``hear`` is done in a context (None: the one last asked about).

        Raises:
            ValueError: no context where one is needed, or a late one that the learner cannot use.
        """
        now = self._now
        if context is None and now.mixed:
            raise ValueError(
                "context must be that in which the action was asked for, as in tell(action, feedback, context=...), "
                "because actions were asked for in several contexts before they were told (an action that you replaced "
                "by another stays untold); got None"
            )
        lead = now.context if context is None else self._lead(context)
        if same_context(lead, now.context):
            return hear(now)
        if not contracts.tags_of(self.learner).own_actions:
            raise ValueError(
                f"context must be the one last asked about for {type(self.learner).__name__}, which learns of the "
                f"action that it drew last, got {short_repr(context)}"
            )
        # the choice that is pending was made in this context, and before what is heard now
        after = hear(now._replace(context=lead, proposed=None, pending=None, untold=()))
        return after._replace(context=now.context, untold=now.untold)

    def _heard(
        self, now: TrialState, action: Any, feedback: Any, update: Callable | None = None
    ) -> TrialState:
        """What follows ``now`` when the action's feedback is told; nothing of ``self`` changes.

        ``update``: in place of the learner's.
        """
        played, heard = self._read(now, action, feedback)
        draw = self._draw(now)
        proposed, chosen = now.proposed, now.pending
        own = contracts.tags_of(self.learner).own_actions
        if proposed is None:  # not asked for: the choice has to be prepared still, or known
            chosen = now.state
            if contracts.tags_of(self.learner).prepares or not own:
                proposed, chosen = self._choice(now.state, now.context, draw)
        if not own and not torch.equal(played, proposed):
            raise ValueError(
                f"action={short_repr(action)}; allowed for {type(self.learner).__name__}, which "
                f"learns of its own actions only: the one asked for, {proposed[0].tolist()}"
            )
        with _outside_gradients():
            after = (update or self.learner.update)(chosen, now.context, played, heard, draw)
        contracts.check_state(self.learner, after, chosen)
        now = self._cautioned(self._heeded(now, after).settled(played), now.context, played, heard)
        late = self.horizon is not None and now.rounds >= self.horizon
        if late and not now.late:
            warn_caller(
                f"round {now.rounds + 1} is beyond horizon={self.horizon}: settings, and what is "
                f"proved of them, are for {self.horizon} rounds"
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
        """The action and its feedback as the learner takes them.

        Raises:
            ValueError: one of them, or both, of which the learner's model excludes; it says ``names``.
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
                f"{name} fails in round {now.rounds + 1} and learns nothing of it: "
                f"its report is {said}"
            )
        if not said.get("overflow") or now.warned:
            return now
        warn_caller(self._overflow(now, state))
        return now._replace(warned=True)

    def _cautioned(
        self, now: TrialState, context: Any, action: Tensor, feedback: Tensor
    ) -> TrialState:
        """Warn once of feedback that contradicts the declared model; the rule is that of ``Observed``."""
        if now.cautioned:
            return now
        observed = Observed(action, feedback, now.rounds + 1)
        if caution := contracts.call_optional(
            self.learner, "caution", context, self.horizon, observed
        ):
            warn_caller(caution)
        return now._replace(cautioned=bool(caution))

    def _overflow(self, now: TrialState, state: Any) -> str:
        """The warning about a state that reports "overflow"."""
        name = type(self.learner).__name__
        return f"{name} reports an overflow of its capacity in round {now.rounds + 1}"

    def _draw(self, now: TrialState, ahead: int = 0) -> Draw:
        """The key of the round that comes, or of one ``ahead`` of it."""
        return self._streams.at(now.rounds + now.skipped + ahead)

    def save(self, path: str | os.PathLike) -> None:
        """Write all but a pending ask to one npz, without pickle.

        Functions in a context are not written, nor what follows from it alone; what was asked is asked again after
        ``load`` or ``restore``.

        Raises:
            ValueError: ``path`` is neither a name nor a Path.
            OSError: it cannot be written.
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
        """The trial that ``save`` wrote, where it left off, on any device.

        Args:
            learner: the one that was saved: a file tells it from others, and holds no code.
            context: the one with which it began, as for the constructor; None: the file's, where it is
                arrays alone (arms, or a tuple of tensors), without NamedTuples and functions.
            horizon, seed: as at the save; None: the file's.
            prepare, device: as for the constructor.

        Raises:
            ValueError: as the constructor or ``restore``, or a file whose context has to be given.
            OSError: the file cannot be read at all.
        """
        contracts.check_learner(learner)
        head, arrays = read_file(path)
        own = {"learner": describe(select_trials(learner, range(1), 1))}
        own |= {name: x for name, x in (("horizon", horizon), ("seed", seed)) if x is not None}
        _check_settings(path, head, own)
        given = saved_context(head, arrays) if context is None else context
        if given is None:
            raise ValueError(
                f"context=None; allowed for path={str(path)!r}, which holds neither functions nor "
                "classes: the context with which its learner began"
            )
        # the file's context was prepared before it was saved
        first = None if context is None else prepare
        found = cls(learner, given, head["horizon"], head["seed"], first, device)
        found._prepare = prepare
        found._take_up(path, head, arrays)
        return found

    def restore(self, path: str | os.PathLike) -> Self:
        """Take up where ``save`` left off; returns itself, unchanged where it raises.

        Raises:
            ValueError: the file is none of ``save``'s, damaged or changed since, was saved by
                another learner, with another horizon or seed, or begun with a context of another
                size.
            OSError: it cannot be read at all.
        """
        self._take_up(path, *read_file(path))
        return self

    @torch.inference_mode(False)  # a learner may take gradients through its state later
    def _take_up(self, path: str | os.PathLike, head: dict, arrays: dict[str, np.ndarray]) -> None:
        """What ``restore`` does once the file is read."""
        _check_settings(path, head, self._settings())
        first, begun = head.get("first"), self._begun()
        if not contracts.tags_of(self.learner).fixed_arms:  # else parts may have grown since
            check_sizes(path, begun, arrays, first)
        if isinstance(self._first, Tensor) and first and first[-1] != self._first.shape[-1]:
            raise ValueError(
                f"path={str(path)!r} was begun with a context {first}; allowed: "
                f"{self._first.shape[-1]} dimensions, as the context given here"
            )
        fresh, arrays = self._now._replace(state=begun), arrays | self._derived(begun)
        try:
            self._now = unpack_trial(fresh, head, arrays, self._device)
        except Exception as error:  # of what an older version wrote
            raise load_error(path, error) from error

    def _derived(self, state: Any) -> dict[str, np.ndarray]:
        """Leaves of a state that follow from the context alone, as its learner says: they are in no file."""
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
        if isinstance(context, tuple):  # a copy: the caller's stays the caller's
            context = tree_map(lambda x: x.detach().clone().unsqueeze(0).to(self._device), context)
        else:
            context = as_trial_tensor("context", context, self._device)
        self._check_offer(context)
        return context

    def _check_offer(self, context: Any) -> None:
        """Raise ValueError for what is no context, or none of this learner after the first one."""
        arms, first = isinstance(context, Tensor), self._first
        if arms and (context.dim() != 3 or 0 in context.shape):
            raise ValueError(
                f"context, arms: shape {tuple(context.shape[1:])}; allowed: K x d, with at least "
                "one arm and one dimension"
            )
        self._validate(context, None, None)
        if first is None:
            return
        if isinstance(first, Tensor) != arms:
            kinds = [type(x).__name__ for x in (context, first)]
            raise ValueError(f"context: {kinds[0]}; allowed: {kinds[1]}, as the first")
        if arms and context.shape[-1] != first.shape[-1]:
            raise ValueError(
                f"context={tuple(context.shape[1:])}; allowed: d = {first.shape[-1]} as in the "
                "first context, the number of arms may differ"
            )
        if contracts.tags_of(self.learner).fixed_arms and not torch.equal(context, first):
            raise ValueError(
                f"context={tuple(context.shape[1:])}: other arms than the first; allowed for "
                f"{type(self.learner).__name__}, which counts by index: the same arms in "
                "all rounds"
            )

    def _action(self, action: Any, context: Any, name: str = "action") -> Tensor:
        """The index of an arm, 1, or a point, 1 x d. An integer may come as 3.0, as from a table with a missing entry.

        Raises:
            ValueError: none of the context.
        """
        arms = isinstance(context, Tensor)
        try:
            index = real_number(name, action) if arms or not count_dimensions(action) else math.nan
        except ValueError:
            index = math.nan
        if not index.is_integer():
            if arms:
                raise_invalid(name, action, "the index of an arm, an integer")
            return as_trial_tensor(name, action, self._device)
        if arms and not 0 <= index < context.shape[1]:
            raise_invalid(name, action, f"0..{context.shape[1] - 1}")
        return torch.tensor([int(index)], device=self._device)


@contextmanager
def _outside_gradients() -> Iterator[None]:
    """No gradients, but tensors that a learner may take some through later, also where the caller is in inference mode."""
    with torch.inference_mode(False), torch.no_grad():
        yield


def _check_settings(path: str | os.PathLike, head: dict, own: dict) -> None:
    """Raise ValueError where one of these settings is another one in the file, or in none."""
    if other := _differing({name: head.get(name) for name in own}, own):
        there, here = (
            ", ".join(f"{name}={pair[i]!r}" for name, pair in other.items()) for i in (0, 1)
        )
        raise ValueError(f"path={str(path)!r} was saved by a learner with {there}; allowed: {here}")


# options that learners of earlier versions had, with the value under which they are today's learners
RETIRED = {
    "aliased": False,  # RSGLinCB
    "chunk": 32768,  # the learners of BKB
    "log_factor": True,  # GLMUCB
    "start_at_zero": False,  # GLBOMD, OFULMLogB
    "theta0": None,  # GLBOMD, OFULMLogB
    "variant": "paper",  # GLOC, OFUGLB
}


def _differing(there: Any, here: Any, name: str = "") -> dict[str, tuple]:
    """The settings that differ, by dotted name."""
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
    agree = configs_equal(there, here) if name.endswith("kind") else there == here
    return {} if agree else {name: (there, here)}
