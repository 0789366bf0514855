"""OFUGLB: optimism over a likelihood set in the ball, the statistically tight but history-bound baseline.

Source: Lee, Yun & Jun, "A Unified Confidence Sequence for Generalized Linear Models, with Applications to
Bandits" (2024), Theorem 3.1 and Algorithm 1; the decisions are proved as in ``likelihood_set``.
Shapes: R trials, K arms, d dimensions.
"""

import math

from torch import Tensor

from ...core import fields
from ...core.describe import frozen_dataclass
from ..model.links import Bernoulli, Link, Poisson
from .certified import LEAST_SCALE, CertifiedOptimism


@frozen_dataclass
class OFUGLB(CertifiedOptimism):
    """Optimism over {||theta|| <= S, L(theta) - L(theta_hat) <= b_t}, theta_hat the MLE in the ball, no ridge.

    b_t = ln(1/delta) + d ln max(e, 2 e S L_t / d), where L_t bounds how steep the likelihood of n = t - 1
    observations can be. R trials run one after the other in numpy (see ``CertifiedOptimism``).

    Departure: public code takes n - 1 for n, and decides by a generic solver per arm; here decisions are proved.

    Attributes:
        link: Bernoulli or Poisson, for which L_t is known.
        norm_bound: S, bound on ||theta*||, > 0 (Poisson: at most 69, so that e^S is a number like the others).
        delta: failure probability of the confidence sequence; for Poisson rewards L_t holds with probability
            1 - delta itself, so that the sets fail with probability at most 2 delta (E28).
        scale: practical, multiplies the radius, that is b_t by its square: 1 is the theory, 0 is greedy. A
            number or one per trial, R.
        counts: for an arm set that never changes: keep counts and sums, at a cost per round free of t.

    Raises:
        ValueError: a field outside its range, a link without L_t.
    """

    link: Link
    norm_bound: float = fields.positive()
    delta: float = fields.probability(0.01)
    scale: float | Tensor = fields.number(1.0, LEAST_SCALE, by_trial=True, zero=True)
    counts: bool = fields.one_of((False, True), False)
    families = (Bernoulli, Poisson)  # whose L_t the paper states

    def budget(self, t: int, dim: int) -> float:
        """b_t without ``scale``; ``t`` = 1, 2, ... is the round about to be played."""
        S, n = self.norm_bound, t - 1
        if isinstance(self.link, Poisson):
            # Departure: the paper prints e^S t; only t - 1 rewards have been observed.
            steep = math.exp(S) * n + math.log(dim / self.delta)
        else:
            # As the paper states it; |mu - r| <= 1 would allow n alone.
            steep = (1 + S / 2) * n
        return math.log(1 / self.delta) + dim * math.log(max(math.e, 2 * math.e * S * steep / dim))

    def _set(self, t, dim):
        return self.budget(t, dim), self.norm_bound, 0.0
