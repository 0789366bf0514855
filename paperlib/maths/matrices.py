"""Convex sets of symmetric matrices: the nuclear-norm ball and the spectrahedron, with matrices stored as vectors.

A matrix X of the nuclear-norm ball has the coordinates y = svec(X) / rho. ``svec`` returns the upper triangle with its
off-diagonal entries times sqrt(2), which makes it an isometry.
Shapes: R trials, p x p matrices, n = p (p + 1) / 2 coordinates.
"""

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse.linalg
import torch
from torch import Tensor

from ..core.linalg import can_branch_on_values
from ..core.validation import check_finite, check_in, check_positive, check_size
from .sets import project_scaled, project_sub_simplex, scalar_tensors

# Smallest p where Lanczos is faster than LAPACK's subset of eigenpairs.
# True: eigenvalue of largest absolute value, which takes two subsets. False: least eigenvalue.
LARGE = {True: 100, False: 500}


@functools.lru_cache(maxsize=32)
def _triangle(p: int, device: str) -> tuple[Tensor, Tensor, Tensor]:
    """Return the positions of the upper triangle in the flattened matrix, of all entries in svec, and svec's weights."""
    rows, columns = np.triu_indices(p)
    place = np.zeros((p, p), int)
    place[rows, columns] = place[columns, rows] = np.arange(len(rows))
    to = lambda x: torch.from_numpy(x).to(device)
    return (
        to(rows * p + columns),
        to(place.ravel()),
        to(np.where(rows == columns, 1.0, math.sqrt(2.0))),
    )


def svec(X: Tensor) -> Tensor:
    """Return the upper triangle with off-diagonal entries times sqrt(2), so that <svec X, svec Y> = <X, Y>.

    ``X``: R x p x p, symmetric. Returns R x n.

    Examples:
        >>> import torch
        >>> from paperlib.maths.matrices import svec
        >>> X = torch.tensor([[[1.0, 2.0], [2.0, 3.0]]])
        >>> (svec(X) ** 2).sum().round().item() == (X ** 2).sum().item()
        True
    """
    upper, _, weight = _triangle(X.shape[-1], str(X.device))
    return X.flatten(-2).index_select(-1, upper) * weight


def smat(y: Tensor, p: int) -> Tensor:
    """Return the symmetric matrices X with svec(X) = y. ``y``: R x n. Returns R x p x p."""
    _, place, weight = _triangle(p, str(y.device))
    return (y / weight).index_select(-1, place).unflatten(-1, (p, p))


def _outer(v: Tensor, weight) -> Tensor:
    return weight * v.unsqueeze(2) * v.unsqueeze(1)


def _by_eigenvalues(X: Tensor, onto: Callable[[Tensor], Tensor]) -> Tensor:
    """Replace the eigenvalues of ``X`` by ``onto`` of them, and return svec, R x n. ``onto``: R x p to R x p."""
    values, vectors = torch.linalg.eigh(X)
    return svec((vectors * onto(values).unsqueeze(1)) @ vectors.mT)


def extreme_eigenpair(C: Tensor, most: bool) -> tuple[Tensor, Tensor]:
    """Return the eigenpair with the least eigenvalue, or (``most``) with the largest absolute value.

    ``C``: R x p x p. Returns R eigenvalues and R x p eigenvectors.
    For a single matrix on the host, LAPACK computes only the extreme pairs; if the matrix is large, Lanczos does.
    A batch is factored completely.

    Raises:
        ValueError: an entry is not finite (checked on the host only).
    """
    if can_branch_on_values(C):
        check_finite("C", C)
    if len(C) == 1 and can_branch_on_values(C):
        value, v = _extreme_of_one(C[0].numpy(), most)
        return C.new_full((1,), value), torch.from_numpy(np.ascontiguousarray(v)).to(C).unsqueeze(0)
    values, vectors = torch.linalg.eigh(C)
    if not most:
        return values[:, 0], vectors[:, :, 0]
    last = (values[:, -1] > -values[:, 0]).unsqueeze(1)
    return torch.where(last[:, 0], values[:, -1], values[:, 0]), torch.where(
        last, vectors[:, :, -1], vectors[:, :, 0]
    )


def _extreme_of_one(C: np.ndarray, most: bool) -> tuple[float, np.ndarray]:
    p = len(C)
    if p >= LARGE[most] and C.any():  # Lanczos fails on the zero matrix
        # The start vector is fixed, so that results repeat, and generic, so that it lies in no invariant subspace.
        start = np.cos(np.arange(p) ** 2 + 1.0)
        values, vectors = scipy.sparse.linalg.eigsh(C, k=1, which="LM" if most else "SA", v0=start)
        return float(values[0]), vectors[:, 0]
    # The eigenvalue of largest absolute value is at one of the two ends of the spectrum.
    ends = (0, p - 1) if most and p > 1 else (0,)
    pairs = [scipy.linalg.eigh(C, subset_by_index=[i, i], check_finite=False) for i in ends]
    values, vectors = max(pairs, key=lambda pair: abs(pair[0][0]))
    return float(values[0]), vectors[:, 0]


class NuclearBall(NamedTuple):
    """Nuclear-norm ball {X symmetric, p x p: ||X||_* <= k}; rho = k / sqrt(p) is the radius of the largest Frobenius ball inside.

    With ``exact=False`` the oracle is the one printed in Chen, Zhang & Karbasi (2019), k v v^T for the top eigenvector
    of -C. However, that is the oracle of {X >= 0, tr X = k} and not of this set.

    Examples:
        >>> import torch
        >>> from paperlib.maths.matrices import NuclearBall
        >>> ball = NuclearBall.of(p=2, k=1.0)
        >>> y = ball.project(torch.full((1, 3), 5.0, dtype=torch.float64))
        >>> ball.contains(y).item()
        True
    """

    dim: int
    p: int
    k: float
    R: Tensor  # 1, sqrt(p)
    D: Tensor  # 1, 2 sqrt(p)
    r: float = 1.0
    exact: bool = True

    @classmethod
    def of(cls, p: int, k: float, exact: bool = True, **tkwargs) -> "NuclearBall":
        """Build the ball of nuclear norm at most ``k``.

        Raises:
            ValueError: ``p`` is below 1, or ``k`` is not positive.
        """
        p = check_size("p", p)
        k = check_positive("k", k)
        radii = scalar_tensors(math.sqrt(p), 2 * math.sqrt(p), **tkwargs)
        exact = check_in("exact", exact, (False, True))
        return cls(p * (p + 1) // 2, p, float(k), *radii, exact=exact)

    @property
    def rho(self) -> float:
        """Length of one normalized unit in the user's coordinates."""
        return self.k / math.sqrt(self.p)

    def lmo(self, c: Tensor) -> Tensor:
        """Return -sign(l) k v v^T for the eigenvalue l of largest absolute value. ``c``: R x n.

        For c = 0 it is -k e_1 e_1^T, and k e_1 e_1^T with the printed oracle (``exact=False``).
        """
        C = smat(c, self.p)
        value, v = extreme_eigenpair(C, most=self.exact)
        # torch.where of two Python numbers is float32, hence the cast.
        weight = (
            torch.where(value < 0, 1.0, -1.0).to(value) if self.exact else torch.ones_like(value)
        )
        first = torch.eye(1, self.p, dtype=v.dtype, device=v.device)
        v = torch.where((c == 0).all(-1, keepdim=True), first, v)
        return svec(_outer(v, (self.k / self.rho * weight).view(-1, 1, 1)))

    def project(self, z: Tensor, scale: float | Tensor = 1.0) -> Tensor:
        """Project the absolute eigenvalues onto {>= 0, sum <= k} and restore their signs. ``z``: R x n."""
        onto = lambda values: project_sub_simplex(values.abs(), self.k / self.rho) * values.sign()
        return project_scaled(lambda z: _by_eigenvalues(smat(z, self.p), onto), z, scale)

    def contains(self, y: Tensor, tolerance: float = 1e-9) -> Tensor:
        """Return R bool, True where the point is in the set up to ``tolerance``."""
        return torch.linalg.eigvalsh(smat(y, self.p)).abs().sum(-1) <= self.k / self.rho + tolerance

    def to_native(self, y: Tensor) -> Tensor:
        """Return svec(X) = rho y."""
        return self.rho * y


class Spectrahedron(NamedTuple):
    """Spectrahedron {X >= 0, p x p: tr X <= k}, centered at s I.

    s = k / (p + sqrt(p)) is the radius of the largest Frobenius ball inside. The coordinates are y = svec(X - s I) / s.

    Examples:
        >>> import torch
        >>> from paperlib.maths.matrices import Spectrahedron
        >>> Spectrahedron.of(p=2, k=1.0).contains(torch.zeros(1, 3, dtype=torch.float64)).item()
        True
    """

    dim: int
    p: int
    k: float
    R: Tensor  # 1
    D: Tensor  # 1, sqrt(2) k / s
    r: float = 1.0
    exact: bool = True

    @classmethod
    def of(cls, p: int, k: float, **tkwargs) -> "Spectrahedron":
        """Build the set of traces up to ``k``.

        Raises:
            ValueError: ``p`` is below 1, or ``k`` is not positive.
        """
        p = check_size("p", p)
        k = check_positive("k", k)
        s = k / (p + math.sqrt(p))
        # The extreme points are 0 and k v v^T; the first has distance s sqrt(p) from the center s I.
        far = max(s * math.sqrt(p), math.sqrt((k - s) ** 2 + (p - 1) * s**2)) / s
        radii = scalar_tensors(far, math.sqrt(min(2, p)) * k / s, **tkwargs)
        return cls(p * (p + 1) // 2, p, float(k), *radii)

    @property
    def rho(self) -> float:
        """s, the length of one normalized unit in the user's coordinates."""
        return self.k / (self.p + math.sqrt(self.p))

    def _middle(self, like: Tensor) -> Tensor:
        """Return svec(s I) / s, 1 x n."""
        return svec(torch.eye(self.p, dtype=like.dtype, device=like.device).unsqueeze(0))

    def lmo(self, c: Tensor) -> Tensor:
        """Return k v v^T for the least eigenvalue if it is negative, else 0. ``c``: R x n."""
        value, v = extreme_eigenpair(smat(c, self.p), most=False)
        weight = self.k / self.rho * (value < 0).to(c)
        return svec(_outer(v, weight.view(-1, 1, 1))) - self._middle(c)

    def project(self, z: Tensor, scale: float | Tensor = 1.0) -> Tensor:
        """Project the eigenvalues onto {>= 0, sum <= k}. ``z``: R x n."""
        middle = self._middle(z)
        onto = lambda values: project_sub_simplex(values, self.k / self.rho)
        return project_scaled(
            lambda z: _by_eigenvalues(smat(z + middle, self.p), onto) - middle, z, scale
        )

    def contains(self, y: Tensor, tolerance: float = 1e-9) -> Tensor:
        """Return R bool, True where the point is in the set up to ``tolerance``."""
        values = torch.linalg.eigvalsh(smat(y + self._middle(y), self.p))
        return (values[:, 0] >= -tolerance) & (values.sum(-1) <= self.k / self.rho + tolerance)

    def to_native(self, y: Tensor) -> Tensor:
        """Return svec(X)."""
        return self.rho * (y + self._middle(y))
