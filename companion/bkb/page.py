"""Words of the paper's page and of its row in README: summary, problem and algorithm, main result, titles of figures."""

from ..verdicts import Finding

SAYS = """
GP-UCB selects the next of A arms by an upper confidence bound from the posterior of a Gaussian process. The exact update becomes
more expensive in every round. BKB approximates the posterior with a dictionary, which is a subset of the pulled arms. It
resamples the dictionary in every round, with probabilities proportional to the posterior variance and capped at 1. A round takes time
proportional to A times the square of the dictionary's size, and this size follows the effective dimension. If the dictionary is
sampled often enough (qbar in the hundreds), the approximate variance stays within a constant factor of the exact variance with high
probability. Therefore BKB's regret bound is the bound of GP-UCB up to constants
and logarithms. Earlier approximations can underestimate the variance far from the data (variance starvation).
"""

LEARNERS = ("paperlib.bkb.learners.bkb.BKB",)  # the paper's algorithm

ALGORITHM = r"""
**Problem.** In each round $t = 1, \dots, T$ you pull one of $A$ arms, a point $x_t$, and observe $y_t = f(x_t) + \eta_t$. The noise $\eta_t$ has standard deviation $\xi$. The function $f$ is unknown but smooth: its norm in the reproducing kernel Hilbert space of a kernel $k$ is at most $F$. The regret sums the expected rewards that you lose:

$$R_T = \sum_{t=1}^T \Big[\max_{x} f(x) - f(x_t)\Big].$$

**Algorithm** (BKB, Figure 1 of the paper). The dictionary $S_t$ is a subset of the pulls so far. The first arm is drawn at random and is the first dictionary. The ridge $\lambda$ is positive, $\xi^2$ in Section 2; $\varepsilon\in(0,1)$ is the accuracy, $\delta$ the failure probability, and $\bar q$ the oversampling. In each round:

1. Represent every arm by its coordinates in the span of the dictionary: $z_t(x) = (K_{S_t}^{1/2})^+ k_{S_t}(x)$ (Section 3.1).
2. Compute the posterior in these coordinates, with one row $z_t(x_s)^\top$ of $Z_t$ per pull and $V_t = Z_t^\top Z_t + \lambda I$: the mean $\tilde\mu_t(x) = z_t(x)^\top V_t^{-1} Z_t^\top y_t$ and the variance $\tilde\sigma_t^2(x) = \frac1\lambda\big(k(x, x) - z_t(x)^\top Z_t^\top Z_t V_t^{-1} z_t(x)\big)$.
3. Pull the arm with the largest upper confidence bound: $x_{t+1} = \arg\max_x \tilde\mu_t(x) + \tilde\beta_t \tilde\sigma_t(x)$ (4). The radius of Theorem 4.1 is $\tilde\beta_t = 2\xi\sqrt{\alpha\ln(\kappa^2 t)\sum_{s\le t}\tilde\sigma_t^2(x_s) + \ln(1/\delta)} + \big(1 + \tfrac{1}{\sqrt{1-\varepsilon}}\big)\sqrt\lambda F$ with $\alpha = \frac{1+\varepsilon}{1-\varepsilon}$ and $\kappa^2 = \max_x k(x, x)$.
4. Sample the dictionary again from all pulls, the new one included: keep each pull $x_i$ with probability $\min(1, \bar q \tilde\sigma_t^2(x_i))$, where $\tilde\sigma_t^2$ is the variance that chose the last arm.

In the code: steps 1 and 2 are [`fit_sketch`](../../paperlib/bkb/learners/posterior.py#fit_sketch), step 3 is `select` of [`KernelUCB`](../../paperlib/bkb/learners/ucb.py#KernelUCB) with the radius of [`Confidence`](../../paperlib/bkb/model/confidence.py#Confidence), step 4 is `update` of [`BKB`](../../paperlib/bkb/learners/bkb.py#BKB). The default radius of the library, `rule="practical"`, is smaller in our runs than the radius of Theorem 4.1, which is `rule="paper"`.
"""

THEOREM = r"""
With $\bar q \ge 6\alpha\ln(4T/\delta)/\varepsilon^2$, all variances are within the factor $\alpha$ of the exact ones, and the dictionary has at most of the order of $\bar q d_\mathrm{eff}$ points, with high probability (Theorem 3.1). Here $d_\mathrm{eff}$ is the effective dimension, the sum of the posterior variances at the pulled points. Then the regret is of order $\sqrt T\big(\xi D + \sqrt{\lambda F^2 D} + \xi\ln\frac1\delta\big)$ with $D = d_\mathrm{eff}\ln(\kappa^2T)$ (Theorem 4.1). Our runs have smaller $\bar q$ than the condition requires, unless stated otherwise.
"""

SYMBOLS = {  # symbols of the statements -> their meaning, in the order of the table
    "kappa2": "the largest k(x, x) of the arms; kappa is its square root",
    "||f||": "the norm of the unknown function f in the reproducing kernel Hilbert space of k; F is the known bound, and K here is the kernel matrix of the centers z_j",
    "xi": "the noise level; eta is the noise",
    "s2": "the exact posterior variance divided by the ridge lambda; s2~ is the sketched posterior variance divided by lambda",
    "alpha": "(1 + eps) / (1 - eps), where eps is the accuracy that the dictionary must have",
    "S_t": "the dictionary after round t, a subset of the pulls",
    "qbar": "the oversampling; each pull of x is kept with probability min(1, qbar s2~(x))",
    "d_eff(t)": "the effective dimension Tr K_t (K_t + lambda I)^{-1} of the first t pulls, also d_eff",
    "mu_t(x)": "the posterior mean of the learner after t observations; s2_t(x) is its posterior variance divided by lambda, exact for GP-UCB and sketched for BKB, and s_t(x) the square root; in Section 3.2 and the appendices, s2_t(x) is mostly exact for BKB, too",
    "beta_t": "the confidence radius of the learner's rule after t observations; beta_T in Theorem 4.1, corrected, is the largest one so far",
    "C_lambda": "u / ln(1 + u) for u = kappa2 / lambda",
    "K_T": "the kernel matrix of the first T pulled arms, also K; ||K|| is its largest eigenvalue",
    "(1) and (2)": "the exact mean k_t(x)^T (K_t + lambda I)^{-1} y, and the exact variance k(x, x) - k_t(x)^T (K_t + lambda I)^{-1} k_t(x) divided by lambda, where k_t(x) has the kernel values of x and the pulled arms, and y the rewards",
    "n": "the number of pulls of an arm, also n_i of arm x_i; sums of n s2_t are over the arms",
    "u": "a uniform random number per arm, which decides whether the arm is in the dictionary",
    "gamma_t": "the maximum of (1 / 2) ln det(I + K / lambda) over t pulls; the check uses a certified upper bound",
    "Phi_t": "the features phi of the first t pulls, one row per pull, also Phi, with phi(x)^T phi(x') = k(x, x'); A_t, also A, is Phi_t^T Phi_t + lambda I",
    "A~": "the matrix Phi~^T Phi~ + lambda I for the projected features Phi~ = Phi P, where P projects onto the span of the features in the dictionary; mu~ is the sketched mean",
    "jitter": "the multiple of the identity that a learner adds to the kernel matrix of its dictionary, 1e-12 kappa2 in the check",
    "SoR": "the subset of regressors, with the variance (P phi)^T A~^{-1} (P phi)",
    "e the accuracy": "the spectral norm e of A^{-1/2} Phi^T (W - I) Phi A^{-1/2}, where the diagonal matrix W has 1 / p for a kept pull with inclusion probability p, and 0 for every other pull",
}

MAIN = (
    "figure_2",
    "regret_parity",
    "cost_per_round",
)  # figures that the page shows first; the others are folded
FIGURES = {  # name of the file -> title, in the order of the page
    "figure_2": "Figure 2: the posterior far from the data",
    "regret_parity": "Regret compared with exact GP-UCB",
    "cost_per_round": "Run time per round",
    "starvation": "Variance starvation over time",
    "warm_start": "Regret after a start on half of the arms",
    "real_arms": "Regret on real data sets",
    "linear_regret": "Regret in linear bandits",
    "dictionary_size": "Size of the dictionary",
    "variance_ratio": "Accuracy of the approximate variance",
    "scaling": "Run time by rounds and arms",
    "confidence": "Confidence radii and their accuracy",
    "bounds": "Bounds of Theorem 4.1",
}

OUTCOME = (
    Finding(
        "BKB matches exact GP-UCB, as the paper's regret bounds suggest: it has {C4.P1} times the regret (in one dimension with oversampling qbar = 5, where BKB keeps most of the pulled arms).",
        {"C4.P1": "holds"},
    ),
    Finding(
        "GP-UCB with random Fourier features, which the paper calls not low-regret because the features may be too few, can have less regret than exact GP-UCB: {C23.parity} times with 50 features and without a warm start.",
        {"C23": "fails", "C23.parity": "fails"},
    ),
    Finding(
        "However, after a warm start on half of the arms and with the confidence radius times 0.2, it has {C23.warm50} times the regret of exact GP-UCB with 50 features, and {C23.warm} times with 20.",
        {"C23.warm": "holds", "C23.warm50": "reported"},
    ),
)

TERMS = {  # names in figures and tables -> meaning
    "BKB": 'the paper\'s algorithm with qbar = 5; a number is another qbar; "one sample per arm": `merge="arms"`, which keeps or drops all pulls of an arm together; "incremental": the dictionary is updated in each round, instead of sampled anew',
    "LazyBKB": "BKB that keeps its dictionary until the variance may have shrunk by a constant factor",
    "exact GP-UCB": 'GP-UCB without a sketch; "unique arms": with rank-one updates on the pulled arms; "refitted": the posterior is computed from the whole history in every round',
    "SoR": 'UCB with the variance of the subset of regressors; "adaptive": with BKB\'s dictionary rule; "20 fixed": with 20 arms fixed beforehand',
    "DTC": "UCB with BKB's variance (the deterministic training conditional) on 20 arms fixed beforehand",
    "RFF, QFF": "UCB on random or on quadrature Fourier features, with their number",
    "OFUL, SOFUL, CBRAP": "for linear rewards: UCB on the features; the same with a Frequent-Directions sketch, or on a random projection, with the number of rows or dimensions",
    "uniform play": "a random arm in every round",
}
