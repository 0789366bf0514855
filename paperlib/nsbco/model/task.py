"""Context of a learner for drifting concave functions, a set and bounds on the functions, and its input checks.

Source: Wang (2025), Section 1.1 and the assumptions of Section 3.
Shapes: R trials, d dimensions; a leading 1 means that the trials share a tensor.
"""

from typing import Any, NamedTuple

from torch import Tensor

from ...core.contracts import Tags
from ...core.linalg import Array, arange_like
from ...core.validation import (
    check_finite,
    check_number,
    check_positive,
    check_size,
    norm_slack,
    raise_invalid,
)


class Task(NamedTuple):
    """Context of a round: a set of unit size and known bounds on all f_t; tensors have 1 row or R.

    Examples:
        >>> import torch
        >>> from paperlib.maths.sets import Ball
        >>> from paperlib.nsbco import Task
        >>> one = lambda x: torch.tensor([x], dtype=torch.float64)
        >>> task = Task(Ball.of(2), one(0.5), smoothness=one(2.0), concavity=one(1.0), variation=one(0.0))
        >>> task.inside(torch.tensor([[3.0, 0.0]], dtype=torch.float64)).tolist()
        [[0.5, 0.0]]
    """

    cset: Any  # sets.Ball or boxes.Box; B_X is its diameter ``cset.D``
    margin: Tensor  # c_0; every maximizer is in X^o(c_0) = (1 - c_0) X
    smoothness: Tensor  # L
    concavity: Tensor  # sigma
    variation: Tensor  # V_T; only learners called oracles may use it

    def contraction(self) -> Tensor:
        """Return gamma = sigma / L."""
        return self.concavity / self.smoothness

    def inside(self, z: Tensor) -> Tensor:
        """Return P(z), the projection onto X^o(c_0), R x d. ``z``: R x d."""
        return self.cset.project(z, 1 - self.margin)


def check_task(task: Any) -> None:
    """Raise ValueError for a context that is not a ``Task``, or whose numbers are out of range."""
    if not isinstance(task, Task):
        raise_invalid(
            "context", task, "a Task of a set, margin, smoothness, concavity and variation"
        )
    if not (hasattr(task.cset, "project") and hasattr(task.cset, "D")):
        raise_invalid("cset", task.cset, "a Ball, a Box, or another set with a projection")
    check_size("cset.dim", task.cset.dim)
    if not isinstance(task.cset.D, Tensor) or task.cset.D.dim() > 1:
        raise_invalid("cset.D", task.cset.D, "a tensor of one number, or of one number per trial")
    for name in Task._fields[1:]:
        if not isinstance(getattr(task, name), Tensor):
            raise_invalid(
                name, getattr(task, name), "a tensor of one number, or of one number per trial"
            )
    if task.margin.device.type == "meta":
        return
    check_number("margin", task.margin, 1e-9, 1 - 1e-9, by_trial=True)  # c_0
    check_positive("smoothness", task.smoothness, by_trial=True)
    check_positive("concavity", task.concavity, by_trial=True)
    check_number("variation", task.variation, 0.0, by_trial=True)
    if not bool((task.concavity < task.smoothness).all()):
        gamma = float(task.contraction().max())
        # Erratum E18: with gamma = 1 the epochs would be infinite.
        raise ValueError(f"concavity / smoothness must be above 0 and below 1, got {gamma:g}")


def check_point(task: Task, action: Tensor) -> None:
    """Check that actions, R x d, are points of the set.

    Raises:
        ValueError: a wrong shape, numbers that are not finite, or a point outside the set.
    """
    if action.dim() != 2 or action.shape[1] != task.cset.dim:
        raise ValueError(
            f"action must have shape R x {task.cset.dim}, got shape {tuple(action.shape)}"
        )
    check_finite("action", action)
    slack = norm_slack(task.cset.dim)
    if action.device.type != "meta" and not bool(task.cset.contains(action, slack).all()):
        kind = type(task.cset).__name__
        raise_invalid("action", action.tolist(), f"a list of points in the set, a {kind}")


def check_answer(y: Tensor) -> None:
    """Raise ValueError unless every reward is in [-1, 1], as Assumption 1 requires."""
    if y.device.type == "meta":
        return
    if not bool((y.abs() <= 1 + 1e-12).all()):
        bad = y[~(y.abs() <= 1 + 1e-12)][0].item()
        raise_invalid(
            "reward",
            bad,
            "a number from -1 to 1 (the argument y_range maps other rewards to this interval)",
        )


def check_round(task: Any, action: Tensor | None, y: Tensor | None) -> None:
    """Raise ValueError for an invalid task, a point outside its set, or rewards outside [-1, 1]; None skips a check."""
    check_task(task)
    if action is not None:
        check_point(task, action)
    if y is not None:
        check_answer(y)


class OwnQueries:
    """Base class of learners that attribute each reward to their own query, so that ``tell`` cannot accept another point."""

    wants = "reward"
    tags = Tags(own_actions=False)

    def validate(self, task: Task, action: Tensor | None, y: Tensor | None) -> None:
        """Check the task, points and rewards against the model.

        Raises:
            ValueError: an invalid task, a point outside the set, or rewards outside [-1, 1].
        """
        check_round(task, action, y)


def unit(j: Array, dim: int) -> Array:
    """Return the unit vectors e_j as R x d bool. ``j``: R."""
    return arange_like(dim, j) == j[:, None]
