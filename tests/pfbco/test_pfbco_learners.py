"""Tests of the learners: NumPy references, a trajectory computed by hand, invariances, and properties of every round."""

import math
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
import torch
from example_sets import SETS, TKWARGS, TRIANGLE, l1_ball, packings
from pfbco_runs import KAPPA, Drawn, directions, leader, linear, run, task
from scipy.stats import ks_2samp

from companion.pfbco.problems.portfolio import Portfolio
from paperlib.asktell import AskTell
from paperlib.core.streams import Streams
from paperlib.core.trees import tree_take
from paperlib.pfbco import (
    FKM,
    PFBCO,
    Ball,
    BlockPFBCO,
    Doubling,
    MatrixCompletion,
    NuclearBall,
    RegularizedLeader,
    StochOCG,
    SubSimplex,
    Task,
    practical,
)
from paperlib.pfbco.learners.block import minimize
from paperlib.pfbco.model import LossMoments, step_size
from paperlib.play import play

COS = (1, 0, -1, 0)
close = lambda a, b, tolerance=1e-10: np.testing.assert_allclose(
    np.asarray(a), np.asarray(b), rtol=tolerance, atol=tolerance
)


# ---- a trajectory computed by hand -------------------------------------------------------------------------


def by_hand(learner):
    draws = [Drawn([[u, v]]) for u, v in zip(COS, (0, 1, 0, -1))]
    return run(learner, task(Ball.of(2)), lambda t, y: y[:, 0], 4, [0], draws=draws)


def test_the_trajectory_by_hand():
    """The setting is the ball of dimension 2 with f(y) = y_1, M = 1, T = 4, c = 0.5 and four directions along the axes."""
    played = by_hand(PFBCO(0.5))
    first = played.states[0]
    assert first.delta.item() == first.alpha.item() == pytest.approx(
        0.3789291416, abs=1e-10
    ) and first.eta.item() == pytest.approx(0.1166291239, abs=1e-10)
    close(
        played.centers()[:, 0],
        [(0, 0), (0, 0), (-0.4706836945, 0), (0.2328364052, 0), (-0.2576045293, 0)],
        1e-9,
    )
    close([x.item() for x in played.heard], [0.3789291416, 0, -0.8496128361, 0.2328364052], 1e-9)
    estimates = [(b.A - a.A)[0] / first.eta for a, b in pairwise(played.states)]
    close(torch.stack(estimates), [(2, 0), (0, 0), (4.4842834335, 0), (0, -1.2289179143)], 1e-9)
    gradients = [PFBCO().gradient(state)[0] for state in played.states[:4]]
    close(
        torch.stack(gradients),
        [(0, 0), (0.2332582479, 0), (-0.7081091411, 0), (1.2219291066, 0)],
        1e-9,
    )
    close([step_size(t) for t in (1, 2, 3, 4)], [1, 0.7578582833, 0.6443940150, 0.5743491775], 1e-9)
    assert sum(x.item() for x in played.heard) == pytest.approx(-0.2378472893, abs=1e-9)


def test_the_printed_rate_lacks_c():
    assert by_hand(PFBCO(0.5, eta_rule="paper")).states[0].eta.item() == pytest.approx(
        0.2332582479, abs=1e-10
    )
    a, b = (
        run(PFBCO(1.0, eta_rule=rule), task(SETS["packings"], 7.0), linear(4), 40).centers()
        for rule in ("paper", "corrected")
    )
    assert torch.equal(a, b)  # both rates are equal at c = 1


# ---- dense references --------------------------------------------------------------------------------------


class Shape(NamedTuple):
    """An independent NumPy version of one trial's set."""

    n: int
    D: float
    R: float
    lmo: object
    project: object  # (z, s) -> projection of z on s K


def by_vertices(V):
    return lambda c: V[np.argmin(V @ c)]


def on_simplex(z, s):
    """Project on s times the sub-simplex by bisection of the multiplier."""
    n = len(z)
    x = (z / s + 1) / (2 * n) if s > 0 else np.full(n, 0.0)
    low, high = 0.0, np.abs(x).sum() + 1
    for _ in range(200 if np.maximum(x, 0).sum() > 1 else 0):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(x - middle, 0).sum() > 1 else (low, middle)
    return s * (2 * n * np.maximum(x - low, 0) - 1)


def shape_of(name, trial):
    cset = tree_take(SETS[name], [trial]) if len(SETS[name].D) > 1 else SETS[name]
    n, D, R = cset.dim, cset.D.item(), cset.R.item()
    if name == "ball":
        return Shape(
            n,
            D,
            R,
            lambda c: -c / np.linalg.norm(c) if c.any() else -np.eye(n)[0],
            lambda z, s: z * min(1.0, s / max(np.linalg.norm(z), 1e-300)),
        )
    if name == "sub-simplex":
        return Shape(
            n, D, R, by_vertices(np.vstack([-np.ones(n), 2 * n * np.eye(n) - 1])), on_simplex
        )
    return Shape(
        n,
        D,
        R,
        by_vertices(cset.vertices[0].numpy()),
        lambda z, s: cset.project(torch.tensor(z)[None], s)[0].numpy(),
    )


class Losses:
    """The observed losses of a learner with its options: baseline, scale of the loss, and sham."""

    def __init__(self, learner, M, signs):
        self.learner, self.M, self.signs, self.all = learner, M, signs, []

    def scale(self):
        if self.learner.scale != "spread":
            return self.M if self.learner.scale == "task" else self.learner.scale
        f = np.array(self.all)
        found = 1.0 if not len(f) else np.sqrt(np.mean(f**2)) if len(f) < 5 else np.std(f, ddof=1)
        return found if found >= 1e-12 * max(1.0, abs(np.mean(f)) if len(f) else 0) else 1.0

    def signal(self, t, f):
        b = np.mean(self.all) if self.learner.baseline and self.all else 0.0
        self.all.append(f)
        return (f - b) * (self.signs[t] if self.learner.sham else 1)


def epochs(rounds, anytime):
    """Return the first round, the last round + 1, and the horizon of each epoch."""
    return (
        [
            (2**m - 1, min(2 ** (m + 1) - 1, rounds), 2**m)
            for m in range((rounds + 1).bit_length())
            if 2**m - 1 < rounds
        ]
        if anytime
        else [(0, rounds, rounds)]
    )


def algorithm_1(learner, shape, M, f, u, signs, spans):
    """Yield x_t and y_t of PFBCO or the exact leader."""
    n, D, c, losses, x = shape.n, shape.D, learner.c, Losses(learner, M, signs), np.zeros(shape.n)
    for first, last, T in spans:
        delta = alpha = c * T**-0.2
        eta = (
            (c if learner.eta_rule == "corrected" else 1)
            * D
            / (math.sqrt(2) * n * losses.scale())
            * T**-0.8
        )
        x1 = x = x.copy() if learner.warm_start else np.zeros(n)
        A = np.zeros(n)
        for t in range(first, last):
            y = x + delta * u[t]
            yield x, y
            g = n / delta * losses.signal(t, f(t, y)) * u[t]
            if isinstance(learner, RegularizedLeader):
                A = A + eta * g
                x = shape.project(x1 - A / 2, 1 - alpha)
                continue
            gradient = A + (2 * (x - x1) if learner.regularized else 0)
            v = (
                x
                if learner.tie == "stay" and not gradient.any()
                else (1 - alpha) * shape.lmo(gradient)
            )
            s = (t - first + 1) ** -0.4
            x, A = (1 - s) * x + s * v, A + eta * g


def projected_descent(learner, shape, M, G, f, u, signs, spans):
    """Yield x_t and y_t of FKM, in both variants."""
    n, D, R, c, losses, x = (
        shape.n,
        shape.D,
        shape.R,
        learner.c,
        Losses(learner, M, signs),
        np.zeros(shape.n),
    )
    for first, last, T in spans:
        m = losses.scale()
        if learner.variant == "book":
            delta = c * T**-0.25
            step = c * D / (n * m) * T**-0.75 * n / delta
        else:
            delta, step = (
                min(1.0, T**-0.25 * math.sqrt(R * n * m / (3 * (G + m)))),
                R / (m * math.sqrt(T)),
            )
        x = shape.project(x, 1 - delta) if learner.warm_start else np.zeros(n)
        for t in range(first, last):
            y = x + delta * u[t]
            yield x, y
            x = shape.project(x - step * losses.signal(t, f(t, y)) * u[t], 1 - delta)


def in_blocks(learner, shape, M, G, f, u, signs, spans):
    """Yield x_t and y_t of the block variant."""
    n, D, c, losses, x = shape.n, shape.D, learner.c, Losses(learner, M, signs), np.zeros(shape.n)
    for first, last, T in spans:
        delta = c * T**-0.25
        eta = math.sqrt(2) * D * T**-0.75 / math.sqrt(n**2 * losses.scale() ** 2 / c**2 + G**2)
        x1 = x = x.copy() if learner.warm_start else np.zeros(n)
        S, block, length = np.zeros(n), np.zeros(n), round(math.sqrt(T))
        for t in range(first, last):
            y = x + delta * u[t]
            yield x, y
            block = block + n / delta * losses.signal(t, f(t, y)) * u[t]
            if (t - first + 1) % length == 0:
                S, block = S + block, np.zeros(n)
                while True:
                    gradient = eta * S + 2 * (x - x1)
                    v = (1 - delta) * shape.lmo(gradient)
                    gap = gradient @ (x - v)
                    if gap <= D**2 / math.sqrt(T):
                        break
                    x = x + np.clip(gap / (2 * (v - x) @ (v - x)), 0, 1) * (v - x)


def conditional_gradient(learner, shape, G, a, noise, spans):
    """Yield x_t twice for StochOCG on gradients a_t."""
    n, D = shape.n, shape.D
    sd = n if learner.noise is None else learner.noise
    for first, last, T in spans:
        eta = D / (
            2 * (G if learner.bound == "gradient" else math.sqrt(G**2 + n * sd**2)) * T**0.75
        )
        x, S = np.zeros(n), np.zeros(n)
        for t in range(first, last):
            yield x, x
            direction = eta * S + 2 * x
            v = x if learner.tie == "stay" and not direction.any() else shape.lmo(direction)
            s = min(1, 2 / math.sqrt(t - first + 1))
            x, S = (1 - s) * x + s * v, S + a[t] + sd * noise[t]


MATCHED = {
    "PF": PFBCO(0.4),
    "paper's rate": PFBCO(0.4, eta_rule="paper"),
    "vertex": PFBCO(0.4, tie="vertex"),
    "unregularized": PFBCO(0.4, regularized=False),
    "unregularized, vertex": PFBCO(0.4, regularized=False, tie="vertex"),
    "sham": PFBCO(0.4, sham=True),
    "baseline": PFBCO(0.4, baseline=True),
    "M of one's own": PFBCO(0.4, scale=0.7),
    "practical": practical(PFBCO(0.4), warm_start=False),
    "practical, warm": practical(PFBCO(0.4)),
    "practical, sham": practical(PFBCO(0.4, sham=True)),
    "warm": PFBCO(0.4, warm_start=True),
    "leader": RegularizedLeader(0.4),
    "leader, practical": practical(RegularizedLeader(0.4)),
    "FKM": FKM(0.4),
    "FKM 2005": FKM(0.4, variant="2005"),
    "FKM, sham": FKM(0.4, sham=True),
    "FKM, practical": practical(FKM(0.4)),
    "FKM 2005, practical": practical(FKM(0.4, variant="2005")),
    "block": BlockPFBCO(0.4),
    "block, practical": practical(BlockPFBCO(0.4)),
    "StochOCG": StochOCG(),
    "StochOCG, noisy": StochOCG(bound="noisy"),
    "StochOCG, vertex": StochOCG(noise=0.3, tie="vertex"),
}


@pytest.mark.parametrize("anytime", [True, False], ids=["doubling", "one epoch"])
@pytest.mark.parametrize("name", ["ball", "sub-simplex", "packings"])
@pytest.mark.parametrize("which", MATCHED)
def test_learners_agree_with_their_references(which, name, anytime):
    """Learners agree with their references in 100 rounds of losses <a_t, y> + 2, with different bounds per trial."""
    learner, cset, rounds = MATCHED[which], SETS[name], 100
    M, G, signal = [6.0, 4.0, 10.0], [1.0, 3.0, 2.0], linear(cset.dim, offset=2.0)
    gradients = linear(cset.dim)
    slope = lambda t: torch.stack(
        [gradients(t, torch.eye(cset.dim, **TKWARGS)[i].expand(3, -1)) for i in range(cset.dim)], 1
    )
    hears = learner.wants == "gradient"
    ours = run(
        Doubling(learner) if anytime else learner,
        task(cset, M, G),
        (lambda t, y: slope(t)) if hears else signal,
        rounds,
    )
    moved = 0.0
    for trial in range(3):
        shape, spans = shape_of(name, trial), epochs(rounds, anytime)
        u = directions(ours.draws, rounds, cset.dim, trial)
        signs = [
            1 if hears else 1 - 2 * int(ours.draws.at(t).uniform("sham")[trial] >= 0.5)
            for t in range(rounds)
        ]
        f = lambda t, y, trial=trial: signal(t, torch.tensor(y).expand(3, -1))[trial].item()
        if hears:
            noise = np.array(
                [
                    ours.draws.at(t).normal("gradient noise", cset.dim)[trial].numpy()
                    for t in range(rounds)
                ]
            )
            reference = conditional_gradient(
                learner,
                shape,
                G[trial],
                [slope(t)[trial].numpy() for t in range(rounds)],
                noise,
                spans,
            )
        elif isinstance(learner, FKM):
            reference = projected_descent(learner, shape, M[trial], G[trial], f, u, signs, spans)
        elif isinstance(learner, BlockPFBCO):
            reference = in_blocks(learner, shape, M[trial], G[trial], f, u, signs, spans)
        else:
            reference = algorithm_1(learner, shape, M[trial], f, u, signs, spans)
        count = 0
        for t, (x, y) in enumerate(reference):
            close(ours.base(t).x[trial], x, 1e-8)
            close(ours.played[t][trial], y, 1e-8)
            moved, count = max(moved, np.abs(x).max()), count + 1
        assert count == rounds
    # FKM of 2005 has delta = r for many rounds, so its center stays at 0.
    assert moved > 1e-3 or (ours.base(rounds).delta == 1).all()
    if not hears:
        bound = torch.tensor(M)
        close(
            ours.base(rounds).heard.above, sum((loss.abs() > bound).double() for loss in ours.heard)
        )


def test_moments_agree_with_numpy():
    f, heard = (
        np.random.default_rng(0).normal(size=(9, 3)) * [1.0, 1e-3, 50.0] + [0.0, 1e6, 3.0],
        LossMoments.none(3, **TKWARGS),
    )
    assert heard.spread().tolist() == [1, 1, 1]
    for t in range(9):
        heard = heard.hear(torch.tensor(f[t]), torch.tensor([1.0]))
        close(heard.mean, f[: t + 1].mean(0), 1e-12)
        close(
            heard.spread(),
            np.sqrt((f[: t + 1] ** 2).mean(0)) if t < 4 else f[: t + 1].std(0, ddof=1),
            1e-6,
        )
    assert heard.count == 9 and heard.above.tolist() == [*(np.abs(f) > 1).sum(0)]


@pytest.mark.parametrize("constant, spread", [(0.0, 1.0), (5.0, 1.0), (1e9, 1.0)])
def test_constant_losses_have_no_spread(constant, spread):
    heard = LossMoments.none(2, **TKWARGS)
    for _ in range(8):
        heard = heard.hear(torch.full((2,), constant, **TKWARGS), torch.ones(1))
    assert heard.spread().tolist() == [spread] * 2


def test_a_given_start():
    start = (0.2, -0.1, 0.0, 0.3)
    played = run(PFBCO(0.2, start=start), task(Ball.of(4)), linear(4), 20)
    close(played.centers()[0], [start] * 3), close(played.centers()[1], [start] * 3)
    shifted = PFBCO().gradient(played.states[5])
    close(shifted, played.states[5].A + 2 * (played.states[5].x - torch.tensor(start, **TKWARGS)))
    again = run(Doubling(PFBCO(0.2, start=start)), task(Ball.of(4)), linear(4), 20)
    assert all(torch.equal(again.base(t).x, played.centers()[0]) for t in (0, 1, 3, 7, 15))


def test_a_block_stays_where_it_is():
    """With T = 64 a block has eight rounds around one center; several Frank-Wolfe steps follow."""
    played = run(BlockPFBCO(1.0), task(Ball.of(3), 0.1, 0.1), linear(3), 64)
    x = played.centers()
    assert all(torch.equal(x[t], x[t - t % 8]) for t in range(64)) and not torch.equal(x[8], x[0])
    calls = played.states[-1].oracle
    assert (calls >= 8).all() and torch.equal(
        BlockPFBCO().report(played.states[-1])["oracle"], calls
    )


def test_blocks_reach_their_gap_or_report_it(monkeypatch):
    context, A = task(TRIANGLE), torch.tensor([[1.0, -2.0], [-6.0, -5.0], [0.5, 0.1]], **TKWARGS)
    zeros, alpha = torch.zeros(3, 2, **TKWARGS), torch.full((1,), 0.2, **TKWARGS)
    x, calls = minimize(context, zeros, zeros, A, alpha, torch.full((1,), 1e-2, **TKWARGS))
    gradient = A + 2 * x
    assert (
        (gradient * (x - 0.8 * TRIANGLE.lmo(gradient))).sum(1) <= 1e-2
    ).all() and calls.max() > calls.min()
    for trial in range(3):  # a converged trial is frozen
        alone, own = minimize(
            context, zeros[:1], zeros[:1], A[[trial]], alpha, torch.full((1,), 1e-2, **TKWARGS)
        )
        close(alone[0], x[trial], 1e-13)
        assert own.item() == calls[trial].item()
    monkeypatch.setattr("paperlib.pfbco.learners.block.MOST", 3)
    with pytest.raises(
        RuntimeError, match="Frank-Wolfe does not reach the gap 1e-12 within 3 steps in 3 of 3"
    ):
        minimize(context, zeros, zeros, A, alpha, torch.full((1,), 1e-12, **TKWARGS))


# ---- invariances -------------------------------------------------------------------------------------------


class Wide(NamedTuple):
    """The ball of radius r."""

    dim: int
    R: torch.Tensor
    D: torch.Tensor
    r: float
    exact: bool = True

    @classmethod
    def of(cls, dim, r):
        return cls(dim, torch.full((1,), r, **TKWARGS), torch.full((1,), 2 * r, **TKWARGS), r)

    def lmo(self, c):
        return self.r * Ball.of(self.dim).lmo(c)

    def project(self, z, scale=1.0):
        return self.r * Ball.of(self.dim).project(z / self.r, scale)


@pytest.mark.parametrize("which", ["PF", "leader", "FKM", "FKM 2005", "block", "StochOCG"])
def test_units_of_length_do_not_matter(which):
    """With K -> s K, f'(y) = f(y / s) and c -> s c the trajectory is scaled by s."""
    s, M, learner = (
        7.0,
        0.1 if which == "block" else 1.0,
        replace(MATCHED[which], c=0.3) if which != "StochOCG" else StochOCG(noise=0.0),
    )
    stretched = learner if which == "StochOCG" else replace(learner, c=s * 0.3)
    small = run(
        learner,
        task(Ball.of(3), M),
        (lambda t, y: slope3(t, 1.0)) if which == "StochOCG" else linear(3),
        64,
    )
    large = run(
        stretched,
        task(Wide.of(3, s), M, 1 / s),
        (lambda t, y: slope3(t, s)) if which == "StochOCG" else (lambda t, y: linear(3)(t, y / s)),
        64,
    )
    close(large.centers(), s * small.centers())
    assert small.centers()[-1].abs().max() > 0.01


def slope3(t, s):
    return torch.tensor(np.random.default_rng(t).normal(size=(3, 3))) / s


def test_the_printed_rate_depends_on_the_unit_of_length():
    """In dimension 3 with T = 64, c = 0.3, f = y_1 / s and s = 7 the trajectories of the printed rate differ."""
    first = lambda t, y: y[:, 0]
    parted = {}
    for rule in ("corrected", "paper"):
        small = run(PFBCO(0.3, eta_rule=rule), task(Ball.of(3)), first, 64).centers()
        large = run(
            PFBCO(2.1, eta_rule=rule), task(Wide.of(3, 7.0)), lambda t, y: first(t, y) / 7, 64
        ).centers()
        parted[rule] = (large / 7 - small).abs().max().item()
    assert parted["corrected"] < 1e-12 and parted["paper"] > 0.2


@pytest.mark.parametrize(
    "which",
    [
        which
        for which in MATCHED
        if which not in ("M of one's own", "StochOCG", "StochOCG, noisy", "StochOCG, vertex")
        and "practical" not in which
    ],
)
def test_units_of_loss_do_not_matter(which):
    """With f -> 8 f, M -> 8 M and G -> 8 G the trajectory is equal bit for bit."""
    f, M = linear(4, offset=1.0), 2.0 if which == "block" else 9.0
    one = run(Doubling(MATCHED[which]), task(SETS["packings"], M, 2.0), f, 60).centers()
    eight = run(
        Doubling(MATCHED[which]), task(SETS["packings"], 8 * M, 16.0), lambda t, y: 8 * f(t, y), 60
    ).centers()
    assert torch.equal(one, eight) and one[-1].abs().max() > 0


def test_practical_learners_need_no_bound():
    f = linear(4, offset=300.0)
    one, other = (
        run(Doubling(practical(PFBCO(0.5))), task(SETS["packings"], M), f, 60).centers()
        for M in (1.0, 1e6)
    )
    assert torch.equal(one, other)


def test_a_baseline_removes_a_constant():
    """With f -> f + b only the first estimate changes, because the baseline contains b from then on."""
    learner, a = PFBCO(0.5, baseline=True), linear(3)
    plain, lifted = (
        run(learner, task(Ball.of(3)), lambda t, y, b=b: a(t, y) + b, 5) for b in (0.0, 1000.0)
    )
    first = 1000 * plain.states[0].eta * 3 / plain.states[0].delta
    close(
        lifted.states[1].A - plain.states[1].A,
        first * plain.draws.at(0).sphere("direction", 3),
        1e-9,
    )


@pytest.mark.parametrize("which", ["PF", "sham", "practical, warm", "FKM", "leader", "block"])
def test_alone_equals_batched_and_order_does_not_matter(which):
    a = torch.tensor(np.random.default_rng(1).normal(size=(60, 8, 5)))
    losses = lambda rows: lambda t, y: (a[t, rows] * y).sum(1)
    batch = run(
        Doubling(MATCHED[which]), task(SubSimplex.of(5), 20.0), losses(list(range(8))), 60, range(8)
    ).centers()
    for rows in ([3], [7, 0, 4], list(range(8))[::-1]):
        part = run(
            Doubling(MATCHED[which]), task(SubSimplex.of(5), 20.0), losses(rows), 60, rows
        ).centers()
        close(part, batch[:, rows], 1e-12)


def test_blocks_of_drawn_rounds_do_not_matter(monkeypatch):
    whole = run(PFBCO(0.5), task(Ball.of(3)), linear(3), 50).centers()
    monkeypatch.setattr("paperlib.core.streams.BLOCK", 20)
    assert torch.equal(run(PFBCO(0.5), task(Ball.of(3)), linear(3), 50).centers(), whole)


@pytest.mark.parametrize("which", ["PF", "unregularized", "FKM", "leader", "block"])
def test_coordinates_of_the_sub_simplex_may_be_permuted(which):
    n, order, a = 5, [3, 0, 4, 1, 2], torch.tensor(np.random.default_rng(4).normal(size=(60, 2, 5)))
    u = torch.tensor(directions(Streams(0, [0]), 60, n, 0)).unsqueeze(1).expand(-1, 2, -1)
    plain = run(
        MATCHED[which],
        task(SubSimplex.of(n), 20.0),
        lambda t, y: (a[t] * y).sum(1),
        60,
        range(2),
        draws=[Drawn(x) for x in u],
    )
    mixed = run(
        MATCHED[which],
        task(SubSimplex.of(n), 20.0),
        lambda t, y: (a[t][:, order] * y).sum(1),
        60,
        range(2),
        draws=[Drawn(x[:, order]) for x in u],
    )
    close(mixed.centers(), plain.centers()[:, :, order], 1e-9)


@pytest.mark.parametrize("which", MATCHED)
def test_the_same_seed_gives_the_same_bits(which):
    f = (lambda t, y: y - 0.3) if "StochOCG" in which else linear(4)
    one, two, other = (
        run(
            Doubling(MATCHED[which]),
            task(SETS["packings"], 0.05 if which == "block" else 9.0),
            f,
            40,
            seed=seed,
        ).centers()
        for seed in (0, 0, 50)
    )
    assert torch.equal(one, two) and not torch.equal(one, other)


# ---- equivalences ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, tolerance", [("packings", 0.0), ("sub-simplex", 0.0), ("ball", 1e-8)]
)
def test_without_a_regularizer_is_the_limit_of_a_large_rate(name, tolerance):
    """If M is scaled by 1e-12, eta is 1e12 times larger; the v_t, and therefore the centers, are the same."""
    huge, none = (
        run(learner, task(SETS[name], 20.0), linear(SETS[name].dim), 100)
        for learner in (PFBCO(0.4, scale=20e-12), PFBCO(0.4, regularized=False))
    )
    assert huge.states[0].eta[0] == pytest.approx(1e12 * none.states[0].eta[0].item())
    assert (huge.centers() - none.centers()).abs().max() <= tolerance and none.centers()[
        -1
    ].abs().max() > 0.01


def test_the_leader_agrees_with_a_generic_solver():
    cvxpy = pytest.importorskip(
        "cvxpy", reason="cvxpy is optional; the variational inequality is tested with the sets"
    )
    cset = packings(1, 4, 3)
    played = run(PFBCO(0.5), task(cset, 1.0), linear(4, 1), 12, [0])
    for state in (played.states[3], played.states[12]):
        ours, x = leader(task(cset), state.x1, state.A, state.alpha)[0].numpy(), cvxpy.Variable(4)
        inside = [cset.normals[0].numpy() @ x <= (1 - state.alpha.item()) * cset.offsets[0].numpy()]
        cvxpy.Problem(
            cvxpy.Minimize(state.A[0].numpy() @ x + cvxpy.sum_squares(x - state.x1[0].numpy())),
            inside,
        ).solve(solver="CLARABEL")
        close(ours, x.value, 1e-6)


@pytest.mark.parametrize("mode, weight", [("paper_lmo", 1.0)])
def test_points_of_the_printed_oracle_fill_the_trace(mode, weight):
    """Every matrix of the printed oracle has trace k. Therefore the final center has trace k (1 - alpha) for any feedback."""
    problem = MatrixCompletion(4, 3, mode)
    played = run(
        Doubling(PFBCO(0.1)),
        problem.init(3, 8, Streams(0, range(3)).at(-1), **TKWARGS).task,
        lambda t, y: y.sum(1),
        511,
    )
    X = problem.cset(**TKWARGS).to_native(played.centers()[510])
    diagonal = [0, 4, 7, 9]
    close(X[:, diagonal].sum(1), [3 * (1 - 0.1 * 256**-0.2)] * 3, 1e-9)


def test_portfolios_are_fully_invested_whatever_the_feedback():
    """sum x = 1 - alpha / 2 with alpha of the last epoch: 0.9875 after T = 1203 rounds at c = 0.1 (H = 1024)."""
    played = run(
        Doubling(PFBCO(0.1)),
        task(SubSimplex.of(100), 5.0),
        lambda t, y: torch.cos(t * y.sum(1)),
        1203,
        range(2),
    )
    x = SubSimplex.of(100).to_native(played.base(1203).x)
    close(x.sum(1), [0.9875] * 2, 1e-9)
    assert played.base(1203).alpha.item() == pytest.approx(0.1 * 1024**-0.2)


def test_play_agrees_with_steps_by_hand():
    problem = Portfolio(4, "synthetic")
    instance = problem.init(3, 40, Streams(0, range(3)).at(-1), **TKWARGS)
    draw = Streams(0, range(3)).at
    by_hand = run(
        Doubling(PFBCO(0.1)),
        instance.task,
        lambda t, y: problem.respond(instance, t, y, "loss", draw(t))[0],
        40,
    )
    close(play(Doubling(PFBCO(0.1)), problem, 40, 3)["regret"][:, -1], sum(by_hand.heard), 1e-12)


# ---- properties of every round -----------------------------------------------------------------------------


@pytest.mark.parametrize("c", [0.1, 1.0])
@pytest.mark.parametrize("rounds", [1, 2, 3, 64, 257])
@pytest.mark.parametrize("name", SETS)
def test_lemmas_hold_in_every_round(name, rounds, c):
    """Estimates, feasibility, stability of the leader, and tracking with the corrected constant, for losses up to M."""
    cset = SETS[name]
    if "programs" in name and rounds > 64:
        pytest.skip(
            "a linear program a round and trial: the same set stands beside with its vertices"
        )
    n, M = cset.dim, cset.R
    trials = range(3)
    played = run(PFBCO(c), task(cset, M), linear(n), rounds, trials)
    context, first = task(cset), played.states[0]
    delta, alpha, eta, D = first.delta, first.alpha, first.eta, cset.D
    norm = lambda x: torch.linalg.vector_norm(x, dim=1)
    star = leader(context, first.x1, first.A, alpha)
    for t, (before, after) in enumerate(pairwise(played.states), 1):
        g = (after.A - before.A) / eta.unsqueeze(1)
        assert (norm(g) <= n * M / delta * (1 + 1e-9)).all()
        assert (norm(before.x - cset.project(before.x, 1 - alpha)) <= 1e-9).all() and cset.contains(
            played.played[t - 1]
        ).all()
        free = before.x1 - before.A / 2
        h = ((before.x - star) * (before.x + star - 2 * free)).sum(1)
        assert (h >= -1e-9 * D**2).all() and (h <= KAPPA * D**2 * step_size(t) + 1e-9).all()
        assert (norm(before.x - star) <= math.sqrt(KAPPA) * D * t**-0.2 + 1e-9).all()
        moved = leader(context, after.x1, after.A, alpha)
        assert (norm(star - moved) <= eta * norm(g) / 2 + 1e-9).all()
        assert ((g * (star - moved)).sum(1) <= eta * norm(g) ** 2 / 2 + 1e-9 * norm(g)).all()
        star = moved
    assert (played.states[-1].heard.above == 0).all()


@pytest.mark.parametrize("c", [0.1, 1.0])
def test_lemmas_that_hold_with_the_oracle_as_printed(c):
    cset = NuclearBall.of(4, 3.0, exact=False)
    played = run(Doubling(PFBCO(c)), task(cset, cset.R), linear(10), 127)
    for t in range(127):
        state, after = played.base(t), played.base(t + 1)
        assert cset.contains(played.played[t]).all()
        assert (
            torch.linalg.vector_norm(state.x - cset.project(state.x, 1 - state.alpha), dim=1)
            <= 1e-9
        ).all()
        if t + 2 & t + 1:  # except at the end of an epoch
            assert (
                torch.linalg.vector_norm((after.A - state.A) / state.eta, dim=1)
                <= 10 * cset.R / state.delta * (1 + 1e-9)
            ).all()


@pytest.mark.parametrize("which", [which for which in MATCHED if "StochOCG" not in which])
@pytest.mark.parametrize("name", ["ball", "sub-simplex", "packings", "nuclear", "trace"])
def test_every_learner_stays_in_the_set(which, name):
    """This includes warm starts and estimated scales with large losses; with c = 1 the first point is on the surface of the inscribed ball."""
    cset, learner = SETS[name], replace(MATCHED[which], c=1.0)
    played = run(Doubling(learner), task(cset, 10.0), linear(cset.dim, offset=5.0), 70)
    for t in range(70):
        state = played.base(t)
        assert (
            torch.linalg.vector_norm(state.x - cset.project(state.x, 1 - state.alpha), dim=1)
            <= 1e-8
        ).all(), t
        assert cset.contains(played.played[t], 1e-8).all(), t


# ---- anytime -----------------------------------------------------------------------------------------------


def test_epochs_restart():
    """With T = 10 the epochs have lengths 1, 2, 4, 3 and horizons 1, 2, 4, 8; A, t and x are reset."""
    c, played = 0.5, run(Doubling(PFBCO(0.5)), task(Ball.of(3)), linear(3, offset=1.0), 10)
    horizons = [1, 2, 2, 4, 4, 4, 4, 8, 8, 8]
    close([played.base(t).delta.item() for t in range(10)], [c * H**-0.2 for H in horizons], 1e-14)
    close(
        [played.base(t).eta.item() for t in range(10)],
        [c * 2 / (math.sqrt(2) * 3) * H**-0.8 for H in horizons],
        1e-14,
    )
    assert [played.base(t).rounds for t in range(10)] == [0, 0, 1, 0, 1, 2, 3, 0, 1, 2]
    for t in (0, 1, 3, 7):
        assert not played.base(t).A.any() and not played.base(t).x.any()
    assert [played.base(t).heard.count for t in range(11)] == list(range(11))
    assert all(played.base(t).A.all() for t in (2, 5, 9))


def test_one_round_and_exploration_as_wide_as_the_inscribed_ball():
    """With T = 1 and c = r, alpha = 1, x = 0, and the point is on the sphere."""
    for learner in (PFBCO(1.0), FKM(1.0), BlockPFBCO(1.0), RegularizedLeader(1.0)):
        for wrapped in (learner, Doubling(learner)):
            played = run(wrapped, task(SETS["packings"]), linear(4), 1)
            assert played.base(0).alpha.item() == 1 and not played.base(0).x.any()
            close(torch.linalg.vector_norm(played.played[0], dim=1), [1.0] * 3, 1e-14)


def test_a_warm_start_continues_from_the_last_center():
    """With c = r the first epoch, T = 1, stays at 0. Later epochs start at the last center, and the regularizer is centered there."""
    played = run(Doubling(PFBCO(1.0, warm_start=True)), task(SETS["packings"], 9.0), linear(4), 31)
    for t in (3, 7, 15, 31):
        state = played.base(t)
        assert torch.equal(state.x, state.x1) and state.x.any() and not state.A.any()
    assert (played.base(15).alpha < played.base(14).alpha).all()


def test_the_exact_leader_has_no_ties_to_break():
    with pytest.raises(ValueError, match="tie must be 'stay', got 'vertex'"):
        RegularizedLeader(tie="vertex")


# ---- bad input ---------------------------------------------------------------------------------------------


def begin(learner, context, horizon=8):
    learner.validate(context, None, None)
    return learner.init(1, context, horizon, Streams(0, [0]).at(-1), **TKWARGS)


@pytest.mark.parametrize("c", [0.0, -1.0, math.nan, math.inf, "a"])
@pytest.mark.parametrize("kind", [PFBCO, FKM, RegularizedLeader, BlockPFBCO])
def test_c_is_a_number_above_zero(kind, c):
    with pytest.raises(ValueError, match=r"c must be a positive number from 1e-30 to 1e\+30, got "):
        kind(c)


@pytest.mark.parametrize("kind", [PFBCO, FKM, RegularizedLeader, BlockPFBCO])
def test_exploration_stays_in_the_inscribed_ball(kind):
    power = 0.2 if kind in (PFBCO, RegularizedLeader) else 0.25
    begin(kind(8**power), task(Ball.of(2)))
    with pytest.raises(
        ValueError, match=r"^c must be so small .*, got c=.* with alpha = 1\.0.* at horizon 8$"
    ):
        begin(kind(1.001 * 8**power), task(Ball.of(2)))
    begin(Doubling(kind(1.0)), task(Ball.of(2)))
    with pytest.raises(ValueError, match="^c must be so small .*, got c=.* at horizon 1$"):
        begin(Doubling(kind(1.001)), task(Ball.of(2)))


BEGUN = [PFBCO(0.5), FKM(0.5), RegularizedLeader(0.5), BlockPFBCO(0.5), StochOCG()]


@pytest.mark.parametrize(
    "learner",
    [*BEGUN, Doubling(PFBCO(0.5)), Doubling(StochOCG())],
    ids=lambda x: type(getattr(x, "base", x)).__name__,
)
@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_bounds_are_numbers_above_zero(learner, bad):
    wants = getattr(learner, "base", learner)
    if not isinstance(wants, StochOCG):
        with pytest.raises(
            ValueError, match=r"loss_bound must be a positive number from 1e-200 to 1e\+200,"
        ):
            begin(learner, task(Ball.of(2), bad))
        with pytest.raises(
            ValueError, match=r"loss_bound must be a positive number from 1e-200 to 1e\+200,"
        ):
            begin(learner, task(Ball.of(2), [1.0, bad, 1.0]))
    with pytest.raises(
        ValueError, match=r"grad_bound must be a positive number from 1e-30 to 1e\+30,"
    ):
        begin(learner, task(Ball.of(2), 1.0, bad))
    with pytest.raises(ValueError, match="^D must .*, got "):
        begin(learner, task(Ball.of(2)._replace(D=torch.tensor([bad]))))


@pytest.mark.parametrize("learner", BEGUN, ids=lambda x: type(x).__name__)
def test_horizons_are_whole_and_known(learner):
    for bad in (None, 0, -3, 2.5):
        with pytest.raises(
            ValueError,
            match="^horizon must be (at least 1 round for|an integer from 1 to) .*, got ",
        ):
            begin(learner, task(Ball.of(2)), bad)
    begin(Doubling(learner), task(Ball.of(2)), None)


@pytest.mark.parametrize(
    "start, match",
    [
        ((0.9, 0.0), r"start must be a point of \(1 - alpha\) K with alpha.*, got \(0.9, 0.0\)"),
        ((0.1,), "start must have 2 numbers, got "),
        ((0.1, 0.1, 0.1), "start must have 2 numbers, got "),
        ((math.nan, 0.0), "a tuple of numbers"),
        ([0.1, 0.1], "tuple"),
        ((), "tuple"),
    ],
)
def test_a_start_lies_in_the_shrunken_set(start, match):
    begin(PFBCO(0.5, start=(0.3, 0.0)), task(Ball.of(2)))
    with pytest.raises(ValueError, match=match):
        begin(PFBCO(0.5, start=start), task(Ball.of(2)))


def test_a_set_without_a_projection_is_for_projection_free_learners():
    for learner in (PFBCO(0.5), BlockPFBCO(0.5), StochOCG(), Doubling(PFBCO(0.5))):
        played = run(
            learner,
            task(l1_ball(3), 9.0),
            (lambda t, y: y) if learner.wants == "gradient" else linear(3),
            20,
        )
        assert (played.played[-1] * l1_ball(3).radius).abs().sum(1).max() <= 1 + 1e-9
    for learner in (
        FKM(0.5),
        RegularizedLeader(0.5),
        PFBCO(0.5, start=(0.0, 0.0, 0.1)),
        Doubling(FKM(0.5)),
    ):
        with pytest.raises(
            ValueError,
            match="^cset must be a set with a projection, because .* requires it, got OracleSet",
        ):
            begin(learner, task(l1_ball(3)))


def test_an_oracle_that_maximizes_is_detected():
    class Wrong(Ball):
        def lmo(self, c):
            return -super().lmo(c)

    wrong = Wrong(*Ball.of(3))
    for learner in (PFBCO(0.5), StochOCG(), Doubling(FKM(0.5))):
        with pytest.raises(
            RuntimeError,
            match="lmo must return points of a set with a support.*, got -1 to -1 in one direction",
        ):
            begin(learner, task(wrong))


def test_ask_and_tell_take_a_task_of_one_trial_without_its_dimension():
    one = torch.tensor(1.0, **TKWARGS)
    context = task(tree_take(SETS["packings"], [0]))._replace(loss_bound=one, grad_bound=one)
    context = context._replace(
        cset=type(context.cset)(*(x[0] if isinstance(x, torch.Tensor) else x for x in context.cset))
    )
    user = AskTell(PFBCO(0.5), context, horizon=20)
    f = linear(4, 1)
    batch = run(PFBCO(0.5), task(tree_take(SETS["packings"], [0])), f, 20, [0])
    for t in range(20):
        y = user.ask()
        close(y, batch.played[t][0], 1e-12)
        with pytest.raises(ValueError, match="^feedback must be finite"):
            user.tell(y, math.nan)
        user.tell(y, batch.heard[t].item())
    gradient = AskTell(StochOCG(), context, horizon=5)
    with pytest.raises(ValueError, match="a gradient of 4 numbers"):
        gradient.tell(gradient.ask(), np.zeros(3))
    gradient.tell(gradient.ask(), np.ones(4))
    assert gradient.rounds == 1


@pytest.mark.parametrize(
    "learner",
    [x for base in BEGUN for x in (base, Doubling(base))],
    ids=[f"{type(x).__name__}{what}" for x in BEGUN for what in ("", ", doubling")],
)
def test_feedback_is_accepted_for_the_asked_point_only(learner):
    """A loss is attributed to the direction that the learner drew, so the loss of another point gives no valid estimate."""
    one = torch.tensor(1.0, **TKWARGS)
    ball = Ball.of(2)._replace(R=one, D=2 * one)
    user, other = (AskTell(learner, Task(ball, one, one), horizon=8) for _ in range(2))
    feedback = np.array([0.3, -0.2]) if learner.wants == "gradient" else 0.5
    user.tell(user.ask(), feedback), other.tell(other.ask(), feedback)
    for asked in (False, True):
        before, y = user.state, other.ask() if not asked else user.ask()
        for own in (-y, y + 1e-3, np.zeros(2) if y.any() else np.ones(2)):
            if np.array_equal(own, y):
                continue
            with pytest.raises(
                ValueError,
                match=r"^action must be \[.*, the one that ask\(\) returned, because .*, got ",
            ):
                user.tell(own, feedback)
        for shape in (np.zeros(5), 1, np.zeros((2, 2))):
            with pytest.raises(
                ValueError, match="^action must be a point of 2 numbers, got shape "
            ):
                user.tell(shape, feedback)
        assert user.state is before and user.rounds == 1 + asked
        user.tell(y, feedback), other.tell(other.ask(), feedback)
    assert np.array_equal(user.ask(), other.ask())


def test_losses_that_are_not_finite_name_round_and_trial():
    class Broken(Portfolio):
        def respond(self, instance, t, action, wants, draw):
            feedback, gap = super().respond(instance, t, action, wants, draw)
            return torch.where((torch.arange(len(action)) == 1) & (t == 4), math.nan, feedback), gap

    with pytest.raises(ValueError, match="in round 5, trial 1"):
        play(Doubling(PFBCO(0.1)), Broken(4, "synthetic"), 20, 3)


# ---- degenerate cases --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["interval", "segment", "one stock", "one by one", "one by one, trace"]
)
def test_one_dimension(name):
    """In one dimension u = +-1 and every set is [-1, 1], so all sets give the same trajectory."""
    ball = run(Doubling(PFBCO(0.5)), task(SETS["interval"]), linear(1), 40)
    played = run(Doubling(PFBCO(0.5)), task(SETS[name]), linear(1), 40)
    close(played.centers(), ball.centers(), 1e-9)
    u = torch.stack([played.draws.at(t).sphere("direction", 1) for t in range(40)])
    assert torch.equal(u.abs(), torch.ones_like(u)) and {-1.0, 1.0} == set(u.flatten().tolist())


def test_losses_of_zero_move_no_learner():
    for which in (
        "PF",
        "sham",
        "FKM",
        "leader",
        "practical",
        "practical, warm",
        "FKM, practical",
        "unregularized",
        "block",
    ):
        played = run(
            Doubling(MATCHED[which]),
            task(SETS["packings"]),
            lambda t, y: torch.zeros(len(y), **TKWARGS),
            33,
        )
        assert not played.centers().any(), which
    vertex = run(
        Doubling(PFBCO(0.4, tie="vertex")),
        task(SETS["packings"]),
        lambda t, y: torch.zeros(len(y), **TKWARGS),
        6,
    )
    close(
        vertex.centers()[2],
        (1 - vertex.base(1).alpha.item()) * SETS["packings"].vertices[:, 0],
        1e-12,
    )


def test_constant_losses_are_noise_whose_sign_does_not_matter():
    """With f = k the estimate is symmetric, so PF and its sham control have the same distribution."""
    constant = lambda t, y: torch.full((len(y),), 0.8, **TKWARGS)
    one, control = (
        run(PFBCO(0.5, sham=sham), task(Ball.of(2)), constant, 15, range(400)).centers()[-1]
        for sham in (False, True)
    )
    assert not torch.allclose(one, control) and ks_2samp(one[:, 0], control[:, 0]).pvalue > 0.01
    practically = run(Doubling(practical(PFBCO(0.5))), task(Ball.of(2)), constant, 40)
    assert (
        practically.centers().isfinite().all()
        and practically.base(40).heard.spread().tolist() == [1.0] * 3
    )


def test_signs_of_the_control_are_fair_and_leave_the_loss_alone():
    """The control's estimates have the same norm and a fair sign that is independent of the direction."""
    constant = lambda t, y: torch.full((len(y),), 0.8, **TKWARGS)
    honest, control = (
        run(PFBCO(0.5, sham=sham), task(Ball.of(2)), constant, 1, range(4000))
        for sham in (False, True)
    )
    ratio = control.base(1).A / honest.base(1).A
    assert torch.equal(ratio.abs(), torch.ones_like(ratio)) and abs(
        ratio.mean().item()
    ) < 4 / math.sqrt(4000)
    assert torch.equal(control.base(1).heard.mean, honest.base(1).heard.mean)
    assert abs((ratio[:, 0] * honest.played[0][:, 0]).mean().item()) < 4 * 0.5 / math.sqrt(4000)


def test_estimates_are_unbiased():
    """E (n / delta) f(x + delta u) u = a for f = <a, y> + b, with and without a baseline (40,000 trials, 5 standard errors)."""
    a, R = torch.tensor([0.5, -0.3, 0.8], **TKWARGS), 40_000
    for learner in (PFBCO(0.5), PFBCO(0.5, baseline=True), FKM(0.5)):
        played = run(learner, task(Ball.of(3)), lambda t, y: y @ a + 0.2, 2, range(R))
        for t in (0, 1):
            state = played.states[t]
            g, _ = learner.estimate(state, task(Ball.of(3)), played.heard[t], played.draws.at(t))
            g = g / state.eta.unsqueeze(1)
            error = (g.mean(0) - a) / (g.std(0) / math.sqrt(R))
            assert error.abs().max() < 5, (learner, t)


def test_the_control_has_no_information():
    a, R = torch.tensor([0.5, -0.3, 0.8], **TKWARGS), 40_000
    played = run(PFBCO(0.5, sham=True), task(Ball.of(3)), lambda t, y: y @ a + 0.2, 1, range(R))
    g = played.states[1].A / played.states[0].eta
    assert (
        (g.mean(0) / (g.std(0) / math.sqrt(R))).abs().max()
        < 5
        < (a / (g.std(0) / math.sqrt(R))).abs().max()
    )


def test_triangles_that_trials_share_are_read_by_all():
    one = run(PFBCO(0.5), task(TRIANGLE, 5.0), linear(2), 30)
    each = run(
        PFBCO(0.5),
        task(
            type(TRIANGLE)(
                *(x.expand(3, *x.shape[1:]) if isinstance(x, torch.Tensor) else x for x in TRIANGLE)
            ),
            5.0,
        ),
        linear(2),
        30,
    )
    close(one.centers(), each.centers(), 1e-12)
