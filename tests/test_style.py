"""The formatter and the linter report no issue, and the commit hook runs the locked version of them."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.skipif(importlib.util.find_spec("ruff") is None, reason="ruff is not installed here")
@pytest.mark.parametrize("command", [["check"], ["format", "--check"]], ids=["check", "format"])
def test_ruff_reports_no_error(command):
    ruff = [sys.executable, "-m", "ruff", *command, "--no-cache", "--output-format", "concise", "."]
    done = subprocess.run(ruff, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(ruff[2:4])} finds:\n{done.stdout}{done.stderr}"


def test_the_hook_has_the_locked_version():
    repos = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    (hook,) = (repo["rev"] for repo in repos if repo["repo"].endswith("/ruff-pre-commit"))
    assert (
        f"ruff=={hook.removeprefix('v')}" in (ROOT / "requirements.lock").read_text().splitlines()
    )
