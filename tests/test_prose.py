"""The project's text uses the field's words: rates of some constructions per 10,000 words, for each kind of text.

The limits are about the rates of the documentation of BoTorch, scikit-learn, Optuna and GPyTorch. Code, `backticks`, quotation
marks and table cells with ids do not count. A sentence that a native speaker would write may stay, because a limit is a rate.
"""

import ast
import collections
import io
import json
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SENTENCE = 25  # words, the median at most
RULES = {  # construction: (pattern, limit per 10,000 words, what to write instead)
    "headless what": (
        r"\b[Ww]hat (?:is|are|has|had|was|were|came|it|they|differs|does|do|computes|falls|makes|behaves|one|a|an|the|no|others|both|two|comes?|stands?|users?)\b",
        4,
        "name the noun: 'the unknown parameter'",
    ),
    "hear": (r"\b(?:un)?hear[sd]?\b|\bheard\b|\bhearing\b", 0.5, "observe, receive; feedback"),
    "tell": (r"(?<!/)\b(?:told|tells?)\b(?! apart)", 3, "given, passed to, known; shows, reports"),
    "say": (r"\b(?:say|says|said|saying|speaks?)\b", 3, "states, reports, raises, prints"),
    "ours": (
        r"\bours\b|\bof (?:its|one's|their|your|a user's) own\b",
        2,
        "our addition; your own ..., its ...",
    ),
    "beside": (r"\bbesides?\b", 1, "next to, compared with, in addition to"),
    "anew": (r"\banew\b|\bafresh\b|\bbegun\b|\bbegins? with\b", 0.5, "restart, recompute, again"),
    "a round": (
        r"(?<!\bin )(?<!\bof )(?<!\bfor )(?<!\bas )\ba (?:round|trial|pull|row|learner|side|coordinate|call)\b(?! (?:of|in|that|is|was|where|with|may|has|from|to|the|at|whose|by|on))",
        6,
        "per round, per trial",
    ),
    "that of": (r"\b(?:that|those) of\b", 2, "repeat the noun"),
    "preposition which": (
        r"\b(?:of|in|by|for|to|from|with|at|on|after|above|below|behind|beside) which\b",
        8,
        "split the sentence; where, whose",
    ),
    "for as because": (
        r", for (?:it|the|a|its|this|they|there|we|an|no|both|what|which|all|that|then|of)\b",
        1,
        "because",
    ),
    "nobody": (r"\bnobody\b|\bwhoever\b|\bnothing\b|\bnone\b", 6, "write what is the case"),
    "stands": (
        r"\bstands?\b(?! for|-)|\blies?\b(?! in)|\bhangs? on\b|\bheld against\b|\bholds? (?:it|them) against\b",
        3,
        "is, depends on, compared with",
    ),
    "dear": (
        r"\bdear(?:er)?\b|\bfor ever\b|\ball the same\b|\bnone the less\b",
        1,
        "expensive; always; still",
    ),
    "bare decimal": (r"(?<![\d\w)\].])\.\d+\b", 2.5, "0.2, with the leading zero"),
    "bare id": (
        r"(?<![\w.#`\[(])[CNE]\d+[a-z]?(?:\.[A-Za-z0-9]+)*(?![\w`\]])",
        8,
        "name the claim; the id goes into a link or a table",
    ),
}
WANTED = {  # (pattern, least rate) in guides and notebooks
    "for example": (r"for example|for instance|e\.g\.|such as", 4),
    "because": (r"\bbecause\b|\btherefore\b|\bthus\b|\bhowever\b|\bhence\b|\bsince\b", 6),
}
QUOTED = re.compile(
    r"``[^`\n]*``|`[^`\n]*`|\"[^\"\n]{0,80}\"|\$[^$\n]*\$|<[^>\n]*>|\]\([^)\n]*\)|https?://\S+"
)
# The docstrings of these files are the registry of claims and errata: they record by id when each was declared or changed.
REGISTRY = ("claims.py", "errata.py")
CAPTION = re.compile(r'(?:caption|alt|title)=f?"([^"\n]*)"')
FEW = 2  # places of a construction that are never too many


def pages():
    """Yield (kind, file, line number, line) of Markdown pages outside code blocks."""
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]:
        if "notebooks" in path.relative_to(ROOT).parts:
            continue
        kind = "results" if "papers" in path.parts or path.name == "claims.md" else "guides"
        code = False
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if line.lstrip().startswith("```"):
                code = not code
            elif not code:
                yield kind, path, number, line


def cells():
    """Yield (kind, file, cell number, line) of notebooks: Markdown cells, captions and alternative texts."""
    for path in sorted(ROOT.glob("notebooks/*.ipynb")):
        for number, cell in enumerate(json.loads(path.read_text())["cells"]):
            source = "".join(cell["source"])
            if cell["cell_type"] == "markdown":
                yield from (("notebooks", path, number, line) for line in source.splitlines())
            else:
                yield from (("captions", path, number, line) for line in CAPTION.findall(source))


def docstrings():
    """Yield (kind, file, line number, line) of docstrings and comments."""
    for path in [
        ROOT / "run.py",
        *(
            file
            for top in ("paperlib", "companion", "tests")
            for file in sorted(ROOT.glob(f"{top}/**/*.py"))
        ),
    ]:
        source = path.read_text()
        kind = path.relative_to(ROOT).parts[0].replace("run.py", "companion")
        for node in ast.walk(ast.parse(source)):
            if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                continue
            if ast.get_docstring(node, clean=False):
                text = node.body[0].value
                lines = text.value.splitlines()
                yield from ((kind, path, n, line) for n, line in enumerate(lines, text.lineno))
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                yield kind, path, token.start[0], token.string.lstrip("# ")


def captions():
    """Yield (kind, file, line number, line) of captions, alternative texts and titles of figures in the companion."""
    for path in sorted((ROOT / "companion").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.keyword) and node.arg in ("caption", "alt", "title"):
                parts = [x for x in ast.walk(node.value) if isinstance(x, ast.Constant)]
                text = " ".join(x.value for x in parts if isinstance(x.value, str))
                yield "captions", path, node.value.lineno, text


@pytest.fixture(scope="module")
def texts():
    """All lines by kind, without code and quotations."""
    found = collections.defaultdict(list)
    for source in (pages, cells, captions, docstrings):
        for kind, path, number, line in source():
            found[kind].append((path.relative_to(ROOT), number, QUOTED.sub(" ", line)))
    return found


KINDS = ("guides", "results", "notebooks", "captions", "paperlib", "companion", "tests")


def rate(lines, pattern):
    words = sum(len(line.split()) for _, _, line in lines)
    return 1e4 * sum(len(re.findall(pattern, line)) for _, _, line in lines) / max(words, 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("construction", RULES)
def test_a_construction_is_rare(texts, kind, construction):
    pattern, limit, instead = RULES[construction]
    lines = texts[kind]
    if construction == "bare id":  # ids belong in table cells and in the registry
        lines = [
            each
            for each in lines
            if not each[2].lstrip().startswith("|") and each[0].name not in REGISTRY
        ]
    hits = [each for each in lines if re.search(pattern, each[2])]
    places = "\n".join(f"{path}:{number}: {line.strip()[:120]}" for path, number, line in hits)
    found = rate(lines, pattern)
    assert found <= limit or len(hits) <= FEW, (
        f"{construction!r} in {kind}: {found:.1f} per 10,000 words, at most {limit}; write instead: {instead}\n{places}"
    )


@pytest.mark.parametrize("kind", ["guides", "notebooks"])
@pytest.mark.parametrize("connective", WANTED)
def test_text_has_examples_and_reasons(texts, kind, connective):
    pattern, least = WANTED[connective]
    assert rate(texts[kind], pattern) >= least, f"{connective!r} in {kind}: write more of them"


@pytest.mark.parametrize("kind", KINDS)
def test_sentences_are_short(texts, kind):
    by_file = collections.defaultdict(list)
    for path, _, line in texts[kind]:
        by_file[path].append(line)
    ends = r"(?<=[.!?])\s+(?=[A-Z])|\n\s*\n|\n[-*|#]\s*|\|"
    parts = [part for lines in by_file.values() for part in re.split(ends, "\n".join(lines))]
    sizes = sorted(size for size in (len(part.split()) for part in parts) if size > 3)
    assert sizes[len(sizes) // 2] <= SENTENCE
