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
BANDITS = "Section 4, linear bandits"
SHARE = "share of draws, 95 % Clopper-Pearson"
ANY = 1e-9  # strictly above 0: a share without a single trial, whose interval begins at 0, decides nothing
BOOT = "95 % bootstrap over trials"
PAIRED = "geometric mean ratio of final regrets, 95 % t-interval over paired trials"
RATIO = f"ratio of mean final regrets, {BOOT}"
SLOPE = f"log-log slope of the mean regret over the last three quarters of the rounds, {BOOT}"
SECONDS = f"ratio of mean seconds a round, trials played one at a time, {BOOT}"
GROWTH = f"log-log slope of seconds a round over the last three quarters of the rounds, trials played one at a time, {BOOT}"
STARVING = {
    "sor": "the adaptive subset of regressors",
    "rff20": "UCB on 20 random Fourier features",
    "rff30": "UCB on 30 random Fourier features",
}


def _claim(id, source, notebook, sentence, decided):
    """One claim. ``decided``: test, side and threshold."""
    return Claim(f"bkb.{id}", source, sentence, *decided, notebook)


def _parts(id, source, notebook, sentence, parts, **sources):
    """A claim that is decided by its parts, and behind it these.

    Args:
        parts: id below this one's -> sentence, and what decides it.
        sources: of parts that have another, by their id.
    """
    ids = tuple(f"bkb.{id}.{part}" for part in parts)
    return [
        Claim(f"bkb.{id}", source, sentence, "all parts", "parts", parts=ids),
        *(
            _claim(f"{id}.{part}", sources.get(part, source), notebook, *said)
            for part, said in parts.items()
        ),
    ]


def _real(name):
    """The parts on one real arm set."""
    who = "LazyBKB" if name in ("abalone", "california") else "BKB"  # thousands of arms
    return {
        f"{name}.parity": (
            f"{who}'s regret is within 20 % of exact GP-UCB's ({name})",
            (RATIO, "within", (0.8, 1.2)),
        ),
        f"{name}.sor": (
            f"with the subset of regressors' variance {who}'s regret is more than three times the exact one ({name})",
            (RATIO, "above", 3.0),
        ),
    }


CLAIMS = [
    _claim(
        "C1",
        FIGURE_2,
        VARIANCE,
        "BKB's variance is within a factor 3 of the exact one at all points, for t = 6, 63 and 215",
        (f"{SHARE}, all points and all three t at once", "above", 0.95),
    ),
    *_parts(
        "C2",
        FIGURE_2,
        VARIANCE,
        "outside the data the subset of regressors starves and BKB does not",
        {
            "bkb": (
                "outside the data BKB's variance is at least a third of the exact one",
                (f"{SHARE}, smallest ratio on [.65, 1] at all three t", "above", 0.95),
            ),
            "sor": (
                "outside the data the subset of regressors' variance falls below a thousandth of the exact one",
                (f"{SHARE}, smallest ratio on [.65, 1] at all three t", "above", 0.95),
            ),
        },
    ),
    *_parts(
        "C3",
        FIGURE_2,
        VARIANCE,
        "BKB's bands cover f as the exact ones do, the subset of regressors' do not",
        {
            "bkb": (
                "coverage of f by three standard deviations: BKB's is the exact one's within .005",
                (
                    f"coverage of BKB minus exact, {BOOT}; the least favorable of the three t",
                    "within",
                    (-0.005, 0.005),
                ),
            ),
            "sor": (
                "coverage of f by three standard deviations is below .85 with the subset of regressors",
                (f"mean coverage, {BOOT}; the largest of the three t", "below", 0.85),
            ),
        },
    ),
    _claim(
        "C3b",
        "ours, after Wang et al. (2018)",
        VARIANCE,
        "with 20 random Fourier features coverage falls by more than .2 from t = 6 to t = 215",
        (f"paired difference of coverage, {BOOT}", "above", 0.2),
    ),
    *_parts(
        "C4",
        TEXT,
        REGRET,
        "BKB at qbar = 5 has the regret of exact GP-UCB up to constants",
        {
            "P1": (
                "BKB at qbar = 5 has the regret of exact GP-UCB within 10 % (one dimension)",
                (PAIRED, "within", (0.9, 1.1)),
            ),
            "P2": (
                "BKB at qbar = 5 has the regret of exact GP-UCB within 18 % (two dimensions)",
                (PAIRED, "within", (0.85, 1.18)),
            ),
        },
    ),
    *_parts(
        "C5",
        TEXT,
        REGRET,
        "no regret: sublinear growth",
        {
            "exact": (
                "the regret of exact GP-UCB grows like t to a power below .6",
                (SLOPE, "below", 0.6),
            ),
            "bkb": (
                "the regret of BKB at qbar = 5 grows like t to a power below .6",
                (SLOPE, "below", 0.6),
            ),
        },
    ),
    *_parts(
        "C6",
        "Section 3",
        REGRET,
        "variance starvation costs regret: the subset of regressors, with the same dictionary rule, is worse than exact GP-UCB",
        {
            "test": (
                "adaptive subset of regressors has more regret than exact GP-UCB",
                (
                    "final regret minus exact: one-sided Wilcoxon signed-rank over paired trials",
                    "test",
                    0.01,
                ),
            ),
            "ratio": (
                "adaptive subset of regressors has more than three times the regret of exact GP-UCB",
                (RATIO, "above", 3.0),
            ),
        },
    ),
    _claim(
        "C7",
        "ours",
        REGRET,
        "a constant qbar of 1 is not no-regret: BKB's regret grows like t to a power above .85",
        (SLOPE, "above", 0.85),
    ),
    _claim(
        "C8",
        "ours",
        REGRET,
        "20 fixed inducing arms with BKB's variance explore too much: more than twice the exact regret",
        (RATIO, "above", 2.0),
    ),
    *_parts(
        "C9",
        "Section 3, in our test",
        REGRET,
        "after a warm start starved methods pay and BKB does not",
        {
            "parity": (
                "after a warm start on half of the arms BKB has the regret of exact GP-UCB within 10 %",
                (RATIO, "within", (0.9, 1.1)),
            ),
            **{
                key: (
                    f"after a warm start {who} has more than twice the regret of exact GP-UCB",
                    (RATIO, "above", 2.0),
                )
                for key, who in STARVING.items()
            },
            **{
                f"stuck.{key}": (
                    f"after a warm start {STARVING[key]} stays stuck in at least one trial: more than ten times the exact mean regret over the last 100 rounds",
                    ("share of trials, 95 % Clopper-Pearson", "above", ANY),
                )
                for key in ("sor", "rff20")
            },
            "stuck.bkb": (
                "after a warm start BKB is stuck in no trial",
                ("number of trials, an exact count", "equal", 0),
            ),
        },
        parity=TEXT,
    ),
    *_parts(
        "C10",
        TEXT,
        REGRET,
        "on real arm sets BKB keeps the exact regret and the subset of regressors does not",
        _real("diabetes") | _real("digits") | _real("abalone") | _real("california"),
    ),
    *_parts(
        "C11",
        BANDITS,
        LINEAR,
        "with the linear kernel BKB is as good as OFUL",
        {
            **{
                name: (
                    f"with the linear kernel BKB is OFUL ({name} spectrum)",
                    ("share of trials with equal final regret, exact", "equal", 1.0),
                )
                for name in ("poly", "flat")
            },
            "low": (
                "with the linear kernel BKB has about OFUL's regret (low spectrum)",
                (RATIO, "within", (0.7, 1.4)),
            ),
        },
    ),
    *_parts(
        "C12",
        BANDITS,
        LINEAR,
        "SOFUL with fewer rows than the rank has linear regret (radius times .2)",
        {
            f"{name}.{m}": (
                f"SOFUL with {m} rows, below the rank, has linear regret ({name} spectrum)",
                (SLOPE, "above", 0.85),
            )
            for name in ("poly", "flat", "low")
            for m in (6, 15)
        },
    ),
    *_parts(
        "C13",
        BANDITS,
        LINEAR,
        "random projections cost regret",
        {
            "slope": (
                "CBRAP in 6 dimensions has nearly linear regret (flat spectrum, radius times .2)",
                (SLOPE, "above", 0.7),
            ),
            "ratio": (
                "CBRAP in 6 dimensions has more than twice OFUL's regret (flat spectrum, radius times .2)",
                (RATIO, "above", 2.0),
            ),
        },
    ),
    _claim(
        "C14.expected",
        "Theorem 3.1, in our sharper form",
        COST,
        "pulls in the dictionary, expected given the past, are at most alpha qbar d_eff + 1 in the mean over rounds",
        (
            f"mean over rounds of expected pulls / (alpha qbar d_eff(t - 1) + 1), {BOOT}",
            "below",
            1.0,
        ),
    ),
    _claim(
        "C14.unique",
        "Theorem 3.1",
        COST,
        "the dictionary has at most as many arms as were pulled and as pulls were drawn (true by construction, and so not judged)",
        ("rounds in which it has more, an exact count", "reported", None),
    ),
    _claim(
        "C15",
        TEXT,
        COST,
        "the dictionary grows like the effective dimension, not like the arms played: m_T / U_T is below .2 (dense arms, one dimension)",
        (f"mean of m_T / U_T, {BOOT}", "below", 0.2),
    ),
    *_parts(
        "C16",
        "Theorem 3.1, in our test",
        COST,
        "enough oversampling makes the variance accurate",
        {
            **{
                merge: (
                    f"with qbar = {qbar} and one coin {coin} every trial's variance stays within a factor 1.5 in all rounds",
                    ("share of trials, exact", "equal", 1.0),
                )
                for merge, qbar, coin in (("pulls", 10, "a pull"), ("arms", 5, "an arm"))
            },
            "monotone": (
                "more oversampling is never less accurate: the share of rounds within a factor 1.5 does not fall as qbar grows",
                ("steps from one qbar to the next at which it falls, an exact count", "equal", 0),
            ),
        },
    ),
    _claim(
        "C17",
        "Section 3.2",
        COST,
        "BKB's time a round does not grow with t: an exponent below .25",
        (GROWTH, "below", 0.25),
    ),
    _claim(
        "C18",
        "Section 3.2",
        COST,
        "refitted to the whole history, exact GP-UCB's time a round grows with t: an exponent above 1.2",
        (GROWTH, "above", 1.2),
    ),
    *_parts(
        "C19",
        "ours",
        COST,
        "which is cheaper hangs on t and on the size of the dictionary",
        {
            "exact": (
                "exact GP-UCB by rank one is cheaper than BKB while t is below the square of the dictionary's size",
                (f"{SECONDS}, over the last quarter of such rounds", "below", 1.0),
            ),
            "lazy": (
                "LazyBKB is cheaper than both from t = 7 M on",
                (
                    f"{SECONDS}, over those rounds, against each; at least 50 of them in every trial",
                    "below",
                    1.0,
                ),
            ),
        },
    ),
    *_parts(
        "C20",
        "ours",
        COST,
        "against exact GP-UCB on unique arms sketching pays where the dictionary is far smaller, and only there",
        {
            "hard": (
                "where the dictionary is nearly as large as the set of arms played, BKB is no faster than exact GP-UCB on unique arms",
                (f"{SECONDS}, over the last 50 rounds with M^2 > U^2 / 2", "above", 1.0),
            ),
            "dense": (
                "where it is far smaller, BKB is more than 20 times faster",
                (
                    f"{SECONDS}, exact GP-UCB on unique arms / BKB, over the last 50 rounds",
                    "above",
                    20.0,
                ),
            ),
        },
    ),
    _claim(
        "C21",
        "Section 4",
        THEORY,
        "BKB's radius adapts to the data and is much smaller than the worst case's: the paper's radius is below the one from the certified gamma_t",
        (f"ratio of the two after the last round, {BOOT}", "below", 1.0),
    ),
    *_parts(
        "C22",
        TEXT,
        COST,
        "the dictionary adapts to the problem",
        {
            "rank": (
                "harder runs have larger dictionaries: rank correlation of m_T and R_T within the four problems (in the large one of two dimensions the rough function)",
                (
                    f"mean over problems of the rank correlation over trials, {BOOT} within problems",
                    "above",
                    0.0,
                ),
            ),
            "often": (
                "a suboptimal arm that is pulled often enters the dictionary: of those pulled at least 5 times a larger share is in it than of those pulled once",
                (
                    f"difference of the two shares after the last round (one dimension), {BOOT}",
                    "above",
                    0.0,
                ),
            ),
        },
    ),
]
