"""Certified optimism over likelihood sets: find the arm with the largest x^T theta over {L(theta) <= L_hat + b}.

Let b be the budget, L the negative log-likelihood including its ridge, L_hat its minimum and c = L_hat + b. The set

    C = {theta : L(theta) <= c}, within ||theta||_2 <= S if there is a ball,

is convex and contains the maximum likelihood estimate theta_hat. The upper confidence bound UCB(x) is the maximum of
x^T theta over C. Only the arm with the largest UCB is needed.
An anchor is a point theta_j where L was evaluated, with value L_j and gradient g_j. By convexity alone, every
anchor bounds the UCBs of *all* arms:

- from above, because C is contained in the half-space g_j^T (theta - theta_j) <= c - L_j (with a ridge: in a ball);
- from below, because theta_hat + min(1, b / psi_j) (theta_j - theta_hat) is in C, where psi_j = L_j - L_hat.

A round ends when the lower bound of one arm reaches the upper bounds of all others. This proves the decision,
however the anchors were found. Here they are found by sequential quadratic programming.

Sources: the sets are due to Abeille, Faury & Calauzenes (2021) and Lee, Yun & Jun (2024). These authors maximize
over them by generic solvers, with one constrained problem per arm.
The engine works on one trial at a time, in NumPy.
Shapes: n rounds (or K arms with counts), K arms, J anchors, d dimensions.
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

TIE = 1e-6  # arms whose UCBs are proved to differ by less than this are treated as equal
# The fit stops at this Newton decrement, in units of L (times b if b < 1); the minimum of L is then treated as known.
ENOUGH = 1e-9
PASSES = 20  # a round stays undecided after this many evaluations of L, times K
FAR = 4  # the quadratic model of an anchor is not trusted if its psi exceeds this, times b
SLOW = 0.7  # a step is halved if it leaves more than this fraction of the gap between the bounds
ROUNDING = 8 * np.finfo(float).eps  # relative rounding error of a difference of squares
FLOOR = 1e-8  # smallest curvature used, needed while fewer than d directions have been observed
# Relative accuracy of a multiplier. It affects only how fast the bounds close, and not their validity.
ACCURACY = 1e-9


def family_terms(link: Link, z: ndarray) -> tuple[ndarray, ndarray, ndarray]:
    """Return m(z), mu(z) and mu'(z) of Bernoulli or Poisson rewards, elementwise, from a single exponential."""
    if isinstance(link, Bernoulli):
        e = np.exp(-np.abs(z))
        up = 1 / (1 + e)
        small = e * up
        return np.maximum(z, 0) - np.log(up), np.where(z >= 0, up, small), small * up
    m = np.exp(z)
    return m, m, m


def argmax_parameter(values: ndarray) -> int:
    """Return the index of the largest natural parameter; values equal up to rounding are ties, won by the lowest index."""
    return int(argmax_first(values[None], 1.0)[0])


class Anchors(NamedTuple):
    """Points where the likelihood (without ridge) is known exactly.

    Slot 0 is the estimate, and the other slots form a ring buffer. Empty slots are zero.
    In a learner's state each field is a tensor with a leading dimension R; here it is the array of one trial.
    """

    point: ndarray  # J x d
    value: ndarray  # J, sum_i m(z_i) - r_i z_i
    gradient: ndarray  # J x d
    hessian: ndarray  # J x d x d

    def plus(self, link: Link, x: ndarray, reward: ndarray) -> "Anchors":
        """Return the anchors of R trials after one more observation each, in O(J d^2) without a pass over the history.

        ``x``: R x d, ``reward``: R; the arrays of ``self`` have a leading dimension R.
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
    weights: ndarray | None  # n, or None for weights of 1
    moment: ndarray  # d, sum of reward times point

    def at(self, theta: ndarray) -> tuple[float, ndarray, ndarray]:
        """Return value, gradient (d) and Hessian (d x d) at ``theta``, in one pass over the history."""
        m, mu, slope = family_terms(self.link, self.points @ theta)
        if self.weights is None:
            value = m.sum()
        else:
            value, mu, slope = self.weights @ m, self.weights * mu, self.weights * slope
        gradient, hessian = mu @ self.points - self.moment, (self.points.T * slope) @ self.points
        return value - self.moment @ theta, gradient, hessian


class QuadraticModel(NamedTuple):
    """Quadratic model q of L around a point, in the eigenbasis of its Hessian.

    A step of sequential quadratic programming solves

        maximize x^T p  subject to  q(p) = v + g^T (p - theta) + 1/2 (p - theta)^T H (p - theta) <= c,  ||p||_2 <= S.

    With multipliers 1 of the objective, 1/s of q and nu/s of the ball, stationarity reads

        H (p - theta) + g + nu p = s x,  nu >= 0.

    In the eigenbasis of H = Q diag(l) Q^T every term is a sum over d coordinates. These sums use plain Python
    floats, because for the small d of bandits this is several times faster than NumPy vectors of length d.
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
        """Build the model from value, gradient (d) and Hessian (d x d) at ``theta`` (d)."""
        length, basis, _ = dsyevd(hessian)
        length = np.maximum(length, FLOOR)
        center, slope = theta @ basis, gradient @ basis
        target = length * center - slope
        return cls(float(value), basis, *(a.tolist() for a in (length, center, slope, target)))

    def at(self, p: list) -> float:
        """Return q at a point given in the eigenbasis."""
        return self.value + sum(
            (g + 0.5 * l * (a - t)) * (a - t)
            for a, l, t, g in zip(p, self.length, self.center, self.slope)
        )

    def minimizer(self, ball: float | None) -> tuple[ndarray, float, float]:
        """Return the minimizer over the ball, the first-order decrease -g^T (p - theta), and the decrease of q."""
        p = self.projected(self.target, ball)
        first = -sum(g * (a - t) for a, t, g in zip(p, self.center, self.slope))
        return self.basis @ p, first, self.value - self.at(p)

    def projected(self, target: list, ball: float | None) -> list:
        """Return (H + nu I)^{-1} target with the smallest nu >= 0 that puts it into the ball, in the eigenbasis.

        Newton's method solves 1/||p(nu)|| = 1/S from nu = 0. It never overshoots, because the left side is concave
        and increasing.
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
        """Return argmax x^T p over {q <= level} and the ball; if the set is empty, the minimizer of q. ``x``: d, not 0."""
        y = (x @ self.basis).tolist()
        # Try the solution without the ball first, because it needs no search for nu.
        p = self._along(y, level, 0.0)
        if p is None or (ball is not None and math.fsum(a * a for a in p) > ball * ball):
            p = self._on_sphere(y, level, ball)
        p = self.basis @ p
        size = 1.0 if ball is None else math.sqrt(p @ p) / ball
        return p / size if size > 1 else p

    def _along(self, y: list, level: float, nu: float) -> list | None:
        """Return p(s) = (H + nu I)^{-1} (H theta - g + s x) with the larger s at which q = level, or None.

        ``y``: Q^T x. Along this branch q - level = a2 s^2 + a1 s + a0.
        """
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
            root = 0.0  # by rounding q > level everywhere, so take the minimizer along the branch
        s = (math.sqrt(root) - a1) / (2 * a2)
        return [u + s * w for u, w in lines]

    def _on_sphere(self, y: list, level: float, ball: float) -> list:
        """Return the point where both constraints are active.

        It is p(nu) with ||p(nu)|| = S. If that branch ends before the sphere, a root finder on s finds the point instead.
        """

        # 1/S - 1/||p(nu)|| is nearly linear in nu. The function returns None after the end of the branch.
        def beyond(nu):
            p = self._along(y, level, nu)
            return None if p is None else 1 / ball - 1 / math.sqrt(math.fsum(a * a for a in p))

        low, high = 0.0, 0.1 * self.length[-1]
        for _ in range(40):
            gap = beyond(high)
            if gap is None or gap <= 0:
                break
            low, high = high, 8 * high
        if gap is not None and gap <= 0:
            with suppress(TypeError):  # ``beyond`` is None: the branch ends inside the bracket
                nu = brentq(beyond, low, high, rtol=ACCURACY, maxiter=60, disp=False)
                return self._along(y, level, nu)
        return self._by_multiplier(y, level, ball)

    def _by_multiplier(self, y: list, level: float, ball: float) -> list:
        """Return p(s) = argmin over the ball of q - s x^T p, at the s with q(p(s)) = level.

        Because q(p(s)) increases with s, a bracketing root finder on log s is safe.
        """
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
    """The likelihood set C of one trial and one round.

    Args:
        likelihood: likelihood of the history so far.
        anchors: arrays of this trial, written in place.
        written: number of anchors that the ring has received so far.
        budget: b >= 0.
        ball: S, or None.
        ridge: lambda >= 0. Without a ball it must be positive, because otherwise the estimate may not exist.

    Attributes:
        passes: number of passes over the history so far.
        estimate: theta_hat, d; set by ``fit``, as are the next three.
        lowest: L_hat.
        residue: L - L_hat at slot 0, the last point that ``fit`` evaluated.
        fitted: whether Newton's method converged.
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
        """Return point, value, gradient and Hessian of L at an anchor, with the current ridge.

        The anchors store the likelihood without ridge, because lambda may change from round to round.
        """
        point, value, gradient, hessian = (a[slot] for a in self.anchors)
        if self.ridge:
            value = value + 0.5 * self.ridge * (point @ point)
            gradient = gradient + self.ridge * point
            hessian = hessian + self.ridge * np.eye(len(point))
        return point, value, gradient, hessian

    def _evaluate(self, slot: int, point: ndarray) -> None:
        """Evaluate the likelihood at ``point`` (one pass) and store it as the anchor of ``slot``."""
        self.passes += 1
        for array, new in zip(self.anchors, (point, *self.likelihood.at(point))):
            array[slot] = new

    def fit(self) -> "ConfidenceSet":
        """Compute theta_hat by damped, projected Newton steps from slot 0, whose derivatives are known without a pass.

        If Newton's method does not converge, ``fitted`` is False and no decision of the round counts as proved.
        """
        tolerance = ENOUGH * min(1.0, self.budget) if self.budget > 0 else ENOUGH
        for _ in range(200):
            model = QuadraticModel.around(*self._objective(0))
            target, decrement, decrease = model.minimizer(self.ball)
            self.fitted = bool(decrement <= tolerance)
            if self.fitted:
                break
            step, saved = 1.0, [a[0].copy() for a in self.anchors]
            # Halve the step until L decreases sufficiently (Armijo's condition).
            for _ in range(25):
                self._evaluate(0, saved[0] + step * (target - saved[0]))
                enough = model.value - 1e-4 * step * decrement + 1e-12 * abs(model.value)
                if self._objective(0)[1] <= enough:
                    break
                step /= 2
        self.estimate, self.lowest, self.residue = target, model.value - decrease, decrease
        return self

    def decide(self, arms: ndarray) -> tuple[int, bool]:
        """Return the arm with the largest UCB, and whether this is proved. ``arms``: K x d."""
        if self.budget == 0:
            return argmax_parameter(arms @ self.estimate), self.fitted
        bounds = UCBBounds(self, arms)
        for _ in range(PASSES * len(arms)):
            # Only the arm with the largest upper bound can prevent a decision, so refine that one.
            i = argmax_parameter(bounds.upper)
            if bounds.settled(i) or self.passes >= PASSES * len(arms):
                break
            bounds.refine(i)
        return i, self.fitted and bounds.settled(i)


class UCBBounds:
    """Bounds lower_k <= UCB(x_k) <= upper_k for all arms; every anchor tightens them."""

    def __init__(self, inside: ConfidenceSet, arms: ndarray):
        self.set, self.arms = inside, arms
        self.square = np.einsum("kd,kd->k", arms, arms)  # ||x||^2
        self.norm = np.sqrt(self.square)
        self.starts: dict[int, int] = {}  # arm -> slot of its last step
        self.near: dict[int, ndarray] = {}  # arm -> start of that step, unless it was halved
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
        # Pull the anchor back towards slot 0 until it is feasible. This is valid because L is convex on the segment and
        # psi_0 at slot 0 is 0 up to the tolerance of the fit.
        beyond = np.maximum(excess, inside.budget) - inside.residue
        shrink = (inside.budget - inside.residue) / beyond
        base = anchors.point[0]
        self.feasible[slots] = base + shrink[:, None] * (point - base)
        self.excess[slots] = excess
        reach = self.reach[:, slots] = self.arms @ self.feasible[slots].T
        np.maximum(self.lower, reach.max(1), out=self.lower)

    def _ball_cut(self, point: ndarray, gradient: ndarray, room: ndarray) -> ndarray:
        """Return the maximum of x^T theta over the ball and the half-space of each anchor, K x J."""
        ball = self.set.ball
        size = np.sqrt(np.einsum("jd,jd->j", gradient, gradient))
        flat = size == 0  # with a zero gradient the half-space is the whole space
        size = np.where(flat, 1.0, size)
        unit = gradient / size[:, None]
        height = np.where(flat, ball, room / size + np.einsum("jd,jd->j", unit, point))
        height = height.clip(-ball, ball)
        square, norm, along = self.square[:, None], self.norm[:, None], self.arms @ unit.T
        # Both differences suffer from cancellation if x and g are parallel or the half-space touches the ball. They are
        # rounded up, so that the upper bounds remain valid.
        across = np.sqrt((square - along * along).clip(min=0) + ROUNDING * square)
        cap = np.sqrt(ball * ball - height * height + ROUNDING * ball * ball)
        return np.where(ball * along <= height * norm, ball * norm, along * height + across * cap)

    def _ridge_cut(self, point: ndarray, gradient: ndarray, room: ndarray) -> ndarray:
        """Return the maximum of x^T theta over {g^T (theta - theta_j) + lambda/2 ||theta - theta_j||^2 <= c - L_j}, K x J.

        This set is a ball, and it contains C because L with its ridge is strongly convex with constant lambda.
        """
        ridge = self.set.ridge
        square = np.einsum("jd,jd->j", gradient, gradient)
        radius = np.sqrt(
            (2 * room / ridge + square / ridge**2).clip(min=0) + ROUNDING * square / ridge**2
        )
        return self.arms @ (point - gradient / ridge).T + self.norm[:, None] * radius

    def settled(self, i: int) -> bool:
        """Return whether arm i, which has the largest upper bound, is proved to be the best, or the best up to ``TIE``."""
        if self.upper[i] - self.lower[i] <= TIE:
            return True
        second = np.partition(self.upper, -2)[-2] if len(self.upper) > 1 else -math.inf
        return bool(self.lower[i] >= second)

    def refine(self, i: int) -> None:
        """Add one more anchor in the direction of arm i, at the cost of one pass."""
        inside, x = self.set, self.arms[i]
        ball = inside.ball
        if ball is not None and i not in self.tried and self.upper[i] >= ball * self.norm[i]:
            # No anchor has excluded S x / ||x||, the maximizer over the ball. If it is feasible, the UCB is known.
            self.tried.add(i)
            self._add(ball / self.norm[i] * x)
            return
        start, gap = self.starts.get(i), self.upper[i] - self.lower[i]
        if start is None:  # start from the best anchor that exists, which costs no pass
            near = self.excess <= FAR * inside.budget
            start = argmax_parameter(np.where(near, self.reach[i], -math.inf))
        else:
            # Either the quadratic model was too flat, or the steps oscillate across a bend of L. Evaluate L at the
            # midpoint of the last step instead.
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
        """Evaluate a point, store it in the ring, tighten all bounds with it, and return its slot."""
        inside = self.set
        slot = 1 + inside.written % (len(inside.anchors.point) - 1)
        inside.written += 1
        inside._evaluate(slot, point)
        self._absorb(slice(slot, slot + 1))
        return slot
