"""Random numbers for training: one independent stream per purpose.

The seed, the purpose and an index (such as the epoch or step) determine a stream. No two purposes share random numbers.
A training run that resumes at some step need not generate the numbers for earlier steps again.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class Stream(IntEnum):
    """Purposes that need random numbers. Append new ones at the end: the enum values determine the random numbers."""

    WEIGHTS = 0  # initial weights of the classifier
    SPLIT = 1  # which texts are held out
    FOLDS = 2  # assignment of texts to folds; start of the power iteration that computes the LSA components
    ORDER = 3  # order of the texts, by epoch
    WORDS = 4  # crops of the texts, and words dropped from them, by step
    DROPOUT = 5  # entries dropped in the network, by step
    NEXT_WORD_WEIGHTS = 6  # pre-training: initial weights of the output layer
    NEXT_WORD_ORDER = 7  # pre-training: order of the texts, by epoch
    NEXT_WORD_DROPOUT = 8  # pre-training: entries dropped in the network, by step
    DISTILLATION_ORDER = 9  # distillation: order of the texts, by epoch
    DISTILLATION_WORDS = 10  # distillation: crops of the texts, and words dropped from them, by step
    DISTILLATION_DROPOUT = 11  # distillation: entries dropped in the network, by step
    PASSAGES = 12  # passages drawn from long texts
    REGION_VECTORS = 13  # region classifier: start of the power iteration that computes the vectors of n-grams
    REGIONS = 14  # region classifier, by group: initial weights, order of the texts, chosen regions, dropout


def seed_sequence(seed: int, stream: Stream, index: int = 0) -> np.random.SeedSequence:
    """Return the seed sequence for a purpose and an index, such as the epoch or step."""
    return np.random.SeedSequence(seed, spawn_key=(stream, index))


def generator(seed: int, stream: Stream, index: int = 0) -> np.random.Generator:
    """Return the random generator for a purpose and an index, such as the epoch or step."""
    return np.random.default_rng(seed_sequence(seed, stream, index))
