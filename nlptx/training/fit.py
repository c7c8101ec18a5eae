"""``fit``: from labelled texts and word vectors to a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nlptx.classifier.model import Model
from nlptx.embeddings.embeddings import Embeddings
from nlptx.errors import DataError, DivergenceError
from nlptx.runtime.workers import Workers
from nlptx.settings import SEED, TrainSettings
from nlptx.training.baseline import find_uselessness
from nlptx.training.calibration import calibrate
from nlptx.training.checkpoint import Checkpoint
from nlptx.training.context import TrainingContext
from nlptx.training.dataset import split
from nlptx.training.distillation import distill
from nlptx.training.encoding import encode
from nlptx.training.fingerprint import Fingerprint
from nlptx.training.initialization import initial_model
from nlptx.training.loss import outputs_of
from nlptx.training.ngram_features import add_ngram_features
from nlptx.training.pretraining import pretrain
from nlptx.training.progress import Progress
from nlptx.training.supervised import SupervisedTrainer


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
        labels: the label of each text.
        embeddings: word vectors to start from.
        settings: see :class:`TrainSettings`.
        valid: texts and labels to validate on; by default a part of the training data.
        unlabelled: texts without labels, to learn from which n-grams go together.
        seed: of all random numbers: held-out texts, folds, LSA, passages, initial weights, order of texts, dropout.
        jobs: number of threads, or workers; all cores by default. At most four share a batch. They do not change the
            result.
        on_progress: called with the progress of each step, and with an :class:`EpochProgress` after every optimiser
            step and every validation.
        on_note: told what is worth knowing, such as a part of the data that cannot be used.
        stop: asked before every optimiser step; True ends training with the best weights so far.
        checkpoint: where the state is kept during training, and where it may continue from; by default nowhere.

    Raises:
        ArtifactError: the checkpoint to continue from belongs to another training, or is damaged.
        DataError, LabelError: the data cannot be used, or a text has no label.
        SettingsError: the settings do not fit the data.
        DivergenceError: the loss exploded, or became NaN or infinite.
    """
    for kind, given, theirs in (("training", texts, labels), ("validation", *(valid or ((), ())))):
        if len(given) != len(theirs):
            raise DataError(f"there are {len(given):,} {kind} texts and {len(theirs):,} labels; expected one for each")
    settings = settings or TrainSettings()
    checkpoint = checkpoint or Checkpoint(None)
    checkpoint.begin(lambda: Fingerprint.of(texts, labels, embeddings, settings, seed, valid, unlabelled))
    with Workers.of(jobs) as workers:
        context = TrainingContext(seed, workers, on_progress, stop, checkpoint, on_note)
        encoded = encode(texts, labels, embeddings, settings, context, valid, unlabelled)
        data = split(encoded, settings, context)
        data, ngram_features = add_ngram_features(data, encoded, settings, context)
        model = initial_model(
            encoded.vocabulary,
            encoded.vectors,
            encoded.labels,
            encoded.values,
            encoded.priors,
            settings,
            seed,
            ngram_features,
        )
        try:
            pretraining = pretrain(model, data.train, context)
            distillation = distill(model, data.unlabelled, context)
            trainer = SupervisedTrainer(model, data.train, data.valid, context, pretraining, distillation)
            trainer.run()
        except DivergenceError:
            checkpoint.discard()  # a training that continued from it would diverge again
            raise
        model.history = trainer.history()
        if model.history["best_epoch"] and len(data.valid):
            outputs = outputs_of(model, data.valid, workers)
            if settings.calibrate:
                calibrate(model, outputs, data.valid.targets)
            if warning := find_uselessness(model, data, outputs, trainer.class_weights):
                model.history["warnings"] = [warning]
                on_note(f"warning: {warning}. Give more texts or --epochs, check the labels, or lower --lr.")
    model.made_from = embeddings.to_artifact().header
    return model
