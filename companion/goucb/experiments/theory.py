"""Runs of Algorithm 1 on the reference problems, and all statements tested on them.

Letters: R trials, T rounds of Phase II, n of Phase I.
"""

import math
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from paperlib.checks import Check
from paperlib.core.trace import Trace
from paperlib.goucb.learners.acquisition import Linearized
from paperlib.goucb.learners.goucb import GOUCB
from paperlib.goucb.learners.oracle import BoxLeastSquares
from paperlib.goucb.learners.presets import algorithm1
from paperlib.goucb.learners.radius import Constant, Radius, Simulated
from paperlib.goucb.problems.reference import HALF, Reference
from paperlib.goucb.theory import bounds, constants

from ..proofs import feasibility, lemmas, printed
from ..proofs.growth import Risk, equivalents, growth_condition, self_concordance
from ..proofs.phase_2 import Replay

DELTA = 0.1
SAFE = {"A": 3.0, "B": 8.0}  # C_h, valid also slightly outside W, where some estimates are (E5)
SEARCH = Linearized(256, 8, 4, 20, 0.005)
RADII = (1e-4, 1e-2, 0.5)  # values of c in the test of self-concordance
POINTS = 1000  # points in the test of functional containment
ROUNDS = 20  # rounds in the test of functional containment


def learner(problem: Reference, n: int, ridge: float, radius: Radius | None = None) -> GOUCB:
    """Return Algorithm 1 with the oracle that the theorems assume, on points and observations without scaling.

    Args:
        problem: A or B.
        n: rounds of Phase I.
        ridge: lambda.
        radius: None: the smallest radius that the proof of Lemma 5.3 gives for this run.
    """
    truth = problem.truth
    if radius is None:
        same = tuple(map(tuple, equivalents(truth.w, truth.hidden).tolist()))
        radius = Simulated(same, problem.noise, SAFE[problem.name], DELTA)
    oracle = BoxLeastSquares(truth.lo, truth.hi)
    return GOUCB(problem.network, n, oracle, SEARCH, radius, ridge=ridge, scaling="none")


def learners(problem: Reference, n: int, T: int) -> dict[str, GOUCB]:
    """Return learners with three radii: of the proof with lambda = sqrt(T), beta = 1 with lambda = sqrt(T), and lambda = beta = 0.1.

    With the last one, the factor 2 of the elliptical potential is too small (E4).
    """
    return {
        "proved radius": learner(problem, n, T**0.5),
        "beta = 1": learner(problem, n, T**0.5, Constant(T**-0.25)),
        "lambda = beta = 0.1": learner(problem, n, 0.1, Constant(1.0)),
    }


class RecordedRun:
    """A recorded run, with all quantities recomputed that the statements need.

    Args:
        trace: trace of every round, with the probes of ``probes.recording_probes``.
        problem: the problem that was played.
        played: the learner.
    """

    def __init__(self, trace: Trace, problem: Reference, played: GOUCB):
        self.trace, self.problem, self.played = trace, problem, played
        self.truth, self.n = problem.truth, played.n_init
        self.run = Replay.of(trace, problem.network, self.n, played.ridge, self.truth.w)
        self.curvature, self.risk = SAFE[problem.name], Risk(problem)
        self.slope = float(self.run.reached[:, 0].max())

    @cached_property
    def constants(self) -> constants.Constants:
        """Constants of the problem; mu refers to the distance to the nearest of the equivalent parameters."""
        return constants.Constants.of(self.problem, self.risk.on_box.mu, DELTA)

    @cached_property
    def span(self) -> float:
        """Largest regret of a round, on a grid."""
        f = self.problem.network.value(self.risk.truth, self.points(2001).unsqueeze(0))
        return self.problem.maximum - float(f.min())

    @cached_property
    def inside(self) -> np.ndarray:
        """Parameters in W, 201 x dw: 200 uniform ones and the one where mu is attained."""
        lo, hi = self.truth.lo, self.truth.hi
        uniform = np.random.default_rng(0).uniform(lo, hi, (200, len(self.truth.w)))
        return np.concatenate([uniform, self.risk.on_box.w[None]])

    def points(self, count: int) -> Tensor:
        """Return a grid of [-5, 5], count x 1."""
        return torch.linspace(-HALF, HALF, count, dtype=torch.float64).unsqueeze(1)

    def squared_error(self, w: Tensor) -> Tensor:
        """Return sum (f_w(x_i) - y_i)^2 over Phase I, R. ``w``: R x dw."""
        x, y = (torch.from_numpy(self.trace[name][:, : self.n].copy()) for name in ("x", "y"))
        return (self.problem.network.value(w, x) - y).square().sum(1)

    # Statements ------------------------------------------------------------------------------------------

    def assumptions(self) -> list[Check]:
        """Check Assumptions 3.1 to 3.3 on this network."""
        c, run, risk = self.constants, self.run, self.risk
        values = self.problem.maximum - run.gaps.numpy()
        w = torch.from_numpy(self.inside)
        return [
            bounds.assumption_3_1(values, run.true, run.truth, self.truth.lo, self.truth.hi),
            bounds.assumption_3_2(self.problem.network, w, self.points(51), c),
            lemmas.assumption_3_2_along(run, self.slope, self.curvature),
            growth_condition(risk, c.growth, self.inside, nearest=True),
            *[self_concordance(risk, radius) for radius in RADII],
        ]

    def first_phase(self) -> list[Check]:
        """Check Lemma 5.1 and Theorem 5.2, as stated and corrected, Remark 4.4 and condition (8)."""
        run, n, c = self.run, self.n, self.constants
        w0, far2 = run.w[:, 0], run.distance2[:, 0]
        risk = self.risk.value(w0)
        return [
            lemmas.oracle(self.squared_error(w0), self.squared_error(run.truth)),
            bounds.lemma_5_1(risk, n, c),
            printed.lemma_5_1_printed(risk, n, c),
            bounds.theorem_5_2(far2, n, c),
            printed.theorem_5_2_printed(far2, n, c),
            bounds.remark_4_4(self.trace.at(n), n, c.value),
            printed.condition_8(c, run.rounds, self.risk.zeta),
        ]

    def algorithm(self) -> list[Check]:
        """Check the statements that hold in every round of every run of Phase II, whatever the radius."""
        run, along = self.run, self.run.along
        K = self.slope**2 / run.ridge
        return [
            lemmas.estimate(run),
            lemmas.query(run, self.points(101)),
            lemmas.lemma_c4(run),
            lemmas.lemma_c5(run, self.slope),
            lemmas.lemma_c6(run),
            lemmas.lemma_c6_printed(run, self.slope),
            lemmas.lemma_c6_step(along.trace[:, 1:], along.growth[:, :-1]),
            lemmas.potential(along.u2, along.growth[:, 1:], K),
            lemmas.potential_printed(along.u2, lemmas.potential_bound(run, self.slope)),
            lemmas.potential_step(along.u2, along.growth[:, 1:]),
            lemmas.lemma_b3(run, self.problem.noise, DELTA / 2),
            feasibility.identity_13(run),
            feasibility.remainder(run, self.curvature),
            lemmas.remark_4_2(run, self.problem.maximum),
            lemmas.remark_4_3(run),
            lemmas.square_sum(self.trace.last(), run, self.n, self.constants.value),
        ]

    def containment(self) -> Check:
        """Check Lemma 5.3 with the learner's radius."""
        most = self.run.far_corner2(self.truth.lo, self.truth.hi).sqrt()
        return feasibility.containment(self.run, DELTA, most)

    def functional(self) -> Check:
        """Check the consequence of Lemma 5.3 for f, on a grid and in some of the rounds."""
        rounds = range(0, self.run.rounds, max(1, self.run.rounds // ROUNDS))
        x, F = self.points(POINTS), self.constants.value
        return feasibility.functional(self.run, x, rounds, self.curvature, F, DELTA)

    def regret_bounds(self) -> list[Check]:
        """Check Lemmas 5.4 and 5.5 and Theorem 4.1, as stated and corrected."""
        run, c, curvature, span = self.run, self.constants, self.curvature, self.span
        return [
            feasibility.lemma_5_4(run, curvature, span),
            feasibility.lemma_5_4_printed(run, curvature, span),
            feasibility.lemma_5_5(run, self.slope, curvature, span),
            feasibility.lemma_5_5_printed(run, self.slope, curvature, span),
            bounds.theorem_4_1(self.trace.last(), self.n, run.rounds, c),
            printed.theorem_4_1_printed(self.trace.last(), run.rounds, c),
        ]

    def ball(self) -> Check:
        """Check that the learner's ball equals the ball of the proof."""
        return lemmas.ball(self.run, self.run.root(self.problem.noise, self.curvature, DELTA))


def proved(problem: Reference, n: int, T: int) -> tuple[GOUCB, constants.Proof]:
    """Return Algorithm 1 with lambda and beta_T of Lemma 5.3 with all constants, and their values. B_0 is capped at the diameter of W."""
    c = constants.Constants.of(problem, Risk(problem).on_box.mu, DELTA)
    p = constants.proof_constants(c, n, T, capped=True)
    return learner(problem, n, p.ridge, Constant(math.sqrt(p.beta / p.ridge))), p


def growing(problem: Reference, T: int) -> dict[str, GOUCB]:
    """Return Algorithm 1's recursion with kappa = 0.2, lambda = 1 and n = sqrt(T), with the theorems' oracle and with the preset's."""
    n = constants.first_phase(T)
    return {
        "exact oracle": learner(problem, n, 1.0, Constant(0.2)),
        "algorithm1()": algorithm1(n, problem.network),
    }
