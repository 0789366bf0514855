"""Figures in a uniform style: every learner has the same line style everywhere, at the width of a journal's column.

No global state is changed: the style is a dictionary that each function applies itself (use ``with style_context():``
around your own plotting). A saved figure is a PDF, a PNG and a JSON file with the origin of its numbers. If it is saved
again from the same numbers, the files are equal byte for byte.
"""

import io
import json
import os
import platform
import re
import sys
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import NullFormatter

from paperlib import __version__, stats
from paperlib.core.text import to_json
from paperlib.core.trace import Trace

from ..output import profile_dir, write_bytes, write_json
from ..papers import paper_module, papers
from ..store.keys import versions
from ..store.progress import kernel_shell
from ..styles import COLORS, REFERENCES, Style

COLUMN, DOUBLE = 89 / 25.4, 183 / 25.4  # widths of one and two columns, in inches
DPI = 200
PROCESSOR = Path(__file__).with_name("processor.json")  # written by bench/last_bit.py
QUARTILES = (0.25, 0.5, 0.75)
DIAMOND = {  # a white diamond in a bar
    "marker": "D",
    "linestyle": "none",
    "color": "white",
    "markersize": 3,
    "markeredgecolor": "black",
    "markeredgewidth": 0.6,
}
MARKERS = "oDsv^P"  # markers of learners that no paper declares
END = "end of line"  # identifies a label at the end of its line
LOOK = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "legend.fontsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.0,
    "lines.markersize": 3.2,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.frameon": False,
    "figure.dpi": DPI,
    "savefig.dpi": DPI,
    "pdf.fonttype": 42,
    "text.usetex": False,
    "figure.constrained_layout.use": True,
    "hatch.linewidth": 0.6,
}


@contextmanager
def style_context():
    """Apply the project's figure style within the block."""
    with matplotlib.rc_context(LOOK):
        yield


def registered_styles() -> dict[str, Style]:
    """Return the line styles of all papers' learners and of the reference rules, by name.

    Raises:
        ValueError: two papers declare different styles for a name, or a color is unknown.
    """
    found = dict(REFERENCES)
    for paper in papers():
        for name, style in getattr(paper_module(paper, "styles"), "STYLES", {}).items():
            if found.setdefault(name, style) != style or style.color not in COLORS:
                raise ValueError(
                    f"{paper}: STYLES[{name!r}] must be the only style of this name ({found[name]!r}) and have one of the colors {', '.join(COLORS)}, got {style!r}"
                )
    return found


def line_style(name: str) -> dict[str, Any]:
    """Return the keywords of a learner for ``ax.plot``: color, marker, linestyle, width, order and label.

    For several learners that no paper declares use ``line_styles``, because only that gives them different styles.
    """
    return line_styles([name])[name]


def line_styles(
    names: Iterable[str], styles: Mapping[str, Style] | None = None
) -> dict[str, dict[str, Any]]:
    """Return the keywords of ``line_style`` for each learner of one panel.

    Learners that no paper declares get colors that are free in the panel, as long as there are any. The entries of ``styles`` take
    precedence over the styles that the papers declare.

    Raises:
        ValueError: a value in ``styles`` that is not a Style, or an unknown color.

    Examples:
        >>> from companion.figures import line_styles
        >>> found = line_styles(["my learner", "my baseline"])
        >>> found["my learner"]["color"] != found["my baseline"]["color"]
        True
        >>> found["my learner"]["label"]
        'my learner'
    """
    known = {**registered_styles(), **(styles or {})}
    names = list(names)
    for name, s in (styles or {}).items():
        if not isinstance(s, Style) or s.color not in COLORS:
            raise ValueError(
                f"styles[{name!r}] must be a Style with one of the colors {', '.join(COLORS)}, got {s!r}"
            )
    taken = {known[name].color for name in names if name in known}
    # Gray is reserved for the reference rules.
    free = [c for c in COLORS if c not in (*taken, "gray")] or [*COLORS]
    strangers = [name for name in names if name not in known]
    known |= {
        name: Style(free[i % len(free)], MARKERS[i % len(MARKERS)])
        for i, name in enumerate(strangers)
    }
    return {
        name: {
            "color": COLORS[known[name].color],
            "marker": known[name].marker or None,
            "linestyle": known[name].linestyle,
            "linewidth": 2.0 if known[name].emphasis else 0.8 if name in REFERENCES else 1.1,
            "zorder": known[name].zorder + known[name].emphasis,
            "label": known[name].label or name,
        }
        for name in names
    }


def panels(
    columns: int = 1, rows: int = 1, *, width: float | None = None, height: float = 2.3, **subplots
) -> tuple[Figure, np.ndarray]:
    """Return a figure and its rows x columns of axes, one journal column wide for one panel, otherwise two.

    ``width`` and ``height`` of a row are in inches; other keywords go to ``Figure.subplots`` (``sharey=True``).
    """
    with style_context():
        size = width or (COLUMN if columns == 1 else DOUBLE), height * rows
        fig = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(fig)
        return fig, fig.subplots(rows, columns, squeeze=False, **subplots)


def regret_panel(
    ax: Axes,
    traces: dict[str, Trace],
    *,
    title: str = "",
    series: str = "regret",
    ylabel: str = "regret",
    log_x: bool = False,
    log_y: bool = False,
    labels: bool = True,
    bands: Container[str] | None = None,
    styles: Mapping[str, Style] | None = None,
    interval: Callable[[np.ndarray], stats.Band] = stats.band,
) -> dict[str, dict]:
    """Draw mean curves over trials with pointwise intervals, by default t-intervals.

    Args:
        ax: the panel.
        traces: name -> trace.
        series: name of the series in the traces.
        log_x, log_y: whether an axis is logarithmic.
        labels: whether each name is written at the end of its line; otherwise see ``legend``.
        bands: names whose band is drawn, for panels where bands would hide each other; None draws all bands.
        styles: line styles of your own learners; without it they get colors that are free.
        interval: sample, R x T' -> pointwise interval.

    Returns:
        name -> rounds, mean, low, high, n: the plotted numbers.
    """
    numbers, all_looks = {}, line_styles(traces, styles)
    with style_context():
        for i, (name, trace) in enumerate(traces.items()):
            how, rounds = all_looks[name], trace.rounds
            mean, low, high, n = interval(trace[series])
            # Markers are shifted from learner to learner, because they would hide each other on
            # curves that coincide.
            every = max(1, len(rounds) // 8)
            ax.plot(rounds, mean, markevery=(every * (i + 1) // (len(traces) + 1), every), **how)
            if n > 1 and (bands is None or name in bands):
                shade = {"color": how["color"], "alpha": 0.2, "linewidth": 0}
                ax.fill_between(rounds, low, high, zorder=how["zorder"] - 0.5, **shade)
            numbers[name] = {"rounds": rounds, "mean": mean, "low": low, "high": high, "n": n}
        ax.set(title=title, xlabel="rounds", ylabel=ylabel)
        ax.set(xscale="log" if log_x else "linear", yscale="log" if log_y else "linear")
        ax.margins(x=0)
        means = (curve["mean"] for curve in numbers.values())
        # The means and not the bands set the range, because a band may reach below zero.
        ax.set_ylim(bottom=0.5 * min(mean[mean > 0].min() for mean in means) if log_y else 0)
        if labels:
            _label_ends(ax)
    return numbers


def time_panel(
    ax: Axes,
    seconds: dict[str, dict[str, Any]],
    *,
    batch: dict[str, dict[str, Any]] | None = None,
    title: str = "",
    ylabel: str = "run time per round (s)",
) -> dict[str, dict]:
    """Draw bars of medians with quartiles on a log axis: one group of bars per learner, one bar per setting.

    Args:
        seconds: name -> setting -> sample of seconds of one trial, as ``Seconds.bars`` returns it.
        batch: the same for one trial in a batch of many; its median is a white diamond. Learners that it does not contain
            cannot be batched, and get a star after their names.

    Returns:
        name -> setting -> median, quartiles, n, batch: the plotted numbers.

    Raises:
        ValueError: seconds that are not positive.
    """
    settings = list(dict.fromkeys(setting for sample in seconds.values() for setting in sample))
    numbers, width = {}, 0.8 / len(settings)
    all_looks = line_styles(seconds)
    hatches = ["", "////", "....", "xxxx", "----", "\\\\\\\\", "++++", "oooo"]
    with style_context():
        for i, (name, samples) in enumerate(seconds.items()):
            for setting, sample in samples.items():
                j = settings.index(setting)
                x = i + (j - (len(settings) - 1) / 2) * width
                low, middle, high = map(float, np.quantile(np.asarray(sample, float), QUARTILES))
                if low <= 0:
                    raise ValueError(
                        f"seconds[{name!r}][{setting!r}] must have a positive lower quartile, because the axis is logarithmic, got {low}"
                    )
                ax.bar(
                    x,
                    middle,
                    0.9 * width,
                    yerr=[[middle - low], [high - middle]],
                    facecolor=all_looks[name]["color"],
                    edgecolor="white",
                    linewidth=0,
                    hatch=hatches[j],
                    error_kw={"elinewidth": 0.7, "capsize": 1.5},
                )
                shown = {"median": middle, "quartiles": [low, high], "n": np.size(sample)}
                if setting in (batch or {}).get(name, {}):
                    shown["batch"] = float(np.median(batch[name][setting]))
                    ax.plot(x, shown["batch"], **DIAMOND)
                numbers.setdefault(name, {})[setting] = shown
        bars = [shown for samples in numbers.values() for shown in samples.values()]
        ends = [x for bar in bars for x in (*bar["quartiles"], bar.get("batch", bar["median"]))]
        # Leave room below the smallest number, because a diamond on the axis would be cut off.
        decade = np.floor(np.log10(0.8 * min(ends)))
        top = max(decade + 1, np.ceil(np.log10(max(ends))))
        ax.set(title=title, ylabel=ylabel, yscale="log", ylim=(10**decade, 10**top))
        ax.yaxis.set_minor_formatter(NullFormatter())
        star = lambda name: "*" * (batch is not None and name not in batch)
        labels = [all_looks[name]["label"] + star(name) for name in seconds]
        ax.set_xticks(range(len(seconds)), labels, rotation=35, ha="right", rotation_mode="anchor")
        ax.grid(visible=False, axis="x")
        if len(settings) > 1:
            patches = [
                Patch(facecolor=COLORS["gray"], edgecolor="white", linewidth=0, hatch=h, label=s)
                for h, s in zip(hatches, settings)
            ]
            ax.legend(
                handles=patches,
                loc="lower center",
                bbox_to_anchor=(0.5, 1.0),
                ncols=len(settings),
                handlelength=1.4,
                columnspacing=1,
            )
            ax.set_title(title, pad=16)
    return numbers


def legend(fig: Figure, *, columns: int = 4) -> None:
    """Draw one legend for the whole figure, above its panels."""
    with style_context():
        entries = {
            label: line for ax in fig.axes for line, label in zip(*ax.get_legend_handles_labels())
        }
        fig.legend(
            entries.values(),
            entries.keys(),
            loc="outside upper center",
            ncols=columns,
            handlelength=2.4,
            columnspacing=1.2,
        )


def band_note(traces: dict[str, Trace]) -> str:
    """Return a sentence for the caption that states the meaning of the bands and the number of trials."""
    counts = {line_style(name)["label"]: len(trace.trials) for name, trace in traces.items()}
    return f"Bands: pointwise {100 * stats.LEVEL:g} % t-intervals of the mean over {trial_note(counts)}."


def trial_note(counts: Mapping[str, int]) -> str:
    """Return the number of trials as text, with the names that have fewer trials: "100 trials (OFUGLB 20)"."""
    most = max(counts.values())
    fewer = ", ".join(f"{name} {n}" for name, n in counts.items() if n != most)
    return f"{most} trials" + (f" ({fewer})" if fewer else "")


def _label_ends(ax: Axes) -> None:
    """Write names at the line ends; ``_settle`` later moves labels apart that are too close."""
    for line in ax.get_lines():
        if not line.get_label().startswith("_"):
            ax.annotate(
                line.get_label(),
                (line.get_xdata()[-1], line.get_ydata()[-1]),
                (4, 0),
                textcoords="offset points",
                color=line.get_color(),
                va="center",
                fontsize=7,
                fontweight="bold" if line.get_linewidth() >= 2 else "normal",
                annotation_clip=False,
                gid=END,
            )


def _settle(fig: Figure) -> None:
    """Fix the layout, then move the labels at line ends by the least amount that keeps them apart."""
    gap = 8.0  # points
    fig.draw_without_rendering()
    fig.set_layout_engine("none")
    for ax in fig.axes:
        labels = [text for text in ax.texts if text.get_gid() == END]
        if labels:
            from scipy.optimize import isotonic_regression  # takes a second to import

            ends = ax.transData.transform([label.xy for label in labels])[:, 1] * 72 / fig.dpi
            order, steps = np.argsort(ends, kind="stable"), gap * np.arange(len(ends))
            # Isotonic regression gives the positions closest to the line ends (in least squares)
            # that keep the order and a gap of at least 8 points.
            apart = isotonic_regression(ends[order] - steps).x + steps
            for i, y in zip(order, apart):
                labels[i].set_position((4, y - ends[i]))


class Drawing(NamedTuple):
    """A figure with the texts and numbers that are saved with it; see ``save`` for the fields.

    The functions that draw a notebook's figures return it, and ``Study.save`` writes it.
    """

    fig: Figure
    caption: str
    alt: str
    trials: Any
    numbers: Any = None
    claims: Sequence = ()
    checks: Sequence = ()
    data_checksum: str | None = None


def save(
    fig: Figure,
    name: str,
    *,
    paper: str,
    caption: str,
    alt: str,
    profile: str,
    parameters: dict[str, Any],
    seed: int,
    trials: Any,
    device: str = "cpu",
    data_checksum: str | None = None,
    numbers: Any = None,
    claims: Sequence = (),
    checks: Sequence = (),
) -> None:
    """Write ``<name>.pdf``, ``.png`` and ``.json``, show the figure once in a notebook, and close it.

    The JSON file lists under "processor" its numbers that change with the processor, because an algorithm amplifies
    rounding errors or because they are run times. ``bench/last_bit.py`` finds them. The list "quick" is of runs at the quick
    profile. The list "paper" is of two runs at the paper's sizes; a figure without this list was not compared at these sizes.

    Args:
        name: file name without its ending.
        paper: package of the paper, which is also the name of the folder.
        caption: describes the figure, and states the meaning of a band and the number of trials.
        alt: description of the figure for readers who cannot see it.
        profile: "quick", "paper" or "custom".
        parameters: the parameters of the notebook's run.
        seed: seed of the run.
        trials: number of trials, or numbers by learner.
        device: device of the run.
        data_checksum: SHA-256 of the data shown, if there are any.
        numbers: the plotted numbers, as the panels return them.
        claims, checks: verdicts and checks that the figure shows.

    Raises:
        ValueError: an unknown profile, or an empty ``caption`` or ``alt``.
    """
    for what, text in (("caption", caption), ("alt", alt)):
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"{what} must be a sentence, got {text!r}")
    # Both become the name of a file or its folder, therefore they must not contain a slash.
    for what, text in (("name", name), ("paper", paper)):
        if not isinstance(text, str) or not re.fullmatch(r"\w[\w.-]*", text):
            raise ValueError(
                f"{what} must consist of letters, digits, '_', '-' and '.', and start with a letter, a digit or '_', got {text!r}"
            )
    place, title = profile_dir(profile) / paper, f"{paper}: {name}"
    about = f"{caption} Profile {profile}, seed {seed}."
    with style_context():
        _settle(fig)
        pdf, png = io.BytesIO(), io.BytesIO()
        # Without a creation date the PDF is equal byte for byte if it is saved again.
        creator = {"Creator": f"paperlib {__version__}", "CreationDate": None}
        fig.savefig(pdf, format="pdf", metadata={"Title": title, "Subject": about, **creator})
        words = {"Title": title, "Description": alt, "Comment": about}
        fig.savefig(png, format="png", dpi=DPI, metadata=words)
    # The JSON is written first, because it may be rejected: its numbers may not be valid JSON.
    write_json(
        place / f"{name}.json",
        {
            "figure": name,
            "paper": paper,
            "profile": profile,
            "caption": caption,
            "alt": alt,
            "parameters": parameters,
            "seed": seed,
            "trials": trials,
            "device": device,
            "data_checksum": data_checksum,
            "versions": {
                **versions(),
                "python": platform.python_version(),
                "matplotlib": matplotlib.__version__,
                "paperlib": __version__,
            },
            "claims": [to_json(verdict) for verdict in claims],
            "checks": [to_json(check) for check in checks],
            "numbers": numbers,
            "processor": json.loads(PROCESSOR.read_text()).get(f"{paper}/{name}", {"quick": []}),
        },
    )
    write_bytes(place / f"{name}.pdf", pdf.getvalue())
    write_bytes(place / f"{name}.png", png.getvalue())
    _display(fig, png.getvalue(), alt)


def show(fig: Figure, alt: str) -> None:
    """Show a figure in a notebook without writing a file, and close it; ``alt``: see ``save``."""
    png = io.BytesIO()
    with style_context():
        _settle(fig)
        fig.savefig(png, format="png", dpi=DPI)
    _display(fig, png.getvalue(), alt)


def explore(draw: Callable[..., Figure], alt: str, **ranges: tuple) -> None:
    """Show a figure with a slider for each of its values in JupyterLab, and elsewhere as a picture at the first values.

    Args:
        draw: returns the figure for given values.
        alt: see ``save``.
        ranges: name of a value -> (its first value, lowest value, highest value). Whole numbers give whole numbers.

    Examples:
        >>> from companion import figures
        >>> def draw(width):
        ...     fig, axes = figures.panels()
        ...     axes[0, 0].plot([0, 1], [0, 1], linewidth=width)
        ...     return fig
        >>> figures.explore(draw, "A line from the lower left to the upper right.", width=(2, 1, 5))
    """
    # The server of JupyterLab sets this variable for its kernels; papermill and nbval have nobody who moves a slider.
    if "JPY_SESSION_NAME" not in os.environ:
        show(draw(**{name: first for name, (first, _, _) in ranges.items()}), alt)
        return
    import ipywidgets

    def slider(first: float, low: float, high: float) -> ipywidgets.Widget:
        whole = isinstance(first, int)
        kind = ipywidgets.IntSlider if whole else ipywidgets.FloatSlider
        step = 1 if whole else (high - low) / 100
        return kind(first, min=low, max=high, step=step, continuous_update=False)

    sliders = {name: slider(*each) for name, each in ranges.items()}
    ipywidgets.interact(lambda **values: show(draw(**values), alt), **sliders)


def _display(fig: Figure, png: bytes, alt: str) -> None:
    """Show an image with an alternative text as the output of a notebook's cell, and close its figure."""
    if kernel_shell() is not None:
        from IPython.display import Image, display

        width = round(100 * fig.get_size_inches()[0])
        display(Image(png, format="png", width=width, alt=alt))
    if "matplotlib.pyplot" in sys.modules:  # pyplot would show its figure a second time
        sys.modules["matplotlib.pyplot"].close(fig)
