"""Tests of the losses on the ball: values, gradients, tight bounds, and regret against the minimizer."""

import numpy as np
import pytest
import torch

from paperlib.core.streams import Streams
from paperlib.core.trees import tree_take
from paperlib.pfbco.learners.pfbco import PFBCO
from paperlib.pfbco.problems.ball import BallLinear, BallQuadratic
from paperlib.play import play

TKWARGS = {"dtype": torch.float64, "device": "cpu"}
PROBLEMS = [
    BallLinear(1),
    BallLinear(4),
    BallQuadratic(1),
    BallQuadratic(3, 0.0),
    BallQuadratic(3, 0.7),
    BallQuadratic(2, 1.0),
    BallQuadratic(5, 2.5),
]


def instance_of(problem, trials=6, seed=0):
    trials = range(trials) if isinstance(trials, int) else trials
    return problem.init(len(trials), 10, Streams(seed, trials).at(-1), **TKWARGS)


def points(problem, count, seed=1):
    """Return points of the ball, half of them on its surface, R x n."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(count, problem.dim))
    z *= (np.where(np.arange(count) % 2, 1.0, rng.uniform(size=count)) / np.linalg.norm(z, axis=1))[
        :, None
    ]
    return torch.from_numpy(z)


def number(x):
    return torch.tensor(x, **TKWARGS)


def test_values_by_hand():
    linear, quadratic = BallLinear(2), BallQuadratic(2, 0.5)
    instance = instance_of(linear, 1)._replace(vector=number([[0.6, -0.8]]))
    loss, gap = linear.respond(instance, 0, number([[0.5, 0.5]]), "loss", None)
    assert loss.item() == pytest.approx(-0.1) and gap.item() == pytest.approx(0.9)
    instance = instance_of(quadratic, 1)._replace(vector=number([[0.3, 0.4]]))
    loss, gap = quadratic.respond(instance, 0, number([[0.0, 0.0]]), "loss", None)
    assert loss.item() == gap.item() == pytest.approx(0.125)
    gradient, _ = quadratic.respond(instance, 0, number([[0.0, 0.0]]), "gradient", None)
    assert gradient.tolist() == [[-0.3, -0.4]]


@pytest.mark.parametrize("problem", PROBLEMS, ids=repr)
def test_gradients_agree_with_the_loss(problem):
    instance, y = instance_of(problem), points(problem, 6).requires_grad_()
    loss, _ = problem.respond(instance, 2, y, "loss", None)
    gradient, _ = problem.respond(instance, 2, y, "gradient", None)
    torch.testing.assert_close(torch.autograd.grad(loss.sum(), y)[0], gradient.detach())


@pytest.mark.parametrize("problem", PROBLEMS, ids=repr)
def test_the_best_point_is_best_and_the_bounds_are_attained(problem):
    instance = tree_take(instance_of(problem), [2])
    M, G = instance.task.loss_bound, instance.task.grad_bound
    many = instance._replace(vector=instance.vector.expand(400, -1))
    loss, gap = problem.respond(many, 0, points(problem, 400), "loss", None)
    slope = torch.linalg.vector_norm(
        problem.values(many, points(problem, 400))[1].expand(400, -1), dim=1
    )
    assert (
        bool((gap >= -1e-12).all())
        and bool((loss.abs() <= M + 1e-12).all())
        and bool((slope <= G + 1e-12).all())
    )
    assert bool(instance.task.cset.contains(instance.best).all())
    torch.testing.assert_close(
        problem.respond(instance, 0, instance.best, "loss", None)[1],
        torch.zeros(1).double(),
        atol=1e-15,
        rtol=0,
    )
    direction = instance.vector / torch.linalg.vector_norm(instance.vector).clamp(min=1e-300)
    # |f| is largest opposite to the vector or, if z is the center, anywhere on the surface.
    far = -direction if bool(instance.vector.any()) else points(problem, 2)[1:]
    torch.testing.assert_close(problem.values(instance, far)[0].abs(), M)
    torch.testing.assert_close(torch.linalg.vector_norm(problem.values(instance, far)[1], dim=1), G)


@pytest.mark.parametrize("problem", PROBLEMS, ids=repr)
def test_the_loss_belongs_to_the_trial_and_stays(problem):
    batch = instance_of(problem, 5, seed=20)
    assert tree_take(batch, [3]).vector.equal(instance_of(problem, 1, seed=23).vector)
    assert tree_take(batch, [4, 1]).vector.equal(instance_of(problem, [4, 1], seed=20).vector)
    y = points(problem, 5)
    assert (
        problem.respond(batch, 0, y, "loss", None)[0].equal(
            problem.respond(batch, 9, y, "loss", None)[0]
        )
        and problem.context(batch, 7) is batch.task
    )
    if problem.dim > 1 and getattr(problem, "distance", 1.0):
        assert len({round(x, 9) for x in batch.vector[:, 0].tolist()}) == 5


@pytest.mark.parametrize("dim, regret", [(1, 36.6), (2, 43.6), (5, 55.3)])
def test_mean_regret_agrees_with_another_implementation(dim, regret):
    trace = play(PFBCO(1.0), BallLinear(dim), 64, 300, 7000, record=[64])
    found = trace["regret"][:, -1]
    # The standard error of the other implementation was 0.3 (200 trials).
    assert abs(found.mean() - regret) < 4 * np.hypot(0.3, found.std(ddof=1) / np.sqrt(300))
    assert (trace["report.above"] == 0).all()


@pytest.mark.parametrize(
    "make, name",
    [
        (lambda: BallLinear(0), "dim"),
        (lambda: BallLinear(2.0), "dim"),
        (lambda: BallQuadratic(2, -0.1), "distance"),
        (lambda: BallQuadratic(2, float("inf")), "distance"),
    ],
    ids=["zero", "float", "negative", "infinite"],
)
def test_bad_settings_are_refused(make, name):
    with pytest.raises(ValueError, match=f"^{name} must .*, got "):
        make()


def test_an_unknown_feedback_is_refused():
    with pytest.raises(ValueError, match="wants must be one of 'loss', 'gradient', got 'reward'"):
        BallLinear(2).respond(
            instance_of(BallLinear(2)), 0, torch.zeros(6, 2).double(), "reward", None
        )
