"""Every paper's errata are numbered, describe the problem, and list each computation that demonstrates it."""

import pytest

from companion.papers import paper_module, papers

ERRATA = {
    paper: paper_module(paper, "errata").ERRATA
    for paper in papers()
    if paper_module(paper, "errata")
}


@pytest.mark.parametrize("paper", ERRATA)
def test_every_computation_is_listed_under_its_number(paper):
    errata, numbers = ERRATA[paper], vars(paper_module(paper, "errata"))
    assert [e.id for e in errata] == [f"E{i}" for i in range(1, len(errata) + 1)]
    computed = {f for name, f in numbers.items() if name[0] == "e" and name[1:].isdigit()}
    assert {e.function for e in errata if e.function} == computed
    for e in errata:
        assert e.where and e.problem and e.resolution
        assert e.function is None or (e.function.__name__ == e.id.lower() and e.function.__doc__)
