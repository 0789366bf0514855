"""Many states of one learner, at rest: a row of numbers each, of those that play a column.

Letters: R trials, O orders of threads, W numbers of a state.
"""

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..core.describe import brief
from ..core.linalg import Array, light, places, tensors
from ..core.settings import for_trials
from ..core.streams import Draw, Streams
from ..core.trees import refuse_shared, take, tree_map, where


def width(tree: Any) -> int:
    """W of a state."""
    return sum(x.shape[1:].numel() for x in flat(tree))


def flat(tree: Any) -> list[Tensor]:
    """The tensors of a state in order."""
    if isinstance(tree, Tensor):
        return [tree]
    return [] if tree is None else [x for part in tree for x in flat(part)]


def packed(tree: Any) -> Array:
    """The numbers of each trial, ``light``; integers up to 2^53 are exact.

    Numpy arrays come as columns, W x R, which write whole leaves at once; tensors as rows, R x W, which need no transposes.
    """
    parts = light(*flat(tree))
    if isinstance(parts[0], np.ndarray):
        rows = [x.mT if x.ndim == 2 else x.reshape(len(x), -1).T for x in parts]
        return np.concatenate(rows, 0, dtype=np.float64, casting="unsafe")
    joined = [torch.stack(x, 1) if x[0].ndim == 1 else x[0].flatten(1) for x in runs(tree)]
    return torch.cat([x.to(torch.float64) for x in joined], 1)


def runs(tree: Any) -> list[list[Tensor]]:
    """The tensors of a state in order. Neighbors of one number per trial and one dtype share a list."""
    kind = lambda x: x.dtype if x.ndim == 1 else object()
    return [list(run) for _, run in itertools.groupby(flat(tree), kind)]


def unpacked(numbers: Array, like: Any) -> Any:
    """The way back; structure, shapes and dtypes from ``like``."""
    axis = 0 if isinstance(numbers, np.ndarray) else 1
    groups = runs(like)
    parts = tensors(numbers)[0].split([width(run) for run in groups], axis)
    found = itertools.chain.from_iterable(map(_parted, parts, groups, itertools.repeat(axis)))
    return tree_map(lambda x: next(found), like)


def _parted(part: Tensor, run: list[Tensor], axis: int) -> Iterable[Tensor]:
    """One part for each tensor of a run."""
    part, x = part.to(run[0].dtype), run[0]
    if x.ndim == 1:
        return part.unbind(axis)
    part = part if axis == 1 else part.mT
    return [part if x.ndim == 2 else part.reshape(x.shape)]


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
    mine, (rows,) = packed(playing), light(paused)
    new = mine if fresh is None else packed(fresh)
    if isinstance(rows, np.ndarray):
        rows, (trial,) = rows.copy(), ((plays != active) | opens.any(1)).nonzero()
        rows[trial, active[trial]] = mine[:, trial].T
        trial_, order = opens.nonzero()
        rows[trial_, order] = new[:, trial_].T
        mine[:, trial] = rows[trial, plays[trial]].T
        rows[trial, plays[trial]] = 0.0
    else:
        # a thread that goes on playing goes to its row and comes out again
        trial = places(len(plays), plays)
        rows = rows.index_put((trial, active), mine)
        rows = torch.where(opens[:, :, None], new[:, None], rows)
        mine = rows[trial, plays]
        rows.index_put_((trial, plays), rows.new_zeros(()))
    return unpacked(mine, playing), tensors(rows)[0]
