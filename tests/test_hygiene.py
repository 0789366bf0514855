"""No published file contains a path of a machine or the address of a package registry, or is large."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("paperlib", "companion", "tests", "notebooks", "docs", "bench", "profiles", "data", "figures", ".ci", ".github", ".binder")  # fmt: skip
HIDDEN = {"quick", "custom", "__pycache__", ".ipynb_checkpoints"}
# The patterns are assembled from parts, so that this file does not match them.
MACHINE = re.compile(
    "|".join(
        [
            "/" + "root/",
            "/" + r"home/\w",
            "/" + r"Users/\w",
            "/" + r"work/\w",
            "/" + "opt/",
            r"\.py" + "env",
        ]
    )
)
REGISTRY = re.compile(
    "|".join(
        [
            "py" + r"pi\.org",
            "python" + r"hosted",
            "conda" + r"\.anaconda",
            "download" + r"\.pytorch",
            "index" + "-url",
        ]
    )
)


def top_level(root: Path) -> list[Path]:
    """Return the files at the top level of the repository that git does not ignore.

    Without git, files that runs create are omitted.
    """
    listing = ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        names = subprocess.run(listing, check=True, capture_output=True, text=True).stdout.split(
            "\0"
        )
    except (OSError, subprocess.CalledProcessError):
        names = [
            path.name
            for path in root.iterdir()
            if path.name not in (".git", ".run.lock", "nohup.out")
        ]
    return sorted({root / name for name in names if "/" not in name and (root / name).is_file()})


def shipped() -> list[Path]:
    """Return the files of the project, as in a clone."""
    top = top_level(ROOT)
    inside = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()]
    return [path for path in top + inside if not HIDDEN & set(path.relative_to(ROOT).parts)]


def faults(path: Path) -> list[str]:
    if path.stat().st_size > 2_000_000:
        return [f"{path.name}: larger than 2 MB"]
    if path.suffix in (".png", ".pdf", ".npz"):
        return []
    text = path.read_text(errors="ignore")
    return [
        f"{path.name}: {found.group(0)}"
        for pattern in (MACHINE, REGISTRY)
        if (found := pattern.search(text))
    ]


def test_no_machine_and_no_registry_is_named():
    assert [fault for path in shipped() for fault in faults(path)] == []


@pytest.mark.parametrize(
    "text", ["see /" + "root/x", "/" + "home/me/x", "https://py" + "pi.org/simple"]
)
def test_the_search_finds_planted_paths(text, tmp_path):
    path = tmp_path / "file.txt"
    path.write_text(text)
    assert len(faults(path)) == 1


@pytest.mark.parametrize("checkout", [False, True])
def test_files_left_by_runs_are_not_searched(tmp_path, checkout):
    if checkout:
        if shutil.which("git") is None:
            pytest.skip("there is no git")
        subprocess.run(["git", "init", "-q", tmp_path], check=True)
        shutil.copy(ROOT / ".gitignore", tmp_path)
    else:
        (tmp_path / ".git").write_text("gitdir: elsewhere")  # as in a worktree
    for name in (".run.lock", "nohup.out", "new.py"):
        (tmp_path / name).write_text("")
    assert [path.name for path in top_level(tmp_path)] == [".gitignore"] * checkout + ["new.py"]
