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

    Texts count as copies if they differ only in words that the model will not know, such as numbers that occur once.

    Args:
        stream: tokens of the texts.
        known: vocabulary of the word vectors.
        targets: class or classes of each text.
        settings: training settings, including the number of texts to hold out.
        seed: seed for all random numbers of the training run.
    """
    fraction = min(settings.valid_share, settings.valid_max / len(targets))
    counts = stream.counts()
    min_count = minimum_count(settings, known, counts)
    can_be_known = np.zeros(len(stream.word_counts), bool)
    for word, number in stream.word_ids.items():
        can_be_known[number] = (min_count and counts[word] >= min_count) or as_text(word) in known.index
    documents = (ids[can_be_known[ids]] for ids in stream.documents())
    first = first_copies(documents, stream.word_ids.get(SHOUTED.encode()))
    rng = generator(seed, Stream.SPLIT)
    held_out = np.zeros(len(targets), bool)
    held_out[stratified_split(strata(targets, fraction), fraction, rng, first)[1]] = True
    return held_out
