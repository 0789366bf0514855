"""Tests of the network's closed forms, and of user-defined functions as models."""

import math

import numpy as np
import pytest
import torch
from gu_reference import W, X, gradient, value
from torch.func import functional_call, hessian, vmap

from paperlib.core.describe import describe
from paperlib.goucb.model.function import FunctionModel
from paperlib.goucb.model.network import TwoLayerNet

F64 = torch.float64
NET = TwoLayerNet(2)
w = torch.tensor(W)[None]
x = torch.tensor(X)[None]


def network(w, x):
    """The same network of two units, as a user would write it."""
    return w[6:8] @ torch.sigmoid(w[:4].view(2, 2) @ x + w[4:6]) + w[8]


def random(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=F64)


def test_values_of_the_fixture():
    expected = [0.633030261726, 0.705174052231, 0.862385779875]
    np.testing.assert_allclose(NET.value(w, x)[0], expected, atol=1e-12)


def test_gradient_of_the_fixture():
    expected = [
        *(0.374064060289, 0.748128120579, -0.041409783495, -0.082819566991),
        *(0.374064060289, -0.041409783495, 0.524979187479, 0.908877038985, 1.0),
    ]
    got = NET.gradient(NET.features(w, x))[0]
    np.testing.assert_allclose(got[0], expected, atol=1e-12)
    for point, g in zip(X, got):
        np.testing.assert_allclose(g, gradient(W, point), atol=1e-14)
        assert NET.value(w, torch.tensor(point).view(1, 1, 2)).item() == pytest.approx(
            value(W, point)
        )


def test_hessian_of_the_fixture():
    H = NET.hessian(w, x)[0, 0]
    assert torch.linalg.matrix_norm(H, 2).item() == pytest.approx(0.669474264643, abs=1e-12)
    eigenvalues = torch.linalg.eigvalsh(H)
    assert eigenvalues[0].item() == pytest.approx(-0.6694742646, abs=1e-10)
    assert eigenvalues[-1].item() == pytest.approx(0.5573484692, abs=1e-10)


@pytest.mark.parametrize("dim, hidden", [(1, 1), (3, 4), (20, 25)])
def test_closed_forms_equal_autograd(dim, hidden):
    """Values, gradients in w and x, and the Hessian of the smaller networks agree; each trial has another w."""
    net = TwoLayerNet(hidden)
    w, x = random(1, 2, net.parameters(dim)), random(2, 2, 5, dim)

    def function(w, x):
        layers = net.layers(w)
        return layers.w2 @ torch.sigmoid(layers.W1 @ x + layers.b1) + layers.b2[0]

    model = FunctionModel(function, net.parameters)
    assert model.parameters(dim) == net.parameters(dim) == hidden * dim + 2 * hidden + 1
    close = lambda a, b: torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)
    close(net.value(w, x), model.value(w, x))
    close(net.gradient(net.features(w, x)), model.features(w, x))
    close(net.slope(w, x), model.slope(w, x))
    if dim < 20:
        close(net.hessian(w, x), vmap(vmap(hessian(function), (None, 0)))(w, x))


def test_products_without_the_gradient_equal_those_with_it():
    """The kernel identity holds for two different parameters; g^T v, sum q_i g_i and ||g||^2 agree."""
    net = TwoLayerNet(25)
    dw = net.parameters(20)
    F = net.features(random(1, 3, dw), random(2, 3, 7, 20))
    G = net.features(random(3, 3, dw), random(4, 3, 4, 20))
    f, g = net.gradient(F), net.gradient(G)
    v, q = random(5, 3, dw), random(6, 3, 7)
    close = lambda a, b: torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-10)
    close(net.inner(F, G), f @ g.mT)
    close(net.norm2(F), f.square().sum(2))
    close(net.forward(F, v), (f @ v.unsqueeze(2)).squeeze(2))
    close(net.adjoint(F, q), (q.unsqueeze(1) @ f).squeeze(1))


def test_starts_have_the_printed_sizes():
    """Standard deviations of each layer are as documented, and the default is torch's initialization."""
    net = TwoLayerNet(400)
    layers = net.layers(net.start(random(0, 1, net.parameters(100)), 100, 3.0)[0])
    assert layers.W1.std().item() == pytest.approx(0.3, rel=0.02)
    assert layers.b1.std().item() == pytest.approx(3.0, rel=0.1)
    assert layers.w2.std().item() == pytest.approx(0.05, rel=0.1)
    assert layers.b2.item() == 0
    uniform = torch.rand(
        1, net.parameters(100), generator=torch.Generator().manual_seed(0), dtype=F64
    )
    layers = net.layers(net.linear_layers(uniform, 100)[0])
    torch.manual_seed(0)
    for mine, theirs in [
        (layers.W1, torch.nn.Linear(100, 400)),
        (layers.w2, torch.nn.Linear(400, 1)),
    ]:
        assert mine.abs().max().item() == pytest.approx(theirs.weight.abs().max().item(), rel=0.02)
        assert mine.std().item() == pytest.approx(theirs.weight.std().item(), rel=0.1)


def test_a_module_goes_inside_a_function():
    module = torch.nn.Sequential(
        torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1)
    ).double()
    shapes = {name: p.shape for name, p in module.named_parameters()}

    def function(w, x):
        parts = w.split([math.prod(shape) for shape in shapes.values()])
        named = {name: part.view(shape) for (name, shape), part in zip(shapes.items(), parts)}
        return functional_call(module, named, (x,))[0]

    model = FunctionModel(function, 13)
    assert model.parameters(2) == 13
    assert model.features(random(0, 2, 13), random(1, 2, 4, 2)).shape == (2, 4, 13)
    assert "function" in describe(FunctionModel(network, 9))


@pytest.mark.parametrize(
    "function",
    [
        lambda w, x: w.detach().sum(),
        lambda w, x: w.sum(),
        lambda w, x: torch.tensor(float(x[0] > 0)),
    ],
    ids=["detached", "not of x", "constant"],
)
def test_a_function_without_derivative_is_a_type_error(function):
    with pytest.raises(
        TypeError, match="function must have derivatives in w and x that torch computes, got "
    ):
        FunctionModel(function, 3).parameters(2)


@pytest.mark.parametrize("function", [lambda w, x: w * x[0], lambda w, x: 1.0])
def test_a_function_that_gives_no_number_is_refused(function):
    with pytest.raises(ValueError, match="^function must be a function .*, got "):
        FunctionModel(function, 3).parameters(2)


def test_bad_fields_are_refused():
    with pytest.raises(ValueError, match="hidden must be an integer from 1 to 16777216, got 0"):
        TwoLayerNet(0)
    with pytest.raises(
        ValueError,
        match="^function must be a function .*, which may call a module by torch.func.functional_call, got ",
    ):
        FunctionModel(torch.nn.Linear(2, 1), 3)
    with pytest.raises(ValueError, match="^function must be a function .*, got "):
        FunctionModel(None, 3)
    with pytest.raises(ValueError, match="^count must be an integer from 1 to .*, got 0"):
        FunctionModel(network, 0)
