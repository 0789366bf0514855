"""Ask/tell on named dimensions of one's own: real, integer and categorical, with evaluations that may fail."""

import numbers
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ..asktell import optimizer as shared
from ..asktell.inputs import host
from ..asktell.records import Failure, Now
from ..core.describe import brief
from ..core.errors import told
from ..core.streams import Draw
from ..core.validation import LARGEST, one_of, refuse, size, whole
from ..maths.bounds import Bounds
from .learners.gp import GP
from .learners.presets import algorithm1, practical
from .learners.turbo import TuRBO
from .model.space import Space, snapped

POLICIES = ("practical", "algorithm1", "gp", "turbo")


class Evaluation(NamedTuple):
    """One entry of the log: an answer, or why there is none."""

    x: dict[str, Any]
    y: float | None
    failure: str | None


class Prediction(NamedTuple):
    """What the model says of n points; ``width`` is GO-UCB's bonus sqrt(beta) u, or a Gaussian process's standard deviation."""

    mean: np.ndarray  # n
    width: np.ndarray  # n


class Found(NamedTuple):
    """What ``minimize`` returns."""

    x: dict[str, Any] | None  # the best point; None where all evaluations failed
    y: float | None  # its value
    log: list[Evaluation]


class Optimizer(shared.Built):
    """Maximizes a function that is costly to evaluate, on named dimensions.

    ::

        search = Optimizer(Space([Real("rate", 1e-5, 1.0, log=True), Integer("depth", 1, 8)]))
        for _ in range(30):
            x = search.ask()
            search.tell(x, f(**x))
        search.recommend()

    Points are dicts of values by name. An evaluation without a finite number is told as well: it is logged with its point, and the
    learner hears the lowest answer so far in its place. The same seed and answers give the same points.

    Args:
        space: ``Space([...])`` of ``Real``, ``Integer`` and ``Category``.
        policy: "practical", GO-UCB for use, which stays near the best point so far and asks for it again; "algorithm1", the paper's, with
            settings that work; "gp", expected improvement on a Gaussian process, which searches on and takes longer a round; "turbo", TuRBO-1.
        n_init: n >= 1, answers before the model is asked: to uniform points, or one's own.
        horizon: evaluations, if known, for learners that need them.
        seed: of the points.
        learner: another learner of this package in place of the policy's.
        device: where the learner computes: "cuda", "cuda:N" or a ``torch.device``; None: the CPU. What is asked and
            told stays numpy's and Python's.

    Raises:
        ValueError: a value out of range, or a learner that keeps no points and answers.
    """

    def __init__(
        self,
        space: Space,
        policy: str = "practical",
        n_init: int = 8,
        horizon: int | None = None,
        seed: int = 0,
        learner: Any = None,
        device: str | torch.device | None = None,
    ):
        if not isinstance(space, Space):
            refuse("space", space, "Space([...]) of Real, Integer and Category")
        one_of("policy", policy, POLICIES)
        n_init = size("n_init", n_init)
        self.space = space
        with torch.inference_mode(False):
            zero = torch.zeros(len(space.names), dtype=torch.float64)
            box = Bounds(zero, zero + 1)
        own = policy_learner(policy, n_init) if learner is None else learner
        super().__init__(own, box, horizon, seed, device=device)
        self._settings()  # refuses now what could not be saved later
        if not (hasattr(self.state, "x") and hasattr(self.state, "y")):
            refuse("learner", own, "one whose state has points x and answers y")

    def ask(self) -> dict[str, Any]:
        """Where to evaluate next; asked again before ``tell``, the same."""
        return self.space.decode(super().ask())

    def tell(self, x: dict[str, Any], y: Any) -> None:
        """The answer at a point, asked for or not.

        Args:
            x: values by name.
            y: a number up to 1e30 in size; anything else (nan, infinity, text, an exception) is a failed evaluation.

        Raises:
            ValueError: a point outside the space; nothing is recorded.
        """
        super().tell(x, y)

    def observe(self, points: list[dict[str, Any]], answers: list) -> None:
        """Data of one's own, before the first ask or later.

        Args:
            points: n of them.
            answers: n, each as ``tell`` takes it.

        Raises:
            ValueError: not as many answers as points, or a point outside the space; nothing of them is recorded.
        """
        super().observe(points, answers)

    def fail(self, x: dict[str, Any], reason: Any) -> None:
        """An evaluation gave no number: as ``tell(x, reason)``.

        Args:
            x: values by name.
            reason: the exception, words, or what came in place of a number.

        Raises:
            ValueError: a point outside the space, or a reason that is a number; nothing is recorded.
        """
        if _measured(reason) is not None:
            refuse("reason", reason, "an exception, words, or what is no finite number")
        self.tell(x, reason)

    @property
    def failures(self) -> list[Failure]:
        """Evaluations that gave no number, in the order told: round, point and reason each."""
        decoded = lambda failure: self.space.decode(failure.action)
        return [failure._replace(action=decoded(failure)) for failure in self._now.failures]

    @property
    def log(self) -> list[Evaluation]:
        """All evaluations, in the order told."""
        failures, skipped = self.failures, self._now.skipped  # skipped ones came before any answer
        first = [Evaluation(failure.action, None, failure.reason) for failure in failures[:skipped]]
        later = {failure.round: failure.reason for failure in failures[skipped:]}
        heard = zip(host(self._points()[0]), self.state.y.view[0].tolist(), strict=True)
        return first + [
            Evaluation(self.space.decode(u), None if t in later else y, later.get(t))
            for t, (u, y) in enumerate(heard, 1)
        ]

    def _points(self) -> Tensor:
        """Those heard of, 1 x t x d."""
        return self.context.native(self.state.x.view)

    def recommend(self, how: str = "observed") -> dict[str, Any]:
        """The best of the points that gave a number, the first of equals.

        Args:
            how: by the "observed" answer, or by the "model", which sees through noise; "uniform": one of the points after the first ``n_init``,
                drawn, which is Algorithm 1's output and has the mean regret of Phase II (Remark 4.2).

        Raises:
            ValueError: no answer yet, for "uniform" none after the first ``n_init``, or as ``predict``.
        """
        one_of("how", how, ("observed", "model", "uniform"))
        if not self.rounds:
            refuse("answers", 0, "at least one")
        heard = self.log[self._now.skipped :]
        if how == "uniform":
            late = [x for x in heard[getattr(self.learner, "n_init", 0) :] if x.failure is None]
            if not late:
                refuse("answers", len(heard), f"more than n_init = {self.learner.n_init}")
            at = self._draw(self._now).uniform("recommend").item()
            return late[int(at * len(late))].x
        score = self._predicted(self._points()).mean if how == "model" else [x.y for x in heard]
        answered = [i for i, entry in enumerate(heard) if entry.failure is None]
        return heard[max(answered, key=lambda i: score[i])].x

    def predict(self, points: list[dict[str, Any]]) -> Prediction:
        """What the model expects at n points, in units of the answers.

        Raises:
            ValueError: a point outside the space, fewer answers than the model needs, or a learner without one.
        """
        if not isinstance(points, (list, tuple)) or not points:
            refuse("points", points, "a list of points, not empty")
        at = np.stack([self.space.encode(x) for x in points])
        return self._predicted(torch.from_numpy(at).unsqueeze(0).to(self.device))

    def _predicted(self, at: Tensor) -> Prediction:
        if not hasattr(self.learner, "predict"):
            refuse("learner", self.learner, "one that predicts, such as those of practical and gp")
        if not self.rounds:
            refuse("answers", 0, "at least one")
        with torch.no_grad():
            found = self.learner.predict(self.state, self.context, at)
        return Prediction(*(host(x[0]) for x in found))

    def _take_up(self, path: str | os.PathLike, head: dict, arrays: dict[str, np.ndarray]) -> None:
        """What was being evaluated at the save may be told, and is heard at the point that the learner meant."""
        super()._take_up(path, head, arrays)
        self._now = self._choosing(self._now, None)  # the same again, for a value has many points

    def _choice(self, state: Any, context: Any, draw: Draw) -> tuple[Tensor, Any]:
        action, pending = super()._choice(state, context, draw)
        return torch.from_numpy(snapped(host(action))).to(action.device), pending

    def _action(self, x: Any, context: Any = None, name: str = "x") -> Tensor:
        found, asked = self.space.encode(x), self._now.proposed
        # an integer or an option has many points, and the learner meant this one
        if asked is not None and (self.space.encode(self._shown(asked)) == found).all():
            return asked
        return torch.from_numpy(found).unsqueeze(0).to(self.device)

    def _heard(self, now: Now, x: Any, y: Any, update: Callable | None = None) -> Now:
        """A failed evaluation is heard as the lowest answer so far; before there is any, the draws alone move on."""
        answer = _measured(y)
        if answer is not None:
            return super()._heard(now, x, answer, update)
        why = told(y) if isinstance(y, BaseException) else brief(y)
        failure = Failure(now.rounds + 1, tuple(self._action(x)[0].tolist()), why)
        if now.rounds:
            now = super()._heard(now, x, float(now.state.y.view.min()), update)
        else:
            now = now._replace(skipped=now.skipped + 1, proposed=None, pending=None)
        return now._replace(failures=(*now.failures, failure))

    def _check_entry(self, now: Now, x: Any, y: Any, names: tuple[str, str]) -> None:
        try:
            self._action(x)
        except ValueError as error:
            raise ValueError(f"{names[0]}: {error}") from error

    def _offer(self) -> str:
        return ", ".join(self.space.names)

    def _shown(self, action: Tensor) -> dict[str, Any]:
        return self.space.decode(host(action[0]))

    def _settings(self) -> dict:
        return super()._settings() | {"space": self.space.settings()}


def _measured(y: Any) -> float | None:
    """The number that a learner can hear; None: there is none."""
    if isinstance(y, np.datetime64 | np.timedelta64):  # whose ``item`` may be an integer
        return None
    with suppress(Exception):  # what a type of one's own, or a tensor without values, may raise
        if isinstance(y, np.generic | np.ndarray | Tensor) and y.ndim == 0:
            y = None if np.ma.is_masked(y) else y.item()
        real = isinstance(y, numbers.Real) and not isinstance(y, bool)
        return float(y) if real and abs(y) <= LARGEST else None


def policy_learner(policy: str, n_init: int) -> Any:
    """The learner of a policy.

    Args:
        policy: one of ``POLICIES``.
        n_init: n >= 1.
    """
    return {
        "practical": lambda: practical(n_init),
        "algorithm1": lambda: algorithm1(n_init),
        "gp": lambda: GP(n_init, "modern", "EI"),
        "turbo": lambda: TuRBO(n_init),
    }[policy]()


def minimize(
    function: Callable[[dict[str, Any]], float],
    space: Space,
    evaluations: int,
    policy: str = "practical",
    n_init: int = 8,
    seed: int = 0,
    learner: Any = None,
) -> Found:
    """The point with the least value that was found; see ``Optimizer`` for the other arguments.

    An interrupt from the keyboard ends the search: what was found so far is returned. An error of the learner is raised with it, as the
    error's attribute ``found``.

    Args:
        function: of a dict of values by name; where it raises or exits, or returns no finite number, the evaluation is logged as failed.
        space: where to search.
        evaluations: >= 1.

    Raises:
        ValueError: a value out of range.
    """
    if not callable(function):
        refuse("function", function, "a function of a dict of values by name")
    evaluations = whole("evaluations", evaluations)
    search = Optimizer(space, policy, n_init, evaluations, seed, learner)
    try:
        for _ in range(evaluations):
            x = search.ask()
            try:
                y = function(dict(x))
            except (Exception, SystemExit) as error:
                search.fail(x, error)
            else:
                number = _measured(y)
                search.tell(x, y if number is None else -number)
    except KeyboardInterrupt:
        pass
    except Exception as error:
        error.found = _least(search)
        error.add_note("What had been found is this error's attribute found.")
        raise
    return _least(search)


def _least(search: Optimizer) -> Found:
    """What a search of the negative function has found."""
    log = [entry._replace(y=entry.y if entry.y is None else -entry.y) for entry in search.log]
    found = [entry for entry in log if entry.failure is None]
    best = min(found, key=lambda entry: entry.y, default=Evaluation(None, None, None))
    return Found(best.x, best.y, log)
