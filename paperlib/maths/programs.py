"""Linear programs over one polytope, for one cost after the other.

Shapes: n dimensions, q constraints.
"""

import functools
import math

import numpy as np
from scipy.optimize import linprog


class Program:
    """min <c, y> over {y: C y <= e}; with highspy each c starts from one basis.

    That basis is of the vertex for a c of its own, found once: started from the last answer's, a solver would return
    another minimizer of a face after another c, and a learner's run would hang on what was solved before it.
    """

    def __init__(self, C: np.ndarray, e: np.ndarray):
        self.C, self.e, self.solver, self.basis = C, e, None, None
        q, n = C.shape
        generic = np.cos(np.arange(n) ** 2 + 1.0)  # along no axis: its minimizer is one vertex
        try:
            import highspy
        except ImportError:
            self.first = self._minimize(generic)
            return  # scipy's, from scratch each time
        self.solver, self.columns = highspy.Highs(), np.arange(n, dtype=np.int32)
        self.solver.setOptionValue("output_flag", False)
        self.solver.setOptionValue("threads", 1)
        anywhere, below = np.full(n, math.inf), np.full(q, -math.inf)
        self.solver.addVars(n, -anywhere, anywhere)
        places = np.tile(self.columns, q)
        starts = n * np.arange(q, dtype=np.int32)
        self.solver.addRows(q, below, e, q * n, starts, places, C.ravel())
        self.first = self._minimize(generic)
        self.basis = self.solver.getBasis()

    @classmethod
    @functools.lru_cache(maxsize=256)
    def of(cls, C: bytes, e: bytes, n: int) -> "Program":
        """The program of a polytope, kept from call to call."""
        e = np.frombuffer(e)
        return cls(np.frombuffer(C).reshape(len(e), n), e)

    def solve(self, c: np.ndarray) -> np.ndarray:
        """A minimizer, n: a vertex, the same for the same c; for c = 0 that of the first basis.

        Raises:
            RuntimeError: the solver fails.
        """
        size = np.abs(c).max()
        # its tolerances are absolute
        return self._minimize(c / size) if size > 0 else self.first.copy()

    def _minimize(self, c: np.ndarray) -> np.ndarray:
        if self.solver is None:
            found = linprog(c, self.C, self.e, bounds=[(None, None)] * len(c), method="highs")
            if found.status != 0:
                raise RuntimeError(f"the linear program fails: {found.message}")
            return found.x
        self.solver.changeColsCost(len(c), self.columns, np.ascontiguousarray(c))
        if self.basis is not None:
            self.solver.setBasis(self.basis)
        self.solver.run()
        status = self.solver.modelStatusToString(self.solver.getModelStatus())
        if status != "Optimal":
            raise RuntimeError(f"the linear program fails: {status}")
        return np.array(self.solver.getSolution().col_value)


def minimizer(C: np.ndarray, e: np.ndarray, c: np.ndarray) -> np.ndarray:
    """A vertex of least <c, .> over {y: C y <= e}, n, by the polytope's ``Program``."""
    return Program.of(C.tobytes(), e.tobytes(), len(c)).solve(c)
