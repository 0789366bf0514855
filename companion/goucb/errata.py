"""What is wrong, loose or open in the paper's text, and what this package does about it.

``ERRATA`` has one line each; where numbers show the point, ``function`` returns them (``errata_numbers``).
E2 to E7 and E12 change the constants of the theorems, E8, E9, E17 and E18 concern assumptions; E13 is why the printed settings do not search.
Source: Liu & Wang (2023); what is said of Abbasi-Yadkori et al. (2011) and of other methods is from general knowledge.
"""

from ..verdicts.errata import Erratum
from .proofs import errata_numbers as numbers

ERRATA = (
    Erratum(
        "E1",
        "(3) to (5), Lemma C.7",
        "sums begin at i = 0 where queries are x_1 to x_T, which are also the names of Phase I's; a step of Lemma C.7 sums from 1",
        "queries of Phase II are numbered 0 to T - 1, and t terms are known before query t: Sigma_0 = lambda I",
    ),
    Erratum(
        "E2",
        "Theorem 4.1",
        "T beta_T^2 / lambda^2 under the root. The proof has T^2 beta_T^2 / lambda^2, which is T times the term of Lemma 5.5. With lambda of order sqrt(T) both give the order dw^2 sqrt(T) / mu, but the printed one is not proved",
        "T^2",
        numbers.e2,
    ),
    Erratum(
        "E3",
        "Lemmas C.5 and C.6; use of Lemma B.3",
        "det Sigma_{t-1} where det Sigma_t is needed: C.5's proof has t terms, and at t = 1 the right side of C.6's last step is 0. Both lemmas are true, C.6 with 1 for 2. Lemma B.3 is used at Sigma_{i+1} with the determinant of Sigma_i, ln(1 / delta_i^2) loses its factor 2, and a union over rounds is not needed",
        "l_t in both; S_t <= min{t, dw, l_t}; Lemma B.3 for all rounds at once; the printed step is judged beside",
        numbers.e3,
    ),
    Erratum(
        "E4",
        "proof of Lemma 5.5",
        "Lemma C.6 is used for sum u_t^2, whose u_t are in the norm before g_t came in: x <= 2 ln(1 + x) fails for x above 2.51, so that lambda >= C_g^2 / 2.51 is needed",
        "kappa_K = K / ln(1 + K) with K = C_g^2 / lambda for 2; the printed step is judged beside",
        numbers.e4,
    ),
    Erratum(
        "E5",
        "Assumption 3.2",
        "bounds hold on W, but the estimates of (4) and the balls are not confined to it, and Taylor's theorem is used between them and w*",
        "constants of a larger set, which each run is held to",
        numbers.e5,
    ),
    Erratum(
        "E6",
        "Lemma 5.1, Theorem 5.2, proof of Lemma 5.3, Lemma B.1",
        "sigma is missing: that the range is 2 F bounds a variance by F^2, not F^2 / 4, and that of noise not at all. Lemma B.1 needs bounded answers, lacks F^2 in its last term, allows alpha = 1, and has log|F| log(2) for ln|F|",
        "B_L, with sigma^2 + F^2 and every constant",
        numbers.e6,
    ),
    Erratum(
        "E7",
        "Lemma C.1, covering",
        "C_h stands where a Lipschitz constant, C_g, is needed; 1 / eps^dw points are eps apart by coordinate, not in norm; and the best parameter of the grid is taken to be near the best of W",
        "B_L begins at the inequality that the minimizer over W satisfies against w*",
        numbers.e7,
    ),
    Erratum(
        "E8",
        "Assumption 3.3, c <= 1/2",
        "is said to lose nothing, since what holds for larger c holds for smaller: (1 - c)^2 tightens as c falls. In the limit a third derivative of at most 2 is asked for, whatever the units are; reference A has none such c",
        "not assumed",
        numbers.e8,
    ),
    Erratum(
        "E9",
        "Theorem 5.2, zeta and c",
        "self-concordance is not needed: the proof of Lemma C.3 has (mu / 2) ||w_0 - w*||^2 <= C' dw F^2 iota / n on its way, a better constant; nothing later uses c or zeta",
        "2 B_L / mu, and (8) without zeta / (mu c^2)",
        numbers.e9,
    ),
    Erratum(
        "E10",
        "Assumption 3.3, mu > 0",
        "makes w* unique in W: no network with two different hidden units has that where W holds their permutation, and f1 has mu = 0 but for the corner of [0, 1]^551 in which it lies",
        "the parameters of f nearest to w_0; a containment of functions, which does not ask which",
        numbers.e10,
    ),
    Erratum(
        "E11",
        "proof of Lemma 5.3",
        "(a + b + c)^2 <= 4 (a^2 + b^2 + c^2), where 3 will do; a norm by an indefinite Hessian; smoothness is Assumption 3.2, not 3.3; the universal constant of the induction depends on the problem, and that it is at least that of its first step is not checked",
        "3, and beta_T and lambda of one fixed point",
    ),
    Erratum(
        "E12",
        "Lemma 5.4",
        "2 beta_t C_h / lambda: twice what two remainders of Taylor's theorem add up to; its mean value of a vector needs another point for each inner product, which is harmless",
        "beta_t C_h / lambda, also of the linearized acquisition; the printed one is judged beside",
    ),
    Erratum(
        "E13",
        "Appendix D.1",
        "a learning rate of 1e-11 does not fit; lambda = sqrt(T) ln(T)^2 is 0 at T = 1; beta_t = dw^3 F^4 t / T drops two terms of (7) and is never reached. F, where the ascent starts, how it keeps to the ball and the box, the first weights, the batches of its stochastic gradient descent (here one, of all points), and the baselines' scaling and beta are not said",
        "literal() as printed, with each start; algorithm1() and practical() with settings that search",
        numbers.e13,
    ),
    Erratum(
        "E14",
        "Section 6, Appendices",
        "f2 and f3 lack parentheses behind the sum; the reference for scikit-learn is scikit-optimize's; Table 1 has the two norms the wrong way round. That f2 and f3 are misspecified does not make regret linear: TuRBO's, with its trust region, bends within the same 72 evaluations, on f2 by more than what counts as linear here, on f3 by less (C5)",
        "the usual Styblinski-Tang and Rastrigin functions",
        numbers.e14,
    ),
    Erratum(
        "E15",
        "Section 6, error bars",
        "five repetitions, intervals of each method by itself, called a test; with five pairs no two-sided signed-rank test rejects at 5 %. What is said of the gap between bars in Figure 3 reads as the opposite of what is meant",
        "paired trials, 20 on f1 to f3; on tuning folds with several designs",
        numbers.e15,
    ),
    Erratum(
        "E16",
        "Algorithm 1, output",
        "a query drawn at random, as the analysis has it; what is wanted is the best one",
        "the best answer by default; the drawn one on demand",
    ),
    Erratum(
        "E17",
        "Assumption 3.1, W in [0, 1]^dw",
        "is stated without loss of generality for any compact W. That is right after each parameter is rescaled, and C_g, C_h and mu then change with the side of W. The rescaling cannot be left out: with raw weights in [0, 1], every f_w of the network of Section 6 is nondecreasing in every coordinate, and the corner with the largest coordinates is optimal for every w",
        "W is any box [lo, hi]^dw, and its side enters the constants; reference B has W = [-3, 3]^7",
        numbers.e17,
    ),
    Erratum(
        "E18",
        "Assumption 3.3, c = O(T^(-1/4))",
        "the results are said to hold for such c. At c = a T^(-1/4) condition (8) asks for C dw^2 F^4 iota^2 zeta^2 / mu^2 < a^4. T remains only in iota, which grows with T. For each a the condition therefore fails from some T on. A c that vanishes more slowly, for example T^(-1/8), meets it for large T",
        "not assumed, because c is not needed (E9)",
        numbers.e18,
    ),
)
