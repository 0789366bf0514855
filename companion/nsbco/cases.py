"""Learners and problems for the contract tests and the benchmark."""

import math

from paperlib.core.contracts import ContractCase
from paperlib.learners.multiscale import Multiscale
from paperlib.nsbco.learners.ascent import GradientAscent
from paperlib.nsbco.learners.bob import BanditOverBandit
from paperlib.nsbco.learners.egs import EGS
from paperlib.nsbco.learners.exp3 import Exp3IX
from paperlib.nsbco.learners.glr import GLR
from paperlib.nsbco.learners.gradient import FullInformation, StaticBaseline
from paperlib.nsbco.learners.kiefer import KieferWolfowitz
from paperlib.nsbco.learners.least_squares import DiscountedLeastSquares, SlidingWindowLeastSquares
from paperlib.nsbco.learners.presets import malg, practical, printed
from paperlib.nsbco.learners.reduction import StationaryToWeak
from paperlib.nsbco.learners.restarted import Restarted
from paperlib.nsbco.learners.spsa import SPSA
from paperlib.nsbco.problems.paths import Abrupt, Alternation, Rotation, Walk
from paperlib.nsbco.problems.quadratic import GridDrift, QuadraticDrift

# Cases that the benchmark omits, with the reason.
UNMEASURED = {
    "MASTER, printed": "MASTER with other constants",
    "MASTER, box": "MASTER over a box",
    "MASTER, Exp3-IX": "MASTER around the reduction, with different problem sizes",
    "Exp3-IX, weak": "Exp3-IX with an additional sum in its state",
}

_abrupt, _turn = QuadraticDrift(Abrupt(4)), QuadraticDrift(Rotation(3.0), 3)
_warm = GradientAscent(warm_start=True)
_weak = StationaryToWeak(Exp3IX(), 5.0, 20.0, 64)
_tests = {
    "A1": [0.0, -1.0, math.nan, "x", True],
    "A2": [0.0, -1.0, math.nan, -math.inf],
    "logarithmic": ["A1", ("A3",), None],
    "base": [None, GradientAscent, EGS()],
}

CASES = {
    "MASTER": ContractCase(practical(), _abrupt, _tests, syncs="per round"),
    "MASTERw": ContractCase(practical(_warm), _turn, syncs="per round"),
    "MASTER, printed": ContractCase(printed(GradientAscent(bonus=1e8)), _abrupt, syncs="per round"),
    "MASTER, box": ContractCase(
        Multiscale(GradientAscent(bonus=0.4), 0.1, 4.0, least_order=2),
        QuadraticDrift(Abrupt(3), 2, (0.3, 0.4), "rademacher", cset="box"),
        syncs="per round",
    ),
    "MASTER, Exp3-IX": ContractCase(
        Multiscale(_weak, 0.5, 9.0), GridDrift(Alternation(8)), syncs="per round"
    ),
    "MALG": ContractCase(malg(), _abrupt),
    "Algorithm 2": ContractCase(
        GradientAscent(),
        _abrupt,
        {"start": [(), 0.5, (math.nan, 0.0)]},
    ),
    "Algorithm 2, oracle": ContractCase(Restarted(GradientAscent()), _abrupt, {"base": [None]}),
    "EGS": ContractCase(EGS(), _turn),
    "EGS, oracle": ContractCase(Restarted(EGS()), _turn),
    "KW": ContractCase(KieferWolfowitz(), _abrupt),
    "KW, oracle": ContractCase(Restarted(KieferWolfowitz(), 0.3), QuadraticDrift(Walk(0.01))),
    "KWtrack": ContractCase(KieferWolfowitz(100.0), _turn),
    "SPSA": ContractCase(SPSA(), _turn),
    "BoB": ContractCase(BanditOverBandit(), _abrupt, {"base": [None]}),
    "GLR": ContractCase(
        GLR(delta=0.9),
        _abrupt,
        {"base": [EGS()]},
        syncs="per round",
    ),
    "D-LS": ContractCase(
        DiscountedLeastSquares(8), _turn, {"W": [0, "x", 1.5], "ridge": [0.0], "h": [0.0]}
    ),
    "SW-LS": ContractCase(SlidingWindowLeastSquares("oracle"), _abrupt, {"W": [0, None]}),
    "Exp3-IX": ContractCase(Exp3IX(), GridDrift(Abrupt(2))),
    "Exp3-IX, weak": ContractCase(_weak, GridDrift(Alternation(8))),
    "full information": ContractCase(FullInformation(), _abrupt),
    "static baseline": ContractCase(StaticBaseline(), _abrupt),
}
