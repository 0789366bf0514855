"""GO-UCB with the printed settings, as Algorithm 1 with settings that work, and as one would use it.

Source: Liu & Wang (2023), Algorithm 1 and Appendix D.1.
"""

from torch import Tensor

from ...core.validation import check_in
from ..model.network import Model, TwoLayerNet
from .acquisition import STARTS, Acquisition, Joint, Linearized
from .goucb import GOUCB, TrustRegion
from .oracle import GradientDescent, LevenbergMarquardt, Oracle
from .radius import Constant, Printed

USUAL = TrustRegion()


def literal(
    n_init: int,
    value_bound: float,
    start: str = "incumbent",
    model: Model | None = None,
    oracle: Oracle | None = None,
    acquisition: Acquisition | None = None,
) -> GOUCB:
    """Every number that is printed, on points and answers as they are, on whose units it depends; lambda and beta need the horizon.

    Gradient descent of rate 1e-11 does not fit, the ball never binds, and the ascent hardly moves: where it starts, which is not printed,
    decides most of what follows (E13).

    Args:
        n_init: n >= 1.
        value_bound: F > 0, the largest |f|.
        start: of the ascent, "incumbent", "uniform", "last" or "center".
        model: the network of 25 hidden units if None.
        oracle: gradient descent as printed if None.
        acquisition: 2000 steps of 1e-4 from ``start`` if None; else ``start`` is its own.

    Raises:
        ValueError: a value out of range.
    """
    check_in("start", start, STARTS)
    return GOUCB(
        TwoLayerNet() if model is None else model,
        n_init,
        GradientDescent() if oracle is None else oracle,
        Joint(start=start) if acquisition is None else acquisition,
        Printed(value_bound),
        ridge=None,
        scaling="none",
    )


def algorithm1(
    n_init: int,
    model: Model | None = None,
    kappa: float | Tensor = 0.2,
    ridge: float | Tensor = 1.0,
    oracle: Oracle | None = None,
    acquisition: Acquisition | None = None,
    trust: TrustRegion | None = None,
) -> GOUCB:
    """Algorithm 1's recursion with an oracle that fits, scaled data and the ball's maximum in closed form.

    Args:
        n_init: n >= 1.
        model: the network of 25 hidden units if None.
        kappa: >= 0, sqrt(beta / lambda).
        ridge: lambda >= 1e-12.
        oracle: Levenberg-Marquardt if None.
        acquisition: ``Linearized`` if None.
        trust: None: the whole box.

    Raises:
        ValueError: a value out of range.
    """
    return GOUCB(
        TwoLayerNet() if model is None else model,
        n_init,
        LevenbergMarquardt() if oracle is None else oracle,
        Linearized() if acquisition is None else acquisition,
        Constant(kappa),
        ridge=ridge,
        trust=trust,
    )


def practical(
    n_init: int,
    model: Model | None = None,
    kappa: float | Tensor = 0.2,
    ridge: float | Tensor = 0.01,
    trust: TrustRegion | None = USUAL,
    oracle: Oracle | None = None,
    acquisition: Acquisition | None = None,
) -> GOUCB:
    """For use: fitted anew after every answer, Phase I in the ellipsoid, a trust region around the best point so far (ours).

    Args:
        n_init: n >= 1.
        model: the network of 25 hidden units if None.
        kappa: >= 0, sqrt(beta / lambda).
        ridge: lambda >= 1e-12.
        trust: None: the whole box.
        oracle: Levenberg-Marquardt if None.
        acquisition: ``Linearized`` if None.

    Raises:
        ValueError: a value out of range.
    """
    return GOUCB(
        TwoLayerNet() if model is None else model,
        n_init,
        LevenbergMarquardt() if oracle is None else oracle,
        Linearized() if acquisition is None else acquisition,
        Constant(kappa),
        ridge=ridge,
        refit=True,
        scaling="all",
        trust=trust,
    )
