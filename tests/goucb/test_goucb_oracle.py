"""Tests of the oracles of Phase I: their starting points, their fields, and the fit that they return."""

import math

import numpy as np
import pytest
import torch
from gu_reference import fit as dense

from paperlib.core.streams import Streams
from paperlib.goucb.learners.oracle import BoxLeastSquares, Fit, GradientDescent, LevenbergMarquardt
from paperlib.goucb.model.function import FunctionModel
from paperlib.goucb.model.network import TwoLayerNet

F64 = torch.float64
NET = TwoLayerNet(2)


def draw():
    """Return the unused draws of ``init``."""
    return Streams(4, range(2)).at(-1)


def data(n=6):
    generator = torch.Generator().manual_seed(7)
    x = torch.rand(2, n, 2, generator=generator, dtype=F64) * 4 - 2
    return x, (2 * x[:, :, 0]).sin() + x[:, :, 1]


def fits(starts, rho, steps):
    """Return numpy's fit from each start, for two trials, and its objective."""
    x, y = (part.numpy() for part in data())
    starts = starts.numpy()
    return [[dense(start, start, x[i], y[i], rho, steps) for start in starts[i]] for i in range(2)]


def test_starts_of_levenberg_marquardt_have_the_sizes_of_its_gain():
    """W1 has variance gain^2 / d, b1 gain^2, w2 1 / h, and b2 = 0, from normals drawn once per run."""
    net, d = TwoLayerNet(5), 3
    normal = draw().normal("lm_start", 4, net.parameters(d)).numpy()
    scale = np.repeat([3 / math.sqrt(d), 3.0, 1 / math.sqrt(5), 0.0], [15, 5, 5, 1])
    starts = LevenbergMarquardt(gain=3.0).starts(net, d, draw())
    np.testing.assert_allclose(starts, scale * normal, rtol=1e-14)


def test_levenberg_marquardt_takes_its_own_ridge_first_and_the_learners_second():
    x, y = data()
    for own, rho in [(0.5, 0.5), (None, 7.0)]:
        oracle = LevenbergMarquardt(3, 7, 5, 3.0, own)
        starts = oracle.starts(NET, 2, draw())
        found = oracle.first(NET, x, y, starts, 7.0)
        again = oracle.again(NET, x, y, Fit(starts[:, 1], starts[:, 0]), 7.0)
        for i, dense_fits in enumerate(fits(starts, rho, 7)):
            best = np.argmin([objective for _, objective in dense_fits])
            np.testing.assert_allclose(found.w[i], dense_fits[best][0], atol=1e-8)
            assert torch.equal(found.anchor[i], starts[i, best])
            begun = starts[i].numpy()
            w, _ = dense(begun[1], begun[0], x[i].numpy(), y[i].numpy(), rho, 5)
            np.testing.assert_allclose(again.w[i], w, atol=1e-8)


def test_the_first_fit_takes_steps_and_later_ones_take_more():
    """Each number of steps agrees with numpy's loop, whose result differs for one step more or less; the anchor is unchanged."""
    x, y = data()
    oracle = LevenbergMarquardt(1, steps=4, more=2, gain=2.0)
    starts = oracle.starts(NET, 2, draw())
    first = oracle.first(NET, x, y, starts, 0.1)
    again = oracle.again(NET, x, y, first, 0.1)
    for i, [(w, _)] in enumerate(fits(starts, 0.1, 4)):
        np.testing.assert_allclose(first.w[i], w, atol=1e-9)
        start, told = starts[i, 0].numpy(), (x[i].numpy(), y[i].numpy(), 0.1)
        np.testing.assert_allclose(again.w[i], dense(w, start, *told, 2)[0], atol=1e-9)
        for other in (1, 3):
            assert np.abs(dense(w, start, *told, other)[0] - again.w[i].numpy()).max() > 1e-6
    assert torch.equal(again.anchor, starts[:, 0])
    assert torch.equal(LevenbergMarquardt(more=0).again(NET, x, y, first, 0.1).w, first.w)


def test_a_per_trial_ridge_is_used_by_each_trial():
    x, y = data()
    oracle = LevenbergMarquardt(3, 6, 2)
    starts = oracle.starts(NET, 2, draw())
    both = oracle.first(NET, x, y, starts, torch.tensor([0.01, 2.0], dtype=F64))
    again = oracle.again(NET, x, y, both, torch.tensor([0.01, 2.0], dtype=F64))
    for i, rho in enumerate([0.01, 2.0]):
        one = oracle.first(NET, x, y, starts, rho)
        torch.testing.assert_close(both.w[i], one.w[i], rtol=1e-12, atol=1e-12)
        then = oracle.again(NET, x, y, one, rho)
        torch.testing.assert_close(again.w[i], then.w[i], rtol=1e-12, atol=1e-12)


def test_gradient_descent_starts_at_its_start():
    """The starts are the default of torch.nn.Linear, ones, or uniform on [0, 1)."""
    net, d = TwoLayerNet(50), 4
    uniform = draw().uniform("sgd_start", 1, net.parameters(d))
    starts = {
        start: GradientDescent(start=start).starts(net, d, draw())
        for start in ("default", "ones", "uniform01")
    }
    assert torch.equal(starts["ones"], torch.ones(2, 1, 301, dtype=F64))
    assert torch.equal(starts["uniform01"], uniform)
    assert uniform.amin() < 0.01 and uniform.amax() > 0.99
    torch.manual_seed(0)
    layers = torch.nn.Linear(d, 50), torch.nn.Linear(50, 1)
    for part, layer in zip(starts["default"].split([250, 51], 2), layers):
        bound = layer.in_features**-0.5
        assert all(p.abs().max() <= bound for p in layer.parameters())
        assert 0.9 * bound < layer.weight.abs().max() and bool((part.abs() <= bound).all())
        assert part.amax() > 0.9 * bound and part.amin() < -0.9 * bound
    with pytest.raises(
        ValueError, match="start must be 'ones' or 'uniform01', because.*, got 'default'"
    ):
        GradientDescent().starts(FunctionModel(lambda w, x: w @ x, 2), 2, draw())


def test_gradient_descent_continues_from_the_last_fit():
    """Three steps followed by two equal five."""
    x, y = data()
    starts = GradientDescent(start="uniform01").starts(NET, 2, draw())
    three = GradientDescent(0.05, 3).first(NET, x, y, starts, None)
    more = GradientDescent(0.05, 2).again(NET, x, y, three, None)
    five = GradientDescent(0.05, 5).first(NET, x, y, starts, None)
    torch.testing.assert_close(more.w, five.w, rtol=0, atol=1e-14)
    assert torch.equal(more.anchor, starts[:, 0])


def wave(w, x):
    return (w[0] * x[0]).sin() + 0.1 * w[0]


def test_box_least_squares_keeps_the_lowest_of_its_fits():
    """The sum of squares has several minima, and the starts end at different ones. The other outputs are as drawn."""
    model, oracle = FunctionModel(wave, 1), BoxLeastSquares(-4.0, 8.0, 5)
    x = torch.linspace(-3, 3, 15, dtype=F64).view(1, 15, 1).expand(2, -1, -1)
    y = model.value(torch.tensor([[1.3], [2.9]], dtype=F64), x)
    starts = oracle.starts(model, 1, draw())
    assert torch.equal(starts, 12 * draw().uniform("box_start", 5, 1) - 4)
    found = oracle.first(model, x, y, starts, None)
    loss = lambda w: (model.value(w, x) - y).square().sum(1)
    each = torch.stack(
        [loss(oracle.first(model, x, y, starts[:, [s]], None).w) for s in range(5)], 1
    )
    assert bool((each.amax(1) > each.amin(1) + 0.1).all())
    assert bool((each[:, 0] > each.amin(1) + 0.1).any())
    torch.testing.assert_close(loss(found.w), each.amin(1), rtol=0, atol=1e-9)
    assert torch.equal(found.anchor, starts[range(2), each.argmin(1)])
    again = oracle.again(model, x, y, Fit(starts[:, 0], found.anchor), None)
    torch.testing.assert_close(loss(again.w), each[:, 0], rtol=0, atol=1e-9)
    assert torch.equal(again.anchor, found.anchor)
