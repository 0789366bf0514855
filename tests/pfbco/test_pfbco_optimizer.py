"""Tests of ask and tell on a given set: the loss decreases, points stay in the set, and bad input and restarts are handled."""

import inspect
import textwrap
import warnings

import numpy as np
import pytest
import torch
from example_sets import SETS, TKWARGS, TRIANGLE, l1_ball, l1_oracle
from pfbco_runs import run, task

from paperlib.pfbco import (
    PFBCO,
    Ball,
    Doubling,
    NuclearBall,
    Optimizer,
    SubSimplex,
    oracle_set,
    polytope,
    practical,
    smat,
    svec,
)
from paperlib.pfbco.probes import own_state

BOX = {"C": [[-1.0, 0.0], [0.0, -1.0], [1.0, 1.0]], "d": [0.0, 0.0, 1.0]}


def play(user, f, rounds):
    return np.array(
        [told for _ in range(rounds) for told in [f(user.ask())] if user.tell(told) is None]
    )


def in_box(x):
    return (np.array(BOX["C"]) @ x <= np.array(BOX["d"]) + 1e-9).all()


# ---- optimization ------------------------------------------------------------------------------------------


def test_ten_lines_over_a_polytope():
    target = np.array([0.7, 0.1])
    f = lambda x: float(((x - target) ** 2).sum())
    user = Optimizer(polytope(**BOX))
    start = f(user.center)
    for _ in range(2000):
        x = user.ask()
        user.tell(f(x))
        assert in_box(x)
    assert start > 0.2 and f(user.center) < 0.005


@pytest.mark.parametrize("power", [-100, -40, 40])
def test_the_unit_of_the_losses_does_not_matter(power):
    """Practical constants scale with the standard deviation of the losses; a power of two changes no bit."""
    f, unit = lambda x: float(((x - 0.3) ** 2).sum()), 2.0**power
    here, there = Optimizer(polytope(**BOX)), Optimizer(polytope(**BOX))
    for _ in range(300):
        x, y = here.ask(), there.ask()
        assert (x == y).all()
        here.tell(f(x))
        there.tell(unit * f(y))


def test_equal_losses_have_no_spread_in_any_unit():
    for loss in (0.0, 1e-300, 1e-12, 0.1, 1e9):
        user = Optimizer(polytope(**BOX))
        for _ in range(40):
            user.ask()
            user.tell(loss)
        assert np.isfinite(user.center).all()


def test_ten_lines_over_a_set_known_by_its_oracle():
    """The set is the l1 ball, given by its oracle without a projection; the minimizer is the vertex e_2."""
    f = lambda x: float(3 - 2 * x[1] + 0.5 * x[0])
    user = Optimizer(oracle_set(l1_oracle, center=np.zeros(3), radius=1 / np.sqrt(3)), c=0.5)
    losses = []
    for _ in range(3000):
        x = user.ask()
        losses.append(f(x))
        user.tell(losses[-1])
        assert np.abs(x).sum() <= 1 + 1e-9
    assert f(np.zeros(3)) == 3 and np.mean(losses[-500:]) < 1.6 and f(user.center) < 1.6


def test_the_example_of_the_docstring():
    """The example runs as printed."""
    example = textwrap.dedent(inspect.getdoc(Optimizer).split("\n\n")[2])
    f = lambda x: ((x - 0.4) ** 2).sum()
    names = {"np": np, "oracle_set": oracle_set, "Optimizer": Optimizer, "f": f}
    exec(example, names)
    assert f(names["user"].center) < 0.05 < f(np.zeros(2))


@pytest.mark.slow
@pytest.mark.parametrize(
    "cset",
    [
        Ball.of(3),
        SubSimplex.of(3),
        NuclearBall.of(2, 2.0),
        SETS["one by one, trace"],
        SETS["segment"],
    ],
    ids=lambda x: f"{type(x).__name__} {x.dim}",
)
@pytest.mark.parametrize("scale, offset", [(1e-3, 5.0), (1e4, -1e6)])
def test_the_unit_and_the_zero_of_losses_do_not_matter(cset, scale, offset):
    best = cset.to_native(0.8 * cset.lmo(torch.ones(1, cset.dim, **TKWARGS)))[0].numpy()
    f = lambda x: offset + scale * ((x - best) ** 2).sum()
    user = Optimizer(cset, 0.5)
    start = f(user.center) - offset
    play(user, f, 1023)
    assert f(user.center) - offset < 0.3 * start


def test_another_seed_is_another_run_and_the_same_one_the_same():
    f = lambda x: x.sum()
    one, two, other = (play(Optimizer(TRIANGLE, seed=seed), f, 50) for seed in (3, 3, 4))
    assert np.array_equal(one, two) and not np.array_equal(one, other)


@pytest.mark.parametrize(
    "settings, learner, horizon",
    [
        ({}, Doubling(practical(PFBCO(1.0))), None),
        ({"c": 0.4, "warm_start": False}, Doubling(practical(PFBCO(0.4), warm_start=False)), None),
        ({"loss_bound": 3.0}, Doubling(PFBCO(1.0, baseline=True, warm_start=True)), None),
        ({"loss_bound": 3.0, "horizon": 40, "baseline": False}, PFBCO(1.0), 40),
        ({"baseline": False}, Doubling(PFBCO(1.0, scale="spread", warm_start=True)), None),
    ],
    ids=["default", "cold", "bounded", "one epoch", "no baseline"],
)
def test_it_agrees_with_the_learner_in_other_coordinates(settings, learner, horizon):
    user, f = Optimizer(TRIANGLE, seed=2, **settings), lambda x: 1 + x[0] - 2 * x[1]
    reference = run(
        learner,
        task(TRIANGLE, settings.get("loss_bound", 1.0)),
        lambda t, y: torch.tensor([f(TRIANGLE.to_native(y)[0].numpy())], **TKWARGS),
        40,
        [0],
        horizon,
        seed=2,
    )
    for t in range(40):
        x = user.ask()
        np.testing.assert_allclose(x, TRIANGLE.to_native(reference.played[t])[0], atol=1e-12)
        np.testing.assert_allclose(own_state(user.state).x, reference.base(t).x, rtol=0, atol=1e-12)
        user.tell(f(x))
    assert user.rounds == 40


def test_a_set_in_single_precision_is_computed_with_in_double():
    user = Optimizer(Ball.of(3, dtype=torch.float32))
    play(user, lambda x: x.sum(), 10)
    assert own_state(user.state).x.dtype == own_state(user.state).eta.dtype == torch.float64


# ---- the center --------------------------------------------------------------------------------------------

GUARANTEE = {"loss_bound": 3.0, "baseline": False, "warm_start": False}


@pytest.mark.parametrize("answer", ["last", "average"])
@pytest.mark.parametrize("settings", [GUARANTEE, {}], ids=["guarantee", "practical"])
def test_the_center_is_from_the_last_finished_epoch(settings, answer):
    """The reference is a run by hand: its centers, and its last center after the last round of an epoch."""
    user = Optimizer(TRIANGLE, seed=2, answer=answer, **settings)
    learner = Doubling(PFBCO(1.0) if settings else practical(PFBCO(1.0)))
    f = lambda x: 1 + x[0] - 2 * x[1]
    context = task(TRIANGLE, settings.get("loss_bound", 1.0))
    loss = lambda t, y: torch.tensor([f(TRIANGLE.to_native(y)[0].numpy())], **TKWARGS)
    reference = run(learner, context, loss, 40, [0], None, seed=2)
    wanted = np.zeros(2)
    for t in range(40):
        native = TRIANGLE.to_native(torch.from_numpy(wanted)[None])[0]
        np.testing.assert_allclose(user.center, native, rtol=0, atol=1e-12)
        user.tell(f(user.ask()))
        if (t + 2) & (t + 1) == 0:  # the next round starts an epoch
            rounds = range((t + 1) // 2, t + 1)
            if answer == "average":
                wanted = np.mean([reference.base(s).x[0].numpy() for s in rounds], 0)
            else:
                at = reference.draws.at(t)
                ended = learner.base.update(
                    reference.base(t), context, reference.played[t], reference.heard[t], at
                )
                wanted = ended.x[0].numpy()


@pytest.mark.parametrize("answer", ["last", "average"])
def test_the_center_is_not_reset_when_an_epoch_starts(answer):
    """After 2^m - 1 rounds without a warm start the iterate is reset, but the center keeps the last epoch's result."""
    f = lambda x: float(((x - np.array([0.2, 0.5])) ** 2).sum())
    user = Optimizer(TRIANGLE, answer=answer, **GUARANTEE | {"loss_bound": 1.0})
    start = user.center
    play(user, f, 1023)
    np.testing.assert_allclose(TRIANGLE.to_native(own_state(user.state).x)[0], start, atol=1e-12)
    assert f(user.center) < 0.9 * f(start)
    before = user.center
    play(user, f, 700)
    assert np.array_equal(user.center, before)  # the epoch is not finished


def test_the_center_with_a_horizon_is_from_the_rounds_so_far():
    f, settings = lambda x: x[0] - x[1], {"loss_bound": 2.0, "horizon": 50, "seed": 4}
    last, mean = (Optimizer(TRIANGLE, answer=answer, **settings) for answer in ("last", "average"))
    iterates = [last.center]
    assert np.array_equal(mean.center, last.center)
    for _ in range(20):
        last.tell(f(last.ask())), mean.tell(f(mean.ask()))
        iterates.append(last.center)
        np.testing.assert_allclose(
            TRIANGLE.to_native(own_state(last.state).x)[0], last.center, atol=1e-12
        )
        np.testing.assert_allclose(mean.center, np.mean(iterates[:-1], 0), atol=1e-12)


def test_a_file_has_both_centers(tmp_path):
    user = Optimizer(TRIANGLE)
    play(user, lambda x: x[0], 21)
    user.save(tmp_path / "state.npz")
    other = Optimizer(TRIANGLE, answer="average").restore(tmp_path / "state.npz")
    assert np.abs(other.center - user.center).max() > 1e-3
    again = Optimizer(TRIANGLE, answer="average")
    play(again, lambda x: x[0], 21)
    assert np.array_equal(again.center, other.center)


def test_a_given_diameter_is_used_in_the_rates():
    """eta is proportional to D. The bound on D from the widths along the axes is sqrt(3) times too large here."""
    rate = lambda **told: own_state(
        Optimizer(
            oracle_set(l1_oracle, np.zeros(3), 1 / np.sqrt(3), **told), loss_bound=1.0, horizon=9
        ).state
    ).eta.item()
    assert rate() == pytest.approx(np.sqrt(3) * rate(diameter=2.0))


# ---- asking and telling ------------------------------------------------------------------------------------


def test_ask_must_precede_tell():
    user = Optimizer(TRIANGLE)
    with pytest.raises(
        RuntimeError,
        match=r"tell must follow a call of ask\(\), but ask\(\) was not called since the last tell",
    ):
        user.tell(1.0)
    x = user.ask()
    assert np.array_equal(user.ask(), x)
    user.tell(1.0)
    with pytest.raises(
        RuntimeError,
        match=r"tell must follow a call of ask\(\), but ask\(\) was not called since the last tell",
    ):
        user.tell(1.0)
    assert user.rounds == 1 and not np.array_equal(user.ask(), x)


@pytest.mark.parametrize(
    "loss",
    [
        np.nan,
        np.inf,
        -np.inf,
        True,
        np.True_,
        "1",
        None,
        [1.0, 2.0],
        np.ones(2),
        1j,
        torch.tensor(np.nan),
        [[1], [1, 2]],
    ],
    ids=lambda x: repr(x).replace("\n", ""),
)
def test_a_refused_loss_leaves_the_state_usable(loss):
    user = Optimizer(TRIANGLE)
    play(user, lambda x: x.sum(), 4)
    before, x = user.state, user.ask()
    finite, real = " must be finite, got .* in round 5, trial 0", " must be one real number"
    with pytest.raises(ValueError, match=f"loss({finite}|{real})"):
        user.tell(loss)
    assert user.state is before and user.rounds == 4 and np.array_equal(user.ask(), x)
    user.tell(0.5)
    assert user.rounds == 5


@pytest.mark.parametrize(
    "loss",
    [2, np.float64(2), np.float32(2), np.int8(2), torch.tensor(2.0), np.array(2.0), [2.0]],
    ids=lambda x: type(x).__name__ + str(getattr(x, "dtype", "")),
)
def test_losses_may_be_numbers_of_any_type(loss):
    one, two = Optimizer(TRIANGLE), Optimizer(TRIANGLE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one.ask(), one.tell(loss), two.ask(), two.tell(2.0)
    assert np.array_equal(one.center, two.center) and torch.equal(
        own_state(one.state).heard.mean, own_state(two.state).heard.mean
    )


def test_returned_arrays_are_copies():
    user = Optimizer(Ball.of(2))
    play(user, lambda x: x[0], 5)
    x, center = user.ask().copy(), user.center.copy()
    user.ask()[:] = 9.0
    user.center[:] = 9.0
    assert np.array_equal(user.ask(), x) and np.array_equal(user.center, center)
    user.tell(1.0)
    assert np.abs(user.center).max() < 1


def test_the_users_set_may_be_changed_later():
    cset = polytope(**BOX)
    user, other = Optimizer(cset), Optimizer(polytope(**BOX))
    cset.vertices.mul_(100.0)
    assert np.array_equal(play(user, lambda x: x.sum(), 20), play(other, lambda x: x.sum(), 20))


def test_a_loss_beyond_the_bound_warns_once():
    user = Optimizer(TRIANGLE, loss_bound=2.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        play(user, lambda x: -2.0, 3)
        assert not caught
        play(user, lambda x: -2.5, 3)
    assert (
        len(caught) == 1
        and "loss=-2.5 in round 4" in str(caught[0].message)
        and "loss_bound=2.0" in str(caught[0].message)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        play(Optimizer(TRIANGLE), lambda x: 1e9 * x[0], 9)


def test_rounds_beyond_the_horizon_warn_once():
    user = Optimizer(TRIANGLE, loss_bound=2.0, horizon=5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        play(user, lambda x: x[0], 5)
    with pytest.warns(UserWarning, match="round 6 is beyond horizon=5") as caught:
        play(user, lambda x: x[0], 5)
    assert len(caught) == 1 and user.rounds == 10


@pytest.mark.parametrize(
    "answer", [np.full(3, np.nan), np.ones(1), np.float64(0.7)], ids=["nan", "one number", "scalar"]
)
def test_an_oracle_that_fails_in_a_later_round_leaves_the_state_usable(answer):
    broken = []
    user, sound = (
        Optimizer(oracle_set(lambda c: answer if broken else l1_oracle(c), np.zeros(3), 0.5)),
        Optimizer(oracle_set(l1_oracle, np.zeros(3), 0.5)),
    )
    f = lambda x: x.sum()
    play(user, f, 20), play(sound, f, 20)
    before, x = user.state, user.ask()
    broken.append(True)
    with pytest.raises(
        RuntimeError, match="oracle must return a point of the set, 3 finite numbers, got "
    ):
        user.tell(f(x))
    assert user.state is before and user.rounds == 20 and np.array_equal(user.ask(), x)
    broken.clear()
    assert np.array_equal(play(user, f, 20), play(sound, f, 20))


def test_losses_whose_squares_overflow_are_refused_without_a_bound():
    user = Optimizer(TRIANGLE)
    play(user, lambda x: 1e150, 9)
    before, _ = user.state, user.ask()
    with pytest.raises(
        ValueError,
        match=r"loss must be at most 1e\+150 in absolute value.*, got -1e\+151 in round 10, trial 0",
    ):
        user.tell(-1e151)
    assert user.state is before and own_state(user.state).heard.deviation.isfinite().all()
    bounded = Optimizer(TRIANGLE, loss_bound=1e200)
    play(bounded, lambda x: 1e200 * x[0], 31)
    assert np.isfinite(bounded.center).all() and not np.array_equal(
        bounded.center, Optimizer(TRIANGLE).center
    )


def test_a_spread_within_rounding_of_the_mean_counts_as_none():
    """Then M = 1 and the center hardly moves. Even smaller losses are learned from if their mean is as small."""
    f = lambda x: float(((x - np.array([0.7, 0.1])) ** 2).sum())
    dead, alive = Optimizer(TRIANGLE), Optimizer(TRIANGLE)
    begin = alive.center
    play(dead, lambda x: 1e3 + 1e-11 * f(x), 1023), play(alive, lambda x: 1e-100 * f(x), 1023)
    assert f(alive.center) < 0.3 * f(begin) < 0.9 * f(dead.center)


def test_exploration_may_be_wider_with_a_horizon():
    """delta = c T^{-1/5} must be at most 1, the radius of the inscribed ball."""
    user = Optimizer(Ball.of(2), c=2.0, loss_bound=1.0, horizon=32)
    assert (
        own_state(user.state).delta.item()
        == own_state(user.state).alpha.item()
        == pytest.approx(1.0)
    )
    for c, settings in (
        (2.01, {"horizon": 32, "loss_bound": 1.0}),
        (2.0, {}),
        (2.0, {"loss_bound": 1.0}),
    ):
        with pytest.raises(
            ValueError,
            match="^c must be so small that alpha is at most 1, .*, got c=2.* with alpha = ",
        ):
            Optimizer(Ball.of(2), c=c, **settings)


def test_matrices_are_asked_for_as_vectors():
    cset, X = NuclearBall.of(3, 2.0), np.diag([0.8, -0.4, 0.0])
    f = lambda x: float(((smat(torch.from_numpy(x)[None], 3)[0].numpy() - X) ** 2).sum())
    user = Optimizer(cset)
    start = f(user.center)
    play(user, f, 2047)
    assert user.ask().shape == (6,) and f(user.center) < 0.5 * start
    np.testing.assert_allclose(
        svec(smat(torch.from_numpy(user.center)[None], 3))[0], user.center, atol=1e-12
    )


# ---- files -------------------------------------------------------------------------------------------------

KEPT = {
    "polytope": lambda: polytope(**BOX),
    "oracle": lambda: l1_ball(3),
    "lambda": lambda: oracle_set(lambda c: -np.sign(c), [0.0, 0.0], 1.0),
    "ball": lambda: Ball.of(2),
    "programs": lambda: polytope(**BOX, most=0),
    "matrices": lambda: NuclearBall.of(2, 1.0),
}


@pytest.mark.parametrize(
    "settings", [{}, {"loss_bound": 4.0, "horizon": 50}], ids=["practical", "one epoch"]
)
@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("asked", [False, True])
def test_a_run_continues_after_save_and_load(name, settings, asked, tmp_path):
    user, f = Optimizer(KEPT[name](), **settings), lambda x: 1 + x[0]
    play(user, f, 13)
    x = user.ask() if asked else None
    user.save(tmp_path / "state.npz")
    again = Optimizer(KEPT[name](), **settings)
    assert (
        again.restore(tmp_path / "state.npz") is again
        and again.rounds == 13
        and np.array_equal(again.center, user.center)
    )
    with pytest.raises(
        RuntimeError,
        match=r"tell must follow a call of ask\(\), but ask\(\) was not called since the last tell",
    ):
        again.tell(0.0)
    assert x is None or np.array_equal(again.ask(), x)
    assert np.array_equal(play(user, f, 20), play(again, f, 20))
    with np.load(tmp_path / "state.npz", allow_pickle=False) as file:
        assert "head" in file.files


@pytest.mark.parametrize(
    "cset, settings",
    [
        (polytope(BOX["C"], [0.0, 0.0, 2.0]), {}),
        (polytope(BOX["C"], [0.0, 0.0, 1.0 + 1e-6]), {}),
        (Ball.of(2), {}),
        (TRIANGLE, {"c": 0.5}),
        (TRIANGLE, {"seed": 1}),
        (TRIANGLE, {"loss_bound": 1.0}),
        (TRIANGLE, {"baseline": False}),
        (TRIANGLE, {"warm_start": False}),
        (TRIANGLE, {"loss_bound": 1.0, "horizon": 50}),
    ],
    ids=[
        "larger",
        "a bit larger",
        "ball",
        "c",
        "seed",
        "bound",
        "baseline",
        "warm start",
        "horizon",
    ],
)
def test_a_file_of_another_set_or_learner_is_refused(cset, settings, tmp_path):
    play(user := Optimizer(TRIANGLE), lambda x: x.sum(), 5)
    user.save(tmp_path / "state.npz")
    other = Optimizer(cset, **settings)
    before = other.state
    with pytest.raises(ValueError, match="^path must be a file saved by a learner with .*, got "):
        other.restore(tmp_path / "state.npz")
    assert other.state is before and other.rounds == 0
    Optimizer(TRIANGLE).restore(tmp_path / "state.npz")


def test_a_file_of_another_bound_is_refused(tmp_path):
    Optimizer(TRIANGLE, loss_bound=2.0).save(tmp_path / "state.npz")
    with pytest.raises(ValueError, match="^path must be a file saved by a learner with .*, got "):
        Optimizer(TRIANGLE, loss_bound=3.0).restore(tmp_path / "state.npz")


def test_a_file_of_another_oracle_is_refused(tmp_path):
    """The sets have the same dimension, center, radius and widths, so only the oracles' minimizers distinguish them."""
    square, disk = lambda c: -np.sign(c), lambda c: -c / np.linalg.norm(c)
    corner = lambda c: (
        np.array([-np.sign(c[0]), -np.sign(c[1])])
        * (1.0 if abs(c[0]) < 5 * abs(c[1]) else [1.0, 0.9])
    )
    Optimizer(oracle_set(square, [0.0, 0.0], 1.0)).save(tmp_path / "state.npz")
    for oracle in (disk, corner):
        with pytest.raises(
            ValueError, match="^path must be a file saved by a learner with .*, got "
        ):
            Optimizer(oracle_set(oracle, [0.0, 0.0], 1.0)).restore(tmp_path / "state.npz")
    # The same set, written as another function, is accepted.
    Optimizer(oracle_set(lambda c: -np.sign(c) + 0.0, [0.0, 0.0], 1.0)).restore(
        tmp_path / "state.npz"
    )


@pytest.mark.slow
def test_a_set_is_recognized_on_another_machine(tmp_path):
    """Qhull and linear programs differ between machines in the last digits, and therefore in the order of vertices."""
    for cset in (
        TRIANGLE,
        polytope(BOX["C"], [0.5, 0.5, 0.0]),
        polytope(BOX["C"], [1.0, 1e5, 1e-3]),
        l1_ball(3),
    ):
        Optimizer(cset).save(tmp_path / "state.npz")
        for seed in range(20):
            noise = np.random.default_rng(seed)
            shaken = {
                name: x + 1e-14 * x.abs().max() * torch.from_numpy(noise.normal(size=x.shape))
                for name, x in cset._asdict().items()
                if isinstance(x, torch.Tensor)
            }
            if "vertices" in shaken:
                shaken["vertices"] = shaken["vertices"][:, noise.permutation(3)]
            Optimizer(cset._replace(**shaken)).restore(tmp_path / "state.npz")


def test_a_message_names_only_the_parts_of_a_set_that_differ(tmp_path):
    Optimizer(TRIANGLE).save(tmp_path / "state.npz")
    with pytest.raises(ValueError, match="^path must .* with .*set=.*, got ") as error:
        Optimizer(Ball.of(2), c=0.5).restore(tmp_path / "state.npz")
    said = str(error.value)
    assert (
        "set='" in said
        and "learner.base.base.c=1.0" in said
        and "learner.base.base.c=0.5" in said
        and "seed" not in said
        and "horizon" not in said
        and len(said) < 400
    )


# ---- bad input ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings, match",
    [
        ({"c": 0.0}, r"c must be a positive number from 1e-30 to 1e\+30, got "),
        ({"c": -1.0}, r"c must be a positive number from 1e-30 to 1e\+30, got "),
        ({"c": np.nan}, r"c must be a positive number from 1e-30 to 1e\+30, got "),
        ({"c": 1.01}, "^c must be so small .*, got c=1.01 with alpha = 1.01 at horizon 1$"),
        ({"loss_bound": 0.0}, r"loss_bound must be a positive number from 1e-200 to 1e\+200, got "),
        (
            {"loss_bound": np.inf},
            r"loss_bound must be a positive number from 1e-200 to 1e\+200, got ",
        ),
        ({"loss_bound": "a"}, r"loss_bound must be a positive number from 1e-200 to 1e\+200, got "),
        ({"horizon": 10}, "loss_bound must be a positive number with horizon=10, got None"),
        (
            {"loss_bound": 1.0, "horizon": 0},
            r"horizon must be an integer from 1 to 2\^63 - 1, got 0",
        ),
        (
            {"loss_bound": 1.0, "horizon": 2.5},
            r"horizon must be an integer from 1 to 2\^63 - 1, got 2.5",
        ),
        ({"baseline": "no"}, "baseline must be one of False, True, got "),
        ({"warm_start": 2}, "warm_start must be one of False, True, got "),
        ({"seed": -1}, r"seed must be an integer from 0 to 2\^63 - 1, got "),
        ({"seed": 0.5}, r"seed must be an integer from 0 to 2\^63 - 1, got "),
        ({"answer": "mean"}, "answer must be one of 'last', 'average', got 'mean'"),
    ],
    ids=range(15),
)
def test_settings_out_of_range_are_refused(settings, match):
    with pytest.raises(ValueError, match=match):
        Optimizer(TRIANGLE, **settings)


@pytest.mark.parametrize(
    "cset",
    [SETS["packings"], None, np.eye(2), "ball", Ball, NuclearBall.of(2, 1.0, exact=False)],
    ids=["three trials", "none", "array", "name", "class", "printed oracle"],
)
def test_other_objects_than_a_single_set_are_refused(cset):
    with pytest.raises(ValueError, match="cset must be"):
        Optimizer(cset)


# ---- evaluations that fail ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "skip", [lambda t: t == 0, lambda t: t % 2 == 0], ids=["first", "every second"]
)
@pytest.mark.parametrize(
    "settings", [{}, {"loss_bound": 4.0, "horizon": 4000}], ids=["practical", "one epoch"]
)
def test_a_search_with_failures_continues_after_a_load(settings, skip, tmp_path):
    target = np.array([0.7, 0.1])
    f = lambda x: float(((x - target) ** 2).sum())
    user, failed = Optimizer(TRIANGLE, **settings), []
    start = f(user.center)
    for t in range(2000):
        x = user.ask()
        if skip(t):
            before = user.state
            user.fail(np.nan)
            failed.append(tuple(x))
            assert user.state is before
        else:
            user.tell(f(x))
        if t == 700:
            user.save(tmp_path / "state.npz")
            user = Optimizer(TRIANGLE, **settings).restore(tmp_path / "state.npz")
    assert [x.action for x in user.failures] == failed and user.rounds == 2000 - len(failed)
    assert all(in_box(np.array(x)) for x in failed) and f(user.center) < (
        0.01 if not settings else start
    )


def test_another_direction_is_asked_for_after_a_failure():
    user = Optimizer(TRIANGLE)
    play(user, lambda x: x.sum(), 5)
    center, x = user.center, user.ask()
    user.fail(RuntimeError("no power"))
    assert np.array_equal(user.center, center) and not np.array_equal(user.ask(), x)
    assert user.failures == [
        (6, tuple(x), "RuntimeError: no power")
    ] and "rounds=5, failures=1, horizon=None" in repr(user)
    user.tell(1.0)
    with pytest.raises(
        RuntimeError,
        match=r"fail must follow a call of ask\(\), but ask\(\) was not called since the last tell",
    ):
        user.fail(np.nan)


@pytest.mark.parametrize(
    "reason, instead, match",
    [
        (1.0, None, "reason must be an exception, a message, or.*, got 1.0"),
        (
            np.nan,
            np.inf,
            "instead=inf is not valid feedback: loss must be finite, got inf in round 1, trial 0",
        ),
        (np.nan, True, "loss must be one real number, got True"),
        (np.nan, np.ma.masked, "loss must be one real number"),
        (np.nan, 1e151, "1e[+]150"),
    ],
)
def test_a_refused_failure_leaves_the_state_usable(reason, instead, match):
    user = Optimizer(TRIANGLE)
    x = user.ask()
    with pytest.raises(ValueError, match=match):
        user.fail(reason, instead)
    assert not user.failures and user.rounds == 0 and np.array_equal(user.ask(), x)
    user.fail(np.nan, instead=2.0)
    assert user.rounds == 1 and len(user.failures) == 1


def test_a_loss_instead_of_a_failure_is_used():
    one, two = Optimizer(TRIANGLE), Optimizer(TRIANGLE)
    one.ask(), one.fail(None, instead=2.0), two.ask(), two.tell(2.0)
    assert np.array_equal(one.ask(), two.ask())


def test_other_points_than_the_asked_one_are_refused():
    with pytest.raises(
        ValueError, match="(?s)^actions must be the ones that .* actions that it chose itself, got "
    ):
        Optimizer(TRIANGLE).observe(np.zeros((2, 2)), [1.0, 2.0])


def test_the_warning_of_the_bound_is_kept_in_the_file(tmp_path):
    user = Optimizer(TRIANGLE, loss_bound=1.0)
    with pytest.warns(UserWarning, match="loss_bound=1.0") as caught:
        play(user, lambda x: 2.0, 2)
    assert caught[0].filename == __file__
    user.save(tmp_path / "state.npz")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        play(Optimizer(TRIANGLE, loss_bound=1.0).restore(tmp_path / "state.npz"), lambda x: 2.0, 2)
