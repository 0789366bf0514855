"""Checks of the numbers in a learner's states along a run: correct learners pass, and each deliberately broken learner is flagged.

The checks are the ones that readers see in the notebook.
"""

from dataclasses import dataclass

import pytest
from bkb_runs import confidence

from companion.bkb.errata import reference_arms
from companion.bkb.experiments.settings import REFERENCE
from companion.bkb.proofs import run_lemmas, sketch_lemmas
from companion.bkb.proofs.sketch_lemmas import in_all
from paperlib.bkb.learners.bkb import BKB
from paperlib.bkb.learners.exact import ExactGPUCB
from paperlib.bkb.learners.lazy import LazyBKB
from paperlib.bkb.learners.ucb import KernelUCB, argmax_first_arm
from paperlib.bkb.probes import own_numbers
from paperlib.play import play

QBAR, ROUNDS, TRIALS = 3.0, 40, 2
EXACT = (
    run_lemmas.effective_dimension,
    run_lemmas.log_determinant,
    run_lemmas.proposition_b1,
    run_lemmas.proposition_b3,
    run_lemmas.sum_of_variances,
    run_lemmas.posterior,
)


def own(learner, rounds=ROUNDS, trials=TRIALS):
    kernel, arms = reference_arms()
    trace = play(learner, REFERENCE, rounds, trials, record="all", probes=own_numbers(learner))
    run = run_lemmas.Replay.of(trace, kernel, arms, learner.confidence.lam)
    return run_lemmas.Own.by(trace, run, learner.confidence)


def flagged(learner):
    """Return the names of the statements that do not hold for the learner's numbers, as the notebook prints them."""
    run = own(learner)
    checks = [s(run) for s in (run_lemmas.radius, run_lemmas.choice, run_lemmas.least_variance)]
    if isinstance(learner, ExactGPUCB):
        checks += [statement(run) for statement in EXACT]
    else:
        checks.append(in_all(sketch_lemmas.sketched_posterior, run.shots()))
    if isinstance(learner, BKB):
        drawn = run_lemmas.coins(0, *run.mask.shape)
        checks.append(run_lemmas.sampled(run, drawn, QBAR))
    return {check.statement for check in checks if check.verdict != "holds"}


def made(kind, rule="practical", **more):
    sketch = {} if issubclass(kind, ExactGPUCB) else {"qbar": QBAR}
    return kind(REFERENCE.kernel, confidence(rule), **sketch, **more)


@pytest.mark.parametrize("kind", [BKB, LazyBKB, ExactGPUCB])
@pytest.mark.parametrize("rule", ["paper", "corrected", "online", "practical"])
def test_sound_learners_pass(kind, rule):
    assert flagged(made(kind, rule)) == set()


# Broken on purpose ----------------------------------------------------------------------------------------


class Scaled(KernelUCB):
    """Fault: a factor in variance, mean or radius; or the sum in the radius comes from another round."""

    def update(self, state, arms, arm, reward, draw):
        new = super().update(state, arms, arm, reward, draw)
        return new._replace(s2=self.spread * new.s2, mu=self.mean * new.mu)

    def radius(self, state):
        return self.wide * super().radius(state)


class Early(KernelUCB):
    """Fault: the posterior of one round earlier, so that the newest reward is counted but not used."""

    def update(self, state, arms, arm, reward, draw):
        new = super().update(state, arms, arm, reward, draw)
        return new._replace(s2=state.s2, mu=state.mu)


class EarlyRadius(KernelUCB):
    """Fault: the radius of one round earlier, so that its sum lacks the newest arm."""

    def radius(self, state):
        told = state.tally.information - (0 if state.tally.rounds < 2 else 0.1)
        return self.confidence.radius(state.tally._replace(information=told))


class LateSum(KernelUCB):
    """Fault: the sum in the radius uses the variance after the reward instead of the variance before it."""

    def add_up(self, state, arm, n, s2):
        return self.confidence.add(
            state.tally, s2.gather(1, arm.unsqueeze(1)).squeeze(1), (n * s2).sum(1)
        )


class Pessimist(KernelUCB):
    """Fault: a wrong sign, mu - beta s."""

    def select(self, state, arms, draw):
        if state.tally.rounds == 0:
            return super().select(state, arms, draw)
        bound = state.mu - self.radius(state).unsqueeze(1) * state.s2.sqrt()
        return argmax_first_arm(bound, state.copies), state


class Quiet(KernelUCB):
    """Fault: the learner chooses with another radius than it reports."""

    def select(self, state, arms, draw):
        if state.tally.rounds == 0:
            return super().select(state, arms, draw)
        bound = state.mu + 0.9 * self.radius(state).unsqueeze(1) * state.s2.sqrt()
        return argmax_first_arm(bound, state.copies), state


def broken(fault, kind, **fields):
    """Return the class of ``kind`` with a fault mixed in."""
    body = {"__annotations__": dict.fromkeys(fields, float), **fields}
    return dataclass(frozen=True)(type(f"{fault.__name__}{kind.__name__}", (fault, kind), body))


FAULTS = {
    "variance too large": (Scaled, {"spread": 1.01, "mean": 1.0, "wide": 1.0}),
    "variance too small": (Scaled, {"spread": 0.5, "mean": 1.0, "wide": 1.0}),
    "mean shrunk": (Scaled, {"spread": 1.0, "mean": 0.99, "wide": 1.0}),
    "mean's sign": (Scaled, {"spread": 1.0, "mean": -1.0, "wide": 1.0}),
    "radius too large": (Scaled, {"spread": 1.0, "mean": 1.0, "wide": 1.01}),
    "radius too small": (Scaled, {"spread": 1.0, "mean": 1.0, "wide": 0.5}),
    "posterior one round early": (Early, {}),
    "radius one round early": (EarlyRadius, {}),
    "sum of the variances after": (LateSum, {}),
    "sign of the optimism": (Pessimist, {}),
    "another radius than it reports": (Quiet, {}),
}
SEEN_BY = {
    "variance too large": {"posterior"},
    "variance too small": {"posterior"},
    "mean shrunk": {"posterior"},
    "mean's sign": {"posterior"},
    "radius too large": {"Theorem 4.1, radius"},
    "radius too small": {"Theorem 4.1, radius", "Figure 1, choice"},
    "posterior one round early": {"posterior"},
    "radius one round early": {"Theorem 4.1, radius"},
    "sum of the variances after": {"Theorem 4.1, radius"},
    "sign of the optimism": {"Figure 1, choice"},
    "another radius than it reports": {"Figure 1, choice"},
}


@pytest.mark.parametrize("kind", [BKB, LazyBKB, ExactGPUCB])
@pytest.mark.parametrize("name", FAULTS)
def test_broken_learners_are_flagged(name, kind):
    fault, fields = FAULTS[name]
    found = flagged(made(broken(fault, kind, **fields)))
    section = "Section 2" if kind is ExactGPUCB else "Section 3"
    assert {x.replace("posterior", f"{section}, posterior") for x in SEEN_BY[name]} <= found


class Tossed(BKB):
    """Fault: another inclusion probability."""

    def sampled(self, state, pulls, draw, rows=slice(None)):
        if state.tally.rounds == 0:
            return pulls.n > 0
        coins = draw.uniform("dictionary", pulls.n.shape[1])
        p = (self.factor * self.qbar * state.s2).clamp(max=1)
        return coins < ((pulls.n > 0) * p if self.single else 1 - (1 - p) ** pulls.n)


class NewVariance(BKB):
    """Fault: samples with the variance after the reward, not with the variance that chose the arm."""

    def sampled(self, state, pulls, draw, rows=slice(None)):
        mask = super().sampled(state, pulls, draw, rows)
        rounds = state.tally.rounds + 1
        new = self.fitted(self.points, mask, pulls, state.tally, state.eigh, rounds)
        return super().sampled(state._replace(s2=new.s2), pulls, draw, rows)

    @property
    def points(self):
        return reference_arms()[1].view(1, -1, 1)


class Keeps(BKB):
    """Fault: arms never leave the dictionary."""

    def sampled(self, state, pulls, draw, rows=slice(None)):
        return super().sampled(state, pulls, draw, rows) | state.mask


TOSSES = {
    "half the probability": (Tossed, {"factor": 0.5, "single": 0.0}),
    "twice the probability": (Tossed, {"factor": 2.0, "single": 0.0}),
    "one random number for all pulls of an arm": (Tossed, {"factor": 1.0, "single": 1.0}),
    "a tenth more": (Tossed, {"factor": 1.1, "single": 0.0}),
    "with the variance after the reward": (NewVariance, {}),
    "never redrawn": (Keeps, {}),
}


@pytest.mark.parametrize("name", TOSSES)
def test_wrong_probabilities_of_inclusion_are_flagged(name):
    fault, fields = TOSSES[name]
    kind = dataclass(frozen=True)(
        type(fault.__name__, (fault,), {"__annotations__": dict.fromkeys(fields, float), **fields})
    )
    assert flagged(made(kind)) == {"Figure 1, dictionary"}


def test_sampling_per_arm_gives_another_dictionary():
    assert flagged(made(BKB, merge="arms")) == {"Figure 1, dictionary"}


def test_a_wrong_rule_is_flagged():
    run = own(made(BKB, "online"))
    claimed = {**vars(run)} | {"confidence": confidence("corrected")}
    fields = run_lemmas.Own.__dataclass_fields__
    wrong = run_lemmas.Own(**{name: claimed[name] for name in fields})
    assert run_lemmas.radius(run).verdict == "holds" and run_lemmas.radius(wrong).verdict == "fails"


# Statements about one dictionary ---------------------------------------------------------------------------


def test_all_dictionaries_are_in_one_check():
    shots = own(made(BKB)).shots()
    check = in_all(sketch_lemmas.sketched_posterior, shots)
    assert check.verdict == "holds" and check.held.size == 20 * 2 * 64
    assert check.inputs["dictionaries"] == 20
    wrong = [*shots[:-1], type(shots[0])(**{**_fields(shots[-1]), "s2": 1.01 * shots[-1].s2})]
    assert in_all(sketch_lemmas.sketched_posterior, wrong).verdict == "fails"


def _fields(shot):
    return {name: getattr(shot, name) for name in shot.__dataclass_fields__}


def test_a_rule_without_a_formula_is_named():
    with pytest.raises(
        ValueError, match="rule must be one of 'paper', 'corrected',.*, got 'const'"
    ):
        run_lemmas.radius(own(made(BKB, "const"), 3, 1))
