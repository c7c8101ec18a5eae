"""The delimiter of a CSV table is given as an option, or detected in its header."""

import pytest
from reading import BOM, read, write

from nlptx.corpus.corpus import Corpus
from nlptx.corpus.delimiters import detect_delimiter
from nlptx.corpus.read_options import ReadOptions
from nlptx.corpus.training_data import read_training_data
from nlptx.errors import DataError, SettingsError


@pytest.mark.parametrize(
    ("header", "delimiter"),
    [
        ("text;label", ";"),
        ("text|label\r\n", "|"),
        ("text\tlabel", "\t"),
        ("text,label;more", ","),
        ("text;label|more", ","),
        ('"a,b";label', ";"),
        ('text;"a,b"', ";"),
        ('"a;b",label', ","),
        ('"a;b"', ","),
        ('"a ""b"" ;c";d', ";"),
        ('"a;b\n', ","),
        ('5" screen;price, euro', ","),
        ('5" screen;price', ";"),
        ("text", ","),
        ("", ","),
    ],
)
def test_the_delimiter_is_detected_in_the_header(header, delimiter):
    assert detect_delimiter(header) == delimiter


def test_a_detected_delimiter_causes_a_note(tmp_path):
    path = write(tmp_path / "a.csv", BOM + b'Review;text\r\n"a;b";"two\r\nlines; here"\r\nc,d;e\r\n')
    notes = []
    documents = list(Corpus([str(path)], on_note=notes.append))
    assert [document.fields for document in documents] == [
        {"Review": "a;b", "text": "two\r\nlines; here"},
        {"Review": "c,d", "text": "e"},
    ]
    assert notes == [f"{path}: the detected delimiter is ';'; if that is wrong, use `delimiter=,`"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "^", " ", "\u00a7"])
def test_a_given_delimiter_causes_no_note(tmp_path, delimiter):
    path = write(tmp_path / "a.csv", f'text{delimiter}label\n"a{delimiter}b"{delimiter}pos\n')
    notes = []
    (document,) = Corpus([str(path)], ReadOptions(delimiter=delimiter), notes.append)
    assert (document.text, document.label, document.delimiter, notes) == (f"a{delimiter}b", "pos", delimiter, [])


def test_a_tsv_file_with_another_delimiter_is_csv(tmp_path):
    path = write(tmp_path / "a.tsv", 'text;label\n"a;b";pos\n')
    assert [(row.text, row.format) for row in read(path, delimiter=";")] == [("a;b", "csv")]
    path = write(tmp_path / "b.tsv", 'text\tlabel\n"a\tpos\n')
    assert [(row.text, row.format) for row in read(path, delimiter="\t")] == [('"a', "tsv")]


def test_the_message_about_unsplit_columns_suggests_the_delimiter(tmp_path):
    with pytest.raises(DataError, match="no column 'text'; the columns are text;label,  more") as caught:
        read(write(tmp_path / "a.csv", "text;label, more\na;b,c\n"))
    assert "`delimiter`" in caught.value.hint


@pytest.mark.parametrize("delimiter", ["", ";;", '"', "\n", "\r", "\0"])
def test_invalid_delimiters_are_rejected(delimiter):
    with pytest.raises(SettingsError, match="expected one character"):
        ReadOptions(delimiter=delimiter)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [("a.txt", "a;b\n", "plain text"), ("a.jsonl", '{"text": "a"}\n', "JSON lines"), ("a/1.txt", "a", "one text")],
)
def test_only_tables_have_a_delimiter(tmp_path, name, content, says):
    path = write(tmp_path / name, content)
    with pytest.raises(SettingsError, match=says):
        read(path.parent if "/" in name else path, delimiter=";")


def test_a_delimiter_does_not_affect_plain_unlabelled_texts(tmp_path):
    data = write(tmp_path / "a.csv", "text^label\na^pos\nb^neg\n")
    found = read_training_data(data, write(tmp_path / "b.txt", "a^b\n"), options=ReadOptions(delimiter="^"))
    assert (found.texts, found.unlabelled) == (["a", "b"], ["a^b"])
