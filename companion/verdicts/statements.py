"""The statements of a paper: found in the theory of the library and the proofs of the companion."""

from importlib import import_module

from paperlib.checks import Statement

from ..workflow.plan import stated


def statements(paper: str) -> list[Statement]:
    """Every statement that a function of a paper's ``theory`` or ``proofs`` computes, in the order of the files."""
    modules = [import_module(name) for name in stated(paper)]
    return [
        value.statement
        for module in modules
        for value in vars(module).values()
        if isinstance(getattr(value, "statement", None), Statement)
        and value.__module__ == module.__name__
    ]
