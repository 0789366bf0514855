"""Maximum likelihood: independent solvers, batching, both forms of the loop, histories."""

import math

import numpy as np
import pytest
import torch
from device_form import shortcuts
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression, PoissonRegressor

from paperlib.core.trees import tree_take
from paperlib.glbomd.learners.mle import (
    Sample,
    initial_fit,
    make_history,
    maximize_likelihood,
    predict_start,
    refit_trials,
)
from paperlib.glbomd.model.links import Bernoulli, Binomial, Gaussian, Poisson

LINKS = {
    "logistic": Bernoulli(),
    "poisson": Poisson(),
    "gaussian": Gaussian(0.25),
    "binomial": Binomial(5),
}
every_link = pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)


def data(link, trials=4, n=60, dim=3, norm=3.0, seed=0):
    """Return arms in the unit ball and rewards of the model with ||theta*|| = norm."""
    g = np.random.default_rng(seed)
    points = g.normal(size=(trials, n, dim))
    points /= np.linalg.norm(points, axis=2, keepdims=True) * g.uniform(1, 2, size=(trials, n, 1))
    theta = g.normal(size=(trials, dim))
    theta *= norm / np.linalg.norm(theta, axis=1, keepdims=True)
    mean = link.mean(torch.from_numpy(np.einsum("rnd,rd->rn", points, theta)))
    return Sample(
        torch.from_numpy(points),
        None,
        link.sample(mean, torch.from_numpy(g.uniform(size=(trials, n)))),
    )


def fit(link, sample, **options):
    return maximize_likelihood(
        link,
        sample,
        torch.zeros(len(sample.sums), sample.points.shape[2], dtype=torch.float64),
        **options,
    )


def objective(link, sample, trial, ridge):
    """Return F and its gradient for one trial, for SciPy."""
    x, y = sample.points[trial].numpy(), sample.sums[trial].numpy()

    def f(theta):
        z = torch.from_numpy(x @ theta)
        value = (
            link.log_partition(z).numpy() - y * z.numpy()
        ).sum() / link.dispersion + ridge / 2 * theta @ theta
        return value, x.T @ (link.mean(z).numpy() - y) / link.dispersion + ridge * theta

    return f


def gradient(link, sample, theta, ridge):
    residual = link.mean((sample.points @ theta.unsqueeze(2)).squeeze(2)) - sample.sums
    return (residual.unsqueeze(1) @ sample.points).squeeze(1) / link.dispersion + ridge * theta


@pytest.mark.parametrize("ridge", [0.1, 3.0])
def test_logistic_equals_scikit_learn(ridge):
    sample = data(Bernoulli())
    theta = fit(Bernoulli(), sample, ridge=ridge).theta
    for trial in range(len(theta)):
        oracle = LogisticRegression(
            C=1 / ridge, fit_intercept=False, tol=1e-12, solver="newton-cholesky", max_iter=1000
        )
        oracle.fit(sample.points[trial].numpy(), sample.sums[trial].numpy())
        np.testing.assert_allclose(theta[trial], oracle.coef_[0], atol=1e-9)


@pytest.mark.parametrize("ridge", [0.1, 3.0])
def test_poisson_equals_scikit_learn(ridge):
    sample = data(Poisson())
    theta = fit(Poisson(), sample, ridge=ridge).theta
    n = sample.sums.shape[1]
    # scikit-learn averages the loss over the observations, so its penalty is alpha = lambda / n.
    for trial in range(len(theta)):
        oracle = PoissonRegressor(
            alpha=ridge / n, fit_intercept=False, tol=1e-12, solver="newton-cholesky", max_iter=1000
        )
        oracle.fit(sample.points[trial].numpy(), sample.sums[trial].numpy())
        np.testing.assert_allclose(theta[trial], oracle.coef_, atol=1e-8)


def test_gaussian_is_ridge_regression():
    link, sample = LINKS["gaussian"], data(LINKS["gaussian"])
    x, ridge = sample.points, 2.0
    exact = torch.linalg.solve(
        ridge * torch.eye(3, dtype=torch.float64) + x.mT @ x / 0.25,
        (x.mT @ sample.sums.unsqueeze(2)).squeeze(2) / 0.25,
    )
    torch.testing.assert_close(fit(link, sample, ridge=ridge).theta, exact, rtol=0, atol=1e-12)


@every_link
@pytest.mark.parametrize("ridge", [0.0, 0.5])
@pytest.mark.parametrize("ball", [0.5, 2.0])
def test_ball_equals_constrained_solver(link, ridge, ball):
    sample = data(link)
    result = fit(link, sample, ridge=ridge, ball=ball)
    assert result.converged.all()
    norm = result.theta.norm(dim=1)
    assert (norm <= ball * (1 + 1e-12)).all() and (norm > ball * (1 - 1e-9)).any()
    for trial, theta in enumerate(result.theta):
        f = objective(link, sample, trial, ridge)
        inside = {"type": "ineq", "fun": lambda x: ball**2 - x @ x, "jac": lambda x: -2 * x}
        oracle = minimize(
            f,
            np.zeros(3),
            jac=True,
            method="SLSQP",
            constraints=[inside],
            options={"ftol": 1e-14, "maxiter": 500},
        )
        np.testing.assert_allclose(theta, oracle.x, atol=2e-5)
        # Stationarity to rounding: the gradient is 0 inside, and -nu theta with nu >= 0 on the sphere.
        slope = gradient(
            link,
            Sample(*[x if x is None else x[trial : trial + 1] for x in sample]),
            theta[None],
            ridge,
        )[0]
        nu = (
            -(slope @ theta) / (theta @ theta)
            if norm[trial] > ball * (1 - 1e-9)
            else torch.zeros(())
        )
        assert nu >= 0
        assert (slope + nu * theta).norm() < 1e-9 * (1 + slope.norm())


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(list(LINKS.values())),
    st.integers(1, 4),
    st.integers(0, 30),
    st.floats(0.01, 50),
    st.integers(0, 10**6),
    st.floats(0, 8),
)
def test_gradient_vanishes_from_any_start(link, dim, n, ridge, seed, far):
    sample = data(link, trials=2, n=n, dim=dim, norm=2.0, seed=seed)
    start = torch.full((2, dim), -far / math.sqrt(dim), dtype=torch.float64)
    result = maximize_likelihood(link, sample, start, ridge)
    assert result.converged.all()
    assert gradient(link, sample, result.theta, ridge).abs().max() < 1e-9


@every_link
def test_one_step_bound_holds(link):
    """Check that a full step leaves a decrement of at most v q, as the stopping rule assumes, from many starting points."""
    sample, g = data(link, trials=1), torch.Generator().manual_seed(3)
    exact = fit(link, sample, ridge=1.0).theta
    for _ in range(50):
        theta = exact + 0.3 * torch.randn(1, 3, generator=g, dtype=torch.float64)
        decrement, step = newton(link, sample, theta, 1.0)
        v = link.self_concordance * step.norm()
        if v <= 1:
            hessian = newton_matrix(link, sample, theta, 1.0)
            left = gradient(link, sample, theta + step, 1.0)[0]
            assert (left @ torch.linalg.solve(hessian, left)).sqrt() <= v * decrement + 1e-12


def newton_matrix(link, sample, theta, ridge):
    x = sample.points[0]
    return (
        ridge * torch.eye(3, dtype=torch.float64)
        + x.mT @ (link.slope(x @ theta[0]).unsqueeze(1) * x) / link.dispersion
    )


def newton(link, sample, theta, ridge):
    hessian, slope = (
        newton_matrix(link, sample, theta, ridge),
        gradient(link, sample, theta, ridge)[0],
    )
    step = -torch.linalg.solve(hessian, slope)
    return (-(slope @ step)).sqrt(), step


@pytest.mark.parametrize("reward", [0.0, 1.0, 1e6])
def test_extreme_counts_neither_overflow_nor_stall(reward):
    points = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]], dtype=torch.float64)
    sample = Sample(points, None, torch.full((1, 3), reward, dtype=torch.float64))
    result = fit(Poisson(), sample, ridge=0.5)
    assert result.converged.all()
    scale = max(reward, 1.0)
    assert gradient(Poisson(), sample, result.theta, 0.5).abs().max() < 1e-9 * scale
    with shortcuts(False):
        masked = fit(Poisson(), sample, ridge=0.5)
    torch.testing.assert_close(masked.theta, result.theta, rtol=1e-10, atol=1e-10)


def test_separable_data_stay_finite():
    points = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]], dtype=torch.float64).repeat(1, 1000, 1)
    ones = torch.ones(1, 2000, dtype=torch.float64)
    theta = fit(Bernoulli(), Sample(points, None, ones), ridge=1e-3).theta
    assert theta.isfinite().all() and (theta > 10).all()
    assert fit(Bernoulli(), Sample(points, None, ones), ball=2.0).theta.norm() == pytest.approx(
        2.0, abs=1e-12
    )


@every_link
@pytest.mark.parametrize("options", [{"ridge": 0.7}, {"ball": 1.5}, {"ridge": 0.2, "ball": 2.5}])
def test_alone_equals_batched(link, options):
    sample = data(link, trials=6, n=40)
    batch = fit(link, sample, **options).theta
    for trial in range(6):
        alone = fit(link, tree_take(sample, [trial]), **options).theta
        torch.testing.assert_close(alone[0], batch[trial], rtol=0, atol=1e-12)


@every_link
@pytest.mark.parametrize("options", [{"ridge": 0.7}, {"ball": 1.5}])
def test_device_form_agrees_with_the_host_form(link, options):
    sample = data(link, trials=6, n=40)
    looked = fit(link, sample, **options)
    with shortcuts(False):
        masked = fit(link, sample, **options)
    assert masked.converged.all()
    torch.testing.assert_close(masked.theta, looked.theta, rtol=0, atol=1e-10)


def test_warm_start_does_not_change_the_estimate():
    sample = data(Poisson(), n=200)
    cold = fit(Poisson(), sample, ridge=0.3).theta
    warm = maximize_likelihood(Poisson(), sample, cold + 1e-3, 0.3).theta
    torch.testing.assert_close(cold, warm, rtol=0, atol=1e-10)


@every_link
def test_prediction_is_close_to_the_new_estimate(link):
    """Check that the predicted start is far nearer than the old estimate, after one more observation and with a larger ridge."""
    sample = data(link, n=300)
    old = Sample(sample.points[:, :-1], None, sample.sums[:, :-1])
    last, new = fit(link, old, ridge=1.0), fit(link, sample, ridge=1.5).theta
    start = predict_start(link, last, sample.points[:, -1], sample.sums[:, -1], growth=0.5)
    before, after = (last.theta - new).norm(dim=1), (start.theta - new).norm(dim=1)
    assert (after < 0.1 * before).all()
    if link.self_concordance == 0:  # the objective is quadratic, and the prediction exact
        assert (after < 1e-12).all()


def test_no_data_gives_the_origin():
    sample = Sample(
        torch.zeros(2, 0, 3, dtype=torch.float64), None, torch.zeros(2, 0, dtype=torch.float64)
    )
    assert torch.equal(
        fit(Bernoulli(), sample, ridge=1.0).theta, torch.zeros(2, 3, dtype=torch.float64)
    )


@pytest.mark.parametrize("ridge", [0.0, -1.0, math.nan])
def test_refuses_neither_ridge_nor_ball(ridge):
    with pytest.raises(
        ValueError, match="ridge must be positive with ball=None, because otherwise"
    ):
        fit(Bernoulli(), data(Bernoulli()), ridge=ridge)


@pytest.mark.parametrize("fixed_per_trial", [False, True])
def test_counts_equal_rows(fixed_per_trial):
    """Check that both histories of the same rounds, with marks, give the same estimates."""
    g, trials, arms_count, dim = np.random.default_rng(5), 3, 7, 4
    arms = torch.from_numpy(g.normal(size=(trials if fixed_per_trial else 1, arms_count, dim)) / 4)
    rows, counts = (
        make_history(trials, arms, counts=c, marked=True, dtype=torch.float64)
        for c in (False, True)
    )
    for _ in range(50):
        arm, mark = (
            torch.from_numpy(g.integers(arms_count, size=trials)),
            torch.from_numpy(g.random(trials) < 0.4),
        )
        reward = torch.from_numpy(g.poisson(1.5, size=trials).astype(float))
        rows, counts = rows.add(arms, arm, reward, mark), counts.add(arms, arm, reward, mark)
    for mark in (None, False, True):
        a, b = (fit(Poisson(), h.sample(arms, mark), ridge=0.5).theta for h in (rows, counts))
        torch.testing.assert_close(a, b, rtol=0, atol=1e-12)
    marked = fit(Poisson(), rows.sample(arms, True), ridge=0.5).theta
    for r in range(trials):  # select the marked rounds directly
        use = rows.marks.view[r]
        dense = Sample(rows.points.view[r : r + 1, use], None, rows.rewards.view[r : r + 1, use])
        torch.testing.assert_close(
            fit(Poisson(), dense, ridge=0.5).theta[0], marked[r], rtol=0, atol=1e-12
        )


def test_refit_touches_only_its_rows():
    sample = data(Bernoulli(), trials=5)
    last = initial_fit(5, 3, 1.0, dtype=torch.float64)
    start = last.theta
    for mask in ([False] * 5, [True, False, True, False, False], [True] * 5):
        rows = torch.tensor(mask)
        new = refit_trials(Bernoulli(), sample, last, rows, ridge=1.0).theta
        with shortcuts(False):
            masked = refit_trials(Bernoulli(), sample, last, rows, ridge=1.0).theta
        assert torch.equal(new[~rows], start[~rows]) and torch.equal(masked[~rows], start[~rows])
        torch.testing.assert_close(
            new[rows], fit(Bernoulli(), sample, ridge=1.0).theta[rows], rtol=0, atol=1e-12
        )
        torch.testing.assert_close(new, masked, rtol=0, atol=1e-12)
