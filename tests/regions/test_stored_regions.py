"""Tests of the stored regions: they equal the regions computed from the texts, whether they fit in memory or not."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from nlptx.regions import RegionClassifier, RegionNgrams, stored_regions
from nlptx.regions.region_vectors import regions_of
from nlptx.regions.stored_regions import StoredRegions
from nlptx.runtime.workers import SERIAL, Workers

WORDS, COMPONENTS = 9, 4


def some_texts(count=20):
    rng = np.random.default_rng(0)
    return [rng.integers(0, WORDS, rng.integers(1, 15)).astype(np.int32) for _ in range(count)]


def a_classifier():
    rng = np.random.default_rng(1)
    ngrams, _ = RegionNgrams.count(some_texts(), WORDS, WORDS, 1000)
    shapes = (len(ngrams), COMPONENTS), (ngrams.single, 1), (ngrams.single, 2), (COMPONENTS + 3, 2), (2,), (2, 2), (2,)
    return RegionClassifier(ngrams, *(rng.standard_normal(shape, np.float32) for shape in shapes))


def assert_same(regions, expected):
    assert_array_equal(regions.bags, expected.bags)
    assert_array_equal(regions.ngram_vectors, expected.ngram_vectors.astype(np.float16).astype(np.float32))
    assert_array_equal(regions.counts, expected.counts)
    assert regions.ngram_vectors.dtype == np.float32


# One region takes 20 bytes: three int32 indices and four float16 numbers.
@pytest.mark.parametrize("max_bytes", [0, 20 * 30, 1 << 20])
@pytest.mark.parametrize("jobs", [1, 2])
def test_stored_regions_equal_those_computed_from_the_texts(monkeypatch, max_bytes, jobs):
    monkeypatch.setattr(stored_regions, "MAX_BYTES", max_bytes)
    monkeypatch.setattr(stored_regions, "_WORDS_PER_GROUP", 8)
    classifier, texts = a_classifier(), some_texts()
    with Workers(jobs, processes=jobs == 2) as workers:
        stored = StoredRegions(classifier.ngrams, classifier.table, texts, workers)
    assert len(stored._bags) == {0: 0, 600: sum(map(len, texts[:3])), 1 << 20: sum(map(len, texts))}[max_bytes]
    chosen = np.array([0, 2, 5, 19])
    every = np.ones(stored.lengths[chosen].sum(), bool)
    expected = regions_of(classifier.ngrams, classifier.table, [texts[text] for text in chosen])
    assert_same(stored.take(chosen, every), expected)
    kept = np.random.default_rng(2).random(len(every)) < 0.5
    kept[np.cumsum(stored.lengths[chosen]) - 1] = True
    numbers = [part.sum() for part in np.split(kept, np.cumsum(stored.lengths[chosen])[:-1])]
    assert_same(
        stored.take(chosen, kept),
        expected._replace(bags=expected.bags[kept], ngram_vectors=expected.ngram_vectors[kept], counts=numbers),
    )


def test_the_caller_may_change_the_regions_it_has_taken():
    classifier = a_classifier()
    stored = StoredRegions(classifier.ngrams, classifier.table, some_texts(), SERIAL)
    every = np.ones(stored.lengths[3], bool)
    stored.take(np.array([3]), every).bags[:] = -1
    assert (stored.take(np.array([3]), every).bags >= 0).all()
