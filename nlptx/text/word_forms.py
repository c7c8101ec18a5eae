"""Finds a known form of an unknown word: "exuberantly" is read as "exuberant" if only the latter is known.

The similarity of two words of lengths a and b with a common beginning of n letters is 2n / (a + b), which is 1 for
equal words. An unknown word is read as the most similar known word, unless the similarity is below 0.8 or the common
beginning is shorter than four letters. The unknown word is compared only with its neighbours in the alphabetical list
of known words, because they have the longest common beginnings. If the unknown word has a negation mark
(:mod:`nlptx.text.negation`), it is compared without the mark, and read as the known word with the mark. If the known
word with the mark is not known itself, there is no form.

Words with the same beginning are usually forms of one word, such as singular and plural. Words with the same end are
not compared, because they often have opposite meanings, as "unfairly" and "fairly" do.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from functools import lru_cache

from nlptx.text.negation import MARK, is_marked, without_mark

# Minimum similarity, and minimum number of letters in the common beginning.
_MIN_SIMILARITY, _MIN_COMMON = 0.8, 4
# Number of neighbours on each side that are compared with the unknown word.
_NEIGHBOURS = 8
# Number of unknown words whose known forms are remembered.
_REMEMBERED = 1 << 16


class WordForms:
    """Finds known forms of unknown words.

    Args:
        index: known word -> id. If two words are equally similar to an unknown word, the one with the lower id is used.
    """

    def __init__(self, index: Mapping[str, int]) -> None:
        self._index = index
        self._sorted = sorted(word for word in index if word.isalpha())  # a mark is no letter
        # Each object has its own cache, because the cache of a decorated method would keep every object in memory.
        self.id_of_form = lru_cache(_REMEMBERED)(self._id_of_form)

    def _id_of_form(self, word: str) -> int:
        """Return the id of the known word that an unknown word is read as, or -1."""
        plain = without_mark(word)
        if len(plain) < _MIN_COMMON or not plain.isalpha() or plain in self._index:
            return -1
        at = bisect_left(self._sorted, plain)
        # If 2n / (a + b) >= 0.8 and b >= n, then n >= 2/3 a: a form begins with at least two thirds of the letters.
        beginning = plain[: max(_MIN_COMMON, -(-2 * len(plain) // 3))]
        near = self._sorted[max(at - _NEIGHBOURS, 0) : at + _NEIGHBOURS]
        candidates = [known for known in near if known.startswith(beginning)]
        form = max(candidates, key=lambda known: (_similarity(plain, known), -self._index[known]), default="")
        if not form or _similarity(plain, form) < _MIN_SIMILARITY:
            return -1
        return self._index.get(MARK + form if is_marked(word) else form, -1)


def _similarity(a: str, b: str) -> float:
    """Return the similarity of two words."""
    letters = zip(a, b, strict=False)
    common = next((n for n, (first, second) in enumerate(letters) if first != second), min(len(a), len(b)))
    return 2 * common / (len(a) + len(b))
