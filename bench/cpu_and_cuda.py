"""Milliseconds per round of some learners on the CPU and on CUDA of one machine: ``python bench/cpu_and_cuda.py``.

Writes bench/cpu_and_cuda.json, from which ``core.linalg.pick_device`` was fitted and docs/guides/speed.md has its table. It needs
a CUDA device and takes about half a minute. A round is ``select`` and ``update`` after 20 rounds, the median over blocks of ten,
with one thread on the CPU.
"""

import json
import time
from pathlib import Path

import torch

from companion.bench import measure
from companion.bench.report import device_name
from paperlib.core.linalg import synchronize

LEARNERS = ("glbomd.GLB-OMD", "glbomd.GLOC", "linear.OFUL")
TRIALS = (1, 64, 256, 648, 1024, 4096)
DIMENSIONS = (5, 20)
BEFORE, BLOCK, SECONDS = 20, 10, 0.25


def milliseconds(subject: measure.Subject, trials: int, dim: int, device: str) -> float:
    """Median milliseconds per round."""
    point = measure.Point(trials, BEFORE, 20, dim)
    run = measure.Run(subject.case, point, device, BEFORE + BLOCK)
    for _ in range(BEFORE):
        run.step()
    start, heard, seconds = run.state, run.record(BLOCK), []
    measure.replay(
        run.learner, measure.copy(start), heard, device
    )  # compiles and caches on first use
    began = time.perf_counter()
    while len(seconds) < 5 or time.perf_counter() - began < SECONDS:
        fresh = measure.copy(start)
        synchronize(device)
        before = time.perf_counter()
        measure.replay(run.learner, fresh, heard, device)
        seconds.append((time.perf_counter() - before) / BLOCK)
    return 1e3 * sorted(seconds)[len(seconds) // 2]


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
    about = {"device": device_name("cuda", {}), "torch": torch.__version__, "arms": 20}
    path = Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(about | {"rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
