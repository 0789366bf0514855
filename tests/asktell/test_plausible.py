"""Ask/tell warns once of rewards that contradict the declared model, and practically never of rewards that follow it."""

import math
import warnings

import numpy as np
import pytest
import torch
from scipy import stats
from toy import Listed

from companion.papers import paper_module
from paperlib import bkb, linear
from paperlib.asktell import AskTell
from paperlib.bkb import (
    BKB,
    RBF,
    Confidence,
    ContextualBKB,
    ExactGPUCB,
    LazyBKB,
    Linear,
    Optimizer,
    Scripted,
)
from paperlib.core.contracts import FALSE_ALARM, Observed
from paperlib.core.streams import Streams
from paperlib.glbomd import (
    GLBOMD,
    GLMUCB,
    GLOC,
    OFUGLB,
    UCB1,
    Bernoulli,
    BetaThompson,
    Binomial,
    Gaussian,
    LaplaceThompson,
    Poisson,
    RSGLinCB,
)
from paperlib.learners.wrapper import Doubling
from paperlib.linear import OFUL, ConfidenceBall
from paperlib.pfbco import PFBCO, Ball, Task
from paperlib.play import play

# Parameters of rewards that follow the model; RATE is a variance.
NOISE, NORM, RATE = 0.1, 1.0, 0.25
RNG = np.random.default_rng(0)
DIRECTIONS = RNG.normal(size=(12, 3))
ARMS = DIRECTIONS / np.linalg.norm(DIRECTIONS, axis=1, keepdims=True)
THETA = NORM * ARMS[4]
RADIUS = Confidence(NOISE, NORM)

gaussian = lambda mean, rng: mean + NOISE * rng.normal()
counts = lambda mean, rng: float(rng.poisson(math.exp(mean)))
wide = lambda mean, rng: mean + math.sqrt(RATE) * rng.normal()
tries = lambda mean, rng: float(rng.binomial(400, 1 / (1 + math.exp(-mean))))

# Learner, function that samples rewards of the model from the arm's value x^T theta, and the arguments that a warning names.
MODELS = {
    "OFUL": (OFUL(NOISE, NORM), gaussian, "noise=0.1 and norm_bound=1.0"),
    "ConfidenceBall": (ConfidenceBall(NOISE), gaussian, "noise=0.1 and ||theta*|| <= 1"),
    "LazyBKB": (LazyBKB(Linear(), RADIUS), gaussian, "noise=0.1 and norm_bound=1.0"),
    "BKB": (BKB(Linear(), RADIUS), gaussian, "noise=0.1 and norm_bound=1.0"),
    "ContextualBKB": (ContextualBKB(Linear(), RADIUS), gaussian, "noise=0.1 and norm_bound=1.0"),
    "GP-UCB": (ExactGPUCB(Linear(), RADIUS), gaussian, "noise=0.1 and norm_bound=1.0"),
    "OFUL, ridge": (bkb.LinearGPUCB(RADIUS), gaussian, "noise=0.1 and norm_bound=1.0"),
    "SOFUL": (bkb.SOFUL(RADIUS, 2), gaussian, "noise=0.1 and norm_bound=1.0"),
    "Scripted": (
        Scripted(OFUL(NOISE, NORM), Listed((2, 1)), 2),
        gaussian,
        "noise=0.1 and norm_bound=1.0",
    ),
    "Doubling": (Doubling(OFUL(NOISE, NORM)), gaussian, "noise=0.1 and norm_bound=1.0"),
    "GLB-OMD, counts": (GLBOMD(Poisson(), NORM), counts, "link=Poisson() and norm_bound=1.0"),
    "GLB-OMD, Gaussian": (
        GLBOMD(Gaussian(RATE), NORM),
        wide,
        "link=Gaussian(variance=0.25) and norm_bound=1.0",
    ),
    "GLM-UCB, counts": (GLMUCB(Poisson(), NORM), counts, "link=Poisson() and norm_bound=1.0"),
    "RS-GLinCB, counts": (RSGLinCB(Poisson(), NORM), counts, "link=Poisson() and norm_bound=1.0"),
    "OFUGLB, counts": (OFUGLB(Poisson(), NORM), counts, "link=Poisson() and norm_bound=1.0"),
    "GLOC, counts": (
        GLOC(Poisson(), NORM, sub_gaussian=1.7),
        counts,
        "link=Poisson() and norm_bound=1.0",
    ),
    "GLOC, Gaussian": (
        GLOC(Gaussian(RATE), NORM),
        wide,
        "link=Gaussian(variance=0.25) and norm_bound=1.0",
    ),
}
every_model = pytest.mark.parametrize("name", MODELS)


def told(user, answer, rounds, unit=1.0, seed=0):
    """Tell ``unit`` times the rewards of the arms that are asked for; return the warnings of ask/tell."""
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(rounds):
            arm = user.ask()
            user.tell(arm, unit * answer(float(user.context[0, arm] @ torch.tensor(THETA)), rng))
    return [str(warning.message) for warning in caught]


def begun(learner, arms=ARMS, horizon=100):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the learner may warn before the first round
        return AskTell(learner, arms, horizon)


@every_model
def test_rewards_in_cents_are_warned_of_once(name):
    learner, answer, declared = MODELS[name]
    assert told(begun(learner), answer, 12) == []
    (said,) = told(begun(learner), answer, 12, unit=100.0)
    assert f"contradicts {declared}, with which it lies between " in said
    assert said.startswith("reward=") and "in round " in said and "Check the unit" in said


def test_the_message_has_the_reward_its_round_and_the_limits():
    user = AskTell(OFUL(0.5, 2.0), np.array([[3.0, 4.0]]))
    most = 10 + 0.5 * math.sqrt(2 * math.log(2 * 1 * 2 / 1e-6))  # S ||x|| + R sqrt(2 ln(2 / p))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        AskTell(OFUL(0.5, 2.0), np.array([[3.0, 4.0]])).tell(0, most * 0.999)
    with pytest.warns(UserWarning, match="contradicts") as caught:
        user.tell(0, -most * 1.001)
    said = str(caught[0].message)
    assert said.startswith(f"reward={-most * 1.001!r} in round 1 contradicts noise=0.5 and norm")
    assert f"between {-most:.4g} and {most:.4g}. " in said and "at most 1e-06" in said
    assert caught[0].filename == __file__


BANDITS = {
    f"{paper}.{name}": case
    for paper in ("linear", "bkb", "glbomd")
    for name, case in paper_module(paper, "cases").CASES.items()
    if hasattr(case.learner, "caution")
}


@pytest.mark.parametrize("name", BANDITS)
def test_200_trials_that_follow_the_model_give_no_warning(name):
    """Every learner with a declared model, with random arms and rewards of its problem."""
    case, trials = BANDITS[name], 200
    streams, tkwargs = Streams(7, range(trials)), {"dtype": torch.float64, "device": "cpu"}
    instance = case.problem.init(trials, case.rounds, streams.at(-1), **tkwargs)
    for t in range(case.rounds):
        arms, draw = case.problem.context(instance, t), streams.at(t)
        arm = (draw.uniform("some arm") * arms.shape[1]).long()
        reward, _ = case.problem.respond(instance, t, arm, "reward", draw)
        assert case.learner.caution(arms, None, Observed(arm, reward, t + 1)) is None


@every_model
def test_ask_tell_trials_that_follow_the_model_give_no_warning(name):
    learner, answer, _ = MODELS[name]
    for seed in range(15):
        assert told(begun(learner), answer, 20, seed=seed) == []


# ---- the probability of a false alarm ----------------------------------------------------------------------


def test_the_risks_of_all_rounds_add_up_to_the_stated_one():
    risk = lambda t: 2 * math.exp(-Observed(None, None, t).level)
    total = sum(risk(t) for t in range(1, 100_001))
    assert total == pytest.approx(FALSE_ALARM * (1 - 1 / 100_001), rel=1e-9)


LEVELS = (1.0, 5.0, 15.2, 30.0)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("z", [0.0, 0.3, 1.0, 3.0, 6.0])
def test_each_end_is_exceeded_with_the_stated_probability(z, level):
    """Test the extreme natural parameters, because they have the heaviest tails."""
    largest = math.exp(-level)
    ends = lambda link: map(float, link.interval(torch.tensor(z, dtype=torch.float64), level))
    low, high = ends(Poisson())
    assert low == 0 and stats.poisson.sf(math.floor(high), math.exp(z)) <= largest
    low, high = ends(Gaussian(0.3))
    assert stats.norm.sf(high, z, math.sqrt(0.3)) <= largest and low == -high
    for count in (1, 30, 400):
        low, high = ends(Binomial(count))
        mean = 1 / (1 + math.exp(-z))
        assert stats.binom.sf(math.floor(high), count, mean) <= largest
        assert stats.binom.cdf(math.ceil(low) - 1, count, 1 - mean) <= largest
    assert list(ends(Bernoulli())) == [-math.inf, math.inf]  # because 0 and 1 are always possible


@pytest.mark.parametrize("z", [0.3, 1.0, 3.0, 6.0])
def test_the_interval_of_counts_is_not_much_wider_than_it_must_be(z):
    least = stats.poisson.isf(math.exp(-15.2), math.exp(z))
    most = float(Poisson().interval(torch.tensor(z, dtype=torch.float64), 15.2)[1])
    assert least <= most <= 1.4 * least


# ---- declared models ---------------------------------------------------------------------------------------


def caution(learner, reward, arm=0, arms=ARMS, t=1):
    seen = Observed(torch.tensor([arm]), torch.tensor([reward], dtype=torch.float64), t)
    return learner.caution(torch.as_tensor(arms)[None], 100, seen)


def test_learners_without_features_and_bernoulli_rewards_declare_no_interval():
    for learner in (UCB1(), BetaThompson(), LaplaceThompson(Poisson()), GLBOMD(Bernoulli(), 0.1)):
        assert caution(learner, 1.0) is None and caution(learner, 1e6) is None
    assert caution(BKB(Linear(), Confidence(NOISE, NORM, rule="const")), 1e6) is None


def test_noise_and_norm_bounds_that_are_too_large_are_not_contradicted():
    for learner in (OFUL(100.0, NORM), OFUL(NOISE, 1000.0), GLBOMD(Gaussian(1e4), NORM)):
        assert caution(learner, 50.0) is None
    assert caution(OFUL(NOISE, 2.0), 2.0) is None  # because ||theta*|| may be 2


def test_successes_of_many_tries_may_contradict_the_norm_bound():
    learner = GLBOMD(Binomial(400), 0.5)  # the means are between 151 and 249
    assert caution(learner, 300.0) is None and caution(learner, 100.0) is None
    assert "link=Binomial(count=400)" in caution(learner, 399.0)
    assert "link=Binomial(count=400)" in caution(learner, 1.0)
    assert told(begun(learner), tries, 10) == []


def test_without_noise_the_norm_bound_alone_decides():
    learner = BKB(RBF(30.0), Confidence(0.0, 2.0, ridge=1e-4))
    assert caution(learner, 2.0) is None and caution(learner, -2.0 * (1 + 1e-12)) is None
    assert "noise=0.0 and norm_bound=2.0" in caution(learner, 2.001)


def test_each_action_has_its_own_limits():
    """A reward that is plausible for an arm with a large norm contradicts the model for an arm with a small norm."""
    arms = np.array([[1.0, 0.0], [0.01, 0.0]])
    counts = GLBOMD(Poisson(), 3.0)  # the means are at most 20 and 1.03
    for learner, reward in ((OFUL(NOISE, 3.0), 3.0), (counts, 30.0)):
        assert caution(learner, reward, 0, arms) is None
        assert caution(learner, reward, 1, arms)
    user = AskTell(ContextualBKB(Linear(), Confidence(NOISE, 3.0)), arms)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        user.tell(0, 3.0)
    user.ask(0.01 * arms)
    with pytest.warns(UserWarning, match="reward=3.0 in round 2"):
        user.tell(0, 3.0)


def test_limits_grow_slowly_with_the_rounds():
    assert caution(OFUL(NOISE, NORM), 1.7)
    assert caution(OFUL(NOISE, NORM), 1.7, t=10_000) is None
    assert caution(OFUL(NOISE, NORM), 2.2, t=10**12)  # the limit is 1 + 0.1 sqrt(2 ln(2e30))


def test_bounds_that_only_some_methods_accept():
    counts = Poisson()
    assert "reward_bound=5.0" in caution(GLMUCB(counts, NORM, reward_bound=5.0), 6.0)
    assert "reward_bound=5.0" in caution(RSGLinCB(counts, NORM, reward_bound=5.0), 6.0)
    assert caution(GLMUCB(counts, NORM), 6.0) is None
    assert "sub_gaussian=0.2 and norm_bound" in caution(GLOC(counts, NORM, sub_gaussian=0.2), 6.0)
    assert caution(GLOC(counts, NORM), 6.0) is None


def test_a_loss_bound_is_declared_in_the_context():
    one = torch.ones((), dtype=torch.float64)
    ball = Ball.of(2)
    task = Task(ball._replace(R=ball.R[0], D=ball.D[0]), 2.0 * one, one)
    user = AskTell(Doubling(PFBCO(0.5)), task)
    user.tell(user.ask(), 2.0)
    with pytest.warns(UserWarning, match=r"loss=-2.5 in round 2 contradicts loss_bound=2.0"):
        user.tell(user.ask(), -2.5)


# ---- one warning per trial ---------------------------------------------------------------------------------


def test_given_warnings_are_stored_in_the_file(tmp_path):
    learner, path = OFUL(NOISE, NORM), tmp_path / "state.npz"
    honest, user = AskTell(learner, ARMS), AskTell(learner, ARMS)
    honest.save(path)
    with pytest.warns(UserWarning, match="contradicts"):
        AskTell.load(path, learner).tell(0, 100.0)
    with pytest.warns(UserWarning, match="contradicts"):
        user.tell(0, 100.0)
    user.save(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        AskTell.load(path, learner).tell(0, 100.0)
        AskTell(learner, ARMS).restore(path).tell(0, 100.0)


def test_an_overflow_and_the_rewards_give_separate_warnings():
    """A dictionary with one slot overflows in a round whose reward follows the model."""
    user = Optimizer(LazyBKB(RBF(1e4), RADIUS, capacity=1), ARMS)
    with pytest.warns(UserWarning, match="overflow") as caught:
        user.observe([0, 1, 2], [0.5, 0.5, 0.5])
    assert len(caught) == 1
    with pytest.warns(UserWarning, match="contradicts") as caught:
        user.tell(3, 50.0)
    assert len(caught) == 1


def test_a_batch_warns_once_and_a_rejected_batch_does_not_warn():
    user = Optimizer(LazyBKB(Linear(), RADIUS), ARMS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=r"feedback\[1\].*nan"):
            user.tell([0, 1], [70.0, math.nan])
    with pytest.warns(UserWarning, match="reward=50.0 in round 2") as caught:
        user.tell([0, 1, 2], [0.5, 50.0, 60.0])
    assert len(caught) == 1 and user.rounds == 3


def test_a_warning_raised_as_an_error_leaves_the_learner_unchanged():
    user = AskTell(OFUL(NOISE, NORM), ARMS)
    before = user.state
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning):
            user.tell(0, 50.0)
    assert user.state is before and user.rounds == 0


def test_play_asks_for_no_caution(monkeypatch):
    monkeypatch.setattr(linear.OFUL, "caution", lambda *_: pytest.fail("play asked"))
    case = BANDITS["linear.OFUL"]
    play(case.learner, case.problem, 5, 2)
