"""Everything training needs before the first step: the vocabulary, the word vectors, the encoded texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nlptx.embeddings.embeddings import Embeddings
from nlptx.errors import DataError, LabelError
from nlptx.io.spill import MemoryBudget
from nlptx.ngrams import LARGEST_VOCABULARY, NgramFeatures, TextFeatures
from nlptx.ngrams.cross_fit import FeatureSettings, fit_ngram_features
from nlptx.runtime.workers import SERIAL, Workers
from nlptx.sampling.passages import LONG_TEXT, Passage, draw_passages
from nlptx.sampling.rng_streams import Stream, generator
from nlptx.sampling.splits import stratified_split
from nlptx.settings import TrainSettings
from nlptx.text.blocks import in_blocks
from nlptx.text.token_stream import TokenStream
from nlptx.text.vocabulary import Vocabulary, as_text, rank_words
from nlptx.training.labels import order_labels

# Labels up to which n-gram ngram_features is counted: each adds its own column.
_MAX_LABELS = 20
_MOST_NAMED = 5


@dataclass(frozen=True)
class Examples:
    """Encoded texts with their classes.

    Args:
        ids: for each text its (T,) int32 word ids.
        targets: (texts,) int64.
        ngram_features: what is known of each text, or None.
        passages: how many of them, the last ones, are passages of the others.
    """

    ids: list[NDArray[np.int32]]
    targets: NDArray[np.int64]
    ngram_features: list[TextFeatures] | None = None
    passages: int = 0

    def __len__(self) -> int:
        return len(self.ids)

    def first(self, count: int) -> Examples:
        """Return the first ``count`` examples, without their ngram_features."""
        return Examples(self.ids[:count], self.targets[:count])


@dataclass(frozen=True)
class TrainingData:
    """The output of :func:`prepare`.

    Args:
        vocabulary: words of the embeddings, then new ones of the training texts.
        table: (V, R) float32 word vectors to start from.
        labels, values: see :func:`order_labels`.
        priors: (C,) share of each label.
        train, valid: the examples; ``valid`` may be empty.
        ngram_features: for texts outside ``train``, or None.
        unlabelled: examples whose classes mean nothing.
    """

    vocabulary: Vocabulary
    table: NDArray[np.float32]
    labels: list[str]
    values: list[float] | None
    priors: NDArray[np.float64]
    train: Examples
    valid: Examples
    ngram_features: NgramFeatures | None
    unlabelled: Examples


def prepare(
    texts: Sequence[str],
    labels: Sequence[str],
    embeddings: Embeddings,
    settings: TrainSettings,
    seed: int,
    valid: tuple[Sequence[str], Sequence[str]] | None = None,
    unlabelled: Sequence[str] = (),
    workers: Workers = SERIAL,
    on_note: Callable[[str], None] = lambda note: None,
) -> TrainingData:
    """Encode the texts and split off the validation part, unless one is given.

    What is given is described at :func:`nlptx.training.fit`.

    Raises:
        DataError: no text has a known word.
        LabelError: fewer than two labels, or a validation label that training lacks.
    """
    if not texts:
        raise DataError("there are no training texts")
    order, values = order_labels(labels, settings.label_order == "auto")
    classes = {label: number for number, label in enumerate(order)}
    targets = np.array([classes[label] for label in labels], np.int64)
    head = settings.most_words
    with MemoryBudget() as space:
        stream = TokenStream(space)
        stream.read(in_blocks(texts), embeddings.vocabulary.tokenizer, workers)
        vocabulary, table = _extend(embeddings, stream.counts(), settings)
        ids = _encode(stream, vocabulary, head)
    learned_from = settings.ngrams and (settings.lsa_components or settings.distill)
    unknown = _read(unlabelled, vocabulary, head, workers) if learned_from else []
    if unlabelled and not learned_from:
        on_note(
            "the texts without labels are left out: --ngrams with --lsa-components or --distill would learn from them"
        )
    if valid is None:
        share = min(settings.valid_share, settings.valid_max / len(targets))
        rows, held_out = stratified_split(targets, share, generator(seed, Stream.SPLIT))
        held = _examples([ids[row] for row in held_out], targets[held_out])
    else:
        rows = np.arange(len(ids))
        for label in valid[1]:
            if label not in classes:
                raise LabelError(f"the validation data has label {label!r}; the training data has {', '.join(order)}")
        held = _examples(
            _read(valid[0], vocabulary, head, workers),
            np.array([classes[label] for label in valid[1]], np.int64),
        )
    if valid is not None and not len(held):
        raise DataError("no validation text has a word that the embeddings know")
    train = _examples([ids[row] for row in rows], targets[rows])
    if not len(train):
        raise DataError(
            "no training text has a word that the embeddings know",
            hint="Train the embeddings on text of the same language, or give --new-word-min-count 1.",
        )
    if settings.valid_share and not len(held):
        on_note("too few texts to hold any out for validation: the weights of the last epoch are kept")
    _note_unseen(train, order, on_note)
    passages = draw_passages(train.ids, settings.passages, generator(seed, Stream.PASSAGES))
    if settings.passages and not passages:
        on_note(f"no passages: no training text has {LONG_TEXT} words that are read")
    ngram_features = own = None
    lacking = _why_no_ngram_features(train, len(order), len(vocabulary))
    if settings.ngrams and lacking:
        on_note(f"no n-gram ngram_features: {lacking}")
    elif settings.ngrams:
        rng = generator(seed, Stream.FOLDS)
        shape = FeatureSettings(
            len(order), settings.ngrams, len(vocabulary), settings.ngram_min_texts, settings.lsa_components
        )
        ngram_features, own = fit_ngram_features(train.ids, train.targets, shape, rng, unknown, workers, passages)
    train = _with_passages(train, passages, own)
    free = _examples(unknown, np.zeros(len(unknown), np.int64))
    priors = np.bincount(targets, minlength=len(order)) / len(targets)
    return TrainingData(vocabulary, table, order, values, priors, train, held, ngram_features, free)


def _read(texts: Sequence[str], vocabulary: Vocabulary, most: int | None, workers: Workers) -> list[NDArray[np.int32]]:
    """Return the ids of the first ``most`` known words of each text."""
    if not texts:
        return []
    with MemoryBudget() as space:
        stream = TokenStream(space)
        stream.read(in_blocks(texts), vocabulary.tokenizer, workers)
        return _encode(stream, vocabulary, most)


def _encode(stream: TokenStream, vocabulary: Vocabulary, most: int | None) -> list[NDArray[np.int32]]:
    """Return for each text the ids of its first ``most`` known words."""
    places = np.full(len(stream.totals), -1, np.int32)
    for word, number in stream.numbers.items():
        places[number] = vocabulary.index.get(as_text(word), -1)
    ids = places[stream.ids.array()]
    texts = np.split(ids, np.cumsum(stream.lengths.array())[:-1])
    return [text[text >= 0][:most] for text in texts]


def _why_no_ngram_features(train: Examples, labels: int, words: int) -> str:
    """Say why n-grams cannot be counted as evidence; empty if they can."""
    if labels > _MAX_LABELS:
        return f"there are {labels:,} labels, and it is for {_MAX_LABELS} at most"
    if words > LARGEST_VOCABULARY:
        return f"there are {words:,} words, and it is for {LARGEST_VOCABULARY:,} at most"
    # A text learns what the others say, so the only one of its label would learn that it is something else.
    if np.sum(np.bincount(train.targets) >= 2) < 2:
        return "it needs two labels with two texts each"
    return ""


def _note_unseen(train: Examples, labels: list[str], on_note: Callable[[str], None]) -> None:
    unseen = [labels[place] for place in np.flatnonzero(np.bincount(train.targets, minlength=len(labels)) == 0)]
    if unseen:
        named = ", ".join(map(repr, unseen[:_MOST_NAMED])) + (", ..." if len(unseen) > _MOST_NAMED else "")
        on_note(f"not learned, as no text with a known word has the label: {named}")


def _examples(ids: list[NDArray[np.int32]], targets: NDArray[np.int64]) -> Examples:
    """Leave out texts without a known word: nothing can be learned from them."""
    known = [row for row, words in enumerate(ids) if len(words)]
    return Examples([ids[row] for row in known], targets[known])


def _with_passages(train: Examples, passages: list[Passage], ngram_features: list[TextFeatures] | None) -> Examples:
    """Add the passages, each of the class of its text; ``evidence`` is that of the texts and the passages."""
    rows = np.array([passage.text for passage in passages], np.int64)
    ids = train.ids + [passage.ids for passage in passages]
    return Examples(ids, np.concatenate([train.targets, train.targets[rows]]), ngram_features, len(passages))


def _extend(
    embeddings: Embeddings, counts: dict[bytes, int], settings: TrainSettings
) -> tuple[Vocabulary, NDArray[np.float32]]:
    """Add the frequent words the embeddings lack, with the vector 0, and scale all vectors.

    ``counts`` says how often each word of the training texts was seen.
    Multiplying every vector by one number, so that the entries' root mean square is 1, changes no angle; it only
    makes one learning rate and one initialisation fit embeddings of any scale.
    """
    known = embeddings.vocabulary
    table = embeddings.vectors / (np.sqrt(np.mean(np.square(embeddings.vectors, dtype=np.float64))) or 1)
    if settings.freeze or settings.new_word_min_count == 0:
        return known, np.ascontiguousarray(table, np.float32)
    unknown = {text: count for word, count in counts.items() if (text := as_text(word)) not in known.index}
    new = rank_words(unknown, settings.new_word_min_count, len(unknown))
    words = [*known.words, *new]
    totals = np.concatenate([known.counts, np.array([unknown[word] for word in new], np.int64)])
    vectors = np.concatenate([table, np.zeros((len(new), table.shape[1]))]).astype(np.float32)
    return Vocabulary(words, totals, known.tokenizer), vectors
