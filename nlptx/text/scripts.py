"""Recognises texts in scripts that put no spaces between words, such as Chinese and Thai."""

from __future__ import annotations

import re
from collections.abc import Mapping

# Two groups of scripts: Chinese and Japanese; and Thai, Lao, Burmese and Khmer. If the mean length of the words exceeds
# the limit of their group, the texts probably lack spaces. In texts with spaces, the mean length of a word is below the
# limit: about 1.5 characters in Chinese and 4 in Thai.
_SCRIPTS = (
    (re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"), 3.5),
    (re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"), 6.0),
)
# Minimum fraction of words in these scripts, so that a few foreign words in other texts do not matter.
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
