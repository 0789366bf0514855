"""Allowed imports between the modules.

The companion imports the library, never the reverse. Within a paper the order is model, then learners, problems and probes,
then theory. Code that computes results cannot import code that reads them. Therefore reading code is not part of the keys of
results.
"""

import ast
import functools
import subprocess
import sys
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import companion
import paperlib
from companion.papers import paper_module as module
from companion.papers import papers
from companion.store import source_files

TOPS = {
    name: Path(package.__file__).parent
    for name, package in (("paperlib", paperlib), ("companion", companion))
}
FILES = sorted(file for top in TOPS.values() for file in top.rglob("*.py"))
ORDER = {
    "model": 0,
    "learners": 1,
    "problems": 1,
    "probes": 1,
    "theory": 2,
    "optimizer": 2,
    "__init__": 3,
}
COMPUTES = {
    "model",
    "learners",
    "problems",
    "probes",
}  # modules of a paper whose code is part of the keys of results
READS = {"stats", "checks", "asktell"}  # shared modules of the library that are not part of them

# Packages whose `__init__.py` exports names to notebooks and users; all others are empty.
FACES = {"paperlib", "companion", "paperlib.asktell"}
FACES |= {f"companion.{room}" for room in ("store", "figures", "datasets")}
FACES |= {
    name for paper in papers() for name in (f"paperlib.{paper}", f"companion.{paper}.experiments")
}


def parts_of(file):
    """Return the parts of a file's dotted name, for example ("paperlib", "glbomd", "learners", "gloc")."""
    name = next(name for name, top in TOPS.items() if file.is_relative_to(top))
    return (name, *file.relative_to(TOPS[name]).with_suffix("").parts)


def place(parts):
    """Return (package, paper or "", module) for a dotted name."""
    package, *rest = parts
    if rest and rest[0] in papers():
        return package, rest[0], rest[1] if len(rest) > 1 else "__init__"
    return package, "", rest[0] if rest else "__init__"


@functools.cache
def parsed(file):
    """Return the syntax tree of a file."""
    return ast.parse(file.read_text())


@functools.cache
def imported(file):
    """Return the imports of a file from the two packages, as (module, imported name or None)."""
    return [*_imported(file)]


def _imported(file):
    home = parts_of(file)[:-1]
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.Import):
            names = [tuple(alias.name.split(".")) for alias in node.names]
            yield from ((name, None) for name in names if name[0] in TOPS)
        elif isinstance(node, ast.ImportFrom):
            base = tuple(node.module.split(".")) if node.module else ()
            base = (*home[: len(home) + 1 - node.level], *base) if node.level else base
            if base[0] in TOPS:
                yield from ((base, alias.name) for alias in node.names)


@functools.cache
def is_file(parts):
    return TOPS[parts[0]].joinpath(*parts[1:]).with_suffix(".py").exists() and len(parts) > 1


@functools.cache
def is_package(parts):
    return (TOPS[parts[0]].joinpath(*parts[1:]) / "__init__.py").exists()


def arrows():
    """Yield pairs of a file and a module that it imports; the module is given by the parts of its name."""
    for file in FILES:
        for base, name in imported(file):
            full = (*base, name) if name else base
            yield file, full if is_file(full) or is_package(full) else base


def handed_on(package):
    """Return the names that an ``__init__.py`` exports."""
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


# ---- modules ----------------------------------------------------------------------------------------------


def allowed(here, there):
    """Return whether a file at ``here`` may import from ``there``; both are (package, paper, module)."""
    (package, paper, room), (other_package, other, name) = here, there
    if (package, other_package) == ("paperlib", "companion"):
        return False
    if here == there or not other or (name == "__init__" and not other):
        return True
    if here == ("paperlib", "", "samplers"):  # Optuna's samplers offer learners of several papers
        return True
    if here == ("companion", "", "arena"):  # it compares the learners of all papers
        return True
    if paper != other:  # another paper, or an import of a paper by shared code
        return False
    return package == "companion" or ORDER[name] < ORDER[room]


def test_the_companion_imports_the_library_and_papers_follow_the_import_order():
    wrong = {
        f"{file} <- {'.'.join(there)}"
        for file, there in arrows()
        if not allowed(place(parts_of(file)), place(there))
    }
    assert not wrong, "\n" + "\n".join(sorted(wrong))


def test_imports_have_no_cycle():
    graph = {}
    for file, there in arrows():
        here, to = place(parts_of(file)), place(there)
        if here != to and to[2] != "__init__" and here[2] != "__init__":
            graph.setdefault(here, set()).add(to)
    assert list(TopologicalSorter(graph).static_order())  # raises if there is a cycle


# ---- keys -------------------------------------------------------------------------------------------------


def computes(file):
    """Return whether a file may be part of the key of a result."""
    package, paper, room = place(parts_of(file))
    if package == "companion":
        return room == "datasets" or room in ("imports", "output") or (paper and room == "problems")
    return room in COMPUTES if paper else room not in READS


@pytest.mark.parametrize("paper", papers())
def test_runs_are_keyed_by_what_computes_them(paper):
    for name, case in module(paper, "cases").CASES.items():
        found = [
            file
            for file in source_files(case.learner, case.problem, "paperlib.play")
            if not computes(file)
        ]
        assert not found, (name, found)


@pytest.mark.parametrize("paper", papers())
def test_probes_are_keyed_by_what_computes_them(paper):
    """This holds for all probes, because a notebook may use any of them."""
    for file in FILES:
        if place(parts_of(file)) == ("paperlib", paper, "probes"):
            name = ".".join(parts_of(file)).removesuffix(".__init__")
            assert all(computes(found) for found in source_files(name)), name


def test_code_that_computes_results_reads_no_docstrings():
    """Docstrings are not part of keys."""
    for file in FILES:
        if computes(file) and parts_of(file)[0] == "paperlib":
            text = file.read_text()
            assert "__doc__" not in text and "getdoc" not in text, file


# ---- packages that export names ---------------------------------------------------------------------------


def test_other_package_inits_are_empty():
    for file in FILES:
        package = ".".join(parts_of(file)[:-1])
        if file.name == "__init__.py" and package not in FACES:
            assert not file.read_text().strip(), file


def test_a_package_init_only_reexports_names():
    """The workflow resolves a name to the module that defines it, and ignores the package's ``__init__.py``."""
    plain = (ast.Import, ast.ImportFrom, ast.Assign, ast.FunctionDef)
    for file in FILES:
        if file.name == "__init__.py":
            for node in ast.parse(file.read_text()).body:
                words = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
                assert words or isinstance(node, plain), (file, ast.unparse(node))
                if isinstance(node, ast.Assign):  # CHOICES, __all__, __version__
                    ast.literal_eval(node.value)
                elif isinstance(node, ast.FunctionDef):  # names that are imported lazily
                    assert node.name == "__getattr__", file


def test_code_of_the_package_imports_from_files():
    """Otherwise all exports of the package would become part of keys, and a name would have two locations."""
    wrong = []
    for file in FILES:
        for base, name in imported(file):
            full = (*base, name) if name else base
            root = len(full) == 1 or full == (
                "paperlib",
                "__version__",
            )  # the package's path and version
            if not (root or is_file(full) or is_file(base)):
                wrong.append(f"{file} <- {'.'.join(full)}")
    assert not wrong, "\n" + "\n".join(wrong)


def test_no_file_has_the_name_of_a_reexported_object():
    """Otherwise ``companion.store.run`` would be the module or the function, depending on earlier imports."""
    for file in FILES:
        if file.name == "__init__.py":
            files = {path.stem for path in file.parent.glob("*.py")}
            files |= {path.parent.name for path in file.parent.glob("*/__init__.py")}
            names = handed_on(file.parent) - from_here(file)
            assert not files & names, (file, files & names)


def from_here(file):
    """Return the modules of the same folder that an ``__init__.py`` exports as modules."""
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
    """Saved files identify a class by its paper and name, even if its file has moved."""
    count = Counter()
    for file in FILES:
        if place(parts_of(file))[1] in ("", paper):
            tree = parsed(file)
            classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
            count.update(node.name for node in classes if is_dataclass(node))
    assert not [name for name, times in count.items() if times > 1]


def test_the_workflow_does_not_import_torch():
    """Snakemake calls it often, so that it must start quickly."""
    code = "import sys; sys.modules['torch'] = None; import companion.workflow.plan"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=TOPS["companion"].parent)
