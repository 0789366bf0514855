"""What is wrong, loose or open in the paper's text, and what this package does about it.

``ERRATA`` has one line each; where numbers show the point, ``function`` returns them (``errata_numbers``).
None of it touches the algorithm; E11 changes the constant of Theorem 4.1.
Source: Calandriello, Carratino, Lazaric, Valko & Rosasco (2019).
"""

from ..verdicts.errata import Erratum
from .proofs import errata_numbers as numbers

ERRATA = (
    Erratum(
        "E1",
        "(2) against (5), (8), Theorem 3.1",
        "the variance of (2) lacks the factor 1 / lambda that all later formulas use",
        "s2 is the scaled variance phi^T A^{-1} phi everywhere; lambda s2 is the Gaussian process's",
        numbers.e1,
    ),
    Erratum(
        "E2",
        "Section 3, mean",
        "a row of m numbers multiplies the vector of t rewards",
        "Z_t(X_t)^T y_t",
    ),
    Erratum(
        "E3",
        "Algorithm 1",
        "the probability of a coin may exceed 1; a footnote sets that aside",
        "clipped at 1: a clipped term has no variance, and the proof stands",
        numbers.e3,
    ),
    Erratum(
        "E4",
        "Algorithm 1 and its text",
        "q for q-bar, a pull's index confused with the round's, and the new reward is never observed",
        "as in the docstring of BKB",
    ),
    Erratum(
        "E5",
        "Lemma C.1",
        "min{s2~, 1} in place of s2~: its lower side is false for unexplored arms; A for its inverse in the last display",
        "without the minimum",
        numbers.e5,
    ),
    Erratum(
        "E6",
        "Proposition B.1",
        "stated for the newest arm, where one side is an equality, and used for all arms in Appendix C.4",
        "for all arms",
        numbers.e6,
    ),
    Erratum(
        "E7",
        "Section 3.2",
        "the sum of variances is said to be at most gamma_t, which has a factor 1/2",
        "at most 2 gamma_t",
        numbers.e7,
    ),
    Erratum(
        "E8",
        "Proposition C.4",
        "the last step, exp(-2 d), is false",
        "exp(-(3 ln 3 - 2) d); the conclusion survives, since d is large",
        numbers.e8,
    ),
    Erratum(
        "E9",
        "Appendix D.1",
        "a logarithm drops lambda, then 1 + ln(kappa2 t + 1) becomes 2 ln(kappa2 t): false for small t, and later for small lambda",
        "radius corrected or online",
        numbers.e9,
    ),
    Erratum(
        "E10",
        "Proposition D.4, (7)",
        "the determinant enters with power 1, where the cited theorem has 1/2; an open parenthesis, and R for xi",
        "the sharp form",
        numbers.e10,
    ),
    Erratum(
        "E11",
        "Appendix D.2, Theorem 4.1",
        "the arm is chosen with A~_{t-1}, but the sum is bounded with A~_t, and the first round is left out: the theorem is false for small lambda",
        "a factor C_lambda, and 2 kappa F for the first round",
        numbers.e11,
    ),
    Erratum(
        "E12",
        "Theorem 4.1",
        "the events of accuracy and of noise, of delta each, are both used",
        "probability 1 - 2 delta",
        numbers.e12,
    ),
    Erratum(
        "E13",
        "Appendix C.4",
        "an event with log(t / delta) for q-bar, an index off by one, and factors q-bar and alpha that come and go",
        "the size of Theorem 3.1 without 1 + kappa2 / lambda",
        numbers.e13,
    ),
    Erratum(
        "E14",
        "Appendix C.3",
        "Bernstein's exponent lacks its sign, its prefactor is 4 t where 2 t is enough, R = 1 / q-bar lacks alpha, and sigmas lack squares",
        "the constants of the tight q-bar",
        numbers.e14,
    ),
    Erratum(
        "E15",
        "Appendix D.1, variance",
        "1 / lambda for 1 / sqrt(lambda) in a norm, an identity off by lambda, and a misplaced parenthesis",
        "||Phi~^T eta||^2_{A~^-1} = eta^T (I - lambda (K~ + lambda I)^-1) eta <= ||Phi^T eta||^2_{A^-1}",
        numbers.e15,
    ),
    Erratum(
        "E16",
        "Section 4.1",
        "squares, roots and factors 2 missing in five displays, y with the sketched features, Im of the transpose",
        "as in the docstrings of bounds",
    ),
    Erratum(
        "E17",
        "Section 3.2, cost",
        "m^3 in the total where a round has m^2, an open parenthesis, and O(T^2) for few arms",
        "A m^2 a round; T^2 needs about as many arms as rounds",
    ),
    Erratum(
        "E18",
        "Section 4",
        "12 is said to be the price of eps = 1/2, which leaves out 6 ln(4 T / delta), and the bound to be larger by 3 ln T only, without (2 alpha)^{3/2}",
        "not quoted",
        numbers.e18,
    ),
    Erratum(
        "E19",
        "Section 4, rates",
        "the exponent for Matern kernels has d^2 for d (d + 1); the Gaussian rate lacks sqrt(T)",
        "rates are not checked",
        numbers.e19,
    ),
    Erratum(
        "E20",
        "Figure 2",
        "bandwidth, noise, lambda, q-bar and seed are not given, nor the scale of the band",
        "gamma = 100, noise 0.1, lambda = noise^2, q-bar = 5, band on the scale of f",
    ),
    Erratum(
        "E21",
        "Sections 1 and 3",
        "GP-UCB is said to need A t^2 a round: true of a fit from scratch; rank-one updates need A t",
        "both are timed",
        numbers.e21,
    ),
    Erratum(
        "E22",
        "Section 2",
        "the loss of a recommended arm is bounded by R_T / T: it is equal, and for a random index",
        "noted",
    ),
    Erratum(
        "E23",
        "Section 4",
        "eps to 0 is said to give exact GP-UCB back: the posterior does, the radius keeps 2 sqrt(lambda) F",
        "noted",
        numbers.e23,
    ),
)
