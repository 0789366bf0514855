"""Claims of Abbasi-Yadkori, Pal & Szepesvari (2011) about their results, declared before any run.

In each trial all learners observe the same noise.
"""

from ..verdicts import Claim, Finding

CLAIMS = [
    Claim(
        "linear.C1",
        "Experiments, OFUL beside ConfidenceBall; our reading",
        "OFUL's regret is below that of ConfidenceBall (Dani, Hayes & Kakade, 2008)",
        "ConfidenceBall minus OFUL: paired differences of final regret, 95 % t-interval over trials",
        "above",
        0.0,
        "linear_1_ellipsoid",
    ),
]

SAYS = """
In a linear bandit the mean reward is an inner product with an unknown vector. OFUL plays the most optimistic arm over an
ellipsoid around the least-squares estimate, whose radius comes from a self-normalized martingale bound and is far smaller than
those before. Here it is the example of a small paper, and a baseline.
"""

FINDINGS = (
    Finding(
        "After 10,000 rounds OFUL's regret is {C1} below that of ConfidenceBall, which has the older, wider radius: less than a tenth of it.",
        {"C1": "holds"},
    ),
)
