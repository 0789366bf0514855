"""Numbers that Wang (2025) prints, with the places of our numbers.

The paper has no experiments. Its numbers are orders and constants of the theory.
"""

from ..reported import Reported

REPORTED = (
    Reported(
        "regret_against_T",
        "exponent of T in MASTER's regret, without knowledge of V_T (four abrupt changes)",
        "2/3, up to logarithms",
        "Theorem 3.4",
        "{claim('C1a')} over the horizons 2^12 to 2^20, with calibrated constants ({verdicts['C1a'].reason})",
    ),
    Reported(
        "regret_against_T",
        "regret of MASTER divided by V_T^(1/3) T^(2/3) (four abrupt changes, T = 2^20)",
        "at most a constant times powers of log T, plus a term of order sqrt(T)",
        "Theorem 3.4",
        "{claim('C1c')}, with calibrated constants",
    ),
    Reported(
        "regret_against_T",
        "exponent of T with restarts that know V_T: estimated gradient steps, Algorithm 2",
        "2/3 (for the first; the second is our addition)",
        "Section 1, Eq. (3)",
        "{claim('C2.egs')}, {claim('C2.slope')}",
    ),
    Reported(
        "regret_against_T",
        "exponent of T in the regret of hedging over restart schedules (bandit over bandit)",
        "3/4 in its additional term",
        "Section 1",
        "{claim('C6.slope')} up to T = 2^20",
    ),
    Reported(
        "regret_against_T",
        "exponent of T in the regret of Algorithm 2 alone, if the functions change",
        "no order is stated (not effective)",
        "Section 5",
        "{claim('C5')}",
    ),
    Reported(
        "regret_against_T",
        "exponents of V_T and T in the contributions of Section 1",
        "2/3 and 1/3 (a misprint of 1/3 and 2/3)",
        "Section 1",
        "{claim('C1b')} and {claim('C1a')}",
    ),
    Reported(
        "regret_against_V",
        "exponent of V_T in MASTER's regret, abrupt changes, T = 2^17",
        "1/3",
        "Theorem 3.4",
        "{claim('C1b')}, with calibrated constants",
    ),
    Reported(
        "regret_against_V",
        "exponent of V_T in MASTER's regret, rotation in every round, T = 2^17",
        "1/3",
        "Theorem 3.4",
        "{numbers['slopes, rotation'].MASTER.estimate}, with calibrated constants",
    ),
    Reported(
        "misspecification",
        "regret of restarts for a V_T that is a hundred times too small, as a multiple of the regret with the true V_T (eight changes, T = 2^17)",
        "above 1, possibly linear in T",
        "Section 1",
        "{numbers.abrupt9['Algorithm 2, oracle'] | at(0.01) / numbers.abrupt9['Algorithm 2, oracle'] | at(1)}; MASTER, which does not know V_T, has {numbers.abrupt9.MASTER.estimate / numbers.abrupt9['Algorithm 2, oracle'] | at(1)}",
    ),
    Reported(
        "stationary",
        "exponent of T in Algorithm 2's regret on stationary functions",
        "1/2, up to logarithms",
        "Lemma 3.1",
        "{claim('C7.algorithm2')}",
    ),
    Reported(
        "stationary",
        "exponent of T in the stationary regret of gradient steps proportional to 1 / t",
        "1/2, up to logarithms, also for arbitrary sequences",
        "Section 5",
        "{claim('C7.egs')} on stationary functions; {claim('C14.fast')} on a sequence that jumps every 64 rounds",
    ),
    Reported(
        "stationary",
        "exponent of T in MASTER's regret on stationary functions (V_T = 0)",
        "1/2, up to logarithms",
        "Theorem 3.4",
        "{claim('C1e')}, from 2^12 to 2^18, with calibrated constants",
    ),
    Reported(
        "dimension",
        "exponent of the dimension d in MASTER's regret, if functions change",
        "2",
        "Theorem 3.4",
        "{claim('C10')}, for d = 1 to 8; 3/2 follows from Wei & Luo's theorem (erratum E10)",
    ),
    Reported(
        "bonus",
        "bonus 2 kappa_0 of Algorithm 2 with the constants of the lemma, d = 8, T = 2^17",
        "sum of five terms",
        "Lemma 3.1",
        "the formula gives {numbers['by dimension'].printed | final}; {numbers['by dimension'].needed | final} was enough in 95 % of the trials",
    ),
    Reported(
        "constants",
        "first T at which Test 1 can trigger after a change of size 2, the largest possible, with the printed constants",
        "9 * 6 (log2 T + 1) * 6 kappa_0 / sqrt(t) as the threshold",
        "Algorithm 1 and Lemma 3.1",
        "{numbers['first T']['change worth 2'].printed.estimate} by the formula; the runs use calibrated thresholds",
    ),
    Reported(
        "coverage",
        "fraction of trials in which Algorithm 2 violates one of the two properties",
        "of order T^-2, with rho(t) = 6 kappa_0 / sqrt(t) and lambda = 6 kappa_0",
        "Definition 2.1 and Lemma 3.1",
        "{claim('C3.optimism')} (property 1) and {claim('C3.closeness')} (property 2), with rho(t) = 6 / sqrt(t) and lambda = 6",
    ),
    Reported(
        "reduction",
        "fraction of trials in which EXP3-IX violates property 2",
        "of order T^-2, with the printed sqrt(ln(2 T) / T)",
        "Lemma 4.1",
        "{claim('C8.printed')} with the printed rate, {claim('C8.t')} with t in place of T",
    ),
    Reported(
        "what_it_cannot_do",
        "regret of Algorithm 2 as a multiple of a static point's, with L = B_X = ln T and sigma = c_0 = 1 / ln T (stationary functions, T = 2^17)",
        "usable in practice",
        "Remark 3.2",
        "{claim('C9.printed')} with the printed N_0, {claim('C9.corrected')} with our corrected N_0",
    ),
)
