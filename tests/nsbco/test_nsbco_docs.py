"""The code in the documentation of bases of ``Multiscale`` runs as printed there."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from paperlib.learners.multiscale import Multiscale
from paperlib.nsbco import Abrupt, GridDrift
from paperlib.play import play

PAGE = Path(__file__).resolve().parents[2] / "docs" / "adding-a-paper.md"


def test_the_base_of_the_documentation_adapts():
    section = PAGE.read_text().split("## A base learner for `Multiscale`")[1]
    (example,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    known = dict(
        NamedTuple=NamedTuple, Tensor=Tensor, dataclass=dataclass, torch=torch, play=play,
        Multiscale=Multiscale, GridDrift=GridDrift, Abrupt=Abrupt, __name__="example",
    )  # fmt: skip
    exec(example, known)
    found = known["trace"]["regret"][:, -1]
    random = 2000 * (np.linspace(-1, 1, 5) - 0.5).__pow__(2).mean() / 2
    assert found.shape == (4,) and (found < 0.8 * random).all()
