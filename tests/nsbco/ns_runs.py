"""Hand-made runs for tests of their statistics."""

import numpy as np

from paperlib.core.trace import Trace


def run(values, **final):
    """Return a run with these final regrets, one per trial; ``report_restarts=...`` sets its "report.restarts"."""
    values = np.asarray(values, float)
    final = {name.replace("_", "."): np.asarray(x) for name, x in final.items()}
    trials = list(range(len(values)))
    return Trace(np.array([8]), {"regret": values[:, None]}, final, np.zeros(1), trials, {})
