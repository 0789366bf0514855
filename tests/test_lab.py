"""JupyterLab as a reader uses it: it opens the tour, a link is followed, a parameter is changed, and all cells are run."""

import base64
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import nbformat
import pytest
from browser import chromium
from waiting import free_ports, wait

import run
from companion.workflow.declared import TAGS

ROOT = Path(__file__).resolve().parents[1]
STEM, FIGURE = "glbomd_4_covertype", "glbomd/figure_4"
SMALL = {
    "horizon": 40,
    "trials": 4,
    "one_trial_trials": 2,
    "repetitions": 1,
    "timing_rounds": 20,
    "batch_rounds": 10,
}
TOKEN = "of-this-test-alone"
# The page contains all cells, including those outside the visible part.
SETTINGS = {"notebook-extension/tracker": {"windowingMode": "none"}}
ERRORS = '.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.error"]'
IDLE = '.jp-NotebookPanel .jp-Notebook-ExecutionIndicator[data-status="idle"]'


@pytest.fixture
def project(tmp_path):
    """Yield a project with a copy of one notebook, with small parameters and without outputs. The repository is not modified."""
    notebook = nbformat.read(ROOT / "notebooks" / f"{STEM}.ipynb", as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    declaring = [cell for cell in notebook.cells if TAGS & {*cell.metadata.get("tags", [])}]
    for name, value in SMALL.items():
        found = 0
        for cell in declaring:
            line = re.compile(rf"^({name}: \w+ =) \w+", re.MULTILINE)
            cell.source, count = line.subn(rf"\1 {value}", cell.source)
            found += count
        assert found == 1, f"{STEM} has no parameter {name}"
    (tmp_path / "project/notebooks").mkdir(parents=True)
    nbformat.write(notebook, tmp_path / "project/notebooks" / f"{STEM}.ipynb")
    for name, content in SETTINGS.items():
        path = tmp_path / "jupyter/settings/@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
    return tmp_path / "project"


@contextlib.contextmanager
def running(project):
    """Start ``run.py lab`` on a free port, yield its address once it responds, and stop it and its kernels."""
    jupyter, (port,) = project.parent / "jupyter", free_ports()
    folders = {
        f"JUPYTER_{name.upper()}_DIR": jupyter / name for name in ("config", "data", "runtime")
    }
    folders |= {
        f"JUPYTERLAB_{name.upper()}_DIR": jupyter / name for name in ("settings", "workspaces")
    }
    folders |= {
        "IPYTHONDIR": jupyter / "ipython",
        "PAPERLIB_ROOT": project,
        "PAPERLIB_RESULTS": project / "results",
        "PAPERLIB_FIGURES": project / "figures",
    }
    (project / "locks").mkdir()  # this test shares no lock for timings with other processes
    folders |= {"PAPERLIB_LOCKS": project / "locks", "PAPERLIB_PYTHON": sys.executable}
    command = [
        sys.executable,
        ROOT / "run.py",
        "lab",
        "--no-browser",
        "--allow-root",
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.port={port}",
    ]
    command += ["--ServerApp.port_retries=0", f"--IdentityProvider.token={TOKEN}"]
    with open(project / "lab.log", "w") as log:
        server = subprocess.Popen(
            command,
            env=os.environ | {k: str(v) for k, v in folders.items()},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )

    def answers():
        assert server.poll() is None, (
            f"run.py lab ended:\n{(project / 'lab.log').read_text()[-2000:]}"
        )
        with contextlib.suppress(OSError):
            return (
                urllib.request.urlopen(
                    f"http://127.0.0.1:{port}/api/status?token={TOKEN}", timeout=5
                ).status
                == 200
            )

    try:
        wait(120, "JupyterLab answers", answers)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()


def change_parameter(browser, name, value):
    """Type a new value into the parameters cell, like a reader."""
    from selenium.common.exceptions import (
        ElementClickInterceptedException,
        StaleElementReferenceException,
    )
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    # A single call is used, because JupyterLab may redraw the cell between finding a line and reading it.
    found = "[...document.querySelectorAll('.jp-CodeCell .cm-line')].find(l => l.textContent.startsWith(arguments[0]))"
    line = lambda: browser.execute_script(f"return {found} || null", f"{name}:")
    says = lambda: browser.execute_script(f"return ({found} || {{}}).textContent", f"{name}:")

    def clicked():
        # While JupyterLab loads, another element may cover the line.
        with contextlib.suppress(StaleElementReferenceException, ElementClickInterceptedException):
            if (it := line()) is not None:
                it.click()
                return True
        return False

    wait(60, f"the line of {name}", clicked)
    text = f"{name}: int = {value}  # typed"
    ActionChains(browser).send_keys(Keys.HOME).key_down(Keys.SHIFT).send_keys(Keys.END).key_up(
        Keys.SHIFT
    ).send_keys(text).perform()
    wait(20, f"{text!r} in the cell", lambda: says() == text)


def run_all_cells(browser, seconds):
    """Choose Run > Run All Cells, and wait until each cell has run; an error ends the wait."""
    item = '.lm-Menu-item[data-command="runmenu:run-all"]'
    prompts = lambda: browser.execute_script(
        "return [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt:not(.jp-Placeholder-prompt)')].map(p => p.textContent.trim())"
    )
    begun = lambda: any(prompt != "[ ]:" for prompt in prompts())

    def done():
        assert not (errors := browser.find_elements("css selector", ERRORS)), errors[0].text
        return all(
            re.fullmatch(r"\[\d+\]:", prompt) for prompt in prompts()
        ) and browser.find_elements("css selector", IDLE)

    # JupyterLab ignores the command while it is still connecting to the kernel, so it is repeated.
    for _ in range(3):
        labels = browser.find_elements("css selector", ".lm-MenuBar-itemLabel")
        next(label for label in labels if label.text == "Run").click()
        wait(20, "Run All Cells", lambda: browser.find_elements("css selector", item))[0].click()
        with contextlib.suppress(AssertionError):
            wait(30, "a cell has begun", begun)
            break
    try:
        wait(seconds, "every cell has run", done)
    except AssertionError as error:
        raise AssertionError(f"{error}; the cells say {prompts()}") from error


@pytest.mark.slow
def test_a_changed_parameter_gives_a_new_figure(project, tmp_path):
    # Runs with the declared parameters write to another folder.
    saved = project / "figures/custom" / FIGURE
    with chromium(tmp_path / "chromium") as browser, running(project) as address:
        browser.set_window_size(1400, 1000)
        browser.get(f"{address}/lab/tree/notebooks/{STEM}.ipynb?token={TOKEN}")
        wait(120, "the notebook with a kernel", lambda: browser.find_elements("css selector", IDLE))
        assert (
            not browser.find_elements("css selector", ".jp-OutputArea-output img")
            and not saved.parent.exists()
        )
        change_parameter(browser, "horizon", 60)
        run_all_cells(browser, 300)
        images = browser.execute_script(
            "return [...document.querySelectorAll('.jp-OutputArea-output img')].map(i => [i.src, i.naturalWidth])"
        )
    about = json.loads(saved.with_suffix(".json").read_text())
    assert about["parameters"]["horizon"] == 60 and about["profile"] == "custom"
    assert not (project / "figures/quick").exists()
    shown = [base64.b64decode(source.partition(",")[2]) for source, width in images if width > 0]
    assert saved.with_suffix(".png").read_bytes() in shown


def texts(browser, selector):
    """Return the texts of the page's elements, in a single call because JupyterLab may redraw them at any time."""
    found = "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)"
    return browser.execute_script(found, selector)


@pytest.mark.slow
def test_it_opens_in_the_tour_without_news_and_links_open_pages(project, tmp_path):
    copied = ["notebooks/00_tour.ipynb", "notebooks/conftest.py", "notebooks/profiles.toml"]
    for name in (*copied, "docs/papers/index.md"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, project / name)
    tabs = "#jp-main-dock-panel .lm-TabBar-tabLabel"
    with chromium(tmp_path / "chromium") as browser, running(project) as address:
        browser.set_window_size(1400, 1000)
        browser.get(f"{address}/?token={TOKEN}")
        wait(120, "the tour with a kernel", lambda: browser.find_elements("css selector", IDLE))
        assert texts(browser, tabs) == ["00_tour.ipynb"]
        listed = wait(20, "files", lambda: texts(browser, ".jp-DirListing-itemText"))
        assert sorted(listed) == ["00_tour.ipynb", f"{STEM}.ipynb"]
        time.sleep(5)  # because a prompt may appear late
        assert texts(browser, ".Toastify__toast") == []
        link = "[...document.querySelectorAll('.jp-RenderedMarkdown a')].find(a => a.textContent == 'Papers')"
        browser.execute_script(f"{link}.click()")
        wait(30, "the page", lambda: "index.md" in texts(browser, tabs))
        wait(30, "its title", lambda: texts(browser, ".jp-MarkdownViewer h1"))


@pytest.mark.parametrize("given", [None, "elsewhere"])
def test_user_settings_override_project_settings(given, monkeypatch):
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", "own")
    monkeypatch.delenv("JUPYTER_CONFIG_PATH", raising=False)
    if given:
        monkeypatch.setenv("JUPYTER_CONFIG_PATH", given)
    *first, last = run.configuration().split(os.pathsep)
    assert first == [*filter(None, [given]), "own"] and Path(last) == ROOT / "notebooks/.jupyter"
    assert all(json.loads(path.read_text()) for path in Path(last).rglob("*.json"))
