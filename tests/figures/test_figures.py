"""Figures: one style per learner, files that are equal byte for byte, and the plotted numbers next to every image."""

import hashlib
import json
import sys
from pathlib import Path

import ipywidgets
import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

import companion
import paperlib
from companion import verdicts
from companion.figures import drawing as figures
from companion.papers import paper_module, papers
from companion.styles import COLORS, REFERENCES, Style
from paperlib import checks, stats
from paperlib.core.trace import Trace

CODE = Path(__file__).resolve().parents[2]
INIT = """
from companion.styles import Style
STYLES = {"ours": Style("vermilion", "o", emphasis=True), "theirs": Style("blue", "s", "--", "their method"), "other": Style("green")}
"""


@pytest.fixture(autouse=True)
def toy(tmp_path, monkeypatch):
    folder = tmp_path / "extra" / "toy"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "claims.py").write_text("CLAIMS = []\n")
    (folder / "styles.py").write_text(INIT)
    for package in (paperlib, companion):
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder.parent)])
    monkeypatch.setenv("PAPERLIB_FIGURES", str(tmp_path / "figures"))
    yield folder
    for name in [m for m in sys.modules if m.startswith(("paperlib.toy", "companion.toy"))]:
        del sys.modules[name]


def trace(slope, trials=5, rounds=40, seed=0):
    curves = slope * np.random.default_rng(seed).gamma(2, 0.5, (trials, rounds)).cumsum(1)
    return Trace(
        np.arange(1, rounds + 1), {"regret": curves}, {}, np.zeros(rounds), list(range(trials)), {}
    )


TRACES = {
    "ours": trace(1.0),
    "theirs": trace(1.05, seed=1),
    "other": trace(1.0, 1, seed=2),
    "uniform": trace(4.0, seed=3),
}


def draw():
    fig, axes = figures.panels(2)
    numbers = {"regret": figures.regret_panel(axes[0, 0], TRACES, title="a")}
    samples = {
        name: {f"S={s}": 1e-4 * s * np.arange(1, 9) for s in (3, 5)} for name in ("ours", "theirs")
    }
    numbers["seconds"] = figures.time_panel(axes[0, 1], samples, title="b")
    figures.legend(fig)
    return fig, numbers


def save(fig, name="panel", profile="quick", **more):
    given = dict(
        paper="toy",
        caption="Regret.",
        alt="Two panels.",
        parameters={"horizon": 40},
        seed=7,
        trials={"ours": 5},
        profile=profile,
    )
    return figures.save(fig, name, **{**given, **more})


@pytest.mark.slow
def test_save_writes_three_files_byte_for_byte(tmp_path):
    sums = []
    for _ in range(2):
        fig, numbers = draw()
        assert save(fig, numbers=numbers) is None
        sums.append(
            {
                path.name: hashlib.sha256(path.read_bytes()).hexdigest()
                for path in (tmp_path / "figures/quick/toy").iterdir()
            }
        )
    assert sums[0] == sums[1] and sorted(sums[0]) == ["panel.json", "panel.pdf", "panel.png"]


def test_profiles_have_folders_of_their_own(tmp_path):
    save(draw()[0], profile="paper")
    assert (tmp_path / "figures/toy/panel.pdf").exists() and not (
        tmp_path / "figures/quick"
    ).exists()
    with pytest.raises(ValueError, match="^profile must be one of 'quick', 'paper'.*, got "):
        save(draw()[0], profile="slow")


@pytest.mark.parametrize("place", [{"name": "../x"}, {"name": ""}, {"paper": "../.."}, {"name": 3}])
def test_a_figure_stays_in_its_papers_folder(tmp_path, place):
    with pytest.raises(ValueError, match="^(name|paper) must consist of letters, digits, .*, got "):
        save(draw()[0], **place)
    assert not list(tmp_path.rglob("*.png"))


@pytest.mark.slow
def test_numbers_that_are_not_json_leave_the_images_unchanged(tmp_path):
    save(draw()[0], numbers={"a": 1})
    before = {path: path.read_bytes() for path in (tmp_path / "figures").rglob("*.*")}
    with pytest.raises(UnicodeEncodeError):
        save(draw()[0], numbers={"a": "\ud800"}, alt="Others.")
    assert {path: path.read_bytes() for path in before} == before


def test_json_records_the_origin_of_the_numbers(tmp_path):
    fig, numbers = draw()
    check = checks.Check("Lemma 1", "toy", "a <= b", {}, [1.0], [2.0])
    verdict = verdicts.Verdict("toy.C1", "holds", "quick", 1.0, (0.5, 1.5), 5, "mean, t")
    save(fig, numbers=numbers, claims=[verdict], checks=[check], data_checksum="abc")
    said = json.loads((tmp_path / "figures/quick/toy/panel.json").read_text())
    assert (said["profile"], said["seed"], said["parameters"], said["alt"]) == (
        "quick",
        7,
        {"horizon": 40},
        "Two panels.",
    )
    assert (
        said["claims"][0]["verdict"] == "holds"
        and said["checks"][0]["line"] == str(check)
        and said["data_checksum"] == "abc"
    )
    assert said["versions"].keys() == {
        "python",
        "torch",
        "numpy",
        "scipy",
        "matplotlib",
        "paperlib",
    }
    shown = said["numbers"]["regret"]["ours"]
    band = stats.band(TRACES["ours"]["regret"])
    assert (
        shown["n"] == 5
        and shown["mean"] == pytest.approx(band.estimate, rel=1e-6)
        and shown["low"] == pytest.approx(band.low, rel=1e-6)
    )
    assert said["numbers"]["seconds"]["ours"]["S=3"] == {
        "median": 0.00135,
        "quartiles": [0.000825, 0.001875],
        "n": 8,
    }
    # One trial has no interval.
    assert all(x == "-inf" for x in said["numbers"]["regret"]["other"]["low"])


def test_png_carries_its_text_and_size(tmp_path):
    from PIL import Image

    save(draw()[0])
    with Image.open(tmp_path / "figures/quick/toy/panel.png") as image:
        assert image.size[0] == int(183 / 25.4 * 200)
        assert (
            image.text["Description"] == "Two panels."
            and "Regret." in image.text["Comment"]
            and "quick" in image.text["Comment"]
        )
    assert b"CreationDate" not in (tmp_path / "figures/quick/toy/panel.pdf").read_bytes()


def test_bars_reject_values_that_a_log_axis_cannot_show():
    ax = figures.panels()[1][0, 0]
    with pytest.raises(
        ValueError, match="^seconds.* must have a positive lower quartile, .*, got 0.0"
    ):
        figures.time_panel(ax, {"ours": {"S=3": [0.0, 0.0, 1.0]}})


@pytest.mark.parametrize("empty", ["caption", "alt"])
def test_caption_and_alternative_text_are_required(empty):
    with pytest.raises(ValueError, match=empty):
        save(draw()[0], **{empty: " "})


def test_no_global_state_is_changed():
    before = dict(matplotlib.rcParams)
    save(draw()[0])
    assert dict(matplotlib.rcParams) == before and plt.get_fignums() == []


def test_a_figure_of_pyplot_is_closed():
    fig = plt.figure()
    save(fig)
    assert plt.get_fignums() == []


def test_lines_have_the_declared_styles():
    fig, axes = figures.panels()
    figures.regret_panel(axes[0, 0], TRACES)
    lines = {line.get_label(): line for line in axes[0, 0].get_lines()}
    assert set(lines) == {"ours", "their method", "other", "uniform play"}
    assert (
        to_hex(lines["ours"].get_color()) == COLORS["vermilion"]
        and lines["ours"].get_marker() == "o"
    )
    assert (
        lines["ours"].get_linewidth()
        > lines["other"].get_linewidth()
        > lines["uniform play"].get_linewidth()
    )
    assert (
        lines["ours"].get_zorder()
        > lines["other"].get_zorder()
        > lines["uniform play"].get_zorder()
    )
    # Bands are drawn only where there is an interval, and "other" has one trial.
    assert axes[0, 0].get_ylim()[0] == 0 and len(axes[0, 0].collections) == 3


def test_only_selected_bands_are_drawn():
    fig, axes = figures.panels(2)
    every = figures.regret_panel(axes[0, 0], TRACES)
    some = figures.regret_panel(axes[0, 1], TRACES, bands=["ours"])
    assert len(axes[0, 1].collections) == 1 and len(axes[0, 1].get_lines()) == len(TRACES)
    for name in TRACES:  # the numbers contain all bands
        np.testing.assert_array_equal(some[name]["low"], every[name]["low"])


def test_labels_at_line_ends_stay_apart():
    fig, axes = figures.panels()
    figures.regret_panel(axes[0, 0], TRACES)
    save(fig)
    texts, ends = axes[0, 0].texts, [trace["regret"].mean(0)[-1] for trace in TRACES.values()]
    boxes = [text.get_window_extent() for text in texts]
    centers = np.array([(box.y0 + box.y1) / 2 for box in boxes]) * 72 / fig.dpi
    assert np.diff(np.sort(centers)).min() >= 7 and (np.argsort(centers) == np.argsort(ends)).all()
    away = (
        centers - axes[0, 0].transData.transform([text.xy for text in texts])[:, 1] * 72 / fig.dpi
    )
    assert abs(away).max() < 12  # a name stays close to its line
    assert all(box.x1 <= fig.bbox.x1 for box in boxes)


def test_colors_are_those_of_okabe_and_ito():
    known = {to_hex(color) for color in matplotlib.color_sequences["okabe_ito"]}
    assert {color for name, color in COLORS.items() if name != "gray"} <= known


def test_undeclared_names_get_distinct_colors_and_others_keep_theirs(toy):
    known = figures.line_style("ours")
    found = figures.line_styles(["ours", "mine", "yours"])
    assert found["ours"] == known
    assert len({look["color"] for look in found.values()}) == 3
    assert len({found[name]["marker"] for name in ("mine", "yours")}) == 2
    chosen = figures.line_styles(["mine"], {"mine": Style("blue", "s")})["mine"]
    assert (chosen["color"], chosen["marker"]) == (COLORS["blue"], "s")
    with pytest.raises(ValueError, match=r"styles\['mine'\]"):
        figures.line_styles(["mine"], {"mine": Style("yellow")})


def test_conflicting_styles_are_rejected(toy, monkeypatch):
    module = __import__("companion.toy.styles", fromlist=["STYLES"])
    monkeypatch.setitem(module.STYLES, "greedy", Style("blue"))
    with pytest.raises(ValueError, match="must be the only style of this name .*, got "):
        figures.registered_styles()
    monkeypatch.setitem(module.STYLES, "greedy", REFERENCES["greedy"])
    monkeypatch.setitem(module.STYLES, "odd", Style("yellow"))
    with pytest.raises(ValueError, match="colors black"):
        figures.registered_styles()


def test_the_caption_can_say_what_a_band_is():
    note = figures.band_note(TRACES)
    assert note == "Bands: pointwise 95 % t-intervals of the mean over 5 trials (other 1)."


def test_a_notebook_shows_the_picture_once(monkeypatch):
    shown = []
    import IPython.display

    monkeypatch.setattr(IPython, "get_ipython", lambda: type("Shell", (), {"kernel": object()})())
    monkeypatch.setattr(IPython.display, "display", shown.append)
    save(draw()[0])
    assert (
        len(shown) == 1
        and shown[0].data.startswith(b"\x89PNG")
        and shown[0].width == 720
        and shown[0].alt == "Two panels."
    )


def test_time_panel_marks_learners_that_cannot_be_batched():
    fig, axes = figures.panels(1)
    sample = {"S = 3": [1.0, 2.0, 3.0]}
    numbers = figures.time_panel(
        axes[0, 0], {"GLB-OMD": sample, "OFUGLB": sample}, batch={"GLB-OMD": {"S = 3": 0.02}}
    )
    assert (
        numbers["GLB-OMD"]["S = 3"]["batch"] == 0.02 and "batch" not in numbers["OFUGLB"]["S = 3"]
    )
    assert [text.get_text() for text in axes[0, 0].get_xticklabels()] == ["GLB-OMD", "OFUGLB*"]
    assert axes[0, 0].get_ylim()[0] <= 0.02


def names_in(numbers):
    """Return every key and every string in a figure's JSON."""
    if isinstance(numbers, dict):
        return {*numbers}.union(*map(names_in, numbers.values()))
    if isinstance(numbers, list):
        return set().union(*map(names_in, numbers))
    return {numbers} if isinstance(numbers, str) else set()


@pytest.mark.parametrize("paper", papers())
def test_a_papers_figures_show_learners_whose_styles_it_declares(paper):
    """The workflow runs a notebook again when the styles of its own paper change, but not when those of another paper change."""
    own = getattr(paper_module(paper, "styles"), "STYLES", {}).keys() | REFERENCES.keys()
    for path in sorted((CODE / "figures" / paper).glob("*.json")):
        shown = names_in(json.loads(path.read_text()).get("numbers", {}))
        assert not shown & figures.registered_styles().keys() - own, path.name


@pytest.fixture
def shown(monkeypatch):
    """Collect what is shown instead of showing it."""
    found = []
    monkeypatch.setattr(figures, "show", lambda fig, alt: found.append((fig, alt)))
    return found


def test_without_jupyterlab_explore_shows_the_first_values(monkeypatch, shown):
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    figures.explore(
        lambda width, count: (width, count), "Alt.", width=(2.0, 1.0, 5.0), count=(3, 1, 9)
    )
    assert shown == [((2.0, 3), "Alt.")]


def test_in_jupyterlab_explore_has_a_slider_per_value(monkeypatch, shown):
    monkeypatch.setenv("JPY_SESSION_NAME", "a.ipynb")
    made = {}
    monkeypatch.setattr(
        ipywidgets, "interact", lambda call, **sliders: made.update(sliders, call=call)
    )
    figures.explore(
        lambda width, count: (width, count), "Alt.", width=(2.0, 1.0, 5.0), count=(3, 1, 9)
    )
    width, count = made["width"], made["count"]
    assert isinstance(width, ipywidgets.FloatSlider) and isinstance(count, ipywidgets.IntSlider)
    assert (width.value, width.min, width.max) == (2.0, 1.0, 5.0)
    assert (count.value, count.min, count.max) == (3, 1, 9) and not count.continuous_update
    made["call"](width=4.0, count=5)
    assert shown == [((4.0, 5), "Alt.")]
