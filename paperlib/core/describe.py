"""Configurations of learners and problems: in JSON types, and as a one-line ``repr``."""

import dataclasses
import functools
import hashlib
import inspect
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, dataclass_transform

import numpy as np
from torch import Tensor

PLAIN = (bool, int, float, str, type(None))
PACKAGES = ("paperlib", "companion")
LONG = 200  # maximum number of characters of a line
FEW = 10  # maximum size of an array whose numbers are shown
MANY = 1000  # maximum size of a captured array that is described by its numbers


def qualified_name(x: Any) -> str:
    """Return the dotted name of a class or function for a configuration.

    If the package of a paper, or another package directly below ``paperlib`` or ``companion``, exports the object, the name contains this
    package alone (``paperlib.glbomd.GLBOMD``). It then remains valid if the file moves. Otherwise the name contains the file's module.
    """
    parts = str(x.__module__).split(".")
    # The package is in `sys.modules`, because Python loads it before its files.
    face = vars(sys.modules[".".join(parts[:2])]) if parts[0] in PACKAGES else {}
    return ".".join([*(parts[:2] if face.get(x.__qualname__) is x else parts), x.__qualname__])


# Renamed classes of version 0.1.0 by paper, because saved files of that version are still readable.
RENAMED = {("nsbco", "Still"): "StaticBaseline", ("bkb", "OFUL"): "LinearGPUCB"}


def configs_equal(there: Any, here: Any) -> bool:
    """Return whether two values of described configurations are the same.

    A file of an older version names a class by the module that defined it at that time (``paperlib.glbomd.glbomd.GLBOMD``).
    Therefore two dotted names are equal if the class is the same, because its name is unique in its paper and in the code that
    papers share.
    """
    if there == here or not all(
        isinstance(x, str) and x.split(".")[0] in PACKAGES for x in (there, here)
    ):
        return there == here
    places = [(_paper(x), x.split(".")[-1]) for x in (there, here)]
    names = {RENAMED.get(place, place[1]) for place in places}
    return len(names) == 1 and len({paper for paper, _ in places} - {None}) < 2


def _paper(kind: str) -> str | None:
    """Return the paper of a dotted name below ``paperlib`` or ``companion``, or None for code that papers share."""
    room = kind.split(".")[1]
    # The theory of a paper is a package, or a module if the paper is small.
    return room if any((Path(__file__).parents[1] / room).glob("theory*")) else None


def to_python(x: Any) -> Any:
    """Convert NumPy scalars to Python numbers, Booleans or strings, also within tuples and lists; return other values unchanged.

    Formulas compute with the stored settings. Therefore an ``np.float32`` would round their results, and an ``np.int16`` could
    overflow. For example, ``np.int16(300) ** 2`` is 24464.
    """
    if type(x) in (tuple, list):
        return type(x)(map(to_python, x))
    if not isinstance(x, np.generic):
        return x
    if isinstance(x, np.floating):
        return float(x)  # ``item`` of a longdouble is a longdouble
    return x.item() if x.dtype.kind in "biuU" else x


def describe(x: Any) -> Any:
    """Return a configuration in JSON types. It is used in keys of stored results, in checkpoints and as provenance.

    Examples:
        >>> from paperlib.core.describe import describe
        >>> from paperlib.glbomd import Poisson
        >>> describe(Poisson())["kind"]
        'paperlib.glbomd.Poisson'
    """
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        return {
            "kind": qualified_name(type(x)),
            **{f.name: describe(getattr(x, f.name)) for f in dataclasses.fields(x)},
        }
    if isinstance(x, (Tensor, np.ndarray)):
        return {"kind": str(x.dtype), "values": x.tolist()}
    if isinstance(x, np.generic):
        return to_python(x)
    if isinstance(x, dict):
        return {str(key): describe(value) for key, value in x.items()}
    if isinstance(x, (list, tuple, range)):
        return [describe(value) for value in x]
    if isinstance(x, functools.partial):
        return {
            "kind": "partial",
            "function": describe(x.func),
            "args": describe(x.args),
            "keywords": describe(x.keywords),
        }
    if hasattr(x, "__qualname__"):
        return _describe_code(x)
    if isinstance(x, PLAIN):
        return x
    raise ValueError(
        f"a configuration must consist of numbers, strings, tensors, functions, frozen dataclasses and containers of these, got {x!r}"
    )


def _describe_code(x: Any, outer: tuple = ()) -> Any:
    """Return the configuration of a class, a function or a method.

    A function from a notebook, or a lambda, has no unique name, so its source code identifies it, together with its defaults and the
    values that it captures. ``outer``: the functions that capture it.
    """
    if inspect.ismethod(x) and not inspect.isclass(x.__self__):
        return {"kind": qualified_name(x.__func__), "self": _describe_held(x.__self__)}
    if x.__module__ != "__main__" and "<" not in x.__qualname__:
        return qualified_name(x)
    try:
        source = inspect.getsource(x)
    except (OSError, TypeError) as error:  # functions from Python's prompt have no source file
        raise ValueError(
            f"a function of a configuration must be defined in a file or in a cell of a notebook, because its source code identifies it, got {x!r}"
        ) from error
    if not inspect.isfunction(x):
        return source
    held = {
        name: cell.cell_contents for name, cell in zip(x.__code__.co_freevars, x.__closure__ or ())
    }
    captured = {name: _describe_held(value, (*outer, x)) for name, value in held.items()}
    values = (*(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values())
    defaults = [_describe_held(value, (*outer, x)) for value in values]
    return (
        {"kind": source, "captured": captured, "defaults": defaults} if held or values else source
    )


def _describe_held(x: Any, outer: tuple = ()) -> Any:
    """Return the configuration of a value that a function captures: a digest of a large array, the type of an unknown object."""
    if isinstance(x, (Tensor, np.ndarray)) and math.prod(x.shape) > MANY:
        array = np.ascontiguousarray(x.detach().cpu() if isinstance(x, Tensor) else x)
        digest = hashlib.sha256(array.tobytes()).hexdigest()
        return {"kind": str(x.dtype), "shape": list(x.shape), "sha256": digest}
    # A list or a dictionary may be a record that the function fills during a run.
    if isinstance(x, (list, dict, set)):
        return qualified_name(type(x))
    try:
        if inspect.isfunction(x):  # two functions may capture each other
            return x.__qualname__ if any(x is f for f in outer) else _describe_code(x, outer)
        return describe(x)
    except ValueError:
        return qualified_name(type(x))


def short_repr(x: Any) -> str:
    """Return a one-line text for messages and ``repr``.

    A configuration is shown without its defaults. An array of at most 10 numbers is shown in full, a larger one by its shape.
    """
    try:
        text = " ".join(_brief(x).split())
    except (
        Exception
    ):  # for example a user-defined ``repr`` that fails, or an integer of 5,000 digits
        text = f"<{type(x).__name__}>"
    return text if len(text) <= LONG else f"{text[: LONG - 3]}..."


def _brief(x: Any) -> str:
    if isinstance(x, np.generic):
        return repr(to_python(x))
    if isinstance(x, (Tensor, np.ndarray)):
        few = math.prod(x.shape) <= FEW
        return repr(x) if few else f"{type(x).__name__}({x.dtype}, shape={tuple(x.shape)})"
    if inspect.isroutine(
        x
    ):  # the ``repr`` of a function has an address, which differs between runs
        return x.__qualname__
    if type(x) is tuple:
        return f"({', '.join(map(_brief, x))}{',' * (len(x) == 1)})"
    if not dataclasses.is_dataclass(x) or isinstance(x, type):
        return repr(x)
    own = [(f, getattr(x, f.name, None)) for f in dataclasses.fields(x) if f.repr and f.init]
    told = [f"{f.name}={_brief(value)}" for f, value in own if not _is_default(f, value)]
    return f"{type(x).__name__}({', '.join(told)})"


def _is_default(field: dataclasses.Field, value: Any) -> bool:
    """Return whether a field has its default value, of the same type. The texts are compared, because arrays have no truth value."""
    made = field.default_factory
    default = field.default if made is dataclasses.MISSING else made()
    return type(value) is type(default) and repr(value) == repr(default)


def _checked(after: Callable[[Any], None] | None) -> Callable[[Any], None]:
    """Return a ``__post_init__`` that checks the declared ranges of the fields and then calls ``after``."""

    def __post_init__(self):
        for field in dataclasses.fields(self):
            if "range" in field.metadata:
                field.metadata["range"].check(field.name, getattr(self, field.name))
        if after is not None:
            after(self)

    return __post_init__


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def frozen_dataclass(cls: type | None = None, /, *, eq: bool = True) -> Any:
    """Decorate a class as a frozen dataclass whose ``repr`` is ``short_repr``, for learners, problems and the objects in their fields.

    NumPy scalars are converted to Python numbers, see ``to_python``. For example, ``GLBOMD(link, np.float32(2))`` equals
    ``GLBOMD(link, 2.0)`` and has the same key in a store. Then the declared ranges of the fields are checked (``core.fields``), and
    then ``__post_init__`` runs.

    Args:
        eq: as for ``dataclass``: whether two instances with equal fields are equal.
    """
    if cls is None:
        return functools.partial(frozen_dataclass, eq=eq)
    if "__repr__" not in vars(cls):
        cls.__repr__ = short_repr
    cls.__post_init__ = _checked(getattr(cls, "__post_init__", None))
    made = dataclasses.dataclass(frozen=True, repr=False, eq=eq)(cls)
    assign = made.__init__

    @functools.wraps(assign)
    def __init__(self, *args, **kwargs):
        assign(
            self,
            *map(to_python, args),
            **{name: to_python(value) for name, value in kwargs.items()},
        )

    made.__init__ = __init__
    return made
