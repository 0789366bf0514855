"""Nothing that ships names a machine's folders or a package registry, or holds a large file."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("paperlib", "tests", "notebooks", "docs", "bench", "profiles", "data", "figures", ".ci")
HIDDEN = {"quick", "__pycache__", ".ipynb_checkpoints"}
# Put together here, so that this file does not find itself.
MACHINE = re.compile("|".join(["/" + "root/", "/" + r"home/\w", "/" + r"Users/\w", "/" + r"work/\w", "/" + "opt/", r"\.py" + "env"]))
REGISTRY = re.compile("|".join(["py" + r"pi\.org", "python" + r"hosted", "conda" + r"\.anaconda", "index" + "-url"]))


def shipped() -> list[Path]:
    """Files of the project, as a clone has them."""
    top = [path for path in ROOT.iterdir() if path.is_file()]
    inside = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()]
    return [path for path in top + inside if not HIDDEN & set(path.relative_to(ROOT).parts)]


def faults(path: Path) -> list[str]:
    if path.stat().st_size > 2_000_000:
        return [f"{path.name}: larger than 2 MB"]
    if path.suffix in (".png", ".pdf", ".npz"):
        return []
    text = path.read_text(errors="ignore")
    return [f"{path.name}: {found.group(0)}" for pattern in (MACHINE, REGISTRY) if (found := pattern.search(text))]


def test_no_machine_and_no_registry_is_named():
    assert [fault for path in shipped() for fault in faults(path)] == []


@pytest.mark.parametrize("text", ["see /" + "root/x", "/" + "home/me/x", "https://py" + "pi.org/simple"])
def test_the_search_can_find(text, tmp_path):
    path = tmp_path / "file.txt"
    path.write_text(text)
    assert len(faults(path)) == 1
