"""Tables of the arena for docs/guides/choosing.md, the guide to choosing a learner.

``pages.readme.advice_block`` inserts the result of ``advice``. All numbers are read from the figures of the paper profile.
"""

import json
from collections.abc import Mapping

from ..output import profile_dir
from .field import UNIFORM
from .figures.field import label
from .peers import OPTUNA, PEERS

FIGURES = {"arms_regret": "finite arms", "sets_regret": "convex sets and boxes"}
SHOWN = 3  # learners in a cell
OTHERS = PEERS.keys() | OPTUNA.keys()
INTRODUCTION = (
    "**Results of the arena.** In [the arena](../papers/arena.md) each learner plays every problem that it can play, with the same information. "
    f"The tables name the {SHOWN} learners of `paperlib` with the least regret on each problem, with the regret divided by the regret of "
    "uniform play. One column has the constants of the theorems, the next one tuned scale per learner. The last column has the best learner of another library, with the better of "
    "its default and its tuned settings."
)


def lowest(means: Mapping[str, float], count: int) -> str:
    """Return the learners with the lowest means, and the means, as text."""
    order = sorted(means, key=means.get)[:count]
    return "; ".join(f"{label(name)} {means[name]:.2f}" for name in order)


def row(problem: str, theory: Mapping[str, float], tuned: Mapping[str, float]) -> str:
    """Return the row of a problem. ``theory``, ``tuned``: mean normalized regret by learner."""
    own = lambda means: {x: m for x, m in means.items() if x not in {*OTHERS, UNIFORM}}
    peers = {name: min(theory[name], tuned[name]) for name in theory if name in OTHERS}
    cells = (problem, lowest(own(theory), SHOWN), lowest(own(tuned), SHOWN), lowest(peers, 1))
    return f"| {' | '.join(cell or '–' for cell in cells)} |"


def advice(claims: Mapping[str, dict]) -> str:
    """Return the table as Markdown; "" without figures of the paper profile. ``claims`` are not used."""
    blocks = []
    for name, field in FIGURES.items():
        path = profile_dir("paper") / "arena" / f"{name}.json"
        if path.exists():
            found = json.loads(path.read_text())["numbers"]
            head = f"| {field} | constants of the theorems | one tuned scale | other libraries |"
            rows = [
                row(problem, found["theory"][problem], found["tuned"][problem])
                for problem in found["theory"]
            ]
            blocks.append("\n".join([head, "| --- | --- | --- | --- |", *rows]))
    return "\n\n".join([INTRODUCTION, *blocks]) if blocks else ""
