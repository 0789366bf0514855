"""Box constraints as a context: maps, checks and error messages."""

import math

import pytest
import torch

from paperlib.maths.bounds import Bounds, check_bounds

F64 = torch.float64


def test_scaled_and_native_are_inverse():
    box = Bounds.of([-1.0, 0.0, 1e6], [1.0, 3.0, 1e6 + 1])
    u = torch.linspace(-1, 1, 21, dtype=F64)[:, None].expand(-1, 3)
    torch.testing.assert_close(box.scaled(box.native(u)), u, rtol=0, atol=1e-9)
    batch = u.expand(2, -1, -1)
    assert torch.equal(box.native(batch)[1], box.native(u))
    assert torch.equal(box.scaled(box.native(batch))[0], box.scaled(box.native(u)))
    assert box.dim == 3


def test_corners_stay_in_the_box_where_rounding_would_pass_it():
    rand = lambda: torch.rand(1, 4000, generator=generator, dtype=F64)
    generator = torch.Generator().manual_seed(0)
    lows, highs = -rand() * 10 ** (6 * rand() - 3), rand()
    assert bool((lows + (highs - lows) > highs).any())
    box = Bounds(lows, highs)
    one = torch.ones(1, 4000, dtype=F64)
    assert bool((box.native(one) <= highs).all() and (box.native(-one) >= lows).all())


def test_a_box_of_each_trial():
    box = Bounds(torch.zeros(2, 1, dtype=F64), torch.tensor([[1.0], [4.0]], dtype=F64))
    assert box.native(torch.zeros(2, 1, dtype=F64)).flatten().tolist() == [0.5, 2.0]
    assert box.native(torch.zeros(2, 3, 1, dtype=F64))[:, 2, 0].tolist() == [0.5, 2.0]


@pytest.mark.parametrize(
    "lo, hi, words",
    [
        ([0.0, 1.0], [1.0, 1.0], r"lo\[1\] must be smaller than hi\[1\]=1.0, got 1.0"),
        ([2.0], [1.0], r"lo\[0\] must be smaller than hi\[0\]=1.0, got 2.0"),
        ([math.nan], [1.0], "lo must be an array of"),
        ([0.0], [math.inf], "hi must be an array of finite numbers, got "),
        ([0.0], [1e31], "hi must be finite .*, got "),
        ([], [], "lo and hi"),
        ([0.0], [1.0, 2.0], r"\(lo, hi\) must be two lists of d numbers, got "),
        (0.0, 1.0, r"\(lo, hi\) must be two lists of d numbers, got "),
        ("a", "b", "lo must be an array of"),
    ],
)
def test_invalid_boxes_are_rejected(lo, hi, words):
    with pytest.raises(ValueError, match=words):
        Bounds.of(lo, hi)


@pytest.mark.parametrize("bounds", [None, [[0.0], [1.0]], ((0.0,), (1.0,)), torch.zeros(1, 2, 3)])
def test_lists_and_tensors_are_rejected_as_bounds(bounds):
    with pytest.raises(ValueError, match="Bounds"):
        check_bounds(bounds)


def test_sides_of_other_shapes_are_refused():
    for lo, hi in [([0.0], [1.0]), (torch.zeros(2), torch.ones(2)), (torch.zeros(1, 2),) * 2]:
        with pytest.raises(ValueError, match="lo"):
            check_bounds(Bounds(lo, hi))


def test_points_are_checked():
    box = Bounds.of([0.0, 0.0], [1.0, 2.0])
    check_bounds(box, torch.tensor([[1.0 + 1e-10, 2.0]], dtype=F64))
    with pytest.raises(
        ValueError, match=r"action\[0, 1\] must be a number from 0.0 to 2.0, got 2.1"
    ):
        check_bounds(box, torch.tensor([[1.0, 2.1]], dtype=F64))
    with pytest.raises(
        ValueError, match=r"action\[0, 0\] must be a number from 0.0 to 1.0, got nan"
    ):
        check_bounds(box, torch.tensor([[math.nan, 1.0]], dtype=F64))
    with pytest.raises(ValueError, match=r"action.shape must be R x 2, got \(1, 3\)"):
        check_bounds(box, torch.zeros(1, 3, dtype=F64))
