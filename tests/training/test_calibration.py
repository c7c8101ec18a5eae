"""Tests of the temperature, which calibrates the probabilities, and of the model card."""

import json

import numpy as np
import pytest
from command import refused, run
from numpy.testing import assert_allclose, assert_array_equal
from reviews import make_reviews, small_embeddings, small_fit
from sample_data import one_step

import nlptx
from nlptx import TrainSettings
from nlptx.metrics import log_loss
from nlptx.nn import LOSSES, CrossEntropy
from nlptx.training import calibration
from nlptx.training.calibration import MIN_TEXTS, find_temperature


def sample(loss, outputs, seed=1):
    """Draw the class of each text, or its set of classes if ``independent``, from the predicted probabilities."""
    p = loss.probabilities(outputs)
    if loss.independent:
        return np.random.default_rng(seed).random(p.shape) < p
    return (np.random.default_rng(seed).random((len(p), 1)) > p.cumsum(axis=1)).sum(axis=1)


@pytest.mark.parametrize("name", sorted(LOSSES))
@pytest.mark.parametrize("factor", [0.5, 1.0, 3.0])
def test_the_temperature_compensates_for_a_factor(name, factor):
    loss = LOSSES[name](2)
    outputs = np.random.default_rng(2).normal(0, 2, (20_000, loss.outputs))
    temperature = find_temperature(loss.probabilities, outputs * factor, sample(loss, outputs))
    assert temperature == pytest.approx(factor, rel=0.05)


def test_the_temperature_minimises_the_log_loss():
    loss = CrossEntropy(3)
    outputs = np.random.default_rng(2).normal(0, 1, (500, 3))
    targets = sample(loss, outputs)
    best = find_temperature(loss.probabilities, outputs * 2, targets)
    losses = [log_loss(loss.probabilities(outputs * 2 / t), targets) for t in (best / 1.1, best, best * 1.1)]
    assert losses[1] < min(losses[0], losses[2])


def test_with_few_texts_the_temperature_is_one():
    outputs = np.full((MIN_TEXTS - 1, 2), 5.0)
    assert find_temperature(CrossEntropy(2).probabilities, outputs, np.zeros(len(outputs), int)) == 1.0


def test_the_temperature_stays_near_1_if_all_texts_are_correct():
    outputs = np.tile([5.0, -5.0], (MIN_TEXTS, 1))
    assert 0.9 < find_temperature(CrossEntropy(2).probabilities, outputs, np.zeros(MIN_TEXTS, int)) < 1
    assert find_temperature(CrossEntropy(2).probabilities, 0 * outputs, np.zeros(MIN_TEXTS, int)) == 1


def test_a_calibrated_model_differs_only_by_its_temperature():
    texts, labels = make_reviews(600)
    plain, calibrated = (
        small_fit(texts, labels, valid_share=0.4, calibrate=calibrate, epochs=4) for calibrate in (False, True)
    )
    assert plain.temperature == 1.0
    assert calibrated.temperature != 1.0
    assert_array_equal(plain.flat, calibrated.flat)
    one, two = (np.log(model.predict_proba(texts[:20])) for model in (plain, calibrated))
    assert_allclose(np.diff(one), np.diff(two) * calibrated.temperature, rtol=1e-5, atol=1e-5)
    calibration = calibrated.history["calibration"]
    assert calibration["texts"] == 240
    assert calibration["log_loss_after"] <= calibration["log_loss_before"]
    assert calibration["measured_on"] == "the held-out texts, which also determined the epoch and the temperature"
    assert 0 < calibration["ece_floor_after"] < 0.1


def test_the_prior_of_the_temperature():
    """At the minimum, the derivative of the loss with respect to t = log T is -t / s^2, for a prior N(0, s^2) of t."""
    outputs, targets = np.tile([0.0, 3.0], (200, 1)), np.arange(200) % 10 < 8
    log_temperature = np.log(find_temperature(CrossEntropy(2).probabilities, outputs, targets.astype(int)))
    x = 3 * np.exp(-log_temperature)
    expected = calibration._DEVIATION**2 * 200 * x * (1 / (1 + np.exp(-x)) - 0.8)
    assert log_temperature == pytest.approx(expected, rel=0.05)


def test_a_model_keeps_its_temperature(tmp_path):
    texts, labels = make_reviews(600)
    model = small_fit(texts, labels, valid_share=0.4)
    model.save(str(tmp_path / "m.npz"))
    back = type(model).load(str(tmp_path / "m.npz"))
    assert back.temperature == model.temperature
    assert_array_equal(back.predict_proba(texts[:9]), model.predict_proba(texts[:9]))


# ---------------------------------------------------------------- model card


def test_a_card_is_kept_and_shown(work, tmp_path):
    card = {"for": "tests", "weaker_on": ["irony", "length"], "accuracy": {"films": 0.9}}
    (tmp_path / "card.json").write_text(json.dumps(card))
    run(*one_step(work, "--card", tmp_path / "card.json", "-o", tmp_path / "m.npz", "-q"))
    assert run("info", tmp_path / "m.npz", "--json").json["details"]["card"] == card
    shown = run("info", tmp_path / "m.npz").text
    for words in ("weaker on", "irony", "films: 0.9", "--card CARD"):
        assert words in shown


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"a": NaN}', '{"a": 1, "a": 2}', '"' + "x" * 70_000 + '"', "\xff"])
def test_an_invalid_card_is_rejected(work, tmp_path, text):
    (tmp_path / "card.json").write_bytes(text.encode("latin-1"))
    words = one_step(work, "--card", tmp_path / "card.json", "-o", tmp_path / "m.npz")
    refused(*words, code=3, says="card.json")
    assert not (tmp_path / "m.npz").exists()


def test_a_missing_card_is_an_error(work, tmp_path):
    refused(*one_step(work, "--card", "none.json", "-o", tmp_path / "m.npz"), code=2, says="none.json", cwd=tmp_path)


def test_info_describes_the_bundled_model():
    info = run("info", "--json").json
    assert info["kind"] == "model"
    expected = {"data", "method", "accuracy", "lexicon", "calibration on film reviews", "weaker", "not_for"}
    assert expected <= set(info["details"]["card"])


def test_copies_of_a_held_out_text_are_counted_once_for_the_error_rates():
    """The guarantee of ``--max-error`` requires independent texts."""
    texts, labels = make_reviews(60)
    held_out, truth = make_reviews(100, seed=2)
    settings = TrainSettings(epochs=1, batch=8, ngrams=0, width=0, calibrate=False, subwords="off")

    def curve_for(*valid):
        return nlptx.fit(texts, labels, small_embeddings(), settings, valid=valid, jobs=1).error_curve

    once, twice = curve_for(held_out, truth), curve_for(held_out * 2, truth * 2)
    assert (twice.texts, twice.answered, twice.wrong) == (once.texts, once.answered, once.wrong)
