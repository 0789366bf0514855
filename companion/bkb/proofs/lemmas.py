"""Statements about exact variances along a run: Propositions B.1, B.3, C.4 and D.4, and what the repaired proofs add.

All but Propositions C.4 and D.4 hold on every sequence of arms, so one violation means an error.
Source: Calandriello et al. (2019), Sections 2 and 3.2, Appendices B, C and D.
Letters: as in ``constants``; s2_t scaled variance after t observations, x_t arm of round t.
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
from scipy.stats import binom
from torch import Tensor

from paperlib.bkb.model.confidence import Confidence
from paperlib.bkb.theory.constants import (
    PAPER,
    ROUNDING,
    exact_horizon,
    potential_factor,
    size_failure,
)
from paperlib.checks import Check, statement

from .information import Gain
from .replay import Replay


def _inputs(run: Replay) -> dict[str, float]:
    return {"T": run.index.shape[1], "lambda": run.ridge, "kappa2": run.kappa2}


@statement("Section 2, effective dimension", f"{PAPER}, Section 2")
def effective_dimension(run: Replay, effective: Tensor | None = None) -> Check:
    """d_eff(t) = Tr K_t (K_t + lambda I)^{-1} = sum_i n_i s2_t(x_i). ``effective``: a learner's, R x T; else the replay's."""
    found = run.effective if effective is None else effective
    difference = (found - run.dense_effective).abs() / (1 + run.dense_effective)
    formula = "|sum n s2 - Tr K (K + lambda I)^-1| / (1 + d_eff)"
    return effective_dimension.statement.check(formula, _inputs(run), difference, ROUNDING)


@statement("Section 2, log-determinant", f"{PAPER}, Section 2")
def log_determinant(run: Replay, log_det: Tensor | None = None) -> Check:
    """ln det(I + K_t / lambda) = sum_s ln(1 + s2_{s-1}(x_s)). ``log_det``: a learner's, R x T; else the replay's."""
    found = run.log_det if log_det is None else log_det
    difference = (found - run.dense_log_det).abs() / (1 + run.dense_log_det)
    formula = "|sum ln(1 + s2) - ln det(I + K / lambda)| / (1 + ln det)"
    return log_determinant.statement.check(formula, _inputs(run), difference, ROUNDING)


@statement("Proposition B.1", f"{PAPER}, Proposition B.1, for all arms")
def proposition_b1(run: Replay) -> Check:
    """s2_{t-1}(x) / (1 + s2_{t-1}(x_t)) <= s2_t(x) <= s2_{t-1}(x), for every x: stated for the newest arm, used for all (E6)."""
    before, after = run.variance[:, :-1], run.variance[:, 1:]
    newest = before.gather(2, run.index.unsqueeze(2))
    observed = torch.stack([before / (1 + newest), after], 1)
    bound = torch.stack([after, before], 1) + 1e-12 * run.variance.max()
    formula = "s2_{t-1}(x) / (1 + s2_{t-1}(x_t)) <= s2_t(x) <= s2_{t-1}(x)"
    return proposition_b1.statement.check(
        formula, _inputs(run), observed, bound, tolerance=ROUNDING
    )


@statement("Proposition B.3", f"{PAPER}, Proposition B.3")
def proposition_b3(run: Replay) -> Check:
    """d_eff <= sum_t s2_t(x_t) <= ln det(I + K / lambda) <= d_eff (1 + ln(1 + ||K|| / lambda)), and ||K_t|| <= kappa2 t.

    About ten rounds are checked, because each needs the eigenvalues of its K_t.
    """
    rounds = torch.tensor(run.some_rounds())
    norm = run.norm(rounds.tolist())
    total, log_det, effective = (
        x[:, rounds - 1] for x in (run.settled.cumsum(1), run.log_det, run.effective)
    )
    most = run.kappa2 * rounds.double().expand_as(norm)
    observed = torch.stack([effective, total, log_det, norm], 2)
    bound = torch.stack([total, log_det, effective * (1 + (norm / run.ridge).log1p()), most], 2)
    formula = "d_eff <= sum s2_t(x_t) <= ln det <= d_eff (1 + ln(1 + ||K|| / lambda))"
    return proposition_b3.statement.check(
        formula, _inputs(run), observed, bound, tolerance=ROUNDING
    )


@statement("Appendix D.2, sum of variances", f"{PAPER}, Appendix D.2, repaired")
def sum_of_variances(run: Replay, printed: bool = False) -> Check:
    """sum_t s2_{t-1}(x_t) <= C_lambda ln det(I + K_T / lambda): the variance that chose the arm, not the one after it (E11).

    ``printed``: without C_lambda, which the paper's proof of Theorem 4.1 needs: false for small lambda.
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
def information(run: Replay, gains: Sequence[Gain]) -> Check:
    """sum_t s2_t(x_t) <= 2 gamma_t: the paper lacks the 2 (E7).

    ``gains``: bounds on gamma_T; those for horizons within the run are used.
    """
    # A longer horizon bounds nothing in this run.
    inside = [gain for gain in gains if gain.horizon <= run.index.shape[1]]
    horizons = [gain.horizon for gain in inside]
    observed = run.settled.cumsum(1)[:, [T - 1 for T in horizons]]
    bound = 2 * np.array([gain.upper for gain in inside])
    inputs, formula = _inputs(run) | {"T": horizons}, "sum s2_t(x_t) <= 2 gamma_t"
    return information.statement.check(formula, inputs, observed, bound, tolerance=ROUNDING)


@statement("Section 3.2, least variance", f"{PAPER}, Theorem 3.1; ours")
def least_variance(run: Replay) -> Check:
    """s2_t(x) >= k(x, x) / (kappa2 t + lambda), by Cauchy-Schwarz: no variance is small early."""
    time = torch.arange(run.variance.shape[1], dtype=torch.float64).view(1, -1, 1)
    least = (run.diagonal.unsqueeze(1) / (run.kappa2 * time + run.ridge)).expand_as(run.variance)
    formula = "k(x, x) / (kappa2 t + lambda) <= s2_t(x)"
    return least_variance.statement.check(
        formula, _inputs(run), least, run.variance, tolerance=ROUNDING
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
    inputs = {"qbar": qbar, "lambda": ridge, "up to": last}
    formula = "pulled arms outside the dictionary <= 0"
    return exact_at_first.statement.check(formula, inputs, np.asarray(left_out)[:, early], 0.0)


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
    inputs, formula = {"largest": float(most.max())}, "1 <= s2_b / s2_t <= 1 + sum_s s2_b(x_s)"
    return fixed_dictionary.statement.check(formula, inputs, observed, bound, tolerance=ROUNDING)


@statement("Proposition C.4", f"{PAPER}, Proposition C.4, repaired")
def proposition_c4(means: Sequence[float], printed: bool = False) -> Check:
    """P(sum of independent coins >= 3 d) <= exp(-(3 ln 3 - 2) d), d their mean; here for Binomial(trials, d / trials).

    Args:
        means: d.
        printed: exp(-2 d), which is false (E8).
    """
    d, trials = np.asarray(means, float), 10**5
    observed = binom.sf(np.ceil(3 * d) - 1, trials, d / trials)
    bound = np.array([size_failure(x, printed) for x in d])
    inputs = {"coins": trials, "d": d.tolist()}
    return proposition_c4.statement.check(
        "P(sum >= 3 d) <= exp(-(3 ln 3 - 2) d)", inputs, observed, bound
    )


@statement("Proposition D.4", f"{PAPER}, Proposition D.4, in its sharp form")
def proposition_d4(run: Replay, noise: Tensor, confidence: Confidence) -> Check:
    """With probability 1 - delta, for all t: ||Phi_t^T eta_t||^2 in A_t^{-1} <= xi^2 ln det(I + K_t / lambda) + 2 xi^2 ln(1 / delta).

    The printed bound, 2 xi^2 ln(det / delta), has twice the determinant's part (E10): it is valid, and looser.

    Args:
        noise: eta, rewards minus means, R x T.
        confidence: its noise and delta.
    """
    xi, delta = confidence.noise, confidence.delta
    bound = xi**2 * (run.dense_log_det + 2 * math.log(1 / delta))
    inputs = _inputs(run) | {"xi": xi, "delta": delta}
    formula = "for all t: ||Phi^T eta||^2_{A^-1} <= xi^2 ln det + 2 xi^2 ln(1/delta)"
    return proposition_d4.statement.check(formula, inputs, run.noise_energy(noise), bound, delta)
