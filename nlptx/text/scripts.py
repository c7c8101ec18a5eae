"""Recognises texts in scripts that put no spaces between words, such as Chinese and Thai."""

from __future__ import annotations

import re
from collections.abc import Mapping

# Characters of Chinese and Japanese, and of Thai, Lao, Burmese and Khmer; and a mean length that words in texts with
# spaces between words do not reach. Their mean length is about 1.5 in Chinese, and 4 in Thai.
_SCRIPTS = (
    (re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"), 3.5),
    (re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"), 6.0),
)
# Minimum fraction of the words in these scripts, because a few foreign words in other texts do not matter.
_MANY = 0.2


def lack_spaces(counts: Mapping[bytes, int]) -> bool:
    """Return whether texts probably lack spaces between words, given how often each word (in UTF-8) occurs in them."""
    total = found = 0
    length = 0.0  # sum of the lengths, each relative to the limit of its script
    for word, count in counts.items():
        total += count
        if not word.isascii():
            text = word.decode("utf-8", "replace")
            relative = sum(len(script.findall(text)) / limit for script, limit in _SCRIPTS)
            if relative:
                found += count
                length += relative * count
    return found >= _MANY * total and length >= max(found, 1)
