"""The arena of finite arms: learners, problems, statistics, tracks, and learners of a user."""

import json
import math
import re
from importlib import import_module

import numpy as np
import pytest
import torch
from facts import facts_read

from companion.arena import field, page
from companion.arena.__main__ import chosen_notebooks
from companion.arena.__main__ import main as arena
from companion.arena.advice import EVIDENCE, Row, advice, evidence
from companion.arena.arms import FAMILIES, FIXED, LEARNERS, PROBLEMS, Known, own_problem
from companion.arena.claims import ARMS, COMPARISONS, FINDINGS, SETS, judge
from companion.arena.continuous import EXPLORE
from companion.arena.entries import FIELDS, choose, load, own_learner
from companion.arena.field import (
    GRID,
    TUNING_SEED,
    UNIFORM,
    Outcome,
    best_scales,
    compete,
    score_scales,
    tune,
)
from companion.arena.figures import field as figures
from companion.arena.figures.field import (
    draw_means,
    draw_profiles,
    draw_regret,
    first_learners,
    tell_trials,
)
from companion.arena.learners import LinearThompson, Rescaled
from companion.arena.problems import FreshGLMArms, UnrelatedArms
from companion.arena.scores import (
    interquartile_mean,
    normalize,
    performance_profile,
)
from companion.output import project_dir
from companion.papers import papers
from companion.workflow.declared import profile_values
from paperlib.bkb import Confidence, ExactGPUCB
from paperlib.core.streams import Streams
from paperlib.core.trace import Trace
from paperlib.glbomd import GLBOMD, UCB1, Bernoulli, Gaussian, Poisson
from paperlib.linear import OFUL
from paperlib.linear import FreshArms as LinearArms
from paperlib.maths.gp import Linear
from paperlib.nsbco import Exp3IX, StationaryToWeak
from paperlib.nsbco.learners.exp3 import regret_bound
from paperlib.play import play

OWN = """
from dataclasses import dataclass
from typing import NamedTuple

import torch
from paperlib.glbomd import Bernoulli


class State(NamedTuple):
    t: torch.Tensor


@dataclass(frozen=True)
class First:
    noise: float
    norm_bound: float
    scale: float = 0.5
    wants = "reward"

    def init(self, trials, arms, horizon, draw, **tkwargs):
        return State(torch.zeros(trials, **tkwargs))

    def select(self, state, arms, draw):
        return torch.zeros(len(state.t), dtype=torch.int64), state

    def update(self, state, arms, action, feedback, draw):
        return State(state.t + 1)


class Instance(NamedTuple):
    arms: torch.Tensor
    click: torch.Tensor


@dataclass(frozen=True)
class Ads:
    count: int = 3
    link = Bernoulli()
    norm_bound = 4.0

    def init(self, trials, horizon, draw, **tkwargs):
        return Instance(torch.eye(self.count, **tkwargs)[None], draw.uniform("click", self.count))

    def context(self, instance, t):
        return instance.arms

    def respond(self, instance, t, action, wants, draw):
        mean = instance.click.gather(1, action[:, None])[:, 0]
        return (draw.uniform("reward") < mean).double(), instance.click.amax(1) - mean


number = 3
"""


@pytest.fixture
def mine(tmp_path, request):
    """A user's file with a name of its own, because modules stay imported."""
    file = tmp_path / f"mine_{abs(hash(request.node.name))}.py"
    file.write_text(OWN)
    return file


# ---- Learners and problems ---------------------------------------------------------------------------------


def test_linear_thompson_draws_around_the_ridge_estimate():
    learner, problem = LinearThompson(0.1, 1.0, delta=0.05, scale=0.5), LinearArms(2, arms=30)
    streams, tkwargs = Streams(3, range(50)), {"dtype": torch.float64}
    x = torch.eye(2, **tkwargs)[None]
    state = learner.init(50, x, None, streams.at(-1), **tkwargs)
    pulled = torch.arange(50) % 2
    state = learner.update(state, x, pulled, torch.full((50,), 1.0, **tkwargs), None)
    draw = streams.at(1)
    arms = problem.context(problem.init(50, 5, streams.at(-1), **tkwargs), 1)
    arm, _ = learner.select(state, arms, draw)
    # The pulled arm is observed once: V has 2 in its direction and 1 in the other one, and the estimate is 1/2 and 0.
    seen = x[0, pulled]
    v = 0.5 * 0.1 * math.sqrt(9 * 2 * math.log(2 / 0.05))
    theta = seen / 2 + v * draw.normal("posterior", 2) / (1 + seen).sqrt()
    assert arm.tolist() == (arms @ theta[:, :, None])[..., 0].argmax(1).tolist()


def test_linear_thompson_without_deviation_is_greedy():
    problem = LinearArms(3)
    greedy, thompson = (
        play(kind(0.1, 1.0, scale=0.0), problem, 60, 3).last() for kind in (OFUL, LinearThompson)
    )
    assert (greedy == thompson).all()


def test_a_rescaled_learner_receives_rewards_in_its_unit():
    # Rewards 0 and 1 become -1 and 1, so that UCB1 receives 2 r - 1.
    base, rescaled = UCB1(), Rescaled(UCB1(), 0.5, 0.5)
    draw, arms = Streams(0, range(1)).at(0), torch.eye(2).double()[None]
    state = rescaled.init(1, arms, None, draw, dtype=torch.float64)
    for arm, reward in ((0, 1.0), (1, 0.0), (1, 1.0)):
        arm, reward = torch.tensor([arm]), torch.tensor([reward]).double()
        state = rescaled.update(state, arms, arm, reward, draw)
    assert state.base.total.tolist() == [[1.0, 0.0]] and base.wants == rescaled.wants
    assert Rescaled(base, 1.0, 2.0, 3.0).rescale(torch.tensor([5.0, 11.0, -7.0])).tolist() == [
        2.0,
        3.0,
        -3.0,
    ]
    assert rescaled.tags.fixed_arms
    rescaled.validate(arms, torch.tensor([0]), torch.tensor([1.0]))
    with pytest.raises(ValueError, match="reward"):
        rescaled.validate(arms, torch.tensor([0]), torch.tensor([2.0]))


@pytest.mark.parametrize("link", [Bernoulli(), Poisson(), Gaussian(0.25)], ids=str)
def test_fresh_arms_are_new_in_every_round_and_trial(link):
    problem = FreshGLMArms(link, 2.0, dim=3, arms=6)
    streams = Streams(0, range(2))
    instance = problem.init(2, 5, streams.at(-1), dtype=torch.float64)
    first, second = problem.context(instance, 0), problem.context(instance, 1)
    assert first.shape == (2, 6, 3) and (first.norm(dim=2) <= 1).all()
    assert not torch.equal(first, second) and not torch.equal(first[0], first[1])
    assert torch.equal(first, problem.context(instance, 0))
    # The norm of a uniform point of the unit ball has the mean d / (d + 1).
    norms = torch.stack([problem.context(instance, t).norm(dim=2) for t in range(100)])
    assert norms.mean().item() == pytest.approx(3 / 4, abs=0.02)
    means = link.mean((first @ instance.theta[:, :, None])[..., 0])
    reward, gap = problem.respond(instance, 0, means.argmax(1), "reward", streams.at(0))
    assert gap.tolist() == [0.0, 0.0] and reward.shape == (2,)
    _, gap = problem.respond(instance, 0, torch.tensor([0, 1]), "reward", streams.at(0))
    torch.testing.assert_close(gap, means.amax(1) - means[[0, 1], [0, 1]])


def test_arms_without_features_are_unrelated():
    problem, streams = UnrelatedArms(4), Streams(0, range(200))
    instance = problem.init(200, 5, streams.at(-1), dtype=torch.float64)
    assert torch.equal(problem.context(instance, 3), torch.eye(4).double()[None])
    means = instance.rounds[0].means
    assert 0.1 <= means.min() < 0.15 and 0.85 < means.max() <= 0.9
    # The largest norm of theta* is reached if all success probabilities are 0.9.
    theta = (means / (1 - means)).log()
    assert theta.norm(dim=1).max() <= problem.norm == pytest.approx(2 * math.log(9))
    reward, gap = problem.respond(instance, 0, means.argmax(1), "reward", streams.at(0))
    assert not gap.any() and abs(reward.mean() - means.amax(1).mean()) < 0.1


def test_the_information_about_a_problem():
    known = Known(Bernoulli(), 3.0, Linear(), True, 20, 100)
    assert (known.noise, known.center, known.function_bound, known.reach) == (0.5, 0.5, 0.75, 0.5)
    known = Known(Poisson(), 1.0, Linear(), True, 20, 100)
    assert known.noise == math.exp(0.5) and known.center == 1 and known.function_bound == math.e
    known = Known(Gaussian(0.25), 1.0, Linear(), True, 20, 100)
    assert (known.noise, known.center, known.function_bound, known.reach) == (0.5, 0, 1, 2.5)


def test_every_learner_plays_what_its_entry_states():
    problems = {name: PROBLEMS[name]() for name in PROBLEMS if name != "abalone"}
    for name, problem in problems.items():
        known = problem.known(8)
        playing = [learner for learner, entry in LEARNERS.items() if entry.plays(problem)]
        assert UNIFORM in playing and "greedy" in playing
        for learner in playing:
            for scale in (None, 0.1):
                trace = play(LEARNERS[learner].build(known, scale), problem.problem, 8, 2)
                assert np.isfinite(trace["regret"]).all(), (name, learner)
    assert not LEARNERS["GP-UCB"].plays(problems["linear, fresh"])
    assert not LEARNERS["OFUL"].plays(problems["smooth, 1-d"])
    known = problems["logistic"].known(20)
    assert facts_read(LEARNERS["GLB-OMD"], known) == ["link", "norm_bound"]
    assert facts_read(LEARNERS["Beta Thompson"], known) == []


def test_the_constants_of_the_learners():
    """Fixed arms with logistic rewards: noise 1/2, center 1/2, S = 3; three arms and 50 rounds."""
    known = Known(Bernoulli(), 3.0, Linear(), True, 3, 50)
    built = {name: entry.build(known, 0.1) for name, entry in LEARNERS.items()}
    assert built["OFUL"] == Rescaled(OFUL(0.5, 0.75, delta=0.01, scale=0.1), 0.5)
    # A noise of 1/2 is what UCB1's bonus is for; a noise of 1 halves the rewards.
    assert built["UCB1"] == Rescaled(UCB1(0.1), 0.5, 1.0)
    noisy = Known(Gaussian(1.0), 1.0, Linear(), True, 3, 50)
    assert LEARNERS["UCB1"].build(noisy, None) == Rescaled(UCB1(1.0), 0.0, 2.0)
    assert built["GLB-OMD"] == GLBOMD(Bernoulli(), 3.0, 0.01, "dim", 0.1)
    assert LEARNERS["GLB-OMD"].build(known, None) == GLBOMD(Bernoulli(), 3.0, 0.01, "sharp")
    confidence = Confidence(0.5, 0.75, delta=0.01, scale=0.1)
    assert built["GP-UCB"] == Rescaled(ExactGPUCB(Linear(), confidence), 0.5)
    assert built["greedy"].base.confidence.scale == 0
    # Tests 1 and 2 compare with 9 rho-hat and 3 rho-hat, where rho-hat = 6 (log2 T + 1) rho, see nsbco.
    weak = StationaryToWeak(Exp3IX(), *regret_bound(3, 50), 50)
    master = built["MASTER"].base
    assert master.base == weak and master.logarithmic == ("A1", "A2")
    assert master.A1 == pytest.approx(5.4 * weak.rho(1)) and master.A2 * 3 == pytest.approx(
        master.A1
    )
    assert (built["MASTER"].center, built["MASTER"].unit, built["MASTER"].clip) == (0.5, 0.5, 1.0)


# ---- Statistics --------------------------------------------------------------------------------------------


def trace_of(regret):
    return Trace(np.array([1]), {"regret": np.array(regret)[:, None]}, {}, np.zeros(1), [0, 1], {})


def test_normalized_regret_is_relative_to_the_mean_of_the_unit():
    found = normalize({"a": trace_of([1.0, 3.0]), "unit": trace_of([2.0, 6.0])}, "unit")
    assert found["a"].tolist() == [0.25, 0.75] and found["unit"].tolist() == [0.5, 1.5]


def test_interquartile_mean_by_hand():
    # 0, 1, ..., 7 over two problems: the middle half is 2, 3, 4, 5.
    found = interquartile_mean([np.array([0.0, 7.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0, 1.0])])
    assert found.estimate == 3.5 and found.low <= 3.5 <= found.high and found.n == 4


def test_trials_are_resampled_separately_for_each_problem():
    # Each problem has one score only, so that every stratified resample is the same. A resample of the eight scores together is not.
    found = interquartile_mean([np.zeros(4), np.ones(4)])
    assert found[:3] == (0.5, 0.5, 0.5)


def test_performance_profile_by_hand():
    found = performance_profile([np.array([0.1, 0.3]), np.array([0.2, 0.2])], np.array([0.1, 0.2]))
    assert found.tolist() == [0.25, 0.75]


# ---- Tracks ------------------------------------------------------------------------------------------------


def test_scales_are_chosen_on_other_trials(monkeypatch):
    seen = []

    def run(problem, learners, horizon, trials, seed, **how):
        seen.append(seed)
        regrets = {name: getattr(learner, "scale", 1.0) for name, learner in learners.items()}
        # OFUL is best at the scale 0.3, and worse the further its scale is away.
        regrets = {name: abs(math.log(x / 0.3)) + 0.1 for name, x in regrets.items()}
        return {name: trace_of([x, x]) for name, x in regrets.items()}

    monkeypatch.setattr(field, "run", run)
    problems = {"linear": PROBLEMS["linear"]()}
    learners = {name: LEARNERS[name] for name in ("OFUL", "Beta Thompson", "greedy", UNIFORM)}
    tuned = tune(problems, learners, 50, 2, seed=7)
    assert {*seen} == {7 + TUNING_SEED} and len(seen) == len(GRID)
    assert [*tuned] == [*GRID]
    # Uniform play has the regret |log(1 / 0.3)| + 0.1.
    unit = math.log(1 / 0.3) + 0.1
    expected = {scale: (abs(math.log(scale / 0.3)) + 0.1) / unit for scale in GRID}
    assert score_scales(tuned) == {"OFUL": pytest.approx(expected)}
    assert best_scales(tuned) == {"OFUL": 0.3}


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PAPERLIB_RESULTS", str(tmp_path_factory.mktemp("results")))
        names = ["OFUL", "UCB1", "greedy"]
        problems, learners = choose("arms", ["linear", "logistic", "linear, fresh"], names)
        none = dict.fromkeys(learners)
        tracks = {
            "theory": compete(problems, learners, none, 60, 4, 0),
            "tuned": compete(problems, learners, none | {"OFUL": 0.1, "UCB1": 0.1}, 60, 4, 0),
        }
    return Outcome.of(problems, learners, tracks)


def test_an_outcome_averages_over_learners_that_play_the_whole_group(outcome):
    assert outcome.groups() == {FIXED: ["linear", "logistic"], "fresh arms": ["linear, fresh"]}
    assert outcome.complete("fresh arms") == ["OFUL", "greedy", UNIFORM]
    means = outcome.means("tuned", FIXED)
    assert [*means] == ["OFUL", "UCB1", "greedy", UNIFORM]
    pooled = np.sort(np.concatenate(outcome.scores("tuned", FIXED, "OFUL")))
    assert means["OFUL"].estimate == pytest.approx(pooled[2:6].mean())
    uniform = [outcome.tracks["theory"][problem][UNIFORM].mean() for problem in outcome.problems]
    assert uniform == pytest.approx([1, 1, 1])


def test_unscaled_learners_are_equal_in_both_tracks(outcome):
    theory, tuned = outcome.tracks["theory"]["linear"], outcome.tracks["tuned"]["linear"]
    assert (theory["greedy"] == tuned["greedy"]).all()
    assert not (theory["OFUL"] == tuned["OFUL"]).all()


def test_figures_show_the_outcome(outcome):
    regret = draw_regret(outcome, {"OFUL": 0.1, "UCB1": 0.1, "greedy": None, UNIFORM: None})
    assert regret.numbers["theory"]["logistic"]["OFUL"] == pytest.approx(
        outcome.tracks["theory"]["logistic"]["OFUL"].mean()
    )
    texts = [text.get_text() for text in regret.fig.axes[0].texts]
    assert f"{regret.numbers['theory']['logistic']['OFUL']:.2f}*" in texts  # a model that is wrong
    assert f"{regret.numbers['theory']['linear']['OFUL']:.2f}" in texts
    best = min(regret.numbers["tuned"]["linear"], key=regret.numbers["tuned"]["linear"].get)
    assert f"linear: {best}" in regret.alt
    assert "over 4 trials" in regret.caption
    rows = [[label.get_text() for label in ax.get_yticklabels()] for ax in regret.fig.axes]
    assert rows[0] == ["OFUL", "UCB1", "greedy", "uniform play"]
    assert rows[1] == ["OFUL (0.1)", "UCB1 (0.1)", "greedy", "uniform play"]
    assert regret.numbers["scales"] == {"OFUL": 0.1, "UCB1": 0.1}
    assert draw_means(outcome).numbers[FIXED]["tuned"] == outcome.means("tuned", FIXED)
    drawn = draw_profiles(outcome)
    profile = drawn.numbers["theory"]["fresh arms"]
    halves = {name: np.median(outcome.scores("theory", "fresh arms", name)) for name in profile}
    assert f"theory, fresh arms: {min(halves, key=halves.get)}" in drawn.alt
    assert [*profile] == ["OFUL", "greedy", UNIFORM] and profile["OFUL"][-1] == 1


def test_peers_are_counted_apart(outcome):
    assert tell_trials(outcome) == "4 trials"
    peers = outcome.learners | {"OFUL": outcome.learners["OFUL"]._replace(peer=True)}
    assert tell_trials(outcome._replace(learners=peers)) == "4 trials"
    cut = lambda scores: {name: x[:2] if name == "OFUL" else x for name, x in scores.items()}
    tracks = {
        track: {problem: cut(scores) for problem, scores in found.items()}
        for track, found in outcome.tracks.items()
    }
    fewer = outcome._replace(learners=peers, tracks=tracks)
    assert tell_trials(fewer) == "4 trials (2 trials of learners of other libraries)"
    assert fewer.means("tuned", FIXED)["OFUL"].n == 2


def test_a_panel_of_profiles_shows_the_best_learners_and_those_of_the_user(outcome, monkeypatch):
    monkeypatch.setattr(figures, "MOST", 1)
    means = outcome.means("tuned", FIXED)
    best, *_, worst = sorted(means, key=lambda name: means[name].estimate)
    assert worst == UNIFORM and first_learners(outcome, "tuned", FIXED) == {best, UNIFORM}
    other = next(name for name in means if name not in (best, UNIFORM))
    own = outcome.learners | {other: outcome.learners[other]._replace(own=True)}
    mine = outcome._replace(learners=own)
    assert first_learners(mine, "tuned", FIXED) == {best, other, UNIFORM}
    drawn = draw_profiles(mine)
    assert len(drawn.fig.axes[2].lines) == 3 and "1 learners" in drawn.caption
    assert "and your own." in drawn.caption and "your own" not in draw_profiles(outcome).caption
    assert [*drawn.numbers["tuned"][FIXED]] == [*means]  # the JSON has all learners


def test_a_scale_at_an_end_of_the_grid_is_marked(outcome):
    scales = {"OFUL": 0.01, "UCB1": 0.3, "greedy": None, UNIFORM: None}
    theory, tuned = draw_regret(outcome, scales).fig.axes[:2]
    labels = lambda ax: [text.get_text() for text in ax.get_yticklabels()]
    assert labels(tuned) == ["OFUL (0.01!)", "UCB1 (0.3)", "greedy", "uniform play"]
    assert labels(theory) == ["OFUL", "UCB1", "greedy", "uniform play"]


# ---- Claims ------------------------------------------------------------------------------------------------


class Judge:
    """Record what a study would judge."""

    stem = "arena_1_arms"

    def judge(self, id, interval):
        return id, interval.estimate, interval.n

    def not_run(self, id, reason):
        return id, reason


def test_comparisons_are_ratios_over_the_common_trials():
    run = {
        "OFUL": trace_of([2.0, 4.0, 100.0]),
        "GLB-OMD": trace_of([4.0, 8.0]),
        "OFUGLB": trace_of([1.0, 1.0]),
    }
    found = {id: rest for id, *rest in judge(Judge(), {"theory": {"logistic": run}, "tuned": {}})}
    own = [each.id for each in COMPARISONS if each.notebook == "arena_1_arms"]
    assert [*found] == own and 0 < len(own) < len(COMPARISONS)
    assert found["arena.N1"] == [0.5, 2] and found["arena.N3"] == [pytest.approx(1 / 6), 2]
    assert found["arena.N2"] == ["GLB-OMD did not play on logistic in this run"]
    assert found["arena.N13"] == ["bayesianbandits did not play on logistic in this run"]


@pytest.mark.parametrize("each", COMPARISONS, ids=lambda each: each.id)
def test_both_learners_of_a_comparison_play_its_problem(each):
    known = FIELDS["arms" if each.notebook == "arena_1_arms" else "continuous"]
    entries = {**known.learners, **known.peers}
    if each.problem in ("abalone", "Covertype"):
        families = {"abalone": "table", "Covertype": "Covertype"}
        covers = lambda name: families[each.problem] in entries[name].covers + entries[name].nearly
    else:
        covers = lambda name: entries[name].plays(known.problems[each.problem]())
    assert covers(each.a) and covers(each.b)


# ---- Entries of a user -------------------------------------------------------------------------------------


def test_a_learner_of_a_user_gets_the_information_that_it_names(mine):
    problems, learners = choose("arms", ["linear"], ["OFUL"], [f"{mine}:First", f"{mine}:Ads"])
    assert [*problems] == ["linear", "Ads"] and [*learners] == ["OFUL", UNIFORM, "First"]
    first = learners["First"]
    assert first.scaled and first.fresh and first.covers == FAMILIES
    known = problems["linear"].known(50)
    built = first.build(known, None)
    assert (built.noise, built.norm_bound, built.scale) == (0.5, 1.0, 0.5)
    assert first.build(known, 0.03).scale == 0.03
    assert facts_read(first, known) == ["noise", "norm_bound"]
    ads = problems["Ads"]
    assert (ads.family, ads.link, ads.norm_bound, ads.fixed) == ("logistic", Bernoulli(), 4.0, True)
    assert ads.known(50).arms == 3
    # The first of three arms has on average the regret of uniform play.
    found = compete({"Ads": ads}, learners, dict.fromkeys(learners), 20, 50, 0)
    assert 0.8 < normalize(found["Ads"], UNIFORM)["First"].mean() < 1.2


def test_a_learner_of_a_user_may_be_an_object_or_a_function():
    entry = own_learner(OFUL(0.5, 1.0))
    assert not entry.scaled and entry.fresh and entry.build(None, 0.1) == OFUL(0.5, 1.0)
    assert not own_learner(UCB1()).fresh and not own_learner(UCB1).fresh
    known = Known(Gaussian(0.25), 1.0, Linear(), True, 20, 100)
    entry = own_learner(lambda noise, horizon: OFUL(noise, float(horizon)))
    assert entry.build(known, 0.1) == OFUL(0.5, 100.0) and not entry.scaled
    with pytest.raises(ValueError, match="learner"):
        own_learner(3)
    with pytest.raises(ValueError, match="argument 'width' of <lambda> must have a default.*noise"):
        own_learner(lambda noise, width: OFUL(noise, width))
    with pytest.raises(ValueError, match="learner"):
        own_learner(lambda: 3).build(known, None)


def test_a_problem_of_a_user_may_have_fresh_arms():
    problem = own_problem(LinearArms(3, noise=0.2, norm=2.0))
    assert (problem.fixed, problem.family, problem.norm_bound) == (False, "linear", 2.0)
    assert problem.link.variance == pytest.approx(0.04)
    with pytest.raises(ValueError, match="problem"):
        own_problem(OFUL(0.1, 1.0))


WRONG = {
    "{file}": "file.py:Name",
    "{file}:no name": "file.py:Name",
    "{file}.txt:First": "file.py:Name",
    "{folder}/none.py:First": "existing file",
    "{file}:Second": "class, a function or an object",
}


@pytest.mark.parametrize("place", WRONG)
def test_a_wrong_place_is_refused(mine, place):
    given = place.format(file=mine, folder=mine.parent)
    with pytest.raises(ValueError, match=WRONG[place]):
        load(given)


def test_a_file_with_an_error_is_refused(mine):
    mine.write_text("def broken(:")
    with pytest.raises(ValueError, match="can be imported: SyntaxError"):
        load(f"{mine}:First")


def test_the_page_states_the_grid():
    *first, last = (f"{scale:g}" for scale in GRID)
    assert f"the best of {', '.join(first)} and {last}" in page.ALGORITHM


def test_a_file_named_like_a_module_is_refused(tmp_path):
    (tmp_path / "json.py").write_text(OWN)
    with pytest.raises(ValueError, match="no imported module"):
        load(f"{tmp_path / 'json.py'}:First")


def test_unknown_and_taken_names_are_refused(mine):
    with pytest.raises(ValueError, match="problems must contain names from 'linear'.*got 'liner'"):
        choose("arms", ["liner"])
    with pytest.raises(ValueError, match="learners must contain names.*got 'oful'"):
        choose("arms", [], ["oful"])
    mine.write_text(OWN.replace("class First", "class OFUL"))
    with pytest.raises(ValueError, match="got 'OFUL'"):
        choose("arms", ["linear"], [], [f"{mine}:OFUL"])


def test_the_command_runs_the_notebooks_of_a_field():
    arms, continuous = "arena_1_arms", "arena_2_continuous"
    assert chosen_notebooks(None, named=False) == [arms, continuous]
    assert chosen_notebooks(None, named=True) == chosen_notebooks("arms", named=False) == [arms]
    assert chosen_notebooks("continuous", named=True) == [continuous]


WRONG_OPTIONS = {
    "--learner none.py:Learner": "existing file",
    "--on liner": "--on must contain names from 'linear', .*got 'liner'",
    "--on Rastrigin --field arms": "--on must contain names from 'linear', .*got 'Rastrigin'",
    "--against oful": "--against must contain names from .*'OFUL', .*got 'oful'",
}


@pytest.mark.parametrize("options", WRONG_OPTIONS)
def test_the_command_refuses_wrong_names(options, capsys):
    with pytest.raises(SystemExit):
        arena(options.split())
    assert re.search(WRONG_OPTIONS[options], capsys.readouterr().err)


@pytest.mark.slow
def test_the_command_puts_a_learner_into_every_figure(mine, tmp_path, monkeypatch, capsys):
    for name in ("RESULTS", "FIGURES"):
        monkeypatch.setenv(f"PAPERLIB_{name}", str(tmp_path / name.lower()))
    monkeypatch.chdir(mine.parent)
    sizes = ["--horizon", "20", "--trials", "2", "--tuning-trials", "2"]
    sizes += ["--on", "linear", "--on", "no features", "--against", "OFUL", "--against", "UCB1"]
    assert arena(["--learner", f"{mine.name}:First", "--problem", f"{mine.name}:Ads", *sizes]) == 0
    assert "arena_1_arms is done" in capsys.readouterr().out
    folder = tmp_path / "figures" / "custom" / "arena"
    for name in ("arms_regret", "arms_means", "arms_profiles", "arms_cost"):
        assert '"First"' in (folder / f"{name}.json").read_text()
        assert (folder / f"{name}.png").exists()
    found = json.loads((folder / "arms_regret.json").read_text())["numbers"]["theory"]
    assert {problem: {*means} for problem, means in found.items()} == {
        "linear": {"OFUL", "UCB1", "uniform", "First"},
        "no features": {"OFUL", "UCB1", "uniform", "First"},
        "Ads": {"OFUL", "UCB1", "uniform", "First"},
    }
    assert not (tmp_path / "figures" / "arena").exists()
    # A cell that fails is reported with the reason.
    mine.write_text(OWN.replace("return torch.zeros", "raise ValueError('no arm'); torch.zeros"))
    with pytest.raises(SystemExit, match="arena_1_arms failed, cell .*no arm"):
        arena(["--learner", f"{mine.name}:First", *sizes])


# ---- Guide -------------------------------------------------------------------------------------------------


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    """Return a function that writes the JSON of a figure of the paper profile."""
    monkeypatch.setenv("PAPERLIB_FIGURES", str(tmp_path))
    (tmp_path / "arena").mkdir()

    def write(name, numbers, horizon=1234):
        found = {"numbers": numbers, "parameters": {"horizon": horizon}}
        (tmp_path / "arena" / f"{name}.json").write_text(json.dumps(found))

    return write


def test_the_guide_names_the_learners_with_the_least_regret(drawn):
    assert advice({}) == ""
    theory = {"OFUL": 0.4, "UCB1": 0.9, "GP-UCB": 0.5, "greedy": 0.2, "MABWiser LinUCB": 0.1}
    theory["uniform"], tuned = 1.0, {**theory, "OFUL": 0.1, "MABWiser LinUCB": 0.3}
    numbers = {"theory": {"linear": theory}, "tuned": {"linear": tuned}}
    drawn("arms_regret", numbers)
    assert "play 1,234 rounds on [finite arms](../notebooks/arena_1_arms.ipynb). The" in advice({})
    assert advice({}).splitlines()[-1] == (
        "| linear | greedy 0.20; OFUL 0.40; GP-UCB 0.50 | OFUL 0.10; greedy 0.20; GP-UCB 0.50 | MABWiser LinUCB 0.10 |"
    )
    for found in (theory, tuned):
        del found["MABWiser LinUCB"]
    drawn("arms_regret", numbers)
    assert advice({}).endswith("| – |")


def test_the_guide_names_the_lowest_interquartile_means(drawn):
    mean = lambda estimate: {"estimate": estimate, "low": estimate - 0.1, "high": 2.0}
    theory = {"OFUL": mean(0.3), "KW": mean(0.2)}
    drawn("sets_means", {"fixed": {"theory": theory, "tuned": {"OFUL": mean(0.25)}}})
    assert advice({}).endswith(
        "*fixed*, Kiefer-Wolfowitz 0.200 [0.100, 2.000] (not tuned) and OFUL 0.250 [0.150, 2.000] (tuned)."
    )


def test_rows_of_the_guide_have_results_of_the_arena(monkeypatch, drawn):
    rows = {f"{paper}.{row[1][0]}" for paper in papers() for row in paper_choices(paper)}
    assert {*EVIDENCE} <= rows
    for problem, track, learners in (shown for row in EVIDENCE.values() for shown in row.shown):
        (entry,) = [entry for entry in FIELDS.values() if problem in entry.problems]
        assert track in figures.TRACKS and {*learners} <= {*entry.learners, *entry.peers}
    recorded = {"verdict": "holds", "statistic": 0.51, "interval": [0.4, 0.625]}
    known = {"arena.N3": recorded, "arena.N10": recorded | {"verdict": "fails"}}

    def written_for(verdict, *shown):
        row = Row({"arena.N3": "holds", "arena.N10": verdict}, shown)
        monkeypatch.setitem(EVIDENCE, "glbomd.OFUGLB", row)
        return evidence("glbomd.OFUGLB", known)

    with pytest.raises(ValueError, match="row of glbomd.OFUGLB .* arena.N10 'holds', got 'fails'"):
        written_for("holds")
    found = [
        "*logistic*, not tuned: OFUGLB has 0.51 [0.40, 0.62] times the regret of GLB-OMD (N3)",
        "*logistic*, tuned: OFUGLB has 0.51 [0.40, 0.62] times the regret of OFUL (N10)",
    ]
    assert written_for("fails").split("<br>") == found
    shown = ("linear", "tuned", ("OFUL", "uniform"))
    assert written_for("fails", shown).split("<br>") == found  # no figure
    drawn("arms_regret", {"tuned": {"linear": {"OFUL": 1.126, "UCB1": 0.5, "uniform": 1.0}}})
    numbers = "*linear*, tuned, no test: uniform play 1.00; OFUL 1.13"
    assert written_for("fails", shown).split("<br>") == [*found, numbers]
    again = {"verdict": "fails", "statistic": 1.2, "interval": [1.1, 1.3]}
    known["arena.N10"] |= {"verdict": "inconclusive", "first": "holds", "replication": again}
    assert written_for("inconclusive").split("<br>")[1] == found[1].replace(
        "0.62] times", "0.62], with other seeds 1.20 [1.10, 1.30] times"
    )
    # With the same verdict, the run with other seeds is shown if the intervals are disjoint.
    for interval, more in (([0.7, 0.8], ", with other seeds 1.20 [0.70, 0.80]"), ([0.6, 0.8], "")):
        again |= {"interval": interval}
        known["arena.N10"] = recorded | {"verdict": "fails", "replication": again}
        assert written_for("fails").split("<br>")[1] == found[1].replace(
            "] times", f"]{more} times"
        )
    known["arena.N3"] = {"verdict": "not run"}
    known["arena.N10"] = recorded | {"verdict": "fails"}
    assert written_for("fails").split("<br>") == found[1:]
    assert evidence("glbomd.RSGLinCB", known) == ""


def test_sizes_in_sentences_are_those_of_the_profiles():
    arms, sets = (profile_values(stem, "paper")["horizon"] for stem in (ARMS, SETS))
    texts = [each.sentence for each in COMPARISONS] + [each.text for each in FINDINGS]
    sizes = {x for text in texts for x in re.findall(r"(?:\d+ of )?[\d,]+ rounds", text)}
    assert sizes == {f"{arms:,} rounds", f"{sets:,} rounds", f"{EXPLORE[1]} of {sets:,} rounds"}
    assert f"repeat their best point after {EXPLORE[1]} rounds" in page.ALGORITHM
    guide = (project_dir() / "docs/guides/arena.md").read_text()
    quick = profile_values(ARMS, "quick")
    assert f"in {quick['horizon']} rounds" in guide and len(quick["problems"]) == 4


def test_the_page_names_every_learner():
    names = re.findall(r"^\| ([^|]+) \|", page.ALGORITHM, re.MULTILINE)
    named = {name for cell in names for name in cell.split(", ")}
    for entry in FIELDS.values():
        assert {figures.label(name) for name in entry.learners} <= named


def paper_choices(paper):
    return import_module(f"paperlib.{paper}").CHOICES
