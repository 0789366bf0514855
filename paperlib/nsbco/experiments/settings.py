"""Which learners with which constants, in all figures of this paper."""

from ...core.contracts import Learner
from ..learners.ascent import GradientAscent
from ..learners.bob import BanditOverBandit
from ..learners.egs import EGS
from ..learners.glr import GLR
from ..learners.gradient import FullInformation, Still
from ..learners.kiefer import KieferWolfowitz
from ..learners.least_squares import DiscountedLeastSquares, SlidingWindowLeastSquares
from ..learners.presets import malg, practical
from ..learners.restarted import Restarted
from ..learners.spsa import SPSA

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
