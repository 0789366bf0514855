"""The cost of a round, measured by the number of operations that torch dispatches, which is the same on every machine.

On the CPU with one trial, a call from Python takes microseconds whatever it computes, and a round of a bandit consists
mostly of such calls. On a GPU each operation is a kernel launch, and each value that reaches Python is a synchronization.
The code path for a GPU is counted on the CPU under ``shortcuts(False)``, with 64 trials. It needs no GPU.
"""

import statistics
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch
from device_form import shortcuts
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from companion.pages.papers import speed
from companion.papers import paper_module
from paperlib.core import linalg
from paperlib.core.streams import Streams
from paperlib.glbomd import Bernoulli, Gaussian, Poisson
from paperlib.glbomd.model.links import Link

ROOT = Path(__file__).resolve().parents[1]

ROUNDS = 24
# Dispatches of `select` and `update` in a median round. If you make a learner faster, reduce its limit here.
LIMITS = {
    "glbomd.GLB-OMD": (4, 9),
    "glbomd.GLB-OMD, Poisson": (4, 9),
    "glbomd.GLOC": (8, 15),
    "glbomd.ECOLog": (23, 211),
    "glbomd.GLM-UCB": (132, 50),
    "glbomd.RS-GLinCB": (52, 28),
    "glbomd.OFUGLB": (22, 20),
    "glbomd.OFULog-r": (22, 20),
    "glbomd.UCB1": (18, 6),
    "linear.OFUL": (22, 28),
    "linear.ConfidenceBall": (19, 28),
    "nsbco.MASTER": (58, 29),
    "nsbco.Algorithm 2": (5, 12),
    "nsbco.GLR": (5, 12),
    "nsbco.KW": (5, 13),
}


# Operations and synchronizations of a round on a GPU, `select` and `update` together, with 64 trials.
DEVICE_LIMITS = {
    "glbomd.GLB-OMD": (68, 1),
    "glbomd.GLB-OMD, dim": (137, 2),  # in nearly every round some trial leaves the ball
    "glbomd.GLB-OMD, Poisson": (136, 2),
    "glbomd.GLB-OMD, Gaussian": (62, 1),
    "glbomd.OFUL-MLogB": (68, 1),
    "glbomd.OFUL-MLogB, dim": (137, 2),
    "glbomd.GLOC": (157, 2),
    "glbomd.ECOLog": (186, 4),
    "glbomd.ECOLog, projecting": (711, 16),  # every step on the multiplier solves a scalar problem
    "glbomd.GLM-UCB": (184, 2),
    "glbomd.RS-GLinCB": (93, 3),
    "glbomd.Laplace Thompson": (200, 3),  # refits all rounds with three Newton steps
    "glbomd.UCB1": (24, 0),
    "linear.OFUL": (52, 0),
    "linear.ConfidenceBall": (49, 0),
    "nsbco.MASTER": (141, 2),
    "nsbco.MASTERw": (140, 2),
    "nsbco.MASTER, printed": (141, 2),
    "nsbco.MASTER, box": (139, 2),
    "nsbco.MASTER, Exp3-IX": (139, 2),
    "nsbco.MALG": (119, 2),
    "nsbco.Algorithm 2": (59, 2),
    "nsbco.Algorithm 2, oracle": (82, 2),
    "nsbco.EGS": (46, 2),
    "nsbco.EGS, oracle": (53, 2),
    "nsbco.KW": (50, 2),
    "nsbco.KW, oracle": (63, 2),
    "nsbco.KWtrack": (46, 2),
    "nsbco.BoB": (84, 2),
    "nsbco.SPSA": (52, 2),
    "nsbco.GLR": (60, 2),
    "nsbco.D-LS": (32, 2),
    "nsbco.SW-LS": (51, 2),
    "nsbco.Exp3-IX": (38, 2),
    "nsbco.Exp3-IX, weak": (40, 2),
    "nsbco.full information": (65, 2),
    "nsbco.static baseline": (2, 2),
}

# An operation synchronizes if a value reaches Python, a shape depends on values, a constant is uploaded, or an
# error code is read. On CUDA ``eigh`` and functions that end in ``_linalg_check_errors`` read error codes.
SYNCHRONIZING = (
    "_local_scalar_dense nonzero masked_select equal is_nonzero lift_fresh _linalg_eigh _linalg_check_errors"
).split()


COPYING = (
    "tolist",
    "numpy",
    "cpu",
    "__array__",
)  # copies to the host, which a CPU tensor does not dispatch


class Cost(NamedTuple):
    """Medians over rounds; on a GPU of ``select`` and ``update`` together."""

    select: int
    update: int
    both: int
    synchronizations: int


class Count(TorchDispatchMode):
    """Mode that counts the dispatched operations, and those among them that would synchronize a GPU with the host."""

    def __init__(self):
        super().__init__()
        self.number = self.synchronizations = 0
        self.copies = Copies(self)

    def __enter__(self):
        self.copies.__enter__()
        return super().__enter__()

    def __exit__(self, *error):
        super().__exit__(*error)
        self.copies.__exit__(*error)

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        name = operation.__name__.split(".")[0]
        masked = name.startswith("index") and any(
            isinstance(x, torch.Tensor) and x.dtype == torch.bool
            for x in (args[1] if isinstance(args[1], (list, tuple)) else ())
        )
        self.number += 1
        self.synchronizations += masked or name in SYNCHRONIZING
        return operation(*args, **(kwargs or {}))


class Copies(TorchFunctionMode):
    def __init__(self, count):
        super().__init__()
        self.count = count

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.count.synchronizations += getattr(function, "__name__", "") in COPYING
        return function(*args, **(kwargs or {}))


def dispatches(learner, problem, trials=1, rounds=ROUNDS):
    """Return the medians over rounds of the operations that ``select`` and ``update`` dispatch."""
    draws, tkwargs = Streams(0, range(trials)), {"dtype": torch.float64, "device": "cpu"}
    with torch.no_grad():
        instance = problem.init(trials, rounds, draws.at(-1), **tkwargs)
        state = learner.init(trials, problem.context(instance, 0), rounds, draws.at(-1), **tkwargs)
        counts = []
        for t in range(rounds):
            draw, context = draws.at(t), problem.context(instance, t)
            with Count() as select:
                action, state = learner.select(state, context, draw)
            feedback, _ = problem.respond(instance, t, action, learner.wants, draw)
            with Count() as update:
                state = learner.update(state, context, action, feedback, draw)
            numbers = select.number, update.number
            waits = select.synchronizations + update.synchronizations
            counts.append((*numbers, sum(numbers), waits))
    return Cost(*(statistics.median_low(column) for column in zip(*counts)))


def on_a_device(learner, problem):
    """Return the same medians for the code path of a GPU, with 64 trials."""
    with shortcuts(False):
        return dispatches(learner, problem, trials=64, rounds=64)


@pytest.mark.parametrize("name", LIMITS)
def test_a_round_does_not_exceed_its_dispatch_limit(name):
    paper, case = name.split(".")
    case = paper_module(paper, "cases").CASES[case]
    cost, most = dispatches(case.learner, case.problem), LIMITS[name]
    assert cost.select <= most[0] and cost.update <= most[1], f"{name}: {cost}, at most {most}"


@pytest.mark.parametrize("name", DEVICE_LIMITS)
def test_a_round_on_a_device_does_not_exceed_its_limits(name):
    paper, case = name.split(".")
    case = paper_module(paper, "cases").CASES[case]
    cost = on_a_device(case.learner, case.problem)
    operations, synchronizations = DEVICE_LIMITS[name]
    assert cost.both <= operations and cost.synchronizations <= synchronizations, f"{name}: {cost}"


def test_the_guide_gives_these_counts_and_the_rule_of_auto():
    text = speed({"papers": {}, "profile": "paper"}).partition("## On a GPU")[2]
    inside, projecting = DEVICE_LIMITS["glbomd.GLB-OMD"], DEVICE_LIMITS["glbomd.GLB-OMD, dim"]
    assert f"{inside[0]} operations and {inside[1]} synchronization per round" in text
    assert f"{projecting[0]} operations and {projecting[1]} synchronizations" in text
    on_the_sphere = DEVICE_LIMITS["glbomd.ECOLog, projecting"]
    assert f"{projecting[0] - inside[0]} operations" in text
    assert f"{on_the_sphere[0]} operations and {on_the_sphere[1]} synchronizations" in text
    assert text in (ROOT / "docs" / "guides" / "speed.md").read_text()


@pytest.mark.parametrize(
    "look", [lambda x: x.item(), lambda x: bool(x > 0), lambda x: x[x > 0], lambda x: x.tolist(),
             lambda x: x.nonzero(), lambda x: torch.linalg.eigh(x.diag()), lambda x: torch.tensor([1.0])],
)  # fmt: skip
def test_synchronizations_are_counted(look):
    with Count() as count:
        look(torch.ones(1))
    assert count.synchronizations >= 1


def test_a_masked_branch_synchronizes_once():
    mask = torch.zeros(3, dtype=torch.bool)
    for on in (True, False):
        with shortcuts(on), Count() as count:
            assert not linalg.any_on_host(mask)
        # The two operations are any() and the transfer of its value.
        assert (count.number, count.synchronizations) == (2, 1)
    with shortcuts(False), Count() as count:
        assert linalg.any_or_unknown(mask)
    assert count.number == 0
    assert linalg.any_on_host(mask.to("meta")) and not linalg.any_on_host(mask.numpy())


class Own(Link):
    """A user-defined reward family."""

    log_partition = lambda self, z: torch.exp(z)
    mean_and_slope = lambda self, z: (2.0**z, 2.0**z)
    max_slope = min_slope = lambda self, norm_bound: 1.0
    sample = None


@pytest.mark.parametrize("link", [Bernoulli(), Poisson(), Gaussian(), Own()])
def test_mean_and_slope_are_found_together(link):
    z = torch.linspace(-40, 40, 81, dtype=torch.float64)
    mean, slope = link.mean_and_slope(z)
    for kind, expected in (("mean", link.mean(z)), ("slope", link.slope(z))):
        found = {"mean": mean, "slope": slope}[kind]
        torch.testing.assert_close(found, expected, rtol=1e-15, atol=0)
    for found, expected in zip(link.mean_and_slope(z.numpy()), (mean, slope)):
        assert isinstance(found, np.ndarray)
        np.testing.assert_allclose(found, expected.numpy(), rtol=1e-14)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("trials", [1, 3])
def test_arrays_and_tensors_give_the_same(trials, shared):
    draw = torch.Generator().manual_seed(0)
    random = lambda *shape: torch.randn(*shape, dtype=torch.float64, generator=draw)
    arms, vector, matrix = random(1 if shared else trials, 7, 4), random(trials, 4), random(trials, 4, 4)  # fmt: skip
    index = torch.arange(trials) * 2
    matrix = matrix @ matrix.mT
    for f, of in (
        (linalg.arm_dot, (arms, vector)),
        (linalg.arm_quadratic, (arms, matrix)),
        (linalg.mahalanobis_norm, (arms, matrix)),
        (linalg.matvec, (matrix, vector)),
        (linalg.take_arm, (arms, index)),
        (linalg.dot, (vector, 2 * vector)),
        (linalg.log, (matrix.abs(),)),
    ):
        light = linalg.as_numpy_if_cpu(*of)
        assert all(isinstance(x, np.ndarray) for x in light)
        assert all(x.ctypes.data == y.data_ptr() for x, y in zip(light, of)), "no copies"
        (found,) = linalg.as_tensors(f(*light))
        torch.testing.assert_close(found, f(*of), rtol=1e-13, atol=1e-13)
    with shortcuts(False):
        assert linalg.as_numpy_if_cpu(arms, matrix) == (arms, matrix)


def test_every_case_of_nsbco_is_within_its_budget_on_a_device():
    budgets = {
        name.removeprefix("nsbco."): most
        for name, (most, _) in DEVICE_LIMITS.items()
        if "nsbco" in name
    }
    assert (
        budgets.keys() == paper_module("nsbco", "cases").CASES.keys()
        and max(budgets.values()) <= 150
    )


class Recorded(TorchDispatchMode):
    """Mode that records everything that a CUDA graph would fix: the operations, the shapes, and the non-tensor arguments."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        shaped = lambda x: (x.shape, x.dtype) if isinstance(x, torch.Tensor) else x
        self.calls.append((str(operation), str(tree_map(shaped, (args, kwargs)))))
        return operation(*args, **(kwargs or {}))


def can_be_captured(learner, problem):
    """Return whether the code path for a GPU dispatches the same operations in every round, without a synchronization."""
    draws, tkwargs = Streams(0, range(4)), {"dtype": torch.float64, "device": "cpu"}
    rounds = []
    with torch.no_grad(), shortcuts(False):
        instance = problem.init(4, ROUNDS, draws.at(-1), **tkwargs)
        state = learner.init(4, problem.context(instance, 0), ROUNDS, draws.at(-1), **tkwargs)
        for t in range(ROUNDS):
            draw, context = draws.at(t), problem.context(instance, t)
            with Count() as select, Recorded() as chosen:
                action, state = learner.select(state, context, draw)
            feedback, _ = problem.respond(instance, t, action, learner.wants, draw)
            with Count() as update, Recorded() as heard:
                state = learner.update(state, context, action, feedback, draw)
            waits = select.synchronizations + update.synchronizations
            rounds.append((chosen.calls + heard.calls, waits))
    # The first two rounds are excluded, because they fill caches.
    return all(round == (rounds[-1][0], 0) for round in rounds[2:])


CAPTURABLE = ["MALG", "Algorithm 2", "EGS", "KW", "KWtrack", "SPSA", "Exp3-IX", "Exp3-IX, weak", "static baseline"]  # fmt: skip


@pytest.mark.slow
def test_which_rounds_of_nsbco_a_cuda_graph_can_capture():
    """All other learners check a test of change, or their operations depend on the number of rounds or on a growing history."""
    cases = paper_module("nsbco", "cases").CASES
    found = [name for name, x in cases.items() if can_be_captured(x.learner, x.problem)]
    assert found == CAPTURABLE
