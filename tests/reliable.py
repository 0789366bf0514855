"""A workflow of two tiny notebooks, run like a user's, for tests of its robustness."""

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
from waiting import wait

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
    """Separate mount namespace with the mounts of ``mounts`` (a shell command); skips the test if it is not permitted."""

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
        """Return the output of a shell command in the namespace."""
        return subprocess.run(
            [*self.prefix, "sh", "-c", command], check=True, stdout=subprocess.PIPE, text=True
        ).stdout

    def seen(self, path: Path) -> Path:
        """Return the path that this process can use to access a path in the namespace."""
        return Path(f"/proc/{self.process.pid}/root{path}")

    def __enter__(self) -> "Space":
        return self

    def __exit__(self, *_) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Workflow:
    """The folders of a project under ``home``, and calls of run.py that use them; ``code`` is the folder of run.py."""

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
        """Write a notebook that runs the toy experiment, with ``first`` as a preceding cell."""
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
        """Start ``run.py figures``; ``communicate`` returns its output."""
        command = [*self.prefix, sys.executable, self.code / "run.py", "figures", *arguments]
        return subprocess.Popen(
            command,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *arguments: str) -> tuple[int, str]:
        """Return the exit status and the output of ``run.py figures``."""
        process = self.start(*arguments)
        text = process.communicate(timeout=200)[0]
        return process.returncode, text

    def processes(self) -> list[psutil.Process]:
        """Return all processes of this folder, including orphans and processes with a session of their own."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.pid != os.getpid() and process.environ().get("PAPERLIB_RESULTS") == str(
                    self.results
                ):
                    found.append(process)
            except psutil.Error:  # the process has ended, is a zombie, or belongs to another user
                continue
        return found

    def wait_for_end(self, seconds: float = 180) -> None:
        """Wait until no process of this folder is left, for example orphans of a killed call; fail with their commands."""
        end = time.monotonic() + seconds
        while found := self.processes():
            if time.monotonic() > end:
                left = [process.as_dict(["pid", "status", "cmdline"]) for process in found]
                raise AssertionError(f"processes left after {seconds} s: {left}")
            time.sleep(0.1)

    def kill(self) -> None:
        """Send SIGKILL to all processes until they have ended."""
        while found := self.processes():
            for process in found:
                try:
                    process.kill()
                except psutil.NoSuchProcess:
                    continue
            psutil.wait_procs(found, 10)

    def chunks(self) -> dict[str, int]:
        """Return the stored results, without checkpoints, and the time when each was written."""
        return {
            path.name: path.stat().st_mtime_ns
            for path in self.results.glob("*.npz")
            if not path.name.endswith(".part.npz")
        }

    def rounds(self, name: str) -> list[int]:
        """Return the rounds at which the simulations of a notebook saved a checkpoint, in temporal order, over all calls."""
        path = self.notebooks / f"{name}.rounds"
        return [int(line) for line in path.read_text().split()] if path.exists() else []

    def outcome(self) -> dict:
        """Return everything that a reader receives except timings.

        Arrays, figures and verdicts are compared byte for byte, and so are the outputs of cells.
        """
        found = arrays(self.results)
        for path in self.figures.rglob("*.*"):
            # The pages contain the ids of cells, which differ between folders.
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
    """Return the contents of result and checkpoint files in a folder, bit for bit, without run times."""
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
    """Wait until ``there()`` is true. The caller acts at that moment, so the state is read often."""
    wait(seconds, "the awaited state", there, pause=0.02)
