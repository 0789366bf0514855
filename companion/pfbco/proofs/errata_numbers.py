"""The errata that are computations: each function returns the numbers that show the point.

``errata.ERRATA`` says where each stands and what this package does instead.
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
from paperlib.pfbco.model.tracking import sigma
from paperlib.pfbco.theory import constants as theory
from paperlib.pfbco.theory.constants import Setting
from paperlib.pfbco.theory.vacuity import vacuity

# The panels of Figure 1 in the experiments' size: mean constants over trials, rounded, for c = 1 and c = .1.
PANELS = {
    "a": (16383, {1.0: (10, 29.7, 5.8, 14.6, 9.8), 0.1: (10, 29.7, 5.8, 14.6, 9.8)}),
    "b": (1203, {1.0: (100, 2.89, 1.35, 282.8, 199.2), 0.1: (100, 5.19, 13.5, 282.8, 199.2)}),
    "c": (1023, {1.0: (210, 8650.0, 530.0, 8.94, 4.47), 0.1: (210, 8650.0, 530.0, 8.94, 4.47)}),
}


def panel(name: str, c: float) -> tuple[Setting, int]:
    """Constants and horizon of a panel."""
    horizon, constants = PANELS[name]
    return Setting(*constants[c], c=c), horizon


def worst_on_interval(horizon: int, c: float, rule: str) -> float:
    """Largest h_t / (D^2 sigma_t) of Algorithm 1 on [-1, 1] with the constant loss M = 1, over all 2^T sequences of directions; ties stay."""
    u = np.array(list(itertools.product((1.0, -1.0), repeat=horizon)))
    delta = c * horizon**-0.2
    end, eta = 1 - delta, (c if rule == "corrected" else 1.0) * 2 / math.sqrt(2) * horizon**-0.8
    x, A, worst = np.zeros(len(u)), np.zeros(len(u)), 0.0
    for t in range(1, horizon + 1):
        F = lambda z: A * z + z**2
        worst = max(worst, float(((F(x) - F(np.clip(-A / 2, -end, end))) / (4 * sigma(t))).max()))
        gradient = A + 2 * x
        v = np.where(gradient == 0, x, -end * np.sign(gradient))
        x = x + sigma(t) * (v - x)
        A = A + eta / delta * u[:, t - 1]
    return worst


def e1(horizon: int = 4, c: float = 0.1) -> dict[str, float]:
    """Largest h_t / (D^2 sigma_t) on [-1, 1] with c = .1, T = 4 and loss 1, over all directions: above 2 with the printed rate, which the proof excludes."""
    worst = {f"{rule} rate": worst_on_interval(horizon, c, rule) for rule in ("paper", "corrected")}
    limit = "limit of the printed rate, c="
    return worst | {f"{limit}{x:g}": theory.kappa_infinity(x) for x in (1.0, 0.5, 0.1)}


def e2() -> dict[str, float]:
    """F = ||x||^2 after half a step from 0 to a unit vector, with the printed bound on it; what the right one makes of the induction."""
    t = np.arange(1, 10**6 + 1)
    margin = lambda kappa: float(theory.induction_margin(t[:10], kappa).min())
    s, _ = panel("a", 1.0)  # D is so large against c that the printed A is below what is proved
    return {
        "F": 0.5**2,
        "printed bound": 0.5**2 / 2,
        "least polynomial, 3": float(theory.polynomial(t).min()),
        "largest polynomial, 2": float(theory.polynomial(t, 2.0).max()),
        "polynomial, 2, t=1": float(theory.polynomial(1, 2.0)),
        **{f"worst tracking, T={T}": float(theory.worst_tracking(T).max()) for T in (2, 4, 16, 64)},
        **{f"least margin up to t=10, kappa={x:g}": margin(x) for x in (2.2, theory.KAPPA)},
        "D G, printed": 1.25 * math.sqrt(2),
        "D G, corrected": 1.25 * math.sqrt(theory.KAPPA),
        "A, panel a, printed": theory.coefficients_printed(s).A,
        "A, panel a, corrected": theory.coefficients(s).A,
    }


def e3(eta: float = 0.1) -> dict[str, float]:
    """g (x*_t - x*_{t+1}) / (eta ||g||^2) for leaders in the interior, which move by eta g / 2: attains the sharp constant, a quarter of the printed one."""
    g = torch.tensor([3.0, 4.0], dtype=torch.float64)
    return {"printed": 2.0, "sharp": 0.5, "attained": float(g @ (eta * g / 2) / (eta * (g @ g)))}


def e4(dim: int = 2, delta: float = 0.25) -> dict[str, float]:
    """f^ - f for f = ||x||^2 / 2 on the unit ball, between 0 and delta G; coefficient of c G in A."""
    extra = [theory.smoothed_quadratic(square, delta, dim) - 0.5 * square for square in (0.0, 1.0)]
    slope = lambda coefficients: coefficients(Setting(1, 0.0, 1.0, 0.0, 0.0, 1.0)).A
    return {
        "f^ - f, least": min(extra),
        "f^ - f, largest": max(extra),
        "delta G": delta,
        "c G, printed": slope(theory.coefficients_printed),
        "c G, corrected": slope(theory.coefficients),
    }


def e6(
    dim: int = 94, horizon: int = 1203, least: float = 0.5557, most: float = 1.5229
) -> dict[str, float]:
    """M and G of portfolio losses over the points that Algorithm 1 touches, for extreme ratios of 94 tickers; at the empty portfolio both are infinite."""
    found = {}
    for c in (1.0, 0.1):
        wealth = least * c * horizon**-0.2 * (1 - dim**-0.5) / 2
        found[f"M, c={c:g}"] = -math.log(wealth)
        found[f"G, c={c:g}"] = most / (2 * math.sqrt(dim) * wealth)
    return found


def e7() -> dict[str, float]:
    """<C, V> for C = diag(5, 3) over the nuclear ball of radius 2: the printed answer is the largest value of a vertex along its eigenvector, not the least."""
    C = torch.diag(torch.tensor([5.0, 3.0], dtype=torch.float64)).unsqueeze(0)
    found = {}
    for name, exact in (("optimum", True), ("printed", False)):
        ball = NuclearBall.of(2, 2.0, exact, dtype=torch.float64)
        found[name] = float((C * smat(ball.to_native(ball.lmo(svec(C))), 2)).sum())
    return found


def e8(dim: int = 4, alpha: float = 0.1) -> dict[str, float]:
    """Wealth that a portfolio invests in round 2, when sigma_1 = 1 has made v_1 its center, by the answer to the gradient 0 of round 1; StochOCG does not shrink."""
    cset = SubSimplex.of(dim, dtype=torch.float64)
    zero = torch.zeros(1, dim, dtype=torch.float64)
    first = cset.lmo(-torch.eye(1, dim, dtype=torch.float64))  # the vertex e_1
    answers = {
        "stay": zero,
        "oracle": (1 - alpha) * cset.lmo(zero),
        "vertex e_1": (1 - alpha) * first,
        "oracle, StochOCG": cset.lmo(zero),
    }
    return {name: float(cset.to_native(y).sum()) for name, y in answers.items()}


def e9() -> dict[str, float]:
    """The triangle {x >= 0, x_1 + x_2 <= 1}: the largest ball about the origin inside, before and after it is moved."""
    C, d = np.array([[-1.0, 0.0], [0.0, -1.0], [1.0, 1.0]]), np.array([0.0, 0.0, 1.0])
    moved = polytope(C, d, dtype=torch.float64)
    return {
        "about the origin": float((d / np.linalg.norm(C, axis=1)).min()),
        "about its center": float(moved.rho),
        "D / r": float(moved.D),
        "R / r": float(moved.R),
    }


def e10() -> dict[str, float]:
    """G in StochOCG's rate, with the noise of deviation n a coordinate over G without: panels a and c."""
    over = lambda s: math.sqrt(s.grad_bound**2 + s.dim**3) / s.grad_bound
    return {f"panel {name}": over(panel(name, 0.1)[0]) for name in "ac"}


def e11() -> dict[str, float]:
    """Horizon up to which FKM's delta of 2005 exceeds the inscribed radius, so that it sits at the center: (R n M r / (3 (G r + M)))^2 / r^4."""
    found = {}
    for name in PANELS:
        (n, M, G, _, R, _, r), _ = panel(name, 0.1)
        found[f"panel {name}"] = (R * n * M * r / (3 * (G * r + M))) ** 2 / r**4
    return found


def e12() -> dict[str, float]:
    """Theorem 1 corrected over 2 M T in the settings of the experiments, and the horizon from which on it says something."""
    found = {}
    for name in PANELS:
        for c in (1.0, 0.1):
            row, where = vacuity(*panel(name, c)), f"{name}, c={c:g}"
            found[f"ratio, {where}"] = row.ratio
            found[f"informative from, {where}"] = float(row.informative_from)
    return found


def e13(horizon: int = 1024, c: float = 1.0) -> dict[str, float]:
    """What exploring costs a round for ||y||^2 / 2, E f(x + delta u) - f(x) = delta^2 / 2; the average of f(x_t) leaves it out."""
    return {"delta": c * horizon**-0.2, "cost a round": (c * horizon**-0.2) ** 2 / 2}


def e14() -> dict[str, float]:
    """2013-02-18 is the third Monday of February, Washington's Birthday, on which American exchanges are closed."""
    day = datetime.date(2013, 2, 18)
    return {"weekday, Monday = 1": day.isoweekday(), "which of the month": (day.day - 1) // 7 + 1}


def e15(p: int = 20, k: int = 18) -> dict[str, float]:
    """Expected loss of matrix completion, (||X - k I||^2 + k p (p + 1)) / 4, over the ball of nuclear norm k, and the mean nuclear norm of the matrices seen."""
    ball = NuclearBall.of(p, float(k), dtype=torch.float64)
    eye = torch.eye(p, dtype=torch.float64).unsqueeze(0)
    mean = lambda X: float((((X - k * eye) ** 2).sum() + k * p * (p + 1)) / 4)
    corner = torch.zeros_like(eye)
    corner[0, 0, 0] = k
    nearest = smat(ball.to_native(ball.project(svec(k * eye) / ball.rho)), p)
    zero, least, largest = mean(0 * eye), mean(nearest), max(mean(corner), mean(-corner))
    return {
        "at 0": zero,
        "least": least,
        "largest": largest,
        "nuclear norm seen": float(k * p),
        "radius": float(k),
        "range, below": 1 - least / zero,
        "range, above": largest / zero - 1,
    }
