"""Fits one logistic regression per label, on the log-count ratios of the n-grams that indicate the label.

If there are many labels, the n-gram features are the outputs of one model per label. The model of a label is a logistic
regression on log-count ratios, as in :mod:`nlptx.ngrams.logistic_regression`. The ratios compare the label with all
other labels. However, the model uses only the n-grams that occur with the label more often than expected. The number of
these n-grams grows at most in proportion to the number of texts with the label. The memory for the weights of all
models therefore grows at most in proportion to the total number of labels of all texts. For a text without any n-gram
of the model, the output is just the bias. The total loss of all such texts is therefore computed from only two numbers:
how many there are, and how many of them have the label. The time for fitting all models grows at most in proportion to
the number of texts times the number of labels. Axis letters: see :mod:`nlptx.ngrams`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.lbfgs import minimise
from nlptx.ngrams.logistic_regression import INVERSE_PENALTY, MAX_ITERATIONS, TOLERANCE
from nlptx.ngrams.naive_bayes import count_ratios
from nlptx.nn.activations import sigmoid

# An n-gram is used if its log-count ratio is above this value.
_MIN_RATIO = 0.0


@dataclass(frozen=True)
class LabelModels:
    """Fitted models of all labels.

    Args:
        products: (G, C) float32 sparse matrix; each entry is the weight of an n-gram times its ratio.
        bias: (C,) float32 bias of each model.
    """

    products: sp.csr_matrix
    bias: NDArray[np.float32]

    def to_bytes(self) -> list[bytes]:
        """Return the arrays as bytes, which can be sent to another process without pickling instances of classes."""
        arrays = (self.products.indptr.astype(np.int64), self.products.indices.astype(np.int32))
        floats = (self.products.data.astype(np.float32), self.bias.astype(np.float32))
        return [array.tobytes() for array in (*arrays, *floats)]

    @classmethod
    def from_bytes(cls, parts: list[bytes], shape: tuple[int, int]) -> Self:
        """Restore the models from the bytes of :meth:`to_bytes`. ``shape`` is (G, C)."""
        dtypes = (np.int64, np.int32, np.float32, np.float32)
        indptr, indices, data, bias = (np.frombuffer(part, dtype) for part, dtype in zip(parts, dtypes, strict=True))
        return cls(sp.csr_matrix((data, indices, indptr), shape), bias)


def fit_labels(
    rows: sp.csr_matrix,
    targets: sp.csr_matrix,
    min_texts: int,
    text_weights: NDArray[np.float64] | None = None,
) -> LabelModels:
    """Fit the models of all labels.

    Args:
        rows: (texts, G) float32 matrix that is 1 / sqrt(T) where a text of T words contains an n-gram, and 0 elsewhere.
        targets: (texts, C) matrix from :func:`label_matrix`.
        min_texts: minimum number of texts in which an n-gram must occur.
        text_weights: (texts,) weight of each text, or None.
    """
    weights = np.ones(rows.shape[0]) if text_weights is None else text_weights
    presence = sp.csr_matrix((np.ones(rows.nnz), rows.indices, rows.indptr), rows.shape)
    text_counts = presence.T @ weights  # (G,)
    counts = (presence.T @ sp.diags(weights) @ targets).tocsc()  # (G, C)
    total_text_count = float(text_counts[text_counts >= min_texts].sum())
    by_ngram, labels = rows.tocsc(), targets.tocsc()
    columns, values, bias = [], [], np.zeros(targets.shape[1], np.float32)
    for label in range(targets.shape[1]):
        span = slice(counts.indptr[label], counts.indptr[label + 1])
        grams, with_label = counts.indices[span], counts.data[span]
        frequent = text_counts[grams] >= min_texts
        grams, with_label = grams[frequent], with_label[frequent]
        grams, ratios = _indicative(grams, with_label, text_counts[grams], total_text_count)
        positive = np.zeros(rows.shape[0], bool)
        positive[labels.indices[labels.indptr[label] : labels.indptr[label + 1]]] = True
        products, bias[label] = _fit_label(by_ngram[:, grams], ratios, positive, weights)
        columns.append(grams)
        values.append(products)
    indptr = np.concatenate([[0], np.cumsum([len(part) for part in columns])])
    shape = rows.shape[1], targets.shape[1]
    by_label = sp.csc_matrix((np.concatenate(values), np.concatenate(columns), indptr), shape)
    return LabelModels(by_label.tocsr(), bias)


def label_matrix(targets: NDArray[np.int64] | NDArray[np.bool_], classes: int) -> sp.csr_matrix:
    """Return a (texts, C) float64 matrix that is 1 where a text has a label and 0 elsewhere.

    Args:
        targets: (texts,) class of each text; or (texts, C) bool, True where a text has a class.
        classes: C, the number of classes.
    """
    if targets.ndim == 2:
        return sp.csr_matrix(targets, dtype=np.float64)
    return sp.csr_matrix((np.ones(len(targets)), targets, np.arange(len(targets) + 1)), (len(targets), classes))


def _indicative(
    grams: NDArray[np.integer],
    with_label: NDArray[np.float64],
    text_counts: NDArray[np.float64],
    total_text_count: float,
) -> tuple[NDArray[np.integer], NDArray[np.float64]]:
    """Return the n-grams that occur with a label more often than expected, and their log-count ratios.

    Args:
        grams: (g,) n-grams that occur with the label.
        with_label: (g,) number of texts with the label that contain each of these n-grams.
        text_counts: (g,) number of texts that contain each of these n-grams.
        total_text_count: sum of the numbers of texts that contain an n-gram, over all n-grams that occur in enough
            texts, whether or not they occur with the label.
    """
    share = with_label.sum() / (total_text_count or 1)
    if not 0 < share < 1:
        return grams[:0], np.zeros(0)
    ratios = count_ratios(with_label, text_counts - with_label, share)
    used = ratios > _MIN_RATIO
    return grams[used], ratios[used]


def _fit_label(
    rows: sp.csc_matrix, ratios: NDArray[np.float64], positive: NDArray[np.bool_], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float32], float]:
    """Fit the model of one label on g n-grams. Return the products (g,) of their weights and ratios, and the bias."""
    total, with_label = float(weights.sum()), float(weights[positive].sum())
    # Both numbers of texts, with the label and without it, are increased by 0.5, so that the log-odds are finite.
    start = np.log((with_label + 0.5) / (total - with_label + 0.5))
    if not len(ratios) or not 0 < with_label < total:
        return np.zeros(len(ratios), np.float32), float(start)

    touched, row = np.unique(rows.indices, return_inverse=True)
    data = rows.data * np.repeat(ratios, np.diff(rows.indptr))
    inputs = sp.csc_matrix((data, row.astype(np.int32), rows.indptr), (len(touched), len(ratios)))
    inputs_by_text = inputs.tocsr()
    signs, touched_weights = np.where(positive[touched], 1.0, -1.0), weights[touched]
    positive_elsewhere = with_label - float(touched_weights[signs > 0].sum())
    elsewhere = total - float(touched_weights.sum())

    def loss_and_gradient(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        bias = flat[-1]
        z = inputs_by_text @ flat[:-1] + bias
        error = (sigmoid(z) - (signs > 0)) * touched_weights
        loss = (
            touched_weights @ np.logaddexp(0, -signs * z)
            + elsewhere * np.logaddexp(0, bias)
            - positive_elsewhere * bias
        )
        gradient = np.empty_like(flat)
        gradient[:-1] = inputs.T @ error + flat[:-1] / INVERSE_PENALTY
        gradient[-1] = error.sum() + elsewhere * sigmoid(bias) - positive_elsewhere
        return float(loss + flat[:-1] @ flat[:-1] / (2 * INVERSE_PENALTY)), gradient

    solution = minimise(loss_and_gradient, np.append(np.zeros(len(ratios)), start), TOLERANCE, MAX_ITERATIONS)
    return (solution[:-1] * ratios).astype(np.float32), float(solution[-1])
