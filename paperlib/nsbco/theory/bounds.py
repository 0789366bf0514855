"""Assumptions and theorems of the paper, each a function that returns a ``Check``.

The lemmas of the proofs are in ``companion.nsbco.proofs``.
Theorems bound the expected regret, therefore the bound is compared with the upper 99 % t-limit of the mean over trials. If the bound
is below the trivial 2 T at none of the horizons, no run could violate it, and the check is ``checks.Vacuous``.
Source: Wang (2025).
Letters: as in ``constants``; R trials, T' horizons or recorded rounds.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ... import stats
from ...checks import Check, Expected, statement, vacuous_unless
from ..model.task import Task
from . import constants as theory
from .constants import PAPER, ROUNDING, TRIVIAL, Setting, Weak, first_horizon


def distances(points: Any, task: Task, onto: Callable[[Tensor], Tensor]) -> np.ndarray:
    """Return the distances of points from their projections, flat. ``points``: ... x d; ``onto``: projection of N x d points."""
    p = torch.as_tensor(np.asarray(points, float)).reshape(-1, task.cset.dim)
    return torch.linalg.vector_norm(p - onto(p), dim=1).numpy()


LEVEL = 0.98  # confidence level, two-sided, which is 99 % on each side

# Assumptions ----------------------------------------------------------------------------------------------


@statement("Assumption 1", f"{PAPER}, Section 1.1")
def assumption_1(values: Any, answers: Any) -> Check:
    """|f_t(x)| <= 1 and |y_t| <= 1.

    ``values``, ``answers``: function values and rewards, any shapes.
    """
    found = np.concatenate([np.abs(np.asarray(x, float)).ravel() for x in (values, answers)])
    return assumption_1.statement.check("|f_t(x)|, |y_t| <= 1", {}, found, 1.0)


@statement("Assumption 2", f"{PAPER}, Section 1.1")
def assumption_2(gradients: Any, curvatures: Any, s: Setting) -> Check:
    """||grad f_t|| <= L and ||Hess f_t|| <= L, with one L for both, which makes gamma depend on the units (E17).

    Args:
        gradients: norms of gradients at the sampled points, any shape.
        curvatures: largest eigenvalues of -Hess, any shape.
        s: setting; its separate bounds on slope and curvature are used where given.
    """
    gradients, curvatures = np.ravel(gradients).astype(float), np.ravel(curvatures).astype(float)
    most = [s.slope or s.smoothness] * len(gradients) + [s.curvature or s.smoothness] * len(
        curvatures
    )
    found = np.concatenate([gradients, curvatures])
    return assumption_2.statement.check(
        "||grad f_t||, ||Hess f_t|| <= L", {"L": s.smoothness}, found, most
    )


@statement("Assumption 3", f"{PAPER}, Section 1.1")
def assumption_3(curvatures: Any, s: Setting) -> Check:
    """-Hess f_t >= sigma I.

    ``curvatures``: least eigenvalues of -Hess, any shape.
    """
    formula, inputs = "sigma <= least eigenvalue of -Hess f_t", {"sigma": s.concavity}
    return assumption_3.statement.check(formula, inputs, -np.ravel(curvatures), -s.concavity)


@statement("Assumption 4", f"{PAPER}, Section 1.1")
def assumption_4(stars: Any, task: Task) -> Check:
    """x*_t is in X^o(c_0), up to 1e-9.

    ``stars``: ... x d.
    """
    formula, inputs = "dist(x*_t, X^o(c_0)) <= 1e-9", {"c_0": float(task.margin.max())}
    return assumption_4.statement.check(
        formula, inputs, distances(stars, task, task.inside), ROUNDING
    )


@statement("Variation", f"{PAPER}, Eq. (2)")
def variation_budget(changes: Any, drift: Any, budget: float) -> Check:
    """|f_{t+1}(x) - f_t(x)| <= Delta(t) at the sampled points x, and sum Delta(t) <= V_T.

    Args:
        changes: |f_{t+1}(x) - f_t(x)|, (T - 1) x P, of P points.
        drift: Delta(t), T - 1.
        budget: V_T.
    """
    changes, drift = np.asarray(changes, float), np.asarray(drift, float)
    return variation_budget.statement.check(
        "|f_{t+1} - f_t| <= Delta(t), sum Delta(t) <= V_T",
        {"V": budget, "points": changes.shape[1]},
        np.append(changes.max(1), drift.sum()),
        np.append(drift + 1e-12, budget),
    )


# Regret ---------------------------------------------------------------------------------------------------


@statement(
    "Algorithm 1, printed constants",
    f"{PAPER}, Lemma 3.1 and Algorithm 1; first horizons: ``companion.nsbco.proofs.schedule``",
)
def no_false_alarm(restarts: Any) -> Check:
    """No test triggers at a horizon below the first at which a test can. Flags constants with which a test triggers.

    Args:
        restarts: R, number of restarts of each run.
    """
    count = np.asarray(restarts, float)
    return no_false_alarm.statement.check(
        "restarts = 0", {"trials": len(count)}, count, 0.0 * count
    )


@statement("Lemma 2.2, exponents", f"{PAPER}, Lemma 2.2 and Theorem 3.4, with lambda^{{1/3}} (E10)")
def exponent(
    regret: Any, sizes: Sequence[float], power: float, logs: float = 0.0, most: float = math.inf
) -> Check:
    """E R grows at most as T^{2/3}, V^{1/3} and d^{3/2} (the record checks d only; for T and V see C1a and C1b): the 98 % interval of the log-log slope of the mean, by bootstrap over trials.

    The paper omits powers of logarithms without naming them. Therefore the bound is the slope of sizes^power ln(sizes)^logs at the
    same sizes. In T, the check flags a learner that never adapts.

    Args:
        regret: R x T', one column per size.
        sizes: T' horizons, variations or dimensions, increasing.
        power: 2/3, 1/3 or 3/2.
        logs: power of the logarithm.
        most: trivial exponent, for example 1 in T; the check is vacuous if the bound is not below it.
    """
    sizes, regret = np.asarray(sizes, float), np.asarray(regret, float)
    found = stats.growth(sizes, regret, sizes[0], level=LEVEL)
    grows = power * np.log(sizes) + (logs * np.log(np.log(sizes)) if logs else 0.0)
    bound = float(stats.slopes(np.log(sizes), grows))
    check = exponent.statement.check(
        "slope of ln E R <= power, logarithms allowed for",
        {
            "sizes": sizes.tolist(),
            "power": power,
            "logs": logs,
            "slope": found.estimate,
            "trials": found.n,
        },
        found.high,
        bound,
        kind=Expected,
        lower=found.low,
    )
    return vacuous_unless(bound < most, check)


@statement(
    "Theorem 3.4, order",
    f"{PAPER}, Theorem 3.4, with 1 for what its notation hides; no theorem with other constants than proved ones",
)
def theorem_3_4(
    regret: Any,
    horizons: Sequence[int],
    budget: float,
    weak: Weak | Callable[[float], Weak],
) -> Check:
    """E R_T <= C_1 V^{1/3} T^{2/3} + C_2 sqrt(T), with C_1 and C_2 of Lemma 2.2; with the printed constants vacuous before T = 1.4e51, or 2e36 with lambda^{1/3} (E10; d = 2, V = 1). A check with calibrated constants is not the theorem.

    With calibrated constants the bound is non-vacuous, but it is not a theorem. It then flags learners that stop adapting.

    Args:
        regret: R x T', one column per horizon.
        horizons: T'.
        budget: V_T, the same for all horizons.
        weak: constants of Definition 2.1, or a function of T that returns them.
    """
    regret, T = np.asarray(regret, float), [int(t) for t in horizons]
    if regret.ndim != 2 or regret.shape[1] != len(T):
        raise ValueError(
            f"regret must have shape R x {len(T)}, one column per horizon, got shape {regret.shape}"
        )
    constants = weak if callable(weak) else lambda T: weak
    bound = lambda T: float(theory.theorem_3_4(constants(T)).at(T, budget))
    informs = [t for t in T if bound(t) < TRIVIAL * t]
    first = first_horizon(lambda T: bound(T) / T, TRIVIAL)
    check = theorem_3_4.statement.check(
        "E R_T <= C_1 V^{1/3} T^{2/3} + C_2 sqrt(T)",
        {"T": T, "V": budget, "power of lambda": theory.CORRECTED, "informs": informs},
        regret,
        np.array([bound(t) for t in T]),
        kind=Expected.over_trials,
        trivial=TRIVIAL * T[-1],
        informative_from=None if math.isinf(first) else math.ceil(first),
    )
    return vacuous_unless(bool(informs), check)
