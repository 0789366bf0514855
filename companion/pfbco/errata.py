"""What is wrong, loose or open in the paper's text, and what this package does about it.

``ERRATA`` has one line each; where numbers show the point, ``function`` returns them (``errata_numbers``).
E1 changes the learning rate, E2 and E4 the constants of Theorem 1, E7 an oracle, E8 the first step, E9 a set.
Source: Chen, Zhang & Karbasi (2019).
"""

from ..verdicts.errata import Erratum
from .proofs import errata_numbers as numbers

ERRATA = (
    Erratum(
        "E1",
        "Theorem 1, (12)",
        "eta n M / (delta D) is T^{-3/5} / (sqrt(2) c) and not T^{-3/5} / sqrt(2): the proof needs c >= 1, whatever r is, where doubling needs c <= r, and the rate depends on the unit of length",
        'eta has a factor c; eta_rule="paper" keeps the printed one, and the printed bound is refused for c below 1',
        numbers.e1,
    ),
    Erratum(
        "E2",
        "proof of Theorem 1, one step of Frank-Wolfe",
        "D^2 sigma^2 / 2 where a function of Hessian 2 I has D^2 sigma^2: the induction with h_t <= 2 D^2 sigma_t fails",
        "h_t <= 2.3 D^2 sigma_t, so that 5 sqrt(2.3) / 4 for 5 sqrt(2) / 4 in front of D G; the printed bound is reported, not judged",
        numbers.e2,
    ),
    Erratum(
        "E3",
        "Lemma 6",
        "the Hessian of ||x - x_1||^2 is 2 I, not I: harmless, and the constant 2 may be 1/2",
        "both are checked",
        numbers.e3,
    ),
    Erratum(
        "E4",
        "proof of Theorem 1, smoothing",
        "both differences of f and its average are bounded by delta G; by Jensen one of them has the right sign",
        "2 c G for 3 c G",
        numbers.e4,
    ),
    Erratum(
        "E5",
        "indices and words",
        "g_{t+1} for g_t in F_{t+1}, where t = T would need g_{T+1}; the 1 of y = 2nx - 1 is the vector of ones; (3) has min for argmin, and K where line 9 of Algorithm 1 has (1 - alpha) K; Theorem 2 has = for <=, T for t, and beta for A + B; W_T for W_{T+1}; alpha < 1 may be alpha <= 1; "
        "strong convexity lacks f in two places, the regret has D for K and a supremum over losses inside the expectation, where the proof needs losses fixed before the run",
        "as in the docstrings of theory and bounds",
    ),
    Erratum(
        "E6",
        "experiments, portfolio",
        "the set contains the empty portfolio, whose loss is infinite, so that no M or G exists; wealth not invested is lost, and learning mostly means to invest it",
        "M and G over the points that Algorithm 1 touches, with alpha of the whole horizon",
        numbers.e6,
    ),
    Erratum(
        "E7",
        "experiments, matrix completion",
        "the closed form of the oracle is that of {X >= 0, tr X = k}, not of the nuclear ball; the dimension of the estimates is not said",
        "three modes, and p (p + 1) / 2 coordinates; nothing is certified with the printed oracle",
        numbers.e7,
    ),
    Erratum(
        "E8",
        "Algorithm 1, t = 1",
        "the first gradient is 0, every point is an argmin, and sigma_1 = 1 makes the solver's choice the next center",
        'v_1 = x_1; tie="vertex" takes the oracle\'s answer to 0',
        numbers.e8,
    ),
    Erratum(
        "E9",
        "experiments, the ball inside",
        "a set is said to be shrunk so that a ball about the origin lies inside, but the origin is a vertex of the polytope",
        "it is moved to its Chebyshev center and scaled",
        numbers.e9,
    ),
    Erratum(
        "E10",
        "experiments, StochOCG",
        'noise "of standard deviation n": whether a coordinate, in which coordinates, and whether G has it',
        'a coordinate, normalized, and G of the exact gradient; bound="noisy" has it',
        numbers.e10,
    ),
    Erratum(
        "E11",
        "experiments, FKM",
        "no constants are given",
        "those of Hazan's book with c, and those of 2005 with delta up to r",
        numbers.e11,
    ),
    Erratum(
        "E12",
        "experiments",
        "n, m and T of the quadratic problem, T of matrix completion, c, M, D, G and x_1 are not given, nor how M is known for unbounded losses",
        "c = .1 and 1, x_1 = 0, M and G of the very losses of a trial; Theorem 1 says nothing at these sizes",
        numbers.e12,
    ),
    Erratum(
        "E13",
        "experiments, average loss",
        "f_t(x_t) is averaged, while a bandit learner suffers f_t(y_t)",
        "losses of the points played",
        numbers.e13,
    ),
    Erratum(
        "E14",
        "experiments, dates",
        "the first day, 2013-02-18, is no trading day",
        "from 2013-02-19 on",
        numbers.e14,
    ),
    Erratum(
        "E15",
        "experiments, matrix completion, scale",
        "the matrices have nuclear norms of about k p under a bound of k: losses differ by a few percent over the whole set",
        "shown as they are, with the loss at 0 taken off beside",
        numbers.e15,
    ),
)
