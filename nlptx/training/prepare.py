"""Everything training needs before the first step: the vocabulary, the word vectors, the encoded texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nlptx.embeddings import Embeddings
from nlptx.errors import DataError, LabelError
from nlptx.evidence import LARGEST_VOCABULARY, Evidence, TextEvidence
from nlptx.evidence.fit import fit_evidence
from nlptx.labels import order_labels
from nlptx.settings import TrainSettings
from nlptx.text import Vocabulary, rank_words
from nlptx.training.split import stratified_split

# Labels up to which n-gram evidence is counted: each adds its own column.
_MOST_EVIDENCE = 20


@dataclass(frozen=True)
class Examples:
    """Encoded texts with their classes.

    Args:
        ids: for each text its (T,) int32 word ids.
        targets: (texts,) int64.
        evidence: what is known of each text, or None.
    """

    ids: list[NDArray[np.int32]]
    targets: NDArray[np.int64]
    evidence: list[TextEvidence] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def first(self, count: int) -> Examples:
        """Return the first ``count`` examples, without their evidence."""
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
        evidence: for texts outside ``train``, or None.
    """

    vocabulary: Vocabulary
    table: NDArray[np.float32]
    labels: list[str]
    values: list[float] | None
    priors: NDArray[np.float64]
    train: Examples
    valid: Examples
    evidence: Evidence | None


def prepare(
    texts: Sequence[str],
    labels: Sequence[str],
    embeddings: Embeddings,
    settings: TrainSettings,
    seed: int,
    pool: Executor,
    valid: tuple[Sequence[str], Sequence[str]] | None = None,
) -> TrainingData:
    """Encode the texts and split off the validation part, unless one is given.

    Raises:
        DataError: no text has a known word.
        LabelError: fewer than two labels, or a validation label that training lacks.
    """
    if not texts:
        raise DataError("there are no training texts")
    order, values = order_labels(labels, settings.label_order == "auto")
    classes = {label: number for number, label in enumerate(order)}
    targets = np.array([classes[label] for label in labels], np.int64)
    tokenizer = embeddings.vocabulary.tokenizer
    tokens = [tokenizer(text) for text in texts]
    vocabulary, table = _extend(embeddings, tokens, settings)
    head = settings.most_words
    ids = [vocabulary.encode_tokens(words)[:head] for words in tokens]
    if valid is None:
        rows, held_out = stratified_split(targets, settings.valid_share, np.random.default_rng(seed))
        held = _examples([ids[row] for row in held_out], targets[held_out])
    else:
        rows = np.arange(len(ids))
        for label in valid[1]:
            if label not in classes:
                raise LabelError(f"the validation data has label {label!r}; the training data has {', '.join(order)}")
        held = _examples(
            [vocabulary.encode(text)[:head] for text in valid[0]],
            np.array([classes[label] for label in valid[1]], np.int64),
        )
    if valid is not None and not len(held):
        raise DataError("no validation text has a word that the embeddings know")
    train = _examples([ids[row] for row in rows], targets[rows])
    if not len(train):
        raise DataError(
            "no training text has a word that the embeddings know",
            hint="Train the embeddings on text of the same language, or give --new-words 1.",
        )
    evidence = None
    if settings.ngrams and len(order) <= _MOST_EVIDENCE and len(vocabulary) <= LARGEST_VOCABULARY:
        rng = np.random.default_rng([seed, 2])
        shape = (len(order), settings.ngrams, len(vocabulary), settings.ngram_texts)
        evidence, own = fit_evidence(train.ids, train.targets, *shape, rng, pool)
        train = replace(train, evidence=own)
    priors = np.bincount(targets, minlength=len(order)) / len(targets)
    return TrainingData(vocabulary, table, order, values, priors, train, held, evidence)


def _examples(ids: list[NDArray[np.int32]], targets: NDArray[np.int64]) -> Examples:
    """Leave out texts without a known word: nothing can be learned from them."""
    known = [row for row, words in enumerate(ids) if len(words)]
    return Examples([ids[row] for row in known], targets[known])


def _extend(
    embeddings: Embeddings, texts: list[list[str]], settings: TrainSettings
) -> tuple[Vocabulary, NDArray[np.float32]]:
    """Add the frequent words the embeddings lack, with the vector 0, and scale all vectors to unit size.

    Multiplying every vector by one number changes no angle; it only makes one learning rate and one
    initialisation fit embeddings of any scale.
    """
    known = embeddings.vocabulary
    table = embeddings.vectors / (np.sqrt(np.mean(np.square(embeddings.vectors, dtype=np.float64))) or 1)
    if settings.freeze or settings.new_words == 0:
        return known, np.ascontiguousarray(table, np.float32)
    counts = Counter(word for words in texts for word in words if word not in known.index)
    new = rank_words(counts, settings.new_words, len(counts))
    words = [*known.words, *new]
    totals = np.concatenate([known.counts, np.array([counts[word] for word in new], np.int64)])
    vectors = np.concatenate([table, np.zeros((len(new), table.shape[1]))]).astype(np.float32)
    return Vocabulary(words, totals, known.tokenizer), vectors
