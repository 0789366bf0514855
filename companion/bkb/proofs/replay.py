"""The exact posterior along a run, rebuilt from the sequence of arms alone.

Variances go by rank-one updates of the full covariance; determinant and effective dimension also by a dense Cholesky
factor of K_T + lambda I, whose leading blocks are those of all earlier rounds: neither is how a learner computes.
Source: Calandriello et al. (2019), Section 2; letters there: K_t Gram matrix of the first t arms, d_eff effective dimension.
Shapes: R trials, T rounds, A arms. Index t - 1 of a tensor is round t, unless said otherwise.
"""

import math
from collections.abc import Sequence
from functools import cached_property

import torch
from torch import Tensor

from paperlib.bkb.model.slots import points_at
from paperlib.core.describe import frozen
from paperlib.core.trace import Trace
from paperlib.maths.gp import Kernel


@frozen(eq=False)
class Replay:
    """Arms of R trials over T rounds, and what the exact posterior makes of them."""

    kernel: Kernel
    arms: Tensor  # 1 x A x d or R x A x d
    ridge: float  # lambda
    index: Tensor  # R x T, arms played

    @classmethod
    def of(cls, trace: Trace, kernel: Kernel, arms: Tensor, ridge: float) -> "Replay":
        """From a trace that holds "arm" (``core.rounds.action``) of every round.

        Raises:
            ValueError: rounds are missing.
        """
        if len(trace.rounds) != trace.rounds[-1]:
            raise ValueError(
                f"trace has {len(trace.rounds)} of {trace.rounds[-1]} rounds; allowed: record='all'"
            )
        return cls(kernel, arms, ridge, torch.from_numpy(trace["arm"]).long())

    @property
    def rounds(self) -> Tensor:
        """1, ..., T."""
        return torch.arange(1, self.index.shape[1] + 1, dtype=torch.float64)

    @cached_property
    def gram(self) -> Tensor:
        """K of all arms, 1 or R x A x A."""
        return self.kernel(self.arms, self.arms)

    @cached_property
    def diagonal(self) -> Tensor:
        """k(x_i, x_i), 1 or R x A."""
        return self.kernel.diag(self.arms)

    @cached_property
    def kappa2(self) -> float:
        """Largest k(x_i, x_i)."""
        return float(self.diagonal.max())

    @cached_property
    def variance(self) -> Tensor:
        """s2_t of all arms for t = 0, ..., T, R x (T + 1) x A: here index t is after t observations."""
        R, T = self.index.shape
        trial = torch.arange(R)
        covariance = self.gram.expand(R, -1, -1).clone()
        found = [self.diagonal.expand(R, -1)]
        for t in range(T):
            row = covariance[trial, self.index[:, t]]
            row = row / (row.gather(1, self.index[:, t : t + 1]) + self.ridge).sqrt()
            covariance.baddbmm_(row.unsqueeze(2), row.unsqueeze(1), alpha=-1.0)
            found.append(covariance.diagonal(dim1=1, dim2=2).clamp(min=0))
        return torch.stack(found, 1) / self.ridge

    def _of_played(self, values: Tensor) -> Tensor:
        return values.gather(2, self.index.unsqueeze(2)).squeeze(2)

    @cached_property
    def played(self) -> Tensor:
        """s2_{t-1}(x_t), R x T."""
        return self._of_played(self.variance[:, :-1])

    @cached_property
    def settled(self) -> Tensor:
        """s2_t(x_t), R x T."""
        return self._of_played(self.variance[:, 1:])

    @cached_property
    def counts(self) -> Tensor:
        """n of all arms, R x T x A."""
        hot = torch.zeros(*self.index.shape, self.arms.shape[1], dtype=torch.float64)
        return hot.scatter_(2, self.index.unsqueeze(2), 1.0).cumsum_(1)

    @cached_property
    def log_det(self) -> Tensor:
        """ln det(I + K_t / lambda) as a sum of ln(1 + s2_{s-1}(x_s)), R x T."""
        return self.played.log1p().cumsum(1)

    @cached_property
    def effective(self) -> Tensor:
        """d_eff(t) as sum_i n_i s2_t(x_i), R x T."""
        return (self.counts * self.variance[:, 1:]).sum(2)

    @cached_property
    def factor(self) -> Tensor:
        """Cholesky factor of K_T + lambda I, R x T x T; its leading t x t block is round t's."""
        points = points_at(self.arms, self.index)
        eye = torch.eye(points.shape[1], dtype=torch.float64)
        return torch.linalg.cholesky(self.kernel(points, points) + self.ridge * eye)

    @cached_property
    def dense_log_det(self) -> Tensor:
        """ln det(I + K_t / lambda) from the factor, R x T."""
        roots = self.factor.diagonal(dim1=1, dim2=2)
        return 2 * roots.log().cumsum(1) - self.rounds * math.log(self.ridge)

    @cached_property
    def dense_effective(self) -> Tensor:
        """Tr K_t (K_t + lambda I)^{-1} = t - lambda ||L_t^{-1}||_F^2, R x T."""
        eye = torch.eye(self.index.shape[1], dtype=torch.float64)
        inverse = torch.linalg.solve_triangular(self.factor, eye, upper=False)
        return self.rounds - self.ridge * inverse.square().sum(2).cumsum(1)

    def noise_energy(self, noise: Tensor) -> Tensor:
        """||Phi_t^T eta_t||^2 in the norm of A_t^{-1}: ||eta||^2 - lambda ||L_t^{-1} eta||^2, R x T. ``noise``: R x T."""
        white = torch.linalg.solve_triangular(self.factor, noise.unsqueeze(2), upper=False)
        return (noise.square() - self.ridge * white.squeeze(2).square()).cumsum(1).clamp(min=0)

    def norm(self, rounds: Sequence[int]) -> Tensor:
        """||K_t|| for the given rounds, R x len(rounds)."""
        found = []
        for t in rounds:
            root = self.counts[:, t - 1].sqrt()
            weighted = self.gram * root.unsqueeze(1) * root.unsqueeze(2)
            found.append(torch.linalg.eigvalsh(weighted)[:, -1])
        return torch.stack(found, 1)

    def some_rounds(self) -> list[int]:
        """About ten rounds, evenly spaced, the last among them."""
        T = self.index.shape[1]
        return sorted({max(1, round(T * (i + 1) / 10)) for i in range(10)})
