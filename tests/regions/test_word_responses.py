"""The part of the responses that depends on single words."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from nlptx.regions.region_ngrams import BAG
from nlptx.regions.word_responses import WordResponses

WORDS, FILTERS = 7, 4


def random(*shape, seed=0, dtype=np.float64):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("components", [0, 3])
def test_sums_are_those_of_word_weights_and_projected_vectors(components):
    weights, vectors = random(WORDS, FILTERS), random(WORDS, components, seed=1)
    matrix = random(BAG * components, FILTERS, seed=2)
    bags = np.random.default_rng(3).integers(WORDS + 3, size=(20, BAG)).astype(np.int32)
    expected = np.zeros((20, FILTERS))
    for row, bag in enumerate(bags):
        for place, word in enumerate(bag):
            if word < WORDS:
                expected[row] += weights[word] + vectors[word] @ matrix[place * components : (place + 1) * components]
    assert_allclose(WordResponses(weights, vectors, matrix).sums(bags), expected, atol=1e-12)


def test_no_bit_depends_on_the_words_that_were_computed_before_or_at_the_same_time():
    arguments = random(WORDS, 64, dtype=np.float32), random(WORDS, 16, dtype=np.float32, seed=1)
    arguments += (random(BAG * 16, 64, dtype=np.float32, seed=2),)
    bags = np.array([[0, 1, 2], [2, 3, 4], [6, 9, 6]], np.int32)
    together, one_by_one = WordResponses(*arguments), WordResponses(*arguments)
    assert_array_equal(together.sums(bags), np.concatenate([one_by_one.sums(bag[None]) for bag in bags[::-1]])[::-1])


def test_another_thread_may_have_computed_all_words_in_the_meantime():
    responses = WordResponses(random(WORDS, FILTERS), random(WORDS, 3), random(BAG * 3, FILTERS))
    responses._compute(np.empty(0, np.int64))
    assert not responses._is_computed[:WORDS].any()
