"""The tests that a change may affect: ``python -m companion.workflow.changed`` prints their files, ``run.py test --changed`` runs them.

Changed are the Python files of the working tree that differ from the last commit, and new ones. A test file is affected if it imports
one of them, directly or through others. Some tests look up the papers' ``CASES`` by name. Of those only the cases whose learner or
problem uses a changed file are run (``tests/conftest.py``).
"""

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from paperlib.core.files import CHECKOUT

from ..imports import follow, module_file
from ..papers import papers

TESTS = CHECKOUT / "tests"


def changed_files() -> list[Path]:
    """Python files that differ from the last commit, and new ones that git does not ignore."""
    commands = (
        ["git", "diff", "--name-only", "--diff-filter=d", "HEAD"],
        ["git", "ls-files", "--others", "--exclude-standard"],
    )
    lines = [
        line
        for command in commands
        for line in subprocess.check_output(command, cwd=CHECKOUT, text=True).splitlines()
    ]
    return sorted({CHECKOUT / line for line in lines if line.endswith(".py")})


def closure(file: Path) -> set[Path]:
    """A test file and all that it imports; all papers' cases, too, where it looks them up by the name "cases"."""
    found: set[Path] = set()
    follow(file, found)
    if '"cases"' in file.read_text():
        for paper in papers():
            follow(module_file(f"companion.{paper}.cases"), found)
    return found


def affected(changed: Iterable[Path]) -> list[Path]:
    """Test files whose closure holds a changed file."""
    changed = {*changed}
    folders = sorted({file.parent for file in TESTS.rglob("test_*.py")})
    sys.path[:0] = [str(folder) for folder in (CHECKOUT, TESTS, *folders)]  # their helpers
    return [file for file in sorted(TESTS.rglob("test_*.py")) if changed & closure(file)]


def main() -> None:
    """Print the changed files, an empty line, and the affected test files, from the project's folder."""
    changed = changed_files()
    for group in (changed, [""], affected(changed)):
        for file in group:
            print(os.path.relpath(file, CHECKOUT) if file else "")


if __name__ == "__main__":
    main()
