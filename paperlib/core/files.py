"""Atomic file writes, and an npz format without pickle: a head of plain values, and arrays by name.

``CHECKOUT`` is the root folder of the repository.
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
LEAST = 2**18  # bytes that must be writable to a folder before a run starts
OLD = 24 * 3600  # age in seconds of a temporary file that is regarded as abandoned


def write_atomically(path: str | os.PathLike, write: Callable[[Any], None]) -> None:
    """Let ``write`` fill a binary file under a temporary name, then move it to ``path``.

    Temporary files that killed processes left for this path are deleted once they are a day old.

    Raises:
        OSError: for example a full disk or a read-only folder; the error names ``path``.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(
            errno.EISDIR, "path must be the name of a file, got a folder", str(path)
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    # The name is random, because two machines that share a folder may write the file simultaneously.
    partial = path.with_name(f".{path.name}.{secrets.token_hex(8)}.partial")
    try:
        with open(partial, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    # The original error names the temporary file, or no file if it occurred in a write.
    except OSError as error:
        why = error.strerror or str(error)
        raise OSError(error.errno or errno.EIO, why, str(path)) from error
    finally:
        with suppress(OSError):  # the folder may be read-only
            partial.unlink(missing_ok=True)
    for other in path.parent.glob(f".{glob.escape(path.name)}.*.partial"):
        with suppress(OSError):  # another process may have deleted it already
            if time.time() - other.stat().st_mtime > OLD:
                other.unlink()


def check_writable(folder: str | os.PathLike, path: str | os.PathLike | None = None) -> None:
    """Check that a folder is writable before a long computation, by writing a small file to it.

    The folder is created if it does not exist.

    Raises:
        OSError: the folder is read-only, or the disk is full. The error names ``path`` if it is given, else the folder.
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
    """Write plain values as JSON and arrays by name, in one atomic step."""
    words = np.array(json.dumps({**head, "checksum": checksum(head, arrays)}))
    write_atomically(path, lambda file: np.savez(file, head=words, **arrays))


def parse_npz(raw: bytes) -> tuple[dict, dict[str, np.ndarray]]:
    """Return head and arrays from the bytes that ``write_npz`` wrote.

    Raises:
        Exception: the errors of zipfile, numpy and json for text, truncated files and flipped bits; a ValueError for contents that differ
            from the checksum. Older files have no checksum and are not compared.
    """
    with zipfile.ZipFile(io.BytesIO(raw)) as parts:
        torn = (
            parts.testzip()
        )  # with a wrong header, numpy would stop before it verifies the checksum
        if torn is not None:
            raise ValueError(f"the entry {torn} is damaged")
    with np.load(io.BytesIO(raw), allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    head = dict(json.loads(str(arrays.pop("head"))))
    if "checksum" in head and head["checksum"] != checksum(head, arrays):
        raise ValueError("the stored checksum differs from the checksum of the contents")
    return head, arrays


def checksum(head: dict, arrays: dict[str, np.ndarray]) -> str:
    """Return the SHA-256 checksum of names, dtypes, shapes and values, in hexadecimal."""
    plain = json.loads(json.dumps({name: x for name, x in head.items() if name != "checksum"}))
    digest = hashlib.sha256(json.dumps(plain, sort_keys=True).encode())
    for name, x in sorted(arrays.items()):
        digest.update(f"{name} {x.dtype} {x.shape} ".encode() + np.ascontiguousarray(x).tobytes())
    return digest.hexdigest()
