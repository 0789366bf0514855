"""Configurations as JSON."""

import dataclasses
import enum
import functools
import inspect
from typing import Any

import numpy as np
from torch import Tensor


PLAIN = (bool, int, float, str, type(None))


def describe(x: Any) -> Any:
    """JSON form of a configuration: what enters content keys, checkpoints and provenance."""
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        return {"kind": f"{type(x).__module__}.{type(x).__qualname__}", **{f.name: describe(getattr(x, f.name)) for f in dataclasses.fields(x)}}
    if isinstance(x, (Tensor, np.ndarray)):
        return {"kind": str(x.dtype), "values": x.tolist()}
    if isinstance(x, np.generic):
        return x.item()
    if isinstance(x, dict):
        return {str(key): describe(value) for key, value in x.items()}
    if isinstance(x, (list, tuple, range)):
        return [describe(value) for value in x]
    if isinstance(x, functools.partial):
        return {"kind": "partial", "function": describe(x.func), "args": describe(x.args), "keywords": describe(x.keywords)}
    if isinstance(x, enum.Enum):
        return str(x)
    if hasattr(x, "__qualname__"):  # a function written in a notebook, or a lambda, is known by its text
        known = x.__module__ != "__main__" and "<" not in x.__qualname__
        try:
            return f"{x.__module__}.{x.__qualname__}" if known else inspect.getsource(x)
        except (OSError, TypeError) as error:  # typed at Python's own prompt
            raise ValueError(f"{x!r} has no source to be known by; allowed: functions of a file or of a notebook's cell") from error
    if isinstance(x, PLAIN):
        return x
    raise ValueError(f"{x!r} cannot stand in a configuration; allowed: numbers, strings, tensors, functions, frozen dataclasses and containers of these")
