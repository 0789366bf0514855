"""Tests of matrix completion: the expected loss, the bounds, and final points that the geometry of the set determines."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from pfbco_runs import gradient_at, loss_at

from paperlib.core.rounds import Probe
from paperlib.core.streams import Streams
from paperlib.core.trees import tree_take
from paperlib.learners.wrapper import Doubling
from paperlib.maths.matrices import smat, svec
from paperlib.pfbco.learners.fkm import FKM
from paperlib.pfbco.learners.ocg import StochOCG
from paperlib.pfbco.learners.pfbco import PFBCO
from paperlib.pfbco.problems import completion
from paperlib.pfbco.problems.completion import MatrixCompletion
from paperlib.play import play

TKWARGS = {"dtype": torch.float64, "device": "cpu"}
SMALL = MatrixCompletion(5, 3)
MODES = [MatrixCompletion(mode=mode) for mode in ("paper_lmo", "nuclear", "psd")]


def instance_of(problem, trials=4, horizon=10, seed=0):
    return problem.init(trials, horizon, Streams(seed, range(trials)).at(-1), **TKWARGS)


def coordinates(instance, X):
    """Return the coordinates y of a symmetric matrix, or of one matrix per trial."""
    cset, p = instance.task.cset, X.shape[-1]
    middle = cset.to_native(torch.zeros(1, cset.dim, **TKWARGS))
    return ((svec(X.reshape(-1, p, p)) - middle) / cset.rho).expand(len(instance.streams.seeds), -1)


def points(cset, trials, seed=0):
    """Return vertices and points between them."""
    generator = torch.Generator().manual_seed(seed)
    c, weight = (
        torch.randn(2, trials, cset.dim, generator=generator, **TKWARGS),
        torch.rand(trials, 1, generator=generator, **TKWARGS),
    )
    v, w = cset._replace(exact=True).lmo(c[0]), cset._replace(exact=True).lmo(c[1])
    return [v, torch.lerp(v, w, weight)]


@pytest.mark.slow
@pytest.mark.parametrize("problem", MODES, ids=lambda problem: problem.mode)
def test_mean_losses_are_the_closed_form(problem):
    trials = 20_000
    instance = problem.init(trials, 1, Streams(0, range(trials)).at(-1), **TKWARGS)
    identity, corner = torch.eye(20, **TKWARGS), torch.zeros(20, 20, **TKWARGS)
    corner[0, 0] = 18.0
    for X, expected in ((0 * identity, 3510.0), (0.9 * identity, 3352.05), (corner, 3429.0)):
        assert expected == pytest.approx(
            ((X - 18 * identity).square().sum().item() + 18 * 20 * 21) / 4
        )
        loss = loss_at(problem, instance, 0, coordinates(instance, X))
        assert abs(loss.mean().item() - expected) < 4 * loss.std().item() / trials**0.5


@pytest.mark.parametrize("problem", [SMALL, MatrixCompletion()], ids=["p 5", "p 20"])
def test_half_of_the_entries_are_observed(problem):
    M, seen = problem.entries(Streams(0, range(400)).at(3))
    p = problem.p
    assert bool((seen.sum((1, 2)) == p**2 // 2).all()) and set(seen.unique().tolist()) == {0.0, 1.0}
    assert bool((torch.linalg.matrix_rank(M) == min(problem.k, p)).all())
    torch.testing.assert_close(M, M.mT)
    share = (p**2 // 2) / p**2
    # All entries are observed equally often.
    assert (seen.mean(0) - share).abs().max() < 5 * (share * (1 - share) / 400) ** 0.5
    assert not seen.equal(seen.mT)


@pytest.mark.parametrize("mode", completion.MODES)
def test_losses_and_gradients_against_sums_over_entries(mode):
    problem = replace(SMALL, mode=mode)
    instance = instance_of(problem)
    y = points(instance.task.cset, 4)[1]
    M, seen = problem.entries(instance.streams.at(6))
    loss, gap = problem.respond(instance, 6, y, "loss", instance.streams.at(6))
    gradient, _ = problem.respond(instance, 6, y, "gradient", instance.streams.at(6))
    X = smat(instance.task.cset.to_native(y), 5)
    for row in range(4):
        plain = sum(
            (X[row, i, j] - M[row, i, j]).item() ** 2 / 2
            for i in range(5)
            for j in range(5)
            if seen[row, i, j]
        )
        assert loss[row].item() == pytest.approx(plain, rel=1e-12)
    assert loss.equal(gap)
    for k, h in enumerate(1e-5 * torch.eye(15, **TKWARGS)):
        slope = (loss_at(problem, instance, 6, y + h) - loss_at(problem, instance, 6, y - h)) / 2e-5
        torch.testing.assert_close(gradient[:, k], slope, rtol=1e-6, atol=1e-6)
    with pytest.raises(ValueError, match="wants must be one of 'loss', 'gradient', got 'reward'"):
        problem.respond(instance, 6, y, "reward", None)


@pytest.mark.parametrize("mode", completion.MODES)
def test_bounds_hold_at_every_round_and_are_no_larger_than_certified(mode):
    problem, T = replace(SMALL, mode=mode), 40
    instance = instance_of(problem, horizon=T)
    for t in range(T):
        for y in points(instance.task.cset, 4, seed=t):
            assert bool((loss_at(problem, instance, t, y) <= instance.task.loss_bound).all())
            assert bool(
                (
                    gradient_at(problem, instance, t, y).norm(dim=-1) <= instance.task.grad_bound
                ).all()
            )
    norms = [
        (M * seen).norm(dim=(1, 2))
        for M, seen in (problem.entries(instance.streams.at(t)) for t in range(T))
    ]
    reach = torch.stack(norms).amax(0) + 3
    torch.testing.assert_close(instance.task.loss_bound, reach**2 / 2)
    torch.testing.assert_close(instance.task.grad_bound, instance.task.cset.rho * reach)


def test_totals_add_up_the_losses():
    instance = instance_of(SMALL, horizon=30)
    W, S, constant, _ = instance.totals
    for y in points(instance.task.cset, 4):
        X = smat(instance.task.cset.to_native(y), 5)
        total = sum(loss_at(SMALL, instance, t, y) for t in range(30))
        torch.testing.assert_close((W * X * X / 2 - S * X).sum((1, 2)) + constant, total)
    assert W.equal(W.mT) and S.equal(S.mT)


def test_losses_are_added_up_once_per_run():
    first, before = instance_of(SMALL, horizon=12, seed=90), completion._totals.cache_info().misses
    # The losses do not depend on the mode, so both modes share the cached sums.
    again = instance_of(replace(SMALL, mode="psd"), horizon=12, seed=90)
    assert again.totals is first.totals and completion._totals.cache_info().misses == before
    for problem, horizon, seed in (
        (SMALL, 13, 90),
        (SMALL, 12, 91),
        (MatrixCompletion(5, 2), 12, 90),
    ):
        assert instance_of(problem, horizon=horizon, seed=seed).totals is not first.totals
    assert completion._totals.cache_info().misses == before + 3
    for seed in range(200, 200 + 2 * completion.KEPT):
        instance_of(SMALL, horizon=3, seed=seed)
    assert completion._totals.cache_info().currsize == completion.KEPT


def test_a_trial_has_the_same_losses_alone():
    batch, alone = instance_of(SMALL, 5, seed=20), instance_of(SMALL, 1, seed=23)
    torch.testing.assert_close(tree_take(batch, [3]).task.loss_bound, alone.task.loss_bound)
    y = points(alone.task.cset, 1)[1]
    torch.testing.assert_close(
        loss_at(SMALL, batch, 4, y.expand(5, -1))[3:4], loss_at(SMALL, alone, 4, y)
    )


def test_sizes_of_the_bounds():
    task = instance_of(MatrixCompletion(mode="nuclear"), 10, 1023).task
    assert task.loss_bound.mean().item() == pytest.approx(
        8650, abs=400
    ) and task.grad_bound.mean().item() == pytest.approx(530, abs=12)


@pytest.mark.parametrize("c", [0.1, 1.0])
def test_the_final_trace_does_not_depend_on_the_losses(c):
    """Every matrix of the printed oracle has trace k. Therefore the last epoch, from round 128, ends with trace k (1 - alpha)."""
    trace = {
        "trace": Probe(
            lambda seen: (
                smat(seen.context.cset.to_native(seen.after.base.x), 20)
                .diagonal(dim1=1, dim2=2)
                .sum(1)
            ),
            "final",
        )
    }
    for learner in (PFBCO(c), PFBCO(c, sham=True)):
        found = play(Doubling(learner), MatrixCompletion(), 254, 2, record=1, probes=trace)["trace"]
        np.testing.assert_allclose(found, 18 * (1 - c * 128**-0.2), atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("mode", completion.MODES)
def test_orders_of_the_final_losses(mode):
    """Compare average losses after 255 rounds, paired over trials; the tolerances are several standard errors wide."""
    T, problem = 255, MatrixCompletion(mode=mode)
    learners = {
        "PF": PFBCO(),
        "sham": PFBCO(sham=True),
        "Unregularized": PFBCO(regularized=False),
        "FKM": FKM(),
        "StochOCG": StochOCG(),
    }
    mean = {
        name: play(Doubling(learner), problem, T, 10, record=1)["regret"][:, -1] / T
        for name, learner in learners.items()
    }
    above = {name: (x - mean["PF"]).mean() for name, x in mean.items()}
    assert abs(above["sham"]) < 4  # PF does not learn from its feedback
    if mode == "paper_lmo":
        assert above["FKM"] > 80 and above["Unregularized"] > 20 and abs(above["StochOCG"]) < 15
    elif mode == "nuclear":
        assert -70 < above["StochOCG"] < -40 and above["Unregularized"] > above["FKM"]
    else:
        assert abs(above["FKM"]) < 10 and above["Unregularized"] > 20


@pytest.mark.parametrize("mode", ["nuclear", "psd"])
def test_points_of_the_oracle_are_on_the_set_to_all_digits(mode):
    cset = MatrixCompletion(mode=mode).cset(**TKWARGS)
    c = torch.randn(6, cset.dim, generator=torch.Generator().manual_seed(1), **TKWARGS)
    sizes = torch.linalg.eigvalsh(smat(cset.to_native(cset.lmo(c)), 20)).abs().sum(1)
    np.testing.assert_allclose(sizes, 18.0, rtol=1e-13)


@pytest.mark.parametrize(
    "field, value", [("p", 1), ("p", 2.5), ("k", 0), ("k", -1), ("mode", "trace")]
)
def test_completion_fields_out_of_range_are_refused(field, value):
    with pytest.raises(ValueError, match=f"^{field} must .*, got "):
        replace(SMALL, **{field: value})
