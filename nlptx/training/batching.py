"""Divides training texts into random batches, and each batch into microbatches that take about equal time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nlptx.ngrams import TextFeatures
from nlptx.settings import TrainSettings

# Number of gradient accumulators; see :mod:`nlptx.training.gradients`. The number of microbatches of a large batch is a
# multiple of ACCUMULATORS, unless the batch has fewer texts than this multiple: then each text is a microbatch.
ACCUMULATORS = 4
# Approximate number of tokens in a microbatch: large enough for efficient matrix products, but small enough for the
# processor caches.
_MICROBATCH_TOKENS = 1024
# A batch with fewer tokens than this number is not cut, because a second core would not save time.
_MIN_TOKENS_TO_CUT = 128


@dataclass(frozen=True)
class Microbatch:
    """Some of the texts of a batch, sorted by length, shortest first.

    Args:
        ids: (N,) int32 word ids of the texts, concatenated.
        lengths: (B,) number of tokens in each text.
        targets: (B,) class of each text, (B, C) bool for multi-label texts, or (B, C) soft labels.
        token_features: (N, order * E) n-gram features of each token, or None; a linear model has E outputs.
        text_features: (B, M * E) outputs of the M linear models for each text, or None.
        weights: (B,) weights of the texts, with a mean of 1 over all training texts, or None.
    """

    ids: NDArray[np.int32]
    lengths: NDArray[np.int64]
    targets: NDArray
    token_features: NDArray[np.float32] | None = None
    text_features: NDArray[np.float32] | None = None
    weights: NDArray[np.float32] | None = None


def shuffled_batches(count: int, batch: int, rng: np.random.Generator, skip: int = 0) -> Iterator[NDArray[np.int64]]:
    """Shuffle ``count`` examples, and yield the indices of each batch, except the first ``skip`` batches."""
    order = rng.permutation(count)
    for start in range(skip * batch, count, batch):
        yield order[start : start + batch]


def augment(
    texts: list[NDArray[np.int32]],
    ngram_features: list[TextFeatures] | None,
    settings: TrainSettings,
    rng: np.random.Generator,
) -> tuple[list[NDArray[np.int32]], list[TextFeatures] | None]:
    """Crop texts and drop random words, as the settings specify. Return the texts and their n-gram features."""
    if settings.crop > 0:
        texts, ngram_features = crop(texts, ngram_features, settings.crop, rng)
    if settings.word_dropout:
        texts, ngram_features = drop_words(texts, ngram_features, settings.word_dropout, rng)
    return texts, ngram_features


def crop(
    texts: list[NDArray[np.int32]],
    ngram_features: list[TextFeatures] | None,
    words: int,
    rng: np.random.Generator,
) -> tuple[list[NDArray[np.int32]], list[TextFeatures] | None]:
    """Replace each text of more than ``words`` words by a random passage of ``words`` consecutive words.

    The token features are cropped in the same way. The text features do not change.
    """
    spare = [len(ids) - words for ids in texts]
    starts = [int(rng.integers(more + 1)) if more > 0 else 0 for more in spare]
    kept = [slice(start, start + words) for start in starts]
    return _take_words(texts, ngram_features, kept)


def drop_words(
    texts: list[NDArray[np.int32]],
    ngram_features: list[TextFeatures] | None,
    probability: float,
    rng: np.random.Generator,
) -> tuple[list[NDArray[np.int32]], list[TextFeatures] | None]:
    """Drop each word and its n-gram features with the given probability, but keep at least one word per text."""
    kept = [_kept_words(len(ids), probability, rng) for ids in texts]
    return _take_words(texts, ngram_features, kept)


def _take_words(
    texts: list[NDArray[np.int32]],
    ngram_features: list[TextFeatures] | None,
    kept: Sequence[slice | NDArray[np.intp]],
) -> tuple[list[NDArray[np.int32]], list[TextFeatures] | None]:
    """Keep only the words at the positions ``kept`` of each text, with their token features. Keep all text features."""
    if ngram_features is not None:
        ngram_features = [
            TextFeatures(features.token_features[positions], features.text_features)
            for features, positions in zip(ngram_features, kept, strict=True)
        ]
    return [ids[positions] for ids, positions in zip(texts, kept, strict=True)], ngram_features


def cut_microbatches(
    texts: list[NDArray[np.int32]],
    targets: NDArray,
    ngram_features: list[TextFeatures] | None = None,
    weights: NDArray[np.float32] | None = None,
) -> list[Microbatch]:
    """Cut a batch into microbatches of similar size, each of which contains short and long texts."""
    lengths = np.array([len(ids) for ids in texts])
    order = np.argsort(lengths, kind="stable")
    microbatches = min(_count_microbatches(int(lengths.sum())), len(texts))
    # The microbatches take turns back and forth (0 1 2 2 1 0 0 ...), so that none always gets the longer texts.
    turn = np.arange(len(texts)) % (2 * microbatches)
    turn = np.minimum(turn, 2 * microbatches - 1 - turn)
    result = []
    for number in range(microbatches):
        chosen = order[turn == number]
        ids = np.concatenate([texts[i] for i in chosen])
        token_features = (
            None if ngram_features is None else np.concatenate([ngram_features[i].token_features for i in chosen])
        )
        text_features = None if ngram_features is None else np.stack([ngram_features[i].text_features for i in chosen])
        of_text = None if weights is None else weights[chosen]
        result.append(Microbatch(ids, lengths[chosen], targets[chosen], token_features, text_features, of_text))
    return result


def _count_microbatches(tokens: int) -> int:
    """Return the number of microbatches for a batch.

    The number depends only on the number of tokens in the batch, so the summed gradients do not depend on the number of
    jobs.
    """
    if tokens < ACCUMULATORS * _MICROBATCH_TOKENS // 2:
        return 1 if tokens < _MIN_TOKENS_TO_CUT else 2  # 2 workers could not divide 3 microbatches equally
    return ACCUMULATORS * max(1, round(tokens / (ACCUMULATORS * _MICROBATCH_TOKENS)))


def _kept_words(length: int, probability: float, rng: np.random.Generator) -> NDArray[np.intp]:
    """Drop each word with the given probability, and return the positions of the remaining words.

    If all words would be dropped, the first one remains.

    Source: Iyyer et al. (2015), "Deep Unordered Composition Rivals Syntactic Methods for Text Classification".
    """
    kept = np.flatnonzero(rng.random(length, np.float32) >= probability)
    return kept if len(kept) else np.zeros(1, np.intp)
