"""Packages that only some learners need: a missing one raises one error, which names the extra of paperlib."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

ON_PYPI = {"skopt": "scikit-optimize"}  # module -> its package, where the names differ


@contextmanager
def extra(name: str, user: str) -> Iterator[None]:
    """Around import statements of packages that an extra installs.

    Args:
        name: the extra.
        user: the class or function that needs the packages, for the message.

    Raises:
        ImportError: a package is not installed.

    Example:
        >>> with extra("optimizers", "Optuna"):
        ...     import optuna
    """
    try:
        yield
    except ImportError as error:
        raise ImportError(_message(error.name or str(error), name, user)) from error


def check_installed(module: str, name: str, user: str) -> None:
    """Raise the same ImportError where a module is not installed, without importing it: BoTorch takes seconds."""
    try:
        found = find_spec(module)
    except ValueError:  # sys.modules holds None for it
        found = None
    if found is None:
        raise ImportError(_message(module, name, user))


def _message(module: str, name: str, user: str) -> str:
    package = ON_PYPI.get(module.split(".")[0], module.split(".")[0])
    return f"{user} needs {package}: the extra {name!r} of paperlib, pip install 'paperlib[{name}]'"
