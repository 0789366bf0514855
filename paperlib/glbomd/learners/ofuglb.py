"""OFUGLB: optimism over a likelihood set in the ball; statistically tight, but it needs the whole history.

Source: Lee, Yun & Jun, "A Unified Confidence Sequence for Generalized Linear Models, with Applications to
Bandits" (2024), Theorem 3.1 and Algorithm 1. The decisions are certified, see ``likelihood_set``.
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
    """Optimism over {||theta|| <= S, L(theta) - L(theta_hat) <= b_t}, where theta_hat is the MLE in the ball, without ridge.

    The budget is b_t = ln(1/delta) + d ln max(e, 2 e S L_t / d), where L_t is a Lipschitz constant of the likelihood
    of n = t - 1 observations. The R trials run one after the other in NumPy (see ``CertifiedOptimism``).

    Departure: the public code has n - 1 in place of n, and runs a generic solver for each arm. Here the decisions are
    certified.

    Attributes:
        link: Bernoulli or Poisson, the families with a known L_t.
        norm_bound: S, bound on ||theta*||, > 0 (Poisson: at most 69, so that e^S stays in the range of hyper-parameters).
        delta: failure probability of the confidence sequence. For Poisson rewards L_t is itself valid only with
            probability 1 - delta, so the sets fail with probability at most 2 delta (erratum E28).
        scale: practical, multiplies the radius, so it multiplies b_t by its square: 1 is the theory, 0 is greedy. A
            number or one per trial, R.
        counts: store counts and sums per arm. The arm set must never change; the cost per round is then independent of t.

    Raises:
        ValueError: a field outside its range, a link without L_t.

    Examples:
        >>> from paperlib.glbomd import OFUGLB, Bernoulli, FixedArms
        >>> from paperlib.play import play
        >>> learner = OFUGLB(Bernoulli(), norm_bound=3.0, counts=True)
        >>> trace = play(learner, FixedArms(dim=2, arms=4), horizon=20, trials=2)
        >>> int(trace["report.uncertified"].sum())  # every decision was proved
        0
    """

    link: Link
    norm_bound: float = fields.positive()
    delta: float = fields.probability(0.01)
    scale: float | Tensor = fields.number(1.0, LEAST_SCALE, by_trial=True, zero=True)
    counts: bool = fields.one_of((False, True), False)
    families = (Bernoulli, Poisson)  # Lee, Yun & Jun state L_t for these two

    def budget(self, t: int, dim: int) -> float:
        """Return the budget b_t, without ``scale``; ``t`` = 1, 2, ... is the round about to be played."""
        S, n = self.norm_bound, t - 1
        if isinstance(self.link, Poisson):
            # Departure: the paper prints e^S t, but only t - 1 rewards have been observed before round t.
            steep = math.exp(S) * n + math.log(dim / self.delta)
        else:
            # This is the paper's constant. The smaller n alone would do, because |mu - r| <= 1.
            steep = (1 + S / 2) * n
        return math.log(1 / self.delta) + dim * math.log(max(math.e, 2 * math.e * S * steep / dim))

    def _set(self, t, dim):
        return self.budget(t, dim), self.norm_bound, 0.0
