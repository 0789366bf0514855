"""Words of the paper's page and of its row in README: summary, problem and algorithm, main result, titles of figures."""

from ..verdicts import Finding

SAYS = """
In a linear bandit, the mean reward of an arm is the inner product of its features with an unknown parameter vector. OFUL keeps a
confidence ellipsoid around the least-squares estimate and pulls the arm with the largest reward over all parameters in the ellipsoid.
The confidence radius comes from a self-normalized martingale bound and is much smaller than the radii of earlier methods. In this
project, the paper is the example of a small companion, and OFUL serves as a baseline for other papers.
"""

LEARNERS = ("paperlib.linear.learners.OFUL",)  # the paper's algorithm

ALGORITHM = r"""
**Problem.** In each round $t = 1, \dots, T$ you choose an arm $x_t$ from a set of vectors $\mathcal X \subset \mathbb R^d$, and receive the reward $r_t = x_t^\top\theta_* + \varepsilon_t$. The parameter $\theta_*$ is unknown, with a norm of at most $S$, and the noise has scale $R$. The regret sums the expected rewards that you lose:

$$\mathrm{Regret}_T = \sum_{t=1}^T \Big[\max_{x\in\mathcal X} x^\top\theta_* - x_t^\top\theta_*\Big].$$

**Algorithm** (OFUL with the confidence set of Theorem 2). Start with $V_0 = \lambda I$. In each round:

1. Build the ellipse $\mathcal C_t = \lbrace\theta : \lVert\theta-\hat\theta_t\rVert_{V_t} \le \beta_t\rbrace$ around the ridge estimate $\hat\theta_t$, with $\beta_t = R\sqrt{2\ln\frac{\det(V_t)^{1/2}}{\det(\lambda I)^{1/2} \delta}} + \lambda^{1/2} S$.
2. Pull the arm that is best under the most favorable parameter of the ellipse: $(x_{t+1}, \tilde\theta_{t+1}) = \arg\max_{x\in\mathcal X, \theta\in\mathcal C_t} x^\top\theta$.
3. Update $V_{t+1} = V_t + x_{t+1}x_{t+1}^\top$, and $\hat\theta_{t+1}$ by ridge regression.
"""

SYMBOLS = {  # symbols of the statements -> their meaning, in the order of the table
    "theta_t": "the ridge estimate of the unknown parameter theta* after t rounds",
    "V_t": "the matrix lambda I plus the sum over s <= t of x_s x_s^T, with the ridge lambda and the arm x_s of round s",
    "radius_t": "the confidence radius R sqrt(2 ln(det(V_t)^{1/2} det(lambda I)^{-1/2} / delta)) + lambda^{1/2} S",
}

MAIN = ("ellipsoid",)  # figures that the page shows first; the others are folded
FIGURES = {  # name of the file -> title, in the order of the page
    "ellipsoid": "Regret and confidence radii of OFUL and ConfidenceBall",
}

OUTCOME = (
    Finding(
        "OFUL has less regret than ConfidenceBall, as the paper reports: after 10,000 rounds the difference is {C1}, and OFUL's regret is less than a tenth of ConfidenceBall's, because its confidence radius is smaller.",
        {"C1": "holds"},
    ),
    Finding(
        "Even this radius is larger than needed here: at the end it is more than ten times the [observed error](docs/papers/linear.md#ellipsoid) of OFUL's estimate.",
        {"C1": "holds"},
    ),
)
