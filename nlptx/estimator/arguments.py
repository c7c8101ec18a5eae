"""Checks the arguments of ``TextClassifier.fit`` before any work starts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nlptx.arguments.collections import check_iterable, check_one_label_each, list_texts
from nlptx.arguments.values import with_type
from nlptx.classifier.label_sets import are_label_sets, list_label_sets
from nlptx.classifier.label_types import Label, find_label, label_name, list_labels
from nlptx.classifier.model import Model
from nlptx.corpus.text_metadata import describe_texts
from nlptx.errors import InputTypeError, LabelError
from nlptx.estimator.multi_label import (
    choose_separator,
    indicated_labels,
    indicator_array,
    is_indicator,
    list_sets,
)
from nlptx.estimator.parameters import to_plain
from nlptx.training.sample_weights import list_weights

# NumPy's types for str, bool, int and float. Labels of these types can be converted to Python objects, because the
# conversion does not change str(label). In contrast, str(np.float32(0.1)) and str(float(np.float32(0.1))) are
# different.
_USUAL = (np.str_, np.bool_, np.int64, np.float64)


@dataclass(frozen=True)
class FitArguments:
    """The checked arguments of ``fit``. Training texts with a weight of 0 are moved to ``left_out``.

    Args:
        texts, labels: training texts, and their labels as returned by :func:`list_plain_labels`; for multi-label data,
            a tuple of labels for each text.
        weights: (texts,) weight of each text, or None.
        classes: (C,) distinct labels, sorted, with the dtype of the labels that were passed. For an indicator matrix,
            the labels are the column numbers.
        unlabelled: texts without labels.
        valid: texts and labels to validate on, or None.
        left_out: texts with a weight of 0.
        source, corpus: metadata of the texts, such as digests; ``source`` is stored with the model, and ``corpus`` with
            the word vectors. See :func:`describe_texts`.
        separator: string that separates the labels of a text in tables; None for single-label data.
    """

    texts: list[str]
    labels: list[Label] | list[tuple[str, ...]]
    weights: NDArray[np.float64] | None
    classes: NDArray
    unlabelled: list[str]
    valid: tuple[list[str], list[Any]] | None
    left_out: list[str]
    source: dict[str, Any]
    corpus: dict[str, Any]
    separator: str | None = None

    @classmethod
    def of(
        cls,
        X: Iterable[str],
        y: Iterable[Any],
        sample_weight: Iterable[float] | None,
        unlabelled: Iterable[str],
        valid: tuple[Iterable[str], Iterable[Any]] | None,
    ) -> Self:
        """Check the arguments. Raise DataError, InputTypeError or LabelError if an argument is invalid."""
        texts = list_texts(X, "X")
        y = _reusable(y, "y")
        labels, array, separator = _labels_and_array(y)
        check_one_label_each(texts, labels, ("X", "y"))
        more_texts = list_texts(unlabelled, "unlabelled")
        held_out, held_out_cells = _validation(valid, separator, array)
        weights = None if sample_weight is None else list_weights(sample_weight, len(texts), "X")
        source, corpus = describe_texts(
            texts,
            _cells(y, labels, separator),
            weights,
            more_texts,
            held_out and (held_out[0], held_out_cells),
            separator,
        )
        left_out: list[str] = []
        if weights is not None:
            kept = weights > 0
            left_out = list(compress(texts, ~kept))
            texts, labels = list(compress(texts, kept)), list(compress(labels, kept))
            array = array[kept] if separator is None else array
            weights = weights[kept]
        classes = _classes(array) if separator is None else array
        return cls(texts, labels, weights, classes, more_texts, held_out, left_out, source, corpus, separator)


def list_plain_labels(y: Iterable[Label], name: str) -> list[Label]:
    """Check the labels with :func:`list_labels`, and convert NumPy scalars of the types in _USUAL to Python objects.

    Other NumPy scalars, such as float32, are not converted, because a conversion could change the name of the label.
    """
    return [to_plain(label) if type(label) in _USUAL else label for label in list_labels(y, name)]


def list_true_labels(y: Iterable[Any], model: Model, classes: NDArray) -> Sequence[tuple[Label, ...]]:
    """Return the true labels of each text, so that they can be compared with the predictions of a model.

    Args:
        y: the labels, in one of the forms that ``fit`` accepts.
        model: the trained model.
        classes: (C,) labels of the columns of an indicator matrix.

    Raises:
        InputTypeError: ``y`` is not iterable, or a label has an unsupported type.
        LabelError: a label is missing or invalid; the labels in ``y`` are str and those of the model are not, or vice
            versa; or an indicator matrix does not have C columns.
    """
    if model.multi_label is not None:
        return list_sets(y, model.multi_label.separator, "y", classes.tolist())
    labels = list_plain_labels(y, "y")
    for position, label in enumerate(labels):
        if isinstance(label, str) is not isinstance(model.labels[0], str):
            find_label(label, model.labels, f"y[{position}]")  # raises LabelError
    # Labels of different types can have the same name, such as 0.1 and np.float32(0.1).
    by_name = {label_name(label): label for label in model.labels}
    return [(by_name.get(label_name(label), label),) for label in labels]


def _reusable(y: Iterable[Any], name: str) -> Any:
    """Return the labels so that they can be read more than once: an indicator matrix as is, others as array or list."""
    if is_indicator(y):
        return y
    # np.asarray would show the values that the mask of a masked array hides.
    is_array = hasattr(y, "__array__") and not isinstance(y, np.ma.MaskedArray)
    y = check_iterable(np.asarray(y) if is_array else y, name, "labels")
    return y if isinstance(y, np.ndarray) else list(y)


def _labels_and_array(y: Any) -> tuple[list[Any], NDArray, str | None]:
    """Return the labels, the array that determines the classes, and the separator; see :class:`FitArguments`.

    For single-label data, the array contains the label of each text; for multi-label data, the distinct labels. The
    array has the dtype of ``y`` if ``y`` has one. Otherwise, NumPy chooses the dtype, or the dtype is object if NumPy's
    choice would change a label.
    """
    if is_indicator(y):
        matrix = indicator_array(y, "y")
        classes = np.arange(matrix.shape[1])
        return indicated_labels(matrix, classes.tolist()), classes, choose_separator(())
    if are_label_sets(y):
        separator = choose_separator(each for each in y if not isinstance(each, str) and hasattr(each, "__iter__"))
        sets = list_label_sets(y, separator, "y")
        names = sorted(set().union(*sets))
        return sets, _array_of(np.array(names, np.str_), names), separator
    labels = list_plain_labels(y, "y")
    for position, label in enumerate(labels):
        if type(label) is not type(labels[0]):
            raise InputTypeError(
                f"`y[0]` is {with_type(labels[0])} and `y[{position}]` is {with_type(label)}; expected one type",
                hint="Use one type for all labels.",
            )
    return labels, _array_of(y, labels), None


def _array_of(y: Any, labels: Sequence[Label]) -> NDArray:
    """Return the labels as an array of the dtype that NumPy chooses for ``y``.

    If this dtype would change a label, the array has the dtype object. For example, NumPy converts integers to floats
    if no integer type can hold all of them, and drops NUL characters at the end of a str.
    """
    array, plain = np.asarray(y), list(map(to_plain, labels))
    chosen = list(map(to_plain, array.tolist()))
    is_same = chosen == plain and list(map(type, chosen[:1])) == list(map(type, plain[:1]))
    return array if is_same else np.array(labels, object)


def _classes(labels: NDArray) -> NDArray:
    """Return the distinct labels in ascending order. Raise LabelError if there is only one label."""
    classes = np.unique(labels)
    if len(classes) == 1:
        raise LabelError(f"`y` has only one class, {classes.tolist()[0]!r}; expected two or more")
    return classes


def _validation(
    valid: tuple[Iterable[str], Iterable[Any]] | None, separator: str | None, classes: NDArray
) -> tuple[tuple[list[str], list[Any]] | None, list[str | None]]:
    """Return two values: the validation texts with their labels, and the labels as table cells; see :func:`_cells`."""
    if valid is None:
        return None, []
    if not isinstance(valid, tuple | list) or len(valid) != 2:
        raise InputTypeError(f"`valid` is {with_type(valid)}; expected a pair of texts and labels")
    texts, y = list_texts(valid[0], "valid[0]"), _reusable(valid[1], "valid[1]")
    labels: list[Any] = (
        list_plain_labels(y, "valid[1]") if separator is None else list_sets(y, separator, "valid[1]", classes.tolist())
    )
    check_one_label_each(texts, labels, ("valid[0]", "valid[1]"))
    return (texts, labels), _cells(y, labels, separator)


def _cells(y: Any, labels: list[Any], separator: str | None) -> list[str | None]:
    """Return the labels as table cells.

    From the cells, ``fit`` computes the digest that ``nlptx train`` would record for a table with these cells. For
    multi-label data, a cell contains the joined labels, or is None for a text without labels. If ``y`` contains the
    labels of a text as a list or tuple, their order is kept.
    """
    if separator is None:
        return list(map(label_name, labels))
    given = zip(labels if is_indicator(y) else y, labels, strict=True)
    return [separator.join(each if isinstance(each, list | tuple) else names) or None for each, names in given]
