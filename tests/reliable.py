"""A workflow of two tiny notebooks, called as a user does: for tests of what a run withstands."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import numpy as np
import psutil
import pytest
from nbformat.v4 import new_code_cell, new_notebook

TESTS = Path(__file__).parent
CODE = TESTS.parent
CELLS = [
    'profile: str = "quick"  # sizes\ndevice: str = "auto"  # where',
    f"import sys\nsys.path[:0] = [{str(TESTS)!r}]\nfrom toy import Coins, Index\nfrom companion import figures, output; from companion.store import results as store",
    """def tell(t, horizon, seconds):
    with open("NAME.rounds", "a") as file:
        file.write(f"{t}\\n")

trace = store.run(Coins(), {"index": Index(nap=NAP)}, HORIZON, TRIALS, seed=SEED, chunk=CHUNK, record="all", every=0, progress=tell)["index"]""",
    """mean = trace["regret"].mean(0)
fig, axes = figures.panels()
axes[0, 0].plot(trace.rounds, mean)
figures.save(fig, "NAME", paper="toy", caption="Regret.", alt="A line.", profile=profile, parameters={}, seed=SEED, trials=TRIALS, numbers=mean)
output.write_json(output.profile_dir(profile) / "claims/toy.NAME.json", {"notebook": "NAME", "verdict": "holds", "statistic": mean[-1]})
print(f"{mean[-1]:.6f}")""",
]


class Space:
    """A mount namespace of its own, in which ``mounts`` (a shell command) was done; skips where that is refused."""

    def __init__(self, mounts: str):
        if shutil.which("unshare") is None:
            pytest.skip("no mount namespace of its own: there is no unshare, as on macOS")
        self.process = subprocess.Popen(
            ["unshare", "-Urm", "sh", "-c", f"{mounts} && echo ready && exec sleep 600"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if (said := self.process.stdout.readline()) != "ready\n":
            pytest.skip(f"no mount namespace of its own: {said.strip()}")
        self.prefix = ["nsenter", "-t", str(self.process.pid), "-U", "-m", "--preserve-credentials"]

    def sh(self, command: str) -> str:
        """Output of a shell command in there."""
        return subprocess.run(
            [*self.prefix, "sh", "-c", command], check=True, stdout=subprocess.PIPE, text=True
        ).stdout

    def seen(self, path: Path) -> Path:
        """How this process sees a path that lies in there."""
        return Path(f"/proc/{self.process.pid}/root{path}")

    def __enter__(self) -> "Space":
        return self

    def __exit__(self, *_) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Workflow:
    """A project's folders under ``home``, and calls of run.py that work there; ``code`` is whose run.py."""

    def __init__(self, home: Path, code: Path = CODE, prefix: tuple[str, ...] = ()):
        self.home, self.code, self.prefix = home, code, prefix
        self.notebooks, self.results, self.figures = (
            home / "notebooks",
            home / "results",
            home / "figures",
        )
        folders = {
            "PAPERLIB_ROOT": home,
            "PAPERLIB_RESULTS": self.results,
            "PAPERLIB_FIGURES": self.figures,
            "PAPERLIB_LOCKS": home,
            "PAPERLIB_DATA": home / "data",
        }
        self.environment = {
            **os.environ,
            **{name: str(path) for name, path in folders.items()},
            "PAPERLIB_PYTHON": sys.executable,
            "NO_PROXY": "127.0.0.1",
        }
        for path in (self.notebooks, home / "data"):
            path.mkdir(parents=True)

    def write(
        self,
        name: str,
        first: str = "",
        *,
        horizon: int = 320,
        trials: int = 4,
        chunk: int = 2,
        nap: float = 0.0,
        seed: int = 0,
    ) -> None:
        """A notebook that runs the toy experiment, with ``first`` as a cell before it."""
        values = {
            "NAME": name,
            "HORIZON": horizon,
            "TRIALS": trials,
            "CHUNK": chunk,
            "NAP": nap,
            "SEED": seed,
        }
        cells = [CELLS[0], first, *CELLS[1:]]
        for word, value in values.items():
            cells = [cell.replace(word, str(value)) for cell in cells]
        notebook = new_notebook(
            cells=[new_code_cell(cell, id=f"c{i}") for i, cell in enumerate(cells)]
        )
        notebook.cells[0].metadata.tags = ["parameters"]
        notebook.metadata.kernelspec = {
            "name": "python3",
            "display_name": "Python 3",
            "language": "python",
        }
        nbformat.write(notebook, self.notebooks / f"{name}.ipynb")

    def start(self, *arguments: str) -> subprocess.Popen:
        """``run.py figures`` at its beginning; what it says comes by ``communicate``."""
        command = [*self.prefix, sys.executable, self.code / "run.py", "figures", *arguments]
        return subprocess.Popen(
            command,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *arguments: str) -> tuple[int, str]:
        """Exit status and output of ``run.py figures``."""
        process = self.start(*arguments)
        text = process.communicate(timeout=200)[0]
        return process.returncode, text

    def processes(self) -> list[psutil.Process]:
        """All that works for this folder, also what has lost its parent or has a session of its own."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.pid != os.getpid() and process.environ().get("PAPERLIB_RESULTS") == str(
                    self.results
                ):
                    found.append(process)
            except psutil.Error:  # gone, a zombie, or another user's
                continue
        return found

    def kill(self) -> None:
        """SIGKILL to everything, until nothing is left."""
        while found := self.processes():
            for process in found:
                try:
                    process.kill()
                except psutil.NoSuchProcess:
                    continue
            psutil.wait_procs(found, 10)

    def chunks(self) -> dict[str, int]:
        """Stored results, without checkpoints, and when each was written."""
        return {
            path.name: path.stat().st_mtime_ns
            for path in self.results.glob("*.npz")
            if not path.name.endswith(".part.npz")
        }

    def rounds(self, name: str) -> list[int]:
        """The rounds at which a notebook's plays kept a checkpoint, in the order of time, over all calls."""
        path = self.notebooks / f"{name}.rounds"
        return [int(line) for line in path.read_text().split()] if path.exists() else []

    def outcome(self) -> dict:
        """All that a reader gets, timings apart: arrays, figures and verdicts byte for byte, outputs of cells."""
        found = arrays(self.results)
        for path in self.figures.rglob("*.*"):
            # pages hold the cells' ids, which each folder's notebooks have of their own
            if path.is_file() and path.suffix != ".html":
                found[str(path.relative_to(self.figures))] = path.read_bytes()
        for path in (self.results / "quick").glob("*.ipynb"):
            outputs = [
                output
                for cell in json.loads(path.read_text())["cells"]
                for output in cell.get("outputs", [])
            ]
            found[path.name] = [output for output in outputs if output.get("name") != "stderr"]
        return found


def arrays(folder: Path) -> dict[str, dict]:
    """What the files of results and checkpoints in a folder hold, bit for bit, seconds apart."""
    found = {}
    for path in folder.glob("*.npz"):
        with np.load(path) as file:
            found[path.name] = {
                key: (file[key].dtype.str, file[key].tobytes())
                for key in file.files
                if key != "seconds"
            }
    return found


def until(there, seconds: float = 60) -> None:
    """Wait for ``there()``."""
    deadline = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)
