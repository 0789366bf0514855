"""Figure of ``notebooks/linear_1_ellipsoid.ipynb``: regret of OFUL and its baselines, and the two confidence radii."""

from paperlib.checks import Check
from paperlib.core.trace import Trace

from ...figures.drawing import Drawing, band_note, panels, regret_panel
from ...verdicts import Verdict


def draw_ellipsoid(traces: dict[str, Trace], verdict: Verdict, check: Check) -> Drawing:
    """Draw the regret of all learners, and the two confidence radii with the error of OFUL's estimate.

    Args:
        traces: traces by learner, with the series "radius" of OFUL and ConfidenceBall, and "error" of OFUL.
        verdict: verdict on the claim that OFUL has less regret than ConfidenceBall.
        check: check of Theorem 2.
    """
    fig, axes = panels(2, height=2.6)
    left, right = axes[0]
    radii = {name: traces[name] for name in ("OFUL", "ConfidenceBall")}
    numbers = {
        "regret": regret_panel(left, traces, title="(a) cumulative regret", log_y=True),
        "radius": regret_panel(right, radii, series="radius", labels=False),
        "error": regret_panel(
            right,
            {"OFUL, error": traces["OFUL"]},
            title="(b) confidence radii and OFUL's error",
            series="error",
            ylabel="distance in the norm of $V_t$",
            log_y=True,
        ),
    }
    regret, radius, error = (
        {name: line["mean"][-1] for name, line in lines.items()} for lines in numbers.values()
    )
    caption = f"Linear bandits in the plane with 100 arms (directions) and noise 0.1, against the rounds. (a) Cumulative regret. (b) Radii of the two confidence ellipsoids, and the observed error: the distance of OFUL's estimate from the true parameter, which OFUL's radius bounds. {band_note(traces)}"
    alt = f"Two panels with logarithmic vertical axes. (a) Regret: OFUL is lowest at the end, with {regret['OFUL'] / regret['ConfidenceBall']:.2f} times the regret of ConfidenceBall; greedy play is above both, and uniform play is highest. (b) At the end, ConfidenceBall's radius is {radius['ConfidenceBall'] / radius['OFUL']:.1f} times OFUL's radius, and the observed error is {error['OFUL, error'] / radius['OFUL']:.2f} times OFUL's radius."
    trials = len(traces["OFUL"].trials)
    return Drawing(fig, caption, alt, trials, numbers, claims=[verdict], checks=[check])
