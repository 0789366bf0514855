"""The arena: learners of all papers on the same problems.

The words of its page: summary, rules, titles of figures.

Source: Our addition; no paper compares the learners of the others.
"""

SAYS = """
The arena plays the learners of all papers on the same problems. It helps to choose a learner for a problem, and
shows a new learner next to all others. Every learner receives the same information about a problem, for example the noise level and a
bound on the norm of the parameter. Learners of other libraries play the same problems, through their own interfaces.
"""

LEARNERS = ("companion.arena.learners.LinearThompson", "companion.arena.learners.Rescaled")

ALGORITHM = r"""
**Problems.** In the field of finite arms, rewards are linear, logistic or Poisson, and the arms are fixed, or fresh in every round; or smooth functions of one or two variables; or arms without features; or tables of real data. In the field of convex sets and boxes, a learner maximizes a function of a few real numbers: a quadratic or linear function, also with a maximizer that moves, a function with many local maxima, or a random network. Each trial has its own problem instance, with two exceptions: Covertype and the tables are the same in all trials, and Styblinski-Tang and Rastrigin are one function each, which is mirrored or shifted. A learner plays each problem that its model covers or nearly covers; a star marks the latter.

**Score.** The normalized regret of a trial is its regret, divided by the mean regret of uniform play on the same problem. It is 1 for uniform play on average, and 0 at best.

**Tracks.** A learner plays with two sets of constants:

1. Theory: the constants of its theorem, with failure probability 0.01. A learner without a theorem has its default settings. There are three departures: BKB has q-bar = 5, because with the theorem's hundreds it is GP-UCB; GO-UCB has the radius and the ridge of its paper's experiments instead of those of the theorem; and GO-UCB, TuRBO and Optuna's samplers repeat their best point after 50 rounds. On problems with a star the theorem does not apply.
2. Tuned: one scale per learner multiplies, for example, its confidence radius, its posterior deviation, its step size, its window or the thresholds of its tests. GO-UCB, PF, FKM, Kiefer-Wolfowitz, GLB-OMD, and MASTER on sets, then have other settings, too, which [`arms.py`](../../companion/arena/arms.py) and [`continuous.py`](../../companion/arena/continuous.py) state. The scale is the best of 0.01, 0.03, 0.1, 0.3 and 1 over all problems that the learner plays, on separate trials, of which learners of other libraries have about a third. Therefore a tuned learner can have more regret on a problem than an untuned one.

**Learners.** Each name is one learner per field:

| name | learner |
| --- | --- |
| OFUL | [`linear.OFUL`](../reference/linear.md) |
| linear Thompson | [`companion.arena.learners.LinearThompson`](../../companion/arena/learners.py#LinearThompson), the posterior of a linear model |
| GLB-OMD, OFUGLB | [`glbomd.GLBOMD`, `glbomd.OFUGLB`](../reference/glbomd.md) |
| GP-UCB, BKB | [`bkb.ExactGPUCB`, `bkb.BKB`](../reference/bkb.md), with a linear kernel except on smooth functions and tables; with fresh arms `bkb.ContextualBKB` |
| Laplace Thompson, Beta Thompson, UCB1 | [`glbomd.LaplaceThompson`, `glbomd.BetaThompson`, `glbomd.UCB1`](../reference/glbomd.md) |
| MASTER | [`nsbco`](../reference/nsbco.md): around Exp3-IX for finite arms; around gradient ascent on sets, `printed`, and `practical` if it is tuned |
| greedy | the best arm of the estimate, without exploration |
| PF, FKM | [`pfbco.PFBCO`, `pfbco.FKM`](../reference/pfbco.md) |
| GLR, Kiefer-Wolfowitz, SPSA, discounted LS | [`nsbco.GLR`, `nsbco.KieferWolfowitz`, `nsbco.SPSA`, `nsbco.DiscountedLeastSquares`](../reference/nsbco.md) |
| static baseline | `nsbco.StaticBaseline`, which stays at the center of the set |
| GO-UCB, TuRBO | [`goucb.algorithm1`, or `goucb.practical` if it is tuned; `goucb.TuRBO`](../reference/goucb.md) |
| explore-then-commit | uniform points, then the best of them |
| uniform play | a random arm, or a random point of the set |

**Statistics.** Means over several problems are interquartile means: the mean of the middle half of all normalized regrets. Their intervals come from a bootstrap that resamples the trials of each problem separately, as [rliable](https://github.com/google-research/rliable) recommends. They cover the noise of the trials, and not the choice of the problems. Learners whose run time is proportional to the number of trials play fewer trials; each caption states the number.
"""

MAIN = ("arms_regret", "sets_regret")
FIGURES = {
    "arms_regret": "Finite arms: regret of each learner on each problem",
    "arms_means": "Finite arms: mean regret over groups of problems",
    "arms_profiles": "Finite arms: performance profiles",
    "arms_cost": "Finite arms: regret against run time",
    "sets_regret": "Convex sets and boxes: regret of each learner on each problem",
    "sets_means": "Convex sets and boxes: mean regret over groups of problems",
    "sets_profiles": "Convex sets and boxes: performance profiles",
    "sets_cost": "Convex sets and boxes: regret against run time",
}

OUTCOME = ()
