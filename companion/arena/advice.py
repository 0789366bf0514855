"""Tables of the arena for docs/guides/choosing.md, the guide to choosing a learner.

``pages.readme.advice_block`` inserts the result of ``advice``. All numbers are read from the figures of the paper profile.
"""

import json
from collections.abc import Mapping

from ..output import profile_dir
from ..verdicts import short_id
from .claims import COMPARISONS
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


EVIDENCE = {
    "linear.OFUL": {
        "arena.N8": "holds",
        "arena.N9": "fails",
        "arena.N7": "holds",
        "arena.N12": "holds",
    },
    "glbomd.GLBOMD": {"arena.N1": "holds", "arena.N2": "fails", "arena.N13": "holds"},
    "glbomd.OFUGLB": {"arena.N3": "holds", "arena.N10": "inconclusive"},
    "glbomd.BetaThompson": {"arena.N6": "holds"},
    "bkb.ExactGPUCB": {"arena.N11": "holds"},
    "bkb.BKB": {"arena.N5.1d": "holds", "arena.N5.2d": "inconclusive"},
    "nsbco.Optimizer": {"arena.N18": "fails"},
    'nsbco.Optimizer(policy="discounted")': {"arena.N17": "holds"},
    "nsbco.practical(GradientAscent(warm_start=True))": {
        "arena.N15.rotation": "holds",
        "arena.N15.jumps": "holds",
    },
    "goucb.TuRBO": {"arena.N20": "holds", "arena.N22": "holds"},
    "goucb.algorithm1": {"arena.N19": "inconclusive"},
    "pfbco.Doubling(PFBCO(1.0))": {"arena.N14": "fails"},
    "pfbco.Optimizer": {"arena.N21": "holds"},
    "pfbco.Doubling(FKM())": {"arena.N16": "fails"},
}
"""Claims of the arena that bear on a row of the guide, with the verdicts for which the row was written. A row is named by its first learner."""


def evidence(learner: str, claims: Mapping[str, dict]) -> str:
    """Return the results of the arena that bear on the row of the guide whose first learner is ``learner``; "" if there are none.

    As with findings, a claim that has not been run is left out.

    Args:
        claims: recorded claims of the arena by id.

    Raises:
        ValueError: a recorded verdict that is not the one for which the row was written.
    """
    known, found = {each.id: each for each in COMPARISONS}, []
    for id, expected in EVIDENCE.get(learner, {}).items():
        if (verdict := claims[id]["verdict"]) == "not run":
            continue
        if verdict != expected:
            raise ValueError(
                f"the row of {learner} in CHOICES was written for {id} {expected!r}, got {verdict!r}; change the row and EVIDENCE"
            )
        each, (low, high) = known[id], claims[id]["interval"]
        ratio = f"{claims[id]['statistic']:.2f} [{low:.2f}, {high:.2f}]"
        tuned = "tuned" if each.track == "tuned" else "not tuned"
        found.append(
            f"*{each.problem}*, {tuned}: {label(each.a)} has {ratio} times the regret of {label(each.b)} "
            f"({short_id(id)})"
        )
    return "; ".join(found)
