"""The vectors of n-grams, and the weights of context words, are compared with those that plain loops compute."""

import os
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from nlptx.regions import RegionNgrams, contexts, frequent_ngrams
from nlptx.regions import ngram_vectors as module
from nlptx.regions.contexts import context_weights
from nlptx.regions.ngram_vectors import fit_vectors
from nlptx.runtime.workers import Workers

WORDS = 30


@pytest.fixture(autouse=True)
def small_limits(monkeypatch):
    monkeypatch.setattr(frequent_ngrams, "_MIN_COUNT", 2)
    monkeypatch.setattr(contexts, "_TOO_FREQUENT", 2)
    monkeypatch.setattr(contexts, "_MIN_COUNT", 3)
    monkeypatch.setattr(module, "_WORDS_SUMMED_AT_A_TIME", 64)
    monkeypatch.setattr(module, "_WORDS_COUNTED_AT_A_TIME", 100)
    monkeypatch.setattr(module, "_WORDS_PER_TASK", 300)


def some_texts(count=60, seed=0):
    rng = np.random.default_rng(seed)
    return [(WORDS * rng.random(rng.integers(1, 40)) ** 1.5).astype(np.int32) for _ in range(count)]


def near(ids, first, last):
    """Return the context words of the n-gram from position ``first`` to position ``last``."""
    before = ids[max(first - module.FAR, 0) : max(first - module.NEAR + 1, 0)]
    return np.concatenate([before, ids[last + module.NEAR : last + module.FAR + 1]])


def test_vectors_are_those_of_the_equations():
    texts = some_texts()
    ngrams, counts = RegionNgrams.count(texts, WORDS, WORDS, 1000)
    rng = np.random.default_rng(1)
    weights = np.where(rng.random(WORDS) < 0.7, rng.random(WORDS), 0)
    table = fit_vectors(texts, ngrams, counts, weights, 256, np.random.default_rng(2), Workers(1))
    near_each, lengths = np.zeros((len(ngrams), WORDS)), np.array([len(ids) for ids in texts])
    found = ngrams.find(np.concatenate(texts), lengths)
    row = 0
    for ids in texts:
        for end in range(len(ids)):
            for n in range(3):
                if found[row, n] < len(ngrams):
                    near_each[found[row, n]] += np.bincount(near(ids, end - n, end), minlength=WORDS)
            row += 1
    numbers = near_each.sum(axis=1, keepdims=True)
    of_words = near_each[: ngrams.single]
    mean = of_words.sum(axis=0) / of_words.sum()
    x = (near_each / np.maximum(numbers, 1) - mean) * weights
    values, vectors = np.linalg.eigh(x[: ngrams.single].T @ (numbers[: ngrams.single] * x[: ngrams.single]))
    kept = values > 1e-6 * values[-1]
    expected = numbers / (numbers + module._SHRINKAGE) * (x @ vectors[:, kept]) / values[kept] ** 0.25
    expected /= np.sqrt(np.mean((expected[: ngrams.single] ** 2).sum(axis=1)))
    # The signs of the components, and rotations among equal eigenvalues, are arbitrary.
    assert_allclose(table @ table.T, expected @ expected.T, atol=2e-3)


def test_components_of_a_large_corpus_come_from_some_of_the_texts(monkeypatch):
    pairs = [text for text in some_texts() for _ in range(2)]  # every second text is a copy of the one before
    ngrams, counts = RegionNgrams.count(pairs, WORDS, WORDS, 1000)

    def vectors(texts):
        return fit_vectors(texts, ngrams, counts, np.linspace(0, 1, WORDS), 256, np.random.default_rng(2), Workers(1))

    from_all = vectors(pairs)
    monkeypatch.setattr(module, "_MANY_WORDS", int(counts.sum()) - 1)
    monkeypatch.setattr(module, "_STEP", 2)
    assert_allclose(vectors(pairs) @ vectors(pairs).T, from_all @ from_all.T, atol=2e-3)
    mixed = [text for number in range(60) for text in (pairs[2 * number], pairs[(2 * number + 30) % 120])]
    assert_allclose(vectors(mixed) @ vectors(mixed).T, from_all @ from_all.T, atol=2e-3)
    monkeypatch.setattr(module, "_STEP", 7)
    assert abs(vectors(pairs) @ vectors(pairs).T - from_all @ from_all.T).max() > 0.01


def test_the_kind_and_number_of_workers_change_no_bit():
    texts = some_texts()
    ngrams, counts = RegionNgrams.count(texts, WORDS, WORDS, 1000)
    weights = np.linspace(0, 1, WORDS)

    def vectors(jobs, processes=False):
        reports = []
        with Workers(jobs, processes=processes) as workers:
            table = fit_vectors(texts, ngrams, counts, weights, 256, np.random.default_rng(2), workers, reports.append)
        assert reports == sorted(reports)
        assert reports[-1] == 1
        return table

    at_once = vectors(1)
    assert_array_equal(vectors(3), at_once)
    forks = []
    os.register_at_fork(before=lambda: forks.append(1))
    assert_array_equal(vectors(2, processes=True), at_once)
    assert len(forks) == (2 if sys.platform == "linux" else 0)


def test_without_context_words_the_vectors_are_zero():
    texts = some_texts()
    ngrams, counts = RegionNgrams.count(texts, WORDS, WORDS, 1000)
    table = fit_vectors(texts, ngrams, counts, np.zeros(WORDS), 256, np.random.default_rng(0), Workers(1))
    assert not table.any()
    assert table.shape == (len(ngrams), 1)


def reference_weights(counts, texts, targets, weights):
    """Return the weights of the context words according to the equations, in plain loops."""
    order = np.argsort(-counts, kind="stable")[2:]
    result = np.zeros(len(counts))
    of_each = np.ones(len(texts)) if weights is None else weights
    for word in order[counts[order] >= 3]:
        has = np.array([word in ids for ids in texts])
        squares = []
        for column in range(targets.shape[1]):
            own = targets[:, column]
            a, b = of_each[has & own].sum() + 1, of_each[has & ~own].sum() + 1
            r = np.log(a / (of_each[own].sum() + 2)) - np.log(b / (of_each[~own].sum() + 2))
            squares.append(max(abs(r) - np.sqrt(1 / a + 1 / b), 0) ** 2)
        result[word] = np.sqrt(np.mean(squares)) * (counts[word] / counts.sum()) ** -0.25
    return result


@pytest.mark.parametrize("weights", [None, "some"])
@pytest.mark.parametrize("multi_label", [False, True])
def test_context_weights(monkeypatch, weights, multi_label):
    monkeypatch.setattr(contexts, "_WORDS_PER_GROUP", 50)
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 3, 80)
    texts = [np.append(ids[:5], 10 + kind * 3) for ids, kind in zip(some_texts(80), classes, strict=True)]
    targets = rng.random((80, 3)) < 0.2 if multi_label else np.eye(3, dtype=bool)[classes]
    targets[np.arange(80), classes] = True
    of_texts = rng.integers(1, 4, 80).astype(np.float64) if weights else None
    counts = np.bincount(np.concatenate(texts), minlength=WORDS)
    found = context_weights(counts, texts, targets if multi_label else classes, 3, of_texts)
    expected = reference_weights(counts, texts, targets, of_texts)
    assert_allclose(found, expected, atol=1e-12)
    assert (found > 0).sum() >= 2


def test_if_no_word_differs_all_frequent_words_count():
    texts = [np.arange(10)] * 8
    counts = np.full(WORDS, 8)
    found = context_weights(counts, texts, np.arange(8) % 2, 2)
    assert_array_equal(found > 0, np.arange(WORDS) >= 2)
