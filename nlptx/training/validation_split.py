"""Chooses the texts that are held out of the training data for validation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlptx.sampling.copies import first_copies
from nlptx.sampling.rng_streams import Stream, generator
from nlptx.sampling.splits import stratified_split
from nlptx.settings import TrainSettings
from nlptx.text.signs import SHOUTED
from nlptx.text.token_stream import TokenStream
from nlptx.text.vocabulary import Vocabulary, as_text
from nlptx.training.new_words import minimum_count
from nlptx.training.targets import Targets, strata


def hold_out(
    stream: TokenStream, known: Vocabulary, targets: Targets, settings: TrainSettings, seed: int
) -> NDArray[np.bool_]:
    """Choose the validation texts; return one boolean per text, True if the text is held out.

    Texts count as copies if they differ only in words that the model will not know, such as numbers that occur once, or
    in words that it does not read, because the texts are too long.

    Args:
        stream: tokens of the texts.
        known: vocabulary of the word vectors.
        targets: class or classes of each text.
        settings: training settings, including the number of texts to hold out.
        seed: seed for all random numbers of the training run.
    """
    fraction = min(settings.valid_share, settings.valid_max / len(targets))
    first = _first_copies(stream, known, stream.counts(), settings)
    held_out = np.zeros(len(targets), bool)
    held_out[stratified_split(strata(targets, fraction), fraction, generator(seed, Stream.SPLIT), first)[1]] = True
    if held_out.any():
        # Words that occur only in held-out texts stay unknown too. If a held-out text is a copy of a training text
        # because of that, it becomes a training text.
        first = _first_copies(stream, known, stream.counts_in(~held_out), settings)
        held_out &= ~np.isin(first, first[~held_out])
    return held_out


def _first_copies(
    stream: TokenStream, known: Vocabulary, counts: dict[bytes, int], settings: TrainSettings
) -> NDArray[np.int64]:
    """Return the first copy of each text, (texts,), given the counts that determine which words will be known."""
    min_count = minimum_count(settings, known, counts)
    is_known = np.zeros(len(stream.word_counts), bool)
    for word, number in stream.word_ids.items():
        is_frequent = min_count > 0 and counts.get(word, 0) >= min_count
        is_known[number] = is_frequent or as_text(word) in known.index
    documents = (ids[is_known[ids]][: settings.max_tokens] for ids in stream.documents())
    return first_copies(documents, stream.word_ids.get(SHOUTED.encode()))
