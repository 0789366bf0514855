"""Problem and algorithm as the paper's page shows them, and the titles of its figures."""

ALGORITHM = r"""
**Problem.** In each round $t = 1, \dots, T$ you choose an arm $x_t$ from a set of vectors $\mathcal X \subset \mathbb R^d$, and receive the reward $r_t = x_t^\top\theta_* + \varepsilon_t$. The parameter $\theta_*$ is unknown, with a norm of at most $S$, and the noise has scale $R$. The regret sums the expected rewards that you lose:

$$\mathrm{Regret}_T = \sum_{t=1}^T \Big[\max_{x\in\mathcal X} x^\top\theta_* - x_t^\top\theta_*\Big].$$

**Algorithm** (OFUL with the confidence set of Theorem 2). Start with $V_0 = \lambda I$. In each round:

1. Build the ellipse $\mathcal C_t = \lbrace\theta : \lVert\theta-\hat\theta_t\rVert_{V_t} \le \beta_t\rbrace$ around the ridge estimate $\hat\theta_t$, with $\beta_t = R\sqrt{2\ln\frac{\det(V_t)^{1/2}}{\det(\lambda I)^{1/2} \delta}} + \lambda^{1/2} S$.
2. Pull the arm that is best under the most favorable parameter of the ellipse: $(x_{t+1}, \tilde\theta_{t+1}) = \arg\max_{x\in\mathcal X, \theta\in\mathcal C_t} x^\top\theta$.
3. Update $V_{t+1} = V_t + x_{t+1}x_{t+1}^\top$, and $\hat\theta_{t+1}$ by ridge regression.
"""

MAIN = ("ellipsoid",)  # figures that the page shows first; the others are folded
FIGURES = {  # name of the file -> title, in the order of the page
    "ellipsoid": "Regret and confidence radii of OFUL and ConfidenceBall",
}
