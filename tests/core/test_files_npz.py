"""The npz format with a head: it is read as a whole and verified by its checksum."""

import json

import numpy as np
import pytest

from paperlib.core.files import parse_npz, write_npz

HEAD = {"t": 3, "plain": {"state.note": "kept"}, "x": [1, [2.5, None]]}
ARRAYS = {"b": np.arange(6.0).reshape(2, 3), "a": np.array([True, False])}


def parsed(path):
    return parse_npz(path.read_bytes())


def test_written_values_are_read_back(tmp_path):
    write_npz(tmp_path / "x.npz", HEAD, ARRAYS)
    head, arrays = parsed(tmp_path / "x.npz")
    assert {name: head[name] for name in HEAD} == HEAD and arrays.keys() == ARRAYS.keys()
    assert all(np.array_equal(arrays[name], x) for name, x in ARRAYS.items())


@pytest.mark.parametrize(
    "change",
    [
        lambda head, arrays: head.update(t=4),
        lambda head, arrays: head["plain"].update(more=1),
        lambda head, arrays: arrays.pop("a"),
        lambda head, arrays: arrays.update(c=np.ones(1)),
        lambda head, arrays: arrays.update(b=arrays["b"].astype(np.float32)),
        lambda head, arrays: arrays.update(b=arrays["b"].reshape(3, 2)),
        lambda head, arrays: arrays.update(a=arrays["b"], b=arrays["a"]),
        lambda head, arrays: arrays["b"].fill(0),
    ],
    ids=["head", "more in it", "fewer", "more", "kind", "shape", "names", "values"],
)
def test_later_changes_are_detected(change, tmp_path):
    write_npz(tmp_path / "x.npz", HEAD, ARRAYS)
    head, arrays = parsed(tmp_path / "x.npz")
    change(head, arrays)
    np.savez(tmp_path / "x.npz", head=np.array(json.dumps(head)), **arrays)
    with pytest.raises(ValueError, match="checksum"):
        parsed(tmp_path / "x.npz")


def test_a_file_without_checksums_is_accepted(tmp_path):
    np.savez(tmp_path / "x.npz", head=np.array(json.dumps(HEAD)), **ARRAYS)
    head, arrays = parsed(tmp_path / "x.npz")
    assert head == HEAD and arrays.keys() == ARRAYS.keys()


@pytest.mark.parametrize("raw", [b"", b"hello", b"PK\x03\x04"])
def test_files_that_are_no_npz_raise_an_error(raw):
    with pytest.raises(Exception, match="."):
        parse_npz(raw)
