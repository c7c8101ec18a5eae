"""Where the random numbers of a training come from: for every use a stream of its own.

A stream depends on the seed, its use and a place (the epoch or step) alone. So no two uses share their numbers,
and those of any step can be had without taking the steps before it: a training goes on in the middle.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class Stream(IntEnum):
    """The uses of random numbers; a new one goes to the end, as the numbers decide the results."""

    WEIGHTS = 0  # of the untrained classifier
    SPLIT = 1  # which texts are held out
    FOLDS = 2  # how the evidence of n-grams is dealt out
    ORDER = 3  # of the texts, by epoch
    WORDS = 4  # left out of the texts, by step
    DROPOUT = 5  # by step
    NEXT_WORD_WEIGHTS = 6  # the rest are the same for pre-training
    NEXT_WORD_ORDER = 7
    NEXT_WORD_DROPOUT = 8
    IMITATION_ORDER = 9  # and these for texts with soft labels
    IMITATION_WORDS = 10
    IMITATION_DROPOUT = 11
    PASSAGES = 12  # which parts of the long texts


def seed_sequence(seed: int, stream: Stream, place: int = 0) -> np.random.SeedSequence:
    """Return the seeds of a stream at a place."""
    return np.random.SeedSequence(seed, spawn_key=(stream, place))


def generator(seed: int, stream: Stream, place: int = 0) -> np.random.Generator:
    """Return the generator of a stream at a place."""
    return np.random.default_rng(seed_sequence(seed, stream, place))
