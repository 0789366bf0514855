"""The claims, statements of theory and errata of all papers with their results, as ``claims.json``.

``notebooks/99_claims.ipynb`` calls ``write``. ``python -m companion.pages.readme`` does the same for the paper profile
from the files that its notebooks wrote, and updates README. Papers and their modules (``claims``, ``theory``, ``proofs``,
``errata``) are discovered; a missing module adds no entries.
"""

import inspect
import json
import re
from collections import Counter
from typing import Any

from paperlib.checks import Statement
from paperlib.core.text import to_json

from .. import verdicts
from ..output import profile_dir, write_json
from ..papers import heading, paper_module, topics
from ..verdicts import statements
from ..workflow import plan as workflow


def gather(profile: str) -> dict[str, Any]:
    """Return the declarations of the papers, joined with the verdicts and checks that the notebooks of a profile wrote.

    Verdicts and their numbers are the recorded ones, from the paper profile. The result of a run at other sizes decides
    no claim; it is stored as the text ``run`` of the claim.

    Returns:
        ``profile``, and ``papers``: name -> title, claims, statements, errata, each in the order of declaration, and
        counts of verdicts, separately for the paper's claims and our additions, and of replications. A claim with parts is not
        counted, only its parts.
    """
    found = {paper: _paper(paper, profile) for paper in topics()}
    return to_json({"profile": profile, "papers": found})


def _paper(paper: str, profile: str) -> dict[str, Any]:
    claims = _claims(paper, profile)
    tests = [claim for claim in claims if not claim["parts"]]
    ours = lambda claim: claim["source"].startswith("ours")
    counts = {
        "paper": Counter(claim["verdict"] for claim in tests if not ours(claim)),
        "ours": Counter(claim["verdict"] for claim in tests if ours(claim)),
    }
    return {
        "title": heading(paper)[0],
        "counts": counts,
        "replication": Counter(map(replication, tests)),
        "claims": claims,
        "statements": _statements(paper, profile),
        "errata": _errata(paper),
    }


def replication(claim: dict) -> str:
    """Return "replicated", "flipped", "exempt" or "not repeated": what a run with other seeds showed about a claim without parts."""
    if claim["exempt"]:
        return "exempt"
    if "replication" not in claim:
        return "not repeated"
    return "flipped" if "first" in claim else "replicated"


def _claims(paper: str, profile: str) -> list[dict]:
    found = []
    for declared, run in zip(
        verdicts.claims(paper).values(), verdicts.list_verdicts(profile, paper)
    ):
        judged = run if profile == "paper" else verdicts.of_record(run.id)
        claim = {**to_json(declared), "exempt": declared.exempt, **verdicts.to_entry(judged)}
        if needed := verdicts.trials_to_decide(declared, judged):
            claim["needed"] = needed
        if profile != "paper":
            claim["run"] = f"{profile} run: {run.seen()}"
        found.append(claim)
    return found


def _statements(paper: str, profile: str) -> list[dict]:
    """Return the statements of a paper with their checks in its figures."""
    checks: dict[str, list[dict]] = {}
    for path in sorted((profile_dir(profile) / paper).glob("*.json")):
        for check in json.loads(path.read_text()).get("checks", []):
            checks.setdefault(check["statement"], []).append({**check, "figure": path.stem})
    return [_statement(found, checks.get(found.name, [])) for found in statements(paper)]


def _statement(statement: Statement, checks: list[dict]) -> dict[str, Any]:
    """Return one statement: verdicts and worst numbers of the checks within its conditions, verdicts of those beyond."""
    within = [check for check in checks if not check["remark"]]
    beyond = [check for check in checks if check["remark"]]
    covered = [check["coverage"] for check in within if check["coverage"]]
    starts = {check["informative_from"] for check in within} - {None}
    kind = inspect.signature(statement.function).return_annotation
    return {
        "name": statement.name,
        "source": statement.source,
        "summary": statement.summary,
        # A statement in the form of a table is quoted, not checked, and its function returns no Check.
        "checkable": getattr(kind, "__name__", kind) == "Check",
        "within": dict(Counter(check["verdict"] for check in within)),
        "beyond": dict(Counter(check["verdict"] for check in beyond)),
        "coverage": min(covered, key=lambda share: share["low"], default=None),
        "ratio": max((check["ratio"] for check in within), key=float_of, default=None),
        "slack": min((check["slack"] for check in within), key=float_of, default=None),
        "informative_from": [f(starts, key=float_of) for f in (min, max)] if starts else None,
        "checks": [
            {key: value for key, value in check.items() if key not in ("statement", "source")}
            for check in checks
        ],
    }


def float_of(x: float | str) -> float:
    """Return a number in the form of ``to_json`` as a float; "never" becomes infinity."""
    return float("inf" if x == "never" else x)


def _errata(paper: str) -> list[dict]:
    cells = [
        (stem, cell)
        for stem in workflow.notebook_stems(paper)
        for cell in json.loads(workflow.notebook_path(stem).read_text())["cells"]
    ]
    found = []
    for erratum in getattr(paper_module(paper, "errata"), "ERRATA", ()):
        notebook, cell = _place(erratum.id, cells)
        text = {key: value for key, value in erratum._asdict().items() if key != "function"}
        found.append({**text, "notebook": notebook, "cell": cell})
    return found


def _place(id: str, cells: list[tuple[str, dict]]) -> tuple[str, str] | tuple[None, None]:
    """Return notebook and cell of an erratum; (None, None) if no cell shows it.

    It is the text cell that starts with the erratum's id in bold, or with a link to the erratum in bold; otherwise a cell whose
    output lists the id.
    """

    def begins(cell: dict) -> bool:
        heading = re.match(r"\*\*([^*]+?)\.?\*\*", "".join(cell["source"]))
        if cell["cell_type"] != "markdown" or not heading:
            return False
        return id in heading[1].split(", ") or f"#{id.lower()})" in heading[1]

    texts = lambda cell: ("".join(output.get("text", "")) for output in cell.get("outputs", []))
    listed = re.compile(rf"^{re.escape(id)}  ", re.MULTILINE)
    for shows in (begins, lambda cell: any(map(listed.search, texts(cell)))):
        for stem, cell in cells:
            if shows(cell):
                return stem, cell["id"]
    return None, None


def write(profile: str) -> dict[str, Any]:
    """Gather the ledger, and write it as ``claims.json`` next to the profile's figures."""
    found = gather(profile)
    write_json(profile_dir(profile) / "claims.json", found)
    return found
