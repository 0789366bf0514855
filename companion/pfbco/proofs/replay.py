"""One recorded epoch with its estimates and leaders recomputed, the parts of its regret, and Algorithm 1 line by line.

The bounds of the proof have slack. For example, a learner that uses a loss one round too early, halves the regularizer or takes a
tenth of each step still satisfies them. Therefore the statements here are equalities, up to rounding, between recorded values of
the learner.
Source: Chen, Zhang & Karbasi (2019), Algorithm 1 and the proof of Theorem 1.
Letters: as in ``constants``; R trials, x_t center, y_t = x_t + delta u_t, g_t = (n / delta) f_t(y_t) u_t, x*_t = argmin over
(1 - alpha) K of F_t, the leader; v_t the minimizer that the oracle returns for grad F_t(x_t).
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from paperlib.checks import Check, statement
from paperlib.core.trace import Trace
from paperlib.maths.sets import ConvexSet
from paperlib.pfbco.model import step_size, tracking_error
from paperlib.pfbco.theory.constants import PAPER, Setting

ROUNDING = 1e-9
ALGORITHM = f"{PAPER}, Algorithm 1"


@dataclass(frozen=True, eq=False)
class Replay:
    """One recorded epoch; estimates and leaders are recomputed from it.

    Attributes:
        cset: the set, in normalized coordinates.
        x: centers x_1, ..., x_T, R x T x n.
        y: played points, R x T x n.
        loss: the losses that the learner observed, R x T.
        eta, delta, alpha: constants of the epoch, 1 or R each.
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
        """Return the epoch of a trace on this set, recorded with the probes ``KEPT`` in every round.

        Raises:
            ValueError: the trace lacks rounds.
        """
        if len(trace.rounds) != trace.rounds[-1]:
            raise ValueError(
                f"trace must contain all {trace.rounds[-1]} rounds, got {len(trace.rounds)}. Use record='all'"
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
        keep = 1 - self.alpha
        return torch.stack([self.cset.project(free, keep) for free in self.free.unbind(1)], 1)

    @cached_property
    def ratios(self) -> Tensor:
        """h_t / (D^2 sigma_t) and ||x_t - x*_t|| / (D t^{-1/5}), R x T x 2."""
        t = torch.arange(1, self.x.shape[1] + 1, dtype=self.x.dtype)
        return tracking_error(
            self.x, self.leaders[:, :-1], self.free[:, :-1], self.cset.D.view(-1, 1), t
        )

    @property
    def inputs(self) -> dict[str, Any]:
        """Inputs of a check: T, n, and the largest eta, delta and alpha."""
        largest = {name: float(getattr(self, name).max()) for name in ("eta", "delta", "alpha")}
        return {"T": self.x.shape[1], "n": self.cset.dim} | largest


class Split(NamedTuple):
    """Regret of a run with linear losses, and its four parts, R each."""

    regret: Tensor  # sum f_t(y_t) - f_t(x*), as counted by ``play``
    explore: Tensor  # sum f_t(y_t) - f_t(x_t), with mean 0
    tracking: Tensor  # sum f_t(x_t) - f_t(x*_t)
    leader: Tensor  # sum f_t(x*_t) - f_t(z), z the projection of the best point on (1 - alpha) K
    shrink: Tensor  # sum f_t(z) - f_t(x*)


def split(run: Replay, a: Tensor, best: Tensor, regret: Any) -> Split:
    """Return the parts of the regret for linear losses f_t(y) = <a_t, y>.

    Args:
        run: the epoch.
        a: R x T x n, or R x 1 x n.
        best: x*, R x n.
        regret: regret as counted during the run, R. Recomputed from the points, it would equal the sum of its parts by
            construction.
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


# Algorithm 1, line by line ----------------------------------------------------------------------------------


@statement("Rates", f"{PAPER}, Theorem 1, corrected")
def rates(run: Replay, s: Setting) -> Check:
    """eta = c D / (sqrt(2) n M) T^{-4/5}, delta = c T^{-1/5} and alpha = delta / r, in the learner's state (E1)."""
    T, of = run.x.shape[1], lambda x: torch.as_tensor(x, dtype=run.x.dtype).expand(len(run.x))
    delta = of(s.c * T**-0.2)
    eta = of(s.c * s.diameter / (math.sqrt(2) * s.dim * s.loss_bound) * T**-0.8)
    wanted = torch.stack([eta, delta, delta / s.inner], 1)
    found = torch.stack([x.expand(len(run.x)) for x in (run.eta, run.delta, run.alpha)], 1)
    return rates.statement.check(
        "eta = c D / (sqrt(2) n M) T^{-4/5}, delta = c T^{-1/5}, alpha = delta / r",
        run.inputs,
        (found - wanted).abs(),
        ROUNDING * wanted,
    )


@statement("Exploration step", f"{ALGORITHM}, line 5")
def exploration_step(run: Replay) -> Check:
    """||y_t - x_t|| = delta in every round."""
    length, delta = torch.linalg.vector_norm(run.y - run.x, dim=2), run.delta.view(-1, 1)
    # Rounding is relative to the numbers that are subtracted.
    size = delta + torch.linalg.vector_norm(run.x, dim=2)
    return exploration_step.statement.check(
        "||y_t - x_t|| = delta", run.inputs, (length - delta).abs(), ROUNDING * size
    )


@statement("Frank-Wolfe step", f"{ALGORITHM}, lines 8 to 10")
def frank_wolfe_step(run: Replay, end: Tensor) -> Check:
    """v_t = x_t + (x_{t+1} - x_t) / sigma_t lies in (1 - alpha) K and minimizes <grad F_t(x_t), .> there.

    F_t is recomputed from the points and losses before round t. The statement applies to sets with an exact oracle.

    Args:
        run: the epoch.
        end: x_{T+1}, R x n.
    """
    x, cset, keep = run.x, run.cset, 1 - run.alpha
    s = step_size(torch.arange(1, x.shape[1] + 1, dtype=x.dtype)).view(-1, 1)
    v = x + (torch.cat([x[:, 1:], end.unsqueeze(1)], 1) - x) / s
    gradient = 2 * (x - run.free[:, :-1])
    least = [keep.unsqueeze(1) * cset.lmo(g) for g in gradient.unbind(1)]
    above = ((v - torch.stack(least, 1)) * gradient).sum(2)
    outside = [torch.linalg.vector_norm(z - cset.project(z, keep), dim=1) for z in v.unbind(1)]
    # Rounding is relative to the numbers that are added up and, after division by sigma_t, subtracted.
    added = run.eta.view(-1, 1) * pad(run.norms.cumsum(1)[:, :-1], (1, 0))
    size = torch.linalg.vector_norm(gradient, dim=2) + added
    R = cset.R.view(-1, 1)
    return frank_wolfe_step.statement.check(
        "|<grad F_t(x_t), v_t> - min over (1 - alpha) K|, dist(v_t, (1 - alpha) K) <= 1e-9",
        run.inputs,
        torch.stack([above.abs(), torch.stack(outside, 1)], 2),
        ROUNDING * R.unsqueeze(2) * torch.stack([size, torch.ones_like(size)], 2),
    )
