"""Ask/tell interface: run a learner on your own problem."""

from .optimizer import Optimizer
from .trial import AskTell

__all__ = [
    "AskTell",  # one trial of any learner: ask for an action, report its reward
    "Optimizer",  # the same for optimization: batches, existing data, failed evaluations
]
