"""Multi-scale schedule with change tests (MASTER): make a learner for stationary problems work on non-stationary ones.

Copies of the base learner run on random windows of rounds, whose lengths are powers of two. Blocks of rounds, with lengths 1, 2, 4,
..., follow each other; the windows of a block lie within it. Two tests compare the observed rewards with the copies' optimistic
estimates of the best mean reward. If a test triggers, the environment has probably changed, and the learner restarts with a block of
length 1.
Source: Wei & Luo, "Non-stationary reinforcement learning without prior knowledge: an optimal black-box approach" (COLT
2021); Wang (2025), Algorithm 1. "MALG" is the schedule alone, "MASTER" the schedule with both tests.
Terms: a window or block of order m has 2^m rounds. A thread is the copy of the base that runs on one window.
Letters: R trials, M the largest order, O = M + 1 orders m = 0..M, W numbers in the state of a thread.
A paused thread is stored as a row of W numbers. The states of the active threads are packed into one array; in NumPy, each of its
columns is a trial (see ``pack_state``).
The code works on NumPy arrays and on torch tensors; ``xp`` is the module of the current array type. On the CPU the code uses NumPy,
because the run time of a round is determined by the number of calls, and a NumPy call takes less time than a torch call.
"""

import functools
import itertools
import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ..core import fields
from ..core.contracts import Tags
from ..core.describe import frozen_dataclass, short_repr
from ..core.linalg import (
    Array,
    any_on_host,
    any_or_unknown,
    arange_like,
    as_numpy_if_cpu,
    as_tensors,
    divide_by_sqrt,
    masked_fill,
)
from ..core.streams import Draw
from ..core.trees import tree_map
from ..core.validation import check_integer, raise_invalid
from .wrapper import Wrapper, check_restart, count_restarts, empty_log, log_restart

ANYTIME = 32  # number of orders if no horizon is given; their blocks cover 2^32 - 1 rounds
SCHEDULE = "schedule"  # purpose of the Bernoulli samples that schedule windows
# The Bernoulli sample of order m in round t has the counter STEP t + m, so that every window has its own sample. STEP is
# larger than every order.
STEP = 64


class MultiscaleState(NamedTuple):
    """The active thread, the paused threads, and the sums of the current block."""

    base: Any  # state of the active thread, R rows
    paused: Tensor  # R x O x W, the paused threads, one row per order; the row of the active thread is 0
    active: Tensor  # R int64, order of the active thread
    live: Tensor  # R x O bool, True if the window of order m that covers this round is scheduled
    opened: Tensor  # R x O, sum of the rewards in the block before the start of that window
    n: Tensor  # R int64, order of the block
    played: Tensor  # R int64, t' - 1, number of rounds in the block so far
    least: Tensor  # R, U_t, the minimum over the block of the optimistic estimates
    excess: Tensor  # R, sum of r-bar_tau - y_tau over the block
    heard: Tensor  # R, sum of the rewards y_tau over the block
    restarts: Tensor  # R int64, number of restarts
    log: Tensor  # R x LOGGED x 3 int64, per restart: rounds observed, test (1 or 2), 1 + order of the window (0 for Test 2)
    rounds: int  # number of observed rounds
    horizon: int | None


class Schedule(NamedTuple):
    """Constants of the schedule that depend only on the number of orders and the least order."""

    past: Array  # O int64, 2^m - 1
    length: Array  # O int64, 2^m
    chance: (
        Array  # O x O, probability of a window of order m (column) in a block of order n; -1: never
    )
    share: Array  # O, 2^-m
    root: Array  # O, sqrt(2^m)


@functools.lru_cache(maxsize=64)
def make_schedule(orders: int, least: int, device: str | None) -> Schedule:
    """Return the constants of the schedule as tensors on ``device``, or as NumPy arrays if it is None."""
    m = range(orders)
    scheduled = lambda n, m: m == n or least <= m < n
    # Algorithm 1 schedules a window with probability rho(2^n) / rho(2^m). Here rho(t) = c / sqrt(t).
    # The probability is 1 for the window that is the whole block (m = n), so every round is covered.
    chance = [[2 ** (-(n - i) / 2) if scheduled(n, i) else -1.0 for i in m] for n in m]
    found = Schedule(
        np.array([(1 << i) - 1 for i in m]),
        np.array([1 << i for i in m]),
        np.array(chance),
        np.array([0.5**i for i in m]),
        np.array([(2.0**i) ** 0.5 for i in m]),
    )
    return found if device is None else Schedule(*(torch.from_numpy(x).to(device) for x in found))


def first_true(mask: Array) -> Array:
    """Return the lowest order with a True entry, R; 0 if there is no such order. ``mask``: R x O bool."""
    return mask.argmax(1) if isinstance(mask, np.ndarray) else mask.view(torch.uint8).argmax(1)


# Paused threads ---------------------------------------------------------------------------------------------


def state_width(tree: Any) -> int:
    """Return W, the number of values per trial in a state."""
    return sum(x.shape[1:].numel() for x in flatten_state(tree))


def flatten_state(tree: Any) -> list[Tensor]:
    """Return the tensors of a state in order."""
    if isinstance(tree, Tensor):
        return [tree]
    return [] if tree is None else [x for part in tree for x in flatten_state(part)]


def pack_state(tree: Any) -> Array:
    """Return the numbers of each trial's state in float64; integers up to 2^53 are exact.

    On the CPU the result is a NumPy array (see ``as_numpy_if_cpu``), W x R, so that each tensor of the state is written as one
    contiguous piece. On other devices it is a tensor, R x W, which needs no transposes.
    """
    parts = as_numpy_if_cpu(*flatten_state(tree))
    if isinstance(parts[0], np.ndarray):
        rows = [x.mT if x.ndim == 2 else x.reshape(len(x), -1).T for x in parts]
        return np.concatenate(rows, 0, dtype=np.float64, casting="unsafe")
    joined = [torch.stack(x, 1) if x[0].ndim == 1 else x[0].flatten(1) for x in group_leaves(tree)]
    return torch.cat([x.to(torch.float64) for x in joined], 1)


def group_leaves(tree: Any) -> list[list[Tensor]]:
    """Return the tensors of a state in order, with consecutive tensors of shape R and equal dtype in one list."""
    kind = lambda x: x.dtype if x.ndim == 1 else object()
    return [list(run) for _, run in itertools.groupby(flatten_state(tree), kind)]


def unpack_state(numbers: Array, like: Any) -> Any:
    """Invert ``pack_state``; ``like`` gives the structure, shapes and dtypes."""
    axis = 0 if isinstance(numbers, np.ndarray) else 1
    groups = group_leaves(like)
    parts = as_tensors(numbers)[0].split([state_width(run) for run in groups], axis)
    found = itertools.chain.from_iterable(map(_parted, parts, groups, itertools.repeat(axis)))
    return tree_map(lambda x: next(found), like)


def _parted(part: Tensor, run: list[Tensor], axis: int) -> Iterable[Tensor]:
    """Split the numbers of a group of ``group_leaves`` into one part per tensor, with its shape and dtype."""
    part, x = part.to(run[0].dtype), run[0]
    if x.ndim == 1:
        return part.unbind(axis)
    part = part if axis == 1 else part.mT
    return [part if x.ndim == 2 else part.reshape(x.shape)]


def check_threads(base: Any, state: Any, trials: int, context: Any, **tkwargs) -> None:
    """Check that threads of a base can start and pause separately, and that ``optimistic`` is valid after one round.

    Args:
        base: the learner.
        state: the state that ``init`` returns for R = ``trials``.
        trials: R.
        context: context of the first round.

    Raises:
        ValueError: ``check_restart`` fails, or ``optimistic`` does not return one finite number per trial.
    """
    base, context, fresh, draw = check_restart(base, state, trials, context, **tkwargs)
    action, chosen = base.select(fresh, context, draw)
    device, dtype = tkwargs.get("device", "cpu"), tkwargs.get("dtype", torch.float64)
    heard = torch.zeros(trials + 1, dtype=dtype, device=device)
    # We call ``optimistic`` after an update, because before the first reward a base may compute a mean as 0 / 0.
    bar = base.optimistic(base.update(chosen, context, action, heard, draw))
    good = isinstance(bar, Tensor) and bar.shape == (trials + 1,) and bar.is_floating_point()
    if not good or (bar.device.type != "meta" and not bool(bar.isfinite().all())):
        raise ValueError(
            f"base.optimistic must return a tensor of {trials + 1} finite numbers, one per trial, "
            f"got {short_repr(bar)} from base={type(base).__name__}"
        )


def swap_threads(
    playing: Any, fresh: Any, paused: Tensor, active: Array, plays: Array, opens: Array
) -> tuple[Any, Tensor]:
    """Pause the active thread and resume another one in the trials where the active order changes or a window opens.

    A new thread of order m is stored in row m of ``paused``, where it replaces the previous thread of this order. The row of the
    active thread is 0.

    Args:
        playing: state of the active thread, R rows.
        fresh: state of a new thread, R rows; None if no window opens.
        paused: R x O x W, the paused threads.
        active: R, order of the active thread.
        plays: R, order of the thread to resume.
        opens: R x O bool, True for the orders with a new thread.

    Returns:
        The state of the new active thread, and the paused threads.
    """
    mine, (rows,) = pack_state(playing), as_numpy_if_cpu(paused)
    new = mine if fresh is None else pack_state(fresh)
    if isinstance(rows, np.ndarray):
        rows, (trial,) = rows.copy(), ((plays != active) | opens.any(1)).nonzero()
        rows[trial, active[trial]] = mine[:, trial].T
        trial_, order = opens.nonzero()
        rows[trial_, order] = new[:, trial_].T
        mine[:, trial] = rows[trial, plays[trial]].T
        rows[trial, plays[trial]] = 0.0
    else:
        # No branches on a GPU: in every trial, the active thread is stored in its row and the next one is read, even if both
        # are the same.
        trial = arange_like(len(plays), plays)
        rows = rows.index_put((trial, active), mine)
        rows = torch.where(opens[:, :, None], new[:, None], rows)
        mine = rows[trial, plays]
        rows.index_put_((trial, plays), rows.new_zeros(()))
    return unpack_state(mine, playing), as_tensors(rows)[0]


# The schedule -----------------------------------------------------------------------------------------------


@frozen_dataclass
class Multiscale(Wrapper):
    """MALG and MASTER: run copies of the base on random windows of lengths 1, 2, 4, ...; restart when a test triggers.

    Several scheduled windows may cover a round. The copy on the shortest of them chooses the action, and the others are paused. The
    base needs two methods, which draw no random numbers:

    - ``optimistic`` returns r-bar, an upper estimate of the best mean reward, which is valid while the problem is stationary.
    - ``restart`` returns the state of a new thread when a window opens. It receives the state of the thread that was
      active in the previous round, and None as the horizon.

    The state of the base may contain only tensors with R rows. Without a horizon there are ``ANYTIME`` orders, and the T in the
    thresholds is the smallest power of two above the number of rounds so far, including the current one. After the horizon, if it
    is known, blocks of the largest order are repeated.

    Attributes:
        base: the learner to copy, see above.
        A1: > 0, Test 1 triggers if the mean reward over a window of order m is at least U_t + A1 / sqrt(2^m), where U_t is the
            minimum of r-bar over the block; inf disables the test. A number or one value per trial; the paper uses
            9 rho-hat(1).
        A2: > 0, Test 2 triggers if the mean of r-bar - y over the t' rounds of the block so far is at least A2 / sqrt(t'), where y
            is the reward; inf disables the test. A number or one value per trial; the paper uses 3 rho-hat(1).
        logarithmic: which of "A1" and "A2" are multiplied by log2 T + 1.
        least_order: smallest order of the windows. The window that is the whole block may have a smaller order.

    Raises:
        ValueError: a value is out of range, or the base has no ``optimistic`` or no ``restart``.

    Examples:
        >>> from paperlib.learners.multiscale import Multiscale
        >>> from paperlib.nsbco import GradientAscent, QuadraticDrift
        >>> from paperlib.play import play
        >>> learner = Multiscale(GradientAscent(bonus=2.0), A1=1.0, A2=3.0, logarithmic=("A2",))
        >>> play(learner, QuadraticDrift(), horizon=16, trials=2)["regret"].shape
        (2, 16)
    """

    A1: float | Tensor = fields.positive(math.inf, most=math.inf, by_trial=True)
    A2: float | Tensor = fields.positive(math.inf, most=math.inf, by_trial=True)
    logarithmic: tuple[str, ...] = ()
    least_order: int = fields.whole(0, least=0, most=62)

    def __post_init__(self):
        super().__post_init__()
        parts = ("optimistic", "restart")
        lacking = [name for name in parts if not callable(getattr(self.base, name, None))]
        if lacking:
            kind = type(self.base).__name__
            raise_invalid(
                "base",
                self.base,
                f"a learner with the method{'s' * (len(lacking) > 1)} {' and '.join(lacking)}, which {kind} lacks",
            )
        named = lambda x: isinstance(x, str) and x in ("A1", "A2")
        if not (isinstance(self.logarithmic, tuple) and all(map(named, self.logarithmic))):
            raise_invalid(
                "logarithmic", self.logarithmic, "a tuple that contains only 'A1' and 'A2', or ()"
            )

    def init(
        self, trials: int, context: Any, horizon: int | None, draw: Draw, **tkwargs
    ) -> MultiscaleState:
        """Return the state before the first block.

        Raises:
            ValueError: trials of the base share a tensor, or its ``restart`` or ``optimistic`` returns invalid values.
        """
        if horizon is not None:
            horizon = check_integer("horizon", horizon)
        base = self.base.init(trials, context, None, draw, **tkwargs)
        check_threads(self.base, base, trials, context, **tkwargs)
        orders = ANYTIME if horizon is None else horizon.bit_length()  # M = floor(log2 T)
        # Departure: the window that is the whole block opens even below the least order, so that every round is covered.
        zero = torch.zeros(trials, **tkwargs)
        none, log = empty_log(trials, 3, device=zero.device)
        sums = torch.zeros(trials, orders, **tkwargs)
        return MultiscaleState(
            base=base,
            paused=torch.zeros(
                trials, orders, state_width(base), dtype=torch.float64, device=zero.device
            ),
            active=none,
            live=sums > 0,
            opened=sums,
            n=none,
            played=none,
            least=zero + math.inf,
            excess=zero,
            heard=zero,
            restarts=none,
            log=log,
            rounds=0,
            horizon=horizon,
        )

    @property
    def tags(self) -> Tags:
        """Tags of the base with ``prepares=True``, because ``select`` opens windows."""
        return super().tags._replace(prepares=True)

    def _level(self, name: str, state: MultiscaleState) -> float:
        """Return the factor by which the threshold ``name`` is multiplied: 1 or log2 T + 1.

        Without a horizon, T is the smallest power of two above the number of rounds, including the current one.
        """
        if name not in self.logarithmic:
            return 1.0
        if state.horizon is None:
            return 1.0 + (state.rounds + 1).bit_length()
        return 1.0 + math.log2(state.horizon)

    def _limit(self, name: str, state: MultiscaleState) -> float | Array:
        """Return the threshold ``name`` times its ``_level``, a number or R."""
        value, level = getattr(self, name), self._level(name, state)
        if not isinstance(value, Tensor):
            return value * level
        # cast to double, because torch would multiply integers in float32
        return as_numpy_if_cpu(value if value.is_floating_point() else value.double())[0] * level

    def _table(self, live: Array) -> Schedule:
        device = None if isinstance(live, np.ndarray) else str(live.device)
        return make_schedule(live.shape[1], self.least_order, device)

    def select(
        self, state: MultiscaleState, context: Any, draw: Draw
    ) -> tuple[Tensor, MultiscaleState]:
        """Start blocks and windows as scheduled, and return the action of the shortest scheduled window that covers the round."""
        orders = state.live.shape[1]
        coins = draw.uniform(SCHEDULE, orders, counter=lambda t: STEP * t)
        coins, active, live, opened, n, played, heard = as_numpy_if_cpu(
            coins, *state[2:7], state.heard
        )
        known, xp = self._table(live), np if isinstance(live, np.ndarray) else torch
        over, sums = played == known.length[n], state[5:10]  # n, played, least, excess, heard
        if any_or_unknown(over):  # the block is full, and the next is twice as long
            # After the horizon, blocks do not become longer: the block of the largest order is repeated.
            n = (n + over).clip(max=orders - 1)
            least, excess = as_numpy_if_cpu(state.least, state.excess)
            played, least = masked_fill(played, over, 0), masked_fill(least, over, math.inf)
            excess, heard = masked_fill(excess, over, 0.0), masked_fill(heard, over, 0.0)
            sums = as_tensors(n, played, least, excess, heard)
        # A window of order m may start when the number of rounds played in the block is a multiple of 2^m.
        begins = (played[:, None] & known.past) == 0
        heads = coins < known.chance[n]
        opens, live = begins & heads, xp.where(begins, heads, live)
        opened = xp.where(begins, heard[:, None], opened)
        plays = first_true(live)  # the shortest window, as in Algorithm 1
        base, paused = state.base, state.paused
        new = any_or_unknown(opens)
        if new or any_or_unknown(plays != active):
            fresh = self.base.restart(base, context, None, draw) if new else None
            base, paused = swap_threads(base, fresh, paused, active, plays, opens)
        action, base = self.base.select(base, context, draw)
        return action, MultiscaleState(
            base, paused, *as_tensors(plays, live, opened), *sums, *state[10:]
        )

    def update(
        self, state: MultiscaleState, context: Any, action: Tensor, feedback: Tensor, draw: Draw
    ) -> MultiscaleState:
        """Update the active thread and run both tests. If a test triggers in a trial, a block of order 0 starts there."""
        base = self.base.update(state.base, context, action, feedback, draw)
        bar, y, live, opened = as_numpy_if_cpu(
            self.base.optimistic(base), feedback, state.live, state.opened
        )
        n, played, least, excess, heard = as_numpy_if_cpu(*state[5:10])
        xp, rounds = np if isinstance(live, np.ndarray) else torch, state.rounds + 1
        least = xp.minimum(least, bar)  # U_t
        excess, heard, played = excess + (bar - y), heard + y, played + 1
        restarts, log = state.restarts, state.log
        off = lambda value: not isinstance(value, Tensor) and value == math.inf
        if not (off(self.A1) and off(self.A2)):  # skipped if both tests are disabled
            known = self._table(live)
            A1, A2 = self._limit("A1", state), self._limit("A2", state)
            A1 = A1[:, None] if isinstance(A1, Array) else A1
            # Test 1: the mean reward over all rounds of a window exceeds U_t by at least the threshold.
            # Rounds in which a shorter window was active count, too.
            ends = live & ((played[:, None] & known.past) == 0)
            mean = (heard[:, None] - opened) * known.share
            above = ends & (mean >= least[:, None] + A1 / known.root)
            # Test 2: the optimistic estimates of the block are too far above its rewards.
            # The cast is needed because torch would take roots of integers in float32.
            length = xp.asarray(played, dtype=heard.dtype)
            triggered = above.any(1) | (excess / length >= divide_by_sqrt(A2, length))
            if any_on_host(triggered):
                restarts, log = self._logged(state, *as_tensors(above, triggered), rounds)
                n, played = masked_fill(n, triggered, 0), masked_fill(played, triggered, 0)
                least = masked_fill(least, triggered, math.inf)
                excess, heard = (
                    masked_fill(excess, triggered, 0.0),
                    masked_fill(heard, triggered, 0.0),
                )
        moved = as_tensors(n, played, least, excess, heard)
        return MultiscaleState(base, *state[1:5], *moved, restarts, log, rounds, state.horizon)

    def _logged(
        self, state: MultiscaleState, above: Tensor, triggered: Tensor, rounds: int
    ) -> tuple[Tensor, Tensor]:
        """Return the number of restarts and the log, with a new entry in the trials ``triggered``.

        If both tests trigger, the entry names Test 1. If Test 1 triggers for several windows, the entry has the lowest order.
        """
        first = above.any(1)
        order = torch.where(first, first_true(above) + 1, 0)
        test = torch.where(first, 1, 2)
        entry = torch.stack([torch.full_like(test, rounds), test, order], 1)
        return log_restart(state.restarts, state.log, entry, triggered)

    def restart(
        self, state: MultiscaleState, context: Any, horizon: int | None, draw: Draw
    ) -> MultiscaleState:
        """Raise ValueError, because a restart by an outer wrapper would discard the schedule.

        Raises:
            ValueError: always. Without a horizon this learner is anytime, so that it needs no wrapper such as ``Doubling``.
        """
        raise ValueError(
            "base must not be Multiscale in a wrapper that restarts it, for example Doubling. Use Multiscale without "
            "the wrapper, because it needs no horizon"
        )

    def report(self, state: MultiscaleState) -> dict[str, Tensor]:
        """Return ``restarts``, whether they ``overflow`` the log, and the report of the base for the active thread, R each."""
        return super().report(state) | count_restarts(state.restarts)
