"""OFULog-r: optimism over a regularized logistic likelihood set.

Source: Abeille, Faury & Calauzenes, "Instance-Wise Minimax-Optimal Algorithms for Logistic Bandits" (2021),
in our reading; a baseline of Zhang, Xu, Zhao & Sugiyama (2025). The decisions are certified, see ``likelihood_set``.
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
    """Optimism over the likelihood set {L(theta) - L(theta_hat) <= b_t}, where L includes the ridge.

    The ridge term of L is lambda_t / 2 ||theta||^2 with lambda_t = d ln(1 + t), and there is no ball. The budget is
    b_t = (gamma_t + gamma_t^2 / sqrt(lambda_t))^2 with
    gamma_t = sqrt(lambda_t) (S + 1/2) + d / sqrt(lambda_t) ln((4/delta)(1 + t / (16 d lambda_t))).
    The R trials run one after the other in NumPy (see ``CertifiedOptimism``).

    Departure: the public code has gamma^2 / lambda in the budget and refits every tenth round. It maximizes by a few
    steps of a derivative-free solver, which does not reach a maximum. Here every round is solved and certified.

    Attributes:
        norm_bound: S, bound on ||theta*||, > 0.
        delta: failure probability of the confidence sets.
        scale: practical, multiplies the radius, so it multiplies b_t by its square: 1 is the theory, 0 is greedy. A
            number or one per trial, R.
        counts: store counts and sums per arm. The arm set must never change; the cost per round is then independent of t.
        link: the logistic family only (fractional rewards allowed).

    Raises:
        ValueError: a field outside its range, a link other than the logistic one.

    Examples:
        >>> from paperlib.glbomd import FixedArms, OFULogR
        >>> from paperlib.play import play
        >>> trace = play(OFULogR(norm_bound=3.0), FixedArms(dim=2, arms=4), horizon=20, trials=2)
        >>> int(trace["report.uncertified"].sum())  # every decision was proved
        0
    """

    norm_bound: float = fields.positive()
    delta: float = fields.probability(0.01)
    scale: float | Tensor = fields.number(1.0, LEAST_SCALE, by_trial=True, zero=True)
    counts: bool = fields.one_of((False, True), False)
    link: Link = Bernoulli()
    families = (Bernoulli,)

    def ridge_value(self, t: int, dim: int) -> float:
        """Return lambda_t; ``t`` = 1, 2, ... is the round about to be played."""
        return dim * math.log(1 + t)

    def budget(self, t: int, dim: int) -> float:
        """Return the budget b_t, without ``scale``."""
        ridge = self.ridge_value(t, dim)
        root = math.sqrt(ridge)
        # gamma_t is the radius of the source's confidence set, which is not convex; b_t is the budget of its relaxation.
        gamma = root * (self.norm_bound + 0.5) + dim / root * math.log(
            4 / self.delta * (1 + t / (16 * dim * ridge))
        )
        return (gamma + gamma * gamma / root) ** 2

    def _set(self, t, dim):
        return self.budget(t, dim), None, self.ridge_value(t, dim)
