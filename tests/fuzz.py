"""Random calls with valid and invalid values, for ``test_fuzz``.

Each call must succeed with finite numbers in all results, or raise ValueError or TypeError with the name of a changed
argument in its message.
"""

import dataclasses
import datetime
import decimal
import fractions
import math
import re
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch

from companion.papers import paper_module, papers
from companion.pfbco.problems.portfolio import Portfolio
from companion.pfbco.problems.variants import Loud
from paperlib.asktell import AskTell
from paperlib.bkb.learners.exact import ExactGPUCB
from paperlib.bkb.learners.features import LinearGPUCB as RidgeOFUL
from paperlib.bkb.learners.lazy import LazyBKB
from paperlib.bkb.model.confidence import Confidence
from paperlib.bkb.optimizer import Optimizer as Search
from paperlib.bkb.problems import RKHS, GPDraw, LinearArms, SizedRBF, UnevenArms, WarmRKHS
from paperlib.core.describe import short_repr
from paperlib.core.linalg import Rows
from paperlib.core.streams import Streams
from paperlib.core.trees import list_leaves, select_trials
from paperlib.glbomd.learners.controls import UCB1
from paperlib.glbomd.learners.glbomd import GLBOMD
from paperlib.glbomd.model.links import Bernoulli, Binomial, Gaussian, Poisson
from paperlib.glbomd.model.setting import Setting
from paperlib.glbomd.problems import FixedArms, SphereArms
from paperlib.learners.reference import UniformArm
from paperlib.learners.wrapper import Doubling
from paperlib.linear.learners import OFUL
from paperlib.linear.problems import Circle, FreshArms
from paperlib.maths.gp import RBF, FunctionKernel, Linear, Matern
from paperlib.maths.matrices import NuclearBall, Spectrahedron
from paperlib.maths.polytopes import polytope
from paperlib.maths.sets import Ball, SubSimplex, oracle_set
from paperlib.pfbco.learners.fkm import FKM
from paperlib.pfbco.optimizer import Optimizer as Descent
from paperlib.pfbco.problems.ball import BallLinear, BallQuadratic
from paperlib.pfbco.problems.completion import MatrixCompletion
from paperlib.pfbco.problems.quadratic import QuadraticPolytope

TKWARGS = {"dtype": torch.float64, "device": "cpu"}
TRIALS, HORIZON = 3, 4
HUGE = 10**400
double = lambda *values, **options: torch.tensor(values, dtype=torch.float64, **options)

# Values for numerical settings. They include extreme valid values, because formulas must then return numbers.
NUMBERS = [
    *(0, 1, 2, 3, 0.0, -0.0, 0.1, 0.5, 1.0, 2.5, 1e-3, 1e-6, 1e-9, 1e-12, 1e-16, 1e-20, 1e-30),
    *(10.0, 50.0, 69.0, 80.0, 300.0, 700.0, 1e3, 1e6, 1e10, 1e15, 1e20, 1e30, 2**40, 10**25),
    *(1e-31, 1e31, 1e-60, 1e60, 1e-100, 1e100, 1e-160, 1e155, 1e-200, 1e200, 1e-300, 1e300),
    *(5e-324, 1e-320, 2.2e-308, 1.7e308, math.inf, -math.inf, math.nan, -1, -5, -1e-320, -1e300),
    *(HUGE, -HUGE, 10**5000, 1 - 2**-53, 1 + 2**-52, 2**63, 2**64),
    *(np.float64(0.5), np.int64(2), np.int64(2**40), np.int32(3), np.float32(0.3)),
    *(np.float16(6e-8), np.float16(300), np.longdouble("1e-400"), np.longdouble("1e400")),
    *(np.int8(100), np.uint8(3), np.uint64(5), np.bool_(True), np.complex64(1), np.str_("1")),
]
OTHERS = [
    *(None, True, False, "x", "", "1.0", b"1", 1j, complex(1, 0), (), [], {}, set(), (1.0,), [1.0]),
    *(object(), float, int, Bernoulli, RBF, Confidence, UniformArm, len, range(3), Ellipsis),
    *(fractions.Fraction(1, 3), decimal.Decimal("0.5"), datetime.date(2020, 1, 1), lambda x: x),
    *(np.array(0.5), np.array([0.5]), np.array([0.5, 1.0]), np.array("x"), np.datetime64("2020")),
    *(np.ma.masked, np.ma.array([0.5], mask=[True]), np.ma.array(0.5), np.array([object()])),
    *(torch.tensor(0.5), torch.tensor([0.5]), double(0.5, 1.0, 2.0), double(0.5, 1.0, 2.0, 3.0)),
    *(torch.tensor(math.nan), double(0.5, 1.0, 2.0, requires_grad=True), double(1e-320, 1.0, 2.0)),
    *(torch.tensor(0.5, requires_grad=True), double(0.5, 1.0, math.nan), double(1e300, 1.0, 2.0)),
    *(torch.tensor(1j), torch.tensor([1 + 1j] * 3), torch.tensor([True] * 3), torch.tensor([])),
    *(torch.full((3,), 0.5, dtype=torch.float16), torch.ones(3, 2), torch.tensor([2] * 3)),
    *(("a",), (HUGE,), (HUGE, 0.0, 0.0), (math.nan, 0.0, 0.0), (1e-320, 0.0, 0.0), (1e300,) * 3),
    *((True, False, True), (1j,) * 3, (0.1, 0.0, -0.1), (np.float32(0.1),) * 3, [0.1, 0.1, 0.1]),
    *(((1, 1.0), (64, 2.0)), ((1,),), ((1, HUGE),), (("a", 1.0),), ((1, math.nan),), ((9, 1e300),)),
    *(((math.nan, 1.0),), (0, 1), (0, 1, 2, 3), (0, 9), (-1,), ("x", "y")),
    *(Bernoulli(), Poisson(), Gaussian(1e-9), Gaussian(1e9), Binomial(3), RBF(1e20), Linear()),
    *(Matern(0.5, 1e-20), FunctionKernel(lambda X, Y: X @ Y.mT * math.nan), UniformArm()),
    *(FunctionKernel(lambda X, Y: X @ Y.mT * 1e250), Confidence(1e-5, 1e20), Confidence(1e9, 0.0)),
    *(FunctionKernel(len), Confidence(1.0, 1.0, 1e-30), Confidence(0.0, 1.0, 1.0, scale=1e30)),
    *("dim", "sharp", "free", "theory", "public", "paper", "tight", "2005", "vertex", "spread"),
    *("noisy", "arms", "sor", "eigh", "cholesky", "auto", "online", "corrected", "gamma", "const"),
    *("reference", "flat", "poly", "ball", "sphere", "nuclear", "psd", "task", "stay"),
]


class Subject(NamedTuple):
    """Tested call: ``make(**given)`` with some arguments changed, and then ``use`` on the result."""

    make: Callable
    given: dict[str, Any]
    use: Callable[[Any], Any] = lambda made: None


def sound(tree: Any, what: str) -> None:
    """Assert that no leaf of the tree is NaN."""
    for path, leaf in list_leaves(tree, what):
        value = leaf.view if isinstance(leaf, Rows) else leaf
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            assert not bool(value.isnan().any()), f"{path} has NaN"
        elif isinstance(value, float):
            assert not math.isnan(value), f"{path} is NaN"


def finite(values: Any, what: str) -> None:
    """Assert that all values are finite."""
    assert np.isfinite(np.asarray(values, float)).all(), f"{what} is not finite"


@contextmanager
def watched(learner: Any):
    """Assert that every index of an arm is not NaN, and not infinite except for arms of UCB1 that were never pulled."""
    most, argmost = torch.Tensor.amax, torch.Tensor.argmax

    def looked(function):
        def look(x, *args, **kwargs):
            assert not x.is_floating_point() or not bool(x.isnan().any()), "an index is NaN"
            assert isinstance(learner, UCB1) or not bool((x == math.inf).any()), "an index is inf"
            return function(x, *args, **kwargs)

        return look

    torch.Tensor.amax, torch.Tensor.argmax = looked(most), looked(argmost)
    try:
        yield
    finally:
        torch.Tensor.amax, torch.Tensor.argmax = most, argmost


def rounds(learner: Any, problem: Any) -> None:
    """Run a few rounds as ``play`` does, with a check of all results."""
    learner = select_trials(learner, range(TRIALS), TRIALS, "learner")
    problem = select_trials(problem, range(TRIALS), TRIALS, "problem")
    streams = Streams(0, range(TRIALS))
    with torch.no_grad():
        instance = problem.init(TRIALS, HORIZON, streams.at(-1), **TKWARGS)
        context = problem.context(instance, 0)
        if hasattr(learner, "validate"):
            learner.validate(context, None, None)
        state = learner.init(TRIALS, context, HORIZON, streams.at(-1), **TKWARGS)
        for t in range(HORIZON):
            draw, context = streams.at(t), problem.context(instance, t)
            sound(context, "context")
            with watched(learner):
                action, chosen = learner.select(state, context, draw)
            finite(action, "action")
            assert len(action) == TRIALS
            feedback, gap = problem.respond(instance, t, action, learner.wants, draw)
            finite(feedback, "feedback"), finite(gap, "gap")
            state = learner.update(chosen, context, action, feedback, draw)
            sound(state, "state")
            for name, value in (
                learner.report(state) if hasattr(learner, "report") else {}
            ).items():
                finite(value, name)
                assert name != "failed" or not bool(value.any()), "failed"


def dialogue(user: AskTell) -> None:
    """Call ask and tell a few times."""
    gradient = user.learner.wants == "gradient"
    for reward in (1.0, 0.0, 1.0):
        action = user.ask()
        finite(action, "action")
        user.tell(action, np.full(np.shape(action), reward) if gradient else reward)
        sound(user.state, "state")
    repr(user)


def search(user: Search) -> None:
    """Ask for one action and for a batch, and compute the posterior."""
    for reward in (1.0, -1.0):
        user.tell(user.ask(), reward)
    finite(user.ask(batch=2), "batch")
    for part in user.posterior():
        finite(part, "posterior")
    assert 0 <= user.best() < 4


def descent(user: Descent) -> None:
    """Call ask and tell, and check the center."""
    for loss in (1.0, -2.0, 0.0, 0.5):
        finite(user.ask(), "action")
        user.tell(loss)
        finite(user.center, "center")
    repr(user)


def convex(cset: Any) -> None:
    """Call the oracle and the projection with points inside and far outside."""
    far = torch.linspace(-1.0, 2.0, cset.dim, dtype=torch.float64).unsqueeze(0)
    for z in (far, 1e3 * far, 0 * far):
        finite(cset.lmo(z), "lmo"), finite(cset.to_native(z), "to_native")
        if hasattr(cset, "project"):
            finite(cset.project(z), "project")


ARMS = np.array([[0.6, 0.0, 0.1], [0.0, 0.8, 0.0], [0.3, 0.3, -0.3], [0.0, 0.1, 0.9]])
LINE = np.array([[0.0], [0.3], [0.5], [1.0]])
SMALL = RKHS(arms=12, dim=1, gamma=5.0, norm=2.0, noise=0.3)
RADIUS = Confidence(0.3, 2.0)
BOX = (np.vstack([np.eye(2), -np.eye(2)]), np.ones(4))
DISK = lambda c: -c / max(float(np.linalg.norm(c)), 1e-300)
TINY = {  # replaces the problems of the test cases, to save run time
    SphereArms: SphereArms(norm=2.0, dim=3, arms=4),
    RKHS: SMALL,
    LinearArms: LinearArms(arms=6, dim=3),
}


def fields(x: Any) -> dict[str, Any]:
    """Return the constructor arguments of a dataclass."""
    return {f.name: getattr(x, f.name) for f in dataclasses.fields(x) if f.init}


def told(learner: Any, context: Any) -> Callable:
    """Return a function that passes arbitrary feedback and actions to a learner."""

    def speak(action=0, feedback=1.0, arms=context):
        user = AskTell(learner, context)
        user.ask(arms)
        user.tell(action, feedback)
        sound(user.state, "state")
        finite(user.ask(), "action")
        return user

    return speak


def subjects() -> list[Subject]:
    """Return all subjects: the learners of the papers' cases, problems, kernels, links, sets and ask/tell."""
    found = []
    for paper in papers():
        for case in paper_module(paper, "cases").CASES.values():
            problem = TINY.get(type(case.problem), case.problem)
            if hasattr(problem, "link") and problem.link != case.problem.link:
                problem = dataclasses.replace(problem, link=case.problem.link, norm=1.0)
            use = lambda learner, problem=problem: rounds(learner, problem)
            if fields(case.learner):
                found.append(Subject(type(case.learner), fields(case.learner), use))
            if isinstance(case.learner, Doubling):
                base = case.learner.base
                wrapped = lambda base, problem=problem: rounds(Doubling(base), problem)
                found.append(Subject(type(base), fields(base), wrapped))
    bandit = lambda problem: rounds(UniformArm(), problem)
    bounded = lambda problem: rounds(FKM(0.5), problem)
    for problem in (
        *(SphereArms(dim=2, arms=3), FixedArms(dim=2, arms=3), FreshArms(arms=3)),
        *(Circle(arms=3), SMALL, GPDraw(arms=5), WarmRKHS(arms=9, lead=0.01), UnevenArms(arms=5)),
        LinearArms(arms=4, dim=3),
    ):
        found.append(Subject(type(problem), fields(problem), bandit))
    for problem in (
        *(BallLinear(2), BallQuadratic(2), QuadraticPolytope(2, 2), Loud(BallLinear(2))),
        *(MatrixCompletion(2, 1, "nuclear"), Portfolio(3, "synthetic")),
    ):
        found.append(Subject(type(problem), fields(problem), bounded))
    played = lambda learner: lambda part: rounds(learner(part), SMALL)
    pairs = ((1, 0.5), (64, 2.0))
    found += [
        Subject(
            Confidence,
            fields(RADIUS) | {"rule": rule, "gamma": pairs},
            played(lambda c: LazyBKB(RBF(5.0), c)),
        )
        for rule in ("practical", "paper", "online", "corrected", "reference", "const", "gamma")
    ]
    found += [
        Subject(Confidence, fields(RADIUS), played(RidgeOFUL)),
        Subject(RBF, {"gamma": 1.0}, played(lambda kernel: ExactGPUCB(kernel, RADIUS))),
        Subject(Matern, fields(Matern()), played(lambda kernel: LazyBKB(kernel, RADIUS))),
        Subject(FunctionKernel, {"function": Linear()}, played(lambda k: ExactGPUCB(k, RADIUS))),
        Subject(
            SizedRBF,
            {"gamma": 1.0},
            lambda kernel: rounds(ExactGPUCB(kernel, RADIUS), UnevenArms(6)),
        ),
        Subject(UniformArm, {"count": 2}, played(lambda learner: learner)),
        Subject(
            Gaussian,
            {"variance": 1.0},
            lambda link: rounds(GLBOMD(link, 2.0), FixedArms(link, dim=2, arms=3)),
        ),
        Subject(
            Binomial,
            {"count": 2},
            lambda link: rounds(GLBOMD(link, 2.0), FixedArms(link, dim=2, arms=3)),
        ),
        Subject(Bernoulli, {"fractional": False}),
        Subject(
            Setting,
            fields(Setting(Poisson(), 1.0, 2, 1.0)),
            lambda s: finite((s.step, s.radius(3), s.max_slope), "setting"),
        ),
        Subject(Ball.of, {"dim": 2}, convex),
        Subject(SubSimplex.of, {"dim": 2}, convex),
        Subject(NuclearBall.of, {"p": 2, "k": 1.0, "exact": True}, convex),
        Subject(Spectrahedron.of, {"p": 2, "k": 1.0}, convex),
        Subject(polytope, dict(zip("Cd", BOX)) | {"most": 100}, convex),
        Subject(oracle_set, {"oracle": DISK, "center": [0.0, 0.0], "radius": 1.0}, convex),
        Subject(
            Descent,
            {
                "cset": Ball.of(2),
                "c": 0.5,
                "loss_bound": 2.0,
                "horizon": 8,
                "baseline": True,
                "warm_start": True,
                "seed": 0,
            },
            descent,
        ),
        Subject(
            Descent, {"cset": polytope(*BOX), "c": 0.5, "loss_bound": None, "seed": 0}, descent
        ),
        Subject(
            Search,
            {"learner": LazyBKB(RBF(5.0), RADIUS), "context": LINE, "horizon": None, "seed": 0},
            search,
        ),
        Subject(
            lambda kernel, confidence, qbar: Search(LazyBKB(kernel, confidence, qbar), LINE),
            {"kernel": RBF(5.0), "confidence": RADIUS, "qbar": 5.0},
            search,
        ),
    ]
    learners = (GLBOMD(Bernoulli(), 2.0), OFUL(0.3, 1.0), ExactGPUCB(RBF(5.0), RADIUS))
    found += [
        Subject(
            lambda context, horizon, seed, learner=learner: AskTell(
                learner, context, horizon, seed
            ),
            {"context": ARMS, "horizon": None, "seed": 0},
            dialogue,
        )
        for learner in learners
    ]
    found += [
        Subject(told(learner, ARMS), {"action": 0, "feedback": 1.0, "arms": ARMS})
        for learner in (*learners, GLBOMD(Gaussian(0.1), 2.0), GLBOMD(Poisson(), 2.0), UniformArm())
    ]
    return found


def bend(rng: np.random.Generator, given: dict[str, Any]) -> dict[str, Any]:
    """Return some arguments with other values, most of them of the same type."""
    names = rng.permutation(sorted(given))[: rng.choice([1, 2, 3], p=[0.6, 0.25, 0.15])]
    changed = {}
    for name in map(str, names):
        kind, own = rng.random(), given[name]
        number = isinstance(own, (int, float)) or own is None
        if number and kind < 0.25:
            changed[name] = float(10 ** rng.uniform(-30, 30))
        elif (number and kind < 0.7) or kind < 0.3:
            changed[name] = NUMBERS[rng.integers(len(NUMBERS))]
        elif isinstance(own, (np.ndarray, torch.Tensor)) and kind < 0.7:
            changed[name] = spoiled(rng, own)
        else:
            changed[name] = OTHERS[rng.integers(len(OTHERS))]
    return changed


def spoiled(rng: np.random.Generator, own: Any) -> Any:
    """Return an array of the same shape with one entry changed, or of another type."""
    if rng.random() < 0.2:
        return own * float(10 ** rng.uniform(-30, 30))
    values = np.array(own.tolist(), dtype=object)
    values.flat[rng.integers(values.size)] = NUMBERS[rng.integers(len(NUMBERS))]
    return values if rng.random() < 0.7 else values.tolist()


def nested(values: dict[str, Any]) -> set[str]:
    """Return the names of arguments, and of the settings within them."""
    alias = {"context": "arms", "arms": "context", "feedback": "reward", "base": "arms"}
    known = set(values) | {alias[name] for name in values if name in alias}
    for value in values.values():
        if dataclasses.is_dataclass(value):
            known |= nested(fields(value)) if not isinstance(value, type) else set()
    return known


def call(subject: Subject, changed: dict[str, Any]) -> str | None:
    """Return a description of the fault, or None."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)  # NumPy warns of overflow and underflow
        try:
            subject.use(subject.make(**subject.given | changed))
        except (ValueError, TypeError) as error:
            words = set(re.findall(r"\w+", str(error)))
            return None if words & nested(changed) else f"names nothing: {error}"
        except Exception as error:
            if isinstance(
                error, RuntimeError
            ) and "lmo must return points of a set with a support" in str(error):
                return None  # ``oracle_set`` raises it for a ball that does not fit
            return f"{type(error).__name__}: {' '.join(map(short_repr, error.args))}"
    return None


def calls(count: int, seed: int) -> list[tuple[str, dict[str, str], str]]:
    """Return the faults of ``count`` random calls: the subject, the changed arguments and the description."""
    rng, every, wrong = np.random.default_rng(seed), subjects(), []
    for _ in range(count):
        subject = every[rng.integers(len(every))]
        changed = bend(rng, subject.given)
        if (said := call(subject, changed)) is not None:
            what = getattr(subject.make, "__qualname__", "?")
            wrong.append((what, {name: short_repr(value) for name, value in changed.items()}, said))
    return wrong
