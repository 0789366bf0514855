"""Peers in the field of finite arms: bandit algorithms of other libraries, for users who have installed them.

Constants of the track "theory": the default settings of each library. Constants of the track "tuned": one scale multiplies the
exploration, for example the factor alpha of LinUCB.
Left out: contextualbandits, because it does not use features of arms. Vowpal Wabbit and UCB of bayesianbandits do not play the tables,
because a round with 4,177 arms takes them 20 to 200 ms per trial.
"""

from functools import partial

from paperlib.core.contracts import Learner
from paperlib.core.extras import check_installed

from .arms import FLAT, GLM, Known
from .field import ArenaLearner
from .learners import Rescaled
from .libraries import EXTRA, BayesianBandits, MABWiser, VowpalWabbit


def _mabwiser(policy: str, known: Known, scale: float | None) -> Learner:
    """Return a learner of MABWiser for the centered rewards, because its regression has no intercept."""
    return Rescaled(MABWiser(policy, scale or 1.0), known.center)


def _bayesian(policy: str, known: Known, scale: float | None) -> Learner:
    """Return a learner of bayesianbandits with the model of the rewards."""
    return BayesianBandits(known.link, policy, scale or 1.0)


def _vowpal(explore: str, known: Known, scale: float | None) -> Learner:
    """Return a learner of Vowpal Wabbit for rewards that are mapped to an interval of length 1."""
    return Rescaled(VowpalWabbit(explore, scale or 1.0), known.center, 2 * known.reach, 0.5)


SHARED = {"fresh": True, "saved": False}  # fields of all entries
_mab = partial(
    ArenaLearner,
    covers=("linear", FLAT),
    nearly=("logistic", "Poisson", "Covertype", "table"),
    **SHARED,
)
_bayes = partial(ArenaLearner, covers=(*GLM, FLAT), **SHARED)
_vw = partial(
    ArenaLearner, covers=("linear", FLAT), nearly=("logistic", "Poisson", "Covertype"), **SHARED
)

PEERS = {
    "MABWiser LinUCB": _mab(partial(_mabwiser, "LinUCB")),
    "MABWiser LinTS": _mab(partial(_mabwiser, "LinTS")),
    "bayesianbandits UCB": _bayes(partial(_bayesian, "UCB"), nearly=("Covertype",)),
    "bayesianbandits Thompson": _bayes(
        partial(_bayesian, "Thompson"), nearly=("Covertype", "table"), scaled=False
    ),
    "Vowpal Wabbit epsilon": _vw(partial(_vowpal, "epsilon")),
    "Vowpal Wabbit SquareCB": _vw(partial(_vowpal, "squarecb")),
    "Vowpal Wabbit RegCB": _vw(partial(_vowpal, "regcbopt")),
}
LIBRARIES = {
    "MABWiser": MABWiser,
    "bayesianbandits": BayesianBandits,
    "Vowpal Wabbit": VowpalWabbit,
}


def installed_peers() -> tuple[dict[str, ArenaLearner], list[str]]:
    """Return the peers whose library is installed, and one message for each library that is not."""
    found, missing = dict(PEERS), []
    for name, kind in LIBRARIES.items():
        try:
            check_installed(kind.needs, EXTRA, name)
        except ImportError as error:
            missing.append(str(error))
            found = {peer: entry for peer, entry in found.items() if not peer.startswith(name)}
    return found, missing
