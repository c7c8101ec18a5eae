"""The linear model of the n-gram ratios, and its weights for short texts."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import nlptx
from nlptx.ngrams import ratio_model
from nlptx.ngrams.features import SHORT, NgramFeatures
from nlptx.ngrams.ratio_model import fit_ratio_model, need_short_slopes

COUNT = 200


def rows_of(seed=0):
    """Return rows (COUNT, 6), targets, and which texts are short: the first half, where column 0 means class 1."""
    rng = np.random.default_rng(seed)
    targets = rng.integers(0, 2, COUNT)
    is_short = np.arange(COUNT) < COUNT // 2
    present = (rng.random((COUNT, 6)) < 0.3).astype(np.float32)
    present[:, 0] = targets == is_short
    present[~is_short, 1] = targets[~is_short]
    return sp.csr_matrix(present / 2), targets, is_short


def test_an_ngram_can_mean_something_else_in_short_texts():
    rows, targets, is_short = rows_of()
    model = fit_ratio_model(rows, targets, 2, 1, is_short)
    outputs = rows @ model.slopes + model.bias
    outputs[is_short] += rows[is_short] @ model.short_slopes
    assert ((outputs[:, 0] > 0) == targets).all()
    plain = fit_ratio_model(rows, targets, 2, 1)
    assert plain.short_slopes is None
    assert (((rows @ plain.slopes + plain.bias)[:, 0] > 0) == targets)[is_short].mean() < 0.9


@pytest.mark.parametrize("classes", [2, 3])
def test_the_weights_for_short_texts_use_only_the_ratios_of_short_texts(classes):
    rows, _, is_short = rows_of()
    targets = np.arange(COUNT) % classes
    present = rows.toarray()
    present[is_short, 3] = 0  # this n-gram occurs in no short text
    model = fit_ratio_model(sp.csr_matrix(present), targets, classes, 1, is_short)
    assert model.slopes[3].any()
    assert_array_equal(model.short_slopes[3], 0)


def test_a_weight_of_two_equals_two_texts_in_short_texts_too():
    rows, targets, is_short = rows_of()
    weights = 1.0 + (np.arange(COUNT) % 2)
    twice = np.repeat(np.arange(COUNT), weights.astype(int))
    weighted = fit_ratio_model(rows, targets, 2, 3, is_short, text_weights=weights)
    repeated = fit_ratio_model(rows[twice], targets[twice], 2, 3, is_short[twice])
    assert_allclose(weighted.short_slopes, repeated.short_slopes, atol=1e-3)


def test_both_lengths_must_be_frequent():
    def need(short, long):
        return need_short_slopes(np.repeat([True, False], [short, long]))

    assert need(1000, 1000)
    assert need(1000, 9000)
    assert not need(999, 5000)
    assert not need(1000, 20_000)
    assert not need(5000, 0)


def test_the_weights_apply_up_to_a_number_of_words():
    one, ten = np.ones((1, 1), np.float32), np.full((1, 1), 10, np.float32)
    features = NgramFeatures(1, 1, np.array([1]), one, one, np.zeros(1, np.float32), short_slopes=ten)
    for words, expected in ((1, 11), (SHORT, 11), (SHORT + 1, 1)):
        ids = np.zeros(words, np.int32)
        assert_allclose(features.of(ids).text_features * np.sqrt(words), [expected], rtol=1e-6)
        found = features.find(ids[:1], [1])
        assert_allclose(features.text_features_of(found, [1], [words])[0] * np.sqrt(words), [expected], rtol=1e-6)


def test_a_model_with_short_and_long_texts_is_saved_and_extended(tmp_path, monkeypatch):
    monkeypatch.setattr(ratio_model, "_MIN_TEXTS", 10)
    rng = np.random.default_rng(1)
    texts, labels = [], []
    for number in range(80):
        label = int(rng.integers(2))
        filler = rng.choice([f"w{word}" for word in range(30)], 10 if number % 2 else SHORT + 10)
        texts.append(" ".join([*filler, "odd" if (label == number % 2) else "even"]))
        labels.append(["neg", "pos"][label])
    settings = nlptx.TrainSettings(width=8, heads=2, epochs=1)
    model = nlptx.fit(texts, labels, settings=settings, pca=nlptx.PcaSettings(components=8), jobs=1)
    assert model.ngram_features.short_slopes.any()
    model.save(tmp_path / "m.npz")
    loaded = nlptx.Model.load(tmp_path / "m.npz")
    assert_array_equal(loaded.predict_proba(texts), model.predict_proba(texts))
    still = nlptx.TrainSettings(epochs=1, lr=0.0)
    further = nlptx.fit(["w1 new odd", "w2 new even"] * 10, ["neg", "pos"] * 10, settings=still, start=model, jobs=1)
    assert len(further.ngram_features.keys) > len(model.ngram_features.keys)
    assert further.ngram_features.short_slopes.any()
