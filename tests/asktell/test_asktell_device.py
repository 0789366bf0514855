"""Ask/tell on a device.

State, context and draws are on the device, whereas the user receives NumPy arrays and Python numbers.
"""

import numpy as np
import pytest
import torch
from elsewhere import There, elsewhere
from toy import Index

from paperlib import bkb, glbomd, goucb, nsbco, pfbco
from paperlib.asktell import AskTell, Optimizer
from paperlib.asktell.inputs import resolve_device
from paperlib.core.linalg import Rows
from paperlib.core.trees import list_leaves

ARMS = np.random.default_rng(1).normal(size=(7, 2)) / 4
TRIANGLE = pfbco.polytope(np.vstack([-np.eye(2), np.ones((1, 2))]), np.array([0.0, 0.0, 1.0]))
KERNEL, RADIUS = bkb.RBF(3.0), bkb.Confidence(0.1, 2.0)
DISK = pfbco.oracle_set(lambda c: -c / max(np.linalg.norm(c), 1e-300), [0.0, 0.0], 1.0)
BOX = goucb.Bounds(torch.tensor([0.0, 1.0]).double(), torch.tensor([1.0, 4.0]).double())
MADE = {
    "toy": lambda **on: Optimizer(Index(), ARMS, **on),
    "GLBOMD": lambda **on: AskTell(glbomd.GLBOMD(glbomd.Bernoulli(), 2.0), ARMS, horizon=40, **on),
    "BKB": lambda **on: bkb.Optimizer(bkb.LazyBKB(KERNEL, RADIUS), ARMS, **on),
    "PF-BCO": lambda **on: pfbco.Optimizer(TRIANGLE, **on),
    "PF-BCO, oracle": lambda **on: pfbco.Optimizer(DISK, loss_bound=2.0, **on),
    "drift": lambda **on: nsbco.Optimizer(nsbco.ball([1.0, 2.0], 2.0), 0.25, 0.5, 0.035, **on),
    "GO-UCB": lambda **on: Optimizer(goucb.practical(3), BOX, **on),
}
ALONE = (pfbco.Optimizer, nsbco.Optimizer)  # their ``tell`` takes no action
every_user = pytest.mark.parametrize("name", MADE)
pretended = pytest.mark.skipif(torch.cuda.is_available(), reason="a real device is here")
real = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


def rounds(user, count=5):
    """Run some rounds with arbitrary feedback, one of which fails; return everything that the user receives."""
    seen = []
    for t in range(count):
        action = user.ask()
        seen.append(np.asarray(action).tolist())
        if isinstance(user, Optimizer) and t == 1:
            user.fail(None) if isinstance(user, ALONE) else user.fail(action, "down")
        else:
            answer = float(t % 2)
            user.tell(answer) if isinstance(user, ALONE) else user.tell(action, answer)
    for word in ("center", "failures"):
        seen.append(getattr(user, word, None))
    if isinstance(user, bkb.Optimizer):
        seen += [*user.ask(batch=2), *user.posterior(), *user.posterior(ARMS[:2] + 0.01)]
        user.tell([0, 1], [0.0, 1.0])
        seen.append(user.best())
    if isinstance(user.learner, goucb.GOUCB):
        with torch.no_grad():
            points = user.context.native(user.state.x.view)
            found = user.learner.predict(user.state, user.context, points)
        seen += [x.cpu().numpy() for x in found]
    return [x.tolist() if isinstance(x, np.ndarray) else x for x in seen]


def held(user):
    """Return the tensors in the user's trial state."""
    now = user._now
    parts = [x for _, x in list_leaves((now.state, now.context, now.pending, now.proposed))]
    parts = [x.buffer if isinstance(x, Rows) else x for x in parts]
    return [x for x in parts if isinstance(x, torch.Tensor)]


@every_user
def test_the_cpu_is_the_default(name):
    user = MADE[name]()
    assert user.device == torch.device("cpu")
    assert rounds(user) == rounds(MADE[name](device="cpu"))
    assert rounds(MADE[name]()) == rounds(MADE[name](device=torch.device("cpu")))


def same_on(device, name, path):
    """Compare a user on ``device`` with one on the CPU, and continue its trial on the CPU and back on the device.

    Return the user on the device before and after the restore.
    """
    here, there = MADE[name](), MADE[name](device=device)
    for one, other in zip(rounds(here), rounds(there), strict=True):
        np.testing.assert_allclose(*map(numbers, (one, other)), rtol=1e-9, atol=1e-12)
    there.ask()
    there.save(path)
    moved = MADE[name]().restore(path)
    assert moved.device.type == "cpu" and all(x.device.type == "cpu" for x in held(moved))
    back = MADE[name](device=device).restore(path)
    np.testing.assert_allclose(
        *(numbers(rounds(user, 2)) for user in (moved, back)), rtol=1e-9, atol=1e-12
    )
    repr(there)
    return there, back


def numbers(seen):
    """Return the numbers in the results, in order."""
    if isinstance(seen, (list, tuple)):
        return [x for kid in seen for x in numbers(kid)]
    return [float(seen)] if isinstance(seen, (int, float)) else []


@pytest.mark.slow
@pretended
@every_user
def test_all_known_quantities_are_on_the_device(name, tmp_path):
    with elsewhere():
        for user in same_on("cuda", name, tmp_path / "state.npz"):
            assert user.device == torch.device("cuda:0")
            assert all(type(x) is There for x in held(user))


@real
@every_user
def test_ask_on_a_device_equals_ask_on_the_cpu(name, tmp_path):
    for user in same_on("cuda", name, tmp_path / "state.npz"):
        assert all(x.device == user.device for x in held(user))


@pretended
def test_inputs_of_a_learner_are_on_the_device():
    class Watched(Index):
        def select(self, state, arms, draw):
            assert type(arms) is type(state.plays) is type(draw.uniform("x")) is There
            return super().select(state, arms, draw)

        def update(self, state, arms, arm, reward, draw):
            assert type(arm) is type(reward) is There
            return super().update(state, arms, arm, reward, draw)

    with elsewhere():
        user = Optimizer(Watched(), ARMS, device=torch.device("cuda:0"))
        user.tell(user.ask(), 1.0)
        user.tell([0, 1], [1.0, 0.0])
        assert type(user.ask(ARMS + 1.0)) is int


@pretended
def test_the_fake_device_can_raise_errors():
    with elsewhere() as device:
        there = torch.ones(3, device=device)
        assert type(there + 1) is There and type(there.cpu()) is torch.Tensor
        with pytest.raises(RuntimeError, match="same device"):
            there + torch.ones(3)
        with pytest.raises(RuntimeError, match="numpy"):
            there.numpy()


@pytest.mark.parametrize("device", ["gpu", "meta", "", 0, True, "cpu:x", torch.device("meta"), []])
def test_invalid_devices_are_rejected(device):
    with pytest.raises(ValueError, match="^device must .*, got "):
        AskTell(Index(), ARMS, device=device)


@pretended
@every_user
@pytest.mark.parametrize("device", ["cuda", "cuda:1", torch.device("cuda")])
def test_a_missing_device_is_rejected(name, device):
    with pytest.raises(
        ValueError, match="device must be 'cpu', because no CUDA device was found, got "
    ):
        MADE[name](device=device)


@pretended
def test_a_device_number_that_does_not_exist_is_rejected():
    with elsewhere():
        assert resolve_device("cuda") == resolve_device("cuda:0") == torch.device("cuda:0")
        # A single trial is faster on the CPU.
        assert resolve_device("auto") == torch.device("cpu")
        for device in ("cuda:1", "cuda:x"):
            with pytest.raises(ValueError, match=f"^device must be .*'cuda:N' .*, got '{device}'$"):
                resolve_device(device)
