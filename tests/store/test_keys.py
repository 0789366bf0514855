"""Keys of results: changes that make a stored result obsolete, and changes that do not."""

import importlib.metadata
import math
import os
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
from toy import Index

import companion
import paperlib
from companion.bkb.problems.real import TableArms
from companion.imports import digest, import_statements, imported_names
from companion.store import keys as content
from paperlib.bkb import Confidence, LazyBKB, Matern
from paperlib.glbomd import GLBOMD, GLOC, Bernoulli, SphereArms
from paperlib.pfbco import PFBCO, Doubling, QuadraticPolytope

# ---- Changes that make a run obsolete ----------------------------------------------------------------------

RUNS = {
    "GLBOMD": (GLBOMD(Bernoulli(), 3.0), SphereArms()),
    "GLOC": (GLOC(Bernoulli(), 3.0), SphereArms()),
    "LazyBKB": (LazyBKB(Matern(), Confidence(0.1, 1.0), 5.0), TableArms()),
    "PFBCO": (Doubling(PFBCO(0.1)), QuadraticPolytope()),
}


def digests():
    """Return the key of every run."""
    pairs = ({"learner": learner, "problem": problem} for learner, problem in RUNS.values())
    return {
        name: content.content_key(pair, ("paperlib.play",)).digest()
        for name, pair in zip(RUNS, pairs)
    }


def renewed(change):
    """Return the names of the runs whose key differs after ``change()``."""
    before = digests()
    change()
    return {name for name, after in digests().items() if after != before[name]}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Copy the library and the companion, let the copies replace the imported files, and return the folder of both."""
    for package in (paperlib, companion):
        copy, here = tmp_path / package.__name__, Path(package.__file__).parent
        shutil.copytree(here, copy, ignore=shutil.ignore_patterns("__pycache__"))
        monkeypatch.setattr(package, "__path__", [str(copy)])
    return tmp_path


def edit(file, old, new):
    """Replace the first occurrence of ``old`` in a file, which must contain it."""
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


class Near(NamedTuple):
    gamma: float


class Far(NamedTuple):
    gamma: float


class Grown(GLBOMD):
    """Learner with a parameter that is not a field."""

    def __init__(self, extra):
        super().__init__(Bernoulli(), 3.0)
        object.__setattr__(self, "extra", extra)


def test_named_tuples_are_distinguished_by_class():
    near, far = (content.content_key({"kernel": kind(1.0)}).digest() for kind in (Near, Far))
    assert near != far
    pair = {"a": (1.0,), "b": Near(1.0)}, {"a": Near(1.0), "b": (1.0,)}
    assert (
        len({content.content_key({"inputs": held}).digest() for held in pair}) == 2
    )  # the key also depends on the names of the inputs
    same = {"a": (1.0,), "b": Near(1.0)}, {"b": Near(1.0), "a": (1.0,)}
    assert len({content.content_key({"inputs": held}).digest() for held in same}) == 1


@pytest.mark.parametrize("odd", [{1: "a"}, Grown(5), (Grown(5),), {"a": [{2: 1}]}])
def test_indistinguishable_inputs_are_rejected(odd):
    with pytest.raises(
        ValueError, match="must (be|use) .*, because the key of a stored result depends on .*, got "
    ):
        content.content_key({"learner": odd})


CONSTANTS = "c, ratio = self.curvature, self.noise / self.curvature"
DOCSTRING = '"""', '"""In other words. '
MORE = "from torch import", "MORE = 1\nfrom torch import"


@pytest.mark.parametrize(
    "name, old, new",
    [
        ("paperlib/glbomd/learners/gloc.py", *DOCSTRING),
        ("paperlib/glbomd/learners/gloc.py", "import math", "# a comment\nimport math"),
        (
            "paperlib/glbomd/learners/gloc.py",
            CONSTANTS,
            "c, ratio = (\n            self.curvature,\n\n            self.noise / self.curvature\n        )",
        ),
        # the docstring of a method
        ("paperlib/glbomd/learners/gloc.py", '        """', '        """In other words. '),
        ("paperlib/core/linalg.py", *DOCSTRING),
        ("paperlib/play.py", *DOCSTRING),
    ],
)
def test_comments_and_docstrings_keep_the_key(package, name, old, new):
    assert renewed(lambda: edit(package / name, old, new)) == set()


@pytest.mark.parametrize(
    "name",
    [
        "paperlib/glbomd/theory/bounds.py",
        "paperlib/pfbco/theory/bounds.py",
        "companion/glbomd/experiments/settings.py",
        "paperlib/glbomd/learners/ofuglb.py",
        "paperlib/bkb/learners/soful.py",
        "companion/glbomd/claims.py",
        "paperlib/stats.py",
        "companion/figures/drawing.py",
        "companion/store/results.py",
        "paperlib/asktell/trial.py",
        "paperlib/__init__.py",
        "paperlib/glbomd/__init__.py",
    ],
)
def test_code_that_a_run_does_not_use_keeps_its_key(package, name):
    file = package / name
    assert renewed(lambda: file.write_text(file.read_text() + "\nMORE = 1\n")) == set()


@pytest.mark.parametrize(
    "name, old, new, expected",
    [
        ("paperlib/glbomd/learners/gloc.py", CONSTANTS, f"{CONSTANTS} / 2", {"GLOC"}),
        ("paperlib/bkb/learners/lazy.py", *MORE, {"LazyBKB"}),
        ("paperlib/glbomd/model/links.py", *MORE, {"GLOC", "GLBOMD"}),
        ("paperlib/learners/wrapper.py", *MORE, {"PFBCO"}),
        ("paperlib/core/streams.py", "import torch", "MORE = 1\nimport torch", set(RUNS)),
    ],
)
def test_code_renews_the_runs_that_use_it(package, name, old, new, expected):
    assert renewed(lambda: edit(package / name, old, new)) == expected


@pytest.mark.parametrize(
    "upgraded, expected",
    [("sklearn", {"LazyBKB"}), ("highspy", {"PFBCO"}), ("matplotlib", set())],
)
def test_an_upgrade_renews_the_runs_that_import_the_package(monkeypatch, upgraded, expected):
    """The arms of a table come from scikit-learn, and polytopes use highspy if it is installed."""
    installed = content.version
    later = lambda name: "99" if name == upgraded else installed(name)
    assert renewed(lambda: monkeypatch.setattr(content, "version", later)) == expected


def test_versions_are_of_what_files_import(tmp_path, monkeypatch):
    file = tmp_path / "ownstudy.py"
    file.write_text(
        "import os, sklearn.svm\nfrom . import near\nfrom ownother import x\nimport ownspace.deep\n"
        "def f():\n    import not_there.deep\n"
    )
    (tmp_path / "ownother.py").write_text("x = 1\n")
    (tmp_path / "ownspace").mkdir()  # a namespace package
    (tmp_path / "ownspace/deep.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    more = content.versions([file]).items() - content.versions().items()
    assert dict(more) == {
        "sklearn": importlib.metadata.version("scikit-learn"),
        "not_there": "none",
    }


CODE = 'def f(x):\n    """Words."""\n    return x + 1\n'


@pytest.mark.parametrize(
    "text, equal",
    [
        ("# words\n\ndef f(x):\n    return (x\n            + 1)", True),
        ('"""Words."""\n' + CODE, True),
        (CODE.replace("Words", "Others"), True),
        (CODE.replace("+ 1", "+ 2"), False),
        (CODE.replace("x + 1", "'words'"), False),
        (CODE + "y = 'words'", False),
    ],
)
def test_a_digest_depends_only_on_code(text, equal):
    assert (digest(text.encode(), "a.py") == digest(CODE.encode(), "a.py")) == equal


IMPORTS = """
import a
def f():
    try:
        import b
    except ImportError:
        from c import d
    else:
        import e
    finally:
        import f
    for _ in ():
        import g
    else:
        import h
    with f:
        import i
    match f:
        case 1:
            import j
class C:
    async def m(self):
        if self:
            import k
        elif f:
            import l
"""


def test_imports_are_found_in_every_block():
    names = {name for name, _ in imported_names(import_statements(IMPORTS.encode(), "a.py"))}
    assert names == {"a", "b", "c.d", *"efghijkl"}


def test_a_body_may_consist_of_a_docstring():
    bodies = ("'Words.'", "pass", "'Words.'\n    pass")
    assert len({digest(f"class A:\n    {body}".encode(), "a.py") for body in bodies}) == 1
    assert digest(b"", "a.py") == digest(b"'Words.'", "a.py")


def test_comments_edited_during_a_run_do_no_harm(package, monkeypatch):
    learner, _ = RUNS["GLOC"]
    key, file = content.content_key({"x": learner}), package / "paperlib/glbomd/learners/gloc.py"
    monkeypatch.setattr(content, "_package", frozenset(key.files))
    differs = lambda: [path.name for path in key.files if content._differs(path)]
    edit(file, *DOCSTRING)
    assert differs() == []
    edit(file, CONSTANTS, f"{CONSTANTS} / 2")
    assert differs() == ["gloc.py"]
    file.write_text("def half(")
    assert differs() == ["gloc.py"]


# ---- Code of files, notebooks and the user's modules -------------------------------------------------------


def made(factor):
    return lambda round: factor * round.feedback


def key(x):
    return content.content_key({"x": x}).digest()


def test_captured_values_count():
    assert key(made(2.0)) == key(made(2.0)) != key(made(3.0))
    one, two = [lambda r: r.t, lambda r: r.t + 1]
    assert key(one) != key(two)
    assert key(Index().select) == key(Index().select) != key(Index(2.0).select)
    with pytest.raises(ValueError, match="must use only numbers, .*, got factor of type object"):
        key(made(object()))


NOTEBOOK = """
import torch
from dataclasses import dataclass
from paperlib.core.linalg import arm_dot
level = 1.0
def helper(x):
    return x + level
def probe(round):
    return helper(round.feedback)
@dataclass(frozen=True)
class Mine:
    width: float = 1.0
    wants = "reward"
    def select(self, state, context, draw):
        return arm_dot(context, state), state
"""


def typed(monkeypatch, tmp_path, text):
    """Return the globals of a notebook with ``text`` in a cell, which is code of `__main__`."""
    cell = tmp_path / "cell.py"  # IPython stores the source of a cell in this way
    cell.write_text(text)
    names = vars(sys.modules["__main__"]).copy()
    names |= {"__name__": "__main__"}
    exec(compile(text, str(cell), "exec"), names)
    return names


@pytest.mark.parametrize(
    "old, new, differs",
    [
        ("x + level", "x - level", True),
        ("level = 1.0", "level = 2.0", True),
        ("round.feedback", "round.action", True),
        ("    return helper", "    # the same\n    return helper", False),
        ("import torch", "import torch, math", False),
    ],
)
def test_functions_of_a_notebook_count_with_what_they_use(monkeypatch, tmp_path, old, new, differs):
    before = content._Text()
    before.add(typed(monkeypatch, tmp_path, NOTEBOOK)["probe"])
    after = content._Text()
    after.add(typed(monkeypatch, tmp_path, NOTEBOOK.replace(old, new))["probe"])
    assert (before.parts != after.parts) == differs


def test_defaults_of_a_nested_function_count():
    make = lambda k: lambda round, k=k: k * round.feedback
    keys = [content.content_key({"probes": {"x": make(k)}}).digest() for k in (1, 2)]
    assert keys[0] != keys[1]


def test_functions_with_the_same_text_are_distinguished_by_position():
    one, two = made(1.0), made(2.0)
    probes = [
        {"a": one, "b": two},
        {"a": two, "b": one},
        {"a": one, "b": two, "c": one},
        {"a": one, "b": two, "c": two},
    ]
    keys = [content.content_key({"probes": chosen}).digest() for chosen in probes]
    assert len(set(keys)) == 4


@pytest.mark.parametrize(
    "one, other",
    [("lambda r: r", "lambda *r: r"), ("lambda r, s=0: r", "lambda r, *, s=0: r")],
)
def test_how_a_function_takes_its_arguments_counts(one, other):
    codes = [eval(text).__code__ for text in (one, other)]
    assert content._bytecode(codes[0]) != content._bytecode(codes[1])


@pytest.mark.parametrize(
    "old, new, differs",
    [
        ("state), state", "state), None", True),
        ('"reward"', '"loss"', True),
        ("level = 1.0", "level = 2.0", False),
    ],
)
def test_classes_of_a_notebook_count(monkeypatch, tmp_path, old, new, differs):
    before, after = content._Text(), content._Text()
    before.add(typed(monkeypatch, tmp_path, NOTEBOOK)["Mine"]())
    after.add(typed(monkeypatch, tmp_path, NOTEBOOK.replace(old, new))["Mine"]())
    assert (before.parts != after.parts) == differs
    assert [file.name for file in before.files] == ["linalg.py"]


@pytest.fixture
def toy_paper(tmp_path, monkeypatch):
    """Make a package `paperlib.toy` of four files: a imports b, b imports linalg, and c imports none of them."""
    folder = tmp_path / "extra" / "toy"
    folder.mkdir(parents=True)
    texts = {
        "__init__": "from .a import A\nfrom .c import C as Sea\n",
        "a": "from .b import helper\nclass A:\n    pass\n",
        "b": "def helper():\n    from ..core.linalg import inner\n",
        "c": "from . import a\nclass C:\n    pass\n",
    }
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
        os.utime(folder / f"{name}.py", (0, 0))  # older than this process
    for package in (paperlib, companion):
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder.parent)])
    yield folder
    for name in [m for m in sys.modules if m.startswith(("paperlib.toy", "companion.toy"))]:
        del sys.modules[name]


@pytest.mark.parametrize(
    "name, expected",
    [
        ("paperlib.toy.b", ["b", "linalg"]),
        ("paperlib.toy.a", ["a", "b", "linalg"]),
        ("paperlib.toy.A", ["a", "b", "linalg"]),
        ("paperlib.toy.Sea", ["a", "b", "c", "linalg"]),
        ("paperlib.toy", ["__init__", "a", "b", "c", "linalg"]),
        ("paperlib.toy.a.helper", ["a", "b", "linalg"]),
        ("paperlib.core.streams", ["streams"]),
    ],
)
def test_sources_follow_imports(toy_paper, name, expected):
    assert sorted(path.stem for path in content.source_files(name)) == expected


def test_sources_of_objects(toy_paper):
    from paperlib.toy.a import A

    assert sorted(path.stem for path in content.source_files(A)) == ["a", "b", "linalg"]
    assert {path.stem for path in content.source_files(Index(), "paperlib.play")} == {
        "contracts",
        "trees",
        "trace",
        "describe",
        "extras",
        "files",
        "rounds",
        "linalg",
        "play",
        "streams",
        "validation",
    }
    assert content.source_files(torch.nn.functional.one_hot) == []


@pytest.mark.parametrize("name", ["paperlib.nothing.there", "numpy", "nothing"])
def test_sources_reject_unknown_names(name):
    with pytest.raises(
        ValueError, match="^name must be a module of paperlib or companion, .*, got "
    ):
        content.source_files(name)


def test_source_of_what_is_used_is_in_the_key(toy_paper):
    from paperlib.toy.a import A

    before = content.content_key({"x": A})
    (toy_paper / "c.py").write_text("changed = 1\n")
    assert content.content_key({"x": A}) == before and not before.edited()
    with open(toy_paper / "b.py", "a") as file:
        file.write("changed = 1\n")
    assert content.content_key({"x": A}).digest() != before.digest()
    assert before.edited() == ["extra/toy/b.py"]


@pytest.fixture(params=["package", "namespace package"])
def own_modules(request, tmp_path, monkeypatch):
    """Make modules of a user: myprobe imports mypack.inner, which imports mypack.deep; no module imports myother."""
    texts = {
        "myprobe": "import json\nimport numpy\nfrom mypack import inner\ndef probe(round):\n    return inner.value(round)\n",
        "mypack/__init__": "",
        "mypack/inner": "from .deep import level\ndef value(round):\n    return level * round.feedback\n",
        "mypack/deep": "level = 1.0\n",
        "myother": "",
    }
    (tmp_path / "own/mypack").mkdir(parents=True)
    if request.param != "package":
        del texts["mypack/__init__"]
    for name, text in texts.items():
        (tmp_path / "own" / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path / "own"))
    yield tmp_path / "own"
    for name in [
        name for name in sys.modules if name.split(".")[0] in ("myprobe", "mypack", "myother")
    ]:
        del sys.modules[name]


def test_a_users_own_modules_count_with_what_they_import(own_modules, monkeypatch, tmp_path):
    import myprobe

    text = content._Text()
    text.add(myprobe.probe)
    assert {file.relative_to(own_modules).as_posix() for file in text.files} - {
        "mypack/__init__.py"
    } == {"myprobe.py", "mypack/inner.py", "mypack/deep.py"}
    in_cell = typed(
        monkeypatch,
        tmp_path,
        "from mypack import inner\ndef probe(round):\n    return inner.value(round)",
    )["probe"]
    before = key(myprobe.probe), key(in_cell)
    (own_modules / "myother.py").write_text("changed = 1\n")
    assert (key(myprobe.probe), key(in_cell)) == before
    (own_modules / "mypack/deep.py").write_text("level = 2.0\n")
    assert key(myprobe.probe) != before[0] and key(in_cell) != before[1]


def test_captured_builtins_and_tables_of_typed_classes_are_content():
    def around(f):
        return lambda x: f(x)

    assert key(around(math.sin)) != key(around(math.cos))
    assert key(around(torch.exp)) != key(around(torch.log))
