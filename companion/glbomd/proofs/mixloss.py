"""Lemmas about the mix loss, held against a run: Lemmas 5, 6, 7 and 7' (ours).

Source: Zhang, Xu, Zhao & Sugiyama (2025), with its appendices; Lemma 7' is ours.
Letters: as in ``constants``; P_s = N(theta_s, alpha H_s^{-1}), m_s = -ln E_{P_s} e^{-l_s} the mix loss,
Q_s = N(theta_{s+1}, alpha H_s^{-1}), M_s = lambda / 2 I + sum over tau <= s of the Hessian of l_tau at theta_{tau+1},
D the Bregman divergence of l_s. A loss depends on theta through X_s^T theta alone, which is a Gaussian number:
every expectation is a one-dimensional quadrature.
"""

import math

import torch
from torch import Tensor

from paperlib.checks import Check, statement
from paperlib.glbomd.model.setting import Setting
from paperlib.glbomd.theory.bounds import PAPER, sharp_width, shortfall

from .inequalities import expectation, mixed
from .replay import Replay

BLOCK = 1 << 15  # rounds of all trials of a block


def _blocks(x: Tensor) -> tuple[Tensor, ...]:
    """Trials a few at a time: the quadrature's nodes take 80 times the memory. ``x``: R x T."""
    return x.split(max(1, BLOCK // x.shape[1]))


def mix_loss(run: Replay) -> Tensor:
    """m_s for every round, R x T."""
    deviation = (run.setting.spread * run.width2).sqrt()
    parts = zip(*(_blocks(x) for x in (run.reward, run.start_z, deviation)))
    return torch.cat([mixed(run.setting.link, *part) for part in parts])


def expected_divergence(run: Replay) -> Tensor:
    """E_{Q_s} D(theta, theta_{s+1}) for every round, R x T."""
    link, deviation = run.setting.link, (run.setting.spread * run.width2).sqrt()

    def divergence(z: Tensor, center: Tensor) -> Tensor:
        tangent = link.log_partition(center) + link.mean(center) * (z - center)
        return (link.log_partition(z) - tangent) / link.dispersion

    parts = zip(_blocks(run.next_z), _blocks(deviation))
    return torch.cat(
        [expectation(lambda z: divergence(z, mean.unsqueeze(-1)), mean, sd) for mean, sd in parts]
    )


def quadrature_ridge(setting: Setting, form: str) -> float:
    """The ridge that Lemma 7 asks for: max{k alpha R^2, 2 C_mu / g}, k = 64 d / 7, 64 / 7 or 0.344...."""
    R, g = setting.link.self_concordance, setting.link.dispersion
    factor = {"theory": 64 * setting.dim / 7, "free": 64 / 7, "sharp": sharp_width() ** -2}[form]
    return max(factor * setting.spread * R**2, 2 * setting.max_slope / g)


def log_martingale(run: Replay) -> Tensor:
    """L*_t - sum_{s<=t} m_s, R x T: its exponential is a nonnegative martingale with mean 1."""
    return run.true_loss - mix_loss(run).cumsum(1)


@statement("Lemma 5", f"{PAPER}, Lemma 5")
def lemma_5(run: Replay) -> Check:
    """The truth is not much worse than the mix loss: P(exists t: L*_t - sum_{s<=t} m_s >= ln(1/delta)) <= delta.

    e^{L* - sum m} is a nonnegative martingale with mean 1, for any estimates that do not look ahead; Lemma 9.
    Observed: L*_t - sum m_s, R x T, to hold in all rounds of a trial at once.
    """
    setting, delta = run.setting, run.setting.delta
    return lemma_5.statement.check(
        "for all t: L*_t - sum_{s<=t} m_s <= ln(1/delta), with probability 1 - delta",
        setting.describe(),
        log_martingale(run),
        math.log(1 / delta),
        delta,
    )


@statement("Lemma 6", f"{PAPER}, Lemma 6, informally Lemma 3")
def lemma_6(run: Replay, *, tight: bool = False) -> Check:
    """The mix loss is not much worse than the estimates after their update.

    sum m_s <= L+ + S_DH / (2 alpha) + 2 d alpha ln(2 + 2 C_mu t / (lambda g)), under Lemma 7's condition on the
    ridge. With alpha = 3 eta / 2 the last term has 3 d eta; the informal Lemma 3 prints half of it (erratum E5).

    Args:
        run: the run.
        tight: ln(1 + 2 C_mu t / (d lambda g)) instead, which the proof gives by trace and determinant (erratum E10).
    """
    setting, d, alpha = run.setting, run.setting.dim, run.setting.spread
    growth = 2 * setting.max_slope * run.rounds / (setting.ridge * setting.link.dispersion)
    log, text = torch.log(2 + growth), "ln(2 + 2 C_mu t / (lambda g))"
    if tight:
        log, text = torch.log1p(growth / d), "ln(1 + 2 C_mu t / (d lambda g))"
    bound = run.next_loss + run.moved / (2 * alpha) + 2 * d * alpha * log
    formula, observed = f"sum m_s <= L+ + S_DH / (2 alpha) + 2 d alpha {text}", mix_loss(run)
    remark = shortfall(setting.ridge, quadrature_ridge(setting, "sharp"))
    return lemma_6.statement.check(
        formula, setting.describe(), observed.cumsum(1), bound, remark=remark
    )


def _lemma_7(name: str, source: str, run: Replay, form: str, factor: float) -> Check:
    setting = run.setting
    # ln det M_s - ln det M_{s-1} by the determinant lemma; M_{s-1} = H_s - (lambda / 2) I
    gain = torch.log1p(run.curvature * run.width_square(shift=setting.ridge / 2))
    least = quadrature_ridge(setting, form)
    inputs = setting.describe() | {"least ridge": least}
    return Check(
        name,
        source,
        f"E_Qs D(theta, theta_{{s+1}}) <= {factor:g} alpha (ln det M_s - ln det M_{{s-1}})",
        inputs,
        expected_divergence(run),
        factor * setting.spread * gain,
        remark=shortfall(setting.ridge, least),
    )


@statement("Lemma 7", f"{PAPER}, Lemma 7")
def lemma_7(run: Replay, *, printed: bool = False) -> Check:
    """Curvature costs little: E_{Q_s} D(theta, theta_{s+1}) <= 2 alpha (ln det M_s - ln det M_{s-1}).

    Under lambda >= max{64 d alpha R^2 / 7, 2 C_mu / g}. ``printed``: the factor alpha of (22), where the lemma and
    the sum over rounds have 2 alpha (erratum E7).
    """
    return _lemma_7("Lemma 7", lemma_7.statement.source, run, "theory", 1.0 if printed else 2.0)


@statement("Lemma 7', free of d", "ours, in place of Lemma 7")
def lemma_7_free(run: Replay) -> Check:
    """Lemma 7's inequality under lambda >= max{64 alpha R^2 / 7, 2 C_mu / g}: the factor d is not needed.

    Proof. D depends on theta through u = X_s^T (theta - theta_{s+1}) alone, and under Q_s u ~ N(0, sigma^2) with
    sigma^2 = alpha ||X_s||_{H_s^{-1}}^2 <= alpha / lambda. By Lemma 8 (b) D <= u^2 e^{R^2 u^2} mu'(z_1) / g with
    z_1 = X_s^T theta_{s+1}. By Cauchy-Schwarz E u^2 e^{R^2 u^2} <= sqrt(E u^4) sqrt(E e^{2 R^2 u^2}) =
    sqrt(3) sigma^2 (1 - 4 R^2 sigma^2)^{-1/4}, and R^2 sigma^2 <= 7/64 makes the last factor at most
    (16/9)^{1/4} = sqrt(4/3): in all E D <= 2 sigma^2 mu'(z_1) / g. The rest is as in ``lemma_7_sharp``. The paper
    bounds |u| by ||theta - theta_{s+1}||_2 first, a d-dimensional Gaussian, and pays d for it in Lemma 10.
    """
    return _lemma_7("Lemma 7', free of d", "ours", run, "free", 2.0)


@statement("Lemma 7', sharp", "ours, in place of Lemma 7")
def lemma_7_sharp(run: Replay) -> Check:
    """Lemma 7's inequality under lambda >= max{0.344... alpha R^2, 2 C_mu / g}, the constant being a root.

    Claim. Let |mu''| <= R mu' on the line, ||X_s|| <= 1, theta ~ Q_s = N(theta_{s+1}, alpha H_s^{-1}). Let x* > 0
    solve psi(x) = 2 x^2 with psi(x) = 2 e^{x^2/2} Phi(x) - 1 - x sqrt(2/pi), Phi the normal distribution
    function: x* = 1.704.... If lambda >= max{alpha R^2 / x*^2, 2 C_mu / g} and ||theta_{s+1}|| <= S, then
    E D(theta, theta_{s+1}) <= 2 alpha (ln det M_s - ln det M_{s-1}).

    Proof. (1) One dimension. With z_1 = X_s^T theta_{s+1} and u = X_s^T (theta - theta_{s+1}), Taylor's formula with
    integral remainder gives D = (u^2 / g) int_0^1 (1 - v) mu'(z_1 + v u) dv. As |(ln mu')'| <= R,
    mu'(z_1 + w) <= mu'(z_1) e^{R |w|}, hence

        D <= (mu'(z_1) / g) u^2 int_0^1 (1 - v) e^{R |u| v} dv = mu'(z_1) (e^{R|u|} - 1 - R|u|) / (g R^2),

    read as mu'(z_1) u^2 / (2 g) for R = 0.
    (2) Expectation. u ~ N(0, sigma^2) with sigma^2 = alpha ||X_s||_{H_s^{-1}}^2 <= alpha / lambda, since H_s >= lambda I.
    With N standard normal and x = R sigma, E e^{x|N|} = 2 e^{x^2/2} Phi(x) and E |N| = sqrt(2/pi), so
    E D <= mu'(z_1) psi(x) / (g R^2).
    (3) The root. psi(x) / x^2 = sum over k >= 2 of E|N|^k x^{k-2} / k! is a power series with positive coefficients:
    it increases strictly from 1/2 at x = 0 to infinity and equals 2 at exactly one x*; psi(x) <= 2 x^2 iff x <= x*.
    Now x^2 = R^2 sigma^2 <= R^2 alpha / lambda <= x*^2 by the condition, so E D <= 2 sigma^2 mu'(z_1) / g
    = 2 alpha tr(H_s^{-1} A) with A = mu'(z_1) X_s X_s^T / g, the Hessian of l_s at theta_{s+1}. (R = 0: E D is a
    quarter of that, without a condition.)
    (4) Determinants. A <= (C_mu / g) I <= (lambda / 2) I as |z_1| <= S, so M_s = H_s - (lambda / 2) I + A <= H_s and
    tr(H_s^{-1} A) <= tr(M_s^{-1} (M_s - M_{s-1})) <= ln det M_s - ln det M_{s-1}, ln det being concave. QED.

    Summed over rounds this is Lemma 6; with Lemmas 4b and 5, Theorem 1 holds for
    lambda = max{0.516... eta R^2, 6 eta R S C_mu / g, 2 C_mu / g}.
    """
    return _lemma_7("Lemma 7', sharp", "ours", run, "sharp", 2.0)
