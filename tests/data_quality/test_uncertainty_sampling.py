"""Tests of choosing the texts that are most worth labelling: uncertain texts that do not resemble each other."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from nlptx.classifier.decision import MultiLabelDecision, SingleLabelDecision
from nlptx.corpus.document import Document
from nlptx.data_quality.rows import DataRows
from nlptx.data_quality.uncertainty_sampling import choose, margins, suggest_texts
from nlptx.errors import DataError
from nlptx.runtime.workers import Workers

LABELLED = [("a great film", "pos"), ("great and good", "pos"), ("an awful film", "neg"), ("awful and bad", "neg")] * 3


def rows_of(pairs, source="data.csv", sets=False):
    documents = [Document(text, source, line) for line, (text, _) in enumerate(pairs, start=2)]
    labels = [None if label is None else (label,) if isinstance(label, str) else label for _, label in pairs]
    return DataRows(documents, labels, separator=";" if sets else None)


def suggested(unlabelled, count=9, labelled=LABELLED, jobs=1, **more):
    rows = rows_of(labelled)
    others = rows_of([(text, None) for text in unlabelled], "more.txt") if unlabelled else None
    found = suggest_texts(rows, others, count, Workers(jobs), **more)
    every = rows if others is None else rows.followed_by(others)
    return [every.texts[row] for row in found.rows], found


def test_uncertain_texts_come_first():
    texts, found = suggested(["great great great", "great but awful", "awful awful awful"])
    assert texts[0] == "great but awful"
    assert found.probabilities[0] < found.probabilities[1]
    assert set(found.labels) <= {("neg",), ("pos",)}


def test_copies_labelled_texts_and_texts_without_known_words_are_not_candidates():
    texts, _ = suggested(["A  great film", "zzz qqq", "", "!!!", "great but awful", "Great but awful", "zzz qqq"])
    assert texts == ["great but awful"]


def test_rows_of_the_data_without_a_label_are_candidates():
    texts, found = suggested([], labelled=[*LABELLED, ("great but awful", None), ("good", None)])
    assert sorted(texts) == ["good", "great but awful"]
    assert sorted(found.rows.tolist()) == [12, 13]


def test_a_copy_of_a_labelled_text_is_not_a_candidate_even_if_it_comes_first():
    labelled = [("great but awful", None), *LABELLED, ("great but awful", "pos")]
    texts, _ = suggested(["awful but great"], labelled=labelled)
    assert texts == ["awful but great"]


@pytest.mark.parametrize(
    ("unlabelled", "says"),
    [(["A great film", "", "?"], "copy of a labelled text"), (["zzz"], "none of the unlabelled .* in common")],
)
def test_the_reason_why_there_are_no_texts(unlabelled, says):
    texts, found = suggested(unlabelled)
    assert texts == []
    assert re.search(says, found.obstacle)
    assert found.probabilities.shape == (0,)


def test_the_thresholds_of_a_given_model_decide():
    def predict(texts):
        p = np.array([[0.25, 0.6] if "one" in text else [0.9, 0.1] for text in texts])
        return ["x", "y"], p, MultiLabelDecision(";", np.array([0.2, 0.9]))

    texts, found = suggested(["number two", "number one"], predict=predict)
    assert (texts, found.labels) == (["number one", "number two"], [("x",), ("x",)])
    assert_allclose(found.probabilities, [0.25, 0.9])


def test_the_number_of_threads_does_not_change_the_choice():
    texts = [f"{a} {b} {c}" for a in ("great", "awful") for b in ("and", "but", "film") for c in ("bad", "good", "so")]
    assert suggested(texts, 5, jobs=1)[0] == suggested(texts, 5, jobs=3)[0]


def test_a_given_model_is_used():
    def predict(texts):
        p = np.array([[0.5, 0.4, 0.1] if "one" in text else [0.9, 0.1, 0] for text in texts])
        return ["x", "y", "z"], p, SingleLabelDecision(np.ones(3) / 3, balanced=False)

    texts, found = suggested(["number two", "number one"], 1, predict=predict)
    assert (texts, found.labels, found.probabilities.tolist()) == (["number one"], [("x",)], [0.5])


def test_sets_of_labels():
    labelled = [("great plot", ("good", "plot")), ("great", ("good",)), ("awful plot", ("plot",)), ("awful", ())] * 4
    rows = rows_of(labelled, sets=True)
    found = suggest_texts(rows, rows_of([("great plot plot", None), ("great awful", None)]), 2, Workers(1))
    assert sorted(found.rows.tolist()) == [16, 17]
    assert all(isinstance(labels, tuple) for labels in found.labels)
    assert ((found.probabilities >= 0.5) & (found.probabilities <= 1)).all()


@pytest.mark.parametrize(
    ("unlabelled", "labelled", "says"),
    [([], LABELLED, "no text without a label"), (["good"], LABELLED[:1], "no model can be fitted")],
)
def test_impossible_requests(unlabelled, labelled, says):
    with pytest.raises(DataError, match=says):
        suggested(unlabelled, labelled=labelled)


def test_similar_texts_are_chosen_last():
    ngrams = sp.csr_matrix(np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 0, 0], [1, 1, 1, 0]], np.float32))
    certain = np.array([0, 0.02, 0.8, 0.04, 1])
    assert_array_equal(choose(certain, ngrams, 2), [0, 2])
    assert_array_equal(choose(certain, ngrams, 4), [0, 2, 1, 3])
    assert_array_equal(choose(certain, ngrams[:, :0], 5), [0, 1, 3, 2, 4])  # without n-grams, no texts are similar
    assert_array_equal(choose(certain[:0], ngrams[:0], 3), [])


def test_many_candidates_are_compared_in_groups(monkeypatch):
    rng = np.random.default_rng(1)
    dense = (rng.random((60, 8)) < 0.3).astype(np.float32)
    certain = rng.random(60)
    expected = choose(certain, sp.csr_matrix(dense), 60)
    monkeypatch.setattr("nlptx.data_quality.uncertainty_sampling._COMPARED", 7)
    assert_array_equal(choose(certain, sp.csr_matrix(dense), 8), expected[:8])


def test_margins():
    one = SingleLabelDecision(np.ones(3) / 3, balanced=False)
    assert_allclose(margins(np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1]]), one), [0.2, 0.7])
    equal, different = (MultiLabelDecision(";", np.array(thresholds)) for thresholds in ([0.5, 0.5], [0.2, 0.8]))
    assert_allclose(margins(np.array([[0.9, 0.45], [0.0, 1.0]]), equal), [0.1, 1])
    assert_allclose(margins(np.array([[0.2, 0.9], [0.28, 0.4]]), different), [0, 0.1])
