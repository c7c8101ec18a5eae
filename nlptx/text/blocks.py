"""Blocks of lines: many texts in one sequence of UTF-8 bytes, one text per line.

NumPy processes a block without creating a Python object per text. Line feeds within a text are replaced by spaces,
which does not change the tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

Text = TypeVar("Text", str, bytes)

# Number of characters per block. The arrays for a larger block would not fit in the processor cache.
BLOCK = 1 << 19


def as_lines(texts: Iterable[str]) -> bytes:
    """Return the texts as one block; every line, including the last one, ends with a line feed."""
    lines = [text.replace("\n", " ") for text in texts]
    return "\n".join([*lines, ""]).encode("utf-8", "surrogatepass")


def in_blocks(texts: Iterable[str]) -> Iterator[bytes]:
    """Yield the texts in blocks of about ``BLOCK`` characters."""
    return map(as_lines, group_by_size(texts, BLOCK))


def group_by_size(texts: Iterable[Text], min_size: int) -> Iterator[list[Text]]:
    """Group texts (str) or blocks (bytes) into lists of at least ``min_size`` characters or bytes in total.

    The last list may be smaller.
    """
    group: list[Text] = []
    size = 0
    for text in texts:
        group.append(text)
        size += len(text) + 1
        if size >= min_size:
            yield group
            group, size = [], 0
    if group:
        yield group
