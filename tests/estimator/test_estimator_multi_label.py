"""Tests of ``TextClassifier`` with several labels per text: lists, and indicator matrices as in scikit-learn."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from calling import call
from label_sets import make_sets

import nlptx
from nlptx.corpus.read_options import ReadOptions
from nlptx.errors import InputTypeError, LabelError, SettingsError

LABELS = ["blue", "green", "red"]
TEXTS, SETS = make_sets(60)
MATRIX = np.array([[int(label in labels) for label in LABELS] for labels in SETS])


def small(**parameters):
    given = {"epochs": 2, "lr": 0.01, "warmup": 0, "width": 8, "heads": 2, "lsa_components": 0, "jobs": 1}
    return nlptx.TextClassifier(pca=nlptx.PcaSettings(components=4), **given | parameters)


@pytest.fixture(scope="module")
def of_lists():
    return small().fit(TEXTS, SETS)


@pytest.fixture(scope="module")
def of_matrix():
    return small().fit(TEXTS, MATRIX)


def test_lists_of_labels_are_returned_as_lists(of_lists):
    assert of_lists.classes_.tolist() == LABELS
    assert of_lists.predict(TEXTS) == of_lists.model_.predict(TEXTS)
    assert np.array_equal(of_lists.predict_proba(TEXTS), of_lists.model_.predict_proba(TEXTS))
    model = nlptx.fit(TEXTS, SETS, settings=small()._train_settings(), pca=nlptx.PcaSettings(components=4), jobs=1)
    assert np.array_equal(model.flat, of_lists.model_.flat)


def test_the_model_is_that_of_the_command_line(tmp_path):
    sets = [tuple(sorted(labels)) for labels in SETS]
    (tmp_path / "data.tsv").write_text(
        "text\tlabel\n" + "".join(f"{text}\t{';'.join(labels)}\n" for text, labels in zip(TEXTS, sets, strict=True))
    )
    options = ["--label-separator", ";", "--epochs", "1", "--width", "8", "--heads", "2", "--lsa-components", "0", "-q"]
    call("train", tmp_path / "data.tsv", *options, "-o", tmp_path / "command.npz")
    *_, command = call("info", tmp_path / "command.npz", "--json").json["commands"]
    assert "--label-separator" in command
    assert "--loss" not in command
    classifier = nlptx.TextClassifier(epochs=1, width=8, heads=2, lsa_components=0).fit(TEXTS, sets)
    classifier.model_.save(tmp_path / "python.npz")
    assert (tmp_path / "python.npz").read_bytes() == (tmp_path / "command.npz").read_bytes()
    model = nlptx.fit(TEXTS, sets, settings=classifier.model_.settings)
    model.save(tmp_path / "fit.npz")
    assert "--label-separator" in call("info", tmp_path / "fit.npz", "--json").json["commands"][-1]


def test_labels_in_any_order_have_the_digest_of_a_table_with_this_order(tmp_path):
    sets = [sorted(labels, reverse=True) + sorted(labels)[:1] for labels in SETS]
    table = tmp_path / "data.tsv"
    table.write_text("text\tlabel\n" + "".join(f"{text}\t{';'.join(sets[row])}\n" for row, text in enumerate(TEXTS)))
    options = ReadOptions(splits=("train", "unsup"), label_separator=";")
    read = nlptx.read_training_data(table, valid=table, options=options)
    model = small(epochs=1).fit(TEXTS, sets, valid=(TEXTS, sets)).model_
    assert model.source == read.source
    assert model.made_from["made_from"]["details"]["sha256"] == read.corpus["sha256"]
    of_sets, of_lists = (small(epochs=0).fit(TEXTS, list(map(kind, sets))).model_.source for kind in (set, list))
    assert of_sets == small(epochs=0).fit(TEXTS, list(map(sorted, SETS))).model_.source != of_lists


@pytest.mark.parametrize("form", [list, tuple, sorted])
def test_labels_of_a_text_may_be_any_collection(form, of_lists):
    y = pd.Series([form(labels) for labels in SETS])
    assert np.array_equal(small().fit(TEXTS, y).model_.flat, of_lists.model_.flat)


def test_an_indicator_matrix_is_returned_as_a_matrix(of_matrix):
    assert of_matrix.classes_.tolist() == [0, 1, 2]
    predicted = of_matrix.predict(TEXTS)
    assert (predicted.shape, predicted.dtype) == (MATRIX.shape, np.int64)
    assert of_matrix.predict_proba(TEXTS).shape == MATRIX.shape
    assert np.array_equal(of_matrix.decision_function(TEXTS) >= 0, predicted == 1)
    assert of_matrix.score(TEXTS, MATRIX) == (predicted == MATRIX).all(axis=1).mean() > 0.1


@pytest.mark.parametrize(
    "make", [sp.csr_matrix, sp.coo_array, pd.DataFrame, lambda y: y.astype(bool), np.ndarray.tolist, list]
)
def test_matrices_may_be_sparse_frames_bool_or_lists(make, of_matrix):
    other = small().fit(TEXTS, make(MATRIX))
    assert np.array_equal(other.model_.flat, of_matrix.model_.flat)
    assert other.score(TEXTS, make(MATRIX)) == of_matrix.score(TEXTS, MATRIX)


def test_the_score_is_the_subset_accuracy(of_lists):
    predicted = of_lists.predict(TEXTS)
    hits = [set(one) == labels for one, labels in zip(predicted, SETS, strict=True)]
    assert of_lists.score(TEXTS, SETS) == np.mean(hits)
    assert of_lists.score(TEXTS, SETS, np.arange(60)) == pytest.approx(np.average(hits, weights=np.arange(60)))
    assert of_lists.score(TEXTS, [["other"]] * 60) == 0


def test_the_columns_of_a_matrix_are_the_classes(of_lists, of_matrix):
    assert of_lists.score(TEXTS, MATRIX) == of_lists.score(TEXTS, SETS) > 0.1
    assert of_lists.score(TEXTS, sp.csr_matrix(MATRIX)) == of_lists.score(TEXTS, SETS)
    for classifier in (of_lists, of_matrix):
        with pytest.raises(LabelError, match="`y` is a matrix with 2 columns; expected one for each of the 3 labels"):
            classifier.score(TEXTS, MATRIX[:, :2])


def test_a_matrix_of_validation_labels_has_the_columns_of_the_training_labels():
    by_lists = small().fit(TEXTS, SETS, valid=(TEXTS[:9], SETS[:9])).model_
    assert np.array_equal(small().fit(TEXTS, SETS, valid=(TEXTS[:9], MATRIX[:9])).model_.flat, by_lists.flat)
    with pytest.raises(LabelError, match=r"`valid\[1\]` is a matrix with 2 columns; expected one for each"):
        small().fit(TEXTS, MATRIX, valid=(TEXTS[:9], MATRIX[:9, :2]))


def test_more_than_ten_columns_keep_their_order():
    texts, sets = make_sets(150, tuple(f"l{number}" for number in range(12)))
    matrix = np.array([[int(f"l{number}" in labels) for number in range(12)] for labels in sets])
    classifier = small(epochs=3).fit(texts, matrix)
    p = classifier.predict_proba(texts)
    for number in range(12):
        column = classifier.model_.label_names.index(str(number))
        assert np.array_equal(p[:, number], classifier.model_.predict_proba(texts)[:, column])


def test_a_column_without_texts_is_never_predicted():
    matrix = np.insert(MATRIX, 1, 0, axis=1)
    classifier = small().fit(TEXTS, matrix)
    assert classifier.classes_.tolist() == [0, 1, 2, 3]
    assert classifier.model_.label_names == ["0", "2", "3"]
    assert not classifier.predict(TEXTS)[:, 1].any()
    assert not classifier.predict_proba(TEXTS)[:, 1].any()
    assert (classifier.decision_function(TEXTS)[:, 1] < 0).all()


def test_texts_of_weight_0_and_validation_texts(of_matrix):
    weights = np.ones(60)
    weights[50:] = 0
    classifier = small().fit(TEXTS, MATRIX, weights, valid=(TEXTS[50:], MATRIX[50:]))
    assert classifier.model_.source["valid_documents"] == 10
    assert small().fit(TEXTS, SETS, valid=(TEXTS[:10], SETS[:10])).classes_.tolist() == LABELS


def test_labels_may_contain_the_usual_separator():
    sets = [["; ".join(("a", label)) for label in labels] for labels in SETS]
    classifier = small(epochs=1).fit(TEXTS, sets)
    assert classifier.model_.multi_label.separator == "|"


def test_labels_may_end_in_nul():
    classifier = small(epochs=0).fit(TEXTS, [[f"{label}\0" for label in labels] for labels in SETS])
    assert classifier.classes_.tolist() == [f"{label}\0" for label in LABELS]
    assert classifier.predict_proba(TEXTS).all()


def test_labels_may_contain_all_usual_separators():
    signs = ("a;|b,/+#;", "|c")
    sets = [[signs[number] for number in range(len(labels) % 3)] for labels in SETS]
    classifier = small(epochs=0).fit(TEXTS, sets)
    assert classifier.model_.multi_label.separator == ";||"
    assert classifier.classes_.tolist() == sorted(signs)
    assert classifier.score(TEXTS, sets) > 0


def test_a_pickle_is_the_same_classifier(of_matrix):
    copy = pickle.loads(pickle.dumps(of_matrix))
    assert np.array_equal(copy.predict(TEXTS), of_matrix.predict(TEXTS))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (MATRIX * 2, "elements other than 0 and 1"),
        (pd.DataFrame(MATRIX).astype("Int64").replace(0, pd.NA), "elements other than 0 and 1"),
        (MATRIX[:, :1], "`y` is a numpy.ndarray with 2 dimensions"),
        (MATRIX[:50], "`X` has 60 elements, `y` has 50"),
        ([["red"]] * 59 + ["red"], r"`y\[59\]` is 'red' \(str\); expected a list, tuple or set"),
        ([[1, 0]] * 59 + [[1]], "expected labels of type str"),
        ([[1, 2]] * 60, "elements other than 0 and 1"),
    ],
)
def test_other_labels_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        small().fit(TEXTS, y)


def test_a_loss_for_one_label_per_text_is_refused():
    message = "`loss=cross-entropy` requires one label per text"
    for y in (SETS, MATRIX):
        with pytest.raises(SettingsError, match=message):
            small(loss="cross-entropy").fit(TEXTS, y)
    assert small(loss="binary-cross-entropy", epochs=0).fit(TEXTS, SETS).model_.multi_label is not None


def test_scikit_learn_searches_and_validates_with_an_indicator_matrix():
    pytest.importorskip("sklearn")
    from sklearn.base import clone
    from sklearn.metrics import accuracy_score, f1_score
    from sklearn.model_selection import GridSearchCV, cross_val_predict
    from sklearn.utils import get_tags

    assert get_tags(small()).classifier_tags.multi_label
    search = GridSearchCV(clone(small()), {"epochs": [1, 2]}, cv=2, scoring="f1_micro", error_score="raise")
    predicted = search.fit(TEXTS, MATRIX).predict(TEXTS)
    assert f1_score(MATRIX, predicted, average="micro") > 0.3
    assert search.best_estimator_.score(TEXTS, MATRIX) == accuracy_score(MATRIX, predicted)
    p = cross_val_predict(small(), TEXTS, MATRIX, cv=2, method="predict_proba")
    assert p.shape == MATRIX.shape


def test_a_missing_list_of_labels_is_not_read_as_an_empty_one():
    with pytest.raises(InputTypeError, match=r"`y\[1\]` is None") as caught:
        small().fit(TEXTS, [SETS[0], None, *SETS[2:]])
    assert "as `unlabelled`" in caught.value.hint
