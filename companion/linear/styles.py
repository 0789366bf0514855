"""Line styles of the learners in every figure."""

from ..styles import Style

STYLES = {
    "OFUL": Style("blue", "o", emphasis=True),
    "ConfidenceBall": Style("orange", "s"),
    "OFUL, error": Style("black", linestyle="--", label="observed error"),
}
