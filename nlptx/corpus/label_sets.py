"""Reads the labels in table cells: one label per cell, or any number of labels, such as ``a; b``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, compress

from nlptx.corpus.label_map import label_map_notes, map_labels
from nlptx.corpus.read_options import ReadOptions
from nlptx.errors import LabelError


def read_labels(
    cells: Sequence[str],
    options: ReadOptions,
    on_note: Callable[[str], None],
    *,
    removed: Iterable[str] = (),
    check_map: bool = True,
) -> list[str] | list[tuple[str, ...]]:
    """Apply the label map, and return the label of each cell (with a ``label_separator``: its labels, sorted).

    Args:
        cells: contents of the label column, or folder names.
        options: reading options; the label map in them applies to each label in a cell.
        on_note: called with notes about labels.
        removed: labels of documents that were already left out, because the label map replaces these labels with
            nothing.
        check_map: whether to check that the labels to replace occur in the data.

    Raises:
        LabelError: none of the labels to replace occurs in the data.
    """
    checked = options.label_map if check_map else {}
    if options.label_separator is None:
        for note in label_map_notes(checked, chain(cells, removed)):
            on_note(note)
        return map_labels(cells, options.label_map)
    sets = split_cells(cells, options.label_separator, on_note)
    if not any(options.label_separator in cell for cell in cells):
        on_note(f"no cell contains the separator {options.label_separator!r}, so no text has several labels")
    for note in label_map_notes(checked, chain.from_iterable(sets)):
        on_note(note)
    return [tuple(sorted(set(map_labels(labels, options.label_map)))) for labels in sets]


def split_cells(
    cells: Iterable[str], separator: str, on_note: Callable[[str], None] = lambda note: None
) -> list[list[str]]:
    """Return the labels in each cell, without surrounding spaces and without duplicates. An empty cell has no label.

    Args:
        cells: contents of the label column.
        separator: text between the labels of a cell.
        on_note: called with one note if any label occurs more than once in its cell.

    >>> split_cells(["b; a;b", ""], ";", on_note=print)
    cells that contain a label more than once: 1; the duplicates are ignored
    [['b', 'a'], []]
    """
    result, repeated = [], 0
    for cell in cells:
        labels = [label for part in cell.split(separator) if (label := part.strip())]
        distinct = list(dict.fromkeys(labels))
        repeated += len(distinct) < len(labels)
        result.append(distinct)
    if repeated:
        on_note(f"cells that contain a label more than once: {repeated:,}; the duplicates are ignored")
    return result


def check_held_out(
    labels: Sequence[str | tuple[str, ...]],
    training: Sequence[str | tuple[str, ...]],
    weights: Sequence[float] | None,
    where: Sequence[str],
) -> None:
    """Check that the labels of held-out texts occur in the training texts.

    Args:
        labels: label, or tuple of labels, of each held-out text.
        training: label, or tuple of labels, of each training text.
        weights: weight of each training text, or None. Texts with a weight of 0 are not used for training.
        where: for each held-out text, position of a row with the same label or labels, for error messages.

    Raises:
        LabelError: a label does not occur in the training texts, or only in texts with a weight of 0.
    """
    used = training if weights is None else compress(training, weights)
    known, written = ({name for each in set(group) for name in _names_in(each)} for group in (used, training))
    for each, row in zip(labels, where, strict=True):
        if unknown := _names_in(each) - known:
            texts = "training texts with a weight above 0" if min(unknown) in written else "training texts"
            raise LabelError(
                f"{min(unknown)!r} is not one of the labels of the {texts}: {', '.join(sorted(known))}",
                where=row,
                hint="Replace it with `label_map=OLD=NEW`, or leave out the held-out texts with this label.",
            )


def _names_in(labels: str | tuple[str, ...]) -> set[str]:
    return {labels} if isinstance(labels, str) else set(labels)
