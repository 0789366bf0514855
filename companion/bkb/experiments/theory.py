"""Checks of the paper's statements on recorded runs, as the notebook on the theorems groups them, and the probes of its runs.

Source: Calandriello et al. (2019), Theorems 3.1, 4.1 and D.1, and the statements that they are based on.
Letters: R trials, T rounds, T' recorded rounds, A arms.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from paperlib.bkb.learners.bkb import BKB
from paperlib.bkb.learners.exact import ExactGPUCB
from paperlib.bkb.learners.lazy import LazyBKB
from paperlib.bkb.model.confidence import Confidence
from paperlib.bkb.probes import SHOT, noise, normalized_error, own_numbers, radius, sketch_probes
from paperlib.bkb.problems import RKHS
from paperlib.bkb.theory import bounds
from paperlib.checks import Check
from paperlib.core.contracts import Learner
from paperlib.core.streams import Streams
from paperlib.core.trace import Trace
from paperlib.maths.gp import Kernel
from paperlib.play import Probe

from ..proofs import run_lemmas, sketch_lemmas
from ..proofs.run_lemmas import Own, Replay, coins
from ..proofs.sketch_lemmas import Snapshot, in_all

RULES = ("paper", "corrected", "online", "practical")  # rules of the confidence radius
# Numbers that Theorem 3.1 needs.
SIZES = ("arm", "ratio", "left out", "dictionary", "expected size", "size")

# Probes ---------------------------------------------------------------------------------------------------


def named(pairs: Mapping[str, tuple]) -> dict[str, Probe]:
    """Return name -> probe for name -> (function, reduction)."""
    return {name: Probe(*pair) for name, pair in pairs.items()}


def rule_probes(confidence: Mapping[str, Confidence], learner: BKB) -> dict[str, Callable]:
    """Return the probes that compare the radius rules along one run: error and radius of each rule, noise, and the sum in the radius.

    Args:
        confidence: rule -> its radius.
        learner: the learner of the run.
    """
    errors = {
        f"error {rule}": Probe(partial(normalized_error, c), "max")
        for rule, c in confidence.items()
    }
    radii = {f"radius {rule}": partial(radius, c) for rule, c in confidence.items()}
    return errors | radii | {"noise": noise, "effective": own_numbers(learner)["effective"]}


def size_probes(kernel: Kernel, confidence: Confidence, qbar: float) -> dict[str, Probe]:
    """Return the probes that Theorem 3.1 needs."""
    pairs = sketch_probes(kernel, confidence, qbar)
    return named({name: pairs[name] for name in pairs if name in SIZES})


def final_probes() -> dict[str, Probe]:
    """Return the probes of the last round that a ``Snapshot`` needs."""
    return {name: Probe(of, "final") for name, of in SHOT.items()}


# Statements along a run -----------------------------------------------------------------------------------


def check_assumptions(
    problem: RKHS, kernel: Kernel, arms: Tensor, seed: int, noise: np.ndarray
) -> list[Check]:
    """Return the checks of the assumptions on kernel, function and noise, and of Proposition C.4.

    Args:
        problem: problem of the run.
        kernel, arms: its kernel and arms.
        seed: seed of the run.
        noise: noise of the run, R x T.
    """
    trials, horizon = noise.shape
    streams = Streams(seed, range(trials)).at(-1)
    instance = problem.init(trials, horizon, streams, dtype=torch.float64)
    return [
        bounds.assumption_kernel(kernel, arms, 1.0),
        bounds.assumption_norm(kernel, instance.centers, instance.coefficients, problem.norm),
        bounds.assumption_noise(noise, problem.noise),
        run_lemmas.proposition_c4([0.5, 1, 3, 5, 20, 100]),
    ]


def check_variances(run: Replay, gains: Mapping[int, float]) -> list[Check]:
    """Return the checks of Section 2 and the appendices on the exact variances along a run; ``gains``: T -> bound on gamma_T."""
    return [
        run_lemmas.effective_dimension(run),
        run_lemmas.log_determinant(run),
        run_lemmas.proposition_b1(run),
        run_lemmas.proposition_b3(run),
        run_lemmas.sum_of_variances(run),
        run_lemmas.information(run, gains),
    ]


def check_as_printed(run: Replay) -> list[Check]:
    """Return the checks of two inequalities as the paper prints them, which must fail."""
    return [
        run_lemmas.sum_of_variances(run, printed=True),
        run_lemmas.proposition_c4([3, 5], printed=True),
    ]


def check_own_numbers(
    learner: Learner,
    trace: Trace,
    run: Replay,
    gains: Mapping[int, float],
    seed: int,
    shrinkage: np.ndarray,
) -> list[Check]:
    """Return the checks of the numbers in a learner's states, which are recorded by ``probes.own_numbers`` in every round.

    Args:
        learner: BKB, LazyBKB or exact GP-UCB.
        trace: its run.
        run: replay of the pulled arms.
        gains: T -> bound on gamma_T.
        seed: seed of the run.
        shrinkage: numbers of the probe ``shrinkage`` along LazyBKB's run.
    """
    own = Own.by(trace, run, learner.confidence)
    checks = [run_lemmas.radius(own), run_lemmas.choice(own), run_lemmas.least_variance(own)]
    if isinstance(learner, ExactGPUCB):
        return [*checks, run_lemmas.posterior(own), *check_variances(own, gains)]
    checks.append(in_all(sketch_lemmas.sketched_posterior, own.shots()))
    if isinstance(learner, LazyBKB):
        return [*checks, run_lemmas.fixed_dictionary(shrinkage)]
    drawn = coins(seed, *own.index.shape, run.arms.shape[-2])
    return [*checks, run_lemmas.sampled(own, drawn, learner.qbar)]


# One dictionary, Theorem 3.1 and Theorem D.1 --------------------------------------------------------------


def check_dictionaries(shots: Sequence[Snapshot]) -> list[Check]:
    """Return the checks of the statements about one dictionary; three of them need an accuracy e < 1."""
    accurate = [shot for shot in shots if shot.accuracy < 1]
    of_any = (
        sketch_lemmas.sketched_posterior,
        sketch_lemmas.sketched_variance,
        sketch_lemmas.determinant,
    )
    of_accurate = (
        sketch_lemmas.lemma_c1,
        sketch_lemmas.lemma_c1_variance,
        sketch_lemmas.proposition_d3,
    )
    checks = [in_all(statement, shots) for statement in of_any]
    return checks + [in_all(statement, accurate) for statement in of_accurate if accurate]


def check_sampling(shots: Sequence[Snapshot], confidence: Confidence) -> Check:
    """Return the check of accuracy, Appendix C.3, on the dictionaries of the last round, one per trial."""
    accuracies = np.array([[shot.accuracy] for shot in shots])
    return sketch_lemmas.dictionary_accuracy(accuracies, confidence.eps, confidence.delta)


def check_theorem_3_1(
    trace: Trace, run: Replay, confidence: Confidence, qbar: float, kappa2: float
) -> list[Check]:
    """Return the checks of Theorem 3.1: accuracy, size as printed, the sharper bound on the size, and expected size."""
    diagonal, effective = run.kernel.diag(run.arms), run.effective
    return [
        bounds.theorem_3_1_accuracy(trace, confidence, qbar, diagonal),
        bounds.theorem_3_1_size(trace, effective, confidence, qbar, kappa2),
        bounds.theorem_3_1_tight(trace, effective, confidence, qbar),
        bounds.theorem_3_1_expected(trace, effective, confidence, qbar),
    ]


def check_theorem_d1(
    trace: Trace, exact: Trace, confidence: Mapping[str, Confidence], qbar: float
) -> dict[str, Check]:
    """Return the check of Theorem D.1 for each radius rule along one run of BKB, and for exact GP-UCB.

    Args:
        trace: BKB's run with the probes ``rule_probes``.
        exact: run of exact GP-UCB with the rule ``practical``.
        confidence: rule -> its radius.
        qbar: BKB's oversampling.
    """
    found = {}
    for rule, c in confidence.items():
        of_rule = replace(trace, series=trace.series | {"error": trace[f"error {rule}"]})
        found[rule] = bounds.theorem_d1(of_rule, c, sketched=True, qbar=qbar)
    return found | {"exact": bounds.theorem_d1(exact, confidence["practical"], sketched=False)}


# Theorem 4.1 ----------------------------------------------------------------------------------------------


def check_theorem_4_1(
    trace: Trace, run: Replay, confidence: Confidence, qbar: float, times: Sequence[int]
) -> list[Check]:
    """Return the checks of the regret bounds after these rounds: the certificate, Theorem 4.1 corrected, and as printed."""
    found, at = trace.thin(times), [t - 1 for t in times]
    return [
        bounds.certificate(found, confidence, 1.0, qbar=qbar),
        bounds.theorem_4_1(found, run.log_det[:, at], confidence, 1.0, qbar=qbar),
        bounds.theorem_4_1_printed(found, run.effective[:, at], confidence, 1.0),
    ]
