"""Certified optimism over likelihood sets: which arm has the largest x^T theta over {L(theta) <= L_hat + b}.

The set is convex and grows from the maximum likelihood estimate: with b the budget, L the negative
log-likelihood with its ridge, L_hat its minimum, c = L_hat + b,
    C = {theta : L(theta) <= c}, within ||theta||_2 <= S if there is a ball;  UCB(x) = max of x^T theta over C.
Only the arm with the largest UCB is needed. Every point theta_j at which L was evaluated (an anchor) bounds
*all* UCBs, by convexity alone:
    above, because C lies in the half-space g_j^T (theta - theta_j) <= c - L_j (with a ridge: in a ball);
    below, because theta_hat + min(1, b / psi_j) (theta_j - theta_hat), psi_j = L_j - L_hat, lies in C.
A round ends when the lower bound of one arm reaches the upper bounds of the others: the decision is then
proved, however the anchors were found. They are found by sequential quadratic programming.

Sources: the sets are those of Abeille, Faury & Calauzenes (2021) and Lee, Yun & Jun (2024), who maximize over
them by generic solvers, one constrained problem an arm.
One trial at a time, in numpy. Shapes: n rounds (or K arms with counts), K arms, J anchors, d dimensions.
"""

import math
from contextlib import suppress
from typing import NamedTuple

import numpy as np
from numpy import ndarray
from scipy.linalg.lapack import dsyevd
from scipy.optimize import brentq

from ...core.linalg import argmax_first
from ..model.links import Bernoulli, Link

TIE = 1e-6  # arms whose UCBs are proved to differ by less count as equal
ENOUGH = 1e-9  # Newton decrement, in units of L (times b if b < 1), below which the minimum of L counts as known
PASSES = 20  # times K: evaluations of L after which a round stays undecided
FAR = 4  # times b: psi beyond which the quadratic model of an anchor is not trusted
SLOW = 0.7  # a step that leaves more than this share of the gap between the bounds is taken back halfway
ROUNDING = 8 * np.finfo(float).eps  # relative, of a difference of squares
FLOOR = 1e-8  # smallest curvature used, where fewer than d directions have been seen
ACCURACY = 1e-9  # relative, of a multiplier: steps decide how fast bounds close, not if they hold


def family_terms(link: Link, z: ndarray) -> tuple[ndarray, ndarray, ndarray]:
    """m(z), mu(z), mu'(z) elementwise from one exponential, of Bernoulli or Poisson rewards."""
    if isinstance(link, Bernoulli):
        e = np.exp(-np.abs(z))
        up = 1 / (1 + e)
        small = e * up
        return np.maximum(z, 0) - np.log(up), np.where(z >= 0, up, small), small * up
    m = np.exp(z)
    return m, m, m


def argmax_parameter(values: ndarray) -> int:
    """Index of the largest value; natural parameters equal up to rounding count as ties, which go to the lowest index."""
    return int(argmax_first(values[None], 1.0)[0])


class Anchors(NamedTuple):
    """Points at which the likelihood (without ridge) is known exactly; slot 0 is the estimate, the rest a ring.

    In a learner's state each is a tensor with leading R, here an array of one trial. Empty slots are zero.
    """

    point: ndarray  # J x d
    value: ndarray  # J, sum_i m(z_i) - r_i z_i
    gradient: ndarray  # J x d
    hessian: ndarray  # J x d x d

    def plus(self, link: Link, x: ndarray, reward: ndarray) -> "Anchors":
        """All anchors of R trials after one more observation each: O(J d^2), no pass over the history.

        ``x``: R x d, ``reward``: R; the arrays of ``self`` have leading R.
        """
        m, mu, slope = family_terms(link, z := np.matmul(self.point, x[:, :, None])[:, :, 0])
        outer = x[:, None, :, None] * x[:, None, None, :]
        return Anchors(
            self.point,
            self.value + (m - reward[:, None] * z),
            self.gradient + (mu - reward[:, None])[:, :, None] * x[:, None, :],
            self.hessian + slope[:, :, None, None] * outer,
        )


class Likelihood(NamedTuple):
    """Negative log-likelihood of one trial, sum_i w_i m(x_i^T theta) - (sum_i r_i x_i)^T theta."""

    link: Link
    points: ndarray  # n x d
    weights: ndarray | None  # n, or None: one each
    moment: ndarray  # d, sum of reward times point

    def at(self, theta: ndarray) -> tuple[float, ndarray, ndarray]:
        """Value, gradient (d) and Hessian (d x d): one pass over the history."""
        m, mu, slope = family_terms(self.link, self.points @ theta)
        if self.weights is None:
            value = m.sum()
        else:
            value, mu, slope = self.weights @ m, self.weights * mu, self.weights * slope
        gradient, hessian = mu @ self.points - self.moment, (self.points.T * slope) @ self.points
        return value - self.moment @ theta, gradient, hessian


class QuadraticModel(NamedTuple):
    """q around a point, in the eigenbasis of its Hessian, for the step of sequential quadratic programming.

        maximize x^T p  subject to  q(p) = v + g^T (p - theta) + 1/2 (p - theta)^T H (p - theta) <= c,  ||p||_2 <= S.

    Stationarity, with multipliers 1 of the objective, 1/s of q and nu/s of the ball:
        H (p - theta) + g + nu p = s x,  nu >= 0.
    In the eigenbasis of H = Q diag(l) Q^T everything is a sum over d coordinates. These sums run over plain Python
    floats: for the d of bandits that is several times faster than d-vectors of numpy.
    """

    value: float  # v
    basis: ndarray  # Q, d x d, columns
    length: list  # l, d
    center: list  # Q^T theta, d
    slope: list  # Q^T g, d
    target: list  # Q^T (H theta - g), d: the unconstrained minimizer is target / l

    @classmethod
    def around(
        cls, theta: ndarray, value: float, gradient: ndarray, hessian: ndarray
    ) -> "QuadraticModel":
        """From value, gradient (d) and Hessian (d x d) at ``theta`` (d)."""
        length, basis, _ = dsyevd(hessian)
        length = np.maximum(length, FLOOR)
        center, slope = theta @ basis, gradient @ basis
        target = length * center - slope
        return cls(float(value), basis, *(a.tolist() for a in (length, center, slope, target)))

    def at(self, p: list) -> float:
        """q of a point given in the eigenbasis."""
        return self.value + sum(
            (g + 0.5 * l * (a - t)) * (a - t)
            for a, l, t, g in zip(p, self.length, self.center, self.slope)
        )

    def minimizer(self, ball: float | None) -> tuple[ndarray, float, float]:
        """The minimizer over the ball, the decrease -g^T (p - theta) to first order, and the decrease of q."""
        p = self.projected(self.target, ball)
        first = -sum(g * (a - t) for a, t, g in zip(p, self.center, self.slope))
        return self.basis @ p, first, self.value - self.at(p)

    def projected(self, target: list, ball: float | None) -> list:
        """(H + nu I)^{-1} target with the smallest nu >= 0 that brings it into the ball, in the eigenbasis.

        Newton on 1/||p(nu)|| = 1/S from nu = 0: concave and increasing, so it never overshoots.
        """
        pairs, nu = list(zip(target, self.length)), 0.0
        for _ in range(100):
            norm2 = slant = 0.0
            for b, l in pairs:
                shrink = 1 / (l + nu)
                square = (b * shrink) ** 2
                norm2 += square
                slant += square * shrink
            if ball is None or norm2 <= ball * ball:
                break
            step = (math.sqrt(norm2) / ball - 1) * norm2 / slant
            nu += step
            if step <= 1e-15 * nu:
                break
        return [b / (l + nu) for b, l in pairs]

    def maximizer(self, x: ndarray, level: float, ball: float | None) -> ndarray:
        """argmax of x^T p over {q <= level} and the ball; the minimizer of q where the set is empty. ``x``: d, not 0."""
        y = (x @ self.basis).tolist()
        p = self._along(y, level, 0.0)
        if p is None or (ball is not None and math.fsum(a * a for a in p) > ball * ball):
            p = self._on_sphere(y, level, ball)
        p = self.basis @ p
        size = 1.0 if ball is None else math.sqrt(p @ p) / ball
        return p / size if size > 1 else p

    def _along(self, y: list, level: float, nu: float) -> list | None:
        """p(s) = (H + nu I)^{-1} (H theta - g + s x) with the larger s at which q = level, or None."""
        a2 = a1 = 0.0
        a0 = self.value - level
        lines = []
        for l, b, t, g, x in zip(self.length, self.target, self.center, self.slope, y):
            u, w = b / (l + nu), x / (l + nu)
            e = u - t
            a2 += 0.5 * l * w * w
            a1 += (g + l * e) * w
            a0 += (g + 0.5 * l * e) * e
            lines.append((u, w))
        root = a1 * a1 - 4 * a2 * a0
        if root < 0:
            if nu > 0:
                return None
            root = 0.0  # q > level everywhere, by rounding: its minimizer
        s = (math.sqrt(root) - a1) / (2 * a2)
        return [u + s * w for u, w in lines]

    def _on_sphere(self, y: list, level: float, ball: float) -> list:
        """Both constraints active: the nu at which ||p|| = S, or, where that branch ends before, bisection on s."""

        def beyond(nu):  # 1/S - 1/||p(nu)||, nearly linear in nu; None where the branch has ended
            p = self._along(y, level, nu)
            return None if p is None else 1 / ball - 1 / math.sqrt(math.fsum(a * a for a in p))

        low, high = 0.0, 0.1 * self.length[-1]
        for _ in range(40):
            gap = beyond(high)
            if gap is None or gap <= 0:
                break
            low, high = high, 8 * high
        if gap is not None and gap <= 0:
            with suppress(TypeError):  # the branch ends in between
                nu = brentq(beyond, low, high, rtol=ACCURACY, maxiter=60, disp=False)
                return self._along(y, level, nu)
        return self._by_multiplier(y, level, ball)

    def _by_multiplier(self, y: list, level: float, ball: float) -> list:
        """p(s) = argmin over the ball of q - s x^T p: q(p(s)) grows with s, bisection on log s for q = level."""
        target = lambda s: [b + s * x for b, x in zip(self.target, y)]
        point = lambda log_s: self.projected(target(math.exp(log_s)), ball)
        excess = lambda log_s: self.at(point(log_s)) - level
        unit = math.log(self.length[-1] * ball / math.sqrt(math.fsum(x * x for x in y)))
        low, high = unit - 30.0, unit + 30.0
        if excess(low) >= 0:
            return self.projected(self.target, ball)
        if excess(high) <= 0:
            return point(high)
        return point(brentq(excess, low, high, rtol=ACCURACY, maxiter=100, disp=False))


class ConfidenceSet:
    """C of one trial and one round.

    Args:
        likelihood: of the history so far.
        anchors: arrays of this trial, written in place.
        written: how many anchors the ring has received so far.
        budget: b >= 0.
        ball: S, or None.
        ridge: lambda >= 0; without a ball it must be positive, or the estimate may not exist.

    Attributes:
        passes: passes over the history so far.
        estimate: theta_hat, d; lowest: L_hat; residue: L - L_hat at slot 0, the last point evaluated by ``fit``;
            fitted: whether Newton converged. ``fit`` sets the four.
    """

    def __init__(
        self,
        likelihood: Likelihood,
        anchors: Anchors,
        written: int,
        budget: float,
        ball: float | None = None,
        ridge: float = 0.0,
    ):
        self.likelihood, self.anchors, self.written = likelihood, anchors, written
        self.budget, self.ball, self.ridge, self.passes = budget, ball, ridge, 0

    def _objective(self, slot: int) -> tuple[ndarray, float, ndarray, ndarray]:
        """Point, value, gradient and Hessian of L at an anchor, with the ridge as it is now."""
        point, value, gradient, hessian = (a[slot] for a in self.anchors)
        if self.ridge:
            value = value + 0.5 * self.ridge * (point @ point)
            gradient = gradient + self.ridge * point
            hessian = hessian + self.ridge * np.eye(len(point))
        return point, value, gradient, hessian

    def _evaluate(self, slot: int, point: ndarray) -> None:
        """Make ``point`` the anchor of ``slot``: one pass."""
        self.passes += 1
        for array, new in zip(self.anchors, (point, *self.likelihood.at(point))):
            array[slot] = new

    def fit(self) -> "ConfidenceSet":
        """theta_hat by damped, projected Newton from slot 0, whose derivatives are known without a pass.

        Should Newton not converge, ``fitted`` is False and no decision of the round counts as proved.
        """
        tolerance = ENOUGH * min(1.0, self.budget) if self.budget > 0 else ENOUGH
        for _ in range(200):
            model = QuadraticModel.around(*self._objective(0))
            target, decrement, decrease = model.minimizer(self.ball)
            self.fitted = bool(decrement <= tolerance)
            if self.fitted:
                break
            step, saved = 1.0, [a[0].copy() for a in self.anchors]
            for _ in range(25):
                self._evaluate(0, saved[0] + step * (target - saved[0]))
                enough = model.value - 1e-4 * step * decrement + 1e-12 * abs(model.value)
                if self._objective(0)[1] <= enough:
                    break
                step /= 2
        self.estimate, self.lowest, self.residue = target, model.value - decrease, decrease
        return self

    def decide(self, arms: ndarray) -> tuple[int, bool]:
        """The arm with the largest UCB and whether that is proved. ``arms``: K x d."""
        if self.budget == 0:
            return argmax_parameter(arms @ self.estimate), self.fitted
        bounds = UCBBounds(self, arms)
        for _ in range(PASSES * len(arms)):
            i = argmax_parameter(bounds.upper)
            if bounds.settled(i) or self.passes >= PASSES * len(arms):
                break
            bounds.refine(i)
        return i, self.fitted and bounds.settled(i)


class UCBBounds:
    """lower_k <= UCB(x_k) <= upper_k for all arms, tightened anchor by anchor."""

    def __init__(self, inside: ConfidenceSet, arms: ndarray):
        self.set, self.arms = inside, arms
        self.square = np.einsum("kd,kd->k", arms, arms)  # ||x||^2
        self.norm = np.sqrt(self.square)
        self.starts: dict[int, int] = {}  # arm -> slot of its last step
        self.near: dict[int, ndarray] = {}  # arm -> where that step began, unless it was taken back
        self.gap: dict[int, float] = {}  # arm -> upper - lower before that step
        self.tried: set[int] = set()  # arms whose S x / ||x|| was evaluated
        ring = len(inside.anchors.point)
        known = slice(0, 1 + min(inside.written, ring - 1))
        self.feasible = np.zeros((ring, arms.shape[1]))  # pulled-back anchors
        self.excess = np.full(ring, math.inf)  # psi_j
        self.reach = np.full((len(arms), ring), -math.inf)
        self.upper = (
            np.full(len(arms), math.inf) if inside.ball is None else inside.ball * self.norm
        )
        self.lower = np.full(len(arms), -math.inf)
        self._absorb(known)

    def _absorb(self, slots: slice) -> None:
        """Tighten the bounds of all arms by the anchors in ``slots``."""
        inside, anchors = self.set, self.set.anchors
        point, value, gradient = anchors.point[slots], anchors.value[slots], anchors.gradient[slots]
        if inside.ridge:
            value = value + 0.5 * inside.ridge * np.einsum("jd,jd->j", point, point)
            gradient = gradient + inside.ridge * point
        excess = value - inside.lowest
        room = inside.budget - excess  # c - L_j
        if inside.ball is None:
            cut = self._ridge_cut(point, gradient, room)
        else:
            cut = self._ball_cut(point, gradient, room)
        np.minimum(self.upper, cut.min(1), out=self.upper)
        # L is convex on the way from slot 0, where psi_0 is 0 up to the tolerance of the fit, to the anchor.
        beyond = np.maximum(excess, inside.budget) - inside.residue
        shrink = (inside.budget - inside.residue) / beyond
        base = anchors.point[0]
        self.feasible[slots] = base + shrink[:, None] * (point - base)
        self.excess[slots] = excess
        reach = self.reach[:, slots] = self.arms @ self.feasible[slots].T
        np.maximum(self.lower, reach.max(1), out=self.lower)

    def _ball_cut(self, point: ndarray, gradient: ndarray, room: ndarray) -> ndarray:
        """max of x^T theta over the ball and the half-space of each anchor, K x J."""
        ball = self.set.ball
        size = np.sqrt(np.einsum("jd,jd->j", gradient, gradient))
        flat = size == 0  # then the half-space is everything
        size = np.where(flat, 1.0, size)
        unit = gradient / size[:, None]
        height = np.where(flat, ball, room / size + np.einsum("jd,jd->j", unit, point))
        height = height.clip(-ball, ball)
        square, norm, along = self.square[:, None], self.norm[:, None], self.arms @ unit.T
        # Both differences cancel where x and g are parallel or the half-space touches the ball: round them up.
        across = np.sqrt((square - along * along).clip(min=0) + ROUNDING * square)
        cap = np.sqrt(ball * ball - height * height + ROUNDING * ball * ball)
        return np.where(ball * along <= height * norm, ball * norm, along * height + across * cap)

    def _ridge_cut(self, point: ndarray, gradient: ndarray, room: ndarray) -> ndarray:
        """max of x^T theta over {g^T (theta - theta_j) + lambda/2 ||theta - theta_j||^2 <= c - L_j}, a ball, K x J."""
        ridge = self.set.ridge
        square = np.einsum("jd,jd->j", gradient, gradient)
        radius = np.sqrt(
            (2 * room / ridge + square / ridge**2).clip(min=0) + ROUNDING * square / ridge**2
        )
        return self.arms @ (point - gradient / ridge).T + self.norm[:, None] * radius

    def settled(self, i: int) -> bool:
        """Whether arm i, of the largest upper bound, is proved best, or best up to ``TIE``."""
        if self.upper[i] - self.lower[i] <= TIE:
            return True
        second = np.partition(self.upper, -2)[-2] if len(self.upper) > 1 else -math.inf
        return bool(self.lower[i] >= second)

    def refine(self, i: int) -> None:
        """One more anchor in the direction of arm i: one pass."""
        inside, x = self.set, self.arms[i]
        ball = inside.ball
        if ball is not None and i not in self.tried and self.upper[i] >= ball * self.norm[i]:
            self.tried.add(i)  # nothing has cut off the largest value the ball allows
            self._add(ball / self.norm[i] * x)
            return
        start, gap = self.starts.get(i), self.upper[i] - self.lower[i]
        if start is None:  # an anchor that serves as it stands costs no pass
            near = self.excess <= FAR * inside.budget
            start = argmax_parameter(np.where(near, self.reach[i], -math.inf))
        else:
            # The model was too flat, or steps jump to and fro across a bend of L: halfway back, and look again.
            slow = (
                i in self.near and gap > SLOW * self.gap[i] and self.excess[start] > inside.budget
            )
            if slow or self.excess[start] > FAR * inside.budget:
                before = self.near.pop(i, inside.anchors.point[0])
                self.starts[i] = self._add(0.5 * (before + inside.anchors.point[start]))
                return
        self.gap[i] = gap
        self.near[i] = inside.anchors.point[start].copy()
        model = QuadraticModel.around(*inside._objective(start))
        self.starts[i] = self._add(model.maximizer(x, inside.lowest + inside.budget, ball))

    def _add(self, point: ndarray) -> int:
        """Evaluate a point, put it into the ring and tighten all bounds by it; returns its slot."""
        inside = self.set
        slot = 1 + inside.written % (len(inside.anchors.point) - 1)
        inside.written += 1
        inside._evaluate(slot, point)
        self._absorb(slice(slot, slot + 1))
        return slot
