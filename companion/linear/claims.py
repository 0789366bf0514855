"""Claims of Abbasi-Yadkori, Pal & Szepesvari (2011) about their results, declared before any run.

In each trial all learners observe the same noise.
"""

from ..verdicts import Claim, Finding

CLAIMS = [
    Claim(
        "linear.C1",
        "Experiments, comparison of OFUL and ConfidenceBall; our reading",
        "OFUL has less regret than ConfidenceBall (Dani, Hayes & Kakade, 2008)",
        "ConfidenceBall minus OFUL: paired differences of final regret, 95 % t-interval over trials",
        "above",
        0.0,
        "linear_1_ellipsoid",
    ),
]


FINDINGS = (
    Finding(
        "After 10,000 rounds, OFUL's regret is {C1} lower than the regret of ConfidenceBall. It is less than a tenth of ConfidenceBall's regret, because OFUL has the smaller confidence radius.",
        {"C1": "holds"},
    ),
)
