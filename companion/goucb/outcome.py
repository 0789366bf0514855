"""The paper's row in README: its main result, then the reason for it, which the paper does not report."""

from ..verdicts import Finding

OUTCOME = (
    Finding(
        "GO-UCB has less cumulative regret than [GP-UCB, GP-EI, GP-PI and TuRBO](docs/papers/goucb.md#c1) on all three test functions, as the paper reports (with the settings of its Appendix D.1; the GP methods have unscaled inputs and the priors that BoTorch had at that time).",
        {"C1": "holds"},
    ),
    Finding(
        "However, GO-UCB does not search: after its random first phase it only evaluates points very near the best point of that phase, where we start its gradient ascent because the paper does not state the start.",
        {"N1": "holds"},
    ),
    Finding(
        "A control that repeats this point has nearly the same mean regret; the largest difference is {N1:%} of the mean regret of a uniform point.",
        {"N1": "holds"},
    ),
)
