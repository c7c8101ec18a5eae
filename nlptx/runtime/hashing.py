"""The multiplier for multiplicative hashing (Knuth)."""

from __future__ import annotations

import numpy as np

# Odd number near 2^64 divided by the golden ratio. The high bits of a key times this number depend on all bits of the
# key, so they select a slot of a hash table.
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
