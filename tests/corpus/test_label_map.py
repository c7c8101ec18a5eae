"""Tests of replacing labels when they are read."""

import pytest
from reading import write

from nlptx.corpus.label_map import parse_label_map
from nlptx.corpus.read_options import ReadOptions
from nlptx.corpus.training_data import read_training_data
from nlptx.data_quality.rows import read_rows
from nlptx.errors import LabelError, SettingsError
from nlptx.evaluation.labelled_data import read_labelled
from nlptx.evaluation.prediction_file import read_predictions


def read(path, label_map, **more):
    notes = []
    return read_training_data(path, options=ReadOptions(label_map=label_map), on_note=notes.append, **more), notes


def test_mapped_labels_are_replaced_and_others_kept(tmp_path):
    path = write(tmp_path / "a.csv", "text,label\na,1\nb,0\nc,neu\nd, 1 \n")
    (data, notes) = read(path, {"1": "pos", "0": "neg"})
    assert (data.labels, notes) == (["pos", "neg", "neu", "pos"], [])


def test_the_map_is_recorded_but_does_not_change_the_digest(tmp_path):
    path = write(tmp_path / "old.csv", "text,label\na,1\nb,0\n")
    mapped, plain = read(path, {"1": "pos", "0": "neg"})[0], read(path, {})[0]
    assert mapped.source["sha256"] == plain.source["sha256"]
    assert mapped.source["reading"] == plain.source["reading"] | {"label_map": {"1": "pos", "0": "neg"}}
    assert mapped.corpus == plain.corpus  # cooccur does not use labels


def test_labels_of_folders_and_of_held_out_texts_are_replaced(tmp_path):
    write(tmp_path / "a/bad/1.txt", "a")
    write(tmp_path / "a/good/1.txt", "b")
    valid = write(tmp_path / "valid.csv", "text,label\na,0\n")
    data, notes = read(tmp_path / "a", {"bad": "neg", "good": "pos", "0": "neg"}, valid=valid)
    assert (sorted(data.labels), data.valid, notes) == (["neg", "pos"], (["a"], ["neg"]), [])


def test_mapped_labels_that_do_not_occur_are_reported(tmp_path):
    path = write(tmp_path / "a.csv", "text,label\na,1\nb,0\n")
    assert read(path, {"1": "pos", "2": "neg"})[1] == ["`label_map` replaces '2', but the data has no such label"]
    with pytest.raises(LabelError, match="`label_map` replaces 'one', but the data has only the labels 0, 1"):
        read(path, {"one": "pos"})


def test_rows_whose_label_is_replaced_with_nothing_are_left_out(tmp_path):
    path = write(tmp_path / "a.csv", "text,label\na,1\nb,nan\nc,0\nd,N/A\ne,nan\n")
    data, notes = read(path, parse_label_map(["nan=", "N/A= ", "1=pos"]))
    assert (data.texts, data.labels, data.left_out) == (["a", "c"], ["pos", "0"], ["b", "d", "e"])
    assert notes == [f"left out 3 rows: 1 with the label 'N/A', 2 with the label 'nan' ({path}:3, {path}:5, {path}:6)"]
    valid = write(tmp_path / "valid.csv", "text,label\nf,nan\ng,0\n")
    data, notes = read(write(tmp_path / "b.csv", "text,label\na,1\nc,0\n"), {"nan": ""}, valid=valid)
    assert (data.valid, notes) == ((["g"], ["0"]), [f"left out 1 row: 1 with the label 'nan' ({valid}:2)"])
    assert read(path, {"nil": ""})[1] == ["`label_map` replaces 'nil', but the data has no such label"]
    with pytest.raises(LabelError, match="`label_map` replaces 'nil', '2', but the data has only the labels 0, 1, N/A"):
        read(path, {"nil": "", "2": "pos"})


def test_folders_whose_label_is_replaced_with_nothing_are_left_out(tmp_path):
    for name in ("bad", "good", "other"):
        write(tmp_path / f"a/{name}/1.txt", name)
    assert read(tmp_path / "a", {"other": ""})[0].labels == ["bad", "good"]


def test_if_all_rows_are_left_out_the_message_names_the_label_map(tmp_path):
    path = str(write(tmp_path / "a.csv", "text,label\na,1\nb,0\n"))
    with pytest.raises(LabelError, match="no row has both a text and a label: 1 with the label '0', 1 with") as caught:
        read_labelled([path], ReadOptions(label_map={"0": "", "1": ""}))
    assert caught.value.hint == "Do not remove all labels with `label_map`."


def test_for_several_labels_per_text_no_label_can_be_replaced_with_nothing():
    with pytest.raises(SettingsError, match="`label_map=OLD=` leaves out the rows with the label OLD, but"):
        ReadOptions(label_map={"nan": ""}, label_separator=";")


def test_check_and_tables_of_predictions_leave_out_labels_that_are_replaced_with_nothing(tmp_path):
    path = str(write(tmp_path / "a.csv", "text,label,predicted\na,1,1\nb,nan,nan\nc,0,1\n"))
    reading = ReadOptions(label_map={"nan": ""})
    assert read_rows([path], reading).labels == [("1",), None, ("0",)]
    predictions = read_predictions(path, reading)
    assert (predictions.texts, predictions.label_names) == (["a", "c"], ["0", "1"])
    data = read_labelled([path], reading)
    assert (data.labels, data.left_out) == (["1", "0"], ["b"])
    assert read_predictions(path, reading, data=data).predicted.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["1"], "expected OLD=NEW"),
        (["=pos"], "expected OLD=NEW"),
        (["1=pos", " 1 =neg"], "replaces '1' twice, with 'pos' and with 'neg'"),
        (["1=pos", "1=pos"], "twice"),
    ],
)
def test_invalid_maps_are_rejected(words, says):
    with pytest.raises(SettingsError, match=says):
        parse_label_map(words)


def test_surrounding_spaces_are_ignored_and_equals_signs_can_be_escaped():
    assert parse_label_map([" New  York = city ", r"a\=b=c=d"]) == {"New York": "city", "a=b": "c=d"}


def test_accents_may_be_composed_or_not(tmp_path):
    path = write(tmp_path / "a.csv", "text,label\nx,cafe\u0301\ny,caf\u00e9\nz,bar\n")
    assert read_training_data(path).labels == ["caf\u00e9", "caf\u00e9", "bar"]
    options = ReadOptions(label_map=parse_label_map(["cafe\u0301=bar"]))
    assert read_training_data(path, options=options).labels == ["bar"] * 3
    write(tmp_path / "folder/cafe\u0301/a.txt", "x")
    assert read_training_data(tmp_path / "folder").labels == ["caf\u00e9"]
