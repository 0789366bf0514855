"""Invalid inputs raise an error that names them, before any computation; valid values at the limits are accepted."""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pytest
import torch
from device_form import shortcuts
from ns_worlds import Flips
from toy import Index

from companion.nsbco.problems import prices
from paperlib.core.rounds import played_action
from paperlib.core.streams import Streams
from paperlib.learners.multiscale import Multiscale
from paperlib.nsbco import (
    Abrupt,
    Calibration,
    GridDrift,
    Optimizer,
    QuadraticDrift,
    Step,
    Walk,
    ball,
    box,
    calibrate,
)
from paperlib.nsbco.learners.ascent import GradientAscent
from paperlib.nsbco.learners.egs import EGS
from paperlib.nsbco.learners.gradient import FullInformation, StaticBaseline
from paperlib.nsbco.learners.kiefer import KieferWolfowitz
from paperlib.nsbco.learners.least_squares import DiscountedLeastSquares
from paperlib.nsbco.learners.presets import malg, practical, printed, single_scale
from paperlib.nsbco.model.task import check_task
from paperlib.nsbco.optimizer import Domain
from paperlib.nsbco.problems.paths import Path, on_first_axis
from paperlib.play import play

TKWARGS = {"dtype": torch.float64, "device": "cpu"}


def tensor(*x):
    return torch.tensor(x, **TKWARGS)


def task(**numbers):
    found = Flips().init(1, 10, None, **TKWARGS).task
    return found._replace(**{name: tensor(*x) for name, x in numbers.items()})


def new(domain=None, **more):
    domain = ball([1.0, 2.0], 2.0) if domain is None else domain
    return Optimizer(domain, **{"concavity": 0.25, "smoothness": 0.5, "noise": 0.035} | more)


def quiet(x):
    return -0.125 * ((x - np.array([1.5, 1.2])) ** 2).sum()


# ---- Multiscale --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("short", [True, False])
def test_largest_blocks_repeat_beyond_the_horizon(short):
    learner, instance, streams = malg(), task(), Streams(0, range(2))
    state, blocks = learner.init(2, instance, 4, streams.at(-1), **TKWARGS), []
    with shortcuts(short):
        for t in range(19):
            x, state = learner.select(state, instance, streams.at(t))
            state = learner.update(state, instance, x, 0.0 * x[:, 0], streams.at(t))
            blocks.append((state.n.tolist(), state.played.tolist()))
    rounds = [(n, i + 1) for n in (0, 1, 2, 2, 2, 2) for i in range(2**n)]
    assert blocks == [([n, n], [i, i]) for n, i in rounds]


def test_file_saved_after_a_whole_horizon_is_loaded(tmp_path):
    one = new(policy="master", horizon=7)
    for _ in range(7):
        one.tell(quiet(one.ask()))
    one.save(tmp_path / "run.npz")
    assert new(policy="master", horizon=7).restore(tmp_path / "run.npz").rounds == 7


@pytest.mark.parametrize(
    "value",
    [torch.tensor([True, True]), torch.ones(2, 2), torch.ones(2, 2) * math.inf, np.ones(2),
     np.array(1.0), [1.0], tensor(-math.inf), torch.tensor([1, -1])],
    ids=repr,
)  # fmt: skip
def test_invalid_per_trial_thresholds_raise_errors(value):
    for name in ("A1", "A2"):
        with pytest.raises(ValueError, match=f"^{name} must .*, got "):
            Multiscale(GradientAscent(), **{name: value})


def test_per_trial_integers_behave_like_floats():
    """Integer and float settings give the same digits, also if branches on tensor values are disabled."""
    A2, problem = torch.tensor([3, 4, 5]), QuadraticDrift(Abrupt(3))
    make = lambda A2: Multiscale(GradientAscent(bonus=0.7), 0.3, A2, ("A1", "A2"))
    for short in (True, False):
        with shortcuts(short):
            state = make(A2).init(3, task(), 1000, None, **TKWARGS)
            found = torch.as_tensor(make(A2)._limit("A2", state))
            assert found.dtype == torch.float64
            assert torch.equal(found, torch.as_tensor(make(A2.double())._limit("A2", state)))
            one, other = (play(make(x), problem, 300, 3)["regret"] for x in (A2, A2.double()))
            assert (one == other).all()


@pytest.mark.parametrize("value", [([],), ({},), (np.ones(2),), "A1"], ids=repr)
def test_invalid_names_of_logarithmic_thresholds_raise_errors(value):
    with pytest.raises(ValueError, match="logarithmic must be a tuple that contains only 'A1' and"):
        Multiscale(GradientAscent(), 1.0, 1.0, value)


class Counts(NamedTuple):
    t: torch.Tensor


@dataclass(frozen=True)
class Toy:
    """A valid base."""

    wants = "reward"

    def init(self, trials, task, horizon, draw, **tkwargs):
        return Counts(torch.zeros(trials, **tkwargs))

    def restart(self, state, task, horizon, draw):
        return Counts(torch.zeros_like(state.t))

    def select(self, state, task, draw):
        return torch.zeros(len(state.t), task.cset.dim, dtype=torch.float64), state

    def update(self, state, task, x, y, draw):
        return Counts(state.t + 1)

    def optimistic(self, state):
        return 1 / state.t  # not finite before the first update


WRONG = {
    r"^base.restart must return .*, got base=Wrong: .* only one of them has state\b": {
        "restart": lambda self, state, *rest: None
    },
    "^base must be a learner .*, got Wrong, whose trials share state.t. ": {
        "restart": lambda self, state, *rest: Counts(state.t[:1])
    },
    r"^base.restart must return .*, got base=Wrong: .* only one of them has state\.0": {
        "restart": lambda self, state, *rest: tuple(state)
    },
    "^base.restart must return .*, got base=Wrong: state.t must .*, got .*int64": {
        "restart": lambda self, state, *rest: Counts(state.t.long())
    },
    "^base.optimistic must return .*, got None from base=Wrong": {
        "optimistic": lambda self, state: None
    },
    "^base.optimistic must return .*, got 1.0 from base=Wrong": {
        "optimistic": lambda self, state: 1.0
    },
    r"^base.optimistic must return .*, got tensor\(\[\[.* from base=Wrong": {
        "optimistic": lambda self, state: state.t[:, None]
    },
    "^base.optimistic must return .*, got tensor.*inf.* from base=Wrong": {
        "optimistic": lambda self, state: state.t / 0.0
    },
    "^base must be a learner with the method restart, which Wrong lacks": {"restart": None},
    "^base must be a learner with the methods optimistic and restart, which Wrong lacks": {
        "restart": 3,
        "optimistic": "high",
    },
}


@pytest.mark.parametrize("message", WRONG)
@pytest.mark.parametrize("trials", [1, 2])
def test_bases_with_wrong_return_values_raise_errors(message, trials):
    wrong = type("Wrong", (Toy,), WRONG[message])
    with pytest.raises(ValueError, match=message):
        play(Multiscale(wrong()), QuadraticDrift(), 8, trials)
    assert play(Multiscale(Toy()), QuadraticDrift(), 8, trials)["regret"].shape == (trials, 8)


@pytest.mark.parametrize("trials", [1, 2, 3])
def test_constant_tensor_with_as_many_rows_as_trials_is_shared(trials):
    for size in (1, 2, 3, 4):
        begin = lambda self, n, *rest, size=size, **tkwargs: Counts(torch.zeros(size, **tkwargs))
        wrong = type("Wrong", (Toy,), {"init": begin})
        with pytest.raises(
            ValueError, match="base must be a learner whose state consists of tensors with"
        ):
            Multiscale(wrong()).init(trials, task(), 8, None, **TKWARGS)


def test_base_accepts_per_trial_settings_and_contexts():
    rows = {"margin": (0.5, 0.4), "smoothness": (2.0, 3.0)}
    learner = practical(GradientAscent(bonus=tensor(1.0, 2.0)))
    state = learner.init(2, task(**rows), 8, Streams(0, [0, 1]).at(-1), **TKWARGS)
    assert state.base.z.shape == (2, 2)


# ---- the optimizer -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change", [{"concavity": 0.2}, {"smoothness": 0.6}, {"margin": 0.6}, {"noise": 0.03}], ids=repr
)
def test_file_with_other_settings_raises_an_error(tmp_path, change):
    settings = {"learner": GradientAscent(0.1), "noise": np.float64(0.035)}
    one = new(**settings)
    one.tell(quiet(one.ask()))
    one.save(tmp_path / "run.npz")
    assert new(**settings).restore(tmp_path / "run.npz").rounds == 1
    with pytest.raises(ValueError, match=f"run.npz.*{next(iter(change))}="):
        new(**settings | change).restore(tmp_path / "run.npz")


def test_least_squares_reject_boxes_with_unequal_sides():
    """If a box is rescaled to equal sides, equal curvatures become unequal, therefore least squares raises an error."""
    how = {"concavity": 0.2, "smoothness": 20.0, "noise": 0.1}
    unequal, equal = box([0.0, 0.0], [1.0, 8.0]), box([0.0, 1.0], [1.0, 2.0])
    for more in ({"policy": "discounted"}, {"learner": DiscountedLeastSquares(64)}):
        with pytest.raises(
            ValueError,
            match=r"^domain must be a ball or a box of equal sides,.*, got Domain\(kind='box',",
        ):
            Optimizer(unequal, **how, **more)
        Optimizer(equal, **how, **more)
    Optimizer(unequal, **how)


def test_least_squares_points_are_finite_if_sums_are_singular():
    """With a tiny ridge and a window of one query, the sums are singular in some trials; the points are finite nevertheless."""
    learner = DiscountedLeastSquares(1, 1e-30)
    trace = play(learner, QuadraticDrift(), 200, 3, 0, record="all", probes={"x": played_action})
    assert np.isfinite(trace["x"]).all() and (abs(trace["x"]) <= 1).all()


@pytest.mark.parametrize(
    "domain, name",
    [
        (Domain("ball", [0.0, 0.0], [1.0, 2.0]), "domain.scale"),
        (Domain("ball", np.array([np.nan, 0.0]), np.ones(2)), "domain.center"),
        (Domain("box", np.zeros(0), np.ones(0)), "domain.center"),
        (Domain("box", np.zeros((2, 2)), np.ones((2, 2))), "domain.center"),
        (Domain("box", np.zeros(2), np.array([1.0, -1.0])), "domain.scale"),
        (Domain("box", np.full(2, 1e9), np.full(2, 1e-7)), "domain.scale"),
    ],
)
def test_invalid_custom_domains_raise_errors(domain, name):
    with pytest.raises(ValueError, match=f"^{name}"):
        Optimizer(domain, 0.25, 0.5, 0.035)


def test_optimizer_copies_its_domain_and_too_narrow_domains_raise_errors():
    domain = ball([0.0, 0.0])
    user = Optimizer(domain, 0.25, 0.5, 0.035)
    domain.center[:] = 100.0
    assert (abs(user.ask()) <= 1).all()
    with pytest.raises(ValueError, match="^radius"):
        ball([1e9], 1e-7)
    with pytest.raises(ValueError, match="^upper"):
        box([1e9], [1e9 + 1e-6])


def test_points_of_a_box_stay_within_its_corners():
    rng = np.random.default_rng(0)
    for low, high in np.sort(rng.uniform(-3, 3, (2000, 2)).round(2), 1):
        if low < high:
            domain = box([low], [high])
            ends = [float(domain.native(np.array([u]))[0]) for u in (-1.0, 1.0)]
            assert low <= ends[0] < ends[1] <= high
            assert ends == pytest.approx([low, high], rel=1e-14, abs=1e-14)


def test_margin_just_below_one_in_every_dtype():
    for dtype in (torch.float32, torch.float64, torch.int64):
        with pytest.raises(ValueError, match="^margin"):
            check_task(task()._replace(margin=torch.ones(1, dtype=dtype)))


def test_discounted_least_squares_finds_the_maximizer_with_little_noise():
    rng, target = np.random.default_rng(0), np.array([0.3, 0.2])
    user = Optimizer(ball([0.0, 0.0]), 1.0, 2.0, 1e-4, "discounted")
    for _ in range(2000):
        user.tell(0.5 - ((user.ask() - target) ** 2).sum() / 2 + 1e-4 * rng.standard_normal())
    assert np.linalg.norm(user.center - target) < 0.02


@pytest.mark.parametrize(
    "name, value",
    [("noise", 1e-29), ("noise", 1e29), ("y_range", "12"), ("y_range", ("1", "2")),
     ("y_range", {0.0, 1.0}), ("y_range", {0.0: 1, 1.0: 2}), ("y_range", (False, True)),
     ("y_range", (False, 2.0)), ("y_range", np.array([False, True])), ("y_range", (0, 10**400)),
     ("y_range", (0.0, 5e-324)), ("y_range", (-1e308, 1e308)), ("y_range", (0.0, 1.0, 2.0)),
     ("learner", 0), ("learner", ()), ("learner", FullInformation()), ("learner", StaticBaseline()),
     ("domain", Domain("cube", np.zeros(1), np.ones(1)))],
    ids=str,
)  # fmt: skip
def test_errors_name_the_invalid_setting(name, value):
    for policy in ("glr", "discounted"):
        with pytest.raises(ValueError, match=f"^{name}"):
            new(**{"policy": policy, name: value})


@pytest.mark.parametrize(
    "domain, more, name",
    [
        (ball([0.0], 1e20), {}, "concavity"),
        (ball([0.0], 1e-20), {}, "concavity"),
        (box([0.0, 0.0], [1.0, 1e20]), {"concavity": 1e-10}, "smoothness"),
        (ball([0.0]), {"y_range": (0.0, 1e-30), "concavity": 1e25}, "noise"),
    ],
)
def test_scales_out_of_floating_point_range_raise_errors_by_name(domain, more, name):
    with pytest.raises(ValueError, match=f"^{name} must be .*(domain|y_range).*, got "):
        new(domain, **more)


def test_ranges_accept_any_sequence():
    for given in ([0, 2], np.array([0.0, 2.0]), torch.tensor([0.0, 2.0])):
        assert new(y_range=given).y_range == (0.0, 2.0)


def test_no_policy_accepts_existing_data():
    with pytest.raises(
        ValueError,
        match=r"observe is not available, because every policy.*, got actions=\[\[1.0, 3.0\]\]",
    ):
        new().observe([[1.0, 3.0]], [0.1])


def test_threads_of_master_start_at_the_previous_center():
    assert new(policy="master").learner.base.warm_start


# ---- tasks, presets, calibration ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["margin", "smoothness", "concavity", "variation"])
def test_task_numbers_must_be_tensors(name):
    for value in (0.5, None, "x"):
        with pytest.raises(ValueError, match=f"^{name} must .*, got "):
            check_task(task()._replace(**{name: value}))


def test_margin_and_first_batch_per_trial():
    far = {"margin": (0.1, 0.8), "smoothness": (2.0, 2.0)}
    GradientAscent(0.4).validate(task(**far), None, None)  # N_0 is 256 and 1
    with pytest.raises(
        ValueError,
        match="N0 must be at least 256 with h=0.4, so that.*, got N0=1 with delta_0 = 0.4",
    ):
        GradientAscent(0.4, 1).validate(task(**far), None, None)
    # the rounding error leaves the set by no more than the tolerance
    h = 0.5 * (1 + 1e-10)
    GradientAscent(h).validate(task(), None, None)
    start = replace(GradientAscent(0.05), start=(0.5, 0.0))
    with pytest.raises(
        ValueError, match=r"^start must be a point of .* with c_0 = 0.8, got \(0.5, 0.0\)"
    ):
        start.validate(task(**far), None, None)


def test_presets_reject_other_bases_and_ratios():
    for make in (practical, printed, malg, lambda base: single_scale(0.3, base)):
        for base in (EGS(), None, GradientAscent, Index()):
            with pytest.raises(
                ValueError, match="^base must be a GradientAscent, because the tests .*, got "
            ):
                make(base)
    for c in (0.0, -1.0, math.nan, "x", None, tensor(1.0, 0.0)):
        with pytest.raises(ValueError, match="^c must be a positive number .*, got "):
            single_scale(c)
    assert single_scale(tensor(0.3, 0.6)).base.bonus.tolist() == [0.3 / 3, 0.6 / 3]


def test_calibration_accepts_residuals_of_rewards_of_one_trial():
    found = calibrate(task(), [-2.0, 2.0], 8, trials=2)
    assert found.learner().base == GradientAscent(bonus=found.b0)
    with pytest.raises(
        ValueError, match=r"residuals must be at least one number, each from -2 to 2, got \[2.1\]"
    ):
        calibrate(task(), [2.1], 8, trials=2)
    for base in (0, EGS(), GradientAscent):
        with pytest.raises(ValueError, match="^base must .*, got "):
            calibrate(task(), [0.1], 8, base, trials=2)
        with pytest.raises(ValueError, match="^base must .*, got "):
            Calibration(1.0, 0.5, 1.5, np.zeros(1)).learner(base)
    with pytest.raises(
        ValueError, match="^task.margin must be a tensor with one row, .* one trial, got "
    ):
        calibrate(task(margin=(0.5, 0.4)), [0.1], 8, trials=2)


# ---- problems ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bent(Path):
    """A path that leaves its declared range in one round."""

    first: float = 0.5
    best: float = 0.5
    at: int = 20
    jumps: bool = False

    def _where(self, t, there, else_):
        return np.where(t == self.at, there, else_)[None]

    def theta(self, part, t, horizon, dim, reach):
        return on_first_axis(self._where(t, self.first, 0.5), dim)

    def value(self, part, t, horizon):
        return self._where(t, self.best, 0.5)

    def turns(self, part, trial):
        return np.array([self.at, self.at + 1]) if self.jumps else None


@pytest.mark.parametrize("jumps", [False, True])
@pytest.mark.parametrize("wrong", [{"first": 0.51}, {"first": math.nan}, {"best": 0.6}], ids=str)
def test_paths_that_leave_their_declared_range_raise_errors(wrong, jumps):
    for at in (0, 20, 39):
        problem = QuadraticDrift(Bent(**wrong, at=at, jumps=jumps))
        with pytest.raises(ValueError, match="^path must be a path with .*, got Bent"):
            play(StaticBaseline(), problem, 40, 1)
    play(StaticBaseline(), QuadraticDrift(Bent(0.5 * (1 + 1e-12), jumps=jumps)), 40, 1)
    play(StaticBaseline(), QuadraticDrift(Bent(**wrong, at=40, jumps=jumps)), 40, 1)


def test_seeds_beyond_int64():
    for path in (Abrupt(3), Walk(0.01)):
        streams = Streams(2**63 - 1, [0, 1, 2**62])
        instance = QuadraticDrift(path).init(3, 40, streams.at(-1), **TKWARGS)
        assert instance.task.variation.shape == (3,) and instance.path.shape[0] == 3


def test_table_of_means_limits_the_horizon_by_the_number_of_paths():
    play(StaticBaseline(), QuadraticDrift(), 2, 1)
    draw, T = Streams(0, range(300)).at(-1), 1 << 14
    with pytest.raises(
        ValueError, match="horizon must be at most 11184 with 5 arms and 300 paths, got 16384"
    ):
        GridDrift(Abrupt(2)).init(300, T, draw, **TKWARGS)
    for problem in (GridDrift(Step(9)), GridDrift(Abrupt(2), environment=1)):
        assert problem.init(300, T, draw, **TKWARGS).means.shape == (1, T, 5)


def test_per_trial_integer_gains_behave_like_floats():
    gain, problem = torch.tensor([3, 10]), QuadraticDrift(Abrupt(3))
    found = {}
    for short in (True, False):
        with shortcuts(short):
            one, other = (KieferWolfowitz(x) for x in (gain, gain.double()))
            found[short] = play(one, problem, 60, 2)["regret"]
            assert (found[short] == play(other, problem, 60, 2)["regret"]).all()
    assert found[True] == pytest.approx(found[False], rel=1e-12)


def test_constant_prices_raise_an_error(monkeypatch):
    made = np.array([[1.0, 2.0, 1.5], [3.0, 3.0, 4.0]])
    monkeypatch.setattr(prices, "closes", lambda series: made)
    problem = prices.pricing("google", 2)
    assert problem.path.begin([0], 8, 1, 0.5, None).tolist() == [[-0.5, 0.5]]
    with pytest.raises(
        ValueError, match="days must be larger, because series 1 is constant.*, got 2"
    ):
        problem.path.begin([2, 3], 8, 1, 0.5, None)
    for days in (0, 1, 4, 2.0, "x", True):
        with pytest.raises(
            ValueError,
            match="^days must be (an integer from 2 to|at most 3, the length of the series).*, got ",
        ):
            prices.pricing("google", days).part([0], 64)
