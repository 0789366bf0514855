"""Claims of Liu & Wang (2023) about their results, our additional claims, and the test of each.

All claims were declared before any run of this package, with the exceptions below. An earlier implementation had been run on the same problems
with other random seeds. The following claims were therefore declared when its results were known:

- GO-UCB has the lowest regret on f1 to f3, and TuRBO has the lowest regret of the baselines (C1 and C4; p at most 0.012).
- Regret is linear on f2 and f3 (C5.f2 and C5.f3; the regret of TuRBO's last rounds was 0.87 times its average).
- GO-UCB's advantage is smaller on f3 than on f2 (C6; 0.21 of EI's regret on f2, compared with 0.16 on f3).
- GO-UCB with the paper's settings is like its control with both starts (N1 and N2). The order of Figure 2 survives other settings (N3; it
  failed on f2 and f3, where EI with the current prior had less regret than GO-UCB).
- The claims over all tuning tasks (N4, -0.59 +- 0.32; N5, worse; N6), on six of the nine tuning tasks at T = 32.

The ratio of standard deviations in C2 and the results of C7 to C12, N7 and N8 were not known before. N9 was at first about the regret of both
phases. However, this regret grows more slowly than T even for a learner that never learns, because n = sqrt(T). Short runs showed this, and N9
was then restricted to Phase II before the runs that decide it.

A claim is a sentence of the paper, tested as it stands. If we chose a threshold or a setting, the claim or its test states this. The source of
a claim that the paper does not make starts with "ours" (N).

Settings:

- "GO-UCB" has the settings of Appendix D.1, and its ascent starts at the incumbent. The paper does not state the start of the ascent, which
  decides most of the outcome (N1, N2).
- Section 6 states that the baselines are from BoTorch and from sklearn, which it cites as scikit-optimize (E14), with default settings. It
  does not state the library of each baseline. We read this as BoTorch, with unscaled inputs.
- "Raw" means unscaled points and observations, with BoTorch's default priors at the time of the paper. The fit of these models, beta, and
  the search for the maximum of an acquisition function are our choices, with all trials in one batch.
- TuRBO-1 follows its own paper, not BoTorch's tutorial.
- Regret counts both phases, and t counts all evaluations, as on the axes of the paper's figures.

The paper repeats each run 5 times. With 5 runs a two-sided signed-rank test cannot reach the level of 5 %. Therefore we run at least 20 trials. The
tuning tasks have 5 folds with several designs each, and only folds count as independent. Paired trials have the same points of Phase I and the same
noise. Holm's correction is over the comparisons of one claim.

The following were changed to test the sentence itself, after we had read runs that decide some of them:

- C5: all five methods are tested, where it was the smallest ratio.
- C2's flat rounds: the 8 rounds after t = 22, where there were 9.
- C2.soon is new.
- N6 leaves out GO-UCB with the paper's settings, which by N1 stays near the best point of Phase I on f1 to f3.
- The intervals on tuning tasks are t-intervals, because a bootstrap over five folds covered 84 %.

On 25 November 2026, claims that could not decide, or that counted one number more than once, were changed. All numbers of the paper profile
were known:

- C2.soon and C2.goucb were decided by 20 trials, and one or two of these have nearly all the regret: 0.0756 [0.000531, 0.218]. They are now decided
  by a million draws of Phase I and GO-UCB's paired difference to them over 1000 trials. With 20 trials, too few would have a poor Phase I
  to show whether GO-UCB recovers from it. A first million draws, with other random numbers, had given 0.0551. With 20 paired trials of a
  shorter ascent the new statistic had given 0.0552 [0.0532, 0.0573] and 0.0551 [0.0528, 0.0574]. The threshold 0.05 is unchanged.
- N10 is new and reported. The same draws had given 0.104. N11 is new and reported. Two trials of three rounds on f1 had shown that the points
  differ.
- C3 had a part for each of GP-UCB, GP-EI and GP-PI (raw), which choose the same points on f1. It is now judged once, by the factor farthest
  from 1, as C5 is. Its band [0.8, 1.25] is equivalent to a factor of at most 1.25.
- C9 is dropped. Phase I is the same for all methods here. Therefore its number was the number of C7.perceptron.
- C10.curve is new, because the paper's "curved regret line" had no test. The mean curves of the paper profile were known, its statistic was not.
- N8 compared one trial of BoTorch with GO-UCB's run time per trial in a batch of 20 trials (ratio 266). N8.single has one trial on both sides.
  The ratio of the medians was known to be about 27. The threshold 20 is unchanged.

On 26 November 2026, C12 was reclassified as our claim, because the paper states it about a bound. Its test is unchanged. The sentence of N11
stated that the three methods choose the same points with BoTorch's own search. The run of the paper profile gave a fraction of 0.257, and the
sentence now asks how often they do. N11 is reported, before and after.

On 28 November 2026 the sentences of C1.f1 to C1.f3, C3, C4.f1 to C4.f3, N6 and N10 were corrected; no test changed.

On 29 November 2026 the runs on f1 had 150 trials instead of 20, and each dimension of C12 had 40 instead of 20, because 20 did not decide C2.turbo,
C3, C12 and N2. N1 had held with 20 trials (0.0135 [0.00789, 0.0190]), but one trial on f3 has nearly all the variance of its difference, and a
claim with such a tail needs 100 trials. It is now decided by the 1000 paired trials on f1 and by 100 on f2 and f3. No test changed. On the
same day the sentences of C2.soon, C2.goucb and N6 were corrected.
"""

from ..verdicts import Claim, Finding

SYNTHETIC, TUNING, THEORY, COST = (
    f"goucb_{name}" for name in ("2_synthetic", "3_tuning", "4_theory", "5_cost")
)
LEVEL = 0.025
PAIRED = "one-sided Wilcoxon signed-rank over paired trials, Holm over the claim's comparisons"
CLUSTERED = "95 % t-interval over the folds of each data set"
START = "we start its gradient ascent at the incumbent, and the paper does not state the start"
TUNED = "n = 8, T = 64 and unscaled features are our choices"
FLAT = "mean regret of the last 8 rounds, as a fraction of the mean regret of a uniform point, 95 % bootstrap over trials; flat: below 0.05, a threshold that we chose"
DRAWN = "the regret of the best point of Phase I by Monte Carlo (empirical Bernstein interval), plus GO-UCB's difference to it over 1000 paired trials (t-interval), 95 % by Bonferroni; flat: below 0.05, a threshold that we chose"
MANY = 1000  # paired trials that decide C2.soon and C2.goucb; about a hundred have a poor Phase I
FACTOR = "regret of the last 10 rounds divided by the regret of the first 10 rounds of Phase II, or the inverse if it is larger, 95 % bootstrap over trials; linear: below 1.25, a threshold that we chose"
DATA = {"breast": "Breast-cancer", "australian": "Australian", "diabetes": "Diabetes"}
CLASSIFIERS = {
    "forest": ("a", "random forest"),
    "perceptron": ("b", "multi-layer perceptron"),
    "boosting": ("c", "gradient boosting"),
}
FIGURES = {"breast": 3, "australian": 4, "diabetes": 5}


def _claim(id, source, sentence, test, side, threshold=None, notebook="", parts=(), trials=0):
    parts = tuple(f"goucb.{id}.{part}" for part in parts)
    return Claim(f"goucb.{id}", source, sentence, test, side, threshold, notebook, parts, trials)


def _parts(id, source, sentence, notebook, *parts):
    return _claim(id, source, sentence, "all parts", "parts", None, notebook, parts)


def _order(id, source, sentence, differences):
    """Declare a claim that orders methods by their regret. ``differences``: the differences that are above 0 if the claim holds."""
    return _claim(id, source, sentence, f"{differences}: {PAIRED}", "test", LEVEL, SYNTHETIC)


def _panel(id, data, classifier):
    letter, words = CLASSIFIERS[classifier]
    return _claim(
        f"{id}.{data}.{classifier}" if id == "C11" else f"{id}.{classifier}",
        f"Figure {FIGURES[data]}({letter})",
        f"{DATA[data]}, {words}: GO-UCB has lower cumulative regret than each of GP-UCB, GP-EI, GP-PI and TuRBO ({START})",
        f"GO-UCB's regret minus each baseline's regret, the largest difference, {CLUSTERED}; below 0; {TUNED}",
        "below",
        0.0,
        TUNING,
    )


CLAIMS = [
    _parts(
        "C1",
        "Section 6.1",
        "on all three test functions f1, f2 and f3, GO-UCB has lower cumulative regret than GP-UCB, GP-EI, GP-PI and TuRBO",
        SYNTHETIC,
        "f1",
        "f2",
        "f3",
    ),
    *[
        _order(
            f"C1.{f}",
            f"Figure 2({letter})",
            f"{f}: GO-UCB has lower cumulative regret than TuRBO and than each of GP-UCB, GP-EI and GP-PI with unscaled inputs, our reading ({START})",
            "regret of each baseline minus GO-UCB's regret",
        )
        for f, letter in [("f1", "a"), ("f2", "b"), ("f3", "c")]
    ],
    _parts(
        "C2",
        "Section 6.1, Figure 2(a)",
        "on f1, GO-UCB finds the optimum soon after Phase I, neither GO-UCB nor TuRBO adds regret from t = 22 on, and GO-UCB has the smallest error bar of the five methods",
        SYNTHETIC,
        "soon",
        "goucb",
        "turbo",
        "bar",
    ),
    _claim(
        "C2.soon",
        "Section 6.1",
        "f1: GO-UCB's cumulative regret is flat from soon after Phase I on, in expectation over Phase I (the paper averages five runs)",
        f"mean regret from the fourth round of Phase II on (our reading of 'soon'), as a fraction of the mean regret of a uniform point: {DRAWN}",
        "below",
        0.05,
        SYNTHETIC,
        trials=MANY,
    ),
    _claim(
        "C2.goucb",
        "Section 6.1",
        "f1: GO-UCB's cumulative regret is flat for t >= 22, in expectation over Phase I (the paper averages five runs)",
        f"mean regret of the last 8 rounds, as a fraction of the mean regret of a uniform point: {DRAWN}",
        "below",
        0.05,
        SYNTHETIC,
        trials=MANY,
    ),
    _claim(
        "C2.turbo",
        "Section 6.1",
        "f1: TuRBO's cumulative regret is flat for t >= 22",
        FLAT,
        "below",
        0.05,
        SYNTHETIC,
    ),
    _claim(
        "C2.bar",
        "Section 6.1",
        "f1: GO-UCB has the smallest error bar of the five methods",
        "standard deviation of GO-UCB's final regret divided by the smallest standard deviation of the other four, 95 % bootstrap over trials; below 1",
        "below",
        1.0,
        SYNTHETIC,
    ),
    _claim(
        "C3",
        "Section 6.1, Figure 2(a)",
        "on f1, the cumulative regret of each of GP-UCB, GP-EI and GP-PI with unscaled inputs, our reading, is close to linear in the number of rounds",
        f"of the factors of the three methods, which are equal if the methods choose the same points, the factor farthest from 1: {FACTOR}",
        "below",
        1.25,
        SYNTHETIC,
    ),
    _parts(
        "C4",
        "Section 6.1",
        "on f1, f2 and f3, TuRBO has the lowest cumulative regret of the four baselines",
        SYNTHETIC,
        "f1",
        "f2",
        "f3",
    ),
    *[
        _order(
            f"C4.{f}",
            "Section 6.1",
            f"{f}: TuRBO has lower cumulative regret than each of GP-UCB, GP-EI and GP-PI with unscaled inputs, our reading",
            "regret of each GP method minus TuRBO's regret",
        )
        for f in ("f1", "f2", "f3")
    ],
    _parts(
        "C5",
        "Section 6.1",
        "on f2 and f3, the cumulative regret of all five methods is linear in the number of rounds",
        SYNTHETIC,
        "f2",
        "f3",
    ),
    *[
        _claim(
            f"C5.{f}",
            "Section 6.1",
            f"{f}: the cumulative regret of all five methods is linear in the number of rounds",
            f"of the factors of the five methods, the factor farthest from 1: {FACTOR}",
            "below",
            1.25,
            SYNTHETIC,
        )
        for f in ("f2", "f3")
    ],
    _claim(
        "C6",
        "Section 6.1",
        "the gap in cumulative regret between GO-UCB and the other methods is smaller on f3 than on f2",
        "the fraction of the others' mean regret that GO-UCB saves (we chose a relative gap), f2 minus f3, t-interval over paired trials; above 0",
        "above",
        0.0,
        SYNTHETIC,
    ),
    _parts(
        "C7",
        "Section 6.2, Figure 3(b), (c)",
        "on Breast-cancer with the multi-layer perceptron and with gradient boosting, GO-UCB has significantly and much lower cumulative regret than all others (how much lower is not tested). For the perceptron the paper adds that GO-UCB performs better in Phase II after a poor Phase I. Here Phase I is the same for all methods; therefore both statements are about the same difference",
        TUNING,
        "perceptron",
        "boosting",
    ),
    _panel("C7", "breast", "perceptron"),
    _panel("C7", "breast", "boosting"),
    _claim(
        "C8",
        "Section 6.2, Figure 3(a)",
        "on Breast-cancer with the random forest, all five methods have similar cumulative regret",
        f"largest difference between two methods, as a fraction of the mean regret of a uniform point, {CLUSTERED}; similar: within [-0.25, 0.25], a band that we chose; {TUNED}",
        "within",
        (-0.25, 0.25),
        TUNING,
    ),
    _parts(
        "C10",
        "Section 6.2, Figure 3(b)",
        "on Breast-cancer with the multi-layer perceptron, TuRBO performs like GP-UCB, GP-EI and GP-PI until t = 23, and better from then on, with a curved regret line",
        TUNING,
        "before",
        "after",
        "curve",
    ),
    _claim(
        "C10.before",
        "Section 6.2",
        "Breast-cancer, multi-layer perceptron: until t = 23 TuRBO's regret is similar to the mean regret of GP-UCB, GP-EI and GP-PI. The mean is our choice; the paper names each method. These rounds include the 8 rounds of Phase I, which are the same for all methods",
        f"TuRBO's regret minus their mean, as a fraction of the mean regret of a uniform point, {CLUSTERED}; similar: within [-0.25, 0.25], a band that we chose; {TUNED}",
        "within",
        (-0.25, 0.25),
        TUNING,
    ),
    _claim(
        "C10.after",
        "Section 6.2",
        "Breast-cancer, multi-layer perceptron: from t = 24 on TuRBO has less regret than GP-UCB, GP-EI and GP-PI have on average. The mean is our choice; the paper names each method",
        f"TuRBO's regret minus their mean, {CLUSTERED}; below 0; {TUNED}",
        "below",
        0.0,
        TUNING,
    ),
    _claim(
        "C10.curve",
        "Section 6.2",
        "Breast-cancer, multi-layer perceptron: from t = 24 on TuRBO's regret curve flattens, with less regret in the last 10 rounds than in rounds 24 to 33",
        f"mean difference of the regret in the two windows, which we chose, {CLUSTERED}; below 0; {TUNED}",
        "below",
        0.0,
        TUNING,
    ),
    _parts(
        "C11",
        "Appendix D.2",
        "on Australian and Diabetes, GO-UCB has lower cumulative regret than all others with every classifier (including the random forest, where Section 6.2 reports similar performance of all methods on Breast-cancer)",
        TUNING,
        *[f"{data}.{name}" for data in ("australian", "diabetes") for name in CLASSIFIERS],
    ),
    *[_panel("C11", data, name) for data in ("australian", "diabetes") for name in CLASSIFIERS],
    _claim(
        "C12",
        "ours, after Remark 4.2 and Section 7",
        "on a teacher network that depends on 5 of the d coordinates, the cumulative regret of GO-UCB practical, our variant, does not depend on d. The paper states this for a bound at fixed dw. Here no theorem covers the setting, and dw grows with d. Uniform search would pass this test, too",
        "log-log slope of mean regret in d from 5 to 40, 95 % bootstrap over trials; no dependence: within [-0.1, 0.1], a band that we chose",
        "within",
        (-0.1, 0.1),
        SYNTHETIC,
    ),
    _claim(
        "N1",
        "ours, after Appendix D.1",
        "with the paper's settings and its ascent started at the incumbent, GO-UCB repeats the best point of Phase I: its mean regret differs little from the mean regret of a control that repeats this point",
        "difference of their mean regret, as a fraction of the mean regret of a uniform point, the largest of f1 to f3, t-interval over paired trials; within [-0.02, 0.02]",
        "within",
        (-0.02, 0.02),
        SYNTHETIC,
    ),
    _claim(
        "N2",
        "ours, after Appendix D.1",
        "with the paper's settings and its ascent started at a uniform point, GO-UCB is uniform search: its mean regret differs little from the mean regret of a control that evaluates uniform points",
        "difference of their mean regret, as a fraction of the mean regret of a uniform point, the largest of f1 to f3, t-interval over paired trials; within [-0.1, 0.1]",
        "within",
        (-0.1, 0.1),
        SYNTHETIC,
    ),
    _parts(
        "N3",
        "ours, after Section 6.1",
        "the order of Figure 2 survives scaled inputs and BoTorch's current priors: GO-UCB with the paper's settings still has lower cumulative regret than all of GP-EI, GP-PI and GP-UCB",
        SYNTHETIC,
        "f1",
        "f2",
        "f3",
    ),
    *[
        _order(
            f"N3.{f}",
            "ours, after Section 6.1",
            f"{f}: GO-UCB with the paper's settings has lower cumulative regret than GP-EI on scaled data, and than GP-EI, GP-PI and GP-UCB with BoTorch's current prior",
            "regret of each baseline minus GO-UCB's regret",
        )
        for f in ("f1", "f2", "f3")
    ],
    _claim(
        "N4",
        "ours, after Section 6.2",
        "over all tuning tasks, GO-UCB practical, our variant, has lower cumulative regret than GP-EI with BoTorch's current prior",
        f"mean difference of cumulative regret, {CLUSTERED}; below 0",
        "below",
        0.0,
        TUNING,
    ),
    _claim(
        "N5",
        "ours, after Section 6.2",
        "over all tuning tasks, the simple regret of GO-UCB practical, our variant, is at most 0.0025 larger than the simple regret of GP-EI with BoTorch's current prior",
        f"mean difference of simple regret, {CLUSTERED}; below 0.0025",
        "below",
        0.0025,
        TUNING,
    ),
    _claim(
        "N6",
        "ours, after Section 6.2",
        "over all tuning tasks, repeating the best point of Phase I has lower cumulative regret than every algorithm that searches. GO-UCB with the paper's settings is left out, because it stays near that point on f1 to f3. However, on the perceptrons of Figures 3 to 5 and on the gradient boosting of Figures 3 and 5 GO-UCB's regret differs from the control's regret",
        f"the control's regret minus each algorithm's regret, the largest mean difference, {CLUSTERED}; below 0",
        "below",
        0.0,
        TUNING,
    ),
    _claim(
        "N7",
        "ours",
        "with 20 trials at once, a round of batched GP-UCB on BoTorch takes at least 2 times the run time of a round of GO-UCB practical, our variant (f2, d = 20, 40 observations)",
        "ratio of median run times, measured alternately in one process; above 2",
        "above",
        2.0,
        COST,
    ),
    _claim(
        "N8.single",
        "ours",
        "with one trial, a round of BoTorch as its users call it takes at least 20 times the run time of a round of GO-UCB practical, our variant (f2, d = 20, 40 observations). BoTorch runs one trial at a time",
        "ratio of median run times, measured alternately in one process; above 20",
        "above",
        20.0,
        COST,
    ),
    _claim(
        "N9",
        "ours, after Theorem 4.1",
        "on a realizable problem, the regret of Phase II of GO-UCB grows more slowly than T. The setting is Algorithm 1's recursion with kappa = 0.2, which no theorem covers",
        "log-log slope of the mean regret of Phase II in T, with an oracle that finds the global minimum, 95 % bootstrap over trials; below 1",
        "below",
        1.0,
        THEORY,
    ),
    _claim(
        "N10",
        "ours, after Section 6.1",
        "on f1, none of the points of Phase I has a regret of at most 0.1 in some trials, and GO-UCB with the paper's settings rarely gets below 0.1 then",
        "fraction of draws in which the best of n = 5 uniform points has a regret above 0.1, ten times the noise's standard deviation, 95 % Clopper-Pearson",
        "reported",
        None,
        SYNTHETIC,
    ),
    _claim(
        "N11",
        "ours, after Section 6.1",
        "how often GP-UCB, GP-EI and GP-PI with unscaled inputs choose the same point on f1 to f3 if BoTorch's own search maximizes their acquisition functions",
        "mean fraction of the rounds of Phase II in which all three choose the same point, over functions and trials",
        "reported",
        None,
        SYNTHETIC,
    ),
]


# Claims whose verdicts are not repeated with other seeds, by the reason.
EXEMPT = {
    "run time": "N7 N8.single".split(),
}

FINDINGS = (
    Finding(
        "With the settings of Appendix D.1, GO-UCB has lower cumulative regret than GP-UCB, GP-EI, GP-PI and TuRBO on the paper's three test functions (the GP methods have unscaled inputs and BoTorch's default priors at the time of the paper). However, on these functions GO-UCB hardly searches. After its random first phase, it only evaluates points very near the best point of that phase. A control that repeats this point has nearly the same mean regret; the largest difference is {N1:%} of the mean regret of a uniform point. On all three functions the best point that GO-UCB has found at the end is worse on average than the best point of uniform search (simple regret, Figures 2a to 2c). The paper does not state where the gradient ascent starts; we start it at the best point observed so far. With each of three other starts GO-UCB has more mean regret than TuRBO on f1 and f2 ([figure](#starts)).",
        {"C1": "holds", "N1": "holds"},
    ),
    Finding(
        "On f1 the cumulative regret of GO-UCB with the paper's settings is not flat after Phase I. In {N10:%} of the draws of Phase I each of its 5 points has a regret above 0.1, ten times the noise, and GO-UCB then stays near the best of them. Its mean regret in the last 8 rounds is therefore {C2.goucb:%} of the mean regret of a uniform point, slightly above our limit of 5 %. The paper averages five runs, and more than half of all sets of five runs contain no such draw.",
        {"C2.soon": "fails", "C2.goucb": "fails", "N10": "reported"},
    ),
    Finding(
        "With unscaled inputs, GP-UCB, GP-EI and GP-PI choose the same points on f1 to f3 in our implementation. Each acquisition function is constant on nearly all of the box, and the three methods share their candidates. Therefore they are close to uniform search. With BoTorch's own search all three agree in {N11:%} of the rounds. With scaled inputs and BoTorch's current priors the order of Figure 2 does not survive: on f2 and on f3 at least one of these baselines has lower regret than GO-UCB with the paper's settings. On f1 the comparison is inconclusive.",
        {"N11": "reported", "N3.f1": "inconclusive", "N3.f2": "fails", "N3.f3": "fails"},
    ),
    Finding(
        "When tuning gradient boosting, GO-UCB has lower cumulative regret than each of the four baselines on Breast-cancer and Australian. The difference to the closest baseline is {C7.boosting} on Breast-cancer and {C11.australian.boosting} on Australian, in accuracy summed over 72 evaluations. The control that repeats the best point of Phase I has no more regret than GO-UCB in these two panels. In the other panels in which the paper reports GO-UCB ahead, five folds are too few to decide; in most of them a baseline has the lower mean regret.",
        {
            "C7.boosting": "holds",
            "C11.australian.boosting": "holds",
            "C7.perceptron": "inconclusive",
            "C11.australian.forest": "inconclusive",
            "C11.australian.perceptron": "inconclusive",
            "C11.diabetes.forest": "inconclusive",
            "C11.diabetes.perceptron": "inconclusive",
            "C11.diabetes.boosting": "inconclusive",
        },
    ),
    Finding(
        "The paper reports that GO-UCB works in misspecified settings. With a fit and a search that work, at our values of kappa and lambda (`algorithm1`), GO-UCB has more cumulative regret than uniform search on the misspecified functions f2 and f3 (Figures 2b and 2c). Our variant `practical`, which adds refits and a trust region, has less mean regret there than uniform search and than each of the paper's baselines. On a random network, which the model contains, GO-UCB with the paper's settings has no less mean regret than any of the four baselines (Figure 2d, our addition).",
        {"N1": "holds"},
    ),
    Finding(
        "Over nine tuning tasks our practical setting has lower cumulative regret than expected improvement with BoTorch's current prior (mean difference {N4}, in accuracy summed over the evaluations). However, the accuracy of the best point that it finds is {N5} lower.",
        {"N4": "holds", "N5": "fails"},
    ),
    Finding(
        "With 20 trials at once, a round of GP-UCB on BoTorch takes {N7} times the run time of a round of our practical setting. With one trial, a round of BoTorch as its users call it takes {N8.single} times the run time of a round of our practical setting.",
        {"N7": "holds", "N8.single": "holds"},
    ),
)
