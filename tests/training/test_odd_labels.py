"""Tests of unusual labels: rare labels, labels with one text, a thousand labels; and of the notes that train prints."""

from dataclasses import replace

import numpy as np
import pytest
from command import refused, run
from numpy.testing import assert_allclose, assert_array_equal
from reviews import make_reviews, small_embeddings
from sample_data import TRAIN, write_tsv

import nlptx
from nlptx.classifier.explain import explain
from nlptx.classifier.model import Model
from nlptx.classifier.scoring import score
from nlptx.errors import CorruptError, DataError, LabelError
from nlptx.io.ragged_array import RaggedArray
from nlptx.metrics import log_loss
from nlptx.ngrams.sparse_features import SparseNgramFeatures
from nlptx.nn import WeightedSum
from nlptx.runtime.workers import SERIAL, Workers
from nlptx.settings import TrainSettings
from nlptx.training import dataset, ngram_features
from nlptx.training.loss import validate


def fit(texts, labels, valid=None, **settings):
    """Return a model, and its notes except for warnings, because a model of odd labels may be worse than guessing."""
    notes = []
    settings = TrainSettings(**{"epochs": 2, "batch": 8, "width": 0, "blocks": 1, "lsa_components": 8} | settings)
    model = nlptx.fit(texts, labels, small_embeddings(), settings, valid=valid, jobs=1, on_note=notes.append)
    assert np.isfinite(model.flat).all()
    assert np.isfinite(model.predict_proba(texts[:5], jobs=1)).all()
    return model, [note for note in notes if not note.startswith("warning: ")]


# ---------------------------------------------------------------- balanced decisions


def test_measures_of_a_balanced_model_include_texts_without_known_words():
    """For such texts, all ratios of probability to prior are equal, so the most frequent label is predicted."""
    texts, labels = make_reviews(40)
    rows = [row for row, label in enumerate(labels) if label == "pos" or row % 8 == 0]
    model, _ = fit([texts[r] for r in rows], [labels[r] for r in rows], class_weight="balanced", ngrams=0)
    model.temperature = 1.0
    negative, positive = (model.labels.index(label) for label in ("neg", "pos"))
    known = dataset.Examples(RaggedArray.of([model.encode(texts[0])], np.int32), np.array([positive]))
    loss, accuracy = validate(model, known, SERIAL)
    more = replace(known, unknown=np.array([positive, negative, positive]))
    all_losses, all_accuracies = validate(model, more, SERIAL)
    assert all_losses * 4 - loss == pytest.approx(-np.log(model.priors[[positive, negative, positive]]).sum())
    assert all_accuracies * 4 - accuracy == pytest.approx(2)
    assert model.choose(model.predict_proba(["xyzzy"])).tolist() == [positive]


def test_balanced_changes_the_decision_and_not_the_probabilities():
    texts, labels = make_skewed_reviews(200, seed=2)
    plain, balanced = (fit(texts, labels, class_weight=weight)[0] for weight in ("none", "balanced"))
    p = plain.predict_proba(texts)
    assert_array_equal(p, balanced.predict_proba(texts))
    assert_array_equal(balanced.choose(p), (p / plain.priors).argmax(axis=1))
    accuracies = [model.history["epochs"][-1]["valid_accuracy"] for model in (plain, balanced)]
    assert accuracies[0] != accuracies[1]


@pytest.mark.parametrize("settings", [{}, {"epochs": 0}, {"region_filters": 4}, {"loss": "squared-error"}])
def test_balanced_models_of_earlier_versions_give_the_probabilities_that_they_gave(settings):
    """Their outputs lack the logarithms of the priors, by which the probabilities were then multiplied."""
    texts, labels = make_skewed_reviews(200, seed=2)
    model, _ = fit(texts, labels, class_weight="balanced", **{"region_filters": 0} | settings)
    artifact = model.to_artifact()
    details = {name: value for name, value in artifact.details.items() if name != "decision"}
    earlier = Model.from_artifact(replace(artifact, details=details))
    expected = model.predict_proba(texts) * model.priors
    assert_allclose(earlier.predict_proba(texts), expected / expected.sum(axis=1, keepdims=True), atol=1e-6)
    again = Model.from_artifact(earlier.to_artifact())
    assert_array_equal(again.predict_proba(texts), earlier.predict_proba(texts))


@pytest.mark.parametrize("ngrams", [0, 3])
def test_balanced_decisions_increase_the_recall_of_a_rare_label(ngrams):
    texts, labels = make_reviews(400, seed=2)
    rare = [row for row, label in enumerate(labels) if label == "pos"][::12]
    rows = sorted([row for row, label in enumerate(labels) if label == "neg"] + rare)
    held_out, truth = make_reviews(200, seed=3)
    recall, more = {}, {"ngrams": ngrams, "epochs": 4, "lr": 0.01}
    for weight in ("none", "balanced"):
        model, _ = fit([texts[r] for r in rows], [labels[r] for r in rows], class_weight=weight, **more)
        guessed = model.predict(held_out, jobs=1)
        recall[weight] = np.mean(
            [guess == "pos" for guess, label in zip(guessed, truth, strict=True) if label == "pos"]
        )
    assert TrainSettings().class_weight == "none"
    assert recall["balanced"] > recall["none"] + 0.15, recall


@pytest.mark.parametrize("loss", ["cross-entropy", "squared-error"])
def test_probabilities_of_a_balanced_model_are_calibrated(loss):
    """One text in ten is positive, so the mean of P(pos) is 0.1 whatever the weights of the labels."""
    more = {"lr": 0.005, "ngrams": 1, "lsa_components": 0, "valid_share": 0.25}
    model, _ = fit(*make_skewed_reviews(600, seed=2), class_weight="balanced", loss=loss, **more)
    texts, labels = make_skewed_reviews(800, seed=3)
    p, positive = model.predict_proba(texts, jobs=1), np.array(labels) == "pos"
    as_if_equal = p / model.priors
    as_if_equal /= as_if_equal.sum(axis=1, keepdims=True)
    assert p[:, 1].mean() == pytest.approx(0.1, abs=0.03)
    assert log_loss(p, positive.astype(int)) < log_loss(as_if_equal, positive.astype(int)) - 0.01
    chosen, most_probable = model.choose(p) == positive, p.argmax(axis=1) == positive
    balanced, plain = (np.mean([hits[positive].mean(), hits[~positive].mean()]) for hits in (chosen, most_probable))
    assert balanced > plain + 0.02


def make_skewed_reviews(count, seed):
    """Return texts and labels; one text in ten is positive."""
    pairs = list(zip(*make_reviews(2 * count, seed=seed), strict=True))
    negative, positive = ([pair for pair in pairs if pair[1] == label] for label in ("neg", "pos"))
    rows = [(positive if row % 10 == 0 else negative)[row] for row in range(count)]
    return [text for text, _ in rows], [label for _, label in rows]


def balanced_model(priors):
    """Return a slightly trained model with balanced class weights and the given priors."""
    model, _ = fit(*make_reviews(12), class_weight="balanced", epochs=1)
    model.priors = np.array(priors)
    return model


def test_a_balanced_model_predicts_the_label_with_the_largest_ratio_of_probability_to_prior():
    model = balanced_model([0.9, 0.1])
    p = np.array([[0.95, 0.05], [0.91, 0.09], [0.89, 0.11], [0.5, 0.5], [0.9, 0.1]])
    assert model.choose(p).tolist() == [0, 0, 1, 1, 0], "ties are decided by the probability"
    model.settings = TrainSettings()
    assert model.choose(p).tolist() == [0, 0, 0, 0, 0]


def test_all_functions_choose_the_same_label_with_a_balanced_model():
    """A text without known words gets the most frequent label."""
    model = balanced_model([0.9, 0.1])
    texts = [*make_reviews(20, seed=5)[0], "unknown"]
    p = model.predict_proba(texts, jobs=1)
    best = model.choose(p)
    assert 0 < best[:-1].mean() <= 1
    assert (best != p.argmax(axis=1)).any(), "the test needs a label with a probability below one half"
    assert model.predict(texts, jobs=1) == [model.labels[index] for index in best]
    scored = next(score(model, [(None, text) for text in texts], Workers(1)))
    assert [one.chosen for _, one in scored] == [(index,) for index in best.tolist()]
    assert [explain(model, text).label for text in texts[:-1]] == best[:-1].tolist()
    assert best[-1] == 0


def test_a_balanced_model_with_a_zero_prior_is_rejected(tmp_path):
    balanced_model([1.0, 0.0]).save(str(tmp_path / "model.npz"))
    with pytest.raises(CorruptError, match="prior probability of 0"):
        nlptx.Model.load(str(tmp_path / "model.npz"))


# ---------------------------------------------------------------- labels with few or no texts


@pytest.mark.parametrize("class_weight", ["none", "balanced"])
def test_a_label_with_a_single_text_is_trained_on_and_never_held_out(class_weight):
    texts, labels = make_reviews(40)
    model, notes = fit([*texts, "w1 w2 bad1"], [*labels, "odd"], class_weight=class_weight, valid_share=0.5)
    assert model.labels == ["neg", "odd", "pos"]
    assert model.history["train_texts"] == 21
    assert model.priors[1] == 1 / 41
    assert notes == []


def test_a_label_that_does_not_occur_in_the_held_out_texts():
    texts, labels = make_reviews(40)
    model, notes = fit(texts, labels, valid=([texts[0]] * 3, [labels[0]] * 3))
    assert model.labels == ["neg", "pos"]
    assert model.history["valid_texts"] == 3
    assert notes == []


def test_a_held_out_label_that_does_not_occur_in_the_training_texts_is_rejected():
    texts, labels = make_reviews(40)
    with pytest.raises(LabelError, match="`valid` has the label 'odd' at position 0; the training data has the labels"):
        fit(texts, labels, valid=(texts[:1], ["odd"]))


@pytest.mark.parametrize(("more", "fewer"), [(3, 0), (0, 3)])
def test_texts_and_labels_must_have_the_same_number(more, fewer):
    texts, labels = make_reviews(40)
    some_texts, some_labels = texts[: 40 - more], labels[: 40 - fewer]
    with pytest.raises(DataError, match=f"`texts` has {40 - more} elements, `labels` has {40 - fewer}"):
        fit(some_texts, some_labels)
    with pytest.raises(DataError, match=rf"`valid\[0\]` has {40 - more} elements, `valid\[1\]` has {40 - fewer}"):
        fit(texts, labels, valid=(some_texts, some_labels))


@pytest.mark.parametrize("labels", [2, 3, 20])
@pytest.mark.parametrize("components", [0, 4])
def test_a_model_with_any_number_of_labels_can_be_saved_and_loaded(tmp_path, labels, components):
    texts, _ = make_reviews(10 * labels)
    names = [f"label{number % labels}" for number in range(10 * labels)]
    model, _ = fit(texts, names, epochs=1, lsa_components=components, ngrams=1)
    model.save(str(tmp_path / "m.npz"))
    assert nlptx.Model.load(str(tmp_path / "m.npz")).predict(texts[:9], jobs=1) == model.predict(texts[:9], jobs=1)


def test_a_label_without_known_words_causes_a_note():
    texts, labels = make_reviews(40)
    model, notes = fit([*texts, "zzz"], [*labels, "odd"], new_word_min_count=0)
    assert notes == ["labels that are not learned, because no training text with a known word has them: 'odd'"]
    assert "odd" not in model.predict(texts, jobs=1)


def test_two_labels_with_one_text_each_can_be_memorised():
    """No text can be held out, and n-gram features cannot be learned, because they require two texts per label."""
    texts = ["good1 w1 w2", "bad1 w1 w3"]
    model, notes = fit(texts, ["pos", "neg"], epochs=30, lr=0.01)
    assert model.predict(texts, jobs=1) == ["pos", "neg"]
    assert model.ngram_features is None
    assert (model.history["valid_texts"], model.history["best_epoch"]) == (0, 30)
    assert notes == [
        "no texts are held out for validation, because every label has too few texts for a share of 0.1"
        " (`valid_share`): the weights of the last epoch are kept, and it is unknown how good the model is; use more"
        " texts for each label, or a larger share",
        "no n-gram features: they require two labels with at least two texts each",
    ]


def test_a_small_limit_for_held_out_texts_is_named_as_the_reason():
    _, notes = fit(*make_reviews(40), valid_max=1, epochs=0, ngrams=1, lsa_components=0)
    assert notes[-1] == (
        "no texts are held out for validation, because every label has too few texts for a total of 1 (`valid_max`),"
        " so it is unknown how good the model is; raise `valid_max`"
    )


def test_no_note_if_nothing_is_held_out_on_purpose():
    assert fit(*make_reviews(40), valid_share=0.0)[1] == []


# ---------------------------------------------------------------- many labels


@pytest.mark.parametrize(("count", "sparse"), [(20, False), (21, True)])
def test_ngram_features_are_sparse_for_more_than_twenty_labels(count, sparse, tmp_path):
    texts, _ = make_reviews(63)
    model, notes = fit(texts, [f"l{row % count}" for row in range(63)], epochs=1, valid_share=0.4)
    assert isinstance(model.ngram_features, SparseNgramFeatures) == sparse
    assert isinstance(model.network.text_projection, WeightedSum) == sparse
    assert ["`lsa_components`" in note for note in notes] == [True] * sparse
    model.save(tmp_path / "m.npz")
    assert np.array_equal(Model.load(tmp_path / "m.npz").predict_proba(texts, 1), model.predict_proba(texts, 1))


def test_words_reveal_one_of_many_labels():
    rng = np.random.default_rng(0)
    targets = rng.permutation(np.arange(480) % 24)
    texts = [" ".join([f"own{label}", *(f"w{word}" for word in rng.integers(0, 50, 6))]) for label in targets]
    accuracy = {}
    for ngrams in (0, 2):
        model, notes = fit(
            texts[:360],
            [f"l{label}" for label in targets[:360]],
            epochs=2,
            ngrams=ngrams,
            lsa_components=0,
            new_word_min_count=2,
        )
        predicted = model.predict(texts[360:], 1)
        accuracy[ngrams] = np.mean([label == f"l{true}" for label, true in zip(predicted, targets[360:], strict=True)])
        assert notes == []
    assert accuracy[2] > 0.9 > accuracy[0]


def test_the_number_of_workers_does_not_change_a_model_of_many_labels():
    given = make_reviews(63)[0], [f"l{row % 21}" for row in range(63)], small_embeddings()
    settings = TrainSettings(epochs=1, width=0, blocks=1)
    one, two = (nlptx.fit(*given, settings, jobs=jobs) for jobs in (1, 2))
    assert np.array_equal(one.flat, two.flat)
    assert np.array_equal(one.ngram_features.ratio_weights, two.ngram_features.ratio_weights)


def test_ngram_features_are_possible_up_to_a_vocabulary_size(monkeypatch):
    monkeypatch.setattr(ngram_features, "MAX_VOCABULARY", 10)
    model, notes = fit(*make_reviews(40), epochs=1)
    assert model.ngram_features is None
    assert notes == [f"no n-gram features: {len(model.vocabulary)} words are too many; at most 10 are supported"]
    assert fit(*make_reviews(40), epochs=1, ngrams=0, lsa_components=0)[1] == []


def test_a_thousand_labels():
    words = " ".join(f"w{number}" for number in range(9))
    texts = [f"{words} good{row % 8}" for row in range(1000)]
    model, _ = fit(texts, [f"{row:03}" for row in range(1000)], epochs=1, batch=100)
    assert len(model.labels) == 1000
    assert_allclose(model.predict_proba(texts[:3], jobs=1).sum(axis=1), 1, rtol=1e-12)
    assert model.values is not None  # numeric labels are ordered


# ---------------------------------------------------------------- command line


def test_train_reports_missing_ngram_features_and_validation(work, tmp_path):
    rows = [(text, f"l{row}") for row, text in enumerate(make_reviews(30)[0])]
    write_tsv(tmp_path / "many.tsv", rows)
    words = ("train", "many.tsv", "-e", work / "embeddings.npz", *TRAIN, "--new-word-min-count", "1", "-o", "m.npz")
    notes = run(*words, cwd=tmp_path).stderr
    assert "no n-gram features: they require two labels with at least two texts each" in notes
    assert "every label has too few texts for a share of 0.1 (--valid-share)" in notes
    assert run(*words, "--quiet", cwd=tmp_path).stderr == ""


def test_a_single_label_is_rejected(work, tmp_path):
    write_tsv(tmp_path / "one.tsv", [("great film", "pos")] * 3)
    words = ("train", "one.tsv", "-e", work / "embeddings.npz", "-o", "m.npz")
    refused(*words, code=3, says="only the label 'pos'", cwd=tmp_path, untouched=tmp_path)
