"""The explanation of one text, as rows for tables and as JSON values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from nlptx.text.negation import without_mark

if TYPE_CHECKING:
    from nlptx.classifier.explain import Explanation
    from nlptx.classifier.model import Model
    from nlptx.classifier.word_pairs import PairEffect

# Number of significant digits of effects, and number of decimal places of attention, in JSON.
_EFFECT_DIGITS, _ATTENTION_DIGITS = 6, 4


class Word(NamedTuple):
    """A token of a text.

    ``known`` says whether the model's vocabulary contains the token; for a negated token, whether it contains the token
    with the negation mark. ``read_as`` is the known form that the model reads in place of an unknown token, or None.
    ``effect`` is the decrease in the label's probability when the token is left out, and ``attention`` is the attention
    that the token receives in each block and head. Both are None if the model did not read the token.
    """

    word: str
    position: int
    known: bool
    negated: bool = False
    read_as: str | None = None
    effect: float | None = None
    attention: list[list[float]] | None = None


class Pair(NamedTuple):
    """A pair of words: the effect of the second word with and without the first word, in log-odds of the label."""

    words: tuple[str, str]
    positions: tuple[int, int]
    effect_with: float
    effect_without: float
    interaction: float


class ExplainedText(NamedTuple):
    """An explanation of a text, ready to be written as a table, as JSON or as HTML.

    Args:
        where: position of the text in the input; empty if the text does not come from a file.
        text: the explained text.
        label: name of the explained label, or None if the text has no known word.
        probability: probability of the label, or None if there is no label.
        words: the tokens of the text, in order.
        pairs: the strongest pairs of words.
        top: number of words to show, or None for all tokens.
        attention: attention matrices of each block, (H, T, T) for H heads and the T words that the model read; None if
            they were not requested.
    """

    where: str
    text: str
    label: str | None
    probability: float | None
    words: list[Word]
    pairs: list[Pair]
    top: int | None = None
    attention: list[Any] | None = None

    def shown(self) -> list[Word]:
        """Return all tokens in order or, with ``top``, the words with the largest absolute effects, largest first."""
        if self.top is None:
            return self.words
        read = [word for word in self.words if word.effect is not None]
        return sorted(read, key=lambda word: -abs(word.effect or 0))[: self.top]

    def as_json(self) -> dict[str, Any]:
        """Return the explanation as JSON values."""
        row: dict[str, Any] = {"where": self.where} if self.where else {}
        row |= {"label": self.label, "probability": self.probability, "tokens": len(self.words)}
        row["words"] = [_word_as_json(word) for word in self.shown()]
        row["pairs"] = [
            pair._asdict()
            | {name: _rounded(getattr(pair, name)) for name in ("effect_with", "effect_without", "interaction")}
            for pair in self.pairs
        ]
        if self.attention is not None:
            shape = self.attention[0].shape if self.attention else ()
            row["attention_shape"] = [len(self.attention), *shape]
            row["attention"] = [block.astype(float).round(_ATTENTION_DIGITS).tolist() for block in self.attention]
        return row


def explained_text(
    model: Model,
    text: str,
    explanation: Explanation | None,
    pairs: list[PairEffect],
    *,
    where: str = "",
    top: int | None = None,
    attention: bool = False,
) -> ExplainedText:
    """Return the explanation of a text as an :class:`ExplainedText`.

    Args:
        model: the classifier.
        text: the explained text.
        explanation: explanation of the text, or None if the text has no known word.
        pairs: the strongest pairs of words in the text.
        where: position of the text in the input.
        top: number of words to show, or None for all tokens.
        attention: whether to keep the attention matrices.
    """
    if explanation is None:
        return ExplainedText(where, text, None, None, _words(model, model.vocabulary.tokenizer.split(text)), [], top)
    words = _words(model, explanation.tokens)
    received = [block.tolist() for block in explanation.received]
    for row, (position, effect) in enumerate(zip(explanation.positions, explanation.effects.tolist(), strict=True)):
        words[position] = words[position]._replace(effect=effect, attention=[block[row] for block in received])
    return ExplainedText(
        where,
        text,
        model.label_names[explanation.label],
        float(explanation.probabilities[explanation.label]),
        words,
        [_pair(explanation, pair) for pair in pairs],
        top,
        explanation.attention if attention else None,
    )


def _words(model: Model, tokens: list[str]) -> list[Word]:
    vocabulary = model.vocabulary
    marked = vocabulary.tokenizer.mark(tokens)
    words = []
    for position, (token, read, number) in enumerate(zip(tokens, marked, vocabulary.ids_read(marked), strict=True)):
        known = read in vocabulary.index
        form = None if known or number < 0 else without_mark(vocabulary.words[number])
        words.append(Word(token, position, known, read != token, form))
    return words


def _pair(explanation: Explanation, pair: PairEffect) -> Pair:
    words, positions = explanation.words, explanation.positions
    return Pair(
        (words[pair.first], words[pair.second]),
        (positions[pair.first], positions[pair.second]),
        float(pair.with_first),
        float(pair.without_first),
        float(pair.interaction),
    )


def _word_as_json(word: Word) -> dict[str, Any]:
    row = word._asdict()
    if word.effect is not None and word.attention is not None:
        row["effect"] = _rounded(word.effect)
        row["attention"] = [[round(value, _ATTENTION_DIGITS) for value in heads] for heads in word.attention]
    return row


def _rounded(value: float) -> float:
    """Round to significant digits rather than decimal places, because each effect is small in a long text."""
    return float(f"{value:.{_EFFECT_DIGITS}g}")
