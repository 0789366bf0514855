"""Random draws are a pure function of (seed, trial, purpose, round, index)."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from paperlib.core.streams import Streams, stream_number, uniform


def mixed(x):
    """Compute the finalizer with Python integers, as an independent implementation of the hash."""
    mask = 2**64 - 1
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
    return x ^ (x >> 31)


def by_hand(seed, stream, counter):
    golden, mask = 0x9E3779B97F4A7C15, 2**64 - 1
    key = mixed((mixed((seed + golden) & mask) + (stream + 1) * golden) & mask)
    return (mixed((key + (counter + 1) * golden) & mask) >> 11) * 2.0**-53


def test_vectors():
    values = [uniform(0, 0, 0), uniform(0, 1, 0), uniform(12345, 1, 64003), uniform(2**63, 2, 7)]
    assert [float(v) for v in values] == [
        0.13870941014555427,
        0.18383979100743952,
        0.37894979939443996,
        0.21698525402201563,
    ]
    np.testing.assert_allclose(
        uniform(1, 0, [0, 1, 2]), [0.693512139010, 0.971766839855, 0.426568811585], atol=5e-13
    )


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 2), st.integers(0, 2**64 - 1))
def test_hash_equals_python_integers(seed, stream, counter):
    assert float(uniform(seed, stream, counter)) == by_hand(seed, stream, counter)


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 1000),
    trial=st.integers(0, 50),
    t=st.integers(-1, 3000),
    shape=st.lists(st.integers(1, 4), max_size=2),
)
def test_a_draw_does_not_depend_on_the_other_trials(seed, trial, t, shape):
    many = Streams(seed, range(51)).at(t).uniform("x", *shape)
    alone = Streams(seed, [trial]).at(t).uniform("x", *shape)
    shifted = Streams(seed + trial, [0]).at(t).uniform("x", *shape)
    assert many.shape == (51, *shape)
    assert torch.equal(many[trial], alone[0]) and torch.equal(alone, shifted)


def test_the_order_of_draws_does_not_matter():
    forward, backward = Streams(5, range(3)), Streams(5, range(3))
    a = [forward.at(t).normal("x", 2) for t in range(0, 2500, 7)]
    b = [backward.at(t).normal("x", 2) for t in reversed(range(0, 2500, 7))]
    assert all(torch.equal(x, y) for x, y in zip(a, reversed(b)))


def test_reward_is_stream_zero_with_the_round_as_counter():
    draw = Streams(3, [4]).at(17).uniform("reward")
    assert float(draw) == by_hand(7, 0, 17)


def test_counter_belongs_to_a_window():
    streams = Streams(0, [0])
    values = [float(streams.at(t).uniform("arm", counter=lambda s: s // 10)) for t in range(40)]
    assert values == [by_hand(0, 3, t // 10) for t in range(40)]


def test_purposes_have_different_and_well_spread_streams():
    streams = Streams(0, range(200))
    draws = {
        p: torch.stack([streams.at(t).uniform(p) for t in range(50)]).numpy().ravel()
        for p in ("reward", "explore", "problem", "first")
    }
    for values in draws.values():
        assert stats.kstest(values, "uniform").pvalue > 1e-3
    for p, q in [("reward", "explore"), ("problem", "first"), ("reward", "problem")]:
        assert abs(np.corrcoef(draws[p], draws[q])[0, 1]) < 0.05
    assert len({stream_number(p) for p in draws}) == 4


def test_normals_and_spheres():
    draw = Streams(1, range(5000)).at(0)
    assert stats.kstest(draw.normal("n").numpy(), "norm").pvalue > 1e-3
    torch.testing.assert_close(
        torch.linalg.vector_norm(draw.sphere("s", 3), dim=1), torch.ones(5000, dtype=torch.float64)
    )


def test_one_purpose_one_shape():
    draw = Streams(0, [0]).at(0)
    draw.uniform("x", 3)
    with pytest.raises(ValueError, match="^purpose='x' must keep the kind and shape .*, got "):
        draw.uniform("x", 4)
    with pytest.raises(ValueError, match="^purpose='x' must keep the kind and shape .*, got "):
        draw.normal("x", 3)


@pytest.mark.parametrize("seed", [-1, 1.5, "a", 2**63])
def test_bad_seed(seed):
    with pytest.raises(ValueError, match=r"seed must be an integer from 0 to 2\^63 - 1, got "):
        Streams(seed, [0])
