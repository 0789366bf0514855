"""What a learner over a drifting concave function is given, a set and bounds on the functions, and the checks of it.

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
    """A round's context: a set of unit size, and what is known of all f_t; tensors have 1 row or R."""

    cset: Any  # sets.Ball or boxes.Box; B_X is its diameter ``cset.D``
    margin: Tensor  # c_0, every maximizer lies in X^o(c_0) = (1 - c_0) X
    smoothness: Tensor  # L
    concavity: Tensor  # sigma
    variation: Tensor  # V_T, for those learners alone that are called oracles

    def contraction(self) -> Tensor:
        """gamma = sigma / L."""
        return self.concavity / self.smoothness

    def inside(self, z: Tensor) -> Tensor:
        """P: the closest point of X^o(c_0), R x d. ``z``: R x d."""
        return self.cset.project(z, 1 - self.margin)


def check_task(task: Any) -> None:
    """Raise ValueError for a context that is no ``Task``, or whose numbers are out of range."""
    if not isinstance(task, Task):
        raise_invalid("context", task, "a Task: a set, margin, smoothness, concavity and variation")
    if not (hasattr(task.cset, "project") and hasattr(task.cset, "D")):
        raise_invalid("cset", task.cset, "a Ball, a Box, or another set that can be projected on")
    check_size("cset.dim", task.cset.dim)
    if not isinstance(task.cset.D, Tensor) or task.cset.D.dim() > 1:
        raise_invalid("cset.D", task.cset.D, "a tensor of one number, or of one for each trial")
    for name in Task._fields[1:]:
        if not isinstance(getattr(task, name), Tensor):
            raise_invalid(
                name, getattr(task, name), "a tensor of one number, or of one for each trial"
            )
    if task.margin.device.type == "meta":
        return
    check_number("margin", task.margin, 1e-9, 1 - 1e-9, by_trial=True)  # c_0
    check_positive("smoothness", task.smoothness, by_trial=True)
    check_positive("concavity", task.concavity, by_trial=True)
    check_number("variation", task.variation, 0.0, by_trial=True)
    if not bool((task.concavity < task.smoothness).all()):
        gamma = float(task.contraction().max())
        # E18: with gamma = 1 the epochs would be infinite
        raise ValueError(f"concavity / smoothness={gamma:g}; allowed: gamma in (0, 1)")


def check_point(task: Task, action: Tensor) -> None:
    """Check that actions are points of the set, R x d.

    Raises:
        ValueError: another shape, numbers that are not finite, or a point outside.
    """
    if action.dim() != 2 or action.shape[1] != task.cset.dim:
        raise ValueError(
            f"action: shape {tuple(action.shape)}; allowed: points of {task.cset.dim} numbers"
        )
    check_finite("action", action)
    slack = norm_slack(task.cset.dim)
    if action.device.type != "meta" and not bool(task.cset.contains(action, slack).all()):
        raise_invalid("action", action.tolist(), f"points of the {type(task.cset).__name__}")


def check_answer(y: Tensor) -> None:
    """Raise ValueError unless every answer lies in [-1, 1], as the model asks."""
    if y.device.type == "meta":
        return
    if not bool((y.abs() <= 1 + 1e-12).all()):
        bad = y[~(y.abs() <= 1 + 1e-12)][0].item()
        raise_invalid("reward", bad, "numbers in [-1, 1]; y_range maps others into it")


def check_round(task: Any, action: Tensor | None, y: Tensor | None) -> None:
    """Raise ValueError for what is no task, a point outside its set, or answers outside [-1, 1]; None is not looked at."""
    check_task(task)
    if action is not None:
        check_point(task, action)
    if y is not None:
        check_answer(y)


class OwnQueries:
    """Base of learners that make their own queries: a reward is credited to the query that was made, and no other can be told."""

    wants = "reward"
    tags = Tags(own_actions=False)

    def validate(self, task: Task, action: Tensor | None, y: Tensor | None) -> None:
        """Check the task, points and answers against the model.

        Raises:
            ValueError: what is no task, a point outside the set, or answers outside [-1, 1].
        """
        check_round(task, action, y)


def unit(j: Array, dim: int) -> Array:
    """e_j as R x d bool. ``j``: R."""
    return arange_like(dim, j) == j[:, None]
