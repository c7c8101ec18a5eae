"""The network learns to predict the outputs of the linear models for unlabelled texts."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reviews import make_reviews, small_embeddings
from steps import make_context
from steps import untrained as untrained_on

import nlptx
from nlptx.runtime.workers import SERIAL, Workers
from nlptx.settings import TrainSettings
from nlptx.training.checkpoint import Checkpoint
from nlptx.training.distillation import Distillation, soft_labels

TEXTS, LABELS = make_reviews(80)
FREE, _ = make_reviews(90, seed=7)
SETTINGS = TrainSettings(width=0, epochs=1, batch=8, distill=2, lsa_components=8)


def fit(settings=SETTINGS, free=FREE, jobs=1, **more):
    return nlptx.fit(TEXTS, LABELS, small_embeddings(), settings, unlabelled=free, jobs=jobs, **more)


def untrained(**more):
    settings = replace(SETTINGS, **more)
    model, data = untrained_on(TEXTS, LABELS, small_embeddings(), settings, FREE)
    return model, data.unlabelled


@cache
def uninterrupted():
    return fit()


def as_bytes(model, folder):
    model.save(str(folder / "saved.npz"))
    return (folder / "saved.npz").read_bytes()


def test_soft_labels_are_the_mean_of_the_linear_models():
    model, texts = untrained()
    soft = soft_labels(model, texts.ids, Workers(2))
    z = np.array([model.ngram_features.of(ids).text_features for ids in texts.ids], np.float64).mean(axis=1)
    assert soft.shape == (90, 2)
    assert_allclose(soft[:, 1], 1 / (1 + np.exp(-z)), rtol=1e-4)


def test_the_network_alone_learns_to_predict_the_soft_labels():
    model, texts = untrained(distill=12, warmup=0, lr=1e-2, dropout=0.0)
    context = make_context()
    distillation = Distillation(model, texts, context, [])
    distillation.run()
    assert [epoch["epoch"] for epoch in distillation.history] == list(range(1, 13))
    model.ngram_features = None
    model.network.token_projection = model.network.text_projection = None
    predictions = model.probabilities(texts.ids)[:, 1]
    assert np.corrcoef(predictions, distillation.soft[:, 1])[0, 1] > 0.8


def test_afterwards_the_weights_of_the_linear_models_are_halved():
    model, texts = untrained()
    before = model.network.text_projection.weight.value.copy()
    Distillation(model, texts, make_context(), []).run()
    assert_allclose(model.network.text_projection.weight.value, before / 2, rtol=1e-3)


def test_distillation_changes_the_model_and_is_recorded():
    assert [set(epoch) for epoch in uninterrupted().history["distill"]] == [{"epoch", "loss", "accuracy"}] * 2
    assert fit(free=[]).history["distill"] == []
    without = fit(TrainSettings(**SETTINGS.to_dict() | {"distill": 0}))
    assert without.history["distill"] == []
    assert (without.flat != uninterrupted().flat).any()


def test_the_number_of_jobs_changes_no_bit(tmp_path):
    assert as_bytes(fit(jobs=2), tmp_path) == as_bytes(uninterrupted(), tmp_path)


def test_texts_without_a_known_word_are_left_out():
    assert_array_equal(fit(free=[*FREE, "???", ""]).flat.shape, uninterrupted().flat.shape)
    assert fit(free=["???", ""]).history["distill"] == []


@pytest.mark.parametrize("step", [0, 5, 12, 23, 24, 26])
def test_stopping_at_any_step_and_resuming_yields_the_same_bytes(tmp_path, step):
    path = str(tmp_path / "m.npz")
    stop_requests = iter([False] * step + [True] * 1000)
    with Checkpoint(path, 0) as checkpoint:
        stopped = fit(stop=lambda: next(stop_requests), checkpoint=checkpoint)
    assert stopped.history["interrupted"]
    with Checkpoint(path, 0, resume=True) as checkpoint:
        model = fit(checkpoint=checkpoint)
    assert as_bytes(model, tmp_path) == as_bytes(uninterrupted(), tmp_path)


def test_soft_labels_require_ngram_features():
    model, texts = untrained()
    model.ngram_features = None
    with pytest.raises(ValueError, match="the model has none"):
        soft_labels(model, texts.ids, SERIAL)
