"""Findings about individual texts: empty texts, damaged characters, markup, long words, and unusual words."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nlptx.data_quality.findings import Finding
from nlptx.data_quality.rows import DataRows
from nlptx.data_quality.words import TextWords


def _continuation_as(encoding: str) -> str:
    """Return the characters that result if the continuation bytes of UTF-8 are decoded with another encoding."""
    return bytes(range(0x80, 0xC0)).decode(encoding, "ignore")


# Pattern of a character that appears if a continuation byte of UTF-8 is wrongly decoded as Windows-1252 or Latin-1.
_CONTINUATION = "[" + re.escape("".join(sorted({*_continuation_as("cp1252"), *_continuation_as("latin-1")}))) + "]"
# These characters often follow an accented letter in correct text (“Spaß”), so they do not show wrong decoding.
_PUNCTUATION = "[\u00a0\u00ab\u00bb\u2013\u2014\u2018-\u201e\u2026\u2039\u203a]"
_PATTERNS = {
    "mojibake": re.compile(
        f"[\u00c2\u00c3]{_CONTINUATION}|[\u00c4-\u00df](?!{_PUNCTUATION}){_CONTINUATION}"
        f"|[\u00e0-\u00ef](?!{_PUNCTUATION}{{2}}){_CONTINUATION}{{2}}|[\u00f0-\u00f4]{_CONTINUATION}{{3}}"
    ),
    "lost-characters": re.compile("\ufffd"),
    "control-characters": re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"),
    # A tag, with or without attributes, or a character reference. Text after the name of a tag must contain an equals
    # sign, so that "a <b or c> d" is not a tag.
    "markup": re.compile(
        r"</?[a-zA-Z][a-zA-Z0-9]*(?:\s[^<>=]{0,1000}=[^<>]{0,1000}+|\s?/?)>"
        r"|&(?:[a-zA-Z]{2,8}|#\d{1,7}|#x[0-9a-fA-F]{1,6});"
    ),
    "long-words": re.compile(r"(?<![!-~])(?!\S{0,20}://|www\.)[!-~]{101,}"),
}
# Patterns that can match an ASCII text; every match of the other patterns contains a non-ASCII character.
_ASCII_MAY_MATCH = ("control-characters", "markup", "long-words")
# A text is unusual if it has at least _MIN_WORDS words, and if the fraction of its words that occur in no other text is
# at least _MIN_FRACTION and at least _TIMES times as large as in the entire corpus.
_MIN_WORDS, _MIN_FRACTION, _TIMES = 5, 0.6, 4


def find_text_faults(rows: DataRows, words: TextWords) -> Iterator[Finding]:
    """Yield the findings about individual texts.

    Args:
        rows: the N rows.
        words: words of the N texts.
    """
    texts = rows.texts
    yield Finding("empty-texts", np.array([row for row, text in enumerate(texts) if not text.strip()], np.int64))
    missing = [row for row, labels in enumerate(rows.labels) if labels is None]
    # If no row has a label, the data is treated as unlabelled, and missing labels are not a fault.
    yield Finding("missing-labels", np.array(missing if len(missing) < len(rows) else [], np.int64))
    matches: dict[str, list[int]] = {kind: [] for kind in _PATTERNS}
    for row, text in enumerate(texts):
        for kind in _ASCII_MAY_MATCH if text.isascii() else _PATTERNS:
            if _PATTERNS[kind].search(text):
                matches[kind].append(row)
    for kind, indices in matches.items():
        yield Finding(kind, np.array(indices, np.int64))
    yield _unusual(words)


def _unusual(words: TextWords) -> Finding:
    """Return the texts with a high fraction of words that occur in no other text, the highest fraction first."""
    lengths = words.lengths
    text = np.repeat(np.arange(len(words)), lengths)
    first, last = np.zeros((2, words.size), np.int64)
    # The last and the first text with each word: if an assignment repeats an index, NumPy keeps the last value for it.
    last[words.ids] = text
    first[words.ids[::-1]] = text[::-1]
    alone = (first == last)[words.ids]
    fraction = np.bincount(text, alone, len(words)) / np.maximum(lengths, 1)
    typical = alone.mean() if len(alone) else 0.0
    unusual = np.flatnonzero((lengths >= _MIN_WORDS) & (fraction >= max(_MIN_FRACTION, _TIMES * typical)))
    order: NDArray[np.int64] = unusual[np.argsort(-fraction[unusual], kind="stable")]
    return Finding("unusual-texts", order, scores=fraction[order])
