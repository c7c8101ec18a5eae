"""The texts that training uses: training texts with passages, validation texts, and texts without labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from nlptx.errors import DataError
from nlptx.io.ragged_array import RaggedArray
from nlptx.ngrams.example_features import ExampleFeatures
from nlptx.sampling.copies import first_copies
from nlptx.sampling.passages import LONG_TEXT, Passage, draw_passages
from nlptx.sampling.rng_streams import Stream, generator
from nlptx.settings import TrainSettings
from nlptx.training.context import TrainingContext
from nlptx.training.encoding import EncodedPart, EncodedTexts
from nlptx.training.targets import Targets, count_labels

# Maximum number of labels listed in a message.
_MAX_NAMED = 5
# A note is printed if more than this fraction of the validation texts are also training texts.
_MAX_COPIES = 0.01


@dataclass(frozen=True)
class Examples:
    """Encoded texts with their classes.

    Args:
        ids: (T,) int32 word ids of each text, with T at least 1.
        targets: class or classes of each text; see :mod:`nlptx.training.targets`.
        ngram_features: n-gram features of each text, or None.
        passages: number of passages. The passages are the last examples, and each is a part of an earlier example.
        unknown: targets of U additional texts that have no known word.
        weights: (texts,) float64 weight of each text, or None.
        unknown_weights: (U,) float64 weights of the additional texts, or None.
    """

    ids: RaggedArray
    targets: Targets
    ngram_features: ExampleFeatures | None = None
    passages: int = 0
    unknown: Targets = field(default_factory=lambda: np.empty(0, np.int64))
    weights: NDArray[np.float64] | None = None
    unknown_weights: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def total_weight(self) -> float:
        """Sum of the weights of the examples (texts and passages); without weights, the number of examples."""
        return len(self) if self.weights is None else float(self.weights.sum())

    def first(self, count: int) -> Examples:
        """Return the first ``count`` examples, without their n-gram features."""
        weights = None if self.weights is None else self.weights[:count]
        return Examples(self.ids[:count], self.targets[:count], unknown=self.targets[:0], weights=weights)

    def texts(self) -> Examples:
        """Return the examples that are not passages, without their n-gram features."""
        return self.first(len(self) - self.passages)


@dataclass(frozen=True)
class Dataset:
    """Training, validation and unlabelled texts, as returned by :func:`make_dataset`.

    Args:
        train: training texts, followed by passages from them.
        passages: passages in ``train``, each with the index of its text, its position there and its word ids.
        valid: held-out texts; may be empty.
        unlabelled: texts without labels; their classes are placeholders.
    """

    train: Examples
    passages: list[Passage]
    valid: Examples
    unlabelled: Examples


def make_dataset(encoded: EncodedTexts, settings: TrainSettings, context: TrainingContext) -> Dataset:
    """Set texts without a known word apart, and draw passages from the long training texts.

    Raises:
        DataError: none of the training texts, or none of the given validation texts, has a known word.
    """
    texts, valid = with_known_words(encoded.train), with_known_words(encoded.valid)
    if encoded.valid_given:
        if not len(encoded.valid.ids):
            raise DataError("there are no validation texts", hint="Check the data of `valid`.")
        if not len(valid):
            raise DataError("no validation text contains a known word")
        _note_copies(encoded.train.ids, valid.ids, encoded.vocabulary.capitals_sign, context)
    if not len(texts):
        hint = "Use more texts, or set `new_word_min_count=1`, with which every word of the texts is known."
        if encoded.vectors.any():
            hint = "Use word vectors or a model in the language of these texts, or set `new_word_min_count=1`."
        raise DataError("no training text contains a known word", hint=hint)
    if settings.valid_share and not len(valid):
        limit = f"a share of {settings.valid_share:g} (`valid_share`)"
        advice = "use more texts for each label, or a larger share"
        if settings.valid_max < settings.valid_share * len(encoded.train.ids):
            limit, advice = f"a total of {settings.valid_max:,} (`valid_max`)", "raise `valid_max`"
        weights_kept = ": the weights of the last epoch are kept, and" if settings.epochs else ", so"
        context.on_note(
            f"no texts are held out for validation, because every label has too few texts for {limit}{weights_kept}"
            f" it is unknown how good the model is; {advice}"
        )
    _note_unseen_labels(texts, encoded.labels, context)
    passages = draw_passages(texts.ids, settings.passages, generator(context.seed, Stream.PASSAGES))
    if settings.passages and not passages:
        context.on_note(f"no passages are added, because no training text has {LONG_TEXT} known words")
    unlabelled = with_known_words(EncodedPart(encoded.unlabelled, np.zeros(len(encoded.unlabelled), np.int64)))
    return Dataset(_with_passages(texts, passages), passages, valid, unlabelled)


def with_known_words(part: EncodedPart) -> Examples:
    """Return the texts with a known word. Of all other texts, only targets and weights are kept, as ``unknown``."""
    known, unknown = part.take(part.ids.lengths > 0), part.take(part.ids.lengths == 0)
    return Examples(
        known.ids, known.targets, unknown=unknown.targets, weights=known.weights, unknown_weights=unknown.weights
    )


def _with_passages(texts: Examples, passages: list[Passage]) -> Examples:
    """Append the passages, each with the class and the weight of its text."""
    of_passages = np.array([(passage.text, passage.start, len(passage.ids)) for passage in passages], np.int64)
    of_passages = of_passages.reshape(-1, 3)
    rows = np.concatenate([np.arange(len(texts)), of_passages[:, 0]])
    ids = texts.ids.with_parts(*of_passages.T)
    weights = None if texts.weights is None else texts.weights[rows]
    return Examples(ids, texts.targets[rows], passages=len(passages), weights=weights)


def _note_copies(train: RaggedArray, valid: RaggedArray, capitals_sign: int | None, context: TrainingContext) -> None:
    first = first_copies(chain(train, valid), capitals_sign)[len(train) :]
    copies = int((first < len(train)).sum())
    if copies > _MAX_COPIES * len(valid):
        context.on_note(
            f"warning: {copies:,} of {len(valid):,} validation texts are training texts too, so the model seems better"
            " than it is"
        )


def _note_unseen_labels(texts: Examples, labels: list[str], context: TrainingContext) -> None:
    counts = count_labels(texts.targets, len(labels))
    unseen = [label for label, count in zip(labels, counts, strict=True) if not count]
    if unseen:
        named = ", ".join(map(repr, unseen[:_MAX_NAMED])) + (", ..." if len(unseen) > _MAX_NAMED else "")
        context.on_note(f"labels that are not learned, because no training text with a known word has them: {named}")
