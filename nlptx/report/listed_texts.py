"""The texts that a report lists: the worst errors and the most uncertain predictions, with coloured words.

The worst errors are the errors with the highest confidence.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.explain import explain
from nlptx.classifier.model import Model
from nlptx.evaluation.labelled_predictions import NO_ANSWER, LabelledPredictions, ModelPredictions
from nlptx.report.figures import tint_of
from nlptx.report.word_spans import Span, find_spans
from nlptx.runtime.workers import Workers

# Maximum numbers of listed errors and of listed uncertain texts.
MAX_ERRORS, MAX_UNCERTAIN = 50, 30
# Maximum number of characters shown per text.
MAX_CHARACTERS = 1500
# Computing the effect of every word in a text of n words may take n predictions, each for n - 1 words. Therefore, words
# are coloured only in texts of at most _MAX_WORDS words, and only while the sum of n^2 over the coloured texts is at
# most _MAX_WORK.
_MAX_WORDS, _MAX_WORK = 400, 1_500_000
# A word is coloured if its effect is at least this fraction of the largest effect in the text.
_MIN_EFFECT = 0.1


@dataclass(frozen=True)
class ListedText:
    """A text that the report lists.

    Args:
        where: position in the input, as ``file:line``.
        is_worst: whether the text is listed as one of the worst errors.
        is_uncertain: whether the text is listed as one of the most uncertain texts.
        is_answered: whether the text has a prediction.
        true, predicted: the true classes and the predicted classes. For single-label data, each contains one class, but
            ``predicted`` is empty if the text has no prediction.
        confidence: probability of the prediction; None if it is unknown or if there is no prediction.
        correct: whether the prediction is correct.
        spans: the part of the text that is shown, split into words (with their effects) and the characters between
            them.
        is_cut: whether only the beginning of the text is shown.
        explained: class whose probability the colours explain; None if the words are not coloured.
        is_known: whether the text has a word that the model knows.
        largest_effect: largest absolute effect of a token, including tokens that are not in ``spans``, because the
            tokenizer has rewritten them.
    """

    where: str
    is_worst: bool
    is_uncertain: bool
    is_answered: bool
    true: tuple[int, ...]
    predicted: tuple[int, ...]
    confidence: float | None
    correct: bool
    spans: list[Span]
    is_cut: bool
    explained: int | None = None
    is_known: bool = True
    largest_effect: float = 0.0

    def tints(self) -> list[tuple[str, str, float | None]]:
        """Return (text, CSS class, effect) for each span; the CSS class is empty for a span without a colour."""
        largest = self.largest_effect
        rows: list[tuple[str, str, float | None]] = []
        for span in self.spans:
            share = abs(span.effect) / largest if span.effect is not None and largest else 0.0
            if span.effect is None or share < _MIN_EFFECT:
                rows.append((span.text, "", None))
            else:
                rows.append((span.text, f"{'for' if span.effect > 0 else 'against'}-{tint_of(share)}", span.effect))
        return rows


def list_texts(predictions: LabelledPredictions, model: Model | None, workers: Workers) -> list[ListedText]:
    """Return the worst errors, followed by the most uncertain texts that are not among them.

    If there is a model, words are coloured by their effect, except in texts without a known word, in long texts, and
    in all further texts that would exceed the limit of the total work (``_MAX_WORK``).
    """
    listed = choose_texts(predictions)
    if model is None or not isinstance(predictions, ModelPredictions):
        return [text for _, text in listed]
    work, explained = 0, []
    for row, text in listed:
        words = int(predictions.known_words[row])
        affordable = 0 < words <= _MAX_WORDS and work + words * words <= _MAX_WORK
        work += words * words if affordable else 0
        text = replace(text, is_known=words > 0)
        explained.append((predictions.documents[row].text if affordable else None, text))
    return list(workers.map(partial(_explained, model), explained))


def choose_texts(predictions: LabelledPredictions) -> list[tuple[int, ListedText]]:
    """Return the texts to list, without colours, each with its index.

    If the confidences are unknown, the first errors are listed instead of the worst ones, and no uncertain texts are
    listed.
    """
    correct = predictions.correct
    confidence = np.zeros(len(predictions)) if predictions.confidence is None else predictions.confidence
    wrong = np.flatnonzero(~correct)
    worst = wrong[np.argsort(-confidence[wrong], kind="stable")][:MAX_ERRORS].tolist()
    uncertain = np.argsort(confidence, kind="stable")[:MAX_UNCERTAIN].tolist()
    if predictions.confidence is None:
        uncertain = []
    listed = []
    for row in dict.fromkeys([*worst, *uncertain]):
        document, is_answered = predictions.documents[row], predictions.is_answered(row)
        text = ListedText(
            document.where,
            row in worst,
            row in uncertain,
            is_answered,
            _classes(predictions.targets[row]),
            _classes(predictions.predicted[row]),
            float(confidence[row]) if predictions.confidence is not None and is_answered else None,
            bool(correct[row]),
            [Span(document.text[:MAX_CHARACTERS])],
            len(document.text) > MAX_CHARACTERS,
        )
        listed.append((row, text))
    return listed


def _classes(value: NDArray) -> tuple[int, ...]:
    if np.ndim(value):
        return tuple(np.flatnonzero(value).tolist())
    return () if value == NO_ANSWER else (int(value),)


def _explained(model: Model, item: tuple[str | None, ListedText]) -> ListedText:
    text, listed = item
    if text is None:
        return listed
    explanation = explain(model, text)
    words: list[tuple[str, float | None]] = [(token, None) for token in explanation.tokens]
    for position, effect in zip(explanation.positions, explanation.effects.tolist(), strict=True):
        words[position] = explanation.tokens[position], effect
    shown = text[:MAX_CHARACTERS]
    largest = float(np.abs(explanation.effects).max(initial=0))
    return replace(listed, spans=find_spans(shown, words), explained=explanation.label, largest_effect=largest)
