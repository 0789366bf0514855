"""Keys of stored results: a hash of the configuration and of the source code that it runs.

The key contains the syntax trees of all files of the two packages and of the user's own modules that the code imports,
directly or through others. Comments and docstrings do not change it. Files are read, not executed; therefore an import
by a name that is computed at run time is not found. Code written in a notebook enters with its bytecode, the values it
captures and the notebook's names that it uses. Installed packages that the files import enter with their versions.
"""

import dataclasses
import dis
import functools
import hashlib
import itertools
import json
import platform
import sys
import time
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np
import scipy
import torch

from paperlib.core.describe import PLAIN, describe
from paperlib.core.describe import qualified_name as public

from .. import imports

# Methods that ``dataclass`` generates; they contain no code of the user's.
GENERATED = {"__init__", "__eq__", "__repr__", "__hash__", "__setattr__", "__delattr__"}


def versions(files: Iterable[Path] = ()) -> dict[str, str]:
    """Return the versions of Python, torch, numpy and scipy, and of the other packages that ``files`` import.

    The version of a package that is not installed is "none".
    """
    found = {
        "python": ".".join(platform.python_version_tuple()[:2]),
        "torch": torch.__version__.split("+")[0],
        "numpy": np.__version__,
        "scipy": scipy.__version__,
    }
    return found | {name: version(name) for name in sorted(imports.packages(files) - found.keys())}


@functools.cache
def version(package: str) -> str:
    """Return the version of an installed package by its import name, or "none" if it is not installed."""
    # Several distributions may share a namespace package.
    owners = _distributions().get(package, ())
    return ", ".join(metadata.version(owner) for owner in sorted(set(owners))) or "none"


_distributions = functools.cache(metadata.packages_distributions)  # cached: it reads all metadata


# ---- which code -------------------------------------------------------------------------------------------


def _walk(x: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield a configuration and everything it contains, each with its position.

    Raises:
        ValueError: two configurations could differ in a part that ``describe`` does not show.
    """
    yield place, x
    if isinstance(x, dict):
        # JSON turns other keys into text, therefore 1 and "1" would give the same key.
        if odd := [key for key in x if not isinstance(key, str)]:
            raise ValueError(
                f"keys of a dictionary must be strings, because the key of a stored result depends on them, got {odd[0]!r}"
            )
        kids = [x[key] for key in sorted(x)]
    elif dataclasses.is_dataclass(x) and not isinstance(x, type):
        held = [item for owner in type(x).__mro__ for item in vars(owner).items()]
        cached = {name for name, value in held if isinstance(value, functools.cached_property)}
        fields = [f.name for f in dataclasses.fields(x)]
        # An attribute that is not a field would not be in the key, although the code may use it.
        if odd := sorted(getattr(x, "__dict__", {}).keys() - cached.union(fields)):
            raise ValueError(
                f"attributes of {type(x).__name__} must be fields of the dataclass, because the key of a stored result depends on the fields only, got {odd[0]!r}"
            )
        kids = [getattr(x, name) for name in fields]
    elif isinstance(x, functools.partial):
        kids = [x.func, *x.args, *x.keywords.values()]
    else:
        kids = x if isinstance(x, (list, tuple)) else []
    for i, kid in enumerate(kids):
        yield from _walk(kid, f"{place}.{i}")


def _code(x: Any) -> list[Any]:
    """Return the classes, functions and methods that a part of a configuration is or belongs to."""
    if isinstance(x, (FunctionType, MethodType)):
        return [x]
    own = x if isinstance(x, type) else type(x)
    known = own is x or dataclasses.is_dataclass(x) or hasattr(x, "_fields")
    return [base for base in own.__mro__ if base.__module__ != "builtins"] if known else []


def _typed(part: Any) -> bool:
    """Return whether a class or function was typed into a notebook, and therefore has no module file."""
    module = sys.modules.get(part.__module__ or "__main__")
    return part.__module__ == "__main__" or (
        getattr(module, "__file__", None) is None and getattr(module, "__spec__", None) is None
    )


def _bytecode(code: CodeType) -> list:
    """Return the content of a function's code object without line numbers, file names and comments."""
    text = lambda c: repr(sorted(c, key=repr) if isinstance(c, frozenset) else c)
    constants = [_bytecode(c) if isinstance(c, CodeType) else text(c) for c in code.co_consts]
    counts = [code.co_flags, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount]
    caught = code.co_exceptiontable.hex()
    return [code.co_code.hex(), code.co_names, code.co_varnames, constants, counts, caught]


def _globals(code: CodeType) -> set[str]:
    own = {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return own.union(*(_globals(c) for c in code.co_consts if isinstance(c, CodeType)))


def _inner(x: Any) -> Any:
    """Return the function of a property, a cached property, a static method or a class method; otherwise ``x``."""
    inner = (getattr(x, name, None) for name in ("fget", "func", "__func__"))
    return next((f for f in inner if isinstance(f, FunctionType)), x)


def _functions(owner: type) -> list[FunctionType]:
    """Return the functions that a typed class defines, without those that ``dataclass`` and ``NamedTuple`` generate."""
    made = GENERATED if dataclasses.is_dataclass(owner) else ()
    found = [_inner(value) for name, value in vars(owner).items() if name not in made]
    return [f for f in found if isinstance(f, FunctionType) and f.__module__ == owner.__module__]


class _Text:
    """Part of a key for code without a file, and for values that functions have captured."""

    def __init__(self):
        self.parts: list = []
        self.files: set[Path] = set()
        self.seen: list = []  # kept alive, because Python reuses the id of a freed object

    def add(self, x: Any) -> None:
        found = [*_walk(x)]
        # ``describe`` shows named tuples as plain lists, therefore their type is recorded here.
        named = lambda kid: isinstance(kid, tuple) and hasattr(kid, "_fields")
        self.parts += [["tuple", place, public(type(kid))] for place, kid in found if named(kid)]
        for part in itertools.chain.from_iterable(_code(kid) for _, kid in found):
            if earlier := [i for i, other in enumerate(self.seen) if part is other]:
                # Record which one, because functions with the same source may have captured
                # different values.
                self.parts += earlier if isinstance(part, FunctionType) or _typed(part) else []
                continue
            self.seen.append(part)
            if isinstance(part, MethodType):
                self.parts.append([part.__qualname__, describe(part.__self__)])
                self.add(part.__self__)
                self.add(part.__func__)
                continue
            if not _typed(part):
                imports.add_imports_of_name(part.__module__, self.files)
            if isinstance(part, FunctionType):
                self.function(part)
            elif _typed(part):
                plain = (*PLAIN, tuple, list, dict, np.ndarray, torch.Tensor)
                constants = {
                    k: describe(v)
                    for k, v in vars(part).items()
                    if isinstance(v, plain) and not k.startswith("__")
                }
                self.parts.append([part.__qualname__, constants])
                for f in _functions(part):
                    self.function(f)

    def function(self, f: FunctionType) -> None:
        """Add a function: its captured values, its bytecode if file and name do not identify it, a typed function's globals."""
        typed = _typed(f)
        # The name of a lambda or a local function ("<lambda>", "<locals>") does not identify it,
        # therefore its bytecode is added.
        unnamed = typed or "<" in f.__qualname__
        part = [f.__qualname__, _bytecode(f.__code__) if unnamed else None]
        self.parts.append(part)
        cells = zip(f.__code__.co_freevars, f.__closure__ or ())
        names = {name: cell.cell_contents for name, cell in cells if name != "__class__"}
        if unnamed:
            defaults = (*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values())
            names |= {f"default {i}": value for i, value in enumerate(defaults)}
        if typed:
            used = sorted(_globals(f.__code__) & f.__globals__.keys())
            names |= {name: f.__globals__[name] for name in used}
        for name, value in names.items():
            if isinstance(value, ModuleType):
                imports.add_imports_of_name(value.__name__, self.files)
            elif isinstance(value, (type, FunctionType, MethodType)):
                self.add(value)
            else:
                try:
                    part.append([name, describe(value)])
                except ValueError as error:
                    kind = type(value).__name__
                    raise ValueError(
                        f"{f.__qualname__} must use only numbers, arrays, configurations and functions, because the key of a stored result depends on them, got {name} of type {kind}"
                    ) from error
                self.add(value)


def source_files(*names: Any) -> list[Path]:
    """Return the package files that contain the named code, and the files that they import, transitively.

    Args:
        names: modules ("paperlib.play"), names in them ("paperlib.glbomd.GLBOMD": the file that defines it),
            or objects: configurations, classes, functions.

    Raises:
        ValueError: a name that is not in the package.
    """
    text = _Text()
    for name in names:
        if not isinstance(name, str):
            text.add(name)
        elif (file := imports.resolve_file(name)) is not None:
            imports.add_imports(file, text.files)
        else:
            raise ValueError(
                f"name must be a module of paperlib or companion, or a name in such a module, got {name!r}"
            )
    return sorted(file for file in text.files if imports.is_inside(file))


# Source text that this process runs. For files of the package it is the text at import. For other
# files it is the text at the first request, and counts as the imported text only if the file is
# older than this process. The start of the process is set 20 ms early, because the clocks of file
# systems lag by milliseconds.
_first = {
    file: file.read_bytes()
    for _, top in imports.package_roots()
    for file in Path(top).rglob("*.py")
}
_package, _began = frozenset(_first), time.time_ns() - 20_000_000


class Key(NamedTuple):
    """Inputs, source code and versions that a result depends on."""

    content: dict
    files: tuple[Path, ...]

    def digest(self, **more: Any) -> str:
        """Return the SHA-256 in hexadecimal of the content and of ``more``, for example the trial numbers."""
        text = json.dumps({**self.content, **describe(more)}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def edited(self) -> list[str]:
        """Return the files that changed while this process ran; its results may come from their older text."""
        return [imports.file_label(file) for file in self.files if _differs(file)]


def _differs(file: Path) -> bool:
    """Return whether a file may differ from the code that this process runs; outside the package, whether it is newer."""
    try:
        if file not in _package and file.stat().st_mtime_ns > _began:
            return True
        first, now = _first[file], file.read_bytes()
        return first != now and imports.digest(first, str(file)) != imports.digest(now, str(file))
    except (OSError, SyntaxError):  # the file was moved, or an edit is half finished
        return True


def content_key(inputs: dict[str, Any], also: tuple[str, ...] = ()) -> Key:
    """Return the key of a computation: its inputs, the code behind them and behind the modules ``also``, and versions.

    Raises:
        ValueError: the inputs, or a value that a function in them has captured, cannot be identified by content.
    """
    text = _Text()
    text.add(inputs)
    files = sorted(text.files | set(source_files(*also)))
    texts = [file.read_bytes() for file in files]
    for file, now in zip(files, texts):
        _first.setdefault(file, now)
    # Pairs and not a dictionary, because two files may have the same label.
    named = sorted(
        [imports.file_label(file), imports.digest(now, str(file))]
        for file, now in zip(files, texts)
    )
    content = {"inputs": describe(inputs), "files": named}
    content |= {"code": text.parts, "versions": versions(files)}
    return Key(content, tuple(files))
