"""Every input format, through ``Corpus``: what is read, and what is refused with which place."""

import bz2
import csv
import gzip
import hashlib
import importlib.util
import io
import json
import lzma
import os
import tarfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nlptx.corpus import Corpus, ReadOptions, labelled
from nlptx.errors import DataError, DecodingError, LabelError, NlptxError, SettingsError

BOM = b"\xef\xbb\xbf"
PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}

# One file, written anew for each example, is all these tests keep between examples.
quick = settings(
    derandomize=True, deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def read(*inputs, **options):
    return list(Corpus([str(name) for name in inputs], ReadOptions(**options)))


def texts(*inputs, **options):
    return [document.text for document in read(*inputs, **options)]


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refused(path, *parts, error=DataError, **options):
    """Reading ``path`` must raise ``error`` with a message that holds all ``parts``."""
    with pytest.raises(error) as caught:
        read(path, **options)
    for part in parts:
        assert part in str(caught.value)


# ---------------------------------------------------------------- plain text


def test_text_is_one_document_a_line(tmp_path):
    path = write(tmp_path / "a.txt", "one film\ntwo films\n")
    first, second = read(path)
    assert (first.text, first.label, first.line, first.fields) == ("one film", None, 1, None)
    assert (second.text, second.where) == ("two films", f"{path}:2")


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"a\nb\n", ["a", "b"]),
        (b"a\nb", ["a", "b"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (BOM + b"a\nb\n", ["a", "b"]),
        (b"a\n\n\nb\n", ["a", "", "", "b"]),
        (b"\n", [""]),
        (b"", []),
        (BOM, []),
        (b"  a \t\n", ["  a \t"]),
        (b"a\n" + BOM + b"b\n", ["a", "\ufeffb"]),
    ],
    ids=["plain", "no-last-newline", "crlf", "bom", "blank", "only-blank", "empty", "only-bom", "spaces", "inner-bom"],
)
def test_line_ends_and_byte_order_mark(tmp_path, content, lines):
    found = texts(write(tmp_path / "a.txt", content))
    # A file of nothing but the mark holds no text; whether that is no document or an empty one is all the same.
    assert found == lines or (content == BOM and found == [""])


def test_only_line_feeds_end_a_line(tmp_path):
    # str.splitlines would cut at every one of these.
    line = "a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g\rh"
    assert texts(write(tmp_path / "a.txt", line + "\n")) == [line]


@quick
@given(lines=st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=20)))
def test_lines_come_back_as_written(tmp_path, lines):
    path = write(tmp_path / "a.txt", "".join(line + "\n" for line in lines))
    # A leading byte-order mark is the one thing that is taken away.
    if lines:
        lines[0] = lines[0].removeprefix("\ufeff")
    assert texts(path) == lines


def test_nul_bytes_are_text(tmp_path):
    assert texts(write(tmp_path / "a.txt", b"a\0b\n\0\n")) == ["a\0b", "\0"]


def test_a_line_of_a_megabyte_is_one_document(tmp_path):
    line = "word " * 200_000
    assert texts(write(tmp_path / "a.txt", f"short\n{line}\nshort\n")) == ["short", line, "short"]


def test_an_unknown_suffix_is_text(tmp_path):
    assert texts(write(tmp_path / "reviews.dat", "a,b\n")) == ["a,b"]


def test_files_are_read_in_the_order_given(tmp_path):
    a, b = write(tmp_path / "a.txt", "1\n"), write(tmp_path / "b.txt", "2\n")
    assert texts(b, a, b) == ["2", "1", "2"]


# ---------------------------------------------------------------- CSV


def test_csv_gives_text_label_and_all_fields(tmp_path):
    path = write(tmp_path / "a.csv", 'id,text,label\n7,"Good, ""really"" good",pos\n8,Bad,\n')
    first, second = read(path)
    assert (first.text, first.label) == ('Good, "really" good', "pos")
    assert first.fields == {"id": "7", "text": 'Good, "really" good', "label": "pos"}
    assert list(first.fields) == ["id", "text", "label"]
    assert (second.text, second.label, second.line) == ("Bad", None, 3)


def test_csv_columns_can_be_named(tmp_path):
    path = write(tmp_path / "a.csv", "stars,review\n5,Good\n")
    (document,) = read(path, text_column="review", label_column="stars")
    assert (document.text, document.label) == ("Good", "5")


def test_csv_without_a_label_column_has_no_labels(tmp_path):
    (document,) = read(write(tmp_path / "a.csv", "text\nGood\n"))
    assert document.label is None


def test_csv_line_numbers_count_the_newlines_in_quotes(tmp_path):
    path = write(tmp_path / "a.csv", 'text,label\n"two\nlines",pos\n"three\n\nlines",neg\nlast,pos\n')
    documents = read(path)
    assert [document.text for document in documents] == ["two\nlines", "three\n\nlines", "last"]
    assert [document.line for document in documents] == [2, 4, 7]


def test_csv_blank_lines_are_no_rows(tmp_path):
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
    # The csv module stops at 128 KiB by itself.
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


def test_csv_text_after_a_closing_quote_is_refused(tmp_path):
    path = write(tmp_path / "a.csv", 'text,label\n"a"b,pos\n')
    refused(path, f"{path}:2", "CSV")


def test_csv_missing_text_column_lists_the_columns(tmp_path):
    path = write(tmp_path / "a.csv", "id,review,label\n1,a,pos\n")
    refused(path, f"{path}:1", "'text'", "id, review, label", "--text-column")


def test_csv_column_named_twice(tmp_path):
    path = write(tmp_path / "a.csv", "text,label,label\na,pos,neg\n")
    refused(path, f"{path}:1", "'label'", "twice")


def test_csv_undecodable_byte_names_its_line(tmp_path):
    path = write(tmp_path / "a.csv", b'text,label\n"two\nlines",pos\ncaf\xe9,neg\n')
    refused(path, f"{path}:4", "0xe9", error=DecodingError)


@quick
@given(rows=st.lists(st.tuples(st.text(st.characters(exclude_categories=["Cs"])), st.sampled_from(["pos", "neg"]))))
def test_csv_rows_come_back_as_written(tmp_path, rows):
    with io.StringIO(newline="") as out:
        csv.writer(out, quoting=csv.QUOTE_ALL).writerows([("text", "label"), *rows])
        path = write(tmp_path / "a.csv", out.getvalue())
    assert [(document.text, document.label) for document in read(path)] == rows


# ---------------------------------------------------------------- TSV


def test_tsv_takes_quotes_literally(tmp_path):
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
        ("id\tlabel\n1\tpos\n", 1, ["id, label", "--text-column"]),
        ("text\ttext\na\tb\n", 1, ["twice"]),
    ],
)
def test_tsv_rows_that_do_not_fit(tmp_path, content, line, parts):
    path = write(tmp_path / "a.tsv", content)
    refused(path, f"{path}:{line}", *parts)


# ---------------------------------------------------------------- JSON lines


def test_jsonl_gives_text_label_and_all_fields(tmp_path):
    rows = [{"text": "Good\n", "label": "pos", "n": [1, None]}, {"text": "Bad", "label": None}]
    path = write(tmp_path / "a.jsonl", "\n".join(json.dumps(row) for row in rows) + "\n\n")
    first, second = read(path)
    assert (first.text, first.label, first.line) == ("Good\n", "pos", 1)
    assert [first.fields, second.fields] == rows
    assert second.label is None


def test_ndjson_is_jsonl(tmp_path):
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
def test_jsonl_labels_become_words(tmp_path, value, label):
    (document,) = read(write(tmp_path / "a.jsonl", f'{{"text": "a", "label": {value}}}\n'))
    assert document.label == label


def test_two_numbers_are_two_labels(tmp_path):
    # Six significant digits would make one label of them.
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
        '{"text": null}',
        '{"text": 3}',
        '{"text": "a", "label": ["pos"]}',
        '{"text": "a", "label": {"pos": 1}}',
        '{"text": "a", "x": ' + "9" * 5000 + "}",
        "[" * 100_000,
        '{"text": ' * 100_000,
    ],
    ids=[
        *("nan", "infinity", "minus-infinity", "overflow", "twice", "twice-inside", "list", "string", "number", "null"),
        *("cut-off", "two-values", "quotes", "null-text", "number-text", "list-label", "object-label", "huge-number"),
        *("nested-lists", "nested-objects"),
    ],
)
def test_jsonl_refuses_what_is_no_object_with_a_text(tmp_path, line):
    path = write(tmp_path / "a.jsonl", f'{{"text": "fine"}}\n\n{line}\n')
    refused(path, f"{path}:3")


def test_jsonl_missing_text_lists_the_keys(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"text": "a"}\n{"id": 1, "review": "b"}\n')
    refused(path, f"{path}:2", "'text'", "id, review", "--text-column")


def test_jsonl_nul_and_lone_surrogates_are_read_and_digested(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"text": "a\\u0000b\\ud800", "label": "\\udfff"}\n')
    corpus = Corpus([str(path)])
    (document,) = corpus
    assert (document.text, document.label) == ("a\0b\ud800", "\udfff")
    assert len(corpus.sha256) == 64


@quick
@given(rows=st.lists(st.fixed_dictionaries({"text": st.text(), "id": st.integers()}), max_size=5))
def test_jsonl_rows_come_back_as_written(tmp_path, rows):
    path = write(tmp_path / "a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    assert [document.fields for document in read(path)] == rows


# ---------------------------------------------------------------- Parquet


def test_parquet_without_pyarrow_says_what_to_install(tmp_path):
    if importlib.util.find_spec("pyarrow"):
        pytest.skip("pyarrow is installed")
    refused(write(tmp_path / "a.parquet", b"PAR1"), "pyarrow", "nlptx[parquet]", error=NlptxError)


def test_parquet_reads_like_a_table(tmp_path):
    pytest.importorskip("pyarrow")
    import pandas as pd

    path = tmp_path / "a.parquet"
    pd.DataFrame({"text": ["a", "b"], "label": ["pos", "neg"]}).to_parquet(path)
    assert [(document.text, document.label) for document in read(path)] == [("a", "pos"), ("b", "neg")]
    refused(write(tmp_path / "b.parquet", b"not parquet"), "b.parquet")


# ---------------------------------------------------------------- compressed files


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", "one\ntwo\n"),
        ("a", "one\ntwo\n"),
        ("a.csv", "text\none\ntwo\n"),
        ("a.jsonl", '{"text": "one"}\n{"text": "two"}\n'),
    ],
    ids=["text", "no-suffix", "csv", "jsonl"],
)
def test_compressed_files_are_read_as_what_they_hold(tmp_path, suffix, name, content):
    path = write(tmp_path / f"{name}.{suffix}", PACKERS[suffix](content.encode()))
    assert texts(path) == ["one", "two"]


@pytest.mark.parametrize("suffix", PACKERS)
def test_truncated_compressed_file_is_bad_data(tmp_path, suffix):
    packed = PACKERS[suffix]("".join(f"document {n * n}\n" for n in range(500)).encode())
    path = tmp_path / f"a.txt.{suffix}"
    for length in (1, 5, 12, len(packed) // 2, len(packed) - 9, len(packed) - 1):
        refused(write(path, packed[:length]), str(path), "truncated")


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.jsonl"])
def test_a_file_that_only_claims_to_be_compressed_is_bad_data(tmp_path, suffix, name):
    path = write(tmp_path / f"{name}.{suffix}", b"this is plain text\n" * 9)
    refused(path, str(path), "damaged")


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_flipped_bit_in_a_compressed_file_is_bad_data(tmp_path, suffix):
    packed = bytearray(PACKERS[suffix]("".join(f"document {n * n}\n" for n in range(500)).encode()))
    packed[len(packed) // 2] ^= 16
    path = write(tmp_path / f"a.txt.{suffix}", bytes(packed))
    refused(path, str(path))


# ---------------------------------------------------------------- folders


def test_folder_is_one_document_a_file(tmp_path):
    write(tmp_path / "b.txt", "\nsecond\ntext\n")
    write(tmp_path / "a.txt", BOM + b"first\r\n")
    first, second = read(tmp_path)
    assert (first.text, first.label, first.line, first.source) == ("first", None, 0, str(tmp_path / "a.txt"))
    assert second.text == "second\ntext"
    assert second.where == str(tmp_path / "b.txt")


def test_folder_of_class_folders_gives_labels(tmp_path):
    for label in ("pos", "neg", "so so"):
        write(tmp_path / label / "1.txt", f"a {label} film")
    assert {document.label: document.text for document in read(tmp_path)} == {
        label: f"a {label} film" for label in ("pos", "neg", "so so")
    }


def test_folder_leaves_out_what_is_no_document(tmp_path):
    write(tmp_path / "pos" / "1.txt", "yes")
    for name in ("pos/.hidden.txt", "pos/._1.txt", "pos/notes.md", "pos/table.csv", "urls_pos.txt", "README"):
        write(tmp_path / name, "no")
    (tmp_path / "folder.txt").mkdir()
    assert texts(tmp_path) == ["yes"]


def test_folder_order_is_that_of_the_names(tmp_path):
    for number in (10, 2, 33, 1):
        write(tmp_path / "pos" / f"{number}.txt", str(number))
    assert texts(tmp_path) == sorted(["10", "2", "33", "1"])


def test_empty_folder_says_what_it_expects(tmp_path):
    write(tmp_path / "a.csv", "text\na\n")
    refused(tmp_path, str(tmp_path), ".txt", "one document per")


def test_undecodable_document_names_file_and_line(tmp_path):
    path = write(tmp_path / "pos" / "1.txt", b"fine\nfine\ncaf\xe9\n")
    refused(tmp_path, f"{path}:3", "0xe9", error=DecodingError)


# ---------------------------------------------------------------- the layout of aclImdb

IMDB = {
    "README": "no text",
    "imdb.vocab": "the\nand\n",
    "train/urls_pos.txt": "http://example.org\n",
    "train/labeledBow.feat": "9 0:9\n",
    "train/pos/0_9.txt": "train good",
    "train/neg/0_3.txt": "train bad",
    "train/unsup/0_0.txt": "unsup one",
    "train/unsup/1_0.txt": "unsup two",
    "test/urls_neg.txt": "http://example.org\n",
    "test/pos/0_10.txt": "test good",
    "test/neg/0_2.txt": "test bad",
}
SPLITS = {
    ("train",): {("train good", "pos"), ("train bad", "neg")},
    ("test",): {("test good", "pos"), ("test bad", "neg")},
    ("unsup",): {("unsup one", None), ("unsup two", None)},
}


@pytest.fixture(params=["folder", "tar", "tar.gz", "tgz", "tar.bz2", "tar.xz"])
def imdb(tmp_path, request):
    return lay_out(tmp_path, IMDB, request.param)


def lay_out(tmp_path, files, kind):
    """Write ``files`` as a folder, or as an archive with that suffix."""
    folder = tmp_path / "aclImdb"
    for name, content in files.items():
        write(folder / name, content)
    if kind == "folder":
        return folder
    path = tmp_path / f"aclImdb_v1.{kind}"
    packing = kind.removeprefix("tar").removeprefix(".").replace("tgz", "gz")
    with tarfile.open(path, f"w:{packing}") as archive:
        archive.add(folder, "aclImdb")
    return path


@pytest.mark.parametrize("split", SPLITS, ids=[split[0] for split in SPLITS])
def test_imdb_split(imdb, split):
    documents = read(imdb, splits=split)
    assert {(document.text, document.label) for document in documents} == SPLITS[split]
    assert len(documents) == 2


def test_imdb_several_splits(imdb):
    found = {(document.text, document.label) for document in read(imdb, splits=("train", "unsup"))}
    assert found == SPLITS["train",] | SPLITS["unsup",]


def test_imdb_without_a_split_is_all_of_it(imdb):
    found = {(document.text, document.label) for document in read(imdb)}
    assert found == set().union(*SPLITS.values())


@pytest.mark.parametrize("split", [(), ("train",), ("unsup",)], ids=["all", "train", "unsup"])
@pytest.mark.parametrize("kind", ["folder", "tar.gz"])
def test_imdb_word_ratings_are_no_review(tmp_path, kind, split):
    # The published archive has this list of numbers, one a word, beside train/ and test/.
    path = lay_out(tmp_path, IMDB | {"imdbEr.txt": "0.0490972013402\n0.201363575849\n"}, kind)
    assert not [document.where for document in read(path, splits=split) if "imdbEr" in document.where]


def test_a_split_may_be_named_as_the_folder(tmp_path):
    write(tmp_path / "train" / "pos" / "1.txt", "yes")
    (document,) = read(tmp_path / "train", splits=("train",))
    assert document.label == "pos"


def test_a_split_that_is_not_there(tmp_path):
    write(tmp_path / "train" / "pos" / "1.txt", "yes")
    refused(tmp_path, str(tmp_path), "test", splits=("test",))


@pytest.mark.parametrize("options", [{"splits": ("dev",)}, {"format": "xml"}])
def test_unknown_options_are_refused(options):
    with pytest.raises(SettingsError):
        ReadOptions(**options)


# ---------------------------------------------------------------- archives


def add(archive, name, content=b"", **attributes):
    member = tarfile.TarInfo(name)
    member.size = len(content)
    for key, value in attributes.items():
        setattr(member, key, value)
    archive.addfile(member, io.BytesIO(content))


def test_archive_members_know_where_they_came_from(tmp_path):
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        add(archive, "films/pos/1.txt", b"good\n")
    (document,) = read(path)
    assert (document.text, document.label, document.where) == ("good", "pos", f"{path}:films/pos/1.txt")


def test_archive_of_class_folders_without_a_root(tmp_path):
    path = tmp_path / "a.tgz"
    with tarfile.open(path, "w:gz") as archive:
        add(archive, "./pos/1.txt", b"good")
        add(archive, "./neg/1.txt", b"bad")
        add(archive, "./loose.txt", b"loose")
    assert [(document.text, document.label) for document in read(path)] == [
        ("good", "pos"),
        ("bad", "neg"),
        ("loose", None),
    ]


def test_hostile_member_names_are_read_and_nothing_is_unpacked(tmp_path, monkeypatch):
    inside = tmp_path / "inside"
    inside.mkdir()
    monkeypatch.chdir(inside)
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        add(archive, "../../pos/up.txt", b"up")
        add(archive, f"{tmp_path}/neg/absolute.txt", b"absolute")
    assert [(document.text, document.label) for document in read(path)] == [("up", "pos"), ("absolute", "neg")]
    assert sorted(name.name for name in tmp_path.rglob("*")) == ["a.tar", "inside"]


@pytest.mark.parametrize("name", ["../up.txt", "/absolute.txt", "./here.txt"])
def test_dots_and_slashes_are_no_label(tmp_path, name):
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        add(archive, name, b"text")
    (document,) = read(path)
    assert document.label is None


def test_links_devices_and_pipes_in_an_archive_are_passed_over(tmp_path):
    secret = write(tmp_path / "secret.txt", "secret")
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        add(archive, "pos/1.txt", b"good")
        add(archive, "pos/link.txt", type=tarfile.SYMTYPE, linkname=str(secret))
        add(archive, "pos/hard.txt", type=tarfile.LNKTYPE, linkname="pos/1.txt")
        add(archive, "pos/device.txt", type=tarfile.CHRTYPE, devmajor=1, devminor=5)
        add(archive, "pos/block.txt", type=tarfile.BLKTYPE)
        add(archive, "pos/pipe.txt", type=tarfile.FIFOTYPE)
        add(archive, "pos/folder.txt", type=tarfile.DIRTYPE)
        add(archive, "pos/2.txt", b"fine")
    assert texts(path) == ["good", "fine"]


def test_archive_without_texts_is_refused(tmp_path):
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        add(archive, "a.csv", b"text\na\n")
    refused(path, str(path), ".txt")


@pytest.mark.parametrize("packing", ["", "gz", "bz2", "xz"])
def test_truncated_archive_loses_no_document_in_silence(tmp_path, packing):
    path = tmp_path / ("a.tar" + (packing and f".{packing}"))
    with tarfile.open(path, f"w:{packing}") as archive:
        for number in range(6):
            # Digits of squares do not compress away, so cuts fall into headers and into contents.
            add(archive, f"pos/{number}.txt", " ".join(str(n**7 + number) for n in range(60)).encode())
    whole, expected = path.read_bytes(), texts(path)
    # Where a plain archive ends between two members, no reader can tell that there were more.
    sizes = [512 + -(-len(text) // 512) * 512 for text in expected]  # a header, and the content in whole blocks
    borders = {sum(sizes[:number]) for number in range(7)} if not packing else set()
    for length in range(1, len(whole), 101):
        if length in borders:
            continue
        write(path, whole[:length])
        try:
            found = texts(path)
        except DataError as error:
            assert str(path) in str(error)
        else:
            assert found == expected, f"cut to {length} of {len(whole)} bytes"


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz", "a.tgz", "a.tar.xz"])
@pytest.mark.parametrize("content", [b"", b"this is no archive\n" * 100], ids=["empty", "text"])
def test_a_file_that_is_no_archive_is_bad_data(tmp_path, name, content):
    path = write(tmp_path / name, content)
    refused(path, str(path))


# ---------------------------------------------------------------- standard input


@pytest.fixture
def pipe(monkeypatch):
    """Return a function that puts bytes on standard input."""
    return lambda content: monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_standard_input_is_text_lines(pipe):
    pipe(BOM + b"one\r\n\ntwo")
    documents = read("-")
    assert [document.text for document in documents] == ["one", "", "two"]
    assert documents[2].where == "<stdin>:3"


@pytest.mark.parametrize(
    ("form", "content"),
    [
        ("csv", b'text,label\n"a, b",pos\n'),
        ("tsv", b"text\tlabel\na, b\tpos\n"),
        ("jsonl", b'{"text": "a, b", "label": "pos"}'),
    ],
)
def test_standard_input_in_a_named_format(pipe, form, content):
    pipe(content)
    (document,) = read("-", format=form)
    assert (document.text, document.label) == ("a, b", "pos")


def test_standard_input_beside_files(tmp_path, pipe):
    pipe(b"piped\n")
    path = write(tmp_path / "a.txt", "file\n")
    assert texts(path, "-", path) == ["file", "piped", "file"]


def test_undecodable_standard_input_names_the_line(pipe):
    pipe(b"fine\n\xff\n")
    refused("-", "<stdin>:2", error=DecodingError)


def test_closed_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    refused("-", "standard input", error=SettingsError)


# ---------------------------------------------------------------- what cannot be read


@pytest.mark.parametrize("name", ["none.txt", "none.csv.gz", "none.tar.gz", "none.tar", "none/", "none.parquet"])
def test_missing_file_is_named(tmp_path, name):
    refused(f"{tmp_path}/{name}", f"{tmp_path}/{name}", "no such", error=SettingsError)


def test_an_explicit_format_overrides_the_name(tmp_path):
    path = write(tmp_path / "a.txt", "text,label\na,pos\n")
    (document,) = read(path, format="csv")
    assert document.label == "pos"
    assert len(read(write(tmp_path / "a.csv", "text,label\na,pos\n"), format="text")) == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_file_is_named(tmp_path):
    path = write(tmp_path / "a.txt", "a\n")
    path.chmod(0)
    refused(path, str(path), "permission")


@pytest.mark.parametrize(
    ("content", "line"),
    [(b"fine\ncaf\xe9\n", 2), (b"\xff\xfea\0", 1), (b"a\n\nb\xc3", 3), (b"\xed\xa0\x80\n", 1)],
    ids=["latin-1", "utf-16", "cut-off", "surrogate"],
)
def test_undecodable_text_names_file_line_and_way_out(tmp_path, content, line):
    path = write(tmp_path / "a.txt", content)
    refused(path, f"{path}:{line}", "UTF-8", "--encoding-errors", error=DecodingError)


def test_undecodable_text_can_be_replaced(tmp_path):
    path = write(tmp_path / "a.txt", b"caf\xe9\nfine\n")
    assert texts(path, encoding_errors="replace") == ["caf\ufffd", "fine"]
    table = write(tmp_path / "a.csv", b"text,label\ncaf\xe9,pos\n")
    assert texts(table, encoding_errors="replace") == ["caf\ufffd"]
    write(tmp_path / "folder" / "pos" / "1.txt", b"caf\xe9")
    assert texts(tmp_path / "folder", encoding_errors="replace") == ["caf\ufffd"]


# ---------------------------------------------------------------- the digest, and labels


def digest(*inputs):
    corpus = Corpus([str(name) for name in inputs])
    for _ in corpus:
        pass
    return corpus.sha256


def test_digest_of_a_text_file_is_that_of_its_bytes(tmp_path):
    content = "one\n\ncafé\n".encode()
    assert digest(write(tmp_path / "a.txt", content)) == hashlib.sha256(content).hexdigest()


def test_digest_covers_the_texts_and_not_their_packing(tmp_path, pipe):
    content = "one\ntwo\n\ncafé\n".encode()
    plain = digest(write(tmp_path / "a.txt", content))
    packed = [write(tmp_path / f"b.{suffix}", pack(content)) for suffix, pack in PACKERS.items()]
    pieces = [write(tmp_path / "1.txt", content[:4]), write(tmp_path / "2.txt", content[4:])]
    dressed = write(tmp_path / "crlf.txt", BOM + content.replace(b"\n", b"\r\n").removesuffix(b"\r\n"))
    pipe(content)
    assert {*map(digest, packed), digest(*pieces), digest(dressed), digest("-")} == {plain}


def test_digest_of_a_table_does_not_depend_on_its_format(tmp_path):
    tables = [
        write(tmp_path / "a.csv", 'id,text,label\n1,"a b",pos\n'),
        write(tmp_path / "a.tsv", "label\ttext\npos\ta b\n"),
        write(tmp_path / "a.jsonl", '{"label": "pos", "text": "a b"}'),
    ]
    assert len({digest(table) for table in tables}) == 1


def test_digest_tells_texts_labels_and_order_apart(tmp_path):
    contents = ["a,pos\nb,neg\n", "a,neg\nb,pos\n", "b,neg\na,pos\n", "a,pos\nc,neg\n", "a,pos\n", "a,\nb,\n"]
    paths = [write(tmp_path / f"{n}.csv", "text,label\n" + content) for n, content in enumerate(contents)]
    assert len({digest(path) for path in paths}) == len(paths)


def test_documents_are_counted(tmp_path):
    corpus = Corpus([str(write(tmp_path / "a.txt", "a\n\nb\n"))])
    assert corpus.documents == 0
    assert len(list(corpus)) == corpus.documents == 3


def test_reading_can_stop_early(tmp_path):
    # A file left open would be reported as a warning, and warnings are errors here.
    document = next(iter(Corpus([str(write(tmp_path / "a.txt.gz", gzip.compress(b"a\nb\n")))])))
    assert document.text == "a"


def test_labelled_passes_labelled_documents_on(tmp_path):
    path = write(tmp_path / "a.csv", "text,label\na,pos\nb,neg\n")
    assert [document.label for document in labelled(Corpus([str(path)]))] == ["pos", "neg"]


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("a.csv", "text,label\na,pos\nb,\n", ":3"),
        ("a.csv", "text,label\na,pos\nb,  \n", ":3"),
        ("a.jsonl", '{"text": "a", "label": "pos"}\n{"text": "b"}\n', ":2"),
        ("a.txt", "a\n", ":1"),
    ],
)
def test_labelled_names_the_first_text_without_a_label(tmp_path, name, content, line):
    path = write(tmp_path / name, content)
    with pytest.raises(LabelError) as caught:
        list(labelled(Corpus([str(path)])))
    assert caught.value.where == f"{path}{line}"
    assert "--label-column" in str(caught.value)
