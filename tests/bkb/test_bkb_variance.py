"""The estimators of Figure 2 compared with a dense NumPy reference, and their measures with recorded curves and values by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from companion.bkb.experiments.variance import (
    FLOOR,
    curves,
    estimators,
    greatest_coverage,
    lost_coverage,
    measures,
    worst_excess,
    worst_ratio,
)
from paperlib.bkb import BKB, RFFUCB, Confidence, GPDraw, Scripted
from paperlib.bkb.probes import Estimate, dictionary_size
from paperlib.core.rounds import played_action
from paperlib.learners.reference import UniformArm
from paperlib.play import play

PROBLEM, ROUNDS, TRIALS, RECORD = GPDraw(arms=41, gamma=200.0, noise=0.2), 40, 3, [1, 8, 40]
CONFIDENCE = Confidence(PROBLEM.noise, 1.0)
ESTIMATORS = estimators(PROBLEM.kernel, CONFIDENCE)
MEASURES = measures(PROBLEM.kernel, CONFIDENCE)
CURVES = curves(PROBLEM.kernel, CONFIDENCE)


def dictated(base, rounds=ROUNDS):
    return Scripted(base, UniformArm(PROBLEM.left), rounds)


def bkb(qbar=1.0):
    return dictated(BKB(PROBLEM.kernel, CONFIDENCE, qbar=qbar))


@pytest.fixture(scope="module")
def trace():
    """Return a run whose dictionary misses many directions, with everything recorded."""
    probes = CURVES | {"measures": MEASURES, "size": dictionary_size}
    return play(bkb(), PROBLEM, ROUNDS, TRIALS, 3, record=RECORD, probes=probes)


@pytest.fixture(scope="module")
def history():
    """Return arms and rewards of all rounds of the same run."""
    return play(
        bkb(),
        PROBLEM,
        ROUNDS,
        TRIALS,
        3,
        record="all",
        probes={"arm": played_action, "reward": lambda seen: seen.feedback},
    )


def dense(x, index, y, members, lam):
    """Return means and variances of f from the single observations: exact, subset of regressors, and BKB."""
    k = lambda a, b: np.exp(-PROBLEM.gamma * (a[:, None] - b) ** 2)
    posterior = lambda K: (
        K[:, index] @ np.linalg.solve(K[np.ix_(index, index)] + lam * np.eye(len(index)), y),
        np.diag(K)
        - np.einsum(
            "it,ti->i",
            K[:, index],
            np.linalg.solve(K[np.ix_(index, index)] + lam * np.eye(len(index)), K[index]),
        ),
    )
    K, S = k(x, x), x[members]
    Q = k(x, S) @ np.linalg.pinv(k(S, S), rcond=1e-13, hermitian=True) @ k(S, x)
    mean, sor = posterior(Q)
    return {"exact": posterior(K), "sor": (mean, sor), "own": (mean, sor + np.diag(K) - np.diag(Q))}


@pytest.mark.parametrize("i", range(len(RECORD)))
def test_curves_agree_with_a_dense_reference(trace, history, i):
    for trial in range(TRIALS):
        index, y = (
            history["arm"][trial, : RECORD[i]].astype(int),
            history["reward"][trial, : RECORD[i]],
        )
        x, members = trace["x"][trial, i], trace["dictionary"][trial, i] > 0
        for kind, (mean, variance) in dense(x, index, y, members, CONFIDENCE.lam).items():
            np.testing.assert_allclose(
                trace[f"{kind} mean"][trial, i], mean, rtol=0, atol=1e-5, err_msg=kind
            )
            np.testing.assert_allclose(
                trace[f"{kind} sd"][trial, i] ** 2, variance, rtol=1e-4, atol=1e-8, err_msg=kind
            )
        heard = np.array(
            [y[index == a].mean() if (index == a).any() else np.nan for a in range(len(x))]
        )
        np.testing.assert_allclose(trace["evaluations"][trial, i], heard)
        assert (
            set(np.flatnonzero(members)) <= set(index) and members.sum() == trace["size"][trial, i]
        )
    assert (trace["x"] == np.arange(41) / 40).all() and (index < PROBLEM.left).all()
    assert trace["size"][:, -1].max() < 15  # the dictionary no longer holds all evaluated arms


def test_measures_agree_with_the_curves(trace):
    found, right = MEASURES.read(trace), trace["x"][0, 0] >= 0.65
    assert list(found) == MEASURES.names and all(
        v.shape == (TRIALS, len(RECORD)) for v in found.values()
    )
    for kind in ESTIMATORS:
        mean, sd = trace[f"{kind} mean"], trace[f"{kind} sd"]
        ratio = (sd / trace["exact sd"]) ** 2
        expected = {
            "coverage": (abs(trace["f"] - mean) <= 3 * sd).mean(2),
            "sd": sd[..., right].mean(2),
            "lowest": ratio[..., right].min(2),
            "least": ratio.min(2),
            "most": ratio.max(2),
        }
        for name, value in expected.items():
            np.testing.assert_allclose(
                found[f"{kind} {name}"], value, rtol=1e-10, err_msg=f"{kind} {name}"
            )
    assert (
        found["own most"][:, -1] > 1.05
    ).any()  # the dictionary misses a direction, whose variance is therefore inflated
    assert (found["sor lowest"] < 1e-3).all() and (found["own lowest"] > 0.9).all()


def test_the_effective_dimension_is_the_trace(trace, history):
    x = np.arange(41) / 40
    for i, t in enumerate(RECORD):
        for trial in range(TRIALS):
            at = x[history["arm"][trial, :t].astype(int)]
            K = np.exp(-PROBLEM.gamma * (at[:, None] - at) ** 2)
            expected = np.trace(K @ np.linalg.inv(K + CONFIDENCE.lam * np.eye(t)))
            assert MEASURES.read(trace)["effective dimension"][trial, i] == pytest.approx(
                expected, rel=1e-9
            )


def test_one_evaluation_by_hand(trace, history):
    """With S = {x_1}, the variance of SoR is k^2 lambda / (1 + lambda); the exact one and BKB's are 1 - k^2 / (1 + lambda)."""
    lam, x = CONFIDENCE.lam, np.arange(41) / 40
    for trial in range(TRIALS):
        k2 = np.exp(-2 * PROBLEM.gamma * (x - x[int(history["arm"][trial, 0])]) ** 2)
        np.testing.assert_allclose(trace["sor sd"][trial, 0] ** 2, k2 * lam / (1 + lam), rtol=1e-9)
        for kind in ("own", "exact"):
            np.testing.assert_allclose(
                trace[f"{kind} sd"][trial, 0] ** 2, 1 - k2 / (1 + lam), rtol=1e-9
            )


def test_the_drawn_panel_is_trial_0_of_the_batch(trace):
    alone = play(bkb(), PROBLEM, ROUNDS, 1, 3, record=RECORD, probes=CURVES)
    for name in CURVES:
        np.testing.assert_allclose(
            alone[name][0], trace[name][0], rtol=1e-5, atol=1e-7, err_msg=name
        )


def test_with_much_oversampling_bkb_is_exact():
    found = MEASURES.read(
        play(bkb(1e6), PROBLEM, ROUNDS, TRIALS, 3, record=RECORD, probes={"measures": MEASURES})
    )
    assert worst_ratio(found).max() < 1 + 1e-6
    np.testing.assert_array_equal(found["own coverage"], found["exact coverage"])
    assert worst_ratio(found, "sor").min() > 1e3


def test_features_have_separate_measures():
    alone = measures(PROBLEM.kernel, CONFIDENCE, ("own",))
    learner = dictated(RFFUCB(PROBLEM.kernel, CONFIDENCE, 6))
    found = alone.read(
        play(learner, PROBLEM, ROUNDS, 30, 3, record=RECORD, probes={"measures": alone})
    )
    assert list(found) == [
        "own coverage",
        "own sd",
        "own lowest",
        "own least",
        "own most",
        "effective dimension",
    ]
    assert (
        found["own sd"][:, -1] < found["own sd"][:, 0]
    ).all()  # variance starvation as the number of evaluations grows
    assert found["own coverage"][:, -1].mean() < found["own coverage"][:, 0].mean()


def test_a_variance_that_is_wrong_shows():
    seen = []
    play(
        bkb(1e6),
        PROBLEM,
        ROUNDS,
        TRIALS,
        3,
        record=[ROUNDS],
        probes={"": lambda now: seen.append(now) or now.action},
    )
    state = seen[-1].after.base
    for factor in (9.0, 1e-4):
        broken = seen[-1]._replace(after=state._replace(s2=factor * state.s2))
        found = dict(zip(MEASURES.names, MEASURES(broken).T))
        for name in ("own lowest", "own least", "own most"):
            np.testing.assert_allclose(found[name], factor, rtol=1e-5)
        np.testing.assert_allclose(
            worst_ratio({k: v.numpy() for k, v in found.items()}),
            max(factor, 1 / factor),
            rtol=1e-5,
        )
        assert (
            (found["own coverage"] < 0.5).all()
            if factor < 1
            else (found["own coverage"] >= found["exact coverage"]).all()
        )
    lost = seen[-1]._replace(after=state._replace(s2=0 * state.s2))
    assert (worst_ratio(dict(zip(MEASURES.names, MEASURES(lost).T.numpy()))) == math.inf).all()


def test_a_band_covers_up_to_its_edge():
    band = Estimate(torch.tensor([[0.0, 1.0, 1.0]]), torch.tensor([[1.0, 0.5, 0.0]]))
    assert band.covers(torch.tensor([[3.0, 2.75, 1.0]])).tolist() == [[True, False, True]]


def test_values_equal_up_to_rounding_are_at_the_floor():
    """Two processors whose results differ in the last bits give the same panel."""
    one = {"own most": np.array([[1 + 2e-10, 1.5]]), "own least": np.array([[1.0, 0.9]])}
    two = {"own most": np.array([[1 + 9e-8, 1.5]]), "own least": np.array([[1 - 3e-9, 0.9]])}
    assert (worst_excess(one) == worst_excess(two)).all()
    assert worst_excess(one).tolist() == [[FLOOR, 0.5]]


def test_statistics_of_the_coverage():
    coverage = np.array([[0.9, 0.5, 0.6], [0.7, 0.3, 0.2]])
    assert greatest_coverage(coverage, [6, 63, 215]).estimate == pytest.approx(0.8)
    assert lost_coverage(coverage).estimate == pytest.approx(0.4)


def test_measures_list_names_for_the_requested_estimators():
    assert len(MEASURES.names) == 5 * len(ESTIMATORS) + 1 == len(set(MEASURES.names))
    assert measures(PROBLEM.kernel, CONFIDENCE, ("sor",)).names[0] == "sor coverage"


def test_beyond_sets_where_starvation_is_measured(trace):
    everywhere = replace(MEASURES, beyond=0.0)
    again = everywhere.read(
        play(bkb(), PROBLEM, ROUNDS, TRIALS, 3, record=RECORD, probes={"measures": everywhere})
    )
    np.testing.assert_allclose(again["sor sd"], trace["sor sd"].mean(2))
    np.testing.assert_array_equal(again["own lowest"], again["own least"])
