"""Checks of theory: compare the bound of a statement with the observed quantity of a run."""

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
    source: str  # its place in the paper
    summary: str  # first line of the function's docstring
    function: Callable

    def check(self, formula: str, inputs: dict, *numbers: Any, kind=None, **more: Any) -> "Check":
        """Return a check of the statement on a run.

        Args:
            formula, inputs, numbers, more: the fields of ``Check`` after ``source``, in their order.
            kind: ``Check``, a subclass of it, or ``Expected.over_trials``.
        """
        return (kind or Check)(self.name, self.source, formula, inputs, *numbers, **more)


def statement(name: str, source: str = "") -> Callable[[Callable], Callable]:
    """Mark a function as the computation of a paper's statement.

    The function receives an attribute ``statement``. The companion builds the list of all statements from it.

    Examples:
        >>> from paperlib.checks import statement
        >>> @statement("Theorem 0", "Section 1")
        ... def bound(T):
        ...     '''Regret bound: R_T <= 2 sqrt(T).'''
        ...     return 2 * T**0.5
        >>> print(bound.statement.check("R_T <= 2 sqrt(T)", {"T": 100}, [12.0, 15.0], bound(100)))
        Theorem 0  holds  2 of 2, worst ratio 0.750
    """

    def mark(function: Callable) -> Callable:
        summary = (function.__doc__ or "").strip().split("\n")[0]
        function.statement = Statement(name, source, summary, function)
        return function

    return mark


@dataclass(frozen=True, eq=False, repr=False)
class Check:
    """Check of one statement on one run: ``observed <= bound``, entry by entry.

    A deterministic statement (``delta`` None) ``holds`` if the inequality holds in every entry; otherwise it ``fails``. A statement with
    failure probability ``delta`` must hold in all entries of a trial simultaneously. Its verdict follows from the
    Clopper-Pearson interval of the fraction of trials where it does:

    - ``holds``: the interval lies at or above 1 - delta;
    - ``fails``: the interval lies below 1 - delta;
    - ``inconclusive``: otherwise.

    Examples:
        >>> from paperlib.checks import Check
        >>> check = Check("Lemma 2", "Section 3", "||x|| <= 1", {}, observed=[0.5, 0.8], bound=1.0)
        >>> check.verdict, check.ratio
        ('holds', 0.8)
        >>> Check("Theorem 1", "Section 3", "R_T <= 9", {}, [4.0] * 50, 9.0, delta=0.01).verdict
        'inconclusive'
    """

    statement: str  # "Theorem 1"
    source: str  # the paper and the place in it
    formula: str  # the inequality, as text
    inputs: dict[str, Any]  # inputs of the bound
    observed: Any  # R x ... (trials lead), or a number
    bound: Any  # a number, or a value that broadcasts against ``observed``
    delta: float | None = None  # failure probability; None: deterministic
    tolerance: float = 1e-9  # tolerance for rounding, relative to |bound|
    trivial: float | None = None  # bound that holds without any theory, at this horizon
    # first round where the bound is below the trivial one; None: never
    informative_from: int | None = None
    remark: str = ""  # which condition of the statement is not met

    def __post_init__(self):
        observed = np.atleast_1d(np.asarray(self.observed, float))
        bound = np.broadcast_to(np.asarray(self.bound, float), observed.shape)
        object.__setattr__(self, "observed", observed)
        object.__setattr__(self, "bound", bound)
        if observed.size == 0:
            raise ValueError(
                f"{self.statement}: observed must contain at least one number, got an empty array"
            )
        if self.delta is not None and not 0 < self.delta < 1:
            raise ValueError(
                f"{self.statement}: delta must be None or above 0 and below 1, got {self.delta}"
            )

    @property
    def slack(self) -> np.ndarray:
        """bound - observed, entry by entry."""
        return self.bound - self.observed

    @property
    def ratio(self) -> float:
        """The largest observed / bound. Where the bound is at most 0, the ratio is 0 if the inequality holds, else infinite."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = self.observed / self.bound
        ends = np.where(self.held, 0.0, math.inf)
        return float(np.where(self.bound > 0, ratios, ends).max())

    @property
    def held(self) -> np.ndarray:
        """Boolean array: whether the inequality holds, entry by entry, up to rounding. For NaN it does not hold."""
        with np.errstate(invalid="ignore"):
            return self.observed <= self.bound + self.tolerance * np.abs(self.bound)

    @property
    def by_trial(self) -> np.ndarray:
        """Boolean array, R: whether the inequality holds in every entry of the trial."""
        return self.held.reshape(len(self.held), -1).all(1)

    @property
    def coverage(self) -> Interval:
        """Fraction of the trials where the inequality holds in every entry, with its Clopper-Pearson interval."""
        return proportion(int(self.by_trial.sum()), len(self.by_trial))

    @property
    def count(self) -> str:
        """Number of the entries in which the inequality holds, as text: "12 of 20"."""
        return f"{int(self.held.sum())} of {self.held.size}"

    @property
    def verdict(self) -> str:
        if self.delta is None:
            return "holds" if self.held.all() else "fails"
        share = self.coverage
        if share.low >= 1 - self.delta:
            return "holds"
        return "fails" if share.high < 1 - self.delta else "inconclusive"

    def __str__(self) -> str:
        """Return one short line with rounded numbers."""
        if self.delta is None:
            count = self.count
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
        """Return all fields in JSON types; the entries are summarized by their number, worst ratio and slack."""
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
    """Comparison of a bound with the observed quantity where the statement does not apply, so it neither holds nor fails."""

    @property
    def verdict(self) -> str:
        """Always "reported"."""
        return "reported"


class Vacuous(Check):
    """Check of a bound that no run of this size can violate, because it is nowhere below a bound that holds without the statement.

    Such a check does not count as "holds".
    """

    @property
    def verdict(self) -> str:
        """ "fails" if the bound is violated nevertheless, else "vacuous here"."""
        return "vacuous here" if super().verdict != "fails" else "fails"


class ByConstruction(Check):
    """Check of a bound whose constant was computed from the bounded quantity itself.

    Therefore only an error in that computation could violate it.
    """

    @property
    def verdict(self) -> str:
        """ "fails" if the bound is violated nevertheless, else "by construction"."""
        return "by construction" if super().verdict != "fails" else "fails"


@dataclass(frozen=True, eq=False, repr=False)
class Expected(Check):
    """Check of a bound on an expectation, which makes no statement about a single trial.

    ``observed`` is the upper one-sided confidence limit of a mean over trials, and ``lower`` is the lower one. The verdict is
    ``holds`` if the upper limit is at most the bound in every entry. It is ``fails`` if the lower limit is above the bound in
    some entry. Otherwise it is ``inconclusive``.

    Raises:
        ValueError: a missing lower limit, or one that is NaN.

    Examples:
        >>> from paperlib.checks import Expected
        >>> values = [1.0, 2.0, 1.5, 1.2]
        >>> Expected.over_trials("Theorem 1", "Section 3", "E[R_T] <= 9", {}, values, 9.0).verdict
        'holds'
    """

    lower: Any = None

    def __post_init__(self):
        super().__post_init__()
        # A NaN is never above a bound, so the check could never fail.
        if self.lower is None or np.isnan(np.asarray(self.lower, float)).any():
            raise ValueError(
                f"{self.statement}: lower must be numbers, which are lower limits of the mean, got {self.lower!r}"
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
        """Return the check for one value per trial, with t-limits of the mean, entry by entry.

        If the bounds differ between trials, the limits are for the mean of value / bound, in units of the mean bound.

        Args:
            values: R or R x ..., R at least 2.
            bound: above 0, broadcasts against ``values``.
            level: confidence level of each one-sided limit.
            more: other fields of ``Check``.

        Raises:
            ValueError: fewer than two trials, values that are not finite, or a bound that is not above 0.
        """
        values = np.asarray(values, float)
        bound, R = np.broadcast_to(np.asarray(bound, float), values.shape), len(values)
        if R < 2 or not np.isfinite(values).all():
            raise ValueError(
                f"{statement}: values must be finite values of at least two trials, got {R} trials with {int((~np.isfinite(values)).sum())} values that are not finite"
            )
        if not (bound > 0).all():
            raise ValueError(f"{statement}: bound must be positive, got {bound.min()}")
        scale, ratio = bound.mean(0), values / bound
        center = ratio.mean(0)
        # Each limit is one-sided, so the quantile is at `level` and not at (1 + level) / 2.
        half = stdtrit(R - 1, level) * ratio.std(0, ddof=1) / math.sqrt(R)
        middle = float(np.median(1 / center[center > 0])) if (center > 0).any() else math.inf
        inputs = inputs | {"trials": R, "level": level, "median bound / mean": middle}
        lower, upper = (center - half) * scale, (center + half) * scale
        return cls(statement, source, formula, inputs, upper, scale, lower=lower, **more)

    @property
    def verdict(self) -> str:
        """ "holds", "fails" or "inconclusive", by the confidence limits of the mean."""
        if self.held.all():
            return "holds"
        above = self.lower > self.bound + self.tolerance * np.abs(self.bound)
        return "fails" if above.any() else "inconclusive"


def change_kind(kind: type[Check], check: Check, **more: Any) -> Check:
    """Return the check as an instance of another class, with some fields changed."""
    kept = {field.name: getattr(check, field.name) for field in fields(Check)}
    return kind(**kept | more)


def vacuous_unless(informs: bool, check: Check) -> Check:
    """Return the check; if its bound is not informative anywhere, return it as ``Vacuous``.

    ``informs``: whether the bound is somewhere below the bound that holds without the statement.
    """
    return check if informs else change_kind(Vacuous, check)


def informative_from(
    bound: Callable[[int], float], trivial: Callable[[int], float], cap: int = 10**15
) -> int | None:
    """Return the first horizon T with ``bound(T) < trivial(T)``, or None if there is none up to ``cap``.

    The search doubles T and then bisects. The result is exact if the bound stays below the trivial one once it is below.

    Examples:
        >>> from paperlib.checks import informative_from
        >>> informative_from(lambda T: 10 * T**0.5, lambda T: T)
        101
    """
    below = lambda T: bound(T) < trivial(T)
    low, high = 0, 1  # the bound is never below the trivial one at `low`
    while not below(high):
        if high >= cap:
            return None
        low, high = high, min(2 * high, cap)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if below(middle) else (middle, high)
    return high
