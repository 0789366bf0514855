"""The information that a learner of the arena reads."""

from typing import Any

from companion.arena.field import ArenaLearner


def facts_read(learner: ArenaLearner, known: Any) -> list[str]:
    """Return the names of the facts that the learner's builder reads."""
    read = []

    class Recorder:
        def __getattr__(self, name: str) -> Any:
            value = getattr(known, name)
            read.append(name)
            return value

    learner.build(Recorder(), 1.0)
    return list(dict.fromkeys(read))
