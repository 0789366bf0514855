"""The claims, errata and statements of the papers, and the verdicts on the claims.

A ``Claim`` is a sentence about results, stated by a paper or added by us. It is declared in ``<paper>/claims.py`` (a list
``CLAIMS``) and judged in a notebook. The docstring of that file states what was known when the claim was declared, and
lists later changes. An ``Erratum`` is a remark on a paper's text, declared in ``<paper>/errata.py``. Statements are
theorems and lemmas, see ``paperlib.checks``. Importing this module imports no paper.
"""

import difflib
import json
import logging
import math
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from paperlib import stats
from paperlib.checks import Statement
from paperlib.core.text import format_number, to_json

from .output import profile_dir, project_dir, read_entries, write_json
from .papers import paper_module, statement_modules, topics

__all__ = [  # names that the documentation's reference lists
    "Claim",
    "Erratum",
    "Finding",
    "Verdict",
    "find_claim",
    "claims",
    "combine_parts",
    "decide",
    "judge",
    "record_not_run",
    "statements",
    "list_verdicts",
]

log = logging.getLogger(__name__)
WORDS = ("holds", "fails", "inconclusive", "reported", "not run")  # values of ``Verdict.verdict``
HEAVY_TAIL_TRIALS = 100  # fewest trials that decide a claim if they have a heavy tail


@dataclass(frozen=True)
class Claim:
    """Sentence about results, with the test that decides it.

    ``side`` states how the statistic is compared with ``threshold``. With fewer trials than ``trials`` the claim is
    inconclusive. The sides are:

    - "above" and "below": the threshold is a number;
    - "within": the threshold is a pair, low and high;
    - "equal": the threshold is a number, or several;
    - "test": the threshold is the level of a ``stats.Test``;
    - "parts": the claim is decided by the claims named in ``parts``;
    - "reported": the statistic is shown, but never decides the claim.
    """

    id: str  # the paper's package and the claim's number, "glbomd.C5.S3"
    source: str  # place in the paper, "Figure 1a"; starts with "ours" if the claim is our addition
    sentence: str  # the claim in our words
    test: str  # description of the statistic and its interval
    side: str
    threshold: Any = None
    notebook: str = ""  # notebook that judges it; "" for claims that their parts decide
    parts: tuple[str, ...] = ()
    trials: int = 0  # fewest trials that decide it, for heavy-tailed statistics

    @property
    def exempt(self) -> str:
        """Why its verdict is not repeated with other seeds, for example "run time"; "" if it is repeated.

        ``EXEMPT`` in the paper's ``claims.py`` names the claims without parts for each reason.
        """
        if self.parts or self.side == "reported":
            return "decided by its parts" if self.parts else "reported"
        module = paper_module(self.id.split(".")[0], "claims")
        named = getattr(module, "EXEMPT", {}).items()
        return next((reason for reason, ids in named if short_id(self.id) in ids), "")


class Finding(NamedTuple):
    """Our sentence about the results of a paper's claims.

    An entry of ``FINDINGS`` is a finding, or a tuple of alternatives. The pages show the first alternative that agrees with
    the verdicts.
    """

    text: str  # "{C1.f1}" is replaced by the number of claim `C1.f1`
    rests: dict[str, str]  # claim -> verdict that the sentence requires


class Erratum(NamedTuple):
    """Place in a paper that is wrong, imprecise or unproven, and how the package deals with it.

    ``function`` returns the numbers that demonstrate the problem, if there are any.
    """

    id: str
    where: str
    problem: str
    resolution: str
    function: Callable[[], dict[str, float]] | None = None

    def __str__(self) -> str:
        """Return the erratum in lines, with its numbers if there are any."""
        numbers = self.function() if self.function else {}
        listed = "; ".join(f"{name}: {format_number(x)}" for name, x in numbers.items())
        texts = [f"{self.problem.rstrip('.')}.", listed, f"here: {self.resolution.rstrip('.')}."]
        wrapped = [textwrap.indent(textwrap.fill(text, 106), " " * 4) for text in texts if text]
        return "\n".join([f"{self.id}  {self.where}", *wrapped])


@dataclass(frozen=True)
class Verdict:
    """Verdict on a claim, with the statistic that led to it.

    The verdict of record needs the same verdict in two runs of the same size with disjoint seeds. If their verdicts differ, it
    is inconclusive. The statistic is the one of the first run.

    ``str`` is for readers: the recorded verdict and the claim's sentence, then the recorded number. For a run at other sizes it
    also has the run's number, which is marked as not a verdict.
    """

    id: str
    verdict: str
    profile: str
    statistic: Any = None
    interval: tuple[float, float] | None = None
    n: int | None = None
    method: str = ""
    tail: float | None = None  # see ``stats.tail_share``
    reason: str = ""
    first: str = ""  # verdict of the first run, if the verdict of its replication differs from it
    replication: "Verdict | None" = None  # verdict of the second run; None if there is none

    @property
    def remark(self) -> str:
        """Reason of the verdict and, if the verdict of the replication differs, both verdicts; as text."""
        apart = ""
        if self.first:
            other = self.replication
            apart = f"{self.first} with these seeds, {other.verdict} with others ({other.details})"
        return "; ".join(filter(None, (self.reason, apart)))

    @property
    def number(self) -> str:
        """Statistic with its interval and the number of trials, as text; "" without a statistic."""
        if self.statistic is None:
            return ""
        if self.method.endswith(stats.UNDEFINED):
            return f"{self.method.split(',')[0]} does not exist, n {self.n}"
        exact = self.interval is None and self.n is None
        text = lambda v: f"{v:.6g}" if exact and isinstance(v, float) else format_number(v)
        value = ", ".join(map(text, np.atleast_1d(self.statistic).tolist()))
        if self.interval is not None:
            value += f" [{format_number(self.interval[0])}, {format_number(self.interval[1])}]"
        value += f", n {self.n}" if self.n is not None else ""
        return f"{self.method.split(',')[0]} {value}".strip()

    def __str__(self) -> str:
        record, claim = self if self.profile == "paper" else of_record(self.id), find_claim(self.id)
        if record.verdict == "not run" and not record.reason:
            about = "no run has judged it"
        else:
            about = "see its parts" if claim.parts else record.details
        lines = [
            f"{record.verdict.capitalize()}: {claim.sentence}",
            f"at the paper's sizes: {about}",
        ]
        known = of_record(self.id) if self.profile == "paper" else self
        # The verdict of record has the other run in its remark.
        if known.first == self.verdict and not self.first:
            other = known.replication.verdict
            lines.append(
                f"with other seeds: {other}; therefore the verdict of record is inconclusive"
            )
        elif self.profile == "replication":
            lines.append(f"with other seeds: {self.seen()}")
        elif self.profile != "paper":
            lines.append(f"{self.profile} run: {self.seen()}")
        return "\n     ".join(lines)

    __repr__ = __str__

    @property
    def details(self) -> str:
        """Number and reason of the verdict, as text."""
        return "; ".join(filter(None, (self.number, self.remark)))

    def seen(self) -> str:
        """Return the result of a replication, or of a run that decides no claim because its sizes differ from the paper profile's."""
        if self.profile == "replication":
            return "; ".join(filter(None, (self.verdict, self.details)))
        if self.verdict == "not run":
            return "not run" + f", {self.reason}" * bool(self.reason)
        if self.statistic is None:  # its reason would be verdicts on its parts
            return "see its parts, not a verdict"
        return self.details.replace(self.number, f"{self.number}, not a verdict", 1)


def short_id(id: str) -> str:
    """Return a claim's id within its paper, for example "C5.S3" for "glbomd.C5.S3"."""
    return id.split(".", 1)[-1]


def claims(paper: str) -> dict[str, Claim]:
    """Return the claims that a paper declares, by id."""
    return {claim.id: claim for claim in getattr(paper_module(paper, "claims"), "CLAIMS", ())}


def find_claim(id: str) -> Claim:
    """Return the declared claim with this id.

    Raises:
        ValueError: no paper declares it.
    """
    paper = id.split(".")[0]
    known = claims(paper) if paper in topics() else {}
    if id not in known:
        near = difflib.get_close_matches(id, known or topics(), 3)
        raise ValueError(
            "id must be a claim declared in <paper>/claims.py"
            + (f", for example {', '.join(near)}" if near else "")
            + f", got {id!r}"
        )
    return known[id]


def of_record(id: str) -> Verdict:
    """Return the recorded verdict on a claim.

    It is read from the project's ``figures/claims.json``, even if this run writes its own verdicts to another folder.
    """
    known = claims(find_claim(id).id.split(".")[0])
    return _judged(known[id], known, "paper", read_recorded(project_dir() / "figures"))


def list_recorded(paper: str) -> list[Verdict]:
    """Return the recorded verdict on each of a paper's claims, in the order of declaration; see ``of_record``."""
    known, stored = claims(paper), read_recorded(project_dir() / "figures")
    return [_judged(c, known, "paper", stored) for c in known.values()]


def decide(c: Claim, statistic: Any, interval: tuple[float, float] | None) -> str:
    """Return "holds" if the whole interval is on the claimed side, "fails" if it is wholly on the other side.

    Otherwise the claim is "inconclusive". A statistic without an interval is exact: it holds or fails, and on the threshold
    it holds. A ``stats.Test`` is decided by its p-value and by the p-value of the opposite alternative.

    Examples:
        >>> from companion.verdicts import Claim, decide
        >>> claim = Claim("linear.C1", "Figure 1", "A has less regret than B.", "ratio", "below", threshold=1.0)
        >>> decide(claim, 0.8, (0.7, 0.9))
        'holds'
        >>> decide(claim, 0.9, (0.7, 1.1))
        'inconclusive'
    """
    if c.side == "reported":
        return "reported"
    # The statistic and the threshold may be arrays, therefore all entries must be equal.
    if c.side == "equal":
        equal = np.array_equal(np.atleast_1d(statistic), np.atleast_1d(c.threshold))
        return "holds" if equal else "fails"
    if c.side == "test":
        right, wrong = statistic.p < c.threshold, statistic.opposite < c.threshold
        return "holds" if right else "fails" if wrong else "inconclusive"
    low, high = (statistic, statistic) if interval is None else interval
    if c.side == "within":
        least, most = c.threshold
        right, wrong = least <= low and high <= most, high < least or low > most
    elif c.side == "above":
        right, wrong = low >= c.threshold, high <= c.threshold
    else:
        right, wrong = high <= c.threshold, low >= c.threshold
    if interval is None:
        return "holds" if right else "fails"
    return "inconclusive" if right == wrong else "holds" if right else "fails"


def disjoint(a: Sequence[float], b: Sequence[float]) -> bool:
    """Return whether two intervals, each given by its ends, have no common point."""
    (a, b), (c, d) = map(float, a), map(float, b)  # infinite ends are stored as text
    return max(a, c) > min(b, d)


def trials_to_decide(c: Claim, judged: Verdict) -> int | None:
    """Estimate how many trials would decide an inconclusive claim, rounded up to two digits.

    The estimate keeps the statistic, and the width of the interval falls as 1 / sqrt(n). With a replication it is the larger of
    the two runs' estimates. It is None for a claim that is decided, has no interval, or is inconclusive for another reason
    than its interval, and if the two runs contradict each other.

    Examples:
        >>> from companion.verdicts import Claim, Verdict, trials_to_decide
        >>> claim = Claim("linear.C1", "Figure 1", "A has less regret than B.", "ratio", "below", threshold=1.0)
        >>> trials_to_decide(claim, Verdict("linear.C1", "inconclusive", "paper", 0.9, (0.7, 1.1), 20))
        80
    """
    if judged.verdict != "inconclusive" or judged.first:
        return None
    runs = [judged] if judged.replication is None else [judged, judged.replication]
    found = [_needed(c, run) for run in runs]
    if None in found or len({side for side, _ in found}) > 1:
        return None
    needed = max(n for _, n in found)
    unit = 10 ** max(0, math.floor(math.log10(needed)) - 1)
    return math.ceil(round(needed / unit, 6)) * unit


def _needed(c: Claim, run: Verdict) -> tuple[tuple[bool, ...], float] | None:
    """Return whether a run's statistic exceeds each threshold, and how many trials would decide the claim; None if no number would."""
    if c.side not in ("above", "below", "within") or not run.n or run.interval is None:
        return None
    numbers = (run.statistic, *run.interval)
    if np.ndim(run.statistic) or not np.isfinite(numbers).all():
        return None
    if decide(c, run.statistic, run.interval) != "inconclusive":
        return None
    limits, (low, high) = np.atleast_1d(c.threshold).tolist(), run.interval
    side = tuple(run.statistic > limit for limit in limits)
    # From outside, the interval must leave the nearest limit only.
    if not limits[0] <= run.statistic <= limits[-1]:
        limits = [min(limits, key=lambda limit: abs(limit - run.statistic))]
    gaps = [limit - run.statistic for limit in limits]
    if 0 in gaps:
        return None
    ends = [high if gap > 0 else low for gap in gaps]
    needed = run.n * max((end - run.statistic) / gap for end, gap in zip(ends, gaps)) ** 2
    return (side, max(needed, _least(c, run))) if needed > run.n else None


def judge(
    id: str,
    statistic: Any,
    interval: tuple[float, float] | None = None,
    n: int | None = None,
    profile: str | None = None,
    *,
    reason: str = "",
) -> Verdict:
    """Decide a claim by a statistic, and write the verdict to ``claims/<id>.json`` next to the profile's figures.

    Args:
        id: a declared claim.
        statistic: a ``stats.Interval`` or ``stats.Test``, which contain interval and n; or a number with or without
            ``interval``. For side "equal" it may also be several numbers, rounded as the claim states.
        interval: low and high, if ``statistic`` is a number.
        n: number of trials, if ``statistic`` is a number that comes from trials; it then requires ``interval``, unless the side
            is "equal" or "reported".
        profile: "quick", "paper", "replication" or "custom".
        reason: a remark to show after the verdict.

    Raises:
        ValueError: an unknown id or profile, NaN, a ``stats.Test`` for another side than "test" and the reverse, or a number of
            trials without an interval for a claim with a threshold.
    """
    c, method, tail = find_claim(id), "", math.nan
    if c.side == "parts":
        raise ValueError(
            f"id must be a claim without parts, got {id!r}. Use combine_parts({id!r}, profile)"
        )
    if c.side != "reported" and (c.side == "test") != isinstance(statistic, stats.Test):
        raise ValueError(
            f"{id}: statistic must be a stats.Test for side='test' and only then, got {statistic!r} with side={c.side!r}"
        )
    if isinstance(statistic, stats.Test):
        found = decide(c, statistic, None)
        n, method, statistic, interval = statistic.n, f"p, {statistic.method}", statistic.p, None
    else:
        if isinstance(statistic, stats.Interval):
            statistic, low, high, n, method, tail = statistic
            interval = low, high
        if n is not None and interval is None and c.side in ("above", "below", "within"):
            raise ValueError(
                f"{id}: statistic must be a stats.Interval if it comes from n trials, got {statistic!r} with n={n} and no interval"
            )
        if np.isnan([*np.atleast_1d(statistic), *(() if interval is None else interval)]).any():
            raise ValueError(
                f"{id}: statistic and interval must not be NaN, got {statistic!r} and {interval!r}"
            )
        found = decide(c, statistic, interval)
    tail = None if math.isnan(tail) else tail
    judged = Verdict(id, found, profile, statistic, interval, n, method, tail, reason)
    return _keep(_open_if_few(c, judged))


def _least(c: Claim, judged: Verdict) -> int:
    """Return the fewest trials that decide a claim."""
    heavy = (judged.tail or 0) > stats.HEAVY_TAIL and not c.exempt
    return max(c.trials, HEAVY_TAIL_TRIALS * heavy)


def _open_if_few(c: Claim, judged: Verdict) -> Verdict:
    """Return the verdict, changed to inconclusive if its number comes from fewer trials than the claim requires.

    A claim without a number of trials of its own requires ``HEAVY_TAIL_TRIALS`` if they have a heavy tail, unless it is exempt.
    """
    least = _least(c, judged)
    if judged.statistic is None or (judged.n or 0) >= least:
        return judged
    why = f"a verdict needs at least {least} trials"
    if least > c.trials:
        why += f", because {100 * judged.tail:.0f} % of the variance is in the largest 5 % of them"
    reasons = (judged.reason, "" if why in judged.reason else why)
    return replace(judged, verdict="inconclusive", reason="; ".join(filter(None, reasons)))


def confirm(judged: Verdict, other: Verdict | None) -> Verdict:
    """Return the verdict of record of two runs of the same size with disjoint seeds.

    It is inconclusive if the verdicts differ. The first run decides if there is no second one with as many trials, and for
    a claim that is exempt.
    """
    c = find_claim(judged.id)
    if other is None or c.exempt or "not run" in (judged.verdict, other.verdict):
        return judged
    if judged.n != other.n:  # the second run is older than a change of the paper profile
        return judged
    judged, other = _open_if_few(c, judged), _open_if_few(c, other)
    if judged.verdict != other.verdict:
        first = judged.verdict
        return replace(judged, verdict="inconclusive", first=first, replication=other)
    return replace(judged, replication=other)


def record_not_run(id: str, reason: str, profile: str) -> Verdict:
    """Store that a claim was not tested in this run, and the reason, for example missing data."""
    return _keep(Verdict(find_claim(id).id, "not run", profile, reason=reason))


def combine_parts(id: str, profile: str) -> Verdict:
    """Return the verdict on a claim with parts, and store it.

    It holds if all parts hold and fails if one part fails. It is not run if no part was run, otherwise inconclusive.

    Raises:
        ValueError: an unknown id, or a claim without parts.
    """
    c, paper = find_claim(id), id.split(".")[0]
    if not c.parts:
        raise ValueError(f"id must be a claim with parts, got {id!r}. Use judge({id!r}, ...)")
    return _keep(_judged(c, claims(paper), profile, read_written(profile, paper)))


def _judged(c: Claim, known: dict[str, Claim], profile: str, stored: dict[str, Verdict]) -> Verdict:
    """Return a claim's stored verdict, or "not run" if there is none; the parts always decide the verdict on their parent."""
    if not c.parts:
        return _open_if_few(c, stored.get(c.id, Verdict(c.id, "not run", profile)))
    parts = {part: _judged(known[part], known, profile, stored).verdict for part in c.parts}
    found = set(parts.values())
    # One part that fails refutes the whole claim, whatever the other parts show.
    if "fails" in found:
        verdict = "fails"
    elif found == {"holds"}:
        verdict = "holds"
    else:
        verdict = "not run" if found == {"not run"} else "inconclusive"
    reason = ", ".join(f"{short_id(part)} {v}" for part, v in parts.items())
    return Verdict(c.id, verdict, profile, reason=reason)


def _keep(verdict: Verdict) -> Verdict:
    content = {**to_entry(verdict), "notebook": find_claim(verdict.id).notebook}
    write_json(profile_dir(verdict.profile) / "claims" / f"{verdict.id}.json", content)
    return verdict


def to_entry(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as an entry of a JSON file, without the fields that the verdict of a single run does not have."""
    content = to_json(verdict)
    for name in ("tail", "first", "replication"):
        if not getattr(verdict, name):
            del content[name]
    if verdict.replication:
        content["replication"] = to_entry(verdict.replication)
    return content


def _verdict(entry: dict[str, Any]) -> Verdict:
    """Return the verdict in an entry of a JSON file, which may have further keys.

    Raises:
        ValueError, TypeError, KeyError: the entry is damaged.
    """
    known = {f.name: entry[f.name] for f in fields(Verdict) if f.name in entry}
    # Numbers that are not finite are stored as text.
    for name in ("statistic", "interval"):
        number = lambda value: float(value) if isinstance(value, str) else value
        x = known.get(name)
        known[name] = list(map(number, x)) if isinstance(x, list) else number(x)
    if known.get("replication"):
        known["replication"] = _verdict(known["replication"])
    verdict = Verdict(**known)
    texts = (verdict.id, verdict.method, verdict.reason, verdict.first)
    valid = verdict.verdict in WORDS and all(isinstance(x, str) for x in texts)
    valid &= verdict.interval is None or len(verdict.interval) == 2
    valid &= all(isinstance(x, (int, float, type(None))) for x in (verdict.n, verdict.tail))
    if not valid:
        raise ValueError(f"entry must have the fields of a verdict, got {entry!r}")
    return verdict


def read_recorded(top: Path) -> dict[str, Verdict]:
    """Return the verdicts in ``claims.json`` of a folder by the claim's id, without damaged entries."""
    found = {}
    for entry in read_entries(top):
        try:
            verdict = _verdict(entry)
        except (ValueError, TypeError, KeyError):
            log.warning("an entry of %s is damaged and is counted as not run", top / "claims.json")
            continue
        found[verdict.id] = verdict
    return found


def read_written(profile: str, paper: str) -> dict[str, Verdict]:
    """Return the verdicts on a paper's claims that the runs of a profile wrote, by the claim's id.

    Runs of the paper profile and of its replication write one file per claim, which is not committed. A verdict without such a
    file is the one in the committed ``claims.json``. For the paper profile, verdicts of record are returned.
    """
    own = _read_files(profile, paper)
    if profile not in ("paper", "replication"):
        return own
    recorded = read_recorded(profile_dir("paper"))
    if profile == "replication":
        return {id: v.replication for id, v in recorded.items() if v.replication} | own
    others = _read_files("replication", paper)
    for id, c in claims(paper).items():
        known = recorded.pop(id, Verdict(id, "not run", "paper"))
        first = replace(known, verdict=known.first or known.verdict, first="", replication=None)
        first = _decide_again(c, own.get(id, first))
        usable = (v for v in (others.get(id), known.replication) if v and v.verdict != "not run")
        other = next((v for v in usable if v.n == first.n), None)
        recorded[id] = confirm(first, other and _decide_again(c, other))
    return recorded


def _decide_again(c: Claim, run: Verdict) -> Verdict:
    """Return the verdict of a run, decided from its numbers, because the claim's threshold may be newer."""
    if c.side not in ("above", "below", "within", "equal") or run.statistic is None:
        return run
    found = decide(c, run.statistic, run.interval)
    return run if found == run.verdict else _open_if_few(c, replace(run, verdict=found))


def _read_files(profile: str, paper: str) -> dict[str, Verdict]:
    """Return the verdicts in the files per claim that the runs of a profile wrote; a damaged file counts as not run."""
    found = {}
    for path in (profile_dir(profile) / "claims").glob(f"{paper}.*.json"):
        try:
            verdict = _verdict(json.loads(path.read_bytes()))
            damaged = verdict.id != path.stem
        # Not a file, not JSON, JSON that is nested too deep, or not an object with the fields of a verdict.
        except (OSError, ValueError, RecursionError, TypeError, KeyError):
            damaged = True
        if damaged:
            log.warning("%s is damaged and is counted as not run", path.name)
            verdict = Verdict(path.stem, "not run", profile)
        found[path.stem] = verdict
    return found


def list_verdicts(profile: str, paper: str) -> list[Verdict]:
    """Return the verdict on each of a paper's claims in a profile, including "not run", in the order of declaration."""
    known, stored = claims(paper), read_written(profile, paper)
    return [_judged(c, known, profile, stored) for c in known.values()]


def statements(paper: str) -> list[Statement]:
    """Return every statement that a function of a paper's ``theory`` or ``proofs`` computes, in the order of the files."""
    modules = [import_module(name) for name in statement_modules(paper)]
    return [
        value.statement
        for module in modules
        for value in vars(module).values()
        if isinstance(getattr(value, "statement", None), Statement)
        and value.__module__ == module.__name__
    ]
