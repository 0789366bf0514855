"""BKB: budgeted kernelized bandits, GP-UCB on a dictionary that is resampled in each round.

Source: Calandriello et al. (2019), Algorithm 1.
Letters: R trials, A arms, M slots of the dictionary; s2 the scaled variance, p the inclusion probability of a pull.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from ...core import fields
from ...core.contracts import Tags
from ...core.describe import frozen_dataclass
from ...core.streams import Draw
from ...core.validation import check_integer
from ...maths.gp import Kernel, kernel_rank
from ..model.confidence import Confidence, RoundSums
from .posterior import ROOTS, SketchedFit, fit_sketch, needs_eigenvalues
from .ucb import KernelUCB, PullCounts

MERGES = ("pulls", "arms")
VARIANCES = ("dtc", "sor")
GRAM = 2**20  # largest number of entries of a kernel matrix K_XX that a state stores


class BKBState(NamedTuple):
    """Pull counts, the dictionary, and the posterior that they give."""

    n: Tensor  # R x A, pulls
    ysum: Tensor  # R x A, sums of rewards
    mask: Tensor  # R x A bool, the dictionary S_t
    mu: Tensor  # R x A
    s2: Tensor  # R x A
    log_det: Tensor  # R, ln det(A~_t / lambda)
    tally: RoundSums
    copies: Tensor | None  # 1 or R x A, first equal arm
    overflow: Tensor  # R bool, a dictionary was larger than its capacity
    failed: Tensor  # R bool, K_SS had no Cholesky factor
    gram: Tensor | None  # 1 or R x A x A, K_XX, or None if it is large
    eigh: bool  # whether the square root of K_SS is computed by eigenvalues
    # R x A, smallest uniform of an arm's pulls that are in the dictionary, 1 without one (IncrementalBKB)
    coin: Tensor | None = None


def inclusion_probability(n: Tensor, s2: Tensor, qbar: float, merge: str = "pulls") -> Tensor:
    """Return the probability that an arm enters the dictionary, R x A.

    With "pulls" (Algorithm 1), each of the arm's n pulls is kept with p = min(1, qbar s2); the arm is included with
    probability 1 - (1 - p)^n. With "arms" (the authors' public code), there is one Bernoulli sample per arm, with
    probability min(1, qbar n s2).

    Args:
        n: pulls, R x A.
        s2: scaled variance of the posterior that chose the last arm, R x A.
        qbar: oversampling, > 0.
        merge: "pulls" or "arms".
    """
    if merge == "arms":
        # An arm's n rows together have the leverage score n s2, so that a well explored direction is never missed
        # once qbar n s2 >= 1.
        return (qbar * n * s2).clamp(max=1.0)
    p = (qbar * s2).clamp(max=1.0)  # Algorithm 1, clipped at 1 (E3)
    # 1 - (1 - p)^n without cancellation. The result is 0 for n = 0, also where p = 1.
    return -torch.special.xlog1py(n, -p).expm1_()


class Sketched(KernelUCB):
    """Base class of the learners with a dictionary: sampling, and the posterior from dictionary and pull counts.

    A subclass defines ``variance``, ``capacity`` and ``root`` as fields or as class attributes. If it calls ``sampled``,
    it also defines ``qbar`` and ``merge``.
    """

    looks = False  # whether a round reads a number from the device and therefore waits for it
    tags = Tags(fixed_arms=True, derived=("gram",))  # the kernel matrix follows from the arms alone

    def __post_init__(self):
        super().__post_init__()
        if not (isinstance(self.capacity, str) and self.capacity == "auto"):
            check_integer("capacity", self.capacity)

    def sampled(
        self, state, pulls: PullCounts, draw: Draw, rows: Tensor | slice = slice(None)
    ) -> Tensor:
        """Sample the dictionary S_{t+1} of the trials ``rows``, R x A bool, with the variance s2_t that chose the last arm.

        S_1 = {x_1}.
        """
        n = pulls.n[rows]
        if state.tally.rounds == 0:
            return n > 0
        # All uniforms are new in each round, because Algorithm 1 resamples the dictionary from scratch.
        coins = draw.uniform("dictionary", n.shape[1])[rows]
        return coins < inclusion_probability(n, state.s2[rows], self.qbar, self.merge)

    def fitted(
        self,
        arms: Tensor,
        mask: Tensor,
        pulls: PullCounts,
        tally: RoundSums,
        eigh: bool,
        rounds: int,
        **options,
    ) -> SketchedFit:
        """Fit the sketched posterior; with variance "sor", s2 is the variance of the subset of regressors."""
        found = fit_sketch(
            self.kernel,
            arms,
            mask,
            *pulls,
            self.confidence.lam,
            tally.kappa2,
            eigh=eigh,
            slots=None if self.capacity == "auto" else min(self.capacity, mask.shape[1]),
            rounds=rounds,
            looks=self.looks,
            **options,
        )
        return found if self.variance == "dtc" else found._replace(s2=found.sor)

    def resketched(
        self, state: Any, arms: Tensor, arm: Tensor, pulls: PullCounts, mask: Tensor, **own: Any
    ) -> Any:
        """Return the state after a round, with the posterior in the span of the dictionary ``mask``; ``own``: see `heard`."""
        rounds = state.tally.rounds + 1
        # mu~_t and s2~_t of Section 3 for all arms; the next arm is chosen from them.
        found = self.fitted(arms, mask, pulls, state.tally, state.eigh, rounds, gram=state.gram)
        return self.heard(
            state,
            arm,
            pulls,
            found.mu,
            found.s2,
            mask=mask,
            log_det=found.log_det,
            overflow=state.overflow | found.overflow,
            failed=state.failed | found.failed,
            **own,
        )

    def predict(self, state, arms: Tensor, at: Tensor) -> tuple[Tensor, Tensor]:
        """Return mu and s2 at any points, R x A' each, in the span of the state's dictionary.

        ``at``: R x A' x d or 1 x A' x d.
        """
        pulls = PullCounts(state.n, state.ysum)
        found = self.fitted(
            arms, state.mask, pulls, state.tally, state.eigh, state.tally.rounds, at=at
        )
        return found.mu, found.s2

    def undrawn(self, trials: int, arms: Tensor) -> dict[str, Any]:
        """Return the initial fields that states with a sampled dictionary share: S_0 is empty.

        Departure: K_XX is stored if it is small, because K_SX is a part of it in every round. The paper's space is
        O(A d_eff).
        """
        shared = self.prior(trials, arms)
        none = shared["n"] > 0
        # For larger arm sets K_SX is computed in each round instead, because K_XX would not fit the memory bound.
        small = len(arms) * arms.shape[1] ** 2 <= GRAM
        return shared | {
            "mask": none,
            "overflow": none[:, 0],
            "failed": none[:, 0],
            "gram": self.kernel(arms, arms) if small else None,
            "eigh": self.root_of(arms, shared["tally"]),
        }

    def report(self, state: Any) -> dict[str, Tensor]:
        """Report the dictionary's size, whether one overflowed, and whether K_SS ever had no factor (then ``play`` raises)."""
        return {"dictionary": state.mask.sum(1), "overflow": state.overflow, "failed": state.failed}

    def root_of(self, arms: Tensor, tally: RoundSums) -> bool:
        """Decide once for the whole run whether the square root of K_SS is computed by ``eigh``."""
        kappa2, lam = tally.kappa2, self.confidence.lam
        return needs_eigenvalues(self.root, self.kernel, arms.shape[2], kappa2, lam)


@frozen_dataclass
class BKB(Sketched):
    """Gaussian-process bandit with adaptive sketching: GP-UCB on a dictionary of pulled arms.

    The posterior is the projection on the span of the dictionary. In each round the dictionary is resampled from the
    pulled arms, and arms with a large posterior variance are more likely to be kept.

    Source: Calandriello et al. (2019), Algorithm 1.

    Attributes:
        kernel: see ``paperlib.maths.gp``.
        confidence: radius rule and its constants.
        qbar: > 0, oversampling. The theory requires hundreds (``theory.constants.qbar_theory``); 5 is practical.
        merge: "pulls" for one Bernoulli sample per pull, as in the paper, or "arms" for one per arm.
        variance: "dtc" as in the paper, or "sor" for the subset of regressors. The latter suffers from variance
            starvation: it is 0 in directions outside the dictionary, and with an empty dictionary it stays 0 forever.
        capacity: slots of the dictionary, or "auto" for as many as the largest dictionary needs, which reads one number
            from the device per round. If a dictionary does not fit, the arms with the largest indices are left out and
            ``report`` flags the trial.
        root: square root of K_SS: "cholesky", "eigh", or "auto", which decides by kernel and ridge.

    Raises:
        ValueError: a value out of range.

    Examples:
        >>> from paperlib.bkb import BKB, RKHS, Confidence, UniformArm
        >>> from paperlib.play import play
        >>> problem = RKHS(arms=50)
        >>> learner = BKB(problem.kernel, Confidence(noise=0.1, norm_bound=3.0))
        >>> trace = play(learner, problem, horizon=100, trials=2)
        >>> uniform = play(UniformArm(), problem, horizon=100, trials=2)
        >>> bool(trace["regret"][:, -1].mean() < 0.5 * uniform["regret"][:, -1].mean())
        True
        >>> bool((trace["report.dictionary"] < 100).all())  # arms in the dictionary, after 100 pulls
        True
    """

    kernel: Kernel
    confidence: Confidence
    qbar: float = fields.positive(5.0)
    merge: str = fields.one_of(MERGES, "pulls")
    variance: str = fields.one_of(VARIANCES, "dtc")
    capacity: int | str = "auto"
    root: str = fields.one_of(ROOTS, "auto")

    @property
    def looks(self) -> bool:
        """True if a round waits for the device: capacity "auto" reads the largest dictionary's size, and ``eigh`` synchronizes."""
        # Only the kernel is known here; ``root_of`` also chooses eigenvalues for a very small ridge.
        eigh = self.root == "eigh" or (
            self.root == "auto" and kernel_rank(self.kernel, 1) is not None
        )
        return self.capacity == "auto" or eigh

    def init(
        self, trials: int, arms: Tensor, horizon: int | None, draw: Draw, **tkwargs
    ) -> BKBState:
        """Return the initial state with the empty dictionary S_0; the horizon is not used."""
        shared = self.undrawn(trials, arms)
        return BKBState(**shared, log_det=shared["tally"].information)

    def update(
        self, state: BKBState, arms: Tensor, arm: Tensor, reward: Tensor, draw: Draw
    ) -> BKBState:
        """Count the pull, sample S_{t+1} and refit (the loop of Algorithm 1 after the reward). ``arm``, ``reward``: R.

        The dictionary is sampled with the variance s2_t that chose the arm, not with the variance after the new reward.
        """
        pulls = PullCounts(state.n, state.ysum).add(arm, reward)
        # The old s2_t also decides about the new pull, as in Algorithm 1.
        return self.resketched(state, arms, arm, pulls, self.sampled(state, pulls, draw))
