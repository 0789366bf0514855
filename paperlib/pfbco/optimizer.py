"""Ask/tell on a set of one's own: one loss a round, no gradient, no projection."""

import hashlib
import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..asktell import optimizer as shared
from ..asktell.inputs import real_number, to_numpy
from ..asktell.records import TrialState
from ..core.describe import short_repr
from ..core.trees import list_leaves, tree_map
from ..core.validation import check_in, check_integer, check_positive
from ..learners.wrapper import Doubling, DoublingState
from .learners.onepoint import LARGEST_BOUND, Remembering
from .learners.pfbco import PFBCO
from .model import Task

ANSWERS = 8  # of an oracle, by which a file knows the set again
LARGEST = 1e150  # loss whose square is a number


class Optimizer(shared.SequentialOptimizer):
    """``PFBCO`` on a convex set, in the set's own coordinates.

    ::

        least = lambda c: -c / max(np.linalg.norm(c), 1e-300)  # of <c, x> over the unit disk
        user = Optimizer(oracle_set(least, center=[0.0, 0.0], radius=1.0))
        for _ in range(2000):
            user.tell(f(user.ask()))
        user.center

    It begins at the center of the ball inside. The same seed and losses give the same points. On
    sets of matrices points are vectors, svec(X), of which ``smat(x, p)`` makes X again.

    What to use in the end is ``center``; points asked for lie up to c T^{-1/5} radii away from the
    iterate, which explore. After ``fail`` the next ask explores in another direction.

    Args:
        cset: one set: ``polytope(C, d)``, ``oracle_set(oracle, center, radius)``, ``Ball.of(n)`` or
            another of ``paperlib.maths``. Rates are in proportion to its diameter: tell
            ``oracle_set`` where you know it.
        c: exploration scale in units of the radius of the ball inside, up to 1, and with a horizon
            T up to T^{1/5}.
        loss_bound: M, with |loss| <= M; the first loss beyond it is warned of. None: practical, the spread of the losses heard, measured
            anew where an epoch begins. Then losses lie within 1e150, and a spread within
            1e-12 of their mean counts as none.
        horizon: rounds that the rates are set for; None: epochs of 1, 2, 4, ... rounds.
        baseline: the mean of earlier losses is subtracted from a loss, which leaves the estimate
            unbiased.
        warm_start: an epoch begins where the last one ended.
        seed: of the directions.
        answer: what ``center`` is: "last", where the last finished epoch ended, or "average", the
            mean of that epoch's iterates.
        device: where the learner computes: "cuda", "cuda:N" or a ``torch.device``; None: the CPU. What is asked and
            told stays numpy's and Python's.

    The theorems are about ``loss_bound=M, baseline=False, warm_start=False``: a bound alone, with
    the other two left on, does not bring them.

    Raises:
        ValueError: a value out of range, a set of several trials or whose oracle is not its own
            (``exact=False``), or a horizon without a bound, for the spread is not known when rates
            are set.
        RuntimeError: an oracle whose set does not hold its ball.
    """

    def __init__(
        self,
        cset: Any,
        c: float = 1.0,
        loss_bound: float | None = None,
        horizon: int | None = None,
        baseline: bool = True,
        warm_start: bool = True,
        seed: int = 0,
        answer: str = "last",
        device: str | torch.device | None = None,
    ):
        _check_set(cset)
        check_in("answer", answer, ("last", "average"))
        if loss_bound is not None:
            loss_bound = check_positive("loss_bound", loss_bound, 1 / LARGEST_BOUND, LARGEST_BOUND)
        if horizon is not None:
            horizon = check_integer("horizon", horizon)
            if loss_bound is None:
                raise ValueError(
                    f"loss_bound=None with horizon={horizon!r}; allowed: a number above 0, "
                    "or horizon=None"
                )
        scale = "spread" if loss_bound is None else "task"
        learner = PFBCO(c, baseline=baseline, scale=scale, warm_start=warm_start)
        learner, self.answer = Remembering(learner), answer
        # without the trial's dimension, with which AskTell leads it
        own = tree_map(
            lambda x: x[0].to("cpu", torch.float64) if x.is_floating_point() else x[0].cpu(), cset
        )
        one = torch.ones((), dtype=torch.float64)
        self.loss_bound = None if loss_bound is None else float(loss_bound)
        task = Task(own, one * (self.loss_bound or 1.0), one)
        begun = learner if horizon is not None else Doubling(learner)
        super().__init__(begun, task, horizon, seed, device=device)
        self._known = _fingerprint(tree_map(Tensor.cpu, self.context.cset))

    def _heard(self, now: TrialState, action: np.ndarray, loss: float) -> TrialState:
        number, where = real_number("loss", loss), f"round {now.rounds + 1}"
        if not math.isfinite(number):
            raise ValueError(
                f"loss={short_repr(loss)} in {where}, trial 0; allowed: a finite number"
            )
        if self.loss_bound is None and abs(number) > LARGEST:
            raise ValueError(
                f"loss={short_repr(loss)} in {where}, trial 0; allowed: up to {LARGEST:g}, for "
                "moments are kept, or a loss_bound"
            )
        return super()._heard(now, action, number)

    @property
    def center(self) -> np.ndarray:
        """What to use in the end, n numbers; by default where the last finished epoch ended.

        Not the iterate of the round: where an epoch begins it is the start again, or with a warm
        start soon one long step away from it, by one noisy estimate. With ``answer="average"`` the
        mean of the epoch's iterates: its loss, if all rounds have one convex loss, exceeds the
        least by at most the epoch's regret over its rounds, which is what Theorem 1 bounds. With a
        horizon there is one epoch: the iterate, or the mean, so far.

        It lies in (1 - alpha) K with alpha = c T^{-1/5} of the epoch, 1/4 of it missing at c = 1
        and T = 1024: where the best point lies on the boundary a smaller c comes closer, at the
        price of noisier estimates.
        """
        if isinstance(self.state, DoublingState):
            last, mean = self.state.base.last, self.state.base.mean
        else:
            last, mean = self.state.so_far()
        return self._native(to_numpy((last if self.answer == "last" else mean)[0]))

    def _native(self, point: np.ndarray) -> np.ndarray:
        y = torch.from_numpy(point).unsqueeze(0).to(self.device)
        return to_numpy(self.context.cset.to_native(y)[0])

    def _offer(self) -> str:
        return f"{type(self.context.cset).__name__} in {self.context.cset.dim} dimensions"

    def _settings(self) -> dict:
        return super()._settings() | {"set": self._known, "loss_bound": self.loss_bound}


def _check_set(cset: Any) -> None:
    """Raise ValueError for what is no single set with an oracle of its own."""
    if not (isinstance(cset, tuple) and hasattr(cset, "lmo")):
        raise ValueError(
            f"cset: {type(cset).__name__}; allowed: a set of paperlib.maths, such as "
            "polytope(C, d), oracle_set(oracle, center, radius) or Ball.of(n)"
        )
    if any(leaf.shape[0] != 1 for _, leaf in list_leaves(cset) if isinstance(leaf, Tensor)):
        raise ValueError(
            f"cset: {type(cset).__name__} of {max(len(cset.R), len(cset.D))} trials; "
            "allowed: one set"
        )
    if not cset.exact:
        raise ValueError(
            f"cset: {type(cset).__name__} with exact=False, whose oracle is that of another "
            "set; allowed: exact=True"
        )


def _fingerprint(cset: Any) -> str:
    """Of a set's numbers and of some answers of its oracle, as a function has no numbers.

    To nine digits, as solvers differ by machine.
    """
    digest = hashlib.sha256(type(cset).__name__.encode())
    unit = float(getattr(cset, "rho", getattr(cset, "radius", 1.0)))
    for name, leaf in list_leaves(cset, ""):
        # those follow from the rest, in an order of rounding
        if isinstance(leaf, Tensor) and name != ".vertices":
            least = unit if name in (".center", ".rho", ".radius") else 1.0
            digest.update(name.encode() + str(tuple(leaf.shape)).encode() + _digits(leaf, least))
        elif not isinstance(leaf, Tensor) and not callable(leaf):
            digest.update(f"{name}={leaf!r}".encode())
    for c in np.random.default_rng(0).normal(size=(ANSWERS, cset.dim)):
        digest.update(_digits(cset.lmo(torch.from_numpy(c).unsqueeze(0)), 1.0))
    return digest.hexdigest()[:16]


def _digits(x: Tensor, least: float) -> bytes:
    """Nine digits of the largest number, at least ``smallest``.

    Off by 0.3183: numbers that are round do not lie where rounding turns.
    """
    size = 10.0 ** math.ceil(math.log10(max(float(x.abs().max()), least)) - 0.3183)
    return torch.floor(x / size * 1e9 + 0.3183).numpy().tobytes()
