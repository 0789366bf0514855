"""One npz without pickle: a head of plain values and arrays by name, written whole, and read whole or not at all."""

import hashlib
import io
import json
import os
import zipfile

import numpy as np

from .files import write_atomically


def write(path: str | os.PathLike, head: dict, arrays: dict[str, np.ndarray]) -> None:
    """Plain values as JSON, arrays by name; the file appears whole or not at all."""
    words = np.array(json.dumps({**head, "checksum": checksum(head, arrays)}))
    write_atomically(path, lambda file: np.savez(file, head=words, **arrays))


def parse(raw: bytes) -> tuple[dict, dict[str, np.ndarray]]:
    """Head and arrays of the bytes that ``write`` wrote.

    Raises:
        Exception: what zipfile, numpy and json make of text, halves and turned bits; a ValueError where a value is not the one that was
            written. Older files have no checksum and are taken at their word.
    """
    with zipfile.ZipFile(io.BytesIO(raw)) as parts:
        torn = parts.testzip()  # numpy stops before the checksum if a header lies
        if torn is not None:
            raise ValueError(f"{torn} is damaged")
    with np.load(io.BytesIO(raw), allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    head = dict(json.loads(str(arrays.pop("head"))))
    if "checksum" in head and head["checksum"] != checksum(head, arrays):
        raise ValueError("its checksum is that of other contents")
    return head, arrays


def checksum(head: dict, arrays: dict[str, np.ndarray]) -> str:
    """Of names, kinds, shapes and values, in hexadecimal."""
    plain = json.loads(json.dumps({name: x for name, x in head.items() if name != "checksum"}))
    digest = hashlib.sha256(json.dumps(plain, sort_keys=True).encode())
    for name, x in sorted(arrays.items()):
        digest.update(f"{name} {x.dtype} {x.shape} ".encode() + np.ascontiguousarray(x).tobytes())
    return digest.hexdigest()
