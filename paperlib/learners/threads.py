"""Many states of one learner, at rest: a row of numbers each, of those that play a column.

Letters: R trials, O orders of threads, W numbers of a state.
"""

import functools
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..core.describe import brief
from ..core.linalg import Array, light, tensors
from ..core.settings import for_trials
from ..core.streams import Draw, Streams
from ..core.trees import refuse_shared, take, where


def width(tree: Any) -> int:
    """W of a state."""
    return sum(x.shape[1:].numel() for x in flat(tree))


def flat(tree: Any) -> list[Tensor]:
    """The tensors of a state in order."""
    if isinstance(tree, Tensor):
        return [tree]
    return [] if tree is None else [x for part in tree for x in flat(part)]


def packed(tree: Any) -> Array:
    """A column of numbers for each trial, W x R, ``light``; whole numbers up to 2^53 are kept."""
    rows = [x.mT if x.ndim == 2 else x.reshape(len(x), -1).T for x in light(*flat(tree))]
    if isinstance(rows[0], np.ndarray):
        return np.concatenate(rows, 0, dtype=np.float64, casting="unsafe")
    return torch.cat([x.to(torch.float64) for x in rows], 0)


@functools.lru_cache
def _numpy(dtype: torch.dtype) -> np.dtype:
    return torch.empty(0, dtype=dtype).numpy().dtype


def unpacked(columns: Array, like: Any) -> Any:
    """The way back; structure, shapes and dtypes from ``like``."""
    begin = 0

    def kid(x: Any) -> Any:
        nonlocal begin
        if isinstance(x, Tensor):
            begin, end = begin + x.shape[1:].numel(), begin
            part = columns[end] if x.ndim == 1 else columns[end:begin].T.reshape(x.shape)
            if isinstance(part, np.ndarray):
                return torch.from_numpy(part.astype(_numpy(x.dtype), copy=False))
            return part.to(x.dtype)
        if x is None:
            return None
        kids = [kid(part) for part in x]
        return type(x)(*kids) if hasattr(x, "_fields") else tuple(kids)

    return kid(like)


def check_restart(
    base: Any, state: Any, trials: int, context: Any, **tkwargs
) -> tuple[Any, Any, Any, Draw]:
    """Check that trials of a base can begin anew apart.

    A trial more than R begins anew, with draws of its own: nobody could tell of one trial what it shares, and of two by
    chance what has two rows.

    Args:
        base: the learner.
        state: as its ``init`` returns it for R = ``trials``.
        trials: R.
        context: of the first round.

    Returns:
        The learner, the context, the fresh state and the draws, each of R + 1 trials.

    Raises:
        ValueError: a leaf that is no tensor of a row a trial, or a ``restart`` that returns another kind of state.
    """
    name, rows = type(base).__name__, [*range(trials), 0]
    base, context, count = for_trials(base, rows, name="base"), take(context, rows), len(rows)
    device, dtype = tkwargs.get("device", "cpu"), tkwargs.get("dtype", torch.float64)
    streams = Streams(0, range(count), device, dtype)
    probe = base.init(count, context, None, streams.at(-1), **tkwargs)
    refuse_shared(name, probe, count)
    refuse_shared(name, state, trials)
    draw = streams.at(0)
    fresh = base.restart(probe, context, None, draw)
    refuse_shared(name, fresh, count)
    try:
        where(torch.ones(count, dtype=torch.bool, device=device), fresh, probe)
    except ValueError as error:
        raise ValueError(f"base={name}, whose restart returns another state: {error}") from error
    return base, context, fresh, draw


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
            f"base={type(base).__name__}, whose optimistic returns {brief(bar)}; "
            f"allowed: a tensor of {trials + 1} finite numbers, one a trial"
        )


def exchanged(
    playing: Any, fresh: Any, paused: Tensor, active: Array, plays: Array, opens: Array, turn: Array
) -> tuple[Any, Tensor]:
    """In the trials ``turn``, R, the thread that plays goes to its order's row and another comes out; new ones go to theirs.

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
    mine, (rows,) = packed(playing), light(paused)
    new = mine if fresh is None else packed(fresh)
    if isinstance(rows, np.ndarray):
        rows, (trial,) = rows.copy(), turn.nonzero()
        rows[trial, active[trial]] = mine[:, trial].T
        trial_, order = opens.nonzero()
        rows[trial_, order] = new[:, trial_].T
        mine[:, trial] = rows[trial, plays[trial]].T
    else:
        order, trial = (torch.arange(n, device=turn.device) for n in (rows.shape[1], len(turn)))
        back = (order == active[:, None]) & turn[:, None]
        rows = torch.where(back[:, :, None], mine.T[:, None], rows)
        rows = torch.where(opens[:, :, None], new.T[:, None], rows)
        mine = torch.where(turn, rows[trial, plays].T, mine)
    return unpacked(mine, playing), tensors(rows)[0]
