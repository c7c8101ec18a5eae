"""N-gram features for many labels, fitted out of fold as in :mod:`nlptx.ngrams.cross_fit`.

There is one linear model per label (:mod:`nlptx.ngrams.one_vs_rest`). There are no token features and no LSA
components, because they would need memory for every pair of an n-gram and a label.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.io.memory_budget import MemoryBudget
from nlptx.ngrams.example_features import ExampleFeatures, FeatureBatch
from nlptx.ngrams.feature_settings import FeatureSettings, OnProgress, step_counter
from nlptx.ngrams.features import NgramFeatures
from nlptx.ngrams.occurrences import divide_by_root, document_frequencies, ngrams_of_texts, presence_matrix, words_of
from nlptx.ngrams.one_vs_rest import LabelModels, fit_labels, label_matrix
from nlptx.ngrams.sparse_features import SparseNgramFeatures
from nlptx.runtime.progress import counted
from nlptx.runtime.workers import SERIAL, Workers
from nlptx.sampling.copies import first_copies
from nlptx.sampling.passages import Passage
from nlptx.sampling.splits import assign_folds, training_parts

# Number of texts whose outputs are computed at a time, to save memory.
_BATCH = 1000


def fit_sparse_features(
    texts: Sequence[NDArray[np.integer]],
    targets: NDArray[np.int64] | NDArray[np.bool_],
    settings: FeatureSettings,
    rng: np.random.Generator,
    workers: Workers = SERIAL,
    passages: Sequence[Passage] = (),
    on_progress: OnProgress = lambda step, fraction, detail: None,
    text_weights: NDArray[np.float64] | None = None,
    budget: MemoryBudget | None = None,
) -> tuple[NgramFeatures, ExampleFeatures]:
    """Count the n-grams of labelled texts, and fit the n-gram features.

    Even if every text has exactly one label, the outputs are the log-odds of each label against all other labels, and
    only the network computes a softmax.

    Args:
        texts: word ids (T,) of each training text.
        targets: (texts,) class of each text, or (texts, C), True where a text has a class.
        settings: settings of the features. The number of components is ignored.
        rng: source of randomness for the folds.
        workers: pool of threads or processes; its size does not change the result.
        passages: passages of the training texts; features are computed for them too.
        on_progress: callback for progress; see OnProgress.
        text_weights: (texts,) weight of each text, or None.
        budget: memory limit for the n-grams and the features of the texts; None for no limit. The limit does not change
            the result.

    Returns:
        The same two objects as :func:`.cross_fit.fit_ngram_features` returns.

    Raises:
        OutputError: the temporary files cannot be written.
    """
    budget = budget or MemoryBudget.unlimited()
    words = words_of(texts)
    on_count = step_counter("counting n-grams", len(texts), on_progress)
    sets = ngrams_of_texts(counted(texts, on_count), settings.order, settings.words, workers, budget)
    known, text_counts = document_frequencies(sets, text_weights, workers)
    known = known[text_counts >= settings.min_texts]
    rows = divide_by_root(presence_matrix(sets, known, workers), words)
    labels = label_matrix(targets, settings.classes)
    folds = min(settings.folds, len(texts))
    fold = assign_folds(targets, folds, rng, first_copies(texts, settings.capitals_sign))
    parts = training_parts(fold, folds)
    on_model = step_counter("linear models", len(parts), on_progress, f"sets of {settings.classes:,}")
    # L-BFGS holds the interpreter lock, so processes are faster than threads.
    data = _ModelData(rows, labels, settings.min_texts, text_weights, parts)
    fitted = counted(workers.map_shared(_fit_part, data, range(len(parts))), on_model, already=1, every=1)
    final, *out_of_fold = (LabelModels.from_bytes(arrays, (len(known), settings.classes)) for arrays in fitted)

    def batches() -> Iterator[FeatureBatch]:
        for number, models in enumerate(out_of_fold):
            held_out = np.flatnonzero(fold == number)
            for start in range(0, len(held_out), _BATCH):
                some = held_out[start : start + _BATCH]
                outputs = (rows[some] @ models.products).toarray() + models.bias
                yield _batch(some, words[some], outputs.astype(np.float32))
        for number, passage in enumerate(passages, len(texts)):
            models = out_of_fold[fold[passage.text]]
            ngrams = ngrams_of_texts([passage.ids], settings.order, settings.words)
            length = np.array([len(passage.ids)])
            row = divide_by_root(presence_matrix(ngrams, known), length)
            yield _batch(np.array([number]), length, (row @ models.products).toarray() + models.bias)

    features = ExampleFeatures.collected(batches(), len(texts) + len(passages), budget)
    return _as_features(final, known, settings), features


class _ModelData(NamedTuple):
    """The data on which the linear models are fitted. ``parts`` contains, for each part, the indices of its texts."""

    rows: sp.csr_matrix
    labels: sp.csr_matrix
    min_texts: int
    text_weights: NDArray[np.float64] | None
    parts: list[NDArray[np.intp]]


def _fit_part(data: _ModelData, number: int) -> list[bytes]:
    """Fit the models of all labels on part of the texts, and return them as bytes."""
    part = data.parts[number]
    weights = None if data.text_weights is None else data.text_weights[part]
    return fit_labels(data.rows[part], data.labels[part], data.min_texts, weights).to_bytes()


def _batch(rows: NDArray[np.intp], words: NDArray[np.integer], outputs: NDArray[np.float32]) -> FeatureBatch:
    return FeatureBatch(rows, words, np.zeros((int(words.sum()), 0), np.float32), outputs)


def _as_features(models: LabelModels, known: NDArray[np.int64], settings: FeatureSettings) -> SparseNgramFeatures:
    """Return the features for texts that are not training texts, with only the n-grams that have a nonzero weight."""
    products = models.products.copy()
    products.eliminate_zeros()
    used = np.flatnonzero(np.diff(products.indptr))
    products = products[used]
    return SparseNgramFeatures(
        settings.order,
        settings.words,
        known[used],
        np.zeros((len(used), 0), np.float32),
        products.data.astype(np.float32),
        models.bias,
        starts=products.indptr.astype(np.int64),
        labels=products.indices.astype(np.int32),
    )
