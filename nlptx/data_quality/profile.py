"""The profile of labelled data: how many texts there are, how long they are, and how often each label occurs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nlptx.data_quality.rows import DataRows

# The length percentiles that are reported.
PERCENTILES = (5, 25, 50, 75, 95, 99)


@dataclass(frozen=True)
class Lengths:
    """Distribution of text lengths, in words or in characters.

    Args:
        percentiles: for each percentage in PERCENTILES, the smallest L such that at least this percentage of the texts
            have a length of at most L.
        maximum: length of the longest text.
        where: position of the first text with the maximum length.
        mean: mean text length.
    """

    percentiles: dict[str, int]
    maximum: int
    where: str
    mean: float


@dataclass(frozen=True)
class LabelCount:
    """Number of texts with a given label, and their fraction of all labelled texts."""

    label: str
    texts: int
    fraction: float


@dataclass(frozen=True)
class Profile:
    """The profile of labelled data.

    Args:
        texts: number of rows that were read.
        columns: names of the table columns.
        without_text: number of rows whose text is empty.
        without_label: number of rows without a label.
        empty_label_sets: number of rows with an empty set of labels; None if the data is not multi-label.
        unreadable: number of rows that could not be read.
        words: distribution of the number of words; punctuation marks do not count as words.
        characters: distribution of the number of characters.
        labels: count of each label, the most frequent first.
    """

    texts: int
    columns: list[str]
    without_text: int
    without_label: int
    empty_label_sets: int | None
    unreadable: int
    words: Lengths
    characters: Lengths
    labels: list[LabelCount]


def profile(rows: DataRows, words: NDArray[np.int64]) -> Profile:
    """Return the profile of labelled data.

    Args:
        rows: the N rows.
        words: (N,) number of words in each text.
    """
    positions = rows.positions
    texts = rows.texts
    counts = Counter(label for labels in rows.labels for label in labels or ())
    labelled = sum(labels is not None for labels in rows.labels)
    by_frequency = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return Profile(
        texts=len(rows),
        columns=rows.columns,
        without_text=sum(not text.strip() for text in texts),
        without_label=len(rows) - labelled,
        empty_label_sets=None if rows.separator is None else sum(labels == () for labels in rows.labels),
        unreadable=rows.unreadable,
        words=_lengths(words, positions),
        characters=_lengths(np.fromiter(map(len, texts), np.int64, len(texts)), positions),
        labels=[LabelCount(label, count, count / labelled) for label, count in by_frequency],
    )


def _lengths(values: NDArray[np.int64], positions: Sequence[str]) -> Lengths:
    percentiles = np.percentile(values, PERCENTILES, method="inverted_cdf").astype(int).tolist()
    longest = int(values.argmax())
    names = [str(percentile) for percentile in PERCENTILES]
    return Lengths(
        dict(zip(names, percentiles, strict=True)), int(values[longest]), positions[longest], float(values.mean())
    )
