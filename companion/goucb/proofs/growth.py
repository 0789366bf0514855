"""Assumption 3.3: the risk of the reference problems, its growth around w*, self-concordance, and the landscape of Figure 1.

w* is not identifiable. Therefore a distance to w* requires a choice among the parameters of the same function (E10). Permuting hidden units,
and (W1_j, b1_j, w2_j, b2) -> (-W1_j, -b1_j, -w2_j, b2 + w2_j), leave f_w unchanged, because s(-z) = 1 - s(z). This is our addition; the
paper takes w* to be unique.
Source: Liu & Wang (2023), Assumption 3.3, Figure 1 and Appendix C.1.
Letters: h hidden units, d dimensions, dw = h d + 2 h + 1 parameters, R trials, N parameter vectors, H = Hess L(w*) = 2 E g g^T, zeta its
largest eigenvalue, mu growth.
"""

import itertools
import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.optimize import brentq, minimize
from torch import Tensor

from paperlib.checks import ByConstruction, Check, statement
from paperlib.core import fields
from paperlib.core.describe import frozen_dataclass
from paperlib.goucb.problems.reference import HALF, Reference
from paperlib.goucb.theory.constants import PAPER

STARTS = 24  # starting points of each search
NODES = 200  # nodes of the Gauss-Legendre quadrature over the points
TRUTH = 0.5  # w* of the landscape
FREQUENCY = 16 * math.pi  # omega of the landscape

# Parameters of the same network ---------------------------------------------------------------------------


def permute_units(w: Any, hidden: int, order: Sequence[int], flips: Sequence[bool]) -> np.ndarray:
    """Return the parameters of the same network with unit ``order[j]`` of w at position j, and flipped signs where ``flips[j]``.

    Args:
        w: dw numbers.
        hidden: h.
        order: a permutation of 0, ..., h - 1.
        flips: h booleans.
    """
    W1, b1, w2, b2 = np.split(np.asarray(w, float), [-2 * hidden - 1, -hidden - 1, -1])
    # One row per unit: W1_j, b1_j, w2_j.
    units = np.column_stack([W1.reshape(hidden, -1), b1, w2])[list(order)]
    b2 = b2 + units[list(flips), -1].sum()
    units = np.where(np.array(flips)[:, None], -units, units)
    return np.concatenate([units[:, :-2].ravel(), units[:, -2], units[:, -1], b2])


def equivalents(w: Any, hidden: int) -> np.ndarray:
    """Return all 2^h h! parameters of the same network as rows, w first, for example 8 rows for h = 2. Use it only for few units."""
    signs = list(itertools.product([False, True], repeat=hidden))
    orders = itertools.permutations(range(hidden))
    return np.stack([permute_units(w, hidden, order, flips) for order in orders for flips in signs])


def closest_equivalent(star: Any, w: np.ndarray, hidden: int) -> np.ndarray:
    """Return the equivalent of w* nearest to each row of w in Euclidean distance, R x dw. A run uses the one nearest to its w_0 in all rounds.

    Args:
        star: w*, dw numbers.
        w: R x dw.
        hidden: h.
    """
    found = equivalents(star, hidden)
    return found[((found - w[:, None]) ** 2).sum(2).argmin(1)]


# The risk of a reference problem --------------------------------------------------------------------------


class Growth(NamedTuple):
    """The growth constant mu, and the parameters where it is attained."""

    mu: float
    w: np.ndarray  # dw


@frozen_dataclass
class Risk:
    """Risk L(w) = E (f_x(w) - f_x(w*))^2 of a reference problem, by quadrature."""

    problem: Reference

    @cached_property
    def rule(self) -> tuple[Tensor, Tensor]:
        """Quadrature rule: points, 1 x M x 1, and weights with sum 1, M."""
        z, weight = np.polynomial.legendre.leggauss(NODES)
        return torch.from_numpy(HALF * z).view(1, -1, 1), torch.from_numpy(weight / 2)

    @cached_property
    def truth(self) -> Tensor:
        """The true parameters w*, 1 x dw."""
        return torch.tensor([self.problem.truth.w], dtype=torch.float64)

    def _error(self, w: Tensor) -> Tensor:
        x, _ = self.rule
        return self.problem.network.value(w, x) - self.problem.network.value(self.truth, x)

    def value(self, w) -> np.ndarray:
        """Return L, N. ``w``: N x dw."""
        w = torch.as_tensor(np.asarray(w, float)).contiguous()
        return (self._error(w).square() @ self.rule[1]).numpy()

    def gradient(self, w) -> np.ndarray:
        """Return the gradient 2 E (f_w - f_w*) g, N x dw."""
        w = torch.as_tensor(np.asarray(w, float)).contiguous()
        net, (x, weight) = self.problem.network, self.rule
        return 2 * net.adjoint(net.features(w, x), self._error(w) * weight).numpy()

    def hessian(self, w) -> np.ndarray:
        """Return the Hessian 2 E [g g^T + (f_w - f_w*) Hess f_w], N x dw x dw."""
        w = torch.as_tensor(np.asarray(w, float)).contiguous()
        net, (x, weight) = self.problem.network, self.rule
        g = net.gradient(net.features(w, x))
        first = torch.einsum("m,nmi,nmj->nij", weight, g, g)
        return (
            2 * (first + torch.einsum("nm,nmij->nij", self._error(w) * weight, net.hessian(w, x)))
        ).numpy()

    @cached_property
    def at_truth(self) -> np.ndarray:
        """The Hessian H at w*, dw x dw."""
        return self.hessian(self.truth)[0]

    @property
    def zeta(self) -> float:
        """Largest eigenvalue of H; at most 2 C_g^2."""
        return float(np.linalg.eigvalsh(self.at_truth)[-1])

    @property
    def local(self) -> float:
        """Smallest eigenvalue of H, which is the largest mu that holds near w*."""
        return float(np.linalg.eigvalsh(self.at_truth)[0])

    @cached_property
    def stars(self) -> np.ndarray:
        """The parameters in W that give the same f, w* first, E x dw (E10)."""
        truth = self.problem.truth
        found = equivalents(truth.w, truth.hidden)
        return found[((found >= truth.lo) & (found <= truth.hi)).all(1)]

    @cached_property
    def on_box(self) -> Growth:
        """Largest mu with (mu / 2) ||w - w*||^2 <= L(w) on W, where w* is the nearest of ``stars``.

        It is found by L-BFGS-B from many starts.
        """
        truth = self.problem.truth

        def ratio(w):
            moves = w - self.stars
            move = moves[(moves**2).sum(1).argmin()]
            far2 = max(move @ move, 1e-12)
            value, slope = self.value(w[None])[0], self.gradient(w[None])[0]
            return 2 * value / far2, 2 * slope / far2 - 4 * value / far2**2 * move

        box = [(truth.lo, truth.hi)] * len(truth.w)
        starts = np.random.default_rng(0).uniform(truth.lo, truth.hi, (STARTS, len(box)))
        found = [minimize(ratio, w, jac=True, method="L-BFGS-B", bounds=box) for w in starts]
        least = min(found, key=lambda end: end.fun)
        return Growth(float(least.fun), least.x)

    # Self-concordance (E8): (1 - c)^2 H <= Hess L(w) <= (1 - c)^{-2} H for ||w - w*||_H <= c

    @cached_property
    def whitening(self) -> np.ndarray:
        """Whitening matrix M with M^T H M = I, dw x dw."""
        eigenvalues, vectors = np.linalg.eigh(self.at_truth)
        return vectors / np.sqrt(eigenvalues)

    @cached_property
    def third(self) -> tuple[float, np.ndarray]:
        """Largest |D^3 L(w*)[u, u, v]| with ||u||_H = ||v||_H = 1, and a maximizing u in whitened coordinates.

        For a symmetric form the largest value is attained at u = v. It is found by iterating u <- D^3 L[u, u, .] / ||.|| from many starts.
        """
        net, (x, weight), M = self.problem.network, self.rule, self.whitening
        g = net.gradient(net.features(self.truth, x))[0].numpy() @ M
        bend = M.T @ net.hessian(self.truth, x)[0].numpy() @ M
        form = np.einsum("m,mi,mjk->ijk", 2 * weight.numpy(), g, bend)
        form = form + form.transpose(1, 0, 2) + form.transpose(2, 1, 0)
        best = (0.0, g[0])
        for u in np.random.default_rng(0).normal(size=(STARTS, len(M))):
            u = u / np.linalg.norm(u)
            for _ in range(200):
                # The shift by 100 u makes the iteration increase the form.
                step = np.einsum("ijk,i,j->k", form, u, u) + 100 * u
                u = step / np.linalg.norm(step)
            value = abs(float(np.einsum("ijk,i,j,k->", form, u, u, u)))
            best = max(best, (value, u), key=lambda pair: pair[0])
        return best

    def relative(self, steps) -> np.ndarray:
        """Return the smallest and largest eigenvalue of Hess L(w* + M u) relative to H, N x 2. ``steps``: u, N x dw; ||u|| = ||w - w*||_H."""
        steps, M = np.atleast_2d(np.asarray(steps, float)), self.whitening
        found = M.T @ self.hessian(self.truth.numpy() + steps @ M.T) @ M
        return np.linalg.eigvalsh(found)[:, [0, -1]]

    def around(self, c: float) -> np.ndarray:
        """Return steps u with ||u|| = c, 202 x dw: both directions along the maximizer of ``third``, and 200 random ones."""
        u = np.random.default_rng(1).normal(size=(200, len(self.whitening)))
        u = np.concatenate([self.third[1][None], -self.third[1][None], u])
        return c * u / np.linalg.norm(u, axis=1, keepdims=True)


@statement("Assumption 3.3, growth", f"{PAPER}, Assumption 3.3")
def growth_condition(risk: Risk, growth: float, w: np.ndarray, nearest: bool = False) -> Check:
    """(mu / 2) ||w - w*||^2 <= L(w) on W, the first of two branches; holds by construction for the mu of ``Risk.on_box``.

    This mu is the smallest 2 L(w) / ||w - w*||^2 that a search over W finds. The check detects a mu that is only local, and any mu if W
    contains two parameters of one function (E10).

    Args:
        risk: L.
        growth: mu.
        w: parameters in W, N x dw.
        nearest: whether w* is, for each w, the nearest of the parameters of f in W; otherwise one w* is used for all w.
    """
    stars = risk.stars if nearest else risk.stars[:1]
    far2 = ((w[:, None] - stars) ** 2).sum(2).min(1)
    return growth_condition.statement.check(
        "(mu / 2) ||w - w*||^2 <= L(w)",
        {"mu": growth, "parameters of f": len(stars)},
        growth / 2 * far2,
        risk.value(w) + 1e-12,
        kind=ByConstruction if nearest and growth <= risk.on_box.mu else Check,
    )


@statement("Assumption 3.3, self-concordance", f"{PAPER}, Assumption 3.3")
def self_concordance(risk: Risk, c: float) -> Check:
    """(1 - c)^2 H <= Hess L(w) <= (1 - c)^{-2} H for ||w - w*||_H <= c: by eigenvalues relative to H, at such w.

    The check fails on references A and B for every c that was tried (E8). The proofs do not need the property (E9).
    """
    return self_concordance.statement.check(
        "(1 - c)^2 <= eigenvalues <= (1 - c)^{-2}",
        {"c": c},
        risk.relative(risk.around(c)) * [-1.0, 1.0],
        [-((1 - c) ** 2), (1 - c) ** -2],
    )


# The landscape of Figure 1 --------------------------------------------------------------------------------


@frozen_dataclass
class Landscape:
    """A one-dimensional risk that satisfies the growth condition of Assumption 3.3 and is far from convex. The paper's Figure 1 sketches one without a formula.

    The formula is our addition: W = [0, 1], w* = 1/2, v = w - w*,
    L(w) = 2^{(2 - gamma) / 2} (mu / 2) v^2 (1 + (v / r_0)^2)^{-(2 - gamma) / 2} (1 + A (1 - cos omega v)), r_0 = (tau / mu)^{1 / (2 - gamma)}.
    It is at least min{(mu / 2) v^2, (tau / 2) |v|^gamma}, because (1 + y^2)^{(2 - gamma) / 2} <= 2^{(2 - gamma) / 2} max(1, |y|^{2 - gamma}).

    Attributes:
        mu: > 0, growth near w*.
        tau: > 0, growth far from w*.
        gamma: in (0, 2), exponent of the growth far from w*.
        wave: A >= 0, amplitude of the waves.

    Raises:
        ValueError: a value is out of range.
    """

    mu: float = fields.positive(64.0)
    tau: float = fields.positive(1.0)
    gamma: float = fields.number(0.5, least=0.001, most=2 - 0.001)
    wave: float = fields.nonnegative(0.6)

    @property
    def switch(self) -> float:
        """Radius r_0 where the two lower bounds are equal."""
        return (self.tau / self.mu) ** (1 / (2 - self.gamma))

    def _derivatives(self, w):
        """Return L, L' and L'', any shape."""
        v = np.asarray(w, float) - TRUTH
        # s and its derivatives: L without the waves.
        p, r2 = (2 - self.gamma) / 2, self.switch**2
        scale, y = 2**p * self.mu / 2, 1 + v**2 / r2
        s = scale * v**2 * y**-p
        s1 = scale * (2 * v * y**-p - 2 * p / r2 * v**3 * y ** (-p - 1))
        s2 = 2 * y**-p - 10 * p / r2 * v**2 * y ** (-p - 1)
        s2 = scale * (s2 + 4 * p * (p + 1) / r2**2 * v**4 * y ** (-p - 2))
        # q and its derivatives: the factor with the waves; L = s q.
        A, omega = self.wave, FREQUENCY
        q = 1 + A * (1 - np.cos(omega * v))
        q1, q2 = A * omega * np.sin(omega * v), A * omega**2 * np.cos(omega * v)
        return s * q, s1 * q + s * q1, s2 * q + 2 * s1 * q1 + s * q2

    def risk(self, w):
        """Return L, any shape."""
        return self._derivatives(w)[0]

    def slope(self, w):
        """Return L'."""
        return self._derivatives(w)[1]

    def bend(self, w):
        """Return L''."""
        return self._derivatives(w)[2]

    def near(self, w):
        """Return the lower bound near w*, (mu / 2) v^2."""
        return self.mu / 2 * (np.asarray(w, float) - TRUTH) ** 2

    def far(self, w):
        """Return the lower bound far from w*, (tau / 2) |v|^gamma."""
        return self.tau / 2 * np.abs(np.asarray(w, float) - TRUTH) ** self.gamma

    def lower(self, w):
        """Return the smaller of the two bounds, which is the lower bound of Assumption 3.3."""
        return np.minimum(self.near(w), self.far(w))

    def _roots(self, f, ends: np.ndarray) -> np.ndarray:
        at = f(ends)
        change = np.flatnonzero(at[:-1] * at[1:] < 0)
        return np.array([brentq(f, ends[i], ends[i + 1], xtol=1e-14) for i in change])

    def minima(self) -> np.ndarray:
        """Return the local minima on [0, 1] in ascending order; w* is one of them."""
        # With an even number of steps a node would be at w*, where L' is 0 and has no sign change.
        roots = self._roots(self.slope, np.linspace(0.0, 1.0, 20002))
        found = [w for w in roots if self.bend(w) > 0]
        ends = [w for w, out in ((0.0, 1), (1.0, -1)) if out * self.slope(w) > 0]
        return np.sort(np.array(found + ends))

    @property
    def convex_within(self) -> float:
        """Largest r such that L is convex on |v| < r."""
        roots = self._roots(self.bend, TRUTH + np.linspace(0.0, TRUTH, 10001))
        return float(roots[0] - TRUTH) if len(roots) else TRUTH


@statement("Figure 1", f"{PAPER}, Figure 1 and Assumption 3.3")
def figure_1(landscape: Landscape, w: Any) -> Check:
    """min{(mu / 2) |v|^2, (tau / 2) |v|^gamma} <= L(w), v = w - w*.

    ``w``: in [0, 1], any shape.
    """
    return figure_1.statement.check(
        "min{(mu / 2) v^2, (tau / 2) |v|^gamma} <= L",
        {"mu": landscape.mu, "tau": landscape.tau, "gamma": landscape.gamma},
        landscape.lower(w),
        landscape.risk(w),
    )
