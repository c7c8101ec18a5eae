"""Adds words of the training texts, and of a lexicon, to the vocabulary of the word vectors."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from nlptx.embeddings.embeddings import Embeddings
from nlptx.ngrams.lexicon import lexicon_words
from nlptx.settings import AUTOMATIC, TrainSettings
from nlptx.text.vocabulary import Vocabulary, as_text, rank_words
from nlptx.training.automatic import FEW_WORDS, is_from_large_corpus

# Automatic value of ``new_word_min_count``. If the training texts have few words, and the word vectors were made from
# few words, the automatic value is 1 instead, because adding rare words then lowers the log-loss. If the vectors come
# from a large corpus, adding rare words does not help, because most useful words have vectors already.
_MIN_COUNT = 2


def extend_vocabulary(
    embeddings: Embeddings, counts: dict[bytes, int], settings: TrainSettings, lexicon: Mapping[str, float]
) -> tuple[Vocabulary, NDArray[np.float32]]:
    """Rescale all vectors, and add a zero vector for each frequent word or lexicon word that has no vector.

    All vectors are multiplied by the same number, so that the root mean square of their entries is 1, while the angles
    between the vectors stay the same. As a result, one learning rate and one initialisation suit embeddings of any
    scale. The counts of known words stay the same too, unless they are all 0, as for vectors from a text file.

    Args:
        embeddings: known words and their vectors.
        counts: number of occurrences of each word in the training texts.
        settings: training settings; they determine whether new words are added and how frequent they must be.
        lexicon: word or phrase -> value.
    """
    known = embeddings.vocabulary
    start = embeddings.unweighted()
    square = np.square(start, dtype=np.float64)
    vectors = start / (np.sqrt(square.sum() / max(square.size, 1)) or 1)
    count_of = {as_text(word): count for word, count in counts.items()}
    unknown = {word: count for word, count in count_of.items() if word not in known.index}
    min_count = minimum_count(settings, known, counts)
    new = rank_words(unknown, min_count, len(unknown)) if min_count else []
    added = set(new)
    new += [word for word in lexicon_words(lexicon, known, settings.ngrams) if word not in added]
    words = [*known.words, *new]
    totals = np.array([count_of.get(word, 0) for word in words], np.int64)
    if known.counts.any():  # otherwise, the vectors come from a file without counts
        totals[: len(known)] = known.counts
    vectors = np.concatenate([vectors, np.zeros((len(new), vectors.shape[1]))]).astype(np.float32)
    return Vocabulary(words, totals, known.tokenizer), vectors


def minimum_count(settings: TrainSettings, known: Vocabulary, counts: dict[bytes, int]) -> int:
    """Return how many occurrences in the training texts a new word needs to be added to the vocabulary; 0 to add none.

    Args:
        settings: training settings.
        known: vocabulary of the word vectors.
        counts: number of occurrences of each word in the training texts.
    """
    if settings.freeze and not settings.ngrams:  # the zero vector of a new word would stay 0, and nothing else uses it
        return 0
    if settings.new_word_min_count != AUTOMATIC:
        return settings.new_word_min_count
    few = sum(counts.values()) <= FEW_WORDS and not is_from_large_corpus(known)
    return 1 if few else _MIN_COUNT
