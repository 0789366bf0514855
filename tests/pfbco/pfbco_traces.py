"""Traces by hand."""

import numpy as np

from paperlib.core.trace import Trace


def made(rounds, regret, **series):
    """A trace with these numbers."""
    regret = np.asarray(regret, float)
    return Trace(np.array(rounds), {"regret": regret, **series}, {}, np.zeros(len(rounds)), list(range(len(regret))), {})


def trace(losses, rounds=None, **series):
    """A run in which trial i loses losses[i, t] in round t, recorded at ``rounds``."""
    sums = np.cumsum(np.asarray(losses, float), 1)
    rounds = np.arange(1, 1 + sums.shape[1]) if rounds is None else np.asarray(rounds)
    series = {name: np.cumsum(np.asarray(x, float), 1)[:, rounds - 1] for name, x in series.items()}
    return Trace(rounds, {"regret": sums[:, rounds - 1], **series}, {}, np.zeros(len(rounds)), list(range(len(sums))), {})
