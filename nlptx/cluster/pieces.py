"""The intermediate results of counting on a cluster, which are files on shared storage.

A file gets its final name only when it is complete, so it does no harm if a task runs twice. The checksum of a file is
checked when the file is read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from nlptx.artifacts.artifact import Artifact
from nlptx.artifacts.container import build, read, write
from nlptx.artifacts.validation import require_array
from nlptx.cooccurrence.window_pairs import SparseRows
from nlptx.io.memory_budget import GrowingArray

KIND = "piece"


def write_words(path: str, counts: Iterable[tuple[bytes, int]]) -> None:
    """Write words and their counts. Raise OutputError if the file cannot be written."""
    pairs = list(counts)
    words = np.frombuffer(b"\n".join(word for word, _ in pairs), np.uint8)
    _write(path, {}, words=words, counts=np.array([count for _, count in pairs], np.int64))


def read_words(path: str) -> list[tuple[bytes, int]]:
    """Read a file that :func:`write_words` wrote. Raise ArtifactError if the file is damaged."""

    def pairs(artifact: Artifact) -> list[tuple[bytes, int]]:
        words = require_array(artifact, "words", "uint8", (None,)).tobytes()
        counts = require_array(artifact, "counts", "int64", (None,)).tolist()
        return list(zip(words.split(b"\n") if counts else [], counts, strict=True))

    return build(read(path, KIND), pairs, path)


def write_rows(path: str, rows: SparseRows) -> None:
    """Write consecutive rows of a sparse matrix of integers. Raise OutputError if the file cannot be written."""
    dtype = "int32" if rows.sums.max(initial=0) <= np.iinfo(np.int32).max else "int64"
    sums = rows.sums.astype(dtype)
    _write(path, {"dtype": dtype}, columns=rows.columns, sums=sums, lengths=rows.lengths)


def read_rows(path: str) -> SparseRows:
    """Read a file that :func:`write_rows` wrote. Raise ArtifactError if the file is damaged."""

    def rows(artifact: Artifact) -> SparseRows:
        columns = require_array(artifact, "columns", "int32", (None,))
        sums = require_array(artifact, "sums", artifact.settings["dtype"], (len(columns),)).astype(np.float64)
        return SparseRows(columns, sums, require_array(artifact, "lengths", "int64", (None,)))

    return build(read(path, KIND), rows, path)


def remove(paths: Iterable[str]) -> None:
    """Remove files that are no longer needed."""
    for path in paths:
        os.unlink(path)


def _write(path: str, settings: dict[str, str], **arrays: NDArray | GrowingArray) -> None:
    write(path, Artifact(KIND, settings, arrays, None, {}), durable=False)
