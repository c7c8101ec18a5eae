"""Tests of training on texts that may have any number of labels."""

import json
from dataclasses import replace

import numpy as np
import pytest
from label_sets import SETTINGS, fit_sets, make_sets, small_model
from numpy.testing import assert_allclose, assert_array_equal
from reviews import make_reviews, small_embeddings

import nlptx
from nlptx.errors import CorruptError, DataError, InputTypeError, LabelError, SettingsError
from nlptx.metrics import log_loss
from nlptx.training.checkpoint import Checkpoint
from nlptx.training.targets import count_labels, encode_targets, strata
from nlptx.training.thresholds import best_threshold, choose_thresholds

LABELS = ["blue", "green", "red"]
MANY = tuple(f"label{number}x" for number in range(21))  # with so many labels, the n-gram features are sparse


def bytes_of(model):
    artifact = model.to_artifact()
    arrays = {name: array.tobytes() for name, array in artifact.arrays.items()}
    return json.dumps(artifact.header, sort_keys=True), arrays


# ---------------------------------------------------------------- targets


def test_targets_are_a_matrix_only_if_there_is_a_separator():
    assert encode_targets(["b", "a"], ["a", "b"], None).tolist() == [1, 0]
    assert encode_targets(["a;b", "", "b"], ["a", "b"], ";").tolist() == [[True, True], [False, False], [False, True]]


@pytest.mark.parametrize("weights", [None, np.array([1.0, 2.0, 0.5])])
def test_labels_are_counted_in_the_same_way_in_both_forms(weights):
    classes = np.array([0, 2, 2])
    matrix = np.eye(3, dtype=bool)[classes]
    assert_allclose(count_labels(matrix, 3, weights), count_labels(classes, 3, weights))


def test_a_text_belongs_to_the_stratum_of_its_rarest_label():
    targets = np.array([[1, 1], [1, 0], [1, 0], [0, 0]], bool)
    assert strata(targets, 0.5).tolist() == [2, 0, 0, 2], "strata with nothing to hold out are merged"
    assert strata(targets, 1).tolist() == [1, 0, 0, 2]
    assert strata(np.array([1, 0]), 0.5).tolist() == [1, 0]


# ---------------------------------------------------------------- thresholds


def test_the_best_threshold_maximises_f1():
    rng = np.random.default_rng(1)
    p = rng.random(200)
    positive = rng.random(200) < p**2
    weights = rng.choice([0.5, 1, 2], 200)

    def f1(threshold):
        chosen = p >= threshold
        return 2 * weights[chosen & positive].sum() / (weights[chosen].sum() + weights[positive].sum())

    found = f1(best_threshold(p, positive, weights))
    assert found == pytest.approx(max(f1(each) for each in np.linspace(0.1, 0.9, 801)), abs=1e-9)


def test_equal_probabilities_are_never_separated():
    p = np.array([0.4, 0.4, 0.3])
    assert best_threshold(p, np.array([True, False, False]), np.ones(3)) == pytest.approx(0.35)


def test_the_threshold_of_a_label_without_texts_follows_from_its_probabilities():
    p = np.full((50, 2), 0.02)
    p[:, 1] = np.linspace(0, 1, 50)
    thresholds = choose_thresholds(p, np.zeros((50, 2), bool))
    assert thresholds.tolist() == [0.1, best_threshold(p[:, 1], p[:, 1], np.ones(50)).__round__(4)]
    assert 0.2 < thresholds[1] < 0.5, "about half of the expected F1"


def test_integer_weights_of_held_out_texts_are_equivalent_to_repeating_them():
    rng = np.random.default_rng(2)
    p, targets, times = rng.random((40, 3)), rng.random((40, 3)) < 0.3, rng.integers(1, 4, 40)
    repeated = np.repeat(np.arange(40), times)
    expected = choose_thresholds(p[repeated], targets[repeated])
    assert_allclose(choose_thresholds(p, targets, times.astype(float)), expected)


# ---------------------------------------------------------------- models


def test_the_model_learns_the_labels_of_new_texts():
    model = small_model()
    texts, sets = make_sets(100, seed=5)
    report = nlptx.evaluate(model, texts, sets, jobs=1)
    assert model.labels == LABELS
    assert report.micro_f1 > 0.95
    assert report.macro_f1 > 0.95
    assert report.accuracy > 0.85
    assert model.predict(texts, jobs=1)[:3] == [
        [label for label, chosen in zip(LABELS, row, strict=True) if chosen]
        for row in model.choose(model.predict_proba(texts[:3], jobs=1))
    ]


def test_a_multi_label_model_separates_texts_that_have_at_most_one_label():
    texts, sets = make_sets(200, max_labels=1)
    model, _ = fit_sets(texts, sets)
    new_texts, new_sets = make_sets(60, seed=7, max_labels=1)
    assert (
        np.mean([set(found) == true for found, true in zip(model.predict(new_texts, jobs=1), new_sets, strict=True)])
        > 0.9
    )


def test_neither_order_nor_repetition_nor_collection_of_labels_matters():
    texts, sets = make_sets(60)
    expected = bytes_of(fit_sets(texts, [sorted(each) for each in sets])[0])
    for change in (set, tuple, frozenset, lambda each: sorted(each, reverse=True), lambda each: [*each, *each]):
        assert bytes_of(fit_sets(texts, [change(each) for each in sets])[0]) == expected


@pytest.mark.parametrize("labels", [("red", "green", "blue"), MANY], ids=["few", "many"])
def test_the_number_of_workers_does_not_change_the_model(labels):
    texts, sets = make_sets(70, labels)
    one, two = (fit_sets(texts, sets, labels=labels, jobs=jobs)[0] for jobs in (1, 2))
    assert bytes_of(one) == bytes_of(two)


@pytest.mark.parametrize("labels", [("red", "green", "blue"), MANY], ids=["few", "many"])
def test_an_interrupted_training_run_gives_the_same_bytes_when_resumed(tmp_path, labels):
    texts, sets = make_sets(70, labels)
    remaining = iter(range(20))
    path = str(tmp_path / "m.npz")
    with Checkpoint(path, 0, True) as checkpoint:
        stopped, _ = fit_sets(
            texts, sets, labels=labels, checkpoint=checkpoint, stop=lambda: next(remaining, None) is None
        )
    assert stopped.history["interrupted"]
    with Checkpoint(path, 0, True) as checkpoint:
        resumed, _ = fit_sets(texts, sets, labels=labels, checkpoint=checkpoint)
    assert bytes_of(resumed) == bytes_of(fit_sets(texts, sets, labels=labels)[0])


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("labels", [("red", "green", "blue"), MANY], ids=["few", "many"])
def test_a_saved_model_makes_the_same_predictions(tmp_path, labels, compact):
    texts, sets = make_sets(70, labels)
    model, _ = fit_sets(texts, sets, replace(SETTINGS, compact=compact), labels=labels)
    model.save(tmp_path / "m.npz")
    loaded = nlptx.Model.load(tmp_path / "m.npz")
    assert loaded.multi_label.separator == ";"
    assert_array_equal(loaded.multi_label.thresholds, model.multi_label.thresholds)
    assert loaded.labels == model.labels
    expected = model.predict_proba(texts, jobs=1)
    assert_allclose(loaded.predict_proba(texts, jobs=1), expected, atol=0.02 if compact else 0)


def test_the_same_probabilities_whatever_the_other_texts():
    texts, sets = make_sets(50, MANY)
    model, _ = fit_sets(texts, sets, labels=MANY)
    together = model.predict_proba([*texts, ""], jobs=1)
    assert_array_equal(together, [model.predict_proba([text], jobs=1)[0] for text in [*texts, ""]])
    assert_array_equal(together[-1], model.priors)


@pytest.mark.parametrize("more", [{"ngrams": 0}, {"calibrate": False}, {"valid_share": 0.0}, {"passages": 1}])
def test_other_settings_work(more):
    model, _ = fit_sets(*make_sets(60), replace(SETTINGS, epochs=1, **more))
    assert np.isfinite(model.flat).all()
    thresholds = model.multi_label.thresholds
    assert ((thresholds > 0) & (thresholds < 1)).all()
    if more == {"valid_share": 0.0}:
        assert thresholds.tolist() == [0.5] * 3


def test_without_ngrams_the_network_starts_with_the_label_frequencies():
    texts, sets = make_sets(60)
    model, _ = fit_sets(texts, sets, replace(SETTINGS, epochs=1, ngrams=0, lr=0.0))
    model.temperature = 1.0
    assert_allclose(model.predict_proba(texts, jobs=1).mean(axis=0), model.priors, atol=0.2)


@pytest.mark.parametrize("labels", [("red", "green", "blue"), MANY], ids=["few", "many"])
def test_texts_without_labels_are_learned_from(labels):
    texts, sets = make_sets(100, labels)
    unlabelled, _ = make_sets(50, labels, seed=3)
    model, _ = fit_sets(texts, sets, labels=labels, unlabelled=unlabelled)
    assert model.history["distill"]
    assert nlptx.evaluate(model, texts, sets, jobs=1).micro_f1 > 0.7


def test_a_text_of_weight_0_is_left_out():
    texts, sets = make_sets(60)
    more_texts, more_sets = [*texts, "other words"], [*sets, {"other"}]
    weights = [1.0] * 60 + [0.0]
    assert bytes_of(fit_sets(more_texts, more_sets, sample_weight=weights)[0]) == bytes_of(fit_sets(texts, sets)[0])


def test_weights_change_the_label_frequencies():
    texts, sets = make_sets(60)
    weights = [2.0 if "red" in each else 1.0 for each in sets]
    plain, weighted = (fit_sets(texts, sets, sample_weight=each)[0] for each in (None, weights))
    assert weighted.priors[2] > plain.priors[2]


def test_given_validation_texts_are_used():
    texts, sets = make_sets(60)
    model, _ = fit_sets(texts, sets, valid=make_sets(30, seed=4))
    assert model.history["valid_texts"] == 30


def test_a_note_counts_texts_without_a_label():
    texts, sets = make_sets(60)
    empty = sum(not each for each in sets)
    _, notes = fit_sets(texts, sets)
    assert [note for note in notes if "none of the labels" in note] == [f"texts with none of the labels: {empty}"]


def test_the_recorded_validation_loss_is_the_sum_of_the_binary_losses():
    texts, sets = make_sets(60)
    valid = make_sets(30, seed=4)
    model, _ = fit_sets(texts, sets, replace(SETTINGS, calibrate=False, subwords="off"), valid=valid)
    targets = np.array([[label in each for label in LABELS] for each in valid[1]])
    best = model.history["epochs"][model.history["best_epoch"] - 1]
    assert log_loss(model.predict_proba(valid[0], jobs=1), targets) == pytest.approx(best["valid_loss"], rel=1e-3)


def test_confidence_is_the_probability_of_the_whole_set_and_limits_the_error():
    model = small_model()
    texts, _ = make_sets(20, seed=8)
    p = model.predict_proba(texts, jobs=1)
    chosen = model.choose(p)
    expected = [
        np.prod([q if own else 1 - q for q, own in zip(row, mine, strict=True)])
        for row, mine in zip(p, chosen, strict=True)
    ]
    confidence = model.decision.confidence(p, chosen)
    assert_allclose(confidence, expected)
    middle = float(np.median(confidence))
    answers = model.predict(texts, jobs=1, abstain=middle)
    assert [answer is not None for answer in answers] == (confidence >= middle).tolist()


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        ([["a"], "b"], InputTypeError, r"`labels\[1\]` is 'b' \(str\); expected a list, tuple or set"),
        ([["a"], [1]], InputTypeError, r"`labels\[1\]` contains 1 \(int\)"),
        ([["a"], ["b;c"]], LabelError, "';' separates the labels"),
        ([["a"], [" b"]], LabelError, "without extra white space"),
        ([["a"], [""]], LabelError, "without extra white space"),
        ([["a"], []], LabelError, "only the label 'a'"),
        ([[], []], LabelError, "no labels"),
        ([["a"]], DataError, "expected one label per text"),
    ],
)
def test_labels_that_cannot_be_used_are_errors(labels, error, message):
    with pytest.raises(error, match=message):
        nlptx.fit(["one text", "another text"], labels)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"class_weight": "balanced"}, "requires one label per text"),
        ({"loss": "squared-error"}, "requires one label per text"),
        ({"loss": "cross-entropy"}, "requires one label per text; with several labels per text, the loss is binary-c"),
    ],
)
def test_settings_for_one_label_are_errors(settings, message):
    with pytest.raises(SettingsError, match=message):
        fit_sets(*make_sets(20), replace(SETTINGS, **settings))


def test_the_loss_for_several_labels_needs_several_labels():
    with pytest.raises(SettingsError, match="label_separator"):
        nlptx.fit(*make_reviews(10), small_embeddings(), replace(SETTINGS, loss="binary-cross-entropy"))


def test_a_model_file_with_the_loss_auto_is_damaged():
    artifact = small_model().to_artifact()
    artifact.settings["loss"] = "auto"
    with pytest.raises(CorruptError, match="its loss is 'auto'; expected one of"):
        nlptx.Model.from_artifact(artifact)


def test_data_with_one_label_per_text_cannot_start_from_a_model_of_several():
    with pytest.raises(SettingsError, match="is a multi-label model, but each text has one label") as caught:
        nlptx.fit(*make_reviews(10), start=small_model())
    assert "`embeddings` instead of `start`" in str(caught.value.hint)


def test_an_unknown_label_in_the_validation_texts_is_an_error():
    with pytest.raises(LabelError, match="`valid` has the label 'other'"):
        fit_sets(*make_sets(20), valid=(["text"], [["red", "other"]]))
