"""Figure of ``notebooks/goucb_5_cost.ipynb``: run time per round of GO-UCB and its baselines."""

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator

from paperlib.core.text import format_number

from ...figures.drawing import Drawing, legend, line_style, panels, style_context, time_panel
from ...store.seconds import Seconds
from ...verdicts import Verdict
from ..experiments import cost


def draw_cost(
    timed: dict[int, Seconds],
    batches: list[int],
    judged_at: int,
    rounds: int,
    repetitions: int,
    claims: list[Verdict],
) -> Drawing:
    """Draw run times at ``judged_at`` observations as bars, and run times against the number of observations as lines.

    Args:
        timed: run times by number of observations.
        batches: numbers of trials that run at once.
        judged_at: number of observations at which the claims are judged.
        rounds: timed rounds of each run.
        repetitions: repetitions of each run.
        claims: verdicts on the claims.
    """
    fig, axes = panels(3, height=3.3, width_ratios=[1.7, 1, 1])
    many, few = max(batches), min(batches)
    lines = {R: cost.by_observations(timed, R) for R in (many, few)}
    milliseconds = time_panel(
        axes[0, 0],
        timed[judged_at].bars(scale=1e3, label="{} at once"),
        title=f"(a) {judged_at} observations",
        ylabel="run time per round and trial (ms)",
    )
    _lines_panel(axes[0, 1], lines[many], f"(b) {many} at once", list(timed))
    _lines_panel(axes[0, 2], lines[few], f"(c) {few} at once", list(timed))
    ends = [x for found in lines.values() for line in found.values() for x in line.values()]
    for ax in axes[0, 1:]:
        ax.set_ylim(0.7 * min(ends), 1.4 * max(ends))
    legend(fig, columns=5)
    words = "; ".join(
        f"{R} at once: "
        + ", ".join(f"{name} {format_number(line[judged_at])}" for name, line in found.items())
        for R, found in lines.items()
    )
    caption = f"Run time per round and trial (milliseconds) on $f_2$, d = 20, on one thread. (a) With {judged_at} observations and {', '.join(map(str, batches))} trials at once: medians with quartiles over {repetitions} repetitions of {rounds} rounds; the axis is logarithmic, so that only the ends of the bars have a meaning. (b) Against the number of observations, {many} trials at once. (c) As (b), {few} at once; BoTorch as its users call it, qLogNEI and MAP-SAAS run one trial at a time. Medians of all rounds together at {judged_at} observations, {words}."
    alt = f"A bar chart of milliseconds per round and trial by method, mostly lower with more trials at once, and two panels of lines of milliseconds against the number of observations. At {judged_at} observations, {words}."
    numbers = {"milliseconds": milliseconds, "along": lines}
    return Drawing(fig, caption, alt, batches, numbers, claims=claims)


def _lines_panel(
    ax: Axes, lines: dict[str, dict[int, float]], title: str, observations: list[int]
) -> None:
    """Draw one line per method: milliseconds against the number of observations."""
    with style_context():
        for name, line in lines.items():
            ax.plot(list(line), list(line.values()), **line_style(name))
        ax.set(title=title, xlabel="observations", yscale="log")
        ax.xaxis.set_major_locator(FixedLocator(observations))
