"""Artifacts, the output files of counting, PCA and training: file format, checks on reading, and provenance."""
