"""Bandit problem whose arms are clusters of the Covertype data set.

Source: Zhang, Xu, Zhao & Sugiyama (2025), Figure 4 and Appendix F. Letters: as in ``paperlib.glbomd.problems``.
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
    """Sixty clusters of forest cover as arms, in 11 dimensions; the reward is 1 if the tree is a lodgepole pine.

    Source: Zhang, Xu, Zhao & Sugiyama (2025), Figure 4. No logistic model fits the clusters' mean rewards. Therefore
    no guarantee applies, and the regret is relative to the best cluster. Rewards are drawn with the mean reward of the
    cluster. This has the same distribution as drawing one of the cluster's members.

    Attributes:
        checksum: SHA-256 of the table of clusters; it identifies cached results and labels figures.

    Raises:
        ValueError: the checksum of another table.
    """

    checksum: str = field(default_factory=table_checksum)
    link = Bernoulli()

    def __post_init__(self):
        check_in("checksum", self.checksum, [table_checksum()])

    def natural(self, horizon: int) -> np.ndarray:
        """Return ln(m / (1 - m)) of the clusters' mean rewards m, T x K; no theta* gives these values as x^T theta*."""
        mean = self.means(horizon)
        return np.log(mean / (1 - mean))

    def means(self, horizon: int) -> np.ndarray:
        mean = covertype_arms().mean
        return np.broadcast_to(mean, (horizon, len(mean)))

    def init(self, trials: int, horizon: int, draw: Draw, **tkwargs) -> BanditInstance:
        """Return the sixty arms, whose largest norm is 1, with their mean rewards."""
        table = covertype_arms()
        arms, means = (torch.tensor(x, **tkwargs).unsqueeze(0) for x in (table.arms, table.mean))
        return BanditInstance(None, (RoundInstance(arms, means, means.amax(1)),) * horizon)
