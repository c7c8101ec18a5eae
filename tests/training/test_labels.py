"""Tests of the order of labels, and of notes about ambiguous labels."""

import re

import pytest

import nlptx
from nlptx.errors import LabelError
from nlptx.experiments.experiment import Experiment
from nlptx.training.labels import label_notes, order_labels


def notes(labels, ordered=True):
    _, values = order_labels(labels, ordered)
    return list(label_notes(labels, values))


@pytest.mark.parametrize(
    "labels",
    [
        ["neg", "pos"] * 3,
        ["0", "1"] * 3,
        ["negative", "neutral", "positive"],
        ["true", "false"],
        ["drama", "comedy", "western"],
        ["1_1", "1_2", "2_1"],
        [f"name {number % 30}" for number in range(90)],
        ["Paris, France", "London, England", "Lyon, France"],
    ],
)
def test_unambiguous_labels_cause_no_note(labels):
    assert notes(labels) == []


@pytest.mark.parametrize("separator", [";", "|", ","])
def test_labels_that_look_like_lists_cause_a_note(separator):
    labels = [separator.join(parts) for parts in (("b", "a"), ("a", " c"), ("b",), ("c", "b"))]
    (note,) = notes(labels)
    assert note == (
        f"the label 'a{separator} c' is read as a single label; if texts can have several labels, set"
        f" `label_separator` to {separator!r}"
    )


@pytest.mark.parametrize("label", ["NA", "na", "N/A", "nan", "NULL", "None", "-"])
def test_labels_that_may_mean_missing_values_cause_a_note(label):
    (note,) = notes(["pos", "neg", label, "pos", label])
    assert note.startswith(f"label {label!r} (2 texts) is treated like any other label")
    assert note.endswith(f"leave these rows out with `label_map={label}=`")


def test_the_label_for_no_answer_is_refused():
    texts = ["a good film", "a bad film"] * 10
    for labels in (["pos", "?"] * 10, [("pos",), ("neg", "?")] * 10):
        with pytest.raises(LabelError, match=r"'\?' cannot be used as a label") as caught:
            nlptx.fit(texts, labels, jobs=1)
        assert "Rename it" in caught.value.hint
    with pytest.raises(LabelError, match=r"^'\?' cannot be used"):
        Experiment(texts, ["pos", "?"] * 10, 2).fold_of_each(1)
    (note,) = notes(["pos", "neg", "?", "pos", "?"])
    assert note.startswith("label '?' (2 texts) cannot be used for training")


@pytest.mark.parametrize(
    ("label", "says"),
    [
        ("neg ", "the label 'neg ' would be read from a file as 'neg'"),
        ("very\nbad", "would be read from a file as 'very bad'"),
        ("", "a label is empty"),
        (" ", "a label is empty"),
    ],
)
def test_labels_that_files_cannot_contain_are_refused(label, says):
    texts, labels = ["a good film", "a bad film"] * 10, ["pos", label] * 10
    for train in (lambda: nlptx.fit(texts, labels, jobs=1), lambda: nlptx.TextClassifier(jobs=1).fit(texts, labels)):
        with pytest.raises(LabelError) as caught:
            train()
        assert says in str(caught.value)


def test_labels_that_differ_only_in_how_accents_are_written_are_refused():
    with pytest.raises(LabelError, match="would be read from a file as the same label"):
        nlptx.fit(["a good film", "a bad film"] * 10, ["\u00e9t\u00e9", "e\u0301te\u0301"] * 10, jobs=1)


@pytest.mark.parametrize(
    ("labels", "named", "advice"),
    [
        (["POS", "pos", "pos", "neg"], "'POS' (1 text) and 'pos' (2 texts)", "`label_map=POS=pos`"),
        (["POS", "POS", "pos", "neg"], "'POS' (2 texts) and 'pos' (1 text)", "`label_map=pos=POS`"),
        (
            ["Neg", "NEG", "neg", "neg", "pos"],
            "'NEG' (1 text) and 'Neg' (1 text) and 'neg' (2 texts)",
            "`label_map=NEG=neg` `label_map=Neg=neg`",
        ),
        (["1", "1.0", "1.0", "2"], "'1' (1 text) and '1.0' (2 texts)", "`label_map=1=1.0`"),
    ],
)
def test_different_spellings_of_one_label_cause_a_note(labels, named, advice):
    (note,) = notes(labels)
    assert note == (f"labels {named} are read as different labels; if they mean the same thing, merge them ({advice})")


def test_numeric_labels_cause_a_note_that_they_are_treated_as_ordered():
    labels = [str(number % 6) for number in range(60)]
    assert notes(labels) == [
        "labels 0, 1, 2, 3, 4, 5 are treated as ordered; if they are names, use `label_order=none`"
    ]
    assert notes(labels, ordered=False) == []


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        (["4"] * 30 + ["5"] * 30 + ["nan", "N/A"], "but not 'N/A', 'nan' (2 texts), so all labels are read as names"),
        (["1,0", "4,5", "5,0"] * 3, "a decimal comma, such as '1,0', are read as names, so the labels have no order"),
        (["1", "4,5", "5"] * 3, "a decimal comma, such as '4,5', .* with a point \\(`label_map=4,5=4.5`\\)"),
    ],
)
def test_labels_that_only_just_fail_to_be_numbers_cause_a_note(labels, says):
    (note,) = [note for note in notes(labels) if "like any other" not in note]
    assert re.search(says if "\\" in says else re.escape(says), note)


def test_a_few_numbers_among_names_cause_no_note():
    assert notes(["drama", "comedy", "1984", "2001"] * 5) == []


def test_digits_with_underscores_are_names():
    assert order_labels(["10_1", "9_1", "9_2"]) == (["10_1", "9_1", "9_2"], None)


def test_numeric_labels_are_listed_in_numeric_order():
    (note,) = notes(["10", "2", "1"])
    assert "1, 2, 10" in note


@pytest.mark.parametrize("ordered", [True, False])
def test_many_numeric_labels_cause_a_note(ordered):
    (note,) = notes([f"{number / 97:.3f}" for number in range(97)] * 3, ordered)
    assert note.startswith("97 different numbers, 0.000 to 0.990, are read as 97 labels")
    assert "group them" in note


def test_nearly_unique_labels_cause_a_note():
    (note,) = notes([f"title {number}" for number in range(30)])
    assert note == "30 different labels for 30 texts: is this the label column?"
