"""Test the adapters for bandit algorithms of other libraries: seeds, independent trials, choices by hand, missing packages."""

import math
import sys
from importlib.util import find_spec

import numpy as np
import pytest
import torch

from companion.arena import field
from companion.arena.arms import LEARNERS, PROBLEMS
from companion.arena.continuous import PROBLEMS as CONTINUOUS
from companion.arena.entries import choose
from companion.arena.field import ArenaLearner
from companion.arena.libraries import (
    ArmsPeer,
    BayesianBandits,
    MABWiser,
    OptunaSampler,
    Trial,
    VowpalWabbit,
)
from companion.arena.peers import LIBRARIES, OPTUNA, PEERS, installed_peers
from paperlib.core.describe import frozen_dataclass
from paperlib.core.streams import Streams
from paperlib.glbomd.model.links import Bernoulli, Gaussian
from paperlib.play import play

TKWARGS = {"dtype": torch.float64, "device": "cpu"}
DRAW = Streams(0, [0]).at(0)
KNOWN = PROBLEMS["logistic"]().known(30)
ARMS = np.array([[2.0, 0.0], [0.0, 1.0], [1.0, 1.0]])


def skip_without(peer: str) -> None:
    """Skip the test if the library of a peer is not installed."""
    needs = (kind.needs for name, kind in LIBRARIES.items() if peer.startswith(name))
    for module in next(needs):
        pytest.importorskip(module)


def regret(peer: str, problem: str, trials, seed: int = 0) -> np.ndarray:
    """Return the cumulative regret of 15 rounds, R x 15."""
    chosen = PROBLEMS[problem]()
    learner = PEERS[peer].build(chosen.known(15), 0.1)
    return play(learner, chosen.problem, 15, trials, seed, record="all")["regret"]


@pytest.mark.parametrize("problem", ["logistic", "Poisson, fresh"])
@pytest.mark.parametrize("peer", PEERS)
def test_a_trial_depends_on_its_seed_alone(peer, problem):
    skip_without(peer)
    five = regret(peer, problem, 5)
    np.testing.assert_array_equal(regret(peer, problem, [3])[0], five[3])
    np.testing.assert_array_equal(regret(peer, problem, [0], seed=3)[0], five[3])


@pytest.mark.parametrize("peer", PEERS)
def test_a_peer_learns(peer):
    skip_without(peer)
    problem = PROBLEMS["linear"]()
    known = problem.known(100)
    last = lambda entry: play(entry.build(known, 0.3), problem.problem, 100, 4).last().mean()
    assert last(PEERS[peer]) < 0.8 * last(LEARNERS["uniform"])


@pytest.mark.parametrize("peer", [name for name, entry in PEERS.items() if entry.scaled])
def test_the_scale_of_a_peer_matters(peer):
    skip_without(peer)
    problem = PROBLEMS["linear"]()
    build = lambda scale: PEERS[peer].build(problem.known(30), scale)
    chosen = [play(build(scale), problem.problem, 30, 2).last() for scale in (None, 1.0, 0.01)]
    np.testing.assert_array_equal(chosen[0], chosen[1])
    assert not np.array_equal(chosen[0], chosen[2])


@pytest.mark.parametrize("peer", PEERS)
def test_a_single_arm_is_pulled(peer):
    skip_without(peer)
    learner, arms = PEERS[peer].build(KNOWN, None), torch.ones(2, 1, 3, **TKWARGS)
    state = learner.init(2, arms, None, Streams(0, range(2)).at(-1), **TKWARGS)
    for t in range(3):
        draw = Streams(0, range(2)).at(t)
        arm, state = learner.select(state, arms, draw)
        assert arm.tolist() == [0, 0]
        state = learner.update(state, arms, arm, torch.ones(2, **TKWARGS), draw)


def test_the_first_choices_of_linucb():
    """The matrix A starts as the identity, and the index of arm x is x^T theta + sqrt(x^T A^{-1} x).

    The indices of round 1 are 2, 1, sqrt(2). The reward -1 gives A = diag(5, 1) and theta = (-2/5, 0), and the indices of round 2 are
    -0.8 + sqrt(4/5) = 0.09, 1, -0.4 + sqrt(6/5) = 0.70. The reward 0 gives A = diag(5, 2), and the indices of round 3 are 0.09,
    sqrt(1/2) = 0.71, -0.4 + sqrt(7/10) = 0.44. The reward -2 gives A = diag(5, 3) and theta = (-2/5, -2/3), and the indices of round 4 are
    0.09, -2/3 + sqrt(1/3) = -0.09, -16/15 + sqrt(8/15) = -0.34.
    """
    pytest.importorskip("mabwiser")
    trial, chosen = MABWiser("LinUCB").start(0), []
    trial.show(ARMS)
    for reward in (-1.0, 0.0, -2.0, 0.0):
        chosen.append(trial.choose(0.5))
        trial.learn(chosen[-1], reward)
    assert chosen == [0, 1, 1, 0]


def test_lints_draws_around_the_ridge_estimate():
    """After 400 rewards of 1 for each of the arms (2, 0) and (0, 1) the standard deviations are below 0.05."""
    pytest.importorskip("mabwiser")
    trial = MABWiser("LinTS").start(0)
    trial.show(ARMS)
    first = {trial.choose(0.5) for _ in range(50)}
    for _ in range(400):
        trial.learn(0, 1.0)
        trial.learn(1, 1.0)
    later = {trial.choose(0.5) for _ in range(50)}
    assert first == {0, 1, 2} and later == {2}  # theta is near (1/2, 1), therefore arm 2 is best


def test_the_model_of_bayesianbandits_is_the_posterior():
    pytest.importorskip("bayesianbandits")
    trial = BayesianBandits(Gaussian(0.25)).start(0)
    trial.show(ARMS)
    trial.choose(0.5)
    played, rewards = [0, 1, 2, 2], np.array([0.3, -0.2, 1.0, 0.7])
    for arm, reward in zip(played, rewards):
        trial.learn(arm, reward)
    x = ARMS[played]
    precision = np.eye(2) + x.T @ x / 0.25
    model = trial.agent.learner
    np.testing.assert_allclose(np.triu(model.cov_inv_), np.triu(precision))  # stored by half
    np.testing.assert_allclose(model.coef_, np.linalg.solve(precision, x.T @ rewards / 0.25))


def test_libraries_receive_rewards_in_their_range():
    """Vowpal Wabbit's rewards are within an interval of length 1; MABWiser's are centered."""
    ends = torch.tensor([KNOWN.center - KNOWN.reach, KNOWN.center, KNOWN.center + KNOWN.reach])
    vowpal, mabwiser = (PEERS[x].build(KNOWN, None) for x in ("Vowpal Wabbit", "MABWiser LinTS"))
    assert vowpal.rescale(ends).tolist() == [-0.5, 0.0, 0.5]
    assert vowpal.rescale(ends[1:].mean()) == 0.25
    assert vowpal.rescale(ends + 9).tolist() == [0.5] * 3
    assert mabwiser.rescale(ends).tolist() == [-KNOWN.reach, 0.0, KNOWN.reach]


def test_the_options_of_vowpal_wabbit():
    assert VowpalWabbit().options().endswith("--squarecb --gamma_scale 10")  # the library's default
    assert VowpalWabbit(0.1).options().endswith("--squarecb --gamma_scale 100")


def test_vowpal_wabbit_draws_from_its_probabilities():
    """Before the first loss, all four arms are equal."""
    pytest.importorskip("vowpalwabbit")
    trial = VowpalWabbit().start(0)
    trial.show(np.eye(4))
    uniforms = (0.0, 0.2499, 0.2501, 0.4999, 0.5001, 0.7499, 0.7501, 1 - 2**-53)
    assert [trial.choose(u) for u in uniforms] == [0, 0, 1, 1, 2, 2, 3, 3]
    trial.choose(0.0)
    trial.learn(0, -0.5)
    trial.choose(0.5)
    assert trial.probabilities[0] < min(trial.probabilities[1:])
    assert trial.probabilities.sum() == pytest.approx(1)


def test_vowpal_wabbit_learns_as_from_its_text_format():
    library = pytest.importorskip("vowpalwabbit")
    learner, rng = VowpalWabbit(), np.random.default_rng(0)
    trial = learner.start(5)
    text = library.Workspace(f"{learner.options()} --random_seed 5 --quiet")
    for t in range(100):
        if t % 10 == 0:
            arms = rng.normal(size=(4, 3))
            trial.show(arms)
        lines = ["| " + " ".join(f"{j}:{x:.9g}" for j, x in enumerate(arm)) for arm in arms]
        arm = trial.choose(rng.uniform())
        np.testing.assert_array_equal(trial.probabilities, text.predict(lines))
        loss = float(arms[arm, 0] < 0)
        trial.learn(arm, 0.5 - loss)
        lines[arm] = f"0:{loss}:{trial.probabilities[arm]:.9g} {lines[arm]}"
        text.learn(lines)


ALL = PEERS | OPTUNA


@pytest.mark.parametrize(
    "name, module", [(name, module) for name, kind in LIBRARIES.items() for module in kind.needs]
)
def test_a_missing_package_is_named(name, module, monkeypatch):
    kind = LIBRARIES[name]
    monkeypatch.setitem(sys.modules, module, None)
    found, missing = installed_peers(ALL)
    assert not any(peer.startswith(name) for peer in found)
    expected = f"{name} requires the package {module} of the extra {kind.extra!r}"
    assert any(message.startswith(expected) for message in missing)
    peer, place = next(
        (ALL[peer], place) for peer, place in PLACES.items() if peer.startswith(name)
    )
    with pytest.raises(ImportError, match=rf"package {module} of the extra {kind.extra!r}"):
        play(peer.build(place.known(15), 0.1), place.problem, 15, 1)


def test_installed_peers_are_found():
    there = tuple(name for name, kind in LIBRARIES.items() if all(map(find_spec, kind.needs)))
    found, missing = installed_peers(ALL)
    assert [*found] == [name for name in ALL if name.startswith(there)]
    assert len(missing) == len(LIBRARIES) - len(there)
    assert installed_peers({}) == ({}, [])


def test_messages_of_missing_libraries_are_printed(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "mabwiser", None)
    chosen = choose("arms", ["linear"], peers=True)[1]
    assert capsys.readouterr().out.startswith("MABWiser requires the package mabwiser")
    assert not any(name.startswith("MABWiser") for name in chosen)
    assert not {*choose("arms", ["linear"])[1]} & {*PEERS}


def test_peers_play_the_first_trials(monkeypatch, tmp_path):
    monkeypatch.setenv("PAPERLIB_RESULTS", str(tmp_path))
    problems = {"logistic": PROBLEMS["logistic"]()}
    entries = {
        "ours": ArenaLearner(lambda known, scale: InTurn(), ("logistic",)),
        "peer": ArenaLearner(lambda known, scale: InTurn(), ("logistic",), peer=True),
    }
    compare = lambda count: field.compete(
        problems, entries, dict.fromkeys(entries), 20, 5, 0, peer_trials=count
    )["logistic"]
    found = compare(2)
    assert (found["ours"].trials, found["peer"].trials) == ([*range(5)], [0, 1])
    np.testing.assert_array_equal(found["peer"].last(), found["ours"].last()[:2])
    assert compare(None)["peer"].trials == compare(9)["peer"].trials == [*range(5)]


# ---- Optuna ------------------------------------------------------------------------------------------------


PLACES = {peer: PROBLEMS["linear"]() for peer in PEERS} | {
    peer: CONTINUOUS["quadratic, box"]() for peer in OPTUNA
}


@pytest.mark.parametrize("peer", OPTUNA)
def test_a_sampler_of_optuna_suggests_what_a_study_suggests(peer):
    """Seeds, directions and rounds agree with a study that is run by hand."""
    optuna = pytest.importorskip("optuna")
    place, rounds = PLACES[peer], 14
    streams = Streams(0, [3])
    learner = OPTUNA[peer].build(place.known(rounds), None).base
    begun = place.problem.init(1, rounds, streams.at(-1), **TKWARGS)
    region = place.problem.context(begun, 0)
    seed = int(streams.at(-1).uniform("library") * 2**31)
    study = optuna.create_study(
        sampler=getattr(optuna.samplers, learner.sampler)(seed=seed), direction="maximize"
    )
    state = learner.init(1, region, rounds, streams.at(-1), **TKWARGS)
    for t in range(rounds):
        point, state = learner.select(state, region, streams.at(t))
        reward = -point.square().sum(1)
        state = learner.update(state, region, point, reward, streams.at(t))
        trial = study.ask()
        by_hand = [trial.suggest_float(f"x{j}", -1.0, 1.0) for j in range(5)]
        study.tell(trial, float(reward))
        assert point[0].tolist() == by_hand
    assert study.best_value > study.trials[0].value


@pytest.mark.parametrize("peer", OPTUNA)
def test_a_sampler_of_optuna_plays_past_its_random_start(peer):
    """The first ten points of each sampler are random. The best point, repeated later, has less regret than their mean."""
    place = PLACES[peer]
    regret = play(OPTUNA[peer].build(place.known(300), None), place.problem, 40, 2, record="all")
    each = np.diff(regret["regret"], prepend=0)
    assert each[:, 31:].mean() < each[:, :10].mean()


def test_a_suggestion_outside_of_the_set_is_projected():
    pytest.importorskip("optuna")
    place = CONTINUOUS["quadratic, ball"]()
    streams = Streams(0, range(30))
    begun = place.problem.init(30, 5, streams.at(-1), **TKWARGS)
    region = place.problem.context(begun, 0)
    learner = OptunaSampler("TPESampler")
    state = learner.init(30, region, 5, streams.at(-1), **TKWARGS)
    point, _ = learner.select(state, region, streams.at(0))
    norms = point.norm(dim=1)
    assert norms.max() <= 1 + 1e-12 and (norms > 1 - 1e-12).any() and (norms < 0.9).any()


def test_optuna_plays_on_boxes_and_rejects_other_contexts():
    covered = {name for name, build in CONTINUOUS.items() if OPTUNA["Optuna TPE"].plays(build())}
    assert covered == {"quadratic, box", "Styblinski-Tang", "Rastrigin", "network"}
    for name in covered:
        place = CONTINUOUS[name]()
        assert type(field.first_context(place.problem).cset).__name__ == "Box"
    with pytest.raises(ValueError, match="Region"):
        OptunaSampler("TPESampler").validate(torch.zeros(1, 2), None, None)
    region = field.first_context(CONTINUOUS["quadratic, box"]().problem)
    with pytest.raises(ValueError, match="reward"):
        OptunaSampler("TPESampler").validate(region, torch.zeros(1, 5), torch.tensor([math.nan]))


class Counter(Trial):
    """Pull the arms in turn."""

    def show(self, arms):
        self.arms, self.rounds = len(arms), 0

    def choose(self, uniform):
        return self.rounds % self.arms

    def learn(self, arm, reward):
        self.rounds += 1


@frozen_dataclass
class InTurn(ArmsPeer):
    """A peer that needs no package."""

    needs = ("math",)

    def start(self, seed):
        return Counter()


def test_an_old_state_is_rejected():
    arms = torch.eye(3, **TKWARGS)[None]
    state = InTurn().init(1, arms, None, DRAW, **TKWARGS)
    arm, state = InTurn().select(state, arms, DRAW)
    after = InTurn().update(state, arms, arm, torch.ones(1, **TKWARGS), DRAW)
    assert InTurn().select(after, arms, DRAW)[0].tolist() == [1]
    with pytest.raises(ValueError, match="got the state of round 0 after round 1"):
        InTurn().select(state, arms, DRAW)


def test_each_trial_has_its_own_seed():
    @frozen_dataclass
    class Seeded(InTurn):
        def start(self, seed):
            seeds.append(seed)
            return Counter()

    seeds: list = []
    arms = torch.eye(3, **TKWARGS)[None]
    for trials in (range(4), [3], [0, 1]):
        Seeded().init(len(trials), arms, None, Streams(7, trials).at(-1), **TKWARGS)
    assert len({*seeds[:4]}) == 4 and seeds[4:] == [seeds[3], *seeds[:2]]
    assert all(0 <= seed < 2**31 for seed in seeds)


def test_a_peer_receives_new_arms():
    class Sizes(Counter):
        def show(self, arms):
            super().show(arms)
            seen.append(arms.tolist())

    @frozen_dataclass
    class Shown(InTurn):
        def start(self, seed):
            return Sizes()

    seen: list = []
    fixed, fresh = torch.eye(2, **TKWARGS)[None], torch.full((1, 2, 2), 3.0, **TKWARGS)
    state = Shown().init(1, fixed, None, DRAW, **TKWARGS)
    for arms in (fixed, fixed, fresh):
        arm, state = Shown().select(state, arms, DRAW)
        state = Shown().update(state, arms, arm, torch.ones(1, **TKWARGS), DRAW)
    assert seen == [fixed[0].tolist(), fresh[0].tolist()]


def test_a_comparison_saves_no_peer_halfway(tmp_path, monkeypatch):
    """The state of a peer cannot be saved. Therefore ``compete`` writes checkpoints of the other learners only."""
    problem, calls = PROBLEMS["logistic"](), []
    with pytest.raises(ValueError, match=r"state\.trials must be a tensor"):
        play(InTurn(), problem.problem, 3, 2, checkpoint=tmp_path / "file", every=0)
    keep = lambda _, learners, *__, **how: calls.append(([*learners], how.get("every"))) or {}
    monkeypatch.setattr(field, "run", keep)
    entries = {
        "ours": ArenaLearner(lambda known, scale: InTurn(), ("logistic",)),
        "peer": ArenaLearner(lambda known, scale: InTurn(), ("logistic",), peer=True),
    }
    field.compete({"logistic": problem}, entries, dict.fromkeys(entries), 20, 2, 0)
    assert calls == [(["ours"], None), (["peer"], math.inf)]
    play(InTurn(), problem.problem, 3, 2, checkpoint=tmp_path / "file", every=calls[1][1])
    assert not any(tmp_path.iterdir())
    assert all(entry.peer for entry in (PEERS | OPTUNA).values())


def test_a_peer_rejects_rewards_that_are_not_finite():
    arms = torch.eye(3, **TKWARGS)[None]
    with pytest.raises(ValueError, match="reward"):
        InTurn().validate(arms, torch.zeros(1, dtype=torch.int64), torch.tensor([math.nan]))
    BayesianBandits(Bernoulli()).validate(arms, None, torch.ones(1, **TKWARGS))
