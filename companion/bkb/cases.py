"""Learners and problems for the contract tests and the benchmark."""

from paperlib.bkb.learners.bkb import BKB
from paperlib.bkb.learners.contextual import ContextualBKB
from paperlib.bkb.learners.exact import ExactGPUCB, NaiveGPUCB, UniqueGPUCB
from paperlib.bkb.learners.features import CBRAP, QFFUCB, RFFUCB, LinearGPUCB
from paperlib.bkb.learners.fixed import FixedDictionary
from paperlib.bkb.learners.incremental import IncrementalBKB
from paperlib.bkb.learners.lazy import LazyBKB
from paperlib.bkb.learners.soful import SOFUL
from paperlib.bkb.model.confidence import Confidence
from paperlib.bkb.problems import RKHS, LinearArms
from paperlib.core.contracts import ContractCase
from paperlib.learners.reference import UniformArm
from paperlib.learners.wrapper import Scripted
from paperlib.maths.gp import RBF, Linear, Matern

# Cases that the benchmark leaves out, with the reasons.
UNMEASURED = {
    "GP-UCB, refitted": "a round costs t^3; the notebook bkb_4_cost measures the first rounds",
    "QFF 40": "it has 40^d features, which do not fit into memory at d = 5",
    "warm start": "it is a wrapper around another learner",
    "uniform, first arms": "it does not learn",
}

_problem = RKHS(arms=24, dim=1, gamma=30.0, norm=2.0, noise=0.3)
_kernel, _radius = RBF(30.0), Confidence(0.3, 2.0)
_linear, _own = LinearArms(arms=20, dim=4), Confidence(0.1, 1.0)
_shared = {"confidence": [None, 0.3], "kernel": ["rbf", None]}
_sketch = _shared | {"capacity": [0, "all"]}

CASES = {
    "BKB": ContractCase(BKB(_kernel, _radius, capacity=16), _problem, _sketch),
    "BKB, auto": ContractCase(
        BKB(Matern(1.5, 0.3), _radius, qbar=2.0, merge="arms"), _problem, syncs="per round"
    ),
    "BKB, linear": ContractCase(BKB(Linear(), _own, capacity=16), _linear, syncs="per round"),
    "SoR": ContractCase(BKB(_kernel, _radius, variance="sor", capacity=16), _problem),
    "BKB, incremental": ContractCase(
        IncrementalBKB(_kernel, _radius, capacity=16), _problem, _sketch
    ),
    "LazyBKB": ContractCase(
        LazyBKB(_kernel, _radius, capacity=16), _problem, _sketch, syncs="per round"
    ),
    "LazyBKB, refreshing": ContractCase(
        LazyBKB(_kernel, _radius, merge="arms", threshold=1.5, refresh=8, capacity=24),
        _problem,
        syncs="per round",
    ),
    "ContextualBKB": ContractCase(
        ContextualBKB(_kernel, _radius, 3.0),
        _problem,
        _shared,
        syncs="per round",
    ),
    "GP-UCB": ContractCase(ExactGPUCB(_kernel, _radius), _problem, _shared),
    "GP-UCB, unique": ContractCase(UniqueGPUCB(_kernel, _radius), _problem),
    "GP-UCB, refitted": ContractCase(NaiveGPUCB(_kernel, _radius), _problem),
    "DTC, fixed": ContractCase(FixedDictionary(_kernel, _radius, 8), _problem, _shared),
    "SoR, fixed": ContractCase(FixedDictionary(_kernel, _radius, 8, "sor"), _problem),
    "RFF 100": ContractCase(
        RFFUCB(_kernel, _radius, 100), _problem, {"size": [3], "kernel": [Linear()]}
    ),
    "QFF 40": ContractCase(QFFUCB(_kernel, _radius, 40), _problem, {"kernel": [Linear()]}),
    "OFUL, ridge": ContractCase(LinearGPUCB(_own), _linear),
    "CBRAP 6": ContractCase(CBRAP(_own, 6), _linear),
    "SOFUL 6": ContractCase(SOFUL(_own, 6), _linear, syncs="per round"),
    "warm start": ContractCase(
        Scripted(BKB(_kernel, _radius, capacity=16), UniformArm(), 10),
        _problem,
        {"actions": [(1,), "first"]},
    ),
    "uniform, first arms": ContractCase(UniformArm(12), _problem),
}
