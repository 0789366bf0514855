"""The claims, errata and statements of the papers, and the verdicts on the claims.

A ``Claim`` is a sentence about results, by a paper or by us, declared in ``<paper>/claims.py`` (a list ``CLAIMS``) and
judged in a notebook. The docstring of that file states what was known when the claim was declared, and later changes.
An ``Erratum`` is a remark on a paper's text, declared in ``<paper>/errata.py``. Statements are theorems and lemmas, see
``paperlib.checks``. Importing this module imports no paper.
"""

import difflib
import functools
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from paperlib import stats
from paperlib.checks import Statement
from paperlib.core.text import format_number, to_json

from .output import profile_dir, project_dir, read_entries, write_json
from .papers import paper_module, papers, statement_modules

__all__ = [  # what the reference of the documentation shows
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
    "record_text",
    "statements",
    "list_verdicts",
]

log = logging.getLogger(__name__)
WORDS = ("holds", "fails", "inconclusive", "reported", "not run")  # what a verdict may be
SIDES = ("above", "below", "within", "equal", "test", "parts", "reported")


@dataclass(frozen=True)
class Claim:
    """A sentence about results, with the test that decides it.

    ``side`` says how the statistic is held against ``threshold``: "above", "below" (a number), "within" (low,
    high), "equal" (a number, or several), "test" (the level of a ``stats.Test``), "parts" (decided by the
    claims named in ``parts``), "reported" (shown, never decided). Fewer trials than ``trials`` leave it inconclusive.
    """

    id: str  # "glbomd.C5.S3": the paper's package, then the claim
    source: str  # where the paper says it, "Figure 1a"; what it does not say begins with "ours"
    sentence: str  # what it says, in our words
    test: str  # statistic and interval, in words
    side: str
    threshold: Any = None
    notebook: str = ""  # where it is judged; "" for parents that the table derives
    parts: tuple[str, ...] = ()
    trials: int = 0  # the fewest that decide it, for statistics with heavy tails

    def __post_init__(self):
        if self.side not in SIDES:
            raise ValueError(f"{self.id}: side={self.side!r}; allowed: {', '.join(SIDES)}")
        if (self.side == "parts") != bool(self.parts):
            raise ValueError(
                f"{self.id}: parts={self.parts!r} with side={self.side!r}; allowed: parts go with side 'parts', and only with it"
            )
        size = {"above": 0, "below": 0, "test": 0, "within": 1}.get(self.side)
        if size is not None and (self.threshold is None or np.ndim(self.threshold) != size):
            raise ValueError(
                f"{self.id}: threshold={self.threshold!r}; allowed for side {self.side!r}: {'a pair' if size else 'a number'}"
            )


class Finding(NamedTuple):
    """A sentence of ours about the results of a paper's claims.

    An entry of ``FINDINGS`` is a finding, or a tuple of alternatives, of which the pages show the first that the verdicts
    bear out.
    """

    text: str  # "{C1.f1}" stands for the number of claim C1.f1
    rests: dict[str, str]  # claim -> the verdict without which the sentence would not be true


class Erratum(NamedTuple):
    """A place of a paper that is wrong, imprecise or unproven, and what the package does about it.

    ``function`` returns the numbers that demonstrate the problem, where there are any.
    """

    id: str
    where: str
    problem: str
    resolution: str
    function: Callable[[], dict[str, float]] | None = None


@dataclass(frozen=True)
class Verdict:
    """A claim as judged.

    ``line`` is one short, rounded line, stable enough to compare. ``str`` is that line in the paper profile. Of a run at other sizes
    it is the claim's sentence, the verdict of record, and the run's number, which is marked as none.
    """

    id: str
    verdict: str
    profile: str
    statistic: Any = None
    interval: tuple[float, float] | None = None
    n: int | None = None
    method: str = ""
    reason: str = ""

    @functools.cached_property
    def line(self) -> str:
        mark = "" if self.profile == "paper" else f" ({self.profile})"
        words = [short_id(self.id), self.verdict + mark, self.number, self.reason]
        return "  ".join(filter(None, words))

    @property
    def number(self) -> str:
        """The statistic with its interval and the number of trials; "" without one."""
        if self.statistic is None:
            return ""
        exact = self.interval is None and self.n is None
        text = lambda v: f"{v:.6g}" if exact and isinstance(v, float) else format_number(v)
        value = ", ".join(map(text, np.atleast_1d(self.statistic).tolist()))
        if self.interval is not None:
            value += f" [{format_number(self.interval[0])}, {format_number(self.interval[1])}]"
        value += f", n {self.n}" if self.n is not None else ""
        return f"{self.method.split(',')[0]} {value}".strip()

    def __str__(self) -> str:
        if self.profile == "paper":
            return self.line
        lines = f"of record: {record_text(self.id)}", f"{self.profile} run: {self.seen()}"
        return "\n     ".join([f"{short_id(self.id)}  {find_claim(self.id).sentence}", *lines])

    __repr__ = __str__

    def seen(self) -> str:
        """What a run came to that decides nothing, because its sizes are not the paper profile's."""
        if self.verdict == "not run":
            return "not run" + f", {self.reason}" * bool(self.reason)
        if self.statistic is None:  # its reason would be verdicts of its parts
            return "see its parts, not a verdict"
        return "; ".join(filter(None, (f"{self.number}, not a verdict", self.reason)))


def short_id(id: str) -> str:
    """A claim's id within its paper."""
    return id.split(".", 1)[-1]


def claims(paper: str) -> dict[str, Claim]:
    """What a paper declares, by id.

    Raises:
        ValueError: an id declared twice, without the paper's name in front, or a part that is not declared.
    """
    module = paper_module(paper, "claims")
    found: dict[str, Claim] = {}
    for claim in module.CLAIMS if module else ():
        if claim.id in found or not claim.id.startswith(f"{paper}."):
            raise ValueError(f"claim {claim.id!r}; allowed: declared once, as {paper + '.<id>'!r}")
        found[claim.id] = claim
    for claim in found.values():
        if missing := [part for part in claim.parts if part not in found]:
            raise ValueError(f"claim {claim.id!r}: parts {missing} are not declared")
    return found


def find_claim(id: str) -> Claim:
    """The declared claim.

    Raises:
        ValueError: nobody declared it.
    """
    paper = id.split(".")[0]
    known = claims(paper) if paper in papers() else {}
    if id not in known:
        near = difflib.get_close_matches(id, known or papers(), 3)
        raise ValueError(
            f"id={id!r}; allowed: a claim declared in <paper>/claims.py"
            + (f", for example {', '.join(near)}" if near else "")
        )
    return known[id]


def of_record(id: str) -> Verdict:
    """Return the verdict of record of a claim: that of the project's ``figures/claims.json``, wherever this run writes its own."""
    known = claims(find_claim(id).id.split(".")[0])
    return _judged(known[id], known, "paper", read_recorded(project_dir() / "figures"))


def record_text(id: str) -> str:
    """Return the verdict of record of a claim as text, for example "holds  1.23 [1.20, 1.30], n 100".

    Raises:
        ValueError: nobody declared the claim.
    """
    found = of_record(id)
    if found.verdict == "not run" and not found.reason:
        return "none, because no run of the paper profile has judged it"
    return found.line.split("  ", 1)[1]


def decide(c: Claim, statistic: Any, interval: tuple[float, float] | None) -> str:
    """``holds`` when the whole interval is on the claimed side, ``fails`` when wholly on the other.

    A statistic without an interval is exact: it holds or fails, and on the threshold it holds. Of a
    ``stats.Test`` its p decides, and that of its opposite.
    """
    if c.side == "reported":
        return "reported"
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


def judge(
    id: str,
    statistic: Any,
    interval: tuple[float, float] | None = None,
    n: int | None = None,
    profile: str | None = None,
    *,
    reason: str = "",
) -> Verdict:
    """Decide a claim by a statistic, and write the verdict to ``claims/<id>.json`` beside the profile's figures.

    Args:
        id: a declared claim.
        statistic: a ``stats.Interval`` or ``stats.Test``, which bring interval and n; or a number (for side
            "equal" also several, rounded as the claim says) with or without ``interval``.
        profile: "quick", "paper" or "custom".
        reason: a remark to show behind the verdict.

    Raises:
        ValueError: an unknown id or profile, NaN, or a statistic that does not go with the claim's side.
    """
    if not isinstance(id, str):
        raise ValueError(f"id={id!r}; allowed: the id of a declared claim, as 'glbomd.C1'")
    c, method = find_claim(id), ""
    if c.side == "parts":
        raise ValueError(f"id={id!r} is decided by its parts; allowed: conclude({id!r}, profile)")
    if c.side != "reported" and (c.side == "test") != isinstance(statistic, stats.Test):
        raise ValueError(
            f"{id}: statistic={statistic!r} with side {c.side!r}; allowed: a stats.Test for side 'test', and only there"
        )
    if isinstance(statistic, stats.Test):
        found = decide(c, statistic, None)
        n, method, statistic, interval = statistic.n, f"p, {statistic.method}", statistic.p, None
    else:
        if isinstance(statistic, stats.Interval):
            statistic, low, high, n, method = statistic
            interval = low, high
        got = f"{id}: statistic={statistic!r}, interval={interval!r}"
        numbers = (*np.atleast_1d(statistic), *(interval or ()))
        if np.asarray(numbers).dtype.kind not in "biuf":
            raise ValueError(f"{got}; allowed: numbers")
        if np.isnan(numbers).any():
            raise ValueError(f"{got}; allowed: no NaN")
        if interval is not None and not interval[0] <= interval[1]:
            raise ValueError(f"{id}: interval={interval!r}; allowed: its lower end first")
        found = decide(c, statistic, interval)
    judged = Verdict(id, found, profile, statistic, interval, n, method, reason)
    return _keep(_open_if_few(c, judged))


def _open_if_few(c: Claim, judged: Verdict) -> Verdict:
    """Return a verdict, changed to inconclusive if its number comes from fewer trials than the claim requires."""
    if judged.statistic is None or (judged.n or 0) >= c.trials:
        return judged
    why = f"decided by at least {c.trials} trials"
    reasons = (judged.reason, "" if why in judged.reason else why)
    return replace(judged, verdict="inconclusive", reason="; ".join(filter(None, reasons)))


def record_not_run(id: str, reason: str, profile: str) -> Verdict:
    """Keep that a claim was not tested in this run, and why (its data is missing, say)."""
    return _keep(Verdict(find_claim(id).id, "not run", profile, reason=reason))


def combine_parts(id: str, profile: str) -> Verdict:
    """The verdict on a claim with parts: holds if all hold, fails if one fails, else inconclusive.

    Raises:
        ValueError: an unknown id, or a claim without parts.
    """
    c, paper = find_claim(id), id.split(".")[0]
    if not c.parts:
        raise ValueError(f"id={id!r} has no parts; allowed: judge({id!r}, ...)")
    return _keep(_judged(c, claims(paper), profile, read_written(profile, paper)))


def _judged(c: Claim, known: dict[str, Claim], profile: str, stored: dict[str, Verdict]) -> Verdict:
    """Return a claim's stored verdict, "not run" where there is none; the verdict of a parent always follows from its parts."""
    if not c.parts:
        return _open_if_few(c, stored.get(c.id, Verdict(c.id, "not run", profile)))
    parts = {part: _judged(known[part], known, profile, stored).verdict for part in c.parts}
    found = set(parts.values())
    if "fails" in found:
        verdict = "fails"
    elif found == {"holds"}:
        verdict = "holds"
    else:
        verdict = "not run" if found == {"not run"} else "inconclusive"
    reason = ", ".join(f"{short_id(part)} {v}" for part, v in parts.items())
    return Verdict(c.id, verdict, profile, reason=reason)


def _keep(verdict: Verdict) -> Verdict:
    content = {
        **to_json(verdict),
        "line": verdict.line,
        "notebook": find_claim(verdict.id).notebook,
    }
    write_json(profile_dir(verdict.profile) / "claims" / f"{verdict.id}.json", content)
    return verdict


def _verdict(entry: dict[str, Any]) -> Verdict:
    """Return the verdict that an entry of a JSON file holds beside other keys."""
    verdict = Verdict(**{f.name: entry[f.name] for f in fields(Verdict) if f.name in entry})
    vars(verdict)["line"] = entry["line"]  # made of numbers that the file holds rounded
    return verdict


def read_recorded(top: Path) -> dict[str, Verdict]:
    """Return the verdicts in ``claims.json`` of a folder by the claim's id; none of a damaged file."""
    return {entry["id"]: _verdict(entry) for entry in read_entries(top)}


def read_written(profile: str, paper: str) -> dict[str, Verdict]:
    """Return the verdicts that the runs of a profile wrote on a paper's claims, by the claim's id.

    Runs of the paper profile write one file per claim, which is not committed. Where there is none, the verdict is that of the
    committed ``claims.json``.
    """
    found = read_recorded(profile_dir(profile)) if profile == "paper" else {}
    for path in (profile_dir(profile) / "claims").glob(f"{paper}.*.json"):
        try:
            verdict = _verdict(json.loads(path.read_bytes()))
            damaged = verdict.verdict not in WORDS or not isinstance(verdict.line, str)
        # no JSON, one nested too deep, or no object with the fields of a verdict
        except (ValueError, RecursionError, TypeError, KeyError):
            damaged = True
        found.pop(path.stem, None)
        if damaged:
            log.warning("%s is damaged: counted as not run", path.name)
        else:
            found[path.stem] = verdict
    return found


def list_verdicts(profile: str, paper: str) -> list[Verdict]:
    """Return the verdict on each of a paper's claims in a profile, "not run" included, in the order of declaration."""
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
