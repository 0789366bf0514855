"""Printed lines that several papers share."""

from companion.figures.text import interval_text, print_checks
from companion.verdicts import Erratum
from paperlib import stats
from paperlib.checks import Check


def test_interval_text():
    assert interval_text(stats.Interval(0.76, 0.74, 0.78, 20, "mean")) == "0.760 [0.740, 0.780]"


def test_checks_are_printed_with_their_inputs(capsys):
    check = Check("Lemma 1", "Section 2", "x <= y", {"S": 3}, [1.0, 2.0], [1.5, 1.5])
    print_checks("runs", [check], ["S", "d"])
    title, line = capsys.readouterr().out.splitlines()
    assert title == "runs"
    assert line.split() == ["Lemma", "1", "(S", "=", "3)", "fails", "some", "of", "2"]
    for bound, count in ((2.5, "2 of 2"), (0.5, "0 of 2")):
        print_checks("runs", [Check("Lemma 1", "Section 2", "x <= y", {}, [1.0, 2.0], [bound] * 2)])
        assert capsys.readouterr().out.strip().endswith(count)


def test_an_erratum_is_printed_with_its_numbers():
    lines = str(Erratum("E1", "(2)", "a is b.", "we use c", lambda: {"a": 1.0, "b": 2.0}))
    assert lines.splitlines() == [
        "E1  (2)",
        "    a is b.",
        "    a: 1.00; b: 2.00",
        "    here: we use c.",
    ]
    assert str(Erratum("E2", "(3)", "x", "y")).count("\n") == 2
