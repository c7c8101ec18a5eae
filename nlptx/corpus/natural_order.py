"""Sorts documents: files with one text each are ordered by the numbers in their names, so 2.txt precedes 10.txt."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar, cast

from nlptx.corpus.document import Document

if TYPE_CHECKING:
    from nlptx.corpus.stored_texts import StoredTexts

T = TypeVar("T")


class NaturalOrder:
    """Sorts documents that are added one at a time.

    Lines and table rows come first, in input order. Files with one text each follow, sorted by the numbers in their
    names.
    """

    def __init__(self) -> None:
        self._count = 0
        self._keys: dict[int, list[tuple[int, str]]] = {}  # document index -> sort key, for files of one text

    def add(self, document: Document) -> None:
        """Add the next document."""
        if not document.line:
            self._keys[self._count] = _natural_key(document.source)
        self._count += 1

    def sorted(self, values: Sequence[T]) -> Sequence[T]:
        """Return ``values``, one per document in input order, rearranged into the sorted order of the documents."""
        if not self._keys or not len(values):
            return values
        order = sorted(range(self._count), key=lambda number: self._keys.get(number, []))
        if isinstance(values, list):
            return [values[number] for number in order]
        return cast("StoredTexts", values).take(order)  # type: ignore[return-value]


def _natural_key(name: str) -> list[tuple[int, str]]:
    """Return a key that sorts names by the numbers in them."""
    parts = re.findall(r"[0-9]+|[^0-9]+", name)
    numbers = [part.lstrip("0") if part[0].isdecimal() else None for part in parts]
    # Numbers are compared first by length, because a longer number is larger, and then as text. int() would reject very
    # long numbers.
    return [
        (0, part) if number is None else (1 + len(number), number) for part, number in zip(parts, numbers, strict=True)
    ]
