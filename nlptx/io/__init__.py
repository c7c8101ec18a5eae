"""Reads and writes files: atomic writing, locks, large arrays that move to temporary files, and strict JSON."""
