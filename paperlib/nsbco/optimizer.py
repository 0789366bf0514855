"""Ask/tell for an objective of your own that drifts, on a ball or a box in your coordinates: one noisy value per round."""

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
WIDEST = 0.25  # h, where the noise is not known to be small
NOISES = (1e-8, 1e12)  # least and largest, in units of half of y_range; below, rounding decides
CROSSING = 2000  # rounds in which the maximizer crosses the domain, where neither drift nor horizon is given
NOISY = 2.0  # times the declared variance, from which on the noise explains restarts
NEAR = 0.95  # of the edge's distance, from which on a center counts as at the edge
EDGE = 100  # rounds per dimension with the center at the edge before the warning
WARNED = -1  # in the place of their count after it
NARROWEST = 1e-9  # least half width over the center's size


class Domain(NamedTuple):
    """{center + scale u} with u in the unit ball or the box [-1, 1]^d."""

    kind: str  # "ball" or "box"
    center: np.ndarray  # d
    scale: np.ndarray  # d, of a ball its radius in every place

    def native(self, u: np.ndarray) -> np.ndarray:
        """From unit coordinates to the user's."""
        return self.center + self.scale * u


def _check_scale(name: str, value: Any, center: np.ndarray, scale: np.ndarray) -> None:
    """Raise ValueError for half widths that are out of range, or so small beside the center that points could not differ."""
    if not ((scale >= SMALLEST) & (scale <= LARGEST)).all():
        raise_invalid(name, value, f"numbers from {SMALLEST:g} to {LARGEST:g}")
    if not (scale >= NARROWEST * abs(center)).all():
        raise_invalid(
            name, value, f"at least {NARROWEST:g} of the center's size, so that points differ"
        )


def copy_checked(domain: "Domain") -> "Domain":
    """A copy.

    Raises:
        ValueError: a center or scale out of range, or a ball of several radii.
    """
    center, scale = _vector("domain.center", domain.center), _vector("domain.scale", domain.scale)
    if len(center) != len(scale) or (domain.kind == "ball" and (scale != scale[0]).any()):
        raise_invalid(
            "domain.scale", domain.scale, f"{len(center)} numbers, those of a ball all equal"
        )
    _check_scale("domain.scale", domain.scale, center, scale)
    return Domain(domain.kind, center, scale)


def _vector(name: str, value: Any) -> np.ndarray:
    found = check_array(name, value)
    if found.ndim != 1 or not found.size or not (abs(found) <= LARGEST).all():
        raise_invalid(name, value, f"one or more numbers up to {LARGEST:g} in size, in a list")
    return found


def ball(center: Any, radius: float = 1.0) -> Domain:
    """The ball about a point.

    Args:
        center: d numbers.
        radius: > 0.

    Raises:
        ValueError: a value out of range.
    """
    middle, size = _vector("center", center), check_array("radius", radius)
    if size.ndim:
        raise_invalid("radius", radius, "one number")
    _check_scale("radius", radius, middle, size)
    return Domain("ball", middle, np.full(len(middle), float(size)))


def box(lower: Any, upper: Any) -> Domain:
    """All points between two corners.

    Args:
        lower, upper: d numbers each.

    Raises:
        ValueError: corners of unlike lengths, or not one below the other.
    """
    low, high = _vector("lower", lower), _vector("upper", upper)
    if len(low) != len(high) or not (low < high).all():
        raise_invalid("upper", upper, f"{len(low)} numbers above lower={low.tolist()}")
    center, scale = (low + high) / 2, (high - low) / 2
    _check_scale("upper", upper, center, scale)
    for _ in range(4):  # rounding may not lead out
        outside = (center + scale > high) | (center - scale < low)
        scale = np.where(outside, np.nextafter(scale, 0.0), scale)
    return Domain("box", center, scale)


class Optimizer(shared.SequentialOptimizer):
    """Maximizes a strongly concave objective whose maximizer moves, on a ball or a box.

    ::

        user = Optimizer(ball([0.0, 0.0], 2.0), concavity=0.25, smoothness=0.5, noise=0.06)
        for _ in range(2000):
            user.tell(f(user.ask()))
        user.center

    Points asked for lie about ``center``, which explores: play them. After ``fail`` the same point is asked for again, by
    "master" perhaps another. The same seed and answers give the same points. Which policy to take the guide to choosing a learner says, from the gallery of paths.

    No policy can be better than a fixed point before its center has moved. The center of "glr" and "master" moves first
    after 2 d n_0 rounds and then after each epoch of 2 d n_s rounds, where n_s grows by (1 - sigma / L)^-4 from epoch to
    epoch. For example, with sigma / L = 1/2 and n_0 = 1 in 20 dimensions the first three steps come after 40, 680 and
    10,920 rounds. ``rounds_before_step`` returns these numbers for your settings.

    Args:
        domain: ``ball(center, radius)`` or ``box(lower, upper)``.
        concavity: sigma > 0, least curvature of the objective in any direction, in its units over
            those of the domain, squared. "discounted" takes it for that of all directions.
        smoothness: L > sigma, its largest curvature, in the same units.
        noise: > 0, about the standard deviation of an answer, in its own units.
        policy: "glr", restarts where what is heard has changed (abrupt changes); "track", steps of
            constant size for the speed ``drift`` (slow drift where curvatures differ by direction);
            "discounted", least squares that forget (abrupt changes and drift, with a
            window of 64 answers; on a box of equal sides only); "master", the paper's, for which alone there is a theorem, of
            constants that nobody can use. Its threads begin where the one before stood (ours), so
            that ``center`` is the best known.
        y_range: (least, largest) answer that can come; they are mapped to [-1, 1].
        margin: c_0 in (0, 1), how deep inside the maximizer always lies, in parts of the domain: the center stays
            within 1 - c_0 of it. If the maximizer lies farther out, regret is linear in the rounds. A smaller margin makes
            the first epoch of "glr" and "master" longer, n_0 = ceil((h / c_0)^4) with h = 1/4 or less. The Optimizer warns
            once the rounds with the center within 5 % of the edge that the margin allows exceed twice the others by 100 d.
        horizon: rounds, if known; "master" has thresholds for it, "track" a default for ``drift``.
        seed: of the schedule of "master"; the others draw nothing.
        learner: another learner of this package in place of the policy's, such as ``calibrate``
            returns.
        device: where the learner computes: "cuda", "cuda:N" or a ``torch.device``; None: the CPU. What is asked and
            told stays numpy's and Python's.
        drift: > 0, how far the maximizer moves per round, as a fraction of the domain's radius or half side; "track" alone
            uses it, for its gain (``tracking_gain``). None: 2 over the horizon, once across the domain; without a horizon
            0.001, once across in 2,000 rounds.

    Raises:
        ValueError: a value out of range, gamma = sigma / L, after the box's sides are made equal,
            not in (0, 1), least squares on a box of unequal sides, or a learner that hears no rewards
            or stands nowhere.
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
            raise_invalid("noise", noise, f"{least:g} to {most:g} with y_range={self.y_range}")
        sigma = _curvature("concavity", concavity, domain.scale.min(), half)
        L = _curvature("smoothness", smoothness, domain.scale.max(), half)
        if not sigma < L:
            raise_invalid(
                "smoothness", smoothness, f"above {smoothness * sigma / L:g}, see concavity"
            )
        one = lambda x: torch.tensor(float(x), dtype=torch.float64)
        cset = SETS[domain.kind].of(len(domain.center))
        cset = cset._replace(R=cset.R[0], D=cset.D[0])  # AskTell leads it with the trial
        task = Task(cset, one(margin), one(L), one(sigma), one(0.0))
        own, self._is_given = learner, learner is not None
        if learner is None:
            speed = 2 / (horizon or CROSSING) if drift is None else drift
            own = policy_learner(policy, task, noise / half, speed)
        if getattr(own, "wants", "reward") != "reward":
            raise_invalid("learner", own, f"one that hears rewards; this wants a {own.wants}")
        if isinstance(own, LeastSquares) and domain.scale.min() < (1 - 1e-9) * domain.scale.max():
            sides = f"with {'learner' if learner else 'policy'}={type(own).__name__}, whose model has one curvature"
            raise_invalid("domain", domain, f"{sides}: a ball, or a box of equal sides")
        super().__init__(own, task, horizon, seed, device=device)
        first = self.rounds_before_step() if self._stepping() else 0
        if horizon is not None and first >= horizon:
            warn_caller(
                f"the center cannot move before round {first + 1}, beyond horizon={horizon}: a margin above {margin:g} shortens the "
                f"first epoch, which has at least 2 d = {2 * len(domain.center)} rounds; or choose another policy"
            )
        at = _stand(self.state)
        if not isinstance(at, Tensor) or at.shape != (1, len(domain.center)):
            raise_invalid(
                "learner", own, "one whose state has a point z or center, or whose base's has"
            )

    def _native(self, point: np.ndarray) -> np.ndarray:
        return self._domain.native(point)

    def observe(self, actions: Any, feedback: Any) -> None:
        """Not defined: every policy learns of its own points only.

        Raises:
            ValueError: always.
        """
        raise_invalid("actions", actions, "none, a policy learns of its own actions only")

    def _heard(
        self, now: TrialState, action: np.ndarray, y: float, update: Any = None
    ) -> TrialState:
        unit = self._unit("y", y, f" in round {now.rounds + 1}")
        return self._edged(super()._heard(now, action, unit, update))

    def _check_entry(self, now: TrialState, action: Any, y: Any, names: tuple[str, str]) -> None:
        super()._check_entry(now, action, self._unit(names[1], y), names)

    def _unit(self, name: str, y: Any, where: str = "") -> float:
        """The answer in [-1, 1].

        Raises:
            ValueError: no number within ``y_range``.
        """
        (low, high), found = self.y_range, real_number(name, y)
        if not low <= found <= high:  # nan is in none
            allowed = f"a number in y_range=({low:g}, {high:g})"
            raise ValueError(f"{name}={short_repr(y)}{where}; allowed: {allowed}")
        return min(1.0, max(-1.0, (2 * found - low - high) / (high - low)))

    def _edged(self, now: TrialState) -> TrialState:
        """Warn once where the rounds with the center near the edge of X^o(c_0), within 5 %, exceed twice the others by 100 d.

        A noisy center leaves the edge now and then, also where the maximizer lies beyond it.
        """
        if now.edge == WARNED:
            return now
        z, margin = _stand(now.state)[0], float(self.context.margin[0])
        size = float(z.norm() if self._domain.kind == "ball" else z.abs().max())
        edge = max(0, now.edge + (1 if size >= NEAR * (1 - margin) else -2))
        if edge < EDGE * len(z):
            return now._replace(edge=edge)
        warn_caller(
            f"the center stays at the edge, in round {now.rounds} for {edge} rounds or more: the maximizer may lie where "
            f"margin={margin:g} keeps the center from going; widen the domain, or decrease margin, which delays the first step (rounds_before_step)"
        )
        return now._replace(edge=WARNED)

    def _overflow(self, now: TrialState, state: Any) -> str:
        restarts = int(self.learner.report(state)["restarts"][0])
        counted = f"round {now.rounds + 1}: {restarts} restarts"
        if not isinstance(self.learner, GLR):
            return f"{counted}, of which restarts lists the first {LOGGED}"
        variance, quiet = (float(x[0]) for x in self.learner.spread(state))
        if variance <= NOISY * float(self.learner.variance):
            return f"{counted}: rewards change more often than GLR can use; policy='discounted' needs no test"
        if self._is_given:
            declared, needed = float(self.learner.variance), max(variance, quiet)
            return (
                f"{counted}, because the noise is larger than declared: learner=GLR(variance={declared:g}), but means of pairs "
                f"have a variance of about {variance:.3g}, with y_range mapped to [-1, 1]; declare variance={needed:.3g}"
            )
        half = (self.y_range[1] - self.y_range[0]) / 2
        found, needed = (half * math.sqrt(2 * x) for x in (variance, max(variance, quiet)))
        return (
            f"{counted}, because the noise is larger than declared: noise={self._given['noise']:g}, but rewards have a standard "
            f"deviation of about {found:.3g}; declare noise={needed:.3g}"
        )

    def rounds_before_step(self, step: int = 1) -> int:
        """Rounds before the center can move for the first time, or a later one, without a restart.

        Raises:
            ValueError: ``step`` below 1, or so large that it comes after 2^63 rounds or more; a learner that does not define it.
        """
        step = check_integer("step", step)
        if (learner := self._stepping()) is None:
            raise_invalid("learner", self.learner, "one with rounds_before_step")
        return int(learner.rounds_before_step(self.context, step))

    def _stepping(self) -> Any:
        """Return the learner, or the one that it wraps, that says when it steps; None if none does."""
        learner = self.learner
        while not hasattr(learner, "rounds_before_step") and hasattr(learner, "base"):
            learner = learner.base
        return learner if hasattr(learner, "rounds_before_step") else None

    @property
    def center(self) -> np.ndarray:
        """The present estimate of the maximizer, about which it explores, d numbers."""
        return self._domain.native(to_numpy(_stand(self.state)[0]))

    @property
    def restarts(self) -> list[int]:
        """Rounds heard when it began anew, the first 64; of policies that never do, none."""
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
    allowed = f"two numbers up to {LARGEST:g} in size, the least answer first"
    given = y_range.tolist() if isinstance(y_range, np.ndarray | Tensor) else y_range
    ends = check_array("y_range", given) if isinstance(given, tuple | list) else np.zeros(0)
    if ends.shape != (2,) or any(isinstance(x, bool | np.bool_) for x in given):
        raise_invalid("y_range", y_range, allowed)
    low, high = ends.tolist()
    if not (-LARGEST <= low < high <= LARGEST and high - low >= SMALLEST):
        raise_invalid("y_range", y_range, f"{allowed}, at least {SMALLEST:g} apart")
    return low, high


def _curvature(name: str, value: float, scale: float, half: float) -> float:
    """A curvature where the domain has unit size and answers lie in [-1, 1]."""
    found = value * scale**2 / half
    if not SMALLEST <= found <= LARGEST:
        unit = f"with this domain and y_range it is {found:g} in units of the learner's"
        raise_invalid(name, value, f"{unit}; those lie between {SMALLEST:g} and {LARGEST:g}")
    return found


def _stand(state: Any) -> Any:
    """Where a learner stands, 1 x d: z or center, its own or the innermost base's; None: nowhere."""
    while state is not None and not (hasattr(state, "z") or hasattr(state, "center")):
        state = getattr(state, "base", None)
    return getattr(state, "z", getattr(state, "center", None))


def policy_learner(policy: str, task: Task, noise: float, drift: float) -> Any:
    """Return the learner of a policy, in unit coordinates.

    Args:
        policy: one of ``POLICIES``.
        task: of the one trial.
        noise: standard deviation of a reward.
        drift: distance per round that the maximizer moves.
    """
    sigma, L = float(task.concavity), float(task.smoothness)
    h = min(math.sqrt(noise), WIDEST)  # widths near the fourth root of the variance do best
    base = GradientAscent(h)
    ridge = 1e-3 * h * h  # small beside the queries' spread
    return {
        "glr": lambda: GLR(base, noise**2 / 2),
        "track": lambda: KieferWolfowitz(
            tracking_gain(task.cset.dim, sigma, L, noise, drift, h), h
        ),
        "discounted": lambda: DiscountedLeastSquares(64, ridge, h),
        "master": lambda: practical(GradientAscent(h, warm_start=True)),
    }[policy]()
