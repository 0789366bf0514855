"""What learners have in common that make their own queries and hear the values of f_t there."""

from torch import Tensor

from ..model.task import Task, check_round


class OwnQueries:
    """An answer is credited to the query that was made, and no other can be told."""

    wants = "reward"
    own_actions = False

    def validate(self, task: Task, action: Tensor | None, y: Tensor | None) -> None:
        """Check the task, points and answers against the model.

        Raises:
            ValueError: what is no task, a point outside the set, or answers outside [-1, 1].
        """
        check_round(task, action, y)
