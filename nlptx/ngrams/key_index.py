"""Looks up keys of n-grams among the sorted keys of many known n-grams."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlptx.runtime.hashing import MULTIPLIER

# Minimum number of slots per key in the hash table.
_SLOTS_PER_KEY = 2
# The hash table is built when the number of lookups per known key exceeds this value. With fewer lookups, binary search
# is faster than building the table.
_MIN_LOOKUPS = 1 / 8
# Maximum number of slots in which the table is searched for a free slot for a key. Two million random keys need 45.
_MAX_ROUNDS = 256


class KeyIndex:
    """Index of sorted keys. The index looks up whole arrays of keys: at first by binary search, later in a hash table.

    Args:
        keys: (G,) int64 keys of the known n-grams, sorted, distinct and not negative.
    """

    def __init__(self, keys: NDArray[np.int64]) -> None:
        self._known = keys
        self._lookups = 0
        self._table_built = False
        self._slots: NDArray[np.int32] | None = None

    def find(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the index of each key, in an array of the same shape. Unknown keys, such as -1, have the index G."""
        count, flat = len(self._known), keys.ravel()
        if not count:
            return np.zeros(keys.shape, np.int64)
        self._lookups += keys.size
        if not self._table_built and self._lookups > count * _MIN_LOOKUPS:
            self._slots, self._table_built = _slots_of(self._known), True
        indices = self._by_search(flat) if self._slots is None else self._by_hash(flat, self._slots)
        indices[indices < 0] = count
        return indices.reshape(keys.shape)

    def _by_search(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        index = np.minimum(np.searchsorted(self._known, keys), len(self._known) - 1)
        return np.where(self._known[index] == keys, index, -1)

    def _by_hash(self, keys: NDArray[np.int64], slots: NDArray[np.int32]) -> NDArray[np.int64]:
        slot = hash_keys(keys, len(slots))
        indices = slots[slot].astype(np.int64)
        # A key whose slot contains another key is searched for in the following slots, up to the first empty slot.
        left = np.flatnonzero((indices >= 0) & (self._known[indices] != keys))
        slot = slot[left]
        while len(left):
            slot = (slot + 1) % len(slots)
            following = slots[slot]
            indices[left] = following
            going_on = (following >= 0) & (self._known[following] != keys[left])
            left, slot = left[going_on], slot[going_on]
        return indices


def hash_keys(keys: NDArray[np.int64], slots: int) -> NDArray[np.int64]:
    """Return the hash of each key: a number below ``slots``. The number ``slots`` must be a power of two."""
    return ((keys.view(np.uint64) * MULTIPLIER) >> np.uint64(65 - slots.bit_length())).astype(np.int64)


def _slots_of(keys: NDArray[np.int64]) -> NDArray[np.int32] | None:
    """Return the hash table: an array that contains, for each slot, the index of a key, or -1 if the slot is empty.

    Return None if too many keys have the same hash, as in a file that was made to slow down the lookup.
    """
    slots = np.full(max(2, 1 << (_SLOTS_PER_KEY * len(keys) - 1).bit_length()), -1, np.int32)
    waiting = np.arange(len(keys), dtype=np.int32)
    slot = hash_keys(keys, len(slots))
    for _ in range(_MAX_ROUNDS):
        if not len(waiting):
            return slots
        free = slots[slot] < 0
        slots[slot[free]] = waiting[free]  # of several keys with the same slot, only one is stored in it
        left = slots[slot] != waiting
        waiting, slot = waiting[left], (slot[left] + 1) % len(slots)
    return None
