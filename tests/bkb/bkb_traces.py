"""Traces built by hand."""

import numpy as np

from paperlib.core.trace import Trace


def trace(regret, rounds=None):
    regret = np.asarray(regret, float)
    rounds = np.arange(1, 1 + regret.shape[1]) if rounds is None else np.asarray(rounds)
    return Trace(
        rounds, {"regret": regret}, {}, np.zeros(len(rounds)), list(range(len(regret))), {}
    )
