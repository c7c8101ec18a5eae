"""Settings of the n-gram features, and functions shared by all methods that fit these features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nlptx.io.ragged_array import RaggedArray
from nlptx.sampling.splits import FOLDS

# Approximate number of words in a group of texts whose features are computed together.
_WORDS_PER_GROUP = 1 << 14
# Callback for progress, which can be called from any thread. Its arguments are the name of a step, the completed
# fraction of this step, and a description of the progress.
OnProgress = Callable[[str, float, str], None]
# The LSA components are computed from the n-grams that occur in at least two texts, and on average in at least one of
# every _TEXTS_PER_OCCURRENCE texts.
_TEXTS_PER_OCCURRENCE = 3500
# A text is used for the LSA components only if it has at least _MIN_NGRAMS distinct n-grams (a text of six words has at
# most 17 n-grams of one to three words, because its start counts as a word). Shorter texts contain hardly any
# co-occurrences, and texts that consist of one phrase would distort components that are computed mainly from long
# texts. If most texts are short, the minimum is lower: it is the fraction _MIN_FRACTION_OF_MEDIAN of the median number
# of distinct n-grams.
_MIN_NGRAMS, _MIN_FRACTION_OF_MEDIAN = 20, 0.25


@dataclass(frozen=True)
class FeatureSettings:
    """Settings that determine how many n-gram features there are, and how they are fitted.

    Args:
        classes: number of classes C.
        order: length of the longest n-gram.
        words: vocabulary size V.
        min_texts: minimum number of labelled texts in which an n-gram must occur.
        components: maximum number of LSA components; 0 for none.
        folds: number of folds. The features of a training text come from models that were fitted without its fold.
        needs_token_features: whether the network needs the token features.
        may_drop: whether ``min_texts`` may be raised if there are too many n-grams, so that rare ones are dropped.
        capitals_sign: id of the sign before words in capitals, or None. Texts that differ only in this sign are copies,
            which are assigned to the same fold.
    """

    classes: int
    order: int
    words: int
    min_texts: int
    components: int = 0
    folds: int = FOLDS
    needs_token_features: bool = True
    may_drop: bool = False
    capitals_sign: int | None = None


def min_texts_for_components(texts: float) -> int:
    """Return the minimum number of texts, out of ``texts``, in which an n-gram must occur to be used for the LSA."""
    return max(2, int(texts) // _TEXTS_PER_OCCURRENCE)


def has_enough_ngrams(sizes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether each text has enough n-grams to be used for the LSA components, (texts,).

    Args:
        sizes: (texts,) number of distinct n-grams in each text.
    """
    return sizes >= min(_MIN_NGRAMS, _MIN_FRACTION_OF_MEDIAN * np.median(sizes))


def groups_of(texts: RaggedArray, indices: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Split texts, given by their ``indices``, into groups with about _WORDS_PER_GROUP words each."""
    group = np.cumsum(texts.lengths[indices]) // _WORDS_PER_GROUP
    return np.split(indices, np.flatnonzero(np.diff(group)) + 1)


def step_counter(step: str, total: int, on_progress: OnProgress, things: str = "texts") -> Callable[[int], None]:
    """Return a function that takes the number of completed items and reports the progress of a step.

    Args:
        step: name of the step.
        total: total number of items.
        on_progress: callback for progress; see OnProgress.
        things: plural noun for the items, such as "texts".
    """
    return lambda done: on_progress(step, done / total, f"{done:,} of {total:,} {things}")
