"""Input that is not text causes an error that names its type; a note is printed if a table is read as plain text."""

import bz2
import gzip
import io
import json
import lzma
import sqlite3
import zipfile
from contextlib import closing

import numpy as np
import pytest
from reading import BOM, refused, texts, write

from nlptx.corpus.content import HEAD, not_text, table_note
from nlptx.corpus.corpus import Corpus
from nlptx.corpus.read_options import ReadOptions


def archive(*names):
    """Return a zip archive with the named files. As in OpenDocument, the file ``mimetype`` is not compressed."""
    with io.BytesIO() as out:
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
            for name in names:
                if name == "mimetype":
                    kind = "application/vnd.oasis.opendocument.spreadsheet"
                    file.writestr(name, kind, zipfile.ZIP_STORED)
                else:
                    file.writestr(name, "<xml/>" * 50)
        return out.getvalue()


def arrays(**members):
    with io.BytesIO() as out:
        np.savez(out, **members)
        return out.getvalue()


def database():
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("create table reviews (text)")
        return connection.serialize()


ROWS = [{"text": f"film {number}", "label": "pos"} for number in range(500)]
# Kind of input -> an example, the name of the kind in the error message, and part of the advice.
NOT_TEXT = {
    "zip": (archive("a.txt"), "a zip archive", "unzip"),
    "xlsx": (archive("[Content_Types].xml", "_rels/.rels", "xl/workbook.xml"), "an Excel workbook", "CSV"),
    "docx": (archive("[Content_Types].xml", "word/document.xml"), "a Word document", "plain text"),
    "ods": (archive("mimetype", "content.xml"), "an OpenDocument sheet", "CSV"),
    "npz": (arrays(x=np.zeros(3)), "a NumPy archive", "Only text"),
    "artifact": (arrays(header=np.zeros(3)), "an nlptx artifact", "nlptx info"),
    "gzip": (gzip.compress(b"great film\n"), "gzip-compressed", "gzip -dc"),
    "bzip2": (bz2.compress(b"great film\n"), "bzip2-compressed", ".bz2"),
    "xz": (lzma.compress(b"great film\n"), "xz-compressed", ".xz"),
    "pdf": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "a PDF document", "pdftotext"),
    "rtf": (b"{\\rtf1\\ansi great film}", "an RTF document", "plain text"),
    "xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500), "an Excel or Word file in the old format", "CSV"),
    "parquet": (b"PAR1\x15\x04\x15\x10", "a Parquet table", ".parquet"),
    "sqlite": (database(), "an SQLite database", "sqlite3"),
    "png": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a PNG image", "Only text"),
    "jpeg": (b"\xff\xd8\xff\xe0\0\x10JFIF", "a JPEG image", "Only text"),
    "utf-16": ("great film\n".encode("utf-16"), "text in UTF-16", "iconv -f UTF-16 -t UTF-8"),
    "utf-16-le": ("great film\n".encode("utf-16-le"), "text in UTF-16", "iconv -f UTF-16LE -t UTF-8"),
    "utf-16-be": ("text,label\n\u00e9,pos\n".encode("utf-16-be"), "text in UTF-16", "iconv -f UTF-16BE -t UTF-8"),
    "utf-32": ("great film\n".encode("utf-32"), "text in UTF-32", "iconv -f UTF-32"),
    "binary": (bytes(range(256)) * 4, "a binary file", "Only text"),
    "zeros": (bytes(1000), "a binary file", "Only text"),
    "sparse": (b"film" + bytes(1000), "a binary file", "Only text"),
    "html": (b"<!DOCTYPE html>\n<html lang=en>\n<head><title>Films</title>", "an HTML page", "html2text"),
    "bare-html": (BOM + b"\n <HTML>\n<BODY>great film", "an HTML page", "html2text"),
    "xhtml": (b'<?xml version="1.0"?>\n<!-- made by -->\n<html xmlns="x"><body>', "an HTML page", "html2text"),
    "xml": (b'<?xml version="1.0" encoding="UTF-8"?>\n<reviews><review>', "an XML document", "one per line"),
    "array": (json.dumps(ROWS).encode(), "a JSON array", "jq -c '.[]'"),
    "pretty-array": (json.dumps(ROWS, indent=4).encode(), "a JSON array", "jq -c '.[]'"),
    "short-array": (b'[{"text": "a"}]', "a JSON array", "jq -c '.[]'"),
    "array-of-texts": (b'["great film", "dull \\"film\\""]\n', "a JSON array", "{text: .}"),
    "long-array-of-texts": (json.dumps([row["text"] for row in ROWS] * 3).encode(), "a JSON array", "{text: .}"),
    "array-of-a-long-text": (json.dumps(["great film " * 9000]).encode(), "a JSON array", "{text: .}"),
    "array-of-rows": (b'[["text", "label"],\n ["great film", "pos"]]', "a JSON array", "{text: .}"),
    "array-per-line": (b'["great film", "pos"]\n["dull film", "neg"]\n', "a JSON array", "{text: .}"),
    "object": (json.dumps({"data": ROWS}, indent=1).encode(), "a multi-line JSON object", "jq -c ."),
}


@pytest.mark.parametrize(("content", "kind", "advice"), NOT_TEXT.values(), ids=NOT_TEXT)
def test_input_that_is_not_text_is_rejected_with_its_file_type(tmp_path, content, kind, advice):
    result = not_text(content[:HEAD])
    assert result is not None
    assert kind in result.kind
    assert advice in result.advice
    path = write(tmp_path / "a.txt", content)
    refused(path, f"{path}: this is {kind}", advice, encoding_errors="replace")


@pytest.mark.parametrize("kind", ["zip", "utf-16", "html", "gzip"])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.txt.gz", "folder/pos/1.txt"])
def test_input_that_is_not_text_is_rejected_in_any_container(tmp_path, name, kind):
    content, message, _ = NOT_TEXT[kind]
    path = write(tmp_path / name, gzip.compress(content) if name.endswith(".gz") else content)
    refused(tmp_path / "folder" if name.startswith("folder") else path, f"{path}: this is {message}")


@pytest.mark.parametrize("name", ["array", "short-array", "object"])
def test_json_that_is_not_json_lines_is_rejected_with_advice(tmp_path, name):
    content, message, advice = NOT_TEXT[name]
    refused(write(tmp_path / "a.jsonl", content), f"this is {message}", advice)


@pytest.mark.parametrize(
    "rows", [["film one", 'a "film"'], [["text", "label"], ["film", "pos"]]], ids=["texts", "rows"]
)
def test_a_long_array_is_recognised_wherever_its_first_bytes_end(rows):
    for length in range(60):
        content = json.dumps(["x" * length, *rows * 500]).encode()
        assert not_text(content[:HEAD]) is not None, content[HEAD - 20 : HEAD]


# Unusual but valid beginnings of a text.
TEXTS = [
    "",
    "great film",
    "<br />great film",
    "<3 this film",
    "<html> is a tag I love",
    "<!doctype html> is what I type",
    "<b>great</b> film",
    "[1] great film",
    "[spoiler] he dies",
    "[2026-01-01 10:00] great film",
    '["Great film" said my wife]',
    '["Great film"] said my wife',
    '["Great film',
    "[]",
    "[1, 2, 3]",
    "[" * HEAD,
    '{"text": "a"}',
    "{",
    '{"great": film}',
    "PK is great",
    "BZh",
    "GIF8 is no film",
    "%PDF",
    "great\0film",
    "a\0b\0c",
    "\ufeffgreat film",
    "\u6620\u753b" * 3000,
]


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: repr(text[:20]))
def test_unusual_text_is_read(tmp_path, text):
    path = write(tmp_path / "a.txt", text + "\n" if text else "")
    assert texts(path) == [text.removeprefix("\ufeff")] * bool(text)


@pytest.mark.parametrize("content", [b"caf\xe9\n", b"caf\xe9 \0\n"], ids=["latin-1", "with-nul"])
def test_another_encoding_is_not_mistaken_for_a_binary_file(tmp_path, content):
    refused(write(tmp_path / "a.txt", content), "is not UTF-8", "CP1252")
    assert len(texts(tmp_path / "a.txt", encoding_errors="replace")) == 1


@pytest.mark.parametrize(("name", "kind"), [("a.xlsx", "an Excel workbook"), ("a.PDF", "a PDF"), ("a.zip", "a zip")])
def test_text_with_the_suffix_of_another_file_type_requires_an_explicit_format(tmp_path, name, kind):
    path = write(tmp_path / name, "text,label\ngreat,pos\n")
    refused(path, f"the name suggests {kind}", "plain text", "`format`")
    assert texts(path, format="csv") == ["great"]


# ---------------------------------------------------------------- tables read as text


def notes(path, **options):
    messages = []
    for _ in Corpus([str(path)], ReadOptions(**options), messages.append):
        pass
    return messages


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("text,label", "use `format=csv` to read the columns"),
        ('"text","label"', "use `format=csv` to read the columns"),
        ("label\ttext", "use `format=tsv` to read the columns"),
        ("Text;Label", "use `format=csv` to read the columns"),
        ("id|Review", "use `format=csv` `text_column=NAME` to read the columns"),
        ("id,review,stars", "use `format=csv` `text_column=NAME` to read the columns"),
        ('{"text": "great", "label": "pos"}', "use `format=jsonl` to read the columns"),
        ('{"review": "great"}', "use `format=jsonl` `text_column=NAME` to read the columns"),
        ("text", "looks like a column name"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_a_first_line_that_looks_like_a_table_causes_a_note(tmp_path, line, message, end):
    path = write(tmp_path / "a.txt", line + end)
    (note,) = notes(path)
    assert note.startswith(f"{path}: the first line")
    assert message in note
    assert notes(path, format="text") == []


@pytest.mark.parametrize(
    "line",
    [
        "great film, loved it",
        "Yes, no, maybe",
        "text messages, and a label",
        "A comment, I guess",
        "Title, body and mind",
        "wonderful,funny",
        "the text",
        "{curly}",
        '{"unfinished": ',
        "",
    ],
)
def test_ordinary_first_lines_cause_no_note(line):
    assert table_note(line.encode(), "text") is None


def test_tables_cause_no_note(tmp_path):
    assert notes(write(tmp_path / "a.csv", "text,label\na,pos\n")) == []
