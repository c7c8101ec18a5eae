"""Explains a prediction: the effect of each word on the probability of a label, and the attention weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nlptx.arguments.values import check_text, check_type
from nlptx.classifier.label_types import Label, find_label
from nlptx.classifier.model import Model
from nlptx.classifier.occlusion import EncodedText, network_outputs_without_each
from nlptx.classifier.remaining_words import RemainingWords
from nlptx.errors import ArtifactError, DataError
from nlptx.nn import Layout
from nlptx.runtime.workers import Workers

# If the number of negations multiplied by the number of words exceeds this value, leaving out a negation does not
# remove the marks of the words that it negates.
_MAX_WORK = 1 << 18


@dataclass(frozen=True)
class Explanation:
    """Explanation of the prediction for one text.

    Args:
        tokens: all tokens of the text, known or unknown, without the marks that the tokenizer adds to negated words.
        words: the T words that the model reads, as they are in the text: all words that are known or have a known form,
            or the first ``max_tokens`` of them if this is set.
        positions: (T,) index of each word among the tokens.
        probabilities: (C,) predicted probabilities for the complete text.
        label: index of the explained label among the model's labels.
        effects: (T,) decrease in the probability of the explained label when the word is left out.
        attention: for each block, the attention weights (H, T, T) of its H heads. Rows are query words, and columns are
            the words that they attend to. The attention weight between words of different windows is 0. The list is
            empty if the attention matrices were not requested.
        received: for each block, the attention (T, H) that each word receives in each head, averaged over all query
            words.
    """

    tokens: list[str]
    words: list[str]
    positions: list[int]
    probabilities: NDArray[np.float64]
    label: int
    effects: NDArray[np.float64]
    attention: list[NDArray]
    received: list[NDArray]

    def __repr__(self) -> str:
        return f"<Explanation: {len(self.words):,} words, probability {self.probabilities[self.label]:.2%}>"


def explain(model: Model, text: str, label: Label | None = None, *, attention: bool = True) -> Explanation:
    """Explain the probability of a label for a text.

    The effect of a word is measured by scoring the text again without this word (leave-one-out). If a negation such as
    "not" is left out, the words after it are no longer marked as negated. (The marks stay in a very long text, in which
    the number of negations multiplied by the number of words exceeds 262,144.) The attention weights are returned as
    well, but they show only where information could flow, not how it affected the prediction (Jain & Wallace 2019).

    If a text is longer than the attention window, all other words stay in their windows when a word is left out, so
    only the window of the left-out word is computed again. The time for an explanation is therefore proportional to the
    number of words. The linear models on n-grams (:mod:`nlptx.ngrams`) use only whether an n-gram occurs, so leaving
    out one of m occurrences of an n-gram would hardly change their outputs. Each occurrence therefore counts for 1/m of
    the n-gram's weight.

    Args:
        model: the classifier.
        text: a single text.
        label: label to explain, one of the model's labels. The default is the predicted label or, for a multi-label
            model, the label whose probability is highest relative to its threshold.
        attention: whether to return the attention matrices, whose size is quadratic in the number of words.

    Returns:
        The tokens of the text, the known words among them, the effect (``effects``) of each word as (T,) float64, and
        the attention weights (H, T, T) of each block; see :class:`Explanation`.

    Raises:
        ArtifactError: the model's weights are so large that an output is not finite.
        DataError: the text has no known word.
        InputTypeError: ``model`` or ``text`` has the wrong type.
        LabelError: the label is not a label of the model, or has an unsupported type.

    >>> seen = explain(Model.load(), "a wonderful film", "pos")
    >>> seen.words
    ['a', 'wonderful', 'film']
    >>> seen.words[seen.effects.argmax()]
    'wonderful'
    """
    check_type(model, Model, "model")
    check_text(text, "text")
    column = None if label is None else find_label(label, model.labels)
    tokens = model.vocabulary.tokenizer.split(text)
    words = RemainingWords(model.vocabulary, tokens)
    ids = words.ids[: model.settings.max_tokens]
    positions = words.positions[: len(ids)]
    if not len(ids):
        raise DataError("the model knows none of the words of the text, so there is nothing to explain")
    overflow_safe = model.overflow_safe()
    # Workers(1) limits BLAS to one thread, as in prediction, because BLAS with more threads may add numbers in a
    # different order. NumPy's warnings are turned off, because overflow is detected by checking the probabilities.
    with Workers(1), np.errstate(all="ignore"):
        probabilities = overflow_safe.probabilities([ids])[0]
        chosen = int(model.decision.preferences(probabilities[None]).argmax()) if column is None else column
        without = _without_each(overflow_safe, words.ids, len(ids)) + _without_marks(overflow_safe, words, len(ids))
        effects = probabilities[chosen] - np.clip(without[:, chosen], 0, 1)
        received, matrices = _attention(overflow_safe, ids, attention)
    read = [tokens[position] for position in positions]
    return Explanation(tokens, read, positions, probabilities, chosen, effects, matrices, received)


def _without_each(model: Model, known: NDArray[np.int32], count: int) -> NDArray[np.float64]:
    """Return the probabilities (T, C) of the text without each of its first T known words in turn; T is ``count``.

    The model reads at most ``count`` known words. If the text has more than ``count`` known words, the model reads one
    further word when a word is left out.
    """
    if len(known) == 1:
        return model.probabilities([known[:0]])
    if len(known) > count:
        read, windows = known[: count + 1], np.array([count + 1])
    else:
        read, windows = known, Layout(np.array([count]), model.settings.attention_window).windows
    outputs = network_outputs_without_each(model, read, windows)[:count]
    if model.regions is not None:
        outputs = model.regions.combine_without_each(outputs, read, count)
    if not np.isfinite(outputs).all():
        raise ArtifactError("the model's weights are so large that its outputs overflow; train the model again")
    return model.calibrated(outputs)


def _without_marks(model: Model, words: RemainingWords, count: int) -> NDArray[np.float64]:
    """Return how the probabilities change when the words after a left-out negation are no longer marked as negated.

    Row t of the result (T, C) is the change if the known word t is left out, where T is ``count``. The row is 0 if
    word t is not a negation, or if there are too many negations.
    """
    change = np.zeros((count, len(model.labels)))
    rows = sorted(row for row in words.negations if row < count)
    if len(rows) * count > _MAX_WORK:
        return change
    max_tokens = model.settings.max_tokens
    pairs = [(words.without([row])[:max_tokens], np.delete(words.ids, row)[:max_tokens]) for row in rows]
    changed = [number for number, (after, before) in enumerate(pairs) if not np.array_equal(after, before)]
    if changed:
        p = model.probabilities([ids for number in changed for ids in pairs[number]])
        change[[rows[number] for number in changed]] = p[::2] - p[1::2]
    return change


def _attention(model: Model, ids: NDArray[np.int32], complete: bool) -> tuple[list[NDArray], list[NDArray]]:
    """Return the attention that each word receives, (T, H) per block, and the attention matrices, (H, T, T) per block.

    The list of attention matrices is empty unless ``complete`` is true.
    """
    windows = Layout(np.array([len(ids)]), model.settings.attention_window).windows
    text = EncodedText.of(model, ids, windows)
    received: list[list[NDArray]] = []
    matrices: list[NDArray] = []
    for span in text.spans:
        x, layout, token_features = text.inputs(ids[None, span], text.ngrams[None, span])
        _, cache = model.network.forward(x, layout, None, token_features)
        for block, (stack,) in enumerate(model.network.encoder.attention_weights(cache[0])):
            weights = stack[0]  # (H, T, T) of this window
            if span.start == 0:
                received.append([])
                matrices += [np.zeros((len(weights), len(ids), len(ids)), weights.dtype)] if complete else []
            # The mean is over all query words of the text; those of other windows do not attend to this window, so they
            # add 0.
            received[block].append(weights.sum(axis=1).T / len(ids))
            if complete:
                matrices[block][:, span, span] = weights
    return [np.concatenate(parts) for parts in received], matrices
