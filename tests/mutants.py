"""Apply the changes of ``mutants.toml`` to a copy of the code, one at a time, and print the ones that the tests detect.

If every test passes with a change, no test depends on the formula. The repository itself is never edited.
With ``--constants`` the changes are drawn instead: one number in the code of a theorem, lemma or constant is doubled.

    python tests/mutants.py [--paper goucb] [--only "part of the description"]
    python tests/mutants.py --paper goucb --constants 20 [--seed 0]
"""

import argparse
import ast
import compileall
import importlib
import multiprocessing
import os
import py_compile
import random
import re
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


# A number that is an argument of one of these functions, or has one of these keywords, is no part of a formula.
POSITION = (
    "sum|a?max|a?min|mean|cumsum|(un)?squeeze|un(bind|flatten)|sort|diff|expand|reshape|view|size|flatten|repeat"
    "|stack|cat|concatenate|transpose|norm|vector_norm|arange|a?range|linspace|positive|between|field"
)
OPTION = r"dim\d?|axis|ord|ndmin|least|[ar]tol|xtol"


def numbers(file: Path) -> list[ast.Constant]:
    """Return the numbers in the formulas of a file: no index, no position, no tolerance, and not 0."""
    tree, left_out = ast.parse(file.read_text()), set()
    for node in ast.walk(tree):
        match node:
            case ast.Subscript():
                left_out |= {*ast.walk(node.slice)}
            case ast.Call(ast.Name(id=name) | ast.Attribute(attr=name)) if re.fullmatch(
                POSITION, name
            ):
                given = [
                    x for x in node.args if isinstance(x, ast.Constant | ast.UnaryOp | ast.Tuple)
                ]
                left_out |= {part for x in given for part in ast.walk(x)}
            case ast.keyword(arg=str(name)) if re.fullmatch(OPTION, name):
                left_out |= {*ast.walk(node.value)}
            case ast.arguments():
                given = [x for x in (*node.defaults, *node.kw_defaults) if x]
                left_out |= {part for x in given for part in ast.walk(x)}
    constants = (x for x in ast.walk(tree) if isinstance(x, ast.Constant) and x not in left_out)
    return [x for x in constants if type(x.value) in (int, float) and abs(x.value) > 1e-3]


def drawn(paper: str, count: int, seed: int) -> list[dict]:
    """Draw ``count`` numbers of a paper's theory, and return the changes that double them.

    The tests are the fast ones of the paper's test files that name the changed module.
    """
    places = [ROOT / "paperlib" / paper / "theory", ROOT / "companion" / paper / "proofs"]
    files = sorted(x for place in places for x in (*place.glob("*.py"), place.with_suffix(".py")))
    every = [(file, x) for file in files if file.exists() for x in numbers(file)]
    tests = sorted((ROOT / "tests" / paper).glob("test_*.py"))
    entries = []
    for file, x in random.Random(seed).sample(every, min(count, len(every))):
        lines = file.read_text().splitlines(keepends=True)
        row = lines[x.lineno - 1].encode()
        new = row[: x.col_offset] + str(2 * x.value).encode() + row[x.end_col_offset :]
        lines[x.lineno - 1] = new.decode()
        name = str(file.relative_to(ROOT))
        near = [test for test in tests if re.search(rf"\b{file.stem}\b", test.read_text())]
        entries.append(
            {
                "paper": paper,
                "change": f"{name}:{x.lineno}: {new.decode().strip()}",
                "file": name,
                "text": "".join(lines),
                "tests": [str(test.relative_to(ROOT)) for test in near],
            }
        )
    return entries


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
    options += [] if any("::" in test for test in tests) else ["-m", "not slow"]  # whole files
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
    if "text" not in mutant and text.count(mutant["old"]) != 1:
        return "broken entry"
    file.write_text(mutant.get("text") or text.replace(mutant["old"], mutant["new"]))
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
    parser.add_argument("--constants", type=int, help="draw this number of constants instead")
    parser.add_argument("--seed", type=int, default=0, help="seed of the draw")
    given, failed = parser.parse_args(), False
    if given.constants and not given.paper:
        parser.error("--constants draws from the theory of one paper; add --paper")
    if given.constants:
        chosen = drawn(given.paper, given.constants, given.seed)
    else:
        chosen = [m for m in mutants() if given.paper in (None, m["paper"])]
    chosen = [m for m in chosen if given.only in m["change"]]
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
