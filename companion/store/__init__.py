"""Results on disk: what was computed once is not computed again."""

from .keys import sources
from .results import chunks, once, root, run, shard
from .seconds import Seconds, time_runs

__all__ = ["Seconds", "chunks", "once", "root", "run", "shard", "sources", "time_runs"]
