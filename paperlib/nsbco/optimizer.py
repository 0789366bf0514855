"""Ask/tell for an objective of one's own that drifts: one noisy value a round."""

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..asktell import optimizer as shared
from ..asktell.inputs import host
from ..asktell.numbers import real_number
from ..asktell.records import Now
from ..core.describe import brief
from ..core.trees import leaves
from ..core.validation import LARGEST, SMALLEST, array, number, one_of, positive, refuse
from ..maths.boxes import Box
from ..maths.sets import Ball
from .learners.ascent import GradientAscent
from .learners.glr import GLR
from .learners.kiefer import KieferWolfowitz
from .learners.least_squares import DiscountedLeastSquares, LeastSquares
from .learners.presets import practical
from .model.domain import Domain, checked
from .model.task import Task

POLICIES = ("glr", "track", "discounted", "master")
SETS = {"ball": Ball, "box": Box}
WIDEST = 0.25  # h, where the noise is not known to be small
NOISES = (1e-8, 1e12)  # least and largest, in units of half of y_range; below, rounding decides


class Optimizer(shared.Built):
    """Maximizes a strongly concave objective whose maximizer moves, on a ball or a box.

    ::

        user = Optimizer(ball([0.0, 0.0], 2.0), concavity=0.25, smoothness=0.5, noise=0.06)
        for _ in range(2000):
            user.tell(f(user.ask()))
        user.center

    Points asked for lie about ``center``, which explores: play them. The same seed and answers
    give the same points. Which policy to take the guide to choosing a learner says, from the gallery of paths.

    Args:
        domain: ``ball(center, radius)`` or ``box(lower, upper)``.
        concavity: sigma > 0, least curvature of the objective in any direction, in its units over
            those of the domain, squared. "discounted" takes it for that of all directions.
        smoothness: L > sigma, its largest curvature, in the same units.
        noise: > 0, about the standard deviation of an answer, in its own units.
        policy: "glr", restarts where what is heard has changed (abrupt changes); "track", steps of
            constant size (slow drift); "discounted", least squares that forget (both, with a
            window of 64 answers; on a box of equal sides only); "master", the paper's, for which alone there is a theorem, of
            constants that nobody can use. Its threads begin where the one before stood (ours), so
            that ``center`` is the best known.
        y_range: (least, largest) answer that can come; they are mapped to [-1, 1].
        margin: c_0 in (0, 1), how deep inside the maximizer always lies, in parts of the domain.
        horizon: rounds, if known; "master" has thresholds for it.
        seed: of the schedule of "master"; the others draw nothing.
        learner: another learner of this package in place of the policy's, such as ``calibrate``
            returns.
        device: where the learner computes: "cuda", "cuda:N" or a ``torch.device``; None: the CPU. What is asked and
            told stays numpy's and Python's.

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
        margin: float = 0.5,
        horizon: int | None = None,
        seed: int = 0,
        learner: Any = None,
        device: str | torch.device | None = None,
    ):
        if not isinstance(domain, Domain):
            refuse("domain", domain, "ball(center, radius) or box(lower, upper)")
        one_of("domain.kind", domain.kind, tuple(SETS))
        domain = checked(domain)
        self.y_range = _interval(y_range)
        concavity = positive("concavity", concavity)
        smoothness = positive("smoothness", smoothness)
        noise = positive("noise", noise)
        margin = number("margin", margin, 1e-6, 1 - 1e-6)
        self._given = {
            "concavity": concavity,
            "smoothness": smoothness,
            "noise": noise,
            "margin": margin,
        }
        one_of("policy", policy, POLICIES)
        self._domain, half = domain, (self.y_range[1] - self.y_range[0]) / 2
        if not NOISES[0] <= noise / half <= NOISES[1]:
            least, most = (half * x for x in NOISES)
            refuse("noise", noise, f"{least:g} to {most:g} with y_range={self.y_range}")
        sigma = _curvature("concavity", concavity, domain.scale.min(), half)
        L = _curvature("smoothness", smoothness, domain.scale.max(), half)
        if not sigma < L:
            refuse("smoothness", smoothness, f"above {smoothness * sigma / L:g}, see concavity")
        own = policy_learner(policy, noise / half, margin) if learner is None else learner
        if getattr(own, "wants", "reward") != "reward":
            refuse("learner", own, f"one that hears rewards; this wants a {own.wants}")
        if isinstance(own, LeastSquares) and domain.scale.min() < (1 - 1e-9) * domain.scale.max():
            sides = f"with {'learner' if learner else 'policy'}={type(own).__name__}, whose model has one curvature"
            refuse("domain", domain, f"{sides}: a ball, or a box of equal sides")
        one = lambda x: torch.tensor(float(x), dtype=torch.float64)
        cset = SETS[domain.kind].of(len(domain.center))
        cset = cset._replace(R=cset.R[0], D=cset.D[0])  # AskTell leads it with the trial
        task = Task(cset, one(margin), one(L), one(sigma), one(0.0))
        super().__init__(own, task, horizon, seed, device=device)
        at = _stand(self.state)
        if not isinstance(at, Tensor) or at.shape != (1, len(domain.center)):
            refuse("learner", own, "one whose state has a point z or center, or whose base's has")

    def ask(self) -> np.ndarray:
        """Where to evaluate next, d numbers in the domain; asked again before ``tell``, the same."""
        return self._domain.native(np.asarray(super().ask()))

    def tell(self, y: float) -> None:
        """The answer at the point last asked for.

        Raises:
            ValueError: an answer that is no number within ``y_range``; nothing is learned of it.
            RuntimeError: nothing was asked since the last answer; nothing is learned.
        """
        super().tell(self._asked("tell"), y)

    def fail(self, reason: Any, instead: float | None = None) -> None:
        """The point last asked for gave no answer: it is recorded, and asked for again, by "master" perhaps another.

        Args:
            reason: the exception, the answer that is no finite number, or words.
            instead: an answer to be heard in place of the missing one; None: nothing is heard.

        Raises:
            ValueError: a reason that is a finite number, or an answer that ``tell`` would refuse.
            RuntimeError: as ``tell``.
        """
        super().fail(self._asked("fail"), reason, instead)

    def observe(self, actions: Any, feedback: Any) -> None:
        """Data of one's own, for a learner that hears of other points than its own: no policy here.

        Args:
            actions: n x d, points of the domain.
            feedback: n answers.

        Raises:
            ValueError: points outside, answers that ``tell`` would refuse, or a learner that learns
                of its own points only; nothing is learned.
        """
        if getattr(self.learner, "own_actions", True):
            points, dim = array("actions", actions), len(self._domain.center)
            allowed = f"n x {dim}, points of the {self._domain.kind}"
            if points.ndim != 2 or points.shape[1] != dim:
                refuse("actions", actions, allowed)
            unit = torch.from_numpy(self._domain.unit(points)).to(self.device)
            if not bool(self.context.cset.contains(unit, self._domain.slack()).all()):
                refuse("actions", points, allowed)
            actions = self.context.cset.project(unit)
        super().observe(actions, feedback)

    def _asked(self, call: str) -> np.ndarray:
        if self._now.proposed is None:
            raise RuntimeError(
                f"{call}: no point was asked for since the last answer; allowed: after ask()"
            )
        return host(self._now.proposed[0])

    def _heard(self, now: Now, action: np.ndarray, y: float, update: Any = None) -> Now:
        unit = self._unit("y", y, f" in round {now.rounds + 1}")
        return super()._heard(now, action, unit, update)

    def _check_entry(self, now: Now, action: Any, y: Any, names: tuple[str, str]) -> None:
        super()._check_entry(now, action, self._unit(names[1], y), names)

    def _unit(self, name: str, y: Any, where: str = "") -> float:
        """The answer in [-1, 1].

        Raises:
            ValueError: no number within ``y_range``.
        """
        (low, high), found = self.y_range, real_number(name, y)
        if not low <= found <= high:  # nan is in none
            allowed = f"a number in y_range=({low:g}, {high:g})"
            raise ValueError(f"{name}={brief(y)}{where}; allowed: {allowed}")
        return min(1.0, max(-1.0, (2 * found - low - high) / (high - low)))

    @property
    def center(self) -> np.ndarray:
        """The present estimate of the maximizer, about which it explores, d numbers."""
        return self._domain.native(host(_stand(self.state)[0]))

    @property
    def restarts(self) -> list[int]:
        """Rounds heard when it began anew, the first 64; of policies that never do, none."""
        if not hasattr(self.state, "log"):
            return []
        count, log = int(self.state.restarts[0]), self.state.log[0]
        rounds = log[:, 0] if log.dim() == 2 else log
        return rounds[:count].tolist()

    def _check_offer(self, context: Any) -> None:
        super()._check_offer(context)
        if self._first is None:
            return
        for (path, here), (_, first) in zip(leaves(context, "context"), leaves(self._first)):
            same = torch.equal(here, first) if isinstance(here, Tensor) else here == first
            if not same:
                refuse(path, here, f"{brief(first)}, for the domain stays the same")

    def _offer(self) -> str:
        return f"a {self._domain.kind} in {len(self._domain.center)} dimensions"

    def _shown(self, action: Tensor) -> tuple[float, ...]:
        return tuple(self._domain.native(host(action[0])).tolist())

    def _settings(self) -> dict:
        kind, center, scale = self._domain
        own = {"kind": kind, "center": center.tolist(), "scale": scale.tolist()}
        given = {name: float(value) for name, value in self._given.items()}
        return super()._settings() | {"domain": own, "y_range": list(self.y_range)} | given


def _interval(y_range: Any) -> tuple[float, float]:
    allowed = f"two numbers up to {LARGEST:g} in size, the least answer first"
    given = y_range.tolist() if isinstance(y_range, np.ndarray | Tensor) else y_range
    ends = array("y_range", given) if isinstance(given, tuple | list) else np.zeros(0)
    if ends.shape != (2,) or any(isinstance(x, bool | np.bool_) for x in given):
        refuse("y_range", y_range, allowed)
    low, high = ends.tolist()
    if not (-LARGEST <= low < high <= LARGEST and high - low >= SMALLEST):
        refuse("y_range", y_range, f"{allowed}, at least {SMALLEST:g} apart")
    return low, high


def _curvature(name: str, value: float, scale: float, half: float) -> float:
    """A curvature where the domain has unit size and answers lie in [-1, 1]."""
    found = value * scale**2 / half
    if not SMALLEST <= found <= LARGEST:
        unit = f"with this domain and y_range it is {found:g} in units of the learner's"
        refuse(name, value, f"{unit}; those lie between {SMALLEST:g} and {LARGEST:g}")
    return found


def _stand(state: Any) -> Any:
    """Where a learner stands, 1 x d: z or center, its own or the innermost base's; None: nowhere."""
    while state is not None and not (hasattr(state, "z") or hasattr(state, "center")):
        state = getattr(state, "base", None)
    return getattr(state, "z", getattr(state, "center", None))


def policy_learner(policy: str, noise: float, margin: float) -> Any:
    """The learner of a policy, in unit coordinates.

    Args:
        policy: one of ``POLICIES``.
        noise: standard deviation of an answer.
        margin: c_0.
    """
    h = min(math.sqrt(noise), WIDEST, margin)  # widths near the fourth root of the variance do best
    base = GradientAscent(h)
    ridge = 1e-3 * h * h  # small beside the queries' spread
    return {
        "glr": lambda: GLR(base, noise**2 / 2),
        "track": lambda: KieferWolfowitz(100.0, h),
        "discounted": lambda: DiscountedLeastSquares(64, ridge, h),
        "master": lambda: practical(GradientAscent(h, warm_start=True)),
    }[policy]()
