"""Speed and memory of every learner on this machine: ``python3 run.py bench`` calls this.

``bench/test_speed.py`` measures under pytest-benchmark; here its JSON is distilled to one file a device, without
the machine's names and dates, and drawn. Only what is measured in full, the whole bench or all of a paper, goes to ``bench/``
and ``figures/bench/``.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import torch

from paperlib.core.files import CHECKOUT
from paperlib.core.linalg import pick_device
from paperlib.core.text import plain
from paperlib.core.validation import refuse

from ..output import folder, write_text
from ..papers import papers
from ..project import home
from ..store.keys import versions
from ..store.timing import computing
from ..workflow.plan import results
from . import measure as speed
from .figure import along, draw, shown_name, slug

TESTS = CHECKOUT / "bench" / "test_speed.py"


def measure(plan: speed.Plan, device: str, only: str | None = None) -> dict[str, Any]:
    """What pytest-benchmark writes, and under "memory" paper -> learner -> peak memory.

    Raises:
        RuntimeError: a measurement failed; pytest has said which.
    """
    with tempfile.TemporaryDirectory() as place:
        raw = Path(place) / "raw.json"
        options = ["-q", "-p", "no:cacheprovider", "--benchmark-quiet", "--device", device]
        options += [f"--benchmark-storage={place}", f"--benchmark-json={raw}"]
        options += ["--quick"] * (plan == speed.QUICK) + (["--only", only] if only else [])
        # of a test that calls this
        outer = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
        if subprocess.run([sys.executable, "-m", "pytest", TESTS, *options], env=outer).returncode:
            raise RuntimeError("the bench failed; what failed stands above")
        if not raw.exists():  # every point was left out
            raise RuntimeError(f"{speed.PATIENCE:g} s of play reached no point")
        found = json.loads(raw.read_text())
    with computing(), ThreadPoolExecutor(2) as pool:
        most: dict[tuple[str, str], int] = {}  # trials that were reached
        for about in (measured["extra_info"] for measured in found["benchmarks"]):
            key = about["paper"], about["learner"]
            most[key] = max(most.get(key, 0), about["point"]["trials"])
        subjects, found["memory"] = [s for s in speed.subjects(only) if s[:2] in most], {}
        peaks = pool.map(lambda s: speed.memory(s, plan, device, most[s[:2]]), subjects)
        for subject, peak in zip(subjects, peaks):
            found["memory"].setdefault(subject.paper, {})[subject.name] = peak
    return found


def distill(raw: dict[str, Any], plan: speed.Plan, *, device: str, profile: str) -> dict[str, Any]:
    """From ``measure`` to what is kept.

    Seconds are of one round of one trial, in ``select`` and ``update``; ``blocks`` says of how many repetitions the
    statistics are, and a learner's ``base`` is the point in which its axes cross.

    Args:
        device: its name.
        profile: "paper" for all learners of a paper in full, else "quick".
    """
    found: dict[str, dict] = {}
    for subject in speed.subjects():
        if subject.name in raw["memory"].get(subject.paper, {}):
            found.setdefault(subject.paper, {})[subject.name] = {
                "on_host": subject.on_host,
                "not_varied": speed.lacking(subject),
                "peak_memory": raw["memory"][subject.paper][subject.name],
                "base": speed.base(subject, plan)._asdict(),
                "points": [],
            }
    for measured in raw["benchmarks"]:
        about, stats = measured["extra_info"], measured["stats"]
        share = plan.block * about["point"]["trials"]
        seconds = {name: stats[name] / share for name in ("median", "iqr", "min")}
        sizes = {"blocks": stats["rounds"], "state_bytes": about["state_bytes"]}
        learner = found[about["paper"]][about["learner"]]
        learner["points"].append({**about["point"], **seconds, **sizes})
    return plain(
        {
            "device": device,
            "threads": 1,
            "profile": profile,
            "versions": {**versions(), "pytest-benchmark": raw["version"]},
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


def device_name(device: str, raw: dict[str, Any]) -> str:
    """The GPU's name, or the processor's as pytest-benchmark found it."""
    if device.startswith("cuda"):
        return torch.cuda.get_device_name(device)
    machine = raw["machine_info"]
    return machine["cpu"].get("brand_raw") or machine["processor"] or machine["machine"]


def write(report: dict[str, Any], path: Path) -> None:
    """JSON with a line a point, atomically."""
    text = json.dumps(report, indent=1, ensure_ascii=False)
    in_line = lambda inner: " ".join(inner[0].split())
    write_text(path, re.sub(r"[\[{][^\[\]{}]*[\]}]", in_line, text) + "\n")


def table(report: dict[str, Any]) -> str:
    """Microseconds a round and trial against the number of trials, as text."""
    lines = []
    for paper, learners in report["papers"].items():
        found = {
            name: {point["trials"]: point["median"] for point in along(learner, "trials")}
            for name, learner in learners.items()
        }
        counts = sorted({trials for medians in found.values() for trials in medians})
        head = f"\n{paper + ': microseconds a round and trial':40}"
        lines.append(head + "".join(f"{f'R = {R}':>10}" for R in counts))
        for name, medians in found.items():
            cells = (f"{1e6 * medians[R]:.3g}" if R in medians else "-" for R in counts)
            label = f"{shown_name(name, learners[name]):40}"
            lines.append(label + "".join(f"{cell:>10}" for cell in cells))
    return "\n".join(lines)


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
    plan = speed.plan_for(device, options.quick)
    full = not options.quick and (options.only is None or options.only in papers())
    profile = "paper" if full else "quick"
    try:
        raw = measure(plan, device, options.only)
    except RuntimeError as error:
        sys.exit(str(error))
    report = distill(raw, plan, device=device_name(device, raw), profile=profile)
    place = home() if profile == "paper" else results("quick")
    path = place / "bench" / f"{slug(report['device'])}.json"
    whole = report
    if profile == "paper" and options.only and path.exists():
        try:
            whole = joined(report, json.loads(path.read_text()))
        except ValueError as error:
            profile, path = "quick", results("quick") / "bench" / path.name
            whole = report = report | {"profile": profile}
            print(f"Not joined with the papers measured earlier: {error}", file=sys.stderr)
    write(whole, path)
    print(table(report), f"\nNumbers: {path}")
    for paper in report["papers"]:
        print(f"Figure:  {folder(profile) / 'bench' / draw(report, paper)}.pdf")
    return 0
