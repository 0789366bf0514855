"""Milliseconds per round of some learners on the CPU and on CUDA of one machine: ``python bench/cpu_and_cuda.py``.

Writes bench/cpu_and_cuda.json. ``core.linalg.pick_device`` was fitted to this file, and docs/guides/speed.md shows it as
a table. The script needs a CUDA device and takes about half a minute. A round is ``select`` and ``update`` after 20
rounds; the value is the median over blocks of ten rounds, with one thread on the CPU.
"""

import json
import statistics
from pathlib import Path

import torch

from companion.bench import measure

LEARNERS = ("glbomd.GLB-OMD", "glbomd.GLOC", "linear.OFUL")
TRIALS = (1, 64, 256, 648, 1024, 4096)
DIMENSIONS = (5, 20)
BASE = measure.Point(trials=1, played=20, arms=20, dim=5)
PLAN = measure.Plan(BASE, {"trials": TRIALS, "dim": DIMENSIONS}, block=10, seconds=0.25)


def milliseconds(subject: measure.Subject, trials: int, dim: int, device: str) -> float:
    """Return the median milliseconds per round."""
    point = BASE._replace(trials=trials, dim=dim)
    timing = measure.time_block(subject.case, point, PLAN, device)
    return 1e3 * statistics.median(timing.seconds) / PLAN.block


def main() -> None:
    torch.set_num_threads(1)
    known = {f"{subject.paper}.{subject.name}": subject for subject in measure.subjects()}
    rows = [
        {
            "learner": name,
            "dim": dim,
            "trials": trials,
            "cpu_ms": milliseconds(known[name], trials, dim, "cpu"),
            "cuda_ms": milliseconds(known[name], trials, dim, "cuda"),
        }
        for name in LEARNERS
        for dim in DIMENSIONS
        for trials in TRIALS
    ]
    about = {"device": measure.device_name("cuda"), "torch": torch.__version__, "arms": BASE.arms}
    path = Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(about | {"rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
