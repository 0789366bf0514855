"""What the papers say about their results, declared before a run, and what came out."""

from .verdict import Claim, Row, Verdict, claim, claims, conclude, decide, judge, not_run, table

__all__ = [
    "Claim",
    "Row",
    "Verdict",
    "claim",
    "claims",
    "conclude",
    "decide",
    "judge",
    "not_run",
    "table",
]
