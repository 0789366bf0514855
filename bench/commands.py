"""Seconds and memory of README's commands, from a clone in an empty folder: ``python bench/commands.py [FOLDER]``.

Writes bench/commands.json, from which README's sentence is generated. FOLDER, which must not exist, keeps the clone to
look at. Memory is the largest sum of resident sizes over the processes of a command, sampled every half second; what
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
COMMANDS = {
    "making the environment": ["-c", "import run; run.environment()"],
    "`figures`": ["run.py", "figures"],
    "`figures` again, nothing changed": ["run.py", "figures"],
    "`test`": ["run.py", "test"],
    "`docs`": ["run.py", "docs"],
}


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


def main(folder: Path) -> None:
    """Clone, run every command, write the table."""
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
    for name in [x for x in os.environ if x.startswith("PAPERLIB_")]:
        place = os.environ.pop(name)  # environment, folders and results of the clone are its own
        if name in ("PAPERLIB_DATA", "PAPERLIB_LOCKS"):  # data and the machine's quiet are not
            os.environ[name] = os.path.abspath(place)
    found = {name: measured(command, folder) for name, command in COMMANDS.items()}
    machine = {
        "processor": processor(),
        "cores": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30),
    }
    (ROOT / "bench" / "commands.json").write_text(
        json.dumps({"machine": machine, "commands": found}, indent=1) + "\n"
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as empty:
            main(Path(empty) / "paperlib")
