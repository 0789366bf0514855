"""Line styles of learners, the same in every figure. Papers declare theirs in ``<paper>/styles.py`` as ``STYLES: dict[str, Style]``."""

from typing import NamedTuple

# Okabe & Ito (2008): distinguishable for color-blind readers; yellow is too light for lines on
# white.
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
    """Line, marker and bar of one learner."""

    color: str  # a key of COLORS
    marker: str = ""  # as in matplotlib
    linestyle: str = "-"  # as in matplotlib
    label: str = ""  # "": the key under which it is declared
    zorder: float = 2.0
    emphasis: bool = False  # True for the paper's own method, which is drawn wider and in front


# Rules that do not learn, or only greedily; they are thin gray lines in every figure.
REFERENCES = {
    "uniform": Style("gray", linestyle=":", label="uniform play", zorder=1),
    "longest": Style("gray", linestyle="-.", label="largest-norm arm", zorder=1),
    "greedy": Style("gray", linestyle="--", zorder=1),
}


class Cover(NamedTuple):
    """Curves that represent a paper in the overview, taken from the JSON file of one of its figures."""

    figure: str
    panel: str  # keys to the panel's numbers in the figure's JSON, separated by "/"
    title: str
    names: tuple[str, ...]  # learners, in drawing order
    xlabel: str = "rounds"
    ylabel: str = "regret"
    log: bool = False  # True if both axes are logarithmic
