"""Errors in words."""

MOST = 1000  # letters of a text


def told(error: BaseException) -> str:
    """Kind and text of an error, a long one cut; the kind alone where its text cannot be told."""
    try:
        text = str(error)
        return f"{type(error).__name__}: {text[:MOST]}{'...' if len(text) > MOST else ''}"
    except Exception:  # of a user's own class
        return type(error).__name__
