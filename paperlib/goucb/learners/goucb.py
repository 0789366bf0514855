"""GO-UCB: optimism over the weights of a parametric model.

Source: Liu & Wang (2023), Algorithm 1. Phase I fits the model to uniform points. Phase II evaluates the maximizer of f_x(w) over x and
over an ellipsoid of parameters around the estimate.
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
from ...core.validation import check_in, list_options, raise_invalid
from ...maths.bounds import Bounds
from ..model.network import Model
from .acquisition import Acquisition, AcquisitionSurface
from .ellipsoid import Ellipsoid
from .oracle import Fit, Oracle
from .radius import Radius, RadiusInputs
from .search import Search, check_increasing, draw_uniform, incumbent, mean_and_std, resize_factor

LEAST_RIDGE = 1e-12  # absolute, in the model's units; below it Sigma has no Cholesky factor in float64 if points coincide
PARTS = {  # required attributes of each component, see their protocols
    "model": ("parameters", "value", "slope", "features", "gradient", "inner"),
    "oracle": ("starts", "first", "again"),
    "acquisition": ("maximizer",),
    "radius": ("needs_horizon", "root", "error2"),
}


@frozen_dataclass
class TrustRegion:
    """Trust region of GO-UCB: a cube around the incumbent that grows after successes and shrinks after failures, clipped to the box.

    Source: the rule is from Eriksson et al., "Scalable Global Optimization via Local Bayesian Optimization" (2019); the sizes are our
    choice. Lengths are half-widths, in units of half a side of the box. For example, 0.2 is a region with a fifth of the box's side.

    Attributes:
        first: initial half-width.
        least: > 0, smallest half-width.
        most: largest half-width.
        successes: >= 1, consecutive successes that double the region.
        failures: >= 1, consecutive failures that halve it.
        gain: >= 0, relative improvement that counts as a success: an observation must exceed the best one before it by ``gain * |best|``.
            If it is above 0, the points depend on the origin of the observed values.

    Raises:
        ValueError: a value is out of range.

    Examples:
        >>> from paperlib.goucb import TrustRegion, practical
        >>> learner = practical(4, trust=TrustRegion(first=0.5, gain=0.0))
        >>> learner.trust
        TrustRegion(first=0.5, gain=0.0)
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
    """State of GO-UCB: the observations, the estimate, and the quantities that define the ellipsoid and the trust region."""

    x: Rows  # R x t x d, points scaled to [-1, 1]^d
    y: Rows  # R x t, observed values in the user's units
    starts: Tensor  # R x S x dw, possible starting points of the oracle
    anchor: Tensor  # R x dw, the starting point of its fit
    w0: Tensor  # R x dw, w_0 of Phase I
    w: Tensor  # R x dw, w_t
    gradients: Rows  # R x i x q, features of the gradients of Phase II, each at the time of its query; none with ``refit``
    offsets: Rows  # R x i, e_i = g_i^T (w_i - w_0) + y_i - f_{x_i}(w_i); none with ``refit``
    farthest: Tensor  # R, largest ``Radius.error2`` of the estimates so far
    length: Tensor  # R x 1, half-width of the trust region
    successes: Tensor  # R int64, consecutive
    failures: Tensor  # R int64, consecutive
    ratio: Tensor  # R, largest ||w - w_t||^2_Sigma / beta_t of the last search
    moved: Tensor  # R, distance from the first to the last point of the last search
    rounds: int  # t
    T: int  # queries of Phase II; 0 if there is no horizon


@frozen_dataclass
class GOUCB(Search):
    """GO-UCB: fit a parametric model to uniform points, then select points by optimism over an ellipsoid of parameters.

    The presets ``literal``, ``algorithm1`` and ``practical`` set the fields.
    Source: Liu & Wang (2023), Algorithm 1. Without ``refit``, Sigma and the estimate follow the recursion (3) to (5). With ``refit`` (our
    addition), they are computed from all observations, with gradients at the current parameters.

    Attributes:
        model: f_w, see ``model.network.Model``.
        n_init: n >= 1, points of Phase I; your own observations count towards it.
        oracle: fits the model to them.
        acquisition: selects the next point.
        radius: confidence radius sqrt(beta_t).
        ridge: lambda >= 1e-12, a number or one per trial; None: sqrt(T) ln(T)^2 as in the paper, which needs a horizon.
        refit: whether each observation updates the fit.
        scaling: observations that determine the standardization of the observed values, with points scaled to [-1, 1]^d: "all" so far, which
            requires ``refit``, or the "first" n, without ``refit``. With "none", points and observed values are not scaled, so that the
            selected points depend on the unit of the observed values.
        trust: trust region of the search; None: the whole box.

    Raises:
        ValueError: a value is out of range.

    Examples:
        >>> from paperlib import play
        >>> from paperlib.goucb import GOUCB, Constant, LevenbergMarquardt, Linearized, Rastrigin, TwoLayerNet
        >>> search = Linearized(candidates=8, around=4, top=1, steps=3)
        >>> oracle = LevenbergMarquardt(restarts=1, steps=5, more=2)
        >>> learner = GOUCB(TwoLayerNet(3), 3, oracle, search, Constant(0.2), refit=True, scaling="all")
        >>> play.play(learner, Rastrigin(2), horizon=6, trials=2)["regret"].shape
        (2, 6)
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
                article = "an" if part[0] in "ao" else "a"
                raise_invalid(
                    part, given, f"{article} {part} with the attributes {', '.join(names)}"
                )
        # The recursion stores past observations in standardized units, which must not change later.
        options = ("all" if self.refit else "first", "none")
        if isinstance(self.scaling, str) and {self.scaling} <= {"all", "first"} - {*options}:
            raise_invalid(
                "scaling", self.scaling, f"{list_options(options)} with refit={self.refit}"
            )
        check_in("scaling", self.scaling, options)
        if not isinstance(self.trust, (TrustRegion, type(None))):
            raise_invalid("trust", self.trust, "None or a TrustRegion")

    def init(
        self, trials: int, bounds: Bounds, horizon: int | None, draw: Draw, **tkwargs
    ) -> GOUCBState:
        """Return the state without observations, and draw the starting points of the fit.

        Raises:
            ValueError: the paper's lambda or beta without a horizon, or with T = horizon - n_init below 2.
            TypeError: the model has no derivatives.
        """
        T = 0 if horizon is None else horizon - self.n_init
        if (self.ridge is None or self.radius.needs_horizon) and T < 2:
            why = "because ridge=None and the paper's radius require T = horizon - n_init, and lambda = sqrt(T) ln(T)^2 is 0 at T = 1"
            raise_invalid("horizon", horizon, f"at least n_init + 2 = {self.n_init + 2}, {why}")
        starts = self.oracle.starts(self.model, bounds.dim, draw)
        zero, count = torch.zeros(trials, **tkwargs), starts.new_zeros(trials, dtype=torch.int64)
        point = starts.new_zeros(trials, 1, bounds.dim)
        # With ``refit`` the gradients are recomputed in each round, therefore none are stored.
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
            # Without a trust region the half-width 2 covers the whole box from every incumbent.
            zero.unsqueeze(1) + (self.trust.first if self.trust else 2.0),
            count,
            count,
            zero,
            zero,
            0,
            max(T, 0),
        )

    def select(self, state: GOUCBState, bounds: Bounds, draw: Draw) -> tuple[Tensor, GOUCBState]:
        """Select x_t: a uniform point in Phase I, the optimistic point in Phase II. Returns R x d in the user's coordinates."""
        if state.rounds < self.n_init:
            return bounds.native(draw_uniform(bounds, draw)), state
        ellipsoid = self.ellipsoid(state, bounds)
        best = incumbent(state.x.view, state.y.view)
        lo, hi = (best - state.length).clamp(min=-1.0), (best + state.length).clamp(max=1.0)
        # Perturbations of the incumbent get half the half-width of the trust region as standard
        # deviation.
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
        # Algorithm 1, step 5: x_t = argmax_x max_{w in Ball_t} f_x(w).
        choice = self.acquisition.maximizer(surface, draw)
        return bounds.native(choice.u), state._replace(ratio=choice.ratio, moved=choice.moved)

    def update(
        self, state: GOUCBState, bounds: Bounds, action: Tensor, reward: Tensor, draw: Draw
    ) -> GOUCBState:
        """Record y_t and update the estimate with all observations so far."""
        u, before = bounds.scaled(action), state
        state = state._replace(
            x=state.x.append(u), y=state.y.append(reward), rounds=state.rounds + 1
        )
        if state.rounds < self.n_init:
            return state
        if before.rounds >= self.n_init and self.trust is not None:
            state = self._resized(state, before, reward)
        if before.rounds < self.n_init:  # the last round of Phase I: w_0 <- Oracle(x, y)
            fit = self.oracle.first(*self._data(state, bounds), state.starts, self._lambda(state))
            error2 = self.radius.error2(fit.w, fit.w)
            return state._replace(w0=fit.w, w=fit.w, anchor=fit.anchor, farthest=0 * error2)
        if self.refit:
            data, last = self._data(state, bounds), Fit(state.w, state.anchor)
            return state._replace(w=self.oracle.again(*data, last, self._lambda(state)).w)
        return self._recursion(state, bounds, u, reward)

    def _recursion(self, state: GOUCBState, bounds: Bounds, u: Tensor, y: Tensor) -> GOUCBState:
        """Apply (3) to (5): w_{t+1} = Sigma_{t+1}^{-1} R_{t+1}, with the gradient at the estimate that selected x_t."""
        model, x = self.model, self._frame(bounds, u).native(u.unsqueeze(1))
        mean, sd = self._units(state)
        g = model.features(state.w, x)
        # The offset of (4) relative to w_0: e_t = g_t^T (w_t - w_0) + y_t - f_{x_t}(w_t).
        e = model.forward(g, state.w - state.w0) + (y.unsqueeze(1) - mean) / sd
        e = e - model.value(state.w, x)
        state = state._replace(
            gradients=state.gradients.append(g.squeeze(1)),
            offsets=state.offsets.append(e.squeeze(1)),
            farthest=torch.maximum(state.farthest, self.radius.error2(state.w, state.w0)),
        )
        # By (4) and (5), w_{t+1} = Sigma^{-1} R = w_0 + Sigma^{-1} sum_i g_i e_i.
        return state._replace(
            w=state.w0 + self.ellipsoid(state, bounds).combine(state.offsets.view)
        )

    def ellipsoid(self, state: GOUCBState, bounds: Bounds) -> Ellipsoid:
        """Return Sigma_t from the gradients of Phase II, or with ``refit`` from all observations at the current parameters."""
        features = state.gradients.view
        if self.refit:
            features = self.model.features(state.w, self._points(state, bounds))
        return Ellipsoid.of(self.model, features, self._lambda(state), state.w.shape[1])

    def predict(self, state: GOUCBState, bounds: Bounds, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return f_x(w_t) and the bonus sqrt(beta_t) u_t(x) in the user's units, R x N each. ``x``: R x N x d, points of the box.

        Raises:
            ValueError: fewer than ``n_init`` observations.
        """
        if state.rounds < self.n_init:
            raise_invalid("state.rounds", state.rounds, f"at least n_init={self.n_init}")
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
        """Return the box in the model's coordinates."""
        if self.scaling == "none":
            return bounds
        return Bounds.cube(bounds.dim, dtype=like.dtype, device=like.device)

    def _points(self, state: GOUCBState, bounds: Bounds) -> Tensor:
        return self._frame(bounds, state.w).native(state.x.view)

    def _units(self, state: GOUCBState) -> tuple[Tensor, Tensor]:
        """Return the mean and standard deviation that standardize the observed values for the model, R x 1 each."""
        if self.scaling == "none":
            return torch.zeros_like(state.length), torch.ones_like(state.length)
        return mean_and_std(state.y.view, None if self.scaling == "all" else self.n_init)

    def _data(self, state: GOUCBState, bounds: Bounds) -> tuple[Model, Tensor, Tensor]:
        mean, sd = self._units(state)
        return self.model, self._points(state, bounds), (state.y.view - mean) / sd

    def _resized(self, state: GOUCBState, before: GOUCBState, reward: Tensor) -> GOUCBState:
        trust, counts = self.trust, (before.successes, before.failures)
        limits = trust.successes, trust.failures
        # The best value before this round and the new one are compared in the user's units.
        factor, successes, failures = resize_factor(
            before.y.view, reward, trust.gain, counts, limits
        )
        length = (before.length * factor.unsqueeze(1)).clamp(trust.least, trust.most)
        return state._replace(length=length, successes=successes, failures=failures)


def printed_ridge(T: int) -> float:
    """Return the paper's ridge lambda = sqrt(T) ln(T)^2, which is 0 at T = 1. Source: Liu & Wang (2023), Appendix D.1."""
    return math.sqrt(T) * math.log(T) ** 2
