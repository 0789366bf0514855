"""Paragraph on MASTER for the guide to choosing a learner, docs/guides/choosing.md.

``pages.readme.choosing`` inserts the result of ``advice``. Every number is part of a claim's verdict or is computed here.
"""

from collections.abc import Mapping

from paperlib.nsbco.optimizer import Optimizer, ball

from .proofs.schedule import WEAK, first_of_any

# code of the learners, by their short names in the claims' texts
NAMES = {"KWtrack": "`KieferWolfowitz(100.0)`", "D-LS": "`DiscountedLeastSquares(64)`"}

GAIN = 100.0  # gain of the tracker in the figures
DIM = 20  # number of dimensions in the example


def advice(claims: Mapping[str, dict]) -> str:
    """Return a paragraph of Markdown. ``claims``: claims of the paper profile by id; a claim without a statistic is skipped."""
    known = {id.removeprefix("nsbco."): claim for id, claim in claims.items()}
    said = lambda id: known.get(id, {}).get("statistic")
    printed, corrected = first_of_any(WEAK["printed"]), first_of_any(WEAK["corrected"])
    each = lambda found: " and ".join(
        f"{test} can trigger from T = {_short(T)} on" for test, T in found.items()
    )
    theorem = (
        "**When not to use MASTER.** With the theorem's constants no test can trigger at a feasible horizon (for Test 2 with the optimistic estimate clipped at 1). For d = 2 and "
        f"the printed constants, {each(printed)}. With corrected constants, {each(corrected)}. At shorter horizons "
        "MASTER is only its random schedule. `practical` has calibrated constants, but no theorem covers them."
    )
    words = [theorem]
    if said("N1") is not None:
        n, ends = known["N1"].get("n"), known["N1"].get("interval")
        over = f", over {n} trials" if n else ""
        interval = f" [{_short(ends[0])}, {_short(ends[1])}]" if ends else ""
        words.append(
            f"With these constants, MASTER has {_short(said('N1'))}{interval} times the regret of its schedule without tests at T = 2^20 with four changes{over} (N1)"
            + (
                f". With a warm start, it has {_short(said('N2'))} times its regret without one (N2)."
                if said("N2")
                else "."
            )
        )
    for id, where in (("N3", "abrupt changes"), ("N4", "smooth drift"), ("N6", "both")):
        reason = known.get(id, {}).get("reason")
        if known.get(id, {}).get("verdict") == "holds" and reason:
            for short, learner in NAMES.items():
                reason = reason.replace(f" {short}'s", f" {learner}'s")
            words.append(f"On paths with {where}, T = 2^17, {reason} ({id}).")
    words.append(
        "However, none of these other rules has a regret bound. GLR restarts when the level of the rewards changes, even if the maximizer does not, and it needs the "
        "variance of the noise. Rules with a constant gain or discounting never stop exploring, and their gain or window suits only one speed of drift. For example, "
        f"`KieferWolfowitz({GAIN:.1f})` averages over {2 * GAIN:.0f} d rounds and lags behind a faster maximizer. "
        '`Optimizer(policy="track", drift=...)` computes the gain from the speed of the drift.'
    )
    optimizer = Optimizer(ball([0.0] * DIM), concavity=1.0, smoothness=2.0, noise=0.1)
    steps = [f"{optimizer.rounds_before_step(step):,}" for step in (1, 2, 3)]
    words.append(
        "No learner can beat a fixed point before its center has moved for the first time. GLR and MASTER use the steps of Algorithm 2. For example, in "
        f"{DIM} dimensions with `smoothness` twice `concavity` and the default `margin`, the center moves after {', '.join(steps[:-1])} and {steps[-1]} rounds "
        "(`Optimizer.rounds_before_step`)."
    )
    return " ".join(words)


def _short(value: float) -> str:
    return f"{value:.3g}"
