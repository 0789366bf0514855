"""Ask/tell optimization on your own convex set: one loss per round, no gradient, no projection."""

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

ANSWERS = 8  # oracle minimizers in the fingerprint by which a saved file identifies the set
LARGEST = 1e150  # largest loss whose square does not overflow


class Optimizer(shared.SequentialOptimizer):
    """Ask/tell interface to ``PFBCO`` on a convex set, in the set's original coordinates.

    ::

        oracle = lambda c: -c / max(np.linalg.norm(c), 1e-300)  # minimizes <c, x> over the unit disk
        user = Optimizer(oracle_set(oracle, center=[0.0, 0.0], radius=1.0))
        for _ in range(2000):
            user.tell(f(user.ask()))
        user.center

    The first iterate is the center of the inscribed ball. Equal seeds and equal losses give equal points.
    On sets of matrices the points are vectors, svec(X); ``smat(x, p)`` returns the matrix X.

    The solution to use after the last round is ``center``. The points from ``ask`` explore: each is
    up to c T^{-1/5} inscribed radii away from the iterate. After ``fail`` the next ``ask`` explores in
    another direction.

    The theorems require ``loss_bound=M, baseline=False, warm_start=False``. A loss bound alone is not
    enough, because ``baseline`` and ``warm_start`` are True by default.

    Args:
        cset: one set: ``polytope(C, d)``, ``oracle_set(oracle, center, radius)``, ``Ball.of(n)`` or
            another set of ``paperlib.maths``. The learning rate is proportional to its diameter;
            pass the diameter to ``oracle_set`` if you know it.
        c: exploration scale in units of the inscribed radius. It is at most 1, or at most T^{1/5}
            with a horizon T.
        loss_bound: M, with |loss| <= M; the first loss beyond it causes a warning. None (practical):
            the standard deviation of the observed losses, updated at the start of each epoch. Then
            losses must be within 1e150, and a standard deviation within 1e-12 of their mean counts as 0,
            which sets M = 1.
        horizon: number of rounds that the learning rate is set for; None: epochs of 1, 2, 4, ... rounds.
        baseline: subtract the mean of the earlier losses from each loss; the estimate stays unbiased.
        warm_start: start each epoch at the last iterate of the previous epoch.
        seed: random seed of the exploration directions.
        answer: definition of ``center``. "last" is the last iterate of the last finished epoch;
            "average" is the mean of that epoch's iterates.
        device: device of the learner's computations: "cuda", "cuda:N" or a ``torch.device``; None: the CPU.
            Points stay NumPy arrays, and losses stay Python numbers.

    Raises:
        ValueError: a value out of range; a set of several trials, or one whose oracle belongs to another
            set (``exact=False``); or a horizon without a loss bound, because the standard deviation of the
            losses is not known when the learning rate is set.
        RuntimeError: the oracle's set does not contain its inscribed ball.

    Examples:
        Minimize a convex loss over the triangle x >= 0, x_1 + x_2 <= 1:

        >>> import numpy as np
        >>> from paperlib.pfbco import Optimizer, polytope
        >>> user = Optimizer(polytope([[-1.0, 0.0], [0.0, -1.0], [1.0, 1.0]], [0.0, 0.0, 1.0]), c=0.5)
        >>> for _ in range(127):
        ...     user.tell(float(np.sum((user.ask() - 0.2) ** 2)))
        >>> bool(np.linalg.norm(user.center - 0.2) < 0.1)  # the minimizer is (0.2, 0.2)
        True
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
                    f"loss_bound must be a positive number with horizon={horizon!r}, got None. Set loss_bound, or "
                    "set horizon=None"
                )
        scale = "spread" if loss_bound is None else "task"
        learner = PFBCO(c, baseline=baseline, scale=scale, warm_start=warm_start)
        # ``center`` needs the centers of the last finished epoch, which the learner itself does not store.
        learner, self.answer = Remembering(learner), answer
        # The trial's dimension is dropped here, because AskTell adds it again.
        own = tree_map(
            lambda x: x[0].to("cpu", torch.float64) if x.is_floating_point() else x[0].cpu(), cset
        )
        one = torch.ones((), dtype=torch.float64)
        self.loss_bound = None if loss_bound is None else float(loss_bound)
        task = Task(own, one * (self.loss_bound or 1.0), one)
        # Without a horizon, doubling sets the learning rate epoch by epoch.
        begun = learner if horizon is not None else Doubling(learner)
        super().__init__(begun, task, horizon, seed, device=device)
        self._known = _fingerprint(tree_map(Tensor.cpu, self.context.cset))

    def _heard(self, now: TrialState, action: np.ndarray, loss: float) -> TrialState:
        number, where = real_number("loss", loss), f"round {now.rounds + 1}"
        if not math.isfinite(number):
            raise ValueError(f"loss must be finite, got {short_repr(loss)} in {where}, trial 0")
        # Without a bound the moments of the losses are stored, whose squares must not overflow.
        if self.loss_bound is None and abs(number) > LARGEST:
            raise ValueError(
                f"loss must be at most {LARGEST:g} in absolute value without a loss_bound, because its moments are "
                f"stored, got {short_repr(loss)} in {where}, trial 0"
            )
        return super()._heard(now, action, number)

    @property
    def center(self) -> np.ndarray:
        """The solution to use after the last round, n numbers; by default the last iterate of the last finished epoch.

        It is not the current iterate. Without a warm start an epoch begins at the start again; with a
        warm start one noisy estimate soon moves the iterate by one long step. With ``answer="average"``
        the center is the mean of the epoch's iterates. If all rounds have the same convex loss, the loss
        of this mean exceeds the minimum by at most the epoch's regret per round, which Theorem 1 bounds.
        With a horizon there is only one epoch, and the center is the iterate, or the mean, so far.

        The center is in (1 - alpha) K with alpha = c T^{-1/5} of the epoch. For example, at c = 1 and
        T = 1024 the set is shrunk by 1/4. If the minimizer is on the boundary, a smaller c comes closer
        to it, but the estimates are noisier.
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
    """Raise ValueError unless ``cset`` is one set whose oracle is exact."""
    if not (isinstance(cset, tuple) and hasattr(cset, "lmo")):
        raise ValueError(
            "cset must be a set of paperlib.maths, for example polytope(C, d), oracle_set(oracle, center, radius) "
            f"or Ball.of(n), got {type(cset).__name__}"
        )
    if any(leaf.shape[0] != 1 for _, leaf in list_leaves(cset) if isinstance(leaf, Tensor)):
        raise ValueError(
            f"cset must be one set, got a {type(cset).__name__} of {max(len(cset.R), len(cset.D))} trials"
        )
    if not cset.exact:
        raise ValueError(
            f"cset must be a set with exact=True, got a {type(cset).__name__} with exact=False, whose oracle belongs to "
            "another set"
        )


def _fingerprint(cset: Any) -> str:
    """Return a hash of a set's numbers and of some minimizers of its oracle.

    The oracle is sampled, because a function cannot be hashed. Numbers enter to nine digits, because solvers differ by machine.
    """
    digest = hashlib.sha256(type(cset).__name__.encode())
    unit = float(getattr(cset, "rho", getattr(cset, "radius", 1.0)))
    for name, leaf in list_leaves(cset, ""):
        # Vertices are left out: they follow from the rest, and their order depends on rounding.
        if isinstance(leaf, Tensor) and name != ".vertices":
            least = unit if name in (".center", ".rho", ".radius") else 1.0
            digest.update(name.encode() + str(tuple(leaf.shape)).encode() + _digits(leaf, least))
        elif not isinstance(leaf, Tensor) and not callable(leaf):
            digest.update(f"{name}={leaf!r}".encode())
    for c in np.random.default_rng(0).normal(size=(ANSWERS, cset.dim)):
        digest.update(_digits(cset.lmo(torch.from_numpy(c).unsqueeze(0)), 1.0))
    return digest.hexdigest()[:16]


def _digits(x: Tensor, least: float) -> bytes:
    """Return ``x`` to nine digits of its largest absolute value, which is taken to be at least ``least``.

    The offset of 0.3183 keeps round numbers away from the points where rounding switches.
    """
    size = 10.0 ** math.ceil(math.log10(max(float(x.abs().max()), least)) - 0.3183)
    return torch.floor(x / size * 1e9 + 0.3183).numpy().tobytes()
