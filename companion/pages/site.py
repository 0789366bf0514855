"""The site: ``python -m companion.pages.site write`` updates its generated pages, ``build`` converts all pages to HTML.

Pages are Markdown under docs/. Pages of results are written from the paper profile's files and committed; for another
profile they are written only to results/. A build reads its own tree, where the pages, executed notebooks and figures
of one profile have the same places as in the repository.
"""

import argparse
import base64
import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat

from ..output import FOLDERS, profile_dir, project_dir, write_text
from ..workflow import plan as workflow
from . import ledger, papers, readme, reference
from .markdown import spoken

NOTE = "<!-- written by python -m companion.pages.site -->"
QUICK = "*This notebook has not been run at the paper's sizes yet. The outputs are those of the quick profile.*"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
# The first of these forms that an output has is published.
FORMS = ("text/html", "text/markdown", "text/latex", "text/plain")


# ---- Generated pages ---------------------------------------------------------------------------------------


def generated(profile: str) -> dict[str, str]:
    """Return the pages of results, by their path under docs/."""
    found = ledger.gather(profile)
    pages = {
        f"papers/{name}.md": papers.Page(name, paper, profile).text()
        for name, paper in found["papers"].items()
    }
    pages |= {
        "index.md": papers.home(found),
        "claims.md": papers.all_claims(found),
        "guides/choosing.md": readme.choosing_page(found),
        "guides/samplers.md": papers.samplers(),
        "guides/speed.md": papers.speed(found),
    }
    reference_pages = (project_dir() / "docs" / "reference").glob("*.md")
    return {name: f"{NOTE}\n\n{text}\n" for name, text in pages.items()} | {
        f"reference/{path.name}": reference.with_tables(path.read_text())
        for path in reference_pages
    }


def notebooks(profile: str, there: Path) -> dict[str, str]:
    """Return the notebooks that ran to the end, as JSON, by stem, unless ``there`` contains a later run.

    A notebook that has not run to the end is shown with its committed outputs, below a note.
    """
    found, known = {}, {}
    for path in sorted(profile_dir(profile).glob("*/*.png")):
        figure = papers.saved(path.parent.name, profile).get(path.stem)
        alt = spoken(figure.about["alt"]) if figure else path.stem
        address = f"../../figures/{path.parent.name}/{path.name}"
        known[hashlib.sha256(path.read_bytes()).hexdigest()] = (address, alt)
    for stem in workflow.notebook_stems():
        copy, old = workflow.profile_results(profile) / f"{stem}.ipynb", there / f"{stem}.ipynb"
        if copy.exists() and copy.with_suffix(".done").exists():
            node = published_notebook(nbformat.read(copy, as_version=4), known)
            kept = nbformat.read(old, as_version=4).metadata if old.exists() else {}
            # The published copy comes from a later run, possibly on another machine.
            if node.metadata.ran < kept.get("ran", ""):
                continue
        elif not old.exists() or '"not-run"' in old.read_text():
            node = published_notebook(nbformat.read(workflow.notebook_path(stem), as_version=4), {})
            if profile != "quick":
                node.cells.insert(1, nbformat.v4.new_markdown_cell(QUICK, id="not-run"))
        else:
            continue
        found[stem] = nbformat.writes(node, indent=1) + "\n"
    return found


def published_notebook(executed, known: dict[str, tuple[str, str]]):
    """Return the parts of an executed notebook that the repository stores: no image twice, nothing that differs between machines.

    Args:
        executed: an nbformat node, which is not changed.
        known: SHA-256 of a saved figure's PNG -> its address and alternative text. An output that shows this PNG becomes a
            link to it.

    Returns:
        A notebook with the cell of injected parameters, code, text and outputs; execution counts start at 1. In its
        metadata, ``ran`` is the time when its run ended (UTC), "" if papermill did not run it.
    """
    ran = executed.metadata.get("papermill", {}).get("end_time") or ""
    result, count = nbformat.v4.new_notebook(metadata={**METADATA, "ran": ran}), 0
    for i, cell in enumerate(executed.cells):
        tags = [tag for tag in cell.metadata.get("tags", []) if tag != "papermill-error-cell-tag"]
        kept = {
            "cell_type": cell.cell_type,
            "id": cell.get("id", f"cell-{i}"),
            "metadata": {"tags": tags} if tags else {},
            "source": relative_to_docs(cell.source),
        }
        if cell.cell_type == "code":
            count += 1
            outputs = [_output(output, known, count) for output in cell.outputs]
            kept |= {"execution_count": count, "outputs": [*filter(None, outputs)]}
        result.cells.append(nbformat.from_dict(kept))
    return result


def relative_to_docs(text: str) -> str:
    """Return text of a notebook in notebooks/ with the links that it needs in docs/notebooks/."""
    text = text.replace("](../docs/", "](../")
    return re.sub(r"\]\(\.\./(?=(?:paperlib|companion)/)", "](../../", text)


def _output(output, known: dict[str, tuple[str, str]], count: int) -> dict | None:
    """Return one output in its published form; None for an image without an alternative text, an error, and text on stderr."""
    if output.get("name") == "stdout":
        return {"output_type": "stream", "name": "stdout", "text": output.text}
    data = output.get("data", {})
    if png := data.get("image/png"):
        about = output.get("metadata", {}).get("image/png", {})
        found = known.get(hashlib.sha256(base64.b64decode(png)).hexdigest())
        # ``figures.show`` saves no file, so the notebook stores its image.
        if not found and "alt" in about:
            image = {"data": {"image/png": png}, "metadata": {"image/png": dict(about)}}
            return {"output_type": "display_data", **image}
        data = {"text/markdown": f"![{found[1]}]({found[0]})"} if found else {}
    data = {form: data[form] for form in FORMS if form in data}
    if not data:
        return None
    kept = {"output_type": output.output_type, "data": data, "metadata": {}}
    return kept | ({"execution_count": count} if output.output_type == "execute_result" else {})


def write_pages(target: Path, profile: str) -> list[str]:
    """Write the generated pages and notebooks to ``target``; return the names of the files that changed."""
    ran = notebooks(profile, target / "notebooks")
    pages = generated(profile) | {f"notebooks/{stem}.ipynb": text for stem, text in ran.items()}
    old = lambda name: (target / name).read_text() if (target / name).exists() else None
    changed = [name for name, text in pages.items() if text != old(name)]
    for name in changed:
        write_text(target / name, pages[name])
    return changed


# ---- HTML --------------------------------------------------------------------------------------------------

# Matches a link to a file of one of the two packages.
CODE = re.compile(r"\[([^][\n]*)\]\((?:\.\./)*((?:paperlib|companion)/[\w/]+)\.py(?:#(\w+))?\)")
BEGINS = re.compile(r"^(?:def|class) (\w+)|^ +(?:Erratum)?\(?\"(E\d+\w*)\"")


def make_source(profile: str) -> Path:
    """Create the folder that Sphinx reads.

    It contains docs/ with the pages and notebooks of a profile, its figures, and the code that pages link to.
    """
    place = workflow.profile_results("site") / profile
    # Pages that Sphinx has cached from a failed build would hide their errors.
    for old in (place, place.with_suffix(".doctrees")):
        shutil.rmtree(old, ignore_errors=True)
    shutil.copytree(
        project_dir() / "docs", place / "docs", ignore=shutil.ignore_patterns("_*", "*.py")
    )
    # The committed notebooks are of the paper profile.
    if profile != "paper":
        for path in place.glob("docs/notebooks/*.ipynb"):
            path.unlink()
        write_pages(place / "docs", profile)
    shutil.copy2(project_dir() / "CONTRIBUTING.md", place)
    (place / "figures").symlink_to(profile_dir(profile))
    files = set()
    for path in (*place.glob("docs/**/*.md"), *place.glob("docs/notebooks/*.ipynb")):
        text = path.read_text()
        files |= {found[2] for found in CODE.finditer(text)}
        up = "../" * len(path.relative_to(place / "docs").parents[:-1])
        # A notebook is JSON, where the quotation marks of HTML are escaped.
        quoted = (lambda html: json.dumps(html)[1:-1]) if path.suffix == ".ipynb" else str
        write_text(path, CODE.sub(lambda found: quoted(_html(up, found)), text))
    for file in files:
        write_text(place / "docs" / "code" / f"{file.replace('/', '.')}.md", code_page(file))
    return place


def _html(up: str, found: re.Match) -> str:
    """Return a link to the page of a file as HTML, because MyST does not know its anchors."""
    text, file, name = found.groups()
    place = f"{up}code/{file.replace('/', '.')}.html" + (f"#{name}" if name else "")
    return f'<a href="{place}">{text}</a>'


def code_page(file: str) -> str:
    """Return a page with the code of a file of the package; each function, class and erratum has an anchor."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    text = (project_dir() / f"{file}.py").read_text()
    shown = highlight(text, PythonLexer(stripnl=False), HtmlFormatter(nowrap=True)).split("\n")
    for i, line in enumerate(text.split("\n")):
        if begins := BEGINS.match(line):
            shown[i] = f'<span id="{begins[1] or begins[2]}">{shown[i]}</span>'
    body = "\n".join(shown)
    return f'---\norphan: true\n---\n# `{file}.py`\n\n```{{raw}} html\n<div class="highlight"><pre>{body}</pre></div>\n```\n'


def build(profile: str, out: Path) -> int:
    """Convert all pages to HTML, with Sphinx's warnings as errors; return the exit status."""
    place = make_source(profile)
    quiet = ["-W", "--keep-going", "-q", "-j", "auto"]
    places = ["-c", project_dir() / "docs", "-d", place.with_suffix(".doctrees")]
    command = [sys.executable, "-m", "sphinx", "-b", "html", *quiet, *places]
    command += ["-D", f"profile={profile}", place, out]
    return subprocess.run([str(x) for x in command], cwd=project_dir()).returncode


def main(argv: list[str]) -> int:
    """Update the pages of results, or build the site."""
    parser = argparse.ArgumentParser(
        prog="python -m companion.pages.site", description=main.__doc__
    )
    parser.add_argument("what", choices=("write", "build"))
    parser.add_argument("profile", nargs="?", choices=FOLDERS, default="paper")
    options = parser.parse_args(argv)
    if options.what == "write":
        if options.profile != "paper":
            parser.error(
                f"profile must be 'paper' for write, because docs/ shows the paper profile, got {options.profile!r}"
            )
        try:
            # It writes the record first. A finding that a new verdict contradicts then stops the pages.
            readme.main()
            for name in write_pages(project_dir() / "docs", "paper"):
                print(f"docs/{name} updated")
        except ValueError as error:
            print(f"The pages were not written: {error}", file=sys.stderr)
            return 1
        return 0
    out = project_dir() / ("site" if options.profile == "paper" else f"site-{options.profile}")
    code = build(options.profile, out)
    print(f"Open the site at {out / 'index.html'}" if not code else "The site was not built")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
