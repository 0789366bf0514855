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

from ...figures.charts import bound_panel, dots_panel
from ...figures.drawing import Drawing, legend, panels, style_context
from ...figures.text import print_checks
from ...styles import COLORS, Style
from ..experiments.theory import RULES
from ..proofs.sketch_lemmas import Snapshot

LOOKS = {  # of the radius rules
    "paper": Style("purple", "v"),
    "corrected": Style("green", "s"),
    "online": Style("vermilion", "o"),
    "practical": Style("blue", "^"),
}

# ---- Tables ------------------------------------------------------------------------------------------------


def print_dictionaries(
    shots: Mapping[str, Sequence[Snapshot]], checks: Mapping[str, Sequence[Check]]
) -> None:
    """Print the checks of the statements about one dictionary, for each oversampling."""
    for name, flat in shots.items():
        partial = sum(int(((shot.n > 0) & ~shot.mask).sum()) > 0 for shot in flat)
        accurate = sum(shot.accuracy < 1 for shot in flat)
        title = f"{name}: {partial} of {len(flat)} dictionaries leave pulled arms out, {accurate} have accuracy e < 1"
        print_checks(title, checks[name])
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
    print(f"worst ratio of variances {worst:.4f}, alpha = {confidence.alpha:g}", *checks, sep="\n")


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


# ---- Figures -----------------------------------------------------------------------------------------------


def draw_confidence(trace: Trace, qbar: float) -> Drawing:
    """Draw the mean radius of each rule along one run, and the largest error of each trial relative to the interval.

    Args:
        trace: BKB's run with the probes ``rule_probes``.
        qbar: BKB's oversampling.
    """
    fig, axes = panels(2, height=2.7)
    left, right = axes[0]
    numbers = _radii(left, trace)
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
        caption=f"BKB with qbar = {qbar:g} on the reference problem, {trials} trials. Left: mean confidence radius of each rule along the same run, against the round. Right: largest error of the mean over all arms and rounds, divided by the half-width of the confidence interval; dots: medians over trials; lines: 5th to 95th percentile. To the right of the vertical line f is outside the interval. All four rules cover f.",
        alt="Left: the radii grow slowly. The paper's radius ends highest, followed by the corrected one, the online one and the practical one. Right: four dots are far to the left of the line at one; the dot of the practical rule is the closest to it.",
    )


def _radii(ax: Axes, trace: Trace) -> dict[str, dict]:
    """Draw the mean radius of each rule, and return the plotted numbers."""
    rounds = np.arange(1, trace.rounds[-1])
    values = {rule: trace[f"radius {rule}"][:, 1:].mean(0) for rule in LOOKS}
    with style_context():
        for rule, look in LOOKS.items():
            ax.plot(rounds, values[rule], label=rule, color=COLORS[look.color])
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
    fig, axes = panels(len(runs), height=2.9, sharey=True)
    numbers = {}
    for ax, (rule, trace) in zip(axes[0], runs.items()):
        c, of_run = confidence[rule], checks[rule][1].bound.mean(0)
        formulas = {
            "Theorem 4.1 corrected, before the run": lambda T: theory.regret_worst(
                c, 1.0, T, gamma(T)
            ),
            "Theorem 4.1 as printed": lambda T: theory.regret_printed(c, 1.0, T, uniform(T)),
        }
        trivial, title = lambda T: theory.trivial_regret(c, 1.0, T), f"radius rule: {rule}"
        numbers[rule] = bound_panel(ax, "BKB", trace, formulas, trivial, 1e7, title=title)
        certificate = trace["certificate"].mean(0)
        with style_context():
            blue = {"color": COLORS["blue"], "label": "certificate of the run"}
            ax.plot(trace.rounds, certificate, **blue)
            squares = {"markersize": 3, "label": "Theorem 4.1 corrected, of the run"}
            ax.plot(times, of_run, "s", color=COLORS["black"], **squares)
        at = [t - 1 for t in times]
        numbers[rule]["run"] = {
            "rounds": times,
            "regret": trace["regret"][:, at].mean(0),
            "certificate": certificate[at],
            "corrected": of_run,
        }
    axes[0, 1].set_ylabel("")
    legend(fig, columns=3)
    trace = next(iter(runs.values()))
    trials = len(trace.trials)
    return Drawing(
        fig,
        trials=trials,
        numbers=numbers,
        caption=f"Theorem 4.1 compared with runs on the reference problem, on log axes. Mean regret of BKB with qbar = {qbar:g} over {trials} trials up to {trace.rounds[-1]} rounds, the certificate of the same runs, and the formulas of the theorem, which continue beyond the vertical line at the end of the runs. Each panel uses the largest radius of its own rule. The printed bound is shown only for reference: its proof does not cover kappa^2 / lambda = 100, and we do not judge it above 1 (E11). A bound is informative where it is below the largest possible regret. The certificate becomes informative first.",
        alt="Two panels on log axes. The measured regret is the lowest line and bends away from the dotted line of the largest possible regret. The certificate starts at the dotted line, rises above it and ends below it, and is always above the regret. The formulas of Theorem 4.1 are above the dotted line up to the vertical line and cross it further right; the corrected formula of the left panel crosses it last, beyond a million rounds. The squares of the run itself are below the corrected formula.",
    )
