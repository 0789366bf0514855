"""Pairs of learner and problem for the contract tests and the benchmark."""

from paperlib.core.contracts import ContractCase
from paperlib.glbomd.learners.controls import UCB1, BetaThompson, LaplaceThompson
from paperlib.glbomd.learners.ecolog import ECOLog
from paperlib.glbomd.learners.glbomd import GLBOMD
from paperlib.glbomd.learners.glmucb import GLMUCB
from paperlib.glbomd.learners.gloc import GLOC
from paperlib.glbomd.learners.ofuglb import OFUGLB
from paperlib.glbomd.learners.ofulmlogb import OFULMLogB
from paperlib.glbomd.learners.ofulogr import OFULogR
from paperlib.glbomd.learners.rsglincb import RSGLinCB
from paperlib.glbomd.model.links import Bernoulli, Gaussian, Poisson
from paperlib.glbomd.problems import FixedArms, SphereArms
from paperlib.learners.reference import LongestArm, UniformArm

_fresh, _fixed = SphereArms(norm=2.0, dim=3, arms=5), FixedArms(norm=2.0, dim=3, arms=5)
_counts = SphereArms(Poisson(), 1.0, 3, 5)
_own = FixedArms(norm=2.0, dim=3, arms=5, per_trial=True)
_link = {"link": ["exponential", None]}
_ridge = {"ridge": [0.0, -2.0, float("nan"), "largest"]}

CASES = {
    "GLB-OMD": ContractCase(
        GLBOMD(Bernoulli(), 2.0),
        _fresh,
        _link | _ridge,
        syncs="per round",
    ),
    "GLB-OMD, dim": ContractCase(
        GLBOMD(Bernoulli(), 0.3, ridge="dim"), _own, syncs="per round"
    ),  # projects often
    "GLB-OMD, Poisson": ContractCase(
        GLBOMD(Poisson(), 1.0, ridge="dim", refresh=16), _counts, syncs="per round"
    ),
    "GLB-OMD, Gaussian": ContractCase(
        GLBOMD(Gaussian(0.25), 2.0), SphereArms(Gaussian(0.25), 2.0, 3, 5), syncs="per round"
    ),
    "GLM-UCB": ContractCase(
        GLMUCB(Bernoulli(), 2.0),
        _fresh,
        _link,
        syncs="per round",
    ),
    "GLM-UCB, counts": ContractCase(
        GLMUCB(Bernoulli(), 2.0, counts=True), _fixed, syncs="per round"
    ),
    "GLOC": ContractCase(
        GLOC(Bernoulli(), 2.0),
        _fresh,
        _link | _ridge,
        syncs="per round",
    ),
    "ECOLog": ContractCase(ECOLog(2.0), _fresh, _ridge | {"link": [Poisson()]}, syncs="per round"),
    "ECOLog, projecting": ContractCase(ECOLog(0.3), _own, syncs="per round"),
    "OFUL-MLogB": ContractCase(
        OFULMLogB(2.0),
        _fresh,
        {"ridge": [0.0, -2.0, float("nan"), "sharp"], "link": [Poisson()]},
        syncs="per round",
    ),
    "OFUL-MLogB, dim": ContractCase(
        OFULMLogB(0.3, ridge="dim"), _own, syncs="per round"
    ),  # projects often
    "RS-GLinCB": ContractCase(
        RSGLinCB(Bernoulli(), 2.0),
        _fresh,
        _link | _ridge,
        syncs="per round",
    ),
    "RS-GLinCB, counts": ContractCase(
        RSGLinCB(Bernoulli(), 2.0, kappa=60.0, counts=True), _fixed, syncs="per round"
    ),
    "OFUGLB": ContractCase(
        OFUGLB(Bernoulli(), 2.0),
        _fresh,
        {"link": ["exponential", Gaussian()]},
        syncs="host",
    ),
    "OFUGLB, counts": ContractCase(
        OFUGLB(Poisson(), 1.0, counts=True), FixedArms(Poisson(), 1.0, 3, 5), syncs="host"
    ),
    "OFULog-r": ContractCase(OFULogR(2.0), _fresh, {"link": [Poisson()]}, syncs="host"),
    "OFULog-r, counts": ContractCase(OFULogR(2.0, counts=True), _fixed, syncs="host"),
    "uniform": ContractCase(UniformArm(), _fresh),
    "longest": ContractCase(LongestArm(), _fresh),
    "Beta Thompson": ContractCase(BetaThompson(), _fixed, {"successes": [0.0]}, syncs="host"),
    "UCB1": ContractCase(UCB1(), _fixed),
    "Laplace Thompson": ContractCase(LaplaceThompson(), _fixed, syncs="per round"),
}
