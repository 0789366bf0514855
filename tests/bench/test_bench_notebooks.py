"""The cost of the paper profile's notebooks: CPU time that jobs record, and the table that is written from it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from companion.bench import notebooks as cost
from companion.store import results
from paperlib.glbomd import GLBOMD, Bernoulli, SphereArms

CODE = Path(__file__).resolve().parents[2]
WORK = """from companion import store

def work(size):
    return {"total": sum(i * i for i in range(size))}

store.cached_call("work", work, size=3_000_000)"""


@pytest.fixture
def root(project):
    (project / "notebooks/profiles.toml").write_text("")
    for stem in ("toy_1", "toy_2"):
        nbformat.write(new_notebook(), project / f"notebooks/{stem}.ipynb")
    (project / "results/paper").mkdir(parents=True)
    return project


def write_job(root, name, own, used, peak=2**30, profile="paper"):
    job = {"own_cpu": own, "peak_bytes": peak, "used": used}
    (root / "results" / profile).mkdir(exist_ok=True)
    (root / "results" / profile / f"{name}.done").write_text(json.dumps(job))


def test_each_result_counts_once_with_the_time_of_its_first_run(root):
    (root / "notebooks/profiles.toml").write_text(
        '[toy_1]\nshards = 2\n[toy_2]\nafter = ["toy_1"]\n'
    )
    (root / "results/costs.txt").write_text("a 100.000\nb 20.000\nc 3.000\nb 999.000\nd 7")
    write_job(root, "toy_1.shard1of2", 0.5, ["a"], peak=2**31)
    write_job(root, "toy_1.shard2of2", 0.5, ["b"])
    write_job(root, "toy_1", 4.0, ["a", "b"])
    write_job(root, "toy_2", 1.0, ["b", "c"])
    write_job(root, "toy_1.shard3of4", 50.0, ["a"])  # of an older division
    found, missing = cost.gather()
    assert found == {"toy_1": {"seconds": 125, "gib": 2.0}, "toy_2": {"seconds": 4, "gib": 1.0}}
    assert missing == {}
    (root / "results/paper/toy_1.done").unlink()
    found, missing = cost.gather()  # otherwise result b would count twice
    assert found == {}
    assert missing["toy_2"] == "it uses results of toy_1, which is not measured"


def test_a_notebook_without_a_record_has_no_cost_and_keeps_its_earlier_one(root, capsys):
    (root / "results/costs.txt").write_text("a 100.000\n")
    write_job(root, "toy_1", 4.0, ["a", "stranger"])
    found, missing = cost.gather()
    assert found == {}
    assert missing["toy_1"] == "1 of its results were computed without a record of the time"
    assert missing["toy_2"] == "it has not run"
    earlier = {"toy_1": {"seconds": 7, "gib": 0.1, "processor": "Toy"}}
    (root / "bench").mkdir()
    (root / "bench/notebooks.json").write_text(json.dumps(earlier))
    assert cost.main() == 0
    assert json.loads((root / "bench/notebooks.json").read_text()) == earlier
    assert "toy_2  not measured: it has not run" in capsys.readouterr().out


def test_a_replication_does_not_replace_the_recorded_cost_of_a_paper_run(root):
    earlier = {"toy_1": {"seconds": 120, "gib": 2.0, "processor": "another"}}
    (root / "bench").mkdir()
    (root / "bench/notebooks.json").write_text(json.dumps(earlier))
    (root / "results/costs.txt").write_text("b 50.000\n")
    write_job(root, "toy_1", 2.0, ["b"], profile="replication")
    assert cost.main() == 0
    assert json.loads((root / "bench/notebooks.json").read_text()) == earlier


def test_a_replication_stands_for_a_paper_run_that_was_not_measured(root, capsys):
    (root / "results/costs.txt").write_text("a 100.000\nb 50.000\nc 3.000\n")
    write_job(root, "toy_1", 4.0, ["a", "stranger"])
    write_job(root, "toy_1", 2.0, ["b"], profile="replication")
    write_job(root, "toy_2", 1.0, ["c"])
    write_job(root, "toy_2", 9.0, ["b"], profile="replication")
    assert cost.main() == 0
    known = json.loads((root / "bench/notebooks.json").read_text())
    assert {stem: entry["seconds"] for stem, entry in known.items()} == {"toy_1": 52, "toy_2": 4}
    assert "not measured" not in capsys.readouterr().out


def test_a_job_records_its_results_and_a_second_one_does_not_pay_again(root, monkeypatch):
    nbformat.write(
        new_notebook(
            cells=[
                new_code_cell(
                    'profile: str = "quick"\ndevice: str = "auto"',
                    metadata={"tags": ["parameters"]},
                ),
                new_code_cell(WORK),
            ],
            metadata={
                "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}
            },
        ),
        root / "notebooks/toy_1.ipynb",
    )
    monkeypatch.setenv("PAPERLIB_LOCKS", str(root))
    command = [sys.executable, "-m", "companion.workflow.jobs", "toy_1", "paper"]
    done, costs = root / "results/paper/toy_1.done", []
    for _ in range(2):
        assert subprocess.run(command, cwd=CODE, capture_output=True).returncode == 0
        costs.append((json.loads(done.read_text()), cost.gather()[0]["toy_1"]["seconds"]))
    (first, seconds), (second, again) = costs
    assert first["used"] == second["used"] and len(first["used"]) == 1
    spent = float((root / "results/costs.txt").read_text().split()[1])
    assert 0.05 < spent < 60 and first["own_cpu"] > 0
    assert abs(seconds - first["own_cpu"] - spent) < 1 and again >= int(spent)
    assert len((root / "results/costs.txt").read_text().splitlines()) == 1


def test_nothing_is_recorded_outside_of_a_job(tmp_path, monkeypatch):
    monkeypatch.setenv("PAPERLIB_RESULTS", str(tmp_path))
    monkeypatch.delenv("PAPERLIB_USED", raising=False)
    results.cached_call("two", _two)
    assert [path.suffix for path in tmp_path.iterdir()] == [".npz"]


def test_a_run_that_raises_an_error_is_not_a_result(tmp_path, monkeypatch):
    """nsbco_1 shows a run that is refused."""
    used = tmp_path / "used"
    monkeypatch.setenv("PAPERLIB_RESULTS", str(tmp_path))
    monkeypatch.setenv("PAPERLIB_USED", str(used))
    problem = SphereArms(Bernoulli(), arms=5, dim=2, norm=3.0)
    learners = {"GLB-OMD": GLBOMD(Bernoulli(), norm_bound=3.0)}
    with pytest.raises(ValueError, match="refused"):
        results.run(problem, learners, 4, 2, probes={"x": _refuse})
    with pytest.raises(ValueError, match="refused"):
        results.cached_call("refuse", _refuse)
    assert not used.exists()
    results.cached_call("two", _two)
    assert len({line.split()[0] for line in used.read_text().splitlines()}) == 1


def _refuse(*_):
    raise ValueError("refused")


def _two():
    return {"two": np.array(2)}


def test_the_committed_costs_name_notebooks(monkeypatch):
    for name in [name for name in os.environ if name.startswith("PAPERLIB_")]:
        monkeypatch.delenv(name)
    if not cost.cost_file().exists():
        pytest.skip("no costs were measured")
    known = json.loads(cost.cost_file().read_text())
    assert {*known} <= {path.stem for path in (CODE / "notebooks").glob("*.ipynb")}
    assert all(entry["seconds"] > 0 and entry["gib"] > 0 for entry in known.values())
