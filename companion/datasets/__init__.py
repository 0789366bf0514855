"""Public data. Names are handed on when asked for, since the registry loads what fetches; a learner that reads a table does not."""

from typing import Any

__all__ = [
    "CovertypeArms",
    "Dataset",
    "Prices",
    "REGISTRY",
    "Table",
    "available",
    "cache_folder",
    "checksum",
    "covertype_arms",
    "fetch",
    "find",
    "load",
    "load_covertype",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import registry

    return getattr(registry, name)
