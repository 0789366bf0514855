"""OFUGLB and OFULog-r: budgets, decisions against a generic solver, regression tests, degenerate input."""

import numpy as np
import pytest
import torch
from given_uniforms import GivenUniforms

from companion.glbomd.experiments.slsqp import slsqp_decision
from paperlib.core.linalg import Rows
from paperlib.core.rounds import Probe
from paperlib.core.trees import list_leaves
from paperlib.glbomd.learners.ofuglb import OFUGLB
from paperlib.glbomd.learners.ofulogr import OFULogR
from paperlib.glbomd.model.links import Bernoulli, Gaussian, Poisson
from paperlib.glbomd.problems import FixedArms, SphereArms
from paperlib.play import play

TKWARGS = {"dtype": torch.float64, "device": "cpu"}
X3 = torch.tensor([[(0.5, 0.5), (0.6, 0.8), (-0.5, 0.5)]], dtype=torch.float64)
LEARNERS = {
    "ofuglb": OFUGLB(Bernoulli(), 3.0),
    "poisson": OFUGLB(Poisson(), 3.0),
    "ofulogr": OFULogR(3.0),
}
every_learner = pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)


def advance(learner, arms, reward, rounds, state=None):
    """Play ``rounds`` rounds of one trial; ``reward`` maps the round to a number. Return the pulled arms and the state."""
    state, played = state or learner.init(1, arms, None, None, **TKWARGS), []
    for t in range(rounds):
        arm, state = learner.select(state, arms, None)
        state = learner.update(
            state, arms, arm, torch.tensor([float(reward(t))], dtype=torch.float64), None
        )
        played.append(int(arm))
    return played, state


def given_uniforms(trials, rounds=3000):
    return torch.tensor(np.stack([np.random.default_rng([0, i]).random(rounds) for i in trials]))


def test_budgets():
    """Compare b with known values at n = 1..5 (OFUGLB) and t = 2, 3 (OFULog-r), for delta = 0.05 and d = 2 (acceptance A9)."""
    logistic = OFUGLB(Bernoulli(), 2.0, delta=0.05)
    assert [logistic.budget(n + 1, 2) for n in range(1, 6)] == pytest.approx(
        [7.768320996, 9.154615357, 9.965545573, 10.540909718, 10.987196821]
    )
    poisson = OFUGLB(Poisson(), 1.0, delta=0.05)
    assert [poisson.budget(n + 1, 2) for n in range(1, 4)] == pytest.approx(
        [8.710564904, 9.417865190, 9.939328646]
    )
    ridge = OFULogR(2.0, delta=0.05)
    assert [ridge.budget(t, 2) for t in (2, 3)] == pytest.approx([5264.629532633, 4004.382760167])


@pytest.mark.slow
@every_learner
def test_decisions_equal_a_generic_solver(learner):
    """Compare with SLSQP at tolerance 1e-9 in all of 60 rounds where its margin exceeds 1e-5 (acceptance A9)."""
    problem, compared = SphereArms(learner.link, 3.0), 0
    problem = GivenUniforms(problem, given_uniforms([0], 60))
    instance = problem.init(1, 60, None, **TKWARGS)
    state = learner.init(1, problem.context(instance, 0), None, None, **TKWARGS)
    for t in range(60):
        arms = problem.context(instance, t)
        arm, chosen = learner.select(state, arms, None)
        if t > 0:  # the first round has no likelihood
            oracle = slsqp_decision(learner.confidence_set(state, arms), arms[0].numpy())
            compared += oracle.margin > 1e-5
            assert int(arm) == oracle.arm or oracle.margin <= 1e-5
        reward, _ = problem.respond(instance, t, arm, "reward", None)
        state = learner.update(chosen, arms, arm, reward, None)
    assert compared >= 57 and int(state.undecided) == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner, regret",
    [
        (OFUGLB(Bernoulli(), 3.0), (101.95, 107.74, 97.50)),
        (OFULogR(3.0), (286.71, 283.58, 288.01)),
    ],
    ids=["ofuglb", "ofulogr"],
)
def test_regression(learner, regret):
    """Compare with known values, and check that each of 3000 decisions is proved (acceptance A17 and A9)."""
    trace = play(
        learner, GivenUniforms(SphereArms(Bernoulli(), 3.0), given_uniforms(range(3))), 3000, 3
    )
    np.testing.assert_allclose(trace["regret"][:, -1], regret, atol=0.05)
    assert (trace["report.uncertified"] == 0).all()
    assert (trace["report.passes"] < 4 * 3000).all()


@pytest.mark.slow
@pytest.mark.parametrize("norm, missing", [(5.0, 0), (9.0, 1)])
def test_poisson_decisions_are_proved(norm, missing):
    """Check that all of 1500 decisions are proved, and all but one in a thousand at S = 9 (acceptance A9)."""
    trace = play(OFUGLB(Poisson(), norm), SphereArms(Poisson(), norm), 1500, 1)
    assert trace["report.uncertified"][0] <= missing


@every_learner
def test_counts_equal_rows(learner):
    """Check that on a fixed arm set counts choose the same arms as the whole history (acceptance A18)."""
    problem = FixedArms(learner.link, 3.0)
    probe = {"arm": Probe(lambda now: now.action.double())}
    both = [
        play(
            type(learner)(**{**vars(learner), "counts": counts}),
            problem,
            150,
            2,
            record="all",
            probes=probe,
        )
        for counts in (False, True)
    ]
    np.testing.assert_array_equal(both[0]["arm"], both[1]["arm"])
    assert len(np.unique(both[0]["arm"])) > 1


@every_learner
def test_alone_equals_batched_and_inputs_stay(learner):
    """Compare a batch, whose trials differ in rewards and scale, with single trials; used states are unchanged."""
    problem = SphereArms(learner.link, 3.0)
    several = type(learner)(
        **{**vars(learner), "scale": torch.tensor([1.0, 0.3, 0.0], dtype=torch.float64)}
    )
    batch = play(several, problem, 40, 3, seed=5)["regret"]
    for i, scale in enumerate((1.0, 0.3, 0.0)):
        alone = play(
            type(learner)(**{**vars(learner), "scale": scale}), problem, 40, range(i, i + 1), seed=5
        )["regret"]
        np.testing.assert_allclose(alone[0], batch[i], rtol=1e-9)
    _, state = advance(learner, X3, lambda t: t % 2, 20)
    copy = lambda: [
        (x.view if isinstance(x, Rows) else x).clone()
        for _, x in list_leaves(state)
        if isinstance(x, (torch.Tensor, Rows))
    ]
    before = copy()
    advance(learner, X3, lambda t: 1, 5, state)
    assert all(torch.equal(a, b) for a, b in zip(before, copy()))


@every_learner
@pytest.mark.parametrize("counts", [False, True], ids=["rows", "counts"])
def test_degenerate_arms(learner, counts):
    """Check one arm, one dimension, the zero arm and duplicate arms (acceptance A15)."""
    learner = type(learner)(**{**vars(learner), "counts": counts})
    arms = lambda *rows: torch.tensor([rows], dtype=torch.float64)
    assert set(advance(learner, arms((0.6, 0.8)), lambda t: t % 2, 30)[0]) == {0}
    _, state = advance(learner, arms((1.0,), (-0.5,), (0.0,)), lambda t: t % 2, 60)
    assert state.undecided == 0 and state.theta.isfinite().all()
    played, state = advance(learner, arms((0.0, 0.0), (0.0, 0.0)), lambda t: t % 2, 10)
    assert set(played) == {0} and state.passes == 0
    played, state = advance(
        learner, arms((0.5, 0.5), (0.6, 0.8), (0.6, 0.8), (-0.5, 0.5)), lambda t: t % 2, 60
    )
    assert 2 not in played and 1 in played and state.undecided == 0


@every_learner
def test_extreme_rewards(learner):
    """Check rewards all 0, all 1, a tiny ball and one huge count: finite, within the ball, decided (acceptance A15)."""
    for value in (0, 1):
        _, state = advance(learner, X3, lambda t: value, 300)
        assert state.theta.isfinite().all() and state.undecided == 0
        if isinstance(learner, OFUGLB):
            assert float(state.theta.norm()) <= 3.0 * (1 + 1e-12)
    _, state = advance(
        type(learner)(**{**vars(learner), "norm_bound": 1e-6}), X3, lambda t: t % 2, 50
    )
    assert state.theta.isfinite().all() and state.undecided == 0
    if isinstance(learner.link, Poisson):
        _, state = advance(learner, X3, lambda t: 1e6 * (t == 3), 50)
        assert float(state.theta.norm()) == pytest.approx(3.0) and state.undecided == 0


def test_steep_counts_are_decided():
    """Check S = 9 with the estimate deep in the flat part of e^z, where steps that are a thousand times too long are halved."""
    _, state = advance(OFUGLB(Poisson(), 9.0), X3, lambda t: (7 * t) % 2, 60)
    assert state.undecided == 0


def test_first_round_plays_the_arm_with_the_largest_norm():
    arms = torch.tensor([[(0.1, 0.0), (0.6, 0.7), (0.0, -0.3)]], dtype=torch.float64)
    for learner in LEARNERS.values():
        arm, _ = learner.select(learner.init(2, arms, None, None, **TKWARGS), arms, None)
        assert arm.tolist() == [1, 1]


@pytest.mark.parametrize(
    "build, name",
    [
        (lambda: OFUGLB(Gaussian(1.0), 3.0), "link"),
        (lambda: OFUGLB(Poisson(), 701.0), "norm_bound"),
        (lambda: OFUGLB(Bernoulli(), 0.0), "norm_bound"),
        (lambda: OFUGLB(Bernoulli(), 3.0, delta=0.0), "delta"),
        (lambda: OFUGLB(Bernoulli(), 3.0, scale=-1.0), "scale"),
        (lambda: OFULogR(3.0, link=Poisson()), "link"),
        (lambda: OFULogR(-1.0), "norm_bound"),
        (lambda: OFULogR(3.0, delta=2.0), "delta"),
    ],
)
def test_refusals(build, name):
    with pytest.raises(ValueError, match=f"^{name} must be .*, got "):
        build()
