"""Theory as checks: a statement's bound against what was observed."""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from .core.text import format_number, to_json
from .stats import Interval, proportion


class Statement(NamedTuple):
    """An assumption, lemma or theorem, with the function that computes its bound."""

    name: str  # "Theorem 1"
    source: str  # where it stands
    summary: str  # first line of the function's docstring
    function: Callable

    def check(self, formula: str, inputs: dict, *numbers: Any, kind=None, **more: Any) -> "Check":
        """What it says, held against a run.

        Args:
            formula, inputs, numbers, more: the fields of ``Check`` behind the source, in their order.
            kind: ``Check``, a class on it, or ``Expected.over_trials``.
        """
        return (kind or Check)(self.name, self.source, formula, inputs, *numbers, **more)


def statement(name: str, source: str = "") -> Callable[[Callable], Callable]:
    """Mark a function as the computation of a paper's statement.

    The function gets an attribute ``statement``, by which the companion lists them all.
    """

    def mark(function: Callable) -> Callable:
        summary = (function.__doc__ or "").strip().split("\n")[0]
        function.statement = Statement(name, source, summary, function)
        return function

    return mark


@dataclass(frozen=True, eq=False, repr=False)
class Check:
    """One statement held against one run: ``observed <= bound``, entry by entry.

    A deterministic statement (``delta`` None) holds when every entry does. A statement with failure
    probability ``delta`` must hold in all entries of a trial at once: it ``holds`` when the Clopper-Pearson
    interval of the share of such trials lies at or above 1 - delta, ``fails`` when it lies below, and is else
    ``inconclusive``.
    """

    statement: str  # "Theorem 1"
    source: str  # paper and where in it
    formula: str  # the inequality, as text
    inputs: dict[str, Any]  # what entered the bound
    observed: Any  # R x ... (trials lead), or a number
    bound: Any  # a number, or anything that broadcasts against ``observed``
    delta: float | None = None  # failure probability; None: deterministic
    tolerance: float = 1e-9  # of rounding, relative to |bound|
    trivial: float | None = None  # what holds without any theory, at this horizon
    # first round at which the bound beats the trivial one; None: never
    informative_from: int | None = None
    remark: str = ""  # which condition of the statement is not met

    def __post_init__(self):
        observed = np.atleast_1d(np.asarray(self.observed, float))
        bound = np.broadcast_to(np.asarray(self.bound, float), observed.shape)
        object.__setattr__(self, "observed", observed)
        object.__setattr__(self, "bound", bound)
        if observed.size == 0:
            raise ValueError(f"{self.statement}: observed is empty; allowed: at least one number")
        if self.delta is not None and not 0 < self.delta < 1:
            raise ValueError(
                f"{self.statement}: delta={self.delta}; allowed: between 0 and 1, or None"
            )

    @property
    def slack(self) -> np.ndarray:
        """bound - observed, entry by entry."""
        return self.bound - self.observed

    @property
    def ratio(self) -> float:
        """The worst observed / bound; infinite where a positive quantity meets a bound of zero or less."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = self.observed / self.bound
        ends = np.where(self.held, 0.0, math.inf)
        return float(np.where(self.bound > 0, ratios, ends).max())

    @property
    def held(self) -> np.ndarray:
        """Whether the inequality holds, entry by entry, up to rounding. NaN does not hold."""
        with np.errstate(invalid="ignore"):
            return self.observed <= self.bound + self.tolerance * np.abs(self.bound)

    @property
    def by_trial(self) -> np.ndarray:
        """R: whether it holds in every entry of the trial."""
        return self.held.reshape(len(self.held), -1).all(1)

    @property
    def coverage(self) -> Interval:
        """Share of the trials in which it holds throughout, Clopper-Pearson."""
        return proportion(int(self.by_trial.sum()), len(self.by_trial))

    @property
    def verdict(self) -> str:
        if self.delta is None:
            return "holds" if self.held.all() else "fails"
        share = self.coverage
        if share.low >= 1 - self.delta:
            return "holds"
        return "fails" if share.high < 1 - self.delta else "inconclusive"

    def __str__(self) -> str:
        """One short, rounded line."""
        if self.delta is None:
            count = f"{int(self.held.sum())} of {self.held.size}"
        else:
            share = self.coverage
            count = f"{int(self.by_trial.sum())} of {share.n} trials [{format_number(share.low)}, {format_number(share.high)}]"
        words = [self.statement, self.verdict, f"{count}, worst ratio {format_number(self.ratio)}"]
        if self.trivial is not None:
            first = self.informative_from
            words.append(
                "never informative" if first is None else f"informative from {format_number(first)}"
            )
        return "  ".join(words + ([self.remark] if self.remark else []))

    __repr__ = __str__

    def to_json(self) -> dict:
        """Everything but the entries: those are summed up."""
        informative = "never" if self.informative_from is None else self.informative_from
        return to_json(
            {
                "statement": self.statement,
                "source": self.source,
                "formula": self.formula,
                "inputs": self.inputs,
                "delta": self.delta,
                "verdict": self.verdict,
                "entries": self.held.size,
                "held": int(self.held.sum()),
                "ratio": self.ratio,
                "slack": float(self.slack.min()),
                "trivial": self.trivial,
                "informative_from": None if self.trivial is None else informative,
                "coverage": None if self.delta is None else self.coverage,
                "remark": self.remark,
                "line": str(self),
            }
        )


class Reported(Check):
    """A bound shown beside what was observed where its statement does not apply: neither holds nor fails."""

    @property
    def verdict(self) -> str:
        """Always "reported"."""
        return "reported"


class Vacuous(Check):
    """A bound that nothing could break at the sizes run, for it allows what holds without it: not said to hold."""

    @property
    def verdict(self) -> str:
        """ "fails" where it is broken all the same, else "vacuous here"."""
        return "vacuous here" if super().verdict != "fails" else "fails"


class ByConstruction(Check):
    """A bound whose constant was computed from what it bounds, so that only an error of that computation could break it."""

    @property
    def verdict(self) -> str:
        """ "fails" where it is broken all the same, else "by construction"."""
        return "by construction" if super().verdict != "fails" else "fails"


@dataclass(frozen=True, eq=False, repr=False)
class Expected(Check):
    """A bound on an expectation; nothing is said about a single trial.

    ``observed`` is the upper one-sided confidence limit of a mean over trials, ``lower`` the lower one. It ``holds`` where the
    upper limit is at most the bound in every entry, ``fails`` where the lower one is above it in some, and is else ``inconclusive``.

    Raises:
        ValueError: no lower limit, or one that is NaN.
    """

    lower: Any = None

    def __post_init__(self):
        super().__post_init__()
        # NaN is never above a bound: it could not fail
        if self.lower is None or np.isnan(np.asarray(self.lower, float)).any():
            raise ValueError(
                f"{self.statement}: lower={self.lower!r}; allowed: lower limits of the mean, numbers"
            )
        lower = np.broadcast_to(np.asarray(self.lower, float), self.observed.shape)
        object.__setattr__(self, "lower", lower)

    @classmethod
    def over_trials(
        cls,
        statement: str,
        source: str,
        formula: str,
        inputs: dict,
        values: Any,
        bound: Any,
        level: float = 0.99,
        **more: Any,
    ) -> "Expected":
        """From one value a trial: t-limits of the mean, entry by entry.

        Where bounds differ by trial the limits are those of the mean of value / bound, shown in units of the mean bound.

        Args:
            values: R or R x ..., R at least 2.
            bound: above 0, broadcasts against ``values``.
            level: of each one-sided limit.
            more: other fields.

        Raises:
            ValueError: fewer than two trials, values that are not finite, or a bound that is not above 0.
        """
        values = np.asarray(values, float)
        bound, R = np.broadcast_to(np.asarray(bound, float), values.shape), len(values)
        if R < 2 or not np.isfinite(values).all():
            raise ValueError(
                f"{statement}: values of {R} trials, {int((~np.isfinite(values)).sum())} not finite; allowed: at least two trials of finite values"
            )
        if not (bound > 0).all():
            raise ValueError(f"{statement}: bound={bound.min()}; allowed: above 0")
        scale, ratio = bound.mean(0), values / bound
        center = ratio.mean(0)
        half = stdtrit(R - 1, level) * ratio.std(0, ddof=1) / math.sqrt(R)
        middle = float(np.median(1 / center[center > 0])) if (center > 0).any() else math.inf
        inputs = inputs | {"trials": R, "level": level, "median bound / mean": middle}
        lower, upper = (center - half) * scale, (center + half) * scale
        return cls(statement, source, formula, inputs, upper, scale, lower=lower, **more)

    @property
    def verdict(self) -> str:
        """holds, fails or inconclusive, by the limits of the mean."""
        if self.held.all():
            return "holds"
        above = self.lower > self.bound + self.tolerance * np.abs(self.bound)
        return "fails" if above.any() else "inconclusive"


def change_kind(kind: type[Check], check: Check, **more: Any) -> Check:
    """Return the check as one of another kind, with some fields changed."""
    kept = {field.name: getattr(check, field.name) for field in fields(Check)}
    return kind(**kept | more)


def vacuous_unless(informs: bool, check: Check) -> Check:
    """Return the check, as ``Vacuous`` unless its bound is somewhere below what holds without it."""
    return check if informs else change_kind(Vacuous, check)


def informative_from(
    bound: Callable[[int], float], trivial: Callable[[int], float], cap: int = 10**15
) -> int | None:
    """The first horizon T at which ``bound(T) < trivial(T)``, or None: not up to ``cap``.

    Doubling, then bisection: exact where the bound, once below the trivial one, stays below.
    """
    below = lambda T: bound(T) < trivial(T)
    low, high = 0, 1  # never below at `low`
    while not below(high):
        if high >= cap:
            return None
        low, high = high, min(2 * high, cap)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if below(middle) else (middle, high)
    return high
