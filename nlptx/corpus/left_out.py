"""Records the rows that are left out of a corpus: their number, the reasons, and the positions of the first ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

# Maximum numbers of positions that are stored, and of those that a note lists.
_MAX_STORED, _MAX_LISTED = 100, 3


class LeftOut:
    """Counts the rows that are left out, and stores the positions of the first ones.

    Attributes:
        positions: positions of the first rows that were left out, at most 100, as ``file:line``.
    """

    def __init__(self) -> None:
        self._causes: Counter[str] = Counter()
        self.positions: list[str] = []

    def add(self, cause: str, where: str) -> None:
        """Count a row that was left out.

        Args:
            cause: why the row was left out, as a phrase that follows "row", such as ``without a label``.
            where: position of the row, as ``file:line``.
        """
        self._causes[cause] += 1
        if len(self.positions) < _MAX_STORED:
            self.positions.append(where)

    def extend(self, other: LeftOut, where: Callable[[str], str]) -> None:
        """Add the rows of ``other``, which come later in the input.

        Args:
            other: rows that were left out of one partition.
            where: function that converts a position in the partition to a position in the whole file.
        """
        self._causes += other._causes
        self.positions += [where(name) for name in other.positions[: _MAX_STORED - len(self.positions)]]

    def __len__(self) -> int:
        return self._causes.total()

    @property
    def causes(self) -> str:
        """The causes, each with its number of rows, such as "2 without a label, 1 without a text"."""
        return ", ".join(f"{count:,} {cause}" for cause, count in sorted(self._causes.items()))

    def note(self) -> str:
        """Return a note with the number of rows left out, the causes and a few positions; "" if no row was left out."""
        total = len(self)
        positions = ", ".join(self.positions[:_MAX_LISTED]) + (", ..." if total > _MAX_LISTED else "")
        return f"left out {total:,} row{'s' * (total > 1)}: {self.causes} ({positions})" if total else ""
