"""OFULog-r: optimism over a regularized logistic likelihood set.

Source: Abeille, Faury & Calauzenes, "Instance-Wise Minimax-Optimal Algorithms for Logistic Bandits" (2021),
in our reading; a baseline of Zhang, Xu, Zhao & Sugiyama (2025). The decisions are proved as in ``likelihood_set``.
Shapes: R trials, K arms, d dimensions.
"""

import math

from torch import Tensor

from ...core import fields
from ...core.describe import frozen_dataclass
from ..model.links import Bernoulli, Link
from .certified import LEAST_SCALE, CertifiedOptimism


@frozen_dataclass
class OFULogR(CertifiedOptimism):
    """Optimism over {L(theta) - L(theta_hat) <= b_t}, L with the ridge lambda_t / 2 ||theta||^2, no ball.

    lambda_t = d ln(1 + t), gamma_t = sqrt(lambda_t) (S + 1/2) + d / sqrt(lambda_t) ln((4/delta)(1 + t / (16 d lambda_t))),
    b_t = (gamma_t + gamma_t^2 / sqrt(lambda_t))^2. R trials run one after the other in numpy (see ``CertifiedOptimism``).

    Departure: public code writes gamma^2 / lambda, refits every tenth round and maximizes by a few steps of a
    derivative-free solver, which finds no maximum; here every round is solved and proved.

    Attributes:
        norm_bound: S, bound on ||theta*||, > 0.
        delta: failure probability of the confidence sets.
        scale: practical, multiplies the radius, that is b_t by its square: 1 is the theory, 0 is greedy. A
            number or one per trial, R.
        counts: for an arm set that never changes: keep counts and sums, at a cost per round free of t.
        link: the logistic family only (fractional rewards allowed).

    Raises:
        ValueError: a field outside its range, a link other than the logistic one.
    """

    norm_bound: float = fields.positive()
    delta: float = fields.probability(0.01)
    scale: float | Tensor = fields.number(1.0, LEAST_SCALE, by_trial=True, zero=True)
    counts: bool = fields.one_of((False, True), False)
    link: Link = Bernoulli()
    families = (Bernoulli,)

    def ridge_value(self, t: int, dim: int) -> float:
        """lambda_t; ``t`` = 1, 2, ... is the round about to be played."""
        return dim * math.log(1 + t)

    def budget(self, t: int, dim: int) -> float:
        """b_t without ``scale``."""
        ridge = self.ridge_value(t, dim)
        root = math.sqrt(ridge)
        gamma = root * (self.norm_bound + 0.5) + dim / root * math.log(
            4 / self.delta * (1 + t / (16 * dim * ridge))
        )
        return (gamma + gamma * gamma / root) ** 2

    def _set(self, t, dim):
        return self.budget(t, dim), None, self.ridge_value(t, dim)
