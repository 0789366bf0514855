"""Statements about the variances along a run, and about the numbers in a learner's states along it.

A ``Replay`` recomputes the exact posterior from the sequence of arms alone. Variances come from rank-one updates of the full
covariance. Determinant and effective dimension also come from a dense Cholesky factor of K_T + lambda I, whose leading blocks
are the factors of all earlier rounds. No learner computes in either way. The statements about its variances (Propositions
B.1, B.3, the repaired Appendix D.2) hold on every sequence of arms, so that one violation means an error. Propositions C.4
and D.4 are about probabilities.

``Own`` is a replay whose variances are the learner's. With it the same statements test the learner. Four more statements compare
the learner's posterior, radius, choice and dictionary with values computed from its arms and rewards. This module shares no
code with the learners for these computations.
Source: Calandriello et al. (2019), Sections 2 and 3.2, Algorithm 1, Theorem 4.1, Appendices B, C and D.
Letters: as in ``paperlib.bkb.theory.constants``; K_t Gram matrix of the first t arms, s2_t scaled variance after t observations, x_t arm of round t,
u uniforms, n_i pulls of arm i, gamma_T information gain.
Shapes: R trials, T rounds, A arms. Index t - 1 of a tensor belongs to round t, unless stated otherwise.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np
import torch
from scipy.stats import binom, poisson
from torch import Tensor

from paperlib.bkb.model.confidence import Confidence
from paperlib.bkb.model.slots import take_points
from paperlib.bkb.theory.constants import (
    PAPER,
    ROUNDING,
    exact_horizon,
    potential_factor,
    size_failure,
)
from paperlib.checks import Check, statement
from paperlib.core.describe import frozen_dataclass
from paperlib.core.streams import Streams
from paperlib.core.trace import Trace
from paperlib.core.validation import check_in
from paperlib.maths.gp import RBF, Kernel

from .sketch_lemmas import Snapshot

ITERATIONS = 5000  # largest number of multiplicative updates


@frozen_dataclass(eq=False)
class Replay:
    """Pulled arms of R trials over T rounds, and the exact posterior that they give."""

    kernel: Kernel
    arms: Tensor  # 1 x A x d or R x A x d
    ridge: float  # lambda
    index: Tensor  # R x T, pulled arms

    @classmethod
    def of(cls, trace: Trace, kernel: Kernel, arms: Tensor, ridge: float) -> "Replay":
        """Return the replay of a trace that contains "arm" (``core.rounds.played_action``) for every round.

        Raises:
            ValueError: rounds are missing.
        """
        if len(trace.rounds) != trace.rounds[-1]:
            raise ValueError(
                f"trace must contain all {trace.rounds[-1]} rounds, got {len(trace.rounds)}. Use record='all'"
            )
        return cls(kernel, arms, ridge, torch.from_numpy(trace["arm"]).long())

    @property
    def rounds(self) -> Tensor:
        """The rounds 1, ..., T."""
        return torch.arange(1, self.index.shape[1] + 1, dtype=torch.float64)

    @cached_property
    def gram(self) -> Tensor:
        """Kernel matrix K of all arms, 1 or R x A x A."""
        return self.kernel(self.arms, self.arms)

    @cached_property
    def diagonal(self) -> Tensor:
        """k(x_i, x_i), 1 or R x A."""
        return self.kernel.diag(self.arms)

    @cached_property
    def kappa2(self) -> float:
        """Largest k(x_i, x_i)."""
        return float(self.diagonal.max())

    @cached_property
    def variance(self) -> Tensor:
        """s2_t of all arms for t = 0, ..., T, R x (T + 1) x A; here index t is the variance after t observations."""
        R, T = self.index.shape
        covariance = self.gram.expand(R, -1, -1).clone()
        found = [self.diagonal.expand(R, -1)]
        for t in range(T):
            # One observation of x_t subtracts k_t(., x_t) k_t(., x_t)^T / (k_t(x_t, x_t) + lambda) from the covariance k_t.
            row = covariance[torch.arange(R), self.index[:, t]]
            row = row / (row.gather(1, self.index[:, t : t + 1]) + self.ridge).sqrt()
            covariance.baddbmm_(row.unsqueeze(2), row.unsqueeze(1), alpha=-1.0)
            found.append(covariance.diagonal(dim1=1, dim2=2).clamp(min=0))
        return torch.stack(found, 1) / self.ridge

    def _of_played(self, values: Tensor) -> Tensor:
        return values.gather(2, self.index.unsqueeze(2)).squeeze(2)

    @cached_property
    def played(self) -> Tensor:
        """s2_{t-1}(x_t), R x T."""
        return self._of_played(self.variance[:, :-1])

    @cached_property
    def settled(self) -> Tensor:
        """s2_t(x_t), R x T."""
        return self._of_played(self.variance[:, 1:])

    def _sums(self, values: Tensor) -> Tensor:
        """Return the cumulative sums of a number per round, added to the pulled arm, R x T x A. ``values``: R x T."""
        none = torch.zeros(*self.index.shape, self.arms.shape[1], dtype=torch.float64)
        return none.scatter_(2, self.index.unsqueeze(2), values.unsqueeze(2)).cumsum_(1)

    @cached_property
    def counts(self) -> Tensor:
        """Pulls n of all arms, R x T x A."""
        return self._sums(torch.ones(self.index.shape, dtype=torch.float64))

    @cached_property
    def log_det(self) -> Tensor:
        """ln det(I + K_t / lambda) as a sum of ln(1 + s2_{s-1}(x_s)), R x T."""
        return self.played.log1p().cumsum(1)

    @cached_property
    def effective(self) -> Tensor:
        """d_eff(t) as sum_i n_i s2_t(x_i), R x T."""
        return (self.counts * self.variance[:, 1:]).sum(2)

    @cached_property
    def factor(self) -> Tensor:
        """Cholesky factor of K_T + lambda I, R x T x T; its leading t x t block is the factor of round t."""
        points = take_points(self.arms, self.index)
        eye = torch.eye(points.shape[1], dtype=torch.float64)
        return torch.linalg.cholesky(self.kernel(points, points) + self.ridge * eye)

    def whitened(self, rows: Tensor) -> Tensor:
        """Return L_T^{-1} times ``rows`` (R x T x k), R x T x k; its row t is the last row of L_t^{-1} times the first t rows."""
        return torch.linalg.solve_triangular(self.factor, rows, upper=False)

    @cached_property
    def dense_log_det(self) -> Tensor:
        """ln det(I + K_t / lambda) from the factor, R x T."""
        roots = self.factor.diagonal(dim1=1, dim2=2)
        return 2 * roots.log().cumsum(1) - self.rounds * math.log(self.ridge)

    @cached_property
    def dense_effective(self) -> Tensor:
        """Tr K_t (K_t + lambda I)^{-1} = t - lambda ||L_t^{-1}||_F^2, R x T."""
        inverse = self.whitened(torch.eye(self.index.shape[1], dtype=torch.float64))
        return self.rounds - self.ridge * inverse.square().sum(2).cumsum(1)

    def noise_energy(self, noise: Tensor) -> Tensor:
        """Return ||Phi_t^T eta_t||^2 in the norm of A_t^{-1} as ||eta||^2 - lambda ||L_t^{-1} eta||^2, R x T. ``noise``: R x T."""
        white = self.whitened(noise.unsqueeze(2)).squeeze(2)
        return (noise.square() - self.ridge * white.square()).cumsum(1).clamp(min=0)

    def norm(self, rounds: Sequence[int]) -> Tensor:
        """Return ||K_t|| for the given rounds, R x len(rounds)."""
        # diag(n)^{1/2} K diag(n)^{1/2} of the arms has the same nonzero eigenvalues as K_t of the pulls.
        root = self.counts[:, [t - 1 for t in rounds]].sqrt()
        weighted = self.gram.unsqueeze(1) * root.unsqueeze(2) * root.unsqueeze(3)
        return torch.linalg.eigvalsh(weighted)[..., -1]

    def some_rounds(self) -> list[int]:
        """Return about ten evenly spaced rounds, including the last."""
        return sorted({max(1, round(self.index.shape[1] * i / 10)) for i in range(1, 11)})


# Numbers in a learner's states ----------------------------------------------------------------------------


@frozen_dataclass(eq=False)
class Own(Replay):
    """Replay whose ``variance`` is the learner's; ``played``, ``settled``, ``log_det`` and ``effective`` follow from it.

    The dense quantities (``factor``, ``dense_log_det``, ``dense_effective``, ``norm``) still come from the arms alone.
    """

    confidence: Confidence
    reward: Tensor  # R x T
    mean: Tensor  # R x T x A, after each round
    s2: Tensor  # R x T x A
    information: Tensor  # R x T, the learner's sum of ln(1 + s2_{s-1}(x_s))
    effective_sum: Tensor  # R x T, the learner's sum of n s2_t
    beta: Tensor  # R x T, radius that chose the round's arm
    mask: Tensor | None = None  # R x T x A bool, the dictionary

    @classmethod
    def by(cls, trace: Trace, run: Replay, confidence: Confidence) -> "Own":
        """Return the replay for a trace with the probes ``probes.own_numbers`` in every round, given the replay of its arms."""
        recorded = ("reward", "mean", "s2", "information", "effective", "beta")
        return cls(
            *(run.kernel, run.arms, run.ridge, run.index, confidence),
            *(torch.from_numpy(trace[name]).double() for name in recorded),
            mask=torch.from_numpy(trace["mask"]) > 0 if "mask" in trace.series else None,
        )

    @cached_property
    def variance(self) -> Tensor:
        """The learner's s2_t of all arms for t = 0, ..., T, R x (T + 1) x A; the first is the prior variance."""
        prior = (self.diagonal / self.ridge).expand(len(self.index), -1)
        return torch.cat([prior.unsqueeze(1), self.s2], 1)

    def shots(self) -> list[Snapshot]:
        """Return snapshots of each trial at about ten evenly spaced rounds, which the statements about one dictionary need."""
        arms, totals = self.arms.expand(len(self.index), -1, -1), self._sums(self.reward)
        return [
            Snapshot(
                self.kernel,
                arms[trial],
                self.counts[trial, t - 1],
                self.mask[trial, t - 1],
                self.ridge,
                self.s2[trial, t - 1],
                mean=self.mean[trial, t - 1],
                total=totals[trial, t - 1],
            )
            for trial in range(len(self.index))
            for t in self.some_rounds()
        ]


def coins(seed: int, trials: int, rounds: int, arms: int) -> Tensor:
    """Return the uniforms behind the sampled dictionaries of a run, R x T x A: functions of seed, trial and round."""
    streams = Streams(seed, range(trials))
    return torch.stack([streams.at(t).uniform("dictionary", arms) for t in range(rounds)], 1)


def radius_of(run: Own) -> Tensor:
    """Return beta_t for t = 1, ..., T by the rule's formula, from the learner's variances, R x T.

    Raises:
        ValueError: the rule has no such formula.
    """
    c, t = run.confidence, run.rounds
    check_in("rule", c.rule, ("paper", "corrected", "online", "practical"))
    L, bias = math.log(1 / c.delta), math.sqrt(run.ridge) * c.norm_bound
    if c.rule == "practical":  # the radius of Abbasi-Yadkori (2012) for the exact posterior
        return c.scale * (c.noise * torch.sqrt(run.log_det + 2 * L) + bias)
    sketched = (1 + 1 / math.sqrt(1 - c.eps)) * bias
    if c.rule == "paper":
        # Theorem 4.1 as printed; the logarithm is clamped, because it is negative before kappa2 t = 1.
        inside = c.alpha * (run.kappa2 * t).log().clamp(min=0) * run.effective + L
        return c.scale * (2 * c.noise * inside.sqrt() + sketched)
    if c.rule == "corrected":  # Appendix D.1 with lambda kept in the logarithm (E9)
        inside = c.alpha * (1 + (run.kappa2 * t / run.ridge).log1p()) * run.effective + 2 * L
    else:  # online: s2 <= alpha s2~, except in the first round, whose variance is the prior variance
        inflated = torch.cat([run.played[:, :1], c.alpha * run.played[:, 1:]], 1)
        inside = inflated.log1p().cumsum(1) + 2 * L
    return c.scale * (c.noise * inside.sqrt() + sketched)


def _rule(run: Own) -> dict[str, float | str]:
    return {"T": run.index.shape[1], "lambda": run.ridge, "rule": run.confidence.rule}


@statement("Section 2, posterior", f"{PAPER}, (1) and (2)")
def posterior(run: Own) -> Check:
    """A learner's mu_t and s2_t equal (1) and (2) for all arms and rounds, solved by one Cholesky factor of K_T + lambda I."""
    cross = run.kernel(run.arms.expand(len(run.index), -1, -1), run.arms)
    rows = cross.gather(1, run.index.unsqueeze(2).expand(-1, -1, cross.shape[2]))
    half = run.whitened(rows)  # L^{-1} k_t(x), row by row
    mean = (half * run.whitened(run.reward.unsqueeze(2))).cumsum(1)
    s2 = (run.diagonal.unsqueeze(1) - half.square().cumsum(1)) / run.ridge
    scale = 1 + mean.abs().amax(2, keepdim=True)
    return posterior.statement.check(
        "|mu - k^T (K + lambda I)^-1 y| / (1 + max |mu|), |s2 - s2 of (2)| / s2",
        _rule(run),
        torch.stack([(run.mean - mean).abs() / scale, (run.s2 - s2).abs() / s2], 1),
        ROUNDING,
    )


@statement("Theorem 4.1, radius", f"{PAPER}, Theorem 4.1; the rules of ``Confidence``")
def radius(run: Own) -> Check:
    """A learner's sums of ln(1 + s2_{s-1}(x_s)) and of n s2_t, and its radius beta_t, equal the values computed from its variances."""
    pairs = [
        (run.information, run.log_det),
        (run.effective_sum, run.effective),
        (run.beta[:, 1:], radius_of(run)[:, :-1]),  # the arm of round t + 1 is chosen with beta_t
    ]
    return radius.statement.check(
        "|sums - sums of its variances|, |beta_t - formula of the rule|, relative",
        _rule(run),
        torch.cat([(own - by).abs() / (1 + by.abs()) for own, by in pairs], 1),
        ROUNDING,
    )


@statement("Figure 1, choice", f"{PAPER}, (4) and the algorithm of Figure 1")
def choice(run: Own) -> Check:
    """The arm of round t + 1 has the largest mu_t(x) + beta_t s_t(x) of all arms, up to rounding; the first arm is drawn."""
    beta = radius_of(run)[:, :-1].unsqueeze(2)
    bound = run.mean[:, :-1] + beta * run.s2[:, :-1].sqrt()
    best, chosen = bound.amax(2), bound.gather(2, run.index[:, 1:].unsqueeze(2)).squeeze(2)
    return choice.statement.check(
        "(max_x u_t(x) - u_t(x_{t+1})) / |max u_t|, u = mu + beta s",
        _rule(run),
        (best - chosen) / best.abs(),
        ROUNDING,
    )


@statement("Figure 1, dictionary", f"{PAPER}, the algorithm of Figure 1")
def sampled(run: Own, coins: Tensor, qbar: float) -> Check:
    """S_{t+1} are the arms with u < 1 - (1 - p)^n, p = min(1, qbar s2~_t), where s2~_t is the variance that chose the arm; S_1 = {x_1}.

    Args:
        coins: u, R x T x A (``coins``).
        qbar: oversampling of the learner, which must draw one Bernoulli sample per pull.
    """
    p = (qbar * run.variance[:, :-1]).clamp(max=1)
    # S_1 = {x_1}: the first arm is always kept.
    p = torch.cat([torch.ones_like(p[:, :1]), p[:, 1:]], 1)
    wrong = (coins < 1 - (1 - p) ** run.counts) != run.mask
    return sampled.statement.check(
        "arms whose membership in S_{t+1} differs from u < 1 - (1 - p)^n, <= 0",
        _rule(run) | {"qbar": qbar},
        wrong.sum(2),
        0.0,
    )


# The information gain -------------------------------------------------------------------------------------

# gamma_T is the maximum of 1/2 ln det(I + K / lambda) over multisets of T arms. The concave relaxation to
# fractions of pulls bounds it from above, with a certificate that holds at any iterate. T gamma_1 also bounds it from above, and is
# smaller for small T. Source of the multiplicative updates: Titterington (1976).


def _gram(kernel: Kernel, arms: Tensor) -> Tensor:
    """Return K, A x A. ``arms``: A x d or 1 x A x d."""
    points = arms.reshape(arms.shape[-2:])
    return kernel(points, points)


def _fit(gram: Tensor, n: Tensor, ridge: float) -> tuple[Tensor, Tensor]:
    """Return ln det(I + sum_i n_i phi_i phi_i^T / lambda), and s2 of all arms, A. ``n``: A, fractions allowed."""
    root = n.sqrt()
    eye = torch.eye(len(n), dtype=gram.dtype, device=gram.device)
    factor = torch.linalg.cholesky_ex(ridge * eye + root.unsqueeze(1) * gram * root).L
    half = torch.linalg.solve_triangular(factor, root.unsqueeze(1) * gram, upper=False)
    variance = (gram.diagonal() - half.square().sum(0)).clamp(min=0)
    return 2 * factor.diagonal().log().sum() - len(n) * math.log(ridge), variance / ridge


def uniform_dimension(kernel: Kernel, arms: Tensor, horizon: float, ridge: float) -> float:
    """Return d_eff = sum_i n_i s2_i of the uniform design, which pulls every arm T / A times."""
    gram = _gram(kernel, arms)
    n = torch.full_like(gram.diagonal(), horizon / len(gram))
    _, s2 = _fit(gram, n, ridge)
    return float((n * s2).sum())


def _relax(
    gram: Tensor, ridge: float, horizon: float, n: Tensor, gap: float
) -> tuple[float, Tensor]:
    """Return a certified upper bound on gamma_T, and the fractional design that gives it, starting from the design ``n``."""
    # T gamma_1 is a bound, because a determinant is at most the product of the diagonal (Hadamard).
    best = 0.5 * horizon * math.log1p(float(gram.diagonal().max()) / ridge)
    n = n * (horizon / n.sum())
    for _ in range(ITERATIONS):
        log_det, s2 = _fit(gram, n, ridge)
        total = (n * s2).sum()
        # g = 1/2 ln det is concave with gradient s2 / 2. So g(m) <= g(n) + 1/2 sum_i (m_i - n_i) s2_i for all m with sum T.
        slack = 0.5 * float(horizon * s2.max() - total)
        best = min(best, 0.5 * float(log_det) + slack)
        if slack <= gap or 0.5 * float(log_det) >= best:
            break
        # The multiplicative update moves weight to arms with large variance and keeps the sum T.
        n = n * s2 * (horizon / total)
    return best, n


def upper(
    kernel: Kernel, arms: Tensor, ridge: float, horizons: Sequence[int], gap: float = 0.01
) -> dict[int, float]:
    """Return certified upper bounds on gamma_T from the concave relaxation; each horizon starts from the last one's design.

    Args:
        arms: A x d or 1 x A x d.
        ridge: lambda.
        horizons: values of T.
        gap: the updates stop at this difference between certificate and relaxation; the bound holds wherever they stop.

    Returns:
        T -> bound, ascending in T.
    """
    gram, found = _gram(kernel, arms), {}
    n = torch.ones_like(gram.diagonal())
    for T in sorted(set(horizons)):
        # Multiplicative updates cannot restore an arm with weight 0, so that every arm gets a small weight first.
        found[T], n = _relax(gram, ridge, T, n + 1e-3 * n.mean(), gap)
    return found


def gamma_at(kernel: Kernel, arms: Tensor, ridge: float) -> Callable[[int], float]:
    """Return a function T -> upper bound on gamma_T for any T, as ``theory.constants.informative_horizons`` needs it."""
    gram = _gram(kernel, arms)
    return lambda T: _relax(gram, ridge, T, torch.ones_like(gram.diagonal()), gap=0.05)[0]


def worst_of_gaussian(kernel: RBF, arms: Tensor, ridge: float, horizon: int) -> float:
    """Return a closed-form bound on ln det(I + K_T / lambda), hence on 2 gamma_T, for k(x, y) = exp(-gamma ||x - y||^2).

    The bound is O(ln(T)^{d + 1}). The terms below degree j of the Taylor series of exp(2 gamma <x, y>) span
    D = C(j - 1 + d, d) features. The rest of k(x, x) = 1 is at most P(N >= j), where N is Poisson with mean
    2 gamma rho^2. Here rho is the arms' largest distance from their center, and each dimension is scaled by its gamma.
    Because ln det is concave and grows with K, ln det <= D ln(1 + T / (lambda D)) + (T / lambda) P(N >= j). The function
    returns the smallest such bound over j.

    Args:
        kernel: RBF kernel with gamma.
        arms: A x d or 1 x A x d.
        ridge: lambda.
        horizon: T.
    """
    points = arms.reshape(arms.shape[-2:])
    middle = (points.amax(0) + points.amin(0)) / 2
    d = points.shape[1]
    # In these coordinates the kernel has gamma = 1.
    stretched = (points - middle) * points.new_tensor(kernel.gammas(d)).sqrt()
    # mean is 2 gamma rho^2, the Poisson mean, and scaled is T / lambda.
    mean, scaled = 2 * float(stretched.square().sum(1).max()), horizon / ridge
    best = horizon * math.log1p(1 / ridge)  # bound from the diagonal of K_T alone
    degree = 1
    while (features := math.comb(degree - 1 + d, d)) <= horizon:
        explained = features * math.log1p(scaled / features)
        best = min(best, explained + scaled * float(poisson.sf(degree - 1, mean)))
        if explained >= best:  # This term grows with the degree, so that no later bound is smaller.
            break
        degree += 1
    return best


# Variances along a run ------------------------------------------------------------------------------------


def _inputs(run: Replay) -> dict[str, float]:
    return {"T": run.index.shape[1], "lambda": run.ridge, "kappa2": run.kappa2}


@statement("Section 3.2, effective dimension", f"{PAPER}, Section 3.2, (5)")
def effective_dimension(run: Replay) -> Check:
    """d_eff(t) = Tr K_t (K_t + lambda I)^{-1} = sum_i n_i s2_t(x_i)."""
    return effective_dimension.statement.check(
        "|sum n s2 - Tr K (K + lambda I)^-1| / (1 + d_eff)",
        _inputs(run),
        (run.effective - run.dense_effective).abs() / (1 + run.dense_effective),
        ROUNDING,
    )


@statement("Log-determinant", "ours, a known identity")
def log_determinant(run: Replay) -> Check:
    """ln det(I + K_t / lambda) = sum_s ln(1 + s2_{s-1}(x_s))."""
    return log_determinant.statement.check(
        "|sum ln(1 + s2) - ln det(I + K / lambda)| / (1 + ln det)",
        _inputs(run),
        (run.log_det - run.dense_log_det).abs() / (1 + run.dense_log_det),
        ROUNDING,
    )


@statement("Proposition B.1", f"{PAPER}, Proposition B.1 at all arms")
def proposition_b1(run: Replay) -> Check:
    """For every x: s2_{t-1}(x) / (1 + s2_{t-1}(x_t)) <= s2_t(x) <= s2_{t-1}(x); the paper states it for the newest arm, uses it for all (E6)."""
    # The left inequality follows from Sherman-Morrison and Cauchy-Schwarz, for every arm.
    before, after = run.variance[:, :-1], run.variance[:, 1:]
    return proposition_b1.statement.check(
        "s2_{t-1}(x) / (1 + s2_{t-1}(x_t)) <= s2_t(x) <= s2_{t-1}(x)",
        _inputs(run),
        torch.stack([before / (1 + run.played.unsqueeze(2)), after], 1),
        torch.stack([after, before], 1) + 1e-12 * run.variance.max(),
        tolerance=ROUNDING,
    )


@statement("Proposition B.3", f"{PAPER}, Proposition B.3")
def proposition_b3(run: Replay) -> Check:
    """d_eff <= sum_t s2_t(x_t) <= ln det(I + K / lambda) <= d_eff (1 + ln(1 + ||K|| / lambda)), and ||K_t|| <= kappa2 t.

    About ten rounds are checked, because each needs the eigenvalues of its K_t.
    """
    rounds = torch.tensor(run.some_rounds())
    norm = run.norm(rounds.tolist())
    total, log_det, effective, t = (
        x[..., rounds - 1] for x in (run.settled.cumsum(1), run.log_det, run.effective, run.rounds)
    )
    return proposition_b3.statement.check(
        "d_eff <= sum s2_t(x_t) <= ln det <= d_eff (1 + ln(1 + ||K|| / lambda))",
        _inputs(run),
        torch.stack([effective, total, log_det, norm], 2),
        torch.stack(
            [
                total,
                log_det,
                effective * (1 + (norm / run.ridge).log1p()),
                (run.kappa2 * t).expand_as(norm),
            ],
            2,
        ),
        tolerance=ROUNDING,
    )


@statement("Appendix D.2, sum of variances", f"{PAPER}, Appendix D.2, repaired")
def sum_of_variances(run: Replay, printed: bool = False) -> Check:
    """sum_t s2_{t-1}(x_t) <= C_lambda ln det(I + K_T / lambda), with the variance that chose the arm, not the one after its reward (E11).

    With ``printed``, the bound lacks C_lambda. The paper's proof of Theorem 4.1 needs this form, which is false for small
    lambda.
    """
    factor = 1.0 if printed else potential_factor(run.kappa2, run.ridge)
    return sum_of_variances.statement.check(
        "sum s2_{t-1}(x_t) <= C_lambda ln det(I + K_t / lambda)",
        _inputs(run) | {"C_lambda": factor},
        run.played.cumsum(1),
        factor * run.log_det,
        tolerance=ROUNDING,
    )


@statement("Section 3.2, information gain", f"{PAPER}, Section 3.2")
def information(run: Replay, gains: Mapping[int, float]) -> Check:
    """sum_{s <= t} s2_s(x_s) <= 2 gamma_t; the paper lacks the factor 2 (E7).

    ``gains``: T -> upper bound on gamma_T; only horizons within the run are used.
    """
    # A horizon longer than the run gives no bound on this run.
    horizons = [T for T in gains if T <= run.index.shape[1]]
    return information.statement.check(
        "sum s2_t(x_t) <= 2 gamma_t",
        _inputs(run) | {"T": horizons},
        run.settled.cumsum(1)[:, [T - 1 for T in horizons]],
        2 * np.array([gains[T] for T in horizons]),
        tolerance=ROUNDING,
    )


@statement("Section 3.2, least variance", f"{PAPER}, Theorem 3.1; ours")
def least_variance(run: Replay) -> Check:
    """s2_t(x) >= k(x, x) / (kappa2 t + lambda) for every x, by Cauchy-Schwarz; no variance is small in early rounds."""
    # phi^T A_t^{-1} phi >= ||phi||^4 / (phi^T A_t phi), and phi^T A_t phi <= ||phi||^2 (kappa2 t + lambda).
    time = torch.arange(run.variance.shape[1], dtype=torch.float64).view(1, -1, 1)
    least = run.diagonal.unsqueeze(1) / (run.kappa2 * time + run.ridge)
    return least_variance.statement.check(
        "k(x, x) / (kappa2 t + lambda) <= s2_t(x)",
        _inputs(run),
        least.expand_as(run.variance),
        run.variance,
        tolerance=ROUNDING,
    )


@statement("Section 3.2, exact at first", f"{PAPER}, Theorem 3.1; ours")
def exact_at_first(left_out, rounds, diagonal: Tensor, qbar: float, ridge: float) -> Check:
    """While kappa2 t + lambda <= qbar min k(x, x), every pull is kept, and therefore BKB is exact GP-UCB.

    Args:
        left_out: number of pulled arms outside the dictionary after the rounds, R x T'.
        rounds: the paper's numbers of the rounds, T'; one must be early enough.
        diagonal: k(x_i, x_i) of all arms, all nonzero.
        qbar: oversampling of the learner.
        ridge: lambda.
    """
    last = exact_horizon(qbar, diagonal, ridge)
    early = np.asarray(rounds) <= last
    return exact_at_first.statement.check(
        "pulled arms outside the dictionary <= 0",
        {"qbar": qbar, "lambda": ridge, "up to": last},
        np.asarray(left_out)[:, early],
        0.0,
    )


@statement(
    "Section 3.2, fixed dictionary",
    "Calandriello et al. (2020), the criterion of BBKB, for immediate feedback",
)
def fixed_dictionary(shrinkage) -> Check:
    """1 <= s2_b(x) / s2_t(x) <= 1 + sum_s s2_b(x_s) for every x, where s2_b is the variance when the dictionary was sampled.

    Args:
        shrinkage: smallest and largest ratio of all arms, and the right-hand side, R x ... x 3 (``probes.shrinkage``).
    """
    low, high, most = np.moveaxis(np.asarray(shrinkage, float), -1, 0)
    return fixed_dictionary.statement.check(
        "1 <= s2_b / s2_t <= 1 + sum_s s2_b(x_s)",
        {"largest": float(most.max())},
        np.stack([1 / low, high], -1),
        np.stack([np.ones_like(low), most], -1),
        tolerance=ROUNDING,
    )


@statement("Proposition C.4", f"{PAPER}, Proposition C.4, repaired")
def proposition_c4(means: Sequence[float], printed: bool = False) -> Check:
    """P(N >= 3 d) <= exp(-(3 ln 3 - 2) d) for a sum N of independent Bernoulli variables with mean d, here N ~ Binomial(n, d / n).

    Args:
        means: values of d.
        printed: whether to check exp(-2 d) as in the paper, which is false (E8).
    """
    d, trials = np.asarray(means, float), 10**5
    return proposition_c4.statement.check(
        "P(sum >= 3 d) <= exp(-(3 ln 3 - 2) d)",
        {"coins": trials, "d": d.tolist()},
        binom.sf(np.ceil(3 * d) - 1, trials, d / trials),
        np.array([size_failure(x, printed) for x in d]),
    )


@statement("Proposition D.4", f"{PAPER}, Proposition D.4, in its sharp form")
def proposition_d4(run: Replay, noise: Tensor, confidence: Confidence) -> Check:
    """With probability 1 - delta: ||Phi_t^T eta_t||^2 in A_t^{-1} <= xi^2 ln det(I + K_t / lambda) + 2 xi^2 ln(1 / delta) for all t.

    The printed bound, 2 xi^2 ln(det / delta), has twice the term of the determinant (E10). It is valid, but looser.

    Args:
        noise: eta, rewards minus means, R x T.
        confidence: its noise and delta.
    """
    xi, delta = confidence.noise, confidence.delta
    return proposition_d4.statement.check(
        "for all t: ||Phi^T eta||^2_{A^-1} <= xi^2 ln det + 2 xi^2 ln(1/delta)",
        _inputs(run) | {"xi": xi, "delta": delta},
        run.noise_energy(noise),
        xi**2 * (run.dense_log_det + 2 * math.log(1 / delta)),
        delta,
    )
