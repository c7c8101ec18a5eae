"""The vectors of rare words are moved towards the vectors of words with a similar spelling."""

import numpy as np
import pytest

from nlptx import count, fit_pca
from nlptx.pca.rare_words import improve_rare_words
from nlptx.runtime.workers import Workers
from nlptx.settings import CountSettings, PcaSettings
from nlptx.text.character_ngrams import character_ngrams
from nlptx.text.negation import is_marked, without_mark

WORDS = ["good", "goods", "goodness", "bad", "badly", "¬good", "¬goods", "ox", "🙂", "unrelated"]
COUNTS = np.array([90, 3, 1, 40, 2, 7, 1, 5, 4, 6])


def improved(vectors, words=WORDS, counts=COUNTS, weight=10.0, jobs=1):
    with Workers(jobs) as workers:
        return improve_rare_words(vectors, words, counts, weight, workers)


def unit(vector):
    return vector / np.linalg.norm(vector)


def spelling(word):
    return {(is_marked(word), ngram) for ngram in character_ngrams(without_mark(word))}


def by_definition(vectors, words, counts, weight):
    """Return the result for each word, computed with the formulas in the module's docstring."""
    reliability, result = counts / (counts + weight), vectors.copy()
    for w, word in enumerate(words):
        estimate = np.zeros(vectors.shape[1])
        for ngram in spelling(word):
            others = [j for j in range(len(words)) if j != w and ngram in spelling(words[j])]
            if others:
                terms = [reliability[j] * unit(vectors[j]) for j in others]
                estimate += sum(terms) / reliability[others].sum()
        if estimate.any():
            direction = reliability[w] * unit(vectors[w]) + (1 - reliability[w]) * unit(estimate)
            result[w] = np.linalg.norm(vectors[w]) * unit(direction)
    return result


@pytest.fixture
def vectors():
    return np.random.default_rng(0).normal(size=(len(WORDS), 20))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weight", [0.5, 10.0, 1e3, 1e6])
def test_the_vectors_follow_from_the_definition(vectors, weight, dtype):
    result = improved(vectors.astype(dtype), weight=weight)
    assert np.allclose(result, by_definition(vectors, WORDS, COUNTS, weight), atol=1e-5)


def test_words_without_common_ngrams_keep_their_vectors(vectors):
    result = improved(vectors)
    unchanged = [word for word, old, new in zip(WORDS, vectors, result, strict=True) if np.allclose(old, new)]
    assert unchanged == ["ox", "🙂", "unrelated"]


def test_norms_do_not_change(vectors):
    assert np.allclose(np.linalg.norm(improved(vectors), axis=1), np.linalg.norm(vectors, axis=1))


@pytest.mark.parametrize("words", [["good", "goods", "goodness"], ["¬good", "¬goods"]])
def test_negated_words_affect_only_each_other(vectors, words):
    others = vectors.copy()
    others[[WORDS.index(word) for word in words[:2]]] *= -1
    changed = np.abs(improved(vectors) - improved(others)).max(axis=1) > 1e-9
    assert [word for word, flag in zip(WORDS, changed, strict=True) if flag] == words


def test_rare_words_change_more_than_frequent_ones(vectors):
    cosines = [unit(old) @ unit(new) for old, new in zip(vectors, improved(vectors), strict=True)]
    assert cosines[WORDS.index("goodness")] < cosines[WORDS.index("goods")] < cosines[WORDS.index("good")]
    assert cosines[WORDS.index("good")] > 0.99


def test_a_zero_vector_stays_zero_and_does_not_affect_others(vectors):
    vectors[WORDS.index("good")] = 0
    result = improved(vectors)
    assert not result[WORDS.index("good")].any()
    rest = [index for index, word in enumerate(WORDS) if word != "good"]
    alone = improved(vectors[rest], [WORDS[index] for index in rest], COUNTS[rest])
    assert np.allclose(result[rest], alone)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_dtype_is_kept_and_threads_do_not_change_the_bytes(vectors, dtype):
    one, two = (improved(vectors.astype(dtype), jobs=jobs) for jobs in (1, 2))
    assert one.dtype == dtype
    assert one.tobytes() == two.tobytes()


def test_the_weight_is_a_setting_of_pca():
    texts = ["a good film", "a good plot", "a dull film", "a dully lit plot", "goodly film"] * 3
    counts = count(texts, CountSettings(min_count=1))
    plain = fit_pca(counts, PcaSettings(components=4, spelling_weight=0))
    default = fit_pca(counts, PcaSettings(components=4))
    words = counts.vocabulary
    expected = improved(plain.vectors.astype(float), words.words, words.counts)
    assert np.allclose(default.vectors, expected, atol=1e-5)
    assert not np.allclose(default.vectors, plain.vectors, atol=1e-2)
