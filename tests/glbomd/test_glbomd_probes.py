"""Costs that Tables 1 and 2 state: bytes of a state, and the iteration count of public code."""

import math

import pytest
import torch

from companion.glbomd.experiments.settings import ONE_TRIAL, ecolog_iterations, paper_learners
from paperlib.core.linalg import Rows
from paperlib.core.trees import state_bytes
from paperlib.glbomd import GLBOMD, GLMUCB, Bernoulli, SphereArms
from paperlib.glbomd.probes import memory_bytes
from paperlib.play import play

PROBLEM = SphereArms(Bernoulli(), 2.0, dim=3, arms=4)


def test_bytes_of_a_state_of_constant_size():
    trace = play(
        GLBOMD(Bernoulli(), 2.0), PROBLEM, 40, 2, record=4, probes={"memory": memory_bytes}
    )
    d = 3
    assert (trace["memory"] == [8 * (d + 2 * d * d), 0]).all()  # theta, H, H^{-1}; no history


def test_bytes_of_a_history_grow_by_a_row_per_round():
    trace = play(
        GLMUCB(Bernoulli(), 2.0),
        PROBLEM,
        70,
        2,
        record=[1, 20, 70],
        probes={"memory": memory_bytes},
    )
    history = trace["memory"][:, :, 1]
    # A round adds one arm and one reward, independently of the buffer's capacity.
    assert history[0] == pytest.approx(trace.rounds * 8 * (3 + 1))
    fixed = trace["memory"][:, :, 0] - history
    assert (fixed == fixed[0, 0]).all() and fixed[0, 0] > 0


@pytest.mark.parametrize(
    "name, row",
    [
        ("GLB-OMD", 0),
        ("GLOC", 0),
        ("ECOLog", 0),
        ("GLM-UCB", 48),
        ("OFUGLB", 48),
        ("OFULog-r", 48),
        ("RS-GLinCB", 49),
    ],
)
def test_growth_of_the_states_in_the_tables(name, row):
    """Check the growth by ``row`` bytes per round: five coordinates and a reward, and a mark for RS-GLinCB.

    The rest of the state does not grow.
    """
    problem, trials = SphereArms(Bernoulli(), 3.0), 1 if name in ONE_TRIAL else 2
    held = play(
        paper_learners(problem)[name],
        problem,
        40,
        trials,
        record=[10, 40],
        probes={"memory": memory_bytes},
    )["memory"]
    assert (held[:, :, 1] == [10 * row, 40 * row]).all() and (
        held[:, 1, 0] - held[:, 0, 0] == 30 * row
    ).all()


def test_bytes_count_filled_rows_and_numbers_only():
    rows = Rows.empty(2, 5, dtype=torch.float64).append(torch.zeros(2, 5, dtype=torch.float64))
    state = (rows, torch.zeros(2, dtype=torch.bool), 7, None)
    assert state_bytes(state) == 80 + 2 and state_bytes(state, Rows) == 80


def test_iterations_of_the_public_ecolog():
    assert ecolog_iterations(3, 3000) == pytest.approx(4 / 3 * math.ceil(2.625 * math.log(9000)))
    assert ecolog_iterations(3, 3000) == pytest.approx(32) and ecolog_iterations(
        3, 10**6
    ) > ecolog_iterations(3, 10**5)
