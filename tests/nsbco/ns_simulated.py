"""Algorithm 2 and its schedule in a few lines of NumPy, independent of the package, with options that introduce errors."""

import math
from typing import NamedTuple

import numpy as np


class Run(NamedTuple):
    x: np.ndarray  # R x T x d
    y: np.ndarray  # R x T
    f: np.ndarray  # R x T, f_t(x_t)
    z: np.ndarray  # R x (E + 1) x d
    g: np.ndarray  # R x E x d, the learner's estimates
    slopes: np.ndarray  # R x E x d, gradients of f_1 at its centers
    rbar: np.ndarray  # R x T
    best: float
    star: np.ndarray  # d


def ascend(
    R,
    T,
    d=2,
    *,
    L=2.0,
    sigma=1.0,
    h=0.25,
    N0=1,
    noise=0.1,
    best=0.5,
    offset=0.5,
    curvature=1.0,
    bonus=2.0,
    clip=True,
    early=0,
    sign=1.0,
    factor=1.0,
    power=-0.25,
    growth=4,
    margin=0.5,
    start=0.0,
    seed=0,
):
    """Simulate Algorithm 2 on f = best - curvature ||x - offset e_1||^2 / 2 on the unit ball with y = f + noise (2 u - 1).

    The start is z_0 = start e_1. Errors are introduced by ``early`` (number of rounds that r-bar lags), ``sign`` and ``factor`` of
    the estimates, ``power`` of the widths, and ``growth`` of the lengths.
    """
    rng, q = np.random.default_rng(seed), 1 - sigma / L
    star = offset * np.eye(d)[0]
    x, z, t, s = np.empty((R, T, d)), np.tile(start * np.eye(d)[0], (R, 1)), 0, 0
    y, f, centers, found, slopes = np.empty((R, T)), np.empty((R, T)), [z], [], []
    while t < T:
        n = math.ceil(q ** (-growth * s) * N0 - 1e-9)
        delta, g = h * n**power, np.zeros((R, d))
        for j in range(d):
            m = min(2 * n, T - t)
            here, way = slice(t, t + m), np.where(np.arange(m) % 2, -1.0, 1.0)
            x[:, here] = z[:, None]
            x[:, here, j] += way * delta
            f[:, here] = best - curvature / 2 * ((x[:, here] - star) ** 2).sum(2)
            y[:, here] = f[:, here] + noise * (2 * rng.random((R, m)) - 1)
            g[:, j] = sign * factor * (y[:, here] * way).sum(1) / (2 * delta * n)
            t += m
        if m < 2 * n:
            break
        slopes.append(curvature * (star - z))
        z = z + g / L
        z = z * np.minimum(
            1, (1 - margin) / np.maximum(np.linalg.norm(z, axis=1, keepdims=True), 1e-300)
        )
        found.append(g)
        centers.append(z)
        s += 1
    rounds = np.arange(1, T + 1)
    rbar = y.cumsum(1) / rounds + bonus / np.sqrt(rounds)
    if early:
        rbar = np.concatenate([rbar[:, :1]] * early + [rbar[:, :-early]], 1)
    rbar = np.minimum(rbar, 1.0) if clip else rbar
    stack = lambda parts: np.stack(parts, 1) if parts else np.zeros((R, 0, d))
    return Run(x, y, f, stack(centers), stack(found), stack(slopes), rbar, best, star)


def schedule(R, T, power=0.5, highest=False, seed=0):
    """Return active orders, R x T, and scheduled windows, R x T x O, of a run without restarts; p_m = 2^{-power (n - m)}."""
    rng, O = np.random.default_rng(seed), T.bit_length()
    live = np.zeros((R, T, O), bool)
    for n in range((T + 1).bit_length()):
        start = 2**n - 1
        for m in range(n + 1):
            for z in range(2 ** (n - m)):
                window = slice(start + z * 2**m, min(start + (z + 1) * 2**m, T))
                if window.start < T:
                    live[:, window, m] = (rng.random(R) < 2.0 ** (-power * (n - m)))[:, None]
    order = O - 1 - live[:, :, ::-1].argmax(2) if highest else live.argmax(2)
    return order, live
