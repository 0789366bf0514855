"""One run of a notebook: its profile, its parameters, and the folder of its figures and verdicts."""

from typing import Any

from paperlib.core.linalg import pick_device

from . import verdicts
from .figures.drawing import Drawing, save
from .verdicts import Verdict
from .workflow import declared


class Study:
    """Save the figures and judge the claims of one run of a notebook.

    ::

        study = Study("glbomd_1_logistic", globals())
        print(study.judge("glbomd.C5.S3", ratio))
        study.save("figure_1", draw_figure_1(traces, counts))

    Args:
        stem: name of the notebook.
        names: its ``globals()``, after the parameters were set.

    Attributes:
        device: the notebook's device, "cpu", "cuda" or "cuda:N".
        parameters: value of each parameter except profile, device and seed.

    Raises:
        ValueError: an unknown profile, a parameter of another type, or one that the notebook does not have.
    """

    def __init__(self, stem: str, names: dict[str, Any]):
        self.stem, self._names = stem, names
        names["profile"] = declared.resolve_profile(stem, names)
        self.device = pick_device(names["device"])
        kept = declared.read_parameters(stem).keys() - {*declared.FREE, "seed"}
        self.parameters = {name: names[name] for name in names if name in kept}

    @property
    def profile(self) -> str:
        """Profile of the run: "quick", "paper", or "custom" if other parameters were set.

        If a later cell changes a parameter, the profile changes too.
        """
        return self._names["profile"]

    def save(self, name: str, drawing: Drawing, **more: Any) -> None:
        """Write a figure as PDF, PNG and JSON, see ``figures.save``; ``more`` overrides the values that the study provides.

        The parameters in the JSON file include the name of the notebook, which the pages link.

        Args:
            name: name of the figure's files, without an ending.
            drawing: a ``figures.Drawing``: the figure with its caption, alternative text and numbers.
        """
        known = {
            "paper": self.stem.split("_")[0],
            "profile": self.profile,
            "parameters": self.parameters,
            "seed": self._names.get("seed", 0),
            "device": self.device,
        }
        content = {key: value for key, value in drawing._asdict().items() if key != "fig"}
        about = known | content | more
        about["parameters"] = {"notebook": self.stem, **about["parameters"]}
        save(drawing.fig, name, **about)

    def judge(self, id: str, *statistic: Any, **more: Any) -> Verdict:
        """Decide a claim, see ``verdicts.judge``."""
        return verdicts.judge(id, *statistic, profile=self.profile, **more)

    def conclude(self, id: str) -> Verdict:
        """Decide a claim with parts, see ``verdicts.combine_parts``."""
        return verdicts.combine_parts(id, self.profile)

    def not_run(self, id: str, reason: str) -> Verdict:
        """Store that a claim was not tested in this run, and why."""
        return verdicts.record_not_run(id, reason, self.profile)
