"""Figures and sentences of the tour, ``notebooks/00_tour.ipynb``."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from paperlib import stats
from paperlib.checks import Check
from paperlib.core.text import format_number
from paperlib.core.trace import Trace
from paperlib.stats import Interval

from . import verdicts
from .figures import charts
from .figures.drawing import (
    Drawing,
    band_note,
    line_style,
    panels,
    registered_styles,
    regret_panel,
    style_context,
)
from .styles import COLORS

CLAIM = "glbomd.C2.S3"  # the claim of the section on claims
TEMPERATURES = np.linspace(100, 300, 201)  # of the oven, as plotted
STAR = {"marker": "*", "color": COLORS["black"], "linestyle": "none", "markersize": 7}
CONTROLS = {"uniform": "uniform play", "PF, sham": "PF with sign-flipped feedback"}


# ---- Five problems -----------------------------------------------------------------------------------------


def draw_five_problems(
    *, shop: Sequence, sensor: Sequence, mixture: Sequence, seller: Sequence, oven: Sequence
) -> Drawing:
    """Draw one run on each of the five toy problems.

    Args:
        shop: the arguments of ``draw_banners`` and ``draw_preferences``: learner, banners, preferences, counts, states.
        sensor, mixture, seller, oven: see ``draw_sensor`` and its neighbors.
    """
    learner, banners, liked, shown, states = shop
    fig, axes = panels(3, 2, height=2.35)
    (banner_ax, set_ax, sensor_ax), (mixture_ax, price_ax, oven_ax) = axes
    with style_context():
        draw_banners(banner_ax, banners, liked, shown)
        draw_preferences(set_ax, learner, liked, states)
        readings, temperatures = draw_sensor(sensor_ax, *sensor)
        tried, centers = draw_mixture(mixture_ax, *mixture)
        prices, restarts = draw_prices(price_ax, *seller)
        baked = draw_oven(oven_ax, *oven)
    numbers = {"shown": shown, "rounds": [*states], "sensor": temperatures}
    numbers |= {"baked": baked, "center": centers[-1], "restarts": restarts}
    return Drawing(
        fig,
        caption=f"One run of a learner on each of five toy problems; black shows the truth, which the learner does not know. (a) GLB-OMD shows banners to {sum(shown)} visitors; larger dots were shown more often. (b) Its confidence sets for the visitors' preferences after three numbers of visitors, with the estimates. (c) BKB reads a sensor {len(readings)} times; band: two posterior standard deviations to both sides of the estimate. (d) PF evaluates {len(tried)} mixtures; its estimate of the best mixture moves along the line. (e) GLR sets {len(prices)} prices. (f) GO-UCB bakes {len(baked)} times, at first at {oven[2]} random temperatures.",
        alt="Six panels. (a) Six dots on a circle; the dot in the direction of the true preferences is the largest. (b) Three ellipses around three estimates; the last one is the smallest, and all contain the true preferences. (c) A curve with two peaks and an estimate close to it; the band is narrowest at the higher peak, where most readings were taken. (d) A triangle with evaluated points, and a path of estimates that ends near the best mixture. (e) Prices that follow a best price with two jumps. (f) A bell-shaped curve and the bakes. The random ones are spread over all temperatures, and most of the proposed ones are near the maximum.",
        trials=1,
        numbers=numbers,
    )


def draw_banners(ax: Axes, banners: np.ndarray, liked: np.ndarray, shown: np.ndarray) -> None:
    """Draw each banner as a dot whose area grows with the number of visitors who saw it."""
    ax.scatter(*banners.T, s=4 + 300 * shown / shown.sum(), color=color("GLB-OMD"), zorder=2)
    tip = 0.8 * liked / np.linalg.norm(liked)
    ax.annotate("", tip, (0, 0), arrowprops={"arrowstyle": "->", "color": COLORS["black"]})
    ax.annotate("features that\nvisitors like", (0.03, -0.08), va="top", fontsize=7)
    ax.set(title="(a) banners; larger: shown more often", aspect="equal")
    ax.set(xlabel="first feature", ylabel="second feature", xlim=(-1.3, 1.3), ylim=(-1.3, 1.3))
    ax.set(xticks=(-1, 0, 1), yticks=(-1, 0, 1))


def draw_preferences(ax: Axes, learner: Any, liked: np.ndarray, states: Mapping[int, Any]) -> None:
    """Draw the confidence set of each state, an ellipse around the estimate of the visitors' preferences."""
    turn = np.linspace(0, 2 * np.pi, 200)
    circle = np.stack([np.cos(turn), np.sin(turn)])
    for (t, state), shade in zip(states.items(), ("#f3c6a5", "#e58a4f", color("GLB-OMD"))):
        center, precision = state.theta[0].numpy(), state.precision[0].numpy()
        radius = learner.radius(t + 1, 2)  # the edge has ||edge - center||_H = radius
        edge = center[:, None] + radius * np.linalg.solve(np.linalg.cholesky(precision).T, circle)
        ax.plot(*edge, color=shade, label=f"{t} visitors")
        ax.plot(*center, "o", color=shade)
    ax.plot(*liked, **STAR, label="truth")
    ax.set(title="(b) plausible preferences", aspect="equal", xlim=(-8, 8), ylim=(-9, 7))
    ax.set(xlabel="weight of first feature", ylabel="weight of second", xticks=(-5, 0, 5))
    ax.set_yticks((-5, 0, 5))
    ax.legend(loc="lower center", ncols=2, handlelength=1.0, columnspacing=0.8, labelspacing=0.2)


def draw_sensor(
    ax: Axes, rod: np.ndarray, heat: np.ndarray, read: Sequence[int], posterior: tuple
) -> tuple[Sequence[int], dict]:
    """Draw the temperature along the rod, its estimate and the readings; return the readings and the estimate."""
    mean, deviation = posterior
    own = {"color": color("BKB")}
    ax.plot(rod[:, 0], heat, color=COLORS["black"], label="temperature")
    ax.plot(rod[:, 0], mean, **own, linestyle="--", label="estimate")
    low, high = mean - 2 * deviation, mean + 2 * deviation
    ax.fill_between(rod[:, 0], low, high, **own, alpha=0.2, linewidth=0)
    ax.plot(rod[read, 0], np.full(len(read), -0.42), "|", **own, markersize=6, alpha=0.6)
    ax.set(title="(c) temperature; ticks: readings", xlabel="position", ylim=(-0.55, 1.75))
    ax.legend(loc="upper left", ncols=2, handlelength=1.6, columnspacing=1)
    return read, {"mean": mean, "deviation": deviation}


def draw_mixture(
    ax: Axes, right: np.ndarray, tried: np.ndarray, centers: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Draw the evaluated mixtures and the path of the learner's estimates; return both."""
    own = {"color": color("PF"), "markersize": 3}
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    ax.plot(*corners.T, color=COLORS["black"], linewidth=0.8)
    ax.plot(*tried.T, ".", **own | {"markersize": 2}, alpha=0.3, label="tried")
    ax.plot(*centers.T, "-o", **own, label="estimates of the best")
    ax.plot(*right, **STAR, label="best")
    ax.set(title="(d) mixtures of three ingredients", aspect="equal")
    ax.set(xlabel="fraction of the first", ylabel="fraction of the second")
    ax.legend(loc="upper right", handlelength=1.2, labelspacing=0.2)
    return tried, centers


def draw_prices(
    ax: Axes, prices: Sequence[float], best: np.ndarray, restarts: Sequence[int]
) -> tuple[Sequence[float], Sequence[int]]:
    """Draw the price of each day, the best price and the days of a restart; return prices and restarts."""
    own = {"color": color("GLR")}
    ax.plot(prices, ".", **own, markersize=1.5, rasterized=True, label="chosen")
    ax.step(range(len(best)), best, COLORS["black"], where="post", linewidth=1.2, label="best")
    for day in restarts:
        ax.axvline(day, ymax=0.85, **own, linestyle="--", linewidth=0.9)
    ax.set(title="(e) prices; dashed: change noticed", xlabel="day", ylabel="price", ylim=(1, 3.1))
    ax.set_xticks((0, 500, 1000, 1500))
    ax.legend(loc="upper right", ncols=2, handlelength=1.2, markerscale=4, columnspacing=1)
    return prices, restarts


def draw_oven(
    ax: Axes, quality: Callable, baked: Sequence[tuple[float, float]], first: int
) -> Sequence[tuple[float, float]]:
    """Draw the quality of a bake and the bakes, of which the ``first`` are random; return the bakes."""
    own = {"color": color("GO-UCB"), "linestyle": "none", "marker": "o"}
    ax.plot(TEMPERATURES, quality(TEMPERATURES), color=COLORS["black"], label="quality")
    ax.plot(*zip(*baked[:first]), **own, markerfacecolor="white", label="random")
    ax.plot(*zip(*baked[first:]), **own, label="proposed")
    ax.set(title="(f) quality of a bake", xlabel="oven temperature", ylim=(-1.5, 10.5))
    spacing = {"handlelength": 1.0, "columnspacing": 0.6, "handletextpad": 0.4}
    ax.legend(loc="upper left", ncols=3, **spacing)
    return baked


def color(name: str) -> str:
    """Return the color of a learner's lines."""
    return line_style(name)["color"]


# ---- Learners and controls ---------------------------------------------------------------------------------


class Compared(NamedTuple):
    """A learner's mean regret divided by the mean regret of its control, on one problem."""

    problem: str
    learner: str
    control: str
    ratio: Interval

    def __str__(self) -> str:
        ends = f"{self.ratio.estimate:.2f} [{self.ratio.low:.2f}, {self.ratio.high:.2f}]"
        control = CONTROLS.get(self.control, f"the {self.control}")
        return f"{self.problem:20s} {self.learner:18s} {ends} times the regret of {control}"


def compare(problem: str, found: dict[str, Trace], learner: str, control: str) -> Compared:
    """Compare the final regret of a learner with the final regret of its control, over the same trials."""
    ratio = stats.ratio(found[learner].last(), found[control].last(), of="mean regret")
    return Compared(problem, learner, control, ratio)


def draw_controls(
    bandit: dict[str, Trace], average: dict[str, Trace], compared: Sequence[Compared]
) -> Drawing:
    """Draw the regret on the banner problem, the average loss of PF, and all learners relative to their controls.

    Args:
        bandit: the runs on the banner problem.
        average: PF with true and with sign-flipped feedback, with the series "average".
        compared: a row of the last panel each.
    """
    fig, axes = panels(3, height=2.6, gridspec_kw={"width_ratios": (1, 1, 0.9)})
    left, middle, right = axes[0]
    dots = {each.learner: {each.learner: each.ratio[:3]} for each in compared}
    numbers = {
        "regret": regret_panel(left, bandit, title="(a) banners: lost clicks", ylabel="regret"),
        "average": regret_panel(
            middle,
            average,
            series="average",
            ylabel="average loss",
            title="(b) PF: average loss so far",
            log_x=True,
            labels=False,
        ),
        "share": charts.dots_panel(
            right,
            dots,
            registered_styles(),
            xlabel="ratio of mean regret",
            line=1.0,
        ),
    }
    left.set_xlabel("visitors")
    right.set_xlim(0, 1.1)
    right.set_yticks(range(len(compared)), [f"{x.problem}:\n{x.learner}" for x in compared])
    with style_context():
        right.set_title("(c) compared with the control", loc="right")
        middle.legend(loc="lower right")
    many, few = (len(next(iter(found.values())).trials) for found in (bandit, average))
    return Drawing(
        fig,
        caption=f"Learners compared with controls that do not learn. (a) Regret on the banner problem, against the rounds. {band_note(bandit)} (b) Average loss of PF and of PF with sign-flipped feedback, against the rounds. {band_note(average)} (c) Mean regret of a learner divided by the mean regret of its control, on one problem for each of five papers, with 95 % bootstrap intervals over trials. PF and PF, practical are compared with sign-flipped feedback, and their regret is the loss. Vertical line: the same regret as the control.",
        alt="Three panels. (a) The regret of uniform play is a steep line; the regret of GLB-OMD and of greedy play is much lower. (b) The average loss of PF rises at first and then falls; the dashed curve of sign-flipped feedback is close to it. (c) One dot per learner: all ratios are clearly below 1, except the ratio of PF, which is about 1.",
        trials={"a": many, "b": few, "c": {"GLB-OMD": many, "others": few}},
        numbers=numbers,
    )


# ---- Sentences ---------------------------------------------------------------------------------------------


def tell_coverage(check: Check) -> str:
    """Return a check of confidence sets as sentences: in how many trials all sets contain the truth, and the conclusion."""
    found, percent = check.coverage, lambda x: f"{100 * x:.3g} %"
    wanted = percent(1 - check.delta)
    conclusion = {
        "holds": f"The whole interval is above {wanted}: the check passes.",
        "fails": f"The whole interval is below {wanted}: the check fails.",
        "inconclusive": f"The interval contains {wanted}: more trials are needed.",
    }
    count = f"In {int(check.by_trial.sum())} of {found.n} trials all sets contain the truth"
    ends = f"95 % interval of this fraction: {percent(found.low)} to {percent(found.high)}"
    return f"{count} ({ends}). {conclusion[check.verdict]}"


def tell_difference(found: Interval) -> str:
    """Return a difference of two regrets, and its 95 % interval, as a sentence."""
    return f"{format_number(found.estimate)} (95 % interval over {found.n} trials: {format_number(found.low)} to {format_number(found.high)})"


def tell_result(verdict: str) -> str:
    """Return the result of a test of the example's claim, which states that a difference is above 0, as a sentence."""
    return {
        "holds": "The whole interval is above 0, as the claim states.",
        "fails": "The whole interval is below 0, contrary to the claim.",
        "inconclusive": "The interval contains 0; the test is inconclusive.",
    }[verdict]


def tell_record(id: str) -> str:
    """Return the recorded difference of a claim and its verdict as sentences."""
    found = verdicts.of_record(id)
    if found.statistic is None:
        return "no run has been judged."
    record = Interval(found.statistic, *found.interval, found.n, found.method)
    recorded = {"holds": "the claim holds", "fails": "the claim fails"}
    verdict = recorded.get(found.verdict, "the test is inconclusive")
    return f"{tell_difference(record)}. The recorded verdict: {verdict}."
