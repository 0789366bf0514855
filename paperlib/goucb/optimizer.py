"""Ask/tell optimization over your named dimensions: real, integer and categorical, with evaluations that may fail."""

import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ..asktell import optimizer as shared
from ..asktell.inputs import real_number, to_numpy, warn_caller
from ..asktell.records import Failure, TrialState
from ..core.describe import short_repr
from ..core.streams import Draw
from ..core.validation import LARGEST, check_in, check_integer, check_size, raise_invalid
from ..maths.bounds import Bounds
from .learners.goucb import GOUCB, TrustRegion
from .learners.gp import GP
from .learners.presets import algorithm1, practical
from .learners.turbo import TuRBO
from .model.space import Space

POLICIES = ("turbo", "gp", "practical", "algorithm1")


class Evaluation(NamedTuple):
    """One entry of the log: a point with its value, or with the reason why there is none."""

    x: dict[str, Any]
    y: float | None
    failure: str | None


class Prediction(NamedTuple):
    """Predictions of the model at n points. ``width`` is GO-UCB's bonus sqrt(beta) u, or the standard deviation of a Gaussian process."""

    mean: np.ndarray  # n
    width: np.ndarray  # n


class Found(NamedTuple):
    """Result of ``minimize``."""

    x: dict[str, Any] | None  # the best point; None if all evaluations failed
    y: float | None  # its value
    log: list[Evaluation]


class Optimizer(shared.PaperOptimizer):
    """Maximize an expensive function of named dimensions with an ask/tell interface.

    ::

        search = Optimizer(Space([Real("rate", 1e-5, 1.0, log=True), Integer("depth", 1, 8)]))
        for _ in range(30):
            x = search.ask()
            search.tell(x, f(**x))
        search.recommend()

    Points are dicts that map names to values; a row of a pandas table is accepted, too. A failed evaluation is logged with its point, and the
    learner receives the lowest value observed so far in its place. The same seed and values give the same points. The policies do not depend
    on the unit or the origin of the values. Another ``learner`` may depend on them; its docstring then states this.

    Args:
        space: ``Space([...])`` of ``Real``, ``Integer`` and ``Category``.
        policy: to find the best point, "turbo" (TuRBO-1), or "gp" (expected improvement on a Gaussian process), which takes longer per round.
            For low cumulative regret, "practical": GO-UCB in a trust region (our variant), which stays near the incumbent and evaluates it
            again. For comparison with the paper, "algorithm1": its Algorithm 1 with an oracle that fits the network, which often stays
            near its first points.
        n_init: n >= 1, number of observations before the model is used: uniform points, or your own observations.
        horizon: number of evaluations, if known, for learners that need it.
        seed: seed of the points.
        learner: another learner of this package, used instead of the policy's.
        device: where the learner computes: "cuda", "cuda:N" or a ``torch.device``; None: the CPU. Inputs and outputs remain NumPy and
            Python objects.

    Raises:
        ValueError: a value is out of range, or the learner does not store points and observed values.

    Examples:
        >>> from paperlib.goucb import Category, Integer, Optimizer, Space
        >>> search = Optimizer(Space([Integer("depth", 1, 8), Category("loss", ["hinge", "log"])]))
        >>> search.observe([{"depth": 2, "loss": "log"}, {"depth": 5, "loss": "hinge"}], [0.5, 0.8])
        >>> search.fail(search.ask(), "out of memory")
        >>> search.recommend(), len(search.failures)
        ({'depth': 5, 'loss': 'hinge'}, 1)
    """

    _OBSERVED = ("points", "answers")

    def __init__(
        self,
        space: Space,
        policy: str = "turbo",
        n_init: int = 8,
        horizon: int | None = None,
        seed: int = 0,
        learner: Any = None,
        device: str | torch.device | None = None,
    ):
        if not isinstance(space, Space):
            raise_invalid("space", space, "a Space, for example Space([Real('x', 0.0, 1.0)])")
        check_in("policy", policy, POLICIES)
        n_init = check_size("n_init", n_init)
        self.space = space
        with torch.inference_mode(False):
            zero = torch.zeros(space.size, dtype=torch.float64)
            box = Bounds(zero, zero + 1)
        own = policy_learner(policy, n_init) if learner is None else learner
        super().__init__(own, box, horizon, seed, device=device)
        self._texts = {}  # decoded points as text, by coordinates, so that each is decoded once
        self._settings()  # raises now if the learner could not be saved later
        if not (hasattr(self.state, "x") and hasattr(self.state, "y")):
            raise_invalid("learner", own, "one whose state has points x and values y")

    def _native(self, point: np.ndarray) -> dict[str, Any]:
        return self.space.decode(point)

    def tell(self, x: Mapping[str, Any], y: Any) -> None:
        """Record the value at a point, whether ``ask`` proposed the point or not.

        Args:
            x: values by name; a row of a pandas table, or a table with one row, is accepted, too.
            y: an object that holds one real number, of any type. NaN, infinity and numbers beyond 1e30 in absolute value are failed
                evaluations. Pass an exception to ``fail`` instead.

        Raises:
            ValueError: a point outside the space, or ``y`` is not one real number (text, a boolean, None, several numbers, an exception).
                Nothing is recorded then.
        """
        super().tell(_record(x), y)

    def observe(self, points: Any, answers: Any) -> None:
        """Add existing data, before the first ``ask`` or later.

        Args:
            points: n points, in a list or a pandas table with one column per dimension.
            answers: n values, each as in `tell`.

        Raises:
            ValueError: the numbers of points and values differ, a point is outside the space, or a value is not one real number. Nothing is
                recorded then.
        """
        super().observe(_records(points), answers)

    def fail(self, x: Mapping[str, Any], reason: Any) -> None:
        """Record an evaluation that did not give a finite number. It is logged, and the search continues.

        Args:
            x: values by name.
            reason: the exception, a message, or the value returned in place of a finite number.

        Raises:
            ValueError: a point outside the space, or a reason that is a finite number. Nothing is recorded then.
        """
        self._now = self._failed(self._now, _record(x), shared.failure_reason(reason, LARGEST))

    @property
    def failures(self) -> list[Failure]:
        """Evaluations that failed, in the order reported, each with round, point and reason."""
        return self._failures(self._now)

    @property
    def log(self) -> list[Evaluation]:
        """All evaluations, in the order reported."""
        return self._log(self._now)

    def _failures(self, now: TrialState) -> list[Failure]:
        decoded = lambda failure: self.space.decode(failure.action)
        return [failure._replace(action=decoded(failure)) for failure in now.failures]

    def _log(self, now: TrialState) -> list[Evaluation]:
        # Skipped evaluations failed before the first value, so the learner has no round for them.
        failures, skipped = self._failures(now), now.skipped
        first = [Evaluation(failure.action, None, failure.reason) for failure in failures[:skipped]]
        later = {failure.round: failure.reason for failure in failures[skipped:]}
        points = to_numpy(self.context.native(now.state.x.view)[0])
        heard = zip(points, now.state.y.view[0].tolist(), strict=True)
        return first + [
            Evaluation(self.space.decode(u), None if t in later else y, later.get(t))
            for t, (u, y) in enumerate(heard, 1)
        ]

    def _points(self) -> Tensor:
        """Return the points that the learner has received, 1 x t x d."""
        return self.context.native(self.state.x.view)

    def recommend(self, how: str = "observed") -> dict[str, Any]:
        """Return the best of the points whose evaluation succeeded, the first if several are equal.

        Args:
            how: "observed": the point with the best observed value. "model": the point with the best predicted value, which averages out noise,
                for the policies "gp", "practical" and "algorithm1". "uniform": a random point among those after the first ``n_init``; this is
                Algorithm 1's output, whose expected regret is the mean regret of Phase II (Remark 4.2).

        Raises:
            ValueError: no values yet, none after the first ``n_init`` for "uniform", or as in ``predict``.
        """
        check_in("how", how, ("observed", "model", "uniform"))
        if not self.rounds:
            raise_invalid("rounds", 0, "at least 1, the number of values given to tell()")
        heard = self.log[self._now.skipped :]
        if how == "uniform":
            late = [x for x in heard[getattr(self.learner, "n_init", 0) :] if x.failure is None]
            if not late:
                raise_invalid(
                    "rounds",
                    len(heard),
                    f"above n_init={self.learner.n_init}, with a value after the initial points",
                )
            at = self._draw(self._now).uniform("recommend").item()
            return late[int(at * len(late))].x
        # A failed evaluation has the lowest value in the model's data, and is not a candidate
        # itself.
        score = self._predicted(self._points()).mean if how == "model" else [x.y for x in heard]
        answered = [i for i, entry in enumerate(heard) if entry.failure is None]
        return heard[max(answered, key=lambda i: score[i])].x

    def predict(self, points: Any) -> Prediction:
        """Return the model's predictions at n points, a list or a pandas table, in units of the observed values.

        Raises:
            ValueError: a point outside the space, fewer values than the model needs, or a learner without a model.
        """
        points = _records(points)
        if not isinstance(points, (list, tuple)) or not points:
            raise_invalid("points", points, "a list of at least one point")
        at = np.stack([self.space.encode(x) for x in points])
        return self._predicted(torch.from_numpy(at).unsqueeze(0).to(self.device))

    def _predicted(self, at: Tensor) -> Prediction:
        if not hasattr(self.learner, "predict"):
            raise_invalid(
                "learner",
                self.learner,
                "one with the method predict, for example that of policy='gp' or policy='practical'",
            )
        if not self.rounds:
            raise_invalid("rounds", 0, "at least 1, the number of values given to tell()")
        with torch.no_grad():
            found = self.learner.predict(self.state, self.context, at)
        return Prediction(*(to_numpy(x[0]) for x in found))

    def _take_up(self, path: str | os.PathLike, head: dict, arrays: dict[str, np.ndarray]) -> None:
        """Resume after loading: a point whose evaluation was pending at the save may be reported, and counts at the learner's own coordinates."""
        super()._take_up(path, head, arrays)
        # Select the same point again, because one decoded value corresponds to many points of the
        # cube.
        self._now = self._choosing(self._now, None)

    def _choice(self, state: Any, context: Any, draw: Draw) -> tuple[Tensor, Any]:
        action, pending = super()._choice(state, context, draw)
        nearest = self.space.nearest(to_numpy(action[0]))
        return torch.from_numpy(nearest).unsqueeze(0).to(action.device), pending

    def _action(self, x: Any, context: Any = None, name: str = "x") -> Tensor:
        found, asked = self.space.encode(x), self._now.proposed
        # Many coordinates decode to the same integer; keep those that the learner proposed.
        if asked is not None and (self.space.encode(self._shown(asked)) == found).all():
            return asked
        return torch.from_numpy(found).unsqueeze(0).to(self.device)

    def _heard(self, now: TrialState, x: Any, y: Any, update: Callable | None = None) -> TrialState:
        try:
            answer = real_number("y", y)
        except ValueError as error:
            raise ValueError(
                f"{error}. Use fail() with an exception or a message for a failed evaluation"
            ) from error
        if not abs(answer) <= LARGEST:  # also true for NaN, which ``>`` would miss
            return self._failed(now, x, short_repr(y), update)
        after, asked = super()._heard(now, x, answer, update), self._action(x) is now.proposed
        if now.warned or not asked or not self._is_wasted(after, answer):
            return after
        stays = isinstance(self.learner, GOUCB)
        search_on = 'If the function has no noise, choose policy="turbo" or policy="gp", which continue the search'
        fewer = (
            "If the function has no noise and the space has few points, fewer evaluations suffice"
        )
        point = short_repr(self._log(after)[-1].x)
        warn_caller(
            f"{point} was evaluated again and returned exactly the same value. {search_on if stays else fewer}"
        )
        return after._replace(warned=True)

    def _is_wasted(self, now: TrialState, answer: float) -> bool:
        """Return whether the last evaluation repeats a point with the same value, and no point has two values, which would show noise."""
        if not bool((now.state.y.view[0, :-1] == answer).any()):
            return False
        points, found = (
            list(map(self._text, to_numpy(self.context.native(now.state.x.view)[0]))),
            {},
        )
        failed = {failure.round for failure in now.failures[now.skipped :]}
        for t, (point, y) in enumerate(zip(points, now.state.y.view[0].tolist()), 1):
            if t not in failed:
                found.setdefault(point, []).append(y)
        return len(found[points[-1]]) > 1 and all(len(set(ys)) == 1 for ys in found.values())

    def _text(self, u: np.ndarray) -> str:
        """Return the decoded values of a point as text, because many coordinates decode to the same values."""
        key = u.tobytes()
        if key not in self._texts:
            self._texts[key] = repr(self.space.decode(u))
        return self._texts[key]

    def _failed(
        self, now: TrialState, x: Any, why: str, update: Callable | None = None
    ) -> TrialState:
        """Record a failed evaluation: the learner receives the lowest value so far. Before the first value only the random draws advance."""
        failure = Failure(now.rounds + 1, tuple(self._action(x)[0].tolist()), why)
        if now.rounds:
            now = super()._heard(now, x, float(now.state.y.view.min()), update)
        else:
            now = now._replace(skipped=now.skipped + 1, proposed=None, pending=None)
            now = now.settled(self._action(x))
        return now._replace(failures=(*now.failures, failure))

    def _check_entry(self, now: TrialState, x: Any, y: Any, names: tuple[str, str]) -> None:
        real_number(names[1], y)
        try:
            self._action(x)
        except ValueError as error:
            raise ValueError(f"{names[0]}: {error}") from error

    def _offer(self) -> str:
        return ", ".join(self.space.names)

    def _settings(self) -> dict:
        return super()._settings() | {"space": self.space.settings()}


def _is_table(x: Any) -> bool:
    return hasattr(x, "columns") and hasattr(x, "to_dict")


def _record(x: Any) -> Any:
    """Return a row of a pandas table, or a table with one row, as a dict; return other objects unchanged.

    Raises:
        ValueError: a table with another number of rows.
    """
    if not _is_table(x):
        return x.to_dict() if hasattr(x, "to_dict") else x
    if len(x) != 1:
        raise_invalid(
            "x",
            x,
            f"one point, which is a table with 1 row, not with {len(x)} rows (use observe for several)",
        )
    return x.to_dict("records")[0]


def _records(points: Any) -> Any:
    """Return the rows of a pandas table, or the entries of a list, as dicts."""
    if _is_table(points):
        return points.to_dict("records")
    return list(map(_record, points)) if isinstance(points, (list, tuple)) else points


def policy_learner(policy: str, n_init: int) -> Any:
    """Return the learner of a policy.

    The trust region of these learners counts every improvement as a success. By default, ``TuRBO`` and ``TrustRegion`` require an improvement
    of 0.1 % of the incumbent's absolute value, as the authors of TuRBO do, which depends on the origin of the observed values.

    Args:
        policy: one of ``POLICIES``.
        n_init: n >= 1.
    """
    return {
        "turbo": lambda: TuRBO(n_init, gain=0.0),
        "gp": lambda: GP(n_init, "modern", "EI"),
        "practical": lambda: practical(n_init, trust=TrustRegion(gain=0.0)),
        "algorithm1": lambda: algorithm1(n_init),
    }[policy]()


def minimize(
    function: Callable[[dict[str, Any]], float],
    space: Space,
    evaluations: int,
    policy: str = "turbo",
    n_init: int = 8,
    seed: int = 0,
    learner: Any = None,
    catch: type[BaseException] | tuple[type[BaseException], ...] = (),
) -> Found:
    """Minimize a function of named dimensions; see ``Optimizer`` for the other arguments.

    A value that is NaN, infinite or beyond 1e30 in absolute value is a failed evaluation, which is logged. A keyboard interrupt ends the
    search and returns the result so far. Any other error is raised with the result so far in its attribute ``found``.

    Args:
        function: function of a dict of values by name. It returns an object that holds one real number, of any type.
        space: the search space.
        evaluations: >= 1.
        catch: exceptions of the function, a class or a tuple of classes, that count as failed evaluations. For example,
            ``catch=MemoryError``. All other exceptions are raised.

    Returns:
        The best point, its value and the log of all evaluations.

    Raises:
        ValueError: an argument is out of range, or a value is not one real number.

    Examples:
        >>> from paperlib.goucb import Real, Space, minimize
        >>> found = minimize(lambda x: (x["a"] - 0.3) ** 2, Space([Real("a", 0.0, 1.0)]), evaluations=8)
        >>> len(found.log), found.y == min(entry.y for entry in found.log)
        (8, True)
    """
    if not callable(function):
        raise_invalid("function", function, "a function of a dict with the values by name")
    evaluations = check_integer("evaluations", evaluations)
    _check_catch(catch)
    search = Optimizer(space, policy, n_init, evaluations, seed, learner)
    try:
        for _ in range(evaluations):
            _evaluate(search, function, catch)
        if all(entry.failure is not None for entry in search.log):
            warn_caller(
                f"all {evaluations} evaluations failed, the last one with {search.log[-1].failure}"
            )
    except KeyboardInterrupt:
        pass
    except BaseException as error:  # the function may also call sys.exit
        error.found = _least(search)
        error.add_note("What had been found is this error's attribute found.")
        raise
    return _least(search)


def _evaluate(search: Optimizer, function: Callable, catch: Any) -> None:
    """Evaluate the function once and report its negative value."""
    x = search.ask()
    try:
        y = function(dict(x))
    except KeyboardInterrupt:  # even if ``catch`` contains it
        raise
    except catch as error:
        search.fail(x, error)
        return
    value = real_number("the function's value", y)
    if abs(value) <= LARGEST:
        search.tell(x, -value)
    else:
        search.fail(x, y)


def _check_catch(catch: Any) -> None:
    kinds = catch if isinstance(catch, tuple) else (catch,)
    if not all(isinstance(kind, type) and issubclass(kind, BaseException) for kind in kinds):
        raise_invalid("catch", catch, "a class of exceptions or a tuple of them")


def _least(search: Optimizer) -> Found:
    """Return the result of a search that maximized the negative function."""
    log = [entry._replace(y=entry.y if entry.y is None else -entry.y) for entry in search.log]
    found = [entry for entry in log if entry.failure is None]
    best = min(found, key=lambda entry: entry.y, default=Evaluation(None, None, None))
    return Found(best.x, best.y, log)
