"""The index of known n-grams returns the same results as a dictionary of their keys."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from nlptx.ngrams.ngram_index import NgramIndex
from nlptx.ngrams.ngram_keys import ngram_keys

WORDS, ORDER = 6, 3
TEXTS = st.lists(st.lists(st.integers(0, WORDS - 1), min_size=1, max_size=9), min_size=1, max_size=5)


@given(TEXTS, st.sampled_from(range(1, ORDER + 1)), st.data())
def test_known_ngrams_have_their_index_and_others_the_number_of_known_ngrams(texts, order, data):
    lengths = np.array([len(ids) for ids in texts])
    keys = ngram_keys(np.concatenate(texts), order, WORDS, lengths)
    known = sorted(data.draw(st.sets(st.sampled_from(sorted({*keys.ravel().tolist()} - {-1})))))
    place = {key: number for number, key in enumerate(known)}
    index = NgramIndex(np.array(known, np.int64), order, WORDS)
    assert index.single == sum(key <= WORDS for key in known)
    expected = [[place.get(key, len(known)) for key in row] for row in keys.tolist()]
    assert_array_equal(index.find(np.concatenate(texts), lengths), expected)
