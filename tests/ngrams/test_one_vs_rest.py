"""Tests of sparse n-gram features: one logistic regression per label, on the n-grams that indicate the label."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from nlptx.ngrams.feature_settings import FeatureSettings
from nlptx.ngrams.logistic_regression import fit_sparse
from nlptx.ngrams.naive_bayes import log_count_ratios
from nlptx.ngrams.one_vs_rest import LabelModels, fit_labels
from nlptx.ngrams.sparse_cross_fit import fit_sparse_features
from nlptx.runtime.workers import Workers
from nlptx.sampling.passages import Passage

WORDS, LABELS = 40, 6


def make_texts(count, seed=1):
    """Return word ids and labels. A text with label c is likely to contain the words 5 c to 5 c + 4."""
    rng = np.random.default_rng(seed)
    targets = rng.random((count, LABELS)) < 0.25
    texts = []
    for row in targets:
        own = [5 * c + word for c in np.flatnonzero(row) for word in range(5)]
        words = rng.integers(0, WORDS, 8)
        if own:
            words = np.concatenate([words, rng.choice(own, 6)])
        texts.append(rng.permutation(words).astype(np.int32))
    return texts, targets


def matrix(texts):
    rows = sp.lil_matrix((len(texts), WORDS), dtype=np.float32)
    for row, ids in enumerate(texts):
        rows[row, np.unique(ids)] = 1 / np.sqrt(len(ids))
    return rows.tocsr()


def shape(order=2):
    return FeatureSettings(LABELS, order, WORDS, min_texts=1)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_model_equals_a_logistic_regression_on_the_same_ngrams(weighted):
    texts, targets = make_texts(80)
    rows = matrix(texts)
    weights = np.random.default_rng(3).uniform(0.5, 2, 80) if weighted else None
    models = fit_labels(rows, sp.csr_matrix(targets, dtype=float), 1, weights)
    of_text = np.ones(80) if weights is None else weights
    counts = (rows > 0).T @ (targets * of_text[:, None])
    ratios = log_count_ratios(counts, 1, (rows > 0).T @ of_text)
    ratios[(ratios <= 0) | (counts == 0)] = 0
    for c in range(LABELS):
        products, bias = fit_sparse(rows, ratios[:, [c]], targets[:, c].astype(int), text_weights=weights)
        assert_allclose(models.products[:, [c]].toarray(), products, atol=2e-2)
        assert models.bias[c] == pytest.approx(bias[0], abs=2e-2)


def test_only_ngrams_that_occur_with_a_label_have_a_weight_for_it():
    texts, targets = make_texts(60)
    rows = matrix(texts)
    products = fit_labels(rows, sp.csr_matrix(targets, dtype=float), 1).products.toarray()
    together = ((rows > 0).T @ targets) > 0
    assert not products[~together].any()
    assert 0 < np.count_nonzero(products) < products.size / 2


def test_labels_of_every_text_or_of_none_have_only_a_bias():
    texts, targets = make_texts(20)
    targets[:, 0], targets[:, 1] = True, False
    models = fit_labels(matrix(texts), sp.csr_matrix(targets, dtype=float), 1)
    assert not models.products[:, [0, 1]].nnz or not models.products[:, [0, 1]].toarray().any()
    assert_allclose(models.bias[:2], [np.log(20.5 / 0.5), np.log(0.5 / 20.5)], rtol=1e-6)


def test_models_are_restored_from_their_bytes():
    texts, targets = make_texts(20)
    models = fit_labels(matrix(texts), sp.csr_matrix(targets, dtype=float), 1)
    restored = LabelModels.from_bytes(models.to_bytes(), models.products.shape)
    assert_array_equal(restored.products.toarray(), models.products.toarray())
    assert_array_equal(restored.bias, models.bias)


def test_features_of_other_texts_are_the_outputs_of_the_final_models():
    texts, targets = make_texts(60)
    features, _ = fit_sparse_features(texts, targets, shape(1), np.random.default_rng(1))
    models = fit_labels(matrix(texts), sp.csr_matrix(targets, dtype=float), 1)
    new, _ = make_texts(10, seed=5)
    found = np.array([features.of(ids).text_features for ids in new])
    assert_allclose(found, (matrix(new) @ models.products).toarray() + models.bias, rtol=1e-4, atol=1e-5)
    assert features.width == 0
    assert all(features.of(ids).token_features.shape == (len(ids), 0) for ids in new)
    assert_array_equal(features.of(new[0][:0]).text_features, features.bias)


def test_features_of_a_batch_equal_those_of_each_text():
    texts, targets = make_texts(60)
    features, _ = fit_sparse_features(texts, targets, shape(), np.random.default_rng(1))
    lengths = [len(ids) for ids in texts]
    together = features.text_features_of(features.find(np.concatenate(texts), lengths), lengths)
    assert_array_equal(together, [features.of(ids).text_features for ids in texts])


@pytest.mark.usefixtures("same_folds")
def test_the_features_of_a_training_text_do_not_depend_on_its_labels():
    texts, targets = make_texts(60)
    _, before = fit_sparse_features(texts, targets, shape(), np.random.default_rng(1))
    for row in (0, 17, 59):
        changed = targets.copy()
        changed[row] = ~changed[row]
        _, after = fit_sparse_features(texts, changed, shape(), np.random.default_rng(1))
        assert_array_equal(after[row].text_features, before[row].text_features)
        assert any((x.text_features != y.text_features).any() for x, y in zip(before, after, strict=True))


def test_a_passage_has_the_features_of_its_fold():
    texts, targets = make_texts(30)
    passages = [Passage(4, 0, texts[4])]
    _, of_examples = fit_sparse_features(texts, targets, shape(), np.random.default_rng(1), passages=passages)
    assert len(of_examples) == 31
    assert_allclose(of_examples[30].text_features, of_examples[4].text_features, rtol=1e-5)


@pytest.mark.parametrize("processes", [False, True])
def test_workers_do_not_change_the_features(processes):
    texts, targets = make_texts(40)
    one, two = (
        fit_sparse_features(texts, targets, shape(), np.random.default_rng(1), Workers(jobs, processes=processes))
        for jobs in (1, 2)
    )
    assert_array_equal(one[0].ratio_weights, two[0].ratio_weights)
    for x, y in zip(one[1], two[1], strict=True):
        assert_array_equal(x.text_features, y.text_features)


def test_weights_double_the_counts():
    texts, targets = make_texts(30)
    rows, labels = matrix(texts), sp.csr_matrix(targets, dtype=float)
    doubled = sp.vstack([rows, rows]).tocsr(), sp.vstack([labels, labels]).tocsr()
    weighted, repeated = fit_labels(rows, labels, 1, np.full(30, 2.0)), fit_labels(*doubled, 1)
    assert_allclose(weighted.products.toarray(), repeated.products.toarray(), atol=1e-3)
    assert_allclose(weighted.bias, repeated.bias, atol=1e-3)


def test_the_mean_prediction_is_the_frequency_of_the_label():
    """The total loss of the texts without any n-gram of the label is computed from only two counts."""
    texts, targets = make_texts(50)
    rows, labels = matrix(texts), sp.csr_matrix(targets, dtype=float)
    models = fit_labels(rows, labels, 1)
    for c in range(LABELS):
        products = models.products[:, [c]].toarray()[:, 0]
        z = rows @ products + models.bias[c]
        error = 1 / (1 + np.exp(-z)) - targets[:, c]
        assert abs(error.sum()) < 0.05, "the bias is not penalised"
