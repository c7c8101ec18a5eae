"""Encodes the training data: texts become word ids, and labels become class numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nlptx.embeddings.embeddings import Embeddings
from nlptx.io.memory_budget import MemoryBudget
from nlptx.io.ragged_array import RaggedArray
from nlptx.ngrams.lexicon import LexiconPrior
from nlptx.runtime.progress import counted
from nlptx.settings import DEFAULT_MEMORY, TrainSettings
from nlptx.text.blocks import in_blocks
from nlptx.text.scripts import lack_spaces
from nlptx.text.token_stream import TokenStream
from nlptx.text.vocabulary import Vocabulary, as_text
from nlptx.training.context import TrainingContext
from nlptx.training.labelled_texts import LabelledTexts
from nlptx.training.labels import label_notes, order_labels
from nlptx.training.new_words import extend_vocabulary
from nlptx.training.sample_weights import weight_notes
from nlptx.training.targets import Targets, count_labels, encode_targets
from nlptx.training.validation_split import hold_out

# Maximum number of bytes for the distinct words of the texts. This maximum does not depend on the memory limit that the
# user sets, so that the model does not depend on the memory limit either.
WORD_MEMORY = DEFAULT_MEMORY // 2


@dataclass(frozen=True)
class EncodedPart:
    """The labelled texts of one part of the data. A text without a known word has an empty array of ids.

    Args:
        ids: (texts,) int32 word ids of each text.
        targets: class or classes of each text; see :mod:`nlptx.training.targets`.
        weights: (texts,) weight of each text, or None.
    """

    ids: RaggedArray
    targets: Targets
    weights: NDArray[np.float64] | None = None

    def take(self, chosen: NDArray[np.bool_]) -> EncodedPart:
        """Return the texts that are selected by one boolean per text."""
        weights = None if self.weights is None else self.weights[chosen]
        return EncodedPart(self.ids.take(chosen), self.targets[chosen], weights)


@dataclass(frozen=True)
class EncodedTexts:
    """The output of :func:`encode`.

    Args:
        vocabulary: words of the embeddings, followed by new words of the training texts and of the lexicon.
        vectors: (V, R) float32 initial word vectors.
        labels, values: names of the labels and their values; see :func:`order_labels`.
        priors: (C,) fraction of all labelled texts, except given validation texts, that have each label, weighted by
            the text weights.
        train: training texts.
        valid: validation texts: those that were given or, otherwise, texts held out of the training data.
        valid_given: whether the validation texts were given.
        held_out: (texts,) bool, True for a text that was held out of the training data.
        valid_before: the validation texts, read with only the words of the embeddings; None unless training starts from
            a model, which may stay as it is.
        unlabelled: word ids of the texts without labels.
        lexicon: prior of the n-gram features; None if there is no lexicon.
    """

    vocabulary: Vocabulary
    vectors: NDArray[np.float32]
    labels: list[str]
    values: list[float] | None
    priors: NDArray[np.float64]
    train: EncodedPart
    valid: EncodedPart
    valid_given: bool
    held_out: NDArray[np.bool_]
    valid_before: EncodedPart | None
    unlabelled: RaggedArray
    lexicon: LexiconPrior | None = None


def encode(
    given: LabelledTexts,
    embeddings: Embeddings,
    settings: TrainSettings,
    context: TrainingContext,
    *,
    from_model: bool = False,
) -> EncodedTexts:
    """Encode all texts and labels, after holding out some texts if no validation texts were given.

    Validation texts add no words to the vocabulary and are read like new texts in prediction: an unknown word is read
    as its known form. The model is thus measured, and its temperature fitted, on the predictions that it will make.

    Args:
        given: the texts and labels.
        embeddings: vectors of the words from which the vocabulary is made.
        settings: settings for training.
        context: workers, callback for notes, and memory limit.
        from_model: whether the embeddings are those of a model from which training starts.

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

    def known_ids(stream: TokenStream, vocabulary: Vocabulary, as_new: NDArray[np.bool_] | None = None) -> RaggedArray:
        return _known_ids(stream, vocabulary, settings.max_tokens, context.budget, as_new)

    stream = read(texts)
    targets = encode_targets(given.names, names, given.separator)
    held_out = np.zeros(len(texts), bool)
    if given.valid is None:
        held_out = hold_out(stream, embeddings.vocabulary, targets, settings, context.seed)
    counts = stream.counts_in(~held_out)
    if lack_spaces(counts):
        context.on_note(
            "warning: the texts seem to have no spaces between words; separate the words first, for example with a word"
            " segmenter for the language"
        )
    vocabulary, vectors = extend_vocabulary(embeddings, counts, settings, given.lexicon)
    labelled = EncodedPart(known_ids(stream, vocabulary, held_out), targets, given.weights)
    valid, is_valid, valid_stream = labelled.take(held_out), held_out, stream
    if given.valid is not None:
        valid_stream, is_valid = read(valid_texts, len(texts)), np.ones(len(valid_texts), bool)
        valid_ids = known_ids(valid_stream, vocabulary, is_valid)
        valid = EncodedPart(valid_ids, encode_targets(valid_names, names, given.separator))
    valid_before = None
    if from_model:
        ids_before = known_ids(valid_stream, embeddings.vocabulary, is_valid)
        valid_before = replace(valid, ids=ids_before.take(is_valid))
    stream.close()
    valid_stream.close()
    lexicon = LexiconPrior.of(given.lexicon, vocabulary, settings.ngrams) if given.lexicon else None
    if given.lexicon and lexicon is None:
        context.on_note(
            "warning: the lexicon has no effect, because each of its entries has the value 0, contains an unknown word,"
            f" or has more than {settings.ngrams} words (`ngrams`)"
        )
    with closing(read(unlabelled, len(texts) + len(valid_texts))) as unlabelled_stream:
        unlabelled_ids = known_ids(unlabelled_stream, vocabulary)
    return EncodedTexts(
        vocabulary=vocabulary,
        vectors=vectors,
        labels=names,
        values=values,
        priors=_priors(labelled, len(names)),
        train=labelled.take(~held_out),
        valid=valid,
        valid_given=given.valid is not None,
        held_out=held_out,
        valid_before=valid_before,
        unlabelled=unlabelled_ids,
        lexicon=lexicon,
    )


def _priors(labelled: EncodedPart, classes: int) -> NDArray[np.float64]:
    targets, weights = labelled.targets, labelled.weights
    return count_labels(targets, classes, weights) / (len(targets) if weights is None else weights.sum())


def _known_ids(
    stream: TokenStream,
    vocabulary: Vocabulary,
    max_words: int | None,
    budget: MemoryBudget,
    as_new: NDArray[np.bool_] | None = None,
) -> RaggedArray:
    """Return the int32 ids of the first ``max_words`` known words of each text in a stream.

    In the texts for which ``as_new`` (texts,) is True, unknown words are read as their known forms, as in prediction.
    """
    id_of = np.full(len(stream.word_counts), -1, np.int32)
    for word, number in stream.word_ids.items():
        id_of[number] = vocabulary.index.get(as_text(word), -1)
    as_new = np.zeros(len(stream.lengths), bool) if as_new is None else as_new
    id_of_new = id_of.copy()
    for word in stream.counts_in(as_new) if as_new.any() else ():
        number = stream.word_ids[word]
        if id_of[number] < 0:
            id_of_new[number] = vocabulary.forms.id_of_form(as_text(word))

    def parts() -> Iterator[tuple[NDArray[np.int32], NDArray[np.int64]]]:
        done = 0
        for numbers, lengths in stream.groups():
            is_new = np.repeat(as_new[done : done + len(lengths)], lengths)
            done += len(lengths)
            ids, ends = np.where(is_new, id_of_new[numbers], id_of[numbers]), np.cumsum(lengths)
            known = np.flatnonzero(ids >= 0)
            bounds = np.searchsorted(known, ends)
            kept = np.diff(bounds, prepend=0)
            if max_words is not None:
                position = np.arange(len(known)) - np.repeat(bounds - kept, kept)
                known, kept = known[position < max_words], np.minimum(kept, max_words)
            yield ids[known], kept

    return RaggedArray.collected(parts(), np.int32, budget)
