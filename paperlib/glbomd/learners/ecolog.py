"""ECOLog: logistic bandits with an online estimate, computed from two small convex problems per round.

Source: Faury, Abeille, Jun & Calauzenes (2022), "Jointly Efficient and Optimal Algorithms for Logistic
Bandits", Algorithm 2 in the adaptive version of the authors' code; a baseline of Zhang, Xu, Zhao & Sugiyama
(2025), Figures 1, 3 and 4.
Letters: R trials, K arms, d dimensions; S norm bound, W the design matrix, l the logistic loss.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from ...core import fields
from ...core.describe import frozen_dataclass
from ...core.linalg import (
    add_rank_one,
    any_on_host,
    argmax_first,
    arm_dot,
    can_branch_on_values,
    has_converged,
    invert_spd,
    mahalanobis_norm,
    matvec,
    take_arm,
)
from ...core.streams import Draw
from ..model.links import Bernoulli, Link
from .glm import GLMLearner

STEPS = 60  # cap on the Newton steps, which converge quadratically
BLOCK = 3  # Newton steps on a device between two convergence checks
LAST = 1e-8  # on a device, relative size of the last step; the next one would be about its square


class ECOLogState(NamedTuple):
    """State of ``ECOLog``; its size does not depend on the number of rounds."""

    theta: Tensor  # R x d, estimate, ||theta|| <= S
    precision: Tensor  # R x d x d, W = lambda I + sum mu'(z) x x^T
    covariance: Tensor  # R x d x d, W^{-1}
    slack: Tensor  # R, sum of the data-dependent terms of the radius
    violations: Tensor  # R, rounds with mu'(x^T theta_bar) > 2 mu'(x^T theta')
    rounds: int  # rounds observed so far


@frozen_dataclass
class ECOLog(GLMLearner):
    """Logistic bandit with efficiently computed confidence sets.

    Attributes:
        norm_bound: S > 0, bound on ||theta*||_2.
        delta: in (0, 1], failure probability.
        ridge: lambda > 0, or "dim" for d. The authors' code uses 1.
        scale: practical, multiplies the radius; a number or one per trial, R.
        refresh: rounds between two inversions of W from scratch; in between, its inverse is updated.
        link: the method is for logistic rewards only.

    Raises:
        ValueError: a value out of range, or another family.

    Examples:
        >>> from paperlib.glbomd import ECOLog, FixedArms, UniformArm
        >>> from paperlib.play import play
        >>> problem = FixedArms(dim=2, arms=4)
        >>> trace = play(ECOLog(norm_bound=3.0), problem, horizon=200, trials=2)
        >>> uniform = play(UniformArm(), problem, horizon=200, trials=2)
        >>> bool(trace["regret"][:, -1].mean() < 0.8 * uniform["regret"][:, -1].mean())
        True
    """

    norm_bound: float = fields.positive()
    delta: float = fields.probability(0.01)
    ridge: str | float = "dim"
    scale: float | Tensor = fields.nonnegative(1.0, by_trial=True)
    refresh: int = fields.whole(4096)
    link: Link = Bernoulli()
    families = (Bernoulli,)

    def __post_init__(self):
        self.check_fields()
        self.check_conditioned("ridge", self.ridge_value(1), 0.25)

    def init(
        self, trials: int, arms: Tensor, horizon: int | None, draw: Draw, **tkwargs
    ) -> ECOLogState:
        """Return the initial state, theta = 0 and W = lambda I; the horizon is not used."""
        d, ridge = arms.shape[-1], self.ridge_value(arms.shape[-1])
        eye, zero = torch.eye(d, **tkwargs).repeat(trials, 1, 1), torch.zeros(trials, **tkwargs)
        return ECOLogState(
            torch.zeros(trials, d, **tkwargs), ridge * eye, eye / ridge, zero, zero, 0
        )

    def radius(self, state: ECOLogState) -> Tensor:
        """Return the confidence radius sqrt(2 lambda S^2 + (1 + S)^2 gamma + slack), R, without ``scale``."""
        S, ridge = self.norm_bound, self.ridge_value(state.theta.shape[-1])
        root, t = math.sqrt(ridge), state.rounds + 1
        gamma = root / 2 + 2 * math.log(2 * math.sqrt(1 + t / (4 * ridge)) / self.delta) / root
        return (state.slack + (2 * ridge * S * S + (1 + S) ** 2 * gamma)).clamp(min=0).sqrt()

    def select(self, state: ECOLogState, arms: Tensor, draw: Draw) -> tuple[Tensor, ECOLogState]:
        """Return argmax_x mu(x^T theta) + radius ||x||_{W^{-1}}, R arm indices; ties go to the lowest index."""
        mean, bonus = (
            self.link.mean(arm_dot(arms, state.theta)),
            mahalanobis_norm(arms, state.covariance),
        )
        radius = self.scale * self.radius(state)
        index = torch.addcmul(mean, bonus, radius.unsqueeze(1))
        return argmax_first(index, self.norm_bound), state

    def update(
        self, state: ECOLogState, arms: Tensor, arm: Tensor, reward: Tensor, draw: Draw
    ) -> ECOLogState:
        """Compute the new estimate and the new term of the radius. ``arm``: R; ``reward``: R."""
        S, rounds, link = self.norm_bound, state.rounds + 1, self.link
        x = take_arm(arms, arm)
        v = matvec(state.covariance, x)
        ball = BallConstraint(state.precision, x, v, (x * v).sum(-1), S)
        # theta' = argmin 1/2 ||. - theta||_W^2 + l(.), over the ball.
        # Departure: the problem is solved exactly. The authors' code stops projected gradient steps at precision 1 / t.
        theta = proximal_point(ball, state.theta, 1, reward)
        # theta_bar = argmin 1/2 ||. - theta'||_W^2 + l(. | r = 0) + l(. | r = 1), over the ball.
        # Departure: as in the authors' code, the weight is 1/2 instead of the paper's 1 / (2 + D), and the distance is
        # from theta' instead of theta.
        bar = proximal_point(ball, theta, 2, torch.ones_like(reward))
        z, z_bar, move = (x * theta).sum(-1), (x * bar).sum(-1), theta - bar
        # This is l(theta_bar) - l(theta'), the first data-dependent term of the squared radius.
        rise = link.log_partition(z_bar) - link.log_partition(z) - reward * (z_bar - z)
        distance = (matvec(state.precision, move) * move).sum(-1).clamp(min=0).sqrt()
        # Departure: as in the authors' code, the distance is subtracted and not its square.
        slack = state.slack + 2 * (1 + S) * rise - distance / 2
        slope = link.slope(z)
        violations = state.violations + (link.slope(z_bar) > 2 * slope).to(slope)
        precision = add_rank_one(state.precision, x, slope)
        # Rounding errors of the rank-one updates accumulate, so the inverse is recomputed now and then.
        if rounds % self.refresh == 0:
            covariance = invert_spd(precision)
        else:
            covariance = add_rank_one(state.covariance, v, slope / (-1 - slope * ball.q))
        return ECOLogState(theta, precision, covariance, slack, violations, rounds)

    def report(self, state: ECOLogState) -> dict[str, Tensor]:
        """Return ``violations``, the number of rounds that violate mu'(x^T theta_bar) <= 2 mu'(x^T theta').

        The analysis assumes this condition in every round.
        """
        return {"violations": state.violations}


class BallConstraint(NamedTuple):
    """The metric W, the arm and the ball of the two convex problems of a round."""

    precision: Tensor  # R x d x d, W
    x: Tensor  # R x d, the arm
    v: Tensor  # R x d, W^{-1} x
    q: Tensor  # R, x^T W^{-1} x
    radius: float  # S


def proximal_point(ball: BallConstraint, center: Tensor, count: int, total: Tensor) -> Tensor:
    """Return argmin over ||y|| <= S of 1/2 ||y - center||_W^2 + n softplus(x^T y) - total x^T y, R x d.

    If the ball's constraint is inactive, the problem reduces to one scalar equation for x^T y.

    Args:
        ball: W, x and S.
        center: R x d.
        count: n, observations of the arm.
        total: R, sum of their rewards, in [0, n].
    """
    z = proximal_scalar((ball.x * center).sum(-1), ball.q, count, total)
    y = torch.addcmul(center, ball.v, (total - count * torch.sigmoid(z)).unsqueeze(1))
    outside = torch.linalg.vector_norm(y, dim=-1) > ball.radius
    if outside.device.type == "meta":
        return _on_the_sphere(ball, center, count, total)
    if not any_on_host(outside):
        return y
    # Only the trials with an active constraint are solved on the sphere, which costs an eigendecomposition.
    rows = outside.nonzero().squeeze(1)
    part = BallConstraint(*(field[rows] for field in ball[:4]), ball.radius)
    return y.index_put((rows,), _on_the_sphere(part, center[rows], count, total[rows]))


def proximal_scalar(z: Tensor, q: Tensor, count: int, total: Tensor) -> Tensor:
    """Return the z' with z' - z + q (n mu(z') - total) = 0, elementwise.

    With y = z' / 2 the equation reads y + b tanh(y) = a. For a > 0 the left side is concave on y > 0, and the start
    a / (1 + b) is below the root, so Newton's iterates increase monotonically to it. The case a < 0 is symmetric.
    """
    a, b = (z + q * (total - count / 2)) / 2, q * (count / 4)
    whole = 1 + b
    y = a / whole
    if not can_branch_on_values(y):
        for _ in range(STEPS):
            for _ in range(BLOCK):
                step = _newton(a, b, whole, y)
                y = y + step
            if has_converged(step.abs() > LAST * (1 + y.abs())):
                break
        return 2 * y
    moves = torch.ones_like(y, dtype=torch.bool)
    for _ in range(STEPS):
        step = _newton(a, b, whole, y)
        moves = moves & (step.abs() > 1e-15 * (1 + y.abs()))  # a row that has stopped stays stopped
        y = torch.where(moves, y + step, y)
        if has_converged(moves):
            break
    return 2 * y


def _newton(a: Tensor, b: Tensor, whole: Tensor, y: Tensor) -> Tensor:
    """Return the Newton step for y + b tanh(y) = a. ``whole``: 1 + b."""
    tanh = torch.tanh(y)
    pull = b * tanh
    return (a - y - pull) / (whole - pull * tanh)


def _on_the_sphere(ball: BallConstraint, center: Tensor, count: int, total: Tensor) -> Tensor:
    """Compute ``proximal_point`` if the ball's constraint is active.

    Stationarity reads W (y - center) + (n mu(x^T y) - total) x + nu y = 0. In the eigenbasis of W this is a scalar
    problem for each nu >= 0. Because ||y(nu)|| decreases in nu, Newton's method on 1 / ||y(nu)|| = 1 / S, safeguarded
    by a bracket, finds the multiplier nu.
    """
    S = ball.radius
    length, basis = torch.linalg.eigh(ball.precision)
    turn = lambda vector: (basis.mT @ vector.unsqueeze(2)).squeeze(2)
    x, weighted = turn(ball.x), length * turn(center)
    nu = torch.zeros_like(total)
    low, high = nu, torch.full_like(nu, math.inf)
    moves = torch.ones_like(nu, dtype=torch.bool)
    for _ in range(STEPS):
        shrink = 1 / (length + nu.unsqueeze(1))
        bent = shrink * x
        q = (bent * x).sum(-1)
        z = proximal_scalar((bent * weighted).sum(-1), q, count, total)
        mu = torch.sigmoid(z)
        y = torch.addcmul(shrink * weighted, bent, (total - count * mu).unsqueeze(1))
        norm = torch.linalg.vector_norm(y, dim=-1)
        # -d(||y||^2 / 2) / dnu = y^T (W + nu I + n mu' x x^T)^{-1} y
        slope = count * mu * (1 - mu)
        fall = (y * y * shrink).sum(-1) - slope / (1 + slope * q) * (bent * y).sum(-1).square()
        moves = moves & ((norm / S - 1).abs() > 4e-15)
        low, high = torch.where(norm > S, nu, low), torch.where(norm > S, high, nu)
        step = nu + (norm / S - 1) * norm.square() / fall
        middle = torch.where(high.isinf(), 2 * nu + 1, (low + high) / 2)
        nu = torch.where(moves, torch.where((step > low) & (step < high), step, middle), nu)
        if has_converged(moves):
            break
    y = y * (S / norm).unsqueeze(1)
    return (basis @ y.unsqueeze(2)).squeeze(2)
