"""Algorithm 1 line by line: what a run did in each round, held against what the algorithm says.

The bounds of the proof leave room: a learner that hears a loss too early, regularizes half as much or takes a tenth of each
step stays within them. These are equalities, up to rounding, of what was recorded of the learner itself.
Source: Chen, Zhang & Karbasi (2019), Algorithm 1.
Letters: as in ``constants``; R trials, x_t center, y_t = x_t + delta u_t, v_t where the oracle sends x_t.
"""

import math

import torch
from torch import Tensor
from torch.nn.functional import pad

from paperlib.checks import Check, statement
from paperlib.pfbco.model import sigma
from paperlib.pfbco.theory.constants import PAPER, Setting

from .replay import ROUNDING, Replay

ALGORITHM = f"{PAPER}, Algorithm 1"


@statement("Rates", f"{PAPER}, Theorem 1, corrected")
def rates(run: Replay, s: Setting) -> Check:
    """eta = c D / (sqrt(2) n M) T^{-4/5}, delta = c T^{-1/5} and alpha = delta / r, as the learner had them (E1)."""
    T, of = run.x.shape[1], lambda x: torch.as_tensor(x, dtype=run.x.dtype).expand(len(run.x))
    delta = of(s.c * T**-0.2)
    eta = of(s.c * s.diameter / (math.sqrt(2) * s.dim * s.loss_bound) * T**-0.8)
    wanted = torch.stack([eta, delta, delta / s.inner], 1)
    found = torch.stack([x.expand(len(run.x)) for x in (run.eta, run.delta, run.alpha)], 1)
    formula = "eta = c D / (sqrt(2) n M) T^{-4/5}, delta = c T^{-1/5}, alpha = delta / r"
    return rates.statement.check(formula, run.inputs, (found - wanted).abs(), ROUNDING * wanted)


@statement("Exploration step", f"{ALGORITHM}, line 5")
def exploration_step(run: Replay) -> Check:
    """||y_t - x_t|| = delta."""
    length, delta = torch.linalg.vector_norm(run.y - run.x, dim=2), run.delta.view(-1, 1)
    # of what is subtracted
    size = delta + torch.linalg.vector_norm(run.x, dim=2)
    return exploration_step.statement.check(
        "||y_t - x_t|| = delta", run.inputs, (length - delta).abs(), ROUNDING * size
    )


@statement("Frank-Wolfe step", f"{ALGORITHM}, lines 8 to 10")
def frank_wolfe_step(run: Replay, end: Tensor) -> Check:
    """v_t = x_t + (x_{t+1} - x_t) / sigma_t lies in (1 - alpha) K and minimizes <grad F_t(x_t), .> there.

    F_t is recomputed from the points and losses before round t. The statement applies to sets with an exact oracle.

    Args:
        run: the epoch.
        end: x_{T+1}, R x n.
    """
    x, cset, keep = run.x, run.cset, 1 - run.alpha
    s = sigma(torch.arange(1, x.shape[1] + 1, dtype=x.dtype)).view(-1, 1)
    v = x + (torch.cat([x[:, 1:], end.unsqueeze(1)], 1) - x) / s
    gradient = 2 * (x - run.free[:, :-1])
    least = [keep.unsqueeze(1) * cset.lmo(g) for g in gradient.unbind(1)]
    above = ((v - torch.stack(least, 1)) * gradient).sum(2)
    outside = [torch.linalg.vector_norm(z - cset.project(z, keep), dim=1) for z in v.unbind(1)]
    # of what is added up and, divided by sigma_t, subtracted
    added = run.eta.view(-1, 1) * pad(run.norms.cumsum(1)[:, :-1], (1, 0))
    size = torch.linalg.vector_norm(gradient, dim=2) + added
    R = cset.R.view(-1, 1)
    return frank_wolfe_step.statement.check(
        "|<grad F_t(x_t), v_t> - min over (1 - alpha) K|, dist(v_t, (1 - alpha) K) <= 1e-9",
        run.inputs,
        torch.stack([above.abs(), torch.stack(outside, 1)], 2),
        ROUNDING * R.unsqueeze(2) * torch.stack([size, torch.ones_like(size)], 2),
    )
