"""Store of results on disk: load a result that was computed before instead of computing it again."""

from .keys import source_files
from .results import cached_call, current_shard, results_dir, run, split_chunks
from .seconds import Seconds, time_runs

__all__ = [
    "Seconds",
    "split_chunks",
    "cached_call",
    "results_dir",
    "run",
    "current_shard",
    "source_files",
    "time_runs",
]
