"""Marks negated words: in "it is not good", the token "good" becomes "¬good", which is a word of its own.

The five tokens after a negation, such as "not" or "n't", are examined, and the words among them are marked. An emoji, a
rating, "but", "just", "merely", "only", or a punctuation mark other than a hyphen or quotation mark ends the negation
early. So does another negation: two negations cancel each other ("not without charm"), unless "and" or "or" stands
between them, or the second one is "nor" or "neither"; the words after the second one are then negated too. With the
mark, word vectors and single-word features distinguish "good" from "not very good". The negations are English; other
languages may use the same letters for another word, as in Portuguese "no" (in the).

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
# Negations that do not cancel the negation before them.
_REPEATED = frozenset(["nor", "neither"])
_JOINS = frozenset(["and", "or"])
# Words that end a negation: "not good but short", "not only good".
_ENDS = frozenset(["but", "just", "merely", "only"])
# Tokens within a phrase, after which the negation goes on: "not SO good", "not well-made", "not 'fun'".
_WITHIN = frozenset([SHOUTED, LENGTHENED, "-", "'", '"'])
# Kinds of tokens. WORD and JOIN ("and", "or") can be marked, and NEUTRAL cannot; the negation goes on after all three.
# NEGATION cancels the negation before it, REPEATED ("nor", "neither") does not. END ends a negation.
WORD, JOIN, NEUTRAL, NEGATION, REPEATED, END = range(6)


def mark_negated(tokens: Sequence[str], ignored: Collection[int] = ()) -> list[str]:
    """Return the tokens of a text, with a mark before each negated word.

    Args:
        tokens: the tokens, in order.
        ignored: indices of tokens; the negations among them have no effect.

    >>> mark_negated(["It", "is", "n't", "very", "good", ",", "but", "not", "a", "waste", "."])
    ['It', 'is', "n't", '¬very', '¬good', ',', 'but', 'not', '¬a', '¬waste', '.']
    >>> mark_negated(["not", "without", "charm"])
    ['not', 'without', 'charm']
    """
    marked = []
    left = 0  # number of the next tokens that are still negated
    joined = False  # whether "and" or "or" stands after the last negation
    for index, token in enumerate(tokens):
        kind = NEUTRAL if index in ignored and is_negation(token) else kind_of(token)
        marked.append(MARK + token if left and kind <= JOIN else token)
        if kind == END or (kind == NEGATION and left and not joined):
            left = 0
        elif kind in (NEGATION, REPEATED):
            left, joined = WINDOW, False
        else:
            left = max(left - 1, 0)
            joined |= kind == JOIN
    return marked


def without_mark(word: str) -> str:
    """Return a word without the mark of negated words.

    >>> without_mark("¬good"), without_mark("good"), without_mark("¬")
    ('good', 'good', '¬')
    """
    return word[1:] if len(word) > 1 and word[0] == MARK else word


def is_negation(token: str) -> bool:
    """Return whether a token is a negation."""
    return _lower(token) in NEGATIONS


def kind_of(token: str) -> int:
    """Return the kind of a token: ``WORD``, ``JOIN``, ``NEUTRAL``, ``NEGATION``, ``REPEATED`` or ``END``."""
    lowered = _lower(token)
    if lowered in NEGATIONS:
        return REPEATED if lowered in _REPEATED else NEGATION
    if lowered in _JOINS:
        return JOIN
    if lowered in _ENDS:
        return END
    if lowered in _WITHIN or token.isdecimal():
        return NEUTRAL
    return WORD if any(map(str.isalpha, token)) else END


def _lower(token: str) -> str:
    # Only ASCII, because the lower case of a few other characters, such as the Kelvin sign, is an ASCII letter.
    return token.lower() if token.isascii() else token
