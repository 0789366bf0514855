"""Errors in words."""


def told(error: BaseException) -> str:
    """Kind and text of an error; the kind alone where its text cannot be told."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # of a user's own class
        return type(error).__name__
