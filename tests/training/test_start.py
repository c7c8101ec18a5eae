"""Tests of starting from a trained model: what is kept, added and learned, and that the bytes do not depend on jobs."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reviews import make_reviews, small_embeddings

import nlptx
from nlptx.errors import ArtifactError, DataError, InputTypeError, SettingsError
from nlptx.io.ragged_array import RaggedArray
from nlptx.ngrams.correction import Correction
from nlptx.runtime.workers import SERIAL
from nlptx.settings import TrainSettings
from nlptx.training import start as starting
from nlptx.training.checkpoint import Checkpoint
from nlptx.training.dataset import Examples
from nlptx.training.history import has_epochs
from nlptx.training.loss import validate
from nlptx.training.progress import EpochProgress

OLD = make_reviews(60)
NEW = make_reviews(24, seed=5)
# These labels contradict the model that learned OLD, so the correction helps and the network is trained.
SWAPPED = NEW[0], [{"neg": "pos", "pos": "neg"}[label] for label in NEW[1]]
TEST = make_reviews(60, seed=6)[0]
SHAPE = {"width": 8, "heads": 2, "batch": 8, "epochs": 1}
STILL = TrainSettings(epochs=1, lr=0.0)


def in_three(labels):
    """Give every third text the label neu."""
    return ["neu" if number % 3 == 0 else label for number, label in enumerate(labels)]


@cache
def trained(kind="default"):
    changes = {
        "default": {},
        "without n-grams": {"ngrams": 0},
        "pairs": {"ngrams": 2, "lsa_components": 0},
        "one output": {"loss": "squared-error"},
        "balanced": {"class_weight": "balanced"},
        "three": {},
        "max": {"pool": "max", "norm": "post"},
    }[kind]
    texts, labels = OLD
    if kind in ("three", "balanced"):
        labels = in_three(labels)
    return nlptx.fit(texts, labels, small_embeddings(), TrainSettings(**SHAPE | changes), jobs=1)


def go_on(start, data=NEW, settings=STILL, **more):
    texts, labels = data
    return nlptx.fit(texts, labels, settings=settings, start=start, jobs=1, **more)


def bytes_of(model, folder):
    model.save(folder / "saved.npz")
    return (folder / "saved.npz").read_bytes()


@pytest.fixture
def uncorrected(monkeypatch):
    """Replace the learned correction by zero."""

    def nothing(ngrams, outputs, inputs, targets, text_of, *rest):
        width = outputs.shape[1]
        zeros = np.zeros((len(ngrams.keys), width), np.float32)
        none = Correction(zeros, np.zeros((inputs.shape[1], width)), np.zeros(width))
        return none, np.zeros((len(text_of), width), np.float32)

    monkeypatch.setattr(starting, "cross_fit_correction", nothing)


# ---------------------------------------------------------------- what is kept


def test_an_unchanged_model_is_measured_on_the_words_that_it_reads(uncorrected):
    """The held-out texts contain a word of the new texts, which the unchanged model reads as a known form."""
    texts = [f"{text} wonderful" if label == "pos" else text for text, label in zip(*OLD, strict=True)]
    start = nlptx.fit(texts, OLD[1], small_embeddings(), TrainSettings(**SHAPE), jobs=1)
    new, valid = ([f"{text} wonderfully" for text in data] for data in (NEW[0], TEST[:12]))
    model = go_on(start, (new, NEW[1]), STILL, valid=(valid, ["pos", "neg"] * 6))
    assert "wonderfully" not in model.vocabulary.index
    data = Examples(RaggedArray.of([model.encode(text) for text in valid], np.int32), np.array([1, 0] * 6))
    assert model.history["epochs"][-1]["valid_loss"] == pytest.approx(validate(model, data, SERIAL)[0], abs=1e-5)


@pytest.mark.parametrize("kind", ["default", "without n-grams", "pairs", "one output", "balanced", "three", "max"])
def test_without_a_correction_the_model_stays_what_it_was(kind, uncorrected, tmp_path):
    start = trained(kind)
    texts, labels = NEW
    labels = in_three(labels) if len(start.labels) == 3 else labels
    # Without a correction, new words are not added, because they would change the n-grams of the words around them.
    texts = ["unheard", *(f"{text} unheard" for text in texts)]
    test = [*TEST, *(text.replace(" ", " unheard ", 1) for text in TEST)]
    model = go_on(start, (texts, [labels[1], *labels]))
    assert model.vocabulary.words == start.vocabulary.words
    model.save(tmp_path / "model.npz")
    again = nlptx.Model.load(tmp_path / "model.npz")
    for found in (model, again):
        assert_allclose(found.predict_proba(test, jobs=1), start.predict_proba(test, jobs=1), atol=2e-5)


def test_labels_are_matched_by_their_names(uncorrected):
    start = trained()
    texts, labels = NEW
    p = start.predict_proba(TEST, jobs=1)
    more = go_on(start, (texts, in_three(labels)))
    assert more.labels == ["neg", "neu", "pos"]
    three = more.predict_proba(TEST, jobs=1)
    assert_allclose(np.log(three[:, 2] / three[:, 0]), np.log(p[:, 1] / p[:, 0]), rtol=1e-3, atol=1e-4)
    # A label that the old model lacks has the output 0, half-way between the outputs of the other two labels.
    assert_allclose(three[:, 1] ** 2, three[:, 0] * three[:, 2], rtol=1e-3)
    fewer = go_on(trained("three"), NEW)
    of_three = trained("three").predict_proba(TEST, jobs=1)[:, [0, 2]]
    assert_allclose(
        fewer.predict_proba(TEST, jobs=1), of_three / of_three.sum(axis=1, keepdims=True), rtol=1e-3, atol=1e-5
    )
    other = go_on(start, (texts, [{"neg": "b", "pos": "a"}[label] for label in labels]))
    assert_allclose(other.predict_proba(TEST, jobs=1), 0.5, atol=1e-6)


def test_words_and_vectors_are_kept():
    start = trained()
    kinds = [("a", "b")[number % 2] for number in range(len(NEW[0]))]
    new = [f"{kind * 3} {text} once{number}" for number, (text, kind) in enumerate(zip(NEW[0], kinds, strict=True))]
    model = go_on(start, (new, kinds), replace(STILL, new_word_min_count=2))
    words = len(start.vocabulary)
    assert list(model.vocabulary.words) == [*start.vocabulary.words, "aaa", "bbb"]
    assert_array_equal(model.table[:words], start.table)
    assert not model.table[words:].any()  # the vectors of new words stay 0, because the learning rate is 0
    assert set(start.ngram_features.ratios.ravel()) <= set(model.ngram_features.ratios.ravel())


def test_the_shape_of_the_network_is_that_of_the_model():
    model = go_on(trained("pairs"))
    assert (model.settings.width, model.settings.heads, model.settings.ngrams) == (8, 2, 2)
    assert model.settings.lr == STILL.lr  # the given learning rate, not the lower one for few texts


# ---------------------------------------------------------------- what is learned


def test_new_words_and_new_labels_are_learned():
    start = trained()
    texts = [f"{text} {('plum', 'pear')[number % 2]}" for number, text in enumerate(OLD[0])]
    kinds = [("a", "b")[number % 2] for number in range(len(texts))]
    model = go_on(start, (texts, kinds), TrainSettings(epochs=1))
    unseen = [f"{text} {('plum', 'pear')[number % 2]}" for number, text in enumerate(TEST)]
    hits = [label == ("a", "b")[number % 2] for number, label in enumerate(model.predict(unseen, jobs=1))]
    assert sum(hits) > 0.8 * len(hits)


def test_few_texts_change_little():
    start = trained()
    few = ([*NEW[0][:2]], ["pos", "neg"])  # the labels of both texts are wrong
    before, after = start.predict_proba(TEST, jobs=1), go_on(start, few, TrainSettings()).predict_proba(TEST, jobs=1)
    assert np.abs(after - before).mean() < 0.1


def test_the_network_is_trained_only_if_the_correction_helps(uncorrected):
    notes, seen = [], []
    model = go_on(trained(), settings=TrainSettings(), on_note=notes.append, on_progress=seen.append)
    assert_array_equal(model.table[: len(trained().table)], trained().table)
    assert not any(isinstance(progress, EpochProgress) for progress in seen)
    assert not has_epochs(model.history)
    assert "so its weights are kept" in notes[0]
    assert_allclose(model.predict_proba(TEST, jobs=1), trained().predict_proba(TEST, jobs=1), atol=2e-5)
    assert (model.settings.lr, model.settings.epochs) == (TrainSettings().lr, TrainSettings().epochs)


def test_without_epochs_only_the_correction_is_learned():
    start = trained()
    texts = [f"{text} {('plum', 'pear')[number % 2]}" for number, text in enumerate(OLD[0])]
    kinds = [("a", "b")[number % 2] for number in range(len(texts))]
    notes = []
    model = go_on(start, (texts, kinds), TrainSettings(epochs=0, lr=0.1, width=8, dropout=0.5), on_note=notes.append)
    assert "no network is trained (`epochs=0`), so these settings have no effect: `dropout`, `lr`" in notes
    assert_array_equal(model.table[: len(start.table)], start.table)
    hits = [label == kind for label, kind in zip(model.predict(texts, jobs=1), kinds, strict=True)]
    assert sum(hits) > 0.8 * len(hits)
    assert model.settings.epochs == 0
    assert model.settings.width == 8
    (record,) = model.history["epochs"]
    assert (record["step"], model.history["steps"], model.history["curve"]) == (0, 0, [])


def test_without_epochs_no_step_is_taken_and_the_model_is_validated():
    seen = []
    model = go_on(trained(), settings=TrainSettings(epochs=0), valid=OLD, on_progress=seen.append)
    assert not any(isinstance(progress, EpochProgress) for progress in seen)
    (record,) = model.history["epochs"]
    assert record["valid_accuracy"] == pytest.approx(np.mean(np.equal(model.predict(OLD[0], jobs=1), OLD[1])), abs=1e-5)
    assert "loss" not in record


@pytest.mark.parametrize("is_started", [True, False])
def test_without_epochs_the_validation_loss_is_the_log_loss(is_started):
    labels = ["neg"] * 6 + ["pos"] * 18
    settings = TrainSettings(epochs=0, class_weight="balanced", subwords="off")
    model = go_on(trained() if is_started else None, (NEW[0], labels), settings, valid=OLD)
    model.temperature = 1.0  # calibration follows validation
    p = model.probabilities([model.vocabulary.encode(text) for text in OLD[0]])
    losses = [-np.log(p[row, model.labels.index(label)]) for row, label in enumerate(OLD[1])]
    assert model.history["epochs"][0]["valid_loss"] == pytest.approx(np.mean(losses), rel=1e-3)


def test_a_text_of_weight_two_counts_as_two_equal_texts():
    """With a learning rate of 0, only the correction is learned, and it does not depend on out-of-fold outputs."""
    texts, labels = SWAPPED
    settings = TrainSettings(epochs=1, lr=0.0, valid_share=0.0)
    once = go_on(trained(), (texts, labels), settings, sample_weight=[2.0] * 5 + [1.0] * 19)
    twice = go_on(trained(), (texts + texts[:5], labels + labels[:5]), settings)
    assert_allclose(once.predict_proba(TEST, jobs=1), twice.predict_proba(TEST, jobs=1), atol=2e-4)
    plain = go_on(trained(), (texts, labels), settings)
    assert np.abs(plain.predict_proba(TEST, jobs=1) - once.predict_proba(TEST, jobs=1)).max() > 1e-3


def test_a_balanced_correction_gives_the_same_probabilities():
    """The correction is fitted to frequencies, so a balanced model must not add the log-priors a second time."""
    texts, labels = NEW[0] * 2, ["neg"] * 6 + ["pos"] * 42
    plain, balanced = (
        go_on(trained(), (texts, labels), TrainSettings(epochs=1, lr=0.0, valid_share=0.0, class_weight=weight))
        for weight in ("none", "balanced")
    )
    assert_allclose(balanced.predict_proba(TEST, jobs=1), plain.predict_proba(TEST, jobs=1), atol=1e-5)


def test_passages_have_features_too():
    texts, labels = make_reviews(12, shortest=120, longest=130)
    model = go_on(trained(), (texts, labels), TrainSettings(epochs=1, passages=1, valid_share=0.0))
    assert model.history["passages"] == 12


def test_the_recorded_origin_goes_back_through_every_start(tmp_path):
    once = go_on(trained(), settings=TrainSettings(epochs=1))
    twice = go_on(once, make_reviews(24, seed=7), TrainSettings(epochs=1))
    assert twice.made_from["made_from"] == once.made_from
    assert twice.labels == ["neg", "pos"]


def test_texts_without_labels_are_left_out_with_a_note():
    notes = []
    model = go_on(trained(), unlabelled=TEST, on_note=notes.append)
    assert any("without labels are left out" in note for note in notes)
    assert model.history["distill"] == []
    notes.clear()
    go_on(trained(), settings=replace(STILL, distill=1), unlabelled=TEST, on_note=notes.append)
    assert "`distill` has no effect, because training starts from a model" in notes


def test_other_labels_cause_a_note():
    notes = []
    go_on(trained(), (NEW[0], in_three(NEW[1])), on_note=notes.append)
    assert any("(kept: neg, pos; new: neu)" in note for note in notes)
    go_on(trained(), (NEW[0], ["bad" if label == "neg" else label for label in NEW[1]]), on_note=notes.append)
    assert any("(kept: pos; new: bad; dropped: neg)" in note for note in notes)


# ---------------------------------------------------------------- same bytes


def test_the_same_bytes_on_any_number_of_cores_and_after_a_stop(tmp_path):
    settings = TrainSettings(epochs=2, batch=4)
    whole = bytes_of(nlptx.fit(*SWAPPED, settings=settings, start=trained(), jobs=2), tmp_path)
    left = [5]

    def stop():
        left[0] -= 1
        return left[0] < 0

    for stopped in (stop, lambda: False):
        with Checkpoint(tmp_path / "m.npz", 0, resume=True) as checkpoint:
            model = go_on(trained(), SWAPPED, settings, stop=stopped, checkpoint=checkpoint)
    assert (len(model.history["epochs"]), model.history["interrupted"]) == (2, False)
    assert bytes_of(model, tmp_path) == whole
    assert bytes_of(go_on(trained(), SWAPPED, settings, seed=2), tmp_path) != whole


def test_a_checkpoint_of_another_start_is_refused(tmp_path):
    for start in (trained(), trained("max")):
        with Checkpoint(tmp_path / "m.npz", 0, resume=True) as checkpoint:
            if start is trained():
                go_on(start, SWAPPED, stop=lambda: True, checkpoint=checkpoint)
                continue
            with pytest.raises(ArtifactError, match="the model to start from differs"):
                go_on(start, SWAPPED, checkpoint=checkpoint)


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"width": 16}, "`width` is 16; the model to start from has 8"),
        ({"pool": "max"}, "`pool` is 'max'; the model to start from has 'mean'"),
        ({"ngrams": 0}, "`ngrams` is 0; the model to start from has 3"),
        ({"pretrain": 1}, "`pretrain` trains a new network"),
        ({"loss": "squared-error"}, "`loss` is 'squared-error'; the model to start from has 'cross-entropy'"),
    ],
)
def test_settings_that_contradict_the_model_are_refused(settings, message):
    with pytest.raises(SettingsError, match=message):
        go_on(trained(), settings=TrainSettings(**settings))


def test_the_loss_is_that_of_the_model():
    assert go_on(trained("one output")).settings.loss == "squared-error"
    with pytest.raises(SettingsError, match="`loss` is 'cross-entropy'; the model to start from has 'squared-error'"):
        go_on(trained("one output"), settings=TrainSettings(loss="cross-entropy"))


def test_arguments_that_do_not_fit_are_refused():
    with pytest.raises(SettingsError, match="expected only one of them"):
        nlptx.fit(*NEW, small_embeddings(), start=trained())
    with pytest.raises(InputTypeError, match="`start` is"):
        nlptx.fit(*NEW, start="bundled")
    with pytest.raises(DataError, match="no training text contains a known word"):
        go_on(trained(), (["unheard", "unseen"], ["neg", "pos"]), replace(STILL, new_word_min_count=2))
    with pytest.raises(SettingsError, match="the model to start from, squared-error, is for 2 labels; the data has 3"):
        go_on(trained("one output"), (NEW[0], in_three(NEW[1])))
