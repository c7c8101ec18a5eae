"""Measures how rare the words of a text are in the training texts. Labels are not used.

The surprise s of a word is defined in :mod:`nlptx.classifier.word_surprise`. For a text of T tokens, let x be the mean
of s over the tokens. The surprise of the text is (x - m) / sqrt(a + b/T), where m is the mean of x over training texts
and passages from them, and a + b/T is the variance of x: a is the variance between texts with different subjects and
styles, and b is the variance between the words of a text. Immediate repetitions are not counted: "!!!" is one token.
Training measures m, a and b on training texts and on passages of several lengths from these texts. The threshold is the
surprise that at most 0.5% of these texts and passages exceed. Before a training text is measured, its words are
subtracted from the word counts, so that it is as surprising as a new text.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.token_ids import TokenIds
from nlptx.classifier.word_surprise import WordSurprise
from nlptx.errors import CorruptError
from nlptx.text.vocabulary import Vocabulary

# Fraction of the training texts whose surprise exceeds the threshold; for new texts about other subjects, the fraction
# is higher.
FALSE_ALARMS = 0.005
# Lengths, in tokens, of the passages that are measured in addition to the texts; and maximum number of tokens measured
# per text: if a text is longer, only this number of tokens from its middle is measured.
_PASSAGES = (4, 8, 16, 32, 64)
_LONGEST = 128
# Minimum variance between the words of a text. Without this minimum, the variance of repetitive training texts could be
# so small that every other text would seem unlike them.
_MIN_WITHIN = 1.0
# Minimum threshold: the 99% quantile of the normal distribution. Without this minimum, a threshold measured on only a
# few texts could be too low.
_MIN_THRESHOLD = 2.33
# Maximum absolute value of the numbers that describe the distribution in a model file; measured values are below 100.
_MAX_STORED = 1e4
# Default variance between texts and default threshold, measured on English reviews, for models that store neither.
_BETWEEN, _THRESHOLD = 0.2, 3.0


@dataclass(frozen=True)
class TypicalSurprise:
    """Distribution of the mean surprise per token, among texts like the training texts.

    Args:
        mean: m, in nats.
        between: variance a between texts, in square nats.
        within: variance b between the words of a text, in square nats.
        threshold: surprise, in standard deviations, above which a text counts as unlike the training texts; at most
            0.5% of the training texts and their passages exceed it.
    """

    mean: float
    between: float
    within: float
    threshold: float

    @classmethod
    def measure(cls, vocabulary: Vocabulary, tokens: TokenIds) -> Self | None:
        """Measure the distribution on the texts whose words were counted. Return None if there are no counts or tokens.

        Args:
            vocabulary: words and their counts.
            tokens: the tokens of the texts.
        """
        surprise = WordSurprise.of(vocabulary)
        if surprise is None or not len(tokens.indices):
            return None
        known, unknown = surprise.of_tokens(tokens), surprise.unknown(tokens.words)
        counts = np.where(tokens.vocabulary_ids >= 0, surprise.counts[tokens.vocabulary_ids], 0)
        differs = tokens.differs_from_previous()
        sizes = tokens.sums(differs, np.int64)
        # Each pair of a text and one of its words is encoded as one number.
        pairs = np.repeat(np.arange(len(sizes)), tokens.lengths) * len(counts) + tokens.indices
        distinct, index, inside = np.unique(pairs, return_inverse=True, return_counts=True)
        words, index = distinct % len(counts), index[differs]
        # The words of a text are subtracted from the counts. If the remaining count of a word is lower than the count
        # of the rarest known word, the word is treated as unknown.
        rest = counts[words] - inside
        corrected = known[words] + np.log(np.maximum(counts[words], 1) / np.maximum(rest, 1))
        values = np.where(rest >= surprise.rarest, corrected, unknown[words])[index]
        # Measure the middle _LONGEST tokens of each text (the entire text if it is not longer). In addition, measure a
        # passage from the middle of each text for every length in _PASSAGES that is less than the length of the text.
        passages = [(length, np.flatnonzero(sizes > length)) for length in _PASSAGES]
        passages.append((_LONGEST, np.flatnonzero(sizes)))
        limits, texts = zip(*passages, strict=True)
        text = np.concatenate(texts)
        length = np.minimum(sizes[text], np.repeat(limits, list(map(len, texts))))
        text_starts, sums = np.cumsum(sizes) - sizes, np.append(0, np.cumsum(values))
        start = text_starts[text] + (sizes[text] - length) // 2
        return cls._fit((sums[start + length] - sums[start]) / length, length)

    @classmethod
    def _fit(cls, means: NDArray[np.float64], lengths: NDArray[np.int64]) -> Self:
        """Fit the distribution to texts, given the mean of s over each text, and the text lengths in tokens.

        If x is the mean of s over a text of T tokens, the expected value of T * (x - m)^2 is b + a * T. Fitting a
        straight line to T * (x - m)^2 as a function of T yields a and b.
        """
        centre = float(means.mean())
        squares = lengths * (means - centre) ** 2
        spread = float(lengths.var())
        slope = float(((lengths - lengths.mean()) * squares).mean()) / spread if spread else 0.0
        between = max(slope, 0.0)
        within = max(float(squares.mean() - between * lengths.mean()), _MIN_WITHIN)
        typical = cls(round(centre, 6), round(between, 6), round(within, 6), 0.0)
        threshold = float(np.quantile(typical.standardize(means, lengths), 1 - FALSE_ALARMS, method="higher"))
        return cls(typical.mean, typical.between, typical.within, round(max(threshold, _MIN_THRESHOLD), 6))

    @classmethod
    def estimate(cls, surprise: WordSurprise) -> Self:
        """Estimate the distribution from the word counts alone, assuming that words are independent."""
        p = surprise.counts / surprise.counts.sum(dtype=np.float64)
        mean = float((p * surprise.known).sum())
        within = max(float((p * (surprise.known - mean) ** 2).sum()), _MIN_WITHIN)
        return cls(mean, _BETWEEN, within, _THRESHOLD)

    def standardize(self, means: NDArray[np.float64], lengths: NDArray[np.int64]) -> NDArray[np.float64]:
        """Standardise the mean surprise ``means`` (B,) of texts with ``lengths`` (B,) tokens.

        Subtract m, and divide by the standard deviation.
        """
        return (means - self.mean) / np.sqrt(self.between + self.within / lengths)

    def to_dict(self) -> dict[str, float]:
        """Return the distribution as JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Any) -> Self:
        """Restore a distribution from the result of :meth:`to_dict`. Raises CorruptError if the values are invalid."""
        names = ["mean", "between", "within", "threshold"]
        if (
            not isinstance(values, dict)
            or sorted(values) != sorted(names)
            or not all(type(value) is float and abs(value) <= _MAX_STORED for value in values.values())
            or values["between"] < 0
            or values["within"] < _MIN_WITHIN
        ):
            raise CorruptError(f"its typical surprise is invalid: {values!r}")
        return cls(**values)


class SurpriseMeter:
    """Measures the surprise of texts.

    Args:
        vocabulary: words and their counts.
        typical: distribution of the surprise; None to estimate it from the counts.
    """

    def __init__(self, vocabulary: Vocabulary, typical: TypicalSurprise | None) -> None:
        self._words = WordSurprise.of(vocabulary)
        if typical is None and self._words is not None:
            typical = TypicalSurprise.estimate(self._words)
        self._typical = typical

    @property
    def threshold(self) -> float | None:
        """Surprise above which a text counts as unlike the training texts; None if the vocabulary has no counts."""
        return None if self._typical is None else self._typical.threshold

    def measure(self, tokens: TokenIds) -> tuple[list[float | None], list[bool | None]]:
        """Return the surprise of each text, in standard deviations, and whether the text is unlike the training texts.

        A text is unlike the training texts if its surprise exceeds the threshold, or if it has no known word. Both
        results are None for a text without tokens, and for all texts if the vocabulary has no counts.
        """
        if self._words is None or self._typical is None:
            return [None] * len(tokens.lengths), [None] * len(tokens.lengths)
        differs = tokens.differs_from_previous()
        lengths = tokens.sums(differs, np.int64)
        values = self._words.of_tokens(tokens)[tokens.indices]
        values *= differs
        totals = tokens.sums(values)
        surprise = self._typical.standardize(totals / np.maximum(lengths, 1), np.maximum(lengths, 1))
        has_known = tokens.sums((tokens.vocabulary_ids >= 0)[tokens.indices], np.int64) > 0
        unusual = (surprise > self._typical.threshold) | ~has_known
        return _none_if_empty(surprise, lengths), _none_if_empty(unusual, lengths)


def _none_if_empty(values: NDArray, lengths: NDArray[np.int64]) -> list[Any]:
    """Return one value per text as a list, with None for each text without tokens."""
    return [value if length else None for value, length in zip(values.tolist(), lengths.tolist(), strict=True)]
