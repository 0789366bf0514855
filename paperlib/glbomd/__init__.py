"""Generalized linear bandits with a one-pass update.

Source: Zhang, Xu, Zhao & Sugiyama, "Generalized Linear Bandits: Almost Optimal Regret with One-Pass
Update" (2025).
"""

from ..core import Case
from ..styles import Style
from .controls import UCB1, BetaThompson, LaplaceThompson
from .ecolog import ECOLog
from .glbomd import GLBOMD
from .glmucb import GLMUCB
from .gloc import GLOC
from .links import Bernoulli, Binomial, Gaussian, Poisson
from .ofuglb import OFUGLB
from .ofulogr import OFULogR
from .problems import Covertype, FixedArms, GivenUniforms, SphereArms
from .reference import LongestArm, UniformArm
from .rsglincb import RSGLinCB
from .scaling import Rescale

__all__ = [
    "GLBOMD",           # the paper's method
    "GLMUCB",           # Filippi et al. (2010)
    "GLOC",             # Jun et al. (2017)
    "OFULogR",          # Abeille et al. (2021), logistic
    "ECOLog",           # Faury et al. (2022), logistic
    "RSGLinCB",         # Sawarni et al. (2024)
    "OFUGLB",           # Lee, Yun & Jun (2024)
    "UniformArm",       # reference: draws an arm
    "LongestArm",       # reference: plays the longest arm
    "BetaThompson",     # control for a fixed arm set
    "UCB1",             # control for a fixed arm set
    "LaplaceThompson",  # control, logistic
    "Bernoulli",        # rewards 0 or 1, the logistic model
    "Poisson",          # counts
    "Gaussian",         # the linear model
    "Binomial",         # successes of n tries
    "SphereArms",       # fresh arms each round: Figures 1 to 3
    "FixedArms",        # one arm set for all rounds
    "Covertype",        # sixty clusters of real rows: Figure 4
    "GivenUniforms",    # a problem with given reward noise
    "Rescale",          # brings one's own arms into the unit ball
]

CHOICES = [
    ("arms with features, rewards yes or no or counts, many rounds", ["GLBOMD"],
     "one pass: time and memory a round do not grow; pass `scale` below 1 for less exploring than the theory asks"),
    ("the same, few thousand rounds, and every reward counts", ["OFUGLB"],
     "the tightest sets and the least regret late; keeps the history, one trial at a time"),
    ("the same, one arm set that never changes", ["OFUGLB(counts=True)"], "its cost a round is then free of the number of rounds"),
    ("yes-or-no rewards only, for comparison", ["OFULogR", "ECOLog"], "the logistic forerunners, with and without the history"),
    ("few policy switches", ["RSGLinCB"], "fits anew only when the data have grown by a factor"),
    ("arms without features", ["UCB1", "BetaThompson"], "nothing to generalize over"),
]

STYLES = {
    "GLB-OMD": Style("vermilion", "o", emphasis=True),
    "GLM-UCB": Style("purple", "v"),
    "GLOC": Style("orange", "s"),
    "RS-GLinCB": Style("sky", "D"),
    "OFUGLB": Style("blue", "^"),
    "OFULog-r": Style("green", "P"),
    "ECOLog": Style("black", "X"),
    "GLB-OMD, theory": Style("vermilion", "<", linestyle="--", label="GLB-OMD, theory's $\\lambda$"),
    "GLB-OMD, free": Style("vermilion", ">", linestyle="-.", label="GLB-OMD, free of d"),
    "GLB-OMD, sharp": Style("vermilion", "d", linestyle=":", label="GLB-OMD, sharp $\\lambda$"),
    "GLB-OMD, scale .1": Style("vermilion", "p", linestyle="--", label="GLB-OMD, radius $\\times$ 0.1"),
    "Beta Thompson": Style("gray", "*", linestyle="-"),
    "UCB1": Style("gray", "1", linestyle="-"),
    "Laplace Thompson": Style("gray", "h", linestyle="-"),
}

_fresh, _fixed, _counts = SphereArms(norm=2.0, dim=3, arms=5), FixedArms(norm=2.0, dim=3, arms=5), SphereArms(Poisson(), 1.0, 3, 5)
_own = FixedArms(norm=2.0, dim=3, arms=5, per_trial=True)
_shared = {"norm_bound": [0.0, -1.0, float("nan"), float("inf")], "delta": [0.0, 1.5, -0.1, float("nan")], "scale": [-1.0, float("nan")]}
_link = {"link": ["exponential", None]}
_ridge = {"ridge": [0.0, -2.0, float("nan"), "largest"]}
_kappa = {"kappa": [0.0, -1.0, float("inf")]}

CASES = {
    "GLB-OMD": Case(GLBOMD(Bernoulli(), 2.0), _fresh, _shared | _link | _ridge | {"theta0": [(2.0, 2.0, 2.0)], "refresh": [0]}),
    "GLB-OMD, dim": Case(GLBOMD(Bernoulli(), 0.3, ridge="dim"), _own),  # projects often
    "GLB-OMD, Poisson": Case(GLBOMD(Poisson(), 1.0, ridge="dim", refresh=16), _counts),
    "GLB-OMD, Gaussian": Case(GLBOMD(Gaussian(0.25), 2.0), SphereArms(Gaussian(0.25), 2.0, 3, 5)),
    "GLM-UCB": Case(GLMUCB(Bernoulli(), 2.0), _fresh, _shared | _link | _kappa | {"reward_bound": [0.0]}),
    "GLM-UCB, counts": Case(GLMUCB(Bernoulli(), 2.0, counts=True), _fixed),
    "GLOC": Case(GLOC(Bernoulli(), 2.0), _fresh, _shared | _link | _ridge | _kappa | {"sub_gaussian": [0.0], "variant": ["other"]}),
    "GLOC, public": Case(GLOC(Poisson(), 1.0, variant="public"), _counts),
    "ECOLog": Case(ECOLog(2.0), _fresh, _shared | _ridge | {"link": [Poisson()]}),
    "ECOLog, projecting": Case(ECOLog(0.3), _own),
    "RS-GLinCB": Case(RSGLinCB(Bernoulli(), 2.0), _fresh, _shared | _link | _ridge | _kappa | {"constants": ["other"], "reward_bound": [-1.0]}),
    "RS-GLinCB, counts": Case(RSGLinCB(Bernoulli(), 2.0, kappa=60.0, counts=True), _fixed),
    "OFUGLB": Case(OFUGLB(Bernoulli(), 2.0), _fresh, _shared | {"link": ["exponential", Gaussian()]}),
    "OFUGLB, counts": Case(OFUGLB(Poisson(), 1.0, counts=True), FixedArms(Poisson(), 1.0, 3, 5)),
    "OFULog-r": Case(OFULogR(2.0), _fresh, _shared | {"link": [Poisson()]}),
    "OFULog-r, counts": Case(OFULogR(2.0, counts=True), _fixed),
    "uniform": Case(UniformArm(), _fresh),
    "longest": Case(LongestArm(), _fresh),
    "Beta Thompson": Case(BetaThompson(), _fixed, {"successes": [0.0]}),
    "UCB1": Case(UCB1(), _fixed, {"scale": [-1.0]}),
    "Laplace Thompson": Case(LaplaceThompson(), _fixed, {"ridge": [0.0]}),
}
