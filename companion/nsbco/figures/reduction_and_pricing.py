"""Figures, tables and verdicts of the notebook on the reduction of Lemma 4.1 and on dynamic pricing."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from paperlib import stats
from paperlib.core.text import format_number
from paperlib.core.trace import Trace
from paperlib.nsbco.theory.constants import TRIVIAL, first_horizon

from ...datasets.registry import checksum
from ...figures.charts import dots_panel
from ...figures.drawing import Drawing, legend, line_style, panels, style_context
from ...figures.text import interval_text
from ...study import Study
from ...styles import COLORS, Style
from ...verdicts import Verdict
from ..experiments.pricing import (
    KAPPAS,
    TABLE,
    TABLED,
    averaged,
    beats_doing_nothing,
    daily,
    drifts,
    levels,
    relative,
    tests_cost,
)
from ..experiments.reduction import ARMS, Outcome, grid, lemma_4_1, outcome
from ..experiments.theory import World
from ..problems.prices import CUSTOMERS
from ..proofs import reduction
from ..styles import STYLES

Held = dict[str, dict[str, Outcome]]  # problem instance -> statement -> outcome
INSTANCES = {  # problem instance: color, line style and label
    "stationary": ("blue", "-", "stationary"),
    "drift": ("green", "--", "$V_T = T^{-1/2}$"),
    "one change": ("orange", "-.", "one change"),
    "alternation": ("purple", ":", "a change every 64 rounds"),
}
ASIDE = {"textcoords": "offset points", "fontsize": 6.5}  # of a text next to a line


# ---- The reduction of Lemma 4.1 ----------------------------------------------------------------------------


def check_lemma(runs: Mapping[str, Trace], worlds: Mapping[str, World], horizon: int) -> Held:
    """Return the outcome of each statement of Lemma 4.1 on each problem instance."""
    held: Held = {}
    for name, trace in runs.items():
        checks = lemma_4_1(trace, worlds[name], horizon)
        held[name] = {what: outcome(check, grid(horizon)) for what, check in checks.items()}
    return held


def print_lemma(held: Held, worlds: Mapping[str, World]) -> None:
    """Print in how many trials and rounds each statement of Lemma 4.1 is violated."""
    for name, outcomes in held.items():
        world = worlds[name]
        print(f"{name}: V_T = {format_number(world.variation)}, {world.changes} changes")
        for what, found in outcomes.items():
            share = stats.proportion(found.broken, found.trials)
            regime = "" if found.regime == 1 else f", regime {100 * found.regime:.0f} % of rounds"
            print(
                f"    {what:18s} {found.verdict:12s} violated in {found.broken} of {found.trials} trials "
                f"[{format_number(share.low)}, {format_number(share.high)}], {100 * found.share:.1f} % of rounds{regime}; "
                f"largest observed / bound {found.ratio:.3f}"
            )


def judge_lemma(study: Study, outcomes: Mapping[str, Outcome]) -> list[Verdict]:
    """Judge property 2 on stationary functions with t in place of T, and report it as printed."""
    verdicts = []
    for id, what in (("C8.t", "with t"), ("C8.printed", "printed")):
        found = outcomes[what]
        interval = stats.proportion(found.broken, found.trials)
        reason = f"Clopper-Pearson [{format_number(interval.low)}, {format_number(interval.high)}]; largest ratio to the bound {found.ratio:.3f}"
        if what == "printed":
            reason += f", with our e {outcomes['printed rho, our e'].ratio:.3f}"
        share = found.broken / found.trials
        verdicts.append(study.judge(f"nsbco.{id}", share, n=found.trials, reason=reason))
    return verdicts


def print_bounds(horizon: int) -> None:
    """Print the bounds at the horizon of the runs, and the horizons from which they are informative."""
    rate, late = reduction.exp3_ix(ARMS, horizon), reduction.exp3_ix(ARMS, 1e5)
    rho = rate.rho(horizon)
    hat = reduction.TEST_1 * 6 * (np.log2(horizon) + 1) * rho
    rt, rho, hat = map(format_number, (float(rate.at(horizon)), rho, hat))
    print(
        f"T = {horizon}: r(T) {rt}, rho(T) {rho}, 9 rho-hat(T) {hat}; rewards differ by 2 at most"
    )
    first = reduction.first_below(ARMS).items()
    print("first T with a value below 2:", ", ".join(f"{x} {format_number(T)}" for x, T in first))
    begin = first_horizon(lambda t: float(late.at(t)), TRIVIAL)
    print(f"at T = 1e5 the bound on the regret is informative from round {np.ceil(begin):.0f} on")


def draw_reduction(held: Held, horizon: int) -> Drawing:
    """Draw how tight both versions of property 2 are.

    Args:
        held: result of ``check_lemma``.
        horizon: T of the runs.
    """
    fig, axes = panels(2, height=2.7)
    numbers = _tightness(*axes[0], held, horizon)
    legend(fig)
    trials = next(iter(held.values()))["printed"].trials
    largest = lambda what: max(outcomes[what].ratio for outcomes in held.values())
    first = format_number(reduction.first_below(ARMS)["9 rho-hat"])
    return Drawing(
        fig,
        trials=trials,
        numbers=numbers,
        checks=[found.line for outcomes in held.values() for found in outcomes.values()],
        caption=f"Lemma 4.1 applied to EXP3-IX on five points, T = {horizon}. Ratio of observed value to bound against rounds, largest over {trials} trials. (a) With the corrected constants: property 2 (upper lines), and the regret of the policy (lower, thin lines). (b) Property 2 with the printed rate and the printed e, in the rounds where it is stated: a ratio above 1 is a violation. The largest ratio is {largest('printed'):.3f}. With t in place of the printed T it is {largest('with t'):.3f}. A window's mean exceeds U_t by at most 2, so Test 1 cannot trigger before T = {first}.",
        alt=f"Two line plots. In the first, four lines stay below 1, the highest at {largest('property 2'):.2f}; four thinner lines are far below. In the second, lines are close to 1, the highest at {largest('printed'):.3f}; the line of the instance that changes every 64 rounds ends early.",
    )


def _tightness(left: Axes, right: Axes, held: Held, horizon: int) -> dict[str, Any]:
    """Draw the largest ratio of observed value to bound in each round, corrected and as printed."""
    rounds = grid(horizon)
    numbers: dict[str, Any] = {"rounds": rounds}
    with style_context():
        for name, (color, dashes, label) in INSTANCES.items():
            how = {"color": COLORS[color], "linestyle": dashes, "label": label}
            unnamed = how | {"label": None}
            # The statistic is not shown, because it differs from its formula by rounding alone.
            shown = ("property 2", "regret bound", "printed")
            lines = numbers[name] = {what: held[name][what].worst for what in shown}
            left.plot(rounds, lines["property 2"], **how)
            left.plot(rounds, lines["regret bound"], **unnamed | {"linewidth": 0.6})
            inside = lines["printed"] > 0  # the regime
            right.plot(rounds[inside], lines["printed"][inside], **unnamed)
        left.annotate("property 2", (1, 0.3), (2, 0), **ASIDE)
        left.annotate("regret of the policy", (1, 0.022), (2, 0), **ASIDE)
        for ax, words in ((left, "(a) corrected"), (right, "(b) as printed")):
            ax.axhline(1, color=COLORS["black"], linewidth=0.8, zorder=1)
            ax.set(title=f"{words}: observed / bound", xlabel="round $t$", xscale="log")
            ax.xaxis.set_minor_formatter(NullFormatter())
        left.set(yscale="log", ylim=(2e-3, 1.5), ylabel="largest over trials")
        right.set(ylim=(0.88, 1.06))
    return numbers


# ---- Pricing with the drift of Google's series -------------------------------------------------------------


def _by_regret(traces: Mapping[str, Trace]) -> list[str]:
    """Return the learners by increasing mean regret."""
    return sorted(traces, key=lambda name: traces[name].last().mean())


def print_regret(traces: Mapping[str, Trace]) -> None:
    """Print each learner's mean regret, its comparison with the static baseline, and the mean number of restarts."""
    print(f"\n{'':22s} regret  / static baseline      below it in % of trials     restarts")
    for name in _by_regret(traces):
        less = beats_doing_nothing(traces, name)
        share = f"{100 * less.estimate:.1f} [{100 * less.low:.1f}, {100 * less.high:.1f}]"
        restarts = traces[name].final.get("report.restarts", np.zeros(1)).mean()
        row = f"{name:22s} {traces[name].last().mean():6.0f}  {interval_text(relative(traces, name)):22s} {share:26s}"
        print(f"{row} {restarts:9.1f}" if restarts else row.rstrip())


def print_google(days: int) -> None:
    """Print the drift of Google's series, and the intervals of the oracles' restarts."""
    (V,), (changes,) = drifts("google", days, [0])
    rounds = CUSTOMERS * days
    print(f"{days} days, T = {rounds}, V_T = {V:.4f}, {changes} changes")
    interval = lambda kappa: int(np.ceil((rounds / (kappa * V)) ** (2 / 3)))
    each = ", ".join(f"{interval(k)} rounds ({k:g} V_T)" for k in sorted((*KAPPAS, 1.0)))
    print(f"oracle restarts after {each}")


def draw_google(traces: Mapping[str, Trace], days: int) -> Drawing:
    """Draw prices of one trial, and the ratio of regret to the static baseline's, on Google's series."""
    (V,), (changes,) = drifts("google", days, [0])
    width = max(1, days // 60)  # days that a price is averaged over
    fig, axes = panels(2, height=3.0)
    left, right = axes[0]
    numbers = _prices_panel(left, traces, days, width)
    numbers["over static baseline"] = _ratios_panel(right, traces)
    legend(fig, columns=4)
    return Drawing(
        fig,
        trials=len(traces["MASTER"].trials),
        numbers=numbers,
        caption=f"Pricing on the first {days} days of Google's series, V_T = {V:.3g}, {changes} changes, {CUSTOMERS * days} customers; only the drift of the best price is real. (a) The best price against the day, and the prices of two rules in one trial, averaged over {'one day' if width == 1 else f'{width} days'}. (b) Ratio of total regret to the static baseline's, with 95 % bootstrap intervals over {len(traces['MASTER'].trials)} trials.",
        alt="Left: line plot of the fluctuating best price, with the prices of Kiefer-Wolfowitz with constant gain and of MASTER. Right: dot plot of the ratio by rule, sorted by regret; a vertical line marks the static baseline.",
    )


def _prices_panel(ax: Axes, traces: Mapping[str, Trace], days: int, width: int) -> dict[str, Any]:
    """Draw the best price, and the prices of two learners in one trial as means over ``width`` days."""
    day, best = np.arange(1, days + 1), 1 + levels("google", days, [0])[0] / 2
    numbers: dict[str, Any] = {"day": day, "best price": best}
    with style_context():
        ax.plot(day, best, color=COLORS["black"], linewidth=1.2, label="best price", zorder=4)
        for name in ("MASTER", "KWtrack"):
            middles, x = averaged(daily(traces[name], "x"), width)
            how = line_style(name) | {"marker": None, "linewidth": 0.8, "zorder": 3}
            ax.plot(middles, 1 + x / 2, **how)
            numbers[f"price, {name}"] = {"day": middles, "mean": 1 + x / 2}
        ax.axhline(1.0, **line_style("static baseline") | {"marker": None, "label": None})
        ax.set(title="(a) prices, one trial", xlabel="day", ylabel="price")
        ax.margins(x=0)
    return numbers


def _ratios_panel(ax: Axes, traces: Mapping[str, Trace]) -> dict[str, dict]:
    """Draw the ratio of total regret to the static baseline's, one row per learner, sorted by regret."""
    called = lambda name: (STYLES[name].label or name) if name in STYLES else _oracle_label(name)
    rows = [name for name in _by_regret(traces) if name != "static baseline"]
    found = {name: {called(name): relative(traces, name)[:3]} for name in rows}
    looks = {name: STYLES.get(name, Style("black", "s")) for name in rows}
    how = {"title": "(b) over static baseline", "xlabel": "ratio of regret", "line": 1.0}
    numbers = dots_panel(ax, found, looks, log_x=True, **how)
    ax.tick_params(axis="y", labelsize=6.5)
    ax.set_xticks([0.2, 0.5, 1, 2, 5], ["0.2", "0.5", "1", "2", "5"])
    ax.set_xlim(0.15, 6)
    ax.xaxis.set_minor_formatter(NullFormatter())
    for line in ax.get_lines():  # the row labels already name them
        line.set_label("_")
    return numbers


def _oracle_label(name: str) -> str:
    """Return the label of an oracle that is given a multiple of V_T."""
    return name.replace("V_T", "$V_T$")


# ---- Pricing on the table of stocks ------------------------------------------------------------------------


def print_stocks(count: int, days: int) -> None:
    """Print the drift of the stocks."""
    V, moves = drifts(TABLE, days, range(count))
    low, middle, high = map(format_number, np.quantile(V, (0.05, 0.5, 0.95)))
    print(
        f"{count} series of {days} days, T = {CUSTOMERS * days}; V_T {middle} (5 % {low}, 95 % {high}); changes {int(moves.min())} to {int(moves.max())}"
    )


def judge_stocks(study: Study, traces: Mapping[str, Trace], lacking: str) -> list[Verdict]:
    """Judge the claims on the stocks, or store that they were not tested because the table is not available."""
    if lacking:
        return [study.not_run(f"nsbco.{id}", lacking) for id in ("N7", "N8")]
    return [
        study.judge("nsbco.N7", beats_doing_nothing(traces, "KWtrack")),
        study.judge("nsbco.N8", tests_cost(traces)),
    ]


def draw_stocks(traces: Mapping[str, Trace], days: int, lacking: str) -> Drawing:
    """Draw best prices, ratios of regret, and the effect of MASTER's tests on the stocks; empty panels without the table."""
    fig, axes = panels(3, height=2.7)
    left, middle, right = axes[0]
    if lacking:
        return _no_stocks(fig, axes[0], lacking)
    count, cost = len(traces["MASTER"].trials), tests_cost(traces)
    V, moves = drifts(TABLE, days, range(count))
    shown = min(count, 40)
    _best_prices(left, days, shown)
    numbers = _distributions(middle, traces)
    gained = traces["MASTER"].last() - traces["MALG"].last()
    red = {"color": COLORS["vermilion"]}
    with style_context():
        right.plot(V, gained, "o", markersize=2, alpha=0.5, **red)
        right.axhline(0, color=COLORS["black"], linewidth=0.8, zorder=1)
        right.axhspan(cost.low, cost.high, alpha=0.25, linewidth=0, **red)
        right.set(title="(c) MASTER minus MALG", xlabel="$V_T$ of the series", ylabel="regret")
    legend(fig, columns=3)
    return Drawing(
        fig,
        trials=count,
        data_checksum=checksum(TABLE),
        numbers=numbers | {"V_T": V, "MASTER - MALG": gained, "mean": cost},
        caption=f"Pricing on {count} stocks of the S&P 500, one per trial, {days} days and {CUSTOMERS * days} customers each; only the drift of the best price is real. Median V_T {format_number(np.quantile(V, 0.5))}, {int(moves.min())} to {int(moves.max())} changes. (a) Best prices of the first {shown} series against the day, one of them in black. (b) Distribution over series of the ratio of regret to the static baseline's (dotted). (c) Regret of MASTER minus regret of MALG, its schedule without tests, against V_T, one point per series. Band: 95 % t-interval of the mean, {interval_text(cost)}.",
        alt="Left: line plot of best prices that fluctuate between 0.75 and 1.25. Middle: step curves of the fraction of series with at most a given ratio of regret to the static baseline's. Right: a scatter plot of the difference in regret between MASTER and its schedule without tests against the variation, one point per series, with a band for the mean.",
    )


def _no_stocks(fig: Any, axes: Sequence[Axes], lacking: str) -> Drawing:
    """Return empty panels with the reason why the table of stocks is not available."""
    for ax in axes:
        ax.set_axis_off()
    with style_context():
        place = {"ha": "center", "transform": axes[1].transAxes}
        axes[1].text(0.5, 0.5, f"skipped: {lacking}", **place)
    return Drawing(fig, f"Skipped: {lacking}.", f"Empty panels: {lacking}.", trials=0, numbers={})


def _best_prices(ax: Axes, days: int, count: int) -> None:
    """Draw the best prices of the first ``count`` series, the first one in black."""
    day, price = np.arange(1, days + 1), 1 + levels(TABLE, days, range(count)) / 2
    with style_context():
        ax.plot(day, price.T, color=COLORS["gray"], linewidth=0.3, alpha=0.6)
        ax.plot(day, price[0], color=COLORS["black"], linewidth=1.0)
        ax.set(title=f"(a) best prices, {count} series", xlabel="day", ylabel="price")
        ax.margins(x=0)


def _distributions(ax: Axes, traces: Mapping[str, Trace]) -> dict[str, dict]:
    """Draw the distribution over series of the ratio of regret to the static baseline's, and return it."""
    idle, numbers = traces["static baseline"].last(), {}
    share = np.arange(1, len(idle) + 1) / len(idle)
    with style_context():
        for name in TABLED:
            if name != "static baseline":
                ratio = np.sort(traces[name].last() / idle)
                ax.step(ratio, share, where="post", **line_style(name) | {"marker": None})
                numbers[name] = {"regret / static baseline": ratio, "share": share}
        ax.axvline(1, color=COLORS["gray"], linewidth=0.8, linestyle=":", zorder=1)
        ax.set(title="(b) regret over static baseline", xlabel="ratio of regret", xscale="log")
        ax.set(ylabel="fraction of series", ylim=(0, 1.01))
        ax.set_xticks([0.1, 0.2, 0.5, 1, 2, 5, 10], ["0.1", "0.2", "0.5", "1", "2", "5", "10"])
        ax.xaxis.set_minor_formatter(NullFormatter())
        every = np.concatenate([found["regret / static baseline"] for found in numbers.values()])
        ax.set_xlim(min(0.5, 0.8 * every.min()), max(2, 1.25 * every.max()))
    return numbers
