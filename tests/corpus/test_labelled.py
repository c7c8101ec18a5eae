"""A document without a label or a text causes an error that names the line, or is skipped and counted."""

import pytest
from reading import write

from nlptx.corpus.corpus import Corpus
from nlptx.corpus.labelled import LabelledDocuments
from nlptx.corpus.read_options import ReadOptions
from nlptx.corpus.training_data import read_training_data
from nlptx.errors import DataError, LabelError

GAPS = "text,label\na,pos\nb,\n,neg\n  ,neg\nc,neg\n,\nd,\n"
GAPS_IN_JSON = (
    '{"text": "a", "label": "pos"}\n{"text": "b"}\n{"text": null, "label": "neg"}\n{"text": " ", "label": "neg"}\n'
    '{"text": "c", "label": "neg"}\n{}\n{"text": "d", "label": null}\n'
)


def labelled(path, **options):
    """Return the (text, label) pairs, and the notes printed while reading."""
    notes = []
    documents = LabelledDocuments(Corpus([str(path)], ReadOptions(**options), notes.append))
    return [(document.text, document.label) for document in documents], notes


def test_labelled_documents_are_returned(tmp_path):
    path = write(tmp_path / "a.csv", "text,label\na,pos\n,neg\n")
    assert labelled(path) == ([("a", "pos"), ("", "neg")], [])


@pytest.mark.parametrize(
    ("name", "content", "line", "hint"),
    [
        ("a.csv", "text,label\na,pos\nb,\n", ":3", "`skip_bad`"),
        ("a.csv", "text,label\na,pos\nb,  \n", ":3", "`skip_bad`"),
        ("a.jsonl", '{"text": "a", "label": "pos"}\n{"text": "b"}\n', ":2", "`label_column`"),
        ("a.jsonl", '{"text": "a", "label": "pos"}\n{"text": "b"}\n', ":2", "`skip_bad`"),
        ("a.jsonl", '{"text": "a", "label": "pos"}\n{"text": "b", "label": null}\n', ":2", "`skip_bad`"),
        ("a.txt", "a\n", ":1", "`label_column`"),
    ],
)
def test_the_first_text_without_a_label_is_named(tmp_path, name, content, line, hint):
    path = write(tmp_path / name, content)
    with pytest.raises(LabelError) as caught:
        labelled(path)
    assert caught.value.where == f"{path}{line}"
    assert hint in str(caught.value)


@pytest.mark.parametrize(("name", "content"), [("a.csv", GAPS), ("a.jsonl", GAPS_IN_JSON)], ids=["csv", "jsonl"])
def test_rows_without_text_or_label_can_be_skipped(tmp_path, name, content):
    path = write(tmp_path / name, content)
    pairs, notes = labelled(path, skip_bad=True)
    assert pairs == [("a", "pos"), ("c", "neg")]
    lines = (3, 4, 5) if name == "a.csv" else (2, 3, 4)
    positions = ", ".join(f"{path}:{line}" for line in lines)
    assert notes == [f"left out 5 rows: 3 without a label, 2 without a text ({positions}, ...)"]


def test_a_single_skipped_row_is_reported(tmp_path):
    path = write(tmp_path / "a.csv", "text,label\na,pos\nb,\n")
    assert labelled(path, skip_bad=True) == ([("a", "pos")], [f"left out 1 row: 1 without a label ({path}:3)"])


def test_no_note_if_no_row_is_skipped(tmp_path):
    assert labelled(write(tmp_path / "a.csv", "text,label\na,pos\n"), skip_bad=True) == ([("a", "pos")], [])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "text,stars\na,1\nb,2\n", "no column 'label'; the columns are text, stars"),
        ("a.jsonl", '{"text": "a", "stars": 1}\n{"text": "b"}\n', "2 without a label"),
        ("a.csv", "text,label\n,pos\n", "1 without a text"),
        ("a.txt", "a\nb\n", "this text has no label"),
    ],
)
def test_data_without_any_labelled_text_is_an_error_even_if_bad_rows_are_skipped(tmp_path, name, content, message):
    with pytest.raises(LabelError, match=message):
        labelled(write(tmp_path / name, content), skip_bad=True)


def test_the_digest_of_the_labelled_texts_is_also_stored_if_there_are_unlabelled_texts(tmp_path):
    for folder, text in (("train/neg", "dull"), ("train/pos", "great"), ("train/unsup", "so")):
        write(tmp_path / "corpus" / folder / "1.txt", text)
    source = read_training_data((str(tmp_path / "corpus"),), (), (), ReadOptions(splits=("train", "unsup"))).source
    for name in ("neg", "pos"):
        write(tmp_path / "same" / name / "1.txt", (tmp_path / "corpus" / "train" / name / "1.txt").read_bytes())
    same = read_training_data((str(tmp_path / "same"),), (), (), ReadOptions()).source
    assert source["labelled_sha256"] == same["sha256"] != source["sha256"]
    assert "labelled_sha256" not in same


# ---------------------------------------------------------------- broken rows


BROKEN = {
    "a.csv": 'text,label\na,pos\nb\n"c"d,neg\n"e\nf",neg,more\ng,neg\n',
    "a.tsv": "text\tlabel\na\tpos\nb\nc\tneg\tmore\n\tneg\tpos\ng\tneg\n",
    "a.jsonl": '{"text": "a", "label": "pos"}\n[1]\n{"text": 5}\n{"text": "\n{"text": "g", "label": "neg"}\n',
}


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_broken_rows_can_be_left_out(tmp_path, name):
    path = write(tmp_path / name, BROKEN[name])
    places = ", ".join(f"{path}:{line}" for line in ((3, 4, 5) if name != "a.jsonl" else (2, 3, 4)))
    found, notes = labelled(path, skip_bad=True)
    assert found == [("a", "pos"), ("g", "neg")]
    assert notes == [f"left out 3 rows: 3 that cannot be read ({places})"]
    with pytest.raises(DataError) as caught:
        labelled(path)
    assert caught.value.where == f"{path}:{2 if name == 'a.jsonl' else 3}"


def test_an_open_quote_does_not_take_other_rows_with_it(tmp_path):
    path = write(tmp_path / "a.csv", 'text,label\na,pos\n"b,neg\nc,neg\nd,pos\n')
    with pytest.raises(DataError, match="not valid CSV") as caught:
        labelled(path, skip_bad=True)
    assert caught.value.where == f"{path}:3"


def test_a_broken_header_is_an_error(tmp_path):
    with pytest.raises(DataError, match="not valid CSV"):
        labelled(write(tmp_path / "a.csv", '"text"x,label\na,pos\n'), skip_bad=True)


def test_broken_rows_of_texts_without_labels_are_counted_too(tmp_path):
    data = write(tmp_path / "a.csv", "text,label\na,pos\nb,neg\n")
    more = write(tmp_path / "b.csv", "text,n\nc\nd,1\n")
    notes = []
    found = read_training_data(data, more, options=ReadOptions(skip_bad=True), on_note=notes.append)
    assert (found.unlabelled, notes) == (["d"], [f"left out 1 row: 1 that cannot be read ({more}:2)"])


def test_the_labels_of_unlabelled_texts_need_not_be_labels(tmp_path):
    data = write(tmp_path / "a.csv", "text,label\na,pos\nb,neg\n")
    more = write(tmp_path / "b.jsonl", '{"text": "c", "label": ["x", "y"]}\n')
    assert read_training_data(data, more).unlabelled == ["c"]


def test_empty_training_texts_are_reported_unless_they_are_skipped(tmp_path):
    path = write(tmp_path / "a.csv", "text,label\na,pos\n,neg\n  ,neg\nc,neg\n")
    notes = []
    assert read_training_data(path, on_note=notes.append).texts == ["a", "", "  ", "c"]
    assert notes == [f"empty texts: 2 (the first is {path}:3); only their labels are used; `skip_bad` leaves them out"]
    notes.clear()
    assert read_training_data(path, options=ReadOptions(skip_bad=True), on_note=notes.append).texts == ["a", "c"]
    assert [note for note in notes if "empty texts" in note] == []


@pytest.mark.parametrize("column", ["label", "Label", " label"])
def test_the_text_and_the_label_must_be_in_different_columns(tmp_path, column):
    path = write(tmp_path / "a.csv", f"text,{column}\na,pos\nb,neg\n")
    with pytest.raises(DataError, match="is both the text and the label") as caught:
        labelled(path, text_column="label")
    assert "`text_column` and `label_column`" in caught.value.hint


def test_a_file_outside_the_label_folders_can_be_left_out(tmp_path):
    for name in ("pos/1.txt", "neg/1.txt", "notes.txt"):
        write(tmp_path / "a" / name, "good")
    with pytest.raises(LabelError, match="this text has no label") as caught:
        labelled(tmp_path / "a")
    assert "`skip_bad`" in caught.value.hint
    documents, notes = labelled(tmp_path / "a", skip_bad=True)
    assert documents == [("good", "neg"), ("good", "pos")]
    assert "notes.txt" in notes[0]


def test_no_hint_at_an_option_that_does_not_help(tmp_path):
    path = write(tmp_path / "a.csv", "text,stars\na,5\n")
    with pytest.raises(LabelError) as caught:
        labelled(path)
    assert caught.value.hint == "Name the column with `label_column`."
