"""Tests of the artifact format: round trips, and rejection of wrong or damaged files."""

import io
import json
import os
import stat
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from nlptx.artifacts.artifact import Artifact
from nlptx.artifacts.container import read, write
from nlptx.artifacts.header import FORMAT
from nlptx.errors import ArtifactError, CorruptError, NewerFormatError, SettingsError, WrongKindError


def artifact(arrays=None, **fields):
    arrays = {"x": np.arange(6, dtype=np.float32).reshape(2, 3)} if arrays is None else arrays
    return Artifact(
        **{
            "kind": "embeddings",
            "settings": {"components": 3, "normalize": False, "tolerance": 1e-3},
            "arrays": arrays,
            "made_from": Artifact("cooccurrence", {}, {}, None, {"sha256": "00"}).header,
            "details": {"labels": ["neg", "pos"], "word": "\ud800é"},
            "seed": 3,
            **fields,
        }
    )


def same(a, b):
    """Return whether headers and arrays are identical, including dtypes and every bit."""
    return a.header == b.header and {k: (v.dtype, v.shape, v.tobytes()) for k, v in a.arrays.items()} == {
        k: (v.dtype, v.shape, v.tobytes()) for k, v in b.arrays.items()
    }


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.npz"


def written(path, **fields):
    write(str(path), artifact(**fields))
    return path


def npy(shape, dtype="<f8", data=b"", header=None):
    """Return the bytes of a .npy entry, with an arbitrary header if one is given."""
    header = header or repr({"descr": dtype, "fortran_order": False, "shape": shape}).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


# Zip entry of the only array of `artifact()`; the artifact header lists the array too.
X = {"x.npy": npy((2, 3), "<f4", np.arange(6, dtype="<f4").tobytes())}


def container(path, entries, header=None, compression=zipfile.ZIP_STORED):
    """Write a zip file that contains a header entry and ``entries`` of raw bytes."""
    header = json.dumps(artifact().header if header is None else header).encode()
    with zipfile.ZipFile(path, "w", compression) as file:
        file.writestr("header.npy", npy((len(header),), "|u1", header))
        for name, data in entries.items():
            file.writestr(name, data)
    return path


def rejected(path, *parts, error=CorruptError, kinds=()):
    with pytest.raises(error) as caught:
        read(str(path), *kinds)
    for part in (str(path), *parts):
        assert part in str(caught.value)


# ---------------------------------------------------------------- round trip


def test_round_trip(path):
    before = artifact()
    write(str(path), before)
    after = read(str(path))
    assert same(after, before)
    assert after == Artifact(**{**vars(before), "arrays": after.arrays})


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    array=st.sampled_from([np.uint8, np.int32, np.int64, np.float32, np.float64]).flatmap(
        lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
    )
)
def test_round_trip_of_every_allowed_dtype_and_shape(path, array):
    write(str(path), artifact({"x": array}))
    assert same(read(str(path)), artifact({"x": array}))


@pytest.mark.parametrize(
    "array",
    [np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.arange(6.0)[::2], np.arange(6.0).reshape(2, 3).T],
    ids=["fortran", "strided", "transposed"],
)
def test_round_trip_of_any_memory_order(path, array):
    write(str(path), artifact({"x": array}))
    assert np.array_equal(read(str(path)).arrays["x"], array)


@pytest.mark.parametrize("dtype", [bool, np.complex64, ">f8", "U3"])
def test_arrays_that_cannot_be_read_back_are_not_written(path, dtype):
    try:
        write(str(path), artifact({"x": np.zeros(3, dtype)}))
    except (TypeError, ValueError):
        assert not path.exists()
    else:
        assert np.array_equal(read(str(path)).arrays["x"], np.zeros(3, dtype))


def test_arrays_read_from_a_file_are_read_only(path):
    with pytest.raises(ValueError, match="read-only"):
        read(str(written(path))).arrays["x"][0] = 1


def test_the_same_artifact_gives_the_same_bytes(tmp_path):
    first, second = (written(tmp_path / name).read_bytes() for name in ("a.npz", "b.npz"))
    assert first == second


def test_the_order_of_settings_does_not_change_the_bytes(tmp_path):
    settings = artifact().settings
    first = written(tmp_path / "a.npz", settings=settings)
    second = written(tmp_path / "b.npz", settings=dict(reversed(settings.items())))
    assert first.read_bytes() == second.read_bytes()


def test_the_file_contains_no_path_and_no_timestamp(path):
    data = written(path).read_bytes()
    assert str(path.parent).encode() not in data
    with zipfile.ZipFile(path) as file:
        assert {entry.date_time for entry in file.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_numpy_opens_the_file_without_pickle(path):
    with np.load(written(path), allow_pickle=False) as file:
        assert np.array_equal(file["x"], artifact().arrays["x"])
        assert json.loads(file["header"].tobytes().decode("utf-8", "surrogatepass")) == artifact().header


def test_standard_input_and_output(monkeypatch, path):
    pipe = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(pipe))
    write("-", artifact())
    assert pipe.getvalue() == written(path).read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(pipe.getvalue())))
    assert same(read("-"), artifact())


def test_nothing_is_written_to_a_terminal(monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    with pytest.raises(SettingsError, match="terminal"):
        write("-", artifact())


@pytest.mark.parametrize("content", [b"", b"I loved it\n"])
def test_standard_input_that_is_not_an_artifact(monkeypatch, content):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    with pytest.raises(CorruptError, match="<stdin>"):
        read("-")


def test_closed_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(SettingsError, match="standard input"):
        read("-")


# ---------------------------------------------------------------- the wrong file


@pytest.mark.parametrize("kind", ["cooccurrence", "embeddings", "model"])
def test_the_requested_kind_is_read(path, kind):
    assert read(str(written(path, kind=kind)), kind).kind == kind
    assert read(str(path), "model", "embeddings", "cooccurrence").kind == kind


def test_another_kind_names_its_stage_and_the_expected_stages(path):
    written(path, kind="cooccurrence")
    rejected(path, "nlptx cooccur", "embeddings (nlptx pca)", error=WrongKindError, kinds=("embeddings",))
    rejected(path, "nlptx pca", "or", "nlptx train", error=WrongKindError, kinds=("embeddings", "model"))


def test_a_newer_format_advises_to_upgrade(path):
    header = {**artifact().header, "format": FORMAT + 1, "nlptx": "9.8.7", "kind": "of the future"}
    rejected(container(path, {}, header), "9.8.7", f"format {FORMAT + 1}", "upgrade", error=NewerFormatError)


@pytest.mark.parametrize("name", ["none.npz", "folder", "folder/none.npz"])
def test_a_missing_file_or_a_folder_is_a_usage_error(tmp_path, name):
    (tmp_path / "folder").mkdir()
    rejected(tmp_path / name, error=SettingsError)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_read_permission(path):
    written(path).chmod(0)
    rejected(path, "permission", error=ArtifactError)


@pytest.mark.parametrize(
    "content",
    [b"", b"PK", b"I loved it\n", b"\x80\x04\x95", b"PK\x05\x06" + bytes(18), bytes(1000)],
    ids=["empty", "two-bytes", "text", "pickle", "empty-zip", "zeros"],
)
def test_a_file_that_is_not_an_artifact(path, content):
    path.write_bytes(content)
    rejected(path)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_an_npz_file_of_another_program(path, save):
    save(path, vectors=np.ones(3000))
    rejected(path, "not an nlptx artifact: it has no header")


# ---------------------------------------------------------------- damage


def test_every_truncation_is_detected(path):
    complete = written(path).read_bytes()
    for length in range(0, len(complete), 3):
        path.write_bytes(complete[:length])
        rejected(path)


@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
def test_a_flipped_byte_is_detected_or_has_no_effect(path, mask):
    # Some bytes of a zip file, such as dates, do not affect what is read. No exception other than ArtifactError may be
    # raised.
    complete, before = written(path).read_bytes(), artifact()
    for index in range(len(complete)):
        data = bytearray(complete)
        data[index] ^= mask
        path.write_bytes(data)
        try:
            after = read(str(path))
        except ArtifactError:
            continue
        assert same(after, before), f"byte {index}"


def test_extra_bytes_before_or_after_are_rejected_or_have_no_effect(path):
    complete, before = written(path).read_bytes(), artifact()
    for data in (b"x" * 7 + complete, complete + b"x" * 7, complete + complete):
        path.write_bytes(data)
        try:
            after = read(str(path))
        except ArtifactError:
            continue
        assert same(after, before)


def test_a_pickled_object_is_never_loaded(path):
    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("unpickled",))

    stream = io.BytesIO()
    np.save(stream, np.array([Bomb()], dtype=object), allow_pickle=True)
    rejected(container(path, {"x.npy": stream.getvalue()}), "object")
    np.savez(path, header=np.array([Bomb()], dtype=object))
    rejected(path)


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_compressed_container_is_rejected(path, compression):
    # A compressed file of a few kilobytes could expand to any amount of memory.
    rejected(container(path, {"x.npy": npy((1000,), data=bytes(8000))}, compression=compression), "compressed")


@pytest.mark.parametrize("data", [b"", bytes(8)])
@pytest.mark.parametrize(
    "shape", [(2**62, 4), (10**30,), (0, 10**30), (2**31, 2**31, 2**31), (-1,), (-2, -4), (1,) * 99]
)
def test_an_impossible_shape_is_rejected_before_memory_is_allocated(path, shape, data):
    rejected(container(path, {"x.npy": npy(shape, data=data)}))


@pytest.mark.parametrize("shape", [(True,), (1.0,), ("1",), None, 1, [1]])
def test_a_shape_that_is_not_a_tuple_of_integers_is_rejected(path, shape):
    rejected(container(path, {"x.npy": npy(shape, data=bytes(8))}))


@pytest.mark.parametrize(
    "dtype", ["|O", "<f2", ">f8", "<M8[s]", "|b1", "<U3", "<c16", "|V8", [("a", "<f8")], "(1,)<f8", "none", 8]
)
def test_an_array_of_an_unsupported_dtype_is_rejected(path, dtype):
    rejected(container(path, {"x.npy": npy((1,), dtype, bytes(8))}))


@pytest.mark.parametrize(
    "header",
    [
        b"{'descr': '<f8'",
        b"((((",
        b"'''",
        b" 1\n  2\n 3",
        b"\xff\xfe",
        b"{}",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (1L,)}",
        b"{'descr': '<f8', 'fortran_order': True, 'shape': (1,)}",
        b"-" * 9000 + b"1",
        b"1" * 20_000,
        b"__import__('os').abort()",
    ],
    ids=["open", "brackets", "quotes", "indent", "bytes", "keys", "python-2", "fortran", "minus", "long", "code"],
)
def test_an_entry_with_a_damaged_header_is_rejected(path, header):
    rejected(container(path, {"x.npy": npy((1,), data=bytes(8), header=header)}))


@pytest.mark.parametrize(
    "data",
    [b"", b"\x93NUMPY", b"\x93NUMPY\x01\x00\xff\xff", b"\x93NUMPY\x09\x00" + bytes(99), b"no numpy" * 9],
    ids=["empty", "magic", "cut", "version", "text"],
)
def test_an_entry_that_is_not_an_array_is_rejected(path, data):
    rejected(container(path, {"x.npy": data}))


def test_a_duplicate_entry_is_rejected(path):
    with (
        pytest.warns(UserWarning, match="Duplicate"),
        zipfile.ZipFile(container(path, {"x.npy": npy(())}), "a") as file,
    ):
        file.writestr("x.npy", npy(()))
    rejected(path, "duplicate entry")


@pytest.mark.parametrize("names", [[], ["y"], ["x", "y"], ["x.npy"]], ids=str)
def test_arrays_that_differ_from_the_list_in_the_header_are_rejected(path, names):
    # The zip directory has no checksum. Only the list of arrays in the artifact header shows that an optional array is
    # missing.
    rejected(container(path, X, {**artifact().header, "arrays": names}), "header lists")


def test_two_entries_for_the_same_array_are_rejected(path):
    # NumPy reads an entry with the name `x.npy` or `x` as the array x.
    rejected(container(path, {"x.npy": npy((1,), data=bytes(8)), "x": npy((1,), data=bytes(8))}))


@pytest.mark.parametrize(
    "change",
    [
        {"format": "1"},
        {"format": True},
        {"format": None},
        {"kind": "other"},
        {"kind": ["embeddings"]},
        {"seed": "1"},
        {"seed": 1.5},
        {"nlptx": 1},
        {"settings": []},
        {"settings": None},
        {"details": "none"},
        {"made_from": []},
        {"arrays": {"x": None}},
        {"arrays": [["x"]]},
    ],
    ids=str,
)
def test_a_header_with_an_invalid_value_is_rejected(path, change):
    assert same(read(str(container(path, X))), artifact())
    rejected(container(path, X, {**artifact().header, **change}))


@pytest.mark.parametrize("text", ["[]", "1", "null", '"x"', "{}", "{", "", "[" * 100_000])
def test_a_header_that_is_not_an_artifact_header_is_rejected(path, text):
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("header.npy", npy((len(text),), "|u1", text.encode()))
    rejected(path)


@pytest.mark.parametrize("name", artifact().header)
def test_a_header_that_lacks_a_key_is_rejected(path, name):
    header = artifact().header
    del header[name]
    if name == "made_from":
        # None is valid: it means that the artifact was not made from another artifact.
        assert read(str(container(path, X, {**header, "made_from": None}))).made_from is None
    else:
        rejected(container(path, X, header))


def test_a_written_file_has_the_permissions_of_any_new_file(path):
    plain = path.with_name("plain")
    plain.touch()
    assert stat.S_IMODE(written(path).stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
