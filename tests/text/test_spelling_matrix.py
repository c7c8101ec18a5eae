"""The matrix of words and character n-grams."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlptx.text.character_ngrams import character_ngrams
from nlptx.text.negation import is_marked, without_mark
from nlptx.text.spelling_matrix import spelling_matrix

WORDS = st.text(st.characters(codec="utf-8", exclude_characters=" "), min_size=1, max_size=12)


def common(words):
    """Return the number of common n-grams of each pair of words, and the number of distinct n-grams."""
    sets = [{(is_marked(word), ngram) for ngram in character_ngrams(without_mark(word))} for word in words]
    return [[len(a & b) for b in sets] for a in sets], len(set().union(*sets))


@given(
    st.lists(
        WORDS | st.sampled_from(["aaaaaaaa", "¬aaaa", "aaaa", "good", "¬good", "goods", "🙂🙂🙂🙂", "\ud800x"]),
        max_size=8,
    )
)
def test_the_columns_are_the_character_ngrams(words):
    matrix = spelling_matrix(words)
    expected, ngrams = common(words)
    assert matrix.shape == (len(words), ngrams)
    assert (matrix @ matrix.T).toarray().tolist() == expected


@pytest.mark.parametrize("words", [[], ["a"], ["¬"], [""]])
def test_few_or_short_words(words):
    matrix = spelling_matrix(words)
    assert matrix.dtype == np.float32
    assert matrix.sum() == sum(len(character_ngrams(without_mark(word))) for word in words)
