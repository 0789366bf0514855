"""The learners compared with Algorithm 1 in plain NumPy, with the exact posterior, and with each other."""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pytest
import torch
from device_form import shortcuts
from scipy.stats import chi2
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk
from toy import Listed

from paperlib import linear
from paperlib.asktell import AskTell
from paperlib.bkb import (
    BKB,
    CBRAP,
    RFFUCB,
    SOFUL,
    Confidence,
    ExactGPUCB,
    FixedDictionary,
    LazyBKB,
    LinearGPUCB,
    NaiveGPUCB,
    UniqueGPUCB,
)
from paperlib.bkb.learners import posterior
from paperlib.bkb.learners.posterior import nystrom_posterior
from paperlib.bkb.learners.ucb import find_duplicates
from paperlib.bkb.problems import RKHS, ArmsInstance, FixedArms
from paperlib.core.rounds import Probe
from paperlib.core.streams import Streams
from paperlib.core.trees import state_bytes, tree_take
from paperlib.learners.wrapper import Scripted
from paperlib.maths.gp import RBF, FunctionKernel, Linear, Matern, exact_posterior
from paperlib.play import play

TKWARGS = {"dtype": torch.float64, "device": "cpu"}
XI = 0.2
CONF = Confidence(XI, 2.0)  # lambda = xi^2
ROUGH = Matern(0.5, 0.5)  # well conditioned, so that two ways of computing agree
RNG = np.random.default_rng(8)
LINE = torch.tensor(np.sort(RNG.random(40)))[None, :, None]
BALL = torch.tensor(RNG.normal(size=(1, 25, 4))) / 3


@dataclass(frozen=True)
class Given(FixedArms):
    """Given arms and their means f, the same in all trials."""

    points: tuple[tuple[float, ...], ...]
    f: tuple[float, ...]
    noise: float = 0.0

    def init(self, trials, horizon, draw, **tkwargs):
        means = torch.tensor([self.f], **tkwargs)
        return ArmsInstance(
            torch.tensor([self.points], **tkwargs), means, means.amax(1), None, None
        )


def f_of(arms, trials):
    """Return means, R x A, with a different f in each trial."""
    first, phase = arms[..., 0], torch.arange(trials, **TKWARGS).unsqueeze(1)
    return (
        torch.sin(7 * first + phase)
        + 0.5 * torch.cos(17 * first - phase)
        + 0.3 * arms[..., 1:].sum(-1)
    )


class Run(NamedTuple):
    """Run of a learner that is advanced without ``play``; ``states[t]`` is the state after t rounds."""

    states: list
    played: torch.Tensor  # R x T
    heard: torch.Tensor  # R x T
    draws: Streams


def run(learner, arms, rounds, trials=range(1), means=None, noise=XI, first=None, seed=0):
    """Run a learner. ``first``: the arm of the first round; by default the learner draws it."""
    draws, R = Streams(seed, trials), len(trials)
    means = f_of(arms, 100)[list(trials)] if means is None else means
    with torch.no_grad():
        states = [learner.init(R, arms, None, draws.at(-1), **TKWARGS)]
        played, heard = [], []
        for t in range(rounds):
            arm, chosen = learner.select(states[-1], arms, draws.at(t))
            arm = torch.full_like(arm, first) if t == 0 and first is not None else arm
            reward = means.gather(1, arm.unsqueeze(1)).squeeze(1) + noise * draws.at(t).normal(
                "noise"
            )
            states.append(learner.update(chosen, arms, arm, reward, draws.at(t)))
            played.append(arm), heard.append(reward)
    return Run(states, torch.stack(played, 1), torch.stack(heard, 1), draws)


def same(a, b, tolerance, fields=("n", "ysum", "mu", "s2")):
    for field in fields:
        torch.testing.assert_close(
            getattr(a, field),
            getattr(b, field),
            rtol=tolerance,
            atol=tolerance,
            msg=lambda text, field=field: f"{field}: {text}",
        )


# ---- Algorithm 1 -------------------------------------------------------------------------------------------


def algorithm_1(K, f, noise, first, uniforms, qbar, merge, variance, lam, xi, F, delta):
    """Run Algorithm 1 with dense formulas: yield arm, dictionary, mu, s2 of each round; ``uniforms``: T x A."""
    A, rounds = len(K), len(uniforms)
    n, ysum, S, arm, information = (
        np.zeros(A),
        np.zeros(A),
        np.array([first]),
        first,
        math.log1p(K[first, first] / lam),
    )
    s2 = None  # defined once the first posterior is computed
    for t in range(rounds):
        n[arm] += 1
        ysum[arm] += f[arm] + noise[t]
        if t > 0:  # (e), with the variance that chose the arm
            information += math.log1p(s2[arm])
            p = np.minimum(1, qbar * s2)
            kept = 1 - (1 - p) ** n if merge == "pulls" else np.minimum(1, qbar * n * s2)
            S = np.flatnonzero(uniforms[t] < kept)
        values, vectors = np.linalg.eigh(K[np.ix_(S, S)])
        Z = K[:, S] @ (vectors / np.sqrt(values)) @ vectors.T  # (K_SS^{1/2})^+ of the paper
        V = Z.T @ np.diag(n) @ Z + lam * np.eye(len(S))
        mu = Z @ np.linalg.solve(V, Z.T @ ysum)
        sor = np.einsum("im,mk,ik->i", Z, np.linalg.inv(V), Z)
        s2 = sor + (np.diag(K) - (Z**2).sum(1) if variance == "dtc" else 0) / lam
        yield arm, S, mu, s2
        arm = int(
            np.argmax(
                mu
                + (math.sqrt(lam) * F + xi * math.sqrt(information + 2 * math.log(1 / delta)))
                * np.sqrt(s2)
            )
        )


@pytest.mark.parametrize("merge", ["pulls", "arms"])
@pytest.mark.parametrize("variance", ["dtc", "sor"])
@pytest.mark.parametrize("qbar", [1.0, 3.0])
def test_bkb_is_algorithm_1(merge, variance, qbar):
    learner = BKB(ROUGH, CONF, qbar, merge, variance)
    ours = run(learner, LINE, 80, range(3))
    left_out = 0
    for trial in range(3):
        uniforms = np.array(
            [ours.draws.at(t).uniform("dictionary", 40)[trial].numpy() for t in range(80)]
        )
        noise = XI * np.array([ours.draws.at(t).normal("noise")[trial].item() for t in range(80)])
        K, f, first = (
            ROUGH(LINE, LINE)[0].numpy(),
            f_of(LINE, 3)[trial].numpy(),
            ours.played[trial, 0].item(),
        )
        reference = algorithm_1(
            K, f, noise, first, uniforms, qbar, merge, variance, CONF.lam, XI, 2.0, 0.1
        )
        for t, (arm, S, mu, s2) in enumerate(reference):
            state = ours.states[t + 1]
            assert ours.played[trial, t] == arm, f"round {t}"
            assert state.mask[trial].nonzero().squeeze(1).tolist() == S.tolist(), f"round {t}"
            np.testing.assert_allclose(state.mu[trial], mu, atol=1e-8)
            np.testing.assert_allclose(state.s2[trial], s2, atol=1e-8)
            left_out += int((state.n[trial] > 0).sum()) - len(S)
    assert left_out > 0


@pytest.mark.parametrize(
    "learner",
    [BKB(ROUGH, CONF, qbar=0.01), LazyBKB(ROUGH, CONF, qbar=0.01, threshold=50.0)],
    ids=lambda x: type(x).__name__,
)
def test_the_first_arm_is_in_the_first_dictionary(learner):
    """S_1 = {x_1} for every value of qbar k(x_1, x_1) / lambda."""
    state = run(learner, LINE, 1, range(30)).states[1]
    assert torch.equal(state.mask, state.n > 0) and bool((state.s2.amin(1) < 1).all())


def test_dictionaries_are_drawn_with_their_probabilities():
    """20 000 trials have the same pull counts: a chi-square test over the arms, and no arm enters that was not pulled."""
    R, A = 20_000, 7
    arms = torch.linspace(0, 1, A, **TKWARGS).view(1, A, 1)
    learner = BKB(ROUGH, CONF, qbar=1.0)
    state = learner.init(1, arms, None, Streams(3, range(1)).at(-1), **TKWARGS)
    n, s2 = (
        torch.tensor([[5.0, 0, 1, 30, 2, 9, 0]], **TKWARGS),
        torch.tensor([[0.1, 0.5, 0.4, 0.01, 0.3, 3.0, 0.5]], **TKWARGS),
    )
    state = state._replace(n=n, s2=s2, tally=state.tally._replace(rounds=47))
    state = type(state)(
        *(x.expand(R, *x.shape[1:]) if isinstance(x, torch.Tensor) else x for x in state)
    )
    mask = learner.update(
        state, arms, torch.full((R,), 2), torch.zeros(R, **TKWARGS), Streams(3, range(R)).at(46)
    ).mask
    # the new pull counts, with the old variance
    pulls = torch.tensor([5, 0, 2, 30, 2, 9, 0], **TKWARGS)
    p = 1 - (1 - s2[0].clamp(max=1)) ** pulls
    assert not mask[:, pulls == 0].any() and bool(mask[:, 5].all())
    inside = (p > 0) & (p < 1)
    statistic = ((mask.sum(0) - R * p).square() / (R * p * (1 - p)))[inside].sum().item()
    assert 1e-3 < chi2.sf(statistic, int(inside.sum())) < 1 - 1e-3


# ---- the deterministic trace -------------------------------------------------------------------------------

TRACE = [10, 20, 0, 16, 6, 14, 18, 4, 18, 7, 17, 18, 16, 4, 20, 17, 18, 7, 17, 5]
X21 = torch.tensor((np.arange(21) / 20) ** 1.3)[None, :, None]
F21 = torch.sin(3 * math.pi * X21[..., 0]) + X21[..., 0] / 2
CONF21 = Confidence(math.sqrt(0.1), 2.0, ridge=0.1)


@pytest.mark.parametrize(
    "learner",
    [
        ExactGPUCB(RBF(25.0), CONF21),
        NaiveGPUCB(RBF(25.0), CONF21),
        UniqueGPUCB(RBF(25.0), CONF21),
        BKB(RBF(25.0), CONF21, 1e9),
        BKB(RBF(25.0), CONF21, 1e9, "arms"),
        LazyBKB(RBF(25.0), CONF21, 1e9, threshold=1.0),
        FixedDictionary(RBF(25.0), CONF21, 21),
    ],
    ids=lambda learner: f"{type(learner).__name__}-{getattr(learner, 'merge', '')}",
)
def test_deterministic_trace(learner):
    ran = run(learner, X21, 20, means=F21, noise=0.0, first=10)
    state, at = ran.states[-1], torch.tensor([0, 7, 20])
    assert ran.played[0].tolist() == TRACE
    assert (F21.max() - F21[0, ran.played[0]]).sum().item() == pytest.approx(9.63733347, abs=1e-6)
    np.testing.assert_allclose(state.mu[0, at], (0.083515549, 0.7801183171, 0.522687419), atol=1e-6)
    np.testing.assert_allclose(
        state.s2[0, at], (0.8165434335, 0.3410032098, 0.4461375264), atol=1e-6
    )
    assert state.tally.information.item() == pytest.approx(20.6630230551, abs=1e-6)
    assert state.tally.effective.item() == pytest.approx(6.9347222302, abs=1e-6)
    if hasattr(state, "log_det"):
        assert state.log_det.item() == pytest.approx(20.6630230551, abs=1e-6)
    K = RBF(25.0)(X21, X21)[0][ran.played[0]][:, ran.played[0]] / 0.1
    if isinstance(learner, ExactGPUCB):
        assert state.tally.information.item() == pytest.approx(
            torch.linalg.slogdet(torch.eye(20) + K).logabsdet.item(), abs=1e-9
        )
        assert state.tally.effective.item() == pytest.approx(
            torch.trace(torch.linalg.solve(torch.eye(20) + K, K)).item(), abs=1e-9
        )


# ---- equivalences ------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize(
    "kernel, theirs",
    [
        (RBF(30.0), sk.RBF(1 / math.sqrt(60))),
        (ROUGH, sk.Matern(0.5, nu=0.5)),
        (Linear(), sk.DotProduct(0)),
    ],
    ids=str,
)
def test_three_exact_learners_agree_with_scikit_learn(kernel, theirs):
    arms = BALL if kernel == Linear() else LINE
    by_rank_one, unique, naive = (
        run(learner(kernel, CONF), arms, 60, range(3))
        for learner in (ExactGPUCB, UniqueGPUCB, NaiveGPUCB)
    )
    for t in (1, 20, 60):
        same(by_rank_one.states[t], unique.states[t], 1e-8)
        same(by_rank_one.states[t], naive.states[t], 1e-8)
    assert torch.equal(by_rank_one.played, naive.played) and torch.equal(
        by_rank_one.played, unique.played
    )
    for trial in range(3):
        rows, y = arms[0, by_rank_one.played[trial]].numpy(), by_rank_one.heard[trial].numpy()
        mean, sd = (
            GaussianProcessRegressor(theirs, alpha=CONF.lam, optimizer=None)
            .fit(rows, y)
            .predict(arms[0].numpy(), return_std=True)
        )
        np.testing.assert_allclose(by_rank_one.states[-1].mu[trial], mean, atol=1e-8)
        np.testing.assert_allclose(by_rank_one.states[-1].s2[trial] * CONF.lam, sd**2, atol=1e-8)


WIDE = torch.linspace(0, 1, 100, dtype=torch.float64)[None, :, None]


@pytest.mark.parametrize("look", [True, False], ids=["look", "as on a device"])
def test_exact_by_rank_one_with_more_arms_than_a_block(look):
    """Trials take slots at different times, and a block is full before all arms are pulled."""
    kernel, confidence = RBF(400.0), replace(CONF, scale=2.0)
    with shortcuts(look):
        ran = run(ExactGPUCB(kernel, confidence), WIDE, 90, range(4))
    refitted = run(UniqueGPUCB(kernel, confidence), WIDE, 90, range(4))
    assert (ran.states[-1].n > 0).sum(1).min() > 32 and ran.states[-1].cross.shape[1] >= 32
    assert torch.equal(ran.played, refitted.played)
    for t in (1, 32, 33, 34, 60, 90):
        same(ran.states[t], refitted.states[t], 1e-9)
    alone = run(ExactGPUCB(kernel, confidence), WIDE, 90, [2])
    same(alone.states[-1], tree_take(ran.states[-1], [2]), 1e-9)


@pytest.mark.parametrize("noise, tolerance", [(0.1, 1e-8), (0.01, 1e-6)])
def test_exact_by_rank_one_does_not_drift(monkeypatch, noise, tolerance):
    """The state agrees with a new Cholesky factorization after 2000 rounds, also without any recomputation in between."""
    monkeypatch.setattr("paperlib.bkb.learners.exact.REFRESH", 10**9)
    confidence = Confidence(noise, 2.0)
    state = run(ExactGPUCB(RBF(20.0), confidence), LINE, 2000, range(1)).states[-1]
    pulled = (state.n[0] > 0).nonzero()[:, 0]
    fresh = exact_posterior(
        RBF(20.0),
        LINE[:, pulled],
        state.n[:, pulled],
        state.ysum[:, pulled],
        confidence.lam,
        LINE,
    )
    torch.testing.assert_close(state.mu, fresh.mean, rtol=0, atol=tolerance)
    s2 = fresh.variance / confidence.lam
    assert ((state.s2 - s2).abs() <= tolerance * s2).all()


def test_the_state_of_rank_one_updates_grows_with_the_arms_and_not_with_the_rounds():
    states = run(ExactGPUCB(RBF(20.0), CONF), LINE, 400, range(2)).states
    assert state_bytes(states[400]) == state_bytes(states[100])


@pytest.mark.parametrize("rule", ["corrected", "practical", "online", "reference", "paper"])
def test_oful_is_exact_with_the_linear_kernel(rule):
    confidence = replace(CONF, rule=rule, scale=0.3)
    a, b = (
        run(LinearGPUCB(confidence), BALL, 100, range(4)),
        run(ExactGPUCB(Linear(), confidence), BALL, 100, range(4)),
    )
    assert torch.equal(a.played, b.played)
    same(a.states[-1], b.states[-1], 1e-9)
    torch.testing.assert_close(
        LinearGPUCB(confidence).radius(a.states[-1]),
        ExactGPUCB(Linear(), confidence).radius(b.states[-1]),
        rtol=1e-9,
        atol=0,
    )


def test_oful_agrees_with_the_other_oful_given_its_first_arm():
    # linear.OFUL starts with the arm of largest norm.
    longest = torch.linalg.vector_norm(BALL, dim=-1).argmax().item()
    theirs, played = linear.OFUL(XI, 2.0, 0.1, ridge=CONF.lam), []
    ours = run(LinearGPUCB(CONF), BALL, 150, range(3), first=longest)
    state = theirs.init(3, BALL, None, ours.draws.at(-1), **TKWARGS)
    for t in range(150):
        arm, state = theirs.select(state, BALL, ours.draws.at(t))
        state = theirs.update(state, BALL, arm, ours.heard[:, t], ours.draws.at(t))
        played.append(arm)
    assert torch.equal(torch.stack(played, 1), ours.played)
    torch.testing.assert_close(
        theirs.radius(state), LinearGPUCB(CONF).radius(ours.states[-1]), rtol=1e-9, atol=0
    )


@pytest.mark.parametrize("merge", ["pulls", "arms"])
@pytest.mark.parametrize("kernel", [RBF(60.0), Linear()], ids=repr)
def test_lazy_with_threshold_1_is_bkb_bit_for_bit(kernel, merge):
    # An arm of norm 0 adds 0 to the spent variance.
    arms = LINE if kernel == RBF(60.0) else torch.cat([torch.zeros(1, 1, 4, **TKWARGS), BALL], 1)
    a, b = (
        run(BKB(kernel, CONF, 1.5, merge), arms, 300, range(4)),
        run(LazyBKB(kernel, CONF, 1.5, merge, threshold=1.0), arms, 300, range(4)),
    )
    assert torch.equal(a.played, b.played)
    for before, after in zip(a.states, b.states):
        assert (
            torch.equal(before.mask, after.mask)
            and torch.equal(before.mu, after.mu)
            and torch.equal(before.s2, after.s2)
        )
    assert b.states[-1].resamplings.tolist() == [300] * 4 and bool(
        (a.states[-1].mask != (a.states[-1].n > 0)).any()
    )


@pytest.mark.parametrize("learner", [BKB, LazyBKB])
@pytest.mark.parametrize("way", ["no K_XX", "torch"])
def test_a_cached_gram_and_numpy_change_only_rounding(monkeypatch, learner, way):
    """The results equal those with too many arms for K_XX to be stored, and those of the code for a GPU."""
    kept = run(learner(RBF(60.0), CONF), LINE, 60, range(3))
    with shortcuts(way != "torch"):
        if way == "no K_XX":
            monkeypatch.setattr("paperlib.bkb.learners.bkb.GRAM", 0)
        other = run(learner(RBF(60.0), CONF), LINE, 60, range(3))
    assert torch.equal(kept.played, other.played)
    a, b = kept.states[-1], other.states[-1]
    assert a.gram is not None and (b.gram is None) == (way == "no K_XX")
    for name in ("mu", "s2"):
        torch.testing.assert_close(getattr(a, name), getattr(b, name), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("merge", ["pulls", "arms"])
def test_bkb_with_much_oversampling_is_exact(merge):
    """If qbar >= (kappa2 T + lambda) / min k, every pull is kept with probability 1. The diagonal is uneven, so that the kernel's scale matters."""
    size = lambda X: 0.3 + X
    kernel = FunctionKernel(lambda X, Y: size(X) * ROUGH(X, Y) * size(Y).mT)
    diagonal = kernel.diag(LINE)
    qbar = (float(diagonal.max()) * 80 + CONF.lam) / float(diagonal.min())
    a, b = (
        run(BKB(kernel, CONF, qbar, merge), LINE, 80, range(4)),
        run(ExactGPUCB(kernel, CONF), LINE, 80, range(4)),
    )
    assert torch.equal(a.played, b.played)
    for ours, exact in zip(a.states, b.states):
        assert torch.equal(ours.mask, ours.n > 0)
        same(ours, exact, 1e-6)
    torch.testing.assert_close(
        a.states[-1].log_det, b.states[-1].tally.information, rtol=1e-8, atol=0
    )


def test_a_dictionary_of_all_arms_is_exact():
    a, b = (
        run(FixedDictionary(ROUGH, CONF, 99), LINE, 120, range(3)),
        run(ExactGPUCB(ROUGH, CONF), LINE, 120, range(3)),
    )
    assert torch.equal(a.played, b.played)
    same(a.states[-1], b.states[-1], 1e-7)


@pytest.mark.parametrize("variance", ["dtc", "sor"])
def test_a_fixed_dictionary_is_the_sketch_with_it(variance):
    ran = run(FixedDictionary(RBF(60.0), CONF, 6, variance), LINE, 120, range(5))
    state = ran.states[-1]
    assert (
        state.mask.sum(1).tolist() == [6] * 5
        and torch.equal(state.mask, ran.states[0].mask)
        and len(torch.unique(state.mask, dim=0)) == 5
    )
    found = nystrom_posterior(LINE, RBF(60.0), state.mask, state.n, state.ysum, CONF.lam)
    torch.testing.assert_close(state.mu, found.mu, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(
        state.s2, found.s2 if variance == "dtc" else found.sor, rtol=1e-9, atol=1e-9
    )


def test_soful_with_all_rows_is_oful():
    learner = SOFUL(CONF, size=4)
    a, b = run(learner, BALL, 200, range(3)), run(LinearGPUCB(CONF), BALL, 200, range(3))
    assert torch.equal(a.played, b.played) and not a.states[-1].rho.any()
    same(a.states[-1], b.states[-1], 1e-9)
    torch.testing.assert_close(
        a.states[-1].log_det, b.states[-1].tally.information, rtol=1e-9, atol=0
    )
    torch.testing.assert_close(
        learner.radius(a.states[-1]), LinearGPUCB(CONF).radius(b.states[-1]), rtol=1e-9, atol=0
    )


def test_soful_with_few_rows_has_a_smaller_matrix():
    """V~ <= V <= V~ + rho I, where V is computed from the pulled arms; the learner's mean is the ridge estimate with V~."""
    ran = run(SOFUL(CONF, size=2), BALL, 60, range(3))
    sketch, rho = np.zeros((2, 4)), 0.0
    # Frequent Directions in the first trial: the third squared singular value is subtracted from the others.
    for t in range(1, 61):
        _, sigma, rows = np.linalg.svd(
            np.vstack([sketch, BALL[0, ran.played[0, t - 1]].numpy()]), full_matrices=False
        )
        sketch, rho = (
            np.sqrt(np.maximum(sigma[:2] ** 2 - sigma[2] ** 2, 0))[:, None] * rows[:2],
            rho + sigma[2] ** 2,
        )
        ours = ran.states[t].sketch[0].numpy()
        np.testing.assert_allclose(ours.T @ ours, sketch.T @ sketch, atol=1e-9)
        np.testing.assert_allclose(ran.states[t].rho[0], rho, atol=1e-9)
    for t in (1, 3, 10, 60):
        state = ran.states[t]
        x = BALL[0][ran.played[:, :t]]
        V, kept = x.mT @ x, state.sketch.mT @ state.sketch
        low, high = (
            torch.linalg.eigvalsh(V - kept),
            torch.linalg.eigvalsh(V - kept - state.rho.view(-1, 1, 1) * torch.eye(4)),
        )
        assert low.min() > -1e-9 and high.max() < 1e-9
        inverse, eye = (
            torch.linalg.inv(kept + CONF.lam * torch.eye(4, **TKWARGS)),
            CONF.lam * torch.eye(4, **TKWARGS),
        )
        exact = (BALL @ torch.linalg.inv(V + eye) * BALL).sum(-1)
        torch.testing.assert_close(state.s2, (BALL @ inverse * BALL).sum(-1), rtol=1e-8, atol=1e-8)
        torch.testing.assert_close(
            state.mu,
            (BALL[0] @ inverse @ (x.mT @ ran.heard[:, :t, None])).squeeze(2),
            rtol=1e-8,
            atol=1e-8,
        )
        torch.testing.assert_close(
            state.log_det, -torch.logdet(CONF.lam * inverse), rtol=1e-8, atol=1e-8
        )
        assert bool((state.s2 >= exact - 1e-9).all()) and bool((state.rho > 0).all()) == (t > 2)


@pytest.mark.parametrize(
    "learner, dim", [(CBRAP(CONF, 3), 3), (RFFUCB(RBF(4.0), CONF, 30), 30)], ids=repr
)
def test_features_are_regressed_on(learner, dim):
    ran = run(learner, BALL, 70, range(3))
    state = ran.states[-1]
    Z = state.Z.mT
    assert Z.shape == (3, 25, dim) and not torch.equal(Z[0], Z[1])
    rows = Z.gather(1, ran.played.unsqueeze(2).expand(-1, -1, dim))
    inverse = torch.linalg.inv(rows.mT @ rows + CONF.lam * torch.eye(dim, **TKWARGS))
    torch.testing.assert_close(
        state.mu.unsqueeze(2),
        Z @ inverse @ (rows.mT @ ran.heard.unsqueeze(2)),
        rtol=1e-8,
        atol=1e-8,
    )
    torch.testing.assert_close(state.s2, (Z @ inverse * Z).sum(-1), rtol=1e-8, atol=1e-8)
    torch.testing.assert_close(
        state.tally.information, -torch.logdet(CONF.lam * inverse), rtol=1e-8, atol=0
    )


def test_many_features_are_the_kernel_and_many_projections_the_product():
    draw = Streams(5, range(2)).at(-1)
    Z = RFFUCB(RBF(4.0), CONF, 40_000).features(BALL, draw)
    torch.testing.assert_close(Z.mT @ Z, RBF(4.0)(BALL, BALL).expand(2, -1, -1), rtol=0, atol=0.04)
    torch.testing.assert_close(Z.square().sum(1), torch.ones(2, 25, **TKWARGS), rtol=1e-12, atol=0)
    Z = CBRAP(CONF, 40_000).features(BALL, draw)
    torch.testing.assert_close(Z.mT @ Z, (BALL @ BALL.mT).expand(2, -1, -1), rtol=0, atol=0.04)


# ---- lazy resampling ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("threshold", [1.3, 2.0, 6.0])
def test_between_resamplings_the_variance_shrinks_by_no_more(threshold):
    """Everywhere 1 <= s2_fb / s2 <= 1 + sum of s2_fb at the arms pulled since, and the sum is below the threshold when an arm is chosen."""
    ran = run(LazyBKB(RBF(60.0), CONF, 3.0, threshold=threshold), LINE, 250, range(4))
    tightest = 0.0
    for state in ran.states[1:]:
        ratio = state.fallback / state.s2
        assert bool((ratio > 1 - 1e-9).all()) and bool(
            (ratio <= 1 + state.spent.unsqueeze(1) + 1e-9).all()
        )
        assert bool((1 + state.spent < threshold).all())
        tightest = max(tightest, float((ratio.amax(1) / (1 + state.spent)).max()))
    assert tightest > 0.98
    assert bool((ran.states[-1].resamplings < 240).all()) and bool(
        (ran.states[-1].resamplings > 5).all()
    )


def test_lazy_bkb_does_not_drift():
    """After 2000 rounds the posterior differs by at most 1e-9 from the posterior recomputed from the pull counts."""
    learner = LazyBKB(RBF(60.0), replace(CONF, scale=0.5), 4.0, threshold=3.0, refresh=256)
    ran = run(learner, LINE, 2000, range(2))
    rounds = sorted({*range(100, 2001, 100), 255, 256, 511, 1023, 1791, 1792, 1999})
    drift = []
    for state in (ran.states[t] for t in rounds):
        found = nystrom_posterior(LINE, RBF(60.0), state.mask, state.n, state.ysum, CONF.lam)
        drift.append(
            max(
                float((state.mu - found.mu).abs().max()),
                float((state.s2 / found.s2 - 1).abs().max()),
            )
        )
    assert 0 < max(drift) <= 1e-9
    refreshed = nystrom_posterior(
        LINE, RBF(60.0), ran.states[1792].mask, ran.states[1792].n, ran.states[1792].ysum, CONF.lam
    )
    assert torch.equal(refreshed.mu, ran.states[1792].mu)


@pytest.mark.parametrize("merge", ["pulls", "arms"])
@pytest.mark.parametrize("look", [True, False])
def test_trials_resample_by_themselves(merge, look):
    learner = LazyBKB(ROUGH, CONF, 2.0, merge, threshold=2.0, refresh=16)
    with shortcuts(look):
        batch = run(learner, LINE, 100, range(4))
    increments = torch.stack([state.resamplings for state in batch.states]).diff(dim=0)
    assert bool((increments.amax(1) != increments.amin(1)).any()), (
        "in no round did only some resample"
    )
    for trial in range(4):
        alone = run(learner, LINE, 100, [trial])
        assert torch.equal(alone.played[0], batch.played[trial])
        for t in (1, 15, 16, 50, 100):
            same(
                alone.states[t],
                tree_take(batch.states[t], [trial]),
                1e-9,
                ("n", "ysum", "mu", "s2", "fallback", "spent"),
            )
            assert torch.equal(alone.states[t].mask[0], batch.states[t].mask[trial])
        assert alone.states[-1].resamplings.item() == batch.states[-1].resamplings[trial].item()


# ---- capacity, predictions, equal arms -------------------------------------------------------


@pytest.mark.parametrize("kind", [BKB, LazyBKB])
def test_capacity(kind):
    """Enough slots do not change the result; too few are reported per trial, and the posterior uses the arms that fit."""
    auto, enough, few = (
        run(kind(ROUGH, CONF, 1e9, capacity=c), LINE, 30, range(3)) for c in ("auto", 39, 4)
    )
    assert torch.equal(auto.played, enough.played)
    same(auto.states[-1], enough.states[-1], 1e-9)
    assert not auto.states[-1].overflow.any() and not enough.states[-1].overflow.any()
    assert few.states[-1].overflow.all() and not few.states[4].overflow.any()
    state = few.states[-1]
    kept = state.mask & (state.mask.cumsum(1) <= 4)
    found = nystrom_posterior(LINE, ROUGH, kept, state.n, state.ysum, CONF.lam)
    same(state, found, 1e-9, ("mu", "s2"))
    assert not BKB(ROUGH, CONF, capacity=4).looks and BKB(ROUGH, CONF).looks


@pytest.mark.parametrize(
    "learner",
    [
        ExactGPUCB(ROUGH, CONF),
        UniqueGPUCB(ROUGH, CONF),
        NaiveGPUCB(ROUGH, CONF),
        BKB(ROUGH, CONF, 1.0),
        BKB(ROUGH, CONF, 1.0, variance="sor"),
        LazyBKB(ROUGH, CONF, 1.0, variance="sor"),
        LazyBKB(ROUGH, CONF, 1.0),
        FixedDictionary(ROUGH, CONF, 5),
        FixedDictionary(ROUGH, CONF, 5, "sor"),
    ],
    ids=lambda x: f"{type(x).__name__}-{getattr(x, 'variance', '')}",
)
def test_predictions_at_the_arms_are_the_learners(learner):
    ran = run(learner, LINE, 50, range(3))
    # In an empty span SoR has variance 0; before the first round the state is the prior.
    starved = getattr(learner, "variance", "") == "sor"
    for state in ran.states[1::49] if starved else ran.states[::25]:
        mu, s2 = learner.predict(state, LINE, LINE.expand(3, -1, -1))
        torch.testing.assert_close(mu, state.mu, rtol=1e-8, atol=1e-8)
        torch.testing.assert_close(s2, state.s2, rtol=1e-8, atol=1e-8)
    mu, s2 = learner.predict(ran.states[-1], LINE, torch.tensor([[[0.5], [40.0]]], **TKWARGS))
    assert mu.shape == s2.shape == (3, 2)
    torch.testing.assert_close(mu[:, 1], torch.zeros(3, **TKWARGS), rtol=0, atol=1e-9)
    torch.testing.assert_close(
        s2[:, 1],
        torch.full((3,), 0.0 if starved else 1 / CONF.lam, **TKWARGS),
        rtol=1e-9,
        atol=1e-9,
    )


EVERY = [
    ExactGPUCB(ROUGH, CONF),
    UniqueGPUCB(ROUGH, CONF),
    NaiveGPUCB(ROUGH, CONF),
    BKB(ROUGH, CONF),
    BKB(ROUGH, CONF, 2.0, "arms", "sor"),
    BKB(ROUGH, CONF, capacity=8),
    LazyBKB(ROUGH, CONF),
    FixedDictionary(ROUGH, CONF, 3),
    LinearGPUCB(CONF),
    CBRAP(CONF, 2),
    RFFUCB(RBF(9.0), CONF, 10),
    SOFUL(CONF, 2),
]
every_learner = pytest.mark.parametrize(
    "learner",
    EVERY,
    ids=lambda x: f"{type(x).__name__}-{getattr(x, 'merge', '')}-{getattr(x, 'capacity', '')}",
)


def test_first_copies():
    X = torch.tensor([[[1.0], [2.0], [1.0], [2.0], [3.0]]], **TKWARGS)
    assert (
        find_duplicates(X).tolist() == [[0, 1, 0, 1, 4]]
        and find_duplicates(X[:, [1, 2, 4]]) is None
    )
    assert find_duplicates(torch.cat([X, X[:, [4, 4, 0, 1, 0]]])).tolist() == [
        [0, 1, 0, 1, 4],
        [0, 0, 2, 3, 2],
    ]


@every_learner
def test_of_equal_arms_the_first_is_played(learner):
    arms = BALL[:, :8].repeat(1, 3, 1)
    ran = run(learner, arms, 60, range(4))
    assert bool((ran.played[:, 1:] < 8).all()) and bool((ran.played[:, 0] >= 8).any())
    assert bool((ran.played[:, 1:] > 0).any())


# ---- degenerate play ---------------------------------------------------------------------------------------


@every_learner
def test_one_arm_costs_nothing(learner):
    trace = play(learner, Given(((0.5, 0.2),), (1.0,), XI), 40, 2)
    assert not trace["regret"].any()


@every_learner
def test_one_round(learner):
    arms = tuple(map(tuple, BALL[0].tolist()))
    trace = play(
        learner,
        Given(arms, tuple(BALL[0, :, 0].tolist()), XI),
        1,
        200,
        probes={"arm": lambda seen: seen.action},
    )
    assert trace["regret"].shape == (200, 1)
    assert len(np.unique(trace["arm"])) == 25  # the first arm is drawn uniformly


@every_learner
def test_only_identical_arms(learner):
    trace = play(
        learner,
        Given(((0.5, 0.2),) * 6, (1.0,) * 6, XI),
        30,
        3,
        record="all",
        probes={"arm": lambda seen: seen.action, "s2": lambda seen: seen.after.s2},
    )
    assert not trace["arm"][:, 1:].any() and np.isfinite(trace["s2"]).all()
    np.testing.assert_allclose(np.ptp(trace["s2"], -1), 0, atol=1e-9)


@pytest.mark.parametrize(
    "learner",
    [
        ExactGPUCB(Linear(), CONF),
        UniqueGPUCB(Linear(), CONF),
        BKB(Linear(), CONF),
        LazyBKB(Linear(), CONF),
        LinearGPUCB(CONF),
        SOFUL(CONF, 5),
    ],
    ids=lambda x: type(x).__name__,
)
def test_ties_go_to_the_smallest_index(learner):
    """With f = 0 on orthonormal arms, all arms that were not pulled yet tie."""
    arms = tuple(map(tuple, torch.eye(5).tolist()))
    trace = play(
        learner,
        Given(arms, (0.0,) * 5),
        5,
        8,
        record="all",
        probes={"arm": lambda seen: seen.action},
    )
    for first, *others in trace["arm"].astype(int).tolist():
        assert others == [i for i in range(5) if i != first]


@every_learner
def test_an_arm_of_norm_zero_is_played_at_most_at_first(learner):
    if learner.kernel == ROUGH:
        learner = replace(learner, kernel=Linear())
    arms = ((0.0, 0.0), (1.0, 0.2), (0.3, 0.9))
    trace = play(
        learner,
        Given(arms, (0.0, 1.0, 0.5), XI),
        40,
        6,
        record="all",
        probes={
            "arm": lambda seen: seen.action,
            "s2": lambda seen: seen.after.s2,
            "mu": lambda seen: seen.after.mu,
        },
    )
    assert np.isfinite(trace["mu"]).all() and np.isfinite(trace["s2"]).all()
    # With an empty dictionary SoR has variance 0 everywhere, and its dictionary stays empty.
    if learner.kernel == Linear() and getattr(learner, "variance", "") != "sor":
        assert (trace["arm"][:, 1:] > 0).all() and (trace["arm"][:, 0] == 0).any()
        assert not trace["mu"][..., 0].any() and (trace["s2"][..., 0] < 1e-200).all()


@pytest.mark.parametrize("kind", [ExactGPUCB, BKB, LazyBKB, FixedDictionary, LinearGPUCB, SOFUL])
@pytest.mark.parametrize("noise", [1e-4, 0.0])
def test_next_to_no_noise(kind, noise):
    """With lambda = 1e-8, every learner finds the best of a few arms and then knows their values."""
    confidence = Confidence(noise, 1.0, ridge=1e-8)
    arms = tuple(map(tuple, BALL[0, :12].tolist()))
    f = tuple((BALL[0, :12] @ torch.tensor([0.5, -0.5, 0.5, 0.5], **TKWARGS)).tolist())
    trace = play(
        kind(confidence) if kind in (LinearGPUCB, SOFUL) else kind(Linear(), confidence),
        Given(arms, f, noise),
        80,
        3,
        record="all",
    )
    assert np.isfinite(trace["regret"]).all()
    assert (np.diff(trace["regret"])[:, -20:] < 1e-3).all()


@pytest.mark.parametrize("rule", ["paper", "corrected", "online", "reference"])
@every_learner
def test_radii_of_small_kernels_are_numbers(learner, rule):
    """With kappa2 t < 1 in all rounds the printed logarithm is negative."""
    arms = tuple(map(tuple, (BALL[0] / 40).tolist()))
    learner = replace(learner, confidence=replace(CONF, rule=rule))
    if learner.kernel == ROUGH:
        learner = replace(learner, kernel=Linear())
    trace = play(
        learner,
        Given(arms, tuple(BALL[0, :, 0].tolist()), XI),
        10,
        2,
        record="all",
        probes={
            "radius": lambda seen: learner.radius(seen.after),
            "kappa2": lambda seen: seen.after.tally.kappa2,
        },
    )
    assert np.isfinite(trace["radius"]).all() and (trace["radius"] > 0).all()
    assert isinstance(learner, RFFUCB) or (trace["kappa2"].max() * 10 < 1)


# ---- reproducibility ----------------------------------------------------------------------------------------

SMOOTH = Given(tuple(map(tuple, LINE[0].tolist())), tuple(f_of(LINE, 1)[0].tolist()), XI)


@every_learner
def test_the_same_seed_gives_the_same_run(learner):
    probes = {"arm": lambda seen: seen.action} | (
        {"mask": lambda seen: seen.after.mask} if hasattr(learner, "root") else {}
    )
    a, b, other = (
        play(learner, SMOOTH, 60, 3, seed, record="all", probes=probes) for seed in (4, 4, 90)
    )
    assert a.equal(b) and not np.array_equal(a["arm"], other["arm"])


def test_sketched_and_exact_have_low_regret_and_starved_has_not():
    regret = {
        name: play(learner, SMOOTH, 150, 6)["regret"][:, -1].mean()
        for name, learner in {
            "exact": ExactGPUCB(ROUGH, CONF),
            "bkb": BKB(ROUGH, CONF),
            "lazy": LazyBKB(ROUGH, CONF),
            "greedy": BKB(ROUGH, replace(CONF, scale=0.0), variance="sor"),
        }.items()
    }
    assert regret["bkb"] == pytest.approx(regret["exact"], rel=0.1) and regret[
        "lazy"
    ] == pytest.approx(regret["exact"], rel=0.15)
    assert regret["greedy"] > 1.5 * regret["exact"]


def test_a_running_ask_tell_is_saved(tmp_path):
    user, again = (AskTell(LazyBKB(ROUGH, CONF), LINE[0].numpy(), seed=3) for _ in range(2))
    for _ in range(20):
        arm = user.ask()
        user.tell(arm, SMOOTH.f[arm])
    user.save(tmp_path / "state.npz")
    again.restore(tmp_path / "state.npz")
    for _ in range(10):
        arm = user.ask()
        assert again.ask() == arm
        user.tell(arm, SMOOTH.f[arm]), again.tell(arm, SMOOTH.f[arm])
    assert torch.equal(user.state.mu, again.state.mu)


def test_rewards_of_prescribed_arms_are_observed():
    script = (3, 3, 17, 30)
    trace = play(
        Scripted(BKB(ROUGH, CONF, 1e9), Listed(script), 4),
        SMOOTH,
        8,
        2,
        record="all",
        probes={
            "arm": lambda seen: seen.action,
            "n": Probe(lambda seen: seen.after.base.n, "final"),
        },
    )
    assert (
        trace["arm"][:, :4].tolist() == [list(script)] * 2
        and (trace["n"][:, 3] >= 2).all()
        and (trace["n"].sum(1) == 8).all()
    )


# ---- invalid input -----------------------------------------------------------------------------------------


def repelling(X, Y):
    """Evaluate a symmetric function with ones on the diagonal and -0.9 elsewhere, which is no covariance of three points."""
    return torch.where((X.unsqueeze(-2) == Y.unsqueeze(-3)).all(-1), 1.0, -0.9).double()


@pytest.mark.parametrize(
    "learner",
    [
        BKB(FunctionKernel(repelling), CONF, root="cholesky"),
        LazyBKB(FunctionKernel(repelling), CONF, root="cholesky", threshold=1.0),
        FixedDictionary(FunctionKernel(repelling), CONF, 5, root="cholesky"),
        BKB(FunctionKernel(repelling), CONF),
        UniqueGPUCB(FunctionKernel(repelling), CONF),
        NaiveGPUCB(FunctionKernel(repelling), CONF),
    ],
    ids=lambda x: f"{type(x).__name__} {getattr(x, 'root', '')}",
)
def test_an_invalid_kernel_makes_play_raise(learner, monkeypatch):
    with pytest.raises(
        ValueError,
        match=r"kernel=FunctionKernel\(function=repelling\) must be.*, got the eigenvalue",
    ):
        play(learner, SMOOTH, 100, 2)
    # The check of the kernel uses 64 arms only.
    monkeypatch.setattr("paperlib.bkb.learners.ucb.check_kernel", lambda *_: None)
    with pytest.raises(ValueError, match="reports failure.*trial 0"):
        play(learner, SMOOTH, 100, 2)


@pytest.mark.parametrize(
    "learner",
    [
        BKB(ROUGH, CONF, 1e9, root="cholesky"),
        LazyBKB(ROUGH, CONF, 1e9, threshold=1.0, root="cholesky"),
    ],
    ids=lambda x: type(x).__name__,
)
def test_a_root_that_fails_is_reported_by_trial(monkeypatch, learner):
    """Without jitter equal arms have no Cholesky factor: only the trials whose dictionary has two of them fail."""
    monkeypatch.setattr(posterior, "JITTERS", (0.0,))
    arms = LINE[:, [0, 0, 20]]
    draws = Streams(0, range(2))
    state = learner.init(2, arms, None, draws.at(-1), **TKWARGS)
    for t, arm in enumerate(([0, 0], [1, 2])):
        assert not learner.report(state)["failed"].any()
        state = learner.update(
            state, arms, torch.tensor(arm), torch.ones(2, **TKWARGS), draws.at(t)
        )
    assert learner.report(state)["failed"].tolist() == [True, False]


NUMBER = [0.0, -1.0, math.nan, math.inf, "large"]
BAD = [
    (
        BKB(ROUGH, CONF),
        {
            "qbar": NUMBER,
            "merge": ["rounds"],
            "variance": ["fitc"],
            "capacity": [0, 2.5, "all"],
            "root": ["svd"],
            "confidence": [0.1],
            "kernel": [3, repelling],
        },
    ),
    (
        LazyBKB(ROUGH, CONF),
        {
            "qbar": NUMBER,
            "merge": ["rounds"],
            "variance": ["fitc"],
            "capacity": [0],
            "root": ["svd"],
            "threshold": NUMBER + [0.9],
            "refresh": [0, 1.5],
        },
    ),
    (
        FixedDictionary(ROUGH, CONF),
        {"size": [0, 2.5, "auto"], "variance": ["fitc"], "root": ["svd"], "confidence": [None]},
    ),
    (ExactGPUCB(ROUGH, CONF), {"kernel": [None], "confidence": [None]}),
    (CBRAP(CONF), {"size": [0, 1.5], "confidence": [None]}),
    (RFFUCB(RBF(1.0), CONF), {"size": [0, 3], "kernel": [Linear()]}),
    (SOFUL(CONF), {"size": [0, 1.5]}),
]


@pytest.mark.parametrize(
    "learner, field, value",
    [(l, f, v) for l, fields in BAD for f, values in fields.items() for v in values],
    ids=lambda x: (
        x
        if isinstance(x, str)
        else type(x).__name__
        if hasattr(x, "wants")
        else "function"
        if callable(x)
        else repr(x)
    ),
)
def test_fields_out_of_range_are_refused(learner, field, value):
    with pytest.raises(ValueError, match=f"^{field} must .*, got "):
        replace(learner, **{field: value})


def test_the_error_for_a_missing_kernel_names_the_module():
    with pytest.raises(
        ValueError, match=f"^kernel must be a kernel of {RBF.__module__}, .* FunctionKernel"
    ):
        ExactGPUCB(None, CONF)


@every_learner
def test_arms_and_rewards_out_of_range_are_refused(learner):
    user = AskTell(learner, LINE[0].numpy())
    for arm in (40, -1):
        with pytest.raises(ValueError, match="^(action|arm) must .*, got "):
            user.tell(arm, 1.0)
    with pytest.raises(ValueError, match="^feedback must be finite"):
        user.tell(3, math.nan)
    with pytest.raises(ValueError, match="^reward must .*, got "):
        learner.validate(LINE, torch.tensor([3]), torch.tensor([math.inf]))
    for shape in ((4,), (0, 1), (3, 0)):
        with pytest.raises(ValueError, match="^(context|arms) must be .*, got "):
            AskTell(learner, np.ones(shape))


def test_a_kernel_is_checked_before_it_is_used():
    with pytest.raises(ValueError, match="^kernel=.* must have a diagonal of .*, got "):
        play(BKB(FunctionKernel(lambda X, Y: -RBF(1.0)(X, Y)), CONF), SMOOTH, 5, 1)


@pytest.mark.parametrize(
    "learner",
    [
        LinearGPUCB(Confidence(0.1, 1.0)),
        RFFUCB(RBF(30.0), Confidence(0.1, 1.0), 20),
        FixedDictionary(RBF(30.0), Confidence(0.1, 1.0), 6),
        FixedDictionary(RBF(30.0), Confidence(0.1, 1.0), 6, "sor"),
    ],
    ids=lambda learner: f"{type(learner).__name__} {getattr(learner, 'variance', '')}",
)
def test_a_refresh_changes_only_rounding(learner, monkeypatch):
    from paperlib.bkb.learners import features, fixed

    problem = RKHS(arms=20, gamma=30.0, noise=0.1)
    plain = play(
        learner,
        problem,
        40,
        2,
        record="all",
        probes={"s2": lambda seen: seen.after.s2, "mu": lambda seen: seen.after.mu},
    )
    monkeypatch.setattr(features, "REFRESH", 5), monkeypatch.setattr(fixed, "REFRESH", 5)
    fresh = play(
        learner,
        problem,
        40,
        2,
        record="all",
        probes={"s2": lambda seen: seen.after.s2, "mu": lambda seen: seen.after.mu},
    )
    np.testing.assert_allclose(fresh["s2"], plain["s2"], rtol=1e-7)
    np.testing.assert_allclose(fresh["mu"], plain["mu"], atol=1e-8)
    assert not np.array_equal(fresh["s2"], plain["s2"])
