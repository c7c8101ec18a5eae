"""Explanations of a prediction: the attention weights, and the effect of each word on the probability of the label."""

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

# Maximum number of variants of a text that are scored at a time; each variant lacks one word.
_BATCH = 64


@dataclass(frozen=True)
class Explanation:
    """Explanation of the prediction for one text.

    Args:
        tokens: all tokens of the text, known or unknown.
        words: the T known words of the text that the model read.
        positions: (T,) indices of these words among the tokens.
        probabilities: (C,) predicted probabilities for the complete text.
        label: index of the explained label among the labels of the model.
        worth: (T,) decrease in the probability of the explained label when the word is left out.
        attention: (H, T, T) attention weights of each block, for each of the H heads. Rows are query words, and columns
            the words that they attend to. The weight between words of different windows is 0.
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
    """Explain the probability of a label for a text.

    If texts may have several labels, the default is the label whose probability is highest relative to its threshold.

    The effect of a word is measured by scoring the text again without this word (leave-one-out). The attention weights
    are returned as well, but they only show where information could flow, not how it affected the prediction (Jain &
    Wallace 2019).

    Args:
        model: the classifier.
        text: a single text.
        label: label to explain, one of the labels of the model; the predicted label by default.

    Returns:
        The tokens of the text, the known words among them, the effect (``worth``) of each word as (T,) float64, and
        the attention weights (H, T, T) of each block; see :class:`Explanation`.

    Raises:
        ArtifactError: the model's weights are so large that a score is not a number.
        DataError: the text has no known word.
        InputTypeError: an argument has the wrong type.
        LabelError: the label is not a label of the model.

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
    known = [position for position, token in enumerate(tokens) if token in model.vocabulary.index]
    known_ids = model.vocabulary.encode_tokens(tokens)
    ids = known_ids[: model.settings.most_words]
    if not len(ids):
        raise DataError("the text has no word that the model knows")
    overflow_safe = model.overflow_safe()
    # Workers(1) limits BLAS to one thread, as in prediction, because BLAS may sum in a different order on more threads.
    # NumPy's warnings are off because overflow is detected by checking the probabilities.
    with Workers(1), np.errstate(all="ignore"):
        probabilities, worth, chosen = _leave_one_out(overflow_safe, known_ids, len(ids), column)
        x, layout, *ngram_features = network_inputs(overflow_safe, [ids], apart=True)
        _, cache = overflow_safe.network.forward(x, layout, None, *ngram_features)
    attention = []
    for stacks in overflow_safe.network.encoder.attention_weights(cache[0]):
        matrix = np.zeros((stacks[0].shape[1], len(ids), len(ids)), stacks[0].dtype)
        for (row, count, length), weights in zip(layout.stack_shapes, stacks, strict=True):
            for window in range(count):
                span = slice(row + window * length, row + (window + 1) * length)
                matrix[:, span, span] = weights[window]
        attention.append(matrix)
    words = [model.vocabulary.words[i] for i in ids]
    return Explanation(tokens, words, known[: len(ids)], probabilities, chosen, worth, attention)


def _leave_one_out(
    model: Model, known: NDArray[np.int32], count: int, column: int | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """Return the probabilities (C,) of a text, the worth (T,) of its words, and the index of the explained label.

    The model reads the first ``count`` of the ``known`` words of the text. If one of these words is left out, the model
    also reads the next known word, if there is one.
    """
    probabilities = model.probabilities([known[:count]])[0]
    chosen = model.decision.main(probabilities) if column is None else column
    read = known[: count + 1]
    without = [np.delete(read, position)[:count] for position in range(count)]
    batches = [model.probabilities(without[start : start + _BATCH]) for start in range(0, count, _BATCH)]
    return probabilities, probabilities[chosen] - np.concatenate(batches)[:, chosen], chosen
