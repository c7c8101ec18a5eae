"""Artifacts, the output files of counting, PCA and training: file format, checks when reading, and provenance."""
