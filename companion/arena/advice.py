"""Results of the arena for docs/guides/choosing.md, the guide to choosing a learner.

``pages.readme`` adds the result of ``evidence`` to the rows of the guide, and inserts the result of ``advice``. All numbers are read from
the recorded claims and the figures of the paper profile.
"""

import json
from collections.abc import Mapping
from typing import NamedTuple

from ..output import profile_dir
from ..verdicts import disjoint, short_id
from .claims import ARMS, COMPARISONS, SETS
from .continuous import EXPLORE
from .field import UNIFORM
from .figures.field import label
from .peers import OPTUNA, PEERS

FIELDS = {"arms": ("finite arms", ARMS), "sets": ("convex sets and boxes", SETS)}
TRACKS = {"theory": "not tuned", "tuned": "tuned"}
SHOWN = 3  # learners in a cell
OTHERS = PEERS.keys() | OPTUNA.keys()
INTRODUCTION = (
    "**Results of the arena.** In [the arena](../papers/arena.md) all learners of a problem have the same information and play {rounds}. "
    "The tables name the {shown} learners with the least mean regret on each problem, those of other libraries in a column of their own, "
    "with the regret divided by the regret of uniform play. Small differences are within the noise. *Tuned* is one scale per learner for "
    "all of its problems. Therefore a tuned learner can have more regret on a problem than an untuned one. The heat maps of the arena's page show the scales. "
    "The column of other libraries has the better of their default and their tuned settings; – means that no other library played. GP-UCB "
    "and BKB have a Gaussian kernel on smooth functions and tables, and a linear one elsewhere. The static baseline stays at the center. "
    "GO-UCB, TuRBO and Optuna's samplers repeat their best point after {explore} rounds."
)


class Row(NamedTuple):
    """Results of the arena that bear on a row of the guide.

    Attributes:
        tested: claims, with the verdicts for which the row was written.
        shown: (problem, track, learners) whose mean normalized regrets are shown. They have no test.
    """

    tested: Mapping[str, str] = {}
    shown: tuple[tuple[str, str, tuple[str, ...]], ...] = ()


_NON_CONVEX = ("TuRBO", "GO-UCB", "Optuna GP", "Optuna TPE", "Optuna CmaEs")
_TRACKING = ("GLR", "KW", "SPSA", "D-LS", "static baseline")
_PROJECTION_FREE = ("PF", "FKM", "static baseline", "D-LS")

EVIDENCE = {
    "linear.OFUL": Row(
        {"arena.N8": "holds", "arena.N9": "fails", "arena.N7": "holds", "arena.N12": "inconclusive"}
    ),
    "glbomd.GLBOMD": Row(
        {"arena.N1": "holds", "arena.N2": "fails", "arena.N13": "holds"},
        (
            ("logistic", "tuned", ("GLB-OMD", "UCB1", "bayesianbandits")),
            ("Covertype", "theory", ("GLB-OMD", "OFUL", UNIFORM)),
        ),
    ),
    "glbomd.OFUGLB": Row(
        {"arena.N3": "holds", "arena.N10": "inconclusive"},
        (
            ("logistic, fresh", "theory", ("OFUGLB", "GLB-OMD", "OFUL")),
            ("logistic", "theory", ("OFUGLB", "MABWiser LinUCB", "bayesianbandits")),
        ),
    ),
    "glbomd.LaplaceThompson": Row(
        shown=tuple(
            (problem, "theory", ("Laplace Thompson", "OFUL", "MABWiser LinUCB", "bayesianbandits"))
            for problem in ("linear", "logistic", "Poisson", "Covertype")
        )
    ),
    "glbomd.BetaThompson": Row(
        {"arena.N6": "holds"},
        (("no features", "tuned", ("Beta Thompson", "UCB1", "MABWiser LinTS")),),
    ),
    "bkb.ExactGPUCB": Row(
        {"arena.N11": "inconclusive"},
        (
            ("abalone", "theory", ("GP-UCB", "OFUL")),
            ("smooth, 1-d", "tuned", ("GP-UCB", "BKB", "UCB1")),
        ),
    ),
    "bkb.BKB": Row({"arena.N5.1d": "inconclusive", "arena.N5.2d": "inconclusive"}),
    "goucb.TuRBO": Row(
        {"arena.N22": "holds"},
        tuple(
            (problem, "theory", tuple(x for x in _NON_CONVEX if x != "GO-UCB"))
            for problem in ("Styblinski-Tang", "Rastrigin", "network")
        ),
    ),
    "goucb.practical": Row({"arena.N19": "inconclusive", "arena.N20": "holds"}),
    "goucb.algorithm1": Row(shown=(("network", "theory", _NON_CONVEX),)),
    "nsbco.Optimizer": Row({"arena.N18": "inconclusive"}, (("jumps, ball", "theory", _TRACKING),)),
    'nsbco.Optimizer(policy="discounted")': Row(
        {"arena.N17": "holds"},
        (("rotation, ball", "tuned", _TRACKING), ("rotation, ball", "theory", _TRACKING)),
    ),
    'nsbco.Optimizer(policy="track", drift=0.001)': Row(
        shown=(
            ("jumps, ball", "tuned", _TRACKING),
            ("quadratic, box", "tuned", ("KW", "SPSA", "static baseline")),
        )
    ),
    "nsbco.practical(GradientAscent(warm_start=True))": Row(
        {"arena.N15.rotation": "holds", "arena.N15.jumps": "holds"},
        tuple(
            (path, "tuned", ("MASTER", "static baseline", "SPSA"))
            for path in ("rotation, ball", "jumps, ball")
        ),
    ),
    "pfbco.Optimizer": Row(
        {"arena.N21": "holds"},
        (
            ("linear, simplex", "tuned", (*_PROJECTION_FREE, "explore-then-commit")),
            ("quadratic, matrices", "tuned", _PROJECTION_FREE),
        ),
    ),
    "pfbco.Doubling(PFBCO(1.0))": Row({"arena.N14": "fails"}),
    "pfbco.Doubling(FKM())": Row(
        {"arena.N16": "fails"}, (("quadratic, box", "tuned", _PROJECTION_FREE),)
    ),
}
"""Results that bear on a row of the guide, which is named by its first learner."""


def figure(name: str) -> dict | None:
    """Return the JSON of a figure of the paper profile, or None without such a figure."""
    path = profile_dir("paper") / "arena" / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def ranked(means: Mapping[str, float], count: int | None = None) -> str:
    """Return the learners with the lowest means, and the means, as text."""
    order = sorted(means, key=means.get)[:count]
    return "; ".join(f"{label(name)} {means[name]:.2f}" for name in order)


def evidence(learner: str, claims: Mapping[str, dict]) -> str:
    """Return the results of the arena that bear on the row of the guide whose first learner is ``learner``; "" if there are none.

    As with findings, a claim that has not been run is left out.

    Args:
        claims: recorded claims of the arena by id.

    Raises:
        ValueError: a recorded verdict that is not the one for which the row was written.
    """
    row, known, found = EVIDENCE.get(learner, Row()), {each.id: each for each in COMPARISONS}, []
    for id, expected in row.tested.items():
        if (verdict := claims[id]["verdict"]) == "not run":
            continue
        if verdict != expected:
            raise ValueError(
                f"the row of {learner} in CHOICES was written for {id} {expected!r}, got {verdict!r}; change the row and EVIDENCE"
            )
        each, runs = known[id], [claims[id]]
        other = claims[id].get("replication")
        # The run with other seeds is shown if it contradicts the first one.
        if other and ("first" in claims[id] or disjoint(runs[0]["interval"], other["interval"])):
            runs.append(other)
        values = ", with other seeds ".join(
            "{:.2f} [{:.2f}, {:.2f}]".format(*map(float, (run["statistic"], *run["interval"])))
            for run in runs
        )
        found.append(
            f"*{each.problem}*, {TRACKS[each.track]}: {label(each.a)} has {values} "
            f"times the regret of {label(each.b)} ({short_id(id)})"
        )
    drawn = [each["numbers"] for field in FIELDS if (each := figure(f"{field}_regret"))]
    for problem, track, names in row.shown:
        for numbers in drawn:
            if problem in numbers[track]:
                means = {name: numbers[track][problem][name] for name in names}
                found.append(f"*{problem}*, {TRACKS[track]}, no test: {ranked(means)}")
    return "<br>".join(found)


def table_row(problem: str, theory: Mapping[str, float], tuned: Mapping[str, float]) -> str:
    """Return the row of a problem. ``theory``, ``tuned``: mean normalized regret by learner."""
    own = lambda means: {x: m for x, m in means.items() if x not in {*OTHERS, UNIFORM}}
    peers = {name: min(theory[name], tuned[name]) for name in theory if name in OTHERS}
    cells = (problem, ranked(own(theory), SHOWN), ranked(own(tuned), SHOWN), ranked(peers, 1))
    return f"| {' | '.join(cell or '–' for cell in cells)} |"


def best_of_groups(groups: Mapping[str, Mapping[str, Mapping[str, dict]]]) -> str:
    """Return the learner with the lowest interquartile mean of each group and track. ``groups``: group -> track -> learner -> interval."""
    texts = []
    for group, tracks in groups.items():
        best = []
        for track, found in tracks.items():
            name = min(found, key=lambda x: found[x]["estimate"])
            numbers = "{estimate:.3f} [{low:.3f}, {high:.3f}]".format(**found[name])
            best.append(f"{label(name)} {numbers} ({TRACKS[track]})")
        texts.append(f"*{group}*, {' and '.join(best)}")
    return f"The learners with the lowest interquartile means over all problems of a group: {'; '.join(texts)}."


def advice(claims: Mapping[str, dict]) -> str:
    """Return the tables as Markdown; "" without figures of the paper profile. ``claims`` are not used."""
    blocks, rounds = [], []
    for field, (words, stem) in FIELDS.items():
        if found := figure(f"{field}_regret"):
            theory, tuned = (found["numbers"][track] for track in TRACKS)
            head = f"| {words} | constants of the theorems, or defaults | tuned | other libraries |"
            rows = [table_row(problem, theory[problem], tuned[problem]) for problem in theory]
            blocks.append("\n".join([head, "| --- | --- | --- | --- |", *rows]))
            horizon = found["parameters"]["horizon"]
            rounds.append(f"{horizon:,} rounds on [{words}](../notebooks/{stem}.ipynb)")
        if found := figure(f"{field}_means"):
            blocks.append(best_of_groups(found["numbers"]))
    introduction = INTRODUCTION.format(rounds=" and ".join(rounds), shown=SHOWN, explore=EXPLORE[1])
    return "\n\n".join([introduction, *blocks]) if blocks else ""
