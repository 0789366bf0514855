"""Paragraphs on PF for the guide to choosing a learner, docs/guides/choosing.md, with the horizons from which its theorems are informative.

``pages.readme.choosing`` inserts the text that ``advice`` returns. Every number is computed here or belongs to a claim's verdict.
"""

from collections.abc import Mapping

from paperlib.pfbco.theory import constants as theory
from paperlib.pfbco.theory.constants import first_informative, unit_ball

from .errata import PANELS, panel

DIMS = (1, 2, 5, 10)


def advice(claims: Mapping[str, dict]) -> str:
    """Return two paragraphs of Markdown. ``claims``: claims of the paper profile by id; a claim without a statistic is skipped."""
    return f"{_when_not(claims)}\n\n{_from_where()}"


def _when_not(claims: Mapping[str, dict]) -> str:
    known = {
        id.removeprefix("pfbco."): claim["statistic"]
        for id, claim in claims.items()
        if claim.get("statistic") is not None
    }
    words = ["**When not to use PF.** If it is easy to project on the set, also try `FKM`."]
    costs = [known[f"C4.{name}"] for name in PANELS if f"C4.{name}" in known]
    if costs:
        words.append(
            f"With a projection specialized to the set, FKM's run time per round is {min(costs):.2g} to {max(costs):.2g} times PF's (C4.a)."
        )
    if claims.get("pfbco.C1c", {}).get("verdict") == "holds":
        highest = claims.get("pfbco.C2a", {}).get("verdict") == "holds"
        words.append(
            "FKM has the lowest loss in Figure 1a (C1c)"
            + (", and the highest in Figure 1b (C2a)." if highest else ".")
        )
    shams = [abs(known[f"N1.{name}"]) for name in PANELS if f"N1.{name}" in known]
    if len(shams) == len(PANELS):
        words.append(
            f"With the theory's constants at c = 0.1, PF does not learn in Figure 1: in every panel, the estimated difference between PF and a control whose losses have random signs is "
            f"at most {100 * max(shams):.2g} % (in panel c, relative to the largest possible gain) (N1.a)."
        )
    if {"N4.center", "N4.fkm", "N2.center"} <= known.keys():
        words.append(
            "With practical constants and a warm start PF learns, but late. On the quadratic problem its average loss over 4095 rounds is "
            f"{known['N4.center']:.2f} times the loss of staying at the start, and {known['N4.fkm']:.2f} times FKM's (N4.center). Over "
            f"the last quarter of 16383 rounds it is {known['N2.center']:.2f} times the loss of staying at the start (N2.center)."
        )
    return " ".join(words)


def _from_where() -> str:
    rows = [
        ("Theorem 1, one epoch of known horizon, c = 1", theory.theorem_1, 1.0),
        ("Theorem 2, any number of rounds (`Doubling`), c = 1", theory.theorem_2, 1.0),
        ("Theorem 2, c = 0.1", theory.theorem_2, 0.1),
    ]
    table = [f"| informative from T | {' | '.join(f'n = {n}' for n in DIMS)} |"]
    table.append(f"|{' --- |' * (len(DIMS) + 1)}")
    for name, bound, c in rows:
        first = [_short(first_informative(bound, unit_ball(n, c))) for n in DIMS]
        table.append(f"| {name} | {' | '.join(first)} |")
    sizes = min(first_informative(theory.theorem_1, panel(name, 1.0)[0]) for name in PANELS)
    return (
        "**When PF's guarantee is informative.** No regret exceeds 2 M T. Therefore a bound is informative only at horizons at which it is "
        "below 2 M T. The table gives the first such horizon for linear losses on the unit ball in n dimensions, with corrected constants. "
        "At the sizes of Figure 1 no bound is informative "
        f"before T = {_short(sizes)}.\n\n" + "\n".join(table)
    )


def _short(horizon: int) -> str:
    return f"{horizon:,}" if horizon < 10**6 else f"{horizon:.2g}"
