"""Recognises texts in scripts that put no spaces between words, such as Chinese and Thai."""

from __future__ import annotations

import re
from collections.abc import Mapping

# Characters of Thai, Lao, Burmese, Khmer, Japanese and Chinese.
_RANGES = r"\u0e00-\u0eff", r"\u1000-\u109f", r"\u1780-\u17ff", r"\u3040-\u30ff", r"\u3400-\u9fff", r"\uf900-\ufaff"
_WITHOUT_SPACES = re.compile("[" + "".join(_RANGES) + "]")
# In texts with spaces between words, words in these scripts have 1.5 (Chinese) to 4 characters (Thai) on average.
_LONG = 6
# Fraction of all words that must be in one of these scripts.
_MANY = 0.2


def lack_spaces(counts: Mapping[bytes, int]) -> bool:
    """Return whether texts probably lack spaces between words, given how often each word (in UTF-8) occurs in them."""
    total = found = characters = 0
    for word, count in counts.items():
        total += count
        if not word.isascii() and (of_script := len(_WITHOUT_SPACES.findall(word.decode("utf-8", "replace")))):
            found += count
            characters += of_script * count
    return found >= _MANY * total and characters >= _LONG * max(found, 1)
