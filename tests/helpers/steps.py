"""The individual steps of ``fit``, for tests of intermediate results."""

from nlptx.runtime.workers import Workers
from nlptx.settings import TrainSettings
from nlptx.training.checkpoint import Checkpoint
from nlptx.training.context import TrainingContext
from nlptx.training.dataset import make_dataset
from nlptx.training.encoding import encode
from nlptx.training.initialization import initial_model
from nlptx.training.labelled_texts import LabelledTexts
from nlptx.training.multi_label import resolve_loss
from nlptx.training.ngram_features import add_ngram_features


def make_context(seed=1, jobs=1, on_progress=lambda progress: None, stop=lambda: False, **more):
    return TrainingContext(seed, Workers(jobs), on_progress, stop, Checkpoint(None), **more)


def untrained(texts, labels, embeddings, settings=None, unlabelled=(), jobs=1):
    """Return the initial model of :func:`nlptx.fit`, before training, and the data to train it on."""
    settings, context = resolve_loss(settings or TrainSettings(), None, None), make_context(jobs=jobs)
    encoded = encode(LabelledTexts.of(texts, labels, None, unlabelled), embeddings, settings, context)
    data, ngram_features = add_ngram_features(make_dataset(encoded, settings, context), encoded, settings, context)
    start = (encoded.vocabulary, encoded.vectors, encoded.labels, encoded.values, encoded.priors)
    return initial_model(*start, settings, context.seed, ngram_features), data
