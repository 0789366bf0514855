"""What is computed once is found again; what differs is never mistaken for it; what is damaged is made anew."""

import functools
import importlib
import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from toy import Coins, Index

import paperlib
from paperlib.store import keys as content, results as store
from paperlib.core.trace import Trace
from paperlib.core.rounds import Probe
from paperlib.play import play

TESTS = Path(__file__).parent


@pytest.fixture(autouse=True)
def results(tmp_path, monkeypatch):
    monkeypatch.setenv("PAPERLIB_RESULTS", str(tmp_path / "results"))
    monkeypatch.setenv("PAPERLIB_LOCKS", str(tmp_path))  # a timing elsewhere on the machine is none of its business
    return tmp_path / "results"


def run(learner=Index(), problem=Coins(), horizon=20, trials=5, **more):
    return store.run(problem, {"a": learner}, horizon, trials, **{"chunk": 2, **more})["a"]


def files(results):
    return {path.name: path.stat().st_mtime_ns for path in results.glob("*")}


def twice(round):
    return 2 * round.feedback


def scaled(round, factor=1.0):
    return factor * round.feedback


def test_second_call_reads_the_first(results):
    first = run(probes={"twice": twice})
    kept = files(results)
    again = run(probes={"twice": twice})
    assert len(kept) == 3 and files(results) == kept  # 2 + 2 + 1 trials
    assert first.equal(again) and first.trials == [0, 1, 2, 3, 4]


def test_chunks_are_plays():
    pieces = [play(Index(), Coins(), 20, ids) for ids in store.chunks(5, 2)]
    assert run().equal(Trace.merge(pieces))
    assert [list(ids) for ids in store.chunks(5, 2)] == [[0, 1], [2, 3], [4]]


@pytest.mark.parametrize("name, value", [("trials", 1e2), ("trials", 0), ("chunk", 2.0), ("chunk", 0), ("horizon", 1e2)])
def test_only_whole_numbers_are_run(results, name, value):
    with pytest.raises(ValueError, match=f"{name}={value}; allowed: an integer, at least 1"):
        run(**{name: value})
    assert files(results) == {}


def test_more_trials_compute_only_what_is_new(results):
    first = run(trials=4)
    kept = files(results)
    more = run(trials=8)
    assert kept.items() < files(results).items() and len(files(results)) == 4
    assert np.array_equal(more["regret"][:4], first["regret"])


def test_learners_may_have_fewer_trials():
    traces = store.run(Coins(), {"a": Index(), "b": Index(2.0)}, 20, {"a": 4, "b": 2}, chunk=2)
    assert len(traces["a"].trials) == 4 and traces["b"].trials == [0, 1]
    with pytest.raises(ValueError, match="one for each of a, b"):
        store.run(Coins(), {"a": Index(), "b": Index(2.0)}, 20, {"a": 4})


@pytest.mark.parametrize(
    "change",
    [
        {"learner": Index(0.5)}, {"problem": Coins(3)}, {"horizon": 21}, {"seed": 1}, {"chunk": 4}, {"record": 5}, {"record": "all"},
        {"probes": {"x": twice}}, {"probes": {"x": scaled}}, {"probes": {"x": functools.partial(scaled, factor=2)}},
        {"probes": {"x": functools.partial(scaled, factor=3)}}, {"probes": {"x": Probe(twice, "sum")}}, {"probes": {"y": twice}},
    ],
)
def test_whatever_differs_is_another_result(results, change):
    run(trials=1)
    run(**{"trials": 1, **({"trials": 4} if "chunk" in change else {}), **change})
    assert len(files(results)) == 2


def made(factor):
    return lambda round: factor * round.feedback


def key(x):
    return content.key({"x": x}).digest()


def test_captured_values_count():
    assert key(made(2.0)) == key(made(2.0)) != key(made(3.0))
    one, two = [lambda r: r.t, lambda r: r.t + 1]
    assert key(one) != key(two)
    assert key(Index().select) == key(Index().select) != key(Index(2.0).select)
    with pytest.raises(ValueError, match="uses factor, a object"):
        key(made(object()))


NOTEBOOK = """
import torch
from dataclasses import dataclass
from paperlib.core.linalg import inner
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
        return inner(context, state), state
"""


def typed(monkeypatch, tmp_path, text):
    """Names of a notebook with ``text`` in a cell: code that belongs to `__main__`."""
    cell = tmp_path / "cell.py"  # as IPython keeps the source of a cell
    cell.write_text(text)
    names = vars(sys.modules["__main__"]).copy()
    names |= {"__name__": "__main__"}
    exec(compile(text, str(cell), "exec"), names)
    return names


@pytest.mark.parametrize(
    "old, new, differs",
    [("x + level", "x - level", True), ("level = 1.0", "level = 2.0", True), ("round.feedback", "round.action", True),
     ("    return helper", "    # the same\n    return helper", False), ("import torch", "import torch, math", False)],
)
def test_functions_of_a_notebook_count_with_what_they_use(monkeypatch, tmp_path, old, new, differs):
    before = content._Text()
    before.add(typed(monkeypatch, tmp_path, NOTEBOOK)["probe"])
    after = content._Text()
    after.add(typed(monkeypatch, tmp_path, NOTEBOOK.replace(old, new))["probe"])
    assert (before.parts != after.parts) == differs


@pytest.mark.parametrize("old, new, differs", [("state), state", "state), None", True), ('"reward"', '"loss"', True), ("level = 1.0", "level = 2.0", False)])
def test_classes_of_a_notebook_count(monkeypatch, tmp_path, old, new, differs):
    before, after = content._Text(), content._Text()
    before.add(typed(monkeypatch, tmp_path, NOTEBOOK)["Mine"]())
    after.add(typed(monkeypatch, tmp_path, NOTEBOOK.replace(old, new))["Mine"]())
    assert (before.parts != after.parts) == differs
    assert [file.name for file in before.files] == ["linalg.py"]


@pytest.fixture
def toy_paper(tmp_path, monkeypatch):
    """A package `paperlib.toy` of four files: a -> b -> linalg, and c on its own."""
    folder = tmp_path / "extra" / "toy"
    folder.mkdir(parents=True)
    texts = {
        "__init__": "from .a import A\nfrom .c import C as Sea\n", "a": "from .b import helper\nclass A:\n    pass\n",
        "b": "def helper():\n    from ..core.linalg import inner\n", "c": "from . import a\nclass C:\n    pass\n",
    }
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
        os.utime(folder / f"{name}.py", (0, 0))  # older than this process
    monkeypatch.setattr(paperlib, "__path__", [*paperlib.__path__, str(folder.parent)])
    yield folder
    for name in [m for m in sys.modules if m.startswith("paperlib.toy")]:
        del sys.modules[name]


@pytest.mark.parametrize(
    "name, expected",
    [
        ("paperlib.toy.b", ["b", "linalg"]), ("paperlib.toy.a", ["a", "b", "linalg"]), ("paperlib.toy.A", ["a", "b", "linalg"]),
        ("paperlib.toy.Sea", ["a", "b", "c", "linalg"]), ("paperlib.toy", ["__init__", "a", "b", "c", "linalg"]),
        ("paperlib.toy.a.helper", ["a", "b", "linalg"]), ("paperlib.core.streams", ["streams"]),
    ],
)
def test_sources_follow_imports(toy_paper, name, expected):
    assert sorted(path.stem for path in store.sources(name)) == expected


def test_sources_of_objects(toy_paper):
    from paperlib.toy.a import A

    assert sorted(path.stem for path in store.sources(A)) == ["a", "b", "linalg"]
    assert {path.stem for path in store.sources(Index(), "paperlib.play")} == {"contracts", "trees", "trace", "describe", "files", "rounds", "linalg", "play", "settings", "streams", "validation"}
    assert store.sources(torch.nn.functional.one_hot) == []


@pytest.mark.parametrize("name", ["paperlib.nothing.there", "numpy", "nothing"])
def test_sources_refuse_what_is_not_there(name):
    with pytest.raises(ValueError, match="allowed: a module of paperlib"):
        store.sources(name)


def test_source_of_what_is_used_is_in_the_key(toy_paper):
    from paperlib.toy.a import A

    before = content.key({"x": A})
    (toy_paper / "c.py").write_text("changed = 1\n")
    assert content.key({"x": A}) == before and not before.edited()
    with open(toy_paper / "b.py", "a") as file:
        file.write("changed = 1\n")
    assert content.key({"x": A}).digest() != before.digest()
    assert before.edited() == ["extra/toy/b.py"]


def test_code_edited_under_a_running_process_is_not_kept(results, monkeypatch, caplog):
    monkeypatch.setattr(content.Key, "edited", lambda self: ["paperlib/play.py"])
    trace = run(trials=2)
    assert trace.trials == [0, 1] and files(results) == {}
    assert [record.levelno for record in caplog.records] == [logging.WARNING] and "restart" in caplog.text


def test_code_edited_between_its_import_and_its_first_run_is_not_kept(results, monkeypatch, tmp_path, caplog):
    file = tmp_path / "mylearning.py"
    file.write_text("def probe(round):\n    return round.feedback\n")
    os.utime(file, (0, 0))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "mylearning", raising=False)
    probe = importlib.import_module("mylearning").probe
    run(trials=2, probes={"x": probe})
    kept = files(results)
    assert len(kept) == 1 and not caplog.text
    file.write_text("def probe(round):\n    return 2 * round.feedback\n")
    content._first.pop(file)  # as if it had not been run before
    seen = []
    run(trials=2, horizon=200, probes={"x": probe}, every=0, progress=lambda *_: seen.append(files(results)))
    assert seen and all(found == kept for found in seen)  # no checkpoint either
    assert files(results) == kept and f"{tmp_path.name}/mylearning.py changed while" in caplog.text


def test_the_package_edited_between_its_import_and_its_first_run_is_not_kept(results, tmp_path):
    shutil.copytree(Path(paperlib.__file__).parent, tmp_path / "paperlib", ignore=shutil.ignore_patterns("__pycache__"))
    code = f"""import os, sys
sys.path[:0] = [{str(tmp_path)!r}, {str(TESTS)!r}]
from pathlib import Path
import paperlib.store
from test_store import run
file = Path(paperlib.play.__file__)
assert file.is_relative_to({str(tmp_path)!r})
stamp = file.stat().st_mtime_ns
file.write_text(file.read_text() + "# edited\\n")
os.utime(file, ns=(stamp, stamp))  # as cp -p leaves it
run(trials=2)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and "paperlib/play.py changed while" in done.stderr, done.stderr
    assert files(results) == {}


@pytest.fixture(params=["package", "namespace package"])
def own_modules(request, tmp_path, monkeypatch):
    """A user's modules: myprobe -> mypack.inner -> mypack.deep, and myother, which nothing imports."""
    texts = {
        "myprobe": "import json\nimport numpy\nfrom mypack import inner\ndef probe(round):\n    return inner.value(round)\n",
        "mypack/__init__": "", "mypack/inner": "from .deep import level\ndef value(round):\n    return level * round.feedback\n",
        "mypack/deep": "level = 1.0\n", "myother": "",
    }
    (tmp_path / "own/mypack").mkdir(parents=True)
    if request.param != "package":
        del texts["mypack/__init__"]
    for name, text in texts.items():
        (tmp_path / "own" / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path / "own"))
    yield tmp_path / "own"
    for name in [name for name in sys.modules if name.split(".")[0] in ("myprobe", "mypack", "myother")]:
        del sys.modules[name]


def test_a_users_own_modules_count_with_what_they_import(own_modules, monkeypatch, tmp_path):
    import myprobe

    text = content._Text()
    text.add(myprobe.probe)
    assert {file.relative_to(own_modules).as_posix() for file in text.files} - {"mypack/__init__.py"} == {"myprobe.py", "mypack/inner.py", "mypack/deep.py"}
    in_cell = typed(monkeypatch, tmp_path, "from mypack import inner\ndef probe(round):\n    return inner.value(round)")["probe"]
    before = key(myprobe.probe), key(in_cell)
    (own_modules / "myother.py").write_text("changed = 1\n")
    assert (key(myprobe.probe), key(in_cell)) == before
    (own_modules / "mypack/deep.py").write_text("level = 2.0\n")
    assert key(myprobe.probe) != before[0] and key(in_cell) != before[1]


def test_any_damage_is_found_and_mended(results, caplog):
    good = run(trials=4)
    first, second = sorted(results.glob("*.npz"))
    whole, kept = first.read_bytes(), second.stat().st_mtime_ns
    for position in np.linspace(0, len(whole) - 1, 60).astype(int):
        broken = bytearray(whole)
        broken[position] ^= 0xFF
        first.write_bytes(broken)
        assert run(trials=4).equal(good), position
    for broken in (b"", whole[: len(whole) // 2], b"no archive"):
        caplog.clear()
        first.write_bytes(broken)
        assert run(trials=4).equal(good)
        assert len(caplog.records) == 1 and first.name in caplog.text and "computed again" in caplog.text
        assert "\n" not in caplog.records[0].getMessage()
    assert second.stat().st_mtime_ns == kept


def test_a_damaged_checkpoint_is_dropped(results, caplog):
    good = run(trials=2)
    (path,) = results.glob("*.npz")
    path.unlink()
    path.with_suffix(".part.npz").write_bytes(b"half a checkpoint")
    assert run(trials=2).equal(good) and [p.name for p in results.iterdir()] == [path.name]
    assert "computed again" in caplog.text


def test_a_checkpoint_that_outlived_its_run_is_removed(results):
    good = run(trials=2)
    (path,) = results.glob("*.npz")
    path.with_suffix(".part.npz").write_bytes(b"whatever")
    assert run(trials=2).equal(good) and [p.name for p in results.iterdir()] == [path.name]


def test_two_processes_may_compute_the_same(results):
    code = f"import sys; sys.path[:0] = [{str(TESTS)!r}, {str(TESTS.parent)!r}]; from test_store import run; run(horizon=300, trials=4, every=0)"
    both = [subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE) for _ in range(2)]
    assert [(p.communicate()[1].decode(), p.returncode) for p in both] == [("", 0), ("", 0)]
    kept = files(results)
    fresh = Trace.merge([play(Index(), Coins(), 300, ids) for ids in store.chunks(4, 2)])
    assert len(kept) == 2 and run(horizon=300, trials=4).equal(fresh) and files(results) == kept


calls = []


def squares(count, learner=None):
    calls.append(count)
    return {"squares": np.arange(count) ** 2, "mean": 0.5, "name": "x"}


def test_once_computes_once(results):
    calls.clear()
    first, again = (store.once("squares", squares, count=4) for _ in range(2))
    assert calls == [4] and first["squares"].tolist() == again["squares"].tolist() == [0, 1, 4, 9]
    assert float(again["mean"]) == 0.5 and str(again["name"]) == "x"
    store.once("squares", squares, count=4, learner=Index())
    store.once("others", squares, count=4)
    assert calls == [4, 4, 4]


@pytest.mark.parametrize("result, size", [(None, 1), (3.0, 1), (None, 2)])
def test_once_refuses_what_is_no_dictionary_of_numbers(results, result, size):
    with pytest.raises(ValueError, match="allowed: a dictionary"):
        store.once("wrong", lambda size: result if size < 2 else {"x": object()}, size=size)
    assert files(results) == {}


def test_captured_builtins_and_tables_of_typed_classes_are_content():
    import math

    from paperlib.store.keys import key

    def around(f):
        return lambda x: f(x)

    assert key({"f": around(math.sin)}).digest() != key({"f": around(math.cos)}).digest()
    assert key({"f": around(torch.exp)}).digest() != key({"f": around(torch.log)}).digest()
