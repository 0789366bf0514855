"""Any function of parameters and a point as a model, its gradients by torch.func.

Shapes: R trials, N points, d dimensions, dw parameters.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.func import grad, vmap

from ...core.describe import frozen_dataclass
from ...core.validation import check_size, raise_invalid


def paraboloid(w: Tensor, x: Tensor) -> Tensor:
    """An example of three parameters for any d: height, place and width of a top."""
    return w[0] - w[2] * (x - w[1]).square().sum()


@frozen_dataclass
class FunctionModel:
    """f_w(x) by a function of torch, with its gradients in full.

    Attributes:
        function: (w, x) -> f, of dw and d numbers to a tensor of one, differentiable in both, from a file or a notebook's cell. A
            torch.nn.Module goes inside it, by ``torch.func.functional_call``.
        count: dw, or a function of d that says it.

    Raises:
        ValueError: no function (a module is none), or a number of parameters below 1.
    """

    function: Callable[[Tensor, Tensor], Tensor]
    count: int | Callable[[int], int]

    def __post_init__(self):
        if not callable(self.function) or isinstance(self.function, torch.nn.Module):
            allowed = (
                "a function (w, x) -> f; a module goes inside it, by torch.func.functional_call"
            )
            raise_invalid("function", type(self.function).__name__, allowed)
        if not callable(self.count):
            check_size("count", self.count)

    def parameters(self, dim: int) -> int:
        """dw; tries the function once.

        Raises:
            TypeError: it has no derivative in w and x, or cannot be batched: it branches on values, draws, or takes numbers out of tensors.
            ValueError: it gives anything but one number, or no number of parameters.
        """
        dw = check_size("count", self.count(dim) if callable(self.count) else self.count)
        with torch.enable_grad():
            w = torch.full((dw,), 0.5, dtype=torch.float64, requires_grad=True)
            x = torch.full((dim,), 0.25, dtype=torch.float64, requires_grad=True)
            f = self.function(w, x)
            if not isinstance(f, Tensor) or f.dim() or not f.is_floating_point():
                given = tuple(f.shape) if isinstance(f, Tensor) else type(f).__name__
                raise_invalid(
                    "function", given, "one that gives a tensor of one number, of shape ()"
                )
            parts = (
                torch.autograd.grad(f, (w, x), allow_unused=True) if f.requires_grad else (None,)
            )
        if None in parts:
            raise TypeError(
                f"function={self.function!r} has no derivative in w and x; allowed: one that torch differentiates"
            )
        many = w.detach().unsqueeze(0), x.detach().expand(1, 2, dim)
        try:
            for batched in (self.value, self.slope, self.features):
                batched(*many)
        except RuntimeError as error:
            raise TypeError(
                f"function={self.function!r} cannot be batched ({error}); allowed: one that torch.func.vmap takes"
            ) from error
        return dw

    def _batched(self, function: Callable, w: Tensor, x: Tensor) -> Tensor:
        trials, over = max(len(w), len(x)), vmap(vmap(function, (None, 0)), (0, 0))
        return over(w.expand(trials, -1), x.expand(trials, -1, -1))

    def value(self, w: Tensor, x: Tensor) -> Tensor:
        """f_w(x), R x N."""
        return self._batched(self.function, w, x)

    def slope(self, w: Tensor, x: Tensor) -> Tensor:
        """The gradient in x, R x N x d."""
        return self._batched(grad(self.function, 1), w, x)

    def features(self, w: Tensor, x: Tensor) -> Tensor:
        """The gradient in w, R x N x dw."""
        return self._batched(grad(self.function), w, x)

    def gradient(self, features: Tensor) -> Tensor:
        """The features are it."""
        return features

    def inner(self, features: Tensor, others: Tensor) -> Tensor:
        """g^T g', R x N x M."""
        return torch.bmm(features, others.mT)

    def norm2(self, features: Tensor) -> Tensor:
        """g^T g, R x N."""
        return features.square().sum(-1)

    def forward(self, features: Tensor, v: Tensor) -> Tensor:
        """g^T v, R x N."""
        return torch.bmm(features, v.unsqueeze(2)).squeeze(2)

    def adjoint(self, features: Tensor, weights: Tensor) -> Tensor:
        """sum_i weights_i g_i, R x dw."""
        return torch.bmm(weights.unsqueeze(1), features).squeeze(1)

    def start(self, normal: Tensor, dim: int, gain: float) -> Tensor:
        """Normals of standard deviation ``gain``."""
        return gain * normal
