"""OFUL and ConfidenceBall: optimism in the face of uncertainty, with an ellipsoid around the ridge estimate.

Source: Abbasi-Yadkori, Pal & Szepesvari (2011), "Improved Algorithms for Linear Stochastic Bandits": the algorithm OFUL with
the confidence ellipsoid of Theorem 2. ConfidenceBall uses the radius of Dani, Hayes & Kakade (2008), "Stochastic Linear
Optimization under Bandit Feedback". We take this radius from the authors' quotation next to their Theorem 2, in our reading.
Letters: R trials, K arms, d dimensions; S norm bound, V_t = lambda I + sum_{s <= t} x_s x_s^T.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from ..core import fields
from ..core.contracts import Observed
from ..core.describe import frozen_dataclass
from ..core.linalg import (
    add_rank_one,
    argmax_first,
    arm_dot,
    invert_spd,
    mahalanobis_norm,
    matvec,
    take_arm,
)
from ..core.streams import Draw
from ..core.validation import CONDITION, LARGEST, check_arms, check_finite


class OFULState(NamedTuple):
    """Sufficient statistics of t rounds; their size does not depend on t."""

    theta: Tensor  # R x d, ridge estimate V_t^{-1} sum r_s x_s
    moment: Tensor  # R x d, sum r_s x_s
    precision: Tensor  # R x d x d, V_t
    covariance: Tensor  # R x d x d, V_t^{-1}
    log_det: Tensor  # R, ln(det V_t / det(lambda I))
    rounds: int  # t


class EllipsoidLearner:
    """Base class of optimism over an ellipsoid around the ridge estimate.

    A subclass is a frozen dataclass with these fields. Its ``radius(state)`` returns the radius of the ellipsoid in the norm
    of V_t, R, before it is multiplied by ``scale``.
    """

    noise: float
    norm_bound: float
    delta: float
    ridge: float
    scale: float
    refresh: int
    wants = "reward"

    def validate(self, context: Tensor, action: Tensor | None, feedback: Tensor | None) -> None:
        """Raise ValueError if arms or rewards are not finite, the arm does not exist, or a norm is too large for ``ridge``."""
        # Theorem 2 requires no bound on the norms of the arms. The check below is about floating point only: with a condition
        # number beyond CONDITION the inverse of V_t has few correct digits.
        check_arms(context, action)
        square = context.square().sum(-1)
        if context.device.type != "meta" and not bool((square <= CONDITION * self.ridge).all()):
            raise ValueError(
                f"arms must have norms of at most {math.sqrt(CONDITION * self.ridge):g} with ridge={self.ridge!r}, because "
                f"the squared norms are added to lambda, got a norm of {float(square.max().sqrt()):g}"
            )
        if feedback is not None:
            check_finite("reward", feedback, LARGEST)

    def caution(
        self, context: Tensor, horizon: int | None = None, observed: Observed | None = None
    ) -> str | None:
        """Return a warning if a reward contradicts ``noise`` and ``norm_bound``, else None.

        In the model x^T theta* is at most S ||x|| in absolute value, and the noise is R-sub-Gaussian.
        """
        if observed is None:
            return None
        x = take_arm(context, observed.action)
        most = self.norm_bound * torch.linalg.vector_norm(x, dim=-1)
        most = most + observed.deviation(self.noise)
        return observed.contradicts(-most, most, self.declared)

    @property
    def declared(self) -> str:
        """Text of the warning that names the arguments which bound the rewards."""
        return f"noise={self.noise!r} and norm_bound={self.norm_bound!r}"

    def init(
        self, trials: int, arms: Tensor, horizon: int | None, draw: Draw, **tkwargs
    ) -> OFULState:
        """Return the state with V_0 = lambda I; the horizon is not used."""
        d = arms.shape[-1]
        eye, zero = torch.eye(d, **tkwargs).repeat(trials, 1, 1), torch.zeros(trials, d, **tkwargs)
        return OFULState(zero, zero, self.ridge * eye, eye / self.ridge, zero[:, 0], 0)

    def select(self, state: OFULState, arms: Tensor, draw: Draw) -> tuple[Tensor, OFULState]:
        """Return argmax_x max_theta x^T theta over the ellipsoid; the maximum over theta is x^T theta_t + radius ||x||_{V_t^{-1}}.

        Ties, up to rounding, go to the lowest index.
        ``arms``: R x K x d or 1 x K x d. Returns R arm indices.
        """
        mean, bonus = arm_dot(arms, state.theta), mahalanobis_norm(arms, state.covariance)
        radius = self.scale * self.radius(state)
        return argmax_first(torch.addcmul(mean, bonus, radius.unsqueeze(1))), state

    def update(
        self, state: OFULState, arms: Tensor, arm: Tensor, reward: Tensor, draw: Draw
    ) -> OFULState:
        """Add one observation to the ridge regression. ``arm``: R; ``reward``: R."""
        _, moment, V, C, log_det, rounds = state
        x = take_arm(arms, arm)
        v = matvec(C, x)
        q = (x * v).sum(-1)  # ||x||^2 in the norm of V_t^{-1}
        moment = torch.addcmul(moment, x, reward.unsqueeze(1))
        V = add_rank_one(V, x, torch.ones_like(q))
        # Sherman-Morrison needs O(d^2) operations. Its rounding errors add up, so V_t is inverted every ``refresh`` rounds.
        C = (
            invert_spd(V)
            if (rounds + 1) % self.refresh == 0
            else add_rank_one(C, v, -1.0 / (1.0 + q))
        )
        # The determinant lemma: det V_t = det V_{t-1} (1 + ||x||^2 in the norm of V_{t-1}^{-1}).
        return OFULState(matvec(C, moment), moment, V, C, log_det + q.log1p(), rounds + 1)


@frozen_dataclass
class OFUL(EllipsoidLearner):
    """Linear bandit by optimism with the self-normalized confidence ellipsoid.

    Source: Abbasi-Yadkori, Pal & Szepesvari (2011), algorithm OFUL with the radius of Theorem 2.

    Attributes:
        noise: R > 0, the noise is R-sub-Gaussian.
        norm_bound: S > 0, bound on ||theta*||_2.
        delta: in (0, 1], failure probability of all ellipsoids together.
        ridge: lambda > 0, regularization.
        scale: factor of the radius for practical use. 1 satisfies the theory, and 0 is greedy play.
        refresh: number of rounds between two inversions of V_t; in between the inverse is updated.

    Raises:
        ValueError: a value is out of range.

    Examples:
        >>> from paperlib.linear import OFUL, Circle, UniformArm
        >>> from paperlib.play import play
        >>> oful = play(OFUL(noise=0.1, norm_bound=1.0), Circle(noise=0.1), horizon=200, trials=4)
        >>> uniform = play(UniformArm(), Circle(noise=0.1), horizon=200, trials=4)
        >>> bool(oful["regret"][:, -1].mean() < 0.5 * uniform["regret"][:, -1].mean())
        True
    """

    noise: float = fields.positive()
    norm_bound: float = fields.positive()
    delta: float = fields.probability(0.01)
    ridge: float = fields.positive(1.0)
    scale: float = fields.nonnegative(1.0)
    refresh: int = fields.whole(4096)

    def radius(self, state: OFULState) -> Tensor:
        """Return R sqrt(2 ln(det(V_t)^{1/2} det(lambda I)^{-1/2} / delta)) + lambda^{1/2} S, the radius of Theorem 2, R."""
        return (
            self.noise * (state.log_det + 2 * math.log(1 / self.delta)).sqrt()
            + math.sqrt(self.ridge) * self.norm_bound
        )


@frozen_dataclass
class ConfidenceBall(EllipsoidLearner):
    """Linear bandit by optimism with the confidence radius of Dani, Hayes & Kakade (2008).

    Their rule assumes ||theta*|| <= 1 and lambda = 1.

    Attributes:
        noise: R > 0, scale of the noise.
        delta: in (0, 1], failure probability.
        scale: factor of the radius for practical use.
        refresh: number of rounds between two inversions of V_t.

    Raises:
        ValueError: a value is out of range.

    Examples:
        >>> from paperlib.linear import OFUL, ConfidenceBall, FreshArms
        >>> from paperlib.play import play
        >>> wide = play(ConfidenceBall(noise=0.1), FreshArms(dim=3), horizon=100, trials=2)
        >>> tight = play(OFUL(noise=0.1, norm_bound=1.0), FreshArms(dim=3), horizon=100, trials=2)
        >>> bool(wide["regret"][:, -1].mean() > 2 * tight["regret"][:, -1].mean())  # its radius is larger
        True
    """

    noise: float = fields.positive()
    delta: float = fields.probability(0.01)
    scale: float = fields.nonnegative(1.0)
    refresh: int = fields.whole(4096)
    ridge = 1.0
    norm_bound = 1.0  # The source assumes these two values, so they are not parameters.

    @property
    def declared(self) -> str:
        """The argument that bounds the rewards, and the norm bound that the method assumes."""
        return f"noise={self.noise!r} and ||theta*|| <= 1"

    def radius(self, state: OFULState) -> Tensor:
        """Return R max{sqrt(128 d ln t ln(t^2 / delta)), (8/3) ln(t^2 / delta)}, R, where t = 1, 2, ... is the round to be played.

        It is equal in all trials, because it depends on the number of rounds and not on the arms.
        """
        t, d = state.rounds + 1, state.theta.shape[-1]
        risk = math.log(t * t / self.delta)
        radius = self.noise * max(math.sqrt(128 * d * math.log(t) * risk), 8 / 3 * risk)
        return torch.full_like(state.log_det, radius)
