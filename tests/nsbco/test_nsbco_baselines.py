"""Tests of the baselines: expected numbers, and a comparison with references of one trial in plain NumPy.

The references are written from the papers, and their random numbers are ``streams.uniform`` at its counters. A
policy is a generator: it yields points and receives rewards.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from ns_worlds import Flips, Grid, changes

from paperlib.asktell import AskTell
from paperlib.core.contracts import tags_of
from paperlib.core.describe import frozen_dataclass
from paperlib.core.rounds import Probe
from paperlib.core.streams import Streams, uniform
from paperlib.core.trees import check_unshared, tree_map
from paperlib.learners.multiscale import Multiscale
from paperlib.learners.wrapper import LOGGED, Doubling
from paperlib.nsbco.learners.ascent import GradientAscent
from paperlib.nsbco.learners.bob import BanditOverBandit, plan_blocks
from paperlib.nsbco.learners.egs import EGS
from paperlib.nsbco.learners.exp3 import Exp3IX, regret_bound
from paperlib.nsbco.learners.glr import GLR
from paperlib.nsbco.learners.gradient import FullInformation, StaticBaseline
from paperlib.nsbco.learners.kiefer import KieferWolfowitz
from paperlib.nsbco.learners.least_squares import DiscountedLeastSquares, SlidingWindowLeastSquares
from paperlib.nsbco.learners.reduction import StationaryToWeak
from paperlib.nsbco.learners.restarted import Restarted, batch_length
from paperlib.nsbco.learners.spsa import SPSA
from paperlib.nsbco.problems.paths import VALUE, Path, on_first_axis
from paperlib.nsbco.problems.quadratic import QuadraticDrift
from paperlib.play import play

TKWARGS = {"dtype": torch.float64, "device": "cpu"}
ACTION = {"x": Probe(lambda seen: seen.action.double())}


def tensor(*x):
    return torch.tensor(x, **TKWARGS)


# ---- independently computed numbers ------------------------------------------------------------------------

A6 = {
    "A2": (GradientAscent(), 1622.07078541),
    "rA2": (Restarted(GradientAscent()), 256.80572551),
    "EGS": (EGS(), 1043.76501516),
    "rEGS": (Restarted(EGS()), 685.20766521),
    "KW": (KieferWolfowitz(), 982.15377380),
    "rKW": (Restarted(KieferWolfowitz()), 170.48389064),
    "KWtrack": (KieferWolfowitz(100), 275.49221640),
    "BoB": (BanditOverBandit(), 782.24352561),
    "GLR": (GLR(), 93.13515695),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", A6)
def test_regret_of_a_regression_run(name):
    """Acceptance test A6 with T = 8192, S = 3, environment 0, run 0, to all given digits."""
    learner, regret = A6[name]
    log = {"log": Probe(lambda seen: seen.after.log.double(), "final")} if name == "GLR" else {}
    trace = play(learner, Flips(2, 3, 0), 8192, 1, 0, probes=log)
    assert trace["regret"][0, -1] == pytest.approx(regret, rel=0, abs=5.1e-9)
    if name == "GLR":  # the changes are at 2985 and 6779
        assert trace["log"][0, :3].tolist() == [2988, 6782, 0] and trace["report.restarts"] == 2
    if name == "rA2":
        assert trace["report.batch"] == 256


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner, instance, regret",
    [
        (DiscountedLeastSquares(), {}, 331),
        (DiscountedLeastSquares("oracle"), {}, 1064),
        (DiscountedLeastSquares(), {"turn": 4.0}, 117),
    ],
)
def test_regret_of_the_trackers(learner, instance, regret):
    """Values of an independent implementation: T = 2^14, d = 2, S = 5 or V = 4, means over trials with seeds from 1000 on."""
    trace = play(learner, Flips(2, 5, None, **instance), 1 << 14, 8, 1000)
    assert round(trace["regret"][:, -1].mean()) == regret


def test_batches():
    """Acceptance test A4, and further batch lengths."""
    V = tensor(4, 8, 0, 1e-9, 1e9)
    assert batch_length(V, 1 << 18).tolist() == [1626, 1024, 1 << 18, 1 << 18, 1]
    assert batch_length(tensor(2.0), 8192).tolist() == [256]
    by_trial = batch_length(tensor(8.0), 1 << 18, tensor(1.0, 8.0, 0.125))
    assert by_trial.tolist() == [1024, 256, 4096] and by_trial.dtype == torch.int64
    noisy = tensor(8 * (1 - 1e-12))  # the guard absorbs this rounding error
    assert batch_length(noisy, 1 << 18).tolist() == [1024]


def test_lengths_of_the_bandit_over_bandits():
    plan = plan_blocks(1 << 18, 2)
    assert plan.block == 1024 and plan.lengths == (1, 2, 7, 19, 52, 141, 380, 1024)
    assert plan.gamma == pytest.approx(0.194469, abs=5e-7)
    assert plan_blocks(1, 1) == (1, (1,), 0.0)
    assert plan_blocks(64, 1).lengths == (1, 2, 4, 8)  # 8^(2/3) is below 4 in floating point


def test_numbers_of_the_reduction():
    """Numbers of T10 for K = 5, T = 2^14."""
    T = 1 << 14
    weak = StationaryToWeak(Exp3IX(), *regret_bound(5, T), T)
    assert weak.rt(1.0) == pytest.approx(204.61665511, abs=5e-9)
    assert weak.rt(float(T)) == pytest.approx(1.28693907, abs=5e-9)
    assert weak.rho(T) == pytest.approx(4.11728728, abs=5e-9)
    assert 2 * weak.rt(float(T)) + 3 * weak.e(float(T)) / 2 == pytest.approx(2.64945166, abs=5e-9)
    np.testing.assert_allclose(weak.rho(np.array([1, T])), [weak.rho(1), weak.rho(T)])
    t = np.arange(1, T + 1)
    root = StationaryToWeak(Exp3IX(), 3.0, 0.0, T)  # rt = a / sqrt(t) only
    assert (root.rho(t) <= 3 * root.rt(1.0 * t) + 5 * root.e(1.0 * t)).all()


# ---- references -------------------------------------------------------------------------------------------


class World:
    """One trial: the inputs of a reference (d, c0, L, sigma, V, T), and the round."""

    def __init__(self, rng):
        self.d, self.S, self.T = (
            int(rng.integers(1, 4)),
            int(rng.integers(1, 5)),
            int(rng.integers(90, 400)),
        )
        self.c0, self.sigma = rng.uniform(0.3, 0.7), rng.uniform(0.4, 0.9)
        self.L, self.a, self.box = self.sigma * rng.uniform(1.3, 3.0), 0.1, bool(rng.integers(2))
        self.V = (0.0, 2.0, 20.0)

    @property
    def problem(self):
        return Flips(
            self.d, self.S, None, self.a, self.c0, self.sigma, self.L, self.box, None, self.V
        )

    def inside(self, z):
        if self.box:
            return np.clip(z, self.c0 - 1, 1 - self.c0)
        return z * min(1.0, (1 - self.c0) / max(np.linalg.norm(z), 1e-300))

    def e(self, j):
        return np.eye(self.d)[j]

    def u(self, stream, counter):
        return float(uniform(self.seed, stream, counter))

    def batch(self, kappa=1.0):
        V = kappa * self.V[self.seed % 3]
        return self.T if V == 0 else min(self.T, math.ceil((self.T / V) ** (2 / 3) - 1e-6))


def ascent(w, h=0.25, heard=lambda up, um: False, ended=lambda *epoch: None):
    """Algorithm 2; `heard` receives each pair and may stop the run, ``ended`` receives each epoch and its step."""
    z, N0, s = np.zeros(w.d), math.ceil((h / w.c0) ** 4 - 1e-9), 0
    size = lambda s: math.ceil((1 - w.sigma / w.L) ** (-4 * s) * N0 - 1e-9)
    while True:
        n = size(s)
        g, delta = np.zeros(w.d), h * n**-0.25
        for j in range(w.d):
            plus = minus = 0.0
            for _ in range(n):
                up = yield z + delta * w.e(j)
                um = yield z - delta * w.e(j)
                plus, minus = plus + up, minus + um
                if heard(up, um):
                    return
            g[j] = (plus - minus) / (2 * delta * n)
        moved, s = w.inside(z + g / w.L), s + 1
        ended(n, delta, g, moved - z, h * size(s) ** -0.25)
        z = moved


def egs(w):
    z, i = np.zeros(w.d), 1
    while True:
        h, q = min(w.c0, i**-0.25), math.floor(2 * w.d * w.u(2, w.t))
        e = (1 if q % 2 == 0 else -1) * w.e(q // 2)
        y = yield z + h * e
        z, i = w.inside(z + 1 / (w.sigma * i) * w.d * y / h * e), i + 1


def kiefer(w, K=None):
    z, i = np.zeros(w.d), 1
    while True:
        clock, g = K or i, np.zeros(w.d)
        delta = min(w.c0, 0.25 * clock**-0.25)
        for j in range(w.d):
            up = yield z + delta * w.e(j)
            um = yield z - delta * w.e(j)
            g[j] = (up - um) / (2 * delta)
        z, i = w.inside(z + g / (w.sigma * clock)), i + 1


def spsa(w, K=None):
    z = np.zeros(w.d)
    K = w.d * w.L / w.sigma if K is None else K
    delta = min(w.c0, 0.25 * K**-0.25)
    while True:
        signs = np.array([1 if w.u(2, w.d * w.t + j) >= 0.5 else -1 for j in range(w.d)])
        c = delta / math.sqrt(w.d)  # c in Spall's notation
        up = yield z + c * signs
        um = yield z - c * signs
        z = w.inside(z + (up - um) / (2 * c * signs) / (w.sigma * K))


def restarted(w, base, kappa=1.0):
    B = w.batch(kappa)
    y = None
    while True:
        run, x = base(w), None
        for _ in range(B):
            x = run.send(None if x is None else y)
            y = yield x


def bob(w):
    H = math.floor(w.d * math.sqrt(w.T))
    q = max(1, math.ceil(math.log(H)))
    arms = sorted({math.floor(H ** (j / q) + 1e-9) for j in range(q + 1)})
    J, weight, block, y = len(arms), np.zeros(len(arms)), 0, None
    gamma = min(1.0, math.sqrt(J * math.log(J) / ((math.e - 1) * math.ceil(w.T / H))))
    while True:
        p = (1 - gamma) * np.exp(weight) / np.exp(weight).sum() + gamma / J
        arm = next((i for i in range(J) if p[: i + 1].sum() > w.u(3, block)), J - 1)
        total = 0.0
        for k in range(H):
            if k % arms[arm] == 0:
                run, x = ascent(w), None
            x = run.send(None if x is None else y)
            y = yield x
            total += y
        weight[arm] += gamma / J * min(1, max(0, (total / H + 1) / 2)) / p[arm]
        block += 1


def glr(w, v, delta=0.05):
    def heard(up, um):
        pairs.append((up + um) / 2)
        n = len(pairs)
        level = 2 * v * math.log(3 * n**1.5 / delta)
        for k in (2**i for i in range(20) if 2**i <= n):
            late = np.mean(pairs[n - k :])
            alarm = k < n and k * (n - k) / n * (late - np.mean(pairs[: n - k])) ** 2 > level
            for N, low, high in last:
                beyond = max(low - late, late - high, 0.0)
                alarm = alarm or k * N / (k + N) * beyond**2 > level
            if alarm:
                w.restarts.append(w.t)
                return True
        return False

    def ended(n, width, g, step, width_after):
        length = math.sqrt(step @ step)
        sure = math.sqrt(w.d) + math.sqrt(2 * math.log(1 / delta))
        off = length * sure * math.sqrt(v / (n * width**2))
        off += length * math.sqrt(w.d) * (w.L - w.sigma) * width / 4
        ends = []
        for bend, straight, sign in ((w.L, w.sigma, -1), (w.sigma, w.L, 1)):
            rise = g @ step - bend / 2 * length**2 + sign * off
            ends.append(np.mean(pairs) + rise + straight / 2 * width**2 - bend / 2 * width_after**2)
        last[:] = [(len(pairs), *ends)]
        pairs.clear()

    pairs, last, w.restarts, y = [], [], [], None
    while True:
        pairs.clear(), last.clear()
        run, x = ascent(w, heard=heard, ended=ended), None
        try:
            while True:
                x = run.send(None if x is None else y)
                y = yield x
        except StopIteration:  # the test raised an alarm
            pass


def least_squares(w, W, discount):
    center, past = np.zeros(w.d), []
    W = w.batch() if W == "oracle" else W
    delta = min(w.c0, 0.25 * W**-0.25)
    while True:
        for j in range(w.d):
            for sign in (1, -1):
                x = center + sign * delta * w.e(j)
                y = yield x
                past.append((np.append(1.0, x), y + w.sigma / 2 * x @ x))
        A, b = 1e-3 * np.eye(w.d + 1), np.zeros(w.d + 1)
        for age, (v, target) in enumerate(reversed(past)):
            weight = (1 - 1 / W) ** age if discount else float(age < W)
            A, b = A + weight * np.outer(v, v), b + weight * target * v
        center = w.inside(np.linalg.solve(A, b)[1:] / w.sigma)


def full_information(w):
    """Reference of ``FullInformation``; an expert is [point, weighted lead over the learner, rounds in its block, block length]."""
    experts = [[np.zeros(w.d), 0.0, 0, 2**m] for m in range(int(w.T).bit_length() + 1)]
    B = 2 * math.sqrt(w.d) if w.box else 2.0
    alpha, t = w.sigma / (w.L + w.sigma * (1 - w.c0) * B) ** 2, 0

    def mean():
        p = np.exp([ahead for _, ahead, _, _ in experts])
        return sum(weight * z for weight, (z, _, _, _) in zip(p / p.sum(), experts))

    while True:
        x = mean()
        g = yield x
        t += 1
        for expert in experts:
            z, away = expert[0], expert[0] - x
            expert[1] += alpha * (g @ away - w.sigma / 2 * away @ away)
            expert[2] += 1
            expert[0] = w.inside(z + (g - w.sigma * away) / (w.sigma * expert[2]))
        here = mean()
        for expert in experts:
            if t % expert[3] == 0:
                expert[:3] = here.copy(), 0.0, 0


def single(w, policy, seed, gradient=False):
    """Return the points of one trial, T x d."""
    w.seed, places = seed, changes(w.T, w.S, seed)
    run, played, y = policy(w), [], None
    for t in range(w.T):
        w.t = t
        x = run.send(y)
        theta = (1 - w.c0) * (-1) ** (places <= t).sum() * w.e(0)
        y = 0.5 - w.sigma / 2 * (x - theta) @ (x - theta) + w.a * (2 * w.u(0, t) - 1)
        y = -w.sigma * (x - theta) if gradient else y
        played.append(x)
    return np.array(played)


REFERENCES = {
    "A2": (GradientAscent(), ascent),
    "rA2": (Restarted(GradientAscent()), lambda w: restarted(w, ascent)),
    "rA2, kappa": (Restarted(GradientAscent(), 0.3), lambda w: restarted(w, ascent, 0.3)),
    "EGS": (EGS(), egs),
    "rEGS": (Restarted(EGS()), lambda w: restarted(w, egs)),
    "KW": (KieferWolfowitz(), kiefer),
    "rKW": (Restarted(KieferWolfowitz()), lambda w: restarted(w, kiefer)),
    "KWtrack": (KieferWolfowitz(20.0), lambda w: kiefer(w, 20)),
    "SPSA": (SPSA(), spsa),
    "SPSA, slow": (SPSA(30.0), lambda w: spsa(w, 30.0)),
    "rSPSA": (Restarted(SPSA()), lambda w: restarted(w, spsa)),
    "BoB": (BanditOverBandit(), bob),
    "GLR": (GLR(), lambda w: glr(w, 0.1**2 / 6)),
    "GLR, nervous": (GLR(variance=2e-4, delta=0.5), lambda w: glr(w, 2e-4, 0.5)),
    "D-LS": (DiscountedLeastSquares(16), lambda w: least_squares(w, 16, True)),
    "D-LS, oracle": (DiscountedLeastSquares("oracle"), lambda w: least_squares(w, "oracle", True)),
    "SW-LS": (SlidingWindowLeastSquares(16), lambda w: least_squares(w, 16, False)),
    "SW-LS, oracle": (
        SlidingWindowLeastSquares("oracle"),
        lambda w: least_squares(w, "oracle", False),
    ),
    "full information": (FullInformation(), full_information),
}


@pytest.mark.parametrize("settings", range(4))
@pytest.mark.parametrize("name", REFERENCES)
def test_actions_equal_the_reference(name, settings):
    """Dimension, set, horizon, constants and changes are random; V_T is 0 in one of three trials."""
    learner, policy = REFERENCES[name]
    w = World(np.random.default_rng(settings))
    log = {"log": Probe(lambda seen: seen.after.log.double(), "final")} if "GLR" in name else {}
    trace = play(learner, w.problem, w.T, 3, 10 * settings, record="all", probes=ACTION | log)
    for i in range(3):
        expected = single(w, policy, 10 * settings + i, name == "full information")
        np.testing.assert_allclose(trace["x"][i], expected, rtol=0, atol=1e-10)
        if log:
            found = [t for t in trace["log"][i].tolist() if 0 < t < w.T]
            assert found == w.restarts[:LOGGED]


def test_references_restart():
    """The random settings cover the intended cases."""
    counts = []
    for settings in range(4):
        w = World(np.random.default_rng(settings))
        single(w, REFERENCES["GLR, nervous"][1], 10 * settings)
        counts.append(len(w.restarts))
    assert max(counts) >= 3


@pytest.mark.parametrize("seed", range(3))
def test_exp3_ix_actions_equal_the_reference(seed):
    T, K = 300, 4
    problem = Grid(K, 3, None)
    trace = play(Exp3IX(), problem, T, [seed], record="all", probes=ACTION)
    losses, points, places = np.zeros(K), np.linspace(-1, 1, K), changes(T, 3, seed)
    u = lambda stream, t: float(uniform(seed, stream, t))
    for t in range(T):
        eta = math.sqrt(math.log(K) / (K * (t + 1)))
        p = np.exp(-eta * (losses - losses.min()))
        p /= p.sum()
        arm = int((np.cumsum(p)[:-1] < u(2, t)).sum())
        assert trace["x"][0, t] == arm
        f = 0.5 - (points[arm] - 0.5 * (-1) ** (places <= t).sum()) ** 2 / 2
        y = f + 0.1 * (2 * u(0, t) - 1)
        losses[arm] += (1 - y) / 2 / (p[arm] + eta / 2)


# ---- single and batched trials ----------------------------------------------------------------------------

WORLD = Flips(2, 3, None, V=(0.0, 2.0, 20.0))
BATCHED = {name: (learner, WORLD) for name, (learner, _) in REFERENCES.items()} | {
    "still": (StaticBaseline(), WORLD),
    "Exp3IX": (Exp3IX(), Grid(5, 3, None)),
    "reduction": (
        Multiscale(StationaryToWeak(Exp3IX(), 0.3, 0.3, 96), 0.3, 3.0),
        Grid(5, 3, None),
    ),
    "kappa by trial": (Restarted(EGS(), tensor(1.0, 0.1, 5.0)), WORLD),
    "gain by trial": (KieferWolfowitz(tensor(1.0, 20.0, 300.0)), WORLD),
    "SPSA, gain by trial": (SPSA(tensor(1.0, 20.0, 300.0)), WORLD),
    "bonus by trial": (BanditOverBandit(GradientAscent(bonus=tensor(1.0, 2.0, 3.0))), WORLD),
    "variance by trial": (GLR(variance=tensor(1e-5, 1e-3, 0.01)), WORLD),
}


@pytest.mark.parametrize("name", BATCHED)
def test_single_trial_equals_batch(name):
    """Also if the numbers of the task have one row per trial."""
    learner, problem = BATCHED[name]
    batch = play(learner, problem, 96, 3, record="all", probes=ACTION)
    for trial in range(3):
        alone = play(learner, problem, 96, [trial], record="all", probes=ACTION)
        np.testing.assert_allclose(alone["x"][0], batch["x"][trial], rtol=0, atol=1e-9)
        np.testing.assert_allclose(alone["regret"][0], batch["regret"][trial], atol=1e-9)
    if isinstance(problem, Flips):
        rows = replace(problem, rows=True)
        again = play(learner, rows, 96, 3, record="all", probes=ACTION)
        np.testing.assert_allclose(again["x"], batch["x"], rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", BATCHED)
def test_queries_stay_in_the_set(name):
    learner, problem = BATCHED[name]
    if isinstance(problem, Flips):
        x = play(learner, problem, 96, 3, record="all", probes=ACTION)["x"]
        assert np.linalg.norm(x, axis=2).max() <= 1 + 1e-12


# ---- properties -------------------------------------------------------------------------------------------


def test_no_restart_without_drift():
    instance = Flips(2, 1, 0)  # V_T = 0
    a, b = (
        play(x, instance, 300, 2, record="all")
        for x in (Restarted(GradientAscent()), GradientAscent())
    )
    np.testing.assert_array_equal(a["regret"], b["regret"])


def test_restart_repeats_the_first_points():
    """After B rounds the oracle repeats its first points if the noise is the same."""
    quiet = Flips(1, 3, 0, noise=0.0, at=())
    x = play(Restarted(GradientAscent()), quiet, 64, 1, record="all", probes=ACTION)["x"][0]
    B = math.ceil(32 ** (2 / 3))
    np.testing.assert_array_equal(x[:B], x[B : 2 * B])


def test_alarms_follow_changes_quickly_and_only_changes():
    trace = play(
        GLR(),
        Flips(2, 2, at=(1000,)),
        2000,
        20,
        probes={"log": Probe(lambda seen: seen.after.log[:, :2].double(), "final")},
    )
    assert (trace["report.restarts"] == 1).all() and not trace["report.overflow"].any()
    first = trace["log"][:, 0]
    assert (first >= 1002).all() and np.median(first) <= 1006 and (first % 2 == 0).all()
    # with this variance every second pair causes a restart
    nervous = play(GLR(variance=1e-12), Flips(2, 2), 600, 2)
    assert (nervous["report.restarts"] > LOGGED).all() and nervous["report.overflow"].all()


@frozen_dataclass
class Once(Path):
    """Problem with theta = A e_1; in trial i from round ``first`` + i on, theta = ``after`` A e_1 and the value is ``rise`` higher."""

    first: int
    after: float = -1.0
    rise: float = 0.0
    drawn = True

    @property
    def values(self):
        return VALUE, VALUE + self.rise

    def begin(self, seeds, horizon, dim, reach, vary):
        return self.first + np.asarray(seeds)[:, None]

    def theta(self, part, t, horizon, dim, reach):
        return on_first_axis(reach * np.where(t < part, 1.0, self.after), dim)

    def value(self, part, t, horizon):
        return VALUE + self.rise * (t >= part)


ONCE = {  # change, amplitude of the noise, and largest allowed delay
    "the level falls": ({}, 0.1, 16),
    "the level rises": ({"after": 0.0, "rise": 0.4}, 0.1, 64),
    "larger noise": ({}, 0.15, 32),
}


@pytest.mark.parametrize("name", ONCE)
def test_changes_at_any_offset_within_an_epoch_are_detected(name):
    """The epochs have 4, 64, 1,024 and 16,384 rounds. Test a change in each round of the third epoch and in 16 rounds of the fourth."""
    change, amplitude, most = ONCE[name]
    start, trials = 68, 1024 + 16
    problem = QuadraticDrift(Once(start, **change), amplitude=amplitude)
    log = {"log": Probe(lambda seen: seen.after.log[:, :4].double(), "final")}
    learner = GLR(variance=amplitude**2 / 6)
    trace = play(learner, problem, start + trials + most, trials, probes=log)
    delay = trace["log"] - (start + np.arange(trials))[:, None]
    delay = np.where(delay > 0, delay, np.inf).min(1)  # delay of the first restart after the change
    assert delay.max() <= most, (delay.max(), delay.argmax())


@pytest.mark.slow
@pytest.mark.parametrize("dim", [1, 2, 5])
def test_no_restart_on_a_stationary_path(dim):
    """The steps of the center at four epoch ends cause no false alarms: delta = 0.05 per epoch, and the bound is loose."""
    trace = play(GLR(), QuadraticDrift(dim=dim), 4096, 200)
    assert (trace["report.restarts"] > 0).mean() <= 0.05


def test_optimistic_estimate_of_the_reduction_is_mean_plus_bonus():
    learner, arms = StationaryToWeak(Exp3IX(), 3.0, 7.0, 100), torch.zeros(1, 3, 1, **TKWARGS)
    draws = Streams(0, range(2))
    state = learner.init(2, arms, None, draws.at(-1), **TKWARGS)
    check_unshared("StationaryToWeak", state, 2)
    for t, y in enumerate(([0.5, -1.0], [0.1, 1.0], [0.0, 0.3])):
        arm, state = learner.select(state, arms, draws.at(t))
        state = learner.update(state, arms, arm, tensor(*y), draws.at(t))
    bonus = 3 / math.sqrt(3) + 7 / 3 + 2 * math.sqrt(math.log(200) / 3)
    np.testing.assert_allclose(learner.optimistic(state), np.array([0.2, 0.1]) + bonus)
    fresh = learner.restart(state, arms, None, draws.at(3))
    assert fresh.t.tolist() == fresh.total.tolist() == [0, 0] and not fresh.base.losses.any()


def test_policy_without_restart_method_restarts_by_init():
    class Plain(type(Exp3IX())):
        restart = property()

    learner, arms = StationaryToWeak(Plain(), 1.0, 1.0, 100), torch.zeros(1, 3, 1, **TKWARGS)
    assert not hasattr(learner.base, "restart")
    draw = Streams(0, range(2)).at(0)
    state = learner.init(2, arms, None, draw, **TKWARGS)
    state = learner.update(state, arms, torch.tensor([0, 1]), tensor(0.1, 0.2), draw)
    fresh = learner.restart(state, arms, None, draw)
    assert not fresh.base.losses.any() and fresh.t.tolist() == [0, 0]


def test_regret_bound_of_full_information_on_every_block():
    """Regret against the best fixed point in every dyadic block is at most ln(2 T) / alpha plus the regret of the block's expert."""
    T, alpha, slope = 1024, 1 / 9, 3.0
    full = play(FullInformation(), Flips(2, 5), T, 3, record="all")["regret"]
    gap, moved = np.diff(full, prepend=0.0), {*changes(T, 5, 0)}
    for m in range(11):
        own = slope**2 / 2 * (1 + math.log(2**m))  # Hazan, Agarwal & Kale (2007), Theorem 1
        blocks = gap.reshape(3, -1, 2**m).sum(2)
        still = [not moved & {*range(i * 2**m + 1, (i + 1) * 2**m)} for i in range(T >> m)]
        assert (blocks[:, still] <= math.log(2 * T) / alpha + own).all()
    costs = {
        name: play(learner, Flips(2, 5), T, 3)["regret"][:, -1].mean()
        for name, learner in (("GLR", GLR()), ("still", StaticBaseline()))
    }
    assert full[:, -1].mean() < costs["GLR"] < costs["still"] == pytest.approx(T / 8)


def test_memory_of_a_window():
    """The history has at most 2 W queries, and all queries with W = "oracle"."""
    for learner, most in (
        (SlidingWindowLeastSquares(8), 16),
        (SlidingWindowLeastSquares("oracle"), 99),
    ):
        rows = {"n": Probe(lambda seen: torch.tensor([seen.after.past.n]))}
        n = play(learner, WORLD, 99, 1, record="all", probes=rows)["n"]
        assert n.max() == (most if most == 99 else most - 1) and n[0, 0] == 1


# ---- bad input --------------------------------------------------------------------------------------------

REFUSED = [
    (
        lambda: Restarted(StaticBaseline()),
        r"base must be a learner with the method restart,.*, got StaticBaseline\(\)",
    ),
    (lambda: Restarted(3), "base must be a learner with the method update, got 3"),
    (lambda: Restarted(EGS(), 0.0), "kappa must be a positive number from 1e-30 to.*, got 0.0"),
    (
        lambda: Restarted(EGS(), tensor(1.0, -1.0)),
        "kappa must be a positive number from 1e-30 to.*, got ",
    ),
    (lambda: EGS(-1.0), r"h must be a positive number from 1e-30 to 1e\+30, got -1.0"),
    (lambda: KieferWolfowitz(0), "gain must be a positive number from 1e-30 to.*, got 0"),
    (lambda: KieferWolfowitz(math.nan), "gain must be a positive number from 1e-30 to.*, got nan"),
    (lambda: KieferWolfowitz(h=0.0), r"h must be a positive number from 1e-30 to 1e\+30, got 0.0"),
    (
        lambda: BanditOverBandit(StaticBaseline()),
        r"base must be a learner with the method restart,.*, got StaticBaseline\(\)",
    ),
    (lambda: GLR(EGS()), r"base must be a GradientAscent, because the test.*, got EGS\(\)"),
    (lambda: GLR(variance=0.0), "variance must be a positive number from 1e-30 to.*, got 0.0"),
    (lambda: GLR(delta=2.0), "delta must be a positive number from 1e-30 to 1, got 2.0"),
    (lambda: DiscountedLeastSquares(0), "W must be an integer from 1 to 1099511627776, got 0"),
    (
        lambda: DiscountedLeastSquares("best"),
        "W must be 'oracle' or an integer of at least 1, got 'best'",
    ),
    (
        lambda: SlidingWindowLeastSquares(1.5),
        "W must be an integer from 1 to 1099511627776, got 1.5",
    ),
    (
        lambda: SlidingWindowLeastSquares(ridge=0.0),
        r"ridge must be a positive number from 1e-30 to 1e\+30, got 0.0",
    ),
    (
        lambda: StationaryToWeak(Exp3IX(), -1.0, 0.0, 10),
        r"a must be 0 or a positive number from 1e-30 to 1e\+30, got -1.0",
    ),
    (
        lambda: StationaryToWeak(Exp3IX(), 1.0, math.inf, 10),
        r"c must be 0 or a positive number from 1e-30 to 1e\+30, got inf",
    ),
    (
        lambda: StationaryToWeak(Exp3IX(), 1.0, 0.0, 0),
        r"horizon must be an integer from 1 to 2\^63 - 1, got 0",
    ),
    (lambda: regret_bound(1, 10), r"arms must be an integer from 2 to 2\^63 - 1, got 1"),
]


@pytest.mark.parametrize("make, message", REFUSED, ids=[message for _, message in REFUSED])
def test_settings_out_of_range(make, message):
    with pytest.raises(ValueError, match=message):
        make()


ON_TASKS = [REFERENCES[name][0] for name in ("A2", "rA2", "EGS", "KW", "BoB", "GLR", "D-LS")]
ON_TASKS += [SlidingWindowLeastSquares(), FullInformation(), StaticBaseline()]


@pytest.mark.parametrize("learner", ON_TASKS, ids=lambda x: type(x).__name__)
def test_invalid_tasks_and_feedback_raise_errors(learner):
    task = Flips().init(1, 10, None, **TKWARGS).task
    learner.validate(task, tensor(0.1, 0.2)[None], None)
    with pytest.raises(ValueError, match="a Task"):
        learner.validate(torch.zeros(1, 3, 2), None, None)
    with pytest.raises(
        ValueError, match="concavity / smoothness must be above 0 and below 1, got 1"
    ):
        learner.validate(task._replace(concavity=task.smoothness), None, None)
    with pytest.raises(ValueError, match="^variation must .*, got "):
        learner.validate(task._replace(variation=tensor(-1.0)), None, None)
    with pytest.raises(ValueError, match="^action must .*, got "):
        learner.validate(task, tensor(2.0, 0.0)[None], None)
    if learner.wants == "gradient":
        learner.validate(task, None, tensor(3.0, 0.0)[None])
        for bad in (tensor(0.5), tensor(math.nan, 0.0)[None]):
            with pytest.raises(ValueError, match="gradient"):
                learner.validate(task, None, bad)
    else:
        with pytest.raises(ValueError, match="^reward must be a number from -1 to 1 .*, got 1.5"):
            learner.validate(task, None, tensor(1.5))


@pytest.mark.parametrize("learner", ON_TASKS, ids=lambda x: type(x).__name__)
def test_learners_reject_rewards_for_actions_that_they_did_not_choose(learner):
    task = Flips().init(1, 10, None, **TKWARGS).task
    assert tags_of(learner).own_actions == isinstance(learner, (FullInformation, StaticBaseline))
    if not tags_of(learner).own_actions:
        user = AskTell(learner, tree_map(lambda x: x[0], task), horizon=10)
        user.ask()
        with pytest.raises(ValueError, match="action"):
            user.tell(np.array([0.3, 0.3]), 0.1)


@pytest.mark.parametrize(
    "learner",
    [Restarted(EGS()), BanditOverBandit(), DiscountedLeastSquares("oracle")],
    ids=lambda x: type(x).__name__,
)
def test_missing_horizon_raises_an_error(learner):
    task, draw = Flips().init(1, 10, None, **TKWARGS).task, Streams(0, [0]).at(-1)
    with pytest.raises(ValueError, match="horizon must be a number of rounds, because"):
        learner.init(1, task, None, draw, **TKWARGS)


def test_base_with_a_clock_shared_by_trials_raises_an_error():
    class Shared(type(EGS())):
        def init(self, *args, **tkwargs):
            return super().init(*args, **tkwargs)._replace(i=3)

    for learner in (Restarted(Shared()), BanditOverBandit(Shared())):
        for trials in (1, 2):
            with pytest.raises(
                ValueError,
                match="base must be a learner whose state consists of.*, got Shared, whose trials",
            ):
                play(learner, Flips(), 10, trials)


def test_bandit_over_bandit_cannot_be_restarted_from_outside():
    with pytest.raises(
        ValueError, match="base must not be BanditOverBandit in a wrapper that restarts it, for"
    ):
        play(Doubling(BanditOverBandit()), Flips(), 10, 1)


def test_one_arm_raises_an_error():
    for learner in (Exp3IX(), Multiscale(StationaryToWeak(Exp3IX(), 1.0, 1.0, 10))):
        with pytest.raises(
            ValueError, match="arms must contain at least 2 arms, because the.*, got 1"
        ):
            play(learner, Grid(1), 10, 2)
    with pytest.raises(ValueError, match="^reward must be a number from -1 to 1 .*, got 2"):
        Exp3IX().validate(torch.zeros(1, 3, 1), None, tensor(2.0))
