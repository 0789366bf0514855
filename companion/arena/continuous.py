"""The continuous field: its problems on convex sets, its learners, and the constants of both tracks.

Constants of the track "theory": the constants of the theorems, with failure probability 0.01. Departures are listed at the learners.
Constants of the track "tuned": working constants of each learner, with one scale. The learners' builders define the scale.
"""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from paperlib.core.contracts import Learner, Problem, check_kind
from paperlib.core.validation import raise_invalid
from paperlib.goucb.learners.presets import algorithm1, practical
from paperlib.goucb.learners.radius import Printed
from paperlib.goucb.learners.turbo import TuRBO
from paperlib.goucb.model.network import TwoLayerNet
from paperlib.goucb.problems.synthetic import Rastrigin, StyblinskiTang, Teacher
from paperlib.maths.bounds import Bounds
from paperlib.maths.sets import Box
from paperlib.nsbco.learners.ascent import GradientAscent
from paperlib.nsbco.learners.glr import GLR
from paperlib.nsbco.learners.gradient import StaticBaseline
from paperlib.nsbco.learners.kiefer import KieferWolfowitz
from paperlib.nsbco.learners.least_squares import DiscountedLeastSquares
from paperlib.nsbco.learners.presets import practical as practical_master
from paperlib.nsbco.learners.presets import printed
from paperlib.nsbco.learners.spsa import SPSA
from paperlib.nsbco.problems.paths import STATIONARY, VALUE, Abrupt, Path, Rotation
from paperlib.nsbco.problems.quadratic import QuadraticDrift
from paperlib.nsbco.theory.constants import Setting, kappa_0
from paperlib.pfbco.learners.fkm import FKM
from paperlib.pfbco.learners.pfbco import PFBCO

from .adapters import BoxAdapter, Committed, ConcaveAdapter, LossAdapter
from .field import DELTA, OWN, UNIFORM, ArenaLearner, first_context
from .sets import Concave, Placed, Region, Turned, UniformInSet

STATIC, DRIFTING, ROUGH = "convex, stationary", "convex, drifting", "non-convex"
AMPLITUDE = 0.3  # of the uniform noise of the quadratics on balls and boxes
HIDDEN = 10  # units of the network, of the problem "network" and of the learner GO-UCB
WIDTH = 0.5  # h of Kiefer-Wolfowitz and SPSA, which no theorem fixes
# Bounds on the number of choices of a goucb learner. Each choice takes longer than the choice before.
EXPLORE = (12, 50)


@dataclass(frozen=True)
class Facts:
    """Declared facts about the rewards of a problem. Lengths are in normalized coordinates.

    Attributes:
        low, high: bounds on the mean reward.
        noise: standard deviation of the noise, or its sub-Gaussian scale.
        lipschitz: bound on the gradient of the mean reward.
        smoothness: bound on the absolute curvature of the mean reward.
        concavity: lower bound on the curvature, if there is one. Otherwise a positive number for learners that need one.
        margin: every maximizer is in the set scaled by 1 - margin, if the problem declares it. Otherwise a working value.
    """

    low: float
    high: float
    noise: float
    lipschitz: float
    smoothness: float
    concavity: float
    margin: float


@dataclass(frozen=True)
class Declared(Facts):
    """Information about a problem; every learner receives the same.

    Attributes:
        dim: d.
        diameter: D of the set, in normalized coordinates.
        horizon: number of rounds T.
    """

    dim: int
    diameter: float
    horizon: int

    @property
    def explore(self) -> int:
        """Number of choices of a goucb learner before it repeats its best point: a tenth of all rounds, within ``EXPLORE``."""
        least, most = EXPLORE
        return min(max(least, math.ceil(self.horizon / 10)), most)

    @property
    def center(self) -> float:
        """Middle of the range of the mean rewards."""
        return (self.low + self.high) / 2

    @property
    def reach(self) -> float:
        """Half the width of an interval around ``center`` that contains nearly all rewards."""
        return (self.high - self.low) / 2 + 3 * self.noise


class ContinuousProblem(NamedTuple):
    """A problem on a convex set, see ``ArenaProblem``.

    Attributes:
        problem, family, group: see ``ArenaProblem``.
        facts: see ``Facts``.
        fixed: the set never changes.
    """

    problem: Problem
    family: str
    group: str
    facts: Facts
    fixed: bool = True

    def known(self, horizon: int) -> Declared:
        """Return the information that every learner receives."""
        cset = first_context(self.problem, horizon).cset
        sizes = {"dim": cset.dim, "diameter": float(cset.D), "horizon": horizon}
        return Declared(**vars(self.facts), **sizes)


def _ball(family: str, group: str, path: Path) -> ContinuousProblem:
    """Return f(x) = 1/2 - ||x - theta_t||^2 / 2 on the disk, with ||theta_t|| <= 1/2, so that the distance is at most 3/2."""
    problem = QuadraticDrift(Turned(path), amplitude=AMPLITUDE)
    far = 2 - problem.margin
    facts = VALUE - far**2 / 2, VALUE, AMPLITUDE / math.sqrt(3), far, problem.smoothness, 1.0
    return ContinuousProblem(Placed(problem), family, group, Facts(*facts, problem.margin))


def _box() -> ContinuousProblem:
    """Return a quadratic on the box of five dimensions, whose curvature depends on the direction."""
    H, L = (0.3, 0.2, 0.1, 0.1, 0.05), 0.4
    how = {"amplitude": AMPLITUDE, "cset": "box", "margin": 0.3, "smoothness": L}
    problem = QuadraticDrift(Turned(), 5, H, **how)
    far = 2 - problem.margin  # largest distance in a coordinate
    low, slope = VALUE - sum(H) * far**2 / 2, far * math.hypot(*H)
    facts = low, VALUE, AMPLITUDE / math.sqrt(3), slope, L, min(H)
    return ContinuousProblem(Placed(problem), "unequal", STATIC, Facts(*facts, problem.margin))


def _simplex() -> ContinuousProblem:
    """Return a linear function on the simplex. A quadratic as steep as it has the declared curvature."""
    problem = Concave("simplex", 5)
    cset = problem.region().cset
    slope, D = 1 / float(cset.R), float(cset.D)
    facts = -1.0, 1.0, problem.noise, slope, 2 * slope / D, slope / D
    return ContinuousProblem(problem, "linear", STATIC, Facts(*facts, 0.1))


def _matrices() -> ContinuousProblem:
    """Return a quadratic on the 3 x 3 matrices X >= 0 with trace at most 1."""
    problem = Concave("matrices", 3, curvature=0.1, margin=0.3)
    cset, h = problem.region().cset, problem.curvature
    R, D = float(cset.R), float(cset.D)
    # The maximizer has norm at most (1 - margin) R, and no point has a distance above D from it.
    high = h / 2 * ((1 - problem.margin) * R) ** 2
    facts = -h / 2 * D**2, high, problem.noise, h * D, 2 * h, h
    return ContinuousProblem(problem, "quadratic", STATIC, Facts(*facts, problem.margin))


def _rough(problem: Problem, family: str, *facts: float, part: float = 1.0) -> ContinuousProblem:
    """Return a function that is not concave. ``facts``: low, high, lipschitz and smoothness of the rewards on [-1, 1]^d."""
    low, high, slope, L = facts
    numbers = low, high, problem.noise, slope, L, L / 10, 0.2
    return ContinuousProblem(Placed(problem, part), family, ROUGH, Facts(*numbers))


# Each problem is built when it is needed, as in the field of finite arms.
PROBLEMS = {
    "quadratic, ball": partial(_ball, "quadratic", STATIC, STATIONARY),
    "quadratic, box": _box,
    "linear, simplex": _simplex,
    "quadratic, matrices": _matrices,
    "rotation, ball": partial(_ball, "drifting", DRIFTING, Rotation(4.0)),
    "jumps, ball": partial(_ball, "drifting", DRIFTING, Abrupt(5)),
    "Styblinski-Tang": lambda: _rough(
        StyblinskiTang(2, 10.0), "smooth", -250.0, 78.4, 1220.0, 3350.0
    ),
    "Rastrigin": lambda: _rough(Rastrigin(2, 4.0), "smooth", -80.6, 0.0, 255.0, 2480.0, part=0.5),
    "network": lambda: _rough(
        Teacher(2, 0.1, hidden=HIDDEN, starts=64, steps=100), "network", -2.0, 2.0, 2.0, 4.0
    ),
}


def _loss(kind: type, known: Declared, scale: float | None, **theory) -> Learner:
    """Return a learner of pfbco; in the track "tuned" with a baseline, and M of the learning rate times the scale."""
    how = theory if scale is None else theory | {"baseline": True, "scale": scale}
    return LossAdapter(
        kind(1.0, **how), center=known.center, unit=known.reach, lipschitz=known.lipschitz
    )


def _concave(base: Learner, known: Declared) -> Learner:
    """Return a learner of nsbco on the declared curvatures."""
    numbers = known.smoothness, known.concavity, known.margin
    return ConcaveAdapter(base, known.center, known.reach, 1.0, *numbers)


def _glr(known: Declared, scale: float | None) -> Learner:
    """Return GLR around gradient ascent; the scale is the width h of the differences, which is 1 in the paper."""
    base = GradientAscent(h=1.0 if scale is None else scale)
    variance = (known.noise / known.reach) ** 2 / 2  # of the mean of two rewards
    return _concave(GLR(base, variance, DELTA), known)


def _master(known: Declared, scale: float | None) -> Learner:
    """Return MASTER around gradient ascent; the scale multiplies the calibrated bonus 2 and the thresholds of both tests."""
    if scale is not None:
        base = GradientAscent(bonus=2 * scale, warm_start=True)
        return _concave(practical_master(base, A1=scale), known)
    L, sigma = known.smoothness / known.reach, known.concavity / known.reach
    setting = Setting(known.dim, L, sigma, known.diameter, known.margin)
    kappa = sum(kappa_0(setting, known.horizon))
    return _concave(printed(GradientAscent(h=1.0, bonus=2 * kappa, clip=False)), known)


def _kiefer(known: Declared, scale: float | None) -> Learner:
    """Return Kiefer-Wolfowitz: the diminishing steps of the theorem, or the constant step scale / L."""
    ratio = known.smoothness / known.concavity
    gain = None if scale is None else ratio / scale
    return _concave(KieferWolfowitz(gain, WIDTH), known)


def _spsa(known: Declared, scale: float | None) -> Learner:
    """Return SPSA with the constant step 1 / (d L), or scale / (d L)."""
    ratio = known.dim * known.smoothness / known.concavity
    return _concave(SPSA(None if scale is None else ratio / scale, WIDTH), known)


def _least_squares(known: Declared, scale: float | None) -> Learner:
    """Return discounted least squares with a window of T^{2/3} rounds, the rate for a variation of 1, or of scale T rounds."""
    T = known.horizon
    window = T ** (2 / 3) if scale is None else scale * T
    return _concave(DiscountedLeastSquares(math.ceil(window)), known)


def _goucb(known: Declared, scale: float | None) -> Learner:
    """Return GO-UCB with a network; the scale is sqrt(beta / lambda).

    Theory: Algorithm 1 with the paper's beta and lambda, an oracle that fits, and the ball's maximum in closed form. Departure in both
    tracks: it chooses in the first rounds (``Declared.explore``), and then repeats the best point.
    """
    net = TwoLayerNet(HIDDEN)
    if scale is None:
        base = replace(algorithm1(10, net), radius=Printed(1.0), ridge=None, scaling="none")
    else:
        base = practical(10, net, kappa=scale)
    return BoxAdapter(Committed(base, known.explore), known.center, known.reach)


def _turbo(known: Declared, scale: float | None) -> Learner:
    """Return TuRBO with 200 candidates in any dimension. Departure: as for GO-UCB."""
    return BoxAdapter(
        Committed(TuRBO(10, candidates=200), known.explore), known.center, known.reach
    )


def _commit(known: Declared, scale: float | None) -> Learner:
    """Return uniform exploration in T^{2/3} rounds, or in scale T / 2 rounds, before the best point is repeated."""
    T = known.horizon
    rounds = T ** (2 / 3) if scale is None else scale * T / 2
    return Committed(UniformInSet(), math.ceil(rounds))


CONCAVE = ("quadratic", "unequal")  # strongly concave and stationary
OTHERS = ("linear", "smooth", "network", "other set")
BOXES = ("unequal", "smooth", "network")  # families whose problems are on boxes
FAMILIES = (*CONCAVE, "drifting", *OTHERS)
STILL = (*CONCAVE, *OTHERS)

LEARNERS = {
    "PF": ArenaLearner(partial(_loss, PFBCO), (*CONCAVE, "linear"), ("drifting", *OTHERS[1:])),
    "FKM": ArenaLearner(
        partial(_loss, FKM, variant="2005"), (*CONCAVE, "linear"), ("drifting", *OTHERS[1:])
    ),
    "GLR": ArenaLearner(_glr, (*CONCAVE, "drifting"), OTHERS),
    "MASTER": ArenaLearner(_master, (*CONCAVE, "drifting"), OTHERS),
    "KW": ArenaLearner(_kiefer, CONCAVE, ("drifting", *OTHERS)),
    "SPSA": ArenaLearner(_spsa, CONCAVE, ("drifting", *OTHERS)),
    "D-LS": ArenaLearner(_least_squares, ("quadratic", "drifting"), ("unequal", *OTHERS)),
    "GO-UCB": ArenaLearner(_goucb, ("network",), (*CONCAVE, "linear", "smooth", "other set")),
    "TuRBO": ArenaLearner(_turbo, STILL, scaled=False),
    "explore-then-commit": ArenaLearner(_commit, STILL, ("drifting",)),
    "static baseline": ArenaLearner(
        lambda known, scale: _concave(StaticBaseline(), known), STILL, ("drifting",), scaled=False
    ),
    UNIFORM: ArenaLearner(lambda known, scale: UniformInSet(), FAMILIES, scaled=False),
}


def own_problem(thing: Any) -> ContinuousProblem:
    """Return the entry of a user's problem, whose context is a ``Region``, a box (``Bounds``) or an nsbco ``Task``.

    Its attributes are the information, see ``Facts``. ``low`` and ``high`` are required. The defaults of the others belong to a function
    that is as rough as the range of its rewards: noise 0, lipschitz (high - low) / 2, smoothness high - low, concavity smoothness / 10, and
    margin 0.2.

    Raises:
        ValueError: not a problem, no range, or another context.
    """
    problem = thing() if callable(thing) else thing
    check_kind("problem", problem)
    low, high = (getattr(problem, name, None) for name in ("low", "high"))
    if low is None or high is None or not low < high:
        needs = "a problem with the attributes low < high, the range of its mean rewards"
        raise_invalid("problem", problem, needs)
    facts = {"low": low, "high": high, "noise": 0.0, "lipschitz": (high - low) / 2}
    L = getattr(problem, "smoothness", high - low)
    facts |= {"smoothness": L, "concavity": L / 10, "margin": 0.2}
    facts = {name: float(getattr(problem, name, value)) for name, value in facts.items()}
    context = first_context(problem)
    if not isinstance(context, Region):
        if not (isinstance(context, Bounds) or hasattr(context, "cset")):
            needs = "a Region, a box (Bounds) or a Task, which the field continuous plays"
            raise_invalid("context", context, needs)
        problem = Placed(problem)
        context = first_context(problem)
    family = "smooth" if isinstance(context.cset, Box) else "other set"
    return ContinuousProblem(problem, family, OWN, Facts(**facts))
