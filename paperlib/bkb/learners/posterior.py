"""Sketched posterior: fitted from a dictionary of arms and pull counts, or updated by one observation at a time.

Source: Calandriello et al. (2019), Section 3. The estimator is the "deterministic training conditional" (DTC) of
Quinonero-Candela & Rasmussen (2005). The subset of regressors (SoR) is DTC without the term (k(x, x) - z^T z) / lambda.
Letters: R trials, A arms, M slots for dictionary arms, U slots for pulled arms, d dimensions; S the dictionary,
P the pulled arms, Z^T = B K_SX the embedding with B^T B = K_SS^{-1}, V = Z_P^T diag(n) Z_P + lambda I.

One more observation is a rank-one update (Sherman & Morrison, 1950). Let u = V^{-1} z for the pulled arm.
The mean and the variance of arm i change only through g = z_i^T u. Therefore a round costs O(A M).

On a GPU all trials are fitted at once, although their dictionaries differ in size. Unused slots hold kappa2 on the diagonal
of K_SS and zero rows in Z^T, and therefore do not change the result. On the CPU ``fit_sketch_by_trial`` fits the trials one
after the other.
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from scipy.linalg.lapack import dpotrf, dtrtri
from torch import Tensor

from ...core.linalg import Rows, as_numpy_if_cpu, as_tensors, can_branch_on_values, matvec
from ...core.validation import check_arms, check_finite, check_in, check_positive
from ...maths.gp import Kernel, check_kernel, kernel_rank
from ..model.confidence import RoundSums
from ..model.slots import Slots, join_trials, list_members, split_trials, take_points
from .ucb import entry_of_arm

CHUNK = 2**15  # number of arms that are embedded at a time
ROOTS = ("auto", "cholesky", "eigh")
# Multiples of kappa2 that are added to K_SS. The first one that lets it factor is used.
JITTERS = (1e-12, 1e-10, 1e-8)
TINY = 1e-300  # Variances stay above 0, because ratios of variances are computed.
REFRESH = 256  # number of rounds between recomputations of quantities that learners update


class SketchedFit(NamedTuple):
    """The posterior at all arms, and the quantities that rank-one updates need."""

    mu: Tensor  # R x A
    s2: Tensor  # R x A, DTC: resid / lambda + sor
    sor: Tensor  # R x A, subset of regressors
    resid: Tensor  # R x A, k(x, x) - ||z||^2, the part outside the span of the dictionary
    log_det: Tensor  # R, ln det V - M ln lambda
    size: Tensor  # R, arms in the dictionary
    overflow: Tensor  # R bool
    failed: Tensor  # R bool
    Z: Tensor | None  # R x M x A, if requested
    factor: Tensor | None  # R x M x M, Cholesky factor of V, if requested


def needs_eigenvalues(root: str, kernel: Kernel, dim: int, kappa2: Tensor, ridge: float) -> bool:
    """Decide whether the square root of K_SS needs ``eigh``: for kernels of finite rank, and for a very small ridge.

    If the smallest jitter exceeds 1e-6 of the ridge, it would visibly change the variances.
    """
    if root != "auto":
        return root == "eigh"
    if kernel_rank(kernel, dim) is not None:
        return True
    return kappa2.device.type != "meta" and JITTERS[0] * float(kappa2.max()) / ridge > 1e-6


def cholesky(matrix: Tensor, added: Tensor) -> tuple[Tensor, Tensor]:
    """Return the Cholesky factor L of ``matrix`` with ``added`` (R x M or 1 x 1) on its diagonal, and where it failed, R."""
    moved = matrix.clone()
    moved.diagonal(dim1=1, dim2=2).add_(added)
    L, info = torch.linalg.cholesky_ex(moved)
    return L, info != 0


def invert_triangular(L: Tensor) -> Tensor:
    """Return L^{-1}, R x M x M."""
    one = torch.eye(L.shape[1], dtype=L.dtype, device=L.device).expand_as(L)
    return torch.linalg.solve_triangular(L, one, upper=False)


def inverse_square_root(
    gram: Tensor, members: Slots, kappa2: Tensor, eigh: bool, most: int | None
) -> tuple[Tensor, Tensor]:
    """Return an inverse square root B of K_SS, Z^T = B K_SX: L^{-1} by Cholesky, or by eigenvalues.

    Returns:
        B, R x M x M or R x rank x M, with zeros for unused slots; and whether the factorization failed, R.

    Args:
        gram: K_SS, R x M x M; rows and columns of unused slots may hold any values.
        members: the slots.
        kappa2: R or 1.
        eigh: True for eigenvalues, False for Cholesky.
        most: rank of the kernel, None for infinite.
    """
    # Rows and columns of unused slots are set to 0; their diagonal is set to kappa2 below.
    used = members.valid.to(gram.dtype)
    K, kappa2 = gram * used.unsqueeze(1) * used.unsqueeze(2), kappa2.unsqueeze(1)
    if eigh:
        values, vectors = torch.linalg.eigh(K)
        least = members.valid.sum(1) * torch.finfo(K.dtype).eps * values[:, -1]
        keep = (values > least.unsqueeze(1)) & (values > 0)
        # Eigenvalues at the level of rounding get the scale 0, as in the pseudo-inverse root of the paper.
        scale = torch.where(keep, torch.where(keep, values, 1.0).rsqrt(), 0.0)
        # Eigenvalues ascend, so that a kernel of rank r has all its nonzero eigenvalues in the last r places.
        matrix = (vectors * scale.unsqueeze(1)).mT[:, -most if most else None :]
        return matrix * used.unsqueeze(1), torch.zeros_like(members.valid[:, 0])
    kappa2 = kappa2.clamp(min=1e-200)  # All arms may be zero, and the diagonal must stay positive.
    added = lambda jitter: (1 + jitter - used) * kappa2
    L, failed = cholesky(K, added(JITTERS[0]))
    # All jitters are computed, because reading whether the first one failed would wait for the device.
    for jitter in JITTERS[1:]:
        again, worse = cholesky(K, added(jitter))
        L, failed = torch.where(failed[:, None, None], again, L), failed & worse
    return invert_triangular(L) * used.unsqueeze(2), failed


def list_pulled_arms(n: Tensor, rounds: int, looks: bool = False) -> Slots:
    """Return the pulled arms in slots. ``n``: R x A.

    On the CPU, and where the caller reads the device anyway, there are as many slots as pulled arms. Otherwise there is
    one slot per round, but not more than A.
    """
    look = can_branch_on_values(n) or (looks and n.device.type != "meta")
    return list_members(n > 0, None if look else max(1, min(rounds, n.shape[1])))


def member_columns(K: Tensor, members: Slots) -> Tensor:
    """Return the columns of K that belong to the members, R x M x M'. ``K``: R x M x A."""
    return K.gather(2, members.index.unsqueeze(1).expand(-1, K.shape[1], -1))


def fit_sketch(
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
    rounds: int,
    keep: bool = False,
    at: Tensor | None = None,
    chunk: int = CHUNK,
    looks: bool = False,
    gram: Tensor | None = None,
) -> SketchedFit:
    """Compute the sketched posterior of Section 3 from a dictionary and pull counts.

    Departure: the pulls of one arm enter by their number and the sum of their rewards. In addition, s2 is a sum of two
    nonnegative terms, where the paper subtracts. The two forms are equal, because
    z^T Z^T Z V^{-1} z = z^T z - lambda z^T V^{-1} z.

    Args:
        arms: R x A x d or 1 x A x d.
        mask: S, R x A bool.
        n, ysum: pulls and sums of rewards, R x A.
        ridge: lambda.
        kappa2: largest k(x, x), R or 1.
        eigh: True for a square root of K_SS by eigenvalues, False for Cholesky.
        slots: M; None for as many as the largest dictionary needs, which reads the tensor's values.
        rounds: upper bound on the number of pulls so far; it decides the slots of the pulled arms.
        keep: whether to return Z and the factor of V.
        at: points to evaluate instead of the arms, R x A' x d or 1 x A' x d.
        chunk: number of points that are embedded at a time.
        looks: whether the caller reads values from the device anyway.
        gram: K_XX, R x A x A or 1 x A x A, if it is available.
    """
    if can_branch_on_values(n):
        return fit_sketch_by_trial(
            kernel,
            arms,
            mask,
            n,
            ysum,
            ridge,
            kappa2,
            eigh=eigh,
            slots=slots,
            keep=keep,
            at=at,
            chunk=chunk,
            gram=gram,
        )
    members, pulled = list_members(mask, slots), list_pulled_arms(n, rounds, looks)
    most = kernel_rank(kernel, arms.shape[2])
    # If the posterior is needed at the arms and they fit into one chunk, K_SX contains K_SS, and Z contains Z_P.
    if at is None and arms.shape[1] <= chunk:
        if gram is None:
            K_SX = kernel(take_points(arms, members.index), arms)
        else:
            K_SX = take_points(gram, members.index)
        B, failed = inverse_square_root(member_columns(K_SX, members), members, kappa2, eigh, most)
        Z = B @ K_SX  # Z^T = B K_SX
        Z_P, parts = member_columns(Z, pulled), [(arms, Z)]
    else:
        points, targets = take_points(arms, members.index), arms if at is None else at
        B, failed = inverse_square_root(kernel(points, points), members, kappa2, eigh, most)
        embed = lambda part: B @ kernel(points, part)
        Z_P = embed(take_points(arms, pulled.index))
        parts = ((part, embed(part)) for part in targets.split(int(chunk), 1))
    # Only pulled arms enter V and b, so that the sums cost O(U M^2) instead of O(A M^2).
    count = n.gather(1, pulled.index) * pulled.valid
    total = ysum.gather(1, pulled.index) * pulled.valid
    V, b = (Z_P * count.unsqueeze(1)) @ Z_P.mT, Z_P @ total.unsqueeze(2)  # b = Z_t(X_t)^T y_t
    lam = torch.full_like(count[:1, :1], ridge)
    C, singular = cholesky(V, lam)  # V_t = Z_t(X_t)^T Z_t(X_t) + lambda I
    inverse = invert_triangular(C)
    h = (inverse @ b).mT
    found = []
    for part, Z in parts:  # for every arm: z_t and C^{-1} z_t
        W = inverse @ Z
        mu = (h @ W).squeeze(1)  # mu~_t = z_t^T V_t^{-1} Z_t(X_t)^T y_t (E2)
        sor, resid = W.square().sum(1), (kernel.diag(part) - Z.square().sum(1)).clamp(min=0.0)
        # s2~_t = (k(x, x) - z^T z) / lambda + z^T V_t^{-1} z
        found.append((mu, resid / ridge + sor, sor, resid, Z if keep else resid))
    mu, s2, sor, resid, Z = (torch.cat(x, -1) if len(found) > 1 else x[0] for x in zip(*found))
    # ln det(V / lambda) over M slots; an unused slot adds ln lambda - ln lambda = 0.
    log_det = 2 * C.diagonal(0, 1, 2).log().sum(1) - C.shape[1] * math.log(ridge)
    Z, C = (Z.contiguous(), C) if keep else (None, None)
    inside, failed = members.valid.sum(1), failed | singular
    return SketchedFit(mu, s2, sor, resid, log_det, inside, members.overflow, failed, Z, C)


def cholesky_of_one(matrix: np.ndarray, added: float) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return L, L^{-1} and whether the factorization failed; L L^T is the matrix, m x m, with ``added`` on its diagonal."""
    if not len(matrix):  # an empty dictionary
        return matrix, matrix, False
    moved = matrix.copy()
    moved.ravel()[:: len(moved) + 1] += added
    # LAPACK stores matrices by columns, so that its upper factor is the lower factor in NumPy's order.
    upper, info = dpotrf(moved.T, clean=1, overwrite_a=1)
    return upper.T, dtrtri(upper)[0].T, info != 0


def inverse_square_root_of_one(
    K_SS: np.ndarray, kappa2: float, eigh: bool, most: int | None
) -> tuple[np.ndarray, bool]:
    """Return B, by Cholesky or by eigenvalues, and whether the factorization failed.

    ``kappa2``: largest k(x, x); ``most``: rank of the kernel.
    """
    if eigh and len(K_SS):
        values, vectors = np.linalg.eigh(K_SS)
        keep = values > max(len(values) * np.finfo(float).eps * values[-1], 0.0)
        scale = np.where(keep, np.where(keep, values, 1.0) ** -0.5, 0.0)
        # Eigenvalues ascend, so that a kernel of rank r has all its nonzero eigenvalues in the last r places.
        return np.ascontiguousarray((vectors * scale).T[-most if most else None :]), False
    for jitter in JITTERS:
        # Multiplying by the inverse takes half of the time of solving with L at every arm.
        # kappa2 is bounded from below, because all arms may be zero.
        _, inverse, failed = cholesky_of_one(K_SS, jitter * max(kappa2, 1e-200))
        if not failed:
            break
    return inverse, failed


@np.errstate(divide="ignore", invalid="ignore")  # from a trial without a factor, which is flagged
def fit_sketch_by_trial(
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
) -> SketchedFit:
    """Compute ``fit_sketch`` for one trial after the other; arguments and shapes are the same.

    This is faster on a CPU, because no slot is unused and the matrices of a trial stay in the processor's cache.
    """
    points, most = arms if at is None else at, kernel_rank(kernel, arms.shape[2])
    variance = kernel.diag(points) if at is not None or gram is None else gram.diagonal(0, 1, 2)
    inside, pulls, sums, variance, kappa2 = as_numpy_if_cpu(mask, n, ysum, variance, kappa2)
    gram = gram if gram is None else as_numpy_if_cpu(gram)[0]
    sizes = np.add.reduce(inside, 1, int)
    M = slots or max(1, int(sizes.max()))
    mu, sor, resid = np.empty((3, len(inside), points.shape[1]))
    log_det = np.empty(len(inside))
    failed = np.zeros(len(inside), bool)
    Z_all = factors = None
    if keep:  # Unused slots have zero features, and lambda on the diagonal of V.
        width = min(M, most) if eigh and most else M
        Z_all = np.zeros((len(inside), width, points.shape[1]))
        factors = np.tile(math.sqrt(ridge) * np.eye(width), (len(inside), 1, 1))
    K = lambda X, Y: as_numpy_if_cpu(kernel(X, Y))[0][0]
    for i in range(len(inside)):
        # If the dictionary overflows its M slots, the arms with the largest indices are left out.
        S, P = inside[i].nonzero()[0][:M], pulls[i].nonzero()[0]
        count, total = pulls[i, P], sums[i, P]
        own = lambda x: x[i : i + 1] if len(x) > 1 else x
        if at is None and points.shape[1] <= chunk:  # K_SX contains K_SS, and Z contains Z_P.
            K_SX = K(own(arms)[:, S], own(arms)) if gram is None else own(gram)[0].take(S, 0)
            B, failed[i] = inverse_square_root_of_one(
                K_SX.take(S, 1), kappa2[i % len(kappa2)], eigh, most
            )
            blocks = [B @ K_SX]  # Z^T = B K_SX
            Z_P = blocks[0].take(P, 1)
        else:
            X_S = own(arms)[:, S]
            B, failed[i] = inverse_square_root_of_one(
                K(X_S, X_S), kappa2[i % len(kappa2)], eigh, most
            )
            blocks = (B @ K(X_S, part) for part in own(points).split(int(chunk), 1))
            Z_P = B @ K(X_S, own(arms)[:, P])
        V, b = (Z_P * count) @ Z_P.T, Z_P @ total  # b = Z_t(X_t)^T y_t
        C, inverse, singular = cholesky_of_one(V, ridge)  # V_t = Z_t(X_t)^T Z_t(X_t) + lambda I
        failed[i] |= singular
        h, begin = inverse @ b, 0
        for Z in blocks:  # for every arm: z_t and C^{-1} z_t
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
    return SketchedFit(
        *as_tensors(mu, s2, sor, resid, log_det, size, overflow, failed, Z_all, factors)
    )


def nystrom_posterior(
    arms: Tensor,
    kernel: Kernel,
    mask: Tensor,
    n: Tensor,
    ysum: Tensor,
    ridge: float,
    *,
    at: Tensor | None = None,
    root: str = "auto",
) -> SketchedFit:
    """Compute the sketched posterior of R trials in float64, with checked arguments.

    Use this function to work without a learner; learners call ``fit_sketch``. The GP variance is ``ridge * s2``.

    Args:
        arms: A x d, 1 x A x d or R x A x d.
        mask: the dictionary, A or R x A bool.
        n, ysum: pulls and sums of rewards, as ``mask``.
        ridge: lambda > 0.
        at: points of evaluation, by default the arms.
        root: "auto", "cholesky" or "eigh".

    Raises:
        ValueError: values out of range, not finite, or of shapes that do not fit.
        RuntimeError: every factorization of K_SS failed; the message names jitter, size and condition.

    Examples:
        >>> import torch
        >>> from paperlib.bkb import RBF, nystrom_posterior
        >>> arms = torch.linspace(0, 1, 5, dtype=torch.float64).unsqueeze(1)
        >>> n = torch.tensor([1.0, 0.0, 1.0, 0.0, 0.0])
        >>> fit = nystrom_posterior(arms, RBF(10.0), n > 0, n, ysum=0.5 * n, ridge=0.01)
        >>> fit.mu.shape, fit.size.tolist()
        (torch.Size([1, 5]), [2])
    """
    ridge = check_positive("ridge", ridge)
    check_in("root", root, ROOTS)
    led = lambda x, dim: x if x.dim() == dim else x.unsqueeze(0)  # adds the axis of the trials
    arms, at = led(arms, 3).double(), at if at is None else led(at, 3).double()
    check_arms(arms)
    check_kernel(kernel, arms)
    mask, n, ysum = led(mask, 2), led(n, 2).double(), led(ysum, 2).double()
    trials, count, dim = len(mask), *arms.shape[1:]
    for name, x in {"mask": mask, "n": n, "ysum": ysum}.items():
        if x.shape != (trials, count) or len(arms) not in (1, trials):
            raise ValueError(
                f"{name} must have shape {(trials, count)}, with arms of {trials} trials or 1, got shape {tuple(x.shape)} with arms of shape {tuple(arms.shape)}"
            )
        check_finite(name, x)
    if mask.dtype != torch.bool:
        raise ValueError(f"mask must have dtype torch.bool, got {mask.dtype}")
    if bool((n < 0).any()):
        raise ValueError(f"n must be at least 0, got {n.min().item()!r}")
    if at is not None:
        check_arms(at, name="at")
        if len(at) not in (1, trials) or at.shape[2] != dim:
            raise ValueError(
                f"at must have {trials} or 1 trials and {dim} dimensions, as the arms, got shape {tuple(at.shape)}"
            )
    kappa2 = kernel.diag(arms).amax(1)
    posterior = lambda eigh: fit_sketch(
        kernel, arms, mask, n, ysum, ridge, kappa2, eigh=eigh, slots=None, rounds=count, at=at
    )
    found = posterior(needs_eigenvalues(root, kernel, dim, kappa2, ridge))
    # Eigenvalues are slower than Cholesky, but always give a root.
    if bool(found.failed.any()) and root == "auto":
        found = posterior(True)
    if bool(found.failed.any()) or not bool(found.mu.isfinite().all()):
        trial = int(found.failed.nonzero()[0, 0]) if bool(found.failed.any()) else 0
        chosen = (arms[0] if len(arms) == 1 else arms[trial])[mask[trial]]
        condition = float(torch.linalg.cond(kernel(chosen, chosen)))
        raise RuntimeError(
            f"K_SS of trial {trial} has no Cholesky factor with a jitter of up to {JITTERS[-1]:g} times kappa2: it has {len(chosen)} arms and condition number {condition:.3g}"
        )
    return found


# Rank-one updates ---------------------------------------------------------------------------------------------


class RegressionState(NamedTuple):
    """Pull counts, features that never change, and the ridge regression on them."""

    n: Tensor  # R x A, pulls
    ysum: Tensor  # R x A, sums of rewards
    mu: Tensor  # R x A
    s2: Tensor  # R x A
    Z: Tensor  # R x M x A or 1 x M x A, features
    inverse: Tensor  # R x M x M, V^{-1}
    tally: RoundSums
    copies: Tensor | None  # 1 or R x A, first equal arm
    mask: Tensor | None = None  # R x A bool, the dictionary (FixedDictionary)
    failed: Tensor | None = None  # R bool, K_SS had no Cholesky factor (FixedDictionary)
    eigh: bool = False  # whether the root of K_SS is by eigenvalues (FixedDictionary)


def refit_features(
    Z: Tensor, n: Tensor, ysum: Tensor, ridge: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Recompute V^{-1}, mu and z^T V^{-1} z from the pull counts, to remove rounding drift; also return whether V factored, R.

    ``n``, ``ysum``: R x A.
    """
    # V = Z diag(n) Z^T + lambda I; mu solves the ridge regression with the sums of rewards.
    V = (Z * n.unsqueeze(1)) @ Z.mT
    V.diagonal(dim1=1, dim2=2).add_(ridge)
    C, info = torch.linalg.cholesky_ex(V)
    w = torch.cholesky_solve(Z @ ysum.unsqueeze(2), C).squeeze(2)
    half = torch.linalg.solve_triangular(C, Z.expand(len(n), -1, -1), upper=False)
    return torch.cholesky_inverse(C), features_times(Z, w), half.square_().sum(1), info == 0


def arm_features(Z: Tensor, arm: Tensor) -> Tensor:
    """Return the features of each trial's arm, R x M. ``Z``: R x M x A or 1 x M x A; ``arm``: R."""
    if Z.shape[0] == 1:
        return Z[0].index_select(1, arm).mT
    return Z.gather(2, arm.view(-1, 1, 1).expand(-1, Z.shape[1], 1)).squeeze(2)


def features_times(Z: Tensor, vector: Tensor) -> Tensor:
    """Return z_i^T v for every arm, R x A. ``vector``: R x M."""
    return vector @ Z[0] if Z.shape[0] == 1 else torch.bmm(vector.unsqueeze(1), Z).squeeze(1)


def add_observation(
    Z: Tensor | Rows, inverse: Tensor, mu: Tensor, s2: Tensor, arm: Tensor, reward: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return V^{-1}, mu and s2 after one more observation.

    Args:
        Z: features, R x M x A or 1 x M x A; or one tensor per trial.
        inverse: V^{-1}, R x M x M.
        mu, s2: R x A; only the part z^T V^{-1} z of s2 changes.
        arm, reward: R.
    """
    if isinstance(Z, Rows) and can_branch_on_values(mu):
        return _by_trial(split_trials(Z).parts, inverse, mu, s2, arm, reward)
    Z = join_trials(Z, inverse.shape[1])
    z = arm_features(Z, arm)
    u = matvec(inverse, z)
    c = 1 + (z * u).sum(1)
    # With c = 1 + z^T V^{-1} z, the mean moves by g (y - mu) / c, and the variance decreases by g^2 / c.
    g = features_times(Z, u)
    mu = torch.addcmul(mu, g, ((reward - entry_of_arm(mu, arm)) / c).unsqueeze(1))
    s2 = torch.addcdiv(s2, g.square(), -c.unsqueeze(1)).clamp_(min=TINY)
    # Sherman & Morrison (1950): V^{-1} becomes V^{-1} - u u^T / (1 + z^T u).
    inverse = torch.addcmul(inverse, (u / -c.unsqueeze(1)).unsqueeze(2), u.unsqueeze(1))
    return inverse, mu, s2


def _by_trial(
    parts: list[Tensor], inverse: Tensor, mu: Tensor, s2: Tensor, arm: Tensor, reward: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute ``add_observation`` with one feature matrix, M x A, per trial."""
    *old, arm, reward = as_numpy_if_cpu(inverse, mu, s2, arm, reward)
    P, mean, variance = (x.copy() for x in old)
    for i, Z in enumerate(as_numpy_if_cpu(*parts)):
        z, m = Z[:, arm[i]], len(Z)
        u = P[i, :m, :m] @ z
        c, g = 1 + z @ u, u @ Z
        mean[i] += g * ((reward[i] - mean[i, arm[i]]) / c)
        np.maximum(variance[i] - g * g / c, TINY, out=variance[i])
        P[i, :m, :m] -= u[:, None] * (u / c)
    return as_tensors(P, mean, variance)
