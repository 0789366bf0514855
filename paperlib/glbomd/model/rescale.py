"""Arms of one's own, brought into the unit ball that the theory assumes."""

from typing import Any

import numpy as np

from ...core import fields
from ...core.describe import frozen
from ...core.validation import array, norm_slack


@frozen
class Rescale:
    """Divides all arms by one bound on their norms; for ``AskTell(..., prepare=Rescale(longest))``.

    One bound serves all rounds: dividing each arm, or each round, by a length of its own would be another model.
    The parameter of the scaled model is ``longest`` times that of the unscaled one, and so must be the learner's
    ``norm_bound``.

    Attributes:
        longest: bound on the norms of all arms that will ever come, > 0.
    """

    longest: float = fields.positive()

    def __call__(self, arms: Any) -> np.ndarray:
        """Scaled arms, K x d.

        Raises:
            ValueError: an arm that is longer than promised.
        """
        arms = array("arms", arms)
        norm = float(np.linalg.norm(arms, axis=-1).max(initial=0.0))
        if norm > self.longest * (1 + norm_slack(arms.shape[-1])):
            raise ValueError(
                f"arms: largest norm {norm!r}; allowed: at most longest={self.longest!r}"
            )
        return arms / self.longest
