"""Wrap any differentiable function of parameters and a point as a model; ``torch.func`` computes its gradients.

Shapes: R trials, N points, d dimensions, dw parameters.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.func import grad, vmap

from ...core.describe import frozen_dataclass
from ...core.validation import check_size, raise_invalid


def paraboloid(w: Tensor, x: Tensor) -> Tensor:
    """Return the value of a paraboloid: an example of a model with three parameters (height, location and curvature) for any d."""
    return w[0] - w[2] * (x - w[1]).square().sum()


@frozen_dataclass
class FunctionModel:
    """Parametric model f_w(x) given by a torch function, with explicit gradients.

    Attributes:
        function: (w, x) -> f. It maps a tensor of dw numbers and a tensor of d numbers to a tensor with one number and must be differentiable
            in both. It may be defined in a file or in a notebook cell. Call a ``torch.nn.Module`` inside it with
            ``torch.func.functional_call``.
        count: dw, or a function of d that returns dw.

    Raises:
        ValueError: ``function`` is not a function (a module is not accepted), or ``count`` is below 1.

    Examples:
        >>> import torch
        >>> from paperlib.goucb import FunctionModel
        >>> def paraboloid(w, x):
        ...     return w[0] - w[2] * (x - w[1]).square().sum()
        >>> model = FunctionModel(paraboloid, 3)
        >>> w, x = torch.tensor([[5.0, 1.0, 2.0]]), torch.tensor([[[0.0], [1.0]]])
        >>> model.value(w, x).tolist()
        [[3.0, 5.0]]
    """

    function: Callable[[Tensor, Tensor], Tensor]
    count: int | Callable[[int], int]

    def __post_init__(self):
        if not callable(self.function) or isinstance(self.function, torch.nn.Module):
            requirement = (
                "a function (w, x) -> f, which may call a module by torch.func.functional_call"
            )
            raise_invalid("function", type(self.function).__name__, requirement)
        if not callable(self.count):
            check_size("count", self.count)

    def parameters(self, dim: int) -> int:
        """Return dw. The function is evaluated once, to check it.

        Raises:
            TypeError: the function has no derivative in w or x, or cannot be batched. For example, it branches on values, draws random
                numbers, or extracts numbers from tensors.
            ValueError: the function does not return exactly one number, or ``count`` does not return a number of parameters.
        """
        dw = check_size("count", self.count(dim) if callable(self.count) else self.count)
        with torch.enable_grad():
            w = torch.full((dw,), 0.5, dtype=torch.float64, requires_grad=True)
            x = torch.full((dim,), 0.25, dtype=torch.float64, requires_grad=True)
            f = self.function(w, x)
            if not isinstance(f, Tensor) or f.dim() or not f.is_floating_point():
                given = tuple(f.shape) if isinstance(f, Tensor) else type(f).__name__
                raise_invalid(
                    "function", given, "a function that returns a tensor of one number, of shape ()"
                )
            parts = (
                torch.autograd.grad(f, (w, x), allow_unused=True) if f.requires_grad else (None,)
            )
        if None in parts:
            raise TypeError(
                f"function must have derivatives in w and x that torch computes, got {self.function!r}"
            )
        # A function that torch differentiates may still fail under vmap, which all methods use.
        many = w.detach().unsqueeze(0), x.detach().expand(1, 2, dim)
        try:
            for batched in (self.value, self.slope, self.features):
                batched(*many)
        except RuntimeError as error:
            raise TypeError(
                f"function must be compatible with torch.func.vmap, got {self.function!r}, which raises: {error}"
            ) from error
        return dw

    def _batched(self, function: Callable, w: Tensor, x: Tensor) -> Tensor:
        # The inner vmap runs over points with shared parameters, the outer one over trials.
        trials, over = max(len(w), len(x)), vmap(vmap(function, (None, 0)), (0, 0))
        return over(w.expand(trials, -1), x.expand(trials, -1, -1))

    def value(self, w: Tensor, x: Tensor) -> Tensor:
        """Return f_w(x), R x N."""
        return self._batched(self.function, w, x)

    def slope(self, w: Tensor, x: Tensor) -> Tensor:
        """Return the gradient in x, R x N x d."""
        return self._batched(grad(self.function, 1), w, x)

    def features(self, w: Tensor, x: Tensor) -> Tensor:
        """Return the gradient in w, R x N x dw."""
        return self._batched(grad(self.function), w, x)

    def gradient(self, features: Tensor) -> Tensor:
        """Return the features unchanged, because they are the gradient."""
        return features

    def inner(self, features: Tensor, others: Tensor) -> Tensor:
        """Return g^T g', R x N x M."""
        return torch.bmm(features, others.mT)

    def norm2(self, features: Tensor) -> Tensor:
        """Return g^T g, R x N."""
        return features.square().sum(-1)

    def forward(self, features: Tensor, v: Tensor) -> Tensor:
        """Return g^T v, R x N."""
        return torch.bmm(features, v.unsqueeze(2)).squeeze(2)

    def adjoint(self, features: Tensor, weights: Tensor) -> Tensor:
        """Return sum_i weights_i g_i, R x dw."""
        return torch.bmm(weights.unsqueeze(1), features).squeeze(1)

    def start(self, normal: Tensor, dim: int, gain: float) -> Tensor:
        """Return initial parameters: normal, with standard deviation ``gain``."""
        return gain * normal
