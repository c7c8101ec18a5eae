"""``fit``: train a model on labelled texts, with given word vectors or with word vectors made from the texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from nlptx.arguments.values import check_natural, check_seed, check_settings, check_type
from nlptx.classifier.label_sets import LabelSet
from nlptx.classifier.label_types import Label
from nlptx.classifier.model import Model
from nlptx.classifier.model_file import round_like_file
from nlptx.classifier.network import check_number_of_labels
from nlptx.embeddings.embeddings import Embeddings
from nlptx.errors import DataError, DivergenceError, SettingsError
from nlptx.io.memory_budget import MemoryBudget
from nlptx.io.paths import FilePath, file_name
from nlptx.runtime.workers import Workers
from nlptx.settings import DEFAULT_MEMORY, SEED, CountSettings, PcaSettings, TrainSettings
from nlptx.settings.without_network import without_network
from nlptx.training.automatic import choose_automatic
from nlptx.training.checkpoint import Checkpoint
from nlptx.training.context import TrainingContext
from nlptx.training.dataset import Dataset, make_dataset
from nlptx.training.distillation import distill
from nlptx.training.embedding_builder import EmbeddingBuilder
from nlptx.training.encoding import WORD_MEMORY, encode
from nlptx.training.feature_cache import FeatureCache
from nlptx.training.fingerprint import Fingerprint
from nlptx.training.held_out import measure_held_out
from nlptx.training.initialization import initial_model
from nlptx.training.labelled_texts import LabelledTexts
from nlptx.training.labels import check_at_least_two
from nlptx.training.linear_combination import combine_linear_models, start_from_linear_models
from nlptx.training.multi_label import initial_decision, resolve_loss
from nlptx.training.ngram_features import add_ngram_features, check_lexicon_use
from nlptx.training.pretraining import pretrain
from nlptx.training.progress import Progress
from nlptx.training.regions import add_regions, without_new_regions
from nlptx.training.start import start_from
from nlptx.training.start_settings import settings_from
from nlptx.training.subwords import add_subwords
from nlptx.training.supervised import SupervisedTrainer
from nlptx.training.typical_surprise import measure_typical_surprise
from nlptx.training.unused_settings import note_unused_settings
from nlptx.training.without_epochs import history_without_epochs


def fit(
    texts: Iterable[str],
    labels: Iterable[Label] | Iterable[LabelSet],
    embeddings: Embeddings | EmbeddingBuilder | None = None,
    settings: TrainSettings | None = None,
    *,
    start: Model | None = None,
    cooccur: CountSettings | None = None,
    pca: PcaSettings | None = None,
    valid: tuple[Iterable[str], Iterable[Label] | Iterable[LabelSet]] | None = None,
    unlabelled: Iterable[str] = (),
    sample_weight: Iterable[float] | None = None,
    lexicon: Mapping[str, float] | None = None,
    label_separator: str | None = None,
    seed: int = SEED,
    jobs: int | Workers | None = None,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    on_note: Callable[[str], None] = lambda note: None,
    stop: Callable[[], bool] = lambda: False,
    checkpoint: Checkpoint | None = None,
    feature_cache: FeatureCache | None = None,
    memory: int = DEFAULT_MEMORY,
    tmp_dir: FilePath | None = None,
) -> Model:
    """Train a classifier.

    Args:
        texts: training texts, as a list, tuple, array, Series or any other iterable of str.
        labels: label of each text: a str, bool, int, float or NumPy scalar. Predictions have the type of the
            labels. In multi-label classification, a list, tuple or set of str for each text.
        embeddings: initial word vectors; by default, :func:`nlptx.count` and :func:`nlptx.fit_pca` make them from all
            texts, with and without labels.
        settings: training settings; None for the defaults.
        start: trained model to start from, instead of word vectors. The words, vectors, n-gram features, network and
            region filters of the trained model are kept, and ``settings`` must not ask for a different network. The
            labels of the trained model may differ from ``labels``.
        cooccur: settings for counting, if word vectors are made; None for the defaults.
        pca: settings for PCA, if word vectors are made; None for the defaults.
        valid: texts and labels to validate on; by default, part of the training data.
        unlabelled: texts without labels, used for the word vectors, LSA, distillation and region filters; not used with
            ``start``.
        sample_weight: weight of each training text, from 0 to 1e9. A text with a weight of 2 counts as two identical
            texts in the loss, the n-gram features, the label frequencies and the calibration; a text with a weight of 0
            is left out. A boolean mask is accepted too: texts whose entry is False are left out.
        lexicon: word or phrase -> value, such as the strength of the opinion that it expresses. The values are prior
            means of n-gram weights, up to their scale, which is fitted (:mod:`nlptx.ngrams.lexicon`).
        label_separator: for multi-label classification, the string between two labels of a text in the tables that the
            model reads and writes; ``;`` by default.
        seed: seed for all random numbers, which affect the word vectors, held-out texts, folds, LSA, passages, initial
            weights, order of texts and dropout.
        jobs: number of workers, or a Workers object; by default one worker per core. At most four workers work on the
            same batch. The number of workers does not change the result. The workers are processes on Linux if the
            program has no other threads when training starts, and threads otherwise, for example in a notebook.
        on_progress: callback for the progress of each part of training; after every optimiser step and every
            validation, the callback receives an :class:`EpochProgress`.
        on_note: callback for notes, for example that part of the data cannot be used.
        stop: function called before every optimiser step, from time to time while region filters are trained, and
            before the subword model is fitted; if it returns True, training ends with the best weights so far.
        checkpoint: checkpoint to write during training and to resume from; none by default.
        feature_cache: cache of n-gram features that several training runs share; none by default. The cache does not
            change the result.
        memory: memory limit in bytes. Data that exceeds the limit goes to temporary files, which does not change the
            result. The limit applies to texts that come from an iterator, but not to texts in a list, which are already
            in memory. The limit does not apply to the labels, the words, the model or its gradients.
        tmp_dir: folder for temporary files; by default the temporary folder of the system.

    Raises:
        ArtifactError: the checkpoint to resume from belongs to another training run, or is damaged.
        DataError: no text can be used, the weights are invalid, or the numbers of texts and labels differ.
        DivergenceError: the loss exploded, or became NaN or infinite.
        InputTypeError: an argument, a text or a label has the wrong type.
        LabelError: a label is missing, two labels look alike (1 and "1"), a label could not be read back from a file,
            or all labels are the same.
        OutputError: the temporary files cannot be written.
        SettingsError: the settings contradict the data or each other.

    >>> from nlptx import PcaSettings, TrainSettings
    >>> texts = ["a good film", "a bad film", "so good", "so bad"] * 5
    >>> settings = TrainSettings(epochs=5, lr=0.01, warmup=0)
    >>> model = fit(texts, [1, 0, 1, 0] * 5, settings=settings, pca=PcaSettings(components=4))
    >>> model.labels
    [0, 1]
    >>> model.predict(["good", "bad"])
    [1, 0]
    """
    vectors = _resolve_vectors(embeddings, start, cooccur, pca, memory, tmp_dir)
    workers = Workers.of(jobs, prefer_processes=True)
    check_settings(settings, TrainSettings)
    check_seed(seed)
    check_natural(memory, "memory")
    folder = None if tmp_dir is None else file_name(tmp_dir, "tmp_dir")
    # Numbers too small for a float become 0, even if the caller has told NumPy to raise an error for such numbers.
    with np.errstate(under="ignore"), MemoryBudget(memory, folder) as budget:
        given = LabelledTexts.of(texts, labels, valid, unlabelled, sample_weight, lexicon, label_separator, budget)
        settings = resolve_loss(settings or TrainSettings(), given.separator, start)
        if not given.texts:
            raise DataError("there are no training texts")
        check_at_least_two(given.all_labels)
        if start is None:
            check_number_of_labels(settings.loss, len(given.labels))  # now, before the steps that take long
        check_lexicon_use(given, settings, start)
        if start is not None:
            settings, given = settings_from(start, settings), given.without_unlabelled(on_note)
            start, settings = without_new_regions(start, settings, on_note)
        if settings.epochs and settings.blocks and settings.width and settings.attention != "plain":
            settings.width_of_head(settings.width)  # raises an error now, before the steps that take long
        if isinstance(vectors, EmbeddingBuilder):
            vectors, settings = vectors.build(given, settings, seed, workers, on_progress, on_note)
        note_unused_settings(settings, given, start, on_note)
        if start is None and not settings.epochs:
            settings = without_network(settings)
        settings_before_automatic = settings
        settings = choose_automatic(settings, given, vectors.vocabulary, from_model=start is not None)
        origin, checkpoint = start or vectors, checkpoint or Checkpoint(None)
        checkpoint.begin(lambda: Fingerprint.of(given, origin, settings, seed))
        with workers:
            context = TrainingContext(
                seed, workers, on_progress, stop, checkpoint, on_note, feature_cache or FeatureCache(), budget
            )
            encoded = encode(given, vectors, settings, context, from_model=start is not None)
            data = make_dataset(encoded, settings, context)
            distinct_labels = [given.labels[name] for name in encoded.labels]
            multi_label = initial_decision(given.separator, len(distinct_labels))
            if start is not None:
                model, data = start_from(start, data, encoded, distinct_labels, settings, context, multi_label)
            else:
                data, ngram_features = add_ngram_features(data, encoded, settings, context)
                model = initial_model(
                    encoded.vocabulary,
                    encoded.vectors,
                    distinct_labels,
                    encoded.values,
                    encoded.priors,
                    settings,
                    seed,
                    ngram_features,
                    multi_label,
                )
                if settings.epochs:
                    start_from_linear_models(model, data.train)
            if model.settings.epochs:
                model.history = _train_network(model, data, context)
            elif start is not None:
                model.history = history_without_epochs(model, data, context)
            else:
                model.history = combine_linear_models(model, data, context)
            model.settings = settings  # `start_from` may have changed the settings of the model
            round_like_file(model)
            if model.history["best_epoch"]:
                add_regions(model, encoded.vectors, data, context)
                if start is None:
                    add_subwords(model, data, context)
            if model.history["best_epoch"] and len(data.valid):
                measure_held_out(model, data, context)
        model.settings = settings_before_automatic  # so that `nlptx info` shows which settings are automatic
        model.typical_surprise = measure_typical_surprise(model.vocabulary, given.texts, ~encoded.held_out)
        model.made_from = origin.to_artifact().header
        return model


def _resolve_vectors(
    embeddings: Embeddings | EmbeddingBuilder | None,
    start: Model | None,
    cooccur: CountSettings | None,
    pca: PcaSettings | None,
    memory: int,
    tmp_dir: FilePath | None,
) -> Embeddings | EmbeddingBuilder:
    """Check that the arguments do not contradict each other. Return the word vectors, or a builder for them."""
    if start is not None:
        check_type(start, Model, "start")
        if embeddings is not None:
            raise SettingsError("`embeddings` and `start` are given; expected only one of them")
        embeddings = start.embeddings()
    if embeddings is None:
        settings = cooccur or CountSettings(), pca or PcaSettings()
        return EmbeddingBuilder(*settings, memory=memory, tmp_dir=tmp_dir, word_memory=WORD_MEMORY)
    if cooccur is not None or pca is not None:
        given = "`embeddings` are" if start is None else "`start` is"
        raise SettingsError(f"`cooccur` and `pca` are settings for making word vectors, but {given} given")
    if not isinstance(embeddings, EmbeddingBuilder):
        check_type(embeddings, Embeddings, "embeddings")
        if start is None:
            embeddings.check_has_vectors()
    return embeddings


def _train_network(model: Model, data: Dataset, context: TrainingContext) -> dict[str, Any]:
    """Run pre-training, distillation and training on the labels. Return the training history."""
    try:
        pretraining = pretrain(model, data.train, context)
        pretraining, distillation = distill(model, data.unlabelled, context, pretraining)
        trainer = SupervisedTrainer(model, data.train, data.valid, context, pretraining, distillation)
        trainer.run()
    except DivergenceError:
        context.checkpoint.discard()  # a training run that resumes from this checkpoint would diverge again
        raise
    return trainer.history()
