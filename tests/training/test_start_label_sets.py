"""Tests of training with several labels per text that starts from a trained model."""

from dataclasses import replace

import numpy as np
import pytest
from label_sets import SETTINGS, fit_sets, make_sets, small_model
from reviews import make_reviews, small_fit

import nlptx
from nlptx.errors import SettingsError
from nlptx.ngrams import NgramFeatures
from nlptx.ngrams.correction import Correction
from nlptx.ngrams.sparse_features import SparseNgramFeatures
from nlptx.training import start as starting
from nlptx.training.start import start_from

SHORT = replace(SETTINGS, epochs=1)
MANY = tuple(f"l{number}" for number in range(24))


def start(texts, sets, model, settings=SHORT, **more):
    notes = []
    return nlptx.fit(texts, sets, None, settings, start=model, jobs=1, on_note=notes.append, **more), notes


def quality(model, texts, sets):
    return float(np.mean([set(one) == true for one, true in zip(model.predict(texts), sets, strict=True)]))


@pytest.fixture
def untrained(monkeypatch):
    """Return the models as :func:`start_from` makes them, before the network is trained."""
    found = []

    def record(*arguments):
        model, data = start_from(*arguments)
        found.append(model.as_float64())  # a copy
        return model, data

    monkeypatch.setattr("nlptx.training.fit.start_from", record)
    return found


@pytest.fixture
def uncorrected(monkeypatch):
    """Replace the learned correction by zero."""

    def nothing(ngrams, outputs, inputs, targets, text_of, *rest):
        width = outputs.shape[1]
        none = Correction(
            np.zeros((len(ngrams.keys), width), np.float32), np.zeros((inputs.shape[1], width)), np.zeros(width)
        )
        return none, np.zeros((len(text_of), width), np.float32)

    monkeypatch.setattr(starting, "cross_fit_correction", nothing)


@pytest.mark.parametrize("labels", [("red", "green", "blue"), ("green", "red"), ("pink", "red", "blue", "green")])
def test_without_a_correction_known_labels_keep_their_probabilities(labels, uncorrected, untrained):
    texts, sets = make_sets(30, ("red", "green"), seed=5)
    start(texts, [*({label} for label in labels), *sets[len(labels) :]], small_model())
    (model,) = untrained
    before = small_model().predict_proba(texts)
    after = model.predict_proba(texts)
    for label in set(labels) - {"pink"}:
        old, new = small_model().label_names.index(label), model.label_names.index(label)
        assert np.allclose(after[:, new], before[:, old], atol=1e-4)
    if "pink" in labels:
        number = model.label_names.index("pink")
        assert np.allclose(after[:, number], model.priors[number], atol=1e-4)


def test_known_and_new_labels_are_learned():
    labels = ("red", "green", "blue", "pink")
    test, true = make_sets(100, labels, seed=7)
    settings = replace(SETTINGS, epochs=2, new_word_min_count=1)
    model, notes = start(*make_sets(60, labels, seed=6), small_model(), settings)
    assert model.label_names == sorted(labels)
    assert quality(model, test, true) > 0.8
    assert any("new: pink" in note for note in notes)


@pytest.mark.parametrize("ngrams", [0, 2])
def test_a_model_of_one_label_per_text_is_a_start_for_several(ngrams):
    one = small_fit(*make_reviews(40), ngrams=ngrams)
    texts, sets = make_sets(150, seed=8)
    model, _ = start(texts, sets, one, nlptx.TrainSettings(epochs=1, new_word_min_count=1))
    assert model.multi_label is not None
    assert model.settings.loss == "binary-cross-entropy"
    assert model.label_names == ["blue", "green", "red"]


def test_sparse_features_become_dense():
    texts, sets = make_sets(200, MANY)
    many, _ = fit_sets(texts, sets, labels=MANY)
    assert isinstance(many.ngram_features, SparseNgramFeatures)
    dense = many.ngram_features.dense()
    ids = [many.encode(text) for text in texts[:5]]
    lengths = [len(one) for one in ids]
    found = dense.find(np.concatenate(ids), lengths)
    assert np.allclose(
        dense.text_features_of(found, lengths), many.ngram_features.text_features_of(found, lengths), atol=1e-5
    )
    model, _ = start(*make_sets(40, MANY[:5]), many)
    assert type(model.ngram_features) is NgramFeatures


def test_a_started_model_survives_its_file(tmp_path):
    texts, sets = make_sets(60, ("red", "pink"), seed=6)
    model, _ = start(texts, sets, small_model())
    model.save(tmp_path / "m.npz")
    assert np.array_equal(nlptx.Model.load(tmp_path / "m.npz").predict_proba(texts), model.predict_proba(texts))


def test_too_many_labels_are_refused():
    labels = tuple(f"l{number}" for number in range(101))
    with pytest.raises(SettingsError, match="there are 101 labels; starting from a model is possible for at most 100"):
        start(["red0 the"] * 101, [{label} for label in labels], small_model())
