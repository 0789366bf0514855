"""Who may import whom: the rooms of the package, and the wall that keeps results' keys apart from what reads results."""

import ast
from pathlib import Path

import pytest

import paperlib
from paperlib.papers import papers, room as room_of
from paperlib.store import sources

TOP = Path(paperlib.__file__).parent
BASE = {"core", "maths", "learners"}  # shared, below every paper's learners
SHARED = {  # a line names lines before it alone: the order of the floors
    "core": set(), "stats": set(), "styles": set(), "papers": set(),
    "datasets": {"core"}, "maths": {"core"}, "output": {"core"}, "play": {"core"}, "asktell": {"core"}, "learners": {"core", "maths"},
    "store": {"core", "stats", "play"}, "verdicts": {"core", "maths", "stats", "output", "papers"},
    "figures": {"core", "stats", "styles", "output", "papers", "store"}, "workflow": {"core", "papers", "datasets"},
    "pages": {"core", "output", "papers", "verdicts", "workflow"},
    "bench": {"core", "output", "papers", "styles", "store", "figures", "workflow"},
}
PAPER = {
    "model": {"core", "maths"}, "learners": BASE | {".model"}, "problems": {"core", "maths", "datasets", ".model"}, "probes": {"core", "maths", ".model"},
    "theory": {"core", "maths", "stats", "verdicts", ".model", ".problems", ".probes"},
    "experiments": {*SHARED} - {"workflow", "pages", "bench"} | {".model", ".learners", ".problems", ".probes", ".theory"},
    "claims": {"verdicts"}, "errata": {"verdicts", ".theory"}, "optimizer": BASE | {"asktell", ".model", ".learners"},
    "cases": BASE | {"styles", ".model", ".learners", ".problems"}, "__init__": BASE | {".model", ".learners", ".problems", ".optimizer"},
}
KEYED = BASE | {"play", "datasets", ".model", ".learners", ".problems", ".probes"}


def place(parts):
    """(paper or "", room) of a dotted name below paperlib."""
    if not parts:
        return "", "__init__"
    return (parts[0], parts[1] if len(parts) > 1 else "__init__") if parts[0] in papers() else ("", parts[0])


def there(parts):
    return TOP.joinpath(*parts).with_suffix(".py").exists() or TOP.joinpath(*parts).is_dir()


def imported(file):
    """Places that a file imports from, its own paper's rooms with a dot in front."""
    home = file.relative_to(TOP).parent.parts
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").split(".")[0] == "paperlib"):
            base = [*home[: len(home) + 1 - node.level], *filter(None, (node.module or "").split("."))] if node.level else node.module.split(".")[1:]
            for alias in node.names:
                yield place([*base, alias.name] if there([*base, alias.name]) else base)


def test_a_file_takes_only_from_rooms_below():
    wrong = []
    for file in sorted(TOP.rglob("*.py")):
        paper, room = place(file.relative_to(TOP).with_suffix("").parts)
        for other, name in set(imported(file)):
            if (other, name) != (paper, room) and ((other and other != paper) or (other and not paper) or (name != "__init__" and
                    ("." * bool(other) + name) not in (PAPER if paper else SHARED).get(room, set()))):
                wrong.append(f"{file.relative_to(TOP)} <- {other}{'.' * bool(other)}{name}")
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.mark.parametrize("paper", papers())
def test_results_are_keyed_by_what_is_above_the_wall(paper):
    found = {file for case in room_of(paper, "cases").CASES.values() for file in sources(case.learner, case.problem, "paperlib.play")}
    probes = TOP / paper / "probes.py", *(TOP / paper / "probes").glob("*.py")
    found |= {file for path in probes if path.exists() for file in sources(".".join(["paperlib", *path.relative_to(TOP).with_suffix("").parts]).removesuffix(".__init__"))}
    rooms = {("." if p else "") + r for p, r in (place(file.relative_to(TOP).with_suffix("").parts) for file in found)}
    assert rooms <= KEYED, rooms - KEYED
