"""Marks negated words: in "it is not good", the token "good" becomes "¬good", which is a word of its own.

The five tokens after a negation, such as "not" or "n't", are examined, and the words among them are marked. The
negation ends early at

- an emoji, a rating or a punctuation mark, except for marks that occur within phrases, such as hyphens;
- a word that begins another clause, such as "but" or "because", and "just", "merely" and "only";
- "so" or "such" after a marked word: "never seen such a good film", but not in "not so good";
- another negation, which then has no effect itself: "not without charm". But if "and" or "or" stands between the two
  negations, or if the second is "nor" or "neither", the second one takes effect.

With the mark, word vectors and single-word features distinguish "good" from "not very good". The negations are English.
In other languages, a word with the same spelling may mean something else, such as Portuguese "no" (in the).

Source: Das & Chen (2001), "Yahoo! for Amazon: extracting market sentiment from stock message boards"; Pang, Lee &
Vaithyanathan (2002), "Thumbs up? Sentiment classification using machine learning techniques".
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from nlptx.text.signs import LENGTHENED, LINK, SHOUTED

MARK = "¬"
# Number of tokens after a negation that are examined.
WINDOW = 5
# Both "don't", which is split into "do" and "n't", and spellings without the apostrophe, which are common in informal
# text. "wont" and "cant" are hardly ever used as nouns.
_NEGATIONS = """
    n't not no never none nobody nothing neither nor without hardly barely rarely seldom scarcely cannot
    lack lacks lacking fails failed
    aint arent cant couldnt didnt doesnt dont hadnt hasnt havent isnt shouldnt wasnt werent wont wouldnt
"""
NEGATIONS = frozenset(_NEGATIONS.split())
_CONTINUING = frozenset(["nor", "neither"])
_JOINS = frozenset(["and", "or"])
_DEGREES = frozenset(["so", "such"])
_ENDS = frozenset(
    ["but", "because", "although", "though", "unless", "while", "yet", "however", "just", "merely", "only"]
)
# Signs within a phrase: "not SO good", "not well-made", "not 'fun'", "not 100% good".
_WITHIN = frozenset([SHOUTED, LENGTHENED, LINK, *"-'\"%$#*_&@"])
# Kinds of tokens. WORD and JOIN can be marked, and NEUTRAL cannot; the negation goes on after all three. END ends it.
# DEGREE ends it if a marked word stands before it, and is a WORD otherwise. NEGATION is cancelled by a negation before
# it, CONTINUING is not.
WORD, JOIN, NEUTRAL, DEGREE, NEGATION, CONTINUING, END = range(7)


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
    begun = joined = False  # whether a marked word, and whether "and" or "or", stands after the last negation
    for index, token in enumerate(tokens):
        kind = NEUTRAL if index in ignored and is_negation(token) else kind_of(token)
        if kind == DEGREE:
            kind = END if begun else WORD
        marked.append(MARK + token if left and kind <= JOIN else token)
        if kind == END or (kind == NEGATION and left and not joined):
            left = 0
        elif kind in (NEGATION, CONTINUING):
            left, begun, joined = WINDOW, False, False
        else:
            left = max(left - 1, 0)
            begun |= kind <= JOIN
            joined |= kind == JOIN
    return marked


def is_marked(word: str) -> bool:
    """Return whether a word has the mark of negated words."""
    return len(word) > 1 and word[0] == MARK


def without_mark(word: str) -> str:
    """Return a word without the mark of negated words.

    >>> without_mark("¬good"), without_mark("good"), without_mark("¬")
    ('good', 'good', '¬')
    """
    return word[1:] if is_marked(word) else word


def is_negation(token: str) -> bool:
    """Return whether a token is a negation."""
    return _lower(token) in NEGATIONS


def kind_of(token: str) -> int:
    """Return the kind of a token, such as ``WORD``."""
    lowered = _lower(token)
    kinds = ((_CONTINUING, CONTINUING), (NEGATIONS, NEGATION), (_JOINS, JOIN), (_DEGREES, DEGREE), (_ENDS, END))
    for words, kind in kinds:
        if lowered in words:
            return kind
    if lowered in _WITHIN or token.isdecimal():
        return NEUTRAL
    return WORD if any(map(str.isalpha, token)) else END


def _lower(token: str) -> str:
    # Only ASCII, because the lower case of a few other characters, such as the Kelvin sign, is an ASCII letter.
    return token.lower() if token.isascii() else token
