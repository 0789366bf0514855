"""The sketched posterior of one trial after the other, where code may look at tensors.

Source: Calandriello et al. (2019), Section 3; ``sketch.fit`` says what is computed, and does it for all trials at once.
Here no slot is unused, and the matrices of a trial stay in the processor's cache.
Letters: R trials, A arms, m arms in the dictionary, U arms that were pulled; S the dictionary, P the arms pulled,
Z^T = B K_SX the embedding with B^T B = K_SS^{-1}, V = Z_P^T diag(n) Z_P + lambda I.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtri
from torch import Tensor

from ...core.linalg import light, tensors
from ...maths.gp import Kernel, rank

JITTERS = (1e-12, 1e-10, 1e-8)  # of kappa2, added to K_SS: the first with which it factors


class Fit(NamedTuple):
    """The posterior at all arms, and what rank-one updates go on from."""

    mu: Tensor  # R x A
    s2: Tensor  # R x A, DTC: resid / lambda + sor
    sor: Tensor  # R x A, subset of regressors
    resid: Tensor  # R x A, k(x, x) - ||z||^2, what the dictionary does not see
    log_det: Tensor  # R, ln det V - M ln lambda
    size: Tensor  # R, arms in the dictionary
    overflow: Tensor  # R bool
    failed: Tensor  # R bool
    Z: Tensor | None  # R x M x A, where asked for
    factor: Tensor | None  # R x M x M, Cholesky factor of V, where asked for


def factored(matrix: np.ndarray, added: float) -> tuple[np.ndarray, np.ndarray, bool]:
    """L, L^{-1}, and whether there is none; L L^T is the matrix, m x m, with ``added`` on its diagonal."""
    if not len(matrix):  # an empty dictionary
        return matrix, matrix, False
    moved = matrix.copy()
    moved.ravel()[:: len(moved) + 1] += added
    # LAPACK reads rows as columns: its upper factor is the lower one
    upper, info = dpotrf(moved.T, clean=1, overwrite_a=1)
    return upper.T, dtrtri(upper)[0].T, info != 0


def square_root(
    K_SS: np.ndarray, kappa2: float, eigh: bool, most: int | None
) -> tuple[np.ndarray, bool]:
    """B, by Cholesky or by eigenvalues, and whether there is none. ``kappa2``: largest k(x, x); ``most``: rank of the kernel."""
    if eigh and len(K_SS):
        values, vectors = np.linalg.eigh(K_SS)
        keep = values > max(len(values) * np.finfo(float).eps * values[-1], 0.0)
        scale = np.where(keep, np.where(keep, values, 1.0) ** -0.5, 0.0)
        # eigenvalues ascend: the last ones are all there is
        return np.ascontiguousarray((vectors * scale).T[-most if most else None :]), False
    for jitter in JITTERS:
        # products with the inverse take half of the time that solving with L takes at every arm
        _, inverse, failed = factored(K_SS, jitter * max(kappa2, 1e-200))  # all arms may be zero
        if not failed:
            break
    return inverse, failed


@np.errstate(divide="ignore", invalid="ignore")  # of a trial that does not factor, which is flagged
def each(
    kernel: Kernel,
    arms: Tensor,
    mask: Tensor,
    n: Tensor,
    ysum: Tensor,
    ridge: float,
    kappa2: Tensor,
    *,
    eigh: bool,
    slots: int | None,
    keep: bool,
    at: Tensor | None,
    chunk: int,
    gram: Tensor | None,
) -> Fit:
    """The posterior of all trials; arguments and shapes as for ``sketch.fit``."""
    points, most = arms if at is None else at, rank(kernel, arms.shape[2])
    variance = kernel.diag(points) if at is not None or gram is None else gram.diagonal(0, 1, 2)
    inside, pulls, sums, variance, kappa2 = light(mask, n, ysum, variance, kappa2)
    gram = gram if gram is None else light(gram)[0]
    sizes = np.add.reduce(inside, 1, int)
    M = slots or max(1, int(sizes.max()))
    mu, sor, resid = np.empty((3, len(inside), points.shape[1]))
    log_det = np.empty(len(inside))
    failed = np.zeros(len(inside), bool)
    Z_all = factors = None
    if keep:  # unused slots: no feature, and lambda on V's diagonal
        width = min(M, most) if eigh and most else M
        Z_all = np.zeros((len(inside), width, points.shape[1]))
        factors = np.tile(math.sqrt(ridge) * np.eye(width), (len(inside), 1, 1))
    K = lambda X, Y: light(kernel(X, Y))[0][0]
    for i in range(len(inside)):
        S, P = inside[i].nonzero()[0][:M], pulls[i].nonzero()[0]
        count, total = pulls[i, P], sums[i, P]
        own = lambda x: x[i : i + 1] if len(x) > 1 else x
        if at is None and points.shape[1] <= chunk:  # K_SX holds K_SS, and Z holds Z_P
            K_SX = K(own(arms)[:, S], own(arms)) if gram is None else own(gram)[0].take(S, 0)
            B, failed[i] = square_root(K_SX.take(S, 1), kappa2[i % len(kappa2)], eigh, most)
            blocks = [B @ K_SX]  # Z^T = B K_SX
            Z_P = blocks[0].take(P, 1)
        else:
            X_S = own(arms)[:, S]
            B, failed[i] = square_root(K(X_S, X_S), kappa2[i % len(kappa2)], eigh, most)
            blocks = (B @ K(X_S, part) for part in own(points).split(int(chunk), 1))
            Z_P = B @ K(X_S, own(arms)[:, P])
        V, b = (Z_P * count) @ Z_P.T, Z_P @ total  # b = Z_t(X_t)^T y_t
        C, inverse, singular = factored(V, ridge)  # V_t = Z_t(X_t)^T Z_t(X_t) + lambda I
        failed[i] |= singular
        h, begin = inverse @ b, 0
        for Z in blocks:  # of every arm z_t and C^{-1} z_t
            here = slice(begin, begin := begin + Z.shape[1])
            np.einsum("ma,ma->a", Z, Z, out=resid[i, here])
            if keep:
                Z_all[i, : len(Z), here] = Z
            W = inverse @ Z
            np.matmul(h, W, out=mu[i, here])  # mu~_t = z_t^T V_t^{-1} Z_t(X_t)^T y_t (E2)
            np.einsum("ma,ma->a", W, W, out=sor[i, here])
        log_det[i] = 2 * np.add.reduce(np.log(C.diagonal())) - len(C) * math.log(ridge)
        if keep:
            factors[i, : len(C), : len(C)] = C
    resid = np.maximum(variance - resid, 0.0)
    s2 = resid / ridge + sor  # s2~_t = (k(x, x) - z^T z) / lambda + z^T V_t^{-1} z
    size, overflow = np.minimum(sizes, M), sizes > M
    return Fit(*tensors(mu, s2, sor, resid, log_det, size, overflow, failed, Z_all, factors))
