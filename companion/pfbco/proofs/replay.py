"""One epoch as it was played, with its estimates and leaders computed anew, and what its regret is made of.

Source: Chen, Zhang & Karbasi (2019), Algorithm 1 and the proof of Theorem 1.
Letters: R trials, T rounds, n dimensions; x_t center, y_t = x_t + delta u_t, g_t = (n / delta) f_t(y_t) u_t,
x*_t = argmin over (1 - alpha) K of F_t, the leader.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import torch
from torch import Tensor

from paperlib.core.trace import Trace
from paperlib.maths.sets import ConvexSet
from paperlib.pfbco.model import behind

ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Replay:
    """One epoch as it was played; estimates and leaders are computed anew from it.

    Attributes:
        cset: the set, normalized.
        x: centers x_1, ..., x_T, R x T x n.
        y: points played, R x T x n.
        loss: as the learner heard it, R x T.
        eta, delta, alpha: 1 or R.
    """

    cset: ConvexSet
    x: Tensor
    y: Tensor
    loss: Tensor
    eta: Tensor
    delta: Tensor
    alpha: Tensor

    @classmethod
    def of(cls, trace: Trace, cset: ConvexSet) -> "Replay":
        """From a trace of one epoch on this set, recorded with the probes ``KEPT`` in every round.

        Raises:
            ValueError: rounds are missing.
        """
        if len(trace.rounds) != trace.rounds[-1]:
            raise ValueError(
                f"trace has {len(trace.rounds)} of {trace.rounds[-1]} rounds; allowed: record='all'"
            )
        names = ("x", "y", "loss", "eta", "delta", "alpha")
        return cls(cset, *(torch.from_numpy(trace[name]) for name in names))

    @cached_property
    def g(self) -> Tensor:
        """Estimates (n / delta^2) f_t(y_t) (y_t - x_t), R x T x n."""
        scale = (self.cset.dim / self.delta**2).view(-1, 1, 1)
        return scale * self.loss.unsqueeze(2) * (self.y - self.x)

    @cached_property
    def norms(self) -> Tensor:
        """||g_t||, R x T."""
        return torch.linalg.vector_norm(self.g, dim=2)

    @cached_property
    def free(self) -> Tensor:
        """x_1 - eta (g_1 + ... + g_{t-1}) / 2 for t = 1, ..., T + 1, R x (T + 1) x n: F_t is the squared distance from it, plus a constant."""
        first = self.x[:, :1]
        return torch.cat([first, first - self.eta.view(-1, 1, 1) * self.g.cumsum(1) / 2], 1)

    @cached_property
    def leaders(self) -> Tensor:
        """x*_1, ..., x*_{T+1}, R x (T + 1) x n."""
        found = [self.cset.project(free, 1 - self.alpha) for free in self.free.unbind(1)]
        return torch.stack(found, 1)

    @cached_property
    def ratios(self) -> Tensor:
        """h_t / (D^2 sigma_t) and ||x_t - x*_t|| / (D t^{-1/5}), R x T x 2."""
        t = torch.arange(1, self.x.shape[1] + 1, dtype=self.x.dtype)
        return behind(self.x, self.leaders[:, :-1], self.free[:, :-1], self.cset.D.view(-1, 1), t)

    @property
    def inputs(self) -> dict[str, Any]:
        """For a check."""
        largest = {name: float(getattr(self, name).max()) for name in ("eta", "delta", "alpha")}
        return {"T": self.x.shape[1], "n": self.cset.dim} | largest


class Split(NamedTuple):
    """Regret of a run with linear losses and its four parts, R each."""

    regret: Tensor  # sum f_t(y_t) - f_t(x*), as counted by who played
    explore: Tensor  # sum f_t(y_t) - f_t(x_t), of mean 0
    tracking: Tensor  # sum f_t(x_t) - f_t(x*_t)
    leader: Tensor  # sum f_t(x*_t) - f_t(z), z the projection of the best point on (1 - alpha) K
    shrink: Tensor  # sum f_t(z) - f_t(x*)


def split(run: Replay, a: Tensor, best: Tensor, regret: Any) -> Split:
    """The parts for f_t(y) = <a_t, y>.

    Args:
        run: the epoch.
        a: R x T x n, or R x 1 x n.
        best: x*, R x n.
        regret: as counted while it was played, R: summed up anew from points it would be the sum of its parts whatever happened.
    """
    z, star = run.cset.project(best, 1 - run.alpha).unsqueeze(1), run.leaders[:, :-1]
    total = lambda move: (a * move).sum((1, 2))
    return Split(
        torch.as_tensor(regret),
        total(run.y - run.x),
        total(run.x - star),
        total(star - z),
        total((z - best.unsqueeze(1)).expand_as(run.x)),
    )
