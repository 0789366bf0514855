"""Statements about one dictionary: how the projection on its span changes determinants, variances and matrices.

All quantities are computed densely in a feature space of all arms, independently of a learner's embedding. ``snapshots``
takes the dictionaries from the end of a run, and ``in_all`` combines many checks into one.
Source: Calandriello et al. (2019), Section 3, Appendices C and D.
Letters: A arms, r features, Phi the A x r features of all arms with K = Phi Phi^T, P the projection on the span of the
dictionary's rows, n pulls; A_t = Phi^T diag(n) Phi + lambda I, A~_t = P Phi^T diag(n) Phi P + lambda I.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from paperlib.bkb.probes import SHOT, redraw_multiplicities
from paperlib.bkb.theory.constants import PAPER, ROUNDING
from paperlib.checks import Check, statement
from paperlib.core.trace import Trace
from paperlib.maths.gp import Kernel

SPAN = 1e-7  # Singular values of the dictionary's rows below this multiple of the largest are treated as rounding.
JITTERED = 1e-6  # allowed relative error of learners' quantities that depend on a jittered K_SS
JITTER = 1e-12  # multiple of kappa2 that learners add to K_SS


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Arms, pulls and dictionary of one trial at one time."""

    kernel: Kernel
    arms: Tensor  # A x d
    n: Tensor  # A, pulls
    mask: Tensor  # A bool, the dictionary
    ridge: float  # lambda
    s2: Tensor | None = None  # A, the learner's sketched variance
    log_det: float | None = None  # the learner's ln det(A~ / lambda)
    kept: Tensor | None = None  # A, number of kept pulls of each arm; needed for the accuracy
    probability: Tensor | None = None  # A, inclusion probability of each pull
    mean: Tensor | None = None  # A, the learner's sketched mean
    total: Tensor | None = None  # A, sums of rewards; needed for the mean

    @cached_property
    def features(self) -> Tensor:
        """Phi, A x r, from the eigenvalues of K."""
        values, vectors = torch.linalg.eigh(self.kernel(self.arms, self.arms))
        return vectors * values.clamp(min=0).sqrt()

    @cached_property
    def diagonal(self) -> Tensor:
        """k(x, x), A."""
        return self.features.square().sum(1)

    @cached_property
    def projection(self) -> Tensor:
        """P, r x r."""
        # The right singular vectors of the dictionary's rows with nonzero singular values span the rows.
        _, values, right = torch.linalg.svd(self.features[self.mask], full_matrices=False)
        basis = right[values > SPAN * values.max()] if len(values) else right
        return basis.mT @ basis

    @cached_property
    def exact(self) -> Tensor:
        """A_t / lambda, r x r."""
        return self._matrix(self.features)

    @cached_property
    def sketched(self) -> Tensor:
        """A~_t / lambda, r x r."""
        return self._matrix(self.features @ self.projection)

    def _matrix(self, rows: Tensor) -> Tensor:
        eye = torch.eye(rows.shape[1], dtype=rows.dtype)
        return eye + rows.mT @ (self.n.unsqueeze(1) * rows) / self.ridge

    def _variance(self, matrix: Tensor, rows: Tensor) -> Tensor:
        half = torch.linalg.solve_triangular(torch.linalg.cholesky(matrix), rows.mT, upper=False)
        return half.square().sum(0) / self.ridge

    @cached_property
    def exact_s2(self) -> Tensor:
        """phi^T A_t^{-1} phi, A."""
        return self._variance(self.exact, self.features)

    @cached_property
    def sketched_s2(self) -> Tensor:
        """phi^T A~_t^{-1} phi, A."""
        return self._variance(self.sketched, self.features)

    @cached_property
    def sketched_mean(self) -> Tensor:
        """phi^T A~_t^{-1} Phi~^T y, A."""
        rows = self.features @ self.projection
        factor = torch.linalg.cholesky(self.sketched)
        weight = torch.cholesky_solve((rows.mT @ self.total).unsqueeze(1), factor)
        return (self.features @ weight).squeeze(1) / self.ridge

    @cached_property
    def jitter_adds(self) -> Tensor:
        """Change of ``sketched_s2`` if K_SS is replaced by K_SS + ``JITTER`` kappa2 I, A.

        It is no fixed fraction of the variance, because K_SS may have smaller eigenvalues than the jitter. It is computed
        from eigenvalues, where learners use a Cholesky factor: k / lambda minus the part that the embedding z of x explains.
        """
        rows = self.features[self.mask]
        values, vectors = torch.linalg.eigh(rows @ rows.mT)
        scale = (values.clamp(min=0) + JITTER * self.diagonal.max()).rsqrt()
        z = (self.features @ rows.mT) @ (vectors * scale)
        explained = z.square().sum(1) / self.ridge - self._variance(self._matrix(z), z)
        return (self.diagonal / self.ridge - explained - self.sketched_s2).abs()

    @cached_property
    def regressors_s2(self) -> Tensor:
        """Variance of the subset of regressors, A: phi^T A~_t^{-1} phi for the projected phi."""
        return self._variance(self.sketched, self.features @ self.projection)

    @property
    def claimed(self) -> Tensor:
        """The learner's s2~ if it is given, otherwise the dense one, A."""
        return self.sketched_s2 if self.s2 is None else self.s2

    @cached_property
    def accuracy(self) -> float:
        """e = ||A^{-1/2} Phi^T (W - I) Phi A^{-1/2}|| with W = diag(q / p); the dictionary is e-accurate."""
        # W reweights the kept pulls by 1 / p, so that its expectation given the past is the identity.
        weight = torch.where(self.kept > 0, self.kept / self.probability.clamp(min=1e-300), 0.0)
        factor = torch.linalg.cholesky(self.exact)
        half = torch.linalg.solve_triangular(factor, self.features.mT, upper=False)
        return float(torch.linalg.matrix_norm((half * (weight - self.n)) @ half.mT / self.ridge, 2))

    @property
    def inputs(self) -> dict[str, float]:
        """Numbers of the snapshot for ``Check.inputs``."""
        return {
            "A": len(self.arms),
            "pulls": int(self.n.sum()),
            "m": int(self.mask.sum()),
            "lambda": self.ridge,
        }


def snapshots(
    trace: Trace, kernel: Kernel, arms: Tensor, ridge: float, qbar: float
) -> list[Snapshot]:
    """Return each trial's last dictionary with multiplicities.

    The run stores the dictionary only. Given the dictionary, the multiplicities are drawn again from a separate random stream.

    Args:
        trace: recorded with the probes ``SHOT`` (reduce "final").
        arms: 1 x A x d.
        ridge: lambda.
        qbar: oversampling of the learner, which must draw one Bernoulli sample per pull.
    """
    found = []
    for trial, n, mask, s2, before in zip(trace.trials, *(trace[name] for name in SHOT)):
        p, mask = np.clip(qbar * before, 0.0, 1.0), mask > 0
        kept = redraw_multiplicities(trial, 0, mask, n, p)
        n, mask, s2, kept, p = (torch.from_numpy(x) for x in (n, mask, s2, kept, p))
        found.append(Snapshot(kernel, arms[0], n, mask, ridge, s2, kept=kept, probability=p))
    return found


@statement("Section 3, posterior", f"{PAPER}, Section 3")
def sketched_posterior(shot: Snapshot) -> Check:
    """s2~(x) = phi^T A~^{-1} phi and mu~(x) = phi^T A~^{-1} Phi~^T y: a learner's equal the dense ones up to the effect of its jitter.

    The mean is compared only if the snapshot has one.
    """
    s2 = shot.sketched_s2.clamp(min=1e-300)
    observed, bound = (shot.claimed - s2).abs() / s2, JITTERED + shot.jitter_adds / s2
    if shot.mean is not None:
        scale = 1 + float(shot.sketched_mean.abs().max())
        wrong = (shot.mean - shot.sketched_mean).abs() / scale
        observed, bound = torch.cat([observed, wrong]), torch.cat([bound, bound])
    return sketched_posterior.statement.check(
        "|s2~ - phi^T A~^-1 phi| / s2~, |mu~ - phi^T A~^-1 Phi~^T y| / (1 + max |mu~|)",
        shot.inputs | {"jitter adds at most": float((shot.jitter_adds / s2).max())},
        observed,
        bound,
    )


@statement("Section 3, sketched variance", f"{PAPER}, Section 3; ours")
def sketched_variance(shot: Snapshot) -> Check:
    """s2~ <= s2 in the span of the dictionary, s2~ = k / lambda >= s2 orthogonal to it, and s2 of SoR <= s2~ <= k / lambda always.

    Therefore s2~ is neither an upper nor a lower bound on s2 in general.
    """
    claimed, prior = shot.claimed, shot.diagonal / shot.ridge
    # Arms whose features are orthogonal to the span of the dictionary, up to rounding.
    beside = (shot.features @ shot.projection).square().sum(1) <= 1e-14 * shot.diagonal
    pairs = [
        (claimed[shot.mask], shot.exact_s2[shot.mask]),
        (prior[beside], claimed[beside]),
        (shot.regressors_s2, claimed),
        (claimed, prior),
    ]
    observed, bound = (torch.cat(side) for side in zip(*pairs))
    return sketched_variance.statement.check(
        "SoR <= s2~ <= k / lambda; s2~ <= s2 in the span of S",
        shot.inputs,
        observed,
        bound + 1e-9 * prior.max(),
        tolerance=JITTERED,
    )


@statement("Appendix D.1, determinant", f"{PAPER}, Appendix D.1")
def determinant(shot: Snapshot) -> Check:
    """ln det(A~ / lambda) <= ln det(A / lambda), because projection does not increase it; a learner's value equals the dense one."""
    log_det = lambda matrix: float(torch.linalg.slogdet(matrix).logabsdet)
    sketched, exact = log_det(shot.sketched), log_det(shot.exact)
    pairs = [(sketched, exact)]
    if shot.log_det is not None:
        pairs += [(shot.log_det, exact)]
        pairs += [(abs(shot.log_det - sketched), JITTERED * (1 + abs(sketched)))]
    return determinant.statement.check(
        "ln det(A~ / lambda) <= ln det(A / lambda); a learner's is ln det(A~ / lambda)",
        shot.inputs,
        *torch.tensor(pairs, dtype=torch.float64).mT,
        tolerance=JITTERED,
    )


def _factor(shot: Snapshot) -> float:
    """Return a = (1 + e) / (1 - e) for a dictionary of accuracy e < 1."""
    return (1 + shot.accuracy) / (1 - shot.accuracy)


@statement("Lemma C.1", f"{PAPER}, Lemma C.1, without the minimum")
def lemma_c1(shot: Snapshot) -> Check:
    """A / a <= A~ <= a A with a = (1 + e) / (1 - e), e the accuracy, by generalized eigenvalues; the paper's min{s2~, 1} is false (E5)."""
    # Generalized eigenvalues of the pair (A~, A): all of them are between 1 / a and a.
    factor = torch.linalg.cholesky(shot.exact)
    half = torch.linalg.solve_triangular(factor, shot.sketched, upper=False)
    values = torch.linalg.eigvalsh(torch.linalg.solve_triangular(factor, half.mT, upper=False))
    return lemma_c1.statement.check(
        "A / a <= A~ <= a A",
        shot.inputs | {"e": shot.accuracy},
        torch.stack([1 / values, values]),
        _factor(shot),
        tolerance=ROUNDING,
    )


@statement("Lemma C.1, variance", f"{PAPER}, Lemma C.1, without the minimum (E5)")
def lemma_c1_variance(shot: Snapshot) -> Check:
    """s2 / a <= s2~ <= a s2 for every arm, with a = (1 + e) / (1 - e) and e the accuracy."""
    # Arms with k(x, x) = 0 have the variance 0 in both posteriors, and therefore no ratio.
    seen = shot.diagonal > 1e-12 * shot.diagonal.max()
    ratio = shot.claimed[seen] / shot.exact_s2[seen]
    return lemma_c1_variance.statement.check(
        "s2 / a <= s2~ <= a s2",
        shot.inputs | {"e": shot.accuracy},
        torch.stack([1 / ratio, ratio]),
        _factor(shot),
        tolerance=JITTERED,
    )


@statement("Proposition D.3", f"{PAPER}, Proposition D.3")
def proposition_d3(shot: Snapshot) -> Check:
    """The part of the pulls outside the span is small: the largest eigenvalue of Phi (I - P) Phi^T is at most lambda / (1 - e)."""
    # The largest eigenvalue of B B^T is the squared spectral norm of B = diag(n)^{1/2} Phi (I - P).
    rest = shot.n.sqrt().unsqueeze(1) * (shot.features - shot.features @ shot.projection)
    return proposition_d3.statement.check(
        "||Phi (I - P) Phi^T|| <= lambda / (1 - e)",
        shot.inputs | {"e": shot.accuracy},
        float(torch.linalg.matrix_norm(rest, 2)) ** 2,
        shot.ridge / (1 - shot.accuracy),
    )


@statement("Appendix C.3, accuracy", f"{PAPER}, Appendix C.3, with the constants of its proof")
def dictionary_accuracy(accuracies, eps: float, delta: float) -> Check:
    """With probability 1 - delta: the dictionary is eps-accurate for all t, e <= eps.

    ``accuracies``: e, R x T'.
    """
    return dictionary_accuracy.statement.check(
        "for all t: ||A^{-1/2} Phi^T (W - I) Phi A^{-1/2}|| <= eps, with probability 1 - delta",
        {"eps": eps, "delta": delta},
        np.asarray(accuracies, float),
        eps,
        delta,
    )


def in_all(statement: Callable[[Snapshot], Check], shots: Sequence[Snapshot]) -> Check:
    """Combine the checks of one statement on many dictionaries into one check, which has the largest of each input.

    Args:
        statement: one of the statements above without a failure probability.
        shots: at least one.
    """
    checks = [statement(shot) for shot in shots]
    largest = {name: max(check.inputs[name] for check in checks) for name in checks[0].inputs}
    return replace(
        checks[0],
        inputs={"dictionaries": len(checks)} | largest,
        observed=np.concatenate([check.observed.ravel() for check in checks]),
        bound=np.concatenate([check.bound.ravel() for check in checks]),
    )
