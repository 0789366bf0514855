"""Problems and learners of one run of the arena, among them those of a user, named ``file.py:Name``.

A user's learner or problem is a class, a function that returns it, or an object. A class or function of a learner is called with those
parts of the information about a problem that its arguments name, for example ``noise`` and ``norm_bound``. If one of its arguments is
``scale``, the learner takes part in the tuning.
"""

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from paperlib.core.contracts import check_kind, check_learner, tags_of
from paperlib.core.streams import Streams
from paperlib.glbomd.model.links import Bernoulli, Gaussian, Link, Poisson
from paperlib.maths.gp import Linear

from .arms import FAMILIES, LEARNERS, PROBLEMS, TABLES, ArmsProblem, Known
from .field import UNIFORM, ArenaLearner

OWN = "your problems"  # group of the problems of a user
PARTS = [name for name in (*Known.__annotations__, *vars(Known), "scale") if name[0] != "_"]


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


def own_learner(thing: Any) -> ArenaLearner:
    """Return the entry of a user's learner, which plays every problem with arms.

    Raises:
        ValueError: an argument without a default that is not a part of the information, or an object that is not a learner.
    """
    if not callable(thing):
        check_learner(thing)
        fresh = not tags_of(thing).fixed_arms
        return ArenaLearner(lambda known, scale: thing, FAMILIES, fresh=fresh, scaled=False)
    arguments = inspect.signature(thing).parameters
    for name, argument in arguments.items():
        if argument.default is argument.empty and name not in PARTS:
            raise ValueError(
                f"the argument {name!r} of {thing.__name__} must have a default, because the arena gives only {', '.join(PARTS)}"
            )

    def build(known: Any, scale: float | None) -> Any:
        given = {name: getattr(known, name) for name in arguments if hasattr(known, name)}
        if "scale" in arguments and scale is not None:
            given["scale"] = scale
        learner = thing(**given)
        check_learner(learner)
        return learner

    fresh = not getattr(getattr(thing, "tags", None), "fixed_arms", False)
    return ArenaLearner(build, FAMILIES, fresh=fresh, scaled="scale" in arguments)


def own_problem(thing: Any) -> ArmsProblem:
    """Return the entry of a user's problem.

    Its attributes, if it has them, are the information: ``link``, ``noise``, ``norm_bound`` or ``norm``, and ``kernel``. Without a link
    the rewards are Gaussian with standard deviation ``noise``, by default 1. The arms are fixed if the first two rounds have the same.
    """
    problem = thing() if callable(thing) else thing
    check_kind("problem", problem)
    link: Link = getattr(problem, "link", None) or Gaussian(getattr(problem, "noise", 1.0) ** 2)
    norm = getattr(problem, "norm_bound", getattr(problem, "norm", 1.0))
    kernel = getattr(problem, "kernel", None)
    family = {Bernoulli: "logistic", Poisson: "Poisson"}.get(type(link), "linear")
    draw = Streams(0, range(1)).at(-1)
    instance = problem.init(1, 2, draw, dtype=torch.float64)
    fixed = torch.equal(problem.context(instance, 0), problem.context(instance, 1))
    family = "smooth" if kernel is not None else family
    return ArmsProblem(problem, family, OWN, link, norm, kernel or Linear(), fixed)


def sort_own(places: list[str]) -> tuple[dict[str, ArmsProblem], dict[str, ArenaLearner]]:
    """Return the problems and the learners among a user's ``places``, by name."""
    found: dict[str, Any] = dict(map(load, places))
    make: Callable[[bool, Callable], dict] = lambda wanted, entry: {
        name: entry(thing) for name, thing in found.items() if is_problem(thing) == wanted
    }
    return make(True, own_problem), make(False, own_learner)


def choose(
    problems: Sequence[str], learners: Sequence[str], tables: Sequence[str], extra: list[str]
) -> tuple[dict[str, ArmsProblem], dict[str, ArenaLearner]]:
    """Return the problems and learners with these names, and those of the user.

    Args:
        problems, learners: names; empty for all. Uniform play is always among the learners.
        tables: names of the tables of real data to keep.
        extra: learners and problems of the user, see ``load``.
    """
    named = pick(problems, PROBLEMS, "problems")
    places = {
        name: build() for name, build in named.items() if name not in TABLES or name in tables
    }
    own_problems, own_learners = sort_own(extra)
    entries = pick(learners and [*learners, UNIFORM], LEARNERS, "learners")
    if taken := (places.keys() & own_problems.keys()) | (entries.keys() & own_learners.keys()):
        raise ValueError(
            f"extra must contain names that the arena does not have, got {min(taken)!r}"
        )
    return places | own_problems, entries | own_learners


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
