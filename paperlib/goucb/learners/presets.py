"""GO-UCB with the printed settings, as Algorithm 1 with settings that work, and as one would use it.

Source: Liu & Wang (2023), Algorithm 1 and Appendix D.1.
"""

from torch import Tensor

from ..model.network import Model, TwoLayerNet
from .acquisition import Acquisition, Joint, Linearized
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
    """Every number as printed, on points and answers as they are; lambda and beta need the horizon.

    Gradient descent of rate 1e-11 does not fit, the ball never binds, and the ascent hardly moves: where it starts, which is not printed,
    decides (E13).

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
    return GOUCB(
        model or TwoLayerNet(),
        n_init,
        oracle or GradientDescent(),
        acquisition or Joint(start=start),
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
        ridge: lambda > 0.
        oracle: Levenberg-Marquardt if None.
        acquisition: ``Linearized`` if None.
        trust: None: the whole box.

    Raises:
        ValueError: a value out of range.
    """
    return GOUCB(
        model or TwoLayerNet(),
        n_init,
        oracle or LevenbergMarquardt(),
        acquisition or Linearized(),
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
        ridge: lambda > 0.
        trust: None: the whole box.
        oracle: Levenberg-Marquardt if None.
        acquisition: ``Linearized`` if None.

    Raises:
        ValueError: a value out of range.
    """
    return GOUCB(
        model or TwoLayerNet(),
        n_init,
        oracle or LevenbergMarquardt(),
        acquisition or Linearized(),
        Constant(kappa),
        ridge=ridge,
        refit=True,
        scaling="all",
        trust=trust,
    )
