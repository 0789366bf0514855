"""Run time and memory of README's commands, from clones in an empty folder: ``python bench/commands.py [FOLDER] [--first]``.

Writes bench/commands.json, from which README's sentence is generated. The commands run in their order in one clone. Then
`test` runs in a separate clone, because after `figures` it finds results that a first call has to compute. ``--first``
measures only this call, and leaves the numbers of the others as they are. FOLDER must not exist; it keeps the clones for
inspection. Memory is the largest sum of resident sizes over the processes of a command, sampled every half second.
Memory that processes share counts in each of them, therefore the sum is an upper bound.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psutil

from companion.bench.measure import device_name

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT, TEST = ["-c", "import run; run.environment()"], ["run.py", "test"]
COMMANDS = {
    "making the environment": ENVIRONMENT,
    "`figures`": ["run.py", "figures"],
    "`figures` again, nothing changed": ["run.py", "figures"],
    "`docs`": ["run.py", "docs"],
}
FIRST = {"making the environment": ENVIRONMENT, "`test`": TEST}


def measured(command: list[str], folder: Path) -> dict[str, float]:
    """Run a command to its end; return seconds and peak GiB.

    Raises:
        RuntimeError: the command fails; its output has been shown.
    """
    start, peak = time.monotonic(), 0
    # Restore the default action of Ctrl-C, because nohup and a shell's & leave it ignored, and the
    # tests send it.
    attend = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
    process = psutil.Popen([sys.executable, *command], cwd=folder, preexec_fn=attend)
    while process.poll() is None:
        peak = max(peak, occupied(process))
        time.sleep(0.5)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with exit status {process.returncode}")
    return {"seconds": round(time.monotonic() - start), "gib": round(peak / 2**30, 2)}


def occupied(process: psutil.Process) -> int:
    """Return the bytes that a process and its descendants currently have in memory."""
    total = 0
    with suppress(psutil.Error):
        for each in (process, *process.children(recursive=True)):
            with suppress(psutil.Error):  # the process has just ended
                total += each.memory_info().rss
    return total


def in_a_clone(commands: dict[str, list[str]], folder: Path) -> dict[str, dict[str, float]]:
    """Run commands in their order in a new clone; return seconds and peak GiB of each."""
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
    return {name: measured(command, folder) for name, command in commands.items()}


def main(folder: Path, first_only: bool) -> None:
    """Run the commands, and write their numbers after each clone, so that a later failure loses none of them.

    Raises:
        ValueError: ``first_only``, and the other numbers were measured on another machine.
    """
    for name in [x for x in os.environ if x.startswith("PAPERLIB_")]:
        place = os.environ.pop(name)  # the clone uses its own environment, folders and results
        if name in ("PAPERLIB_DATA", "PAPERLIB_LOCKS"):  # data and locks are shared
            os.environ[name] = os.path.abspath(place)
    path = ROOT / "bench" / "commands.json"
    memory = round(psutil.virtual_memory().total / 2**30)
    machine = {"processor": device_name("cpu"), "cores": os.cpu_count(), "memory_gib": memory}
    known = json.loads(path.read_text()) if path.exists() else {}
    if first_only and known.get("machine") != machine:
        measured_on = known.get("machine")
        raise ValueError(f"--first on {machine}; allowed: on {measured_on}, as the other numbers")
    if not first_only:
        known = {"machine": machine, "commands": in_a_clone(COMMANDS, folder / "all")}
        path.write_text(json.dumps(known, indent=1) + "\n")
    known["first"] = in_a_clone(FIRST, folder / "first")["`test`"]
    path.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--first", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as empty:
        main(options.folder or Path(empty) / "paperlib", options.first)
