"""Texts as blocks of lines: many texts in one run of UTF-8 bytes, a line each.

Blocks go through NumPy as they are, without a Python object a text. A line end within a text becomes a space, as
between tokens one is worth the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

Text = TypeVar("Text", str, bytes)

# Characters of a block: the arrays that NumPy makes of so many fit the cache.
BLOCK = 1 << 19


def as_lines(texts: Iterable[str]) -> bytes:
    """Return one block of the texts; every line, the last one too, ends with a line feed."""
    lines = [text.replace("\n", " ") for text in texts]
    return "\n".join([*lines, ""]).encode("utf-8", "surrogatepass")


def in_blocks(texts: Iterable[str]) -> Iterator[bytes]:
    """Yield the texts in blocks of about ``BLOCK`` characters."""
    return map(as_lines, cut(texts, BLOCK))


def cut(texts: Iterable[Text], most: int) -> Iterator[list[Text]]:
    """Group texts, or blocks, into lists of about ``most`` characters."""
    chunk: list[Text] = []
    size = 0
    for text in texts:
        chunk.append(text)
        size += len(text) + 1
        if size >= most:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
