"""GO-UCB: optimism over the weights of a parametric model.

Source: Liu & Wang (2023), Algorithm 1. Phase I fits the model to uniform points; Phase II asks where f_x(w) is largest over x
and over an ellipsoid of parameters around the estimate.
Shapes: R trials, t observations, d dimensions, dw parameters, q features of the model.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from ...core import fields
from ...core.describe import frozen_dataclass
from ...core.linalg import Rows
from ...core.streams import Draw
from ...core.validation import check_in, raise_invalid
from ...maths.bounds import Bounds
from ..model.network import Model
from .acquisition import Acquisition, AcquisitionSurface
from .ellipsoid import Ellipsoid
from .oracle import Fit, Oracle
from .radius import Radius, RadiusInputs
from .search import Search, check_increasing, draw_uniform, incumbent, mean_and_std, resize_factor

LEAST_RIDGE = 1e-12  # absolute, in the model's units: below it points that coincide leave Sigma without a root in float64
PARTS = {  # names that each part has, see their protocols
    "model": ("parameters", "value", "slope", "features", "gradient", "inner"),
    "oracle": ("starts", "first", "again"),
    "acquisition": ("maximizer",),
    "radius": ("needs_horizon", "root", "error2"),
}


@frozen_dataclass
class TrustRegion:
    """A cube around the incumbent that grows with successes and shrinks with failures, clipped to the box.

    Source: the rule of Eriksson et al., "Scalable Global Optimization via Local Bayesian Optimization" (2019), with sizes of ours; lengths are
    half-widths in units of half a side of the box.

    Attributes:
        first: half-width at first.
        least: > 0, the smallest.
        most: the largest.
        successes: >= 1, in a row, that double it.
        failures: >= 1, in a row, that halve it.
        gain: >= 0, of |best|, by which an answer must be better than the best before it. Above 0 the points depend on the origin of the
            answers.

    Raises:
        ValueError: a value out of range.
    """

    first: float = fields.number(0.2)
    least: float = fields.positive(0.05)
    most: float = fields.number(1.6)
    successes: int = fields.size(3)
    failures: int = fields.size(4)
    gain: float = fields.number(0.001, least=0.0)

    def __post_init__(self):
        check_increasing(least=self.least, first=self.first, most=self.most)


class GOUCBState(NamedTuple):
    """Everything that Phase II rests on."""

    x: Rows  # R x t x d, points scaled to [-1, 1]^d
    y: Rows  # R x t, answers in the user's units
    starts: Tensor  # R x S x dw, where the oracle may begin
    anchor: Tensor  # R x dw, where its fit began
    w0: Tensor  # R x dw, w_0 of Phase I
    w: Tensor  # R x dw, w_t
    gradients: Rows  # R x i x q, features of the gradients of Phase II, each as at its query; none with ``refit``
    offsets: Rows  # R x i, e_i = g_i^T (w_i - w_0) + y_i - f_{x_i}(w_i); none with ``refit``
    farthest: Tensor  # R, what the radius keeps of the estimates so far
    length: Tensor  # R x 1, half-width of the trust region
    successes: Tensor  # R int64, in a row
    failures: Tensor  # R int64, in a row
    ratio: Tensor  # R, largest ||w - w_t||^2_Sigma / beta_t of the last search
    moved: Tensor  # R, the way of the last search
    rounds: int  # t
    T: int  # queries of Phase II; 0: no horizon


@frozen_dataclass
class GOUCB(Search):
    """Uniform points and a fit, then optimism over an ellipsoid of parameters.

    ``literal``, ``algorithm1`` and ``practical`` of ``presets`` set the fields.
    Source: Liu & Wang (2023), Algorithm 1; with ``refit`` Sigma and the estimate are those of all observations at the current
    parameters (ours), else those of the recursion (3) to (5).

    Attributes:
        model: f_w, see ``model.network.Model``.
        n_init: n >= 1, points of Phase I; a user's own observations count.
        oracle: fits the model to them.
        acquisition: finds the next point.
        radius: sqrt(beta_t).
        ridge: lambda >= 1e-12, a number or one a trial; None: sqrt(T) ln(T)^2, as printed, which needs a horizon.
        refit: whether each observation renews the fit.
        scaling: by which answers all are standardized, with points in [-1, 1]^d: "all" so far, which takes ``refit``, or the "first" n, without
            it; "none": points and answers as they are, so that the points that are asked for depend on the unit of the answers.
        trust: where to look; None: everywhere.

    Raises:
        ValueError: a value out of range.
    """

    model: Model
    n_init: int = fields.size()
    oracle: Oracle
    acquisition: Acquisition
    radius: Radius
    ridge: float | Tensor | None = fields.positive(
        1.0, least=LEAST_RIDGE, by_trial=True, optional=True
    )
    refit: bool = fields.one_of((False, True), False)
    scaling: str = "first"
    trust: TrustRegion | None = None

    def __post_init__(self):
        for part, names in PARTS.items():
            given = getattr(self, part)
            whole = all(hasattr(given, name) for name in names)
            if isinstance(given, (type, torch.nn.Module)) or not whole:
                raise_invalid(part, given, f"a {part}, which has {', '.join(names)}")
        # the recursion keeps what it heard in the units of the time
        allowed = ("all" if self.refit else "first", "none")
        if isinstance(self.scaling, str) and {self.scaling} <= {"all", "first"} - {*allowed}:
            raise_invalid("scaling", self.scaling, f"{', '.join(allowed)} with refit={self.refit}")
        check_in("scaling", self.scaling, allowed)
        if not isinstance(self.trust, (TrustRegion, type(None))):
            raise_invalid("trust", self.trust, "None or a TrustRegion")

    def init(
        self, trials: int, bounds: Bounds, horizon: int | None, draw: Draw, **tkwargs
    ) -> GOUCBState:
        """Nothing heard; the starts of the fit are drawn.

        Raises:
            ValueError: lambda or beta as printed without a horizon, or with T = horizon - n_init below 2.
            TypeError: a model without derivatives.
        """
        T = 0 if horizon is None else horizon - self.n_init
        if (self.ridge is None or self.radius.needs_horizon) and T < 2:
            why = "ridge=None and a radius as printed need T = horizon - n_init, and lambda = sqrt(T) ln(T)^2 is 0 at T = 1"
            raise_invalid("horizon", horizon, f"at least n_init + 2 = {self.n_init + 2}: {why}")
        starts = self.oracle.starts(self.model, bounds.dim, draw)
        zero, count = torch.zeros(trials, **tkwargs), starts.new_zeros(trials, dtype=torch.int64)
        point = starts.new_zeros(trials, 1, bounds.dim)
        q = 0 if self.refit else self.model.features(starts[:, 0], point).shape[2]
        w = starts[:, 0]
        return GOUCBState(
            Rows.empty(trials, bounds.dim, **tkwargs),
            Rows.empty(trials, **tkwargs),
            starts,
            w,
            w,
            w,
            Rows.empty(trials, q, **tkwargs),
            Rows.empty(trials, **tkwargs),
            zero,
            zero.unsqueeze(1) + (self.trust.first if self.trust else 2.0),
            count,
            count,
            zero,
            zero,
            0,
            max(T, 0),
        )

    def select(self, state: GOUCBState, bounds: Bounds, draw: Draw) -> tuple[Tensor, GOUCBState]:
        """x_t of Phase I or II. Returns R x d in the user's coordinates."""
        if state.rounds < self.n_init:
            return bounds.native(draw_uniform(bounds, draw)), state
        ellipsoid = self.ellipsoid(state, bounds)
        best = incumbent(state.x.view, state.y.view)
        lo, hi = (best - state.length).clamp(min=-1.0), (best + state.length).clamp(max=1.0)
        spread = state.length / 2
        if self.trust is None:
            lo, hi, spread = -torch.ones_like(best), torch.ones_like(best), 0 * spread + 0.1
        known = RadiusInputs(state.rounds - self.n_init, state.T, state.w0, state.farthest)
        surface = AcquisitionSurface(
            self.model,
            state.w,
            ellipsoid,
            self.radius.root(known, ellipsoid),
            self._frame(bounds, state.w),
            lo,
            hi,
            spread,
            best,
            state.x.view[:, -1],
        )
        # x_t = argmax_x max_{w in Ball_t} f_x(w)
        choice = self.acquisition.maximizer(surface, draw)
        return bounds.native(choice.u), state._replace(ratio=choice.ratio, moved=choice.moved)

    def update(
        self, state: GOUCBState, bounds: Bounds, action: Tensor, reward: Tensor, draw: Draw
    ) -> GOUCBState:
        """Learn y_t; the estimate is that of all observations so far."""
        u, before = bounds.scaled(action), state
        state = state._replace(
            x=state.x.append(u), y=state.y.append(reward), rounds=state.rounds + 1
        )
        if state.rounds < self.n_init:
            return state
        if before.rounds >= self.n_init and self.trust is not None:
            state = self._resized(state, before, reward)
        if before.rounds < self.n_init:  # w_0 <- Oracle(x, y)
            fit = self.oracle.first(*self._data(state, bounds), state.starts, self._lambda(state))
            error2 = self.radius.error2(fit.w, fit.w)
            return state._replace(w0=fit.w, w=fit.w, anchor=fit.anchor, farthest=0 * error2)
        if self.refit:
            data, last = self._data(state, bounds), Fit(state.w, state.anchor)
            return state._replace(w=self.oracle.again(*data, last, self._lambda(state)).w)
        return self._recursion(state, bounds, u, reward)

    def _recursion(self, state: GOUCBState, bounds: Bounds, u: Tensor, y: Tensor) -> GOUCBState:
        """(3) to (5): w_{t+1} = Sigma_{t+1}^{-1} R_{t+1}, with the gradient at the estimate that asked."""
        model, x = self.model, self._frame(bounds, u).native(u.unsqueeze(1))
        mean, sd = self._units(state)
        g = model.features(state.w, x)
        e = model.forward(g, state.w - state.w0) + (y.unsqueeze(1) - mean) / sd
        e = e - model.value(state.w, x)
        state = state._replace(
            gradients=state.gradients.append(g.squeeze(1)),
            offsets=state.offsets.append(e.squeeze(1)),
            farthest=torch.maximum(state.farthest, self.radius.error2(state.w, state.w0)),
        )
        # Sigma^{-1} R = w_0 + Sigma^{-1} sum_i g_i e_i
        return state._replace(
            w=state.w0 + self.ellipsoid(state, bounds).combine(state.offsets.view)
        )

    def ellipsoid(self, state: GOUCBState, bounds: Bounds) -> Ellipsoid:
        """Sigma_t of Phase II, or with ``refit`` of all observations at the current parameters."""
        features = state.gradients.view
        if self.refit:
            features = self.model.features(state.w, self._points(state, bounds))
        return Ellipsoid.of(self.model, features, self._lambda(state), state.w.shape[1])

    def predict(self, state: GOUCBState, bounds: Bounds, x: Tensor) -> tuple[Tensor, Tensor]:
        """f_x(w_t) and the bonus sqrt(beta_t) u_t(x) in the user's units, R x N each. ``x``: R x N x d, of the box.

        Raises:
            ValueError: fewer than ``n_init`` observations.
        """
        if state.rounds < self.n_init:
            raise_invalid("state", f"{state.rounds} rounds", f"at least n_init = {self.n_init}")
        mean, sd = self._units(state)
        ellipsoid = self.ellipsoid(state, bounds)
        known = RadiusInputs(state.rounds - self.n_init, state.T, state.w0, state.farthest)
        points = self._frame(bounds, state.w).native(bounds.scaled(x))
        bonus = ellipsoid.width(self.model.features(state.w, points))
        bonus = self.radius.root(known, ellipsoid).unsqueeze(1) * bonus
        return mean + sd * self.model.value(state.w, points), sd * bonus

    def _lambda(self, state: GOUCBState) -> float | Tensor:
        return printed_ridge(state.T) if self.ridge is None else self.ridge

    def _frame(self, bounds: Bounds, like: Tensor) -> Bounds:
        """The box in the model's coordinates."""
        if self.scaling == "none":
            return bounds
        return Bounds.cube(bounds.dim, dtype=like.dtype, device=like.device)

    def _points(self, state: GOUCBState, bounds: Bounds) -> Tensor:
        return self._frame(bounds, state.w).native(state.x.view)

    def _units(self, state: GOUCBState) -> tuple[Tensor, Tensor]:
        """Mean and standard deviation of the answers that the model sees, R x 1 each."""
        if self.scaling == "none":
            return torch.zeros_like(state.length), torch.ones_like(state.length)
        return mean_and_std(state.y.view, None if self.scaling == "all" else self.n_init)

    def _data(self, state: GOUCBState, bounds: Bounds) -> tuple[Model, Tensor, Tensor]:
        mean, sd = self._units(state)
        return self.model, self._points(state, bounds), (state.y.view - mean) / sd

    def _resized(self, state: GOUCBState, before: GOUCBState, reward: Tensor) -> GOUCBState:
        trust, counts = self.trust, (before.successes, before.failures)
        limits = trust.successes, trust.failures
        factor, successes, failures = resize_factor(
            before.y.view, reward, trust.gain, counts, limits
        )
        length = (before.length * factor.unsqueeze(1)).clamp(trust.least, trust.most)
        return state._replace(length=length, successes=successes, failures=failures)


def printed_ridge(T: int) -> float:
    """lambda = sqrt(T) ln(T)^2, 0 at T = 1. Source: Liu & Wang (2023), Appendix D.1."""
    return math.sqrt(T) * math.log(T) ** 2
