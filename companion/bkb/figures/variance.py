"""Table and figures of the notebook on variance starvation."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from paperlib import stats
from paperlib.bkb.probes import WIDTH
from paperlib.core.trace import Trace

from ...figures.drawing import Drawing, legend, line_style, panels, style_context
from ..experiments.variance import ALPHA, BOOTSTRAP, FLOOR, worst_excess

RENAMED = {"GP-UCB": "exact", "BKB": "BKB, $\\bar q=5$", "SoR": "subset of regressors"}
BOTTOM = -4.3  # height of the ticks of the dictionary

Values = Mapping[
    str, Mapping[str, np.ndarray]
]  # learner -> statistic -> R x T', see ``AccuracyProbes.read``


def print_accuracy(values: Values, traces: Mapping[str, Trace], shown: Sequence[int]) -> None:
    """Print the size of the dictionary, the effective dimension and the range of the variance ratio of each BKB."""
    for name, trace in traces.items():
        v = values[name]
        for i, t in enumerate(shown):
            print(
                f"{name:6s} t {t:3d}: m {trace['dictionary'][:, i].mean():5.1f}, effective dimension {v['effective dimension'][:, i].mean():5.2f}; variance / exact variance {v['own least'][:, i].min():.3f} to {v['own most'][:, i].max():.3f}"
            )


def draw_figure_2(trace: Trace, shown: Sequence[int]) -> Drawing:
    """Draw BKB's posterior, the subset of regressors and the exact posterior of one draw after each number of rounds."""
    fig, axes = panels(len(shown), height=2.9, sharey=True)
    numbers = {}
    with style_context():
        for i, (ax, t) in enumerate(zip(axes[0], shown)):
            at = {name: series[0, i] for name, series in trace.series.items() if name != "regret"}
            numbers[f"t = {t}"] = _posteriors(ax, at)
            ax.set_title(f"({'abc'[i]}) t = {t}, m = {int((at['dictionary'] > 0).sum())}")
        axes[0, 0].set_ylabel("f(x)")
    legend(fig, columns=4)
    return Drawing(
        fig,
        trials=1,
        numbers={"x": at["x"], "f": at["f"]} | numbers,
        caption="Posterior of a function drawn from the Gaussian process, after t noisy evaluations in [0, 0.5]. The bands are three standard deviations wide on each side: BKB (oversampling 5), the subset of regressors with BKB's dictionary, and the exact posterior. The mean is BKB's, which is also the mean of the subset of regressors. Dots: evaluations, averaged at points with several; ticks: the dictionary. The bands are posterior bands of one draw, not intervals over trials. Outside the data only the band of the subset of regressors collapses.",
        alt="Three panels for 6, 63 and 215 evaluations on the left half of the axis. On this half all bands narrow around f as t grows. On the right half BKB's band is as wide as the exact band, drawn dashed, around a mean of zero. The band of the subset of regressors first widens and then shrinks to a line, and f lies outside it.",
    )


def _posteriors(ax: Axes, at: Mapping[str, np.ndarray]) -> dict:
    """Draw the three bands, f, the evaluations and the dictionary in one panel, and return the plotted numbers."""
    color = {name: line_style(name)["color"] for name in ("BKB", "SoR", "GP-UCB")}
    x, evaluated, stored = at["x"], ~np.isnan(at["evaluations"]), at["dictionary"] > 0
    band = lambda kind: [at[f"{kind} mean"] + sign * WIDTH * at[f"{kind} sd"] for sign in (-1, 1)]
    shade = {"color": color["BKB"], "alpha": 0.25, "linewidth": 0}
    ax.fill_between(x, *band("own"), **shade, label="BKB, three standard deviations")
    shade = {"color": color["SoR"], "alpha": 0.8, "linewidth": 0}
    ax.fill_between(x, *band("sor"), **shade, label="subset of regressors, same dictionary")
    for edge, label in zip(band("exact"), ("exact, three standard deviations", None)):
        ax.plot(x, edge, color=color["GP-UCB"], linestyle="--", linewidth=0.9, label=label)
    ax.plot(x, at["own mean"], color=color["BKB"], linewidth=1.4, label="mean")
    ax.plot(x, at["f"], color="black", linewidth=0.9, label="f")
    mean = at["evaluations"][evaluated]
    ax.plot(x[evaluated], mean, "o", color="black", markersize=1.8, label="evaluations")
    ticks = {"color": color["BKB"], "markersize": 5, "markeredgewidth": 0.7}
    ax.plot(x[stored], np.full(stored.sum(), BOTTOM), "|", **ticks, label="dictionary")
    ax.set(xlabel="x", xlim=(0, 1), ylim=(-4.6, 4.6))
    return {
        name: at[name] for name in ("own mean", "own sd", "exact mean", "exact sd", "sor sd")
    } | {
        "evaluations": {"x": x[evaluated], "mean": mean},
        "dictionary": x[stored],
    }


def draw_starvation(values: Values, qbars: Sequence[int], shown: Sequence[int]) -> Drawing:
    """Draw the coverage of f, the standard deviation without evaluations, and the worst variance ratio, over all draws."""
    draws = len(values["BKB"]["own coverage"])
    # A posterior is identified by the learner whose run recorded it and by the kind of its variance.
    posteriors = {
        "GP-UCB": (values["BKB"], "exact"),
        **{name: (found, "own") for name, found in values.items()},
        "SoR": (values["BKB"], "sor"),
    }
    sketched = dict(zip(qbars, values))  # the first learners are BKB, one per oversampling factor
    fig, axes = panels(3, height=2.7)
    with style_context():
        coverage, deviation, ratio = axes[0]
        numbers = {
            "coverage": _means(coverage, posteriors, "coverage", shown, bounds=(0, 1)),
            "sd": _means(deviation, posteriors, "sd", shown),
            "worst ratio minus 1": _ratios(ratio, values, sketched),
        }
        coverage.set(title="(a) coverage of f", ylim=(0.3, 1.04))
        deviation.set(title="(b) standard deviation on [0.65, 1]", ylim=(-0.04, 1.04))
        for ax in axes[0]:
            ax.set_xticks(range(len(shown)), shown)
            ax.set(xlabel="evaluations t", xlim=(-0.5, len(shown) - 0.5))
            ax.grid(visible=False, axis="x")
        ratio.set_xlabel("evaluations t (above: $\\bar q$)")
    legend(fig, columns=6 if len(posteriors) <= 6 else 4)
    return Drawing(
        fig,
        trials=draws,
        numbers=numbers,
        caption=f'Posteriors after t evaluations in [0, 0.5]. (a): fraction of [0, 1] in which f is within three standard deviations. (b): mean standard deviation on [0.65, 1]. Both are means over {draws} draws with 95 % bootstrap intervals; where all draws have the same coverage, the interval is exact. Random Fourier features (RFF, with their number) approximate the kernel and have no dictionary. The subset of regressors uses the dictionary of BKB with oversampling 5. (c): largest factor between BKB\'s variance and the exact variance in each draw, minus 1, with one column per oversampling factor (printed above it). Variances that are equal up to {FLOOR:g} are drawn at {FLOOR:g} (line "equal"), because rounding differs between processors. Dashed: the factor 3 of the claims. With oversampling 5, BKB has no variance starvation, and the other approximations underestimate the variance.',
        alt="(a): the exact posterior and BKB cover nearly all of f at all three times. The coverage of random Fourier features decreases with t, most with 20 of them. The coverage of the subset of regressors is low throughout. (b): the standard deviation of the exact posterior and of BKB is one. It decreases with t for the features and stays below 0.2 for the subset of regressors. (c): with oversampling 5 or more, all dots are far below the line at factor three.",
    )


def _means(
    ax: Axes,
    posteriors: Mapping[str, tuple[Mapping[str, np.ndarray], str]],
    part: str,
    shown: Sequence[int],
    bounds: tuple[float, float] | None = None,
) -> dict[str, dict]:
    """Draw the mean of a statistic over draws with its bootstrap interval for each posterior, and return the plotted numbers."""
    numbers = {}
    for j, (name, (values, kind)) in enumerate(posteriors.items()):
        samples = values[f"{kind} {part}"]
        found = [stats.bootstrap_mean(x, bounds=bounds, **BOOTSTRAP) for x in samples.T]
        mean, low, high = (
            np.array([getattr(x, end) for x in found]) for end in ("estimate", "low", "high")
        )
        where = np.arange(len(shown)) + 0.5 * (j / (len(posteriors) - 1) - 0.5)
        how = line_style(name)
        how |= {"linewidth": 0.9, "label": RENAMED.get(name, how["label"])}
        ax.errorbar(where, mean, [mean - low, high - mean], elinewidth=0.6, **how)
        numbers[name] = {"t": shown, "mean": mean, "low": low, "high": high, "n": len(samples)}
    return numbers


def _ratios(ax: Axes, values: Values, sketched: Mapping[int, str]) -> dict[str, np.ndarray]:
    """Draw the worst variance ratio of each draw minus 1, one column per oversampling factor and time, and return the ratios."""
    numbers = {name: worst_excess(values[name]) for name in sketched.values()}
    for j, (qbar, (name, excess)) in enumerate(zip(sketched, numbers.items())):
        draws, times = excess.shape
        column = 0.25 * (j - (len(sketched) - 1) / 2) + np.arange(times)
        beside = 0.16 * (np.arange(draws) / max(draws - 1, 1) - 0.5)[:, None]
        dots = {"marker": line_style(name)["marker"], "color": line_style("BKB")["color"]}
        ax.plot(
            (column + beside).ravel(),
            excess.ravel(),
            linestyle="none",
            markersize=2.2,
            alpha=0.6,
            **dots,
        )
        top = {"transform": ax.get_xaxis_transform(), "ha": "center", "va": "top", "fontsize": 6.5}
        for x in column:
            ax.text(x, 0.99, f"{qbar}", **top)
    ax.axhline(ALPHA - 1, color="black", linestyle="--", linewidth=0.8)
    right = {"textcoords": "offset points", "ha": "right", "fontsize": 7}
    ax.annotate(f"factor {ALPHA}", (times - 0.6, ALPHA - 1), (0, 3), **right)
    ax.set(title="(c) worst variance ratio, minus 1", yscale="log", ylim=(FLOOR / 2, 1e3))
    ax.set_yticks([FLOOR, 1e-4, 1e-2, 1, 100], ["equal", "$10^{-4}$", "0.01", "1", "100"])
    return numbers
