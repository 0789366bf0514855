"""Regression oracles of Phase I: estimate the parameters from the observations so far.

All oracles run a fixed number of steps, independently per trial.
Source: Liu & Wang (2023), Algorithm 1, Phase I, and Appendix D.1.
Shapes: R trials, N points, d dimensions, dw parameters, S starts.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from ...core import fields
from ...core.describe import frozen_dataclass
from ...core.linalg import ROUNDING, argmax_first, take_arm
from ...core.streams import Draw
from ...core.validation import raise_invalid
from ..model.network import Model, TwoLayerNet

STARTS = ("default", "ones", "uniform01")


class Fit(NamedTuple):
    """Result of an oracle: the fitted parameters and the starting point of the fit."""

    w: Tensor  # R x dw
    anchor: Tensor  # R x dw, the starting point of the fit


class Oracle(Protocol):
    """Interface of an oracle. ``starts`` is called once per run; ``first`` fits from these starts, ``again`` from the last fit."""

    def starts(self, model: Model, dim: int, draw: Draw) -> Tensor: ...
    def first(self, model: Model, x: Tensor, y: Tensor, starts: Tensor, ridge: Any) -> Fit: ...
    def again(self, model: Model, x: Tensor, y: Tensor, last: Fit, ridge: Any) -> Fit: ...


@frozen_dataclass
class LevenbergMarquardt:
    """Levenberg-Marquardt: damped Gauss-Newton steps on 1/2 sum_i (f_w(x_i) - y_i)^2 + rho/2 ||w - w_a||^2, solved in N x N form.

    Our addition, because the paper's gradient descent leaves the parameters unchanged (E13). The method runs from each start w_a and keeps
    the fit with the lowest objective. An accepted step divides the damping by 3, a rejected one multiplies it by 4.

    Attributes:
        restarts: S >= 1, random starts.
        steps: >= 1, steps of the first fit.
        more: >= 0, steps of each later fit, which starts from the previous one.
        gain: > 0, scale of the first layer of the starts.
        ridge: rho > 0; None: the learner's lambda.

    Raises:
        ValueError: a value is out of range.

    Examples:
        >>> import torch
        >>> from paperlib.goucb import LevenbergMarquardt, TwoLayerNet
        >>> net, oracle = TwoLayerNet(hidden=1), LevenbergMarquardt(steps=20, ridge=1e-6)
        >>> x = torch.tensor([[[-1.0], [0.0], [1.0]]], dtype=torch.float64)
        >>> y = net.value(torch.tensor([[1.0, 0.5, 2.0, 0.0]], dtype=torch.float64), x)
        >>> fit = oracle.first(net, x, y, 0.5 * torch.ones(1, 1, 4, dtype=torch.float64), ridge=1.0)
        >>> bool((net.value(fit.w, x) - y).abs().max() < 1e-3)
        True
    """

    restarts: int = fields.size(4)
    steps: int = fields.size(60)
    more: int = fields.size(15, least=0)
    gain: float = fields.positive(1.0)
    ridge: float | None = fields.positive(None, optional=True)

    def starts(self, model: Model, dim: int, draw: Draw) -> Tensor:
        """Draw the starts, R x S x dw."""
        normal = draw.normal("lm_start", self.restarts, model.parameters(dim))
        return model.start(normal, dim, self.gain)

    def first(self, model: Model, x: Tensor, y: Tensor, starts: Tensor, ridge: Any) -> Fit:
        """Return the best of S fits. ``x``: R x N x d; ``y``: R x N; ``starts``: R x S x dw; ``ridge``: a number or R."""
        S = starts.shape[1]
        copies = lambda part: part.repeat_interleave(S, 0)
        # The S starts run as S trials with the same data.
        ridge = copies(ridge) if isinstance(ridge, Tensor) else ridge
        start = starts.flatten(0, 1)
        w, objective = self._descend(model, copies(x), copies(y), start, start, ridge, self.steps)
        best = argmax_first(-objective.view(-1, S))
        return Fit(take_arm(w.view_as(starts), best), take_arm(starts, best))

    def again(self, model: Model, x: Tensor, y: Tensor, last: Fit, ridge: Any) -> Fit:
        """Return the fit after ``more`` steps from the last fit, with the same anchor."""
        w, _ = self._descend(model, x, y, last.w, last.anchor, ridge, self.more)
        return Fit(w, last.anchor)

    def _descend(
        self, model: Model, x: Tensor, y: Tensor, w: Tensor, anchor: Tensor, ridge: Any, steps: int
    ) -> tuple[Tensor, Tensor]:
        """Return the parameters and the objective after ``steps`` steps."""
        rho = w.new_zeros(len(w)) + (ridge if self.ridge is None else self.ridge)
        value, objective = self._objective(model, x, y, w, anchor, rho)
        # The damping restarts at 1 in every call, so that a state does not have to store it.
        damping = torch.ones_like(rho)
        diagonal = torch.eye(x.shape[1], dtype=x.dtype, device=x.device)
        # The number of steps is fixed, because a stopping test would need values on the host.
        for _ in range(steps):
            J = model.features(w, x)
            v = model.adjoint(J, y - value) + rho.unsqueeze(1) * (anchor - w)
            k = rho + damping
            # Solve (k I + J^T J)^{-1} v with the matrix inversion lemma: the system is N x N
            # instead of dw x dw.
            factor = torch.linalg.cholesky_ex(model.inner(J, J) + k.view(-1, 1, 1) * diagonal).L
            half = torch.cholesky_solve(model.forward(J, v).unsqueeze(2), factor).squeeze(2)
            moved = w + (v - model.adjoint(J, half)) / k.unsqueeze(1)
            new_value, new_objective = self._objective(model, x, y, moved, anchor, rho)
            # Reject a decrease within rounding error, because accepting it would depend on the last
            # bit.
            better = new_objective < objective * (1 - ROUNDING)
            row = better.unsqueeze(1)
            w, value = torch.where(row, moved, w), torch.where(row, new_value, value)
            objective = torch.where(better, new_objective, objective)
            # The limits are absolute, like the ridge, because the observed values are standardized
            # for the model.
            damping = torch.where(better, damping / 3, damping * 4).clamp(1e-12, 1e12)
        return w, objective

    def _objective(
        self, model: Model, x: Tensor, y: Tensor, w: Tensor, anchor: Tensor, rho: Tensor
    ) -> tuple[Tensor, Tensor]:
        value, away = model.value(w, x), (w - anchor).square().sum(1)
        return value, ((value - y).square().sum(1) + rho * away) / 2


@frozen_dataclass
class GradientDescent:
    """Gradient descent on the mean squared error, with the paper's step size and number of steps.

    Source: Liu & Wang (2023), Appendix D.1. The step size there is 1e-11, so the parameters hardly leave their starting point (E13).
    Departure: each step uses all points. The paper's descent is stochastic, and it does not state the batches.

    Attributes:
        rate: > 0, step size.
        steps: >= 1.
        start: "default" (as in ``torch.nn.Linear``), "ones" or "uniform01".

    Raises:
        ValueError: a value is out of range, or the start is unknown.

    Examples:
        >>> from paperlib.goucb import GradientDescent
        >>> oracle = GradientDescent()
        >>> oracle.rate, oracle.steps
        (1e-11, 2000)
    """

    rate: float = fields.positive(1e-11)
    steps: int = fields.size(2000)
    start: str = fields.one_of(STARTS, "default")

    def starts(self, model: Model, dim: int, draw: Draw) -> Tensor:
        """Return the starting point, R x 1 x dw.

        Raises:
            ValueError: "default" for a model other than the network.
        """
        uniform = draw.uniform("sgd_start", 1, model.parameters(dim))
        if self.start == "ones":
            return torch.ones_like(uniform)
        if self.start == "uniform01":
            return uniform
        if not isinstance(model, TwoLayerNet):
            raise_invalid(
                "start", self.start, "'ones' or 'uniform01', because 'default' requires TwoLayerNet"
            )
        return model.linear_layers(uniform, dim)

    def first(self, model: Model, x: Tensor, y: Tensor, starts: Tensor, ridge: Any) -> Fit:
        """Fit from the start. ``x``: R x N x d; ``y``: R x N; ``starts``: R x 1 x dw; ``ridge`` is ignored."""
        w = starts[:, 0]
        for _ in range(self.steps):
            error = model.value(w, x) - y
            # The gradient of the mean squared error.
            w = w - (2 * self.rate / x.shape[1]) * model.adjoint(model.features(w, x), error)
        return Fit(w, starts[:, 0])

    def again(self, model: Model, x: Tensor, y: Tensor, last: Fit, ridge: Any) -> Fit:
        """Run the same number of steps from the last fit."""
        return Fit(self.first(model, x, y, last.w.unsqueeze(1), ridge).w, last.anchor)


@frozen_dataclass
class BoxLeastSquares:
    """Least squares over the box W with SciPy's L-BFGS-B from several starts: the exact oracle that the theorems assume, for checks.

    Source: Liu & Wang (2023), Lemma 5.1.

    Attributes:
        lo: lower end of every parameter.
        hi: upper end, above ``lo``.
        restarts: S >= 1, uniform starts.

    Raises:
        ValueError: a value is out of range.

    Examples:
        >>> from paperlib.goucb import BoxLeastSquares
        >>> BoxLeastSquares().lo, BoxLeastSquares().hi
        (0.0, 1.0)
    """

    lo: float = fields.number(0.0)
    hi: float = fields.number(1.0)
    restarts: int = fields.whole(6)

    def __post_init__(self):
        if not self.lo < self.hi:
            raise_invalid("lo", self.lo, f"smaller than hi={self.hi!r}")

    def starts(self, model: Model, dim: int, draw: Draw) -> Tensor:
        """Draw the starts, R x S x dw, uniform in the box."""
        uniform = draw.uniform("box_start", self.restarts, model.parameters(dim))
        return self.lo + (self.hi - self.lo) * uniform

    def first(self, model: Model, x: Tensor, y: Tensor, starts: Tensor, ridge: Any) -> Fit:
        """Return the fit with the lowest sum of squares. ``starts``: R x S x dw; ``ridge`` is ignored. SciPy needs the values on the host."""
        # A meta tensor has a shape and no values, so there is nothing to fit.
        if x.device.type == "meta":
            return Fit(starts[:, 0], starts[:, 0])
        found, anchors = [], []
        for r in range(len(x)):
            fits = [self._solve(model, x[r : r + 1], y[r : r + 1], start) for start in starts[r]]
            best = int(argmax_first(-np.array([[fit.fun for fit in fits]]))[0])
            found.append(torch.from_numpy(fits[best].x).to(starts))
            anchors.append(starts[r, best])
        return Fit(torch.stack(found), torch.stack(anchors))

    def again(self, model: Model, x: Tensor, y: Tensor, last: Fit, ridge: Any) -> Fit:
        """Fit from the last fit only."""
        return Fit(self.first(model, x, y, last.w.unsqueeze(1), ridge).w, last.anchor)

    def _solve(self, model: Model, x: Tensor, y: Tensor, start: Tensor) -> Any:
        def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
            row = torch.from_numpy(w).to(x).unsqueeze(0)
            error = model.value(row, x) - y
            gradient = 2 * model.adjoint(model.features(row, x), error)[0]
            return float(error.square().sum()), gradient.cpu().numpy()

        box = [(self.lo, self.hi)] * len(start)
        # gtol is absolute, because the theorems fix the scale: W is [0, 1]^dw, and observations
        # have the size of f.
        tight = {"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-10}
        return minimize(
            loss, start.cpu().numpy(), jac=True, method="L-BFGS-B", bounds=box, options=tight
        )
