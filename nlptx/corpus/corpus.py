"""A corpus: the documents of some files, read one at a time."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar, cast

from nlptx.corpus.content import HEAD, kind_by_name, not_text, table_note
from nlptx.corpus.document import Document, ReadOptions
from nlptx.corpus.formats import read_blocks, read_table, read_text
from nlptx.corpus.sources import Source, damage_reported, open_input
from nlptx.errors import DataError
from nlptx.text.blocks import BLOCK, as_lines, cut

T = TypeVar("T")


@dataclass
class Corpus:
    """The documents of some inputs, read one at a time; iterate once.

    After the iteration ``documents``, ``sha256`` and ``source`` (the last one) describe what was read. The
    digest covers texts and labels, not file names or compression: a corpus has the same one as a file, in a
    pipe or in pieces.

    Args:
        inputs: paths of files, folders and archives, or ``-`` for standard input.
        options: how to read them.
        on_note: called with what is worth knowing of an input, such as a text file that looks like a table.
    """

    inputs: Iterable[str]
    options: ReadOptions = ReadOptions()
    on_note: Callable[[str], None] = field(default=lambda note: None, repr=False)
    documents: int = field(default=0, init=False)
    source: Source | None = field(default=None, init=False, repr=False)
    _digest: hashlib._Hash = field(default_factory=hashlib.sha256, init=False, repr=False)

    def __iter__(self) -> Iterator[Document]:
        return self._from_each_source(self._documents)

    def blocks(self) -> Iterator[bytes]:
        """Yield the texts alone, as blocks of lines, see :mod:`nlptx.text.blocks`."""
        for some in cut(self._from_each_source(self._lines), BLOCK // 2):
            yield b"".join(some)

    def _from_each_source(self, read: Callable[[Source], Iterator[T]]) -> Iterator[T]:
        for name in self.inputs:
            # Damage may show while an input is opened, and at any document of it.
            with damage_reported(name):
                for source in open_input(name, self.options):
                    self.source = source
                    self._check_content(source)
                    yield from read(source)

    def _check_content(self, source: Source) -> None:
        """Raise DataError for an input that is not text, and tell of a table that is about to be read as text."""
        if source.format == "parquet":
            return
        head = cast(io.BufferedReader, source.stream).peek(HEAD)[:HEAD]
        if found := not_text(head):
            raise DataError(f"this is {found.kind}, not text", where=source.name, hint=found.advice)
        if source.format != "text" or self.options.format != "auto":
            return
        if claimed := kind_by_name(source.name):
            raise DataError(
                f"its name is that of {claimed}, but it holds plain text",
                where=source.name,
                hint="Rename it (.txt, .csv, .tsv, .jsonl), or say what it is with `format`.",
            )
        if note := table_note(head, self.options.text_column):
            self.on_note(f"{source.name}: {note}")

    def _documents(self, source: Source) -> Iterator[Document]:
        for document in _read(source, self.options):
            self._note(document)
            yield document

    def _lines(self, source: Source) -> Iterator[bytes]:
        if source.format != "text":
            yield from (as_lines([document.text]) for document in self._documents(source))
            return
        # Nothing of a line but its text is asked for, so it needs no Document.
        for block, lines in read_blocks(source, self.options):
            self.documents += lines
            self._digest.update(block)
            yield block

    def _note(self, document: Document) -> None:
        self.documents += 1
        self._digest.update(_to_bytes(document))

    @property
    def sha256(self) -> str:
        """Digest of what has been read so far; of an unlabelled text file whose lines end in LF, that of its bytes."""
        return self._digest.hexdigest()


def digest(documents: Iterable[Document]) -> str:
    """Return the digest that a corpus of these documents has."""
    sha256 = hashlib.sha256()
    for document in documents:
        sha256.update(_to_bytes(document))
    return sha256.hexdigest()


def _to_bytes(document: Document) -> bytes:
    label = "" if document.label is None else document.label + "\t"
    return f"{label}{document.text}\n".encode("utf-8", "surrogatepass")


def _read(source: Source, options: ReadOptions) -> Iterator[Document]:
    if source.format in ("csv", "tsv", "jsonl", "parquet"):
        return read_table(source, options)
    return read_text(source, options)
