"""The files that describe the environment agree, and README's commands exist."""

import ast
import importlib.metadata
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
import run  # noqa: E402

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
LINES = [
    line
    for line in (ROOT / "requirements.lock").read_text().splitlines()
    if line and not line.startswith("#")
]
DIRECT = [
    *PROJECT["dependencies"],
    *(r for extra in PROJECT["optional-dependencies"].values() for r in extra),
]
README = (ROOT / "README.md").read_text()
COMMAND = re.compile(r"^python3 run\.py (.*?)(?:\s+#.*)?$", re.MULTILINE)
COMMANDS = COMMAND.findall(README)
WHEEL = {"paperlib", "data", "pyproject.toml", "README.md", "LICENSE"}  # what a wheel is built of
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def locked() -> dict[str, str]:
    return {
        canonicalize_name(name): version for name, version in (line.split("==") for line in LINES)
    }


@pytest.mark.parametrize("line", LINES)
def test_the_lock_pins_one_public_version(line):
    # A local version (+cpu), a hash, an address or an option would tie the lock to one machine or index.
    assert re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!]+", line)


def test_the_lock_names_each_package_once():
    assert len(locked()) == len(LINES)


def test_torch_is_pinned_exactly():
    assert Version(locked()["torch"]).local is None and len(Version(locked()["torch"]).release) == 3


@pytest.mark.parametrize("requirement", DIRECT)
def test_the_lock_satisfies_pyproject(requirement):
    wanted = Requirement(requirement)
    assert wanted.specifier.contains(locked()[canonicalize_name(wanted.name)])


@pytest.mark.parametrize("requirement", DIRECT)
def test_the_environment_is_the_locked_one(requirement):
    name = Requirement(requirement).name
    assert Version(importlib.metadata.version(name)).public == locked()[canonicalize_name(name)]


def test_imports_of_the_package_are_declared():
    names = {"skopt": "scikit-optimize", "sklearn": "scikit-learn", "yaml": "pyyaml"}
    found = set()
    for path in (ROOT / "paperlib").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add(node.module.split(".")[0])
    outside = {
        canonicalize_name(names.get(name, name))
        for name in found - set(sys.stdlib_module_names) - {"paperlib"}
    }
    assert outside <= {canonicalize_name(Requirement(r).name) for r in DIRECT}


def test_what_botorch_leaves_beside_itself_hides_no_package():
    """Its wheel has folders "build", "scripts" and "sphinx", too: none may be found in place of the package of that name."""
    files = [file.parts for file in importlib.metadata.files("botorch")]
    beside = {parts[0] for parts in files} - {"botorch", "botorch_community"}
    packages = {parts[0] for parts in files if parts[1:] == ("__init__.py",)}
    assert "sphinx" in beside  # else this test is to go
    assert packages == {"botorch", "botorch_community", "test_community"}
    there = [sys.executable, "-c", "import paperlib; print(paperlib.__file__)"]
    found = subprocess.run(there, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert Path(found.strip()) == ROOT / "paperlib" / "__init__.py"


# What only those who ask for it shall wait for, or need to have.
LATE = ("botorch", "gpytorch", "linear_operator", "joblib", "sklearn", "optuna", "skopt")


def test_importing_the_package_imports_no_outside_optimizer():
    """Each module of paperlib by itself, all in one process: BoTorch adds a quarter to torch's time."""
    modules = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in sorted((ROOT / "paperlib").rglob("*.py"))
        if path.name not in ("__init__.py", "__main__.py")
    ]
    code = f"import importlib, sys\nfor name in {modules}: importlib.import_module(name)\nprint([name for name in {LATE} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (found.returncode, found.stdout.strip()) == (0, "[]"), found.stderr[-2000:]


def test_a_wheel_has_every_file_of_the_package():
    top, patterns = ROOT / "paperlib", PYPROJECT["tool"]["setuptools"]["package-data"]["paperlib"]
    there = {
        path for path in top.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")
    }
    assert (
        there == {path for pattern in patterns for path in top.glob(pattern)} >= {top / "py.typed"}
    )
    assert all((path.parent / "__init__.py").exists() for path in top.rglob("*.py"))


def test_an_installed_package_has_its_data(tmp_path):
    """Installed as by a user, outside of the checkout, every paper can be imported and its tables read."""
    shutil.copytree(
        ROOT,
        tmp_path / "source",
        ignore=lambda folder, names: set(names) - WHEEL if Path(folder) == ROOT else set(),
    )
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
    ]
    subprocess.run(
        [*pip, "--target", tmp_path / "site", tmp_path / "source"], check=True, capture_output=True
    )
    code = "import paperlib.bkb, paperlib.glbomd, paperlib.pfbco; from paperlib import datasets; print(paperlib.__file__, len(datasets.covertype_arms().mean))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(tmp_path / "site")}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(tmp_path / "site/paperlib/__init__.py"), "60"]


def test_environment_yml_takes_the_lock_and_the_same_python():
    dependencies = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    pip = next(entry["pip"] for entry in dependencies if isinstance(entry, dict))
    assert f"python{PROJECT['requires-python']}" in dependencies and "pip" in dependencies
    assert pip == ["-r requirements.lock", "-e ."]


def test_an_old_python_is_told_which_one_is_needed():
    source = (ROOT / "run.py").read_text()
    ast.parse(source, feature_version=(3, 8))
    for version in ((3, 8, 18), (3, 10, 13)):
        fake = f"import sys; sys.version_info = {version}; exec(compile(open('run.py').read(), 'run.py', 'exec'))"
        done = subprocess.run(
            [sys.executable, "-c", fake, "figures"], cwd=ROOT, capture_output=True, text=True
        )
        assert done.returncode == 1
        assert done.stderr.startswith(
            f"run.py needs Python 3.11 or later, this is {version[0]}.{version[1]}"
        )
    assert SpecifierSet(PROJECT["requires-python"]).contains("3.11.0") and not SpecifierSet(
        PROJECT["requires-python"]
    ).contains("3.10.13")


def test_run_needs_the_standard_library_alone():
    imports = [
        node
        for node in ast.walk(ast.parse((ROOT / "run.py").read_text()))
        if isinstance(node, (ast.Import, ast.ImportFrom))
    ]
    names = {alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in imports if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} <= set(sys.stdlib_module_names)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_readme_commands_exist(command):
    run.parse(shlex.split(command))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_and_files_of_the_docs_exist(page):
    text = page.read_text()
    for command in COMMAND.findall(text):
        run.parse(shlex.split(command))
    names = re.findall(r"`((?:paperlib|tests|notebooks)/[\w/.]+)`", text)
    assert names and [name for name in names if not (ROOT / name).exists()] == []


def test_the_readme_names_every_command():
    assert {command.split()[0] for command in COMMANDS} == {
        "figures",
        "test",
        "lab",
        "bench",
        "data",
        "clean",
    }


EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_the_readme_examples_run(example):
    done = subprocess.run([sys.executable, "-c", example], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_check_of_an_empty_checkout_is_executable():
    path = ROOT / ".ci" / "run"
    assert os.access(path, os.X_OK)
    assert path.read_text().rstrip().splitlines()[-1] == 'exec python3 run.py test --slow "$@"'
