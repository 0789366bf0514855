"""Ask/tell optimizer for a drifting objective on a ball or a box in your own coordinates: one noisy value per round."""

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ..asktell import optimizer as shared
from ..asktell.inputs import real_number, to_numpy, warn_caller
from ..asktell.records import TrialState
from ..core.describe import short_repr
from ..core.validation import (
    LARGEST,
    SMALLEST,
    check_array,
    check_in,
    check_integer,
    check_number,
    check_positive,
    raise_invalid,
)
from ..learners.wrapper import LOGGED
from ..maths.sets import Ball, Box
from .learners.ascent import GradientAscent
from .learners.glr import GLR
from .learners.kiefer import KieferWolfowitz, tracking_gain
from .learners.least_squares import DiscountedLeastSquares, LeastSquares
from .learners.presets import practical
from .model.task import Task

POLICIES = ("glr", "track", "discounted", "master")
SETS = {"ball": Ball, "box": Box}
WIDEST = 0.25  # largest width h, used unless the noise is known to be small
# least and largest noise, in units of half of y_range; below the least, rounding errors dominate
NOISES = (1e-8, 1e12)
CROSSING = 2000  # rounds that the maximizer is assumed to need to cross the domain if neither drift nor horizon is given
NOISY = 2.0  # ratio of observed to declared variance above which the noise explains the restarts
NEAR = 0.95  # fraction of the distance to the edge from which on a center counts as at the edge
EDGE = 100  # rounds per dimension that the center is at the edge before the warning is raised
WARNED = -1  # replaces the count of those rounds once the warning was raised
NARROWEST = 1e-9  # least ratio of a half width to the size of the center


class Domain(NamedTuple):
    """The set {center + scale u} with u in the unit ball or in the box [-1, 1]^d; see ``ball`` and ``box``."""

    kind: str  # "ball" or "box"
    center: np.ndarray  # d
    scale: np.ndarray  # d; for a ball, every entry is its radius

    def native(self, u: np.ndarray) -> np.ndarray:
        """Map unit coordinates to the user's coordinates, both with d as last axis."""
        return self.center + self.scale * u


def _check_scale(name: str, value: Any, center: np.ndarray, scale: np.ndarray) -> None:
    """Raise ValueError for half widths that are out of range, or too small relative to the center to distinguish points."""
    if not ((scale >= SMALLEST) & (scale <= LARGEST)).all():
        raise_invalid(name, value, f"positive and from {SMALLEST:g} to {LARGEST:g}")
    if not (scale >= NARROWEST * abs(center)).all():
        raise_invalid(
            name,
            value,
            f"at least {NARROWEST:g} times the absolute value of the center, so that points differ",
        )


def copy_checked(domain: "Domain") -> "Domain":
    """Return a copy of a domain after a check of its numbers.

    Raises:
        ValueError: a center or scale out of range, or a ball with several radii.
    """
    center, scale = _vector("domain.center", domain.center), _vector("domain.scale", domain.scale)
    if len(center) != len(scale) or (domain.kind == "ball" and (scale != scale[0]).any()):
        raise_invalid(
            "domain.scale", domain.scale, f"{len(center)} numbers, which are equal for a ball"
        )
    _check_scale("domain.scale", domain.scale, center, scale)
    return Domain(domain.kind, center, scale)


def _vector(name: str, value: Any) -> np.ndarray:
    """Return ``value`` as a checked array of one or more numbers, d."""
    found = check_array(name, value)
    if found.ndim != 1 or not found.size or not (abs(found) <= LARGEST).all():
        raise_invalid(
            name,
            value,
            f"a list of at least one number, each at most {LARGEST:g} in absolute value",
        )
    return found


def ball(center: Any, radius: float = 1.0) -> Domain:
    """Return the ball of a given radius around a point.

    Args:
        center: d numbers.
        radius: > 0.

    Raises:
        ValueError: a value out of range.

    Examples:
        >>> from paperlib.nsbco import ball
        >>> ball([1.0, 2.0], 0.5).scale
        array([0.5, 0.5])
    """
    middle, size = _vector("center", center), check_array("radius", radius)
    if size.ndim:
        raise_invalid("radius", radius, "one number")
    _check_scale("radius", radius, middle, size)
    return Domain("ball", middle, np.full(len(middle), float(size)))


def box(lower: Any, upper: Any) -> Domain:
    """Return the box of all points between two corners.

    Args:
        lower, upper: d numbers each.

    Raises:
        ValueError: corners with different numbers of coordinates, or a ``lower`` that is not below ``upper``.

    Examples:
        >>> from paperlib.nsbco import box
        >>> box([0.0, -1.0], [1.0, 3.0]).center
        array([0.5, 1. ])
    """
    low, high = _vector("lower", lower), _vector("upper", upper)
    if len(low) != len(high) or not (low < high).all():
        raise_invalid("upper", upper, f"a list of {len(low)} numbers above lower={low.tolist()}")
    center, scale = (low + high) / 2, (high - low) / 2
    _check_scale("upper", upper, center, scale)
    for _ in range(4):  # rounding must not put a corner of the unit box outside the user's box
        outside = (center + scale > high) | (center - scale < low)
        scale = np.where(outside, np.nextafter(scale, 0.0), scale)
    return Domain("box", center, scale)


class Optimizer(shared.SequentialOptimizer):
    """Maximize a strongly concave objective whose maximizer moves, on a ball or a box.

    ::

        user = Optimizer(ball([0.0, 0.0], 2.0), concavity=0.25, smoothness=0.5, noise=0.06)
        for _ in range(2000):
            user.tell(f(user.ask()))
        user.center

    ``ask`` returns a point near ``center``, the current estimate of the maximizer. The offset from the center is the
    exploration, therefore evaluate the point itself. After ``fail``, ``ask`` returns the same point again; with "master"
    it may return another. The same seed and rewards give the same points. The guide to choosing a learner compares the
    policies on a gallery of paths.

    No policy can be better than a fixed point before its center has moved. The center of "glr" and "master" moves first
    after 2 d n_0 rounds and then after each epoch of 2 d n_s rounds, where n_s grows by (1 - sigma / L)^-4 from epoch to
    epoch. For example, with sigma / L = 1/2 and n_0 = 1 in 20 dimensions the first three steps come after 40, 680 and
    10,920 rounds. ``rounds_before_step`` returns these numbers for your settings.

    Args:
        domain: ``ball(center, radius)`` or ``box(lower, upper)``.
        concavity: sigma > 0, the least curvature of the objective in any direction, in units of the objective per squared
            unit of the domain. "discounted" assumes this curvature in all directions.
        smoothness: L > sigma, the largest curvature, in the same units.
        noise: > 0, the approximate standard deviation of a reward, in the units of the objective.
        policy: one of four.
            "glr" restarts when the reward distribution has changed, for abrupt changes.
            "track" takes steps of constant size chosen for the speed ``drift``, for slow drift where curvatures differ by
            direction.
            "discounted" is discounted least squares with a window of 64 rewards, for abrupt changes and drift; among boxes
            it accepts those with equal sides only.
            "master" is the paper's algorithm with calibrated constants. Only this algorithm has a theorem, but the theorem's
            constants are too large for use. Each thread starts at the center of the previous one (our addition), so that
            ``center`` is the best estimate.
        y_range: (least, largest) possible reward; rewards are mapped from this interval to [-1, 1].
        margin: c_0 in (0, 1). The maximizer always is in the domain scaled by 1 - c_0 around its center, and the Optimizer's
            center stays in this set. If the maximizer is outside this set, regret is linear in the number of rounds. A smaller
            margin makes the first epoch of "glr" and "master" longer, n_0 = ceil((h / c_0)^4) with h = 1/4 or less. The
            Optimizer warns once the rounds with the center within 5 % of the edge of this set exceed twice the other rounds
            by 100 d.
        horizon: number of rounds, if known. "master" uses it in its thresholds, "track" in the default for ``drift``.
        seed: seed of the random schedule of "master"; the other policies are deterministic.
        learner: another learner of this package in place of the policy's learner, for example one built by ``calibrate``.
        device: device of the learner's computations: "cuda", "cuda:N" or a ``torch.device``; None: the CPU. ``ask`` and
            ``tell`` use NumPy arrays and Python numbers on every device.
        drift: > 0, distance that the maximizer moves per round, as a fraction of the domain's radius or half side. Only
            "track" uses it to set its gain (``tracking_gain``). None: 2 divided by the horizon, which crosses the domain once;
            without a horizon 0.001, which crosses it once in 2,000 rounds.

    Raises:
        ValueError: a value out of range; gamma = sigma / L not in (0, 1) after the sides of the box are rescaled to equal
            length; least squares on a box with unequal sides; or a learner that does not learn from rewards or has no
            current point.

    Examples:
        >>> from paperlib.nsbco import Optimizer, ball
        >>> user = Optimizer(ball([0.0, 0.0], 2.0), concavity=0.25, smoothness=0.5, noise=0.06, policy="discounted")
        >>> best = [[0.8, -0.4]] * 20 + [[-0.8, 0.4]] * 200  # the maximizer jumps once
        >>> for theta in best:
        ...     x = user.ask()
        ...     user.tell(0.5 - 0.125 * ((x - theta) ** 2).sum())
        >>> bool(user.center[0] < -0.6)  # the center has followed
        True
    """

    def __init__(
        self,
        domain: Domain,
        concavity: float,
        smoothness: float,
        noise: float,
        policy: str = "glr",
        y_range: tuple[float, float] = (-1.0, 1.0),
        margin: float = 0.2,
        horizon: int | None = None,
        seed: int = 0,
        learner: Any = None,
        device: str | torch.device | None = None,
        drift: float | None = None,
    ):
        if not isinstance(domain, Domain):
            raise_invalid("domain", domain, "ball(center, radius) or box(lower, upper)")
        check_in("domain.kind", domain.kind, tuple(SETS))
        domain = copy_checked(domain)
        self.y_range = _interval(y_range)
        concavity = check_positive("concavity", concavity)
        smoothness = check_positive("smoothness", smoothness)
        noise = check_positive("noise", noise)
        margin = check_number("margin", margin, 1e-6, 1 - 1e-6)
        self._given = {
            "concavity": concavity,
            "smoothness": smoothness,
            "noise": noise,
            "margin": margin,
        }
        if horizon is not None:
            horizon = check_integer("horizon", horizon)
        if drift is not None:
            drift = check_number("drift", drift, 1e-9, 2.0)
            self._given["drift"] = drift
        check_in("policy", policy, POLICIES)
        self._domain, half = domain, (self.y_range[1] - self.y_range[0]) / 2
        if not NOISES[0] <= noise / half <= NOISES[1]:
            least, most = (half * x for x in NOISES)
            raise_invalid("noise", noise, f"from {least:g} to {most:g} with y_range={self.y_range}")
        sigma = _curvature("concavity", concavity, domain.scale.min(), half)
        L = _curvature("smoothness", smoothness, domain.scale.max(), half)
        if not sigma < L:
            raise_invalid(
                "smoothness",
                smoothness,
                f"above {smoothness * sigma / L:g}, which follows from concavity={concavity!r}",
            )
        one = lambda x: torch.tensor(float(x), dtype=torch.float64)
        cset = SETS[domain.kind].of(len(domain.center))
        # AskTell adds the leading axis of trials itself
        cset = cset._replace(R=cset.R[0], D=cset.D[0])
        task = Task(cset, one(margin), one(L), one(sigma), one(0.0))
        own, self._is_given = learner, learner is not None
        if learner is None:
            # The unit domain is 2 wide, therefore this default speed crosses it once.
            speed = 2 / (horizon or CROSSING) if drift is None else drift
            own = policy_learner(policy, task, noise / half, speed)
        if getattr(own, "wants", "reward") != "reward":
            raise_invalid("learner", own, f"one with wants='reward', not wants={own.wants!r}")
        if isinstance(own, LeastSquares) and domain.scale.min() < (1 - 1e-9) * domain.scale.max():
            chosen = f"{'learner' if learner else 'policy'}={type(own).__name__}"
            raise_invalid(
                "domain",
                domain,
                f"a ball or a box of equal sides, because the model of {chosen} has one curvature",
            )
        super().__init__(own, task, horizon, seed, device=device)
        first = self.rounds_before_step() if self._stepping() else 0
        if horizon is not None and first >= horizon:
            warn_caller(
                f"the center cannot move before round {first + 1}, which is beyond horizon={horizon}. Choose a margin above {margin:g}, "
                f"which shortens the first epoch (it has at least 2 d = {2 * len(domain.center)} rounds), or choose another policy"
            )
        at = _stand(self.state)
        if not isinstance(at, Tensor) or at.shape != (1, len(domain.center)):
            raise_invalid(
                "learner",
                own,
                "a learner whose state, or the state of its base, has a point named z or center",
            )

    def _native(self, point: np.ndarray) -> np.ndarray:
        return self._domain.native(point)

    def observe(self, actions: Any, feedback: Any) -> None:
        """Raise an error: every policy learns only from rewards at the points that it asked for.

        Raises:
            ValueError: always.
        """
        raise ValueError(
            "observe is not available, because every policy learns only from points that ask() returned, got "
            f"actions={short_repr(actions)}. Use ask() and tell()"
        )

    def _heard(
        self, now: TrialState, action: np.ndarray, y: float, update: Any = None
    ) -> TrialState:
        unit = self._unit("y", y, f" in round {now.rounds + 1}")
        return self._edged(super()._heard(now, action, unit, update))

    def _check_entry(self, now: TrialState, action: Any, y: Any, names: tuple[str, str]) -> None:
        super()._check_entry(now, action, self._unit(names[1], y), names)

    def _unit(self, name: str, y: Any, where: str = "") -> float:
        """Return the reward mapped from ``y_range`` to [-1, 1].

        Raises:
            ValueError: a reward that is not a number within ``y_range``.
        """
        (low, high), found = self.y_range, real_number(name, y)
        if not low <= found <= high:  # nan fails every comparison
            raise ValueError(
                f"{name} must be in y_range=({low:g}, {high:g}), got {short_repr(y)}{where}"
            )
        return min(1.0, max(-1.0, (2 * found - low - high) / (high - low)))

    def _edged(self, now: TrialState) -> TrialState:
        """Warn once when the rounds with the center within 5 % of the edge of X^o(c_0) exceed twice the others by 100 d.

        The other rounds are counted because a noisy center leaves the edge occasionally, even if the maximizer is beyond it.
        """
        if now.edge == WARNED:
            return now
        z, margin = _stand(now.state)[0], float(self.context.margin[0])
        size = float(z.norm() if self._domain.kind == "ball" else z.abs().max())
        edge = max(0, now.edge + (1 if size >= NEAR * (1 - margin) else -2))
        if edge < EDGE * len(z):
            return now._replace(edge=edge)
        warn_caller(
            f"by round {now.rounds} the center was at the edge of its set for at least {edge} rounds. The maximizer may be outside "
            f"this set, which margin={margin:g} makes smaller than the domain. Widen the domain, or decrease margin, which delays the first step (rounds_before_step)"
        )
        return now._replace(edge=WARNED)

    def _overflow(self, now: TrialState, state: Any) -> str:
        restarts = int(self.learner.report(state)["restarts"][0])
        counted = f"round {now.rounds + 1}: {restarts} restarts"
        if not isinstance(self.learner, GLR):
            return f"{counted}, of which the state lists only the first {LOGGED}"
        variance, quiet = (float(x[0]) for x in self.learner.spread(state))
        if variance <= NOISY * float(self.learner.variance):
            return (
                f"{counted}, because the rewards change more often than GLR can use. "
                "Choose policy='discounted', which has no test"
            )
        if self._is_given:
            declared, needed = float(self.learner.variance), max(variance, quiet)
            return (
                f"{counted}, because the noise is larger than declared: learner=GLR(variance={declared:g}), but means of pairs "
                f"have a variance of about {variance:.3g}, with y_range mapped to [-1, 1]. Set variance={needed:.3g}"
            )
        half = (self.y_range[1] - self.y_range[0]) / 2
        found, needed = (half * math.sqrt(2 * x) for x in (variance, max(variance, quiet)))
        return (
            f"{counted}, because the noise is larger than declared: noise={self._given['noise']:g}, but rewards have a standard "
            f"deviation of about {found:.3g}. Set noise={needed:.3g}"
        )

    def rounds_before_step(self, step: int = 1) -> int:
        """Return the number of rounds before the center can make its first or a later step, if there is no restart.

        Args:
            step: which step, counted from 1.

        Raises:
            ValueError: ``step`` below 1, or so large that it comes after 2^63 rounds or more; a learner without this method.
        """
        step = check_integer("step", step)
        if (learner := self._stepping()) is None:
            raise_invalid("learner", self.learner, "one with the method rounds_before_step")
        return int(learner.rounds_before_step(self.context, step))

    def _stepping(self) -> Any:
        """Return the learner, or the first learner it wraps, that has ``rounds_before_step``; None if there is no such learner."""
        learner = self.learner
        while not hasattr(learner, "rounds_before_step") and hasattr(learner, "base"):
            learner = learner.base
        return learner if hasattr(learner, "rounds_before_step") else None

    @property
    def center(self) -> np.ndarray:
        """Current estimate of the maximizer, around which the policy explores, d numbers."""
        return self._domain.native(to_numpy(_stand(self.state)[0]))

    @property
    def restarts(self) -> list[int]:
        """Numbers of observed rounds at the first 64 restarts; an empty list for policies that never restart."""
        if not hasattr(self.state, "log"):
            return []
        count, log = int(self.state.restarts[0]), self.state.log[0]
        rounds = log[:, 0] if log.dim() == 2 else log
        return rounds[:count].tolist()

    def _offer(self) -> str:
        return f"a {self._domain.kind} in {len(self._domain.center)} dimensions"

    def _settings(self) -> dict:
        kind, center, scale = self._domain
        own = {"kind": kind, "center": center.tolist(), "scale": scale.tolist()}
        given = {name: float(value) for name, value in self._given.items()}
        return super()._settings() | {"domain": own, "y_range": list(self.y_range)} | given


def _interval(y_range: Any) -> tuple[float, float]:
    """Return ``y_range`` as two checked numbers, the least reward first."""
    requirement = f"two numbers of at most {LARGEST:g} in absolute value, the smallest reward first"
    given = y_range.tolist() if isinstance(y_range, np.ndarray | Tensor) else y_range
    ends = check_array("y_range", given) if isinstance(given, tuple | list) else np.zeros(0)
    if ends.shape != (2,) or any(isinstance(x, bool | np.bool_) for x in given):
        raise_invalid("y_range", y_range, requirement)
    low, high = ends.tolist()
    if not (-LARGEST <= low < high <= LARGEST and high - low >= SMALLEST):
        requirement += f", which differ by at least {SMALLEST:g}"
        raise_invalid("y_range", y_range, requirement)
    return low, high


def _curvature(name: str, value: float, scale: float, half: float) -> float:
    """Return a curvature in the learner's units, where the domain has unit size and rewards are in [-1, 1]."""
    found = value * scale**2 / half
    if not SMALLEST <= found <= LARGEST:
        scaled = f"from {SMALLEST:g} to {LARGEST:g} in the learner's units, which follow from domain and y_range"
        raise_invalid(name, value, f"{scaled}, where it is {found:g}")
    return found


def _stand(state: Any) -> Any:
    """Return the current point of a learner, 1 x d, or None if it has no point.

    The point is z or center of its state, or of the first base state that has one.
    """
    while state is not None and not (hasattr(state, "z") or hasattr(state, "center")):
        state = getattr(state, "base", None)
    return getattr(state, "z", getattr(state, "center", None))


def policy_learner(policy: str, task: Task, noise: float, drift: float) -> Any:
    """Return the learner of a policy, in unit coordinates.

    Args:
        policy: one of ``POLICIES``.
        task: the task of the single trial.
        noise: standard deviation of a reward.
        drift: distance that the maximizer moves per round.
    """
    sigma, L = float(task.concavity), float(task.smoothness)
    h = min(math.sqrt(noise), WIDEST)  # widths near the fourth root of the variance work best
    base = GradientAscent(h)
    ridge = 1e-3 * h * h  # small compared with the squared spacing of the queries
    return {
        "glr": lambda: GLR(base, noise**2 / 2),
        "track": lambda: KieferWolfowitz(
            tracking_gain(task.cset.dim, sigma, L, noise, drift, h), h
        ),
        "discounted": lambda: DiscountedLeastSquares(64, ridge, h),
        "master": lambda: practical(GradientAscent(h, warm_start=True)),
    }[policy]()
