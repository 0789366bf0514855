"""Assumptions and theorems of the paper, each a function that returns a ``Check``.

The lemmas of the proofs are in ``companion.pfbco.proofs``.
The theorems bound the expected regret. Therefore a check compares the bound with the upper 99 % t-limit of the mean over trials,
at every horizon, and each trial has its own M, G, D and R (``checks.Expected``). The regret of one trial may exceed the bound, or
be negative. If a bound is below 2 M T at none of the horizons, no run can violate it, and the check is ``checks.Vacuous``.
Source: Chen, Zhang & Karbasi (2019).
Letters: as in ``constants``; R trials, T' horizons or recorded rounds.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from ...checks import Check, Expected, Reported, Statement, change_kind, statement, vacuous_unless
from ...core.streams import Streams
from ...maths.sets import DIRECTIONS, ConvexSet, support_function
from . import constants as theory
from .constants import PAPER, Setting, first_informative, vacuity_ratio

NOT_ITS_OWN = "not applicable: the oracle is not that of the set (E7)"
HALF = "not applicable: proved with half the smoothness of F_t (E2)"


def reported_unless_own(check: Check, exact: bool) -> Check:
    """Return the check, as ``Reported`` if the oracle does not belong to the set."""
    return check if exact else change_kind(Reported, check, remark=NOT_ITS_OWN)


def per_trial(value, like: np.ndarray) -> np.ndarray:
    """Return a number, or a column with one number per trial, that broadcasts against ``like``, R x ...."""
    value = np.asarray(value, float)
    return value.reshape(-1, *(1,) * (like.ndim - 1)) if value.ndim else value


# Assumptions ----------------------------------------------------------------------------------------------


@statement("Assumption, convexity", f"{PAPER}, assumptions of Theorem 1")
def assumption_convex(loss: Callable[[Tensor], Tensor], a: Tensor, b: Tensor) -> Check:
    """f((a + b) / 2) <= (f(a) + f(b)) / 2 for points a, b of K.

    ``loss``: of one round, R x n -> R; ``a``, ``b``: R x n.
    """
    middle, left, right = loss((a + b) / 2), loss(a), loss(b)
    bound = (left + right) / 2 + 1e-12 * (left.abs() + right.abs())
    formula = "f((a + b) / 2) <= (f(a) + f(b)) / 2"
    return assumption_convex.statement.check(formula, {}, middle, bound)


@statement("Assumption, bounded losses", f"{PAPER}, assumptions of Theorem 1")
def assumption_bounded(losses, loss_bound) -> Check:
    """|f_t(y_t)| <= M at every played point y_t.

    ``losses``: R x ...; ``loss_bound``: a number or R.
    """
    size, inputs = np.abs(np.asarray(losses, float)), {"M": float(np.max(loss_bound))}
    bound = per_trial(loss_bound, size)
    return assumption_bounded.statement.check("|f_t(y_t)| <= M", inputs, size, bound)


@statement("Assumption, bounded gradients", f"{PAPER}, assumptions of Theorem 1")
def assumption_gradient(norms, grad_bound) -> Check:
    """||grad f_t|| <= G, in normalized coordinates, at every evaluated point.

    ``norms``: R x ...; ``grad_bound``: a number or R.
    """
    norms, inputs = np.asarray(norms, float), {"G": float(np.max(grad_bound))}
    bound = per_trial(grad_bound, norms)
    return assumption_gradient.statement.check("||grad f_t|| <= G", inputs, norms, bound)


def _supports(cset: ConvexSet) -> Tensor:
    """Return the support function along 64 fixed directions and their opposites, R x 64 x 2."""
    draws = [Streams(0, [k], cset.D.device, cset.D.dtype).at(-1) for k in range(DIRECTIONS)]
    along = [draw.sphere("assumption", cset.dim).expand(len(cset.D), -1) for draw in draws]
    return torch.stack(
        [torch.stack([support_function(cset, u), support_function(cset, -u)], 1) for u in along], 1
    )


@statement("Assumption, balls", f"{PAPER}, assumptions of Theorem 1")
def assumption_balls(cset: ConvexSet) -> Check:
    """r B in K in R B: the support function is between r and R along 64 directions and their opposites."""
    h = _supports(cset)
    R = cset.R.view(-1, 1, 1).expand_as(h)
    check = assumption_balls.statement.check(
        "r <= max over K of <u, .> <= R",
        {"r": cset.r, "R": float(cset.R.max())},
        torch.stack([-h, h], 3).cpu(),
        torch.stack([torch.full_like(h, -cset.r), R], 3).cpu(),
    )
    return reported_unless_own(check, cset.exact)


@statement("Assumption, diameter", f"{PAPER}, assumptions of Theorem 1")
def assumption_diameter(cset: ConvexSet) -> Check:
    """diam K = D: the width of K is at most D along 64 directions."""
    check = assumption_diameter.statement.check(
        "max - min over K of <u, .> <= D",
        {"D": float(cset.D.max())},
        _supports(cset).sum(2).cpu(),
        cset.D.view(-1, 1).cpu(),
    )
    return reported_unless_own(check, cset.exact)


@statement("Assumption, oblivious losses", f"{PAPER}, proof of Theorem 1, implicit")
def assumption_oblivious(first, second) -> Check:
    """The losses do not depend on the actions: |f_t(p) - f'_t(p)| <= 1e-12 |f_t(p)| for the losses of two runs with different actions (E5). R x ... each."""
    first, second = np.asarray(first, float), np.asarray(second, float)
    formula, bound = "|f_t(p) - f'_t(p)| <= 1e-12 |f_t(p)|", 1e-12 * np.abs(first)
    return assumption_oblivious.statement.check(formula, {}, np.abs(first - second), bound)


@statement("Assumption, exploration", f"{PAPER}, Theorem 1")
def assumption_exploration(c: float, horizon: int) -> Check:
    """0 < c T^{-1/5} <= r: the theorem's alpha < 1 can be relaxed to alpha <= 1 (E5).

    Here r = 1, because coordinates are normalized.
    """
    delta = c * horizon**-0.2
    return assumption_exploration.statement.check(
        "0 < c T^{-1/5} <= r",
        {"c": c, "T": horizon, "r": 1.0},
        [-delta, delta],
        [-np.finfo(float).tiny, 1.0],
    )


# Theorems -------------------------------------------------------------------------------------------------


def _regret_check(
    of: Statement, formula: str, bound: Callable, regret, horizons: Sequence[int], s: Setting
) -> Check:
    """Compare a bound with the regret of runs of the given horizons, or of one run after these rounds.

    The check is vacuous if the bound is informative at none of them.
    """
    regret, T = np.asarray(regret, float), [int(t) for t in horizons]
    if regret.ndim != 2 or regret.shape[1] != len(T):
        raise ValueError(
            f"regret must have shape R x {len(T)}, one column per horizon, got shape {regret.shape}"
        )
    inputs = dict(n=s.dim, M=s.loss_bound, G=s.grad_bound, D=s.diameter, R=s.outer, c=s.c)
    informs = [t for t in T if vacuity_ratio(bound, s, t) < 1]
    found = of.check(
        formula,
        {key: float(np.max(value)) for key, value in inputs.items()} | {"T": T, "informs": informs},
        regret,
        np.stack([np.asarray(bound(s, t), float) for t in T], -1),
        kind=Expected.over_trials,
        trivial=float(np.max(theory.trivial_regret(s, T[-1]))),
        informative_from=first_informative(bound, s),
    )
    return vacuous_unless(bool(informs), found)


@statement("Theorem 1", f"{PAPER}, Theorem 1, corrected")
def theorem_1(regret, horizons: Sequence[int], s: Setting) -> Check:
    """E R_T <= A T^{4/5} + B T^{3/5} with the corrected learning rate, for any c with c T^{-1/5} <= r (E1, E2, E4).

    The theorem requires a set with its exact oracle (``cset.exact``).

    Args:
        regret: R x T', one column per horizon; each column is a separate run.
        horizons: T'.
        s: constants, per trial where they vary.
    """
    formula = "E R_T <= A T^{4/5} + B T^{3/5}"
    return _regret_check(theorem_1.statement, formula, theory.theorem_1, regret, horizons, s)


@statement("Theorem 1, printed", f"{PAPER}, Theorem 1")
def theorem_1_printed(regret, horizons: Sequence[int], s: Setting) -> Check:
    """E R_T <= (sqrt(2) n M D + (5 sqrt(2) / 4) D G + 3 c G + c R G / r) T^{4/5} + (sqrt(2) n M D / c^2) T^{3/5} for c >= 1: reported only, not judged (E2).

    Arguments as for ``theorem_1``.

    Raises:
        ValueError: c below 1, because the proof fails there (E1).
    """
    formula = "E R_T <= A' T^{4/5} + B' T^{3/5}"
    found = _regret_check(
        theorem_1_printed.statement, formula, theory.theorem_1_printed, regret, horizons, s
    )
    return change_kind(Reported, found, remark=HALF)


@statement("Theorem 2", f"{PAPER}, Theorem 2, with the corrected coefficients")
def theorem_2(regret, rounds: Sequence[int], s: Setting) -> Check:
    """E R_t <= (A + B) (t + 1)^{4/5} / (1 - 2^{-4/5}) after any t rounds of Algorithm 2 (doubling), for c <= r.

    ``regret``: R x T', one run after each of ``rounds``; the other arguments as for ``theorem_1``.
    """
    formula = "E R_t <= (A + B) (t + 1)^{4/5} / (1 - 2^{-4/5})"
    return _regret_check(theorem_2.statement, formula, theory.theorem_2, regret, rounds, s)


@statement("FKM", "Hazan, Introduction to Online Convex Optimization, FKM, with general constants")
def fkm(regret, horizons: Sequence[int], s: Setting) -> Check:
    """E R_T <= (n M D / c + 2 c G + c R G / r) T^{3/4} for FKM with the constants of the book.

    Arguments as for ``theorem_1``.
    """
    formula = "E R_T <= (n M D / c + 2 c G + c R G / r) T^{3/4}"
    return _regret_check(fkm.statement, formula, theory.fkm_bound, regret, horizons, s)


@statement("Block variant", "ours, after Garber & Kretzu (2020)")
def block_variant(regret, horizons: Sequence[int], s: Setting) -> Check:
    """E R_T <= [sqrt(2) D sqrt(n^2 M^2 / c^2 + G^2) + G D + 2 c G + c R G / r] T^{3/4} for BlockPFBCO, plus a term for the rounded block length.

    Arguments as for ``theorem_1``.
    """
    formula = "E R_T <= [sqrt(2) D sqrt(n^2 M^2 / c^2 + G^2) + G D + 2 c G + c R G / r] T^{3/4}"
    return _regret_check(block_variant.statement, formula, theory.block_bound, regret, horizons, s)
