"""The problems: f has the requested norm and distribution, trials share the arms, and tables equal their files."""

import os
from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.datasets import load_diabetes, load_digits

from companion.bkb.experiments import settings
from companion.bkb.problems import real
from companion.bkb.problems.real import TableArms
from companion.datasets import registry as datasets
from paperlib.bkb.problems import RKHS, GPDraw, LinearArms, WarmRKHS
from paperlib.core.describe import describe
from paperlib.core.streams import Streams
from paperlib.core.trees import tree_take
from paperlib.learners.reference import UniformArm
from paperlib.play import play

TKWARGS = {"dtype": torch.float64, "device": "cpu"}
SMALL = RKHS(arms=30, dim=2, gamma=8.0, norm=2.0, noise=0.2)
SPARSE = replace(SMALL, arms=40, centers=7)
DRAWN = [
    SMALL,
    SPARSE,
    replace(SMALL, arms=36, grid=True),
    WarmRKHS(41),
    GPDraw(31),
    LinearArms("poly", 12, 5, 0.5),
]
PROBLEMS = [*DRAWN, TableArms("diabetes")]


def instance_of(problem, trials=4, seed=0):
    trials = range(trials) if isinstance(trials, int) else trials
    return problem.init(len(trials), 10, Streams(seed, trials).at(-1), **TKWARGS)


@pytest.mark.parametrize("problem", PROBLEMS, ids=repr)
def test_arms_are_shared_and_rewards_are_f_plus_noise(problem):
    trials = 3000
    instance, streams = instance_of(problem, trials), Streams(0, range(trials))
    arms = problem.context(instance, 0)
    A = arms.shape[1]
    assert (
        arms.shape[0] == 1 and arms.dtype == torch.float64 and arms is problem.context(instance, 7)
    )
    f = instance.means.expand(trials, A)
    torch.testing.assert_close(instance.best.expand(trials), f.amax(1))
    first, second = torch.full((trials,), A - 1), torch.arange(trials) % A
    reward, gap = problem.respond(instance, 3, first, "reward", streams.at(3))
    other, less = problem.respond(instance, 3, second, "reward", streams.at(3))
    assert reward.shape == gap.shape == (trials,) and bool((gap >= 0).all())
    torch.testing.assert_close(gap, f.amax(1) - f[:, -1])
    torch.testing.assert_close(less, f.amax(1) - f[torch.arange(trials), second])
    noise = reward - f[:, -1]
    # The noise belongs to the round, not to the arm.
    torch.testing.assert_close(noise, other - f[torch.arange(trials), second])
    assert (
        noise.std().item() == pytest.approx(problem.noise, rel=0.05)
        and abs(noise.mean().item()) < 0.07 * problem.noise
    )


@pytest.mark.parametrize("problem", PROBLEMS, ids=repr)
def test_trial_i_of_a_seed_is_trial_0_of_a_later_seed(problem):
    batch = instance_of(problem, 5, seed=20)
    alone, some = instance_of(problem, 1, seed=23), instance_of(problem, [4, 1], seed=20)
    for a, b in ((tree_take(batch, [3]), alone), (tree_take(batch, [4, 1]), some)):
        for field in ("arms", "means", "best", "coefficients", "centers"):
            torch.testing.assert_close(getattr(a, field), getattr(b, field), rtol=1e-9, atol=1e-9)
    if problem in DRAWN:
        assert len({round(x, 9) for x in batch.best.tolist()}) == 5
    # The arms depend on the instance, not on the seed.
    assert instance_of(problem, 2, seed=1).arms.equal(batch.arms)


@pytest.mark.parametrize("problem", [p for p in DRAWN if not isinstance(p, GPDraw)], ids=repr)
def test_norm_is_exact_and_the_means_are_the_expansion(problem):
    instance = instance_of(problem, 6)
    centers, c = instance.centers[0].numpy(), instance.coefficients.numpy()
    if isinstance(problem, LinearArms):
        k = lambda X, Y: X @ Y.T
    else:
        k = lambda X, Y: np.exp(-problem.gamma * ((X[:, None] - Y) ** 2).sum(-1))
    np.testing.assert_allclose(
        np.sqrt(np.einsum("ri,ij,rj->r", c, k(centers, centers), c)), problem.norm, rtol=1e-12
    )
    np.testing.assert_allclose(instance.means, c @ k(centers, instance.arms[0].numpy()), atol=1e-10)


def test_centers_are_some_of_the_arms():
    many = RKHS(2001, 1, gamma=10.0)
    assert instance_of(RKHS(2000, 1, gamma=10.0), 1).coefficients.shape == (1, 2000)
    for problem, n in ((SPARSE, 7), (many, 200)):
        instance = instance_of(problem)
        same = (instance.centers[0, :, None] == instance.arms[0]).all(-1)
        assert (
            same.shape[0] == n and bool((same.sum(1) == 1).all()) and bool((same.sum(0) <= 1).all())
        )
        assert instance_of(problem, 2, seed=9).centers.equal(instance.centers)


def test_chunks_change_nothing(monkeypatch):
    whole = instance_of(SPARSE)
    monkeypatch.setattr("paperlib.bkb.problems.CHUNK", 11)
    torch.testing.assert_close(instance_of(SPARSE).means, whole.means)


def test_arms_are_uniform_or_a_grid():
    x = instance_of(RKHS(2000, 2, gamma=1.0), 1).arms[0]
    assert 0 <= x.min() and x.max() < 1
    torch.testing.assert_close(x.mean(0), torch.full((2,), 0.5, **TKWARGS), atol=0.03, rtol=0)
    torch.testing.assert_close(x.T.cov(), torch.eye(2, **TKWARGS) / 12, atol=0.006, rtol=0)
    assert not instance_of(replace(SMALL, instance=1)).arms.equal(instance_of(SMALL).arms)
    assert instance_of(settings.REFERENCE, 1).arms[0, :, 0].tolist() == [i / 63 for i in range(64)]
    square = instance_of(replace(SMALL, arms=9, grid=True), 1).arms[0]
    assert {tuple(p) for p in square.tolist()} == {(x, y) for x in (0, 0.5, 1) for y in (0, 0.5, 1)}


def test_1d_setting_is_the_scale_that_was_measured():
    """The standard deviation of f is about 1; uniform play has a regret of 1.56 per round, 1.67 and 1.73 in runs of 20 and 10 trials."""
    instance = instance_of(settings.RKHS_1D, 400)
    assert instance.means.std().item() == pytest.approx(1.0, abs=0.1)
    loss = instance.best - instance.means.mean(1)
    assert loss.mean().item() == pytest.approx(1.6, abs=0.15) and 0.2 < loss.std().item() < 0.5
    played = play(UniformArm(), settings.RKHS_1D, 100, 20, record=1)["regret"][:, -1] / 100
    np.testing.assert_allclose(played, loss[:20], atol=0.5)


@pytest.mark.parametrize("make", [settings.RKHS_2D, settings.dense_1d, settings.dense_2d_hard])
def test_settings_make_instances(make):
    problem = make(3000) if callable(make) else make
    assert problem.norm == 3.0
    assert instance_of(problem, 2).means.shape == (2, problem.arms)


@pytest.mark.slow
def test_warm_f_is_largest_outside_the_warm_start():
    problem, trials = WarmRKHS(), 300
    instance = instance_of(problem, trials)
    x = instance.arms[0, :, 0]
    assert problem.left == 101 and x[100] == 0.5
    assert bool((x[instance.means.argmax(1)] > 0.6).all())
    assert bool((instance.best - instance.means[:, :101].amax(1) > 0.3).all())
    # Trials whose first attempt meets the conditions keep it.
    first = RKHS(201, 1, grid=True, centers=201)
    plain = first.init(trials, 1, _Renamed(Streams(0, range(trials)).at(-1)), **TKWARGS)
    good = (x[plain.means.argmax(1)] > 0.6) & (plain.best - plain.means[:, :101].amax(1) > 0.3)
    assert 0.1 < good.double().mean() < 0.6
    torch.testing.assert_close(instance.means[good], plain.means[good])
    assert not bool((instance.means[~good] - plain.means[~good]).abs().amax(1).lt(1e-6).any())
    with pytest.raises(
        ValueError, match="^beyond and lead must be attained .*, got .* lead=0.3, norm=0.1, "
    ):
        # |f| <= 0.1, so that no lead of 0.3 exists.
        instance_of(replace(problem, arms=21, norm=0.1), 1)


class _Renamed:
    """Draws of a warm problem's first attempt under the purpose that ``RKHS`` uses."""

    def __init__(self, draw):
        self.draw = draw

    def normal(self, purpose, *shape):
        return self.draw.normal("problem 0" if purpose == "problem" else purpose, *shape)


def test_uniform_in_draws_from_the_first_arms():
    learner, arms = UniformArm(5), torch.zeros(1, 9, 1, **TKWARGS)
    arm, state = learner.select(None, arms, Streams(0, range(5000)).at(0))
    assert state is None and arm.dtype == torch.int64
    assert (
        np.bincount(arm.numpy(), minlength=5) / 1000 == pytest.approx(np.ones(5), abs=0.12)
    ) and arm.max() == 4
    with pytest.raises(ValueError, match="count must be at most 9, the number of arms, got 10"):
        UniformArm(10).validate(arms, None, None)
    learner.validate(arms, None, None)
    for count in (0, -1, 2.0, True):
        with pytest.raises(ValueError, match="^count must be an integer from 1 to .*, got "):
            UniformArm(count)
    regret = play(UniformArm(101), WarmRKHS(), 50, 3, record="all")["regret"]
    assert bool((np.diff(regret) > 0.3).all())  # the learner never leaves the left half


def test_gaussian_process_has_its_covariance():
    problem = GPDraw(21, gamma=30.0)
    instance, x = instance_of(problem, 20000), np.arange(21) / 20
    assert (
        problem.left == 11
        and GPDraw().left == 501
        and instance.arms[0, :, 0].tolist() == x.tolist()
    )
    np.testing.assert_allclose(
        np.cov(instance.means.numpy().T), np.exp(-30 * (x[:, None] - x) ** 2), atol=0.04
    )
    assert abs(instance.means.mean(0)).max() < 0.04
    smooth = instance_of(GPDraw(1001), 3).means
    # The effect of the jitter is below the tolerance.
    assert smooth.isfinite().all() and (smooth.diff(n=2, dim=1).abs().max() < 1e-2)


@pytest.mark.parametrize("spectrum, ratio", [("low", 1e3), ("poly", 30.0), ("flat", 1.0)])
def test_linear_arms_have_their_spectrum(spectrum, ratio):
    problem = LinearArms(spectrum, arms=20_000, norm=0.7)
    instance = instance_of(problem, 50)
    assert torch.linalg.vector_norm(instance.arms, dim=-1).amax().item() == pytest.approx(
        1.0, rel=1e-12
    )
    torch.testing.assert_close(
        torch.linalg.vector_norm(instance.coefficients, dim=-1), torch.full((50,), 0.7, **TKWARGS)
    )
    torch.testing.assert_close(instance.means, instance.coefficients @ instance.arms[0].T)
    variance = instance.arms[0].var(0)
    assert (variance[0] / variance[-1]).item() == pytest.approx(ratio, rel=0.06)
    expected = {
        "low": np.where(np.arange(30) < 5, 1.0, 1e-3),
        "poly": 1 / np.arange(1, 31),
        "flat": np.ones(30),
    }[spectrum]
    np.testing.assert_allclose(variance / variance.sum(), expected / expected.sum(), rtol=0.06)


# ---- tables ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, load, median, shape",
    [("diabetes", load_diabetes, 17.18, (442, 10)), ("digits", load_digits, 9.41, (1797, 64))],
)
def test_bundled_tables(name, load, median, shape):
    features, target = load(return_X_y=True)
    problem = TableArms(name)
    instance = instance_of(problem, 3)
    assert (
        instance.arms.shape == (1, *shape)
        and instance.means.shape == (1, len(target))
        and problem.data_checksum is None
    )
    arms = features / 16 if name == "digits" else (features - features.mean(0)) / features.std(0)
    np.testing.assert_allclose(instance.arms[0], arms, atol=1e-12)
    np.testing.assert_allclose(
        instance.means[0], (target - target.mean()) / target.std(), atol=1e-12
    )
    i, j = np.triu_indices(len(arms), 1)
    own = np.median(sum((arms[i, k] - arms[j, k]) ** 2 for k in range(shape[1])))
    assert own == pytest.approx(median, abs=0.01) and problem.gamma == pytest.approx(
        0.5 / own, rel=5e-4
    )
    assert problem.kernel.gamma == problem.gamma and TableArms(name, gamma=0.3).gamma == 0.3


REAL = [
    name
    for name in real.FETCHED
    for folder in [os.environ.get("PAPERLIB_DATA", "")]
    if folder
    and any(
        os.path.exists(os.path.join(folder, datasets.REGISTRY[name].file + end))
        for end in ("", ".gz")
    )
]
at_hand = pytest.mark.parametrize("name", REAL) if REAL else lambda test: None


@at_hand
def test_fetched_tables(name):
    table, problem = datasets.load(name), TableArms(name, 0.2)
    instance = instance_of(problem, 2)
    A, d = table.features.shape
    assert (
        instance.arms.shape == (1, A, d) and problem.data_checksum == datasets.REGISTRY[name].sha256
    )
    assert problem.data_checksum in str(describe(problem))
    torch.testing.assert_close(
        instance.arms[0].mean(0), torch.zeros(d, **TKWARGS), atol=1e-9, rtol=0
    )
    torch.testing.assert_close(instance.arms[0].std(0, correction=0), torch.ones(d, **TKWARGS))
    assert np.corrcoef(instance.means[0], table.target)[0, 1] == pytest.approx(
        1.0
    ) and instance.means.std(correction=0).item() == pytest.approx(1.0)
    for k in (0, d - 1):
        assert np.corrcoef(instance.arms[0, :, k], table.features[:, k])[0, 1] == pytest.approx(1.0)
    rng = np.random.default_rng(0)
    i, j = rng.integers(A, size=(2, 100_000))
    squares = (instance.arms[0, i] - instance.arms[0, j]).square().sum(1)
    # The same holds if only some pairs are used.
    assert problem.gamma == pytest.approx(
        0.5 / squares[torch.tensor(i != j)].median().item(), rel=0.03
    )


def test_the_error_for_a_missing_table_states_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setenv("PAPERLIB_DATA", str(tmp_path))
    monkeypatch.setattr(datasets, "cache_folder", lambda: tmp_path)
    monkeypatch.setitem(
        datasets.REGISTRY, "abalone", replace(datasets.REGISTRY["abalone"], urls=())
    )
    real.table.cache_clear(), real.median_gamma.cache_clear()
    with pytest.raises(FileNotFoundError, match="How to get it"):
        TableArms("abalone")


def test_a_table_is_not_changed_by_its_users():
    instance = instance_of(TableArms("diabetes"), 1)
    instance.means.zero_(), instance.arms.zero_()
    assert instance_of(TableArms("diabetes"), 1).means.std() > 0.9
    with pytest.raises(ValueError, match="read-only"):
        real.table("diabetes")[0][0] = 0


# ---- invalid input -----------------------------------------------------------------------------------------

NUMBER, ABOVE, COUNT = [float("nan"), float("inf"), "large"], [0.0, -1.0], [0, -3, 2.5, True]
BAD = [
    (
        SMALL,
        {
            "arms": COUNT,
            "dim": COUNT,
            "gamma": NUMBER + ABOVE,
            "norm": NUMBER + ABOVE,
            "noise": NUMBER + [-0.1],
            "centers": COUNT + [31],
            "grid": [2, "yes"],
            "instance": [-1, 0.5],
        },
    ),
    (RKHS(16, 2, grid=True), {"arms": [15, 17]}),
    (
        WarmRKHS(),
        {
            "arms": COUNT + [2],
            "gamma": ABOVE,
            "norm": ABOVE,
            "noise": [-1.0],
            "beyond": [0.0, 1.0, float("nan")],
            "lead": [-0.1],
        },
    ),
    (GPDraw(), {"arms": COUNT + [2], "gamma": ABOVE, "noise": [-1.0]}),
    (
        LinearArms(),
        {
            "spectrum": ["steep"],
            "arms": COUNT,
            "dim": COUNT,
            "norm": ABOVE,
            "noise": [-1.0],
            "instance": [-1],
        },
    ),
    (TableArms(), {"name": ["iris"], "noise": [-1.0], "gamma": ABOVE}),
]


@pytest.mark.parametrize(
    "problem, field, value",
    [(p, f, v) for p, fields in BAD for f, values in fields.items() for v in values],
)
def test_fields_out_of_range_are_refused(problem, field, value):
    with pytest.raises(ValueError, match=f"^{field} must .*, got "):
        replace(problem, **{field: value})
