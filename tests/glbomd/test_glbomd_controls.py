"""Algorithms without features and Laplace Thompson sampling, compared with simple one-trial implementations."""

import numpy as np
import pytest
import torch
from scipy import special
from scipy.optimize import minimize

from companion.glbomd.problems.covertype import Covertype
from paperlib.asktell import AskTell
from paperlib.core.rounds import Probe
from paperlib.core.streams import CLIP, Streams
from paperlib.core.trees import tree_take
from paperlib.glbomd.learners.controls import UCB1, BetaThompson, LaplaceThompson
from paperlib.glbomd.model.links import Gaussian, Poisson
from paperlib.glbomd.problems import FixedArms, SphereArms
from paperlib.learners.reference import LongestArm, UniformArm
from paperlib.play import play

TKWARGS = {"dtype": torch.float64, "device": "cpu"}
PROBLEM = FixedArms(arms=6, dim=3)
ARM = {"arm": Probe(lambda round: round.action), "reward": Probe(lambda round: round.feedback)}


def history(learner, horizon, trials=2, problem=PROBLEM):
    """Return arms and rewards of a run, R x T."""
    trace = play(learner, problem, horizon, trials, record="all", probes=ARM)
    return trace["arm"].astype(int), trace["reward"]


@pytest.mark.parametrize("scale", [1.0, 0.25])
def test_ucb1_against_plain_version(scale):
    arms, rewards = history(UCB1(scale), 200)
    assert arms[:, :6].tolist() == [list(range(6))] * 2
    for arm, reward in zip(arms, rewards):
        for t in range(6, 200):
            n = np.array([(arm[:t] == k).sum() for k in range(6)])
            mean = np.array([reward[:t][arm[:t] == k].mean() for k in range(6)])
            index = mean + scale * np.sqrt(2 * np.log(t) / n)
            assert index[arm[t]] >= index.max() - 1e-12


def test_beta_thompson_against_plain_version():
    arms, rewards = history(BetaThompson(), 60)
    streams = Streams(0, range(2))
    for t in range(60):
        u = streams.at(t).uniform("posterior", 6).numpy().clip(CLIP, 1 - CLIP)
        for i in range(2):
            wins = np.array([rewards[i, :t][arms[i, :t] == k].sum() for k in range(6)])
            n = np.array([(arms[i, :t] == k).sum() for k in range(6)])
            assert arms[i, t] == special.betaincinv(1 + wins, 1 + n - wins, u[i]).argmax()


@pytest.mark.parametrize("link", [None, Poisson(), Gaussian(0.5)])
def test_laplace_thompson_against_plain_version(link):
    """Compare with the mode from SciPy's BFGS on the raw history, a dense Hessian, and a sample through its Cholesky factor."""
    problem = PROBLEM if link is None else FixedArms(link, 1.0, arms=6, dim=3)
    learner = LaplaceThompson(problem.link, ridge=1.5, scale=0.7)
    arms, rewards = history(learner, 25, 2, problem)
    streams, instance = (
        Streams(0, range(2)),
        problem.init(2, 25, Streams(0, range(2)).at(-1), **TKWARGS),
    )
    X = problem.context(instance, 0)[0].numpy()
    g, f = (
        problem.link.dispersion,
        lambda name, z: getattr(problem.link, name)(torch.tensor(z)).numpy(),
    )
    for i in range(2):
        for t in (0, 1, 10, 24):
            x, r = X[arms[i, :t]], rewards[i, :t]
            loss = lambda th: (f("log_partition", x @ th) - r * (x @ th)).sum() / g + 0.75 * th @ th
            grad = lambda th: x.T @ (f("mean", x @ th) - r) / g + 1.5 * th
            mode = minimize(loss, np.zeros(3), jac=grad, method="BFGS", options={"gtol": 1e-10}).x
            H = 1.5 * np.eye(3) + (x.T * f("slope", x @ mode)) @ x / g
            xi = streams.at(t).normal("posterior", 3)[i].numpy()
            index = X @ (mode + 0.7 * np.linalg.solve(np.linalg.cholesky(H).T, xi))
            assert index[arms[i, t]] >= index.max() - 1e-6


def test_laplace_posterior_has_the_covariance_of_the_hessian():
    learner, arms = LaplaceThompson(), torch.eye(2, dtype=torch.float64).unsqueeze(0)
    streams = Streams(3, range(4000))
    state = learner.init(4000, arms, None, streams.at(-1), **TKWARGS)
    H = torch.tensor([[3.0, 1.0], [1.0, 2.0]], dtype=torch.float64)
    state = state._replace(
        precision=H.expand(4000, 2, 2),
        theta=torch.tensor([0.5, 0.2], dtype=torch.float64).expand(4000, 2),
    )
    arm, _ = learner.select(state, arms, streams.at(0))
    # Arm 0 wins with probability P(N(0.3, v) > 0), where v is the variance of a difference of the coordinates.
    C = np.linalg.inv(H.numpy())
    p = special.ndtr(0.3 / np.sqrt(C[0, 0] + C[1, 1] - 2 * C[0, 1]))
    assert abs(float((arm == 0).double().mean()) - p) < 4 * np.sqrt(p * (1 - p) / 4000)


@pytest.mark.parametrize(
    "learner", [UniformArm(), LongestArm(), UCB1(), BetaThompson(), LaplaceThompson()]
)
def test_alone_equals_batched_and_slices(learner):
    for problem in (PROBLEM, FixedArms(arms=6, dim=3, per_trial=True)):
        together, _ = history(learner, 40, 3, problem)
        alone, _ = history(learner, 40, [2], problem)
        assert (together[2] == alone[0]).all()
    streams = Streams(0, range(3))
    instance = PROBLEM.init(3, 5, streams.at(-1), **TKWARGS)
    arms = PROBLEM.context(instance, 0)
    state = learner.init(3, arms, 5, streams.at(-1), **TKWARGS)
    whole, _ = learner.select(state, arms, streams.at(0))
    part, _ = learner.select(tree_take(state, [2, 0]), arms, Streams(0, [2, 0]).at(0))
    assert torch.equal(whole[[2, 0]], part)


def test_reference_rules():
    arms, _ = history(UniformArm(), 600, 10)
    share = np.bincount(arms.ravel(), minlength=6) / arms.size
    assert (abs(share - 1 / 6) < 4 * np.sqrt(5 / 36 / arms.size)).all()
    longest, _ = history(LongestArm(), 30, 2, SphereArms(arms=4))
    instance = SphereArms(arms=4).init(2, 30, Streams(0, range(2)).at(-1), **TKWARGS)
    expected = [
        int(np.linalg.norm(instance.rounds[t].arms[0].numpy(), axis=1).argmax()) for t in range(30)
    ]
    assert longest.tolist() == [expected] * 2


@pytest.mark.slow
def test_covertype_controls():
    """Compare the regret over 1000 rounds with 20 trials of other noise, within four combined standard errors."""
    # No interval was recorded for UCB1, so 2 is used as its half width.
    expected = {
        UCB1(): (334.8, 2.0),
        UCB1(0.25): (125.9, 12.1),
        LaplaceThompson(): (56.0, 4.6),
        BetaThompson(): (176.3, 12.2),
    }
    for learner, (mean, half) in expected.items():
        trials = 4 if isinstance(learner, BetaThompson) else 10
        regret = play(learner, Covertype(), 1000, trials, record=1)["regret"][:, -1]
        assert abs(regret.mean() - mean) < 4 * np.hypot(
            half / 2, regret.std(ddof=1) / np.sqrt(trials)
        ), learner


@pytest.mark.parametrize(
    "learner, bad",
    [
        (UCB1(), 1.5),
        (BetaThompson(), 0.5),
        (LaplaceThompson(), 0.5),
        (UniformArm(), np.nan),
        (LaplaceThompson(Poisson()), -1.0),
    ],
)
def test_ask_tell_refuses_rewards_outside_the_model(learner, bad):
    user = AskTell(learner, np.eye(3))
    user.tell(user.ask(), 1.0)
    with pytest.raises(ValueError, match="^(reward|feedback) must be .*, got "):
        user.tell(user.ask(), bad)
    assert user.rounds == 1


@pytest.mark.parametrize(
    "make, field",
    [
        (lambda: UCB1(-1.0), "scale"),
        (lambda: BetaThompson(0.0), "successes"),
        (lambda: BetaThompson(1.0, np.inf), "failures"),
        (lambda: LaplaceThompson("logistic"), "link"),
        (lambda: LaplaceThompson(ridge=0.0), "ridge"),
        (lambda: LaplaceThompson(scale=np.nan), "scale"),
    ],
)
def test_fields_out_of_range(make, field):
    with pytest.raises(ValueError, match=f"^{field} must .*, got "):
        make()
