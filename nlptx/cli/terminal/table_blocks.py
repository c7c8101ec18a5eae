"""Splits tables that are wider than the output into blocks of columns, so that no number is broken across lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

# Long headings may be broken into lines of _HEADING characters, and long cells into lines of _CELL characters.
_HEADING, _CELL = 8, 24
# Total number of spaces to the left and right of the contents of a cell.
_PADDING = 2


class Block(NamedTuple):
    """The indices of the columns of a block, and of those columns whose cells must not be broken into lines."""

    columns: list[int]
    unbroken: set[int]


def split_into_blocks(header: Sequence[str], rows: Sequence[Sequence[str]], width: int, keys: int = 1) -> list[Block]:
    """Split a table into blocks that fit into the width. Every block starts with the key columns.

    Args:
        header: headings of the columns.
        rows: cells of each row.
        width: number of characters in a line of the output.
        keys: number of key columns, which say what a row is about; they are the first ones.

    >>> [block.columns for block in split_into_blocks(["word", "a", "b"], [["good", "0.1234", "0.5678"]], 16)]
    [[0, 1], [0, 2]]
    """
    from rich.cells import cell_len

    cells = [max((cell_len(row[index]) for row in rows), default=0) for index in range(len(header))]
    headings = [cell_len(name) for name in header]
    needed = [
        max(min(heading, _HEADING), min(cell, _CELL)) + _PADDING for heading, cell in zip(headings, cells, strict=True)
    ]
    unbroken = {index for index in range(len(header)) if max(cells[index], headings[index]) + _PADDING == needed[index]}
    groups: list[list[int]] = [list(range(keys))] if header else []
    for index in range(keys, len(header)):
        if len(groups[-1]) > keys and sum(needed[column] for column in groups[-1]) + needed[index] > width:
            groups.append(list(range(keys)))
        groups[-1].append(index)
    return [
        Block(columns, unbroken.intersection(columns) if sum(needed[column] for column in columns) <= width else set())
        for columns in groups
    ]
