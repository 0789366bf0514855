"""Find the numbers that depend on the processor: ``python bench/last_bit.py FOLDER [VARIATION ...]``.

Two processors add the same numbers in different orders, and some algorithms amplify that difference in the last bit. This
script runs all notebooks at the quick profile once as they are and once per variation, each into a subfolder of FOLDER, and
compares them. It prints the compared cells and writes ``paperlib/figures/processor.json``: for each figure the numbers that
differ. A run that was stopped goes on where it was. One variation takes as long as ``run.py figures``.

Variations: ``moved 1``, ``moved 2``, ``moved 3`` move every reward and product by one unit in the last place, each in another
pattern (``tests/last_bit``); ``older processor`` makes torch, MKL, OpenBLAS and numpy use the instructions of an older one.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DECLARED = ROOT / "paperlib" / "figures" / "processor.json"
VARIATIONS = {f"moved {k}": {"PAPERLIB_LAST_BIT": str(k)} for k in (1, 2, 3)} | {
    "older processor": {
        "ATEN_CPU_CAPABILITY": "default",
        "MKL_CBWR": "COMPATIBLE",
        "NPY_DISABLE_CPU_FEATURES": "X86_V3",
        "OPENBLAS_CORETYPE": "Nehalem",
    }
}
CLOSE = 2e-6  # relative; figures store seven significant digits


def run(place: Path, settings: dict[str, str]) -> None:
    """Run all notebooks at the quick profile with ``settings`` in the environment, into ``place``."""
    if not (place / "figures").exists():  # the verdicts of record, which some notebooks read
        shutil.copytree(ROOT / "figures", place / "figures", ignore=lambda *_: ["quick", "custom"])
    folders = {"PAPERLIB_RESULTS": place / "results", "PAPERLIB_FIGURES": place / "figures"}
    if (
        "PAPERLIB_LAST_BIT" in settings
    ):  # a copy, because IPython writes its history into this folder
        folders["IPYTHONDIR"] = place / "ipython"
        shutil.copytree(ROOT / "tests" / "last_bit", place / "ipython", dirs_exist_ok=True)
    places = {name: str(path) for name, path in folders.items()}
    subprocess.run(
        [sys.executable, "run.py", "figures"],
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
    """Whether two numbers, or anything else, agree but for rounding."""
    plain = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in (x, y))
    return abs(x - y) <= CLOSE * max(abs(x), abs(y)) if plain else x == y


def differing(x: Any, y: Any, path: str = "") -> list[str]:
    """Return the paths at which two JSON values differ; a dictionary or list all of whose entries differ is one path."""
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


def main(folder: Path, names: list[str]) -> None:
    run(folder / "as it is", {})
    plain, moved = figures(folder / "as it is"), {}
    for name in names:
        run(folder / name, VARIATIONS[name])
        lines = compared(folder / name)
        for cell, before in compared(folder / "as it is").items():
            if lines[cell] != before:
                print(f"{name}: {cell} differs")
                for old, new in zip(before, lines[cell]):
                    if old != new:
                        print(f"  - {old}\n  + {new}")
        for figure, numbers in figures(folder / name).items():
            moved.setdefault(figure, set()).update(differing(plain[figure], numbers))
    declared = {figure: sorted(paths) for figure, paths in sorted(moved.items()) if paths}
    DECLARED.write_text(json.dumps(declared, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or list(VARIATIONS))
