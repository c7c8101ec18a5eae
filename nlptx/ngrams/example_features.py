"""The n-gram features of many examples, in memory or in a temporary file.

Axis letters: see :mod:`nlptx.ngrams`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from nlptx.io.memory_budget import MemoryBudget
from nlptx.io.ragged_array import RaggedArray
from nlptx.ngrams.features import NgramFeatures, TextFeatures


class FeatureBatch(NamedTuple):
    """The features of several examples.

    Args:
        rows: (B,) indices of the examples.
        words: (B,) number of words of each example.
        token_features: (N, W) float32 token features of the N words of all examples, one example after another. W is 0
            if the network needs no token features.
        text_features: (B, M E) float32 outputs of the linear models.
    """

    rows: NDArray[np.intp]
    words: NDArray[np.integer]
    token_features: NDArray[np.float32]
    text_features: NDArray[np.float32]


def batch_of(
    features: NgramFeatures,
    rows: NDArray[np.intp],
    ids: Sequence[NDArray[np.integer]],
    self_outputs: NDArray[np.float32] | float,
    *,
    needs_token_features: bool,
) -> FeatureBatch:
    """Compute the features of the given examples.

    Args:
        features: fitted n-gram features, which compute the features of each example.
        rows: (B,) indices of the examples.
        ids: word ids (T,) of each example.
        self_outputs: (B, M E) contribution of each example to its own text features, which is subtracted from them; 0
            to subtract nothing.
        needs_token_features: whether the network needs token features.
    """
    token_features, text_features = features.arrays_of(ids, needs_token_features=needs_token_features)
    return FeatureBatch(rows, np.array([len(each) for each in ids]), token_features, text_features - self_outputs)


class ExampleFeatures(Sequence[TextFeatures]):
    """A sequence of :class:`TextFeatures`, stored without a Python object per example.

    Args:
        records: for each example, the token features of its words, one word after another, and then its text features.
        words: (examples,) number of words of each example.
        widths: number of token features per word, and number of text features per example.
    """

    def __init__(self, records: RaggedArray, words: NDArray[np.int32], widths: tuple[int, int]) -> None:
        self.records, self.words, self.widths = records, words, widths

    @classmethod
    def collected(cls, batches: Iterable[FeatureBatch], examples: int, budget: MemoryBudget) -> Self:
        """Store batches of features; the batches may arrive in any order.

        The features can be read until the ``with`` block of ``budget`` ends.

        Raises:
            OutputError: the temporary file cannot be written.
        """
        entries = budget.growing_array(np.float32, budget.array_limit)
        starts, (lengths, words) = np.zeros(examples, np.int64), np.zeros((2, examples), np.int32)
        widths = 0, 0
        for rows, row_words, token_features, text_features in batches:
            widths = token_features.shape[1], text_features.shape[1]
            sizes = row_words * widths[0] + widths[1]
            ends = np.cumsum(sizes)
            starts[rows], lengths[rows], words[rows] = len(entries) + ends - sizes, sizes, row_words
            part = np.empty(int(sizes.sum()), np.float32)
            is_of_text = np.zeros(len(part), bool)
            is_of_text[ends[:, None] + np.arange(-widths[1], 0)] = True
            part[is_of_text], part[~is_of_text] = text_features.ravel(), token_features.ravel()
            entries.append(part)
        records = RaggedArray(entries if entries.is_in_file else entries.array(), starts, lengths)
        return cls(records, words, widths)

    def __len__(self) -> int:
        return len(self.records)

    @overload
    def __getitem__(self, chosen: SupportsIndex) -> TextFeatures: ...
    @overload
    def __getitem__(self, chosen: slice) -> list[TextFeatures]: ...
    def __getitem__(self, chosen: Any) -> TextFeatures | list[TextFeatures]:
        if isinstance(chosen, slice):
            return [self[row] for row in range(len(self))[chosen]]
        record, width = self.records[chosen], self.widths[0]
        tokens = int(self.words[chosen])
        return TextFeatures(record[: tokens * width].reshape(tokens, width), record[tokens * width :])

    def text_features(self) -> NDArray[np.float32]:
        """Return the text features of all examples, (examples, M E)."""
        return self.records.last_entries(self.widths[1])
