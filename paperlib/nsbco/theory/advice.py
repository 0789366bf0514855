"""README's paragraph of advice on MASTER: what calibrated constants do, what simpler rules do, and what each lacks.

``pages.readme`` writes what ``advice`` returns; every number stands in a claim's verdict or is computed here.
"""

from collections.abc import Mapping

from .constants import bonus_corrected, literal, reference, weak_printed
from .firing import TRIVIAL, first_horizon, threshold_1, threshold_2, tight

# learners by the short names of the claims' words
NAMES = {"KWtrack": "`KieferWolfowitz(100.0)`", "D-LS": "`DiscountedLeastSquares(64)`"}

GAIN = 100.0  # of the tracker in the figures
DIM = 20  # dimensions of the example


def advice(claims: Mapping[str, dict]) -> str:
    """A paragraph of Markdown. ``claims``: of the paper profile by id, with their statistics; one without is passed over."""
    known = {id.removeprefix("nsbco."): claim for id, claim in claims.items()}
    said = lambda id: known.get(id, {}).get("statistic")
    s = literal(2)
    either = lambda weak: min(
        first_horizon(test(weak), TRIVIAL) for test in (threshold_1, threshold_2)
    )
    printed = either(lambda T: weak_printed(s, T))
    corrected = either(lambda T: tight(float(bonus_corrected(s, T)))(T))
    theorem = (
        "**When not to take MASTER.** The theorem is for constants with which no test can fire before T is "
        f"{_short(printed)} as printed, {_short(corrected)} corrected (d = 2); until then MASTER is its random schedule "
        "alone. `practical` has constants of ours, which no theorem covers."
    )
    words = [theorem]
    if said("N1") is not None:
        words.append(
            f"With them, the tests leave {_short(said('N1'))} of the schedule's regret at T = 2^20 and four changes (N1)"
            + (f", a warm start {_short(said('N2'))} of that (N2)." if said("N2") else ".")
        )
    for id, where in (("N3", "abrupt changes"), ("N4", "smooth drift"), ("N6", "both")):
        reason = known.get(id, {}).get("reason")
        if known.get(id, {}).get("verdict") == "holds" and reason:
            for short, learner in NAMES.items():
                reason = reason.replace(f" {short}'s", f" {learner}'s")
            words.append(f"On paths with {where}, T = 2^17, {reason} ({id}).")
    words.append(
        "What these rules lack is a proof: GLR restarts where the level of what is heard moves, needed or not, and needs the noise's "
        "variance; constant gain and discounting never stop exploring, and their gain and window fit one speed of drift. For example, "
        f"`KieferWolfowitz({GAIN:.1f})` averages over {2 * GAIN:.0f} d rounds and falls behind what moves faster; "
        '`Optimizer(policy="track", drift=...)` computes the gain from the speed of the drift.'
    )
    steps = [f"{reference(DIM).rounds_before_step(step):,}" for step in (1, 2, 3)]
    words.append(
        "No learner can beat a fixed point before its center has moved. GLR and MASTER take the steps of Algorithm 2: in "
        f"{DIM} dimensions with sigma / L = 1/2 and n_0 = 1 after {', '.join(steps[:-1])} and {steps[-1]} rounds. "
        "`Optimizer.rounds_before_step` computes them for your settings."
    )
    return " ".join(words)


def _short(value: float) -> str:
    return f"{value:.3g}"
