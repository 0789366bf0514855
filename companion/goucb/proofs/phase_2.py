"""Phase II of a recorded run, with Sigma_t, the estimates and the terms of the proofs recomputed.

Gradients are taken at the learner's estimates, so that an error of one round does not propagate to the next.
Source: Liu & Wang (2023), (3) to (5) and the proofs of Lemmas 5.3 to 5.5.
Letters: R trials, T rounds of Phase II, t = 0, ..., T terms in Sigma_t (E1), d dimensions, dw parameters; g_i gradient of f_{x_i} at w_i,
eta_i = y_i - f_{x_i}(w*), rho_i = f_{x_i}(w*) - f_{x_i}(w_i) - g_i^T (w* - w_i).
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from paperlib.core.trace import Trace
from paperlib.goucb.model.network import TwoLayerNet
from paperlib.goucb.theory.constants import curvature_bound, slope_bound

from .growth import closest_equivalent


class Series(NamedTuple):
    """Series that ``Replay`` recomputes for t = 0, ..., T, each R x (T + 1) unless noted otherwise."""

    Sigma: Tensor  # R x (T + 1) x dw x dw
    center: Tensor  # R x (T + 1) x dw, Sigma_t^{-1} R_t: (5)
    growth: Tensor  # l_t = ln(det Sigma_t / det lambda I)
    trace: Tensor  # S_t = sum_{i < t} g_i^T Sigma_t^{-1} g_i
    resolvent: Tensor  # dw - lambda tr Sigma_t^{-1}
    noise2: Tensor  # ||sum_{i < t} g_i eta_i||^2_{Sigma_t^{-1}}
    identity: Tensor  # R x (T + 1) x dw, Sigma_t^{-1} (sum g_i rho_i + sum g_i eta_i + lambda (w_0 - w*)): (13)
    far2: Tensor  # ||w_t - w*||^2_{Sigma_t}
    u2: Tensor  # R x T, g_t^T Sigma_t^{-1} g_t


@dataclass(frozen=True, eq=False)
class Replay:
    """Phase II of a recorded run.

    Attributes:
        model: f_w, the learner's model.
        ridge: lambda.
        x: points, R x T x d, in the model's coordinates.
        y: observations, R x T.
        w: the learner's w_0, ..., w_T, R x (T + 1) x dw.
        truth: w*, R x dw, one of the equivalents.
        ball: the learner's ball, R x T x 3, see ``probes.Ball``.
        gaps: f* - f(x_t) as recorded during the run, R x T.
    """

    model: TwoLayerNet
    ridge: float
    x: Tensor
    y: Tensor
    w: Tensor
    truth: Tensor
    ball: Tensor
    gaps: Tensor

    @classmethod
    def of(
        cls, trace: Trace, model: TwoLayerNet, n_init: int, ridge: float, truth: tuple[float, ...]
    ) -> "Replay":
        """Build a replay from a trace of every round with the probes ``probes.recording_probes``.

        Args:
            trace: trace of GO-UCB with its recursion, on points and observations without scaling.
            model: the learner's model.
            n_init: rounds of Phase I, which are omitted.
            ridge: lambda.
            truth: w*, dw numbers; the equivalent nearest to each w_0 is used.
        """
        later = lambda name: torch.from_numpy(np.ascontiguousarray(trace[name][:, n_init:]))
        w = torch.cat([later("w"), torch.from_numpy(trace.final["end"]).unsqueeze(1)], 1)
        return cls(
            model,
            ridge,
            later("x"),
            later("y"),
            w,
            torch.from_numpy(closest_equivalent(truth, w[:, 0].numpy(), model.hidden)),
            later("ball"),
            torch.from_numpy(np.diff(trace["regret"], axis=1, prepend=0.0)[:, n_init:]),
        )

    @property
    def rounds(self) -> int:
        """Number of rounds of Phase II, T."""
        return self.x.shape[1]

    @property
    def inputs(self) -> dict[str, Any]:
        """Inputs that every check reports."""
        return {"T": self.rounds, "dw": self.w.shape[2], "lambda": self.ridge}

    @property
    def radius(self) -> Tensor:
        """The learner's sqrt(beta_t), R x T."""
        return self.ball[:, :, 2]

    # Of each round ---------------------------------------------------------------------------------------

    @cached_property
    def true(self) -> Tensor:
        """Values at the true parameters, f_{x_t}(w*), R x T."""
        return self.model.value(self.truth, self.x)

    def _each(self, function) -> Tensor:
        """Evaluate ``function(w_t, x_t)`` in all rounds at once, R x T x ...."""
        R, T, d = self.x.shape
        found = function(self.w[:, :-1].reshape(R * T, -1), self.x.reshape(R * T, 1, d))
        return found.view(R, T, *found.shape[2:])

    @cached_property
    def g(self) -> Tensor:
        """Gradients g_t, R x T x dw."""
        return self._each(lambda w, x: self.model.gradient(self.model.features(w, x)))

    @cached_property
    def value(self) -> Tensor:
        """Values at the estimates, f_{x_t}(w_t), R x T."""
        return self._each(self.model.value)

    @property
    def apart(self) -> Tensor:
        """Errors w_t - w*, R x (T + 1) x dw."""
        return self.w - self.truth.unsqueeze(1)

    @property
    def rho(self) -> Tensor:
        """Remainder of the first-order Taylor expansion at w*, R x T."""
        return self.true - self.value + (self.g * self.apart[:, :-1]).sum(2)

    @cached_property
    def distance2(self) -> Tensor:
        """Squared errors ||w_t - w*||^2, R x (T + 1)."""
        return self.apart.square().sum(2)

    @cached_property
    def reached(self) -> Tensor:
        """C_g and C_h on the segments from w_t to w*, R x 2. The segments leave W, where the bounds of Assumption 3.2 hold (E5)."""
        norm2 = float(self.x.square().sum(2).max())
        weights = self.model.layers(torch.cat([self.w, self.truth.unsqueeze(1)], 1)).w2
        bounds = [
            (slope_bound(self.model.hidden, norm2, w).value, curvature_bound(norm2, w).value)
            for w in weights.abs().amax((1, 2)).tolist()
        ]
        return self.x.new_tensor(bounds)

    # Along the run ---------------------------------------------------------------------------------------

    @cached_property
    def along(self) -> Series:
        """The series of the run, with one Cholesky factorization per round."""
        T, dw = self.g.shape[1:]
        ridge, w0 = self.ridge, self.w[:, 0]
        eye = torch.eye(dw, dtype=self.w.dtype)
        Sigma = ridge * eye.expand(len(w0), -1, -1)
        # Three right-hand sides: R_t of (5), sum g eta of Lemma B.3, and sum g (rho + eta) + lambda
        # (w_0 - w*) of (13).
        sums = torch.stack([ridge * w0, 0 * w0, ridge * (w0 - self.truth)], 2)
        target = (self.g * self.w[:, :-1]).sum(2) + self.y - self.value
        eta = self.y - self.true
        weights = torch.stack([target, eta, self.rho + eta], 2)
        found: list[list[Tensor]] = [[] for _ in Series._fields]
        for t in range(T + 1):
            factor = torch.linalg.cholesky(Sigma)
            solved = torch.cholesky_solve(sums, factor)
            half = torch.linalg.solve_triangular(factor, self.g[:, :t].mT, upper=False)
            inverse = torch.linalg.solve_triangular(factor, eye, upper=False)
            diagonal = factor.diagonal(dim1=1, dim2=2)
            values = [
                Sigma,
                solved[:, :, 0],
                2 * diagonal.log().sum(1) - dw * math.log(ridge),
                half.square().sum((1, 2)),
                dw - ridge * inverse.square().sum((1, 2)),
                (sums[:, :, 1] * solved[:, :, 1]).sum(1),
                solved[:, :, 2],
                (factor.mT @ self.apart[:, t].unsqueeze(2)).square().sum((1, 2)),
            ]
            if t < T:
                g = self.g[:, t].unsqueeze(2)
                half = torch.linalg.solve_triangular(factor, g, upper=False)
                values.append(half.square().sum((1, 2)))
                Sigma = Sigma + g * g.mT
                sums = sums + g * weights[:, t].unsqueeze(1)
            for series, value in zip(found, values):
                series.append(value)
        return Series(*(torch.stack(series, 1) for series in found))

    def root(self, noise: float, curvature: float, delta: float) -> Tensor:
        """Return sqrt(beta_t) for t = 0, ..., T - 1, R x T: the smallest that the proof of Lemma 5.3 gives, with the exact value of each term.

        sigma sqrt(l_t + 2 ln(2 / delta)) + sqrt(lambda) ||w_0 - w*|| + C_h / 2 max_{i < t} ||w_i - w*||^2 sqrt(t S_t).

        Args:
            noise: sigma.
            curvature: C_h.
            delta: failure probability.
        """
        along, T = self.along, self.rounds
        t = torch.arange(T, dtype=self.w.dtype)
        farthest = self.distance2.cummax(1).values[:, : T - 1]
        farthest = torch.cat([torch.zeros_like(self.distance2[:, :1]), farthest], 1)
        growth = (along.growth[:, :T] + 2 * math.log(2 / delta)).clamp(min=0)
        root = noise * growth.sqrt() + (self.ridge * self.distance2[:, 0]).sqrt().unsqueeze(1)
        return root + curvature / 2 * farthest * (t * along.trace[:, :T]).clamp(min=0).sqrt()

    def far_corner2(self, lo: float, hi: float) -> Tensor:
        """Return the largest ||v - w_t||^2_{Sigma_t} found over corners v of [lo, hi]^dw, R x T. A ball needs at least this squared radius to contain W.

        A convex function on a box is largest at a corner. The search starts at the corner opposite to w_t and moves from corner to corner while
        the value increases.
        """
        center, Sigma = self.w[:, :-1], self.along.Sigma[:, :-1]
        corner = torch.where(center > (lo + hi) / 2, lo, hi)
        best = torch.zeros_like(center[:, :, 0])
        for _ in range(20):
            slope = (Sigma @ (corner - center).unsqueeze(3)).squeeze(3)
            best = torch.maximum(best, ((corner - center) * slope).sum(2))
            corner = torch.where(slope > 0, hi, lo).to(center)
        return best

    def surface(self, t: int, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return f_x(w_t) and sqrt(beta_t) u_t(x) with the learner's sqrt(beta_t), R x N each. ``x``: R x N x d or 1 x N x d."""
        features = self.model.features(self.w[:, t], x.expand(len(self.w), -1, -1))
        g, past = self.model.gradient(features), self.g[:, :t]
        eye = torch.eye(g.shape[2], dtype=g.dtype)
        factor = torch.linalg.cholesky(self.ridge * eye + past.mT @ past)
        half = torch.linalg.solve_triangular(factor, g.mT, upper=False)
        return self.model.value(self.w[:, t], x), self.radius[:, t : t + 1] * half.square().sum(
            1
        ).sqrt()
