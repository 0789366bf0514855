"""Files that are moved into place whole, and one npz format without pickle: a head of plain values and arrays by name.

``CHECKOUT`` is the folder of the checkout.
"""

import errno
import glob
import hashlib
import io
import json
import os
import secrets
import tempfile
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

CHECKOUT = Path(__file__).resolve().parents[2]
LEAST = 2**18  # bytes that a folder must take before a run begins
OLD = 24 * 3600  # seconds after which nobody writes on a temporary file any more


def write_atomically(path: str | os.PathLike, write: Callable[[Any], None]) -> None:
    """Let ``write`` fill a binary file under a temporary name, then move it to ``path``.

    What killed processes have left under such names for this path is deleted once it is a day old.

    Raises:
        OSError: a full disk, a read-only folder and the like; it names ``path``.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(
            errno.EISDIR, "path must be the name of a file, got a folder", str(path)
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    # a random name, because two machines that share a folder may write the file at once
    partial = path.with_name(f".{path.name}.{secrets.token_hex(8)}.partial")
    try:
        with open(partial, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except OSError as error:  # of a write it names no file, else the temporary one
        why = error.strerror or str(error)
        raise OSError(error.errno or errno.EIO, why, str(path)) from error
    finally:
        with suppress(OSError):  # where the folder cannot be written
            partial.unlink(missing_ok=True)
    for other in path.parent.glob(f".{glob.escape(path.name)}.*.partial"):
        with suppress(OSError):  # another process was faster
            if time.time() - other.stat().st_mtime > OLD:
                other.unlink()


def check_writable(folder: str | os.PathLike, path: str | os.PathLike | None = None) -> None:
    """Write a small file to a folder, which is made if it is missing, before what belongs there is computed.

    Raises:
        OSError: the folder is read-only, or the disk is full; the error names ``path`` if it is given, else the folder.
    """
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(LEAST))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        named, why = str(folder if path is None else path), error.strerror or str(error)
        raise OSError(error.errno or errno.EIO, why, named) from error


def write_npz(path: str | os.PathLike, head: dict, arrays: dict[str, np.ndarray]) -> None:
    """Write plain values as JSON and arrays by name; the file appears whole or not at all."""
    words = np.array(json.dumps({**head, "checksum": checksum(head, arrays)}))
    write_atomically(path, lambda file: np.savez(file, head=words, **arrays))


def parse_npz(raw: bytes) -> tuple[dict, dict[str, np.ndarray]]:
    """Return head and arrays from the bytes that ``write_npz`` wrote.

    Raises:
        Exception: what zipfile, numpy and json raise for text, truncated files and flipped bits; a ValueError for a value other than the one that
            was written. Older files have no checksum and are not compared.
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
    """Return the checksum of names, kinds, shapes and values, in hexadecimal."""
    plain = json.loads(json.dumps({name: x for name, x in head.items() if name != "checksum"}))
    digest = hashlib.sha256(json.dumps(plain, sort_keys=True).encode())
    for name, x in sorted(arrays.items()):
        digest.update(f"{name} {x.dtype} {x.shape} ".encode() + np.ascontiguousarray(x).tobytes())
    return digest.hexdigest()
