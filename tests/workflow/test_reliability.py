"""Failures that ``run.py figures`` withstands.

It prints one clear line and loses no result. The next call ends as if there had been no failure.
"""

import contextlib
import hashlib
import json
import shutil
import subprocess
import time

import numpy as np
import pytest
from reliable import CODE, Space, Workflow, arrays, until
from toy import Coins, Index
from waiting import free_ports

from companion.store import results as store

pytestmark = pytest.mark.slow
HORIZON, TRIALS, CHUNK, NAP = 256, 6, 2, 0.002
SEEDS = {"toy_1": 0, "toy_2": 100}
# Total number of rounds in all chunks of both notebooks.
TOTAL = len(SEEDS) * TRIALS // CHUNK * HORIZON


def two_notebooks(home, **more):
    work = Workflow(home, **more)
    for name, seed in SEEDS.items():
        work.write(name, horizon=HORIZON, trials=TRIALS, chunk=CHUNK, nap=NAP, seed=seed)
    return work


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Run the two notebooks without a failure; return them and the run time in seconds.

    A second call in the same folder is rejected meanwhile. It must not change the results, which
    the other tests compare with those of separate runs.
    """
    work = two_notebooks(tmp_path_factory.mktemp("undisturbed") / "home")
    lock, begun = work.home / ".run.lock", time.monotonic()
    first = work.start()
    until(lambda: lock.exists() and lock.read_text())
    rejected = work.run()
    text = first.communicate(timeout=200)[0]
    seconds = time.monotonic() - begun
    assert first.returncode == 0, text
    assert rejected == (
        1,
        f"Another run.py works in {work.home} (process {first.pid}: run.py figures). Wait for it or end it.\n",
    )
    return work, seconds


def told(status, text, *parts):
    """Assert that a call failed without a traceback, and that one line of its last table has the reason with all ``parts``."""
    assert status == 1 and "Traceback" not in text, text
    (line,) = [line for line in text.splitlines() if " has no result: " in line]
    assert all(part in line for part in parts), line


def standing(work):
    """Return the outputs that a failure of the other notebooks must not change."""
    others = ("toy_2", "toy_3")
    return {
        name: content
        for name, content in work.outcome().items()
        if not any(other in name for other in others)
    }


def killed(work, moment, alone):
    """End a call by SIGKILL ``moment`` seconds after its start: run.py ``alone``, or with all of its processes."""
    process = work.start()
    try:
        process.wait(moment)
    except subprocess.TimeoutExpired:
        process.kill() if alone else work.kill()
    else:  # The call ended before the kill, so the notebooks run again and are killed earlier.
        for done in (work.results / "quick").glob("*.done"):
            done.unlink()
        killed(work, 0.7 * moment, alone)
    process.wait()
    process.stdout.close()


def killed_at_play(work, seconds, alone):
    """End a call by SIGKILL some seconds after it has saved its first checkpoint."""
    rounds = lambda: sum(len(work.rounds(name)) for name in SEEDS)
    process, before = work.start(), rounds()
    # A process that survived an earlier kill may have played all rounds already.
    until(lambda: rounds() > before or process.poll() is not None, 120)
    time.sleep(seconds)
    process.kill() if alone else work.kill()
    process.wait()
    process.stdout.close()


def resumed(work, undisturbed, folder):
    """Resume a copy of the files that a kill has left, in this process.

    No file may be damaged, no round repeated, and no result may differ from the undisturbed run.

    Returns:
        The number of rounds in the copy, out of ``TOTAL``.
    """
    folder.mkdir()
    for path in work.results.glob("*.npz"):
        with contextlib.suppress(FileNotFoundError):  # a surviving process may still replace files
            shutil.copy2(path, folder)
    left = HORIZON * len(arrays(folder))
    for path in folder.glob("*.part.npz"):
        left -= HORIZON
        if not path.with_name(path.name.replace(".part", "")).exists():
            with np.load(path) as file:
                left += json.loads(str(file["head"]))["t"]
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PAPERLIB_RESULTS", str(folder))
        patch.setenv("PAPERLIB_LOCKS", str(folder))
        for seed in SEEDS.values():
            learners = {"index": Index(nap=NAP)}
            store.run(
                Coins(),
                learners,
                HORIZON,
                TRIALS,
                seed=seed,
                chunk=CHUNK,
                record="all",
                every=0,
                progress=lambda t, T, s: seen.append(t),
            )
    assert len(seen) == TOTAL - left and arrays(folder) == arrays(undisturbed.results)
    return left


def test_four_kills_lose_nothing(undisturbed, tmp_path, caplog):
    """Kill one run at moments drawn with a fixed seed: once before its simulations, twice during, once after."""
    original, seconds = undisturbed
    work, draws, left = two_notebooks(tmp_path / "home"), np.random.default_rng(1).random(10), []
    for i in (0, 5, 6, 9):  # a run is divided into ten parts
        draw = draws[i]
        # If only run.py is killed, its processes continue while the next call runs. Not at the first kill, after which they
        # could finish everything.
        finished, alone = (work.chunks(), i in (6, 9))
        if i in (5, 6):
            killed_at_play(work, draw * HORIZON * NAP / 2, alone)
        else:
            killed(work, (i + draw) / 10 * 0.8 * seconds, alone)
        assert finished.items() <= work.chunks().items()
        left.append(resumed(work, original, tmp_path / f"copy{i}"))
    finished = work.chunks()
    status, text = work.run()
    work.wait_for_end()
    assert status == 0 and "Traceback" not in text and not caplog.text, text
    assert finished.items() <= work.chunks().items()
    assert work.outcome() == original.outcome()
    assert left[0] == 0 and left[-1] == TOTAL and sum(0 < rounds < TOTAL for rounds in left) >= 1, (
        left
    )


def test_data_that_are_wrong_missing_and_there(tmp_path):
    """Test a copy of the project whose registry has two additional small data sets at an unreachable address."""
    content = b"1,2,3\n" * 500
    (port,) = free_ports()
    code = tmp_path / "code"
    for name in ("paperlib", "companion", "data"):
        shutil.copytree(CODE / name, code / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("run.py", "Snakefile"):
        shutil.copy2(CODE / name, code)
    entry = {
        "sha256": hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
        "rows": 500,
        "columns": 3,
        "get": "ask the toy maker",
        "source": "toys",
        "license": "none",
        "cite": "Toy 1999",
    }
    with open(code / "data/registry.toml", "a") as registry:
        for name in ("bad", "missing"):
            entry |= {"file": f"{name}.data", "urls": [f"http://127.0.0.1:{port}/{name}.data"]}
            lines = [f"{key} = {json.dumps(value)}\n" for key, value in entry.items()]
            registry.write(f"\n[{name}]\n" + "".join(lines))

    work = Workflow(tmp_path / "home", code)
    work.environment |= {"XDG_CACHE_HOME": str(tmp_path / "cache"), "HOME": str(tmp_path)}
    work.write("toy_1", horizon=64)
    tables = []
    for name, data, seed in (("toy_2", "bad", 100), ("toy_3", "missing", 200)):
        fetch = f"from companion import datasets\ndatasets.fetch({data!r})"
        work.write(name, fetch, horizon=64, seed=seed)
        tables.append(f'[{name}]\ndatasets = ["{data}"]\n')
    (work.notebooks / "profiles.toml").write_text("".join(tables))
    bad, missing = (work.home / f"data/{name}.data" for name in ("bad", "missing"))
    damaged = b"2" + content[1:]
    bad.write_bytes(damaged)
    status, text = work.run()
    assert status == 1 and "Traceback" not in text, text
    reasons = [line for line in text.splitlines() if " has no result: " in line]
    expected = {
        "toy_2": (
            str(bad),
            "is not the file of data set 'bad' and is ignored",
            "Remove or replace it. How to get it: ask the toy maker",
        ),
        "toy_3": (
            "missing.data could not be downloaded",
            "ask the toy maker",
            "PAPERLIB_DATA",
            "Connection refused",
        ),
    }
    assert len(reasons) == len(expected), text
    for name, parts in expected.items():
        (line,) = [line for line in reasons if f"{name} has no result: " in line]
        assert all(part in line for part in parts), line
    assert bad.read_bytes() == damaged
    assert "quick/toy/toy_1.json" in work.outcome()
    assert {path.stem for path in work.figures.glob("quick/toy/*.json")} == {"toy_1"}
    kept = standing(work)
    bad.unlink()
    for path in (bad, missing):
        path.write_bytes(content)
    status, text = work.run()
    assert status == 0 and text.count("(unchanged)") == 1, text
    assert kept and kept.items() <= standing(work).items()
    assert {path.stem for path in work.figures.glob("quick/toy/*.json")} == {
        "toy_1",
        "toy_2",
        "toy_3",
    }


def test_a_full_disk(tmp_path):
    work = Workflow(tmp_path / "home")
    work.results.mkdir()
    with Space(f"mount -t tmpfs -o size=2m tmpfs {work.results}") as space:
        work.prefix = space.prefix
        work.write("toy_1", horizon=64)
        # toy_1 ends before toy_2 fills the disk while its result is saved.
        (work.notebooks / "profiles.toml").write_text('[toy_2]\nafter = ["toy_1"]\n')
        work.write("toy_2", horizon=640, trials=600, chunk=600, seed=100)  # 3 MB
        place, (status, text) = work.results, work.run()
        work.results = space.seen(place)
        # Its notebook succeeds; only the stored result is missing.
        assert status == 0 and "(No space left on device): the next run computes it again" in text
        kept, stamps = standing(work), work.chunks()
        assert "toy_1.ipynb" in kept and len(stamps) == 2
        space.sh(f"mount -o remount,size=64m {place}")
        work.write("toy_2", horizon=640, trials=600, chunk=600, seed=101)
        status, text = work.run()
        assert status == 0 and text.count("(unchanged)") == 1, text
        assert stamps.items() <= work.chunks().items() and len(work.chunks()) == 3
        assert not list(work.results.glob("*.part*"))


def test_a_read_only_figures_folder(tmp_path):
    work = Workflow(tmp_path / "home")
    work.write("toy_1", horizon=64)
    assert work.run("--only", "toy_1")[0] == 0
    kept = standing(work)
    work.write("toy_2", horizon=64, seed=100)
    with Space(
        f"mount --bind {work.figures} {work.figures} && mount -o remount,ro,bind {work.figures}"
    ) as space:
        work.prefix = space.prefix
        told(
            *work.run(),
            "toy_2",
            "Read-only file system",
            f"figures to {work.figures}; make them writable, or set PAPERLIB_RESULTS",
        )
        stamps = work.chunks()
        assert kept.items() <= standing(work).items() and len(stamps) == 4
    work.prefix = []
    status, text = work.run()
    assert status == 0 and text.count("(unchanged)") == 1, text
    assert work.chunks() == stamps and "quick/toy/toy_2.json" in work.outcome()


def test_a_corrupted_result_is_computed_again(undisturbed, tmp_path):
    original, _ = undisturbed
    work = Workflow(tmp_path / "home")
    shutil.copytree(original.home, work.home, dirs_exist_ok=True)
    (bad,) = [path for path in work.results.glob("*.npz") if path.name == min(work.chunks())]
    content = bytearray(bad.read_bytes())
    content[len(content) // 2] ^= 0xFF
    bad.write_bytes(content)
    # Both notebooks must run, and one of them reads the damaged file. An edited notebook runs although the folder is a copy.
    (work.figures / "quick/toy/toy_1.png").unlink()
    edited = dict(horizon=HORIZON, trials=TRIALS, chunk=CHUNK, nap=NAP, seed=SEEDS["toy_2"])
    work.write("toy_2", "# edited", **edited)
    stamps = work.chunks()
    status, text = work.run()
    assert status == 0 and "(unchanged)" not in text, text
    (line,) = [line for line in text.splitlines() if "damaged" in line]
    assert bad.name in line and line.endswith("computed again")
    assert (
        sum("computed again" in path.read_text() for path in (work.results / "quick").glob("*.log"))
        == 1
    )
    assert work.outcome() == original.outcome()
    assert {name for name, stamp in work.chunks().items() if stamp != stamps[name]} == {bad.name}
