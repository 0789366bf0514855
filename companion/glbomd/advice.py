"""Advice on GLB-OMD for the guide to choosing a learner."""

from collections.abc import Mapping


def advice(claims: Mapping[str, dict]) -> str:
    """Return paragraphs of Markdown. ``claims``: results of the paper profile, by id."""
    return """**How much GLB-OMD explores.** By default GLB-OMD keeps the guarantee of Theorem 1, and therefore it explores a lot. The docstrings state what each guarantee requires. A `scale` below 1 gives the guarantee up. `AskTell` warns in two cases: if the ridge of GLB-OMD, or Poisson rewards with GLOC, void the guarantee, and if you pass a `horizon` that is so short that GLB-OMD does little better than random play, or even worse. To explore less, above all if the arms never change, pass `ridge="dim", scale=0.1`. Do not combine the default ridge with so small a scale: it can settle on a wrong arm, most often with Poisson rewards. The notebook [glbomd_5_theory](../notebooks/glbomd_5_theory.ipynb) compares every ridge with every scale on fixed arms."""
