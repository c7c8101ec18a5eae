"""Tests of reading corpora: plain text, standard input, read errors, and the digest of the input."""

import errno
import gzip
import hashlib
import io
import os
import tarfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading import BOM, PACKERS, quick, read, refused, texts, write

from nlptx.corpus import lines, source
from nlptx.corpus.corpus import Corpus
from nlptx.corpus.read_options import ReadOptions
from nlptx.errors import DataError, DecodingError, InputTypeError, SettingsError

# ---------------------------------------------------------------- plain text


def test_text_has_one_document_per_line(tmp_path):
    path = write(tmp_path / "a.txt", "one film\ntwo films\n")
    first, second = read(path)
    assert (first.text, first.label, first.line, first.fields) == ("one film", None, 1, None)
    assert (second.text, second.where) == ("two films", f"{path}:2")


def test_a_text_file_without_line_feeds_is_refused_if_carriage_returns_separate_its_lines(tmp_path):
    path = write(tmp_path / "a.txt", b"one film\rtwo films\r")
    with pytest.raises(DataError, match=r"a.txt: its lines end in carriage returns only"):
        list(Corpus((str(path),), ReadOptions()).blocks())
    path = write(tmp_path / "b.txt", b"one\rfilm\ntwo films\r")
    assert texts(path) == ["one\rfilm", "two films"]


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
    actual = texts(write(tmp_path / "a.txt", content))
    # A file that contains only a byte order mark may be read as no document or as one empty document.
    assert actual == lines or (content == BOM and actual == [""])


def test_only_line_feeds_end_a_line(tmp_path):
    # str.splitlines would split at each of these characters.
    line = "a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g\rh"
    assert texts(write(tmp_path / "a.txt", line + "\n")) == [line]


@quick
@given(lines=st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=20)))
def test_lines_are_read_unchanged(tmp_path, lines):
    path = write(tmp_path / "a.txt", "".join(line + "\n" for line in lines))
    # Only a leading byte order mark is removed.
    if lines:
        lines[0] = lines[0].removeprefix("\ufeff")
    assert texts(path) == lines


def test_nul_bytes_are_text(tmp_path):
    assert texts(write(tmp_path / "a.txt", b"a\0b\n\0\n")) == ["a\0b", "\0"]


def test_a_line_of_a_megabyte_is_one_document(tmp_path):
    line = "word " * 200_000
    assert texts(write(tmp_path / "a.txt", f"short\n{line}\nshort\n")) == ["short", line, "short"]


def test_a_file_with_an_unknown_suffix_is_text(tmp_path):
    assert texts(write(tmp_path / "reviews.dat", "a,b\n")) == ["a,b"]


def test_files_are_read_in_the_given_order(tmp_path):
    a, b = write(tmp_path / "a.txt", "1\n"), write(tmp_path / "b.txt", "2\n")
    assert texts(b, a, b) == ["2", "1", "2"]


# ---------------------------------------------------------------- standard input


@pytest.fixture
def pipe(monkeypatch):
    """Return a function that replaces standard input with the given bytes."""
    return lambda content: monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_standard_input_is_read_as_lines_of_text(pipe):
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


# ---------------------------------------------------------------- read errors


@pytest.mark.parametrize("name", ["none.txt", "none.csv.gz", "none.tar.gz", "none.tar", "none/", "none.parquet"])
def test_missing_file_is_named(tmp_path, name):
    refused(f"{tmp_path}/{name}", f"{tmp_path}/{name}", "no such", error=SettingsError)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"splits": ("dev",)}, SettingsError, "split is 'dev'; expected train, test or unsup"),
        ({"format": "xml"}, SettingsError, "input format is 'xml'"),
        ({"encoding_errors": "ignore"}, SettingsError, "`encoding_errors` is 'ignore'; expected strict or replace"),
        ({"text_column": 5}, InputTypeError, r"`text_column` is 5 \(int\); expected a str"),
        ({"weight_column": 5}, InputTypeError, r"`weight_column` is 5 \(int\); expected a str"),
        ({"splits": "train"}, InputTypeError, r"`splits` is 'train' \(str\); expected an instance of tuple"),
        ({"label_map": ["a"]}, InputTypeError, r"`label_map` is \['a'\] \(list\); expected an instance of Mapping"),
        ({"label_map": {"a": 1}}, InputTypeError, r"`label_map` is 1 \(int\); expected a str"),
        ({"skip_bad": "no"}, InputTypeError, r"`skip_bad` is 'no' \(str\); expected an instance of bool"),
    ],
)
def test_invalid_options_are_rejected(options, error, message):
    with pytest.raises(error, match=message):
        ReadOptions(**options)


def test_an_explicit_format_overrides_the_suffix(tmp_path):
    path = write(tmp_path / "a.txt", "text,label\na,pos\n")
    (document,) = read(path, format="csv")
    assert document.label == "pos"
    assert len(read(write(tmp_path / "a.csv", "text,label\na,pos\n"), format="text")) == 2


@pytest.mark.parametrize("packed", [False, True])
def test_files_in_a_folder_that_could_be_read_but_are_not_cause_a_note(tmp_path, packed):
    folder = tmp_path / "reviews"
    for name in ("pos/a.txt", "pos/b.csv", "pos/c.txt.gz", ".hidden.csv", "README.md", "neg/d.txt", "neg/e"):
        write(folder / name, "a\n")
    path = str(folder)
    if packed:
        with tarfile.open(tmp_path / "reviews.tar.gz", "w:gz") as archive:
            for file in sorted(folder.rglob("*")):
                archive.add(file, str(file.relative_to(folder)), recursive=False)
        path = f"{tmp_path}/reviews.tar.gz"
    notes: list[str] = []
    corpus = Corpus([path], on_note=notes.append)
    assert len(list(corpus)) == 2
    advice = "because only .txt files and files named by a number are read; rename documents, and pass tables by name"
    assert notes == [f"{path}: 3 files (neg/e, ...) were not read, {advice}"]


def test_only_selected_splits_cause_a_note_and_so_does_each_folder(tmp_path):
    for name in ("a/train/pos/a.txt", "a/train/b.csv", "a/test/c.csv", "b/train/pos/a.txt", "b/train/b.csv"):
        write(tmp_path / name, "a\n")
    notes: list[str] = []
    folders = [f"{tmp_path}/a", f"{tmp_path}/b"]
    assert len(list(Corpus(folders, ReadOptions(splits=("train",)), notes.append))) == 2
    assert [note.split(",")[0] for note in notes] == [
        f"{folder}: 1 file (train/b.csv) was not read" for folder in folders
    ]


@pytest.mark.parametrize(
    ("name", "split"),
    [("Train/pos", "train"), ("testing/pos", "test"), ("val/pos", "valid"), ("dev/x/pos", "valid"), ("valid", None)],
)
def test_other_names_of_splits(tmp_path, name, split):
    write(tmp_path / "a" / name / "a.txt", "a\n")
    write(tmp_path / "a/b.txt", "b\n")
    folder = f"{tmp_path}/a"
    (document,) = [each for each in read(folder) if each.label is not None]
    assert (document.label, document.split) == (name.rpartition("/")[2], split)
    notes: list[str] = []
    found = list(Corpus([folder], ReadOptions(splits=("train",)), notes.append))
    assert len(found) == (2 if split in ("train", None) else 1)
    reason = "because it is in another split; `splits=()` reads all splits"
    expected = f"{folder}: 1 file ({name}/a.txt) was not read, {reason}"
    assert notes == ([] if split in ("train", None) else [expected])


def test_files_whose_names_are_numbers_are_documents(tmp_path):
    for name in ("sci.space/60150", "sci.space/60151", "alt.atheism/49960"):
        write(tmp_path / name, f"about {name}\n")
    notes: list[str] = []
    documents = list(Corpus([str(tmp_path)], on_note=notes.append))
    assert [each.label for each in documents] == ["alt.atheism", "sci.space", "sci.space"]
    assert notes == []


@pytest.mark.parametrize(
    ("name", "advice"),
    [("pos/a", "Rename documents such as pos/a."), ("test/pos/a.txt", "`splits=()` reads all splits."), ("a.md", "")],
)
def test_the_error_for_a_folder_without_texts_says_what_to_do(tmp_path, name, advice):
    write(tmp_path / name, "a\n")
    with pytest.raises(DataError) as caught:
        list(Corpus([str(tmp_path)], ReadOptions(splits=("train",))))
    assert caught.value.hint.endswith(advice or "by name.")
    assert ("in split train" in caught.value.message) == name.startswith("test")


def test_a_folder_with_only_texts_causes_no_note(tmp_path):
    write(tmp_path / "a.txt", "a\n")
    write(tmp_path / "picture.png", "a\n")
    notes: list[str] = []
    assert len(list(Corpus([str(tmp_path)], on_note=notes.append))) == 1
    assert notes == []


def test_a_folder_that_cannot_be_listed_is_an_error(tmp_path, monkeypatch):
    write(tmp_path / "neg/a.txt", "a\n")
    write(tmp_path / "pos/b.txt", "b\n")
    scandir = os.scandir

    def fail_for_pos(path):
        if str(path).endswith("pos"):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", fail_for_pos)
    refused(tmp_path, str(tmp_path / "pos"), "permission denied")


def test_a_link_to_a_folder_is_read_like_the_folder(tmp_path):
    write(tmp_path / "folder" / "neg" / "1.txt", "bad\n")
    write(tmp_path / "elsewhere" / "1.txt", "good\n")
    (tmp_path / "folder" / "pos").symlink_to("../elsewhere")
    assert [(document.label, document.text) for document in read(tmp_path / "folder")] == [
        ("neg", "bad"),
        ("pos", "good"),
    ]


def test_a_link_back_to_a_folder_above_is_not_followed(tmp_path):
    write(tmp_path / "a" / "1.txt", "one\n")
    write(tmp_path / "b" / "2.txt", "two\n")
    (tmp_path / "a" / "b").symlink_to("../b")
    (tmp_path / "b" / "a").symlink_to("../a")
    (tmp_path / "a" / "self").symlink_to("self")
    assert sorted(texts(tmp_path / "a")) == ["one", "two"]


def test_suffixes_in_folders_match_in_any_case(tmp_path):
    write(tmp_path / "folder" / "pos" / "1.TXT", "good\n")
    assert texts(tmp_path / "folder") == ["good"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read all files")
def test_unreadable_file_is_named(tmp_path):
    path = write(tmp_path / "a.txt", "a\n")
    path.chmod(0)
    refused(path, str(path), "permission")


@pytest.mark.parametrize(
    ("content", "line"),
    [(b"fine\ncaf\xe9\n", 2), (b"a\n\nb\xc3", 3), (b"\xed\xa0\x80\n", 1)],
    ids=["latin-1", "cut-off", "surrogate"],
)
def test_the_error_for_undecodable_text_names_file_line_and_option(tmp_path, content, line):
    path = write(tmp_path / "a.txt", content)
    refused(path, f"{path}:{line}", "UTF-8", "`encoding_errors=replace`", error=DecodingError)


def test_undecodable_text_can_be_replaced(tmp_path):
    path = write(tmp_path / "a.txt", b"caf\xe9\nfine\n")
    assert texts(path, encoding_errors="replace") == ["caf\ufffd", "fine"]
    table = write(tmp_path / "a.csv", b"text,label\ncaf\xe9,pos\n")
    assert texts(table, encoding_errors="replace") == ["caf\ufffd"]
    write(tmp_path / "folder" / "pos" / "1.txt", b"caf\xe9")
    assert texts(tmp_path / "folder", encoding_errors="replace") == ["caf\ufffd"]


# ---------------------------------------------------------------- the digest


def digest(*inputs):
    corpus = Corpus([str(name) for name in inputs])
    for _ in corpus:
        pass
    return corpus.sha256


def test_digest_of_a_text_file_equals_the_hash_of_its_bytes(tmp_path):
    content = "one\n\ncafé\n".encode()
    assert digest(write(tmp_path / "a.txt", content)) == hashlib.sha256(content).hexdigest()


# Building blocks of text files, including line ends, byte order marks and invalid bytes.
BYTES = st.lists(st.sampled_from([b"a", b"film ", "\u00e9".encode(), b"\n", b"\r", b"\r\n", BOM, b"\xff", b"\0"]))


def outcome(read):
    """Return the result of ``read``, or its error message."""
    try:
        return read()
    except DataError as error:
        return str(error)


@settings(quick, max_examples=400)
@given(parts=BYTES, block=st.integers(1, 9), errors=st.sampled_from(["strict", "replace"]))
def test_blocks_contain_the_same_texts_as_documents(tmp_path, parts, block, errors):
    path = write(tmp_path / "a.txt", b"".join(parts))
    options = ReadOptions(encoding_errors=errors)
    one_by_one, in_blocks = Corpus([str(path)], options), Corpus([str(path)], options)
    expected = outcome(lambda: "".join(document.text + "\n" for document in one_by_one).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "BLOCK", block)
        assert outcome(lambda: b"".join(in_blocks.blocks())) == expected
    if isinstance(expected, str):
        return
    assert (in_blocks.documents, in_blocks.sha256) == (one_by_one.documents, one_by_one.sha256)


def test_blocks_of_a_table_contain_one_text_per_line(tmp_path):
    path = write(tmp_path / "a.csv", 'text,label\n"one\nfilm",pos\n\u00e9,neg\n')
    corpus = Corpus([str(path)])
    assert b"".join(corpus.blocks()) == "one film\n\u00e9\n".encode()
    assert (corpus.documents, corpus.sha256) == (2, digest(path))


def test_a_block_combines_many_small_files(tmp_path):
    for number in range(10, 20):
        write(tmp_path / "folder" / "pos" / f"{number}.txt", f"film\n{number}\n")
    corpus = Corpus([str(tmp_path / "folder"), str(write(tmp_path / "a.txt", "more\n"))])
    assert list(corpus.blocks()) == ["".join(f"film {number}\n" for number in range(10, 20)).encode() + b"more\n"]
    assert corpus.documents == 11


def test_a_line_may_span_many_blocks_but_has_a_maximum_length(tmp_path, monkeypatch):
    path = write(tmp_path / "a.txt", "short\n" + 30 * "long " + "\nshort\n")
    monkeypatch.setattr(lines, "BLOCK", 7)
    monkeypatch.setattr(source, "_MAX_BYTES", 151)
    assert b"".join(Corpus([str(path)]).blocks()) == path.read_bytes()
    monkeypatch.setattr(source, "_MAX_BYTES", 150)
    for documents in (Corpus([str(path)]), Corpus([str(path)]).blocks()):
        with pytest.raises(DataError, match=r"a\.txt:2: the text is longer than 0 MiB"):
            list(documents)


def test_digest_does_not_depend_on_compression_or_line_ends(tmp_path, pipe):
    content = "one\ntwo\n\ncafé\n".encode()
    plain = digest(write(tmp_path / "a.txt", content))
    packed = [write(tmp_path / f"b.{suffix}", pack(content)) for suffix, pack in PACKERS.items()]
    pieces = [write(tmp_path / "1.txt", content[:4]), write(tmp_path / "2.txt", content[4:])]
    crlf = write(tmp_path / "crlf.txt", BOM + content.replace(b"\n", b"\r\n").removesuffix(b"\r\n"))
    pipe(content)
    assert {*map(digest, packed), digest(*pieces), digest(crlf), digest("-")} == {plain}


def test_digest_of_a_table_does_not_depend_on_its_format(tmp_path):
    tables = [
        write(tmp_path / "a.csv", 'id,text,label\n1,"a b",pos\n'),
        write(tmp_path / "a.tsv", "label\ttext\npos\ta b\n"),
        write(tmp_path / "a.jsonl", '{"label": "pos", "text": "a b"}'),
    ]
    assert len({digest(table) for table in tables}) == 1


def test_digest_depends_on_texts_labels_and_order(tmp_path):
    contents = ["a,pos\nb,neg\n", "a,neg\nb,pos\n", "b,neg\na,pos\n", "a,pos\nc,neg\n", "a,pos\n", "a,\nb,\n"]
    paths = [write(tmp_path / f"{n}.csv", "text,label\n" + content) for n, content in enumerate(contents)]
    assert len({digest(path) for path in paths}) == len(paths)


def test_documents_are_counted(tmp_path):
    corpus = Corpus([str(write(tmp_path / "a.txt", "a\n\nb\n"))])
    assert corpus.documents == 0
    assert len(list(corpus)) == corpus.documents == 3


def test_reading_can_stop_early(tmp_path):
    # A file that stays open causes a ResourceWarning, and the tests treat warnings as errors.
    document = next(iter(Corpus([str(write(tmp_path / "a.txt.gz", gzip.compress(b"a\nb\n")))])))
    assert document.text == "a"
