"""How a learner looks in every figure of the project. Papers declare theirs in ``<paper>/styles.py`` as ``STYLES: dict[str, Style]``."""

from typing import NamedTuple

# Okabe & Ito (2008): told apart by the color-blind; yellow is too light for lines on white.
COLORS = {
    "black": "#000000",
    "orange": "#e69f00",
    "sky": "#56b4e9",
    "green": "#009e73",
    "blue": "#0072b2",
    "vermilion": "#d55e00",
    "purple": "#cc79a7",
    "gray": "#8c8c8c",
}


class Style(NamedTuple):
    """One learner's line, marker and bar."""

    color: str  # a name of COLORS
    marker: str = ""  # of matplotlib
    linestyle: str = "-"  # of matplotlib
    label: str = ""  # "": the name it is declared under
    zorder: float = 2.0
    emphasis: bool = False  # the paper's own method: wider, in front


# Rules that learn nothing, or only greedily: thin gray lines in every figure.
REFERENCES = {
    "uniform": Style("gray", linestyle=":", label="uniform play", zorder=1),
    "longest": Style("gray", linestyle="-.", label="longest arm", zorder=1),
    "greedy": Style("gray", linestyle="--", zorder=1),
}


class Cover(NamedTuple):
    """The curves by which a paper is known at a glance: of one of its figures, as its JSON holds them."""

    figure: str
    panel: str  # where the figure's numbers hold them: keys, parted by "/"
    title: str
    names: tuple[str, ...]  # learners, in order
    xlabel: str = "rounds"
    ylabel: str = "regret"
    log: bool = False  # both axes
