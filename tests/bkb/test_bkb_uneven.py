"""Arms of unequal size, and the dictionaries that the lemmas take from a run."""

from dataclasses import replace

import pytest
import torch

from companion.bkb.proofs.sketch_lemmas import Snapshot, sketched_posterior, snapshots
from paperlib.bkb import BKB, Confidence, Scripted, UniformArm
from paperlib.bkb.learners.posterior import nystrom_posterior
from paperlib.bkb.probes import SHOT, sketch_probes
from paperlib.bkb.problems import SizedRBF, UnevenArms
from paperlib.bkb.theory.bounds import theorem_3_1_accuracy
from paperlib.bkb.theory.constants import qbar_theory
from paperlib.core.rounds import Probe
from paperlib.core.streams import Streams
from paperlib.maths.gp import RBF, check_kernel
from paperlib.play import play


def test_the_kernel_has_scaled_features():
    points = UnevenArms(arms=20).init(1, 1, Streams(0, [0]).at(-1), dtype=torch.float64).arms
    size = points[..., 2]
    assert bool(((size >= 0.05) & (size <= 1)).all())
    kernel = SizedRBF(30.0)
    expected = RBF(30.0)(points[..., :2], points[..., :2]) * size.unsqueeze(2) * size.unsqueeze(1)
    torch.testing.assert_close(kernel(points, points), expected)
    torch.testing.assert_close(kernel.diag(points), size**2)
    check_kernel(kernel, points)
    with pytest.raises(
        ValueError, match=r"gamma must be a positive number from 1e-30 to 1e\+30, got 0.0"
    ):
        SizedRBF(0.0)


def test_arms_are_shared_and_rewards_are_noise():
    problem, draws = UnevenArms(arms=10, noise=0.5), Streams(3, range(4))
    instance = problem.init(4, 5, draws.at(-1), dtype=torch.float64)
    assert instance.arms.shape == (1, 10, 3)
    reward, gap = problem.respond(instance, 0, torch.tensor([0, 3, 5, 9]), "reward", draws.at(0))
    torch.testing.assert_close(reward, 0.5 * draws.at(0).normal("noise"))
    assert not gap.any()


def recorded(qbar, rounds=40, trials=3):
    problem = UnevenArms(arms=30)
    learner = Scripted(
        BKB(problem.kernel, Confidence(1.0, 1.0, ridge=1.0), qbar), UniformArm(), rounds
    )
    trace = play(
        learner,
        problem,
        rounds,
        trials,
        probes={name: Probe(of, "final") for name, of in SHOT.items()},
    )
    arms = problem.init(1, 1, Streams(0, [0]).at(-1), dtype=torch.float64).arms
    return trace, snapshots(trace, problem.kernel, arms, 1.0, qbar)


def test_multiplicities_agree_with_the_dictionary():
    trace, shots = recorded(20.0)
    for shot in shots:
        assert (
            torch.equal(shot.kept > 0, shot.mask)
            and bool((shot.kept <= shot.n).all())
            and int(shot.n.sum()) == 40
        )
        assert bool((shot.kept == shot.kept.round()).all()) and bool(
            ((0 <= shot.probability) & (shot.probability <= 1)).all()
        )
    # At least one pull must be left out, because the check would otherwise be vacuous.
    assert any(bool(((shot.n > 0) & ~shot.mask).any()) for shot in shots)
    again = recorded(20.0)[1]
    assert all(torch.equal(a.kept, b.kept) for a, b in zip(shots, again))


def test_with_everything_kept_the_accuracy_is_perfect():
    _, shots = recorded(1e9)
    for shot in shots:
        assert torch.equal(shot.kept, shot.n) and shot.accuracy == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("variance, verdict", [("dtc", "holds"), ("sor", "fails")])
def test_theorem_3_1_is_tested_in_rounds_that_leave_pulls_out(variance, verdict):
    """With lambda = 10 and the theory's qbar most rounds leave a pulled arm out; a starved variance is flagged."""
    rounds, problem, radius = 40, UnevenArms(arms=40), Confidence(1.0, 1.0, ridge=10.0)
    qbar = qbar_theory(rounds, radius.delta, radius.eps)
    learner = BKB(problem.kernel, radius, qbar, variance=variance)
    pairs = sketch_probes(problem.kernel, radius, qbar)
    probes = {name: Probe(*pairs[name]) for name in ("ratio", "left out")}
    dictated = Scripted(learner, UniformArm(), rounds)
    trace = play(dictated, problem, rounds, 40, record="all", probes=probes)
    arms = problem.init(1, 1, Streams(0, [0]).at(-1), dtype=torch.float64).arms
    check = theorem_3_1_accuracy(trace, radius, qbar, problem.kernel.diag(arms))
    assert check.inputs["rounds with pulls left out"] > 0.5 * 40 * rounds
    assert check.remark == "" and check.verdict == verdict


def test_a_failed_tolerance_was_the_jitter():
    """Close arms make K_SS nearly singular: the jitter adds no fixed fraction of the variance, but its effect is computed."""
    side = torch.linspace(0, 0.5, 12, dtype=torch.float64)
    points = torch.stack([side, torch.full_like(side, 0.4)], 1)
    arms = torch.cat([points, torch.linspace(0.2, 1.0, 12, dtype=torch.float64)[:, None]], 1)
    n, mask = torch.ones(12, dtype=torch.float64), torch.arange(12) % 3 != 1
    kernel, ridge = SizedRBF(3.0), 1e-5
    found = nystrom_posterior(arms, kernel, mask, n, n, ridge, root="cholesky")
    shot = Snapshot(kernel, arms, n, mask, ridge, found.s2[0])
    check = sketched_posterior(shot)
    off = float(((shot.s2 - shot.sketched_s2) / shot.sketched_s2).abs().max())
    assert check.verdict == "holds" and off > 1e-6
    assert check.inputs["jitter adds at most"] == pytest.approx(off, rel=0.05)
    assert sketched_posterior(replace(shot, s2=(1 + 5 * off) * shot.s2)).verdict == "fails"


def test_no_arms_are_refused():
    with pytest.raises(ValueError, match="arms must be an integer from 1 to 16777216, got 0"):
        UnevenArms(arms=0)
