"""The paper's parametric model: a network with one hidden layer of logistic units, with closed-form derivatives.

A model is a frozen dataclass that a learner holds as a field. Its gradient in w is stored as ``features``, q numbers per point. Inner
products, g^T v and sum q_i g_i are computed from the features, without forming the gradient. For the network q = d + 2 h, while the
gradient has h d + 2 h + 1 numbers. For example, with d = 20 and h = 25 these are 70 and 551 numbers.

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
    """Interface of a parametric model f_w(x) with its derivatives. Points have shape R x N x d, parameters R x dw."""

    def parameters(self, dim: int) -> int:
        """Return dw for points of ``dim`` dimensions; raise TypeError if the model has no derivative."""

    def value(self, w: Tensor, x: Tensor) -> Tensor:
        """Return f_w(x), R x N."""

    def slope(self, w: Tensor, x: Tensor) -> Tensor:
        """Return the gradient in x, R x N x d."""

    def features(self, w: Tensor, x: Tensor) -> Tensor:
        """Return a compact representation of the gradient g in w, R x N x q."""

    def gradient(self, features: Tensor) -> Tensor:
        """Return g itself, R x N x dw."""

    def inner(self, features: Tensor, others: Tensor) -> Tensor:
        """Return g^T g' for all pairs, R x N x M; the two sets of gradients may be taken at different w. ``others``: R x M x q."""

    def norm2(self, features: Tensor) -> Tensor:
        """Return g^T g, R x N."""

    def forward(self, features: Tensor, v: Tensor) -> Tensor:
        """Return g^T v, R x N. ``v``: R x dw."""

    def adjoint(self, features: Tensor, weights: Tensor) -> Tensor:
        """Return sum_i weights_i g_i, R x dw. ``weights``: R x N."""

    def start(self, normal: Tensor, dim: int, gain: float) -> Tensor:
        """Return initial parameters for a fit, ... x dw, from as many standard normal numbers."""


class Weights(NamedTuple):
    """Parameters of the network, by layer."""

    W1: Tensor  # ... x h x d
    b1: Tensor  # ... x h
    w2: Tensor  # ... x h
    b2: Tensor  # ... x 1


@frozen_dataclass
class TwoLayerNet:
    """Network with one hidden layer, f_w(x) = w2^T s(W1 x + b1) + b2, where s is the logistic function.

    Source: Liu & Wang (2023), Appendix D.1.

    Attributes:
        hidden: h, number of hidden units; the paper uses 25.

    Raises:
        ValueError: ``hidden`` is below 1.

    Examples:
        >>> from paperlib.goucb import TwoLayerNet
        >>> import torch
        >>> net = TwoLayerNet(hidden=2)
        >>> net.parameters(dim=3)
        11
        >>> w, x = torch.zeros(1, 11), torch.ones(1, 4, 3)
        >>> net.value(w, x).tolist()
        [[0.0, 0.0, 0.0, 0.0]]
        >>> net.features(w, x).shape, net.gradient(net.features(w, x)).shape
        (torch.Size([1, 4, 7]), torch.Size([1, 4, 11]))
    """

    hidden: int = fields.size(25)

    def parameters(self, dim: int) -> int:
        """Return dw = h d + 2 h + 1."""
        return self.hidden * (dim + 2) + 1

    def layers(self, w: Tensor) -> Weights:
        """Return the parameters by layer, as views. ``w``: ... x dw."""
        h = self.hidden
        dim = (w.shape[-1] - 1) // h - 2
        W1, b1, w2, b2 = w.split([h * dim, h, h, 1], -1)
        return Weights(W1.unflatten(-1, (h, dim)), b1, w2, b2)

    def _hidden(self, w: Tensor, x: Tensor) -> tuple[Weights, Tensor]:
        """Return the layers and s(W1 x + b1), R x N x h. Points or parameters may be shared by all trials, 1 x ...."""
        # ``baddbmm`` does not broadcast over trials, so a shared side is expanded.
        if len(w) != len(x):
            trials = max(len(w), len(x))
            w, x = w.expand(trials, -1), x.expand(trials, -1, -1)
        layers = self.layers(w)
        return layers, torch.sigmoid(torch.baddbmm(layers.b1.unsqueeze(1), x, layers.W1.mT))

    def value(self, w: Tensor, x: Tensor) -> Tensor:
        """Return f_w(x), R x N."""
        layers, s = self._hidden(w, x)
        return torch.bmm(s, layers.w2.unsqueeze(2)).squeeze(2) + layers.b2

    def slope(self, w: Tensor, x: Tensor) -> Tensor:
        """Return the gradient in x, W1^T a with a = w2 s (1 - s), R x N x d."""
        layers, s = self._hidden(w, x)
        return torch.bmm(layers.w2.unsqueeze(1) * (s * (1 - s)), layers.W1)

    def features(self, w: Tensor, x: Tensor) -> Tensor:
        """Return x, a = w2 s (1 - s) and s, concatenated, R x N x (d + 2 h)."""
        layers, s = self._hidden(w, x)
        a = layers.w2.unsqueeze(1) * (s * (1 - s))
        return torch.cat([x.expand(len(a), -1, -1), a, s], -1)

    def _parts(self, features: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        h = self.hidden
        return features.split([features.shape[-1] - 2 * h, h, h], -1)

    def gradient(self, features: Tensor) -> Tensor:
        """Return the gradient in w, (a x^T by rows, a, s, 1), R x N x dw."""
        x, a, s = self._parts(features)
        outer = (a.unsqueeze(-1) * x.unsqueeze(-2)).flatten(-2)
        return torch.cat([outer, a, s, torch.ones_like(s[..., :1])], -1)

    def inner(self, features: Tensor, others: Tensor) -> Tensor:
        """Return g^T g' = (x^T x' + 1) a^T a' + s^T s' + 1, R x N x M."""
        (x, a, s), (y, b, t) = self._parts(features), self._parts(others)
        # Every factor is an inner product over d or h numbers, so the gradient of dw numbers is
        # never formed.
        return (torch.bmm(x, y.mT) + 1) * torch.bmm(a, b.mT) + torch.bmm(s, t.mT) + 1

    def norm2(self, features: Tensor) -> Tensor:
        """Return g^T g = (||x||^2 + 1) ||a||^2 + ||s||^2 + 1, R x N."""
        x, a, s = (part.square().sum(-1) for part in self._parts(features))
        return (x + 1) * a + s + 1

    def forward(self, features: Tensor, v: Tensor) -> Tensor:
        """Return g^T v = a^T (V1 x + v1) + s^T v2 + v3, R x N."""
        x, a, s = self._parts(features)
        V1, v1, v2, v3 = self.layers(v)
        inside = torch.baddbmm(v1.unsqueeze(1), x, V1.mT)
        return (a * inside).sum(-1) + torch.bmm(s, v2.unsqueeze(2)).squeeze(2) + v3

    def adjoint(self, features: Tensor, weights: Tensor) -> Tensor:
        """Return sum_i weights_i g_i = sum_i weights_i (a_i x_i^T by rows, a_i, s_i, 1), R x dw."""
        x, a, s = self._parts(features)
        weighted = weights.unsqueeze(-1) * a
        W1 = torch.bmm(weighted.mT, x).flatten(1)
        b2 = weights.sum(1, keepdim=True)
        return torch.cat([W1, weighted.sum(1), (weights.unsqueeze(-1) * s).sum(1), b2], -1)

    def start(self, normal: Tensor, dim: int, gain: float) -> Tensor:
        """Return normal initial parameters: W1 has variance gain^2 / d, b1 gain^2, w2 1 / h, and b2 = 0."""
        h = self.hidden
        scale = normal.new_tensor([gain / dim**0.5, gain, h**-0.5, 0.0])
        times = torch.tensor([h * dim, h, h, 1], device=normal.device)
        return normal * scale.repeat_interleave(times, output_size=self.parameters(dim))

    def linear_layers(self, uniform: Tensor, dim: int) -> Tensor:
        """Return the default initialization of ``torch.nn.Linear``: W1, b1 within 1 / sqrt(d) of 0; w2, b2 within 1 / sqrt(h).

        Args:
            uniform: ... x dw, uniform on [0, 1).
        """
        h = self.hidden
        scale = uniform.new_tensor([dim**-0.5, h**-0.5])
        times = torch.tensor([h * (dim + 1), h + 1], device=uniform.device)
        scale = scale.repeat_interleave(times, output_size=self.parameters(dim))
        return (2 * uniform - 1) * scale

    def hessian(self, w: Tensor, x: Tensor) -> Tensor:
        """Return the Hessian in w, R x N x dw x dw, for checks.

        Entries that mix two units are zero. The block of one unit has w2 s'' xx^T for W1 and b1, with x extended by a 1, and s' x between these
        and w2.
        """
        layers, s = self._hidden(w, x)
        first = s * (1 - s)
        second = layers.w2.unsqueeze(1) * first * (1 - 2 * s)
        h, dim = self.hidden, x.shape[-1]
        bar = torch.cat([x, torch.ones_like(x[..., :1])], -1).expand(*s.shape[:2], -1).unsqueeze(2)
        # One block per unit: first its row of W1 and its b1, then its w2.
        blocks = x.new_zeros(*s.shape, dim + 2, dim + 2)
        blocks[..., :-1, :-1] = second[..., None, None] * bar.unsqueeze(-1) * bar.unsqueeze(-2)
        blocks[..., :-1, -1] = blocks[..., -1, :-1] = first.unsqueeze(-1) * bar
        # The parameter vector is ordered by layer, not by unit, so each block is scattered to its
        # positions.
        unit = torch.arange(h).unsqueeze(1)
        at = torch.cat([unit * dim + torch.arange(dim), unit + h * dim, unit + h * dim + h], 1)
        H = x.new_zeros(*s.shape[:2], self.parameters(dim), self.parameters(dim))
        H[..., at.unsqueeze(2), at.unsqueeze(1)] = blocks
        return H
