"""What a notebook of the paper profile costs: ``python -m companion.bench.notebooks`` writes ``bench/notebooks.json``.

The cost of a notebook is the CPU time of its cells and of the stored results that it uses. Each result counts once, for
the first notebook that uses it, with the time of the run that computed it. Therefore a run that was divided into shards, or stopped between two
results, costs as much as one that was not. If a result was resumed from a checkpoint, the time before the stop is missing.

A replication has the sizes of the paper profile. Its cost is taken for a notebook whose paper run has never been measured.
"""

import json
import re
import sys
from pathlib import Path

from ..output import project_dir, write_json
from ..store.results import results_dir
from ..workflow.plan import notebook_stems, profile_results, read_section, shard_count
from .measure import device_name

GIB = 2**30


def cost_file() -> Path:
    """Return the path of the committed costs."""
    return project_dir() / "bench" / "notebooks.json"


def gather(profile: str = "paper") -> tuple[dict[str, dict[str, float]], dict[str, str]]:
    """Return the cost of each notebook that has run in this profile, and of each other notebook why it has none.

    Returns:
        stem -> "seconds" of CPU time and "gib", the largest memory of a process; stem -> reason.
    """
    known: dict[str, float] = {}
    path = results_dir() / "costs.txt"
    # A full disk can leave a part of a line.
    lines = re.findall(
        r"^(\w+) (\d+\.\d{3})$", path.read_text() if path.exists() else "", re.MULTILINE
    )
    for digest, seconds in lines:
        known.setdefault(digest, float(seconds))
    found, missing, counted = {}, {}, set()
    for stem in notebook_stems():
        n = shard_count(stem, profile)
        names = [stem, *(f"{stem}.shard{k}of{n}" for k in range(1, n + 1))]
        parts = [profile_results(profile) / f"{name}.done" for name in names]
        jobs = [json.loads(part.read_bytes()) for part in parts if part.exists()]
        before = [other for other in read_section(stem).get("after", []) if other in missing]
        if not parts[0].exists():
            missing[stem] = "it has not run"
        elif before:  # a result that both use counts for the first
            missing[stem] = f"it uses results of {before[0]}, which is not measured"
        elif any("used" not in job for job in jobs):
            missing[stem] = "its run did not record the time"
        else:
            used = {digest for job in jobs for digest in job["used"]}
            if strangers := used - known.keys():
                missing[stem] = (
                    f"{len(strangers)} of its results were computed without a record of the time"
                )
                continue
            own = sum(job["own_cpu"] for job in jobs)
            seconds = own + sum(known[digest] for digest in used - counted)
            counted |= used
            peak = max(job["peak_bytes"] for job in jobs)
            found[stem] = {"seconds": round(seconds), "gib": round(peak / GIB, 2)}
    return found, missing


def main() -> int:
    """Write the costs of the notebooks that have run, keep the costs of the others, and print what is missing."""
    found, missing = gather()
    replicated, _ = gather("replication")
    known = json.loads(cost_file().read_bytes()) if cost_file().exists() else {}
    found = {stem: replicated[stem] for stem in replicated.keys() - known.keys()} | found
    missing = {stem: why for stem, why in missing.items() if stem not in found}
    processor = device_name("cpu")
    known |= {stem: cost | {"processor": processor} for stem, cost in found.items()}
    write_json(cost_file(), {stem: known[stem] for stem in notebook_stems() if stem in known})
    for stem, cost in found.items():
        print(f"{stem}  {cost['seconds']} s of CPU time, {cost['gib']} GiB")
    for stem, why in missing.items():
        print(f"{stem}  not measured: {why}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
