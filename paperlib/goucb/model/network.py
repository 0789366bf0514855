"""The paper's parametric model: a network of one hidden layer with logistic units, by closed forms.

A model is a frozen dataclass that a learner has as a field. Its gradient in w is kept as ``features``, q numbers a point, with which
inner products, g^T v and sum q_i g_i are taken without the gradient itself: for the network q = d + 2 h, where the gradient has
h d + 2 h + 1 numbers.

Source: Liu & Wang (2023), Section 3.1 and Appendix D.1.
Shapes: R trials, N points, d dimensions, h hidden units, dw parameters, q features. Parameters in the order W1 by rows (h d), b1 (h),
w2 (h), b2 (1).
"""

from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from ...core import fields
from ...core.describe import frozen_dataclass


class Model(Protocol):
    """f_w(x) with its derivatives. Points come as R x N x d, parameters as R x dw."""

    def parameters(self, dim: int) -> int:
        """dw for points of ``dim`` dimensions; raises TypeError where the model has no derivative."""

    def value(self, w: Tensor, x: Tensor) -> Tensor:
        """f_w(x), R x N."""

    def slope(self, w: Tensor, x: Tensor) -> Tensor:
        """The gradient in x, R x N x d."""

    def features(self, w: Tensor, x: Tensor) -> Tensor:
        """What stands for the gradient g in w, R x N x q."""

    def gradient(self, features: Tensor) -> Tensor:
        """g itself, R x N x dw."""

    def inner(self, features: Tensor, others: Tensor) -> Tensor:
        """g^T g' for all pairs, R x N x M, also of two different w. ``others``: R x M x q."""

    def norm2(self, features: Tensor) -> Tensor:
        """g^T g, R x N."""

    def forward(self, features: Tensor, v: Tensor) -> Tensor:
        """g^T v, R x N. ``v``: R x dw."""

    def adjoint(self, features: Tensor, weights: Tensor) -> Tensor:
        """sum_i weights_i g_i, R x dw. ``weights``: R x N."""

    def start(self, normal: Tensor, dim: int, gain: float) -> Tensor:
        """Parameters to begin a fit at, ... x dw, from as many standard normals."""


class Weights(NamedTuple):
    """Parameters by layer."""

    W1: Tensor  # ... x h x d
    b1: Tensor  # ... x h
    w2: Tensor  # ... x h
    b2: Tensor  # ... x 1


@frozen_dataclass
class TwoLayerNet:
    """f_w(x) = w2^T s(W1 x + b1) + b2 with the logistic s.

    Source: Liu & Wang (2023), Appendix D.1.

    Attributes:
        hidden: h, units of the hidden layer; the paper's 25.

    Raises:
        ValueError: ``hidden`` below 1.
    """

    hidden: int = fields.size(25)

    def parameters(self, dim: int) -> int:
        """h d + 2 h + 1."""
        return self.hidden * (dim + 2) + 1

    def layers(self, w: Tensor) -> Weights:
        """Views of the parameters. ``w``: ... x dw."""
        h = self.hidden
        dim = (w.shape[-1] - 1) // h - 2
        W1, b1, w2, b2 = w.split([h * dim, h, h, 1], -1)
        return Weights(W1.unflatten(-1, (h, dim)), b1, w2, b2)

    def _hidden(self, w: Tensor, x: Tensor) -> tuple[Weights, Tensor]:
        """The layers and s(W1 x + b1), R x N x h; points or parameters may be shared, 1 x ...."""
        if len(w) != len(x):
            trials = max(len(w), len(x))
            w, x = w.expand(trials, -1), x.expand(trials, -1, -1)
        layers = self.layers(w)
        return layers, torch.sigmoid(torch.baddbmm(layers.b1.unsqueeze(1), x, layers.W1.mT))

    def value(self, w: Tensor, x: Tensor) -> Tensor:
        """f_w(x), R x N."""
        layers, s = self._hidden(w, x)
        return torch.bmm(s, layers.w2.unsqueeze(2)).squeeze(2) + layers.b2

    def slope(self, w: Tensor, x: Tensor) -> Tensor:
        """W1^T a with a = w2 s (1 - s), R x N x d."""
        layers, s = self._hidden(w, x)
        return torch.bmm(layers.w2.unsqueeze(1) * (s * (1 - s)), layers.W1)

    def features(self, w: Tensor, x: Tensor) -> Tensor:
        """x, a = w2 s (1 - s) and s side by side, R x N x (d + 2 h)."""
        layers, s = self._hidden(w, x)
        a = layers.w2.unsqueeze(1) * (s * (1 - s))
        return torch.cat([x.expand(len(a), -1, -1), a, s], -1)

    def _parts(self, features: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        h = self.hidden
        return features.split([features.shape[-1] - 2 * h, h, h], -1)

    def gradient(self, features: Tensor) -> Tensor:
        """(a x^T by rows, a, s, 1), R x N x dw."""
        x, a, s = self._parts(features)
        outer = (a.unsqueeze(-1) * x.unsqueeze(-2)).flatten(-2)
        return torch.cat([outer, a, s, torch.ones_like(s[..., :1])], -1)

    def inner(self, features: Tensor, others: Tensor) -> Tensor:
        """(x^T x' + 1) a^T a' + s^T s' + 1, R x N x M."""
        (x, a, s), (y, b, t) = self._parts(features), self._parts(others)
        return (torch.bmm(x, y.mT) + 1) * torch.bmm(a, b.mT) + torch.bmm(s, t.mT) + 1

    def norm2(self, features: Tensor) -> Tensor:
        """(||x||^2 + 1) ||a||^2 + ||s||^2 + 1, R x N."""
        x, a, s = (part.square().sum(-1) for part in self._parts(features))
        return (x + 1) * a + s + 1

    def forward(self, features: Tensor, v: Tensor) -> Tensor:
        """a^T (V1 x + v1) + s^T v2 + v3, R x N."""
        x, a, s = self._parts(features)
        V1, v1, v2, v3 = self.layers(v)
        inside = torch.baddbmm(v1.unsqueeze(1), x, V1.mT)
        return (a * inside).sum(-1) + torch.bmm(s, v2.unsqueeze(2)).squeeze(2) + v3

    def adjoint(self, features: Tensor, weights: Tensor) -> Tensor:
        """sum_i weights_i (a_i x_i^T by rows, a_i, s_i, 1), R x dw."""
        x, a, s = self._parts(features)
        weighted = weights.unsqueeze(-1) * a
        W1 = torch.bmm(weighted.mT, x).flatten(1)
        b2 = weights.sum(1, keepdim=True)
        return torch.cat([W1, weighted.sum(1), (weights.unsqueeze(-1) * s).sum(1), b2], -1)

    def start(self, normal: Tensor, dim: int, gain: float) -> Tensor:
        """W1 of variance gain^2 / d, b1 of gain^2, w2 of 1 / h, and b2 = 0."""
        h = self.hidden
        scale = normal.new_tensor([gain / dim**0.5, gain, h**-0.5, 0.0])
        times = torch.tensor([h * dim, h, h, 1], device=normal.device)
        return normal * scale.repeat_interleave(times, output_size=self.parameters(dim))

    def linear_layers(self, uniform: Tensor, dim: int) -> Tensor:
        """Parameters as torch.nn.Linear begins: W1, b1 within 1 / sqrt(d) of 0, w2, b2 within 1 / sqrt(h).

        Args:
            uniform: ... x dw, uniform on [0, 1).
        """
        h = self.hidden
        scale = uniform.new_tensor([dim**-0.5, h**-0.5])
        times = torch.tensor([h * (dim + 1), h + 1], device=uniform.device)
        scale = scale.repeat_interleave(times, output_size=self.parameters(dim))
        return (2 * uniform - 1) * scale

    def hessian(self, w: Tensor, x: Tensor) -> Tensor:
        """The Hessian in w, R x N x dw x dw, for checks: zero across units, w2 s'' xx^T within W1 and b1, s' x beside w2."""
        layers, s = self._hidden(w, x)
        first = s * (1 - s)
        second = layers.w2.unsqueeze(1) * first * (1 - 2 * s)
        h, dim = self.hidden, x.shape[-1]
        bar = torch.cat([x, torch.ones_like(x[..., :1])], -1).expand(*s.shape[:2], -1).unsqueeze(2)
        # of each unit: its W1 and b1, then its w2
        blocks = x.new_zeros(*s.shape, dim + 2, dim + 2)
        blocks[..., :-1, :-1] = second[..., None, None] * bar.unsqueeze(-1) * bar.unsqueeze(-2)
        blocks[..., :-1, -1] = blocks[..., -1, :-1] = first.unsqueeze(-1) * bar
        unit = torch.arange(h).unsqueeze(1)
        at = torch.cat([unit * dim + torch.arange(dim), unit + h * dim, unit + h * dim + h], 1)
        H = x.new_zeros(*s.shape[:2], self.parameters(dim), self.parameters(dim))
        H[..., at.unsqueeze(2), at.unsqueeze(1)] = blocks
        return H
