"""Arms of unequal size: where the theory's own oversampling leaves pulls out within hundreds of rounds.

With k(x, x) = 1 every pull is kept while t + lambda <= qbar, and a check of Theorem 3.1 could not fail. Here k(x, x) goes
down to .0025. Ours, beside Calandriello, Carratino, Lazaric, Valko & Rosasco (2019).
Letters: R trials, A arms.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from ..core import Trace
from ..gp import RBF, Kernel
from ..streams import Draw, Streams
from ..validation import nonnegative, whole
from .probes import own, redrawn
from .sketch_lemmas import Snapshot
from .worlds import FixedArms, World

if TYPE_CHECKING:
    from ..play import Round


@dataclass(frozen=True)
class SizedRBF:
    """s(x) s(y) exp(-gamma ||x - y||^2); the last coordinate of a point is its size s.

    Attributes:
        gamma: > 0.
    """

    gamma: float = 30.0

    def __post_init__(self):
        RBF(self.gamma)

    def __call__(self, X: Tensor, Y: Tensor) -> Tensor:
        return RBF(self.gamma)(X[..., :-1], Y[..., :-1]) * X[..., -1].unsqueeze(-1) * Y[..., -1].unsqueeze(-2)

    def diag(self, X: Tensor) -> Tensor:
        return X[..., -1].square()


@dataclass(frozen=True)
class UnevenArms(FixedArms):
    """Arms in the unit square with sizes uniform on [.05, 1], the same in all trials; f = 0, so that rewards are noise.

    Attributes:
        arms: A.
        noise: xi >= 0.
        instance: seed of the arms.

    Raises:
        ValueError: a value out of range.
    """

    arms: int = 300
    noise: float = 1.0
    instance: int = 0

    def __post_init__(self):
        whole("arms", self.arms)
        nonnegative("noise", self.noise)
        whole("instance", self.instance, least=0)

    @property
    def kernel(self) -> SizedRBF:
        """The kernel of these arms."""
        return SizedRBF()

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> World:
        """The instance's arms, 1 x A x 3."""
        u = Streams(self.instance, [0], **tkwargs).at(-1).uniform("problem arms", self.arms, 3)
        arms = torch.cat([u[..., :2], 0.05 + 0.95 * u[..., 2:]], 2)
        zero = torch.zeros(1, self.arms, **tkwargs)
        return World(arms, zero, zero[:, 0], None, None)


def n_after(seen: "Round") -> Tensor:
    """Pulls after the round, R x A. A probe, as those below."""
    return own(seen.after).n


def mask_after(seen: "Round") -> Tensor:
    """The dictionary after the round as 0 and 1, R x A."""
    return own(seen.after).mask.double()


def s2_before(seen: "Round") -> Tensor:
    """s2_t, with which the dictionary was sampled, R x A."""
    return own(seen.before).s2


def s2_after(seen: "Round") -> Tensor:
    """s2_{t+1}, the learner's, R x A."""
    return own(seen.after).s2


SHOT = {"n": n_after, "mask": mask_after, "s2": s2_after, "sampled with": s2_before}


def snapshots(trace: Trace, kernel: Kernel, arms: Tensor, ridge: float, qbar: float, seed: int = 0) -> list[Snapshot]:
    """Each trial's last dictionary, with the multiplicities that its coins had.

    The run keeps the dictionary alone; given it, the multiplicities are drawn again from a stream of their own.

    Args:
        trace: recorded with the probes ``SHOT`` (reduce "final").
        arms: 1 x A x d.
        ridge: lambda.
        qbar: the learner's, with a coin a pull.
        seed: of the multiplicities.

    Raises:
        ValueError: a probe is missing.
    """
    if missing := [name for name in SHOT if name not in trace.final]:
        raise ValueError(f"trace lacks {', '.join(missing)}; allowed: one recorded with the final probes SHOT")
    found = []
    for trial, n, mask, s2, before in zip(trace.trials, *(trace[name] for name in SHOT)):
        p = np.clip(qbar * before, 0.0, 1.0)
        given = {"s2": s2, "kept": redrawn(seed + trial, 0, mask > 0, n, p), "probability": p}
        found.append(Snapshot(kernel, arms[0], torch.from_numpy(n), torch.from_numpy(mask > 0), ridge, **{name: torch.from_numpy(x) for name, x in given.items()}))
    return found
