"""The risk L(w) = E (f_x(w) - f_x(w*))^2 of a reference problem by quadrature, and Assumption 3.3 on it.

Source: Liu & Wang (2023), Assumption 3.3 and Appendix C.1.
Letters: dw parameters, N parameter vectors, H = Hess L(w*) = 2 E g g^T, zeta its largest eigenvalue, mu growth.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from paperlib.checks import ByConstruction, Check, statement
from paperlib.core import fields
from paperlib.core.describe import frozen
from paperlib.goucb.problems.reference import HALF, Reference
from paperlib.goucb.theory.constants import PAPER

from .equivalents import equivalents

STARTS = 24  # of each search


class Growth(NamedTuple):
    """mu, and the parameters at which it is attained."""

    mu: float
    w: np.ndarray  # dw


@frozen
class Risk:
    """L of a reference problem.

    Attributes:
        problem: A or B.
        nodes: of Gauss-Legendre quadrature over the points.

    Raises:
        ValueError: fewer than one node.
    """

    problem: Reference
    nodes: int = fields.size(200)

    @cached_property
    def rule(self) -> tuple[Tensor, Tensor]:
        """Points, 1 x M x 1, and weights that add up to 1, M."""
        z, weight = np.polynomial.legendre.leggauss(self.nodes)
        return torch.from_numpy(HALF * z).view(1, -1, 1), torch.from_numpy(weight / 2)

    @cached_property
    def truth(self) -> Tensor:
        """w*, 1 x dw."""
        return torch.tensor([self.problem.truth.w], dtype=torch.float64)

    def _error(self, w: Tensor) -> Tensor:
        x, _ = self.rule
        return self.problem.network.value(w, x) - self.problem.network.value(self.truth, x)

    def value(self, w) -> np.ndarray:
        """L, N. ``w``: N x dw."""
        w = torch.as_tensor(np.asarray(w, float)).contiguous()
        return (self._error(w).square() @ self.rule[1]).numpy()

    def gradient(self, w) -> np.ndarray:
        """2 E (f_w - f_w*) g, N x dw."""
        w = torch.as_tensor(np.asarray(w, float)).contiguous()
        net, (x, weight) = self.problem.network, self.rule
        return 2 * net.adjoint(net.features(w, x), self._error(w) * weight).numpy()

    def hessian(self, w) -> np.ndarray:
        """2 E [g g^T + (f_w - f_w*) Hess f_w], N x dw x dw."""
        w = torch.as_tensor(np.asarray(w, float)).contiguous()
        net, (x, weight) = self.problem.network, self.rule
        g = net.gradient(net.features(w, x))
        first = torch.einsum("m,nmi,nmj->nij", weight, g, g)
        return (
            2 * (first + torch.einsum("nm,nmij->nij", self._error(w) * weight, net.hessian(w, x)))
        ).numpy()

    @cached_property
    def at_truth(self) -> np.ndarray:
        """H, dw x dw."""
        return self.hessian(self.truth)[0]

    @property
    def zeta(self) -> float:
        """Largest eigenvalue of H; at most 2 C_g^2."""
        return float(np.linalg.eigvalsh(self.at_truth)[-1])

    @property
    def rank(self) -> int:
        """Of H."""
        return int(np.linalg.matrix_rank(self.at_truth, hermitian=True))

    @property
    def local(self) -> float:
        """Least eigenvalue of H: the largest mu that holds near w*."""
        return float(np.linalg.eigvalsh(self.at_truth)[0])

    @cached_property
    def stars(self) -> np.ndarray:
        """The parameters in W with the same f, w* first, E x dw (E10)."""
        truth = self.problem.truth
        found = equivalents(truth.w, truth.hidden)
        return found[((found >= truth.lo) & (found <= truth.hi)).all(1)]

    @cached_property
    def on_box(self) -> Growth:
        """The largest mu with (mu / 2) ||w - w*||^2 <= L(w) on W, w* the nearest of ``stars``, by L-BFGS-B from many starts."""
        truth = self.problem.truth

        def ratio(w):
            moves = w - self.stars
            move = moves[(moves**2).sum(1).argmin()]
            far2 = max(move @ move, 1e-12)
            value, slope = self.value(w[None])[0], self.gradient(w[None])[0]
            return 2 * value / far2, 2 * slope / far2 - 4 * value / far2**2 * move

        box = [(truth.lo, truth.hi)] * len(truth.w)
        starts = np.random.default_rng(0).uniform(truth.lo, truth.hi, (STARTS, len(box)))
        found = [minimize(ratio, w, jac=True, method="L-BFGS-B", bounds=box) for w in starts]
        least = min(found, key=lambda end: end.fun)
        return Growth(float(least.fun), least.x)

    # Self-concordance (E8): (1 - c)^2 H <= Hess L(w) <= (1 - c)^{-2} H for ||w - w*||_H <= c

    @cached_property
    def whitening(self) -> np.ndarray:
        """M with M^T H M = I, dw x dw."""
        eigenvalues, vectors = np.linalg.eigh(self.at_truth)
        return vectors / np.sqrt(eigenvalues)

    @cached_property
    def third(self) -> tuple[float, np.ndarray]:
        """Largest |D^3 L(w*)[u, u, v]| with ||u||_H = ||v||_H = 1, and a u that has it in whitened coordinates.

        Of a symmetric form the largest value is one at u = v: by u <- D^3 L[u, u, .] / ||.|| from many starts.
        """
        net, (x, weight), M = self.problem.network, self.rule, self.whitening
        g = net.gradient(net.features(self.truth, x))[0].numpy() @ M
        bend = M.T @ net.hessian(self.truth, x)[0].numpy() @ M
        form = np.einsum("m,mi,mjk->ijk", 2 * weight.numpy(), g, bend)
        form = form + form.transpose(1, 0, 2) + form.transpose(2, 1, 0)
        best = (0.0, g[0])
        for u in np.random.default_rng(0).normal(size=(STARTS, len(M))):
            u = u / np.linalg.norm(u)
            for _ in range(200):
                # shifted, so that it climbs
                step = np.einsum("ijk,i,j->k", form, u, u) + 100 * u
                u = step / np.linalg.norm(step)
            value = abs(float(np.einsum("ijk,i,j,k->", form, u, u, u)))
            best = max(best, (value, u), key=lambda pair: pair[0])
        return best

    def relative(self, steps) -> np.ndarray:
        """Least and largest eigenvalue of Hess L(w* + M u) relative to H, N x 2. ``steps``: u, N x dw; ||u|| = ||w - w*||_H."""
        steps, M = np.atleast_2d(np.asarray(steps, float)), self.whitening
        found = M.T @ self.hessian(self.truth.numpy() + steps @ M.T) @ M
        return np.linalg.eigvalsh(found)[:, [0, -1]]

    def around(self, c: float, random: int = 200) -> np.ndarray:
        """Steps u with ||u|| = c: along the worst direction of ``third`` both ways, and random ones, N x dw."""
        u = np.random.default_rng(1).normal(size=(random, len(self.whitening)))
        u = np.concatenate([self.third[1][None], -self.third[1][None], u])
        return c * u / np.linalg.norm(u, axis=1, keepdims=True)


@statement("Assumption 3.3, growth", f"{PAPER}, Assumption 3.3")
def growth_condition(risk: Risk, growth: float, w: np.ndarray, nearest: bool = False) -> Check:
    """(mu / 2) ||w - w*||^2 <= L(w) on W, the first of two branches; holds by construction for the mu of ``Risk.on_box``.

    That mu is the least 2 L(w) / ||w - w*||^2 that a search over W finds. Flags a mu that is local, and any mu where W has two
    parameters of one function (E10).

    Args:
        risk: L.
        growth: mu.
        w: parameters of W, N x dw.
        nearest: whether w* is the nearest of the parameters of f in W, not one of them for all.
    """
    stars = risk.stars if nearest else risk.stars[:1]
    far2 = ((w[:, None] - stars) ** 2).sum(2).min(1)
    return growth_condition.statement.check(
        "(mu / 2) ||w - w*||^2 <= L(w)",
        {"mu": growth, "parameters of f": len(stars)},
        growth / 2 * far2,
        risk.value(w) + 1e-12,
        kind=ByConstruction if nearest and growth <= risk.on_box.mu else Check,
    )


@statement("Assumption 3.3, self-concordance", f"{PAPER}, Assumption 3.3")
def self_concordance(risk: Risk, c: float) -> Check:
    """(1 - c)^2 H <= Hess L(w) <= (1 - c)^{-2} H for ||w - w*||_H <= c: by eigenvalues relative to H, at such w.

    Fails on references A and B for every c that was tried (E8). The proofs do not need it (E9).
    """
    return self_concordance.statement.check(
        "(1 - c)^2 <= eigenvalues <= (1 - c)^{-2}",
        {"c": c},
        risk.relative(risk.around(c)) * [-1.0, 1.0],
        [-((1 - c) ** 2), (1 - c) ** -2],
    )
