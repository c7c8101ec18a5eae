"""Tests of reading tables with the predictions of any program."""

import json

import numpy as np
import pytest

from nlptx.corpus.read_options import ReadOptions
from nlptx.errors import DataError, LabelError
from nlptx.evaluation.alignment import align, predicted_text
from nlptx.evaluation.file_kind import is_table
from nlptx.evaluation.labelled_data import read_labelled
from nlptx.evaluation.labelled_predictions import NO_ANSWER, evaluate_predictions
from nlptx.evaluation.prediction_file import read_predictions

PROBABILITIES = (
    "text,label,predicted,prob_neg,prob_pos\ngood,pos,pos,0.2,0.8\nbad,neg,pos,0.4,0.6\nawful,neg,neg,0.9,0.1\n"
)


def written(folder, content, name="a.csv"):
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return str(path)


def test_all_columns(tmp_path):
    found = read_predictions(written(tmp_path, PROBABILITIES))
    assert found.label_names == ["neg", "pos"]
    assert found.is_ordered
    assert found.texts == ["good", "bad", "awful"]
    assert found.targets.tolist() == [1, 0, 0]
    assert found.predicted.tolist() == [1, 1, 0]
    assert found.correct.tolist() == [True, False, True]
    np.testing.assert_allclose(found.probabilities, [[0.2, 0.8], [0.4, 0.6], [0.9, 0.1]])
    np.testing.assert_allclose(found.confidence, [0.8, 0.6, 0.9])


@pytest.mark.parametrize("name", ["a.tsv", "a.jsonl", "a.txt"])
def test_formats(tmp_path, name):
    rows = [line.split(",") for line in PROBABILITIES.splitlines()]
    if name == "a.jsonl":
        content = "".join(json.dumps(dict(zip(rows[0], row, strict=True))) + "\n" for row in rows[1:])
    else:
        content = "".join("\t".join(row) + "\n" for row in rows)
    path = written(tmp_path, content, name)
    assert is_table(path)
    assert read_predictions(path).predicted.tolist() == [1, 1, 0]


def test_parquet(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "a.parquet"
    pd.DataFrame({"text": ["a", "b"], "label": [0, 1], "predicted": [0.0, 0.0]}).to_parquet(path)
    assert is_table(str(path))
    assert read_predictions(str(path)).correct.tolist() == [True, False]


def test_without_probabilities(tmp_path):
    found = read_predictions(written(tmp_path, "text,label,predicted_label\na,x,y\nb,y,y\nc,z,z\n"))
    assert found.probabilities is None
    assert found.confidence is None
    assert not found.is_ordered
    assert found.correct.tolist() == [False, True, True]


def test_confidence_without_probabilities(tmp_path):
    found = read_predictions(written(tmp_path, "text,label,predicted,confidence\na,x,y,0.7\nb,y,y,0.9\n"))
    assert found.probabilities is None
    assert found.confidence.tolist() == [0.7, 0.9]


def test_without_predicted_labels_the_most_probable_one_counts(tmp_path):
    found = read_predictions(written(tmp_path, "text,label,prob_a,prob_b\nx,a,0.1,0.9\ny,b,0.3,0.7\n"))
    assert found.predicted.tolist() == [1, 1]


def test_no_answer_counts_as_wrong(tmp_path):
    notes = []
    path = written(tmp_path, "text,label,predicted\na,x,?\nb,y,\nc,x,x\n")
    found = read_predictions(path, on_note=notes.append)
    assert found.predicted.tolist() == [NO_ANSWER, NO_ANSWER, 0]
    assert found.correct.tolist() == [False, False, True]
    assert notes == [f"{path}: texts without an answer (counted as wrong): 2 of 3"]


@pytest.mark.parametrize(
    ("true", "predicted"),
    [("neg pos", "Neg POS"), ("0 1", "neg pos"), ("negative positive", "0 1"), ("1 2", "1.0 2.0")],
)
def test_other_spellings(tmp_path, true, predicted):
    notes = []
    rows = [f"text {number},{a},{b}" for number, (a, b) in enumerate(zip(true.split(), predicted.split(), strict=True))]
    found = read_predictions(written(tmp_path, "\n".join(["text,label,predicted", *rows])), on_note=notes.append)
    assert found.correct.all()
    assert len(found.label_names) == 2
    assert len(notes) == 1
    assert "labels are read as follows" in notes[0]


@pytest.mark.parametrize(
    ("true", "predicted"),
    [
        ("negative positive positive negative positive", "negative Positive positive Negative mixed"),
        ("neg pos pos neg pos", "Neg Pos Pos Neg unclear"),
        ("1 2 3 1 2", "1.0 2 3.0 1.0 0.0"),
    ],
)
def test_one_unknown_label_does_not_change_how_the_others_are_read(tmp_path, true, predicted):
    rows = [f"text {n},{a},{b}" for n, (a, b) in enumerate(zip(true.split(), predicted.split(), strict=True))]
    found = read_predictions(written(tmp_path, "\n".join(["text,label,predicted", *rows])))
    assert found.correct.tolist() == [True] * 4 + [False]


@pytest.mark.parametrize(("first", "second"), [("A", "a"), ("a", "A")])
def test_several_spellings_of_one_label_are_all_read_as_the_predicted_label(tmp_path, first, second):
    """The model was trained with a label map that replaced the label ``second`` by ``first``."""
    rows = f"x,{first},{first},0.9,0.1\ny,{second},{first},0.8,0.2\nz,B,B,0.1,0.9\n"
    notes = []
    path = written(tmp_path, f"text,label,predicted,prob_{first},prob_B\n{rows}")
    found = read_predictions(path, on_note=notes.append)
    assert found.correct.all()
    assert found.label_names == sorted([first, "B"])
    assert [note for note in notes if "are read as follows" in note] == [
        f"{path}: labels are read as follows: {second} as {first}; if that is wrong, map them with `label_map=OLD=NEW`"
    ]


def test_labels_are_those_of_all_columns(tmp_path):
    path = written(tmp_path, "text,label,predicted,prob_a,prob_b,prob_c\nx,a,d,0.5,0.25,0.25\n")
    notes = []
    found = read_predictions(path, on_note=notes.append)
    assert found.label_names == ["a", "b", "c", "d"]
    assert found.probabilities[0].tolist() == [0.5, 0.25, 0.25, 0]
    assert found.confidence[0] == 0
    assert any("probability of d" in note for note in notes)


def test_a_label_column_that_is_read_as_the_prediction_causes_a_note(tmp_path):
    data = read_labelled([written(tmp_path, "text,label\na,x\nb,y\n")], ReadOptions())
    notes = []
    found = read_predictions(written(tmp_path, "text,label\na,x\nb,x\n", "b.csv"), None, notes.append, data)
    assert found.predicted.tolist() == [0, 0]
    assert notes[0].endswith("there is no column 'predicted', so column 'label' is read as the prediction")


def test_the_column_label_contains_predictions_if_the_true_labels_are_in_another_column(tmp_path):
    """If the input has no column `label`, `nlptx predict` writes its labels to a column of this name."""
    header = "text,truth,label,confidence,prob_a,prob_b"
    path = written(tmp_path, f"{header}\nx,a,b,0.9,0.1,0.9\ny,b,b,0.8,0.2,0.8\nx,b,?,0.6,0.6,0.4\n")
    reading = ReadOptions(label_column="truth")
    data = read_labelled([written(tmp_path, "text,truth\nx,b\ny,b\nx,a\n", "data.csv")], reading)
    for given, correct in ((None, [False, True, False]), (data, [False, True, False])):
        notes = []
        found = read_predictions(path, reading, notes.append, given)
        assert found.correct.tolist() == correct
        assert np.count_nonzero(found.predicted == NO_ANSWER) == 1
        assert notes[0].endswith("so column 'label' is read as the prediction")
        assert notes[1].endswith("texts without an answer (counted as wrong): 1 of 3")
    path = written(tmp_path, "text,truth,label,confidence\nx,a,b,0.9\ny,b,b,0.8\nx,b,a,0.6\n")
    assert read_predictions(path, reading).correct.tolist() == [False, True, False]
    # A column with the name "predicted" takes precedence, unless it contains the true labels.
    path = written(tmp_path, "text,truth,label,predicted,confidence\nx,a,b,a,0.9\ny,b,c,b,0.8\n")
    assert read_predictions(path, reading).correct.all()
    reading = ReadOptions(label_column="predicted")
    assert read_predictions(path, reading).predicted.tolist() == [1, 2]


def test_the_column_label_contains_predicted_sets_of_labels_too(tmp_path):
    content = "text,truth,label,confidence,prob_a,prob_b\nx,a;b,b,0.9,0.8,0.9\ny,,,0.8,0.2,0.8\nz,,?,0.6,0.6,0.4\n"
    path = written(tmp_path, content)
    reading = ReadOptions(label_column="truth", label_separator=";")
    data = read_labelled([path], reading)
    for given in (None, data):
        found = read_predictions(path, reading, data=given)
        assert found.correct.tolist() == [False, True, False]
    path = written(tmp_path, "text,truth,prob_a,prob_b\nx,a;b,0.9,0.8\ny,,0.2,0.8\nz,,0.6,0.6\n")
    with pytest.raises(DataError, match="because the threshold of each label is unknown"):
        read_predictions(path, reading, data=data)


def test_true_labels_beside_probabilities_are_not_read_as_the_prediction(tmp_path):
    path = written(tmp_path, "text,label,prob_a,prob_b\nx,a,0.1,0.9\ny,b,0.3,0.7\n")
    assert read_predictions(path, data=read_labelled([path], ReadOptions())).correct.tolist() == [False, True]
    # A column "confidence" means that the column "label" contains the predictions of `nlptx predict`.
    data = read_labelled([path], ReadOptions())
    path = written(tmp_path, "text,label,confidence,prob_a,prob_b\nx,b,0.9,0.1,0.9\ny,?,0.7,0.3,0.7\n")
    assert read_predictions(path, data=data).predicted.tolist() == [1, NO_ANSWER]


@pytest.mark.parametrize("name", ["predicted", "predicted_label", "prediction"])
def test_a_column_that_the_first_row_lacks_is_found(tmp_path, name):
    rows = [{"text": "a", "label": "x"}, {"text": "b", "label": "y", name: "x"}]
    path = written(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), "a.jsonl")
    assert read_predictions(path).predicted.tolist() == [NO_ANSWER, 0]


def test_rows_for_texts_that_the_data_leaves_out_are_dropped(tmp_path):
    path = written(tmp_path, "text,label\na,x\nb,\na,\nc,y\n", "data.csv")
    data = read_labelled([path], ReadOptions(skip_bad=True))
    for seeds in (1, 2):
        rows = "".join(f"{text},{label}\n" for text, label in zip("abac", "xyxx", strict=True)) * seeds
        found = read_predictions(written(tmp_path, f"text,predicted\n{rows}"), None, data=data)
        assert (found.texts, found.predicted.tolist()) == (["a", "c"] * seeds, [0, 0] * seeds)


def test_rows_for_the_kept_texts_alone_are_all_used(tmp_path):
    """The two skipped texts are copies of kept texts, and the table has rows for four seeds."""
    rows = "".join(f"t{number},x\n" for number in range(6)) + "t0,\nt1,\n"
    data = read_labelled([written(tmp_path, f"text,label\n{rows}", "data.csv")], ReadOptions(skip_bad=True))
    table = "".join(f"t{number},x\n" for number in range(6)) * 4
    found = read_predictions(written(tmp_path, f"text,predicted\n{table}"), None, data=data)
    assert len(found) == 24


def test_the_delimiter_of_the_data_does_not_apply_to_the_table(tmp_path):
    data = read_labelled([written(tmp_path, "text;label\na;x\nb;y\n")], ReadOptions(delimiter=";"))
    table = written(tmp_path, "text,predicted\na,x\nb,x\n", "b.csv")
    assert read_predictions(table, ReadOptions(delimiter=";"), data=data).predicted.tolist() == [0, 0]


def test_numbers_are_ordered_by_value(tmp_path):
    found = read_predictions(written(tmp_path, "text,label,predicted\nx,10,2\ny,2,1\n"))
    assert found.label_names == ["1", "2", "10"]
    assert found.is_ordered


def test_label_map_and_columns(tmp_path):
    reading = ReadOptions(text_column="review", label_column="stars", label_map={"5": "good", "1": "bad"})
    found = read_predictions(written(tmp_path, "review,stars,predicted\nx,5,good\ny,1,5\n"), reading)
    assert found.label_names == ["bad", "good"]
    assert found.correct.tolist() == [True, False]


def test_the_label_map_replaces_labels_with_spaces(tmp_path):
    reading = ReadOptions(label_map={"very good": "pos", "very bad": "neg"})
    notes = []
    content = "text,label,predicted\nx,very good,very good\ny,very bad,very good\n"
    found = read_predictions(written(tmp_path, content), reading, notes.append)
    assert found.label_names == ["neg", "pos"]
    assert found.correct.tolist() == [True, False]
    assert notes == []


def test_the_label_map_replaces_labels_of_columns(tmp_path):
    reading = ReadOptions(label_map={"0": "neg", "1": "pos"})
    data = read_labelled([written(tmp_path, "text,label\nx,1\ny,0\n", "data.csv")], reading)
    path = written(tmp_path, "text,prob_0,prob_1\nx,0.2,0.8\ny,0.4,0.6\n")
    found = read_predictions(path, reading, data=data)
    assert found.label_names == ["neg", "pos"]
    np.testing.assert_allclose(found.probabilities, [[0.2, 0.8], [0.4, 0.6]])


@pytest.mark.parametrize("probabilities", [False, True])
def test_the_label_map_replaces_predicted_labels_in_another_spelling(tmp_path, probabilities):
    """A column of whole numbers with a missing value is written as 1.0, 2.0, ... by pandas."""
    header = "text,label,predicted" + ",prob_1,prob_2,prob_5" * probabilities
    cells = (",0.8,0.1,0.1", ",0.1,0.7,0.2", ",0.1,0.2,0.7") if probabilities else ("", "", "")
    rows = "".join(f"x{n},{n},{n}.0{cell}\n" for n, cell in zip((1, 2, 5), cells, strict=True))
    reading = ReadOptions(label_map={"5": "2"})
    notes = []
    found = read_predictions(written(tmp_path, f"{header}\n{rows}"), reading, notes.append)
    assert found.label_names == ["1", "2"]
    assert found.correct.all()


def test_the_label_map_leaves_a_spelling_alone_that_may_belong_to_another_label(tmp_path):
    path = written(tmp_path, "text,label,predicted\na,US,US\nb,us,Us\nc,x,x\n")
    found = read_predictions(path, ReadOptions(label_map={"US": "country"}))
    assert found.label_names == ["country", "us", "x"]
    assert found.correct.all()


def test_a_quote_before_a_formula_is_removed_only_if_the_data_lacks_it(tmp_path):
    data = read_labelled([written(tmp_path, "text,label\n- fine,a\n'- fine,b\n=1,a\n", "data.csv")], ReadOptions())
    table = written(tmp_path, "text,predicted\n'=1,a\n'- fine,b\n- fine,a\n")
    assert read_predictions(table, data=data).correct.all()


def test_the_label_map_may_concern_only_the_data(tmp_path):
    reading = ReadOptions(label_map={"0": "neg", "1": "pos"})
    data = read_labelled([written(tmp_path, "text,label\nx,1\ny,0\n", "data.csv")], reading)
    notes = []
    found = read_predictions(written(tmp_path, "text,predicted\nx,pos\ny,pos\n"), reading, notes.append, data)
    assert found.correct.tolist() == [True, False]
    assert notes == []


def test_the_label_map_does_not_replace_predictions_that_are_new_labels_already(tmp_path):
    swap = ReadOptions(label_map={"pos": "neg", "neg": "pos"})
    data = read_labelled([written(tmp_path, "text,label\nx,pos\ny,neg\nz,neg\n", "data.csv")], swap)
    notes = []
    content = "text,label,predicted,prob_neg,prob_pos\nx,pos,neg,.9,.1\ny,neg,pos,.2,.8\nz,neg,neg,.7,.3\n"
    path = written(tmp_path, content)
    for given in (data, None):
        found = read_predictions(path, swap, notes.append, given)
        assert found.correct.tolist() == [True, True, False]
        np.testing.assert_allclose(found.probabilities, [[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]])
    assert len(notes) == 2
    assert notes[0] == notes[1]
    assert notes[0].startswith(f"{path}: the predicted labels seem to be replaced already, so `label_map` is not")
    shift = ReadOptions(label_map={"1": "0", "2": "1", "3": "2"})
    path = written(tmp_path, "text,label,predicted\nx,1,0\ny,2,1\nz,3,1\n")
    assert read_predictions(path, shift).correct.tolist() == [True, True, False]
    path = written(tmp_path, "text,label,predicted\nx,1,1\ny,2,2\nz,3,1\n")
    assert read_predictions(path, ReadOptions(label_map={"1": "a", "2": "b", "3": "c"})).correct.tolist() == [1, 1, 0]
    path = written(tmp_path, "text,label,predicted\nx,1,1\ny,2,3\nz,3,1\n")
    assert read_predictions(path, shift).correct.tolist() == [True, False, False]


def test_copies_of_a_text_with_different_labels_are_matched_by_label(tmp_path):
    rows = ["fine,pos,pos,0.2,0.8", "fine,neg,pos,0.3,0.7", "bad,neg,neg,0.9,0.1", "good,pos,pos,0.1,0.9"]
    header = "text,label,predicted,prob_neg,prob_pos"
    path = written(tmp_path, "\n".join([header, *rows]))
    reverse = written(tmp_path, "\n".join([header, *rows[::-1]]), "b.csv")
    first, second = align([read_predictions(path), read_predictions(reverse)])
    np.testing.assert_array_equal(first.probabilities, second.probabilities)
    data = read_labelled([reverse], ReadOptions())
    found = read_predictions(path, data=data)
    np.testing.assert_array_equal(found.probabilities, read_predictions(reverse).probabilities)
    # The spelling of the labels and a label map do not matter.
    for name, label_map in (("Neg Pos", {}), ("0 1", {"0": "neg", "1": "pos"})):
        neg, pos = name.split()
        path = written(tmp_path, f"text,label,predicted\nfine,{neg},neg\nfine,{pos},pos\nbad,{neg},neg\n")
        source = written(tmp_path, f"text,label\nfine,{pos if label_map else 'pos'}\nfine,neg\nbad,neg\n", "d.csv")
        reading = ReadOptions(label_map=label_map)
        found = read_predictions(path, reading, data=read_labelled([source], reading))
        assert found.correct.all()
    # Without a column "predicted", the column "label" contains the predictions, so rows must not be matched by label.
    path = written(tmp_path, "text,label\nfine,neg\nfine,pos\nbad,neg\n")
    data = read_labelled([written(tmp_path, "text,label\nfine,pos\nfine,neg\nbad,neg\n", "c.csv")], ReadOptions())
    assert read_predictions(path, data=data).correct.tolist() == [False, False, True]


def test_tables_with_different_numbers_of_seeds_are_refused(tmp_path):
    header, rows = "text,label,predicted,seed\n", ["x,a,a,{0}\n", "y,b,a,{0}\n"]
    two, three, four = (
        written(tmp_path, header + "".join(row.format(seed) for seed in range(seeds) for row in rows), f"{seeds}.csv")
        for seeds in (2, 3, 4)
    )
    data = read_labelled([written(tmp_path, "text,label\nx,a\ny,b\n", "d.csv")], ReadOptions())
    for paths in ((two, three), (three, two)):
        for given in (None, data):
            with pytest.raises(DataError, match=r"4 rows, but .*3\.csv has 6 for the same texts") as caught:
                align([read_predictions(path, data=given) for path in paths])
            assert caught.value.where == two
            assert "the larger number of seeds must be a multiple of the smaller" in caught.value.hint
    assert [len(each) for each in align([read_predictions(path) for path in (two, four)])] == [8, 8]


def test_probabilities_of_labels_with_the_same_replacement_are_added_up(tmp_path):
    reading = ReadOptions(label_map={"1": "neg", "2": "neg", "3": "pos"})
    path = written(tmp_path, "text,label,prob_1,prob_3,prob_2\nx,3,0.1,0.8,0.1\ny,2,0.3,0.4,0.3\n")
    found = read_predictions(path, reading)
    assert found.correct.tolist() == [True, True]
    np.testing.assert_allclose(found.probabilities, [[0.2, 0.8], [0.6, 0.4]])


def test_two_probability_columns_for_one_of_several_labels_are_refused(tmp_path):
    path = written(tmp_path, "text,label,predicted,prob_a,prob_A,prob_b\nx,a;b,a,0.5,0.5,0.5\ny,b,b,0.5,0.5,0.5\n")
    with pytest.raises(DataError, match="prob_a and prob_A both contain the probability of the label 'a'"):
        read_predictions(path, ReadOptions(label_separator=";"))


def test_rounded_probabilities_are_normalised(tmp_path):
    notes = []
    path = written(tmp_path, "text,label,prob_a,prob_b,prob_c\nx,a,0.33,0.33,0.33\ny,b,0.2,0.5,0.3\n")
    found = read_predictions(path, on_note=notes.append)
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1)
    assert len(notes) == 1
    assert "1 text do not" in notes[0]


@pytest.mark.parametrize("digits", [".2g", ".3g", ".2f", ".4f"])
def test_any_rounding_is_accepted(tmp_path, digits):
    scores = np.random.default_rng(0).normal(0, 2, (60, 10))
    probabilities = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    columns = ",".join(f"prob_l{number}" for number in range(10))
    rows = "".join(f"x{n},l0," + ",".join(format(p, digits) for p in row) + "\n" for n, row in enumerate(probabilities))
    found = read_predictions(written(tmp_path, f"text,label,{columns}\n{rows}"))
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1)
    np.testing.assert_allclose(found.probabilities, probabilities, atol=0.02)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([["0.00"] * 220], "sum to 0; expected 1"),
        ([["0.011000"] * 120], "sum to 1.32; expected 1"),
    ],
)
def test_sums_that_rounding_does_not_explain_are_refused(tmp_path, rows, says):
    columns = ",".join(f"prob_l{number}" for number in range(len(rows[0])))
    lines = [f"x{n},l1," + ",".join(row) for n, row in enumerate(rows)]
    with pytest.raises(DataError, match=says):
        read_predictions(written(tmp_path, "\n".join([f"text,label,{columns}", *lines]) + "\n"))


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ("0.5,0.2", "sum to 0.7; expected 1"),
        ("1.2,-0.2", "contains '1.2'; expected a probability"),
        ("nan,0.5", "contains 'nan'; expected a probability"),
        ("inf,0", "contains 'inf'"),
        (",1", "is empty"),
        ("high,low", "contains 'high'"),
    ],
)
def test_what_is_not_a_probability_is_refused_with_its_line(tmp_path, cells, message):
    path = written(tmp_path, f"text,label,prob_a,prob_b\nx,a,0.5,0.5\ny,b,{cells}\n")
    with pytest.raises(DataError, match="expected") as error:
        read_predictions(path)
    assert f"{path}:3: " in str(error.value)
    assert message in str(error.value)


@pytest.mark.parametrize("repeated", ["predicted_predicted", "predicted_predicted_label"])
def test_predictions_for_a_table_that_had_predictions_are_the_newest_ones(tmp_path, repeated):
    """If a table has predictions, ``predict`` and ``crossvalidate`` keep them and give the new columns longer names."""
    older = "text,label,predicted,predicted_label,prob_pos,prob_neg,confidence"
    newer = f"{repeated},predicted_prob_neg,predicted_prob_pos,predicted_confidence"
    rows = "good,pos,neg,neg,0.1,0.9,0.9,pos,0.2,0.8,0.8\nbad,neg,pos,pos,0.7,0.3,0.7,neg,0.6,0.4,0.6\n"
    found = read_predictions(written(tmp_path, f"{older},{newer}\n{rows}"))
    assert found.correct.all()
    np.testing.assert_allclose(found.probabilities, [[0.2, 0.8], [0.6, 0.4]])
    np.testing.assert_allclose(found.confidence, [0.8, 0.6])


def test_no_predictions(tmp_path):
    with pytest.raises(DataError, match="no predictions; the columns are text, label"):
        read_predictions(written(tmp_path, "text,label\nx,a\n"))


def test_no_true_labels(tmp_path):
    with pytest.raises(LabelError, match="no column 'label'"):
        read_predictions(written(tmp_path, "text,predicted\nx,a\n"))


def test_predictions_for_unlabelled_texts_have_no_true_labels(tmp_path):
    content = "text,label,confidence,prob_a,prob_b\nx,a,0.9,0.9,0.1\ny,b,0.6,0.4,0.6\n"
    with pytest.raises(DataError, match="predictions, not true labels"):
        read_predictions(written(tmp_path, content))


def test_rows_are_matched_to_data_by_text(tmp_path):
    data = read_labelled([written(tmp_path, "text,label\nx,a\ny,b\nx,b\n", "data.csv")], ReadOptions())
    predictions = written(tmp_path, "text,predicted\ny,b\nx,a\nx,a\n")
    found = read_predictions(predictions, data=data)
    assert found.texts == ["x", "y", "x"]
    assert found.correct.tolist() == [True, True, False]
    labelled_by_program = written(tmp_path, "text,label\nx,b\ny,b\nx,b\n")
    assert read_predictions(labelled_by_program, data=data).correct.tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("rows", "message"),
    [(["x,a", "z,a"], "no row for the text 'y'"), (["x,a", "y,a", "w,b"], "the text 'w' is not in")],
)
def test_other_texts_than_those_of_the_data_are_refused(tmp_path, rows, message):
    data = read_labelled([written(tmp_path, "text,label\nx,a\ny,b\n", "data.csv")], ReadOptions())
    with pytest.raises(DataError, match=message):
        read_predictions(written(tmp_path, "\n".join(["text,predicted", *rows])), data=data)


def test_a_table_without_the_texts_of_weight_0_needs_no_labelled_texts(tmp_path):
    data = read_labelled([written(tmp_path, "text,label,w\nx,a,1\ny,b,2\nz,b,0\n", "data.csv")], ReadOptions())
    path = written(tmp_path, "text,label,w,predicted\nx,a,1,a\ny,b,2,a\n")
    with pytest.raises(DataError, match="no row for the text 'z'") as raised:
        read_predictions(path, data=data)
    assert "no rows for texts with a weight of 0; such a table can be compared without" in raised.value.hint
    assert read_predictions(path).correct.tolist() == [True, False]


def test_several_labels_per_text(tmp_path):
    path = written(tmp_path, "text,label,predicted,prob_a,prob_b\nx,a;b,b;a,0.9,0.8\ny,,a,0.6,0.2\nz,,,0.1,0.1\n")
    found = read_predictions(path, ReadOptions(label_separator=";"))
    assert found.targets.tolist() == [[True, True], [False, False], [False, False]]
    assert found.correct.tolist() == [True, False, True]
    np.testing.assert_allclose(found.confidence, [0.72, 0.48, 0.81])


def test_lists_of_labels(tmp_path):
    rows = [(["a", "b"], ["b", "a"]), ([], ["a"]), (["a"], [])]
    lines = [json.dumps({"text": str(n), "label": true, "predicted": found}) for n, (true, found) in enumerate(rows)]
    path = written(tmp_path, "\n".join(lines) + "\n", "a.jsonl")
    found = read_predictions(path, ReadOptions(label_separator=";"))
    assert found.correct.tolist() == [True, False, False]
    assert found.predicted.tolist() == [[True, True], [True, False], [False, False]]
    one_label = written(tmp_path, '{"text": "x", "label": "a", "predicted": ["a"]}\n', "b.jsonl")
    with pytest.raises(DataError, match="expected a label") as raised:
        read_predictions(one_label)
    assert "label_separator" in str(raised.value)
    bad = written(tmp_path, '{"text": "x", "label": "a", "predicted": ["a;b"]}\n', "c.jsonl")
    with pytest.raises(DataError, match="'a;b' contains the separator"):
        read_predictions(bad, ReadOptions(label_separator=";"))


def test_a_text_without_an_answer_needs_no_confidence(tmp_path):
    path = written(tmp_path, "text,label,predicted,confidence\na,x,x,0.9\nb,y,?,\nc,y,,0.4\n")
    assert read_predictions(path).confidence.tolist() == [0.9, 0, 0]
    with pytest.raises(DataError, match=r"a\.csv:2: column 'confidence' is empty"):
        read_predictions(written(tmp_path, "text,label,predicted,confidence\na,x,x,\nb,y,?,\n"))


def test_texts_without_a_row_are_left_out_if_the_table_may_be_incomplete(tmp_path):
    data = read_labelled([written(tmp_path, "text,label\na,x\nb,y\na,y\nc,x\n", "data.csv")], ReadOptions())
    path = written(tmp_path, "text,predicted,seed\nc,x,1\na,x,1\nc,y,2\na,x,2\n")
    notes = []
    found = read_predictions(path, on_note=notes.append, data=data, complete=False)
    assert found.texts == ["a", "c", "a", "c"]
    assert found.correct.tolist() == [True, True, True, False]
    assert notes == [f"{path}: 2 of 4 texts have no row, and are left out"]
    for table, says in (("text,predicted\nd,x\n", "no row"), ("text,predicted\nb,x\nc,x\nb,x\n", "'b' is not in")):
        with pytest.raises(DataError, match=says):
            read_predictions(written(tmp_path, table), data=data, complete=False)


def test_no_answer_is_never_correct_even_if_a_text_has_no_labels(tmp_path):
    path = written(tmp_path, "text,label,predicted\nx,a;b,a\ny,b,?\nz,,?\n")
    notes = []
    found = read_predictions(path, ReadOptions(label_separator=";"), notes.append)
    assert found.correct.tolist() == [False, False, False]
    assert notes == [f"{path}: texts without an answer (counted as wrong): 2 of 3"]
    assert evaluate_predictions(found).accuracy == 0
    assert [predicted_text(found, row) for row in range(3)] == ["a", "?", "?"]
    path = written(tmp_path, "text,label,predicted,confidence\nx,a;b,a,0.9\ny,, ? ,0.8\nz,,,0.7\n")
    found = read_predictions(path, ReadOptions(label_separator=";"), notes.append)
    assert found.correct.tolist() == [False, False, True]
    assert found.confidence.tolist() == [0.9, 0, 0.7]


def test_null_in_json_means_no_answer_but_an_empty_list_means_no_labels(tmp_path):
    cells = [[], "", None, ["?"], ["a"]]
    rows = [{"text": str(number), "labels": [], "predicted": cell} for number, cell in enumerate(cells)]
    rows += [{"text": "no prediction", "labels": []}, {"text": "a", "labels": ["a", "b"], "predicted": ["a", "b"]}]
    path = written(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), "a.jsonl")
    found = read_predictions(path, ReadOptions(label_column="labels", label_separator=";"))
    assert found.answered.tolist() == [True, True, False, False, True, False, True]
    assert found.correct.tolist() == [True, True, False, False, False, False, True]
    assert found.unanswered == 3


def test_probabilities_of_several_labels_need_the_separator(tmp_path):
    path = written(tmp_path, "text,label,predicted,prob_a,prob_b\nx,a,a,0.9,0.8\ny,b,b,0.9,0.8\n")
    with pytest.raises(DataError) as caught:
        read_predictions(path)
    assert "`label_separator`" in caught.value.hint


def test_a_model_is_not_a_table(tmp_path):
    path = tmp_path / "model.csv"
    with path.open("wb") as file:
        np.savez(file, weights=np.zeros(3))
    assert not is_table(str(path))
    assert not is_table("-")
    assert not is_table(str(tmp_path))
