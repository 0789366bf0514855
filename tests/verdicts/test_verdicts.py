"""Claims and checks: every kind of verdict, the files that they write, and papers that are found by name."""

import dataclasses
import json
import math
import re
import shutil
import sys

import numpy as np
import pytest

import companion
import paperlib
from companion import output, verdicts
from companion.pages import ledger
from companion.pages.markdown import counted, result
from companion.papers import paper_module, topics
from companion.verdicts import Claim, statements
from paperlib import stats
from paperlib.checks import ByConstruction, Check, Vacuous, informative_from
from paperlib.core.text import format_number, to_json

CLAIMS = """
from companion.verdicts import Claim
say = lambda id, side, threshold=None, **more: Claim(f"toy.{id}", "Figure 1", "a sentence", "a test", side, threshold, "toy_1", **more)
CLAIMS = [
    say("C1", "above", 0), say("C2.a", "below", 2), say("C2.b", "below", 2), say("C2", "parts", parts=("toy.C2.a", "toy.C2.b")),
    say("C3", "within", (.8, 1.25)), say("C4", "equal", (21, 137)), say("C5", "test", .01), say("C6", "reported"),
    say("C7", "below", .01), say("C8", "parts", parts=("toy.C1", "toy.C2")), say("C20", "below", 2, trials=100),
    say("T1", "below", 2),
]
EXEMPT = {"run time": ["T1"]}
"""
BOUNDS = '''
from paperlib.checks import statement

@statement("Lemma 2", "Toy (2020)")
def lemma_2(x):
    """Twice.

    More."""
    return 2 * x

@statement("Theorem 1", "Toy (2020), page 3")
def theorem_1(x):
    """Thrice."""
    return 3 * x

def helper(x):
    return x
'''


@pytest.fixture(autouse=True)
def toy(tmp_path, monkeypatch):
    """Add a paper `toy` to the real ones, with a separate folder of figures."""
    folder = tmp_path / "extra" / "toy"
    folder.mkdir(parents=True)
    for name, text in {
        "__init__": "",
        "claims": CLAIMS,
        "theory/__init__": "",
        "theory/bounds": BOUNDS,
    }.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / f"{name}.py").write_text(text)
    for package in (paperlib, companion):
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder.parent)])
    monkeypatch.setenv("PAPERLIB_FIGURES", str(tmp_path / "figures"))
    yield
    for name in [m for m in sys.modules if m.startswith(("paperlib.toy", "companion.toy"))]:
        del sys.modules[name]


def interval(low, high):
    return stats.Interval(
        np.clip(0.0, low, high), low, high, 12, "mean difference, 95 % t-interval"
    )


@pytest.mark.parametrize(
    "id, low, high, verdict",
    [
        ("C1", 1, 2, "holds"),
        ("C1", -2, -1, "fails"),
        ("C1", -1, 2, "inconclusive"),
        ("C1", 0, 0, "inconclusive"),
        ("C1", -math.inf, math.inf, "inconclusive"),
        ("C2.a", 1, 2, "holds"),
        ("C2.a", 2.1, 3, "fails"),
        ("C2.a", 1.9, 2.1, "inconclusive"),
        ("C3", 0.8, 1.25, "holds"),
        ("C3", 1.3, 1.4, "fails"),
        ("C3", 0.5, 0.7, "fails"),
        ("C3", 0.7, 0.9, "inconclusive"),
        ("C3", 0.1, 9, "inconclusive"),
        ("C6", 1, 2, "reported"),
    ],
)
def test_intervals_decide_verdicts(id, low, high, verdict):
    assert verdicts.judge(f"toy.{id}", interval(low, high), profile="paper").verdict == verdict


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"{}", b"[]", b"\xff\xfe", b'{"verdict": ', b"[" * 100_000),
        *(b'{"verdict": ["holds"]}', b'{"verdict": "banana"}'),
    ],
)
def test_a_damaged_verdict_counts_as_not_run(tmp_path, content, caplog):
    verdicts.judge("toy.C1", interval(1, 2), profile="paper")
    row = lambda: next(row for row in verdicts.list_verdicts("paper", "toy") if row.id == "toy.C1")
    assert row().verdict == "holds" and not caplog.records
    (tmp_path / "figures/claims/toy.C1.json").write_bytes(content)
    assert row().verdict == "not run"
    # The damaged file is also read for its parent claim.
    said = {r.getMessage() for r in caplog.records}
    assert said == {"toy.C1.json is damaged and is counted as not run"}


@pytest.mark.parametrize(
    "id, statistic, verdict",
    [
        ("C7", 1e-12, "holds"),
        ("C7", 0.01, "holds"),
        ("C7", 1.0, "fails"),
        ("C4", (21, 137), "holds"),
        ("C4", (21, 136), "fails"),
        ("C4", (21,), "fails"),
        ("C3", 1.0, "holds"),
        ("C3", 1.3, "fails"),
    ],
)
def test_exact_statistics_hold_or_fail(id, statistic, verdict):
    assert verdicts.judge(f"toy.{id}", statistic, profile="paper").verdict == verdict


@pytest.mark.parametrize(
    "p, opposite, verdict",
    [(0.001, 1, "holds"), (0.9, 0.001, "fails"), (0.02, 0.98, "inconclusive")],
)
def test_p_values_decide_verdicts(p, opposite, verdict):
    found = verdicts.judge("toy.C5", stats.Test(1.0, p, opposite, 20, "Wilcoxon"), profile="paper")
    assert found.verdict == verdict


def test_details_are_short_and_rounded():
    details = lambda *args, **more: verdicts.judge(*args, **more).details
    assert details("toy.C2.a", 1.23456, (1.2, 1.3), 100, "paper") == "1.23 [1.20, 1.30], n 100"
    found = stats.Interval(40.23, 38.08, 42.31, 100, "mean difference, t")
    text = "mean difference 40.2 [38.1, 42.3], n 100; 20 trials"
    assert details("toy.C1", found, profile="quick", reason="20 trials") == text
    assert details("toy.C4", (21, 137), profile="paper") == "21, 137"
    assert details("toy.C7", 1.0, profile="paper") == "1"


def test_a_statistic_that_does_not_exist_is_not_a_number(tmp_path, monkeypatch):
    monkeypatch.setenv("PAPERLIB_ROOT", str(tmp_path))
    undefined = stats.growth([1, 2, 3], [[-1.0, -2.0, -3.0]] * 4, first=1)
    row = verdicts.judge("toy.C1", undefined, profile="paper", reason="the mean is negative")
    assert row.verdict == "inconclusive"
    assert row.details == "log-log slope does not exist, n 4; the mean is negative"
    (claim,) = (c for c in ledger.write("paper")["papers"]["toy"]["claims"] if c["id"] == row.id)
    assert result(claim) == "does not exist; the mean is negative | 4"


def test_a_verdict_of_the_paper_profile_prints_the_sentence_and_its_number():
    found = verdicts.judge("toy.C7", 1.0, profile="paper", reason="a remark")
    assert str(found) == "Fails: a sentence\n     at the paper's sizes: 1; a remark"


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """Create a project whose committed record judges some claims; runs write to another folder."""
    monkeypatch.setenv("PAPERLIB_ROOT", str(tmp_path / "project"))
    with monkeypatch.context() as patch:
        patch.setenv("PAPERLIB_FIGURES", str(tmp_path / "project" / "figures"))
        for id, value in (("C1", 2.0), ("C2.a", 1.0), ("C2.b", 3.0)):
            found = stats.Interval(value, value - 0.1, value + 0.1, 50, "mean, t")
            verdicts.judge(f"toy.{id}", found, profile="paper", reason="a remark")
        ledger.write("paper")
        shutil.rmtree(tmp_path / "project/figures/claims")  # only claims.json is committed


@pytest.mark.parametrize("profile", ["quick", "custom"])
def test_a_run_at_other_sizes_prints_the_recorded_verdict_and_a_number(recorded, profile):
    of = lambda value: stats.Interval(value, value - 1.0, value + 1.0, 10, "mean, t")
    for said in (str, repr):
        assert said(verdicts.judge("toy.C1", of(-3.0), profile=profile, reason="it is short")) == (
            "Holds: a sentence\n"
            "     at the paper's sizes: mean 2.00 [1.90, 2.10], n 50; a remark\n"
            f"     {profile} run: mean -3.00 [-4.00, -2.00], n 10, not a verdict; it is short"
        )
    # The verdict of a quick run is only in its file.
    assert verdicts.judge("toy.C1", of(-3.0), profile=profile).verdict == "fails"
    verdicts.judge("toy.C2.a", of(9.0), profile=profile)
    assert str(verdicts.combine_parts("toy.C2", profile)) == (
        "Fails: a sentence\n"
        "     at the paper's sizes: see its parts\n"
        f"     {profile} run: see its parts, not a verdict"
    )
    lines = str(verdicts.judge("toy.C7", 1.0, profile=profile)).splitlines()
    assert lines == [
        "Not run: a sentence",
        "     at the paper's sizes: no run has judged it",
        f"     {profile} run: 1, not a verdict",
    ]
    lines = str(verdicts.record_not_run("toy.C3", "no data", profile)).splitlines()
    assert lines[2] == f"     {profile} run: not run, no data"


def test_the_record_is_the_committed_one_wherever_a_run_writes(recorded):
    verdicts.judge("toy.C1", -1.0, profile="paper")  # to a folder that the user has chosen
    found = verdicts.of_record("toy.C1")
    assert (found.verdict, found.details) == ("holds", "mean 2.00 [1.90, 2.10], n 50; a remark")


def test_a_paper_run_replaces_its_own_verdicts_and_keeps_the_committed_others(
    recorded, tmp_path, monkeypatch
):
    monkeypatch.setenv("PAPERLIB_FIGURES", str(tmp_path / "project" / "figures"))
    verdicts.judge("toy.C1", -1.0, profile="paper")
    rows = verdicts.list_verdicts("paper", "toy")
    found = {row.id.removeprefix("toy."): (row.verdict, row.details) for row in rows}
    assert found["C1"] == ("fails", "-1")
    assert found["C2.a"] == ("holds", "mean 1.00 [0.900, 1.10], n 50; a remark")
    assert found["C2"] == ("fails", "C2.a holds, C2.b fails")
    assert found["C7"] == ("not run", "")
    ledger.write("paper")
    assert verdicts.of_record("toy.C1").details == "-1"


# ---- Replication --------------------------------------------------------------------------------------------


def judge_twice(id, first, second):
    verdicts.judge(f"toy.{id}", interval(*first), profile="paper")
    verdicts.judge(f"toy.{id}", interval(*second), profile="replication")
    return next(row for row in verdicts.list_verdicts("paper", "toy") if row.id == f"toy.{id}")


@pytest.mark.parametrize(
    "first, second, verdict",
    [
        ((1, 2), (0.1, 3), "holds"),
        ((-2, -1), (-3, -1), "fails"),
        ((-1, 1), (-2, 1), "inconclusive"),
        ((1, 2), (-1, 2), "inconclusive"),
        ((-1, 2), (1, 2), "inconclusive"),
        ((1, 2), (-2, -1), "inconclusive"),
    ],
)
def test_a_verdict_of_record_needs_both_runs(first, second, verdict):
    row = judge_twice("C1", first, second)
    assert row.verdict == verdict
    assert (row.interval, row.replication.interval) == (list(first), list(second))


def test_a_flip_names_both_verdicts():
    row = judge_twice("C1", (1, 2), (-2, -1))
    other = "fails with others (mean difference -1.00 [-2, -1], n 12)"
    assert row.verdict == "inconclusive"
    assert row.details == f"mean difference 1.00 [1, 2], n 12; holds with these seeds, {other}"


def test_a_replication_alone_decides_nothing():
    verdicts.judge("toy.C1", interval(1, 2), profile="replication")
    assert {row.verdict for row in verdicts.list_verdicts("paper", "toy")} == {"not run"}


def test_an_exempt_claim_keeps_the_verdict_of_its_first_run():
    assert judge_twice("T1", (1, 1.5), (3, 4)).verdict == "holds"


def test_a_run_with_another_number_of_trials_is_no_replication():
    verdicts.judge("toy.C1", interval(1, 2), profile="paper")
    verdicts.judge("toy.C1", interval(-2, -1)._replace(n=20), profile="replication")
    row = verdicts.read_written("paper", "toy")["toy.C1"]
    assert (row.verdict, row.replication) == ("holds", None)


@pytest.mark.parametrize("damage", ["not run", "damaged", "fewer trials", "a folder"])
def test_a_useless_replication_does_not_replace_the_recorded_one(damage, tmp_path, monkeypatch):
    monkeypatch.setenv("PAPERLIB_ROOT", str(tmp_path))
    judge_twice("C1", (1, 2), (-2, -1))
    ledger.write("paper")
    file = output.profile_dir("replication") / "claims/toy.C1.json"
    if damage == "not run":
        verdicts.record_not_run("toy.C1", "data missing", "replication")
    elif damage == "damaged":
        file.write_bytes(file.read_bytes()[:40])
    elif damage == "fewer trials":
        verdicts.judge("toy.C1", interval(1, 2)._replace(n=5), profile="replication")
    else:
        file.unlink()
        file.mkdir()
    assert verdicts.of_record("toy.C1").first == "holds"
    row = verdicts.read_written("paper", "toy")["toy.C1"]
    assert (row.verdict, row.first) == ("inconclusive", "holds")


def test_recorded_runs_are_decided_by_the_present_threshold(tmp_path, monkeypatch):
    monkeypatch.setenv("PAPERLIB_ROOT", str(tmp_path))
    judge_twice("C2.a", (1.4, 1.6), (1.2, 1.25))
    judge_twice("C2.b", (1.4, 1.6), (1.2, 1.25))
    ledger.write("paper")
    of = lambda: verdicts.read_written("paper", "toy")["toy.C2.a"]
    assert (of().verdict, of().first) == ("holds", "")
    module = paper_module("toy", "claims")
    new = [
        dataclasses.replace(c, threshold=1.3) if c.id == "toy.C2.a" else c for c in module.CLAIMS
    ]
    monkeypatch.setattr(module, "CLAIMS", new)
    shutil.rmtree(output.profile_dir("paper") / "claims")  # the record alone
    shutil.rmtree(output.profile_dir("replication") / "claims")
    assert (of().verdict, of().first) == ("inconclusive", "fails")
    monkeypatch.setattr(module, "EXEMPT", {"run time": ["C2.a"]})
    assert (of().verdict, of().first, of().replication) == ("fails", "", None)


def test_infinite_numbers_are_read_and_written(tmp_path, monkeypatch):
    monkeypatch.setenv("PAPERLIB_ROOT", str(tmp_path))
    row = judge_twice("C1", (1, math.inf), (-math.inf, math.inf))
    assert (row.verdict, row.interval) == ("inconclusive", [1, math.inf])
    first = ledger.write("paper")
    assert ledger.gather("paper") == first
    (claim,) = (c for c in first["papers"]["toy"]["claims"] if c["id"] == "toy.C1")
    assert "needed" not in claim and "[1, inf]" in result(claim)
    assert verdicts.disjoint(["-inf", 0.0], [1.0, "inf"])


@pytest.mark.parametrize(
    "key, value",
    [("interval", [1]), ("n", "many"), ("tail", "x"), ("verdict", "banana"), ("replication", "x")],
)  # fmt: skip
def test_a_damaged_entry_of_the_record_is_named_and_the_others_are_kept(
    key, value, tmp_path, monkeypatch, caplog
):
    monkeypatch.setenv("PAPERLIB_ROOT", str(tmp_path))
    judge_twice("C1", (1, 2), (1, 3))
    judge_twice("C2.a", (1, 1.5), (1, 1.6))
    ledger.write("paper")
    path = output.profile_dir("paper") / "claims.json"
    content = json.loads(path.read_text())
    (entry,) = (c for c in content["papers"]["toy"]["claims"] if c["id"] == "toy.C1")
    entry[key] = value
    path.write_text(json.dumps(content))
    found = verdicts.read_recorded(path.parent)
    assert "toy.C1" not in found and found["toy.C2.a"].verdict == "holds"
    assert "an entry of" in caplog.text and str(path) in caplog.text
    caplog.clear()
    path.write_text(path.read_text()[:100])
    assert verdicts.read_recorded(path.parent) == {} and f"{path} is damaged" in caplog.text


def test_the_paper_run_states_that_the_verdict_of_record_differs(tmp_path, monkeypatch):
    monkeypatch.setenv("PAPERLIB_ROOT", str(tmp_path))
    judge_twice("C1", (1, 2), (-2, -1))
    ledger.write("paper")
    found = verdicts.judge("toy.C1", interval(1, 2), profile="paper")
    last = "with other seeds: fails; therefore the verdict of record is inconclusive"
    assert str(found).splitlines()[-1].strip() == last


def test_trials_to_decide_use_both_runs():
    needed = lambda: verdicts.trials_to_decide(
        verdicts.find_claim("toy.C1"), verdicts.read_written("paper", "toy")["toy.C1"]
    )
    between = lambda low, middle, high: interval(low, high)._replace(estimate=middle, n=50)

    def twice(first, second):
        verdicts.judge("toy.C1", between(*first), profile="paper")
        verdicts.judge("toy.C1", between(*second), profile="replication")
        return needed()

    assert twice((-1, 1, 3), (-2, 1, 3)) == 450  # the larger of 200 and 450
    assert twice((-2, 1, 3), (-3, -1, 2)) is None  # on two sides of the threshold
    assert twice((-2, 1, 3), (1, 2, 3)) is None  # the verdicts differ
    verdicts.judge("toy.C1", between(-0.1, 1, 3)._replace(tail=0.9), profile="paper")
    verdicts.judge("toy.C1", between(-0.1, 1, 3), profile="replication")
    assert needed() == 100  # 61 trials, but a heavy tail requires 100


def test_a_replication_prints_its_own_verdict_below_the_record(recorded):
    found = verdicts.judge("toy.C1", interval(-2, -1), profile="replication")
    assert str(found).splitlines() == [
        "Holds: a sentence",
        "     at the paper's sizes: mean 2.00 [1.90, 2.10], n 50; a remark",
        "     with other seeds: fails; mean difference -1.00 [-2, -1], n 12",
    ]


@pytest.mark.parametrize(
    "second, text",
    [
        ((0.5, 3), "1.00 [1, 2]; other seeds: 0.500 [0.500, 3] | 12"),
        ((-2, -1), "1.00 [1, 2]; holds with these seeds; other seeds: fails, -1.00 [-2, -1] | 12"),
    ],
)
def test_a_row_has_the_numbers_of_both_runs(second, text):
    judge_twice("C1", (1, 2), second)
    (claim,) = (c for c in ledger.gather("paper")["papers"]["toy"]["claims"] if c["id"] == "toy.C1")
    assert result(claim) == text


def test_parts_are_those_of_record():
    judge_twice("C2.a", (1, 1.5), (1, 1.5))
    judge_twice("C2.b", (1, 1.5), (3, 4))
    found = {row.id: row for row in verdicts.list_verdicts("paper", "toy")}
    assert found["toy.C2"].verdict == "inconclusive"
    assert found["toy.C2"].details == "C2.a holds, C2.b inconclusive"


def test_the_ledger_keeps_both_runs_without_their_files(tmp_path, monkeypatch):
    monkeypatch.setenv("PAPERLIB_ROOT", str(tmp_path))
    judge_twice("C1", (1, 2), (-2, -1))
    judge_twice("C2.a", (1, 1.5), (1, 1.6))
    verdicts.judge("toy.C3", interval(0.9, 1.0), profile="paper")
    first = ledger.write("paper")["papers"]["toy"]
    for profile in ("paper", "replication"):
        shutil.rmtree(output.profile_dir(profile) / "claims")
    again = ledger.gather("paper")["papers"]["toy"]
    assert again == first
    counts = {"flipped": 1, "replicated": 1, "exempt": 2, "not repeated": 6}
    assert first["replication"] == counts
    assert verdicts.of_record("toy.C1").verdict == "inconclusive"
    # A second run of either kind is compared with the recorded other one.
    verdicts.judge("toy.C1", interval(1, 3), profile="replication")
    assert verdicts.read_written("paper", "toy")["toy.C1"].verdict == "holds"
    verdicts.judge("toy.C2.a", interval(3, 4), profile="paper")
    assert verdicts.read_written("paper", "toy")["toy.C2.a"].verdict == "inconclusive"


def test_claims_about_run_time_are_exempt_by_name():
    """Every claim whose test measures run time is named, unless its repetitions are trials, and no other claim for this reason."""
    timed = lambda test: re.search("run time|seconds", test) and "over trials" not in test
    for paper in topics():
        found = verdicts.claims(paper).values()
        named = {claim.id for claim in found if claim.exempt == "run time"}
        judged = [claim for claim in found if not claim.parts and claim.side != "reported"]
        assert named == {c.id for c in judged if timed(c.test)} | {
            f"{paper}.T1" for claim in found if claim.id == "toy.T1"
        }
        listed = getattr(paper_module(paper, "claims"), "EXEMPT", {}).values()
        ids = [id for each in listed for id in each]
        assert len(ids) == len({*ids}) and {f"{paper}.{id}" for id in ids} <= {c.id for c in found}


def test_a_claim_has_its_current_declaration_and_not_the_committed_text(
    recorded, tmp_path, monkeypatch
):
    path = tmp_path / "project/figures/claims.json"
    path.write_text(path.read_text().replace("a sentence", "an older sentence"))
    monkeypatch.setenv("PAPERLIB_FIGURES", str(tmp_path / "project" / "figures"))
    (claim,) = (c for c in ledger.gather("paper")["papers"]["toy"]["claims"] if c["id"] == "toy.C1")
    assert (claim["sentence"], claim["verdict"]) == ("a sentence", "holds")


def test_parents_follow_their_parts():
    conclude = lambda: verdicts.combine_parts("toy.C2", "paper").verdict
    assert conclude() == "not run"
    verdicts.judge("toy.C2.a", interval(1, 1.5), profile="paper")
    assert conclude() == "inconclusive"
    verdicts.judge("toy.C2.b", interval(1, 1.5), profile="paper")
    assert conclude() == "holds"
    verdicts.judge("toy.C2.b", interval(1, 2.5), profile="paper")
    assert conclude() == "inconclusive"
    verdicts.judge("toy.C2.b", interval(3, 4), profile="paper")
    assert conclude() == "fails"
    assert verdicts.combine_parts("toy.C8", "paper").verdict == "fails"  # a parent of a parent
    assert verdicts.combine_parts("toy.C2", "paper").details == "C2.a holds, C2.b fails"


def test_one_file_a_claim_and_profiles_apart(tmp_path):
    verdicts.judge("toy.C1", interval(1, 2), profile="quick")
    verdicts.judge("toy.C1", interval(-2, -1), profile="paper")
    quick = json.loads((tmp_path / "figures/quick/claims/toy.C1.json").read_text())
    paper = json.loads((tmp_path / "figures/claims/toy.C1.json").read_text())
    assert (quick["profile"], quick["verdict"], quick["interval"], quick["n"]) == (
        "quick",
        "holds",
        [1, 2],
        12,
    )
    assert (paper["profile"], paper["verdict"]) == ("paper", "fails")
    assert [path.name for path in (tmp_path / "figures/claims").iterdir()] == ["toy.C1.json"]


def test_table_shows_what_was_not_run():
    verdicts.judge("toy.C1", interval(1, 2), profile="quick")
    verdicts.record_not_run("toy.C3", "no data", "quick")
    rows = {row.id: row for row in verdicts.list_verdicts("quick", "toy")}
    assert list(rows) == [c.id for c in verdicts.claims("toy").values()] and len(rows) == 12
    assert rows["toy.C1"].verdict == "holds" and rows["toy.C4"].verdict == "not run"
    assert (rows["toy.C3"].verdict, rows["toy.C3"].details) == ("not run", "no data")
    assert {row.verdict for row in verdicts.list_verdicts("paper", "toy")} == {"not run"}


@pytest.mark.parametrize(
    "call, words",
    [
        (
            lambda: verdicts.judge("toy.C9", 1.0, profile="paper"),
            "^id must be a claim declared .*, for example .*toy.C.*, got 'toy.C9'",
        ),
        (lambda: verdicts.judge("nobody.C1", 1.0, profile="paper"), "nobody.C1"),
        (
            lambda: verdicts.judge("toy.C1", 1.0),
            "^profile must be one of .*'quick', 'paper'.*, got None",
        ),
        (
            lambda: verdicts.judge("toy.C1", math.nan, profile="paper"),
            "^toy.C1: statistic and interval must not be NaN, got ",
        ),
        (
            lambda: verdicts.judge("toy.C1", interval(math.nan, 1), profile="paper"),
            "^toy.C1: statistic and interval must not be NaN, got ",
        ),
        (lambda: verdicts.judge("toy.C5", interval(1, 2), profile="paper"), "stats.Test"),
        (lambda: verdicts.judge("toy.C2", interval(1, 2), profile="paper"), "combine_parts"),
        (
            lambda: verdicts.combine_parts("toy.C1", "paper"),
            "^id must be a claim with parts, got .toy.C1",
        ),
    ],
)
def test_invalid_statistics_are_rejected(call, words, tmp_path):
    with pytest.raises(ValueError, match=words):
        call()
    assert not (tmp_path / "figures").exists()


def test_statements_are_listed_in_order():
    found = statements("toy")
    assert [s.name for s in found] == ["Lemma 2", "Theorem 1"]
    assert found[0].summary == "Twice." and found[1].function(2) == 6
    assert found[1].source == "Toy (2020), page 3"


def test_check_of_an_inequality():
    check = Check("Lemma 11", "toy", "a <= b", {"d": 5}, [[1.0, 2.0], [3.0, 4.0]], [4.0, 4.0])
    assert check.verdict == "holds" and check.ratio == 1.0 and check.slack.min() == 0
    assert str(check) == "Lemma 11  holds  4 of 4, worst ratio 1.00"
    broken = Check("Lemma 11", "toy", "a <= b", {}, [[1.0, 2.0], [3.0, 4.1]], [4.0, 4.0])
    assert broken.verdict == "fails" and broken.by_trial.tolist() == [True, False]
    assert Check("Lemma 11", "toy", "a <= b", {}, [1.0, math.nan], 4.0).verdict == "fails"
    assert Check("Lemma 11", "toy", "a <= b", {}, 1.0, -1.0).ratio == math.inf


@pytest.mark.parametrize(
    "misses, n, verdict",
    [(0, 400, "holds"), (0, 20, "inconclusive"), (69, 400, "fails"), (400, 400, "fails")],
)
def test_check_of_coverage(misses, n, verdict):
    worst = np.full((n, 3), 0.3)
    worst[:misses, 1] = 1.5  # one round is enough to count the trial as a miss
    check = Check("Theorem 1", "toy", "ratio <= 1", {}, worst, 1.0, delta=0.05)
    assert check.verdict == verdict and check.coverage.n == n
    assert check.by_trial.sum() == n - misses
    assert json.loads(json.dumps(check.to_json()))["verdict"] == verdict


def test_a_check_states_when_its_bound_is_informative():
    make = lambda start: Check(
        "Theorem 2", "toy", "", {}, 1.0, 2.0, trivial=3.0, informative_from=start
    )
    assert str(make(142_000_000)).endswith("informative from 1.42e+08") and str(
        make(None)
    ).endswith("never informative")
    assert make(None).to_json()["informative_from"] == "never"


def test_a_vacuous_bound_does_not_get_the_verdict_holds():
    make = lambda observed, **more: Vacuous("Theorem 2", "toy", "", {}, observed, 2.0, **more)
    assert make(1.0).verdict == make(np.ones(3), delta=0.1).verdict == "vacuous here"
    assert "vacuous here" in str(make(1.0)) and make(1.0).to_json()["verdict"] == "vacuous here"
    assert make(3.0).verdict == "fails"
    assert counted({"vacuous here": 2, "holds": 1}) == "1 holds, 2 vacuous here"


def test_a_fitted_bound_does_not_get_the_verdict_holds():
    make = lambda observed: ByConstruction("Theorem 2", "toy", "", {}, observed, 2.0)
    assert make(1.0).verdict == "by construction" and make(3.0).verdict == "fails"
    assert counted({"by construction": 2}) == "2 by construction"


@pytest.mark.parametrize("factor", [0.5, 1.0, 7.3, 1e6])
def test_informative_from_is_the_first_round(factor):
    bound, trivial = lambda T: factor * math.sqrt(T), lambda T: T
    first = informative_from(bound, trivial)
    assert bound(first) < trivial(first) and (first == 1 or bound(first - 1) >= trivial(first - 1))
    assert first == (1 if factor < 1 else math.floor(factor**2) + 1)


def test_informative_from_may_be_never():
    assert informative_from(lambda T: 2.0 * T, lambda T: T) is None
    assert informative_from(lambda T: 1e4, lambda T: T, cap=10_000) is None
    assert informative_from(lambda T: 1e4, lambda T: T, cap=10_001) == 10_001


def test_numbers_and_json():
    shown = [
        format_number(x) for x in (0.0, 0.286, 40.23, 123456.7, 1.5e-7, 2e9, 3, True, math.inf)
    ]
    assert shown == ["0", "0.286", "40.2", "123457", "1.50e-07", "2.00e+09", "3", "True", "inf"]
    content = to_json(
        {
            "a": np.float64(1 / 3),
            "b": [math.inf, None],
            "c": interval(1, 2),
            "d": np.arange(2),
            "e": (True, "x"),
        }
    )
    assert content["a"] == 0.3333333 and content["b"] == ["inf", None] and content["c"]["n"] == 12
    assert content["d"] == [0, 1] and content["e"] == [True, "x"]


def test_too_few_trials_are_inconclusive():
    found = stats.Interval(1.0, 0.9, 1.1, 99, "ratio")
    few = verdicts.judge("toy.C20", found, profile="paper", reason="T = 8")
    assert few.verdict == "inconclusive"
    assert few.reason == "T = 8; a verdict needs at least 100 trials"
    assert verdicts.judge("toy.C20", found._replace(n=100), profile="paper").verdict == "holds"
    # A statistic without a number of trials counts as having none.
    assert verdicts.judge("toy.C20", 1.0, profile="paper").verdict == "inconclusive"


def test_a_number_of_trials_needs_an_interval():
    with pytest.raises(ValueError, match="toy.C1: statistic must be a stats.Interval.* n=40"):
        verdicts.judge("toy.C1", -1.0, n=40, profile="paper")


def test_few_trials_with_a_heavy_tail_are_inconclusive():
    found = stats.Interval(0.005, 0.001, 0.009, 99, "ratio", tail=0.6)
    few = verdicts.judge("toy.C7", found, profile="paper")
    assert few.verdict == "inconclusive"
    assert few.reason == (
        "a verdict needs at least 100 trials, because 60 % of the variance is in the largest 5 % of them"
    )
    (read,) = [row for row in verdicts.list_verdicts("paper", "toy") if row.id == "toy.C7"]
    assert read.details == few.details and read.tail == 0.6
    for change in ({"n": 100}, {"tail": 0.5}, {"tail": math.nan}):
        judged = verdicts.judge("toy.C7", found._replace(**change), profile="paper")
        assert judged.verdict == "holds"


@pytest.mark.parametrize("n, verdict", [(20, "inconclusive"), (100, "holds")])
def test_a_stored_verdict_with_too_few_trials_is_inconclusive(n, verdict):
    """The table reads the file of a run that was judged before the claim required 100 trials."""
    found = stats.Interval(1.0, 0.9, 1.1, n, "ratio")
    verdicts.judge("toy.C20", found, profile="paper")
    path = output.profile_dir("paper") / "claims" / "toy.C20.json"
    kept = json.loads(path.read_text()) | {"verdict": "holds", "reason": ""}
    path.write_text(json.dumps(kept))
    (row,) = [row for row in verdicts.list_verdicts("paper", "toy") if row.id == "toy.C20"]
    assert row.verdict == verdict == row.verdict
    assert ("at least 100" in row.details) == (verdict != "holds") and row.n == n
    assert row.statistic == 1.0 and list(row.interval) == [0.9, 1.1]


@pytest.mark.parametrize(
    "side, threshold, statistic, interval, needed",
    [
        ("below", 1.0, 0.9, (0.7, 1.1), 200),  # twice the distance: four times the trials
        ("above", 1.0, 0.9, (0.7, 1.1), 200),  # it would fail
        ("above", 1.0, 1.1, (0.9, 1.2), 200),  # the end on the side of the threshold counts
        ("within", (-1.0, 1.0), 0.5, (-1.0, 2.0), 450),  # the farther limit is already left
        ("within", (-1.0, 1.0), 0.5, (-4.0, 0.9), 450),
        ("within", (-1.0, 1.0), 2.0, (0.0, 3.0), 200),  # outside: only the nearest limit counts
        ("below", 1.0, 0.97, (0.8, 1.1), 940),  # 938.9, rounded up to two digits
        ("below", 1.0, 0.9, (0.7, 1.0), None),  # decided
        ("below", 1.0, 1.0, (0.7, 1.1), None),  # more trials would not help
        ("reported", None, 0.9, (0.7, 1.1), None),
    ],
)
def test_trials_to_decide(side, threshold, statistic, interval, needed):
    claim = Claim("linear.C9", "Figure 1", "A has less regret.", "ratio", side, threshold)
    judged = verdicts.Verdict("linear.C9", "inconclusive", "paper", statistic, interval, 50)
    assert verdicts.trials_to_decide(claim, judged) == needed
