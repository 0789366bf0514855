"""Learners and problems for the contract tests and the benchmark."""

from paperlib.core.contracts import ContractCase
from paperlib.learners.wrapper import Doubling
from paperlib.pfbco.learners.block import BlockPFBCO
from paperlib.pfbco.learners.fkm import FKM
from paperlib.pfbco.learners.ocg import StochOCG
from paperlib.pfbco.learners.onepoint import Remembering, practical
from paperlib.pfbco.learners.pfbco import PFBCO, RegularizedLeader
from paperlib.pfbco.problems.ball import BallLinear, BallQuadratic
from paperlib.pfbco.problems.completion import MatrixCompletion
from paperlib.pfbco.problems.quadratic import QuadraticPolytope

from .problems.portfolio import Portfolio

# Cases that the benchmark leaves out, with the reason.
UNMEASURED = {
    f"{name}, one epoch": "the anytime form is measured instead"
    for name in ("PF", "FKM", "StochOCG", "Leader", "Block")
} | {"PF, remembering": "PF is measured, which differs only in not storing a sum of its centers"}

_ball, _bowl = BallLinear(3), BallQuadratic(3)
_shared = {
    "scale": ["x", 0.0, -1.0, float("nan")],
    "start": [(), (float("nan"), 0.0, 0.0), 0.5, ("a",)],
    "baseline": ["no"],
    "warm_start": [None],
    "sham": [0.5],
}

CASES = {
    "PF": ContractCase(Doubling(PFBCO(0.5)), _ball, {"base": [None, "PF"]}),
    "PF, vertex": ContractCase(Doubling(PFBCO(0.5, tie="vertex")), QuadraticPolytope(3, 2)),
    "PF, sham": ContractCase(Doubling(PFBCO(0.5, sham=True)), _bowl),
    "PF, practical": ContractCase(Doubling(practical(PFBCO(1.0))), _bowl),
    "PF, remembering": ContractCase(Doubling(Remembering(PFBCO(0.5))), _ball),
    "PF, matrices": ContractCase(Doubling(PFBCO(0.5)), MatrixCompletion(3, 2, "nuclear")),
    "PF, printed": ContractCase(
        Doubling(PFBCO(1.0, eta_rule="paper")), MatrixCompletion(3, 2, "paper_lmo")
    ),
    "PF, traces": ContractCase(Doubling(PFBCO(0.5)), MatrixCompletion(3, 2, "psd")),
    "PF, stocks": ContractCase(Doubling(PFBCO(0.1)), Portfolio(5, "synthetic")),
    "PF, one epoch": ContractCase(
        PFBCO(0.5, start=(0.3, 0.0, -0.3)),
        _ball,
        _shared,
    ),
    "Unregularized": ContractCase(Doubling(PFBCO(0.5, regularized=False)), _ball),
    "FKM": ContractCase(Doubling(FKM(0.5)), _ball),
    "FKM 2005": ContractCase(Doubling(FKM(0.5, variant="2005")), _ball),
    "FKM, warm": ContractCase(
        Doubling(practical(FKM(0.5, variant="2005"))), MatrixCompletion(3, 2, "nuclear")
    ),
    "FKM, one epoch": ContractCase(FKM(0.5), Portfolio(5, "synthetic"), _shared),
    "StochOCG": ContractCase(Doubling(StochOCG()), _ball),
    "StochOCG, matrices": ContractCase(
        Doubling(StochOCG(bound="noisy", tie="vertex")), MatrixCompletion(3, 2, "psd")
    ),
    "StochOCG, one epoch": ContractCase(StochOCG(noise=0.5), _ball),
    "Leader": ContractCase(Doubling(RegularizedLeader(0.5)), _ball),
    "Leader, one epoch": ContractCase(
        RegularizedLeader(0.5, baseline=True),
        Portfolio(5, "synthetic"),
        _shared | {"tie": ["vertex"], "regularized": [False]},
    ),
    "Block": ContractCase(Doubling(BlockPFBCO(0.5)), _ball, syncs="host"),
    "Block, one epoch": ContractCase(BlockPFBCO(0.5, sham=True), _bowl, _shared, syncs="host"),
}
