"""Packages that only some learners need: imported when such a learner starts, with one error that names the extra."""

from importlib import import_module
from types import ModuleType

EXTRAS = {  # module -> the package on PyPI, and the extra of paperlib that installs it
    "botorch": ("botorch", "botorch"),
    "cvxpy": ("cvxpy", "solvers"),
    "optuna": ("optuna", "optimizers"),
    "pandas": ("pandas", "tables"),
    "skopt": ("scikit-optimize", "optimizers"),
}


def load(module: str, user: str) -> ModuleType:
    """Import a package of an extra.

    Args:
        module: name of the module, a key of ``EXTRAS``.
        user: the class or function that needs it, for the message.

    Raises:
        ImportError: the package is not installed; the message names the extra.

    Example:
        >>> load("optuna", "Optuna").__name__
        'optuna'
    """
    try:
        return import_module(module)
    except ImportError as error:
        package, extra = EXTRAS[module]
        raise ImportError(
            f"{user} needs {package}: the extra {extra!r} of paperlib, pip install 'paperlib[{extra}]'"
        ) from error
