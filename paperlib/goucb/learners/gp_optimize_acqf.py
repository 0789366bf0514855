"""GP-UCB, GP-EI and GP-PI whose acquisition is maximized by BoTorch's own routine, one trial after another.

Source: Balandat et al., "BoTorch: A Framework for Efficient Monte-Carlo Bayesian Optimization" (2020), for ``optimize_acqf``.
Shapes: R trials, d dimensions.
"""

import warnings

import torch
from torch import Tensor

from ...core import fields
from ...core.describe import frozen
from ...core.linalg import Rows
from ...core.streams import Draw
from ...core.validation import MOST, refuse
from ...maths.bounds import Bounds
from .botorch_default import maximize_acquisition
from .gp import GP
from .search import History, Search, in_order


@frozen
class GPOptimizeAcqf(Search):
    """The model and the acquisition of ``gp``, maximized by ``optimize_acqf``. The search settings of ``gp`` are not used.

    The draws of BoTorch depend on the round, the trial and the seed of the run alone.

    Attributes:
        gp: GP-UCB, GP-EI or GP-PI.
        restarts: >= 1, points from which the acquisition is maximized.
        raw_samples: >= restarts, points among which these are chosen.

    Raises:
        ValueError: a value out of range.
    """

    needs = "botorch", "botorch"
    gp: GP
    restarts: int = fields.size(10)
    raw_samples: int = fields.size(512)

    def __post_init__(self):
        if not isinstance(self.gp, GP):
            refuse("gp", self.gp, "a GP")
        in_order(restarts=self.restarts, raw_samples=self.raw_samples)

    @property
    def n_init(self) -> int:
        """n, points of Phase I."""
        return self.gp.n_init

    def propose(self, state: History, bounds: Bounds, draw: Draw) -> Tensor:
        """Where ``optimize_acqf`` finds the acquisition largest, R x d in [-1, 1]^d."""
        from gpytorch.settings import max_cholesky_size

        box = self.gp._frame(bounds)
        seeds = (draw.uniform("library") * 2**31).long().tolist()
        points = []
        with max_cholesky_size(MOST), warnings.catch_warnings(), torch.enable_grad():
            # BoTorch warns of equal values of the acquisition, which this learner is there to show
            warnings.simplefilter("ignore")
            # each trial has a model of its own, because the search amplifies the last bits of a batched fit
            for x, y, seed in zip(state.x.view, state.y.view, seeds):
                own = History(Rows.of(x[None]), Rows.of(y[None]), state.rounds)
                acquisition = self.gp.criterion(self.gp.fitted(own, bounds))
                with torch.random.fork_rng(devices=[]):
                    torch.manual_seed(seed)
                    points.append(
                        maximize_acquisition(
                            acquisition, box.lo[0], box.hi[0], self.restarts, self.raw_samples
                        )
                    )
        return box.scaled(torch.stack(points)).clamp(-1.0, 1.0)
