"""Recognises, by their first bytes, inputs that are not text, and tables that would otherwise be read as plain text."""

from __future__ import annotations

import codecs
import json
import os
import re
from collections.abc import Sequence
from typing import NamedTuple

from nlptx.corpus.columns import matching_columns

# Number of bytes to examine. The first read of a file returns at least HEAD bytes, or the whole file.
HEAD = 4096


class NotText(NamedTuple):
    """A kind of input that is not text, and advice for the user."""

    kind: str
    advice: str


_NO_TEXT = "Only text can be read."
_AS_CSV = "Save the sheet as CSV (UTF-8) and use that file."
_AS_CSV_OR_TEXT = "Save a sheet as CSV, or a document as plain text (UTF-8), and use that file."
_AS_TEXT = "Save the document as plain text (UTF-8) and use that file."
_UNPACK = "Unpack it first ({}), or pass a file whose name ends in {}."
_CONVERT = "Convert it to UTF-8 first: iconv -f {} -t UTF-8."
# First bytes -> kind of file. UTF-32 precedes UTF-16, because the little-endian byte order mark of UTF-32 begins with
# the byte order mark of UTF-16.
_SIGNATURES = {
    b"PK\x03\x04": NotText("a zip archive", "Unpack it first (unzip), and pass the folder or the files in it."),
    b"\x1f\x8b": NotText("gzip-compressed data", _UNPACK.format("gzip -dc", ".gz")),
    b"BZh91AY&SY": NotText("bzip2-compressed data", _UNPACK.format("bzip2 -dc", ".bz2")),
    b"\xfd7zXZ\0": NotText("xz-compressed data", _UNPACK.format("xz -dc", ".xz")),
    b"\x28\xb5\x2f\xfd": NotText("Zstandard-compressed data", "Unpack it first (zstd -dc)."),
    b"7z\xbc\xaf\x27\x1c": NotText("a 7z archive", "Unpack it first."),
    b"Rar!\x1a\x07": NotText("a RAR archive", "Unpack it first."),
    b"%PDF-": NotText("a PDF document", "Extract its text first, for example with pdftotext."),
    b"{\\rtf1": NotText("an RTF document", _AS_TEXT),
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": NotText("an Excel or Word file in the old format", _AS_CSV_OR_TEXT),
    b"PAR1\x15": NotText("a Parquet table", "Parquet is read only from a file whose name ends in .parquet."),
    b"ARROW1\0": NotText("an Arrow table", "Save it as CSV or JSON lines, and use that file."),
    b"SQLite format 3\0": NotText("an SQLite database", "Export a table: sqlite3 -header -csv FILE 'SELECT ...'."),
    b"\x93NUMPY": NotText("a NumPy array", _NO_TEXT),
    b"\x89HDF\r\n": NotText("an HDF5 file", _NO_TEXT),
    b"\x89PNG\r\n": NotText("a PNG image", _NO_TEXT),
    b"\xff\xd8\xff": NotText("a JPEG image", _NO_TEXT),
    b"GIF87a": NotText("a GIF image", _NO_TEXT),
    b"GIF89a": NotText("a GIF image", _NO_TEXT),
    b"\x7fELF": NotText("a program", _NO_TEXT),
    codecs.BOM_UTF32_LE: NotText("text in UTF-32", _CONVERT.format("UTF-32")),
    codecs.BOM_UTF32_BE: NotText("text in UTF-32", _CONVERT.format("UTF-32")),
    codecs.BOM_UTF16_LE: NotText("text in UTF-16", _CONVERT.format("UTF-16")),
    codecs.BOM_UTF16_BE: NotText("text in UTF-16", _CONVERT.format("UTF-16")),
}
_SIGNATURE = re.compile(b"|".join(map(re.escape, _SIGNATURES)))
# Start of an entry name in a zip archive -> kind of the archive.
_ZIP_ENTRIES = (
    (b"xl/", NotText("an Excel workbook", _AS_CSV)),
    (b"word/", NotText("a Word document", _AS_TEXT)),
    (b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet", NotText("an OpenDocument sheet", _AS_CSV)),
    (b"mimetypeapplication/vnd.oasis.opendocument", NotText("an OpenDocument text", _AS_TEXT)),
    (b"header.npy", NotText("an nlptx artifact", "Text is expected here; nlptx info FILE describes the artifact.")),
)
_ZIP_ENTRY = re.compile(rb"PK\x03\x04.{26}", re.DOTALL)
# Inputs of fewer than _MIN_BYTES bytes are not examined for NUL bytes. An input that contains NUL bytes and is neither
# UTF-8 nor UTF-16 is a binary file if more than _MIN_BYTES + n / 20 of the n examined bytes are control characters.
_MIN_BYTES = 16
# Control characters that are very rare in text.
_CONTROLS = bytes({*range(32)} - {*b"\t\n\r\f\x1b"})
# File name suffix -> kind of file, for kinds that do not contain plain text.
_NAMES = {
    ".xlsx": "an Excel workbook",
    ".xls": "an Excel workbook",
    ".ods": "an OpenDocument sheet",
    ".docx": "a Word document",
    ".doc": "a Word document",
    ".odt": "an OpenDocument text",
    ".pdf": "a PDF document",
    ".zip": "a zip archive",
    ".npz": "a NumPy archive",
}
# Plain text may match one of the next two patterns, but only an HTML page matches both.
_HTML_START = re.compile(
    rb"(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*(?:<!doctype\s+html\b|<html[\s>])", re.IGNORECASE | re.DOTALL
)
_HTML_TAG = re.compile(rb"<(?:head|body|title|meta|script|style|link|div|p|h1|table)\b", re.IGNORECASE)
_XML_START = re.compile(rb"<\?xml\s+version\s*=")
_KEY = r'"(?:[^"\\\n]|\\.)*+"\s*+:'
_ARRAY_OF_OBJECTS = re.compile(rf"\[\s*+\{{\s*+{_KEY}")
_OBJECT_OVER_LINES = re.compile(rf"\{{\s*\n\s*+{_KEY}")
# Patterns for JSON arrays whose elements are strings or arrays of strings. _ARRAY matches a complete array, whereas
# _ARRAY_START and _LONG_TEXT_START match only the beginning of an array.
_STRING = r'"(?:[^"\\\x00-\x1f]|\\.)*+'
_OPEN, _CLOSE = r"\[\s*+(?:\[\s*+)?+", r"\s*+(?:\]\s*+)?+"
_AND_NEXT = rf'(?:{_STRING}"{_CLOSE},\s*+(?:\[\s*+)?+)'
_ARRAY = re.compile(rf'{_OPEN}{_AND_NEXT}*+{_STRING}"\s*+\]{_CLOSE}(?:\[.*)?', re.DOTALL)
_ARRAY_START = re.compile(rf'{_OPEN}{_AND_NEXT}++(?:{_STRING}(?:\\|"{_CLOSE})?+)?+', re.DOTALL)
_LONG_TEXT_START = re.compile(rf"{_OPEN}{_STRING}\\?+", re.DOTALL)
# A first line that consists of names is taken for a table header only if one of them is the name of the text column, or
# matches this pattern of usual column names.
_USUAL_COLUMN = re.compile(
    "text|label|id|title|body|content|message|comment|review|sentence|tweet|sentiment|rating|stars|score|category",
    re.IGNORECASE,
)
_COLUMN_NAME = re.compile(r'"?[^\W\d](?:[\w .-]{0,40}\w)?"?')


def not_text(head: bytes) -> NotText | None:
    """Return the kind of an input whose first bytes show that it is not UTF-8 text, else None.

    HTML and JSON are not recognised by their first character alone, because a text may also begin with ``<`` or ``[``.
    """
    return _binary(head) or _markup(head) or _json_document(head)


def kind_by_name(name: str) -> str | None:
    """Return the kind of a file whose name shows that it does not contain plain text, else None."""
    return _NAMES.get(os.path.splitext(name)[1].lower())


def _binary(head: bytes) -> NotText | None:
    if signature := _SIGNATURE.match(head):
        kind = _SIGNATURES[signature[0]]
        return _zip(head) or kind if head.startswith(b"PK") else kind
    if head[257:262] == b"ustar":
        return NotText("a tar archive", "Give the file a name that ends in .tar, .tar.gz or .tgz.")
    if len(head) < _MIN_BYTES or b"\0" not in head:
        return None
    if encoding := _unmarked_utf16(head):
        return NotText("text in UTF-16", _CONVERT.format(encoding))
    if head.count(0) > len(head) / 2:  # NUL bytes are valid UTF-8, but a text contains few of them
        return NotText("a binary file", _NO_TEXT)
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return NotText("a binary file", _NO_TEXT) if controls > _MIN_BYTES + len(head) / 20 and not _is_utf8(head) else None


def _zip(head: bytes) -> NotText | None:
    entries = [match.end() for match in _ZIP_ENTRY.finditer(head)]
    content = next((kind for name, kind in _ZIP_ENTRIES for start in entries if head.startswith(name, start)), None)
    return NotText("a NumPy archive", _NO_TEXT) if content is None and b".npy" in head else content


def _unmarked_utf16(head: bytes) -> str:
    """Return the encoding if the bytes seem to be UTF-16 without a byte order mark, else an empty string.

    In UTF-16, one of the two bytes of a Latin letter is zero: always the first or always the second byte, depending on
    the byte order.
    """
    even, odd = (head[parity::2].count(0) / (len(head) // 2) for parity in (0, 1))
    if max(even, odd) < 0.4 or min(even, odd) > 0.1:
        return ""
    return "UTF-16LE" if odd > even else "UTF-16BE"


def _is_utf8(head: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)  # the examined bytes may end within a character
    except UnicodeDecodeError:
        return False
    return True


def _markup(head: bytes) -> NotText | None:
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()
    if (html := _HTML_START.match(start)) and _HTML_TAG.search(start, html.end()):
        return NotText("an HTML page", "Extract its text first, for example with lynx -dump or html2text.")
    if _XML_START.match(start):
        return NotText("an XML document", "Extract its texts first, one per line.")
    return None


def _json_document(head: bytes) -> NotText | None:
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()
    if not start.startswith((b"[", b"{")):
        return None
    text = start.decode("utf-8", "replace")
    if _ARRAY_OF_OBJECTS.match(text):
        return NotText("a JSON array", "Write one object per line: jq -c '.[]' FILE > FILE.jsonl.")
    if (
        _ARRAY.fullmatch(text)
        or _ARRAY_START.fullmatch(text)
        or (len(head) >= HEAD and _LONG_TEXT_START.fullmatch(text))
    ):
        return NotText("a JSON array", "Write one object per line: jq -c '.[] | {text: .}' FILE > FILE.jsonl.")
    if _OBJECT_OVER_LINES.match(text):
        return NotText("a multi-line JSON object", "Write one object per line: jq -c . FILE > FILE.jsonl.")
    return None


def table_note(head: bytes, text_column: str) -> str | None:
    """Return a note if the first line of a plain-text input looks like the first line of a table, else None."""
    line = head.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace").partition("\n")[0].rstrip("\r")
    if line == text_column:
        return f"the first line is {line!r}, which looks like a column name; it is read as a text"
    if line.startswith("{") and (fields := _json_object(line)):
        return _to_read_columns("jsonl", "is a JSON object", fields, text_column)
    for delimiter, format in ((",", "csv"), ("\t", "tsv"), (";", "csv"), ("|", "csv")):
        cells = line.split(delimiter)
        names = [cell.strip('"') for cell in cells]
        usual = bool(matching_columns(text_column, names)) or any(map(_USUAL_COLUMN.fullmatch, names))
        if len(cells) > 1 and usual and all(map(_COLUMN_NAME.fullmatch, cells)):
            what = f"looks like the header of a table ({', '.join(names)})"
            return _to_read_columns(format, what, names, text_column)
    return None


def _json_object(line: str) -> list[str]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return []
    return list(value) if isinstance(value, dict) else []


def _to_read_columns(format: str, what: str, names: Sequence[str], text_column: str) -> str:
    column = "" if matching_columns(text_column, names) else " `text_column=NAME`"
    return f"the first line {what}, but it is read as text; use `format={format}`{column} to read the columns"
