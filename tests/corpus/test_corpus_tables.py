"""Tests of reading tables: CSV, TSV, JSON lines and Parquet."""

import csv
import gzip
import importlib.util
import io
import json
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import BOM, quick, read, refused, texts, write

from nlptx.corpus import tables
from nlptx.corpus.corpus import Corpus
from nlptx.corpus.read_options import ReadOptions
from nlptx.errors import DecodingError, NlptxError

# ---------------------------------------------------------------- CSV


def test_csv_documents_have_text_label_and_all_fields(tmp_path):
    path = write(tmp_path / "a.csv", 'id,text,label\n7,"Good, ""really"" good",pos\n8,Bad,\n')
    first, second = read(path)
    assert (first.text, first.label) == ('Good, "really" good', "pos")
    assert first.fields == {"id": "7", "text": 'Good, "really" good', "label": "pos"}
    assert list(first.fields) == ["id", "text", "label"]
    assert (second.text, second.label, second.line) == ("Bad", None, 3)


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.txt"])
def test_a_carriage_return_alone_does_not_end_a_line(name, tmp_path):
    path = write(tmp_path / name, b"text\tlabel\rgood\tpos\rbad\tneg\r")
    refused(path, name, "its lines end in carriage returns only", "tr '\\r' '\\n'")


def test_a_carriage_return_inside_a_row_is_explained(tmp_path):
    path = write(tmp_path / "a.csv", b"text,label\r\na\rb,pos\r\n")
    refused(path, "a.csv:2: not valid CSV: a carriage return stands inside the row", "Put the field into quotes")
    path = write(path, b'text,label\r\n"a\rb",pos\r\n')
    assert [document.label for document in read(path)] == ["pos"]


def test_quoted_fields_of_a_tsv_file_are_noted_once(tmp_path):
    path = write(tmp_path / "a.tsv", 'text\tlabel\n"He said ""good"""\tpos\n"She said ""bad"""\tneg\n')
    notes = []
    first, _ = Corpus((str(path),), ReadOptions(), on_note=notes.append)
    assert first.text == '"He said ""good"""'
    (note,) = notes
    assert "line 2 seems to have quoted fields" in note
    assert "`format=csv` and `delimiter=tab`" in note
    write(path, 'text\tlabel\n"good" or ""bad""\tpos\n"so ""good\tneg\n')
    assert len(read(path)) == 2
    list(Corpus((str(path),), ReadOptions(), on_note=notes.append))
    assert len(notes) == 1


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_an_empty_line_above_the_header_is_explained(name, tmp_path):
    delimiter = "," if name == "a.csv" else "\t"
    path = write(tmp_path / name, f"\r\n\r\ntext{delimiter}label\r\ngood{delimiter}pos\r\n")
    refused(path, f"{name}:1: the line is empty; expected the names of the columns", "Delete the empty lines above")


def test_json_booleans_become_labels_in_json_notation(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"text": "a", "label": true}\n{"text": "b", "label": false}\n')
    assert [document.label for document in read(path)] == ["true", "false"]


def test_csv_columns_can_be_named(tmp_path):
    path = write(tmp_path / "a.csv", "stars,review\n5,Good\n")
    (document,) = read(path, text_column="review", label_column="stars")
    assert (document.text, document.label) == ("Good", "5")


def test_csv_without_a_label_column_has_no_labels(tmp_path):
    (document,) = read(write(tmp_path / "a.csv", "text\nGood\n"))
    assert document.label is None


def test_csv_line_numbers_include_newlines_in_quotes(tmp_path):
    path = write(tmp_path / "a.csv", 'text,label\n"two\nlines",pos\n"three\n\nlines",neg\nlast,pos\n')
    documents = read(path)
    assert [document.text for document in documents] == ["two\nlines", "three\n\nlines", "last"]
    assert [document.line for document in documents] == [2, 4, 7]


def test_csv_blank_lines_are_skipped(tmp_path):
    path = write(tmp_path / "a.csv", "text,label\n\na,pos\n\n\nb,neg\n\n")
    assert [(document.text, document.line) for document in read(path)] == [("a", 3), ("b", 6)]


@pytest.mark.parametrize("content", [b"text,label\r\na,pos\r\n", BOM + b'"text",label\na,pos', b"text,label\na,pos"])
def test_csv_line_ends_and_byte_order_mark(tmp_path, content):
    (document,) = read(write(tmp_path / "a.csv", content))
    assert document.fields == {"text": "a", "label": "pos"}


@pytest.mark.parametrize("content", ["", "text,label\n"])
def test_csv_without_rows_is_empty(tmp_path, content):
    assert read(write(tmp_path / "a.csv", content)) == []


def test_csv_fields_may_be_long(tmp_path):
    # The default field size limit of the csv module is 128 KiB.
    long = "x" * 1_000_000
    assert texts(write(tmp_path / "a.csv", f"text\n{long}\n")) == [long]


def test_csv_keeps_nul_bytes(tmp_path):
    assert texts(write(tmp_path / "a.csv", "text,label\na\0b,pos\n")) == ["a\0b"]


@pytest.mark.parametrize("row", ["only", "a,pos,more"])
def test_csv_row_with_the_wrong_number_of_fields(tmp_path, row):
    path = write(tmp_path / "a.csv", f'text,label\n"two\nlines",pos\n{row}\n')
    refused(path, f"{path}:4", f"{row.count(',') + 1} fields", "expected 2", "text, label")


def test_csv_unbalanced_quote_names_the_row_it_opens_in(tmp_path):
    path = write(tmp_path / "a.csv", 'text,label\na,pos\n"open,neg\nb,pos\n')
    refused(path, f"{path}:3", "CSV")


def test_csv_text_after_a_closing_quote_is_rejected(tmp_path):
    path = write(tmp_path / "a.csv", 'text,label\n"a"b,pos\n')
    refused(path, f"{path}:2", "CSV")


def test_csv_missing_text_column_lists_the_columns(tmp_path):
    path = write(tmp_path / "a.csv", "id,review,label\n1,a,pos\n")
    refused(path, f"{path}:1", "'text'", "id, review, label", "`text_column`")


def test_csv_duplicate_column_name(tmp_path):
    path = write(tmp_path / "a.csv", "text,label,label\na,pos,neg\n")
    refused(path, f"{path}:1", "duplicate", "'label'")


def test_csv_undecodable_byte_names_its_line(tmp_path):
    path = write(tmp_path / "a.csv", b'text,label\n"two\nlines",pos\ncaf\xe9,neg\n')
    refused(path, f"{path}:4", "0xe9", error=DecodingError)


@quick
@given(rows=st.lists(st.tuples(st.text(st.characters(exclude_categories=["Cs"])), st.sampled_from(["pos", "neg"]))))
def test_csv_round_trip(tmp_path, rows):
    with io.StringIO(newline="") as out:
        csv.writer(out, quoting=csv.QUOTE_ALL).writerows([("text", "label"), *rows])
        path = write(tmp_path / "a.csv", out.getvalue())
    assert [(document.text, document.label) for document in read(path)] == rows


# ---------------------------------------------------------------- TSV


def test_tsv_quotes_are_literal(tmp_path):
    path = write(tmp_path / "a.tsv", 'text\tlabel\n"Good" film\tpos\n"open\tneg\n')
    documents = read(path)
    assert [(document.text, document.label) for document in documents] == [('"Good" film', "pos"), ('"open', "neg")]
    assert [document.line for document in documents] == [2, 3]


def test_tsv_line_ends_byte_order_mark_and_blank_lines(tmp_path):
    path = write(tmp_path / "a.tsv", BOM + b"label\ttext\r\npos\ta\r\n\r\nneg\tb")
    assert [(document.text, document.label, document.line) for document in read(path)] == [
        ("a", "pos", 2),
        ("b", "neg", 4),
    ]


def test_tsv_keeps_empty_fields(tmp_path):
    (document,) = read(write(tmp_path / "a.tsv", "text\tlabel\tnote\n\tpos\t\n"))
    assert document.fields == {"text": "", "label": "pos", "note": ""}


@pytest.mark.parametrize(
    ("content", "line", "parts"),
    [
        ("text\tlabel\na\tpos\nb\n", 3, ["1 fields", "expected 2"]),
        ("text\tlabel\na\tb\tc\n", 2, ["3 fields", "expected 2"]),
        ("id\tlabel\n1\tpos\n", 1, ["id, label", "`text_column`"]),
        ("text\ttext\na\tb\n", 1, ["duplicate"]),
    ],
)
def test_tsv_rows_with_the_wrong_number_of_fields(tmp_path, content, line, parts):
    path = write(tmp_path / "a.tsv", content)
    refused(path, f"{path}:{line}", *parts)


# ---------------------------------------------------------------- JSON lines


def test_jsonl_documents_have_text_label_and_all_fields(tmp_path):
    rows = [{"text": "Good\n", "label": "pos", "n": [1, None]}, {"text": "Bad", "label": None}]
    path = write(tmp_path / "a.jsonl", "\n".join(json.dumps(row) for row in rows) + "\n\n")
    first, second = read(path)
    assert (first.text, first.label, first.line) == ("Good\n", "pos", 1)
    assert [first.fields, second.fields] == rows
    assert second.label is None


def test_the_suffix_ndjson_means_json_lines(tmp_path):
    assert texts(write(tmp_path / "a.ndjson", '{"text": "a"}\n')) == ["a"]


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ('"pos"', "pos"),
        ("1", "1"),
        ("1.0", "1"),
        ("0.5", "0.5"),
        ('" a \\t b\\n"', "a b"),
        ('""', None),
        ("null", None),
    ],
)
def test_jsonl_labels_become_strings(tmp_path, value, label):
    (document,) = read(write(tmp_path / "a.jsonl", f'{{"text": "a", "label": {value}}}\n'))
    assert document.label == label


def test_different_numbers_are_different_labels(tmp_path):
    # If these numbers were formatted with six significant digits, they would become equal.
    path = write(tmp_path / "a.jsonl", '{"text": "a", "label": 1234567.5}\n{"text": "a", "label": 1234568.5}\n')
    first, second = read(path)
    assert first.label != second.label


@pytest.mark.parametrize(
    "line",
    [
        '{"text": "a", "x": NaN}',
        '{"text": "a", "x": Infinity}',
        '{"text": "a", "x": -Infinity}',
        '{"text": "a", "x": 1e999}',
        '{"text": "a", "text": "b"}',
        '{"text": "a", "x": {"k": 1, "k": 2}}',
        '["text"]',
        '"text"',
        "3",
        "null",
        '{"text": "a"',
        '{"text": "a"} {"text": "b"}',
        "{'text': 'a'}",
        '{"text": 3}',
        '{"text": "a", "label": ["pos"]}',
        '{"text": "a", "label": {"pos": 1}}',
        '{"text": "a", "x": ' + "9" * 5000 + "}",
        "[" * 100_000,
        '{"text": ' * 100_000,
    ],
    ids=[
        *("nan", "infinity", "minus-infinity", "overflow", "twice", "twice-inside", "list", "string", "number", "null"),
        *("cut-off", "two-values", "quotes", "number-text", "list-label", "object-label", "huge-number"),
        *("nested-lists", "nested-objects"),
    ],
)
def test_jsonl_rejects_lines_that_are_not_objects_with_a_text(tmp_path, line):
    path = write(tmp_path / "a.jsonl", f'{{"text": "fine"}}\n\n{line}\n')
    refused(path, f"{path}:3")


def test_jsonl_missing_text_lists_the_keys(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"id": 1, "review": "b"}\n{"text": "a"}\n')
    refused(path, f"{path}:1", "'text'", "id, review", "`text_column`")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", '{"text": "a"}\n{"text": null}\n{"text": "b"}\n'),
        ("a.jsonl", '{"text": "a"}\n{"id": 7}\n{"text": "b"}\n'),
        ("a.csv", "text,id\na,1\n,2\nb,3\n"),
        ("a.tsv", "text\tid\na\t1\n\t2\nb\t3\n"),
    ],
    ids=["null", "no-key", "csv", "tsv"],
)
def test_a_missing_text_is_an_empty_text(tmp_path, name, content):
    assert texts(write(tmp_path / name, content)) == ["a", "", "b"]


def test_jsonl_nul_and_lone_surrogates_are_read_and_digested(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"text": "a\\u0000b\\ud800", "label": "\\udfff"}\n')
    corpus = Corpus([str(path)])
    (document,) = corpus
    assert (document.text, document.label) == ("a\0b\ud800", "\udfff")
    assert len(corpus.sha256) == 64


@quick
@given(rows=st.lists(st.fixed_dictionaries({"text": st.text(), "id": st.integers()}), max_size=5))
def test_jsonl_round_trip(tmp_path, rows):
    path = write(tmp_path / "a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    assert [document.fields for document in read(path)] == rows


# ---------------------------------------------------------------- Parquet


def test_parquet_without_pyarrow_advises_to_install_it(tmp_path):
    if importlib.util.find_spec("pyarrow"):
        pytest.skip("pyarrow is installed")
    refused(write(tmp_path / "a.parquet", b"PAR1"), "pyarrow", "nlptx[parquet]", error=NlptxError)


def test_parquet_is_read_as_a_table(tmp_path):
    pytest.importorskip("pyarrow")
    import pandas as pd

    path = tmp_path / "a.parquet"
    pd.DataFrame({"text": ["a", "b"], "label": ["pos", "neg"]}).to_parquet(path)
    assert [(document.text, document.label) for document in read(path)] == [("a", "pos"), ("b", "neg")]
    columns = {"text": ["a", None], "label": pd.array([1, None], "Int64"), "x": [0.5, float("nan")]}
    pd.DataFrame(columns).to_parquet(path)
    first, second = read(path)
    assert (first.text, first.label, first.fields["x"]) == ("a", "1", 0.5)
    assert (second.text, second.label, second.fields["x"]) == ("", None, None)
    refused(write(tmp_path / "b.parquet", b"not parquet"), "b.parquet")


def test_cells_of_parquet_are_kept(tmp_path):
    """Whole numbers beside empty cells are not rounded, long lists are not shortened, an unnamed index is left out."""
    pa = pytest.importorskip("pyarrow")
    import pandas as pd
    from pyarrow import parquet

    numbers = list(range(2000))
    table = pa.table(
        {
            "text": ["a", "b"],
            "id": [2**53 + 1, None],
            "list": [numbers, [float("inf")]],
            "day": [date(2026, 1, 2)] * 2,
            "label": [["x", "y"], ["x"]],
        }
    )
    path = tmp_path / "a.parquet"
    parquet.write_table(table, path)
    first, second = read(path, label_separator=";")
    assert [first.fields[name] for name in ("id", "list", "day")] == [2**53 + 1, numbers, date(2026, 1, 2)]
    assert (second.fields["id"], second.fields["list"]) == (None, [None])
    assert (first.label, second.label) == ("x;y", "x")
    refused(path, ":1", "the label is ['x', 'y']")
    pd.DataFrame({"text": ["a"]}, index=["i"]).to_parquet(path)
    assert read(path)[0].fields == {"text": "a"}
    parquet.write_table(pa.table([["a"], ["b"]], names=["text", "text"]), path)
    refused(path, "duplicate column 'text'")


def test_decimals_of_32_bits_in_parquet_keep_their_digits(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    stars = pa.array([3.7, 1.2, None, float("nan")], pa.float32())
    parquet.write_table(pa.table({"text": ["a", "b", "c", "d"], "label": stars}), path)
    assert [document.label for document in read(path)] == ["3.7", "1.2", None, None]
    assert [document.fields["label"] for document in read(path)] == [3.7, 1.2, None, None]


def test_labels_of_bytes_and_compressed_parquet_files_are_refused(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"text": ["a"], "label": [b"p"]}), path)
    refused(path, ":1", "the label is b'p'")
    refused(write(tmp_path / "a.parquet.gz", gzip.compress(path.read_bytes())), "Decompress it first")


def test_a_field_that_is_too_long_is_named_as_such(tmp_path, monkeypatch):
    before = csv.field_size_limit()
    monkeypatch.setattr(tables, "MAX_FIELD_LENGTH", before + 10)
    path = write(tmp_path / "a.csv", f"text\n{'x' * (before + 11)}\n")
    refused(path, ":2", f"a field has more than {before + 10:,} characters", ".jsonl")
    csv.field_size_limit(before + 20)
    assert len(texts(path)[0]) == before + 11  # a larger limit, set by the program, is kept
    csv.field_size_limit(before)


@pytest.mark.parametrize("weight", ["1_0", "１"])
def test_weights_are_ordinary_numbers(tmp_path, weight):
    refused(write(tmp_path / "a.csv", f"text,w\na,{weight}\n"), "expected a number", weight_column="w")


@pytest.mark.parametrize("index", ["text", "label", "id", ["label", "id"]])
def test_a_named_index_of_a_parquet_table_is_a_column(tmp_path, index):
    pytest.importorskip("pyarrow")
    import pandas as pd

    path = tmp_path / "a.parquet"
    pd.DataFrame({"id": ["r1"], "text": ["a"], "label": ["pos"]}).set_index(index).to_parquet(path)
    (document,) = read(path)
    assert (document.text, document.label) == ("a", "pos")
    assert document.fields == {"id": "r1", "text": "a", "label": "pos"}


def test_a_cell_of_a_parquet_table_that_cannot_be_read_is_named(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    buffers = [None, pa.py_buffer(bytes([0] * 4 + [1] + [0] * 3 + [2] + [0] * 3)), pa.py_buffer(b"a\xff")]
    not_utf8 = pa.Array.from_buffers(pa.string(), 2, buffers)
    path = tmp_path / "a.parquet"
    for values in (not_utf8, pa.array([0, 4_000_000], pa.date32()), pa.array([0, 10**13], pa.timestamp("s"))):
        parquet.write_table(pa.table({"text": ["a", "b"], "when": values}), path)
        refused(path, f"{path}:2: column 'when' cannot be read")
        assert [document.text for document in read(path, skip_bad=True)] == ["a"]


def test_tables_of_spreadsheets(tmp_path):
    """The first line of a CSV file may name the delimiter, and the last columns may be empty."""
    table = 'sep=|\r\ntext|label||\r\ngood|pos||\r\n"bad\r\nfilm"|neg||\r\n'
    found = read(write(tmp_path / "a.csv", table))
    assert [(document.text.split(), document.label, document.line) for document in found] == [
        (["good"], "pos", 3),
        (["bad", "film"], "neg", 4),
    ]
    assert found[0].fields == {"text": "good", "label": "pos"}


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("text,label,\na,b,c\n", "a.csv:2: column 3 has content, but no name"),
        ("text,note,note\na,b,c\n", "a.csv:1: duplicate column 'note' in the header"),
        ("text,,label\na,,b,c\n", "a.csv:2: 4 fields; expected 3"),
    ],
)
def test_columns_without_a_name(table, says, tmp_path):
    path = write(tmp_path / "a.csv", table)
    with pytest.raises(NlptxError) as caught:
        read(path)
    assert says in str(caught.value)
