"""Encodes the training data: texts become word ids, and labels become class numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nlptx.embeddings.embeddings import Embeddings
from nlptx.io.memory_budget import MemoryBudget
from nlptx.io.ragged_array import RaggedArray
from nlptx.ngrams.lexicon import LexiconPrior, lexicon_words
from nlptx.runtime.progress import counted
from nlptx.settings import AUTOMATIC, DEFAULT_MEMORY, TrainSettings
from nlptx.text.blocks import in_blocks
from nlptx.text.scripts import lack_spaces
from nlptx.text.token_stream import TokenStream
from nlptx.text.vocabulary import Vocabulary, as_text, rank_words
from nlptx.training.automatic import FEW_WORDS, is_from_large_corpus
from nlptx.training.context import TrainingContext
from nlptx.training.labelled_texts import LabelledTexts
from nlptx.training.labels import label_notes, order_labels
from nlptx.training.sample_weights import weight_notes
from nlptx.training.targets import Targets, count_labels, encode_targets

# Automatic value of ``new_word_min_count``. If the training texts have few words, and the word vectors were made from
# few words, the automatic value is 1 instead, because adding rare words then lowers the log-loss. If the vectors come
# from a large corpus, adding rare words does not help, because most useful words have vectors already.
_MIN_COUNT = 2
# Number of words that are looked up in the vocabulary at a time.
_WORDS_AT_A_TIME = 1 << 20
# Maximum number of bytes for the distinct words of the texts. This maximum does not depend on the memory limit that the
# user sets, so that the model does not depend on the memory limit either.
WORD_MEMORY = DEFAULT_MEMORY // 2


@dataclass(frozen=True)
class EncodedTexts:
    """The output of :func:`encode`. A text without a known word has an empty array of ids.

    Args:
        vocabulary: words of the embeddings, followed by new words of the training texts and of the lexicon.
        vectors: (V, R) float32 initial word vectors.
        labels, values: names of the labels and their values; see :func:`order_labels`.
        ids: (T,) int32 word ids of each training text.
        targets: class or classes of each training text; see :mod:`nlptx.training.targets`.
        weights: (texts,) weight of each training text, or None.
        valid: ids and targets of the validation texts; None if there are no validation texts.
        unlabelled: word ids of the texts without labels.
        lexicon: prior of the n-gram features; None if there is no lexicon.
    """

    vocabulary: Vocabulary
    vectors: NDArray[np.float32]
    labels: list[str]
    values: list[float] | None
    ids: RaggedArray
    targets: Targets
    weights: NDArray[np.float64] | None
    valid: tuple[RaggedArray, Targets] | None
    unlabelled: RaggedArray
    lexicon: LexiconPrior | None = None

    @property
    def priors(self) -> NDArray[np.float64]:
        """(C,) fraction of the training texts that have each label, weighted by the text weights."""
        counts = count_labels(self.targets, len(self.labels), self.weights)
        return counts / (len(self.targets) if self.weights is None else self.weights.sum())


def encode(
    given: LabelledTexts, embeddings: Embeddings, settings: TrainSettings, context: TrainingContext
) -> EncodedTexts:
    """Encode all texts and labels.

    Args:
        given: the texts and labels.
        embeddings: vectors of the words from which the vocabulary is made.
        settings: settings for training.
        context: workers, callback for notes, and memory limit.

    Raises:
        LabelError: there are fewer than two labels.
    """
    texts, unlabelled = given.texts, given.unlabelled
    names, values = order_labels(given.all_labels, settings.label_order == "auto" and given.separator is None)
    for note in label_notes(given.all_labels, values):
        context.on_note(note)
    if given.without_label:
        context.on_note(f"texts with none of the labels: {given.without_label:,}")
    for note in weight_notes(given.weights):
        context.on_note(note)
    valid_texts, valid_names = given.valid or ([], [])
    used = settings.region_filters or (settings.ngrams and (settings.lsa_components or settings.distill))
    if unlabelled and not used:
        unlabelled = []
        context.on_note(
            "texts without labels are not used: only `region_filters`, `lsa_components` and `distill` use them, and the"
            " last two need `ngrams`"
        )
    total = len(texts) + len(valid_texts) + len(unlabelled)

    def report(texts_read: int) -> None:
        context.report("encoding texts", texts_read / total, f"{texts_read:,} of {total:,}")

    def read(more: Sequence[str], already: int = 0) -> TokenStream:
        stream = TokenStream(context.budget, WORD_MEMORY)
        stream.read(in_blocks(counted(more, report, already)), embeddings.vocabulary.tokenizer, context.workers)
        return stream

    def known_ids(stream: TokenStream, *, read_forms: bool = False) -> RaggedArray:
        with closing(stream):
            return _known_ids(stream, vocabulary, settings.max_tokens, context.budget, read_forms)

    stream = read(texts)
    counts = stream.counts()
    if lack_spaces(counts):
        context.on_note(
            "warning: the texts seem to have no spaces between words; separate the words first, for example with a word"
            " segmenter for the language"
        )
    vocabulary, vectors = _extend(embeddings, counts, settings, given.lexicon)
    ids = known_ids(stream)
    held_out = None
    if given.valid is not None:
        valid_ids = known_ids(read(valid_texts, len(texts)), read_forms=True)
        held_out = valid_ids, encode_targets(valid_names, names, given.separator)
    lexicon = LexiconPrior.of(given.lexicon, vocabulary, settings.ngrams) if given.lexicon else None
    if given.lexicon and lexicon is None:
        context.on_note(
            "warning: the lexicon has no effect, because each of its entries has the value 0, contains an unknown word,"
            f" or has more than {settings.ngrams} words (`ngrams`)"
        )
    return EncodedTexts(
        vocabulary=vocabulary,
        vectors=vectors,
        labels=names,
        values=values,
        ids=ids,
        targets=encode_targets(given.names, names, given.separator),
        weights=given.weights,
        valid=held_out,
        unlabelled=known_ids(read(unlabelled, len(texts) + len(valid_texts))),
        lexicon=lexicon,
    )


def _known_ids(
    stream: TokenStream,
    vocabulary: Vocabulary,
    max_words: int | None,
    budget: MemoryBudget,
    read_forms: bool = False,
) -> RaggedArray:
    """Return the int32 ids of the first ``max_words`` known words of each text in a stream.

    With ``read_forms``, unknown words are read as their known forms, as in prediction. Validation texts are read in
    this way, so that the model is measured, and its temperature fitted, on the predictions that it will make.
    """
    id_of = np.full(len(stream.word_counts), -1, np.int32)
    for word, number in stream.word_ids.items():
        known = vocabulary.index.get(as_text(word), -1)
        id_of[number] = vocabulary.forms.id_of_form(as_text(word)) if known < 0 and read_forms else known

    def parts() -> Iterator[tuple[NDArray[np.int32], NDArray[np.int64]]]:
        done = 0
        for lengths in _in_groups(stream.lengths.parts()):
            ends = np.cumsum(lengths)
            ids = id_of[stream.ids.read(done, done + int(ends[-1]))]
            done += len(ids)
            known = np.flatnonzero(ids >= 0)
            bounds = np.searchsorted(known, ends)
            kept = np.diff(bounds, prepend=0)
            if max_words is not None:
                position = np.arange(len(known)) - np.repeat(bounds - kept, kept)
                known, kept = known[position < max_words], np.minimum(kept, max_words)
            yield ids[known], kept

    return RaggedArray.collected(parts(), np.int32, budget)


def _in_groups(lengths: Iterable[NDArray[np.int64]]) -> Iterator[NDArray[np.int64]]:
    """Yield the lengths of the texts in groups; the lengths of a group sum to about _WORDS_AT_A_TIME words."""
    for part in lengths:
        number = np.cumsum(part) // _WORDS_AT_A_TIME
        yield from np.split(part, np.flatnonzero(np.diff(number)) + 1)


def _min_count(settings: TrainSettings, known: Vocabulary, counts: dict[bytes, int]) -> int:
    """Return how many occurrences in the training texts a new word needs to be added to the vocabulary; 0 to add none.

    Args:
        settings: training settings.
        known: vocabulary of the word vectors.
        counts: number of occurrences of each word in the training texts.
    """
    if settings.new_word_min_count != AUTOMATIC:
        return settings.new_word_min_count
    few = sum(counts.values()) <= FEW_WORDS and not is_from_large_corpus(known)
    return 1 if few else _MIN_COUNT


def _extend(
    embeddings: Embeddings, counts: dict[bytes, int], settings: TrainSettings, lexicon: Mapping[str, float]
) -> tuple[Vocabulary, NDArray[np.float32]]:
    """Rescale all vectors, and add a zero vector for each frequent word or lexicon word that has no vector.

    All vectors are multiplied by the same number, so that the root mean square of their entries is 1, while the angles
    between the vectors stay the same. As a result, one learning rate and one initialisation suit embeddings of any
    scale. The counts of known words stay the same too, unless they are all 0, as for vectors from a text file.

    Args:
        embeddings: known words and their vectors.
        counts: number of occurrences of each word in the training texts.
        settings: training settings; they determine whether new words are added and how frequent they must be.
        lexicon: word or phrase -> value.
    """
    known = embeddings.vocabulary
    start = embeddings.unweighted()
    square = np.square(start, dtype=np.float64)
    vectors = start / (np.sqrt(square.sum() / max(square.size, 1)) or 1)
    count_of = {as_text(word): count for word, count in counts.items()}
    unknown = {word: count for word, count in count_of.items() if word not in known.index}
    # With frozen vectors, the vector of a new word stays 0, so frequent new words are added only if n-grams are used.
    min_count = _min_count(settings, known, counts) if settings.ngrams or not settings.freeze else 0
    new = rank_words(unknown, min_count, len(unknown)) if min_count else []
    added = set(new)
    new += [word for word in lexicon_words(lexicon, known, settings.ngrams) if word not in added]
    words = [*known.words, *new]
    totals = np.array([count_of.get(word, 0) for word in words], np.int64)
    if known.counts.any():  # otherwise, the vectors come from a file without counts
        totals[: len(known)] = known.counts
    vectors = np.concatenate([vectors, np.zeros((len(new), vectors.shape[1]))]).astype(np.float32)
    return Vocabulary(words, totals, known.tokenizer), vectors
