"""BKB: budgeted kernelized bandits, GP-UCB on a dictionary that is sampled anew each round.

Source: Calandriello et al. (2019), Algorithm 1.
Letters: R trials, A arms, M slots of the dictionary; s2 the scaled variance, p inclusion probability of a pull.
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
GRAM = 2**20  # numbers, at most, in a K_XX that is kept


class BKBState(NamedTuple):
    """Counters, the dictionary, and the posterior from them."""

    n: Tensor  # R x A, pulls
    ysum: Tensor  # R x A, sums of rewards
    mask: Tensor  # R x A bool, the dictionary S_t
    mu: Tensor  # R x A
    s2: Tensor  # R x A
    log_det: Tensor  # R, ln det(A~_t / lambda)
    tally: RoundSums
    copies: Tensor | None  # 1 or R x A, first equal arm
    overflow: Tensor  # R bool, a dictionary was larger than its capacity
    failed: Tensor  # R bool, K_SS did not factor
    gram: Tensor | None  # 1 or R x A x A, K_XX, where it is small
    eigh: bool  # the root
    # R x A, smallest coin of an arm's pulls that are in the dictionary, 1 without one (IncrementalBKB)
    coin: Tensor | None = None


def inclusion_probability(n: Tensor, s2: Tensor, qbar: float, merge: str = "pulls") -> Tensor:
    """Probability that an arm enters the dictionary, R x A.

    "pulls": each of its n pulls is kept with p = min(1, qbar s2), so 1 - (1 - p)^n, Algorithm 1. "arms": one coin an
    arm with min(1, qbar n s2), the authors' public code.

    Args:
        n: pulls, R x A.
        s2: scaled variance of the posterior that chose the last arm, R x A.
        qbar: oversampling, > 0.
    """
    if merge == "arms":
        return (qbar * n * s2).clamp(max=1.0)
    p = (qbar * s2).clamp(max=1.0)
    # 1 - (1 - p)^n without cancellation; 0 for n = 0, also where p = 1
    return -torch.special.xlog1py(n, -p).expm1_()


class Sketched(KernelUCB):
    """Base class of the learners with a dictionary: sampling, and the posterior from dictionary and counters.

    A subclass has ``variance``, ``capacity`` and ``root``, and ``qbar`` and ``merge`` where it calls ``sampled``, as fields
    or as class attributes.
    """

    looks = False  # whether a round waits for a number of the device
    tags = Tags(fixed_arms=True, derived=("gram",))  # the kernel matrix follows from the arms alone

    def __post_init__(self):
        super().__post_init__()
        if not (isinstance(self.capacity, str) and self.capacity == "auto"):
            check_integer("capacity", self.capacity)

    def sampled(
        self, state, pulls: PullCounts, draw: Draw, rows: Tensor | slice = slice(None)
    ) -> Tensor:
        """S_{t+1} of the trials ``rows``, R x A bool: the pulls kept by the variance s2_t that chose the last arm. S_1 = {x_1}."""
        n = pulls.n[rows]
        if state.tally.rounds == 0:
            return n > 0
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
        """The sketched posterior; with variance "sor" its s2 is the subset of regressors'."""
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
        """Return the state after a round, with the posterior in the span of the dictionary ``mask``; ``own_state``: see ``heard``."""
        rounds = state.tally.rounds + 1
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
        """mu and s2 at any points, in the span of the state's dictionary. ``at``: R x A' x d or 1 x A' x d. Returns R x A' each."""
        pulls = PullCounts(state.n, state.ysum)
        found = self.fitted(
            arms, state.mask, pulls, state.tally, state.eigh, state.tally.rounds, at=at
        )
        return found.mu, found.s2

    def undrawn(self, trials: int, arms: Tensor) -> dict[str, Any]:
        """The fields that states with a sampled dictionary share, before the first round: S_0 is empty.

        Departure: K_XX, of which K_SX is a part in every round, is kept where it is small; the paper's space is O(A d_eff).
        """
        shared = self.prior(trials, arms)
        none = shared["n"] > 0
        small = len(arms) * arms.shape[1] ** 2 <= GRAM
        return shared | {
            "mask": none,
            "overflow": none[:, 0],
            "failed": none[:, 0],
            "gram": self.kernel(arms, arms) if small else None,
            "eigh": self.root_of(arms, shared["tally"]),
        }

    def report(self, state: Any) -> dict[str, Tensor]:
        """Size of the dictionary, whether one overflowed, and whether K_SS ever failed to factor (then play raises)."""
        return {"dictionary": state.mask.sum(1), "overflow": state.overflow, "failed": state.failed}

    def root_of(self, arms: Tensor, tally: RoundSums) -> bool:
        """Whether K_SS is taken apart by ``eigh``, once for the whole run."""
        kappa2, lam = tally.kappa2, self.confidence.lam
        return needs_eigenvalues(self.root, self.kernel, arms.shape[2], kappa2, lam)


@frozen_dataclass
class BKB(Sketched):
    """GP-UCB whose posterior lives in the span of a few pulled arms, sampled anew each round by their variance.

    Source: Calandriello et al. (2019), Algorithm 1.

    Attributes:
        kernel: see ``paperlib.maths.gp``.
        confidence: radius rule and its constants.
        qbar: > 0, oversampling; the theory's is ``theory.constants.qbar_theory``, hundreds; 5 is practical.
        merge: "pulls", the paper's coin for each pull, or "arms", one coin an arm.
        variance: "dtc", the paper's, or "sor", the subset of regressors, which starves: outside the dictionary it is 0,
            and with an empty one it stays 0 for ever.
        capacity: slots of the dictionary, or "auto": as many as the largest one needs, a look at the device a round.
            Of a dictionary that does not fit the arms of largest index are left out; ``report`` flags the trial.
        root: of K_SS: "cholesky", "eigh", or "auto" by kernel and ridge.

    Raises:
        ValueError: a value out of range.
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
        """With capacity "auto" the size of the largest dictionary is read in each round, and ``eigh`` waits for a GPU's result."""
        eigh = self.root == "eigh" or (
            self.root == "auto" and kernel_rank(self.kernel, 1) is not None
        )
        return self.capacity == "auto" or eigh

    def init(
        self, trials: int, arms: Tensor, horizon: int | None, draw: Draw, **tkwargs
    ) -> BKBState:
        """S_0 is empty; the horizon is not used."""
        shared = self.undrawn(trials, arms)
        return BKBState(**shared, log_det=shared["tally"].information)

    def update(
        self, state: BKBState, arms: Tensor, arm: Tensor, reward: Tensor, draw: Draw
    ) -> BKBState:
        """The loop of Algorithm 1 after the reward: count, sample S_{t+1} with the variance s2_t that chose the arm, fit. ``arm``, ``reward``: R."""
        pulls = PullCounts(state.n, state.ysum).add(arm, reward)
        return self.resketched(state, arms, arm, pulls, self.sampled(state, pulls, draw))
