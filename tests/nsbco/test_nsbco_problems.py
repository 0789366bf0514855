"""Tests of the rewards of the drifting quadratic and of the random walk against their formulas."""

import numpy as np
import pytest
import torch

from paperlib.core.streams import Streams
from paperlib.nsbco.problems.paths import Walk
from paperlib.nsbco.problems.quadratic import QuadraticDrift


@pytest.mark.parametrize("noise", ["uniform", "rademacher", "bernoulli"])
def test_noise_of_each_kind(noise):
    """At x = theta + (0, 0.6) the gap is 0.6^2 / 2 = 0.18, for every noise."""
    problem = QuadraticDrift(noise=noise, amplitude=0.1)
    draw = Streams(0, range(8)).at(0)
    instance = problem.init(8, 10, draw, dtype=torch.float64, device="cpu")
    x = torch.tensor([0.5, 0.6], dtype=torch.float64).expand(8, -1)
    y, gap = problem.respond(instance, 0, x, "reward", draw)
    f, u = float(problem.best(instance, 0)[0]) - 0.18, draw.uniform("reward")
    expected = {
        "uniform": f + 0.1 * (2 * u - 1),
        "rademacher": f + 0.1 * torch.where(u < 0.5, 1.0, -1.0).double(),
        "bernoulli": torch.where(u < (1 + f) / 2, 1.0, -1.0).double(),
    }
    torch.testing.assert_close(y, expected[noise])
    torch.testing.assert_close(gap, torch.full_like(y, 0.18))


def test_a_walk_is_reflected_at_the_sphere():
    """A step that would end 0.1 outside the sphere ends 0.1 inside the sphere, in the same direction."""
    walk = Walk(0.1).begin([3], 400, 2, 0.5, None)[0]
    steps = 0.1 * np.random.default_rng(1003).standard_normal((400, 2))
    free = np.vstack([np.zeros((1, 2)), walk[:-1]]) + steps
    far = np.linalg.norm(free, axis=1, keepdims=True)
    assert 20 < (far > 0.5).sum() < 380
    np.testing.assert_allclose(walk, free / far * np.where(far > 0.5, 1.0 - far, far), atol=1e-12)
