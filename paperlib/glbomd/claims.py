"""What Zhang, Xu, Zhao & Sugiyama (2025) say about their results, declared before any run.

Regret claims compare learners that see the same noise, trial by trial; running-time claims compare seconds of
``select`` and ``update`` of one trial, in interleaved repetitions. Numbers S in an id are the norm of theta*.
Parents (side "parts") hold if all parts hold and fail if one fails.
"""

from ..verdicts.verdict import Claim

LOGISTIC, POISSON, SCALE, COVERTYPE, THEORY = (
    f"glbomd_{name}" for name in ("1_logistic", "2_poisson", "3_scale", "4_covertype", "5_theory")
)
REGRETS, TIMES = "Experiments, Figures 1a-b", "Experiments, Figure 1c"  # sources
SECONDS = "ratio of median seconds a round, one trial, 95 % bootstrap interval over repetitions"
RATIO = "ratio of mean final regrets, 95 % bootstrap interval over trials"
EACH = "; against each, the least favorable decides"
ONE = "a single figure computed from the model, no interval"

# Tests, with side and threshold.
CHEAPEST = SECONDS + EACH, "below", 1.0
TWICE = RATIO, "below", 2.0
FLAT = (
    "least-squares slope of log seconds on log t over t >= 300, medians of 100 rounds, t-interval over repetitions",
    "within",
    (-0.1, 0.1),
)
SOLVERS = {
    "certified": "our certified solver",
    "slsqp": "a vectorized SLSQP on every 25th round",
}


def _more(other, one="GLB-OMD", against=""):
    """The test that ``other`` has more regret than ``one``."""
    test = f"{other} minus {one}: paired differences of final regret, 95 % t-interval over trials"
    return test + against, "above", 0.0


def _by(scales, id, source, sentence, *rest):
    """The same claim at several norms of theta*."""
    return [Claim(f"glbomd.{id}.S{s}", source, f"{sentence} (S={s})", *rest) for s in scales]


def _parent(id, source, sentence, *parts):
    parts = tuple(f"glbomd.{id}.{part}" for part in parts)
    return Claim(f"glbomd.{id}", source, sentence, "all parts", "parts", parts=parts)


def _both(id, source, sentence, *rest):
    """A claim at S = 3 and 5, where it is decided."""
    parts = _by((3, 5), id, source, sentence, *rest)
    return [*parts, _parent(id, source, sentence, "S3", "S5")]


CLAIMS = [
    *_both("C1", TIMES, "GLOC is the fastest method", *CHEAPEST, LOGISTIC),
    *_both("C2", REGRETS, "GLOC's regret is large beside GLB-OMD's", *_more("GLOC"), LOGISTIC),
    *_both(
        "C3",
        REGRETS,
        "OFUGLB has the lowest regret of the paper's methods",
        *_more("other", "OFUGLB", EACH),
        LOGISTIC,
    ),
    *_both(
        "C4", TIMES, "OFUGLB is the most expensive method", SECONDS + EACH, "above", 1.0, LOGISTIC
    ),
    *_both(
        "C5",
        REGRETS,
        "GLB-OMD's logistic regret is only modestly above OFUGLB's: at most twice",
        *TWICE,
        LOGISTIC,
    ),
    *_by(
        (7, 9),
        "C5",
        "Figures 3a-b; shown beside C5",
        "GLB-OMD's logistic regret is at most twice OFUGLB's",
        *TWICE,
        SCALE,
    ),
    *_by(
        (3, 5),
        "C5.fixed",
        "ours; shown beside C5",
        "the same when the arm set never changes",
        *TWICE,
        THEORY,
    ),
    *_both("C6", REGRETS, "GLB-OMD's regret is below ECOLog's", *_more("ECOLog"), LOGISTIC),
    *_both("C7", REGRETS, "GLB-OMD's regret is below RS-GLinCB's", *_more("RS-GLinCB"), LOGISTIC),
    *_both("C8", TIMES, "GLB-OMD is cheaper than ECOLog and RS-GLinCB", *CHEAPEST, LOGISTIC),
    *(
        Claim(
            f"glbomd.C9.slope.{link}",
            "Experiments, Figure 3c",
            f"GLB-OMD's cost a round does not depend on t ({link}, S=3)",
            *FLAT,
            SCALE,
        )
        for link in ("logistic", "poisson")
    ),
    *(
        Claim(
            f"glbomd.C9.kappa.{link}",
            "Experiments, Figure 3c",
            f"GLB-OMD's cost a round does not depend on kappa ({link}): S=9 against S=3",
            SECONDS,
            "within",
            (0.8, 1.25),
            SCALE,
        )
        for link in ("logistic", "poisson")
    ),
    _parent(
        "C9",
        "Experiments, Figure 3c",
        "GLB-OMD's cost a round depends neither on t nor on kappa",
        *(f"{what}.{link}" for what in ("slope", "kappa") for link in ("logistic", "poisson")),
    ),
    Claim(
        "glbomd.C10",
        TIMES,
        "RS-GLinCB's cost grows with kappa: S=5 against S=3, logistic",
        SECONDS,
        "above",
        1.0,
        SCALE,
    ),
    *(
        Claim(
            f"glbomd.C11.{id}",
            "Experiments, Figure 2c",
            f"Poisson, S=3: GLB-OMD is about 1000 times cheaper than OFUGLB (at least 300), {solver}",
            SECONDS,
            "above",
            300.0,
            POISSON,
        )
        for id, solver in SOLVERS.items()
    ),
    *_both(
        "C12",
        "Experiments, Figures 2a-b",
        "GLB-OMD's Poisson regret is only modestly above OFUGLB's: at most twice",
        *TWICE,
        POISSON,
    ),
    *_by(
        (7, 9),
        "C12",
        "ours; shown beside C12",
        "GLB-OMD's Poisson regret is at most twice OFUGLB's",
        *TWICE,
        SCALE,
    ),
    *_by(
        (3, 5),
        "C13",
        "Appendix F.1",
        "Poisson rewards are effectively below 100: P(a reward of some round's best arm exceeds 100)",
        ONE,
        "below",
        0.01,
        POISSON,
    ),
    _parent("C13", "Appendix F.1", "Poisson rewards are effectively below 100", "S3", "S5"),
    Claim(
        "glbomd.C14",
        "Experiments, Appendix F.1",
        "kappa is 21, 137, 963 (logistic, S=3, 5, 7) and 18, 127, 882 (Poisson): over the drawn arms, at theta*",
        ONE,
        "equal",
        (21, 137, 963, 18, 127, 882),
        THEORY,
    ),
    Claim(
        "glbomd.C14.ball",
        "Section 2, Appendix F.1; shown beside C14",
        "the same numbers for kappa as the paper defines it, over the ball",
        ONE,
        "equal",
        (21, 137, 963, 18, 127, 882),
        THEORY,
    ),
    Claim(
        "glbomd.C15",
        "Experiments, Figures 1, 3",
        "GLB-OMD's logistic regret does not grow with S = 3, 5, 7, 9",
        "least-squares slope of final regret on S in each trial, t-interval over trials",
        "below",
        0.0,
        SCALE,
    ),
    Claim(
        "glbomd.C16",
        "Experiments, Figures 1, 3",
        "RS-GLinCB is very sensitive to S: regret at S=7 over S=3, logistic",
        RATIO,
        "above",
        3.0,
        SCALE,
    ),
    Claim(
        "glbomd.C17",
        "Appendix F.2, Figure 3c",
        "GLB-OMD takes under a second for all rounds at every S, Poisson",
        "seconds of a run, one trial, largest over S, t-interval over repetitions",
        "below",
        1.0,
        SCALE,
    ),
    *(
        Claim(
            f"glbomd.C18.{id}",
            "Appendix F.2, Figure 3c",
            f"OFUGLB's cost rises with S: S=9 against S=3, Poisson, {solver}",
            SECONDS,
            "above",
            1.5,
            SCALE,
        )
        for id, solver in SOLVERS.items()
    ),
    Claim(
        "glbomd.C19",
        "Abstract, Experiments",
        "GLB-OMD's regret is comparable to OFUGLB's overall",
        "C5 and C12 together",
        "parts",
        parts=("glbomd.C5", "glbomd.C12"),
    ),
    Claim(
        "glbomd.C20",
        "Appendix F.3",
        "the 60 clusters' mean rewards range from .103 to .881",
        ONE,
        "equal",
        (0.103, 0.881),
        COVERTYPE,
    ),
    Claim(
        "glbomd.C21.a",
        "Appendix F.3, Figure 4a",
        "Covertype: GLB-OMD's regret is below ECOLog's, RS-GLinCB's, GLOC's, GLM-UCB's and OFULog-r's (shrink factor .05)",
        "one-sided Wilcoxon signed-rank tests on paired trials, Holm",
        "test",
        0.01,
        COVERTYPE,
    ),
    Claim(
        "glbomd.C21.b",
        "Appendix F.3, Figure 4b",
        "Covertype: GLB-OMD takes less than half the time of GLM-UCB, RS-GLinCB, OFULog-r and OFUGLB",
        SECONDS + EACH,
        "below",
        0.5,
        COVERTYPE,
    ),
    _parent(
        "C21",
        "Appendix F.3, Figure 4",
        "Covertype: GLB-OMD is much faster without losing regret",
        "a",
        "b",
    ),
    *(
        Claim(
            f"glbomd.C22.{id}",
            "Appendix F.3, Figure 4a",
            f"Covertype: {name} explores too much (shrink factor .05)",
            *_more(name),
            COVERTYPE,
        )
        for id, name in {"glmucb": "GLM-UCB", "gloc": "GLOC"}.items()
    ),
    _parent(
        "C22",
        "Appendix F.3, Figure 4a",
        "Covertype: classical methods explore too much",
        "glmucb",
        "gloc",
    ),
    *(
        Claim(
            f"glbomd.C23.time.{name}",
            "Tables 1, 2",
            f"{name}: time a round does not grow with t",
            *FLAT,
            THEORY,
        )
        for name in ("glbomd", "gloc", "ecolog")
    ),
    Claim(
        "glbomd.C23.memory",
        "Tables 1, 2",
        "GLB-OMD, GLOC and ECOLog: the state does not grow with t",
        "growth of the state's bytes over the run, largest of the three",
        "equal",
        0,
        THEORY,
    ),
    Claim(
        "glbomd.C23.history",
        "Tables 1, 2",
        "GLM-UCB, OFUGLB, OFULog-r, RS-GLinCB: memory grows linearly in t",
        "slope of the log of the bytes added to the state on the log of the rounds, of the four the one farthest from 1 decides",
        "within",
        (0.9, 1.1),
        THEORY,
    ),
    _parent(
        "C23",
        "Tables 1, 2",
        "time and memory a round are O(1) for the online methods, memory O(t) for the others",
        *("time.glbomd", "time.gloc", "time.ecolog", "memory", "history"),
    ),
    Claim(
        "glbomd.C24",
        "Table 2",
        "ECOLog's time a round is O(log t): the public code's iteration count, (4/3) ceil((9/4 + S/8) ln(S t))",
        "formula of the public code, evaluated",
        "reported",
        notebook=THEORY,
    ),
    *(
        Claim(
            f"glbomd.C25.{id}",
            "Theorem 2",
            f"GLB-OMD's regret grows like the square root of t, {arms}",
            "slope of log mean regret on log t over the last decade, 95 % bootstrap interval over trials",
            "within",
            (0.4, 0.8),
            THEORY,
        )
        for id, arms in {"fresh": "fresh arms each round", "fixed": "one fixed arm set"}.items()
    ),
    Claim(
        "glbomd.C26",
        "Table 1",
        "kappa at the best arms is at most kappa over the ball, at every S, both links",
        "largest ratio of the two, no interval",
        "below",
        1.0,
        THEORY,
    ),
]
