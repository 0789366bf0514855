"""Errors, loose statements and open points of the paper's text, and how this package handles them.

``ERRATA`` has one entry for each. If numbers show the point, the function ``e<number>`` returns them.
No erratum affects the algorithm, or the order of its regret in T.
Source: Zhang, Xu, Zhao & Sugiyama (2025); letters as in ``paperlib.glbomd.theory.bounds``.
"""

import math

import numpy as np
import torch
from scipy.integrate import quad

from paperlib.glbomd.model.links import Bernoulli, Gaussian, Link, Poisson, kappa_ball
from paperlib.glbomd.model.setting import Setting
from paperlib.glbomd.problems import SphereArms
from paperlib.glbomd.theory.bounds import FORMS, regret_bound, ridge_condition

from ..verdicts import Erratum
from .proofs.lemmas import NODES, WEIGHTS, slope_integrals

DIM, HORIZON, DELTA = 5, 3000, 0.01  # d, T and delta of the paper's synthetic experiments


def _theory(link: Link, norm_bound: float) -> Setting:
    return Setting(link, norm_bound, DIM, ridge_condition(link, norm_bound, DIM, "theory"), DELTA)


def _weighted(start: float, end: float) -> float:
    """Return int_0^1 (1 - v) mu'(z_1 + v (z_2 - z_1)) dv of Lemma 8, for Poisson rewards."""
    ends = torch.tensor([start, end], dtype=torch.float64)
    return float(slope_integrals(Poisson(), *ends)[1])


def e1(rounds: int = 100) -> dict[str, float]:
    """Return a rule's regret relative to the worst arm (argmin, as printed), which is never positive, and to the best arm."""
    means = SphereArms().means(rounds)
    regret = lambda best: float((best - means[:, 0]).sum())
    return {"argmin": regret(means.min(1)), "argmax": regret(means.max(1))}


def e2() -> dict[str, float]:
    """Show that 0/1 rewards with g = 0.5 have the self-concordance 1 / g, above their range 1: the mean is sigmoid(z / g)."""
    dispersion = 0.5
    p = torch.sigmoid(torch.linspace(-20, 20, 2001, dtype=torch.float64) / dispersion)
    return {"range": 1.0, "constant": float((1 - 2 * p).abs().max()) / dispersion}


def e3() -> dict[str, float]:
    """Return |mu''| / mu' = 2 / |z| of the exponential distribution, mu = -1 / z; it is unbounded, so R = 0 is wrong."""
    return {f"z={z:g}": (2 / abs(z) ** 3) / (1 / z**2) for z in (-1.0, -0.1, -0.001)}


def e4(norm_bound: float = 3.0) -> dict[str, float]:
    """Return the coefficient of S_D2 in Lemma 4, as printed and as proved; the printed one lacks R S (logistic model)."""
    printed = 0.25 * (2 + 2 * norm_bound)
    return {"printed": printed, "proved": printed * norm_bound}


def e5(norm_bound: float = 3.0) -> dict[str, float]:
    """Return the coefficient of the logarithm in Lemmas 3 and 6; the informal Lemma 3 has half of it (logistic, d = 5)."""
    eta = 1 + norm_bound
    return {"Lemma 3": 1.5 * DIM * eta, "Lemma 6": 2 * DIM * 1.5 * eta}


def e6() -> dict[str, float]:
    """Show that dividing by g makes Theorem 2's bound too small for g > 1 and too large for g < 1 (Gaussian, S = 2)."""
    bound = lambda g, printed: (
        regret_bound(_theory(Gaussian(g), 2.0), HORIZON, 1.0, printed=printed).bound
    )
    forms = {"printed": True, "correct": False}
    return {f"{name}, g={g:g}": bound(g, forms[name]) for g in (4.0, 0.25) for name in forms}


def e7() -> dict[str, float]:
    """Show that the two factors in the proof of Lemma 7 give 2 alpha, where Eq. (22) prints alpha."""
    return {"factor": math.sqrt(4 / 3) * math.sqrt(3)}


def e8(start: float = 0.0, end: float = 4.0) -> dict[str, float]:
    """Show that Lemma 8's lower bound fails for z = z_2, because the weight 1 - v is not symmetric (mu = exp)."""
    least = lambda z: math.exp(z) / (2 + abs(end - start))
    return {
        "integral": _weighted(start, end),
        "claimed for z_2": least(end),
        "for z_1": least(start),
    }


def e9() -> dict[str, float]:
    """Show that E X_i^2 X_j^2 = 3 in Eq. (26) holds for i = j only; for i != j it is 1."""
    expected = lambda values: float((WEIGHTS * values).sum()) / math.sqrt(math.pi)
    return {"i = j": expected(4 * NODES**4), "i != j": expected(2 * NODES**2) ** 2}


def e10() -> dict[str, float]:
    """Show that Lemma 6's logarithm may start from 1, because M_0 = lambda / 2 I; 2 is valid but looser (logistic, S = 3)."""
    ratio = 2 * 0.25 * HORIZON / _theory(Bernoulli(), 3.0).ridge
    return {
        "printed": DIM * math.log(2 + ratio),
        "enough": DIM * math.log1p(ratio),
        "by trace": DIM * math.log1p(ratio / DIM),
    }


def e11(norm_bound: float = 3.0) -> dict[str, float]:
    """Show the ridges with and without Lemma 10's d, the cost of bounding a 1-d Gaussian by a d-dimensional one (logistic)."""
    return {form: ridge_condition(Bernoulli(), norm_bound, DIM, form) for form in FORMS}


def e14() -> dict[str, float]:
    """Show that the radius depends on C_mu: for Poisson rewards it grows at least like sqrt(kappa), and for R = 0 it is not 0."""
    return {
        **{f"Poisson, S={S}": _theory(Poisson(), float(S)).radius(1) for S in (3, 5, 7, 9)},
        "Gaussian, S=2": _theory(Gaussian(), 2.0).radius(1),
    }


def e15() -> dict[str, float]:
    """Show that an index may exceed S, although mu' <= C_mu is used there: the first round's largest, Poisson, lambda = 5."""
    radius = Setting(Poisson(), 3.0, DIM, 5.0, DELTA).radius(1)
    return {"S": 3.0, "largest index": radius / math.sqrt(5)}


def e16() -> dict[str, float]:
    """Show that Taylor's remainder with weight 1 - v has no factor 1/2 in front (mu = m = exp, from 0 to 4)."""
    start, end = 0.0, 4.0
    remainder = math.exp(end) - math.exp(start) - math.exp(start) * (end - start)
    integral = (end - start) ** 2 * _weighted(start, end)
    return {"remainder": remainder, "integral": integral, "printed": integral / 2}


def e17() -> dict[str, float]:
    """Show that Eq. (32) is false without kappa: V = I + sum X X^T / kappa grows slowly (d = X = 1, kappa = 150, 1,000 rounds)."""
    kappa, rounds = 150.0, 1000
    total = float((1 / (1 + np.arange(rounds) / kappa)).sum())
    log = math.log1p(rounds / kappa)
    return {"sum of widths": total, "printed": 4 * log, "with kappa": 4 * kappa * log}


def e18() -> dict[str, float]:
    """Show the factor that splitting the rounds costs Theorem 2, and a single Cauchy-Schwarz inequality saves (logistic, S = 3)."""
    setting, kappa_opt = _theory(Bernoulli(), 3.0), SphereArms(Bernoulli(), 3.0).kappa_opt(HORIZON)
    bound = lambda tight: regret_bound(setting, HORIZON, kappa_opt, tight=tight).bound
    return {"printed": bound(False), "tight": bound(True)}


def e19() -> dict[str, float]:
    """Show that Appendix D counts eta times the Hessian twice, because H~_t already contains it: the first step of an example."""
    # The example is logistic, with S = 3, d = 1, x = 1, r = 1 and theta_1 = 0.
    eta, ridge, slope, error = (4.0, 5.0, 0.25, 0.5)
    tilde = ridge + eta * slope
    return {"(42a)": eta * error / tilde, "printed": eta * error / (tilde + eta * slope)}


def e20(norm_bound: float = 3.0) -> dict[str, float]:
    """Return the warm-up length of RS-GLinCB with the theory's constants: 1 / threshold - lambda rounds, for a unit arm."""
    kappa = SphereArms(Bernoulli(), norm_bound).kappa_arms(HORIZON)
    log = DIM * math.log(HORIZON / DELTA)
    gamma = 25 * norm_bound * math.sqrt(log)
    return {"gamma": gamma, "threshold": 1 / (gamma**2 * kappa), "rounds": gamma**2 * kappa - log}


def e21() -> dict[str, float]:
    """Show that the reported kappas belong to the drawn arms at theta*, not to the definition (logistic, Poisson; S = 3, 5, 7).

    "norm" is the largest norm of arms for which the definition would give the kappa at theta*.
    """
    numbers = {}
    for link in (Bernoulli(), Poisson()):
        for S in (3.0, 5.0, 7.0):
            name = f"{type(link).__name__}, S={S:g}"
            kappa = SphereArms(link, S).kappa_arms(HORIZON)
            # Over the ball, kappa is 2 + 2 cosh(S ||x||) for the logistic link, and e^{S ||x||} for the exponential one.
            reach = math.acosh(kappa / 2 - 1) if isinstance(link, Bernoulli) else math.log(kappa)
            numbers[f"{name}, arms"] = kappa
            numbers[f"{name}, ball"] = kappa_ball(link, S)
            numbers[f"{name}, norm"] = reach / S
    return numbers


def e25() -> dict[str, float]:
    """Show that Theorem 1's ridge satisfies Lemma 11's condition g lambda >= 1, and another ridge may not (Gaussian, g = 4)."""
    setting = _theory(Gaussian(4.0), 2.0)
    return {"lambda": setting.ridge, "theory": 4 * setting.ridge, "lambda = 0.1": 4 * 0.1}


def e26() -> dict[str, float]:
    """Show that the bound of 100 on the rewards is too small at S = 5: in some rounds the best arm's mean exceeds it (Poisson)."""
    numbers = {}
    for S in (3.0, 5.0):
        best = SphereArms(Poisson(), S).best_means(HORIZON)
        numbers[f"S={S:g}, largest"] = float(best.max())
        numbers[f"S={S:g}, rounds above 100"] = int((best > 100).sum())
    return numbers


def e27() -> dict[str, float]:
    """Return the factors by which lambda = d is below the condition of Theorem 1."""
    cases = {
        "logistic, S=3": (Bernoulli(), 3.0),
        "Poisson, S=7": (Poisson(), 7.0),
        "Poisson, S=9": (Poisson(), 9.0),
    }
    return {name: ridge_condition(*case, DIM, "theory") / DIM for name, case in cases.items()}


def e30(norm_bound: float = 6.0) -> dict[str, float]:
    """Show that kappa = 200 does not match S = 6 and arms of norm 1, which give 405 (logistic)."""
    return {
        "quoted": 200.0,
        "kappa": kappa_ball(Bernoulli(), norm_bound),
        "norm of the arms for 200": math.acosh(99) / norm_bound,
    }


def e31() -> dict[str, float]:
    """Show that (43) holds for no constant C >= 1: integrand and domain are smaller (radial part, H = gamma = c = 1)."""
    integrand = lambda r, d, C: r ** (d - 1) * math.exp(-C * r * r / 2)
    radial = lambda d, C, reach: quad(integrand, 0, reach, (d, C))[0]
    numbers = {}
    for d in (1, 5):
        numbers[f"left, d={d}"] = radial(d, 1, 1.5)
        numbers |= {f"right, d={d}, C={C}": radial(d, C, 0.5) for C in (1, 2)}
    return numbers


ERRATA = (  # an entry without a function cannot be shown by a computation
    Erratum(
        "E1",
        "Section 2.1, x_{t,*}",
        "The optimal action is printed as an argmin.",
        "We use the argmax, as in the caption of Table 1.",
        e1,
    ),
    Erratum(
        "E2",
        "after Assumption 3",
        "The paper states that rewards in [0, R] are R-self-concordant. In general the constant is R / g, where g is the dispersion. Therefore R suffices for g >= 1 only.",
        "R is a constant of the family and does not follow from the range of the rewards.",
        e2,
    ),
    Erratum(
        "E3",
        "after Assumption 3",
        "The exponential distribution is listed with R = 0, but its ratio |mu''| / mu' is unbounded and its parameters are negative.",
        "We require families whose natural parameter can be any real number. Among them, only the Gaussian family has R = 0.",
        e3,
    ),
    Erratum(
        "E4",
        "Lemma 4",
        "The coefficient of S_D2, the sum of the squared Euclidean steps, lacks the factor R S that its proof has.",
        "We use the coefficient 2 eta R S C_mu / g.",
        e4,
    ),
    Erratum(
        "E5",
        "Lemma 3, informal",
        "The coefficient of the logarithm is half of the coefficient in Lemma 6.",
        "We use 3 d eta, which gives the 6 d eta^2 of Theorem 1.",
        e5,
    ),
    Erratum(
        "E6",
        "(30), (33), (35)",
        "The equations divide by the dispersion g where they have to multiply by it.",
        "We use G1 and G2 with g in the numerator. For g = 1 nothing changes.",
        e6,
    ),
    Erratum(
        "E7",
        "Lemma 7, (22)",
        "The equation has the factor alpha, but the lemma and the sum over rounds have 2 alpha.",
        "We use 2 alpha, which the proof gives.",
        e7,
    ),
    Erratum(
        "E8",
        "Lemma 8, (37)",
        "The lower bound of the weighted integral is claimed for both ends by symmetry, but the weight 1 - v is not symmetric.",
        "We use the bound for z_1 only. The proofs need no more.",
        e8,
    ),
    Erratum(
        "E9",
        "(26)",
        "The mixed fourth moment is set to 3 for all pairs of coordinates, but it is 1 for two different coordinates.",
        "The equation becomes an inequality. The matrix has rank one, so the result does not change.",
        e9,
    ),
    Erratum(
        "E10",
        "Lemma 6",
        "The determinant starts from lambda I and stops at t - 1, contrary to its definition.",
        "The smaller term ln(1 + 2 C_mu t / (lambda g)) is sufficient; the printed term is valid but looser.",
        e10,
    ),
    Erratum(
        "E11",
        "Lemma 10 inside Lemma 7",
        "The proof needs a Gaussian in one direction only, but uses the bound for d dimensions.",
        "The condition needs no factor d. We add two ridges without the factor d, called free and sharp.",
        e11,
    ),
    Erratum(
        "E12",
        "proof of Theorem 1, (11), (12); Lemma 4",
        "The error of theta_{t+1} is bounded in the norm of H_t instead of H_{t+1}. An index of the sum is wrong. Lemma 4 does not list Assumption 2.",
        "Lemma 4 has the right norm. The printed radius is valid for theta_t in the norm of H_t.",
    ),
    Erratum(
        "E13",
        "Sections 4.1 and 4.2",
        "Two cross-references point to the wrong place.",
        "The references must be to Lemma 1 for (8), and to (9) for the decomposition.",
    ),
    Erratum(
        "E14",
        "orders of the radius (Theorem 1) and of the regret (Theorem 2)",
        "The orders hide C_mu, the largest slope. It is exponential in S for Poisson rewards, although the paper states that the hidden constants do not depend on S. For R = 0 the orders give 0.",
        "We show radii and bounds as numbers. The radius is free of kappa only if the largest slope does not grow with S, as for logistic rewards.",
        e14,
    ),
    Erratum(
        "E15",
        "Theorem 2, (35)",
        "The slope is bounded by C_mu at a point that may be outside the ball.",
        "We use min(u_t, S) in the proof. The algorithm does not change.",
        e15,
    ),
    Erratum(
        "E16",
        "(28)",
        "The remainder of Taylor's formula has a factor 1/2 in addition to the weight 1 - v.",
        "We omit the factor 1/2. Equation (35) ends with the right constant.",
        e16,
    ),
    Erratum(
        "E17",
        "(32)",
        "The factor kappa is missing in the elliptical potential.",
        "We use 4 kappa d ln(...), with kappa >= 1. The paper's G2 contains this kappa.",
        e17,
    ),
    Erratum(
        "E18",
        "term (a2)",
        "A factor 2 is dropped, and it reappears in the result.",
        "The result is valid. A single Cauchy-Schwarz inequality gives a smaller bound.",
        e18,
    ),
    Erratum(
        "E19",
        "Appendix D",
        "The Hessian is added to a matrix that already contains it.",
        "We use (42a) with (H_t + eta Hessian)^{-1}.",
        e19,
    ),
    Erratum(
        "E20",
        "Appendix F.1",
        "The paper states that all parameters except lambda follow the theory. This cannot include RS-GLinCB, because with these constants its warm-up would not end within the run.",
        "We use the constants of the published code.",
        e20,
    ),
    Erratum(
        "E21",
        "experiments, kappa",
        "The paper defines kappa over the whole ball. With the arms that we identified, the reported values are those at the true parameter instead, the kappa_X of Section 3.3. The paper does not describe its arms. By the definition, the logistic values and the Poisson values would require arms of different largest norms.",
        "We report both: the values at the true parameter, which match the paper's values, and kappa by the definition.",
        e21,
    ),
    Erratum(
        "E22",
        "(2)",
        "The regularizer lambda ||theta||^2 lacks the usual factor 1/2. This is a convention, not an error.",
        "We use lambda / 2 ||theta||^2.",
    ),
    Erratum(
        "E23",
        "Lemmas 5, 7, 9 and 11, proof of Theorem 1",
        "The filtration of Lemma 5 does not contain X_t. Lemma 11 prints V_t instead of its inverse. Lemma 9 prints E X_0, and two covariances are misprinted.",
        "X_t is known before r_t. The norms are those of V_t^{-1} with V_1 = lambda I, the starting value is E M_0, and the covariance is alpha H_s^{-1}.",
    ),
    Erratum(
        "E24",
        "Appendix E",
        "There are three misprints: sqrt(T) for sqrt(log T), a sign in the logistic loss, and X_t for X_s.",
        "We use the forms of the main part of the paper.",
    ),
    Erratum(
        "E25",
        "(31), (32)",
        "The equations use Lemma 11 with g lambda as its lambda. The lemma requires at least 1, which the paper does not verify. The ridge of Theorem 1 satisfies it for the reward models of this package; in general, and if the ridge is set by hand, it may not be satisfied.",
        "The check of the lemma raises an error for such a setting.",
        e25,
    ),
    Erratum(
        "E26",
        "experiments, Poisson",
        "The paper announces three values of S and shows the regret at two. At S = 5, in the arm sets that we identified, the mean reward of the best arm exceeds the bound of 100 in some rounds.",
        "We show results at every S, and test the claim that rewards are effectively below 100.",
        e26,
    ),
    Erratum(
        "E27",
        "experiments, ridge",
        "The ridge lambda = d of the figures violates the condition of Theorem 1 in all settings.",
        'In our code this ridge is `"dim"`; `"theory"` is the ridge of Theorem 1. We measure the coverage of the confidence sets with `"dim"`.',
        e27,
    ),
    Erratum(
        "E28",
        "OFUGLB with Poisson rewards",
        "The Lipschitz constant of OFUGLB itself is valid only with probability 1 - delta.",
        "The sets fail with probability at most 2 delta, as the docstring of OFUGLB states.",
    ),
    Erratum(
        "E29",
        "Appendix F.1 against F.3",
        "Appendix F.1 states that no parameter except lambda is tuned. However, Appendix F.3 shrinks all confidence sets by a factor that is not reported and that determines the order of the methods.",
        "We show the results for a range of factors.",
    ),
    Erratum(
        "E30",
        "Appendix F.3",
        "The paper derives S = 6 and kappa = 200 from the data without stating how it scales them. With S = 6, the value 200 requires arms with a norm of at most 0.88.",
        "Our arms have norms of at most 1, which gives 405. We use 200 in the figure, and report 405.",
        e30,
    ),
    Erratum(
        "E31",
        "Appendix E, (43)",
        "The paper criticizes the proof of Lee and Oh (2025), which requires condition (43) for some constant of at least 1. It explains why the condition is hard to satisfy: the left side has the larger region and the larger integrand. This proves more than the paper states, because the condition then fails for every such constant.",
        "We only note this, because nothing depends on it.",
        e31,
    ),
    Erratum(
        "E32",
        "Section 5 against Appendix F.2",
        "For Poisson rewards, Section 5 states that GLB-OMD is 1000 times faster than OFUGLB. Appendix F.2 reports less than one second against 2783 seconds at S = 3, a factor of more than 2783.",
        "We test for a factor of at least 300.",
    ),
)
