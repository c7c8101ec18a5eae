"""Defaults and limits that several stages and commands share."""

from __future__ import annotations

SEED = 1
# Default and minimum memory limit of a stage, in bytes, not including the interpreter and its libraries.
DEFAULT_MEMORY, MIN_MEMORY = 4 << 30, 64 << 20
CHECKPOINT_MINUTES = 5.0
# Minimum Jaccard similarity of texts that ``nlptx check`` reports as near-duplicates.
SIMILARITY = 0.8
