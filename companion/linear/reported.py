"""Numbers that Abbasi-Yadkori, Pal & Szepesvari (2011) state, with the places of our numbers."""

from ..reported import Reported

REPORTED = (
    Reported(
        "ellipsoid",
        "regret of OFUL after the last round, as a multiple of ConfidenceBall's (our reading of the setting: 100 directions in the plane, noise 0.1)",
        "below 1",
        "Experiments",
        "{numbers.regret.OFUL | final / numbers.regret.ConfidenceBall | final} ({numbers.regret.OFUL | final} and {numbers.regret.ConfidenceBall | final} after {parameters.horizon} rounds)",
    ),
    Reported(
        "ellipsoid",
        "confidence radius of OFUL after the last round, as a multiple of ConfidenceBall's",
        "below 1",
        "Theorem 2 and Experiments",
        "{numbers.radius.OFUL | final / numbers.radius.ConfidenceBall | final}",
    ),
    Reported(
        "ellipsoid",
        "fraction of trials in which the ellipsoids of all rounds contain the parameter (delta = 0.05, five dimensions, noise 1)",
        "at least 0.95 (1 - delta)",
        "Theorem 2",
        "{(checks | selectattr('statement', 'equalto', 'Theorem 2') | first).coverage.estimate} of {parameters.coverage_trials} trials, over {parameters.coverage_rounds} rounds",
    ),
)
