"""Optional packages of some learners. If one is missing, the error names the extra of paperlib that installs it."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

ON_PYPI = {"skopt": "scikit-optimize"}  # module -> package on PyPI, if the names differ


@contextmanager
def extra(name: str, user: str) -> Iterator[None]:
    """Return a context manager for the import of packages that an extra installs.

    Args:
        name: name of the extra.
        user: name of the class or function that needs the packages; the message names it.

    Raises:
        ImportError: a package is not installed.

    Examples:
        >>> from paperlib.core.extras import extra
        >>> with extra("optimizers", "Optuna"):
        ...     import no_such_package
        Traceback (most recent call last):
            ...
        ImportError: Optuna requires the package no_such_package of the extra 'optimizers': pip install 'paperlib[optimizers]'
    """
    try:
        yield
    except ImportError as error:
        raise ImportError(_message(error.name or str(error), name, user)) from error


def check_installed(module: str, name: str, user: str) -> None:
    """Raise the ImportError of ``extra`` if a module is not installed, without importing it.

    The import of BoTorch, for example, takes seconds.
    """
    try:
        found = find_spec(module)
    except ValueError:  # find_spec raises it if sys.modules contains None for the module
        found = None
    if found is None:
        raise ImportError(_message(module, name, user))


def _message(module: str, name: str, user: str) -> str:
    package = ON_PYPI.get(module.split(".")[0], module.split(".")[0])
    return (
        f"{user} requires the package {package} of the extra {name!r}: "
        f"pip install 'paperlib[{name}]'"
    )
