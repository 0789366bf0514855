"""Quadrature Fourier features: the known errors of the approximated kernel, and exact GP-UCB with enough features."""

import numpy as np
import pytest
import torch

from paperlib.bkb import QFFUCB, RBF, RKHS, Confidence, ExactGPUCB
from paperlib.play import play

LINE = torch.linspace(0, 1, 101, dtype=torch.float64)[None, :, None]


def error(gamma, size, arms=LINE):
    kernel = RBF(gamma)
    Z = QFFUCB(kernel, Confidence(0.1, 1.0), size).features(arms, None)[0]
    return float((Z.T @ Z - kernel(arms, arms)[0]).abs().max())


@pytest.mark.parametrize("size, least, most", [(64, 0.1, 0.25), (80, 1e-4, 1e-3), (100, 0, 1e-8)])
def test_enough_nodes_approximate_the_kernel(size, least, most):
    assert least <= error(100.0, size) <= most


def test_a_lengthscale_for_each_of_two_dimensions():
    arms = torch.tensor(np.random.default_rng(0).random((1, 30, 2)))
    assert error((3.0, 1.0), 20, arms) < 1e-6


def test_with_enough_nodes_it_is_exact():
    problem, radius = RKHS(arms=50, gamma=30.0, noise=0.3), Confidence(0.3, 3.0)
    ours, exact = (
        play(learner, problem, 60, 3, record="all")["regret"]
        for learner in (QFFUCB(problem.kernel, radius, 80), ExactGPUCB(problem.kernel, radius))
    )
    np.testing.assert_allclose(ours, exact, atol=1e-6)


def test_too_many_nodes_are_refused():
    with pytest.raises(
        ValueError, match=r"size must give at most 4096 nodes, size\^3 in 3 dimensions, got 40"
    ):
        QFFUCB(RBF(1.0), Confidence(0.1, 1.0)).features(torch.rand(1, 5, 3), None)
