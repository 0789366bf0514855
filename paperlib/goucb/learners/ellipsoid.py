"""Confidence ellipsoid of Phase II, Sigma = lambda I + sum_i g_i g_i^T, and its norms, solves and determinant.

While there are at most half as many gradients as parameters, all computations use the gradients' inner products (the dual form, t x t).
Otherwise they use Sigma itself (the primal form, dw x dw).
Source: Liu & Wang (2023), Section 4, (3) to (6).
Shapes: R trials, t gradients, N points, dw parameters, q features.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from ...core.linalg import safe_sqrt
from ..model.network import Model


class Ellipsoid(NamedTuple):
    """The ellipsoid {w: ||w - center||^2_Sigma <= beta}; its center and beta are stored elsewhere."""

    model: Model
    features: Tensor  # R x t x q, of the gradients g_i
    ridge: Tensor  # R, lambda
    factor: Tensor  # R x t x t, of lambda I + G G^T, or R x dw x dw, of Sigma
    dual: bool

    @classmethod
    def of(cls, model: Model, features: Tensor, ridge: Any, dw: int, dual: bool | None = None):
        """Build the ellipsoid from the features of the gradients, R x t x q.

        Args:
            ridge: lambda, a number or R.
            dw: number of parameters.
            dual: whether to use the dual form; None: if t is at most half of dw.
        """
        dual = 2 * features.shape[1] <= dw if dual is None else dual
        ridge = features.new_zeros(len(features)) + ridge
        if dual:
            gram = model.inner(features, features)
        else:
            G = model.gradient(features)
            gram = torch.bmm(G.mT, G)
        diagonal = torch.eye(gram.shape[-1], dtype=gram.dtype, device=gram.device)
        # ``cholesky_ex`` does not check for failure, because a check would wait for the device.
        factor = torch.linalg.cholesky_ex(gram + ridge.view(-1, 1, 1) * diagonal).L
        return cls(model, features, ridge, factor, dual)

    def square(self, features: Tensor) -> Tensor:
        """Return g^T Sigma^{-1} g, R x N. ``features``: R x N x q."""
        model, ridge = self.model, self.ridge.unsqueeze(1)
        if self.dual:
            cross = model.inner(self.features, features)
            # By the Woodbury identity, lambda g^T Sigma^{-1} g = ||g||^2 - ||L^{-1} G g||^2 with L
            # L^T = lambda I + G G^T.
            half = torch.linalg.solve_triangular(self.factor, cross, upper=False)
            return (model.norm2(features) - half.square().sum(1)) / ridge
        g = model.gradient(features)
        half = torch.linalg.solve_triangular(self.factor, g.mT, upper=False)
        return half.square().sum(1)

    def width(self, features: Tensor) -> Tensor:
        """Return u = ||g||_{Sigma^{-1}}, R x N."""
        return safe_sqrt(self.square(features))

    def solve(self, features: Tensor) -> Tensor:
        """Return Sigma^{-1} g for one g per trial, R x dw. ``features``: R x 1 x q."""
        model = self.model
        g = model.gradient(features).squeeze(1)
        if not self.dual:
            return torch.cholesky_solve(g.unsqueeze(2), self.factor).squeeze(2)
        cross = model.inner(self.features, features)
        weights = torch.cholesky_solve(cross, self.factor).squeeze(2)
        return (g - model.adjoint(self.features, weights)) / self.ridge.unsqueeze(1)

    def combine(self, e: Tensor) -> Tensor:
        """Return Sigma^{-1} sum_i g_i e_i, R x dw, the shift of the center in (5). ``e``: R x t."""
        if self.dual:
            weights = torch.cholesky_solve(e.unsqueeze(2), self.factor).squeeze(2)
            return self.model.adjoint(self.features, weights)
        moved = self.model.adjoint(self.features, e).unsqueeze(2)
        return torch.cholesky_solve(moved, self.factor).squeeze(2)

    def norm2(self, v: Tensor) -> Tensor:
        """Return ||v||^2_Sigma, R. ``v``: R x dw."""
        along = self.model.forward(self.features, v)
        return self.ridge * v.square().sum(1) + along.square().sum(1)

    def growth(self) -> Tensor:
        """Return ln(det Sigma / det(lambda I)), R."""
        # Both forms give the same value, because det(I + G^T G / lambda) = det(I + G G^T / lambda).
        diagonal = self.factor.diagonal(dim1=-2, dim2=-1)
        return 2 * diagonal.log().sum(1) - diagonal.shape[1] * self.ridge.log()
