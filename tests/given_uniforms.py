"""Bandit problem of glbomd with given uniforms for the rewards, so that a run reproduces the numbers of public code."""

from typing import Any

import torch
from torch import Tensor

from paperlib.core.describe import frozen_dataclass
from paperlib.core.linalg import take_mean


@frozen_dataclass(eq=False)
class GivenUniforms:
    """The problem with ``uniforms``, trials x rounds in [0, 1); row i belongs to trial i of the run."""

    problem: Any
    uniforms: Tensor

    def init(self, trials, horizon, draw, **tkwargs):
        assert len(self.uniforms) == trials and self.uniforms.shape[1] >= horizon
        return self.problem.init(trials, horizon, draw, **tkwargs)

    def context(self, instance, t):
        return self.problem.context(instance, t)

    def respond(self, instance, t, action, wants, draw):
        _, means, best = instance.rounds[t]
        mean = take_mean(means, action)
        return self.problem.link.sample(mean, torch.as_tensor(self.uniforms)[:, t]), best - mean
