"""``fit``: from labelled texts and word vectors to a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from nlptx.classifier.model import Model
from nlptx.embeddings.embeddings import Embeddings
from nlptx.errors import DataError, DivergenceError
from nlptx.runtime.workers import Workers
from nlptx.settings import SEED, TrainSettings
from nlptx.training.calibration import describe, find_temperature
from nlptx.training.checkpoint import Checkpoint
from nlptx.training.context import TrainingContext
from nlptx.training.dataset import Examples, TrainingData, prepare
from nlptx.training.distillation import Distillation
from nlptx.training.fingerprint import Fingerprint
from nlptx.training.loss import outputs_of
from nlptx.training.pretraining import Pretraining
from nlptx.training.progress import Progress
from nlptx.training.supervised import SupervisedTrainer
from nlptx.training.trainer import Preparation


def fit(
    texts: Sequence[str],
    labels: Sequence[str],
    embeddings: Embeddings,
    settings: TrainSettings | None = None,
    *,
    valid: tuple[Sequence[str], Sequence[str]] | None = None,
    unlabelled: Sequence[str] = (),
    seed: int = SEED,
    jobs: int | Workers | None = None,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    on_note: Callable[[str], None] = lambda note: None,
    stop: Callable[[], bool] = lambda: False,
    checkpoint: Checkpoint | None = None,
) -> Model:
    """Train a classifier.

    Args:
        texts: the training texts.
        labels: the label of each.
        embeddings: word vectors to start from.
        settings: see :class:`TrainSettings`.
        valid: texts and labels to validate on; by default a part of the training data.
        unlabelled: texts without labels, to learn from which n-grams go together.
        seed: of all random numbers: initial weights, what is held out, folds, components, passages, order, dropout.
        jobs: number of threads, or workers; all cores by default. At most four share a batch. They do not change the
            result.
        on_progress: called after every step and every validation.
        on_note: told what is worth knowing, such as a part of the data that cannot be used.
        stop: asked before every step; True ends training with the best weights so far.
        checkpoint: where the state is kept while training, and where it may go on from; by default nowhere.

    Raises:
        ArtifactError: the checkpoint to go on from is of another training, or damaged.
        DataError, LabelError: the data cannot be used, or a text has no label.
        SettingsError: the settings do not fit the data.
        DivergenceError: a NaN or an infinity came up.
    """
    for kind, given, theirs in (("training", texts, labels), ("validation", *(valid or ((), ())))):
        if len(given) != len(theirs):
            raise DataError(f"there are {len(given):,} {kind} texts and {len(theirs):,} labels; expected one for each")
    settings = settings or TrainSettings()
    checkpoint = checkpoint or Checkpoint(None)
    checkpoint.begin(lambda: Fingerprint.of(texts, labels, embeddings, settings, seed, valid, unlabelled))
    with Workers.of(jobs) as workers:
        data = prepare(texts, labels, embeddings, settings, seed, valid, unlabelled, workers, on_note)
        model = Model.fresh(
            data.vocabulary, data.table, data.labels, data.values, data.priors, settings, seed, data.ngram_features
        )
        control = TrainingContext(seed, workers, on_progress, stop, checkpoint)
        try:
            model.history = _train(model, data, control)
            if settings.calibrate and model.history["best_epoch"] and len(data.valid):
                _calibrate(model, data.valid, workers)
        except DivergenceError:
            checkpoint.discard()  # whoever went on from it would end in the same place
            raise
    model.made_from = embeddings.to_artifact().header
    return model


def _calibrate(model: Model, valid: Examples, workers: Workers) -> None:
    outputs, loss = outputs_of(model, valid, workers), model.network.loss
    model.temperature = find_temperature(loss, outputs, valid.targets)
    model.history["calibration"] = describe(loss, outputs, valid.targets, model.temperature)


def _train(model: Model, data: TrainingData, control: TrainingContext) -> dict[str, Any]:
    """Take the phases that are left; return the history."""
    earlier: dict[str, list[dict[str, float]]] = {}
    interrupted = False
    for preparation in _preparations(model, data, control):
        preparation.run()
        earlier[preparation.name], interrupted = preparation.history, preparation.interrupted
        del preparation  # and its memory, before the next one is made
        if interrupted:
            break
    training = SupervisedTrainer(
        model, data.train, data.valid, control, earlier.get(Pretraining.name), earlier.get(Distillation.name)
    )
    training.interrupted = interrupted
    if not interrupted:
        training.run()
    return training.history()


def _preparations(model: Model, data: TrainingData, control: TrainingContext) -> Iterator[Preparation]:
    """Yield what comes before the labels and is not done; the next one is made when the one before has run."""
    done = control.checkpoint.is_beyond
    if model.settings.pretrain and not done(Pretraining.name):
        yield Pretraining(model, data.train, control)
    if (
        model.settings.distill
        and len(data.unlabelled)
        and model.ngram_features is not None
        and not done(Distillation.name)
    ):
        yield Distillation(model, data.unlabelled, control)
