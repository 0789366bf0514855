"""What Calandriello, Carratino, Lazaric, Valko & Rosasco (2019) say about results, and what we add, declared before any run but for what is named next.

After the quick profile had run, and before the paper's, C12.low was added, and C19 and C20 came to compare means over rounds where they
had medians, which do not see LazyBKB's samplings.

The paper has one figure and no regret experiment: most claims put a sentence of its text to a test of ours, and those
marked "ours" are beside the paper. Learners see the same noise and the same first arm, trial by trial.
"""

from ..verdicts.verdict import Claim

VARIANCE, REGRET, LINEAR, COST, THEORY = (
    f"bkb_{name}" for name in ("1_variance", "2_regret", "3_linear", "4_cost", "5_theory")
)
FIGURE_2, TEXT = "Figure 2 and Section 3", "Section 4, in our test"
SHARE = "share of draws, 95 % Clopper-Pearson"
ANY = 1e-9  # strictly above 0: a share without a single trial, whose interval begins at 0, decides nothing
BOOT = "95 % bootstrap over trials"
RATIO = f"ratio of mean final regrets, {BOOT}"
SLOPE = f"log-log slope of the mean regret over the last three quarters of the rounds, {BOOT}"
SECONDS = f"ratio of mean seconds a round, trials played one at a time, {BOOT}"
GROWTH = f"log-log slope of seconds a round over the last three quarters of the rounds, trials played one at a time, {BOOT}"


def _parent(id, source, sentence, *parts):
    return Claim(
        f"bkb.{id}",
        source,
        sentence,
        "all parts",
        "parts",
        parts=tuple(f"bkb.{id}.{part}" for part in parts),
    )


def _real(name):
    """The claims on one real arm set."""
    who = "LazyBKB" if name in ("abalone", "california") else "BKB"  # thousands of arms
    parity = f"{who}'s regret is within 20 % of exact GP-UCB's"
    return [
        Claim(
            f"bkb.C10.{name}.parity",
            TEXT,
            f"{parity} ({name})",
            RATIO,
            "within",
            (0.8, 1.2),
            REGRET,
        ),
        Claim(
            f"bkb.C10.{name}.sor",
            TEXT,
            f"with the subset of regressors' variance {who}'s regret is more than three times the exact one ({name})",
            RATIO,
            "above",
            3.0,
            REGRET,
        ),
    ]


CLAIMS = [
    Claim(
        "bkb.C1",
        FIGURE_2,
        "BKB's variance is within a factor 3 of the exact one at all points, for t = 6, 63 and 215",
        f"{SHARE}, all points and all three t at once",
        "above",
        0.95,
        VARIANCE,
    ),
    _parent(
        "C2",
        FIGURE_2,
        "outside the data the subset of regressors starves and BKB does not",
        "bkb",
        "sor",
    ),
    Claim(
        "bkb.C2.bkb",
        FIGURE_2,
        "outside the data BKB's variance is at least a third of the exact one",
        f"{SHARE}, smallest ratio on [.65, 1] at all three t",
        "above",
        0.95,
        VARIANCE,
    ),
    Claim(
        "bkb.C2.sor",
        FIGURE_2,
        "outside the data the subset of regressors' variance falls below a thousandth of the exact one",
        f"{SHARE}, smallest ratio on [.65, 1] at all three t",
        "above",
        0.95,
        VARIANCE,
    ),
    _parent(
        "C3",
        FIGURE_2,
        "BKB's bands cover f as the exact ones do, the subset of regressors' do not",
        "bkb",
        "sor",
    ),
    Claim(
        "bkb.C3.bkb",
        FIGURE_2,
        "coverage of f by three standard deviations: BKB's is the exact one's within .005",
        f"coverage of BKB minus exact, {BOOT}; the least favorable of the three t",
        "within",
        (-0.005, 0.005),
        VARIANCE,
    ),
    Claim(
        "bkb.C3.sor",
        FIGURE_2,
        "coverage of f by three standard deviations is below .85 with the subset of regressors",
        f"mean coverage, {BOOT}; the largest of the three t",
        "below",
        0.85,
        VARIANCE,
    ),
    Claim(
        "bkb.C3b",
        "ours, after Wang et al. (2018)",
        "with 20 random Fourier features coverage falls by more than .2 from t = 6 to t = 215",
        f"paired difference of coverage, {BOOT}",
        "above",
        0.2,
        VARIANCE,
    ),
    _parent(
        "C4", TEXT, "BKB at qbar = 5 has the regret of exact GP-UCB up to constants", "P1", "P2"
    ),
    Claim(
        "bkb.C4.P1",
        TEXT,
        "BKB at qbar = 5 has the regret of exact GP-UCB within 10 % (one dimension)",
        "geometric mean ratio of final regrets, 95 % t-interval over paired trials",
        "within",
        (0.9, 1.1),
        REGRET,
    ),
    Claim(
        "bkb.C4.P2",
        TEXT,
        "BKB at qbar = 5 has the regret of exact GP-UCB within 18 % (two dimensions)",
        "geometric mean ratio of final regrets, 95 % t-interval over paired trials",
        "within",
        (0.85, 1.18),
        REGRET,
    ),
    _parent("C5", TEXT, "no regret: sublinear growth", "exact", "bkb"),
    Claim(
        "bkb.C5.exact",
        TEXT,
        "the regret of exact GP-UCB grows like t to a power below .6",
        SLOPE,
        "below",
        0.6,
        REGRET,
    ),
    Claim(
        "bkb.C5.bkb",
        TEXT,
        "the regret of BKB at qbar = 5 grows like t to a power below .6",
        SLOPE,
        "below",
        0.6,
        REGRET,
    ),
    _parent(
        "C6",
        "Section 3",
        "variance starvation costs regret: the subset of regressors, with the same dictionary rule, is worse than exact GP-UCB",
        "test",
        "ratio",
    ),
    Claim(
        "bkb.C6.test",
        "Section 3",
        "adaptive subset of regressors has more regret than exact GP-UCB",
        "final regret minus exact: one-sided Wilcoxon signed-rank over paired trials",
        "test",
        0.01,
        REGRET,
    ),
    Claim(
        "bkb.C6.ratio",
        "Section 3",
        "adaptive subset of regressors has more than three times the regret of exact GP-UCB",
        RATIO,
        "above",
        3.0,
        REGRET,
    ),
    Claim(
        "bkb.C7",
        "ours",
        "a constant qbar of 1 is not no-regret: BKB's regret grows like t to a power above .85",
        SLOPE,
        "above",
        0.85,
        REGRET,
    ),
    Claim(
        "bkb.C8",
        "ours",
        "20 fixed inducing arms with BKB's variance explore too much: more than twice the exact regret",
        RATIO,
        "above",
        2.0,
        REGRET,
    ),
    _parent(
        "C9",
        "Section 3, in our test",
        "after a warm start starved methods pay and BKB does not",
        "parity",
        "sor",
        "rff20",
        "rff30",
        "stuck.sor",
        "stuck.rff20",
        "stuck.bkb",
    ),
    Claim(
        "bkb.C9.parity",
        TEXT,
        "after a warm start on half of the arms BKB has the regret of exact GP-UCB within 10 %",
        RATIO,
        "within",
        (0.9, 1.1),
        REGRET,
    ),
    *[
        Claim(
            f"bkb.C9.{key}",
            "Section 3, in our test",
            f"after a warm start {who} has more than twice the regret of exact GP-UCB",
            RATIO,
            "above",
            2.0,
            REGRET,
        )
        for key, who in {
            "sor": "the adaptive subset of regressors",
            "rff20": "UCB on 20 random Fourier features",
            "rff30": "UCB on 30 random Fourier features",
        }.items()
    ],
    *[
        Claim(
            f"bkb.C9.stuck.{key}",
            "Section 3, in our test",
            f"after a warm start {who} stays stuck in at least one trial: more than ten times the exact mean regret over the last 100 rounds",
            "share of trials, 95 % Clopper-Pearson",
            "above",
            ANY,
            REGRET,
        )
        for key, who in {
            "sor": "the adaptive subset of regressors",
            "rff20": "UCB on 20 random Fourier features",
        }.items()
    ],
    Claim(
        "bkb.C9.stuck.bkb",
        "Section 3, in our test",
        "after a warm start BKB is stuck in no trial",
        "number of trials, an exact count",
        "equal",
        0,
        REGRET,
    ),
    _parent(
        "C10",
        TEXT,
        "on real arm sets BKB keeps the exact regret and the subset of regressors does not",
        *(
            f"{name}.{part}"
            for name in ("diabetes", "digits", "abalone", "california")
            for part in ("parity", "sor")
        ),
    ),
    *[claim for name in ("diabetes", "digits", "abalone", "california") for claim in _real(name)],
    _parent(
        "C11",
        "Section 4, linear bandits",
        "with the linear kernel BKB is as good as OFUL",
        "poly",
        "flat",
        "low",
    ),
    *[
        Claim(
            f"bkb.C11.{name}",
            "Section 4, linear bandits",
            f"with the linear kernel BKB is OFUL ({name} spectrum)",
            "share of trials with equal final regret, exact",
            "equal",
            1.0,
            LINEAR,
        )
        for name in ("poly", "flat")
    ],
    Claim(
        "bkb.C11.low",
        "Section 4, linear bandits",
        "with the linear kernel BKB has about OFUL's regret (low spectrum)",
        RATIO,
        "within",
        (0.7, 1.4),
        LINEAR,
    ),
    _parent(
        "C12",
        "Section 4, linear bandits",
        "SOFUL with fewer rows than the rank has linear regret (radius times .2)",
        *(f"{name}.{m}" for name in ("poly", "flat", "low") for m in (6, 15)),
    ),
    *[
        Claim(
            f"bkb.C12.{name}.{m}",
            "Section 4, linear bandits",
            f"SOFUL with {m} rows, below the rank, has linear regret ({name} spectrum)",
            SLOPE,
            "above",
            0.85,
            LINEAR,
        )
        for name in ("poly", "flat", "low")
        for m in (6, 15)
    ],
    _parent("C13", "Section 4, linear bandits", "random projections cost regret", "slope", "ratio"),
    Claim(
        "bkb.C13.slope",
        "Section 4, linear bandits",
        "CBRAP in 6 dimensions has nearly linear regret (flat spectrum, radius times .2)",
        SLOPE,
        "above",
        0.7,
        LINEAR,
    ),
    Claim(
        "bkb.C13.ratio",
        "Section 4, linear bandits",
        "CBRAP in 6 dimensions has more than twice OFUL's regret (flat spectrum, radius times .2)",
        RATIO,
        "above",
        2.0,
        LINEAR,
    ),
    Claim(
        "bkb.C14.expected",
        "Theorem 3.1, in our sharper form",
        "pulls in the dictionary, expected given the past, are at most alpha qbar d_eff + 1 in the mean over rounds",
        f"mean over rounds of expected pulls / (alpha qbar d_eff(t - 1) + 1), {BOOT}",
        "below",
        1.0,
        COST,
    ),
    Claim(
        "bkb.C14.unique",
        "Theorem 3.1",
        "the dictionary has at most as many arms as were pulled and as pulls were drawn (true by construction, and so not judged)",
        "rounds in which it has more, an exact count",
        "reported",
        notebook=COST,
    ),
    Claim(
        "bkb.C15",
        TEXT,
        "the dictionary grows like the effective dimension, not like the arms played: m_T / U_T is below .2 (dense arms, one dimension)",
        f"mean of m_T / U_T, {BOOT}",
        "below",
        0.2,
        COST,
    ),
    _parent(
        "C16",
        "Theorem 3.1, in our test",
        "enough oversampling makes the variance accurate",
        "pulls",
        "arms",
        "monotone",
    ),
    *[
        Claim(
            f"bkb.C16.{merge}",
            "Theorem 3.1, in our test",
            f"with qbar = {qbar} and one coin {coin} every trial's variance stays within a factor 1.5 in all rounds",
            "share of trials, exact",
            "equal",
            1.0,
            COST,
        )
        for merge, qbar, coin in (("pulls", 10, "a pull"), ("arms", 5, "an arm"))
    ],
    Claim(
        "bkb.C16.monotone",
        "Theorem 3.1, in our test",
        "more oversampling is never less accurate: the share of rounds within a factor 1.5 does not fall as qbar grows",
        "steps from one qbar to the next at which it falls, an exact count",
        "equal",
        0,
        COST,
    ),
    Claim(
        "bkb.C17",
        "Section 3.2",
        "BKB's time a round does not grow with t: an exponent below .25",
        GROWTH,
        "below",
        0.25,
        COST,
    ),
    Claim(
        "bkb.C18",
        "Section 3.2",
        "refitted to the whole history, exact GP-UCB's time a round grows with t: an exponent above 1.2",
        GROWTH,
        "above",
        1.2,
        COST,
    ),
    _parent(
        "C19",
        "ours",
        "which is cheaper hangs on t and on the size of the dictionary",
        "exact",
        "lazy",
    ),
    Claim(
        "bkb.C19.exact",
        "ours",
        "exact GP-UCB by rank one is cheaper than BKB while t is below the square of the dictionary's size",
        SECONDS + ", over the last quarter of such rounds",
        "below",
        1.0,
        COST,
    ),
    Claim(
        "bkb.C19.lazy",
        "ours",
        "LazyBKB is cheaper than both from t = 7 M on",
        SECONDS + ", over those rounds, against each; at least 50 of them in every trial",
        "below",
        1.0,
        COST,
    ),
    _parent(
        "C20",
        "ours",
        "against exact GP-UCB on unique arms sketching pays where the dictionary is far smaller, and only there",
        "hard",
        "dense",
    ),
    Claim(
        "bkb.C20.hard",
        "ours",
        "where the dictionary is nearly as large as the set of arms played, BKB is no faster than exact GP-UCB on unique arms",
        SECONDS + ", over the last 50 rounds with M^2 > U^2 / 2",
        "above",
        1.0,
        COST,
    ),
    Claim(
        "bkb.C20.dense",
        "ours",
        "where it is far smaller, BKB is more than 20 times faster",
        SECONDS + ", exact GP-UCB on unique arms / BKB, over the last 50 rounds",
        "above",
        20.0,
        COST,
    ),
    Claim(
        "bkb.C21",
        "Section 4",
        "BKB's radius adapts to the data and is much smaller than the worst case's: the paper's radius is below the one from the certified gamma_t",
        f"ratio of the two after the last round, {BOOT}",
        "below",
        1.0,
        THEORY,
    ),
    _parent(
        "C22", "Section 4, in our test", "the dictionary adapts to the problem", "rank", "often"
    ),
    Claim(
        "bkb.C22.rank",
        "Section 4, in our test",
        "harder runs have larger dictionaries: rank correlation of m_T and R_T within the four problems (in the large one of two dimensions the rough function)",
        f"mean over problems of the rank correlation over trials, {BOOT} within problems",
        "above",
        0.0,
        COST,
    ),
    Claim(
        "bkb.C22.often",
        "Section 4, in our test",
        "a suboptimal arm that is pulled often enters the dictionary: of those pulled at least 5 times a larger share is in it than of those pulled once",
        f"difference of the two shares after the last round (one dimension), {BOOT}",
        "above",
        0.0,
        COST,
    ),
]
