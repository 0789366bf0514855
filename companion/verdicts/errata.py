"""A remark on a paper's text, as each package's ``errata.ERRATA`` lists them."""

from collections.abc import Callable
from typing import NamedTuple


class Erratum(NamedTuple):
    """What is wrong, loose or open at one place of a paper, and what the package does about it.

    ``function`` returns the numbers that show the point, where there are any.
    """

    id: str
    where: str
    problem: str
    resolution: str
    function: Callable[[], dict[str, float]] | None = None
