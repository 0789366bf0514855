"""The declarations of all papers, and the recorded verdicts on them, are consistent."""

import json
import re
from importlib import import_module

import numpy as np
import pytest

from companion.output import project_dir
from companion.papers import heading, paper_module, papers, topics
from companion.verdicts import Claim

# Side -> dimension of the threshold; the threshold of "equal" is a number or several.
SIDES = {"above": 0, "below": 0, "within": 1, "equal": None, "test": 0}
SIDES |= {"parts": None, "reported": None}


def faults(claims: list[Claim], topic: str) -> list[str]:
    """Return what is wrong with the declarations of one topic."""
    ids, found = [claim.id for claim in claims], []
    for claim in claims:
        if ids.count(claim.id) > 1 or not claim.id.startswith(f"{topic}."):
            found.append(f"{claim.id}: the id must be declared once, and start with {topic}.")
        if claim.side not in SIDES:
            found.append(f"{claim.id}: unknown side {claim.side}")
        elif SIDES[claim.side] is not None and (
            claim.threshold is None or np.ndim(claim.threshold) != SIDES[claim.side]
        ):
            found.append(f"{claim.id}: threshold {claim.threshold} for {claim.side}")
        if (claim.side == "parts") != bool(claim.parts) or {*claim.parts} - {*ids}:
            found.append(f"{claim.id}: parts {claim.parts}")
    return found


@pytest.mark.parametrize("topic", topics())
def test_declarations_are_consistent(topic):
    assert faults(paper_module(topic, "claims").CLAIMS, topic) == []


@pytest.mark.parametrize(
    "claims",
    [
        [("toy.C1", "above", 0), ("toy.C1", "above", 0)],
        [("C1", "above", 0)],
        [("toy.C1", "over", 1)],
        [("toy.C1", "within", 1)],
        [("toy.C1", "below", None)],
        [("toy.C1", "above", 0, "", ("toy.C2",)), ("toy.C2", "above", 0)],
        [("toy.C1", "parts", None, "", ("toy.C2",))],
        [("toy.C1", "parts", None)],
    ],
)
def test_faults_are_found(claims):
    made = [Claim(id, "", "", "", *rest) for id, *rest in claims]
    assert faults(made, "toy")


@pytest.mark.parametrize("topic", topics())
def test_recorded_numbers_match_their_claims(topic):
    record = json.loads((project_dir() / "figures" / "claims.json").read_text())
    for claim in record["papers"][topic]["claims"]:
        for run in filter(None, (claim, claim.get("replication"))):
            statistic, interval = run["statistic"], run["interval"]
            numbers = np.array([*np.atleast_1d([] if statistic is None else statistic)], float)
            assert claim["side"] not in ("above", "below", "within") or numbers.size <= 1, claim
            assert numbers.size or run["verdict"] == "not run" or claim["parts"], claim
            assert interval is None or float(interval[0]) <= float(interval[1]), claim
            assert run["n"] is None or (isinstance(run["n"], int) and run["n"] > 0), claim


@pytest.mark.parametrize("paper", papers())
def test_choices_are_names_of_the_package_and_a_source_ends_with_its_year(paper):
    module = import_module(f"paperlib.{paper}")
    names = [name for _, learners, _ in getattr(module, "CHOICES", []) for name in learners]
    assert [name for name in names if not hasattr(module, name.split("(")[0])] == []
    assert re.search(r"\d{4}", heading(paper)[1].rsplit("(", 1)[-1])
