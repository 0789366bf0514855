"""Inputs of a notebook's run: the settings that are injected into it, and the files that its results depend on.

The Snakefile calls ``notebook_stems``, ``read_section``, ``shard_count``, ``notebooks_before``, ``injected_settings``,
``fingerprint``, ``input_files`` and ``inputs_digest``; its jobs run in ``workflow.jobs``. A notebook is named by its stem
(``glbomd_1_logistic``). Its parameters cell is the quick profile, and ``notebooks/profiles.toml`` lists the values that
another profile changes.
"""

import contextlib
import hashlib
import json
import math
import os
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

from paperlib.core.files import CHECKOUT

from ..imports import (
    PACKAGES,
    add_imports,
    import_statements,
    imported_names,
    module_file,
    origin,
    package_roots,
    resolve_file,
)
from ..output import figures_dir, project_dir, read_entries, write_json
from ..papers import papers, statement_modules, title_module, topics
from .declared import (
    PROFILES,
    changed_values,
    convert,
    differences,
    notebook_path,
    profile_values,
)

SECTION = {  # keys of a notebook's section in profiles.toml
    "after": list[str],  # notebooks whose results it reuses
    "datasets": list[str],  # names of data sets in the registry
    "timing": bool,  # True if it runs alone, on one thread
    "shards": int,  # see ``shard_count``
    "timeout": int,  # see ``cell_timeout``
    **dict.fromkeys(PROFILES, dict),  # parameters
}
TIMEOUT = {"quick": 3600, "paper": 172_800, "replication": 172_800}  # seconds per cell
STEM = r"[a-z0-9]+_\w+"  # as in run.py; excludes JupyterLab's Untitled and -Copy1
PATH = 1000  # characters; some systems reject much longer paths
LARGE = 10_000_000  # bytes; hashing larger files would slow down every call
LAST = "99_"  # prefix of the notebooks that show the results of all others


def profile_results(profile: str) -> Path:
    """Return the folder of a profile's executed copies, logs and ``.done`` files, or of the custom runs.

    It is in ``PAPERLIB_RESULTS``, otherwise in results/.
    """
    return Path(os.environ.get("PAPERLIB_RESULTS") or project_dir() / "results") / profile


def notebook_stems(paper: str | None = None) -> list[str]:
    """Return the stems of all notebooks, or of a paper's notebooks, in order; names of another form are left out."""
    found = sorted(path.stem for path in (project_dir() / "notebooks").glob("*.ipynb"))
    of = rf"{paper}_\w+" if paper else STEM
    return [stem for stem in found if re.fullmatch(of, stem)]


def read_section(stem: str) -> dict:
    """Return a notebook's section of profiles.toml after checking it; for its keys see ``SECTION``.

    Raises:
        ValueError: an unknown key, a value of another type, or an unknown notebook in ``after``.
    """
    path = project_dir() / "notebooks" / "profiles.toml"
    found = tomllib.loads(path.read_text()).get(stem, {}) if path.exists() else {}
    here = f"profiles.toml [{stem}]"
    for key, value in found.items():
        if key not in SECTION:
            raise ValueError(f"{here}: keys must be among {', '.join(SECTION)}, got {key!r}")
        convert(value, SECTION[key], f"{here}: {key}")
    for key in ("shards", "timeout"):
        if found.get(key, 1) < 1:
            raise ValueError(f"{here}: {key} must be at least 1, got {found[key]}")
    for other in found.get("after", []):
        if other not in notebook_stems() or other == stem:
            raise ValueError(
                f"{here}: after must name other notebooks, which are {', '.join(x for x in notebook_stems() if x != stem)}, got {other!r}"
            )
    return found


def shard_count(stem: str, profile: str) -> int:
    """Return the number of shards that compute a notebook's chunks before it runs; 1, which means none, in the quick profile."""
    return 1 if profile == "quick" else read_section(stem).get("shards", 1)


def cell_timeout(stem: str, profile: str) -> int:
    """Return the time limit per cell of a notebook in seconds: the one in its section, otherwise the profile's default."""
    return read_section(stem).get("timeout", TIMEOUT[profile])


def note_custom(profile: str) -> list[str]:
    """Write the notebooks whose parameters differ from the declared ones to ``custom.json``, next to the profile's logs.

    Returns:
        One line per such notebook.
    """
    given = {stem: profile_values(stem, profile) for stem in notebook_stems()}
    found = {stem: why for stem in given if (why := differences(stem, profile, given[stem]))}
    write_json(profile_results(profile) / "custom.json", found)
    return [
        f"  {stem}  is a custom run: {why} (`git add` declares these values)"
        for stem, why in found.items()
    ]


def notebooks_before(stem: str) -> list[str]:
    """Return the notebooks that run before this one.

    They are those that its section names. For one of the last notebooks they are all notebooks that are not among the last.
    """
    before = {*read_section(stem).get("after", [])}
    if stem.startswith(LAST):
        before.update(other for other in notebook_stems() if not other.startswith(LAST))
    return sorted(before)


def injected_settings(stem: str, profile: str, device: str = "auto") -> dict:
    """Return the settings that are injected into a notebook: profile, device, and its table in profiles.toml."""
    if profile not in PROFILES:
        raise ValueError(
            f"profile must be one of {', '.join(map(repr, PROFILES))}, got {profile!r}"
        )
    return {"profile": profile, "device": device, **changed_values(read_section(stem), profile)}


def code_cells(stem: str) -> list[dict]:
    """Return tags and source of a notebook's code cells, the part of the file that decides its results."""
    cells = json.loads(notebook_path(stem).read_text())["cells"]
    return [
        {"tags": cell["metadata"].get("tags", []), "source": "".join(cell["source"])}
        for cell in cells
        if cell["cell_type"] == "code"
    ]


def fingerprint(stem: str) -> str:
    """Return the SHA-256 of the code cells, which does not change with outputs, text cells or file times."""
    return hashlib.sha256(json.dumps(code_cells(stem)).encode()).hexdigest()


def cell_imports(stem: str) -> list[str]:
    """Return the names that a notebook's cells import from the two packages, each as the dotted name of its definition.

    ``from paperlib.pfbco import PFBCO`` counts as the module that defines ``PFBCO``, not as all modules whose names
    the package re-exports: its ``__init__.py`` does nothing else (``tests/test_house.py``). IPython's lines (%, !) are left
    out. A cell that is not valid Python even then stands for all modules of the two packages.
    """
    names = set()
    for cell in code_cells(stem):
        lines = cell["source"].splitlines()
        python = ["" if line.lstrip().startswith(("%", "!")) else line for line in lines]
        try:
            statements = import_statements("\n".join(python).encode(), stem)
            names |= {name for name, _ in imported_names(statements)}
        # The cell may import anything, and an unnecessary run is better than a missed edit.
        except SyntaxError:
            names |= all_modules()
    return sorted({origin(name) for name in names if name.split(".")[0] in PACKAGES})


def looked_up_modules(stem: str, files: Iterable[Path]) -> list[str]:
    """Return the modules that a notebook uses without an import statement, because they are looked up by a paper's name.

    They are the claims of its own paper and of the papers whose files it uses. If it draws figures, their line styles are
    included. The last notebooks show the claims, errata, styles and statements of every paper.

    Args:
        files: files that the notebook uses through its imports.
    """
    if stem.startswith(LAST):
        shown = ("claims", "errata", "styles")
        named = [f"companion.{topic}.{room}" for topic in topics() for room in shown]
        return named + [module for paper in papers() for module in statement_modules(paper)]
    uses = lambda name: any(file.is_relative_to(CHECKOUT / name) for file in files)
    of = lambda paper: uses(f"paperlib/{paper}") or uses(f"companion/{paper}")
    own = [topic for topic in topics() if topic == stem.split("_")[0] or of(topic)]
    shown = ("claims", "styles") if uses("companion/figures") else ("claims",)
    return [f"companion.{topic}.{room}" for topic in own for room in shown]


def all_modules() -> set[str]:
    """Return every module of the library and the companion, as dotted names."""
    return {
        ".".join([name, *path.relative_to(root).with_suffix("").parts]).removesuffix(".__init__")
        for name, root in package_roots()
        for path in Path(root).rglob("*.py")
    }


def input_files(stem: str) -> list[str]:
    """Return the files that a notebook's results depend on, in addition to its own cells and settings.

    They are the modules of the packages that it uses, directly or through others; the tables that the project ships, if one of
    these modules reads data; and the notebook's data sets that are on this machine.
    """
    found = (
        {project_dir() / "requirements.lock"}
        if (project_dir() / "requirements.lock").exists()
        else set()
    )
    # Imports are read from the source and not executed, so that a call with no work does not wait
    # for torch.
    for name in cell_imports(stem):
        add_imports(resolve_file(name), found)
    for name in looked_up_modules(stem, [*found]):
        add_imports(module_file(name), found)
    if stem.startswith(LAST):  # their docstrings contain the papers' titles
        found |= {module_file(title_module(topic)) for topic in topics()}
    paths = sorted(found)
    if any(path.is_relative_to(CHECKOUT / "companion" / "datasets") for path in paths):
        tables = (CHECKOUT / "data").glob("*")
        paths += sorted(path for path in tables if path.suffix in {".csv", ".toml", ".json"})
    # The ledger's tables are made from templates next to its code.
    for template in ("ledger", "macros"):
        paths += {found for path in paths for found in path.parent.glob(f"templates/{template}.*")}
    for name in read_section(stem).get("datasets", []):
        # Imported here, because Snakemake calls this often and few notebooks use data sets.
        from ..datasets import registry as datasets

        # A file with a wrong checksum is left out here; the notebook itself refuses it.
        with contextlib.suppress(ValueError):
            paths += filter(None, [datasets.find(name)])
    return [
        str(path.relative_to(project_dir()) if path.is_relative_to(project_dir()) else path)
        for path in paths
    ]


def recorded_verdicts(stem: str, profile: str) -> list[str]:
    """Return the recorded verdicts, as JSON, that a notebook prints next to its own numbers.

    In the paper profile and in its replication there are none, because the notebook then writes verdicts.
    """
    if profile != "quick":
        return []
    own = "" if stem.startswith(LAST) else f"{stem.split('_')[0]}."
    claims = read_entries(project_dir() / "figures")
    return sorted(json.dumps(claim) for claim in claims if claim["id"].startswith(own))


def inputs_digest(files: list[str], names: Iterable[str] = ()) -> str:
    """Return the SHA-256 of the names and contents of ``input_files``.

    It changes where file times do not, for example with an edit during a run or a ``cp -p``. For a large file, size and time
    represent the content: it is a data set, whose SHA-256 ``datasets.find`` has checked.

    Args:
        files: paths relative to the project's folder, or absolute.
        names: ``cell_imports``, because a package may re-export another object under the same name.
    """
    total = hashlib.sha256(" ".join(names).encode())
    for name in files:
        stat = (path := project_dir() / name).stat()
        large = f"{stat.st_size} {stat.st_mtime_ns}".encode()
        text = large if stat.st_size > LARGE else path.read_bytes()
        total.update(f"{name} {hashlib.sha256(text).hexdigest()}\n".encode())
    return total.hexdigest()


def list_products(written: Path) -> dict[str, str]:
    """Return the figures and verdicts that `written` lists, one per line, as path relative to their folder -> SHA-256."""
    lines = written.read_text().splitlines() if written.exists() else []
    top = figures_dir().resolve()
    paths = {Path(line).relative_to(top) for line in lines if Path(line).is_relative_to(top)}
    return {str(path): _sha256(top / path) for path in sorted(paths)}


def _sha256(path: Path) -> str:
    """Return the SHA-256 of a file's content; "" if the file does not exist."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def forget_incomplete(stem: str, profile: str) -> str:
    """Delete a notebook's ``.done`` file if it is damaged, or if a figure or verdict is not the one that the notebook wrote.

    Returns:
        The reason in one line; "" if nothing was deleted.
    """
    done = profile_results(profile) / f"{stem}.done"
    if not done.exists():
        return ""
    try:
        found = json.loads(done.read_bytes())
        seconds, made = found["seconds"], found["products"]
        whole = type(seconds) in (int, float) and 0 <= seconds < math.inf
        # A longer path comes from a damaged file, and some systems raise an error when such a path is
        # opened.
        whole = whole and isinstance(made, dict) and all(len(path) < PATH for path in made)
    except (OSError, ValueError, RecursionError, TypeError, KeyError):
        whole = False
    other = [name for name in made if _sha256(figures_dir() / name) != made[name]] if whole else []
    if whole and not other:
        return ""
    why = f"{done.name} is damaged"
    if other:
        rest = " and others differ" if other[3:] else " differs" if len(other) == 1 else " differ"
        why = f"{', '.join(other[:3])}{rest} from the notebook's last output"
    done.unlink()
    return f"  {stem}  runs again: {why}"
