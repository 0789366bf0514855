"""The files that describe the environment are consistent, and the commands in the README exist."""

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
import paperlib  # noqa: E402
import run  # noqa: E402
from companion.pages import site  # noqa: E402
from companion.papers import papers  # noqa: E402

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
EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
SERIES = [  # the Python versions that the package declares, in ascending order
    name.removeprefix("Programming Language :: Python :: ")
    for name in PROJECT["classifiers"]
    if re.fullmatch(r"Programming Language :: Python :: \d+\.\d+", name)
]
WHEEL = {
    "paperlib",
    "companion",
    "pyproject.toml",
    "README.md",
    "LICENSE",
}  # the source files of a wheel
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def locked() -> dict[str, str]:
    return {
        canonicalize_name(name): version for name, version in (line.split("==") for line in LINES)
    }


@pytest.mark.parametrize("line", LINES)
def test_the_lock_pins_one_public_version(line):
    # A local version (+cpu), a hash, an address or an option would bind the lock file to one machine or index.
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
    for path in [*(ROOT / "paperlib").rglob("*.py"), *(ROOT / "companion").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add(node.module.split(".")[0])
    outside = {
        canonicalize_name(names.get(name, name))
        for name in found - set(sys.stdlib_module_names) - {"paperlib", "companion"}
    }
    assert outside <= {canonicalize_name(Requirement(r).name) for r in DIRECT}


def test_the_files_of_botorch_hide_no_package():
    """The wheel of BoTorch also contains folders "build", "scripts" and "sphinx". They must not shadow the packages of these names."""
    files = [file.parts for file in importlib.metadata.files("botorch")]
    beside = {parts[0] for parts in files} - {"botorch", "botorch_community"}
    packages = {parts[0] for parts in files if parts[1:] == ("__init__.py",)}
    assert "sphinx" in beside  # if this fails, the test is no longer needed
    assert packages == {"botorch", "botorch_community", "test_community"}
    there = [sys.executable, "-c", "import paperlib; print(paperlib.__file__)"]
    found = subprocess.run(there, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert Path(found.strip()) == ROOT / "paperlib" / "__init__.py"


@pytest.mark.slow
def test_importing_the_library_imports_its_three_dependencies_alone():
    """Import each module of paperlib, all in one process. An extra may only be imported when a learner that needs it is used."""
    modules = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in sorted((ROOT / "paperlib").rglob("*.py"))
        # The samplers are for users of Optuna, and nothing else imports them.
        if path.name not in ("__init__.py", "__main__.py", "samplers.py")
    ]
    assert [Requirement(r).name for r in PROJECT["dependencies"]] == ["torch", "numpy", "scipy"]
    others = {Requirement(r).name.replace("-", "_") for r in DIRECT} - {"torch", "numpy", "scipy"}
    late = sorted(others | {"sklearn", "skopt", "companion"})
    code = f"import importlib, sys, torch\nalready = set(sys.modules)\nfor name in {modules}: importlib.import_module(name)\nprint([name for name in {late} if name in set(sys.modules) - already])"
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


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Yield a function that runs code like a user who installed the package.

    The code runs outside the repository, so that no other copy of the package is found first.
    """
    place = tmp_path_factory.mktemp("installed")
    shutil.copytree(
        ROOT,
        place / "source",
        ignore=lambda folder, names: set(names) - WHEEL if Path(folder) == ROOT else set(),
    )
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index"]  # fmt: skip
    subprocess.run(
        [*pip, "--target", place / "site", place / "source"], check=True, capture_output=True
    )
    shutil.rmtree(place / "source")
    env = os.environ | {"PYTHONPATH": str(place / "site")}
    (place / "work").mkdir()

    def ran(code):
        """Return the output of the code; its last line is the location of the package."""
        code += "\nimport paperlib; print(paperlib.__file__)"
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=place / "work", env=env, capture_output=True, text=True
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        *said, file = done.stdout.splitlines()
        assert Path(file) == place / "site/paperlib/__init__.py"
        return said

    return ran


@pytest.mark.slow
def test_an_installed_package_holds_the_library_without_the_companion(installed):
    """Every paper can be imported, and an assumption can be checked."""
    code = """
import importlib, pathlib, sys, paperlib
site = pathlib.Path(paperlib.__path__[0]).parent
names = sorted(path.parent.name for path in site.glob("paperlib/*/learners*"))
for name in names: importlib.import_module(f"paperlib.{name}")
import torch
from paperlib.glbomd.theory.bounds import assumption_1
assert assumption_1(torch.tensor([[0.6, 0.8]]), torch.tensor([1.0, 0.0]), norm_bound=2.0).verdict == "holds"
print(names, "companion" in sys.modules, (site / "companion").exists())"""
    assert installed(code) == [f"{papers()} False False"]


def test_an_installed_package_describes_itself(installed):
    code = "from importlib.metadata import metadata; m = metadata('paperlib'); print(m['License-Expression']); print(m['Author']); print('\\n'.join(m.get_all('Classifier')))"
    license, author, *classifiers = installed(code)
    assert (license, author) == (PROJECT["license"], PROJECT["authors"][0]["name"])
    assert sorted(classifiers) == sorted(PROJECT["classifiers"])


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_the_readme_examples_run_on_an_installed_package(installed, example):
    installed(example)


def test_citation_and_pyproject_name_the_same():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    names = [
        author.get("name") or f"{author['given-names']} {author['family-names']}"
        for author in citation["authors"]
    ]
    assert names == [author["name"] for author in PROJECT["authors"]]
    assert citation["license"] == PROJECT["license"]
    assert citation["version"] == paperlib.__version__
    addresses = {citation[key] for key in ("url", "repository-code") if key in citation}
    assert addresses == set(PROJECT.get("urls", {}).values())


def test_the_declared_pythons_are_those_that_are_allowed():
    allowed = SpecifierSet(PROJECT["requires-python"])
    versions = sorted(SERIES, key=Version)
    assert versions == SERIES and all(allowed.contains(f"{series}.0") for series in SERIES)
    major, minor = versions[0].split(".")
    assert not allowed.contains(f"{major}.{int(minor) - 1}.99")


def test_environment_yml_takes_the_lock_and_a_declared_python():
    dependencies = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    pip = next(entry["pip"] for entry in dependencies if isinstance(entry, dict))
    assert f"python={SERIES[0]}" in dependencies and "pip" in dependencies
    assert pip == ["-r requirements.lock", "-e ."]


def test_binder_takes_the_lock_and_opens_the_tour():
    dependencies = yaml.safe_load((ROOT / ".binder/environment.yml").read_text())["dependencies"]
    assert dependencies == [f"python={SERIES[0]}", "uv"]
    script = ROOT / ".binder/postBuild"
    assert os.access(script, os.X_OK)
    subprocess.run(["bash", "-n", script], check=True)
    last = shlex.split(script.read_text().splitlines()[-1])
    assert last[:3] == ["uv", "pip", "install"] and last[-4:] == ["-r", "requirements.lock", "-e", "."]  # fmt: skip
    guide = (ROOT / "docs/guides/commands.md").read_text()
    (opened,) = re.findall(r"urlpath=lab/tree/([\w/.]+)`", guide)
    assert (ROOT / opened).exists()


WORKFLOWS = {
    path.stem: yaml.safe_load(path.read_text())
    for path in sorted((ROOT / ".github/workflows").glob("*.yml"))
}
STEPS = [
    (name, job, step)
    for name, workflow in WORKFLOWS.items()
    for job in workflow["jobs"].values()
    for step in job["steps"]
]


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_has_few_permissions_and_a_time_limit(name):
    workflow = WORKFLOWS[name]
    assert {"push", "pull_request"} == set(workflow[True])  # "on", which YAML reads as a Boolean
    assert workflow["permissions"] == {"contents": "read"} and "concurrency" in workflow
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 60
        if "permissions" in job:  # a job that may write must not run code of the repository
            assert not any("run" in step or "checkout" in step["uses"] for step in job["steps"])


def test_the_commands_of_the_workflows_exist():
    commands = {name: [] for name in WORKFLOWS}
    for name, job, step in STEPS:
        if "run" in step:
            found = COMMAND.fullmatch(step["run"])
            run.parse(shlex.split(found.group(1)))
            commands[name].append(found.group(1))
            assert job["env"] == {"PIP_EXTRA_INDEX_URL": "${{ vars.PIP_EXTRA_INDEX_URL }}"}
    assert commands == {"site": ["docs"], "tests": ["test", "test --slow"]}
    assert "`PIP_EXTRA_INDEX_URL`" in (ROOT / "CONTRIBUTING.md").read_text()


def test_the_workflows_take_the_declared_pythons():
    assert WORKFLOWS["tests"]["jobs"]["tests"]["strategy"]["matrix"]["python"] == SERIES
    given = {step["with"]["python-version"] for _, _, step in STEPS if "python-version" in step.get("with", {})}  # fmt: skip
    assert given == {"${{ matrix.python }}", SERIES[0]}


def test_the_workflow_publishes_what_docs_writes(monkeypatch):
    monkeypatch.delenv("PAPERLIB_ROOT", raising=False)
    written = []
    monkeypatch.setattr(site, "build", lambda profile, out: written.append(out) or 0)
    assert site.main(["build", run.parse(["docs"]).profile]) == 0
    (path,) = (step["with"]["path"] for _, _, step in STEPS if "upload" in step.get("uses", ""))
    assert written == [ROOT / path]


def test_an_old_python_gets_an_error_with_the_required_version():
    source = (ROOT / "run.py").read_text()
    ast.parse(source, feature_version=(3, 8))
    for version in ((3, 8, 18), (3, 10, 13)):
        fake = f"import sys; sys.version_info = {version}; exec(compile(open('run.py').read(), 'run.py', 'exec'))"
        done = subprocess.run(
            [sys.executable, "-c", fake, "figures"], cwd=ROOT, capture_output=True, text=True
        )
        assert done.returncode == 1
        assert done.stderr.startswith(
            f"run.py requires Python 3.11 or later, got {version[0]}.{version[1]}. "
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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_commands_and_files_of_the_docs_exist(page):
    text = page.read_text()
    for command in COMMAND.findall(text):
        run.parse(shlex.split(command))
    names = re.findall(r"`((?:paperlib|tests|notebooks)/[\w/.]+)`", text)
    assert [name for name in names if not (ROOT / name).exists()] == []


def test_the_guide_names_every_command():
    guide = (ROOT / "docs/guides/commands.md").read_text()
    assert {command.split()[0] for command in COMMAND.findall(guide)} == set(run.parser().commands)


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_the_readme_examples_run(example):
    done = subprocess.run([sys.executable, "-c", example], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_check_of_an_empty_checkout_is_executable():
    path = ROOT / ".ci" / "run"
    assert os.access(path, os.X_OK)
    assert path.read_text().rstrip().splitlines()[-1] == 'exec python3 run.py test --slow "$@"'
