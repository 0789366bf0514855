"""Code in a notebook: another kernel finds its stored results, and each figure is displayed once."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

TESTS = Path(__file__).parent
CELLS = [
    f"""
import os, sys
sys.path[:0] = [{str(TESTS)!r}, {str(TESTS.parent)!r}]
from toy import Coins, Index
from dataclasses import dataclass
from companion import figures; from companion.store import results as store
factor = 2.0
""",
    """
@dataclass(frozen=True)
class Mine(Index):
    '''A learner of one's own.'''
    def select(self, state, context, draw):
        action, state = super().select(state, context, draw)
        return (action + 1) % 4, state

def doubled(round):
    return factor * round.feedback
""",
    "trace = store.run(Coins(), {'a': Mine()}, 30, 2, probes={'x': doubled, 'y': lambda r: r.feedback + factor})['a']",
    """
fig, axes = figures.panels()
axes[0, 0].plot(trace.rounds, trace["regret"].mean(0))
figures.save(fig, "toy", paper="toy", caption="Regret.", alt="A line.", profile="quick", parameters={}, seed=0, trials=2)
""",
]


def execute():
    cells = [nbformat.v4.new_code_cell(source.strip()) for source in CELLS]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, kernel_name="python3", timeout=300).execute()
    return [output for cell in notebook.cells for output in cell.outputs]


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setenv("PAPERLIB_RESULTS", str(tmp_path / "results"))
    # This test does not wait for timings of other processes on the machine.
    monkeypatch.setenv("PAPERLIB_LOCKS", str(tmp_path))
    monkeypatch.setenv("PAPERLIB_FIGURES", str(tmp_path / "figures"))
    return tmp_path / "results"


@pytest.mark.slow
def test_notebooks_find_their_results_and_show_figures_once(results):
    (picture,) = execute()
    assert (
        picture.output_type == "display_data"
        and "image/png" in picture.data
        and "Figure" not in picture.data.get("text/plain", "")
    )
    kept = {path: path.stat().st_mtime_ns for path in results.iterdir()}
    (again,) = execute()
    assert (
        again.data == picture.data
        and {path: path.stat().st_mtime_ns for path in results.iterdir()} == kept
        and len(kept) == 1
    )
