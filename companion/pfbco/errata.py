"""Errors, imprecise statements and open details of the paper, and how this package resolves them.

``ERRATA`` has one entry each; if numbers demonstrate an erratum, a function returns them.
E1 changes the learning rate, E2 and E4 the constants of Theorem 1, E7 an oracle, E8 the first step, and E9 a set.
Source: Chen, Zhang & Karbasi (2019); letters as in ``constants``.
"""

import datetime
import itertools
import math

import numpy as np
import torch

from paperlib.maths.matrices import NuclearBall, smat, svec
from paperlib.maths.polytopes import polytope
from paperlib.maths.sets import SubSimplex
from paperlib.pfbco.model import step_size
from paperlib.pfbco.theory import constants as theory
from paperlib.pfbco.theory.constants import Setting

from ..verdicts import Erratum
from .proofs.lemmas import (
    induction_margin,
    induction_polynomial,
    kappa_infinity,
    smoothed_quadratic,
    worst_tracking,
)

# The panels of Figure 1 in the experiments' size: mean constants over trials, rounded, for c = 1 and c = 0.1.
PANELS = {
    "a": (16383, {1.0: (10, 29.7, 5.8, 14.6, 9.8), 0.1: (10, 29.7, 5.8, 14.6, 9.8)}),
    "b": (1203, {1.0: (100, 2.89, 1.35, 282.8, 199.2), 0.1: (100, 5.19, 13.5, 282.8, 199.2)}),
    "c": (1023, {1.0: (210, 8650.0, 530.0, 8.94, 4.47), 0.1: (210, 8650.0, 530.0, 8.94, 4.47)}),
}


def panel(name: str, c: float) -> tuple[Setting, int]:
    """Return the constants and the horizon of a panel of Figure 1."""
    horizon, constants = PANELS[name]
    return Setting(*constants[c], c=c), horizon


def worst_on_interval(horizon: int, c: float, rule: str) -> float:
    """Return the largest h_t / (D^2 sigma_t) of Algorithm 1 on [-1, 1] with the constant loss M = 1, for ``tie="stay"``.

    The maximum is over all 2^T sequences of directions.
    """
    u = np.array(list(itertools.product((1.0, -1.0), repeat=horizon)))
    delta = c * horizon**-0.2
    end, eta = 1 - delta, (c if rule == "corrected" else 1.0) * 2 / math.sqrt(2) * horizon**-0.8
    x, A, worst = np.zeros(len(u)), np.zeros(len(u)), 0.0
    for t in range(1, horizon + 1):
        F = lambda z: A * z + z**2
        worst = max(
            worst, float(((F(x) - F(np.clip(-A / 2, -end, end))) / (4 * step_size(t))).max())
        )
        gradient = A + 2 * x
        v = np.where(gradient == 0, x, -end * np.sign(gradient))
        x = x + step_size(t) * (v - x)
        A = A + eta / delta * u[:, t - 1]
    return worst


def e1() -> dict[str, float]:
    """Return the largest h_t / (D^2 sigma_t) on [-1, 1] with c = 0.1, T = 4 and loss 1, over all directions.

    With the printed learning rate it is above 2, which contradicts the proof.
    """
    worst = {f"{rule} rate": worst_on_interval(4, 0.1, rule) for rule in ("paper", "corrected")}
    limit = "limit of the printed rate, c="
    return worst | {f"{limit}{x:g}": kappa_infinity(x) for x in (1.0, 0.5, 0.1)}


def e2() -> dict[str, float]:
    """Return F = ||x||^2 after half a step from 0 to a unit vector, the printed bound on it, and the induction with the correct bound."""
    t = np.arange(1, 10**6 + 1)
    margin = lambda kappa: float(induction_margin(t[:10], kappa).min())
    s, _ = panel("a", 1.0)  # D is so large relative to c that the printed A is below the proved one
    return {
        "F": 0.5**2,
        "printed bound": 0.5**2 / 2,
        "least polynomial, 3": float(induction_polynomial(t).min()),
        "largest polynomial, 2": float(induction_polynomial(t, 2.0).max()),
        "polynomial, 2, t=1": float(induction_polynomial(1, 2.0)),
        **{f"worst tracking, T={T}": float(worst_tracking(T).max()) for T in (2, 4, 16, 64)},
        **{f"least margin up to t=10, kappa={x:g}": margin(x) for x in (2.2, theory.KAPPA)},
        "D G, printed": 1.25 * math.sqrt(2),
        "D G, corrected": 1.25 * math.sqrt(theory.KAPPA),
        "A, panel a, printed": theory.coefficients_printed(s).A,
        "A, panel a, corrected": theory.coefficients(s).A,
    }


def e3() -> dict[str, float]:
    """Return g (x*_t - x*_{t+1}) / (eta ||g||^2) for leaders in the interior, which move by eta g / 2.

    It attains the sharp constant, which is a quarter of the printed one.
    """
    g, eta = np.array([3.0, 4.0]), 0.1
    return {"printed": 2.0, "sharp": 0.5, "attained": float(g @ (eta * g / 2) / (eta * (g @ g)))}


def e4() -> dict[str, float]:
    """Return f^ - f for f = ||x||^2 / 2 on the unit ball, which is between 0 and delta G; and the coefficient of c G in A."""
    delta = 0.25
    extra = [smoothed_quadratic(square, delta, 2) - 0.5 * square for square in (0.0, 1.0)]
    slope = lambda coefficients: coefficients(Setting(1, 0.0, 1.0, 0.0, 0.0, 1.0)).A
    return {
        "f^ - f, least": min(extra),
        "f^ - f, largest": max(extra),
        "delta G": delta,
        "c G, printed": slope(theory.coefficients_printed),
        "c G, corrected": slope(theory.coefficients),
    }


def e6() -> dict[str, float]:
    """Return M and G of portfolio losses over the points that Algorithm 1 visits, with the extreme ratios of 94 tickers.

    At the empty portfolio both are infinite.
    """
    dim, least, most, found = 94, 0.5557, 1.5229, {}
    for c in (1.0, 0.1):
        wealth = least * c * 1203**-0.2 * (1 - dim**-0.5) / 2
        found[f"M, c={c:g}"] = -math.log(wealth)
        found[f"G, c={c:g}"] = most / (2 * math.sqrt(dim) * wealth)
    return found


def e7() -> dict[str, float]:
    """Return <C, V> for C = diag(5, 3) over the nuclear ball of radius 2, with the optimal and the printed oracle.

    Along its eigenvector the printed oracle returns the vertex with the largest value, not with the smallest.
    """
    C = torch.diag(torch.tensor([5.0, 3.0], dtype=torch.float64)).unsqueeze(0)
    balls = {"optimum": NuclearBall.of(2, 2.0), "printed": NuclearBall.of(2, 2.0, exact=False)}
    answer = lambda ball: smat(ball.to_native(ball.lmo(svec(C))), 2)
    return {name: float((C * answer(ball)).sum()) for name, ball in balls.items()}


def e8() -> dict[str, float]:
    """Return the wealth that a portfolio invests in round 2, by the oracle's minimizer for the zero gradient of round 1.

    The center of round 2 is v_1, because sigma_1 = 1. StochOCG does not shrink the set.
    """
    cset, keep = SubSimplex.of(4), 1 - 0.1  # alpha
    zero, e_1 = torch.zeros(1, 4, dtype=torch.float64), torch.eye(1, 4, dtype=torch.float64)
    answers = {
        "stay": zero,
        "oracle": keep * cset.lmo(zero),
        "vertex e_1": keep * cset.lmo(-e_1),
        "oracle, StochOCG": cset.lmo(zero),
    }
    return {name: float(cset.to_native(y).sum()) for name, y in answers.items()}


def e9() -> dict[str, float]:
    """Return the radius of the largest ball about the origin inside the triangle {x >= 0, x_1 + x_2 <= 1}, before and after the move."""
    C, d = np.array([[-1.0, 0.0], [0.0, -1.0], [1.0, 1.0]]), np.array([0.0, 0.0, 1.0])
    moved = polytope(C, d)
    return {
        "about the origin": float((d / np.linalg.norm(C, axis=1)).min()),
        "about its center": float(moved.rho),
        "D / r": float(moved.D),
        "R / r": float(moved.R),
    }


def e10() -> dict[str, float]:
    """Return the ratio of G in StochOCG's learning rate with noise of standard deviation n per coordinate to G without: panels a and c."""
    over = lambda s: math.sqrt(s.grad_bound**2 + s.dim**3) / s.grad_bound
    return {f"panel {name}": over(panel(name, 0.1)[0]) for name in "ac"}


def e11() -> dict[str, float]:
    """Return the horizon up to which FKM's delta of 2005 exceeds the inscribed radius: (R n M r / (3 (G r + M)))^2 / r^4.

    With delta capped at r, FKM stays at the center up to there.
    """
    step = lambda s: s.outer * s.dim * s.loss_bound * s.inner
    until = lambda s: (step(s) / (3 * (s.grad_bound * s.inner + s.loss_bound))) ** 2 / s.inner**4
    return {f"panel {name}": until(panel(name, 0.1)[0]) for name in PANELS}


def e12() -> dict[str, float]:
    """Return the corrected bound of Theorem 1 divided by 2 M T in the settings of the experiments, and the horizon from which it is informative."""
    found, bound = {}, theory.theorem_1
    for name, c in itertools.product(PANELS, (1.0, 0.1)):
        s, horizon = panel(name, c)
        found[f"ratio, {name}, c={c:g}"] = theory.vacuity_ratio(bound, s, horizon)
        found[f"informative from, {name}, c={c:g}"] = float(theory.first_informative(bound, s))
    return found


def e13() -> dict[str, float]:
    """Return the cost of exploration per round for ||y||^2 / 2: E f(x + delta u) - f(x) = delta^2 / 2.

    The average of f(x_t) does not include it.
    """
    delta = 1024**-0.2
    return {"delta": delta, "cost per round": delta**2 / 2}


def e14() -> dict[str, float]:
    """Return the weekday of 2013-02-18: it is the third Monday of February, Washington's Birthday, a holiday of American exchanges."""
    day = datetime.date(2013, 2, 18)
    return {
        "weekday, Monday = 1": day.isoweekday(),
        "number within the month": (day.day - 1) // 7 + 1,
    }


def e15() -> dict[str, float]:
    """Return the range of the expected loss of matrix completion, (||X - k I||^2 + k p (p + 1)) / 4, over the ball of nuclear norm k.

    The mean nuclear norm of the observed matrices is included.
    """
    p, k = 20, 18
    ball, eye = NuclearBall.of(p, k), torch.eye(p, dtype=torch.float64).unsqueeze(0)
    mean = lambda X: float((((X - k * eye) ** 2).sum() + k * p * (p + 1)) / 4)
    corner = torch.zeros_like(eye)
    corner[0, 0, 0] = k
    nearest = smat(ball.to_native(ball.project(svec(k * eye) / ball.rho)), p)
    zero, least, largest = mean(0 * eye), mean(nearest), max(mean(corner), mean(-corner))
    return {
        "at 0": zero,
        "least": least,
        "largest": largest,
        "mean nuclear norm of the data": float(k * p),
        "radius": float(k),
        "range, below": 1 - least / zero,
        "range, above": largest / zero - 1,
    }


ERRATA = (
    Erratum(
        "E1",
        "Theorem 1, (12) and Lemma 5",
        "eta n M / (delta D) is T^{-3/5} / (sqrt(2) c), not T^{-3/5} / sqrt(2) as printed. Therefore the proof needs c >= 1 for every r, whereas doubling needs c <= r. In addition, the printed rate depends on the unit of length.",
        'eta has an additional factor c. eta_rule="paper" uses the printed eta, and the printed bound is refused for c below 1.',
        e1,
    ),
    Erratum(
        "E2",
        "proof of Theorem 1, one step of Frank-Wolfe",
        "The proof uses D^2 sigma^2 / 2 for a step on F_t. A function with Hessian 2 I requires D^2 sigma^2, and with it the induction with h_t <= 2 D^2 sigma_t fails.",
        "The induction holds with h_t <= 2.3 D^2 sigma_t. Therefore the factor of D G is 5 sqrt(2.3) / 4 instead of 5 sqrt(2) / 4. The printed bound is reported, not judged.",
        e2,
    ),
    Erratum(
        "E3",
        "Lemma 6",
        "The Hessian of ||x - x_1||^2 is 2 I, not I. The lemma remains true, and its constant 2 can be reduced to 1/2.",
        "Both constants are checked.",
        e3,
    ),
    Erratum(
        "E4",
        "proof of Theorem 1, smoothing",
        "Two differences between f and its average over a ball are each bounded by delta G. By Jensen's inequality one of them has a favorable sign and needs no bound.",
        "The bound has 2 c G instead of 3 c G.",
        e4,
    ),
    Erratum(
        "E5",
        "indices and notation",
        "F_{t+1} has g_{t+1} instead of g_t, so that t = T would need g_{T+1}. The 1 in y = 2nx - 1 is the vector of ones. (3) has min instead of argmin. Theorem 2 has = instead of <=, and T instead of t. W_T is printed instead of W_{T+1}. The condition alpha < 1 can be relaxed to alpha <= 1. "
        "The definition of strong convexity lacks f in one place. The regret has D instead of K, and a supremum over losses inside the expectation, whereas the proof needs losses that are fixed before the run.",
        "The docstrings of the modules theory and bounds state the corrected forms.",
    ),
    Erratum(
        "E6",
        "experiments, portfolio",
        "The set contains the empty portfolio, where the loss is infinite. Therefore no finite M or G exists. Wealth that is not invested is lost, so learning mostly means investing all of it.",
        "M and G are bounds over the points that Algorithm 1 visits, with the alpha of the whole horizon.",
        e6,
    ),
    Erratum(
        "E7",
        "experiments, matrix completion",
        "The closed form of the linear oracle is valid for {X >= 0, tr X = k}, not for the nuclear-norm ball. The dimension of the gradient estimates is not stated.",
        "There are three modes, and p (p + 1) / 2 coordinates. One mode is {X >= 0, tr X <= k}, because the paper also mentions positive semidefinite matrices. No statement is certified with the printed oracle.",
        e7,
    ),
    Erratum(
        "E8",
        "Algorithm 1, t = 1",
        "The first gradient is 0, so every point is an argmin. Because sigma_1 = 1, the point that the solver happens to return is the next center.",
        'v_1 = x_1 by default. tie="vertex" uses the oracle\'s output for the gradient 0.',
        e8,
    ),
    Erratum(
        "E9",
        "Section 3, the ball inside",
        "The paper states that a set can be shrunk so that it contains a ball about the origin. However, the origin is a vertex of the polytope.",
        "The polytope is moved to its Chebyshev center and scaled.",
        e9,
    ),
    Erratum(
        "E10",
        "experiments, StochOCG",
        'The noise has "standard deviation n". It is open whether this is per coordinate, in which coordinates, and whether G includes the noise.',
        'The standard deviation is per coordinate, in normalized coordinates, and G bounds the exact gradient. With bound="noisy", G includes the noise.',
        e10,
    ),
    Erratum(
        "E11",
        "experiments, FKM",
        "The constants of FKM are not given.",
        "We use the constants of Hazan's book with c, and the constants of 2005 with delta up to r.",
        e11,
    ),
    Erratum(
        "E12",
        "experiments",
        "The paper does not give n, m and T of the quadratic problem, T of matrix completion, c, M, D, G and x_1, nor how M is known for unbounded losses.",
        "We use c = 0.1 and 1, x_1 = 0, and M and G of the losses of each trial. Theorem 1 is vacuous at these sizes.",
        e12,
    ),
    Erratum(
        "E13",
        "experiments, average loss",
        "The paper averages f_t(x_t). In Algorithm 1 the played point is y_t; in Section 2 the action is called x_t, so this may be a clash of notation.",
        "Losses are those at the played points y_t.",
        e13,
    ),
    Erratum(
        "E14",
        "experiments, dates",
        "The first of the two days that the paper names, 2013-02-18, is not a trading day.",
        "The data start on 2013-02-19.",
        e14,
    ),
    Erratum(
        "E15",
        "experiments, matrix completion, scale",
        "The matrices have nuclear norms of about k p, whereas X is bounded by k. Therefore losses differ by a few percent over the whole set.",
        "We show the losses unchanged and, in addition, minus the loss at X = 0.",
        e15,
    ),
    Erratum(
        "E16",
        "Section 4, matrix completion",
        "The closed form of the linear oracle uses the gradient of f_t, which a bandit learner does not observe. Line 9 of Algorithm 1 needs the gradient of F_t.",
        "The oracle receives the gradient of F_t.",
    ),
    Erratum(
        "E17",
        "Appendix B, last epoch",
        "The proof of Theorem 2 applies the bound of a full horizon to an epoch that may be unfinished, which the theorem's condition does not cover.",
        "The check of Theorem 2 compares the regret after any round, also within an epoch, with the bound.",
    ),
)
