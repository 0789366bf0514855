"""A page a paper, and one of all claims, as Markdown that GitHub and the site show alike.

Everything on them is found: what a paper's ``claims.py`` declares, the verdicts and figures that a profile's runs
left, the statements of its ``theory.bounds`` and its errata. Each has an anchor, and links lead both ways.
"""

import inspect
import json
import re
from collections.abc import Sequence

from paperlib.core.linalg import CPU_PRODUCT, CPU_ROUND, CPU_TRIAL, DEVICE_ROUND, first_on_cuda
from paperlib.core.text import number

from .. import project
from ..papers import heading, room
from ..verdicts.statements import statements
from ..verdicts.verdict import Finding, short
from . import markdown as md
from .markdown import NOTHING, Text, escape, prose, spoken
from .saved import Saved, drawn, notebooks, saved

MARKS = {
    "holds": "✓",
    "fails": "✕",
    "inconclusive": "?",
    "by construction": "≡",
    "vacuous here": "○",
    "reported": "•",
    "not run": "–",
}
SIZES = {
    "quick": "Verdicts are those of record, from the paper profile. Numbers of a quick run come from small sizes and are not verdicts.",
    "paper": "",
    "custom": "Verdicts are those of record, from the paper profile. Numbers of a custom run come from parameters that no profile declares, and are not verdicts.",
}
NOTE = "<!-- written by python -m companion.pages.site -->\n\n"


def chip(verdict: str, text: str = "", to: str = "") -> Text:
    """A verdict as a mark and a word, never by color alone; ``to``: where it leads."""
    inside = f"`{MARKS[verdict]} {text or verdict}`"
    return Text(f"[{inside}]({to})" if to else inside)


def tally(counts: dict[str, int]) -> Text:
    """A chip for each verdict that there is, with its number."""
    words = lambda verdict: verdict if counts[verdict] == 1 else md.MANY[verdict]
    return Text(" ".join(chip(v, f"{counts[v]} {words(v)}") for v in MARKS if counts.get(v)))


def anchor(id: str) -> str:
    """Of a claim, a statement or an erratum: "goucb.C1.f1" gives c1.f1, "Lemma 5.5, printed" lemma-5.5-printed."""
    return re.sub(r"[^\w.]+", "-", id.lower()).strip("-")


def checked(name: str) -> str:
    """The anchor of a statement: a figure may have the name of one."""
    return f"theory-{anchor(name)}"


def _target(id: str, name: str) -> Text:
    return Text(f'<a id="{id}"></a>{escape(name)}')


def _links(pairs: list[tuple[str, str]]) -> Text:
    return Text(", ".join(f"[{escape(word)}]({to})" for word, to in pairs) or NOTHING)


def findings(paper: str, profile: str, claims: dict[str, dict]) -> list[Finding]:
    """Return the sentences about a paper's results that ``claims.py`` declares, for the paper profile only.

    Of alternatives the first that the verdicts bear out is taken. A finding is left out while a claim that it needs has not
    been run.
    """
    declared = getattr(room(paper, "claims"), "FINDINGS", ()) if profile == "paper" else ()
    ran = lambda id: id not in claims or claims[id]["verdict"] != "not run"
    return [one for entry in declared if all(map(ran, (one := chosen(entry, claims)).rests))]


def chosen(entry: Finding | tuple[Finding, ...], claims: dict[str, dict]) -> Finding:
    """The finding, or the first of several alternatives that rests on verdicts as they are; the last where none does."""
    if isinstance(entry, Finding):
        return entry
    verdict = lambda id: claims.get(id, {}).get("verdict")
    borne_out = (f for f in entry if all(verdict(id) == v for id, v in f.rests.items()))
    return next(borne_out, entry[-1])


def finding(found: Finding, claims: dict[str, dict], page: str = "") -> Text:
    """A finding with its numbers, each a link to the claim that holds it, on ``page``.

    Raises:
        ValueError: a claim that it rests on has another verdict by now, or one that it shows has no number, or there is none of that name.
    """
    for id, verdict in found.rests.items():
        has = claims[id]["verdict"] if id in claims else "not declared"
        if has != verdict:
            raise ValueError(
                f"finding {found.text!r} rests on {id}: {verdict!r}, which is {has!r} now; allowed: findings that the verdicts bear out"
            )

    def shown(match: re.Match) -> str:
        claim = claims.get(match[1], {})
        value = claim.get("statistic")
        if not isinstance(value, (int, float)):
            raise ValueError(
                f"finding {found.text!r} shows {match[1]}, whose number is {value!r}; allowed: claims with one number"
            )
        text = f"{100 * value:.3g} %" if match[2] else number(value)
        return f"[{text}]({page}#{anchor(match[1])})"

    return Text(re.sub(r"\{([\w.]+?)(:%)?\}", shown, found.text))


def shown(figure: Saved, marks: Sequence[str] = ()) -> str:
    """Picture, caption, ``marks`` and files of a figure, for pages two folders below the root."""
    place = f"../../figures/{figure.paper}/{figure.name}"
    files = [f"[{kind.upper()}]({place}.{kind})" for kind in figure.kinds]
    picture = f"![{spoken(figure.about['alt'])}]({place}.png)"
    last = " · ".join([" ".join(marks), *files] if marks else files)
    return "\n\n".join([picture, prose(figure.about["caption"]), last])


class Page:
    """The page of one paper, of its part of ``ledger.gather``."""

    def __init__(self, name: str, found: dict, profile: str):
        self.name, self.found, self.profile = name, found, profile
        self.figures = saved(name, profile)
        self.claims = {short(claim["id"]): claim for claim in found["claims"]}
        self.notebooks = notebooks(name)
        self.shown = {stem: figure.shows(found["claims"]) for stem, figure in self.figures.items()}

    def text(self) -> str:
        parts = [
            self.head(),
            self.outcome(),
            self.pictures(),
            self.judged(),
            self.theory(),
            self.errata(),
        ]
        return NOTE + "\n\n".join(filter(None, parts)) + "\n"

    def head(self) -> str:
        title, source = heading(self.name)
        says = inspect.cleandoc(getattr(room(self.name, "claims"), "SAYS", ""))
        links = [(n.title, f"../notebooks/{n.stem}.ipynb") for n in self.notebooks]
        more = f"[Learners and problems](../reference/{self.name}.md) · [what a round costs](../guides/speed.md#{self.name}) · [all claims](../claims.md)"
        lines = [f"# {title}", source, says, SIZES[self.profile]]
        lines.append(f"Notebooks: {'; '.join(f'[{word}]({to})' for word, to in links)}. {more}")
        return "\n\n".join(filter(None, lines))

    def outcome(self) -> str:
        counts = self.found["counts"]
        words = {"paper": "Tests of its sentences", "ours": "Tests of ours"}
        tallies = [f"{words[kind]}: {tally(n)}" for kind, n in counts.items() if n]
        listed = [
            f"- {finding(f, self.claims)}" for f in findings(self.name, self.profile, self.claims)
        ]
        return "\n\n".join(["## What came out", *tallies, *(["\n".join(listed)] if listed else [])])

    def pictures(self) -> str:
        if not self.figures:
            return ""
        parts = ["## Figures"]
        for notebook, mine in drawn(self.name, self.figures):
            if mine:
                link = f"[{notebook.title}](../notebooks/{notebook.stem}.ipynb)"
                parts += [f"From the notebook {link}:", *map(self.picture, mine)]
        return "\n\n".join(parts)

    def picture(self, figure: Saved) -> str:
        """Picture, caption, verdicts and files of one figure."""
        chips = [
            chip(c["verdict"], short(c["id"]), f"#{anchor(short(c['id']))}")
            for c in self.shown[figure.name]
        ]
        chips += [f"[{escape(name)}](#{checked(name)})" for name in figure.statements()]
        return f"### {figure.label}\n\n{shown(figure, chips)}"

    def judged(self) -> str:
        """Every claim with source, test, verdict and numbers; parts and variants (C5.S3 of C5) folded away."""
        if not self.claims:
            return ""
        part = lambda id: any(id.startswith(f"{other}.") for other in self.claims)
        head = ("id", "claim", "verdict", "number [interval]", "n", "seen in")
        rows = [(part(id), self.claim(id, c)) for id, c in self.claims.items()]
        main, folded = ([row for is_part, row in rows if is_part == x] for x in (False, True))
        text = f"## Claims\n\n{md.table(head, main)}"
        if folded:
            summary = f"{md.many(len(folded), 'part')} and variants of these claims"
            text += f"\n\n<details>\n<summary>{summary}</summary>\n\n{md.table(head, folded)}\n\n</details>"
        return text

    def claim(self, id: str, claim: dict) -> tuple:
        figures = [
            (figure.label, f"#{figure.anchor}")
            for figure in self.figures.values()
            if claim in self.shown[figure.name] or self._parent(id) in self.shown[figure.name]
        ]
        theory = [(s["name"], f"#{checked(s['name'])}") for s in self.named(claim)]
        notebook = claim["notebook"]
        places = figures + theory
        if notebook:
            places.append(("notebook", f"../notebooks/{notebook}.ipynb"))
        test = "" if claim["parts"] else f"; test: {escape(claim['test'])}"
        words = f"{escape(claim['sentence'])}<br><small>{escape(claim['source'])}{test}</small>"
        row = md.row(claim)
        return (
            _target(anchor(id), id),
            Text(words),
            chip(claim["verdict"]),
            *row[1:],
            _links(places),
        )

    def _parent(self, id: str) -> dict | None:
        return next((c for c in self.claims.values() if f"{self.name}.{id}" in c["parts"]), None)

    def named(self, claim: dict) -> list[dict]:
        """The statements that a claim's source names: "ours, after Theorem 4.1"."""
        says = lambda name: re.search(rf"{re.escape(name)}(?![\w.]*\d)", claim["source"])
        return [s for s in self.found["statements"] if says(s["name"].split(",")[0])]

    def theory(self) -> str:
        """Every statement with coverage, slack and the round from which it informs, over the settings that meet its conditions."""
        if not self.found["statements"]:
            return ""
        head = (
            "statement",
            "what",
            "checks",
            "coverage",
            "observed / bound",
            "least slack",
            "informs from",
            "seen in",
        )
        functions = {s.name: s.function for s in statements(self.name)}
        rows = [self.statement(s, functions[s["name"]]) for s in self.found["statements"]]
        about = "Coverage is the lowest, observed / bound the largest and slack the least over all settings within a statement's conditions; it informs from the round at which its bound is below the trivial one."
        return f"## Theory\n\n{about}\n\n{md.table(head, rows)}"

    def statement(self, s: dict, function) -> tuple:
        figures = [
            (figure.label, f"#{figure.anchor}")
            for figure in self.figures.values()
            if s["name"] in figure.statements()
        ]
        claims = [
            (id, f"#{anchor(id)}") for id, claim in self.claims.items() if s in self.named(claim)
        ]
        file = function.__module__.replace(".", "/")
        code = [("code", f"../../{file}.py#{function.__name__}")]
        checks = tally(s["within"]) or ("not checked" if s["checkable"] else "shown as it stands")
        beyond = f"; beyond its conditions {tally(s['beyond'])}" if s["beyond"] else ""
        numbers = (md.coverage(s), md.worst(s["ratio"]), md.worst(s["slack"]), md.start(s))
        return (
            _target(checked(s["name"]), s["name"]),
            Text(f"{escape(s['summary'])}<br><small>{escape(s['source'])}</small>"),
            Text(checks + beyond),
            *numbers,
            _links(figures + claims + code),
        )

    def errata(self) -> str:
        if not self.found["errata"]:
            return ""
        module = room(self.name, "errata")
        functions = {e.id: e.function for e in module.ERRATA}
        rows = []
        for e in self.found["errata"]:
            f = functions[e["id"]]
            where = (
                [("cell", f"../notebooks/{e['notebook']}.ipynb#cell-id={e['cell']}")]
                if e["notebook"]
                else []
            )
            at = (
                (f.__module__.replace(".", "/"), f.__name__)
                if f
                else (module.__name__.replace(".", "/"), e["id"])
            )
            where.append(("code", f"../../{at[0]}.py#{at[1]}"))
            rows.append(
                (
                    _target(anchor(e["id"]), e["id"]),
                    e["where"],
                    e["problem"],
                    e["resolution"],
                    _links(where),
                )
            )
        head = ("id", "where", "problem", "here", "seen in")
        return f"## Errata\n\nWhat is wrong, loose or open in the paper's text, and what is done about it here.\n\n{md.table(head, rows)}"


LEAD = "Papers on bandits and global optimization as running code: each paper's algorithm and its rivals, its experiments, its bounds beside what was observed, and its claims, each written down with a test that decides it."
START = (
    (
        "A tour in ten minutes",
        "notebooks/00_tour",
        "Play a bandit, check a theorem, judge a claim.",
    ),
    ("On a problem of your own", "guides/asktell", "Ask and tell, for every paper's algorithm."),
    ("Which learner", "guides/choosing", "For which problem, and when none of them."),
    (
        "An experiment of your own",
        "guides/own-experiment",
        "A problem and a learner in thirty lines.",
    ),
)
CONTENTS = (
    "Papers <papers/index>",
    "Claims <claims>",
    "Notebooks <notebooks/index>",
    "Guides <guides/index>",
    "Reference <reference/index>",
)


def home(found: dict) -> str:
    """The first page: a card a paper with its first finding, and where to begin."""
    cards = []
    for name, paper in found["papers"].items():
        known = {short(claim["id"]): claim for claim in paper["claims"]}
        told = findings(name, found["profile"], known)
        body = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", finding(told[0], known)) if told else ""
        counts = {v: sum(n.get(v, 0) for n in paper["counts"].values()) for v in MARKS}
        options = [f":link: papers/{name}", ":link-type: doc"]
        cards.append(
            "\n".join(
                [
                    f":::{{grid-item-card}} {heading(name)[0]}",
                    *options,
                    "",
                    body,
                    "",
                    tally(counts),
                    ":::",
                ]
            )
        )
    starts = [
        f":::{{grid-item-card}} {title}\n:link: {to}\n:link-type: doc\n\n{words}\n:::"
        for title, to, words in START
    ]
    grid = lambda items: "\n\n".join(["::::{grid} 1 2 2 2\n:gutter: 3", *items, "::::"])
    mark = f"\n\n{SIZES[found['profile']]}" if found["profile"] != "paper" else ""
    tree = "\n".join(["```{toctree}", ":hidden:", "", *CONTENTS, "```"])
    seen = saved("overview", found["profile"]).get("overview")
    picture = (
        f"\n\n![{spoken(seen.about['alt'])}](../figures/overview/overview.png)" if seen else ""
    )
    return f"{NOTE}# paperlib\n\n{LEAD}{mark}{picture}\n\n{grid(starts)}\n\n## What came out\n\n{grid(cards)}\n\n{tree}\n"


SPEED = "A learner's own work in a round, without the problem's: seconds, bytes of its state, and peak memory, as `python3 run.py bench` measures and draws them. One trial of your own costs what panel (a) shows at 1; the other panels divide by the trials of a batch. Each machine that measured has a file of numbers in `bench/`."

ON_A_DEVICE = f"""A round on a device costs kernel launches and synchronizations with the host, so that its time hardly depends on the number of trials. `tests/test_dispatches.py` counts both for `select` and `update` together, at 64 trials, without a GPU. For example, GLB-OMD with logistic rewards takes 68 operations and 1 synchronization per round while its estimates stay inside the ball. It takes 137 operations and 2 synchronizations in a round in which the estimate of some trial is projected. The counts of the other learners are in `DEVICE_LIMITS` of that file. Learners of glbomd that are marked as working on the host (OFUGLB, OFULog-r, Beta Thompson) gain nothing from a device and are not timed there.

We aim at no more than 100 operations per round for GLB-OMD with logistic rewards and 200 for the other learners of glbomd. Two cases exceed this, and `tests/test_dispatches.py` holds their counts. The first is GLB-OMD with `ridge="dim"`: its estimate leaves the ball in nearly every round, and a projection, with its four Newton steps, takes 69 operations. The second is ECOLog with estimates on the sphere. It solves a scalar problem by Newton steps within each Newton step on its multiplier, and a round takes 711 operations and 16 synchronizations. A cheaper round needs another method on the device.

`device="auto"` chooses CUDA where the cheapest rounds of GLB-OMD on the CPU, without a projection, take as long as its most expensive rounds on a device. In a large batch the estimate of some trial is projected in nearly every round after the first hundred. Such a round takes {DEVICE_ROUND * 1e3:g} ms on a device (H200, panel (b) of its figure above), whatever the number of trials. On the CPU a round without projections takes {CPU_ROUND * 1e3:g} ms and {CPU_TRIAL * 1e6:g} + {CPU_PRODUCT * 1e6:g} (K d + 10 d^2) microseconds per trial, with K arms in d dimensions, fitted to the table above. For example, with 20 arms in 5 dimensions `auto` chooses CUDA from {first_on_cuda(20, 5)} trials per batch on, in 20 dimensions from {first_on_cuda(20, 20)}. `play` applies this rule to its trials and `store.run` to `chunk`, the largest batch, where the problem declares its dimension. Therefore a run with more trials does not change the device. Everywhere else `auto` is the CPU, for example in the set-up cell of a notebook and in ask/tell. Pass `device="cuda"` to use a GPU in any case.

No round is captured as a CUDA graph. A round that synchronizes cannot be captured. Rounds without a synchronization (OFUL, ConfidenceBall, UCB1) cannot be captured either, for three reasons. First, a state counts its rounds in Python, and radii, logarithms and the renewal of inverses are computed from that number, so that a replayed graph would repeat those of the captured round. Second, each round returns new tensors and reads the arms and draws of its own round, while a graph needs fixed buffers. Third, histories of all rounds grow in buffers of doubling capacity."""


def on_a_device() -> str:
    """The section on GPUs: milliseconds per round on the CPU and on CUDA of one machine, then how the time arises."""
    found = json.loads((project.home() / "bench" / "cpu_and_cuda.json").read_text())
    times, rows = {}, []
    for row in found["rows"]:
        times.setdefault((row["learner"], row["dim"]), {})[row["trials"]] = row
    trials = list(dict.fromkeys(row["trials"] for row in found["rows"]))
    milliseconds = lambda x: NOTHING if x is None else number(x)
    for (learner, dim), by_trials in times.items():
        for key, where in (("cpu_ms", "CPU"), ("cuda_ms", "CUDA")):
            cells = (milliseconds(by_trials[count][key]) for count in trials)
            rows.append((learner.split(".")[1], str(dim), where, *cells))
    head = ("learner", "d", "on", *(f"R = {count}" for count in trials))
    about = f"Milliseconds per round of `select` and `update` with K = {found['arms']} arms and R trials at once, on one machine, after 20 rounds: {found['device']}, and one core of its CPU (torch {found['torch'].split('+')[0]}; medians; `bench/cpu_and_cuda.py`)."
    return "\n\n".join(["## On a GPU", about, md.table(head, rows).strip(), ON_A_DEVICE])


def speed(found: dict) -> str:
    """What a round costs: the bench's figures of each paper, and which learners it leaves out, with the reason."""
    measured, parts = saved("bench", found["profile"]), ["# What a round costs", SPEED]
    stems = {n.stem: f"[{n.title}](../notebooks/{n.stem}.ipynb)" for n in notebooks()}
    link = lambda why: re.sub(r"\w+", lambda word: stems.get(word[0], escape(word[0])), why)
    for name in found["papers"]:
        parts.append(f"## {name}")
        mine = [shown(f) for stem, f in measured.items() if stem.split("_")[0] == name]
        cases, reasons = room(name, "cases"), {}
        for learner, why in getattr(cases, "UNMEASURED", {}).items():
            reasons.setdefault(why, []).append(learner)
        everything = sum(map(len, reasons.values())) == len(cases.CASES)
        parts += mine or ["Not measured yet."] * (not everything)
        whose = lambda who: "all" if len(who) == len(cases.CASES) else escape("; ".join(who))
        if reasons:
            left_out = [f"- {whose(who)}: {link(why)}" for why, who in reasons.items()]
            parts.append("\n".join(["Left out:", "", *left_out]))
    parts.append(on_a_device())
    return NOTE + "\n\n".join(parts) + "\n"


def all_claims(found: dict) -> str:
    """One table of the claims of all papers, which a script of the site filters."""
    rows = []
    for paper, declared in found["papers"].items():
        for claim in declared["claims"]:
            id = short(claim["id"])
            link = Text(f"[{escape(id)}](papers/{paper}.md#{anchor(id)})")
            whose = "ours" if claim["source"].startswith("ours") else "the paper's"
            row = md.row(claim)
            rows.append((claim["sentence"], chip(claim["verdict"]), paper, link, whose, *row[1:]))
    head = ("claim", "verdict", "paper", "id", "whose", "number [interval]", "n")
    heads = ", ".join(f"[{x}'s](../companion/{x}/claims.py)" for x in found["papers"])
    about = f"Every claim of every paper, declared before the run that it is judged by; what was known by then, and what was changed later, stands at the head of each declaration ({heads}). One holds when the whole interval of its statistic lies on the claimed side, fails when it lies on the other, and is else inconclusive (of a p-value: when it is below the level, and when that of the opposite is; a number without an interval is taken as exact); a claim with parts holds if all of them do; what is reported has no test. An id leads to source, test and figures."
    mark = "" if found["profile"] == "paper" else f"\n\n{SIZES[found['profile']]}"
    return f"{NOTE}# All claims\n\n{about}{mark}\n\n{md.table(head, rows)}\n"
