"""A learner for worlds that hold still made one for worlds that drift: copies of it on all time scales, and tests.

Source: Wei & Luo, "Non-stationary reinforcement learning without prior knowledge: an optimal black-box approach" (COLT
2021); Wang (2025), Algorithm 1. "MALG" is the schedule alone, "MASTER" the schedule with both tests.
Letters: R trials, M the largest order, O = M + 1 orders m = 0..M, W numbers of a thread's state. A paused thread is a row of W
numbers; in numpy those of threads that play are columns.
What is written works on numpy and torch alike (``xp``): where code may look, a round's work costs its number of calls.
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

ANYTIME = 32  # orders without a horizon: 2^32 rounds
SCHEDULE = "schedule"  # purpose of the coins
STEP = 64  # index m of round t has the counter STEP t + m: a coin belongs to its window alone


class MultiscaleState(NamedTuple):
    """The thread that plays, those that pause, and a block's sums."""

    base: Any  # the active thread's state, R rows
    paused: Tensor  # R x O x W, the other threads, a row of numbers each; 0 for the one that plays
    active: Tensor  # R int64, order of the thread that plays
    live: Tensor  # R x O bool, whether the window of order m that covers this round is scheduled
    opened: Tensor  # R x O, sum of what was heard in the block before that window
    n: Tensor  # R int64, order of the block
    played: Tensor  # R int64, t' - 1, rounds of the block so far
    least: Tensor  # R, U_t, the least optimistic estimate in the block
    excess: Tensor  # R, sum in the block of r-bar_tau - y_tau
    heard: Tensor  # R, sum in the block of y_tau
    restarts: Tensor  # R int64
    log: Tensor  # R x LOGGED x 3 int64: rounds heard, test, and 1 + order of its window, 0 for Test 2
    rounds: int  # rounds heard
    horizon: int | None


class Schedule(NamedTuple):
    """What follows from the number of orders alone."""

    past: Array  # O int64, 2^m - 1
    length: Array  # O int64, 2^m
    chance: Array  # O x O, probability that a window of order m (columns) is scheduled in a block of order n; -1: never
    share: Array  # O, 2^-m
    root: Array  # O, sqrt(2^m)


@functools.lru_cache(maxsize=64)
def make_schedule(orders: int, least: int, device: str | None) -> Schedule:
    """The schedule's numbers; ``device``: None for numpy."""
    m = range(orders)
    scheduled = lambda n, m: m == n or least <= m < n
    # rho(2^n) / rho(2^m) for rho(t) = c / sqrt(t): 1 for the block's own window, which covers every round
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
    """The lowest order that holds, R; 0 where none does. ``mask``: R x O bool."""
    return mask.argmax(1) if isinstance(mask, np.ndarray) else mask.view(torch.uint8).argmax(1)


# Threads at rest ----------------------------------------------------------------------------------------------


def state_width(tree: Any) -> int:
    """W of a state."""
    return sum(x.shape[1:].numel() for x in flatten_state(tree))


def flatten_state(tree: Any) -> list[Tensor]:
    """The tensors of a state in order."""
    if isinstance(tree, Tensor):
        return [tree]
    return [] if tree is None else [x for part in tree for x in flatten_state(part)]


def pack_state(tree: Any) -> Array:
    """The numbers of each trial, ``light``; integers up to 2^53 are exact.

    Numpy arrays come as columns, W x R, which write whole leaves at once; tensors as rows, R x W, which need no transposes.
    """
    parts = as_numpy_if_cpu(*flatten_state(tree))
    if isinstance(parts[0], np.ndarray):
        rows = [x.mT if x.ndim == 2 else x.reshape(len(x), -1).T for x in parts]
        return np.concatenate(rows, 0, dtype=np.float64, casting="unsafe")
    joined = [torch.stack(x, 1) if x[0].ndim == 1 else x[0].flatten(1) for x in group_leaves(tree)]
    return torch.cat([x.to(torch.float64) for x in joined], 1)


def group_leaves(tree: Any) -> list[list[Tensor]]:
    """The tensors of a state in order. Neighbors of one number per trial and one dtype share a list."""
    kind = lambda x: x.dtype if x.ndim == 1 else object()
    return [list(run) for _, run in itertools.groupby(flatten_state(tree), kind)]


def unpack_state(numbers: Array, like: Any) -> Any:
    """The way back; structure, shapes and dtypes from ``like``."""
    axis = 0 if isinstance(numbers, np.ndarray) else 1
    groups = group_leaves(like)
    parts = as_tensors(numbers)[0].split([state_width(run) for run in groups], axis)
    found = itertools.chain.from_iterable(map(_parted, parts, groups, itertools.repeat(axis)))
    return tree_map(lambda x: next(found), like)


def _parted(part: Tensor, run: list[Tensor], axis: int) -> Iterable[Tensor]:
    """One part for each tensor of a run."""
    part, x = part.to(run[0].dtype), run[0]
    if x.ndim == 1:
        return part.unbind(axis)
    part = part if axis == 1 else part.mT
    return [part if x.ndim == 2 else part.reshape(x.shape)]


def check_threads(base: Any, state: Any, trials: int, context: Any, **tkwargs) -> None:
    """Check that threads of a base can begin and pause apart, and what it says of them once it has played a round.

    Args:
        base: the learner.
        state: as its ``init`` returns it for R = ``trials``.
        trials: R.
        context: of the first round.

    Raises:
        ValueError: as ``check_restart``, or an ``optimistic`` that returns no finite number a trial.
    """
    base, context, fresh, draw = check_restart(base, state, trials, context, **tkwargs)
    action, chosen = base.select(fresh, context, draw)
    device, dtype = tkwargs.get("device", "cpu"), tkwargs.get("dtype", torch.float64)
    heard = torch.zeros(trials + 1, dtype=dtype, device=device)
    # only now: before an update a mean may be 0 / 0
    bar = base.optimistic(base.update(chosen, context, action, heard, draw))
    good = isinstance(bar, Tensor) and bar.shape == (trials + 1,) and bar.is_floating_point()
    if not good or (bar.device.type != "meta" and not bool(bar.isfinite().all())):
        raise ValueError(
            f"base={type(base).__name__}, whose optimistic returns {short_repr(bar)}; "
            f"allowed: a tensor of {trials + 1} finite numbers, one a trial"
        )


def swap_threads(
    playing: Any, fresh: Any, paused: Tensor, active: Array, plays: Array, opens: Array
) -> tuple[Any, Tensor]:
    """Where the order that plays changes or opens, its thread goes to its row and another comes out; new ones go to theirs.

    The row of the thread that plays is 0.

    Args:
        playing: the state that plays, R rows.
        fresh: that of a new thread, R rows; None where none opens.
        paused: R x O x W.
        active: R, order of the one that plays.
        plays: R, order of the one to play.
        opens: R x O, orders with a new thread.

    Returns:
        The state that plays, and the threads at rest.
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
        # a thread that goes on playing goes to its row and comes out again
        trial = arange_like(len(plays), plays)
        rows = rows.index_put((trial, active), mine)
        rows = torch.where(opens[:, :, None], new[:, None], rows)
        mine = rows[trial, plays]
        rows.index_put_((trial, plays), rows.new_zeros(()))
    return unpack_state(mine, playing), as_tensors(rows)[0]


# The schedule ------------------------------------------------------------------------------------------------


@frozen_dataclass
class Multiscale(Wrapper):
    """A schedule of windows of lengths 1, 2, 4, ..., each a copy of the base, the shortest of which plays, and restarts.

    The base has ``optimistic``, an estimate r-bar of the best mean reward that is not too low while the world holds still,
    and ``restart``, with which a window opens: called with the state of the thread that played the round before, and a
    horizon of None; its state holds tensors of R rows alone, and neither draws. Without a horizon there are ``ANYTIME``
    orders, and log2 T is read off the rounds played; beyond a known one blocks of the largest order follow one another.

    Attributes:
        base: see above.
        A1: > 0, Test 1 fails where the mean over a window of order m is at least U + A1 / sqrt(2^m); inf: no test. A
            number or one a trial; the paper's is 9 rho-hat(1).
        A2: > 0, Test 2 fails where the mean of r-bar - y over the block's t' rounds is at least A2 / sqrt(t'); inf: no
            test. A number or one a trial; the paper's is 3 rho-hat(1).
        logarithmic: which of "A1" and "A2" are multiplied by log2 T + 1.
        least_order: of windows, but for a block's own.

    Raises:
        ValueError: a value out of range, or a base without ``optimistic`` or ``restart``.
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
                "base", self.base, f"a learner with {' and '.join(lacking)}, which {kind} lacks"
            )
        named = lambda x: isinstance(x, str) and x in ("A1", "A2")
        if not (isinstance(self.logarithmic, tuple) and all(map(named, self.logarithmic))):
            raise_invalid("logarithmic", self.logarithmic, "a tuple of A1, A2, one of them or none")

    def init(
        self, trials: int, context: Any, horizon: int | None, draw: Draw, **tkwargs
    ) -> MultiscaleState:
        """Before the first block.

        Raises:
            ValueError: a base whose trials share something, or whose ``restart`` or ``optimistic`` returns something else.
        """
        if horizon is not None:
            horizon = check_integer("horizon", horizon)
        base = self.base.init(trials, context, None, draw, **tkwargs)
        check_threads(self.base, base, trials, context, **tkwargs)
        orders = ANYTIME if horizon is None else horizon.bit_length()  # M = floor(log2 T)
        # Departure: a block's own window is opened whatever the least order, so that every round is covered.
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
        """The base's; windows open in ``select``."""
        return super().tags._replace(prepares=True)

    def _level(self, name: str, state: MultiscaleState) -> float:
        """What a threshold is multiplied by: 1 or log2 T + 1, without a horizon that of the rounds so far."""
        if name not in self.logarithmic:
            return 1.0
        if state.horizon is None:
            return 1.0 + (state.rounds + 1).bit_length()
        return 1.0 + math.log2(state.horizon)

    def _limit(self, name: str, state: MultiscaleState) -> float | Array:
        """A threshold times its level, a number or R."""
        value, level = getattr(self, name), self._level(name, state)
        if not isinstance(value, Tensor):
            return value * level
        # torch would multiply integers in float32
        return as_numpy_if_cpu(value if value.is_floating_point() else value.double())[0] * level

    def _table(self, live: Array) -> Schedule:
        device = None if isinstance(live, np.ndarray) else str(live.device)
        return make_schedule(live.shape[1], self.least_order, device)

    def select(
        self, state: MultiscaleState, context: Any, draw: Draw
    ) -> tuple[Tensor, MultiscaleState]:
        """Begin a block and open windows where it is time; the shortest scheduled window that covers the round plays."""
        orders = state.live.shape[1]
        coins = draw.uniform(SCHEDULE, orders, counter=lambda t: STEP * t)
        coins, active, live, opened, n, played, heard = as_numpy_if_cpu(
            coins, *state[2:7], state.heard
        )
        known, xp = self._table(live), np if isinstance(live, np.ndarray) else torch
        over, sums = played == known.length[n], state[5:10]  # of n, played, least, excess, heard
        if any_or_unknown(over):  # the block is full: the next is twice as long
            # beyond the horizon there is none twice as long: blocks of the largest order are repeated
            n = (n + over).clip(max=orders - 1)
            least, excess = as_numpy_if_cpu(state.least, state.excess)
            played, least = masked_fill(played, over, 0), masked_fill(least, over, math.inf)
            excess, heard = masked_fill(excess, over, 0.0), masked_fill(heard, over, 0.0)
            sums = as_tensors(n, played, least, excess, heard)
        begins = (played[:, None] & known.past) == 0  # a window of order m would
        heads = coins < known.chance[n]
        opens, live = begins & heads, xp.where(begins, heads, live)
        opened = xp.where(begins, heard[:, None], opened)
        plays = first_true(live)
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
        """The active thread hears; both tests; where one fails, everything is forgotten and block 0 begins."""
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
        if not (off(self.A1) and off(self.A2)):  # without a test nothing is computed for one
            known = self._table(live)
            A1, A2 = self._limit("A1", state), self._limit("A2", state)
            A1 = A1[:, None] if isinstance(A1, Array) else A1
            # Test 1: a window's mean, over all of its rounds, is above what the block's estimates allow
            ends = live & ((played[:, None] & known.past) == 0)
            mean = (heard[:, None] - opened) * known.share
            above = ends & (mean >= least[:, None] + A1 / known.root)
            # Test 2: the block's estimates are too far above what was heard
            # torch would take roots of integers in float32
            length = xp.asarray(played, dtype=heard.dtype)
            failed = above.any(1) | (excess / length >= divide_by_sqrt(A2, length))
            if any_on_host(failed):
                restarts, log = self._logged(state, *as_tensors(above, failed), rounds)
                n, played = masked_fill(n, failed, 0), masked_fill(played, failed, 0)
                least = masked_fill(least, failed, math.inf)
                excess, heard = masked_fill(excess, failed, 0.0), masked_fill(heard, failed, 0.0)
        moved = as_tensors(n, played, least, excess, heard)
        return MultiscaleState(base, *state[1:5], *moved, restarts, log, rounds, state.horizon)

    def _logged(
        self, state: MultiscaleState, above: Tensor, failed: Tensor, rounds: int
    ) -> tuple[Tensor, Tensor]:
        """Count and log with an entry in the trials ``failed``; Test 1 comes first, its lowest order first."""
        first = above.any(1)
        order = torch.where(first, first_true(above) + 1, 0)
        test = torch.where(first, 1, 2)
        entry = torch.stack([torch.full_like(test, rounds), test, order], 1)
        return log_restart(state.restarts, state.log, entry, failed)

    def restart(
        self, state: MultiscaleState, context: Any, horizon: int | None, draw: Draw
    ) -> MultiscaleState:
        """Refused: epochs from outside would throw the schedule away.

        Raises:
            ValueError: always; without a horizon this learner needs no doubling.
        """
        raise ValueError(
            "base=Multiscale restarted from outside, as Doubling does; allowed: Multiscale alone, which is anytime "
            "without a horizon"
        )

    def report(self, state: MultiscaleState) -> dict[str, Tensor]:
        """``restarts``, whether they ``overflow`` the log, and what the base reports of the active thread, R each."""
        return super().report(state) | count_restarts(state.restarts)
