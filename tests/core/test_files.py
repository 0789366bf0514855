"""Tests of atomic file writes."""

import errno
import os
import subprocess
import sys
import time

import pytest

from paperlib.core import files
from paperlib.core.files import write_atomically


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "new" / "a.json"
    write_atomically(path, lambda file: file.write(b"first"))
    assert path.read_bytes() == b"first" and names(path.parent) == ["a.json"]

    def half(file):
        file.write(b"sec")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, half)
    assert path.read_bytes() == b"first" and names(path.parent) == ["a.json"]


def test_an_error_names_the_file_that_was_to_be_written(tmp_path):
    """The original error of a write on a full disk has no file name, and the error of a move onto a folder has the temporary one."""

    def full(file):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path, folder = tmp_path / "a", tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(OSError, match=f"No space left on device: '{path}'"):
        write_atomically(path, full)
    with pytest.raises(IsADirectoryError) as error:
        write_atomically(folder, lambda file: file.write(b"x"))
    assert error.value.filename == str(folder) and names(tmp_path) == ["folder"]


def test_two_writers_of_one_file_are_apart(tmp_path):
    path = tmp_path / "a"

    def while_another_writes(file):
        file.write(b"mine")
        write_atomically(path, lambda other: other.write(b"theirs"))
        assert path.read_bytes() == b"theirs"

    write_atomically(path, while_another_writes)
    assert path.read_bytes() == b"mine" and names(tmp_path) == ["a"]


def test_partial_files_of_killed_writers_are_removed_after_a_day(tmp_path):
    code = f"""
import os, signal
from paperlib.core.files import write_atomically
write_atomically({str(tmp_path / "a")!r}, lambda file: os.kill(os.getpid(), signal.SIGKILL))"""
    for _ in range(2):
        subprocess.run([sys.executable, "-c", code])
    old, young = tmp_path.iterdir()
    other = tmp_path / ".b.0f.partial"
    other.touch()
    for path in (old, other):
        os.utime(path, (0, time.time() - 2 * files.OLD))
    write_atomically(tmp_path / "a", lambda file: None)
    assert young.suffix == ".partial" and names(tmp_path) == sorted([young.name, other.name, "a"])
