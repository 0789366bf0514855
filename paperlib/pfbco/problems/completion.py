"""Matrix completion: each round reveals half of the entries of a new random matrix of rank k.

Source: Chen, Zhang & Karbasi (2019), the matrix completion experiment of Figure 1.
Letters: R trials, T rounds, p x p matrices, n = p (p + 1) / 2 coordinates, O_t observed entries.

The loss is f_t(X) = 1/2 sum over O_t of (X_ij - M_t,ij)^2 with M_t = N_t^T N_t and standard normal N_t, k x p. Its expectation is
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
KEPT = 8  # runs whose summed losses are cached


class Totals(NamedTuple):
    """Sum of the losses of a run: sum_t f_t(X) = 1/2 <W, X o X> - <S, X> + constant for symmetric X."""

    weight: Tensor  # R x p x p, W: how often each entry was observed, symmetrized
    target: Tensor  # R x p x p, S: the sum of the observed entries, symmetrized
    constant: Tensor  # R
    largest: Tensor  # R, max_t ||P_{O_t} M_t||_F


class CompletionInstance(NamedTuple):
    """The task, and the sum of all losses, which gives the best matrix in hindsight."""

    task: Task
    streams: Streams
    totals: Totals


@frozen_dataclass
class MatrixCompletion:
    """Matrix completion of Figure 1c: symmetric p x p matrices with nuclear norm, or trace, at most k.

    The radius k of the set is also the rank of the observed matrices. Their nuclear norms are about k p, far outside the set.

    Attributes:
        p: size of the matrices, at least 2.
        k: rank and radius.
        mode: set and oracle. "paper_lmo" is the nuclear ball with the paper's oracle, which minimizes over the matrices
            X >= 0 of trace k instead (E7). "nuclear" is the ball with its exact oracle. "psd" is {X >= 0, tr X <= k}.

    Raises:
        ValueError: a value out of range.

    Examples:
        >>> from paperlib.pfbco import Doubling, MatrixCompletion, PFBCO
        >>> from paperlib.play import play
        >>> trace = play(Doubling(PFBCO(0.1)), MatrixCompletion(p=4, k=3), horizon=31, trials=2)
        >>> trace.last().shape  # summed loss per trial
        (2,)
    """

    p: int = fields.size(20, least=2)
    k: int = fields.size(18)
    mode: str = fields.one_of(MODES, "paper_lmo")

    def cset(self, **tkwargs) -> NuclearBall | Spectrahedron:
        """Return the set of the mode."""
        if self.mode == "psd":
            return Spectrahedron.of(self.p, self.k, **tkwargs)
        return NuclearBall.of(self.p, self.k, exact=self.mode == "nuclear", **tkwargs)

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> CompletionInstance:
        """Return the set with M = 1/2 (max_t ||P_{O_t} M_t||_F + k)^2 and G = rho (max_t ||P_{O_t} M_t||_F + k).

        No point of the set exceeds these bounds in any round of the horizon.
        """
        cset, streams = self.cset(**tkwargs), draw.streams
        seeds = tuple(streams.seeds.tolist())
        totals = _totals(self.p, self.k, horizon, seeds, streams.device, streams.dtype)
        # ||P_O(X)||_F <= ||X||_* <= k for every X of the set, which gives both bounds.
        reach = totals.largest + self.k
        return CompletionInstance(Task(cset, reach**2 / 2, cset.rho * reach), streams, totals)

    def entries(self, draw: Draw) -> tuple[Tensor, Tensor]:
        """Return M_t, and O_t as zeros and ones, R x p x p each; the floor(p^2 / 2) observed entries are drawn without replacement."""
        N, u = draw.normal("loss", self.k, self.p), draw.uniform("loss set", self.p**2)
        # The positions of the smallest of p^2 uniform numbers are a uniform sample without replacement.
        least = u.topk(self.p**2 // 2, dim=-1, largest=False, sorted=False).indices
        return N.mT @ N, torch.zeros_like(u).scatter_(1, least, 1.0).unflatten(1, (self.p, self.p))

    def context(self, instance: CompletionInstance, t: int) -> Task:
        """Return the set and the bounds, the same in all rounds."""
        return instance.task

    def respond(
        self, instance: CompletionInstance, t: int, action: Tensor, wants: str, draw: Draw
    ) -> tuple[Tensor, Tensor]:
        """Return f_t, R, or its gradient, rho svec of the symmetric part of O_t o (X - M_t), R x n; and f_t. ``action``: R x n."""
        check_in("wants", wants, ("loss", "gradient"))
        (M, seen), cset = self.entries(instance.streams.at(t)), instance.task.cset
        residual = (smat(cset.to_native(action), self.p) - M) * seen
        loss = residual.square().sum((1, 2)) / 2
        if wants == "loss":
            return loss, loss
        # The factor rho is from the chain rule, because X = smat(rho y) up to a shift.
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
    """Return the sum of all losses of a run, computed from copies of the trials' random streams.

    The result is cached, because all learners of a comparison need the same sum.
    """
    problem, streams = MatrixCompletion(p, k), Streams(0, seeds, device, dtype)
    W = S = constant = 0.0
    largest = torch.zeros(len(seeds), dtype=dtype, device=device)
    for t in range(horizon):
        M, seen = problem.entries(streams.at(t))
        M = M * seen
        square = M.square().sum((1, 2))
        W, S, constant = W + seen, S + M, constant + square / 2
        largest = torch.maximum(largest, square)
    # W and S are symmetrized, because for symmetric X their symmetric parts give the same sums.
    return Totals((W + W.mT) / 2, (S + S.mT) / 2, constant, largest.sqrt())
