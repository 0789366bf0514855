"""Clusters of forest cover as arms.

Source: Zhang, Xu, Zhao & Sugiyama (2025), Figure 4 and Appendix F. Letters: as in ``instances``.
"""

from dataclasses import field

import numpy as np
import torch

from paperlib.core.describe import frozen_dataclass
from paperlib.core.streams import Draw
from paperlib.core.validation import check_in
from paperlib.glbomd.model.links import Bernoulli
from paperlib.glbomd.problems import BanditInstance, KnownBandit, RoundInstance

from ...datasets.covertype import covertype_arms, table_checksum


@frozen_dataclass
class Covertype(KnownBandit):
    """Sixty clusters of forest cover as arms, in 11 dimensions; the reward is 1 where a tree is a lodgepole pine.

    Source: Zhang, Xu, Zhao & Sugiyama (2025), Figure 4. No logistic model fits the clusters' mean rewards, so
    no guarantee applies, and the regret is against the best cluster. A cluster's mean reward stands for
    drawing one of its members: the same law.

    Attributes:
        checksum: SHA-256 of the table of clusters; results are kept, and figures labeled, under it.

    Raises:
        ValueError: another table's checksum.
    """

    checksum: str = field(default_factory=table_checksum)
    link = Bernoulli()

    def __post_init__(self):
        check_in("checksum", self.checksum, [table_checksum()])

    def natural(self, horizon: int) -> np.ndarray:
        """ln(m / (1 - m)) of the clusters' mean rewards m, T x K: what a perfect model would need, not x^T theta*."""
        mean = self.means(horizon)
        return np.log(mean / (1 - mean))

    def means(self, horizon: int) -> np.ndarray:
        mean = covertype_arms().mean
        return np.broadcast_to(mean, (horizon, len(mean)))

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> BanditInstance:
        """The sixty arms, largest norm 1, with their mean rewards."""
        table = covertype_arms()
        arms, means = (torch.tensor(x, **tkwargs).unsqueeze(0) for x in (table.arms, table.mean))
        return BanditInstance(None, (RoundInstance(arms, means, means.amax(1)),) * horizon)
