"""The site: ``python -m companion.pages.site write`` renews its generated pages, ``build`` makes HTML of all.

Pages are Markdown under docs/. Those that hold results are written from the paper profile's files and committed; for
another profile they are written to results/ alone. A build reads a tree of its own, in which pages, executed
notebooks and figures of one profile lie as they do in the repository.
"""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

from paperlib.core.text import plain

from ..output import FOLDERS, folder, home, write_text
from ..workflow import plan as workflow
from . import executed, ledger, papers, readme
from .markdown import spoken
from .saved import saved

NOTE = "<!-- written by python -m companion.pages.site -->"
QUICK = "*Not run at the paper's sizes yet: the outputs are the quick profile's.*"


def generated(profile: str) -> dict[str, str]:
    """The pages that hold results, by their path under docs/."""
    found = plain(ledger.gather(profile))
    pages = {
        f"papers/{name}.md": papers.Page(name, paper, profile).text()
        for name, paper in found["papers"].items()
    }
    pages |= {
        "index.md": papers.home(found),
        "claims.md": papers.all_claims(found),
        "guides/choosing.md": readme.choosing(found),
        "guides/speed.md": papers.speed(found),
    }
    return {name: f"{NOTE}\n\n{text}\n" for name, text in pages.items()}


def notebooks(profile: str, there: Path) -> dict[str, str]:
    """Every notebook that has run to its end, as JSON, by its stem; not where ``there`` holds a later run's.

    One that never has is shown with the outputs that it is committed with, and says so.
    """
    import nbformat

    found, known = {}, {}
    for digest, path in executed.pictures(profile).items():
        about = saved(path.parent.name, profile).get(path.stem)
        alt = spoken(about.about["alt"]) if about else path.stem
        known[digest] = (f"../../figures/{path.parent.name}/{path.name}", alt)
    for stem in workflow.stems():
        copy, old = workflow.results(profile) / f"{stem}.ipynb", there / f"{stem}.ipynb"
        known_ran = nbformat.read(old, as_version=4).metadata if old.exists() else {}
        if copy.exists() and copy.with_suffix(".done").exists():
            node = executed.published(nbformat.read(copy, as_version=4), known)
            if node.metadata.ran < known_ran.get("ran", ""):
                continue
        elif not old.exists():
            node = executed.published(nbformat.read(workflow.notebook(stem), as_version=4), {})
            if profile != "quick":
                node.cells.insert(1, nbformat.v4.new_markdown_cell(QUICK, id="not-run"))
        else:
            continue
        found[stem] = nbformat.writes(node, indent=1) + "\n"
    return found


def renew(target: Path, profile: str) -> list[str]:
    """Write what is generated to ``target``; returns what has changed there, from its root."""
    pages = generated(profile)
    executed_ones = notebooks(profile, target / "notebooks")
    pages |= {f"notebooks/{stem}.ipynb": text for stem, text in executed_ones.items()}
    changed = []
    for name, text in pages.items():
        path = target / name
        if not path.exists() or path.read_text() != text:
            write_text(path, text)
            changed.append(name)
    return changed


CODE = re.compile(
    r"\[([^]]*)\]\((?:\.\./)*((?:paperlib|companion)/[\w/]+)\.py(?:#(\w+))?\)"
)  # a link to a file of the package
BEGINS = re.compile(r"^(?:def|class) (\w+)|^ +(?:Erratum)?\(?\"(E\d+\w*)\"", re.MULTILINE)


def tree(profile: str) -> Path:
    """What Sphinx reads: docs/ with the pages and notebooks of a profile, its figures, and the code that pages link to."""
    place = workflow.results("site") / profile
    for old in (
        place,
        place.with_suffix(".doctrees"),
    ):  # what is kept of a page that failed would hide its faults
        shutil.rmtree(old, ignore_errors=True)
    shutil.copytree(home() / "docs", place / "docs", ignore=shutil.ignore_patterns("_*", "*.py"))
    if profile != "paper":
        for path in place.glob("docs/notebooks/*.ipynb"):
            path.unlink()
        renew(place / "docs", profile)
    shutil.copy2(home() / "CONTRIBUTING.md", place)
    (place / "figures").symlink_to(folder(profile))
    for path in place.glob("docs/**/*.md"):
        text = path.read_text()
        files = {found[2] for found in CODE.finditer(text)}
        for file in files:
            listing(place / "docs", file)
        if files:
            up = "../" * len(path.relative_to(place / "docs").parents[:-1])
            write_text(path, CODE.sub(lambda found: _html(up, found), text))
    return place


def _html(up: str, found: re.Match) -> str:
    """A link to the page of a file, past MyST, which knows no anchor there."""
    text, file, name = found.groups()
    place = f"{up}code/{file.replace('/', '.')}.html" + (f"#{name}" if name else "")
    return f'<a href="{place}">{text}</a>'


def listing(docs: Path, file: str) -> None:
    """A page of a file of the package, with an anchor where each function, class and erratum begins."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    target = docs / "code" / f"{file.replace('/', '.')}.md"
    if target.exists():
        return
    text = (home() / f"{file}.py").read_text()
    ids = {}
    for found in BEGINS.finditer(text):
        ids.setdefault(text.count("\n", 0, found.start()), found[1] or found[2])
    lines = highlight(text, PythonLexer(stripnl=False), HtmlFormatter(nowrap=True)).split("\n")
    marked = (f'<span id="{ids[i]}">{x}</span>' if i in ids else x for i, x in enumerate(lines))
    body = "\n".join(marked)
    write_text(
        target,
        f'---\norphan: true\n---\n# `{file}.py`\n\n```{{raw}} html\n<div class="highlight"><pre>{body}</pre></div>\n```\n',
    )


def build(profile: str, out: Path) -> int:
    """Make HTML of everything; what Sphinx warns of is an error. Returns its exit status."""
    place = tree(profile)
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-b",
        "html",
        "-W",
        "--keep-going",
        "-q",
        "-j",
        "auto",
    ]
    command += [
        "-c",
        home() / "docs",
        "-d",
        place.with_suffix(".doctrees"),
        "-D",
        f"profile={profile}",
        place,
        out,
    ]
    return subprocess.run([str(x) for x in command], cwd=home()).returncode


def main(argv: list[str]) -> int:
    """Renew the pages that hold results, or build the site."""
    parser = argparse.ArgumentParser(
        prog="python -m companion.pages.site", description=main.__doc__
    )
    parser.add_argument("what", choices=("write", "build"))
    parser.add_argument("profile", nargs="?", choices=FOLDERS, default="paper")
    options = parser.parse_args(argv)
    if options.what == "write":
        if options.profile != "paper":
            parser.error(
                f"profile={options.profile!r}; allowed for write, which renews docs/: paper"
            )
        for name in renew(home() / "docs", "paper"):
            print(f"docs/{name} is renewed")
        readme.main()
        return 0
    out = home() / ("site" if options.profile == "paper" else f"site-{options.profile}")
    code = build(options.profile, out)
    print(f"The site is {out / 'index.html'}" if not code else "The site was not built")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
