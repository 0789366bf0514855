"""Runs made by hand, for tests of what is read off them."""

import numpy as np

from paperlib.core.trace import Trace


def run(values, **final):
    """A run that ended with these regrets, one a trial; ``report_restarts=...`` is its "report.restarts"."""
    values = np.asarray(values, float)
    final = {name.replace("_", "."): np.asarray(x) for name, x in final.items()}
    trials = list(range(len(values)))
    return Trace(np.array([8]), {"regret": values[:, None]}, final, np.zeros(1), trials, {})
