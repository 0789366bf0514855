"""Learners and problems that the contract tests run."""

from paperlib.core.contracts import ContractCase
from paperlib.goucb.learners.acquisition import Joint, Linearized, Sphere
from paperlib.goucb.learners.botorch_default import MAPSAAS, BoTorchDefault
from paperlib.goucb.learners.goucb import GOUCB
from paperlib.goucb.learners.gp import GP, GPOptimizeAcqf, QLogNEI
from paperlib.goucb.learners.oracle import BoxLeastSquares, GradientDescent, LevenbergMarquardt
from paperlib.goucb.learners.presets import algorithm1, literal, practical
from paperlib.goucb.learners.radius import Simulated
from paperlib.goucb.learners.search import RepeatBest, UniformPoint
from paperlib.goucb.learners.sequential import Optuna, ScikitOptimize
from paperlib.goucb.learners.turbo import TuRBO
from paperlib.goucb.model.function import FunctionModel, paraboloid
from paperlib.goucb.model.network import TwoLayerNet
from paperlib.goucb.problems.reference import Reference
from paperlib.goucb.problems.synthetic import Rastrigin, SigmoidSum, StyblinskiTang, Teacher

from .problems.tuning import Tuning

# The reason why the bench omits all cases of this paper.
_REASON = "the bench plays 3000 rounds, and these methods are meant for some hundreds of rounds; their run times are in goucb_5_cost"

_small = {
    "model": TwoLayerNet(3),
    "oracle": LevenbergMarquardt(2, 8, 3),
    "acquisition": Linearized(12, 4, 2, 3),
}
_gp = {"fit_steps": 3, "candidates": 12, "around": 4, "top": 2, "steps": 3}
_f2 = StyblinskiTang(2)
_fewer = {"rounds": 6, "trials": 2}  # for learners that need seconds per round
_n = {"n_init": [0, 2.0, True, None]}
_reference = Reference()


CASES = {
    "GO-UCB": ContractCase(
        literal(
            2, 26.0, model=TwoLayerNet(3), oracle=GradientDescent(steps=5), acquisition=Joint(5)
        ),
        SigmoidSum(3),
        {"model": [None, TwoLayerNet], "radius": [0.2]},
    ),
    "GO-UCB, uniform start": ContractCase(
        literal(
            2,
            26.0,
            model=TwoLayerNet(3),
            oracle=GradientDescent(steps=5),
            acquisition=Joint(5, start="uniform"),
        ),
        SigmoidSum(3),
    ),
    "GO-UCB, Algorithm 1": ContractCase(
        algorithm1(3, **_small),
        Teacher(2, hidden=3, starts=8, steps=10),
        {"scaling": ["all"]},
        rounds=25,
    ),
    "GO-UCB, practical": ContractCase(
        practical(3, **_small),
        _f2,
        {"trust": [0.2], "scaling": ["first", None]},
        rounds=25,
    ),
    "GO-UCB, no trust region": ContractCase(
        practical(3, trust=None, **_small), Rastrigin(2), rounds=12
    ),
    "GO-UCB, sphere": ContractCase(
        algorithm1(
            3,
            model=TwoLayerNet(2),
            oracle=LevenbergMarquardt(2, 8),
            acquisition=Sphere(6, 2, 2, 2, turns=4),
        ),
        _f2,
        rounds=25,
    ),
    "GO-UCB, function": ContractCase(
        practical(3, **_small | {"model": FunctionModel(paraboloid, 3)}), _f2, rounds=25
    ),
    # The oracle and the radius that the theorems assume, on a network that satisfies the
    # assumptions.
    "GO-UCB, proof": ContractCase(
        GOUCB(
            _reference.network,
            4,
            BoxLeastSquares(_reference.truth.lo, _reference.truth.hi, 2),
            Linearized(12, 4, 2, 3, 0.005),
            Simulated((_reference.truth.w,), 0.1, 3.0),
            scaling="none",
        ),
        _reference,
        rounds=15,
        trials=3,
        syncs="host",
    ),
    # A fit takes 0.1 s; later evaluations of the same hyperparameters are looked up.
    "GO-UCB, tuning": ContractCase(
        practical(2, **_small), Tuning("wdbc", "boosting"), rounds=3, trials=2
    ),
    "GP-UCB, raw": ContractCase(
        GP(3, "legacy-raw", "UCB", **_gp), SigmoidSum(3), _n, rounds=10, syncs="host"
    ),
    "GP-EI, scaled": ContractCase(
        GP(3, "legacy-scaled", "EI", **_gp),
        _f2,
        {"prior": ["legacy", None]},
        rounds=10,
        syncs="host",
    ),
    "GP-PI, modern": ContractCase(
        GP(3, "modern", "PI", **_gp),
        _f2,
        {"fit_steps": [-1], "candidates": [0], "around": [-1], "top": [0], "steps": [-1]},
        rounds=10,
        syncs="host",
    ),
    "GP-UCB, modern": ContractCase(
        GP(3, "modern", "UCB", **_gp), _f2, {"rate": [0.0]}, rounds=10, syncs="host"
    ),
    **{
        f"GP-{name}, optimize_acqf": ContractCase(
            GPOptimizeAcqf(GP(3, "legacy-raw", name, **_gp), 1, 4),
            SigmoidSum(3),
            {"gp": [None, "UCB"], "restarts": [0], "raw_samples": [0]},
            **_fewer,
            syncs="host",
        )
        for name in ("UCB", "EI", "PI")
    },
    "qLogNEI, modern": ContractCase(
        QLogNEI(3, samples=8, **_gp),
        _f2,
        {"prior": ["new"]},
        rounds=10,
        syncs="host",
    ),
    "MAP-SAAS": ContractCase(MAPSAAS(3, 1, 4, 2), _f2, _n, **_fewer, syncs="host"),
    "BoTorch, default": ContractCase(
        BoTorchDefault(3, 1, 4),
        _f2,
        _n | {"restarts": [0], "raw_samples": [0]},
        **_fewer,
        syncs="host",
    ),
    "TuRBO-1": ContractCase(
        TuRBO(3, candidates=12, fit_steps=3, failures=2),
        _f2,
        _n | {"first": [0.001], "most": [0.1]},
        rounds=20,
    ),
    "TPE": ContractCase(Optuna(3), _f2, _n, rounds=20, syncs="host"),
    "scikit-optimize": ContractCase(ScikitOptimize(3), _f2, _n, **_fewer, syncs="host"),
    "uniform": ContractCase(UniformPoint(3), _f2, _n),
    "repeat-best": ContractCase(RepeatBest(3), _f2, _n),
}
UNMEASURED = dict.fromkeys(CASES, _REASON)
