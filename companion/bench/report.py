"""Speed and memory of every learner on this machine: ``python3 run.py bench`` calls this.

What is measured is kept in one file a device, without the machine's names and dates, and drawn. Only what is measured in
full, the whole bench or all of a paper, goes to ``bench/`` and ``figures/bench/``.
"""

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

from paperlib.core.linalg import pick_device
from paperlib.core.text import plain
from paperlib.core.validation import refuse

from ..output import folder, home, write_text
from ..papers import papers
from ..store.keys import versions
from ..store.progress import line
from ..store.timing import alone
from ..workflow.plan import results
from . import measure as speed
from .figure import draw, slug


def measure(plan: speed.Plan, device: str, only: str | None = None) -> dict[str, dict]:
    """Paper -> learner -> what was measured: points, and peak memory with the most trials that were reached.

    Seconds are of one round of one trial, in ``select`` and ``update``; ``blocks`` is the number of repetitions behind the
    statistics, and a learner's ``base`` is the point in which its axes cross.

    Raises:
        RuntimeError: a measurement failed, or every measurement ended before its point.
    """
    found, subjects = {}, speed.subjects(only)
    with line("bench", len(subjects), still=True) as shown, alone():
        for subject in subjects:
            shown.begin(subject.name)
            try:
                timed = speed.times(subject, plan, device)
                if timed:
                    most = max(point.trials for point in timed)
                    peak = speed.memory(subject, plan, device, most)
                    found.setdefault(subject.paper, {})[subject.name] = entry(
                        subject, timed, peak, plan
                    )
            except Exception as error:
                raise RuntimeError(f"{subject.paper}'s {subject.name}: {error!r}") from error
            shown.end()
    if not found:
        raise RuntimeError(f"{speed.PATIENCE:g} s of play reached no point")
    return found


def entry(
    subject: speed.Subject,
    timed: dict[speed.Point, speed.Timing],
    peak: dict[str, Any],
    plan: speed.Plan,
) -> dict[str, Any]:
    """What is kept of a learner."""
    return {
        "on_host": subject.on_host,
        "not_varied": speed.lacking(subject),
        "peak_memory": peak,
        "base": speed.base(subject, plan)._asdict(),
        "points": [summary(*item, plan.block) for item in timed.items()],
    }


def summary(point: speed.Point, timing: speed.Timing, block: int) -> dict[str, Any]:
    """Statistics of the seconds of one round of one trial."""
    seconds = np.array(timing.seconds) / (block * point.trials)
    low, median, high = np.quantile(seconds, (0.25, 0.5, 0.75))
    about = {"median": median, "iqr": high - low, "min": seconds.min()}
    sizes = {"blocks": len(seconds), "state_bytes": timing.state_bytes}
    return {**point._asdict(), **about, **sizes}


def described(
    found: dict[str, dict], plan: speed.Plan, device: str, profile: str
) -> dict[str, Any]:
    """What is kept of ``measure``.

    Args:
        device: its name.
        profile: "paper" for all learners of a paper in full, else "quick".
    """
    return plain(
        {
            "device": device,
            "threads": 1,
            "profile": profile,
            "versions": versions(),
            "plan": {"base": plan.base._asdict(), "along": plan.along, "block": plan.block},
            "papers": found,
        }
    )


def joined(report: dict[str, Any], kept: dict[str, Any]) -> dict[str, Any]:
    """A report with those papers of an earlier one of the same device that it has not measured.

    Raises:
        ValueError: the earlier one is of other versions, or measured otherwise.
    """
    for name in ("device", "threads", "profile", "versions", "plan"):
        if kept.get(name) != report[name]:
            refuse(name, kept.get(name), f"{report[name]}, as measured now; measure all papers")
    found = kept["papers"] | report["papers"]
    order = [paper for paper in papers() if paper in found]
    return report | {"papers": {paper: found[paper] for paper in order}}


def write(report: dict[str, Any], path: Path) -> None:
    """JSON with a line a point, atomically."""
    text = json.dumps(report, indent=1, ensure_ascii=False)
    in_line = lambda inner: " ".join(inner[0].split())
    write_text(path, re.sub(r"[\[{][^\[\]{}]*[\]}]", in_line, text) + "\n")


def main(argv: list[str] | None = None) -> int:
    """Measure every learner on this machine, keep the numbers under the device's name, and draw them."""
    parser = argparse.ArgumentParser(prog="python -m companion.bench", description=main.__doc__)
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"))
    parser.add_argument(
        "--quick", action="store_true", help="few and small points, to see that it works"
    )
    parser.add_argument("--only", metavar="NAME", help="a paper or a learner")
    options = parser.parse_args(argv)
    try:
        device = pick_device(options.device)
        speed.subjects(options.only)
    except ValueError as error:
        parser.error(str(error))
    full = speed.DEVICE if device.startswith("cuda") else speed.FULL
    plan = speed.QUICK if options.quick else full
    whole = options.only is None or options.only in papers()
    profile = "paper" if whole and not options.quick else "quick"
    try:
        found = measure(plan, device, options.only)
    except RuntimeError as error:
        sys.exit(f"The bench failed: {error}")
    report = described(found, plan, speed.device_name(device), profile)
    place = home() if profile == "paper" else results("quick")
    path, kept = place / "bench" / f"{slug(report['device'])}.json", report
    if profile == "paper" and options.only and path.exists():
        try:
            kept = joined(report, json.loads(path.read_text()))
        except ValueError as error:
            profile, path = "quick", results("quick") / "bench" / path.name
            kept = report = report | {"profile": profile}
            print(f"Not joined with the papers measured earlier: {error}", file=sys.stderr)
    write(kept, path)
    print(f"Numbers: {path}")
    for paper in report["papers"]:
        print(f"Figure:  {folder(profile) / 'bench' / draw(report, paper)}.pdf")
    return 0
