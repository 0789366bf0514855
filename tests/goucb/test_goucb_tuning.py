"""Tests of the tuning problems: the map of [0, 10]^d, the tables, accuracies, and runs that are killed or repeated."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from contextlib import suppress
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
import torch

from companion.datasets import classifiers, evaluations
from companion.datasets import registry as datasets
from companion.goucb.experiments import tuning as figures
from companion.goucb.experiments.tuning import choose, failures
from companion.goucb.problems import tuning
from companion.goucb.problems.tuning import SPACES, Tuning, decode, table
from companion.store import keys
from companion.store import results as store
from paperlib.core.describe import describe
from paperlib.core.streams import Streams
from paperlib.goucb.learners.acquisition import Linearized
from paperlib.goucb.learners.botorch_default import MAPSAAS
from paperlib.goucb.learners.gp import GP
from paperlib.goucb.learners.oracle import LevenbergMarquardt
from paperlib.goucb.learners.presets import practical
from paperlib.goucb.learners.sequential import Optuna, ScikitOptimize
from paperlib.goucb.model.network import TwoLayerNet
from paperlib.play import Probe, play

TESTS = Path(__file__).parent
F64 = torch.float64
DIMS = {"forest": 7, "perceptron": 8, "boosting": 11}
LEARNER = practical(
    3,
    model=TwoLayerNet(3),
    oracle=LevenbergMarquardt(2, 8, 3),
    acquisition=Linearized(12, 4, 2, 3),
)
SMALL = {"problem": Tuning("wdbc", "boosting", folds=2), "horizon": 6}


def at_hand(*names):
    return pytest.mark.skipif(
        not all(datasets.available(name) for name in names),
        reason=f"not available: {', '.join(names)}",
    )


@pytest.fixture(autouse=True)
def place(monkeypatch, tmp_path):
    monkeypatch.setenv("PAPERLIB_RESULTS", str(tmp_path / "results"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return tmp_path


def respond(problem, x, seed=0, wants="reward"):
    """Return the accuracies of points, R x d, in trials 0..R - 1."""
    streams, x = Streams(seed, range(len(x))), torch.as_tensor(x, dtype=F64)
    instance = problem.init(len(x), 1, streams.at(-1), dtype=F64)
    feedback, gap = problem.respond(instance, 0, x, wants, streams.at(0))
    assert feedback is gap and feedback.dtype == F64
    return feedback.numpy()


def lines():
    """Return all lines of all evaluation files."""
    return [
        json.loads(line)
        for file in sorted(evaluations.folder().glob("*.jsonl"))
        for line in file.read_text().splitlines()
    ]


# ---- the map of [0, 10]^d ---------------------------------------------------------------------------------


def test_points_of_the_forest():
    at = lambda *v: tuple(decode("forest", v).values())
    assert at(*[0] * 7) == (20, "gini", 1, 2, 1, "sqrt", True)
    assert at(*[10] * 7) == (200, "log_loss", 10, 10, 10, "log2", False)
    assert at(*[5] * 7) == (110, "entropy", 6, 6, 6, "log2", False)
    assert at(*[3.34] * 5, 5, 5) == (80, "entropy", 4, 5, 4, "log2", False)
    assert list(decode("forest", [0] * 7)) == [
        "n_estimators",
        "criterion",
        "max_depth",
        "min_samples_split",
        "min_samples_leaf",
        "max_features",
        "bootstrap",
    ]


def test_points_of_the_perceptron():
    low, middle, high = (decode("perceptron", [v] * 8) for v in (0, 5, 10))
    assert middle["alpha"] == middle["learning_rate_init"] == pytest.approx(0.0050005, rel=1e-12)
    assert middle["max_iter"] == 200 and middle["activation"] == "tanh"
    assert middle["n_iter_no_change"] == 6 and middle["beta_1"] == 0.5
    assert (low["alpha"], high["alpha"]) == (1e-6, 1e-2)
    assert (low["max_iter"], high["max_iter"]) == (100, 300)
    assert (low["beta_1"], high["beta_2"]) == (1e-6, 1 - 1e-6)
    assert (low["shuffle"], high["shuffle"]) == (True, False)


def test_points_of_boosting():
    low, high = (tuple(decode("boosting", [v] * 11).values()) for v in (0, 10))
    assert low == ("log_loss", 1e-6, 20, 1e-6, "friedman_mse", 2, 1, 0.0, 1, "sqrt", 2)
    assert high == (
        *("exponential", 1 - 1e-6, 200, 1 - 1e-6, "squared_error"),
        *(10, 10, 0.5, 10, "log2", 10),
    )


@pytest.mark.parametrize("classifier", DIMS)
def test_all_values_have_equal_parts(classifier):
    """Among 4200 evenly spaced points, each option and each integer gets an equal part, whatever their number."""
    grid = (np.arange(4200) + 0.5) / 420
    found = [decode(classifier, [v] * DIMS[classifier]) for v in grid]
    for name, space in SPACES[classifier].items():
        values, counts = np.unique([str(x[name]) for x in found], return_counts=True)
        if not isinstance(space, tuning.Interval):
            uneven = 4200 % len(space) > 0
            assert len(values) == len(space) and np.ptp(counts) <= uneven, name
        else:
            assert len(values) == 4200, name


def test_parameters_are_plain_and_points_clipped():
    x = torch.rand(11, dtype=F64) * 10
    for given in (x, x.numpy(), x.tolist()):
        found = decode("boosting", given)
        assert {type(value) for value in found.values()} == {str, int, float}
        assert json.loads(json.dumps(found)) == found == decode("boosting", x.tolist())
    assert decode("forest", [-1e-9] * 7) == decode("forest", [0] * 7)
    assert decode("forest", [10 + 1e-9] * 7) == decode("forest", [10] * 7)


@pytest.mark.parametrize("dim", [6, 8])
def test_a_point_of_another_dimension_is_refused(dim):
    with pytest.raises(ValueError, match="zip"):
        decode("forest", [0.0] * dim)


# ---- tables -----------------------------------------------------------------------------------------------


@at_hand(*tuning.FETCHED)
@pytest.mark.parametrize(
    "name, shape, positive, total, sha",
    [
        (
            "breast_cancer",
            (683, 9),
            239,
            19353,
            "9f19b73f0593d7af3342d0ced130083f7ea98a0dcddbeb4718e6e1ba90ff4dcd",
        ),
        (
            "australian",
            (690, 14),
            307,
            870226.73,
            "5d84fdcfa6243588e4dfef6033414701d48242728abc068aefdc7fde7449afb2",
        ),
        (
            "pima",
            (768, 8),
            268,
            276392.701,
            "3fbcbac22879e7ae6e23cd74a67aec82ce42ef29f5568b05ff1b3cd0a3cd0b64",
        ),
    ],
)
def test_tables(name, shape, positive, total, sha):
    features, target = table(name)
    assert features.shape == shape and set(target) == {0, 1} and target.sum() == positive
    assert features.sum() == pytest.approx(total, abs=1e-6)
    rows = sorted(
        ",".join(f"{x:.10g}" for x in (*row, y)) + "\n" for row, y in zip(features, target)
    )
    assert hashlib.sha256("".join(rows).encode()).hexdigest() == sha
    problem = Tuning(name)
    assert problem.data_checksum == datasets.checksum(name) in str(describe(problem))
    with pytest.raises(ValueError, match="read-only"):
        features[0, 0] = 0


@at_hand("wdbc")
def test_the_bundled_table_is_the_registrys():
    features, target, _ = datasets.load("wdbc")
    assert np.array_equal(table("wdbc")[0], features) and np.array_equal(table("wdbc")[1], target)
    assert Tuning().data_checksum is None


def test_a_missing_table_raises_an_error_that_explains_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setenv("PAPERLIB_DATA", str(tmp_path))
    monkeypatch.setattr(datasets, "cache_folder", lambda: tmp_path)
    monkeypatch.setitem(datasets.REGISTRY, "pima", replace(datasets.REGISTRY["pima"], urls=()))
    table.cache_clear()
    with pytest.raises(FileNotFoundError, match="How to get it"):
        respond(Tuning("pima"), [[5.0] * 7])
    problems, _ = choose(["diabetes.forest"], "real")
    with pytest.raises(FileNotFoundError, match="How to get it"):
        respond(problems["diabetes.forest"], [[5.0] * 7])


# ---- accuracies -------------------------------------------------------------------------------------------


@at_hand("pima")
@pytest.mark.skipif(metadata.version("scikit-learn") != "1.9.1", reason="digits are of 1.9.1")
@pytest.mark.parametrize(
    "classifier, expected",
    [
        ("forest", [0.746753, 0.740260, 0.766234, 0.758170, 0.751634]),
        ("boosting", [0.740260, 0.727273, 0.759740, 0.758170, 0.692810]),
    ],
)
def test_accuracies_of_pima(classifier, expected):
    found = respond(Tuning("pima", classifier), [[5.0] * DIMS[classifier]] * 5)
    assert found == pytest.approx(expected, abs=1e-6)


def test_an_accuracy_is_a_fraction_of_the_fold():
    """The accuracy agrees with a direct computation with scikit-learn."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import StratifiedKFold

    v = [0.0, 9.0, 2.0, 3.0, 4.0, 9.0, 0.0]
    features, target = table("wdbc")
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(features, target))
    train, test = folds[2]
    model = RandomForestClassifier(**decode("forest", v), random_state=0)
    model.fit(features[train], target[train])
    by_hand = np.mean(model.predict(features[test]) == target[test])
    assert respond(Tuning(), [v], seed=2) == by_hand


def test_another_split_has_other_folds():
    v = [5.0] * 11
    first, second = (respond(Tuning("wdbc", "boosting", split=n), [v] * 5) for n in (0, 1))
    features, target = table("wdbc")
    fit = lambda fold: classifiers.accuracy(
        decode("boosting", v), features, target, "boosting", fold, split=1
    )
    assert second.tolist() == [fit(fold) for fold in range(5)] != first.tolist()


def test_scaled_features():
    from sklearn.model_selection import StratifiedKFold
    from sklearn.neural_network import MLPClassifier

    v = [9.0, 5.0, 5.0, 0.0, 0.0, 9.0, 9.9, 9.0]
    features, target = table("wdbc")
    train, test = next(StratifiedKFold(5, shuffle=True, random_state=0).split(features, target))
    x = (features - features[train].mean(0)) / features[train].std(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MLPClassifier(**decode("perceptron", v), random_state=0)
        model.fit(x[train], target[train])
    raw, scaled = (respond(Tuning("wdbc", "perceptron", scale=s), [v]) for s in (False, True))
    assert scaled == np.mean(model.predict(x[test]) == target[test]) != raw


def test_nothing_warns_and_the_inert_parameter_is_inert(recwarn):
    v = [5.0] * 4 + [0.0] + [5.0] * 6
    assert decode("boosting", v)["criterion"] == "friedman_mse"
    found = respond(Tuning("wdbc", "boosting"), [v, [5.0] * 11], seed=0)[:1]
    other = respond(Tuning("wdbc", "boosting"), [[5.0] * 11])
    respond(Tuning("wdbc", "perceptron"), [[5.0] * 8])  # this fit does not converge
    assert found == other
    assert not [str(w.message) for w in recwarn]


def test_an_older_scikit_learn_is_given_the_criterion(monkeypatch):
    """An invalid criterion reaches an older scikit-learn, which raises an error. The current one never receives it."""
    features, target = table("wdbc")
    parameters = {**decode("boosting", [0.0] * 11), "criterion": "no such"}
    fit = lambda: classifiers.accuracy(parameters, features, target, "boosting", 0)
    assert 0 < fit() <= 1
    monkeypatch.setattr(classifiers.metadata, "version", lambda package: "1.8.2")
    with pytest.raises(ValueError, match="criterion"):
        fit()


def test_points_of_one_decoding_are_fitted_once():
    problem, a, b = Tuning(), [3.34] * 5 + [5, 5], [3.35] * 5 + [9, 9]
    assert decode("forest", a) == decode("forest", b)
    first, second = respond(problem, [a]), respond(problem, [b])
    assert first == second and len(lines()) == 1
    assert respond(problem, [a, a, a, a, a, b])[5] == first[0] and len(lines()) == 5


def test_a_trial_has_the_same_fold_alone_and_in_a_batch():
    x = [[2.0] * 11] * 7
    problem = Tuning("wdbc", "boosting", folds=3)
    found = respond(problem, x)
    assert np.array_equal(found[:3], found[3:6]) and len(set(found[:3])) > 1
    assert [respond(problem, x[:1], seed=i)[0] for i in range(7)] == found.tolist()
    instance = problem.init(4, 1, Streams(10, range(4)).at(-1), dtype=F64)
    assert instance.fold.tolist() == [1, 2, 0, 1] and instance.fold.dtype == torch.int64
    assert [file.path.name for file in instance.files] == [
        f"wdbc-boosting-{k}.jsonl" for k in range(3)
    ]


@pytest.mark.slow
def test_the_number_of_processes_changes_nothing(monkeypatch, tmp_path):
    for classifier, dim in DIMS.items():
        x = np.random.default_rng(0).uniform(0, 10, (4, dim))
        found = []
        for count in ("1", "2"):
            monkeypatch.setenv("OMP_NUM_THREADS", count)
            monkeypatch.setenv("PAPERLIB_RESULTS", str(tmp_path / count))
            found.append(respond(Tuning("wdbc", classifier), x).tolist())
        assert found[0] == found[1]


def test_failed_fits_count_as_0_and_are_named(monkeypatch):
    bad = lambda classifier, v: {"n_estimators": 20, "max_depth": -1 if v[0] < 5 else 1}
    monkeypatch.setattr(tuning, "decode", bad)
    problem = Tuning(folds=2)
    found = respond(problem, [[0.0] * 7, [9.0] * 7])
    assert found[0] == 0 and found[1] > 0.5
    (said,) = failures(problem)
    assert said.startswith("fold 0, {'max_depth': -1, 'n_estimators': 20}: InvalidParameterError")


@pytest.mark.parametrize(
    "field, value",
    [
        ("data", "diabetes"),
        ("data", None),
        ("classifier", "tree"),
        ("classifier", None),
        ("folds", 1),
        ("folds", 5.0),
        ("scale", 1),
        ("scale", None),
    ],
)
def test_fields_out_of_range_are_refused(field, value):
    with pytest.raises(ValueError, match=f"^{field} must .*, got "):
        Tuning(**{field: value})


def test_learners_that_want_losses_are_refused():
    with pytest.raises(ValueError, match="wants must be 'reward', got 'loss'"):
        respond(Tuning(), [[5.0] * 7], wants="loss")


# ---- versions ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("changed", ["scikit-learn", "numpy", "code"])
def test_another_version_is_fitted_again(monkeypatch, changed):
    x = [[0.0] * 11]
    respond(Tuning("wdbc", "boosting"), x)
    now = classifiers.versions()
    monkeypatch.setattr(tuning, "versions", lambda: {**now, changed: "another"})
    respond(Tuning("wdbc", "boosting"), x)
    respond(Tuning("wdbc", "boosting"), x)
    assert len(lines()) == 2 and {line["about"]["versions"][changed] for line in lines()} == {
        now[changed],
        "another",
    }


def test_a_version_depends_on_the_code_without_its_text(monkeypatch):
    text = classifiers.inspect.getsource(classifiers.accuracy)
    now = classifiers.versions()
    for old, new, same in [
        ("Return the fraction", "Return the part", True),
        ("    model = classes", "    # a word\n    model = classes", True),
        ("random_state=0)\n    if", "random_state=1)\n    if", False),
        ("folds: int = 5", "folds: int = 6", False),
    ]:
        assert old in text
        edited = lambda function: text.replace(old, new)
        monkeypatch.setattr(classifiers.inspect, "getsource", edited)
        assert (classifiers.versions() == now) == same


def test_other_data_are_fitted_again(monkeypatch):
    x = [[0.0] * 11]
    respond(Tuning("wdbc", "boosting"), x)
    features, target = table("wdbc")
    monkeypatch.setattr(tuning, "table", lambda name: (features, 1 - target))
    respond(Tuning("wdbc", "boosting"), x)
    assert len({line["about"]["data"] for line in lines()}) == len(lines()) == 2


@pytest.mark.parametrize(
    "part, upgrade",
    [
        (Tuning(), "sklearn"),
        (GP(3, "modern", "EI"), "botorch"),
        (GP(3, "modern", "EI"), "gpytorch"),
        (MAPSAAS(3), "botorch"),
        (Optuna(3), "optuna"),
        (ScikitOptimize(3), "skopt"),
    ],
)
def test_keys_of_results_hold_the_version(monkeypatch, part, upgrade):
    config = {"part": part}
    first = keys.content_key(config).digest()
    assert keys.content_key(config).digest() == first
    found = keys.version
    upgraded = lambda package: "99.0" if package == upgrade else found(package)
    monkeypatch.setattr(keys, "version", upgraded)
    assert keys.content_key(config).digest() != first


# ---- runs -------------------------------------------------------------------------------------------------


def test_fits_take_most_of_the_time_of_respond():
    """In a batch of fits, at most a tenth of the time is spent on decoding, the log and the workers."""
    problem, points = Tuning("wdbc", "boosting"), np.random.default_rng(0).random((10, 11)) * 10
    respond(problem, points[:1].tolist())  # the first call also imports modules
    begun = time.perf_counter()
    respond(problem, points.tolist())
    spent = time.perf_counter() - begun
    entries = [entry for file in problem.files() for entry in loaded(file)]
    assert spent < 1.1 * sum(entry.seconds for entry in entries) + 0.05


def loaded(file):
    file.load()
    return file.entries()


def test_a_second_run_fits_nothing(monkeypatch):
    best = {"best": Probe(lambda seen: seen.feedback, "max")}
    run = lambda: play(LEARNER, **SMALL, trials=2, probes=best, record="all")
    trace = run()
    accuracy = np.diff(trace["regret"], axis=1, prepend=0)
    assert trace["best"] == pytest.approx(np.maximum.accumulate(accuracy, 1), abs=1e-12)
    assert ((accuracy > 0.3) & (accuracy <= 1)).all()
    monkeypatch.setattr(evaluations, "_evaluated", None)
    again = run()
    assert np.array_equal(again["regret"], trace["regret"])


@pytest.mark.slow
def test_a_killed_run_ends_in_the_same_numbers(monkeypatch, tmp_path):
    run = lambda: store.run(SMALL["problem"], {"": LEARNER}, SMALL["horizon"], 2, record="all")[""]
    whole = run()
    everything = len(lines())
    monkeypatch.setenv("PAPERLIB_RESULTS", str(tmp_path / "killed"))
    folders = [str(TESTS), str(TESTS.parent), str(TESTS.parents[1])]
    code = (
        f"import sys; sys.path[:0] = {folders!r}; from test_goucb_tuning import *; "
        "store.run(SMALL['problem'], {'': LEARNER}, SMALL['horizon'], 2, record='all')"
    )
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    process = subprocess.Popen(
        [sys.executable, "-c", code], env=environment, start_new_session=True
    )
    deadline = time.monotonic() + 120
    while sum(file.stat().st_size > 0 for file in evaluations.folder().glob("*")) < 2:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not list(store.results_dir().glob("*.npz"))
    logged = [json.dumps(line["parameters"]) for line in lines()]
    assert 2 <= len(logged) < everything
    assert np.array_equal(run()["regret"], whole["regret"])
    after = [json.dumps(line["parameters"]) for line in lines()]
    assert all(after.count(x) == logged.count(x) for x in logged)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # the workers still wait for tasks


# ---- which data -------------------------------------------------------------------------------------------


def test_a_note_states_that_data_are_bundled():
    problems, notes = choose(["breast.forest", "diabetes.boosting"], "bundled", folds=2)
    assert problems == {
        "breast.forest": Tuning("wdbc", "forest", 2),
        "diabetes.boosting": Tuning("wdbc", "boosting", 2),
    }
    assert notes == {
        "breast.forest": "on wdbc, which scikit-learn ships, not on breast_cancer",
        "diabetes.boosting": "on wdbc, which scikit-learn ships, not on pima",
    }


def test_the_papers_tables_have_no_note():
    problems, notes = choose(["breast.perceptron", "australian.forest"], "real", split=1)
    assert problems == {
        "breast.perceptron": Tuning("breast_cancer", "perceptron", split=1),
        "australian.forest": Tuning("australian", "forest", split=1),
    }
    assert notes == {}


@pytest.mark.parametrize(
    "tasks, data, said",
    [
        (
            ["breast.forest"],
            "synthetic",
            "data must be one of 'bundled', 'real', got 'synthetic'",
        ),
        (
            ["wdbc.forest"],
            "bundled",
            "data set of a task must be one of 'breast', 'australian', 'diabetes', got 'wdbc'",
        ),
        (
            ["breast.tree"],
            "bundled",
            "classifier must be one of 'forest', 'perceptron', 'boosting', got 'tree'",
        ),
    ],
)
def test_other_values_are_refused(tasks, data, said):
    with pytest.raises(ValueError, match=said):
        choose(tasks, data)


def test_tasks_and_tables_agree():
    assert set(figures.DATA.values()) == set(tuning.FETCHED)
    assert {name: len(space) for name, space in SPACES.items()} == DIMS


@pytest.mark.slow
def test_importing_leaves_slow_packages_out():
    code = (
        "import sys, paperlib.goucb, companion.goucb.problems.tuning, companion.datasets.evaluations; "
        "print({'sklearn', 'joblib', 'botorch', 'gpytorch'} & {*sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=TESTS.parents[1], capture_output=True, text=True
    )
    assert done.stdout == "set()\n", done.stderr
