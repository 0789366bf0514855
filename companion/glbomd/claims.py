"""Claims that Zhang, Xu, Zhao & Sugiyama (2025) make about their results, and the tests that decide them.

Regret claims compare learners that observe the same noise, trial by trial. Running-time claims compare the run time of
``select`` and ``update`` in one trial, in interleaved repetitions. A number S in an id is the norm of theta*.
A parent (side "parts") holds if all parts hold, and fails if one part fails. Some claims are "reported" and not judged.
These either cannot fail, by construction or at the rounds played, or were chosen after an inspection of the numbers.

The environment is partly our choice, because the paper states neither the dimension nor the arms. We identified d = 5
and 20 new arms per round, uniform in the ball, from the values of kappa that the paper reports (C14). With new arms per
round, one theta* and one sequence of arm sets serve all trials. Therefore intervals over trials cover the noise of the
rewards only.

C1 to C26 were declared before this library ran, when the numbers of a prototype were known. These changes were made
later, after runs at the paper's sizes:
- C10 is judged by the total run time, and no longer by the median round, which does not reflect a warm-up. By now C1, C4,
  C8, C11, C18, C21.b and C27 are judged in the same way, because the figures show the run time of whole runs. At the time
  of this change the verdicts on median rounds were known (except those on C4.slsqp and C27). With the certified solver the
  totals were known, too; the totals with SLSQP were not. By the totals known then, C4.S5 changed from fails (0.92) to
  holds (1.04), and C4 failed because of C4.S3 before and after the change. On 28 November 2026 the repetitions of Figure 1's run
  times were increased from 5 to 20, about the number that inconclusive tests had asked for: C1.S5 and C4.S3 now fail, and C4.S5 stays
  inconclusive. C21.b failed by either measure; it holds in the run of record, because GLB-OMD now takes half as
  long. C9.kappa keeps the median, because its statement is about a single round.
- C14, C20, C21.a, C22, C23.memory, C23.history and C26 are reported and no longer judged.
- C9.slope and C23.time are reported. They held within +-0.1, but in the run of record of that time the methods whose cost
  grows would have held as well (C23.growth). C9 is now its statement about kappa. C23 has no judged part left and was
  removed.
- C23.time.ecolog is our addition. C25 compares the growth with Theorem 2's leading order, and no longer with a band that
  we chose.
- C19 includes C5.S7 and C5.S9, too, because Appendix F.2 refers to them. It failed before and fails with them.
- C28 is reported: C28.radius held because of its range of t alone, and C28.regret is our addition, made after an
  inspection of the numbers.
These claims were declared late, when many of their numbers were known: C4.slsqp and C27, which are judged, and C21.c,
C23.growth, C23.time.ofulmlogb, C28 and C29, which are reported.
On 25 November 2026 the rows of C5 and C12 were changed to state that "at most twice" is our threshold; no test changed.
On 26 November 2026 all claims, sources and descriptions of tests were reworded; no statistic, side or threshold changed.
On 28 November 2026 the sentences of C2, C14.ball, C19 and C21.c were corrected; no test changed.
On 29 November 2026 the intervals of the ratios of run times became t-intervals of the logarithm, because a bootstrap of
five repetitions is too narrow. No statistic, side or threshold changed. The repetitions of glbomd_3_scale were increased from 5 to 10,
because 5 did not decide C9.kappa. C11.slsqp was 146 [111, 208] in the run before, and failed there. On the same day, after another
comparison with the paper's text, C4, C11.certified, C18.certified, C27.certified and C14.ball got the source "ours", because the paper solves non-linear problems with
scipy, which we read as SLSQP, and does not describe its arms. Their verdicts were known: C11.certified, C18.certified, C14.ball and C4.S3
fail, C27.certified holds, and C4.S5 is inconclusive. No test changed.
"""

from ..verdicts import Claim, Finding

LOGISTIC, POISSON, SCALE, COVERTYPE, THEORY = (
    f"glbomd_{name}" for name in ("1_logistic", "2_poisson", "3_scale", "4_covertype", "5_theory")
)
REGRETS, TIMES = "Section 5, Figures 1a-b", "Section 5, Figure 1c"  # places in the paper
FOREST = "ours, after Appendix F.3, which does not name the methods, and Figure 4a"
OURS = "at shrink factor 0.05, which we chose (the paper reports no factor)"
TOTAL = "ratio of total run times of whole runs, one trial, 95 % t-interval over repetitions"
SAMPLED = (
    "ratio of total run times of the sampled rounds, one trial, 95 % t-interval over repetitions"
)
RATIO = "ratio of mean final regrets, 95 % bootstrap interval over trials"
EACH = "; computed for each other method, and the least favorable result decides"
ONE = "a number computed from the model, without an interval"
CANNOT = "true by construction, therefore not judged"
AFTER = "chosen after an inspection of the numbers, therefore not judged: "
BLIND = "cannot distinguish O(1) from O(t) over so few rounds, therefore not judged: "
PASS = "over so few rounds, O(t) methods pass this test, too"

# Tests that several claims share, each with its side and threshold.
TWICE = f"GLB-OMD / OFUGLB: {RATIO}", "below", 2.0
SLOPE = "least-squares slope of the log of the run time per round on log t, t >= 300, medians over bins of 100 rounds"
FLAT = f"{BLIND}{SLOPE}, t-interval over repetitions", "reported"
ONE_PASS = {
    "glbomd": ("GLB-OMD", "Tables 1, 2"),
    "gloc": ("GLOC", "Table 1"),
    "ofulmlogb": ("OFUL-MLogB", "Table 2"),
    # This row is our addition: Table 2 states O(log t) for a solver that stops at precision 1 / t.
    "ecolog": ("Exactly solved ECOLog", "ours; shown next to C24"),
}
HISTORY = {
    "glmucb": ("GLM-UCB", "is O(t)"),
    "ofuglb": ("OFUGLB", "is O(t)"),
    "rsglincb": (
        "RS-GLinCB",
        "is O((log t)^2), amortized; the medians do not reflect its rare fits",
    ),
}
# The places where the paper states that the cost does not depend on kappa.
STABLE = {"logistic": TIMES, "poisson": "Appendix F.2, Figure 3c"}
# Solver of OFUGLB -> its name, the test, and the origin of the claim: the paper uses scipy, in our reading SLSQP.
SOLVERS = {
    "certified": ("with our certified solver", TOTAL, "ours, after "),
    "slsqp": ("with a vectorized SLSQP solver on every 25th round", SAMPLED, ""),
}


def _more(other, one="GLB-OMD", against=""):
    """Return the test that ``other`` has more regret than ``one``."""
    test = f"{other} minus {one}: paired differences of final regret, 95 % t-interval over trials"
    return test + against, "above", 0.0


def _beside(one, side, threshold=1.0, seconds=TOTAL):
    """Return the test of the ratio of one method's run time to the run time of each other method."""
    return f"{one} / each other method: {seconds}{EACH}", side, threshold


def _by(scales, id, source, sentence, *rest):
    """Return the same claim at several norms of theta*."""
    return [Claim(f"glbomd.{id}.S{s}", source, f"{sentence} (S={s})", *rest) for s in scales]


def _parent(id, source, sentence, *parts):
    parts = tuple(f"glbomd.{id}.{part}" for part in parts)
    return Claim(f"glbomd.{id}", source, sentence, "all parts", "parts", parts=parts)


def _both(id, source, sentence, *rest):
    """Return a claim that is decided at S = 3 and S = 5, with its two parts."""
    parts = _by((3, 5), id, source, sentence, *rest)
    return [*parts, _parent(id, source, sentence, "S3", "S5")]


CLAIMS = [
    *_both(
        "C1",
        TIMES,
        "With logistic rewards, GLOC has the shortest run time of the paper's methods",
        *_beside("GLOC", "below"),
        LOGISTIC,
    ),
    *_both(
        "C2",
        REGRETS,
        "With logistic rewards, GLOC's regret is above GLB-OMD's (the paper calls it relatively large among all methods)",
        *_more("GLOC"),
        LOGISTIC,
    ),
    *_both(
        "C3",
        REGRETS,
        "With logistic rewards, OFUGLB has the lowest regret of the paper's methods",
        *_more("each other method", "OFUGLB", EACH),
        LOGISTIC,
    ),
    *_both(
        "C4",
        f"ours, after {TIMES}",
        "With logistic rewards, OFUGLB has the longest run time of the paper's methods, with our certified solver",
        *_beside("OFUGLB", "above"),
        LOGISTIC,
    ),
    *_by(
        (3, 5),
        "C4.slsqp",
        TIMES,
        "With logistic rewards, OFUGLB has the longest run time of the paper's methods, with a vectorized SLSQP solver for OFUGLB and OFULog-r",
        *_beside("OFUGLB", "above", seconds=SAMPLED),
        LOGISTIC,
    ),
    *_both(
        "C5",
        REGRETS,
        "With logistic rewards, GLB-OMD's regret is only modestly above OFUGLB's (we take modest as at most twice)",
        *TWICE,
        LOGISTIC,
    ),
    *_by(
        (7, 9),
        "C5",
        "Appendix F.2, Figures 3a-b; counts in C19",
        "With logistic rewards, GLB-OMD's regret is at most twice OFUGLB's (a threshold that we chose)",
        *TWICE,
        SCALE,
    ),
    *_by(
        (3, 5),
        "C5.fixed",
        "ours; shown next to C5",
        "With logistic rewards and an arm set that never changes, GLB-OMD's regret is at most twice OFUGLB's",
        *TWICE,
        THEORY,
    ),
    *_both(
        "C6",
        REGRETS,
        "With logistic rewards, GLB-OMD's regret is not above ECOLog's (we do not test how close they are)",
        *_more("ECOLog"),
        LOGISTIC,
    ),
    *_both(
        "C7",
        REGRETS,
        "With logistic rewards, GLB-OMD's regret is not above RS-GLinCB's (we do not test how close they are)",
        *_more("RS-GLinCB"),
        LOGISTIC,
    ),
    *_both(
        "C8",
        TIMES,
        "With logistic rewards, GLB-OMD has a shorter run time than ECOLog and RS-GLinCB",
        *_beside("GLB-OMD", "below"),
        LOGISTIC,
    ),
    *(
        Claim(
            f"glbomd.C9.slope.{link}",
            "Theorem 2, Table 1",
            f"GLB-OMD's run time per round does not depend on t ({link}, S=3); {PASS}",
            *FLAT,
            notebook=SCALE,
        )
        for link in STABLE
    ),
    *(
        Claim(
            f"glbomd.C9.kappa.{link}",
            source,
            f"GLB-OMD's run time per round does not depend on kappa ({link}, S=9 compared with S=3; we test for a ratio between 0.8 and 1.25)",
            "ratio of median run times per round, one trial, 95 % t-interval over repetitions",
            "within",
            (0.8, 1.25),
            SCALE,
        )
        for link, source in STABLE.items()
    ),
    _parent(
        "C9",
        "Section 5, Figure 1c; Appendix F.2, Figure 3c",
        "GLB-OMD's run time per round does not depend on kappa",
        *(f"kappa.{link}" for link in STABLE),
    ),
    Claim(
        "glbomd.C10",
        TIMES,
        "RS-GLinCB's run time grows with kappa (logistic, S=5 compared with S=3)",
        TOTAL,
        "above",
        1.0,
        SCALE,
    ),
    *(
        Claim(
            f"glbomd.C11.{id}",
            f"{origin}Section 5, Figure 2c",
            f"With Poisson rewards (S=3), GLB-OMD is about 1000 times faster than OFUGLB (we test for at least 300 times), {solver}",
            f"OFUGLB / GLB-OMD: {test}",
            "above",
            300.0,
            POISSON,
        )
        for id, (solver, test, origin) in SOLVERS.items()
    ),
    *_both(
        "C12",
        "Section 5, Figures 2a-b",
        "With Poisson rewards, GLB-OMD's regret is only modestly above OFUGLB's (we take modest as at most twice)",
        *TWICE,
        POISSON,
    ),
    *_by(
        (7, 9),
        "C12",
        "ours; shown next to C12",
        "With Poisson rewards, GLB-OMD's regret is at most twice OFUGLB's (a threshold that we chose)",
        *TWICE,
        SCALE,
    ),
    *_by(
        (3, 5),
        "C13",
        "Section 5",
        "Poisson rewards are effectively below 100 (we test whether the best arm's reward exceeds 100 in some round with probability below 1 %, with the arms that we identified)",
        ONE,
        "below",
        0.01,
        POISSON,
    ),
    _parent("C13", "Section 5", "Poisson rewards are effectively below 100", "S3", "S5"),
    Claim(
        "glbomd.C14",
        "Section 5",
        "kappa over the drawn arms at theta*, our reading, is 21, 137, 963 (logistic, S=3, 5, 7) and 18, 127, 882 (Poisson)",
        f"{AFTER}we identified the arms and the dimension from these numbers, so they agree by choice",
        "reported",
        notebook=THEORY,
    ),
    Claim(
        "glbomd.C14.ball",
        "ours, after Sections 2.1 and 5",
        "kappa over the ball, as the paper defines it, with the arms that we identified, is 21, 137, 963 (logistic, S=3, 5, 7) and 18, 127, 882 (Poisson)",
        ONE,
        "equal",
        (21, 137, 963, 18, 127, 882),
        THEORY,
    ),
    Claim(
        "glbomd.C15",
        "Appendix F.2, Figures 1, 3",
        "With logistic rewards, GLB-OMD's regret does not grow significantly with S (S = 3, 5, 7, 9)",
        "least-squares slope of final regret on S in each trial, t-interval over trials",
        "below",
        0.0,
        SCALE,
    ),
    Claim(
        "glbomd.C16",
        "Appendix F.2, Figures 1, 3",
        "RS-GLinCB's regret is very sensitive to S (logistic, S=7 compared with S=3; we test for at least 3 times the regret)",
        RATIO,
        "above",
        3.0,
        SCALE,
    ),
    Claim(
        "glbomd.C17",
        "Appendix F.2, Figure 3c",
        "With Poisson rewards, a whole run of GLB-OMD takes less than one second at every S",
        "mean run time of a run in seconds, one trial, and its t-interval over repetitions; each of the three numbers is the largest over S",
        "below",
        1.0,
        SCALE,
    ),
    *(
        Claim(
            f"glbomd.C18.{id}",
            f"{origin}Appendix F.2, Figure 3c",
            f"OFUGLB's run time rises with S (Poisson, S=9 compared with S=3; we test for at least 1.5 times), {solver}",
            test,
            "above",
            1.5,
            SCALE,
        )
        for id, (solver, test, origin) in SOLVERS.items()
    ),
    Claim(
        "glbomd.C19",
        "Appendix F.2",
        "Overall, GLB-OMD's regret is comparable to OFUGLB's (logistic, S=3, 5, 7 and 9, and Poisson, S=3 and 5; we include Poisson rewards, although Appendix F.2 shows no regret with them, and take comparable as at most twice)",
        "the logistic claims (C5, and S=7 and 9) and the Poisson claim (C12) together",
        "parts",
        parts=("glbomd.C5", "glbomd.C5.S7", "glbomd.C5.S9", "glbomd.C12"),
    ),
    Claim(
        "glbomd.C20",
        "Appendix F.3",
        "The mean rewards of the 60 Covertype clusters range from 0.103 to 0.881",
        f"{AFTER}we chose the seed of K-means because it gives this range",
        "reported",
        notebook=COVERTYPE,
    ),
    Claim(
        "glbomd.C21.a",
        FOREST,
        f"On Covertype, GLB-OMD's regret is below the regret of ECOLog, RS-GLinCB, GLOC, GLM-UCB and OFULog-r, {OURS}; OFUGLB is left out",
        f"{AFTER}one-sided Wilcoxon signed-rank tests on paired trials with Holm's correction, the largest p-value",
        "reported",
        notebook=COVERTYPE,
    ),
    Claim(
        "glbomd.C21.b",
        "Appendix F.3, Figure 4b; we chose the methods and the threshold of one half",
        f"On Covertype, GLB-OMD takes less than half the run time of GLM-UCB, RS-GLinCB, OFULog-r and OFUGLB, {OURS}",
        *_beside("GLB-OMD", "below", 0.5),
        COVERTYPE,
    ),
    Claim(
        "glbomd.C21.c",
        FOREST,
        f"On Covertype, GLB-OMD has more regret than OFUGLB: OFUGLB's regret minus GLB-OMD's is below 0, {OURS}",
        AFTER + _more("OFUGLB")[0],
        "reported",
        notebook=COVERTYPE,
    ),
    *(
        Claim(
            f"glbomd.C22.{id}",
            FOREST,
            f"On Covertype, {name} explores too much, so that its regret is above GLB-OMD's, {OURS}",
            AFTER + _more(name)[0],
            "reported",
            notebook=COVERTYPE,
        )
        for id, name in {"glmucb": "GLM-UCB", "gloc": "GLOC"}.items()
    ),
    *(
        Claim(
            f"glbomd.C23.time.{id}",
            source,
            f"{name}'s run time per round does not grow with t; {PASS}",
            *FLAT,
            notebook=THEORY,
        )
        for id, (name, source) in ONE_PASS.items()
    ),
    *(
        Claim(
            f"glbomd.C23.growth.{id}",
            "Table 1",
            f"{name}'s run time per round {order}",
            f"{BLIND}{SLOPE}, one run, no interval",
            "reported",
            notebook=THEORY,
        )
        for id, (name, order) in HISTORY.items()
    ),
    Claim(
        "glbomd.C23.memory",
        "Tables 1, 2",
        "The state of GLB-OMD, GLOC, ECOLog and OFUL-MLogB does not grow with t",
        f"{CANNOT}: growth of the state in bytes over the run, largest of the four",
        "reported",
        notebook=THEORY,
    ),
    Claim(
        "glbomd.C23.history",
        "Table 1",
        "The memory of GLM-UCB, OFUGLB and RS-GLinCB, and of OFULog-r, which we add, grows linearly in t",
        f"{CANNOT}: slope of the log of the bytes added to the state on the log of the rounds; the slope farthest from 1",
        "reported",
        notebook=THEORY,
    ),
    Claim(
        "glbomd.C24",
        "Table 2",
        "ECOLog's run time per round is O(log t); the number is the iterations of its public code, (4/3) ceil((9/4 + S/8) ln(S t)) in round t",
        "formula of the public code, evaluated and not measured",
        "reported",
        notebook=THEORY,
    ),
    *(
        Claim(
            f"glbomd.C25.{id}",
            "ours, after Theorem 2",
            f"GLB-OMD's logistic regret grows no faster than sqrt(t) ln t with {arms} (S=3; this is Theorem 2's leading term alone, and the theorem does not cover lambda = d)",
            "slope of the log of mean regret / (sqrt(t) ln(1 + t)) on log t over the last decade, 95 % bootstrap interval over trials",
            "below",
            0.0,
            THEORY,
        )
        for id, arms in {"fresh": "new arms in every round", "fixed": "one fixed arm set"}.items()
    ),
    Claim(
        "glbomd.C26",
        "Table 1",
        "kappa_*, the inverse of the link's mean slope at the best arms, is at most kappa, the largest inverse slope over the ball (S=3, 5, 7 and 9, logistic and Poisson)",
        f"{CANNOT}: largest ratio kappa_* / kappa",
        "reported",
        notebook=THEORY,
    ),
    *(
        claim
        for id, (solver, test, origin) in SOLVERS.items()
        for claim in _by(
            (3, 5),
            f"C27.{id}",
            f"{origin}{TIMES}; declared late, and we chose the threshold of one half",
            f"With logistic rewards, GLB-OMD saves a substantial part of OFUGLB's run time, at least half of it, {solver}",
            f"OFUGLB / GLB-OMD: {test}",
            "above",
            2.0,
            LOGISTIC,
        )
    ),
    Claim(
        "glbomd.C28.radius",
        "ours, after Remark 2",
        "OFUL-MLogB's radius exceeds GLB-OMD's by a factor of order sqrt(ln t), so the exponent of ln t tends to 1/2 (S=3, t from 1e3 to 1e300)",
        f"{AFTER}slope of the log of the ratio of the radii on log ln t, both with lambda = d; formulas, without an interval",
        "reported",
        notebook=THEORY,
    ),
    *_by(
        (3, 5),
        "C28.regret",
        "ours, after Remark 2",
        "With logistic rewards, OFUL-MLogB's regret is above GLB-OMD's, both with lambda = d",
        AFTER + _more("OFUL-MLogB")[0],
        "reported",
        None,
        THEORY,
    ),
    Claim(
        "glbomd.C29.regret",
        "ours, after Theorem 2",
        "With logistic rewards, GLB-OMD's regret decreases when kappa_* increases with S = 3, 5, 7 (lambda = d). For fixed S, Theorem 2's leading term is proportional to kappa_* to the power -1/2",
        f"{AFTER}slope of the log of final regret on log kappa_* in each trial, t-interval over trials",
        "reported",
        notebook=THEORY,
    ),
    Claim(
        "glbomd.C29.radius",
        "ours, after Theorem 1",
        "GLB-OMD's first confidence radius does not contain kappa; the numbers are its growth factors from S=3 to S=9, while kappa grows 366-fold (logistic) and 403-fold (Poisson)",
        f"{AFTER}formula, with the theory's lambda; it contains S itself and the largest slope, which is e^S for Poisson rewards",
        "reported",
        notebook=THEORY,
    ),
]


# Claims whose verdicts are not repeated with other seeds, by the reason.
EXEMPT = {
    "run time": (
        "C1.S3 C1.S5 C4.S3 C4.S5 C4.slsqp.S3 C4.slsqp.S5 C8.S3 C8.S5 C9.kappa.logistic "
        "C9.kappa.poisson C10 C11.certified C11.slsqp C17 C18.certified C18.slsqp C21.b "
        "C27.certified.S3 C27.certified.S5 C27.slsqp.S3 C27.slsqp.S5"
    ).split(),
    "independent of the seed": "C13.S3 C13.S5 C14.ball".split(),
}

FINDINGS = (
    Finding(
        "With Poisson rewards, GLB-OMD has {C12.S3} times the regret of OFUGLB if the parameter has norm 3, and {C12.S5} times if it has norm 5. The paper reports a modest increase, which we take as at most twice.",
        {"C12.S3": "fails", "C12.S5": "fails"},
    ),
    Finding(
        "With logistic rewards, GLB-OMD has {C5.S3} times the regret of OFUGLB at norm 3 and {C5.S5} times at norm 5, after 3000 rounds. This is a modest increase, as the paper reports, if modest means at most twice, which is our threshold. At norms 7 and 9 the test is inconclusive ({C5.S7} and {C5.S9} times). GLB-OMD takes {C8.S3} times (norm 3) and {C8.S5} times (norm 5) the run time of the faster of ECOLog and RS-GLinCB.",
        {"C5": "holds", "C8": "holds", "C5.S7": "inconclusive", "C5.S9": "inconclusive"},
    ),
    Finding(
        "How much faster GLB-OMD is than OFUGLB depends on the solver for OFUGLB. With Poisson rewards at norm 3 and SLSQP as its solver, OFUGLB takes {C11.slsqp} times the run time of GLB-OMD. With our solver, which proves that it selects the optimistic arm, OFUGLB takes {C11.certified} times the run time of GLB-OMD. Our test, at least 300 times, fails with our solver and is inconclusive with SLSQP. The paper reports 1000 times in Section 5, and run times with a larger ratio in Appendix F.2 (erratum E32).",
        {"C11.slsqp": "inconclusive", "C11.certified": "fails"},
    ),
    Finding(
        "In the environment that we identified (5 dimensions and 20 new arms in every round; the paper states neither), greedy play, which does not explore, has less regret than every method of the paper (Figures 1 and 2). With logistic rewards and arms that never change, greedy play has more regret than OFUGLB, and at norm 3 less than GLB-OMD ([figure](#fixed-arms)). GLB-OMD has {C5.fixed.S3} times (norm 3) and {C5.fixed.S5} times (norm 5) the regret of OFUGLB.",
        {"C5.fixed.S3": "fails", "C5.fixed.S5": "fails"},
    ),
    Finding(
        "The paper reports that GLOC is the fastest method. With logistic rewards at norm 3, GLOC takes {C1.S3} times the run time of the fastest other method, and {C1.S5} times at norm 5.",
        {"C1.S3": "fails", "C1.S5": "fails"},
    ),
    Finding(
        "GLB-OMD's run time hardly depends on kappa, as the paper reports. A round at norm 9 takes {C9.kappa.logistic} times (logistic) and {C9.kappa.poisson} times (Poisson) as long as a round at norm 3. The test allows a factor from 0.8 to 1.25.",
        {"C9.kappa.logistic": "holds", "C9.kappa.poisson": "holds"},
    ),
)
