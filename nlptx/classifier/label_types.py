"""Converts labels of any supported type to names and back.

A label is a str, bool, int or float, or a NumPy scalar of such a type. The name of a label is the label as a str.
During training and in files, labels are represented only by their names. A model also stores the type of each label, so
that its predictions have the same types as the training labels.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.arguments.collections import SEVERAL_LABELS_HINT, UNLABELLED_HINT, check_iterable
from nlptx.arguments.values import is_missing, with_type
from nlptx.errors import CorruptError, InputTypeError, LabelError

Label = str | bool | int | float | np.generic

_NUMPY = (
    *(np.str_, np.bool_, np.float16, np.float32, np.float64),
    *(np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
)
# Names under which types are stored in a file. The names do not depend on the NumPy version: NumPy's bool is always
# stored as numpy.bool, although some versions call this type bool_.
_TYPES: dict[str, type] = {kind.__name__: kind for kind in (str, bool, int, float)}
_TYPES |= {f"numpy.{np.dtype(kind).name}": kind for kind in _NUMPY}
# NumPy has two types of 64-bit integers. Labels of the second one are read from a file as labels of the first one.
_TYPE_NAMES = {kind: name for name, kind in _TYPES.items()}
_TYPE_NAMES |= {kind: f"numpy.{np.dtype(kind).name}" for kind in (np.longlong, np.ulonglong)}
_TRUTH = {"False": False, "True": True}


def list_labels(labels: Iterable[Label], name: str = "labels") -> list[Label]:
    """Check the labels, and return them as a list.

    Args:
        labels: a list, tuple, array, Series or any other iterable.
        name: name of the argument in error messages.

    Raises:
        InputTypeError: ``labels`` is not iterable, or is a single string or a table; or a label has an unsupported
            type.
        LabelError: a label is missing (None or NaN).

    >>> list_labels([1, float("nan")])
    Traceback (most recent call last):
    nlptx.errors.LabelError: `labels[1]` is nan (float); expected a label
      Leave out texts without a label; in training, they can be passed as `unlabelled`.
    """
    listed = list(check_iterable(labels, name, "labels"))
    for position, label in enumerate(listed):
        if is_missing(label):
            raise LabelError(
                f"`{name}[{position}]` is {with_type(label)}; expected a label",
                hint=UNLABELLED_HINT,
            )
        if type(label) not in _TYPE_NAMES:
            raise InputTypeError(
                f"`{name}[{position}]` is {with_type(label)}; expected a str, bool, int, float or NumPy scalar",
                hint=SEVERAL_LABELS_HINT
                if isinstance(label, Collection) and not isinstance(label, str | bytes)
                else "",
            )
    return listed


def label_name(label: Label) -> str:
    """Return the name of a label.

    >>> label_name("pos"), label_name(1), label_name(True), label_name(0.5)
    ('pos', '1', 'True', '0.5')
    """
    return str(label)


def as_number(label: str) -> float | None:
    """Return a label as a float, or None if the label is not a finite number.

    A label such as ``1_2`` does not count as a number, although Python converts it to one.

    >>> as_number("-0.5"), as_number("1_2"), as_number("nan")
    (-0.5, None, None)
    """
    try:
        number = math.nan if "_" in label else float(label)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def labels_by_name(labels: Sequence[Label]) -> dict[str, Label]:
    """Return a dictionary from the name of each distinct label to the label, in order of first appearance.

    Raises:
        LabelError: two labels are equal or have the same name, but differ in type, such as 1 and True, or 1 and "1". A
            NumPy str counts as a str.
    """
    first: dict[Label, int] = {}
    for position, label in enumerate(labels):
        before = first.setdefault(label, position)
        if type(labels[before]) is not type(label) and not isinstance(label, str):
            raise _clash(labels, before, position)
    named: dict[str, int] = {}
    for label, position in first.items():
        before = named.setdefault(label_name(label), position)
        if before != position:
            raise _clash(labels, before, position)
    return {text: labels[position] for text, position in named.items()}


def _clash(labels: Sequence[Label], before: int, position: int) -> LabelError:
    return LabelError(
        f"`labels[{before}]` is {with_type(labels[before])} and `labels[{position}]` is {with_type(labels[position])};"
        " expected labels that cannot be mistaken for each other",
        hint="Give all labels the same type.",
    )


def find_labels(labels: Sequence[Label], known: Sequence[Label]) -> NDArray[np.int64]:
    """Return the index in ``known`` of each label, as an int64 array (labels,).

    Raises:
        LabelError: a label is not in ``known``.

    >>> find_labels(["pos", "neg", "pos"], ["neg", "pos"])
    array([1, 0, 1])
    """
    columns = {label: column for column, label in enumerate(known)}
    for position, label in enumerate(labels):
        if label not in columns:  # equal labels may have different hashes, such as 0.1 and np.float32(0.1)
            columns[label] = find_label(label, known, f"labels[{position}]")
    return np.array([columns[label] for label in labels], np.int64)


def find_label(label: Label, known: Sequence[Label], name: str = "label") -> int:
    """Return the index of a label in ``known``. Raises LabelError if ``known`` does not contain the label."""
    if type(label) not in _TYPE_NAMES or label not in known:
        given = repr(label) if isinstance(label, str) and isinstance(known[0], str) else with_type(label)
        alike = type(label) in _TYPE_NAMES and _is_alike(label_name(label), list(map(label_name, known)))
        raise LabelError(
            f"`{name}` is {given}; expected one of {', '.join(map(repr, known))}",
            hint=f"Convert the labels to the type of the model's labels, {type(known[0]).__name__}." if alike else "",
        )
    return known.index(label)


def _is_alike(name: str, names: Sequence[str]) -> bool:
    """Return whether a label name is one of the given names, or the same number as one of them ("1.0" and "1")."""
    number = as_number(name)
    return name in names or (number is not None and number in map(as_number, names))


def type_names(labels: Iterable[Label]) -> list[str]:
    """Return, for each label, the name under which its type is stored.

    >>> type_names(["neg", 1, np.int64(2)])
    ['str', 'int', 'numpy.int64']
    """
    return [_TYPE_NAMES[type(label)] for label in labels]


def restore_labels(names: Sequence[str], types: Any) -> list[Label]:
    """Restore labels from their stored names and types.

    Raises:
        CorruptError: a type is unknown, or a name cannot be converted to its type.

    >>> restore_labels(["0", "1"], ["int", "int"])
    [0, 1]
    """
    if not isinstance(types, list) or len(types) != len(names) or not all(isinstance(kind, str) for kind in types):
        raise CorruptError("its label types are damaged")
    labels = []
    for text, kind in zip(names, types, strict=True):
        try:
            label = _TRUTH[text] if kind in ("bool", "numpy.bool") else text
            labels.append(_TYPES[kind](label))
        except (KeyError, ValueError, OverflowError):
            raise CorruptError(f"its label {text!r} is not of type {kind!r}") from None
        if label_name(labels[-1]) != text:
            raise CorruptError(f"its label {text!r} is not of type {kind!r}")
    return labels
