"""Tests of training with a subword model: how it is combined with the other classifiers, stored, and left out."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reviews import make_reviews, small_embeddings

import nlptx
from nlptx.ngrams import subword_model
from nlptx.ngrams.ngram_rows import ngram_rows
from nlptx.settings import TrainSettings
from nlptx.training import ngram_features, subwords

TEXTS, LABELS = make_reviews(60)
NEW = make_reviews(12, seed=4)[0]
SHAPE = {"width": 8, "heads": 2, "batch": 8, "epochs": 1, "lsa_components": 4}


def fit(labels=LABELS, jobs=1, more=None, **settings):
    return nlptx.fit(TEXTS, labels, small_embeddings(), TrainSettings(**SHAPE | settings), jobs=jobs, **more or {})


@cache
def fit_once(**settings):
    return fit(**settings)


def in_three():
    return ["neu" if number % 3 == 0 else label for number, label in enumerate(LABELS)]


def log_odds(model):
    p = model.predict_proba(NEW)
    return np.log(p[:, 1] / p[:, 0]) * model.temperature


@pytest.mark.parametrize("filters", [0, 6])
@pytest.mark.parametrize("epochs", [0, 1])
def test_the_outputs_are_added_with_the_weights(epochs, filters):
    """Without held-out texts, the subword model is fitted on all texts, so the test can fit it again."""
    settings = {"epochs": epochs, "region_filters": filters, "valid_share": 0.0}
    model, without = fit_once(subwords="on", **settings), fit_once(subwords="off", **settings)
    variance = model.history["subwords"]["prior_variance"]
    a, c = (0.7, 0.25) if filters else (0.5, 0.5)
    of_others = {} if filters else {"weight_of_others": a}
    assert model.history["subwords"] == {"weight": c, "prior_variance": variance} | of_others
    if filters:
        assert_allclose(model.regions.weights, a * np.array(without.regions.weights), atol=1e-4)
    words = model.vocabulary
    ids = [words.encode(text) for text in [*TEXTS, *NEW]]
    rows = ngram_rows(ids, len(TEXTS), 3, words.words, 1 if epochs else 2)
    targets = np.array([model.label_names.index(label) for label in LABELS])
    alone = subword_model._fit(rows.of_texts(np.arange(len(TEXTS))), targets, 1, variance, None)
    scores = alone.scores(rows.rows[len(TEXTS) :])[:, 0]
    assert abs(scores).max() > 0.5
    assert_allclose(log_odds(model), a * log_odds(without) + c * scores, atol=1e-3)


def test_the_recorded_losses_are_those_of_the_models():
    model, without = fit_once(valid_share=0.3), fit_once(valid_share=0.3, subwords="off")
    record = model.history["subwords"]
    assert_allclose(record["loss_without"], without.history["epochs"][-1]["valid_loss"], atol=2e-3)
    assert model.history["epochs"] == without.history["epochs"]
    assert_allclose(model.history["calibration"]["log_loss_before"], record["valid_loss"], atol=2e-4)


@pytest.mark.parametrize(
    ("labels", "settings"),
    [
        (in_three(), {}),
        ([[label, "long"] if number % 4 else [label] for number, label in enumerate(LABELS)], {}),
        (LABELS, {"class_weight": "balanced"}),
        (LABELS, {"loss": "squared-error"}),
        (in_three(), {"epochs": 0}),
        (LABELS, {"lsa_components": 0}),
        (LABELS, {"ngram_min_texts": 3}),
        (LABELS, {"compact": True}),
        (in_three(), {"region_filters": 4}),
    ],
    ids=["three", "multi-label", "balanced", "one output", "no network", "no LSA", "min texts", "compact", "regions"],
)
def test_works_with_other_settings_and_files_keep_every_bit(labels, settings, tmp_path):
    more = {"label_separator": ";"} if isinstance(labels[0], list) else {}
    model = fit(labels, more=more, **settings)
    assert "subwords" in model.history
    model.save(tmp_path / "m.npz")
    read = nlptx.Model.load(tmp_path / "m.npz")
    p = read.predict_proba(NEW)
    assert_array_equal(p, model.predict_proba(NEW))
    assert np.isfinite(p).all()
    assert read.history == model.history
    assert nlptx.explain(read, NEW[0]).effects.any()


def test_the_number_of_workers_does_not_change_the_result():
    assert_array_equal(fit(jobs=2).predict_proba(NEW), fit_once().predict_proba(NEW))


def test_without_a_network_the_model_file_has_words_of_single_texts_but_no_other_ngrams_of_single_texts():
    texts = [*TEXTS, "adamantly unwatchable"]
    settings = TrainSettings(**SHAPE | {"epochs": 0})
    model = nlptx.fit(texts, [*LABELS, "neg"], settings=settings, jobs=1)
    words, features = model.vocabulary, model.ngram_features
    ids = words.encode("adamantly unwatchable")
    assert len(ids) == 2
    known = features.find(ids, [2]) < len(features.keys)
    assert known[:, 0].all()
    assert not known[1, 1]
    ids = words.encode(TEXTS[0])
    assert (features.find(ids, [len(ids)])[:, 1] < len(features.keys)).any()


def test_many_words_need_no_subword_model_unless_the_user_asks_for_it(monkeypatch):
    words = sum(len(fit_once().vocabulary.encode(text)) for text in TEXTS)
    monkeypatch.setattr(subwords, "FEW_WORDS", words // 2)
    assert "subwords" not in fit().history
    assert "subwords" in fit(subwords="on").history


def test_too_many_texts_exclude_a_subword_model(monkeypatch):
    monkeypatch.setattr(subwords, "OUT_OF_CORE_TEXTS", len(TEXTS) // 2)
    notes = []
    assert "subwords" not in fit(more={"on_note": notes.append}).history
    assert not any("subword" in note for note in notes)
    assert "subwords" not in fit(subwords="on", more={"on_note": notes.append}).history
    assert any("no subword model" in note and "too many to be kept in memory" in note for note in notes)


def test_without_held_out_texts_there_is_no_subword_model_unless_the_user_asks_for_it():
    notes = []
    assert "subwords" not in fit(valid_share=0.0, more={"on_note": notes.append}).history
    assert not any("subword" in note for note in notes)
    assert "subwords" in fit(valid_share=0.0, subwords="on", more={"on_note": notes.append}).history
    assert "the weight of the subword model is 0.5, because it cannot be fitted without held-out texts" in notes


def test_a_stopped_run_has_no_subword_model():
    steps, notes = fit_once().history["steps"], []
    calls = iter(range(10**9))
    model = fit(more={"stop": lambda: next(calls) >= steps, "on_note": notes.append})
    assert model.history["steps"] == steps
    assert model.history["interrupted"]
    assert "subwords" not in model.history
    assert "no subword model, because training was stopped before the subword model was fitted" in notes


def test_progress_is_reported_for_every_fit():
    reports = []
    fit(more={"on_progress": reports.append})
    fractions = [report.fraction for report in reports if report.title == "subword model"]
    assert len(fractions) > 3
    assert fractions == sorted(set(fractions))
    assert (fractions[0], fractions[-1]) == (0, 1)


def test_without_dense_ngram_features_there_is_no_subword_model(monkeypatch):
    assert "subwords" not in fit(ngrams=0).history
    monkeypatch.setattr(ngram_features, "MAX_LABELS", 1)
    monkeypatch.setattr(subwords, "MAX_LABELS", 1)
    notes = []
    assert "subwords" not in fit(more={"on_note": notes.append}).history
    assert not any("subword" in note for note in notes)
    assert "subwords" not in fit(subwords="on", more={"on_note": notes.append}).history
    assert "no subword model: 2 labels are too many; at most 1 are supported" in notes


def test_training_that_starts_from_a_model_adds_no_subword_model():
    notes = []
    texts, labels = make_reviews(60, seed=5)
    settings = TrainSettings(**SHAPE, subwords="on")
    model = nlptx.fit(texts, labels, start=fit_once(), settings=settings, jobs=1, on_note=notes.append)
    assert "subwords" not in model.history
    assert any("training starts from a model" in note and "`subwords`" in note for note in notes)
