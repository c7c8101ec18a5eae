"""Word vectors for tests of groups and maps of words."""

import numpy as np

from nlptx.embeddings.embeddings import Embeddings
from nlptx.text.vocabulary import Vocabulary


def make_embeddings(vectors, words=None):
    """Return word vectors; unless ``words`` are given, the words consist of letters only."""
    vectors = np.asarray(vectors, np.float32)
    words = words or ["word" + "abcdefghij"[n // 10] + "abcdefghij"[n % 10] for n in range(len(vectors))]
    return Embeddings(vectors, Vocabulary(words, np.arange(len(words), 0, -1)))


def clustered_embeddings():
    """Return vectors of 60 words; word i is close to direction i modulo 5."""
    rng = np.random.default_rng(1)
    return make_embeddings(np.tile(10 * np.eye(5, 8), (12, 1)) + rng.normal(size=(60, 8)))
