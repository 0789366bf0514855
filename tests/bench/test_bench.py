"""Bench: the choice of points, the timed work, the stored statistics, and the figure."""

import hashlib
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from toy import Coins, Index

import companion
import paperlib
from companion.bench import measure as speed
from companion.bench import report as bench
from companion.figures import drawing as figures
from paperlib.core.contracts import ContractCase
from paperlib.core.linalg import Rows
from paperlib.core.trees import list_leaves, state_bytes, tree_map

CODE = Path(__file__).resolve().parents[2]
INIT = """
from paperlib.core.contracts import ContractCase
from toy import Coins, Index

CASES = {"ours": ContractCase(Index(), Coins()), "ours, wide": ContractCase(Index(2.0), Coins()), "slow": ContractCase(Index(), Coins(), syncs="host")}
"""
STYLES = """
from companion.styles import Style

STYLES = {"ours": Style("vermilion", "o", emphasis=True), "slow": Style("blue", "s")}
"""
PLAN = speed.Plan(
    speed.Point(10, 8, 5, 3),
    {"trials": (1, 10, 100), "played": (4, 8), "arms": (3, 5), "dim": (2, 3)},
    4,
    0.01,
)


@pytest.fixture(autouse=True)
def toy(tmp_path, monkeypatch):
    folder = tmp_path / "extra" / "toy"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "claims.py").write_text("CLAIMS = []\n")
    (folder / "cases.py").write_text(INIT)
    (folder / "styles.py").write_text(STYLES)
    for package in (paperlib, companion):
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder.parent)])
    for name, place in (("FIGURES", "figures"), ("RESULTS", "results"), ("LOCKS", "")):
        monkeypatch.setenv(f"PAPERLIB_{name}", str(tmp_path / place))
    yield
    for name in [m for m in sys.modules if m.startswith(("paperlib.toy", "companion.toy"))]:
        del sys.modules[name]


# ---- measurements
# ------------------------------------------------------------------------------------------


def test_subjects_are_the_cases_with_a_line_style():
    assert [subject.name for subject in speed.subjects("toy")] == ["ours", "slow"]
    assert [subject.paper for subject in speed.subjects("slow")] == ["toy"]
    with pytest.raises(
        ValueError, match="^only must be one of .*toy.*GLB-OMD.*ours.*, got 'nobody'"
    ):
        speed.subjects("nobody")
    with pytest.raises(
        ValueError, match="^only must be .*, got 'goucb' .goucb is not measured: .*3000 rounds"
    ):
        speed.subjects("goucb")


def test_every_learner_of_every_paper_is_measured():
    declared = {(subject.paper, type(subject.case.learner)) for subject in speed.subjects()}
    for paper in {subject.paper for subject in speed.subjects()}:
        package = sys.modules[f"companion.{paper}.cases"]
        left_out = getattr(package, "UNMEASURED", {})
        assert left_out.keys() <= package.CASES.keys()
        assert {
            (paper, type(case.learner))
            for name, case in package.CASES.items()
            if name not in left_out
        } <= declared


def test_points_vary_one_field_at_a_time():
    ours, slow = speed.subjects("toy")
    center = speed.base(ours, PLAN)
    assert center == (10, 8, 5, None)  # the problem has arms but no dimensions
    assert set(speed.points(ours, PLAN)) == {
        (1, 8, 5, None),
        center,
        (100, 8, 5, None),
        (10, 4, 5, None),
        (10, 8, 3, None),
    }
    assert len(speed.points(ours, PLAN)) == 5
    assert speed.lacking(ours) == {"dim": "Coins has no field 'dim'"}
    assert speed.points(slow, PLAN) == [
        (1, 8, 5, None),
        (10, 8, 5, None),
        (100, 8, 5, None),
        (1, 4, 5, None),
        (1, 8, 3, None),
    ]


@pytest.mark.parametrize("name", ["ours", "GLB-OMD", "RS-GLinCB", "OFUGLB"])
def test_a_replay_does_what_the_run_did(name):
    subject = speed.subjects(name)[0]
    run = speed.Run(subject.case, speed.base(subject, PLAN)._replace(trials=2), "cpu", 12)
    for _ in range(8):
        run.step()
    start, heard = run.state, run.record(4)
    values = lambda state: [
        leaf.view if isinstance(leaf, Rows) else leaf for _, leaf in list_leaves(state)
    ]
    for _ in range(2):  # a second repetition gives the same state as the first
        after = speed.replay(run.learner, tree_map(torch.Tensor.clone, start), heard, "cpu")
        assert all(
            torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b
            for a, b in zip(values(after), values(run.state), strict=True)
        )


def test_bytes_of_a_state():
    run = speed.Run(ContractCase(Index(), Coins()), speed.Point(2, 3, 5, None), "cpu", 3)
    for _ in range(3):
        run.step()
    # plays, total and three rewards; the unused part of the buffer does not count
    assert state_bytes(run.state) == 8 * (2 * 5 + 2 * 5 + 2 * 3)


@pytest.mark.slow
def test_peak_memory_includes_the_memory_of_a_run():
    script = """
import torch
from paperlib.core.contracts import ContractCase
from companion.bench.measure import Point, measure_memory
from toy import Coins, Index
class Wide(Index):
    def update(self, state, arms, arm, reward, draw):
        torch.ones(len(arm), 2_000_000, dtype=torch.float64)  # let go at once
        return super().update(state, arms, arm, reward, draw)
print(measure_memory(ContractCase(Wide(), Coins()), Point(20, 3, 5, None), "cpu")["process"])
"""
    path = os.pathsep.join([str(CODE), str(CODE / "tests")])
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    # The value is below 320 MB by the memory that loading held and released, and above it by the
    # allocator's rounding.
    assert 270e6 < int(done.stdout) < 400e6


# ---- stored content
# ----------------------------------------------------------------------------------------


SAMPLE = [0.95, 1.05, 0.5, 1.0, 9.0, 0.95, 1.05]  # median 1, interquartile range 0.1


def report(profile="quick"):
    """Return a report where a block takes 40 microseconds per trial after four rounds, and twice that after eight."""
    found = {}
    peaks = {
        "ours": {"trials": 100, "process": 3_000_000, "device": None},
        "slow": {"trials": 10, "process": 0, "device": None},
    }
    for subject in speed.subjects("toy"):
        timed = {}
        for point in speed.points(subject, PLAN):
            median = 4e-5 * point.trials * point.played / 4
            timed[point] = speed.Timing([median * x for x in SAMPLE], 8.0 * point.played)
        found[subject.name] = bench.entry(subject, timed, peaks[subject.name], PLAN)
    return bench.described({"toy": found}, PLAN, "Fast(R) Chip @ 2.50GHz", profile)


def test_seconds_are_of_one_round_of_one_trial():
    ours = report()["papers"]["toy"]["ours"]
    point = next(
        point
        for point in ours["points"]
        if (point["trials"], point["played"], point["arms"]) == (100, 8, 5)
    )
    assert point == {
        "trials": 100,
        "played": 8,
        "arms": 5,
        "dim": None,
        "median": 2e-5,
        "iqr": 2e-6,
        "min": 1e-5,
        "blocks": 7,
        "state_bytes": 64.0,
    }
    assert ours["base"] == {"trials": 10, "played": 8, "arms": 5, "dim": None} and ours[
        "not_varied"
    ] == {"dim": "Coins has no field 'dim'"}
    assert (
        not ours["on_host"]
        and report()["papers"]["toy"]["slow"]["on_host"]
        and ours["peak_memory"]["process"] == 3_000_000
    )


def test_stored_reports_name_the_device_and_no_machine(tmp_path):
    bench.write(report(), tmp_path / "a.json")
    text = (tmp_path / "a.json").read_text()
    assert json.loads(text) == json.loads(json.dumps(report()))
    assert platform.node() not in text and json.loads(text)["device"] == "Fast(R) Chip @ 2.50GHz"
    # One line per point.
    assert (
        sum(line.count('"median"') for line in text.splitlines())
        == sum('"median"' in line for line in text.splitlines())
        == 10
    )


def test_axes_leave_the_other_fields_at_the_base():
    ours = report()["papers"]["toy"]["ours"]
    assert {axis: [point[axis] for point in bench.along(ours, axis)] for axis in bench.AXES} == {
        "trials": [1, 10, 100],
        "played": [4, 8],
        "arms": [3, 5],
        "dim": [],
    }


def test_file_names_of_devices():
    assert bench.slug("Intel(R) Xeon(R) Processor @ 2.50GHz") == "intel-xeon-processor-2-50ghz"
    assert bench.slug("NVIDIA H200") == "nvidia-h200"


# ---- figure
# ------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("profile, place", [("quick", "quick/bench"), ("paper", "bench")])
def test_the_figure_holds_every_panel_and_repeats_byte_for_byte(profile, place, tmp_path):
    sums = []
    for _ in range(2):
        assert bench.draw(report(profile), "toy") == "toy_fast-chip-2-50ghz"
        sums.append(
            {
                path.name: hashlib.sha256(path.read_bytes()).hexdigest()
                for path in (tmp_path / "figures" / place).iterdir()
            }
        )
    assert sums[0] == sums[1] and sorted(sums[0]) == [
        f"toy_fast-chip-2-50ghz.{ending}" for ending in ("json", "pdf", "png")
    ]
    said = json.loads((tmp_path / "figures" / place / "toy_fast-chip-2-50ghz.json").read_text())
    assert (
        said["numbers"]["seconds, played"]["ours"] == {"played": [4, 8], "median": [1e-5, 2e-5]}
        and said["numbers"]["seconds, dim"] == {}
    )
    assert said["numbers"]["state"]["slow"]["state_bytes"] == [32.0, 64.0] and said["numbers"][
        "peak"
    ]["ours"] == {"trials": 100, "MB": 3.0}
    assert (
        "Fast(R) Chip @ 2.50GHz, one thread" in said["caption"]
        and "7 repetitions of the same 4 rounds" in said["caption"]
        and "10.0 % of the median" in said["caption"]
        and "A line ends" not in said["caption"]
    )


def test_the_caption_mentions_lines_that_end_early():
    found = report()
    ours = found["papers"]["toy"]["ours"]
    ours["points"] = [point for point in ours["points"] if point["trials"] != 100]
    text = bench.caption(found, found["papers"]["toy"], "here")
    assert (
        f"A line ends early, and a learner has fewer trials in (f), if playing the rounds before a point takes longer than {speed.PATIENCE:g} s"
        in text
    )


def test_a_point_that_takes_too_long_is_left_out(monkeypatch):
    monkeypatch.setattr(speed, "PATIENCE", 0.0)
    ours, _ = speed.subjects("toy")
    assert speed.time_block(ours.case, speed.base(ours, PLAN), PLAN, "cpu") is None
    with pytest.raises(SystemExit, match="no measurement was completed within 0 s"):
        bench.main(["--quick", "--device", "cpu", "--only", "toy"])


def test_a_block_is_timed_at_least_five_times():
    ours, _ = speed.subjects("toy")
    found = speed.time_block(ours.case, speed.base(ours, PLAN), PLAN, "cpu")
    assert 5 <= len(found.seconds) <= 50 and min(found.seconds) > 0
    # plays, total and eight rewards
    assert found.state_bytes == 8 * (5 + 5 + 8)


def test_lines_have_registered_styles_and_a_star_for_the_host():
    ax = figures.panels()[1][0, 0]
    bench.lines_panel(ax, report()["papers"]["toy"], "trials", "median", title="a", ylabel="b")
    lines = {line.get_label(): line for line in ax.get_lines()}
    assert (
        set(lines) == {"ours", "slow*"}
        and lines["ours"].get_color() == figures.line_style("ours")["color"]
    )
    assert (
        list(lines["slow*"].get_xdata()) == [1, 10, 100]
        and ax.get_xscale() == ax.get_yscale() == "log"
    )


def test_measuring_one_paper_keeps_the_others(monkeypatch):
    monkeypatch.setattr(bench, "papers", lambda: ("linear", "toy"))
    new = report("paper")
    kept = new | {"papers": {"toy": {}, "linear": {"old": 1}, "gone": {}}}
    whole = bench.joined(new, kept)
    assert (
        list(whole["papers"]) == ["linear", "toy"]
        and whole["papers"]["toy"] == new["papers"]["toy"]
    )
    assert whole["papers"]["linear"] == {"old": 1}
    other = kept | {"versions": kept["versions"] | {"torch": "2.0.0"}}
    with pytest.raises(
        ValueError,
        match=r"^versions of the earlier report must be .*measure all papers.*, got .*2\.0\.0",
    ):
        bench.joined(new, other)


# ---- the command -------------------------------------------------------------------------------------------


def test_an_unknown_name_ends_the_call(capsys):
    with pytest.raises(SystemExit) as end:
        bench.main(["--only", "nobody"])
    assert end.value.code == 2 and "got 'nobody'" in capsys.readouterr().err


def test_a_failed_measurement_ends_the_call_and_writes_nothing(monkeypatch, tmp_path):
    def broken(*_):
        raise TypeError("no")

    monkeypatch.setattr(speed, "replay", broken)
    with pytest.raises(SystemExit, match=r"bench failed for ours of toy: TypeError\('no'\)"):
        bench.main(["--quick", "--device", "cpu", "--only", "toy"])
    assert not (tmp_path / "results").exists() and not (tmp_path / "figures").exists()


@pytest.mark.slow
def test_the_command_measures_every_learner_of_a_paper_quickly(tmp_path):
    env = {**os.environ, "PAPERLIB_ROOT": str(tmp_path), "PAPERLIB_PYTHON": sys.executable}
    done = subprocess.run(
        [
            sys.executable,
            CODE / "run.py",
            "bench",
            "--quick",
            "--device",
            "cpu",
            "--only",
            "glbomd",
        ],
        capture_output=True,
        text=True,
        env=env,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    [path] = (tmp_path / "results/quick/bench").iterdir()
    found = json.loads(path.read_text())
    assert {(paper, name) for paper, learners in found["papers"].items() for name in learners} == {
        (s.paper, s.name) for s in speed.subjects() if s.paper == "glbomd"
    }
    for paper, learners in found["papers"].items():
        assert (tmp_path / f"figures/quick/bench/{paper}_{path.stem}.pdf").exists()
        for learner in learners.values():
            assert len(learner["points"]) >= 3 and all(
                0 < point["min"] <= point["median"] < 1 and point["blocks"] >= 5
                for point in learner["points"]
            )
    assert not (tmp_path / "bench").exists() and f"Numbers: {path}" in done.stdout
