"""Canonical form of the committed notebooks, with the outputs of the quick profile.

``python -m companion.workflow.canonical NOTEBOOK ...`` writes the outputs of the executed copies back into
the notebooks; ``python3 run.py figures --commit-notebooks`` calls it after a run.
"""

import sys

import nbformat

from paperlib.core.files import write_atomically

from .declared import differences, notebook_path, profile_values
from .plan import profile_results

ADDED = {"injected-parameters", "papermill-error-cell-tag"}  # tags of cells that papermill adds
FOLDED = {"jupyter": {"source_hidden": True}}  # metadata of a cell that JupyterLab shows folded
METADATA = {
    "kernelspec": {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    },
    "language_info": {"name": "python"},
}


def canonical(source, executed):
    """Return `source` with the outputs of `executed`, without anything that differs between machines.

    Args:
        source: the notebook as committed (an nbformat node, unchanged).
        executed: papermill's copy of it.

    Returns:
        A notebook with execution counts 1..n, kernelspec ``python3``, tags as its only cell
        metadata (a cell of more parameters is folded, too), stable cell ids, and no injected cell, stderr, widget state or output without content.

    Raises:
        ValueError: the code cells differ, or an output is an error.
    """
    cells = [c for c in executed.cells if c.cell_type == "code"]
    ran = [c for c in cells if not ADDED & set(c.metadata.get("tags", []))]
    if [c.source for c in ran] != [c.source for c in source.cells if c.cell_type == "code"]:
        raise ValueError(
            "the executed copy must have the same code cells as the notebook. Run the notebook again"
        )
    made, count = [], 0
    for i, cell in enumerate(source.cells):
        tags = cell.metadata.get("tags", [])
        new = {
            "cell_type": cell.cell_type,
            "id": cell.get("id", f"cell-{i}"),
            "metadata": ({"tags": tags} if tags else {})
            | (FOLDED if "more-parameters" in tags else {}),
            "source": cell.source,
        }
        if cell.cell_type == "code":
            count += 1
            outputs = _canonical_outputs(ran[count - 1].outputs, count)
            new |= {"execution_count": count, "outputs": outputs}
        made.append(new)
    whole = {"nbformat": 4, "nbformat_minor": 5, "metadata": METADATA, "cells": made}
    return nbformat.from_dict(whole)


def _canonical_outputs(outputs: list, count: int) -> list:
    """Return the outputs of code cell ``count`` that are committed; text that the kernel sent in several pieces is joined."""
    kept = []
    for output in (found.copy() for found in outputs if found.get("name") != "stderr"):
        if output.output_type == "error":
            raise ValueError(
                f"code cell {count} raised {output.ename}: {output.evalue}. A notebook with an error is not written back"
            )
        if "execution_count" in output:
            output.execution_count = count
        if "data" in output:
            output.data = {k: v for k, v in output.data.items() if "jupyter.widget" not in k}
        # The kernel splits printed text differently in each run, therefore pieces are joined.
        if output.output_type == "stream" and kept and kept[-1].output_type == "stream":
            kept[-1].text += output.text
        # An output without content is left over from a progress line.
        elif output.get("data") != {}:
            kept.append(output)
    return kept


def commit(stem: str) -> None:
    """Write the outputs of the quick profile's executed copy into the notebook itself.

    Raises:
        ValueError: the notebook's parameters differ from those in git, so its outputs are of a custom run.
    """
    path = notebook_path(stem)
    if apart := differences(stem, "quick", profile_values(stem, "quick")):
        raise ValueError(
            f"{stem}: {apart}. `git add` the notebook to declare these values, and run it again"
        )
    source = nbformat.reads(path.read_text(), as_version=4)
    new = canonical(source, nbformat.read(profile_results("quick") / path.name, as_version=4))
    nbformat.validate(new)
    write_atomically(path, lambda file: file.write(f"{nbformat.writes(new)}\n".encode()))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        try:
            commit(name)
        except ValueError as error:
            sys.exit(f"Not written back: {error}")
