"""A corpus: the documents of one or more inputs, read one at a time."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar, cast

from nlptx.corpus.content import HEAD, kind_by_name, not_text, table_note
from nlptx.corpus.document import Document
from nlptx.corpus.left_out import LeftOut
from nlptx.corpus.lines import read_blocks, read_text
from nlptx.corpus.opening import damage_reported, open_input
from nlptx.corpus.partition import Partition
from nlptx.corpus.read_options import ReadOptions
from nlptx.corpus.source import Source
from nlptx.corpus.tables import read_table
from nlptx.errors import DataError, SettingsError
from nlptx.text.blocks import BLOCK, as_lines, group_by_size

T = TypeVar("T")


@dataclass
class Corpus:
    """The documents of one or more inputs, read one at a time. A corpus can be iterated over only once.

    After the iteration, ``documents`` is the number of documents, ``sha256`` is their digest, and ``source`` is the
    last source that was read. The digest covers texts and labels, but not file names or compression, so a corpus has
    the same digest whether it is read from one file, a pipe or several files. ``left_out`` counts the rows that were
    left out because of ``skip_bad`` or because the label map removes their label.

    Args:
        inputs: paths of files, folders and archives; ``-`` for standard input; or partitions of such inputs.
        options: reading options.
        on_note: called with each note about an input, for example that a text file looks like a table.
        noted: guesses that have already been reported, for example which column contains the text. A guess in this set
            is not reported again. If several corpora share the set, each guess is reported only once.
    """

    inputs: Iterable[str | Partition]
    options: ReadOptions = ReadOptions()
    on_note: Callable[[str], None] = field(default=lambda note: None, repr=False)
    noted: set[str] = field(default_factory=set, repr=False)
    documents: int = field(default=0, init=False)
    source: Source | None = field(default=None, init=False, repr=False)
    left_out: LeftOut = field(default_factory=LeftOut, init=False, repr=False)
    _digest: hashlib._Hash = field(default_factory=hashlib.sha256, init=False, repr=False)

    def __iter__(self) -> Iterator[Document]:
        return self._from_each_source(self._documents)

    def blocks(self) -> Iterator[bytes]:
        """Yield the texts without their labels, as blocks of lines (see :mod:`nlptx.text.blocks`)."""
        for lines in group_by_size(self._from_each_source(self._lines), BLOCK // 2):
            yield b"".join(lines)

    def _from_each_source(self, read: Callable[[Source], Iterator[T]]) -> Iterator[T]:
        for name in self.inputs:
            # Damage may be detected when an input is opened or while its documents are read.
            with damage_reported(str(name)):
                for source in open_input(name, self.options, self.note):
                    self.source = source
                    self._check_content(source)
                    yield from read(source)

    def _check_content(self, source: Source) -> None:
        """Raise DataError for an input that is not text.

        If an input that is read as plain text looks like a table, report this with ``on_note``.
        """
        self._check_options(source)
        if source.format == "parquet" or source.continued:
            return
        head = cast(io.BufferedReader, source.stream).peek(HEAD)[:HEAD]
        if content := not_text(head):
            raise DataError(f"this is {content.kind}; expected text in UTF-8", where=source.name, hint=content.advice)
        if source.format != "text" or self.options.format != "auto":
            return
        if kind := kind_by_name(source.name):
            raise DataError(
                f"the name suggests {kind}, but the file contains plain text",
                where=source.name,
                hint="Rename it (.txt, .csv, .tsv, .jsonl), or set `format`.",
            )
        if note := table_note(head, self.options.text_column):
            self.note(source.name, note)

    def _check_options(self, source: Source) -> None:
        """Raise an error if an option has been set that does not apply to the format of an input."""
        if self.options.delimiter is not None and source.format not in ("csv", "tsv"):
            kind = {"text": "plain text", "document": "one text", "jsonl": "JSON lines"}.get(
                source.format, source.format
            )
            raise SettingsError(
                f"`delimiter` separates the columns of CSV tables, but {source.name} is read as {kind}",
                hint="`format=csv` reads it as a table." if source.format == "text" else "Omit `delimiter`.",
            )
        if self.options.weight_column is not None and source.format in ("text", "document"):
            raise DataError(
                "this text has no weight",
                where=source.name,
                hint="`weight_column` is for tables, such as .csv, .tsv or .jsonl files.",
            )

    def note(self, where: str, note: str) -> None:
        """Report a note about an input with ``on_note``."""
        self.on_note(f"{where}: {note}")

    def note_guess(self, where: str, guess: str) -> None:
        """Report a guess with ``on_note``, unless the same guess has already been reported."""
        if guess not in self.noted:
            self.noted.add(guess)
            self.note(where, guess)

    def note_left_out(self) -> None:
        """If rows were left out, report their number with ``on_note``."""
        if note := self.left_out.note():
            self.on_note(note)

    def _documents(self, source: Source) -> Iterator[Document]:
        for document in self._read(source):
            self._record(document)
            yield document

    def _read(self, source: Source) -> Iterator[Document]:
        if source.format in ("text", "document"):
            return read_text(source, self.options)

        def leave_out(error: DataError) -> None:
            self.left_out.add("that cannot be read", error.where)

        on_bad = leave_out if self.options.skip_bad else None
        return read_table(source, self.options, lambda guess: self.note_guess(source.name, guess), on_bad)

    def _lines(self, source: Source) -> Iterator[bytes]:
        if source.format != "text":
            yield from (as_lines([document.text]) for document in self._documents(source))
            return
        # Only the text of each line is needed, so no Document is created.
        for block, lines in read_blocks(source, self.options):
            self.documents += lines
            self._digest.update(block)
            yield block

    def _record(self, document: Document) -> None:
        self.documents += 1
        self._digest.update(to_bytes(document))

    @property
    def sha256(self) -> str:
        """Digest of the documents read so far.

        For a plain-text file without a byte order mark, in which every line ends with a line feed without a carriage
        return, the digest is the SHA-256 of the file.
        """
        return self._digest.hexdigest()

    def copy_hash(self) -> hashlib._Hash:
        """Return a copy of the hash object of the documents read so far. Other documents can be added to the copy."""
        return self._digest.copy()


def digest(documents: Iterable[Document]) -> str:
    """Return the digest of a corpus that consists of the given documents."""
    sha256 = hashlib.sha256()
    for document in documents:
        sha256.update(to_bytes(document))
    return sha256.hexdigest()


def digest_of_weights(weights: Iterable[float]) -> str:
    """Return the digest of the weights of the training texts. The digest of the texts does not cover the weights."""
    sha256 = hashlib.sha256()
    for weight in weights:
        sha256.update(f"{float(weight)!r}\n".encode())
    return sha256.hexdigest()


def to_bytes(document: Document) -> bytes:
    """Return the bytes that a document adds to the digest of its corpus."""
    label = "" if document.label is None else document.label + "\t"
    return f"{label}{document.text}\n".encode("utf-8", "surrogatepass")
