"""Computes n-gram features of each training text, with models fitted on the other folds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from nlptx.classifier.model import Model
from nlptx.errors import SettingsError
from nlptx.ngrams import MAX_VOCABULARY, NgramFeatures
from nlptx.ngrams.cross_fit import fit_ngram_features
from nlptx.ngrams.example_features import ExampleFeatures
from nlptx.ngrams.feature_settings import FeatureSettings
from nlptx.ngrams.sparse_cross_fit import fit_sparse_features
from nlptx.sampling.rng_streams import Stream, generator
from nlptx.sampling.splits import FOLDS
from nlptx.settings import TrainSettings
from nlptx.training import linear_combination
from nlptx.training.automatic import FEW_WORDS
from nlptx.training.context import TrainingContext
from nlptx.training.dataset import Dataset, Examples
from nlptx.training.encoding import EncodedTexts
from nlptx.training.labelled_texts import LabelledTexts
from nlptx.training.targets import count_labels

# Up to this number of labels, every n-gram has a value for every label. With more labels, n-gram features are sparse.
MAX_LABELS = 20
# Default of ``--ngram-min-texts``: n-grams must occur in at least this number of texts. If a network is trained, and
# the texts have few words in total, n-grams that occur in only one text are used too, because this lowers the log-loss.
_MIN_TEXTS = 2


def add_ngram_features(
    data: Dataset, encoded: EncodedTexts, settings: TrainSettings, context: TrainingContext
) -> tuple[Dataset, NgramFeatures | None]:
    """Add n-gram features to the training examples, and return the object that computes features for other texts.

    With ``--ngrams 0``, no features are added. If n-gram features cannot be computed for this data, none are added, and
    a note gives the reason.
    """
    if not settings.ngrams:
        return data, None
    texts = data.train.texts()
    obstacle = _obstacle(texts, len(encoded.labels), len(encoded.vocabulary))
    if obstacle:
        context.on_note(f"no n-gram features: {obstacle}")
        return data, None
    feature_settings = FeatureSettings(
        classes=len(encoded.labels),
        order=settings.ngrams,
        words=len(encoded.vocabulary),
        min_texts=settings.ngram_min_texts
        or automatic_min_texts(int(texts.ids.lengths.sum(dtype=np.int64)), settings, len(encoded.labels)),
        components=settings.lsa_components,
        folds=FOLDS if settings.epochs else linear_combination.number_of_folds(len(texts)),
        needs_token_features=settings.epochs > 0,
        may_drop=settings.ngram_min_texts == 0,
        capitals_sign=encoded.vocabulary.capitals_sign,
    )
    inputs = texts.ids, texts.targets, feature_settings, context.seed, encoded.unlabelled, data.passages, texts.weights

    def fit() -> tuple[NgramFeatures, ExampleFeatures]:
        given = texts.ids, texts.targets, feature_settings, generator(context.seed, Stream.FOLDS)
        more: dict[str, Any] = {
            "workers": context.workers,
            "passages": data.passages,
            "on_progress": context.report,
            "text_weights": texts.weights,
            "budget": context.budget,
        }
        if feature_settings.classes > MAX_LABELS:
            return fit_sparse_features(*given, **more)
        return fit_ngram_features(*given, unlabelled=encoded.unlabelled, lexicon=encoded.lexicon, **more)

    ngram_features, of_examples = context.feature_cache.get((*inputs, encoded.lexicon), fit)
    return replace(data, train=replace(data.train, ngram_features=of_examples)), ngram_features


def automatic_min_texts(words: int, settings: TrainSettings, labels: int) -> int:
    """Return the automatic value of ``ngram_min_texts`` for texts that have ``words`` words in total."""
    few = settings.epochs and labels <= MAX_LABELS and words <= FEW_WORDS
    return 1 if few else _MIN_TEXTS


def check_lexicon_use(given: LabelledTexts, settings: TrainSettings, start: Model | None) -> None:
    """Raise SettingsError if a lexicon is given, but no n-gram features that could use it are fitted."""
    reason = ""
    if start is not None:
        reason = "with `start`, no such features are fitted; use only one of the two"
    elif not settings.ngrams:
        reason = "`ngrams` is 0"
    elif len(given.labels) > MAX_LABELS:
        reason = f"{len(given.labels):,} labels are too many; at most {MAX_LABELS} are supported"
    if given.lexicon and reason:
        raise SettingsError(f"`lexicon` is a prior for n-gram features, but {reason}")


def _obstacle(texts: Examples, labels: int, words: int) -> str:
    """Return the reason why n-gram features cannot be computed, or an empty string."""
    if words > MAX_VOCABULARY:
        return f"{words:,} words are too many; at most {MAX_VOCABULARY:,} are supported"
    # The features of a text come from models fitted on other texts. If a label has only one text, the models for this
    # text are fitted only on texts with other labels, so the features would always be evidence against the label.
    with_label = count_labels(texts.targets, labels)
    if texts.targets.ndim == 2 and not ((with_label >= 2) & (len(texts) - with_label >= 2)).any():
        return "they require a label that at least two texts have and at least two texts do not have"
    if texts.targets.ndim == 1 and np.sum(with_label >= 2) < 2:
        return "they require two labels with at least two texts each"
    return ""
