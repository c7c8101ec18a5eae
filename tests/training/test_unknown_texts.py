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


def test_copies_in_capitals_are_copies():
    """The tokenizer puts a sign before words in capitals, so the ids of the two texts differ."""
    labels = ["pos", "neg"] * 20
    texts = [
        f"a {'good' if label == 'pos' else 'bad'} film about {'xyz'[n % 3] * (n + 3)}" for n, label in enumerate(labels)
    ]
    notes = []
    settings = TrainSettings(epochs=0, lsa_components=0)
    model = nlptx.fit(
        texts, labels, settings=settings, valid=([text.upper() for text in texts], labels), jobs=1, on_note=notes.append
    )
    assert model.vocabulary.capitals_sign is None  # no training text has words in capitals
    both = [*texts, *(text.upper() for text in texts)]
    model = nlptx.fit(both, labels * 2, settings=settings, valid=(texts, labels), jobs=1, on_note=notes.append)
    assert model.vocabulary.capitals_sign is not None
    assert sum("40 of 40 validation texts are training texts too" in note for note in notes) == 2
    # A held-out text and its copy in capitals are held out together.
    alone = nlptx.fit(both, labels * 2, settings=settings, jobs=1)
    assert alone.history["valid_texts"] % 2 == 0
