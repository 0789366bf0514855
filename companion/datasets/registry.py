"""Public data sets: their origin, their checksums, and how they are read.

A file is searched in the folder that the environment variable PAPERLIB_DATA names, then in the user's cache. Only if it is
in neither is it downloaded into the cache. In either folder it may be plain or end in .gz; the SHA-256 in
data/registry.toml is the hash of the plain content. A file with other content is rejected by name: it is neither used nor
replaced. ``python -m companion.datasets [names]`` shows and fetches data sets.
"""

import errno
import functools
import gzip
import hashlib
import os
import tarfile
import tomllib
import warnings
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import requests

# pooch imports tqdm, which warns in notebooks that ipywidgets is missing.
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pooch

from paperlib.core.files import check_writable

from .covertype import FOLDER, build_table, differences, read_table
from .tables import STEPS, Prices, Table, parse

DERIVED = "covertype_arms"  # name of the shipped table on the command line
RETRIES, TIMEOUT = 2, (5, 60)  # retries of a failed download; seconds to connect, and without data
# Errors of the network are OSErrors too, but do not mean that a folder of this machine cannot be
# written.
NETWORK = (requests.RequestException, ConnectionError, TimeoutError)


@dataclass(frozen=True)
class Dataset:
    """Entry of the registry; ``rows`` and ``columns`` count the file's rows and columns without a header line."""

    file: str  # name of the plain file
    sha256: str  # of the plain content
    bytes: int  # size of the plain content
    rows: int
    columns: int
    get: str  # instructions for obtaining the file by hand
    source: str
    license: str
    cite: str
    # Addresses of the file, plain or gzipped, that need no account, in order of preference.
    urls: tuple[str, ...] = ()
    member: str = ""  # path inside the archive, if the addresses serve an archive
    derive: str = ""  # step in ``tables.STEPS`` that makes the file from the download
    download: int = 0  # most bytes that an address may send; 0: as many as the file has


REGISTRY = {
    name: Dataset(**entry | {"urls": tuple(entry["urls"])})
    for name, entry in tomllib.loads((FOLDER / "registry.toml").read_text()).items()
}


def _entry(name: str) -> Dataset:
    if not isinstance(name, str) or name not in REGISTRY:
        raise ValueError(f"name must be one of {', '.join(map(repr, REGISTRY))}, got {name!r}")
    return REGISTRY[name]


def checksum(name: str) -> str:
    """Return the SHA-256 (64 hexadecimal digits) of a data set's plain content, stored as the provenance of a figure."""
    return _entry(name).sha256


def cache_folder() -> Path:
    """Return the folder of downloads: the operating system's cache folder for the user, outside the repository."""
    return Path(pooch.os_cache("paperlib"))


def _folders() -> list[Path]:
    """Return the folder PAPERLIB_DATA, if it is set, then the cache."""
    own = os.environ.get("PAPERLIB_DATA", "")
    if own and not Path(own).is_dir():
        raise ValueError(f"PAPERLIB_DATA must be an existing folder, got {own!r}")
    return ([Path(own)] if own else []) + [cache_folder()]


def _open(path: Path):
    """Open the plain content as a binary stream; the first bytes, not the name, decide whether it is compressed."""
    with path.open("rb") as file:
        gzipped = file.read(2) == b"\x1f\x8b"
    return gzip.open(path) if gzipped else path.open("rb")


@functools.lru_cache(maxsize=64)
def _digest(path: Path, *stamp: int) -> str:
    """Return the SHA-256 of the plain content.

    `stamp` (size, times, inode) is part of the key of the cache, so that a changed file is read again.
    """
    try:
        with _open(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        return f"none, its compression is damaged ({error})"


def _verify(name: str, path: Path) -> Path:
    stat = path.stat()
    found = _digest(path, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)
    if found != _entry(name).sha256:
        raise ValueError(
            f"{path} is not the file of data set {name!r} and is ignored: its SHA-256 must be "
            f"{_entry(name).sha256}, got {found}. Remove or replace it. How to get it: {_entry(name).get}"
        )
    return path


def find(name: str) -> Path | None:
    """Return the path of a verified local file, plain or .gz, or None; never use the network.

    Args:
        name: a key of ``REGISTRY``.

    Raises:
        ValueError: unknown name, PAPERLIB_DATA is not a folder, or the first file found has other content.
    """
    file = _entry(name).file
    places = (folder / candidate for folder in _folders() for candidate in (file, f"{file}.gz"))
    return next((_verify(name, path) for path in places if path.is_file()), None)


def available(name: str) -> bool:
    """Return whether ``load`` works without the network. Like ``find``, raise an error if a file has other content."""
    return find(name) is not None


def _copy(chunks: Iterable[bytes], target: BinaryIO, most: int, what: str) -> None:
    """Write at most ``most`` bytes; a longer source is rejected."""
    for chunk in chunks:
        most -= len(chunk)
        if most < 0:
            raise ValueError(f"{what} is longer than its size in the registry")
        target.write(chunk)


def _chunks(file: BinaryIO) -> Iterable[bytes]:
    return iter(functools.partial(file.read, 1 << 20), b"")


def _receive(url: str, part: Path, most: int) -> None:
    """Download to a file; stop with an error after more than ``most`` bytes."""
    with requests.get(url, stream=True, timeout=TIMEOUT) as answer, part.open("wb") as file:
        answer.raise_for_status()
        _copy(answer.iter_content(1 << 16), file, most, url)


def _download(entry: Dataset, url: str, output: str, pup: pooch.Pooch) -> None:
    """Write the plain content of an entry to ``output``, so that pooch compares the checksum of the content."""
    part = Path(f"{output}.part")
    try:
        _receive(url, part, entry.download or entry.bytes)
        with _open(part) as content, open(output, "wb") as plain:
            if entry.derive:
                plain.write(STEPS[entry.derive](content))
            elif entry.member:
                with tarfile.open(fileobj=content) as archive:
                    member = archive.extractfile(entry.member)
                    if member is None:
                        raise ValueError(f"the archive member {entry.member} must be a file")
                    _copy(_chunks(member), plain, entry.bytes, entry.member)
            else:
                _copy(_chunks(content), plain, entry.bytes, "the content")
    except (EOFError, zlib.error, gzip.BadGzipFile, tarfile.TarError, KeyError) as error:
        # Raised as a ValueError, because pooch retries after it.
        raise ValueError(f"the archive {url} is damaged ({error})") from error
    finally:
        part.unlink(missing_ok=True)


def _advice(name: str, failures: list[Exception]) -> str:
    """Return the reason of the failure, how to obtain the file by hand, and where to put it.

    The second line is complete by itself.
    """
    entry = _entry(name)
    missing = (
        "could not be downloaded."
        if failures
        else "has no public address that answers without an account."
    )
    lines = [
        f"data set {name!r}: {entry.file} {missing}",
        f"How to get it: {entry.get}.",
        f"Put it, plain or as {entry.file}.gz, into the folder that PAPERLIB_DATA names, or into {cache_folder()}; SHA-256 of the plain content: {entry.sha256}.",
    ]
    return "\n".join(lines + [f"Tried {url}: {error}" for url, error in zip(entry.urls, failures)])


def fetch(name: str) -> Path:
    """Return the path of a verified file, from PAPERLIB_DATA, otherwise the cache, otherwise downloaded.

    A download goes to a temporary file in the cache, is checked, and is moved into place. An interrupted or wrong download
    leaves no file behind. Each address of the registry is tried three times. It is first checked that the cache can be
    written, so that an unwritable folder does not look like a failed download.

    Args:
        name: a key of ``REGISTRY``.

    Returns:
        Path of the file, plain or .gz.

    Raises:
        ValueError: as ``find``, or every address that answered sent other content.
        FileNotFoundError: no copy was found; the message explains how to obtain the file and where to put it.
        OSError: the cache cannot be written, or its disk is full; the message names the folder.
    """
    if path := find(name):
        return path
    entry, failures = _entry(name), []
    # The notes of pooch would write paths of this machine into notebooks.
    pooch.get_logger().setLevel("WARNING")
    for url in entry.urls:
        try:
            check_writable(cache_folder())
            pup = pooch.create(
                cache_folder(),
                "",
                registry={entry.file: f"sha256:{entry.sha256}"},
                urls={entry.file: url},
                retry_if_failed=RETRIES,
            )
            return Path(pup.fetch(entry.file, downloader=functools.partial(_download, entry)))
        except (ValueError, OSError) as error:
            if isinstance(error, OSError) and not isinstance(error, NETWORK):
                # The error names the folder, so that it is not mistaken for a missing file.
                why = f"the cache of data sets cannot be written ({error.strerror or error})"
                raise OSError(error.errno or errno.EIO, why, str(cache_folder())) from error
            failures.append(error)
    # Errors of requests are OSErrors, and some of them are ValueErrors too. A ValueError that is
    # not an OSError means wrong content.
    wrong = [error for error in failures if not isinstance(error, OSError)]
    kind = ValueError if wrong else FileNotFoundError
    raise kind(_advice(name, failures)) from (failures or [None])[-1]


def load(name: str) -> Table | Prices:
    """Return a data set as NumPy arrays, rows in file order: ``Prices`` for the two stock tables, otherwise ``Table``.

    No value is filled in, scaled or dropped, except identifiers; see ``tables.parse``.

    Raises:
        ValueError, FileNotFoundError: as ``fetch``; ValueError also if rows or columns differ from the registry's.
    """
    entry = _entry(name)
    with _open(fetch(name)) as file:
        return parse(name, file, (entry.rows, entry.columns))


def load_covertype():
    """Load all of Covertype.

    Returns:
        features, N x 54 int16: ten quantitative columns, then 4 wilderness areas and 40 soil types one-hot;
        cover type, N int64 in 1..7. N = 581,012; the file is not in random order.
    """
    features, target, _ = load("covertype")
    return features, target


def _rebuild() -> tuple[bool, str]:
    """Derive the shipped table again from all rows; return whether it can be trusted, and a line with the reason."""
    import sklearn

    shipped, note = read_table()
    unequal = differences(build_table(*load_covertype()), shipped)
    if not unequal:
        return True, f"equal, rebuilt from all {note['rows']:,} rows"
    versions = f"made with scikit-learn {note['scikit-learn']}, rebuilt with {sklearn.__version__}"
    # Another version of K-means may give other clusters; the same version must give the same.
    may_differ = note["scikit-learn"] != sklearn.__version__
    return may_differ, f"rebuilt table differs in {', '.join(unequal)} ({versions})"


def main(names: list[str]) -> int:
    """Fetch `names`, or all data sets, and rebuild the derived table; print one line for each.

    Returns:
        Exit status: 1 if a file or the table differs, the cache cannot be written, or a data set requested by name is
        missing; otherwise 0.
    """
    status, down = 0, set()
    for name in names or [*REGISTRY, DERIVED]:
        hosts = {url.split("/")[2] for url in REGISTRY[name].urls} if name in REGISTRY else set()
        try:
            if name == DERIVED and not names and not available("covertype"):
                line = "shipped, not rebuilt: covertype is missing"
            elif name == DERIVED:
                good, line = _rebuild()
                status |= not good
            elif hosts and hosts <= down and not available(name):
                line = f"missing: {', '.join(sorted(hosts))} cannot be reached. How to get it: {REGISTRY[name].get}."
                status |= bool(names)
            else:
                line = f"sha256 ok  {fetch(name)}"
        except FileNotFoundError as error:
            line = "missing: " + (str(error) if names else str(error).splitlines()[1])
            status |= bool(names)
            if isinstance(error.__cause__, (requests.ConnectionError, requests.Timeout)):
                down |= hosts  # these hosts are not contacted again in this run
        except ValueError as error:
            line, status = f"refused: {error}", 1
        except OSError as error:
            line, status = f"not fetched: {error}", 1
        print(f"{name:24} {line}", flush=True)
    return int(status)
