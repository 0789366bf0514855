"""Public data sets, with lazily imported names.

The registry imports downloaders that a learner with a table does not need.
"""

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
    from . import covertype, registry

    return getattr(registry if hasattr(registry, name) else covertype, name)
