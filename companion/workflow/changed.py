"""Selection of the tests that a change may affect.

``python -m companion.workflow.changed`` prints their files, and ``run.py test --changed`` runs them. Changed files are
the Python files of the working tree that differ from the last commit, and new ones. A test file is affected if it imports
one of them, directly or through others. Some tests look up the topics' ``CASES`` by name. Of those tests only the cases
whose learner or problem uses a changed file are run (``tests/conftest.py``).
"""

import os
import subprocess
import sys
from pathlib import Path

from paperlib.core.files import CHECKOUT

from ..imports import add_imports, module_file
from ..papers import topics

TESTS = CHECKOUT / "tests"


def changed_files() -> list[Path]:
    """Return the Python files that differ from the last commit, and new ones that git does not ignore."""
    ask = lambda *words: subprocess.check_output(["git", *words], cwd=CHECKOUT, text=True)
    names = ask("diff", "--name-only", "--diff-filter=d", "HEAD").splitlines()
    names += ask("ls-files", "--others", "--exclude-standard").splitlines()
    return sorted({CHECKOUT / name for name in names if name.endswith(".py")})


def import_closure(file: Path) -> set[Path]:
    """Return a test file and all files that it imports.

    A file that looks up the topics' cases by the name "cases" depends on the cases of all topics.
    """
    found: set[Path] = set()
    add_imports(file, found)
    if '"cases"' in file.read_text():
        for paper in topics():
            add_imports(module_file(f"companion.{paper}.cases"), found)
    return found


def affected_tests(changed: list[Path]) -> list[Path]:
    """Return the test files that import a changed file, directly or through others."""
    folders = sorted({file.parent for file in TESTS.rglob("test_*.py")})
    # The tests' helper modules are found through sys.path.
    sys.path[:0] = [str(folder) for folder in (CHECKOUT, TESTS, *folders)]
    return [
        file
        for file in sorted(TESTS.rglob("test_*.py"))
        if not import_closure(file).isdisjoint(changed)
    ]


def main() -> None:
    """Print the changed files, an empty line, and the affected test files, relative to the project's folder."""
    changed = changed_files()
    lines = lambda files: "\n".join(os.path.relpath(file, CHECKOUT) for file in files)
    print(lines(changed), lines(affected_tests(changed)), sep="\n\n")


if __name__ == "__main__":
    main()
