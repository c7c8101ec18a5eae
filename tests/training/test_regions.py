"""Tests of training with region filters: how they are combined with the network, stored, and left out."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reviews import make_reviews, small_embeddings

import nlptx
from nlptx.artifacts import container
from nlptx.classifier.region_fusion import RegionFusion
from nlptx.errors import CorruptError
from nlptx.io.ragged_array import RaggedArray
from nlptx.ngrams import correction
from nlptx.regions import frequent_ngrams, learning
from nlptx.settings import TrainSettings
from nlptx.training import apply_correction, regions, start
from nlptx.training.checkpoint import Checkpoint
from nlptx.training.dataset import Examples

TEXTS, LABELS = make_reviews(60)
UNLABELLED = make_reviews(80, seed=3)[0]
NEW = make_reviews(12, seed=4)[0]
SHAPE = {"width": 8, "heads": 2, "batch": 8, "epochs": 1, "lsa_components": 4, "subwords": "off"}
SETTINGS = TrainSettings(**SHAPE, region_filters=6)


def fit(labels=LABELS, settings=SETTINGS, jobs=1, **more):
    return nlptx.fit(TEXTS, labels, small_embeddings(), settings, unlabelled=UNLABELLED, jobs=jobs, **more)


@cache
def trained():
    return fit()


def in_three():
    return ["neu" if number % 3 == 0 else label for number, label in enumerate(LABELS)]


def test_the_outputs_are_added_with_the_weights():
    model = trained()
    without = nlptx.fit(TEXTS, LABELS, small_embeddings(), TrainSettings(**SHAPE), unlabelled=UNLABELLED, jobs=1)
    assert_array_equal(model.flat, without.flat)  # the network is the same
    encoded = [model.vocabulary.encode(text) for text in NEW]
    without.temperature = 1.0
    a, b = model.regions.weights
    network = np.log(without.probabilities(encoded))
    z = a * (network[:, 1] - network[:, 0]) + b * np.diff(model.regions.classifier.outputs(encoded), axis=1)[:, 0]
    p = model.predict_proba(NEW)
    assert_allclose(np.log(p[:, 1] / p[:, 0]) * model.temperature, z, atol=1e-4)


def test_the_loss_of_the_network_is_its_validation_loss():
    labels = ["pos" if number % 5 else "neg" for number in range(len(TEXTS))]
    settings = TrainSettings(**SHAPE, region_filters=6, class_weight="balanced", valid_share=0.5)
    model = fit(labels, settings)
    last = model.history["epochs"][-1]
    assert_allclose(model.history["regions"]["network_loss"], last["valid_loss"], rtol=1e-3)


def test_files_keep_every_bit(tmp_path):
    model = trained()
    model.save(tmp_path / "m.npz")
    read = nlptx.Model.load(tmp_path / "m.npz")
    assert_array_equal(read.predict_proba(NEW), model.predict_proba(NEW))
    assert read.history["regions"] == model.history["regions"]
    assert read.parameters == model.parameters > fit(settings=TrainSettings(**SHAPE)).parameters
    read.save(tmp_path / "again.npz")
    assert (tmp_path / "m.npz").read_bytes() == (tmp_path / "again.npz").read_bytes()


def test_any_number_of_jobs_gives_the_same_bytes(tmp_path):
    trained().save(tmp_path / "1.npz")
    fit(jobs=3).save(tmp_path / "3.npz")
    assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "3.npz").read_bytes()


def test_compact_files(tmp_path):
    model = fit(settings=TrainSettings(**SHAPE, region_filters=6, compact=True))
    model.save(tmp_path / "m.npz")
    assert container.read(tmp_path / "m.npz").arrays["table"].dtype == np.int8
    assert_allclose(nlptx.Model.load(tmp_path / "m.npz").predict_proba(NEW), model.predict_proba(NEW), atol=0.01)


@pytest.mark.parametrize(
    ("labels", "settings"),
    [
        (in_three(), {}),
        ([[label] if number % 4 else [] for number, label in enumerate(in_three())], {}),
        (LABELS, {"class_weight": "balanced"}),
        (LABELS, {"loss": "squared-error"}),
        (LABELS, {"epochs": 0}),
        (LABELS, {"ngrams": 0}),
        (LABELS, {"valid_share": 0.0}),
        (LABELS, {"long_texts": "head", "attention_window": 6}),
    ],
    ids=["three", "multi-label", "balanced", "one output", "no network", "no n-grams", "none held out", "head"],
)
def test_works_with_other_settings(labels, settings, tmp_path):
    model = fit(labels, TrainSettings(**SHAPE | {"region_filters": 6} | settings))
    model.save(tmp_path / "m.npz")
    p = nlptx.Model.load(tmp_path / "m.npz").predict_proba(NEW)
    assert_array_equal(p, model.predict_proba(NEW))
    assert np.isfinite(p).all()


def test_without_held_out_texts_the_weights_depend_on_the_number_of_labelled_texts():
    few = fit(settings=TrainSettings(**SHAPE, region_filters=6, valid_share=0.0)).regions.weights
    k = len(TEXTS) / (len(TEXTS) + regions._HALF_WAY)
    assert_allclose(few, (1 - 0.38 * k, 0.38 * k), atol=1e-4)
    assert_allclose(regions._prior(10**9), (0.62, 0.38), atol=1e-4)


def test_without_unlabelled_texts_the_training_texts_are_counted():
    model = nlptx.fit(TEXTS, LABELS, small_embeddings(), SETTINGS, jobs=1)
    assert len(model.regions.classifier.ngrams)


def test_the_filters_see_the_word_vectors_before_training():
    found = trained().regions.classifier
    frozen = fit(settings=TrainSettings(**SHAPE, region_filters=6, freeze=True))
    assert frozen.vocabulary.words == trained().vocabulary.words
    before = frozen.table[found.ngrams.word_ids, : found.word_vectors.shape[1]]  # with freeze, training changes nothing
    assert_allclose(found.word_vectors, before / np.linalg.norm(before, axis=1, keepdims=True), atol=0.01)
    assert not np.allclose(trained().table, frozen.table)


def test_files_of_older_versions_have_no_word_vectors():
    artifact = trained().to_artifact()
    arrays = {name: array for name, array in artifact.arrays.items() if "word_vectors" not in name}
    components = trained().regions.classifier.table.shape[1]
    arrays["region_vector_weights"] = arrays["region_vector_weights"][:components]
    old = nlptx.Model.from_artifact(replace(artifact, arrays=arrays))
    classifier = trained().regions.classifier
    assert old.regions.classifier.word_vectors.shape == (classifier.ngrams.single, 0)
    zero = replace(classifier, word_vectors=np.zeros_like(classifier.word_vectors))
    encoded = [old.vocabulary.encode(text) for text in NEW]
    assert_allclose(old.regions.classifier.outputs(encoded), zero.outputs(encoded), atol=1e-6)


def test_damaged_word_vectors_are_refused():
    artifact = trained().to_artifact()
    artifact.arrays["region_word_vectors"] = artifact.arrays["region_word_vectors"][1:]
    with pytest.raises(CorruptError, match="region_word_vectors"):
        nlptx.Model.from_artifact(artifact)


def test_sample_weights_and_short_texts():
    texts, labels = ["good", "bad", "very good film", "very bad film"] * 6, ["pos", "neg"] * 12
    weights = [1.0, 2.0] * 12
    model = nlptx.fit(texts, labels, settings=SETTINGS, sample_weight=weights, jobs=1)
    assert model.regions is not None
    assert np.isfinite(model.predict_proba(["good", "bad film"])).all()


def test_explanations_are_about_the_complete_model():
    model = trained()
    text = NEW[0]
    seen = nlptx.explain(model, text, "pos", attention=False)
    words = [model.vocabulary.words[i] for i in model.vocabulary.encode(text)]
    without = [" ".join(words[:at] + words[at + 1 :]) for at in range(len(words))]
    effects = model.predict_proba([text])[0, 1] - model.predict_proba(without)[:, 1]
    no_regions = nlptx.explain(fit(settings=TrainSettings(**SHAPE)), text, "pos", attention=False)
    assert not np.allclose(seen.effects, no_regions.effects, atol=1e-3)
    # The values of ``explain`` are only similar to the changes in the predictions, because ``explain`` moves no words
    # between windows, and divides the weight of an n-gram between its occurrences.
    assert np.corrcoef(seen.effects, effects)[0, 1] > 0.9


def log_odds(model, texts):
    return np.diff(np.log(model.predict_proba(texts)), axis=1)[:, 0]


def started(start, texts, labels, **settings):
    return nlptx.fit(texts, labels, settings=TrainSettings(epochs=1, lr=0.0, **settings), start=start, jobs=1)


def test_models_that_start_from_the_model_keep_its_region_filters(monkeypatch):
    # These narrow priors keep the correction near 0, so the outputs stay the same, although there are new words.
    monkeypatch.setattr(correction, "_NGRAM_VARIANCE", 1e-12)
    monkeypatch.setattr(correction, "_CHARACTER_VARIANCE", 1e-12)
    monkeypatch.setattr(start, "OUTPUT_SCALE", 1e-6)
    monkeypatch.setattr(apply_correction, "_POOLED_SCALE", 1e-6)
    monkeypatch.setattr(correction, "_best_factor", lambda *_: np.float32(1))  # a correction of 0 would not be used
    new = [f"{text} brandnewword brandnewword" for text in TEXTS]
    # The labels are equally frequent, so that the correction does not change the bias.
    rows = [row for label in ("neg", "pos") for row in np.flatnonzero(np.array(LABELS) == label)[:20]]
    model = started(trained(), [new[row] for row in rows], [LABELS[row] for row in rows], calibrate=False)
    assert "brandnewword" in model.vocabulary.index
    assert model.regions.weights == (1.0, 1.0)
    before = log_odds(trained(), NEW)
    assert_allclose(log_odds(model, NEW) - before, np.mean(log_odds(model, NEW) - before), atol=0.02)


def test_the_region_filters_are_kept_with_other_labels(tmp_path):
    labels = ["good" if label == "pos" else "bad" if number % 4 < 2 else "poor" for number, label in enumerate(LABELS)]
    model = started(trained(), TEXTS, labels)
    assert model.regions is not None
    assert model.labels == ["bad", "good", "poor"]
    model.save(tmp_path / "m.npz")
    assert_array_equal(nlptx.Model.load(tmp_path / "m.npz").predict_proba(NEW), model.predict_proba(NEW))


def test_without_ngram_features_the_region_filters_are_left_out():
    start, notes = fit(settings=TrainSettings(**SHAPE | {"region_filters": 6, "ngrams": 0})), []
    settings = TrainSettings(epochs=1, ngrams=0)
    model = nlptx.fit(TEXTS, LABELS, settings=settings, start=start, jobs=1, on_note=notes.append)
    assert start.regions is not None
    assert model.regions is None
    assert any("region filters of the model are left out" in note for note in notes)


def test_region_filters_are_not_trained_when_starting_from_a_model():
    start = nlptx.fit(TEXTS, LABELS, small_embeddings(), TrainSettings(**SHAPE), jobs=1)
    notes = []
    settings = TrainSettings(epochs=1, region_filters=6)
    model = nlptx.fit(TEXTS, LABELS, settings=settings, start=start, jobs=1, on_note=notes.append)
    assert model.regions is None
    assert model.settings.region_filters == 0
    assert any("no region filters are trained" in note for note in notes)


def test_with_too_many_words_there_are_no_region_filters(monkeypatch):
    monkeypatch.setattr(regions, "MAX_VOCABULARY", 5)
    notes = []
    assert fit(on_note=notes.append).regions is None
    assert any("no region filters" in note and "the maximum of 5" in note for note in notes)


def test_if_there_are_many_texts_only_some_are_counted(monkeypatch):
    monkeypatch.setattr(regions, "_MAX_TOKENS", 100)
    monkeypatch.setattr(frequent_ngrams, "_MIN_WORD_COUNT", 1)
    assert len(fit().regions.classifier.ngrams) < len(trained().regions.classifier.ngrams)


def stop_after(count):
    calls = iter(range(10**9))
    return lambda: next(calls) >= count


def test_a_stopped_run_has_no_region_filters_and_can_be_resumed(tmp_path, monkeypatch):
    monkeypatch.setattr(learning, "_STEPS_PER_REPORT", 1)
    steps = trained().history["steps"]
    notes = []
    with Checkpoint(str(tmp_path / "m.npz"), 0, True, lambda note: None) as checkpoint:
        stopped = fit(checkpoint=checkpoint, stop=stop_after(steps + 20), on_note=notes.append)
    assert stopped.regions is None
    assert stopped.history["interrupted"]
    assert any("stopped before" in note for note in notes)
    with Checkpoint(str(tmp_path / "m.npz"), 0, True, lambda note: None) as checkpoint:
        resumed = fit(checkpoint=checkpoint)
    resumed.save(tmp_path / "resumed.npz")
    trained().save(tmp_path / "expected.npz")
    assert (tmp_path / "resumed.npz").read_bytes() == (tmp_path / "expected.npz").read_bytes()


@pytest.mark.parametrize(
    ("array", "value"),
    [
        ("region_ngrams", np.array([5, 3])),
        ("region_table", np.zeros((2, 2), np.int8)),
        ("region_table_exponents", np.zeros(2, np.int8)),
        ("region_bias", np.zeros((), np.float32)),
        ("region_word_weights", np.zeros((1, 1), np.int8)),
        ("region_output_weights", None),
    ],
)
def test_damaged_arrays_are_refused(array, value):
    artifact = trained().to_artifact()
    if value is None:
        del artifact.arrays[array]
    else:
        artifact.arrays[array] = value
    with pytest.raises(CorruptError):
        nlptx.Model.from_artifact(artifact)


@pytest.mark.parametrize("weights", [None, [1.0], [1.0, -1.0], [1.0, float("nan")], [1, 1], "ab", [1.0, 1e9]])
def test_damaged_weights_are_refused(weights):
    artifact = trained().to_artifact()
    artifact.details["region_fusion"] = weights
    with pytest.raises(CorruptError, match="region classifier"):
        RegionFusion.read(artifact, len(trained().vocabulary), 2)


@pytest.mark.parametrize("groups", [None, 0, 5, 2.0])
def test_a_damaged_number_of_groups_is_refused(groups):
    artifact = trained().to_artifact()
    artifact.details["region_groups"] = groups
    with pytest.raises(CorruptError, match="groups"):
        nlptx.Model.from_artifact(artifact)


@pytest.mark.parametrize(("array", "value"), [("region_table_exponents", 101), ("region_word_weights", -128)])
def test_block_floats_out_of_range_are_refused(array, value):
    artifact = trained().to_artifact()
    artifact.arrays[array] = np.full_like(artifact.arrays[array], value)
    with pytest.raises(CorruptError, match="out of range"):
        nlptx.Model.from_artifact(artifact)


def test_huge_weights_are_computed_in_float64():
    artifact = trained().to_artifact()
    artifact.arrays["region_word_weights_exponents"] = np.full_like(
        artifact.arrays["region_word_weights_exponents"], 100
    )
    model = nlptx.Model.from_artifact(artifact)
    assert model.overflow_safe().regions.classifier.table.dtype == np.float64
    assert trained().overflow_safe() is trained()
    assert_allclose(model.predict_proba(NEW), model.as_float64().predict_proba(NEW))


def test_ngrams_are_counted_in_all_texts_or_in_every_kth(monkeypatch):
    ids = RaggedArray.of([np.full(4, row, np.int32) for row in range(10)], np.int32)
    examples = Examples(ids, np.zeros(10, np.int64))
    assert [int(text[0]) for text in regions._sample(examples)] == list(range(10))
    monkeypatch.setattr(regions, "_MAX_TOKENS", 14)
    assert [int(text[0]) for text in regions._sample(examples)] == [0, 3, 6, 9]
