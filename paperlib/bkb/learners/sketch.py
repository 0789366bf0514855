"""The sketched posterior: Gaussian-process regression in the span of a dictionary of arms.

Source: Calandriello et al. (2019), Section 3; the estimator is the "deterministic training conditional"
(DTC) of Quinonero-Candela & Rasmussen (2005), and subset of regressors (SoR) is the same without its last term.
Letters: R trials, A arms, M slots for dictionary arms, U slots for pulled arms, d dimensions; S the dictionary,
P the arms pulled, Z^T = L^{-1} K_SX the embedding with L L^T = K_SS, V = Z_P^T diag(n) Z_P + lambda I.

Trials have dictionaries of unequal size: unused slots hold kappa2 on the diagonal of K_SS and zero rows in Z^T, so
that nothing else changes.
"""

import math
import warnings
from typing import NamedTuple

import torch
from torch import Tensor

from ...maths.gp import Kernel, check_kernel, rank
from ...core.linalg import may_look, needed
from ...core.validation import menu, one_of, positive, whole
from ..model.slots import listed, points_at

JITTERS = (1e-12, 1e-10, 1e-8)  # of kappa2, added to K_SS: the first with which it factors
SLOTS = 8  # slots come in multiples of this
CHUNK = 2**15  # arms that are embedded at a time
ROOTS = ("auto", "cholesky", "eigh")


class Root(NamedTuple):
    """A square root of K_SS: ``cholesky`` L with Z^T = L^{-1} K_SX, or ``eigh`` B with Z^T = B K_SX."""

    matrix: Tensor  # R x M x M, or R x rank x M
    eigh: bool
    failed: Tensor  # R bool


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
    factor: Tensor  # R x M x M, Cholesky factor of V


def room(members: Tensor, capacity: int | str) -> int:
    """Slots for a set: ``capacity``, or with "auto" the largest one, a look at the tensor. ``members``: R x A bool."""
    arms = members.shape[1]
    if capacity == "auto":
        most = arms if members.device.type == "meta" else max(int(members.sum(1).max()), 1)
        return min(-(-most // SLOTS) * SLOTS, arms)
    return min(capacity, arms)


def by_eigenvalues(root: str, kernel: Kernel, dim: int, kappa2: Tensor, ridge: float) -> bool:
    """Whether K_SS is to be taken apart by ``eigh``: a kernel of finite rank, or a ridge that jitter could be seen beside."""
    if root != "auto":
        return root == "eigh"
    if rank(kernel, dim) is not None:
        return True
    return kappa2.device.type != "meta" and JITTERS[0] * float(kappa2.max()) / ridge > 1e-6


def square_root(kernel: Kernel, points: Tensor, valid: Tensor, kappa2: Tensor, eigh: bool) -> Root:
    """A square root of K_SS. ``points``: R x M x d; ``valid``: R x M; ``kappa2``: R or 1."""
    both = valid.unsqueeze(1) & valid.unsqueeze(2)
    gram = torch.where(both, kernel(points, points), 0.0)
    if eigh:
        values, vectors = torch.linalg.eigh(gram)
        least = valid.sum(1) * torch.finfo(gram.dtype).eps * values[:, -1]
        keep = (values > least.unsqueeze(1)) & (values > 0)
        scale = torch.where(keep, torch.where(keep, values, 1.0).rsqrt(), 0.0)
        most = rank(kernel, points.shape[2])  # eigenvalues ascend: the last ones are all there is
        matrix = (vectors * scale.unsqueeze(1)).mT[:, -most if most else None :]
        return Root(matrix, True, torch.zeros_like(valid[:, 0]))
    kappa2 = torch.where(kappa2 > 0, kappa2, 1.0).unsqueeze(1)  # all arms may be zero
    gram = gram + torch.diag_embed(torch.where(valid, 0.0, kappa2))
    factor = lambda jitter: torch.linalg.cholesky_ex(
        gram + torch.diag_embed((jitter * kappa2).expand(valid.shape))
    )
    matrix, info = factor(JITTERS[0])
    for jitter in JITTERS[1:]:
        if not needed(info != 0):
            break
        again, found = factor(jitter)
        matrix = torch.where((info != 0).view(-1, 1, 1), again, matrix)
        info = torch.where(info != 0, found, info)
    return Root(matrix, False, info != 0)


def embed(kernel: Kernel, root: Root, points: Tensor, valid: Tensor, at: Tensor) -> Tensor:
    """Z^T at other points, R x M x A. ``points``: R x M x d, the dictionary; ``at``: R x A x d or 1 x A x d."""
    cross = kernel(points, at) * valid.unsqueeze(2)
    if root.eigh:
        return root.matrix @ cross
    return torch.linalg.solve_triangular(root.matrix, cross, upper=False)


def pulled_room(n: Tensor, rounds: int, looks: bool = False) -> int:
    """Slots for the pulled arms: at most one a round; as many as there are on the CPU and where one looks anyway. ``n``: R x A."""
    look = may_look(n) or (looks and n.device.type != "meta")
    most = int((n > 0).sum(1).max()) if look else rounds
    return max(1, min(-(-most // SLOTS) * SLOTS, n.shape[1]))


def fit(
    kernel: Kernel,
    arms: Tensor,
    mask: Tensor,
    n: Tensor,
    ysum: Tensor,
    ridge: float,
    kappa2: Tensor,
    *,
    eigh: bool,
    slots: int,
    rounds: int,
    keep: bool = False,
    at: Tensor | None = None,
    chunk: int = CHUNK,
    looks: bool = False,
) -> Fit:
    """The sketched posterior of Section 3 from a dictionary and counters.

    Departure: rows of one arm enter by their number and sum, and s2 is a sum of two terms that are not negative, where
    the paper subtracts: z^T Z^T Z V^{-1} z = z^T z - lambda z^T V^{-1} z makes them equal.

    Args:
        arms: R x A x d or 1 x A x d.
        mask: S, R x A bool.
        n, ysum: pulls and sums of rewards, R x A.
        ridge: lambda.
        kappa2: largest k(x, x), R or 1.
        eigh: which root.
        slots: M.
        rounds: pulls so far at most, for the slots of the pulled arms.
        keep: whether to return Z.
        at: other points than the arms, R x A' x d or 1 x A' x d.
        chunk: points that are embedded at a time.
        looks: whether the caller has said that it looks at tensors.
    """
    members = listed(mask, slots)
    points = points_at(arms, members.index)
    root = square_root(kernel, points, members.valid, kappa2, eigh)
    z = lambda x: embed(kernel, root, points, members.valid, x)
    pulled = listed(n > 0, pulled_room(n, rounds, looks))
    targets = arms if at is None else at
    parts = [targets[:, first : first + chunk] for first in range(0, targets.shape[1], chunk)]
    whole_set = at is None and len(parts) == 1
    if whole_set:  # the arms are embedded once, and the pulled ones looked up
        Z = z(arms)
        Z_P = Z.gather(2, pulled.index.unsqueeze(1).expand(-1, Z.shape[1], -1))
    else:
        Z_P = z(points_at(arms, pulled.index))
    count, total = (x.gather(1, pulled.index) * pulled.valid for x in (n, ysum))
    V = (Z_P * count.unsqueeze(1)) @ Z_P.mT  # V_t = Z_t(X_t)^T Z_t(X_t) + lambda I
    V.diagonal(dim1=1, dim2=2).add_(ridge)
    C, info = torch.linalg.cholesky_ex(V)
    # V_t^{-1} Z_t(X_t)^T y_t, mu~_t = z_t^T w (E2)
    w = torch.cholesky_solve(Z_P @ total.unsqueeze(2), C)
    columns, embedded = [], []
    for part in parts:
        if not whole_set:
            Z = z(part)
        resid = (kernel.diag(part) - Z.square().sum(1)).clamp(min=0.0)
        sor = torch.linalg.solve_triangular(C, Z, upper=False).square_().sum(1)
        columns.append(((w.mT @ Z).squeeze(1), sor, resid))
        if keep:
            embedded.append(Z)
    mu, sor, resid = (torch.cat(x, 1) if len(parts) > 1 else x[0] for x in zip(*columns))
    s2 = resid / ridge + sor  # s2~_t = (k(x, x) - z^T z) / lambda + z^T V_t^{-1} z
    Z = torch.cat(embedded, 2) if keep else None
    log_det = (C.diagonal(dim1=1, dim2=2).log() * 2).sum(1) - C.shape[1] * math.log(ridge)
    size, failed = members.valid.sum(1), root.failed | (info != 0)
    return Fit(mu, s2, sor, resid, log_det, size, members.overflow, failed, Z, C)


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
    chunk: int = CHUNK,
) -> Fit:
    """The sketched posterior of R trials, checked: the function for work by hand; learners call ``fit``.

    GP variance is ``ridge * s2``.

    Args:
        arms: A x d, 1 x A x d or R x A x d.
        mask: the dictionary, A or R x A bool.
        n, ysum: pulls and sums of rewards, as ``mask``.
        ridge: lambda > 0.
        at: points at which the posterior is wanted, default the arms.
        root: "auto", "cholesky" or "eigh".

    Raises:
        ValueError: values out of range, not finite, or of shapes that do not fit.
        RuntimeError: K_SS factors in no way; names jitter, size and condition.
    """
    for name, x in {"arms": arms, "mask": mask, "n": n, "ysum": ysum}.items():
        if not isinstance(x, Tensor):
            raise ValueError(f"{name} is of type {type(x).__name__}; allowed: a tensor")
    positive("ridge", ridge)
    one_of("root", root, ROOTS)
    whole("chunk", chunk)
    if arms.dtype != torch.float64:
        warnings.warn(f"arms come in {arms.dtype} and are computed with in float64", stacklevel=2)
    led = lambda x, dim: x if x.dim() == dim else x.unsqueeze(0)  # by the trials
    arms = led(arms, 3).double()
    menu(arms)
    check_kernel(kernel, arms)
    mask, n, ysum = led(mask, 2), led(n, 2).double(), led(ysum, 2).double()
    for name, x in {"mask": mask, "n": n, "ysum": ysum}.items():
        if x.shape != mask.shape or x.shape[1] != arms.shape[1]:
            raise ValueError(
                f"{name} has shape {tuple(x.shape)}; allowed: {(len(mask), arms.shape[1])}, as the dictionary's trials and the arms"
            )
        if not bool(x.isfinite().all()):
            raise ValueError(f"{name}={x[~x.isfinite()][0].item()!r}; allowed: finite numbers")
    if mask.dtype != torch.bool:
        raise ValueError(f"mask comes in {mask.dtype}; allowed: bool")
    if len(arms) not in (1, len(mask)):
        raise ValueError(
            f"mask has {len(mask)} trials, the arms {len(arms)}; allowed: as many, or arms that are shared"
        )
    if bool((n < 0).any()):
        raise ValueError(f"n={n.min().item()!r}; allowed: at least 0")
    if at is not None:
        at = led(at, 3).double()
        menu(at)
        if len(at) not in (1, len(mask)) or at.shape[2] != arms.shape[2]:
            raise ValueError(
                f"at has shape {tuple(at.shape)}; allowed: {len(mask)} or 1 trials, and {arms.shape[2]} dimensions as the arms"
            )
    kappa2 = kernel.diag(arms).amax(1)
    sizes = {"slots": room(mask, "auto"), "rounds": arms.shape[1], "chunk": chunk}
    posterior = lambda eigh: fit(
        kernel, arms, mask, n, ysum, ridge, kappa2, eigh=eigh, at=at, **sizes
    )
    found = posterior(by_eigenvalues(root, kernel, arms.shape[2], kappa2, ridge))
    if bool(found.failed.any()) and root == "auto":
        found = posterior(True)
    if bool(found.failed.any()) or not bool(found.mu.isfinite().all()):
        trial = int(found.failed.nonzero()[0, 0]) if bool(found.failed.any()) else 0
        chosen = (arms[0] if len(arms) == 1 else arms[trial])[mask[trial]]
        condition = float(torch.linalg.cond(kernel(chosen, chosen)))
        raise RuntimeError(
            f"K_SS of trial {trial} does not factor: jitter up to {JITTERS[-1]:g} of kappa2, {len(chosen)} arms, condition {condition:.3g}"
        )
    return found
