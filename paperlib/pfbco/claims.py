"""What Chen, Zhang & Karbasi (2019) say about results, and what we add, declared before any run but for what is named next.

After the quick profile had run, and before the paper's, C7.falling, N2.center and N3 were added, and C1a.epochs came to be judged on
the share itself where it had an interval.

Every claim of Figure 1 is about average losses after the last round at c = .1, learners hearing the same losses trial by
trial; those marked "ours" are beside the paper. Wilcoxon's one-sided test at .005 is the two-sided one at .01 with its sign.
Holm's correction is over the comparisons of one claim and not over all claims: each claim is a sentence with an error of its
own, and its verdict shall not depend on what else was asked. C8 is a paired test too: learners hear the same losses, which
vary more from trial to trial than the learners differ. C5 leaves out the time in which StochOCG's gradient is computed, for
it belongs to the problem and would make the claim trivial; it compares means, whose sum is what a run takes, and of which an
interval is had, while C4, which is only reported, has the medians, which single pauses of the machine do not move.
"""

from ..verdicts.verdict import Claim

QUADRATIC, PORTFOLIO, COMPLETION, TIME, THEORY = (
    f"pfbco_{name}"
    for name in ("1_quadratic", "2_portfolio", "3_matrix_completion", "4_time", "5_theory")
)
LEVEL = 0.005
BOOT = "95 % bootstrap over trials"
PAIRED = "one-sided Wilcoxon signed-rank over paired trials, Holm over the claim's comparisons"
RATIO = f"ratio of mean final average losses, {BOOT}"
BOTH = "; on both price tables, else inconclusive"
TEXT = "text on the experiments"
FKM_MOST = "FKM minus PF, Unregularized and StochOCG"
PF_LEAST = "FKM, Unregularized and StochOCG minus PF"
PANELS = {"a": (QUADRATIC, ""), "b": (PORTFOLIO, BOTH), "c": (COMPLETION, "")}
ORACLES = {
    "printed": ("Figure 1c", "the oracle as printed"),
    "exact": ("Figure 1c, corrected", "the exact oracle"),
    "psd": ("Figure 1c, corrected", "the spectrahedron"),
}


def _order(id, source, sentence, differences, notebook, both=""):
    """Of learners by their final average losses. ``differences``: which are above 0, if it is so."""
    test = f"{differences}: {PAIRED}{both}"
    return Claim(f"pfbco.{id}", source, sentence, test, "test", LEVEL, notebook)


CLAIMS = [
    Claim(
        "pfbco.C1a",
        "Figure 1a",
        "PF's average loss declines with t",
        "all parts",
        "parts",
        parts=("pfbco.C1a.final", "pfbco.C1a.epochs"),
    ),
    Claim(
        "pfbco.C1a.final",
        "Figure 1a",
        "PF's average loss declines: it ends below .8 of its largest value",
        f"last / largest of the mean curve from round 1 on, {BOOT}",
        "below",
        0.8,
        QUADRATIC,
    ),
    Claim(
        "pfbco.C1a.epochs",
        "Figure 1a",
        "PF's average loss declines: its mean loss in the last epoch is below that in the one before, in at least 90 % of trials",
        "share of trials, exact",
        "above",
        0.9,
        QUADRATIC,
    ),
    Claim(
        "pfbco.C1b",
        "Figure 1a",
        "StochOCG performs similarly to PF: within 15 %",
        f"{RATIO}, StochOCG / PF",
        "within",
        (0.85, 1.15),
        QUADRATIC,
    ),
    _order(
        "C1c",
        "Figure 1a",
        "FKM has the lowest loss",
        "PF, Unregularized and StochOCG minus FKM",
        QUADRATIC,
    ),
    Claim(
        "pfbco.C1d",
        "Figure 1a",
        "without regularization the average loss does not decline",
        f"average loss after T / after T / 16 rounds, {BOOT}",
        "above",
        1.0,
        QUADRATIC,
    ),
    _order("C2a", "Figure 1b", "FKM has the highest loss", FKM_MOST, PORTFOLIO, BOTH),
    _order(
        "C2a.small",
        "Figure 1b, in our setting",
        "FKM has the highest loss also at c = 1 with M = 1",
        FKM_MOST,
        PORTFOLIO,
        BOTH,
    ),
    _order("C2b", "Figure 1b", "PF has the lowest loss", PF_LEAST, PORTFOLIO, BOTH),
    *[
        _order(f"C3a.{key}", source, f"PF has the lowest loss ({where})", PF_LEAST, COMPLETION)
        for key, (source, where) in ORACLES.items()
    ],
    *[
        _order(f"C3b.{key}", source, f"FKM has the highest loss ({where})", FKM_MOST, COMPLETION)
        for key, (source, where) in ORACLES.items()
    ],
    *[
        Claim(
            f"pfbco.C4.{panel}",
            "Figure 1d",
            f"FKM takes about {times} times as long as PF (panel {panel})",
            "ratio of median seconds a round, one trial, specialized oracles",
            "reported",
            notebook=TIME,
        )
        for panel, times in (("a", 7), ("b", 5), ("c", 61))
    ],
    *[
        Claim(
            f"pfbco.C5.{panel}",
            "Figure 1d",
            f"StochOCG is slower than PF (panel {panel}), without the time in which the gradient is computed",
            "ratio of mean seconds a round, one trial, specialized oracles, 95 % bootstrap over repetitions",
            "above",
            1.0,
            TIME,
        )
        for panel in "abc"
    ],
    *[
        Claim(
            f"pfbco.C6.{id}",
            source,
            f"the curves rise at first: PF's average loss is larger after {late} rounds than after {early} (panel {panel})",
            f"ratio of the two means, {BOOT}{PANELS[id[0]][1]}",
            "above",
            1.0,
            PANELS[id[0]][0],
        )
        for id, source, late, early, panel in (
            ("a", TEXT, 63, 3, "a"),
            ("b", TEXT, 3, 1, "b"),
            (
                "b.vertex",
                f"{TEXT}, with the other tie rule",
                3,
                1,
                "b, where the oracle answers 0 with the empty portfolio",
            ),
            ("c", TEXT, 63, 3, "c, the oracle as printed"),
        )
    ],
    *[
        Claim(
            f"pfbco.C7.n{n}",
            "Theorem 1, in our test",
            f"regret grows like T^(4/5): an exponent in [.78, .9] (ball of dimension {n})",
            f"log-log slope of the mean regret over the last six doublings, {BOOT} at each T",
            "within",
            (0.78, 0.9),
            THEORY,
        )
        for n in (1, 2, 3, 5)
    ],
    Claim(
        "pfbco.C7.linear",
        "Theorem 1, in our test",
        "regret is linear in the dimension: a straight line in n misses no mean regret by more than 2 %",
        f"largest relative residual of the line over n = 1, 2, 3, 5, {BOOT}",
        "below",
        0.02,
        THEORY,
    ),
    Claim(
        "pfbco.C7.falling",
        "Theorem 1, in our test",
        "the exponent still falls towards 4/5: the slope over the last three doublings is below that over the three before, for every n",
        f"greatest over n = 1, 2, 3, 5 of the difference of the log-log slopes of the mean regret, {BOOT}",
        "below",
        0.0,
        THEORY,
    ),
    *[
        Claim(
            f"pfbco.C8.{panel}",
            TEXT,
            f"one-point estimates and Frank-Wolfe steps without a regularizer do not work: Unregularized has more loss than PF (panel {panel})",
            f"Unregularized minus PF: one-sided Wilcoxon signed-rank over paired trials{both}",
            "test",
            LEVEL,
            notebook,
        )
        for panel, (notebook, both) in PANELS.items()
    ],
    *[
        Claim(
            f"pfbco.C9.{panel}",
            f"{TEXT}, in our test",
            f"StochOCG's gradient noise is comparable to PF's (panel {panel})",
            f"mean norm of PF's estimates / norm of the noise, {BOOT}{both}",
            "within",
            (0.5, 2.0),
            notebook,
        )
        for panel, (notebook, both) in PANELS.items()
    ],
    *[
        Claim(
            f"pfbco.N1.{panel}",
            "ours",
            f"PF's result is that of feedback without information: with the signs of its losses drawn at random PF ends within 2 % (panel {panel})",
            f"mean paired difference over the control's mean, 95 % t-interval over trials{both}",
            "within",
            (-0.02, 0.02),
            notebook,
        )
        for panel, (notebook, both) in PANELS.items()
    ],
    Claim(
        "pfbco.N2",
        "ours",
        "with practical constants PF learns: over the last quarter of 4095 rounds its loss is below .85 of the control's (quadratic losses, c = 1, no warm start)",
        "ratio of means, upper end of the 90 % bootstrap over trials",
        "below",
        0.85,
        THEORY,
    ),
    Claim(
        "pfbco.N2.warm",
        "ours",
        "with practical constants and a warm start PF learns: over the last quarter of 4095 rounds its loss is below .85 of the control's",
        "ratio of means, upper end of the 90 % bootstrap over trials",
        "below",
        0.85,
        THEORY,
    ),
    Claim(
        "pfbco.N2.long",
        "ours",
        "with practical constants PF learns: over the last quarter of 16383 rounds its loss is below .6 of the control's (no warm start)",
        "ratio of means, upper end of the 90 % bootstrap over trials",
        "below",
        0.6,
        THEORY,
    ),
    Claim(
        "pfbco.N2.center",
        "ours",
        "with practical constants and a warm start PF ends below staying at the center: over the last quarter of 16383 rounds",
        f"ratio of means, {BOOT}",
        "below",
        1.0,
        THEORY,
    ),
    *[
        Claim(
            f"pfbco.N3.n{n}",
            "ours",
            f"the block variant's regret grows like T^(3/4): an exponent in [.7, .8] (ball of dimension {n})",
            f"log-log slope of the mean regret over the last five doublings, {BOOT} at each T",
            "within",
            (0.7, 0.8),
            THEORY,
        )
        for n in (1, 2, 5)
    ],
]
