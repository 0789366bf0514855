"""Advice on GLB-OMD for the guide to choosing a learner."""

from collections.abc import Mapping


def advice(claims: Mapping[str, dict]) -> str:
    """Return paragraphs of Markdown. ``claims``: results of the paper profile, by id."""
    return """**How much GLB-OMD explores.** Each docstring says what the guarantee needs. A `scale` below 1 gives it up; where GLB-OMD's ridge or
GLOC's Poisson rewards void it, `AskTell` warns. GLB-OMD by default keeps its guarantee and explores much. Told a `horizon` in
which that leaves it little better than random play, or worse, `AskTell` warns as well. For less exploring, where the arms
never change above all, take `ridge="dim", scale=0.1`: the default ridge with so small a scale can settle on a wrong arm, most of all with
Poisson rewards. [glbomd_5_theory](../notebooks/glbomd_5_theory.ipynb) has the figure, every ridge against every scale on
fixed arms."""
