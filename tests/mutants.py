"""Apply the changes of ``mutants.toml`` to a copy of the code, one at a time, and print the ones that the tests detect.

If every test passes with a change, no test depends on the formula. The repository itself is never edited.

    python tests/mutants.py [--paper goucb] [--only "part of the description"]
"""

import argparse
import compileall
import importlib
import multiprocessing
import os
import py_compile
import shutil
import sys
import tempfile
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("paperlib", "companion")
LINKED = ("bench", "data", "docs", "figures", "notebooks", "pyproject.toml", "README.md", "run.py")
SLOW = (
    "torch",
    "scipy.optimize",
    "scipy.stats",
    "sklearn.datasets",
    "sympy",
    "hypothesis",
    "pytest",
)
# Outcomes by pytest's exit status; any other status means that no test was run.
OUTCOMES = {0: "survived", 1: "caught"}


def mutants() -> list[dict]:
    """Return the entries of ``mutants.toml``."""
    return tomllib.loads((ROOT / "tests" / "mutants.toml").read_text())["mutant"]


def copy_to(folder: Path) -> None:
    """Copy the two packages and the tests; link the other files that tests read."""
    for name in (*PACKAGES, "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in LINKED:
        (folder / name).symlink_to(ROOT / name)
    # By default Python compares bytecode with its source by time and size, and a change may alter neither.
    by_hash = py_compile.PycInvalidationMode.CHECKED_HASH
    for name in PACKAGES:
        compileall.compile_dir(folder / name, quiet=1, invalidation_mode=by_hash)


def run_tests(tests: list[str], folder: Path) -> None:
    """Run the tests in the copy without output, and exit with pytest's status."""
    os.chdir(folder)
    sys.path[0] = str(folder)
    os.environ |= {"PYTHONPATH": str(folder), "PAPERLIB_RESULTS": str(folder / "results")}
    sys.dont_write_bytecode = True
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    options = ["-x", "-q", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:nbval"]
    sys.exit(int(importlib.import_module("pytest").main([*options, *tests])))


def outcome(tests: list[str], folder: Path) -> str:
    """Return whether the tests fail ("caught") or pass ("survived") in a separate process."""
    # A forked process has already imported the slow packages.
    fork = multiprocessing.get_context("fork").Process(target=run_tests, args=(tests, folder))
    fork.start()
    fork.join()
    return OUTCOMES.get(fork.exitcode, "broken entry")


def changed(mutant: dict, folder: Path) -> str:
    """Return the outcome of an entry: change one file of the copy, run the tests, and restore the file."""
    file = folder / mutant["file"]
    text = file.read_text()
    if text.count(mutant["old"]) != 1:
        return "broken entry"
    file.write_text(text.replace(mutant["old"], mutant["new"]))
    try:
        return outcome(mutant["tests"], folder)
    finally:
        file.write_text(text)


def main() -> bool:
    """Print one line per chosen entry. Return whether a mutant survives that a test should detect."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--paper", help="the changes of one paper")
    parser.add_argument(
        "--only", default="", help="the changes with this text in their description"
    )
    given, failed = parser.parse_args(), False
    chosen = [
        m for m in mutants() if given.paper in (None, m["paper"]) and given.only in m["change"]
    ]
    if not chosen:
        parser.error("no entry has this paper and this text")
    for name in SLOW:
        importlib.import_module(name)
    with tempfile.TemporaryDirectory() as name:
        copy_to(Path(name))
        if outcome(sorted({test for m in chosen for test in m["tests"]}), Path(name)) != "survived":
            print("the tests of the entries must pass without a change")
            return True
        for mutant in chosen:
            start, found = time.perf_counter(), changed(mutant, Path(name))
            known = mutant.get("survives", False)
            failed |= found == "broken entry" or (found == "survived" and not known)
            found += " (known)" if known and found == "survived" else ""
            seconds = time.perf_counter() - start
            print(f"{found:16} {seconds:4.0f} s  {mutant['paper']}: {mutant['change']}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
