"""Tables, a verdict and figures of the notebook on the size of the dictionary, its accuracy, and run time."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from paperlib import stats
from paperlib.bkb.model.confidence import Confidence
from paperlib.bkb.theory import constants as theory
from paperlib.core.trace import Trace

from ...figures.drawing import Drawing, legend, line_style, panels, style_context, trial_note
from ...store.seconds import Seconds
from ...study import Study
from ...styles import COLORS
from ...verdicts import Verdict
from ..experiments.dictionary import ALPHAS, EXACT, growth

# Unit of sampling -> its name in tables and titles.
SAMPLING = {"pulls": "sampling per pull", "arms": "sampling per arm", "kept": "incremental"}
# How exact GP-UCB is computed -> short name in the panels.
SHORT = {"GP-UCB, naive": "refitted", "GP-UCB": "rank one"}

Shares = Mapping[tuple[str, float], Mapping[str, Sequence[float]]]  # (unit, qbar) -> ``accuracy``
Crossovers = Mapping[str, Mapping[tuple[str, str], int | None]]  # see ``crossovers``


# ---- The size of the dictionary ----------------------------------------------------------------------------


def draw_dictionary_size(
    runs: Mapping[str, Mapping[str, Trace]],
    confidence: Mapping[str, Confidence],
    qbar: float,
    dense_arms: int,
) -> Drawing:
    """Draw the size of BKB's dictionary against the round, with the pulled arms, the effective dimension and two bounds.

    Args:
        runs: "1-d" and "smooth" -> "BKB" -> trace.
        confidence: "1-d" and "smooth" -> the radius rule, which contains lambda.
        qbar: BKB's oversampling.
        dense_arms: number of arms of the smooth problem.
    """
    fig, axes = panels(2, height=2.8)
    titles = {"1-d": "200 arms, BKB", "smooth": f"smooth, {dense_arms} arms, BKB"}
    numbers = {}
    with style_context():
        for ax, (key, title) in zip(axes[0], titles.items()):
            numbers[key] = _sizes(ax, runs[key]["BKB"], qbar, 1 / confidence[key].lam)
            ax.set(xlabel="rounds", ylabel="arms or pulls", title=title)
            ax.set(xscale="log", yscale="log")
            ax.margins(x=0)
    legend(fig, columns=6)
    trials = {key: len(runs[key]["BKB"].trials) for key in titles}
    return Drawing(
        fig,
        trials=trials,
        numbers=numbers,
        caption=f"Size of the dictionary (number of arms) against the round, on log axes, with qbar = {qbar:g}. Also shown: the number of pulled arms, qbar times the exact effective dimension, and two bounds on the number of pulls in the dictionary for eps = 1/2. These are the bound printed in Theorem 3.1 and the same bound without its factor 1 + kappa^2 / lambda. A bound above the line of t is vacuous. Curves: means; bands: pointwise 95 % t-intervals over {trial_note(trials)}. On the smooth function the dictionary grows far more slowly than the number of pulled arms.",
        alt="Two panels on log axes. On 200 arms the size of the dictionary stays a little below the number of pulled arms. On the smooth function the dictionary levels off while the number of pulled arms keeps growing. Both bounds are far above the dictionary.",
    )


def _sizes(ax: Axes, trace: Trace, qbar: float, kappa2_by_lam: float) -> dict:
    """Draw the sizes and the bounds on them in one panel, and return the plotted numbers."""
    found = {name: stats.band(trace[name]) for name in ("dictionary", "unique", "dimension")}
    dimension = found["dimension"].estimate
    printed = theory.size_printed(dimension, kappa2_by_lam, 1.0, qbar)
    lines = {  # label -> values, color, line style, line width
        "dictionary $m_t$": (found["dictionary"].estimate, "vermilion", "-", 2.0),
        "pulled arms $U_t$": (found["unique"].estimate, "blue", "-", 1.2),
        "$\\bar q\\, d_{eff}(t)$": (qbar * dimension, "green", "-", 1.2),
        "$3(\\alpha \\bar q\\, d_{eff} + 1)$": (
            theory.size_tight(dimension, qbar),
            "black",
            "--",
            1.0,
        ),
        "printed bound": (printed, "black", ":", 1.0),
        "rounds $t$": (trace.rounds, "gray", "-.", 0.8),
    }
    for label, (values, color, linestyle, width) in lines.items():
        how = {"color": COLORS[color], "linestyle": linestyle, "linewidth": width}
        ax.plot(trace.rounds, values, label=label, **how)
    for name, color in (("dictionary", "vermilion"), ("unique", "blue")):
        low, high = np.maximum(found[name].low, 0.5), found[name].high
        shade = {"color": COLORS[color], "alpha": 0.2, "linewidth": 0}
        ax.fill_between(trace.rounds, low, high, **shade)
    values = {label: values for label, (values, *_) in lines.items()}
    return {"rounds": trace.rounds, "n": found["dictionary"].n, **values}


def print_sizes(graded: Mapping[str, Trace]) -> None:
    """Print regret, effective dimension and size of the dictionary on the functions from smooth to rough, means over trials."""
    print("from smooth to rough, means over trials:")
    for name, trace in graded.items():
        m, d = trace.last("dictionary").mean(), trace.last("dimension").mean()
        print(
            f"{name:11s} R_T {trace.last().mean():5.1f}, effective dimension {d:5.1f}, m_T {m:5.1f}"
        )


def print_growth(trace: Trace, rounds: float) -> None:
    """Print the mean growth factors of the dictionary, the effective dimension and the pulled arms from a round on."""
    first = trace.rounds[np.searchsorted(trace.rounds, rounds)]
    dictionary, dimension, unique = (
        growth(trace, name, rounds).mean() for name in ("dictionary", "dimension", "unique")
    )
    print(
        f"    from round {first} on, mean growth factors: dictionary {dictionary:.2f}, effective dimension {dimension:.2f}, pulled arms {unique:.1f}"
    )


# ---- The accuracy of the variance --------------------------------------------------------------------------


def draw_variance_ratio(shares: Shares, horizon: int, trials: int) -> Drawing:
    """Draw one table per way of sampling with the fractions of rounds, and one with the fractions of trials."""
    fig, axes = panels(len(SAMPLING), 2, height=2.1, sharey=True)
    qbars = [*dict.fromkeys(qbar for _, qbar in shares)]
    with style_context():
        for row, unit in zip(axes, ("rounds", "trials")):
            for ax, (merge, name) in zip(row, SAMPLING.items()):
                table = np.array([shares[merge, qbar][unit] for qbar in qbars]).T
                _table(ax, table, qbars)
                ax.set(title=f"{unit}, {name}", xlabel="$\\bar q$")
    for row in axes:
        row[0].set_ylabel("within a factor of")
    return Drawing(
        fig,
        trials=trials,
        numbers={
            "alpha": ALPHAS,
            **{f"{merge}, qbar {qbar:g}": found for (merge, qbar), found in shares.items()},
        },
        caption=f"Accuracy of BKB's variance with a practical qbar. Each number is the fraction of rounds (upper row), or of trials in all of their {horizon} rounds (lower row), in which the worst ratio of approximate and exact variance over 200 arms is within the factor on the vertical axis; {trials} trials. The columns of panels are the three ways of sampling: per pull, per arm, and per pull with random numbers that are kept (incremental). Theorem 3.1 does not cover these values of qbar, and no theorem covers the incremental update. The fractions grow with qbar and reach 1 at qbar = 10.",
        alt="Six tables of fractions in shades of blue; oversampling increases to the right and the factor upward. The fractions increase from left to right and reach 1. With sampling per arm, and with the incremental update, they increase faster than with sampling per pull.",
    )


def _table(ax: Axes, table: np.ndarray, qbars: Sequence[float]) -> None:
    """Draw fractions in shades of blue; ``table``: factor x qbar."""
    ax.imshow(table, cmap="Blues", vmin=0, vmax=1.4, aspect="auto", origin="lower")
    for (i, j), share in np.ndenumerate(table):
        ax.text(j, i, _fraction(share), ha="center", va="center", fontsize=6.5, color="black")
    ax.set_xticks(range(len(qbars)), [f"{qbar:g}" for qbar in qbars])
    ax.set_yticks(range(len(ALPHAS)), [f"{alpha:g}" for alpha in ALPHAS])
    ax.grid(visible=False)


def _fraction(share: float) -> str:
    """Return a fraction with two digits, so that only the fractions 0 and 1 are written as 0 and 1."""
    if share in (0, 1):
        return f"{share:g}"
    return ">.99" if share > 0.995 else f"{share:.2f}".lstrip("0")


# ---- Run time per round ------------------------------------------------------------------------------------


def draw_cost_per_round(seconds: Seconds, crossed: Crossovers, naive_rounds: int) -> Drawing:
    """Draw the run time per round of each method, one panel per problem, with the rounds from which sketching saves time.

    Args:
        seconds: (learner, problem) -> seconds of each round of each trial.
        crossed: ``crossovers`` of these run times.
        naive_rounds: largest number of timed rounds of exact GP-UCB refitted to its history.
    """
    fig, axes = panels(len(crossed), height=3.0, sharey=True)
    numbers = {}
    for ax, (problem, found) in zip(axes[0], crossed.items()):
        numbers[problem] = _cost_per_round(ax, seconds, problem, found)
    trials = len(seconds["BKB", next(iter(crossed))])
    axes[0, 0].set_ylabel("run time per round (ms)")
    axes[0, 0].set_ylim(top=8 * axes[0, 0].get_ylim()[1])  # space for the text in the panels
    legend(fig, columns=5)
    return Drawing(
        fig,
        trials=trials,
        numbers=numbers,
        caption=f"Run time per round of one trial, in milliseconds, on a log axis, against the round. Points are means over bins of about a 25th of the rounds, and medians over {trials} trials, each timed once. White markers: from this round on, BKB or LazyBKB (edge color) needs less time in total than the exact method with the same marker (median over trials). The text in each panel gives the same rounds, and also the pairs without such a round. Exact GP-UCB refitted to its history is timed for at most its first {naive_rounds} rounds. There are no bands: the variation between trials is that of the machine and of the chosen arms. After the first rounds, exact GP-UCB refitted to its history is the slowest method.",
        alt="One panel per problem, with run times on a log axis. The curve of exact GP-UCB refitted to its history rises steeply. With rank-one updates on the unique arms, exact GP-UCB is among the fastest in the first rounds. BKB's curve levels off, and LazyBKB's curve falls far below it.",
    )


def _cost_per_round(
    ax: Axes, seconds: Seconds, problem: str, crossed: Mapping[tuple[str, str], int | None]
) -> dict:
    """Draw the run times on one problem and mark the crossovers, and return the plotted numbers."""
    width, curves = max(1, seconds["BKB", problem].shape[1] // 25), {}
    with style_context():
        for name in seconds.names(problem):
            middles, means = seconds.bins((name, problem), width, "mean")
            curves[name] = {"rounds": middles, "milliseconds": 1e3 * np.median(means, axis=0)}
            ax.plot(*curves[name].values(), markevery=3, **line_style(name))
        for (name, other), when in crossed.items():
            if when is not None:
                height = np.interp(when, *curves[name].values())
                ax.plot(
                    when,
                    height,
                    line_style(other)["marker"],
                    markersize=6,
                    markerfacecolor="white",
                    markeredgecolor=line_style(name)["color"],
                    zorder=6,
                )
        text = "\n".join(
            f"{name} is faster than: "
            + ", ".join(
                f"{SHORT[other]} " + ("never" if when is None else f"from {when}")
                for other in EXACT
                for when in [crossed[name, other]]
            )
            for name in dict.fromkeys(name for name, _ in crossed)
        )
        ax.text(0.02, 0.99, text, transform=ax.transAxes, va="top", fontsize=5.5)
        ax.set(title=problem, xlabel="rounds", yscale="log")
        ax.margins(x=0, y=0.12)
    return curves | {f"{name} below {other} from": when for (name, other), when in crossed.items()}


def judge_lazy(
    study: Study, ratios: Mapping[str, stats.Interval], problems: Sequence[str]
) -> Verdict:
    """Judge whether LazyBKB is the cheapest method in late rounds; without such rounds the claim is not run.

    Args:
        ratios: ``lazy_ratios`` of the problems.
        problems: names of the problems, which are printed with the verdict.
    """
    if not ratios:
        return study.not_run("bkb.C19.lazy", "no case has 50 rounds with t >= 7 M")
    return study.judge("bkb.C19.lazy", stats.largest(ratios), reason="; ".join(problems))


def print_lazy_ratios(ratios: Mapping[str, stats.Interval]) -> None:
    """Print the ratio of LazyBKB's run time to each other method's run time."""
    for name, found in ratios.items():
        print(f"       LazyBKB / {name}: {found.estimate:.3f} [{found.low:.3f}, {found.high:.3f}]")


# ---- Whole runs --------------------------------------------------------------------------------------------


def draw_scaling(total: Mapping[str, np.ndarray], scaled: Seconds, long_arms: int) -> Drawing:
    """Draw total run times against the number of rounds and of arms.

    Args:
        total: method -> seconds of each round of its longest run, 1 x T.
        scaled: (method, arms) -> seconds of each round.
        long_arms: number of arms of the longest runs.
    """
    fig, axes = panels(2, height=2.7)
    with style_context():
        rounds, arms = axes[0]
        _against_rounds(rounds, total)
        rounds.set_title(f"(a) {long_arms} arms")
        _against_arms(arms, scaled)
    legend(fig, columns=4)
    return Drawing(
        fig,
        trials=1,
        numbers={
            "seconds against rounds": {
                name: np.cumsum(found[0])[:: max(1, found.shape[1] // 100)]
                for name, found in total.items()
            },
            "seconds against arms": {
                str(size): {name: scaled[name, size].sum() for name in scaled.names(size)}
                for size in dict.fromkeys(size for _, size in scaled)
            },
        },
        caption="Run times on one thread: total run time in seconds of one trial on the smooth function, against the number of rounds (a; dashed: the rough function) and against the number of arms (b). Each was run once. LazyBKB has the shortest total run time on the smooth function in the longer runs.",
        alt="Two panels. (a): on the smooth function LazyBKB's run time ends below BKB's. Exact GP-UCB starts below both and rises more steeply. On the rough function LazyBKB is slow in the first rounds, in which it samples its dictionaries. (b): all run times rise with the number of arms.",
    )


def _against_rounds(ax: Axes, total: Mapping[str, np.ndarray]) -> None:
    """Draw the total run time of each method until a round."""
    for name, found in total.items():
        how = line_style(name.split(",")[0])
        if name.endswith("rough"):
            how |= {"linestyle": "--", "label": "LazyBKB, rough"}
        steps = np.unique(np.geomspace(10, found.shape[1], 40).astype(int))
        ax.plot(steps, np.cumsum(found[0])[steps - 1], markevery=6, **how)
    ax.set(xlabel="rounds", ylabel="total run time (s)", xscale="log", yscale="log")


def _against_arms(ax: Axes, scaled: Seconds) -> None:
    """Draw the total run time of each method against the number of arms."""
    for name in ("GP-UCB", "LazyBKB", "BKB"):
        sizes = [size for known, size in scaled if known == name]
        ax.plot(sizes, [scaled[name, size].sum() for size in sizes], **line_style(name))
    ends = np.log10([found.sum() for found in scaled.values()])
    rounds = next(iter(scaled.values())).shape[1]
    ax.set(title=f"(b) {rounds} rounds", xlabel="arms", ylabel="total run time (s)")
    ax.set(xscale="log", yscale="log", ylim=(10 ** np.floor(ends.min()), 10 ** np.ceil(ends.max())))
    ax.yaxis.set_minor_formatter(NullFormatter())
