"""Character n-grams, which represent the spelling of a word, as in fastText (Bojanowski et al. 2017)."""

from __future__ import annotations

_LENGTHS = range(3, 7)


def character_ngrams(word: str) -> set[str]:
    """Return the character n-grams of 3 to 6 characters of a word whose start and end are marked by ``<`` and ``>``.

    >>> sorted(character_ngrams("fun"))
    ['<fu', '<fun', '<fun>', 'fun', 'fun>', 'un>']
    """
    marked = f"<{word}>"
    return {marked[at : at + length] for length in _LENGTHS for at in range(len(marked) - length + 1)}
