"""Tests of objects stored in files: their arrays keep dtype, order and content, and damage is noticed."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from nlptx.cluster.stored import Stored
from nlptx.errors import CorruptError

VALUE = {
    "rows": sp.random(50, 70, 0.1, "csr", np.float32, random_state=0),
    "columns first": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "every other": np.arange(9)[::2],
    "empty": np.empty((0, 3)),
    "objects": np.array(["one", None], object),
    "text": ["a", "b" * 1000],
}


def assert_equal(actual):
    assert actual.keys() == VALUE.keys()
    assert (actual["rows"] != VALUE["rows"]).nnz == 0
    assert actual["rows"].dtype == np.float32
    assert actual["text"] == VALUE["text"]
    for name in ("columns first", "every other", "empty", "objects"):
        assert np.array_equal(actual[name], VALUE[name])
        assert actual[name].dtype == VALUE[name].dtype


def test_an_object_is_read_as_it_was_written(tmp_path):
    stored = pickle.loads(pickle.dumps(Stored.write(str(tmp_path), "thing", VALUE)))
    assert_equal(stored.read())
    assert_equal(stored.read_cached())
    assert stored.read_cached() is stored.read_cached()
    assert_equal(stored.take())
    assert not list(tmp_path.iterdir())


def test_arrays_are_mapped_and_cannot_be_modified(tmp_path):
    rows = Stored.write(str(tmp_path), "rows", VALUE).read()["rows"]
    with pytest.raises(ValueError, match="read-only"):
        rows.data[0] = 1
    assert rows.data.ctypes.data % 64 == 0


def test_arrays_of_a_file_that_is_removed_are_copied(tmp_path):
    stored = Stored.write(str(tmp_path), "rows", VALUE)
    for rows in (stored.read_cached()["rows"], stored.take()["rows"]):
        rows.data[0] = 1


def test_the_same_object_is_written_to_the_same_file(tmp_path):
    assert len({Stored.write(str(tmp_path), "thing", VALUE) for _ in range(2)}) == 1
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: path.unlink(), "no such file"),
        (lambda path: path.write_bytes(b""), "empty|changed"),
        (lambda path: path.write_bytes(path.read_bytes()[:-1]), "content has changed"),
        (lambda path: path.write_bytes(b"\x01" + path.read_bytes()[1:]), "content has changed"),
    ],
    ids=["removed", "emptied", "truncated", "changed"],
)
def test_damage_is_noticed(damage, message, tmp_path):
    stored = Stored.write(str(tmp_path), "thing", VALUE)
    [path] = tmp_path.iterdir()
    damage(path)
    for read in (stored.read, stored.read_cached, stored.take):
        with pytest.raises(CorruptError, match=message) as raised:
            read()
        assert raised.value.where == str(path)
