"""Figures and printed lines of ``notebooks/goucb_4_theory.ipynb``: checks along runs, size of the bounds, growth of regret, errata.

Letters: R trials, T rounds of Phase II, n rounds of Phase I. Runs are given as reference problem -> radius -> ``RecordedRun``.
"""

import math
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from paperlib import stats
from paperlib.checks import Check
from paperlib.core.text import format_number
from paperlib.core.trace import Trace
from paperlib.goucb.learners.goucb import GOUCB
from paperlib.goucb.problems.reference import Reference
from paperlib.goucb.theory import bounds, constants
from paperlib.goucb.theory.constants import Constants

from ...figures.charts import dots_panel
from ...figures.drawing import Drawing, legend, panels, style_context
from ...styles import COLORS, Style
from ...verdicts import Verdict
from ..experiments.theory import RecordedRun
from ..proofs import feasibility, printed

Runs = dict[str, dict[str, RecordedRun]]
Sizes = dict[str, tuple[int, int, int]]  # reference problem -> n, T, R

PROVED = "proved radius"
RADII = {
    PROVED: Style("blue", "o"),
    "beta = 1": Style("vermilion", "D", label="$\\beta = 1$"),
    "lambda = beta = 0.1": Style("green", "^", label="$\\lambda = \\beta = 0.1$"),
}
PROBLEMS = {"reference A": Style("blue", "o"), "reference B": Style("vermilion", "D")}
SLACK = (  # statements in the figure of ratios
    "Assumption 3.2",
    "Lemma B.3",
    "Lemma C.5",
    "Lemma C.6, printed",
    "Elliptical potential",
    "Lemma 5.3, Taylor",
    "Lemma 5.3",
    "Functional containment",
    "Lemma 5.4, printed",
    "Lemma 5.4",
    "Theorem 4.1, sum",
)
SETTINGS = {"A": ("reference A", "blue"), "f1": ("$f_1$, $d = 20$", "vermilion")}
GROWING = (("blue", "o"), ("vermilion", "D"), ("orange", "s"))  # styles of the growth of regret

# Statements along a run -------------------------------------------------------------------------------------


def check_statements(along: Runs) -> dict[str, list[Check]]:
    """Return all checks of the run with the proved radius, by reference problem."""
    held = {}
    for name, found in along.items():
        run = found[PROVED]
        parts = [*run.assumptions(), *run.first_phase(), run.ball(), *run.algorithm()]
        held[name] = [*parts, run.containment(), run.functional(), *run.regret_bounds()]
    return held


# The elliptical potential -----------------------------------------------------------------------------------


def check_potentials(along: Runs) -> dict[tuple[str, str], list[Check]]:
    """Return the bounds of sum u_t^2 by reference problem and radius: corrected, printed, and with the factor 2."""
    return {
        (name, what): [x for x in run.algorithm() if x.statement.startswith("Elliptical potential")]
        for name, found in along.items()
        for what, run in found.items()
    }


def _second_phase(run: RecordedRun) -> float:
    """Return the mean regret of Phase II."""
    return float(run.run.gaps.sum(1).mean())


def check_proved(
    trace: Trace, problem: Reference, learner: GOUCB, proof: constants.Proof
) -> list[Check]:
    """Return the checks of Lemma 5.3 on a run with lambda and beta_T as proved."""
    run = RecordedRun(trace, problem, learner)
    return [feasibility.localization(run.run, run.constants, proof), run.containment()]


def draw_coverage(
    along: Runs,
    held: dict[str, list[Check]],
    steps: dict[tuple[str, str], list[Check]],
    localized: dict[str, list[Check]],
    sizes: Sizes,
) -> Drawing:
    """Draw how often w* has been in all balls so far, and the slack of Lemma 5.4.

    Args:
        along: runs by reference problem and radius.
        held: see ``check_statements``.
        steps: see ``check_potentials``; those that fail are saved with the figure.
        localized: see ``check_proved``.
        sizes: sizes of the runs.
    """
    fig, axes = panels(3, height=2.6)
    inside = {
        name: _coverage_panel(ax, found, name, letter)
        for ax, letter, (name, found) in zip(axes[0], "ab", along.items())
    }
    axes[0, 0].set_ylabel("fraction of trials")
    slack = _slack_panel(axes[0, 2], held)
    legend(fig)
    lowest = "; ".join(f"{what} {format_number(float(x.min()))}" for what, x in slack.items())
    in_percent = lambda what: " and ".join(f"{100 * x[what][-1]:.0f}" for x in inside.values())
    phase_2 = "; ".join(
        f"{name} " + ", ".join(f"{_second_phase(run):.3g}" for run in found.values())
        for name, found in along.items()
    )
    trials = {name: R for name, (_, _, R) in sizes.items()}
    caption = f"(a, b) Fraction of the trials in which w* has been in all balls so far, against rounds, on references A ({trials['A']} trials) and B ({trials['B']} trials). Dotted: 1 - delta. The three radii are: the smallest that the proof of Lemma 5.3 gives for the run, computed from the known w* and with lambda = sqrt(T) (proved radius); beta = 1 with the same lambda; lambda = beta = 0.1. Mean regret of Phase II in this order: {phase_2}. (c) Bound of Lemma 5.4 minus regret, against rounds, with the proved radius, the smallest over trials: bound as printed (dashed) and with half the remainder (solid, erratum E12)."
    alt = f"Three panels. Left (A) and middle (B), fraction of trials against rounds: with the proved radius w* stays in all balls in {in_percent(PROVED)} % of the trials to the end, with beta = 1 in {in_percent('beta = 1')} %, with lambda = beta = 0.1 in {in_percent('lambda = beta = 0.1')} %. Right, on a logarithmic axis: the smallest slack of Lemma 5.4 by round; over all rounds {lowest}."
    numbers = {f"{name}, {what}": x for name, found in inside.items() for what, x in found.items()}
    numbers |= {f"{what}, least slack": x for what, x in slack.items()}
    failed = (found for found in steps.values() if any(x.verdict == "fails" for x in found))
    broken = [step for found in failed for step in found]
    checks = [*broken, *[check for found in localized.values() for check in found]]
    return Drawing(fig, caption, alt, trials, numbers, checks=checks)


def _coverage_panel(
    ax: Axes, found: dict[str, RecordedRun], name: str, letter: str
) -> dict[str, np.ndarray]:
    """Draw for each radius the fraction of trials in which w* has been in all balls so far, and return it."""
    numbers = {}
    with style_context():
        for what, run in found.items():
            inside = np.logical_and.accumulate(run.containment().held, axis=1).mean(0)
            how = {"color": COLORS[RADII[what].color]}
            if name == "A":
                how["label"] = RADII[what].label or what
            ax.plot(np.arange(1, len(inside) + 1), inside, **how)
            numbers[what] = inside
        ax.axhline(0.9, color=COLORS["black"], linewidth=0.7, linestyle=(0, (1, 2)), zorder=1)
        title = f"({letter}) $w^*$ in the balls, {name}"
        ax.set(title=title, xlabel="round $t$", ylim=(-0.04, 1.04))
    return numbers


def _slack_panel(ax: Axes, held: dict[str, list[Check]]) -> dict[str, np.ndarray]:
    """Draw the smallest slack of Lemma 5.4 over trials by round, as printed and corrected, and return it."""
    numbers = {}
    with style_context():
        for name, color in (("A", "black"), ("B", "purple")):
            checks = {check.statement: check for check in held[name]}
            for statement, linestyle, word in (
                ("Lemma 5.4", "-", "corrected"),
                ("Lemma 5.4, printed", "--", "printed"),
            ):
                slack = numbers[f"{name}, {statement}"] = checks[statement].slack.min(0)
                how = {"color": COLORS[color], "linestyle": linestyle, "label": f"{name}, {word}"}
                ax.plot(np.arange(1, len(slack) + 1), slack, **how)
        title, ylabel = "(c) slack of Lemma 5.4", "bound $- \\, r_t$"
        ax.set(title=title, xlabel="round $t$", ylabel=ylabel, yscale="log")
    return numbers


def draw_statements(held: dict[str, list[Check]], sizes: Sizes) -> Drawing:
    """Draw the largest ratio of the observed value to its bound for each statement of ``SLACK``, without vacuous bounds."""
    fig, axes = panels(1, height=3.0)
    drawn = {
        f"reference {name}": {
            statement: (check.ratio,) * 3
            for statement in SLACK
            for check in checks
            if check.statement == statement and check.verdict != "vacuous here"
        }
        for name, checks in held.items()
    }
    numbers = dots_panel(
        axes[0, 0],
        drawn,
        PROBLEMS,
        title="with the proved radius",
        xlabel="largest observed / bound",
        line=1.0,
        log_x=True,
    )
    with style_context():
        axes[0, 0].legend(loc="center left", bbox_to_anchor=(1.02, 0.5))
    tightest = {name: max(values, key=lambda s: values[s][0]) for name, values in drawn.items()}
    (_, T_a, R_a), (_, T_b, R_b) = sizes["A"], sizes["B"]
    caption = f"Statements along runs of Algorithm 1 on references A (T = {T_a}, {R_a} trials) and B (T = {T_b}, {R_b} trials). x-axis: the largest ratio of an observed value to its bound, over all rounds and trials. To the right of the line a statement is violated in some round. Lemma 5.3 and functional containment allow this in a fraction delta of the trials, and Lemma B.3 in a fraction delta / 2. Equalities and vacuous bounds are not drawn."
    words = "; ".join(
        f"the largest ratio on {name} is for {statement}, {drawn[name][statement][0]:.2f}"
        for name, statement in tightest.items()
    )
    alt = f"Dots on a logarithmic axis, one row per statement: {words}."
    trials = {name: R for name, (_, _, R) in sizes.items()}
    return Drawing(fig, caption, alt, trials, numbers, checks=held["A"])


# Size of the bounds -----------------------------------------------------------------------------------------


def print_bounds(settings: dict[str, Constants], zetas: dict[str, float]) -> None:
    """Print the constants, the sizes from which each bound is informative, and the sizes from which condition (8) holds.

    Args:
        settings: constants of reference A and of f1.
        zetas: largest eigenvalue of the Hessian at w*, or its bound.
    """
    for name, c in settings.items():
        print(
            f"{name}: dw {c.parameters}, F {c.value:.10f}, C_g {c.slope:.10f}, C_h {c.curvature:.10f}, mu {c.growth:.6g}"
        )
        print(
            f"    informative from: Lemma 5.1 n = {constants.risk_informs_from(c):.3g}, Theorem 5.2 n = {constants.start_informs_from(c):.3g}, Theorem 4.1 T = 10^{math.log10(constants.regret_informs_from(c)):.3f}"
        )
    for name, c in settings.items():
        first = {radius: printed.condition_from(c, zetas[name], radius) for radius in (0.5, 0.01)}
        words = (f"c = {radius:g} from T = 10^{math.log10(T):.3f}" for radius, T in first.items())
        print(
            f"{name}: condition (8) with 1 for its constant, zeta {zetas[name]:.5g}: {', '.join(words)}"
        )


def draw_vacuity(settings: dict[str, Constants]) -> Drawing:
    """Draw Theorem 4.1 against T and Lemma 5.1 against n, each divided by its trivial bound. ``settings``: see ``print_bounds``."""
    fig, axes = panels(2, height=2.5)
    left, right = axes[0]
    T, n = np.geomspace(1e2, 1e32, 91), np.geomspace(1, 1e10, 91)
    numbers = {"T": T, "n": n}
    with style_context():
        for name, c in settings.items():
            label, color = SETTINGS[name]
            ratio = np.array([constants.vacuity_ratio(c, x) for x in T])
            risk = np.array([constants.risk_bound(c, x) for x in n]) / constants.trivial_risk(c)
            left.plot(T, ratio, color=COLORS[color], label=label)
            right.plot(n, risk, color=COLORS[color])
            numbers |= {f"Theorem 4.1, {name}": ratio, f"Lemma 5.1, {name}": risk}
        left.set(title="(a) Theorem 4.1 over $2F(n + T)$", xlabel="$T$")
        left.set_ylabel("bound / trivial bound")
        right.set(title="(b) Lemma 5.1 over $4F^2$", xlabel="$n$")
        for ax in (left, right):
            ax.axhline(1.0, color=COLORS["black"], linewidth=0.8, zorder=1)
            ax.set(xscale="log", yscale="log")
    legend(fig)
    first = {name: constants.regret_informs_from(c) for name, c in settings.items()}
    risk_from = {name: constants.risk_informs_from(c) for name, c in settings.items()}
    caption = f"Bounds with every constant, divided by a trivial bound that holds without any theory, on logarithmic axes. Below 1 (horizontal line) a bound is informative. (a) Theorem 4.1 against T, with n = sqrt(T), lambda and beta_T of Lemma 5.3: informative from T = {first['A']:.2g} (reference A) and {first['f1']:.2g} (f1). (b) Lemma 5.1 against n: informative from n = {risk_from['A']} and {risk_from['f1']:.2g}."
    alt = f"Two panels of decreasing lines on logarithmic axes, each crossing 1. Left, reference A crosses at T = {first['A']:.1e} and f1 at {first['f1']:.1e}; right, at n = {risk_from['A']} and {risk_from['f1']:.1e}."
    numbers["informative from"] = {name: float(x) for name, x in first.items()}
    return Drawing(fig, caption, alt, trials=1, numbers=numbers)


# Growth of regret -------------------------------------------------------------------------------------------


class Growth(NamedTuple):
    """Regret of one setting at several horizons T."""

    regret: np.ndarray  # of both phases, R x horizons
    later: np.ndarray  # of Phase II, R x horizons
    slope: stats.Interval  # log-log slope of the regret of both phases
    check: Check | None  # of Remark 4.2 on Phase II; None if a mean regret is not positive


def measure_growth(traces: dict[int, Trace]) -> Growth:
    """Return the regret at each horizon, its slope, and the check of Remark 4.2 on Phase II. ``traces``: T -> trace."""
    horizons = [*traces]
    regret = np.stack([trace.last() for trace in traces.values()], 1)
    first = np.stack([x.at(constants.first_phase(T)) for T, x in traces.items()], 1)
    later = regret - first
    check = bounds.exponent(later, horizons) if (later.mean(0) > 0).all() else None
    return Growth(regret, later, stats.growth(horizons, regret, horizons[0]), check)


def draw_growth(
    growth: dict[str, Growth], horizons: list[int], trials: int, claims: list[Verdict]
) -> Drawing:
    """Draw the regret of both phases and the regret per round of Phase II against T.

    Args:
        growth: regret by setting, "A, exact oracle" first.
        horizons: values of T.
        trials: trials at each T.
        claims: verdicts on the claims.
    """
    fig, axes = panels(2, height=2.6)
    left, right = axes[0]
    first_phase = {
        name: float((1 - found.later.mean(0) / found.regret.mean(0)).min())
        for name, found in growth.items()
    }
    alone = [name for name, part in first_phase.items() if part > 0.99]
    only = f" ({', '.join(name[0] for name in alone)}: Phase I alone)" * bool(alone)
    numbers = {}
    with style_context():
        for (name, found), (color, marker) in zip(growth.items(), GROWING):
            how = {"color": COLORS[color], "marker": marker}
            means = _regret_line(left, found.regret, horizons, label=name, **how)
            per_round = found.later.mean(0) / horizons
            right.plot(horizons, per_round, **how)
            numbers[name] = {
                "mean": means,
                "slope": found.slope,
                "a round of Phase II": per_round,
            }
        _guides(left, growth["A, exact oracle"].regret.mean(0)[0], np.array(horizons))
        left.set(title="(a) both phases" + only, ylabel="regret", yscale="log")
        right.set(title="(b) Phase II", ylabel="mean regret per round", ylim=(-0.03, None))
        for ax in (left, right):
            ax.set(xlabel="$T$", xscale="log")
            ax.set_xticks(horizons, [str(T) for T in horizons])
            ax.xaxis.set_minor_locator(NullLocator())
    legend(fig)
    slopes = ", ".join(
        f"{name} {x.slope.estimate:.2f} [{x.slope.low:.2f}, {x.slope.high:.2f}]"
        for name, x in growth.items()
    )
    by_phase_1 = "".join(
        f"On {name}, at least {100 * first_phase[name]:.1f} % of the regret is from Phase I, which has n = sqrt(T) rounds. Its line therefore has the order sqrt(T) because of this choice of n. "
        for name in alone
    )
    at_ends = {name: found["a round of Phase II"][[0, -1]] for name, found in numbers.items()}
    ends = "; ".join(
        f"{name} {format_number(x)} and {format_number(y)}" for name, (x, y) in at_ends.items()
    )
    caption = f"(a) Mean regret of Phases I and II against T, with 95 % t-intervals over {trials} trials; n = sqrt(T), Algorithm 1's recursion with kappa = 0.2. Log-log slopes: {slopes}. Gray: lines of order sqrt(T) and T through the first point of A. {by_phase_1}(b) Mean regret per round of Phase II against T. At the smallest and the largest T: {ends}."
    alt = f"Two panels. Left, on logarithmic axes: increasing lines of regret against T, with gray lines of slope 1/2 and 1. Right: regret per round of Phase II against T; at the smallest and the largest T: {ends}."
    checks = [growth["B, exact oracle"].check]
    return Drawing(fig, caption, alt, trials, numbers | {"T": horizons}, claims, checks)


def _regret_line(ax: Axes, regret: np.ndarray, horizons: list[int], **how) -> list[stats.Interval]:
    """Draw the mean regret with 95 % t-intervals, and return the intervals."""
    means = [stats.mean(x) for x in regret.T]
    middle = np.array([x.estimate for x in means])
    ends = [middle - [x.low for x in means], [x.high for x in means] - middle]
    # The interval of a mean may reach below 0, which a logarithmic axis cannot show.
    ends[0] = np.minimum(ends[0], 0.9 * middle)
    ax.errorbar(horizons, middle, ends, capsize=1.5, elinewidth=0.6, **how)
    return means


def _guides(ax: Axes, start: float, horizons: np.ndarray) -> None:
    """Draw gray lines of order sqrt(T) and T from a common first point."""
    for power, linestyle, label in ((0.5, "--", "$\\sqrt{T}$"), (1.0, ":", "$T$")):
        guide = start * (horizons / horizons[0]) ** power
        ax.plot(horizons, guide, color=COLORS["gray"], linestyle=linestyle, label=label, zorder=1)
