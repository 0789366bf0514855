"""Base classes of the generalized linear bandit learners: constants of the model, and validation.

Letters: R trials, K arms, d dimensions; S norm bound, g dispersion, lambda ridge, C_mu the largest slope of the mean.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from ...core.contracts import Observed, Tags
from ...core.describe import short_repr
from ...core.linalg import take_arm
from ...core.validation import (
    CONDITION,
    LARGEST,
    SMALLEST,
    check_arms,
    check_in,
    check_integer,
    check_positive,
    norm_slack,
    raise_invalid,
)
from ..model.links import (
    FAMILIES,
    LARGEST_S,
    Bernoulli,
    Binomial,
    Link,
    Poisson,
    check_rewards,
    kappa_ball,
    known_link,
)


class GLMLearner:
    """A learner with a field ``link``, and usually the fields ``norm_bound`` (S), ``delta`` and ``scale``."""

    link: Link
    families = FAMILIES  # the reward families that the method supports
    ridges = ("dim",)  # the strings that a field ``ridge`` may be set to
    refits = False  # whether the learner fits estimates to the history, with its field ``ridge``
    wants = "reward"

    @property
    def tags(self) -> Tags:
        """The learner's tags: if the history is stored as counts per arm index, the arm set must not change."""
        return Tags(fixed_arms=getattr(self, "counts", False))

    def ridge_value(self, dim: int) -> float:
        """Return lambda in dimension d: the field ``ridge`` if it is a number, or d if it is "dim"."""
        return float(dim if isinstance(self.ridge, str) else self.ridge)

    def check_fields(self) -> None:
        """Raise ValueError for a family or a ridge that the method does not support, or a norm bound that is too large."""
        known_link(self.link, self.families)
        # A learner whose lambda is a formula of the round has no field ``ridge``.
        ridge = getattr(self, "ridge", 1.0)
        if isinstance(ridge, str):
            check_in("ridge", ridge, self.ridges)
        else:
            check_positive("ridge", ridge)
        self.check_constant("C_mu, the largest slope,", self.link.max_slope(self.norm_bound))

    def check_constant(self, words: str, value: float) -> None:
        """Raise ValueError if a constant derived from the norm bound is too small or too large to be a hyper-parameter.

        ``words``: the constant's name in the message; ``value``: its value.
        """
        if not SMALLEST <= value <= LARGEST:
            requirement = f"a number for which {words} is between {SMALLEST:g} and {LARGEST:g} (at most {LARGEST_S:g} if this constant is e^S)"
            raise_invalid("norm_bound", self.norm_bound, requirement)

    def check_conditioned(self, name: str, ridge: float, added: float) -> None:
        """Raise ValueError if one round may add more than 1e12 times lambda to a matrix.

        The inverse of such a matrix would consist of rounding errors.

        Args:
            name: the field that the message names.
            ridge: lambda.
            added: the largest amount that one round adds along an arm of norm 1.
        """
        if not added <= CONDITION * ridge:
            raise ValueError(
                f"{name} must be such that one round adds at most {CONDITION:g} times lambda, got "
                f"{short_repr(getattr(self, name))}, with which a round adds up to {added:g} to lambda = {ridge:g}. "
                "Change link, norm_bound or ridge"
            )

    def check_horizon(self, horizon: int | None) -> None:
        """Raise ValueError if no horizon is given, for learners whose formulas contain T."""
        if horizon is None:
            raise ValueError(
                f"horizon must be an integer of at least 1, because {type(self).__name__} requires the number of rounds, got None"
            )
        check_integer("horizon", horizon)

    def validate(
        self, context: Tensor, action: Tensor | None = None, feedback: Tensor | None = None
    ) -> None:
        """Raise ValueError for arms that violate Assumption 1, an unknown arm, or a reward outside the family's support.

        Args:
            context: R x K x d or 1 x K x d with K, d >= 1, finite, ||x|| <= 1 up to the rounding of float32.
            action: R indices in 0..K-1, or None.
            feedback: R, in the family's support, or None.
        """
        check_arms(context, action)
        if context.device.type == "meta":  # meta tensors have shapes but no values to check
            return
        longest = float(torch.linalg.vector_norm(context, dim=-1).max())
        if longest > 1 + norm_slack(context.shape[-1]):
            raise ValueError(
                f"arms must have norms of at most 1, got a norm of {longest!r}. Divide all arms of all rounds by one bound on their norms"
            )
        if feedback is not None:
            self.link.validate(feedback)
            if self.refits and isinstance(self.link, Poisson) and not isinstance(self.ridge, str):
                # The Hessian of the fit grows with the count, so a larger count would make its inverse inaccurate.
                most = CONDITION * self.ridge
                check_rewards(
                    feedback,
                    feedback <= most,
                    f"a count of at most {most:g} with ridge={self.ridge!r}",
                )

    def caution(
        self, context: Tensor, horizon: int | None = None, observed: Observed | None = None
    ) -> str | None:
        """Return a warning if a reward contradicts the family and the norm bound, else None.

        The natural parameter of an arm is at most S ||x|| in absolute value, which bounds likely rewards. For
        example, a Poisson reward far above e^S indicates that ``norm_bound`` is too small.
        Learners without a norm bound make no declaration that a reward could contradict.
        """
        if observed is None or not hasattr(self, "norm_bound"):
            return None
        x = take_arm(context, observed.action)
        z = self.norm_bound * torch.linalg.vector_norm(x, dim=-1)
        # One reward can contradict several declarations; the first warning is enough.
        warnings = (observed.contradicts(*interval) for interval in self.intervals(z, observed))
        return next(filter(None, warnings), None)

    def intervals(self, z: Tensor, observed: Observed) -> Iterator[tuple[Tensor, Tensor, str]]:
        """Yield intervals that contain the reward with high probability, each with the arguments that it follows from.

        ``z``: R, the largest absolute value of the natural parameter.
        """
        declared = f"link={short_repr(self.link)} and norm_bound={self.norm_bound!r}"
        yield *self.link.interval(z, observed.level), declared


class KappaLearner(GLMLearner):
    """A generalized linear bandit learner with a field ``kappa``."""

    kappa: float | None

    def check_fields(self) -> None:
        """Check the fields of every learner; also check that kappa is in the range allowed for the field ``kappa``."""
        super().check_fields()
        self.check_constant("kappa, 1 / the smallest slope,", self.kappa_value)

    @property
    def kappa_value(self) -> float:
        """The field ``kappa``; if it is None, the model's kappa over unit arms and the ball of radius S."""
        return kappa_ball(self.link, self.norm_bound) if self.kappa is None else self.kappa


class BoundedLearner(KappaLearner):
    """A generalized linear bandit learner with fields ``kappa`` and ``reward_bound``."""

    reward_bound: float | None

    @property
    def bound(self) -> float:
        """The field ``reward_bound``. If it is None: 1 for Bernoulli, n for Binomial, and 100 for other rewards."""
        if self.reward_bound is not None:
            return self.reward_bound
        known = isinstance(self.link, (Bernoulli, Binomial))
        return float(getattr(self.link, "count", 1)) if known else 100.0

    def intervals(self, z: Tensor, observed: Observed) -> Iterator[tuple[Tensor, Tensor, str]]:
        """Yield the family's interval, and the interval of rewards up to R_max in absolute value."""
        yield from super().intervals(z, observed)
        most = torch.full_like(z, self.bound)
        yield -most, most, f"reward_bound={self.bound!r}"

    @property
    def most_added(self) -> float:
        """The largest amount that one round adds, along an arm of norm 1, to the design matrix or the likelihood's Hessian."""
        return max(1.0, self.link.max_slope(self.norm_bound) / self.link.dispersion)
