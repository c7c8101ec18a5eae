"""Tests of finding wrong labels: confident learning, flipped labels, several labels per text, many labels."""

import numpy as np
import pytest

from nlptx.corpus.document import Document
from nlptx.data_quality import check as check_module
from nlptx.data_quality.check import check
from nlptx.data_quality.label_errors import confident_class, likely_wrong
from nlptx.data_quality.rows import DataRows
from nlptx.evaluation.labelled_predictions import LabelledPredictions
from nlptx.runtime.workers import SERIAL

POSITIVE, NEGATIVE = ["good", "great", "lovely", "fine", "superb"], ["bad", "awful", "poor", "dull", "weak"]


def rows_of(texts, labels, separator=None):
    documents = [Document(text, "", "d.tsv", line) for line, text in enumerate(texts, start=2)]
    return DataRows(documents, [(label,) if isinstance(label, str) else label for label in labels], separator=separator)


def reviews(count, rng):
    """Return texts whose words come from one of two groups, and their labels."""
    labels = ["pos" if number % 2 else "neg" for number in range(count)]
    groups = {"pos": POSITIVE, "neg": NEGATIVE}
    texts = [f"{' '.join(rng.choice(groups[label], 3))} film {number}" for number, label in enumerate(labels)]
    return texts, labels


def finding_of(result, kind="wrong-labels"):
    return next(finding for finding in result.findings if finding.kind == kind)


def test_confident_classes_equal_a_computation_by_hand():
    targets = np.array([0, 0, 0, 1, 1])
    p = np.array([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.3, 0.7], [0.55, 0.45]])
    # The thresholds are 0.6 and 0.575, so the confident class differs from the label only for the third text.
    assert confident_class(targets, p).tolist() == [0, 0, 1, 1, 1]


def test_a_class_below_the_given_one_is_never_suggested():
    targets = np.array([0, 0, 0, 1])
    p = np.array([[0.6, 0.4], [0.95, 0.05], [0.95, 0.05], [0.7, 0.3]])
    assert confident_class(targets, p)[0] == 0


def test_rare_labels_are_not_examined():
    targets = np.array([0] * 10 + [1] * 2)
    p = np.tile([0.9, 0.1], (12, 1))
    assert len(likely_wrong(targets, p, ["a", "b"], np.arange(12))) == 0


def test_flipped_labels_are_found():
    rng = np.random.default_rng(1)
    texts, labels = reviews(200, rng)
    flipped = rng.choice(200, 8, replace=False)
    for row in flipped:
        labels[row] = "neg" if labels[row] == "pos" else "pos"
    finding = finding_of(check(rows_of(texts, labels), SERIAL))
    found = set(finding.rows.tolist())
    assert found >= set(flipped.tolist())
    # A text that shares a word with a text whose label was flipped may be found too.
    assert len(found) <= len(flipped) + 1
    for row, suggested in zip(finding.rows, finding.suggested, strict=True):
        assert suggested != labels[row]


def test_words_after_a_negation_are_read_as_negated():
    opposite = {"pos": "neg", "neg": "pos"}
    texts, labels = reviews(800, np.random.default_rng(2))
    for row in np.flatnonzero(np.arange(800) % 4 > 1).tolist():
        texts[row] = f"not w{row} {texts[row]}"
        labels[row] = opposite[labels[row]]
    flipped = np.random.default_rng(3).choice(800, 20, replace=False)
    for row in flipped:
        labels[row] = opposite[labels[row]]
    found = finding_of(check(rows_of(texts, labels), SERIAL)).rows[:20]
    # If negated words are not marked, only 9 of the 20 flipped labels are among the first 20 rows found.
    assert len(set(found.tolist()) & set(flipped.tolist())) >= 12


@pytest.mark.parametrize("names", [["neg", "pos"], ["pos", "neg"]])
def test_predictions_for_some_of_the_rows_are_combined_with_the_out_of_fold_probabilities(names):
    texts, labels = reviews(200, np.random.default_rng(1))
    rows = rows_of(texts, labels)

    def predict(data):
        kept = data.documents[10:]
        targets = np.array([names.index(label) for label in labels[10:]])
        probabilities = np.eye(2)[targets] * 0.8 + 0.1
        probabilities[[5, 50]] = probabilities[[5, 50], ::-1]
        predicted = probabilities.argmax(axis=1)
        return LabelledPredictions("m", names, True, kept, targets, predicted, probabilities, None)

    alone = finding_of(check(rows, SERIAL, predict=predict, cross_fit=False))
    assert set(alone.rows.tolist()) == {15, 60}
    assert not [finding for finding in check(rows, SERIAL, predict=predict).findings if finding.kind == "wrong-labels"]


def test_suggestions_are_spelled_as_in_the_data_if_the_model_spells_the_labels_differently():
    texts, labels = reviews(200, np.random.default_rng(1))
    targets = np.array([int(label == "pos") for label in labels])
    probabilities = np.eye(2)[targets] * 0.8 + 0.1
    targets[15] = 1 - targets[15]
    rows, notes = rows_of(texts, [str(target) for target in targets]), []

    def predict(names):
        def predicted(data):
            return LabelledPredictions("m", names, False, data.documents, targets, targets, probabilities, None)

        return predicted

    words, numbers = (
        finding_of(check(rows, SERIAL, predict=predict(names), on_note=notes.append))
        for names in (["neg", "pos"], ["0", "1"])
    )
    assert words.suggested == numbers.suggested
    assert set(words.suggested) <= {"0", "1"}
    np.testing.assert_array_equal(words.scores, numbers.scores)  # n-gram models are used too
    assert not notes


def test_a_note_if_a_model_has_a_label_that_the_data_does_not_have(monkeypatch):
    texts, labels = reviews(200, np.random.default_rng(1))
    rows, names, notes = rows_of(texts, labels), ["neg", "neutral", "pos"], []
    monkeypatch.setattr(check_module, "out_of_fold_probabilities", None)  # they would be computed in vain

    def predict(data):
        targets = np.array([names.index(label) for label in labels])
        probabilities = np.eye(3)[targets] * 0.7 + 0.1
        probabilities[15] = [0.8, 0.1, 0.1] if labels[15] == "pos" else [0.1, 0.1, 0.8]
        predicted = probabilities.argmax(axis=1)
        return LabelledPredictions("m", names, True, data.documents, targets, predicted, probabilities, None)

    finding = finding_of(check(rows, SERIAL, predict=predict, on_note=notes.append))
    assert finding.rows.tolist() == [15]
    assert notes == [
        "the labels of the model and of the data differ, so probably wrong labels are found with the model alone,"
        " without n-gram models"
    ]


def test_more_than_twenty_labels():
    texts = [f"word{number % 25} common" for number in range(500)]
    labels = [f"label{number % 25:02}" for number in range(500)]
    labels[30] = "label00"
    finding = finding_of(check(rows_of(texts, labels), SERIAL))
    assert finding.rows.tolist() == [30]
    assert finding.suggested == ["label05"]


def test_several_labels_per_text():
    rng = np.random.default_rng(2)
    sets = [tuple(name for name, has in zip("ab", rng.random(2) < 0.5, strict=True) if has) for _ in range(300)]
    subjects = [" ".join(f"about {label}{label}" for label in each) for each in sets]
    texts = [f"text {subject} n{row}" for row, subject in enumerate(subjects)]
    wrong = sets.index(("a", "b"))
    sets[wrong] = ("a",)
    finding = finding_of(check(rows_of(texts, sets, separator="|"), SERIAL))
    assert finding.rows.tolist() == [wrong]
    assert finding.suggested == ["a|b"]


def test_if_the_models_predict_labels_badly_there_is_a_note():
    rng = np.random.default_rng(3)
    texts, labels = reviews(300, rng)
    notes = []
    check(rows_of(texts, labels), SERIAL, on_note=notes.append)
    assert notes == []
    rng.shuffle(labels)
    result = check(rows_of(texts, labels), SERIAL, on_note=notes.append)
    assert notes[0].startswith(
        f"{len(finding_of(result))} of 300 labels are listed as probably wrong, but many of them are probably correct"
    )


def test_without_two_labels_there_is_a_note():
    notes = []
    check(rows_of(["one text", "another one"], ["a", "b"]), SERIAL, on_note=notes.append)
    assert notes == ["wrong labels were not searched for: this needs two labels with at least 5 texts each"]
