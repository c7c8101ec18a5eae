"""How unlike a text is to the training texts of a model, measured by how rare its words are. Labels play no part.

The surprise of a word w is a log-likelihood ratio:

    s(w) = log q(w) - log p(w)

p is the distribution of the words in the texts that were counted; an unknown word counts as half as frequent as the
rarest known one. q is a background that belongs to no language: with equal probability it draws a symbol (a token
without a letter or a digit) or a word, and all symbols, and all words, are equally probable. Symbols are frequent in
every language, so without q a line of program code would seem familiar. Only differences of s matter, so constants are
left out: s(w) = -log count(w), plus log(words / symbols) if w is a symbol.

The surprise of a text is the mean of s over its T tokens, without immediate repetitions ("!!!" counts as one token),
standardised by the mean m and the variance a + b/T of the training texts: b is the variance of the words of a text, and
a that of the subjects and styles of the texts. Training measures m, a and b, and the threshold that 1 % of the texts
exceed, on texts and passages of several lengths. Each text is left out of the counts when it is measured, so it is as
surprising as a new text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nlptx.errors import CorruptError
from nlptx.text.vocabulary import Vocabulary

# Fraction of the training texts that are unlike the rest by definition.
FALSE_ALARMS = 0.01
# Lengths, in tokens, of the passages that are measured besides the texts, and the maximum length of a measured text.
_PASSAGES = (4, 8, 16, 32, 64)
_LONGEST = 128
# Minimum variance of the words of a text: repetitive texts must not make every other text unlike them.
_MIN_WITHIN = 1.0
# Minimum threshold: a quantile of a few texts may be too low, and texts about new subjects are more surprising.
_MIN_THRESHOLD = 3.0
# Maximum absolute value of a stored number; real ones are below 100.
_MAX_STORED = 1e4
# Variance between texts of models that do not store it: that of English reviews.
_BETWEEN = 0.2


@dataclass(frozen=True)
class TypicalSurprise:
    """Distribution of the mean of s over a text like the training texts.

    Args:
        mean: m, in nats.
        between: a, in square nats.
        within: b, in square nats.
        threshold: number of standard deviations above the mean that 1 % of the texts exceed.
    """

    mean: float
    between: float
    within: float
    threshold: float

    @classmethod
    def measure(cls, vocabulary: Vocabulary, texts: Sequence[NDArray[np.int32]]) -> Self | None:
        """Measure texts that the vocabulary was counted on. Return None if it has no counts, or if there is no token.

        Args:
            vocabulary: words and their counts.
            texts: (T,) word ids of each text without immediate repetitions; -1 for unknown words.
        """
        surprise = word_surprise(vocabulary)
        if surprise is None:
            return None
        means, lengths = [], []
        for ids in texts:
            sums = np.cumsum(np.append(0, _surprise_without(ids, vocabulary.counts, surprise)))
            for length in {min(len(ids), _LONGEST), *(size for size in _PASSAGES if size < len(ids))} - {0}:
                start = (len(ids) - length) // 2
                means.append((sums[start + length] - sums[start]) / length)
                lengths.append(length)
        return cls._fit(np.array(means), np.array(lengths)) if means else None

    @classmethod
    def _fit(cls, means: NDArray[np.float64], lengths: NDArray[np.int64]) -> Self:
        """Fit the distribution to the means of texts with these numbers of tokens.

        The expected value of T (mean - m)^2 is b + a T, a straight line.
        """
        centre = float(means.mean())
        squares = lengths * (means - centre) ** 2
        spread = float(lengths.var())
        slope = float(((lengths - lengths.mean()) * squares).mean()) / spread if spread else 0.0
        between = max(slope, 0.0)
        within = max(float(squares.mean() - between * lengths.mean()), _MIN_WITHIN)
        typical = cls(round(centre, 6), round(between, 6), round(within, 6), 0.0)
        threshold = float(np.quantile(typical.standardize(means, lengths), 1 - FALSE_ALARMS))
        return cls(typical.mean, typical.between, typical.within, round(max(threshold, _MIN_THRESHOLD), 6))

    @classmethod
    def estimate(cls, counts: NDArray[np.int64], surprise: NDArray[np.float64]) -> Self:
        """Estimate the distribution from the counts (V,) and s (V + 1,) of the words, as if they were independent."""
        p = counts / counts.sum(dtype=np.float64)
        mean = float((p * surprise[:-1]).sum())
        within = max(float((p * (surprise[:-1] - mean) ** 2).sum()), _MIN_WITHIN)
        return cls(mean, _BETWEEN, within, _MIN_THRESHOLD)

    def standardize(self, means: NDArray[np.float64], lengths: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return how many standard deviations the means (B,) of texts of ``lengths`` (B,) tokens are above typical."""
        return (means - self.mean) / np.sqrt(self.between + self.within / lengths)

    def to_dict(self) -> dict[str, float]:
        """Return the numbers as JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Any) -> Self:
        """Build from :meth:`to_dict`. Raises CorruptError if the values are invalid."""
        names = ["mean", "between", "within", "threshold"]
        if (
            not isinstance(values, dict)
            or sorted(values) != sorted(names)
            or not all(type(value) is float and abs(value) <= _MAX_STORED for value in values.values())
            or values["between"] < 0
            or values["within"] < _MIN_WITHIN
        ):
            raise CorruptError(f"its typical surprise is {values!r}")
        return cls(**values)


class SurpriseMeter:
    """Measures the surprise of texts.

    Args:
        vocabulary: words and their counts.
        typical: distribution of the surprise; by default it is estimated from the counts.
    """

    def __init__(self, vocabulary: Vocabulary, typical: TypicalSurprise | None) -> None:
        self._words = word_surprise(vocabulary)
        if typical is None and self._words is not None:
            typical = TypicalSurprise.estimate(vocabulary.counts, self._words)
        self._typical = typical

    @property
    def threshold(self) -> float | None:
        """Surprise above which a text is unlike the training texts; None if the vocabulary has no counts."""
        return None if self._typical is None else self._typical.threshold

    def measure(
        self, ids: NDArray[np.int32], repeated: NDArray[np.bool_], lengths: NDArray[np.int64]
    ) -> list[tuple[float, bool] | tuple[None, None]]:
        """Return the surprise of each text, in standard deviations, and whether it is unlike the training texts.

        A text is unlike them if its surprise exceeds the threshold, or if it has no known word. Both values are None
        for a text without tokens, and if the vocabulary has no counts.

        Args:
            ids: (N,) word ids of B texts, one text after the other; -1 for unknown words.
            repeated: (N,) whether each token equals the one before it in the same text.
            lengths: (B,) number of tokens of each text.
        """
        if self._words is None or self._typical is None:
            return [(None, None)] * len(lengths)
        text, ids = np.repeat(np.arange(len(lengths)), lengths)[~repeated], ids[~repeated]
        counted = np.bincount(text, minlength=len(lengths))
        means = np.bincount(text, self._words[ids], len(lengths)) / np.maximum(counted, 1)
        surprise = self._typical.standardize(means, np.maximum(counted, 1))
        unlike = (surprise > self._typical.threshold) | (np.bincount(text[ids >= 0], minlength=len(lengths)) == 0)
        columns = surprise.tolist(), unlike.tolist(), counted.tolist()
        return [(value, flag) if count else (None, None) for value, flag, count in zip(*columns, strict=True)]


def word_surprise(vocabulary: Vocabulary) -> NDArray[np.float64] | None:
    """Return (V + 1,) s of each word, in nats, and of unknown words; None if a word has no count."""
    counts = vocabulary.counts
    rarest = counts.min(initial=np.iinfo(np.int64).max)
    if not len(counts) or rarest < 1:
        return None
    surprise = -np.log(np.append(counts, rarest / 2))
    mixed = [number for number, plain in enumerate(map(str.isalnum, vocabulary.words)) if not plain]
    symbols = [number for number in mixed if not any(map(str.isalnum, vocabulary.words[number]))]
    if 0 < len(symbols) < len(counts):
        surprise[symbols] += math.log((len(counts) - len(symbols)) / len(symbols))
    return surprise


def _surprise_without(
    ids: NDArray[np.int32], counts: NDArray[np.int64], surprise: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return s of each token of a text with the text left out of the counts.

    A word whose remaining count is lower than that of every known word is unknown without the text.
    """
    words, place, inside = np.unique(ids, return_inverse=True, return_counts=True)
    known = words >= 0
    total = counts[words[known]]
    rest = total - inside[known]
    kept = rest >= counts.min()
    result = np.full(len(words), surprise[-1])
    result[np.flatnonzero(known)[kept]] = surprise[words[known][kept]] + np.log(total[kept] / rest[kept])
    return result[place]
