"""A simulated CUDA device: its tensors report CUDA as their device, compute on the CPU, and cannot be mixed with CPU tensors.

As on a real GPU, NumPy cannot read them, and an operation on tensors of both devices raises an error. A module is not moved
to the device of its inputs. Therefore BoTorch's models are not tested here.
"""

from contextlib import contextmanager

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter, tree_map_only

THERE = torch.device("cuda", 0)
JOINS = (torch.ops.aten.index, torch.ops.aten.index_put_, torch.ops.aten.copy_)


class There(torch.Tensor):
    """Tensor on the simulated device; ``held`` contains the numbers."""

    @staticmethod
    def __new__(cls, held):
        new = torch.Tensor._make_wrapper_subclass(
            cls, held.shape, held.stride(), held.storage_offset(), dtype=held.dtype, device="meta"
        )
        new.held = held
        return new

    @property
    def device(self):
        return THERE

    def tolist(self):
        return self.held.tolist()

    def __repr__(self, **options):
        return repr(self.held)

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        # torch itself calls ``new_tensor`` and ``to``. The result must be on the device of the tensor.
        if function is torch.Tensor.new_tensor:
            return torch.tensor(args[1], dtype=args[0].dtype).to(THERE)
        if function is torch.Tensor.to and len(args) == 2 and isinstance(args[1], There):
            args = args[0], THERE, args[1].dtype
        # Otherwise the result would be converted to There.
        with torch._C.DisableTorchFunctionSubclass():
            return function(*args, **(kwargs or {}))

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        return _run(function, args, kwargs or {})


def _run(function, args, kwargs):
    """Compute on the numbers. The results are on the device of the inputs, or on ``device`` if it is given."""
    given = [x for x in tree_iter((args, kwargs)) if isinstance(x, torch.Tensor)]
    there = any(isinstance(x, There) for x in given)
    moves = function.overloadpacket is torch.ops.aten._to_copy
    device = kwargs.get("device")
    # As on a real device, a tensor without dimensions or an index may be on the CPU.
    joins = function.overloadpacket in JOINS
    if there and not joins and any(x.dim() and not isinstance(x, There) for x in given):
        raise RuntimeError(f"{function}: expected all tensors to be on the same device")
    if device is not None:
        there = torch.device(device).type == THERE.type
        kwargs = {**kwargs, "device": "cpu"}
    own = {id(x.held): x for x in given if isinstance(x, There)}
    args, kwargs = tree_map_only(There, lambda x: x.held, (args, kwargs))
    out = function(*args, **kwargs)
    if moves and not there:
        return out
    # An in-place operation must return the same tensor object.
    wrap = lambda x: own[id(x)] if id(x) in own else There(x)
    return tree_map_only(torch.Tensor, wrap, out) if there else out


class _Elsewhere(TorchDispatchMode):
    """Mode in which tensors that are created on the device, or moved to it, are of type ``There``."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        return _run(function, args, kwargs or {})


def _through_the_host(make):
    def made(data, device=None, **options):
        found = make(data, **options)
        return found if device is None else found.to(device)

    return made


@contextmanager
def elsewhere():
    """Simulate a CUDA device within the block."""
    with pytest.MonkeyPatch.context() as patch, _Elsewhere():
        patch.setattr(torch.cuda, "_lazy_init", lambda: None)
        patch.setattr(torch.cuda, "is_available", lambda: True)
        patch.setattr(torch.cuda, "device_count", lambda: 1)
        patch.setattr(torch.cuda, "current_device", lambda: 0)
        for name in ("tensor", "as_tensor"):  # these two functions bypass the dispatch mode
            patch.setattr(torch, name, _through_the_host(getattr(torch, name)))
        yield THERE
