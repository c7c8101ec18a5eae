"""Stores the regions of the training texts, because training needs them again in every epoch.

The vectors of the n-grams do not change during training, so the sum of these vectors in each region stays the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nlptx.regions.region_ngrams import BAG, RegionNgrams
from nlptx.regions.region_vectors import Regions, regions_of
from nlptx.regions.spacing import in_groups
from nlptx.runtime.slices import ranges
from nlptx.runtime.workers import Workers

# Maximum memory of the stored regions, in bytes. If the regions of all texts would need more memory, those of the last
# texts are not stored but computed whenever they are needed.
MAX_BYTES = 1 << 29
# Approximate number of words in a group of texts, whose regions are computed together.
_WORDS_PER_GROUP = 1 << 14


class StoredRegions:
    """The regions of texts; for each region, the sum of its n-gram vectors is stored in float16.

    Args:
        ngrams: known n-grams.
        table: (G, K) vectors of the n-grams.
        texts: word ids of each text; every text has at least one word.
        workers: pool of threads or processes that computes the regions.

    Attributes:
        lengths: (texts,) number of words in each text, which is also its number of regions.
    """

    def __init__(
        self,
        ngrams: RegionNgrams,
        table: NDArray[np.float32],
        texts: Sequence[NDArray[np.integer]],
        workers: Workers,
    ) -> None:
        self._ngrams, self._table, self._texts = ngrams, table, texts
        self.lengths = np.array([len(ids) for ids in texts], np.int64)
        ends = np.cumsum(self.lengths)
        self._starts = ends - self.lengths
        components = table.shape[1]
        size = BAG * np.dtype(np.int32).itemsize + components * np.dtype(np.float16).itemsize
        self._stored = int(np.searchsorted(ends, MAX_BYTES // size, side="right"))
        total = int(ends[self._stored - 1]) if self._stored else 0
        self._bags, self._vectors = np.empty((total, BAG), np.int32), np.empty((total, components), np.float16)
        row = 0
        for bags, vectors, _ in workers.map(
            self._computed, in_groups(texts[: self._stored], _WORDS_PER_GROUP), isolated=True
        ):
            self._bags[row : row + len(bags)], self._vectors[row : row + len(bags)] = bags, vectors
            row += len(bags)

    def take(self, texts: NDArray[np.int64], kept: NDArray[np.bool_]) -> Regions:
        """Return the chosen regions of the given texts, in new arrays, which the caller may change.

        Args:
            texts: (B,) sorted indices of texts.
            kept: (N,) for each region of these texts, whether it is chosen; at least one per text must be.
        """
        lengths = self.lengths[texts]
        stored = texts < self._stored
        rows = ranges(self._starts[texts[stored]], lengths[stored])
        rows = rows[kept[: len(rows)]]
        bags, vectors = self._bags[rows], self._vectors[rows]
        if not stored.all():
            others = self._computed([self._texts[int(text)] for text in texts[~stored]])
            chosen = kept[-len(others.bags) :]
            bags = np.concatenate([bags, others.bags[chosen]])
            vectors = np.concatenate([vectors, others.ngram_vectors[chosen]])
        counts = np.add.reduceat(kept, np.cumsum(lengths) - lengths, dtype=np.int64)
        return Regions(bags, vectors.astype(np.float32), counts)

    def _computed(self, texts: list[NDArray[np.integer]]) -> Regions:
        regions = regions_of(self._ngrams, self._table, texts)
        return regions._replace(ngram_vectors=regions.ngram_vectors.astype(np.float16))
