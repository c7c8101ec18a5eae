"""Tests of the region classifier: its equations, its gradients, scoring, and learning."""

import numpy as np
import pytest
from gradcheck import GradientError, check_gradients
from numpy.testing import assert_allclose, assert_array_equal

from nlptx.nn import BinaryCrossEntropy, CrossEntropy, SquaredError
from nlptx.regions import (
    RegionClassifier,
    RegionNgrams,
    frequent_ngrams,
    learning,
    leave_one_out,
    max_pooling,
    region_outputs_without_each,
)
from nlptx.regions import classifier as module
from nlptx.regions.learning import RegionTrainingTexts, fit_region_classifier
from nlptx.regions.region_ngrams import REACH
from nlptx.regions.region_vectors import regions_of
from nlptx.runtime.workers import Workers

WORDS, COMPONENTS, WORD_COMPONENTS, FILTERS = 9, 4, 2, 6


@pytest.fixture(autouse=True)
def few_occurrences(monkeypatch):
    monkeypatch.setattr(frequent_ngrams, "_MIN_COUNT", 2)


def some_texts(count=20, longest=14, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, WORDS, rng.integers(1, longest + 1)).astype(np.int32) for _ in range(count)]


def a_classifier(outputs=3, dtype=np.float64, groups=1):
    rng = np.random.default_rng(1)
    ngrams, _ = RegionNgrams.count(some_texts(), WORDS, WORDS, 1000)
    shapes = (
        (len(ngrams), COMPONENTS),
        (ngrams.single, WORD_COMPONENTS),
        (ngrams.single, FILTERS),
        (COMPONENTS + 3 * WORD_COMPONENTS, FILTERS),
        (FILTERS,),
        (FILTERS, outputs),
        (outputs,),
    )
    return RegionClassifier(ngrams, *(rng.standard_normal(shape).astype(dtype) for shape in shapes), groups)


def test_the_first_of_several_strongest_regions_wins():
    rng = np.random.default_rng(3)
    lengths = rng.integers(1, 9, 30)
    # Responses have only four possible values, so that many of them are equal.
    t = rng.integers(0, 4, (lengths.sum(), 7)).astype(np.float32)
    maxima, rows = max_pooling.strongest(t, lengths)
    start = 0
    for text, length in enumerate(lengths):
        for column in range(7):
            responses = t[start : start + length, column].tolist()
            assert maxima[text, column] == max(responses)
            assert rows[text, column] == start + responses.index(max(responses))
        start += length


def plain_outputs(classifier, ids):
    """Return the outputs for one text according to the equations of the module, computed one position at a time."""
    found = classifier.ngrams.find(ids, np.array([len(ids)]))
    h = np.full(FILTERS, -np.inf)
    for position in range(len(ids)):
        bag = found[position : position + 3, 0]
        last = min(position + 3, len(ids))
        region = [found[end, n] for n in range(3) for end in range(max(position - 2 + n, 0), last)]
        v = sum(classifier.table[number] for number in region if number < len(classifier.table))
        v = np.concatenate([v / np.sqrt(v @ v + 1e-6), np.zeros(3 * WORD_COMPONENTS)])
        for place, word in enumerate(bag):
            if word < len(classifier.word_vectors):
                v[COMPONENTS + place * WORD_COMPONENTS :][:WORD_COMPONENTS] = classifier.word_vectors[word]
        of_words = sum(classifier.word_weights[word] for word in bag if word < len(classifier.word_weights))
        h = np.maximum(h, of_words + v @ classifier.vector_weights)
    h = np.maximum(h + classifier.bias, 0)
    return h / np.sqrt(1 + h @ h) @ classifier.output_weights + classifier.output_bias


def test_forward_and_outputs_are_those_of_the_equations():
    classifier, texts = a_classifier(), some_texts(seed=2)
    expected = [plain_outputs(classifier, ids) for ids in texts]
    assert_allclose(
        classifier.forward(regions_of(classifier.ngrams, classifier.table, texts)).outputs, expected, atol=1e-12
    )
    assert_allclose(classifier.outputs(texts), expected, atol=1e-12)


@pytest.mark.parametrize(("chunk", "together"), [(1, 1), (1, 9), (5, 5), (5, 9), (5, 4096), (4096, 5)])
def test_no_bit_of_the_outputs_depends_on_other_texts(monkeypatch, chunk, together):
    monkeypatch.setattr(module, "_CHUNK", chunk)
    monkeypatch.setattr(module, "_TOGETHER", together)
    classifier, texts = a_classifier(dtype=np.float32), some_texts(seed=2)
    together = classifier.outputs(texts)
    assert_array_equal(together, np.concatenate([classifier.outputs([ids]) for ids in texts]))
    assert together.dtype == np.float32


def test_only_texts_that_are_not_cut_are_processed_together(monkeypatch):
    monkeypatch.setattr(module, "_CHUNK", 5)
    monkeypatch.setattr(module, "_TOGETHER", 30)
    calls, responses = [], RegionClassifier.responses
    monkeypatch.setattr(
        RegionClassifier,
        "responses",
        lambda self, ngram_indices, lengths: calls.append(lengths.tolist()) or responses(self, ngram_indices, lengths),
    )
    a_classifier().outputs(some_texts(longest=9))
    groups = [lengths for lengths in calls if len(lengths) > 1]
    assert groups
    assert all(sum(lengths) <= 30 and max(lengths) <= 5 for lengths in groups)
    assert max(map(max, calls)) == 5 + REACH  # 5 words of a text, and the REACH words after them


@pytest.mark.parametrize("loss", [CrossEntropy(3), BinaryCrossEntropy(3), SquaredError(2)])
@pytest.mark.parametrize(("dropout", "groups"), [(0.0, 1), (0.5, 1), (0.5, 2)])
def test_gradients(loss, dropout, groups):
    classifier, texts = a_classifier(loss.outputs, groups=groups), some_texts(6, seed=3)
    rng = np.random.default_rng(4)
    targets = rng.random((6, 3)) < 0.5 if loss.independent else rng.integers(0, loss.classes, 6)

    def forward():
        return classifier.forward(
            regions_of(classifier.ngrams, classifier.table, texts), dropout, np.random.default_rng(5)
        )

    def total():
        return float(loss.value_and_gradient(forward().outputs, targets)[0].sum())

    found = forward()
    gradients, of_words = classifier.backward(loss.value_and_gradient(found.outputs, targets)[1], found)
    dense = np.zeros(classifier.word_weights.size)
    np.add.at(dense, of_words.indices, of_words.values)
    gradients["word_weights"] = dense.reshape(classifier.word_weights.shape)
    assert set(gradients) == {"word_weights", "vector_weights", "bias", "output_weights", "output_bias"}
    check_gradients(total, {name: (getattr(classifier, name), value) for name, value in gradients.items()})
    gradients["word_weights"][:] *= 1.01
    with pytest.raises(GradientError):
        check_gradients(total, {"word_weights": (classifier.word_weights, gradients["word_weights"])})


def test_of_equal_regions_the_first_one_wins():
    classifier = a_classifier()
    ids = np.array([3, 3, 3, 3, 3, 3, 3, 3, 3], np.int32)  # the inner regions are equal
    winners = classifier.forward(regions_of(classifier.ngrams, classifier.table, [ids])).winners
    assert winners.max() <= 8
    assert not np.isin(winners, [3, 4]).any()  # they equal the region at position 2, which comes first


@pytest.mark.parametrize("words_at_a_time", [3, 256])
def test_outputs_without_each_word_are_those_of_the_shorter_texts(monkeypatch, words_at_a_time):
    monkeypatch.setattr(leave_one_out, "_WORDS_AT_A_TIME", words_at_a_time)
    classifier = a_classifier()
    for ids in some_texts(30, seed=6):
        if len(ids) > 1:
            expected = classifier.outputs([np.delete(ids, word) for word in range(len(ids))])
            assert_allclose(region_outputs_without_each(classifier, ids), expected, atol=1e-12)


def order_task(count, seed):
    """Return texts of two classes: word 0 directly precedes word 1 in class 1, and directly follows it in class 0."""
    rng = np.random.default_rng(seed)
    texts, targets = [], rng.integers(0, 2, count)
    for target in targets:
        ids = rng.integers(2, WORDS, 12)
        at = rng.integers(0, 11)
        ids[at : at + 2] = (0, 1) if target else (1, 0)
        texts.append(ids.astype(np.int32))
    return texts, targets


def learned(texts, targets, weights=None, should_continue=lambda fraction: True, groups=1, jobs=1, components=(16, 0)):
    ngrams, _ = RegionNgrams.count(texts, WORDS, WORDS, 1000)
    rng = np.random.default_rng(0)
    table = rng.standard_normal((len(ngrams), components[0]), np.float32)
    word_vectors = rng.standard_normal((ngrams.single, components[1]), np.float32)
    rngs = [np.random.default_rng(group) for group in range(groups)]
    data = RegionTrainingTexts(texts, targets, weights)
    with Workers(jobs, processes=jobs == 2) as workers:
        return fit_region_classifier(
            data, CrossEntropy(2), ngrams, table, word_vectors, 16, rngs, workers, should_continue
        )


@pytest.mark.parametrize(
    ("components", "learns"),
    [pytest.param((16, 0), True, id="n-grams"), pytest.param((0, 8), True, id="words"), ((0, 0), False)],
)
def test_vectors_of_ngrams_or_of_words_show_the_order_of_the_words(monkeypatch, components, learns):
    monkeypatch.setattr(learning, "_WORD_DROPOUT", 0.0)
    classifier = learned(*order_task(1500, 0), components=components)
    texts, targets = order_task(300, 1)
    assert ((classifier.outputs(texts).argmax(axis=1) == targets).mean() > 0.9) == learns


@pytest.mark.parametrize(("filters", "regions"), [(8, 128), (64, 128), (256, 512)])
def test_of_a_long_text_only_some_regions_are_used_at_a_time(filters, regions):
    numbers = np.array([1, regions, 20_000, 7])
    kept = np.split(learning._sample_regions(numbers, filters, np.random.default_rng(0)), np.cumsum(numbers)[:-1])
    assert [part.all() for part in kept] == [True, True, False, True]
    assert 0.7 * regions < kept[2].sum() < 1.3 * regions


def test_a_text_of_weight_0_teaches_nothing():
    texts, targets = order_task(40, 0)
    weights = np.zeros(40, np.float32)
    classifier = learned(texts, targets, weights)
    assert not classifier.word_weights.any()
    assert not classifier.output_bias.any()


def test_training_can_be_stopped(monkeypatch):
    monkeypatch.setattr(learning, "_STEPS_PER_REPORT", 1)
    fractions = []

    def should_continue(fraction):
        fractions.append(fraction)
        return fraction < 0.5

    assert learned(*order_task(40, 0), should_continue=should_continue) is None
    assert fractions[0] == 0
    assert fractions == sorted(fractions)


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_the_outputs_are_the_mean_over_groups_whatever_the_number_of_workers(jobs):
    texts, targets = order_task(60, 0)
    both = learned(texts, targets, groups=2, jobs=jobs)
    assert both.groups == 2
    first = learned(texts, targets)
    assert_array_equal(both.word_weights[:, :16], first.word_weights)
    assert_array_equal(both.bias[:16], first.bias)
    halves = [
        RegionClassifier(
            both.ngrams,
            both.table,
            both.word_vectors,
            both.word_weights[:, half],
            both.vector_weights[:, half],
            both.bias[half],
            2 * both.output_weights[half],
            both.output_bias,
        )
        for half in (slice(0, 16), slice(16, 32))
    ]
    assert_allclose(both.outputs(texts), np.mean([half.outputs(texts) for half in halves], axis=0), atol=1e-6)
    assert not np.allclose(*(half.outputs(texts) for half in halves), atol=1e-3)


def test_words_that_are_left_out_of_the_bags_are_not_trained(monkeypatch):
    monkeypatch.setattr(learning, "_WORD_DROPOUT", 1.0)
    classifier = learned(*order_task(20, 0))
    assert not classifier.word_weights.any()
    assert classifier.vector_weights.any()
    assert np.isfinite(classifier.output_weights).all()


def test_training_without_known_ngrams():
    texts = [np.array([word], np.int32) for word in range(WORDS)]  # no word occurs twice
    classifier = learned(texts, np.arange(WORDS) % 2)
    assert not len(classifier.ngrams)
    assert np.isfinite(classifier.outputs(texts)).all()
