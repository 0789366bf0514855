"""The errata that are computations: each function returns the numbers that show the point.

``errata.ERRATA`` says where each stands and what this package does instead. Numbers of runs with noise are not here: they
stand in the notebooks.
Source: Wang (2025); letters as in ``constants``.
"""

import math

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom

from paperlib.nsbco.theory import constants as theory
from paperlib.nsbco.theory import rates
from paperlib.nsbco.theory.constants import Setting, literal, reference

from . import reduction


def printed_first(margin: float) -> int:
    """N_0 = ceil(c_0^-2) + 1, as Lemma 3.1 has it."""
    return math.ceil(margin**-2 - 1e-12) + 1


def e1(margin: float = 0.5) -> dict[str, float]:
    """A query of the printed N_0 from z = (c_0, 0): outside the unit ball. From which c_0 on it is inside, and the N_0 that always is."""
    n = printed_first(margin)
    reach = lambda c: printed_first(c) ** -0.25 - c
    grid = np.linspace(0.05, 0.999, 20_000)
    inside = grid[[reach(c) <= 0 for c in grid]]
    least = brentq(reach, inside[0] - 1e-4, inside[0]) if len(inside) else math.inf
    corrected = Setting(2, margin=margin)
    return {
        "N_0, printed": n,
        "delta_0, printed": n**-0.25,
        "||x||, printed": 1 - margin + n**-0.25,
        "least c_0, printed": least,
        "share of c_0 above it that are inside": float((grid[grid > least] <= inside[-1]).mean()),
        "N_0, corrected": corrected.first,
        "||x||, corrected": 1 - margin + corrected.width(0),
    }


def e2(margin: float = 0.5) -> dict[str, float]:
    """Rounds of a coordinate in the first batch, N_0 = (1 / c_0)^4: of the algorithm, 2 n_0, and of the proof's set, ceil((1 - gamma)^0 N_0)."""
    n = Setting(2, margin=margin).first
    return {"2 n_0": 2 * n, "ceil(N_0)": n}


def e3(horizon: int = 10**4) -> dict[str, float]:
    """P(|mean| > threshold) of T answers +1 or -1 for a coin, by the binomial law, with Hoeffding's bound and what is claimed, T^-2."""
    T = horizon
    found = {}
    for name, e in (("printed", reduction.off_printed(T, T)), ("corrected", reduction.off(T, T))):
        above = math.floor(T * (1 + float(e)) / 2)  # heads that are not above the threshold
        found[f"threshold, {name}"] = float(e)
        found[f"probability, {name}"] = float(2 * binom.sf(above, T, 0.5))
        found[f"Hoeffding, {name}"] = 2 * math.exp(-T * float(e) ** 2 / 2)
    return found | {"claimed": float(T) ** -2}


def e4(gamma: float = 0.05, smoothness: float = 0.5) -> dict[str, float]:
    """Eq. (9) with L = 1/2 and l = 1; (1 - gamma) (n_1 / N_0)^{1/4} with N_0 = 1, which is to be at most 1; what the sum of errors lacks."""
    s = Setting(1, 1.0, gamma, margin=0.5, h=0.5)
    return {
        "2 sqrt(l) + L": 2 + smoothness,
        "3 L sqrt(l)": 3 * smoothness,
        "q (n_1 / N_0)^{1/4}": s.q * (s.length(1) / s.first) ** 0.25,
        "most": 2**0.25,
        "factor of the sum, gamma = 1/2": 1 / literal().q,
    }


def e5(concavity: float = 1.0, smoothness: float = 2.0) -> dict[str, float]:
    """f(x*) - f(z) with Hessian -diag(sigma, L) and z - x* = e_2, and the printed bound on it."""
    H, away = np.diag([concavity, smoothness]), np.array([0.0, 1.0])
    gap = away @ H @ away / 2
    return {"gap": float(gap), "printed": concavity / 2, "corrected": smoothness / 2}


def e6(horizon: int = 10**6) -> dict[str, float]:
    """Completed epochs at T = 1e6, d = 2, N_0 = 16, against ln T / (1 - gamma); kappa_0 at sigma = .02 against half of the corrected bonus."""
    found = {}
    for gamma in (0.05, 0.01, 0.005):
        s = literal(concavity=2.0 * gamma)
        found[f"epochs, gamma={gamma:g}"] = s.epochs(horizon + 1) - 1
        found[f"claimed, gamma={gamma:g}"] = math.log(horizon) / s.q
    flat = literal(concavity=0.02)
    return found | {
        "least gamma of the inequality": brentq(lambda g: -4 * math.log1p(-g) - (1 - g), 0.01, 0.9),
        "kappa_0, sigma=0.02": sum(theory.kappa_0(flat, horizon)),
        "B_0 / 2, sigma=0.02": float(theory.bonus_corrected(flat, horizon)) / 2,
    }


def e7(diameter: float = 0.5, epochs: int = 2) -> dict[str, float]:
    """min(2 d n, t) / sqrt(n) over sqrt(d min(2 d n, t)), to be at most 1; (2 B^2 + 14 s^2) s against 16 B^2 s^3 for B_X = 1/2, s = 2."""
    d, n = 2, 16
    return {
        "sqrt of what is dropped": 2 * d * n / math.sqrt(n) / math.sqrt(d * 2 * d * n),
        "(2 B^2 + 14 s^2) s": (2 * diameter**2 + 14 * epochs**2) * epochs,
        "16 B^2 s^3": 16 * diameter**2 * epochs**3,
    }


def e8(smoothness: float = 0.5, delta: float = 0.5) -> dict[str, float]:
    """|f(x + delta) - f(x) - delta f'(x)| of a parabola with curvature L = 1/2, and the printed bound L^2 delta^2 / 2."""
    f = lambda x: -smoothness * x**2 / 2
    error = abs(f(1 + delta) - f(1) + delta * smoothness)
    printed, corrected = smoothness**2 * delta**2 / 2, smoothness * delta**2 / 2
    return {"error": error, "printed": printed, "corrected": corrected}


def e9(horizon: int = 10**6) -> dict[str, float]:
    """sqrt(T) times the bounds on property 2 at T = 1e6, d = 2: the printed chain, what is claimed, and one-sided from (21) and from a proved b_0.

    The chain: 2 kappa_0 and twice 3 kappa_0 + 1, since sum 1 / sqrt(tau) is close to 2 sqrt(t).
    """
    s = literal()
    k, l = sum(theory.kappa_0(s, horizon)), s.logarithm(horizon)
    weak = theory.weak_corrected(s, horizon)
    t = np.arange(1, horizon + 1)
    return {
        "sqrt(t) mean of 1 / sqrt(tau)": float((t**-0.5).mean() * math.sqrt(horizon)),
        "chain / kappa_0": (2 * k + 2 * (3 * k + 1)) / k,
        "claimed / kappa_0": 6.0,
        "one-sided / kappa_0": (2 * 2 * k + 4 * math.sqrt(l) + k + 1) / k,
        "one-sided / (b_0 / 2), corrected": weak.rho / (weak.bonus / 2),
    }


def e10(horizon: int = 10**6) -> dict[str, float]:
    """C_1 at T = 1e6, d = 2 with the printed constants and either power of lambda, and their powers of d; Delta' = lambda Delta has lambda V."""
    weak = theory.weak_printed(literal(), horizon)
    found = {}
    for name, power in (("printed", rates.PRINTED), ("corrected", rates.CORRECTED)):
        found[f"C_1, {name}"] = rates.theorem_3_4(weak, power).C1
        found[f"power of d, {name}"] = rates.dimension_power(power)
    scaled = lambda lam: rates.lemma_2_2(1.0, 0.0, 1.0).at(1.0, lam) - 1  # C_2 = 1
    return found | {
        "factor of lambda = 8": float(scaled(8.0)),
        "printed factor": 8.0**rates.PRINTED,
    }


def e11(horizon: int = 10**6) -> dict[str, float]:
    """The factor of rho-hat at T = 1e6, as printed and with the logarithm of T / delta, delta = 1 / T, that Wei & Luo's has besides."""
    printed = 6 * (math.log2(horizon) + 1)
    return {"printed": printed, "with ln(T / delta)": printed * math.log(horizon**2)}


def e12() -> dict[str, float]:
    """r-bar after two rounds without noise, theta = (1/2), b_0 = 2: above 1, which no f exceeds."""
    s = reference(1)
    regret = rates.noise_free_regret(s, [0.5], 2)
    bar = 0.5 - regret[-1] / 2 + 2 / math.sqrt(2)
    return {"r-bar": float(bar), "clipped": min(1.0, float(bar)), "f*": 0.5}


def e13(horizon: int = 10**4, rate: float = 20.0, late: int = 2000) -> dict[str, float]:
    """Property 2 of Lemma 4.1 with the printed rho: without regret and noise, and with all regret in the last rounds.

    "fails below": share of rounds in which it fails where X is one point; then the left side for rt = 20 / sqrt(t), T = 1e4
    and a regret of 1 in each of the last 2000 rounds, beside the printed and the corrected rho, with either e.
    """
    found = {}
    for T in (horizon, 10 * horizon):
        e = reduction.off_printed(np.arange(1, T + 1), T)
        left = e.cumsum() / np.arange(1, T + 1)
        found[f"fails below, T={T}"] = float((left > reduction.rho_printed(0.0, T)).mean())
    T = horizon
    t = np.arange(1, T + 1)
    y, rt = -(t > T - late).astype(float), rate / np.sqrt(t)
    small, right = reduction.off_printed(t, T), reduction.off(t, T)
    left = lambda e: float((y.cumsum() / t + rt + e - y).mean())
    return found | {
        "limit": 4 / 9,
        "regret / (t rt), most": float((-y.cumsum() / (t * rt)).max()),
        "left": left(small),
        "printed": float(reduction.rho_printed(rt[-1], T)),
        "corrected, printed e": float(reduction.rho(rt, small)[-1]),
        "left, corrected e": left(right),
        "corrected": float(reduction.rho(rt, right)[-1]),
    }


def e14(horizon: int = 2**20, variation: float = 4.0) -> dict[str, float]:
    """Both orders at T = 2^20, V = 4."""
    V, T = variation, horizon
    return {
        "V^{2/3} T^{1/3}": V ** (2 / 3) * T ** (1 / 3),
        "V^{1/3} T^{2/3}": V ** (1 / 3) * T ** (2 / 3),
    }


def e15() -> dict[str, float]:
    """Three rounds with r-bar = 1, .6, .5 and y = .4: the mean of r-bar - y as printed, with the last r-bar, and by round."""
    bar, y = np.array([1.0, 0.6, 0.5]), 0.4
    return {"printed": float(bar[-1] - y), "corrected": float((bar - y).mean())}


def e16() -> dict[str, float]:
    """Algorithm 2 with L = B_X = ln T and sigma = c_0 = 1 / ln T where f = -||x - theta||^2 / 2: growth of epochs, N_0 and regret a round, without noise.

    Never moving costs ||theta||^2 / 2 a round, theta = (1/2, 0). With N_0 corrected (E1), and as printed.
    """
    found = {"never moving": 0.5**2 / 2}
    for power in (14, 17, 20):
        T, x = 2**power, power * math.log(2)
        s = Setting(2, x, 1 / x, x, 1 / x)
        for name, first in (("", s.first), (" with the printed N_0", printed_first(1 / x))):
            regret, played, epoch = 0.0, 0, 0
            while played < T:
                length = math.ceil(s.q ** (-4 * epoch) * first - 1e-9)
                rounds = min(2 * s.dim * length, T - played)
                # Hessian -I and step 1 / L: distances shrink by 1 - 1 / L, not by the q that sets lengths
                away = 0.5 * (1 - 1 / x) ** epoch
                regret += rounds / 2 * (away**2 + length**-0.5)
                played, epoch = played + rounds, epoch + 1
            found[f"regret a round{name}, T=2^{power}"] = regret / T
            found[f"N_0{' as printed' * bool(name)}, T=2^{power}"] = first
    return found | {"growth, T=2^20": s.q**-4}


def e17(offset: float = 0.5) -> dict[str, float]:
    """Gradients and Hessian of -||x - theta||^2 / 2 on the unit ball: the L that both need, and gamma with it, which is one over the largest distance."""
    slope = 1 + offset
    return {"largest Hessian": 1.0, "largest gradient": slope, "gamma": 1 / slope}


def e18() -> dict[str, float]:
    """n_1 / N_0 = (1 - gamma)^-4 as gamma goes to 1."""
    return {f"gamma={g:g}": (1 - g) ** -4 for g in (0.5, 0.9, 0.99, 0.999)}


def e19(horizon: int = 10**6) -> dict[str, float]:
    """c_1 and c_2 of C(t) = t rho(t) with the printed rho at T = 1e6, d = 2, and the constants of Lemma 2.2 that they give."""
    c1 = 6 * sum(theory.kappa_0(literal(), horizon))
    found = rates.lemma_2_2(c1, 0.0, c1)
    return {"c_1": c1, "c_2": 0.0, "C_1": found.C1, "C_2": found.C2}


def e20() -> dict[str, float]:
    """Rounds of the first three batches in the paper's units, d = 2, and those that a sum from s = 1 counts."""
    s = literal()
    rounds = [2 * s.dim * s.length(epoch) for epoch in range(3)]
    return {
        "rounds of s = 0, 1, 2": sum(rounds),
        "from s = 1": sum(rounds[1:]),
        "left out": rounds[0],
    }
