"""Counter-based random numbers: a pure function of (seed, trial, purpose, round, index).

There is no generator state, because a counter is hashed. Therefore the numbers of, for example, trial 17 do not depend on
the number of trials, on the learners or on the device. Two learners that request the same purpose share their noise.

Source: the mixing function is SplitMix64 (Steele, Lea & Flood, "Fast splittable pseudorandom number
generators", OOPSLA 2014), applied to a key and a counter.
Shapes: the leading dimension is R, the number of trials.
"""

import functools
import hashlib
import math
from collections.abc import Callable, Iterable

import numpy as np
import torch
from scipy.special import ndtri
from torch import Tensor

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
NAMED = {"reward": 0, "schedule": 1, "explore": 2, "arm": 3}  # other purposes hash their names
BLOCK = 1 << 18  # numbers that are generated on the host at a time
CLIP = 2.0**-53  # uniforms are clipped to [CLIP, 1 - CLIP] before the inverse normal CDF


def splitmix64(x: np.ndarray) -> np.ndarray:
    """Apply the finalizer of SplitMix64 to uint64 numbers, modulo 2^64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def uniform(seed, stream: int, counter) -> np.ndarray:
    """Return uniforms in [0, 1) with 53 bits. ``seed`` and ``counter`` are integers or uint64 arrays that broadcast."""
    seed, counter = np.asarray(seed, np.uint64), np.asarray(counter, np.uint64)
    with np.errstate(over="ignore"):  # uint64 arithmetic is modulo 2^64 by design
        # The seed is hashed before the stream is added, so that neighboring seeds have unrelated keys.
        key = splitmix64(splitmix64(seed + GOLDEN) + (np.uint64(stream) + np.uint64(1)) * GOLDEN)
        return (splitmix64(key + (counter + np.uint64(1)) * GOLDEN) >> np.uint64(11)) * 2.0**-53


def stream_number(purpose: str | int) -> int:
    """Return the stream number of a purpose: 0-3 for the four in ``NAMED``, otherwise 64 bits of the name's hash.

    The highest bit of a hash is set, so that it cannot coincide with the four numbers.
    """
    if isinstance(purpose, int):
        return purpose
    if purpose in NAMED:
        return NAMED[purpose]
    return (
        int.from_bytes(hashlib.blake2b(purpose.encode(), digest_size=8).digest(), "little")
        | 1 << 63
    )


class Streams:
    """Random draws for a list of trials.

    They are generated on the host in blocks of rounds and moved to the device.

    Args:
        seed: seed of the experiment. Trial i has the same draws as trial 0 with the seed ``seed + i``.
        trials: R trial numbers, any nonnegative integers.
        device: device of the returned tensors.

    Raises:
        ValueError: a seed outside [0, 2^63).

    Examples:
        >>> from paperlib.core.streams import Streams
        >>> draw = Streams(seed=0, trials=range(3)).at(7)
        >>> draw.normal("reward").shape
        torch.Size([3])
        >>> alone = Streams(seed=0, trials=[2]).at(7)
        >>> bool(draw.uniform("arm", 5)[2].equal(alone.uniform("arm", 5)[0]))
        True
    """

    def __init__(
        self,
        seed: int,
        trials: Iterable[int],
        device: str | torch.device = "cpu",
        dtype=torch.float64,
    ):
        # A Boolean is excluded explicitly, because it is an integer in Python.
        if (
            not isinstance(seed, (int, np.integer))
            or isinstance(seed, bool)
            or not 0 <= seed < 2**63
        ):
            raise ValueError(f"seed must be an integer from 0 to 2^63 - 1, got {seed!r}")
        self.seeds = np.asarray([int(seed) + i for i in trials], np.uint64)
        self.device, self.dtype = device, dtype
        # purpose -> ((kind, shape), first round, last round + 1, one tensor per round)
        self._blocks: dict = {}

    @functools.cached_property
    def numbers(self) -> Tensor:
        """The seeds as integers on the device, R int64; seeds from 2^63 on wrap around."""
        return torch.from_numpy(self.seeds.view(np.int64).copy()).to(self.device)

    def at(self, t: int) -> "Draw":
        """Return the draws of round ``t`` (0, 1, ...); -1 stands for ``init``."""
        return Draw(self, t)

    def get(
        self,
        t: int,
        purpose: str | int,
        kind: str,
        shape: tuple[int, ...],
        counter: Callable[[int], int] | None = None,
    ) -> Tensor:
        asked, first, last, rounds = self._blocks.get(purpose, ((kind, shape), 0, 0, ()))
        # Another shape would map rounds to other positions of the same stream, and so reuse numbers.
        if asked != (kind, shape):
            raise ValueError(
                f"purpose={purpose!r} must keep the kind and shape of its first request, {asked}, "
                f"got {(kind, shape)}"
            )
        if not first <= t < last:
            first, last, rounds = self._fill(t, purpose, kind, shape, counter)
            self._blocks[purpose] = (asked, first, last, rounds)
        return rounds[t - first]

    def _fill(self, t, purpose, kind, shape, counter):
        size, trials = math.prod(shape), len(self.seeds)
        rounds = 1 if t < 0 else max(1, min(1024, BLOCK // max(size * trials, 1)))
        clock = range(t, t + rounds)
        first = np.array(
            [s * size if counter is None else counter(s) for s in clock], np.int64
        ).astype(np.uint64)
        with np.errstate(over="ignore"):
            count = first[:, None, None] + np.arange(size, dtype=np.uint64)
        u = uniform(self.seeds[None, :, None], stream_number(purpose), count)
        if (
            kind != "uniform"
        ):  # the inverse CDF uses one uniform per normal, so counters stay aligned
            u = ndtri(np.clip(u, CLIP, 1 - CLIP))
        x = torch.from_numpy(u.reshape(rounds, trials, *shape)).to(self.device, self.dtype)
        if kind == "sphere":
            x = x / torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        return t, t + rounds, x.unbind(0)


class Draw:
    """Random draws of one round. Every call returns a tensor R x shape; repeated calls in a round return the same numbers.

    The position in the stream is round * size + index. For uniforms, ``counter`` replaces round * size. It maps the round to
    an integer, so that several rounds can share a draw, for example all rounds of a window.
    """

    __slots__ = ("streams", "t")

    def __init__(self, streams: Streams, t: int):
        self.streams, self.t = streams, t

    @property
    def seeds(self) -> Tensor:
        """seed + trial, R int64, read-only.

        Quantities that differ between trials must depend on it and not on the row. A trial then has the same values if it
        is simulated alone, together with other trials, or under another trial number with the same sum.
        """
        return self.streams.numbers

    def uniform(
        self, purpose: str | int, *shape: int, counter: Callable[[int], int] | None = None
    ) -> Tensor:
        """Return uniforms on [0, 1), R x shape."""
        return self.streams.get(self.t, purpose, "uniform", shape, counter)

    def normal(self, purpose: str | int, *shape: int) -> Tensor:
        """Return standard normals by the inverse CDF, R x shape."""
        return self.streams.get(self.t, purpose, "normal", shape)

    def sphere(self, purpose: str | int, dim: int) -> Tensor:
        """Return points uniform on the unit sphere, R x dim."""
        return self.streams.get(self.t, purpose, "sphere", (dim,))
