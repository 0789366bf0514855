"""Which learners with which constants, in all figures of this paper."""

from paperlib.core.contracts import Learner
from paperlib.nsbco.learners.ascent import GradientAscent
from paperlib.nsbco.learners.bob import BanditOverBandit
from paperlib.nsbco.learners.egs import EGS
from paperlib.nsbco.learners.glr import GLR
from paperlib.nsbco.learners.gradient import FullInformation, Still
from paperlib.nsbco.learners.kiefer import KieferWolfowitz
from paperlib.nsbco.learners.least_squares import DiscountedLeastSquares, SlidingWindowLeastSquares
from paperlib.nsbco.learners.presets import malg, practical
from paperlib.nsbco.learners.restarted import Restarted
from paperlib.nsbco.learners.spsa import SPSA

STILL = 0.125  # regret a round of the static baseline where theta has norm 1/2


def learners(*names: str) -> dict[str, Learner]:
    """Learners of the figures by name, all of them or those named, in the given order.

    b_0 = 2, A_1 = 1 and A_2 = 3 (log2 T + 1); the oracles know V_T; D-LS has the best of three windows, the others stand beside it.
    """
    base = GradientAscent()
    known = {
        "MASTER": practical(base),
        "MASTERw": practical(GradientAscent(warm_start=True)),
        "MALG": malg(base),
        "Algorithm 2": base,
        "Algorithm 2, oracle": Restarted(base),
        "EGS": EGS(),
        "EGS, oracle": Restarted(EGS()),
        "KW": KieferWolfowitz(),
        "KW, oracle": Restarted(KieferWolfowitz()),
        "KWtrack": KieferWolfowitz(100.0),
        "SPSA": SPSA(),
        "BoB": BanditOverBandit(),
        "GLR": GLR(),
        "D-LS": DiscountedLeastSquares(64),
        "D-LS 256": DiscountedLeastSquares(256),
        "D-LS 1024": DiscountedLeastSquares(1024),
        "D-LS, oracle": DiscountedLeastSquares("oracle"),
        "SW-LS": SlidingWindowLeastSquares(64),
        "full information": FullInformation(),
        "static baseline": Still(),
    }
    return {name: known[name] for name in names or known}
