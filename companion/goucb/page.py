"""Words of the paper's page and of its row in README: summary, problem and algorithm, main result, titles of figures."""

from ..verdicts import Finding

SAYS = """
An expensive function is maximized in some tens of evaluations. It is assumed to belong to a parametric family, for example small
neural networks. GO-UCB first evaluates uniform points and fits the weights (Phase I). Then it evaluates the best point under the most
favorable weights in an ellipsoid around the current estimate (Phase II). If the function belongs to the family and the landscape of its
risk satisfies a condition, the paper proves regret of order sqrt(T) up to logarithms. At a fixed number of weights the bound does not
depend on the dimension of the points. The experiments compare GO-UCB with GP-UCB, GP-EI, GP-PI and TuRBO.
"""

LEARNERS = ("paperlib.goucb.learners.goucb.GOUCB",)  # the paper's algorithm

ALGORITHM = r"""
**Problem.** You want the maximum of an unknown function $f$ on a box $\mathcal X$, and each evaluation is expensive and noisy: $y_t = f(x_t) + \eta_t$ (1). The paper assumes that $f = f_{w_*}$ belongs to a known family of functions with parameter $w_*$ in a box $\mathcal W$, for example small neural networks. The regret sums the losses of all evaluations:

$$R_T = \sum_{t=1}^T \Big[\max_{x\in\mathcal X} f(x) - f(x_t)\Big].$$

**Algorithm** (GO-UCB, Algorithm 1 of the paper). Here $f_x(w)$ is the family's value at $x$ as a function of its parameter, and $g_i = \nabla f_{x_i}(\hat w_i)$.

1. Phase I: evaluate $n$ uniform points, and fit $\hat w_0$ to them by least squares (2).
2. Phase II, in each round, where $i$ counts the evaluations of Phase II only: update $\Sigma_t = \lambda I + \sum_{i<t} g_i g_i^\top$ (3).
3. Update the estimate $\hat w_t = \Sigma_t^{-1}\Big[\sum_{i<t} g_i\big(g_i^\top\hat w_i + y_i - f_{x_i}(\hat w_i)\big) + \lambda\hat w_0\Big]$ (5).
4. Evaluate the best point under the most favorable parameter of the ellipsoid $\mathrm{Ball}_t = \lbrace w : \lVert w-\hat w_t\rVert_{\Sigma_t}^2 \le \beta_t\rbrace$ (6): $x_t = \arg\max_{x\in\mathcal X} \max_{w\in\mathrm{Ball}_t} f_x(w)$.

In the code: steps 2 and 3 are `update` and step 4 is `select` of [`GOUCB`](../../paperlib/goucb/learners/goucb.py#GOUCB); the paper's settings are [`literal`](../../paperlib/goucb/learners/presets.py#literal); [`algorithm1`](../../paperlib/goucb/learners/presets.py#algorithm1) is the same algorithm with a fit and a search that work, and with our values of the constants.
"""

THEOREM = r"""
Let $f$ belong to the family, and let its risk grow around $w_*$ as Assumption 3.3 requires. With $n = \sqrt T$ evaluations in Phase I, $\lambda = C_\lambda\sqrt T$ and the $\beta_t$ of Lemma 5.3, the regret of both phases is of order $d_w^2\sqrt T/\mu$ up to logarithms, for $T$ above a constant (Theorem 4.1). Here $d_w$ is the number of weights, which grows with the dimension of the points for the paper's network, and $\mu$ is the strong convexity of the risk at $w_*$. The paper notes that $\mu$ can be small in practice, which makes the bound large (Section 7).
"""

SYMBOLS = {  # symbols of the statements -> their meaning, in the order of the table
    "w*": "the true parameter in the known box W, with f(x) = f_x(w*); in the runs, the one nearest to w_0 among the parameters of the same function",
    "f_x(w)": "the value at the point x of the model with parameter w; gradients and Hessians are with respect to w",
    "C_g": "the bound on the gradient norms, and C_h on the Hessian norms; in statements along runs, both also cover the estimates outside W",
    "w_0": "the least-squares estimate of Phase I; w_t is the estimate after t evaluations of Phase II",
    "B_L": "our bound on the risk L(w_0), of order (sigma^2 + F^2) (ln(1 / delta) + dw ln(n b C_g sqrt(dw) / F)) / n for a box W with side b",
    "mu": "the growth constant of the risk, with (mu / 2) ||w - w*||^2 <= L(w) on W; far from w*, tau and gamma are the coefficient and the exponent of the growth",
    "n": "the number of evaluations of Phase I; T is the number of evaluations of Phase II",
    "R_{n + T}": "the regret of both phases; r_t = f* - f(x_t) is the gap of evaluation t of Phase II to the maximum f* of f",
    "beta_T": "3 (sigma^2 (l_T + 2 ln(2 / delta)) + lambda B_0^2 + C_h^2 R^4 T S / 4) with B_0^2 = 2 B_L / mu in Theorem 4.1, the largest beta_t of the run in Lemma 5.5, and dw sigma^2 + 2 dw^3 / mu^2 in (7)",
    "kappa_K": "K / ln(1 + K) for K = C_g^2 / lambda",
    "l_T": "ln(det Sigma_T / det Sigma_0), also l_t with index t; in Theorem 4.1, the upper bound dw ln(1 + T C_g^2 / (dw lambda)) of this",
    "lambda": "the ridge; in Theorem 4.1, the smallest one that meets the condition of Lemma 5.3, localization",
    "Sigma_t": "the matrix lambda I plus the sum over i < t of g_i g_i^T, where g_i is the gradient of f_{x_i} at w_i",
    "rho_i": "the Taylor remainder f_{x_i}(w*) - f_{x_i}(w_i) - g_i^T (w* - w_i); eta_i = y_i - f_{x_i}(w*) is the noise, with variance sigma^2",
    "beta_t": "the squared radius of the ball; in most runs, sqrt(beta_t) is sigma sqrt(l_t + 2 ln(2 / delta)) + sqrt(lambda) ||w_0 - w*|| + (C_h / 2) max_{i < t} ||w_i - w*||^2 sqrt(t S_t), which is root in Ball_t",
    "R": "in Lemma 5.3, the bound with R^2 = 6 (B_0^2 + sigma^2 (l_T + 2 ln(2 / delta)) / lambda), where B_0^2 is at most the squared diameter of W, l_T is as in Theorem 4.1, and S is min{T, dw, l_T}; in Theorem 4.1, printed, the regret",
    "u_t(x)": "the norm ||g||_{Sigma_t^{-1}} of the gradient g of f_x at w_t; u_t is u_t(x_t)",
    "dw": "the number of parameters",
    "L(w)": "the risk, the mean of (f_x(w) - f_x(w*))^2 over uniform points x; H is its Hessian at w*",
    "iota": "ln(n C_h^2) + ln(2 / delta)",
    "max{...}": "in the check, zeta / (mu c^2) with c = 1/2 and the largest eigenvalue zeta of H; in the paper, the maximum of this and a term with tau and gamma",
}

MAIN = (
    "figure_1",
    "figure_2a",
    "figure_2b",
    "figure_2c",
    "figure_2d",
    "figure_3",
    "figure_4",
    "figure_5",
)  # figures that the page shows first; the others are folded
FIGURES = {  # name of the file -> title, in the order of the page
    "figure_1": "Figure 1: the risk near the true parameter",
    "figure_2a": "Figure 2a: test function f1",
    "figure_2b": "Figure 2b: test function f2",
    "figure_2c": "Figure 2c: test function f3",
    "figure_2d": "Addition to Figure 2: a random network",
    "figure_3": "Figure 3: tuning on the breast-cancer data",
    "figure_4": "Figure 4: tuning on the Australian credit data",
    "figure_5": "Figure 5: tuning on the diabetes data",
    "starts": "Regret by the start of the gradient ascent",
    "kappa": "Regret by the exploration parameter kappa",
    "field": "Comparison with methods in current use",
    "dimension": "Regret by the dimension",
    "tuning_ranks": "Tuning: average ranks of the methods",
    "tuning_field": "Tuning: methods in current use",
    "growth": "Growth of the regret with T",
    "coverage": "Coverage of the confidence balls",
    "statements": "Lemmas along runs",
    "vacuity": "Bounds compared with trivial bounds",
    "cost": "Run time per round",
}

OUTCOME = (
    Finding(
        "GO-UCB has less cumulative regret than [GP-UCB, GP-EI, GP-PI and TuRBO](docs/papers/goucb.md#c1) on all three test functions, as the paper reports (settings of its Appendix D.1; GP methods with unscaled inputs and BoTorch's priors of that time), if its gradient ascent starts at the best point observed so far; with [three other starts](docs/papers/goucb.md#starts) its mean regret on f1 and f2 is above TuRBO's.",
        {"C1": "holds"},
    ),
    Finding(
        "However, GO-UCB hardly searches on these functions: after its random first phase it only evaluates points very near the best point of that phase.",
        {"N1": "holds"},
    ),
    Finding(
        "A control that repeats this point has nearly the same mean regret (the largest difference is {N1:%} of the mean regret of a uniform point), and with scaled inputs or BoTorch's current prior at least one baseline has less regret on [f2](docs/papers/goucb.md#n3.f2) and on [f3](docs/papers/goucb.md#n3.f3).",
        {"N1": "holds", "N3.f2": "fails", "N3.f3": "fails"},
    ),
)

TERMS = {  # names in figures and tables -> meaning
    "GO-UCB": "the settings of Appendix D.1; its ascent starts at the best point observed so far",
    "practical": "our setting of GO-UCB, with a fit and a search that work, refits and a trust region",
    "Algorithm 1": "the algorithm as printed, with a fit and a search that work",
    "repeat-best": "a control that repeats the best point of Phase I",
    "kappa": "the exploration parameter sqrt(beta / lambda)",
    "raw, scaled, modern": "a baseline with unscaled inputs, with scaled inputs, or with BoTorch's current priors",
    "teacher": "a random network, which the model of GO-UCB contains",
    "reference A, B": "small problems of ours, whose assumptions can be checked",
    "exact oracle": "finds the global minimum on a reference problem",
}
