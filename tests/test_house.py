"""Who may import whom: the rooms of the package, and the wall that keeps words about results out of their keys.

What reads results (theory, statistics, verdicts, figures) may change without a result being computed again, for
what computes them cannot import it.
"""

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import paperlib
from companion.papers import papers, room as module
from companion.store import sources

TOP = Path(paperlib.__file__).parent
FILES = sorted(TOP.rglob("*.py"))
BASE = {"core", "maths", "learners"}  # shared, below every paper's learners
SHARED = {  # a line names lines before it alone: the order of the floors
    "core": set(),
    "stats": set(),
    "styles": set(),
    "papers": set(),
    "datasets": {"core"},
    "maths": {"core"},
    "output": {"core"},
    "play": {"core"},
    "asktell": {"core"},
    "learners": {"core", "maths"},
    "store": {"core", "stats", "play"},
    "verdicts": {"core", "maths", "stats", "output", "papers"},
    "figures": {"core", "stats", "styles", "output", "papers", "store"},
    "workflow": {"core", "papers", "datasets"},
    "pages": {"core", "output", "papers", "verdicts", "workflow"},
    "bench": {"core", "output", "papers", "styles", "store", "figures", "workflow"},
}
PAPER = {  # a name with a dot is a room of the file's own paper
    "model": {"core", "maths"},
    "learners": BASE | {".model"},
    "problems": {"core", "maths", "datasets", ".model"},
    "probes": {"core", "maths", ".model"},
    "theory": {"core", "maths", "stats", "verdicts", ".model", ".problems", ".probes"},
    "experiments": {*SHARED} - {"workflow", "pages", "bench"}
    | {".model", ".learners", ".problems", ".probes", ".theory"},
    "claims": {"verdicts"},
    "errata": {"verdicts", ".theory"},
    "optimizer": BASE | {"asktell", ".model", ".learners"},
    "cases": BASE | {".model", ".learners", ".problems"},
    "styles": {"styles"},
    "__init__": BASE | {".model", ".learners", ".problems", ".optimizer"},
}
KEYED = BASE | {"play", "datasets", ".model", ".learners", ".problems", ".probes"}  # above the wall

# Packages whose __init__.py hands names on, to notebooks and users; all others are empty.
FACES = {"", "asktell", "store", "verdicts", "figures", "datasets"}
FACES |= {
    ".".join(filter(None, (paper, room)))
    for paper in papers()
    for room in ("", "experiments", "problems", "probes")
}


def parts_of(file):
    return file.relative_to(TOP).with_suffix("").parts


def place(parts):
    """(paper or "", room) of a dotted name below paperlib."""
    if not parts:
        return "", "__init__"
    if parts[0] in papers():
        return parts[0], parts[1] if len(parts) > 1 else "__init__"
    return "", parts[0]


def rooms(files):
    """Rooms that files lie in, those of papers with a dot in front."""
    places = (place(parts_of(file)) for file in files)
    return {f".{room}" if paper else room for paper, room in places}


def imported(file):
    """What a file imports of the package: (module, name in it or None), without ``paperlib``."""
    home = file.relative_to(TOP).parent.parts
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
            yield from ((tuple(name[1:]), None) for name in names if name[0] == "paperlib")
        elif isinstance(node, ast.ImportFrom):
            module = (node.module or "").split(".") if node.module else []
            if node.level:
                base = (*home[: len(home) + 1 - node.level], *module)
            elif module[0] == "paperlib":
                base = tuple(module[1:])
            else:
                continue
            yield from ((base, alias.name) for alias in node.names)


def is_file(parts):
    return bool(parts) and TOP.joinpath(*parts).with_suffix(".py").exists()


def is_package(parts):
    return (TOP.joinpath(*parts) / "__init__.py").exists()


def allowed(here, there):
    """Whether a file of the place ``here`` may import from the place ``there``; both (paper, room)."""
    (paper, room), (other, name) = here, there
    if here == there or there == ("", "__init__"):  # the package's own name, path and version
        return True
    if other not in ("", paper):  # another paper, or a paper from a shared room
        return False
    return (f".{name}" if other else name) in (PAPER if paper else SHARED).get(room, set())


def handed_on(package):
    """Names that an ``__init__.py`` imports for others."""
    tree = ast.parse((package / "__init__.py").read_text())
    lists = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
    ]
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    names = {alias.asname or alias.name for node in imports for alias in node.names}
    return names.union(*(ast.literal_eval(value) for value in lists))


def is_dataclass(node):
    made = [ast.unparse(decorator) for decorator in node.decorator_list]
    return any("dataclass" in name or name.startswith("frozen") for name in made)


# ---- rooms ------------------------------------------------------------------------------------------------


def test_a_line_of_the_plan_names_lines_before_it_alone():
    before = set()
    for room, below in SHARED.items():
        assert below <= before, room
        before.add(room)


def test_every_file_lies_in_a_room_of_the_plan():
    for file in FILES:
        paper, room = place(parts_of(file))
        assert room in (PAPER if paper else {**SHARED, "__init__": set()}), file


def test_a_file_takes_only_from_rooms_below():
    wrong = set()
    for file in FILES:
        for base, name in imported(file):
            full = (*base, name) if name else base
            there = full if is_file(full) or is_package(full) else base
            if not allowed(place(parts_of(file)), place(there)):
                wrong.add(f"{file.relative_to(TOP)} <- {'.'.join(there)}")
    assert not wrong, "\n" + "\n".join(sorted(wrong))


# ---- the wall ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("paper", papers())
def test_runs_are_keyed_by_what_is_above_the_wall(paper):
    for name, case in module(paper, "cases").CASES.items():
        found = rooms(sources(case.learner, case.problem, "paperlib.play"))
        assert found <= KEYED, (name, found - KEYED)


@pytest.mark.parametrize("paper", papers())
def test_probes_are_keyed_by_what_is_above_the_wall(paper):
    """Whichever of them a notebook takes."""
    for file in FILES:
        if place(parts_of(file)) == (paper, "probes"):
            name = ".".join(["paperlib", *parts_of(file)]).removesuffix(".__init__")
            found = rooms(sources(name))
            assert found <= KEYED, (name, found - KEYED)


def test_what_computes_results_reads_no_words_about_itself():
    """Docstrings are no part of keys."""
    for file in FILES:
        if rooms([file]) <= KEYED:
            text = file.read_text()
            assert "__doc__" not in text and "getdoc" not in text, file


# ---- faces ------------------------------------------------------------------------------------------------


def test_faces_alone_have_names():
    for file in FILES:
        package = ".".join(file.relative_to(TOP).parent.parts)
        if file.name == "__init__.py" and package not in FACES:
            assert not file.read_text().strip(), file


def test_a_face_does_nothing_but_hand_names_on():
    """The workflow counts a name as the module that defines it, and leaves its face out."""
    plain = (ast.Import, ast.ImportFrom, ast.Assign, ast.FunctionDef)
    for file in FILES:
        if file.name == "__init__.py":
            for node in ast.parse(file.read_text()).body:
                words = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
                assert words or isinstance(node, plain), (file, ast.unparse(node))
                if isinstance(node, ast.Assign):  # CHOICES, __all__, __version__
                    ast.literal_eval(node.value)
                elif isinstance(node, ast.FunctionDef):  # names that are handed on when asked for
                    assert node.name == "__getattr__", file


def test_code_of_the_package_imports_from_files():
    """A face would bring all it hands on into keys; and a name would have two homes."""
    wrong = []
    for file in FILES:
        for base, name in imported(file):
            full = (*base, name) if name else base
            root = full in ((), ("__version__",))  # the package's path and version
            if not (root or is_file(full) or is_file(base)):
                wrong.append(f"{file.relative_to(TOP)} <- {'.'.join(full)}")
    assert not wrong, "\n" + "\n".join(wrong)


def test_no_file_is_called_like_a_name_that_its_face_hands_on():
    """``companion.store.run`` would be the one or the other, by what was imported before."""
    for file in FILES:
        if file.name == "__init__.py":
            files = {path.stem for path in file.parent.glob("*.py")}
            files |= {path.parent.name for path in file.parent.glob("*/__init__.py")}
            names = handed_on(file.parent) - from_here(file)
            assert not files & names, (file, files & names)


def from_here(file):
    """Modules of its own folder that an ``__init__.py`` hands on as such."""
    tree = ast.parse(file.read_text())
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    return {
        alias.name
        for node in imports
        if node.level == 1 and not node.module
        for alias in node.names
    }


@pytest.mark.parametrize("paper", papers())
def test_names_of_configurations_are_unique(paper):
    """Saved files tell a class by its paper and name, wherever its file has moved."""
    count = Counter()
    for file in FILES:
        if place(parts_of(file))[0] in ("", paper):
            tree = ast.parse(file.read_text())
            classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
            count.update(node.name for node in classes if is_dataclass(node))
    assert not [name for name, times in count.items() if times > 1]


def test_the_workflow_does_without_torch():
    """Snakemake asks it often, and is not to wait."""
    code = "import sys; sys.modules['torch'] = None; import companion.workflow.plan"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=TOP.parent)
