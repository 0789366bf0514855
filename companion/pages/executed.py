"""Executed notebooks as the site shows them: no picture twice, nothing that differs from machine to machine."""

import base64
import hashlib
from pathlib import Path

from ..output import folder

KEEP = (
    "text/html",
    "text/markdown",
    "text/latex",
    "text/plain",
)  # of an output, the first that there is


def pictures(profile: str) -> dict[str, Path]:
    """The PNG files of a profile's saved figures by their SHA-256."""
    found = sorted(folder(profile).glob("*/*.png"))
    return {hashlib.sha256(path.read_bytes()).hexdigest(): path for path in found}


def published(executed, known: dict[str, tuple[str, str]]):
    """What the site and the repository keep of a papermill copy.

    Args:
        executed: an nbformat node, which is not changed.
        known: address and alternative text of saved figures by the SHA-256 of their PNG: an output that shows one becomes a link to it.

    Returns:
        A notebook with the cell of injected parameters, code, text and outputs; execution counts from 1. Its metadata
        say when it ``ran`` to its end (UTC), "" if papermill did not run it.
    """
    import nbformat

    metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
        "ran": executed.metadata.get("papermill", {}).get("end_time") or "",
    }
    result, count = nbformat.v4.new_notebook(metadata=metadata), 0
    for i, cell in enumerate(executed.cells):
        tags = [tag for tag in cell.metadata.get("tags", []) if tag != "papermill-error-cell-tag"]
        kept = {
            "cell_type": cell.cell_type,
            "id": cell.get("id", f"cell-{i}"),
            "metadata": {"tags": tags} if tags else {},
            "source": cell.source.replace("](../docs/", "](../"),
        }
        if cell.cell_type == "code":
            count += 1
            kept["execution_count"] = count
            outputs = (_output(output, known, count) for output in cell.outputs)
            kept["outputs"] = [output for output in outputs if output]
        result.cells.append(nbformat.from_dict(kept))
    return result


def _output(output, known: dict[str, tuple[str, str]], count: int) -> dict | None:
    if output.get("name") == "stdout":
        return {"output_type": "stream", "name": "stdout", "text": output.text}
    data = output.get("data", {})  # what is written to stderr, and an error, have none
    if png := data.get("image/png"):
        found = known.get(hashlib.sha256(base64.b64decode(png)).hexdigest())
        data = {"text/markdown": f"![{found[1]}]({found[0]})"} if found else {}
    data = {kind: data[kind] for kind in KEEP if kind in data}
    if not data:
        return None
    kept = {"output_type": output.output_type, "data": data, "metadata": {}}
    return kept | ({"execution_count": count} if output.output_type == "execute_result" else {})
