"""GLB-OMD: generalized linear bandits with a one-pass update.

Source: Zhang, Xu, Zhao & Sugiyama, "Generalized Linear Bandits: Almost Optimal Regret with One-Pass
Update" (2025).
"""

from ..learners.reference import LongestArm, UniformArm
from .learners.controls import UCB1, BetaThompson, LaplaceThompson
from .learners.ecolog import ECOLog
from .learners.glbomd import GLBOMD
from .learners.glmucb import GLMUCB
from .learners.gloc import GLOC
from .learners.ofuglb import OFUGLB
from .learners.ofulmlogb import OFULMLogB
from .learners.ofulogr import OFULogR
from .learners.rsglincb import RSGLinCB
from .model.links import Bernoulli, Binomial, Gaussian, Poisson
from .problems import FixedArms, SphereArms

__all__ = [
    "GLBOMD",  # the paper's method
    "GLMUCB",  # Filippi et al. (2010)
    "GLOC",  # Jun et al. (2017)
    "OFULogR",  # Abeille et al. (2021), logistic
    "ECOLog",  # Faury et al. (2022), logistic
    "OFULMLogB",  # Zhang & Sugiyama (2023), logistic
    "RSGLinCB",  # Sawarni et al. (2024)
    "OFUGLB",  # Lee, Yun & Jun (2024)
    "UniformArm",  # reference: draws an arm uniformly at random
    "LongestArm",  # reference: plays the arm with the largest norm
    "BetaThompson",  # control for a fixed arm set
    "UCB1",  # control for a fixed arm set
    "LaplaceThompson",  # control, logistic
    "Bernoulli",  # rewards 0 or 1, the logistic model
    "Poisson",  # counts
    "Gaussian",  # the linear model
    "Binomial",  # number of successes in n tries
    "SphereArms",  # new arms in each round: Figures 1 to 3
    "FixedArms",  # one arm set for all rounds
]

CHOICES = [
    (
        "arms with features, rewards that are yes/no or counts, many rounds",
        ["GLBOMD"],
        'one pass over the data: time and memory per round do not grow; pass `ridge="dim", scale=0.1` to explore less than the theory requires; in the arena `linear.OFUL` has less regret on fixed arms with features, although its model is wrong',
    ),
    (
        "the same, with a few thousand rounds where every reward counts",
        ["OFUGLB"],
        "the tightest confidence sets and the least regret in later rounds; it stores the history and decides one trial at a time",
    ),
    (
        "the same, one arm set that never changes",
        ["OFUGLB(counts=True)"],
        "with counts, the cost per round does not depend on the number of rounds",
    ),
    (
        "only yes/no rewards, for comparison",
        ["OFULogR", "ECOLog", "OFULMLogB"],
        "earlier methods for logistic rewards; the first one stores the history, the other two do not",
    ),
    (
        "arms with features that never change, about a thousand rounds, no guarantee needed",
        ["LaplaceThompson"],
        "little regret without tuning; no theorem covers it, and it stores the history",
    ),
    ("few policy switches", ["RSGLinCB"], "refits only when the data have grown by a factor"),
    (
        "arms without features",
        ["BetaThompson", "UCB1"],
        "there are no features to generalize over; `BetaThompson` is for rewards 0 and 1",
    ),
]
