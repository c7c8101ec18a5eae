"""The columns of a table are found by their exact names or, failing that, regardless of case.

If a table has only one column, this column is read as the text."""

import pytest
from reading import BOM, write

from nlptx.corpus.corpus import Corpus
from nlptx.corpus.document import MAX_WEIGHT
from nlptx.corpus.labelled import LabelledDocuments
from nlptx.corpus.read_options import ReadOptions
from nlptx.corpus.training_data import read_training_data
from nlptx.errors import DataError, LabelError


def labelled(*paths, **options):
    """Return the texts and labels of labelled documents, and the notes printed while reading."""
    notes = []
    documents = LabelledDocuments(Corpus([str(path) for path in paths], ReadOptions(**options), notes.append))
    return [(document.text, document.label) for document in documents], notes


def noted(path, **options):
    """Return the texts of a corpus, and the notes printed while reading."""
    notes = []
    return [document.text for document in Corpus([str(path)], ReadOptions(**options), notes.append)], notes


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "Text,LABEL\na,pos\n"),
        ("a.csv", BOM + b" text , Label\r\na,pos\r\n"),
        ("a.tsv", "TEXT\tlabel \na\tpos\n"),
        ("a.jsonl", '{"Text": "a", "Label": "pos"}\n'),
    ],
)
def test_case_and_spaces_of_column_names_do_not_matter(tmp_path, name, content):
    path = write(tmp_path / name, content)
    documents, notes = labelled(path)
    assert documents == [("a", "pos")]
    assert len(notes) == 2
    assert [note.startswith(f"{path}: column ") for note in notes] == [True, True]
    assert [note.rpartition(" ")[2] for note in notes] == ["text", "label"]


def test_a_text_column_that_only_later_rows_have_is_not_lost(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"id": "a1"}\n{"id": "a2", "text": "I loved it"}\n')
    with pytest.raises(DataError) as caught:
        noted(path)
    assert caught.value.message == (
        "this row has a column 'text', but 'id', the only column of the first row, was read as the text"
    )
    assert caught.value.where == f"{path}:2"


@pytest.mark.parametrize(
    "content",
    ["I really loved this film,pos\nnot for me,neg\n", 'pos,"I loved it, a lot, really"\nneg,"Bad, so bad"\n'],
)
def test_a_table_without_a_header_needs_one(content, tmp_path):
    path = write(tmp_path / "a.csv", content)
    with pytest.raises(DataError) as caught:
        labelled(path)
    assert caught.value.hint.endswith("add a first line with the names of the columns.")


def test_a_guess_causes_one_note_for_all_files(tmp_path):
    paths = [write(tmp_path / name, "Text,Label\na,pos\nb,neg\n") for name in ("a.csv", "b.csv", "c.csv")]
    notes = []
    read_training_data([paths[0]], [paths[1]], [paths[2]], on_note=notes.append)
    assert notes == [
        f"{paths[0]}: column 'Text' is read as the text",
        f"{paths[0]}: column 'Label' is read as the label",
    ]


def test_exact_names_take_precedence_and_cause_no_note(tmp_path):
    path = write(tmp_path / "a.csv", "Text,text,TEXT,Label,label\nx,a,y,z,pos\n")
    assert labelled(path) == ([("a", "pos")], [])


@pytest.mark.parametrize(
    ("name", "content"), [("a.csv", "Text,TEXT\na,b\n"), ("a.jsonl", '{"Text": "a", "TEXT": "b"}\n')]
)
def test_two_text_columns_that_differ_only_by_case(tmp_path, name, content):
    path = write(tmp_path / name, content)
    with pytest.raises(DataError, match="columns 'Text' and 'TEXT' both match 'text'") as caught:
        noted(path)
    assert caught.value.where == f"{path}:1"
    assert "`text_column`" in caught.value.hint


def test_two_label_columns_that_differ_only_by_case(tmp_path):
    path = write(tmp_path / "a.csv", "text,Label,LABEL\na,pos,neg\n")
    assert noted(path) == (["a"], [])  # label columns are ignored if no labels are needed
    with pytest.raises(DataError, match="columns 'Label' and 'LABEL' both match 'label'"):
        labelled(path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "Review\na\nb\n"),
        ("a.tsv", "Review\na\nb\n"),
        ("a.jsonl", '{"Review": "a"}\n{"review": "b", "n": 2}\n'),
    ],
)
def test_a_single_column_is_the_text(tmp_path, name, content):
    path = write(tmp_path / name, content)
    assert noted(path) == (["a", "b"], [f"{path}: column 'Review' is the only one, and is read as the text"])
    with pytest.raises(LabelError, match="no column 'label'; the columns are Review"):
        labelled(path)


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ("Label\npos\n", {}),
        ("Review\na\n", {"text_column": "body"}),
        ("Review\na\n", {"guess_text": False}),
        ("a;b|c\nx\n", {}),
        ("  \nx\n", {}),
        ("Title,Review\na,b\n", {}),
    ],
    ids=["label column", "another name given", "the name given", "not split", "no name", "two columns"],
)
def test_the_text_column_is_not_guessed_without_evidence(tmp_path, content, options):
    path = write(tmp_path / "a.csv", content)
    with pytest.raises(DataError, match=r"no column '(text|body)'; the columns are"):
        noted(path, **options)


def test_a_header_without_rows_is_checked(tmp_path):
    assert noted(write(tmp_path / "a.csv", "Text,label\n"))[0] == []
    with pytest.raises(DataError, match="the columns are Review, label"):
        noted(write(tmp_path / "b.csv", "Review,label\n"))


def test_many_columns_are_not_all_listed(tmp_path):
    path = write(tmp_path / "a.csv", ",".join(f"c{number}" for number in range(100_000)) + "\n")
    with pytest.raises(DataError, match=r"c39, \.\.\. \(100,000 in all\)") as caught:
        noted(path)
    assert len(str(caught.value)) < 500


def test_json_rows_may_leave_columns_out(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"Text": "a"}\n{"label": "pos"}\n{"text": "c", "LABEL": "neg"}\n')
    (corpus := Corpus([str(path)])).noted.add("column 'Text' is read as the text")
    assert [(document.text, document.label) for document in corpus] == [("a", None), ("", "pos"), ("c", "neg")]


# ---------------------------------------------------------------- weights


def weights(path, **options):
    return [document.weight for document in Corpus([str(path)], ReadOptions(weight_column="weight", **options))]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "text,label,weight\na,pos,2\nb,neg, 0.5 \nc,neg,0\n"),
        ("a.csv", "text,label,Weight\na,pos,2e0\nb,neg,.5\nc,neg,-0\n"),
        ("a.jsonl", "".join(f'{{"text": "a", "weight": {weight}}}\n' for weight in ("2", "0.5", '"0"'))),
    ],
)
def test_weights_are_numbers(tmp_path, name, content):
    assert weights(write(tmp_path / name, content)) == [2, 0.5, 0]


@pytest.mark.parametrize("weight", ["NaN", "-1", "1e308", "inf", "two", "", " "])
def test_the_message_about_an_invalid_weight_names_the_line(tmp_path, weight):
    path = write(tmp_path / "a.csv", f'text,label,weight\n"a\nb",pos,1\nb,neg,{weight}\nc,neg,{MAX_WEIGHT}\n')
    with pytest.raises(DataError, match="the weight is") as caught:
        weights(path)
    assert caught.value.where == f"{path}:4"
    assert weights(path, skip_bad=True) == [1, MAX_WEIGHT]


@pytest.mark.parametrize("value", ["true", "null", "[1]", "1" + "0" * 400])
def test_invalid_weights_in_json(tmp_path, value):
    path = write(tmp_path / "a.jsonl", f'{{"text": "a", "weight": 1}}\n{{"text": "b", "weight": {value}}}\n')
    with pytest.raises(DataError, match="the weight is") as caught:
        weights(path)
    assert caught.value.where == f"{path}:2"


def test_a_missing_weight_column_is_an_error(tmp_path):
    with pytest.raises(DataError, match="no column 'weight'; the columns are text, label"):
        weights(write(tmp_path / "a.csv", "text,label\na,pos\n"))
    with pytest.raises(DataError, match="this text has no weight"):
        weights(write(tmp_path / "a.txt", "a\n"))


def test_only_training_texts_have_weights(tmp_path):
    data = write(tmp_path / "a.csv", "text,label,weight\na,pos,2\nb,neg,1\n")
    plain = write(tmp_path / "b.csv", "text,label\na,pos\nb,neg\n")
    found = read_training_data(data, plain, plain, ReadOptions(weight_column="weight"))
    unweighted = read_training_data(data, plain, plain)
    assert (found.weights, unweighted.weights) == ([2.0, 1.0], None)
    assert found.source["sha256"] == unweighted.source["sha256"]
    assert "weights_sha256" in found.source
    assert "weights_sha256" not in unweighted.source


def test_a_tsv_file_with_quotes_is_read_as_csv_on_request(tmp_path):
    path = write(tmp_path / "a.tsv", '"text"\t"label"\n"a ""good"" film"\tpos\n')
    with pytest.raises(DataError, match="no column 'text'") as caught:
        labelled(path)
    assert "`format=csv`" in caught.value.hint
    assert labelled(path, format="csv")[0] == [('a "good" film', "pos")]
