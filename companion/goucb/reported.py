"""Numbers that Liu & Wang (2023) print, with the places of our numbers."""

from ..reported import Reported

GROWTH = "regret of the last 10 evaluations divided by the regret of the first 10 of Phase II, or the inverse if it is larger"
CURVES = """numbers["the paper's methods"].cumulative"""
TASKS = (
    ("figure_3", "Breast-cancer", "breast", "Section 6.2, Figure 3"),
    ("figure_4", "Australian", "australian", "Appendix D.2, Figure 4"),
    ("figure_5", "Diabetes", "diabetes", "Appendix D.2, Figure 5"),
)

REPORTED = (
    *(
        Reported(
            f"figure_2{panel}",
            f"{name}: number of repetitions",
            "5",
            "Section 6.1",
            f"{{{CURVES}['GO-UCB'].n}}",
        )
        for panel, name in zip("abc", ("f1", "f2", "f3"))
    ),
    Reported(
        "figure_2a",
        "f1: dimension, evaluations of Phase I and Phase II",
        "20; 5; 25",
        "Section 6.1",
        f"the same; {{{CURVES}['GO-UCB'].rounds | final}} evaluations in all",
    ),
    Reported(
        "figure_2a",
        "f1 to f3: standard deviation of the noise; hidden units of the network",
        "0.01; 25",
        "Section 6, Appendix D.1",
        "the same",
    ),
    Reported(
        "figure_2a",
        "f1: evaluation from which the mean cumulative regret of GO-UCB stays the same",
        "22",
        "Section 6.1, Figure 2a",
        "not flat: the mean regret of the last 8 evaluations is {claim('C2.goucb') | percent} of a uniform point's regret, because in {claim('N10') | percent} of the draws no point of Phase I is good",
    ),
    Reported(
        "figure_2a",
        "f1: evaluation from which the mean cumulative regret of TuRBO stays the same",
        "22",
        "Section 6.1, Figure 2a",
        "not flat: the mean regret of the last 8 evaluations is {claim('C2.turbo') | percent} of a uniform point's regret; flat means below 5 %",
    ),
    Reported(
        "figure_2a",
        "f1: error bar of GO-UCB (standard deviation of its final regret), as a multiple of the smallest of the other four methods",
        "below 1",
        "Section 6.1, Figure 2a",
        "{claim('C2.bar')}",
    ),
    Reported(
        "figure_2a",
        f"f1: {GROWTH}, of GP-UCB, GP-EI and GP-PI the one farthest from 1",
        "almost linear, about 1",
        "Section 6.1, Figure 2a",
        "{claim('C3')}",
    ),
    Reported(
        "figure_2a",
        "f1: regret of GO-UCB as a multiple of TuRBO's",
        "below 1",
        "Section 6.1, Figure 2a",
        f"{{{CURVES}['GO-UCB'] | final / {CURVES}['TuRBO-1'] | final}}",
    ),
    Reported(
        "figure_2b",
        f"f2: {GROWTH}, of the five methods the one farthest from 1",
        "linear, 1",
        "Section 6.1, Figure 2b",
        "{claim('C5.f2')} (TuRBO-1, whose regret falls)",
    ),
    Reported(
        "figure_2b",
        "f2: regret of GO-UCB as a multiple of TuRBO's",
        "below 1",
        "Section 6.1, Figure 2b",
        f"{{{CURVES}['GO-UCB'] | final / {CURVES}['TuRBO-1'] | final}}",
    ),
    Reported(
        "figure_2b",
        "f2: evaluations of Phase I and Phase II",
        "8; 64",
        "Section 6.1",
        f"the same; {{{CURVES}['GO-UCB'].rounds | final}} evaluations in all",
    ),
    Reported(
        "figure_2c",
        f"f3: {GROWTH}, of the five methods the one farthest from 1",
        "linear, 1",
        "Section 6.1, Figure 2c",
        "{claim('C5.f3')} (TuRBO-1, whose regret falls)",
    ),
    Reported(
        "figure_2c",
        "f3: regret of GO-UCB as a multiple of TuRBO's",
        "below 1",
        "Section 6.1, Figure 2c",
        f"{{{CURVES}['GO-UCB'] | final / {CURVES}['TuRBO-1'] | final}}",
    ),
    Reported(
        "figure_2c",
        "gap between GO-UCB and the other methods on f2 minus the gap on f3 (fraction of the others' mean regret that GO-UCB saves)",
        "above 0",
        "Section 6.1, Figures 2b-c",
        "{claim('C6')}",
    ),
    *(
        Reported(
            figure,
            f"{data}, {classifier}: regret of GO-UCB as a multiple of TuRBO's",
            wanted if data == "Breast-cancer" else "below 1",
            place,
            f"{{{curves}['GO-UCB'] | final / {curves}['TuRBO-1'] | final}} ({{{curves}['GO-UCB'] | final}} and {{{curves}['TuRBO-1'] | final}})",
        )
        for figure, data, key, place in TASKS
        for classifier, task, wanted in (
            ("random forest", "forest", "similar, about 1"),
            ("multi-layer perceptron", "perceptron", "significantly below 1"),
            ("gradient boosting", "boosting", "significantly below 1"),
        )
        for curves in [f"numbers['{key}.{task}'].regret"]
    ),
    Reported(
        "figure_3",
        "Breast-cancer, multi-layer perceptron: evaluation up to which TuRBO performs like the GP methods, and better from then on",
        "23",
        "Section 6.2, Figure 3b",
        "TuRBO's regret minus their mean: {claim('C10.before') | percent} of a uniform point's regret up to evaluation 23; {claim('C10.after')} in accuracy, summed over the evaluations from 24 on",
    ),
    Reported(
        "figure_3",
        "repetitions of a tuning task",
        "5 folds",
        "Section 6.2",
        "{parameters.folds} folds, with {parameters.designs} designs of Phase I each",
    ),
    Reported(
        "figure_3",
        "tuning tasks: evaluations of Phase I and Phase II",
        "not stated",
        "Section 6.2",
        "we chose {parameters.n} and {parameters.rounds}",
    ),
    Reported(
        "dimension",
        "dimension above which Bayesian optimization with Gaussian processes does not work well",
        "10",
        "Sections 1 and 2",
        "not tested for these methods: GP-EI with BoTorch's current prior, which was made for high dimensions, has a regret that changes as d to the power {numbers.slopes['GP-EI, modern'].estimate} from d = 5 to 40, on a function of 5 of the d coordinates",
    ),
    Reported(
        "dimension",
        "exponent of the dimension of the domain in GO-UCB's regret",
        "0 (in the bound, for a fixed number of parameters)",
        "Remark 4.2",
        "{claim('C12')}, for our variant GO-UCB practical, whose number of parameters grows with the dimension",
    ),
    Reported(
        "growth",
        "exponent of T in GO-UCB's cumulative regret",
        "1/2, up to logarithms",
        "Theorem 4.1",
        "{numbers['A, exact oracle'].slope.estimate} (reference A) and {numbers['B, exact oracle'].slope.estimate} (B) with an exact oracle, {numbers['B, algorithm1()'].slope.estimate} (B) with the settings of algorithm1; all with constants that no theorem covers. For the regret of Phase II alone: {claim('N9')}",
    ),
    Reported(
        "vacuity",
        "bound on the cumulative regret",
        "of order dw^2 sqrt(T) / mu",
        "Theorem 4.1",
        "with every constant it is below the largest possible regret only from T = {numbers['informative from'].A} on for a model with four parameters, and from {numbers['informative from'].f1} on for f1",
    ),
    Reported(
        "starts",
        "fit of the model in Phase I: steps and learning rate",
        "2000; 1e-11",
        "Appendix D.1",
        "the same; on f1 they change the parameters by at most {numbers.inertness['f1, GO-UCB'].change} of their norm",
    ),
    Reported(
        "starts",
        "joint ascent in x and w: steps and learning rate",
        "2000; 1e-4",
        "Appendix D.1",
        "the same; an ascent on f1 moves x by {numbers.inertness['f1, GO-UCB'].moved} (the side of the box is 10)",
    ),
    Reported(
        "starts",
        "start of the ascent",
        "not stated",
        "Appendix D.1",
        "it decides the result: on f1 the regret is {numbers.f1.dots.incumbent.estimate} from the incumbent and {numbers.f1.dots.uniform.estimate} from a uniform point",
    ),
)
