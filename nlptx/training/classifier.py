"""``fit``: from labelled texts and word vectors to a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from threadpoolctl import threadpool_limits

from nlptx.embeddings import Embeddings
from nlptx.model import Model
from nlptx.parallel import default_jobs
from nlptx.settings import SEED, TrainSettings
from nlptx.training.loop import Training
from nlptx.training.prepare import prepare
from nlptx.training.pretrain import pretrain
from nlptx.training.progress import Progress


def fit(
    texts: Sequence[str],
    labels: Sequence[str],
    embeddings: Embeddings,
    settings: TrainSettings | None = None,
    *,
    valid: tuple[Sequence[str], Sequence[str]] | None = None,
    seed: int = SEED,
    jobs: int | None = None,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    stop: Callable[[], bool] = lambda: False,
) -> Model:
    """Train a classifier.

    Args:
        texts: the training texts.
        labels: the label of each.
        embeddings: word vectors to start from.
        settings: see :class:`TrainSettings`.
        valid: texts and labels to validate on; by default a part of the training data.
        seed: of the initial weights, the split, shuffling and dropout.
        jobs: threads; they do not change the result.
        on_progress: called after every step and every validation.
        stop: asked before every step; True ends training with the best weights so far.

    Raises:
        DataError, LabelError: the data cannot be used.
        SettingsError: the settings do not fit the data.
        DivergenceError: a NaN or an infinity came up.
    """
    settings = settings or TrainSettings()
    # One BLAS thread each: the threads here are ours, and sums must not depend on their number.
    with threadpool_limits(1), ThreadPoolExecutor(jobs or default_jobs()) as pool:
        data = prepare(texts, labels, embeddings, settings, seed, pool, valid)
        model = Model.fresh(
            data.vocabulary, data.table, data.labels, data.values, data.priors, settings, seed, data.evidence
        )
        warm = pretrain(model, data.train, seed, pool, on_progress, stop) if settings.pretrain else []
        training = Training(model, data.train, data.valid, seed, pool, on_progress, stop)
        model.history = {**training.run(), "pretrain": warm}
    model.made_from = embeddings.to_artifact().header
    return model
