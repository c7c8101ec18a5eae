"""Tests of training without a network: the linear n-gram models are combined by weights fitted out of fold."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reviews import make_reviews, small_embeddings

import nlptx
from nlptx.errors import DataError, SettingsError
from nlptx.settings import TrainSettings
from nlptx.settings.without_network import without_network
from nlptx.training.linear_combination import number_of_folds

DATA = Path(__file__).resolve().parents[2] / "data"
TRAIN, TEST = DATA / "train.tsv", DATA / "test.tsv"
TEXTS, LABELS = make_reviews(120)
NEW_TEXTS, NEW_LABELS = make_reviews(200, seed=5)
SETTINGS = TrainSettings(epochs=0, lsa_components=6)


def accuracy(model, texts=NEW_TEXTS, labels=NEW_LABELS):
    return np.mean([found == label for found, label in zip(model.predict(texts), labels, strict=True)])


def test_the_model_classifies_new_texts_and_takes_no_step():
    model = nlptx.fit(TEXTS, LABELS, settings=SETTINGS)
    assert accuracy(model) > 0.8
    assert model.history["steps"] == 0
    assert model.history["curve"] == []
    assert model.history["best_epoch"] == 1
    assert model.history["epochs"][0]["valid_accuracy"] > 0.6


def test_the_outputs_are_the_weighted_linear_models_and_the_bias():
    model = nlptx.fit(TEXTS, LABELS, settings=SETTINGS)
    encoded = [model.encode(text) for text in NEW_TEXTS]
    linear = np.stack([model.ngram_features.of(ids).text_features for ids in encoded])
    assert linear.shape[1] == 2
    weights, bias = model.network.text_projection.weight.value, model.network.head.bias.value
    outputs = (linear @ weights + bias) / model.temperature
    expected = 1 / (1 + np.exp(outputs[:, :1] - outputs[:, 1:]))
    assert_allclose(model.probabilities(encoded)[:, 1:], expected, rtol=1e-4)
    assert (weights[:, 1] > 0).all()


def test_the_weights_minimise_the_loss_of_the_training_texts(monkeypatch):
    """The derivative of the loss, including its prior, with respect to every weight and bias is 0."""
    from nlptx.training import linear_combination

    seen = {}
    fit = linear_combination._fit

    def watched(model, train, *rest):
        seen["train"] = train
        return fit(model, train, *rest)

    monkeypatch.setattr(linear_combination, "_fit", watched)
    model = nlptx.fit(TEXTS, LABELS, settings=replace(SETTINGS, subwords="off"))
    linear = np.stack([of_text.text_features for of_text in seen["train"].ngram_features]).astype(np.float64)
    outputs = linear @ model.network.text_projection.weight.value + model.network.head.bias.value
    _, gradient = model.network.loss.value_and_gradient(outputs, seen["train"].targets)
    assert_allclose(gradient.mean(axis=0), 0, atol=1e-4)
    of_models = np.diff(model.network.text_projection.weight.value, axis=1).ravel()
    assert (of_models > 0).all()
    slope = (linear * gradient[:, 1:]).mean(axis=0)
    assert_allclose(slope + (of_models - 1 / 2) / len(linear), 0, atol=1e-4)


def test_few_texts_never_reverse_the_predictions():
    """No linear model gets a negative weight, even if the out-of-fold features of a few texts are misleading."""
    texts = ["good film", "nice and good", "good good", "nice plot", "bad film", "nasty and bad", "poor plot", "weak"]
    labels = ["pos"] * 4 + ["neg"] * 4
    for seed in range(5):
        model = nlptx.fit(texts, labels, settings=TrainSettings(epochs=0), seed=seed)
        assert (np.diff(model.network.text_projection.weight.value, axis=1) >= 0).all()
        assert accuracy(model, texts[:7], labels[:7]) >= 4 / 7


def test_many_texts_have_fewer_folds():
    assert [number_of_folds(count) for count in (10, 10_000, 10_001)] == [5, 5, 2]


def test_settings_of_the_network_have_no_effect_and_a_note_says_so():
    notes = []
    changed = replace(SETTINGS, blocks=3, width=0, freeze=True, lr=0.5)
    model = nlptx.fit(TEXTS, LABELS, settings=changed, on_note=notes.append)
    assert "these settings have no effect: `blocks`, `lr`, `freeze`" in notes[0]
    assert model.settings == replace(without_network(SETTINGS), loss="cross-entropy")
    plain = nlptx.fit(TEXTS, LABELS, settings=SETTINGS, on_note=notes.append)
    assert len(notes) == 1
    assert_array_equal(model.predict_proba(NEW_TEXTS), plain.predict_proba(NEW_TEXTS))


def test_without_vectors_there_must_be_new_words():
    with pytest.raises(SettingsError, match="`new_word_min_count=0` adds none"):
        nlptx.fit(TEXTS, LABELS, settings=replace(SETTINGS, new_word_min_count=0))


@pytest.mark.parametrize("labels", [2, 3, 25])
def test_any_number_of_labels(labels):
    texts = [f"word{number % labels} w{number % 7} w{number % 3}" for number in range(12 * labels)]
    names = [f"label{number % labels}" for number in range(12 * labels)]
    model = nlptx.fit(texts, names, settings=TrainSettings(epochs=0, lsa_components=4, ngram_min_texts=1))
    assert accuracy(model, texts, names) == 1


def test_several_labels_per_text():
    texts = [f"{'good' if n % 2 else 'bad'} {'long' if n % 3 else 'short'}" for n in range(60)]
    labels = [{("praise", "blame")[n % 2 == 0]} | ({"length"} if n % 3 == 0 else set()) for n in range(60)]
    model = nlptx.fit(texts, labels, settings=TrainSettings(epochs=0, lsa_components=0))
    assert list(map(set, model.predict(["good long", "bad short"]))) == [{"praise"}, {"blame", "length"}]


def test_a_text_of_weight_two_moves_the_bias_like_two_texts():
    plain = TrainSettings(epochs=0, lsa_components=0, valid_share=0.0)
    weighted = nlptx.fit(TEXTS, LABELS, settings=plain, sample_weight=[1 + (label == "pos") for label in LABELS])
    even = nlptx.fit(TEXTS, LABELS, settings=plain)
    assert weighted.probabilities([weighted.encode("w1 w2")])[0, 1] > even.probabilities([even.encode("w1 w2")])[0, 1]


def test_with_the_prior_a_text_of_weight_20_counts_as_20_texts():
    """A text with a weight of 20 counts 20 times in the loss, whereas the prior of the weights a_m is unchanged."""
    texts, labels = TEXTS[:12], LABELS[:12]
    settings = TrainSettings(epochs=0, lsa_components=0, valid_share=0.0, subwords="off")
    found = []
    for scale in (1.0, 20.0):
        model = nlptx.fit(texts, labels, settings=settings, sample_weight=[scale] * 12)
        found.append(model.network.text_projection.weight.value.max())
    assert found[1] > 1.05 * found[0]


def test_the_number_of_workers_does_not_change_a_bit(tmp_path):
    for jobs in (1, 2):
        nlptx.fit(TEXTS, LABELS, settings=SETTINGS, unlabelled=NEW_TEXTS, jobs=jobs).save(str(tmp_path / f"{jobs}.npz"))
    assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "2.npz").read_bytes()


def test_saving_and_explaining_work_as_with_a_network(tmp_path):
    model = nlptx.fit(TEXTS, LABELS, settings=SETTINGS)
    model.save(str(tmp_path / "model.npz"))
    loaded = nlptx.Model.load(str(tmp_path / "model.npz"))
    encoded = [loaded.encode(text) for text in NEW_TEXTS]
    assert_array_equal(loaded.probabilities(encoded), model.probabilities(encoded))


def test_word_vectors_are_kept_if_they_are_given():
    model = nlptx.fit(TEXTS, LABELS, small_embeddings(), SETTINGS)
    assert model.table.shape[1] == 8
    assert accuracy(model) > 0.8


def test_impossible_combinations_are_refused():
    with pytest.raises(SettingsError, match="ngrams=0"):
        TrainSettings(epochs=0, ngrams=0)
    with pytest.raises(SettingsError, match="pretrain"):
        TrainSettings(epochs=0, pretrain=1)
    with pytest.raises(DataError, match="n-gram features"):
        nlptx.fit(["good", "bad"], ["pos", "neg"], settings=TrainSettings(epochs=0, new_word_min_count=1))


def test_a_model_without_a_network_has_no_word_vectors_but_can_be_continued():
    model = nlptx.fit(TEXTS, LABELS, settings=SETTINGS)
    with pytest.raises(DataError, match="all word vectors are 0"):
        model.embeddings().nearest("good1")
    with pytest.raises(DataError, match="all word vectors are 0"):
        nlptx.fit(TEXTS, LABELS, model.embeddings())
    continued = nlptx.fit(NEW_TEXTS, NEW_LABELS, start=model, settings=TrainSettings(epochs=1))
    assert accuracy(continued, TEXTS, LABELS) > 0.8


def test_texts_sorted_by_label_are_learned_as_well_as_others():
    rows = [row.split("\t")[:2] for row in TRAIN.read_text(encoding="utf-8").splitlines()[1:]]
    rows = [
        row for number, row in enumerate(rows) if row[1] == "pos" or number % 3 == 0
    ]  # a third of the negative texts, because labels in real files are often unbalanced
    test = [row.split("\t")[:2] for row in TEST.read_text(encoding="utf-8").splitlines()[1:]]

    def learned(rows):
        texts, labels = zip(*rows, strict=True)
        model = nlptx.fit(list(texts), list(labels), settings=TrainSettings(epochs=0, valid_share=0.0))
        return accuracy(model, *map(list, zip(*test, strict=True)))

    assert learned(sorted(rows, key=lambda row: row[1])) > learned(rows) - 0.05 > 0.6


def test_with_a_network_the_outputs_before_the_first_step_are_those_of_the_linear_models():
    settings = TrainSettings(epochs=1, lr=0.0, lsa_components=4, calibrate=False, ngram_min_texts=2)
    network = nlptx.fit(TEXTS, LABELS, settings=settings)
    alone = nlptx.fit(
        TEXTS, LABELS, settings=TrainSettings(epochs=0, lsa_components=4, calibrate=False, ngram_min_texts=2)
    )
    rows = [network.encode(text) for text in TEXTS[:20]]
    found = network.probabilities(rows)
    assert_allclose(found, alone.probabilities([alone.encode(text) for text in TEXTS[:20]]), atol=0.02)
    assert np.ptp(found[:, 0]) > 0.5
