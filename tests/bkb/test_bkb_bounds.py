"""Statements of the theory on random instances, on runs, and with deliberately broken input, which must be flagged."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from bkb_runs import (
    KERNELS,
    KeepsAll,
    Overconfident,
    Starved,
    confidence,
    dictionary,
    instance,
    record,
    reference_run,
)
from scipy.stats import binom

from companion.bkb.errata import reference_arms
from companion.bkb.experiments.settings import REFERENCE
from companion.bkb.proofs import run_lemmas, sketch_lemmas
from companion.bkb.proofs.run_lemmas import Replay
from companion.bkb.proofs.sketch_lemmas import Snapshot
from companion.verdicts import statements
from paperlib.bkb.learners.bkb import BKB
from paperlib.bkb.learners.exact import ExactGPUCB
from paperlib.bkb.learners.lazy import LazyBKB
from paperlib.bkb.probes import binomial_quantile, exact_variance, probes, shrinkage, sketch_probes
from paperlib.bkb.problems import ArmsInstance, FixedArms
from paperlib.bkb.theory import bounds
from paperlib.bkb.theory import constants as theory
from paperlib.checks import Check, Reported, Statement
from paperlib.core.describe import describe
from paperlib.core.rounds import Probe, innermost_state
from paperlib.core.streams import Streams
from paperlib.learners.reference import UniformArm
from paperlib.learners.wrapper import Scripted
from paperlib.maths.gp import RBF, FunctionKernel, Linear, exact_posterior
from paperlib.play import play

ALONG = (
    run_lemmas.effective_dimension,
    run_lemmas.log_determinant,
    run_lemmas.proposition_b1,
    run_lemmas.proposition_b3,
    run_lemmas.sum_of_variances,
    run_lemmas.least_variance,
)
SNAPS = (
    sketch_lemmas.sketched_posterior,
    sketch_lemmas.sketched_variance,
    sketch_lemmas.determinant,
)
ACCURATE = (sketch_lemmas.lemma_c1, sketch_lemmas.lemma_c1_variance, sketch_lemmas.proposition_d3)


# Replay ---------------------------------------------------------------------------------------------------


def trace_arms():
    """Return 21 arms (i / 20)^1.3 and the twenty arms that exact GP-UCB pulls on a function without noise."""
    arms = ((torch.arange(21, dtype=torch.float64) / 20) ** 1.3).view(1, -1, 1)
    return arms, [10, 20, 0, 16, 6, 14, 18, 4, 18, 7, 17, 18, 16, 4, 20, 17, 18, 7, 17, 5]


def test_replay_of_a_known_run():
    arms, index = trace_arms()
    run = Replay(RBF(25.0), arms, 0.1, torch.tensor([index]))
    assert run.variance[0, -1, [0, 7, 20]].tolist() == pytest.approx(
        [0.8165434335, 0.3410032098, 0.4461375264], abs=1e-9
    )
    assert (
        float(run.log_det[0, -1])
        == pytest.approx(20.6630230551, abs=1e-9)
        == float(run.dense_log_det[0, -1])
    )
    assert (
        float(run.effective[0, -1])
        == pytest.approx(6.9347222302, abs=1e-9)
        == float(run.dense_effective[0, -1])
    )


def test_snapshot_of_a_known_dictionary():
    arms, index = trace_arms()
    n = torch.bincount(torch.tensor(index), minlength=21).double()
    mask = torch.zeros(21, dtype=torch.bool)
    mask[[0, 10, 20]] = True
    shot = Snapshot(RBF(25.0), arms[0], n, mask, 0.1)
    assert shot.sketched_s2[[0, 7, 20]].tolist() == pytest.approx(
        [0.4394370528, 6.5943350788, 0.2254696201], abs=1e-6
    )
    assert shot.regressors_s2[[0, 7, 20]].tolist() == pytest.approx(
        [0.4394370528, 0.1554814353, 0.2254696201], abs=1e-6
    )
    assert float(torch.linalg.slogdet(shot.sketched).logabsdet) == pytest.approx(
        9.9359036491, abs=1e-6
    )
    ratio = shot.sketched_s2 / shot.exact_s2
    assert float(ratio.min()) == pytest.approx(0.50538143, abs=1e-6) and float(
        ratio.max()
    ) == pytest.approx(52.91902020, abs=1e-5)


def test_orthonormal_arms_in_closed_form():
    run = Replay(
        Linear(), torch.eye(3, dtype=torch.float64).unsqueeze(0), 0.5, torch.tensor([[0, 0, 0, 1]])
    )
    assert run.variance[0, -1].tolist() == pytest.approx(
        [0.2857142857, 0.6666666667, 2.0], abs=1e-9
    )
    assert float(run.effective[0, -1]) == pytest.approx(1.5238095238, abs=1e-9) and float(
        run.log_det[0, -1]
    ) == pytest.approx(3.0445224377, abs=1e-9)
    assert run.norm([2, 4]).tolist() == [pytest.approx([2.0, 3.0])]


@pytest.mark.parametrize("name", KERNELS)
def test_replay_agrees_with_the_dense_posterior(name):
    run = instance(name)
    zero = torch.zeros_like(run.counts[:, -1])
    for t in (1, 17, 40):
        dense = (
            exact_posterior(
                run.kernel, run.arms, run.counts[:, t - 1], zero, run.ridge, run.arms
            ).variance
            / run.ridge
        )
        assert torch.allclose(run.variance[:, t], dense, rtol=1e-9, atol=1e-12)
        assert torch.allclose(
            exact_variance(run.kernel, run.arms, run.counts[:, t - 1], run.ridge),
            dense,
            rtol=1e-9,
            atol=1e-12,
        )
    points = run.arms[0, run.index[1]]
    assert float(run.norm([40])[1, 0]) == pytest.approx(
        float(torch.linalg.eigvalsh(run.kernel(points, points))[-1])
    )
    noise = torch.from_numpy(np.random.default_rng(5).normal(size=(3, 40)))
    gram = run.kernel(points[:25], points[:25])
    energy = noise[1, :25] @ torch.linalg.solve(
        gram + run.ridge * torch.eye(25, dtype=torch.float64), gram @ noise[1, :25]
    )
    assert float(run.noise_energy(noise)[1, 24]) == pytest.approx(float(energy))


def test_a_replay_needs_every_round():
    arms, _ = trace_arms()
    learner = BKB(RBF(100.0), confidence())
    with pytest.raises(ValueError, match="record='all'"):
        Replay.of(
            play(learner, REFERENCE, 6, 1, record=2, probes={"arm": lambda r: r.action}),
            RBF(100.0),
            arms,
            0.01,
        )


# Along a run: Sections 2 and 3.2, Propositions B.1, B.3, D.4 ----------------------------------------------


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("seed", [0, 1])
def test_every_statement_along_a_run_holds(name, seed):
    run = instance(name, seed)
    for statement in ALONG:
        check = statement(run)
        assert check.verdict == "holds", check
    gains = run_lemmas.upper(run.kernel, run.arms, run.ridge, [1, 5, 20, 40])
    assert run_lemmas.information(run, gains).verdict == "holds"


def test_proposition_b1_is_an_equality_at_the_newest_arm():
    run = instance("rbf")
    assert torch.allclose(run.settled, run.played / (1 + run.played), rtol=1e-9)
    assert run_lemmas.proposition_b1(run).ratio == pytest.approx(1, abs=1e-9)


def test_numbers_of_the_reference_run():
    """Expected numbers: d_eff 16.74 <= 30.37 <= 79.10, sum of variances 1020 <= 1714, printed bound 6470, certificates below the trivial 1800."""
    trace, run, learner = reference_run(horizon=300)
    mean = lambda x: float(x[:, -1].mean())
    assert mean(run.effective) == pytest.approx(16.74, rel=0.03) and mean(
        run.settled.cumsum(1)
    ) == pytest.approx(30.37, rel=0.03)
    assert mean(run.log_det) == pytest.approx(79.10, rel=0.03) and mean(
        run.played.cumsum(1)
    ) == pytest.approx(1020, rel=0.05)
    check, total = run_lemmas.proposition_b3(run), run_lemmas.sum_of_variances(run)
    assert (
        np.diff(check.observed[..., :3], axis=-1) > 0
    ).all() and check.verdict == total.verdict == "holds"
    assert total.inputs["C_lambda"] == pytest.approx(21.6679065336) and mean(
        total.bound
    ) == pytest.approx(1714, rel=0.03)
    assert not run_lemmas.sum_of_variances(run, printed=True).by_trial.any()
    printed = bounds.theorem_4_1_printed(trace, run.effective, learner.confidence, 1.0)
    assert (
        mean(printed.bound) == pytest.approx(6470, rel=0.03)
        and printed.trivial == 1800
        and printed.informative_from is None
    )
    radii = [replace(learner.confidence, rule=rule) for rule in ("corrected", "online")]
    assert [
        theory.regret_bound(c, 1.0, 300, 79.1, beta) for c, beta in zip(radii, (3.116, 1.84))
    ] == pytest.approx([7746, 4576], rel=1e-3)


def test_broken_variances_are_flagged():
    run = instance("rbf")
    shrunk = run.variance.clone()
    shrunk[:, 20:] *= 0.3
    grown = run.variance.clone()
    grown[:, 20:] *= 1.5
    wrong = lambda **values: _with(run, **values)
    assert run_lemmas.proposition_b1(wrong(variance=shrunk)).verdict == "fails"
    assert run_lemmas.proposition_b1(wrong(variance=grown)).verdict == "fails"
    assert run_lemmas.effective_dimension(wrong(effective=1.001 * run.effective)).verdict == "fails"
    assert run_lemmas.log_determinant(wrong(log_det=run.log_det + 1e-3)).verdict == "fails"
    starved = run.variance.clone()
    starved[:, 1:] *= 1e-3
    assert run_lemmas.least_variance(wrong(variance=starved)).verdict == "fails"


def test_false_exact_quantities_are_flagged():
    run = instance("rbf")
    wrong = lambda **values: _with(run, **values)
    assert run_lemmas.proposition_b3(wrong(effective=run.log_det * 1.1)).verdict == "fails"
    # The sum uses the variance that chose the arm, not the variance after its reward.
    assert run_lemmas.proposition_b3(wrong(settled=run.played)).verdict == "fails"
    assert run_lemmas.sum_of_variances(run, printed=True).verdict == "fails"
    assert (
        run_lemmas.sum_of_variances(wrong(played=2 * run.played, log_det=run.log_det)).verdict
        == "fails"
    )


def _with(run, **values):
    """Return the run with some derived quantities replaced."""
    other = replace(run)
    other.__dict__.update(values)
    return other


def test_information_lacks_a_factor_2_in_the_paper():
    arms = torch.ones(1, 1, 1, dtype=torch.float64)
    run = Replay(Linear(), arms, 10.0, torch.zeros(1, 3, dtype=torch.int64))
    gains = run_lemmas.upper(Linear(), arms, 10.0, [1, 2, 3])
    check = run_lemmas.information(run, gains)
    assert check.verdict == "holds" and check.observed[0, 0] == pytest.approx(1 / 11)
    # The bound printed in the paper, gamma_t, is violated.
    assert (check.observed[0] > check.bound / 2).all()
    halved = {T: gain / 2 for T, gain in gains.items()}
    assert run_lemmas.information(run, halved).verdict == "fails"


def test_proposition_c4():
    assert run_lemmas.proposition_c4([0.5, 1, 3, 5, 20]).verdict == "holds"
    assert run_lemmas.proposition_c4([3, 5], printed=True).verdict == "fails"


def test_proposition_d4():
    run = instance("rbf", trials=80, rounds=30)
    noise = 0.2 * torch.from_numpy(np.random.default_rng(2).normal(size=(80, 30)))
    c = confidence("online", noise=0.2)
    check = run_lemmas.proposition_d4(run, noise, c)
    printed = 2 * 0.2**2 * (run.dense_log_det - math.log(c.delta)).numpy()
    assert check.verdict == "holds" and (printed >= check.bound).all()
    np.testing.assert_allclose(check.bound, 0.04 * (run.dense_log_det - 2 * math.log(c.delta)))
    assert run_lemmas.proposition_d4(run, 4 * noise, c).verdict == "fails"


# One dictionary: Section 3, Appendices C and D ----------------------------------------------------------


@pytest.mark.parametrize("name", KERNELS)
def test_accurate_dictionaries(name):
    accurate = 0
    for seed in range(12):
        shot = dictionary(name, seed)
        if shot.accuracy < 1:
            accurate += 1
            for statement in SNAPS + ACCURATE:
                assert statement(shot).verdict == "holds", statement(shot)
    assert accurate >= 6


def test_accuracy_of_a_full_dictionary_is_zero():
    shot = dictionary("matern", qbar=1e6)
    assert shot.accuracy == pytest.approx(0, abs=1e-9)
    assert torch.allclose(shot.sketched_s2, shot.exact_s2, rtol=1e-6)
    assert sketch_lemmas.lemma_c1(shot).ratio == pytest.approx(1, abs=1e-6)


def test_variances_that_a_learner_got_wrong_are_flagged():
    shot = dictionary("matern", 3)
    assert shot.accuracy < 1
    for factor in (0.01, 100.0):
        wrong = replace(shot, s2=factor * shot.sketched_s2)
        assert (
            sketch_lemmas.sketched_posterior(wrong).verdict
            == sketch_lemmas.sketched_variance(wrong).verdict
            == sketch_lemmas.lemma_c1_variance(wrong).verdict
            == "fails"
        )
    assert (
        sketch_lemmas.sketched_variance(replace(shot, s2=0.999 * shot.regressors_s2)).verdict
        == "fails"
    )
    assert (
        sketch_lemmas.determinant(
            replace(shot, log_det=1.01 * float(torch.linalg.slogdet(shot.exact).logabsdet))
        ).verdict
        == "fails"
    )


def test_dictionary_that_differs_from_the_sampled_one_is_flagged():
    shot = dictionary("matern", 3)
    few = torch.zeros_like(shot.mask)
    few[shot.mask.nonzero()[0]] = True
    wrong = replace(shot, mask=few)  # the accuracy still belongs to the sampled dictionary
    assert shot.accuracy < 1 and all(statement(wrong).verdict == "fails" for statement in ACCURATE)


def test_variance_is_no_bound_from_either_side():
    """Two arms with k = 0.5, both pulled, one in the dictionary: s2~ is 4/9 and 31/36, and the exact s2 is 7/15."""
    arms = torch.tensor([[1.0, 0.0], [0.5, math.sqrt(0.75)]], dtype=torch.float64)
    shot = Snapshot(
        Linear(), arms, torch.ones(2, dtype=torch.float64), torch.tensor([True, False]), 1.0
    )
    assert shot.sketched_s2.tolist() == pytest.approx([0.4444444444, 0.8611111111], abs=1e-9)
    assert shot.exact_s2.tolist() == pytest.approx([0.4666666667, 0.4666666667], abs=1e-9)
    assert sketch_lemmas.sketched_variance(shot).verdict == "holds"


def test_empty_dictionary():
    shot = dictionary("rbf")
    empty = replace(shot, mask=torch.zeros_like(shot.mask))
    assert torch.allclose(empty.sketched_s2, empty.diagonal / empty.ridge) and all(
        s(empty).verdict == "holds" for s in SNAPS
    )


def test_dictionary_accuracy():
    accuracies = np.array([[dictionary("matern", seed, qbar=200.0).accuracy] for seed in range(60)])
    assert sketch_lemmas.dictionary_accuracy(accuracies, 0.5, 0.1).verdict == "holds"
    assert sketch_lemmas.dictionary_accuracy(accuracies + 1.0, 0.5, 0.1).verdict == "fails"


@pytest.mark.parametrize("kind", [BKB, LazyBKB])
def test_states_of_the_learners(kind):
    problem = REFERENCE
    learner = kind(problem.kernel, confidence(), qbar=3.0)
    streams = Streams(0, range(2))
    instance = problem.init(2, 60, streams.at(-1), dtype=torch.float64, device="cpu")
    state = learner.init(2, instance.arms, 60, streams.at(-1), dtype=torch.float64, device="cpu")
    for t in range(60):
        draw = streams.at(t)
        arm, state = learner.select(state, instance.arms, draw)
        state = learner.update(
            state, instance.arms, arm, problem.respond(instance, t, arm, "reward", draw)[0], draw
        )
    for trial in range(2):
        n, mask, s2 = (x[trial] for x in (state.n, state.mask, state.s2))
        # A LazyBKB stores no determinant.
        log_det = float(state.log_det[trial]) if kind is BKB else None
        shot = Snapshot(problem.kernel, instance.arms[0], n, mask, 0.01, s2, log_det)
        assert all(statement(shot).verdict == "holds" for statement in SNAPS)
        assert sketch_lemmas.sketched_posterior(replace(shot, s2=1.01 * shot.s2)).verdict == "fails"
        if kind is BKB:
            for factor in (0.5, 1.01):
                shot_of_a_wrong_one = replace(shot, log_det=factor * shot.log_det)
                assert sketch_lemmas.determinant(shot_of_a_wrong_one).verdict == "fails"


# Theorem 3.1 ----------------------------------------------------------------------------------------------


def test_multiplicity_is_binomial_and_agrees_with_the_mask():
    u = (np.arange(4000) + 0.5) / 4000
    found = binomial_quantile(u, np.full(4000, 12.0), np.full(4000, 0.3))
    assert ((found > 0) == (u < 1 - 0.7**12)).all() and found.mean() == pytest.approx(3.6, abs=2e-3)
    assert np.bincount(found.astype(int), minlength=13) / 4000 == pytest.approx(
        binom.pmf(range(13), 12, 0.3), abs=1e-3
    )
    assert (
        binomial_quantile(0.3, 5.0, 1.0) == 5
        and binomial_quantile(0.0, 0.0, 0.4) == 0
        and binomial_quantile(0.0, 10.0, 1e-18) == 1
    )


def test_size_counts_pulls():
    trace, run, learner = reference_run(qbar=3.0)
    pulls = np.arange(1, 121)
    assert (
        (trace["dictionary"] <= trace["size"]).all()
        and (trace["size"] <= pulls).all()
        and (trace["dictionary"] <= trace["unique"]).all()
    )
    assert (trace["expected size"] <= pulls + 1e-9).all()
    assert trace["size"][:, 60:].mean() == pytest.approx(
        trace["expected size"][:, 60:].mean(), rel=0.05
    )
    assert (trace["unique"] - trace["dictionary"] == trace["left out"]).all()
    everything, _, _ = reference_run(kind=KeepsAll, qbar=1e9, horizon=40, trials=3)
    assert (everything["size"] == np.arange(1, 41)).all() and (
        everything["ratio"] <= 1 + 1e-6
    ).all()


def test_size_of_a_dictionary():
    trace, run, learner = reference_run(qbar=20.0)
    expected, tight = (
        s(trace, run.effective, learner.confidence, 20.0)
        for s in (bounds.theorem_3_1_expected, bounds.theorem_3_1_tight)
    )
    printed = bounds.theorem_3_1_size(trace, run.effective, learner.confidence, 20.0, run.kappa2)
    for check in (expected, tight, printed):
        assert check.by_trial.all() and "below the theory's" in check.remark
    assert (
        (printed.bound > tight.bound).all()
        and printed.informative_from is None
        and printed.trivial == 120
    )
    # A dictionary of all pulls violates the bound for qbar = 5 in every trial.
    everything, replay, _ = reference_run(kind=KeepsAll, qbar=1e9, horizon=120, trials=3)
    assert (
        bounds.theorem_3_1_tight(everything, replay.effective * 0.02, confidence(), 5.0).verdict
        == "inconclusive"
    )
    assert not bounds.theorem_3_1_tight(
        everything, replay.effective * 0.02, confidence(), 5.0
    ).by_trial.any()


def test_ratio_of_variances():
    one = torch.ones(1, 64, dtype=torch.float64)
    good, _, learner = reference_run(qbar=20.0)
    assert bounds.theorem_3_1_accuracy(good, learner.confidence, 20.0, one).by_trial.all()
    assert (
        bounds.theorem_3_1_accuracy(good, learner.confidence, 20.0, one).inputs["exact up to"] == 19
    )
    starved, _, learner = reference_run(kind=Starved, qbar=20.0, horizon=60)
    check = bounds.theorem_3_1_accuracy(starved, learner.confidence, 20.0, one)
    assert check.verdict == "fails" and not check.by_trial.any()
    full, _, learner = reference_run(qbar=1000.0, horizon=60, trials=60)
    check = bounds.theorem_3_1_accuracy(full, learner.confidence, 1000.0, one)
    # Every pull is kept, so that there is no sketching error to check.
    assert check.verdict == "vacuous here" and check.remark == ""
    assert check.inputs["rounds with pulls left out"] == 0


def test_every_pull_is_kept_at_first():
    one = torch.ones(1, 64, dtype=torch.float64)
    trace, _, _ = reference_run(qbar=20.0)
    assert (
        run_lemmas.exact_at_first(trace["left out"], trace.rounds, one, 20.0, 0.01).verdict
        == "holds"
    )
    assert (
        run_lemmas.exact_at_first(trace["left out"], trace.rounds, one, 200.0, 0.01).verdict
        == "fails"
    )
    with pytest.raises(ValueError, match="observed must contain at least one number"):
        run_lemmas.exact_at_first(trace["left out"], trace.rounds, one, 0.5, 0.01)


class ScaledArms(FixedArms):
    """Uniform points with a scale from 0.05 to 1 as third coordinate."""

    noise = 0.0

    def __init__(self, arms):
        self.arms = arms

    def init(self, trials, horizon, draw, **tkwargs):
        points = Streams(3, [0]).at(-1).uniform("problem arms", self.arms, 3).clone()
        points[..., 2] = 0.05 + 0.95 * points[..., 2]
        zero = torch.zeros(1, self.arms, **tkwargs)
        return ArmsInstance(points, zero, zero.amax(1), None, None)


def scaled(gamma):
    """Return the kernel s(x) s(y) exp(-gamma r^2)."""
    return FunctionKernel(
        lambda X, Y: X[..., 2:] * Y[..., 2:].mT * RBF(gamma)(X[..., :2], Y[..., :2])
    )


@pytest.mark.parametrize(
    "arms, gamma, T, least",
    [(60, 3.0, 150, 40), pytest.param(300, 30.0, 600, 100, marks=pytest.mark.slow)],
)
def test_theory_at_work_where_arms_are_left_out(arms, gamma, T, least):
    """With arms of unequal norm the theory's q-bar does leave pulled arms out, and the variances stay accurate."""
    kernel, c = scaled(gamma), confidence(noise=1.0)
    qbar = theory.qbar_theory(T, c.delta, c.eps)
    problem = ScaledArms(arms)
    instance = problem.init(1, T, Streams(0, [0]).at(-1), dtype=torch.float64)
    learner = BKB(kernel, c, qbar=qbar)
    streams = Streams(0, [0])
    state, out, worst = (
        learner.init(1, instance.arms, T, streams.at(-1), dtype=torch.float64, device="cpu"),
        [],
        [],
    )
    for t in range(T):
        draw = streams.at(t)
        arm = (draw.uniform("arm") * arms).long()
        state = learner.update(state, instance.arms, arm, torch.zeros(1, dtype=torch.float64), draw)
        out.append(int(((state.n > 0) & ~state.mask).sum()))
        if t % 10 == 9:
            ratio = state.s2 / exact_variance(kernel, instance.arms, state.n, c.lam)
            worst.append(float(torch.maximum(ratio, 1 / ratio).max()))
    assert (
        sum(x > 0 for x in out) >= least
        and theory.exact_horizon(qbar, kernel.diag(instance.arms), c.lam) < 100
    )
    assert max(worst) < 1.001 < c.alpha


# Theorems D.1 and 4.1 -------------------------------------------------------------------------------------


def test_confidence_intervals_cover():
    trace, _, learner = reference_run("online", horizon=80, trials=60)
    check = bounds.theorem_d1(trace, learner.confidence, qbar=1000.0)
    assert (
        check.by_trial.all()
        and check.verdict == "holds"
        and check.delta == pytest.approx(0.2)
        and check.remark == ""
    )
    assert "below the theory's" in bounds.theorem_d1(trace, learner.confidence, qbar=10.0).remark
    wrong, _, learner = reference_run("online", horizon=80, trials=20, kind=Overconfident)
    assert bounds.theorem_d1(wrong, learner.confidence).verdict == "fails"


def test_exact_posterior_is_covered_with_its_own_radius():
    learner = ExactGPUCB(REFERENCE.kernel, confidence())
    trace = record(learner, REFERENCE, 80, 60, sketched=False)
    check = bounds.theorem_d1(trace, learner.confidence, sketched=False)
    assert check.verdict == "holds" and check.delta == 0.1 and check.remark == ""
    assert "not proved" in bounds.theorem_d1(trace, learner.confidence).remark


def test_certificate_and_corrected_theorem():
    trace, run, learner = reference_run("online", horizon=300, trials=20)
    c = learner.confidence
    own_bound, corrected = (
        bounds.certificate(trace, c, run.kappa2),
        bounds.theorem_4_1(trace, run.log_det, c, run.kappa2),
    )
    for check in (own_bound, corrected):
        assert check.by_trial.all() and check.trivial == 1800 and check.remark == ""
    assert (
        own_bound.bound[:, -1] < 1800
    ).all() and own_bound.informative_from < 120  # about 537 +- 19
    assert own_bound.bound[:, -1].mean() == pytest.approx(537, rel=0.1)
    assert (own_bound.bound <= corrected.bound).all() and corrected.informative_from is None
    assert (
        trace["radius"]
        <= theory.radius_worst(c, 1.0, 300, run_lemmas.upper(*reference_arms(), 0.01, [300])[300])
    ).all()
    lost = replace(trace, series={**trace.series, "regret": trace["certificate"] * 1.01})
    assert bounds.certificate(lost, c, run.kappa2).verdict == "fails"
    assert (
        bounds.theorem_4_1(
            replace(trace, series={**trace.series, "regret": 1e3 * trace["regret"]}),
            run.log_det,
            c,
            run.kappa2,
        ).verdict
        == "fails"
    )


def test_certificate_of_a_learner_without_variance_fails():
    trace, run, learner = reference_run("online", horizon=80, trials=20, kind=Overconfident)
    assert bounds.certificate(trace, learner.confidence, run.kappa2).verdict == "fails"


def test_printed_theorem_is_reported_where_it_does_not_apply():
    trace, run, learner = reference_run("online", horizon=300, trials=20)
    check = bounds.theorem_4_1_printed(trace, run.effective, learner.confidence, run.kappa2)
    assert (
        isinstance(check, Reported)
        and check.verdict == "reported"
        and "not applicable" in check.remark
    )
    assert check.to_json()["verdict"] == "reported" and "reported" in str(check)
    large = confidence(ridge=1.0)
    judged = bounds.theorem_4_1_printed(trace, run.effective, large, 1.0)
    assert (
        not isinstance(judged, Reported)
        and judged.verdict == "vacuous here"
        and judged.remark == ""
    )
    lost = replace(trace, series={**trace.series, "regret": 1e6 * (1 + trace["regret"])})
    assert bounds.theorem_4_1_printed(lost, run.effective, large, 1.0).verdict == "fails"
    assert (
        bounds.theorem_4_1_printed(lost, run.effective, learner.confidence, 1.0).verdict
        == "reported"
    )


def test_first_below():
    assert (
        bounds.first_informative_round(
            np.array([10, 20, 30]), np.array([[5.0, 30, 20], [5, 10, 20]]), np.array([10, 20, 30])
        )
        == 30
    )
    assert (
        bounds.first_informative_round(np.array([10, 20]), np.array([[5.0, 6]]), np.array([10, 20]))
        == 10
    )
    assert (
        bounds.first_informative_round(
            np.array([10, 20]), np.array([[5.0, 60]]), np.array([10, 20])
        )
        is None
    )


# LazyBKB --------------------------------------------------------------------------------------------------


def test_fixed_dictionary():
    learner = LazyBKB(REFERENCE.kernel, confidence(), threshold=4.0)
    trace = play(learner, REFERENCE, 100, 4, record="all", probes={"shrinkage": shrinkage})
    check = run_lemmas.fixed_dictionary(trace["shrinkage"])
    assert check.verdict == "holds" and check.bound[..., 1].max() > 1.5
    assert (
        run_lemmas.fixed_dictionary(trace["shrinkage"] * np.array([0.9, 1, 1])).verdict == "fails"
    )
    assert (
        run_lemmas.fixed_dictionary(trace["shrinkage"] * np.array([1, 1.2, 1])).verdict == "fails"
    )


def test_fixed_dictionary_of_the_exact_posterior_is_attained():
    run = Replay(
        Linear(),
        torch.ones(1, 1, 1, dtype=torch.float64),
        1.0,
        torch.zeros(1, 1, dtype=torch.int64),
    )
    ratio = float(run.variance[0, 0, 0] / run.variance[0, 1, 0])
    assert ratio == pytest.approx(2) and run_lemmas.fixed_dictionary(
        [[[1.0, ratio, 1 + 1.0]]]
    ).ratio == pytest.approx(1)


# Assumptions, probes, registry ----------------------------------------------------------------------------


def test_assumptions():
    problem = REFERENCE
    instance = problem.init(4, 10, Streams(0, range(4)).at(-1), dtype=torch.float64, device="cpu")
    assert bounds.assumption_kernel(problem.kernel, instance.arms, 1.0).verdict == "holds"
    assert bounds.assumption_kernel(problem.kernel, instance.arms, 0.9).verdict == "fails"
    assert (
        bounds.assumption_kernel(
            FunctionKernel(lambda X, Y: -RBF(1.0)(X, Y)), instance.arms, 1.0
        ).verdict
        == "fails"
    )
    assert (
        bounds.assumption_norm(problem.kernel, instance.centers, instance.coefficients, 3.0).verdict
        == "holds"
    )
    assert (
        bounds.assumption_norm(problem.kernel, instance.centers, instance.coefficients, 2.9).verdict
        == "fails"
    )
    noise = np.random.default_rng(0).normal(size=20000)
    assert (
        bounds.assumption_noise(0.1 * noise, 0.1).verdict == "holds"
        and bounds.assumption_noise(0.2 * noise, 0.1).verdict == "fails"
    )


def test_moments_of_coin_flips():
    """For eta = +-xi in equal parts, e^{s eta} has the mean cosh(s xi) and the standard deviation |sinh(s xi)|."""
    check = bounds.assumption_noise(np.tile([0.1, -0.1], 32), 0.1)
    s = np.array([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0])  # times xi
    four_errors = 4 * np.abs(np.sinh(s)) / 8
    np.testing.assert_allclose(check.observed, np.cosh(s) - four_errors)
    np.testing.assert_allclose(check.bound, np.exp(s**2 / 2))


def test_probes_work_with_a_scripted_learner():
    c = confidence()
    learner = Scripted(BKB(REFERENCE.kernel, c, qbar=5.0), UniformArm(), 10)
    trace = record(learner, REFERENCE, 20, 2)
    assert (
        set(trace.series) >= {"arm", "radius", "certificate", "error", "size", "ratio"}
        and np.isfinite(trace["error"]).all()
    )
    assert trace["certificate"][:, 0].tolist() == [6.0, 6.0]
    assert innermost_state(
        learner.init(
            1,
            torch.zeros(1, 3, 1, dtype=torch.float64),
            5,
            Streams(0, [0]).at(-1),
            dtype=torch.float64,
            device="cpu",
        )
    ).n.shape == (1, 3)


def test_probes_enter_a_configuration():
    pairs = sketch_probes(RBF(100.0), confidence(), 5.0)
    assert describe(Probe(*pairs["ratio"]))["of"]["args"][0]["gamma"] == 100.0
    assert describe(Probe(*pairs["error"])) != describe(
        Probe(*probes(confidence("online"))["error"])
    )
    assert "certificate" in pairs and "size" not in probes(confidence())


def test_every_statement_is_registered():
    found = {s.name: s for s in statements("bkb")}
    expected = [f"Section 2, {x}" for x in ("kernel", "noise", "posterior")]
    expected += ["Section 4, norm", "Section 3.2, effective dimension", "Log-determinant"]
    expected += [f"Section 3, {x}" for x in ("posterior", "sketched variance")]
    expected += [
        f"Section 3.2, {x}"
        for x in ("information gain", "least variance", "exact at first", "fixed dictionary")
    ]
    expected += [f"Theorem 3.1, {x}" for x in ("accuracy", "size", "tight size", "expected size")]
    expected += [
        "Figure 1, choice",
        "Figure 1, dictionary",
        "Theorem 4.1, radius",
        "Theorem D.1",
        "Theorem 4.1",
        "Theorem 4.1, corrected",
        "Theorem 4.1, certificate",
        "Lemma C.1, variance",
        "Lemma C.1",
        "Appendix C.3, accuracy",
        "Appendix D.1, determinant",
        "Appendix D.2, sum of variances",
    ] + [f"Proposition {x}" for x in ("B.1", "B.3", "C.4", "D.3", "D.4")]
    assert sorted(found) == sorted(expected)
    assert all(isinstance(s, Statement) and s.summary and s.source for s in found.values())
    run = instance("rbf")
    for statement in ALONG:
        check = statement(run)
        assert (
            isinstance(check, Check)
            and check.statement == statement.statement.name
            and check.formula
            and check.inputs["lambda"] == 0.1
        )
