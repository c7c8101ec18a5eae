"""The search for similar texts finds the same pairs as comparing all pairs of texts, for any number of workers."""

import random

import numpy as np
import pytest

from nlptx.data_quality.near_duplicates import similar_pairs
from nlptx.data_quality.words import find_words
from nlptx.runtime.workers import SERIAL, Workers


def found_in(texts, threshold, workers=SERIAL):
    words = find_words(texts, workers)
    pairs = similar_pairs(words, np.flatnonzero(words.lengths > 0), threshold, workers)
    both = zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)
    return dict(zip(both, pairs.similarity.tolist(), strict=True))


def by_comparing_all(texts, threshold):
    sets = [set(zip(["^", *text.split()], [*text.split(), "$"], strict=True)) for text in texts]
    values = {(a, b): len(sets[a] & sets[b]) / len(sets[a] | sets[b]) for b in range(len(sets)) for a in range(b)}
    return {pair: value for pair, value in values.items() if value >= threshold}


def variations(seed, count=150):
    """Texts of different lengths, and copies of them with one word changed."""
    rng = random.Random(seed)
    words = [f"w{number}" for number in range(60)]
    texts = [" ".join(rng.choices(words[: rng.choice([30, 60])], k=rng.randint(1, 15))) for _ in range(count)]
    for text in rng.sample(texts, count // 3):
        parts = text.split()
        parts[rng.randrange(len(parts))] = rng.choice(words)
        texts.append(" ".join(parts))
    return [*texts, texts[0]]


@pytest.mark.parametrize("threshold", [0.6, 0.7, 0.8, 1.0])
def test_exactly_the_similar_pairs_are_found(threshold):
    texts = variations(seed=1)
    expected = by_comparing_all(texts, threshold)
    assert expected
    assert found_in(texts, threshold) == expected


def test_the_number_of_workers_does_not_change_the_result(monkeypatch):
    texts = variations(seed=2)
    expected = found_in(texts, 0.6)
    monkeypatch.setattr("nlptx.data_quality.near_duplicates._WORDS", 50)  # many chunks
    with Workers(3) as workers:
        assert found_in(texts, 0.6, workers) == expected


def test_case_and_punctuation_do_not_matter_and_word_order_does():
    assert found_in(["A good phone!", "a good phone"], 1.0) == {(0, 1): 1.0}
    assert found_in(["dog bites man", "man bites dog"], 0.5) == {}


def test_texts_of_a_template_are_connected_without_comparing_all_of_them(monkeypatch):
    texts = [f"your order number {number} was sent by mail on monday and will arrive soon" for number in range(3000)]
    compared = []
    from nlptx.data_quality import near_duplicates

    jaccard = near_duplicates._jaccard
    monkeypatch.setattr(
        near_duplicates, "_jaccard", lambda words, a, b: compared.append(len(a)) or jaccard(words, a, b)
    )
    found = found_in(texts, 0.7)
    assert sum(compared) < 40 * len(texts)
    assert {row for pair in found for row in pair} == set(range(len(texts)))


def test_no_texts():
    assert found_in([], 0.8) == {}
    assert found_in(["!!!", ""], 0.8) == {}
