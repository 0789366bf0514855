"""Seconds and memory of README's commands, from clones in an empty folder: ``python bench/commands.py [FOLDER]``.

Writes bench/commands.json, from which README's sentence is generated. The commands run in their order in one clone. `test` runs a
second time in a clone of its own, because after `figures` it finds results that a first call has to compute. FOLDER, which must
not exist, keeps the clones to look at. Memory is the largest sum of resident sizes over the processes of a command, sampled every half second; what
processes share counts in each, so it is an upper bound.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT, TEST = ["-c", "import run; run.environment()"], ["run.py", "test"]
COMMANDS = {
    "making the environment": ENVIRONMENT,
    "`figures`": ["run.py", "figures"],
    "`figures` again, nothing changed": ["run.py", "figures"],
    "`test`, after `figures`": TEST,
    "`docs`": ["run.py", "docs"],
}
FIRST = {"making the environment": ENVIRONMENT, "`test`": TEST}


def measured(command: list[str], folder: Path) -> dict[str, float]:
    """Run a command to its end; seconds and peak GiB.

    Raises:
        RuntimeError: it fails; its output has been shown.
    """
    start, peak = time.monotonic(), 0
    process = psutil.Popen([sys.executable, *command], cwd=folder)
    while process.poll() is None:
        peak = max(peak, occupied(process))
        time.sleep(0.5)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with exit status {process.returncode}")
    return {"seconds": round(time.monotonic() - start), "gib": round(peak / 2**30, 2)}


def occupied(process: psutil.Process) -> int:
    """Bytes that a process and its descendants have in memory now."""
    total = 0
    try:
        for each in (process, *process.children(recursive=True)):
            try:
                total += each.memory_info().rss
            except psutil.Error:  # it has just ended
                continue
    except psutil.Error:
        pass
    return total


def processor() -> str:
    """The processor's name where the system tells it."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else "unknown processor"


def in_a_clone(commands: dict[str, list[str]], folder: Path) -> dict[str, dict[str, float]]:
    """Run commands in their order in a new clone; seconds and peak GiB of each."""
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
    return {name: measured(command, folder) for name, command in commands.items()}


def main(folder: Path) -> None:
    """Run every command, write the table."""
    for name in [x for x in os.environ if x.startswith("PAPERLIB_")]:
        place = os.environ.pop(name)  # environment, folders and results of the clone are its own
        if name in ("PAPERLIB_DATA", "PAPERLIB_LOCKS"):  # data and the machine's quiet are not
            os.environ[name] = os.path.abspath(place)
    found, first = in_a_clone(COMMANDS, folder / "all"), in_a_clone(FIRST, folder / "first")
    machine = {
        "processor": processor(),
        "cores": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30),
    }
    (ROOT / "bench" / "commands.json").write_text(
        json.dumps({"machine": machine, "commands": found, "first": first["`test`"]}, indent=1)
        + "\n"
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as empty:
            main(Path(empty) / "paperlib")
