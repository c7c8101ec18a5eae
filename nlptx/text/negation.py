"""Marks negated words: in "it is not good", the token "good" becomes "¬good", which is a word of its own.

The five tokens after a negation, such as "not" or "n't", are examined, and the words among them are marked. An emoji, a
rating, "but", "just", "merely", "only", or a punctuation mark other than a hyphen or quotation mark ends the negation
early. With the mark, word vectors and single-word features distinguish "good" from "not very good". The negations are
English; other languages may use the same letters for another word, as in Portuguese "no" (in the).

Source: Das & Chen (2001), "Yahoo! for Amazon: extracting market sentiment from stock message boards"; Pang, Lee &
Vaithyanathan (2002), "Thumbs up? Sentiment classification using machine learning techniques".
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from nlptx.text.signs import LENGTHENED, SHOUTED

MARK = "¬"
# Number of tokens after a negation that are examined.
WINDOW = 5
# Both "don't", which is split into "do" and "n't", and spellings without the apostrophe, which are common in informal
# text. "wont" and "cant" are hardly ever used as nouns.
_NEGATIONS = """
    n't not no never none nobody nothing neither nor without hardly barely cannot lack lacks lacking fails failed
    aint arent cant couldnt didnt doesnt dont hadnt hasnt havent isnt shouldnt wasnt werent wont wouldnt
"""
NEGATIONS = frozenset(_NEGATIONS.split())
# Words that end a negation: "not good but short", "not only good".
_ENDS = frozenset(["but", "just", "merely", "only"])
# Tokens within a phrase, after which the negation goes on: "not SO good", "not well-made", "not 'fun'".
_WITHIN = frozenset([SHOUTED, LENGTHENED, "-", "'", '"'])
# Kinds of tokens: a word, which can be negated; a negation; a token that ends a negation; and a token that is neither
# marked nor ends a negation.
WORD, NEGATION, END, NEUTRAL = range(4)


def mark_negated(tokens: Sequence[str], ignored: Collection[int] = ()) -> list[str]:
    """Return the tokens of a text, with a mark before each negated word.

    Args:
        tokens: the tokens, in order.
        ignored: indices of negations that have no effect.

    >>> mark_negated(["It", "is", "n't", "very", "good", ",", "but", "not", "a", "waste", "."])
    ['It', 'is', "n't", '¬very', '¬good', ',', 'but', 'not', '¬a', '¬waste', '.']
    """
    marked = []
    left = 0  # number of the next tokens that are still negated
    for index, token in enumerate(tokens):
        kind = kind_of(token)
        if kind == NEGATION and index in ignored:
            kind = NEUTRAL
        marked.append(MARK + token if left and kind == WORD else token)
        left = {NEGATION: WINDOW, END: 0}.get(kind, max(left - 1, 0))
    return marked


def without_mark(word: str) -> str:
    """Return a word without the mark of negated words.

    >>> without_mark("¬good"), without_mark("good"), without_mark("¬")
    ('good', 'good', '¬')
    """
    return word[1:] if len(word) > 1 and word[0] == MARK else word


def kind_of(token: str) -> int:
    """Return the kind of a token: ``WORD``, ``NEGATION``, ``END`` or ``NEUTRAL``."""
    lowered = token.lower() if token.isascii() else token
    if lowered in NEGATIONS:
        return NEGATION
    if lowered in _ENDS:
        return END
    if lowered in _WITHIN:
        return NEUTRAL
    if any(map(str.isalpha, token)):
        return WORD
    return NEUTRAL if token.isdecimal() else END  # a rating is a digit in a circle, which is not a decimal digit
