"""What is wrong, loose or open in the paper's text, and what this package does about it.

``ERRATA`` has one entry each; where numbers show the point, ``function`` is ``errata_numbers``' of that number.
None of it touches the algorithm or its orders of regret. Source: Zhang, Xu, Zhao & Sugiyama (2025).
"""

from ..verdicts.errata import Erratum
from .proofs import errata_numbers as numbers

_TEXTS = (  # id, where, what is wrong, what is done
    (
        "E1",
        "Section 2.1, x_{t,*}",
        "the optimal action is printed as an argmin",
        "argmax, as in the caption of Table 1",
    ),
    (
        "E2",
        "after Assumption 3",
        "rewards in [0, R] are said to be R-self-concordant; true for dispersion 1 only, and not sharp",
        "R comes with the family, not from the range of the rewards",
    ),
    (
        "E3",
        "after Assumption 3",
        "the exponential distribution is listed with R = 0; its ratio is unbounded and its parameters are negative",
        "families must cover the real line; R = 0 is the Gaussian alone",
    ),
    (
        "E4",
        "Lemma 4",
        "the coefficient of the Euclidean moves lacks the factor R S of its proof",
        "2 eta R S C_mu / g",
    ),
    (
        "E5",
        "Lemma 3, informal",
        "the logarithm has half of Lemma 6's coefficient",
        "3 d eta, which gives Theorem 1's 6 d eta^2",
    ),
    (
        "E6",
        "(30), (33), (35)",
        "the dispersion divides where it has to multiply",
        "G1 and G2 with g in the numerator; nothing changes for g = 1",
    ),
    (
        "E7",
        "Lemma 7, (22)",
        "alpha in the equation, 2 alpha in the lemma and in the sum",
        "2 alpha",
    ),
    (
        "E8",
        "Lemma 8, (37)",
        "the lower bound of the weighted integral is claimed for both ends by symmetry",
        "for z_1 only, all that the proofs use",
    ),
    (
        "E9",
        "(26)",
        "a mixed fourth moment is set to 3 for all pairs of coordinates",
        "an inequality; the matrix has rank one, so nothing changes",
    ),
    (
        "E10",
        "Lemma 6",
        "the determinant starts from lambda I and stops at t - 1, unlike its definition",
        "ln(1 + 2 C_mu t / (lambda g)) is enough",
    ),
    (
        "E11",
        "Lemma 10 inside Lemma 7",
        "a one-dimensional Gaussian is bounded by a d-dimensional one",
        "no factor d in the ridge: free, and sharp",
    ),
    (
        "E12",
        "proof of Theorem 1, (11), (12); Lemma 4",
        "the error of theta_{t+1} is bounded in H_t instead of H_{t+1}, an index of the sum is off, and Lemma 4 does not list Assumption 2",
        "Lemma 4 has the right norm; the printed radius is valid for theta_t in H_t",
    ),
    (
        "E13",
        "Section 4.1",
        "two cross-references point to the wrong place",
        "Lemma 1 for (8), and (9) for the decomposition",
    ),
    (
        "E14",
        "Theorem 1, order of the radius",
        "the order of the radius hides C_mu, exponential in S for Poisson, and gives 0 for R = 0",
        "radii as numbers; free of kappa for bounded slopes only",
    ),
    (
        "E15",
        "Theorem 2, (35)",
        "C_mu is used at a point that may lie outside the ball",
        "min(u_t, S) in the proof; the algorithm stays",
    ),
    (
        "E16",
        "(28)",
        "Taylor's remainder has a factor 1/2 besides the weight 1 - v",
        "without 1/2; (35) ends with the right constant",
    ),
    (
        "E17",
        "(32)",
        "kappa is missing in the elliptical potential",
        "4 kappa d ln(...), with kappa >= 1; G2 has it",
    ),
    (
        "E18",
        "term (a2)",
        "a factor 2 is dropped and comes back in the result",
        "the result stands; one Cauchy-Schwarz gives less",
    ),
    (
        "E19",
        "Appendix D",
        "the Hessian is added to a matrix that contains it",
        "(42a) with (H_t + eta Hessian)^{-1}",
    ),
    (
        "E20",
        "Appendix F.1",
        "parameters according to theory cannot be meant for RS-GLinCB: it would never end its warm-up",
        "the published code's constants",
    ),
    (
        "E21",
        "experiments, kappa",
        "the quoted numbers are not the kappa that the paper defines",
        "both are shown",
    ),
    ("E22", "(2)", "the regularizer lacks the 1/2 that all code has", "lambda / 2 ||theta||^2"),
    (
        "E23",
        "Lemma 5, Lemma 11",
        "the filtration leaves out X_t; V_t stands for its inverse; a starting value and a covariance are misprinted",
        "X_t is known before r_t; norms in V_t^{-1} with V_1 = lambda I; E M_0; alpha H_s^{-1}",
    ),
    (
        "E24",
        "Appendix E",
        "sqrt(T) for sqrt(log T), a sign in the logistic loss, X_t for X_s",
        "as in the paper's body",
    ),
    (
        "E25",
        "Lemma 11",
        "it needs g lambda >= 1, which a ridge set by hand may miss",
        "the check refuses such a setting",
    ),
    (
        "E26",
        "experiments, Poisson",
        "three values of S are announced and two shown; the bound 100 on rewards is below the best arm's mean at S = 5",
        "shown at every S, with the claim tested",
    ),
    (
        "E27",
        "experiments, ridge",
        "the figures' ridge d violates Theorem 1's condition throughout",
        "called dim, never theory, with its coverage measured",
    ),
    (
        "E28",
        "OFUGLB with Poisson rewards",
        "its Lipschitz constant itself holds with probability 1 - delta only",
        "the sets fail with probability at most 2 delta; its docstring says so",
    ),
    (
        "E29",
        "Appendix F.1 against F.3",
        "no tuning is claimed, yet all confidence sets are shrunk by a factor that is not given and decides the order",
        "the factor is swept",
    ),
    (
        "E30",
        "Appendix F.3",
        "kappa = 200 does not follow from S = 6",
        "200 in the figure, 405 reported",
    ),
    (
        "E31",
        "Appendix E, (43)",
        "the condition held against earlier work fails for every constant: the paper understates its case",
        "noted; nothing depends on it",
    ),
)
_WORDS = {"E12", "E13", "E22", "E23", "E24", "E28", "E29"}  # shown by no computation
ERRATA = tuple(
    Erratum(*text, None if text[0] in _WORDS else getattr(numbers, text[0].lower()))
    for text in _TEXTS
)
