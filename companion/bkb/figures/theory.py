"""Tables and figures of the notebook that compares the theorems of BKB with runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes

from paperlib.bkb.model.confidence import Confidence
from paperlib.bkb.theory import constants as theory
from paperlib.checks import Check
from paperlib.core.text import format_number
from paperlib.core.trace import Trace

from ...figures.charts import dots_panel
from ...figures.drawing import Drawing, legend, line_style, panels, style_context
from ...styles import COLORS, Style
from ...verdicts import Erratum
from ..experiments.theory import RULES
from ..proofs.run_lemmas import Gain
from ..proofs.sketch_lemmas import Snapshot

LOOKS = {  # of the radius rules
    "paper": Style("purple", "v"),
    "corrected": Style("green", "s"),
    "online": Style("vermilion", "o"),
    "practical": Style("blue", "^"),
    "gamma": Style("gray", "D", label="worst case, from $\\gamma_t$"),
}

# ---- Tables ------------------------------------------------------------------------------------------------


def print_checks(title: str, checks: Sequence[Check]) -> None:
    """Print a title and one line per check: the statement, its verdict and the number of entries that hold."""
    print(title)
    for check in checks:
        if check.delta is None:
            print(f"    {check.statement}  {check.verdict}, {check.count}")
        else:
            print(f"    {check}")


def print_dictionaries(
    shots: Mapping[str, Sequence[Snapshot]], checks: Mapping[str, Sequence[Check]]
) -> None:
    """Print the checks of the statements about one dictionary, for each oversampling."""
    for name, flat in shots.items():
        partial = sum(int(((shot.n > 0) & ~shot.mask).sum()) > 0 for shot in flat)
        accurate = sum(shot.accuracy < 1 for shot in flat)
        print(
            f"{name}: {partial} of {len(flat)} dictionaries leave pulled arms out, {accurate} have accuracy e < 1"
        )
        for check in checks[name]:
            print(
                f"    {check.statement}  {check.verdict}, {check.count} in {check.inputs['dictionaries']} dictionaries"
            )
        adds = checks[name][0].inputs["jitter adds at most"]
        print(f"    the jitter changes a variance by at most {adds:.0e} times its value")


def print_theorem_3_1(
    checks: Sequence[Check], trace: Trace, confidence: Confidence, qbar: float
) -> None:
    """Print in how many rounds of each trial a pulled arm is left out, the worst variance ratio, and the checks of Theorem 3.1."""
    rounds = " ".join(str(int(x)) for x in (trace["left out"] > 0).sum(1))
    print(
        f"uneven arms, qbar = {format_number(qbar)}: rounds with a pulled arm left out, of {trace.rounds[-1]}: {rounds}"
    )
    worst = trace["ratio"][:, -1].max()
    print_checks(f"worst ratio of variances {worst:.4f}, alpha = {confidence.alpha:g}", checks)


def print_radii(trace: Trace, times: Sequence[int]) -> None:
    """Print the mean radius of each rule after these numbers of rounds."""
    print("\nmean radius after t rounds", *(f"{t:>8d}" for t in times))
    for rule in RULES:
        means = (float(trace[f"radius {rule}"][:, t].mean()) for t in times)
        print(f"{rule:26s}", *(f"{format_number(mean):>8s}" for mean in means))


def print_gains(gains: Sequence[Gain]) -> None:
    """Print the lower and upper bounds on gamma_T."""
    for gain in gains:
        print(f"T = {gain.horizon:5d}: {gain.lower:.2f} <= gamma_T <= {gain.upper:.2f}")


def print_regret_bounds(
    runs: Mapping[str, Trace],
    checks: Mapping[str, Sequence[Check]],
    confidence: Mapping[str, Confidence],
    times: Sequence[int],
) -> None:
    """Print the mean regret and the mean bounds of each radius rule after some rounds, then the checks of the bounds."""
    print(
        f"{'rule':10s} {'T':>5s} {'regret':>8s} {'certificate':>12s} {'corrected':>10s} {'printed':>9s} {'trivial':>8s}"
    )
    for rule, trace in runs.items():
        for i, T in enumerate(times):
            regret = trace.at(T).mean()
            means = (check.bound[:, i].mean() for check in checks[rule])
            trivial = theory.trivial_regret(confidence[rule], 1.0, T)
            cells = zip((regret, *means, trivial), (8, 12, 10, 9, 8))
            print(f"{rule:10s} {T:5d}", *(f"{format_number(x):>{width}s}" for x, width in cells))
    for found in checks.values():
        print(*found, sep="\n")


def print_informative_horizons(
    confidence: Mapping[str, Confidence],
    gamma: Callable[[int], float],
    uniform: Callable[[int], float],
    accuracies: Sequence[float] = (0.5, 0.1),
) -> None:
    """Print from which T on Theorem 4.1 is below the trivial bound, for the rules ``corrected`` and ``online``.

    Args:
        confidence: rule -> its radius.
        gamma: T -> bound on gamma_T.
        uniform: T -> effective dimension after uniform play.
        accuracies: values of eps.
    """
    for eps in accuracies:
        first = {
            rule: theory.informative_horizons(
                replace(confidence[rule], eps=eps), 1.0, gamma, uniform
            )
            for rule in ("corrected", "online")
        }
        corrected = ", ".join(
            f"with the radius rule {rule} from T = {format_number(horizons['corrected'])}"
            for rule, horizons in first.items()
        )
        print(
            f"known before a run, eps = {eps:g}: Theorem 4.1 corrected is below the trivial bound {corrected}, and Theorem 4.1 as printed from T = {format_number(first['online']['printed'])}"
        )


def print_errata(errata: Sequence[Erratum]) -> None:
    """Print each erratum with its place, how the package deals with it, and its numbers if there are any."""
    for erratum in errata:
        print(f"{erratum.id}  {erratum.where}: {erratum.problem}. Here: {erratum.resolution}.")
        if erratum.function:
            numbers = (f"{name} {format_number(x)}" for name, x in erratum.function().items())
            print("     " + ", ".join(numbers))


# ---- Figures -----------------------------------------------------------------------------------------------


def draw_confidence(trace: Trace, worst_case: Callable[[int], float], qbar: float) -> Drawing:
    """Draw the mean radius of each rule along one run, and the largest error of each trial relative to the interval.

    Args:
        trace: BKB's run with the probes ``rule_probes``.
        worst_case: t -> radius of exact GP-UCB from the bound on gamma_t.
        qbar: BKB's oversampling.
    """
    fig, axes = panels(2, height=2.7)
    left, right = axes[0]
    numbers = _radii(left, trace, worst_case)
    worst = {}
    for rule in RULES:
        errors = trace[f"error {rule}"][:, -1]
        worst[rule] = {rule: (np.median(errors), *np.quantile(errors, [0.05, 0.95]))}
    labels = {
        "title": "largest error of a trial",
        "xlabel": "error / half-width of the interval",
    }
    numbers["worst error"] = dots_panel(right, worst, LOOKS, line=1.0, **labels)
    legend(fig, columns=5)
    trials = len(trace.trials)
    return Drawing(
        fig,
        trials=trials,
        numbers=numbers,
        caption=f"BKB with qbar = {qbar:g} on the reference problem, {trials} trials. Left: mean confidence radius of each rule along the same run, against the round, and the radius of exact GP-UCB from the certified bound on gamma_t. Right: largest error of the mean over all arms and rounds, divided by the half-width of the confidence interval; dots: medians over trials; lines: 5th to 95th percentile. To the right of the vertical line f is outside the interval. All four rules cover f.",
        alt="Left: the radii grow slowly. The paper's radius ends highest, followed by the corrected one, the online one, the worst case from gamma and the practical one. Right: four dots are far to the left of the line at one; the dot of the practical rule is the closest to it.",
    )


def _radii(ax: Axes, trace: Trace, worst_case: Callable[[int], float]) -> dict[str, dict]:
    """Draw the mean radius of each rule and the radius of the worst case, and return the plotted numbers."""
    rounds = np.arange(1, trace.rounds[-1])
    values = {rule: trace[f"radius {rule}"][:, 1:].mean(0) for rule in RULES}
    values["gamma"] = np.array([worst_case(int(t)) for t in rounds])
    with style_context():
        for rule, look in LOOKS.items():
            how = {"color": COLORS[look.color], "linestyle": "--" if rule == "gamma" else "-"}
            ax.plot(rounds, values[rule], label=look.label or rule, **how)
        ax.set(title="confidence radius", xlabel="rounds", ylabel="$\\beta_t$")
        ax.set(xscale="log", ylim=(0, None))
        ax.margins(x=0)
    return {f"radius, {rule}": {"rounds": rounds, "mean": values[rule]} for rule in LOOKS}


def draw_bounds(
    runs: Mapping[str, Trace],
    checks: Mapping[str, Sequence[Check]],
    confidence: Mapping[str, Confidence],
    gamma: Callable[[int], float],
    uniform: Callable[[int], float],
    times: Sequence[int],
    qbar: float,
) -> Drawing:
    """Draw the regret of BKB with its certificate, and the formulas of Theorem 4.1 beyond the run, one panel per radius rule.

    Args:
        runs: rule -> trace.
        checks: rule -> ``check_theorem_4_1`` after ``times``.
        confidence: rule -> its radius.
        gamma: T -> bound on gamma_T.
        uniform: T -> effective dimension after uniform play.
        times: rounds of the bounds that a run computes from its numbers.
        qbar: BKB's oversampling.
    """
    horizons = np.unique(np.geomspace(10, 1e7, 48).astype(int))
    fig, axes = panels(len(runs), height=2.9, sharey=True)
    numbers = {}
    for ax, (rule, trace) in zip(axes[0], runs.items()):
        c, of_run = confidence[rule], checks[rule][1].bound.mean(0)
        formulas = {
            "Theorem 4.1 corrected, before the run": lambda T: theory.regret_worst(
                c, 1.0, T, gamma(T)
            ),
            "Theorem 4.1 as printed": lambda T: float(theory.regret_printed(c, 1.0, T, uniform(T))),
            "largest possible": lambda T: theory.trivial_regret(c, 1.0, T),
        }
        values = {
            name: np.array([formula(int(T)) for T in horizons])
            for name, formula in formulas.items()
        }
        _bounds(ax, trace, times, of_run, horizons, values)
        with style_context():
            ax.set(title=f"radius rule: {rule}", ylabel="regret" if ax is axes[0, 0] else "")
        at = [t - 1 for t in times]
        numbers[rule] = {
            "rounds": horizons,
            **values,
            "run": {
                "rounds": times,
                "regret": trace["regret"][:, at].mean(0),
                "certificate": trace["certificate"][:, at].mean(0),
                "corrected": of_run,
            },
        }
    legend(fig, columns=3)
    trace = next(iter(runs.values()))
    trials = len(trace.trials)
    return Drawing(
        fig,
        trials=trials,
        numbers=numbers,
        caption=f"Theorem 4.1 compared with runs on the reference problem, on log axes. Mean regret of BKB with qbar = {qbar:g} over {trials} trials up to {trace.rounds[-1]} rounds, the certificate of the same runs, and the formulas of the theorem beyond. Each panel uses the largest radius of its own rule. The printed bound is shown only for reference: its proof does not cover kappa^2 / lambda = 100, and we do not judge it above 1 (E11). A bound is informative where it is below the largest possible regret. The certificate becomes informative first.",
        alt="Two panels on log axes. The measured regret is the lowest line and bends away from the dotted line of the largest possible regret. The certificate starts above the dotted line and ends below it, and is always above the regret. The formulas of Theorem 4.1 are above the dotted line over the measured range and cross it further right; the corrected formula of the left panel crosses it last, beyond a million rounds. The squares of the run itself are below the corrected formula.",
    )


def _bounds(
    ax: Axes,
    trace: Trace,
    times: Sequence[int],
    of_run: np.ndarray,
    horizons: np.ndarray,
    values: Mapping[str, np.ndarray],
) -> None:
    """Draw regret, certificate and the bound of one run, and three formulas on a grid of horizons."""
    black = COLORS["black"]
    with style_context():
        how = {**line_style("BKB"), "marker": None, "label": "regret of BKB"}
        ax.plot(trace.rounds, trace["regret"].mean(0), **how)
        certificate = trace["certificate"].mean(0)
        ax.plot(trace.rounds, certificate, color=COLORS["blue"], label="certificate of the run")
        label = "Theorem 4.1 corrected, of the run"
        ax.plot(times, of_run, "s", color=black, markersize=3, label=label)
        for (label, value), line in zip(values.items(), ("-", "--", ":")):
            color = COLORS["gray"] if line == ":" else black
            ax.plot(horizons, value, color=color, linestyle=line, label=label)
        ax.set(xlabel="rounds", xscale="log", yscale="log")
        ax.margins(x=0)
