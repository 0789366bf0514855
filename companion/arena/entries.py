"""Problems and learners of one run of the arena, among them those of a user, named ``file.py:Name``.

A user's learner or problem is a class, a function that returns it, or an object. A class or function of a learner is called with those
parts of the information about a problem that its arguments name, for example ``noise`` and ``norm_bound``. If one of its arguments is
``scale``, the learner takes part in the tuning.
"""

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

from paperlib.core.contracts import check_learner, tags_of

from . import arms, continuous
from .field import UNIFORM, ArenaLearner, ArenaProblem
from .peers import OPTUNA, PEERS, installed_peers


def parts(known: type) -> list[str]:
    """Return the names of the information: the fields of the dataclass ``known``, then its properties."""
    properties = inspect.getmembers(known, lambda member: isinstance(member, property))
    return [field.name for field in fields(known)] + [name for name, _ in properties]


class Field(NamedTuple):
    """Problems and learners of a field of the arena.

    Attributes:
        problems: name -> function that returns the problem.
        learners, peers: by name; peers are learners of other libraries.
        families: families of problems that a user's learner plays.
        known: class of the information about a problem.
        own_problem: a user's problem -> its entry.
    """

    problems: Mapping[str, Callable[[], ArenaProblem]]
    learners: Mapping[str, ArenaLearner]
    peers: Mapping[str, ArenaLearner]
    families: tuple[str, ...]
    known: type
    own_problem: Callable[[Any], ArenaProblem]


FIELDS = {
    "arms": Field(
        arms.PROBLEMS,
        arms.LEARNERS,
        PEERS,
        arms.FAMILIES,
        arms.Known,
        arms.own_problem,
    ),
    "continuous": Field(
        continuous.PROBLEMS,
        continuous.LEARNERS,
        OPTUNA,
        continuous.FAMILIES,
        continuous.Declared,
        continuous.own_problem,
    ),
}


def load(place: str) -> tuple[str, Any]:
    """Return the name and the object that ``place``, "file.py:Name", refers to.

    Raises:
        ValueError: another form, no such file, or no such name in it.
    """
    file, colon, name = place.rpartition(":")
    path = Path(file).resolve()
    if not colon or path.suffix != ".py" or not name.isidentifier():
        raise ValueError(
            f"a learner or problem of yours must have the form 'file.py:Name', got {place!r}"
        )
    if not path.is_file():
        raise ValueError(f"{place!r} must name an existing file, got {path}")
    # It is imported by its name, because the store identifies results by the files behind a module's name.
    sys.path.insert(0, str(path.parent))
    try:
        module = importlib.import_module(path.stem)
    except Exception as error:
        raise ValueError(f"{place!r} must name a file that can be imported: {error!r}") from error
    finally:
        sys.path.remove(str(path.parent))
    if Path(module.__file__).resolve() != path:
        raise ValueError(
            f"{place!r} must have a file name that no imported module has, got {path.stem!r}"
        )
    if not hasattr(module, name):
        raise ValueError(f"{place!r} must name a class, a function or an object of {path.name}")
    return name, getattr(module, name)


def is_problem(thing: Any) -> bool:
    """Return whether an object, or what a function without arguments returns, has the methods of a problem."""
    if inspect.isfunction(thing) and not inspect.signature(thing).parameters:
        thing = thing()
    return hasattr(thing, "respond")


def own_learner(thing: Any, field: str = "arms") -> ArenaLearner:
    """Return the entry of a user's learner, which plays every problem of a field.

    Raises:
        ValueError: an argument that is neither information about a problem nor has a default, or an object that is not a learner.
    """
    families, names = FIELDS[field].families, [*parts(FIELDS[field].known), "scale"]
    if not callable(thing):
        check_learner(thing)
        fresh = not tags_of(thing).fixed_arms
        return ArenaLearner(
            lambda known, scale: thing, families, fresh=fresh, scaled=False, own=True
        )
    arguments = inspect.signature(thing).parameters
    for name, argument in arguments.items():
        if argument.default is argument.empty and name not in names:
            raise ValueError(
                f"the argument {name!r} of {thing.__name__} must have a default, because the arena gives only {', '.join(names)}"
            )

    def build(known: Any, scale: float | None) -> Any:
        given = {name: getattr(known, name) for name in arguments if hasattr(known, name)}
        if "scale" in arguments and scale is not None:
            given["scale"] = scale
        learner = thing(**given)
        check_learner(learner)
        return learner

    fresh = not getattr(getattr(thing, "tags", None), "fixed_arms", False)
    return ArenaLearner(build, families, fresh=fresh, scaled="scale" in arguments, own=True)


def choose(
    field: str,
    problems: Sequence[str] = (),
    learners: Sequence[str] = (),
    extra: Sequence[str] = (),
    *,
    peers: bool = False,
) -> tuple[dict[str, ArenaProblem], dict[str, ArenaLearner]]:
    """Return the problems and learners with these names, and those of the user.

    Args:
        field: "arms" or "continuous".
        problems, learners: names; empty for all. Uniform play is always among the learners.
        extra: learners and problems of the user, see ``load``.
        peers: with the learners of other libraries; a message names each library that is not installed.

    Raises:
        ValueError: an unknown name, or a user's name that the arena has.
    """
    known = FIELDS[field]
    named = pick(problems, known.problems, "problems")
    places = {name: build() for name, build in named.items()}
    entries = dict(known.learners)
    if peers:
        found, missing = installed_peers(known.peers)
        entries |= found
        for message in missing:
            print(message)
    entries = pick(learners and [*learners, UNIFORM], entries, "learners")
    own = dict(map(load, extra))
    own_places = {name: known.own_problem(x) for name, x in own.items() if is_problem(x)}
    own_entries = {name: own_learner(x, field) for name, x in own.items() if name not in own_places}
    if taken := (places.keys() & own_places.keys()) | (entries.keys() & own_entries.keys()):
        raise ValueError(
            f"extra must contain names that the arena does not have, got {min(taken)!r}"
        )
    return places | own_places, entries | own_entries


def pick(names: Sequence[str], known: Mapping[str, Any], what: str) -> dict[str, Any]:
    """Return the entries with these names, or all entries if there are no names.

    Raises:
        ValueError: an unknown name.
    """
    if unknown := [name for name in names if name not in known]:
        raise ValueError(
            f"{what} must contain names from {', '.join(map(repr, known))}, got {unknown[0]!r}"
        )
    return {name: known[name] for name in known if name in names or not names}
