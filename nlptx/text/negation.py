"""Marks negated words: in "it is not good", the token "good" becomes "¬good", which is a word of its own.

The five tokens after a negation are examined, and the words among them are marked. A negation is a word such as "not"
or "n't", or the second word of a pair such as "far from" or "unable to". The effect of a negation ends early at one of
these tokens:

- an emoji, a rating or punctuation, except for punctuation within phrases, such as hyphens;
- a word that begins another clause, such as "but" or "because", or one of "just", "merely" and "only";
- "so" or "such" after a marked word, as in "never seen such a good film", but not in "not so good";
- another negation, which then has no effect itself, as in "not without charm". However, the second of two negations
takes effect if "and" or "or" stands between them, or if it is "nor" or "neither".

With the mark, word vectors and single-word features distinguish "good" from "not very good". The negations are English.
In other languages, words with the same spelling may mean something else: in Portuguese, "no" means "in the".

Source: Das & Chen (2001), "Yahoo! for Amazon: extracting market sentiment from stock message boards"; Pang, Lee &
Vaithyanathan (2002), "Thumbs up? Sentiment classification using machine learning techniques".
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from nlptx.text.signs import LENGTHENED, LINK, SHOUTED

MARK = "¬"
# Number of tokens after a negation that are examined.
WINDOW = 5
# The tokenizer splits "don't" into "do" and "n't". Spellings without the apostrophe are listed too, because they are
# common in informal text. The nouns "wont" and "cant" are too rare to matter.
_NEGATIONS = """
    n't not no never none nobody nothing neither nor without hardly barely rarely seldom scarcely cannot
    lack lacks lacking fails failed
    aint arent cant couldnt didnt doesnt dont hadnt hasnt havent isnt shouldnt wasnt werent wont wouldnt
"""
NEGATIONS = frozenset(_NEGATIONS.split())
# Second word of a pair -> first words. The second word is a negation if it follows one of the first words.
_PAIRS = {
    "from": "far",
    "but": "anything",
    "near": "nowhere",
    "than": "rather",
    "of": "devoid free instead robbed short stripped void",
    "to": "difficult fail failing forgot hard impossible refuse refused refuses unable",
}
SECOND_WORDS = {first: second for second, firsts in _PAIRS.items() for first in firsts.split()}
_CONTINUING = frozenset(["nor", "neither"])
_JOINS = frozenset(["and", "or"])
_DEGREES = frozenset(["so", "such"])
_ENDS = frozenset(
    ["but", "because", "although", "though", "unless", "while", "yet", "however", "just", "merely", "only"]
)
# Signs within a phrase: "not VERY good", "not well-made", "not 'fun'", "not 100% good".
_WITHIN = frozenset([SHOUTED, LENGTHENED, LINK, *"-'\"%$#*_&@"])
# Kinds of tokens. WORD and JOIN can be marked, and NEUTRAL cannot; none of these three ends the effect of a negation.
# END always ends the effect of a negation; DEGREE ends it after a marked word, and is treated like WORD otherwise.
# If an earlier negation is still in effect, NEGATION ends that effect and has none itself; but if a JOIN stands between
# the two negations, NEGATION takes effect. CONTINUING is a negation that always has an effect.
WORD, JOIN, NEUTRAL, DEGREE, NEGATION, CONTINUING, END = range(7)
# Kinds of the words and signs in the sets above. The words "nor" and "neither" are in two sets; their kind is
# CONTINUING, because its entries overwrite the earlier ones.
KINDS = {
    **dict.fromkeys(_WITHIN, NEUTRAL),
    **dict.fromkeys(_ENDS, END),
    **dict.fromkeys(_DEGREES, DEGREE),
    **dict.fromkeys(_JOINS, JOIN),
    **dict.fromkeys(NEGATIONS, NEGATION),
    **dict.fromkeys(_CONTINUING, CONTINUING),
}


def mark_negated(tokens: Sequence[str], ignored: Collection[int] = ()) -> list[str]:
    """Return the tokens of a text, with a mark before each negated word.

    Args:
        tokens: the tokens, in order.
        ignored: indices of tokens that must not negate others. A negation at one of these indices has no effect. A pair
            has no effect if the index of either of its words is one of them.

    >>> mark_negated(["It", "is", "n't", "very", "good", ",", "but", "not", "a", "waste", "."])
    ['It', 'is', "n't", '¬very', '¬good', ',', 'but', 'not', '¬a', '¬waste', '.']
    >>> mark_negated(["not", "without", "charm"]), mark_negated(["far", "from", "perfect"])
    (['not', 'without', 'charm'], ['far', 'from', '¬perfect'])
    """
    marked = []
    remaining = 0  # Number of tokens, from the next one on, within reach of the last negation.
    # Whether the last negation was followed by a marked word, and whether it was followed by "and" or "or".
    seen_marked = seen_join = False
    for index, token in enumerate(tokens):
        if _completes_pair(tokens, index) and index not in ignored and index - 1 not in ignored:
            kind = NEGATION
        elif index in ignored and _lower(token) in NEGATIONS:
            kind = NEUTRAL
        else:
            kind = kind_of(token)
        if kind == DEGREE:
            kind = END if seen_marked else WORD
        marked.append(MARK + token if remaining and kind <= JOIN else token)
        if kind == END or (kind == NEGATION and remaining and not seen_join):
            remaining = 0
        elif kind in (NEGATION, CONTINUING):
            remaining, seen_marked, seen_join = WINDOW, False, False
        else:
            remaining = max(remaining - 1, 0)
            seen_marked |= kind <= JOIN
            seen_join |= kind == JOIN
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


def words_of_negations(tokens: Sequence[str]) -> set[int]:
    """Return the indices of all tokens that are negations or belong to a pair such as "far from".

    >>> words_of_negations(["not", "far", "from", "it"])
    {0, 1, 2}
    """
    single = {index for index, token in enumerate(tokens) if _lower(token) in NEGATIONS}
    second = {index for index in range(len(tokens)) if _completes_pair(tokens, index)}
    return single | second | {index - 1 for index in second}


def kind_of(token: str) -> int:
    """Return the kind of a token, such as ``WORD``. The token must not be the second word of a pair."""
    kind = KINDS.get(_lower(token))
    if kind is not None:
        return kind
    if token.isdecimal():
        return NEUTRAL
    return WORD if any(map(str.isalpha, token)) else END


def _completes_pair(tokens: Sequence[str], index: int) -> bool:
    return index > 0 and SECOND_WORDS.get(_lower(tokens[index - 1])) == _lower(tokens[index])


def _lower(token: str) -> str:
    # Non-ASCII words stay unchanged: a word with the Kelvin sign, whose lower case is an ASCII k, is not a negation.
    return token.lower() if token.isascii() else token
