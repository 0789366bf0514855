"""Peers in both fields: algorithms of other libraries, for users who have installed them.

Constants of the track "theory": the default settings of each library. Constants of the track "tuned": one scale multiplies the
exploration, for example the factor alpha of LinUCB. Samplers of Optuna have no scale; they choose in the first rounds, as the learners
of goucb do, and then repeat the best point.
Left out: contextualbandits, because it does not use features of arms; and the tables, because a round with 4,177 arms takes most of these
libraries 20 to 400 ms per trial.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from paperlib.core.contracts import Learner

from .adapters import Committed
from .arms import FLAT, GLM, Known
from .continuous import BOXES
from .field import ArenaLearner
from .learners import Rescaled
from .libraries import SAMPLERS, BayesianBandits, MABWiser, OptunaSampler, VowpalWabbit


def _mabwiser(policy: str, known: Known, scale: float | None) -> Learner:
    """Return a learner of MABWiser for the centered rewards, because its regression has no intercept."""
    return Rescaled(MABWiser(policy, scale or 1.0), known.center)


def _bayesian(known: Known, scale: float | None) -> Learner:
    """Return Thompson sampling of bayesianbandits with the model of the rewards."""
    return BayesianBandits(known.link)


def _vowpal(known: Known, scale: float | None) -> Learner:
    """Return SquareCB of Vowpal Wabbit for rewards that are mapped to an interval of length 1."""
    return Rescaled(VowpalWabbit(scale or 1.0), known.center, 2 * known.reach, 0.5)


def _entry(build: Callable, covers: tuple[str, ...], **more: Any) -> ArenaLearner:
    nearly = tuple({*GLM, "Covertype"} - {*covers})
    return ArenaLearner(build, covers, nearly, fresh=True, peer=True, **more)


PEERS = {
    "MABWiser LinUCB": _entry(partial(_mabwiser, "LinUCB"), ("linear", FLAT)),
    "MABWiser LinTS": _entry(partial(_mabwiser, "LinTS"), ("linear", FLAT)),
    "bayesianbandits": _entry(_bayesian, (*GLM, FLAT), scaled=False),
    "Vowpal Wabbit": _entry(_vowpal, ("linear", FLAT)),
}
OPTUNA = {
    f"Optuna {name.removesuffix('Sampler')}": ArenaLearner(
        lambda known, scale, name=name: Committed(OptunaSampler(name), known.explore),
        BOXES,
        scaled=False,
        peer=True,
    )
    for name in SAMPLERS
}
LIBRARIES = {
    "MABWiser": MABWiser,
    "bayesianbandits": BayesianBandits,
    "Vowpal Wabbit": VowpalWabbit,
    "Optuna": OptunaSampler,
}


def installed_peers(peers: Mapping[str, ArenaLearner]) -> tuple[dict[str, ArenaLearner], list[str]]:
    """Return the peers whose library is installed, and one message for each library that is not."""
    found, missing = dict(peers), []
    for name, kind in LIBRARIES.items():
        own = [peer for peer in peers if peer.startswith(name)]
        try:
            if own:
                kind.check_packages(name)
        except ImportError as error:
            missing.append(str(error))
            found = {peer: entry for peer, entry in found.items() if peer not in own}
    return found, missing
