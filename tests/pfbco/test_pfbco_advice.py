"""Tests of the advice in the guide to choosing: its numbers come from the theory and the verdicts, and unknown numbers are omitted."""

from companion.pages import readme
from companion.papers import papers
from companion.pfbco.advice import DIMS, advice
from paperlib.pfbco.theory import constants as theory
from paperlib.pfbco.theory.constants import unit_ball, vacuity_ratio

KNOWN = {
    "N1.a": -0.004,
    "N1.b": 0.0002,
    "N1.c": 0.001,
    "C4.a": 0.9,
    "C4.c": 1.3,
    "N4.center": 1.25,
    "N4.fkm": 1.31,
    "N2.center": 0.26,
}


def claims(known, lowest="holds"):
    found = {f"pfbco.{id}": {"statistic": x, "verdict": "holds"} for id, x in known.items()}
    return found | {"pfbco.C1c": {"statistic": 0.001, "verdict": lowest}}


def test_numbers_come_from_the_verdicts():
    text = advice(claims(KNOWN))
    for words in (
        "is 0.9 to 1.3 times PF's (C4.a)",
        "the lowest loss in Figure 1a",
        "a control whose losses have random signs is at most 0.4 %",
        "is 1.25 times the loss of staying at the start, and 1.31 times FKM's (N4.center)",
        "it is 0.26 times the loss of staying at the start",
    ):
        assert words in text


def test_unknown_numbers_are_omitted():
    text = advice({"pfbco.N4.fkm": {"statistic": None, "verdict": "not run"}} | claims({}, "fails"))
    assert not any(f"({id}" in text for id in ("C4", "C1c", "N1", "N4"))
    assert "also try `FKM`" in text and "informative from T" in text


def test_the_guarantee_is_informative_from_the_stated_horizon():
    """Theorem 1 at c = 1 on the ball: the bound is below 2 M T at the stated horizon, but not one round earlier."""
    rows = [line.split(" | ") for line in advice({}).splitlines() if line.startswith("| Theorem 1")]
    for n, cell in zip(DIMS[:3], rows[0][1:]):
        first = int(cell.strip(" |").replace(",", ""))
        s = unit_ball(n)
        assert (
            vacuity_ratio(theory.theorem_1, s, first)
            < 1
            <= vacuity_ratio(theory.theorem_1, s, first - 1)
        )


def test_readme_has_a_block_for_each_paper_with_advice():
    found = [paper for paper in papers() if readme.advice_block(paper, [])]
    assert "pfbco" in found
    assert advice({}) in readme.choosing_page({"papers": {"pfbco": {"claims": []}}})
