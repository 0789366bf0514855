"""Words of the paper's page and of its row in README: summary, problem and algorithm, main result, titles of figures."""

from ..verdicts import Finding

SAYS = """
In bandit convex optimization the learner chooses a point of a convex set in each round and observes the loss at that point only. PF, the
method of the paper, estimates the gradient from this value. It then takes a Frank-Wolfe step, which minimizes a linear function over the
set, whereas other methods project onto the set. The paper argues that this is far cheaper, for example on sets of matrices. It proves a
regret bound of order n T^(4/5) in the number of rounds T and the dimension n, for losses with bounded gradients. Its experiments compare PF with FKM, which projects; with StochOCG, which observes
noisy gradients and is not a bandit algorithm; and with Unregularized, which is PF without its regularizer.
"""

LEARNERS = ("paperlib.pfbco.learners.pfbco.PFBCO",)  # the paper's algorithm

ALGORITHM = r"""
**Problem.** An adversary fixes convex losses $f_1, \dots, f_T$ on a convex set $\mathcal K \subset \mathbb R^n$. In each round you choose a point $y_t$ of $\mathcal K$ and observe a single number, the loss $f_t(y_t)$. The regret compares your losses with those of the best fixed point:

$$\mathcal R_T = \sum_{t=1}^T f_t(y_t) - \min_{x\in\mathcal K}\sum_{t=1}^T f_t(x).$$

**Algorithm** (PF, Algorithm 1 of the paper). The set contains the ball of radius $r$ around 0 and has the diameter $D$; no loss exceeds $M$ in absolute value. The constants are $\delta = cT^{-1/5}$, $\alpha = \delta/r$, $\eta = \frac{D}{\sqrt2 nM}T^{-4/5}$ and $\sigma_t = t^{-2/5}$ (Theorem 1). A larger $c$ explores farther from $x_t$, and the estimates are less noisy; the paper gives no value. Start at a point $x_1$ of $(1-\alpha)\mathcal K$, in our runs at 0. In each round:

1. Play $y_t = x_t + \delta u_t$, where $u_t$ is uniform on the unit sphere (lines 5 and 6).
2. Estimate the gradient from the observed loss: $g_t = \frac n\delta f_t(y_t) u_t$ (line 7).
3. Form the regularized sum of the estimates of earlier rounds; $g_t$ enters it in the next round: $F_t(x) = \eta\sum_{\tau<t} g_\tau^\top x + \lVert x-x_1\rVert^2$ (line 8).
4. Minimize a linear function over the set: $v_t = \arg\min_{x\in(1-\alpha)\mathcal K} \nabla F_t(x_t)^\top x$ (line 9). No projection is needed.
5. Move toward this point: $x_{t+1} = (1-\sigma_t)x_t + \sigma_t v_t$ (line 10).

If $T$ is unknown, Algorithm 2 runs PF in epochs of 1, 2, 4, ... rounds; our runs of Figure 1 do this, too. We multiply $\eta$ by $c$, because the proof [needs this](#e1). In the code: steps 1 and 2 are `select` and `estimate` of [`OnePoint`](../../paperlib/pfbco/learners/onepoint.py#OnePoint), steps 3 to 5 are `update` of [`PFBCO`](../../paperlib/pfbco/learners/pfbco.py#PFBCO), and the epochs are [`Doubling`](../../paperlib/learners/wrapper.py#Doubling).
"""

SYMBOLS = {  # symbols of the statements -> their meaning, in the order of the table
    "K": "the convex set of points, of dimension n; alpha K is the set of all alpha x with x in K",
    "c R G / r": "a term with the radius R of a ball around 0 that contains K, and the radius r of a ball around 0 in K",
    "y_t": "the played point x_t + delta u_t, with the center x_t and a random unit vector u_t, also u",
    "normalized coordinates": "coordinates in which K contains the unit ball around 0, so that r = 1",
    "c T^{-1/5}": "the exploration radius delta, which is no failure probability, with the exploration scale c in the unit of r; alpha is delta / r",
    "A T^{4/5}": "the leading term of the bound, with A = sqrt(2) n M D / c + (5 sqrt(2.3) / 4) D G + 2 c G + c R G / r; B is n M D / (2 sqrt(2) c)",
    "corrected learning rate": "eta = c D / (sqrt(2) n M) T^{-4/5}; the printed rate lacks the factor c",
    "FKM": "gradient descent with one-point estimates and projections, with delta = c T^{-1/4} and eta = c D / (n M) T^{-3/4}",
    "BlockPFBCO": "our variant, which explores around one center for round(sqrt(T)) rounds",
    "f^": "the average of f over the ball of radius delta around a point",
    "g_t": "the estimate (n / delta) f_t(y_t) u_t of the gradient",
    "x*_t": "the leader, the minimizer over (1 - alpha) K of F_t(x) = eta (g_1 + ... + g_{t-1})^T x + ||x - x_1||^2",
    "z": "a point of (1 - alpha) K; in the regret of the leader, the projection of the best fixed point on this set",
    "sigma_{t+1}": "the Frank-Wolfe step of round t + 1; sigma_t is t^{-2/5}",
    "h_t": "the gap F_t(x_t) - F_t(x*_t)",
    "H_t": "the largest h_t / D^2 that the one-step inequality allows, with sqrt(H_{t+1}) = b / 2 + sqrt((1 - sigma_t) H_t + sigma_t^2 + b^2 / 4), H_1 = 0 and b = T^{-3/5} / sqrt(2)",
    "kappa": "the constant in h_t <= kappa D^2 sigma_t, 2.3 in our proof and 2 in the paper",
    "psi(t)": "(kappa (sigma_{t+1} - sigma_t) + (kappa - 1) sigma_t^2) / sqrt(kappa sigma_{t+1})",
    "exploration": "the part sum f_t(y_t) - f_t(x_t) of the regret; tracking is the part sum f_t(x_t) - f_t(x*_t), and shrinking the part sum f_t(z) - f_t(x), where x is the best fixed point and z its projection on (1 - alpha) K",
}

MAIN = (
    "figure_1a",
    "figure_1b",
    "figure_1c",
    "time_per_round",
)  # figures that the page shows first; the others are folded
FIGURES = {  # name of the file -> title, in the order of the page
    "figure_1a": "Figure 1a: quadratic losses on a polytope",
    "figure_1b": "Figure 1b: portfolios of stocks",
    "figure_1c": "Figure 1c: matrix completion",
    "time_per_round": "Figure 1d: run time per round",
    "practical": "PF with constants that let it learn",
    "horizons": "Regret by the horizon",
    "growth": "Exponents of the regret",
    "parts": "Parts of the regret, and the anytime form",
    "tracking": "Distance from the leader that PF tracks",
    "statements": "Lemmas along runs",
}

OUTCOME = (
    Finding(
        "On the quadratic losses of Figure 1a, PF's average loss rises at first and later falls to {C1a.final} times its largest value, as the paper reports; our second criterion, that it also falls between the last two epochs in 90 % of the trials, is inconclusive.",
        {"C1a.final": "holds", "C6.a.pf": "holds", "C1a.epochs": "inconclusive"},
    ),
    Finding(
        "However, in Figure 1, at c = 0.1, our choice of a constant that the paper does not give, PF does not learn from its feedback: if the signs of the observed losses are flipped at random, its final average loss hardly changes ([Figure 1a](docs/papers/pfbco.md#n1.a), [1b](docs/papers/pfbco.md#n1.b) and [1c](docs/papers/pfbco.md#n1.c)).",
        {"N1.a": "holds", "N1.b": "holds", "N1.c": "holds"},
    ),
    Finding(
        "With practical constants, our addition, PF learns: on quadratic losses at c = 1 its loss over the last quarter of the rounds is {N2:%} of the loss of its control, but over all rounds, also with a warm start, it is {N4.center} times the loss of staying at the center.",
        {"N2": "holds", "N4.center": "holds"},
    ),
)

TERMS = {  # names in figures and tables -> meaning
    "PF": "the paper's Algorithm 1, in epochs (Algorithm 2) where T is unknown, with the step sizes of its theorem and our factor c on eta (E1)",
    "PF, practical": "the same with the scale of the losses measured instead of bounded, and the mean of earlier losses subtracted from each loss",
    "PF, warm": "PF, practical, in which each epoch starts where the last one ended",
    "PF, vertex at ties": "PF whose linear oracle returns a vertex where several points are optimal",
    "sign-flipped feedback": "a control: the sign of every observed loss is random, so that nothing can be learned",
    "FKM": "gradient descent with a one-point estimate and projections (Flaxman, Kalai and McMahan); 2005: with the constants of their paper",
    "Unregularized": "PF without the regularizer of its surrogate function",
    "StochOCG": "stochastic online conditional gradient, a baseline of the paper's experiments that is given a noisy gradient of each loss",
    "Leader": "PF that minimizes its surrogate function exactly in every round, instead of one Frank-Wolfe step",
    "Block": "our variant, which explores around one center for about sqrt(T) rounds and then minimizes its surrogate function by Frank-Wolfe",
}
