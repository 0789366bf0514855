"""What Abbasi-Yadkori, Pal & Szepesvari (2011) say about their results, declared before any run.

Learners see the same noise, trial by trial.
"""

from ..verdicts.verdict import Claim

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
