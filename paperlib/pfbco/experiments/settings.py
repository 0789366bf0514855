"""What the notebooks share: the learners of Figure 1 with their probes, statistics of average losses, and tables of them.

Shapes: R trials, T' recorded rounds.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, TypeVar

import numpy as np
import scipy.stats
import torch

from ... import stats
from ...learners.doubling import Doubling
from ...core.contracts import Problem
from ...core.trace import Trace
from ...output import number
from ...core.rounds import Probe
from ...core.streams import Streams
from ..theory.comparators import bcrp, best_completion, best_quadratic
from ..learners.fkm import FKM
from ..learners.leader import RegularizedLeader
from ..problems.market import REAL, SYNTHETIC, choose
from ..learners.ocg import StochOCG
from ..learners.pfbco import PFBCO
from ..probes import CenterLoss, Constants, FixedLoss, GradientNorm, NoiseNorm
from ..problems import MatrixCompletion, Portfolio, QuadraticPolytope

RESAMPLES = 2000
RIVALS = ("FKM", "Unregularized", "StochOCG")  # the paper's, beside PF
FIGURE = ("PF", "PF, sham", *RIVALS)           # the curves of a panel
TITLES = ("close prices", "adjusted close prices")  # of the real tables
Found = TypeVar("Found", stats.Interval, stats.Test)


def learners(c: float = 0.1, scale: str | float = "task") -> dict[str, Doubling]:
    """Those of Figure 1 with sham controls, the FKM of 2005 and the exact leader, all anytime by doubling. ``scale``: M, as in ``OnePoint``."""
    return {
        "PF": Doubling(PFBCO(c, scale=scale)), "PF, sham": Doubling(PFBCO(c, scale=scale, sham=True)),
        "FKM": Doubling(FKM(c, scale=scale)), "FKM, sham": Doubling(FKM(c, scale=scale, sham=True)), "FKM 2005": Doubling(FKM(c, scale=scale, variant="2005")),
        "Unregularized": Doubling(PFBCO(c, scale=scale, regularized=False)), "StochOCG": Doubling(StochOCG()), "Leader": Doubling(RegularizedLeader(c, scale=scale)),
    }


def watch(problem: Problem, name: str, learner: Doubling) -> dict[str, Probe]:
    """Probes of a learner: sums of what its centers lose, of the norms of its estimates ("PF") or noise; with "PF" also of fixed points."""
    if isinstance(learner.base, StochOCG):
        return {"noise": Probe(NoiseNorm(learner.base), "sum")}
    found = {"center": Probe(CenterLoss(problem), "sum")}
    if name == "PF":
        found |= {"norm": Probe(GradientNorm(), "sum"), "origin": Probe(FixedLoss(problem), "sum"), "constants": Probe(Constants(), "final")}
        if isinstance(problem, Portfolio):
            found["uniform"] = Probe(FixedLoss(problem, 1.0), "sum")
    return found


def price_tables(data: str = "auto") -> tuple[dict[str, str], str]:
    """Tables of a run by their titles, and why claims about both real ones cannot be judged, "" where they can.

    The real ones that are at hand, else the synthetic market. ``data``: as in ``market.choose``.

    Raises:
        As ``market.choose``.
    """
    found = {title: choose(data, table).table for title, table in zip(TITLES, REAL)}
    real = {title: table for title, table in found.items() if table != SYNTHETIC}
    if not real:
        return {"synthetic market": SYNTHETIC}, "synthetic market"
    return real, ", ".join(f"no {title}" for title in found if title not in real)


def recorded(horizon: int, count: int = 60) -> list[int]:
    """Rounds evenly spaced on a log axis, the ends of all epochs, 2^m - 1, and the last round."""
    ends = [2**m - 1 for m in range(1, horizon.bit_length() + 1) if 2**m - 1 <= horizon]
    return sorted({*np.geomspace(1, horizon, count).round().astype(int).tolist(), *ends, (horizon + 1) // 16, 3 * (horizon + 1) // 4, horizon} - {0})


def average(trace: Trace) -> np.ndarray:
    """Average loss of the points played so far, R x T'."""
    return trace["regret"] / trace.rounds


def after(trace: Trace, t: int) -> np.ndarray:
    """Average loss after t rounds, R.

    Raises:
        ValueError: a round that was not recorded.
    """
    if t not in trace.rounds:
        raise ValueError(f"t={t!r}; allowed: a recorded round, {trace.rounds.tolist()}")
    return average(trace)[:, int(np.searchsorted(trace.rounds, t))]


def between(trace: Trace, first: int, last: int) -> np.ndarray:
    """Mean loss in the rounds after ``first`` up to ``last``, R."""
    before = first * after(trace, first) if first else 0.0
    return (last * after(trace, last) - before) / (last - first)


def final(trace: Trace) -> np.ndarray:
    """Average loss after the last round, R."""
    return average(trace)[:, -1]


def last_epochs(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """Mean loss in the last whole epoch, and in the one before; R each."""
    m = (int(trace.rounds[-1]) + 1).bit_length() - 1
    ends = [2**k - 1 for k in (m, m - 1, m - 2)]
    return between(trace, ends[1], ends[0]), between(trace, ends[2], ends[1])


def decline(trace: Trace) -> stats.Interval:
    """Last over largest value of the mean curve."""
    return stats.bootstrap(average(trace), lambda mean: mean[..., -1] / mean.max(-1), of="last / largest", resamples=RESAMPLES)


def ratio(a: np.ndarray, b: np.ndarray, of: str = "average losses", level: float = stats.LEVEL) -> stats.Interval:
    """Ratio of means, trials resampled together. ``a``, ``b``: R each."""
    return stats.ratio(a, b, of=of, resamples=RESAMPLES, level=level)


def beats(traces: dict[str, Trace], name: str, rivals: tuple[str, ...], largest: bool = False) -> stats.Test:
    """Whether a learner ends below all rivals (``largest``: above), the weakest of the comparisons. Raises ValueError where trials differ."""
    sign = -1.0 if largest else 1.0
    return stats.weakest(stats.wilcoxon({rival: sign * _difference(traces[rival], traces[name]) for rival in rivals}))


def _difference(a: Trace, b: Trace) -> np.ndarray:
    """Final average losses of a less those of b, R; an infinite loss counts as a very large one."""
    if list(a.trials) != list(b.trials):
        raise ValueError(f"trials={list(a.trials)} and {list(b.trials)}; allowed: the same, for losses are compared trial by trial")
    return np.nan_to_num(final(a), posinf=1e300) - np.nan_to_num(final(b), posinf=1e300)


def relative_difference(a: np.ndarray, b: np.ndarray) -> stats.Interval:
    """Mean of a - b over the mean of b, with the t-interval of the paired differences. ``a``, ``b``: R each, the same trials."""
    if len(a) != len(b):
        raise ValueError(f"a, b: {len(a)} and {len(b)} trials; allowed: the same number")
    found, base = stats.paired(a, b), float(b.mean())
    low, high = sorted((found.low / base, found.high / base))
    return stats.Interval(found.estimate / base, low, high, len(a), "relative mean difference, 95 % t-interval over paired trials")


def agreed(found: dict[str, Found]) -> Found:
    """Results on several data sets as one, which holds where all hold, fails where all fail, and decides nothing otherwise."""
    worst = next(iter(found))
    if isinstance(found[worst], stats.Test):
        worst = max(found, key=lambda name: found[name].p)
        return found[worst]._replace(opposite=max(test.opposite for test in found.values()), n=min(test.n for test in found.values()), method=f"{found[worst].method} ({worst})")
    return found[worst]._replace(low=min(x.low for x in found.values()), high=max(x.high for x in found.values()), n=min(x.n for x in found.values()),
                                 method=f"{found[worst].method}, hull over {', '.join(found)}")


def doubling_slope(horizons: np.ndarray, regret: np.ndarray, last: int = 6) -> stats.Interval:
    """Log-log slope of mean regret over the last doublings; each column of ``regret``, R x T', is a run of its own horizon."""
    return stats.growth(horizons, regret, first=np.asarray(horizons)[-last - 1 :][0], resamples=RESAMPLES)


def line_residual(dims: list[int], regret: np.ndarray) -> stats.Interval:
    """Largest relative residual of a straight line in n through the mean regrets. ``regret``: R x len(dims)."""
    design = np.column_stack([np.ones(len(dims)), dims])
    project: Callable[[np.ndarray], np.ndarray] = lambda mean: mean @ (design @ np.linalg.pinv(design)).T
    return stats.bootstrap(regret, lambda mean: np.abs(project(mean) / mean - 1).max(-1), of="largest relative residual", resamples=RESAMPLES)


def thin(trace: Trace, rounds: list[int]) -> Trace:
    """The same run with some of its recorded rounds.

    Raises:
        ValueError: a round that was not recorded.
    """
    if missing := sorted(set(rounds) - set(trace.rounds.tolist())):
        raise ValueError(f"rounds={missing}; allowed: recorded rounds")
    at = np.searchsorted(trace.rounds, rounds)
    return replace(trace, rounds=trace.rounds[at], series={name: x[:, at] for name, x in trace.series.items()}, seconds=trace.seconds[at])


def averaged(traces: dict[str, Trace], rounds: list[int], beside: np.ndarray | None = None) -> dict[str, Trace]:
    """The traces at some rounds with the series "average", the average loss so far; ``beside``: R x T', what a fixed point lost until then, is taken off."""
    found = {}
    for name, trace in traces.items():
        trace = thin(trace, rounds)
        loss = average(trace) if beside is None else (trace["regret"] - beside) / trace.rounds
        found[name] = replace(trace, series={**trace.series, "average": loss})
    return found


def noise_ratio(ours: Trace, theirs: Trace) -> stats.Interval:
    """Mean norm of PF's estimates over that of the noise of a StochOCG, all rounds alike."""
    return ratio(ours["norm"][:, -1], theirs["noise"][:, -1], of="mean norms")


def hindsight(problem: Problem, horizon: int, trials: int, seed: int = 0) -> np.ndarray:
    """Average loss of the best fixed point, chosen after the last round; R.

    Of a portfolio the best constant rebalanced one; of matrices the best of the problem's set, whatever its oracle.
    """
    world = problem.init(trials, horizon, Streams(seed, range(trials)).at(-1), dtype=torch.float64, device="cpu")
    cset = world.task.cset
    if isinstance(problem, Portfolio):
        return bcrp(world.history(horizon)).value.numpy()
    if isinstance(problem, MatrixCompletion):
        sums = world.totals
        return ((best_completion(sums.weight, sums.target, cset, 1e-6 * horizon).value + sums.constant) / horizon).numpy()
    Q, w = (x.numpy() for x in problem.total(world, horizon))
    C = cset.normals.numpy()
    d = (C @ cset.center.numpy()[:, :, None])[:, :, 0] + cset.rho.numpy()[:, None] * cset.offsets.numpy()
    return np.array([best_quadratic(*of)[1] for of in zip(C, d, Q, w)]) / horizon


class Row(NamedTuple):
    """A learner's line of a table: final average losses."""

    loss: stats.Interval
    center: float | None                # what its centers lose, mean over trials
    difference: stats.Interval | None   # its loss less that of the learner it is held against, paired; None for that one
    p: float | None                     # two-sided Wilcoxon, adjusted by Holm's method

    def __str__(self) -> str:
        words = [_bracket(self.loss)]
        if self.difference is not None:
            words.append(f"difference {_bracket(self.difference)}, p {self.p:.2g}")
        return "  ".join(words + ([] if self.center is None else [f"centers {number(self.center)}"]))


def _bracket(x: stats.Interval) -> str:
    return f"{number(x.estimate)} [{number(x.low)}, {number(x.high)}]"


def table(traces: dict[str, Trace], against: str = "PF", family: tuple[str, ...] = FIGURE) -> dict[str, Row]:
    """Final average losses of all learners, each held against one of them; Holm over ``family``, and over the rest. Raises: as ``beats``."""
    base, values = final(traces[against]), {name: final(trace) for name, trace in traces.items()}
    test = lambda d: float(scipy.stats.wilcoxon(d).pvalue) if d.any() else 1.0
    p = {name: test(_difference(trace, traces[against])) for name, trace in traces.items() if name != against}
    adjusted = stats.holm({name: p[name] for name in p if name in family}) | stats.holm({name: p[name] for name in p if name not in family})
    found = {}
    for name, value in values.items():
        center = float(traces[name]["center"][:, -1].mean() / traces[name].rounds[-1]) if "center" in traces[name].series else None
        found[name] = Row(stats.mean(value), center, None if name == against else stats.paired(value, base), adjusted.get(name))
    return found
