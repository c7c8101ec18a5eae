"""Tests of reading tables whose texts may have any number of labels."""

import pytest
from reading import write

from nlptx.corpus.corpus import Corpus
from nlptx.corpus.label_sets import split_cells
from nlptx.corpus.labelled import LabelledDocuments
from nlptx.corpus.read_options import ReadOptions
from nlptx.corpus.training_data import read_training_data
from nlptx.errors import DataError, LabelError, SettingsError

CELLS = ["a; b", "b;a", " a ;; b ; a;", "", "a", "c and d"]
SETS = [("a", "b"), ("a", "b"), ("a", "b"), (), ("a",), ("c and d",)]


def read(path, **options):
    notes = []
    found = read_training_data(path, options=ReadOptions(label_separator=";", **options), on_note=notes.append)
    return found, notes


@pytest.fixture
def table(tmp_path):
    return write(tmp_path / "a.tsv", "text\tlabel\n" + "".join(f"text {cell}\t{cell}\n" for cell in CELLS))


def test_a_cell_is_a_set_of_labels(table):
    found, notes = read(table)
    assert found.labels == SETS
    assert notes == ["cells that contain a label more than once: 1; the duplicates are ignored"]


def test_a_separator_that_occurs_nowhere_causes_a_note(tmp_path):
    found, notes = read(write(tmp_path / "a.tsv", "text\tlabel\nx\ta|b\ny\tc\n"))
    assert found.labels == [("a|b",), ("c",)]
    assert notes == ["no cell contains the separator ';', so no text has several labels"]


@pytest.mark.parametrize("separator", [";", "|", ",", "/", " ", "||"])
def test_any_separator_can_be_used(separator):
    assert split_cells([f"a{separator}b", "a"], separator) == [["a", "b"], ["a"]]


@pytest.mark.parametrize("separator", ["", "\t", "; ", " ;", "\n"])
def test_impossible_separators_are_errors(separator):
    with pytest.raises(SettingsError, match="label_separator"):
        ReadOptions(label_separator=separator)


def test_the_label_map_applies_to_each_label(table):
    found, _ = read(table, label_map={"b": "a", "c and d": "c"})
    assert found.labels == [("a",), ("a",), ("a",), (), ("a",), ("c",)]


def test_json_may_contain_lists_of_labels(tmp_path):
    rows = ['{"text": "x", "label": ["b", "a"]}', '{"text": "y", "label": []}', '{"text": "z", "label": "a;b"}']
    rows += ['{"text": "u", "label": null}', '{"text": "v", "label": ["a", 1]}']
    found, _ = read(write(tmp_path / "a.jsonl", "\n".join(rows)))
    assert found.labels == [("a", "b"), (), ("a", "b"), (), ("1", "a")]


def test_a_label_with_the_separator_in_a_json_list_is_an_error(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"text": "x", "label": ["a;b", "c"]}')
    with pytest.raises(DataError, match="'a;b' contains the separator"):
        read(path)


def test_a_label_that_ends_with_a_part_of_the_separator_is_an_error(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"text": "x", "label": ["a|", "b"]}')
    options = ReadOptions(label_separator="||")
    with pytest.raises(DataError, match=r"'a\|' ends with a part of the separator"):
        read_training_data([str(path)], options=options)


def test_empty_labels_in_a_json_list_are_ignored(tmp_path):
    found, _ = read(
        write(tmp_path / "a.jsonl", '{"text": "x", "label": ["", "a", null]}\n{"text": "y", "label": [""]}')
    )
    assert found.labels == [("a",), ()]


def test_a_missing_column_is_still_an_error(tmp_path):
    with pytest.raises(LabelError, match="no column 'label'"):
        read(write(tmp_path / "a.csv", "text,topic\nx,a\n"))


def test_two_matching_columns_are_still_an_error(tmp_path):
    with pytest.raises(DataError, match="'Label' and 'LABEL' both match"):
        read(write(tmp_path / "a.csv", "text,Label,LABEL\nx,a,b\n"))


def test_skip_bad_keeps_texts_without_labels_and_leaves_out_empty_texts(tmp_path):
    found, notes = read(write(tmp_path / "a.csv", "text,label\nx,a;b\ny,\n,b\n"), skip_bad=True)
    assert (found.texts, found.labels) == (["x", "y"], [("a", "b"), ()])
    assert len(notes) == 1


def test_folders_give_each_text_one_label(tmp_path):
    for label in ("pos", "neg"):
        (tmp_path / "data" / label).mkdir(parents=True)
        (tmp_path / "data" / label / "1.txt").write_text("a text")
    with pytest.raises(LabelError, match="not in a table") as caught:
        read(tmp_path / "data")
    assert "folder per label" in caught.value.hint
    with pytest.raises(LabelError, match="not in a table"):
        read(write(tmp_path / "a.txt", "a text\n"))


def test_texts_without_labels_may_come_from_anywhere(table, tmp_path):
    (tmp_path / "unsup").mkdir()
    (tmp_path / "unsup" / "1.txt").write_text("a text")
    lines = write(tmp_path / "more.txt", "another text\n")
    options = ReadOptions(label_separator=";")
    found = read_training_data(table, unlabelled=[tmp_path / "unsup", lines], options=options)
    assert found.unlabelled == ["a text", "another text"]
    assert found.labels == SETS


def test_validation_texts_are_read_in_the_same_way(table):
    notes = []
    options = ReadOptions(label_separator=";", label_map={"b": "z"})
    found = read_training_data(table, valid=[table], options=options, on_note=notes.append)
    assert found.valid == (found.texts, found.labels)
    assert notes == ["cells that contain a label more than once: 2; the duplicates are ignored"]


def test_the_separator_does_not_change_which_texts_are_counted(table):
    with_separator, _ = read(table)
    path = write(table.parent / "b.tsv", table.read_text().replace("\t\n", "\tx\n"))
    without = read_training_data(path, options=ReadOptions())
    assert with_separator.corpus["reading"] == without.corpus["reading"]
    assert with_separator.source["reading"] == without.source["reading"] | {"label_separator": ";"}


def test_empty_cells_need_a_separator(table):
    with pytest.raises(LabelError, match="the label is missing"):
        list(LabelledDocuments(Corpus([str(table)])))


@pytest.mark.parametrize(("separator", "label"), [(None, "odd"), (";", "pos; odd")])
def test_a_held_out_label_that_no_training_text_has_is_named_with_its_row(separator, label, tmp_path):
    data = write(tmp_path / "data.tsv", "text\tlabel\ngood\tpos\nbad\tneg\n")
    valid = write(tmp_path / "valid.tsv", f"text\tlabel\ngood\tpos\nodd\t{label}\nodd\t{label}\n")
    options = ReadOptions(label_separator=separator)
    with pytest.raises(LabelError, match="'odd' is not one of the labels of the training texts: neg, pos") as raised:
        read_training_data(data, valid=valid, options=options)
    assert raised.value.where == f"{valid}:3"


@pytest.mark.parametrize(("separator", "label"), [(None, "odd"), (";", "pos; odd")])
def test_a_held_out_label_that_only_rows_of_weight_0_have_is_named_with_its_row(separator, label, tmp_path):
    data = write(tmp_path / "data.tsv", "text\tlabel\tw\ngood\tpos\t1\nbad\tneg\t2\nodd\todd\t0\n")
    valid = write(tmp_path / "valid.tsv", f"text\tlabel\ngood\tpos\nodd\t{label}\n")
    options = ReadOptions(label_separator=separator, weight_column="w")
    message = "'odd' is not one of the labels of the training texts with a weight above 0: neg, pos"
    with pytest.raises(LabelError, match=message) as raised:
        read_training_data(data, valid=valid, options=options)
    assert raised.value.where == f"{valid}:3"
