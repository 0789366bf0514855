"""The paper's row in README: its main result, then a result that the paper does not report."""

from ..verdicts import Finding

OUTCOME = (
    Finding(
        "OFUL has less regret than ConfidenceBall, as the paper reports: after 10,000 rounds the difference is {C1}, and OFUL's regret is less than a tenth of ConfidenceBall's, because its confidence radius is smaller.",
        {"C1": "holds"},
    ),
    Finding(
        "Even this radius is larger than needed here: at the end it is more than ten times the [observed error](docs/papers/linear.md#ellipsoid) of OFUL's estimate.",
        {"C1": "holds"},
    ),
)
