"""Problem and algorithm as the paper's page shows them, and the titles of its figures."""

ALGORITHM = r"""
**Problem.** An adversary fixes convex losses $f_1, \dots, f_T$ on a convex set $\mathcal K \subset \mathbb R^n$. In each round you choose a point $y_t$ of $\mathcal K$ and observe a single number, the loss $f_t(y_t)$. The regret compares your losses with those of the best fixed point:

$$\mathcal R_T = \sum_{t=1}^T f_t(y_t) - \min_{x\in\mathcal K}\sum_{t=1}^T f_t(x).$$

**Algorithm** (PF, Algorithm 1 of the paper). The constants are $\delta = cT^{-1/5}$, $\alpha = \delta/r$, $\eta = \frac{D}{\sqrt2 nM}T^{-4/5}$ and $\sigma_t = t^{-2/5}$ (Theorem 1). In each round:

1. Play $y_t = x_t + \delta u_t$, where $u_t$ is uniform on the unit sphere (lines 5 and 6).
2. Estimate the gradient from the observed loss: $g_t = \frac n\delta f_t(y_t) u_t$ (line 7).
3. Add it to the regularized sum of the estimates: $F_t(x) = \eta\sum_{\tau<t} g_\tau^\top x + \lVert x-x_1\rVert^2$ (line 8).
4. Minimize a linear function over the set: $v_t = \arg\min_{x\in(1-\alpha)\mathcal K} \nabla F_t(x_t)^\top x$ (line 9). No projection is needed.
5. Move toward this point: $x_{t+1} = (1-\sigma_t)x_t + \sigma_t v_t$ (line 10).
"""

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
