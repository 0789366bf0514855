"""The errata that are computations: each function returns the numbers that show the point.

``errata.ERRATA`` says where each stands and what this package does instead. Numbers along runs are in the notebook of the theory.
Source: Liu & Wang (2023); letters as in ``constants``.
"""

import math

import numpy as np
import torch
from scipy.stats import norm

from paperlib.goucb.model.network import TwoLayerNet
from paperlib.goucb.problems.reference import HALF, Reference
from paperlib.goucb.theory import constants as theory
from paperlib.goucb.theory import printed, vacuity
from paperlib.goucb.theory.constants import Constants
from paperlib.goucb.theory.growth import Risk
from paperlib.goucb.theory.landscape import TRUTH, Landscape


def reference() -> Constants:
    """Those of reference A with its global mu."""
    problem = Reference(name="A")
    return Constants.of(problem, Risk(problem).on_box.mu)


def e2() -> dict[str, float]:
    """Theorem 4.1's last term over sqrt(T), with beta = 100 and lambda = sqrt(T): the printed one vanishes as T grows, the one of the proof stays."""
    found, c = {}, Constants(4, 1e-9, 1.0, 1.0, 1.0, 1e-9)
    for T in (1e4, 1e8):
        last = lambda squared: printed.regret(c, T, 100.0, T**0.5, squared) / T**0.5
        found[f"printed, T={T:g}"] = math.sqrt(last(False) ** 2 - 400.0)
        found[f"proof, T={T:g}"] = math.sqrt(last(True) ** 2 - 400.0)
    return found


def e3() -> dict[str, float]:
    """S_1 and its bounds for dw = 1, g = 1 and lambda = 1."""
    growth = math.log(2.0)
    return {"S_1": 0.5, "printed step": 0.0, "l_1": growth, "printed lemma": 2 * growth}


def e4() -> dict[str, float]:
    """sum u^2 and its bounds for dw = 1, T = 1, lambda = .1 and g = 1.5; the K up to which 2 will do, and that of f1 as printed."""
    K = 1.5**2 / 0.1
    c = theory.sigmoid_sum()
    return {
        "sum u^2": K,
        "printed": 2 * math.log1p(K),
        "corrected": float(theory.stretch(K)) * math.log1p(K),
        "largest K": theory.LARGEST_K,
        "K of f1, T=25": c.slope**2 / printed.ridge(25),
    }


def e5() -> dict[str, float]:
    """C_g and C_h of reference A with |w2| up to 1, as in W, and up to 2: they grow with the distance that the estimates go outside."""
    found = {}
    for weight in (1.0, 2.0):
        found[f"C_g, |w2| <= {weight:g}"] = theory.slope_bound(1, HALF**2, weight).value
        found[f"C_h, |w2| <= {weight:g}"] = theory.curvature_bound(HALF**2, weight).value
    return found


def e6() -> dict[str, float]:
    """f_w(x) = w on W = [0, 1] with w* = 1/2, F = 1 and n = sigma^2: the risk stays, and the printed bound goes to 0."""
    inside = norm.cdf(0.5) - norm.cdf(-0.5) - norm.pdf(0.5)  # E z^2 on [-1/2, 1/2]
    found = {"risk": float(inside + 0.25 * 2 * norm.sf(0.5))}
    for n in (1e2, 1e4, 1e6):
        c = Constants(1, 1.0, 1.0, 1.0, 2.0, n**0.5)
        found[f"printed, n={n:g}"] = printed.risk(c, n)
        found[f"corrected, n={n:g}"] = theory.risk_bound(c, n)
    return found


def e7(epsilon: float = 0.01) -> dict[str, float]:
    """f_w(x) = w x at |x| = 1, C_h = 0: what a distance of .01 in w changes, and what is printed; distance from the center of a cell over half its side, for f1."""
    return {
        "squared error": epsilon**2,
        "printed": 0.0,
        "distance over half a side": math.sqrt(theory.sigmoid_sum().parameters),
    }


def e8() -> dict[str, float]:
    """Self-concordance of reference A: the largest third derivative, of which c -> 0 allows 2; eigenvalues of Hess L relative to H."""
    risk, c = Risk(Reference(name="A")), 1e-4
    near = risk.relative(risk.around(c))
    return {
        "third derivative": risk.third[0],
        "allowed": 2.0,
        "1 - least, c=1e-4": float(1 - near.min()),
        "1 - least allowed": 1 - (1 - c) ** 2,
        "largest - 1, c=1e-4": float(near.max() - 1),
        "largest allowed - 1": (1 - c) ** -2 - 1,
        "least, c=.5": float(risk.relative(risk.around(0.5)).min()),
    }


def e9() -> dict[str, float]:
    """Constant of Theorem 5.2 in units of C', c = 1/2; the factor of (8) for the risk of Figure 1, with zeta and without."""
    shape = Landscape()
    c = Constants(1, 1.0, 1.0, 1.0, shape.mu, 1.0, tau=shape.tau, gamma=shape.gamma)
    zeta = float(shape.bend(TRUTH))
    return {
        "printed": 2 / (1 - 0.5) ** 2,
        "proved": 2.0,
        "factor, printed": printed.largest(c, zeta),
        "factor, without zeta": printed.largest(c),
    }


def e10() -> dict[str, float]:
    """Rank of H = 2 E g g^T, by 2000 points: f1 with the paper's network, and reference A; parameters of reference B's f in its W."""
    model, generator = TwoLayerNet(), torch.Generator().manual_seed(0)
    x = 10 * torch.rand(1, 2000, 20, generator=generator, dtype=torch.float64) - 5
    ones = torch.ones(1, model.parameters(20), dtype=torch.float64)
    g = model.gradient(model.features(ones, x))[0]
    A, B = Risk(Reference(name="A")), Risk(Reference(name="B"))
    return {
        "rank, f1": int(torch.linalg.matrix_rank(g)),
        "dw, f1": g.shape[1],
        "rank, A": A.rank,
        "dw, A": len(A.at_truth),
        "parameters, B": len(B.stars),
        "largest L of them, to 1e-12": float(B.value(B.stars).max().round(12)),
        "distance to the next": float(np.sort(np.linalg.norm(B.stars - B.stars[0], axis=1))[1]),
    }


def e13() -> dict[str, float]:
    """Appendix D.1 on f1: lambda at T = 1 and 25, beta_1 and beta_25, and the beta whose bonus is the range of f at u = 4."""
    value, parameters = 26.0, 551
    return {
        "lambda, T=1": printed.ridge(1),
        "lambda, T=25": printed.ridge(25),
        "beta_1": printed.beta(1, 25, parameters, value),
        "beta_25": printed.beta(25, 25, parameters, value),
        "beta of a bonus 2 F": (2 * value / 4.0) ** 2,
    }


def e14() -> dict[str, float]:
    """f2 at its maximizer in 20 dimensions, and as printed, with the sum over x_i^4 alone and the other terms once."""
    z, d = -2.903534027771177, 20
    return {
        "f2": -d * (z**4 - 16 * z**2 + 5 * z) / 2,
        "as printed": -d * z**4 / 2 - 16 * z**2 + 5 * z,
    }


def e15() -> dict[str, float]:
    """Least two-sided p of a signed-rank test."""
    return {f"{n} pairs": 2 * 2.0**-n for n in (5, 20)}


def e17(draws: int = 200) -> dict[str, float]:
    """Networks of 25 units on [-5, 5]^20 with uniform weights: how many are largest at the corner of fives, by 1000 points and the corner."""
    model, generator = TwoLayerNet(), torch.Generator().manual_seed(0)
    uniform = lambda *shape: torch.rand(*shape, generator=generator, dtype=torch.float64)
    weights = uniform(draws, model.parameters(20))
    points = torch.cat([torch.full((1, 20), HALF, dtype=torch.float64), 10 * uniform(1000, 20) - 5])
    found = {"draws": draws}
    for name, w in (("[0, 1]", weights), ("[-1, 1]", 2 * weights - 1)):
        f = model.value(w, points.expand(draws, -1, -1))
        found[f"corner largest, W = {name}^dw"] = int((f[:, 0] >= f.amax(1)).sum())
        slopes = model.slope(w, points.expand(draws, -1, -1))
        found[f"least slope at least 0, W = {name}^dw"] = int((slopes.amin((1, 2)) >= 0).sum())
    return found


def e18() -> dict[str, float]:
    """What condition (8), with 1 for its constant, asks of T, over T, for reference A with c = T^-a."""
    risk = Risk(Reference(name="A"))
    c, found = Constants.of(risk.problem, risk.on_box.mu), {}
    for power in (1 / 4, 1 / 8):
        for T in (1e8, 1e16, 1e24, 1e32):
            least = printed.horizon(c, vacuity.first_phase(T), risk.zeta, T**-power)
            found[f"c = T^(-1/{1 / power:g}), T={T:g}"] = least / T
    return found
