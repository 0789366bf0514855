"""Declarations of the paper's claims: this file lists all of them a second time, independently of the declarations."""

import pytest

from companion.verdicts import claims

# `C1`-`C29`; a claim that is judged in parts is declared in parts. A number S after an id is the norm of theta*.
IDS = """
C1 C1.S3 C1.S5
C2 C2.S3 C2.S5
C3 C3.S3 C3.S5
C4 C4.S3 C4.S5 C4.slsqp.S3 C4.slsqp.S5
C5 C5.S3 C5.S5 C5.S7 C5.S9 C5.fixed.S3 C5.fixed.S5
C6 C6.S3 C6.S5
C7 C7.S3 C7.S5
C8 C8.S3 C8.S5
C9 C9.slope.logistic C9.slope.poisson C9.kappa.logistic C9.kappa.poisson
C10
C11.certified C11.slsqp
C12 C12.S3 C12.S5 C12.S7 C12.S9
C13 C13.S3 C13.S5
C14 C14.ball
C15
C16
C17
C18.certified C18.slsqp
C19
C20
C21.a C21.b C21.c
C22.glmucb C22.gloc
C23.time.glbomd C23.time.gloc C23.time.ecolog C23.time.ofulmlogb
C23.growth.glmucb C23.growth.ofuglb C23.growth.rsglincb C23.memory C23.history
C24
C25.fresh C25.fixed
C26
C27.certified.S3 C27.certified.S5 C27.slsqp.S3 C27.slsqp.S5
C28.radius C28.regret.S3 C28.regret.S5
C29.regret C29.radius
""".split()

# The parts that decide a parent. The parts of `C5` and `C12` with S = 7, 9 and with fixed arms are shown, but do not count.
PARTS = {
    **{f"C{i}": {f"C{i}.S3", f"C{i}.S5"} for i in (1, 2, 3, 4, 5, 6, 7, 8, 12, 13)},
    "C9": {"C9.kappa.logistic", "C9.kappa.poisson"},
    "C19": {"C5", "C5.S7", "C5.S9", "C12"},
}

# The sides and thresholds that were fixed in advance.
DECIDED = {
    "C5.S3": ("below", 2.0),
    "C9.kappa.poisson": ("within", (0.8, 1.25)),
    "C11.slsqp": ("above", 300.0),
    "C12.S5": ("below", 2.0),
    "C13.S3": ("below", 0.01),
    "C14.ball": ("equal", (21, 137, 963, 18, 127, 882)),
    "C15": ("below", 0.0),
    "C16": ("above", 3.0),
    "C17": ("below", 1.0),
    "C18.certified": ("above", 1.5),
    "C21.b": ("below", 0.5),
    "C25.fresh": ("below", 0.0),
    "C27.slsqp.S5": ("above", 2.0),
}

# Claims that cannot fail, or that were chosen after an inspection of the numbers. They are shown but never count as holding.
UNJUDGED = {
    **{f"C9.slope.{link}": "cannot distinguish O(1) from O(t)" for link in ("logistic", "poisson")},
    "C14": "identified the arms and the dimension from these numbers",
    "C20": "chose the seed of K-means because it gives",
    "C21.a": "chosen after an inspection",
    "C22.glmucb": "chosen after an inspection",
    "C21.c": "chosen after an inspection",
    "C22.gloc": "chosen after an inspection",
    **{
        id: "cannot distinguish O(1) from O(t)"
        for id in IDS
        if id.startswith(("C23.time", "C23.growth"))
    },
    "C23.memory": "by construction",
    "C23.history": "by construction",
    "C24": "formula",
    "C26": "by construction",
    **{id: "chosen after an inspection" for id in IDS if id.startswith(("C28", "C29"))},
}


@pytest.fixture(scope="module")
def declared():
    return {id.removeprefix("glbomd."): claim for id, claim in claims("glbomd").items()}


def test_declared_are_exactly_these(declared):
    assert sorted(declared) == sorted(IDS)
    assert {id.split(".")[0] for id in IDS} == {f"C{i}" for i in range(1, 30)}


def test_parents_are_decided_by_these_parts(declared):
    assert {
        id: {part.removeprefix("glbomd.") for part in claim.parts}
        for id, claim in declared.items()
        if claim.parts
    } == PARTS


@pytest.mark.parametrize("id", DECIDED)
def test_thresholds(declared, id):
    assert (declared[id].side, declared[id].threshold) == DECIDED[id]


def test_claims_that_are_not_judged_are_reported_with_the_reason(declared):
    reported = {id for id, claim in declared.items() if claim.side == "reported"}
    assert reported == set(UNJUDGED)
    assert all(words in declared[id].test for id, words in UNJUDGED.items())
    assert not reported & {part for parts in PARTS.values() for part in parts}


def test_sentences_state_that_we_chose_the_shrink_factor(declared):
    for id in ("C21.a", "C21.b", "C22.glmucb", "C22.gloc"):
        assert "which we chose" in declared[id].sentence


def test_sources_name_the_place_in_the_paper(declared):
    for id in ("C13.S3", "C13.S5", "C13", "C14"):
        assert declared[id].source == "Section 5"
    assert "O(log t)" in declared["C24"].sentence and "ours" in declared["C23.time.ecolog"].source


OURS = "C21.a C21.c C22.glmucb C22.gloc C25.fresh C25.fixed C28.radius C28.regret.S3 C29.regret"


@pytest.mark.parametrize("id", OURS.split())
def test_source_starts_with_ours_if_the_claim_goes_beyond_the_paper(declared, id):
    assert declared[id].source.startswith("ours, after ")


def test_rows_carry_their_caveats(declared):
    for id in IDS:
        if id.startswith(("C9.slope", "C23.time")):
            assert "O(t) methods pass this test, too" in declared[id].sentence
    for id in ("C25.fresh", "C25.fixed"):
        assert (
            "leading term alone, and the theorem does not cover lambda = d" in declared[id].sentence
        )
    assert "S=3, t from 1e3 to 1e300" in declared["C28.radius"].sentence
    assert all("declared late" in declared[id].source for id in IDS if id.startswith("C27"))


# Claims about Figures 1c, 2c, 3c and 4b, which show the run time of whole runs.
WHOLE = ("C1.", "C4.S", "C8.", "C10", "C11.certified", "C18.certified", "C21.b", "C27.certified")


def test_totals_decide_claims_about_figures_of_totals(declared):
    for id, claim in declared.items():
        if id.startswith(WHOLE):
            assert "ratio of total run times of whole runs" in claim.test
        elif ".slsqp" in id:
            assert "ratio of total run times of the sampled rounds" in claim.test
    assert declared["C9.kappa.poisson"].test.startswith("ratio of median run times per round")
