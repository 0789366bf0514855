"""What the papers say about their results, declared before they are judged, and what came out."""

from .verdict import (
    Claim,
    Row,
    Verdict,
    claim,
    claims,
    conclude,
    decide,
    judge,
    not_run,
    record,
    table,
)

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
    "record",
    "table",
]
