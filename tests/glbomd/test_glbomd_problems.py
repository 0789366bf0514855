"""Problems: the paper's instance to the last printed digit, and the contract of every problem."""

import dataclasses

import numpy as np
import pytest
import torch
from given_uniforms import GivenUniforms

from companion.glbomd.problems.covertype import Covertype
from paperlib.core.describe import describe
from paperlib.core.streams import Streams
from paperlib.glbomd.model.links import Bernoulli, Binomial, Gaussian, Poisson, kappa_ball
from paperlib.glbomd.problems import FixedArms, SphereArms, sphere_instance
from paperlib.learners.reference import LongestArm, UniformArm
from paperlib.play import play

T = 3000
TKWARGS = {"dtype": torch.float64, "device": "cpu"}
PROBLEMS = {
    "sphere": SphereArms(),
    "poisson": SphereArms(Poisson()),
    "gaussian": SphereArms(Gaussian(0.25)),
    "binomial": SphereArms(Binomial(3)),
    "fixed": FixedArms(),
    "on the sphere": FixedArms(Poisson(), shape="sphere"),
    "fixed per trial": FixedArms(per_trial=True),
    "covertype": Covertype(),
    "wide": SphereArms(dim=3, arms=7, norm=1.5),
}
each = pytest.mark.parametrize("name", PROBLEMS)


def start(problem, trials=3, horizon=40, seed=0):
    streams = Streams(seed, range(trials) if isinstance(trials, int) else trials)
    return problem.init(len(streams.seeds), horizon, streams.at(-1), **TKWARGS), streams


def uniform_regret(problem, horizon):
    """Return the expected total regret of drawing an arm uniformly in each round."""
    means = problem.means(horizon)
    return (means.max(1) - means.mean(1)).sum()


def longest_regret(problem, horizon):
    """Return the total regret of always playing the arm with the largest norm."""
    _, arms = sphere_instance(problem.dim, problem.arms, problem.seed, horizon)
    means, longest = problem.means(horizon), (arms * arms).sum(2).argmax(1)
    return (means.max(1) - means[np.arange(horizon), longest]).sum()


def test_paper_instance():
    theta, arms = sphere_instance(5, 20, 109832, T)
    np.testing.assert_allclose(
        theta,
        [0.09603326199, 0.59378452889, 0.24678009307, 0.08331116557, -0.75521942586],
        atol=1e-11,
    )
    np.testing.assert_allclose(
        arms[0, 0],
        [-0.21352481859, 0.04993884998, -0.07837472271, 0.27372515906, -0.77078850373],
        atol=1e-11,
    )
    np.testing.assert_allclose(
        arms[2999, 19],
        [-0.27415410219, -0.24557614666, -0.45808582264, 0.64925456079, 0.25824477665],
        atol=1e-11,
    )
    assert not arms.flags.writeable and np.linalg.norm(arms, axis=2).max() <= 1


def test_draw_order_of_the_public_code():
    """Compare with a plain double loop, and check that a shorter horizon is a prefix."""
    theta, arms = sphere_instance(3, 4, 11, 30)
    g = np.random.default_rng(11)
    u = g.uniform(-1, 1, size=3)
    np.testing.assert_allclose(theta, u / np.linalg.norm(u), rtol=1e-15)
    for t in range(30):
        for k in range(4):
            v, rho = g.normal(size=3), g.uniform()
            np.testing.assert_allclose(
                arms[t, k], v * rho ** (1 / 3) / np.linalg.norm(v), rtol=1e-14
            )
    np.testing.assert_array_equal(sphere_instance(3, 4, 11, 700)[1][:30], arms)


@pytest.mark.parametrize(
    "norm, z, logistic, poisson",
    [
        (
            3,
            (-2.906562, 2.943555),
            (21.035882, 22.135324, 9.220967, 1118.763, 1106.988),
            (18.293790, 20.085537, 0.126607, 18204.260, 16950.223),
        ),
        (
            5,
            (-4.844269, 4.905924),
            (137.095111, 150.419897, 25.029822, 1370.096, 1355.106),
            (127.010461, 148.413159, 0.029558, 87565.323, 80416.138),
        ),
        (
            7,
            (-6.781977, 6.868294),
            (963.308179, 1098.634070, 69.838150, 1453.836, 1437.008),
            (881.810543, 1096.633158, 0.006542, 412839.468, 375531.696),
        ),
        (
            9,
            (-8.719685, 8.830664),
            (6842.825472, 8105.084051, 184.504981, 1481.830, 1463.714),
            (6122.250332, 8103.083928, 0.001382, 1993616.952, 1797232.504),
        ),
    ],
)
def test_numbers_of_the_paper_instance(norm, z, logistic, poisson):
    for link, expected in ((Bernoulli(), logistic), (Poisson(), poisson)):
        problem = SphereArms(link, float(norm))
        natural = problem.natural(T)
        np.testing.assert_allclose((natural.min(), natural.max()), z, atol=6e-7)
        found = [problem.kappa_arms(T), kappa_ball(link, norm), problem.kappa_opt(T)]
        np.testing.assert_allclose(found, expected[:3], rtol=0, atol=6e-7)
        np.testing.assert_allclose(
            [uniform_regret(problem, T), longest_regret(problem, T)],
            expected[3:],
            rtol=0,
            atol=6e-4,
        )


def test_reference_rules_attain_their_regret():
    """Compare the random rule with its expectation, within four standard errors, and the largest-norm rule exactly."""
    problem = SphereArms()
    uniform = play(UniformArm(), problem, T, 20, record=1)["regret"][:, -1]
    assert abs(uniform.mean() - uniform_regret(problem, T)) < 4 * uniform.std(ddof=1) / np.sqrt(20)
    longest = play(LongestArm(), problem, T, 2, record=1)["regret"][:, -1]
    np.testing.assert_allclose(longest, longest_regret(problem, T), rtol=1e-12)


@each
def test_interface_of_problems(name):
    """Check arms, gaps and rewards of every problem.

    Arms are in the unit ball. The gap is 0 for the best arm and mu(best) - mu(arm) for all arms. Rewards are in the support.
    """
    problem = PROBLEMS[name]
    instance, streams = start(problem)
    for t in (0, 1, 39, 7):  # rounds may also be requested out of order
        arms = problem.context(instance, t)
        assert (
            arms.shape[0] in (1, 3)
            and arms.dim() == 3
            and float(torch.linalg.vector_norm(arms, dim=-1).max()) <= 1 + 1e-12
        )
        means = (
            problem.link.mean((arms @ instance.theta.unsqueeze(2)).squeeze(2))
            if instance.theta is not None
            else instance.rounds[t].means.expand(3, -1)
        )
        means = means.expand(3, -1)
        for k in range(arms.shape[1]):
            reward, gap = problem.respond(
                instance, t, torch.tensor([k, 0, k]), "reward", streams.at(t)
            )
            assert reward.shape == gap.shape == (3,)
            problem.link.validate(reward)
            expected = means.amax(1) - means[torch.arange(3), torch.tensor([k, 0, k])]
            torch.testing.assert_close(gap, expected, rtol=1e-12, atol=1e-12)
        _, gap = problem.respond(instance, t, means.argmax(1), "reward", streams.at(t))
        assert float(gap.abs().max()) == 0


@each
def test_trials_do_not_depend_on_the_other_trials(name):
    """Check that trial 2 alone equals trial 2 among three, and that rounds may be requested in any order."""
    problem = PROBLEMS[name]
    (batch, noise), (alone, own) = start(problem), start(problem, [2])
    for t in (31, 0, 5):
        a, b = problem.context(batch, t), problem.context(alone, t)
        torch.testing.assert_close(a[-1:], b, rtol=1e-13, atol=1e-13)
        heard = problem.respond(batch, t, torch.tensor([0, 1, 4]), "reward", noise.at(t))
        again = problem.respond(alone, t, torch.tensor([4]), "reward", own.at(t))
        torch.testing.assert_close(heard[0][2:], again[0], rtol=1e-12, atol=0)
        torch.testing.assert_close(heard[1][2:], again[1], rtol=1e-12, atol=1e-13)


def test_theta_has_the_norm_and_trials_have_their_own():
    for problem in PROBLEMS.values():
        instance, _ = start(problem)
        if instance.theta is not None:
            torch.testing.assert_close(
                torch.linalg.vector_norm(instance.theta, dim=1),
                torch.full((len(instance.theta),), float(problem.norm), dtype=torch.float64),
            )
    instance, _ = start(FixedArms(per_trial=True), 400)
    direction, arms = instance.theta / 3, instance.rounds[3].arms
    assert not torch.equal(arms[0], arms[1])
    # Coordinates of points on the sphere have variance 1/d.
    assert float(direction.mean(0).abs().max()) < 4 / np.sqrt(5 * 400)
    # For points that are uniform in the ball, the norm to the power d = 5 is uniform in [0, 1].
    levels = torch.linalg.vector_norm(arms, dim=-1).flatten() ** 5
    assert abs(float(levels.mean()) - 0.5) < 4 * np.sqrt(1 / 12 / levels.numel())


def test_fixed_arm_sets():
    ball, sphere = (start(FixedArms(shape=shape))[0].rounds[0].arms for shape in ("ball", "sphere"))
    torch.testing.assert_close(
        torch.linalg.vector_norm(sphere, dim=-1), torch.ones(1, 20, dtype=torch.float64)
    )
    assert float(torch.linalg.vector_norm(ball, dim=-1).max()) < 1 and ball.shape == (1, 20, 5)
    shared, _ = start(FixedArms())
    own, _ = start(FixedArms(per_trial=True))
    assert own.rounds[0].arms.shape == (3, 20, 5) and shared.rounds[0] is shared.rounds[39]
    assert not torch.equal(start(FixedArms(seed=1))[0].rounds[0].arms, ball)


def test_covertype():
    problem = Covertype()
    means = problem.means(10)
    assert means.shape == (10, 60) and uniform_regret(problem, 1000) == pytest.approx(
        403.7, abs=0.05
    )
    assert (round(means.min(), 6), round(means.max(), 6)) == (0.103269, 0.880736) and means[
        0
    ].argmax() == 46
    assert problem.kappa_opt(10) == pytest.approx(9.52, abs=5e-3)
    longest = play(LongestArm(), problem, 1000, 2, record=1)["regret"][:, -1]
    np.testing.assert_allclose(longest, 777.5, atol=0.05)


def test_given_uniforms():
    """Check that rewards follow the given uniforms: for Bernoulli rewards 1{u < mu}."""
    uniforms = np.stack([np.random.default_rng([0, trial]).random(50) for trial in range(3)])
    problem = GivenUniforms(SphereArms(), uniforms)
    instance, streams = start(problem, 3, 50)
    for t in range(50):
        arm = torch.tensor([t % 20, 0, 3])
        reward, gap = problem.respond(instance, t, arm, "reward", streams.at(t))
        mean = instance.rounds[t].means[0, arm].numpy()
        np.testing.assert_array_equal(reward.numpy(), uniforms[:, t] < mean)
        np.testing.assert_allclose(gap.numpy(), float(instance.rounds[t].best) - mean, rtol=1e-15)
    assert play(UniformArm(), problem, 50, 3)["regret"].shape[0] == 3


def test_descriptions_distinguish_problems():
    keys = [str(describe(problem)) for problem in PROBLEMS.values()]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    "field, value",
    [
        ("norm", 0.0),
        ("norm", np.inf),
        ("dim", 0),
        ("dim", 2.5),
        ("arms", 0),
        ("seed", -1),
        ("link", "logistic"),
        ("shape", "cube"),
    ],
)
def test_fields_out_of_range(field, value):
    for kind in (SphereArms, FixedArms):
        if field in {f.name for f in dataclasses.fields(kind)}:
            with pytest.raises(ValueError, match=f"^{field} must .*, got "):
                kind(**{field: value})


def test_overflow_is_refused():
    """Check that counts with mean e^S stay below the 1e12 that learners accept."""
    with pytest.raises(
        ValueError, match="norm must be a positive number from 1e-30 to 27, got 28.0"
    ):
        SphereArms(Poisson(), 28.0)
    FixedArms(Poisson(), 27.0), SphereArms(Bernoulli(), 701.0)
