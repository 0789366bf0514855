"""Recorded runs and instances for the tests of the theory, with correct and with broken learners."""

from dataclasses import dataclass

import numpy as np
import torch

from companion.bkb.experiments.settings import REFERENCE
from companion.bkb.proofs.run_lemmas import Replay
from companion.bkb.proofs.sketch_lemmas import Snapshot
from paperlib.bkb.learners.bkb import BKB
from paperlib.bkb.model.confidence import Confidence
from paperlib.bkb.probes import probes, sketch_probes
from paperlib.core.rounds import Probe
from paperlib.maths.gp import RBF, Linear, Matern
from paperlib.play import play

KERNELS = {"rbf": RBF(30.0), "matern": Matern(0.5, 0.3), "linear": Linear()}
_traces = {}


def confidence(rule="practical", **changes):
    """Return the confidence rule of the reference problem."""
    return Confidence(**{"noise": 0.1, "norm_bound": 3.0, "rule": rule} | changes)


def record(learner, problem, horizon, trials, sketched=True, seed=0, **more):
    """Run a learner with every probe in every round; the result is cached for the other tests."""
    key = (learner, problem, horizon, trials, sketched, seed)
    if key not in _traces:
        base = getattr(learner, "base", learner)
        pairs = (
            sketch_probes(base.kernel, base.confidence, base.qbar)
            if sketched
            else probes(base.confidence)
        )
        named = {name: Probe(*pair) for name, pair in pairs.items()} | {
            name: Probe(*pair) for name, pair in more.items()
        }
        _traces[key] = play(learner, problem, horizon, trials, seed, record="all", probes=named)
    return _traces[key]


def reference_run(rule="practical", qbar=10.0, horizon=120, trials=20, kind=BKB, seed=0, **changes):
    """Return trace, replay and learner on the reference problem."""
    problem = REFERENCE
    learner = kind(problem.kernel, confidence(rule, **changes), qbar=qbar)
    trace = record(learner, problem, horizon, trials, seed=seed)
    arms = problem.init(1, horizon, _draw(), dtype=torch.float64).arms
    return trace, Replay.of(trace, problem.kernel, arms, learner.confidence.lam), learner


def _draw():
    from paperlib.core.streams import Streams

    return Streams(0, [0]).at(-1)


def instance(name, seed=0, arms=14, rounds=40, trials=3, ridge=0.1):
    """Return a replay of random arms."""
    rng = np.random.default_rng(seed)
    points = torch.from_numpy(rng.uniform(size=(1, arms, 2)))
    return Replay(
        KERNELS[name], points, ridge, torch.from_numpy(rng.integers(0, arms, (trials, rounds)))
    )


def dictionary(name, seed=0, arms=30, rounds=200, qbar=20.0, ridge=0.1):
    """Return a dictionary sampled with exact variances, as a snapshot with multiplicities and probabilities."""
    rng = np.random.default_rng(seed)
    points = torch.from_numpy(rng.uniform(size=(arms, 2)))
    n = torch.from_numpy(rng.multinomial(rounds, np.full(arms, 1 / arms)).astype(float))
    exact = Snapshot(KERNELS[name], points, n, n > 0, ridge).exact_s2
    p = (qbar * exact).clamp(max=1)
    kept = torch.from_numpy(rng.binomial(n.long().numpy(), p.numpy()).astype(float))
    return Snapshot(KERNELS[name], points, n, kept > 0, ridge, kept=kept, probability=p)


@dataclass(frozen=True)
class Starved(BKB):
    """Broken learner: its variance lacks the part outside the span of the dictionary."""

    variance: str = "sor"


@dataclass(frozen=True)
class Overconfident(BKB):
    """Broken learner: it reports a hundredth of its standard deviation, and half its mean."""

    def update(self, state, arms, arm, reward, draw):
        new = super().update(state, arms, arm, reward, draw)
        return new._replace(s2=1e-4 * new.s2, mu=0.5 * new.mu)


@dataclass(frozen=True)
class KeepsAll(BKB):
    """Broken learner: it keeps every pull, so that its dictionary is all pulled arms, with all pulls as multiplicity."""

    qbar: float = 1e9
