"""Errors, imprecise statements and open points in the paper's text, and their treatment in this package.

``ERRATA`` has one entry per erratum. If numbers illustrate it, its ``function`` returns them. Numbers from runs with noise are in the
notebooks.
E1 changes the algorithm, E3 to E9 the constant of Lemma 3.1, E10 the order in d, E13 the rate of Lemma 4.1.
Source: Wang (2025); statements about Wei & Luo (2021) and Schmidt, Le Roux & Bach (2011) are from general knowledge.
Letters: as in ``theory.constants``.
"""

import math

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom

from paperlib.nsbco.theory import constants as theory
from paperlib.nsbco.theory.constants import Setting, literal, reference

from ..verdicts import Erratum
from .proofs import reduction, schedule
from .proofs.ascent import noise_free_regret, printed_first


def e1() -> dict[str, float]:
    """Return the norm of a query with the printed N_0 from z = (1 - c_0, 0), outside the unit ball, the least c_0 with a query inside, and the corrected N_0."""
    margin, n = 0.5, printed_first(0.5)
    reach = lambda c: printed_first(c) ** -0.25 - c
    grid = np.linspace(0.05, 0.999, 20_000)
    inside = grid[[reach(c) <= 0 for c in grid]]
    least = brentq(reach, inside[0] - 1e-4, inside[0])
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


def e2() -> dict[str, float]:
    """Return the rounds per coordinate of the first batch for N_0 = (1 / c_0)^4: 2 n_0 in the algorithm, ceil((1 - gamma)^0 N_0) in the proof's set."""
    n = Setting(2, margin=0.5).first
    return {"2 n_0": 2 * n, "ceil(N_0)": n}


def e3() -> dict[str, float]:
    """Return P(|mean| > threshold) for T = 1e4 Bernoulli rewards +-1, from the binomial distribution, with Hoeffding's bound and the claimed T^-2."""
    T, found = 10**4, {}
    for name, e in (("printed", reduction.off_printed(T, T)), ("corrected", reduction.off(T, T))):
        # the largest number of +1 with a mean that is not above the threshold
        above = math.floor(T * (1 + float(e)) / 2)
        found[f"threshold, {name}"] = float(e)
        found[f"probability, {name}"] = float(2 * binom.sf(above, T, 0.5))
        found[f"Hoeffding, {name}"] = 2 * math.exp(-T * float(e) ** 2 / 2)
    return found | {"claimed": float(T) ** -2}


def e4() -> dict[str, float]:
    """Return both sides of Eq. (9) for L = 1/2 and l = 1; (1 - gamma) (n_1 / N_0)^{1/4} for N_0 = 1, claimed to be at most 1; and the missing factor of the sum of errors."""
    s, L = Setting(1, 1.0, 0.05, margin=0.5, h=0.5), 0.5
    return {
        "2 sqrt(l) + L": 2 + L,
        "3 L sqrt(l)": 3 * L,
        "q (n_1 / N_0)^{1/4}": s.q * (s.length(1) / s.first) ** 0.25,
        "most": 2**0.25,
        "factor of the sum, gamma = 1/2": 1 / literal().q,
    }


def e5() -> dict[str, float]:
    """Return f(x*) - f(z) for Hessian -diag(sigma, L), sigma = 1, L = 2 and z - x* = e_2, with the printed and the corrected bound."""
    H, away = np.diag([1.0, 2.0]), np.array([0.0, 1.0])
    return {"gap": float(away @ H @ away / 2), "printed": H[0, 0] / 2, "corrected": H[1, 1] / 2}


def e6() -> dict[str, float]:
    """Return the completed epochs at T = 1e6, d = 2, N_0 = 16 and the claimed ln T / (1 - gamma); and kappa_0 at sigma = 0.02 and half of the corrected bonus."""
    horizon, found = 10**6, {}
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


def e7() -> dict[str, float]:
    """Return min(2 d n, t) / sqrt(n) over sqrt(d min(2 d n, t)), claimed to be at most 1; and (2 B^2 + 14 s^2) s with its claimed bound 16 B^2 s^3 for B_X = 1/2, s = 2."""
    d, n, diameter, epochs = 2, 16, 0.5, 2
    return {
        "sqrt of what is dropped": 2 * d * n / math.sqrt(n) / math.sqrt(d * 2 * d * n),
        "(2 B^2 + 14 s^2) s": (2 * diameter**2 + 14 * epochs**2) * epochs,
        "16 B^2 s^3": 16 * diameter**2 * epochs**3,
    }


def e8() -> dict[str, float]:
    """Return |f(x + delta) - f(x) - delta f'(x)| for a parabola with curvature L = 1/2, with the printed bound L^2 delta^2 / 2 and the corrected one."""
    L, delta = 0.5, 0.5
    f = lambda x: -L * x**2 / 2
    error = abs(f(1 + delta) - f(1) + delta * L)
    return {"error": error, "printed": L**2 * delta**2 / 2, "corrected": L * delta**2 / 2}


def e9() -> dict[str, float]:
    """Return sqrt(T) times the bounds on property 2 at T = 1e6, d = 2: the printed chain, the claim, and one-sided from (21) and from a proved b_0.

    The chain adds 2 kappa_0 and twice 3 kappa_0 + 1, because sum 1 / sqrt(tau) is close to 2 sqrt(t).
    """
    s, horizon = literal(), 10**6
    k, l = sum(theory.kappa_0(s, horizon)), s.logarithm(horizon)
    weak = theory.weak_corrected(s, horizon)
    roots = np.arange(1, horizon + 1) ** -0.5
    return {
        "sqrt(t) mean of 1 / sqrt(tau)": float(roots.mean() * math.sqrt(horizon)),
        "chain / kappa_0": (2 * k + 2 * (3 * k + 1)) / k,
        "claimed / kappa_0": 6.0,
        "one-sided / kappa_0": (2 * 2 * k + 4 * math.sqrt(l) + k + 1) / k,
        "one-sided / (b_0 / 2), corrected": weak.rho / (weak.bonus / 2),
    }


def e10() -> dict[str, float]:
    """Return C_1 at T = 1e6, d = 2 with the printed constants and both powers of lambda, and the powers of d; Delta' = lambda Delta has variation lambda V."""
    weak, found = theory.weak_printed(literal(), 10**6), {}
    for name, power in (("printed", theory.PRINTED), ("corrected", theory.CORRECTED)):
        found[f"C_1, {name}"] = theory.theorem_3_4(weak, power).C1
        found[f"power of d, {name}"] = schedule.dimension_power(power)
    return found | {
        "factor of lambda = 8": float(theory.lemma_2_2(1.0, 0.0, 1.0).at(1.0, 8.0) - 1),  # C_2 = 1
        "printed factor": 8.0**theory.PRINTED,
    }


def e11() -> dict[str, float]:
    """Return the factor of rho-hat at T = 1e6, as printed and with the additional logarithm of T / delta, delta = 1 / T, of Wei & Luo."""
    T = 10**6
    printed = 6 * (math.log2(T) + 1)
    return {"printed": printed, "with ln(T / delta)": printed * math.log(T**2)}


def e12() -> dict[str, float]:
    """Return r-bar after two rounds without noise for theta = (1/2), b_0 = 2; it is above 1, although no f exceeds 1."""
    regret = noise_free_regret(reference(1), [0.5], 2)
    bar = 0.5 - regret[-1] / 2 + 2 / math.sqrt(2)
    return {"r-bar": float(bar), "clipped": min(1.0, float(bar)), "f*": 0.5}


def e13() -> dict[str, float]:
    """Return two counterexamples to property 2 of Lemma 4.1 with the printed rho: no regret and no noise, and all regret in the last rounds.

    "fails below" is the fraction of rounds with a violation if X is one point. The other numbers are for rt = 20 / sqrt(t), T = 1e4
    and a regret of 1 in each of the last 2000 rounds: the left side, and the printed and the corrected rho, with both versions of e.
    """
    found = {}
    for T in (10**4, 10**5):
        e = reduction.off_printed(np.arange(1, T + 1), T)
        left = e.cumsum() / np.arange(1, T + 1)
        found[f"fails below, T={T}"] = float((left > reduction.rho_printed(0.0, T)).mean())
    T = 10**4
    t = np.arange(1, T + 1)
    y, rt = -(t > T - 2000).astype(float), 20 / np.sqrt(t)
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


def e14() -> dict[str, float]:
    """Return both orders at T = 2^20, V = 4."""
    V, T = 4.0, 2**20
    return {
        "V^{2/3} T^{1/3}": V ** (2 / 3) * T ** (1 / 3),
        "V^{1/3} T^{2/3}": V ** (1 / 3) * T ** (2 / 3),
    }


def e15() -> dict[str, float]:
    """Return the mean of r-bar - y over three rounds with r-bar = 1, 0.6, 0.5 and y = 0.4: as printed, with the last r-bar, and with each round's r-bar."""
    bar, y = np.array([1.0, 0.6, 0.5]), 0.4
    return {"printed": float(bar[-1] - y), "corrected": float((bar - y).mean())}


def e16() -> dict[str, float]:
    """Return growth of epochs, N_0 and regret per round of Algorithm 2 with L = B_X = ln T and sigma = c_0 = 1 / ln T, without noise.

    The objective is f = -||x - theta||^2 / 2 with theta = (1/2, 0). A static point has regret ||theta||^2 / 2 per round. The numbers
    are for the corrected N_0 (E1) and for the printed one.
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
                # With Hessian -I and step 1 / L, distances shrink by 1 - 1 / L, and not by the q of the epoch lengths.
                away = 0.5 * (1 - 1 / x) ** epoch
                regret += rounds / 2 * (away**2 + length**-0.5)
                played, epoch = played + rounds, epoch + 1
            found[f"regret a round{name}, T=2^{power}"] = regret / T
            found[f"N_0{' as printed' * bool(name)}, T=2^{power}"] = first
    return found | {"growth, T=2^20": s.q**-4}


def e17() -> dict[str, float]:
    """Return the largest gradient and Hessian of -||x - theta||^2 / 2 on the unit ball for ||theta|| = 1/2, and gamma for the L that bounds both: one over the largest distance."""
    slope = 1.5
    return {"largest Hessian": 1.0, "largest gradient": slope, "gamma": 1 / slope}


def e18() -> dict[str, float]:
    """Return n_1 / N_0 = (1 - gamma)^-4 as gamma goes to 1."""
    return {f"gamma={g:g}": (1 - g) ** -4 for g in (0.5, 0.9, 0.99, 0.999)}


def e19() -> dict[str, float]:
    """Return c_1 and c_2 of C(t) = t rho(t) with the printed rho at T = 1e6, d = 2, and the resulting constants of Lemma 2.2."""
    c1 = 6 * sum(theory.kappa_0(literal(), 10**6))
    found = theory.lemma_2_2(c1, 0.0, c1)
    return {"c_1": c1, "c_2": 0.0, "C_1": found.C1, "C_2": found.C2}


def e20() -> dict[str, float]:
    """Return the rounds of the first three batches in the paper's units, d = 2, and the rounds counted by a sum from s = 1."""
    s = literal()
    rounds = [2 * s.dim * s.length(epoch) for epoch in range(3)]
    return {
        "rounds of s = 0, 1, 2": sum(rounds),
        "from s = 1": sum(rounds[1:]),
        "left out": rounds[0],
    }


ERRATA = (
    Erratum(
        "E1",
        "Lemma 3.1, N_0",
        "with the printed N_0 = ceil(c_0^-2) + 1, queries can leave X: delta_0 = N_0^{-1/4} must be at most c_0, which holds only for c_0 above 0.76",
        "N_0 = ceil((h / c_0)^4). In the paper's units (h = 1) sqrt(N_0) is then about c_0^-2, and the factor c_0^-1 of kappa_0 becomes about c_0^-2, too",
        e1,
    ),
    Erratum(
        "E2",
        "Algorithm 2, line 6",
        "t_0 is set once and never updated. In the proof, the same set of rounds has both 2 n_s and ceil((1 - gamma)^{-4s} N_0) elements",
        "t_0 increases by 2 n_s after each coordinate",
        e2,
    ),
    Erratum(
        "E3",
        "Eq. (15) and (28)",
        "rewards in [-1, 1] have range 2, therefore sqrt(ln(2 T) / t) is exceeded with probability up to 2 (2 T)^{-1/2}, not T^{-2}. Eq. (4) has the factor 2. For property 2 the proof obtains only probability 1 - O(1 / T), up to logarithms, but the lemma requires 1 - O(T^-2)",
        "2 sqrt(ln(2 T) / t), 2 sqrt(t ln(d T)), and bounds that hold in all rounds simultaneously",
        e3,
    ),
    Erratum(
        "E4",
        "Eq. (9) and (10)",
        "the equations need L >= 1 and ln(d T) >= 1. The errors are the errors of steps 0 to s - 1, not 1 to s, and they lack a factor 1 / (1 - gamma). Rounding n_s up costs a factor 2^{1/4}. Proposition 1 of Schmidt et al. is for functions that need not be strongly convex",
        "a recursion that starts at z_0, both in closed form and computed",
        e4,
    ),
    Erratum(
        "E5",
        "Eq. (13)",
        "strong concavity bounds the gap from below, by (sigma / 2) ||x* - z||^2. The upper bound follows from smoothness, with L / 2 in place of sigma / 2. ln(N T) should be ln(d T)",
        "L / 2",
        e5,
    ),
    Erratum(
        "E6",
        "number of epochs",
        "ln T / (-4 ln(1 - gamma)) <= ln T / (1 - gamma) is false for gamma below 0.18. There are about ln T / (4 gamma) epochs, therefore the constant must grow as sigma / L decreases. A sum over epochs 0 to s has s + 1 terms",
        "S = 2 + ln(max(1, t / (2 d N_0))) / (4 ln(1 / q))",
        e6,
    ),
    Erratum(
        "E7",
        "Eq. (13), (17) to (20)",
        "a factor sqrt(2) and a factor L are lost, and L^2 appears in (20). The bound of 14 s^2 by 16 B_X^2 s^2 needs B_X >= 1. sqrt(N_0) is replaced by c_0^-1, although N_0 >= c_0^-2 + 1 is larger",
        "all factors are included",
        e7,
    ),
    Erratum(
        "E8",
        "term D, Eq. (19)",
        "Taylor's theorem gives L delta^2 / 2, not L^2 delta^2 / 2. The factor is then dropped",
        "(L / 2) delta_s^2 per round",
        e8,
    ),
    Erratum(
        "E9",
        "Eq. (22) to (25)",
        "in (22) means replace the rewards, which omits their noise. Sums of 1 / sqrt(tau) are about 2 sqrt(t), therefore the chain as printed ends at 8 kappa_0 + 2",
        "a one-sided argument gives (5 kappa_0 + 4 sqrt(l) + 1) / sqrt(t) from (21), therefore 6 kappa_0 would be correct if (21) were correct. With any proved b_0 the result is (3 b_0 + 4 sqrt(l) + 1) / sqrt(t)",
        e9,
    ),
    Erratum(
        "E10",
        "Lemma 2.2 and Theorem 3.4",
        "the power lambda^{2/3} is loose for lambda >= 1, which Theorem 3.4 has, and wrong for lambda < 1: Wei & Luo's bound for lambda Delta has (lambda V)^{1/3}",
        "lambda^{1/3}, which changes the order d^2 to d^{3/2}",
        e10,
    ),
    Erratum(
        "E11",
        "Algorithm 1, rho-hat",
        "rho-hat of Wei & Luo has an additional logarithm of T / delta, and their rewards are in [0, 1]",
        "the printed form with the printed constants. The other thresholds are calibrated",
        e11,
    ),
    Erratum(
        "E12",
        "Algorithm 2, r-bar",
        "r-bar may exceed 1, although no f exceeds 1. The optimistic value of Wei & Luo is in the range of the rewards",
        "min(1, r-bar), which preserves property 1 and improves property 2. clip=False selects the printed r-bar",
        e12,
    ),
    Erratum(
        "E13",
        "Lemma 4.1",
        "(27) lacks the factor t. The printed rho(t) contains sqrt(ln(2 T) / T), which does not depend on t; the proof, (33), has the summation index tau. The bonus in r-bar is sqrt(ln(2 T) / t), therefore property 2 can be violated for t below about 4 T / 9: from the first rounds on if rt is near 0, and in later rounds for EXP3-IX. Lemma 2.2 needs t rho(t) = c_1 sqrt(t) + c_2, which the printed rho does not satisfy. The average over tau of 2 rt + 3 e is replaced by a single term. Therefore property 2 is violated even with t for T if a policy suffers its regret late",
        "rho(t) = rt(t) + e(t) + (1 / t) sum [rt(tau) + 2 e(tau)], e(t) = 2 sqrt(ln(2 T) / t). The printed rho is tested, too",
        e13,
    ),
    Erratum(
        "E14",
        "contributions, and cross-references",
        "misprints: V^{2/3} T^{1/3} for V^{1/3} T^{2/3}; Eq. (3) for the constraint on variation, which is Eq. (2), and (14) for (10); Eq. (1) for (2) in Section 1; t for tau at the end of the sum in (31); 'of' for 'if' in Test 2",
        "the corrected formulas and references are used",
        e14,
    ),
    Erratum(
        "E15",
        "Definition 2.1 (2), and U_t in Algorithm 1",
        "a sum over tau contains r-bar_t - y_t, and a minimum over tau contains r-bar_t",
        "r-bar_tau - y_tau and r-bar_tau",
        e15,
    ),
    Erratum(
        "E16",
        "Remark 3.2",
        "L = B_X = ln T and sigma = c_0 = 1 / ln T imply gamma = 1 / ln^2 T, therefore epochs hardly grow. With the corrected N_0 (E1) the first epoch has more than a hundred thousand rounds at T = 2^20 and d = 2, and at smaller horizons the regret is close to the regret of the static baseline. With the printed N_0 the algorithm learns, but then c_0 no longer keeps its queries in every set",
        "the remark is not used; both versions are compared with the static baseline (C9)",
        e16,
    ),
    Erratum(
        "E17",
        "Assumption 2",
        "a single L bounds both gradients and Hessians, therefore gamma depends on the units. For example, for a parabola with Hessian -I, gamma is one over the largest distance to the maximizer if this distance is at least 1",
        "as printed in the algorithm. The numeric bound has separate constants (slope, curvature)",
        e17,
    ),
    Erratum(
        "E18",
        "Algorithm 2, gamma",
        "the assumptions allow sigma = L, but then (1 - gamma)^{-4} is infinite",
        "gamma must be in (0, 1); other values raise a ValueError",
        e18,
    ),
    Erratum(
        "E19",
        "Lemma 2.2",
        "the lemma requires c_1, c_2 > 0. However, Lemma 3.1 has C(t) = c_1 sqrt(t), which means c_2 = 0, and Theorem 3.4 applies the lemma to it. This is a formality: for every c_2 > 0, rho(t) + c_2 / t satisfies Definition 2.1 with lambda (1 + c_2 / c_1) in place of lambda",
        "c_2 >= 0, where C_1 and C_2 are finite",
        e19,
    ),
    Erratum(
        "E20",
        "Eq. (14), first line",
        "the sum over epochs starts at s = 1, but batches are numbered from s = 0, as in the following lines. Therefore the rounds of the first batch are omitted",
        "the sum starts at s = 0",
        e20,
    ),
    Erratum(
        "E21",
        "Section 1 against Section 4",
        "Section 1 states that no existing algorithm for bandit convex optimization explicitly satisfies the conditions of Lemma 4.1. Section 4 states that the lemma applies immediately to the ellipsoidal methods of Bubeck et al. (2021), and directly to EXP4",
        "no check, because the package has neither method. The lemma needs an anytime bound that holds with probability 1 - O(T^-2)",
    ),
)
