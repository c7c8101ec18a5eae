"""Texts without a known word are not used for training, but they count in the validation figures."""

import numpy as np
import pytest
from reviews import make_reviews, small_embeddings

import nlptx
from nlptx.nn.losses import CrossEntropy, SquaredError
from nlptx.settings import TrainSettings


@pytest.mark.parametrize("loss", ["cross-entropy", "squared-error"])
def test_held_out_texts_without_a_known_word_are_scored_with_the_priors(loss):
    texts, labels = make_reviews(40)
    texts, labels = [*texts, "good1 w1"], [*labels, "pos"]  # so that the two labels have different priors
    held_out, truth = make_reviews(10, seed=1)
    settings = TrainSettings(
        epochs=1, batch=8, width=0, loss=loss, new_word_min_count=0, calibrate=False, subwords="off"
    )

    def valid_figures(more_texts, more_labels):
        valid = [*held_out, *more_texts], [*truth, *more_labels]
        model = nlptx.fit(texts, labels, small_embeddings(), settings, valid=valid, jobs=1)
        (epoch,) = model.history["epochs"]
        probabilities = model.predict_proba(valid[0], jobs=1)
        targets = np.array([model.labels.index(label) for label in valid[1]])
        rows = np.arange(len(targets))
        p = probabilities[rows, targets]
        losses = -np.log(p) if loss == "cross-entropy" else (1 - p) ** 2
        assert model.history["valid_texts"] == len(targets)
        assert epoch["valid_loss"] == pytest.approx(losses.mean(), abs=2e-5)
        assert epoch["valid_accuracy"] == pytest.approx((probabilities.argmax(axis=1) == targets).mean(), abs=2e-5)
        return model, epoch

    plain, known = valid_figures([], [])
    same, with_unknown = valid_figures(["zzz", "", "qqq zzz"], ["neg", "pos", "neg"])
    assert np.array_equal(plain.flat, same.flat)
    assert with_unknown["valid_loss"] != known["valid_loss"]


@pytest.mark.parametrize("loss", [CrossEntropy(2), SquaredError(2)])
def test_outputs_for_is_the_inverse_of_probabilities(loss):
    p = np.array([0.3, 0.7])
    outputs = loss.outputs_for(p)
    assert outputs.shape == (loss.outputs,)
    assert loss.probabilities(outputs[None])[0] == pytest.approx(p)


def test_the_message_for_texts_without_a_known_word_does_not_blame_word_vectors_that_were_not_given():
    with pytest.raises(nlptx.errors.DataError, match="no training text contains a known word") as caught:
        nlptx.fit(["good", "bad"], ["pos", "neg"], settings=TrainSettings(epochs=0, new_word_min_count=2))
    assert "Use more texts, or set `new_word_min_count=1`, with which every word of the texts is known." in str(
        caught.value
    )


def test_validation_texts_are_read_as_in_prediction():
    """An unknown word is read as its known form, so the model is measured on the predictions that it will make."""
    words = {"pos": "wonderful", "neg": "dreadful"}
    labels = ["pos", "neg"] * 20
    texts = [f"{words[label]} film {number % 7}" for number, label in enumerate(labels)]
    valid = [f"{words[label]}ness {number % 5}" for number, label in enumerate(labels)]
    settings = TrainSettings(epochs=0, calibrate=False)
    model = nlptx.fit(texts, labels, settings=settings, valid=(valid, labels), jobs=1)
    report = nlptx.evaluate(model, valid, labels)
    assert report.accuracy == 1
    assert model.history["regions" if "regions" in model.history else "epochs"][-1]["valid_accuracy"] == 1
