"""Tests of the settings that depend on the texts: region filters, distillation, crops and epochs."""

import numpy as np
import pytest
from reviews import make_reviews, small_embeddings

import nlptx
from nlptx.settings import TrainSettings
from nlptx.text.vocabulary import Vocabulary
from nlptx.training import automatic
from nlptx.training.automatic import FEW_WORDS, choose_automatic
from nlptx.training.labelled_texts import LabelledTexts

TEXTS, LABELS = make_reviews(60)
UNLABELLED = make_reviews(40, seed=3)[0]
SHAPE = {"width": 8, "heads": 2, "batch": 8, "epochs": 1, "lsa_components": 4}


def choose(texts=2000, labels=2, started=False, count=FEW_WORDS, **settings):
    names = {str(number): number for number in range(labels)}
    data = LabelledTexts(["text"] * texts, ["0"] * texts, None, [], names)
    vocabulary = Vocabulary([], np.zeros(0, np.int64)) if count is None else Vocabulary(["word"], np.array([count]))
    return choose_automatic(TrainSettings(**settings), data, vocabulary, from_model=started)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, (64, 0)),
        ({"texts": 1999}, (0, 1)),
        ({"labels": 20}, (64, 0)),
        ({"labels": 21}, (0, 1)),
        ({"started": True}, (0, 1)),
        ({"valid_share": 0.0}, (0, 1)),
        ({"ngrams": 0}, (0, 1)),
        ({"epochs": 0}, (0, 1)),
        ({"region_filters": 0}, (0, 1)),
        ({"region_filters": 8}, (8, 0)),
        ({"region_filters": 8, "epochs": 0}, (8, 0)),
        ({"region_filters": 8, "texts": 10}, (8, 1)),
        ({"distill": 2}, (64, 2)),
        ({"distill": 0, "texts": 10}, (0, 0)),
    ],
)
def test_the_choice_depends_on_the_number_of_texts_and_labels(given, expected):
    found = choose(**given)
    assert (found.region_filters, found.distill) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, 32),
        ({"texts": 1999}, 64),
        ({"region_filters": 0}, 64),
        ({"region_filters": 8, "texts": 10}, 64),
        ({"started": True}, 64),
        ({"crop": 0}, 0),
    ],
)
def test_crops_are_short_if_there_are_region_filters(given, expected):
    assert choose(**given).crop == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, 3),
        ({"count": FEW_WORDS + 1}, 8),
        ({"count": 0}, 8),
        ({"count": None}, 3),
        ({"count": FEW_WORDS + 1, "texts": 100}, 8),
        ({"count": FEW_WORDS + 1, "texts": 5000}, 7),
        ({"count": FEW_WORDS + 1, "texts": 20_000}, 3),
        ({"count": FEW_WORDS + 1, "texts": 5000, "batch": 16}, 4),
        ({"count": FEW_WORDS + 1, "started": True}, 3),
        ({"count": FEW_WORDS + 1, "epochs": 2}, 2),
        ({"epochs": 0}, 0),
    ],
    ids=["few", "large", "no counts", "no vectors", "tiny data", "more data", "much data", "batch", "start", "2", "0"],
)
def test_with_word_vectors_of_a_large_corpus_few_texts_are_read_more_often(given, expected):
    assert choose(**given).epochs == expected


def test_other_settings_do_not_change():
    settings = {"epochs": 5, "lsa_components": 7, "region_filters": 3, "distill": 4, "crop": 5}
    assert choose(texts=10, **settings) == TrainSettings(**settings)


def fit(**settings):
    settings = TrainSettings(**SHAPE, **settings)
    return nlptx.fit(TEXTS, LABELS, small_embeddings(), settings, unlabelled=UNLABELLED, jobs=1)


def test_few_texts_are_used_for_distillation_and_many_for_region_filters(monkeypatch):
    few = fit()
    assert few.regions is None
    assert len(few.history["distill"]) == 1
    monkeypatch.setattr(automatic, "_MIN_TEXTS", len(TEXTS))
    monkeypatch.setattr(automatic, "_FILTERS", 6)
    many = fit()
    assert many.history["regions"]["components"] == 3  # one component for every two filters
    assert not many.history["distill"]
    explicit = fit(region_filters=6, distill=0)
    assert many.predict_proba(TEXTS).tolist() == explicit.predict_proba(TEXTS).tolist()
    assert not np.array_equal(few.flat, many.flat)


def test_without_held_out_texts_there_are_no_region_filters(monkeypatch):
    monkeypatch.setattr(automatic, "_MIN_TEXTS", len(TEXTS))
    assert fit(valid_share=0.0).regions is None
    settings, valid = TrainSettings(**SHAPE, valid_share=0.0), make_reviews(20, seed=5)
    assert nlptx.fit(TEXTS, LABELS, small_embeddings(), settings, valid=valid, jobs=1).regions is not None


def test_the_model_stores_the_settings_as_they_were_given_and_the_actual_loss():
    assert fit().settings == TrainSettings(**SHAPE, loss="cross-entropy")
