"""Files: atomic writing, locks, spilling to disk, strict JSON."""
