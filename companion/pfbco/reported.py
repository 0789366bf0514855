"""Numbers that Chen, Zhang & Karbasi (2019) print, with the places of our numbers."""

from ..reported import Reported

CONSTANT = "c = 0.1, our choice, because the paper does not state c"

REPORTED = (
    Reported(
        "figure_1a",
        f"quadratic losses: final average loss of PF divided by the largest value of its curve ({CONSTANT})",
        "below 1 (declines)",
        "Section 4, Figure 1a",
        "{claim('C1a.final')}, and {claim('C1a.final.c1')} at c = 1; the control with sign-flipped feedback ends at {numbers['c=0.1']['PF, sham'] | final} and PF at {numbers['c=0.1'].PF | final}",
    ),
    Reported(
        "figure_1a",
        f"quadratic losses: final average loss of StochOCG divided by PF's ({CONSTANT})",
        "about 1 (similar)",
        "Section 4, Figure 1a",
        "{claim('C1b')}, and {claim('C1b.c1')} at c = 1",
    ),
    Reported(
        "figure_1a",
        f"quadratic losses: final average loss of FKM, which the paper reports as the lowest, divided by PF's ({CONSTANT})",
        "below 1",
        "Section 4, Figure 1a",
        "{numbers['c=0.1'].FKM | final / numbers['c=0.1'].PF | final}; staying at the center has {numbers.lines.center / numbers['c=0.1'].PF | final}",
    ),
    Reported(
        "figure_1a",
        f"quadratic losses: growth factor of Unregularized's average loss over the last four doublings of the rounds ({CONSTANT})",
        "1 (its loss is linear; we read this as the summed loss)",
        "Section 4, Figure 1a",
        "{claim('C1d')}",
    ),
    Reported(
        "figure_1a",
        "number of repetitions",
        "50",
        "Section 4",
        "{trials}",
    ),
    Reported(
        "figure_1a",
        "quadratic losses: number of rounds",
        "not stated",
        "Section 4",
        "we chose {parameters.horizon}",
    ),
    Reported(
        "figure_1a",
        f"norm of PF's estimates divided by the norm of StochOCG's noise: quadratic losses, portfolios, matrices ({CONSTANT})",
        "about 1 (the noise is set so that the two are comparable)",
        "Section 4",
        "{claim('C9.a')}, {claim('C9.b')}, {claim('C9.c')}, and {claim('C9.a.c1')}, {claim('C9.b.c1')}, {claim('C9.c.c1')} at c = 1",
    ),
    Reported(
        "figure_1b",
        f"portfolios: final average loss of FKM, which the paper reports as the largest, divided by PF's ({CONSTANT})",
        "above 1",
        "Section 4, Figure 1b",
        "{numbers['close prices, c=0.1'].FKM | final / numbers['close prices, c=0.1'].PF | final}, and {numbers['close prices, c=1'].FKM | final / numbers['close prices, c=1'].PF | final} at c = 1",
    ),
    Reported(
        "figure_1b",
        f"portfolios: final average loss of StochOCG divided by the loss of PF, which the paper reports as the lowest ({CONSTANT})",
        "above 1",
        "Section 4, Figure 1b",
        "{numbers['close prices, c=0.1'].StochOCG | final / numbers['close prices, c=0.1'].PF | final}, and {numbers['close prices, c=1'].StochOCG | final / numbers['close prices, c=1'].PF | final} at c = 1",
    ),
    Reported(
        "figure_1b",
        "portfolios: number of stocks; days",
        "100 of the S&P 500; 18 February 2013 to 27 November 2017",
        "Section 4",
        "the same number, drawn per trial from the complete series; {parameters.horizon} rounds",
    ),
    Reported(
        "figure_1c",
        f"matrix completion, oracle as printed: final average loss of StochOCG divided by the loss of PF, which the paper reports as the lowest ({CONSTANT})",
        "above 1",
        "Section 4, Figure 1c",
        "{numbers['final average loss']['printed, c=0.1'].StochOCG.loss.estimate / numbers['final average loss']['printed, c=0.1'].PF.loss.estimate}, and {numbers['final average loss']['printed, c=1'].StochOCG.loss.estimate / numbers['final average loss']['printed, c=1'].PF.loss.estimate} at c = 1",
    ),
    Reported(
        "figure_1c",
        f"matrix completion, oracle as printed: final average loss of FKM, which the paper reports as the largest, divided by PF's ({CONSTANT})",
        "above 1",
        "Section 4, Figure 1c",
        "{numbers['final average loss']['printed, c=0.1'].FKM.loss.estimate / numbers['final average loss']['printed, c=0.1'].PF.loss.estimate}, and {numbers['final average loss']['exact, c=0.1'].FKM.loss.estimate / numbers['final average loss']['exact, c=0.1'].PF.loss.estimate} with the exact oracle of the nuclear-norm ball",
    ),
    Reported(
        "figure_1c",
        "matrix completion: size and rank of the matrices; fraction of observed entries",
        "20, 18; 1/2",
        "Section 4",
        "the same, over {parameters.horizon} rounds (the paper states no number of rounds)",
    ),
    *(
        Reported(
            "time_per_round",
            f"{name}: run time of FKM divided by PF's",
            value,
            "Section 4, Figure 1d",
            f"{{claim('C4.{panel}')}} with specialized projections, {{claim('C4.solver.{panel}')}} with generic solvers",
        )
        for panel, name, value in (
            ("a", "quadratic losses", "almost 7"),
            ("b", "portfolios", "5"),
            ("c", "matrix completion", "61"),
        )
    ),
    Reported(
        "time_per_round",
        "run time of StochOCG divided by PF's: quadratic losses, portfolios, matrices",
        "above 1 (slower, because it computes gradients)",
        "Section 4, Figure 1d",
        "{claim('C5.a')}, {claim('C5.b')}, {claim('C5.c')}",
    ),
    Reported(
        "time_per_round",
        "run time of one projection divided by the run time of one call of the linear oracle (20 x 20 matrices)",
        "far above 1",
        "Section 4",
        "{claim('C10.specialized')} with an eigendecomposition, {claim('C10.solver')} with a generic solver",
    ),
    Reported(
        "growth",
        "exponent of T in PF's regret: linear losses on the unit ball of dimension 1, 2, 3, 5",
        "4/5",
        "Theorem 1, Table 1",
        "{claim('C7.n1')}, {claim('C7.n2')}, {claim('C7.n3')}, {claim('C7.n5')}, at horizons up to 2^15",
    ),
    Reported(
        "growth",
        "exponent of T in PF's regret minus the exponent of FKM (ball of dimension 1)",
        "1/20 (4/5 - 3/4)",
        "Table 1",
        "{claim('C7.order')}",
    ),
    Reported(
        "growth",
        "growth factor of PF's regret from dimension 1 to 5, T = 32768",
        "no statement (the upper bound is affine in n)",
        "Theorem 1",
        "{numbers.dimension.mean[3] / numbers.dimension.mean[0]}; the regret is affine in n, the largest residual is {claim('C7.linear') | percent}",
    ),
    Reported(
        "horizons",
        "bound on the regret at T = 32768, linear losses on the unit ball of dimension 2 (c = 1)",
        "of order n T^(4/5), with all constants",
        "Theorem 1",
        "the formula gives {numbers['n=2']['Theorem 1, printed'] | final}; PF's regret is {numbers['n=2'].PF | final}",
    ),
    Reported(
        "parts",
        "bound on the regret of the anytime form, T = 32767, linear losses on the unit disc (c = 1)",
        "(t + 1)^(4/5) / (1 - 2^(-4/5)) times the constant of Theorem 1",
        "Theorem 2",
        "the formula gives {numbers['Theorem 2'].value | final} with our corrected constant; the regret is {numbers.anytime | final}",
    ),
)
