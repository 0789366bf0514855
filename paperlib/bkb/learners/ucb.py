"""Base class of the package's learners: count pulls, sum up information, pull the arm with the largest upper bound.

Source: Calandriello et al. (2019), Algorithm 1 and Section 2.
Letters: R trials, A arms, d dimensions; lambda the ridge, s2 the scaled variance phi^T A_t^{-1} phi = variance / lambda.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from ...core import linalg
from ...core.contracts import Observed, Tags
from ...core.streams import Draw
from ...core.validation import CONDITION, LARGEST, check_arms, check_finite, raise_invalid
from ...maths.gp import Kernel, check_kernel
from ..model.confidence import Confidence, RoundSums


class PullCounts(NamedTuple):
    """Pull counts and sums of rewards per arm. They describe the whole history, because the arms never change."""

    n: Tensor  # R x A, pulls
    ysum: Tensor  # R x A, sums of rewards

    def add(self, arm: Tensor, reward: Tensor) -> "PullCounts":
        """Return the counts after one more pull in every trial. ``arm``: R; ``reward``: R."""
        at, one = arm.unsqueeze(1), torch.ones_like(reward).unsqueeze(1)
        return PullCounts(
            self.n.scatter_add(1, at, one), self.ysum.scatter_add(1, at, reward.unsqueeze(1))
        )


def entry_of_arm(values: Tensor, arm: Tensor) -> Tensor:
    """Return the entry of each trial's arm, R. ``values``: R x A; ``arm``: R."""
    return values.gather(1, arm.unsqueeze(1)).squeeze(1)


def find_duplicates(arms: Tensor) -> Tensor | None:
    """Return for each arm the index of the first arm equal to it, or None if all differ. ``arms``: R x A x d or 1 x A x d.

    The computed upper bounds of equal arms may differ in the last bit, and this bit must not decide the choice.
    """
    if arms.device.type == "meta":
        return None
    index = torch.arange(arms.shape[1], device=arms.device)
    firsts = []
    for points in arms:
        _, group = torch.unique(points, dim=0, return_inverse=True)
        firsts.append(
            torch.full_like(index, len(index)).scatter_reduce(0, group, index, "amin")[group]
        )
    first = torch.stack(firsts)
    return None if bool((first == index).all()) else first


def argmax_first_arm(bound: linalg.Array, copies: Tensor | None = None) -> linalg.Array:
    """Return the first arm whose bound is the largest up to rounding, R: the choice must not depend on the last bit.

    Departure: bounds closer than ``linalg.ROUNDING`` are ties. For example, the bounds of arms far from all pulled arms
    differ by less.

    Args:
        bound: R x A.
        copies: see ``find_duplicates``.
    """
    # Every copy of an arm gets the bound of the first copy, so that the first copy wins.
    if copies is not None:
        bound = linalg.as_tensors(bound)[0].gather(1, copies.expand(len(bound), -1))
    return linalg.argmax_first(bound)


class KernelUCB:
    """GP-UCB rule: pull the arm with the largest mu + beta sqrt(s2); the first arm is drawn uniformly.

    A subclass is a frozen dataclass with the fields ``kernel`` and ``confidence``. Its states have the fields n, ysum, mu, s2
    (R x A each), tally and copies.
    """

    confidence: Confidence
    kernel: Kernel
    wants = "reward"
    tags = Tags(fixed_arms=True)  # Pulls are counted by index, so that the arms must not change.

    def __post_init__(self):
        if not isinstance(self.confidence, Confidence):
            raise_invalid("confidence", self.confidence, "a Confidence")
        known = callable(self.kernel) and hasattr(self.kernel, "diag")
        if not known or isinstance(self.kernel, type):
            requirement = (
                "a kernel of paperlib.maths.gp, for example RBF() or FunctionKernel(function)"
            )
            raise_invalid("kernel", self.kernel, requirement)

    def validate(self, context: Tensor, action: Tensor | None, feedback: Tensor | None) -> None:
        """Raise ValueError for invalid arms, rewards, kernel values or ridge.

        Arms and rewards must be finite, and a pulled arm must be one of the arms. The kernel must be a covariance on the
        arms. The ridge must be at least 1e-12 times the largest k(x, x), because a smaller one is lost in rounding.
        """
        check_arms(context, action)
        # Kernel and ridge depend on the arms alone, so that they are not checked again with a pull or a reward.
        if action is None and feedback is None:
            check_kernel(self.kernel, context)
            lam, kappa2 = self.confidence.lam, self.kernel.diag(context)
            # If k(x, x) is larger than CONDITION * lambda, adding lambda to it changes only rounding.
            if context.device.type != "meta" and not bool((kappa2 <= CONDITION * lam).all()):
                raise ValueError(
                    f"ridge must give a lambda of at least {float(kappa2.max()) / CONDITION:g}, 1e-12 times the largest k(x, x), got "
                    f"lambda = {lam:g} from ridge={self.confidence.ridge!r} and noise={self.confidence.noise!r}"
                )
        if feedback is not None:
            check_finite("reward", feedback, LARGEST)

    def caution(
        self, context: Tensor, horizon: int | None = None, observed: Observed | None = None
    ) -> str | None:
        """Return a warning about a reward that contradicts the noise level and the norm bound, or None.

        A reward at x is plausible if |f(x)| <= F sqrt(k(x, x)) and the noise is xi-sub-Gaussian.
        """
        xi, F = self.confidence.noise, self.confidence.norm_bound
        # The rule "const" uses no norm bound, so that there is no assumption to contradict.
        if observed is None or self.confidence.rule == "const":
            return None
        x = linalg.take_arm(context, observed.action).unsqueeze(1)
        most = F * self.kernel.diag(x)[:, 0].sqrt() + observed.deviation(xi)
        return observed.contradicts(-most, most, f"noise={xi!r} and norm_bound={F!r}")

    def prior(self, trials: int, arms: Tensor) -> dict[str, Any]:
        """Return the initial fields that all states share: mu = 0, s2 = k(x, x) / lambda."""
        variance = self.kernel.diag(arms)  # R or 1 x A
        s2 = (variance / self.confidence.lam).expand(trials, -1).contiguous()
        zero = torch.zeros_like(s2)
        tally = self.confidence.start(variance.amax(1), trials)
        return dict(n=zero, ysum=zero, mu=zero, s2=s2, tally=tally, copies=find_duplicates(arms))

    def select(self, state: Any, arms: Tensor, draw: Draw) -> tuple[Tensor, Any]:
        """Return a_{t+1} = argmax_i mu_t[i] + beta_t sqrt(s2_t[i]), (3), R indices; ties go to the smallest index.

        The first arm a_1 is drawn uniformly.
        """
        if state.tally.rounds == 0:
            return (draw.uniform("arm") * arms.shape[1]).long(), state
        mu, s2, beta = linalg.as_numpy_if_cpu(state.mu, state.s2, self.radius(state))
        # (3): the upper confidence bound of every arm.
        best = argmax_first_arm(mu + beta[:, None] * linalg.safe_sqrt(s2), state.copies)
        return linalg.as_tensors(best)[0], state

    def radius(self, state: Any) -> Tensor:
        """Return the confidence radius beta_t, R."""
        return self.confidence.radius(state.tally)

    def add_up(self, state: Any, arm: Tensor, n: Tensor, s2: Tensor) -> RoundSums:
        """Return the sums after a round: ``state`` chose the arm; ``n`` and ``s2`` (R x A) include its reward."""
        return self.confidence.add(state.tally, entry_of_arm(state.s2, arm), (n * s2).sum(1))

    def heard(
        self, state: Any, arm: Tensor, pulls: PullCounts, mu: Tensor, s2: Tensor, **own: Any
    ) -> Any:
        """Return the state after a round: pull counts, posterior and sums; ``own``: the other fields of its class that changed."""
        tally = self.add_up(state, arm, pulls.n, s2)
        return state._replace(n=pulls.n, ysum=pulls.ysum, mu=mu, s2=s2, tally=tally, **own)
