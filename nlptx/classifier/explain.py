"""Why a text got its score: attention as a lens, and what each word is worth to the score."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.inference import network_inputs
from nlptx.classifier.label_types import Label, find_label
from nlptx.classifier.model import Model
from nlptx.errors import DataError
from nlptx.runtime.workers import Workers
from nlptx.text.arguments import check_text, check_type

# Variants of a text scored at a time.
_BATCH = 64


@dataclass(frozen=True)
class Explanation:
    """One text, seen from inside.

    Args:
        tokens: all tokens of the text, known or not.
        words: the T known words the model read.
        positions: (T,) where they stand among the tokens.
        probabilities: (C,) of the whole text.
        label: column of the label explained.
        worth: (T,) how much the probability of that label falls when the word is left out.
        attention: for each block (H, T, T), how much each word (row) looks at each other (column); 0
            between words of different windows.
    """

    tokens: list[str]
    words: list[str]
    positions: list[int]
    probabilities: NDArray[np.float64]
    label: int
    worth: NDArray[np.float64]
    attention: list[NDArray]

    def __repr__(self) -> str:
        return f"<Explanation: {len(self.words):,} words, probability {self.probabilities[self.label]:.2%}>"


def explain(model: Model, text: str, label: Label | None = None) -> Explanation:
    """Explain the probability of ``label`` (by default the predicted one) for a text.

    A word's worth is measured, not inferred: the text is scored again without it (leave-one-out). Attention
    only shows where information could flow, not what came of it (Jain & Wallace 2019), hence both.

    Args:
        model: the classifier.
        text: a single text.
        label: one of the model's labels.

    Returns:
        the tokens of the text, the known words among them, the worth (T,) float64 of each, and the attention
        weights (H, T, T) of each block; see
        :class:`Explanation`.

    Raises:
        ArtifactError: the model's weights are so large that a score is not a number.
        DataError: the text has no known word.
        InputTypeError: an argument has the wrong type.
        LabelError: the label is not one of the model's.

    >>> seen = explain(Model.load(), "a wonderful film", "pos")
    >>> seen.words
    ['a', 'wonderful', 'film']
    >>> seen.words[seen.worth.argmax()]
    'wonderful'
    """
    check_type(model, Model, "model")
    check_text(text, "text")
    column = None if label is None else find_label(label, model.labels)
    tokens = model.vocabulary.tokenizer(text)
    known = [place for place, token in enumerate(tokens) if token in model.vocabulary.index]
    known_ids = model.vocabulary.encode_tokens(tokens)
    ids = known_ids[: model.settings.most_words]
    if not len(ids):
        raise DataError("the text has no word that the model knows")
    overflow_safe = model.overflow_safe()
    # Workers limit the BLAS, as when predicting: it may sum in another order on more threads.
    # An overflow shows in the probabilities.
    with Workers(1), np.errstate(all="ignore"):
        probabilities, worth, chosen = _leave_one_out(overflow_safe, known_ids, len(ids), column)
        x, layout, *ngram_features = network_inputs(overflow_safe, [ids], apart=True)
        _, cache = overflow_safe.network.forward(x, layout, None, *ngram_features)
    attention = []
    for runs in overflow_safe.network.encoder.attention_weights(cache[0]):
        whole = np.zeros((runs[0].shape[1], len(ids), len(ids)), runs[0].dtype)
        for (row, count, length), weights in zip(layout.stack_shapes, runs, strict=True):
            for window in range(count):
                span = slice(row + window * length, row + (window + 1) * length)
                whole[:, span, span] = weights[window]
        attention.append(whole)
    words = [model.vocabulary.words[i] for i in ids]
    return Explanation(tokens, words, known[: len(ids)], probabilities, chosen, worth, attention)


def _leave_one_out(
    model: Model, known: NDArray[np.int32], count: int, column: int | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """Return the probabilities (C,) of a text, the worth (T,) of its words, and the column of the label.

    Of the ``known`` words of the text the model reads the first ``count``; without one of them, the next moves up.
    """
    probabilities = model.probabilities([known[:count]])[0]
    chosen = int(model.choose(probabilities[None])[0]) if column is None else column
    read = known[: count + 1]
    without = [np.delete(read, place)[:count] for place in range(count)]
    batches = [model.probabilities(without[start : start + _BATCH]) for start in range(0, count, _BATCH)]
    return probabilities, probabilities[chosen] - np.concatenate(batches)[:, chosen], chosen
