"""What is wrong, loose or open in the paper's text, and what this package does about it.

``ERRATA`` has one line each; where numbers show the point, ``function`` returns them (``errata_numbers``).
E1 changes the algorithm, E3 to E9 the constant of Lemma 3.1, E10 the order in d, E13 the rate of Lemma 4.1.
Source: Wang (2025); what is said of Wei & Luo (2021) and of Schmidt, Le Roux & Bach (2011) is from general knowledge.
"""

from ..verdicts.errata import Erratum
from .proofs import errata_numbers as numbers

ERRATA = (
    Erratum(
        "E1",
        "Lemma 3.1, N_0",
        "ceil(c_0^-2) + 1 does not keep queries in X: delta_0 = N_0^{-1/4} must be at most c_0, which it is for c_0 above .76 alone",
        "N_0 = ceil((h / c_0)^4); sqrt(N_0) is then about c_0^-2, and so is the factor c_0^-1 of kappa_0",
        numbers.e1,
    ),
    Erratum(
        "E2",
        "Algorithm 2, line 6",
        "t_0 is set once and never moved on; in the proof one set of rounds has both 2 n_s and ceil((1 - gamma)^{-4s} N_0) members",
        "t_0 grows by 2 n_s after each coordinate",
        numbers.e2,
    ),
    Erratum(
        "E3",
        "Eq. (15) and (28)",
        "answers in [-1, 1] have range 2, so that sqrt(ln(2 T) / t) is exceeded with probability up to 2 (2 T)^{-1/2}, not T^{-2}; Eq. (4) has the factor 2. For property 2 the proof itself ends at 1 - O(1 / T), up to logarithms, where the lemma asks for 1 - O(T^-2)",
        "2 sqrt(ln(2 T) / t), 2 sqrt(t ln(d T)), and bounds that hold in all rounds at once",
        numbers.e3,
    ),
    Erratum(
        "E4",
        "Eq. (9) and (10)",
        "needs L >= 1 and ln(d T) >= 1; the errors are those of steps 0 to s - 1, not 1 to s, and lack a factor 1 / (1 - gamma); rounding n_s up costs 2^{1/4}; Proposition 1 of Schmidt et al. is about functions that need not be strongly convex",
        "a recursion that starts at z_0, in closed form and computed",
        numbers.e4,
    ),
    Erratum(
        "E5",
        "Eq. (13)",
        "strong concavity bounds the gap from below by (sigma / 2) ||x* - z||^2; from above smoothness does, with L / 2. ln(N T) is ln(d T)",
        "L / 2",
        numbers.e5,
    ),
    Erratum(
        "E6",
        "number of epochs",
        "ln T / (-4 ln(1 - gamma)) <= ln T / (1 - gamma) is false for gamma below .18: there are about ln T / (4 gamma), so that the constant must grow as sigma / L falls. A sum over epochs 0 to s has s + 1 terms",
        "S = 2 + ln(max(1, t / (2 d N_0))) / (4 ln(1 / q))",
        numbers.e6,
    ),
    Erratum(
        "E7",
        "Eq. (13), (17) to (20)",
        "a factor sqrt(2) and one of L are lost, L^2 appears in (20), putting 14 s^2 under 16 B_X^2 s^2 needs B_X >= 1, and sqrt(N_0) becomes c_0^-1, though N_0 >= c_0^-2 + 1 is larger",
        "all factors kept",
        numbers.e7,
    ),
    Erratum(
        "E8",
        "term D, Eq. (19)",
        "by Taylor L delta^2 / 2, not L^2 delta^2 / 2; then the factor is dropped",
        "(L / 2) delta_s^2 a round",
        numbers.e8,
    ),
    Erratum(
        "E9",
        "Eq. (22) to (25)",
        "in (22) means stand for the answers, whose noise is lost, and sums of 1 / sqrt(tau) are twice sqrt(t): the chain as printed ends at 8 kappa_0 + 2",
        "a one-sided argument gives (5 kappa_0 + 4 sqrt(l) + 1) / sqrt(t) from (21), so that 6 kappa_0 would be right if (21) were; with any b_0 that is proved (3 b_0 + 4 sqrt(l) + 1) / sqrt(t)",
        numbers.e9,
    ),
    Erratum(
        "E10",
        "Lemma 2.2 and Theorem 3.4",
        "lambda^{2/3}: Wei & Luo's bound for lambda Delta has (lambda V)^{1/3}",
        "lambda^{1/3}, with which d^2 becomes d^{3/2}",
        numbers.e10,
    ),
    Erratum(
        "E11",
        "Algorithm 1, rho-hat",
        "Wei & Luo's has a further logarithm of T / delta, and rewards in [0, 1]",
        "the printed form in the printed constants; thresholds are calibrated anyway",
        numbers.e11,
    ),
    Erratum(
        "E12",
        "Algorithm 2, r-bar",
        "may exceed 1, where no f does; Wei & Luo's optimistic value lies in the range of rewards",
        "min(1, r-bar), which keeps property 1 and helps property 2; clip=False has the printed one",
        numbers.e12,
    ),
    Erratum(
        "E13",
        "Lemma 4.1",
        "(27) lacks the factor t. The printed rho(t) contains sqrt(ln(2 T) / T), which does not depend on t; the proof, (33), has the summation index tau. The bonus in r-bar is sqrt(ln(2 T) / t), so that property 2 fails for small t. Lemma 2.2 needs t rho(t) = c_1 sqrt(t) + c_2, which the printed rho does not have. The average over tau of 2 rt + 3 e is replaced by one term, so that with t for T property 2 fails where regret comes late",
        "rho(t) = rt(t) + e(t) + (1 / t) sum [rt(tau) + 2 e(tau)], e(t) = 2 sqrt(ln(2 T) / t); the printed one is judged beside",
        numbers.e13,
    ),
    Erratum(
        "E14",
        "contributions, and cross-references",
        "V^{2/3} T^{1/3} for V^{1/3} T^{2/3}; Eq. (3) for the constraint on variation, which is Eq. (2), and (14) for (10); Eq. (1) for (2) in Section 1; t for tau at the end of the sum in (31); of for if in Test 2",
        "read so",
        numbers.e14,
    ),
    Erratum(
        "E15",
        "Definition 2.1 (2), and U_t in Algorithm 1",
        "r-bar_t - y_t in a sum over tau, and r-bar_t in a minimum over tau",
        "r-bar_tau - y_tau, r-bar_tau",
        numbers.e15,
    ),
    Erratum(
        "E16",
        "Remark 3.2",
        "L = B_X = ln T and sigma = c_0 = 1 / ln T mean gamma = 1 / ln^2 T, so that epochs hardly grow; with N_0 corrected (E1) the first has over a hundred thousand rounds at T = 2^20, and at smaller horizons the regret is that of never moving. With the printed N_0 it learns, but c_0 then no longer keeps its queries in every set",
        "not used; both are shown beside never moving (C9)",
        numbers.e16,
    ),
    Erratum(
        "E17",
        "Assumption 2",
        "one L bounds gradients and Hessians, so that gamma depends on units: for a round parabola it is one over the largest distance",
        "as printed in the algorithm; the numeric bound takes them apart (slope, curvature)",
        numbers.e17,
    ),
    Erratum(
        "E18",
        "Algorithm 2, gamma",
        "sigma = L is allowed by the assumptions, but (1 - gamma)^{-4} is then infinite",
        "gamma in (0, 1), else a ValueError",
        numbers.e18,
    ),
    Erratum(
        "E19",
        "Lemma 2.2",
        "the lemma requires c_1, c_2 > 0, but Lemma 3.1 has C(t) = c_1 sqrt(t), that is c_2 = 0, and Theorem 3.4 applies the lemma to it. A formality: for every c_2 > 0, rho(t) + c_2 / t satisfies Definition 2.1 with lambda (1 + c_2 / c_1) in place of lambda",
        "c_2 >= 0, with which C_1 and C_2 are finite",
        numbers.e19,
    ),
    Erratum(
        "E20",
        "Eq. (14), first line",
        "the sum over epochs starts at s = 1, but batches are numbered from s = 0, as in the lines below; the rounds of the first batch are left out",
        "the sum starts at s = 0",
        numbers.e20,
    ),
)
