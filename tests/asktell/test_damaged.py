"""Damaged files: each is loaded with the contents that were written, or rejected by name without changing the object.

The mutations truncate and flip the bytes of a file. They also rewrite a file with other contents under the old checksum.
"""

import json
import warnings

import numpy as np
import pytest
import torch
from toy import Index

from paperlib import bkb, glbomd, goucb, linear, nsbco, pfbco
from paperlib.asktell import AskTell, Optimizer
from paperlib.core.files import parse_npz
from paperlib.core.linalg import Rows
from paperlib.core.trees import list_leaves

ARMS = np.random.default_rng(1).normal(size=(7, 2)) / 4
TRIANGLE = pfbco.polytope(np.vstack([-np.eye(2), np.ones((1, 2))]), np.array([0.0, 0.0, 1.0]))
KERNEL, RADIUS, LOGISTIC = bkb.RBF(3.0), bkb.Confidence(0.1, 2.0), glbomd.Bernoulli()
SETTLED = [linear.OFUL(0.1, 1.0), glbomd.GLBOMD(LOGISTIC, 2.0), glbomd.LaplaceThompson()]
SETTLED += [glbomd.GLMUCB(LOGISTIC, 2.0, counts=True), glbomd.RSGLinCB(LOGISTIC, 2.0)]
SETTLED += [glbomd.OFUGLB(LOGISTIC, 2.0), glbomd.ECOLog(2.0), pfbco.Doubling(glbomd.UCB1())]
SEARCHES = [bkb.BKB(KERNEL, RADIUS), bkb.LazyBKB(KERNEL, RADIUS), bkb.ExactGPUCB(KERNEL, RADIUS)]
SEARCHES += [bkb.ContextualBKB(KERNEL, RADIUS)]
USERS = {
    "toy": lambda: Optimizer(Index(), ARMS, horizon=40),
    **{x.__class__.__name__: lambda x=x: AskTell(x, ARMS, horizon=40) for x in SETTLED},
    **{x.__class__.__name__: lambda x=x: bkb.Optimizer(x, ARMS) for x in SEARCHES},
    "PF-BCO": lambda: pfbco.Optimizer(TRIANGLE, loss_bound=2.0),
    "PF-BCO, spread": lambda: pfbco.Optimizer(pfbco.Ball.of(3), c=0.5),
    "PF-BCO, one epoch": lambda: pfbco.Optimizer(TRIANGLE, loss_bound=2.0, horizon=40),
    "TuRBO": lambda: Optimizer(goucb.TuRBO(3, candidates=20, fit_steps=3), BOX),
    "GO-UCB": lambda: Optimizer(goucb.practical(3), BOX),
    **{f"drift, {x}": lambda x=x: drifting(x) for x in ("glr", "discounted", "master")},
}
BOX = goucb.Bounds(torch.zeros(2).double(), torch.ones(2).double())
ALONE = (pfbco.Optimizer, nsbco.Optimizer)  # their ``tell`` takes no action


def drifting(policy):
    return nsbco.Optimizer(nsbco.ball([1.0, 2.0], 2.0), 0.25, 0.5, 0.035, policy)


def go_on(user, rounds=3):
    """Return everything that a user of this object receives in the following rounds."""
    seen = []
    for t in range(rounds):
        action = user.ask()
        seen.append(np.asarray(action).tolist())
        feedback = float(t % 2)
        user.tell(feedback) if isinstance(user, ALONE) else user.tell(action, feedback)
    if isinstance(user, Optimizer):
        reason = "down"
        action = user.ask()
        user.fail(reason) if isinstance(user, ALONE) else user.fail(action, reason)
    return seen


def numbers(user):
    """Return the learner's state and counts in comparable form."""
    now = user._now
    values = [
        x.view if isinstance(x, Rows) else x for _, x in list_leaves((now.state, now.context))
    ]
    plain = [x.tolist() if isinstance(x, torch.Tensor) else x for x in values if not callable(x)]
    return plain, now.rounds, now.skipped, now.warned, now.late, now.failures


# ---- mutations -----------------------------------------------------------------------------------

PLAIN = [None, True, -1, 0, 10**30, 2**63, 1e308, np.nan, -np.inf, -0.5, "x", "", [], {}, [1], [[]]]


def of_bytes(raw, rng):
    """Truncate, flip, overwrite or duplicate bytes."""
    raw, at = bytearray(raw), int(rng.integers(len(raw)))
    kind = rng.integers(6)
    if kind == 0:
        return bytes(raw[:at])
    if kind == 1:
        return bytes(raw[at:])
    if kind == 2:
        return bytes(raw[:at] + raw[: rng.integers(len(raw))] + raw[at:])
    if kind == 3:
        raw[at : at + 40] = rng.bytes(40)
    for _ in range(rng.integers(1, 4)):
        raw[rng.integers(len(raw))] ^= 1 << rng.integers(8)
    return bytes(raw)


def of_head(head, rng):
    """Change a value or a key anywhere in the tree of settings and plain values."""
    tree = head
    while True:
        keys = list(tree) if isinstance(tree, dict) else list(range(len(tree)))
        if not keys:
            return
        key = keys[rng.integers(len(keys))]
        if isinstance(tree[key], (dict, list)) and tree[key] and rng.random() < 0.8:
            tree = tree[key]
            continue
        kind = rng.integers(4)
        if kind == 0:
            tree.pop(key)
        elif kind == 1 and isinstance(tree, dict):
            tree[str(key) + "'"] = tree.pop(key)
        else:
            tree[key] = PLAIN[rng.integers(len(PLAIN))]
        return


def of_arrays(arrays, rng):
    """Change one number, the dtype, the shape, or the name of an array."""
    names = sorted(arrays)
    name = names[rng.integers(len(names))]
    x = np.array(arrays[name])
    kind = rng.integers(9)
    if kind == 0:
        arrays.pop(name)
    elif kind == 1:
        arrays[name + "'"] = arrays.pop(name)
    elif kind == 2:
        kinds = [
            "float32",
            "int64",
            "int32",
            "bool",
            "complex128",
            "U8",
            "datetime64[s]",
            "float64",
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            arrays[name] = np.nan_to_num(x).astype(kinds[rng.integers(len(kinds))])
    elif kind == 3:
        shapes = [
            (*x.shape, 1),
            x.shape[1:],
            (2, *x.shape[1:]),
            (0, *x.shape[1:]),
            x.shape[::-1],
            (),
        ]
        shapes += [(*x.shape[:-1], x.shape[-1] + 1), (*x.shape[:-1], max(x.shape[-1] - 1, 0))]
        arrays[name] = np.resize(x, shapes[rng.integers(len(shapes))])
    elif kind == 4:
        arrays[name] = arrays[names[rng.integers(len(names))]]
    elif x.size and x.dtype.kind in "fib":
        at = np.unravel_index(rng.integers(x.size), x.shape)
        values = {"float64": [np.nan, np.inf, -np.inf, 1e308, -1.0, 0.0]}
        values |= {"int64": [-1, 10**6, 2**62, -(2**63)]}
        values = values.get(str(x.dtype), [True, False])
        x[at if rng.random() < 0.7 else ...] = values[rng.integers(len(values))]
        arrays[name] = x


def of_contents(raw, rng):
    """Write other contents under the old checksum."""
    head, arrays = parse_npz(raw)
    checksum = head.pop("checksum")
    for _ in range(rng.integers(1, 3)):
        of_head(head, rng) if rng.random() < 0.5 else of_arrays(arrays, rng)
    return head | {"checksum": checksum}, arrays


# ---- tested properties -----------------------------------------------------------------------------


def mutated(name, path, count, seed):
    """Load ``count`` damaged files; return the number of rejected ones."""
    rng, saver, refused = np.random.default_rng(seed), USERS[name](), 0
    go_on(saver, 9)
    saver.save(path)
    whole, written = path.read_bytes(), numbers(saver)
    assert numbers(USERS[name]().restore(path)) == written
    user, twin = USERS[name](), USERS[name]()
    for x in (user, twin):
        go_on(x, 2)
        x.ask()
    before = user._now
    for mutation in range(count):
        own = vars(user).copy()
        if mutation % 2:
            path.write_bytes(of_bytes(whole, rng))
        else:
            head, arrays = of_contents(whole, rng)
            with open(path, "wb") as file:
                np.savez(file, head=np.array(json.dumps(head)), **arrays)
        try:
            user.restore(path)
        except ValueError as error:
            refused += 1
            assert (
                f"path must be a complete file that save wrote, got {str(path)!r}" in str(error)
                and len(str(error)) > len(str(path)) + 40
            )
            assert all(vars(user)[key] is value for key, value in own.items())
            continue
        assert numbers(user) == written
        user._now = before
    assert go_on(user) == go_on(twin) and numbers(user) == numbers(twin)
    return refused


@pytest.mark.parametrize("name", USERS)
def test_a_damaged_file_is_read_correctly_or_rejected_without_effect(name, tmp_path):
    assert mutated(name, tmp_path / "state.npz", 40, seed=0) > 20


@pytest.mark.slow
@pytest.mark.parametrize("name", USERS)
def test_100_damaged_files_are_read_correctly_or_rejected(name, tmp_path):
    assert mutated(name, tmp_path / "state.npz", 100, seed=1) > 50


def test_infinite_initial_values_are_read(tmp_path):
    """For example, the determinant of RS-GLinCB is infinite before its first switch."""
    user = USERS["RSGLinCB"]()
    assert user.state.log_det.tolist() == [-np.inf]
    user.save(tmp_path / "state.npz")
    assert numbers(USERS["RSGLinCB"]().restore(tmp_path / "state.npz")) == numbers(user)
