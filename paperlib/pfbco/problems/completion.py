"""Matrix completion: half of the entries of a random matrix of rank k are seen each round, another matrix each time.

Source: Chen, Zhang & Karbasi (2019), the matrix completion experiment of Figure 1.
Letters: R trials, T rounds, p x p matrices, n = p (p + 1) / 2 coordinates, O_t entries seen.

f_t(X) = 1/2 sum over O_t of (X_ij - M_t,ij)^2, M_t = N_t^T N_t with standard normal N_t, k x p; in expectation
1/4 (||X - k I||_F^2 + k p (p + 1)).
"""

import functools
from typing import NamedTuple

import torch
from torch import Tensor

from ...core import fields
from ...core.describe import frozen_dataclass
from ...core.streams import Draw, Streams
from ...core.validation import check_in
from ...maths.matrices import NuclearBall, Spectrahedron, smat, svec
from ..model import Task

MODES = ("paper_lmo", "nuclear", "psd")
KEPT = 8  # runs whose losses are remembered


class Totals(NamedTuple):
    """What the losses of a run add up to: sum_t f_t(X) = 1/2 <W, X o X> - <S, X> + constant for symmetric X."""

    weight: Tensor  # R x p x p, W: how often an entry was seen, made symmetric
    target: Tensor  # R x p x p, S: the sum of the entries seen, made symmetric
    constant: Tensor  # R
    largest: Tensor  # R, max_t ||P_{O_t} M_t||_F


class CompletionInstance(NamedTuple):
    """The task, and the sum of all losses for the best matrix in hindsight."""

    task: Task
    streams: Streams
    totals: Totals


@frozen_dataclass
class MatrixCompletion:
    """Symmetric p x p matrices under a bound k on the nuclear norm, or on the trace.

    The radius of the set is the rank of the matrices seen; their nuclear norms are about k p, far outside.

    Attributes:
        p: size of the matrices, at least 2.
        k: rank and radius.
        mode: "paper_lmo", the nuclear ball with the paper's oracle, which is that of the matrices X >= 0 of trace k (E7);
            "nuclear", the ball with its own; "psd", {X >= 0, tr X <= k}.

    Raises:
        ValueError: a value out of range.
    """

    p: int = fields.size(20, least=2)
    k: int = fields.size(18)
    mode: str = fields.one_of(MODES, "paper_lmo")

    def cset(self, **tkwargs) -> NuclearBall | Spectrahedron:
        """The set of the mode."""
        if self.mode == "psd":
            return Spectrahedron.of(self.p, self.k, **tkwargs)
        return NuclearBall.of(self.p, self.k, exact=self.mode == "nuclear", **tkwargs)

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> CompletionInstance:
        """The set, and M = 1/2 (max_t ||P_{O_t} M_t||_F + k)^2 and G = rho (max_t ||P_{O_t} M_t||_F + k), which no point exceeds."""
        cset, streams = self.cset(**tkwargs), draw.streams
        seeds = tuple(streams.seeds.tolist())
        totals = _totals(self.p, self.k, horizon, seeds, streams.device, streams.dtype)
        reach = totals.largest + self.k
        return CompletionInstance(Task(cset, reach**2 / 2, cset.rho * reach), streams, totals)

    def entries(self, draw: Draw) -> tuple[Tensor, Tensor]:
        """M_t and O_t as 0 and 1, R x p x p each; the floor(p^2 / 2) entries seen are drawn without replacement."""
        N, u = draw.normal("loss", self.k, self.p), draw.uniform("loss set", self.p**2)
        least = u.topk(self.p**2 // 2, dim=-1, largest=False, sorted=False).indices
        return N.mT @ N, torch.zeros_like(u).scatter_(1, least, 1.0).unflatten(1, (self.p, self.p))

    def context(self, instance: CompletionInstance, t: int) -> Task:
        """The set and the bounds."""
        return instance.task

    def respond(
        self, instance: CompletionInstance, t: int, action: Tensor, wants: str, draw: Draw
    ) -> tuple[Tensor, Tensor]:
        """f_t, R, or its gradient, rho svec of the symmetric part of O_t o (X - M_t), R x n; and f_t. ``action``: R x n."""
        check_in("wants", wants, ("loss", "gradient"))
        (M, seen), cset = self.entries(instance.streams.at(t)), instance.task.cset
        residual = (smat(cset.to_native(action), self.p) - M) * seen
        loss = residual.square().sum((1, 2)) / 2
        if wants == "loss":
            return loss, loss
        return cset.rho * svec((residual + residual.mT) / 2), loss


@functools.lru_cache(maxsize=KEPT)
def _totals(
    p: int,
    k: int,
    horizon: int,
    seeds: tuple[int, ...],
    device: torch.device,
    dtype: torch.dtype,
) -> Totals:
    """All losses of a run, round by round, from streams that draw what the trials' draw: the learners of a comparison share them."""
    problem, streams = MatrixCompletion(p, k), Streams(0, seeds, device, dtype)
    W = S = constant = 0.0
    largest = torch.zeros(len(seeds), dtype=dtype, device=device)
    for t in range(horizon):
        M, seen = problem.entries(streams.at(t))
        M = M * seen
        square = M.square().sum((1, 2))
        W, S, constant = W + seen, S + M, constant + square / 2
        largest = torch.maximum(largest, square)
    # for symmetric X the symmetric parts give the same sums
    return Totals((W + W.mT) / 2, (S + S.mT) / 2, constant, largest.sqrt())
