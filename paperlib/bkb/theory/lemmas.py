"""Statements about exact variances along a run: Propositions B.1, B.3, C.4 and D.4, and what the repaired proofs add.

All but Propositions C.4 and D.4 hold on every sequence of arms, so one violation means an error.
Source: Calandriello et al. (2019), Sections 2 and 3.2, Appendices B, C and D.
Letters: as in ``theory``; s2_t scaled variance after t observations, x_t arm of round t.
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
from scipy.stats import binom
from torch import Tensor

from ...verdicts.checks import Check, statement
from ..model.confidence import Confidence
from .information import Gain
from .replay import Replay
from .constants import exact_horizon, potential_factor, size_failure

PAPER = "Calandriello, Carratino, Lazaric, Valko & Rosasco (2019)"
ROUNDING = 1e-8  # allowed relative error of quantities computed in two ways


def _inputs(run: Replay) -> dict[str, float]:
    return {"T": run.index.shape[1], "lambda": run.ridge, "kappa2": run.kappa2}


@statement("Section 2, effective dimension", f"{PAPER}, Section 2")
def effective_dimension(run: Replay, effective: Tensor | None = None) -> Check:
    """d_eff(t) = Tr K_t (K_t + lambda I)^{-1} = sum_i n_i s2_t(x_i). ``effective``: a learner's, R x T; else the replay's."""
    found = run.effective if effective is None else effective
    difference = (found - run.dense_effective).abs() / (1 + run.dense_effective)
    return Check(
        "Section 2, effective dimension",
        effective_dimension.statement.source,
        "|sum n s2 - Tr K (K + lambda I)^-1| / (1 + d_eff)",
        _inputs(run),
        difference,
        ROUNDING,
    )


@statement("Section 2, log-determinant", f"{PAPER}, Section 2")
def log_determinant(run: Replay, log_det: Tensor | None = None) -> Check:
    """ln det(I + K_t / lambda) = sum_s ln(1 + s2_{s-1}(x_s)). ``log_det``: a learner's, R x T; else the replay's."""
    found = run.log_det if log_det is None else log_det
    difference = (found - run.dense_log_det).abs() / (1 + run.dense_log_det)
    return Check(
        "Section 2, log-determinant",
        log_determinant.statement.source,
        "|sum ln(1 + s2) - ln det(I + K / lambda)| / (1 + ln det)",
        _inputs(run),
        difference,
        ROUNDING,
    )


@statement("Proposition B.1", f"{PAPER}, Proposition B.1, for all arms")
def proposition_b1(run: Replay, variance: Tensor | None = None) -> Check:
    """s2_{t-1}(x) / (1 + s2_{t-1}(x_t)) <= s2_t(x) <= s2_{t-1}(x), for every x: stated for the newest arm, used for all (E6).

    Args:
        run: the run.
        variance: another posterior's s2_t along the same arms, R x (T + 1) x A; default: the exact one's.
    """
    s2 = run.variance if variance is None else variance
    newest = s2[:, :-1].gather(2, run.index.unsqueeze(2))
    before, after = s2[:, :-1], s2[:, 1:]
    observed, bound = (
        torch.stack([before / (1 + newest), after], 1),
        torch.stack([after, before], 1),
    )
    return Check(
        "Proposition B.1",
        proposition_b1.statement.source,
        "s2_{t-1}(x) / (1 + s2_{t-1}(x_t)) <= s2_t(x) <= s2_{t-1}(x)",
        _inputs(run),
        observed,
        bound + 1e-12 * s2.max(),
        tolerance=ROUNDING,
    )


@statement("Proposition B.3", f"{PAPER}, Proposition B.3")
def proposition_b3(run: Replay, rounds: Sequence[int] | None = None) -> Check:
    """d_eff <= sum_t s2_t(x_t) <= ln det(I + K / lambda) <= d_eff (1 + ln(1 + ||K|| / lambda)), and ||K_t|| <= kappa2 t.

    Args:
        run: the run.
        rounds: those at which ||K_t|| is computed; default: ten.
    """
    rounds = run.some_rounds() if rounds is None else list(rounds)
    norm = run.norm(rounds)
    total, log_det, effective = (
        run.at(x, rounds) for x in (run.settled.cumsum(1), run.log_det, run.effective)
    )
    most = run.kappa2 * torch.tensor(rounds, dtype=torch.float64).expand_as(norm)
    observed = torch.stack([effective, total, log_det, norm], 2)
    bound = torch.stack([total, log_det, effective * (1 + (norm / run.ridge).log1p()), most], 2)
    return Check(
        "Proposition B.3",
        proposition_b3.statement.source,
        "d_eff <= sum s2_t(x_t) <= ln det <= d_eff (1 + ln(1 + ||K|| / lambda))",
        _inputs(run),
        observed,
        bound,
        tolerance=ROUNDING,
    )


@statement("Appendix D.2, sum of variances", f"{PAPER}, Appendix D.2, repaired")
def sum_of_variances(run: Replay, printed: bool = False) -> Check:
    """sum_t s2_{t-1}(x_t) <= C_lambda ln det(I + K_T / lambda): the variance that chose the arm, not the one after it (E11).

    Args:
        run: the run.
        printed: without C_lambda, which the paper's proof of Theorem 4.1 needs: false for small lambda.
    """
    factor = 1.0 if printed else potential_factor(run.kappa2, run.ridge)
    return Check(
        "Appendix D.2, sum of variances",
        sum_of_variances.statement.source,
        "sum s2_{t-1}(x_t) <= C_lambda ln det(I + K_t / lambda)",
        _inputs(run) | {"C_lambda": factor},
        run.played.cumsum(1),
        factor * run.log_det,
        tolerance=ROUNDING,
    )


@statement("Section 3.2, information gain", f"{PAPER}, Section 3.2")
def information(run: Replay, gains: Sequence[Gain], printed: bool = False) -> Check:
    """sum_t s2_t(x_t) <= 2 gamma_t: the paper lacks the 2 (E7).

    Args:
        run: the run.
        gains: bounds on gamma_T for some horizons within the run.
        printed: without the 2, which is false.
    """
    inside = [gain for gain in gains if gain.horizon <= run.index.shape[1]]
    if not inside:
        raise ValueError(
            f"gains: horizons {[gain.horizon for gain in gains]}; allowed: at least one up to {run.index.shape[1]}"
        )
    observed = run.at(run.settled.cumsum(1), [gain.horizon for gain in inside])
    bound = np.array([(1 if printed else 2) * gain.upper for gain in inside])
    return Check(
        "Section 3.2, information gain",
        information.statement.source,
        "sum s2_t(x_t) <= 2 gamma_t",
        _inputs(run) | {"T": [gain.horizon for gain in inside]},
        observed,
        bound,
        tolerance=ROUNDING,
    )


@statement("Section 3.2, least variance", f"{PAPER}, Theorem 3.1; ours")
def least_variance(run: Replay, variance: Tensor | None = None) -> Check:
    """s2_t(x) >= k(x, x) / (kappa2 t + lambda), by Cauchy-Schwarz: no variance is small early.

    Args:
        run: the run.
        variance: another posterior's s2_t, R x (T + 1) x A; default: the exact one's.
    """
    s2 = run.variance if variance is None else variance
    time = torch.arange(s2.shape[1], dtype=torch.float64).view(1, -1, 1)
    least = run.diagonal.unsqueeze(1) / (run.kappa2 * time + run.ridge)
    return Check(
        "Section 3.2, least variance",
        least_variance.statement.source,
        "k(x, x) / (kappa2 t + lambda) <= s2_t(x)",
        _inputs(run),
        least.expand_as(s2),
        s2,
        tolerance=ROUNDING,
    )


@statement("Section 3.2, exact at first", f"{PAPER}, Theorem 3.1; ours")
def exact_at_first(left_out, rounds, diagonal: Tensor, qbar: float, ridge: float) -> Check:
    """While kappa2 t + lambda <= qbar min k(x, x) every pull is kept, so that BKB is exact GP-UCB.

    Args:
        left_out: pulled arms outside the dictionary after the rounds, R x T'.
        rounds: the paper's numbers of the rounds, T'.
        diagonal: k(x_i, x_i) of all arms, none 0.
        qbar: the learner's.
        ridge: lambda.
    """
    last = exact_horizon(qbar, diagonal, ridge)
    early = np.asarray(rounds) <= last
    if not early.any():
        raise ValueError(
            f"rounds={np.asarray(rounds).min()}...; allowed: at least one up to {last}, where every pull is kept"
        )
    return Check(
        "Section 3.2, exact at first",
        exact_at_first.statement.source,
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
    """1 <= s2_b(x) / s2_t(x) <= 1 + sum_s s2_b(x_s), s2_b the variance when the dictionary was sampled: how much it shrinks.

    Args:
        shrinkage: smallest and largest ratio of all arms, and the right side, R x ... x 3 (``probes.shrinkage``).
    """
    low, high, most = np.moveaxis(np.asarray(shrinkage, float), -1, 0)
    observed, bound = np.stack([1 / low, high], -1), np.stack([np.ones_like(low), most], -1)
    return Check(
        "Section 3.2, fixed dictionary",
        fixed_dictionary.statement.source,
        "1 <= s2_b / s2_t <= 1 + sum_s s2_b(x_s)",
        {"largest": float(most.max())},
        observed,
        bound,
        tolerance=ROUNDING,
    )


@statement("Proposition C.4", f"{PAPER}, Proposition C.4, repaired")
def proposition_c4(means: Sequence[float], trials: int = 10**5, printed: bool = False) -> Check:
    """P(sum of independent coins >= 3 d) <= exp(-(3 ln 3 - 2) d), d their mean; here for Binomial(trials, d / trials).

    Args:
        means: d.
        trials: coins.
        printed: exp(-2 d), which is false (E8).
    """
    d = np.asarray(means, float)
    observed = binom.sf(np.ceil(3 * d) - 1, trials, d / trials)
    bound = np.array([size_failure(x, printed) for x in d])
    return Check(
        "Proposition C.4",
        proposition_c4.statement.source,
        "P(sum >= 3 d) <= exp(-(3 ln 3 - 2) d)",
        {"coins": trials, "d": list(map(float, d))},
        observed,
        bound,
    )


@statement("Proposition D.4", f"{PAPER}, Proposition D.4, in its sharp form")
def proposition_d4(
    run: Replay, noise: Tensor, confidence: Confidence, printed: bool = False
) -> Check:
    """With probability 1 - delta, for all t: ||Phi_t^T eta_t||^2 in A_t^{-1} <= xi^2 ln det(I + K_t / lambda) + 2 xi^2 ln(1 / delta).

    Args:
        run: the run.
        noise: eta, rewards minus means, R x T.
        confidence: its noise and delta.
        printed: 2 xi^2 ln(det / delta), twice the determinant's part (E10): valid, and looser.
    """
    square = confidence.noise**2
    bound = square * (
        (2 if printed else 1) * run.dense_log_det + 2 * math.log(1 / confidence.delta)
    )
    return Check(
        "Proposition D.4",
        proposition_d4.statement.source,
        "for all t: ||Phi^T eta||^2_{A^-1} <= xi^2 ln det + 2 xi^2 ln(1/delta)",
        _inputs(run) | {"xi": confidence.noise, "delta": confidence.delta},
        run.noise_energy(noise),
        bound,
        confidence.delta,
    )
