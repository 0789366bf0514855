"""Generated blocks of README; a test of the ledger checks that the committed blocks are up to date."""

import importlib.util
import json
import re

import pytest

from companion.output import project_dir
from companion.pages import ledger, readme
from companion.pages.markdown import render
from companion.pages.papers import by_id, outcome
from companion.papers import papers

BEGIN, END = (mark.format("papers") for mark in readme.MARK)


def test_a_block_is_replaced_and_the_rest_stays():
    text = f"before\n{BEGIN}\nstale words\n{END}\nafter\n"
    new = readme.replace_block(text, "papers", "fresh")
    assert (
        new == f"before\n{BEGIN}\nfresh\n{END}\nafter\n"
        and readme.replace_block(new, "papers", "fresh") == new
    )


@pytest.mark.parametrize("text", ["", BEGIN, END + BEGIN, (BEGIN + END) * 2])
def test_markers_must_be_there_once(text):
    with pytest.raises(
        ValueError, match="^the page must contain .* once each, in this order, got "
    ):
        readme.replace_block(text, "papers", "new")


def test_the_table_has_every_paper_with_its_findings():
    rows = readme.papers_block(ledger.gather("paper")).splitlines()[2:]
    assert [re.match(r"\| \*\*\[(\w+)\]", row)[1] for row in rows] == papers()
    assert all("`✓ " in row and "#claims)" in row and "claims: ]" not in row for row in rows)


def test_the_first_screen_shows_purpose_papers_result_figure_example_and_commands():
    text = "\n".join((project_dir() / "README.md").read_text().splitlines()[:45])
    marks = [
        "**Runnable",
        "- **Are you reading",
        "- **Do you have",
        "- **Do you build",
        "| paper |",
    ]
    marks += ["**What we found.**", "figures/overview/overview.png", "<small>", "```python"]
    marks += [f"\npython3 run.py {command} " for command in ("lab", "figures", "test")]
    places = [text.find(mark) for mark in marks]
    assert -1 not in places and places == sorted(places)
    for paper in papers():
        links = (".md)", ".md#figures)", "_0_step_by_step.ipynb)")
        assert all(re.search(rf"\]\([\w/]+/{paper}{re.escape(link)}", text) for link in links)


def test_readme_has_a_place_for_every_block():
    text = (project_dir() / "README.md").read_text()
    for name in ("measured", "learners", "papers", "tally", "verdicts"):
        assert "\nnew\n" in readme.replace_block(text, name, "new")


def test_every_paper_has_a_choice():
    for paper in papers():
        assert f"`{paper}." in readme.learners_block()


def test_the_guide_adds_results_of_the_arena_to_a_row():
    claims = ledger.gather("paper")
    row = "| `nsbco.Optimizer`, `nsbco.GLR` |"
    (with_results,) = [x for x in readme.choosing_page(claims).splitlines() if row in x]
    assert re.search(
        r"In the arena:<br>\*jumps, ball\*.* times the regret of Kiefer-Wolfowitz \(\[N18\]\(\.\./papers/arena.md#n18\)\)<br>.*, no test: ",
        with_results,
    )
    (claim,) = [x for x in claims["papers"]["arena"]["claims"] if x["id"] == "arena.N18"]
    claim["verdict"] = "holds"
    with pytest.raises(
        ValueError, match="row of nsbco.Optimizer in CHOICES was written for arena.N18"
    ):
        readme.choosing_page(claims)
    del claims["papers"]["arena"]
    assert "In the arena:" not in readme.choosing_page(claims)


def test_the_measured_block_has_machine_times_and_memory():
    found = {
        "machine": {"processor": "Some CPU", "cores": 2, "memory_gib": 24},
        "commands": {
            "`figures`": {"seconds": 71, "gib": 2.345},
            "`test`, after `figures`": {"seconds": 930, "gib": 1.0},
        },
    }
    text = render("block_measured", **found)
    assert "(Some CPU): `figures` 71 s; `test`, after `figures` 16 min. The peak memory" in text
    assert "is at most 2.3 GiB" in text
    assert text.endswith(
        "A first call of `test` without the results of `figures` has not been measured."
    )
    text = render("block_measured", **found | {"first": {"seconds": 1500, "gib": 2.61}})
    assert text.endswith(
        "2.6 GiB. A first call of `test` without the results of `figures` takes 25 min."
    )


def test_a_first_call_of_test_is_measured_in_a_separate_clone(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location(
        "commands", project_dir() / "bench" / "commands.py"
    )
    commands = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(commands)
    (tmp_path / "bench").mkdir()
    ran, cloned = [], []
    monkeypatch.setattr(commands, "ROOT", tmp_path)
    monkeypatch.setattr(commands.subprocess, "run", lambda argv, **_: cloned.append(argv[-1]))
    monkeypatch.setattr(
        commands,
        "measured",
        lambda command, folder: (
            ran.append((folder.name, command[-1])) or {"seconds": len(ran), "gib": 1.0}
        ),
    )
    # main changes the environment, therefore it gets its own copy.
    monkeypatch.setattr(commands.os, "environ", {"PAPERLIB_DATA": "data"})
    commands.main(tmp_path / "clones", False)
    assert cloned == [str(tmp_path / "clones" / name) for name in ("all", "first")]
    assert [command for folder, command in ran if folder == "all"][1:] == [
        "figures",
        "figures",
        "docs",
    ]
    assert [command for folder, command in ran if folder == "first"][1:] == ["test"]
    found = json.loads((tmp_path / "bench" / "commands.json").read_text())
    assert found["first"]["seconds"] == len(ran) and list(found["commands"]) == [*commands.COMMANDS]
    commands.main(tmp_path / "again", True)
    alone = json.loads((tmp_path / "bench" / "commands.json").read_text())
    assert alone["commands"] == found["commands"] and alone["first"]["seconds"] == len(ran) == 8
    monkeypatch.setattr(commands, "device_name", lambda device: "another")
    with pytest.raises(ValueError, match="^--first on .*another"):
        commands.main(tmp_path / "elsewhere", True)


def test_the_tally_counts_tested_and_reported_claims():
    kinds = {"paper": {"holds": 2, "reported": 1}, "ours": {"fails": 1, "not run": 4}}
    again = {"replicated": 3, "flipped": 1, "exempt": 2}
    untested = {"counts": {"paper": {"reported": 3}, "ours": {}}, "replication": {}}
    topic = {"counts": {"paper": {}, "ours": {"holds": 2, "reported": 7}}, "replication": {}}
    toy = {"counts": kinds, "replication": again}
    counts = readme.tally({"papers": {"toy": toy, "other": untested, "arena": topic}})
    assert "2 claims of 1 of the 2 papers have a test: 2 hold (" in render("block_tally", **counts)
    shown = render("block_verdicts", **counts)
    assert "for 7 statements of our own: 2 hold, 1 fails and 4 have not been run. 2 of" in shown
    assert "no row in the table. Another 11 numbers are reported" in shown
    assert (
        "4 verdicts were repeated with other seeds; one of them differs and counts as inconclusive."
        in render("block_verdicts", **counts)
    )


@pytest.mark.parametrize("paper", papers())
def test_an_outcome_has_at_most_three_sentences_and_linked_numbers(paper):
    known = by_id(ledger.gather("paper")["papers"][paper]["claims"])
    text = outcome(paper, "paper", known, "page.md")
    assert 1 <= len(re.findall(r"\.(?: |$)", text)) <= 3
    # The number of a heavy-tailed claim has its interval behind it.
    number = r"-?[\d.]+(?: %)?(?: \(95 % interval [^)]+\))?"
    assert re.search(rf"\[{number}\]\(page\.md#", text)
    # The number of a run is filled in as a link; typed numbers are settings and thresholds, such as 0.2.
    assert not re.search(r"\d\.\d\d", re.sub(r"\[[^]]*\]\([^)]*\)", "", text))


def test_an_outcome_follows_the_verdicts():
    known = by_id(ledger.gather("paper")["papers"]["nsbco"]["claims"])
    change = lambda id, verdict: known | {id: known[id] | {"verdict": verdict}}
    text = lambda claims: outcome("nsbco", "paper", claims, "page.md")
    assert "is inconclusive" in text(change("C1a", "inconclusive"))
    assert "is below our threshold" in text(change("C1a", "holds"))
    assert "power" not in text(change("C1a", "not run")) and "MASTER" in text(known)
    with pytest.raises(ValueError, match="requires the verdict 'holds' of C12.found, got 'fails'"):
        text(change("C12.found", "fails"))


def test_main_writes_all_blocks(tmp_path, monkeypatch):
    monkeypatch.setenv("PAPERLIB_ROOT", str(tmp_path))
    monkeypatch.setattr(ledger, "write", lambda profile: {"papers": {}})
    monkeypatch.setattr(readme, "papers_block", lambda claims: "the papers")
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench/commands.json").write_text(
        '{"machine": {"processor": "x", "cores": 1, "memory_gib": 1}, "commands": {"x": {"seconds": 1, "gib": 1}}}'
    )
    names = ("measured", "learners", "papers", "tally", "verdicts")
    (tmp_path / "README.md").write_text(
        "\n".join(
            f"{readme.MARK[0].format(name)}\nold\n{readme.MARK[1].format(name)}" for name in names
        )
    )
    (tmp_path / "notebooks").mkdir()
    for stem in ("toy_1", "toy_2", "toy_3"):
        (tmp_path / f"notebooks/{stem}.ipynb").touch()
    costs = {
        "toy_1": {"seconds": 600, "gib": 1.23, "processor": "x"},
        "toy_2": {"seconds": 30, "gib": 1, "processor": "x"},
    }
    (tmp_path / "bench/notebooks.json").write_text(json.dumps(costs))
    guide = tmp_path / "docs/guides/commands.md"
    guide.parent.mkdir(parents=True)
    guide.write_text("\n".join(mark.format("costs") for mark in readme.MARK))
    readme.main()
    assert "| toy\\_1 | 10 min | 1.2 GiB |" in guide.read_text()
    assert "0.2 hours for the 2 that were measured" in guide.read_text()
    assert "Notebooks of less than a minute: 1." in guide.read_text()
    assert "Not measured yet: toy_3." in guide.read_text()
    text = (tmp_path / "README.md").read_text()
    assert "\nold\n" not in text and "the papers" in text and "Run times from a fresh clone" in text
