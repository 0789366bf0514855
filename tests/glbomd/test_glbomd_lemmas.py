"""Lemmas, tested on runs of the correct learner and of broken learners, and the tools of the analysis."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from glbomd_replays import (
    DETERMINISTIC,
    NoProjection,
    Share,
    WrongNorm,
    WrongSign,
    replay_of,
    trace_of,
)
from scipy.integrate import quad

from companion.glbomd.proofs import lemmas
from companion.glbomd.proofs.lemmas import (
    Replay,
    expected_divergence,
    log_martingale,
    mix_loss,
    mixed,
    slope_integrals,
)
from paperlib.glbomd.learners.glbomd import GLBOMD
from paperlib.glbomd.model.links import Bernoulli, Binomial, Gaussian, Poisson, link_loss
from paperlib.glbomd.model.setting import Setting, setting_of
from paperlib.glbomd.probes import PROBES
from paperlib.glbomd.problems import FixedArms, SphereArms
from paperlib.play import play


def under(run, **changes):
    """Return the same run with another setting, for example with a larger ``norm_bound``."""
    return replace(run, setting=replace(run.setting, **changes))


# On a run --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "link, S, ridge",
    [
        (Bernoulli(), 3.0, "theory"),
        (Bernoulli(), 3.0, "free"),
        (Bernoulli(), 3.0, "sharp"),
        (Poisson(), 3.0, "theory"),
        (Gaussian(0.25), 2.0, "theory"),
        (Gaussian(4.0), 2.0, "theory"),
        (Share(), 3.0, "theory"),
        (Share(), 3.0, "sharp"),
    ],
    ids=str,
)
def test_every_lemma_holds_under_its_condition(link, S, ridge):
    run = replay_of(link, S, ridge)
    for lemma in DETERMINISTIC:
        check = lemma(run)
        assert check.verdict == "holds", check
    assert lemmas.lemma_6(run, tight=True).verdict == "holds"
    assert lemmas.lemma_11(run, sharp=True).verdict == "holds"
    assert lemmas.lemma_5(run).by_trial.all()


def test_constants_of_lemmas_4b_5_and_11():
    """With logistic rewards and S = 3: R = 1, g = 1 and C_mu = 1/4."""
    run = replay_of(Bernoulli(), 3.0, "theory")
    assert (lemmas.lemma_5(run).bound == math.log(1 / run.setting.delta)).all()
    least = lemmas.lemma_4b(run).inputs["least ridge"]
    assert least == pytest.approx(6 * run.setting.step * 3 / 4)
    t = np.arange(1, run.error.shape[1])
    growth = np.log1p(t / 4 / (5 * run.setting.ridge))  # g lambda = lambda, Z^2 = 1/4 and d = 5
    np.testing.assert_allclose(lemmas.lemma_11(run, sharp=True).bound[0], 5 * 1.25 * growth)
    np.testing.assert_allclose(lemmas.lemma_11(run).bound[0], 2 * 5 * 1.25 * growth)


def test_worst_ratios_on_the_papers_instance():
    logistic, dim = (
        replay_of(Bernoulli(), 3.0, "theory", 1000, 2),
        replay_of(Bernoulli(), 3.0, "dim", 1000, 2),
    )
    poisson = replay_of(Poisson(), 3.0, "dim")
    assert lemmas.lemma_4(logistic).ratio == pytest.approx(0.9994, abs=1e-3)
    assert lemmas.lemma_4b(logistic).ratio == pytest.approx(0.9994, abs=1e-3)
    assert lemmas.lemma_4(dim).ratio == pytest.approx(0.963, abs=0.01)
    assert lemmas.lemma_4(poisson).ratio == pytest.approx(0.280, abs=0.01)
    assert lemmas.lemma_7(logistic).ratio == pytest.approx(0.149, abs=2e-3)
    assert lemmas.lemma_7(dim).ratio == pytest.approx(0.241, abs=3e-3)
    assert lemmas.lemma_6(logistic).slack.min() == pytest.approx(41.6, abs=0.3)
    assert lemmas.lemma_6(dim).slack.min() == pytest.approx(44.4, abs=0.3)
    potential = lemmas.lemma_11(dim)
    assert potential.bound[0, -1] == pytest.approx(29.974, abs=1e-3) and potential.observed[
        :, -1
    ] == pytest.approx(10.1, abs=0.8)
    assert lemmas.lemma_11(logistic).bound[0, -1] == pytest.approx(2.054, abs=1e-3)


def test_matrices_are_rebuilt_from_estimates_alone():
    learner, problem = GLBOMD(Bernoulli(), 3.0, ridge="dim"), SphereArms(Bernoulli(), 3.0)
    trace = trace_of(learner, problem, 300, 4)
    run = Replay.of(trace, setting_of(learner, 5))
    assert np.allclose(run.precision[:, -1], trace["precision"], rtol=1e-12)
    ratio = (
        run.error[:, :-1].sqrt() / torch.from_numpy(run.setting.radius(run.rounds.numpy()))
    ).numpy()
    assert np.allclose(np.maximum.accumulate(ratio, 1), trace["ratio"], rtol=1e-9)
    regret = (run.setting.link.mean(run.best) - run.setting.link.mean(run.true_z)).cumsum(1)
    assert np.allclose(regret, trace["regret"], rtol=1e-9)


@pytest.mark.parametrize("S, ridge", [(3.0, "theory"), (3.0, "sharp"), (3.0, 0.7), (0.5, 0.7)])
def test_dispersion_enters_the_formulas_correctly(S, ridge):
    """Compare fractions of four tries, with g = 1/4, with counts of four tries, with g = 1.

    They are the same rewards in other units, so every lemma must have the same result.
    """
    share, count = (replay_of(link, S, ridge) for link in (Share(), Binomial(4)))
    assert share.setting.ridge == pytest.approx(count.setting.ridge)
    assert torch.allclose(share.theta, count.theta, rtol=1e-9)
    assert torch.allclose(share.precision, count.precision, rtol=1e-9)
    same = set(DETERMINISTIC) - {
        lemmas.lemma_11,
        lemmas.curvature_along,
    }  # these two have the unit of the reward
    for lemma in same | {lemmas.lemma_5}:
        ours, theirs = lemma(share), lemma(count)
        assert np.allclose(ours.bound, theirs.bound, rtol=1e-7, atol=1e-9), lemma.statement.name
        assert np.allclose(ours.observed, theirs.observed, rtol=1e-6, atol=1e-9), ours.statement
        assert ours.remark == theirs.remark
    forgotten = lemmas.lemma_4(under(share, link=Bernoulli()))  # an omitted g is detected
    assert not np.allclose(forgotten.bound, lemmas.lemma_4(count).bound, rtol=1e-2)


def test_replay_of_trials_with_different_arms():
    learner, problem = (
        GLBOMD(Bernoulli(), 3.0),
        FixedArms(Bernoulli(), 3.0, dim=3, arms=4, per_trial=True),
    )
    run = Replay.of(trace_of(learner, problem, 40, 3), setting_of(learner, 3))
    assert run.best.shape == (3, 40)
    assert all(lemma(run).verdict == "holds" for lemma in DETERMINISTIC)


def test_replay_rejects_incomplete_traces():
    learner, problem = GLBOMD(Bernoulli(), 3.0), SphereArms(Bernoulli(), 3.0)
    setting = setting_of(learner, 5)
    with pytest.raises(ValueError, match="record='all'"):
        Replay.of(play(learner, problem, 20, 2, record=5, probes=PROBES), setting)
    with pytest.raises(ValueError, match="theta"):
        Replay.of(play(learner, problem, 20, 2, record="all"), setting)


def test_gaussian_mix_loss_and_divergence_in_closed_form():
    run = replay_of(Gaussian(0.25), 2.0, "theory", 60, 2)
    g, variance = 0.25, run.setting.spread * run.width2
    # With l = (z^2 / 2 - r z) / g and z ~ N(a, v), completing the square gives -ln E e^{-l}.
    a, r = run.start_z, run.reward
    exact = (
        0.5 * torch.log1p(variance / g)
        + a**2 / (2 * variance)
        - (a / variance + r / g) ** 2 / (2 * (1 / variance + 1 / g))
    )
    assert torch.allclose(mix_loss(run), exact, rtol=1e-9, atol=1e-9)
    assert torch.allclose(expected_divergence(run), variance / (2 * g), rtol=1e-10)
    # To first order the left side is a quarter of Lemma 7's right side with M_s in place of H_s.
    assert lemmas.lemma_7(run).ratio < 0.25


@pytest.mark.parametrize(
    "link, S", [(Poisson(), 3.0), (Poisson(), 7.0), (Bernoulli(), 3.0)], ids=str
)
def test_mix_loss_against_adaptive_quadrature(link, S):
    run = replay_of(link, S, "dim")
    found, sd = mix_loss(run), (run.setting.spread * run.width2).sqrt()
    m = (
        (lambda z: math.exp(z))
        if isinstance(link, Poisson)
        else (lambda z: math.log1p(math.exp(z)))
    )
    for i, t in ((0, 0), (0, 1), (1, 2), (1, 5), (2, 299)):
        a, s, r = float(run.start_z[i, t]), float(sd[i, t]), float(run.reward[i, t])
        grid = np.linspace(a - 9 * s, a + 9 * s, 2001)
        exponent = lambda z: -(m(z) - r * z) - (z - a) ** 2 / (2 * s * s)
        values = [exponent(z) for z in grid]
        top, peak = max(values), grid[int(np.argmax(values))]
        near = [peak + k * s / 50 for k in range(-50, 51, 5)]
        value = quad(
            lambda z: math.exp(exponent(z) - top), grid[0], grid[-1], points=near, limit=500
        )[0] / (s * math.sqrt(2 * math.pi))
        assert float(found[i, t]) == pytest.approx(-math.log(value) - top, rel=1e-8, abs=1e-8)


def test_lemma_5_is_a_martingale_with_mean_1():
    """Check the mean at fixed small t over many trials; at larger t the tail is too heavy for such a test."""
    learner = GLBOMD(Bernoulli(), 3.0, ridge="sharp")
    run = Replay.of(
        play(learner, SphereArms(Bernoulli(), 3.0), 3, 20000, record="all", probes=PROBES),
        setting_of(learner, 5),
    )
    value = log_martingale(run).exp()
    error = value.std(0) / len(value) ** 0.5
    assert ((value.mean(0) - 1).abs() < 4 * error).all() and (error < 0.02).all()
    unfair = replace(run, reward=1 - run.reward)
    assert ((log_martingale(unfair).exp().mean(0) - 1).abs() > 4 * error)[1:].any()


def test_mix_loss_of_the_zero_arm_is_the_loss():
    zero, one = torch.zeros(1, 1, dtype=torch.float64), torch.ones(1, 1, dtype=torch.float64)
    for link in (Bernoulli(), Poisson(), Gaussian(0.5)):
        assert mixed(link, one, zero, zero).item() == pytest.approx(
            link_loss(link, zero, one).item()
        )
        assert mixed(link, one, zero, 1e-9 * one).item() == pytest.approx(
            link_loss(link, zero, one).item()
        )


# Broken input ----------------------------------------------------------------------------------------------


def test_wrong_sign_is_flagged():
    run = replay_of(Bernoulli(), 3.0, "sharp", 300, 4, WrongSign)
    for lemma in (lemmas.proposition_1, lemmas.lemma_1, lemmas.lemma_4, lemmas.lemma_4b):
        check = lemma(run)
        assert check.verdict == "fails", check


def test_optimism_flags_a_radius_that_is_too_small():
    run = replay_of(Bernoulli(), 3.0, "theory")
    # In the first round H = lambda I, and the bonus is counted twice.
    lengths = torch.linalg.vector_norm(run.arm[:, 0], dim=-1) / math.sqrt(run.setting.ridge)
    bonus = float(run.setting.radius(np.ones(1))[0]) * lengths
    np.testing.assert_allclose(lemmas.optimism(run).bound[:, 0, 1], 2 * bonus)
    assert lemmas.optimism(replay_of(Bernoulli(), 3.0, "sharp"), scale=0.02).verdict == "fails"


def test_missing_projection_is_flagged():
    run = replay_of(Bernoulli(), 3.0, 5.0, 300, 4, NoProjection)
    assert lemmas.proposition_1(run).verdict == "fails"
    assert lemmas.lemma_1(run).verdict == "holds"  # the three-point inequality needs no ball


def test_projection_in_a_wrong_norm_is_flagged():
    run = replay_of(Bernoulli(), 3.0, 5.0, 300, 4, WrongNorm)
    assert lemmas.lemma_1(run).verdict == "fails" and lemmas.proposition_1(run).verdict == "fails"
    # The correct learner also projects in this run, and passes.
    assert replay_of(Bernoulli(), 3.0, 5.0).theta.norm(dim=-1).max() > 3 - 1e-9
    assert lemmas.lemma_1(replay_of(Bernoulli(), 3.0, 5.0)).verdict == "holds"


def test_lemma_1_holds_for_any_comparator_in_the_ball():
    run = replay_of(Bernoulli(), 3.0, 5.0)
    for u in (torch.zeros(run.arm.shape[-1], dtype=torch.float64), run.theta[:, :-1]):
        check = lemmas.lemma_1(run, comparator=u)
        assert check.verdict == "holds" and check.observed.shape == (*run.arm.shape[:2], 1)
    one, other = (lemmas.lemma_1(run, seed=seed).observed for seed in (0, 1))
    assert (one[..., 0] == other[..., 0]).all() and (one[..., 1] != other[..., 1]).any()


def test_small_ridge_breaks_lemma_4b():
    three, seven = replay_of(Poisson(), 3.0, 5.0), replay_of(Poisson(), 7.0, 5.0)
    check = lemmas.lemma_4b(three)
    assert check.verdict == "fails" and check.ratio > 1 and "below the condition" in str(check)
    check = lemmas.lemma_4b(seven)
    assert check.verdict == "fails" and (check.bound < 0).any() and check.ratio == math.inf
    # Lemma 4, in contrast, holds for any ridge.
    assert lemmas.lemma_4(three).verdict == lemmas.lemma_4(seven).verdict == "holds"


def test_small_ridge_breaks_lemma_7():
    run = replay_of(Poisson(), 7.0, "dim")
    for lemma in (lemmas.lemma_7, lemmas.lemma_7_free, lemmas.lemma_7_sharp):
        check = lemma(run)
        assert check.verdict == "fails" and check.ratio == pytest.approx(16.4, abs=0.1)
        assert "below the condition" in check.remark


def test_lemma_5_flags_estimates_that_look_ahead():
    run = replay_of(Bernoulli(), 3.0, 0.5, 300, 4)
    ahead = torch.cat([run.theta[:, 1:], run.theta[:, -1:]], 1)
    sign = (2 * run.reward - 1).unsqueeze(-1) * run.arm
    peeking = replace(
        run, theta=torch.cat([3 * sign / sign.norm(dim=-1, keepdim=True), ahead[:, -1:]], 1)
    )
    assert lemmas.lemma_5(run).by_trial.all()
    assert not lemmas.lemma_5(peeking).by_trial.any()


def test_lemma_6_flags_a_norm_bound_that_is_too_small():
    rounds, z = 20, 15.0
    setting = Setting(Poisson(), 0.1, 1, 1.0)
    still = torch.full((1, rounds + 1, 1), z, dtype=torch.float64)
    run = Replay(
        setting,
        still,
        torch.ones(1, rounds, 1, dtype=torch.float64),
        torch.full((1, rounds), math.exp(z), dtype=torch.float64),
        still[:, 0],
        torch.full((1, rounds), z, dtype=torch.float64),
    )
    assert lemmas.lemma_6(run).verdict == "fails"
    assert lemmas.lemma_6(under(run, norm_bound=z)).verdict == "holds"


def test_lemma_11_flags_arms_outside_the_ball_and_rejects_a_small_ridge():
    run = replay_of(Bernoulli(), 3.0, "sharp")
    assert lemmas.lemma_11(replace(run, arm=20 * run.arm)).verdict == "fails"
    with pytest.raises(ValueError, match="ridge"):
        lemmas.lemma_11(under(run, ridge=0.5))


def test_curvature_along_flags_a_wrong_oracle():
    run = replay_of(Bernoulli(), 3.0, "sharp")
    assert lemmas.curvature_along(replace(run, best=run.true_z - 3)).verdict == "fails"


def test_printed_forms():
    run = replay_of(Bernoulli(), 3.0, "dim")
    assert (lemmas.lemma_4(run, printed=True).bound < lemmas.lemma_4(run).bound).all()  # R S > 1
    assert np.allclose(lemmas.lemma_7(run, printed=True).bound, lemmas.lemma_7(run).bound / 2)


def test_a_check_states_the_form_that_it_computes():
    run = replay_of(Bernoulli(), 3.0, "dim")
    assert "(C_mu (2 + 2 R S) / g) S_D2" in lemmas.lemma_4(run, printed=True).formula
    assert "ln(1 + 2 C_mu t / (d lambda g))" in lemmas.lemma_6(run, tight=True).formula
    assert "alpha (ln det" in lemmas.lemma_7(run, printed=True).formula
    assert "mu'(z)/(2+RD)" in lemmas.lemma_8(Poisson(), 3.0, printed=True).formula


# Tools ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("link", [Bernoulli(), Poisson(), Gaussian()], ids=str)
def test_lemma_8(link):
    assert lemmas.lemma_8(link, 3.0).verdict == "holds"
    assert lemmas.lemma_8(link, 3.0, printed=True).verdict == (
        "holds" if isinstance(link, Gaussian) else "fails"
    )
    # From z_1 = -2 to z_2 = 2 with Poisson rewards: mu' = e^z, R = 1 and D = 4.
    pair = lemmas.lemma_8(Poisson(), 2.0, points=2, printed=True)
    lower = [math.exp(-2) / 5, math.exp(2) / 5, math.exp(-2) / 6]
    integrals = [(math.exp(2) - math.exp(-2)) / 4, (math.exp(2) - 5 * math.exp(-2)) / 16]
    expected = [*lower, integrals[1], math.exp(2) / 6]
    np.testing.assert_allclose(pair.observed[1], expected, rtol=1e-6)
    above = [integrals[0], *integrals, math.exp(16 - 2), integrals[1]]
    np.testing.assert_allclose(pair.bound[1], above, rtol=1e-6)
    plain, weighted = slope_integrals(Poisson(), torch.tensor(0.0), torch.tensor(4.0))
    assert float(plain) == pytest.approx((math.exp(4) - 1) / 4) and float(
        weighted
    ) == pytest.approx((math.exp(4) - 5) / 16)


def test_lemma_9():
    rng = np.random.default_rng(0)
    walk = np.cumsum(0.3 * rng.normal(size=(2000, 100)) - 0.045, 1)
    assert lemmas.lemma_9(torch.from_numpy(walk), 0.1).verdict == "holds"
    assert lemmas.lemma_9(torch.from_numpy(walk + 0.06 * np.arange(100)), 0.1).verdict == "fails"


def test_lemma_10_at_equality():
    for d, value in ((1, 1.333333333), (5, 1.257238921), (20, 1.247545539)):
        check = lemmas.lemma_10([32 * d * 4 * 1.0 / 7] * d, 4, 1.0)
        assert check.observed[0] == pytest.approx(value, abs=1e-9) and check.verdict == "holds"
    assert lemmas.lemma_10([32 * 4 / 7 * 0.99], 4, 1.0).verdict == "fails"
    assert lemmas.lemma_10([1.0], 4, 1.0).observed[0] == math.inf


@pytest.mark.parametrize(
    "link, reward", [(Bernoulli(), 1.0), (Poisson(), 3.0), (Gaussian(0.5), -0.4)], ids=str
)
def test_lemma_12(link, reward):
    assert lemmas.lemma_12(link, reward, (0.3, 0.5), (0.6, 0.4)).verdict == "holds"
    assert lemmas.lemma_12(link, reward, (0.3, 0.5), (0.3, 0.5)).verdict == "holds"


def test_lemma_13():
    rng = np.random.default_rng(1)
    A = torch.from_numpy(rng.normal(size=(6, 4, 4)))
    A = A @ A.mT + torch.eye(4, dtype=torch.float64)
    a, b = torch.from_numpy(rng.normal(size=(2, 6, 4)))
    assert lemmas.lemma_13(a, b, A, 1.5).verdict == "holds"
    assert lemmas.lemma_13(a, b, A, 1.5).observed.shape == (6,)
