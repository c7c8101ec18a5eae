"""The file format of artifacts: named arrays and a JSON header in one NumPy ``.npz`` file.

The header contains the format version, the kind of artifact, the nlptx version, all settings and the names of the
arrays. The header also contains the header of the artifact from which this artifact was made. The headers are therefore
nested, and the innermost one contains the digest of the corpus, or of the text file from which word vectors were read.
The file contains no time, host name, user name or path, so the same command always writes the same bytes. Nothing is
pickled or compressed, so reading a file never takes more memory than its size on disk. The CRC-32 of every entry is
checked before the entry is used. :mod:`nlptx.artifacts.validation` checks the values of the arrays and of the header.
"""

from __future__ import annotations

import errno
import io
import json
import os
import sys
import zipfile
from collections.abc import Callable, Collection
from contextlib import ExitStack
from typing import BinaryIO, TypeVar

import numpy as np

from nlptx.artifacts.artifact import Artifact
from nlptx.artifacts.header import parse_header
from nlptx.artifacts.kinds import check_kind, described
from nlptx.artifacts.npy import DTYPES, read_array, write_array
from nlptx.artifacts.stored_array import StoredArray
from nlptx.errors import ArtifactError, CorruptError, SettingsError
from nlptx.io.atomic_write import atomic_output
from nlptx.io.memory_budget import MemoryBudget
from nlptx.io.paths import FilePath, file_name

T = TypeVar("T")
STDIN = "-"
_HEADER = "header"
# Values of errno for paths that cannot refer to a file. ENOENT and EISDIR are not listed, because Python raises
# FileNotFoundError and IsADirectoryError for them.
_NO_FILE = (errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG)
_ZIP = b"PK"
# Number of bytes that are copied at a time.
_PART = 8 << 20


def write(path: FilePath, artifact: Artifact, *, durable: bool = True) -> None:
    """Write an artifact atomically to ``path``, or to standard output if ``path`` is ``-``.

    Args:
        path: file to write.
        artifact: the artifact to write.
        durable: see :func:`nlptx.io.atomic_write.atomic_output`.

    Raises:
        OutputError: the file cannot be written.
        SettingsError: standard output is a terminal.
        TypeError: an array has a dtype that :func:`read` does not accept.
    """
    path = file_name(path)
    if path == "-" and sys.stdout.isatty():
        raise SettingsError(
            "artifacts are not written to a terminal", hint="Use -o FILE, or pipe the artifact into the next stage."
        )
    for name, array in artifact.arrays.items():
        if array.dtype.str not in DTYPES:
            raise TypeError(f"array {name!r} is {array.dtype}; an artifact can hold {', '.join(sorted(DTYPES))}")
    text = json.dumps(artifact.header, ensure_ascii=False, sort_keys=True, allow_nan=False)
    blob = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
    with atomic_output(path, durable=durable) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as container:
        for name, array in {_HEADER: blob, **artifact.arrays}.items():
            write_array(container, name, array)


def read(path: FilePath, *kinds: str, large: Collection[str] = (), budget: MemoryBudget | None = None) -> Artifact:
    """Read an artifact of one of ``kinds`` (any kind if none is given) from ``path``; ``-`` means standard input.

    Args:
        path: file of the artifact.
        kinds: kinds of artifacts that are accepted.
        large: names of one-dimensional arrays that are not read into memory; each becomes a :class:`StoredArray`.
        budget: memory budget, required if ``large`` is given. With a budget, the content of a pipe is copied to a
            temporary file instead of memory. The artifact file or the temporary file is closed when the budget's
            ``with`` block ends.

    Raises:
        SettingsError: the file does not exist, or standard input is closed.
        ArtifactError: reading the file is not permitted.
        WrongKindError, CorruptError, NewerFormatError: the file is not an artifact of one of ``kinds``, is damaged, or
            was written by a later nlptx version.
    """
    path = file_name(path)
    name = "<stdin>" if path == STDIN else path
    if path == STDIN and sys.stdin is None:
        raise SettingsError("standard input is closed", hint="Pipe the artifact in, or name its file.")
    try:
        if path == STDIN:
            return _read(_read_all(sys.stdin.buffer, kinds, budget), kinds, large)
        with ExitStack() as stack:
            file = stack.enter_context(open(path, "rb"))
            if budget is not None:
                budget.keep(stack.pop_all())
            # Reading a zip file starts at its end, so a pipe, such as <(...) in a shell, is read completely first.
            return _read(file if os.path.isfile(path) else _read_all(file, kinds, budget), kinds, large)
    except FileNotFoundError:
        raise SettingsError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise SettingsError(f"{path}: is a folder; expected an artifact file") from None
    except PermissionError as error:
        raise ArtifactError("permission denied", where=name) from error
    except OSError as error:
        if error.errno in _NO_FILE:
            raise SettingsError(f"{path}: {(error.strerror or str(error)).lower()}") from None
        raise _damaged(error, name) from error
    except ArtifactError as error:
        error.where = error.where or name
        raise
    except (zipfile.BadZipFile, EOFError, KeyError, ValueError, NotImplementedError, RuntimeError) as error:
        raise _damaged(error, name) from error


def _read_all(stream: BinaryIO, kinds: tuple[str, ...], budget: MemoryBudget | None) -> BinaryIO:
    """Copy the entire content of a stream to memory, or to a temporary file if there is a ``budget``.

    Raises:
        CorruptError, EOFError: the stream does not begin like an artifact. The rest, which may be endless, is not read.
    """
    start = stream.read(len(_ZIP))
    _check_start(start, kinds)
    if budget is None:
        return io.BytesIO(start + stream.read())
    file = budget.file()
    while start:
        budget.write_bytes(file, memoryview(start))
        start = stream.read(_PART)
    return file


def _check_start(start: bytes, kinds: tuple[str, ...]) -> None:
    """Check the first bytes of a file.

    Raises:
        CorruptError: no artifact starts with these bytes.
        EOFError: there are none, because the file is empty.
    """
    if not start:
        raise EOFError("the file is empty")
    if start != _ZIP:
        raise CorruptError(
            f"not an nlptx artifact; expected {described(kinds) or 'a file written by nlptx cooccur, pca or train'}",
            hint="This may be the wrong file, for example a table of texts.",
        )


def _damaged(error: Exception, name: str) -> CorruptError:
    message = f"not an nlptx artifact, or truncated or altered ({error})"
    return CorruptError(message, where=name, hint="Make the file again with the stage that wrote it.")


def _read(file: BinaryIO, kinds: tuple[str, ...], large: Collection[str]) -> Artifact:
    file.seek(0)
    _check_start(file.read(len(_ZIP)), kinds)
    size = file.seek(0, os.SEEK_END)
    with zipfile.ZipFile(file) as container:
        entries = [entry.filename for entry in container.infolist()]
        if len(set(entries)) != len(entries):
            raise CorruptError("duplicate entry")
        if _HEADER + ".npy" not in entries:
            raise CorruptError("not an nlptx artifact: it has no header")
        # Check that entries do not overlap. Otherwise, a small file could contain many large arrays.
        if sum(entry.file_size for entry in container.infolist()) > size:
            raise CorruptError("its entries are larger than the file")
        header = parse_header(read_array(container, _HEADER))
        check_kind(header["kind"], kinds)
        # The contents of the entries have checksums, but the list of their names has none. Compare it with the header.
        if sorted(f"{name}.npy" for name in [_HEADER, *header["arrays"]]) != sorted(entries):
            raise CorruptError(f"it holds {', '.join(entries)}; its header lists {', '.join(header['arrays'])}")
        arrays = {
            name: StoredArray(container, name, file) if name in large else read_array(container, name)
            for name in header["arrays"]
        }
    return Artifact(
        header["kind"],
        header["settings"],
        arrays,
        header["made_from"],
        header["details"],
        header["seed"],
        header["nlptx"],
    )


def load(path: FilePath, kind: str, make: Callable[[Artifact], T]) -> T:
    """Read an artifact of ``kind``, and return what ``make`` builds from it. An ArtifactError names the file."""
    return build(read(path, kind), make, file_name(path))


def build(artifact: Artifact, make: Callable[[Artifact], T], path: str) -> T:
    """Return what ``make`` builds from an artifact that was read from ``path``.

    Raises:
        ArtifactError: the parts of the artifact are inconsistent, or its settings are invalid.
    """
    try:
        return make(artifact)
    except ArtifactError as error:
        error.where = error.where or path
        raise
    except (SettingsError, ArithmeticError, KeyError, TypeError, ValueError) as error:
        raise CorruptError(f"its parts do not fit together ({error})", where=path) from error
