"""Partitions: pieces of files that together have the lines of the whole file."""

import gzip
import tarfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlptx.corpus.corpus import Corpus
from nlptx.corpus.cutting import cut_inputs
from nlptx.corpus.partition import Partition
from nlptx.errors import DataError, DecodingError, SettingsError

LINES = st.lists(
    st.sampled_from([b"a good film", b"", b"\xef\xbb\xbfx", b"caf\xc3\xa9 \r", b"y" * 40, b"\xe2\x80\xa8"])
)


def documents(inputs):
    return [(document.text, document.line) for document in Corpus(inputs)]


@given(LINES, st.booleans(), st.integers(1, 60), st.booleans())
@settings(max_examples=150)
def test_partitions_have_the_lines_of_the_file(tmp_path_factory, lines, ended, size, bom):
    path = tmp_path_factory.mktemp("parts") / "texts.txt"
    path.write_bytes(b"\xef\xbb\xbf" * bom + b"\n".join(lines) + b"\n" * ended)
    parts = cut_inputs([str(path)], "auto", size)
    expected = documents([str(path)])
    found = [(text, part.where(f"{path}:{line}")) for part in parts for text, line in documents([part])]
    assert found == [(text, f"{path}:{line}") for text, line in expected]
    blocks = b"".join(block for part in parts for block in Corpus([part]).blocks())
    assert blocks == b"".join(Corpus([str(path)]).blocks())


def test_the_sizes_depend_only_on_the_file(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_bytes(b"0123456789\n" * 10)
    parts = cut_inputs([str(path)], "auto", 25)
    assert [(part.start, part.stop) for part in parts] == [(0, 25), (25, 50), (50, 75), (75, 100), (100, 110)]
    assert sum(part.size for part in parts) == 110
    assert str(parts[1]) == f"{path}, bytes 25 to 50"


def test_an_error_names_the_line_in_the_file(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_bytes(b"one\ntwo\nthree\nfo\xffur\nfive\n")
    parts = cut_inputs([str(path)], "auto", 6)
    bad = next(part for part in parts if part.start <= path.read_bytes().index(b"fo") < part.stop)
    with pytest.raises(DecodingError) as raised, bad.errors_located():
        documents([bad])
    assert raised.value.where == f"{path}:4"


def test_json_lines_are_cut_and_tables_are_not(tmp_path):
    rows = "".join(f'{{"text": "number {n}"}}\n' for n in range(9))
    (tmp_path / "rows.jsonl").write_text(rows)
    (tmp_path / "rows.csv").write_text("text\n" + '"two\nlines"\n' * 9)
    cut = cut_inputs([str(tmp_path / "rows.jsonl")], "auto", 50)
    assert len(cut) > 2
    assert [text for part in cut for text, _ in documents([part])] == [f"number {n}" for n in range(9)]
    (whole,) = cut_inputs([str(tmp_path / "rows.csv")], "auto", 50)
    assert whole.is_whole
    assert documents([whole]) == documents([str(tmp_path / "rows.csv")])


def test_what_cannot_be_cut_is_one_partition(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder/pos").mkdir(parents=True)
    (tmp_path / "folder/pos/1.txt").write_text("a text")
    (tmp_path / "packed.txt.gz").write_bytes(gzip.compress(b"one\ntwo\n"))
    with tarfile.open("archive.tar", "w") as archive:
        archive.add("folder")
    inputs = ["./folder/", "packed.txt.gz", "archive.tar"]
    parts = cut_inputs(inputs, "auto", 1)
    assert [part.is_whole for part in parts] == [True] * 3
    monkeypatch.chdir("/")  # workers run in other folders
    there = [(document.source, document.text) for document in Corpus(parts)]
    monkeypatch.chdir(tmp_path)
    assert there == [(document.source, document.text) for document in Corpus(inputs)]


def test_an_empty_file_has_one_partition(tmp_path):
    (tmp_path / "empty.txt").touch()
    (part,) = cut_inputs([str(tmp_path / "empty.txt")], "auto", 10)
    assert documents([part]) == []


def test_only_the_first_partition_is_checked_for_its_content(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_bytes(b"PK\x03\x04 is how a zip file starts\n" * 3)
    first, *others = cut_inputs([str(path)], "auto", 30)
    with pytest.raises(DataError, match="zip"):
        documents([first])
    assert documents(others)


@pytest.mark.parametrize(("name", "message"), [("-", "standard input"), ("missing.txt", "no such file")])
def test_inputs_that_cannot_be_partitioned(name, message):
    with pytest.raises(SettingsError, match=message):
        cut_inputs([name], "auto", 10)


def test_positions_outside_the_file_are_kept():
    part = Partition("texts.txt", "/texts.txt", 10, 20)
    assert part.where("other.txt:3") == "other.txt:3"
    assert part.where("texts.txt") == "texts.txt"
