"""Reads and writes files: atomic writing, locks, arrays that move to temporary files, and strict JSON."""
