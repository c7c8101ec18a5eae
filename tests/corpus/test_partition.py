"""Tests of partitions: pieces of files that together contain exactly the lines of the files."""

import gzip
import tarfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlptx.corpus.corpus import Corpus
from nlptx.corpus.partition import Partition
from nlptx.corpus.partitioning import partition_inputs
from nlptx.corpus.read_options import ReadOptions
from nlptx.errors import DataError, DecodingError, SettingsError

LINES = st.lists(
    st.sampled_from([b"a good film", b"", b"\xef\xbb\xbfx", b"caf\xc3\xa9 \r", b"y" * 40, b"\xe2\x80\xa8"])
)


def documents(inputs):
    return [(document.text, document.line) for document in Corpus(inputs)]


@given(LINES, st.booleans(), st.integers(1, 60), st.booleans())
@settings(max_examples=80)
def test_partitions_have_the_lines_of_the_file(tmp_path_factory, lines, ended, size, bom):
    path = tmp_path_factory.mktemp("parts") / "texts.txt"
    path.write_bytes(b"\xef\xbb\xbf" * bom + b"\n".join(lines) + b"\n" * ended)
    parts = partition_inputs([str(path)], ReadOptions(), size)
    expected = documents([str(path)])
    found = [(text, part.locate(f"{path}:{line}")) for part in parts for text, line in documents([part])]
    assert found == [(text, f"{path}:{line}") for text, line in expected]
    blocks = b"".join(block for part in parts for block in Corpus([part]).blocks())
    assert blocks == b"".join(Corpus([str(path)]).blocks())


def test_the_sizes_depend_only_on_the_file(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_bytes(b"0123456789\n" * 10)
    parts = partition_inputs([str(path)], ReadOptions(), 25)
    assert [(part.start, part.stop) for part in parts] == [(0, 25), (25, 50), (50, 75), (75, 100), (100, 110)]
    assert sum(part.size for part in parts) == 110
    assert str(parts[1]) == f"{path}, bytes 25 to 50"


def test_an_error_names_the_line_in_the_file(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_bytes(b"one\ntwo\nthree\nfo\xffur\nfive\n")
    parts = partition_inputs([str(path)], ReadOptions(), 6)
    bad = next(part for part in parts if part.start <= path.read_bytes().index(b"fo") < part.stop)
    with pytest.raises(DecodingError) as raised, bad.errors_located():
        documents([bad])
    assert raised.value.where == f"{path}:4"


@pytest.mark.parametrize("name", ["text", "Text", "review"])
def test_the_first_row_determines_the_text_column_of_all_partitions(tmp_path, name):
    path = tmp_path / "rows.jsonl"
    rows = [f'{{"{name}": "one"}}', *(['{"title": "zebra"}', f'{{"{name}": "three", "review ": "four"}}'] * 4)]
    path.write_text("\n".join(rows))
    parts = partition_inputs([str(path)], ReadOptions(), 60)
    assert len(parts) > 3
    assert [text for part in parts for text, _ in documents([part])] == [text for text, _ in documents([str(path)])]


def test_json_lines_are_cut(tmp_path):
    rows = "".join(f'{{"text": "number {n}"}}\n' for n in range(9))
    (tmp_path / "rows.jsonl").write_text(rows)
    cut = partition_inputs([str(tmp_path / "rows.jsonl")], ReadOptions(), 50)
    assert len(cut) > 2
    assert [text for part in cut for text, _ in documents([part])] == [f"number {n}" for n in range(9)]


@pytest.mark.parametrize("options", [ReadOptions(), ReadOptions(weight_column="weight", skip_bad=True)])
def test_the_first_row_of_a_partition_of_json_lines_may_lack_columns(tmp_path, options):
    """Only the first row of the file must have all columns, whether the file is read whole or in partitions."""
    path = tmp_path / "rows.jsonl"
    path.write_text('{"Text": "a", "weight": 2}\n' + '{"id": 1, "day": 2}\n' * 3 + '{"Text": "b", "weight": 1}\n')
    parts = partition_inputs([str(path)], options, 20)
    assert len(parts) > 3
    expected = [(document.text, document.weight) for document in Corpus([str(path)], options)]
    found = [(document.text, document.weight) for part in parts for document in Corpus([part], options)]
    assert found == expected


def test_the_only_column_is_the_text_in_every_partition(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f'{{"review": "number {n}"}}\n' for n in range(9)))
    parts = partition_inputs([str(path)], ReadOptions(), 50)
    assert len(parts) > 2
    assert [text for part in parts for text, _ in documents([part])] == [f"number {n}" for n in range(9)]


def rows_of(inputs, options):
    return [document[:5] for document in Corpus(inputs, options)]


# Cells of CSV tables, as they are in the file: some contain line ends, and quotes may be part of an unquoted cell.
CELLS = st.sampled_from(
    ["a good film", '"two\nlines"', '"said ""no""\n\n"', '5" screen', "", '"a;b,c"', "caf\u00e9", '"\r\n"']
)


@given(
    cells=st.lists(st.tuples(CELLS, st.sampled_from(["pos", '"neg"', '"ne""g"'])), max_size=20),
    header=st.sampled_from(["text{}label", '\ufeff"text"{}label', '"text"{}"label"{}"more\n\nlines"']),
    delimiter=st.sampled_from([",", ";", "\t"]),
    line_end=st.sampled_from(["\n", "\r\n"]),
    ended=st.booleans(),
    size=st.integers(1, 90),
)
@settings(max_examples=80)
def test_partitions_of_csv_tables_have_the_rows_of_the_file(
    tmp_path_factory, cells, header, delimiter, line_end, ended, size
):
    path = tmp_path_factory.mktemp("parts") / "rows.csv"
    more = header.count("{}") - 1
    rows = [header.replace("{}", delimiter), *(delimiter.join([text, label, *"x" * more]) for text, label in cells)]
    path.write_bytes((line_end.join(rows) + line_end * ended).encode())
    options = ReadOptions(delimiter=delimiter)
    parts = partition_inputs([str(path)], options, size)
    assert [part.start for part in parts] == [0, *(part.stop for part in parts[:-1])]
    for part in parts[1:]:
        assert part.start >= size
    expected = rows_of([str(path)], options)
    found = []
    for part in parts:
        for text, label, name, line, fields in rows_of([part], options):
            found.append((text, label, *part.locate(f"{name}:{line}").rsplit(":", 1), fields))
    assert found == [(text, label, name, str(line), fields) for text, label, name, line, fields in expected]
    if len(cells) * 12 > 3 * size:
        assert len(parts) > 1


@pytest.mark.parametrize("delimiter", [";", ":"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_partitions_of_csv_tables_that_name_their_delimiter(tmp_path, delimiter, start):
    path = tmp_path / "rows.csv"
    rows = [f"{start}sep={delimiter}", f"label{delimiter}text", *(f"pos{delimiter}number {n}" for n in range(30))]
    path.write_text("\r\n".join(rows), encoding="utf-8")
    expected = rows_of([str(path)], ReadOptions())
    assert len(expected) == 30
    for size in (1, 7, 40, 200, 10_000):
        parts = partition_inputs([str(path)], ReadOptions(), size)
        found = [(row, part.locate(f"{path}:{row[3]}")) for part in parts for row in rows_of([part], ReadOptions())]
        assert [row[:2] for row, _ in found] == [row[:2] for row in expected]
        assert [where for _, where in found] == [f"{path}:{row[3]}" for row in expected]


def test_partitions_of_tsv_tables_start_with_the_header(tmp_path):
    path = tmp_path / "rows.tsv"
    path.write_bytes(b"\xef\xbb\xbftext\tlabel\n" + b"".join(b'"number %d\tpos\n' % number for number in range(30)))
    expected = rows_of([str(path)], ReadOptions())
    for size in (1, 7, 40, 200, 10_000):
        parts = partition_inputs([str(path)], ReadOptions(), size)
        assert [row[0] for part in parts for row in rows_of([part], ReadOptions())] == [row[0] for row in expected]
        lines = [part.locate(f"{path}:{row[3]}") for part in parts for row in rows_of([part], ReadOptions())]
        assert lines == [f"{path}:{row[3]}" for row in expected]


def test_csv_tables_are_not_cut_after_a_row_that_cannot_be_read(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"text\n" + b'"good"x\n' * 10 + b'"bad\n' + b"good\n" * 50)
    parts = partition_inputs([str(path)], ReadOptions(), 20)
    assert 3 < len(parts) < 6
    assert parts[-1].size > 250
    with pytest.raises(DataError, match="not valid CSV") as raised, parts[-1].errors_located():
        rows_of([parts[-1]], ReadOptions(skip_bad=True))
    assert raised.value.where == f"{path}:12"
    (whole,) = partition_inputs([str(path)], ReadOptions(), 1000)
    assert (whole.start, whole.stop) == (0, path.stat().st_size)


def test_what_cannot_be_cut_is_one_partition(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder/pos").mkdir(parents=True)
    (tmp_path / "folder/pos/1.txt").write_text("a text")
    (tmp_path / "packed.txt.gz").write_bytes(gzip.compress(b"one\ntwo\n"))
    with tarfile.open("archive.tar", "w") as archive:
        archive.add("folder")
    inputs = ["./folder/", "packed.txt.gz", "archive.tar"]
    parts = partition_inputs(inputs, ReadOptions(), 1)
    assert [part.is_whole for part in parts] == [True] * 3
    monkeypatch.chdir("/")  # workers have other working directories
    there = [(document.source, document.text) for document in Corpus(parts)]
    monkeypatch.chdir(tmp_path)
    assert there == [(document.source, document.text) for document in Corpus(inputs)]


def test_parquet_is_read_by_its_absolute_path(tmp_path, monkeypatch):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    monkeypatch.chdir(tmp_path)
    parquet.write_table(pa.table({"text": ["a", "b"]}), "rows.parquet")
    parts = partition_inputs(["rows.parquet"], ReadOptions(), 1)
    monkeypatch.chdir("/")  # workers have other working directories
    assert [(document.source, document.text) for document in Corpus(parts)] == [
        ("rows.parquet", "a"),
        ("rows.parquet", "b"),
    ]


def test_an_empty_file_has_one_partition(tmp_path):
    (tmp_path / "empty.txt").touch()
    (part,) = partition_inputs([str(tmp_path / "empty.txt")], ReadOptions(), 10)
    assert documents([part]) == []


def test_only_the_first_partition_is_checked_for_its_content(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_bytes(b"PK\x03\x04 is how a zip file starts\n" * 3)
    first, *others = partition_inputs([str(path)], ReadOptions(), 30)
    with pytest.raises(DataError, match="zip"):
        documents([first])
    assert documents(others)


@pytest.mark.parametrize(("name", "message"), [("-", "standard input"), ("missing.txt", "no such file")])
def test_inputs_that_cannot_be_partitioned(name, message):
    with pytest.raises(SettingsError, match=message):
        partition_inputs([name], ReadOptions(), 10)


def test_positions_outside_the_file_are_kept():
    part = Partition("texts.txt", "/texts.txt", 10, 20)
    assert part.locate("other.txt:3") == "other.txt:3"
    assert part.locate("texts.txt") == "texts.txt"
