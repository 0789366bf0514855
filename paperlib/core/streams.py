"""Random numbers as a pure function of (seed, trial, purpose, round, index).

There is no generator state: a counter is hashed. Adding trials, learners or devices therefore never
changes what trial 17 sees, and two learners that ask for the same purpose share their noise.

Source: the mixing function is SplitMix64 (Steele, Lea & Flood, "Fast splittable pseudorandom number
generators", OOPSLA 2014), applied to a key and a counter.
Shapes: R trials lead.
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
NAMED = {"reward": 0, "schedule": 1, "explore": 2, "arm": 3}  # every other purpose hashes its name
BLOCK = 1 << 18  # numbers drawn on the host at a time
CLIP = 2.0**-53  # uniforms handed to the inverse normal CDF stay in [CLIP, 1 - CLIP]


def splitmix64(x: np.ndarray) -> np.ndarray:
    """Finalizer of SplitMix64 on uint64, modulo 2^64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def uniform(seed, stream: int, counter) -> np.ndarray:
    """Uniforms in [0, 1) with 53 bits: ``seed`` and ``counter`` are integers or uint64 arrays that broadcast."""
    seed, counter = np.asarray(seed, np.uint64), np.asarray(counter, np.uint64)
    with np.errstate(over="ignore"):
        key = splitmix64(splitmix64(seed + GOLDEN) + (np.uint64(stream) + np.uint64(1)) * GOLDEN)
        return (splitmix64(key + (counter + np.uint64(1)) * GOLDEN) >> np.uint64(11)) * 2.0**-53


def stream_number(purpose: str | int) -> int:
    """Number of the stream that serves a purpose: 0-3 for the named four, else 64 bits of the name's hash."""
    if isinstance(purpose, int):
        return purpose
    if purpose in NAMED:
        return NAMED[purpose]
    return (
        int.from_bytes(hashlib.blake2b(purpose.encode(), digest_size=8).digest(), "little")
        | 1 << 63
    )


class Streams:
    """Draws for a list of trials, filled on the host in blocks of rounds and moved to the device.

    Args:
        seed: seed of the experiment; trial i draws what trial 0 of seed ``seed + i`` draws.
        trials: the trials, R of them, any nonnegative integers.
        device: where the numbers go.

    Raises:
        ValueError: a seed outside [0, 2^63).
    """

    def __init__(
        self,
        seed: int,
        trials: Iterable[int],
        device: str | torch.device = "cpu",
        dtype=torch.float64,
    ):
        # True is an integer to Python
        if (
            not isinstance(seed, (int, np.integer))
            or isinstance(seed, bool)
            or not 0 <= seed < 2**63
        ):
            raise ValueError(f"seed={seed!r}; allowed: an integer in [0, 2^63)")
        self.seeds = np.asarray([int(seed) + i for i in trials], np.uint64)
        self.device, self.dtype = device, dtype
        # purpose -> ((kind, shape), first round, past the last, tensors by round)
        self._blocks: dict = {}

    @functools.cached_property
    def numbers(self) -> Tensor:
        """The seeds as integers on the device, R int64; those from 2^63 on wrap around."""
        return torch.from_numpy(self.seeds.view(np.int64).copy()).to(self.device)

    def at(self, t: int) -> "Draw":
        """The key of round ``t`` (0, 1, ...); -1 is the key of ``init``."""
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
        # another shape would read the same stream at other places
        if asked != (kind, shape):
            raise ValueError(
                f"purpose={purpose!r} asks for {kind} of shape {shape} after {asked}; "
                "allowed: one kind and one shape a purpose"
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
        if kind != "uniform":
            u = ndtri(np.clip(u, CLIP, 1 - CLIP))
        x = torch.from_numpy(u.reshape(rounds, trials, *shape)).to(self.device, self.dtype)
        if kind == "sphere":
            x = x / torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        return t, t + rounds, x.unbind(0)


class Draw:
    """Key of one round. Each call returns a tensor R x shape, the same whenever it is asked for in that round.

    The position in the stream is round * size + index. For uniforms ``counter`` replaces the round * size: it maps the round to
    an integer, so that a draw can belong to a window of rounds.
    """

    __slots__ = ("streams", "t")

    def __init__(self, streams: Streams, t: int):
        self.streams, self.t = streams, t

    @property
    def seeds(self) -> Tensor:
        """seed + trial, R int64, to be read only: what varies by trial in its own way hangs on it.

        A trial that is run alone, from another seed or in other company, then meets the same.
        """
        return self.streams.numbers

    def uniform(
        self, purpose: str | int, *shape: int, counter: Callable[[int], int] | None = None
    ) -> Tensor:
        """Uniform on [0, 1), R x shape."""
        return self.streams.get(self.t, purpose, "uniform", shape, counter)

    def normal(self, purpose: str | int, *shape: int) -> Tensor:
        """Standard normal by inverse CDF, R x shape."""
        return self.streams.get(self.t, purpose, "normal", shape)

    def sphere(self, purpose: str | int, dim: int) -> Tensor:
        """Uniform on the unit sphere, R x dim."""
        return self.streams.get(self.t, purpose, "sphere", (dim,))
