"""One run, round by round, as the lemmas of the analysis see it.

``PROBES`` records what is needed in ``play(..., record="all", probes=PROBES)``; ``Replay.of`` rebuilds everything
else from estimates, arms and rewards alone, so that an error in a learner's matrices shows.
Source: Zhang, Xu, Zhao & Sugiyama (2025), Algorithm 1 and the proof of Theorem 1.
Letters: R trials lead, T rounds, d dimensions; other letters as in ``constants``. Index t of a tensor is round t + 1.
"""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from paperlib.core.trace import Trace
from paperlib.glbomd.model.links import loss
from paperlib.glbomd.model.setting import Setting
from paperlib.glbomd.probes import PROBES


@dataclass(frozen=True, eq=False)
class Replay:
    """Estimates, arms and rewards of R trials over T rounds, and what follows from them."""

    setting: Setting
    theta: Tensor  # R x (T + 1) x d: theta_1, ..., theta_{T+1}
    arm: Tensor  # R x T x d
    reward: Tensor  # R x T
    truth: Tensor  # R x d, theta*
    best: Tensor  # R x T, max_x x^T theta*

    @classmethod
    def of(cls, trace: Trace, setting: Setting) -> "Replay":
        """From a trace recorded with ``PROBES`` in every round.

        Raises:
            ValueError: rounds or probes are missing.
        """
        if missing := [name for name in PROBES if name not in trace.series]:
            raise ValueError(
                f"trace lacks {', '.join(missing)}; allowed: one recorded with probes=PROBES"
            )
        if len(trace.rounds) != trace.rounds[-1]:
            raise ValueError(
                f"trace has {len(trace.rounds)} of {trace.rounds[-1]} rounds; allowed: record='all'"
            )
        get = lambda name: torch.from_numpy(trace[name])
        later = get("next_theta")
        theta = torch.cat([torch.zeros_like(later[:, :1]), later], 1)  # theta_1 = 0
        return cls(setting, theta, get("arm"), get("reward"), get("truth")[:, -1], get("best"))

    @property
    def rounds(self) -> Tensor:
        """1, ..., T."""
        return torch.arange(1, self.arm.shape[1] + 1, dtype=torch.float64)

    @cached_property
    def start_z(self) -> Tensor:
        """X_t^T theta_t, R x T."""
        return (self.arm * self.theta[:, :-1]).sum(-1)

    @cached_property
    def next_z(self) -> Tensor:
        """X_t^T theta_{t+1}, R x T."""
        return (self.arm * self.theta[:, 1:]).sum(-1)

    @cached_property
    def true_z(self) -> Tensor:
        """X_t^T theta*, R x T."""
        return (self.arm * self.truth.unsqueeze(1)).sum(-1)

    @cached_property
    def curvature(self) -> Tensor:
        """mu'(X_t^T theta_{t+1}) / g, the weight of X_t X_t^T in H_{t+1} - H_t, R x T."""
        return self.setting.link.slope(self.next_z) / self.setting.link.dispersion

    @cached_property
    def precision(self) -> Tensor:
        """H_1, ..., H_{T+1}, R x (T + 1) x d x d, with H_1 = lambda I."""
        first = self.setting.ridge * torch.eye(self.setting.dim, dtype=torch.float64).expand(
            len(self.arm), 1, -1, -1
        )
        gains = (self.curvature.unsqueeze(-1) * self.arm).unsqueeze(-1) * self.arm.unsqueeze(-2)
        return torch.cat([first, gains], 1).cumsum(1)

    def width_square(self, shift: float = 0.0) -> Tensor:
        """X_t^T (H_t - shift I)^{-1} X_t, R x T."""
        matrix = self.precision[:, :-1] - shift * torch.eye(self.setting.dim, dtype=torch.float64)
        half = torch.linalg.solve_triangular(
            torch.linalg.cholesky(matrix), self.arm.unsqueeze(-1), upper=False
        )
        return half.square().sum((-1, -2))

    @cached_property
    def width2(self) -> Tensor:
        """||X_t||_{H_t^{-1}}^2, R x T."""
        return self.width_square()

    def norm_square(self, vector: Tensor) -> Tensor:
        """||v_t||^2 in the norm of H_t, R x T. ``vector``: R x T x d."""
        matrix = self.precision[:, : vector.shape[1]]
        return (vector * (matrix @ vector.unsqueeze(-1)).squeeze(-1)).sum(-1)

    @cached_property
    def error(self) -> Tensor:
        """||theta_t - theta*||_{H_t}^2 for t = 1, ..., T + 1, R x (T + 1)."""
        return self.norm_square(self.theta - self.truth.unsqueeze(1))

    @cached_property
    def move(self) -> Tensor:
        """theta_{t+1} - theta_t, R x T x d."""
        return self.theta[:, 1:] - self.theta[:, :-1]

    @cached_property
    def moved(self) -> Tensor:
        """Sum up to t of ||theta_{s+1} - theta_s||_{H_s}^2, R x T."""
        return self.norm_square(self.move).cumsum(1)

    @cached_property
    def true_loss(self) -> Tensor:
        """Sum up to t of l_s(theta*), R x T."""
        return loss(self.setting.link, self.true_z, self.reward).cumsum(1)

    @cached_property
    def next_loss(self) -> Tensor:
        """Sum up to t of l_s(theta_{s+1}), R x T."""
        return loss(self.setting.link, self.next_z, self.reward).cumsum(1)
