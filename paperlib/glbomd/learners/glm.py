"""What the learners of a generalized linear model have in common: the numbers of the model, and the checks."""

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
    """A learner with a field ``link``, and as a rule ``norm_bound`` S, ``delta`` and ``scale``."""

    link: Link
    families = FAMILIES  # those that the method knows
    ridges = ("dim",)  # the names that a field ``ridge`` may be
    refits = False  # whether it fits estimates to the history, with its field ``ridge``
    wants = "reward"

    @property
    def tags(self) -> Tags:
        """Where rounds are kept as counts by index, the arms must be the same in all rounds."""
        return Tags(fixed_arms=getattr(self, "counts", False))

    def ridge_value(self, dim: int) -> float:
        """lambda in dimension d: the field ``ridge``, a number or "dim" for d."""
        return float(dim if isinstance(self.ridge, str) else self.ridge)

    def check_fields(self) -> None:
        """Raise ValueError for a family or a ridge that the method does not know, or a norm bound that is too large."""
        known_link(self.link, self.families)
        ridge = getattr(
            self, "ridge", 1.0
        )  # where lambda is a formula of the round, there is no field
        if isinstance(ridge, str):
            check_in("ridge", ridge, self.ridges)
        else:
            check_positive("ridge", ridge)
        self.check_constant("C_mu, the largest slope,", self.link.max_slope(self.norm_bound))

    def check_constant(self, words: str, value: float) -> None:
        """Raise ValueError for a norm bound of which a constant follows that is no setting itself."""
        if not SMALLEST <= value <= LARGEST:
            allowed = f"numbers for which {words} is at most {LARGEST:g}"
            raise_invalid(
                "norm_bound", self.norm_bound, f"{allowed} (up to {LARGEST_S:g} where it is e^S)"
            )

    def check_conditioned(self, name: str, ridge: float, added: float) -> None:
        """Raise ValueError where a round may add more than 1e12 times lambda to a matrix, whose inverse would be rounding.

        Args:
            name: the field to be named.
            ridge: lambda.
            added: the most that a round adds along an arm of norm 1.
        """
        if not added <= CONDITION * ridge:
            raise ValueError(
                f"{name}={short_repr(getattr(self, name))}: a round adds up to {added:g} to lambda = {ridge:g}; "
                f"allowed: link, norm_bound and ridge with which that is at most {CONDITION:g} times as much"
            )

    def check_horizon(self, horizon: int | None) -> None:
        """Raise ValueError where a learner whose formulas contain T was not given it."""
        if horizon is None:
            raise ValueError(
                f"horizon=None; {type(self).__name__} needs the number of rounds; allowed: integers, at least 1"
            )
        check_integer("horizon", horizon)

    def validate(
        self, context: Tensor, action: Tensor | None = None, feedback: Tensor | None = None
    ) -> None:
        """Raise ValueError for arms outside of Assumption 1, an unknown arm, or a reward outside the family's support.

        Args:
            context: R x K x d or 1 x K x d with K, d >= 1, finite, ||x|| <= 1 up to the rounding of float32.
            action: R indices in 0..K-1, or None.
            feedback: R, in the family's support, or None.
        """
        check_arms(context, action)
        if context.device.type == "meta":
            return
        longest = float(torch.linalg.vector_norm(context, dim=-1).max())
        if longest > 1 + norm_slack(context.shape[-1]):
            raise ValueError(
                f"arms: largest norm {longest!r}; allowed: at most 1 (divide all arms, of all rounds, by one bound on their norms)"
            )
        if feedback is not None:
            self.link.validate(feedback)
            if self.refits and isinstance(self.link, Poisson) and not isinstance(self.ridge, str):
                # a fit's Hessian grows with the count, and would be inverted to rounding
                most = CONDITION * self.ridge
                check_rewards(
                    feedback, feedback <= most, f"counts up to {most:g} with ridge={self.ridge!r}"
                )

    def caution(
        self, context: Tensor, horizon: int | None = None, observed: Observed | None = None
    ) -> str | None:
        """Warn of a reward that contradicts family and norm bound: natural parameters are at most S ||x|| in size.

        Learners without a norm bound declare nothing that a reward could contradict.
        """
        if observed is None or not hasattr(self, "norm_bound"):
            return None
        x = take_arm(context, observed.action)
        z = self.norm_bound * torch.linalg.vector_norm(x, dim=-1)
        warnings = (observed.contradicts(*interval) for interval in self.intervals(z, observed))
        return next(filter(None, warnings), None)

    def intervals(self, z: Tensor, observed: Observed) -> Iterator[tuple[Tensor, Tensor, str]]:
        """Yield the intervals that contain the reward at natural parameters up to z in size, R, with the arguments they follow from."""
        declared = f"link={short_repr(self.link)} and norm_bound={self.norm_bound!r}"
        yield *self.link.interval(z, observed.level), declared


class KappaLearner(GLMLearner):
    """One with a field ``kappa``."""

    kappa: float | None

    def check_fields(self) -> None:
        """As every learner's; and a kappa that follows from the norm bound must be one that could be given."""
        super().check_fields()
        self.check_constant("kappa, 1 / the smallest slope,", self.kappa_value)

    @property
    def kappa_value(self) -> float:
        """The field; None is the model's, over unit arms and the S-ball."""
        return kappa_ball(self.link, self.norm_bound) if self.kappa is None else self.kappa


class BoundedLearner(KappaLearner):
    """One with fields ``kappa`` and ``reward_bound``."""

    reward_bound: float | None

    @property
    def bound(self) -> float:
        """The field ``reward_bound``; None is the family's where it gives one, else 100."""
        if self.reward_bound is not None:
            return self.reward_bound
        known = isinstance(self.link, (Bernoulli, Binomial))
        return float(getattr(self.link, "count", 1)) if known else 100.0

    def intervals(self, z: Tensor, observed: Observed) -> Iterator[tuple[Tensor, Tensor, str]]:
        """Yield the family's, and rewards up to R_max in size."""
        yield from super().intervals(z, observed)
        most = torch.full_like(z, self.bound)
        yield -most, most, f"reward_bound={self.bound!r}"

    @property
    def most_added(self) -> float:
        """What a round adds at most along an arm of norm 1, to the design matrix or to the likelihood's Hessian."""
        return max(1.0, self.link.max_slope(self.norm_bound) / self.link.dispersion)
