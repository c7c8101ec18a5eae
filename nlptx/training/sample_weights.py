"""Weights of training texts: a weight of 2 counts a text twice, and a weight of 0 leaves it out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from nlptx.arguments.collections import check_iterable
from nlptx.arguments.values import with_type
from nlptx.corpus.document import MAX_WEIGHT
from nlptx.errors import DataError, InputTypeError

# If the mean weight is outside this range, a note is printed.
_USUAL_MEAN = (0.1, 10.0)


def list_weights(weights: Iterable[float], texts: int, texts_name: str = "texts") -> NDArray[np.float64]:
    """Return the weights as an array (texts,), after checking each of them.

    Args:
        weights: a list, array, Series or any other iterable of numbers. If all of them are bool, True is a weight of 1,
            and False is a weight of 0.
        texts: number of texts.
        texts_name: name of the argument that contains the texts, for messages.

    Raises:
        DataError: a weight is negative, NaN or too large; all weights are 0; or the numbers of weights and texts
            differ.
        InputTypeError: ``weights`` is not iterable, or a weight is not a number.

    >>> list_weights([1, -1], 2)
    Traceback (most recent call last):
    nlptx.errors.DataError: `sample_weight[1]` is -1; expected a number from 0 to 1e+09
    """
    values = list(check_iterable(weights, "sample_weight", "numbers"))
    if len(values) != texts:
        raise DataError(
            f"`{texts_name}` has {texts:,} elements, `sample_weight` has {len(values):,}; expected one weight per text"
        )
    is_mask = all(isinstance(weight, bool | np.bool_) for weight in values)
    for position, weight in enumerate(values):
        if not is_mask and (isinstance(weight, bool) or not isinstance(weight, Real)):
            mixed = ", because other weights are not bool" if isinstance(weight, bool | np.bool_) else ""
            raise InputTypeError(f"`sample_weight[{position}]` is {with_type(weight)}; expected a number{mixed}")
        if not 0 <= weight <= MAX_WEIGHT:
            raise DataError(f"`sample_weight[{position}]` is {weight}; expected a number from 0 to {MAX_WEIGHT:g}")
    result = np.array(values, np.float64)
    if texts and not result.any():
        raise DataError("the weights of all texts are 0")
    return result


def weight_notes(weights: NDArray[np.float64] | None) -> Iterator[str]:
    """Yield a note if the mean weight suggests that the weights are not meant as numbers of texts."""
    if weights is not None and not _USUAL_MEAN[0] <= weights.mean() <= _USUAL_MEAN[1]:
        yield (
            f"the mean weight is {weights.mean():.3g}, but a text with a weight of 2 counts as two texts, and n-grams"
            " that occur in too few texts are dropped; if the weights only express importance, divide them by their"
            " mean"
        )


def scaled_to_mean_one(weights: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the weights divided by their mean, so that the weights of all n texts sum to n."""
    return (weights / weights.mean()).astype(np.float32)
