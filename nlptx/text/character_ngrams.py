"""Character n-grams, which represent the spelling of a word, as in fastText (Bojanowski et al. 2017)."""

from __future__ import annotations

# Lengths of the n-grams, in characters.
LENGTHS = range(3, 7)


def character_ngrams(word: str) -> list[str]:
    """Return the distinct character n-grams of 3 to 6 characters of ``<word>``, where ``<`` and ``>`` mark its ends.

    >>> character_ngrams("fun")
    ['<fu', 'fun', 'un>', '<fun', 'fun>', '<fun>']
    """
    marked = f"<{word}>"
    ngrams = [marked[at : at + length] for length in LENGTHS for at in range(len(marked) - length + 1)]
    return list(dict.fromkeys(ngrams))
