"""Find the numbers that depend on the processor: ``python bench/last_bit.py FOLDER [VARIATION ...] [--only NAME]``.

Two processors add the same numbers in different orders, and some algorithms amplify that difference in the last bit. This
script runs the notebooks at the quick profile once unchanged and once per variation, each into a subfolder of FOLDER, and
compares them. It prints the compared cells and writes ``companion/figures/processor.json``: for each figure, under "quick",
the numbers that differ. It then writes them into the files of the committed figures. A run that was stopped continues where
it stopped. One variation takes as long as ``run.py figures``.

``--only`` names a notebook or a paper, as for ``run.py figures``, and may be repeated. Entries of figures that were not run
stay as they are in the file. A call with some of the variations adds to the entries of the figures that it runs.

``--record COMMIT`` runs no notebook. It compares the committed figures with those of an earlier commit, which were drawn on
another processor. It adds under "paper" the means and estimates over the same number of trials that differ.

Variations: ``moved 1``, ``moved 2``, ``moved 3`` change every reward and product by one unit in the last place, each in
another pattern (``tests/last_bit``); ``older processor`` makes torch, MKL, OpenBLAS and numpy use the instructions of an
older one.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DECLARED, FIGURES = ROOT / "companion" / "figures" / "processor.json", ROOT / "figures"
VARIATIONS = {f"moved {k}": {"PAPERLIB_LAST_BIT": str(k)} for k in (1, 2, 3)} | {
    "older processor": {
        "ATEN_CPU_CAPABILITY": "default",
        "MKL_CBWR": "COMPATIBLE",
        "NPY_DISABLE_CPU_FEATURES": "X86_V3",
        "OPENBLAS_CORETYPE": "Nehalem",
    }
}
CLOSE = 2e-6  # relative; figures store seven significant digits


def run(place: Path, settings: dict[str, str], only: list[str]) -> None:
    """Run the named notebooks, or all, at the quick profile with ``settings`` in the environment, into ``place``."""
    if not (place / "figures").exists():  # the recorded verdicts, which some notebooks read
        shutil.copytree(ROOT / "figures", place / "figures", ignore=lambda *_: ["quick", "custom"])
    folders = {"PAPERLIB_RESULTS": place / "results", "PAPERLIB_FIGURES": place / "figures"}
    if (
        "PAPERLIB_LAST_BIT" in settings
    ):  # a copy, because IPython writes its history into this folder
        folders["IPYTHONDIR"] = place / "ipython"
        shutil.copytree(ROOT / "tests" / "last_bit", place / "ipython", dirs_exist_ok=True)
    places = {name: str(path) for name, path in folders.items()}
    subprocess.run(
        [sys.executable, "run.py", "figures", *(f"--only={name}" for name in only)],
        cwd=ROOT,
        env=os.environ | {"PAPERLIB_PYTHON": sys.executable} | places | settings,
        check=True,
    )


def compared(place: Path) -> dict[str, list[str]]:
    """Return the text of each compared cell, by notebook and cell number."""
    found = {}
    for path in sorted((place / "results" / "quick").glob("*.ipynb")):
        for i, cell in enumerate(json.loads(path.read_text())["cells"]):
            if "nbval-check-output" in cell["metadata"].get("tags", []):
                texts = ["".join(output.get("text", "")) for output in cell["outputs"]]
                found[f"{path.stem}, cell {i}"] = "".join(texts).splitlines()
    return found


def figures(place: Path) -> dict[str, Any]:
    """Return the plotted numbers of each figure, by paper and name."""
    paths = sorted((place / "figures" / "quick").glob("*/*.json"))
    read = {f"{path.parent.name}/{path.stem}": json.loads(path.read_text()) for path in paths}
    return {name: figure["numbers"] for name, figure in read.items() if "numbers" in figure}


def close(x: Any, y: Any) -> bool:
    """Return whether two numbers, or two other values, agree up to rounding."""
    plain = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in (x, y))
    return abs(x - y) <= CLOSE * max(abs(x), abs(y)) if plain else x == y


def differing(x: Any, y: Any, path: str = "") -> list[str]:
    """Return the paths at which two JSON values differ.

    If all entries of a dictionary or list differ, they are one path.
    """
    if isinstance(x, list) and isinstance(y, list) and len(x) == len(y):
        if not any(isinstance(entry, (dict, list)) for entry in x):  # a curve
            return [] if all(map(close, x, y)) else [path]
        x, y = ({str(i): entry for i, entry in enumerate(entries)} for entries in (x, y))
    if not (isinstance(x, dict) and isinstance(y, dict) and x.keys() == y.keys()):
        return [] if close(x, y) else [path]
    inner = [differing(x[key], y[key], f"{path} / {key}" if path else key) for key in x]
    whole = [f"{path} / {key}" if path else key for key in x]
    if (
        path
        and len(x) > 1
        and [paths == [name] for paths, name in zip(inner, whole)] == [True] * len(x)
    ):
        return [path]
    return [name for paths in inner for name in paths]


def merged(
    before: dict[str, list[str]], moved: dict[str, set[str]], every: bool
) -> dict[str, list[str]]:
    """Return the entries of the file after a call.

    Args:
        before: the entries so far, by figure.
        moved: the numbers that differ, by figure that was run.
        every: whether all variations were run, so that no earlier entry of these figures is needed.
    """
    found = {name: set(paths) for name, paths in before.items()}
    for name, paths in moved.items():
        found[name] = paths if every else paths | found.get(name, set())
    return {name: sorted(paths) for name, paths in sorted(found.items()) if paths}


def estimates(x: Any, path: str = "") -> dict[str, tuple[Any, int]]:
    """Return the means and estimates within a figure's numbers, by path, each with its number of trials."""
    found = {}
    for key, value in (
        x.items() if isinstance(x, dict) else enumerate(x) if isinstance(x, list) else ()
    ):
        place = f"{path} / {key}" if path else str(key)
        if key in ("mean", "estimate") and "n" in x:
            found[place] = (value, x["n"])
        elif isinstance(value, (dict, list)):
            found |= estimates(value, place)
    return found


def moved_in_record(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Return the means and estimates that differ between two drawings of a figure, if both have the same number of trials."""
    before, after = estimates(old["numbers"]), estimates(new["numbers"])
    same = [path for path in after if path in before and before[path][1] == after[path][1]]
    return [path for path in same if differing(before[path][0], after[path][0], path)]


def compare_record(commit: str) -> None:
    """Compare the committed figures with the figures of a commit, and write the differing numbers under "paper"."""
    found = {}
    for path in sorted(FIGURES.glob("*/*.json")):
        name = path.relative_to(ROOT).as_posix()
        shown = subprocess.run(["git", "show", f"{commit}:{name}"], cwd=ROOT, capture_output=True)
        new = json.loads(path.read_text())
        old = json.loads(shown.stdout) if not shown.returncode else {}
        drawn_again = [{k: x for k, x in each.items() if k != "processor"} for each in (old, new)]
        comparable = "figure" in new and old and estimates(new["numbers"])
        if comparable and drawn_again[0] != drawn_again[1]:
            found[f"{path.parent.name}/{path.stem}"] = moved_in_record(old, new)
    known = declared("paper")
    write("paper", {name: sorted({*known.get(name, []), *paths}) for name, paths in found.items()})


def declared(profile: str) -> dict[str, list[str]]:
    """Return the file's entries for a profile, by figure."""
    entries = json.loads(DECLARED.read_text()).items()
    return {name: lists[profile] for name, lists in entries if profile in lists}


def write(profile: str, found: dict[str, list[str]]) -> None:
    """Write the entries of a profile into the file, and all entries into the files of the committed figures."""
    entries = json.loads(DECLARED.read_text())
    for name in entries.keys() | found.keys():
        lists = entries.setdefault(name, {"quick": []})
        if name in found or profile == "quick":
            lists[profile] = found.get(name, [])
    kept = {name: lists for name, lists in sorted(entries.items()) if lists != {"quick": []}}
    DECLARED.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    for path in sorted(FIGURES.glob("*/*.json")):
        about = json.loads(path.read_text())
        if "figure" in about and path.parent.name not in ("quick", "custom"):
            about["processor"] = kept.get(f"{path.parent.name}/{path.stem}", {"quick": []})
            path.write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n")


def main(folder: Path, names: list[str], only: list[str]) -> None:
    run(folder / "as it is", {}, only)
    plain, moved = figures(folder / "as it is"), {}
    for name in names:
        run(folder / name, VARIATIONS[name], only)
        lines = compared(folder / name)
        for cell, before in compared(folder / "as it is").items():
            if lines[cell] != before:
                print(f"{name}: {cell} differs")
                for old, new in zip(before, lines[cell]):
                    if old != new:
                        print(f"  - {old}\n  + {new}")
        for figure, numbers in figures(folder / name).items():
            moved.setdefault(figure, set()).update(differing(plain[figure], numbers))
    # Without earlier entries only after a complete call, which has compared every figure with every
    # variation.
    before = declared("quick") if only or set(names) < set(VARIATIONS) else {}
    write("quick", merged(before, moved, set(names) == set(VARIATIONS)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("variations", nargs="*", metavar="VARIATION")
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--record", metavar="COMMIT")
    options = parser.parse_args()
    if (options.folder is None) == (options.record is None):
        parser.error("give FOLDER or --record COMMIT")
    if unknown := set(options.variations) - set(VARIATIONS):
        parser.error(f"VARIATION: {', '.join(sorted(unknown))}; allowed: {', '.join(VARIATIONS)}")
    if options.record:
        compare_record(options.record)
    else:
        main(options.folder, options.variations or list(VARIATIONS), options.only)
