"""The errata that are computations: each function returns the numbers that show the point.

``errata.ERRATA`` says where each stands and what this package does instead.
Source: Calandriello, Carratino, Lazaric, Valko & Rosasco (2019); letters as in ``constants``.
"""

import math
from typing import NamedTuple

import torch
from scipy.stats import binom
from torch import Tensor
from torch.nn.functional import one_hot

from paperlib.bkb.model.confidence import Confidence, Tally
from paperlib.bkb.theory import constants as theory
from paperlib.core.streams import Streams
from paperlib.maths.gp import RBF, Kernel, Linear, exact_posterior

from .replay import Replay

ARMS, GAMMA, HORIZON = 64, 100.0, 300  # the reference problem: a grid of [0, 1] with exp(-100 r^2)
REFERENCE = Confidence(0.1, 3.0, delta=0.1)  # xi = .1, lambda = .01, F = 3, eps = .5


def _pulls(kernel: Kernel, arms: Tensor, index: list[int], ridge: float) -> Replay:
    return Replay(kernel, arms.unsqueeze(0), ridge, torch.tensor([index]))


def _pair(ridge: float, index: list[int]) -> Replay:
    """Two arms with k = .5 between and 1 on the diagonal."""
    arms = torch.tensor([[1.0, 0.0], [0.5, math.sqrt(0.75)]], dtype=torch.float64)
    return _pulls(Linear(), arms, index, ridge)


def e1(ridge: float = 0.5) -> dict[str, float]:
    """With the variance of (2) the sum over the pulls is lambda d_eff, not d_eff (orthonormal arms pulled 3, 1 and 0 times)."""
    run = _pulls(Linear(), torch.eye(3, dtype=torch.float64), [0, 0, 0, 1], ridge)
    scaled, effective = run.effective[0, -1], run.dense_effective[0, -1]
    return {
        "d_eff": float(effective),
        "sum of scaled variances": float(scaled),
        "sum of variances of (2)": float(ridge * scaled),
    }


def e3(qbar: float = 5.0, ridge: float = 0.01) -> dict[str, float]:
    """q-bar s2 of an arm never pulled is no probability."""
    return {"q-bar s2": qbar / ridge, "clipped": min(1.0, qbar / ridge)}


def e5(ratio: float = 100.0, eps: float = 0.5) -> dict[str, float]:
    """An arm orthogonal to the data has s2 = kappa2 / lambda, which min{s2~, 1} alpha does not reach."""
    return {
        "s2": ratio,
        "alpha min{s2~, 1}": theory.inflation(eps) * min(ratio, 1.0),
        "alpha s2~": theory.inflation(eps) * ratio,
    }


def e6(ridge: float = 1.0) -> dict[str, float]:
    """s2_0(x) / (1 + s2_0(x_1)) against s2_1(x): equal at x_1, below at another arm (two arms, k = .5)."""
    before, after = _pair(ridge, [0]).variance[0]
    low = before / (1 + before[0])
    return {
        "left, newest arm": float(low[0]),
        "s2, newest arm": float(after[0]),
        "left, other arm": float(low[1]),
        "s2, other arm": float(after[1]),
    }


def e7(ratio: float = 0.1) -> dict[str, float]:
    """One arm, pulled once, kappa2 / lambda = .1: its variance exceeds gamma_1, not 2 gamma_1."""
    return {
        "s2_1(x_1)": ratio / (1 + ratio),
        "gamma_1": 0.5 * math.log1p(ratio),
        "2 gamma_1": math.log1p(ratio),
    }


def e8(means: tuple[float, ...] = (1.0, 3.0, 5.0), coins: int = 10**5) -> dict[str, float]:
    """P(Binomial(n, d / n) >= 3 d) exceeds both printed bounds for some d, not exp(-(3 ln 3 - 2) d)."""
    found = {}
    for d in means:
        found |= {
            f"first printed, d={d:g}": math.exp(-3 * d * (3 * d - math.log(3 * d) - 1)),
            f"P, d={d:g}": float(binom.sf(math.ceil(3 * d) - 1, coins, d / coins)),
            f"printed, d={d:g}": theory.size_failure(d, printed=True),
            f"repaired, d={d:g}": theory.size_failure(d),
        }
    return found


def e9(ridges: tuple[float, ...] = (1.0, 0.1, 0.01, 0.001)) -> dict[str, float]:
    """The first t with 1 + ln(1 + t / lambda) <= 2 ln t, as printed, and <= 4 ln t, all that the printed radius needs (kappa2 = 1)."""
    first = lambda factor, lam: next(
        t for t in range(1, 10**6) if 1 + math.log1p(t / lam) <= factor * math.log(t)
    )
    return {
        f"{name}, lambda={lam:g}": first(factor, lam)
        for name, factor in (("printed step", 2), ("radius", 4))
        for lam in ridges
    }


def spread() -> Replay:
    """The reference problem's arms pulled in turn over its horizon."""
    kernel, arms = reference_arms()
    return _pulls(kernel, arms[0], [t % ARMS for t in range(HORIZON)], REFERENCE.lam)


def e10() -> dict[str, float]:
    """2 xi^2 ln(det / delta) against xi^2 ln det + 2 xi^2 ln(1 / delta), on the reference problem with arms pulled in turn."""
    log_det = float(spread().log_det[0, -1])
    square, L = REFERENCE.noise**2, math.log(1 / REFERENCE.delta)
    return {"printed": 2 * square * (log_det + L), "sharp": square * (log_det + 2 * L)}


class Counterexample(NamedTuple):
    """A run against Theorem 4.1 as printed."""

    regret: Tensor  # R
    bound: float  # the largest of the trials
    exact_up_to: int


def counterexample(noise: float, trials: int = 200, arms: int = 10) -> Counterexample:
    """BKB on orthonormal arms with the theory's q-bar and the printed radius, as many rounds as arms, f = F at one arm.

    lambda = xi^2, F = 1. The theory's q-bar keeps every pull, so that BKB is exact GP-UCB, and so it is played:
    an arm never pulled has the largest upper bound, all arms are pulled once, and all but one of them lose F.

    Args:
        noise: xi.
        trials: R.
        arms: A, also the horizon T.
    """
    confidence = Confidence(noise, 1.0, rule="paper")
    points = torch.eye(arms, dtype=torch.float64).unsqueeze(0)
    means = torch.zeros(arms, dtype=torch.float64)
    means[-1] = confidence.norm_bound
    lam, streams = confidence.lam, Streams(0, range(trials))
    kappa2 = torch.ones(1, dtype=torch.float64)
    n = ysum = torch.zeros(trials, arms, dtype=torch.float64)
    empty = regret = torch.zeros(trials, dtype=torch.float64)
    arm = (streams.at(0).uniform("arm") * arms).long()
    for t in range(arms):
        reward = means[arm] + noise * streams.at(t).normal("noise")
        regret = regret + means.max() - means[arm]
        pulled = one_hot(arm, arms).double()
        n, ysum = n + pulled, ysum + pulled * reward.unsqueeze(1)
        mu, variance, *_ = exact_posterior(Linear(), points, n, ysum, lam, points)
        s2 = variance / lam
        effective = (n * s2).sum(1)
        beta = confidence.radius(Tally(empty, empty, effective, kappa2, t + 1))
        arm = (mu + beta.unsqueeze(1) * s2.sqrt()).argmax(1)
    qbar = theory.qbar_theory(arms, confidence.delta, confidence.eps)
    bound = theory.regret_printed(confidence, 1.0, arms, effective)
    return Counterexample(regret, float(bound.max()), theory.exact_horizon(qbar, kappa2, lam))


def e11(noises: tuple[float, ...] = (1e-2, 1e-3, 1e-4), trials: int = 200) -> dict[str, float]:
    """Regret of ``counterexample``, the smallest of all trials, against Theorem 4.1 as printed: violated by every trial for xi <= 1e-3."""
    found = {}
    for noise in noises:
        run = counterexample(noise, trials)
        found |= {
            f"regret, xi={noise:g}": float(run.regret.min()),
            f"printed, xi={noise:g}": run.bound,
        }
    return found


def e12(horizon: int = 1000, delta: float = 0.1) -> dict[str, float]:
    """What the proofs give for the failure of both events together, and that of accuracy alone with its slack."""
    accuracy = theory.accuracy_failure(horizon, delta)
    return {
        "stated": delta,
        "proved": 2 * delta,
        "accuracy alone": accuracy,
        "in numbers": delta + accuracy,
    }


def e13(qbar: float = 5.0) -> dict[str, float]:
    """Size of the dictionary on the reference problem with arms pulled in turn, as printed and without 1 + kappa2 / lambda."""
    effective = float(spread().effective[0, -1])
    return {
        "d_eff": effective,
        "printed": theory.size_printed(effective, 1.0, REFERENCE.lam, qbar),
        "tight": theory.size_tight(effective, qbar),
    }


def e14(horizon: int = 1000, delta: float = 0.1) -> dict[str, float]:
    """q-bar of the theorem, and what its proof needs with prefactor 4 t and 2 t."""
    tight = {f"prefactor {c} t": theory.qbar_tight(horizon, delta, dimension=c) for c in (4, 2)}
    return {"theorem": theory.qbar_theory(horizon, delta)} | tight


def e15(ridge: float = 0.25) -> dict[str, float]:
    """One observation with k = 1 and eta = 1: the norm is 1 - lambda / (1 + lambda); with K / lambda inside it is not."""
    return {
        "norm": 1 / (1 + ridge),
        "identity": 1 - ridge / (1 + ridge),
        "printed": 1 - ridge / (1 / ridge + ridge),
    }


def e18(horizon: int = 1000, delta: float = 0.1, eps: float = 0.5) -> dict[str, float]:
    """The constants that Section 4 leaves out."""
    alpha = theory.inflation(eps)
    return {
        "alpha / eps^2": alpha / eps**2,
        "q-bar": theory.qbar_theory(horizon, delta, eps),
        "(2 alpha)^{3/2}": (2 * alpha) ** 1.5,
    }


def e19(dim: int = 2, nu: float = 2.5) -> dict[str, float]:
    """Exponent of T in gamma_T for a Matern kernel, d (d + 1) / (2 nu + d (d + 1)), and with the printed d^2."""
    exponent = lambda power: power / (2 * nu + power)
    return {"d (d + 1)": exponent(dim * (dim + 1)), "d^2": exponent(dim**2)}


def e21(arms: int = 10_000, horizon: int = 1000) -> dict[str, float]:
    """Multiplications of exact GP-UCB in round T: fit from scratch, A t^2 + t^3 / 3, and by rank-one updates, 2 A t."""
    return {"from scratch": arms * horizon**2 + horizon**3 / 3, "rank one": 2 * arms * horizon}


def e23(eps: float = 1e-9) -> dict[str, float]:
    """The radius's factor of sqrt(lambda) F as eps goes to 0, and that of exact GP-UCB."""
    return {"eps to 0": 1 + 1 / math.sqrt(1 - eps), "exact": 1.0}


def reference_arms() -> tuple[RBF, Tensor]:
    """Kernel and arms of the reference problem, 1 x 64 x 1."""
    return RBF(GAMMA), torch.linspace(0, 1, ARMS, dtype=torch.float64).view(1, -1, 1)
