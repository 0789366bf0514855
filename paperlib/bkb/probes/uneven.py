"""What a replay of a dictionary's coins takes from a run. Letters: R trials, A arms."""

from torch import Tensor

from ...core.rounds import Round
from .state import own


def n_after(seen: Round) -> Tensor:
    """Pulls after the round, R x A. A probe, as those below."""
    return own(seen.after).n


def mask_after(seen: Round) -> Tensor:
    """The dictionary after the round as 0 and 1, R x A."""
    return own(seen.after).mask.double()


def s2_before(seen: Round) -> Tensor:
    """s2_t, with which the dictionary was sampled, R x A."""
    return own(seen.before).s2


def s2_after(seen: Round) -> Tensor:
    """s2_{t+1}, the learner's, R x A."""
    return own(seen.after).s2


SHOT = {"n": n_after, "mask": mask_after, "s2": s2_after, "sampled with": s2_before}
