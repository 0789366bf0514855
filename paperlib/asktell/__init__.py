"""Ask and tell: a learner on a problem of one's own."""

from .optimizer import Optimizer
from .trial import AskTell

__all__ = [
    "AskTell",  # one trial of any learner: ask for an action, tell what it earned
    "Optimizer",  # the same for a search: batches, data of one's own, failed evaluations
]
