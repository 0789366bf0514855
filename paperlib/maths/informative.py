"""From which horizon on a bound says something."""

from collections.abc import Callable


def informative_from(
    bound: Callable[[int], float], trivial: Callable[[int], float], cap: int = 10**15
) -> int | None:
    """The first horizon T at which ``bound(T) < trivial(T)``, or None: not up to ``cap``.

    Doubling, then bisection: exact where the bound, once below the trivial one, stays below.
    """
    below = lambda T: bound(T) < trivial(T)
    low, high = 0, 1  # never below at `low`
    while not below(high):
        if high >= cap:
            return None
        low, high = high, min(2 * high, cap)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if below(middle) else (middle, high)
    return high
