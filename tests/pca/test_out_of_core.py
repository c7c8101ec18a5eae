"""PCA of a matrix that stays in its file, or in temporary files: the vectors have the same bytes as in memory."""

import os
import shutil
from collections import namedtuple

import numpy as np
import pytest
import scipy.sparse as sp

from nlptx.artifacts.container import read, write
from nlptx.cooccurrence import stored_matrix
from nlptx.cooccurrence.matrix import count
from nlptx.cooccurrence.stored_matrix import StoredCooccurrence
from nlptx.errors import CorruptError, InputTypeError, OutputError, SettingsError
from nlptx.io.memory_budget import MemoryBudget
from nlptx.pca import fit, transform
from nlptx.pca.fit import fit_pca
from nlptx.settings import CountSettings, PcaSettings

SETTINGS = [
    PcaSettings(components=5),
    PcaSettings(components=5, standardize=True, transform="log", tolerance=1e-8),
    PcaSettings(components=5, standardize=True, smoothing=0.75, eigenvalue_weight=0),
]


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(1)
    texts = [" ".join(f"w{n}" for n in rng.zipf(1.3, 60) % 90) for _ in range(80)]
    return count(texts, CountSettings(min_count=1, window=3), 1)


@pytest.fixture
def stored(counts, tmp_path):
    path = tmp_path / "counts.npz"
    counts.save(path)
    return path


def test_a_limit_below_the_size_of_the_vectors_is_noted(stored):
    notes = []
    fit_pca(stored, SETTINGS[0], memory=10 << 20, on_note=notes.append)
    assert notes == []
    fit_pca(stored, SETTINGS[0], memory=1000, on_note=notes.append)
    (note,) = notes
    assert note.startswith("the vectors need up to 0 MB, more than `memory` (0 MB), and stay in memory; only")


def bytes_of(embeddings, folder):
    path = folder / "vectors.npz"
    embeddings.save(path)
    return path.read_bytes()


@pytest.mark.parametrize("settings", SETTINGS, ids=["ppmi", "standardized-log", "standardized-ppmi"])
@pytest.mark.parametrize("jobs", [1, 3])
def test_neither_the_file_nor_the_memory_changes_the_bytes(counts, stored, files, settings, jobs, tmp_path):
    expected = bytes_of(fit_pca(counts, settings, jobs=1), tmp_path)
    assert not files
    assert bytes_of(fit_pca(stored, settings, jobs=jobs), tmp_path) == expected
    assert not files
    for source in (counts, stored, str(stored)):
        files.clear()
        assert bytes_of(fit_pca(source, settings, jobs=jobs, memory=1), tmp_path) == expected
        assert len(files) == 2
        assert all(file.closed for file in files)


def test_many_slices_in_files(counts, monkeypatch):
    monkeypatch.setattr(transform, "_SLICE_ENTRIES", 50)
    expected = fit_pca(counts, SETTINGS[0], jobs=1)
    actual = fit_pca(counts, SETTINGS[0], jobs=3, memory=1)
    assert actual.vectors.tobytes() == expected.vectors.tobytes()


def test_a_pipe_is_copied_to_a_temporary_file(counts, stored, files, tmp_path):
    expected = bytes_of(fit_pca(counts, SETTINGS[0]), tmp_path)
    source, target = os.pipe()
    if not os.fork():
        try:
            os.close(source)
            with open(target, "wb") as pipe:
                pipe.write(stored.read_bytes())
        finally:
            os._exit(0)
    os.close(target)
    try:
        assert bytes_of(fit_pca(f"/dev/fd/{source}", SETTINGS[0]), tmp_path) == expected
    finally:
        os.close(source)
        os.wait()
    assert len(files) == 1
    assert files[0].closed


def test_stored_rows_equal_those_in_memory(counts, stored):
    with MemoryBudget() as budget:
        matrix = StoredCooccurrence.open(stored, budget).matrix
        assert matrix.shape == counts.matrix.shape
        for rows in (slice(0, 0), slice(3, 17), slice(80, None), slice(None)):
            actual, expected = matrix[rows], counts.matrix[rows]
            assert actual.shape == expected.shape
            assert (actual != expected).nnz == 0


def test_the_artifact_is_that_of_the_matrix_in_memory(counts, stored, tmp_path):
    with MemoryBudget() as budget:
        write(tmp_path / "again.npz", StoredCooccurrence.open(stored, budget).to_artifact())
    assert (tmp_path / "again.npz").read_bytes() == stored.read_bytes()


@pytest.mark.parametrize(
    "damage",
    [
        {"data": lambda a: -a},
        {"data": lambda a: np.where(np.arange(len(a)) == 7, np.nan, a)},
        {"data": lambda a: np.where(np.arange(len(a)) == 7, 2.0**54, a)},
        {"data": lambda a: a[:-1]},
        {"data": lambda a: a.astype(np.float32)},
        {"data": lambda a: a.reshape(-1, 1)},
        {"indices": lambda a: a[::-1].copy()},
        {"indices": lambda a: np.where(np.arange(len(a)) == 7, 10_000, a).astype(np.int32)},
        {"indptr": lambda a: a[::-1].copy()},
    ],
    ids=["negative", "nan", "beyond-2^53", "short", "float32", "two-dimensional", "unsorted", "no-word", "bounds"],
)
def test_entries_are_checked_when_they_are_read(stored, damage):
    artifact = read(stored)
    for name, change in damage.items():
        artifact.arrays[name] = change(artifact.arrays[name])
    write(stored, artifact)
    with pytest.raises(CorruptError) as raised:
        fit_pca(stored, SETTINGS[0])
    assert raised.value.where == str(stored)


def test_the_file_must_be_symmetric(stored, monkeypatch):
    monkeypatch.setattr(transform, "_SLICE_ENTRIES", 50)
    fit_pca(stored, SETTINGS[0])
    artifact = read(stored)
    artifact.arrays["data"] = np.where(np.arange(len(artifact.arrays["data"])) == 7, 99.0, artifact.arrays["data"])
    write(stored, artifact)
    with pytest.raises(CorruptError, match="not symmetric") as raised:
        fit_pca(stored, SETTINGS[0])
    assert raised.value.where == str(stored)


def test_a_changed_byte_is_noticed(stored, counts):
    content = bytearray(stored.read_bytes())
    place = content.rindex(counts.matrix.data[-40:].tobytes())
    content[place] ^= 1
    stored.write_bytes(content)
    with pytest.raises(CorruptError):
        fit_pca(stored, SETTINGS[0])


def test_a_file_that_becomes_shorter_is_noticed(stored, monkeypatch):
    original = stored_matrix.matrix_arrays

    def cut(artifact, words):
        os.truncate(stored, stored.stat().st_size // 2)
        return original(artifact, words)

    monkeypatch.setattr(stored_matrix, "matrix_arrays", cut)
    with pytest.raises(CorruptError, match="cut short"):
        fit_pca(stored, SETTINGS[0])


def test_too_little_disk_space_is_noticed_before_anything_is_written(counts, files, monkeypatch):
    usage = namedtuple("usage", "total used free")(1 << 30, 1 << 30, 0)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
    with pytest.raises(OutputError, match="temporary files need"):
        fit_pca(counts, SETTINGS[0], memory=1)
    assert not files


def test_the_vectors_count_towards_the_memory(counts, files):
    vectors = fit.basis_bytes(len(counts.vocabulary), 5, 0, 0, np.float32)
    matrix = counts.matrix.nnz * 8
    fit_pca(counts, SETTINGS[0], memory=vectors + matrix)
    assert not files
    fit_pca(counts, SETTINGS[0], memory=vectors + matrix - 1)
    assert files


@pytest.mark.parametrize("source", [sp.csr_matrix((3, 3)), 3, None])
def test_what_is_neither_counts_nor_a_file_is_rejected(source):
    with pytest.raises(InputTypeError, match="counts"):
        fit_pca(source)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(SettingsError, match="no such file"):
        fit_pca(tmp_path / "none.npz")
