"""Row 1 of the table in tests/method/README.md: counting. More detailed tests are in tests/cooccurrence/."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from reviews import make_reviews

import nlptx
from nlptx.presets import PRESETS
from nlptx.settings import CountSettings


def brute_force(texts, window, weight, min_count):
    """Return the weighted co-occurrence counts, computed from all pairs of positions as exact fractions."""
    frequency = Counter(word for text in texts for word in text.split())
    table = Counter()
    for text in texts:
        words = [word for word in text.split() if frequency[word] >= min_count]
        for i, word in enumerate(words):
            for j, other in enumerate(words):
                if 1 <= abs(i - j) <= window:
                    table[word, other] += weight(abs(i - j))
    return {pair: float(total) for pair, total in table.items() if total}


def as_dict(counts):
    words, entries = counts.vocabulary.words, counts.matrix.tocoo()
    return {(words[a], words[b]): value for a, b, value in zip(entries.row, entries.col, entries.data, strict=True)}


def test_row_01_cooccurrence_as_taught_gives_the_matrix_of_the_article():
    text = "the cat sat on the mat"
    counts = nlptx.count([text], CountSettings(window=1, weighting="uniform", min_count=1), 1)
    the, cat, sat, on, mat = (counts.vocabulary.index[word] for word in ("the", "cat", "sat", "on", "mat"))
    expected = np.zeros((5, 5))
    for a, b in ((the, cat), (the, on), (the, mat), (cat, sat), (sat, on)):
        expected[a, b] = expected[b, a] = 1
    assert counts.matrix.toarray().tolist() == expected.tolist()


def test_row_01_cooccurrence_as_taught_with_linear_weights():
    texts, _ = make_reviews(300)
    counts = nlptx.count(texts, CountSettings(**PRESETS["goldstraw"]["cooccur"]), 1)
    assert as_dict(counts) == brute_force(texts, 4, lambda d: 1 - Fraction(d, 4), 50)


def test_row_01_cooccurrence_default():
    settings = CountSettings()
    assert (settings.window, settings.weighting) == (10, "harmonic")
    texts, _ = make_reviews(300)
    # The counts are exactly equal, because they are summed as integers, and divided only once, at the end.
    expected = brute_force(texts, 10, lambda d: Fraction(1, d), settings.min_count)
    assert as_dict(nlptx.count(texts, settings, 1)) == expected
    assert as_dict(nlptx.count(texts[::-1], settings, 1)) == expected


@pytest.mark.parametrize("minimum", [1, 5, 50])
def test_fault_min_count_off_by_one(minimum):
    texts = ["often"] * (minimum + 1) + ["enough"] * minimum + ["rare"] * (minimum - 1)
    counts = nlptx.count(texts, CountSettings(min_count=minimum), 1)
    assert dict(zip(counts.vocabulary.words, counts.vocabulary.counts.tolist(), strict=True)) == {
        "often": minimum + 1,
        "enough": minimum,
    }
