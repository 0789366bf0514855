"""Compare TuRBO's process, candidates and trust region with the definitions of its paper."""

import numpy as np
import pytest
import torch
from gu_dense import kernel
from gu_reference import adam
from scipy import special, stats

from paperlib.core.linalg import Rows
from paperlib.core.streams import Streams
from paperlib.goucb.learners import turbo
from paperlib.goucb.learners.turbo import TuRBO
from paperlib.maths.bounds import Bounds

F64 = torch.float64


def region(trials=2, t=8, dim=3, begun=0, length=0.8):
    """Return a state after ``t`` observations, of which the current run has those from ``begun`` on."""
    generator = torch.Generator().manual_seed(2)
    x = 2 * torch.rand(trials, t, dim, generator=generator, dtype=F64) - 1
    y = 40 + 9 * (x.sum(2).sin() + x[:, :, 0])
    zero = torch.zeros(trials, dtype=torch.int64)
    side = torch.full((trials,), length, dtype=F64)
    return turbo.TuRBOState(Rows.of(x), Rows.of(y), zero + begun, side, zero, zero, t)


def process(state, raw):
    x, live = (state.x.view + 1) / 2, turbo._live(state).double()
    return turbo.condition(raw, x, turbo._standardized(state), live)


# ---- its process


@pytest.mark.parametrize("begun", [0, 3])
def test_likelihood_is_the_normal_density_of_the_runs_observations(begun):
    """The likelihood equals SciPy's log density divided by the number of observations, without the constant."""
    state = region(begun=begun)
    raw = 0.5 * torch.randn(2, 6, generator=torch.Generator().manual_seed(0), dtype=F64)
    at = process(state, raw)
    for i, found in enumerate(turbo._likelihood(at)):
        x = (state.x.view[i, begun:].numpy() + 1) / 2
        K = kernel(x, x, at.lengthscale[i].numpy(), at.scale[i].item())
        K = K + at.noise[i].item() * np.eye(8 - begun)
        normal = stats.multivariate_normal(np.full(8 - begun, raw[i, -1].item()), K)
        y = turbo._standardized(state)[i, begun:].numpy()
        expected = normal.logpdf(y) / (8 - begun) + np.log(2 * np.pi) / 2
        assert found.item() == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("t, begun", [(7, 0), (8, 0), (8, 3), (9, 3), (6, 5)])
def test_observations_are_standardized_by_the_median_and_deviation_of_their_run(t, begun):
    """The median is the middle value or the mean of the two middle values. The deviation has ddof 0. A single observation becomes 0."""
    state = region(t=t, begun=begun)
    for found, y in zip(turbo._standardized(state), state.y.view.numpy()):
        run = y[begun:]
        expected = (run - np.median(run)) / (run.std() if len(run) > 1 else 1.0)
        np.testing.assert_allclose(found[begun:], expected, atol=1e-12)
        assert not found[:begun].any()


def test_the_fit_is_adam_uphill_on_the_likelihood():
    """The fit takes 50 steps of 0.1 from fixed first values. More steps give a larger likelihood."""
    state = region(begun=torch.tensor([0, 2]))
    first = np.array([0.5, 0.5, 0.5, 1.0, 0.005])
    low, high = np.array([[0.005] * 3 + [0.05, 5e-4], [2.0] * 3 + [20.0, 0.2]])
    begun = np.append(special.logit((first - low) / (high - low)), 0.0)

    def slope(raw):
        at = torch.tensor(raw, requires_grad=True)
        turbo._likelihood(process(state, at)).sum().backward()
        return at.grad.numpy()

    reached = []
    for steps in (0, 2, 50):
        raw = torch.tensor(adam(np.tile(begun, (2, 1)), slope, steps, 0.1))
        found, expected = TuRBO(3, fit_steps=steps).fitted(state), process(state, raw)
        for name in ("lengthscale", "scale", "noise", "mean"):
            mine, theirs = getattr(found, name), getattr(expected, name)
            torch.testing.assert_close(mine, theirs, rtol=1e-7, atol=1e-9)
        reached.append(turbo._likelihood(found))
    assert bool((torch.stack(reached).diff(dim=0) > 1e-4).all())
    assert torch.equal(turbo._likelihood(TuRBO(3).fitted(state)), reached[-1])


def test_hyperparameters_stay_in_their_ranges():
    """Extreme logits are tested."""
    state = region(1)
    for sign, ends in [(-1, (0.005, 0.05, 5e-4)), (1, (2.0, 20.0, 0.2))]:
        at = process(state, torch.full((1, 6), 50.0 * sign, dtype=F64))
        for found, end in zip((at.lengthscale, at.scale, at.noise), ends):
            np.testing.assert_allclose(found, np.full(found.shape, end), rtol=1e-12)


# ---- its candidates


def test_candidates_fill_a_region_of_the_sides_of_the_lengthscales():
    """Their largest offset from the best point is near half a side, on both sides of each coordinate; the volume is L^d."""
    state = region(length=0.3)
    x = state.x.view * 0.2  # keeps every region away from the cube's faces
    state = state._replace(x=Rows.of(x))
    lengthscale = torch.tensor([[0.2, 0.5, 0.4], [1.0, 1.0, 1.0]], dtype=F64)
    at = process(state, torch.zeros(2, 6, dtype=F64))._replace(lengthscale=lengthscale)
    points = TuRBO(3, candidates=4000)._candidates(state, at, Streams(0, range(2)).at(8))
    best = (x[range(2), state.y.view.argmax(1)] + 1) / 2
    half = 0.15 * lengthscale / lengthscale.prod(1, keepdim=True) ** (1 / 3)
    away = points - best.unsqueeze(1)
    for side in (away.amax(1), -away.amin(1)):
        assert bool((side <= half + 1e-12).all()) and bool((side > 0.99 * half).all())
    torch.testing.assert_close(away.mean(1), 0 * best, rtol=0, atol=2e-3)


def test_candidates_stay_in_the_unit_cube():
    state = region(length=1.6)
    at = process(state, torch.zeros(2, 6, dtype=F64))
    points = TuRBO(3, candidates=2000)._candidates(state, at, Streams(0, range(2)).at(8))
    best = (state.x.view[range(2), state.y.view.argmax(1)] + 1) / 2
    lo, hi = (best - 0.8).clamp(min=0), (best + 0.8).clamp(max=1)
    torch.testing.assert_close(points.amin(1), lo, rtol=0, atol=0.01)
    torch.testing.assert_close(points.amax(1), hi, rtol=0, atol=0.01)


@pytest.mark.parametrize("dim, count", [(1, 100), (8, 800), (50, 5000), (60, 5000)])
def test_there_are_a_hundred_candidates_per_dimension_and_at_most_5000(dim, count):
    state = region(1, dim=dim)
    at = process(state, torch.zeros(1, dim + 3, dtype=F64))
    points = TuRBO(3)._candidates(state, at, Streams(0, [0]).at(8))
    assert points.shape == (1, count, dim)


# ---- its region


def heard(learner, state, answers):
    """Return the sides of the region after each observation."""
    dim, sides = state.x.view.shape[2], []
    for y in answers:
        x, y = torch.zeros(1, dim, dtype=F64), torch.tensor([y], dtype=F64)
        state = learner.update(state, Bounds.cube(dim), x, y, None)
        sides.append(state.length.item())
    return sides


@pytest.mark.parametrize("dim, tolerance", [(1, 4), (3, 4), (5, 5), (8, 8)])
def test_as_many_failures_as_dimensions_halve_the_region(dim, tolerance):
    """The number of failures is at least four."""
    sides = heard(TuRBO(2), region(1, dim=dim), [-1e3] * (2 * tolerance))
    assert sides == [0.8] * (tolerance - 1) + [0.4] * tolerance + [0.2]
    assert heard(TuRBO(2, failures=2), region(1, dim=dim), [-1e3] * 2) == [0.8, 0.4]


def test_the_region_stops_growing_at_its_most():
    rising = [1e3 * 2**k for k in range(9)]
    assert heard(TuRBO(2), region(1), rising) == [0.8] * 2 + [1.6] * 7
    assert heard(TuRBO(2, most=1.2), region(1), rising) == [0.8] * 2 + [1.2] * 7
    ones = heard(TuRBO(2, most=4.0, successes=1), region(1), rising[:4])
    assert ones == [1.6, 3.2, 4.0, 4.0]


def test_a_run_ends_below_the_least_side():
    """The run ends at 0.8 / 2^7 < 2^-7 and not before. The next n_init points leave the region at its initial side."""
    learner = TuRBO(2, failures=1)
    sides = heard(learner, region(1), [-1e3] * 10)
    assert sides == [0.8 / 2**k for k in range(1, 7)] + [0.8] * 3 + [0.4]
