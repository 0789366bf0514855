"""What Algorithm 2 must have done, from the answers that it heard: computed anew, without the learner.

Source: Wang (2025), Algorithm 2.
Letters: R trials, T rounds, d dimensions, E completed epochs.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from paperlib.nsbco.model.task import Task
from paperlib.nsbco.theory.constants import Setting


@dataclass(frozen=True)
class Replay:
    """Points, estimates and optimistic values of a run of Algorithm 2 alone."""

    x: np.ndarray  # R x T x d, queries
    z: np.ndarray  # R x (E + 1) x d, centers z_0, ..., z_E
    g: np.ndarray  # R x E x d, estimated gradients at them
    ends: np.ndarray  # E, rounds after which an epoch was complete
    rbar: np.ndarray  # R x T

    @classmethod
    def of(
        cls, answers: Any, task: Task, s: Setting, bonus: Any = 2.0, clip: bool = True
    ) -> "Replay":
        """From the answers of every round, R x T, of a run that began at 0.

        Args:
            answers: y_t, R x T.
            task: its set and margin, for P.
            s: L, q, h and N_0.
            bonus: b_0, a number or one a trial.
            clip: whether r-bar is at most 1.
        """
        y = np.asarray(answers, float)
        (R, T), d = y.shape, s.dim
        z = np.zeros((R, d))
        x, centers, found, ends = np.empty((R, T, d)), [z], [], []
        t = epoch = 0
        while t < T:
            n, delta, g = s.length(epoch), s.width(epoch), np.zeros((R, d))
            for j in range(d):
                last = min(t + 2 * n, T)
                sign = 1.0 - 2.0 * (np.arange(last - t) % 2)  # + first
                x[:, t:last] = z[:, None]
                x[:, t:last, j] += sign * delta
                g[:, j] = (y[:, t:last] * sign).sum(1) / (2 * delta * n)
                t = last
            if t == T and T < 2 * d * sum(s.length(i) for i in range(epoch + 1)):
                break  # the last epoch is not complete
            z = task.inside(torch.from_numpy(z + g / s.smoothness)).numpy()
            centers.append(z)
            found.append(g)
            ends.append(t)
            epoch += 1
        rounds = np.arange(1, T + 1)
        b = np.asarray(bonus, float)
        rbar = y.cumsum(1) / rounds + (b[:, None] if b.ndim else b) / np.sqrt(rounds)
        g = np.stack(found, 1) if found else np.zeros((R, 0, d))
        rbar = np.minimum(rbar, 1.0) if clip else rbar
        return cls(x, np.stack(centers, 1), g, np.array(ends, int), rbar)

    def at_ends(self, series: Any) -> np.ndarray:
        """What was recorded after the rounds that completed an epoch, R x E x .... ``series``: R x T x ..., every round."""
        return np.asarray(series, float)[:, self.ends - 1]
