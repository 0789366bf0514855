"""The claims of the paper are all declared: the list is written out here, apart from the declarations."""

import pytest

from paperlib.verdicts.verdict import claims

# C1-C26; a claim judged in parts is declared in parts. Numbers S after an id are norms of theta*.
IDS = """
C1 C1.S3 C1.S5
C2 C2.S3 C2.S5
C3 C3.S3 C3.S5
C4 C4.S3 C4.S5
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
C21 C21.a C21.b
C22 C22.glmucb C22.gloc
C23 C23.time.glbomd C23.time.gloc C23.time.ecolog C23.memory C23.history
C24
C25.fresh C25.fixed
C26
""".split()

# What decides a parent: S = 7, 9 and fixed arms are shown beside C5 and C12, and do not count.
PARTS = {
    **{f"C{i}": {f"C{i}.S3", f"C{i}.S5"} for i in (1, 2, 3, 4, 5, 6, 7, 8, 12, 13)},
    "C9": {"C9.slope.logistic", "C9.slope.poisson", "C9.kappa.logistic", "C9.kappa.poisson"},
    "C19": {"C5", "C12"},
    "C21": {"C21.a", "C21.b"},
    "C22": {"C22.glmucb", "C22.gloc"},
    "C23": {"C23.time.glbomd", "C23.time.gloc", "C23.time.ecolog", "C23.memory", "C23.history"},
}

# Sides and thresholds that were fixed in advance.
DECIDED = {
    "C5.S3": ("below", 2.0),
    "C9.slope.logistic": ("within", (-0.1, 0.1)),
    "C9.kappa.poisson": ("within", (0.8, 1.25)),
    "C11.slsqp": ("above", 300.0),
    "C12.S5": ("below", 2.0),
    "C13.S3": ("below", 0.01),
    "C14": ("equal", (21, 137, 963, 18, 127, 882)),
    "C15": ("below", 0.0),
    "C16": ("above", 3.0),
    "C17": ("below", 1.0),
    "C18.certified": ("above", 1.5),
    "C20": ("equal", (0.103, 0.881)),
    "C21.a": ("test", 0.01),
    "C21.b": ("below", 0.5),
    "C24": ("reported", None),
    "C25.fixed": ("within", (0.4, 0.8)),
    "C26": ("below", 1.0),
}


@pytest.fixture(scope="module")
def declared():
    return {id.removeprefix("glbomd."): claim for id, claim in claims("glbomd").items()}


def test_declared_are_exactly_these(declared):
    assert sorted(declared) == sorted(IDS)
    assert {id.split(".")[0] for id in IDS} == {f"C{i}" for i in range(1, 27)}


def test_parents_are_decided_by_these_parts(declared):
    assert {
        id: {part.removeprefix("glbomd.") for part in claim.parts}
        for id, claim in declared.items()
        if claim.parts
    } == PARTS


@pytest.mark.parametrize("id", DECIDED)
def test_thresholds(declared, id):
    assert (declared[id].side, declared[id].threshold) == DECIDED[id]
