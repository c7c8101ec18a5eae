"""Recognises texts in scripts that put no spaces between words, such as Chinese and Thai."""

from __future__ import annotations

import re
from collections.abc import Mapping

# Two groups of scripts, each with a limit for the mean number of characters per word. The first group is Chinese and
# Japanese; the second is Thai, Lao, Burmese and Khmer. If the mean exceeds the limit, the texts probably lack spaces.
# With spaces between words, the mean is about 1.5 in Chinese and 4 in Thai.
_SCRIPTS = (
    (re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"), 3.5),
    (re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"), 6.0),
)
# If a smaller fraction of the words is in these scripts, these words are treated as foreign words in texts with spaces.
_MIN_FRACTION = 0.2


def lack_spaces(counts: Mapping[bytes, int]) -> bool:
    """Return whether texts probably lack spaces between words, given how often each word (in UTF-8) occurs in them."""
    total = in_scripts = 0  # Number of words, and number of words with characters of these scripts.
    length = 0.0  # Sum of the word lengths, each relative to the limit of its script.
    for word, count in counts.items():
        total += count
        if not word.isascii():
            text = word.decode("utf-8", "replace")
            relative = sum(len(script.findall(text)) / limit for script, limit in _SCRIPTS)
            if relative:
                in_scripts += count
                length += relative * count
    return in_scripts >= _MIN_FRACTION * total and length >= max(in_scripts, 1)
