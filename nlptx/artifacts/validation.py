"""Reads and checks the parts of an artifact that several stages use: arrays, tokenizer, vocabulary, history."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.artifacts.artifact import Artifact
from nlptx.artifacts.stored_array import StoredArray
from nlptx.errors import CorruptError, DataError
from nlptx.text.tokenizer import TOKENIZERS, Tokenizer
from nlptx.text.vocabulary import Vocabulary

# Maximum absolute value of a number in a training history: far above any real loss or step number, and small enough to
# be plotted.
_MAX_NUMBER = 1e15


@contextmanager
def checked_before_saving(what: str) -> Iterator[None]:
    """Convert a CorruptError that is raised in the block to a DataError, which says that ``what`` cannot be saved.

    The block runs the checks that are also made when an artifact is read.
    """
    try:
        yield
    except CorruptError as error:
        raise DataError(f"{what} cannot be saved: {error.message}") from None


def require_array(artifact: Artifact, name: str, dtype: str, shape: tuple[int | None, ...]) -> NDArray:
    """Return array ``name``, after checking its dtype and its shape. A None in ``shape`` allows any length.

    A :class:`StoredArray` is not checked for NaNs and infinities.

    Raises:
        CorruptError: the array is missing, has another dtype or shape, or contains a NaN or an infinity.
    """
    array = artifact.arrays.get(name)
    if array is None:
        raise CorruptError(f"it has no array {name!r}")
    fits = len(array.shape) == len(shape) and all(
        want in (None, have) for want, have in zip(shape, array.shape, strict=True)
    )
    if array.dtype.name != dtype or not fits:
        raise CorruptError(f"array {name!r} is {array.dtype}{list(array.shape)}; expected {dtype}{list(shape)}")
    stored = isinstance(array, StoredArray)
    if array.dtype.kind == "f" and not stored and not np.isfinite(array).all():
        raise CorruptError(f"array {name!r} holds a NaN or an infinity")
    return array


def read_tokenizer(details: dict[str, Any]) -> Tokenizer:
    """Remove the settings of the tokenizer from an artifact's details, and return the tokenizer.

    Raises CorruptError if the tokenizer is unknown or its settings are incomplete.
    """
    name, lowercase = details.pop("tokenizer", None), details.pop("lowercase", None)
    if name not in list(TOKENIZERS) or not isinstance(lowercase, bool):
        raise CorruptError(f"its tokenizer {name!r} is unknown or incomplete")
    return Tokenizer(name, lowercase)


def read_vocabulary(artifact: Artifact, tokenizer: Tokenizer) -> Vocabulary:
    """Return the vocabulary of an artifact. Raises CorruptError if the vocabulary is invalid."""
    require_array(artifact, "words", "uint8", (None,))
    counts = require_array(artifact, "word_counts", "int64", (None,))
    if (counts < 0).any():
        raise CorruptError("a word count is negative")
    return Vocabulary.from_arrays(artifact.arrays, tokenizer)


def read_history(details: dict[str, Any]) -> dict[str, Any]:
    """Return the recorded training history, which is empty if nothing was recorded.

    Raises:
        CorruptError: the history cannot be displayed or plotted.
    """
    history = details.get("history")
    if not isinstance(history, dict):
        raise CorruptError("its history is damaged")
    if not history:
        return history
    epochs, curve, best = (history.get(name) for name in ("epochs", "curve", "best_epoch"))
    if not isinstance(epochs, list) or not isinstance(curve, list) or type(best) is not int:
        raise CorruptError("its history is incomplete")
    for epoch in epochs:
        if not isinstance(epoch, dict) or not {"epoch", "step"} <= set(epoch) or not _numbers(epoch.values()):
            raise CorruptError("its history contains a damaged epoch")
        if ("valid_loss" in epoch) != ("valid_accuracy" in epoch):
            raise CorruptError("its history contains a validation loss without an accuracy, or vice versa")
    if not all(isinstance(point, list) and len(point) == 2 and _numbers(point) for point in curve):
        raise CorruptError("the loss curve in its history is damaged")
    if any(after[0] < before[0] for before, after in pairwise(curve)):
        raise CorruptError("the step numbers of the loss curve in its history are not increasing")
    for name, title in (("regions", "region filters"), ("subwords", "subword model")):
        record = history.get(name, {})
        if not isinstance(record, dict) or not _numbers(record.values()):
            raise CorruptError(f"the record of the {title} in its history is damaged")
    warnings = history.get("warnings", [])
    if not isinstance(warnings, list) or not all(isinstance(warning, str) for warning in warnings):
        raise CorruptError("the warnings in its history are damaged")
    if not 0 <= best <= len(epochs):
        raise CorruptError(f"its history names epoch {best} of {len(epochs)} as the best")
    return history


def _numbers(values: Iterable[Any]) -> bool:
    return all(type(value) in (int, float) and abs(value) <= _MAX_NUMBER for value in values)
