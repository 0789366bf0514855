"""A long cell in a real JupyterLab: the page shows its progress, and the saved notebook does not contain it."""

import contextlib
import re
import time

import nbformat
import pytest
from browser import chromium
from test_lab import IDLE, ROOT, STEM, TOKEN, project, running, wait  # noqa: F401

LONG = [
    f"""import sys
sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / "tests")!r}]
from toy import Coins, Index
from companion import store""",
    'traces = store.run(Coins(), {"slow": Index(nap=0.1)}, 80, 1)',
    'print("before")\nstore.run(Coins(), {"slow": Index(nap=0.1)}, 15, 1);',
]
CELLS = """return [...document.querySelectorAll('.jp-CodeCell')].map(
    c => [c.querySelector('.jp-InputPrompt').textContent.trim(), c.querySelector('.jp-OutputArea').innerText])"""


def run_cell(browser, number, seconds):
    """Run a cell by Control and Enter, as a reader does; return the other texts seen on the page until it ends."""
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    cell = lambda: browser.execute_script(CELLS)[number]
    found = f"return document.querySelectorAll('.jp-CodeCell')[{number}].querySelector('.cm-line')"

    def clicked():
        with contextlib.suppress(WebDriverException):  # JupyterLab is still drawing the cells
            # If the notebook opens before the list of kernels is loaded, JupyterLab asks for the kernel. We accept its suggestion.
            for button in browser.find_elements("css selector", ".jp-Dialog button.jp-mod-accept"):
                button.click()
            browser.execute_script(found).click()
            return True
        return False

    # JupyterLab ignores a run request while it connects to the kernel, so we repeat it as a reader would.
    for _ in range(3):
        wait(60, f"cell {number} can be clicked", clicked)
        keys, begun = ActionChains(browser), time.monotonic()
        keys.key_down(Keys.CONTROL).send_keys(Keys.ENTER).key_up(Keys.CONTROL).perform()
        with contextlib.suppress(AssertionError):
            wait(10, "the cell has begun", lambda: cell()[0] != "[ ]:")
            break
    seen, end = [], begun + seconds
    while not re.fullmatch(r"\[\d+\]:", (state := cell())[0]):
        if state[1] and (not seen or state[1] != seen[-1][1]):
            seen.append((time.monotonic() - begun, state[1]))
        assert time.monotonic() < end, f"cell {number}: not within {seconds} s"
        time.sleep(0.05)
    return seen


@pytest.mark.slow
def test_a_long_cell_shows_progress_and_removes_it(project, tmp_path, monkeypatch):  # noqa: F811
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    monkeypatch.delenv("PYTEST_VERSION")  # this variable marks a kernel of nbval
    path = project / "notebooks/toy_1.ipynb"
    new = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in LONG])
    new.metadata = nbformat.read(project / f"notebooks/{STEM}.ipynb", as_version=4).metadata
    nbformat.write(new, path)
    with chromium(tmp_path / "chromium") as browser, running(project) as address:
        browser.set_window_size(1400, 1000)
        browser.get(f"{address}/lab/tree/notebooks/toy_1.ipynb?token={TOKEN}")
        wait(120, "the notebook with a kernel", lambda: browser.find_elements("css selector", IDLE))
        run_cell(browser, 0, 120)
        seen = run_cell(browser, 1, 60)
        run_cell(browser, 2, 30)
        texts = lambda: [text.strip() for _, text in browser.execute_script(CELLS)]
        with contextlib.suppress(AssertionError):
            wait(20, "what was printed alone", lambda: texts() == ["", "", "before"])
        assert texts() == ["", "", "before"]
        ActionChains(browser).key_down(Keys.CONTROL).send_keys("s").key_up(Keys.CONTROL).perform()
        saved = lambda: nbformat.read(path, as_version=4).cells
        wait(30, "the notebook is saved", lambda: saved()[2].outputs)
    line = re.compile(
        r"Coins: (loading or waiting|slow), 1 of 1(, round \d+ of 80, about \d+ s left)?\s*"
    )
    assert seen and seen[0][0] < 2, seen
    assert all(line.fullmatch(text) for _, text in seen), seen
    assert len({text for _, text in seen if "round" in text}) >= 5, seen
    # If JupyterLab asks the kernel for something during the cell, an output without content stays.
    assert saved()[1].execution_count
    assert all(output.get("data") == {} for output in saved()[1].outputs)
    # Jupyter can empty the second of two outputs, but not remove it.
    assert [output.get("text", output.get("data")) for output in saved()[2].outputs] == [
        "before\n",
        {},
    ]
