"""Reward families, and the checks that the learners share."""

import math

import numpy as np
import pytest
import torch
from device_form import shortcuts
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from paperlib.core import validation as rules
from paperlib.glbomd.learners.glbomd import GLBOMD
from paperlib.glbomd.learners.glmucb import GLMUCB
from paperlib.glbomd.model.links import (
    CLIP,
    Bernoulli,
    Binomial,
    Gaussian,
    Poisson,
    kappa_ball,
    known_link,
    poisson_quantile,
)

FAMILIES = [Bernoulli(), Poisson(), Gaussian(0.25), Binomial(7)]
each = pytest.mark.parametrize("link", FAMILIES, ids=lambda link: type(link).__name__)
GRID = torch.linspace(-9, 9, 2001, dtype=torch.float64)


def tensor(*x):
    return torch.tensor(x, dtype=torch.float64)


@each
def test_mean_and_slope_are_derivatives_of_the_log_partition(link):
    z = GRID.clone().requires_grad_()
    (mean,) = torch.autograd.grad(link.log_partition(z).sum(), z, create_graph=True)
    (slope,) = torch.autograd.grad(mean.sum(), z)
    torch.testing.assert_close(link.mean(z), mean, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(link.slope(z), slope, rtol=1e-10, atol=1e-14)


@each
@pytest.mark.parametrize("norm", [1e-6, 0.5, 3.0, 9.0])
def test_slopes_on_the_ball_and_self_concordance(link, norm):
    """Check Assumptions 2 and 3 on a grid that contains both ends and 0, where the extremes are attained."""
    z = torch.linspace(-norm, norm, 2001, dtype=torch.float64).requires_grad_()
    slope = link.slope(z)
    assert slope.max().item() == pytest.approx(link.max_slope(norm), rel=1e-12)
    assert slope.min().item() == pytest.approx(link.min_slope(norm), rel=1e-12)
    assert kappa_ball(link, norm) == pytest.approx(1 / slope.min().item(), rel=1e-12)
    bend = torch.autograd.grad(slope.sum(), z)[0] if slope.requires_grad else torch.zeros_like(z)
    assert bool((bend.abs() <= link.self_concordance * slope * (1 + 1e-12)).all())


def test_self_concordance_is_no_larger_than_needed():
    """Check that R = 1 for Binomial rewards up to n (erratum `E2`), because the ratio |1 - 2p| is close to 1 at |z| = 40."""
    for link in (Bernoulli(), Poisson(), Binomial(7)):
        z = tensor(-20.0).requires_grad_()
        slope = link.slope(z)
        (bend,) = torch.autograd.grad(slope.sum(), z)
        assert (bend / slope).abs().item() > 1 - 1e-8
    assert Gaussian(2.0).self_concordance == 0 and Gaussian(2.0).dispersion == 2.0


def test_extreme_natural_parameters():
    link = Bernoulli()
    assert float(link.slope(tensor(40.0))) == pytest.approx(4.248354255291589e-18, rel=1e-12)
    assert float(link.slope(tensor(-700.0))) == pytest.approx(math.exp(-700), rel=1e-12)
    assert 0 <= float(link.log_partition(tensor(-745.0))) <= 5e-324
    assert float(link.log_partition(tensor(25.0))) - 25 == pytest.approx(math.exp(-25), rel=1e-3)
    assert kappa_ball(link, 720.0) > 1e300 and kappa_ball(Poisson(), 800.0) == math.inf


@pytest.mark.parametrize("fast", [True, False])
def test_poisson_quantile_equals_scipy(fast):
    """Compare both forms with SciPy: the one with early stopping, and the masked one for devices."""
    rng = np.random.default_rng(0)
    corners = np.meshgrid([1e-3, 0.5, 20, 135, 1e3, 8103], [1e-9, 0.01, 0.5, 0.99, 1 - 1e-9])
    mean = np.concatenate(
        [corners[0].ravel(), np.exp(rng.uniform(np.log(1e-3), np.log(1e5), 100_000))]
    )
    u = np.concatenate([corners[1].ravel(), rng.random(100_000)])
    with shortcuts(fast):
        drawn = poisson_quantile(torch.tensor(mean), torch.tensor(u)).numpy()
    np.testing.assert_array_equal(drawn, stats.poisson.ppf(u, mean))


def test_poisson_quantile_far_out():
    """Compare both forms on means from 1e-300 to 1e12 and at uniforms 0 and 1 - 2^-53; the masked walk is long enough."""
    mean = np.concatenate([[1e-300], 10.0 ** np.arange(-12, 13)])
    m, u = (
        torch.tensor(x.ravel())
        for x in np.meshgrid(mean, [0.0, 1e-12, 1e-6, 0.1, 0.6, 1 - 1e-6, 1 - 1e-12])
    )
    quick = poisson_quantile(m, u)
    with shortcuts(False):
        assert torch.equal(poisson_quantile(m, u), quick)
    right = m <= 1e6
    np.testing.assert_array_equal(
        quick[right], stats.poisson.ppf(u.clamp(CLIP, 1 - CLIP)[right], m[right])
    )
    top = poisson_quantile(torch.tensor(mean), torch.full((len(mean),), 1.0, dtype=torch.float64))
    assert bool(top.isfinite().all()) and bool((top.diff() >= 0).all())


@each
def test_sample_moments(link):
    """Check mean mu and variance g mu' within four standard errors, and that the reward is monotone in the uniform."""
    z = math.log(20) if isinstance(link, Poisson) else 0.8
    n, u = 20_000, torch.tensor(np.random.default_rng(1).random(20_000))
    mean = link.mean(torch.full((n,), z, dtype=torch.float64))
    reward = link.sample(mean, u)
    variance = link.dispersion * float(link.slope(tensor(z)))
    assert abs(float(reward.mean() - mean[0])) < 4 * math.sqrt(variance / n)
    fourth = float(((reward - mean) ** 4).mean())
    assert abs(float(((reward - mean) ** 2).mean()) - variance) < 4 * math.sqrt(
        max(fourth - variance**2, 0) / n
    )
    # The Bernoulli reward 1{u < mu} decreases in u.
    rise = reward[u.argsort()].diff() * (-1 if isinstance(link, Bernoulli) else 1)
    assert bool((rise >= 0).all())
    link.validate(reward)


def test_binomial_quantile_equals_scipy():
    rng = np.random.default_rng(2)
    for n in (1, 7, 1000):
        p, u = rng.uniform(0.001, 0.999, 300), rng.random(300)
        drawn = Binomial(n).sample(torch.tensor(n * p), torch.tensor(u)).numpy()
        np.testing.assert_array_equal(drawn, stats.binom.ppf(u, n, p))


@each
def test_links_run_on_the_meta_device(link):
    x = torch.empty(3, dtype=torch.float64, device="meta")
    for value in (link.log_partition(x), link.mean(x), link.slope(x), link.sample(x, x)):
        assert value.shape == (3,) and value.device.type == "meta"
    link.validate(x)


@pytest.mark.parametrize(
    "link, reward",
    [
        (Bernoulli(), 0.5),
        (Bernoulli(), 2.0),
        (Bernoulli(fractional=True), 1.1),
        (Poisson(), -1.0),
        (Poisson(), 1.5),
        (Poisson(), math.inf),
        (Gaussian(), math.nan),
        (Gaussian(), math.inf),
        (Binomial(3), 4.0),
        (Binomial(3), 0.5),
        (Bernoulli(), math.nan),
    ],
)
def test_rewards_outside_the_support_are_refused(link, reward):
    with pytest.raises(ValueError, match="^reward must .*, got "):
        link.validate(tensor(0.0, reward))


def test_rewards_inside_the_support_are_accepted():
    for link, rewards in [
        (Bernoulli(), (0, 1)),
        (Bernoulli(fractional=True), (0, 0.3, 1)),
        (Poisson(), (0, 1e6)),
        (Gaussian(), (-3.5, 9)),
        (Binomial(3), (0, 3)),
    ]:
        link.validate(tensor(*rewards))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Gaussian(0.0),
        lambda: Gaussian(math.inf),
        lambda: Gaussian("1"),
        lambda: Binomial(0),
        lambda: Binomial(2.0),
        lambda: Binomial(1001),
    ],
)
def test_family_parameters_out_of_range(make):
    with pytest.raises(ValueError, match="^(variance|count) must be .*, got "):
        make()


@pytest.mark.slow
@given(st.one_of(st.floats(), st.integers(-3, 3), st.booleans(), st.none(), st.text(max_size=3)))
@settings(max_examples=50, deadline=None)
def test_numbers_are_accepted_exactly_where_allowed(x):
    number = isinstance(x, (int, float)) and not isinstance(x, bool)
    cases = [
        (rules.check_positive, number and 1e-30 <= x <= 1e30),
        (rules.check_nonnegative, number and (x == 0 or 1e-30 <= x <= 1e30)),
        (rules.check_probability, number and 1e-30 <= x <= 1),
        (rules.check_integer, isinstance(x, int) and number and x >= 1),
    ]
    for rule, fine in cases:
        if fine:
            rule("field", x)
        else:
            with pytest.raises(ValueError, match="^field must .*, got "):
                rule("field", x)


def test_one_value_per_trial():
    rules.check_nonnegative("scale", tensor(0.0, 1.0), by_trial=True)
    for bad in (tensor(1.0, -1.0), tensor(1.0, math.nan), tensor(1.0, math.inf)):
        with pytest.raises(
            ValueError,
            match=r"^scale must be 0 or a positive number from 1e-30 .*, got tensor\(\[",
        ):
            rules.check_nonnegative("scale", bad, by_trial=True)
    with pytest.raises(
        ValueError,
        match=r"^scale must be 0 or a positive number from 1e-30 .*, got tensor\(\[",
    ):
        rules.check_nonnegative("scale", tensor(0.0, 1.0))


def test_link_and_horizon():
    for link in FAMILIES:
        known_link(link)
    for bad in ("exponential", None, Bernoulli):
        with pytest.raises(
            ValueError,
            match="^link must be an instance of one of Bernoulli, .*real line.*, got ",
        ):
            known_link(bad)
    learner = GLMUCB(Bernoulli(), 1.0)
    learner.check_horizon(10)
    with pytest.raises(
        ValueError, match="^horizon must be .*, because GLMUCB requires .*, got None"
    ):
        learner.check_horizon(None)


@pytest.mark.parametrize(
    "arms, arm, reward, name",
    [
        (torch.zeros(1, 0, 2), None, None, "arms"),
        (torch.zeros(1, 2, 0), None, None, "arms"),
        (torch.zeros(2, 2), None, None, "arms"),
        ("arms", None, None, "arms"),
        (torch.full((1, 2, 2), math.nan), None, None, "arms"),
        (torch.full((1, 2, 2), 0.8), None, None, "arms"),
        (torch.zeros(1, 2, 2), torch.tensor([2]), None, "arm"),
        (torch.zeros(1, 2, 2), torch.tensor([-1]), None, "arm"),
        (torch.zeros(1, 2, 2), torch.tensor([0]), torch.tensor([0.5]), "reward"),
    ],
)
def test_data_outside_the_model_is_refused(arms, arm, reward, name):
    with pytest.raises(ValueError, match=f"^{name} must .*, got "):
        GLBOMD(Bernoulli(), 1.0).validate(arms, arm, reward)


def test_data_inside_the_model_is_accepted():
    unit = torch.eye(3, dtype=torch.float64).unsqueeze(0) * (1 + 1e-10)
    learner = GLBOMD(Bernoulli(), 1.0)
    learner.validate(unit, torch.tensor([2]), tensor(1.0))
    learner.validate(unit.to("meta"), None, None)
