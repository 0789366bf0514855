"""Presets of GO-UCB: the paper's printed settings, Algorithm 1 with working settings, and settings for practical use.

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
    """GO-UCB with every setting as stated in the paper, on unscaled points and observed values; lambda and beta need the horizon.

    The outcome depends on the units of the points and of the observed values. Gradient descent with step size 1e-11 does not fit the model:
    for example, on f1 it changes the parameters by less than 1e-6 of their norm. The ball constraint is never active, and the ascent hardly moves.
    Therefore the starting point of the ascent, which the paper does not state, decides most of the outcome (E13).

    Args:
        n_init: n >= 1.
        value_bound: F > 0, the largest |f|.
        start: starting point of the ascent: "incumbent", "uniform", "last" or "center".
        model: None: the network with 25 hidden units.
        oracle: None: gradient descent with the paper's settings.
        acquisition: None: 2000 steps of 1e-4 from ``start``. Otherwise ``start`` is ignored, because an acquisition has its own.

    Raises:
        ValueError: a value is out of range.

    Examples:
        >>> from paperlib.goucb import literal
        >>> learner = literal(5, value_bound=26.0)
        >>> learner.radius.beta(t=25, T=25, dw=551)
        76444842187376.0
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
    """GO-UCB with the recursion of Algorithm 1, an oracle that fits, standardized data and the ball's maximum in closed form.

    Args:
        n_init: n >= 1.
        model: None: the network with 25 hidden units.
        kappa: >= 0, sqrt(beta / lambda).
        ridge: lambda >= 1e-12.
        oracle: None: Levenberg-Marquardt.
        acquisition: None: ``Linearized``.
        trust: trust region; None: the whole box.

    Raises:
        ValueError: a value is out of range.

    Examples:
        >>> from paperlib.goucb import FunctionModel, algorithm1
        >>> def quadratic(w, x):
        ...     return w[0] - (x - w[1:]).square().sum()
        >>> learner = algorithm1(4, model=FunctionModel(quadratic, lambda d: d + 1), kappa=0.5)
        >>> learner.refit, learner.scaling
        (False, 'first')
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
    """GO-UCB for practical use, our variant: refit after every observation, with a trust region around the incumbent.

    In addition to Phase II, the observations of Phase I enter the ellipsoid.

    Args:
        n_init: n >= 1.
        model: None: the network with 25 hidden units.
        kappa: >= 0, sqrt(beta / lambda).
        ridge: lambda >= 1e-12.
        trust: trust region; None: the whole box.
        oracle: None: Levenberg-Marquardt.
        acquisition: None: ``Linearized``.

    Raises:
        ValueError: a value is out of range.

    Examples:
        >>> from paperlib.goucb import practical
        >>> learner = practical(8)
        >>> learner.ridge, learner.radius.kappa, learner.refit
        (0.01, 0.2, True)
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
